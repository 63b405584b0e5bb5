"""Points of a model's space: mild ones, wild ones, and where comparisons fall out differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayesmodels.numerics import Array
from bayesmodels.posteriors.audit import Audit
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.support.kind import Kind

Place = tuple[Array, Levels]

MILD, WILD = 0.8, 10.0
_FOUND = 10  # points with answers of their own are enough
_ELEMENTS = 40  # moved one by one
_HALVINGS = 60
_STEPS = 200
_MOST_FREE = 12  # elements in which the nearest border is looked for


def somewhere(field: Field, rng: np.random.Generator, spread: float = MILD) -> Array:
    """Return a random point of the support: logits, logs and numbers as far out as `spread`."""
    z = rng.standard_normal(field.size)
    x = z.copy()
    for kind, elements in field.parts:
        x[elements] = kind.somewhere(z[elements], spread, field.low[elements], field.high[elements])
    return x


def moved(x: NDArray[Any], elements: Any, values: Any) -> NDArray[Any]:
    """Return a point with other values of some elements."""
    result = x.copy()
    result[elements] = values
    return result


def score(field: Field, x: Array, slope: Array) -> Array:
    """Return the slopes in each kind's own coordinates: logits of shares, logs of scales.

    A step along the score of a simplex keeps its sum; that of a matrix keeps it symmetric.
    """
    result = slope.copy()
    for kind, elements in field.parts:
        by = kind.score or _chained(kind)
        result[elements] = by(x[elements], slope[elements])
    return result


def score_size(field: Field, x: Array, size: Array) -> Array:
    """Return bounds on the errors of `score`, given those of the slopes."""
    result = size.copy()
    for kind, elements in field.parts:
        by = kind.score_size or _chained(kind)
        result[elements] = by(x[elements], size[elements])
    return result


def _chained(kind: Kind) -> Callable[[Array, Array], Array]:
    return lambda x, slope: slope * kind.jacobian(x)


# --- comparisons ----------------------------------------------------------------------------------


def otherwise(
    field: Field,
    audited: Audit,
    near: Sequence[Place],
    far: Sequence[Place],
    rng: np.random.Generator,
) -> list[Place]:
    """Return points with answers to the audit's questions that none of the given points has.

    Those `near` are from the proposed posterior, those `far` from a much wider law.
    """
    seen = {_answers(field, audited, point) for point in (*near, *far)}
    result: list[Place] = []
    for point in _candidates(field, audited, near, rng):
        answers = _answers(field, audited, point)
        if answers in seen:
            continue
        seen.add(answers)
        result.append(point)
        # The border itself may have more to tell: a hole has two of them.
        for side in _border(field, audited, near[0], point, answers):
            here = _answers(field, audited, side)
            if here not in seen:
                seen.add(here)
                result.append(side)
        if len(result) >= _FOUND:
            break
    return result


def _answers(field: Field, audited: Audit, point: Place) -> bytes:
    with np.errstate(all="ignore"):
        return b"".join(np.asarray(part).tobytes() for part in audited.ask(*field.at(*point)))


def _candidates(
    field: Field, audited: Audit, near: Sequence[Place], rng: np.random.Generator
) -> Iterator[Place]:
    x, levels = near[0]
    spread = np.abs(x - near[1][0]) + np.abs(x - near[-1][0])
    yield moved(x, field.endless, 0.0), levels
    movable = np.flatnonzero(field.single)
    ends = [_ends(field, int(k), x[k], spread[k]) for k in movable]
    for step in range(max(map(len, ends)) if len(ends) > 1 else 0):
        # All together: of all(x > 0) no element tells alone.
        yield moved(x, movable, [values[step % len(values)] for values in ends]), levels
    for at in rng.permutation(len(movable))[:_ELEMENTS]:
        for value in ends[at]:
            yield moved(x, movable[at], value), levels
    for kind, elements in field.parts:
        for corner in kind.corners(x[elements]):
            yield moved(x, elements, corner), levels
    if 0 < len(movable) <= _MOST_FREE:
        yield from _nearest(field, audited, near, movable)


def _ends(field: Field, element: int, value: float, spread: float) -> list[float]:
    return field.kind(element).borders(value, spread, field.low[element], field.high[element])


def _nearest(
    field: Field, audited: Audit, near: Sequence[Place], movable: NDArray[np.intp]
) -> Iterator[Place]:
    """Go to where a comparison is about to fall out differently, and a little beyond."""
    x, levels = near[0]
    size = np.abs(x - near[1][0])[movable] + 1e-3 * np.abs(x[movable])

    def at(steps: Array) -> Place:
        point = moved(x, movable, x[movable] + size * steps)
        for kind, part in field.parts:
            if not kind.core:
                point[part] = kind.clip(point[part], field.low[part], field.high[part])
        return point, levels

    number = len(audited.margins(*field.at(*near[0])))
    for question in range(min(number, 5)):

        def margin(steps: Array, question: int = question) -> float:
            with np.errstate(all="ignore"):
                value = float(audited.margins(*field.at(*at(steps)))[question])
            return value if np.isfinite(value) else 1e300

        best = minimize(
            margin, np.zeros(len(movable)), method="Nelder-Mead", options={"maxfev": _STEPS}
        ).x
        for step in (0.0, 1e-3, -1e-3):
            yield at(best + step)
        for k in range(len(movable)):
            for step in (1e-2, -1e-2):
                yield at(best + step * np.eye(len(movable))[k])


def _border(
    field: Field, audited: Audit, inside: Place, outside: Place, answers: bytes
) -> list[Place]:
    """Return points at both sides of where the answers change on the way between two points."""
    low, high = 0.0, 1.0

    def between(part: float) -> Place:
        # Supports are convex, so that the way stays inside.
        return inside[0] + part * (outside[0] - inside[0]), inside[1]

    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _answers(field, audited, between(middle)) == answers:
            high = middle
        else:
            low = middle
    return [between(low), between(high)]
