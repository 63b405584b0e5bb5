"""Files are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and move it there when the block ends well.

    Works for files and for folders (zarr). On any error, Ctrl-C included, the old file stays as it
    was and the temporary one is removed.

    Parameters
    ----------
    path : path-like
        Where the result shall be; its folder must exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as part:
    ...         _ = part.write_text("all of it")
    ...     (Path(folder) / "a.txt").read_text()
    'all of it'
    """
    target = Path(path)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        part = Path(folder) / target.name
        yield part
        if part.is_dir():
            if target.is_dir():
                shutil.move(target, Path(folder) / "old")
        else:
            with part.open("rb") as file:
                os.fsync(file.fileno())
        part.replace(target)
