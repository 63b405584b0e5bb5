"""Counts of tokens in documents, as sparse matrices: their sums, and their laws by class.

`x` is an array or a SciPy sparse matrix of shape (n, V) in any format, of counts of the words of
each document; entries given twice add up, and a matrix stays sparse. `groups`, `size` and
`weights` are as in `bayesmodels.numerics.moments`, and log densities as in `class_densities`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from bayesmodels.numerics import Array, kernels, threads
from bayesmodels.numerics.class_densities import by_class, laws
from bayesmodels.numerics.moments import Groups, Values, group_of, indicator
from bayesmodels.numerics.special import (
    log_dirichlet_multinomial,
    log_gamma_ratio,
    log_multinomial_coefficient,
)

Heavy = tuple[NDArray[np.intp], Array, NDArray[np.bool_], NDArray[np.intp]]

_TABLED = 8
_TABLES = 8  # of sums, at once
_SHORT = 256  # tokens in a document, whose logs are looked up
_LOG_FACTORIALS = gammaln(np.arange(257) + 1.0)


def sparse_sums(x: Any, groups: Groups, size: int, weights: Array | None = None) -> Array:
    """Return the sums over the rows of each group, of shape (size, V).

    >>> sparse_sums(sparse.csr_array([[1, 0, 2], [0, 0, 3]]), None, 1)
    array([[1., 0., 5.]])
    """
    x = _csr(x)
    if kernels.pay(x.nnz):
        return _looped_sums(x, groups, size, weights)
    result = (indicator(groups, size, x.shape[0], weights) @ x).tocoo()
    total = np.zeros((size, x.shape[1]))
    total[result.coords] = result.data  # places of a product occur once
    return total


def _looped_sums(x: sparse.csr_array, groups: Groups, size: int, weights: Array | None) -> Array:
    place = group_of(groups, x.shape[0])
    loop = kernels.add_cells

    def work(block: slice) -> Array:
        cells, pointers = _cells(x, block)
        rows = len(pointers) - 1
        w = np.ones(rows) if weights is None else weights[block]
        total = np.zeros((size, x.shape[1]))
        values = _loopable(x.data[cells])
        loop(values, x.indices[cells], pointers, place[block], w, total)
        return total

    # Each block has a table of sums of its own; as many on any machine, added in one order.
    blocks = min(_TABLES, 1 + x.nnz // (size * x.shape[1]))
    totals = threads.gathered(work, _row_blocks(x, 1 + x.nnz // blocks), x.nnz)
    return np.sum(totals, axis=0) if totals else np.zeros((size, x.shape[1]))


def _row_blocks(x: sparse.csr_array, cells: int = 2 * threads.BLOCK) -> Iterator[slice]:
    """Cut the rows of a sparse matrix into blocks of about as many cells each."""
    cuts = np.searchsorted(x.indptr, np.arange(0, x.indptr[-1], cells))
    edges = np.unique([0, *cuts.tolist(), x.shape[0]]).tolist()
    return (slice(a, b) for a, b in pairwise(edges))


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
    row = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    return np.bincount(row, values, minlength=len(pointers) - 1)


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
        kernels.add_rows(values, pointers, _LOG_FACTORIALS, total, logs)
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

    threads.run(work, _row_blocks(x), x.nnz)
    return result


def count_log_coefficients(
    x: Any, groups: Groups, size: int, weights: Array | None = None
) -> Array:
    r"""Return the log multinomial coefficients of rows of counts, added up in each group.

    .. math:: \sum_i \ln \frac{M_i!}{\prod_j n_{ij}!}, \qquad M_i = \sum_j n_{ij}

    >>> count_log_coefficients(np.array([[1, 1], [3, 0]]), None, 1).round(6)
    array([0.693147])
    """
    each = _row_coefficients(_counted(x)) * (1.0 if weights is None else weights)
    return np.bincount(group_of(groups, len(each)), each, minlength=size)


def log_words(x: Any, log_theta: Array) -> Array:
    """Return log masses under the multinomial law of each class, with the multinomial coefficient.

    The log probabilities of the words are of shape (..., C, V), and may be -inf.

    >>> np.exp(log_words(np.array([[1, 1]]), np.log([[0.5, 0.5]]))).round(6)
    array([[0.5]])
    """
    x = _counted(x)
    V = log_theta.shape[-1]
    logs = np.ascontiguousarray(laws(log_theta).T)
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

    threads.run(work, _row_blocks(x), x.nnz)
    return by_class(result, log_theta.shape[:-1])


def log_tokens(x: Any, alpha: Array) -> Array:
    r"""Return log masses under the Dirichlet-multinomial law of each class; `alpha` is (C, V).

    .. math:: \ln \frac{M!}{\prod_j n_j!} + \ln \frac{\Gamma(A)}{\Gamma(A + M)}
        + \sum_j \ln \frac{\Gamma(\alpha_j + n_j)}{\Gamma(\alpha_j)}

    Only words that occur are touched, and the sum over small counts is a product of matrices.

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

    # Long blocks for the loop: threads that wait for each other at every call would take turns.
    threads.run(work, _row_blocks(x, (8 if fast else 2) * threads.BLOCK), x.nnz)
    return result.T


class _TokenLogs:
    """Sums over the words of a document of ln[Γ(α + n) / (Γ(α) n!)], and the term of its length.

    The first tokens of a word are looked up; those after `_TABLED` cost gamma functions.
    """

    def __init__(self, alpha: Array, mass: Array, largest: int) -> None:
        self.alpha = alpha  # of shape (C, V), perhaps without words that no document has
        self.mass = np.maximum(mass, np.finfo(float).tiny)[:, None]  # 0 without a vocabulary
        self.largest = largest
        i = np.arange(max(1.0, min(largest, _TABLED)))[:, None]
        # What 0, 1, 2, ... tokens of a word add, once for words of the same alpha: counts repeat,
        # and a small table stays in the cache. The loop reads up to three places beyond the end.
        several, places = np.unique(alpha.T, return_inverse=True)
        if 2 * several.size > alpha.size:
            several, places = alpha.T.ravel(), np.arange(alpha.size)
        self.tables = np.zeros((1 + len(i), len(several)))
        np.cumsum(np.log((several + i) / (i + 1)), axis=0, out=self.tables[1:])
        self.places = np.append(places, [0, 0, 0]).astype(np.uint32)
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
        rows, levels, (C, V) = len(pointers) - 1, len(self.tables) - 1, self.alpha.shape
        sums = np.zeros((rows, -(-C // 4) * 4))
        if fast:
            length, loop = np.empty(rows), kernels.add_tokens
            loop(n, words, pointers, self.tables, self.places, C, length, sums)
        else:
            length = _row_sums(n, pointers)
            level = np.minimum(n, levels)
            for i in range(1, levels + 1):
                part = ((level == i).astype(np.float64), words, pointers)
                table = self.tables[i, self.places[: V * C]].reshape(V, C)
                sums[:, :C] += sparse.csr_array(part, shape=(rows, V)) @ table
        total = sums.T[:C]
        if self.largest > levels:
            large = np.flatnonzero(n > levels)
            value = log_gamma_ratio(self.alpha[:, words[large]] + levels, n[large] - levels)
            value -= log_factorials(n[large]) - _LOG_FACTORIALS[levels]
            row = np.searchsorted(pointers, large, side="right") - 1
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
