r"""Which of several independent quantities is best, how sure that is, and what choosing one costs.

.. math:: P(i \text{ best}) = \int f_i \prod_{j \ne i} F_j \, dx, \qquad
    E[\max_j \theta_j - \theta_i] = \int F_i \Bigl(1 - \prod_{j \ne i} F_j\Bigr) dx

The second follows from the first moment of a difference by parts: nothing cancels in it. Where the
smallest is best, F and 1 - F change places. Shares may be piled up at 1, where floating-point
numbers are not dense: the upper half of their integrals is one of 1 - x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from bayesmodels.decisions.contrasts import Contrast, Kind
from bayesmodels.errors import PriorError
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element, mirrored, sum_of_others
from bayesmodels.numerics.panels import GOAL, USELESS, edges, integral, quantiles

_ROUGH = 1e-9  # by which probabilities of all groups may not add up to one
_MIDDLE = 0.5
_FAR = 230.0  # in the logarithm: nearer to one, panels leave nothing out
_NOTHING = 1e-290


class _Part:
    """A part of the line: laws, ends of panels, and whether the largest is best in it."""

    def __init__(self, laws: Sequence[Any], *, largest: bool, most: float = np.inf) -> None:
        self.laws, self.largest = laws, largest
        self._batched = np.ndim(laws[0].std()) > 0
        points = [np.atleast_2d(quantiles(law)) for law in laws]
        self._medians = [each[:, each.shape[-1] // 2] for each in points]
        limit = np.full((len(points[0]), 1), most)
        self.ends = edges(*(np.minimum(each, most) for each in points), limit)

    def log_densities(self, x: Array, owner: Any) -> Array:
        """Return log densities at x (panels, nodes), of the problems (panels, 1)."""
        return np.array([self._at(k, owner).logpdf(x) for k in range(len(self.laws))])

    def logs(self, x: Array, owner: Any) -> Array:
        """Return every law's log probability of being worse than x, exact at both ends."""
        return np.array([self._log(k, x, owner) for k in range(len(self.laws))])

    def _log(self, k: int, x: Array, owner: Any) -> Array:
        """Return one law's log probabilities of being worse than x, from the smaller tail."""
        lower = x[:, -1] <= self._medians[k][owner[:, 0]]
        tail = np.empty_like(x)
        for rows, verb in ((lower, "cdf"), (~lower, "sf")):
            tail[rows] = getattr(self._at(k, owner[rows]), verb)(x[rows])
        with np.errstate(divide="ignore"):
            same = (lower == self.largest)[:, None]
            return np.where(same, np.log(tail), np.log1p(-tail))

    def _at(self, k: int, owner: Any) -> Any:
        return element(self.laws[k], (owner,)) if self._batched else self.laws[k]


Integrand = Callable[[_Part, Array, Any], Array]


class Independent:
    """Independent quantities, each with its law on the line; or many such problems.

    Parameters of the laws are numbers, or of one shape (problems,), the last axis of all results.
    """

    how: Literal["quadrature"] = "quadrature"

    def __init__(self, laws: Sequence[Any]) -> None:
        self.laws = list(laws)

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
        """Return P(best) of each, and bounds on the errors."""
        result, off = self._integral(_best, "best", largest=largest)
        gap = np.abs(result.sum(0) - 1)
        if not (gap <= _ROUGH).all():
            raise PriorError(
                f"best: the probabilities add up to {1 + gap.max():.12g}, so that the laws have "
                "no digits left. Update the beliefs with rows, so that none is piled up at an end."
            )
        return result, np.maximum(off, gap)

    def order(self) -> tuple[Array, Array]:
        """Return P(row > column) for all pairs, and errors."""
        result, off = np.zeros((2, len(self.laws), len(self.laws)))  # nothing exceeds itself
        for i, j in combinations(range(len(self.laws)), 2):
            pair = Independent([self.laws[i], self.laws[j]]).best(largest=True)
            (result[i, j], result[j, i]), (off[i, j], off[j, i]) = pair
        return result, off

    def expected_loss(self, *, largest: bool) -> tuple[Array, Array]:
        """Return by how much the best is expected to be better than each; and errors."""
        self.mean()
        return self._integral(_loss, "expected_loss", largest=largest)

    def contrast(self, kind: Kind, a: int, b: int) -> Contrast:
        """Return the law of a difference, or a ratio, of two."""
        return Contrast(kind, self.laws[a], self.laws[b])

    def _integral(self, f: Integrand, what: str, *, largest: bool) -> tuple[Array, Array]:
        """Return integrals over all parts of the line, and bounds on their errors."""
        result: Any = 0.0
        off: Any = 0.0
        for part in _parts(self.laws, largest=largest):
            one, error = integral(partial(f, part), part.ends, what)
            tail, rough = _tails(f, part, result + one)
            result, off = result + one + tail, off + error + rough
        if not (off <= USELESS * np.abs(result) + _NOTHING).all() or np.isinf(result).any():
            raise PriorError(
                f"{what}: some of its integral lies where there are no floating-point numbers: "
                "tails are too heavy, or shapes too small. Update the belief with more rows."
            )
        shape = (-1, *np.shape(self.laws[0].std()))
        return result.reshape(shape), off.reshape(shape)


def _parts(laws: list[Any], *, largest: bool) -> list[_Part]:
    """Return the line as one part; for probabilities two halves, each measured from its end."""
    turned = [mirrored(law) for law in laws]
    if any(law is None for law in turned):
        return [_Part(laws, largest=largest)]
    halves = (laws, largest), (turned, not largest)
    return [_Part(each, largest=up, most=_MIDDLE) for each, up in halves]


def _best(part: _Part, x: Array, owner: Any) -> Array:
    return np.exp(log_others(part.logs(x, owner)) + part.log_densities(x, owner))


def _loss(part: _Part, x: Array, owner: Any) -> Array:
    logs = part.logs(x, owner)
    return np.exp(logs) * -np.expm1(log_others(logs))


def _tails(f: Integrand, part: _Part, total: Array) -> tuple[Array, Array]:
    """Return integrals beyond the last panels, by a power law of the integrand, and errors."""
    tail, off = np.zeros((2, *total.shape))
    for end in (part.ends[:, 0], np.nanmax(part.ends, -1)):
        size = np.log(np.abs(end))[:, None]
        if (np.abs(size) < _FAR).all():
            continue
        x = end[:, None] * np.exp(-np.sign(size) * [0, 1, 2])  # inwards
        each = np.abs(x) * f(part, x, np.arange(len(x))[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            power, before = np.moveaxis(np.diff(np.log(each)), -1, 0)
            one = np.where(power > 0, each[..., 0] / power, np.inf)
            rough = np.where(power > 0, one * np.abs(before / power - 1), np.inf)
        heavy = (np.abs(size[:, 0]) >= _FAR) & ~(each[..., 0] <= GOAL * total)
        tail, off = tail + np.where(heavy, one, 0.0), off + np.where(heavy, rough, 0.0)
    return tail, off


def log_others(logs: Array) -> Array:
    """Return sums over all but one along the first axis."""
    return np.moveaxis(sum_of_others(np.moveaxis(logs, 0, -1)), -1, 0)
