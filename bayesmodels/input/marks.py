"""The marks of numbers in a column of text: what stands before decimals, and between thousands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed

GAPS = frozenset({"na", "nan", "null", "n/a", "none", "#n/a", "<na>", "n.a."})
CELL = re.compile(
    r"(?P<sign>[+\-−]?)(?P<before>[$€£¥]?)\s?(?P<number>"
    r"(?:\d(?:[\d.,'’]|[ \u00a0\u202f](?=\d))*|[.,]\d+)(?:[eE][+\-−]?\d+)?)"
    r"(?P<after>\s?(?:[%‰°$€£¥]|[^\W\d_])[^\s\d]*)?"
)
_FORMS = {  # of a number without sign, with what each says of commas and points
    "plain": r"\d+(?:[eE][+\-−]?\d+)?",
    "point or thousands": r"[1-9]\d{0,2}\.\d{3}",
    "comma or thousands": r"[1-9]\d{0,2},\d{3}",
    "point": r"(?:\d*\.\d+|\d+\.)(?:[eE][+\-−]?\d+)?",
    "comma": r"\d*,\d+(?:[eE][+\-−]?\d+)?",
    "thousands by comma": r"\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:,\d{3})+\.\d*",
    "thousands by point": r"\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d*",
    "spaced": r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+",
    "spaced, point": r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+\.\d+",
    "spaced, comma": r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+,\d+",
}
_FORM = re.compile("|".join(f"({pattern})" for pattern in _FORMS.values()))
_NAMES = list(_FORMS)
_LONG = 1e15  # more digits than a number has exactly
_FIRST = 1000  # cells that often tell what all would
_OTHER = {".": ",", ",": "."}
_POINTS = {"point", "spaced, point", "thousands by comma"}
_COMMAS = {"comma", "spaced, comma", "thousands by point"}


@dataclass(frozen=True)
class Marks:
    """The marks before decimals and between thousands."""

    decimal: str
    thousands: str

    def number(self, text: str) -> float | None:
        """Return the value of an unsigned number by these marks, None if it is no number."""
        if not (form := _FORM.fullmatch(text)):
            return None
        plain = re.sub(r"[\s'’]", "", text) if form.lastindex and form.lastindex > 7 else text  # noqa: PLR2004 - those with spaces
        if self.thousands in plain:
            groups = re.escape(self.thousands)
            if not re.fullmatch(rf"[1-9]\d{{0,2}}(?:{groups}\d{{3}})+(?:[.,]\d*)?", plain):
                return None
            plain = plain.replace(self.thousands, "")
        if self.decimal == "," and "." in plain:
            return None
        plain = plain.replace(",", ".") if self.decimal == "," else plain
        try:
            return float(plain.replace("−", "-"))
        except ValueError:
            return None


def form_of(cell: str) -> str:
    """Return the form of the number in a cell, by any marks; empty if there is none."""
    part = CELL.fullmatch(cell)
    form = part and _FORM.fullmatch(part["number"])
    return _NAMES[form.lastindex - 1] if form and form.lastindex else ""


@dataclass(frozen=True)
class Text:
    """Cells of a column without blanks around them, None where they are empty."""

    name: str
    cells: Any
    index: Any = field(repr=False, default=None)

    @cached_property
    def fast(self) -> tuple[str, Any]:
        """The mark of decimals and the numbers, if all cells are plain by one mark; else None."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for mark in ".,":
            cells = self.cells
            if mark == ",":
                if pc.any(pc.match_substring(cells, ".")).as_py():
                    break
                cells = pc.replace_substring(cells, ",", ".")
            try:
                numbers = cells.cast(pa.float64())
            except pa.ArrowInvalid:
                continue
            values = numbers.to_numpy()
            if np.isnan(values).sum() > numbers.null_count:
                break
            try:
                integers = cells.cast(pa.int64())
            except pa.ArrowInvalid:
                long = np.nanmax(np.abs(values), initial=0) >= _LONG
                return mark, None if long and self._any(r"^[+-]?\d{16,}$") else numbers
            return mark, None if self._any(r"^[+-]?0\d") else integers
        return ".", None

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each text stands in the column."""
        import pyarrow.compute as pc

        counted = pc.value_counts(self.cells.drop_null())
        return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))

    @cached_property
    def forms(self) -> Counter[str]:
        """How often numbers of each form stand in the column."""
        result: Counter[str] = Counter()
        for text, count in self.counts.items():
            if form := form_of(text):
                result[form] += count
        return result

    @property
    def mostly_numbers(self) -> bool:
        """Whether more than half of its cells are numbers by some marks."""
        others = sum(n for text, n in self.counts.items() if text.casefold() not in GAPS)
        return 2 * self.forms.total() > others

    def pointed(self) -> Counter[str]:
        """Count the forms of numbers with marks; of a plain column without counting each."""
        mark, numbers = self.fast
        if numbers is None:
            return self.forms if self.mostly_numbers else Counter()
        word, either = ("point", "\\.") if mark == "." else ("comma", ",")
        if str(numbers.type) == "int64":
            return Counter()
        if self._any(
            rf"^[+-]?(?:\d*{either}(?:\d{{0,2}}|\d{{4,}})|(?:0\d*|\d{{4,}})?{either}\d{{3}}|.*[eE].*)$"
        ):
            return Counter({word: 1})
        return Counter({f"{word} or thousands": 1})

    def _any(self, pattern: str) -> bool:
        import pyarrow.compute as pc

        parts = self.cells.slice(0, _FIRST), self.cells.slice(_FIRST)
        return any(pc.any(pc.match_substring_regex(part, pattern)).as_py() for part in parts)

    def rows(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of the rows, below the heading, in which one of some texts stands."""
        import pyarrow as pa
        import pyarrow.compute as pc

        result = pc.is_in(self.cells, value_set=pa.array(list(texts), pa.string()))
        return [int(i) + 1 for i in self.index[np.asarray(result)]]


