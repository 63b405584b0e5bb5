r"""Exponential families, as a table: what each one states, from which everything else follows.

.. math:: \ln p(x) = \eta^\top T(x) - \ln Z(\eta)

A family states its sufficient statistics T, their slopes along the coordinate in which they are
simplest (logit of a share, log of a positive number), its natural parameters and ln Z. Source:
Bernardo and Smith (1994), *Bayesian Theory*, section 4.5 and appendix A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special, stats

from bayesmodels.numerics import Array
from bayesmodels.numerics.generalized_inverse_gaussian import GeneralizedInverseGaussian
from bayesmodels.numerics.laws import PointMass, beta, dirichlet_draws, sum_of_others
from bayesmodels.numerics.log_concave import LINE, LOG, LOGIT, Coordinate
from bayesmodels.numerics.special import HALF_LOG_2PI

Arrays = tuple[Array, ...]

NUMPY = SimpleNamespace(log=np.log, gammaln=special.gammaln, betaln=special.betaln)


@dataclass(frozen=True, eq=False)
class Family:
    """One family; x and the parameters have the same shape, of a simplex the last axis is its own.

    The `name` is such as ``InverseGamma``, the `title` ``an inverse Gamma law``. All callables
    but `statistics` and `slopes` are of the parameters.
    """

    name: str
    title: str
    on: Coordinate  # that of a single element in which slopes are
    parameters: tuple[str, ...]
    statistics: Callable[[Array], Arrays]
    slopes: Callable[[Array], Arrays]  # of T(x), by logit x in (0, 1), ln x, or x on the line
    natural: Callable[..., Arrays]
    usual: Callable[..., Arrays]  # the way back, of natural parameters
    sizes: Callable[..., Arrays]  # what errors of natural parameters are measured in
    log_normaliser: Callable[..., Any]  # the last argument has the functions, NumPy's or PyTensor's
    log_normaliser_size: Callable[..., Array]  # as `sizes`, of what does not grow with T
    mode: Callable[..., Array]  # NaN where the density is largest on the border
    draws: Callable[..., Array]  # one a row, after their number and a generator
    law: Callable[..., Any]  # of the elements, used like frozen SciPy laws
    rises: Callable[[Array, Array], Arrays] = lambda _, s: (s,)  # of T, from u on by s
    proper: tuple[bool, ...] = (True, True)  # whether a parameter must be positive
    power: int = 1  # that power of x has the law of the title
    adds_up: bool = False  # x to one, on the last axis

    def log_density(self, x: Array, parameters: Any, of: Any = NUMPY) -> Any:
        """Return the log density of every element, of a simplex of every row."""
        terms = zip(self.natural(*parameters), self.statistics(x), strict=True)
        each: Any = sum(eta * t for eta, t in terms)
        if self.adds_up:
            each = each.sum(-1)
        return each - self.log_normaliser(*parameters, of)

    def rounding(self, x: Array, parameters: Arrays) -> Array:
        """Return a bound on the rounding error of each element's summand, in roundings."""
        terms = zip(self.sizes(*parameters), self.statistics(x), strict=True)
        size: Any = sum(size * np.abs(t) for size, t in terms)
        return np.asarray(size + self.log_normaliser_size(*parameters))

    def slope(self, x: Array, parameters: Arrays) -> tuple[Array, Array]:
        """Return the slope of the log density by x, and a bound on its error, in roundings."""
        slopes = np.stack(self.slopes(x)) / self.on.slope(x)
        slope = (np.stack(self.natural(*parameters)) * slopes).sum(0)
        return slope, (np.stack(self.sizes(*parameters)) * np.abs(slopes)).sum(0)


