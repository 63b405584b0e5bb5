r"""The laws of entries of Wishart and inverse-Wishart matrices off the diagonal.

Both are laws of two independent variables. With r the correlation of the scale matrix V or
:math:`\Psi`, in units of :math:`\sqrt{V_{ii} V_{jj}}` or :math:`\sqrt{\Psi_{ii} \Psi_{jj}}`,

.. math:: L_{ij} = A - B, \qquad A \sim \mathrm{Gamma}(a, \text{scale } 1 + r), \quad
    B \sim \mathrm{Gamma}(a, \text{scale } 1 - r), \quad a = \nu / 2,

as its moment generating function :math:`\{(1 - (1 + r) t) (1 + (1 - r) t)\}^{-\nu/2}` says (Madan,
Carr and Chang, 1998), and by Bartlett's decomposition of the 2 x 2 block

.. math:: \Sigma_{ij} = \beta / G, \qquad G \sim \mathrm{Gamma}(a, \tfrac12), \quad
    \beta \sim t_{2a+1}\left(r, \tfrac{1 - r^2}{2a + 1}\right), \quad a = (\nu - D + 1) / 2.

Probabilities and densities are averages over B or G, integrated between quantiles of both: given
the diagonal entry itself, the other variable would be all but known where r is near 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammaln, kve, stdtr

from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.law import increasing_root
from bayesmodels.numerics.laws import Continuous, InAnyUnit, gamma, student_t
from bayesmodels.numerics.panels import edges, integral, quantiles
from bayesmodels.numerics.special import log_gamma_kernel, log_lower_gamma

_BLOCK = 500  # integrals at once, which bounds the memory
_COST = 1000  # numbers for an integral, about
_GOAL = 1e-10  # errors are stated too large by some digits
_FARTHEST = 700.0  # exp(700) is 1e304
_LARGEST = 1e290
_ROUNDS, _BETWEEN = 8, np.array([[0.75, 0.5, 0.25], [0.25, 0.5, 0.75]])
_FAR = -200.0  # logs of what lies beyond all quantiles
_NOTHING = 80.0  # exp(-80) is 2e-35, of which even the widest panel is nothing
_LOWEST = {"pdf": -1e5, "cdf": -745.0, "sf": -745.0}  # logs below which no digits are left
_BESSEL_FAR = 1e8  # SciPy's function answers NaN from some 1e9 on


class _Entry(InAnyUnit, Continuous):  # type: ignore[misc]
    """The law of an entry off the diagonal; that of -X has the correlation -r."""

    _about: Callable[[Array, Array], tuple[Array, Array]]  # a number in the middle, and a unit
    _averaged: Callable[[str, Array, Array, Array], Array]  # the log of cdf, sf or pdf

    def _argcheck(self, a: Any, r: Any) -> Any:
        return (a > 0) & (np.abs(r) <= 1)

    def _logpdf(self, x: Array, a: Array, r: Array) -> Array:
        return np.where(np.isinf(x), -np.inf, self._logs("pdf", x, a, r))

    def _cdf(self, x: Array, a: Array, r: Array) -> Array:
        return np.exp(self._log_tail(x, a, r, above=False))

    def _sf(self, x: Array, a: Array, r: Array) -> Array:
        return np.exp(self._log_tail(x, a, r, above=True))

    def _ppf(self, q: Array, a: Array, r: Array) -> Array:
        sign = np.where(q > 0.5, -1.0, 1.0)  # noqa: PLR2004 - the side with the smaller tail
        return sign * self._lower_quantile(np.minimum(q, 1 - q), a, sign * r)

    def _isf(self, q: Array, a: Array, r: Array) -> Array:
        return -self._ppf(q, a, -r)

    def _lower_quantile(self, level: Array, a: Array, r: Array) -> Array:
        # The unknown t, x = unit sinh(t): logarithmic far out on both sides, linear around zero.
        middle, unit = self._about(a, r)

        def log_ratio(t: Array) -> tuple[Array, Array]:
            x = unit * np.sinh(t)
            below = self._log_tail(x, a, r, above=False)
            slope = np.exp(self._logs("pdf", x, a, r) - below) * unit * np.cosh(t)
            return below - np.log(level), slope

        far = np.full(level.shape, _FARTHEST)
        t = increasing_root(log_ratio, -far, far, np.arcsinh(middle / unit))
        return np.where(np.abs(t) > _FARTHEST - 1, np.copysign(np.inf, t), unit * np.sinh(t))

    def _log_tail(self, x: Array, a: Array, r: Array, *, above: bool) -> Array:
        """Return the log of one tail; the tail on x's side of the middle is integrated."""
        x, a, r = np.broadcast_arrays(x, a, r)
        upper, tail = x >= self._about(a, r)[0], np.empty(x.shape)
        for side, kind in ((upper, "sf"), (~upper, "cdf")):
            tail[side] = np.minimum(self._logs(kind, x[side], a[side], r[side]), 0)
        with np.errstate(divide="ignore"):
            return np.where(upper == above, tail, np.log1p(-np.exp(tail)))

    def _logs(self, kind: str, x: Array, a: Array, r: Array) -> Array:
        every = np.broadcast_arrays(x, a, r)
        x, a, r = (np.ravel(part) for part in every)
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(x), _BLOCK)]

        def averaged(block: slice) -> Array:
            with np.errstate(all="ignore"):
                return self._averaged(kind, x[block], a[block], r[block])

        logs = threads.gathered(averaged, blocks, _COST * len(x))
        return np.concatenate([x[:0], *logs]).reshape(every[0].shape)


