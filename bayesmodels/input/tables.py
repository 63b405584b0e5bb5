"""Tables in files, as people have them: with any separator, decimal mark and common encoding."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.cells import MOST, Column, column_of, nines
from bayesmodels.input.containers import listed, no_column
from bayesmodels.input.marks import Text, marks_of
from bayesmodels.input.rows import check_lines, check_rows, check_sums, named, without_empty_rows
from bayesmodels.input.sheets import SHEETS, sheet_of
from bayesmodels.input.text import SEPARATORS, Grid, grid_of, text_of

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = (".csv", ".tsv", ".txt", ".dat")
_TYPED = (".parquet", ".sav", ".dta")
ENDINGS = (*_TEXTS, *SHEETS, *_TYPED)


class WasRead(TypedDict):
    """What was done to a file, in plain values: it stands in a table's ``attrs["read"]``.

    `columns` has the kind of each: "number", "label", "truth value", "date" or "empty". `left_out`
    has pairs of what was left out, and why; `recoded` has sentences about cells that are read as
    something else than their text; `first_row` has its cells as they stand in the file. `unread`
    says of columns why they can't be used as numbers; `written` has pairs of values and their text,
    where these differ.
    """

    file: str
    rows: int
    columns: dict[str, str]
    left_out: list[tuple[str, str]]
    recoded: list[str]
    first_row: dict[str, str]
    unread: dict[str, str]
    written: dict[str, list[tuple[Any, str]]]


def read_table(
    file: str | os.PathLike[str],
    *,
    missing: str | float | Sequence[str | float] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> pd.DataFrame:
    r"""Read a table from a file as it comes.

    Cells are read as text, and columns judged as a whole: of numbers, labels, truth values or
    dates. What can't be told is refused, or stays text; whatever else is guessed is said. Blanks
    around names and cells are dropped, and so is a first column that is called ``rownames`` or
    nothing, which holds labels of rows.

    Parameters
    ----------
    file : str or path
        Of the kind .csv, .tsv, .txt or .dat, with a heading; .parquet; or, with the extra
        ``bayesmodels[tables]``, .xlsx and .sav (SPSS); .dta (Stata); .ods with odfpy.
    missing : str, float or several
        What stands for an empty cell, such as ``"."`` or 9999; ``"age=9999"`` for one column.
        Empty cells always do, and NA, NaN, null, n/a and None in columns of numbers.
    decimal, thousands : str, optional
        The mark before decimals, and that between thousands: a point or a comma.
    separator : str, optional
        What stands between cells; by default that of comma, semicolon, tab and pipe of which the
        heading has most, or a blank.
    encoding : str, optional
        By default UTF-8, UTF-16, or else Windows-1252 (of which Latin-1 is a part), if the text
        looks like a western language.
    sheet : str or int, optional
        Name or number, from 1, of a sheet; by default the first.

    Returns
    -------
    pandas.DataFrame
        Its ``attrs["notes"]`` lists sentences about what was guessed, and ``attrs["read"]`` what
        was done, column by column.

    Raises
    ------
    DataError
        If the file is not there or can't be read, rows differ in their number of cells, a row is a
        title, a heading or a sum, or some numbers have decimal commas and others points.

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
    ['apples.csv has semicolons between columns.', "Numbers have decimal commas in ['weight']."]
    """
    path = Path(file)
    kind = path.suffix.lower()
    if kind not in ENDINGS:
        raise DataError(
            f"file: must end in {', '.join(ENDINGS)}; got {str(path)!r}. Save it as one of these."
        )
    if not path.is_file():
        raise DataError(f"file: there is no file {str(path)!r}.")
    if sheet is not None and kind not in SHEETS:
        raise DataError(f"sheet: {path.name} has no sheets; leave it out.")
    marks = [str(m) for m in ([missing] if isinstance(missing, (str, int, float)) else missing)]
    try:
        if kind in _TYPED:
            return _typed(path, marks, decimal, thousands)
        if kind in SHEETS:
            grid = sheet_of(path, sheet)
        else:
            text, notes = text_of(path.read_bytes(), encoding, path.name)
            grid = grid_of(text, separator, where=repr(str(path)))
            grid = grid._replace(notes=[*notes, *grid.notes])
    except DataError:
        raise
    except ImportError:
        raise DataError(
            f"file: {kind} can't be read, for a package is not installed: pip install "
            f"{'odfpy' if kind == '.ods' else repr('bayesmodels[tables]')}."
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(
            f"file: {str(path)!r} can't be read as {kind[1:]}: {str(error).strip()}"
        ) from None
    return _of_grid(path, grid, marks, decimal, thousands)


# --- tables of text -------------------------------------------------------------------------------


def _of_grid(
    path: Path, grid: Grid, missing: Sequence[str], decimal: str | None, thousands: str | None
) -> pd.DataFrame:
    """Return the frame of a grid of text: its heading, and columns of their types."""
    trimmed = grid.columns if grid.trimmed else [_trimmed(column) for column in grid.columns]
    cells, index, left_out = without_empty_rows(trimmed)
    table, labels = named(grid, cells, repr(str(path)))
    first = {name: str(column[0].as_py() or "") for name, column in table.items() if len(index)}
    marked = _marked([*table], missing)
    columns, said = _judged(table, index, marked, decimal, thousands, grid.separator)
    check_rows(columns, table, index)
    notes = list(grid.notes)
    notes += [*check_lines(columns, table, index), *check_sums(columns, table, index)]
    if grid.separator in ";\t" and path.suffix.lower() == ".csv":
        notes.append(f"{path.name} has {SEPARATORS[grid.separator]} between columns.")
    return _frame(path, columns, index, marked, (notes, [*left_out, *labels], said), first)


def _trimmed(column: Any) -> Any:
    """Return text without blanks around it, null where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column)
    empty = pc.equal(text, "")
    result = (
        pc.if_else(empty, pa.scalar(None, pa.string()), text) if pc.any(empty).as_py() else text
    )
    return pa.chunked_array(result) if isinstance(result, pa.Array) else result


