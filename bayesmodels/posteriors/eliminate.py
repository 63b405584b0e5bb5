"""Finite variables of a joint density, summed out.

A log density is a sum; the graph shows which elements each summand has. Elements that meet no
continuous one are eliminated one after the other, by tables of few elements each: those that meet
in no summand move together, so a chain of any length takes as many evaluations as two of its
elements. All others are one clique: of each configuration there is a number, and what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import (
    MOST,
    Elimination,
    Integers,
    Merge,
    Plan,
    Tables,
    TooWide,
)
from bayesmodels.numerics.sparse_cholesky import least_colours
from bayesmodels.posteriors.factor_graph import Dependence, connected
from bayesmodels.posteriors.families import Additive, Elements, Factor, additive, same_kinds
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.independent import AGAIN, FIRST, Looks
from bayesmodels.posteriors.points import moved
from bayesmodels.posteriors.support import listed

MOST_TRIED, MOST_WITH_OTHERS = 2**15, 2**10
"""Configurations of which a possible one is looked for; and that are enumerated."""
MOST_ADDED_UP = 2**12
_FEW = 3  # elements from which on adding up takes less than solving for all
_MOST_LOST = 1e5  # of digits, where large parameters add up to small ones
_MOST_COLOURS = 62
_MOST_LOOKS = 2**15  # evaluations of the density, for all tables
_FLATTER = 10.0  # logs are divided by it where levels need not be probable

Solve = Callable[[Levels, Looks], tuple[list[Factor], float] | None]
"""From a configuration to the laws of all that depends on it and the log of what it weighs, each
compared with the joint density; None if it is impossible."""
Given = list[tuple[NDArray[np.intp], list[Factor]]]
"""Numbers of draws, and the laws given these."""


@dataclass(frozen=True, eq=False)
class Finite:
    """Elements of finite variables: the tables of their log density, and their sum.

    Those of one clique are one node, whose level is the number of a possible configuration: a row
    of `configurations`, in levels counted from zero. Given it there are `factors`, which may have
    `losses` times the rounding error of their own parameters. A weight was added up from so many
    `changes` of the log density.
    """

    elements: Elements
    sum: Elimination
    configurations: Levels | None = None
    factors: Sequence[list[Factor]] = ()
    losses: Array | None = None
    changes: int = 1

    def _nodes(self, levels: Levels) -> Levels:
        """Return the levels of nodes; none if a configuration is impossible."""
        if self.configurations is None:
            return levels
        return np.flatnonzero((self.configurations == levels).all(-1))[:1]

    def at(self, levels: Levels) -> tuple[float, list[Factor]]:
        """Return the log probability of levels, and the laws given them."""
        nodes = self._nodes(levels)
        if not len(nodes):
            return -np.inf, []
        return self.sum.log_probability(nodes), self.factors[nodes[0]] if self.factors else []

    def loss(self, levels: Levels) -> float:
        """How many times the rounding error of their own parameters laws may have."""
        nodes = self._nodes(levels)
        return 1.0 if self.losses is None or not len(nodes) else float(self.losses[nodes[0]])

    def probabilities(self) -> Array:
        """Return how probable each level of each element is."""
        single: Array = self.sum.probabilities()[0]
        if self.configurations is None:
            return single
        mass = np.zeros((len(self.elements), int(self.configurations.max(initial=0)) + 1))
        for column, levels in enumerate(self.configurations.T):
            np.add.at(mass[column], levels, single[0])
        return mass

    def sample(self, draws: int, rng: np.random.Generator) -> tuple[Levels, Given]:
        """Return independent draws of the levels; and which of them have which laws given them."""
        nodes = self.sum.sample(draws, rng)
        if self.configurations is None:
            return nodes, []
        which = nodes[:, 0]
        by_level = [(np.flatnonzero(which == k), self.factors[k]) for k in np.unique(which)]
        return self.configurations[which], by_level

    def anywhere(self, rng: np.random.Generator) -> Levels:
        """Return possible levels that need not be probable."""
        if self.configurations is None:
            return self._flatter.sample(1, rng)[0]
        return self.configurations[rng.integers(len(self.configurations))]

    @cached_property
    def _flatter(self) -> Elimination:
        tables = {w: table / _FLATTER for w, table in self.sum.tables.items()}
        return Elimination(self.sum.plan, tables)

    def mode(self) -> Levels:
        """Return the most probable levels of all, of elements that are not one clique."""
        return Elimination(self.sum.plan, self.sum.tables, largest=True).most_probable()[0]

    def sentence(self, names: str, owners: Callable[[Factor], str]) -> str:
        """Say what was done."""
        if self.configurations is None:
            return f"{names}: summed out one element after the other"
        sentence = f"{names}: {len(self.configurations)} possible configurations, each weighed"
        # Numbers differ from configuration to configuration.
        inner = [factor.sentence(owners(factor)).split(" with ")[0] for factor in self.factors[0]]
        return f"{sentence}; given them {'; '.join(inner)}" if inner else sentence


@dataclass(frozen=True, eq=False)
class _Kind:
    """Summands whose elements have the same colours: which they are, and the tables they add to.

    `tables` are the places of these among all of their width, and `ways` the order of their axes.
    """

    colours: Integers
    summands: Integers
    merge: Merge
    scopes: Levels
    ways: list[tuple[Integers, tuple[int, ...]]]


class FiniteTables:
    """Which finite elements meet in the summands of a log density, and how to sum them out.

    Of `rows`, a sparse matrix, each has the elements of a summand. `names` are in messages.
    """

    def __init__(self, rows: Any, sizes: Levels, names: str) -> None:
        self.sizes, self.most = sizes, int(sizes.max())
        nonempty = np.flatnonzero(rows.sum(1))
        rows = rows[nonempty]
        rows.sort_indices()
        linked = rows.T @ rows
        self._colour = colour = least_colours(linked.indptr, linked.indices)
        if colour.max() >= _MOST_COLOURS:
            raise NotConjugate(
                f"too many elements of {names} depend on each other to be summed out."
            )
        masks, mask = np.unique(rows @ (1 << colour), return_inverse=True)
        self._kinds = list[_Kind]()
        for number, bits in enumerate(masks):
            own = np.flatnonzero(mask == number)
            colours = np.flatnonzero(bits >> np.arange(_MOST_COLOURS) & 1)
            scope = rows[own].indices.reshape(len(own), len(colours))
            merge = Merge.of(scope)
            scope = scope[merge.order[merge.first]]
            rank = np.argsort(np.argsort(colour[scope], axis=1), axis=1)
            kinds = Merge.of(rank)
            ways = [
                (some, tuple(map(int, rank[some[0]])))
                for some in np.split(kinds.order, kinds.first[1:])
            ]
            self._kinds.append(_Kind(colours, nonempty[own], merge, scope, ways))
        width = max([0, *(len(kind.colours) for kind in self._kinds)])
        self.looks = int(sum(float(self.most) ** len(kind.colours) for kind in self._kinds))
        if self.looks > _MOST_LOOKS:
            raise NotConjugate(
                f"summands of the log density have up to {width} elements of {names}: it would be "
                f"evaluated {self.looks:.3g} times; at most {_MOST_LOOKS:,} times is it."
            )
        each = np.arange(len(sizes))[:, None]
        parts = {1: [each]}  # which say what levels there are
        for kind in self._kinds:
            parts.setdefault(len(kind.colours), []).append(kind.scopes)
        self._merges = {w: Merge.of(np.concatenate(own)) for w, own in parts.items()}
        self.scopes = {
            w: np.concatenate(parts[w])[m.order[m.first]] for w, m in self._merges.items()
        }
        self._outside = np.where(np.arange(self.most) < sizes[:, None], 0.0, -np.inf)
        try:
            self.plan = Plan(self.scopes, len(sizes), self.most)
        except TooWide as error:
            raise NotConjugate(
                f"to sum out {names} one after the other takes tables of {error.elements} elements "
                f"with {error.numbers:.3g} numbers, as too many depend on each other; at most "
                f"{MOST:,} are held."
            ) from error

    def _levels(self, kind: _Kind) -> Iterator[Levels]:
        for level in product(range(self.most), repeat=len(kind.colours)):
            of_colour = np.zeros(_MOST_COLOURS, dtype=int)
            of_colour[kind.colours] = level
            yield np.minimum(of_colour[self._colour], self.sizes - 1)

    def every(self) -> Levels:
        """Return the levels at which summands are looked at, (looks, elements)."""
        return np.array([levels for kind in self._kinds for levels in self._levels(kind)])

    def evaluated(self, values: Callable[[Levels], Array]) -> Tables:
        """Return tables, given the summands' values at any levels; in a batch of one."""
        reduced = []
        for kind in self._kinds:
            each = [kind.merge.added(values(at)[None, kind.summands]) for at in self._levels(kind)]
            reduced.append(np.stack(each, axis=1))
        return self._put_together(reduced)

    def of(self, values: Array) -> Tables:
        """Return tables, given the summands' values at all levels, (batch, looks, summands)."""
        reduced = []
        for kind, at in self._slices():
            each = values[:, at][:, :, kind.summands]
            flat = kind.merge.added(each.reshape(-1, each.shape[2]))
            reduced.append(flat.reshape(*each.shape[:2], -1))
        return self._put_together(reduced)

    def _slices(self) -> Iterator[tuple[_Kind, slice]]:
        start = 0
        for kind in self._kinds:
            end = start + self.most ** len(kind.colours)
            yield kind, slice(start, end)
            start = end

    def _put_together(self, reduced: list[Array]) -> Tables:
        """Return tables from the values of each kind at its levels, (batch, levels, tables)."""
        batch = len(reduced[0]) if reduced else 1
        parts = {1: [np.broadcast_to(self._outside, (batch, *self._outside.shape))]}
        for kind, each in zip(self._kinds, reduced, strict=True):
            w = len(kind.colours)
            table = np.moveaxis(each, 2, 1).reshape(batch, -1, *[self.most] * w)
            for rows, way in kind.ways:
                table[:, rows] = table[:, rows].transpose(0, 1, *(2 + np.array(way)))
            parts.setdefault(w, []).append(table)
        return {w: m.added(np.concatenate(parts[w], 1)) for w, m in self._merges.items()}

    def slopes(self, tables: Tables, number: int) -> Array:
        """Return slopes by the summands' values at all levels, from those by the tables."""
        batch = len(next(iter(tables.values())))
        result = np.zeros((batch, self.looks, number))
        at = {w: len(self.sizes) if w == 1 else 0 for w in self._merges}
        for kind, rows in self._slices():
            w, n = len(kind.colours), len(kind.scopes)
            place = self._merges[w].inverse[at[w] : at[w] + n]
            at[w] += n
            table = tables[w][:, place]
            for members, way in kind.ways:
                table[:, members] = table[:, members].transpose(0, 1, *(2 + np.argsort(way)))
            each = np.moveaxis(table.reshape(batch, n, -1), 1, 2)[:, :, kind.merge.inverse]
            result[:, rows, kind.summands] = each
        return result


