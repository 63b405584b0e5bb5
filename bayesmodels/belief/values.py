"""Small frozen values made of arrays: how they are filled, compared, pickled and shown."""

from __future__ import annotations

import dataclasses
from typing import Any, dataclass_transform

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.input.data import sparse


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def value[V: type](kind: V) -> V:
    """Make a frozen dataclass of arrays and labels: read-only, compared, pickled and shown as such.

    Its constructor checks, and fills the fields in with `fill`. A belief, which has `equations`, is
    shown with them in a notebook.
    """
    body = vars(kind)
    new: Any = dataclasses.dataclass(
        frozen=True, init="__init__" not in body, eq=False, repr=False
    )(kind)
    new.__setstate__, new.__eq__, new.__hash__ = restore, equal, None  # arrays have no hash
    if "__repr__" not in body:
        new.__repr__ = describe
    if "equations" in body:
        new._repr_html_ = notebook.belief
    return stored(new)


STORED: dict[str, Any] = {}
"""Classes whose values have a form as a file, which follows from their fields, by name."""


def stored[V: type](kind: V) -> V:
    """Give a dataclass of this package a form as a file; no other may take its name."""
    if kind.__module__.startswith("bayesmodels."):
        STORED[kind.__name__] = kind
    return kind


def fill(value: Any, **fields: Any) -> None:
    """Set the fields of a frozen dataclass from within its constructor; arrays become read-only."""
    for name, field in fields.items():
        if isinstance(field, np.ndarray) and field.flags.writeable:
            field.setflags(write=False)
        object.__setattr__(value, name, field)


def restore(self: Any, state: dict[str, Any]) -> None:
    """Restore a pickled state with read-only arrays."""
    fill(self, **state)


def equal(self: Any, other: Any) -> bool:
    """Return whether two values of one class hold the same arrays and labels."""
    if type(self) is not type(other):
        return False
    names = [field.name for field in dataclasses.fields(self)]
    return all(same(getattr(self, name), getattr(other, name)) for name in names)


def same(a: Any, b: Any) -> bool:
    """Return whether two fields hold the same numbers and labels."""
    if a is b:
        return True
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if sparse(a):
        return a.shape == b.shape and (a != b).nnz == 0
    return bool(a == b)


def describe(self: Any) -> str:
    """Return a short representation: arrays as lists, labels only where somebody gave them."""
    parts = []
    for field in dataclasses.fields(self):
        value = getattr(self, field.name)
        if not field.repr:
            continue
        if isinstance(value, np.ndarray):
            text = np.array2string(value, separator=", ", threshold=20, precision=6)
            text = text.replace(".,", ",").replace(".]", "]").replace(". ", " ").removesuffix(".")
            # The constructor's name: a field can't have the name of the verb mean().
            name = "mean" if field.name == "location" else field.name
            parts.append(f"{name}={text}")
        elif value and field.name != "coords":
            parts.append(f"{field.name}={short(value)}")
    coords = getattr(self, "coords", {})
    named = {axis: labels for axis, labels in coords.items() if labels != tuple(range(len(labels)))}
    if named:
        axes = ", ".join(f"{axis!r}: {short(labels)}" for axis, labels in named.items())
        parts.append(f"coords={{{axes}}}")
    return f"{type(self).__name__}({', '.join(parts)})"


def short(value: Any) -> str:
    """Show a value; of many labels the first and the last."""
    if isinstance(value, tuple) and len(value) > _MOST_SHOWN:
        return f"({', '.join(map(repr, value[:3]))}, ..., {value[-1]!r})"
    return repr(value)


_MOST_SHOWN = 20
