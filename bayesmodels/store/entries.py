"""How entries of a file are written and read: arrays, numbers, labels and coordinates.

Every reader checks what it reads, and says what is wrong with it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.store.untrusted import refuse, shape_of, shown

_WORDS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


class Entry(NamedTuple):
    """The functions that write a field and read it back, with its name for messages."""

    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


# --- arrays and numbers ---------------------------------------------------------------------------


def _write_array(value: Any) -> dict[str, Any]:
    if isinstance(value, np.float64):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        kind = getattr(value, "dtype", type(value).__name__)
        raise DataError(f"value: arrays of doubles have a form as a file; got {kind}.")
    return {"shape": list(value.shape), "values": [_written(x) for x in value.ravel().tolist()]}


def _written(x: float) -> float | str:
    return x if np.isfinite(x) else repr(x)


def _read_array(value: Any, name: str, words: Collection[str]) -> Any:
    if not isinstance(value, dict) or value.keys() != {"shape", "values"}:
        refuse(f"its {name} is no array ({shown(value)})")
    numbers = _numbers(value["values"], name)
    for word, result in (
        ("nan", np.isnan(numbers)),
        ("inf", numbers == np.inf),
        ("-inf", numbers == -np.inf),
    ):
        if word not in words and result.any():
            refuse(f"its {name} is no array of such numbers ({word} must not be among them)")
    return numbers.reshape(shape_of(value["shape"], numbers.size))


def _numbers(listed: Any, name: str) -> Any:
    if not isinstance(listed, list):
        refuse(f"its {name} is no array (its values are no list)")
    try:
        return np.array([_number(x) for x in listed], dtype=float)
    except (KeyError, OverflowError, TypeError) as error:
        refuse(f"its {name} is no array ({error})")


def _number(x: Any) -> float:
    if isinstance(x, str):
        return _WORDS[x]
    if type(x) not in (int, float):
        raise TypeError(f"{shown(x)} is no number")
    return float(x)


def array(*words: str) -> Entry:
    """Return the entry of an array whose numbers are finite, or one of these words."""
    return Entry(_write_array, lambda value, name: _read_array(value, name, words))


def number(*words: str) -> Entry:
    """Return the entry of one number, finite or one of these words; a whole one stays whole."""

    def read(value: Any, name: str) -> float:
        result = float(_numbers([value], name)[0])
        if not np.isfinite(result) and repr(result) not in words:
            refuse(f"its {name} must not be {result}")
        return value if isinstance(value, int) else result

    return Entry(lambda value: value if isinstance(value, int) else _written(float(value)), read)


NUMBER = number(*_WORDS)


def _of(kind: type, what: str) -> Entry:
    """Return the entry of a value of a type of JSON."""

    def read(value: Any, name: str) -> Any:
        if not isinstance(value, kind):
            refuse(f"its {name} must be {what}; got {shown(value)}")
        return value

    return Entry(kind, read)


FLAG, TEXT = _of(bool, "true or false"), _of(str, "text")


def word(words: Collection[str]) -> Entry:
    """Return the entry of one of these words."""

    def read(value: Any, name: str) -> Any:
        if not isinstance(value, str) or value not in words:
            refuse(f"its {name} must be one of {words}; got {shown(value)}")
        return value

    return Entry(TEXT.write, read)


# --- labels ---------------------------------------------------------------------------------------


def _write_label(label: Any) -> Any:
    if isinstance(label, tuple):
        return {"tuple": [_write_label(part) for part in label]}
    if isinstance(label, np.datetime64) and not np.isnat(label):
        return {"time": str(label), "kind": "datetime64"}
    if isinstance(label, (np.bool_, np.floating, np.integer, np.str_)):
        label = label.item()  # of a time in nanoseconds that would be a number
    if isinstance(label, dt.date) and type(label).__name__ in _times():  # and no NaT
        return {"time": label.isoformat(), "kind": type(label).__name__}
    if label is None or isinstance(label, (bool, int)) or _has_bytes(label):
        return label
    if isinstance(label, float) and np.isfinite(label):
        return label
    raise DataError(
        f"coords: labels must be text, numbers, times or tuples of these to be written; got "
        f"{label!r} ({type(label).__name__}). Rename it."
    )


def _has_bytes(label: Any) -> bool:
    """Return whether UTF-8 can encode a text: lone surrogates it can't."""
    return isinstance(label, str) and not any("\ud800" <= sign <= "\udfff" for sign in label)


