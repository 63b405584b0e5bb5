"""Integrals over the line of functions made of laws: Gauss-Legendre panels between quantiles.

Panels end at quantiles of every law, far out into the tails, so that none is too narrow to be seen,
and none too far from the others. All are halved until the integrals no longer change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesmodels.errors import PriorError, warn
from bayesmodels.numerics import Array

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(20))
_TAILS = (0.4, 0.15, 0.02, 1e-4, 1e-9, 1e-18, 1e-37, 1e-75, 1e-150, 1e-200)
GOAL = 1e-12
_HALVINGS, _ROUGH, _USELESS = 7, 1e-9, 1e-6
_NOTHING = 1e-290
_FAR = 4.0  # ends with a larger ratio are halved at their geometric mean


def quantiles(law: Any) -> Array:
    """Return quantiles of a law, from one tail to the other, along a first axis.

    Examples
    --------
    >>> from scipy import stats
    >>> quantiles(stats.norm()).round(1)[[0, 10, -1]]
    array([-30.2,   0. ,  30.2])
    """
    with np.errstate(all="ignore"):  # far out there may be none
        below, above = [law.ppf(q) for q in _TAILS[::-1]], [law.isf(q) for q in _TAILS]
        return np.asarray([*below, law.ppf(0.5), *above], dtype=float)


def edges(*points: Array) -> Array:
    """Return the ends of panels in order: what is no number is left out, for others' sake."""
    every = np.concatenate(points)
    return np.unique(every[np.isfinite(every)])


def integral(f: Callable[[Array, Array], Array], ends: Array, what: str = "an integral") -> Array:
    """Return integrals over panels between ends, halved until none changes by `GOAL` of itself.

    Parameters
    ----------
    f : callable
        From nodes and weights, of shape (panels * nodes,), to sums over the nodes.
    ends : ndarray of shape (number,)
        In ascending order.
    what : str
        What is said not to have settled, if it has not.

    Examples
    --------
    >>> float(integral(lambda x, w: w @ x**2, np.array([0.0, 3.0])).round(12))
    9.0
    """
    before, worst = f(*_nodes(ends)), np.inf
    for _ in range(_HALVINGS):
        ends = _halved(ends)
        found = f(*_nodes(ends))
        change = np.abs(found - before)
        if (change <= GOAL * np.abs(found) + _NOTHING).all():
            return found
        earlier, worst = worst, float(np.max(change) / np.max(np.abs(found)))
        if worst <= _ROUGH and worst > earlier / 2:  # what is left is rounding
            break
        before = found
    if not worst <= _USELESS:
        raise PriorError(
            f"{what}: its integral has not settled; it changed by {worst:.1g} of itself. Update "
            "the belief with more rows, or give draws of it."
        )
    if worst > _ROUGH:
        warn(f"{what} is known to about {worst:.0e} of itself. Count from a nearer zero.")
    return found


def _nodes(ends: Array) -> tuple[Array, Array]:
    """Return nodes and weights of all panels."""
    low, width = ends[:-1, None], np.diff(ends)[:, None]
    return (low + width * (0.5 + _NODES)).ravel(), (width * _WEIGHTS).ravel()


def _halved(ends: Array) -> Array:
    low, high = ends[:-1], ends[1:]
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    apart = (low * np.sign(high) > 0) & (far > _FAR * near)
    middle = np.where(apart, np.sign(low) * np.sqrt(near) * np.sqrt(far), low + (high - low) / 2)
    return np.insert(ends, np.arange(1, len(ends)), middle)
