"""Any common container -> one array with the names that came along.

Lists, NumPy arrays, and pandas, polars and Arrow series and tables, the latter three read through
narwhals. Missing entries are refused here, whatever their container calls them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesmodels.errors import DataError
from bayesmodels.input.labels import unique

Values = NDArray[Any]

NUMBERS = (int, float, np.number, np.bool_)
"""What an array of objects may hold in order to become an array of numbers."""

_TIMES = {"M": "datetime64[us]", "m": "timedelta64[us]"}
"""Of which NumPy makes objects of Python; finer ones become numbers."""


@dataclass(frozen=True)
class Argument:
    """One argument as read: values with rows on axis 0, and the names that came along.

    ``missing`` marks the entries that are not there; None where all are. ``levels`` are labels of
    which the values are the places; None where values are themselves. ``square`` is the sum of the
    squares of all entries, where it was looked at.
    """

    argument: str
    values: Values
    columns: tuple[Hashable, ...] | None = None
    index: Any = None
    missing: NDArray[np.bool_] | None = None
    levels: tuple[Hashable, ...] | None = None
    square: float | None = None

    def row_labels(self) -> Sequence[Hashable]:
        """Return the index, or row numbers where there is none or it repeats itself."""
        if self.index is None or not self.index.is_unique:
            return range(self.values.shape[0])
        labels: Sequence[Hashable] = self.index
        return labels

    def without_columns(self) -> Argument:
        """Return the block without column names."""
        return replace(self, columns=None)


def read(
    data: Any,
    argument: str,
    *,
    bare: bool = False,
    scalar_row: bool = False,
    vector_row: bool = False,
    missing: bool = False,
) -> Argument:
    """Read any container; a lone number (or vector) may stand for one row where that is clear.

    Missing entries are refused, or else (``missing=True``) are NaN among numbers and None among
    other values, and marked.
    """
    if isinstance(data, Argument):
        return data
    columns: tuple[Hashable, ...] | None = None
    index: Any = None
    if isinstance(data, (np.ndarray, list, tuple, int, float, np.generic)):
        try:
            values = np.asarray(data)
        except ValueError as error:  # ragged lists
            raise DataError(f"{argument}: rows must have the same length ({error}).") from None
        if values.dtype.kind in "OUS" or isinstance(data, np.ma.MaskedArray):
            values = _objects(data, argument, missing=missing)
    else:
        block = _foreign(data, argument, missing=missing)
        argument, values, columns, index = block.argument, block.values, block.columns, block.index
    if values.dtype.kind in "iuf" and not (values.dtype.isnative and values.dtype.char not in "eg"):
        values = _usual(values)
    if values.ndim == 0 and not bare:
        if not scalar_row:
            raise DataError(
                f"{argument}: must have rows, got the single value {shown(values[()])}; write [x]."
            )
        values = values[None]
    if vector_row and values.ndim == 1:
        counting = index is None or type(index).__name__ == "RangeIndex"
        return Argument(argument, values[None], None if counting else tuple(index))
    if not missing:
        return Argument(argument, values, columns, index)
    square = sum_of_squares(values)  # tells of doubles at one quick look
    gone = None if square is not None and not np.isnan(square) else missing_entries(values)
    return Argument(argument, values, columns, index, gone, square=square)


def read_columns(data: Any, argument: str) -> tuple[Argument, tuple[Values, ...]] | None:
    """Return the columns of a frame of numbers, unchecked and not stacked into a matrix.

    They come with a block of the first of them, which has the names of all and the index. What is
    missing is NaN. None if `data` are no such frame, or have columns that are no numbers.
    """
    if isinstance(data, (np.ndarray, list, tuple, Argument)):
        return None
    values = _pandas_numbers(data)
    if values is not None and values.ndim > 1 and values.size and data.columns.is_unique:
        names = unique(tuple(data.columns.tolist()), f"{argument}: column names")
        return Argument(argument, values[:, 0], names, data.index), tuple(values.T)
    import narwhals as nw

    native = wrapped(data, argument)
    if not isinstance(native, nw.DataFrame) or not native.columns:
        return None
    if not all(kind.is_numeric() or kind == nw.Boolean for kind in native.schema.values()):
        return None
    arrays = tuple(
        _numpy(column, f"{argument}[{column.name!r}]") for column in native.iter_columns()
    )
    if not all(values.dtype.kind in "biuf" for values in arrays):
        return None
    names, index = _names(native, argument), nw.maybe_get_index(native)
    return Argument(argument, arrays[0], names, index), arrays


def read_codes(data: Any, argument: str, levels: tuple[Hashable, ...] | None) -> Argument | None:
    """Return a series or frame of labels as places among the levels, without touching each label.

    Labels are looked up once for each entry of a dictionary, which categorical series have and
    strings are given by Arrow. None where data are anything else, a label is missing or is none of
    the levels, or labels are neither all strings nor all whole numbers.
    """
    if levels is None or isinstance(data, (np.ndarray, list, tuple, Argument)):
        return None
    if not _one_kind(levels):
        return None
    import narwhals as nw

    native = wrapped(data, argument)
    frame = isinstance(native, nw.DataFrame)
    if not frame and not isinstance(native, nw.Series):
        return None
    columns = []
    for column in native.iter_columns() if frame else [native]:
        codes = _codes(column, levels)
        if codes is None:
            return None
        columns.append(codes)
    if not columns:
        return None
    names, index = _names(native, argument) if frame else None, nw.maybe_get_index(native)
    values = np.stack(columns).T if frame else columns[0]
    return Argument(argument, values, names, index, levels=levels)


def _codes(series: Any, levels: tuple[Hashable, ...]) -> Values | None:
    import narwhals as nw
    import pyarrow as pa

    if not isinstance(series.dtype, (nw.String, nw.Categorical, nw.Enum)) or not len(series):
        return None
    labels = series.to_arrow()
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.unify_dictionaries().combine_chunks()
    if not isinstance(labels, pa.DictionaryArray):
        labels = labels.dictionary_encode()
    if labels.null_count or labels.dictionary.null_count:
        return None
    known = labels.dictionary.to_pylist()
    if not _one_kind([*levels, *known]):
        return None
    place = {level: i for i, level in enumerate(levels)}
    table = np.array([place.get(label, -1) for label in known], np.min_scalar_type(-len(levels)))
    codes = table.take(labels.indices.to_numpy(zero_copy_only=False))
    return None if (table < 0).any() and (codes < 0).any() else codes


def _one_kind(labels: Sequence[Any]) -> bool:
    """Return whether labels are all strings or all whole numbers: then equal ones are the same."""
    return all(isinstance(label, str) for label in labels) or all(
        isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in labels
    )


def _usual(values: Values) -> Values:
    """Return numbers in this machine's byte order, and no halves or long doubles.

    Compiled code elsewhere knows none of these.
    """
    if values.dtype.kind in "iuf" and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.char == "e":
        return values.astype(np.float32)
    if values.dtype.char == "g" and values.dtype.itemsize > np.dtype(float).itemsize:
        with np.errstate(over="ignore"):  # infinity is refused where numbers are read
            return values.astype(np.float64)
    return values


def _objects(data: Any, argument: str, *, missing: bool) -> Values:
    """Return text, objects or masked values as an array in its natural dtype."""
    if isinstance(data, np.ma.MaskedArray):
        gone = np.ma.getmaskarray(data)
        if gone.any() and not missing:
            raise DataError(missing_message(argument, gone))
        if gone.any():
            here = np.asarray(data.data, dtype=object)[~gone]
            return _with_gaps(_plain(here, argument), gone)
        if data.dtype.kind not in "OUS":
            return np.asarray(data)
    return _plain(np.asarray(data, dtype=object), argument, missing=missing)


def _foreign(data: Any, argument: str, *, missing: bool) -> Argument:
    numbers = _pandas_numbers(data)
    if numbers is not None and numbers.ndim == 1 and not np.isnan(numbers).any():
        return Argument(_named(argument, data.name), numbers, None, data.index)
    import narwhals as nw

    refused = (Iterator, set, dict, str, bytes, type(None))
    if isinstance(data, refused) or issparse(data):
        raise DataError(_no_container(argument, data))
    native = wrapped(data, argument)
    if isinstance(native, nw.Series):
        argument = _named(argument, native.name)
        values = _series(native, argument, missing=missing)
        return Argument(argument, values, None, nw.maybe_get_index(native))
    if isinstance(native, nw.DataFrame):
        return _frame(native, argument, missing=missing)
    try:
        values = np.asarray(data)
    except TypeError:  # as datasets of xarray say
        raise DataError(_no_container(argument, data)) from None
    if values.dtype.kind in "OUS":
        values = _objects(values, argument, missing=missing)
    if values.ndim == 0 and values.dtype == object:
        raise DataError(_no_container(argument, data))
    axes = []
    if type(data).__name__ == "DataArray":
        axes = [data.indexes.get(axis) for axis in data.dims]
    index, *others = axes or [None]
    table = len(others) == 1 and others[0] is not None
    columns = unique(tuple(others[0]), f"{argument}: column names") if table else None
    return Argument(argument, values, columns, index)


def _frame(frame: Any, argument: str, *, missing: bool) -> Argument:
    import narwhals as nw

    names = _names(frame, argument)
    if not names:
        raise DataError(f"{argument}: must have at least one column; the frame has none.")
    columns = zip(names, frame.iter_columns(), strict=True)
    arrays = [_series(column, f"{argument}[{name!r}]", missing=missing) for name, column in columns]
    if len({values.dtype.kind in "mM" for values in arrays}) > 1:  # times beside other things
        arrays = [a.astype(_TIMES.get(a.dtype.kind, a.dtype)).astype(object) for a in arrays]
    # One column after the other in memory, as frames have them.
    return Argument(argument, np.stack(arrays).T, names, nw.maybe_get_index(frame))


def _no_container(argument: str, data: Any) -> str:
    return (
        f"{argument}: must be an array, a list, or a series or frame of pandas, polars or Arrow; "
        f"got {type(data).__name__}. Turn it into one of these first."
    )


def _pandas_numbers(data: Any) -> Values | None:
    """Return the values of a pandas series or frame that has one dtype, NumPy's and of numbers.

    What narwhals does for containers of all kinds takes longer than an update by some hundred rows.
    """
    from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

    if is_pandas_series(data):
        kinds = {data.dtype}
    elif is_pandas_dataframe(data):
        kinds = set(data.dtypes)
    else:
        return None
    one = kinds.pop() if len(kinds) == 1 else None
    return data.to_numpy() if isinstance(one, np.dtype) and one.kind in "biuf" else None


def series_name(data: Any) -> Hashable | None:
    """Return the name of a series; None for any other data."""
    import narwhals as nw

    series = nw.from_native(data, allow_series=True, pass_through=True)
    return series.name if isinstance(series, nw.Series) else None


def _named(argument: str, name: Hashable) -> str:
    """Return the argument's name in messages, with that of a series as of a frame's column."""
    label = f"[{name!r}]"
    return argument if name in (None, "") or argument.endswith(label) else argument + label


def _names(frame: Any, argument: str) -> tuple[Hashable, ...]:
    return unique(tuple(frame.columns), f"{argument}: column names")


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
        raise DataError(
            f"{argument}: column names must differ; got {twice}. Rename or drop one."
        ) from None
    if isinstance(native, nw.LazyFrame):
        raise DataError(f"{argument}: a lazy frame has no rows yet; call .collect() first.")
    return native


def _numpy(series: Any, argument: str) -> Values:
    """Return the values of a series, if each is one value of a kind that NumPy has."""
    import narwhals as nw

    if isinstance(series.dtype, nw.Decimal):
        return np.array([np.nan if value is None else float(value) for value in series.to_list()])
    if not isinstance(series.dtype, (nw.Struct, nw.List, nw.Array, nw.Int128, nw.UInt128)):
        # PyArrow makes no array of a union; the complaint is the same as of other columns of parts.
        with suppress(NotImplementedError):
            return np.asarray(series.to_numpy())
    kind = getattr(series.to_native(), "dtype", None) or series.to_native().type
    raise DataError(
        f"{argument}: must hold one number or label a row, of a type that NumPy has; got a column "
        f"of {kind}. Take it apart or cast it first."
    )


def _series(series: Any, argument: str, *, missing: bool = False) -> Values:
    gone = series.is_null()
    if not gone.any():
        values = _numpy(series, argument)
        return _plain(values, argument, missing=missing) if values.dtype == object else values
    if not missing:
        raise DataError(missing_message(argument, gone.to_numpy().astype(bool)))
    here = _numpy(series.filter(~gone), argument)
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
    if all(isinstance(v, NUMBERS) for v in flat) and flat.size:
        return np.array(flat.tolist()).reshape(values.shape)
    return values


def _with_gaps(here: Values, gone: Values) -> Values:
    """Fill values into the places that are not missing; elsewhere NaN, or None if not numeric."""
    numeric = here.dtype.kind in "iuf"
    result = np.full(gone.shape, np.nan if numeric else None, dtype=float if numeric else object)
    result[~gone] = here
    return result


def sum_of_squares(values: Values) -> float | None:
    """Return the sum of squares, NaN only if an entry is; None where it needs a copy."""
    if values.dtype != np.float64 or not values.flags.forc:
        return None
    flat = values.ravel(order="K")
    with np.errstate(all="ignore"):
        return float(np.vdot(flat, flat))


def missing_entries(values: Values) -> NDArray[np.bool_] | None:
    """Return which entries are NaN, NaT or None; None where there is no such entry."""
    if values.dtype.kind == "f":
        gone = np.isnan(values)
    elif values.dtype.kind in "mM":
        gone = np.isnat(values)
    elif values.dtype == object:
        import pandas as pd

        gone = np.asarray(pd.isna(values))  # columns of several kinds may have NaN as well as None
    else:
        return None
    return gone if gone.any() else None


def present(block: Argument) -> Values:
    """Return the entries of a block that are not missing, flattened row by row."""
    if block.missing is None:
        return block.values.ravel()
    here = block.values[~block.missing]
    return _plain(here, block.argument) if here.dtype == object else here


def same_rows(left: Argument, right: Argument) -> Argument:
    """Check that two arguments have the same rows: as many, and under the same index.

    Return the first one, under the index of the second if it has none: the next argument may have
    one as well.
    """
    if left.values.shape[0] != right.values.shape[0]:
        raise DataError(
            f"{right.argument}: must have as many rows as {left.argument}; got "
            f"{right.values.shape[0]} and {left.values.shape[0]}."
        )
    if left.index is None:
        return left if right.index is None else replace(left, index=right.index)
    if right.index is not None and not left.index.equals(right.index):
        raise DataError(
            f"{right.argument}: must have the index of {left.argument}, row for row. Align them "
            "(b.loc[a.index]) or drop the index (.to_numpy())."
        )
    return left


def same_cells(left: Argument, right: Argument) -> Argument:
    """Check that two arguments have the same rows and columns, as far as they have names."""
    if left.columns and right.columns and left.columns != right.columns:
        raise DataError(
            f"{right.argument}: must have the columns of {left.argument} {left.columns}, in this "
            f"order; got {right.columns}. Reorder the columns."
        )
    return same_rows(left, right)


def first(bad: Values) -> tuple[int, ...]:
    """Return the index of the first true entry."""
    return tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))


def where(at: tuple[int, ...], columns: Sequence[Hashable] | None = None) -> str:
    """Say in words which entry an index is, by the column's name if it has one."""
    if not at:
        return "it"
    row, *inner = at
    named = [shown(columns[inner[0]])] if columns and len(inner) == 1 else map(str, inner)
    return f"row {row}" + (f", column {', '.join(named)}" if inner else "")


