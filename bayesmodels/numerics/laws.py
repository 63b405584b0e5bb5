"""Predictive laws that SciPy lacks or computes with too few digits; used like SciPy's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partialmethod
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, gammaln, log1p, ndtr

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.law import Law, increasing_root
from bayesmodels.numerics.node_law import NodeLaw
from bayesmodels.numerics.special import (
    log_dirichlet_density,
    log_dirichlet_multinomial,
    log_gamma_kernel,
    log_gamma_ratio,
    lower_gamma,
    lower_gamma_inverse,
    numbers,
    times_logs,
)
from bayesmodels.numerics.triangular import half_log_det


class FromLogs:
    """Densities and masses as exponentials of their logarithms, which SciPy's are not always."""

    def _pdf(self, x: Any, *shapes: Any) -> Array:
        return np.exp(self._logpdf(x, *shapes))  # type: ignore[attr-defined] # of the law below

    def _pmf(self, k: Any, *shapes: Any) -> Array:
        return np.exp(self._logpmf(k, *shapes))  # type: ignore[attr-defined] # likewise


class _BetaBinomial(FromLogs, type(stats.betabinom)):  # type: ignore[misc]
    """SciPy's beta-binomial law with a log mass that keeps its digits at large parameters."""

    def _logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Array:
        k, n, a, b = np.broadcast_arrays(k, n, a, b)
        return log_dirichlet_multinomial(np.stack([k, n - k], -1), np.stack([a, b], -1))

    def _cdf(self, x: Any, n: Any, a: Any, b: Any) -> Array:
        most = np.max(x, initial=0)
        if most > _MOST_SUMMED:
            raise DataError(
                f"cdf, sf, ppf: add up the mass of every number of successes, at most "
                f"{_MOST_SUMMED:,}; got {most:,.0f}. Draw with rvs(), or take the law of theta, "
                "which for so many trials is that of the share of successes."
            )
        each = np.stack(np.broadcast_arrays(x, n, a, b))
        # Draws of few trials are few different numbers, and each is a sum.
        different, which = np.unique(each.reshape(4, -1), axis=1, return_inverse=True)
        return super()._cdf(*different)[which].reshape(each.shape[1:])

    def _sf(self, x: Any, n: Any, a: Any, b: Any) -> Array:
        x, n, a, b = np.broadcast_arrays(x, n, a, b)
        result = np.asarray(1 - self._cdf(x, n, a, b))
        far = result < _LAST_PERCENT  # failures are counted instead
        result[far] = self._cdf((n - np.floor(x) - 1)[far], n[far], b[far], a[far])
        return result

    def _isf(self, q: Any, n: Any, a: Any, b: Any) -> Array:
        return _first_count(lambda k: self._sf(np.minimum(k, n), n, a, b) <= q, n * (a / (a + b)))

    def _stats(self, n: Any, a: Any, b: Any, moments: str = "mv") -> tuple[Any, ...]:
        higher = super()._stats(n, a, b, moments)[2:] if set("sk") & set(moments) else (None, None)
        p, q = a / (a + b), b / (a + b)
        return n * p, n * p * q * ((a + b + n) / (a + b + 1)), *higher


_MOST_SUMMED = 2**21  # some seconds, and a gigabyte

beta_binomial = _BetaBinomial(name="beta_binomial")
"""Beta-binomial law: ``beta_binomial(n, alpha, beta)`` is frozen as SciPy's `betabinom` is."""


Continuous: Any = stats.rv_continuous


class InAnyUnit(FromLogs):
    """Standard deviations without squaring the scale, by which SciPy's become 0 or infinite."""

    def std(self, *shapes: Any, loc: Any = 0, scale: Any = 1) -> Any:  # noqa: ARG002 - SciPy's
        """Return the standard deviation, `scale` times that of the standard law."""
        standard = super().std(*shapes)  # type: ignore[misc] # of the law that is mixed in
        return np.asarray(scale * standard)[()]


