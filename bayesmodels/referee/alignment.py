"""Two programs brought to the variables of one of them.

A function of values is a program, too. Its operations are not seen, so that its rounding error is
an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Logs, Point, in_words
from bayesmodels.referee.programs import (
    NotComparableError,
    Program,
    Side,
    Transform,
    expressions,
    lacking,
    mapped_side,
    one_to_one,
    program,
    source_side,
    with_jacobians,
    within_transforms,
)

JOINT = "joint density"
"""The term of a function that returns one number."""

_EPS = float(np.finfo(float).eps)
_UNITS = 16  # in the last place of the value, and of the places
_STEP = 2.0**-20  # to neighbouring points, as a part of a value
_BINOMIAL = ((1.0,), (-3.0,), (3.0,), (-1.0,))  # of a third difference
_TINY = 30.0  # log density below the largest, from where a function may fail


@dataclass(frozen=True)
class Pair:
    """The terms of two programs over the variables of `source`; `other` is the other's model.

    Variables that are `kept` are the same in both, not functions of each other.
    """

    sides: tuple[Side, Side]
    source: Program
    other: Program | None
    kept: tuple[str, ...]


def aligned(a: Any, b: Any, rename: Mapping[str, str], transform: Transform) -> Pair:
    """Return two programs over the variables of one; NotComparableError if that cannot be."""
    import pymc as pm

    a, b = of_formula(a), of_formula(b)
    models = [isinstance(model, pm.Model) for model in (a, b)]
    if not any(models) or not all(m or callable(g) for m, g in zip(models, (a, b), strict=True)):
        raise DataError(
            "a, b: must be two PyMC models, or one and a function of a dict of values; got "
            f"{type(a).__name__} and {type(b).__name__}."
        )
    if not all(models):
        source = program(a if models[0] else b, {} if models[0] else rename)
        side = source_side(source)
        kept = () if transform else tuple(source.inputs)
        names = rename if models[0] else {}
        function, letter = (b, "b") if models[0] else (a, "a")
        other = _called(source, (function, letter), names, transform, side)
        return Pair((side, other) if models[0] else (other, side), source, None, kept)
    first, second = program(a, {}), program(b, rename)
    first, second = within_transforms(first, second), within_transforms(second, first)
    forwards = _fits(second, first, transform)
    source, target = (second, first) if forwards else (first, second)
    mapped, side = mapped_side(source, target, transform), source_side(source)
    kept = tuple(name for name in source.inputs if name in target.inputs and name not in transform)
    return Pair((mapped, side) if forwards else (side, mapped), source, target, kept)


def _fits(second: Program, first: Program, transform: Transform) -> bool:
    """Whether it is the first's variables that are functions of the second's; else the reverse."""
    unknown = [sorted(set(transform) - set(side.inputs)) for side in (first, second)]
    if all(unknown):
        raise DataError(
            "transform: must name free variables of one of both programs; the first has "
            f"{sorted(first.inputs)}, the second {sorted(second.inputs)}, it names "
            f"{sorted(transform)}."
        )
    ways = {True: (second, first, unknown[0]), False: (first, second, unknown[1])}
    missing = {
        forwards: lacking(source, target, transform)
        for forwards, (source, target, others) in ways.items()
        if not others
    }
    for forwards, names in missing.items():
        if not names:
            return forwards
    left = [sorted(set(x.inputs) - set(y.inputs)) for x, y in ((first, second), (second, first))]
    sizes = [
        sum(side.variable(name).size for name in names)
        for side, names in zip((first, second), left, strict=True)
    ]
    one, other = (", ".join(names) or "nothing" for names in left)
    said = f"{one} of the first program and {other} of the second"
    if sizes[0] != sizes[1]:
        raise NotComparableError(f"{said} cannot be mapped one to one")
    raise DataError(
        f"a, b: {said} have no counterparts. Give rename, if they have other names; transform, if "
        "one follows from the other; or a Deterministic with the name."
    )


def _called(
    source: Program,
    named: tuple[Callable[..., Any], str],
    rename: Mapping[str, str],
    transform: Transform,
    side: Side,
) -> Side:
    """Return the terms of a function of values, which are those of a program's variables.

    A function's operations are not seen. What it is off by is taken to be at most the program's own
    bound, some units in the last place of its value, and some times what it moves by where its
    arguments are moved in their last places, and how rough it is: its third difference.
    """
    function, letter = named
    theirs = {new: old for old, new in rename.items()}
    if unknown := sorted({*theirs} - {*source.terms, *transform}):
        raise DataError(
            f"rename: {unknown} must be variables of the PyMC model, which has "
            f"{sorted(source.terms)}."
        )
    evaluate, jacobians = _arguments(source, transform)

    def once(point: Point, *, possible: bool) -> dict[str, float]:
        values = {theirs.get(n, n): np.array(x) for n, x in evaluate(point).items()}
        try:
            with np.errstate(all="ignore"):
                result = function(values)
        except KeyError as error:
            raise DataError(
                f"{letter}: the function asks for {error}; it has {sorted(values)}. Give rename or "
                "transform."
            ) from error
        except (DataError, ImportError, MemoryError):
            raise
        except Exception as error:
            if not possible:
                return {}
            called = getattr(function, "__name__", type(function).__name__)
            raise DataError(
                f"{letter}: {called} raised {type(error).__name__} ({error}) at "
                f"{in_words(values)}, where the PyMC model is possible. Let it return a number "
                "there, -inf if its density is zero."
            ) from error
        parts = result if isinstance(result, Mapping) else {JOINT: result}
        return {rename.get(n, n): _number(x, letter) for n, x in parts.items()}

    def run(at: list[Point]) -> dict[str, Logs]:
        here = side.joint(at)
        highest = np.max(here.value, initial=-np.inf)
        likely = (here.value > highest - _TINY).tolist()
        rows = [once(point, possible=ok) for point, ok in zip(at, likely, strict=True)]
        near = [
            [once(_neighbour(point, k, source.simplex), possible=False) for point in at]
            for k in range(1, len(_BINOMIAL))
        ]
        result = {}
        for name in dict.fromkeys(name for row in rows for name in row):
            every = np.array([[row.get(name, -np.inf) for row in many] for many in (rows, *near)])
            value, moved = every[0], every[1:]
            with np.errstate(invalid="ignore", over="ignore"):
                slope = np.abs(moved - value).max(0) * _EPS / _STEP
                noise = slope + np.abs((np.array(_BINOMIAL) * every).sum(0))
            noise = np.nan_to_num(noise, nan=np.inf, posinf=np.inf)
            bound = _UNITS * (_unit(value) * (1 + np.abs(value)) + noise) + here.bound
            finite = np.isfinite(value)
            result[name] = Logs(
                np.where(np.isnan(value), -np.inf, value), np.where(finite, bound, 0)
            )
        return result | (jacobians.run(at) if jacobians else {})

    words = dict(side.words) | (jacobians.words if jacobians else {})
    if jacobians is None:
        return Side(run, words)
    return Side(run, words, jacobians=jacobians.jacobians, map=jacobians.map)


def _arguments(
    source: Program, transform: Transform
) -> tuple[Callable[[Point], Point], Side | None]:
    """Return a map from a point to a function's arguments, and its log Jacobians."""
    from bayesmodels.posteriors.change_of_variables import Variable
    from bayesmodels.posteriors.density import compiled
    from bayesmodels.posteriors.operations import is_float

    if not transform:
        return dict, None
    computed = expressions(source, None, transform)
    inputs = list(source.inputs.values())
    run = compiled(inputs, list(computed.values()))

    def evaluate(point: Point) -> Point:
        result = run(*(np.asarray(point[v.name], v.dtype) for v in inputs))
        return dict(zip(computed, result, strict=True))

    shapes = evaluate({name: np.ones(shape) for name, shape in source.shapes.items()})
    mapped = {n: Variable(v, np.shape(shapes[n])) for n, v in computed.items() if is_float(v)}
    inner = {n: source.variable(n) for n in source.inputs if source.continuous(n)}
    one_to_one(mapped, inner)
    return evaluate, with_jacobians(source, {}, {}, mapped, inner)


def _number(x: Any, letter: str) -> float:
    """Return a log density."""
    try:
        return float(np.sum(np.asarray(x)))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{letter}: the function must return the joint log density, or its terms by name as a "
            f"mapping; got {type(x).__name__}."
        ) from error


def _unit(value: Array) -> float:
    """Return the relative rounding unit: that of single precision if all values have it."""
    finite = value[np.isfinite(value)]
    with np.errstate(over="ignore"):
        rounded = finite.astype(np.float32)
    single = len(finite) > 1 and (finite == rounded).all() and np.ptp(finite) > 0
    return float(np.finfo(np.float32 if single else float).eps)


def _neighbour(point: Point, number: int, simplex: frozenset[str]) -> Point:
    """Return a point whose continuous values are a little smaller."""
    part = 1 - number * _STEP
    result = dict(point)
    for name, x in point.items():
        if name in simplex:
            share = np.append(np.asarray(x)[..., :1] * part, np.asarray(x)[..., 1:], axis=-1)
            result[name] = share / share.sum(-1, keepdims=True)
        elif np.asarray(x).dtype.kind == "f":
            result[name] = x * part
    return result