def shown(value: Any) -> str:
    """Show a value as its owner wrote it: 3, not np.int64(3); of a long one the beginning."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def listed(labels: Sequence[Hashable]) -> str:
    """Show labels in a list; of many the first three and the last."""
    texts = [shown(label) for label in (labels if len(labels) <= _MOST_LISTED else labels[:3])]
    if len(labels) > _MOST_LISTED:
        texts += ["...", shown(labels[-1])]
    return f"[{', '.join(texts)}]"


def no_column(argument: str, name: str, frame: Any) -> DataError:
    """Return the error of a column that is not there."""
    there = [str(column) for column in frame]
    known = f"there is no column {name!r}; there are {listed(there)}."
    return DataError(f"{argument}: {known}{meant(name, there)}")


def meant(name: str, known: Iterable[str]) -> str:
    """Ask whether one of the known names was meant, if one is nearly the same.

    Examples
    --------
    >>> meant("yes", ["No", "Yes"]), meant("gausian", ["gaussian", "gamma"]), meant("x", ["yes"])
    (" Did you mean 'Yes'?", " Did you mean 'gaussian'?", '')
    """
    small = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), small, 1)
    return f" Did you mean {small[near[0]]!r}?" if near else ""


_LONG, _MOST_LISTED = 60, 20


def index_of(labels: Any) -> Any:
    """Return a pandas index of labels as they are; of strings it would make Arrow's otherwise."""
    import pandas as pd

    text = (
        labels.dtype == object
        if isinstance(labels, np.ndarray)
        else any(isinstance(label, str) for label in labels)
    )
    return pd.Index(labels, dtype=object if text else None, tupleize_cols=False)


def places(values: Values, levels: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the place of each value among labels that differ; -1 where it is none of them."""
    known = index_of(levels)
    try:
        return np.asarray(known.get_indexer(index_of(values)), dtype=np.intp)
    except TypeError:  # lists, say, which can be no labels
        import pandas as pd

        texts = [value if _hashable(value) else None for value in values]
        result = known.get_indexer(pd.Index(texts, dtype=object, tupleize_cols=False))
        return np.asarray(result, dtype=np.intp)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


DROP_ROWS = " Drop these rows first."


def missing_message(argument: str, missing: Values) -> str:
    """Return the error message about missing entries."""
    if missing.ndim == 0:
        return f"{argument}: must not be missing (NaN, None or NA)."
    return (
        f"{argument}: missing values are not allowed; {int(missing.sum())} of {missing.size} are "
        f"missing, the first in {where(first(missing))}.{DROP_ROWS}"
    )