class _Beta(FromLogs, type(stats.beta)):  # type: ignore[misc]
    """SciPy's Beta law with a log density, moments and quantiles that keep their digits."""

    def _stats(self, a: Any, b: Any, moments: str = "mv") -> tuple[Any, ...]:
        mean = a / (a + b)
        higher = super()._stats(a, b)[2:] if set("sk") & set(moments) else (None, None)
        return mean, mean * (b / (a + b)) / (a + b + 1), *higher

    # Not the root of the variance, which underflows long before it does.
    def std(self, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:  # noqa: ARG002 - SciPy's
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        root = np.sqrt(a / (a + b)) * np.sqrt(b / (a + b)) / np.sqrt(a + b + 1)
        return np.asarray(scale * root)[()]

    def _logpdf(self, x: Any, a: Any, b: Any) -> Array:
        return log_beta_density(x, a, b)

    def _ppf(self, q: Any, a: Any, b: Any) -> Array:
        return self._nearer(betaincinv(a, b, q), q, betainc, 1, a, b)

    def _isf(self, q: Any, a: Any, b: Any) -> Array:
        return self._nearer(betainccinv(a, b, q), q, betaincc, -1, a, b)

    # SciPy's own takes ten times as long; 1 - F has its digits unless shapes are large, or it is
    # small, and 1 - x unless x is small.
    def _sf(self, x: Any, a: Any, b: Any) -> Array:
        x, a, b = np.broadcast_arrays(x, a, b)
        result = np.asarray(1 - betainc(a, b, x))
        far = (result < _LAST_PERCENT) | (a + b > _LARGE_SHAPES)
        near = far & (x > _NEAR_ZERO) & (a + b < _PLAIN)
        result[near] = betainc(b[near], a[near], 1 - x[near])
        far &= ~near
        result[far] = betaincc(a[far], b[far], x[far])
        return result

    def _nearer(self, x: Any, q: Any, tail: Any, sign: int, a: Any, b: Any) -> Array:
        """Take Newton's last step in ln(tail), since SciPy's inverse may stop at nine digits.

        For Beta(1e3, 1e9) it has none: there, all steps.
        """

        def log_ratio(t: Array, q: Any, a: Any, b: Any) -> tuple[Array, Array]:
            x = np.exp(t)
            value = tail(a, b, x)
            return sign * np.log(value / q), np.exp(self._logpdf(x, a, b) + t) / value

        with np.errstate(all="ignore"):  # at the ends
            t = np.log(x)
            off, slope = log_ratio(t, q, a, b)
            step = off / slope
            x = np.where(np.abs(step) < _LAST_STEP, x * np.exp(-step), x)
            lost = (x > _SMALLEST) & (x < 1) & ~(np.abs(off) < _LOST)
            if lost.any():
                q, a, b, t = (np.broadcast_to(part, x.shape)[lost] for part in (q, a, b, t))
                low = np.full(t.shape, np.log(_SMALLEST))
                x[lost] = np.exp(increasing_root(lambda t: log_ratio(t, q, a, b), low, 0 * t, t))
        return x


_LAST_STEP, _LOST, _SMALLEST = 1e-6, 1e-3, 2.3e-308
_LAST_PERCENT, _NEAR_ZERO, _LARGE_SHAPES = 0.01, 1e-3, 1e6

beta = _Beta(a=0.0, b=1.0, name="beta")
"""Beta law: ``beta(alpha, beta)`` is frozen as SciPy's is."""


def mirrored(law: Any) -> Any:
    """Return the law of 1 - x of a Beta law, or a mixture of some; None of any other.

    Examples
    --------
    >>> float(mirrored(beta(1, 1e9)).mean())  # 1 - 1e-9 has fewer digits than 1e-9
    0.999999999
    """
    if isinstance(law, MixtureLaw):
        parts = mirrored(law.law)
        return None if parts is None else MixtureLaw(law.weights, parts)
    named = getattr(getattr(law, "dist", None), "name", "") == "beta" and not law.kwds
    both = law.args if named else ()
    return beta(*both[::-1]) if len(both) == 2 else None  # noqa: PLR2004 - no place, no unit


class _Gamma(InAnyUnit, type(stats.gamma)):  # type: ignore[misc]
    """SciPy's gamma law with a log density, probabilities and quantiles that keep their digits."""

    def _logpdf(self, x: Any, a: Any) -> Array:
        return log_gamma_kernel(x, a) - np.log(x)

    def _cdf(self, x: Any, a: Any) -> Array:
        return lower_gamma(a, x)

    def _ppf(self, q: Any, a: Any) -> Array:
        return lower_gamma_inverse(a, q)


gamma = _Gamma(a=0.0, name="gamma")
"""Gamma law: ``gamma(shape, scale=1 / rate)`` is frozen as SciPy's is."""


def log_poisson(k: ArrayLike, mean: ArrayLike) -> Array:
    """Return the log mass of Poisson counts, which keeps its digits at large ones; 0 of 0 events.

    Examples
    --------
    >>> float(log_poisson(1e12, 1e12).round(9))
    -14.734449091
    """
    k, mean = np.asarray(k, dtype=float), np.asarray(mean, dtype=float)
    positive = np.where(mean > 0, mean, 1.0)
    logs = log_gamma_kernel(positive, k + 1) - np.log(positive)
    return np.where(mean > 0, logs, np.where(k > 0, -np.inf, 0.0))


def log_negative_binomial(k: Any, a: Any, b: Any, e: Any) -> Array:
    """Return the log mass of k events in an exposure e at a rate that has the law Gamma(a, b).

    It is put together from gamma densities near their modes, so that it keeps its digits at large
    parameters: of N = a + k, K(s, t) = s ln t - t - lnΓ(s) and k > 0 it is
    K(a, N b / (b + e)) + K(k, N e / (b + e)) - K(N, N) - ln k. Fractions of events have one, too.

    Examples
    --------
    >>> float(log_negative_binomial(1e12, 1e12, 1, 1).round(9))
    -15.081022681
    """
    positive, none = np.where(k > 0, k, 1.0), -a * np.log1p(e / b)
    total = a + positive
    logs = (
        log_gamma_kernel(total * (b / (b + e)), a)
        + log_gamma_kernel(total * (e / (b + e)), positive)
        - log_gamma_kernel(total, total)
        - np.log(positive)
    )
    return np.where(k > 0, logs, none)


class _NegativeBinomial(FromLogs, type(stats.nbinom)):  # type: ignore[misc]
    """The negative binomial law of the number of events k."""

    def _argcheck(self, a: Any, b: Any, e: Any) -> Any:
        return (a > 0) & (b > 0) & (e > 0)

    def _rvs(self, a: Any, b: Any, e: Any, size: Any = None, random_state: Any = None) -> Any:
        return random_state.poisson(random_state.standard_gamma(a, size) / b * e)

    def _logpmf(self, k: Any, a: Any, b: Any, e: Any) -> Array:
        return log_negative_binomial(k, a, b, e)

    # All in e / (b + e), which keeps its digits where b / (b + e) is nearly one.
    def _cdf(self, k: Any, a: Any, b: Any, e: Any) -> Array:
        return betaincc(np.floor(k) + 1, a, e / (b + e))

    def _sf(self, k: Any, a: Any, b: Any, e: Any) -> Array:
        return betainc(np.floor(k) + 1, a, e / (b + e))

    def _ppf(self, q: Any, a: Any, b: Any, e: Any) -> Array:
        return _first_count(lambda k: self._cdf(k, a, b, e) >= q, a * (e / b))

    def _isf(self, q: Any, a: Any, b: Any, e: Any) -> Array:
        return _first_count(lambda k: self._sf(k, a, b, e) <= q, a * (e / b))

    def _stats(self, a: Any, b: Any, e: Any) -> tuple[Any, ...]:
        mean, p, q = a * (e / b), b / (b + e), e / (b + e)
        return mean, mean * ((b + e) / b), (1 + q) / np.sqrt(a * q), 6 / a + p * p / (a * q)


def _first_count(reached: Callable[[Array], Any], near: Array) -> Array:
    """Return the least whole numbers at which a monotone condition holds, by bisection."""
    low, high = np.full(np.shape(near), -1.0), np.ceil(near)
    while (short := ~reached(high)).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high + 1, high)
    while (open_ := high - low > np.maximum(1, np.spacing(high))).any():
        middle = np.floor((low + high) / 2)
        under = open_ & ~reached(middle)
        low, high = np.where(under, middle, low), np.where(open_ & ~under, middle, high)
    return high


