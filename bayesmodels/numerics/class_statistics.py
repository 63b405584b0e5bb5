"""Statistics of rows by class, and log densities of rows under each class, fast and in blocks.

Arrays in, arrays out: users' input was checked before it comes here. Rows are taken in blocks that
the processor's cache holds, so that small dtypes are never copied whole to float64, and blocks of
normal data are merged by the pairwise update of Chan, Golub and LeVeque (1983): no raw sum of
squares is ever formed. Densities run on as many threads as there are cores, since NumPy lets go of
the interpreter while it computes.

Groups are numbers ``0 .. size - 1``, one a row, or None for one group of all rows. ``(...)`` in a
shape stands for leading axes such as draws.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.special import gammaln

from bayesmodels.numerics import Array, kernels
from bayesmodels.numerics.special import (
    HALF_LOG_2PI,
    log_dirichlet_multinomial,
    log_gamma_ratio,
    log_multinomial_coefficient,
    merged_means,
)
from bayesmodels.numerics.threads import CORES, gram, product, run

Values = NDArray[Any]
Groups = NDArray[np.intp] | None
Index = tuple[int, ...]
Moments = tuple[Array, Array, Array]
Heavy = tuple[NDArray[np.intp], Array, NDArray[np.bool_], NDArray[np.intp]]

_BLOCK = 2**17
_FACTORS = 32
_PATTERNS = 2**14
_MOST_AXES = 16
_TABLED = 8
_SHORT = 256  # tokens in a document, whose logs are looked up
_LOG_FACTORIALS = gammaln(np.arange(257) + 1.0)


# --- blocks ----------------------------------------------------------------------------------


def _blocks(x: Values, size: int = _BLOCK, least: int = 64) -> Iterator[slice]:
    """Cut rows into blocks of about `size` numbers and of at least `least` rows."""
    rows = max(least, size // max(1, math.prod(x.shape[1:])))
    return (slice(start, start + rows) for start in range(0, len(x), rows))


def _row_blocks(x: sparse.csr_array, cells: int = 2 * _BLOCK) -> Iterator[slice]:
    """Cut the rows of a sparse matrix into blocks of about as many cells each."""
    cuts = np.searchsorted(x.indptr, np.arange(0, x.indptr[-1], cells))
    edges = np.unique([0, *cuts.tolist(), x.shape[0]]).tolist()
    return (slice(a, b) for a, b in pairwise(edges))


def _flat(x: Values, block: slice) -> Array:
    """Return a block of rows as a C-ordered float64 matrix."""
    rows = x[block]
    flat = rows.reshape(len(rows), math.prod(x.shape[1:]))
    return np.require(flat, dtype=np.float64, requirements=["C", "W"])


def _columns(x: Values, block: slice) -> Array:
    """Return a block of rows transposed, as a float64 copy: loops are long along its last axis."""
    return np.array(x[block].T, dtype=np.float64, order="C")


def _chosen(groups: Groups, block: slice, rows: int) -> NDArray[np.intp]:
    return np.zeros(rows, dtype=np.intp) if groups is None else groups[block]


def _adder(groups: Groups, size: int, weights: Array | None) -> Callable[[Array], Array]:
    """Return a function that adds up the rows of each group."""
    if groups is None:
        # Not by `@` or `sum`: BLAS starts threads, and NumPy is slow along short rows.
        if weights is None:
            return lambda rows: np.einsum("ij->j", rows)[None]
        return lambda rows: np.einsum("i,ij->j", weights, rows)[None]
    n = len(groups)
    entries = np.ones(n) if weights is None else weights
    indicator = sparse.csc_array((entries, groups, np.arange(n + 1)), shape=(size, n))
    return lambda rows: indicator @ rows


# --- sums, moments, tables -------------------------------------------------------------------


def sums(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Array:
    """Return the sums over the rows of each group.

    Parameters
    ----------
    x : ndarray of shape (n, ...)
        Numbers of any real dtype.
    groups : ndarray of intp of shape (n,), or None
        Group of each row.
    size : int
        Number of groups.
    weights : ndarray of shape (n,), optional
        How often each row counts; fractions are allowed.

    Returns
    -------
    ndarray of shape (size, ...)
        In float64.

    Examples
    --------
    >>> sums(np.array([[1, 2], [3, 4], [5, 6]]), np.array([0, 1, 0]), 2)
    array([[6., 8.],
           [3., 4.]])
    """
    total = np.zeros((size, math.prod(x.shape[1:])))
    for block in _blocks(x, least=size):
        part = None if groups is None else groups[block]
        total += _adder(part, size, _part(weights, block))(_flat(x, block))
    return total.reshape(size, *x.shape[1:])


def _part(weights: Array | None, block: slice) -> Array | None:
    return None if weights is None else np.asarray(weights[block], dtype=np.float64)


def _ratio(total: Array, n: Array) -> Array:
    """Return total / n by rows, and 0 where n is 0."""
    n = n.reshape(-1, *(1,) * (total.ndim - 1))
    return np.divide(total, n, out=np.zeros(total.shape), where=n > 0)


def _means(a: Moments, b: Moments) -> tuple[Array, Array, Array, Array]:
    """Return n and mean of two parts together, the shift, and the weight of its square."""
    return a[0] + b[0], *merged_means(a[0][:, None], a[1], b[0][:, None], b[1])


def moments(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Moments:
    """Return number, mean and centred sum of squares of the rows of each group.

    Parameters
    ----------
    x : ndarray of shape (n, ...)
        Finite numbers of any real dtype.
    groups : ndarray of intp of shape (n,), or None
        Group of each row.
    size : int
        Number of groups.
    weights : ndarray of shape (n,), optional
        How often each row counts; fractions are allowed.

    Returns
    -------
    n : ndarray of shape (size,)
        Numbers of rows, or sums of weights.
    mean : ndarray of shape (size, ...)
        0 without rows.
    scatter : ndarray of shape (size, ...)
        Sums of squared distances from the mean.

    Examples
    --------
    >>> n, mean, scatter = moments(np.array([1.0, 3.0, 7.0]), np.array([0, 0, 1]), 2)
    >>> mean, scatter
    (array([2., 7.]), array([2., 0.]))
    """
    width = math.prod(x.shape[1:])
    empty = np.zeros((size, width))
    total: Moments = (np.zeros(size), empty, empty)
    fast = kernels.pay(x.size)
    of_rows = _looped_moments if fast else _moments
    # The loop takes columns that lie one after the other as well.
    as_they_are = fast and x.dtype == np.float64 and x.ndim == 2 and x.flags.writeable  # noqa: PLR2004
    for block in _blocks(x, least=size):
        rows = x[block] if as_they_are else _flat(x, block)
        part = of_rows(rows, None if groups is None else groups[block], size, _part(weights, block))
        n, mean, shift, weight = _means(total, part)
        total = (n, mean, total[2] + part[2] + weight * shift**2)
    n, mean, scatter = total
    return n, mean.reshape(size, *x.shape[1:]), scatter.reshape(size, *x.shape[1:])


def _moments(rows: Array, groups: Groups, size: int, w: Array | None) -> Moments:
    add = _adder(groups, size, w)
    n = add(np.ones((len(rows), 1)))[:, 0]
    mean = _ratio(add(rows), n)
    # The second pass also measures, and takes away, the error of the first.
    centred = rows - (mean if groups is None else mean[groups])
    rest = _ratio(add(centred), n)
    np.multiply(centred, centred, out=centred)
    return n, mean + rest, np.maximum(add(centred) - n[:, None] * rest**2, 0)


def _looped_moments(rows: Array, groups: Groups, size: int, w: Array | None) -> Moments:
    codes = _chosen(groups, slice(None), len(rows))
    part = (np.zeros(size), *np.zeros((2, size, rows.shape[1])))
    weights = np.ones(len(rows)) if w is None else w
    kernels.compiled(kernels.add_moments)(rows, codes, weights, *part)
    return part


def scatters(x: Values, groups: Groups, size: int, weights: Array | None = None) -> Moments:
    """Return number, mean and centred scatter matrix of the rows of each group.

    Parameters
    ----------
    x : ndarray of shape (n, D)
        Finite numbers of any real dtype.
    groups, size, weights
        As for `moments`.

    Returns
    -------
    n : ndarray of shape (size,)
        Numbers of rows, or sums of weights.
    mean : ndarray of shape (size, D)
        0 without rows.
    scatter : ndarray of shape (size, D, D)
        Sums of outer products of distances from the mean.

    Examples
    --------
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
        for block in _blocks(x[start:end]):
            at: Any = slice(start + block.start, min(start + block.stop, end))
            if order is not None:
                at = order[at]
            w = None if weights is None else np.asarray(weights[at], dtype=np.float64)
            total = _merged(total, _scatter(np.array(x[at], dtype=np.float64), w))
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
    rest = _ratio(_total(rows, w), n)
    if w is not None:
        rows *= np.sqrt(w)[:, None]
    square = gram(rows) - n * rest.T * rest
    return n, mean + rest, square[None]


