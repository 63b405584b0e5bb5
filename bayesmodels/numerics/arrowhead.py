r"""Sparse precision matrices: many small groups that only depend on each other through a few hubs.

With the groups first and the hubs last, a precision matrix is an arrow,

.. math:: P = \begin{pmatrix} D & B \\ B^\top & C \end{pmatrix}, \qquad
    D = \operatorname{diag}(D_1, \dots, D_G),

and its root costs what the groups' small roots and that of the Schur complement
:math:`C - B^\top D^{-1} B` cost. Coefficients of groups with their common means are of this form.
Source: Murphy (2012), *Machine Learning*, section 4.3.4.1 (partitioned inverses).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS

Elements = NDArray[np.intp]

KEPT = 1e-3
"""Relative error of a precision that is allowed."""
_SOME = 0.3  # the same, where little mass is: some digit is left
_DERIVATIVES = 10.0  # operations for each log term and probe, about


def _compiled(loops: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function; a precision that is not definite makes NaN in it, not an error."""
    return numba.njit(cache=True, error_model="numpy")(loops)


@dataclass(frozen=True, eq=False)
class Arrow:
    """Where the elements of a normal block are in the arrow.

    `groups`, of shape (groups, width), holds the elements of each group, and -1 where it is
    smaller; `hubs` the other elements.

    Precision and slope at a centre are read off `slopes`, of shape (1 + probes, elements): those
    at the centre, and at each of `probes` of the same `step`.
    """

    groups: Elements
    hubs: Elements

    @property
    def size(self) -> int:
        """Number of elements."""
        return int((self.groups >= 0).sum()) + len(self.hubs)

    def probes(self, step: Array) -> Array:
        """Return steps that show all columns: one a place in the groups, one a hub."""
        width, hubs = self.groups.shape[1], len(self.hubs)
        moves = np.zeros((width + hubs, self.size))
        for place in range(width):
            own = self.groups[:, place]
            own = own[own >= 0]
            moves[place, own] = step[own]
        moves[width + np.arange(hubs), self.hubs] = step[self.hubs]
        return moves

    def solve(self, slopes: Array, step: Array, noise: Array, kept: float = KEPT) -> Array:
        """Return where the normal law has its mean, from the centre, plus its root times `noise`.

        There is one law a row, with its own slopes and noise. What a precision may lose to rounding
        is `kept`, relative to its size.
        """
        found, loss = _solutions(slopes, self.groups, self.hubs, step, noise)
        lost = ~(loss < kept)
        # Where a group's scale is near zero, what the hubs' precision is before and after the
        # groups are integrated out are both huge and nearly the same.
        if lost.any():
            raise DataError(
                f"rest: at {int(lost.sum()):,} of {lost.size:,} draws (the first is number "
                f"{int(lost.argmax())}) some scale is so near zero that rounding leaves "
                "too few digits of the law of the others. Keep such scales away from zero by their "
                "prior, or leave these draws out."
            )
        if not np.isfinite(found).all():
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return np.asarray(found)

    def sd(self, slopes: Array, step: Array) -> Array:
        """Return the standard deviations of all elements, one row for each row of slopes."""
        own = np.empty(self.size, dtype=int)  # the probe that moves each element
        number, width = self.groups.shape
        places = np.broadcast_to(np.arange(width), (number, width))
        own[self.groups[self.groups >= 0]] = places[self.groups >= 0]
        own[self.hubs] = width + np.arange(len(self.hubs))
        # The derivative of ln |P| / 2 by an entry of the diagonal is half the variance.
        weights, at = np.array([0.0, 1.0]), np.arange(self.size)
        found = [
            integral_slope(row, self.groups, self.hubs, step, weights)[1 + own, at]
            for row in slopes
        ]
        return np.sqrt(-2 * step * np.array(found))

    def precision(self, slopes: Array, step: Array) -> Array:
        """Return the whole precision matrix, from the slopes of one row."""
        width = self.groups.shape[1]
        change = slopes[0] - slopes[1:]  # a probe a row
        result = np.zeros((self.size, self.size))
        for group in self.groups:
            own = group[group >= 0]
            result[np.ix_(own, own)] = change[: len(own), own].T / step[own]
        result[:, self.hubs] = change[width:].T / step[self.hubs]
        inner = np.setdiff1d(np.arange(self.size), self.hubs)
        result[np.ix_(self.hubs, inner)] = result[np.ix_(inner, self.hubs)].T
        return np.asarray((result + result.T) / 2)


