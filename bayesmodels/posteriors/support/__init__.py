"""Where the free variables of a PyMC model may lie, read off their distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.mixture import _BaseMixtureRV
from pymc.distributions.transforms import (
    Interval,
    LogExpM1,
    LogOddsTransform,
    LogTransform,
    _default_transform,
)
from pymc.distributions.truncated import TruncatedRV
from pymc.util import get_transformed_name
from pytensor.graph.replace import clone_replace

from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.density import frozen, in_double
from bayesmodels.posteriors.support.circle import CIRCLE
from bayesmodels.posteriors.support.finite import COUNTABLE, FINITE, title, values_of, whole_range
from bayesmodels.posteriors.support.interval import INTERVAL
from bayesmodels.posteriors.support.kind import LINE, Kind, Support
from bayesmodels.posteriors.support.matrix import MATRIX
from bayesmodels.posteriors.support.positive import POSITIVE
from bayesmodels.posteriors.support.real import REAL
from bayesmodels.posteriors.support.simplex import SIMPLEX
from bayesmodels.posteriors.support.unit import UNIT

KINDS: tuple[Kind, ...] = (UNIT, POSITIVE, REAL, INTERVAL, CIRCLE, SIMPLEX, MATRIX, FINITE)
"""Every kind of support. Of a new one there is a file, and a place here."""
_WHOLE = ("int", "uint", "bool")
_ENDS = {LogTransform: (0.0, np.inf), LogOddsTransform: (0.0, 1.0)}


def supports(model: pm.Model, *, all_known: bool = True) -> list[Support]:
    """Return the supports of free variables, in the model's order: of all, or those known."""
    result: dict[Any, Support] = {}
    for held, rv, shape in shaped(model):
        try:
            result[rv] = _support(held, rv, shape, result)
        except NotConjugate:
            if all_known:
                raise
    by_name = {s.name: s for s in result.values()}
    return [by_name[rv.name] for rv in model.free_RVs if rv.name in by_name]


def shaped(model: pm.Model) -> list[tuple[pm.Model, Any, tuple[int, ...]]]:
    """Return a model with frozen dims, and its free variables with their shapes."""
    held = frozen(model)
    shapes = [rv.type.shape for rv in held.free_RVs]
    if any(None in shape for shape in shapes):
        known = held.eval_rv_shapes()
        shapes = [known[rv.name] for rv in held.free_RVs]
    return [
        (held, rv, tuple(int(n) for n in shape))
        for rv, shape in zip(held.free_RVs, shapes, strict=True)
    ]


def _support(
    model: pm.Model, rv: Any, shape: tuple[int, ...], known: Mapping[Any, Support]
) -> Support:
    op, name = rv.owner.op, rv.name
    if isinstance(op, _BaseMixtureRV):
        raise NotConjugate(
            f"{name} has a mixture as its prior with the components summed out; a closed form "
            "needs the component as a variable of its own."
        )
    refuse_integer(rv)
    if str(rv.dtype).startswith(_WHOLE):
        lowest, levels = whole_range(op, rv, name, known)
        return Support(name, FINITE, shape, lowest, levels, getattr(op, "name", "") in COUNTABLE)
    own = model.rvs_to_transforms.get(rv)
    if kind := _recognised(op, own, None):
        return Support(name, kind, shape)
    transform = _default_transform(op, rv)
    # A transform of the user's own may cut off a part of the support.
    harmless = (type(transform), *((LogExpM1,) if isinstance(transform, LogTransform) else ()))
    restricts = isinstance(own, Interval) and _ends(own, rv) != _ends(transform, rv)
    if own is not None and (restricts or not isinstance(own, harmless)):
        raise NotConjugate(
            f"{name} has a transform of its own ({type(own).__name__}), which may restrict it to a "
            "part of its support; leave it out if it does not."
        )
    if kind := _recognised(op, own, transform):
        return Support(name, kind, shape)
    low, high = _ends(transform, rv)
    while isinstance(op, TruncatedRV):  # the law that is truncated may have ends of its own
        op = op.base_rv_op
        rv = op.make_node(*rv.owner.inputs[:-2]).default_output()
        inner = _ends(_default_transform(op, rv), rv)
        low, high = max(low, inner[0]), min(high, inner[1])
    of_ends = (kind for kind in (UNIT, POSITIVE, REAL) if kind.ends == (low, high))
    return Support(name, next(of_ends, INTERVAL), shape, interval=(low, high))


