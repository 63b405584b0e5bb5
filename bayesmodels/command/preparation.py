"""Tables as people have them -> frames as models of the catalogue take them, and what was done."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesmodels.command import catalog
from bayesmodels.command.catalog import Columns, Entry, complete, levels_of
from bayesmodels.errors import DataError
from bayesmodels.input import formula as formulas
from bayesmodels.input.containers import listed, meant, no_column, shown
from bayesmodels.input.wrappers import Design

_MOST_ROWS = 10_000_000
_ROWS, _IDENTIFIERS, _TEXTS = "numbers the rows", "holds ids", "holds another text in most rows"
_NO_SURVEY = (
    " It says how many equal rows a row stands for. Survey weights don't; leave them out, and the "
    "answer is about these rows, not about the population."
)
_WIDE = "of column"  # of several, each of which is a group
_SEVERAL = 10  # rows that are numbered, rather than counted by chance
_IDS = re.compile(
    r"(?:^|[_\W])(?:ids?|nr|no|num(?:ber|mer)?|key|code|index|idx|row|line|case|obs|observation|"
    r"subject|participant|patient|person|respondent|sample|record|user|customer)[_\W]*"
    r"(?:id|nr|no|num|number)?\W*$|(?-i:[a-z]I[Dd])$|^#$|^unnamed",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"(?:^|[_\W])(?:ids?|subject|participant|patient|respondent)\W*$|(?-i:[a-z]I[Dd])$",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"(?:^|[_\W])(?:t|time|hour|day|week|month|quarter|year|period|trial)s?$", re.IGNORECASE
)
_OPTION = re.compile(
    r"\b(missing|decimal|thousands|separator|encoding|sheet)=('[^']*'|\"[^\"]*\"|\.\.\.)"
)


def prepared(
    name: str,
    frame: Any,
    *,
    by: Sequence[str] = (),
    freq: str | None = None,
    success: str | None = None,
    event: str | None = None,
    formula: str | None = None,
    drop_missing: bool = False,
    exclude: Sequence[str] = (),
    **columns: Any,
) -> tuple[Any, Columns, list[str]]:
    """Return a frame as a model takes it, its columns, and sentences about what was done.

    Parameters
    ----------
    name : str
        Of the model.
    frame : pandas.DataFrame
        Rows as they stand in a file.
    by : sequence of str
        Columns of groups: there is a group for each of their combinations.
    freq : str, optional
        Column with the number of rows that each row stands for; these are repeated.
    success : str, optional
        The target's label that counts as 1, or as the second class.
    event : str, optional
        The label in column `observed` that ends the waiting; at all others it was cut short.
    formula : str, optional
        Target and features, such as ``"mpg ~ wt + C(cyl)"``.
    drop_missing : bool
        Leave out rows in which a cell that the model uses is empty.
    exclude : sequence of str
        Columns that are no features; all others are.
    **columns
        As in `Columns`.

    Examples
    --------
    Text of a regression is coded without being asked:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"wool": ["A", "B", "B"], "breaks": [26, 18, 21]})
    >>> frame, columns, notes = prepared("linear-regression", frame, target="breaks")
    >>> frame["wool[B]"].tolist(), notes
    ([0.0, 1.0, 1.0], ['Text is coded by indicators; the reference is wool[A].'])
    """
    e = catalog.entry(name)
    frame, by, wide = _stacked(e, frame, by, columns)
    chosen = Columns(**{**columns, "by": by[0] if by else None})
    if exclude:
        _check_excluded(e, frame, chosen, exclude, by=by, formula=formula)
        frame = frame.drop(columns=list(exclude))
    catalog.check_columns(e, frame, chosen)
    _check(e, frame, chosen, by=by, freq=freq, success=success, formula=formula)
    regression = "formula" in e.uses.split()
    notes = [*wide, f"Left out as --exclude asks: {listed([*exclude])}."] if exclude else wide
    chosen = _with_columns(e, frame, chosen, notes, by=by, freq=freq, formula=formula)
    labels = {*by, *filter(None, [chosen.target if e.categories or success else None])}
    labels |= {chosen.observed} if event is not None and chosen.observed else set()
    frame = _as_written(frame, e, chosen, notes, labels, by=by, formula=formula)
    if drop_missing:
        used = {*by, freq, *_used(e, frame, chosen, by, formula)}
        frame = without_gaps(frame, [column for column in frame if column in used], notes)
    if freq is not None:
        frame = _repeated(frame, freq, notes)
    if success is not None:
        frame = _counted(frame, str(chosen.target), success, notes, bits=not regression)
    if event is not None:
        frame = _ended(frame, chosen.observed, event, notes)
    if len(by) > 1:
        frame, at = _joined(frame, by)
        chosen = replace(chosen, by=at)
    if formula is not None:
        frame = _by_formula(frame, formula, notes)
    elif regression:
        _, names = catalog.target_and_features(frame, chosen)
        frame, names = _coded(frame, names, notes)
        chosen = replace(chosen, features=names)
    return frame, chosen, notes


def _check_excluded(
    e: Entry,
    frame: Any,
    columns: Columns,
    exclude: Sequence[str],
    *,
    by: Sequence[str],
    formula: str | None,
) -> None:
    """Refuse to exclude what is not there, what is used, or from what is listed anyway."""
    if "features" not in e.uses.split():
        raise DataError(f"--exclude: {e.name} has no use for it; leave it out.")
    if columns.features or formula is not None:
        raise DataError("--exclude: leaves out of all columns; leave --features and --formula out.")
    for column in exclude:
        if column not in frame.columns:
            raise no_column("--exclude", column, frame)
        if column in (columns.target, *by):
            raise DataError(
                f"--exclude: {column!r} is used by another option; leave it out of one."
            )


def _check(
    e: Entry,
    frame: Any,
    columns: Columns,
    *,
    by: Sequence[str],
    freq: str | None,
    success: str | None,
    formula: str | None,
) -> None:
    """Refuse options that the model does not use, and columns that are missing or named twice."""
    for part, value in {"success": success, "formula": formula}.items():
        if value is not None and part not in e.uses.split():
            raise DataError(f"--{part}: {e.name} has no use for it; leave it out.")
    for option, column in (*(("by", name) for name in by), ("freq", freq)):
        if column is not None and column not in frame.columns:
            raise no_column(f"--{option}", column, frame)
    if len({*by}) < len(by):
        raise DataError(f"--by: must not hold a column twice; got {listed(by)}.")
    if formula is not None and (columns.target or columns.features):
        raise DataError("--formula: names target and features; leave --target and --features out.")


def _with_columns(
    e: Entry,
    frame: Any,
    columns: Columns,
    notes: list[str],
    *,
    by: Sequence[str],
    freq: str | None,
    formula: str | None,
) -> Columns:
    """Return columns with the target, and without features that tell nothing."""
    if formula is not None:
        return replace(columns, target=formulas.target_of(_read(formula, frame)))
    if "target" in e.uses.split() and e.supervised:
        others = (*by, freq, columns.trials, columns.exposure, columns.observed)
        columns = replace(columns, target=catalog.target_of(frame, columns, *others))
    if columns.features:
        empty = {name: _tells_nothing(frame, name) for name in columns.features}
        notes += [f"Column {name!r} {why}." for name, why in empty.items() if why]
    elif "features" in e.uses.split():
        features = _telling(e, frame, {*by, freq, columns.target}, notes)
        columns = replace(columns, features=features)
    return columns


def as_options(sentence: str) -> str:
    """Return a sentence of `read_table` with its arguments as options.

    Examples
    --------
    >>> as_options("say missing='age=.'")
    'say --missing age=.'
    """

    def option(match: re.Match[str]) -> str:
        value = match[2] if match[2] == "..." else shlex.quote(str(literal_eval(match[2])))
        return f"--{match[1]} {value}"

    return _OPTION.sub(option, sentence)


def _telling(e: Entry, frame: Any, others: set[str | None], notes: list[str]) -> list[str] | None:
    """Return the features, without dates, row numbers, and text that differs in most rows.

    None if that are all columns but the others.
    """
    names = [str(name) for name in frame if name not in others]
    left = {name: why for name in names if (why := _tells_nothing(frame, name))}
    if len(left) == len(names):  # or there is nothing to explain by
        left = {name: why for name, why in left.items() if frame[name].dtype.kind not in "iu"}
    if not left:
        return None
    causes = "; ".join(f"{name!r} {why}" for name, why in left.items())
    if len(left) == len(names):
        raise DataError(f"--features: no column is left for them: {causes}. Name them, or add one.")
    known = {_ROWS, _IDENTIFIERS, *([] if "formula" in e.uses.split() else [_TEXTS])}
    usable = " or ".join(repr(name) for name, why in left.items() if why in known)
    way = f" To use {usable}, name it in --features." if usable else ""
    notes.append(f"Left out of the features: {causes}.{way}")
    return [name for name in names if name not in left]


def _tells_nothing(frame: Any, name: str) -> str:
    """Say why a column tells nothing as a feature; empty if it does."""
    column, rows = frame[name], len(frame)
    if (kind := _kind(frame, name)) in ("date", "empty"):
        return "holds dates" if kind == "date" else "is empty"
    if column.dtype.kind in "iu" and rows > 2 and column.is_unique:  # noqa: PLR2004 - too few
        counted = column.is_monotonic_increasing and column.iloc[-1] - column.iloc[0] == rows - 1
        listed_so = counted and column.iloc[0] == 1 and rows >= _SEVERAL
        if _IDS.search(name) or (listed_so and not _TIMES.search(name)):
            return _ROWS
    if column.dtype.kind in "iu" and _WHOSE.search(name):
        return _IDENTIFIERS
    if name not in _was_read(frame, "unread") and _text(column):
        levels = column.nunique()
        return _TEXTS if levels > max(2, rows / 2) else ""
    return ""


def _was_read(frame: Any, part: str) -> Mapping[str, Any]:
    """Return one part of the record of how a file's columns were read."""
    read: Mapping[str, Mapping[str, Any]] = frame.attrs.get("read", {})
    return read.get(part, {})


