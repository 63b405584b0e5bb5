"""The integral of a positive function of a few numbers, its moments, and how far off they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import logsumexp

from bayesmodels.numerics import Array
from bayesmodels.numerics.curves import fitted
from bayesmodels.numerics.islands import Island, Search, shares, stretched, wider
from bayesmodels.numerics.kinks import bends
from bayesmodels.numerics.lattice import Frame, Function, Lattice, Unbounded, cubic, with_digits
from bayesmodels.numerics.lattice_draws import draws
from bayesmodels.numerics.lattice_law import Table, table
from bayesmodels.numerics.tails import lacking

_DEPTH, _DEEPER, _DEEPEST = 20.0, 4.0, 120.0  # of the floor, below the top
_LEAST_DEEPER, _SUNK = 1.0, 5.0  # and about how far it sinks, with its border
_LEAST_DEPTH, _USUAL = 12.0, 1e-6  # whatever the tolerance; for which the depth is meant
_FIRST_STEP, _FEW = 2.0, 3  # in few dimensions it is the same for all tolerances
_SPARE, _ROUNDS = 4.0, 30  # times less than the tolerance; of a fixed point
_QUARTERS = (0.25, 0.75)
_MOST = 3_000_000
_DEAR, _MORE_ROOM = 1.0, 10  # seconds from which on coordinates are curved; times more points
_NEAR, _NEARER = 0.1, 0.9  # to a normal density, near enough; times as far off as before
_REFITS, _AHEAD = 6, 4  # of coordinates, at most; times as many points later, for each dimension
_SEEN = 8  # points that are effective, for each dimension
_TEMPERED = 2.0  # variances of the weights by which they are fitted, so that tails are seen
_EVENED_FROM = 5_000  # points from which on axes get steps of their own
_MORE, _CHEAP, _SOON = 2, 20_000, 0.5  # refinements for quantiles, if few points and seconds do
_EACH = 200  # numbers that a point costs beside those of the function
_EXPLORED = 150  # points of each set of starts, for each dimension
_BEST, _OTHERS = 12, 8  # local tops among them that are climbed from
_SPREADS, _IN_SDS = (0.1, 30.0), (0.3, 1e4)  # of the first set around the start; around islands
_STAYS = 0.8  # part of a moment beyond the floor that is left when it sinks some times
_WHILE = (3, 6.0)  # how many times: at least, and per step, as a coarse lattice grows seldom
_MUCH = 1e-3  # of a moment, which is unknown
_MARGIN = 1.5  # of what is unknown, as it is extrapolated
_STATED = 0.01  # error that is still an answer, where the budget ends
_CYCLE, _SHRINKS = 2, 0.5  # refinements, with which a step is halved, and what is isolated shrinks
_LARGEST = 0.9  # part of a step
_HALVINGS = 6  # of steps, when parts of a lattice are looked at
_POWER = 1.5  # an analytic function's error is squared each time; this is on the safe side


SPEED = 3e7
"""Numbers counted as one second of work, the same on every machine."""


Told = Callable[[int, float], None]
"""What is told on the way: points so far, and the effective share of weighted ones, or NaN."""


class Rough(NamedTuple):
    """About the function, for the search of modes, and what a point costs."""

    f: Function
    cost: int


class NotSettled(Exception):  # noqa: N818 - said in other words to the user
    """An integral that misses its tolerance, and why."""


class OutOfTime(NotSettled):
    """An integral whose computation ran out of time, and its error so far."""


class TooManyPoints(NotSettled):
    """An integral of which even a normal density's would take too many points."""