@_compiled
def _factors(  # noqa: C901, PLR0912 - loops, which Numba is good at
    slopes: Any, groups: Any, hubs: Any, step: Any
) -> Any:
    """Return roots and results; NaN where the precision is not positive definite.

    These are the groups' roots, the same solved for B and h, the hubs' root below k, half the
    square and half the log determinant, and how much some hub's precision may be off, relatively.
    """
    number, width = groups.shape
    last = len(hubs)
    loss = 0.0
    roots = np.zeros((number, width, width))
    rights = np.zeros((number, width, last + 1))
    top = np.zeros((last + 1, last + 1))
    for a in range(last):
        e = hubs[a]
        for b in range(a + 1):
            top[a, b] = (slopes[0, e] - slopes[1 + width + b, e]) / step[hubs[b]]
        top[last, a] = slopes[0, e]
    whole = np.abs(np.diag(top))
    log_det = 0.0
    for g in range(number):
        root, right = roots[g], rights[g]
        for i in range(width):
            e = groups[g, i]
            if e < 0:
                break
            for j in range(i + 1):
                value = (slopes[0, e] - slopes[1 + j, e]) / step[groups[g, j]]
                for m in range(j):
                    value -= root[i, m] * root[j, m]
                root[i, j] = np.sqrt(value) if i == j else value / root[j, j]
            log_det += np.log(root[i, i])
            for a in range(last + 1):
                value = slopes[0, e]
                if a < last:
                    value = (value - slopes[1 + width + a, e]) / step[hubs[a]]
                for m in range(i):
                    value -= root[i, m] * right[m, a]
                right[i, a] = value / root[i, i]
            for a in range(last + 1):
                for b in range(a + 1):
                    top[a, b] -= right[i, a] * right[i, b]
    for a in range(last):
        loss = max(loss, whole[a] * EPS / top[a, a]) if top[a, a] > 0 else np.inf
    for a in range(last + 1):
        for b in range(a + 1):
            value = top[a, b]
            for m in range(b):
                value -= top[a, m] * top[b, m]
            if a == last and b == last:
                top[a, b] = value
            elif a == b:
                top[a, b] = np.sqrt(value)
                log_det += np.log(top[a, b])
            else:
                top[a, b] = value / top[b, b]
    return roots, rights, top, -top[last, last] / 2, log_det, loss


@_compiled
def _inverse(root: Any, size: int) -> Any:
    """Return the inverse of the leading part of a lower triangular matrix."""
    result = np.zeros((size, size))
    for j in range(size):
        result[j, j] = 1 / root[j, j]
        for i in range(j + 1, size):
            value = 0.0
            for m in range(j, i):
                value -= root[i, m] * result[m, j]
            result[i, j] = value / root[i, i]
    return result


@_compiled
def integral(slopes: Any, groups: Any, hubs: Any, step: Any) -> Any:
    r"""Return :math:`\tfrac12 h^\top P^{-1} h` and :math:`\tfrac12 \ln |P|`; NaN without digits."""
    _, _, _, square, log_det, loss = _factors(slopes, groups, hubs, step)
    # What the square is added to is as large, and of the other sign.
    known = loss < _SOME and square * EPS < 1
    return np.array([square, log_det]) if known else np.array([np.nan, np.nan])


