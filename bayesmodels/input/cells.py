"""Columns of text -> numbers, labels, truth values or dates, and what is to be said of each.

Rules are asked in turn (`column_of`). Where it can't be told what a column holds it stays text, and
`Column.unread` says why it can't be used as numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesmodels.input.containers import listed, shown
from bayesmodels.input.marks import CELL, GAPS, Marks, Text, form_of

_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([./-])\d{1,2}\2\d{2,4})(?:[T ]\d{1,2}:\d{2}.*)?"
)
_TRUTH = {"true": True, "false": False}
_EXACT = 2**53  # below, floats are exact for whole numbers
_DIGITS = 15  # of which any are exact
_SIGNS = re.compile(r"[-.?*!/_–—]+")
MOST = 1000  # labels of numbers that are kept as they are written


class Column(NamedTuple):
    """A column as it is read, its kind, what is said of it, and why it is of no numbers.

    `said` is about cells that are read as something else than their text, `noted` about others.
    `written` has values with their text, where that is another than of the value itself; `slips`
    has the numbers of rows in which there is no number, though there is in most, and `emptied` how
    many numbers stood for empty cells.
    """

    values: Any
    kind: str
    said: Sequence[str] = ()
    unread: str = ""
    written: Sequence[tuple[Any, str]] = ()
    slips: Sequence[int] = ()
    emptied: int = 0
    noted: Sequence[str] = ()


@dataclass(frozen=True)
class Judged:
    """A column of text, with the values of its cells by the marks of its numbers."""

    text: Text
    marks: Marks
    missing: Sequence[str] = ()
    unread: str = ""

    @cached_property
    def kept(self) -> Any:
        """The text of the cells."""
        return self.text.cells.to_pandas()

    @cached_property
    def words(self) -> list[str]:
        """The words for empty cells if this is a column of numbers."""
        return [cell for cell in self.text.counts if cell.casefold() in GAPS]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each text stands in the column, but for these words."""
        return {cell: n for cell, n in self.text.counts.items() if cell.casefold() not in GAPS}

    @cached_property
    def _units(self) -> dict[str, tuple[float, tuple[str, str]]]:
        """The number of each cell that has one, and the texts before and behind it."""
        result = {}
        for cell in self.counts:
            part = CELL.fullmatch(cell)
            if cell.casefold().lstrip("+-") in ("inf", "infinity"):
                result[cell] = float(cell), ("", "")
            elif part and (number := _value(part, self.marks)) is not None:
                result[cell] = number, (part["before"], (part["after"] or "").strip())
        return result

    @cached_property
    def unit(self) -> tuple[str, str]:
        """The texts before and behind most numbers."""
        units: Counter[tuple[str, str]] = Counter()
        for cell, (_, unit) in self._units.items():
            units[unit] += self.counts[cell]
        return max(units, key=lambda unit: (units[unit], not any(unit)), default=("", ""))

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The numbers of the cells that have this unit."""
        return {cell: number for cell, (number, unit) in self._units.items() if unit == self.unit}


def column_of(text: Text, marks: Marks, missing: Sequence[str] = (), unread: str = "") -> Column:
    """Return a column of text in its type, by the first rule that applies."""
    judged = Judged(text, marks, missing, unread)
    return next(column for rule in _RULES if (column := rule(judged)) is not None)


def _empty(judged: Judged) -> Column | None:
    if judged.counts:
        return None
    said = [_gap(judged.text, word) for word in judged.words]
    return Column(np.full(len(judged.text.cells), np.nan), "empty", said)


def _refused(judged: Judged) -> Column | None:
    """Numbers whose marks are undecided."""
    if not judged.unread:
        return None
    return Column(judged.kept, "label", unread=judged.unread, noted=[judged.unread])


def _plain(judged: Judged) -> Column | None:
    """Numbers without any thousands, units or words."""
    mark, plain = judged.text.fast
    if plain is None or (str(plain.type) != "int64" and mark != judged.marks.decimal):
        return None
    return _numbers(judged, plain.to_numpy(), written=_plain_texts(judged.text, mark))


def _truth(judged: Judged) -> Column | None:
    values = {cell: _TRUTH.get(cell.casefold()) for cell in judged.counts}
    if not values or None in values.values():
        return None
    said = [_gap(judged.text, word) for word in judged.words]
    return Column(_mapped(judged.text, values), "truth value", said, written=_texts(values))


def _codes(judged: Judged) -> Column | None:
    """Digits of one length, some of which begin with zero, or more than a number has."""
    cells = judged.counts
    if not cells or not all(map(str.isdecimal, cells)):
        return None
    lengths = {*map(len, cells)}
    code = _padded(cells) if len(lengths) == 1 < len(cells) else ""
    code = max(cells, key=len) if max(lengths) > _DIGITS else code
    if not code:
        return None
    said = f"Column {judged.text.name!r} holds codes such as {code!r}: labels, no numbers."
    return Column(judged.kept, "label", noted=[said, *_levels(judged)])


def _decorated(judged: Judged) -> Column | None:
    """Numbers with thousands, signs or one unit, and words for empty cells."""
    if not judged.numbers or len(judged.numbers) < len(judged.counts):
        return None
    said = [*(_gap(judged.text, word) for word in judged.words), *_recoded(judged)]
    values = _mapped(judged.text, judged.numbers)
    return _numbers(judged, values, said, _texts(judged.numbers))


def _dates(judged: Judged) -> Column | None:
    if not judged.counts or not all(map(_DATE.fullmatch, judged.counts)):
        return None
    return Column(judged.kept, "date", [_gap(judged.text, word) for word in judged.words])


def _slips(judged: Judged) -> Column | None:
    """Numbers but for some cells, if more than half are by any marks; 1a, 1b and 2a are labels."""
    bare = {
        c for c in judged.counts if form_of(c) and not re.search(r"\d(?![eE][+-]?\d)[^\W\d_]", c)
    }
    if 2 * sum(judged.counts[cell] for cell in bare) <= sum(judged.counts.values()):
        return None
    bad = [cell for cell in judged.counts if cell not in judged.numbers or cell not in bare]
    rows = judged.text.rows(bad)
    first = next(cell for cell in bad if judged.text.rows([cell])[0] == rows[0])
    hold = "holds" if len(rows) == 2 else "hold"  # noqa: PLR2004 - one more
    more = f", and {len(rows) - 1:,} more {hold} no number either" if len(rows) > 1 else ""
    name, where = judged.text.name, f"row {rows[0]} below the heading holds {shown(first)}{more}"
    missing = f"say {_missing(name, first)} if such cells are empty"
    why = (
        f"column {name!r}: must hold numbers; {where}. Correct the file, {missing}, or choose "
        "other columns."
    )
    noted = f"Column {name!r} was read as labels: {where}; {missing}."
    return Column(judged.kept, "label", unread=why, slips=rows, noted=[noted])


def _labels(judged: Judged) -> Column:
    noted = [*_levels(judged), *_capitals(judged.text)]
    if judged.unit == ("", "") and judged.numbers:
        numbers = sum(judged.counts[cell] for cell in judged.numbers)
        total = sum(judged.counts.values())
        noted.append(f"{numbers:,} of {total:,} labels of column {judged.text.name!r} are numbers.")
    return Column(judged.kept, "label", noted=noted)


_RULES: Sequence[Callable[[Judged], Column | None]] = (
    _empty, _refused, _plain, _truth, _codes, _decorated, _dates, _slips, _labels,
)  # fmt: skip


def _value(part: re.Match[str], marks: Marks) -> float | None:
    """Return the number of a cell; 1st and 2nd are none, nor are digits that a float would lose."""
    number = marks.number(part["number"])
    long = part["number"].isdecimal() and len(part["number"]) > _DIGITS
    if number is None or long or part["after"] in ("st", "nd", "rd", "th"):
        return None
    return -number if part["sign"] in ("-", "−") and part["sign"] else number


def _mapped(text: Text, values: Mapping[str, Any]) -> Any:
    """Return the value of each cell, NaN where it is empty; integers if all are."""
    result = text.cells.to_pandas().map({**values})
    if result.isna().any():
        return result.to_numpy()
    if all(isinstance(value, bool) for value in values.values()):
        return result.to_numpy(bool)
    integral = all(value.is_integer() and abs(value) < _EXACT for value in values.values())
    point = any(re.search(r"[.,]\d{0,2}$|[eE]", cell) for cell in values)
    return result.to_numpy(int if integral and not point else float)


def _numbers(
    judged: Judged,
    values: Any,
    said: Sequence[str] = (),
    written: Sequence[tuple[Any, str]] = (),
) -> Column:
    """Return a column of numbers, those that stand for missing ones left out."""
    gone = np.zeros(len(values), bool)
    for mark in judged.missing:
        code = Marks(".", ",").number(mark.lstrip("-"))
        if code is not None:
            gone |= values == (-code if mark.startswith("-") else code)
    if gone.any():
        values = np.where(gone, np.nan, values)
        written = written or _plain_texts(judged.text, ".", gaps=True)
    noted = nines(judged.text.name, values)
    return Column(values, "number", said, "", written, emptied=int(gone.sum()), noted=noted)


def nines(name: str, values: Any) -> list[str]:
    """Say which number, of nines alone and far from all others, may stand for an empty cell."""
    numbers = values[~np.isnan(values)]
    for code in {numbers.min(), numbers.max()} if len(numbers) else ():
        others = numbers[numbers != code]
        if not re.fullmatch(r"-9+|99+", f"{code:.15g}") or not len(others):
            continue
        if (code < 0 <= others.min()) or np.abs(others - code).min() > np.ptp(others) > 0:
            count = len(numbers) - len(others)
            cells = f"{count:,} {'cell' if count == 1 else 'cells'} of column {name!r}"
            hold = "holds" if count == 1 else "hold"
            way = f"say {_missing(name, f'{code:.15g}')} if such cells are empty"
            return [f"{cells} {hold} {code:.15g}, far from all others; {way}."]
    return []


def _missing(name: str, cell: str) -> str:
    return f"missing={f'{name}={cell}'!r}"


def _plain_texts(text: Text, mark: str, *, gaps: bool = False) -> list[tuple[Any, str]]:
    """Return plain numbers whose text differs from Python's, by gaps or commas, with their text."""
    import pyarrow.compute as pc

    if not (gaps or text.cells.null_count or mark == ","):
        return []
    if any(pc.count_distinct(x).as_py() > MOST for x in (text.cells[: 2 * MOST], text.cells)):
        return []
    return _texts({cell: float(cell.replace(",", ".")) for cell in text.counts})


