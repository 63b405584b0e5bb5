r"""The law of an entry of a Wishart matrix off its diagonal.

It is, in units of :math:`\sqrt{V_{ii} V_{jj}}`, a variance-gamma variable:
normal given the diagonal entry, and with r the correlation of the scale matrix also a difference,

.. math:: L_{ij} = A - B, \qquad A \sim \mathrm{Gamma}(\nu / 2, \text{scale } 1 + r), \quad
    B \sim \mathrm{Gamma}(\nu / 2, \text{scale } 1 - r) \quad \text{independent},

as its moment generating function :math:`\{(1 - (1 + r) t) (1 + (1 - r) t)\}^{-\nu/2}` says (Madan,
Carr and Chang, 1998). For x >= 0 its tails are averages over B of tails of A at x + B. Over ln b
the integrand has one high point, about 1 / sqrt(nu) wide whatever r, falls off at least as a
log-gamma density does, and has its nearest singularities at :math:`\ln x \pm i\pi`: the trapezoidal
rule converges exponentially. Given the diagonal entry, it would need more nodes the closer r is
to 1. The density is the same average; the Bessel function's form of it cancels at large nu.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaincc, gammainccinv, gammaincinv, gammaln, kve, ndtri

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import increasing_root
from bayesmodels.numerics.laws import Continuous, InAnyUnit
from bayesmodels.numerics.special import HALF_LOG_2PI, log_lower_gamma, stirling_remainder

_STEP = 0.7  # of the trapezoidal rule, in widths; halved, no result changes but by rounding
_NEGLIGIBLE = 40.0  # exp(-40) is 4e-18
_MARGIN = 3.0  # the high point is known that well, in units of 1 / sqrt(nu / 2)
_BLOCK = 1000  # integrals at once, which bounds the memory
_BESSEL_FAR = 1e8  # SciPy's function answers NaN from some 1e9 on
_LARGEST = 1e290


class _VarianceGamma(InAnyUnit, Continuous):  # type: ignore[misc]
    """The law of A - B with scales 1 + r and 1 - r, shape k = nu / 2; -X has the correlation -r."""

    def _argcheck(self, k: Any, r: Any) -> Any:
        return (k > 0) & (np.abs(r) <= 1)

    def _stats(self, k: Array, r: Array) -> tuple[Array, ...]:
        # The n-th cumulant is k (n - 1)! {(1 + r)^n + (r - 1)^n}.
        kurtosis = 3 * (1 + 6 * r**2 + r**4) / (k * (1 + r**2) ** 2)
        return 2 * k * r, 2 * k * (1 + r**2), _skewness(k, r), kurtosis

    def _logpdf(self, x: Array, k: Array, r: Array) -> Array:
        return _log_density(*np.broadcast_arrays(x, k, r))

    def _cdf(self, x: Array, k: Array, r: Array) -> Array:
        return np.exp(_log_probabilities(*np.broadcast_arrays(x, k, r))[0])

    def _sf(self, x: Array, k: Array, r: Array) -> Array:
        return np.exp(_log_probabilities(*np.broadcast_arrays(x, k, r))[1])

    def _ppf(self, q: Array, k: Array, r: Array) -> Array:
        sign = np.where(q > 0.5, -1.0, 1.0)  # noqa: PLR2004 - the side with the smaller tail
        return sign * _lower_quantile(np.minimum(q, 1 - q), k, sign * r)

    def _isf(self, q: Array, k: Array, r: Array) -> Array:
        return -self._ppf(q, k, -r)


variance_gamma = _VarianceGamma(name="variance_gamma")
"""``variance_gamma(k, r, scale=unit)`` is frozen as SciPy's laws are."""


def _skewness(k: Array, r: Array) -> Array:
    return r * (6 + 2 * r**2) / np.sqrt(2 * k * (1 + r**2) ** 3)


