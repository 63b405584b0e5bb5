"""Chains that are the same draws: their number says more than they know.

It happens where all chains get one seed, where a stream of random numbers is read again from the
next number on, or where one file is given twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bayesmodels.numerics import Array

LEAST = 20
"""Values of a chain that must differ, and draws in a row that must be the same."""
_SHARE = 0.9
_PROBES = (0.5, 0.25, 0.75, 0.9, 0.1)
_MOST_PLACES = 20


class Copies(NamedTuple):
    """Two chains of the same draws, the second's being `shift` rows later."""

    first: int
    second: int
    shift: int


def copies(draws: Mapping[str, Array]) -> list[Copies]:
    """Return pairs of chains that are the same draws in one of the variables (chain, draw, ...)."""
    found: dict[tuple[int, int], Copies] = {}
    for x in map(telling, draws.values()):
        for i, j in combinations(range(len(x)), 2):
            if (i, j) not in found and (shift := shift_of(x[i], x[j])) is not None:
                found[i, j] = Copies(i, j, shift)
    return sorted(found.values())


def copies_between(first: Mapping[str, Array], second: Mapping[str, Array]) -> Iterator[Copies]:
    """Yield pairs of a chain of the first set and one of the second that are the same draws."""
    for name in first:
        x, y = telling(first[name]), telling(second[name])
        for i, j in np.ndindex(len(x), len(y)):
            if (shift := shift_of(x[i], y[j])) is not None:
                yield Copies(i, j, shift)


def telling(x: Array) -> Array:
    """Return the element (chain, draw) of a variable that has most values."""
    flat = x.reshape(*x.shape[:2], -1)
    return flat[..., max(range(flat.shape[-1]), key=lambda k: len(np.unique(flat[0, :, k])))]


def shift_of(x: Array, y: Array) -> int | None:
    """Return by how many rows the same draws come later in y, or None if they are others."""
    if len(np.unique(x)) < LEAST:
        return None
    order = np.argsort(y, kind="stable")
    ranked = y[order]
    for probe in _PROBES:
        at = int(probe * len(x))
        low, high = np.searchsorted(ranked, x[at], "left"), np.searchsorted(ranked, x[at], "right")
        for place in order[low : min(high, low + _MOST_PLACES)].tolist():
            shift = place - at
            own = x[max(0, -shift) : len(y) - shift]
            other = y[max(0, shift) : max(0, shift) + len(own)]
            own = own[: len(other)]
            same = own == other
            if same.mean() >= _SHARE and len(np.unique(own[same])) >= LEAST:
                return shift
    return None
