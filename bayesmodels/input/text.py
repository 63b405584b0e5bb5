"""Bytes of a text file -> its heading and its cells, as text, and what was guessed on the way."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed, shown

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "blanks"}
_NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
_MARKS = set("€£§°µ²³½¼¾–—…±·ºª¿¡®©™\u00a0")
_QUOTES = dict.fromkeys(map(ord, "‘’“”«»\u00a0"))
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
_ODD, _RARE = re.compile(r"[\x01-\x08\x0e-\x19\x1b-\x1f]"), 1000  # one in so many is a slip
_HEAD = 2**22  # characters in which the heading stands
_SAMPLE = 100  # lines that tell how cells are separated


class Grid(NamedTuple):
    """Names of columns, their cells as Arrow's text, what separates them, and what was guessed.

    `labelled` says that there is a first column that the heading has no name for, `trimmed` that no
    cell has blanks around it, and empty ones are null.
    """

    heading: list[str]
    columns: list[Any]
    separator: str
    notes: list[str]
    labelled: bool = False
    trimmed: bool = False


def text_of(raw: bytes, encoding: str | None, name: str) -> tuple[str, list[str]]:
    """Return the characters of a file, with line feeds between lines, and what was guessed."""
    notes = []
    if encoding is None:
        encoding, called = _encoding(raw, name)
        if called:
            notes = [f"{name} {called}. If letters are wrong, say encoding=..."]
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise DataError(
            f"encoding: must be a name such as 'utf-8', 'cp1252', 'shift_jis' or 'gb18030'; got "
            f"{encoding!r}."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"file: {name} is no text in {encoding}: byte {error.start + 1:,} is none of it. Say "
            "which it is by encoding='gb18030', 'cp1251' or the like, or save it as UTF-8."
        ) from None
    odd = _ODD.findall(text[:_HEAD])
    if odd or "\0" in text:
        line = text.count("\n", 0, text.index(odd[0] if odd else "\0")) + 1
        first = f"characters that no text has, the first in line {line:,}"
        if "\0" in text or len(odd) * _RARE > len(text):
            raise DataError(f"file: {name} is no text, for it holds {first}. Remove them.")
        notes.append(f"{first.capitalize()}, were read as \ufffd.")
        text = _ODD.sub("\ufffd", text)
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text, notes


def _encoding(raw: bytes, name: str) -> tuple[str, str]:
    """Return the encoding of bytes, and what to say of it if it was guessed."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", ""
    if zeros := [i % 2 for i, byte in enumerate(raw[:4096]) if not byte]:
        if len(raw) % 2 or len({*zeros}) > 1:
            raise DataError(f"file: {name} is no text, for it holds zero bytes.")
        said = "was read as UTF-16, though it has no mark of that"
        return ("utf-16-le" if zeros[0] else "utf-16-be"), said
    try:
        raw.isascii() or raw.decode("utf-8")
    except UnicodeDecodeError:
        if _western(raw):
            return "cp1252", "is no UTF-8 text and was read as Windows-1252 (Latin-1)"
        raise DataError(
            f"file: {name} is no UTF-8 text, and what else it is can't be told. Say "
            "encoding='gb18030', 'shift_jis', 'cp1251', 'cp1252' or the like, or save it as UTF-8."
        ) from None
    return "utf-8", ""


def _western(raw: bytes) -> bool:
    """Say whether bytes look like a western language in Windows-1252.

    There letters beyond ASCII stand alone or in pairs, in words with other letters, and none is a
    capital behind a small one; two bytes for each character of another script do not.
    """
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return all(map(_western_word, {*re.findall(r"[A-Za-z\u0080-\uffff]+", text)}))


def _western_word(word: str) -> bool:
    bare = word.translate(_QUOTES)
    odd = re.findall(r"[^\x00-\x7f]+", bare)
    letters = len(bare) - sum(map(len, odd))
    for run in (run for run in odd if run not in _MARKS):
        isolated = len(run) == 1 or (len(run) == 2 and letters > run.isupper())  # noqa: PLR2004
        inside = run.isupper() and re.search(rf"[a-z]{run}|[A-Z]{run}[a-z]", bare)
        if not isolated or inside or not run.isalpha() or "ƒ" in run or "ˆ" in run:
            return False
    return word[0] != "’"