def _kind(frame: Any, name: str) -> str:
    return "date" if frame[name].dtype.kind == "M" else _was_read(frame, "columns").get(name, "")


def _as_written(
    frame: Any,
    e: Entry,
    columns: Columns,
    notes: list[str],
    labels: set[str],
    *,
    by: Sequence[str],
    formula: str | None,
) -> Any:
    """Return a frame with labels as the file writes them; refuse text where numbers are needed.

    Labels are groups, classes, and what `success` and `event` are about. Other columns that the
    model uses must not be dates, or such in which it can't be told what the numbers are.
    """
    unread = _was_read(frame, "unread")
    frame = readable(frame, _used(e, frame, columns, by, formula), labels, formula or "")
    notes += [
        f"Cells of column {name!r} were read as labels, though most are numbers."
        for name in sorted(labels & unread.keys())
    ]
    return frame


def readable(frame: Any, used: Iterable[str], labels: set[str], formula: str) -> Any:
    """Return a frame with labels as the file writes them; refuse what can't be used as numbers.

    What a formula codes may be anything.
    """
    for name in sorted({*used} - labels):
        if re.search(rf"C\(\s*`?{re.escape(name)}\b", formula):
            continue
        if name in _was_read(frame, "unread"):
            way = f" Or write C({name}), which takes its cells as labels." if formula else ""
            raise DataError(as_options(_was_read(frame, "unread")[name]) + way)
        if _kind(frame, name) == "date":
            raise DataError(
                f"column {name!r}: holds dates, such as {str(frame[name].iloc[0])!r}; the model "
                "needs numbers or labels. Choose other columns."
            )
    written = _was_read(frame, "written")
    texts = {name: frame[name].map(dict(written[name])) for name in labels if name in written}
    labelled = {name: text.where(text.notna(), frame[name]) for name, text in texts.items()}
    return frame.assign(**labelled) if labelled else frame