@dataclass(frozen=True, eq=False)
class Groups:
    """How finite elements depend on each other and on continuous ones.

    Those `independent` meet no continuous one; those `joined` are enumerated together, and are
    `separate` if no factor has two of them. `moves` says which continuous elements meet a finite
    one in some factor.
    """

    independent: Elements
    joined: Elements
    moves: NDArray[np.bool_]
    separate: bool


def finite_groups(field: Field, dependence: Dependence) -> Groups:
    """Return which finite elements meet in factors of the joint density, as its graph shows."""
    n = len(field.sizes)
    everything = np.arange(n)
    if n == 0:
        return Groups(everything, everything, np.zeros(field.size, dtype=bool), separate=True)
    meetings = dependence.meetings
    finite, others = meetings[:, field.size :], meetings[:, : field.size]
    touched = np.flatnonzero(finite[others.sum(1) > 0].sum(0))
    joint = csr_array((np.ones(len(touched)), (0 * touched, touched)), shape=(1, n))
    linked = finite.T @ finite + joint.T @ joint
    groups = connected(linked)
    connected_groups = [group for group in groups if np.isin(touched, group).any()]
    joined = np.concatenate(connected_groups) if connected_groups else everything[:0]
    independent = np.setdiff1d(everything, joined)
    separate = bool((finite[:, joined].sum(1) <= 1).all())
    return Groups(independent, joined, others[finite.sum(1) > 0].sum(0) > 0, separate)


