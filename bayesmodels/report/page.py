"""What a report shows, as data: sections of text, facts, tables and pictures. No HTML here."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bayesmodels.numerics import Array
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report.canvas import Picture
from bayesmodels.report.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 40
"""Rows of a table; more are counted."""
MOST_FINDINGS = 10

Pairs = Sequence[tuple[str, str]]
"""Names and values."""


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
        """What each number lacks, behind it, for all to end at the same decimal.

        Examples
        --------
        >>> Column("x", ("1.25", "3", "0.5")).padding
        ('', '.00', '0')
        """
        if not self.numeric or any("e" in cell for cell in self.cells):
            return ("",) * len(self.cells)
        ends = ["".join(cell.partition(".")[1:]) for cell in self.cells]
        full = "." + "0" * (max(map(len, ends), default=1) - 1)
        return tuple(full[len(end) :] if any(ends) else "" for end in ends)


@dataclass(frozen=True)
class Table:
    """Columns of equal length; the first one names the rows.

    Below it may stand a note; rows that are `marked` are pointed out; the caption of a table that
    is `alone` in its section is not seen.
    """

    caption: str
    columns: tuple[Column, ...]
    note: str = ""
    marked: frozenset[int] = frozenset()
    alone: bool = False

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings above the headings, each with the number of columns it spans."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans


Decimals = Sequence[int] | int
"""Of every cell of a column, or of each."""


def numeric_column(head: str, values: Array, group: str, decimals: Decimals) -> Column:
    """Return a column of numbers with so many decimals each."""
    each = [decimals] * len(values) if isinstance(decimals, int) else decimals
    return Column(head, tuple(rounded(x, n) for x, n in zip(values, each, strict=True)), group)


def columns(values: pd.DataFrame, *each: tuple[str, str, str, Decimals]) -> list[Column]:
    """Return what the rows are called, and numbers: each by its head, name, group and decimals."""
    labels = Column("", tuple(map(str, values.index)), numeric=False)
    numbers = (
        numeric_column(head, values[name].to_numpy(dtype=float), group, decimals)
        for head, name, group, decimals in each
    )
    return [labels, *numbers]


def cut(table: Table, which: str = "the first") -> Table:
    """Leave out rows beyond `MOST_ROWS`, and say so, and which rows are kept."""
    rows = len(table.columns[0].cells)
    if rows <= MOST_ROWS:
        return table
    columns = tuple(
        dataclasses.replace(column, cells=column.cells[:MOST_ROWS]) for column in table.columns
    )
    note = f"{MOST_ROWS} of {rows:,} rows are shown, {which}; {rows - MOST_ROWS:,} are not shown. "
    marked = frozenset(row for row in table.marked if row < MOST_ROWS)
    note = (note + table.note).strip()
    return dataclasses.replace(table, columns=columns, note=note, marked=marked)


@dataclass(frozen=True)
class Beside:
    """Parts side by side: tables, or how the report was `made`."""

    what: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Equations:
    """Names and equations in LaTeX, which comes from this package."""

    pairs: Pairs


@dataclass(frozen=True)
class Facts:
    """Names and values, under a heading of their own if they have one."""

    pairs: Pairs
    heading: str = ""


@dataclass(frozen=True)
class Code:
    """Lines of a program, under a heading of their own or under a sentence."""

    text: str


@dataclass(frozen=True)
class Heading:
    """The title of what follows within a section."""

    text: str


@dataclass(frozen=True)
class Note:
    """Small print."""

    text: str


@dataclass(frozen=True)
class Pictures:
    """All pictures."""

    each: Sequence[Picture]


@dataclass(frozen=True)
class Works:
    """What is referred to by number, [1] first."""

    each: Sequence[str]


Part = str | Beside | Code | Equations | Facts | Heading | Note | Pictures | Table | Works
"""Of a section; text is a paragraph."""


@dataclass(frozen=True)
class Section:
    """A part of a page that has a title, and a name to lead to it."""

    name: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page:
    """All that a report shows: the verdict, the numbers one looks for first, and sections.

    Of further findings the first `MOST_FINDINGS` are shown.
    """

    source: str
    sentences: Sequence[str]
    findings: Sequence[str]
    glance: Pairs
    sections: Sequence[Section]


class Reported(Protocol):
    """What can be shown as a page, and states how it was made."""

    @property
    def title(self) -> str: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def seconds(self) -> dict[str, float]: ...
    @property
    def versions(self) -> dict[str, str]: ...
    def page(self, command: str = "") -> Page:
        """Return what is shown, and the command line that makes it again, if there is one."""


class Validated(Reported, Protocol):
    """A belief, and all that was found of it: what sections are made of."""

    @property
    def prior(self) -> Any: ...
    @property
    def posterior(self) -> Any: ...
    @property
    def data(self) -> Any: ...
    @property
    def log_evidence(self) -> float | None: ...
    @property
    def identity(self) -> Any: ...
    @property
    def comparison(self) -> Any: ...
    @property
    def exact(self) -> Any: ...
    @property
    def sampled(self) -> Any: ...
