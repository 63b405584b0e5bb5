r"""Sparse precision matrices: read off few slopes, factored in the time that their structure takes.

A precision matrix P = L L' keeps most of its zeros in L if it is factored in a good order, and so
do the entries of its inverse that are needed: those where L is not zero. Chains and trees cost
what their length costs, groups that share a few means what the groups cost.

A slope is read at a centre and where many elements have moved at once: elements of one colour,
which have no neighbour in common. Elements with very many neighbours have colours of their own.
Where the zeros are is checked each time, by a move of all elements at random.

Sources: Curtis, Powell and Reid (1974), *On the estimation of sparse Jacobian matrices*, J. Inst.
Maths Applics 13; Rue and Held (2005), *Gaussian Markov Random Fields*, sections 2.4 and 2.5;
Takahashi, Fagan and Chin (1973), by Rue and Martino (2007), J. Stat. Plan. Inference 137, sec. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import Loops
from bayesmodels.numerics.triangular import EPS

Elements = NDArray[np.intp]

KEPT = 1e-3
"""Relative error of a precision that is allowed."""
_LOG_LOSS = 0.3  # what an integral's log may be off, where little mass is
_ZERO = 1e-6  # of what a slope changes by: more is no zero

# A precision that is not definite makes NaN in them, not an error.
_compiled = partial(Loops, cache=True, error_model="numpy", nogil=True)


class Read(NamedTuple):
    """The normal law read off slopes: its elements in the `order` of elimination, as all else.

    The mean as a move from the centre; the precision and its upper triangular root, both sparse;
    and how far off some element's precision may be, relatively: infinite where it is not the
    precision, or has other entries than it should have.
    """

    order: Elements
    move: Array
    precision: Any
    root: Any
    loss: float


@dataclass(frozen=True, eq=False)
class SparsePrecision:
    """Where the precision of a normal block is not zero, and how it is read off slopes.

    Column j of its root has `rows[start[j]:start[j + 1]]`, of which the first is j, both counted in
    the order of elimination. Each of its `entries` has three numbers: a probe (-1 where the
    precision itself is zero), the element whose slope changes, and the element that was moved.
    `colour` is the probe that moves each element, and `moves` how far it does, in its own probe and
    in the last one, which moves all.

    Slopes have the shape (1 + probes, elements): those at the centre, and at each of `probes`.
    """

    colour: Elements
    start: Elements
    rows: Elements
    entries: Elements
    moves: Array

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.colour)

    @property
    def form(self) -> tuple[Any, ...]:
        """Arguments of the compiled functions after the slopes."""
        return self.start, self.rows, self.entries, self.moves

    def probes(self) -> Array:
        """Return the moves of the probes: of the elements of each colour, and of all elements."""
        moved = np.arange(self.colour.max() + 1)[:, None] == self.colour
        return np.vstack([moved * self.moves[0], self.moves[1:]])

    def solve(self, slopes: Array, noise: Array, kept: float = KEPT) -> Array:
        """Return where the normal law has its mean, from the centre, plus its root times `noise`.

        There is one law a row, with its own slopes and noise. What a precision may lose to rounding
        is `kept`, relative to its size.
        """
        result, loss = _solutions(slopes, *self.form, noise)
        lost = ~(loss < kept)
        # Where a group's scale is near zero, what the precision of its mean is before and after the
        # group is integrated out are both huge and nearly the same.
        if lost.any():
            raise DataError(
                f"rest: at {int(lost.sum()):,} of {lost.size:,} draws (the first is number "
                f"{int(lost.argmax())}) some scale is so near zero that rounding leaves "
                "too few digits of the law of the others. Keep such scales away from zero by their "
                "prior, or leave these draws out."
            )
        if not np.isfinite(result).all():
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return np.asarray(result)

    def sd(self, slopes: Array) -> Array:
        """Return the standard deviations of all elements, one row for each row of slopes."""
        return np.sqrt(_variances(slopes, *self.form))

    def covariances(self, slopes: Array, pairs: Elements) -> tuple[Array, Array, Array]:
        """Return half the log determinant of the precision, variances, and covariances of pairs.

        One row for each row of slopes. Pairs are elements next to each other.
        """
        keys = np.sort(self.entries[:, 1:], 1) @ [self.size, 1]
        wanted, order = np.sort(pairs, 1) @ [self.size, 1], np.argsort(keys)
        places = order[np.searchsorted(keys, wanted, sorter=order)]
        half_log, variances, covariances = _pair_covariances(slopes, *self.form, places)
        return half_log, variances, covariances

    def sd_of(self, combinations: Array, slopes: Array) -> Array:
        """Return the standard deviations of linear combinations of elements, rows of a matrix."""
        return np.sqrt(_variances_of(combinations, slopes, *self.form))

    def matrix(self, slopes: Array) -> Any:
        """Return the precision matrix, which is sparse, from the slopes of one row."""
        probe, at, by = self.entries[self.entries[:, 0] >= 0].T
        value = (slopes[0, at] - slopes[1 + probe, at]) / self.moves[0, by]
        half = csr_array((value, (at, by)), shape=(self.size, self.size))
        return csr_array(half + half.T - diags_array(half.diagonal()))

    def read(self, slopes: Array) -> Read:
        """Return the normal law with slopes of one row; NaN if its precision is not definite."""
        root, half, loss, _ = _factors(slopes, *self.form)
        move, order = np.empty(self.size), self.entries[self.start[:-1], 1]
        _solve(root, half, self.start, self.rows, self.entries, move)
        # SciPy solves with indices of 32 bits.
        upper = csr_array((root, self.rows.astype(np.int32), self.start.astype(np.int32)))
        return Read(order, move[order], self.matrix(slopes)[order][:, order], upper, float(loss))


def covariances(root: Any) -> Any:
    """Return the entries of the inverse on the sparsity pattern of a precision's upper root."""
    start, rows = root.indptr.astype(np.intp), root.indices.astype(np.intp)
    return csr_array((_covariances(root.data, start, rows), rows, start), shape=root.shape)


