"""Maxima of logistic regressions, found in coordinates in which rounding does no harm.

Columns are scaled by powers of two and, beside an intercept, centred: both lose no digit. A QR
factorisation then makes them orthogonal. Newton's method runs in these coordinates, and what it
finds is carried back to the weights of the columns as they came.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from bayesmodels.numerics import Array, optimize, softmax
from bayesmodels.numerics.triangular import EPS, positive_diagonal, solve_upper, triangle

_STEPS = 1000  # of Newton's method, at most
_PROOF = 0.5  # of Newton decrement times reach; any number below 1 proves that there is a maximum
_EVEN = 100.0  # ratio of diagonal entries of a factor up to which Cholesky's is good enough
_TRUSTED = 1e4  # reach up to which that product is not made of rounding errors


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates of columns of comparable size, centred beside an intercept.

    Columns are divided by `size`, lowered by `mean`, and divided by `inner`, each of shape (p,).
    `intercept` holds the number of the first column that is a constant, which becomes 1; or it is
    empty.
    """

    size: Array
    mean: Array
    inner: Array
    intercept: tuple[int, ...]

    def rows(self, X: Array) -> Array:
        """Return rows in these coordinates, without rounding."""
        Z = X / self.size
        for at in self.intercept:
            # A number minus another one within a factor of two is exact (Sterbenz).
            Z = Z - self.mean
            Z[:, at] = 1
            Z = Z / np.where(np.arange(len(self.inner)) == at, 1, self.inner)
        return Z

    @property
    def inward(self) -> Array:
        """From weights of the columns as they came to weights in these coordinates: (p, p)."""
        found = np.diag(self.size * self.inner)
        for at in self.intercept:
            found[at] += self.size * self.mean
        return found

    @property
    def outward(self) -> Array:
        """The way back."""
        found = np.diag(1 / self.inner / self.size)
        for at in self.intercept:
            found[at] -= self.mean / self.inner / self.inner[at] / self.size[at]
        return found


def frame_of_rows(X: Array) -> Frame:
    """Return how to scale and centre the columns of all rows."""
    if not len(X):
        return frame_of(*np.zeros((3, X.shape[1])))
    size = _power(np.abs(X).max(axis=0))
    return frame_of(X.min(axis=0), X.max(axis=0), (X / size).mean(axis=0) * size)


def frame_of(low: Array, high: Array, mean: Array) -> Frame:
    """Return how to scale and centre columns with these least, largest and mean values."""
    size = _power(np.maximum(np.abs(low), np.abs(high)))
    low, high, mean = low / size, high / size, mean / size
    first = np.flatnonzero((high == low) & (low != 0))
    if not first.size:
        return Frame(size, np.zeros_like(size), np.ones_like(size), ())
    at = int(first[0])
    mean[at] = 0
    inner = _power(np.maximum(high - mean, mean - low))
    inner[at] = low[at]
    return Frame(size, mean, inner, (at,))


def _power(size: Array) -> Array:
    """Return the power of two just above each number; 1 for zero."""
    return np.ldexp(1.0, np.where(size > 0, np.frexp(size)[1], 0))


@dataclass(frozen=True, eq=False)
class Peak:
    """Where a log likelihood or log joint is largest, and how sharply.

    Weights `w` of shape (K - 1, p) are those of the columns as they came, `factor` is upper
    triangular R with R'R the negative second derivatives by the flattened weights. `proven` says
    whether Newton's method converged to what is proven to be a maximum.
    """

    w: Array
    factor: Array
    trace: optimize.Trace
    proven: bool


def dependent_columns(root: Array) -> NDArray[np.intp]:
    """Return which columns are, to rounding, combinations of those before: `root` is of `heard`."""
    length = np.sqrt((root**2).sum(0))
    return np.flatnonzero(np.diagonal(root) <= 4 * len(root) * EPS * length)


def heard(X: Array, totals: Array) -> Array:
    """Return the triangular factor (p, p) of rows with the most that they can weigh."""
    return triangle(np.sqrt(totals)[:, None] / 2 * X, np.zeros((X.shape[1],) * 2))


class Here:
    """Sums over rows at one point: minus the log likelihood and its derivatives.

    Rows `X` (n, p) are in coordinates that make them nearly orthogonal, as are the weights `b`,
    flattened; `counts` (n, K) say how often each class was seen at each row.
    """

    def __init__(self, X: Array, counts: Array, b: Array) -> None:
        self._X, self._counts = X, counts
        score = softmax.scores(b.reshape(counts.shape[1] - 1, X.shape[1]), X)
        self._log_p = softmax.log_probabilities(score)
        self.loss = -float((counts * self._log_p).sum())

    @cached_property
    def gradient(self) -> Array:
        """The gradient of the loss."""
        return -(softmax.residuals(self._counts, np.exp(self._log_p)).T @ self._X).ravel()

    @cached_property
    def rows(self) -> Array:
        """Rows A with A'A the second derivatives of the loss."""
        return softmax.curvature_rows(np.exp(self._log_p), self._counts.sum(-1), self._X)


@dataclass(frozen=True, eq=False)
class Sums:
    """What `Here` adds up, without its rows; ``a + b`` merges disjoint sets of rows."""

    loss: float
    gradient: Array
    rows: Array

    @classmethod
    def of(cls, here: Here) -> Sums:
        """Return the sums of some rows."""
        return cls(here.loss, here.gradient, _factor(here.rows))

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.loss + other.loss,
            self.gradient + other.gradient,
            triangle(self.rows, other.rows),
        )


