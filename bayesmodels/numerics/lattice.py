r"""Integrals of smooth positive functions of a few numbers, by the trapezoidal rule.

Of a function that is analytic in a strip around the real axis the rule on the points of a lattice
converges geometrically: with half the step the number of right digits is doubled. Every second
refinement adds the centres of all cells (a body-centred lattice), which doubles the points and has
the same effect; the other ones halve the step. Sources: Trefethen and Weideman (2014), *The
exponentially convergent trapezoidal rule*, SIAM Review 56, sections 3 to 5; Conway and Sloane
(1999), *Sphere Packings, Lattices and Groups*, chapter 4 (body-centred lattices).

The lattice lies in coordinates u in which the function looks like a normal density,

.. math:: x = c + B s(u), \qquad s_i(u) = \sinh(a_i u) / a_i,

where a is zero but where tails are heavy: there it lets them fall exponentially.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from scipy.special import logsumexp

from bayesmodels.numerics import Array
from bayesmodels.numerics.curves import Curve, back, there

Function = Callable[[Array], tuple[Array, Array]]
"""From points (n, d) to log values (n), and to numbers (n, k) that are carried along."""

_BALL = 0.7  # of the cut: points so far down in a normal density are evaluated at once
_FAR = 1 << 12  # largest coordinate u
_FINEST = 2.0**-12  # step
_OUT = 5.0  # coordinates from which on digits are looked at
_PLACES, _LOOKS, _DIGITS = 1e-14, 4, 0.3  # moves, how many, and what log values may change
_LEAST_OFF, _MOST_OFF, _WORTH = 1e-12, 0.5, 1.5  # parts of a sum; times fewer points
_BITS = 60  # of a whole number for a place
_ALL, _BELOW = 3, 1.0  # dimensions in which all neighbours are kept; else down to so far below


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates: `centre` c, `root` B of shape (d, d), `stretch` a, and what bends them."""

    centre: Array
    root: Array
    stretch: Array
    skew: Array
    curve: Curve | None = None

    def points(self, u: Array) -> tuple[Array, Array]:
        """Return the points x and the log Jacobian at coordinates (n, d)."""
        s, log_slope = there(u, self.stretch, self.skew)
        log_jacobian = log_slope.sum(-1) + self.log_volume
        if self.curve:
            for axis in range(u.shape[1]):
                middle, log_width = self.curve.given(u, axis)
                s[:, axis] = middle + np.exp(log_width) * s[:, axis]
                log_jacobian += log_width
        return self.centre + s @ self.root.T, log_jacobian

    def coordinates(self, x: Array) -> Array:
        """Return the coordinates of points (n, d)."""
        u = self.stretched(x)
        for axis in range(u.shape[1]):
            if self.curve:
                middle, log_width = self.curve.given(u, axis)
                u[:, axis] = (u[:, axis] - middle) * np.exp(-log_width)
            u[:, axis] = back(u[:, axis], self.stretch[axis], self.skew[axis])
        return u

    def way(self, number: int, u: Array) -> tuple[int, Array]:
        """Return the axis along which a number moves, and how fast, at coordinates (n, d)."""
        row = self.root[number]
        if not self.curve:
            axis = int(np.abs(row).argmax())
            return axis, row[axis]
        axis = int(np.flatnonzero(row)[-1])
        return axis, row[axis] * np.exp(self.curve.given(u, axis)[1])

    def stretched(self, x: Array) -> Array:
        """Return y at points (n, d), which is s(u) where nothing bends it."""
        return np.linalg.solve(self.root, (x - self.centre).T).T

    @property
    def log_volume(self) -> float:
        """The log determinant of the root."""
        return float(np.linalg.slogdet(self.root)[1])


