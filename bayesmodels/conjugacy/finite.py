"""Finite variables by enumeration: every configuration, and what follows given it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from bayesmodels.conjugacy.alone import AGAIN, FIRST, Looks
from bayesmodels.conjugacy.blocks import Block
from bayesmodels.conjugacy.field import Field
from bayesmodels.conjugacy.natural import Parameters, like, natural, same_kinds
from bayesmodels.conjugacy.points import score, somewhere
from bayesmodels.errors import NotConjugate

Array = NDArray[np.float64]
Elements = NDArray[np.intp]
Levels = NDArray[np.intp]

MOST_ALONE, MOST_WITH_OTHERS = 2**15, 2**10
"""Configurations that are enumerated: of finite variables alone, and of those with others."""
MOST_ADDED_UP = 2**12
_FEW = 3  # elements from which on adding up takes less than solving for all
_MOST_ELEMENTS = 300  # of finite variables: each pair is looked at
_MOVES = 1e-9
_TRIES = 20


@dataclass(frozen=True, eq=False)
class Finite:
    """Elements of finite variables, with the laws of continuous elements given them.

    Attributes
    ----------
    elements : ndarray of int
        Which elements of finite variables.
    table : ndarray of shape (configurations, elements)
        Their levels, counted from zero; impossible configurations are left out.
    log_weights : ndarray of shape (configurations,)
        Log probabilities.
    blocks : list of list of Block
        For each configuration the laws of the continuous elements; may be empty.
    """

    elements: Elements
    table: Levels
    log_weights: Array
    blocks: list[list[Block]]

    def given(self, levels: Levels) -> int:
        """Return the number of a configuration; -1 if it is impossible."""
        same = np.flatnonzero((self.table == levels).all(-1))
        return int(same[0]) if len(same) else -1


def finite_groups(
    field: Field, x: Array, base: Levels, rng: np.random.Generator
) -> tuple[list[Elements], Elements, NDArray[np.bool_]]:
    """Return groups of finite elements that depend on no others, and those that remain.

    The latter depend on continuous elements too, and are enumerated together; which continuous
    elements these are is said as well.
    """
    sizes = field.sizes
    n = len(sizes)
    everything = np.arange(n)
    moves = np.zeros(field.size, dtype=bool)
    if n == 0:
        return [], everything, moves
    if n > _MOST_ELEMENTS:
        raise NotConjugate(
            f"{n} elements of finite variables ({field.finite[0].name}) are more than the "
            f"{_MOST_ELEMENTS} that are looked at."
        )
    value, slope = _looked(field, x, base)
    touched = np.zeros(n, dtype=bool)
    single = np.empty((n,))
    moved = (base + 1 + rng.integers(np.maximum(sizes - 1, 1))) % sizes
    for i in range(n):
        other = base.copy()
        other[i] = moved[i]
        single[i], there = _looked(field, x, other)
        size = np.abs(slope) + np.abs(there)
        change = ~(np.abs(there - slope) <= _MOVES * size)
        touched[i] = bool(change.any())
        moves |= change
    apart = everything[~touched]
    linked = np.zeros((n, n), dtype=bool)
    for a, i in enumerate(apart):
        for j in np.append(everything[touched], apart[a + 1 :]):
            both = base.copy()
            both[[i, j]] = moved[[i, j]]
            found = _looked(field, x, both)[0]
            rest = found - single[i] - single[j] + value
            size = max(map(abs, (found, single[i], single[j], value)))
            # Infinite values say nothing about dependence: better together.
            linked[i, j] = not np.isfinite(rest) or abs(rest) > _MOVES * size
    linked[np.ix_(touched, touched)] = True
    number, label = connected_components(csr_array(linked.astype(int)), directed=False)
    groups = [everything[label == group] for group in range(number)]
    alone = [group for group in groups if not touched[group].any()]
    rest_of = [group for group in groups if touched[group].any()]
    return alone, (np.concatenate(rest_of) if rest_of else everything[:0]), moves


def _looked(field: Field, x: Array, levels: Levels) -> tuple[float, Array]:
    value, slope = field(x, levels)
    return value, score(field, x, slope)


def configurations(field: Field, elements: Elements, most: int) -> Levels:
    """Return all configurations of some finite elements.

    Raises
    ------
    NotConjugate
        If there are more than `most`.
    """
    sizes = field.sizes[elements]
    number = float(np.prod(sizes.astype(float)))
    if number > most:
        names = ", ".join(s.name for s in field.finite)
        raise NotConjugate(
            f"{names} have {number:.3g} configurations that depend on each other or on other "
            f"variables; at most {most} are enumerated."
        )
    return np.array(list(product(*(range(size) for size in sizes))), dtype=int)


def enumerated(
    field: Field,
    elements: Elements,
    x: Array,
    levels: Levels,
    solve: Callable[[Levels, Looks], list[Block]] | None,
    rng: np.random.Generator,
) -> Finite:
    """Weigh every configuration of some finite elements, solving for what depends on them."""
    table = configurations(field, elements, MOST_ALONE if solve is None else MOST_WITH_OTHERS)
    weights = np.full(len(table), -np.inf)
    blocks: list[list[Block]] = [[] for _ in table]
    for number, row in enumerate(table):
        here = levels.copy()
        here[elements] = row
        value, _ = field(x, here)
        if np.isnan(value) or value == np.inf:
            names = ", ".join(s.name for s in field.finite)
            raise NotConjugate(f"the joint density is not finite at some values of {names}.")
        if value == -np.inf:
            # Impossible whatever the others, or only at this point? Another one decides.
            other = somewhere(field, rng)
            if field(other, here)[0] == -np.inf:
                continue
            raise NotConjugate(
                "some configurations are possible at some values of the other variables only: a "
                "hard constraint."
            )
        if solve is None:
            weights[number] = value
            continue
        blocks[number] = solve(here, AGAIN if any(blocks) else FIRST)
        weights[number] = _weight(field, blocks[number], x, here, rng)
    possible = np.isfinite(weights)
    kept = np.flatnonzero(possible)
    log_weights = weights[kept] - logsumexp(weights[kept])
    return Finite(elements, table[kept], log_weights, [blocks[i] for i in kept])


def _weight(
    field: Field, blocks: list[Block], x: Array, levels: Levels, rng: np.random.Generator
) -> float:
    """Return the log of what a configuration weighs, at a point that its laws draw."""
    for _ in range(_TRIES):
        point, density = x.copy(), 0.0
        for block in blocks:
            drawn = block.sample(1, rng)[0]
            point[block.elements] = drawn
            with np.errstate(divide="ignore"):  # a draw may round to the border
                density += float(block.log_density(drawn))
        weight = field(point, levels)[0] - density
        if np.isfinite(weight):
            return weight
    names = ", ".join(s.name for s in field.finite)
    raise NotConjugate(f"the joint density is not finite at some values of {names}.")


def added_up(
    field: Field,
    elements: Elements,
    x: Array,
    levels: Levels,
    solve: Callable[[Levels, Looks], list[Block]],
    rng: np.random.Generator,
) -> Finite | None:
    """Solve for one value of one element at a time and add up; None if that does not hold.

    Given the continuous variables, the finite ones must be independent of each other.
    """
    sizes = field.sizes[elements]
    if len(elements) < _FEW or not _independent(field, elements, x, levels):
        return None
    table = configurations(field, elements, MOST_ADDED_UP)
    base = solve(levels, FIRST)
    x = x.copy()
    for block in base:  # a point where densities are neither large nor small
        x[block.elements] = block.sample(1, rng)[0]
    base_value, _ = field(x, levels)
    centres = [block.mode() for block in base]
    start = [natural(block, at) for block, at in zip(base, centres, strict=True)]
    values, changes = [], []
    for k, size in enumerate(sizes):
        values.append(np.zeros(size))
        changes.append(
            [[tuple(np.zeros_like(p) for p in part) for part in start] for _ in range(size)]
        )
        for level in set(range(size)) - {int(levels[elements[k]])}:
            here = levels.copy()
            here[elements[k]] = level
            values[k][level] = field(x, here)[0] - base_value
            found = solve(here, AGAIN) if np.isfinite(values[k][level]) else None
            if found is None or not same_kinds(base, found):
                return None
            changes[k][level] = [
                tuple(a - b for a, b in zip(natural(block, at), first, strict=True))
                for block, at, first in zip(found, centres, start, strict=True)
            ]
    weights, blocks = np.empty(len(table)), []
    for number, row in enumerate(table):
        moved = [changes[k][level] for k, level in enumerate(row)]
        blocks.append(
            [
                like(block, _added(start[j], [each[j] for each in moved]), centres[j])
                for j, block in enumerate(base)
            ]
        )
        density = sum(float(block.log_density(x[block.elements])) for block in blocks[-1])
        weights[number] = sum(values[k][level] for k, level in enumerate(row)) - density
    return Finite(elements, table, weights - logsumexp(weights), blocks)


def _added(first: Parameters, changes: list[Parameters]) -> Parameters:
    return tuple(np.sum(parts, axis=0) for parts in zip(first, *changes, strict=True))


def _independent(field: Field, elements: Elements, x: Array, levels: Levels) -> bool:
    """Whether the log density is a sum over these elements, the others held where they are."""
    sizes = field.sizes[elements]
    base, _ = field(x, levels)
    moved = (levels[elements] + 1) % sizes
    single = np.empty(len(elements))
    for i, element in enumerate(elements):
        here = levels.copy()
        here[element] = moved[i]
        single[i] = field(x, here)[0]
    for i in range(len(elements)):
        for j in range(i + 1, len(elements)):
            here = levels.copy()
            here[elements[[i, j]]] = moved[[i, j]]
            both = field(x, here)[0]
            rest = both - single[i] - single[j] + base
            if not abs(rest) <= _MOVES * (abs(both) + abs(base) + 1):
                return False
    return True
