"""Rows that need not fit into memory, as chunks that do.

A chunk is an Arrow table of some columns, or whatever an iterable yields. Engines are the user's:
nothing here is imported that is not already there, and nobody else's scheduler is replaced.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
from narwhals.dependencies import is_duckdb_relation, is_polars_lazyframe, is_pyarrow_table

from bayesmodels.errors import DataError

ROWS = 262_144
"""Rows in a chunk, at most: some megabytes of a few columns."""
_LARGE, _CELLS = 2**20, 12_000_000  # of a chunk that is only added up: most rows, and most cells
_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".feather": "feather"}


class Chunk(NamedTuple):
    """Some rows: the number of their file (or fragment), and their place within it."""

    rows: Any
    part: int
    place: int


def is_dataset(source: Any) -> bool:
    """Return whether it is a data set of Arrow: files that are read one after the other."""
    return _is_arrow(source, "Dataset")


def is_reader(source: Any) -> bool:
    """Return whether it is a stream of Arrow, which can be read once."""
    return _is_arrow(source, "RecordBatchReader")


def _is_arrow(source: Any, name: str) -> bool:
    """Return whether it is of this class of pyarrow, which need not be there."""
    classes = type(source).__mro__
    return any(c.__name__ == name and c.__module__.startswith("pyarrow.") for c in classes)


def chunks(
    source: Any, columns: Sequence[str] | None, rows: int | None, after: tuple[int, int] | None
) -> Iterator[Chunk]:
    """Return chunks of a source, in an order that is always the same.

    All columns, or only some; at most so many rows, or as many as are quickly added up; after
    the part and place of the last chunk that is not wanted.
    """
    if isinstance(source, (str, os.PathLike)):
        source = dataset(source)
    rows = _rows(source, columns) if rows is None else rows
    if is_dataset(source):
        return _of_dataset(source, columns, rows, after)
    result = (Chunk(part, 0, place) for place, part in enumerate(_parts(source, columns, rows)))
    return (chunk for chunk in result if after is None or (chunk.part, chunk.place) > after)


def _rows(source: Any, columns: Sequence[str] | None) -> int:
    """Return a number of rows with enough cells to make up for the overhead of a chunk."""
    names = source.schema.names if columns is None and is_dataset(source) else columns
    return ROWS if names is None else max(1, min(_LARGE, _CELLS // max(1, len(names))))


def _parts(source: Any, columns: Sequence[str] | None, rows: int) -> Iterable[Any]:
    """Return tables of a lazy one, or what an iterable yields."""
    if is_reader(source):
        return (chosen(table, columns) for table in _tables(source))
    if is_pyarrow_table(source):
        return _tables(chosen(source, columns).to_batches(rows))
    if is_polars_lazyframe(source):
        plan: Any = chosen(source, columns)
        return plan.collect_batches(chunk_size=rows, maintain_order=True)
    if is_duckdb_relation(source):
        relation = chosen(source, columns)
        # The second is the former name.
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return _tables(reader(rows))
    if isinstance(lazy := nw.from_native(source, pass_through=True), nw.LazyFrame):  # as Spark's
        table: Any = nw.from_native(chosen(lazy, columns)).collect(backend="pyarrow").to_native()
        return _tables(table.to_batches(rows))
    in_memory = isinstance(source, Mapping) or getattr(source, "shape", None) is not None
    if in_memory or not isinstance(source, Iterable):
        raise DataError(
            "source: must be chunks of rows, a path, or a lazy table of pyarrow, polars, DuckDB, "
            f"Dask or Spark; got {type(source).__name__}. What fits into memory goes to "
            "model.statistic."
        )
    return source


def chosen(table: Any, columns: Sequence[str] | None) -> Any:
    """Return some columns of a table, lazy or not."""
    if columns is None:
        return table
    frame = nw.from_native(table)
    _check_columns(frame.collect_schema().names(), columns)
    return frame.select(*columns).to_native()


def dataset(*paths: str | os.PathLike[str]) -> Any:
    """Return files as an Arrow data set, of each path in the order of their names."""
    import pyarrow.dataset as ds

    result: list[str] = []
    for path in paths:
        files = _files(os.fspath(path))
        if not files or not all(Path(file).is_file() for file in files):
            raise DataError(f"source: there is no file {os.fspath(path)!r}.")
        result += files
    if len({Path(file).resolve() for file in result}) < len(result):
        raise DataError(
            f"source: a file is named twice in {result}; its rows would be counted twice."
        )
    kinds = {_FORMATS.get(Path(file).suffix) for file in result}
    if len(kinds) > 1 or None in kinds:
        files = [os.fspath(path) for path in paths]
        raise DataError(f"source: files must all end in one of {', '.join(_FORMATS)}; got {files}.")
    (kind,) = kinds
    form: Any = kind
    if kind == "parquet":
        # Of files on a disk nothing is gained by holding whole row groups as they were written.
        scan = ds.ParquetFragmentScanOptions(pre_buffer=False)
        form = ds.ParquetFileFormat(default_fragment_scan_options=scan)
    with _readable(result[0]):
        opened = ds.dataset(result, format=form)
        return opened if kind != "csv" else ds.dataset(result, format=form, schema=_of_text(opened))


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Raise a `DataError` for a file that is damaged, gone, no text, or of mixed types."""
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"source: {path!r} is no UTF-8 text. Save it as UTF-8.") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OSError) as error:
        # Types of text are those of the first megabyte.
        say = " Say what columns hold: give a pyarrow.dataset.dataset(..., schema=...)."
        hint = say if path.endswith(".csv") and "conversion" in str(error) else ""
        raise DataError(f"source: {path!r} cannot be read: {error}.{hint}") from None