@dataclass(frozen=True, eq=False)
class Lattice:
    """Points of a lattice with the log of value times Jacobian; and numbers carried along.

    Coordinates are `step / 2`, of shape (d,), times the whole numbers `places`. All of these are
    even where the lattice is cubic, and all even or all odd where it has the `centres` of the cells
    too. Kept are the points above `floor`, and their neighbours; all of them if it is `complete`.
    """

    frame: Frame
    f: Function
    floor: float
    step: Array
    centres: bool
    places: NDArray[np.int64]
    logs: Array
    carried: Array
    complete: bool = True

    def __len__(self) -> int:
        return len(self.logs)

    @property
    def log_cell(self) -> float:
        """Log volume of a cell, per point."""
        return float(np.log(self.step).sum() - (np.log(2) if self.centres else 0))

    @property
    def log_weights(self) -> Array:
        """Log weights of the points, which add up to the integral."""
        return self.logs + self.log_cell

    @property
    def coordinates(self) -> Array:
        """Coordinates u of the points."""
        return _times(self.places, self.step / 2)

    @property
    def coarser(self) -> NDArray[np.bool_]:
        """Which points belong to the lattice before the last refinement."""
        if self.centres:
            return (self.places % 2 == 0).all(-1)
        remainder = self.places % 4
        even = (remainder == 0).all(-1)
        return even if remainder.shape[1] == 1 else even | (remainder == 2).all(-1)  # noqa: PLR2004

    @property
    def log_coarser_cell(self) -> float:
        """`log_cell` of the lattice before the last refinement."""
        if self.centres:
            return float(np.log(self.step).sum())
        return float(np.log(2 * self.step).sum() - (np.log(2) if len(self.step) > 1 else 0))

    @property
    def halo(self) -> NDArray[np.bool_]:
        """Which points are below the floor: those at the border."""
        return ~(self.logs > self.floor)

    @property
    def finest(self) -> bool:
        """Whether a step would settle by chance, or no whole numbers are left for finer places."""
        most = _half(self.places.shape[1]) // 4
        return bool(self.step.min() <= _FINEST or np.abs(self.places).max() >= most)

    def log_unknown(self, factors: Array) -> Array:
        """Return about the log integral over places where the function is NaN.

        The function is multiplied by each of k factors (n, k), the first of which is one. Each
        product is extrapolated: as it falls over the last unit before such a place, along the axis
        on which it falls most. Where it rises along all axes it rises for one more unit, but not
        above falling values on the same border, nor above the largest adjacent ones if these fall
        along the axis, as on a flank.
        """
        bad = self.places[np.isnan(self.logs)]
        if not len(bad):
            return np.full(factors.shape[1], -np.inf)
        order = np.argsort(_keys(self.places))
        keys = _keys(self.places)[order]
        with np.errstate(divide="ignore"):
            logs = self.logs[order, None] + np.log(factors[order])

        def at(places: NDArray[np.int64]) -> Array:
            wanted = _keys(places)
            spot = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
            return np.where((keys[spot] == wanted)[:, None], logs[spot], np.nan)

        def largest(place: NDArray[np.int64], axis: int) -> Array:
            """Return the largest values at places along an axis, wherever on the others."""
            spots, index = np.unique(self.places[order, axis], return_inverse=True)
            result = np.full((len(spots), logs.shape[1]), np.nan)
            np.fmax.at(result, index, logs)
            at = np.searchsorted(spots, place).clip(max=len(spots) - 1)
            return np.where((spots[at] == place)[:, None], result[at], np.nan)

        units = np.maximum(1, np.rint(1 / self.step).astype(np.int64))
        falling, rising, level = np.full((3, len(bad), factors.shape[1]), np.nan)
        for move in _neighbours(self.places.shape[1], centres=False):
            axis = int(np.flatnonzero(move)[0])
            unit = units[axis]
            last = at(bad + move)
            last = np.where(last[:, :1] > self.floor, last, np.nan)
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                fall = (at(bad + (1 + unit) * move) - last) / unit
                tail = last - np.log(np.expm1(fall))
            falling = np.fmin(falling, np.where(fall > 0, tail, np.nan))
            rising = np.fmin(rising, last - unit * fall + np.log(unit))
            adjacent, before = (largest((bad + n * move)[:, axis], axis) for n in (1, 1 + unit))
            ridge = np.where((before > adjacent) & ~np.isnan(last), adjacent + np.log(unit), np.nan)
            rising = np.fmin(rising, ridge)
            level = np.fmin(level, last)  # of a single point among others
        # Within two steps: of all within one unit there would be millions of pairs.
        _, border = connected_components(_joined(bad / np.minimum(units, 2), 2), directed=False)
        for k in range(factors.shape[1]):
            crest = np.full(border.max() + 1, -np.inf)
            np.fmax.at(crest, border, falling[:, k])
            crest = np.where(crest > -np.inf, crest, np.inf)
            bound = np.maximum(crest[border], level[:, k] + np.log(units.max()))
            rising[:, k] = np.fmin(rising[:, k], bound)
        tails = np.where(np.isnan(falling), np.where(np.isnan(rising), level, rising), falling)
        tails = np.where(np.isnan(tails), -np.inf, tails)
        return np.asarray(logsumexp(tails, axis=0)) + self.log_cell

    def finer(self) -> int:
        """Return about how many points the next refinement evaluates."""
        d = self.places.shape[1]
        return int((~self.halo).sum()) * (2 ** (d - 1) if self.centres else 2)

    def joined(self, x: Array, most: int) -> Lattice:
        """Return a cubic lattice that also covers what is above the floor near other points."""
        places = 2 * np.rint(self.frame.coordinates(x) / self.step).astype(np.int64)
        places = places[np.unique(_keys(places), return_index=True)[1]]
        new = places[~np.isin(_keys(places), _keys(self.places))]
        if not len(new):
            return self
        return self.extended(new, most)

    def of(self, f: Function, most: int) -> Lattice:
        """Return a cubic lattice in the same coordinates of another function, about as large."""
        empty = replace(
            self, f=f, places=self.places[:0], logs=self.logs[:0], carried=self.carried[:0]
        )
        return empty.extended(self.places[~self.halo], most)

    def extended(
        self, new: NDArray[np.int64], most: int, doubtful: NDArray[np.bool_] | None = None
    ) -> Lattice:
        """Return the lattice with new places, grown from those above the floor."""
        u = _times(new, self.step / 2)
        logs, carried = _values(self.f, self.frame, u, doubtful=doubtful)
        every = replace(
            self,
            places=np.concatenate([self.places, new]),
            logs=np.concatenate([self.logs, logs]),
            carried=np.concatenate([self.carried, carried]),
        )
        return _grown(every, new[logs > self.floor], logs[logs > self.floor], most)

    def with_floor(self, floor: float, most: int) -> Lattice:
        """Return the lattice grown, or kept, down to another floor."""
        above = self.logs > floor
        return _grown(replace(self, floor=floor), self.places[above], self.logs[above], most)

    def evened(self, most: int) -> Lattice:
        """Return a cubic lattice's points with longer steps along axes along which it has settled.

        How many digits are there without every second point along one axis alone says so. Twice
        the step leaves a quarter of the digits of a normal density, and half of those of other
        analytic functions; steps are made longer as if all of them were the former.
        """
        weights = np.exp(self.logs - np.nanmax(self.logs))
        weights = np.where(np.isnan(weights), 0.0, weights)
        off = 2 * weights @ (self.places % 4 == 0) / weights.sum() - 1
        digits = -np.log(np.clip(np.abs(off), _LEAST_OFF, _MOST_OFF))
        longer = (digits / digits.min()) ** 0.5
        if self.centres or longer.prod() < _WORTH:
            return self
        return self.with_step(self.step * longer, most)

    def with_step(self, step: Array, most: int) -> Lattice:
        """Return a cubic lattice with other steps over what is above the floor."""
        empty = replace(
            self,
            step=step,
            centres=False,
            places=self.places[:0],
            logs=self.logs[:0],
            carried=self.carried[:0],
        )
        return empty.joined(self.frame.points(self.coordinates[~self.halo])[0], most)

    def refined(self, most: int) -> Lattice:
        """Return a lattice with twice as many points, or in turn half the step.

        On a line, where the centres of the cells are half the step, it is always that.
        """
        bad = self.places[np.isnan(self.logs)]
        inside, above = self.places[~self.halo], self.logs[~self.halo] - self.floor
        slopes = _slopes(self, inside)
        if self.centres or inside.shape[1] == 1:
            places, step, centres = 2 * self.places, self.step / 2, False
            new, near = _spread(2 * inside, 2, above, slopes / 2), _spread(_spread(2 * bad, 2), 2)
        else:
            places, step, centres = self.places, self.step, True
            new, near = _spread(inside, 1, above, slopes), _spread(_spread(bad, 2), 1)
        new = new[~np.isin(_keys(new), _keys(places))]
        doubtful = np.isin(_keys(new), _keys(near))  # among others with digits there are some
        before = replace(self, places=places, step=step, centres=centres)
        return before.extended(new, most, doubtful)


