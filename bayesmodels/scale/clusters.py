"""Dask and Spark: their workers map partitions to statistics, and these are folded.

If a worker dies, Dask and Spark do its partitions again: each result is there once, or not yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

from narwhals.dependencies import is_dask_dataframe

from bayesmodels.errors import DataError
from bayesmodels.scale.folding import Fold, fold
from bayesmodels.scale.sources import chosen
from bayesmodels.store import dumps, loads

Prepare = Callable[[Any], Any]


def from_dask(
    of_data: Callable[[Any, int], Any], source: Any, columns: Sequence[str] | None, prepare: Prepare
) -> Any:
    """Return the sum of what is made of each partition, folded on the workers.

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
    together = delayed(_merged)
    while len(level) > 1:
        level = [together(level[at : at + 2]) for at in range(0, len(level), 2)]
    return compute(level[0])[0] if level else None


def _of_partition(
    of_data: Callable[[Any, int], Any], rows: Any, number: int, prepare: Prepare
) -> Any:
    rows = rows if isinstance(rows, Sized) else list(rows)
    return of_data(prepare(rows), number) if len(rows) else None


def _merged(parts: Iterable[Any]) -> Any:
    return fold(part for part in parts if part is not None)


def from_spark(
    of_data: Callable[[Any, int], Any], source: Any, columns: Sequence[str] | None, prepare: Prepare
) -> Any:
    """Return the sum of the statistics of a Spark frame's partitions; None if there are no rows.

    Workers read Arrow batches (``mapInArrow``) and send back the statistics' text, which is no
    pickle; the driver folds them.
    """
    if columns is not None:
        source = source.select(*columns)

    def texts(batches: Iterator[Any]) -> Iterator[Any]:
        return of_batches(of_data, prepare, batches)

    parts = source.mapInArrow(texts, "statistic string, complaint string").collect()
    for _, complaint in parts:
        if complaint is not None:
            raise DataError(complaint)
    return fold(loads(text) for text, _ in parts)


def of_batches(
    of_data: Callable[[Any, int], Any], prepare: Prepare, batches: Iterable[Any]
) -> Iterator[Any]:
    """Yield one Arrow batch: the text of the statistic of all rows of a partition, or a complaint.

    Yields nothing if there are no rows.
    """
    import pyarrow as pa

    found, text, complaint = Fold(), None, None
    done = 0
    try:
        for number, batch in enumerate(batches):
            if batch.num_rows:
                found.add(of_data(prepare(pa.Table.from_batches([batch])), number))
            done += batch.num_rows
        total = found.total()
        text = None if total is None else dumps(total)
    except DataError as error:
        complaint = f"a partition of the Spark frame, after {done:,} of its rows: {error}"
    if text is not None or complaint is not None:
        yield pa.RecordBatch.from_pydict(
            {"statistic": [text], "complaint": [complaint]},
            schema=pa.schema([("statistic", pa.string()), ("complaint", pa.string())]),
        )