def _read(formula: str, frame: Any) -> Any:
    try:
        return formulas.read(formula, list(frame))
    except DataError as error:
        raise DataError(f"--{error}") from None


def _used(
    e: Entry, frame: Any, columns: Columns, by: Sequence[str], formula: str | None
) -> set[str]:
    """Return the columns of which a model uses the cells."""
    if formula is not None:
        return set(_named(formula, frame))
    others = {*filter(None, (columns.trials, columns.exposure, columns.observed))}
    if "features" not in e.uses.split():
        return others | {catalog.target_of(frame, columns, *by, *others)}
    return others | {*(columns.features or frame), *filter(None, [columns.target])}


def _named(formula: str, frame: Any) -> list[str]:
    """Return the columns that a formula names."""
    both = _read(formula, frame)
    return [name for side in (both.lhs, both.rhs) for name in formulas.names_in(side, list(frame))]


def without_gaps(frame: Any, used: Sequence[str], notes: list[str]) -> Any:
    """Return the rows in which no cell of some columns is empty."""
    rows = frame.dropna(subset=used)
    if rows.empty:
        raise DataError("--drop-missing: every row has an empty cell. Choose fewer columns.")
    dropped = len(frame) - len(rows)
    notes.append(f"Dropped {dropped:,} of {len(frame):,} rows, which have empty cells.")
    integers = {
        name: rows[name].astype(int)
        for name, pairs in _was_read(frame, "written").items()
        if name in used
        and rows[name].dtype.kind == "f"
        and all(t.isdecimal() for _, t in pairs)
        and (rows[name] % 1 == 0).all()  # pairs are of cells with another text than Python's
    }
    return rows.assign(**integers) if integers else rows


