"""What is said of draws beside the tests: copies, and transitions that diverged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmodels.referee.copies import Copies


def of_copies(found: Sequence[Copies]) -> str:
    """Say which chains of one set are the same draws."""
    pairs = [
        f"{c.first} and {c.second}" + (f" ({abs(c.shift)} rows apart)" if c.shift else "")
        for c in found
    ]
    return (
        f"chains {', '.join(pairs)} are the same draws, and count once. Give each chain a seed "
        "of its own."
    )


def of_resampled(whose: str, different: int, draws: int) -> str:
    """Say that draws are copies of each other."""
    return (
        f"{whose} {draws:,} draws {different:,} are different ones: copies, as resampling makes "
        "them, count as one."
    )


def of_sets(found: Sequence[Copies], chains: int) -> str:
    """Say which chains of two sets are the same draws."""
    one = found[0]
    if len({c.first for c in found}) == chains:
        return "both sets hold the same draws, which says nothing about either."
    return (
        f"chain {one.first} of the first set and chain {one.second} of the second are the same "
        "draws. Compare draws that were made apart."
    )


def divergences(draws: Any) -> int:
    """Return how many transitions diverged, where draws come with a sampler's statistics."""
    told = getattr(draws, "sample_stats", {})
    return int(np.sum(np.asarray(told["diverging"], dtype=bool))) if "diverging" in told else 0
