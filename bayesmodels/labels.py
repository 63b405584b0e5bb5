"""Names of axes and of the places along them, shared by beliefs, PyMC models and DataTrees.

Coordinates are a plain dict from the name of an axis to the tuple of its labels, in the order of
the axes. An axis that nobody named is called ``dim_0``, ``dim_1``, ... and counted from 0.
"""

from collections.abc import Hashable, Mapping

from bayesmodels.errors import DataError

Coords = dict[str, tuple[Hashable, ...]]


def named(coords: Mapping[str, object] | None, shape: tuple[int, ...], argument: str) -> Coords:
    """Check that `coords` names the axes of `shape`, one entry an axis, and copy it to tuples."""
    if not coords:
        return {}
    result: Coords = {}
    for name, labels in coords.items():
        if isinstance(labels, str) or not hasattr(labels, "__iter__"):
            msg = (
                f"{argument}: coordinates of axis {name!r} must be a sequence of labels, "
                f"got {labels!r}."
            )
            raise DataError(msg)
        result[name] = unique(tuple(labels), f"{argument}: labels of axis {name!r}")
    lengths = tuple(len(labels) for labels in result.values())
    if lengths != shape:
        msg = (
            f"{argument}: coordinates must name every leading axis, with one label a place; the "
            f"axes have lengths {shape}, the coordinates {dict(zip(result, lengths, strict=True))}."
        )
        raise DataError(msg)
    return result


def unique(labels: tuple[Hashable, ...], what: str) -> tuple[Hashable, ...]:
    """Return the labels; raise if two of them read the same, such as 1 and "1"."""
    if set(map(type, labels)) == {int} and len(set(labels)) == len(labels):
        return labels  # quickly, since a mixture numbers thousands of terms
    seen: set[str] = set()
    for label in labels:
        try:
            hash(label)
        except TypeError as error:
            msg = f"{what} must be text, numbers or the like; got {label!r}: {error}."
            raise DataError(msg) from None
        text = str(label)
        if not text.isprintable():  # in no Unicode file, if half of a pair stands alone
            try:
                text.encode()
            except UnicodeEncodeError:
                msg = f"{what} must be valid Unicode; {label!r} has a lone surrogate. Rename it."
                raise DataError(msg) from None
        if text in seen:
            msg = (
                f"{what} must differ from each other; {label!r} is given twice. Rename or drop one."
            )
            raise DataError(msg)
        seen.add(text)
    return labels


def completed(coords: Coords, shape: tuple[int, ...]) -> Coords:
    """Return `coords`, or counted axes ``dim_0``, ``dim_1``, ... where nothing was named."""
    return coords or {f"dim_{axis}": tuple(range(length)) for axis, length in enumerate(shape)}


def joined(
    before: Coords, shape: tuple[int, ...], data: Coords, data_shape: tuple[int, ...]
) -> Coords:
    """Return the coordinates of a batch after a merge or an update.

    A single problem (shape ``()``) meets a batch by being repeated, and so does a batch that lies
    along the last axes of the other, such as one prior for each column of data in groups. Where
    both name an axis, they must give it the same labels.
    """
    if len(shape) < len(data_shape):
        inner = data_shape[len(data_shape) - len(shape) :]
        names = dict(list(data.items())[len(data_shape) - len(shape) :])
        joined(before, shape, names, inner)
        return data
    if shape and data_shape and shape != data_shape:
        msg = (
            f"data: must have the leading axes it is combined with; got shape {data_shape} and "
            f"{shape}. Use one prior for all (scalars), or one for each column or group."
        )
        raise DataError(msg)
    if not before or _counted(before):
        return data or before
    if "dim_0" in data or not data or data == before:
        return before
    if "dim_0" in before and list(before.values()) == list(data.values()):
        return data
    msg = (
        f"data: axes must have the labels they had before; before {before}, now {data}. "
        "Select and reorder the columns or groups so that they match."
    )
    raise DataError(msg)


def _counted(coords: Coords) -> bool:
    """Return whether nobody named the axes or the places along them."""
    return "dim_0" in coords and all(
        labels == tuple(range(len(labels))) for labels in coords.values()
    )
