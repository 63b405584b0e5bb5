"""One pass over rows that need not fit into memory: chunks to statistics, folded with ``+``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import narwhals as nw

from bayesmodels.errors import DataError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.parameters import count
from bayesmodels.input.wrappers import Design, Weighted
from bayesmodels.scale.checkpoint import Checkpoint
from bayesmodels.scale.clusters import from_dask
from bayesmodels.scale.folding import Fold
from bayesmodels.scale.sources import Chunk, chunks, dataset, is_dataset, is_reader

_EVERY = 1.0  # seconds between checkpoints


def statistic(
    model: Any,
    source: Any,
    *,
    target: str | None = None,
    columns: str | Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = False,
    to_data: Callable[[Any], Any] | None = None,
    rows: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Any:
    """Return the sufficient statistic of rows that are read once, a chunk at a time.

    Chunks are merged with ``+``, so that the answer is the statistic of all rows, as
    ``model.statistic`` would return it, up to rounding. Only the columns that are needed are read.

    Parameters
    ----------
    model : Belief
        Any conjugate model; its columns, classes and categories must be known, since no chunk
        need hold all of them.
    source : path, iterable, or lazy table
        - a path or a glob of Parquet, CSV or Feather files, or a folder of them;
        - a pyarrow ``Dataset``, ``Table`` or ``RecordBatchReader``, a ``LazyFrame`` of polars 1.34
          or later, or a DuckDB relation;
        - a Dask ``DataFrame``, ``Array`` or ``Bag``: its workers make the statistics, and only
          these come back;
        - a Spark ``DataFrame``, which comes to this process as one table of Arrow;
        - any iterable of chunks: frames, or what ``model.statistic`` takes;
        - a function without arguments that returns one of these.
    target : str, optional
        Column to be explained, or of classes. The other columns are then the features.
    columns : str or sequence of str, optional
        Columns of the rows, or of the features; all (other) ones if not given. A single name is a
        series, a sequence a table.
    weights : str, optional
        Column of weights; see `Weighted`.
    intercept : bool, default False
        As in `Design`.
    to_data : callable, optional
        From a chunk to what ``model.statistic`` takes, in place of `target`, `weights` and
        `intercept`; `columns` then only says what is read.
    rows : int, optional
        Rows in a chunk, at most, where the source can be asked for it. If not given, a million, or
        as many as have 12 million cells.
    checkpoint : path-like, optional
        A file that keeps how far a pass over files is. If it is there, the pass goes on after the
        last whole chunk; it is removed when the pass ends.
    progress : bool, default False
        Show a bar with rows a second.

    Returns
    -------
    Statistic
        For ``model.update`` and ``model.log_evidence``.

    Raises
    ------
    DataError
        If the source has no rows or lacks a column, rows do not fit the model (the message names
        the chunk), or `checkpoint` belongs to another pass.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> line = bm.LinearRegression.flat(["x"])
    >>> parts = ({"x": [k, k + 1], "y": [2 * k, 2 * k + 2]} for k in range(3))
    >>> import pandas as pd
    >>> s = bm.scale.statistic(line, map(pd.DataFrame, parts), target="y")
    >>> s.n, s.mle()["w"].round(12)
    (6, array([2.]))
    """
    result = Pass.of(
        source, target, columns, weights, intercept, to_data, rows, progress=progress
    ).fold(partial(_statistic, model), model=model, checkpoint=checkpoint)
    if result is None:
        raise DataError("source: must have at least one row; got none.")
    return result


def _statistic(model: Any, data: Any, _number: int) -> Any:
    return model.statistic(data)


@dataclass(frozen=True)
class Pass:
    """What to read of a source, and how; `prepare` turns a chunk into data of a model."""

    source: Any
    columns: list[str] | None
    prepare: Callable[[Any], Any]
    rows: int | None
    progress: bool

    @classmethod
    def of(
        cls,
        source: Any,
        target: str | None,
        columns: str | Sequence[str] | None,
        weights: str | None,
        intercept: bool,  # noqa: FBT001 - internal
        to_data: Callable[[Any], Any] | None,
        rows: int | None,
        *,
        progress: bool,
    ) -> Pass:
        """Return a pass; check its arguments."""
        return cls(
            source,
            _names(target, columns, weights),
            _prepared(target, columns, weights, intercept=intercept, to_data=to_data),
            None if rows is None else count(rows, "rows", 1),
            progress,
        )

    @property
    def _picked(self) -> Any:
        """Names of the columns read, and the fields of `prepare` unless it is a function."""
        prepare = self.prepare
        return [self.columns, asdict(prepare) if isinstance(prepare, _Columns) else None]

    def check_repeatable(self) -> None:
        """Refuse a source that can be read only once."""
        if isinstance(self.source, Iterator) or is_reader(self.source):
            raise DataError(
                "source: is read once for every step, and a "
                f"{type(self.source).__name__} can be read only once. Give a path, a dataset, a "
                "list of chunks, or a function without arguments that returns chunks."
            )

    def fold(
        self,
        of_data: Callable[[Any, int], Any],
        *,
        model: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        words: str = "",
    ) -> Any:
        """Return the sum of `of_data` over chunks; None if there are no rows.

        `of_data` goes from the data of a chunk, and its number, to what can be added. The
        `checkpoint` is about the `model`; the progress bar says the `words`.
        """
        source = self.source() if callable(self.source) else self.source
        if type(source).__module__.split(".")[0] in ("dask", "dask_expr"):
            if checkpoint is not None:
                raise DataError(
                    "checkpoint: Dask keeps its own account of what is done; leave it out."
                )
            return from_dask(of_data, source, self.columns, self.prepare)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, model, source, self._picked, self.rows)
        result, after, done = (Fold(), None, 0) if kept is None else kept.begun()
        last = time.monotonic()
        with _bar(source, done, words, show=self.progress) as advance:
            for number, chunk in enumerate(chunks(source, self.columns, self.rows, after)):
                result.add(self._of_chunk(of_data, chunk, number, done))
                length = _length(chunk.rows)
                done += length
                advance(length)
                if kept is not None and time.monotonic() - last > _EVERY:
                    kept.write(result, (chunk.part, chunk.place), done)
                    last = time.monotonic()
        if kept is not None:
            kept.remove()
        return result.total()

    def _of_chunk(
        self, of_data: Callable[[Any, int], Any], chunk: Chunk, number: int, before: int
    ) -> Any:
        try:
            return of_data(self.prepare(chunk.rows), number)
        except DataError as error:
            raise DataError(
                f"chunk {chunk.place} of part {chunk.part}, after {before:,} rows: {error}"
            ) from None


# --- columns --------------------------------------------------------------------------------------


def _names(
    target: str | None, columns: str | Sequence[str] | None, weights: str | None
) -> list[str] | None:
    """Return the columns to read; None for all."""
    if columns is None:
        return None
    wanted = [columns] if isinstance(columns, str) else list(columns)
    return [*wanted, *(name for name in (target, weights) if name and name not in wanted)]


def _prepared(
    target: str | None,
    columns: str | Sequence[str] | None,
    weights: str | None,
    *,
    intercept: bool,
    to_data: Callable[[Any], Any] | None,
) -> Callable[[Any], Any]:
    """Return the function from a chunk to data of a model."""
    if to_data is not None:
        if target is not None or weights is not None or intercept:
            raise DataError("to_data: does all of it; leave target, weights and intercept out.")
        return to_data
    if target is None and columns is None and weights is None:
        return _as_it_is
    return _Columns(target, columns, weights, intercept)


def _as_it_is(rows: Any) -> Any:
    return rows


@dataclass(frozen=True)
class _Columns:
    """Picks target, features and weights; a class, so that it can be sent to other processes."""

    target: str | None
    columns: str | Sequence[str] | None
    weights: str | None
    intercept: bool

    def __call__(self, rows: Any) -> Any:
        frame = wrapped(rows, "source")
        if not isinstance(frame, nw.DataFrame):
            raise DataError(
                "source: chunks must be frames where columns are named; got "
                f"{type(rows).__name__}. Name none, or give to_data."
            )
        for name in (self.target, self.weights):
            if name is not None and name not in frame.columns:
                raise DataError(f"source: a chunk has no column {name!r}; it has {frame.columns}.")
        if isinstance(self.columns, str):
            features: Any = frame[self.columns]
        else:
            others = [n for n in frame.columns if n not in (self.target, self.weights)]
            features = frame.select(others if self.columns is None else list(self.columns))
        data = features.to_native()
        if self.target is not None:
            data = Design(data, frame[self.target].to_native(), self.intercept)
        return data if self.weights is None else Weighted(data, frame[self.weights].to_native())


def _length(rows: Any) -> int:
    inner = rows[1] if isinstance(rows, tuple) else rows
    inner = inner.target if isinstance(inner, Design) else inner
    return len(inner) if isinstance(inner, Sized) else 1


# --- progress -------------------------------------------------------------------------------------


@contextmanager
def _bar(source: Any, done: int, words: str, *, show: bool) -> Iterator[Callable[[int], None]]:
    """Yield the function that adds a number of rows to the progress bar."""
    if not show:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    files = dataset(source) if isinstance(source, (str, os.PathLike)) else source
    total = files.count_rows() if is_dataset(files) else None
    text = TextColumn("{task.completed:,.0f} rows, {task.fields[rate]:,.0f} a second")
    with Progress(
        TextColumn(words),
        BarColumn(),
        text,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("rows", total=total, completed=done, rate=0.0)
        start, seen = time.monotonic(), 0

        def advance(number: int) -> None:
            nonlocal seen
            seen += number
            bar.update(task, advance=number, rate=seen / max(time.monotonic() - start, 1e-9))

        yield advance
