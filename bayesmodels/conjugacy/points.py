"""Points of a model's space: mild ones, wild ones, and what a slope means at them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayesmodels.conjugacy.field import Field

Array = NDArray[np.float64]

MILD, WILD = 0.8, 10.0


def somewhere(field: Field, rng: np.random.Generator, spread: float = MILD) -> Array:
    """Return a random point of the support: logits, logs and numbers as far out as `spread`."""
    z = rng.standard_normal(field.size)
    x = z * spread**2  # numbers have no natural size; logs and logits do
    x[field.kind == "unit"] = expit(spread * z[field.kind == "unit"])
    x[field.kind == "positive"] = np.exp(spread * z[field.kind == "positive"])
    for number, s in enumerate(field.continuous):
        part = slice(field.start[number], field.start[number + 1])
        if s.kind == "simplex":
            logs = spread * z[part].reshape(s.shape)
            weights = np.exp(logs - logs.max(-1, keepdims=True))
            x[part] = (weights / weights.sum(-1, keepdims=True)).ravel()
        elif s.kind == "matrix":
            root = np.eye(s.shape[-1]) + 0.3 * np.tril(z[part].reshape(s.shape))
            x[part] = (root @ np.swapaxes(root, -1, -2)).ravel()
    return x


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
        log_slope = x[rows] * slope[rows]
        result[rows] = log_slope - x[rows] * log_slope.sum(-1, keepdims=True)
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
        each = x[rows] * size[rows]
        result[rows] = each + x[rows] * each.sum(-1, keepdims=True)
    return result
