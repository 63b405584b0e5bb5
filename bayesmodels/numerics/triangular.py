"""Upper triangular factors: least squares without normal equations or inverses.

Rows [X y] are summarised by their triangular factor, ``F.T @ F == [X y].T @ [X y]``, which a QR
factorisation finds without forming the products. Leading axes are a batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm

from bayesmodels.numerics import Array

EPS = float(np.finfo(float).eps)

HALF = 8
"""Decimal digits that may be lost without a warning: half of float64's."""


def triangle(*rows: Array) -> Array:
    """Return the triangular factor of stacked rows, diagonal not negative."""
    if any(block.ndim > 2 for block in rows):  # noqa: PLR2004 - a batch
        batch = np.broadcast_shapes(*(block.shape[:-2] for block in rows))
        rows = tuple(np.broadcast_to(block, (*batch, *block.shape[-2:])) for block in rows)
    return positive_diagonal(np.linalg.qr(np.concatenate(rows, axis=-2), mode="r"))


def positive_diagonal(upper: Array) -> Array:
    """Flip the signs of rows so that the diagonal is not negative: the factor is then unique."""
    diagonal = np.diagonal(upper, axis1=-2, axis2=-1)
    return np.where(diagonal < 0, -1.0, 1.0)[..., None] * upper


def solution(factor: Array) -> Array:
    """Solve R m = z."""
    return solve_triangular(factor[..., :-1, :-1], factor[..., :-1, -1:])[..., 0]


def least_solution(factor: Array) -> Array:
    """Solve R m = z; where R is singular, return the shortest m that comes nearest."""
    if not dependent(factor).any():
        return solution(factor)
    return (np.linalg.pinv(factor[..., :-1, :-1]) @ factor[..., :-1, -1:])[..., 0]


def half_log_det(root: Array) -> Array:
    """Return half the log determinant of R'R."""
    return np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(-1)


def dependent(factor: Array) -> NDArray[np.bool_]:
    """Return which columns are, to rounding, combinations of the columns before them.

    These are columns that are hardly longer than their projection; and, where there is none, the
    first column with which some column comes as near to the span of the others, all of length one,
    as rounding moves it, so that its coefficient would have no digit.
    """
    root = factor[..., :-1, :-1]
    p = root.shape[-1]
    length = np.sqrt((root**2).sum(-2))
    diagonal = np.diagonal(root, axis1=-2, axis2=-1)
    flat = np.asarray(diagonal <= 4 * p * EPS * length)
    lost = flat.any(-1)[..., None]
    scaled = np.where(lost[..., None], np.eye(p), root / np.where(lost, 1.0, length)[..., None, :])
    solve = solve_upper if scaled.ndim == 2 else solve_triangular  # noqa: PLR2004 - no batch
    inverse = solve(scaled, np.broadcast_to(np.eye(p), scaled.shape))
    # The inverse of the first columns is the first columns of the inverse.
    nearness = np.sqrt(np.cumsum(inverse**2, axis=-1)).max(-2)
    near = nearness * p * EPS >= 1
    near[..., 1:] &= ~near[..., :-1]
    return flat | near


def cholesky(matrix: Array) -> Array:
    """Return the lower triangular A with A A' = M, reading the lower triangle of M.

    Complex matrices are factored without conjugating, so that a complex step differentiates. Of a
    matrix that is not positive definite, if only by rounding, the factor holds NaN.
    """
    if not np.iscomplexobj(matrix):
        try:
            return np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:  # some of them are not positive definite
            pass
    root = np.zeros_like(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(matrix.shape[-1]):
            row = root[..., j, :j]
            pivot = matrix[..., j, j] - (row**2).sum(-1)
            root[..., j, j] = np.sqrt(np.where(np.real(pivot) > 0, pivot, np.nan))
            below = matrix[..., j + 1 :, j] - (root[..., j + 1 :, :j] @ row[..., None])[..., 0]
            root[..., j + 1 :, j] = below / root[..., j, j, None]
    return root


def any_root(matrix: Array) -> Array:
    """Return a root A with A A' = M; M may be singular to rounding."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        squares, directions = np.linalg.eigh(matrix)
        return directions * np.sqrt(np.maximum(squares, 0))[..., None, :]


def solve_upper(root: Array, right: Array, *, transposed: bool = False) -> Array:
    """Solve R X = B, or R' X = B, for one upper triangular R and the columns of B.

    By BLAS's trsm. SciPy's `solve_triangular` calls LAPACK's trtrs, for which OpenBLAS waits for
    all cores however small the matrix is: milliseconds instead of microseconds when they are busy.
    """
    if not right.size:
        return np.zeros(right.shape)
    return dtrsm(1.0, root, right, trans_a=int(transposed))


def solve_lower(root: Array, right: Array) -> Array:
    """Solve A X = B for lower triangular A by substitution; leading axes broadcast."""
    batch = np.broadcast_shapes(root.shape[:-2], right.shape[:-2])
    result = np.empty((*batch, *right.shape[-2:]), np.result_type(root, right))
    for i in range(root.shape[-1]):
        known = (root[..., i : i + 1, :i] @ result[..., :i, :])[..., 0, :]
        result[..., i, :] = (right[..., i, :] - known) / root[..., i, i, None]
    return result
