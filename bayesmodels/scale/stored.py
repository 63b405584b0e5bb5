"""Statistics as files: JSON or NPZ, with a schema number and a checksum, and never pickled.

A ``.json`` file is one object::

    {"format": "bayesmodels statistic", "schema": 1, "sha256": "...",
     "statistic": {"kind": "BernoulliStatistic", "fields": {"ones": ..., ...}}}

Fields are those of the statistic's constructor. An array is ``{"shape": [...], "values": [...]}``,
its numbers in row order with all their digits, or ``"inf"``, ``"-inf"``, ``"nan"``. Labels are
strings, numbers, booleans and null, a tuple is ``{"tuple": [...]}``, a time ``{"time": "ISO 8601",
"kind": "Timestamp"}`` and coordinates are ``[[axis, [label, ...]], ...]``. A statistic of several
parts holds those, named, in ``{"parts": [[name, {"kind": ..., "fields": ...}], ...]}``.

A ``.npz`` file has the same object as text under the name ``header``; arrays are stored beside it
and are named there as ``{"shape": [...], "array": "a0"}``. The checksum is the SHA-256 of the
statistic's text, with sorted keys and without spaces, followed by the bytes of the arrays.

Checksums find accidents. Whoever can write the file can write a fitting checksum as well.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.files import whole
from bayesmodels.models.beta_bernoulli import BernoulliStatistic
from bayesmodels.models.concept import HypothesisStatistic
from bayesmodels.models.dirichlet_categorical import CategoricalStatistic
from bayesmodels.models.generative import ClassStatistic
from bayesmodels.models.linear_regression import RegressionStatistic
from bayesmodels.models.normal_inverse_gamma import NormalStatistic
from bayesmodels.models.normal_inverse_wishart import MultivariateNormalStatistic
from bayesmodels.models.shared_covariance import SharedNormalStatistic

FORMAT, SCHEMA = "bayesmodels statistic", 1
KINDS = {
    kind.__name__: kind
    for kind in (
        BernoulliStatistic,
        CategoricalStatistic,
        ClassStatistic,
        HypothesisStatistic,
        MultivariateNormalStatistic,
        NormalStatistic,
        RegressionStatistic,
        SharedNormalStatistic,
    )
}
_ARRAYS = "<f8"  # little-endian doubles, on any machine
_NO_NPZ = (  # TypeError: of a file that begins like NPY; NotImplementedError: of zipfile
    OSError, ValueError, KeyError, EOFError, TypeError, NotImplementedError, RecursionError,
    zipfile.BadZipFile,
)  # fmt: skip
_WORDS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


def save(statistic: Any, path: str | os.PathLike[str]) -> None:
    """Write a statistic to a file, whole or not at all.

    Parameters
    ----------
    statistic : Statistic
        Of a conjugate model.
    path : path-like
        Ends in ``.json``, or in ``.npz`` for many numbers.

    Raises
    ------
    DataError
        If the path ends otherwise, or the statistic cannot be written: of a mixture, which is its
        rows, or with labels that are neither text, numbers, times nor tuples of these.

    Examples
    --------
    >>> import tempfile, bayesmodels as bm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.scale.save(bm.BernoulliStatistic(3, 17), f"{folder}/a.json")
    ...     bm.scale.load(f"{folder}/a.json")
    BernoulliStatistic(ones=3, zeros=17)
    """
    if not is_npz(path):
        text = dumps(statistic)
        with whole(path) as part:
            part.write_text(text + "\n", encoding="utf-8")
        return
    arrays: dict[str, Any] = {}
    header = _header(statistic, arrays)
    with whole(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, header=np.array(_text(header)), **arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a statistic that `save` wrote.

    Raises
    ------
    DataError
        Naming the file, if it is not there, truncated, changed, of another kind or of a newer
        schema, or holds what no statistic can be.

    Examples
    --------
    See `save`.
    """
    name = str(path)
    try:
        return _statistic_of(*_read(path))
    except _BadFileError as error:
        msg = f"{name}: {error}."
        raise DataError(msg) from None
    except DataError as error:  # of a constructor: no data have such a statistic
        msg = f"{name}: {error}"
        raise DataError(msg) from None


