r"""Wishart matrices: the exact law of every single entry.

An entry off the diagonal is, in units of :math:`\sqrt{V_{ii} V_{jj}}`, a variance-gamma variable:
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
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import (
    erfcx,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    kve,
    ndtri,
)

from bayesmodels.errors import DataError, PriorError
from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI, log1p_minus, stirling_remainder

_STEP = 0.7  # of the trapezoidal rule, in widths; halved, no result changes but by rounding
_NEGLIGIBLE = 40.0  # exp(-40) is 4e-18
_MARGIN = 3.0  # the high point is known that well, in units of 1 / sqrt(nu / 2)
_BLOCK = 1000  # integrals at once, which bounds the memory
_CLOSE = 1e-10  # to a log probability; Newton's last step squares it
_MOST = 200
_BESSEL_FAR = 1e8  # SciPy's function answers NaN from some 1e9 on
_LARGEST = 1e290
_TEMME_FROM = 1.5e5
_SYMMETRIC = 1e-10  # in units of the diagonal


class WishartMarginals:
    """The law of every entry of a Wishart matrix, used like a frozen SciPy law.

    Parameters
    ----------
    df : array_like of shape (batch...)
        Degrees of freedom, larger than D - 1.
    scale : array_like of shape (batch..., D, D)
        Positive definite scale matrices V; the mean is df V.

    Raises
    ------
    PriorError
        If `df` is too small or `scale` is not symmetric and positive definite.

    Examples
    --------
    >>> law = WishartMarginals(6, [[2.0, 0.6], [0.6, 1.0]])
    >>> law.mean().round(6)
    array([[12. ,  3.6],
           [ 3.6,  6. ]])
    >>> law.cdf(law.ppf(0.1)).round(12)
    array([[0.1, 0.1],
           [0.1, 0.1]])
    """

    def __init__(self, df: ArrayLike, scale: ArrayLike) -> None:
        df, scale = np.asarray(df, dtype=float), np.asarray(scale, dtype=float)
        width = scale.shape[-1]
        if not (np.isfinite(df) & (df > width - 1)).all():
            msg = f"df: must be finite and larger than D - 1 = {width - 1}; got {df.min():g}."
            raise PriorError(msg)
        _check(scale)
        batch = np.broadcast_shapes(df.shape, scale.shape[:-2])
        self.shape = (*batch, width, width)
        self._scale = np.broadcast_to(scale, self.shape)
        self._df = np.broadcast_to(df, batch)
        spread = np.diagonal(self._scale, axis1=-2, axis2=-1)
        self._diagonal = stats.gamma(self._df[..., None] / 2, scale=2 * spread)
        root = np.sqrt(spread)
        self._unit = root[..., :, None] * root[..., None, :]
        self._r = self._scale / self._unit
        self._on = np.eye(width, dtype=bool)

    def mean(self) -> Array:
        """Return nu V."""
        return self._df[..., None, None] * self._scale

    def var(self) -> Array:
        """Return nu (V_ij² + V_ii V_jj)."""
        return self._df[..., None, None] * self._unit**2 * (1 + self._r**2)

    def std(self) -> Array:
        """Return the standard deviation of every entry."""
        return np.sqrt(self.var())

    def stats(self, moments: str = "mv") -> Any:
        """Return mean (m), variance (v), skewness (s) and excess kurtosis (k), as asked for.

        The n-th cumulant is (nu / 2) (n - 1)! {(1 + r)^n + (r - 1)^n}.
        """
        df, r = self._df[..., None, None], self._r
        found = {
            "m": self.mean(),
            "v": self.var(),
            "s": _skewness(df / 2, r),
            "k": 6 * (1 + 6 * r**2 + r**4) / (df * (1 + r**2) ** 2),
        }
        result = tuple(found[letter] for letter in "mvsk" if letter in moments)
        return result[0] if len(result) == 1 else result

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of a value up to x."""
        return self._evaluate("cdf", x)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of a value above x."""
        return self._evaluate("sf", x)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density."""
        return np.exp(self._evaluate("logpdf", x))

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        return self._evaluate("logpdf", x)

    def ppf(self, q: ArrayLike) -> Array:
        """Return the value below which lies the probability q."""
        return self._quantile(q, upper=False)

    def isf(self, q: ArrayLike) -> Array:
        """Return the value above which lies the probability q."""
        return self._quantile(q, upper=True)

    def entry(self, at: tuple[int, ...]) -> WishartEntry:
        """Return the law of a single entry, at the cost of one.

        Examples
        --------
        >>> law = WishartMarginals(6, [[2.0, 0.6], [0.6, 1.0]])
        >>> bool(law.entry((1, 0)).cdf(0.5) == law.cdf(0.5)[1, 0])
        True
        """
        *batch, row, column = at
        kept = sorted({row % self.shape[-1], column % self.shape[-1]})
        return WishartEntry(self._df[tuple(batch)], self._scale[(*batch, *np.ix_(kept, kept))])

    def _evaluate(self, kind: str, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=float)
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, self.shape))
        result = np.empty(x.shape)
        on, off = self._on, ~self._on
        with np.errstate(invalid="ignore"):  # SciPy's log density at infinity is NaN
            result[..., on] = getattr(self._diagonal, kind)(x[..., on])
        if kind == "logpdf":
            result[..., on] = np.where(np.isinf(x[..., on]), -np.inf, result[..., on])
        parts = (x[..., off] / self._unit[..., off], self._df[..., None] / 2, self._r[..., off])
        flat = [part.ravel() for part in np.broadcast_arrays(*parts)]
        if kind == "logpdf":
            found = _log_density(*flat).reshape(parts[0].shape) - np.log(self._unit[..., off])
        else:
            below, above = _log_probabilities(*flat)
            found = np.exp(below if kind == "cdf" else above).reshape(parts[0].shape)
        result[..., off] = found
        return result

    def _quantile(self, q: ArrayLike, *, upper: bool) -> Array:
        q = np.asarray(q, dtype=float)
        if any(length > 1 for length in q.shape[-2:]):
            msg = "q: levels must be the same for all entries of the matrix; give axes of length 1."
            raise DataError(msg)
        whole = np.broadcast_shapes(q.shape, self.shape)
        level = np.broadcast_to(q, (*whole[:-2], 1, 1))[..., 0]
        result = np.empty(whole)
        result[..., self._on] = self._diagonal.isf(level) if upper else self._diagonal.ppf(level)
        rows, columns = np.tril_indices(whole[-1], -1)  # each pair of variables once
        parts = np.broadcast_arrays(level, self._df[..., None] / 2, self._r[..., rows, columns])
        level, k, r = (part.ravel() for part in parts)
        # The upper quantiles are the lower ones of -X, whose correlation is -r.
        sign = np.where((level > 0.5) == upper, 1.0, -1.0)  # noqa: PLR2004
        x = sign * _lower_quantile(np.minimum(level, 1 - level), k, sign * r)
        x = x.reshape(parts[0].shape) * self._unit[..., rows, columns]
        result[..., rows, columns] = result[..., columns, rows] = x
        return result


