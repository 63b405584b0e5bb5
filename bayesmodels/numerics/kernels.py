"""Loops over the cells of large tables, which Numba compiles where there are enough of them.

The loops write no arrays in between, which is what takes the time of NumPy's and SciPy's functions;
these do the same where there are few cells, and need no compiler.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array

# Loading Numba takes as long as it saves in three calls on so many cells.
PAYS_FROM = 2**22
PAYS_IF_LOADED_FROM = 2**16
SMALL_SHARE = 1e-3  # below it, five terms of ln(1 - share) are exact but for rounding


def pay(cells: int) -> bool:
    """Return whether so many cells are worth compiled loops."""
    return cells >= (PAYS_IF_LOADED_FROM if "numba" in sys.modules else PAYS_FROM)


class Loops:
    """Loops that Numba compiles once they are called, by Python or by other loops."""

    def __init__(self, loops: Callable[..., Any], **options: Any) -> None:
        self._loops, self._options = loops, options
        update_wrapper(self, loops)

    @cached_property
    def _compiled(self) -> Any:
        import numba

        return numba.njit(**self._options)(self._loops)

    @property
    def _numba_type_(self) -> Any:  # by which Numba knows what it may call
        return self._compiled._numba_type_

    def __call__(self, *inputs: Any) -> Any:
        """Evaluate."""
        return self._compiled(*inputs)


_threaded = partial(Loops, nogil=True, cache=True)
# Sums that may be taken in any order are taken several numbers at a time. NaN stays NaN.
_in_any_order = partial(_threaded, fastmath={"reassoc", "contract", "nsz"})


@_threaded
def add_rows(
    values: Array, pointers: NDArray[Any], table: Array, total: Array, logs: Array
) -> None:
    """Put each row's sum of values into `total`, and of what `table` holds for them into `logs`."""
    for row in range(len(pointers) - 1):
        values_sum = 0.0
        logs_sum = 0.0
        for k in range(pointers[row], pointers[row + 1]):
            values_sum += values[k]
            logs_sum += table[int(values[k])]
        total[row] = values_sum
        logs[row] = logs_sum


@_threaded
def add_cells(
    values: Array,
    words: NDArray[Any],
    pointers: NDArray[Any],
    groups: NDArray[Any],
    weights: Array,
    total: Array,
) -> None:
    """Add each row's cells, as often as its weight says, to the row of `total` of its group."""
    for row in range(len(pointers) - 1):
        weight = weights[row]
        mine = total[groups[row]]
        for k in range(pointers[row], pointers[row + 1]):
            mine[words[k]] += weight * values[k]


@_threaded
def add_tokens(
    values: Array,
    words: NDArray[Any],
    pointers: NDArray[Any],
    tables: Array,
    places: NDArray[Any],
    classes: int,
    total: Array,
    logs: Array,
) -> None:
    """Put each row's sum of values into `total`, and of what `tables` hold for them into `logs`.

    It is ``tables[value, places[classes * word + c]]``; values beyond the levels count as the last.
    Classes are read in fours: after `places` come three more, and `logs` of shape (rows, C), with C
    rounded up, have no meaning beyond `classes`.
    """
    last, numbers, flat = len(tables) - 1, tables.shape[1], tables.reshape(-1)
    for row in range(len(pointers) - 1):
        # Four sums at a time stay in registers; places without a sign need no test for negatives.
        for c in range(0, classes, 4):
            values_sum = one = two = three = four = 0.0
            for k in range(pointers[row], pointers[row + 1]):
                values_sum += values[k]
                level = np.uint64(min(last, int(values[k])) * numbers)
                at = np.uint64(words[k] * classes + c)
                one += flat[level + places[at]]
                two += flat[level + places[at + np.uint64(1)]]
                three += flat[level + places[at + np.uint64(2)]]
                four += flat[level + places[at + np.uint64(3)]]
            total[row] = values_sum
            logs[row, c] = one
            logs[row, c + 1] = two
            logs[row, c + 2] = three
            logs[row, c + 3] = four


