"""Statistics of files for models of the catalogue: what one machine makes of its share of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesmodels.command import catalog
from bayesmodels.command.catalog import Columns
from bayesmodels.errors import DataError
from bayesmodels.scale import statistic
from bayesmodels.scale.sources import dataset
from bayesmodels.store import is_npz, save

_COLUMN = ("beta-bernoulli", "concept-learning", "dirichlet-categorical", "normal-inverse-gamma")
_TABLE = ("normal-inverse-wishart",)
_CLASSES = ("naive-bayes", "discriminant-full", "discriminant-shared")
_LINE = ("linear-regression",)


def statistic_of_files(
    model: str,
    files: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Any:
    """Make the statistic of a model of the catalogue in one pass over files, and save it.

    While the pass runs its state is kept beside the output, in a file that ends in ``.pass``.

    Parameters
    ----------
    model : str
        Name in the catalogue.
    files : sequence of path-like
        Parquet, CSV or Feather files, globs, or folders of them.
    output : path-like
        Where to save the statistic, ``.json`` or ``.npz``.
    target, features
        As in `bayesmodels.command.catalog.Columns`.
    weights : str, optional
        Column of weights.
    categories : mapping, optional
        From a column to its categories, in order. Of other columns of text, and of classes, those
        in the files are taken, which a pass of its own finds.
    resume : bool, default False
        Go on with a pass that was stopped.
    progress : bool, default False
        Show a bar.

    Returns
    -------
    Statistic
        That was saved.

    Raises
    ------
    DataError
        If a model has no statistic, columns are not there, or a pass was stopped before and
        `resume` does not say what to do about it.
    """
    catalog.entry(model)
    if model not in (*_COLUMN, *_TABLE, *_CLASSES, *_LINE):
        msg = f"model: {model} has no statistic smaller than its rows. Use bm.scale in Python."
        raise DataError(msg)
    state = Path(f"{os.fspath(output)}.pass")
    if state.exists() and not resume:
        msg = f"resume: {str(state)!r} is a pass that was stopped. Go on with it, or remove it."
        raise DataError(msg)
    is_npz(output)  # before the work, not after it
    source = dataset(*files)
    schema = source.schema
    known = [name for name in schema.names if name != weights]
    if model in _TABLE:
        chosen = list(features or known)
        asked: dict[str, Any] = {"columns": chosen}
    else:
        if not known:
            msg = "target: the files have no column left for it; name one."
            raise DataError(msg)
        target = known[-1] if target is None else target
        chosen = list(features or [name for name in known if name != target])
        asked = {"target": target, "columns": chosen, "intercept": model in _LINE}
        if model in _COLUMN:
            chosen, asked = [], {"columns": target}
    used = [*chosen] if model in _TABLE else [*chosen, target]
    given = categories or {}
    every = {
        name: _categories(source, name, given.get(name))
        for name in used
        if name in given or _has_categories(source, model, name, target)
    }
    # Valid in a column of numbers, counts or bits; the game's numbers start at one.
    numbers = [1, 2] if model == "concept-learning" else [0, 1]
    frame = _example(source, used, every, numbers)
    belief, _ = catalog.from_frame(model, frame, Columns(target, features), {})
    found = statistic(belief, source, weights=weights, checkpoint=state, progress=progress, **asked)
    save(found, output)
    return found


def _has_categories(source: Any, model: str, name: str, target: str | None) -> bool:
    """Return whether a column is of categories: classes, and all text but what is a number."""
    import pyarrow as pa

    if name == target and model in (*_CLASSES, "dirichlet-categorical"):
        return True
    if name not in source.schema.names:
        msg = f"columns: there is no column {name!r}; there are {source.schema.names}."
        raise DataError(msg)
    kind = source.schema.field(name).type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    )


def _categories(source: Any, name: str, given: Sequence[str] | None) -> list[Any]:
    """Return a column's categories as given, or else those in the files, sorted."""
    import pyarrow as pa

    if name not in source.schema.names:
        msg = f"columns: there is no column {name!r}; there are {source.schema.names}."
        raise DataError(msg)
    if given is not None:
        kind = source.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        try:
            return pa.array(list(given), pa.string()).cast(kind).to_pylist()
        except pa.ArrowInvalid as error:
            msg = f"categories: those of {name!r} must be of its type {kind}: {error}"
            raise DataError(msg) from None
    found: set[Any] = set()
    for batch in source.to_batches(columns=[name], batch_readahead=2, fragment_readahead=1):
        found.update(batch.column(0).unique().to_pylist())
    return sorted(found - {None}, key=str)


def _example(
    source: Any,
    names: Sequence[Any],
    categories: Mapping[str, Sequence[Any]],
    numbers: Sequence[int],
) -> Any:
    """Return two rows of the same columns, which tell the catalogue all that a statistic needs."""
    import numpy as np
    import pandas as pd

    empty = source.schema.empty_table().select(list(names)).to_pandas()
    columns = {}
    for name in names:
        if name in categories:
            levels = list(categories[name])
            columns[name] = pd.Series(pd.Categorical(levels[:1] * 2, categories=levels))
        else:
            columns[name] = pd.Series(np.array(numbers).astype(empty[name].dtype))
    return pd.DataFrame(columns)
