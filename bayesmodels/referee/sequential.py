"""Draw until the verdict is decided, at one level over all looks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesmodels.input.draws import LEAST_DRAWS
from bayesmodels.input.parameters import count, randomness
from bayesmodels.referee.verdict import TOLERANCE, Verdict, check_limits, compare

LOOKS = 2
MOST = 10.0
"""Times as many draws as first asked for, at most."""
AGAIN = "draws a chain, sampled again"
"""What a report calls the number of draws at a second look."""


class Look(NamedTuple):
    """The last look at draws: its verdict, the draws, and how many they are a chain."""

    verdict: Verdict
    sampled: Any
    draws: int


def until_decided(
    sample: Callable[[int], Any],
    judge: Callable[[Any, float], Verdict],
    draws: int,
    level: float,
    progress: Callable[[str], object] = lambda _: None,
    *,
    looks: int = LOOKS,
    most: int = sys.maxsize,
) -> Look:
    """Sample and judge; if more draws would decide, sample once more and judge these alone.

    Each set of draws is a new one, of at most `most` a chain. Each of the `looks` has its part of
    the level, so that correct draws are called wrong with no greater probability than at one look
    (Bonferroni). A third set has at least twice as many draws as the second, and so on: what was
    advised decides most likely, not surely.
    """
    for look in range(1, looks + 1):
        sampled = sample(draws)
        verdict = judge(sampled, level / looks)
        if look == looks or draws >= most:
            break
        if verdict.outcome != "inconclusive" or verdict.more is None:
            break
        draws = min(math.ceil(draws * min(max(verdict.more, look), MOST)), most)
        progress(f"sampling again, {draws:,} draws a chain: {verdict.findings[0]}")
    return Look(verdict, sampled, draws)


def compare_until_decided(
    law: Any,
    sample: Callable[[int], Any],
    *,
    draws: int = 1000,
    level: float = 0.01,
    tolerance: float = TOLERANCE,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[str], object] = lambda _: None,
) -> Look:
    """Sample and compare with a law; if that leaves the verdict open, sample once more.

    The second time as many draws are asked for as should decide it, at most ten times as many, and
    these alone are compared. Each comparison has half of the level, so that correct draws are
    called wrong with probability `level` at most (Bonferroni).

    Parameters
    ----------
    law : Belief, xarray.DataTree or mapping
        As in `compare`.
    sample : callable
        From a number of draws a chain to draws, as in `compare`; new ones at each call.
    draws : int, default 1000
        Draws a chain at first.
    level : float, default 0.01
        Probability of ``disagree`` for correct draws, over both comparisons.
    tolerance : float, default 0.1
        As in `compare`.
    rng : numpy.random.Generator or int, optional
        As in `compare`.
    progress : callable, optional
        Told, in words, what is being done.

    Returns
    -------
    Look
        With `verdict`, the draws that it is about as `sampled`, and `draws`, how many they are a
        chain.

    Raises
    ------
    DataError
        If a number is out of range, or draws do not fit.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> law, rng = bm.BetaBernoulli(5, 19), np.random.default_rng(1)
    >>> found = compare_until_decided(
    ...     law, lambda n: {"theta": law.sample(4 * n, rng)["theta"].reshape(4, n)}, draws=120
    ... )
    >>> found.verdict.outcome
    'agree'
    >>> found.draws > 120
    True
    """
    number = count(draws, "draws", LEAST_DRAWS)
    rng = None if rng is None else randomness(rng)
    check_limits(level, tolerance)

    def judge(sampled: Any, share: float) -> Verdict:
        return compare(law, sampled, level=share, tolerance=tolerance, rng=rng)

    return until_decided(sample, judge, number, level, progress)