@dataclass(frozen=True, eq=False)
class Integral:
    """Points with weights that add up to one, and estimates with their errors.

    `numbers` are those carried along, of shape (points, k). Beside `weights` there are `before`,
    those of the lattice before the last refinement. The errors are of the log integral, and of
    means and standard deviations in a `unit`: the latter, or the distance of quartiles where there
    is none; NaN where a moment does not exist, or some of it is where there are no numbers.
    """

    lattices: tuple[Lattice, ...]
    numbers: Array
    weights: Array
    before: Array
    log_total: float
    log_error: float
    mean: Array
    sd: Array
    unit: Array
    mean_error: Array
    sd_error: Array

    rung = "integrated"
    error_kind = "at most"
    errors_from = (
        "How far off a number may be is worked out from how it changed with the last refinements "
        "of the lattice, from what is beyond it, and from rounding."
    )
    precision = "Log evidence known to {:.1g}, means and standard deviations to {:.1g} sd"

    @property
    def how(self) -> str:
        """How the function was integrated."""
        return f"integrated on a lattice of {self.points:,} points"

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(self.weights)

    def less_sure(self, by: float) -> Integral:
        """Return the same with larger errors, as of log values that may be off by so much."""
        return replace(
            self,
            log_error=self.log_error + by,
            mean_error=self.mean_error + by,
            sd_error=self.sd_error + by,
        )

    @property
    def halo(self) -> NDArray[np.bool_]:
        """Which points are at the border."""
        return _halo(self.lattices)

    @property
    def halo_ratio(self) -> float:
        """Ratio of the mass outside the lattice to that of its border points."""
        return _halo_ratio(self.lattices)

    @property
    def mass_outside(self) -> float:
        """About the share of the mass outside the lattice."""
        return float(self.weights[self.halo].sum()) * self.halo_ratio

    @property
    def modes(self) -> int:
        """How many lattices there are."""
        return len(self.lattices)

    def table(self, coordinate: int) -> Table:
        """Return the distribution function of a coordinate x."""
        return table(self.lattices, self.weights, self.before, coordinate)

    def draws(self, number: int, rng: np.random.Generator) -> Array:
        """Return independent points x, (number, d)."""
        return draws(self.lattices, self.weights, number, rng)

    def sublattices(self, close: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return points of lattices that are a step finer than has to be; and which have to be.

        Those are the coarsest on which the log integral is off by less than `close`.
        """
        if not self.lattices:
            return np.zeros(1, dtype=int), np.ones(1, dtype=bool)
        before = self._every(1)
        for halving in reversed(range(1, _HALVINGS)):
            step = 2**halving
            coarse = self._every(step)
            volumes = [_log_volume(lattice, step) for lattice in self.lattices]
            each = np.repeat(volumes, [len(lattice) for lattice in self.lattices])
            if abs(np.log((self.weights * np.exp(each))[coarse].sum())) < close:
                before = self._every(step // 2)
                break
        fine = np.flatnonzero(before & (self.weights > 0))
        return fine, coarse[fine]

    def log_ratio(
        self, chosen: NDArray[np.intp], coarse: NDArray[np.bool_], change: Array
    ) -> tuple[float, float]:
        """Return how the log integral changes with the log values at `sublattices`; its error."""
        before = np.log(self.weights[chosen])
        after = before + change
        both = [logsumexp(after[some]) - logsumexp(before[some]) for some in (slice(None), coarse)]
        # Beyond the border there may be mass when the log values are others.
        border = np.append(after[self.halo[chosen]], -np.inf)
        outside = self.halo_ratio * np.exp(logsumexp(border) - logsumexp(after))
        return float(both[0]), float(abs(both[0] - both[1]) + 2 * self.log_error + outside)

    def _every(self, step: int) -> NDArray[np.bool_]:
        """Return which points are on the cubic lattices with some multiple of the step."""
        on = [(lattice.places % (2 * step) == 0).all(-1) for lattice in self.lattices]
        return np.concatenate(on)

    def points_at(self, chosen: NDArray[np.intp]) -> Array:
        """Return the points x with the chosen numbers."""
        each = [lattice.frame.points(lattice.coordinates)[0] for lattice in self.lattices]
        return np.concatenate(each)[chosen] if each else np.zeros((len(chosen), 0))


def integral(
    f: Function,
    starts: Array,
    tolerance: float,
    seconds: float,
    rng: np.random.Generator,
    least: Array | float = 0.0,
    cost: int = 1,
    told: Told | None = None,
    rough: Rough | None = None,
) -> Integral:
    """Integrate a function until its log integral, means and deviations have settled.

    Mass is looked for near `starts` (n, d), of which the first one is a middle. Units of numbers
    are not smaller than `least`. A point costs so many numbers: the clock ends the search, and
    chooses nothing. How many points there were so far is `told`. Modes are looked for in a `rough`
    function, if there is one.

    Raises
    ------
    NotSettled
        If they have not within `seconds`, as points and their cost are counted, or so many points
        that memory ends.
    OutOfTime
        If it has computed for as many seconds.
    Unbounded
        If the mass grows without end.
    """
    if not starts.shape[1]:
        return _point(f)
    _ask(starts.shape[1], tolerance, seconds, cost)
    f = counted = Counted(f, cost, seconds, told)
    search = Counted(*rough, seconds, told) if rough else counted
    d, each = starts.shape[1], cost + _EACH
    lattices, bent, frame = _shaped(f, search, starts, tolerance, each, rng)
    counted.spend(search.numbers if rough else 0)
    history: list[Array] = []
    exists = np.concatenate([[True], ~lacking(f, frame)])
    unknown: list[Array] = []
    more, settled = 0, None
    while True:
        lattices = [_with_others(lattice, lattices) for lattice in lattices]
        lattices, result, outside = _lowered(lattices, exists, tolerance / 4, least)
        history.append(result)
        unknown.append(_unknown(lattices, result, least))
        changes = _changes(history, least)
        own, slow = _errors(changes, d, bent)
        errors = own + outside + unknown[-1][0]
        if len(unknown) > _CYCLE and errors[0] <= tolerance:
            # Beyond what numbers tell there is some of a moment, however fine the lattice.
            _lost(exists, unknown[-1] > np.maximum(_MUCH, _SHRINKS * unknown[-1 - _CYCLE]))
        if np.any(slow & exists):
            errors[exists] = _together(errors[exists], [x[exists] for x in changes[:3]])
        error = float(np.max(errors[exists]))
        size, number = sum(map(len, lattices)), _finer(lattices)
        part = _part(lattices, error, tolerance) if len(history) > _CYCLE + 1 and not bent else 0.0
        number = size / part**d if part else number
        new = number if part else number - size
        late = counted.seconds + new * each / SPEED > seconds
        ends = late or number > _MOST
        short = ends and exists.all() and unknown[-1][0] <= tolerance
        errors = _together(errors, changes[:2]) if short and error > tolerance else errors
        error = float(np.max(errors[exists]))
        if error <= (max(_STATED, tolerance) if short else tolerance):
            # Quantiles settle later: between the points of a lattice less is known than in sum.
            more += 1
            stated = np.maximum(errors, errors - unknown[-1][0] + unknown[-1])
            settled = _integral(lattices, result, np.where(exists, stated, np.nan), least)
            if ends or more > _MORE or number > _CHEAP or number * each > _SOON * SPEED:
                return settled
        if settled and ends:
            return settled
        if not settled:
            counted.go_on(f"with {size:,} points an error of {error:.1g} is left", number, late)
        evened = lattices if settled or size < _EVENED_FROM else _evened(lattices)
        if evened != lattices:  # for fewer points with about the same errors
            lattices, history, unknown = evened, history[:-1], unknown[:-1]
            continue
        history, unknown = ([], []) if part else (history, unknown)
        lattices = [
            x.with_step(2 * part * x.step, _MOST) if part else x.refined(_MOST) for x in lattices
        ]


def price(d: int, tolerance: float) -> float:
    """Return about how many points the lattice of a normal density has; zero in few dimensions.

    It is the volume of the ball above the floor, over that of a cell of the third refinement.
    """
    if d <= _FEW:
        return 0.0
    radius = math.sqrt(2 * (_depth(tolerance) + _SUNK))
    log_ball = d * math.log(math.sqrt(math.pi) * radius) - math.lgamma(d / 2 + 1)
    return 2 * math.exp(log_ball - d * math.log(_step(d, tolerance) / 2))


def _ask(d: int, tolerance: float, seconds: float, cost: int) -> None:
    """Refuse what costs too much even of a normal density."""
    about = price(d, tolerance)
    if about > _MOST or about * (cost + _EACH) / SPEED > seconds:
        raise TooManyPoints(f"a lattice of about {about:,.0f} points costs more than it may")


def _point(f: Function) -> Integral:
    """Return the integral of a function of no variables: its value."""
    logs, numbers = f(np.zeros((1, 0)))
    if not np.isfinite(logs[0]):
        raise NotSettled("no point was found at which the density is positive")
    one, zero = np.ones(1), np.zeros(numbers.shape[1])
    return Integral((), numbers, one, one, float(logs[0]), 0.0, numbers[0], zero, zero, zero, zero)


class Counted:
    """A function whose points are counted, and told, and cost so many numbers each."""

    def __init__(self, f: Function, cost: int, seconds: float, told: Told | None = None) -> None:
        self._f, self._cost, self._told = f, cost, told
        self._most, self._end = seconds, time.process_time() + seconds
        self._points, self._more = 0, 0

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Evaluate."""
        result = self._f(x)
        self._points += len(x)
        if self._told:
            self._told(self._points, math.nan)
        return result

    @property
    def numbers(self) -> int:
        """What all so far costs."""
        return self._points * self._cost + self._more

    @property
    def seconds(self) -> float:
        """What it counts as."""
        return self.numbers / SPEED

    @property
    def out_of_time(self) -> bool:
        """Whether it has computed for as many seconds as it may."""
        return time.process_time() > self._end

    @property
    def _more_than(self) -> str:
        return f"more than {self._most:g} s; seconds=... gives it more"

    def go_on(self, left: str, number: float, late: bool) -> None:  # noqa: FBT001
        """Raise `NotSettled` or `OutOfTime`, and what is left, if so many points are too many."""
        if number > _MOST:
            raise NotSettled(left)
        if late:
            raise NotSettled(f"{left}, and more points count as {self._more_than}")
        if self.out_of_time:
            raise OutOfTime(f"{left}, and more points take {self._more_than}")

    def in_time(self, x: Array) -> tuple[Array, Array]:
        """Evaluate; raise `NotSettled` or `OutOfTime` if that is too late."""
        self.spend(0)
        return self(x)

    def spend(self, numbers: int) -> None:
        """Count so many numbers more; raise `NotSettled` or `OutOfTime` if that is too late."""
        self._more += numbers
        if self.seconds > self._most:
            raise NotSettled(f"the search for modes counts as {self._more_than}")
        if self.out_of_time:
            raise OutOfTime(f"the search for modes takes {self._more_than}")


def _islands(f: Function, starts: Array, rng: np.random.Generator) -> list[Island]:
    """Return the modes; refuse if two sets of starts do not find the same.

    A third and a fourth set decide whether an island that only one of two has found is the last.
    """
    search = Search(f)
    for number in range(4):
        chosen = np.concatenate([starts[:1], starts[1 + number % 2 :: 2]])
        points = np.concatenate([chosen, _around(chosen, search.islands, rng)])
        new = search.add(*_tops(f, points, rng))
        top = max((i.log_mass for i in search.islands), default=-np.inf)
        new = [i for i in new if i.log_mass > top - _DEPTH]
        if not search.islands:
            continue
        if number and not new:
            return search.islands
    if not search.islands:
        raise NotSettled("no point was found at which the density is positive")
    raise NotSettled(
        f"there are {len(search.islands)} or more separate modes, and each set of starting points "
        "finds others"
    )


def _first(f: Function, islands: list[Island], tolerance: float) -> list[Lattice]:
    """Return a coarse lattice for each island whose mass counts."""
    top, depth = islands[0].log_mass, _depth(tolerance)
    d = len(islands[0].frame.centre)
    step = _FIRST_STEP if d <= _FEW else _step(d, tolerance)
    lattices = []
    for island, part in zip(islands, _parts(f, islands, tolerance), strict=False):
        grown = partial(cubic, part, floor=top - depth, depth=depth, most=_MOST, step=step)
        first = _known(grown(frame=stretched(part, island, _DEPTH)))
        lattices.append(grown(frame=wider(first.refined(_MOST))))
    return lattices


def _known(lattice: Lattice) -> Lattice:
    """Return a lattice, if there are numbers at some of its points."""
    if not np.isfinite(lattice.logs).any():
        raise NotSettled("around one of the modes the density is not known")
    return lattice


def _parts(f: Function, islands: list[Island], tolerance: float) -> list[Function]:
    """Return the function's parts that belong to the islands whose mass counts, the first ones."""
    kept = [i for i in islands if i.log_mass > islands[0].log_mass - _depth(tolerance)]
    return [f] if len(kept) == 1 else [_shared(f, kept, k) for k in range(len(kept))]


def _depth(tolerance: float) -> float:
    """Return how far below the top the first floor is."""
    return max(_LEAST_DEPTH, _DEPTH + math.log(_USUAL / tolerance))


def _step(d: int, tolerance: float) -> float:
    """Return a first step, from which three refinements will do for a normal density.

    On a body-centred lattice of step h its deviations are off by 4 (d - 1) x exp(-2 x), where x is
    2 (pi / h)^2, and what that becomes with each refinement is believed to be a power of it.
    """
    x = 1.0
    for _ in range(_ROUNDS):
        x = max(1.0, math.log(_SPARE / tolerance) / _POWER + math.log(4 * (d - 1) * x)) / 2
    return math.pi * math.sqrt(2 / x)


def _around(starts: Array, islands: list[Island], rng: np.random.Generator) -> Array:
    """Return points at all distances from the islands, or from the first start without islands."""
    d = starts.shape[1]
    low, high = map(math.log, _IN_SDS if islands else _SPREADS)
    number = _EXPLORED * d
    moves = np.exp(rng.uniform(low, high, (number, 1))) * rng.standard_normal((number, d))
    if not islands:
        return starts[0] + moves
    parts = np.array_split(moves, len(islands))
    pairs = zip(islands, parts, strict=True)
    return np.concatenate([i.frame.centre + part @ i.frame.root.T for i, part in pairs])


def _tops(f: Function, points: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return local tops among points, and how far their neighbours are from them.

    Neighbours are nearest in ranks, axis by axis, of which no units matter.
    """
    values = f(points)[0]
    possible = values > -np.inf
    points, values = points[possible], values[possible]
    if not len(points):
        return points, points
    d = points.shape[1]
    ranks = points.argsort(0).argsort(0)
    _, near = KDTree(ranks).query(ranks, min(2 * d + 2, len(points)))
    near = near.reshape(len(points), -1)
    tops = np.flatnonzero(values >= values[near].max(1))
    tops = tops[with_digits(f, points[tops], values[tops])]
    tops = tops[np.argsort(-values[tops], kind="stable")]
    chosen = np.concatenate([tops[:_BEST], rng.permutation(tops[_BEST:])[:_OTHERS]])
    scale = np.abs(points[near[chosen, min(1, near.shape[1] - 1)]] - points[chosen])
    return points[chosen], np.where(scale > 0, scale, 1.0)


def _shared(f: Function, islands: list[Island], k: int) -> Function:
    """Return a function times an island's weight."""

    def part(x: Array) -> tuple[Array, Array]:
        logs, carried = f(x)
        return logs + shares(islands, x)[k], carried

    return part


def _with_others(lattice: Lattice, lattices: list[Lattice]) -> Lattice:
    """Return an island's lattice with the points of the others, which a valley may hide from it."""
    original = lattice
    for other in lattices:
        if other is not original and not original.centres:
            x = other.frame.points(other.coordinates[~other.halo])[0]
            lattice = lattice.joined(x, _MOST)
    return lattice


def _finer(lattices: list[Lattice]) -> float:
    """Return about how many points the next refinement looks at; infinity if there is none."""
    finest = any(lattice.finest for lattice in lattices)
    return math.inf if finest else sum(lattice.finer() for lattice in lattices)


def _part(lattices: list[Lattice], error: float, tolerance: float) -> float:
    """Return the part of the steps with which an error becomes the tolerance; zero to refine.

    The error's log is proportional to the inverse of the step at least, of analytic functions. In
    more than few dimensions fewer points do than with half the steps.
    """
    d = len(lattices[0].step)
    if error <= tolerance or d <= _FEW or not all(lattice.centres for lattice in lattices):
        return 0.0
    part = float(np.clip(math.log(error) / math.log(tolerance / 2), _SHRINKS, _LARGEST))
    return part if sum(map(len, lattices)) / part**d < _finer(lattices) < math.inf else 0.0


def _shaped(
    f: Counted,
    search: Counted,
    starts: Array,
    tolerance: float,
    each: int,
    rng: np.random.Generator,
) -> tuple[list[Lattice], bool, Frame]:
    """Return coarse lattices, whether the function bends somewhere, and the frame of its top.

    Coordinates are curved if points are dear. They are found by the function of the `search`.
    """
    d, islands = starts.shape[1], _islands(search.in_time, starts, rng)
    lattices, frame = _first(search, islands, tolerance), islands[0].frame
    loose = d > _FEW and tolerance > _USUAL
    bent = loose and any(bends(search, lattice.frame, tolerance, rng) for lattice in lattices)
    if d > 1 and not bent and sum(map(len, lattices)) * _AHEAD**d * each > _DEAR * SPEED:
        lattices = [_curved(lattice, tolerance) for lattice in lattices]
    if search is not f:
        parts = _parts(f, islands, tolerance)
        pairs = zip(lattices, parts, strict=True)
        lattices = [_known(lattice.of(part, _MOST)) for lattice, part in pairs]
    return lattices, bent, frame


def _curved(lattice: Lattice, tolerance: float) -> Lattice:
    """Return a coarse lattice in coordinates in which the function is nearly normal.

    They are fitted again and again; it is that lattice by whose own points it is nearest.
    """
    nearest, least, new = lattice, math.inf, lattice
    for _ in range(_REFITS):
        fine = _seen(new)
        try:
            frame, off, before = _refitted(fine)
        except np.linalg.LinAlgError:  # of a fit that gets lost
            break
        if before < least:
            nearest, least = new, before
        if before < _NEAR or not off < _NEARER * before:
            break
        d, depth, most = len(fine.step), _depth(tolerance), _MORE_ROOM * len(fine)
        top = logsumexp(fine.log_weights[fine.logs > -np.inf]) - d / 2 * math.log(2 * math.pi)
        try:
            new = cubic(fine.f, frame, top - depth, depth, most, _step(d, tolerance))
            new = new.joined(fine.frame.points(fine.coordinates[~fine.halo])[0], most)
        except Unbounded:
            break
        if not new.complete:  # tails are long in these coordinates
            break
    return nearest


def _seen(lattice: Lattice) -> Lattice:
    """Return a lattice that is so fine that coordinates can be fitted to it."""
    for _ in range(_CYCLE + 1):
        lattice = lattice.refined(_MOST)
        weights = _tempered(lattice)
        if weights.sum() ** 2 > _SEEN * len(lattice.step) * (weights @ weights):
            break
    return lattice


def _tempered(lattice: Lattice) -> Array:
    """Return weights of points by which coordinates are fitted."""
    weights = np.exp((lattice.logs - np.nanmax(lattice.logs)) / _TEMPERED)
    return np.where(np.isnan(weights), 0.0, weights)


def _refitted(fine: Lattice) -> tuple[Frame, float, float]:
    """Return a frame fitted to points, and how far off a normal density is in it, and before."""
    x, log_jacobian = fine.frame.points(fine.coordinates)
    weights = _tempered(fine)
    kept = weights > 0
    x, logs, weights = x[kept], (fine.logs - log_jacobian)[kept], weights[kept]
    weights = weights / weights.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        frame = Frame(*fitted(x, weights, _TEMPERED))
        off, before = (_off(each, x, logs, weights) for each in (frame, fine.frame))
    return frame, off, before


def _off(frame: Frame, x: Array, logs: Array, weights: Array) -> float:
    """Return how far the log density at weighted points is off a normal one in a frame."""
    u = frame.coordinates(x)
    gap = logs + frame.points(u)[1] + (u**2).sum(-1) / 2
    return float(np.sqrt(weights @ (gap - weights @ gap) ** 2))


def _evened(lattices: list[Lattice]) -> list[Lattice]:
    """Return lattices with steps of their own along each axis; curved axes are about alike."""
    return [x if x.frame.curve else x.evened(_MOST) for x in lattices]


def _lowered(
    lattices: list[Lattice], exists: NDArray[np.bool_], tolerance: float, least: Array | float
) -> tuple[list[Lattice], Array, Array]:
    """Lower the floor until the moments outside the lattice are less than the tolerance.

    Return estimates and the relative parts outside, too. A moment whose part outside does not
    shrink is marked as one that does not exist.
    """
    _reach(lattices)
    initial = lattices
    result, outside, unit = _estimates(lattices, exists, least)
    before = [outside]
    while (outside / unit > tolerance)[exists].any():
        depth = result[0] - lattices[0].floor
        excess = float(np.log(np.max((outside / unit)[exists] / tolerance)))
        deeper = _DEEPER if len(lattices[0].step) <= _FEW else min(_DEEPER, excess + _LEAST_DEEPER)
        lattices = [lattice.with_floor(lattice.floor - deeper, _MOST) for lattice in lattices]
        _reach(lattices)
        result, outside, unit = _estimates(lattices, exists, least)
        before.append(outside)
        excessive = outside / unit > tolerance
        times = max(_WHILE[0], math.ceil(_WHILE[1] * _steps(lattices).max()))
        stays = np.zeros_like(exists)
        if len(before) > times:
            stays = excessive & (outside > _STAYS * before[-1 - times]) & exists
        if stays[0] or (excessive[0] and depth > _DEEPEST):
            number = int(np.abs(lattices[0].places).max(0).argmax())
            raise Unbounded(int(np.abs(lattices[0].frame.root[:, number]).argmax()))
        if depth > _DEEPEST:
            raise NotSettled("a mean or a deviation depends on where hardly any mass is")
        if stays.any():  # of the other moments less may do
            _lost(exists, stays)
            lattices = initial
            result, outside, unit = _estimates(lattices, exists, least)
            before = [outside]
    return lattices, result, outside / unit


def _lost(exists: NDArray[np.bool_], which: NDArray[np.bool_]) -> None:
    """Mark moments that do not exist, and deviations from a mean that does not."""
    k = (len(exists) - 1) // 2
    exists[1:] &= ~which[1:]
    exists[1 + k :] &= exists[1 : 1 + k]


def _reach(lattices: list[Lattice]) -> None:
    if sum(map(len, lattices)) > _MOST or not all(lattice.complete for lattice in lattices):
        raise NotSettled(f"{_MOST:,} points do not reach to where the density is negligible")


def _estimates(
    lattices: list[Lattice], exists: NDArray[np.bool_], least: Array | float
) -> tuple[Array, Array, Array]:
    """Return log integral, means and deviations in one row; their parts outside; and their units.

    Parts are those of the integral, of means and of variances. The unit of a mean is the deviation;
    where there is none, it is about as far as half of the mass reaches.
    """
    weights, numbers, log_total = _weighted(lattices)
    mean, sd = _moments(weights, numbers)
    k = len(mean)
    for column in np.flatnonzero(~exists[1 + k :]):
        order = np.argsort(numbers[:, column])
        below = np.cumsum(weights[order]) - weights[order] / 2
        sd[column] = np.ptp(np.interp(_QUARTERS, below, numbers[order, column]))
    unit = _units(sd, least)
    halo = _halo(lattices)
    gap, weight = np.abs(numbers[halo] - mean), weights[halo]
    parts = np.concatenate([[weight.sum()], weight @ gap, weight @ gap**2]) * _halo_ratio(lattices)
    result = np.concatenate([[log_total], mean, sd])
    return result, parts, np.concatenate([[1.0], unit, unit**2])


def _units(sd: Array, least: Array | float) -> Array:
    """Return the units of means and deviations: the latter, if they are not next to nothing."""
    unit = np.maximum(sd, least)
    return np.where(unit > 0, unit, 1.0)


def _unknown(lattices: list[Lattice], estimates: Array, least: Array | float) -> Array:
    """Return about the parts of the estimates, in their units, where the function is NaN."""
    k = (len(estimates) - 1) // 2
    unit = _units(estimates[1 + k :], least)
    result = np.zeros(len(estimates))
    for lattice in lattices:
        gap = np.abs(lattice.carried - estimates[1 : 1 + k]) / unit
        # Without the zeros of a distance, next to which its logs rise without end.
        factors = np.concatenate([np.ones((len(gap), 1)), np.hypot(1.0, gap), 1.0 + gap**2], 1)
        with np.errstate(over="ignore"):
            result += _MARGIN * np.exp(lattice.log_unknown(factors) - estimates[0])
    return result


def _log_volume(lattice: Lattice, step: int) -> float:
    """Return by how much more a point stands for on a coarser, cubic lattice."""
    return float(np.log(step) * lattice.places.shape[1] + np.log(2) * lattice.centres)


def _halo(lattices: Sequence[Lattice]) -> NDArray[np.bool_]:
    return np.concatenate([lattice.halo for lattice in lattices] or [np.zeros(1, dtype=bool)])


def _halo_ratio(lattices: Sequence[Lattice]) -> float:
    """Return how much more there is beyond the points at the border than at them."""
    return 2.0 / _steps(lattices).min(initial=1.0)


def _steps(lattices: Sequence[Lattice]) -> Array:
    return np.concatenate([lattice.step for lattice in lattices] or [np.zeros(0)])


def _weighted(lattices: list[Lattice]) -> tuple[Array, Array, float]:
    """Return weights that add up to one, numbers, and the log integral."""
    logs = np.concatenate([lattice.log_weights for lattice in lattices])
    numbers = np.concatenate([lattice.carried for lattice in lattices])
    logs = np.where(np.isnan(logs), -np.inf, logs)
    log_total = float(logsumexp(logs))
    weights = np.exp(logs - log_total)
    return weights, np.where(weights[:, None] > 0, numbers, 0.0), log_total


def _moments(weights: Array, numbers: Array) -> tuple[Array, Array]:
    """Return means and standard deviations."""
    middle = numbers[weights.argmax()]
    mean = middle + weights @ (numbers - middle)
    return mean, np.sqrt(weights @ (numbers - mean) ** 2)


def _changes(history: list[Array], least: Array | float) -> list[Array]:
    """Return how estimates changed with the last refinements, the last one first, in units."""
    k = (len(history[0]) - 1) // 2
    unit = _units(history[-1][1 + k :], least)
    every = np.concatenate([[1.0], unit, unit])
    pairs = zip(history[:-5:-1], history[-2:-6:-1], strict=False)
    return [np.abs(a - b) / every for a, b in pairs]


def _errors(
    changes: list[Array],
    d: int,
    bent: bool,  # noqa: FBT001
) -> tuple[Array | float, NDArray[np.bool_] | bool]:
    """Return errors of the last estimates, from how they changed with the last refinements.

    On a line each refinement squares the error of an analytic function; elsewhere one may leave it
    as it is, in one direction, but two do not. Where the changes do not shrink like that, or the
    function is `bent`, which is returned, too, no more is said than they show.
    """
    if len(changes) < 2:  # noqa: PLR2004 - one tells nothing
        return math.inf, False
    result = np.maximum(changes[0], changes[1] ** _POWER)
    cycle = 1 if d == 1 else 2
    if len(changes) < 2 + cycle:  # all that is known is whether they shrink
        return result, bent or bool(np.max(changes[1]) > np.max(changes[-1]))
    now = np.max(changes[2 - cycle : 2], 0)
    slow = bent | (now > np.max(changes[2 : 2 + cycle], 0) ** _POWER)
    return np.where(slow, np.max([result, changes[1] / 2, changes[2] / 4], 0), result), slow


def _together(errors: Array, changes: list[Array]) -> Array:
    """Return errors of numbers that have not settled: as far off as any of them changed.

    One may change little by chance.
    """
    unsettled = np.max(errors, initial=0.0) > _USUAL
    return np.maximum(errors, np.max(changes)) if unsettled and changes else errors


def _integral(
    lattices: list[Lattice], estimates: Array, errors: Array, least: Array | float
) -> Integral:
    weights, numbers, log_total = _weighted(lattices)
    logs = np.concatenate(
        [
            np.where(lattice.coarser, lattice.logs + lattice.log_coarser_cell, -np.inf)
            for lattice in lattices
        ]
    )
    logs = np.where(np.isnan(logs), -np.inf, logs)
    k = numbers.shape[1]
    exists = ~np.isnan(errors)
    unit = np.maximum(estimates[1 + k :], least)
    rounding = np.finfo(float).eps * np.abs(estimates[1 : 1 + k]) / np.where(unit > 0, unit, 1.0)
    return Integral(
        tuple(lattices),
        numbers,
        weights,
        np.exp(logs - logsumexp(logs)),
        log_total,
        float(errors[0]),
        np.where(exists, estimates, np.nan)[1 : 1 + k],
        np.where(exists, estimates, np.nan)[1 + k :],
        unit,
        errors[1 : 1 + k] + rounding,
        errors[1 + k :] + rounding,
    )
