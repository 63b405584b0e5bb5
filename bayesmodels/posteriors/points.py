"""Points of a model's space: mild ones, wild ones, and what a slope means at them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayesmodels.numerics import Array
from bayesmodels.posteriors.gradient import Field

MILD, WILD = 0.8, 10.0


def somewhere(field: Field, rng: np.random.Generator, spread: float = MILD) -> Array:
    """Return a random point of the support: logits, logs and numbers as far out as `spread`."""
    z = rng.standard_normal(field.size)
    x = z * spread**2  # numbers have no natural size; logs and logits do
    # Beyond this logit 1 - x, in a model that says so, has fewer than nine digits left.
    x[field.kind == "unit"] = expit(np.clip(spread * z[field.kind == "unit"], -16, 16))
    x[field.kind == "positive"] = np.exp(spread * z[field.kind == "positive"])
    for number, s in enumerate(field.continuous):
        part = slice(field.start[number], field.start[number + 1])
        if s.kind == "simplex":
            logs = spread * z[part].reshape(s.shape)
            x[part] = on_simplex(np.exp(logs - logs.max(-1, keepdims=True))).ravel()
        elif s.kind == "matrix":
            root = np.eye(s.shape[-1]) + 0.3 * np.tril(z[part].reshape(s.shape))
            x[part] = (root @ np.swapaxes(root, -1, -2)).ravel()
    return x


def on_simplex(weights: Array) -> Array:
    """Return weights that add up to one, and to one minus the largest without it, to full digits.

    A model may say 1 - x where the other elements are meant; near a corner few digits are left.
    """
    x: Array = weights / weights.sum(-1, keepdims=True)
    largest = np.arange(x.shape[-1]) == x.argmax(-1)[..., None]
    rest = np.where(largest, 0.0, x)
    left = 1 - x.max(-1, keepdims=True)
    total = rest.sum(-1, keepdims=True)
    scale = np.divide(left, total, out=np.ones_like(total), where=(total > 0) & (left > 0))
    return np.where(largest, x, rest * scale)


def simplex_rows(field: Field) -> list[NDArray[np.intp]]:
    """Return the elements of each simplex variable, one simplex a row."""
    return [
        np.arange(field.start[number], field.start[number + 1]).reshape(-1, s.shape[-1])
        for number, s in enumerate(field.continuous)
        if s.kind == "simplex"
    ]


def matrices(field: Field) -> list[NDArray[np.intp]]:
    """Return the elements of each random matrix, of shape (D, D)."""
    return [
        block
        for number, s in enumerate(field.continuous)
        if s.kind == "matrix"
        for block in np.arange(field.start[number], field.start[number + 1]).reshape(
            -1, *s.shape[-2:]
        )
    ]


def score(field: Field, x: Array, slope: Array) -> Array:
    """Return slopes by logit, log and number, and by what a simplex or a matrix allows.

    A step along the score of a simplex keeps its sum; that of a matrix keeps it symmetric.
    """
    result = slope.copy()
    unit, positive = field.kind == "unit", field.kind == "positive"
    result[unit] *= x[unit] * (1 - x[unit])
    result[positive] *= x[positive]
    for rows in simplex_rows(field):
        # x_k sum_j x_j (g_k - g_j), without the difference of two large numbers near a corner.
        pull = slope[rows] * _others(x[rows]) - _others(x[rows] * slope[rows])
        result[rows] = x[rows] * pull
    for block in matrices(field):
        result[block] = (slope[block] + slope[block].T) / 2
    return result


def score_size(field: Field, x: Array, size: Array) -> Array:
    """Return bounds on the errors of `score`, given those of the slopes."""
    result = size.copy()
    unit, positive = field.kind == "unit", field.kind == "positive"
    result[unit] *= x[unit] * (1 - x[unit])
    result[positive] *= x[positive]
    for rows in simplex_rows(field):
        pull = size[rows] * _others(x[rows]) + _others(x[rows] * size[rows])
        result[rows] = x[rows] * pull
    return result


def _others(x: Array) -> Array:
    """Return for each element the sum of the others, without subtracting."""
    before, after = np.zeros_like(x), np.zeros_like(x)
    before[..., 1:] = np.cumsum(x[..., :-1], -1)
    after[..., :-1] = np.cumsum(x[..., :0:-1], -1)[..., ::-1]
    return before + after
