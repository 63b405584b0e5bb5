r"""The tops of a function of many numbers, for many rows at once, with roots of the curvature.

Newton's method: where the curvature H is no positive definite matrix, by the sizes of its
eigenvalues, so that each step leads uphill. Source: Nocedal and Wright (2006), *Numerical
Optimization*, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array

_ROUNDS, _HALVINGS = 60, 30
_ARRIVED = 1e-5  # what a step gains
_LEAST = 1e-6  # of the largest eigenvalue

Rows = NDArray[np.intp]
Values = Callable[[Rows, Array], tuple[Array, Array]]
"""From some rows and points (n, d) to log values (n) and slopes (n, d)."""
Curvatures = Callable[[Rows, Array], Array]
"""From the same to minus the second derivatives (n, d, d)."""


class Tops(NamedTuple):
    """Tops (n, d), lower roots L of the curvature there, and values; NaN where none was found."""

    x: Array
    root: Array
    value: Array


def tops(values: Values, curvatures: Curvatures, start: Array) -> Tops:
    """Return the tops above starts (n, d)."""
    x, (n, d) = start.copy(), start.shape
    root, value, rows = np.full((n, d, d), np.nan), np.full(n, np.nan), np.arange(n)
    for _ in range(_ROUNDS):
        now, slope = values(rows, x[rows])
        bend = curvatures(rows, x[rows])
        kept = np.isfinite(now) & np.isfinite(slope).all(1) & np.isfinite(bend).all((1, 2))
        rows, now, slope, bend = rows[kept], now[kept], slope[kept], bend[kept]
        if not len(rows):
            break
        lower, definite = _roots(bend)
        whitened = np.linalg.solve(lower, slope[..., None])
        there = (whitened[..., 0] ** 2).sum(1) / 2 < _ARRIVED
        done = rows[there & definite]
        root[done], value[done] = lower[there & definite], now[there & definite]
        move = np.linalg.solve(np.swapaxes(lower, 1, 2), whitened)[..., 0]
        rows, now, move = rows[~there], now[~there], move[~there]
        if not len(rows):
            break
        rows = _stepped(values, rows, x, move, now)
    return Tops(x, root, value)


def _roots(bend: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return lower roots of matrices, made positive definite; and which ones were."""
    try:
        return np.linalg.cholesky(bend), np.ones(len(bend), dtype=bool)
    except np.linalg.LinAlgError:
        sizes, axes = np.linalg.eigh(bend)
        definite = sizes[:, 0] > 0
        least = _LEAST * np.abs(sizes).max(1, keepdims=True) + np.finfo(float).tiny
        sizes = np.maximum(np.abs(sizes), least)
        # Of a matrix A A' with A' = Q R it is R'.
        upper: Any = np.linalg.qr(np.sqrt(sizes)[:, :, None] * np.swapaxes(axes, 1, 2), mode="r")
        signs = np.sign(np.diagonal(upper, axis1=1, axis2=2))
        return np.swapaxes(upper, 1, 2) * signs[:, None], definite


def _stepped(values: Values, rows: Rows, x: Array, move: Array, value: Array) -> Rows:
    """Move as far as it leads uphill; return the rows that did."""
    waiting, part = np.arange(len(rows)), 1.0
    for _ in range(_HALVINGS):
        tried = x[rows[waiting]] + part * move[waiting]
        better = values(rows[waiting], tried)[0] >= value[waiting]
        x[rows[waiting[better]]] = tried[better]
        waiting, part = waiting[~better], part / 2
        if not len(waiting):
            break
    return np.delete(rows, waiting)
