r"""The generalized inverse Gaussian law: its density and moments, elementwise over an array.

With :math:`\omega = \sqrt{ab}` and the high point :math:`u^*` of the density of :math:`\ln U`,
the deviation :math:`y = \ln(U / u^*)` has a log-concave density proportional to

.. math:: \exp\{-|\nu| (e^{\pm y} - 1 \mp y) - \delta (\cosh y - 1)\}, \qquad
    \delta = \sqrt{\nu^2 + \omega^2} - |\nu|,

with the sign of the order :math:`\nu` (Devroye, 2014, *Random variate generation for the
generalized inverse Gaussian distribution*). Nothing in it cancels or overflows, however large the
order, where SciPy's Bessel functions do from an order of some hundred on. It is an entire function
that falls off at least exponentially: the trapezoidal rule converges exponentially on it, which
gives moments. Probabilities, quantiles and draws are those of `LogConcave`, of which each element
that is asked for them makes one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bayesmodels.errors import PriorError
from bayesmodels.numerics import Array
from bayesmodels.numerics.law import Law, by_element, increasing_root
from bayesmodels.numerics.log_concave import LINE, LogConcave
from bayesmodels.numerics.special import log1p_minus

_LEVEL = 42.0  # exp(-42) is 6e-19: what lies lower than that below the high point is left out
_SMALLEST = 1e-100  # of sqrt(a b): from there on exp(2 y) stays finite
_NO_ORDER = 1e-300  # stands for zero, since zero times infinity is NaN
_BLOCK = 1000  # elements at once, which bounds the memory
_STEP = 0.4  # of the trapezoidal rule, in standard deviations
_TINY = float(np.finfo(float).tiny)


class GeneralizedInverseGaussian(Law):
    r"""Law of a positive X whose power U = X or U = X² is generalized inverse Gaussian.

    .. math:: p(u) = \frac{(a/b)^{\nu/2}}{2 K_\nu(\sqrt{ab})} \, u^{\nu - 1}
        \exp\left\{-\tfrac12 \left(a u + \tfrac b u\right)\right\}

    Moments and quantiles of X have at least 12 digits, also for orders of many thousands. So have
    probabilities of either tail, however small, up to the rounding of x itself; skewness and
    excess kurtosis where they are not small beside one.
    """

    def __init__(self, order: ArrayLike, a: ArrayLike, b: ArrayLike, power: int = 1) -> None:
        if power not in (1, 2):
            raise PriorError(f"power: must be 1 or 2; got {power!r}.")
        parameters = {"order": order, "a": a, "b": b}
        for name, value in parameters.items():
            number = np.asarray(value, dtype=float)
            bad = ~np.isfinite(number) | ((number <= 0) & (name != "order"))
            if bad.any():
                rule = "finite" if name == "order" else "positive and finite"
                raise PriorError(f"{name}: must be {rule}; got {number[bad][0]:g}.")
        shape = np.broadcast_shapes(*map(np.shape, parameters.values()))
        self.order, self.a, self.b = (
            np.broadcast_to(np.asarray(value, dtype=float), shape) for value in parameters.values()
        )
        self.power = int(power)
        self._omega = np.sqrt(self.a) * np.sqrt(self.b)
        if (self._omega < _SMALLEST).any():
            raise PriorError(
                f"a, b: the root of their product must be at least {_SMALLEST:g}; got "
                f"{self._omega.min():g}. Use a Gamma or inverse-Gamma law, which is the limit."
            )
        self._centre = self._peak(self.order)

    def entry(self, at: tuple[int, ...]) -> GeneralizedInverseGaussian:
        """Return the law of one element."""
        return GeneralizedInverseGaussian(self.order[at], self.a[at], self.b[at], self.power)

    def log_normaliser(self) -> Array:
        r"""Return :math:`\ln Z = \ln\{2 K_\nu(\sqrt{ab}) (b/a)^{\nu/2}\}`, of the density of U."""
        power_of_peak = self.order * self.power * np.log(self._centre)
        return power_of_peak - np.hypot(self.order, self._omega) + self._integrated[0]

    def mode(self) -> Array:
        """Return where the density of X is largest."""
        return self._peak(self.order - 1 / self.power)

    def mean(self) -> Array:
        """Return the mean."""
        return self._centre * np.exp(self._integrated[1])

    def std(self) -> Array:
        """Return the standard deviation."""
        return self.mean() * self._integrated[2]

    def stats(self, moments: str) -> Any:
        """Return mean "m", variance "v", skewness "s", excess kurtosis "k", as SciPy does."""
        _, _, _, skew, kurtosis = self._integrated
        known = {"m": self.mean(), "v": self.var(), "s": skew, "k": kurtosis}
        result = tuple(known[moment] for moment in moments)
        return result[0] if len(result) == 1 else result

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density of X, elementwise."""
        x = np.asarray(x, dtype=float)
        inside = (x > 0) & np.isfinite(x)
        positive = np.where(inside, x, 1.0)
        height = _log_height(self.order, self._omega, self._deviation(positive))
        result = height - self._integrated[0] + np.log(self.power) - np.log(positive)
        return np.where(inside, result, np.where(np.isnan(x), np.nan, -np.inf))[()]

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x, elementwise."""
        return self._of_each("cdf", self._deviation(np.maximum(x, 0)))

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of more than x, elementwise."""
        return self._of_each("sf", self._deviation(np.maximum(x, 0)))

    def ppf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q below it, elementwise."""
        return self._centre * np.exp(self._of_each("ppf", q) / self.power)

    def isf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q above it, elementwise."""
        return self._centre * np.exp(self._of_each("isf", q) / self.power)

    def rvs(self, size: int, rng: np.random.Generator) -> Array:
        """Draw `size` values of every element, on a new first axis."""
        return self.ppf(np.maximum(rng.random((size, *self.order.shape)), _SMALLEST))

    def _peak(self, order: Array) -> Array:
        """Return the high point of x**(power * order) exp(-(a u + b / u) / 2)."""
        total = np.abs(order) + np.hypot(order, self._omega)
        below = order < 0
        u = np.where(below, self.b, total) / np.where(below, total, self.a)
        return u ** (1 / self.power)

    def _deviation(self, x: Array) -> Array:
        """Return y; the log of a quotient has more digits than the difference of two logs."""
        with np.errstate(over="ignore", divide="ignore"):
            ratio = x / self._centre
            known = (ratio > _TINY) & (ratio < np.inf)
            far = np.log(x) - np.log(self._centre)
            return self.power * np.where(known, np.log(ratio), far)

    @cached_property
    def _integrated(self) -> Array:
        return _elementwise(_moments, self.order, self._omega, 1 / self.power)

    @cached_property
    def _each(self) -> list[LogConcave]:
        """The law of each element's y."""

        def law(order: float, omega: float) -> LogConcave:
            return LogConcave(lambda _: partial(_rise, order, omega), LINE, LINE.ends, 0.0)

        return list(map(law, self.order.ravel(), self._omega.ravel()))

    def _of_each(self, verb: str, x: ArrayLike) -> Array:
        return by_element([getattr(law, verb) for law in self._each], x, self.order.shape)