class Unbounded(Exception):  # noqa: N818 - said in other words to the user
    """Mass that still grows at the lattice's end, along the coordinate with that number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def cubic(
    f: Function, frame: Frame, floor: float, depth: float, most: int, step: Array | float = 1.0
) -> Lattice:
    """Return a cubic lattice, grown from its middle to all points above a floor.

    A normal density falls by `depth` from its top to the floor; more than `most` points end it.
    """
    d = len(frame.centre)
    step = np.broadcast_to(step, d)
    reach = np.sqrt(2 * _BALL * depth) / step
    axes = np.meshgrid(*[np.arange(-k, k + 1) for k in reach.astype(int)], indexing="ij")
    ball = np.stack(axes, -1).reshape(-1, d)
    places = 2 * ball[((ball / reach) ** 2).sum(-1) <= 1]
    logs, carried = _values(f, frame, _times(places, step / 2))
    first = Lattice(frame, f, floor, step, False, places, logs, carried)  # noqa: FBT003 - cubic
    return _grown(first, places[logs > floor], logs[logs > floor], most)


def _grown(lattice: Lattice, front: NDArray[np.int64], heights: Array, most: int) -> Lattice:
    """Evaluate neighbours of points above the floor, of these log values, until none are left."""
    places, logs, carried = lattice.places, lattice.logs, lattice.carried
    moves = _neighbours(places.shape[1], centres=lattice.centres)
    keys = np.sort(_keys(places))
    while len(front):
        far = np.abs(front).max(0)
        if (far >= np.minimum(_half(len(far)) // 2, 2 * _FAR / lattice.step)).any():
            raise Unbounded(int(far.argmax()))
        known = replace(lattice, places=places, logs=logs)
        near = _likely(known, front, heights, moves)
        near_keys, first = np.unique(_keys(near), return_index=True)
        fresh = ~np.isin(near_keys, keys, assume_unique=True)
        new = near[first[fresh]]
        if not len(new):
            front = new
            break
        if len(logs) + len(new) > most:
            break
        result, new_carried = _values(lattice.f, lattice.frame, _times(new, lattice.step / 2))
        keys = np.sort(np.concatenate([keys, near_keys[fresh]]))
        places, logs = np.concatenate([places, new]), np.concatenate([logs, result])
        carried = np.concatenate([carried, new_carried])
        front, heights = new[result > lattice.floor], result[result > lattice.floor]
    done = lattice.complete and not len(front)
    return replace(lattice, places=places, logs=logs, carried=carried, complete=done)


def _neighbours(d: int, *, centres: bool) -> NDArray[np.int64]:
    """Return the moves from a point to its nearest neighbours."""
    axes = 2 * np.eye(d, dtype=np.int64)
    corners = np.stack(np.meshgrid(*[[-1, 1]] * d, indexing="ij"), -1).reshape(-1, d)
    return np.concatenate([axes, -axes, *([corners] if centres else [])])


def _slopes(lattice: Lattice, places: NDArray[np.int64]) -> Array:
    """Return how fast the log values rise along each axis, per place, at places of a lattice.

    They are zero in few dimensions, where all neighbours are few, and where they are not known.
    """
    result = np.zeros(places.shape)
    if places.shape[1] <= _ALL:
        return result
    order = np.argsort(_keys(lattice.places))
    keys, logs = _keys(lattice.places)[order], lattice.logs[order]

    def at(wanted: NDArray[np.int64]) -> Array:
        spot = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        return np.where(keys[spot] == wanted, logs[spot], np.nan)

    here = at(_keys(places))
    for axis, move in enumerate(2 * np.eye(places.shape[1], dtype=np.int64)):
        with np.errstate(invalid="ignore"):
            up, down = at(_keys(places + move)) - here, here - at(_keys(places - move))
            slope = np.where(np.isnan(up), down, np.where(np.isnan(down), up, (up + down) / 2))
        result[:, axis] = np.where(np.isfinite(slope), slope, 0.0) / 2
    return result


def _likely(
    lattice: Lattice, front: NDArray[np.int64], logs: Array, moves: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return those neighbours of places that may be above the floor.

    No log-concave function is above its tangent.
    """
    slopes, above = _slopes(lattice, front), logs - lattice.floor + _BELOW
    rises = slopes @ moves.T.astype(float)
    return np.concatenate([front[above + r >= 0] + m for r, m in zip(rises.T, moves, strict=True)])


