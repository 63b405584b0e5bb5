r"""The law of an entry of an inverse-Wishart matrix off its diagonal.

In units of :math:`\sqrt{\Psi_{ii} \Psi_{jj}}` it is a quotient of two independent variables
(Bartlett's decomposition of the 2 x 2 block),

.. math:: \Sigma_{ij} = \beta / G, \qquad G \sim \mathrm{Gamma}(a, \tfrac12), \quad
    \beta \sim t_{2a+1}\left(r, \tfrac{1 - r^2}{2a + 1}\right),

with :math:`a = (\nu - D + 1) / 2` and the correlation r of the scale matrix. Its probabilities are
integrals over log beta of positive, smooth functions with one high point and with singularities
only at :math:`\pm i \arccos r`. The trapezoidal rule converges exponentially on such functions
(Trefethen and Weideman, 2014) after a change of variable that spreads out both features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc, gammaincc, stdtr

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import increasing_root
from bayesmodels.numerics.laws import Continuous, InAnyUnit
from bayesmodels.numerics.special import log_gamma_kernel, log_gamma_ratio, lower_gamma

_STEP = 0.13  # of the trapezoidal rule; tests/numerics/test_wishart.py holds it against mpmath
_NEGLIGIBLE = 45.0  # exp(-45) is 1e-20
_BLOCK = 20_000  # integrals at once, which bounds the memory
_BISECTIONS = 60
_NARROW = 200.0  # from this a on, ln G varies less than a tenth
_CLOSE = 0.9  # correlation from which on beta given G varies faster than G
_FAR = 30.0  # widths: beyond it nothing is left
_FARTHEST = 700.0  # exp(700) is 1e304


class _InverseWishartEntry(InAnyUnit, Continuous):  # type: ignore[misc]
    """The law of beta / G; -X has the correlation -r."""

    def _argcheck(self, a: Any, r: Any) -> Any:
        return (a > 0) & (np.abs(r) <= 1)

    def _stats(self, a: Array, r: Array) -> tuple[Array, ...]:
        return _moments(a, r)

    def _logpdf(self, x: Array, a: Array, r: Array) -> Array:
        return _integral("pdf", x, a, r)

    def _cdf(self, x: Array, a: Array, r: Array) -> Array:
        return np.exp(_integral("cdf", x, a, r))

    def _sf(self, x: Array, a: Array, r: Array) -> Array:
        return np.exp(_integral("sf", x, a, r))

    def _ppf(self, q: Array, a: Array, r: Array) -> Array:
        sign = np.where(q > 0.5, -1.0, 1.0)  # noqa: PLR2004 - the side with the smaller tail
        return sign * _lower_quantile(np.minimum(q, 1 - q), a, sign * r)

    def _isf(self, q: Array, a: Array, r: Array) -> Array:
        return -self._ppf(q, a, -r)


inverse_wishart_entry = _InverseWishartEntry(name="inverse_wishart_entry")
"""``inverse_wishart_entry(a, r, scale=unit)`` is frozen as SciPy's laws are."""


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


def _lower_quantile(level: Array, a: Array, r: Array) -> Array:
    """Return quantiles of levels up to one half, by logarithms of probabilities."""
    # The unknown t, x = unit sinh(t): logarithmic far out on both sides, linear around zero.
    level, a, r = np.broadcast_arrays(level, a, r)
    unit = 0.5 / (a + 1)

    def log_ratio(t: Array) -> tuple[Array, Array]:
        x = unit * np.sinh(t)
        below = _integral("cdf", x, a, r)
        below = np.where(np.isnan(below), -np.inf, below)  # of a tail that underflows
        slope = np.exp(_integral("pdf", x, a, r) - below) * unit * np.cosh(t)
        return below - np.log(level), slope

    far = np.full(level.shape, _FARTHEST)
    t = increasing_root(log_ratio, -far, far, np.arcsinh(r))
    return np.where(np.abs(t) > _FARTHEST - 1, np.copysign(np.inf, t), unit * np.sinh(t))


# --- probabilities and densities of beta / G ------------------------------------------------------


