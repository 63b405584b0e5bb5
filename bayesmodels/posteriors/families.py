"""Laws that are closed under conditioning, on any elements of a model's free variables.

A block is a law of some elements, independent of all others. It knows its log density, a bound on
that density's rounding error, its slope, exact draws, and the law of every single element.

Sources: Bernardo and Smith (1994), *Bayesian Theory*, appendix A; Murphy (2012), *Machine
Learning*, sections 2.4, 2.5, 4.5 and 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import betaln, gammaln

from bayesmodels.numerics import Array
from bayesmodels.numerics.generalized_inverse_gaussian import GeneralizedInverseGaussian
from bayesmodels.numerics.laws import dirichlet_draws
from bayesmodels.numerics.special import HALF_LOG_2PI

Elements = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
UNITS = 64.0
"""Roundings, at most, that a summand goes through in the algebra and in what it was read off."""


@dataclass(frozen=True)
class ElementLaw:
    """The marginal laws of some elements, all of one family.

    Attributes
    ----------
    elements : ndarray of int
        Which elements.
    family : str
        Name of the family.
    law : Law
        Elementwise.
    parameters : dict of ndarray
        By name, one value an element.
    """

    elements: Elements
    family: str
    law: Any
    parameters: dict[str, Array]


class Block(Protocol):
    """A law of some elements."""

    @property
    def elements(self) -> Elements:
        """Which elements, in the order in which `log_density` and `sample` have them."""

    def log_density(self, x: Array) -> Array:
        """Return the log density at points of shape (..., number of elements)."""

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error of the log density, parameters included."""

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient of the log density at one point and a bound on its error."""

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws, one a row."""

    def mode(self) -> Array:
        """Return where the density is largest; NaN where that is not inside the support."""

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""

    def sentence(self, names: str) -> str:
        """Say what is known of the variables called `names`."""


