"""What is to be decided between: one quantity of several groups, out of any form of posterior."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bayesmodels.belief.conjugate import Batched
from bayesmodels.belief.protocol import (
    DistributionFunction,
    Elliptical,
    MassFunction,
    Readable,
    Separable,
)
from bayesmodels.belief.reading import levels
from bayesmodels.decisions.drawn import Drawn
from bayesmodels.decisions.independent import Independent
from bayesmodels.errors import DataError
from bayesmodels.input import draws as checked_draws
from bayesmodels.input.containers import listed
from bayesmodels.input.labels import of_place
from bayesmodels.numerics.laws import element

_GIVE = (
    "Give a belief of Grouped rows, a mapping from names to beliefs or laws, bm.exact(model), "
    "bm.integrate(model), or draws"
)


class Groups(NamedTuple):
    """Labels of the groups, the quantity's name, its joint law or draws, and the posterior."""

    labels: tuple[Hashable, ...]
    quantity: str
    joint: Independent | Drawn
    posterior: Any


def groups(posterior: Any, quantity: str | None, draws: int, rng: np.random.Generator) -> Groups:
    """Return the groups of a posterior; dependent groups are represented by draws."""
    if isinstance(posterior, Readable):
        return _of_belief(posterior, quantity, draws, rng)
    laws = (Readable, DistributionFunction)
    if isinstance(posterior, Mapping) and any(isinstance(x, laws) for x in posterior.values()):
        result = {label: _one(x, str(label), quantity) for label, x in posterior.items()}
        _several(len(result))
        names = {name: label for label, (name, _) in result.items() if name}
        if len(names) > 1:
            (one, a), (other, b), *_ = names.items()
            raise DataError(
                f"posterior: must be about one quantity; {a!r} is about {one}, {b!r} about {other}."
                " Name a variable that all have by quantity=, or give laws of what can be compared:"
                f" belief.marginals()[{one!r}]."
            )
        name = quantity or next(iter(names), "value")
        return Groups(tuple(result), name, Independent([x for _, x in result.values()]), posterior)
    return _of_draws(posterior, quantity)


def _one(source: Any, label: str, quantity: str | None) -> tuple[str, Any]:
    """Return the name and the law of the quantity of one group, from a belief or a law."""
    name, law = "", source
    if isinstance(source, Readable):
        laws = source.marginals()
        where = f" in posterior[{label!r}]"
        name = _known(quantity, laws, source, where) if quantity else next(iter(laws))
        law = laws[name]
    elif not isinstance(source, DistributionFunction):
        raise DataError(f"posterior[{label!r}]: must be a belief or a law of SciPy's. {_GIVE}.")
    if isinstance(law, MassFunction) or (isinstance(source, Readable) and name in levels(source)):
        raise DataError(
            f"posterior[{label!r}]: must have a density; got a law of values that can be counted."
        )
    if np.shape(law.std()):
        raise DataError(
            f"posterior[{label!r}]: must be about one number; got the shape {np.shape(law.std())}. "
            "Give a belief of several groups by itself."
        )
    if law.std() == 0:
        raise DataError(f"posterior[{label!r}]: must be uncertain; it is known for certain.")
    return name, law


def _known(quantity: str, names: Any, posterior: Any, where: str = "") -> str:
    if quantity in names:
        return quantity
    computed = getattr(getattr(posterior, "model", None), "deterministics", ())
    if quantity in (v.name for v in computed):
        raise DataError(
            f"quantity: {quantity!r} is computed from other variables, and has no law of its own. "
            f"Decide by its draws: bm.decide(posterior.to_datatree(), {quantity!r})."
        )
    raise DataError(f"quantity: must be one of {listed(list(names))}{where}; got {quantity!r}.")


def _several(number: int) -> None:
    if number < 2:  # noqa: PLR2004 - to choose between
        raise DataError(
            f"posterior: must be of at least two groups; got {number}. Group the rows: "
            "bm.Grouped(rows, by=arm)."
        )


def _of_belief(
    posterior: Readable, quantity: str | None, draws: int, rng: np.random.Generator
) -> Groups:
    lengths = {axis: len(labels) for axis, labels in posterior.coords.items()}
    sizes = {
        name: int(np.prod([lengths[axis] for axis in axes], dtype=int))
        for name, axes in posterior.dims.items()
        if name not in levels(posterior)
    }
    several = [name for name, size in sizes.items() if size > 1]
    name = _known(quantity, sizes, posterior) if quantity else next(iter(several), "")
    _several(sizes.get(name, 1))
    axes = posterior.dims[name]
    shape = tuple(lengths[axis] for axis in axes)
    labels = _labels([posterior.coords[axis] for axis in axes])
    law = posterior.marginals()[name]
    if _independent(posterior, name):
        laws = [element(law, at) for at in np.ndindex(shape)]
        return Groups(labels, name, Independent(laws), posterior)
    drawn = np.asarray(posterior.sample(draws, rng)[name]).reshape(1, draws, -1)
    combination = posterior.combination if isinstance(posterior, Elliptical) else None
    return Groups(labels, name, Drawn(drawn, law, combination), posterior)


def _independent(posterior: Any, name: str) -> bool:
    """Whether groups are independent: members of a batch are, and else the posterior says so."""
    if isinstance(posterior, Separable):
        return posterior.separate(name)
    if isinstance(posterior, Batched):
        return set(posterior.dims[name]) <= set(posterior.batch_axes[0])  # type: ignore[attr-defined]
    return False


def _of_draws(posterior: Any, quantity: str | None) -> Groups:
    every = checked_draws.variables(posterior, "posterior")
    axes = {name: checked_draws.axes_of(name, x) for name, x in every.items()}
    several = [name for name, (dims, _) in axes.items() if dims]
    name = _known(quantity, axes, None) if quantity else next(iter(several), "")
    if not name:
        raise DataError(f"posterior: no variable has groups. {_GIVE}.")
    dims, coords = axes[name]
    least = checked_draws.LEAST_DRAWS
    x = checked_draws.read(every, {name: dims}, coords, length=least)[name]
    _several(int(np.prod(x.shape[2:], dtype=int)))
    labels = _labels(
        [coords.get(axis, range(n)) for axis, n in zip(dims, x.shape[2:], strict=True)]
    )
    return Groups(labels, name, Drawn(x.reshape(*x.shape[:2], -1)), posterior)


def _labels(axes: Any) -> tuple[Hashable, ...]:
    """Return labels of groups; of several axes they are joined by commas."""
    if len(axes) == 1:
        return tuple(axes[0])
    return tuple(map(of_place, product(*axes)))
