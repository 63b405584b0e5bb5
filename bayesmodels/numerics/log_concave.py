r"""Laws on an interval whose log density is concave in some coordinate: truncated laws and others.

Counted from the high point of the density of :math:`u(x)`, the log density is L(s), of
:math:`s = u(x) - u(x^*)`. Gauss's rule on panels over which L falls by a few units gives integral,
moments and both tails. Only positive numbers are added up, so that nothing cancels: not in an
interval far out in a tail, nor in one that is much narrower than its distance from zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, logit

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import Law, increasing_root
from bayesmodels.numerics.panels import nodes

Rise = Callable[[Array], tuple[Array, Array]]
"""From s to L(s) and its slope."""

_LOWEST = 745.0  # exp(-745) is the smallest number
_NODES, _FEWER = 16, 12  # of a panel, and of the rule that tells the error
# Where panels end: by how much L has fallen, and distances at which an exponential may bend it.
_LEVELS = np.concatenate([np.arange(1, 13) ** 2 / 2, np.arange(84.0, _LOWEST, 12.0), [_LOWEST]])
_FLAT = np.exp(np.arange(-33.0, 0, 8))  # the same beyond all bends, where exponentials set in
_BENDS = np.concatenate([[1.0], np.arange(2.0, 41.0, 2.0)])
_NEAR = 0.5


@dataclass(frozen=True)
class Coordinate:
    """A coordinate u(x) of an interval, by differences that keep their digits."""

    gap: Callable[[Any, Any], Any]  # u(x) - u(o)
    away: Callable[[Any, Any], Any]  # the x that is so far away from o
    shift: Callable[[Any, Any], Any]  # that x, less o
    log_slope: Callable[[Any], Any]  # ln dx/du
    slope: Callable[[Any], Any]  # dx/du
    inverse: Callable[[Any], Any]  # x of u, and u of x
    value: Callable[[Any], Any]
    ends: tuple[float, float]  # of x
    name: str  # what x is of whom u has a law, with a place for u
    title: str
    weight: tuple[int, ...]  # what dx/du adds to what slopes of x's families are multiplied by


LINE = Coordinate(
    lambda x, o: x - o,
    lambda o, s: o + s,
    lambda _, s: s,
    lambda x: np.zeros(np.shape(x)),
    slope=np.ones_like,
    inverse=lambda u: u,
    value=lambda x: x,
    ends=(-np.inf, np.inf),
    name="",
    title="{}",
    weight=(0, 0),
)


def _log_gap(x: Any, o: Any) -> Any:
    ratio = (x - o) / o
    return np.where(np.abs(ratio) < _NEAR, np.log1p(ratio), np.log(x) - np.log(o))


LOG = Coordinate(
    _log_gap,
    lambda o, s: np.where(np.abs(s) < _NEAR, o + o * np.expm1(s), np.exp(np.log(o) + s)),
    lambda o, s: o * np.expm1(s),
    np.log,
    slope=lambda x: x,
    inverse=np.exp,
    value=np.log,
    ends=(0.0, np.inf),
    name="Log",
    title="exp({})",
    weight=(1, 0, 0),
)


def _logit_shift(o: Any, s: Any) -> Any:
    down, up = np.expm1(np.minimum(s, 0.0)), np.expm1(-np.maximum(s, 0.0))
    return o * (1 - o) * (down / (1 + o * down) - up / (1 + (1 - o) * up))


def _logit_gap(x: Any, o: Any) -> Any:
    near = np.abs(x - o) < _NEAR * np.minimum(o, 1 - o)
    plain = np.log(x) - np.log1p(-x) - (np.log(o) - np.log1p(-o))
    return np.where(near, np.log1p((x - o) / o) - np.log1p((o - x) / (1 - o)), plain)


LOGIT = Coordinate(
    _logit_gap,
    lambda o, s: np.where(
        np.abs(s) < _NEAR, o + _logit_shift(o, s), expit(np.log(o) - np.log1p(-o) + s)
    ),
    _logit_shift,
    lambda x: np.log(x) + np.log1p(-x),
    slope=lambda x: x * (1 - x),
    inverse=expit,
    value=logit,
    ends=(0.0, 1.0),
    name="Logit",
    title="the inverse logit of {}",
    weight=(1, 1),
)


class LogConcave(Law):
    """A law on an interval that is log-concave in a coordinate, used like a frozen SciPy law.

    Parameters
    ----------
    rise : callable
        From the high point of the density by u, or a point nearby, to L.
    on : Coordinate
        The coordinate u.
    ends : (float, float)
        The interval.
    about : float
        Where the density by u would be highest if the interval had no ends.

    Attributes
    ----------
    peak : float
        The high point.
    log_integral : float
        The log of the integral of exp(L) by u.
    error : float
        By how much a rule with fewer points differs, relative to the integral.
    """

    def __init__(
        self, rise: Callable[[float], Rise], on: Coordinate, ends: tuple[float, float], about: float
    ) -> None:
        self.ends, self._on = ends, on
        self.peak = float(np.clip(about, *ends))
        with np.errstate(all="ignore"):
            self._rise = rise(self.peak)
            down = _edges(lambda s: _mirrored(self._rise, s), -on.gap(ends[0], self.peak))
            edges = np.concatenate([-down[:0:-1], _edges(self._rise, on.gap(ends[1], self.peak))])
            self._edges = edges
            mass = self._integral(edges[:-1], edges[1:])
            self._below = np.concatenate([[0.0], np.cumsum(mass)])
            self._above = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
            self._total = self._above[0]
            self.log_integral = float(np.log(self._total))
            rough = self._integral(edges[:-1], edges[1:], _FEWER).sum()
            self.error = float(np.abs(rough / self._total - 1))
            self._moments()

    def _points(self, left: Array, right: Array, count: int = _NODES) -> tuple[Array, Array]:
        """Return points of panels along a last axis, and the mass that each stands for."""
        s, weight = nodes(left, right, count)
        return s, weight * np.exp(self._rise(s)[0])

    def _integral(self, left: Array, right: Array, count: int = _NODES) -> Array:
        return np.asarray(self._points(left, right, count)[1].sum(-1))

    def _moments(self) -> None:
        s, weights = self._points(self._edges[:-1], self._edges[1:])
        positive = weights > 0
        weights = weights[positive] / self._total
        gap = self._on.shift(self.peak, s[positive])
        size = np.abs(gap).max()
        centre = weights @ (gap / size)
        powers = [weights @ (gap / size - centre) ** k for k in (2, 3, 4)]
        self._mean = self.peak + size * centre
        self._std = size * np.sqrt(powers[0])
        self._shape = {"s": powers[1] / powers[0] ** 1.5, "k": powers[2] / powers[0] ** 2 - 3}

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self._mean)

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.asarray(self._std)

    def stats(self, moments: str) -> Array:
        """Return skewness (s) or excess kurtosis (k)."""
        return np.asarray(self._shape[moments])

    def _at(self, x: ArrayLike) -> Array:
        return np.asarray(self._on.gap(np.asarray(x, dtype=float), self.peak))

    def _tail(self, s: Array, lower: Any) -> tuple[Array, Array]:
        """Return the mass below s where `lower`, else above it, and the density."""
        edges = self._edges
        s = np.clip(s, edges[0], edges[-1])
        at = np.clip(np.searchsorted(edges, s, side="right") - 1, 0, len(edges) - 2)
        full = np.where(lower, self._below[at], self._above[at + 1])
        part = self._integral(np.where(lower, edges[at], s), np.where(lower, s, edges[at + 1]))
        return (full + part) / self._total, np.exp(self._rise(s)[0]) / self._total

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x."""
        return self._probability(x, lower=True)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of more than x."""
        return self._probability(x, lower=False)

    def _probability(self, x: ArrayLike, *, lower: bool) -> Array:
        x = np.clip(x, *self.ends)
        with np.errstate(all="ignore"):
            p = self._tail(self._at(x), lower)[0]
        return np.where(x == self.ends[lower], 1.0, p)[()]

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        x = np.asarray(x, dtype=float)
        with np.errstate(all="ignore"):
            rise = self._rise(self._at(x))[0]
            result = rise - self.log_integral - self._on.log_slope(x)
        inside = (x >= self.ends[0]) & (x <= self.ends[1])
        return np.where(inside, result, -np.inf)[()]

    def _bracket(self, q: Array, lower: Any) -> tuple[Array, Array, Array]:
        """Return the ends of panels, from the peak, and a guess as if logs of tails were linear."""
        q = q * self._total
        up = np.searchsorted(self._below, q, side="right") - 1
        down = np.searchsorted(-self._above, -q, side="right") - 1
        at = np.clip(np.where(lower, up, down), 0, len(self._edges) - 2)
        first, last = (np.where(lower, self._below[k], self._above[k]) for k in (at, at + 1))
        low, high = self._edges[at], self._edges[at + 1]
        guess = low + (high - low) * np.log(q / first) / np.log(last / first)
        return low, high, np.where((low < guess) & (guess < high), guess, (low + high) / 2)

    def _quantile(self, below: Array, above: Array) -> Array:
        with np.errstate(all="ignore"):
            x = self._on.away(self.peak, super()._quantile(below, above))
        low, high = self.ends
        x = np.where(below <= 0, low, np.where(above <= 0, high, np.clip(x, low, high)))
        return np.where((below >= 0) & (above >= 0), x, np.nan)[()]

    def rvs(self, size: Any = None, random_state: Any = None) -> Array:
        """Draw independent numbers."""
        low, high = np.nextafter(self.ends[0], np.inf), np.nextafter(self.ends[1], -np.inf)
        draws = self.ppf(np.random.default_rng(random_state).random(size))
        return np.clip(draws, low, high)


class Pareto(LogConcave):
    """The law of numbers from `least` on whose density falls off as x to the minus alpha - 1."""

    def __init__(self, alpha: float, least: float) -> None:
        def rise(s: Array) -> tuple[Array, Array]:
            return -alpha * s, np.full(np.shape(s), -alpha)

        super().__init__(lambda _: rise, LOG, (least, np.inf), least)
        law = stats.pareto(alpha, scale=least)
        self._mean, self._std = law.mean(), law.std()  # infinite where there is none
        self._shape = {"s": law.stats("s"), "k": law.stats("k")}
        self.parameters = {"alpha": alpha, "m": least}


def _mirrored(rise: Rise, s: Array) -> tuple[Array, Array]:
    value, slope = rise(-s)
    return value, -slope


def _edges(rise: Rise, end: float) -> Array:
    """Return the ends of panels from zero to the interval's end, or to the density's underflow."""
    last = 1.0
    while last < end and rise(np.asarray(last))[0] > -_LOWEST:
        last *= 2
    last = min(last, end)
    levels = np.append(_FLAT, _LEVELS) if last > _BENDS[-1] else _LEVELS
    levels = levels[levels < -rise(np.asarray(last))[0]]

    def below(s: Array) -> tuple[Array, Array]:
        value, slope = rise(s)
        return -value - levels, -slope

    zero, top = np.zeros(len(levels)), np.full(len(levels), last)
    result = increasing_root(below, zero, top, top)
    if len(levels) and levels[-1] == _LOWEST:
        last = result[-1]
    bends = _BENDS[last > _BENDS]
    return np.unique(np.concatenate([[0.0], result, bends, [last]]))
