"""The base of all laws: verbs that follow from others, and quantiles by root finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesmodels.numerics import Array

_STEPS, _CLOSE = 200, 1e-9


class Law:
    """A law of an array of numbers, used like a frozen SciPy law.

    A class states `cdf`, `logpdf`, `mean` and `std`; and for quantiles `_tail`, the probability
    below (where `lower`) or above numbers and the density there, and `_bracket`, numbers between
    which that probability is what is asked for, and a guess.
    """

    cdf: Any
    logpdf: Any
    std: Any
    _tail: Any
    _bracket: Any

    def var(self) -> Array:
        """Return the variance; infinite where it is beyond the largest float."""
        with np.errstate(over="ignore"):
            return np.asarray(self.std() ** 2)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of more than x."""
        return 1 - self.cdf(x)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density."""
        return np.exp(self.logpdf(x))

    def ppf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q below it."""
        q = np.asarray(q, dtype=float)
        return self._quantile(q, 1 - q)

    def isf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q above it."""
        q = np.asarray(q, dtype=float)
        return self._quantile(1 - q, q)

    def _quantile(self, below: Array, above: Array) -> Array:
        """Return quantiles as roots of the smaller tail."""
        lower = below <= above
        q, sign = np.where(lower, below, above), np.where(lower, 1.0, -1.0)

        def log_ratio(x: Array) -> tuple[Array, Array]:
            p, density = self._tail(x, lower)
            return sign * np.log(p / q), density / p

        return increasing_root(log_ratio, *self._bracket(q, lower))


def increasing_root(
    f: Callable[[Array], tuple[Array, Array]], low: Array, high: Array, x: Array
) -> Array:
    """Return where increasing functions are zero: Newton's steps, or else bisection.

    `f` returns values and slopes, elementwise. Values are logarithms of probabilities, of which
    the last step squares the error.
    """
    before = np.full(np.shape(x), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            value, slope = f(x)
            low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
            new, close = x - value / slope, np.abs(value) < _CLOSE
            new = np.where(close, np.clip(new, low, high), new)  # rounding may lead outside
            # Far out, values may be too rough for their slope.
            fast, before = close | (np.abs(value) <= before / 2), np.abs(value)
            inside = (low <= new) & (new <= high) & fast
            done = (close & inside) | (high - low <= np.spacing(np.abs(x)))
            x = np.where(inside, new, (low + high) / 2)
            if (done | np.isnan(value)).all():
                break
    return x


def by_element(
    functions: Sequence[Callable[[Array], Array]], x: ArrayLike, shape: tuple[int, ...]
) -> Array:
    """Evaluate one function for each element of an array of that shape, at x broadcast to it."""
    numbers = np.arange(len(functions)).reshape(shape)
    x, number = np.broadcast_arrays(np.asarray(x, dtype=float), numbers)
    order = np.argsort(number, axis=None, kind="stable")
    ends = np.cumsum(np.bincount(number.ravel(), minlength=len(functions)))
    flat, result = x.ravel(), np.empty(x.size)
    for function, at in zip(functions, np.split(order, ends), strict=False):
        result[at] = function(flat[at])
    return result.reshape(x.shape)[()]