def _read_label(label: Any) -> Any:
    if isinstance(label, dict):
        if label.keys() == {"tuple"} and isinstance(label["tuple"], list):
            return tuple(_read_label(part) for part in label["tuple"])
        if label.keys() == {"time", "kind"}:
            return _time(label)
    if not isinstance(label, (str, bool, int, float)) and label is not None:
        refuse(f"{shown(label)} is no label")
    if isinstance(label, float) and not np.isfinite(label):
        refuse(f"{label} is no label")
    return label


def _times() -> dict[str, Callable[[str], Any]]:
    import pandas as pd

    return {
        "date": dt.date.fromisoformat,
        "datetime": dt.datetime.fromisoformat,
        "datetime64": np.datetime64,
        "Timestamp": pd.Timestamp,
    }


def _time(label: dict[str, Any]) -> Any:
    try:
        if not isinstance(label["time"], str):
            raise TypeError(label["time"])  # noqa: TRY301 - one complaint for all
        result = _times()[label["kind"]](label["time"])
    except (KeyError, TypeError, ValueError, OverflowError):
        refuse(f"{shown(label)} is no time")
    return result


def _read_labels(listed: Any, name: str) -> tuple[Any, ...]:
    """Return the labels of a list."""
    if not isinstance(listed, list):
        refuse(f"its {name} must be a list of labels; got {shown(listed)}")
    return tuple(_read_label(label) for label in listed)


def _write_coords(value: Any) -> Any:
    return [[_write_label(axis), [_write_label(x) for x in names]] for axis, names in value.items()]


def _read_coords(value: Any, name: str) -> dict[Any, tuple[Any, ...]]:
    if not isinstance(value, list) or any(not isinstance(x, list) or len(x) != 2 for x in value):  # noqa: PLR2004 - a pair
        refuse(f"its {name} must be pairs of an axis and its labels")
    result = {_read_label(axis): _read_labels(labels, name) for axis, labels in value}
    if len(result) < len(value):
        refuse(f"its {name} name an axis twice")
    return result


def _read_names(value: Any, name: str) -> tuple[Any, ...]:
    result = _read_label(value)
    if not isinstance(result, tuple):
        refuse(f"its {name} must be labels; got {shown(value)}")
    return result


LABEL = Entry(_write_label, lambda value, _: _read_label(value))
NAMES = Entry(lambda value: _write_label(tuple(value)), _read_names)
COORDS = Entry(_write_coords, _read_coords)


def optional(entry: Entry) -> Entry:
    """Return the entry of a value or None."""
    return Entry(
        lambda value: None if value is None else entry.write(value),
        lambda value, name: None if value is None else entry.read(value, name),
    )


def list_of(entry: Entry) -> Entry:
    """Return the entry of a tuple of values, each with this entry."""

    def read(value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            refuse(f"its {name} must be a list; got {shown(value)}")
        return tuple(entry.read(each, name) for each in value)

    return Entry(lambda value: [entry.write(each) for each in value], read)


# --- tables ---------------------------------------------------------------------------------------


def _write_table(table: Any) -> dict[str, Any]:
    index, columns = ([_write_label(label) for label in axis] for axis in (table.index, table))
    numbers = np.ascontiguousarray(table.to_numpy(dtype=float))
    return {"index": index, "columns": columns, "numbers": _write_array(numbers)}


def _read_table(value: Any, name: str) -> Any:
    import pandas as pd

    if not isinstance(value, dict) or value.keys() != {"index", "columns", "numbers"}:
        refuse(f"its {name} must have the entries index, columns and numbers")
    index, columns = (_read_labels(value[axis], name) for axis in ("index", "columns"))
    numbers = _read_array(value["numbers"], name, _WORDS)
    if numbers.shape != (len(index), len(columns)):
        refuse(f"its {name} must have a number in each of {len(index)} rows and each column")
    return pd.DataFrame(numbers, index=list(index), columns=list(columns))


TABLE = Entry(_write_table, _read_table)
