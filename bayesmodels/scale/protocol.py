"""What lazy tables and arrays of other libraries are known by, without importing these."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Fragmented(Protocol):
    """A data set of Arrow: files that are read one after the other."""

    schema: Any

    def get_fragments(self) -> Any: ...
    def count_rows(self) -> int: ...


@runtime_checkable
class Batched(Protocol):
    """A table of Arrow."""

    def to_batches(self, rows: int, /) -> Any: ...


@runtime_checkable
class BatchReader(Protocol):
    """A stream of Arrow, which can be read once."""

    def __iter__(self) -> Any: ...
    def read_next_batch(self) -> Any: ...


@runtime_checkable
class LazyFrame(Protocol):
    """A plan of Polars."""

    def select(self, columns: Any, /) -> Any: ...
    def collect_batches(self, *, chunk_size: int, maintain_order: bool) -> Any: ...


@runtime_checkable
class Columned(Protocol):
    """A table."""

    columns: Any

    def __getitem__(self, names: Any, /) -> Any: ...


@runtime_checkable
class Chunked(Protocol):
    """An array of Dask."""

    chunks: Any
    ndim: int

    def rechunk(self, chunks: Any, /) -> Any: ...


@runtime_checkable
class Shaped(Protocol):
    """An array, all of which is in memory."""

    shape: Any