class _Lomax(FromLogs, type(stats.lomax)):  # type: ignore[misc]
    """SciPy's Lomax law with a density, moments and a tail that keep their digits."""

    def _isf(self, q: Any, c: Any) -> Array:
        return np.expm1(-np.log(q) / c)

    def _stats(self, c: Any) -> tuple[Any, ...]:
        with np.errstate(divide="ignore"):
            mean = 1 / np.maximum(c - 1, 0)
            return mean, mean * mean * (c / np.maximum(c - 2, 0)), *super()._stats(c)[2:]


lomax = _Lomax(a=0.0, name="lomax")
"""Lomax law: ``lomax(shape, scale=rate)`` is frozen as SciPy's is."""

negative_binomial = _NegativeBinomial(name="negative_binomial", shapes="a, b, e")
"""Gamma-Poisson law: ``negative_binomial(shape, rate, exposure)`` is frozen as SciPy's are."""


class _InverseGamma(InAnyUnit, type(stats.invgamma)):  # type: ignore[misc]
    """SciPy's inverse-gamma law with a log density and quantiles that keep their digits."""

    def _logpdf(self, x: Any, a: Any) -> Array:
        return log_gamma_kernel(1 / x, a) - np.log(x)

    def _sf(self, x: Any, a: Any) -> Array:
        return lower_gamma(a, 1 / x)

    def _isf(self, q: Any, a: Any) -> Array:
        return 1 / lower_gamma_inverse(a, q)


