"""Finite variables by enumeration: every configuration, and what follows given it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import Arrays
from bayesmodels.posteriors.factor_graph import Dependence, connected
from bayesmodels.posteriors.families import Additive, Elements, Factor, additive, same_kinds
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.independent import AGAIN, FIRST, Looks
from bayesmodels.posteriors.support import listed

MOST_TRIED, MOST_WITH_OTHERS = 2**15, 2**10
"""Configurations of which a possible one is looked for; and that are enumerated."""
MOST_ADDED_UP = 2**12
_FEW = 3  # elements from which on adding up takes less than solving for all
_MOST_LOST = 1e5  # of digits, where large parameters add up to small ones

Solve = Callable[[Levels, Looks], tuple[list[Factor], float] | None]
"""From a configuration to the laws of all that depends on it and the log of what it weighs, each
compared with the joint density; None if it is impossible."""
Given = list[tuple[NDArray[np.intp], list[Factor]]]
"""Numbers of draws, and the laws given these."""


@dataclass(frozen=True, eq=False)
class Finite:
    """Elements of finite variables, with the laws of continuous elements given them.

    The table has the levels of one possible configuration a row, counted from zero. Given it
    there are `factors`, which may have `losses` times the rounding error of their own parameters. A
    weight was added up from so many `changes` of the log density.
    """

    elements: Elements
    table: Levels
    log_weights: Array
    factors: list[list[Factor]]
    losses: Array
    changes: int = 1

    def _given(self, levels: Levels) -> int:
        """Return the number of a configuration; -1 if it is impossible."""
        same = np.flatnonzero((self.table == levels).all(-1))
        return int(same[0]) if len(same) else -1

    def at(self, levels: Levels) -> tuple[float, list[Factor]]:
        """Return the log probability of levels, and the laws given them."""
        number = self._given(levels)
        if number < 0:
            return -np.inf, []
        return float(self.log_weights[number]), self.factors[number]

    def loss(self, levels: Levels) -> float:
        """How many times the rounding error of their own parameters laws may have."""
        number = self._given(levels)
        return float(self.losses[number]) if number >= 0 else 1.0

    def probabilities(self) -> Array:
        """Return how probable each level of each element is."""
        mass = np.zeros((len(self.elements), int(self.table.max(initial=0)) + 1))
        for column, levels in enumerate(self.table.T):
            np.add.at(mass[column], levels, np.exp(self.log_weights))
        return mass

    def sample(self, draws: int, rng: np.random.Generator) -> tuple[Levels, Given]:
        """Return independent draws of the levels; and which of them have which laws given them."""
        which = rng.choice(len(self.table), size=draws, p=np.exp(self.log_weights))
        given = [(np.flatnonzero(which == k), self.factors[k]) for k in np.unique(which)]
        return self.table[which], given

    def anywhere(self, rng: np.random.Generator) -> Levels:
        """Return possible levels, all equally likely."""
        return self.table[rng.integers(len(self.table))]

    def sentence(self, names: str, owners: Callable[[Factor], str]) -> str:
        """Say what was done."""
        sentence = f"{names}: {len(self.table)} possible configurations, each weighed"
        # Numbers differ from configuration to configuration.
        inner = [factor.sentence(owners(factor)).split(" with ")[0] for factor in self.factors[0]]
        return f"{sentence}; given them {'; '.join(inner)}" if inner else sentence


@dataclass(frozen=True, eq=False)
class Groups:
    """How finite elements depend on each other and on continuous ones.

    Those `alone` meet no continuous one; those `joined` are enumerated together, and are `separate`
    if no factor has two of them. `moves` says which continuous elements meet a finite one in some
    factor.
    """

    alone: Elements
    joined: Elements
    moves: NDArray[np.bool_]
    separate: bool


def finite_groups(field: Field, dependence: Dependence) -> Groups:
    """Return which finite elements meet in factors of the joint density, as its graph shows."""
    n = len(field.sizes)
    everything = np.arange(n)
    if n == 0:
        return Groups(everything, everything, np.zeros(field.size, dtype=bool), separate=True)
    met = dependence.meetings
    finite, others = met[:, field.size :], met[:, : field.size]
    touched = np.flatnonzero(finite[others.sum(1) > 0].sum(0))
    together = csr_array((np.ones(len(touched)), (0 * touched, touched)), shape=(1, n))
    linked = finite.T @ finite + together.T @ together
    groups = connected(linked)
    rest = [group for group in groups if np.isin(touched, group).any()]
    joined = np.concatenate(rest) if rest else everything[:0]
    alone = np.setdiff1d(everything, joined)
    separate = bool((finite[:, joined].sum(1) <= 1).all())
    return Groups(alone, joined, others[finite.sum(1) > 0].sum(0) > 0, separate)


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
        result = _solved(field, solve, here, AGAIN if any(factors) else FIRST)
        if result is not None:
            factors[number], weights[number] = result
    kept = np.flatnonzero(np.isfinite(weights))
    log_weights = weights[kept] - logsumexp(weights[kept])
    return Finite(
        elements, table[kept], log_weights, [factors[i] for i in kept], np.ones(len(kept))
    )


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
    start, own = _natural(base, centres), _magnitudes(base, centres)
    values = [np.zeros(size) for size in sizes]
    changes = [np.zeros((size, len(start))) for size in sizes]
    errors = [np.zeros((size, len(start))) for size in sizes]
    for k, size in enumerate(sizes):
        for level in set(range(size)) - {int(levels[elements[k]])}:
            here = levels.copy()
            here[elements[k]] = level
            result = _solved(field, solve, here, AGAIN)
            if result is None or not same_kinds(result[0], base):
                return None
            values[k][level] = field(x, here)[0] - base_value
            changes[k][level] = _natural(result[0], centres) - start
            errors[k][level] = _magnitudes(result[0], centres) + own
    weights, losses, factors = np.empty(len(table)), np.ones(len(table)), []
    for number, row in enumerate(table):
        each = list(enumerate(row))
        added = start + np.sum([changes[k][level] for k, level in each], axis=0)
        own_factors = _like(base, added, centres)
        size = own + np.sum([errors[k][level] for k, level in each], axis=0)
        losses[number] = max(1.0, float((size / _magnitudes(own_factors, centres)).max()))
        density = sum(float(factor.log_density(x[factor.elements])) for factor in own_factors)
        weights[number] = sum(values[k][level] for k, level in each) - density
        factors.append(list[Factor](own_factors))
    if losses.max() > _MOST_LOST:
        return None
    log_weights = weights - logsumexp(weights)
    return Finite(elements, table, log_weights, factors, losses, 2 * len(elements) + 1)


def _natural(factors: list[Additive], centres: list[Array]) -> Array:
    """Return the natural parameters of all in one row."""
    return _row(factor.natural(at) for factor, at in zip(factors, centres, strict=True))


def _magnitudes(factors: list[Additive], centres: list[Array]) -> Array:
    return _row(factor.magnitudes(at) for factor, at in zip(factors, centres, strict=True))


def _row(each: Iterable[Arrays]) -> Array:
    return np.concatenate([np.ravel(part) for parts in each for part in parts])


def _like(factors: list[Additive], row: Array, centres: list[Array]) -> list[Additive]:
    """Return factors of the same kinds with other natural parameters."""
    result, start = list[Additive](), 0
    for factor, at in zip(factors, centres, strict=True):
        parts = []
        for part in factor.natural(at):
            parts.append(row[start : start + np.size(part)].reshape(np.shape(part)))
            start += np.size(part)
        result.append(factor.like(tuple(parts), at))
    return result
