"""The data of a report as they were given: how many rows, which columns, the first lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesmodels.belief.protocol import Classifier, LatentClasses, Statistic
from bayesmodels.input import data as checked
from bayesmodels.input.containers import read, series_name
from bayesmodels.input.wrappers import (
    PER_ROW,
    BinomialCounts,
    Censored,
    Counts,
    Design,
    Grouped,
    MultinomialCounts,
    Weighted,
)
from bayesmodels.report.page import Column, Table
from bayesmodels.report.rounding import significant

FIRST_ROWS = 6
MOST_COLUMNS = 12
MOST_NAMES = 40
LONGEST = 1000
"""Characters of a value in words."""


class Given(NamedTuple):
    """One container as given: names of its columns and of its rows, and the first cells."""

    heads: Sequence[str]
    rows: Sequence[Any]
    first: NDArray[Any]
    missing: int = 0


def excerpt(
    data: Any, belief: Any, classes: Mapping[Any, float], likelihood: str
) -> tuple[list[tuple[str, str]], Table | None]:
    """Return what the data look like, and their first rows, which a statistic has not.

    They are told of with the belief after them, numbers of rows in each class, if there are
    classes, and what PyMC was given of them.
    """
    rows = [f"{label} {significant(n)}" for label, n in classes.items()]
    counted = [(f"Rows of the classes ({len(classes)})", _listed(rows))] if classes else []
    if isinstance(data, Statistic):
        given = "as a sufficient statistic, which has forgotten its rows"
        return [("Given", given), *counted, ("Statistic", in_short(data))], None
    result = _given(data, belief)
    labels = _labels(result)
    number, wide = len(labels), sum(len(g.heads) for g in result)
    heads = [head for g in result for head in g.heads[: MOST_NAMES + 1]]
    columns = [
        _column(head, cells)
        for g in result
        for head, cells in zip(g.heads[:MOST_COLUMNS], g.first.T[:MOST_COLUMNS], strict=True)
    ]
    index = Column("row", tuple(map(str, labels[:FIRST_ROWS])), numeric=False)
    facts = [("Rows", f"{number:,}"), (f"Columns ({wide:,})", _listed(heads)), *counted]
    if isinstance(data, Grouped):
        groups = [str(label) for label in belief.coords["group"]]
        facts.append((f"Groups ({len(groups)})", _listed(groups)))
    if isinstance(data, Design) and data.intercept:
        facts.append(("Intercept", "a column of ones, added by the design"))
    if likelihood == "statistic":
        facts.append(("In PyMC’s model", "the statistic of the rows, which has their density"))
    if missing := sum(g.missing for g in result):
        facts.append(("Missing cells", f"{missing:,}, which are integrated out"))
    left = {"rows": number - FIRST_ROWS, "columns": wide - MOST_COLUMNS}
    note = " ".join(f"{n:,} more {what} are not shown." for what, n in left.items() if n > 0)
    return facts, Table("First rows", (index, *columns[:MOST_COLUMNS]), note)


def row_labels(data: Any, belief: Any) -> Sequence[Any] | None:
    """Return what rows are called: a container's index, or numbers; None for a statistic."""
    return None if isinstance(data, Statistic) else _labels(_given(data, belief))


def _labels(containers: list[Given]) -> Sequence[Any]:
    return next((g.rows for g in containers if not isinstance(g.rows, range)), containers[0].rows)


def in_short(value: object) -> str:
    """Return a value in words, without the end if it is very long."""
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _given(data: Any, belief: Any) -> list[Given]:
    """Return the containers that data are made of."""
    if isinstance(data, (Weighted, Grouped)):
        first = ("weight", data.weights) if isinstance(data, Weighted) else ("by", data.by)
        return [_container(first[1], first[0]), *_given(data.rows, belief)]
    if isinstance(data, (BinomialCounts, Censored, Counts)):
        each = {name: getattr(data, name) for name in PER_ROW[type(data)]}
        if long := {name: x for name, x in each.items() if np.ndim(x)}:
            each = long  # without one exposure for all rows
        return [_container(container, name, scalar_row=True) for name, container in each.items()]
    if isinstance(data, MultinomialCounts):
        return [_container(data.counts, "counts", vector_row=True)]
    if isinstance(belief, Classifier | LatentClasses):
        return _classified(data, belief)
    if belief is None or "w" not in belief.dims:  # of a regression
        return [_container(data, "x")]
    design = checked.paired(data)
    return [_container(design.features, "features"), _container(design.target, "target")]


def _classified(data: Any, belief: Any) -> list[Given]:
    """Return the classes, as far as they are given, and the features, by block if in blocks."""
    mixture, result = isinstance(belief, LatentClasses), list[Given]()
    features = data
    if not mixture or isinstance(data, (Design, tuple)):
        design = checked.paired(data)
        features, target = design.features, design.target
        if isinstance(target, (BinomialCounts, MultinomialCounts)):
            result += _given(target, None)
        else:
            result.append(_container(target, "class", missing=mixture))
    blocks = features if isinstance(features, Mapping) else {"": features}
    for name, container in blocks.items():
        title = name or "features"
        if isinstance(container, MultinomialCounts):
            words = belief.coords.get(f"category_{name}" if name else "category", ())
            result.append(_container(container.counts, title, words, vector_row=True))
        else:
            result.append(_container(container, title, missing=True))
    return result


def _container(container: Any, name: str, words: Sequence[Any] = (), **how: bool) -> Given:
    """Return a container as given, of which a sparse table is not written out."""
    rows: Sequence[Any]
    columns, gone = None, 0
    if checked.sparse(container):
        rows, inner = range(container.shape[0]), container.shape[1:]
        first = container.tocsr()[:FIRST_ROWS].toarray()
    else:
        block = read(container, name, **how)
        rows, inner, columns = block.row_labels(), block.values.shape[1:], block.columns
        first = block.values[:FIRST_ROWS]
        first = first.reshape(len(first), int(np.prod(inner)))
        # Columns of different kinds stand in one array of objects, where a gap may be None or NaN.
        gone = int(pd.isna(block.values).sum()) if how.get("missing") else 0
    known = columns or (words if inner == (len(words),) else ())
    own = series_name(container)
    called = name if own in (None, "") else str(own)
    heads = tuple(map(str, known)) or tuple(
        f"{called}[{', '.join(map(str, at))}]" if at else called for at in np.ndindex(inner)
    )
    return Given(heads, rows, first, gone)


def _column(head: str, values: NDArray[Any]) -> Column:
    def cell(x: Any) -> str:
        if x is None or (isinstance(x, float) and np.isnan(x)):
            return "missing"
        return significant(x) if type(x) in (int, float) else str(x)

    cells = values.tolist()
    numeric = all(x is None or type(x) in (int, float) for x in cells)
    return Column(head, tuple(map(cell, cells)), numeric=numeric)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
