"""Any common container -> one array with the names that came along.

Lists, NumPy arrays, and pandas, polars and Arrow series and tables, the latter three read through
narwhals. Missing entries are refused here, whatever their container calls them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import DataError

Values = NDArray[Any]


@dataclass(frozen=True)
class Block:
    """One argument as read: values with rows on axis 0, and the names that came along.

    ``missing`` marks the entries that are not there; None where all are. ``square`` is the sum of
    the squares of all entries, where it is known: one quick look at many numbers. ``levels``, only
    for those who ask for them, are the labels of which the values are places.
    """

    argument: str
    values: Values
    columns: tuple[Hashable, ...] | None = None
    index: Any = None
    missing: NDArray[np.bool_] | None = None
    square: float | None = None
    levels: Values | None = None

    def row_labels(self) -> Sequence[Hashable]:
        """Return the index, or row numbers where there is none or it repeats itself."""
        if self.index is not None and self.index.is_unique:
            labels: Sequence[Hashable] = self.index
            return labels
        return range(self.values.shape[0])

    def without_columns(self) -> Block:
        """Return the block without column names."""
        return Block(self.argument, self.values, None, self.index)


def read(
    data: Any,
    argument: str,
    *,
    bare: bool = False,
    scalar_row: bool = False,
    vector_row: bool = False,
    missing: bool = False,
    coded: bool = False,
) -> Block:
    """Read any container; a lone number (or vector) may stand for one row where that is clear.

    Missing entries are refused, or else (``missing=True``) are NaN among numbers and None among
    other values, and marked. With ``coded=True`` the values of a column of text may be places in
    the block's levels, if that is how the container keeps them.
    """
    if isinstance(data, Block):
        return data
    if coded and (encoded := _encoded(data, argument)) is not None:
        return encoded
    if isinstance(data, (np.ndarray, list, tuple, int, float, np.generic)):
        block = Block(argument, _array(data, argument, missing=missing))
    else:
        block = _foreign(data, argument, missing=missing)
    values = block.values
    if values.ndim == 0 and not bare:
        if not scalar_row:
            msg = (
                f"{argument}: must have rows, got the single value {shown(values[()])}; write [x]."
            )
            raise DataError(msg)
        values = values[None]
    if vector_row and values.ndim == 1:
        counting = block.index is None or type(block.index).__name__ == "RangeIndex"
        return Block(argument, values[None], None if counting else tuple(block.index))
    if not missing:
        return Block(argument, values, block.columns, block.index)
    square = sum_of_squares(values)
    gone = None if square is not None and not np.isnan(square) else _missing(values)
    return Block(argument, values, block.columns, block.index, gone, square)


def read_columns(data: Any, argument: str) -> tuple[Block, tuple[Values, ...]] | None:
    """Return the columns of a frame of numbers as they are, neither looked at nor put together.

    They come with a block of the first of them, which has the names of all and the index. What is
    missing is NaN. None if `data` are no such frame, or have columns that are no numbers.
    """
    if isinstance(data, (np.ndarray, list, tuple, Block)) or hasattr(data, "tocsr"):
        return None
    import narwhals as nw

    native = wrapped(data, argument)
    if not isinstance(native, nw.DataFrame) or not native.columns:
        return None
    kinds = (nw.dtypes.NumericType, nw.Boolean)
    if not all(isinstance(kind, kinds) for kind in native.schema.values()):
        return None
    arrays = tuple(column.to_numpy() for column in native.iter_columns())
    if not all(values.dtype.kind in "biuf" for values in arrays):
        return None
    names, index = tuple(native.columns), nw.maybe_get_index(native)
    return Block(argument, arrays[0], names, index), arrays


def _array(data: Any, argument: str, *, missing: bool = False) -> Values:
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        gone = np.ma.getmaskarray(data)
        if not missing:
            raise DataError(missing_message(argument, gone))
        return _with_gaps(_plain(np.asarray(data.data, dtype=object)[~gone], argument), gone)
    try:
        values = np.asarray(data)
    except ValueError as error:  # ragged lists
        msg = f"{argument}: rows must have the same length ({error})."
        raise DataError(msg) from None
    if values.dtype == object or values.dtype.kind in "US":
        return _plain(np.asarray(data, dtype=object), argument, missing=missing)
    return values


def _foreign(data: Any, argument: str, *, missing: bool = False) -> Block:
    import narwhals as nw

    refused = (Iterator, set, dict, str, bytes, type(None))
    if isinstance(data, refused) or hasattr(data, "tocsr"):
        msg = (
            f"{argument}: must be an array, a list, or a series or frame of pandas, polars or "
            f"Arrow; got {type(data).__name__}. Turn it into one of these first."
        )
        raise DataError(msg)
    native = wrapped(data, argument)
    if isinstance(native, nw.Series):
        values = _series(native, argument, missing=missing)
        return Block(argument, values, None, nw.maybe_get_index(native))
    if isinstance(native, nw.DataFrame):
        names = tuple(native.columns)
        if not names:
            msg = f"{argument}: must have at least one column; the frame has none."
            raise DataError(msg)
        columns = zip(names, native.iter_columns(), strict=True)
        arrays = [
            _series(column, f"{argument}[{name!r}]", missing=missing) for name, column in columns
        ]
        return Block(argument, np.stack(arrays, axis=1), names, nw.maybe_get_index(native))
    values = _array(data, argument, missing=missing)
    if values.ndim == 0 and values.dtype == object:
        msg = (
            f"{argument}: must be an array, a list, or a series or frame of pandas, polars or "
            f"Arrow; got {type(data).__name__}."
        )
        raise DataError(msg)
    return Block(argument, values)


def _encoded(data: Any, argument: str) -> Block | None:
    """Return the codes of categories of text in pandas or Arrow; None of anything else."""
    library = type(data).__module__.split(".")[0]
    if library == "pandas" and hasattr(getattr(data, "dtype", None), "categories"):
        levels = np.asarray(data.dtype.categories, dtype=object)
        codes, index = getattr(data, "cat", data).codes, getattr(data, "index", None)
        codes = np.asarray(codes)
        gone = bool((codes < 0).any())
    elif library == "pyarrow" and hasattr(getattr(data, "type", None), "index_type"):
        whole = data.combine_chunks() if hasattr(data, "combine_chunks") else data
        levels = np.array(whole.dictionary.to_pylist(), dtype=object)
        gone, index = whole.null_count > 0, None
        codes = np.zeros(0, np.int8) if gone else whole.indices.to_numpy()
    else:
        return None
    if gone or not all(type(level) is str for level in levels):
        return None
    return Block(argument, codes, None, index, levels=levels)


def wrapped(data: Any, argument: str) -> Any:
    """Wrap a series or frame of any library for narwhals; return anything else as it is."""
    import narwhals as nw

    if type(data).__module__.startswith("pyarrow"):
        import pyarrow as pa

        if isinstance(data, pa.Array):
            data = pa.chunked_array([data])
        elif isinstance(data, pa.RecordBatch):
            data = pa.Table.from_batches([data])
    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        twice = ", ".join(line.strip("- ") for line in str(error).splitlines()[1:])
        msg = f"{argument}: column names must differ; got {twice}. Rename or drop one."
        raise DataError(msg) from None
    if isinstance(native, nw.LazyFrame):
        msg = f"{argument}: a lazy frame has no rows yet; call .collect() first."
        raise DataError(msg)
    return native


def _series(series: Any, argument: str, *, missing: bool = False) -> Values:
    gone = series.is_null()
    if not gone.any():
        values = series.to_numpy()
        return _plain(values, argument, missing=missing) if values.dtype == object else values
    if not missing:
        raise DataError(missing_message(argument, gone.to_numpy().astype(bool)))
    here = series.filter(~gone).to_numpy()
    here = _plain(here, argument) if here.dtype == object else here
    return _with_gaps(here, gone.to_numpy().astype(bool))


def _plain(values: Values, argument: str, *, missing: bool = False) -> Values:
    """Give an object array its natural dtype; refuse missing entries, or make them all alike."""
    import pandas as pd

    gone = np.asarray(pd.isna(values))
    if gone.any():
        if not missing:
            raise DataError(missing_message(argument, gone))
        return _with_gaps(_plain(values[~gone], argument), gone)
    flat = values.ravel()
    if all(isinstance(v, (bool, np.bool_)) for v in flat) and flat.size:
        return values.astype(bool)
    if all(isinstance(v, (int, float, np.number)) for v in flat) and flat.size:
        return np.array(flat.tolist()).reshape(values.shape)
    return values


def _with_gaps(here: Values, gone: Values) -> Values:
    """Spread values over the places that have one: NaN elsewhere, None if they are no numbers."""
    numeric = here.dtype.kind in "iuf"
    result = np.full(gone.shape, np.nan if numeric else None, dtype=float if numeric else object)
    result[~gone] = here
    return result


def sum_of_squares(values: Values) -> float | None:
    """Return the sum of squares, NaN only if an entry is; None where it takes longer than a look.

    Examples
    --------
    >>> sum_of_squares(np.array([np.inf, -np.inf])), sum_of_squares(np.array([1.0, np.nan]))
    (inf, nan)
    """
    if values.dtype != np.float64 or not values.flags.c_contiguous:
        return None
    with np.errstate(all="ignore"):
        return float(np.vdot(values, values))


def _missing(values: Values) -> NDArray[np.bool_] | None:
    """Return which entries are NaN or None; None where there is no such entry."""
    if values.dtype.kind == "f":
        gone = np.isnan(values)
    elif values.dtype == object:
        import pandas as pd

        gone = np.asarray(pd.isna(values))  # columns of several kinds may have NaN as well as None
    else:
        return None
    return gone if gone.any() else None


def present(block: Block) -> Values:
    """Return the entries of a block that are there, in one row after the other."""
    if block.missing is None:
        return block.values.ravel()
    here = block.values[~block.missing]
    return _plain(here, block.argument) if here.dtype == object else here


def first(bad: Values) -> tuple[int, ...]:
    """Return the index of the first true entry."""
    return tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))


def where(at: tuple[int, ...]) -> str:
    """Say in words which entry an index is."""
    if not at:
        return "it"
    row, *rest = at
    return f"row {row}" + (f", column {', '.join(map(str, rest))}" if rest else "")


def shown(value: Any) -> str:
    """Show a value as its owner wrote it: 3, not np.int64(3)."""
    return repr(value.item() if isinstance(value, np.generic) else value)


DROP_ROWS = " Drop these rows first."


def missing_message(argument: str, missing: Values) -> str:
    """Return the complaint about missing entries."""
    if missing.ndim == 0:
        return f"{argument}: must not be missing (NaN, None or NA)."
    return (
        f"{argument}: missing values are not allowed; {int(missing.sum())} of {missing.size} are "
        f"missing, the first in {where(first(missing))}.{DROP_ROWS}"
    )