def _log_integral(logs: Callable[[Array, Any], Array], ends: Array, lowest: float) -> Array:
    """Return the log of the integral of exp(logs), which have one high point, of each problem."""
    owner = np.arange(len(ends))
    for turn in range(_ROUNDS):
        height = logs(ends, owner[:, None]) + np.log(ends)  # by ln y
        height = np.where(np.isfinite(height), height, -np.inf)
        best, top = height.argmax(1), height.max(1)
        if (top > _FAR).all() or turn == _ROUNDS - 1:
            break
        # The high point may be far from all quantiles: look on both sides of the highest so far.
        sides = ends[owner, np.maximum(best - 1, 0)], ends[owner, (best + 1) % ends.shape[1]]
        ends = np.sort(np.concatenate([ends, np.exp(np.log(sides).T @ _BETWEEN)], 1))
    known, near = top > lowest, np.pad(height > top[:, None] - _NOTHING, ((0, 0), (1, 1)))
    near = near[:, 1:-1] | near[:, 2:] | near[:, :-2]
    ends = np.where(known[:, None] & near, ends, np.nan)
    area, _ = integral(lambda y, owner: np.exp(logs(y, owner) - top[owner])[None], ends, goal=_GOAL)
    return np.where(known, top + np.log(area[0]), top)


class _InverseWishartEntry(_Entry):
    """The law of beta / G."""

    def _stats(self, a: Array, r: Array) -> tuple[Array, ...]:
        return _moments(a, r)

    def _about(self, a: Array, r: Array) -> tuple[Array, Array]:
        return 0.5 * r / (a + 1), 0.5 / (a + 1)

    def _averaged(self, kind: str, x: Array, a: Array, r: Array) -> Array:
        df = 2 * a + 1
        spread = np.sqrt((1 - r) * (1 + r) / df)

        def logs(g: Array, at: Any) -> Array:
            t, log_w = (x[at] * g - r[at]) / spread[at], log_gamma_kernel(g / 2, a[at])
            if kind == "pdf":
                return log_w + student_t.logpdf(t, df[at]) - np.log(spread[at])
            return log_w - np.log(g) + np.log(stdtr(df[at], t if kind == "cdf" else -t))

        beta = quantiles(student_t(df, r, spread)) / x[:, None]
        ends = edges(quantiles(gamma(a, scale=2.0)), np.maximum(beta, 0))
        return _log_integral(logs, ends, _LOWEST[kind])


