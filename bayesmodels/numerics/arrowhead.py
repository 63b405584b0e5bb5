r"""Sparse precision matrices: many small groups that only depend on each other through a few hubs.

With the groups first and the hubs last, a precision matrix is an arrow,

.. math:: P = \begin{pmatrix} D & B \\ B^\top & C \end{pmatrix}, \qquad
    D = \operatorname{diag}(D_1, \dots, D_G),

and its root costs what the groups' small roots and that of the Schur complement
:math:`C - B^\top D^{-1} B` cost. Coefficients of groups with their common means are of this form.
Source: Murphy (2012), *Machine Learning*, section 4.3.4.1 (partitioned inverses).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS, solve_lower

Elements = NDArray[np.intp]

_KEPT = 1e-3  # relative error of a precision that is allowed
_DERIVATIVES = 10.0  # operations for each log term and probe, about


@dataclass(frozen=True, eq=False)
class Arrow:
    """Where the elements of a normal block are in the arrow.

    `groups`, of shape (groups, width), holds the elements of each group, and -1 where it is
    smaller; `hubs` the other elements.
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

    def parts(self, slopes: Array, step: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Read D, B, C and the slopes h, k at the centre off the slopes there and at the `probes`.

        `slopes` is of shape (..., 1 + probes, elements), the centre first. Leading axes stay;
        places that are filled up are independent standard normal ones.
        """
        number, width = self.groups.shape
        there = self.groups >= 0
        flat = np.where(there, self.groups, 0).ravel()
        lead = slopes.shape[:-2]
        change = slopes[..., :1, :] - slopes[..., 1:, :]
        local = change[..., flat].reshape((*lead, width + len(self.hubs), number, width))
        # The probe, now before group and place, is the column.
        columns = local.swapaxes(-3, -1).swapaxes(-3, -2)
        mask = there[:, :, None] & there[:, None, :]
        size = np.where(mask, step[flat].reshape(number, 1, width), 1.0)
        D = columns[..., :width] * (mask / size) + np.eye(width) * ~there[:, :, None]
        h = slopes[..., 0, :][..., flat].reshape((*lead, number, width)) * there
        B = columns[..., width:] * (there[:, :, None] / step[self.hubs])
        C = change[..., width:, :][..., self.hubs] / step[self.hubs][:, None]
        return D, B, C, h, slopes[..., 0, :][..., self.hubs]

    def solve(self, slopes: Array, step: Array, noise: Array) -> Array:
        """Return where the normal law has its mean, from the centre, plus its root times `noise`.

        `slopes` and `step` are as in `parts`, one row a law; `noise` of shape (rows, elements).
        """
        D, B, C, h, k = self.parts(slopes, step)
        there = self.groups >= 0
        some = np.where(there, noise[:, self.groups], 0.0)
        root, by_hubs, own = _halves(D, B, h)
        top = _schur_root(C, _product(by_hubs, by_hubs))
        left = k - _product(by_hubs, own[..., None])[..., 0]
        middle = solve_lower(top, left[..., None])[..., 0]
        x = np.empty_like(noise)
        x[:, self.hubs] = _back(top, middle + noise[:, self.hubs])
        inner = own + some - (by_hubs @ x[:, None, self.hubs, None])[..., 0]
        x[:, self.groups[there]] = _back(root, inner)[:, there]
        return x

    def sd(self, slopes: Array, step: Array) -> Array:
        """Return the standard deviations of all elements, one row for each row of slopes."""
        D, B, C, h, _ = self.parts(slopes, step)
        root, by_hubs, _ = _halves(D, B, h)
        top = _schur_root(C, _product(by_hubs, by_hubs))
        half_hubs = solve_lower(top, _eye(top))
        half = solve_lower(root, _eye(root))
        shift = _solve_upper(root, by_hubs)  # D^-1 B
        spread = shift @ np.swapaxes(half_hubs, -1, -2)[:, None]
        variance = np.empty((len(slopes), self.size))
        variance[:, self.hubs] = (half_hubs**2).sum(-2)
        there = self.groups >= 0
        variance[:, self.groups[there]] = ((half**2).sum(-2) + (spread**2).sum(-1))[:, there]
        return np.sqrt(variance)

    def precision(self, slopes: Array, step: Array) -> Array:
        """Return the whole precision matrix, from the slopes of one row."""
        D, B, C, _, _ = self.parts(slopes, step)
        result = np.zeros((self.size, self.size))
        for group, inner, outer in zip(self.groups, D, B, strict=True):
            there = group >= 0
            own = group[there]
            result[np.ix_(own, own)] = inner[np.ix_(there, there)]
            result[np.ix_(own, self.hubs)] = outer[there]
            result[np.ix_(self.hubs, own)] = outer[there].T
        result[np.ix_(self.hubs, self.hubs)] = C
        return _symmetric(result)


def _schur_root(C: Array, taken: Array) -> Array:
    """Return the root of what the hubs' precision is once groups are integrated out.

    Where a group's scale is near zero, both are huge and nearly the same.
    """
    schur = _symmetric(C - taken)
    whole, left = (np.diagonal(x, axis1=-2, axis2=-1) for x in (C, schur))
    lost = ~(np.abs(whole) * EPS < _KEPT * left).all(-1)
    if lost.any():
        msg = (
            f"rest: at {int(lost.sum()):,} of {lost.size:,} draws (the first is number "
            f"{int(lost.argmax())}) some scale is so near zero that rounding leaves less than "
            "three digits of the law of the others. Keep such scales away from zero by their "
            "prior, or leave these draws out."
        )
        raise DataError(msg)
    return np.linalg.cholesky(schur)


def _halves(D: Array, B: Array, h: Array) -> tuple[Array, Array, Array]:
    """Return the groups' roots, and these solved for what leads to the hubs and for the slopes."""
    root = np.linalg.cholesky(D)
    solved = solve_lower(root, np.concatenate([B, h[..., None]], -1))
    return root, solved[..., :-1], solved[..., -1]


def _product(one: Array, other: Array) -> Array:
    """Return one' other over all places of all groups, for each row."""
    flat = (len(one), one.shape[1] * one.shape[2])
    left = one.reshape((*flat, one.shape[-1]))
    return np.asarray(np.swapaxes(left, -1, -2) @ other.reshape((*flat, other.shape[-1])))


def _back(root: Array, right: Array) -> Array:
    return _solve_upper(root, right[..., None])[..., 0]


def _solve_upper(root: Array, right: Array) -> Array:
    """Solve root' X = B, as a lower triangular system with the order of rows turned round."""
    turned = np.swapaxes(root, -1, -2)[..., ::-1, ::-1]
    return solve_lower(turned, right[..., ::-1, :])[..., ::-1, :]


def _eye(like: Array) -> Array:
    return np.broadcast_to(np.eye(like.shape[-1]), like.shape)


def _symmetric(x: Array) -> Array:
    result: Array = (x + np.swapaxes(x, -1, -2)) / 2
    return result


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
