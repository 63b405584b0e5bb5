"""A joint log density with some variables held, and the points at which it has to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pytensor.compile.mode import Mode
from pytensor.graph.replace import vectorize_graph
from scipy.sparse import csr_array

from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.budget import Budget
from bayesmodels.posteriors.density import (
    LIGHTER,
    LIGHTEST,
    WRITTEN_OUT,
    compiled,
    frozen,
)
from bayesmodels.posteriors.factor_graph import connected
from bayesmodels.posteriors.gradient import Field, Point
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.nowhere import nowhere
from bayesmodels.posteriors.support import supports
from bayesmodels.posteriors.support.kind import Support
from bayesmodels.posteriors.zero_sum import ZeroSum, in_coordinates, zero_sums

Group = list[tuple[str, int]]
"""Elements of finite variables: names and places."""

# Sums of more than 32 parts stay as they are: Python's elementwise add takes no more.
SUMS = ("local_add_canonizer", "local_sum_make_vector")
_FAST: Any = Mode(linker="py", optimizer="fast_compile")
LIGHT_MODE = _FAST.excluding(*SUMS).register((WRITTEN_OUT, -1), (LIGHTER, 100))
"""In Python, without what is slow there."""
_FULL: Any = Mode(linker="py", optimizer="fast_run")
# Fused loops and powers would run in Python; slices of more than 127 elements may not be merged.
_FUSED = ("fusion", "add_mul_fusion", "local_pow_to_nested_squaring")
_NOT = (*_FUSED, "inplace", "BlasOpt", "local_subtensor_merge_slice", *SUMS)
BATCH_MODE = _FULL.excluding(*_NOT).register((WRITTEN_OUT, -1), (LIGHTEST, 100))
"""Whole arrays at a time in NumPy."""
_TRIES, _LEAST, _STAYS, _TRIES_EACH = 100, 0.01, 0.5, 30
_POINTS, _DECADES, _FEW = 3, 4, 10
MOST_RESTS, MOST_ONE_BY_ONE = 2**13, 2**9
"""Configurations of finite variables that remain, for each of which a block's law is looked at: all
at once, and one by one."""
BATCHED = 30
"""Points from which on they are looked at all at once."""


class Conditionals:
    """A model's joint log density with any of its variables held at given values.

    Of the `original` model those variables that sum to zero that are in `sums`, all by default, are
    their coordinates in `model`. `finite` has the supports of variables with few values. The
    density is derived when it is first asked for: if finite variables are summed out and all others
    stay as they are, not in these coordinates too.
    """

    def __init__(
        self, model: pm.Model, budget: Budget, sums: dict[str, ZeroSum] | None = None
    ) -> None:
        self.zero_sums = zero_sums(model) if sums is None else sums
        self.original, model = model, in_coordinates(frozen(model), self.zero_sums)
        self.model = model
        self.budget = budget
        self._known = {s.name: s for s in supports(model, all_known=False)}
        self.finite = {n: s for n, s in self._known.items() if s.finite and s.size}

    @cached_property
    def density(self) -> ModelDensity:
        """The joint density, with slopes by the variables that may be in a block."""
        wanted = [n for n, s in self._known.items() if s.kind.families and s.size]
        return ModelDensity(self.model, by=wanted, budget=self.budget)

    @cached_property
    def supports(self) -> dict[str, Support]:
        """The supports of the variables that may be in a block."""
        return {name: self._known[name] for name in self.density.names}

    @cached_property
    def reasons(self) -> dict[str, str]:
        """Why other variables may not be in a block."""
        return dict(self.density.reasons)

    def given(self, names: Sequence[str], rest: Mapping[str, NDArray[Any]]) -> Field:
        """Return the field over some variables, with all others held."""
        return Field(self.density, [self.supports[name] for name in names], [], rest)

    def somewhere(self, rng: np.random.Generator) -> Point:
        """Return a point with a finite density, near where PyMC's samplers start."""
        start = self._start
        for reach in np.linspace(1, _LEAST, _TRIES):  # the later the nearer
            moved = {
                name: value + reach * rng.uniform(-1, 1, np.shape(value))
                if np.asarray(value).dtype.kind == "f"
                else value
                if reach > _STAYS
                else self._next(name, value, rng.random(np.shape(value)) < reach)
                for name, value in start.items()
            }
            point = self._natural(moved)
            if self.possible(point):
                return point
        raise nowhere(self.density, point)

    def _next(self, name: str, value: NDArray[Any], moves: NDArray[np.bool_]) -> NDArray[Any]:
        """Return whole numbers that are one larger, where that is possible."""
        if name not in self.finite:
            return value + moves
        s = self.finite[name]
        return s.lowest + (value - s.lowest + moves) % s.levels

    @cached_property
    def _natural(self) -> Any:
        return natural_values(self.model)

    @cached_property
    def _start(self) -> Point:
        return self.model.initial_point(random_seed=0)

    @property
    def start(self) -> Point:
        """Where PyMC's samplers start: by default at the means or medians of priors."""
        return self._natural(self._start)

    def possible(self, point: Point) -> bool:
        """Whether the joint density is finite at a point."""
        try:
            return bool(np.isfinite(self.density.slopes(point)[0]))
        except NotConjugate:
            return False

    @cached_property
    def meetings(self) -> tuple[Any, dict[str, NDArray[np.intp]]]:
        """Which elements meet in a summand, and which columns are those of each variable."""
        point = self.somewhere(np.random.default_rng(0))
        return self.density.dependence(point).meetings, self.density.columns(point)

    def _rows(self, names: Iterable[str]) -> Any:
        """Return which elements meet, in those summands that have some variables."""
        meetings, columns = self.meetings
        return meetings[meetings[:, np.concatenate([columns[name] for name in names])].sum(1) > 0]

    @property
    def _integers(self) -> list[str]:
        """Variables that are whole numbers."""
        return [p.name for p in self.density.points if np.dtype(p.dtype).kind in "iub"]

    def linked(self, names: Sequence[str]) -> Any:
        """Return which elements of variables meet in a summand that has whole numbers too."""
        size = sum(self.supports[name].size for name in names)
        if not self._integers:
            return csr_array((size, size), dtype=bool)
        _, columns = self.meetings
        rows = self._rows(self._integers)[:, np.concatenate([columns[name] for name in names])]
        return csr_array(rows.T @ rows > 0)

    def unbounded(self, names: Sequence[str]) -> list[str]:
        """Return whole numbers without a known range that meet variables in a summand."""
        rows, (_, columns) = self._rows(names), self.meetings
        infinite = [name for name in self._integers if name not in self.finite]
        return [name for name in infinite if rows[:, columns[name]].nnz]

    def groups(self, names: Sequence[str], most: int = MOST_RESTS) -> list[Group]:
        """Return groups of finite elements that meet variables, and each other, in a summand."""
        rows, (_, columns_of) = self._rows(names), self.meetings
        places = [(name, i) for name, s in self.finite.items() for i in range(s.size)]
        columns = np.array([columns_of[name][i] for name, i in places], dtype=int)
        there = np.flatnonzero(rows[:, columns].sum(0))
        within = rows[:, columns[there]]
        groups = [[places[k] for k in there[group]] for group in connected(within.T @ within)]
        sizes = [[self.finite[name].levels for name, _ in group] for group in groups]
        with np.errstate(over="ignore"):
            total = 1 + sum(float(np.prod(np.array(each, dtype=float))) - 1 for each in sizes)
        if total > most:
            listed_names = ", ".join(dict.fromkeys(name for group in groups for name, _ in group))
            raise NotConjugate(
                f"the law of {', '.join(names)} would have to be looked at for {total:.3g} "
                f"configurations of {listed_names}; at most {most} are."
            )
        return groups

    def everywhere(
        self, names: Sequence[str], rng: np.random.Generator, most: int = MOST_RESTS
    ) -> list[Point]:
        """Return points at which the law of some variables given the others must be looked at.

        The log density is a sum, and so is what a closed form needs of it. So of finite variables
        in different summands, one has to take each of its values while the others stay; of those
        in the same summand all configurations are taken.
        """
        result = [self.somewhere(rng) for _ in range(_POINTS)]
        for each in self._configurations(names, rng, most):
            result += each
        if self.unbounded(names):
            result += self._far(rng)
        return result

    def impossible(self, names: Sequence[str], rng: np.random.Generator) -> bool:
        """Whether the density is zero wherever it was looked at for some configuration."""
        return not all(self._configurations(names, rng))

    def _configurations(
        self, names: Sequence[str], rng: np.random.Generator, most: int = MOST_RESTS
    ) -> Iterator[list[Point]]:
        for group in self.groups(names, most):
            rows = list(product(*(range(self.finite[name].levels) for name, _ in group)))
            points: list[Point | None] = [None] * len(rows)
            if len(rows) > BATCHED:  # at a few points of the others, all at once
                others = [self.somewhere(rng) for _ in range(_FEW)]
                tried = [self._at(others[i % _FEW], group, row) for i, row in enumerate(rows)]
                every = {name: np.stack([point[name] for point in tried]) for name in tried[0]}
                values = self.density.values(every)[0]
                pairs = zip(tried, np.isfinite(values), strict=True)
                points = [point if fine else None for point, fine in pairs]
            for row, point in zip(rows, points, strict=True):
                yield [point] if point else self._with(group, row, rng)

    def _with(self, group: Group, row: Sequence[int], rng: np.random.Generator) -> list[Point]:
        """Return a point with some finite elements at given levels; none if that is impossible."""
        for _ in range(_TRIES_EACH):
            point = self._at(self.somewhere(rng), group, row)
            if self.possible(point):
                return [point]
        return []

    def _at(self, others: Point, group: Group, row: Sequence[int]) -> Point:
        """Return a point with some finite elements at given levels."""
        point = {name: np.array(value) for name, value in others.items()}
        for (name, i), level in zip(group, row, strict=True):
            point[name].flat[i] = self.finite[name].lowest + level
        return point

    def _far(self, rng: np.random.Generator) -> list[Point]:
        """Return points at which whole numbers without a known range are large."""
        result = []
        for decade in range(_DECADES):
            point = dict(self.somewhere(rng))
            for p in self.density.points:
                if np.dtype(p.dtype).kind in "iu" and p.name not in self.finite:
                    more = rng.integers(0, 10 ** (decade + 1), np.shape(point[p.name]))
                    point[p.name] = point[p.name] + more
            result += [point] if self.possible(point) else []
        return result


def batched(points: Sequence[Any], outputs: Any) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return a function from values by name, one a row, to a graph's outputs, one a row."""
    rows: Any = {p: p.type.clone(shape=(None, *p.type.shape))(p.name) for p in points}
    run = compiled(list(rows.values()), vectorize_graph(outputs, rows), LIGHT_MODE)
    return lambda values: run(*(np.asarray(values[p.name], dtype=p.dtype) for p in points))


def natural_values(model: pm.Model) -> Any:
    """Return a function from PyMC's unconstrained values to all free variables by name."""
    names = [rv.name for rv in model.free_RVs]
    values = list(model.value_vars)
    run = compiled(values, model.replace_rvs_by_values(list(model.free_RVs)))

    def natural(point: Mapping[str, Any]) -> Point:
        with np.errstate(all="ignore"):
            result = run(*(np.asarray(point[v.name], dtype=v.dtype) for v in values))
        return {name: np.asarray(x) for name, x in zip(names, result, strict=True)}

    return natural
