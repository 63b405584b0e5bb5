"""Modes of a function of several numbers, searched from many starts, and a frame around each.

Tops are climbed by the simplex method of Nelder and Mead (1965), *A simplex method for function
minimization*, Computer Journal 7, for all starts at once: it needs no gradient, and no smoothness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import (
    Frame,
    Function,
    Lattice,
    Unbounded,
    cubic,
    with_digits,
)
from bayesmodels.numerics.law import increasing_root
from bayesmodels.numerics.triangular import triangle

Logs = Callable[[Array], Array]
"""From points (n, d) to log values, minus infinity where there is no number."""

_STEPS = 120
_FLAT = 0.03  # difference of log values of a simplex that has arrived
_DEEP = 8.0  # below the top: what the shape of an island is read off
_MOST = 20_000
_ROUNDS = 12
_ROUND = 1.6  # ratio of sds that is round enough
_WIDE, _TARGET = 9.0, 6.5  # half widths, in sd: of tails that are stretched, and after it
_SOON = (3, 10)  # distances, to most of what falls off
_FAR_BELOW = 200.0  # the highest top: what no width makes up for
_WIDER = 2.0**10
_ABOVE = 1.0  # more than what a top is above the points of a lattice around it
_OVERFLOW = 300.0  # log of a number that soon is none


def logs_of(f: Function) -> Logs:
    """Return the log values of a function, minus infinity where they are not numbers."""

    def logs(x: Array) -> Array:
        result = f(x)[0]
        return np.where(np.isnan(result), -np.inf, result)

    return logs


def climbed(logs: Logs, starts: Array, scale: Array) -> tuple[Array, Array]:
    """Return the local maxima reached from starts (n, d), and their log values.

    The first steps are as long as `scale` (n, d).
    """
    n, d = starts.shape
    corners = np.concatenate([np.zeros((1, d)), np.eye(d)])
    simplex = starts[:, None] + corners * scale[:, None]
    values = _at(logs, simplex)
    for _ in range(_STEPS):
        worse = np.argsort(-values, axis=1, kind="stable")
        values = np.take_along_axis(values, worse, 1)
        simplex = np.take_along_axis(simplex, worse[..., None], 1)
        going = values[:, 0] > values[:, -1] + _FLAT
        if not going.any():
            break
        moving, fs = simplex[going], values[going]
        centre = moving[:, :-1].mean(1)
        away = centre - moving[:, -1]
        best, second, worst = fs[:, 0], fs[:, -2] if d > 1 else fs[:, 0], fs[:, -1]
        tried = centre + away
        result = logs(tried)
        # The best so far: go on, twice as far. Not better than two: half as far, or back.
        far = np.select([result > best, result > second, result > worst], [2.0, 1.0, 0.5], -0.5)
        asked = np.flatnonzero(far != 1)
        if len(asked):
            again = centre[asked] + far[asked, None] * away[asked]
            value = logs(again)
            better = value > np.where(far > 0, result, worst)[asked]
            tried[asked[better]], result[asked[better]] = again[better], value[better]
            far[asked[better]] = 1
        moved = far >= 1
        moving[moved, -1], fs[moved, -1] = tried[moved], result[moved]
        if not moved.all():
            shrunk = (moving[~moved][:, :1] + moving[~moved][:, 1:]) / 2
            moving[np.flatnonzero(~moved), 1:] = shrunk
            fs[np.flatnonzero(~moved), 1:] = _at(logs, shrunk)
        simplex[going], values[going] = moving, fs
    tops = values.argmax(1)
    return simplex[np.arange(n), tops], values[np.arange(n), tops]


_WAY = np.array([*2.0 ** np.arange(-8, 0), 0.75])


def uphill(logs: Logs, starts: Array, top: Array) -> NDArray[np.bool_]:
    """Whether the log values rise all the way from starts (n, d) to a top."""
    steps = np.concatenate([[0.0], _WAY, [1.0]])[:, None]
    values = _at(logs, starts[:, None] + steps * (top - starts)[:, None])
    return np.asarray((values[:, 1:] >= values[:, :-1]).all(1))


def _at(logs: Logs, points: Array) -> Array:
    return logs(points.reshape(-1, points.shape[-1])).reshape(points.shape[:-1])


_REACH = 2.0 ** np.arange(-46, 47, 2)
_PARTS = (slice(0, 24), slice(24, 30), slice(30, None))  # of the distances; few go beyond the first
_HALF = 0.5
_LINE = 2.0 ** np.arange(-12, 13)


def polished(logs: Logs, top: Array) -> tuple[Array, Array]:
    """Return a top near a point, and a root of about the inverse of the curvature there.

    Steps are Newton's, from differences over distances at which the log value falls by one half.
    """
    here = float(logs(top[None])[0])
    for _ in range(_ROUNDS):
        scale, top = _axis_scales(logs, top)
        slope, curvature = _differences(logs, top, scale)
        sizes, turn = np.linalg.eigh(curvature)
        sizes = np.maximum(np.abs(sizes), _LEAST * (np.abs(sizes).max() or 1 / _LEAST))
        root = scale[:, None] * turn / np.sqrt(sizes)
        step = root @ (root.T @ (slope / scale))
        tried = top + _LINE[:, None] * step
        values = logs(tried)
        values = np.where(np.logical_and.accumulate(values > here - _HALF), values, -np.inf)
        best = float(values.max())
        before, here = here, max(best, float(logs(top[None])[0]))
        if best >= here:
            top = tried[values.argmax()]
        if not here > before + _FLAT:
            break
    return top, _triangular(root)


_LEAST = 1e-12
_NEGLIGIBLE = 1e-6
_SINGULAR = 1e-12  # ratio of variances, below which rounding decides


def _differences(logs: Logs, top: Array, scale: Array) -> tuple[Array, Array]:
    """Return slope and curvature of minus the log values, per unit of the scale."""
    d = len(top)
    axes = np.eye(d)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    moves = [np.zeros(d), *axes, *-axes]
    moves += [s * (axes[i] + t * axes[j]) / 2 for i, j in pairs for s in (1, -1) for t in (1, -1)]
    values = logs(top + np.array(moves) * scale)
    values = np.where(np.isfinite(values), values, values[0] - 1.0)
    up, down = values[1 : d + 1], values[d + 1 : 2 * d + 1]
    curvature = np.diag(2 * values[0] - up - down)
    for (i, j), (a, b, c, e) in zip(pairs, values[2 * d + 1 :].reshape(-1, 4), strict=True):
        curvature[i, j] = curvature[j, i] = -(a + c - b - e)
    return (up - down) / 2, curvature


def _triangular(root: Array) -> Array:
    """Return the lower triangular A with A A' = R R': its last axis moves one number only."""
    lower = triangle(root.T).T
    # Of numbers that do not depend on each other each has its own axis, however far out.
    return np.where(np.abs(lower) < _NEGLIGIBLE * np.diag(lower)[:, None], 0.0, lower)


def _axis_scales(logs: Logs, top: Array) -> tuple[Array, Array]:
    """Return how far along each axis the log value falls by one half; and a top that is not lower.

    A better point on the way becomes the top, unless the log value fell by one half before it.
    """
    unit = np.maximum(np.abs(top), 1.0)
    steps = _REACH * np.array([[1.0], [-1.0]])
    for _ in range(_ROUNDS):
        points = top + steps[..., None] * np.diag(unit)[:, None, None, :]
        here, values = logs(top[None])[0], np.full(points.shape[:-1], -np.inf)
        for part in _PARTS:
            going = (values[..., : part.start] > here - _HALF).all(-1)
            if going.any():
                values[going, part] = _at(logs, points[going][:, part])
        on_the_way = np.logical_and.accumulate(values > here - _HALF, axis=-1)
        reached = np.where(on_the_way, values, -np.inf)
        best = np.unravel_index(reached.argmax(), values.shape)
        if not reached[best] > here + _HALF:
            break
        top = points[best]
    result = np.empty(len(top))
    for axis, sides in enumerate(here - values):
        ends = []
        for fall in sides:
            fallen = np.flatnonzero(~(fall < _HALF))
            if len(fallen):
                k = fallen[0]
                ratio = np.sqrt(_HALF / fall[k]) if np.isfinite(fall[k]) else 1.0
                ends.append(_REACH[k] * max(ratio, _HALF / 2))
        if not ends:
            raise Unbounded(axis)
        result[axis] = unit[axis] * np.sqrt(ends[0] * ends[-1])
    return result, top


@dataclass(frozen=True, eq=False)
class Island:
    """A mode: the frame around it, and the log value at its top."""

    frame: Frame
    height: float

    @property
    def log_mass(self) -> float:
        """About the log of its integral."""
        return self.height + self.frame.log_volume


def framed(f: Function, top: Array, root: Array) -> tuple[Island, Lattice]:
    """Return an island around a top, and the lattice from whose moments its frame comes.

    The root is about that of the inverse of the curvature.
    """
    logs = logs_of(f)
    frame = Frame(top, root, *np.zeros((2, len(top))))
    height = float(logs(top[None])[0])
    for left in range(_ROUNDS)[::-1]:
        try:
            lattice = cubic(f, frame, height + frame.log_volume - _DEEP, _DEEP, _MOST)
        except Unbounded as error:  # far too narrow: a step, or a spike
            if not left:
                raise
            wider = np.where(np.arange(len(top)) == error.number, _WIDER, 1.0)
            frame = replace(frame, root=frame.root * wider)
            continue
        values = np.where(np.isnan(lattice.logs), -np.inf, lattice.logs)
        height = max(height, float(values.max()) - frame.log_volume)
        kept = values > height + frame.log_volume - _DEEP
        d = len(top)
        if kept.sum() < 2 * d + 1:
            middle = lattice.frame.points(lattice.coordinates[values.argmax()][None])[0][0]
            frame = replace(frame, centre=middle, root=frame.root / 2)
            continue
        u, weights = lattice.coordinates[kept], np.exp(values[kept] - values.max())
        weights = weights / weights.sum()
        mean = weights @ u
        gap = u - mean
        cov = (weights[:, None] * gap).T @ gap
        sizes = np.linalg.eigvalsh(cov)
        if sizes[0] <= _SINGULAR * sizes[-1]:
            frame = replace(frame, root=frame.root / 2)
            continue
        root = _triangular(frame.root @ np.linalg.cholesky(cov))
        frame = replace(frame, centre=frame.centre + frame.root @ mean, root=root)
        if sizes[-1] < _ROUND and sizes[0] > 1 / _ROUND:
            break
    return Island(frame, height), lattice


def stretched(f: Function, island: Island, depth: float) -> Frame:
    """Return a frame in which tails along the axes fall fast; see `lattice`.

    Raises
    ------
    Unbounded
        If along some axis the function does not fall.
    """
    logs, frame = logs_of(f), island.frame
    distances = 4 * 2 ** (np.arange(100) / 2)
    widths = np.zeros(len(frame.centre))
    for axis in range(len(widths)):
        for sign in (1.0, -1.0):
            direction = frame.root[:, axis]
            points = frame.centre + sign * distances[:, None] * direction
            values = np.zeros(0)
            for some in np.split(points, _SOON):
                values = np.concatenate([values, logs(some)])
                fallen = np.flatnonzero(~(values > island.height - depth))
                if len(fallen):
                    break
            else:
                raise Unbounded(int(np.abs(direction).argmax()))
            k = fallen[0]
            before = points[max(k - 1, 0)]
            if not np.isfinite(values[k]) and np.abs(before).max() > _OVERFLOW / 2:
                level = values[k - 1] if k else island.height
                if level > island.height - depth / 2:
                    raise Unbounded(int(np.abs(before).argmax()))
            widths[axis] = max(widths[axis], distances[k])
    return _as_wide(frame, widths)


def wider(lattice: Lattice) -> Frame:
    """Return a frame in which tails off the axes of a lattice fall fast too."""
    x, _ = lattice.frame.points(lattice.coordinates[~lattice.halo])
    return _as_wide(lattice.frame, np.abs(lattice.frame.stretched(x)).max(0, initial=0.0))


def _as_wide(frame: Frame, widths: Array) -> Frame:
    """Return a frame stretched so that half widths along its axes, in sds, become the target."""
    wide = np.maximum(widths, _WIDE)

    def short(a: Array) -> tuple[Array, Array]:
        reach = np.arcsinh(a * wide) / a
        return _TARGET - reach, (reach - wide / np.hypot(1.0, a * wide)) / a

    root = increasing_root(short, np.zeros(()), np.full((), 20.0), np.ones(len(wide)))
    return replace(frame, stretch=np.maximum(frame.stretch, np.where(widths > _WIDE, root, 0.0)))


def shares(islands: Sequence[Island], x: Array) -> Array:
    """Return the log weight of each island at points, (islands, n); weights add up to one.

    Each island stands for a normal density with its height and frame.
    """
    each = [
        i.height - (replace(i.frame, stretch=0 * i.frame.stretch).stretched(x) ** 2).sum(-1) / 2
        for i in islands
    ]
    logs = np.stack(each)
    return logs - logsumexp(logs, axis=0)


class Search:
    """Islands that were found so far, from several sets of starts."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.islands: list[Island] = []
        self._seen: list[Lattice] = []
        self._tops: list[Array] = []

    def add(self, starts: Array, scale: Array) -> list[Island]:
        """Climb from starts, the best one first, and return the new islands.

        Those from which it is uphill all the way to the top of a known one are left out.
        """
        logs, new, highest = logs_of(self.f), list[Island](), -np.inf
        for part in (slice(1), slice(1, None)):
            points, size = starts[part], scale[part]
            for top in self._tops:
                left = ~uphill(logs, points, top) if len(points) else np.zeros(0, dtype=bool)
                points, size = points[left], size[left]
            if not len(points):
                continue
            tops, heights = climbed(logs, points, size)
            believed = with_digits(self.f, tops, heights)
            tops, heights = tops[believed], heights[believed]
            highest = max(highest, heights.max(initial=-np.inf))
            for i in np.argsort(-heights, kind="stable"):
                if heights[i] > highest - _FAR_BELOW and not self._known(tops[i], heights[i]):
                    new += self._framed(tops[i])
        self.islands = sorted([*self.islands, *new], key=lambda island: -island.log_mass)
        return new

    def _framed(self, top: Array) -> list[Island]:
        """Return the island around a top, if it has digits and is not known."""
        logs = logs_of(self.f)
        top, root = polished(logs, top)
        if self._known(top, float(logs(top[None])[0])):  # climbing had ended on the way to it
            return []
        island, lattice = framed(self.f, top, root)
        centre = island.frame.centre[None]
        if not with_digits(self.f, centre, self.f(centre)[0])[0]:
            return []
        # Of a curved island the middle is far below the top.
        best = [np.nanargmax(lattice.logs)]
        crest, height = lattice.frame.points(lattice.coordinates[best])[0], lattice.logs[best]
        known = self._known(crest[0], float(height[0]) - lattice.frame.log_volume)
        self._seen.append(lattice)
        if known or not np.isfinite(island.log_mass):
            return []
        self._tops.append(top)
        return [island]

    def _known(self, x: Array, height: float) -> bool:
        return any(_inside(lattice, x, height) for lattice in self._seen)


def _inside(lattice: Lattice, x: Array, height: float) -> bool:
    """Whether a point lies in the part of a lattice above its floor, and is not far above it."""
    u = lattice.frame.stretched(x[None])[0]
    near = (np.abs(lattice.places - 2 * u) <= 2).all(-1) & ~lattice.halo  # noqa: PLR2004 - one step
    if not near.any():
        return False
    return bool(height < lattice.logs[near].max() - lattice.frame.log_volume + _ABOVE)