def _texts(values: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Return the values whose text differs from Python's, with their text."""
    if len(values) > MOST:
        return []
    return [(value, cell) for cell, value in values.items() if str(value) != cell]


def _padded(cells: Mapping[str, int]) -> str:
    return next(
        (cell for cell in cells if len(cell) > 1 and cell[0] == "0" and cell.isdecimal()), ""
    )


def _gap(text: Text, word: str) -> str:
    """Say that a word of a column of numbers is an empty cell."""
    return f"{_in(text, word)} {'is' if text.counts[word] == 1 else 'are'} empty."


def _levels(judged: Judged) -> list[str]:
    """Say which labels look as if a cell was empty."""
    text = judged.text
    signs = filter(_SIGNS.fullmatch, text.counts)
    return [
        f"{_in(text, word)} {'is a label' if text.counts[word] == 1 else 'are labels'}; say "
        f"{_missing(text.name, word)} if such cells are empty."
        for word in [*judged.words, *signs]
    ]


def _in(text: Text, word: str) -> str:
    count = text.counts[word]
    return f"{count:,} {'cell' if count == 1 else 'cells'} {word!r} of column {text.name!r}"


def _recoded(judged: Judged) -> list[str]:
    """Say how cells are read as numbers that are not written as such, by an example."""
    what = f", without {''.join(judged.unit)!r}" if any(judged.unit) else ""
    for cell, value in judged.numbers.items():
        plain = re.fullmatch(r"[+-]?\d*(?:[.,]\d*)?(?:[eE][+-]?\d+)?", cell)
        grouped = value >= 1000 and re.search(r"[.,]\d{3}(?:\D|$)", cell)  # noqa: PLR2004
        if not plain or grouped or cell == _padded({cell: 1}):
            return [
                f"Column {judged.text.name!r} is read as numbers{what}: {cell!r} is {value:.15g}."
            ]
    return []


def _capitals(text: Text) -> list[str]:
    """Say which labels differ only in capitals."""
    labels = sorted(text.counts)
    same = Counter(map(str.casefold, labels))
    alike = [label for label in labels if same[label.casefold()] > 1]
    if not alike:
        return []
    return [f"Labels of column {text.name!r} differ only in capitals: {listed(alike)}."]
