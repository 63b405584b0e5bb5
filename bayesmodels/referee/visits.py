"""Far points at which two densities are compared: what random ones do not reach.

Each scalar is moved alone, from one end of its support in either program to the other and beyond
the ends, with the others where both programs are possible. Wherever something that either program
compares changes sides on that way, points are taken on both sides. Then scalars are moved together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.referee.alignment import Pair
from bayesmodels.referee.edges import Edges
from bayesmodels.referee.identity import UNDERFLOW
from bayesmodels.referee.log_terms import Logs, Point, same_support, total
from bayesmodels.referee.programs import Program

COARSE = 1e-3
"""A bound on rounding that hides differences."""
_STEPS, _FEW_STEPS = 41, 15
_ELEMENTS = 6  # of a variable that are moved alone
_BESIDE = 1e-5  # from an edge
_COMBINED, _FEW_COMBINED = 100, 25  # points at which scalars are moved together
_HALVINGS = 30
_SAME = 1e-6  # place
_TINY = (-20.0, -30.0)  # log density below the largest, from where a function's rounding is unknown

Range = tuple[float, float]


@dataclass(frozen=True)
class Ray:
    """A scalar moved alone (or a whole matrix): `move` gives its value at a place on the way."""

    base: Point
    name: str
    element: tuple[int, ...]
    move: Callable[[Any, tuple[int, ...], float], Any]
    grid: Array
    edges: Array = field(default_factory=lambda: np.zeros(0))

    def at(self, place: float) -> Point:
        """Return the point there."""
        x = np.array(self.base[self.name])
        return self.base | {self.name: self.move(x, self.element, place)}


@dataclass(frozen=True)
class Visits:
    """Far points, both log densities there, and between which numbers each variable was seen.

    `one_sided` is where one program alone is possible.
    `possible` are the points at which both are, random ones included; `tight` those of them where
    rounding is small.
    """

    points: list[Point]
    logs: tuple[Logs, Logs]
    one_sided: NDArray[np.bool_]
    tight: list[Point]
    possible: list[Point]
    ranges: dict[str, Range] = field(default_factory=dict)
    findings: tuple[str, ...] = ()


def visits(pair: Pair, inside: Sequence[Point], rng: np.random.Generator) -> Visits:
    """Return far points at which the densities may be compared."""
    near = _logs(pair, list(inside) if pair.source.inputs else [])
    possible = [p for p, ok in zip(inside, _both(near), strict=False) if ok]
    if not possible:
        return Visits([], (total((), 0), total((), 0)), np.zeros(0, dtype=bool), [], [])
    rays, left = _rays(pair, possible, rng)
    terms = [term for side in pair.sides for term in side.terms.values()]
    edges = Edges([*pair.source.inputs.values()], terms)
    result = edges.places([ray.at for ray in rays], [ray.grid for ray in rays])
    ways = [replace(ray, edges=of) for ray, (of, _) in zip(rays, result, strict=True)]
    at = [(ray, t) for ray, (_, places) in zip(ways, result, strict=True) for t in places]
    points = [ray.at(t) for ray, t in at]
    logs = _logs(pair, points)
    one_sided, sure = _one_sided(pair, at, logs)
    seen = [(at[i][0], points[i]) for i in np.flatnonzero(_tight(logs))]
    more = _combined(pair, seen, possible, rng)
    others = _logs(pair, more)
    small = _small_bound(others)
    differ = ~same_support(*others)
    one_sided, sure = np.append(one_sided, differ & small), np.append(sure, ~differ | small)
    first, second = (one.followed_by(other) for one, other in zip(logs, others, strict=True))
    every = [*inside, *points, *more]
    all_logs = near[0].followed_by(first), near[1].followed_by(second)
    if pair.other is None:
        sure &= _likely(all_logs)[len(inside) :]
        left.append("What the function compares was not seen.")
    if edges.opaque:
        left.append(f"What {', '.join(edges.opaque)} may compare inside was not seen.")
    tight, both = ([every[i] for i in np.flatnonzero(f(all_logs))] for f in (_tight, _both))
    return Visits(
        [p for p, ok in zip(every[len(inside) :], sure, strict=True) if ok],
        (Logs(first.value[sure], first.bound[sure]), Logs(second.value[sure], second.bound[sure])),
        one_sided[sure],
        tight,
        both,
        _ranges(tight),
        tuple(left),
    )


def _logs(pair: Pair, points: list[Point]) -> tuple[Logs, Logs]:
    first, second = (side.joint(points) for side in pair.sides)
    return first, second


def _both(logs: Sequence[Logs]) -> NDArray[np.bool_]:
    return np.isfinite(logs[0].value) & np.isfinite(logs[1].value)


def _small_bound(logs: Sequence[Logs]) -> NDArray[np.bool_]:
    return np.asarray(logs[0].bound + logs[1].bound < COARSE)


def _tight(logs: Sequence[Logs]) -> NDArray[np.bool_]:
    """Return where both are possible, and rounding is small."""
    return _both(logs) & _small_bound(logs)


def _likely(logs: Sequence[Logs]) -> NDArray[np.bool_]:
    """Return where a function's values may be compared: where the density is not tiny.

    How its rounding grows in the tails is not known.
    """
    high = np.maximum(logs[0].value, logs[1].value)
    both = _both(logs)
    largest = logs[0].value[both].max()
    return np.asarray(high >= largest + np.where(both, *_TINY))


def _ranges(points: Sequence[Point]) -> dict[str, Range]:
    """Return between which numbers variables were."""
    return {
        name: (
            float(min(np.min(p[name]) for p in points)),
            float(max(np.max(p[name]) for p in points)),
        )
        for name in (points[0] if points else ())
        if np.size(points[0][name])
    }


def _one_sided(
    pair: Pair, at: Sequence[tuple[Ray, float]], logs: tuple[Logs, Logs]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where one program alone is possible; and where it is known whether this is so.

    A sigmoid is 1 from 37 on, where its log odds are infinite. What grows to infinity by rounding
    has large bounds just before; a support that ends there has small ones. What underflows may be
    impossible in one, but not from an edge on.
    """
    differ = np.isfinite(logs[0].value) != np.isfinite(logs[1].value)
    one_sided, sure = np.zeros(len(at), dtype=bool), ~differ
    good = _both(logs)
    before = [  # the nearest place on the way at which both are possible
        (i, min(candidates, key=lambda j: abs(at[j][1] - at[i][1])))
        for i in np.flatnonzero(differ).tolist()
        if (candidates := [j for j in range(len(at)) if good[j] and at[j][0] is at[i][0]])
    ]
    if not before:
        return one_sided, sure
    rays = [at[i][0] for i, _ in before]
    low, high = (np.array([at[pair[k]][1] for pair in before]) for k in (1, 0))

    def there(places: Array) -> tuple[Logs, Logs]:
        return _logs(pair, [ray.at(t) for ray, t in zip(rays, places, strict=True)])

    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        both = _both(there(middle))
        low, high = np.where(both, middle, low), np.where(both, high, middle)
    inside_edge = [
        ray.at(t - np.sign(outside - t) * _BESIDE * (1 + abs(t)))
        for ray, t, outside in zip(rays, low, high, strict=True)
    ]
    small, hard = _ends(pair, inside_edge, [ray.at(t) for ray, t in zip(rays, high, strict=True)])
    edge = [np.isclose(t, ray.edges, _SAME, _SAME).any() for ray, t in zip(rays, low, strict=True)]
    places = [i for i, _ in before]
    same = same_support(*logs)[places]
    one_sided[places] = small & (~same | edge | hard)
    sure[places] = small | same
    return one_sided, sure


