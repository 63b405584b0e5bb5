"""Some of the rows of any data, in the containers that they came in."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

from bayesmodels.input.containers import read, wrapped
from bayesmodels.input.wrappers import (
    PER_ROW,
    BinomialCounts,
    Censored,
    Counts,
    Grouped,
    MultinomialCounts,
)


def readable(model: Any, data: Any) -> Any:
    """Return the data in containers from which rows can be taken, with all groups listed."""
    if isinstance(data, Grouped):
        groups = next(iter(model.coords.values()))
        return replace(data, rows=readable(model, data.rows), groups=groups)
    if isinstance(data, (BinomialCounts, Censored)):
        return type(data)(*(np.atleast_1d(getattr(data, name)) for name in PER_ROW[type(data)]))
    if isinstance(data, Counts) and not np.ndim(data.exposure):
        n = len(read(data.values, "values", scalar_row=True).values)
        return replace(data, exposure=np.full(n, data.exposure))
    if isinstance(data, MultinomialCounts) and np.ndim(data.counts) == 1:
        return MultinomialCounts(read(data.counts, "counts", vector_row=True).values)
    if isinstance(data, tuple) and len(data) != 2:  # noqa: PLR2004 - no pair (X, y), but rows
        return list(data)
    return data


def rows_at(data: Any, at: Any) -> Any:  # noqa: PLR0911 - a table
    """Return the rows at a slice or at places, in the same containers."""
    if isinstance(data, Mapping):
        return {name: rows_at(part, at) for name, part in data.items()}
    if isinstance(data, tuple):
        return tuple(rows_at(part, at) for part in data)
    if (names := PER_ROW.get(type(data))) is not None:
        return replace(data, **{name: rows_at(getattr(data, name), at) for name in names})
    if isinstance(data, list) and not isinstance(at, slice):
        return [data[i] for i in at]
    if is_pandas_dataframe(data) or is_pandas_series(data):
        return data.iloc[at]
    frame = wrapped(data, "data")
    if isinstance(frame, (nw.DataFrame, nw.Series)):
        places = np.arange(len(frame))[at].tolist()
        return frame[places].to_native()
    return data[at]


def row_labels(rows: Any, number: int) -> Sequence[Hashable]:
    """Return the labels of a frame's index, or numbers where there is none or it repeats itself."""
    if (is_pandas_dataframe(rows) or is_pandas_series(rows)) and rows.index.is_unique:
        return tuple(rows.index)
    return range(number)
