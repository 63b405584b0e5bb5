"""Draws of any sampler or library -> checked arrays, matched by the names of axes and by labels.

ArviZ's DataTree and Dataset, the older InferenceData, and mappings of xarray or plain arrays are
read. Whoever takes draws from a user has them from here.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.labels import Coords
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import xarray as xr

SAMPLED = ("chain", "draw")
LEAST_DRAWS = 8
"""Draws in each chain, without which not even their effective number can be estimated."""
_SHOWN = 5  # labels in a message


def variables(draws: Any, argument: str = "draws") -> dict[str, Any]:
    """Return the variables of draws in any form by name: those of the group ``posterior``, if any.

    Raises
    ------
    DataError
        If this is no form of draws, or holds no variables of a posterior.
    """
    import xarray as xr

    if isinstance(draws, xr.DataTree):  # which may have a variable of that name
        group = draws.children.get("posterior")
    else:
        group = None if isinstance(draws, xr.Dataset) else getattr(draws, "posterior", None)
    if group is None and isinstance(draws, Mapping) and isinstance(draws.get("posterior"), Mapping):
        group = draws["posterior"]
    if group is not None:
        return variables(group, argument)
    if isinstance(draws, xr.DataTree):
        if not draws.data_vars and draws.children:
            groups = ", ".join(map(str, draws.children))
            raise DataError(
                f"{argument}: a tree must have a group posterior; its groups: {groups}. Of draws "
                "in another group give this, such as tree.posterior_predictive."
            )
        draws = draws.to_dataset()
    if isinstance(draws, xr.Dataset):
        draws = draws.data_vars
    if not isinstance(draws, Mapping):
        raise DataError(
            f"{argument}: must be draws as a DataTree, Dataset or mapping from names of variables "
            f"to arrays with the axes (chain, draw, ...); got {type(draws).__name__}."
        )
    return {str(name): values for name, values in draws.items()}


def read(
    draws: Any,
    dims: Mapping[str, Sequence[str]],
    coords: Mapping[str, Sequence[Hashable]],
    *,
    chains: int = 1,
    length: int | None = 1,
    where: str = "",
) -> dict[str, Array]:
    """Return arrays of finite numbers with the axes (chain, draw, ...), in the order of `dims`.

    Axes of xarray's arrays are matched by their names, places along them by their labels; the
    labels 0, 1, ... are places, and other names of axes say nothing. Plain arrays have their axes
    in order.

    Parameters
    ----------
    draws : DataTree, Dataset or mapping
        As `variables` reads them. Others than those in `dims` are left alone.
    dims : mapping of sequences of str
        Names of each variable's own axes.
    coords : mapping of sequences
        Labels along axes; of an axis without labels, the length is not known.
    chains, length : int
        How many chains, and draws in each, there must be; None lets plain arrays have any number
        of sample axes.
    where : str
        Which draws these are, for messages, such as " of the second set".

    Raises
    ------
    DataError
        If a variable is missing, has other axes or labels, holds no finite numbers, or too few.
    """
    import xarray as xr

    arrays = variables(draws)
    result: dict[str, Array] = {}
    sampled: dict[str, Any] = {}
    for name, axes in dims.items():
        said = f"draws: {name!r}{where}"
        if name not in arrays:
            raise DataError(f"draws: must have the variable {name!r}{where}; has {list(arrays)}.")
        x = arrays[name]
        if isinstance(x, xr.Variable):
            x = xr.DataArray(x)
        named = isinstance(x, xr.DataArray)
        if named:
            x = _in_order(said, x, axes, coords, sampled)
        values = _numbers(said, x)
        shape = tuple(len(coords[a]) if a in coords else None for a in axes)
        lead = len(SAMPLED) if named or length is not None else max(0, values.ndim - len(axes))
        event_shape = values.shape[lead:]
        if values.ndim != lead + len(axes) or any(
            n not in (None, m) for n, m in zip(shape, event_shape, strict=True)
        ):
            raise DataError(_of_shape(said, values.shape, shape))
        if length is not None:
            _long_enough(said, values.shape[:2], chains, length)
        if result and values.shape[:lead] != (other := next(iter(result.values()))).shape[:lead]:
            raise DataError(
                f"{said} must have as many draws as the other variables, {other.shape[:lead]}; "
                f"got {values.shape[:lead]}."
            )
        if not np.isfinite(values).all():
            bad = int((~np.isfinite(values)).sum())
            raise DataError(f"{said} holds {bad} values that are not finite.")
        result[name] = values
    return result


def axes_of(name: str, values: Any) -> tuple[tuple[str, ...], Coords]:
    """Return names and labels of a variable's event axes; labels are 0, 1, ... by default."""
    import xarray as xr

    if isinstance(values, xr.DataArray):
        axes = tuple(_by_number([str(a) for a in values.dims if a not in SAMPLED]))
        return axes, {
            a: tuple(values.get_index(a)) if a in values.coords else tuple(range(values.sizes[a]))
            for a in axes
        }
    shape = _numbers(f"draws: {name!r}", values).shape[len(SAMPLED) :]
    coords: Coords = {f"{name}_dim_{i}": tuple(range(n)) for i, n in enumerate(shape)}
    return tuple(coords), coords