@_in_any_order
def add_products(  # noqa: C901, PLR0912 - plain loops within each other, to be compiled
    X: Array, y: Array, shift: Array, total: Array
) -> None:
    """Add the products of the columns of [X - shift, y - shift, 1] to `total`.

    X is of shape (n, p) and `total` of shape (p + 2, p + 2).
    """
    rows, width = X.shape
    lanes, size = 128, width + 2  # rows at a time, side by side in memory
    even = size + size % 2
    block, sums = np.zeros((even, lanes)), np.zeros((even, even))
    for start in range(0, rows, lanes):
        here = min(lanes, rows - start)
        # A few rows by all columns, so that neither reading nor writing leaps far.
        for first in range(0, here - 7, 8):
            for j in range(width):
                for i in range(8):
                    block[j, first + i] = X[start + first + i, j] - shift[j]
        for j in range(width):
            for i in range(here // 8 * 8, here):
                block[j, i] = X[start + i, j] - shift[j]
        for i in range(here):
            block[width, i] = y[start + i] - shift[width]
            block[width + 1, i] = 1.0
        # Two columns by two: each number that is read takes part in two products.
        for j in range(0, even, 2):
            for k in range(0, j + 1, 2):
                one = two = three = four = 0.0
                for i in range(here):
                    one += block[j, i] * block[k, i]
                    two += block[j, i] * block[k + 1, i]
                    three += block[j + 1, i] * block[k, i]
                    four += block[j + 1, i] * block[k + 1, i]
                sums[j, k] += one
                sums[j, k + 1] += two
                sums[j + 1, k] += three
                sums[j + 1, k + 1] += four
    for j in range(size):
        for k in range(j + 1):
            total[j, k] += sums[j, k]
            if k < j:
                total[k, j] += sums[j, k]


@_threaded
def add_moments(  # noqa: C901 - plain loops within each other, to be compiled
    x: Array, codes: NDArray[Any], weights: Array, n: Array, mean: Array, scatter: Array
) -> None:
    """Put the moments of the rows of each group into zeros: see `bayesmodels.numerics.moments`."""
    rows, width = x.shape
    for i in range(rows):
        c, weight = codes[i], weights[i]
        n[c] += weight
        for j in range(width):
            mean[c, j] += weight * x[i, j]
    for c in range(len(n)):
        for j in range(width):
            if n[c] > 0:
                mean[c, j] /= n[c]
    rest = np.zeros(mean.shape)  # the error of these means
    for i in range(rows):
        c, weight = codes[i], weights[i]
        for j in range(width):
            gap = x[i, j] - mean[c, j]
            rest[c, j] += weight * gap
            scatter[c, j] += weight * gap * gap
    for c in range(len(n)):
        for j in range(width):
            if n[c] > 0:
                rest[c, j] /= n[c]
                mean[c, j] += rest[c, j]
                scatter[c, j] = max(scatter[c, j] - n[c] * rest[c, j] ** 2, 0.0)


@_threaded
def leave_numbers_out(
    x: Array,
    groups: NDArray[Any],
    location: Array,
    unit: Array,
    constant: Array,
    shape: Array,
    least: float,
    logs: Array,
    lost: NDArray[Any],
) -> None:
    """Put ``constant + shape ln(1 - share)`` of each number into `logs`.

    The share is the square of ``x - location`` by `unit`; where it leaves no more than
    `least`, it counts as none and `lost` is true. Numbers, `logs` and `lost` are of shape (n, D),
    `groups` of shape (n,) and parameters of shape (groups, D).
    """
    for i in range(len(x)):
        g = groups[i]
        for j in range(x.shape[1]):
            away = x[i, j] - location[g, j]
            share = away * away * unit[g, j]
            left = 1 - share
            log, there = 0.0, left > least  # not if it is NaN
            if there and share < SMALL_SHARE:  # nearly all rows, if there are many
                log = -share * (1 + share * (1 / 2 + share * (1 / 3 + share * (1 / 4 + share / 5))))
            elif there:  # log1p takes three times as long
                log = math.log(left) * (share / (1 - left))
            lost[i, j] = not there
            logs[i, j] = constant[g, j] + shape[g, j] * log


@_threaded
def solve_rows(  # noqa: C901 - plain loops within each other, to be compiled
    rows: Array, root: Array, leverage: Array, square: Array
) -> None:
    """Solve ``root u = row`` for each row, and keep of u the square of its last entry and the rest.

    `root` is lower triangular, of shape (p + 1, p + 1); `square` is that of the last entry of u,
    `leverage` the sum of the squares of the others. A zero on the diagonal makes them NaN.
    """
    n, size, lanes = len(rows), len(root), 64  # rows at a time, side by side in memory
    unit = np.empty((size, lanes))
    for start in range(0, n, lanes):
        here = min(lanes, n - start)
        for i in range(here):
            leverage[start + i] = 0.0
            for j in range(size):
                unit[j, i] = rows[start + i, j]
        for j in range(size):
            for k in range(j):
                factor = root[j, k]
                for i in range(here):
                    unit[j, i] -= factor * unit[k, i]
            length = root[j, j] if root[j, j] != 0 else np.nan
            for i in range(here):
                unit[j, i] /= length
            if j < size - 1:
                for i in range(here):
                    leverage[start + i] += unit[j, i] * unit[j, i]
        for i in range(here):
            square[start + i] = unit[size - 1, i] * unit[size - 1, i]


@_in_any_order
def square_distances(  # noqa: C901, PLR0912 - plain loops within each other, to be compiled
    rows: Array, centre: Array, turned: Array, centres: Array, out: Array
) -> None:
    """Put squared distances of rows from each class into `out`, of shape (C, rows).

    ``turned @ (row - centre)`` is a row's place; `centres`, of shape (apart, C), those of the
    classes, which differ in the first coordinates only. The other rows of `turned` begin with
    zeros, each with one more than the row before it.
    """
    size, width = rows.shape
    apart, classes = centres.shape
    lanes = 128  # rows at a time, such that inner loops run over neighbours in memory
    even = width + -width % 4
    weight, middle = np.zeros((even, even)), np.zeros((even, classes))
    weight[:width, :width], middle[:apart] = turned, centres
    block, squares = np.zeros((even, lanes)), np.empty((classes, lanes))
    y, z, tail = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for start in range(0, size, lanes):
        here = min(lanes, size - start)
        for i in range(here):
            for d in range(width):
                block[d, i] = rows[start + i, d] - centre[d]
        tail[:] = 0.0
        squares[:] = 0.0
        for d in range(0, width, 2):
            y[:] = 0.0
            z[:] = 0.0
            # Two places by four columns: each number that is read takes part in several products.
            for e in range(max(0, d - apart) // 4 * 4, width, 4):
                p, q, r, s = weight[d, e], weight[d, e + 1], weight[d, e + 2], weight[d, e + 3]
                below = weight[d + 1]
                t, u, v, w = below[e], below[e + 1], below[e + 2], below[e + 3]
                for i in range(lanes):
                    one, two = block[e, i], block[e + 1, i]
                    three, four = block[e + 2, i], block[e + 3, i]
                    y[i] += p * one + q * two + r * three + s * four
                    z[i] += t * one + u * two + v * three + w * four
            if d < apart:
                for c in range(classes):
                    for i in range(lanes):
                        squares[c, i] += (y[i] - middle[d, c]) ** 2 + (z[i] - middle[d + 1, c]) ** 2
            else:
                for i in range(lanes):
                    tail[i] += y[i] * y[i] + z[i] * z[i]
        for c in range(classes):
            for i in range(here):
                out[c, start + i] = squares[c, i] + tail[i]
