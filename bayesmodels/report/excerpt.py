"""The data of a report as they were given: how many rows, which columns, the first lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.containers import Block, read
from bayesmodels.data import BinomialCounts, Design, Grouped, MultinomialCounts
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.protocol import Belief
from bayesmodels.report.rounding import significant
from bayesmodels.report.tables import Column, Table
from bayesmodels.report.validation import Report

FIRST_ROWS = 6
MOST_COLUMNS = 12
MOST_NAMES = 40


def excerpt(report: Report) -> tuple[list[tuple[str, str]], Table | None]:
    """Return what the data look like.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    facts : list of (str, str)
        Number of rows, names of columns and of groups.
    first_rows : Table or None
        The first `FIRST_ROWS` rows; None for a statistic, which has none.
    """
    if hasattr(report.data, "without_rows"):
        given = "as a sufficient statistic, which has forgotten its rows"
        return [("Given", given), ("Statistic", repr(report.data))], None
    blocks = _blocks(report.data, report.posterior)
    columns = [column for name, block in blocks for column in _first_rows(name, block)]
    labels = blocks[0][1].row_labels()
    rows = len(labels)
    index = Column("row", tuple(map(str, labels[:FIRST_ROWS])), numeric=False)
    heads = [column.head for column in columns]
    facts = [("Rows", f"{rows:,}"), (f"Columns ({len(heads)})", _listed(heads))]
    if isinstance(report.data, Grouped):
        groups = [str(label) for label in report.posterior.coords["group"]]
        facts.append((f"Groups ({len(groups)})", _listed(groups)))
    if isinstance(report.data, Design) and report.data.intercept:
        facts.append(("Intercept", "a column of ones, added by the design"))
    parts = []
    if rows > FIRST_ROWS:
        parts.append(f"{rows - FIRST_ROWS:,} more rows are not shown.")
    if len(columns) > MOST_COLUMNS:
        parts.append(f"{len(columns) - MOST_COLUMNS:,} more columns are not shown.")
    return facts, Table("First rows", (index, *columns[:MOST_COLUMNS]), " ".join(parts))


def _blocks(data: Any, belief: Belief) -> list[tuple[str, Block]]:
    """Return the containers that data are made of, each with its name."""

    def block(container: Any, name: str, **how: bool) -> tuple[str, Block]:
        return str(getattr(container, "name", None) or name), read(container, name, **how)

    if isinstance(data, Grouped):
        return [block(data.by, "by"), *_blocks(data.rows, belief)]
    if isinstance(data, BinomialCounts):
        each = {"successes": data.successes, "trials": data.trials}
        return [block(container, name, scalar_row=True) for name, container in each.items()]
    if isinstance(data, MultinomialCounts):
        return [block(data.counts, "counts", vector_row=True)]
    if isinstance(belief, LinearRegression):
        design = data if isinstance(data, Design) else Design(*data)
        return [block(design.features, "features"), block(design.target, "target")]
    return [block(data, "x")]


def _first_rows(name: str, block: Block) -> list[Column]:
    inner = block.values.shape[1:]
    values = block.values[:FIRST_ROWS].reshape(-1, int(np.prod(inner)))
    heads = (
        tuple(map(str, block.columns))
        if block.columns
        else tuple(f"{name}[{', '.join(map(str, at))}]" if at else name for at in np.ndindex(inner))
    )
    numeric = values.dtype.kind in "iuf"
    return [
        Column(head, tuple(significant(x) if numeric else str(x) for x in column), numeric=numeric)
        for head, column in zip(heads, values.T, strict=True)
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