@_compiled
def _factors(  # noqa: C901 - loops, which Numba is good at
    slopes: Any, start: Any, rows: Any, entries: Any, moves: Any
) -> Any:
    """Return the root, the slope at the centre solved by it, and two bounds on rounding.

    These are how far off some element's precision may be, relatively, once those before it are
    integrated out, and how far off the log integral is then: by the determinant, and by a mean
    that is not quite the top. They are infinite where the precision
    has other entries than it should have. Where it is not positive definite there is NaN.
    """
    n = len(start) - 1
    root, half = np.empty(len(rows)), np.empty(n)
    work, gap, size = np.empty(n), np.empty(n), np.empty(n)
    # Columns that change the next one, as a list of those that have it as their next row.
    first, after, place = np.empty(n, np.intp), np.empty(n, np.intp), np.empty(n, np.intp)
    for i in range(n):
        work[i], first[i], after[i], place[i] = 0.0, -1, -1, start[i]
        gap[i] = slopes[0, i] - slopes[-1, i]
        size[i] = abs(slopes[0, i]) + abs(slopes[-1, i])
    loss, off = 0.0, 0.0
    for j in range(n):
        begin, end = start[j], start[j + 1]
        element = entries[begin, 1]
        for p in range(begin, end):
            probe, at, by = entries[p]
            value = 0.0
            if probe >= 0:
                value = (slopes[0, at] - slopes[1 + probe, at]) / moves[0, by]
                gap[at] -= value * moves[1, by]
                size[at] += abs(value * moves[1, by])
                if at != by:
                    gap[by] -= value * moves[1, at]
                    size[by] += abs(value * moves[1, at])
            work[rows[p]] = value
        diagonal, right = work[j], slopes[0, element]
        k = first[j]
        while k >= 0:
            following, at = after[k], place[k]
            factor = root[at]
            right -= factor * half[k]
            for p in range(at, start[k + 1]):
                work[rows[p]] -= factor * root[p]
            place[k] += 1
            if place[k] < start[k + 1]:
                after[k], first[rows[place[k]]] = first[rows[place[k]]], k
            k = following
        lost = diagonal * EPS / work[j] if work[j] > 0 else np.inf
        pivot = np.sqrt(work[j])
        half[j] = right / pivot
        loss, off = max(loss, lost), off + lost * (0.5 + lost * half[j] ** 2)
        root[begin] = pivot
        for p in range(begin + 1, end):
            root[p] = work[rows[p]] / pivot
        place[j] = begin + 1
        if begin + 1 < end:
            after[j], first[rows[begin + 1]] = first[rows[begin + 1]], j
    for i in range(n):
        if not gap[i] <= _ZERO * size[i] or not -gap[i] <= _ZERO * size[i]:
            loss = off = np.inf
    return root, half, loss, off


@_compiled
def _solve(root: Any, right: Any, start: Any, rows: Any, entries: Any, x: Any) -> None:
    """Solve by the transposed root in the order of elimination, in place; write the elements."""
    # Number by number: what Numba has for many at a time takes it seconds to compile.
    for j in range(len(right) - 1, -1, -1):
        for p in range(start[j] + 1, start[j + 1]):
            right[j] -= root[p] * right[rows[p]]
        right[j] /= root[start[j]]
        x[entries[start[j], 1]] = right[j]