def _solved(
    field: Field, solve: Solve, levels: Levels, looks: Looks
) -> tuple[list[Factor], float] | None:
    """Solve for one of several configurations, and name it where that fails."""
    try:
        return solve(levels, looks)
    except NotConjugate as error:
        if looks == FIRST:
            raise  # whatever the configuration
        values = field.variables(np.zeros(field.size), levels)
        where = ", ".join(f"{s.name} = {values[s.name].tolist()}" for s in field.finite)
        raise NotConjugate(f"with {where}, {error.reason}", error.hint) from error


def configurations(field: Field, elements: Elements, most: int) -> Levels:
    """Return all configurations of some finite elements, if there are at most so many."""
    sizes = field.sizes[elements]
    with np.errstate(over="ignore"):
        number = float(np.prod(sizes.astype(float)))
    if number > most:
        names = listed(s.name for s in field.finite)
        raise NotConjugate(
            f"there are {number:.3g} configurations of {names}, whose elements depend on each "
            f"other or on other variables; at most {most} are enumerated.",
            "bm.integrate(model) and bm.exact(model, partial=True) may sum them out one after the "
            "other.",
        )
    return np.array(list(product(*(range(size) for size in sizes))), dtype=int)


def enumerated(field: Field, elements: Elements, levels: Levels, solve: Solve) -> Finite:
    """Weigh every configuration of some finite elements, solving for what depends on them."""
    table = configurations(field, elements, MOST_WITH_OTHERS)
    names = ", ".join(s.name for s in field.finite)
    field.ask(sum(AGAIN) * len(table), f"{len(table):,} configurations of {names}")
    weights = np.full(len(table), -np.inf)
    factors: list[list[Factor]] = [[] for _ in table]
    for number, row in enumerate(table):
        here = levels.copy()
        here[elements] = row
        solution = _solved(field, solve, here, AGAIN if any(factors) else FIRST)
        if solution is not None:
            factors[number], weights[number] = solution
    kept = np.flatnonzero(np.isfinite(weights))
    total = _clique(weights[kept])
    return Finite(elements, total, table[kept], [factors[i] for i in kept])


