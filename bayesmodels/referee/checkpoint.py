"""Finished simulations in a file, for calibration that goes on where it was stopped.

A JSON file holds the rows of finished simulations, NaN for others, and what they were made with:
settings, and numbers that the model gives in one simulation more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.store.entries import array
from bayesmodels.store.files import atomic_write
from bayesmodels.store.untrusted import BadFileError, parsed

_ROWS = "rows"
_FLOATS = array("nan", "inf", "-inf")
_ROUNDING = 1e-6  # of numbers computed on another machine


def load(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return all that a file holds; nothing, if there is no file yet."""
    file = Path(path)
    if file.suffix != ".json" or not file.parent.is_dir():
        raise DataError(
            f"checkpoint: must end in .json, in a folder that exists; got {str(path)!r}."
        )
    if not file.exists():
        return {}
    try:
        kept = {what: _read(value) for what, value in parsed(file.read_text("utf-8")).items()}
        _, _ = kept[_ROWS].shape
    except (BadFileError, AttributeError, LookupError, ValueError):
        raise DataError(
            f"checkpoint: {str(path)!r} holds no simulations. Delete it, or give another name."
        ) from None
    return kept


def rows_of(
    stored: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], setup: Mapping[str, Any]
) -> Array:
    """Return the rows of a file; a `DataError` names what they were made with, if that differs."""
    for what, new in setup.items():
        old = stored.get(what, np.zeros(0))
        if not _same(old, np.asarray(new)):
            shown = f" ({old} there, {new} here)" if old.ndim == 0 else ""
            raise DataError(
                f"checkpoint: {str(path)!r} was made with another {what}{shown}. Delete it, or "
                "give another name."
            )
    return np.array(stored[_ROWS])


def store(path: str | os.PathLike[str], setup: Mapping[str, Any], rows: Array) -> None:
    """Write the file, whole or not at all."""
    with atomic_write(path) as part:
        kept = {what: _written(np.asarray(x)) for what, x in {**setup, _ROWS: rows}.items()}
        part.write_text(json.dumps(kept, allow_nan=False), encoding="utf-8")


def _written(values: NDArray[Any]) -> Any:
    return _FLOATS.write(values) if values.dtype.kind == "f" else values.tolist()


def _read(value: Any) -> NDArray[Any]:
    return _FLOATS.read(value, "array") if isinstance(value, dict) else np.array(value)


def _same(old: NDArray[Any], new: NDArray[Any]) -> bool:
    if old.shape == new.shape and old.dtype.kind == new.dtype.kind == "f":
        return bool(np.allclose(old, new, rtol=_ROUNDING, atol=0, equal_nan=True))
    return np.array_equal(old, new)