def grid_of(text: str, separator: str | None, *, where: str) -> Grid:
    """Return heading and cells of a text; `where` is what to call the file."""
    notes: list[str] = []
    text, announced = _without_preamble(text, notes)
    text = _unwrapped(text, notes)
    chosen = _chosen(text, separator, announced, where)
    if separator is None and chosen in " |":
        notes.append(f"Cells are separated by {SEPARATORS[chosen]}.")
    rows = _rows(text[:_HEAD], chosen)
    heading, first = next(rows, []), next(rows, [])
    if not heading:
        raise DataError(f"file: {where} can't be read: it is empty, without a heading.")
    text = _below_heading(text, chosen)
    quoted = text.lstrip().startswith('"')
    width = max(len(first), 1) if first else len(heading)
    labelled = len(first) == len(heading) + 1 and bool(first[-1].strip())
    if len(first) > len(heading) + 1 and any(cell.strip() for cell in first[len(heading) + 1 :]):
        raise DataError(
            f"file: {where} has {len(first)} cells below a heading of {len(heading)}, which "
            f"begins with {heading[0]!r}. Remove lines above the heading, or name all columns."
        )
    while len(heading) > width and not heading[-1].strip():
        heading.pop()
    if len(heading) > width:
        raise _uneven(1, chosen.join(first), len(first), len(heading))
    names = [""] * labelled + [name.strip() for name in heading]
    names += [""] * (width - len(names))
    columns = _columns(text, chosen, width, notes, names=len(heading))
    if labelled:
        _check_row_labels(columns, heading, separator=chosen, quoted=quoted, where=where)
    if any(map(_NUMBER.fullmatch, names)):
        notes.append(f"The first row, {listed(heading)}, was read as a heading; is there none?")
    if width == 1 and re.search(r"\w[^\w.]+\w", names[0]):
        notes.append(f"There is one column, {names[0]!r}; if it is several, say separator=...")
    trimmed = text.isascii() and not any(blank in text for blank in " \t\x0b\x0c")
    return Grid(names, columns, chosen, notes, labelled, trimmed)


def _chosen(text: str, separator: str | None, announced: str | None, where: str) -> str:
    """Return the separator of cells: the one asked for, announced in the file, or guessed."""
    if separator is None:
        return announced or _separator(text, where)
    chosen = _NAMED.get(separator, separator)
    if len(chosen) != 1 or chosen in '"\n':
        raise DataError(
            f"separator: must be one character, or one of {listed([*_NAMED])}; got {separator!r}."
        )
    return chosen


def _without_preamble(text: str, notes: list[str]) -> tuple[str, str | None]:
    """Return a text without the comments above its heading, and the separator it announces."""
    text, announced = text.lstrip("\n"), None
    if result := re.match(r'"?sep=(.)"?[^\w\n]*\n', text, re.IGNORECASE):
        text, announced = text[result.end() :], result[1]
        notes.append(f"The first line, {result[0].strip()!r}, says how cells are separated.")
    comments: list[str] = []
    while text.startswith("#"):
        line, _, below = text.partition("\n")
        if not below.startswith("#") and _is_heading(line, below.partition("\n")[0]):
            notes.append("The heading begins with #, which was left out.")
            return line[1:].lstrip() + "\n" + below, announced
        comments, text = [*comments, line], below.lstrip("\n")
    if comments:
        notes.append(f"Lines that begin with # were left out: {listed(comments)}.")
    return text, announced


def _is_heading(comment: str, below: str) -> bool:
    """Say whether a comment has as many cells as the line below it, which is none of names."""
    for separator in SEPARATORS:
        cells = [cell.strip() for cell in below.split(separator)]
        if len(cells) > 1 and comment.count(separator) == below.count(separator):
            return any(map(_NUMBER.fullmatch, cells))
    return False


def _unwrapped(text: str, notes: list[str]) -> str:
    """Return a text whose lines were quoted as a whole without these quotes."""
    head = text.split("\n", 1)[0]
    if not re.fullmatch(r'"[^"]*[,;\t|](?:[^"]|"")*"', head) or '","' in head or '";"' in head:
        return text
    lines = [line for line in text.split("\n") if line.strip()]
    if not all(len(line) > 1 and line[0] == line[-1] == '"' for line in lines):
        return text
    cells = [next(csv.reader([line], delimiter="\0")) for line in lines]
    notes.append("Each line stands in quotes as a whole; these were left out.")
    return "\n".join(cell[0] for cell in cells) + "\n"


def _separator(text: str, where: str) -> str:
    """Guess the separator: the heading's most frequent one; blanks between quoted names alone."""
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    bare = re.sub(r'"[^"]*"', "", lines[0]) if lines else ""
    result = max(",;\t|", key=bare.count)
    if bare.count(result) or len(lines) < 2:  # noqa: PLR2004 - a heading and a row
        return result
    try:
        head, *rows = ([cell for cell in row if cell] for row in _rows("\n".join(lines), " "))
    except DataError:  # quotation marks that are none
        return ","
    width = {len(row) for row in rows}
    if len(width) > 1 or width.pop() not in (len(head), len(head) + 1) or len(rows[0]) < 2:  # noqa: PLR2004 - cells
        return ","
    if '"' in lines[0] and not bare.strip():
        return " "
    if any(all(_NUMBER.fullmatch(row[i]) for row in rows) for i in range(len(rows[0]))):
        raise DataError(
            f"file: {where} has blanks between what may be cells: {shown(lines[1])}. Say "
            "separator='space', or separator=',' if it is one column."
        )
    return ","


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Return rows as lists of cells, but for those without any character."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            cells = row[:-1] if separator == " " and row and not row[-1] else row
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield cells
    except csv.Error as error:
        raise DataError(
            f"file: line {reader.line_num} of what stands below comments can't be read: {error}. "
            "Is a quotation mark missing, or one too many?"
        ) from None