def _total(rows: Array, w: Array | None) -> Array:
    return (rows if w is None else rows * w[:, None]).sum(axis=0, keepdims=True)


def _merged(a: Moments, b: Moments) -> Moments:
    n, mean, shift, weight = _means(a, b)
    between = weight[:, :, None] * shift[:, :, None] * shift[:, None, :]
    return n, mean, a[2] + b[2] + between


def tables(
    codes: Values, groups: Groups, levels: int, size: int, weights: Array | None = None
) -> Array:
    """Count how often each code occurs in each group and column.

    Parameters
    ----------
    codes : ndarray of shape (n, F) or (n,)
        Whole numbers ``0 .. levels - 1``.
    groups : ndarray of intp of shape (n,), or None
        Group of each row.
    levels : int
        Number of codes.
    size : int
        Number of groups.
    weights : ndarray of shape (n,), optional
        How often each row counts; fractions are allowed.

    Returns
    -------
    ndarray of shape (size, F, levels) or (size, levels)
        In float64.

    Examples
    --------
    >>> tables(np.array([0, 2, 2]), np.array([0, 0, 1]), 3, 2)
    array([[1., 0., 1.],
           [0., 0., 1.]])
    """
    F = math.prod(codes.shape[1:])
    total = np.zeros((size, F, levels))
    together = _columns_together(size, levels)
    columns = [slice(start, start + together) for start in range(0, F, together)]
    # Some columns of a row are one pattern: patterns are counted, and each column's codes are
    # read off their counts.
    patterns = [np.zeros((size, *(levels,) * len(range(F)[part]))) for part in columns]
    for block in _blocks(codes, _PATTERNS * max(1, F)):
        rows = codes[block]
        rows = rows.reshape(len(rows), F)
        w = _part(weights, block)
        for part, pattern in zip(columns, patterns, strict=True):
            place = np.zeros(len(rows), np.intp) if groups is None else groups[block].copy()
            for column in rows.T[part]:
                place *= levels
                np.add(place, column, out=place, casting="unsafe")
            found = np.bincount(place, w, minlength=pattern.size)
            pattern += found.reshape(pattern.shape)  # noqa: PLW2901 - in place
    for part, pattern in zip(columns, patterns, strict=True):
        for k, j in enumerate(range(F)[part]):
            others = tuple(axis for axis in range(1, pattern.ndim) if axis != k + 1)
            total[:, j] = pattern.sum(axis=others)
    return total.reshape(size, *codes.shape[1:], levels)