def _clique(log_weights: Array) -> Elimination:
    """Return the sum over one node, whose levels are configurations."""
    plan = Plan({1: np.zeros((1, 1), dtype=int)}, 1, len(log_weights))
    return Elimination(plan, {1: (log_weights - logsumexp(log_weights))[None, None]})


def value_at(field: Field, x: Array, levels: Levels) -> float:
    """Return the joint log density, which may be minus infinity but else must be a number."""
    value, _ = field(x, levels)
    if np.isnan(value) or value == np.inf:
        names = ", ".join(s.name for s in field.finite)
        raise NotConjugate(f"the joint density is not finite at some values of {names}.")
    return value


def added_up(
    field: Field,
    elements: Elements,
    x: Array,
    levels: Levels,
    solve: Solve,
    rng: np.random.Generator,
) -> Finite | None:
    """Solve for one value of one element at a time and add up; None if that does not hold.

    Given the continuous variables, the finite ones must be separate factors of the density. Then
    its log is that at `levels` plus one change for each element, and so are natural parameters:
    if each change on its own leads from a closed form to one of the same kind, so do all together.
    """
    if len(elements) < _FEW:
        return None
    sizes = field.sizes[elements]
    table = configurations(field, elements, MOST_ADDED_UP)
    solved = solve(levels, FIRST)
    if solved is None or not additive(solved[0]):
        return None
    base = solved[0]
    x = x.copy()
    for factor in base:  # a point where densities are neither large nor small
        x[factor.elements] = factor.sample(1, rng)[0]
    base_value, _ = field(x, levels)
    centres = [factor.mode() for factor in base]
    start, own = _row("natural", base, centres), _row("magnitudes", base, centres)
    values = [np.zeros(size) for size in sizes]
    changes = [np.zeros((size, len(start))) for size in sizes]
    errors = [np.zeros((size, len(start))) for size in sizes]
    for k, size in enumerate(sizes):
        for level in set(range(size)) - {int(levels[elements[k]])}:
            here = levels.copy()
            here[elements[k]] = level
            solution = _solved(field, solve, here, AGAIN)
            if solution is None or not same_kinds(solution[0], base):
                return None
            values[k][level] = field(x, here)[0] - base_value
            changes[k][level] = _row("natural", solution[0], centres) - start
            errors[k][level] = _row("magnitudes", solution[0], centres) + own
    weights, losses, factors = np.empty(len(table)), np.ones(len(table)), []
    for number, row in enumerate(table):
        each = list(enumerate(row))
        added = start + np.sum([changes[k][level] for k, level in each], axis=0)
        own_factors = _like(base, added, centres)
        size = own + np.sum([errors[k][level] for k, level in each], axis=0)
        losses[number] = max(1.0, float((size / _row("magnitudes", own_factors, centres)).max()))
        density = sum(float(factor.log_density(x[factor.elements])) for factor in own_factors)
        weights[number] = sum(values[k][level] for k, level in each) - density
        factors.append(list[Factor](own_factors))
    if losses.max() > _MOST_LOST:
        return None
    return Finite(elements, _clique(weights), table, factors, losses, 2 * len(elements) + 1)


