"""Sums, moments and tables of counts of rows, by group.

Rows are taken in blocks that the processor's cache holds, so that small dtypes are never copied
whole to float64, and blocks of normal data are merged by the pairwise update of Chan, Golub and
LeVeque (1983): no raw sum of squares is ever formed.

Rows `x` are of shape (n, ...) and any real dtype; users' input was checked before. `groups` are
numbers ``0 .. size - 1``, one a row, or None for one group of all rows; `weights` say how often
each row counts, fractions included. Results begin with an axis of groups, in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesmodels.numerics import Array
from bayesmodels.numerics.threads import blocks, gram

Values = NDArray[Any]
Groups = NDArray[np.intp] | None
Moments = tuple[Array, Array, Array]

_PATTERNS = 2**14
_MOST_AXES = 16


def sums(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Array:
    """Return the sums over the rows of each group, of shape (size, ...).

    >>> sums(np.array([[1, 2], [3, 4], [5, 6]]), np.array([0, 1, 0]), 2)
    array([[6., 8.],
           [3., 4.]])
    """
    if x.ndim == 1 and groups is None and weights is None:
        return np.add.reduce(x, dtype=np.float64, keepdims=True)
    total = np.zeros((size, math.prod(x.shape[1:])))
    for block in blocks(x, least=size):
        part = None if groups is None else groups[block]
        total += _adder(part, size, _part(weights, block))(_flat(x, block))
    return total.reshape(size, *x.shape[1:])


def _flat(x: Values, block: slice) -> Array:
    """Return a block of rows as a C-ordered float64 matrix."""
    rows = x[block]
    flat = rows.reshape(len(rows), math.prod(x.shape[1:]))
    return np.require(flat, dtype=np.float64, requirements=["C", "W"])


def _part(weights: Array | None, block: slice) -> Array | None:
    return None if weights is None else np.asarray(weights[block], dtype=np.float64)


def indicator(groups: Groups, size: int, n: int, weights: Array | None) -> sparse.csc_array:
    """Return the matrix of shape (size, n) that adds up the rows of each group."""
    entries = np.ones(n) if weights is None else weights
    return sparse.csc_array((entries, group_of(groups, n), np.arange(n + 1)), shape=(size, n))


def group_of(groups: Groups, n: int) -> NDArray[np.intp]:
    """Return the group of each of n rows."""
    return np.zeros(n, dtype=np.intp) if groups is None else groups


def _adder(groups: Groups, size: int, weights: Array | None) -> Callable[[Array], Array]:
    """Return a function that adds up the rows of each group."""
    if groups is not None:
        matrix = indicator(groups, size, len(groups), weights)
        return lambda rows: matrix @ rows
    # Not by `@` or `sum`: BLAS starts threads, and NumPy is slow along short rows.
    if weights is None:
        return lambda rows: np.einsum("ij->j", rows)[None]
    return lambda rows: np.einsum("i,ij->j", weights, rows)[None]


def merged_means(
    n: Array, mean: Array, other_n: Array, other_mean: Array
) -> tuple[Array, Array, Array]:
    """Return mean, shift and weight of two sets of rows, whose numbers may both be zero.

    The shift is the distance between the two means, the weight n n' / (n + n') what its square
    adds to the sum of squares.

    >>> one = np.ones(())
    >>> [float(x) for x in merged_means(3 * one, one, one, 5 * one)]
    [2.0, 4.0, 0.75]
    """
    total = n + other_n
    share = np.divide(other_n, total, out=np.zeros(total.shape), where=total > 0)
    shift = other_mean - mean
    return mean + share * shift, shift, n * share


def _merged(a: Moments, b: Moments, square: Callable[[Array], Array]) -> Moments:
    mean, shift, weight = merged_means(a[0][:, None], a[1], b[0][:, None], b[1])
    between = square(shift)
    between *= weight.reshape(-1, *(1,) * (between.ndim - 1))
    return a[0] + b[0], mean, a[2] + b[2] + between


def _ratio(total: Array, n: Array) -> Array:
    """Return total / n by rows, and 0 where n is 0."""
    n = n[:, None]
    return np.divide(total, n, out=np.zeros(total.shape), where=n > 0)


def moments(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Moments:
    """Return numbers, means and centred sums of squares of the rows of each group.

    The number is a sum of weights; means and sums are of shape (size, ...), and 0 without rows.

    >>> n, mean, scatter = moments(np.array([1.0, 3.0, 7.0]), np.array([0, 0, 1]), 2)
    >>> mean, scatter
    (array([2., 7.]), array([2., 0.]))
    """
    empty = np.zeros((size, math.prod(x.shape[1:])))
    total: Moments = (np.zeros(size), empty, empty)
    for block in blocks(x, least=size):
        part_groups = None if groups is None else groups[block]
        part = _moments(_flat(x, block), part_groups, size, _part(weights, block))
        total = _merged(total, part, np.square)
    n, mean, scatter = total
    return n, mean.reshape(size, *x.shape[1:]), scatter.reshape(size, *x.shape[1:])


def _moments(rows: Array, groups: Groups, size: int, w: Array | None) -> Moments:
    add = _adder(groups, size, w)
    n = add(np.ones((len(rows), 1)))[:, 0]
    mean = _ratio(add(rows), n)
    # The second pass also measures, and takes away, the error of the first.
    centred = rows - (mean if groups is None else mean[groups])
    correction = _ratio(add(centred), n)
    np.multiply(centred, centred, out=centred)
    return n, mean + correction, np.maximum(add(centred) - n[:, None] * correction**2, 0)


def scatters(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Moments:
    """Return numbers, means (size, D) and centred scatter matrices (size, D, D) of rows (n, D).

    >>> x = np.array([[0.0, 0.0], [2.0, 4.0]])
    >>> scatters(x, None, 1)[2]
    array([[[2., 4.],
            [4., 8.]]])
    """
    D = x.shape[1]
    order = None if groups is None else _order(groups, size)
    ends = np.cumsum([len(x)] if groups is None else np.bincount(groups, minlength=size))
    parts = []
    for g, end in enumerate(ends.tolist()):
        total: Moments = (np.zeros(1), np.zeros((1, D)), np.zeros((1, D, D)))
        start = int(ends[g - 1]) if g else 0
        for block in blocks(x[start:end]):
            at: Any = slice(start + block.start, min(start + block.stop, end))
            if order is not None:
                at = order[at]
            part = _scatter(np.array(x[at], dtype=np.float64), _part(weights, at))
            total = _merged(total, part, lambda shift: shift[:, :, None] * shift[:, None, :])
        parts.append(total)
    n, mean, scatter = (np.concatenate(values) for values in zip(*parts, strict=True))
    return n, mean, scatter


def _order(groups: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Return the rows in the order of their groups; NumPy sorts small integers by radix."""
    small = np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.intp
    return np.argsort(groups.astype(small), kind="stable")


