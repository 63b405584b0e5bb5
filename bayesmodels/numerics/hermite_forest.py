r"""Sums over chains and trees of normal numbers, of products of functions of one number each.

Of standard normal numbers u and v with correlation r the Hermite polynomials, orthonormal under the
normal law, have

.. math:: E[h_m(u) \mid v] = r^m h_m(v).

So what the numbers below one tell of it is a sum over these polynomials, whose coefficients are
read off at Gauss' nodes: no function of two numbers is ever evaluated, however close they are. One
number after the other is eliminated, from the ends of chains and trees on, and looked at on the way
back. Functions are kept as logs and signs.

Source: Szegő (1975), *Orthogonal Polynomials*, chapter V and problem 23 (Mehler's formula).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_hermitenorm

from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Plan
from bayesmodels.numerics.kernels import threaded

_LOWEST = -1e300  # of logs
_NARROW = 1e-12  # variance of a number given another
_INSIDE = np.linspace(-5.0, 5.0, 41)  # deviations, between which draws are
Order = NDArray[np.intp]
_ANY = 17  # levels, so many that ends are eliminated first


class Rule(NamedTuple):
    """Gauss' nodes, logs of their weights, and the polynomials there (n, n) and anywhere."""

    nodes: Array
    log_weights: Array
    polynomials: Array


@cache
def rule(number: int) -> Rule:
    """Return Gauss' rule for the standard normal law; its polynomials are times root weights."""
    nodes, weights = roots_hermitenorm(number)
    log_weights = np.log(weights / weights.sum())
    return Rule(nodes, log_weights, polynomials(nodes, number) * np.exp(log_weights / 2))


def polynomials(x: Array, number: int) -> Array:
    """Return the first orthonormal Hermite polynomials at x, (number, len(x))."""
    result = np.ones((number, len(x)))
    result[1] = x
    for m in range(1, number - 1):
        result[m + 1] = (x * result[m] - np.sqrt(m) * result[m - 1]) / np.sqrt(m + 1)
    return result


@dataclass(frozen=True, eq=False)
class _Round:
    """Numbers that are eliminated together, those they meet then, and which pairs these are."""

    own: NDArray[np.intp]
    above: NDArray[np.intp]
    pair: NDArray[np.intp]


class HermiteForest:
    """In which order numbers that meet in `pairs` (n, 2), a forest, are eliminated."""

    def __init__(self, pairs: NDArray[np.intp], size: int) -> None:
        self.size, self._rounds, self._tops = size, list[_Round](), np.zeros(0, dtype=int)
        for groups in Plan({1: np.arange(size)[:, None], 2: pairs}, size, _ANY).rounds:
            for group in groups:
                if group.scope.shape[1] == 1:
                    self._tops = np.append(self._tops, group.scope[:, 0])
                    continue
                pair = np.empty(len(group.scope), dtype=int)
                for use in group.uses:
                    if use.width > 1:
                        pair[use.to] = use.rows
                self._rounds.append(_Round(group.scope[:, 0], group.scope[:, 1], pair))

    @property
    def depth(self) -> NDArray[np.intp]:
        """How many steps each number is away from the last of its tree."""
        result = np.zeros(self.size, dtype=int)
        for one in self._rounds[::-1]:
            result[one.own] = result[one.above] + 1
        return result

    def eliminated(
        self, logs: Array, others: Array, places: Array, correlation: Array
    ) -> Eliminated:
        """Eliminate all, one forest a row.

        Parameters
        ----------
        logs : array (rows, size, n)
            Log functions at the nodes of Gauss' rule for n.
        others : array (rows, size, k)
            The same at `places` (k), where laws are asked for.
        correlation : array (rows, pairs)
            Correlations of the numbers that meet.
        """
        return Eliminated(self._rounds, self._tops, logs, others, places, correlation)


@threaded
def _over(
    logs: Array, signs: Array, r: float, given: Array, anywhere: Array, log: Array, sign: Array
) -> float:
    """Put the mean of a function given the number at the other end into `log` and `sign`.

    The function is times root weights at Gauss' nodes, and divided by its scale, which is returned.
    """
    n, places = anywhere.shape
    top = _LOWEST
    for j in range(n):
        if not logs[j] <= top:
            top = logs[j]
    values, f = np.zeros(places), np.empty(n)
    for j in range(n):
        f[j] = signs[j] * math.exp(logs[j] - top)
    power = 1.0
    for m in range(n):
        coefficient = 0.0
        for j in range(n):
            coefficient += f[j] * given[m, j]
        coefficient *= power
        power *= r
        for j in range(places):
            values[j] += coefficient * anywhere[m, j]
    for j in range(places):
        value = values[j]
        log[j] = -math.inf if value == 0 else math.log(abs(value))
        sign[j] = -1.0 if value < 0 else 1.0
    return top