@_compiled
def _covariances(root: Any, start: Any, rows: Any) -> Any:
    """Return the entries of the inverse on the sparsity pattern of the root."""
    n = len(start) - 1
    result = np.empty(len(rows))
    total, where, owner = np.empty(n), np.empty(n, np.intp), np.empty(n, np.intp)
    for j in range(n):
        owner[j] = -1
    for j in range(n - 1, -1, -1):
        begin, end = start[j], start[j + 1]
        for p in range(begin + 1, end):
            total[p - begin], where[rows[p]], owner[rows[p]] = 0.0, p, j
        for p in range(begin + 1, end):
            first, last = start[rows[p]], start[rows[p] + 1]
            factor, value = root[p], root[p] * result[first]
            if last - first == end - p:  # it has the same rows, one after the other
                for i in range(1, end - p):
                    total[p - begin + i] += factor * result[first + i]
                    value += root[p + i] * result[first + i]
            else:
                for q in range(first + 1, last):
                    if owner[rows[q]] == j:
                        at = where[rows[q]]
                        total[at - begin] += factor * result[q]
                        value += root[at] * result[q]
            total[p - begin] += value
        value = 1 / root[begin]
        for p in range(begin + 1, end):
            result[p] = -total[p - begin] / root[begin]
            value -= root[p] * result[p]
        result[begin] = value / root[begin]
    return result


@_compiled
def integral(slopes: Any, start: Any, rows: Any, entries: Any, moves: Any) -> Any:
    r"""Return :math:`P^{-1} h`, the root, and :math:`\tfrac12 \ln |P|`; NaN without digits."""
    root, half, _, off = _factors(slopes, start, rows, entries, moves)
    n = len(start) - 1
    result = np.empty(n + len(root) + 1)
    for j in range(len(result)):
        result[j] = np.nan
    if off < _LOG_LOSS:
        _solve(root, half, start, rows, entries, result)
        for p in range(len(root)):
            result[n + p] = root[p]
        result[-1] = 0.0
        for j in range(n):
            result[-1] += np.log(root[start[j]])
    return result


@_compiled
def integrals(slopes: Any, start: Any, rows: Any, entries: Any, moves: Any) -> Any:
    """Return `integral` of each of many slopes; the form is the same, and has an axis of one."""
    result = np.empty((len(slopes), start.shape[1] + rows.shape[1]))
    for i in range(len(slopes)):
        one = integral(slopes[i], start[0], rows[0], entries[0], moves[0])
        for j in range(len(one)):
            result[i, j] = one[j]
    return result


@_compiled
def integral_slope(
    slopes: Any, start: Any, rows: Any, entries: Any, moves: Any, solution: Any, weight: Any
) -> Any:
    """Return the derivative of the last number of `integral` by slopes, times a weight."""
    n = len(start) - 1
    cov = _covariances(solution[n:-1], start, rows)
    result = np.empty(slopes.shape)
    for i in range(slopes.shape[0]):
        for j in range(slopes.shape[1]):
            result[i, j] = 0.0
    for p in range(len(rows)):
        probe, at, by = entries[p]
        if probe >= 0:
            value = weight.item() * cov[p] * (0.5 if at == by else 1.0) / moves[0, by]
            result[0, at] += value
            result[1 + probe, at] -= value
    return result


@_compiled
def _solutions(slopes: Any, start: Any, rows: Any, entries: Any, moves: Any, noise: Any) -> Any:
    """Return P^-1 h + L'^-1 noise, and how much a precision is off, for each row of slopes."""
    x, loss = np.empty_like(noise), np.zeros(len(noise))
    for row in range(len(noise)):
        root, half, loss[row], _ = _factors(slopes[row], start, rows, entries, moves)
        for j in range(len(half)):
            half[j] += noise[row, entries[start[j], 1]]
        _solve(root, half, start, rows, entries, x[row])
    return x, loss


@_compiled
def _variances(slopes: Any, start: Any, rows: Any, entries: Any, moves: Any) -> Any:
    """Return the diagonal of the inverse, for each row of slopes."""
    result = np.empty((len(slopes), len(start) - 1))
    for row in range(len(slopes)):
        root, _, _, _ = _factors(slopes[row], start, rows, entries, moves)
        covariance = _covariances(root, start, rows)
        for j in range(result.shape[1]):
            result[row, entries[start[j], 1]] = covariance[start[j]]
    return result


