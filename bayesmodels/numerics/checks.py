"""Index of the first entry of an array that breaks a rule, or None.

Of columns of any real dtype, in blocks that the processor's cache holds, on several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import threads

Values = NDArray[Any]
Index = tuple[int, ...]


def _first(x: Values, good: Callable[[Values], NDArray[np.bool_]]) -> Index | None:
    if x.size <= threads.BLOCK:
        fine = good(x if x.ndim else x[None])
        return None if fine.all() else tuple(np.argwhere(~fine)[0].tolist())[: x.ndim]
    result: list[Index] = []

    def work(block: slice) -> None:
        fine = good(x[block])
        if not fine.all():
            row, *column = np.argwhere(~fine)[0].tolist()
            result.append((block.start + row, *column))

    threads.run(work, threads.blocks(x, least=1), x.size)
    return min(result, default=None)


def not_binary(x: Values, *, missing: bool = False) -> Index | None:
    """Return the place of the first entry that is neither 0 nor 1, nor NaN if `missing` may be.

    >>> not_binary(np.array([[0, 1], [1, 2]]))
    (1, 1)
    """
    if x.dtype.kind == "b":
        return None
    if missing and x.dtype.kind == "f":
        return _first(x, lambda rows: (rows == 0) | (rows == 1) | np.isnan(rows))
    return _first(x, lambda rows: (rows == 0) | (rows == 1))


def not_finite(x: Values) -> Index | None:
    """Return the place of the first entry that is NaN or infinite, or None."""
    return None if x.dtype.kind in "biu" else _first(x, np.isfinite)


def not_codes(x: Values, levels: int) -> Index | None:
    """Return the place of the first entry that is not a whole number in 0 .. levels - 1, or None.

    >>> not_codes(np.array([[0, 1], [1, 2]]), 2)
    (1, 1)
    """
    if x.dtype.kind == "b":
        x = x.view(np.uint8)
    if x.dtype == np.int64:
        x = x.view(np.uint64)  # what is below zero is beyond all levels, seen at one look

    def good(rows: Values) -> NDArray[np.bool_]:
        # Comparisons with NaN are false, so that it gets no further than here.
        inside = rows.size and (rows.dtype.kind == "u" or rows.min() >= 0) and rows.max() < levels
        fine = np.ones(1, np.bool_) if inside else (rows >= 0) & (rows < levels)
        return fine if rows.dtype.kind in "iu" else fine & (rows == np.floor(rows))

    return _first(x, good)


def not_within(x: Values, largest: float) -> Index | None:
    """Return the place of the first entry of greater size than `largest`, or NaN; or None."""

    def good(rows: Values) -> NDArray[np.bool_]:
        if rows.size and rows.min() >= -largest and rows.max() <= largest:
            return np.ones(1, dtype=np.bool_)
        return np.asarray(np.abs(rows) <= largest)

    return None if x.dtype.kind in "biu" and largest >= 2.0**64 else _first(x, good)