class WishartEntry:
    """The law of the last entry in the first row of a Wishart matrix.

    Parameters
    ----------
    df : array_like of shape ()
        Degrees of freedom: those of the whole matrix, whose other variables drop out.
    scale : ndarray of shape (1, 1) or (2, 2)
        Block of the scale matrix.
    """

    def __init__(self, df: ArrayLike, scale: Array) -> None:
        self._law = WishartMarginals(df, scale)

    def mean(self) -> Array:
        """Return the mean."""
        return self._law.mean()[0, -1]

    def std(self) -> Array:
        """Return the standard deviation."""
        return self._law.std()[0, -1]

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of a value up to x."""
        return self._law.cdf(np.asarray(x)[..., None, None])[..., 0, -1]

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        return self._law.logpdf(np.asarray(x)[..., None, None])[..., 0, -1]

    def ppf(self, q: ArrayLike) -> Array:
        """Return the value below which lies the probability q."""
        return self._law.ppf(np.asarray(q)[..., None, None])[..., 0, -1]

    def isf(self, q: ArrayLike) -> Array:
        """Return the value above which lies the probability q."""
        return self._law.isf(np.asarray(q)[..., None, None])[..., 0, -1]


def _check(scale: Array) -> None:
    if not np.isfinite(scale).all():
        msg = "scale: must hold finite numbers; got NaN or infinity."
        raise PriorError(msg)
    try:
        np.linalg.cholesky(scale)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(scale).min()
        msg = f"scale: must be positive definite; its smallest eigenvalue is {smallest:.3g}."
        raise PriorError(msg) from None
    root = np.sqrt(np.diagonal(scale, axis1=-2, axis2=-1))
    gap = np.abs(scale - np.swapaxes(scale, -1, -2)) / root[..., None] / root[..., None, :]
    if gap.max() > _SYMMETRIC:
        msg = f"scale: must be symmetric; entries differ by {gap.max():.3g}. Use (V + V.T) / 2."
        raise PriorError(msg)


def _skewness(k: Array, r: Array) -> Array:
    return r * (6 + 2 * r**2) / np.sqrt(2 * k * (1 + r**2) ** 3)


# --- flat arrays: x of A - B, scales 1 + r and 1 - r, shape k = nu / 2 ----------------------------


def _lower_quantile(level: Array, k: Array, r: Array) -> Array:
    """Return quantiles of levels up to one half: Newton's method on ln cdf, inside a bracket."""
    low, high = -(1 - r) * gammainccinv(k, level), (1 + r) * gammaincinv(k, level)  # -B < X < A
    with np.errstate(invalid="ignore"):
        z = ndtri(level)
        z = z + _skewness(k, r) * (z**2 - 1) / 6
    x = np.clip(2 * k * r + np.sqrt(2 * k * (1 + r**2)) * z, low, high)
    x[level == 0] = -np.inf
    waiting = np.flatnonzero(level > 0)
    for _ in range(_MOST):
        i = waiting
        below = _log_probabilities(x[i], k[i], r[i])[0]
        gap = below - np.log(level[i])
        low[i] = np.where(gap <= 0, x[i], low[i])
        high[i] = np.where(gap >= 0, x[i], high[i])
        with np.errstate(over="ignore", invalid="ignore"):
            after = x[i] - gap * np.exp(below - _log_density(x[i], k[i], r[i]))
        inside = (low[i] <= after) & (after <= high[i])
        x[i] = np.where(inside, after, (low[i] + high[i]) / 2)
        open_ = high[i] - low[i] > np.spacing(np.abs(x[i]))
        waiting = i[((np.abs(gap) > _CLOSE) | ~inside) & open_]
        if not len(waiting):
            break
    return x


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
    for some, function in ((k < 1, _bessel_density), (k >= 1, _integrated_density)):
        result[some] = function(x[some], k[some], r[some])
    return np.where(np.isinf(x), -np.inf, result)


