"""Draws that occur more than once: their number says more than they know.

Chains are the same draws where all of them get one seed, where a stream of random numbers is read
again from the next number on, or where one file is given twice. Single draws occur again where they
were resampled with replacement: by sequential Monte Carlo, importance resampling, or a bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bayesmodels.numerics import Array

LEAST = 20
"""Values of a chain that must differ, and draws in a row that must be the same."""
_SHARE = 0.9
_PROBES = (0.5, 0.25, 0.75, 0.9, 0.1)
_MOST_PLACES = 20
_COMPARED = 8  # variables that single draws are compared by
_ODD = 2 * np.random.default_rng(0).integers(2**63, size=_COMPARED, dtype=np.uint64) + 1
_IRREGULAR = 0.5  # median ratio of neighbouring gaps, which of draws of a continuous law is a third
_ATOM = 0.05  # of all draws: so many equal ones are a value that the law has
_OFTEN = 1.05  # times the variance of an average, from which on copies are seen to


class Copies(NamedTuple):
    """Two chains of the same draws, the second's being `shift` rows later."""

    first: int
    second: int
    shift: int


def copies(draws: Mapping[str, Array]) -> list[Copies]:
    """Return pairs of chains that are the same draws in one of the variables (chain, draw, ...)."""
    result: dict[tuple[int, int], Copies] = {}
    for x in map(telling, draws.values()):
        for i, j in combinations(range(len(x)), 2):
            if (i, j) not in result and (shift := shift_of(x[i], x[j])) is not None:
                result[i, j] = Copies(i, j, shift)
    return sorted(result.values())


def without_copies(
    draws: Mapping[str, Array], variables: Mapping[str, Array] | None = None
) -> tuple[dict[str, Array], str]:
    """Return draws without chains that copy an earlier one, and what is said of these, or nothing.

    Copies are seen in `variables`, if the draws' scalars are grouped by these.
    """
    same = copies(draws if variables is None else variables)
    if not same:
        return dict(draws), ""
    copied = {pair.second for pair in same}
    kept = [k for k in range(len(next(iter(draws.values())))) if k not in copied]
    return {name: x[kept] for name, x in draws.items()}, _of_copies(same)


def _of_copies(copied: Sequence[Copies]) -> str:
    """Say which chains of one set are the same draws."""
    pairs = [
        f"{c.first} and {c.second}" + (f" ({abs(c.shift)} rows apart)" if c.shift else "")
        for c in copied
    ]
    return (
        f"chains {', '.join(pairs)} are the same draws, and count once. Give each chain a seed "
        "of its own."
    )


def copies_between(first: Mapping[str, Array], second: Mapping[str, Array]) -> Iterator[Copies]:
    """Yield pairs of a chain of the first set and one of the second that are the same draws."""
    for name in first:
        x, y = telling(first[name]), telling(second[name])
        for i, j in np.ndindex(len(x), len(y)):
            if (shift := shift_of(x[i], y[j])) is not None:
                yield Copies(i, j, shift)


def side_by_side(
    draws: Mapping[str, Array], rng: np.random.Generator
) -> tuple[dict[str, Array], int | None]:
    """Return draws with those that are resampled copies behind each other, and how many differ.

    There autocorrelation counts them, as it does the steps on which a chain stays where it is. All
    other draws keep their order; without copies all do, and None is returned beside them.
    """
    result = dict(draws)
    shape = next(iter(draws.values())).shape[:2]
    cols = [x.ravel() for x in map(telling, list(draws.values())[:_COMPARED])]
    cols = [x for x in cols if _is_continuous(x)]
    if not cols:
        return result, None
    # One whole number for each row of values, by their bits.
    key = sum(
        np.asarray(x, dtype=float).view(np.uint64) * odd for x, odd in zip(cols, _ODD, strict=False)
    )
    _, group, times = np.unique(key, return_inverse=True, return_counts=True)
    number = len(group)
    stays = (group[1:] == group[:-1]) & (np.arange(1, number) % shape[1] != 0)
    ends = np.flatnonzero(np.concatenate([[True], ~stays, [True]]))
    lengths, of_group = np.diff(ends), times[group[ends[:-1]]]
    copied = times[times <= _ATOM * number]
    if (copied**2).sum() < _OFTEN * (lengths[of_group <= _ATOM * number] ** 2).sum():
        return result, None
    chosen = np.lexsort((rng.random(number), group))  # of each draw one of its places, at random
    place = chosen[np.concatenate([[0], np.cumsum(times)[:-1]])]
    place = np.where(times[group] <= _ATOM * number, place[group], np.arange(number))
    order = np.argsort(place, kind="stable")
    for name, x in draws.items():
        result[name] = x.reshape(number, *x.shape[2:])[order].reshape(x.shape)
    return result, len(times)


def of_sets(copied: Sequence[Copies], chains: int) -> str:
    """Say which chains of two sets are the same draws."""
    one = copied[0]
    if len({c.first for c in copied}) == chains:
        return "both sets hold the same draws, which says nothing about either."
    return (
        f"chain {one.first} of the first set and chain {one.second} of the second are the same "
        "draws. Compare draws that were made apart."
    )


def in_order(
    draws: Mapping[str, Array], rng: np.random.Generator, whose: str
) -> tuple[dict[str, Array], str]:
    """Return draws `side_by_side`, and what is said of resampled ones, or nothing."""
    result, different = side_by_side(draws, rng)
    if different is None:
        return result, ""
    number = np.prod(next(iter(result.values())).shape[:2])
    said = f"{whose} {number:,} draws {different:,} are different ones"
    return result, f"{said}: copies, as resampling makes them, count as one."


def _is_continuous(x: Array) -> bool:
    """Say whether values lie as irregularly as draws of a continuous law: unlike counts, or digits.

    Of counts, of what is a function of them, and of rounded numbers, a gap is about as wide as the
    next one.
    """
    gaps = np.diff(np.unique(x))
    if len(gaps) < LEAST:
        return False
    one, other = gaps[1:], gaps[:-1]
    return bool(np.median(np.minimum(one, other) / np.maximum(one, other)) < _IRREGULAR)


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
            earlier = x[max(0, -shift) : len(y) - shift]
            later = y[max(0, shift) : max(0, shift) + len(earlier)]
            earlier = earlier[: len(later)]
            same = earlier == later
            if same.mean() >= _SHARE and len(np.unique(earlier[same])) >= LEAST:
                return shift
    return None