def _integral(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log of ``cdf``, ``sf`` or ``pdf`` at x, for flat arrays."""
    x, a, r = np.broadcast_arrays(x, a, r)
    result = np.full(x.shape, np.nan)
    for start in range(0, len(x), _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = _reflected(kind, x[part], a[part], r[part])
    return result


def _reflected(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Left of zero look at -x, whose law has the correlation -r and the other tail."""
    result = np.full(x.shape, np.nan)
    left = x < 0
    if left.any():
        turned = {"cdf": "sf", "sf": "cdf", "pdf": "pdf"}[kind]
        result[left] = _reflected(turned, -x[left], a[left], -r[left])
    if kind == "pdf":
        result[x == 0] = (_log_t(np.zeros(1), a, r) + np.log(2 * a))[x == 0]
        result[np.isinf(x)] = -np.inf
    else:
        rising = kind == "cdf"
        with np.errstate(divide="ignore"):
            result[x == 0] = np.log(_negative(a, r if rising else -r))[x == 0]
        result[np.isinf(x) & (x > 0)] = 0.0 if rising else -np.inf
    right = (x > 0) & np.isfinite(x)
    if right.any():
        result[right] = _right_of_zero(kind, x[right], a[right], r[right])
    return result


def _right_of_zero(kind: str, x: Array, a: Array, r: Array) -> Array:
    narrow = (a > _NARROW) & (np.abs(r) < _CLOSE) & (kind != "pdf")
    result = np.empty(x.shape)
    for some, function in ((narrow, _over_gamma), (~narrow, _by_beta)):
        if some.any():
            result[some] = function(kind, x[some], a[some], r[some])
    return result


def _over_gamma(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log probability as an average over u = ln G instead, whose law is narrow.

    Both conditional probabilities are then smooth on a scale no finer than about the width of the
    integrand itself; a high point and its width are all that the nodes need.
    """
    df, sign = 2 * a + 1, 1.0 if kind == "cdf" else -1.0
    spread = np.sqrt((1 - r) * (1 + r) / df)

    low, high = np.full(x.shape, -750.0), np.full(x.shape, 750.0)
    for _ in range(_BISECTIONS):
        u = (low + high) / 2
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            t = sign * (x * np.exp(u) - r) / spread
            pull = sign * x * np.exp(u) / spread * np.exp(_log_ratio(t, df))
            pull = np.where(stdtr(df, t) > 0, pull, sign * np.inf)  # towards where it is possible
            rises = a - np.exp(u) / 2 + pull > 0
        low, high = np.where(rises, u, low), np.where(rises, high, u)
    bend = np.exp(u) / 2 + (x * np.exp(u) / spread) ** 2 / (1 + t**2 / df)
    width = (1 / np.sqrt(bend))[:, None]
    reach = np.arcsinh(_FAR)
    y = np.arange(-reach, reach + _STEP / 2, _STEP / 2)
    nodes = u[:, None] + width * np.sinh(y)
    with np.errstate(divide="ignore"):
        t = sign * (x[:, None] * np.exp(nodes) - r[:, None]) / spread[:, None]
        logs = np.log(stdtr(df[:, None], t))
    logs = logs + log_gamma_kernel(np.exp(nodes) / 2, a[:, None])
    top = logs.max(1, keepdims=True)
    return top[:, 0] + np.log((np.exp(logs - top) * np.cosh(y) * width).sum(1) * _STEP / 2)


def _log_ratio(t: Array, df: Array) -> Array:
    """Return the log of a Student-t law's density over its distribution function."""
    density = (
        log_gamma_ratio(df / 2, 0.5) - 0.5 * np.log(np.pi * df) - (df + 1) / 2 * np.log1p(t**2 / df)
    )
    return density - np.log(stdtr(df, t))


def _by_beta(kind: str, x: Array, a: Array, r: Array) -> Array:
    logs = _over_beta(kind, x, a, r)
    if kind == "pdf":
        return logs
    inside, whole = np.exp(logs), _negative(a, -r)
    # More than half: then the other side of x has the feature that the nodes should be dense at.
    large = inside > whole / 2
    if large.any():
        other = "sf" if kind == "cdf" else "cdf"
        rest = np.exp(_over_beta(other, x[large], a[large], r[large]))
        logs[large] = np.log(whole[large] - rest)
    if kind == "sf":
        return logs
    with np.errstate(divide="ignore"):
        return np.minimum(np.logaddexp(logs, np.log(_negative(a, r))), 0.0)


def _negative(a: Array, r: Array) -> Array:
    """Return the probability that beta is negative."""
    square = (1 - r) * (1 + r)
    far = 0.5 * betainc(a + 0.5, 0.5, square)
    return np.where(r > 0, far, 0.5 + 0.5 * betainc(0.5, a + 0.5, r**2))


def _log_t(beta: Array, a: Array, r: Array) -> Array:
    """Return the log density of beta."""
    square = (1 - r) * (1 + r)
    return (
        log_gamma_ratio(a + 0.5, 0.5)
        - 0.5 * np.log(np.pi * square)
        - (a + 1) * np.log1p((beta - r) ** 2 / square)
    )


def _over_beta(kind: str, x: Array, a: Array, r: Array) -> Array:
    """Return the log of the integral over positive beta, at x > 0."""
    v, weight = _nodes(kind, x, a, r)
    x, a, r = x[:, None], a[:, None], r[:, None]
    beta = np.exp(v)
    z = beta / (2 * x)
    logs = _log_t(beta, a, r) + v
    with np.errstate(divide="ignore"):
        if kind == "pdf":
            logs = logs + log_gamma_kernel(z, a) - np.log(x)
        else:
            logs = logs + np.log((lower_gamma if kind == "sf" else gammaincc)(a, z))
    top = logs.max(1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top[:, 0] + np.log((weight * np.exp(logs - top)).sum(1))


def _nodes(kind: str, x: Array, a: Array, r: Array) -> tuple[Array, Array]:
    """Return nodes and weights of the trapezoidal rule in y.

    y(v) = asinh((v - 0) / angle) + asinh((v - peak) / width) stretches the singularities' distance
    and the high point's width to about 1; its inverse solves a quadratic equation.
    """
    angle = np.arccos(np.clip(r, -1, 1))
    peak, width = _peak(kind, x, a, r, angle)
    rate = 1.0 if kind == "cdf" else 0.0
    left = np.minimum(peak, 0) - 2 - _NEGLIGIBLE / np.where(rate, rate, a + 1)
    right = np.maximum(peak, 0) + 2 + _NEGLIGIBLE / (a + 1)
    ends = [np.arcsinh(v / angle) + np.arcsinh((v - peak) / width) for v in (left, right)]
    number = int(np.ceil((ends[1] - ends[0]).max() / _STEP)) + 1
    y = ends[0][:, None] + _STEP * np.arange(number)
    peak, width, angle = peak[:, None], width[:, None], angle[:, None]
    product = angle * width
    sine, cosine = np.sinh(y), np.cosh(y)
    lead = 1 / angle**2 + 1 / width**2 + 2 * cosine / product
    middle = peak * (1 / width**2 + cosine / product)
    v = (middle + sine * np.sqrt(lead + (peak / product) ** 2)) / lead
    density = 1 / np.hypot(v, angle) + 1 / np.hypot(v - peak, width)
    # Integrals of one call have the number of nodes of the widest; the others' surplus is idle.
    last = right[:, None]
    return np.minimum(v, last), np.where(v <= last, _STEP / density, 0.0)


def _peak(kind: str, x: Array, a: Array, r: Array, angle: Array) -> tuple[Array, Array]:
    """Return about where the integrand is highest, and how wide it is there.

    Its log slope is (a + 1) (1 - beta²) / (beta² - 2 r beta + 1) minus a pull to the left, which is
    z = beta / 2x for the density and saturates at a for probabilities.
    """
    low, high = np.full(x.shape, -750.0), np.zeros(x.shape)
    for _ in range(_BISECTIONS):
        v = (low + high) / 2
        beta = np.exp(v)
        with np.errstate(over="ignore"):
            pull = beta / (2 * x)
        if kind != "pdf":
            pull = np.minimum(pull, a) if kind == "sf" else np.maximum(pull, a)
        rises = (a + 1) * (1 - beta**2) > pull * (beta**2 - 2 * r * beta + 1)
        low, high = np.where(rises, v, low), np.where(rises, high, v)
    beta = np.exp(v)
    gap = 4 * np.sinh(v / 2) ** 2 + 2 * (1 - r)  # 2 cosh v - 2 r
    with np.errstate(over="ignore"):
        bend = (a + 1) * np.abs(4 - 4 * r * np.cosh(v)) / gap**2
        pull = np.minimum(beta / (2 * x), a + 1)
    return v, 1 / np.sqrt(bend + pull + 1 / (angle**2 + v**2))