def _of_text(opened: Any) -> Any:
    """Return the types in which cells of all files of text can be read, under the first heading."""
    import pyarrow as pa

    seen: dict[str, set[Any]] = {name: set() for name in opened.schema.names}
    for fragment in opened.get_fragments():
        with _readable(fragment.path):
            types = [(field.name, field.type) for field in fragment.physical_schema]
        for name, type_ in types:
            if pa.types.is_binary(type_):
                raise DataError(
                    f"source: column {name!r} of {fragment.path!r} is no UTF-8 text. Save it as "
                    "UTF-8."
                )
            seen.setdefault(name, set()).add(type_)
    return pa.schema([(name, _of_all(seen[name])) for name in opened.schema.names])


def _of_all(types: set[Any]) -> Any:
    """Return the type in which no cell of a column of text loses anything."""
    import pyarrow as pa

    known = types - {pa.null()}
    if known == {pa.int64(), pa.float64()}:
        return pa.float64()
    return pa.string() if len(known) > 1 else (known or types).pop()


def _files(text: str) -> list[str]:
    """Return the files of a path, a glob or a folder."""
    if Path(text).is_dir():
        return sorted(str(file) for file in Path(text).rglob("*") if file.suffix in _FORMATS)
    return sorted(glob.glob(text)) if glob.has_magic(text) else [text]  # noqa: PTH207 - strings


def _of_dataset(
    source: Any, columns: Sequence[str] | None, rows: int, after: tuple[int, int] | None
) -> Iterator[Chunk]:
    import pyarrow as pa

    _check_columns(source.schema.names, columns)
    kinds: dict[str, Any] = {}
    for part, fragment in enumerate(source.get_fragments()):
        if after is not None and part < after[0]:
            continue
        schema = _file_schema(fragment, source.schema, columns, kinds)
        result = fragment.to_batches(
            schema=schema, columns=schema.names, batch_size=rows, batch_readahead=1
        )
        place = 0
        with _readable(getattr(fragment, "path", "a part")):
            for batch in result:
                if batch.num_rows and (after is None or (part, place) > after):
                    yield Chunk(pa.Table.from_batches([batch]), part, place)
                place += 1


def _file_schema(fragment: Any, of_all: Any, columns: Sequence[str] | None, known: Any) -> Any:
    """Return the schema by which a file is read: the wanted columns in the types of that file.

    Refuse a file that lacks columns or has others, or types of another kind than those `known` of
    the files before it: Arrow would make up cells, and turn dates or text into numbers. Files of
    text have the types of all.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    schema, path = fragment.physical_schema, getattr(fragment, "path", "a part")
    text = getattr(getattr(fragment, "format", None), "default_extname", "csv") in ("csv", "json")
    in_path = ds.get_partition_keys(fragment.partition_expression)
    wanted = of_all.names if columns is None else list(columns)
    others = [name for name in schema.names if name not in of_all.names] if columns is None else []
    lacking = [name for name in wanted if name not in schema.names and name not in in_path]
    if lacking or others:
        does = f"has no column {lacking[0]!r}" if lacking else f"has a column {others[0]!r}, too"
        raise DataError(
            f"source: {path!r} {does}; the first file's are {of_all.names}. Name columns that all "
            "files have, or give a list of frames."
        )
    fields = []
    for name in wanted:
        field = of_all.field(name) if text or name in in_path else schema.field(name)
        kind = _kind(field.type)
        if kind != (before := known.setdefault(name, (kind, field.type)))[0]:
            if "null" not in (kind, before[0]):
                raise DataError(
                    f"source: {path!r} holds column {name!r} as {field.type}, files before it as "
                    f"{before[1]}. Write all files with one type."
                )
            known[name] = before if kind == "null" else (kind, field.type)
        fields.append(field)
    return pa.schema(fields)


def _kind(type_: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(type_):
        return _kind(type_.value_type)
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return "text"
    if types.is_timestamp(type_):
        return f"time in zone {type_.tz}"
    numeric = types.is_integer, types.is_floating, types.is_decimal, types.is_boolean
    return "number" if any(is_one(type_) for is_one in numeric) else str(type_)


def _tables(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    return (pa.Table.from_batches([batch]) for batch in batches if batch.num_rows)


def _check_columns(known: Sequence[str], wanted: Sequence[str] | None) -> None:
    for column in wanted or ():
        if column not in known:
            raise DataError(f"columns: the source has no column {column!r}; it has {list(known)}.")
