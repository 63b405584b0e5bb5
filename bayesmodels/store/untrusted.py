"""Files that anyone may have written: strict JSON, and NPZ without pickles, bombs or surprises.

Nothing here allocates more than a few times what the file is long.
"""

from __future__ import annotations

import io
import json
import os
import reprlib
import struct
import zipfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

_MOST_AXES = 32
_MOST_OF_NOTHING = 1_000_000  # places along the axes of an array without numbers
_END = b"PK\x05\x06"  # what the last 22 bytes of an archive begin with
_END_SIZE = 22
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class BadFileError(Exception):
    """What is wrong with a file, in words that follow its name."""


def refuse(why: str) -> NoReturn:
    """Say what is wrong with a file."""
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
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
        text.encode()
        if "\\u" in text:  # halves of characters may hide behind it
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError, MemoryError) as error:
        refuse(f"is no whole JSON file ({str(error) or 'too large'})")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        refuse(f"gives the key {shown(max(names, key=names.count))} twice")
    return found


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


def archive(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file: numbers, booleans or text, as `numpy.savez` writes them.

    It is refused if it is no such file or not all of one, holds something before or behind it, is
    compressed, declares more than it holds, names an array twice, or has objects of Python.
    """
    try:
        with Path(path).open("rb") as file, zipfile.ZipFile(file) as zipped:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_SIZE))
            members = zipped.infolist()
            names = {member.filename.removesuffix(".npy"): member for member in members}
            if len(names) < len(members):
                refuse("names an array twice")
            first = min((member.header_offset for member in members), default=0)
            if zipped.comment or first or not file.read().startswith(_END):
                refuse("is no whole NPZ file (there is something before or behind the archive)")
            plain = all(m.compress_type == zipfile.ZIP_STORED for m in members)
            if not plain or sum(max(m.file_size, m.compress_size) for m in members) > size:
                refuse("must hold its arrays uncompressed, as numpy.savez writes them")
            return {name: _array(zipped.read(member), name) for name, member in names.items()}
    except (  # what zipfile and NumPy's header parser raise of bytes that were made by hand
        EOFError,
        LookupError,
        MemoryError,
        NotImplementedError,
        OSError,
        OverflowError,
        RuntimeError,
        SyntaxError,
        ValueError,
        struct.error,
        zipfile.BadZipFile,
    ) as error:
        refuse(f"is no whole NPZ file ({error})")


def _array(held: bytes, name: str) -> NDArray[Any]:
    file = io.BytesIO(held)
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        refuse(f"its array {shown(name)} has the unknown version {version}")
    shape, by_column, dtype = _HEADERS[version](file)
    if dtype.kind not in "biufU" or not dtype.itemsize:
        refuse(f"its array {shown(name)} must hold numbers or text; got {dtype}")
    values = np.frombuffer(held, dtype, offset=file.tell())
    return values.reshape(shape_of(shape, values.size), order="F" if by_column else "C")
