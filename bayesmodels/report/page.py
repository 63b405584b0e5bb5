"""What a report shows, as data: sections of text, facts, tables and pictures. No HTML here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from bayesmodels.report.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

    from bayesmodels.referee.verdict import Outcome
    from bayesmodels.report.canvas import Picture

MOST_ROWS = 40
"""Rows of a table; more are counted."""
MOST_FINDINGS = 10
FOLDED = ("classes", "evidence", "rows", "sensitivity", "methods")
"""Sections that open at a click, for those who look into how the verdict came about."""

Pairs = Sequence[tuple[str, str]]
"""Names and values."""
Decimals = Sequence[int] | int
"""Of every cell of a column, or of each."""


@dataclass(frozen=True)
class Column:
    """One column of a table: its heading, and one string a row.

    Neighbours of one group share a heading above theirs. Numbers are aligned at the decimal point.
    Cells of a column that is `judged` are why rows are marked.
    """

    head: str
    cells: tuple[str, ...]
    group: str = ""
    numeric: bool = True
    judged: bool = False

    @property
    def padding(self) -> tuple[str, ...]:
        """What each number lacks, behind it, for all to end at the same decimal."""
        if not self.numeric or any("e" in cell for cell in self.cells):
            return ("",) * len(self.cells)
        ends = ["".join(cell.partition(".")[1:]) for cell in self.cells]
        full = "." + "0" * (max(map(len, ends), default=1) - 1)
        return tuple(full[len(end) :] if any(ends) else "" for end in ends)


@dataclass(frozen=True)
class Table:
    """Columns of equal length; the first one names the rows.

    Below it may stand a note; rows that are `marked` are pointed out.
    """

    caption: str
    columns: tuple[Column, ...]
    note: str = ""
    marked: frozenset[int] = frozenset()
    kind: ClassVar[str] = "table"

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings above the headings, each with the number of columns it spans."""
        spans = groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(each))) for group, each in spans]


def labels(of: Iterable[Any]) -> Column:
    """Return the column that says what the rows are called."""
    return Column("", tuple(map(str, of)), numeric=False)


def columns(values: pd.DataFrame, *each: tuple[str, str, str, Decimals]) -> list[Column]:
    """Return what the rows are called, and numbers: each by its head, name, group and decimals."""
    result = [labels(values.index)]
    for head, name, group, decimals in each:
        digits = [decimals] * len(values) if isinstance(decimals, int) else decimals
        numbers = values[name].to_numpy(dtype=float)
        result.append(Column(head, tuple(map(rounded, numbers, digits)), group))
    return result


def worst_first(values: pd.DataFrame, by: str = "z") -> pd.DataFrame:
    """Put the rows that are largest in size first, in their own order, if some are left out."""
    if len(values) <= MOST_ROWS:
        return values
    order = (-values[by].abs().to_numpy(dtype=float)).argsort(kind="stable")
    return values.iloc[[*sorted(order[:MOST_ROWS]), *order[MOST_ROWS:]]]


def cut(table: Table, which: str = "the first") -> Table:
    """Leave out rows beyond `MOST_ROWS`, and say so, and which rows are kept."""
    rows = len(table.columns[0].cells)
    if rows <= MOST_ROWS:
        return table
    note = f"{MOST_ROWS} of {rows:,} rows are shown, {which}; {rows - MOST_ROWS:,} are not shown. "
    return replace(
        table,
        columns=tuple(replace(column, cells=column.cells[:MOST_ROWS]) for column in table.columns),
        note=(note + table.note).strip(),
        marked=frozenset(row for row in table.marked if row < MOST_ROWS),
    )


class Part(NamedTuple):
    """What stands in a section: how it is set, and what.

    Facts are names and values, equations names and LaTeX (of this package), works what is referred
    to by number, [1] first; parts beside each other are ``tables``, or how the report was ``made``.
    """

    kind: Literal[
        "code",
        "equations",
        "facts",
        "findings",
        "heading",
        "made",
        "note",
        "pictures",
        "tables",
        "works",
    ]
    content: Any
    heading: str = ""


Shown = str | Table | Part
"""In a section; text is a paragraph."""


class Section(NamedTuple):
    """A part of a page that has a title, and a name to lead to it.

    What its summary says, if anything, stands beside the verdict, its pictures beside others, and
    the one in `front` beside the answer.
    """

    name: str
    title: str
    parts: Sequence[Shown]
    summary: str = ""
    pictures: Sequence[Picture] = ()
    front: Picture | None = None


@dataclass(frozen=True)
class Page:
    """All that a report shows: answer, picture, verdict, numbers one looks for first, and sections.

    Of further findings the first `MOST_FINDINGS` are shown. The fit is coloured as a verdict is.
    """

    title: str
    outcome: Outcome
    badge: str
    source: str
    notes: Sequence[str]
    answer: Sequence[str]
    front: Picture | None
    verdict: str
    fit: tuple[Outcome, str] | None
    beside: Sequence[str]
    glance: Pairs
    sections: Sequence[Section]
    version: str