def _in_order(
    said: str,
    x: xr.DataArray,
    axes: Sequence[str],
    coords: Mapping[str, Sequence[Hashable]],
    sampled: dict[str, Any],
) -> xr.DataArray:
    """Return an array with axes and labels in order; `sampled` has the first's draws."""
    if not set(SAMPLED) <= set(x.dims):
        raise DataError(
            f"{said} must have the axes chain and draw; got {tuple(map(str, x.dims))}. Rename its "
            "axes, or give draws of several chains as they were made, before they are stacked."
        )
    event_axes = [str(a) for a in x.dims if a not in SAMPLED]
    if len(event_axes) != len(axes):
        shape = tuple(x.sizes[a] for a in (*SAMPLED, *event_axes))
        raise DataError(
            _of_shape(said, shape, [len(coords[a]) if a in coords else None for a in axes])
        )
    others = iter(_by_number([a for a in event_axes if a not in axes]))
    order = [a if a in event_axes else next(others) for a in axes]
    wanted = [*((a, sampled.get(a)) for a in SAMPLED), *((a, coords.get(a)) for a in axes)]
    x = x.transpose(*SAMPLED, *order)
    for here, (axis, labels) in zip((*SAMPLED, *order), wanted, strict=True):
        if here not in x.coords:
            continue
        index = x.get_index(here)
        if here in SAMPLED and sampled.setdefault(here, index).equals(index):
            continue
        if labels is not None:
            at = _places(said, here, list(index), list(labels), named=here == axis)
            x = x if at is None else x.isel({here: at})
    return x


def _by_number(axes: list[str]) -> list[str]:
    """Return axes in the order of their numbers, if ArviZ numbered them; else as they are."""
    numbers = [re.search(r"_dim_(\d+)$", axis) for axis in axes]
    if not all(numbers):
        return axes
    return sorted(axes, key=lambda axis: int(axis.rpartition("_")[2]))


def _places(
    said: str, axis: str, labels: list[Hashable], wanted: list[Hashable], *, named: bool
) -> list[int] | None:
    """Return the places of the wanted labels among `labels`; None where they are in order.

    Labels are the same if they read the same, whatever their types. The numbers 0, 1, ..., which a
    library gives when nobody else did, are places.
    """
    counted = _integers(labels) and set(labels) == set(range(len(labels)))
    here, there = list(map(_text, labels)), list(map(_text, wanted))
    if here == there:
        return None
    if not counted or _integers(wanted):
        at = {text: place for place, text in enumerate(here)}
        if len(at) == len(here) == len(there) and at.keys() == set(there):
            return [at[text] for text in there]
    if counted:
        return np.argsort(np.array(labels, dtype=int)).tolist()
    if list(wanted) == list(range(len(wanted))) and not (named and _integers(labels)):
        return None
    raise DataError(
        f"{said} must have the labels {_shown(there)} along the axis {axis!r}, in any order; got "
        f"{_shown(here)}. Rename them, or drop them to go by places: "
        f".drop_vars({axis!r})."
    )


def _integers(labels: Iterable[Hashable]) -> bool:
    return all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in labels)


def _text(label: Hashable) -> str:
    """Return a label as it reads: 1 and 1.0, dates of all kinds, text and bytes are the same."""
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (date, np.datetime64)):
        import pandas as pd

        return pd.Timestamp(label).isoformat()
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    if isinstance(label, (float, np.floating)) and label.is_integer():
        return str(int(label))
    return str(label)


def _shown(labels: list[str]) -> str:
    more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
    return ", ".join(map(repr, labels[:_SHOWN])) + more


def _numbers(said: str, x: Any) -> Array:
    """Return real numbers as float64; refuse anything else."""
    if np.ma.is_masked(x) or (isinstance(x, (list, tuple)) and any(map(np.ma.is_masked, x))):
        raise DataError(
            f"{said} must have no masked values; {np.ma.count_masked(np.ma.array(x))} of "
            f"{np.size(x)} are. Leave out the draws that hold them, in all variables."
        )
    try:
        values = np.asarray(x)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{said} must be one array with the axes (chain, draw, ...); got chains of several "
            f"shapes ({error}). Cut all chains to one length."
        ) from None
    if values.dtype.kind not in "biuf":
        got = type(x).__name__ if values.ndim == 0 else f"values of type {values.dtype}"
        raise DataError(
            f"{said} must hold real numbers; got {got}. Convert them, such as by "
            ".astype(float); the values of a nominal variable are the numbers of its levels."
        )
    return values.astype(float, copy=False)


def _long_enough(said: str, sizes: tuple[int, ...], chains: int, length: int) -> None:
    """Refuse draws of fewer chains, or shorter ones, than needed."""
    if sizes[1] < length:
        turned = sizes[0] > sizes[1] and sizes[0] >= length
        way = (
            "Chains come first: x.swapaxes(0, 1) turns (draw, chain) round."
            if turned
            else "Draw more."
        )
        raise DataError(
            f"{said} must have at least {length} draws in each chain; has {sizes[1]} in each of "
            f"{sizes[0]}. {way}"
        )
    if sizes[0] < chains:
        raise DataError(
            f"{said} must have at least {chains} chains, to be compared with each other; has "
            f"{sizes[0]}. Run four chains, and give them as one array: np.stack([one, other, ...])."
        )


def _of_shape(said: str, got: Sequence[int], axes: Sequence[int | None]) -> str:
    """Return the error message that states the axes of a variable, and a way to get them."""
    then = f" and then ({', '.join('any' if n is None else str(n) for n in axes)})" if axes else ""
    way = (
        " Stack the draws of several chains, of one length: np.stack([one, other, ...])."
        if len(got) == 1 + len(axes)
        else ""
    )
    return f"{said} must have the axes (chain, draw){then}; got shape {tuple(got)}.{way}"
