"""Tables in files, as people have them: with any separator, decimal mark and common encoding."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed

if TYPE_CHECKING:
    import pandas as pd

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_ENCODINGS = {"utf-8-sig": "", "cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?|[+-]?\d+")
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
ROW_LABELS = ("", "rownames")
ENDINGS = (".csv", ".tsv", ".txt", ".parquet")


class WasRead(TypedDict):
    """What was done to a file, in plain values: it stands in a table's ``attrs["read"]``.

    `columns` has the kind of each: "number", "label", "truth value", "date" or "empty". `left_out`
    has pairs of what was left out, and why; `recoded` has sentences about cells that are read as
    something else than their text; `first_row` has its cells as they stand in the file.
    """

    file: str
    rows: int
    columns: dict[str, str]
    left_out: list[tuple[str, str]]
    recoded: list[str]
    first_row: dict[str, str]


def read_table(file: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Read a table from a file as it comes.

    Columns may be separated by commas, semicolons or tabs, whichever the heading has most of.
    Where commas don't separate, they may be decimal marks. Text is UTF-8, UTF-16 with its mark, or
    else Windows-1252 (of which Latin-1 is a part). Blanks around names and cells are dropped, and
    so is a first column that is called ``rownames`` or nothing, which holds labels of rows.

    Parameters
    ----------
    file : str or path
        Of the kind .csv, .tsv, .txt or .parquet, with a heading.

    Returns
    -------
    pandas.DataFrame
        Its ``attrs["notes"]`` lists sentences about what was guessed.

    Raises
    ------
    DataError
        If the file is not there or can't be read, two columns have one name, the heading lacks two
        names or more, or some numbers have decimal commas and others points.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "apples.csv")
    >>> _ = file.write_text("sort ; weight\nElstar; 0,15\nBraeburn; 0,21\n")
    >>> frame = bm.read_table(file)
    >>> frame["weight"].tolist()
    [0.15, 0.21]
    >>> frame.attrs["notes"]
    ['apples.csv has semicolons between columns and decimal commas.']
    """
    import pandas as pd

    path = Path(file)
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        raise DataError(
            f"file: must end in {', '.join(ENDINGS)}; got {str(path)!r}. Save it as one of these."
        )
    if not path.is_file():
        raise DataError(f"file: there is no file {str(path)!r}.")
    try:
        table, notes = _parquet(path) if kind == ".parquet" else _text(path)
    except DataError:
        raise
    except (ValueError, OSError) as error:
        raise DataError(
            f"file: {str(path)!r} can't be read as {kind[1:]}: {str(error).strip()}"
        ) from None
    twice = table.columns[table.columns.duplicated()].tolist()
    if twice:
        raise DataError(f"file: two columns of {str(path)!r} are called {twice[0]!r}. Rename one.")
    for name, column in table.items():
        if isinstance(column.dtype, pd.StringDtype):
            table[name] = _stripped(column)
            notes += _capitals(str(name), table[name])
    kinds = {str(name): _kind(column) for name, column in table.items()}
    first = {str(name): str(table[name].iloc[0]) for name in table} if len(table) else {}
    table.attrs["read"] = WasRead(
        file=path.name, rows=len(table), columns=kinds, left_out=[], recoded=[], first_row=first
    )
    table.attrs["notes"] = notes
    return table


def _kind(column: Any) -> str:
    kinds = {"b": "truth value", "i": "number", "u": "number", "f": "number", "M": "date"}
    return "empty" if column.isna().all() else kinds.get(column.dtype.kind, "label")


def _parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    table = pd.read_parquet(path).reset_index(drop=True)
    return table.rename(columns=lambda name: str(name).strip()), []


def _text(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of text, and what was guessed."""
    import pandas as pd

    encoding, called = _encoding(path)
    with path.open(encoding=encoding, newline="") as lines:
        bare = re.sub(r'"[^"]*"', "", next((line for line in lines if line.strip()), ""))
        separator = max(_SEPARATORS, key=bare.count)
        lines.seek(0)
        rows = filter(any, csv.reader(lines, delimiter=separator, skipinitialspace=True))
        heading, first = next(rows, []), next(rows, [])
    if len(first) > len(heading) + 1 and any(first[len(heading) + 1 :]):
        raise DataError(
            f"file: {str(path)!r} has {len(first)} cells below a heading of {len(heading)}, which "
            f"begins with {heading[0]!r}. Remove lines above the heading, or name all columns."
        )
    how: dict[str, Any] = {"encoding": encoding, "skipinitialspace": True, "sep": separator}
    labelled = len(first) > len(heading) and bool(first[-1].strip())
    how["index_col"] = None if labelled else False  # or else lines end with a separator
    table, marks = pd.read_csv(path, **how), ""
    commas = [] if separator == "," else [name for name in table if _decimal_commas(table[name])]
    if commas:
        once = pd.read_csv(path, decimal=",", **how)
        both = [name for name in table if table[name].dtype.kind == "f" != once[name].dtype.kind]
        if both:
            raise DataError(
                f"file: numbers of {str(path)!r} have decimal commas (column {commas[0]!r}) and "
                f"points (column {both[0]!r}). Write all with points."
            )
        table, marks = once, " and decimal commas"
    table.columns = pd.Index([name.strip() for name in heading])
    notes = []
    if all(map(_NUMBER.fullmatch, table.columns)):
        notes.append(f"The first row, {listed(heading)}, was read as a heading; is there none?")
    if separator != "," and (path.suffix.lower() == ".csv" or marks):
        notes.append(f"{path.name} has {_SEPARATORS[separator]} between columns{marks}.")
    if called:
        notes.append(f"{path.name} is no UTF-8 text and was read as {called}.")
    if labelled or table.columns[:1].isin(ROW_LABELS).any():
        table = table.reset_index(drop=True) if labelled else table.iloc[:, 1:]
        notes.append("The first column holds labels of rows and was left out.")
    return table, notes


def _encoding(path: Path) -> tuple[str, str]:
    """Return the first encoding that all of a file is text in, and what to call it if told."""
    with path.open("rb") as start:
        if start.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16", ""
    for encoding, called in _ENCODINGS.items():
        try:
            with path.open(encoding=encoding, newline="") as text:
                while text.read(1 << 20):
                    pass
        except UnicodeDecodeError:
            continue
        return encoding, called
    raise DataError(f"file: {str(path)!r} is no text.")


def _decimal_commas(column: Any) -> bool:
    """Say whether a column of text holds numbers with decimal commas, and nothing else."""
    if column.dtype.kind in "biuf" or not len(cells := column.dropna()):
        return False
    cells = cells.astype(str).str.strip()
    return bool(cells.str.fullmatch(_WITH_COMMA).all() and cells.str.contains(",").any())


def _capitals(name: str, column: Any) -> list[str]:
    """Say which labels of a column of text differ only in capitals."""
    if column.dtype.kind in "biuf":
        return []
    labels = sorted(column.dropna().unique())
    same = Counter(map(str.casefold, labels))
    alike = [label for label in labels if same[label.casefold()] > 1]
    return [f"Labels of column {name!r} differ only in capitals: {listed(alike)}."] if alike else []


def _stripped(column: Any) -> Any:
    """Return a column of text without blanks around it; of numbers, if these are all."""
    import pandas as pd

    text = column.str.strip()
    text = text.mask(text.eq("").fillna(value=False).astype(bool))
    try:
        return pd.to_numeric(text)
    except ValueError:
        return text
