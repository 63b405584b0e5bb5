"""Beliefs, statistics and verdicts as JSON files, with a schema number and a checksum.

A file is one object::

    {"format": "bayesmodels statistic", "schema": 1, "sha256": "...",
     "statistic": {"kind": "BernoulliStatistic", "fields": {"ones": ..., ...}}}

of a statistic, and likewise with ``belief`` or ``verdict`` in its place. The fields are those of
the value's class; docs/files.md says how each is written. The checksum is the SHA-256 of the
value's text, with sorted keys and without spaces.

Checksums find accidents. Whoever can write the file can write a fitting checksum as well.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bayesmodels.errors import DataError, PriorError
from bayesmodels.store.files import atomic_write
from bayesmodels.store.forms import SORTS, built, kinds, sort_of, written
from bayesmodels.store.untrusted import BadFileError, parsed, refuse, shown

FORMAT, SCHEMA = "bayesmodels", 1


def save(value: Any, path: str | os.PathLike[str]) -> None:
    """Write a belief, a statistic or a verdict to a file, whole or not at all.

    What `load` reads is the same to the last bit. Of a verdict the law and the draws are left out;
    draws are written by `bayesmodels.draws.save`.

    Parameters
    ----------
    value : Belief, Statistic or Verdict
        Of a conjugate model, a mixture or a logistic regression; or its Laplace approximation.
    path : path-like
        Ends in ``.json``.

    Raises
    ------
    DataError
        If the path ends otherwise or cannot be written to, or the value has no form as a file: the
        statistic of a mixture, which is its rows; labels that are neither text, numbers, times nor
        tuples of these; columns that a function is still to choose.

    See Also
    --------
    bayesmodels.scale.merge : adds up statistics of several files.

    Examples
    --------
    >>> import tempfile, bayesmodels as bm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.save(bm.BetaBernoulli(2, 2).update([1, 0, 1]), f"{folder}/yesterday.json")
    ...     bm.load(f"{folder}/yesterday.json").update([0, 0])
    BetaBernoulli(alpha=4, beta=5)
    """
    _require_json(path)
    text = dumps(value)
    with atomic_write(path) as part:
        part.write_text(text + "\n", encoding="utf-8", newline="\n")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a belief, a statistic or a verdict that `save` wrote.

    It is made by its constructor, so that no file makes what could not be made otherwise; nothing
    in the file is run, and no more is allocated than a few times what the file is long.

    Returns
    -------
    Belief, Statistic or Verdict

    Raises
    ------
    DataError
        Naming the file, if it is not there, truncated, changed, of another kind or of a newer
        schema, or holds what no such value can be.

    Examples
    --------
    See `save`.
    """
    try:
        return _read(path)
    except BadFileError as error:
        raise DataError(f"{path}: {error}.") from None
    except (DataError, PriorError) as error:  # of a constructor
        raise DataError(f"{path}: {error}") from None


def dumps(value: Any) -> str:
    """Return a value as the text of a ``.json`` file."""
    sort = sort_of(value)
    entries = written(value)
    digest = _checksum(entries)
    return _text({"format": f"{FORMAT} {sort}", "schema": SCHEMA, "sha256": digest, sort: entries})


def loads(text: str, sort: str | None = None) -> Any:
    """Return the value of such a text, of this sort; a `DataError` says what is wrong with it."""
    try:
        return _value_of(parsed(text), sort)
    except BadFileError as error:
        raise DataError(f"text: {error}.") from None
    except PriorError as error:
        raise DataError(str(error)) from None


def _require_json(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix != ".json":
        fitting = str(Path(path).with_suffix(".json")) if Path(path).name else "belief.json"
        raise DataError(f"path: must end in .json; got {str(path)!r}. Save it as {fitting!r}.")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _checksum(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()


def _read(path: str | os.PathLike[str]) -> Any:
    _require_json(path)
    if not Path(path).is_file():
        refuse("there is no such file")
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        refuse(f"cannot be read ({error})")
    except UnicodeDecodeError as error:
        refuse(f"is no text ({error})")
    return _value_of(parsed(text))


def _value_of(header: Any, wanted: str | None = None) -> Any:
    sort = _sort(header)
    if wanted not in (None, sort):
        refuse(f"holds a {sort} in place of a {wanted}")
    if _checksum(header[sort]) != header["sha256"]:
        refuse("does not fit its checksum: it was changed or damaged after it was written")
    try:
        return built(header[sort], kinds(sort), sort)
    except RecursionError:
        refuse(f"its {sort} is nested too deeply")


def _sort(header: Any) -> str:
    """Return "belief", "statistic" or "verdict", by the first entries of a file."""
    known = {f"{FORMAT} {sort}": sort for sort in SORTS}
    said = header.get("format") if isinstance(header, dict) else None
    if not isinstance(said, str) or said not in known:
        refuse(f"is no {', '.join(sorted(known))}")
    schema = header.get("schema")
    if type(schema) is not int or schema < 1:
        refuse(f"its schema must be a whole number from 1; got {shown(schema)}")
    if schema > SCHEMA:
        refuse(f"has schema {shown(schema)}; this version reads {SCHEMA}: update bayesmodels")
    if header.keys() != {"format", "schema", "sha256", known[said]}:
        refuse(f"must have the entries format, schema, sha256 and {known[said]}, and no others")
    return known[said]
