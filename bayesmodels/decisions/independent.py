r"""Which of several independent quantities is best, how sure that is, and what choosing one costs.

.. math:: P(i \text{ best}) = \int f_i \prod_{j \ne i} F_j \, dx, \qquad
    E[\max_j \theta_j - \theta_i] = \int F_i \Bigl(1 - \prod_{j \ne i} F_j\Bigr) dx

The second follows from the first moment of a difference by parts: nothing cancels in it. Where the
smallest is best, F and 1 - F change places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bayesmodels.decisions.contrasts import Contrast, Kind
from bayesmodels.errors import PriorError
from bayesmodels.numerics import Array
from bayesmodels.numerics.panels import GOAL, edges, integral, quantiles

_STEPS, _CLOSEST = 0.25 ** np.arange(1, 30), 1e-12  # to where a density is infinite
_ROUGH = 1e-9  # by which probabilities of all groups may not add up to one


class Independent:
    """Independent quantities, each with its law on the line."""

    how: Literal["quadrature"] = "quadrature"

    def __init__(self, laws: Sequence[Any]) -> None:
        self.laws = list(laws)
        self._edges = _graded(edges(*map(quantiles, self.laws)), self.laws)

    def mean(self) -> Array:
        """Return the means, which must be finite."""
        means = np.array([law.mean() for law in self.laws])
        if not np.isfinite(means).all():
            raise PriorError(
                "expected_loss: some mean is not finite (tails too heavy), so that there is no "
                "expected loss. Update the belief with more rows; the probability of being best, "
                "`best`, is there."
            )
        return means

    def std(self) -> Array:
        """Return standard deviations."""
        return np.array([law.std() for law in self.laws])

    def interval(self, prob: float) -> tuple[Array, Array]:
        """Return the ends of equal-tailed intervals."""
        tail = (1 - prob) / 2
        ends = [(law.ppf(tail), law.isf(tail)) for law in self.laws]
        low, high = np.array(ends, dtype=float).T
        return low, high

    def best(self, *, largest: bool) -> tuple[Array, Array]:
        """Return how probable it is that each is best, and how far off that may be."""
        side, ends = "cdf" if largest else "sf", self._edges

        def sums(x: Array, w: Array) -> Array:
            return (np.exp(log_others(self._logs(side, x))) * self._densities(x) * w).sum(1)

        # Beyond the last edge, where a density may grow without bound, all others are behind.
        beyond = np.array([law.sf(ends[-1]) if largest else law.cdf(ends[0]) for law in self.laws])
        found = integral(sums, ends, "best") + beyond
        off = np.full(len(found), abs(found.sum() - 1))
        if not off[0] <= _ROUGH:
            raise PriorError(
                f"best: the probabilities add up to {found.sum():.12g}, so that the densities have "
                "no digits left. Update the beliefs with rows, so that none is piled up at an end."
            )
        return found, off

    def order(self) -> tuple[Array, Array]:
        """Return how probable it is that one exceeds another, rows over columns; and errors."""

        def sums(x: Array, w: Array) -> Array:
            below = np.array([law.cdf(x) for law in self.laws])
            return (self._densities(x) * w) @ below.T

        found = integral(sums, self._edges, "order")
        found += np.array([[law.sf(self._edges[-1])] for law in self.laws])
        np.fill_diagonal(found, 0.0)  # nothing exceeds itself
        off = np.abs(found + found.T - 1) * ~np.eye(len(found), dtype=bool)
        return found, off

    def expected_loss(self, *, largest: bool) -> tuple[Array, Array]:
        """Return by how much the best is expected to be better than each; and errors."""
        self.mean()
        side = "cdf" if largest else "sf"

        def sums(x: Array, w: Array) -> Array:
            logs = self._logs(side, x)
            return (np.exp(logs) * -np.expm1(log_others(logs)) * w).sum(1)

        found = integral(sums, self._edges, "expected_loss")
        return found, GOAL * found

    def contrast(self, kind: Kind, a: int, b: int) -> Contrast:
        """Return the law of a difference, or a ratio, of two."""
        return Contrast(kind, self.laws[a], self.laws[b])

    def _densities(self, x: Array) -> Array:
        return np.exp([law.logpdf(x) for law in self.laws])

    def _logs(self, side: str, x: Array) -> Array:
        """Return log probabilities of at most x, or of more, exact at both ends."""
        other = "sf" if side == "cdf" else "cdf"
        with np.errstate(divide="ignore"):
            some = np.array([getattr(law, side)(x) for law in self.laws])
            rest = np.array([getattr(law, other)(x) for law in self.laws])
            return np.where(some < 0.5, np.log(some), np.log1p(-np.minimum(rest, 0.5)))  # noqa: PLR2004


def _graded(ends: Array, laws: Sequence[Any]) -> Array:
    """Return ends of panels that get narrower towards the last, if a density is infinite there.

    Towards 0 they do so by themselves, since that is where floating-point numbers are dense.
    """
    last = ends[-1]
    if not any(np.isposinf(law.logpdf(last)) for law in laws):
        return ends
    every = np.concatenate([ends, last - (last - ends[0]) * _STEPS])
    return np.unique(every[last - every > _CLOSEST * abs(last)])


def others(each: Array) -> Array:
    """Return products over all but one along the first axis."""
    return np.stack([np.delete(each, i, 0).prod(0) for i in range(len(each))])


def log_others(logs: Array) -> Array:
    """Return sums over all but one along the first axis."""
    return np.stack([np.delete(logs, i, 0).sum(0) for i in range(len(logs))])
