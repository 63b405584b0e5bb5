"""Loops over the cells of large tables, which Numba compiles where there are enough of them.

The loops write no arrays in between, which is what takes the time of NumPy's and SciPy's functions;
these do the same where there are few cells, and need no compiler. A loop is here only because a row
would fall behind a peer without it:

- `add_products`: "regression, normal prior" beside conjugate-models in docs/peers.md (0.7 of its
  time at a million rows; with NumPy 2, since that takes 3.4 times as long as ``X.T @ X``);
- `add_cells`, `add_rows`, `add_tokens`: "MultinomialNB fit" and "MultinomialNB probabilities" in
  docs/speed.md (0.8 and 0.7 of scikit-learn's time; with SciPy's sparse matrices 9 and 2.3).

Loops that go from one number to the next are where they belong, as `threaded`.
"""

from __future__ import annotations

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


def pay(cells: int) -> bool:
    """Return whether compiled loops pay for so many cells."""
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


threaded = partial(Loops, nogil=True, cache=True)
# Sums that may be taken in any order are taken several numbers at a time. NaN stays NaN.
_in_any_order = partial(threaded, fastmath={"reassoc", "contract", "nsz"})


@threaded
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


@threaded
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


@threaded
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
