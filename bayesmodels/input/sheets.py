"""A sheet of a spreadsheet -> its heading and its cells, as text."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed
from bayesmodels.input.text import Grid

SHEETS = (".xlsx", ".xlsm", ".ods")


def sheet_of(path: Path, sheet: str | int | None) -> Grid:
    """Return a sheet as text: its first row that is not empty is the heading."""
    import pandas as pd
    import pyarrow as pa

    with pd.ExcelFile(path) as book:
        sheets, chosen = [str(name) for name in book.sheet_names], str(sheet)
        if sheet is None:
            chosen = sheets[0]
        elif chosen not in sheets and chosen.isdecimal() and 0 < int(chosen) <= len(sheets):
            chosen = sheets[int(chosen) - 1]
        if chosen not in sheets:
            raise DataError(f"sheet: must be one of {listed(sheets)}; got {sheet!r}.")
        if _has_bare_formulas(path):
            raise DataError(
                f"file: {str(path)!r} has formulas without their values. Open it in a spreadsheet, "
                "and save it."
            )
        grid = pd.read_excel(book, sheet_name=chosen, header=None, dtype=object, na_filter=False)
    rows = [[_shown_cell(cell) for cell in row] for row in grid.to_numpy(object).tolist()]
    while rows and not any(rows[0]):
        rows.pop(0)
    if not rows:
        raise DataError(f"file: sheet {chosen!r} of {str(path)!r} is empty.")
    heading, *below = rows
    columns = [pa.array([row[i] for row in below], pa.string()) for i in range(len(heading))]
    others = [name for name in sheets if name != chosen]
    notes = [f"Sheet {chosen!r} was read; for one of {listed(others)} say sheet=..."] * (
        sheet is None and bool(others)
    )
    return Grid([name.strip() for name in heading], columns, ",", notes)


def _has_bare_formulas(path: Path) -> bool:
    """Say whether a formula's value is not in the file, as where a program wrote it."""
    with ZipFile(path) as parts:
        sheets = [parts.read(name) for name in parts.namelist() if "worksheets/sheet" in name]
    bare = rb"<c(?![^>]*t=.str)[^>]*><f[^>]*>[^<]*</f>(?:<v ?/>|<v></v>)?</c>"
    return any(re.search(bare, sheet) for sheet in sheets)


def _shown_cell(value: Any) -> str:
    """Return a cell of a spreadsheet as text; of errors, which pandas has as NaN, that they are."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, float) and np.isnan(value):
        return "#ERROR!"
    if isinstance(value, datetime):
        midnight = not (value.hour or value.minute or value.second)
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)