def _elementwise(function: Callable[..., Array], *arguments: ArrayLike) -> Array:
    """Evaluate a function of flat arrays, a block at a time; results may have more first axes."""
    shape = np.broadcast_shapes(*map(np.shape, arguments))
    rows = [np.broadcast_to(argument, shape).ravel() for argument in arguments]
    starts = range(0, max(rows[0].size, 1), _BLOCK)
    parts = [function(*(row[start : start + _BLOCK] for row in rows)) for start in starts]
    return np.concatenate(parts, -1).reshape((*parts[0].shape[:-1], *shape))


def _root_delta(order: Array, omega: Array) -> Array:
    return omega / np.sqrt(np.hypot(order, omega) + np.abs(order))


def _log_height(order: Array, omega: Array, y: Array) -> Array:
    """Return the log density of y over that at its high point, y = 0."""
    size = np.maximum(np.abs(order), _NO_ORDER)
    z = np.where(order < 0, -y, y)
    near = np.abs(z) < 0.5  # noqa: PLR2004 - beyond it the plain difference loses nothing
    with np.errstate(over="ignore"):
        grown = np.expm1(z)
        curved = np.where(near, -log1p_minus(np.where(near, grown, 0.0)), grown - z)
        return -(size * curved + 2 * (_root_delta(order, omega) * np.sinh(y / 2)) ** 2)


def _slope(order: Array, omega: Array, y: Array) -> Array:
    """Return the derivative of `_log_height`."""
    grown = order * np.expm1(np.where(order < 0, -y, y))
    return -(grown + _root_delta(order, omega) ** 2 * np.sinh(y))


def _rise(order: Any, omega: Any, y: Array) -> tuple[Array, Array]:
    return _log_height(order, omega, y), _slope(order, omega, y)


def _end(order: Array, omega: Array, level: Array | float) -> Array:
    """Return the y > 0 at which the log density is `level` below its high point."""
    share = level / np.maximum(np.abs(order), _NO_ORDER)
    along = np.sqrt(2 * share)
    against = share + np.minimum(1.0, along)
    for _ in range(3):
        along = np.log1p(share + along)
    either = 2 * np.arcsinh(np.sqrt(level / 2) / _root_delta(order, omega))
    y = np.minimum(np.where(order < 0, against, along), either)
    # From outside: Newton's steps on a concave function all go inwards.
    return increasing_root(
        lambda y: (-_log_height(order, omega, y) - level, -_slope(order, omega, y)), 0 * y, y, y
    )


def _moments(order: Array, omega: Array, root: Array) -> Array:
    """Return log integral and, of exp(root * y), log mean, relative sd, skewness and kurtosis."""
    tilted = order + 4 * root  # of the fourth moment's integrand
    shift = np.arcsinh(tilted / omega) - np.arcsinh(order / omega)
    left, right = -_end(-order, omega, _LEVEL), shift + _end(tilted, omega, _LEVEL)
    curvature = np.maximum(np.hypot(order, omega), np.hypot(tilted, omega)) + 5
    number = np.max((right - left) * np.sqrt(curvature) / _STEP, initial=1.0)
    y = np.linspace(left, right, int(number) + 2)
    log_mass = _log_height(order, omega, y)
    log_sum = logsumexp(log_mass, axis=0)
    log_mass -= log_sum
    log_mean = logsumexp(log_mass + root * y, axis=0)
    z = root * y - log_mean
    with np.errstate(divide="ignore", over="ignore"):
        # ln|e^z - 1|: the distance from the mean, over the mean
        distance = np.maximum(z, 0) + np.log(-np.expm1(-np.abs(z)))
        log_spread = logsumexp(log_mass + 2 * distance, axis=0) / 2
        standard = distance - log_spread
        skew = (np.sign(z) * np.exp(log_mass + 3 * standard)).sum(0)
        fourth = np.exp(log_mass + 4 * standard).sum(0)
        log_total = log_sum + np.log((right - left) / (len(y) - 1))
        return np.stack([log_total, log_mean, np.exp(log_spread), skew, fourth - 3])
