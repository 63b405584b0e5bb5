"""Draw until the verdict is decided, at one level over all looks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

LOOKS = 2
MOST = 10.0
"""Times as many draws as first asked for, at most."""
AGAIN = "draws a chain, sampled again"
"""What a report calls the number of draws at a second look."""


class Look(NamedTuple):
    """The last look at draws: its verdict, the draws, and how many they are a chain."""

    verdict: Any
    sampled: Any
    draws: int


def until_decided(
    sample: Callable[[int], Any],
    judge: Callable[[Any, float], Any],
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
