"""How far a pass over rows is, kept in a file so that it can go on after a stop."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bayesmodels.errors import DataError
from bayesmodels.scale.folding import Fold
from bayesmodels.scale.sources import dataset
from bayesmodels.store import dumps, loads
from bayesmodels.store.files import atomic_write
from bayesmodels.store.untrusted import BadFileError, parsed

FORMAT, SCHEMA = "bayesmodels pass", 1


class Checkpoint:
    """A file with the sums of one pass so far; a pass over other data is refused."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: Any,
        source: Any,
        columns: Any,
        rows: int | None,
    ) -> None:
        self._path = Path(path)
        identity = {
            "model": _model_text(model),
            "source": _files(source),
            "columns": columns,
            "rows": rows,
        }
        self._of = {
            name: hashlib.sha256(json.dumps(value).encode()).hexdigest()
            for name, value in identity.items()
        }

    def begun(self) -> tuple[Fold, tuple[int, int] | None, int]:
        """Return the sums, the last chunk in them, and the number of rows; at first none."""
        if not self._path.exists():
            return Fold(), None, 0
        try:
            kept = parsed(self._path.read_text("utf-8"))
            if kept["format"] != FORMAT or kept["schema"] != SCHEMA:
                raise KeyError(kept["format"])  # noqa: TRY301 - one complaint for all
            sums = [None if text is None else loads(text, "statistic") for text in kept["sums"]]
            of, (part, place), done = dict(kept["of"]), kept["after"], int(kept["rows"])
            after = int(part), int(place)
        except (BadFileError, ArithmeticError, KeyError, OSError, TypeError, ValueError) as error:
            raise DataError(
                f"checkpoint: {str(self._path)!r} is not the state of a pass ({error}). Remove it, "
                "or name another file."
            ) from None
        for name, digest in self._of.items():
            if of.get(name) != digest:
                raise DataError(
                    f"checkpoint: {str(self._path)!r} belongs to a pass with another {name}. "
                    "Remove it to begin anew."
                )
        return Fold(sums), after, done

    def write(self, fold: Fold, after: tuple[int, int], rows: int) -> None:
        """Replace the file by one with these sums, after the chunk `after`."""
        sums = [None if part is None else dumps(part) for part in fold.sums]
        kept = {"format": FORMAT, "schema": SCHEMA, "of": self._of, "after": list(after)}
        with atomic_write(self._path) as part:
            part.write_text(json.dumps({**kept, "rows": rows, "sums": sums}), encoding="utf-8")

    def remove(self) -> None:
        """Remove the file after the last chunk."""
        self._path.unlink(missing_ok=True)


def _model_text(model: Any) -> str:
    """Return a model as JSON text."""
    try:
        return dumps(model)
    except DataError as error:
        raise DataError(
            f"checkpoint: needs a model that can be told from others. Leave it out, or: {error}"
        ) from None


def _files(source: Any) -> Any:
    """Return names, sizes and times of the files of a source, to notice changes."""
    if isinstance(source, (str, os.PathLike)):
        source = dataset(source)
    files = getattr(source, "files", None)
    if files is None:
        raise DataError(
            "checkpoint: needs a source of files, which can be told from others; got "
            f"{type(source).__name__}. Leave it out, or give the path."
        )
    return [[file, os.stat(file).st_size, os.stat(file).st_mtime_ns] for file in files]  # noqa: PTH116
