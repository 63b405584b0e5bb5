"""Two programs brought to the variables of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesmodels.errors import DataError
from bayesmodels.referee.callables import called_side
from bayesmodels.referee.programs import (
    NotComparable,
    Program,
    Side,
    Transform,
    lacking,
    mapped_side,
    own_side,
    program,
)


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
    """Return two programs over the variables of one; NotComparable if that cannot be."""
    import pymc as pm

    models = [isinstance(given, pm.Model) for given in (a, b)]
    if not any(models) or not all(m or callable(g) for m, g in zip(models, (a, b), strict=True)):
        raise DataError(
            "a, b: must be two PyMC models, or one and a function of a dict of values; got "
            f"{type(a).__name__} and {type(b).__name__}."
        )
    if not all(models):
        source = program(a if models[0] else b, {} if models[0] else rename)
        own = own_side(source)
        kept = () if transform else tuple(source.inputs)
        names = rename if models[0] else {}
        other = called_side(source, b if models[0] else a, names, transform, own)
        return Pair((own, other) if models[0] else (other, own), source, None, kept)
    first, second = program(a, {}), program(b, rename)
    forwards = _fits(second, first, transform)
    source, target = (second, first) if forwards else (first, second)
    mapped, own = mapped_side(source, target, transform), own_side(source)
    kept = tuple(name for name in source.inputs if name in target.inputs and name not in transform)
    return Pair((mapped, own) if forwards else (own, mapped), source, target, kept)


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
    said = f"{', '.join(left[0]) or 'nothing'} of the first program and {', '.join(left[1])or 'nothing'} of the second"
    if sizes[0] != sizes[1]:
        raise NotComparable(f"{said} cannot be mapped one to one")
    raise DataError(
        f"a, b: {said} have no counterparts. Give rename, if they have other names; transform, if "
        "one follows from the other; or a Deterministic with the name."
    )