inverse_gamma = _InverseGamma(a=0.0, name="inverse_gamma")
"""Inverse-gamma law: ``inverse_gamma(shape, scale=b)`` is frozen as SciPy's `invgamma` is."""


class _Normal(type(stats.norm)):  # type: ignore[misc]
    """SciPy's normal law without the checks that take four times as long as its probabilities."""

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of at most x."""
        return ndtr((x - np.asarray(loc)) / scale)

    def sf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of more than x."""
        return ndtr((np.asarray(loc) - x) / scale)


normal = _Normal(name="normal")
"""Normal law: ``normal(mean, sd)`` is frozen as SciPy's `norm` is; `sd` is positive."""


class _Student(InAnyUnit, type(stats.t)):  # type: ignore[misc]
    """SciPy's Student-t law with a log density whose squares don't overflow."""

    def _logpdf(self, x: Any, df: Any) -> Array:
        df = np.asarray(df, dtype=float)
        z = np.abs(x) / np.sqrt(df)
        far = z > _FAR
        log = np.where(far, 2 * np.log(np.where(far, z, 1.0)), np.log1p(np.where(far, 0.0, z) ** 2))
        constant = log_gamma_ratio(df / 2, 0.5) - 0.5 * np.log(np.pi * df)
        return constant - (df + 1) / 2 * log

    # SciPy 1.16 misses the median by a rounding error, which is all that there is of it.
    def _ppf(self, q: Any, df: Any) -> Array:
        return np.where(q == 0.5, 0.0, super()._ppf(q, df))  # noqa: PLR2004 - the median

    def _isf(self, q: Any, df: Any) -> Array:
        return np.where(q == 0.5, 0.0, super()._isf(q, df))  # noqa: PLR2004 - the median


_FAR = 1e100  # beyond it 1 + z² is z²

student_t = _Student(name="student_t")
"""Student-t law: ``student_t(df, loc, scale)`` is frozen as SciPy's `t` is."""