def _below_heading(text: str, separator: str) -> str:
    """Return the text below the first row that is not empty."""
    reader = csv.reader(io.StringIO(text[:_HEAD]), delimiter=separator, skipinitialspace=True)
    for row in reader:
        if len(row) > 1 or (row and row[0].strip()):
            break
    at = 0
    for _ in range(reader.line_num):
        at = text.find("\n", at) + 1 or len(text)
    return text[at:]


def _columns(text: str, separator: str, width: int, notes: list[str], *, names: int) -> list[Any]:
    """Return columns of text; rows with another number of cells are refused, or are comments."""
    import pyarrow as pa
    import pyarrow.csv as pc

    left: list[str] = []
    if separator == " " or f'{separator} "' in text or text.count('"') % 2 or not text.strip():
        columns = _slowly(text, separator, width, left, names=names)
    else:
        uneven: list[Any] = []

        def judge(row: Any) -> str:
            (left if row.text.startswith("#") else uneven).append(row.text)
            return "skip" if row.text.startswith("#") else "error"

        called = [str(i) for i in range(width)]
        try:
            columns = pc.read_csv(
                io.BytesIO(text.encode()),
                pc.ReadOptions(column_names=called),
                pc.ParseOptions(
                    delimiter=separator, newlines_in_values='"' in text, invalid_row_handler=judge
                ),
                pc.ConvertOptions(
                    column_types=dict.fromkeys(called, pa.string()),
                    strings_can_be_null=True,
                    null_values=[""],
                ),
            ).columns
        except pa.ArrowInvalid as error:
            if not uneven:
                raise DataError(f"file: can't be read: {error}") from None
            columns = _slowly(text, separator, width, left, names=names)
    if left:
        notes.append(f"Lines that begin with # were left out: {listed(left)}.")
    return columns


def _slowly(text: str, separator: str, width: int, left: list[str], *, names: int) -> list[Any]:
    """Return columns of text row by row, which knows the number of a row with too few cells."""
    import pyarrow as pa

    rows = []
    for number, row in enumerate(_rows(text, separator), 1):
        if len(row) == width:
            rows.append([cell or None for cell in row])
        elif row[0].startswith("#"):
            left.append(separator.join(row))
        else:
            raise _uneven(number, separator.join(row), len(row), names)
    columns = [pa.array(cells, pa.string()) for cells in zip(*rows, strict=True)]
    return columns or [pa.array([], pa.string())] * width


def _uneven(number: int, text: str, cells: int, names: int) -> DataError:
    than = f"the heading has {names}" if cells != names else "row 1 has another number"
    count = f"{cells} cells" if cells != 1 else "1 cell"
    return DataError(
        f"file: row {number} below the heading, {shown(text.strip())}, has {count}; {than}. "
        "Correct it; or remove it, if it is a title or a footnote; or say "
        "separator=... if cells are separated by something else."
    )


def _check_row_labels(
    columns: Sequence[Any], heading: Sequence[str], *, separator: str, quoted: bool, where: str
) -> None:
    """Refuse a first column without a name whose cells are no unique row labels, as R writes."""
    labels = [str(label).strip() for label in columns[0].to_pylist()]
    row = [column[0].as_py() for column in columns]
    numbers = [label for label in labels if _NUMBER.fullmatch(label)]
    counted = labels == [str(i + 1) for i in range(len(labels))]
    unique = len({*labels}) == len(labels) and (not numbers or counted or quoted)
    halves = not quoted and separator == "," and any(
        _digits(left) and _digits(right)
        for left, right in zip(columns[not numbers :], columns[1 + (not numbers) :], strict=False)
    )  # fmt: skip
    if not unique or halves or (len(heading) == 1 and not (counted or quoted)):
        why = " Are there commas in its numbers? Put such cells in quotes." if halves else ""
        raise DataError(
            f"file: {where} has {len(row)} cells below a heading of {len(heading)}, "
            f"{listed(heading)}: row 1 is {listed(row)}, and its first cells are no labels of rows."
            f"{why} Name all columns, or remove lines above the heading."
        )


def _digits(column: Any) -> bool:
    """Say whether all cells are digits, as both halves of a number with a decimal comma are."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(column, r"^\s*[+-]?\d+\s*$")).as_py())