def _spread(
    places: NDArray[np.int64], reach: int, above: Array | None = None, slopes: Array | None = None
) -> NDArray[np.int64]:
    """Return places with all neighbours in a cube: at even distances if `reach` is two.

    Given how far the function is above the floor and its slopes, only those that may be above it.
    """
    result, d = places, places.shape[1]
    above = np.zeros(len(places)) if above is None else above + _BELOW
    slopes = np.zeros(places.shape) if slopes is None else slopes
    ways = (reach, -reach) if reach == 1 else (0, reach, -reach)  # from even to odd: none stays
    for axis, unit in enumerate(np.eye(d, dtype=np.int64)):
        every = np.concatenate([result + way * unit for way in ways])
        heights = np.concatenate([above + way * slopes[:, axis] for way in ways])
        order = np.argsort(-heights, kind="stable")
        chosen = order[np.unique(_keys(every[order]), return_index=True)[1]]
        chosen = chosen[heights[chosen] >= 0]
        slopes = slopes[chosen % len(result)]
        result, above = every[chosen], heights[chosen]
    return result


def _joined(places: Array, reach: int) -> Any:
    """Return the sparse adjacency of places within `reach` of each other along all axes."""
    pairs = KDTree(places).query_pairs(reach, p=np.inf, output_type="ndarray")
    return coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(places),) * 2)