@dataclass(frozen=True, eq=False)
class Betas:
    r"""Independent :math:`x \sim \mathrm{Beta}(\alpha, \beta)`."""

    elements: Elements
    alpha: Array
    beta: Array

    def _summands(self, x: Array) -> tuple[Array, Array]:
        return (self.alpha - 1) * np.log(x), (self.beta - 1) * np.log1p(-x)

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        up, down = self._summands(x)
        result: Array = (up + down - betaln(self.alpha, self.beta)).sum(-1)
        return result

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        # ln B is a difference of log gamma functions as large as these.
        size = (self.alpha + self.beta) * (1 + np.abs(np.log(self.alpha + self.beta)))
        logs = np.abs(np.log(x)), np.abs(np.log1p(-x))
        terms = (self.alpha + 1) * (1 + logs[0]) + (self.beta + 1) * (1 + logs[1])
        result: Array = UNITS * EPS * (terms + np.minimum(size, 1e300)).sum(-1)
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        up, down = (self.alpha - 1) / x, (self.beta - 1) / (1 - x)
        size = (self.alpha + 1) / x + (self.beta + 1) / (1 - x)
        return up - down, UNITS * EPS * size

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        both = np.stack([self.alpha, self.beta], -1)
        return dirichlet_draws(both, draws, rng)[..., 0]

    def mode(self) -> Array:
        """Return the mode."""
        inner = (self.alpha > 1) & (self.beta > 1)
        with np.errstate(all="ignore"):
            return np.where(inner, (self.alpha - 1) / (self.alpha + self.beta - 2), np.nan)

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        found = {"alpha": self.alpha, "beta": self.beta}
        return [ElementLaw(self.elements, "Beta", stats.beta(self.alpha, self.beta), found)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        return f"{names} has a Beta law{_values('alpha', self.alpha, 'beta', self.beta)}"


class Ones:
    """The law of shares that are one for certain: of a simplex with one corner.

    Parameters
    ----------
    size : int
        Number of elements.
    """

    def __init__(self, size: int) -> None:
        self._one = np.ones(size)

    def mean(self) -> Array:
        """Return one."""
        return self._one

    def var(self) -> Array:
        """Return zero."""
        return 0 * self._one

    std = var

    def stats(self, moments: str) -> Array:
        """Return zero for what a point has no shape for."""
        del moments
        return 0 * self._one

    def cdf(self, x: Any) -> Array:
        """Return the probability of at most x."""
        return np.where(np.asarray(x) >= self._one, 1.0, 0.0)

    def sf(self, x: Any) -> Array:
        """Return the probability of more than x."""
        return 1 - self.cdf(x)

    def logpdf(self, x: Any) -> Array:
        """Return infinity at one, the density of a point."""
        return np.where(np.asarray(x) == self._one, np.inf, -np.inf)

    def ppf(self, q: Any) -> Array:
        """Return one."""
        return self._one + 0 * np.asarray(q)

    isf = ppf


@dataclass(frozen=True, eq=False)
class Dirichlets:
    r"""Independent rows :math:`x \sim \mathrm{Dirichlet}(\alpha)`; `alpha` has shape (rows, K)."""

    elements: Elements
    alpha: Array

    def _rows(self, x: Array) -> Array:
        return x.reshape(*x.shape[:-1], *self.alpha.shape)

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        rows = self._rows(x)
        logs = (self.alpha - 1) * np.log(rows) - gammaln(self.alpha)
        result: Array = (logs.sum(-1) + gammaln(self.alpha.sum(-1))).sum(-1)
        return result

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        total = self.alpha.sum(-1, keepdims=True)
        each = (self.alpha + 1) * (1 + np.abs(np.log(self._rows(x))) + np.abs(np.log(total)))
        result: Array = UNITS * EPS * each.sum((-2, -1))
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        rows = self._rows(x)
        return ((self.alpha - 1) / rows).ravel(), (UNITS * EPS * (self.alpha + 1) / rows).ravel()

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return dirichlet_draws(self.alpha, draws, rng).reshape(draws, -1)

    def mode(self) -> Array:
        """Return the mode."""
        inner = (self.alpha > 1).all(-1, keepdims=True)
        with np.errstate(all="ignore"):
            mode = (self.alpha - 1) / (self.alpha - 1).sum(-1, keepdims=True)
        return np.where(inner, mode, np.nan).ravel()

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        rest = (self.alpha.sum(-1, keepdims=True) - self.alpha).ravel()
        if self.alpha.shape[-1] == 1:
            law: Any = Ones(len(self.elements))
        else:
            law = stats.beta(self.alpha.ravel(), rest)
        return [ElementLaw(self.elements, "Dirichlet", law, {"alpha": self.alpha.ravel()})]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        return f"{names} has a Dirichlet law{_values('alpha', self.alpha)}"


@dataclass(frozen=True, eq=False)
class Gammas:
    r"""Independent positive x whose power is a Gamma variable.

    .. math:: x^k \sim \mathrm{Gamma}(\alpha, \beta), \qquad
        p(x) = \frac{|k| \beta^\alpha}{\Gamma(\alpha)} x^{k \alpha - 1} e^{-\beta x^k}

    With k = 1 a Gamma law, with k = -1 an inverse Gamma law, with 2 and -2 those of the square.
    """

    elements: Elements
    power: int
    shape: Array
    rate: Array

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        each = (self.power * self.shape - 1) * np.log(x) - self.rate * x**self.power
        each = each + self.shape * np.log(self.rate) - gammaln(self.shape)
        result: Array = (each + np.log(abs(self.power))).sum(-1)
        return result

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        logs = 1 + np.abs(np.log(x)) + np.abs(np.log(self.rate)) + np.abs(np.log(self.shape))
        each = (abs(self.power) * self.shape + 1) * logs + self.rate * x**self.power
        result: Array = UNITS * EPS * each.sum(-1)
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        up = (self.power * self.shape - 1) / x
        down = self.power * self.rate * x ** (self.power - 1)
        size = (abs(self.power) * self.shape + 1) / x + np.abs(down)
        return up - down, UNITS * EPS * size

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        size = (draws, len(self.elements))
        logs = np.log(rng.standard_gamma(self.shape + 1, size)) - (
            rng.standard_exponential(size) / self.shape
        )
        return np.exp((logs - np.log(self.rate)) / self.power)

    def mode(self) -> Array:
        """Return the mode."""
        top = (self.power * self.shape - 1) / (self.power * self.rate)
        with np.errstate(all="ignore"):
            return np.where(top > 0, np.abs(top) ** (1 / self.power), np.nan)

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        law, family, found = gamma_power(self.power, self.shape, self.rate)
        return [ElementLaw(self.elements, family, law, found)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        of = "" if abs(self.power) == 1 else "the square of "
        if self.power > 0:
            return f"{of}{names} has a Gamma law{_values('shape', self.shape, 'rate', self.rate)}"
        numbers = _values("shape", self.shape, "scale", self.rate)
        return f"{of}{names} has an inverse Gamma law{numbers}"


def gamma_power(power: int, shape: Array, rate: Array) -> tuple[Any, str, dict[str, Array]]:
    """Return law, name of the family and parameters of x whose power is a Gamma variable."""
    square = "Square" if abs(power) > 1 else ""
    law: Any
    if power == 1:
        law = stats.gamma(shape, scale=1 / rate)
    elif power == -1:
        law = stats.invgamma(shape, scale=rate)
    else:
        law = stats.gengamma(shape, power, scale=rate ** (-1 / power))
    if power > 0:
        return law, f"{square}Gamma", {"shape": shape, "rate": rate}
    return law, f"{square}InverseGamma", {"shape": shape, "scale": rate}


@dataclass(frozen=True, eq=False)
class InverseGaussians:
    r"""Independent positive x whose power k = 1 or 2 is generalised inverse Gaussian.

    .. math:: u = x^k, \qquad p(u) \propto u^{\lambda - 1} e^{-(a u + b / u) / 2}
    """

    elements: Elements
    power: int
    order: Array
    a: Array
    b: Array

    @property
    def _law(self) -> Any:
        return GeneralizedInverseGaussian(self.order, self.a, self.b, self.power)

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        u = x**self.power
        each = (self.power * self.order - 1) * np.log(x) - (self.a * u + self.b / u) / 2
        constant = np.log(self.power) - self._law.log_normaliser()
        result: Array = (each + constant).sum(-1)
        return result

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        u = x**self.power
        size = np.abs(self.order) + np.sqrt(self.a * self.b) + 1
        logs = 1 + np.abs(np.log(x)) + np.abs(np.log(self.a)) + np.abs(np.log(self.b))
        each = (self.power * np.abs(self.order) + 1 + size) * (logs + np.log(size))
        result: Array = UNITS * EPS * (each + (self.a * u + self.b / u) / 2).sum(-1)
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        u = x**self.power
        first = (self.power * self.order - 1) / x
        up, down = self.power * self.a * u / x / 2, self.power * self.b / u / x / 2
        size = (self.power * np.abs(self.order) + 1) / x + up + down
        return first - up + down, UNITS * EPS * size

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return np.asarray(self._law.rvs(draws, rng))

    def mode(self) -> Array:
        """Return the mode."""
        return np.asarray(self._law.mode())

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        family = "Square" * (self.power > 1) + "GeneralizedInverseGaussian"
        found = {"order": self.order, "a": self.a, "b": self.b}
        return [ElementLaw(self.elements, family, self._law, found)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        of = "" if self.power == 1 else "the square of "
        numbers = _values("order", self.order, "a", self.a, "b", self.b)
        return f"{of}{names} has a generalised inverse Gaussian law{numbers}"


@dataclass(frozen=True, eq=False)
class Normals:
    r"""Independent :math:`x \sim N(m, 1 / \lambda)`."""

    elements: Elements
    location: Array
    precision: Array

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        each = 0.5 * np.log(self.precision) - HALF_LOG_2PI
        result: Array = (each - 0.5 * self.precision * (x - self.location) ** 2).sum(-1)
        return result

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        gap = np.abs(x - self.location)
        each = self.precision * gap * (gap + np.abs(self.location)) + np.abs(np.log(self.precision))
        result: Array = UNITS * EPS * (each + 1).sum(-1)
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        # The location is known to a part of itself and of a standard deviation.
        spread = np.abs(self.location) + 1 / np.sqrt(self.precision)
        size = self.precision * (np.abs(x) + spread)
        return -self.precision * (x - self.location), UNITS * EPS * size

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        z = rng.standard_normal((draws, len(self.elements)))
        return self.location + z / np.sqrt(self.precision)

    def mode(self) -> Array:
        """Return the mode."""
        return self.location

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        sd = 1 / np.sqrt(self.precision)
        found = {"mean": self.location, "sd": sd}
        return [ElementLaw(self.elements, "Normal", stats.norm(self.location, sd), found)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        return f"{names} has a normal law{_values('mean', self.location)}"


@dataclass(frozen=True, eq=False)
class Gaussian:
    r"""Jointly normal elements, :math:`x \sim N(m, \Lambda^{-1})` with :math:`\Lambda = R^\top R`.

    `precision` is kept for the rounding bound; all else uses the upper triangular `root`. So is
    `reach`: how far from the location the slopes were looked at that it was read off.
    """

    elements: Elements
    location: Array
    precision: Array
    root: Array
    reach: Array | float = 0.0

    @property
    def known(self) -> Array:
        """What the error of the location is measured in, beside its deviations."""
        return np.abs(self.location) + self.reach

    def square(self, x: Array) -> Array:
        """Return (x - m)' precision (x - m)."""
        result: Array = (((x - self.location) @ self.root.T) ** 2).sum(-1)
        return result

    def square_size(self, x: Array) -> Array:
        """Return the summed magnitudes of the terms of `square`."""
        gap = np.abs(x - self.location)
        result: Array = (gap @ np.abs(self.precision) * (gap + self.known)).sum(-1)
        return result

    @property
    def half_log_det(self) -> float:
        """Half the log determinant of the precision."""
        return float(np.log(np.diag(self.root)).sum())

    @property
    def determinant_rounding(self) -> float:
        """A bound, to first order, on the error of that, in units of rounding."""
        # d log det = trace(precision^-1 d precision), where every entry is off by its own size.
        half = solve_triangular(self.root, np.eye(len(self.location)))
        return float((np.abs(half @ half.T) * np.abs(self.precision)).sum() / 2)

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        constant = self.half_log_det - len(self.location) * HALF_LOG_2PI
        return constant - 0.5 * self.square(x)

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        size = self.square_size(x) + np.abs(np.log(np.diag(self.root))).sum()
        return UNITS * EPS * (size + self.determinant_rounding + len(self.location))

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        slope = -self.root.T @ (self.root @ (x - self.location))
        spread = self.known + 1 / np.sqrt(np.diag(self.precision))
        size = np.abs(self.precision) @ (np.abs(x) + spread)
        return slope, UNITS * EPS * size

    def deviations(self, draws: int, rng: np.random.Generator) -> Array:
        """Return draws of x - m."""
        z = rng.standard_normal((len(self.elements), draws))
        return np.asarray(solve_triangular(self.root, z)).T

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return self.location + self.deviations(draws, rng)

    def mode(self) -> Array:
        """Return the mode."""
        return self.location

    def sd(self) -> Array:
        """Return standard deviations."""
        half = solve_triangular(self.root, np.eye(len(self.location)))
        return np.asarray(np.sqrt((half**2).sum(-1)))

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        sd = self.sd()
        found = {"mean": self.location, "sd": sd}
        return [ElementLaw(self.elements, "Normal", stats.norm(self.location, sd), found)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        if len(self.elements) == 1:
            return f"{names} is normal"
        verb = "are" if " and " in names else "is"
        return f"{names} {verb} jointly normal ({len(self.elements)} elements)"


@dataclass(frozen=True, eq=False)
class ScaledGaussian:
    r"""Normal elements whose precision is known but for a factor, which is a power of a scale s.

    .. math:: x \mid s \sim N(m, (s^k \Lambda)^{-1}), \qquad
        s^k \sim \mathrm{Gamma}(\alpha, \beta)

    With k = -1 a normal-inverse-Gamma law, with k = 1 normal-Gamma; with k = -2 s is a standard
    deviation. The scale is the last of `elements`.
    """

    elements: Elements
    gaussian: Gaussian
    gamma: Gammas

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        inner, s = x[..., :-1], x[..., -1:]
        width, k = inner.shape[-1], self.gamma.power
        logs = width * 0.5 * k * np.log(s[..., 0])
        constant = self.gaussian.half_log_det - width * HALF_LOG_2PI
        return (
            self.gamma.log_density(s)
            + constant
            + logs
            - 0.5 * s[..., 0] ** k * (self.gaussian.square(inner))
        )

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        inner, s = x[..., :-1], x[..., -1]
        k, width = self.gamma.power, inner.shape[-1]
        size = s**k * self.gaussian.square_size(inner) + width * (1 + np.abs(k * np.log(s)))
        size = size + self.gaussian.determinant_rounding
        return self.gamma.rounding(x[..., -1:]) + UNITS * EPS * size

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        inner, s, k = x[:-1], x[-1], self.gamma.power
        width = len(inner)
        by_x, size_x = self.gaussian.slope(inner)
        by_s, size_s = self.gamma.slope(x[-1:])
        square, square_size = self.gaussian.square(inner), self.gaussian.square_size(inner)
        by_s = by_s + k * (width - s**k * square) / (2 * s)
        size_s = size_s + UNITS * EPS * abs(k) * (width + s**k * square_size) / s
        return np.append(s**k * by_x, by_s), np.append(s**k * size_x, size_s)

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        s = self.gamma.sample(draws, rng)
        deviations = self.gaussian.deviations(draws, rng) * s ** (-self.gamma.power / 2)
        return np.concatenate([self.gaussian.location + deviations, s], axis=-1)

    def mode(self) -> Array:
        """Return the mode: at x = m that of the scale's density times the normal's height."""
        width, g = len(self.gaussian.location), self.gamma
        top = Gammas(g.elements, g.power, g.shape + width / 2, g.rate).mode()
        return np.append(self.gaussian.location, top)

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        shape, rate = self.gamma.shape, self.gamma.rate
        scale = self.gaussian.sd() * np.sqrt(rate / shape)
        df = np.broadcast_to(2 * shape, scale.shape)
        law = stats.t(df, self.gaussian.location, scale)
        found = {"df": df, "mean": self.gaussian.location, "scale": scale}
        return [ElementLaw(self.elements[:-1], "StudentT", law, found), *self.gamma.laws()]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        kind = "gamma" if self.gamma.power > 0 else "inverse-gamma"
        of = "" if abs(self.gamma.power) == 1 else ", in its square"
        return f"{names} have a normal-{kind} law{of} ({len(self.elements)} elements)"


def _values(*pairs: Any) -> str:
    """Say the parameters where there is one element only."""
    names, values = pairs[::2], pairs[1::2]
    if any(np.size(value) != 1 for value in values):
        return ""
    inner = ", ".join(
        f"{name} {float(np.ravel(value)[0]):.6g}" for name, value in zip(names, values, strict=True)
    )
    return f" with {inner}"
