"""One conjugate model per file: prior, statistic, update, evidence, predictive, declaration."""
