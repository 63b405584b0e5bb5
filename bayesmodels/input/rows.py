"""Rows of a table of text that are none: empty ones, headings, units, footnotes and sums."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.cells import Column
from bayesmodels.input.containers import listed, shown
from bayesmodels.input.text import Grid

_SEVERAL = 3  # rows that can be told from each other
_MOST_NAMED = 5  # rows that are named
ROW_LABELS = ("", "rownames")
_SUMS = (
    r"(?i)^(?:(?:(?:grand |sub)?total[se]?|totaal|sums?|overall|all|gesamt|summe|insgesamt|"
    r"means?|averages?|avg|mittelwert|durchschnitt)\b|[σΣ]$)"
)
_UNIT = re.compile(
    r"[(\[].*[)\]]|%|years?|months?|weeks?|days?|hours?|[kmµcn]?[glm](?:/\w+)?|°[CF]|sec|min"
)
_SENTENCE = re.compile(r"^(?:source|note|quelle|\*|†|¹)|\w+ \w+ \w+.*[.:]|: ", re.IGNORECASE)


def without_empty_rows(
    cells: list[Any],
) -> tuple[list[Any], np.ndarray, list[tuple[str, str]]]:
    """Return columns without empty rows, the places of the kept rows, and notes on removed ones."""
    import pyarrow as pa

    empty = np.zeros(len(cells[0]), bool)
    if len(cells) > 1 and all(column.null_count for column in cells):
        empty = np.logical_and.reduce([np.asarray(column.is_null()) for column in cells])
    if not empty.any():
        return cells, np.arange(len(empty)), []
    rows, kept = _rows(np.flatnonzero(empty)), pa.array(~empty)
    why = "is empty" if empty.sum() == 1 else "are empty"
    return [column.filter(kept) for column in cells], np.flatnonzero(~empty), [(rows, why)]


def _rows(places: Any) -> str:
    """Name rows in words, at most the first five."""
    numbers = ", ".join(f"{place + 1:,}" for place in places[:_MOST_NAMED])
    more = f" and {len(places) - _MOST_NAMED:,} more" if len(places) > _MOST_NAMED else ""
    return f"{'row' if len(places) == 1 else 'rows'} {numbers}{more} below the heading"


def named(
    grid: Grid, cells: Sequence[Any], where: str
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return columns by name, without labels of rows and empty columns of no name."""
    table: dict[str, Any] = {}
    labels = []
    for i, (name, column) in enumerate(zip(grid.heading, cells, strict=True)):
        full = column.null_count < len(column)
        if name in table:
            raise DataError(f"file: two columns of {where} are called {name!r}. Rename one.")
        if i == 0 and name in ROW_LABELS and full and len(cells) > 1:
            row = listed([c[0].as_py() or "" for c in cells])
            shift = f"; row 1 is {row}" if grid.labelled else ""
            labels = [("the first column", f"holds labels of rows{shift}")]
        elif name:
            table[name] = column
        elif full:
            text = column.drop_null()[0].as_py()
            raise DataError(
                f"file: column {i + 1} has no name and holds {shown(text)}. Name it, or remove "
                "lines above the heading."
            )
    return table, labels


def check_rows(columns: Mapping[str, Column], table: Mapping[str, Any], index: np.ndarray) -> None:
    """Refuse rows that repeat the heading, or hold nothing but texts in brackets below it."""
    import pyarrow.compute as pc

    if len(table) == 1 or not len(index):  # one cell may be as its column's name
        return
    if any(column.kind == "number" for column in columns.values()):  # no cell is a name
        return
    same = np.ones(len(index), bool)
    for name, column in table.items():
        alike = pc.equal(pc.utf8_lower(column), name.lower())
        same &= np.asarray(pc.fill_null(alike, fill_value=False))
        if not same.any():
            break
    else:
        raise _no_row(index[np.argmax(same)], [*table], "repeats the heading")
    first = [column[0].as_py() or "" for column in table.values()]
    if all(re.fullmatch(r"\(\D+\)|\[\D+\]|[-=:]{3,}", text) for text in first if text):
        raise _no_row(index[0], first, "is the second part of a heading")


def _no_row(place: Any, row: Sequence[str], why: str) -> DataError:
    return DataError(
        f"file: row {int(place) + 1} below the heading, {listed(row)}, {why}. Remove it from the "
        "file."
    )


def check_lines(
    columns: Mapping[str, Column], table: Mapping[str, Any], index: np.ndarray
) -> list[str]:
    """Refuse a first row of units and a last row that is a footnote; say what may be one.

    There is text in columns that hold numbers in all other rows, and a number in none.
    """
    if len(index) < _SEVERAL:
        return []
    for at, why in ((0, "a line of units or a second heading"), (-1, "a footnote")):
        row = [cells[at].as_py() or "" for cells in table.values()]
        slips = [[*column.slips] == [int(index[at]) + 1] for column in columns.values()]
        odd = list(compress(row, slips))
        numbers = [c for c in columns.values() if c.kind == "number" and not np.isnan(c.values[at])]
        words = all(re.search(r"[^\W\d_]|%", text) and text[0] not in "<>" for text in odd)
        single = sum(map(bool, row)) == 1
        second = len(odd) > 1 or any(map(_UNIT.fullmatch, odd)) or any(map(str.isdecimal, table))
        units = at == 0 and second
        if odd and words and not numbers and (single or units):
            raise _no_row(index[at], row, f"holds no number where all others do, as {why}")
    if single and _SENTENCE.search(text := "".join(row)):
        raise _no_row(index[-1], row, "holds a single cell, as a footnote")
    if single and len(row) > 1 and " " in text:
        return [f"The last row holds only {shown(text)}, and was read as a row."]
    return []


def check_sums(
    columns: Mapping[str, Column], table: Mapping[str, Any], index: np.ndarray
) -> list[str]:
    """Refuse a row that its label calls a sum, and its numbers prove one; say what may be one."""
    import pyarrow.compute as pc

    numbers = [c.values for c in columns.values() if c.kind == "number"]
    if not numbers or len(index) < _SEVERAL:
        return []
    said = []
    for name in (name for name, column in columns.items() if column.kind == "label"):
        alike = pc.fill_null(pc.match_substring_regex(table[name], _SUMS), fill_value=False)
        places = np.flatnonzero(np.asarray(alike))
        if not len(places):
            continue
        row = [cells[int(places[0])].as_py() or "" for cells in table.values()]
        sums = [_is_sum(values, places[0], mean=True) for values in numbers]
        if len(places) == 1 and any(sums):
            raise _no_row(index[places[0]], row, "is the sum or the mean of the others")
        label = shown(table[name][int(places[0])].as_py())
        said.append(f"{label} stands in column {name!r}, and was read as a row like others: "
                    f"{_rows(index[places])}.")  # fmt: skip
    last = [_is_sum(values, -1) for values in numbers if not np.isnan(values[-1])]
    if not said and len(last) > 1 and all(last):
        said.append("The last row is the sum of the others in all numbers, and was read as a row.")
    return said


def _is_sum(values: Any, place: int, *, mean: bool = False) -> bool:
    """Say whether a number is the sum of all others in its column, two or more, or their mean."""
    value, total = values[place], np.nansum(values)
    others = np.count_nonzero(~np.isnan(values) & (values != 0)) - 1
    is_total = bool(np.isclose(2 * value, total, rtol=1e-9, atol=0))
    known = np.count_nonzero(~np.isnan(values)) - 1
    middle = mean and bool(np.isclose(value * known, total - value, rtol=5e-3, atol=0))
    return bool(others > 1 and (is_total or middle))
