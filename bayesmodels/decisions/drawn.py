"""The same of quantities that depend on each other, from draws of all, with Monte-Carlo errors."""

from __future__ import annotations

from itertools import permutations
from typing import Any, Literal

import numpy as np

from bayesmodels.belief import intervals
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.decisions.contrasts import MAPS, Kind, KnownContrast, check_range
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.numerics.ess import effective_draws


class DrawnContrast(EmpiricalLaw):
    """The empirical law of the draws of a contrast."""

    def sf(self, t: Any) -> Array:
        """Return the share of the draws above t."""
        return 1 - self.cdf(t)

    @renamed
    def interval(self, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> tuple[float, float]:
        """Return an equal-tailed interval, or that of highest density."""
        low, high = intervals.ends(self, intervals.checked(ci_prob, ci_kind), ci_kind)
        return float(low), float(high)


class Drawn:
    """Draws of the shape (chain, draw, quantity)."""

    how: Literal["draws"] = "draws"

    def __init__(self, draws: Array, law: Any = None, combination: Any = None) -> None:
        self.draws, self.combination = draws, combination
        self.law = EmpiricalLaw(draws.reshape(-1, draws.shape[-1])) if law is None else law

    def mean(self) -> Array:
        """Return the means: exact ones, if the law of each is known."""
        return np.ravel(self.law.mean())

    def std(self) -> Array:
        """Return standard deviations: exact ones, if the law of each is known."""
        return np.ravel(self.law.std())

    def interval(self, ci_prob: float) -> tuple[Array, Array]:
        """Return the ends of equal-tailed intervals: exact ones, if the law of each is known."""
        tail = (1 - ci_prob) / 2
        return np.ravel(self.law.ppf(tail)), np.ravel(self.law.isf(tail))

    def best(self, *, largest: bool) -> tuple[Array, Array]:
        """Return how often each is best, and Monte-Carlo standard errors."""
        return _averages(np.moveaxis(self._winners(largest=largest), -1, 0))

    def ties(self, *, largest: bool) -> float:
        """Return the share of the draws in which several tie for best."""
        return float((self._winners(largest=largest).max(-1) < 1).mean())

    def _winners(self, *, largest: bool) -> Array:
        """Return each quantity's share in being best, draw by draw."""
        first = self.draws.max(-1) if largest else self.draws.min(-1)
        winners = self.draws == first[..., None]
        return winners / winners.sum(-1, keepdims=True)

    def order(self) -> tuple[Array, Array]:
        """Return P(row > column) for all pairs, and errors.

        Where differences have no closed form, that is how often one does.
        """
        x = np.moveaxis(self.draws, -1, 0)
        result = np.zeros((len(x), len(x)))  # nothing exceeds itself
        for pair in permutations(range(len(x)), 2):
            if (law := self.difference(*pair)) is None:
                break
            result[pair] = law.sf(0)
        else:
            return result, np.abs(result + result.T - 1) * ~np.eye(len(x), dtype=bool)
        pairs = [_averages(one > x) for one in x]
        result, off = (np.array(part) for part in zip(*pairs, strict=True))
        np.fill_diagonal(result, 0.0)  # nothing exceeds itself
        return result, off

    def expected_loss(self, *, largest: bool) -> tuple[Array, Array]:
        """Return by how much the best is better than each on average; and errors."""
        x = np.moveaxis(self.draws, -1, 0) * (1 if largest else -1)
        return _averages(x.max(0) - x)

    def difference(self, a: int, b: int) -> KnownContrast | None:
        """Return the law of the difference of two, if it has a closed form."""
        if self.combination is None:
            return None
        of = np.zeros(self.draws.shape[-1])
        of[[a, b]] = 1, -1
        law = self.combination(of)
        return None if law is None else KnownContrast(law)

    def contrast(self, kind: Kind, a: int, b: int) -> DrawnContrast | KnownContrast:
        """Return the law of a difference, or a ratio, of two."""
        if kind == "difference" and (law := self.difference(a, b)) is not None:
            return law
        x, y = (self.draws[..., i].ravel() for i in (a, b))
        check_range(kind, min(x.min(), y.min()), max(x.max(), y.max()))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = MAPS[kind].of(x, y)
        if lost := int((~np.isfinite(values)).sum()):
            raise DataError(
                f"{kind}: must be of a denominator that is never 0; it is in {lost:,} of "
                f"{len(values):,} draws. Use difference(a, b)."
            )
        return DrawnContrast(values)


def _averages(values: Array) -> tuple[Array, Array]:
    """Return averages over chains and draws, the last two axes, and their standard errors.

    The error of an average of n equal draws is that of a deviation of 1 / n.
    """
    x = values.astype(float)
    number = effective_draws(x).number
    return x.mean((-1, -2)), np.maximum(x.std((-1, -2)), 1 / number) / np.sqrt(number)