class MultivariateStudent(type(stats.multivariate_t([0.0], [[1.0]]))):  # type: ignore[misc]
    """SciPy's multivariate Student-t law, of columns of any units, from a root of the scale matrix.

    SciPy's takes eigenvalues below 2e-10 of the largest for zeros, as those of two columns are
    of which one has standard deviations of 1 and the other of 1e5.
    """

    def __init__(self, loc: Array, root: Array, df: float) -> None:
        super().__init__(loc, np.eye(len(loc)), df)
        self.shape, self._root = root @ root.T, root
        self.shape_info.U = solve_triangular(root, np.eye(len(root)), lower=True).T
        self.shape_info.log_pdet = 2 * half_log_det(root)

    def rvs(self, size: int | tuple[int, ...] = 1, random_state: Any = None) -> Array:
        """Draw `size` vectors."""
        rng = np.random.default_rng(random_state)
        lead = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        z = rng.standard_normal((*lead, self.dim)) @ self._root.T
        stretch = np.sqrt(rng.chisquare(self.df, lead) / self.df)
        result: Array = self.loc + z / stretch[..., None]
        return result[0] if lead == (1,) else result

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density of points of shape (..., D)."""
        df, width = self.df, self.dim
        gap = np.asarray(x, dtype=float) - self.loc
        gap = gap[..., None] if width == 1 and gap.shape[-1:] != (1,) else gap
        square = ((gap @ self.shape_info.U) ** 2).sum(-1)
        constant = log_gamma_ratio(df / 2, width / 2) - width / 2 * np.log(np.pi * df)
        far = (df + width) / 2 * np.log1p(square / df)
        return np.squeeze(constant - 0.5 * self.shape_info.log_pdet - far)[()]

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density of points of shape (..., D)."""
        return np.exp(self.logpdf(x))


