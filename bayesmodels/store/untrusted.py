"""Files that anyone may have written: strict JSON, without surprises.

Nothing here allocates more than a few times what the file is long.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

_MOST_AXES = 32
_MOST_OF_NOTHING = 1_000_000  # places along the axes of an array without numbers


class BadFileError(Exception):
    """What is wrong with a file, in words that follow its name."""


def refuse(why: str) -> NoReturn:
    """Raise a `BadFileError` with this message."""
    raise BadFileError(why)


def shown(value: Any) -> str:
    """Return a value as text of a bounded length."""
    return reprlib.repr(value)


def parsed(text: str) -> Any:
    """Return what a JSON text holds.

    It is refused if it is no JSON (``NaN`` and ``Infinity`` are none), ends too early or goes on
    after its end, gives a key twice, is nested too deeply, or holds text that UTF-8 has no bytes
    for.
    """
    try:
        result = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
        text.encode()
        if "\\u" in text:  # halves of characters may hide behind it
            json.dumps(result, ensure_ascii=False).encode()
    except (ValueError, RecursionError, MemoryError) as error:
        refuse(f"is no whole JSON file ({str(error) or 'too large'})")
    return result


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        refuse(f"gives the key {shown(max(names, key=names.count))} twice")
    return result


def _no_number(word: str) -> NoReturn:
    refuse(f"is no whole JSON file ({word} is no number)")


def shape_of(shape: Any, number: int) -> tuple[int, ...]:
    """Return a shape that fits so many numbers; if there are none, it must not have many places."""
    listed = isinstance(shape, Sequence) and not isinstance(shape, str)
    if not listed or len(shape) > _MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
        refuse(f"a shape must be a list of whole numbers, {_MOST_AXES} at most; got {shown(shape)}")
    if prod(shape) != number:
        refuse(f"an array of shape {shown(list(shape))} cannot have {number} numbers")
    if not number and prod(n or 1 for n in shape) > _MOST_OF_NOTHING:
        refuse(f"an array without numbers cannot have the shape {shown(list(shape))}")
    return tuple(shape)
