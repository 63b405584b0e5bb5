"""Finite variables that meet no continuous one: summed out one after the other, never jointly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Elimination, Tables
from bayesmodels.posteriors.enumeration import Given
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.families import Elements, Factor
from bayesmodels.posteriors.finite_tables import FiniteTables
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.points import moved
from bayesmodels.posteriors.support import listed

_FLATTER = 10.0  # logs are divided by it where levels need not be probable


@dataclass(frozen=True, eq=False)
class SummedOut:
    """Finite elements without continuous ones: the tables of their log density, and their sum."""

    elements: Elements
    tables: Tables
    sum: Elimination

    changes = 1

    def at(self, levels: Levels) -> tuple[float, list[Factor]]:
        """Return the log probability of levels; there are no laws given them."""
        return self.sum.log_probability(levels), []

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


def summed_out(
    field: Field, dependence: Dependence, elements: Elements, x: Array, levels: Levels
) -> SummedOut:
    """Return the law of finite elements that meet no continuous one in any summand."""
    names = listed(dict.fromkeys(field.finite[i].name for i in field.finite_owner[elements]))
    result = dependence.summands()
    form = FiniteTables(result.rows[:, field.size + elements], field.sizes[elements], names)
    field.ask(form.looks, f"summing out {names}")
    tables = form.evaluated(lambda own: result.values(*field.at(x, moved(levels, elements, own))))
    if any(np.isnan(table).any() or (table == np.inf).any() for table in tables.values()):
        raise NotConjugate(f"the joint density is not finite at some values of {names}.")
    total = Elimination(form.plan, tables)
    if not np.isfinite(total.log_total[0]):
        raise NotConjugate(f"all configurations of {names} are impossible.")
    return SummedOut(elements, tables, total)
