"""Loops over the cells of sparse counts, which Numba compiles where there are enough of them.

Each has an equal in `bayesmodels.classwise` made of NumPy's and SciPy's functions, which needs no
compiler. The loops write no arrays in between, which is what takes the time there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Loading Numba takes as long as it saves in three calls on so many cells.
PAYS_FROM = 2**22
PAYS_IF_LOADED_FROM = 2**16


def pay(cells: int) -> bool:
    """Return whether so many cells are worth compiled loops."""
    return cells >= (PAYS_IF_LOADED_FROM if "numba" in sys.modules else PAYS_FROM)


@cache
def compiled(loop: Callable[..., None]) -> Callable[..., None]:
    """Return the loop compiled, such that it runs on several threads at once."""
    import numba

    return numba.njit(nogil=True, cache=True)(loop)


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


def add_tokens(
    values: Array, words: NDArray[Any], pointers: NDArray[Any], tables: Array, logs: Array
) -> None:
    """Put the sum over each row's cells of ``tables[i, c, word]``, i = 0 .. value - 1, into `logs`.

    `tables` is of shape (levels, C, V) and `logs` of shape (C, rows). Values beyond the levels end
    with them.
    """
    levels, classes, _ = tables.shape
    longest = 0
    for row in range(len(pointers) - 1):
        longest = max(longest, pointers[row + 1] - pointers[row])
    word, left = np.empty(longest, np.uint32), np.empty(longest)
    for row in range(len(pointers) - 1):
        # Cells move to the front while they have tokens left: no branch to be guessed wrong.
        size = 0
        for k in range(pointers[row], pointers[row + 1]):
            word[size] = words[k]
            left[size] = values[k]
            size += values[k] > 0
        for c in range(classes):
            logs[c, row] = 0.0
        level = 0
        while size > 0 and level < levels:
            for c in range(classes):
                table = tables[level, c]
                log_sum = 0.0
                for k in range(size):
                    log_sum += table[word[k]]
                logs[c, row] += log_sum
            level += 1
            kept = 0
            for k in range(size):
                word[kept] = word[k]
                left[kept] = left[k]
                kept += left[k] > level
            size = kept
