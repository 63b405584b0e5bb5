"""Random points at which densities are compared: from priors, elsewhere, and outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.referee.log_terms import Point
from bayesmodels.referee.programs import Program

_WIDE = 1.5  # logits, logs and numbers


def random_points(
    source: Program,
    other: Program | None,
    kept: Sequence[str],
    number: int,
    rng: np.random.Generator,
) -> tuple[list[Point], list[Point]]:
    """Return points of a program's prior or near it, and points where some variable is outside.

    Half are draws of the priors of both programs, as far as they have a variable in common; half
    have been moved from there, or are in places that no prior has chosen. Outside are variables
    that are `kept` in both programs: a map need not be one to one elsewhere.
    """
    from bayesmodels.posteriors.support import supports

    known = supports(source.model, all_known=False)
    continuous = {source.called[s.name]: s for s in known if not s.finite}
    shapes = source.shapes
    drawn = draws_of(source, number, rng)
    others = draws_of(other, number, rng) if other else {}
    shared = {n: x for n, x in others.items() if n in shapes and x.shape[1:] == shapes[n]}
    inside = []
    for i in range(number):
        point: Point = {}
        for name, shape in shapes.items():
            support, x = continuous.get(name), drawn[name][i] if name in drawn else None
            if i % 4 == 1 and name in shared:
                x = shared[name][i]
            if support is None and x is None:
                raise DataError(
                    f"a, b: {name} has a prior that PyMC cannot draw from, and a support that is "
                    "not known here; give it a proper prior."
                )
            if support is not None and (x is None or i % 4 == 0):
                z = _WIDE * rng.standard_normal(shape)
                x = support.kind.somewhere(z, 1.0, *support.ends)
            if support is not None and i % 4 == 2:  # noqa: PLR2004 - a turn
                z = _WIDE * rng.standard_normal(shape)
                x = support.kind.shift(x, z, *support.ends)
            point[name] = x
        inside.append(point)
    outside = [
        point | {name: move(point[name])}
        for i, name in enumerate(kept)
        for point, move in zip(inside[i % number :] + inside, _OUTWARDS, strict=False)
    ]
    return inside, outside


_OUTWARDS: tuple[Any, ...] = (lambda x: -x, lambda x: 3 * x + 1)


def draws_of(source: Program, number: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return draws of a prior; none if it is improper."""
    from bayesmodels.posteriors.new_data import drawn

    free = source.model.free_RVs
    rows = drawn(free, number, rng)
    if not rows:
        return {}  # a flat prior, or a law that PyMC cannot draw: points are made without it
    # As many as are asked for, again and again the same if some have failed.
    result = zip(*(rows[i % len(rows)] for i in range(number)), strict=True)
    named = {source.called[v.name]: np.array(x) for v, x in zip(free, result, strict=True)}
    return {name: x for name, x in named.items() if np.isfinite(x).all()}