def _marked(names: Sequence[str], missing: Sequence[str]) -> dict[str, list[str]]:
    """Return the words that stand for an empty cell, by column."""
    result: dict[str, list[str]] = {name: [] for name in names}
    for mark in missing:
        column, equals, text = mark.partition("=")
        if equals and column not in result:
            raise no_column("missing", column, names)
        for name in [column] if equals else names:
            result[name].append(text if equals else mark)
    return result


def _judged(
    table: dict[str, Any],
    index: np.ndarray,
    marked: dict[str, list[str]],
    decimal: str | None,
    thousands: str | None,
    separator: str,
) -> tuple[dict[str, Column], list[str]]:
    """Return columns of text in their types, and notes on how they were read."""
    texts = [Text(name, _without(cells, marked[name]), index) for name, cells in table.items()]
    marks, unread, said = marks_of(texts, decimal, thousands, separator)
    columns = {}
    for text in texts:
        name = text.name
        column = column_of(text, marks[name], marked[name], unread.get(name, ""))
        gone = text.cells.null_count - table[name].null_count + column.emptied
        columns[name] = column._replace(emptied=gone)
        said += column.said
    return columns, said


def _without(column: Any, marks: Sequence[str]) -> Any:
    """Return a column in which texts that stand for empty cells are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not marks:
        return column
    gone = pc.is_in(column, value_set=pa.array([*marks], pa.string()))
    return pc.if_else(gone, pa.scalar(None, pa.string()), column)


def _frame(
    path: Path,
    columns: dict[str, Column],
    index: np.ndarray,
    marked: dict[str, list[str]],
    remarks: tuple[Sequence[str], Sequence[tuple[str, str]], Sequence[str]],
    first: dict[str, str],
) -> pd.DataFrame:
    """Return columns as a frame whose `attrs` say what was noted, left out and recoded."""
    import pandas as pd

    frame = pd.DataFrame({name: column.values for name, column in columns.items()})
    if len(index) and index[-1] >= len(index):
        frame.index = pd.Index(index)
    notes, left_out, said = remarks
    recoded = [
        f"{column.emptied:,} {'cell' if column.emptied == 1 else 'cells'} of column {name!r} "
        f"{'is' if column.emptied == 1 else 'are'} empty: {listed(marked[name])} stands for that."
        for name, column in columns.items()
        if column.emptied
    ]
    marks = sorted({mark for words in marked.values() for mark in words})
    if marks and not recoded:
        recoded = [f"No cell holds {listed(marks)}, which was to stand for empty ones."]
    recoded += said
    whats = [f"Left out: {what}, which {why}." for what, why in left_out]
    noted = [sentence for column in columns.values() for sentence in column.noted]
    frame.attrs["notes"] = [*notes, *whats, *recoded, *noted]
    frame.attrs["read"] = WasRead(
        file=path.name,
        rows=len(frame),
        columns={name: column.kind for name, column in columns.items()},
        left_out=[*left_out],
        recoded=recoded,
        first_row=first,
        unread={name: column.unread for name, column in columns.items() if column.unread},
        written={name: [*column.written] for name, column in columns.items() if column.written},
    )
    return frame


# --- tables that know their types -----------------------------------------------------------------


def _typed(
    path: Path, missing: Sequence[str], decimal: str | None, thousands: str | None
) -> pd.DataFrame:
    """Return a typed table's frame; its columns of text are read as those of a text file."""
    import pandas as pd
    import pyarrow as pa

    readers: dict[str, Callable[[Path], Any]] = {
        ".parquet": pd.read_parquet, ".dta": pd.read_stata, ".sav": _spss,
    }  # fmt: skip
    frame = readers[path.suffix.lower()](path).reset_index(drop=True)
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    twice = frame.columns[frame.columns.duplicated()].tolist()
    if twice:
        raise DataError(f"file: two columns of {str(path)!r} are called {twice[0]!r}. Rename one.")
    marked, index = _marked([*frame], missing), np.arange(len(frame))
    texts = {
        name: _trimmed(pa.array(column.map(str, na_action="ignore"), pa.string(), from_pandas=True))
        for name, column in frame.items()
        if isinstance(column.dtype, pd.StringDtype) or column.dtype in (object, "boolean")
    }
    result, said = _judged(texts, index, marked, decimal, thousands, ",")
    columns = {
        name: result[name] if name in result else _typed_column(column, marked[name])
        for name, column in frame.items()
    }
    first = {name: str(frame[name].iloc[0]) for name in frame} if len(frame) else {}
    return _frame(path, columns, index, marked, ([], [], said), first)