@_compiled
def integral_slope(  # noqa: C901, PLR0912 - as above
    slopes: Any, groups: Any, hubs: Any, step: Any, weights: Any
) -> Any:
    """Return the derivative of the weighted sum of both results of `integral` by all slopes."""
    roots, rights, top, _, _, _ = _factors(slopes, groups, hubs, step)
    number, width = groups.shape
    last = len(hubs)
    result = np.zeros_like(slopes)
    half = _inverse(top, last)
    cov = np.zeros((last, last))
    for a in range(last):
        for b in range(last):
            for m in range(max(a, b), last):
                cov[a, b] += half[m, a] * half[m, b]
    mean = np.zeros(last)
    for a in range(last):
        for m in range(a, last):
            mean[a] += half[m, a] * top[last, m]
    for a in range(last):
        e = hubs[a]
        result[0, e] += weights[0] * mean[a]
        for b in range(a + 1):
            value = weights[1] * cov[a, b] - weights[0] * mean[a] * mean[b]
            value *= (0.5 if a == b else 1.0) / step[hubs[b]]
            result[0, e] += value
            result[1 + width + b, e] -= value
    for g in range(number):
        size = 0
        while size < width and groups[g, size] >= 0:
            size += 1
        half = _inverse(roots[g], size)
        shift = np.zeros((size, last))  # D^-1 B
        across = np.zeros((size, last))  # covariance with the hubs
        own = np.zeros(size)
        for i in range(size):
            for m in range(i, size):
                own[i] += half[m, i] * rights[g, m, last]
                for a in range(last):
                    shift[i, a] += half[m, i] * rights[g, m, a]
            for a in range(last):
                own[i] -= shift[i, a] * mean[a]
                for b in range(last):
                    across[i, a] -= shift[i, b] * cov[b, a]
        for i in range(size):
            e = groups[g, i]
            result[0, e] += weights[0] * own[i]
            for j in range(i + 1):
                value = 0.0
                for m in range(i, size):
                    value += half[m, i] * half[m, j]
                for a in range(last):
                    value -= across[i, a] * shift[j, a]
                value = weights[1] * value - weights[0] * own[i] * own[j]
                value *= (0.5 if i == j else 1.0) / step[groups[g, j]]
                result[0, e] += value
                result[1 + j, e] -= value
            for a in range(last):
                value = weights[1] * across[i, a] - weights[0] * own[i] * mean[a]
                value /= step[hubs[a]]
                result[0, e] += value
                result[1 + width + a, e] -= value
    return result


@_compiled
def _solutions(slopes: Any, groups: Any, hubs: Any, step: Any, noise: Any) -> Any:
    """Return P^-1 h + R^-1 noise, and how much a precision is off, for each row of slopes."""
    number, width = groups.shape
    last = len(hubs)
    x = np.empty_like(noise)
    loss = np.zeros(len(noise))
    for row in range(len(noise)):
        roots, rights, top, _, _, loss[row] = _factors(slopes[row], groups, hubs, step)
        at = x[row]
        for a in range(last - 1, -1, -1):
            value = top[last, a] + noise[row, hubs[a]]
            for m in range(a + 1, last):
                value -= top[m, a] * at[hubs[m]]
            at[hubs[a]] = value / top[a, a]
        for g in range(number):
            for i in range(width - 1, -1, -1):
                e = groups[g, i]
                if e < 0:
                    continue
                value = rights[g, i, last] + noise[row, e]
                for a in range(last):
                    value -= rights[g, i, a] * at[hubs[a]]
                for m in range(i + 1, width):
                    if groups[g, m] >= 0:
                        value -= roots[g, m, i] * at[groups[g, m]]
                at[e] = value / roots[g, i, i]
    return x, loss


def arrow(linked: NDArray[np.bool_], rows: int) -> Arrow:
    """Return the arrow that is cheapest to work with, where `linked` elements are not independent.

    Hubs are the elements that are linked to more than some number of others; that number is chosen
    by counting operations, for `rows` log terms that a probe has to evaluate.
    """
    degree = linked.sum(0)
    best, least = None, np.inf
    for most in np.unique(degree):
        hubs = np.flatnonzero(degree > most)
        rest = np.flatnonzero(degree <= most)
        inner: Any = csr_array(linked[np.ix_(rest, rest)])
        number, label = connected_components(inner, directed=False)
        width = int(np.bincount(label).max())
        columns = width + len(hubs)
        factoring = number * width * columns**2 + len(hubs) ** 3
        cost = factoring + _DERIVATIVES * columns * (rows + len(linked))
        if cost < least:
            groups = np.full((number, width), -1)
            for group in range(number):
                own = rest[label == group]
                groups[group, : len(own)] = own
            best, least = Arrow(groups, hubs), cost
    assert best is not None  # noqa: S101 - there is at least one degree
    return best
