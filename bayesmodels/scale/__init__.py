"""Statistics of many rows: chunks, files and clusters, mapped and then folded with ``+``."""

from bayesmodels.scale.folding import merge
from bayesmodels.scale.mixtures import em
from bayesmodels.scale.passes import statistic
from bayesmodels.scale.stored import load, save

__all__ = ["em", "load", "merge", "save", "statistic"]
