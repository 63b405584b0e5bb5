"""Draw until the verdict is decided, at one level over all looks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from bayesmodels.referee.verdict import Verdict

LOOKS = 2
MOST = 10.0
"""Times as many draws as first asked for, at most."""
AGAIN = "draws a chain, sampled again"
"""What a report calls the number of draws at a second look."""


class Decision(NamedTuple):
    """A verdict, the draws that it is about, and how many they are a chain."""

    verdict: Verdict
    sampled: Any
    draws: int


def decide(
    sample: Callable[[int], Any],
    judge: Callable[[Any, float], Verdict],
    draws: int,
    level: float,
    progress: Callable[[str], object] = lambda _: None,
) -> Decision:
    """Sample and judge; if more draws would decide, sample once more and judge these alone.

    The second set of draws is a new one. Each look has half of the level, so that correct draws are
    called wrong with no greater probability than at one look (Bonferroni).

    Parameters
    ----------
    sample : callable
        From a number of draws a chain to draws.
    judge : callable
        From draws and a level to a verdict.
    draws : int
        Draws a chain at first.
    level : float
        Probability of ``disagree`` for correct draws, over both looks.
    progress : callable
        Told, in words, what is being done.
    """
    for look in range(1, LOOKS + 1):
        sampled = sample(draws)
        verdict = judge(sampled, level / LOOKS)
        if look == LOOKS or verdict.outcome != "inconclusive" or verdict.more is None:
            break
        draws = math.ceil(draws * min(max(verdict.more, 1.0), MOST))
        progress(f"sampling again, {draws:,} draws a chain: {verdict.findings[0]}")
    return Decision(verdict, sampled, draws)