def _beta_mode(alpha: Array, beta: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where((alpha > 1) & (beta > 1), (alpha - 1) / (alpha + beta - 2), np.nan)


def _share_rises(u: Array, s: Array) -> Arrays:
    far = np.logaddexp(special.log_expit(-u), special.log_expit(u) + s)
    rise = np.where(np.abs(s) < 1, np.log1p(special.expit(u) * np.expm1(s)), far)
    return s - rise, -rise


BETA = Family(
    name="Beta",
    title="a Beta law",
    on=LOGIT,
    parameters=("alpha", "beta"),
    statistics=lambda x: (np.log(x), np.log1p(-x)),
    slopes=lambda x: (1 - x, -x),
    natural=lambda alpha, beta: (alpha - 1, beta - 1),
    usual=lambda up, down: (up + 1, down + 1),
    sizes=lambda alpha, beta: (alpha + 1, beta + 1),
    log_normaliser=lambda alpha, beta, of: of.betaln(alpha, beta),
    # ln B is a difference of log gamma functions as large as these.
    log_normaliser_size=lambda alpha, beta: (
        (alpha + beta) * (2 + np.abs(np.log(alpha + beta))) + 2
    ).clip(max=1e300),
    mode=_beta_mode,
    draws=lambda number, rng, alpha, beta: dirichlet_draws(
        np.stack([alpha, beta], -1), number, rng
    )[..., 0],
    law=beta,
    rises=_share_rises,
)


def _dirichlet_mode(alpha: Array) -> Array:
    with np.errstate(all="ignore"):
        mode = (alpha - 1) / (alpha - 1).sum(-1, keepdims=True)
    return np.where((alpha > 1).all(-1, keepdims=True), mode, np.nan)


def _shares(alpha: Array) -> Any:
    if alpha.shape[-1] == 1:
        return PointMass(np.ones(alpha.size))
    return beta(alpha.ravel(), sum_of_others(alpha).ravel())


DIRICHLET = Family(
    name="Dirichlet",
    title="a Dirichlet law",
    on=LOG,
    adds_up=True,
    parameters=("alpha",),
    statistics=lambda x: (np.log(x),),
    slopes=lambda x: (np.ones_like(x),),
    natural=lambda alpha: (alpha - 1,),
    usual=lambda each: (each + 1,),
    sizes=lambda alpha: (alpha + 1,),
    log_normaliser=lambda alpha, of: of.gammaln(alpha).sum(-1) - of.gammaln(alpha.sum(-1)),
    log_normaliser_size=lambda alpha: (
        (alpha + 1) * (1 + np.abs(np.log(alpha.sum(-1, keepdims=True))))
    ),
    mode=_dirichlet_mode,
    draws=lambda number, rng, alpha: dirichlet_draws(alpha, number, rng),
    law=_shares,
    proper=(True,),
)


def _gamma_mode(k: int, shape: Array, rate: Array) -> Array:
    top = (k * shape - 1) / (k * rate)
    with np.errstate(all="ignore"):
        return np.where(top > 0, np.abs(top) ** (1 / k), np.nan)


def _gamma_draws(k: int, number: int, rng: np.random.Generator, shape: Array, rate: Array) -> Array:
    size = (number, *shape.shape)
    logs = np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape
    return np.exp((logs - np.log(rate)) / k)


def _gamma_law(k: int, shape: Array, rate: Array) -> Any:
    if k == 1:
        return stats.gamma(shape, scale=1 / rate)
    if k == -1:
        return stats.invgamma(shape, scale=rate)
    return stats.gengamma(shape, k, scale=rate ** (-1 / k))


@cache
def gamma(k: int) -> Family:
    r"""Return the family of positive x whose power k is a Gamma variable.

    .. math:: x^k \sim \mathrm{Gamma}(\alpha, \beta), \qquad
        p(x) = \frac{|k| \beta^\alpha}{\Gamma(\alpha)} x^{k \alpha - 1} e^{-\beta x^k}

    With k = 1 a Gamma law, with k = -1 an inverse Gamma law, with 2 and -2 those of the square.
    """
    return Family(
        name="Square" * (abs(k) > 1) + ("Gamma" if k > 0 else "InverseGamma"),
        title="a Gamma law" if k > 0 else "an inverse Gamma law",
        on=LOG,
        parameters=("shape", "rate" if k > 0 else "scale"),
        statistics=lambda x: (np.log(x), x**k),
        slopes=lambda x: (np.ones_like(x), k * x**k),
        natural=lambda shape, rate: (k * shape - 1, -rate),
        usual=lambda by_log, by_power: ((by_log + 1) / k, 0.0 - by_power),
        sizes=lambda shape, rate: (np.abs(k * shape) + 1, np.abs(rate)),
        log_normaliser=lambda shape, rate, of: (
            of.gammaln(shape) - shape * of.log(rate) - np.log(abs(k))
        ),
        log_normaliser_size=lambda shape, rate: (
            (abs(k) * shape + 1) * (1 + np.abs(np.log(rate)) + np.abs(np.log(shape)))
        ),
        mode=lambda shape, rate: _gamma_mode(k, shape, rate),
        draws=lambda number, rng, shape, rate: _gamma_draws(k, number, rng, shape, rate),
        law=lambda shape, rate: _gamma_law(k, shape, rate),
        rises=lambda u, s: (s, np.exp(k * u) * np.expm1(k * s)),
        power=k,
    )


NORMAL = Family(
    name="Normal",
    title="a normal law",
    on=LINE,
    parameters=("mean", "sd"),
    statistics=lambda x: (x, -(x**2) / 2),
    slopes=lambda x: (np.ones_like(x), -x),
    natural=lambda mean, sd: (mean / sd**2, sd**-2),
    usual=lambda pull, precision: (pull / precision, 1 / np.sqrt(precision)),
    sizes=lambda mean, sd: (np.abs(mean) / sd**2, sd**-2),
    log_normaliser=lambda mean, sd, of: (mean / sd) ** 2 / 2 + of.log(sd) + HALF_LOG_2PI,
    log_normaliser_size=lambda mean, sd: (mean / sd) ** 2 + np.abs(np.log(sd)) + 1,
    mode=lambda mean, _: mean,
    draws=lambda number, rng, mean, sd: rng.normal(mean, sd, (number, *np.shape(mean))),
    law=stats.norm,
    rises=lambda u, s: (s, -s * (u + s / 2)),
    proper=(False, True),
)


@cache
def generalized_inverse_gaussian(k: int) -> Family:
    r"""Return the family of positive x whose power k = 1 or 2 is generalised inverse Gaussian.

    .. math:: u = x^k, \qquad p(u) \propto u^{\lambda - 1} e^{-(a u + b / u) / 2}
    """

    def law(order: Array, a: Array, b: Array) -> GeneralizedInverseGaussian:
        return GeneralizedInverseGaussian(order, a, b, k)

    def sizes(order: Array, a: Array, b: Array) -> Arrays:
        return k * np.abs(order) + 1, a / 2, b / 2

    def log_normaliser_size(order: Array, a: Array, b: Array) -> Array:
        bessel = np.abs(order) + np.sqrt(a * b) + 1
        logs = 1 + np.abs(np.log(a)) + np.abs(np.log(b)) + np.log(bessel)
        return (k * np.abs(order) + 1 + bessel) * logs

    return Family(
        name="Square" * (k > 1) + "GeneralizedInverseGaussian",
        title="a generalised inverse Gaussian law",
        on=LOG,
        parameters=("order", "a", "b"),
        statistics=lambda x: (np.log(x), x**k, 1 / x**k),
        slopes=lambda x: (np.ones_like(x), k * x**k, -k * x**-k),
        natural=lambda order, a, b: (k * order - 1, -a / 2, -b / 2),
        usual=lambda by_log, up, down: ((by_log + 1) / k, -2 * up, -2 * down),
        sizes=sizes,
        log_normaliser=lambda order, a, b, _: law(order, a, b).log_normaliser() - np.log(k),
        log_normaliser_size=log_normaliser_size,
        mode=lambda order, a, b: np.asarray(law(order, a, b).mode()),
        draws=lambda number, rng, order, a, b: np.asarray(law(order, a, b).rvs(number, rng)),
        law=law,
        rises=lambda u, s: (s, *(np.exp(m * u) * np.expm1(m * s) for m in (k, -k))),
        proper=(False, True, True),
        power=k,
    )
