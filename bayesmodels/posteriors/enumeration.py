"""Finite variables by enumeration: every configuration, and what follows given it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import Arrays
from bayesmodels.posteriors.factor_graph import connected
from bayesmodels.posteriors.families import Additive, Elements, Factor, additive, same_kinds
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.independent import AGAIN, FIRST, Looks

MOST_ALONE, MOST_WITH_OTHERS = 2**15, 2**10
"""Configurations that are enumerated: of finite variables alone, and of those with others."""
MOST_ADDED_UP = 2**12
_FEW = 3  # elements from which on adding up takes less than solving for all
_MOST_LOST = 1e5  # of digits, where large parameters add up to small ones
_MOST_ELEMENTS = 300  # of finite variables

Solve = Callable[[Levels, Looks], tuple[list[Factor], float] | None]
"""From a configuration to the laws of all that depends on it and the log of what it weighs, each
compared with the joint density; None if it is impossible."""


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

    def given(self, levels: Levels) -> int:
        """Return the number of a configuration; -1 if it is impossible."""
        same = np.flatnonzero((self.table == levels).all(-1))
        return int(same[0]) if len(same) else -1


@dataclass(frozen=True, eq=False)
class Groups:
    """How finite elements depend on each other and on continuous ones.

    Groups `alone` are factors of the joint density of their own; those `joined` are enumerated
    together, and are `separate` if no factor has two of them. `moves` says which continuous
    elements meet a finite one in some factor.
    """

    alone: list[Elements]
    joined: Elements
    moves: NDArray[np.bool_]
    separate: bool


def finite_groups(field: Field, x: Array, levels: Levels) -> Groups:
    """Return which finite elements meet in factors of the joint density, as its graph shows."""
    n = len(field.sizes)
    everything = np.arange(n)
    if n == 0:
        return Groups([], everything, np.zeros(field.size, dtype=bool), separate=True)
    if n > _MOST_ELEMENTS:
        raise NotConjugate(
            f"{n} elements of finite variables ({field.finite[0].name}) are more than the "
            f"{_MOST_ELEMENTS} that are looked at."
        )
    met = field.meetings(x, levels)
    finite, others = met[:, field.size :], met[:, : field.size]
    touched = finite[others.any(-1)].any(0)
    linked = finite.T.astype(int) @ finite.astype(int)
    linked[np.ix_(touched, touched)] = 1
    groups = connected(linked)
    alone = [group for group in groups if not touched[group].any()]
    rest = [group for group in groups if touched[group].any()]
    joined = np.concatenate(rest) if rest else everything[:0]
    separate = bool((finite[:, joined].sum(-1) <= 1).all())
    return Groups(alone, joined, others[finite.any(-1)].any(0), separate)


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
        names = ", ".join(s.name for s in field.finite)
        raise NotConjugate(
            f"{names} have {number:.3g} configurations that depend on each other or on other "
            f"variables; at most {most} are enumerated."
        )
    return np.array(list(product(*(range(size) for size in sizes))), dtype=int)


def enumerated(
    field: Field, elements: Elements, x: Array, levels: Levels, solve: Solve | None
) -> Finite:
    """Weigh every configuration of some finite elements, solving for what depends on them.

    Without `solve` they must be factors of the joint density of their own.
    """
    table = configurations(field, elements, MOST_ALONE if solve is None else MOST_WITH_OTHERS)
    each = 1 if solve is None else sum(AGAIN)
    names = ", ".join(s.name for s in field.finite)
    field.budget.ask(each * len(table), f"{len(table):,} configurations of {names}")
    weights = np.full(len(table), -np.inf)
    factors: list[list[Factor]] = [[] for _ in table]
    for number, row in enumerate(table):
        here = levels.copy()
        here[elements] = row
        if solve is None:
            weights[number] = value_at(field, x, here)
            continue
        found = _solved(field, solve, here, AGAIN if any(factors) else FIRST)
        if found is not None:
            factors[number], weights[number] = found
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
            found = _solved(field, solve, here, AGAIN)
            if found is None or not same_kinds(found[0], base):
                return None
            values[k][level] = field(x, here)[0] - base_value
            changes[k][level] = _natural(found[0], centres) - start
            errors[k][level] = _magnitudes(found[0], centres) + own
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