def _times(places: NDArray[np.int64], unit: Array) -> Array:
    return np.asarray(places * unit, dtype=float)


def _keys(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one integer key for each place."""
    d = places.shape[1]
    half = _half(d)
    return np.asarray((places + half) @ (2 * half) ** np.arange(d)[::-1])


def _half(d: int) -> int:
    """Return the largest place along each of d axes."""
    return 1 << min(24, _BITS // d - 1)


def _values(
    f: Function, frame: Frame, u: Array, *, doubtful: NDArray[np.bool_] | None = None
) -> tuple[Array, Array]:
    """Return the logs of value times Jacobian, NaN where the function is not a number.

    Far out it is none either where rounding has left no digits: of those points that are
    `doubtful`, or of all.
    """
    x, log_jacobian = frame.points(u)
    logs, carried = f(x)
    far = (np.abs(u) > _OUT).any(1) & (logs > -np.inf)
    looked = np.flatnonzero(far if doubtful is None else far & doubtful)
    logs[looked[~with_digits(f, x[looked], logs[looked])]] = np.nan
    return logs + log_jacobian, carried


def with_digits(f: Function, x: Array, logs: Array) -> NDArray[np.bool_]:
    """Return at which points the log value, `logs`, hardly changes with the last places of x."""
    low, high = logs, logs
    for k in range(1, _LOOKS) if len(x) else ():
        moved = f(x * (1 + k * _PLACES))[0]
        with np.errstate(invalid="ignore"):
            low, high = np.minimum(low, moved), np.maximum(high, moved)
    with np.errstate(invalid="ignore"):
        return np.asarray(high - low < _DIGITS)