def _columns_together(size: int, levels: int) -> int:
    """Return how many columns are counted as one pattern, so that counts stay in the cache."""
    number, cells = 1, size * levels
    while levels > 1 and cells * levels <= _PATTERNS and number < _MOST_AXES:
        number, cells = number + 1, cells * levels
    return number


# --- counts of tokens ------------------------------------------------------------------------


def sparse_sums(x: Any, groups: Groups, size: int, weights: Array | None = None) -> Array:
    """Return the sums over the rows of each group of a sparse matrix, which stays sparse.

    Parameters
    ----------
    x : scipy.sparse array or matrix of shape (n, V)
        In any format; entries given twice add up.
    groups, size, weights
        As for `sums`.

    Returns
    -------
    ndarray of shape (size, V)
        In float64.

    Examples
    --------
    >>> sparse_sums(sparse.csr_array([[1, 0, 2], [0, 0, 3]]), None, 1)
    array([[1., 0., 5.]])
    """
    x = _csr(x)
    V = x.shape[1]
    if kernels.pay(x.nnz):
        return _looped_sums(x, groups, size, weights)
    total = np.zeros(size * V)
    for block in _row_blocks(x):
        cells, pointers = _cells(x, block)
        length = np.diff(pointers)
        place = np.repeat(_chosen(groups, block, len(length)) * V, length)
        place += x.indices[cells]
        values = x.data[cells].astype(np.float64, copy=False)
        if weights is not None:
            values = values * np.repeat(weights[block], length)
        np.add.at(total, place, values)
    return total.reshape(size, V)


