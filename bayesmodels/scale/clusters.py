"""Dask: its workers map partitions to statistics, and these are folded.

If a worker dies, Dask does its partitions again: each result is there once, or not yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

from narwhals.dependencies import is_dask_dataframe

from bayesmodels.scale.folding import fold
from bayesmodels.scale.sources import chosen

Prepare = Callable[[Any], Any]


def from_dask(
    of_data: Callable[[Any, int], Any], source: Any, columns: Sequence[str] | None, prepare: Prepare
) -> Any:
    """Return the sum over partitions of `of_data`, added up in pairs on the workers.

    Partitions without rows are left out; None if all are.
    """
    from dask.array.core import Array
    from dask.base import compute
    from dask.delayed import delayed

    if is_dask_dataframe(source):
        source = chosen(source, columns)
    elif isinstance(source, Array) and source.ndim > 1:
        source = source.rechunk(dict.fromkeys(range(1, source.ndim), -1))
    parts = source.to_delayed()
    one = delayed(_of_partition)
    level = [
        one(of_data, part, number, prepare)
        for number, part in enumerate(getattr(parts, "ravel", lambda: parts)())
    ]
    merge = delayed(_merged)
    while len(level) > 1:
        level = [merge(level[at : at + 2]) for at in range(0, len(level), 2)]
    return compute(level[0])[0] if level else None


def _of_partition(
    of_data: Callable[[Any, int], Any], rows: Any, number: int, prepare: Prepare
) -> Any:
    rows = rows if isinstance(rows, Sized) else list(rows)
    return of_data(prepare(rows), number) if len(rows) else None


def _merged(parts: Iterable[Any]) -> Any:
    return fold(part for part in parts if part is not None)
