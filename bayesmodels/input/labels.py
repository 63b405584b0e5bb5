"""Names of axes and of the places along them, shared by beliefs, PyMC models and DataTrees.

Coordinates are a plain dict from the name of an axis to the tuple of its labels, in the order of
the axes. An axis that nobody named is called ``dim_0``, ``dim_1``, ... and counted from 0.
"""

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from bayesmodels.errors import DataError

Coords = dict[str, tuple[Hashable, ...]]
Labels = tuple[Hashable, ...] | None


def named(coords: Mapping[str, object] | None, shape: tuple[int, ...], argument: str) -> Coords:
    """Check that `coords` names the axes of `shape`, one entry an axis, and copy it to tuples."""
    if not coords:
        return {}
    result: Coords = {}
    for name, labels in coords.items():
        named_axis(name, argument)
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise DataError(
                f"{argument}: coordinates of axis {name!r} must be a sequence of labels, "
                f"got {labels!r}."
            )
        result[name] = unique(tuple(labels), f"{argument}: labels of axis {name!r}")
    lengths = tuple(len(labels) for labels in result.values())
    if lengths != shape:
        raise DataError(
            f"{argument}: coordinates must name every leading axis, with one label a place; the "
            f"axes have lengths {shape}, the coordinates {dict(zip(result, lengths, strict=True))}."
        )
    return result


RESERVED = (
    *("chain", "draw", "sample", "__sample__", "row", "rows", "likelihood"),
    *("theta", "pi", "mu", "sigma2", "Sigma", "lam", "w", "h", "x", "y"),
)
"""Axes and variables that draws and PyMC models have by themselves."""


def named_axis(name: object, argument: str) -> None:
    """Check the name of an axis."""
    part_of_names(name, f"{argument}: names of axes")
    if not name or name in RESERVED:
        raise DataError(
            f"{argument}: names of axes must not be empty, and not those of variables and axes "
            f"that draws and models have anyway; got {name!r}. Choose another, such as 'group'."
        )


def part_of_names(name: object, what: str) -> None:
    """Check text that becomes a part of the names of variables in PyMC, xarray and netCDF."""
    text = name if isinstance(name, str) else ""
    bad = not isinstance(name, str) or not text.isprintable() or "/" in text
    if bad or text.endswith((":", " ")):
        raise DataError(
            f"{what} must be text of visible characters, without '/' and without ':' or a blank "
            f"at the end, since variables are named after them; got {name!r}. Rename it."
        )


def unique(labels: tuple[Hashable, ...], what: str) -> tuple[Hashable, ...]:
    """Return the labels; raise if two of them are equal or read the same: 1, True and "1"."""
    if set(map(type, labels)) == {int} and len(set(labels)) == len(labels):
        return labels  # quickly, since a mixture numbers thousands of terms
    seen: set[str] = set()
    equal: dict[Hashable, Hashable] = {}
    for label in labels:
        try:
            hash(label)
        except TypeError as error:
            raise DataError(
                f"{what} must be text, numbers or the like; got {label!r}: {error}."
            ) from None
        text = str(label)
        if not text.isprintable():  # in no Unicode file, if half of a pair stands alone
            try:
                text.encode()
            except UnicodeEncodeError:
                raise DataError(
                    f"{what} must be valid Unicode; {label!r} has a lone surrogate. Rename it."
                ) from None
        if label in equal and text not in seen:
            raise DataError(
                f"{what} must differ from each other; {equal[label]!r} and {label!r} are equal. "
                "Rename one, or write all of them as text."
            )
        if text in seen:
            raise DataError(
                f"{what} must differ from each other; {label!r} is given twice. Rename or drop one."
            )
        seen.add(text)
        equal[label] = label
    return labels


def without(coords: Mapping[str, Any] | None, *axes: str) -> dict[str, Any]:
    """Return the coordinates of all other axes."""
    return {axis: labels for axis, labels in (coords or {}).items() if axis not in axes}


def only(coords: Mapping[str, Any] | None, axis: str) -> dict[str, Any]:
    """Return the coordinates of one axis, if it is there."""
    return {axis: coords[axis]} if coords and axis in coords else {}


def completed(coords: Coords, shape: tuple[int, ...]) -> Coords:
    """Return `coords`, or counted axes ``dim_0``, ``dim_1``, ... where nothing was named."""
    return coords or {f"dim_{axis}": tuple(range(length)) for axis, length in enumerate(shape)}


def joined(
    before: Coords, shape: tuple[int, ...], data: Coords, data_shape: tuple[int, ...]
) -> Coords:
    """Return the coordinates of a batch after a merge or an update.

    Shapes are broadcast: a single problem (shape ``()``) is repeated, and so is a batch along the
    last axes of the other, such as one prior for each column of data in groups. A batch without
    names takes those of the data; one with names fits the same names only.
    """
    if before is data or not (shape or data_shape):
        return before
    if len(shape) < len(data_shape):
        at = len(data_shape) - len(shape)
        joined(before, shape, dict(list(data.items())[at:]), data_shape[at:])
        return data
    if data_shape and shape != data_shape:
        raise DataError(
            f"data: must have the leading axes it is combined with; got shape {data_shape} and "
            f"{shape}. Use one prior for all (scalars), or one for each column or group."
        )
    if not data_shape or before == data:
        return before
    if not has_names(before):
        return data or before
    if list(before.values()) == list(data.values()) and ("dim_0" in before or "dim_0" in data):
        return data if "dim_0" in before else before
    way = "Select and reorder the columns or groups so that they match."
    raise DataError(
        f"data: axes must have the labels they had before; before {before}, now {data or 'none'}. "
        f"{way if data else 'Give the statistic these coords.'}"
    )


def has_names(coords: Coords) -> bool:
    """Return whether axes or the places along them have names that are not defaults."""
    named = bool(coords) and "dim_0" not in coords
    return named or any(places != numbered(len(places)) for places in coords.values())


@lru_cache(maxsize=64)
def numbered(size: int) -> tuple[int, ...]:
    """Return the default labels 0, 1, ... of an axis, the same object each time."""
    return tuple(range(size))


def same(before: Labels, now: Labels, what: str) -> None:
    """Refuse to combine numbers whose labels differ, or are in another order.

    Nothing is reordered. None, for no labels, does not fit any labels.
    """
    if before is now or before == now:
        return
    argument = {"categories": 'coords={"category": [...]}'}.get(what, f"{what}=[...]")
    raise DataError(
        f"data: what is combined must be of the same {what}, in the same order; got "
        f"{_shown(before)} and {_shown(now)}. Make all of it with one model that lists them, or "
        f"give a statistic made by hand its own: {argument}."
    )


def _shown(labels: Labels) -> str:
    if labels is None:
        return "none that are named"
    return repr(labels if len(labels) <= _MOST_SHOWN else (*labels[:3], "...", labels[-1]))


_MOST_SHOWN = 20


def of_place(labels: Iterable[Hashable]) -> str:
    """Return the labels of one place, one an axis, as one text that no other place has.

    Examples
    --------
    >>> of_place(["x", "y"]), of_place(["x, y", "z"]), of_place(["x", "y, z"])
    ('x, y', "'x, y', z", "x, 'y, z'")
    """
    texts = tuple(map(str, labels))
    if len(texts) > 1:
        texts = tuple(repr(x) if ", " in x or x[:1] in ("'", '"') else x for x in texts)
    return ", ".join(texts)