def _spss(path: Path) -> pd.DataFrame:
    import pandas as pd
    from pyreadstat import ReadstatError

    try:
        return pd.read_spss(path)
    except ReadstatError as error:
        raise ValueError(error) from None


def _typed_column(column: Any, marks: Sequence[str]) -> Column:
    """Return a typed column, with missing values in place of the words for empty cells."""
    if hasattr(column.dtype, "numpy_dtype"):  # one of pandas that may have gaps
        column = column.astype(object).where(column.notna(), np.nan).infer_objects()
    gone = np.zeros(len(column), bool)
    for mark in marks:
        gone |= (column.astype(str) == mark).to_numpy()
        if column.dtype.kind in "iuf" and re.fullmatch(r"-?\d+(\.\d+)?", mark):
            gone |= (column == float(mark)).to_numpy(bool)
    column = column.mask(gone) if gone.any() else column
    kinds = {"b": "truth value", "i": "number", "u": "number", "f": "number", "M": "date"}
    kind = "empty" if column.isna().all() else kinds.get(column.dtype.kind, "label")
    written: list[tuple[Any, str]] = []
    if column.dtype.kind == "f" and column.isna().any():  # whole numbers with gaps
        distinct = column.dropna().unique()
        if len(distinct) <= MOST and (distinct % 1 == 0).all():
            written = [(float(value), f"{value:.0f}") for value in distinct]
    noted = nines(str(column.name), column.to_numpy(float)) if kind == "number" else []
    return Column(column, kind, written=written, emptied=int(gone.sum()), noted=noted)