@threaded
def _eliminate(
    own: Order, above: Order, pair: Order, correlation: Array, given: Array, anywhere: Array,
    logs: Array, signs: Array, told: Array, sign: Array, total: Array,
) -> None:  # fmt: skip
    """Multiply functions of numbers by what those before them tell, which is kept; add scales."""
    for row in range(len(logs)):
        for k in range(len(own)):
            i, j, r = own[k], above[k], correlation[row, pair[k]]
            a, b = told[row, k], sign[row, k]
            total[row] += _over(logs[row, i], signs[row, i], r, given, anywhere, a, b)
            for m in range(len(a)):
                logs[row, j, m] += a[m]
                signs[row, j, m] *= b[m]


@threaded
def _return(
    own: Order, above: Order, pair: Order, correlation: Array, given: Array, anywhere: Array,
    logs: Array, signs: Array, told: Array, sign: Array,
) -> None:  # fmt: skip
    """Multiply functions of numbers by what all those after them tell, too."""
    size = logs.shape[2]
    rest, signed, log, its = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for row in range(len(logs)):
        for k in range(len(own) - 1, -1, -1):
            i, j, r = own[k], above[k], correlation[row, pair[k]]
            for m in range(size):
                known = math.isfinite(told[row, k, m])
                rest[m] = logs[row, j, m] - told[row, k, m] if known else -math.inf
                signed[m] = signs[row, j, m] * sign[row, k, m]
            _over(rest, signed, r, given, anywhere, log, its)
            for m in range(size):
                logs[row, i, m] += log[m]
                signs[row, i, m] *= its[m]


class Eliminated:
    """What is left: `log_total`, one a row; and the laws on the way back."""

    def __init__(
        self,
        rounds: list[_Round],
        tops: NDArray[np.intp],
        logs: Array,
        others: Array,
        places: Array,
        correlation: Array,
    ) -> None:
        self._rounds, self._tops, self._places = rounds, tops, places
        self._n, self._correlation = logs.shape[2], correlation
        steps = [np.array([r.own, r.above, r.pair]) for r in rounds]
        self._rule = rule(self._n)
        anywhere = polynomials(np.concatenate([self._rule.nodes, places]), self._n)
        order = np.concatenate([np.zeros((3, 0), dtype=int), *steps], 1)
        self._given = *order, correlation, self._rule.polynomials, anywhere
        self._logs = np.concatenate([logs, others], 2)
        self._logs[..., : self._n] += self._rule.log_weights / 2
        self._signs = np.ones_like(self._logs)
        told = (len(logs), order.shape[1], self._logs.shape[2])
        self._messages = np.empty(told), np.empty(told)
        self.log_total = np.zeros(len(logs))
        _eliminate(*self._given, self._logs, self._signs, *self._messages, self.log_total)
        own, n = self._logs[:, tops, : self._n], self._n
        own = own + self._rule.log_weights / 2
        top = own.max(2)
        mass = self._signs[:, tops, :n] * np.exp(own - top[..., None])
        with np.errstate(all="ignore"):
            self.log_total += (top + np.log(mass.sum(2))).sum(1)

    def log_laws(self) -> Array:
        """Return log densities of all numbers at the places, but for constants (rows, size, k)."""
        logs, signs = self._logs.copy(), self._signs.copy()
        _return(*self._given, logs, signs, *self._messages)
        result = np.where(signs[..., self._n :] > 0, logs[..., self._n :], -np.inf)
        return np.asarray(result - self._places**2 / 2)

    def sample(self, rng: np.random.Generator) -> Array:
        """Return one draw a row of all numbers, (rows, size): nearly, as between places."""
        n, places = self._n, self._places
        result = np.empty(self._logs.shape[:2])
        for own, above, pair in [
            (self._tops, None, None),
            *((r.own, r.above, r.pair) for r in self._rounds[::-1]),
        ]:
            logs = np.where(self._signs[:, own, n:] > 0, self._logs[:, own, n:], -np.inf)
            middle, sd = np.zeros(logs.shape[:2]), np.ones(logs.shape[:2])
            if above is not None:
                r = self._correlation[:, pair]
                middle, sd = r * result[:, above], np.sqrt(np.maximum(1 - r**2, _NARROW))
            result[:, own] = _drawn(logs, places, middle, sd, rng)
        return result


def _drawn(logs: Array, places: Array, middle: Array, sd: Array, rng: np.random.Generator) -> Array:
    """Return draws from normal laws times functions whose logs are known at rising places."""
    x = middle[..., None] + sd[..., None] * _INSIDE
    k = np.clip(np.searchsorted(places, x) - 1, 0, len(places) - 2)
    part = np.clip((x - places[k]) / (places[k + 1] - places[k]), 0.0, 1.0)
    low, high = (np.take_along_axis(logs, k + i, 2) for i in (0, 1))
    with np.errstate(invalid="ignore"):
        between = np.nan_to_num((1 - part) * low + part * high, nan=-np.inf, neginf=-np.inf)
    each = between - _INSIDE**2 / 2
    top = each.max(2, keepdims=True)
    mass = np.exp(each - np.where(np.isfinite(top), top, 0.0))
    steps = np.cumsum(mass, 2)
    chosen = (rng.random((*middle.shape, 1)) * steps[..., -1:] >= steps[..., :-1]).sum(2)
    width = _INSIDE[1] - _INSIDE[0]
    at = _INSIDE[chosen] + width * (rng.random(middle.shape) - 0.5)
    return np.asarray(middle + sd * at)