def _ends(
    pair: Pair, here: list[Point], outside: list[Point]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where rounding is small here, of that which makes one program impossible beyond.

    And where this does not underflow, as the terms that are impossible beyond are not tiny here.
    """
    result = _logs(pair, here)
    small, hard = _tight(result), np.zeros(len(here), dtype=bool)
    for side in pair.sides:
        for logs in side.run([*here, *outside]).values():
            value, bound = logs.value[: len(here)], logs.bound[: len(here)]
            ends = np.isfinite(value) & np.isneginf(logs.value[len(here) :])
            small |= ends & (bound < COARSE)
            hard |= ends & (value > UNDERFLOW / 2)
    return small, hard


def _combined(
    pair: Pair,
    seen: Sequence[tuple[Ray, Point]],
    possible: Sequence[Point],
    rng: np.random.Generator,
) -> list[Point]:
    """Return points that combine values at which scalars were moved one by one."""
    values: dict[tuple[str, tuple[int, ...]], list[Any]] = {}
    for ray, point in seen:
        # A simplex is moved as a whole.
        place = ray.element[:-1] if ray.name in pair.source.simplex else ray.element
        values.setdefault((ray.name, place), []).append(np.asarray(point[ray.name])[place])
    scalars, result = list(values), []
    number = _COMBINED if pair.other is not None else _FEW_COMBINED
    for k in range(number if len(scalars) > 1 else 0):
        point = {name: np.array(x) for name, x in possible[k % len(possible)].items()}
        for i in rng.permutation(len(scalars))[: 2 + k % 3]:
            name, place = scalars[i]
            choices = values[name, place]
            point[name][place] = choices[rng.integers(len(choices))]
        result.append(point)
    return result


def _rays(
    pair: Pair, possible: Sequence[Point], rng: np.random.Generator
) -> tuple[list[Ray], list[str]]:
    """Return a ray for each scalar that is moved, and sentences on what was left out."""
    from bayesmodels.posteriors.support import real

    kinds = [_supports(program) for program in (pair.source, pair.other) if program]
    bases = possible[: 1 if pair.other is None else 2]
    steps = _FEW_STEPS if pair.other is None else _STEPS
    rays, left = [], []
    for name, shape in pair.source.shapes.items():
        stated = [known[name] for known in kinds[: 2 if name in pair.kept else 1] if name in known]
        moves = {(s.kind, s.interval): s for s in stated}.values()
        continuous = pair.source.continuous(name)
        elements = list(np.ndindex(shape))
        if len(elements) > _ELEMENTS:
            left.append(f"Of {name} {_ELEMENTS} of {len(elements)} elements were moved alone.")
            inner = 1 + rng.choice(len(elements) - 2, _ELEMENTS - 2, replace=False)
            elements = [elements[i] for i in (0, *np.sort(inner), -1)]
        values = np.array([point[name] for point in possible])
        for s in moves:
            if s.kind.way and s.kind.places:
                grid, single = s.kind.places(s, steps), [()] if s.kind.definite else elements
                for base in bases:
                    rays += [
                        Ray(base, name, element, s.kind.way(s, base[name], element, values), grid)
                        for element in single
                    ]
        ended = continuous and all(not s.kind.core and np.isfinite(s.ends).any() for s in moves)
        if ended and (name in pair.kept or not moves):  # beyond the ends, or who knows where
            grid = real.places(None, steps)
            rays += [
                Ray(bases[0], name, element, real.way(None, None, element, values), grid)
                for element in elements
            ]
    return rays, left


def _supports(source: Program) -> dict[str, Any]:
    from bayesmodels.posteriors.support import supports

    return {source.called[s.name]: s for s in supports(source.model, all_known=False)}
