r"""The triangular factor of the centred cross products of many rows, as fast as is safe.

Of rows :math:`a_i`, of which the last entry may be a response, it is the upper triangular F with

.. math:: F'F = S = \sum_i (a_i - \bar a)(a_i - \bar a)'.

There are two ways. A QR factorisation of blocks of centred rows never forms S; its relative error
grows with the condition number :math:`\kappa` of the rows, their columns scaled to length one. The
other adds up S itself, by one product of matrices a block, and takes its Cholesky factor: several
times faster, but its error grows with :math:`\kappa^2` (Higham, *Accuracy and Stability of
Numerical Algorithms*, 2nd ed. 2002, sections 10.1 and 20.4).

Which of them is taken is decided for each part of the rows by what was found there. Entries are
added up about a shift c, a first guess at the mean. With d the diagonal of
:math:`G = \sum_i (a_i - c)(a_i - c)'`, rounding moves S by at most :math:`\gamma \sqrt{d_j d_k}` in
place (j, k), so that every quadratic form :math:`v'Sv` keeps a relative accuracy of

.. math:: p \gamma / \lambda, \qquad
    \lambda = \lambda_{\min}\bigl(D^{-1/2} S D^{-1/2}\bigr), \quad D = \mathrm{diag}(d),

and with it the residual sum of squares and all variances, which are such forms or their inverses;
coefficients move by that times :math:`\sqrt{n}` of their standard errors. Sums are taken only where
:math:`\lambda \ge 10^{-3}`, which leaves about twelve digits, where a QR factorisation has between
one and three more. A near-exact fit, nearly collinear columns or a bad guess at a mean make
:math:`\lambda` small, and squares that nearly overflow or underflow are looked for; such parts go
through QR. Parts are merged by QR in either case, as Chan, Golub and LeVeque (1983) merge sums of
squares; this keeps what each part has, since the bound holds of the sum if it holds of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array, kernels
from bayesmodels.numerics.threads import run
from bayesmodels.numerics.triangular import triangle

Values = NDArray[Any]
Columns = Values | Sequence[Values]
Part = tuple[float, Array, Array]

LEAST_EIGENVALUE = 1e-3
"""Smallest eigenvalue of scaled cross products from which on sums are used instead of QR."""

_PART = 2**20  # numbers in a part
_SUMMED_FROM = 2**12  # rows; fewer take no time either way
_PIECE = 2**16  # numbers that are multiplied at once, in the processor's cache
_STACKED = 2**18  # numbers in a block that goes through QR
_LOOKED_AT = 2**8  # rows that the shift is guessed from
_NARROW = 32  # columns; for more, BLAS is faster than a loop, and has threads of its own
_SMALL, _LARGE = 1e-280, 1e299  # what squares must lie between to be neither rounded nor infinite


def centred_factor(
    X: Columns, y: Values, look: Callable[[Array], object], *, ones: bool = False
) -> Part:
    """Return number, means and the factor of the centred rows [X y], or [1 X y].

    `X` is an array (n, p) or p arrays (n,), of any real dtype. `look` is given every block of
    float64 rows that may hold NaN, infinity or numbers whose squares overflow, and is to complain
    if it does.

    >>> x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> n, mean, factor = centred_factor(x, y, look=id)
    >>> (factor.T @ factor).round(12)
    array([[2., 4.],
           [4., 8.]])
    """
    width = _width(X) + 1 + ones
    fast = width <= _NARROW and kernels.pay(len(y) * width)
    rows = max(_PART // width, 64 * width)
    number = max(1, len(y) // rows)
    edges = [round(k * len(y) / number) for k in range(number + 1)]
    result: list[Part] = [_nothing(width)] * number

    def work(k: int) -> None:
        block = slice(edges[k], edges[k + 1])
        part = None
        if block.stop - block.start >= max(_SUMMED_FROM, 4 * width):
            part = _by_sums(X, y, block, fast=fast)
        if part is None:
            result[k] = _by_qr(X, y, block, look, ones=ones)
        else:
            result[k] = with_ones(part) if ones else part

    run(work, range(number), len(y) * width if width <= _NARROW else 0)
    return reduce(merged, result)


def merged(a: Part, b: Part) -> Part:
    """Return number, means and factor of two sets of rows together; leading axes are a batch."""
    n = a[0] + b[0]
    share = b[0] / n if n else 0.0
    shift = b[1] - a[1]
    between = np.sqrt(a[0] * share) * shift
    return n, a[1] + share * shift, triangle(a[2], b[2], between[..., None, :])


def factored(columns: Array, weights: Array | None = None) -> Part:
    """Return number, means and factor of rows of shape (batch..., n, p) by QR.

    A weight (n,) is a number of rows, and the number their sum.
    """
    n: float
    n, size = columns.shape[-2:]
    pad = np.zeros((*columns.shape[:-2], max(0, size - columns.shape[-2]), size))
    if weights is None:
        mean = columns.mean(axis=-2)
        return n, mean, triangle(columns - mean[..., None, :], pad)
    n, w = float(weights.sum()), weights[:, None]
    mean = (columns * (w / n if n else w)).sum(-2)
    return n, mean, triangle((columns - mean[..., None, :]) * np.sqrt(w), pad)


def with_ones(part: Part) -> Part:
    """Return number, means and factor with a column of ones before the others."""
    n, mean, factor = part
    return n, np.concatenate([[1.0], mean]), np.pad(factor, ((1, 0), (1, 0)))


def _nothing(width: int) -> Part:
    return 0, np.zeros(width), np.zeros((width, width))


def _by_qr(
    X: Columns, y: Values, part: slice, look: Callable[[Array], object], *, ones: bool
) -> Part:
    width = _width(X) + 1 + ones

    def of_block(block: slice) -> Part:
        rows = stacked(X, y, block, ones=ones)
        look(rows)
        return factored(rows)

    result = map(of_block, _cut(part, max(width, _STACKED // width)))
    return reduce(merged, result, next(result, _nothing(width)))


def _by_sums(X: Columns, y: Values, part: slice, *, fast: bool) -> Part | None:
    """Return number, means and factor by sums of products; None where they keep too few digits.

    NaN, infinity and squares that overflow all show in the sums.
    """
    width = _width(X) + 1
    shift = _guess(stacked(X, y, slice(part.start, min(part.start + _LOOKED_AT, part.stop))))
    total = np.zeros((width + 1, width + 1))  # of ones as well, as the last column
    step = max(2 * width, _PIECE // width)
    with np.errstate(all="ignore"):
        if fast:
            floats = _Floats(X, step)
            loop = kernels.add_products
            for block in _cut(part, step):
                loop(floats(block), np.array(y[block], np.float64), shift, total)
        else:
            for block in _cut(part, step):
                rows = np.ones((block.stop - block.start, width + 1))
                np.subtract(stacked(X, y, block), shift, out=rows[:, :-1])
                total += rows.T @ rows
        n = part.stop - part.start
        products, sums = total[:-1, :-1], total[-1, :-1]
        factor = _root(products, products - np.outer(sums, sums) / n, shift)
        return None if factor is None else (n, shift + sums / n, factor)


def _guess(rows: Array) -> Array:
    """Return the shift of each column: the mean of the first rows, exact for a constant column."""
    with np.errstate(all="ignore"):
        low, mean = rows.min(axis=0), rows.mean(axis=0)
        return np.where(low == rows.max(axis=0), low, mean)


def _root(products: Array, centred: Array, shift: Array) -> Array | None:
    """Return the factor of centred cross products; None where they keep too few digits."""
    square = np.diagonal(products)
    # Far from zero, only a column that never leaves its shift has no squares.
    constant = (square == 0) & (np.abs(shift) > math.sqrt(_SMALL))
    fit = constant | ((square > _SMALL) & (square < _LARGE))
    if not (fit & (np.abs(shift) < math.sqrt(_LARGE))).all():
        return None
    length = np.where(constant, 1.0, np.sqrt(square))
    scaled = centred / length / length[:, None] + np.diag(constant.astype(float))
    if not np.linalg.eigvalsh(scaled)[0] >= LEAST_EIGENVALUE:
        return None
    return np.linalg.cholesky(scaled).T * np.where(constant, 0.0, length)


class _Floats:
    """Rows of X in float64, a block at a time; a block may overwrite the last."""

    def __init__(self, X: Columns, step: int) -> None:
        self.X = X
        flags = X.flags if isinstance(X, np.ndarray) else None
        floats = isinstance(X, np.ndarray) and X.dtype == np.float64
        self.as_they_are = floats and flags is not None and flags.forc and flags.writeable
        order: Any = "C" if flags is not None and flags.c_contiguous else "F"
        # With a row more than is used, slices never are whole: loops are compiled for each layout.
        self.out = np.empty((0 if self.as_they_are else step + 1, _width(X)), order=order)

    def __call__(self, block: slice) -> Array:
        """Return the rows of a block, of shape (rows, p)."""
        X = self.X
        if isinstance(X, np.ndarray) and self.as_they_are:
            return X[block]
        out = self.out[: block.stop - block.start]
        if isinstance(X, np.ndarray):
            out[:] = X[block]
        else:
            for column, target in zip(X, out.T, strict=True):
                target[:] = column[block]
        return out


def _cut(part: slice, step: int) -> list[slice]:
    return [
        slice(start, min(start + step, part.stop)) for start in range(part.start, part.stop, step)
    ]


def _width(X: Columns) -> int:
    return X.shape[1] if isinstance(X, np.ndarray) else len(X)


def stacked(X: Columns, y: Values, block: slice, *, ones: bool = False) -> Array:
    """Return rows [X y], or [1 X y], in float64."""
    target = y[block]
    result = np.empty((len(target), ones + _width(X) + 1))
    result[:, :ones] = 1
    result[:, -1] = target
    if isinstance(X, np.ndarray):
        result[:, ones:-1] = X[block]
        return result
    for column, place in zip(X, result.T[ones:-1], strict=True):
        place[:] = column[block]
    return result
