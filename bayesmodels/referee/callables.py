"""A joint log density that is any function of values, with an estimate of its rounding error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Logs, Point
from bayesmodels.referee.programs import (
    Program,
    Side,
    Transform,
    declared,
    expressions,
    one_to_one,
    with_jacobians,
)

JOINT = "joint density"
"""The term of a function that returns one number."""

_UNITS = 16  # in the last place of the value, and of the places
_NEAR = 3  # neighbouring points


def called_side(
    source: Program,
    function: Callable[..., Any],
    rename: Mapping[str, str],
    transform: Transform,
    own: Side,
) -> Side:
    """Return the terms of a function of values, which are those of a program's variables.

    A function's operations are not seen. What it is off by is taken to be at most the program's own
    bound, some units in the last place of its value, and some times what it moves by where its
    arguments are moved in their last places.
    """
    theirs = {new: old for old, new in rename.items()}
    evaluate, jacobians = _arguments(source, transform)

    def once(point: Point) -> dict[str, float]:
        values = {theirs.get(n, n): np.array(x) for n, x in evaluate(point).items()}
        with np.errstate(all="ignore"):
            found = function(values)
        parts = found if isinstance(found, Mapping) else {JOINT: found}
        return {rename.get(n, n): _number(x) for n, x in parts.items()}

    def run(at: list[Point]) -> dict[str, Logs]:
        scale = own.total(at).bound
        rows = [once(point) for point in at]
        near = [[once(_neighbour(point, k)) for point in at] for k in range(_NEAR)]
        found = {}
        for name in rows[0]:
            value, *moved = (np.array([row[name] for row in many]) for many in (rows, *near))
            with np.errstate(invalid="ignore"):
                noise = np.nanmax(np.nan_to_num(np.abs(np.array(moved) - value)), axis=0)
            bound = _UNITS * (_unit(value) * (1 + np.abs(value)) + noise) + scale
            finite = np.isfinite(value)
            found[name] = Logs(np.where(finite, value, -np.inf), np.where(finite, bound, 0))
        return found | (jacobians.run(at) if jacobians else {})

    words = dict(own.words) | (jacobians.words if jacobians else {})
    return Side(run, words, jacobians=jacobians.jacobians if jacobians else ())


def _arguments(
    source: Program, transform: Transform
) -> tuple[Callable[[Point], Point], Side | None]:
    """Return what makes a function's arguments of a point, and the log Jacobians of that."""
    from bayesmodels.posteriors.change_of_variables import Variable
    from bayesmodels.posteriors.density import compiled
    from bayesmodels.posteriors.operations import is_float

    if not transform:
        return dict, None
    made = expressions(source, None, transform)
    inputs = list(source.inputs.values())
    run = compiled(inputs, list(made.values()))

    def evaluate(point: Point) -> Point:
        found = run(*(np.asarray(point[v.name], v.dtype) for v in inputs))
        return dict(zip(made, found, strict=True))

    shapes = evaluate({name: np.ones(shape) for name, shape in source.shapes.items()})
    mapped = {n: Variable(v, np.shape(shapes[n])) for n, v in made.items() if is_float(v)}
    inner = {n: source.variable(n) for n in source.inputs if source.continuous(n)}
    one_to_one(mapped, inner)
    return evaluate, declared(source, *with_jacobians(source, {}, {}, mapped, inner))


def _number(x: Any) -> float:
    """Return a log density."""
    try:
        return float(np.sum(np.asarray(x)))
    except (TypeError, ValueError) as error:
        raise DataError(
            "b: the function must return the joint log density, or its terms by name as a "
            f"mapping; got {type(x).__name__}."
        ) from error


def _unit(value: Array) -> float:
    """Return the relative rounding unit: that of single precision if all values have it."""
    finite = value[np.isfinite(value)]
    single = len(finite) > 1 and (finite == finite.astype(np.float32)).all() and np.ptp(finite) > 0
    return float(np.finfo(np.float32 if single else float).eps)


def _neighbour(point: Point, number: int) -> Point:
    """Return a point whose continuous values are moved in the last place."""
    part = 1 + (number + 1) * float(np.finfo(float).eps)
    return {
        name: x * part if np.asarray(x).dtype.kind == "f" else x for name, x in point.items()
    }
