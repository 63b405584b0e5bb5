"""The integral of a positive function of a few numbers, its moments, and how far off they are."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.numerics import Array
from bayesmodels.numerics.islands import Island, Search, shares, stretched
from bayesmodels.numerics.lattice import Function, Lattice, Unbounded, cubic

_DEPTH, _DEEPER, _DEEPEST = 20.0, 4.0, 120.0  # of the floor, below the top
_FIRST_STEP = 2.0
_QUARTERS = (0.25, 0.75)
_MOST = 3_000_000
_MORE, _CHEAP, _SOON = 2, 20_000, 0.5  # refinements for quantiles, if few points and seconds do
_EXPLORED, _CLIMBED = 400, 10  # points of each set of starts, and those that are climbed from
_SPREADS = (0.1, 30.0)
_STAYS = 0.8  # part of a moment beyond the floor which is left when the floor sinks
_POWER = 1.5  # an analytic function's error is squared each time; this is on the safe side


class NotSettled(Exception):  # noqa: N818 - said in other words to the user
    """An integral that is not known as well as is asked for, and why."""


@dataclass(frozen=True, eq=False)
class Integral:
    """Points with weights that add up to one, and estimates with their errors.

    `numbers` are those carried along, of shape (points, k). Beside `weights` there are `before`,
    those of the lattice before the last refinement. The errors are of the log integral, and of
    means and standard deviations in units of the latter; NaN where a moment does not exist.
    """

    lattices: tuple[Lattice, ...]
    numbers: Array
    weights: Array
    before: Array
    log_total: float
    log_error: float
    mean: Array
    sd: Array
    mean_error: Array
    sd_error: Array

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

    def points_at(self, chosen: NDArray[np.intp]) -> Array:
        """Return the points x with some numbers."""
        each = [lattice.frame.points(lattice.coordinates)[0] for lattice in self.lattices]
        return np.concatenate(each)[chosen] if each else np.zeros((len(chosen), 0))


def integral(
    f: Function, start: Array, tolerance: float, seconds: float, rng: np.random.Generator
) -> Integral:
    """Integrate a function until its log integral, means and deviations have settled.

    Raises
    ------
    NotSettled
        If they have not within `seconds` of computing or so many points that memory ends.
    Unbounded
        If the mass grows without end.
    """
    end = time.thread_time() + seconds
    if not len(start):
        return _point(f)
    islands = _islands(f, start, rng)
    top = islands[0].log_mass
    some = [i for i in islands if i.log_mass > top - _DEPTH]
    lattices = []
    for k, island in enumerate(some):
        own = f if len(some) == 1 else _shared(f, some, k)
        frame = stretched(own, island, _DEPTH)
        lattices.append(cubic(own, frame, top - _DEPTH, _DEPTH, _MOST, _FIRST_STEP))
    history: list[Array] = []
    exists, each = np.ones(1 + 2 * lattices[0].carried.shape[1], dtype=bool), 0.0
    more = 0
    while True:
        lattices, found, beyond = _lowered(lattices, exists, tolerance / 4)
        history.append(found)
        unknown = sum(float(np.exp(one.log_unknown() - found[0])) for one in lattices)
        errors = _errors(history) + beyond + unknown
        error = float(np.max(errors[exists]))
        size, number = sum(map(len, lattices)), sum(lattice.finer() for lattice in lattices)
        needs, left = number * each, end - time.thread_time()
        if error <= tolerance:
            # Quantiles settle later: between the points of a lattice less is known than in sum.
            more += 1
            if more > _MORE or number > _CHEAP or needs > _SOON:
                return _integral(lattices, found, np.where(exists, errors, np.nan))
        if number > _MOST or needs > left or any(lattice.finest for lattice in lattices):
            raise NotSettled(f"with {size:,} points an error of {error:.1g} is left")
        begun = time.thread_time()
        lattices = [lattice.refined(_MOST) for lattice in lattices]
        each = (time.thread_time() - begun) / max(sum(map(len, lattices)) - size, 1)


def _point(f: Function) -> Integral:
    """Return the value of a function of no number at all."""
    logs, numbers = f(np.zeros((1, 0)))
    if not np.isfinite(logs[0]):
        raise NotSettled("no point was found at which the density is positive")
    one, zero = np.ones(1), np.zeros(numbers.shape[1])
    return Integral((), numbers, one, one, float(logs[0]), 0.0, numbers[0], zero, zero, zero)


def _islands(f: Function, start: Array, rng: np.random.Generator) -> list[Island]:
    """Return where the mass is; refuse if two sets of starts do not agree about it.

    A third and a fourth set decide whether an island that only one of two has found is the last.
    """
    search = Search(f)
    for number in range(4):
        new = search.add(*_starts(f, start, rng))
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


def _starts(f: Function, start: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return points to climb from: the best of many, and some others."""
    d = len(start)
    spread = np.exp(rng.uniform(*map(math.log, _SPREADS), size=(_EXPLORED, 1)))
    points = start + spread * rng.standard_normal((_EXPLORED, d))
    values = f(points)[0]
    order = np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")
    possible = order[values[order] > -np.inf]
    chosen = [*possible[: _CLIMBED // 2], *rng.permutation(possible)[: _CLIMBED // 2]]
    starts = np.concatenate([start[None], points[chosen]])
    return starts, np.ones(d)


def _shared(f: Function, islands: list[Island], k: int) -> Function:
    """Return an island's part of a function."""

    def own(x: Array) -> tuple[Array, Array]:
        logs, carried = f(x)
        return logs + shares(islands, x)[k], carried

    return own


def _lowered(
    lattices: list[Lattice], exists: NDArray[np.bool_], tolerance: float
) -> tuple[list[Lattice], Array, Array]:
    """Lower the floor until what is beyond it is less than the tolerance.

    Return estimates too, and what is beyond. A moment of which the part beyond does not shrink
    does not exist, which is marked.
    """
    found, beyond = _estimates(lattices, exists)
    while (beyond[exists] > tolerance).any():
        depth = found[0] - lattices[0].floor
        if sum(map(len, lattices)) > _MOST:
            raise NotSettled(f"{_MOST:,} points do not reach to where the density is negligible")
        lattices = [lattice.with_floor(lattice.floor - _DEEPER, _MOST) for lattice in lattices]
        before = beyond
        found, beyond = _estimates(lattices, exists)
        stays = (beyond > tolerance) & (beyond > _STAYS * before) & exists
        if stays[0] or depth > _DEEPEST:
            number = int(np.abs(lattices[0].places).max(0).argmax())
            raise Unbounded(int(np.abs(lattices[0].frame.root[:, number]).argmax()))
        if stays.any():
            exists[stays] = False
            k = (len(exists) - 1) // 2
            exists[1 + k :] &= exists[1 : 1 + k]  # no deviation without a mean
            found, beyond = _estimates(lattices, exists)
    return lattices, found, beyond


def _estimates(lattices: list[Lattice], exists: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return log integral, means and deviations in one row; and the parts of them at the border.

    The latter are in units: of a mean the deviation, of a deviation itself. Where there is no
    deviation, it is about as far as half of the mass reaches.
    """
    weights, numbers, log_total = _weighted(lattices)
    mean, sd = _moments(weights, numbers)
    k = len(mean)
    for column in np.flatnonzero(~exists[1 + k :]):
        order = np.argsort(numbers[:, column])
        ends = np.searchsorted(np.cumsum(weights[order]), _QUARTERS)
        sd[column] = np.ptp(numbers[order[ends], column])
    halo = np.concatenate([lattice.halo for lattice in lattices])
    gap = np.abs(numbers[halo] - mean) / np.where(sd > 0, sd, 1.0)
    own = weights[halo]
    parts = np.concatenate([[own.sum()], own @ gap, own @ gap**2])
    return np.concatenate([[log_total], mean, sd]), 2 * parts


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


def _errors(history: list[Array]) -> Array:
    """Return errors of the last estimates, from how they changed with the last refinements.

    One refinement may leave an error as it is, in one direction; two do not.
    """
    if len(history) < 3:  # noqa: PLR2004 - two differences
        return np.full(len(history[0]), np.inf)
    k = (len(history[0]) - 1) // 2
    sd = history[-1][1 + k :]
    unit = np.where(sd > 0, sd, 1.0)
    last, one_before = (
        np.abs(a - b) / np.concatenate([[1.0], unit, unit])
        for a, b in zip(history[-1:-3:-1], history[-2:-4:-1], strict=True)
    )
    return np.maximum(last, one_before**_POWER)


def _integral(lattices: list[Lattice], found: Array, errors: Array) -> Integral:
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
    return Integral(
        tuple(lattices),
        numbers,
        weights,
        np.exp(logs - logsumexp(logs)),
        log_total,
        float(errors[0]),
        np.where(exists, found, np.nan)[1 : 1 + k],
        np.where(exists, found, np.nan)[1 + k :],
        errors[1 : 1 + k],
        errors[1 + k :],
    )
