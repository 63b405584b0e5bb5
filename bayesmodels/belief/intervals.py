"""Intervals of every law: equal-tailed ones, and those of highest density, in ArviZ's words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import DataError
from bayesmodels.input.parameters import proportion
from bayesmodels.numerics import Array

type CiKind = Literal["eti", "hdi"]

CI_PROB = 0.89
"""Probability of intervals, if none is given."""

_PACKAGE = str(Path(__file__).parents[1])
_GRID, _STEPS = 65, 60  # places of the lower tail, and golden sections between two of them
_GOLDEN = (np.sqrt(5.0) - 1) / 2


class Quantiles(Protocol):
    """A law, elementwise, by its quantiles from below and from above."""

    def ppf(self, q: Any, /) -> Any:
        """Return quantiles from below."""

    def isf(self, q: Any, /) -> Any:
        """Return quantiles from above."""


def checked(ci_prob: Any, ci_kind: Any) -> float:
    """Check a probability and a kind of intervals."""
    if ci_kind not in get_args(CiKind.__value__):
        raise DataError(
            f"ci_kind: must be 'eti', equal-tailed, or 'hdi', of highest density; got {ci_kind!r}."
        )
    return proportion(ci_prob, "ci_prob")


def ends(law: Quantiles, ci_prob: float, ci_kind: CiKind) -> tuple[Array, Array]:
    """Return the ends of the intervals of a law, elementwise."""
    # isf, not ppf(1 - tail): the subtraction would round small tails away.
    if ci_kind == "eti":
        tail = (1 - ci_prob) / 2
        return np.asarray(law.ppf(tail))[()], np.asarray(law.isf(tail))[()]
    return _shortest(law, ci_prob)


def _shortest(law: Quantiles, ci_prob: float) -> tuple[Array, Array]:
    """Return the shortest of all intervals with a probability, elementwise.

    It is looked for by the tail below: on a grid, then by golden sections beside its best place.
    """
    all_tails = 1 - ci_prob

    def width(tail: Array) -> Array:
        low, high = _at(law.ppf, tail), _at(law.isf, all_tails - tail)
        with np.errstate(invalid="ignore"):
            gap = high - low
        return np.where(np.isnan(gap), np.inf, gap)

    shape = np.shape(law.ppf(0.5))
    grid = all_tails * np.linspace(0, 1, _GRID)
    widths = np.array([width(np.full(shape, tail)) for tail in grid])
    best = widths.argmin(0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, _GRID - 1)]
    try:
        tail = _golden(width, low, high)
    except DataError:  # entries of a matrix have quantiles at one level for all
        tail = _vertex(grid, widths, best)
    # A step of a law of counts, or an end of the range, is shorter than what is beside it.
    tail = np.where(_width_of_each(law, tail, all_tails) <= widths.min(0), tail, grid[best])
    return _of_each(law.ppf, tail)[()], _of_each(law.isf, all_tails - tail)[()]


def _golden(f: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return where functions of one number have their minima between two, elementwise."""
    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    left, right = f(inner), f(outer)
    for _ in range(_STEPS):
        lower = left <= right
        low, high = np.where(lower, low, inner), np.where(lower, outer, high)
        new = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = f(new)
        inner, outer = np.where(lower, new, outer), np.where(lower, inner, new)
        left, right = np.where(lower, at_new, right), np.where(lower, left, at_new)
    return (low + high) / 2


def _vertex(grid: Array, values: Array, best: NDArray[np.intp]) -> Array:
    """Return the vertex of the parabola through the least value of a grid and its neighbours."""
    at = np.clip(best, 1, len(grid) - 2)[None]
    before, here, after = (np.take_along_axis(values, at + k, 0)[0] for k in (-1, 0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        move = (before - after) / (2 * (before - 2 * here + after))
    move = np.where(np.isfinite(move), np.clip(move, -1, 1), 0.0)
    return np.asarray(grid[at[0]] + move * (grid[1] - grid[0]))


def _at(quantile: Callable[[Any], Any], tails: Array) -> Array:
    """Return quantiles at tails (...), each of its own element."""
    tails = np.clip(tails, 0.0, 1.0)
    if not tails.ndim or (tails == tails.flat[0]).all():
        return np.asarray(quantile(float(tails.flat[0])), dtype=float)
    return np.asarray(quantile(tails), dtype=float)


def _of_each(quantile: Callable[[Any], Any], tails: Array) -> Array:
    """Return the same, level by level where a law takes one at a time."""
    try:
        return _at(quantile, tails)
    except DataError:
        each = [np.asarray(quantile(float(tails[at])))[at] for at in np.ndindex(tails.shape)]
        return np.reshape(np.asarray(each, dtype=float), tails.shape)


def _width_of_each(law: Quantiles, tail: Array, all_tails: float) -> Array:
    with np.errstate(invalid="ignore"):
        return _of_each(law.isf, all_tails - tail) - _of_each(law.ppf, tail)


def of_draws(x: Array, ci_prob: float, ci_kind: CiKind) -> tuple[Array, Array]:
    """Return the ends of intervals of draws along the first axis."""
    if ci_kind == "eti":
        tail = (1 - ci_prob) / 2
        low, high = np.quantile(x, [tail, 1 - tail], axis=0)
        return low, high
    every = np.sort(x, axis=0)
    inside = int(np.floor(ci_prob * len(every)))
    best = (every[inside:] - every[: len(every) - inside]).argmin(0)[None]
    pair = (np.take_along_axis(every, best + more, 0)[0] for more in (0, inside))
    low, high = pair
    return low, high


def named(ci_prob: float, ci_kind: CiKind) -> tuple[str, str]:
    """Return the names of the columns of both ends, as ArviZ has them."""
    kind = f"{ci_kind}{100 * ci_prob:g}"
    return f"{kind}_lb", f"{kind}_ub"


def renamed[F: Callable[..., Any]](function: F) -> F:
    """Take the old word `prob` for `ci_prob`, with a warning that says so."""

    @wraps(function)
    def taking(*args: Any, **given: Any) -> Any:
        if "prob" in given:
            warnings.warn(
                "prob: is called ci_prob now, as in ArviZ; prob goes with the next release.",
                FutureWarning,
                stacklevel=2,
                skip_file_prefixes=(_PACKAGE,),
            )
            given["ci_prob"] = given.pop("prob")
        return function(*args, **given)

    return taking  # type: ignore[return-value]