def _repeated(frame: Any, name: str, notes: list[str]) -> Any:
    """Return each row as often as a column says, without that column."""
    numbers = catalog.whole_numbers(frame, name, _NO_SURVEY)
    total = int(numbers.sum())
    if not 0 < total <= _MOST_ROWS:
        raise DataError(
            f"--freq: the numbers in column {name!r} must add up to between 1 and {_MOST_ROWS:,}; "
            f"got {total:,}. For more use bm.Weighted in Python."
        )
    notes.append(f"Its {len(frame):,} rows stand for {total:,}, as column {name!r} says.")
    return frame.loc[frame.index.repeat(numbers.astype(int))].drop(columns=name)


def _counted(frame: Any, name: str, success: str, notes: list[str], *, bits: bool) -> Any:
    """Return the target as 0 and 1, or as two classes of which the second is success."""
    import pandas as pd

    column = complete(frame, name)
    levels = [str(level) for level in levels_of(column)]
    others = [level for level in levels if level != success]
    if success not in levels or not others:
        raise DataError(
            f"--success: must be one of several labels in column {name!r}, which holds "
            f"{listed(levels)}; got {success!r}.{meant(success, levels)}"
        )
    hit = column.astype(str) == success
    other = others[0] if len(others) == 1 else f"not {success}"
    labels = pd.Categorical(np.where(hit, success, other), [other, success])
    zeros = f"{', '.join(map(repr, others))} {'is' if len(others) == 1 else 'are'} 0"
    notes.append(f"{success!r} in column {name!r} is 1, {zeros}.")
    return frame.assign(**{name: hit.astype(int) if bits else labels})


def _ended(frame: Any, observed: str | None, event: str, notes: list[str]) -> Any:
    """Return a frame in which `observed` is 1 at one label, and 0 at all others."""
    if observed is None:
        raise DataError("--event: is about the column of --observed; name it, too.")
    column = complete(frame, observed).astype(str)
    levels = levels_of(column)
    if event not in levels:
        raise DataError(
            f"--event: must be a label in column {observed!r}, which holds {listed(levels)}; got "
            f"{event!r}.{meant(event, levels)}"
        )
    others = [repr(level) for level in levels if level != event]
    short = f"{', '.join(others)} {'cuts' if len(others) == 1 else 'cut'} it short"
    ends = f"{event!r} in column {observed!r} ends the waiting"
    notes.append(f"{ends}; {short}." if others else f"{ends}.")
    return frame.assign(**{observed: (column == event).astype(int)})


