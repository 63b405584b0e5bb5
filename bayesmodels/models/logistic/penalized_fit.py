"""Maxima of logistic regressions, found in coordinates in which rounding does no harm.

Columns are scaled by powers of two and, beside an intercept, centred: both lose no digit. A QR
factorisation then makes them orthogonal. Newton's method runs in these coordinates, and what it
finds is carried back to the weights of the columns as they came.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm

from bayesmodels.numerics import Array, optimize, softmax, threads
from bayesmodels.numerics.triangular import EPS, positive_diagonal, solve_upper, triangle

_STEPS = 1000  # of Newton's method, at most
_PROOF = 0.5  # of Newton decrement times reach; any number below 1 proves that there is a maximum
_EVEN = 100.0  # ratio of diagonal entries of a factor up to which Cholesky's is good enough
_ORTHOGONAL = 10.0  # the same, up to which columns are left as they are
_LARGE, _EVERY = 2**13, 11  # rows from which on every so many-th of them is looked at first
_STEPS_OF_SAMPLE = 4
_BLOCK = 2**17  # numbers of rows that are worked on at a time
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
        """Return rows in these coordinates, without rounding, column by column in memory."""
        Z = np.multiply(X, 1 / self.size, order="F")
        for at in self.intercept:
            # A number minus another one within a factor of two is exact (Sterbenz).
            Z = Z - self.mean
            Z[:, at] = 1
            Z = Z / np.where(np.arange(len(self.inner)) == at, 1, self.inner)
        return Z

    @property
    def inward(self) -> Array:
        """Matrix (p, p) from weights of the raw columns to weights in these coordinates."""
        result = np.diag(self.size * self.inner)
        for at in self.intercept:
            result[at] += self.size * self.mean
        return result

    @property
    def outward(self) -> Array:
        """Inverse of `inward`."""
        result = np.diag(1 / self.inner / self.size)
        for at in self.intercept:
            result[at] -= self.mean / self.inner / self.inner[at] / self.size[at]
        return result


def frame_of_rows(X: Array) -> Frame:
    """Return how to scale and centre the columns of all rows."""
    if not len(X):
        return frame_of(*np.zeros((3, X.shape[1])))

    def ends(rows: slice) -> tuple[Array, Array, Array]:
        columns = np.ascontiguousarray(X[rows].T)  # long loops
        return columns.min(1), columns.max(1), columns.sum(1) / len(X)

    low, high, share = zip(*threads.gathered(ends, _cuts(X), X.size), strict=True)
    return frame_of(np.min(low, axis=0), np.max(high, axis=0), np.sum(share, axis=0))


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
    """Return the power of two just above each number, as far as it has an inverse; 1 for zero."""
    return np.ldexp(1.0, np.where(size > 0, np.frexp(size)[1].clip(-1000), 0))


@dataclass(frozen=True, eq=False)
class Peak:
    """Where a log likelihood or log joint is largest, and how sharply.

    Weights `w` of shape (K - 1, p) are those of the columns as they came, `factor` is upper
    triangular R with R'R the negative second derivatives by the flattened weights. The log
    likelihood is without coefficients of counts. `proven` says
    whether Newton's method converged to what is proven to be a maximum.
    """

    w: Array
    log_likelihood: float
    factor: Array
    trace: optimize.Trace
    proven: bool


def dependent_columns(root: Array) -> NDArray[np.intp]:
    """Return which columns are, to rounding, combinations of those before; `root` is a factor."""
    length = np.sqrt((root**2).sum(0))
    return np.flatnonzero(np.diagonal(root) <= 4 * len(root) * EPS * length)


Blocks = list[tuple[Array, Array]]
"""Rows, column by column in memory, and how often each class was seen at each of them."""


def framed(frame: Frame, X: Array, counts: Array) -> Blocks:
    """Return rows in the frame, with `counts` (n, K) of the classes, in blocks."""
    return threads.gathered(lambda cut: (frame.rows(X[cut]), counts[cut]), _cuts(X), X.size)


def subsample(blocks: Blocks) -> Blocks:
    """Return every eleventh of many rows, with the weight of all; few rows are all returned."""
    if sum(len(X) for X, _ in blocks) < _LARGE:
        return blocks
    every = slice(None, None, _EVERY)
    return [(np.asfortranarray(X[every]), _EVERY * counts[every]) for X, counts in blocks]


def curvature_bound(blocks: Blocks) -> Array:
    """Return the triangular factor (p, p) of the largest curvature that any weights give rows."""

    def rows(block: tuple[Array, Array]) -> Array:
        return np.sqrt(block[1].sum(-1))[:, None] / 2 * block[0]

    grams = threads.gathered(
        lambda block: _gram(rows(block)), blocks, sum(X.size for X, _ in blocks)
    )
    root = _root(np.sum(grams, axis=0))
    return triangle(*map(rows, blocks), np.zeros_like(grams[0])) if root is None else root


def _gram(rows: Array) -> Array:
    return rows.T @ rows


def _root(gram: Array) -> Array | None:
    """Return the triangular factor of columns with these products if they are nearly orthogonal.

    Cholesky's is several times as fast as QR; its error grows with the square of the ratio of
    diagonal entries, and is below 1e-12 as long as that ratio is below a hundred.
    """
    try:
        root = np.linalg.cholesky(gram).T
    except np.linalg.LinAlgError:
        return None
    diagonal = np.diagonal(root)
    return root if diagonal.min() * _EVEN >= diagonal.max() else None


def _cuts(X: Array) -> list[slice]:
    """Cut rows into blocks that stay in the cache of a core while they are worked on."""
    return list(threads.blocks(X, _BLOCK)) or [slice(0)]


class Here:
    """Sums over rows at one point: minus the log likelihood and its derivatives.

    Each of `rows` is a block of rows X (n, p), in coordinates that make them nearly orthogonal, and
    of `counts` (n, K), which say how often each class was seen at each row; `b` are the weights in
    these coordinates, flattened.
    """

    def __init__(self, rows: Blocks, b: Array) -> None:
        self._rows, self._b = rows, b
        result = threads.gathered(self._sums, rows, sum(X.size for X, _ in rows))
        self.loss, self.gradient, self._gram = (sum(each) for each in zip(*result, strict=True))

    def _sums(self, block: tuple[Array, Array]) -> tuple[float, Array, Array]:
        loss, residual, rows = self._terms(*block)
        return loss, -(residual.T @ block[0]).ravel(), _gram(rows)

    def _terms(self, X: Array, counts: Array) -> tuple[float, Array, Array]:
        """Return the loss, residuals (n, K - 1), and rows A with A'A the second derivatives."""
        score = softmax.scores(self._b.reshape(counts.shape[1] - 1, X.shape[1]), X)
        if score.shape[1] == 1:
            loss, residual, curvature = softmax.two_classes(counts, score[:, 0])
            return loss, residual[:, None], np.sqrt(curvature)[:, None] * X
        log_p = softmax.log_probabilities(score)
        p = np.exp(log_p)
        rows = softmax.curvature_rows(p, counts.sum(-1), X)
        return -float((counts * log_p).sum()), softmax.residuals(counts, p), rows

    def factor(self, *prior: Array) -> Array:
        """Return the triangular factor of the second derivatives, rows of the prior included."""
        root = _root(self._gram + sum(map(_gram, prior)))
        if root is not None:
            return root
        return triangle(
            *(self._terms(*block)[2] for block in self._rows), *prior, np.zeros_like(self._gram)
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of `Here` without its rows; ``a + b`` merges disjoint sets of rows."""

    loss: float
    gradient: Array
    root: Array

    @classmethod
    def of(cls, here: Here) -> Sums:
        """Return the sums of some rows."""
        return cls(here.loss, here.gradient, here.factor())

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.loss + other.loss,
            self.gradient + other.gradient,
            triangle(self.root, other.root),
        )

    def factor(self, *prior: Array) -> Array:
        """Return the triangular factor of the second derivatives, rows of the prior included."""
        return triangle(self.root, *prior)


Prior = tuple[Array, Array]
"""Mean (K - 1, p) and precision factor (K - 1, p, p) of each class's weights, of raw columns."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates in which steps are taken: columns of rows are about orthogonal there.

    Rows are those in the `frame` times the inverse of `root`, which is the unit matrix where these
    are nearly orthogonal as they are. `prior` (K - 1, r, p) is the prior's
    precision factor of each class's weights in the frame, with r = 0 without prior; `aim` is its
    product with the mean, and `start` (K - 1, p) are weights of columns as they came to begin with.
    """

    frame: Frame
    root: Array
    prior: Array
    aim: Array
    start: Array

    @classmethod
    def of(cls, frame: Frame, bound: Array, others: int, prior: Prior | None) -> Whitening:
        """Return the coordinates for all rows, given the `bound` on their curvature."""
        width = len(bound)
        rows = np.zeros((others, 0, width)) if prior is None else prior[1] @ frame.outward
        root = triangle(bound, rows.reshape(-1, width), np.zeros((width, width)))
        diagonal = np.diagonal(root)
        if diagonal.min() * _ORTHOGONAL >= diagonal.max():
            root = np.eye(width)
        start = np.zeros((others, width)) if prior is None else prior[0]
        aim = np.zeros(rows.shape[:2]) if prior is None else (prior[1] * start[:, None, :]).sum(-1)
        return cls(frame, root, rows, aim, start)

    def rows(self, X: Array) -> Array:
        """Return rows in the frame times the inverse of `root`; overwrites them."""
        if np.array_equal(self.root, np.eye(len(self.root))):
            return X
        return dtrsm(1.0, self.root, X, side=1, overwrite_b=1)


At = Callable[[Array], Here | Sums]
"""From a point to the sums over rows there."""


def peak(white: Whitening, blocks: Blocks) -> Peak:
    """Maximise by Newton's method, for rows in the frame, which are overwritten.

    If there are many rows, it starts at the maximum of a `subsample`.
    """
    size, others = sum(X.size for X, _ in blocks), blocks[0][1].shape[1] - 1
    rows = threads.gathered(lambda block: (white.rows(block[0]), block[1]), blocks, size)
    sample = subsample(rows)
    return climb(
        white,
        float(sum(counts.sum() for _, counts in rows)),
        lambda b: Here(rows, b),
        lambda factor: max(reach(factor, X, others) for X, _ in rows),
        None if sample is rows else lambda b: Here(sample, b),
    )


def climb(
    white: Whitening,
    total: float,
    at: At,
    reach: Callable[[Array], float],
    near: At | None = None,
) -> Peak:
    """Maximise by Newton's method, given functions that return sums over rows.

    `total` is the weight of all rows, `at` returns the sums at a point, `near` those of a sample of
    rows, and `reach` the largest reach of a row from the factor of the curvature.
    """
    others, width = white.prior.shape[0], len(white.root)
    pull = np.stack([solve_upper(white.root, block.T, transposed=True).T for block in white.prior])
    of, aim = np.arange(others), white.aim.ravel()
    prior_rows = np.zeros((*pull.shape[:2], others, width))  # each class's, on the diagonal
    prior_rows[of, :, of] = pull
    prior_rows = prior_rows.reshape(len(aim), others * width)
    # Far off, where all probabilities are 0 or 1, there is no curvature to go by.
    flat = total * np.log(others + 1) + aim @ aim / 2  # the loss without weights

    def climbed(at: At, begin: Array, most: int = _STEPS) -> tuple[optimize.Trace, Array]:
        def penalized(b: Array) -> optimize.Slope:
            sums, strain = at(b), prior_rows @ b - aim
            loss = sums.loss + float(strain @ strain) / 2
            gradient = prior_rows.T @ strain + sums.gradient
            return optimize.Slope(loss, loss + total, gradient, partial(sums.factor, prior_rows))

        here = penalized(begin)
        if begin.any() and here.loss >= flat:
            begin = np.zeros_like(begin)
            here = penalized(begin)
        return optimize.newton(penalized, begin, here, most=most)

    with np.errstate(under="ignore"):
        begin = (white.start @ white.frame.inward.T @ white.root.T).ravel()
        if near:
            begin = climbed(near, begin, _STEPS_OF_SAMPLE)[0].last
        trace, result = climbed(at, begin)
    strain = prior_rows @ trace.last - aim
    back = white.frame.outward @ solve_upper(white.root, np.eye(width))
    points = trace.points.reshape(-1, others, width) @ back.T
    trace = optimize.Trace(trace.rule, points, trace.loss, trace.slope, trace.step, trace.converged)
    there = np.kron(np.eye(others), white.root @ white.frame.inward)
    with_prior = bool(white.prior.shape[1])
    return Peak(
        points[-1],
        float(strain @ strain) / 2 - float(trace.loss[-1]),
        positive_diagonal(np.linalg.qr(result @ there, mode="r")),
        trace,
        # A proper prior needs no proof: the log joint falls without end in every direction.
        trace.converged and (with_prior or _proves(reach(result), float(trace.slope[-1]))),
    )


def reach(factor: Array, X: Array, others: int) -> float:
    """Return the largest reach of a row in units of a curvature with this factor."""
    width, result = X.shape[1], 0.0
    for c in range(others):
        rows = np.zeros((len(factor), len(X)))
        rows[c * width : (c + 1) * width] = X.T
        lengths = np.sqrt((solve_upper(factor, rows, transposed=True) ** 2).sum(0))
        result = max(result, float(lengths.max(initial=0.0)))
    return result * (1 if others == 1 else 2)  # scores of two classes differ by at most twice that


def _proves(reach: float, decrement: float) -> bool:
    r"""Return whether a minimum exists, from one point alone.

    The loss f of a logistic regression has :math:`|f'''| \le R f''` along any line, where R is
    the largest reach of a row in units of the curvature there. Hence at distance t it has risen by
    at least :math:`-\nu t + (e^{-R t} + R t - 1) / R^2`, which grows without end if
    :math:`\nu R < 1` (Bach, 2010, *Self-concordant analysis for logistic regression*, section 2).
    On separated data the product is 1 or more everywhere.
    """
    return reach <= _TRUSTED and decrement * reach <= _PROOF