def marks_of(
    columns: Sequence[Text], decimal: str | None, thousands: str | None, separator: str
) -> tuple[dict[str, Marks], dict[str, str], list[str]]:
    """Return the marks of each column's numbers, why some are undecided, and notes for the reader.

    A mark of decimals is one that can't stand between thousands, and the other way round. Three
    digits behind each mark decide nothing; then the other columns decide, if they agree. Else
    commas are refused, and points are decimals.
    """
    thousands = None if thousands in (" ", "'") else thousands  # which are read in any case
    for choice, name in ((decimal, "decimal"), (thousands, "thousands")):
        if choice is not None and choice not in _OTHER:
            raise DataError(f"{name}: must be '.' or ','; got {choice!r}.")
    if decimal == thousands and decimal is not None:
        raise DataError(f"thousands: must be another mark than that of decimals, {decimal!r}.")
    if decimal := decimal or _OTHER.get(thousands or ""):
        return dict.fromkeys((c.name for c in columns), Marks(decimal, _OTHER[decimal])), {}, []
    plain = {c.name for c in columns if c.fast[1] is not None and c.fast[0] == "."}
    forms = {c.name: c.pointed() for c in columns if c.name not in plain}
    commas = any("comma" in form for result in forms.values() for form in result)
    if separator != "," or commas:  # or else nothing hangs on those with points
        forms |= {c.name: c.pointed() for c in columns if c.name in plain}
    decided = {name: mark for name, result in forms.items() if (mark := _decimal(result))}
    common = {*decided.values()}
    usual = common.pop() if len(common) == 1 else None
    unread, said, semis = dict[str, str](), list[str](), separator != ","
    for name, result in forms.items():
        if name not in decided and result["comma or thousands"] and usual is None:
            unread[name] = (
                f"column {name!r}: three digits stand behind each comma, which may stand before "
                "decimals or between thousands. Say decimal=',' or thousands=','."
            )
        elif name not in decided and result["point or thousands"] and usual is None and semis:
            said.append(
                f"Numbers in column {name!r} were read as decimals, though three digits stand "
                "behind each point; are these thousands, say decimal=','."
            )
    decimals = {column.name: decided.get(column.name, usual or ".") for column in columns}
    commas_in = [
        n
        for n, result in forms.items()
        if decimals[n] == "," and {"comma", "spaced, comma"} & {*result}
    ]
    if commas_in:
        said.append(f"Numbers have decimal commas in {listed(commas_in)}.")
    return {name: Marks(mark, _OTHER[mark]) for name, mark in decimals.items()}, unread, said


def _decimal(forms: Counter[str]) -> str | None:
    """Return the mark of decimals of most numbers of a column, None if none decides."""
    points, commas = (sum(forms[form] for form in kind) for kind in (_POINTS, _COMMAS))
    return None if not points + commas else "." if points >= commas else ","