def _looped_sums(x: sparse.csr_array, groups: Groups, size: int, weights: Array | None) -> Array:
    totals: list[Array] = []
    loop = kernels.compiled(kernels.add_cells)

    def work(block: slice) -> None:
        cells, pointers = _cells(x, block)
        rows = len(pointers) - 1
        w = np.ones(rows) if weights is None else weights[block]
        total = np.zeros((size, x.shape[1]))
        chosen = _chosen(groups, block, rows)
        values = _loopable(x.data[cells])
        loop(values, x.indices[cells], pointers, chosen, w, total)
        totals.append(total)

    # Each block has a table of sums of its own.
    blocks = min(CORES, 1 + x.nnz // (size * x.shape[1]))
    run(work, _row_blocks(x, 1 + x.nnz // blocks), x.nnz)
    return np.sum(totals, axis=0) if totals else np.zeros((size, x.shape[1]))


def _cells(x: sparse.csr_array, block: slice) -> tuple[slice, NDArray[Any]]:
    """Return where the cells of these rows are, and the pointers of the rows into them."""
    pointers = x.indptr[block.start : block.stop + 1]
    return slice(int(pointers[0]), int(pointers[-1])), pointers - pointers[0]


def _loopable(values: Values) -> Values:
    """Return values as compiled loops take them: as they are if they are common numbers."""
    return values if values.dtype in (np.int64, np.float64) else values.astype(np.float64)


def _csr(x: Any) -> sparse.csr_array:
    if isinstance(x, sparse.csr_array):  # as it is, since it remembers whether it is canonical
        return x
    if getattr(x, "format", "csr") != "csr":
        x = x.astype(np.float64)  # converting adds up cells given twice, in the dtype they have
    return sparse.csr_array(x)


def _counted(x: Any) -> sparse.csr_array:
    """Return counts as a sparse matrix in which no cell is given twice."""
    x = _csr(x)
    if not x.has_canonical_format:
        x = x.astype(np.float64)
        x.sum_duplicates()
    return x


def _row_sums(values: Values, pointers: NDArray[Any]) -> Array:
    """Add the values between each pointer and the next."""
    total = np.zeros(len(pointers) - 1)
    some = pointers[1:] > pointers[:-1]
    if some.any():
        total[some] = np.add.reduceat(values, pointers[:-1][some], dtype=np.float64)
    return total


def log_factorials(counts: Array) -> Array:
    """Return ln n! of whole numbers, out of a table if all are small."""
    last = len(_LOG_FACTORIALS) - 1
    if counts.size and counts.max() > last:
        return np.asarray(gammaln(counts + 1))
    return _LOG_FACTORIALS.take(counts.astype(np.intp))


def _heavy(values: Array, pointers: NDArray[Any], total: Array) -> Iterator[Heavy]:
    """Yield rows whose counts are so large that their log factorials would cancel.

    Rows of similar length come together, padded with zeros, as: their numbers, their counts, which
    of these are no padding, and the places the counts were taken from.
    """
    length = np.diff(pointers)
    heavy = np.flatnonzero(total > 1024 + 64 * length)  # the others keep 12 digits
    size = np.frexp(length[heavy])[1]
    for one in np.unique(size):
        rows = heavy[size == one]
        offset = np.arange(length[rows].max() + 1)
        seen = offset < length[rows, None]
        at = np.where(seen, pointers[rows, None] + offset, 0)
        yield rows, np.where(seen, values[at], 0.0), seen, at


def _log_coefficients(values: Array, pointers: NDArray[Any], *, fast: bool) -> Array:
    """Return the log multinomial coefficient of each row of counts."""
    if fast and values.size and values.max() < len(_LOG_FACTORIALS):
        total, logs = np.empty(len(pointers) - 1), np.empty(len(pointers) - 1)
        kernels.compiled(kernels.add_rows)(values, pointers, _LOG_FACTORIALS, total, logs)
    else:
        total = _row_sums(values, pointers)
        logs = _row_sums(log_factorials(values), pointers)
    result = log_factorials(total) - logs
    for rows, counts, *_ in _heavy(values, pointers, total):
        result[rows] = log_multinomial_coefficient(counts)
    return result


def _row_coefficients(x: sparse.csr_array) -> Array:
    result, fast = np.zeros(x.shape[0]), kernels.pay(x.nnz)

    def work(block: slice) -> None:
        cells, pointers = _cells(x, block)
        values = _loopable(x.data[cells])
        values = values if fast else values.astype(np.float64, copy=False)
        result[block] = _log_coefficients(values, pointers, fast=fast)

    run(work, _row_blocks(x), x.nnz)
    return result


def count_log_coefficients(
    x: Any, groups: Groups, size: int, weights: Array | None = None
) -> Array:
    r"""Return the log multinomial coefficients of rows of counts, added up in each group.

    .. math:: \sum_i \ln \frac{M_i!}{\prod_j n_{ij}!}, \qquad M_i = \sum_j n_{ij}

    Parameters
    ----------
    x : ndarray or scipy.sparse array of shape (n, V)
        Whole numbers, not negative.
    groups : ndarray of intp of shape (n,), or None
        Group of each row.
    size : int
        Number of groups.
    weights : ndarray of shape (n,), optional
        How often each row counts; fractions are allowed.

    Returns
    -------
    ndarray of shape (size,)
        Natural logarithms; 0 without rows.

    Examples
    --------
    >>> count_log_coefficients(np.array([[1, 1], [3, 0]]), None, 1).round(6)
    array([0.693147])
    """
    each = _row_coefficients(_counted(x)) * (1.0 if weights is None else weights)
    return np.bincount(_chosen(groups, slice(None), len(each)), each, minlength=size)


# --- checks ----------------------------------------------------------------------------------


def _first(x: Values, good: Callable[[Values], NDArray[np.bool_]]) -> Index | None:
    if x.size <= _BLOCK:
        fine = good(x if x.ndim else x[None])
        return None if fine.all() else tuple(np.argwhere(~fine)[0].tolist())[: x.ndim]
    found: list[Index] = []

    def work(block: slice) -> None:
        fine = good(x[block])
        if not fine.all():
            row, *rest = np.argwhere(~fine)[0].tolist()
            found.append((block.start + row, *rest))

    run(work, _blocks(x, least=1), x.size)
    return min(found, default=None)


def not_binary(x: Values, *, missing: bool = False) -> Index | None:
    """Return the place of the first entry that is neither 0 nor 1, or None.

    Parameters
    ----------
    x : ndarray of shape (n, ...)
        Of any real dtype.
    missing : bool, default False
        Let NaN pass.

    Examples
    --------
    >>> not_binary(np.array([[0, 1], [1, 2]]))
    (1, 1)
    """
    if x.dtype.kind == "b":
        return None
    if missing and x.dtype.kind == "f":
        return _first(x, lambda rows: (rows == 0) | (rows == 1) | np.isnan(rows))
    return _first(x, lambda rows: (rows == 0) | (rows == 1))


def not_finite(x: Values) -> Index | None:
    """Return the place of the first entry that is NaN or infinite, or None.

    Examples
    --------
    >>> not_finite(np.array([1.0, np.nan]))
    (1,)
    """
    return None if x.dtype.kind in "biu" else _first(x, np.isfinite)


def not_codes(x: Values, levels: int) -> Index | None:
    """Return the place of the first entry that is not a whole number in 0 .. levels - 1, or None.

    Examples
    --------
    >>> not_codes(np.array([[0, 1], [1, 2]]), 2)
    (1, 1)
    """
    if x.dtype.kind == "b":
        x = x.view(np.uint8)

    loop = None
    if x.dtype == np.float64 and x.flags.c_contiguous and kernels.pay(x.size):
        loop = kernels.compiled(kernels.find_no_code)

    def good(rows: Values) -> NDArray[np.bool_]:
        if loop is not None:
            found = np.empty(1, np.intp)
            loop(rows.reshape(-1), float(levels), found)
            if not found[0]:
                return np.ones(1, np.bool_)
        # Comparisons with NaN are false, so that it gets no further than here.
        inside = rows.size and rows.min() >= 0 and rows.max() < levels
        fine = np.ones(1, np.bool_) if inside else (rows >= 0) & (rows < levels)
        return fine if rows.dtype.kind in "iu" else fine & (rows == np.floor(rows))

    return _first(x, good)


def not_within(x: Values, largest: float) -> Index | None:
    """Return the place of the first entry of greater size than `largest`, or NaN; or None.

    Examples
    --------
    >>> not_within(np.array([1.0, -9.0]), 5)
    (1,)
    """

    def good(rows: Values) -> NDArray[np.bool_]:
        if rows.size and rows.min() >= -largest and rows.max() <= largest:
            return np.ones(1, dtype=np.bool_)
        return np.asarray(np.abs(rows) <= largest)

    return None if x.dtype.kind in "biu" and largest >= 2.0**64 else _first(x, good)


# --- densities of rows under each class ------------------------------------------------------
#
# Blocks are worked on transposed, (F, rows), which keeps NumPy's inner loops long. Results have
# the classes' columns one after the other in memory, for the same reason.


def _densities(x: Values, laws: int, work: Callable[[slice], Array], size: int = _BLOCK) -> Array:
    """Return the blocks' densities, each (laws, rows), as one array of shape (laws, n)."""
    result = np.empty((laws, len(x)))

    def fill(block: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # `work` looks for what came of it
            result[:, block] = work(block)

    width = math.prod(x.shape[1:])
    run(fill, _blocks(x, size), len(x) * max(1, width) * laws)
    return result


def log_student(x: Values, location: Array, scale: Array, df: Array) -> Array:
    """Return the log density of rows under independent Student-t laws of each class.

    Parameters
    ----------
    x : ndarray of shape (n, F)
        Rows; NaN is missing and has its factor dropped.
    location, scale, df : ndarray of shape (C, F)
        The scale is that of a standard deviation.

    Returns
    -------
    ndarray of shape (n, C)
        Natural logarithms.

    Notes
    -----
    Features that share their degrees of freedom share their logarithms: ``(1 + s) (1 + t) - 1`` is
    ``s + t + s t``, a sum without cancellation, and log1p is taken of up to 32 features at once.

    Examples
    --------
    >>> at = np.zeros((1, 2))
    >>> log_student(np.array([[0.0, 0.0]]), at, at + 1, at + 1).round(6)  # Cauchy: 1 / pi each
    array([[-2.28946]])
    """
    location, scale, df = (np.broadcast_to(v, location.shape) for v in (location, scale, df))
    power = 0.5 * (df + 1)
    constant = log_gamma_ratio(df / 2, 0.5) - 0.5 * np.log(np.pi * df) - np.log(scale)
    rate = 1 / (scale * np.sqrt(df))
    alike = (df == df[:, :1]).all(axis=1)

    def work(block: slice) -> Array:
        columns = _columns(x, block)
        z = np.empty_like(columns)
        result = np.empty((len(location), columns.shape[1]))
        for c in range(len(location)):
            np.subtract(columns, location[c, :, None], out=z)
            z *= rate[c, :, None]
            z *= z
            if alike[c]:
                result[c] = np.log1p(_products(z)).sum(axis=0)
                result[c] *= -power[c, 0] if power.size else 0
            else:
                np.einsum("f,fn->n", -power[c], np.log1p(z), out=result[c])
            result[c] += constant[c].sum()
            if not np.isfinite(result[c]).all():
                seen = ~np.isnan(columns)
                z = np.where(seen, columns - location[c, :, None], 0) * rate[c, :, None]
                logs = 2 * np.log(np.hypot(1, z))  # no square that overflows
                np.log1p(z * z, out=logs, where=np.abs(z) < 1)
                terms = constant[c, :, None] - power[c, :, None] * logs
                result[c] = np.where(seen, terms, 0).sum(axis=0)
        return result

    return _densities(x, len(location), work).T


def _products(t: Array) -> Array:
    """Return the products of 1 + t over at most 32 rows each, less 1; overwrites t."""
    spare = np.empty((len(t) // 2, t.shape[1]))
    rows, target = len(t), -(-len(t) // _FACTORS)
    while rows > target:
        half = min(rows // 2, rows - target)
        a, b = t[:half], t[rows - half : rows]
        product = np.multiply(a, b, out=spare[:half])
        a += b
        a += product
        rows -= half
    return t[:rows]


def log_normal(x: Values, mean: Array, variance: Array) -> Array:
    """Return the log density of rows under independent normal laws of each class.

    Parameters
    ----------
    x : ndarray of shape (n, F)
        Rows; NaN is missing and has its factor dropped.
    mean, variance : ndarray of shape (..., C, F)
        Variances are positive.

    Returns
    -------
    ndarray of shape (..., n, C)
        Natural logarithms.

    Examples
    --------
    >>> log_normal(np.array([[0.0], [1.0]]), np.array([[0.0]]), np.array([[1.0]])).round(6)
    array([[-0.918939],
           [-1.418939]])
    """
    mean, variance = np.broadcast_arrays(mean, variance)
    lead = mean.shape[:-1]
    mean, variance = _laws(mean), _laws(variance)
    constant = -0.5 * np.log(variance) - HALF_LOG_2PI
    rate = np.sqrt(0.5 / variance)

    def work(block: slice) -> Array:
        columns = _columns(x, block)
        z = np.empty_like(columns)
        result = np.empty((len(mean), columns.shape[1]))
        for c in range(len(mean)):
            np.subtract(columns, mean[c, :, None], out=z)
            z *= rate[c, :, None]
            z *= z
            np.subtract(constant[c].sum(), z.sum(axis=0), out=result[c])
            missing = np.isnan(result[c])
            if missing.any():
                seen = ~np.isnan(columns)
                result[c] = np.where(seen, constant[c, :, None] - z, 0).sum(axis=0)
        return result

    return _last(_densities(x, len(mean), work), lead)


def _laws(parameters: Array) -> Array:
    """Turn (..., F) into (laws, F)."""
    return parameters.reshape(math.prod(parameters.shape[:-1]), parameters.shape[-1])


def _last(result: Array, lead: tuple[int, ...]) -> Array:
    """Turn (laws, n) into (..., n, C), where lead is (..., C)."""
    return np.swapaxes(result.reshape(*lead, result.shape[1]), -1, -2)


def log_multivariate_student(
    x: Values, location: Array, root: Array, df: Array, factor: Array | None = None
) -> Array:
    """Return the log density of rows under a multivariate Student-t law of each class.

    Parameters
    ----------
    x : ndarray of shape (n, D)
        Finite rows.
    location : ndarray of shape (C, D)
        Centres.
    root : ndarray of shape (C, D, D) or (D, D)
        Lower Cholesky factors of the scale matrices; one factor is shared by all classes.
    df : ndarray of shape (C,)
        Degrees of freedom; infinitely many make a normal law.
    factor : ndarray of shape (C,), optional
        What the scale matrices are multiplied by.

    Returns
    -------
    ndarray of shape (n, C)
        Natural logarithms.

    Examples
    --------
    >>> x, root = np.zeros((1, 1)), np.eye(1)
    >>> log_multivariate_student(x, np.zeros((1, 1)), root, np.ones(1)).round(6)  # Cauchy: 1 / pi
    array([[-1.14473]])
    """
    C, D = location.shape
    factor = np.ones(C) if factor is None else factor
    log_root = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    constant = -log_root - 0.5 * D * np.log(factor)
    normal = np.isinf(df)
    finite = np.where(normal, 1.0, df)
    constant = constant + np.where(
        normal,
        -D * HALF_LOG_2PI,
        log_gamma_ratio(finite / 2, D / 2) - 0.5 * D * np.log(np.pi * finite),
    )
    rate = 1 / (factor * np.where(normal, 2.0, df))
    power = np.where(normal, 1.0, 0.5 * (df + D))
    scratch = _Scratch()
    shared = root.ndim == location.ndim
    fast = shared and x.dtype == np.float64 and x.flags.c_contiguous
    fast = fast and kernels.pay(x.size)
    if shared:
        distances = _shared_squares(np.array(location), root, scratch, fast=fast)
    else:
        distances = _separate_squares(location, root, scratch)

    def work(block: slice) -> Array:
        result = distances(x[block])
        result *= rate[:, None]
        if not normal.any():
            _log1p(result, scratch)
        else:
            for row in np.flatnonzero(~normal):
                _log1p(result[row], scratch)
        result *= -power[:, None]
        result += constant[:, None]
        return result

    # Long blocks: threads that wait for each other at every call would take turns.
    return _densities(x, C, work, (8 if fast else 2) * _BLOCK).T


class _Scratch(threading.local):
    """Arrays that a thread uses again for each block: new ones would cost as much as the work."""

    def __init__(self) -> None:
        self.kept: dict[str, Array] = {}

    def array(self, name: str, *shape: int) -> Array:
        """Return an array of this name with anything in it, contiguous along its last axis."""
        size = math.prod(shape)
        if name not in self.kept or self.kept[name].size < size:
            self.kept[name] = np.empty(size)
        return self.kept[name][:size].reshape(shape)


def _log1p(x: Array, scratch: _Scratch) -> None:
    """Put ln(1 + x) in place of x >= 0, to a few units in the last place.

    NumPy has fast code for logarithms, but not for log1p: ln(u) x / (u - 1), u being 1 + x rounded,
    takes back what the rounding did (Kahan; Goldberg 1991, theorem 4).
    """
    u = np.add(1, x, out=scratch.array("u", *x.shape))
    excess = np.subtract(u, 1, out=scratch.array("excess", *x.shape))
    np.log(u, out=u)
    if not excess.min(initial=1) > 0:
        u[excess == 0] = 1
        excess[excess == 0] = 1
    u /= excess
    x *= u
    if not excess.max(initial=0) < np.inf:
        x[np.isinf(excess)] = np.inf


def _separate_squares(location: Array, root: Array, scratch: _Scratch) -> Callable[[Array], Array]:
    """Return the function from rows to squared distances from each class, of shape (C, rows)."""
    inverse = [linalg.solve_triangular(r, np.eye(len(r)), lower=True) for r in root]

    def squares(rows: Values) -> Array:
        result = scratch.array("squares", len(location), len(rows))
        shifted, z = (scratch.array(name, *rows.shape) for name in ("shifted", "z"))
        z = z.reshape(rows.shape[::-1])
        for c, centre in enumerate(location):
            product(inverse[c], np.subtract(rows, centre, out=shifted).T, out=z)
            np.einsum("dn,dn->n", z, z, out=result[c])
        return result

    return squares


def _shared_squares(
    location: Array, root: Array, scratch: _Scratch, *, fast: bool
) -> Callable[[Array], Array]:
    """Return the same for one root: only C - 1 directions tell the classes apart.

    Rows are turned so that these directions come first; the others are squared once for all.
    """
    C, D = location.shape
    inverse = linalg.solve_triangular(root, np.eye(D), lower=True)
    centres = inverse @ (location - location[:1]).T
    turn = linalg.qr(centres[:, 1:])[0] if C > 1 else np.eye(D)
    apart = min(C - 1, D)
    turned, centres = turn.T @ inverse, np.ascontiguousarray((turn.T @ centres)[:apart])
    if apart < D:  # only lengths count in the other directions: turn them until half is zero
        turned[apart:] = linalg.qr(turned[apart:], mode="r")[0]

    def squares(rows: Values) -> Array:
        result = scratch.array("squares", C, len(rows))
        if fast:
            kernels.compiled(kernels.square_distances)(rows, location[0], turned, centres, result)
            return result
        shifted = np.subtract(rows, location[0], out=scratch.array("shifted", *rows.shape))
        z = product(turned, shifted.T, out=scratch.array("z", D, len(rows)))
        tail = np.einsum("dn,dn->n", z[apart:], z[apart:])
        for c in range(C):
            head = z[:apart] - centres[:, c, None]
            np.einsum("dn,dn->n", head, head, out=result[c])
        result += tail
        return result

    return squares


def log_table(codes: Values, logs: Array) -> Array:
    """Return the log mass of coded rows under independent categorical laws of each class.

    Parameters
    ----------
    codes : ndarray of int of shape (n, F)
        ``0 .. K - 1``; -1 is missing and has its factor dropped.
    logs : ndarray of shape (..., C, F, K)
        Log probabilities, which may be -inf.

    Returns
    -------
    ndarray of shape (..., n, C)
        Natural logarithms.

    Examples
    --------
    >>> table = np.log([[[0.5, 0.5]], [[0.25, 0.75]]])
    >>> np.exp(log_table(np.array([[0], [1], [-1]]), table))
    array([[0.5 , 0.25],
           [0.5 , 0.75],
           [1.  , 1.  ]])
    """
    *lead, F, K = logs.shape
    # Each feature's table gets a place for missing codes in front of it.
    flat = np.zeros((math.prod(lead), F, K + 1))
    flat[:, :, 1:] = logs.reshape(len(flat), F, K)
    flat = flat.reshape(len(flat), F * (K + 1))
    first = np.arange(1, 1 + F * (K + 1), K + 1, dtype=np.intp)[:F, None]

    def work(block: slice) -> Array:
        place = np.array(codes[block].T, dtype=np.intp, order="C")
        place += first
        found = np.empty(place.shape)
        result = np.empty((len(flat), place.shape[1]))
        for c, table in enumerate(flat):
            # "clip" writes straight to its target; nothing needs clipping.
            table.take(place, out=found, mode="clip")
            found.sum(axis=0, out=result[c])
        return result

    return _last(_densities(codes, len(flat), work), tuple(lead))


def log_bits(x: Values, log_one: Array, log_zero: Array) -> Array:
    """Return the log mass of rows of 0 and 1 under independent Bernoulli laws of each class.

    Parameters
    ----------
    x : ndarray of shape (n, F)
        Rows of 0 and 1; NaN is missing and has its factor dropped.
    log_one, log_zero : ndarray of shape (..., C, F)
        Log probabilities of 1 and of 0, which may be -inf.

    Returns
    -------
    ndarray of shape (..., n, C)
        Natural logarithms.

    Examples
    --------
    >>> ones = np.array([[0.5], [1.0]])
    >>> with np.errstate(divide="ignore"):
    ...     logs = np.log(ones), np.log(1 - ones)
    >>> np.exp(log_bits(np.array([[0], [1]]), *logs))
    array([[0.5, 0. ],
           [0.5, 1. ]])
    """
    log_one, log_zero = np.broadcast_arrays(log_one, log_zero)
    lead, F = log_one.shape[:-1], log_one.shape[-1]
    logs = np.concatenate([_laws(log_one), _laws(log_zero)], axis=1)
    never = np.isneginf(logs)
    logs, impossible = np.where(never, 0.0, logs), never.astype(np.float64)

    def work(block: slice) -> Array:
        rows = x[block]
        both = np.empty((len(rows), 2 * F))  # ones, then zeros; neither where missing
        both[:, :F] = rows
        np.subtract(1, both[:, :F], out=both[:, F:])
        result = product(logs, both.T)
        if np.isnan(result).any():
            both[np.isnan(both)] = 0
            result = product(logs, both.T)
        if never.any():
            result[product(impossible, both.T) > 0] = -np.inf
        return result

    return _last(_densities(x, len(logs), work), lead)


def log_words(x: Any, log_theta: Array) -> Array:
    """Return the log mass of documents under the multinomial law of each class.

    Parameters
    ----------
    x : ndarray or scipy.sparse array of shape (n, V)
        Counts of the words in each document.
    log_theta : ndarray of shape (..., C, V)
        Log probabilities of the words, which may be -inf.

    Returns
    -------
    ndarray of shape (..., n, C)
        Natural logarithms, with the multinomial coefficient.

    Examples
    --------
    >>> np.exp(log_words(np.array([[1, 1]]), np.log([[0.5, 0.5]]))).round(6)
    array([[0.5]])
    """
    x = _counted(x)
    V = log_theta.shape[-1]
    logs = np.ascontiguousarray(_laws(log_theta).T)
    coefficients = _row_coefficients(x)
    if np.isneginf(logs).any() and not x.data.all():
        x = x.copy()
        x.eliminate_zeros()
    result = np.empty((logs.shape[1], x.shape[0]))

    def work(block: slice) -> None:
        cells, pointers = _cells(x, block)
        part = (x.data[cells], x.indices[cells], pointers)
        rows = sparse.csr_array(part, shape=(len(pointers) - 1, V))
        result[:, block] = (rows @ logs).T + coefficients[block]

    run(work, _row_blocks(x), x.nnz)
    return _last(result, log_theta.shape[:-1])


def log_tokens(x: Any, alpha: Array) -> Array:
    r"""Return the log mass of documents under the Dirichlet-multinomial law of each class.

    .. math:: \ln \frac{M!}{\prod_j n_j!} + \ln \frac{\Gamma(A)}{\Gamma(A + M)}
        + \sum_j \ln \frac{\Gamma(\alpha_j + n_j)}{\Gamma(\alpha_j)}

    Only words that occur are touched, and the sum over small counts is a product of matrices.

    Parameters
    ----------
    x : ndarray or scipy.sparse array of shape (n, V)
        Counts of the words in each document.
    alpha : ndarray of shape (C, V)
        Concentrations, positive.

    Returns
    -------
    ndarray of shape (n, C)
        Natural logarithms, with the multinomial coefficient.

    Examples
    --------
    >>> np.exp(log_tokens(np.array([[2, 0], [1, 1]]), np.ones((1, 2)))).round(6)
    array([[0.333333],
           [0.333333]])
    """
    x, mass = _counted(x), alpha.sum(axis=1)
    if x.nnz < alpha.shape[1]:  # few documents: leave out the words that none of them has
        used, words = np.unique(x.indices, return_inverse=True)
        x = sparse.csr_array((x.data, words, x.indptr), shape=(x.shape[0], len(used)))
        alpha = alpha[:, used]
    logs = _TokenLogs(alpha, mass, int(x.data.max(initial=0)))
    result = np.empty((len(mass), x.shape[0]))
    fast = kernels.pay(x.nnz)

    def work(block: slice) -> None:
        at, pointers = _cells(x, block)
        n, words = _loopable(x.data[at]), x.indices[at]
        n = n if fast else n.astype(np.float64, copy=False)
        total, part = logs.sums(n, words, pointers, fast=fast)
        part += logs.of_totals(total)
        for rows, counts, seen, where in _heavy(n, pointers, total):
            part[:, rows] = _log_masses(counts, seen, alpha[:, words[where]], mass)
        result[:, block] = part

    run(work, _row_blocks(x), x.nnz)
    return result.T


class _TokenLogs:
    """Sums over the words of a document of ln[Γ(α + n) / (Γ(α) n!)], and what its length adds.

    The first tokens of a word are looked up; those after `_TABLED` cost gamma functions.
    """

    def __init__(self, alpha: Array, mass: Array, largest: int) -> None:
        self.alpha = alpha  # of shape (C, V), perhaps without words that no document has
        self.mass = np.maximum(mass, np.finfo(float).tiny)[:, None]  # 0 without a vocabulary
        self.largest = largest
        levels, (C, V) = max(1, min(largest, _TABLED)), alpha.shape
        # What 0, 1, 2, ... tokens of a word add; the loop takes classes in fours.
        self.tables = np.zeros((1 + levels, V, -(-C // 4) * 4))

        def work(block: slice) -> None:
            part = np.ascontiguousarray(alpha.T[block])
            for i in range(levels):
                each = np.log((part + i) / (i + 1))
                np.add(self.tables[i, block, :C], each, out=self.tables[i + 1, block, :C])

        run(work, _blocks(alpha.T), levels * alpha.size)
        self.short = self._of_totals(np.arange(float(_SHORT)))

    def _of_totals(self, total: Array) -> Array:
        return log_factorials(total) - log_gamma_ratio(self.mass, total)

    def of_totals(self, total: Array) -> Array:
        """Return ln[M! Γ(A) / Γ(A + M)] for lengths M of documents, of shape (C, rows)."""
        if total.max(initial=0) < _SHORT:
            return np.asarray(self.short.take(total.astype(np.intp), axis=1))
        several, place = np.unique(total, return_inverse=True)
        return self._of_totals(several)[:, place]

    def sums(
        self, n: Array, words: NDArray[Any], pointers: NDArray[Any], *, fast: bool
    ) -> tuple[Array, Array]:
        """Return the length of each row, and the sums, of shape (C, rows)."""
        rows, levels = len(pointers) - 1, len(self.tables) - 1
        sums = np.zeros((rows, self.tables.shape[-1]))
        if fast:
            length = np.empty(rows)
            kernels.compiled(kernels.add_tokens)(n, words, pointers, self.tables, length, sums)
        else:
            length = _row_sums(n, pointers)
            level = np.minimum(n, levels)
            for i in range(1, levels + 1):
                part = ((level == i).astype(np.float64), words, pointers)
                sums += sparse.csr_array(part, shape=(rows, len(self.tables[i]))) @ self.tables[i]
        total = sums.T[: len(self.alpha)]
        if self.largest > levels:
            many = np.flatnonzero(n > levels)
            value = log_gamma_ratio(self.alpha[:, words[many]] + levels, n[many] - levels)
            value -= log_factorials(n[many]) - _LOG_FACTORIALS[levels]
            row = np.searchsorted(pointers, many, side="right") - 1
            for c in range(len(total)):
                total[c] += np.bincount(row, value[c], minlength=rows)
        return length, total


def _log_masses(counts: Array, seen: NDArray[np.bool_], alpha: Array, mass: Array) -> Array:
    """Return the Dirichlet-multinomial log masses of padded rows of counts.

    Words that a document does not have are one word as far as its mass goes: the padding shares
    their concentration.
    """
    alpha = np.where(seen, alpha, 0.0)
    others = np.maximum(mass[:, None] - alpha.sum(axis=-1), 0) / (~seen).sum(axis=-1)
    return log_dirichlet_multinomial(
        counts, np.where(seen, alpha, np.maximum(others, 1e-300)[..., None])
    )


# --- class probabilities ---------------------------------------------------------------------


def flat_members(parameter: Any, inner: int) -> Array:
    """Make one axis of the last `inner` axes of a parameter of shape (..., members, inner...).

    Examples
    --------
    >>> flat_members(np.zeros((7, 3)), 0).shape, flat_members(np.zeros((7, 3, 4)), 1).shape
    ((7, 3, 1), (7, 3, 4))
    """
    x = np.asarray(parameter, dtype=np.float64)
    return x.reshape(*x.shape[: x.ndim - inner], -1)


def normalise(log_joint: Array) -> Array:
    """Turn logs into probabilities that sum to 1 over the last axis, in place.

    Parameters
    ----------
    log_joint : ndarray of shape (..., n, C)
        Writeable; may hold -inf. Where all of a row are -inf, no class explains the row, and it
        becomes zeros.

    Returns
    -------
    ndarray
        The same array.

    Examples
    --------
    >>> normalise(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    if log_joint.ndim > 2:  # noqa: PLR2004 - leading axes
        for part in log_joint:
            normalise(part)
        return log_joint

    fast = log_joint.shape[-1] > 0 and kernels.pay(log_joint.size)

    def work(block: slice) -> None:
        p = log_joint[block].T
        if fast:
            kernels.compiled(kernels.normalise)(p)
            return
        top = p.max(axis=0, initial=-np.inf)
        top[np.isneginf(top)] = 0
        p -= top
        np.exp(p, out=p)
        total = p.sum(axis=0)
        total[total == 0] = 1
        p /= total

    run(work, _blocks(log_joint), log_joint.size)
    return log_joint
