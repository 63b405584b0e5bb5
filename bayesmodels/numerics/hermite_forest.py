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

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_hermitenorm

from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Plan

_LOWEST = -1e300  # of logs
_NARROW = 1e-12  # variance of a number given another
_INSIDE = np.linspace(-5.0, 5.0, 41)  # deviations, between which draws are
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
    """Numbers that are eliminated together, those they meet then, and which pairs these are.

    Those they meet may be `distinct`.
    """

    own: NDArray[np.intp]
    above: NDArray[np.intp]
    pair: NDArray[np.intp]
    distinct: bool


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
                own, above = group.scope.T
                distinct = len(np.unique(above)) == len(above)
                self._rounds.append(_Round(own, above, pair, distinct))

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
        self._correlation, self._n = correlation, logs.shape[2]
        self._rule = rule(self._n)
        self._anywhere = polynomials(np.concatenate([self._rule.nodes, places]), self._n)
        self._logs = np.concatenate([logs, others], 2)
        self._logs[..., : self._n] += self._rule.log_weights / 2
        self._signs = np.ones_like(self._logs)
        self._messages: list[tuple[Array, Array]] = []
        self.log_total = np.zeros(len(logs))
        for one in rounds:
            scale, message = self._over(one, self._logs[:, one.own], self._signs[:, one.own])
            self.log_total += scale.sum(1)
            self._messages.append(message)
            self._times(one.above, message, distinct=one.distinct)
        own, n = self._logs[:, tops, : self._n], self._n
        own = own + self._rule.log_weights / 2
        top = own.max(2)
        mass = self._signs[:, tops, :n] * np.exp(own - top[..., None])
        with np.errstate(all="ignore"):
            self.log_total += (top + np.log(mass.sum(2))).sum(1)

    def _times(
        self, which: NDArray[np.intp], message: tuple[Array, Array], *, distinct: bool
    ) -> None:
        """Multiply functions of some numbers."""
        at: Any = (slice(None), which)
        if distinct:
            self._logs[at] += message[0]
            self._signs[at] *= message[1]
        else:
            np.add.at(self._logs, at, message[0])
            np.multiply.at(self._signs, at, message[1])

    def _over(self, one: _Round, logs: Array, signs: Array) -> tuple[Array, tuple[Array, Array]]:
        """Return the mean of functions given the number at the other end: scale, and log and sign.

        The functions are times root weights at Gauss' nodes.
        """
        n = self._n
        top = np.maximum(logs[..., :n].max(2), _LOWEST)
        coefficients = (signs[..., :n] * np.exp(logs[..., :n] - top[..., None])) @ (
            self._rule.polynomials.T
        )
        power = self._correlation[:, one.pair][..., None] ** np.arange(n)
        values = (coefficients * power) @ self._anywhere
        with np.errstate(divide="ignore"):
            return top, (np.log(np.abs(values)), np.where(values < 0, -1.0, 1.0))

    def log_laws(self) -> Array:
        """Return log densities of all numbers at the places, but for constants (rows, size, k)."""
        n, upward = self._n, (self._logs, self._signs)
        self._logs, self._signs = (x.copy() for x in upward)
        for one, message in zip(self._rounds[::-1], self._messages[::-1], strict=True):
            with np.errstate(invalid="ignore"):
                logs = self._logs[:, one.above] - message[0]
            logs = np.where(np.isfinite(message[0]), logs, -np.inf)
            _, down = self._over(one, logs, self._signs[:, one.above] * message[1])
            self._times(one.own, down, distinct=True)
        result = np.where(self._signs[..., n:] > 0, self._logs[..., n:], -np.inf)
        self._logs, self._signs = upward
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
