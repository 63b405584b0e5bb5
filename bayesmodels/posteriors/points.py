"""Points of a model's space: mild ones, wild ones, and where comparisons fall out differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from bayesmodels.numerics import Array
from bayesmodels.posteriors.audit import Audit
from bayesmodels.posteriors.gradient import Field, Levels

Place = tuple[Array, Levels]

MILD, WILD = 0.8, 10.0
_FOUND = 10  # points with answers of their own are enough
_ELEMENTS = 40  # moved one by one
_DECADES = (-30.0, -8.0, 8.0, 30.0)
_DEVIATIONS = (-1e6, -1e4, -300.0, -30.0, 30.0, 300.0, 1e4, 1e6)
_BORDER = (1e-14, 1e-6, 1 - 1e-6, 1 - 1e-14)
_LOGITS = (-16.0, -5.0, 5.0, 16.0)
_HALVINGS = 60
_STEPS = 200
_MOST_FREE = 12  # elements in which the nearest border is looked for


def somewhere(field: Field, rng: np.random.Generator, spread: float = MILD) -> Array:
    """Return a random point of the support: logits, logs and numbers as far out as `spread`."""
    z = rng.standard_normal(field.size)
    x = z * spread**2  # numbers have no natural size; logs and logits do
    # Beyond this logit 1 - x, in a model that says so, has fewer than nine digits left.
    x[field.kind == "unit"] = expit(np.clip(spread * z[field.kind == "unit"], -16, 16))
    x[field.kind == "positive"] = np.exp(spread * z[field.kind == "positive"])
    own = field.kind == "interval"
    x[own] = between(field.low[own], field.high[own], spread * z[own])
    for rows in simplex_rows(field):
        logs = spread * z[rows]
        x[rows] = on_simplex(np.exp(logs - logs.max(-1, keepdims=True)))
    for block in matrices(field):
        root = np.eye(len(block)) + 0.3 * np.tril(z[block])
        x[block] = root @ root.T
    return x


def between(low: Any, high: Any, t: Any) -> Array:
    """Return numbers inside intervals, at the logit or the log t of how far inside they are."""
    t = np.clip(t, -16, 16)
    with np.errstate(invalid="ignore"):  # of ends that are not finite, which are not used
        finite = low + (high - low) * expit(t)
    one = np.where(np.isfinite(low), low + np.exp(t), high - np.exp(t))
    x = np.where(np.isfinite(low) & np.isfinite(high), finite, one)
    return np.clip(x, np.nextafter(low, np.inf), np.nextafter(high, -np.inf))


def moved(x: NDArray[Any], elements: Any, values: Any) -> NDArray[Any]:
    """Return a point with other values of some elements."""
    result = x.copy()
    result[elements] = values
    return result


def on_simplex(weights: Array) -> Array:
    """Return weights that add up to one, and to one minus the largest without it, to full digits.

    A model may say 1 - x where the other elements are meant; near a corner few digits are left.
    """
    x: Array = weights / weights.sum(-1, keepdims=True)
    largest = np.arange(x.shape[-1]) == x.argmax(-1)[..., None]
    rest = np.where(largest, 0.0, x)
    left = 1 - x.max(-1, keepdims=True)
    total = rest.sum(-1, keepdims=True)
    scale = np.divide(left, total, out=np.ones_like(total), where=(total > 0) & (left > 0))
    return np.where(largest, x, rest * scale)


def simplex_rows(field: Field) -> list[NDArray[np.intp]]:
    """Return the elements of each simplex variable, one simplex a row."""
    return [own.reshape(-1, own.shape[-1]) for own in _elements(field, "simplex")]


def matrices(field: Field) -> list[NDArray[np.intp]]:
    """Return the elements of each random matrix, of shape (D, D)."""
    variables = _elements(field, "matrix")
    return [one for own in variables for one in own.reshape(-1, *own.shape[-2:])]


def _elements(field: Field, kind: str) -> list[NDArray[np.intp]]:
    """Return the numbers of the elements of variables of a kind, in their shapes."""
    pairs = zip(field.continuous, field.start, strict=False)
    return [np.arange(at, at + s.size).reshape(s.shape) for s, at in pairs if s.kind == kind]


def score(field: Field, x: Array, slope: Array) -> Array:
    """Return slopes by logit, log and number, and by what a simplex or a matrix allows.

    A step along the score of a simplex keeps its sum; that of a matrix keeps it symmetric.
    """
    result = _chained(field, x, slope)
    for rows in simplex_rows(field):
        # x_k sum_j x_j (g_k - g_j), without the difference of two large numbers near a corner.
        pull = slope[rows] * _others(x[rows]) - _others(x[rows] * slope[rows])
        result[rows] = x[rows] * pull
    for block in matrices(field):
        result[block] = (slope[block] + slope[block].T) / 2
    return result


def score_size(field: Field, x: Array, size: Array) -> Array:
    """Return bounds on the errors of `score`, given those of the slopes."""
    result = _chained(field, x, size)
    for rows in simplex_rows(field):
        pull = size[rows] * _others(x[rows]) + _others(x[rows] * size[rows])
        result[rows] = x[rows] * pull
    return result


def _chained(field: Field, x: Array, slope: Array) -> Array:
    result, unit, positive = slope.copy(), field.kind == "unit", field.kind == "positive"
    result[unit] *= x[unit] * (1 - x[unit])
    result[positive] *= x[positive]
    return result


def _others(x: Array) -> Array:
    """Return for each element the sum of the others, without subtracting."""
    before, after = np.zeros_like(x), np.zeros_like(x)
    before[..., 1:] = np.cumsum(x[..., :-1], -1)
    after[..., :-1] = np.cumsum(x[..., :0:-1], -1)[..., ::-1]
    return before + after


# --- comparisons ----------------------------------------------------------------------------------


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
    yield moved(x, field.kind == "real", 0.0), levels
    movable = np.flatnonzero(np.isin(field.kind, ("real", "positive", "unit", "interval")))
    ends = [_ends(field, int(k), x[k], spread[k]) for k in movable]
    for step in range(max(map(len, ends)) if len(ends) > 1 else 0):
        # All together: of all(x > 0) no element tells alone.
        yield moved(x, movable, [values[step % len(values)] for values in ends]), levels
    for at in rng.permutation(len(movable))[:_ELEMENTS]:
        for value in ends[at]:
            yield moved(x, movable[at], value), levels
    for rows in simplex_rows(field):
        for k in range(min(rows.shape[-1], _ELEMENTS)):
            for share in (1e-12, 1 - 1e-9):
                weights = np.full(rows.shape, (1 - share) / max(rows.shape[-1] - 1, 1))
                weights[:, k] = share
                yield moved(x, rows, on_simplex(weights)), levels
    if 0 < len(movable) <= _MOST_FREE:
        yield from _nearest(field, found, near, movable)


def _ends(field: Field, element: int, value: float, spread: float) -> list[float]:
    kind = field.kind[element]
    if kind == "interval":
        return [float(between(field.low[element], field.high[element], t)) for t in _LOGITS]
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
        low, high = field.low[movable], field.high[movable]
        between = np.clip(moved, np.nextafter(low, np.inf), np.nextafter(high, -np.inf))
        point[movable] = np.where(field.kind[movable] == "interval", between, moved)
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
