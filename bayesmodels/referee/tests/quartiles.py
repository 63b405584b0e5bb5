"""Indicators of lying below the quartiles."""

from __future__ import annotations

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.tests.kind import Kind, Test
from bayesmodels.referee.tests.polynomials import Transforms, averages

_QUARTILES = np.array([0.25, 0.5, 0.75])
_SAYS = "too {way} draws of {label} lie below its {words} ({size})."
KINDS = tuple(
    Kind(name, words, _SAYS, ("many", "few"))
    for name, words in (("q25", "25 % quantile"), ("q50", "median"), ("q75", "75 % quantile"))
)
UNITS = np.full(3, np.nan)


def indicators(u: Array) -> Array:
    """Return the indicators along a new first axis, of mean zero and variance one."""
    q = _QUARTILES.reshape(-1, *np.ones(np.ndim(u), dtype=int))
    return ((u <= q) - q) / np.sqrt(q * (1 - q))


def judge(seen: Transforms) -> list[Test]:
    """Return the tests of the three quartiles."""
    below = indicators(seen.u)
    return averages(seen, below, effective_draws(below), KINDS, UNITS)