def log_beta_density(theta: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Array:
    """Return the log density of a Beta law, elementwise; -inf outside of 0 and 1."""
    theta, a, b = (numbers(part) for part in (theta, alpha, beta))
    outside = (np.real(theta) < 0) | (np.real(theta) > 1)
    if outside.any():
        inside = log_beta_density(np.where(outside, 0.5, theta), a, b)
        return np.where(outside, -np.inf, inside)[()]
    if np.max(a + b, initial=0) <= _PLAIN:
        with np.errstate(divide="ignore", invalid="ignore"):
            yes, no = np.log(theta), log1p(-theta)
        result: Array = times_logs(a - 1, yes) - betaln(a, b)
        result += times_logs(b - 1, no)  # in place: there may be millions
        return result
    theta, a, b = np.broadcast_arrays(theta, a, b)
    both = np.stack([a, b], -1)
    gap = gaps_of_shares(theta[..., None], both)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.stack([np.log(theta), np.log1p(-theta)], -1)
    return log_dirichlet_density(np.stack([gap, -gap], -1), logs, both)


SINGLE = 1e-5
"""By which sums of many shares in single precision are off."""


def log_dirichlet(theta: ArrayLike, alpha: ArrayLike) -> Array:
    """Return the log density of a Dirichlet law at points (..., K), -inf off the simplex."""
    theta, alpha = numbers(theta), np.asarray(alpha, dtype=float)
    inside = (np.real(theta) >= 0).all(-1) & (np.abs(theta.sum(-1) - 1) <= SINGLE)
    return np.where(inside, _log_dirichlet_inside(theta, alpha), -np.inf)[()]


def _log_dirichlet_inside(theta: Array, alpha: Array) -> Array:
    total = alpha.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(theta)
    if np.max(total, initial=0) <= _PLAIN:
        if np.isfinite(logs).all():  # quicker than a sum of products
            powers = np.einsum("...k,...k->...", alpha - 1, logs)
        else:
            powers = times_logs(alpha - 1, logs).sum(-1)
        return powers - gammaln(alpha).sum(-1) + gammaln(total)
    return log_dirichlet_density(gaps_of_shares(theta, alpha), logs, alpha)


_PLAIN = 1e4  # pseudo-counts whose log densities keep 11 digits by the plain formula, much faster


class DirichletMultinomial:
    r"""Counts of categories in `trials` draws whose probabilities follow a Dirichlet law.

    .. math:: p(n) = \binom{M}{n} \frac{B(\alpha + n)}{B(\alpha)}, \qquad \sum_k n_k = M.

    `alpha` is of shape (..., K), `trials` of shape (...).
    """

    def __init__(self, alpha: ArrayLike, trials: ArrayLike) -> None:
        self.alpha = np.asarray(alpha, dtype=float)
        self.trials = np.asarray(trials)

    def logpmf(self, counts: ArrayLike) -> Array:
        """Return the log mass of counts of shape (..., K); -inf where they do not add up to M."""
        counts = np.asarray(counts, dtype=float)
        possible = (counts.sum(-1) == self.trials) & (counts >= 0).all(-1)
        possible &= (counts == np.floor(counts)).all(-1)
        mass = log_dirichlet_multinomial(np.where(counts >= 0, counts, 0), self.alpha)
        return np.where(possible, mass, -np.inf)

    def pmf(self, counts: ArrayLike) -> Array:
        """Return the mass of counts of shape (..., K)."""
        return np.exp(self.logpmf(counts))

    def mean(self) -> Array:
        """Return the expected counts, of shape (..., K)."""
        p: Array = self.alpha / self.alpha.sum(-1, keepdims=True)
        return self.trials[..., None] * p

    def cov(self) -> Array:
        """Return the covariance matrix of the counts, of shape (..., K, K)."""
        total = self.alpha.sum(-1)[..., None, None]
        p, q = (x[..., None, :] / total for x in (self.alpha, sum_of_others(self.alpha)))
        trials = self.trials[..., None, None]
        spread = np.where(np.eye(self.alpha.shape[-1]) > 0, p * q, -p * np.swapaxes(p, -1, -2))
        return trials * (trials + total) / (total + 1) * spread

    def var(self) -> Array:
        """Return the variances of the counts, of shape (..., K)."""
        return np.diagonal(self.cov(), axis1=-2, axis2=-1)

    def marginal(self) -> Any:
        """Return the beta-binomial law of each category's count."""
        return beta_binomial(self.trials[..., None], self.alpha, sum_of_others(self.alpha))

    def rvs(
        self, size: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Draw `size` tables of counts, of shape (size, ..., K)."""
        rng = np.random.default_rng(random_state)
        theta = dirichlet_draws(self.alpha, size, rng)
        return rng.multinomial(self.trials, theta)


def sum_of_others(x: Array) -> Array:
    """Return the sum of all other entries for each along the last axis, without subtraction.

    Examples
    --------
    >>> sum_of_others(np.array([1e16, 1.0, -np.inf]))
    array([  -inf,   -inf, 1.e+16])
    """
    edge = np.zeros((*x.shape[:-1], 1))
    ahead = np.cumsum(np.concatenate([edge, x[..., :-1]], -1), -1)
    behind = np.cumsum(np.concatenate([edge, np.flip(x, -1)[..., :-1]], -1), -1)
    return ahead + np.flip(behind, -1)


def gaps_of_shares(theta: ArrayLike, alpha: ArrayLike) -> Array:
    r"""Return :math:`\theta_k \sum_j \alpha_j - \alpha_k`, each rounded but once or twice.

    It is formed of what differs, in NumPy's longest numbers: a point a few standard deviations from
    the mean is so near to it that plain subtraction would leave few digits.
    """
    theta, alpha = np.broadcast_arrays(numbers(theta), np.asarray(alpha, dtype=np.longdouble))
    gaps = theta * sum_of_others(alpha) - (np.longdouble(1) - theta) * alpha
    return np.asarray(gaps.astype(theta.dtype))


def dirichlet_draws(alpha: ArrayLike, size: int, rng: np.random.Generator) -> Array:
    """Draw points of the simplex, of shape (size, ..., K), for any positive `alpha`.

    A Gamma(a) variable with small a underflows to zero, all K of them at once for small `alpha`.
    Its logarithm does not: ``ln Gamma(a) = ln Gamma(a + 1) + ln(U) / a`` in law.
    """
    alpha = np.asarray(alpha, dtype=float)
    shape = (size, *alpha.shape)
    if (alpha >= 1).all():  # no underflow, and half the work
        weights = rng.standard_gamma(alpha, shape)
        weights /= (weights @ np.ones(shape[-1]))[..., None]  # quicker than a sum of a few
        return weights
    logs = np.log(rng.standard_gamma(alpha + 1, shape))
    with np.errstate(over="ignore"):  # beyond float64 is as good as infinitely far behind
        largest = alpha.max(-1, keepdims=True)
        behind = rng.standard_exponential(shape) / (alpha / largest)
        logs -= (behind - behind.min(-1, keepdims=True)) / largest
    weights = np.exp(logs - logs.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


class PointMass(Law):
    """The degenerate law of known numbers."""

    def __init__(self, value: Array) -> None:
        self._value = value

    def mean(self) -> Array:
        """Return the numbers."""
        return self._value

    def std(self, _moments: str = "") -> Array:
        """Return zero, as all central moments of a point are."""
        return 0 * self._value

    stats = std

    def cdf(self, x: Any) -> Array:
        """Return the probability of at most x."""
        return np.where(np.asarray(x) >= self._value, 1.0, 0.0)

    def logpdf(self, x: Any) -> Array:
        """Return infinity at the numbers, the density of a point."""
        return np.where(np.asarray(x) == self._value, np.inf, -np.inf)

    def _quantile(self, below: Array, _above: Array) -> Array:
        return self._value + 0 * below


class Stepped:
    """The law of start + step k, elementwise, where k is a number of events."""

    def __init__(self, law: Any, start: Array, step: Array) -> None:
        self.law, self.start, self.step = law, start, step

    def entry(self, at: tuple[int, ...]) -> Stepped:
        """Return the law of one element."""
        shape = np.shape(self.std())
        start, step = (np.broadcast_to(part, shape)[at] for part in (self.start, self.step))
        return Stepped(element(self.law, at), start, step)

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self.start + self.step * self.law.mean())

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.asarray(self.step * self.law.std())

    def var(self) -> Array:
        """Return the variance."""
        return self.std() ** 2

    def steps(self) -> tuple[Array, Array]:
        """Return the values of one element, all but 1e-16 of them, and probabilities up to each."""
        most = self.law.isf(_TAIL) if np.isinf(self.law.support()[1]) else self.law.support()[1]
        if not most <= _MOST_SUMMED:
            raise DataError(
                f"n: the sum over numbers of events goes up to {_MOST_SUMMED:,}; got {most:,.0f}. "
                "Take fewer rows, or a smaller exposure."
            )
        k = np.arange(most + 1)
        return self.start + self.step * k, np.cumsum(np.exp(self.law.logpmf(k)))


_TAIL = 1e-17


@runtime_checkable
class Countable(Protocol):
    """A discrete law whose values can be listed."""

    def steps(self) -> tuple[Array, Array]:
        """Return the values of one element, and probabilities up to each."""


class MixtureLaw(Law):
    r"""Mixture of laws on the line, elementwise over an array: :math:`F(x) = \sum_t w_t F_t(x)`.

    Parameters of the frozen law are of shape (T, ...), weights of shape (T,).
    """

    def __init__(self, weights: Array, law: Any) -> None:
        self.weights = weights / weights.sum()
        self.law = law

    def entry(self, at: tuple[int, ...]) -> MixtureLaw:
        """Return the law of one element."""
        if isinstance(self.law, NodeLaw):
            return MixtureLaw(self.weights, self.law.entry(at))
        shape = np.shape(self.law.std())

        def taken(parameter: Any) -> Array:
            return np.moveaxis(np.broadcast_to(parameter, shape), 0, -1)[at]

        named = {name: taken(value) for name, value in self.law.kwds.items()}
        return MixtureLaw(self.weights, self.law.dist(*map(taken, self.law.args), **named))

    def _average(self, each: Any) -> Array:
        return np.tensordot(self.weights, np.asarray(each, dtype=float), axes=1)

    def mean(self) -> Array:
        """Return the mean."""
        return self._average(self.law.mean())

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.sqrt(self._average(self.law.var() + (self.law.mean() - self.mean()) ** 2))

    def stats(self, moments: str) -> Array:
        """Return the excess kurtosis, the only one of SciPy's moments that is asked for."""
        if moments != "k":
            raise ValueError(f"moments: must be 'k'; got {moments!r}.")
        skew, kurtosis = self.law.stats("s"), self.law.stats("k")
        gap, v = self.law.mean() - self.mean(), self.law.var()
        fourth = (kurtosis + 3) * v**2 + 4 * skew * v**1.5 * gap + 6 * v * gap**2 + gap**4
        return self._average(fourth) / self.var() ** 2 - 3

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x, elementwise over its last axes."""
        return self._sum("cdf", x)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of more than x."""
        return self._sum("sf", x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        with np.errstate(divide="ignore"):
            return np.log(self._sum("pdf", x))

    def _sum(self, verb: str, x: ArrayLike) -> Array:
        """Add up the parts' probabilities or densities, each times its weight."""
        x = np.asarray(x, dtype=float)
        inner = np.ndim(self.law.std()) - 1

        def averages(x: Array) -> Array:
            wide = np.expand_dims(x, -1 - inner)
            each = np.moveaxis(np.asarray(getattr(self.law, verb)(wide)), -1 - inner, 0)
            return self._average(each)

        if x.ndim <= inner or not len(x):
            return averages(x)
        rows = threads.blocks(x, threads.BLOCK // len(self.weights), least=1)
        return np.concatenate([averages(x[piece]) for piece in rows])

    def _tail(self, x: Array, lower: Any) -> tuple[Array, Array]:
        one = "cdf" if np.all(lower) else "sf"
        tail = self._sum(one, x)
        if np.any(lower) and not np.all(lower):
            tail = np.where(lower, self._sum("cdf", x), tail)
        return tail, self._sum("pdf", x)

    def _bracket(self, q: Array, lower: Any) -> tuple[Array, Array, Array]:
        """Return the least and the largest quantile of the parts, and the middle."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # SciPy's, of steps on the way
            ends = np.where(
                lower,
                self.law.ppf(np.where(lower, q, 0.5)),
                self.law.isf(np.where(lower, 0.5, q)),
            )
        low, high = ends.min(0), ends.max(0)
        return low, high, (low + high) / 2


class RepeatedLaw(Law):
    """Laws of an array whose elements have laws of fewer: each that of number `which`."""

    def __init__(self, law: Any, which: NDArray[np.intp]) -> None:
        self.law, self.which = law, which

    def entry(self, at: tuple[int, ...]) -> Any:
        """Return the law of one element."""
        return self.law.entry((int(self.which[at]),))

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self.law.mean()[self.which])

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.asarray(self.law.std()[self.which])

    def stats(self, moments: str) -> Array:
        """Return one of SciPy's moments."""
        return np.asarray(self.law.stats(moments)[self.which])

    def _each(self, verb: str, x: ArrayLike) -> Array:
        """Ask each law for what its elements are asked for, at no number twice."""
        x = np.asarray(x, dtype=float)
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, self.which.shape))
        result = np.empty(x.shape)
        for k in np.unique(self.which):
            own = (..., self.which == k)
            values, back = np.unique(x[own], return_inverse=True)
            result[own] = getattr(self.law.entry((int(k),)), verb)(values)[back]
        return result

    cdf = partialmethod(_each, "cdf")
    sf = partialmethod(_each, "sf")
    logpdf = partialmethod(_each, "logpdf")
    ppf = partialmethod(_each, "ppf")
    isf = partialmethod(_each, "isf")


@runtime_checkable
class Elementwise(Protocol):
    """A law of an array that knows the law of each element."""

    def entry(self, at: tuple[int, ...]) -> Any:
        """Return the law of one element."""


def element(law: Any, at: tuple[int, ...]) -> Any:
    """Return the law of one element of a frozen SciPy law, or of one that has entries."""
    if not at and np.ndim(law.std()) == 0:
        return law
    if isinstance(law, Elementwise):
        return law.entry(at)
    shape = np.shape(law.std())
    args = [np.broadcast_to(arg, shape)[at] for arg in law.args]
    return law.dist(*args, **{k: np.broadcast_to(v, shape)[at] for k, v in law.kwds.items()})