def dumps(statistic: Any) -> str:
    """Return a statistic as the text of a ``.json`` file."""
    return _text(_header(statistic, None))


def loads(text: str) -> Any:
    """Return the statistic of such a text; a `DataError` says what is wrong with it."""
    try:
        return _statistic_of(_parsed(text), {})
    except _BadFileError as error:
        msg = f"text: {error}."
        raise DataError(msg) from None


class _BadFileError(Exception):
    """What is wrong with a file, in words that follow its name."""


def _refuse(why: str) -> NoReturn:
    raise _BadFileError(why)


def is_npz(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a path of an NPZ file; refuse what is neither that nor JSON."""
    suffix = Path(path).suffix
    if suffix not in (".json", ".npz"):
        msg = f"path: must end in .json or .npz; got {str(path)!r}."
        raise DataError(msg)
    return suffix == ".npz"


# --- writing --------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _checksum(written: Any, arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(_text(written).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name], dtype=_ARRAYS).tobytes())
    return digest.hexdigest()


def _header(statistic: Any, arrays: dict[str, Any] | None) -> dict[str, Any]:
    written = _statistic(statistic, arrays)
    digest = _checksum(written, arrays or {})
    return {"format": FORMAT, "schema": SCHEMA, "sha256": digest, "statistic": written}


def _statistic(statistic: Any, arrays: dict[str, Any] | None) -> dict[str, Any]:
    kind = type(statistic).__name__
    if KINDS.get(kind) is not type(statistic):
        msg = (
            f"statistic: must be one of {', '.join(sorted(KINDS))}; got {kind}, which has no form "
            "as a file."
        )
        raise DataError(msg)
    own = {}
    for field in fields(statistic):
        own[field.name] = _value(getattr(statistic, field.name), arrays)
    return {"kind": kind, "fields": own}


def _value(value: Any, arrays: dict[str, Any] | None) -> Any:
    if isinstance(value, np.ndarray):
        return _array(value, arrays)
    if type(value).__name__ in KINDS:
        return _statistic(value, arrays)
    if isinstance(value, dict):
        if all(type(part).__name__ in KINDS for part in value.values()) and value:
            return {"parts": [[name, _statistic(part, arrays)] for name, part in value.items()]}
        return [[axis, [_label(label) for label in labels]] for axis, labels in value.items()]
    return _label(value)


def _array(value: Any, arrays: dict[str, Any] | None) -> dict[str, Any]:
    shape = list(value.shape)
    if arrays is not None:
        name = f"a{len(arrays)}"
        arrays[name] = np.ascontiguousarray(value, dtype=_ARRAYS)
        return {"shape": shape, "array": name}
    flat = [x if np.isfinite(x) else repr(x) for x in map(float, value.ravel())]
    return {"shape": shape, "values": flat}


def _label(label: Any) -> Any:
    if isinstance(label, tuple):
        return {"tuple": [_label(part) for part in label]}
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, dt.date):  # datetime and pandas' timestamps too
        return {"time": label.isoformat(), "kind": type(label).__name__}
    if label is None or isinstance(label, (str, bool, int)):
        return label
    if isinstance(label, float) and np.isfinite(label):
        return label
    msg = (
        f"coords: labels must be text, numbers, times or tuples of these to be written; got "
        f"{label!r} ({type(label).__name__}). Rename it."
    )
    raise DataError(msg)


# --- reading --------------------------------------------------------------------------------------


def _read(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    if not Path(path).is_file():
        _refuse("there is no such file")
    if not is_npz(path):
        try:
            return _parsed(Path(path).read_bytes().decode("utf-8")), {}
        except UnicodeDecodeError as error:
            _refuse(f"is no text ({error})")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        header = json.loads(str(arrays.pop("header")[()]))
    except _NO_NPZ as error:
        _refuse(f"is no whole NPZ file of a statistic ({error})")
    for name, array in arrays.items():
        if array.dtype != np.dtype(_ARRAYS):
            _refuse(f"its array {name!r} must hold doubles; got {array.dtype}")
    return header, arrays


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(f"is no whole JSON file ({error})")


def _statistic_of(header: Any, arrays: Mapping[str, Any]) -> Any:
    _check_header(header)
    if _checksum(header["statistic"], arrays) != header["sha256"]:
        _refuse("does not fit its checksum: it was changed or damaged after it was written")
    return _built(header["statistic"], arrays)


def _check_header(header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        _refuse(f"is no {FORMAT}")
    schema = header.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        _refuse(f"its schema must be a whole number from 1; got {schema!r}")
    if schema > SCHEMA:
        _refuse(f"has schema {schema}, and this version reads {SCHEMA}: update bayesmodels")
    if not {"statistic", "sha256"} <= header.keys():
        _refuse("must have the entries statistic and sha256")


def _built(written: Any, arrays: Mapping[str, Any]) -> Any:
    if not isinstance(written, dict) or written.keys() != {"kind", "fields"}:
        _refuse("a statistic must have the entries kind and fields")
    kind = KINDS.get(written["kind"]) if isinstance(written["kind"], str) else None
    if kind is None:
        _refuse(f"its kind must be one of {', '.join(sorted(KINDS))}; got {written['kind']!r}")
    names = {field.name for field in fields(kind)}
    if not isinstance(written["fields"], dict) or written["fields"].keys() != names:
        _refuse(f"a {written['kind']} must have the fields {sorted(names)}")
    own = {name: _read_value(value, arrays, name) for name, value in written["fields"].items()}
    if kind is HypothesisStatistic:  # the one whose constructor takes names in place of axes
        if not isinstance(own["coords"], dict) or "hypothesis" not in own["coords"]:
            _refuse("its coords must name the hypotheses")
        return kind(own["log_likelihood"], own["coords"]["hypothesis"])
    try:
        return kind(**own)
    except (TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        _refuse(f"holds what no {written['kind']} can be ({error})")


def _read_value(value: Any, arrays: Mapping[str, Any], name: str) -> Any:
    if isinstance(value, dict) and "shape" in value:
        return _read_array(value, arrays, name)
    if isinstance(value, dict) and value.keys() == {"kind", "fields"}:
        return _built(value, arrays)
    if isinstance(value, dict) and value.keys() == {"parts"}:
        return {str(part): _built(inner, arrays) for part, inner in value["parts"]}
    if isinstance(value, list):
        try:
            return {axis: tuple(_read_label(label) for label in labels) for axis, labels in value}
        except (TypeError, ValueError):
            _refuse(f"its {name} must be pairs of an axis and its labels")
    return _read_label(value)


def _read_array(value: dict[str, Any], arrays: Mapping[str, Any], name: str) -> Any:
    try:
        flat = (
            arrays[value["array"]]
            if "array" in value
            else [_WORDS[x] if isinstance(x, str) else float(x) for x in value["values"]]
        )
        return np.array(flat, dtype=float).reshape(value["shape"])
    except (KeyError, TypeError, ValueError) as error:
        _refuse(f"its {name} is no array ({error})")


def _read_label(label: Any) -> Any:
    if not isinstance(label, dict):
        return label
    if label.keys() == {"tuple"} and isinstance(label["tuple"], list):
        return tuple(_read_label(part) for part in label["tuple"])
    if label.keys() == {"time", "kind"}:
        return _time(label)
    _refuse(f"{label!r} is no label")


def _time(label: dict[str, Any]) -> Any:
    import pandas as pd

    kinds = {
        "date": dt.date.fromisoformat,
        "datetime": dt.datetime.fromisoformat,
        "Timestamp": pd.Timestamp,
    }
    try:
        return kinds[label["kind"]](label["time"])
    except (KeyError, TypeError, ValueError) as error:
        _refuse(f"{label!r} is no time ({error})")