Prior = tuple[Array, Array]
"""Mean (K - 1, p) and precision factor (K - 1, p, p) of each class's weights, of raw columns."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates in which steps are taken: rows, weighing the most they can, are orthogonal there.

    They are rows in the `frame` times the inverse of `root`. `own` (K - 1, r, p) is the prior's
    precision factor of each class's weights in the frame, with r = 0 without prior; `aim` is its
    product with the mean, and `start` is the mean in the steps' coordinates, flattened.
    """

    frame: Frame
    root: Array
    own: Array
    aim: Array
    start: Array

    @classmethod
    def of(cls, frame: Frame, heard: Array, others: int, prior: Prior | None) -> Whitening:
        """Return the coordinates for all rows, given what is `heard` of them."""
        width = len(heard)
        own = np.zeros((others, 0, width)) if prior is None else prior[1] @ frame.outward
        root = triangle(heard, own.reshape(-1, width), np.zeros((width, width)))
        start, aim = np.zeros((others, width)), np.zeros(own.shape[:2])
        if prior is not None:
            aim = (prior[1] * prior[0][:, None, :]).sum(-1)
            start = prior[0] @ frame.inward.T @ root.T
        return cls(frame, root, own, aim, start.ravel())

    def rows(self, X: Array) -> Array:
        """Return rows of the frame in the steps' coordinates."""
        return solve_upper(self.root, X.T, transposed=True).T


def peak(frame: Frame, X: Array, counts: Array, prior: Prior | None) -> Peak:
    """Maximise by Newton's method, for rows in the frame with `counts` (n, K) of the classes."""
    totals, others = counts.sum(-1), counts.shape[1] - 1
    white = Whitening.of(frame, heard(X, totals), others, prior)
    X = white.rows(X)
    return climb(
        white,
        float(totals.sum()),
        lambda b: Here(X, counts, b),
        lambda factor: reach(factor, X, others),
    )


def climb(
    white: Whitening,
    total: float,
    at: Callable[[Array], Here | Sums],
    reach: Callable[[Array], float],
) -> Peak:
    """Maximise by Newton's method, given what is added up over rows.

    `total` is the weight of all rows, `at` returns the sums at a point, and `reach` is the function
    of that name, of the factor of the curvature.
    """
    others, width = white.own.shape[0], len(white.root)
    pull = np.stack([solve_upper(white.root, block.T, transposed=True).T for block in white.own])
    prior_rows = block_diag(*pull)
    kept: list[tuple[Array, Here | Sums]] = []

    def here(b: Array) -> Here | Sums:
        # Loss, gradient and curvature are asked for at one point after the other.
        if not kept or kept[0][0] is not b:
            kept[:] = [(b, at(b))]
        return kept[0][1]

    def strain(b: Array) -> Array:
        return (pull * b.reshape(others, 1, width)).sum(-1) - white.aim

    def loss(b: Array) -> tuple[float, float]:
        square = float((strain(b) ** 2).sum() / 2)
        value = here(b).loss + square
        return value, value + total

    def gradient(b: Array) -> Array:
        return (pull * strain(b)[..., None]).sum(1).ravel() + here(b).gradient

    def factor(b: Array) -> Array:
        return _factor(here(b).rows, prior_rows)

    with np.errstate(under="ignore"):
        begin = np.zeros(others * width)
        # Far off, where all probabilities are 0 or 1, there is no curvature to go by.
        if white.start.any() and loss(white.start)[0] < loss(begin)[0]:
            begin = white.start
        trace, found = optimize.newton(loss, gradient, factor, begin, most=_STEPS)
    back = white.frame.outward @ solve_upper(white.root, np.eye(width))
    points = trace.points.reshape(-1, others, width) @ back.T
    trace = optimize.Trace(trace.rule, points, trace.loss, trace.slope, trace.step, trace.converged)
    there = np.kron(np.eye(others), white.root @ white.frame.inward)
    with_prior = bool(white.own.shape[1])
    return Peak(
        points[-1],
        positive_diagonal(np.linalg.qr(found @ there, mode="r")),
        trace,
        # A proper prior needs no proof: the log joint falls without end in every direction.
        trace.converged and (with_prior or _proves(reach(found), float(trace.slope[-1]))),
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


def reach(factor: Array, X: Array, others: int) -> float:
    """Return the largest reach of a row in units of a curvature with this factor."""
    width, found = X.shape[1], 0.0
    for c in range(others):
        rows = np.zeros((len(factor), len(X)))
        rows[c * width : (c + 1) * width] = X.T
        lengths = np.sqrt((solve_upper(factor, rows, transposed=True) ** 2).sum(0))
        found = max(found, float(lengths.max(initial=0.0)))
    return found * (1 if others == 1 else 2)  # scores of two classes differ by at most twice that


def _proves(reach: float, decrement: float) -> bool:
    r"""Return whether a minimum exists, from one point alone.

    The loss f of a logistic regression has :math:`|f'''| \le R f''` along any line, where R is
    the largest reach of a row in units of the curvature there. Hence at distance t it has risen by
    at least :math:`-\nu t + (e^{-R t} + R t - 1) / R^2`, which grows without end if
    :math:`\nu R < 1` (Bach, 2010, *Self-concordant analysis for logistic regression*, section 2).
    On separated data the product is 1 or more everywhere.
    """
    return reach <= _TRUSTED and decrement * reach <= _PROOF
