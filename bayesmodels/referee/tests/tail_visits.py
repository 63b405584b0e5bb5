"""Visits of the two tails.

These come in clusters when draws are autocorrelated, and few are expected: a standard error says
little. The number of clusters is about a Poisson's, their sizes are at most about geometric. Hence
too few visits are judged by a Poisson law, too many by a Gamma law of the same mean and variance,
whose tail is heavier than that of such clusters. Visits say little about their own effective
number; it counts as no larger than that of the spread.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.tests.kind import Kind, Test, two_sided
from bayesmodels.referee.tests.polynomials import Transforms

TAIL = 0.025
"""Probability of either tail whose visits are counted."""
KINDS = tuple(
    Kind(
        name, words,
        f"the {end} {100 * TAIL:g} % of {{label}} were visited too {{way}} ({{size}}).",
        ("often", "seldom"), weight=2,
    )
    for name, words, end in (
        ("low tail", "lower tail", "lowest"), ("high tail", "upper tail", "highest")
    )
)  # fmt: skip


def judge(seen: Transforms) -> list[Test]:
    """Judge visits of both tails; a tail that was never visited has no effective number itself."""
    u, number, reference = seen.u, seen.effective.number[1], seen.reference
    visits = np.stack([u <= TAIL, u >= 1 - TAIL]).astype(float)
    visited = np.ptp(visits, axis=(-2, -1)) > 0
    ess = np.where(visited, effective_draws(visits).number, np.inf)
    number = np.minimum(ess, number)
    number = 1 / (1 / number + 1 / reference)
    expected = number * TAIL / (1 - TAIL)  # visits of so many clusters have the right variance
    ratio = visits.mean((-2, -1)) / TAIL
    p_low = gammaincc(expected * ratio + 1, expected)
    p_high = np.where(ratio > 0, gammaincc(expected, expected * ratio), 1.0)
    p, z = two_sided(p_low, p_high)
    return [
        Test(label, kind.name, float(z[k, i]), float(number[k, i]), float(p[k, i]))
        for i, label in enumerate(seen.labels)
        for k, kind in enumerate(KINDS)
    ]