@_compiled
def _pair_covariances(
    slopes: Any, start: Any, rows: Any, entries: Any, moves: Any, places: Any
) -> Any:
    """Return half the log determinants, diagonals of inverses, and their entries at places."""
    n = len(start) - 1
    half_log, diagonal = np.zeros(len(slopes)), np.empty((len(slopes), n))
    result = np.empty((len(slopes), len(places)))
    for row in range(len(slopes)):
        root, _, _, _ = _factors(slopes[row], start, rows, entries, moves)
        covariance = _covariances(root, start, rows)
        for j in range(n):
            half_log[row] += np.log(root[start[j]])
            diagonal[row, entries[start[j], 1]] = covariance[start[j]]
        for k in range(len(places)):
            result[row, k] = covariance[places[k]]
    return half_log, diagonal, result


@_compiled
def _variances_of(
    combinations: Any, slopes: Any, start: Any, rows: Any, entries: Any, moves: Any
) -> Any:
    """Return the variances of linear combinations, for each row of slopes."""
    n = len(start) - 1
    result, right = np.zeros((len(slopes), len(combinations))), np.empty(n)
    for row in range(len(slopes)):
        root, _, _, _ = _factors(slopes[row], start, rows, entries, moves)
        for k in range(len(combinations)):
            for j in range(n):
                right[j] = combinations[k, entries[start[j], 1]]
            for j in range(n):
                right[j] /= root[start[j]]
                result[row, k] += right[j] ** 2
                for p in range(start[j] + 1, start[j + 1]):
                    right[rows[p]] -= root[p] * right[j]
    return result


def sparse_precision(linked: Any, step: Array, rng: np.random.Generator) -> SparsePrecision:
    """Return how to read and factor a precision, where `linked` elements are not independent."""
    n = linked.shape[0]
    links: Any = csr_array(csr_array(linked, dtype=bool) + eye_array(n, dtype=bool))
    colour, hubs = coloured(links)
    # Any matrix with these entries of which no pivot is small tells the order, and the root's.
    dominant: Any = csc_array(diags_array(2.0 * links.sum(0)) - links.astype(float))
    options = {"SymmetricMode": True}
    done = splu(dominant, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    order, lower = np.argsort(done.perm_c), csc_array(done.L)
    lower.sort_indices()
    start, rows = lower.indptr.astype(np.intp), lower.indices.astype(np.intp)
    one, other = order[rows], np.repeat(order, np.diff(start))
    at, by = np.where(hubs[one], [other, one], [one, other])
    probe = np.where(links[at, by], colour[by], -1)
    moves = np.stack([step, step * rng.uniform(0.5, 1, n) * rng.choice([-1.0, 1.0], n)])
    return SparsePrecision(colour, start, rows, np.stack([probe, at, by], 1), moves)


def coloured(links: Any) -> tuple[Elements, NDArray[np.bool_]]:
    """Return colours of few elements each, and which elements have one of their own.

    Of the others no two of one colour have a neighbour in common, nor are neighbours. Those with
    more than some number of neighbours have their own; the number is the one that needs the fewest.
    """
    degree = np.diff(links.indptr)
    best, hubs = np.arange(len(degree)), np.ones(len(degree), dtype=bool)
    for most in np.unique(degree):
        small = np.flatnonzero(degree <= most)
        inner = links[small][:, small].astype(np.int32)
        if np.diff(inner.indptr).max() > best.max() + 1:
            break  # as many colours as an element and its neighbours there must be
        near = csr_array(inner @ inner)
        colour = np.full(len(degree), -1)
        colour[small] = least_colours(near.indptr, near.indices)
        single = colour < 0
        colour[single] = colour.max() + 1 + np.arange(single.sum())
        if colour.max() < best.max():
            best, hubs = colour, single
    return best, hubs


def least_colours(start: Any, near: Any) -> Elements:
    """Return the least colour of each element that none of those near to it has."""
    return np.asarray(_greedy(start.astype(np.intp), near.astype(np.intp)))


@_compiled
def _greedy(start: Any, near: Any) -> Any:
    n = len(start) - 1
    colour, taken = np.empty(n, np.intp), np.empty(n + 1, np.intp)
    for i in range(n):
        colour[i], taken[i] = -1, -1
    for i in range(n):
        for p in range(start[i], start[i + 1]):
            if colour[near[p]] >= 0:
                taken[colour[near[p]]] = i
        least = 0
        while taken[least] == i:
            least += 1
        colour[i] = least
    return colour
