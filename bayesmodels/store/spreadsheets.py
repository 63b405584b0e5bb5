"""Tables as CSV for spreadsheets, in which no text from data becomes a formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet may take for the beginning of a formula (OWASP, *CSV Injection*).

The last four are the first four in full width."""


def cell(value: Any) -> str:
    """Return a cell: numbers to five digits, text that could be a formula behind an apostrophe.

    >>> cell("=1+1"), cell("plain"), cell(-1.5), cell(float("-inf"))
    ("'=1+1", 'plain', '-1.5', "'-inf")
    """
    if isinstance(value, str):
        # Spreadsheets ignore blanks in front, and a cell's quotes are not part of it.
        return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value
    text = f"{value:.5g}"
    return f"'{text}" if value == -math.inf else text  # which no spreadsheet reads as a number


def sheet(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table as CSV in UTF-8; cells with commas, quotes or line breaks are quoted.

    >>> sheet(["name", "x"], [["@sum", 0.25], ["a,b", None]]).decode().splitlines()
    ['name,x', "'@sum,0.25", '"a,b",']
    """
    text = io.StringIO()
    writer = csv.writer(text)  # ends lines as RFC 4180 does; Python 3.12 quotes what is in the end
    writer.writerow([cell(name) for name in head])
    writer.writerows(["" if value is None else cell(value) for value in row] for row in rows)
    return text.getvalue().encode()
