"""Statistics of files for models of the catalogue: what one machine makes of its share of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bayesmodels.command import catalog
from bayesmodels.command.catalog import Columns
from bayesmodels.command.preparation import check_levels, coded_names, with_indicators
from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed, shown
from bayesmodels.input.rows import ROW_LABELS
from bayesmodels.input.wrappers import Design, Weighted
from bayesmodels.scale import statistic
from bayesmodels.scale.sources import dataset
from bayesmodels.store import is_npz, save


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
) -> tuple[Any, list[str]]:
    """Make the statistic of a model of the catalogue in one pass over files, save and return it.

    Beside it are sentences about what was done. Of regressions text is coded by indicators.

    While the pass runs its state is kept beside the output, in a file that ends in ``.pass``, from
    which `resume` goes on. Of a column of text, and of classes, whose categories are not given,
    those in the files are taken, which a pass of its own finds.
    """
    entry = catalog.entry(model)
    if entry.reads is None:
        raise DataError(
            f"model: {model} has no statistic smaller than its rows. Use bm.scale in Python."
        )
    state = Path(f"{os.fspath(output)}.pass")
    if state.exists() and not resume:
        raise DataError(
            f"resume: {str(state)!r} is a pass that was stopped. Go on with it, or remove it."
        )
    is_npz(output)  # before the work, not after it
    source = dataset(*files)
    known, notes = source.schema.names, list[str]()
    if not features and known[0].strip() in ROW_LABELS:
        known = known[1:]
        notes.append("The first column holds labels of rows and was left out.")
    known = [name for name in known if name != weights]
    if entry.reads == "table":
        used = list(features or known)
        asked: dict[str, Any] = {"columns": used}
    elif not known:
        raise DataError("target: the files have no column left for it; name one.")
    else:
        target = known[-1] if target is None else target
        chosen = list(features or [name for name in known if name != target])
        asked = {"target": target, "columns": chosen, "intercept": entry.reads == "line"}
        used = [*chosen, target]
        if entry.reads == "column":
            used, asked = [target], {"columns": target}
    given = categories or {}
    every = {
        name: _categories(source, name, given.get(name))
        for name in used
        if name in given or (name == target and entry.categories) or _is_text(source, name)
    }
    if target in every and not entry.categories:
        raise DataError(
            f"column {target!r}: must hold numbers; it holds categories. Correct the files, or "
            "choose another column with --target."
        )
    if entry.reads == "line" and every:
        for name in every.keys() - given.keys():
            check_levels(name, every[name], source.count_rows())
        features = coded_names(chosen, every, notes)
        rows = partial(_coded, features=features, target=str(target), weights=weights, levels=every)
        asked = {"columns": [*used, *filter(None, [weights])], "to_data": rows}
        frame = _example(source, [name for name in used if name not in every], {}, entry.valid)
        made = [name for name in features if name not in frame]
        frame = frame.assign(**dict.fromkeys(made, entry.valid))
    else:
        asked["weights"] = weights
        frame = _example(source, used, every, entry.valid)
    belief, _ = catalog.from_frame(model, frame, Columns(target, features), {})
    found = statistic(belief, source, checkpoint=state, progress=progress, **asked)
    save(found, output)
    return found, notes


def _coded(
    rows: Any,
    *,
    features: Sequence[str],
    target: str,
    weights: str | None,
    levels: Mapping[str, Sequence[Any]],
) -> Any:
    """Return a chunk as data of a regression, its text coded by indicators."""
    frame = rows.to_pandas()
    for name, own in levels.items():
        if len(other := frame[name][~frame[name].isin(list(own))]):
            raise DataError(
                f"column {name!r}: must hold one of {listed(own)}; got {shown(other.iloc[0])}."
            )
    frame = with_indicators(frame, levels)
    data = Design(frame[features], frame[target], intercept=True)
    return data if weights is None else Weighted(data, frame[weights])


def _type(source: Any, name: str) -> Any:
    """Return the type of a column, of a dictionary that of its values."""
    import pyarrow as pa

    if name not in source.schema.names:
        raise DataError(f"columns: there is no column {name!r}; there are {source.schema.names}.")
    kind = source.schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(source: Any, name: str) -> bool:
    """Say whether a column is of categories: a dictionary, or text."""
    import pyarrow as pa

    kind = _type(source, name)
    return kind != source.schema.field(name).type or kind in (pa.string(), pa.large_string())


def _categories(source: Any, name: str, given: Sequence[str] | None) -> list[Any]:
    """Return a column's categories as given, or else those in the files, sorted."""
    import pyarrow as pa

    kind = _type(source, name)
    if given is not None:
        try:
            return pa.array(list(given), pa.string()).cast(kind).to_pylist()
        except pa.ArrowInvalid as error:
            raise DataError(
                f"categories: those of {name!r} must be of its type {kind}: {error}"
            ) from None
    found: set[Any] = set()
    for batch in source.to_batches(columns=[name], batch_readahead=2, fragment_readahead=1):
        found.update(batch.column(0).unique().to_pylist())
    return sorted(found - {None}, key=str)


def _example(
    source: Any,
    names: Sequence[Any],
    categories: Mapping[str, Sequence[Any]],
    numbers: Sequence[float],
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
