"""Finite variables that meet no continuous one: summed out one after the other, never jointly.

Their part of the log density is a sum of tables of few elements each, as the graph shows. The
tables are evaluated, those of elements that meet no common one together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import MOST, Elimination, Merge, Plan, Scopes, Tables, TooWide
from bayesmodels.posteriors.enumeration import Given
from bayesmodels.posteriors.families import Elements, Factor
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.support import listed

_MOST_COLOURS = 62
_MOST_LOOKS = 2**15  # evaluations of the density, for all tables


@dataclass(frozen=True, eq=False)
class SummedOut:
    """Finite elements without continuous ones: the tables of their log density, and their sum."""

    elements: Elements
    scopes: Scopes
    tables: Tables
    sum: Elimination

    changes = 1

    def at(self, levels: Levels) -> tuple[float, list[Factor]]:
        """Return the log probability of levels; there are no laws given them."""
        each = (
            self.tables[w][(0, np.arange(len(scope)), *levels[scope].T)].sum()
            for w, scope in self.scopes.items()
        )
        return float(sum(each) - self.sum.log_total[0]), []

    def loss(self, levels: Levels) -> float:
        """How many times the rounding error of their own parameters laws may have."""
        del levels
        return 1.0

    def probabilities(self) -> Array:
        """Return how probable each level of each element is."""
        return self.sum.probabilities()[0]

    def sample(self, draws: int, rng: np.random.Generator) -> tuple[Levels, Given]:
        """Return independent draws of the levels; no laws are given them."""
        return self.sum.sample(draws, rng), []

    def anywhere(self, rng: np.random.Generator) -> Levels:
        """Return levels that need not be probable."""
        return self._flatter.sample(1, rng)[0]

    @cached_property
    def _flatter(self) -> Elimination:
        return Elimination(self.sum.plan, {w: t / _FLATTER for w, t in self.tables.items()})

    def mode(self) -> Levels:
        """Return the most probable levels of all."""
        return Elimination(self.sum.plan, self.tables, largest=True).most_probable()[0]

    def sentence(self, names: str, owners: object) -> str:
        """Say what was done."""
        del owners
        return f"{names}: summed out one element after the other"


_FLATTER = 10.0


def summed_out(field: Field, elements: Elements, x: Array, levels: Levels) -> SummedOut:
    """Return the law of finite elements that meet no continuous one in any summand."""
    names = listed(dict.fromkeys(field.finite[i].name for i in field.finite_owner[elements]))
    scopes, tables = _tables(field, elements, x, levels, names)
    try:
        plan = Plan(scopes, len(elements), int(field.sizes[elements].max()))
    except TooWide as error:
        raise NotConjugate(
            f"{names}: to sum them out one after the other takes a table of {error.elements} "
            f"elements with {error.numbers:.3g} numbers; at most {MOST:,} are held. Too many of "
            "them depend on each other."
        ) from error
    total = Elimination(plan, tables)
    if not np.isfinite(total.log_total[0]):
        raise NotConjugate(f"all configurations of {names} are impossible.")
    return SummedOut(elements, scopes, tables, total)


def _tables(
    field: Field, elements: Elements, x: Array, levels: Levels, names: str
) -> tuple[Scopes, Tables]:
    """Return tables of the log density, in the numbers of the elements among themselves."""
    found, run = field.summands(x, levels)
    own = found[:, field.size + elements]
    met = np.flatnonzero(own.sum(1))
    rows = own[met]
    rows.sort_indices()
    sizes, most = field.sizes[elements], int(field.sizes[elements].max())
    colour = _coloured(rows.T @ rows, names)
    masks, kind = np.unique(rows @ (1 << colour), return_inverse=True)
    bits = [np.flatnonzero(mask >> np.arange(_MOST_COLOURS) & 1) for mask in masks]
    kinds = {tuple(c): np.flatnonzero(kind == i) for i, c in enumerate(bits)}
    looks = sum(float(most) ** len(c) for c in kinds)
    if looks > _MOST_LOOKS:
        raise NotConjugate(
            f"{names} meet in summands of up to {max(map(len, kinds))} elements, for which the "
            f"density would be evaluated {looks:.3g} times; at most {_MOST_LOOKS:,} times is it."
        )
    field.budget.ask(int(looks), f"summing out {names}")
    outside = np.where(np.arange(most) < sizes[:, None], 0.0, -np.inf)
    parts: dict[int, list[tuple[Levels, Array]]] = {
        1: [(np.arange(len(elements))[:, None], outside)]
    }
    for c, some in kinds.items():
        scope = rows[some].indices.reshape(len(some), len(c))
        table = np.empty((len(some), *[most] * len(c)))
        for level in product(range(most), repeat=len(c)):
            here = levels.copy()
            of_colour = np.zeros(colour.max() + 1, dtype=int)
            of_colour[list(c)] = level
            here[elements] = np.minimum(of_colour[colour], sizes - 1)
            table[(slice(None), *level)] = run(here)[met[some]]
        ranks = np.argsort(np.argsort(colour[scope], axis=1), axis=1)
        for way in np.unique(ranks, axis=0):
            same = np.flatnonzero((ranks == way).all(1))
            moved = table[same].transpose(0, *(1 + way))
            parts.setdefault(len(c), []).append((scope[same], moved))
    if any(np.isnan(t).any() or (t == np.inf).any() for each in parts.values() for _, t in each):
        raise NotConjugate(f"the joint density is not finite at some values of {names}.")
    scopes, result = {}, {}
    for w, each in parts.items():
        scope, table = map(np.concatenate, zip(*each, strict=True))
        merge = Merge.of(scope)
        scopes[w], result[w] = scope[merge.order[merge.first]], merge.added(table[None])
    return scopes, result


def _coloured(linked: Any, names: str) -> Levels:
    """Return a colour of each element, another one than those of all that it is linked to."""
    colour = np.full(linked.shape[0], -1)
    for i in range(len(colour)):
        taken = set(colour[linked.indices[linked.indptr[i] : linked.indptr[i + 1]]].tolist())
        colour[i] = next(c for c in range(len(colour)) if c not in taken)
    if colour.max() >= _MOST_COLOURS:
        raise NotConjugate(f"too many elements of {names} depend on each other to be summed out.")
    return colour
