"""Work in pieces on several threads: NumPy lets go of the interpreter while it computes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array


def _allowed() -> int:
    """Return the number of threads: of cores, or the limit set for BLAS in the environment."""
    # process_cpu_count is new in Python 3.13.
    most = min(8, getattr(os, "process_cpu_count", os.cpu_count)() or 1)
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        limit = os.environ.get(name, "")
        if limit.isdecimal() and int(limit) > 0:
            most = min(most, int(limit))
    return most


CORES = _allowed()
PARALLEL_FROM = 2**18
LARGEST_PRODUCT = 2**18
"""Of matrices that BLAS multiplies without threads of its own."""


BLOCK = 2**17
"""Numbers that fit into the processor's cache."""


def blocks(x: NDArray[Any], size: int | None = None, least: int = 64) -> Iterator[slice]:
    """Cut rows into blocks of about `size` numbers and of at least `least` rows."""
    size = BLOCK if size is None else size
    rows = max(least, size // max(1, math.prod(x.shape[1:])))
    return (slice(start, start + rows) for start in range(0, len(x), rows))


def run[Piece](work: Callable[[Piece], None], pieces: Iterable[Piece], cost: int) -> None:
    """Call `work` on each piece, on several threads if so many numbers are worth it."""
    if cost < PARALLEL_FROM or CORES == 1:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(CORES) as pool:
        for _ in pool.map(work, pieces):
            pass


def gathered[Piece, Result](
    work: Callable[[Piece], Result], pieces: Iterable[Piece], cost: int
) -> list[Result]:
    """Return what `work` makes of each piece, as `run` does it."""
    every = list(pieces)
    result: dict[int, Result] = {}

    def one(number: int) -> None:
        result[number] = work(every[number])

    run(one, range(len(every)), cost)
    return [result[number] for number in range(len(every))]


def product(a: Array, b: Array) -> Array:
    """Return a @ b in pieces so small that BLAS starts no threads beside ours."""
    step = max(16, LARGEST_PRODUCT // max(1, a.size))
    result = np.empty((len(a), b.shape[1]))
    for start in range(0, b.shape[1], step):
        piece = slice(start, start + step)
        np.matmul(a, b[:, piece], out=result[:, piece])
    return result


def gram(rows: Array) -> Array:
    """Return rows.T @ rows, in pieces as in `product`."""
    size = rows.shape[1]
    step = max(16, LARGEST_PRODUCT // max(1, size * size))
    total = np.zeros((size, size))
    for start in range(0, len(rows), step):
        piece = rows[start : start + step]
        total += piece.T @ piece
    return total
