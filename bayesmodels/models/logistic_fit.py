"""Maxima of logistic regressions, found in coordinates in which rounding does no harm.

Columns are scaled by powers of two and, beside an intercept, centred: both lose no digit. A QR
factorisation then makes them orthogonal. Newton's method runs in these coordinates, and what it
finds is carried back to the weights of the columns as they came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from bayesmodels import descent
from bayesmodels.factors import EPS, positive_diagonal, solve_upper, triangle
from bayesmodels.models import softmax
from bayesmodels.protocol import Array

_PROOF = 0.5  # of Newton decrement times reach; any number below 1 proves that there is a maximum
_EVEN = 100.0  # ratio of diagonal entries of a factor up to which Cholesky's is good enough
_TRUSTED = 1e4  # reach up to which that product is not made of rounding errors


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows in columns of comparable size, centred beside an intercept.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        The rows.
    inward, outward : ndarray of shape (p, p)
        From weights of the columns as they came to weights of these ones, and back.
    intercept : tuple of int
        The number of the first column that is a constant; empty if there is none.
    """

    X: Array
    inward: Array
    outward: Array
    intercept: tuple[int, ...]


def columns_of(X: Array) -> Columns:
    """Scale and centre columns, without rounding."""
    size = _power(np.abs(X).max(axis=0, initial=0))
    Z = X / size
    first = (
        np.flatnonzero((np.ptp(Z, axis=0) == 0) & (Z[:1] != 0).any(0)) if len(Z) else np.array([])
    )
    if not first.size:
        return Columns(Z, np.diag(size), np.diag(1 / size), ())
    at = int(first[0])
    level = float(Z[0, at])
    mean = Z.mean(axis=0)
    mean[at] = 0
    # A number minus another one within a factor of two is exact (Sterbenz).
    Z = Z - mean
    Z[:, at] = 1
    inner = _power(np.abs(Z).max(axis=0))
    inner[at] = level
    Z = Z / np.where(np.arange(len(inner)) == at, 1, inner)
    inward, outward = np.diag(size * inner), np.diag(1 / inner / size)
    inward[at] += size * mean
    outward[at] -= mean / inner / level / size[at]
    return Columns(Z, inward, outward, (at,))


def _power(size: Array) -> Array:
    """Return the power of two just above each number; 1 for zero."""
    return np.ldexp(1.0, np.where(size > 0, np.frexp(size)[1], 0))


@dataclass(frozen=True, eq=False)
class Peak:
    """Where a log likelihood or log joint is largest, and how sharply.

    Attributes
    ----------
    w : ndarray of shape (K - 1, p)
        Weights of the columns as they came.
    factor : ndarray of shape (d, d)
        Upper triangular R with R'R the negative second derivatives by the flattened weights.
    trace : Trace
        Of Newton's method, its points in weights.
    proven : bool
        Whether it converged to what is proven to be a maximum.
    """

    w: Array
    factor: Array
    trace: descent.Trace
    proven: bool


def dependent_columns(columns: Columns, totals: Array) -> NDArray[np.intp]:
    """Return which columns are, to rounding, combinations of the columns before them."""
    root = triangle(_heard(columns, totals), np.zeros((columns.X.shape[1],) * 2))
    length = np.sqrt((root**2).sum(0))
    return np.flatnonzero(np.diagonal(root) <= 4 * len(root) * EPS * length)


