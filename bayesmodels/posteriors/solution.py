"""A posterior in closed form, over the elements of a model's variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.posteriors.eliminate import Finite
from bayesmodels.posteriors.families import Factor
from bayesmodels.posteriors.gradient import Field, Levels


@dataclass(frozen=True, eq=False)
class Solution:
    """Independent factors, some of which depend on finite variables: these are in `finite`."""

    field: Field
    factors: list[Factor]
    finite: list[Finite]

    def _loss(self, levels: Levels) -> float:
        """How many times the rounding error of their own parameters may have."""
        return max([1.0, *(part.loss(levels[part.elements]) for part in self.finite)])

    def at(self, levels: Levels) -> tuple[float, list[Factor]]:
        """Return the log probability of levels, and the laws of all continuous elements there."""
        log_weight, factors = 0.0, list(self.factors)
        for part in self.finite:
            log_probability, conditional = part.at(levels[part.elements])
            log_weight += log_probability
            factors += conditional
        return log_weight, factors

    def log_density(self, x: Array, levels: Levels) -> float:
        """Return the log density at one point."""
        log_weight, factors = self.at(levels)
        with np.errstate(divide="ignore"):  # -inf at the border of a support
            return log_weight + sum(float(b.log_density(x[b.elements])) for b in factors)

    def rounding(self, x: Array, levels: Levels) -> float:
        """Return a bound on the error of that, parameters included."""
        each = sum(float(b.rounding(x[b.elements])) for b in self.at(levels)[1])
        return self._loss(levels) * each

    def slope(self, x: Array, levels: Levels) -> tuple[Array, Array]:
        """Return the slope by every continuous element, and bounds on its error."""
        slope, bound = np.zeros(self.field.size), np.zeros(self.field.size)
        for factor in self.at(levels)[1]:
            slope[factor.elements], bound[factor.elements] = factor.slope(x[factor.elements])
        return slope, self._loss(levels) * bound

    def sample(self, draws: int, rng: np.random.Generator) -> tuple[Array, Levels]:
        """Return independent draws of continuous and of finite elements, one a row."""
        x = np.empty((draws, self.field.size))
        levels = np.zeros((draws, sum(s.size for s in self.field.finite)), dtype=int)
        for factor in self.factors:
            x[:, factor.elements] = factor.sample(draws, rng)
        for part in self.finite:
            levels[:, part.elements], conditional = part.sample(draws, rng)
            for here, factors in conditional:
                for factor in factors:
                    x[np.ix_(here, factor.elements)] = factor.sample(len(here), rng)
        return x, levels