def _lower_quantile(level: Array, k: Array, r: Array) -> Array:
    """Return quantiles of levels up to one half, by logarithms of probabilities."""
    level, k, r = np.broadcast_arrays(level, k, r)
    low, high = -(1 - r) * gammainccinv(k, level), (1 + r) * gammaincinv(k, level)  # -B < X < A
    z = ndtri(level)
    z = z + _skewness(k, r) * (z**2 - 1) / 6
    start = np.clip(2 * k * r + np.sqrt(2 * k * (1 + r**2)) * z, low, high)

    def log_ratio(x: Array) -> tuple[Array, Array]:
        below = _log_probabilities(x, k, r)[0]
        return below - np.log(level), np.exp(_log_density(x, k, r) - below)

    return increasing_root(log_ratio, low, high, start)


def _log_probabilities(x: Array, k: Array, r: Array) -> tuple[Array, Array]:
    """Return the logs of cdf and sf; the one on x's side of the mean is integrated."""
    turned = x < 0  # then look at -X
    x, r = np.abs(x), np.where(turned, -r, r)
    beyond = x >= 2 * k * r
    tail = np.empty(x.shape)
    for some, kind in ((beyond, "sf"), (~beyond, "cdf")):
        tail[some] = _integral(kind, x[some], k[some], r[some])
    tail = np.minimum(tail, 0)
    with np.errstate(divide="ignore"):
        rest = np.log1p(-np.exp(tail))
    own = beyond == turned
    return np.where(own, tail, rest), np.where(own, rest, tail)


def _log_density(x: Array, k: Array, r: Array) -> Array:
    x, r = np.abs(x), np.where(x < 0, -r, r)
    result = np.empty(x.shape)
    # Below shape 1 the integrand falls off too slowly where x is near zero.
    small = k < 1
    result[small] = _bessel_density(x[small], k[small], r[small])
    result[~small] = _integral("pdf", x[~small], k[~small], r[~small])
    return np.where(np.isinf(x), -np.inf, result)


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


def _integral(kind: str, x: Array, k: Array, r: Array) -> Array:
    """Return the log of ``cdf``, ``sf`` or ``pdf`` at x >= 0, a block at a time."""
    result = np.empty(x.shape)
    for start in range(0, len(x), _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = _average(kind, x[part, None], k[part, None], r[part, None])
    return result


def _average(kind: str, x: Array, k: Array, r: Array) -> Array:
    """Return the log of an average over B, for columns of arguments.

    The high point is near B's mean given A - B = x under the exponentially tilted law of mean x.
    """
    one, other = 1 + r, 1 - r
    size = k * one * other
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        peak = np.log(size) + np.log1p(size / (np.hypot(size, x) + x)) - np.log(2)
        step = _STEP / np.sqrt(2 * k + 6)
        reach = np.sqrt(2 * _NEGLIGIBLE / k) + _MARGIN / np.sqrt(k)
        left = reach + _NEGLIGIBLE / k  # there the fall is no faster than b^k
        number = int(np.ceil(((left + reach) / step).max()))
        log_b = peak - left + step * np.arange(number)
        b = np.exp(log_b)
        logs = _log_gamma_density(log_b - np.log(other * k), k)
        y = (x + b) / one
        if kind == "pdf":
            logs += _log_gamma_density(np.log(y / k), k) - np.log(x + b)
        else:
            logs += np.log(gammaincc(k, y)) if kind == "sf" else log_lower_gamma(k, y)
        top = logs.max(1, keepdims=True)
        top = np.where(top == -np.inf, 0.0, top)
        return (top + np.log((step * np.exp(logs - top)).sum(1, keepdims=True)))[:, 0]


def _log_gamma_density(t: Array, k: Array) -> Array:
    """Return the log density of t = ln(G / k) for G of shape k, without cancellation at large k."""
    return k * (t - np.expm1(t)) + 0.5 * np.log(k) - HALF_LOG_2PI - stirling_remainder(k)