def peak(
    columns: Columns, counts: Array, prior: tuple[Array, Array] | None, most: int = 1000
) -> Peak:
    """Maximise by Newton's method.

    Parameters
    ----------
    columns : Columns
        The rows.
    counts : ndarray of shape (n, K)
        How often each class was seen at each row.
    prior : (ndarray of shape (K - 1, p), ndarray of shape (K - 1, p, p)), optional
        Mean and precision factor of each class's weights, in the columns as they came.
    most : int, default 1000
        Number of steps.
    """
    totals, others = counts.sum(-1), counts.shape[1] - 1
    width = columns.X.shape[1]
    own = np.zeros((others, 0, width)) if prior is None else prior[1] @ columns.outward
    root = triangle(_heard(columns, totals), own.reshape(-1, width), np.zeros((width, width)))
    X = solve_upper(root, columns.X.T, transposed=True).T
    pull = np.stack([solve_upper(root, block.T, transposed=True).T for block in own])
    prior_rows = block_diag(*pull)
    aim = np.zeros(pull.shape[:2])
    start = np.zeros((others, width))
    if prior is not None:
        aim = (prior[1] * prior[0][:, None, :]).sum(-1)
        start = prior[0] @ columns.inward.T @ root.T

    kept: list[tuple[Array, Array]] = []

    def log_p(b: Array) -> Array:
        # Loss, gradient and curvature are asked for at one point after the other.
        if not kept or kept[0][0] is not b:
            score = softmax.scores(b.reshape(others, width), X)
            kept[:] = [(b, softmax.log_probabilities(score))]
        return kept[0][1]

    def strain(b: Array) -> Array:
        return (pull * b.reshape(others, 1, width)).sum(-1) - aim

    def loss(b: Array) -> tuple[float, float]:
        square = float((strain(b) ** 2).sum() / 2)
        value = float(-(counts * log_p(b)).sum())
        return value + square, value + square + float(totals.sum())

    def gradient(b: Array) -> Array:
        r = softmax.residuals(counts, np.exp(log_p(b)))
        return ((pull * strain(b)[..., None]).sum(1) - r.T @ X).ravel()

    def factor(b: Array) -> Array:
        rows = softmax.curvature_rows(np.exp(log_p(b)), totals, X)
        return _factor(rows, prior_rows)

    with np.errstate(under="ignore"):
        # Far off, where all probabilities are 0 or 1, there is no curvature to go by.
        begin = min(np.zeros(start.size), start.ravel(), key=lambda b: loss(b)[0])
        trace, found = descent.newton(loss, gradient, factor, begin, most=most)
    back = columns.outward @ solve_upper(root, np.eye(width))
    points = trace.points.reshape(-1, others, width) @ back.T
    trace = descent.Trace(trace.rule, points, trace.loss, trace.slope, trace.step, trace.converged)
    there = np.kron(np.eye(others), root @ columns.inward)
    return Peak(
        points[-1],
        positive_diagonal(np.linalg.qr(found @ there, mode="r")),
        trace,
        # A proper prior needs no proof: the log joint falls without end in every direction.
        trace.converged
        and (prior is not None or _proves(found, X, others, float(trace.slope[-1]))),
    )


def _factor(*rows: Array) -> Array:
    """Return the triangular factor of stacked rows, whose columns are nearly orthogonal.

    Cholesky's is several times as fast as QR; its error grows with the square of the ratio of
    diagonal entries, and is below 1e-12 as long as that ratio is below a hundred.
    """
    size = rows[0].shape[1]
    try:
        root = np.linalg.cholesky(sum((block.T @ block for block in rows), np.zeros((size, size))))
        diagonal = np.diagonal(root)
        if diagonal.min() * _EVEN >= diagonal.max():
            return root.T
    except np.linalg.LinAlgError:
        pass
    return triangle(*rows, np.zeros((size, size)))


def _heard(columns: Columns, totals: Array) -> Array:
    """Return rows with the most that they can weigh."""
    return np.sqrt(totals)[:, None] / 2 * columns.X


def _proves(factor: Array, X: Array, others: int, decrement: float) -> bool:
    r"""Return whether a minimum exists, from one point alone.

    The loss f of a logistic regression has :math:`|f'''| \le R f''` along any line, where R is
    the largest reach of a row in units of the curvature there. Hence at distance t it has risen by
    at least :math:`-\nu t + (e^{-R t} + R t - 1) / R^2`, which grows without end if
    :math:`\nu R < 1` (Bach, 2010, *Self-concordant analysis for logistic regression*, section 2).
    On separated data the product is 1 or more everywhere.
    """
    width, reach = X.shape[1], 0.0
    for c in range(others):
        rows = np.zeros((len(factor), len(X)))
        rows[c * width : (c + 1) * width] = X.T
        lengths = np.sqrt((solve_upper(factor, rows, transposed=True) ** 2).sum(0))
        reach = max(reach, float(lengths.max(initial=0.0)))
    reach *= 1 if others == 1 else 2  # scores of two classes differ by at most twice that
    return reach <= _TRUSTED and decrement * reach <= _PROOF