def _scatter(rows: Array, w: Array | None) -> Moments:
    """Return the moments of one group's rows, which it overwrites."""
    n = np.array([len(rows) if w is None else w.sum()], dtype=np.float64)
    mean = _ratio(_total(rows, w), n)
    rows -= mean
    correction = _ratio(_total(rows, w), n)
    if w is not None:
        rows *= np.sqrt(w)[:, None]
    square = gram(rows) - n * correction.T * correction
    return n, mean + correction, square[None]


def _total(rows: Array, w: Array | None) -> Array:
    return (rows if w is None else rows * w[:, None]).sum(axis=0, keepdims=True)


def tables(
    codes: Values, groups: Groups, levels: int, size: int, weights: Array | None = None
) -> Array:
    """Count how often each code ``0 .. levels - 1`` occurs in each group and column.

    Of shape (size, F, levels) for codes (n, F), (size, levels) for codes (n,).

    >>> tables(np.array([0, 2, 2]), np.array([0, 0, 1]), 3, 2)
    array([[1., 0., 1.],
           [0., 0., 1.]])
    """
    F = math.prod(codes.shape[1:])
    total = np.zeros((size, F, levels))
    width = _pattern_width(size, levels)
    columns = [slice(start, start + width) for start in range(0, F, width)]
    # Some columns of a row are one pattern: patterns are counted, and each column's codes are
    # read off their counts.
    patterns = [np.zeros((size, *(levels,) * len(range(F)[part]))) for part in columns]
    for block in blocks(codes, _PATTERNS * max(1, F)):
        rows = codes[block]
        rows = rows.reshape(len(rows), F)
        w = _part(weights, block)
        for part, pattern in zip(columns, patterns, strict=True):
            place = np.zeros(len(rows), np.intp) if groups is None else groups[block].copy()
            for column in rows.T[part]:
                place *= levels
                np.add(place, column, out=place, casting="unsafe")
            result = np.bincount(place, w, minlength=pattern.size)
            pattern += result.reshape(pattern.shape)  # noqa: PLW2901 - in place
    for part, pattern in zip(columns, patterns, strict=True):
        for k, j in enumerate(range(F)[part]):
            others = tuple(axis for axis in range(1, pattern.ndim) if axis != k + 1)
            total[:, j] = pattern.sum(axis=others)
    return total.reshape(size, *codes.shape[1:], levels)


def _pattern_width(size: int, levels: int) -> int:
    """Return how many columns are counted as one pattern, so that counts stay in the cache."""
    number, cells = 1, size * levels
    while levels > 1 and cells * levels <= _PATTERNS and number < _MOST_AXES:
        number, cells = number + 1, cells * levels
    return number
