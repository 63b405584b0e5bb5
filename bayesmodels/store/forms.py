"""What stands in a file for a value: its fields, each written as its annotation says.

The fields of a class are those of its dataclass, or what its `_from_file` takes: a class has one if
its constructor computes fields, so that a file cannot hold what no constructor would make.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, get_args

from bayesmodels.belief import values
from bayesmodels.belief.protocol import Finding, MarginalLaws, Statistic
from bayesmodels.errors import DataError
from bayesmodels.store import entries
from bayesmodels.store.entries import Entry
from bayesmodels.store.untrusted import refuse, shown

SORTS: dict[str, type] = {"belief": MarginalLaws, "statistic": Statistic, "verdict": Finding}
"""What a file holds one of, by the protocol of its classes. Others are parts."""

_ENTRIES = {
    "Array": entries.array(),
    "Logs": entries.array("-inf"),
    "Coords": entries.COORDS,
    "Features": entries.optional(entries.NAMES),
    "Hashable": entries.LABEL,
    "bool": entries.FLAG,
    "float": entries.number(),
    "AnyFloat": entries.NUMBER,
    "int": entries.number(),
    "pd.DataFrame": entries.TABLE,
    "str": entries.TEXT,
    "tuple[Hashable, ...]": entries.NAMES,
}


@cache
def _imported(sort: str) -> None:
    """Import the modules that define the classes of a sort."""
    if sort == "verdict":
        import_module("bayesmodels.referee")
        return
    package = import_module("bayesmodels")
    for name in package.__all__:
        if name[0].isupper():
            getattr(package, name)


def kinds(*sorts: str) -> dict[str, type]:
    """Return the classes of some sorts by name."""
    for sort in sorts:
        _imported(sort)
    protocols = tuple(SORTS[sort] for sort in sorts)
    stored = values.STORED.items()
    return {name: kind for name, kind in stored if issubclass(kind, protocols) and _has_form(name)}


@cache
def _has_form(name: str) -> bool:
    try:
        _entries(values.STORED[name])
    except DataError:
        return False
    return True


def sort_of(value: Any) -> str:
    """Return the sort of a value, a belief, a statistic or a verdict; refuse any other."""
    if _is_stored(value) and _has_form(type(value).__name__):
        for sort, protocol in SORTS.items():
            if isinstance(value, protocol):
                return sort
    every = ", ".join(sorted(kinds(*SORTS)))
    raise DataError(
        f"value: must be one of {every}; got {type(value).__name__}, which has no form as a file."
    )


def _is_stored(value: Any) -> bool:
    """Return whether a value's class is stored, and not another class of the same name."""
    return values.STORED.get(type(value).__name__) is type(value)


def _entries(kind: type) -> dict[str, Entry]:
    """Return the entry of each field of a class."""
    constructor = getattr(kind, "_from_file", None)
    parameters = inspect.signature(constructor).parameters.values() if constructor else ()
    named = {p.name: p.annotation for p in parameters if p.kind is not p.VAR_KEYWORD}
    if not named:
        fields: Any = dataclasses.fields(kind)
        named = {field.name: field.type for field in fields if field.metadata.get("stored", True)}
    return {name: _entry(kind, str(text)) for name, text in named.items()}


def _entry(kind: type, text: str) -> Entry:  # noqa: PLR0911 - a table
    """Return the entry of a field with this annotation."""
    if text in _ENTRIES:
        return _ENTRIES[text]
    if text.endswith(" | None"):
        return entries.optional(_entry(kind, text.removesuffix(" | None")))
    if text.startswith("dict[str, "):
        return _parts(_entry(kind, text[len("dict[str, ") : -1]))
    if text.startswith("tuple["):
        return entries.list_of(_entry(kind, text[len("tuple[") : -len(", ...]")]))
    if text == "Any":
        return _part(lambda: kinds("belief", "statistic"))
    meant: Any = vars(sys.modules[kind.__module__]).get(text)
    if (known := values.STORED.get(text)) is not None and known is meant:
        return _part(lambda: {text: known})
    if get_args(meant):
        return entries.word(get_args(meant))
    raise DataError(f"value: a field of a {kind.__name__}, {text}, has no form as a file.")


def _part(wanted: Callable[[], dict[str, type]]) -> Entry:
    """Return the entry of a value of one of these classes."""

    def write(value: Any) -> dict[str, Any]:
        if not _is_stored(value) or type(value).__name__ not in wanted():
            raise DataError(
                f"value: a part of it has no form as a file; got a {type(value).__name__}."
            )
        return written(value)

    return Entry(write, lambda value, name: built(value, wanted(), name))


def _parts(one: Entry) -> Entry:
    """Return the entry of named values."""

    def write(value: Any) -> Any:
        return {"parts": [[name, one.write(each)] for name, each in value.items()]}

    def read(value: Any, name: str) -> dict[str, Any]:
        listed = value.get("parts") if isinstance(value, dict) and len(value) == 1 else None
        if not isinstance(listed, list) or any(
            not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str)  # noqa: PLR2004
            for each in listed
        ):
            refuse(f"its {name} must be pairs of a name and a part")
        result = {key: one.read(each, key) for key, each in listed}
        if len(result) < len(listed):
            refuse(f"its {name} name a part twice")
        return result

    return Entry(write, read)


def written(value: Any) -> dict[str, Any]:
    """Return a value as entries of a file."""
    fields = {}
    for name, entry in _entries(type(value)).items():
        field = getattr(value, name)
        if callable(field):
            raise DataError(
                f"{name}: a function has no form as a file; name the columns, or update the belief "
                "with rows, which then are known."
            )
        fields[name] = entry.write(field)
    return {"kind": type(value).__name__, "fields": fields}


def built(value: Any, wanted: dict[str, type], name: str = "value") -> Any:
    """Return the value of entries of a file, built by the constructor of a wanted class."""
    if not isinstance(value, dict) or value.keys() != {"kind", "fields"}:
        refuse(f"its {name} must have the entries kind and fields")
    kind, content = value["kind"], value["fields"]
    if not isinstance(kind, str) or kind not in wanted:
        refuse(f"its kind must be one of {', '.join(sorted(wanted))}; got {shown(kind)}")
    home: Any = wanted[kind]
    fields = _entries(home)
    if not isinstance(content, dict) or content.keys() != fields.keys():
        refuse(f"a {kind} must have the fields {sorted(fields)}")
    args = {field: entry.read(content[field], field) for field, entry in fields.items()}
    try:
        if constructor := getattr(home, "_from_file", None):
            result = constructor(**args)
        else:  # whose mean is the field `location`, since its method is called mean
            result = home(**{"mean" if name == "location" else name: x for name, x in args.items()})
    except (TypeError, AttributeError, LookupError, ArithmeticError, MemoryError) as error:
        refuse(f"holds what no {kind} can be ({error})")
    for field, read in args.items():
        if not values.same(getattr(result, field), read):
            refuse(f"its {field} is not what a {kind} of such fields has")
    return result
