"""Integrals over sets of coordinates that share no summand of a log function: each is alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import Function, Unbounded
from bayesmodels.numerics.lattice_integral import Integral, NotSettled
from bayesmodels.numerics.lattice_law import Table

_MOVE = 0.5  # of coordinates, to see which numbers depend on them


@dataclass(frozen=True, eq=False)
class Product:
    """A function of independent `sets` of coordinates, whose parts are integrated one by one.

    Points are those of all parts, one after the other, with all other coordinates in the `middle`,
    where the function's log is `log_middle`; the weights of each part add up to one. `columns` are
    the numbers that depend on each set.
    """

    parts: tuple[Integral, ...]
    sets: tuple[NDArray[np.intp], ...]
    columns: tuple[NDArray[np.intp], ...]
    middle: Array
    log_middle: float

    rung, error_kind, errors_from = Integral.rung, Integral.error_kind, Integral.errors_from
    precision = Integral.precision

    @property
    def how(self) -> str:
        """How the function was integrated."""
        return (
            f"integrated in {len(self.parts):,} independent sets, on lattices of {self.points:,} "
            "points in all"
        )

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(self.weights)

    @property
    def modes(self) -> int:
        """The largest number of modes of a part."""
        return max(part.modes for part in self.parts)

    @property
    def log_total(self) -> float:
        """The log integral: each part has the others' values in the middle once."""
        return sum(part.log_total - self.log_middle for part in self.parts) + self.log_middle

    @property
    def log_error(self) -> float:
        """How far off the log integral is."""
        return sum(part.log_error for part in self.parts)

    def less_sure(self, by: float) -> Product:
        """Return the same with larger errors, as of log values that may be off by so much."""
        return replace(self, parts=tuple(part.less_sure(2 * by) for part in self.parts))

    def _of_numbers(self, read: Callable[[Integral], Array]) -> Array:
        result = np.zeros(sum(map(len, self.columns)))
        for part, columns in zip(self.parts, self.columns, strict=True):
            result[columns] = read(part)
        return result

    def _of_points(self, read: Callable[[Integral], Array]) -> Array:
        return np.concatenate([read(part) for part in self.parts])

    @cached_property
    def mean(self) -> Array:
        """The means of the numbers."""
        return self._of_numbers(lambda part: part.mean)

    @cached_property
    def sd(self) -> Array:
        """The standard deviations."""
        return self._of_numbers(lambda part: part.sd)

    @cached_property
    def unit(self) -> Array:
        """The units of errors."""
        return self._of_numbers(lambda part: part.unit)

    @cached_property
    def mean_error(self) -> Array:
        """How far off the means are."""
        return self._of_numbers(lambda part: part.mean_error)

    @cached_property
    def sd_error(self) -> Array:
        """How far off the standard deviations are."""
        return self._of_numbers(lambda part: part.sd_error)

    @cached_property
    def weights(self) -> Array:
        """The weights of the points."""
        return self._of_points(lambda part: part.weights)

    def of_number(self, k: int) -> tuple[Integral, int]:
        """Return the part that a number depends on, and which of its numbers it is."""
        for part, columns in zip(self.parts, self.columns, strict=True):
            if k in columns:
                return part, int(np.flatnonzero(columns == k)[0])
        raise IndexError(k)

    def table(self, coordinate: int) -> Table:
        """Return the distribution function of a coordinate x."""
        number = next(i for i, own in enumerate(self.sets) if coordinate in own)
        return self.parts[number].table(int(np.flatnonzero(self.sets[number] == coordinate)[0]))

    def draws(self, number: int, rng: np.random.Generator) -> Array:
        """Return independent points x, (number, d)."""
        result = np.empty((number, len(self.middle)))
        for part, own in zip(self.parts, self.sets, strict=True):
            result[:, own] = part.draws(number, rng)
        return result

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """The number of each part's first point."""
        return np.cumsum([0, *(part.points for part in self.parts)])

    def number_of(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return to which part each of the chosen points belongs."""
        return np.searchsorted(self._starts, chosen, side="right") - 1

    def sublattices(self, close: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return points of lattices that are a step finer than has to be; and which have to be.

        The last one is the middle.
        """
        each = [part.sublattices(close / len(self.parts)) for part in self.parts]
        fine = [own + start for (own, _), start in zip(each, self._starts, strict=False)]
        return (
            np.append(np.concatenate(fine), self.points),
            np.append(np.concatenate([coarse for _, coarse in each]), True),
        )

    def log_ratio(
        self, chosen: NDArray[np.intp], coarse: NDArray[np.bool_], change: Array
    ) -> tuple[float, float]:
        """Return how the log integral changes with the log values at `sublattices`; its error."""
        which, middle = self.number_of(chosen), float(change[-1])
        total, error = middle, 0.0
        for number, (part, start) in enumerate(zip(self.parts, self._starts, strict=False)):
            own = which == number
            # Each has what the others change in the middle, which counts once.
            ratio, off = part.log_ratio(chosen[own] - start, coarse[own], change[own] - middle)
            total, error = total + ratio, error + off
        return total, error

    def points_at(self, chosen: NDArray[np.intp]) -> Array:
        """Return the points x with the chosen numbers; after all others comes the middle."""
        result, which = np.tile(self.middle, (len(chosen), 1)), self.number_of(chosen)
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(which == number)
            own = part.points_at(chosen[rows] - self._starts[number])
            result[rows[:, None], self.sets[number]] = own
        return result


def product(
    f: Function,
    sets: Sequence[NDArray[np.intp]],
    starts: Array,
    integrated: Callable[[Function, Array], Integral],
) -> Product:
    """Integrate over independent sets of coordinates, one by one.

    `integrated` is given the function of one set, up to a factor, and starts of it.
    """
    logs, _ = f(starts)
    logs = np.where(np.isfinite(logs), logs, -np.inf)
    middle, log_middle = starts[logs.argmax()], float(logs.max())
    if log_middle == -np.inf:
        raise NotSettled("no point was found at which the density is positive")
    moved = np.tile(middle, (len(sets) + 1, 1))
    for row, own in zip(moved, sets, strict=False):
        row[own] += _MOVE
    numbers = f(moved)[1]
    owner = (numbers[:-1] != numbers[-1]).argmax(0)  # the first one of what none moves
    columns = [np.flatnonzero(owner == number) for number in range(len(sets))]
    parts = []
    for own, which in zip(sets, columns, strict=True):

        def alone(
            x: Array, own: NDArray[np.intp] = own, which: NDArray[np.intp] = which
        ) -> tuple[Array, Array]:
            points = np.tile(middle, (len(x), 1))
            points[:, own] = x
            logs, numbers = f(points)
            return logs, numbers[:, which]

        try:
            parts.append(integrated(alone, starts[:, own]))
        except Unbounded as error:
            raise Unbounded(int(own[error.number])) from error
    return Product(tuple(parts), tuple(sets), tuple(columns), middle, log_middle)