class _VarianceGamma(_Entry):
    """The law of A - B, a variance-gamma law."""

    def _stats(self, a: Array, r: Array) -> tuple[Array, ...]:
        # The n-th cumulant is a (n - 1)! {(1 + r)^n + (r - 1)^n}.
        skewness = r * (6 + 2 * r**2) / np.sqrt(2 * a * (1 + r**2) ** 3)
        kurtosis = 3 * (1 + 6 * r**2 + r**4) / (a * (1 + r**2) ** 2)
        return 2 * a * r, 2 * a * (1 + r**2), skewness, kurtosis

    def _about(self, a: Array, r: Array) -> tuple[Array, Array]:
        return 2 * a * r, np.sqrt(2 * a * (1 + r**2))

    def _averaged(self, kind: str, x: Array, a: Array, r: Array) -> Array:
        turned = x < 0  # then look at -X
        x, r = np.abs(x), np.where(turned, -r, r)
        one, other = 1 + r, 1 - r
        if kind == "pdf" and (small := a < 1).any():  # infinite, or nearly, where x is near zero
            result = _bessel_density(x, a, r)
            result[~small] = self._logs(kind, x[~small], a[~small], r[~small])
            return result

        def logs(b: Array, at: Any) -> Array:
            y, log_w = (x[at] + b) / one[at], log_gamma_kernel(b / other[at], a[at]) - np.log(b)
            if kind == "pdf":
                return log_w + log_gamma_kernel(y, a[at]) - np.log(x[at] + b)
            below = turned[at] == (kind == "sf")
            return log_w + np.where(below, log_lower_gamma(a[at], y), np.log(gammaincc(a[at], y)))

        above = quantiles(gamma(a, scale=one)) - x[:, None]
        ends = edges(quantiles(gamma(a, scale=other)), np.maximum(above, 0))
        return _log_integral(logs, ends, _LOWEST[kind])


inverse_wishart_entry = _InverseWishartEntry(name="inverse_wishart_entry")
"""``inverse_wishart_entry(a, r, scale=unit)`` is frozen as SciPy's laws are."""

variance_gamma = _VarianceGamma(name="variance_gamma")
"""``variance_gamma(a, r, scale=unit)`` likewise."""


def _moments(a: Array, r: Array) -> tuple[Array, Array, Array, Array]:
    """Return mean, variance, skewness and excess kurtosis; summands of one sign."""
    df = 2 * a + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = 0.5 / (a - 1)  # of 1 / G, then its central moments
        second = centre**2 / (a - 2)
        third = 4 * second**1.5 * np.sqrt(a - 2) / (a - 3)
        fourth = 3 * second**2 * (a + 5) * (a - 2) / ((a - 3) * (a - 4))
        wide = (1 - r) * (1 + r) / (df - 2)  # variance of beta
        wider = 3 * wide**2 * (df - 2) / (df - 4)
        variance = (centre**2 + second) * wide + r**2 * second
        skew = 3 * r * (2 * centre * second + third) * wide + r**3 * third
        raw = (0.5**4) / ((a - 1) * (a - 2) * (a - 3) * (a - 4))
        mixed = centre**2 * second + 2 * centre * third + fourth
        kurtosis = raw * wider + 6 * r**2 * wide * mixed + r**4 * fourth
        return (
            np.where(a > 1, r * centre, np.nan),
            np.where(a > 2, variance, np.where(a > 1, np.inf, np.nan)),  # noqa: PLR2004 - moments
            np.where(a > 3, skew / variance**1.5, np.nan),  # noqa: PLR2004
            np.where(a > 4, kurtosis / variance**2 - 3, np.nan),  # noqa: PLR2004
        )


def _bessel_density(x: Array, k: Array, r: Array) -> Array:
    """Return the log density from the Bessel function K of the order k - 1/2, 0 to 1/2."""
    order, unit = k - 0.5, (1 - r) * (1 + r)
    z = np.clip(x, np.finfo(float).tiny, _LARGEST) / unit
    far = np.maximum(z / _BESSEL_FAR, 1.0)  # beyond, two terms of the expansion are enough
    bessel = (
        np.log(kve(order, z / far)) - np.log(far) / 2 + (4 * order**2 - 1) * (1 - far) / (8 * z)
    )
    away = order * np.log(z * unit / 2) + bessel - 0.5 * np.log(np.pi * unit)
    at_zero = gammaln(order) + (k - 1) * np.log(unit) - 0.5 * np.log(4 * np.pi)
    return np.where(x == 0, at_zero, away - x / (1 + r)) - gammaln(k)
