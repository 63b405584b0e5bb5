"""Statistics of many rows: chunks, files and clusters, mapped and then folded with ``+``."""

from bayesmodels.scale.folding import merge
from bayesmodels.scale.logistic import laplace, map, mle  # noqa: A004 - as the model's verbs
from bayesmodels.scale.mixtures import em
from bayesmodels.scale.passes import statistic

__all__ = ["em", "laplace", "map", "merge", "mle", "statistic"]