def _stacked(
    e: Entry, frame: Any, by: Sequence[str], columns: dict[str, Any]
) -> tuple[Any, Sequence[str], list[str]]:
    """Return a frame in which several targets, of a wide table, stand below each other as groups.

    What belongs to a target, such as its trials, is one column for all, or one for each.
    """
    import pandas as pd

    target = str(columns.get("target"))
    if target in frame.columns or "," not in target or "by" not in e.uses.split():
        return frame, by, []
    parts = {
        part: [name.strip() for name in columns[part].split(",")]
        for part in ("target", "trials", "exposure", "observed")
        if columns.get(part)
    }
    number = len(parts["target"])
    for part, names in {**parts, "by": by}.items():
        if lost := [name for name in names if name not in frame.columns]:
            raise no_column(f"--{part}", lost[0], frame)
        if part in parts and (len(names) not in (1, number) or len({*names}) < len(names)):
            raise DataError(
                f"--{part}: must name one column, or a column for each of the {number} targets; "
                f"got {listed(names)}."
            )
    each = [{part: names[k % len(names)] for part, names in parts.items()} for k in range(number)]
    columns |= {part: " / ".join(names) for part, names in parts.items()}
    frames = [
        frame.assign(
            **{columns[part]: frame[name] for part, name in one.items()}, **{_WIDE: one["target"]}
        )
        for one in each
    ]
    groups = ", ".join(" of ".join(map(repr, one.values())) for one in each)
    stacked = pd.concat(frames)
    stacked.attrs = frame.attrs
    return stacked, (*by, _WIDE), [f"Columns below each other, each a group: {groups}."]


def _joined(frame: Any, by: Sequence[str]) -> tuple[Any, str]:
    """Return a frame with one column of groups for several, and its name."""
    first, *others = (complete(frame, column).astype(str) for column in by)
    name = ", ".join(by)
    groups = first.str.cat(others, sep=", ")
    return frame.drop(columns=list(by)).assign(**{name: groups}), name


def _by_formula(frame: Any, formula: str, notes: list[str]) -> Any:
    """Return target and features of a formula as one frame."""
    import pandas as pd

    for name in _named(formula, frame):
        complete(frame, name)
    try:
        design = Design.from_formula(formula, frame)
    except DataError as error:
        raise DataError(f"--{error}") from None
    if design.target.name in design.features:
        raise DataError(f"--formula: must not explain the target by itself; got {formula!r}.")
    if "intercept" not in design.features:
        raise DataError("--formula: must have an intercept; leave out '0 +' or '- 1'.")
    notes += [f"Formula: {formula}.", *reference(formulas.references(design.coding))]
    return pd.concat([design.target, design.features.drop(columns="intercept")], axis=1)


def _coded(frame: Any, names: Sequence[str], notes: list[str]) -> tuple[Any, list[str]]:
    """Return a frame with indicators for text, and the names of its columns."""
    every = {}
    for name in names:
        if not _text(frame[name]):
            continue
        every[name] = levels_of(complete(frame, name))
        check_levels(name, every[name], len(frame))
    coded = coded_names(names, every, notes)
    return with_indicators(frame, every), coded


def check_levels(name: str, levels: Sequence[Any], rows: int) -> None:
    """Refuse a column of text that differs from row to row."""
    if len(levels) > max(2, rows / 2):
        raise DataError(
            f"column {name!r}: holds {len(levels):,} different texts in {rows:,} rows, which tells "
            "nothing. Choose other columns with --features, or, if texts such as "
            f"{shown(levels[0])} are numbers, correct the file."
        )


def coded_names(
    names: Sequence[str], levels: Mapping[str, Sequence[Any]], notes: list[str]
) -> list[str]:
    """Return names of columns, in place of text those of its indicators."""
    for name, categories in levels.items():
        if len(categories) == 1:
            raise DataError(
                f"column {name!r}: holds a single value, which tells nothing; leave it out."
            )
    notes += reference({name: categories[0] for name, categories in levels.items()})
    result: list[str] = []
    for name in names:
        result += [f"{name}[{level}]" for level in levels[name][1:]] if name in levels else [name]
    return result


def with_indicators(frame: Any, levels: Mapping[str, Sequence[Any]]) -> Any:
    """Return a frame with columns of 0 and 1 for levels of text, but for the first of each."""
    indicators = {
        f"{name}[{level}]": (frame[name] == level).astype(float)
        for name, categories in levels.items()
        for level in categories[1:]
    }
    return frame.assign(**indicators)


def _text(column: Any) -> bool:
    """Say whether a column is of text; one in which some cells are numbers has a slip."""
    import pandas as pd

    if column.dtype.kind in "biufmM":
        return False
    return bool(column.dtype == "category" or pd.to_numeric(column, errors="coerce").isna().all())


def reference(levels: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the levels without indicator."""
    names = ", ".join(f"{name}[{level}]" for name, level in levels.items())
    return [f"Text is coded by indicators; the reference is {names}."] if levels else []
