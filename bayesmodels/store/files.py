"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayesmodels.errors import DataError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and move it there when the block ends well.

    Works for files and for folders (zarr). On any error, Ctrl-C included, the old file stays as it
    was and the temporary one is removed; ``kill -9`` and a power cut leave the old file or the new
    one, and maybe a hidden temporary folder. An old folder is moved aside before the new one takes
    its place: no call of POSIX does both at once. A `DataError` says what stopped it.
    """
    target = Path(path)
    prefix, parent = f".{target.name[:50]}.", target.parent
    try:
        with tempfile.TemporaryDirectory(
            prefix=prefix, dir=parent, ignore_cleanup_errors=True
        ) as folder:
            part = Path(folder) / target.name
            yield part
            _to_disk(part)
            if part.is_dir() and target.is_dir():
                shutil.move(target, Path(folder) / "old")
            part.replace(target)
            if os.name == "posix":  # elsewhere folders can't be opened
                _sync(parent, os.O_RDONLY)
    except OSError as error:
        raise DataError(f"{target}: cannot be written: {_why(error, parent)}") from error


def _to_disk(part: Path) -> None:
    for each in part.rglob("*") if part.is_dir() else (part,):
        if each.is_file():
            _sync(each, os.O_RDWR)


def _sync(path: Path, flags: int) -> None:
    """Flush files to the disk; Windows flushes only files opened for writing."""
    number = os.open(path, flags)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _why(error: OSError, folder: Path) -> str:
    """Say what stopped a file from being written, and the way out."""
    if error.errno in _FULL:
        return "the disk is full. Make room, or give a path on another disk."
    if error.errno in _FORBIDDEN:
        return f"the folder {str(folder)!r} may not be written to. Give another one."
    if error.errno in _NOT_THERE and not folder.is_dir():
        return f"there is no folder {str(folder)!r}. Make it, or give another one."
    return f"{error.strerror or error}."