def _recognised(op: Any, standard: Any, transform: Any) -> Kind | None:
    """Return the kind that a law has by its operation or transforms, if one is of that kind."""
    return next((kind for kind in KINDS if kind.recognises(op, standard, transform)), None)


def one_to_one(model: pm.Model) -> pm.Model:
    """Return a model whose coordinates are one to one with its values: itself, if they are."""
    kinds = {
        rv.name: _recognised(rv.owner.op, transform, transform)
        for rv, transform in model.rvs_to_transforms.items()
    }
    opened = {name: kind.coordinates for name, kind in kinds.items() if kind and kind.coordinates}
    if not opened:
        return model
    result = model.copy()
    for name, coordinates in opened.items():
        rv = result[name]
        result.rvs_to_transforms[rv] = coordinates
        result.rvs_to_values[rv].name = get_transformed_name(name, coordinates)
    return result


def within(model: pm.Model, points: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether values are inside what transforms of the user's own allow, by variable.

    As expressions of the values of all variables. An order, say, allows less than the law does.
    """
    free = {rv: rv.type.filter_variable(points[rv.name]) for rv in model.free_RVs}
    there = {
        rv.name: transform.forward(rv, *rv.owner.inputs)
        for rv, transform in model.rvs_to_transforms.items()
        if rv in free
        and transform is not None
        and type(transform) is not type(_default_transform(rv.owner.op, rv))
    }
    coordinates = in_double(clone_replace(list(there.values()), free, rebuild_strict=False), {})
    inside: Any = [pt.all(pt.isfinite(z)) for z in coordinates]  # type: ignore[no-untyped-call]
    return dict(zip(there, inside, strict=True))


def refuse_integer(rv: Any) -> None:
    """Refuse a whole number that PyMC keeps as a real one: its masses are no density on a line."""
    op = rv.owner.op
    inner = getattr(op.base_rv_op if isinstance(op, TruncatedRV) else None, "dtype", "float64")
    if str(inner).startswith(_WHOLE) and not str(rv.dtype).startswith(_WHOLE):
        raise NotConjugate(
            f"{rv.name} ({title(op.base_rv_op)}, truncated) is a whole number that PyMC keeps as "
            "a real one: its masses are no density."
        )


def _ends(transform: Any, rv: Any) -> tuple[float, float]:
    """Return the ends of the interval that a transform maps onto the line."""
    if transform is None:
        return LINE
    for kind, known in _ENDS.items():
        if isinstance(transform, kind):
            return known
    if not isinstance(transform, Interval):
        raise NotConjugate(
            f"{rv.name} lives on a space of its own ({title(rv.owner.op)}), on which no family "
            "with a closed form is known here; known are intervals, circles, simplexes, covariance "
            "matrices and finite ranges."
        )
    ends = []
    for end, none in zip(transform.args_fn(*rv.owner.inputs), LINE, strict=True):
        (values,) = ([none],) if end is None else values_of([pt.as_tensor(end)], rv.name)
        if np.min(values) != np.max(values):
            raise NotConjugate(
                f"elements of {rv.name} lie between different ends: make them variables of their "
                "own."
            )
        ends.append(float(np.min(values)))
    return ends[0], ends[1]


def listed(names: Iterable[str]) -> str:
    """Return names in words: with commas, and an "and" before the last one."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
