"""Integrals over the line of functions made of laws: Gauss-Legendre panels between quantiles.

Panels end at quantiles of every law, far out into the tails, so that none is too narrow to be seen,
and none too far from the others. Those that are not yet known well enough are halved. A panel whose
ends are of different size is one of the logarithm, in which heavy tails and infinite densities at 0
are smooth. Many problems are integrated at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

from bayesmodels.errors import PriorError, warn
from bayesmodels.numerics import Array

_rule = cache(leggauss)
_ROOTS, _WEIGHTS = _rule(20)
_EVERY_SECOND = slice(0, None, 2)  # nodes of a coarser rule within
_COARSE = np.linalg.solve(legvander(_ROOTS[_EVERY_SECOND], 9).T, 2.0 * (np.arange(10) == 0))
_TAILS = (0.15, 1e-3, 1e-8, 1e-30, 1e-200)
GOAL = 1e-11
_HALVINGS, _ROUGH, _SAID, USELESS = 24, 1e-9, 1e-8, 1e-6
_NOTHING = 1e-290
_FAR = 1.25  # ratio of the ends of a panel of the logarithm
_LEAST = 2.3e-308  # stands for quantiles that are rounded to 0


def nodes(low: Array, high: Array, count: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes between ends, along a last axis, and their weights.

    Examples
    --------
    >>> x, weight = nodes(np.array(0.0), np.array(3.0), 2)
    >>> (weight * x**2).sum().round(12)
    np.float64(9.0)
    """
    roots, weights = _rule(count)
    half = (high - low)[..., None] / 2
    return low[..., None] + half * (1 + roots), half * weights


def quantiles(law: Any) -> Array:
    """Return quantiles of a law, from one tail to the other, along a last axis.

    Examples
    --------
    >>> from scipy import stats
    >>> quantiles(stats.norm()).round(1)[[0, 5, -1]]
    array([-30.2,   0. ,  30.2])
    """
    with np.errstate(all="ignore"):  # far out there may be none
        below, above = [law.ppf(q) for q in _TAILS[::-1]], [law.isf(q) for q in _TAILS]
        return np.stack([*below, law.ppf(0.5), *above], -1, dtype=float)


def edges(*points: Array) -> Array:
    """Return the ends of panels in order, along the last axis; NaN for what is no number."""
    ends = np.concatenate(points, -1)
    ends = np.sort(np.where(np.isfinite(ends), ends, np.nan))
    return np.where(ends[..., :1] >= 0, np.maximum(ends, _LEAST), ends)


def integral(
    f: Callable[[Array, Any], Array],
    ends: Array,
    what: str = "an integral",
    goal: float = GOAL,
) -> tuple[Array, Array]:
    """Return integrals, of shape (integrals, problems), and how far off they may be.

    Parameters
    ----------
    f : callable
        From nodes (panels, nodes) and the number of each panel's problem (panels, 1) to values of
        all integrands, of shape (integrals, panels, nodes).
    ends : ndarray of shape (problems, number)
        As `edges` returns them.
    what : str
        Name of the integral in errors and warnings.
    goal : float
        By how much, relative to an integral, one panel may be off.

    Examples
    --------
    >>> area, _ = integral(lambda x, _: x[None] ** 2, np.array([[0.0, 1.0, 3.0]]))
    >>> area.round(12)
    array([[9.]])
    """
    with np.errstate(invalid="ignore"):
        owner, place = np.nonzero(ends[:, 1:] > ends[:, :-1])
    low, high = ends[owner, place], ends[owner, place + 1]
    total, error, before = np.zeros((1, 1)), np.zeros((1, 1)), np.full(len(owner), np.inf)
    for level in range(_HALVINGS):
        result, off = _panels(f, low, high, owner)
        every = np.abs(total + _added(result, owner, len(ends))) + _NOTHING
        worst = (off / every[:, owner]).max(0)
        rounded = (worst <= _ROUGH) & (worst > before / 8)  # halving again is of no use
        done = (worst <= goal) | rounded | ~np.isfinite(worst) | (level == _HALVINGS - 1)
        total = total + _added(result[:, done], owner[done], len(ends))
        error = error + _added(off[:, done], owner[done], len(ends))
        if done.all():
            break
        low, high, owner, before = _halved(low[~done], high[~done], owner[~done], worst[~done])
    relative = float((error / (np.abs(total) + _NOTHING)).max())
    if not relative <= USELESS:
        raise PriorError(
            f"{what}: its integral has not settled to six digits: a density is infinite, or a law "
            "has no digits left. Update the belief with more rows, or give draws of it."
        )
    if relative > _SAID:
        warn(f"{what} is known to about {relative:.0e} of itself. Count from a nearer zero.")
    return total, error


def _panels(
    f: Callable[[Array, Any], Array], low: Array, high: Array, owner: Any
) -> tuple[Array, Array]:
    """Return integrals over each panel, and their errors estimated by the coarser rule."""
    logarithmic = _logarithmic(low, high)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        start, stop = (
            np.where(logarithmic[:, 0], np.log(np.abs(end)), end)[:, None] for end in (low, high)
        )
    half = (stop - start) / 2
    t = start + half * (1 + _ROOTS)
    x = np.where(logarithmic, np.sign(high)[:, None] * np.exp(np.where(logarithmic, t, 0.0)), t)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite densities
        y = f(x, owner[:, None]) * (half * np.where(logarithmic, x, 1.0))
        result = y @ _WEIGHTS
        size = np.abs(y - result[..., None] / 2) @ _WEIGHTS + _NOTHING
        off = np.abs(result - y[..., _EVERY_SECOND] @ _COARSE) / size
        return result, size * np.minimum(1.0, (200 * off)) ** 1.5  # as QUADPACK does


def _logarithmic(low: Array, high: Array) -> Any:
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    return (low * np.sign(high) > 0) & (far > _FAR * near)


def _halved(low: Array, high: Array, *others: Any) -> list[Any]:
    with np.errstate(invalid="ignore"):
        far = np.sign(low) * np.sqrt(np.abs(low)) * np.sqrt(np.abs(high))
    middle = np.where(_logarithmic(low, high), far, low + (high - low) / 2)
    ends = [np.ravel([low, middle], "F"), np.ravel([middle, high], "F")]
    return [*ends, *(np.repeat(each, 2) for each in others)]


def _added(values: Array, owner: Any, number: int) -> Array:
    return np.array([np.bincount(owner, each, number) for each in values])
