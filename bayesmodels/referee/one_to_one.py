r"""Whether a map between the variables of two programs is one to one, and onto.

Where k points have one image, as many as signs can be changed, and the density is the same at all
of them, that of the image is k times as large. Other maps that are not one to one have no density
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import optimize

from bayesmodels.numerics import Array
from bayesmodels.referee.alignment import Pair
from bayesmodels.referee.log_terms import Point, equal
from bayesmodels.referee.programs import Map, NotComparableError, Side, source_side
from bayesmodels.referee.random_points import draws_of

_STARTS = 4
_DRAWS = 40
_MOST = 32  # coordinates in which a second point with the same image is looked for
_MOST_MIRRORED = 64
_SAME, _OTHER = 1e-9, 1e-4  # relative distances of images, and of points
_BEYOND, _CLOSE = 100, 1e-3  # scales of the prior: what must be reached, and how nearly

Scalar = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Folds:
    """Scalars whose signs do not change the image."""

    scalars: tuple[Scalar, ...] = ()

    @property
    def terms(self) -> dict[str, float]:
        """Log numbers of points with one image, by what they are called."""
        names = dict.fromkeys(name for name, _ in self.scalars)
        return {
            f"both signs of {name}": math.log(2) * sum(n == name for n, _ in self.scalars)
            for name in names
        }

    def unfolded(self, point: Point) -> Point:
        """Return the point with the same image whose folded scalars are positive."""
        result = {name: np.array(x) for name, x in point.items()} if self.scalars else point
        for name, element in self.scalars:
            result[name][element] = abs(result[name][element])
        return result


def folds(pair: Pair, points: Sequence[Point]) -> Folds:
    """Return which signs do not change the image; NotComparableError if more leave it as it is."""
    between = _between(pair)
    if between is None:
        return Folds()
    side, mapping = between.source, between.map
    images = [mapping.image(p) for p in points]
    here = side.joint(list(points))
    mirrored = []
    scalars = [(name, e) for name in mapping.of for e in np.ndindex(np.shape(points[0][name]))]
    for name, element in scalars[:_MOST_MIRRORED]:
        there = [_turned(p, name, element) for p in points]
        same = all(_near(mapping.image(p), x) for p, x in zip(there, images, strict=True))
        if same and (possible := np.isfinite(here.value)).any():
            moved = side.joint(there)
            if not np.isfinite(moved.value[possible]).any():
                continue  # the other sign is outside
            if not equal(here, moved):
                raise _not_one_to_one(mapping, f"{name} and -{name} give the same", "")
            mirrored.append((name, element))
    result = Folds(tuple(mirrored))
    check_slopes(pair, points, result)
    inside = [
        result.unfolded(p) for p, ok in zip(points, np.isfinite(here.value), strict=True) if ok
    ]
    _no_second_point(between, inside[: _STARTS + 1], result)
    return result


@dataclass(frozen=True)
class _Between:
    map: Map
    source: Side


def _between(pair: Pair) -> _Between | None:
    for k in (0, 1):
        if (mapping := pair.sides[k].map) is not None and mapping.names:
            return _Between(mapping, pair.sides[1 - k])
    return None


def check_slopes(pair: Pair, points: Sequence[Point], known: Folds) -> None:
    """Make sure that slopes, or the determinant, have one sign everywhere."""
    between = _between(pair)
    if between is None or not points:
        return
    signs = np.array([between.map.signs(known.unfolded(p)) for p in points])
    if ((signs > 0).any(0) & (signs < 0).any(0)).any():
        raise _not_one_to_one(between.map, "its slope changes its sign", "")


def _turned(point: Point, name: str, element: tuple[int, ...]) -> Point:
    x = np.array(point[name], dtype=float)
    x[element] *= -1
    return point | {name: x}


def _near(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=_SAME, atol=_SAME, equal_nan=True))


def _no_second_point(between: _Between, points: list[Point], known: Folds) -> None:
    """Look for another point with the image of one, by Levenberg and Marquardt's steps."""
    result = between.map
    shapes = {name: np.shape(points[0][name]) for name in result.of} if points else {}
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]
    if not 0 < sum(sizes) <= _MOST:
        return

    def flat(point: Point) -> Array:
        return np.concatenate([np.ravel(point[name]).astype(float) for name in shapes])

    def at(base: Point, z: Array) -> Point:
        parts = np.split(z, np.cumsum(sizes)[:-1])
        moved = {n: x.reshape(s) for (n, s), x in zip(shapes.items(), parts, strict=True)}
        return known.unfolded(base | moved)

    for base, start in combinations(points, 2):
        image, here = result.image(base), flat(base)
        if not np.isfinite(image).all():
            continue

        def off(z: Array, base: Point = base, image: Array = image) -> Array:
            return np.nan_to_num(
                result.image(at(base, z)) - image, nan=1e9, posinf=1e9, neginf=-1e9
            )

        there = flat(at(base, optimize.least_squares(off, flat(start), method="lm").x))
        if (
            _near(off(there), 0 * image)
            and np.abs(there - here).max() > _OTHER * (1 + np.abs(here).max())
            and np.abs(off(0.5 * (there + here))).max() > _OTHER * np.abs(there - here).max()
            and np.isfinite(between.source.total([at(base, there)]).value).all()
        ):
            names = ", ".join(shapes)
            raise _not_one_to_one(result, f"{_row(here)} and {_row(there)} of {names} give", " one")


def _row(x: Array) -> str:
    return np.array2string(x, precision=4, threshold=6)


def _not_one_to_one(mapping: Map, why: str, end: str) -> NotComparableError:
    names = ", ".join(mapping.names)
    return NotComparableError(f"{names} cannot be mapped one to one: {why}{end} {names}")


def unreached(pair: Pair, points: Sequence[Point]) -> tuple[str, str] | None:
    """Return a variable of one program that goes where no point of the other leads, and say how."""
    from bayesmodels.posteriors.support import supports

    between = _between(pair)
    if between is None or pair.other is None or not points:
        return None
    result, target = between.map, pair.other
    values = {
        name: np.array([x[name] for x in map(result.values, points)]) for name in result.names
    }
    ends = {target.called[s.name]: s.ends for s in supports(target.model, all_known=False)}
    drawn = draws_of(target, _DRAWS, np.random.default_rng(0))
    inner = {n: x for n, x in points[0].items() if n in target.inputs} | result.values(points[0])
    for name, x in values.items():
        if name in target.simplex or name not in drawn or not x.size:
            continue
        centre = np.median(drawn[name])
        scale = np.median(np.abs(drawn[name] - centre))
        for seen, wanted in ((x.min(), -1), (x.max(), 1)):
            far = np.clip(centre + wanted * _BEYOND * scale, *ends.get(name, (-np.inf, np.inf)))
            if wanted * (far - seen) <= _CLOSE * scale:
                continue
            outside = seen + wanted * np.linspace(0.01, 0.99, 20) * abs(far - seen)
            there = [inner | {name: np.full(target.shapes[name], b)} for b in outside]
            possible = np.isfinite(source_side(target).total(there).value)
            if possible.any():
                side = "more" if wanted > 0 else "less"
                value = outside[possible][0]
                return name, (
                    f"{name} may be {value:.4g} in one program; in the other nothing leads to "
                    f"{side} than {seen:.4g}."
                )
    return None