def _integrated_density(x: Array, k: Array, r: Array) -> Array:
    return _integral("pdf", x, k, r)


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
            logs += np.log(gammaincc(k, y)) if kind == "sf" else _log_gamma_cdf(k, y)
        top = logs.max(1, keepdims=True)
        top = np.where(top == -np.inf, 0.0, top)
        return (top + np.log((step * np.exp(logs - top)).sum(1, keepdims=True)))[:, 0]


def _log_gamma_density(t: Array, k: Array) -> Array:
    """Return the log density of t = ln(G / k) for G of shape k, without cancellation at large k."""
    return k * (t - np.expm1(t)) + 0.5 * np.log(k) - HALF_LOG_2PI - stirling_remainder(k)


def _log_gamma_cdf(k: Array, y: Array) -> Array:
    """Return the log of `gammainc`, which far below large k ends its series too early.

    There Temme's expansion (1979; DLMF 8.12.3) holds to 1e-14 with two terms.
    """
    k, y = np.broadcast_arrays(k, y)
    with np.errstate(divide="ignore"):
        result = np.log(gammainc(k, y))
    far = (k > _TEMME_FROM) & (y > 0) & (y < k - 4 * np.sqrt(k))
    if far.any():
        k, mu = k[far], y[far] / k[far] - 1
        minus = log1p_minus(mu)  # -eta^2 / 2
        eta = -np.sqrt(-2 * minus)
        terms = 1 / mu - 1 / eta + (1 / eta**3 - 1 / mu**3 - 1 / mu**2 - 1 / (12 * mu)) / k
        half = 0.5 * erfcx(-eta * np.sqrt(k / 2)) - terms / np.sqrt(2 * np.pi * k)
        result[far] = k * minus + np.log(half)
    return result
