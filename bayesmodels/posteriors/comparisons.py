"""Points at which comparisons in a model's graph fall out differently than elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayesmodels.numerics import Array
from bayesmodels.posteriors.audit import Audit
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.points import on_simplex, simplex_rows

Place = tuple[Array, Levels]

_FOUND = 10  # points with answers of their own are enough
_ELEMENTS = 40  # moved one by one
_DECADES = (-30.0, -8.0, 8.0, 30.0)
_DEVIATIONS = (-1e6, -1e4, -300.0, -30.0, 30.0, 300.0, 1e4, 1e6)
_BORDER = (1e-14, 1e-6, 1 - 1e-6, 1 - 1e-14)
_HALVINGS = 60
_STEPS = 200
_MOST_FREE = 12  # elements in which the nearest border is looked for


def otherwise(
    field: Field,
    found: Audit,
    near: Sequence[Place],
    far: Sequence[Place],
    rng: np.random.Generator,
) -> list[Place]:
    """Return points with answers to the audit's questions that none of the given points has.

    Those `near` are from the proposed posterior, those `far` from a much wider law.
    """
    seen = {_answers(field, found, point) for point in (*near, *far)}
    result: list[Place] = []
    for point in _candidates(field, found, near, rng):
        told = _answers(field, found, point)
        if told in seen:
            continue
        seen.add(told)
        result.append(point)
        # The border itself may have more to tell: a hole has two of them.
        for side in _border(field, found, near[0], point, told):
            here = _answers(field, found, side)
            if here not in seen:
                seen.add(here)
                result.append(side)
        if len(result) >= _FOUND:
            break
    return result


def _answers(field: Field, found: Audit, point: Place) -> bytes:
    with np.errstate(all="ignore"):
        return b"".join(np.asarray(part).tobytes() for part in found.ask(*_inputs(field, point)))


def _inputs(field: Field, point: Place) -> list[NDArray[np.generic]]:
    values = field.variables(*point)
    return [np.asarray(values[v.name], dtype=v.dtype) for v in field.points]


def _candidates(
    field: Field, found: Audit, near: Sequence[Place], rng: np.random.Generator
) -> Iterator[Place]:
    x, levels = near[0]
    spread = np.abs(x - near[1][0]) + np.abs(x - near[-1][0])
    nothing = x.copy()
    nothing[field.kind == "real"] = 0.0
    yield nothing, levels
    movable = np.flatnonzero(np.isin(field.kind, ("real", "positive", "unit")))
    for element in rng.permutation(movable)[:_ELEMENTS]:
        for value in _ends(str(field.kind[element]), x[element], spread[element]):
            point = x.copy()
            point[element] = value
            yield point, levels
    for rows in simplex_rows(field):
        for k in range(min(rows.shape[-1], _ELEMENTS)):
            for share in (1e-12, 1 - 1e-9):
                point = x.copy()
                weights = np.full(rows.shape, (1 - share) / max(rows.shape[-1] - 1, 1))
                weights[:, k] = share
                point[rows] = on_simplex(weights)
                yield point, levels
    if 0 < len(movable) <= _MOST_FREE:
        yield from _nearest(field, found, near, movable)


def _ends(kind: str, value: float, spread: float) -> list[float]:
    if kind == "unit":
        return list(_BORDER)
    if kind == "positive":
        return [value * float(np.exp(step)) for step in _DECADES]
    return [value + step * spread for step in _DEVIATIONS]


def _nearest(
    field: Field, found: Audit, near: Sequence[Place], movable: NDArray[np.intp]
) -> Iterator[Place]:
    """Go to where a comparison is about to fall out differently, and a little beyond."""
    x, levels = near[0]
    size = np.abs(x - near[1][0])[movable] + 1e-3 * np.abs(x[movable])

    def at(steps: Array) -> Place:
        point = x.copy()
        moved = x[movable] + size * steps
        positive, unit = field.kind[movable] == "positive", field.kind[movable] == "unit"
        moved[positive | unit] = np.maximum(moved[positive | unit], 1e-12)
        moved[unit] = np.minimum(moved[unit], 1 - 1e-12)
        point[movable] = moved
        return point, levels

    number = len(found.margins(*_inputs(field, near[0])))
    for question in range(min(number, 5)):

        def margin(steps: Array, question: int = question) -> float:
            with np.errstate(all="ignore"):
                value = float(found.margins(*_inputs(field, at(steps)))[question])
            return value if np.isfinite(value) else 1e300

        best = minimize(
            margin, np.zeros(len(movable)), method="Nelder-Mead", options={"maxfev": _STEPS}
        ).x
        for step in (0.0, 1e-3, -1e-3):
            yield at(best + step)
        for k in range(len(movable)):
            for step in (1e-2, -1e-2):
                yield at(best + step * np.eye(len(movable))[k])


def _border(field: Field, found: Audit, inside: Place, outside: Place, told: bytes) -> list[Place]:
    """Return points at both sides of where the answers change on the way between two points."""
    low, high = 0.0, 1.0

    def between(part: float) -> Place:
        # Supports are convex, so that the way stays inside.
        return inside[0] + part * (outside[0] - inside[0]), inside[1]

    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _answers(field, found, between(middle)) == told:
            high = middle
        else:
            low = middle
    return [between(low), between(high)]