def _row(verb: str, factors: list[Additive], centres: list[Array]) -> Array:
    """Return the "natural" parameters of all in one row, or their "magnitudes"."""
    pairs = zip(factors, centres, strict=True)
    return np.concatenate([np.ravel(x) for factor, at in pairs for x in getattr(factor, verb)(at)])


def _like(factors: list[Additive], row: Array, centres: list[Array]) -> list[Additive]:
    """Return factors of the same kinds with other natural parameters."""
    result, start = list[Additive](), 0
    for factor, at in zip(factors, centres, strict=True):
        parts = []
        for part in factor.natural(at):
            parts.append(row[start : start + np.size(part)].reshape(np.shape(part)))
            start += np.size(part)
        result.append(factor.with_natural(tuple(parts), at))
    return result


def summed_out(
    field: Field, dependence: Dependence, elements: Elements, x: Array, levels: Levels
) -> Finite:
    """Return the law of finite elements that meet no continuous one in any summand."""
    names = listed(dict.fromkeys(field.finite[i].name for i in field.finite_owner[elements]))
    summands = dependence.summands()
    form = FiniteTables(summands.rows[:, field.size + elements], field.sizes[elements], names)
    field.ask(form.looks, f"summing out {names}")
    tables = form.evaluated(lambda row: summands.values(*field.at(x, moved(levels, elements, row))))
    if any(np.isnan(table).any() or (table == np.inf).any() for table in tables.values()):
        raise NotConjugate(f"the joint density is not finite at some values of {names}.")
    total = Elimination(form.plan, tables)
    if not np.isfinite(total.log_total[0]):
        raise NotConjugate(f"all configurations of {names} are impossible.")
    return Finite(elements, total)
