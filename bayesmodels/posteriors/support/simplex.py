"""Positive numbers that add up to one along the last axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pymc.distributions.transforms import SimplexTransform

from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import DIRICHLET
from bayesmodels.posteriors.support.kind import Kind, Move, Support, grown
from bayesmodels.posteriors.support.positive import LEAST, SMALL

_FACTOR = 2.0
_NEAREST = 1e-12
_ELEMENTS = 40  # that are moved one by one
_SHARES = (1e-12, 1 - 1e-9)


def on_simplex(weights: Array) -> Array:
    """Return weights that add up to one, and to one minus the largest without it, to full digits.

    A model may say 1 - x where the other elements are meant; near a corner few digits are left.
    """
    x: Array = weights / weights.sum(-1, keepdims=True)
    largest = np.arange(x.shape[-1]) == x.argmax(-1)[..., None]
    others = np.where(largest, 0.0, x)
    left = 1 - x.max(-1, keepdims=True)
    total = others.sum(-1, keepdims=True)
    scale = np.divide(left, total, out=np.ones_like(total), where=(total > 0) & (left > 0))
    return np.where(largest, x, others * scale)


def _softmax(logs: Array) -> Array:
    return on_simplex(np.exp(logs - logs.max(-1, keepdims=True)))


def _shift(x: Array, by: Array, *_: Any) -> Array:
    return _softmax(np.log(np.maximum(x, _NEAREST)) + by)


def _others(x: Array) -> Array:
    """Return for each element the sum of the others, without subtracting."""
    before, after = np.zeros_like(x), np.zeros_like(x)
    before[..., 1:] = np.cumsum(x[..., :-1], -1)
    after[..., :-1] = np.cumsum(x[..., :0:-1], -1)[..., ::-1]
    return before + after


def _tangent(x: Array, along: Array) -> Array:
    moved = x * along
    return moved - x * moved.sum(-1, keepdims=True)


def _corners(x: Array) -> Iterator[Array]:
    for k in range(min(x.shape[-1], _ELEMENTS)):
        for share in _SHARES:
            weights = np.full(x.shape, (1 - share) / max(x.shape[-1] - 1, 1))
            weights[:, k] = share
            yield on_simplex(weights)


def _way(_: Support, __: Any, ___: tuple[int, ...], ____: Array) -> Move:
    """Move an element against the others."""

    def move(x: Any, e: tuple[int, ...], t: float) -> Any:
        x[e] *= np.exp(t)
        x[e[:-1]] /= x[e[:-1]].sum()
        return x

    return move


SIMPLEX = Kind(
    ends=(0.0, 1.0),
    somewhere=lambda z, spread, *_: _softmax(spread * z),
    shift=_shift,
    far=lambda x, z, *_: _shift(x, _FACTOR * z),
    words="a Dirichlet law's",
    recognises=lambda _, __, transform: isinstance(transform, SimplexTransform),
    core=1,
    # x_k sum_j x_j (g_k - g_j), without the difference of two large numbers near a corner.
    score=lambda x, slope: x * (slope * _others(x) - _others(x * slope)),
    score_size=lambda x, size: x * (size * _others(x) + _others(x * size)),
    tangent=_tangent,
    inside=lambda x: on_simplex(np.where(x <= LEAST, SMALL, x)),
    corners=_corners,
    families=(DIRICHLET,),
    adds_up=True,
    way=_way,
    places=grown,
)
