"""Laws that are closed under conditioning, on any elements of a model's free variables.

A posterior is a product of independent factors. A factor is a law of some elements: it knows its
log density, a bound on that density's rounding error, its slope, exact draws, and the law of every
single element. Factors whose natural parameters add up where log densities do say so too.

Sources: Bernardo and Smith (1994), *Bayesian Theory*, appendix A; Murphy (2012), *Machine
Learning*, sections 2.4, 2.5, 4.5 and 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.sparse import csc_array, diags_array, issparse
from scipy.sparse.linalg import LinearOperator, onenormest, splu, spsolve_triangular
from scipy.sparse.linalg import norm as sparse_norm

from bayesmodels.belief.conditioning import digits_of_factor
from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import Arrays, Family
from bayesmodels.numerics.laws import normal
from bayesmodels.numerics.sparse_cholesky import covariances
from bayesmodels.numerics.special import HALF_LOG_2PI

Elements = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
UNITS = 64.0
"""Roundings, at most, that a summand goes through in the algebra and in what it was read off."""


@dataclass(frozen=True)
class ElementLaw:
    """The marginal laws of some elements of one family; each parameter has one value an element."""

    elements: Elements
    family: str
    law: Any
    parameters: dict[str, Array]


class Factor(Protocol):
    """A law of some elements, independent of all others."""

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
class Independent:
    """Independent elements of one exponential family, or simplexes row by row.

    Parameters have one value an element each; of simplexes the shape (rows, K).
    """

    elements: Elements
    family: Family
    parameters: Arrays

    def _shaped(self, x: Array) -> Array:
        return x.reshape(*x.shape[:-1], *self.parameters[0].shape)

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        return np.asarray(self.family.log_density(self._shaped(x), self.parameters).sum(-1))

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        each = self.family.rounding(self._shaped(x), self.parameters)
        return np.asarray(UNITS * EPS * each.reshape(x.shape).sum(-1))

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        slope, size = self.family.slope(self._shaped(x), self.parameters)
        return slope.ravel(), UNITS * EPS * size.ravel()

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return self.family.draws(draws, rng, *self.parameters).reshape(draws, -1)

    def mode(self) -> Array:
        """Return the mode."""
        return self.family.mode(*self.parameters).ravel()

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        law = self.family.law(*self.parameters)
        return [ElementLaw(self.elements, self.family.name, law, self._by_name())]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        of = "" if abs(self.family.power) == 1 else "the square of "
        return f"{of}{names} has {self.family.title}{said(self._by_name())}"

    def _by_name(self) -> dict[str, Array]:
        flat = map(np.ravel, self.parameters)
        return dict(zip(self.family.parameters, flat, strict=True))

    def natural(self, _: Array) -> Arrays:
        """Return the natural parameters, wherever the centre is."""
        return self.family.natural(*self.parameters)

    def magnitudes(self, _: Array) -> Arrays:
        """Return what errors of natural parameters are measured in, as bounds do."""
        return self.family.sizes(*self.parameters)

    def with_natural(self, natural: Arrays, _: Array) -> Independent:
        """Return the same with other natural parameters."""
        parameters = self.family.usual(*natural)
        positive(*(x for x, proper in zip(parameters, self.family.proper, strict=True) if proper))
        return Independent(self.elements, self.family, parameters)


Matrix = Any
"""A symmetric or triangular matrix, dense or sparse, or the diagonal of one."""


def _times(matrix: Matrix, x: Array) -> Array:
    """Return the product with rows."""
    return np.asarray(x * matrix if matrix.ndim == 1 else x @ matrix.T)


def _diagonal(matrix: Matrix) -> Array:
    return np.asarray(matrix if matrix.ndim == 1 else matrix.diagonal())


@dataclass(frozen=True, eq=False)
class Gaussian:
    r"""Jointly normal elements, :math:`x \sim N(m, \Lambda^{-1})` with :math:`\Lambda = R^\top R`.

    `precision` is kept for the rounding bound; all else uses the upper triangular `root`. Of
    independent elements both are diagonals; where few elements have links they are sparse. `reach`
    is how far from the location the slopes were looked at that it was read off.
    """

    elements: Elements
    location: Array
    precision: Matrix
    root: Matrix
    reach: Array | float = 0.0

    @classmethod
    def independent(cls, elements: Elements, location: Array, precision: Array) -> Gaussian:
        """Return the law of elements that do not depend on each other."""
        return cls(elements, location, precision, np.sqrt(precision))

    @property
    def joint(self) -> bool:
        """Whether elements may depend on each other."""
        return self.root.ndim > 1

    @property
    def known(self) -> Array:
        """What the error of the location is measured in, beside its deviations."""
        return np.abs(self.location) + self.reach

    def square(self, x: Array) -> Array:
        """Return (x - m)' precision (x - m)."""
        return np.asarray((_times(self.root, x - self.location) ** 2).sum(-1))

    def square_size(self, x: Array) -> Array:
        """Return the summed magnitudes of the terms of `square`."""
        gap = np.abs(x - self.location)
        return np.asarray((_times(abs(self.precision), gap) * (gap + self.known)).sum(-1))

    @property
    def half_log_det(self) -> float:
        """Half the log determinant of the precision."""
        return float(np.log(_diagonal(self.root)).sum())

    @cached_property
    def _covariance(self) -> Matrix:
        """The covariance matrix; of a sparse root its entries where that has some, above all."""
        if issparse(self.root):
            return covariances(self.root)
        half = solve_triangular(self.root, np.eye(len(self.location)))
        return half @ half.T

    @cached_property
    def determinant_rounding(self) -> float:
        """A bound, to first order, on the error of that, in units of rounding."""
        if not self.joint:  # where entries move it by less than its logs round
            return float(np.abs(np.log(self.root)).sum())
        # d log det = trace(precision^-1 d precision), where every entry is off by its own size.
        size: Any = abs(self._covariance) * abs(self.precision)
        if isinstance(self.root, np.ndarray):
            return float(size.sum() / 2)
        return float(size.sum() - size.diagonal().sum() / 2)  # half of the others are there

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        constant = self.half_log_det - len(self.location) * HALF_LOG_2PI
        return constant - 0.5 * self.square(x)

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        size = self.square_size(x) + np.abs(np.log(_diagonal(self.root))).sum()
        return UNITS * EPS * (size + self.determinant_rounding + len(self.location))

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        # The location is known to a part of itself and of a standard deviation.
        spread = self.known + 1 / np.sqrt(_diagonal(self.precision))
        size = _times(abs(self.precision), np.abs(x) + spread)
        slope = -_times(self.root.T, _times(self.root, x - self.location))
        return slope, UNITS * EPS * size

    def deviations(self, draws: int, rng: np.random.Generator) -> Array:
        """Return draws of x - m."""
        if not self.joint:
            return np.asarray(rng.standard_normal((draws, len(self.elements))) / self.root)
        z = rng.standard_normal((len(self.elements), draws))
        if issparse(self.root):
            root: Any = self.root
            return np.asarray(spsolve_triangular(root, z, lower=False)).T
        return np.asarray(solve_triangular(self.root, z)).T

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        return self.location + self.deviations(draws, rng)

    def mode(self) -> Array:
        """Return the mode."""
        return self.location

    def sd(self) -> Array:
        """Return standard deviations."""
        return np.sqrt(_diagonal(self._covariance)) if self.joint else 1 / self.root

    def combined(self, elements: Elements, matrix: Any) -> Gaussian:
        """Return the laws of linear combinations, rows of a sparse matrix, each on its own."""
        if not self.joint:
            var = matrix.power(2) @ (1 / self.precision)
        else:
            lower, right = self.root.T, matrix.T.toarray()
            solved = spsolve_triangular if issparse(lower) else solve_triangular
            var = (solved(lower, right, lower=True) ** 2).sum(0)
        return Gaussian.independent(elements, matrix @ self.location, 1 / var)

    def digits_lost(self) -> float:
        """Return the logarithm of the condition number of the precision of elements of unit size.

        Of a sparse one that is an estimate.
        """
        if not self.joint:
            return 0.0
        if not issparse(self.root):
            return 2 * digits_of_factor(self.root)
        size = diags_array(1 / np.sqrt(self.precision.diagonal()))
        unit = csc_array(size @ self.precision @ size)
        solve = splu(unit).solve
        inverse = LinearOperator(unit.shape, matvec=solve, rmatvec=solve, dtype=float)
        return float(np.log10(sparse_norm(unit, 1) * onenormest(inverse)))

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        sd = self.sd()
        result = {"mean": self.location, "sd": sd}
        return [ElementLaw(self.elements, "Normal", normal(self.location, sd), result)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        if not self.joint:
            return f"{names} has a normal law{said({'mean': self.location})}"
        if len(self.elements) == 1:
            return f"{names} is normal"
        verb = "are" if " and " in names else "is"
        return f"{names} {verb} jointly normal ({len(self.elements)} elements)"

    def natural(self, centre: Array) -> Arrays:
        """Return natural parameters; numbers are counted from the centre, so nothing cancels."""
        return self.precision, _times(self.precision, self.location - centre)

    def magnitudes(self, _: Array) -> Arrays:
        """Return what errors of natural parameters are measured in, as bounds do."""
        size = np.sqrt(_diagonal(self.precision))
        spread = np.abs(self.location) + 1 / size
        pull = _times(np.abs(self.precision), spread)
        return (np.outer(size, size) if self.joint else self.precision), pull

    def with_natural(self, natural: Arrays, centre: Array) -> Gaussian:
        """Return the same with other natural parameters."""
        precision, pull = natural
        positive(_diagonal(precision))
        if not self.joint:
            return Gaussian.independent(self.elements, centre + pull / precision, precision)
        size = np.sqrt(np.diag(precision))
        try:
            root = np.linalg.cholesky(precision / np.outer(size, size)).T * size
        except np.linalg.LinAlgError as error:
            raise NotConjugate(_IMPROPER) from error
        gap = np.linalg.solve(root, np.linalg.solve(root.T, pull))
        return Gaussian(self.elements, centre + gap, precision, root)


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
    gamma: Independent

    def log_density(self, x: Array) -> Array:
        """Return the log density."""
        inner, s = x[..., :-1], x[..., -1:]
        width, k = inner.shape[-1], self.gamma.family.power
        logs = width * 0.5 * k * np.log(s[..., 0])
        constant = self.gaussian.half_log_det - width * HALF_LOG_2PI
        square = s[..., 0] ** k * self.gaussian.square(inner)
        return self.gamma.log_density(s) + constant + logs - 0.5 * square

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        inner, s = x[..., :-1], x[..., -1]
        k, width = self.gamma.family.power, inner.shape[-1]
        size = s**k * self.gaussian.square_size(inner) + width * (1 + np.abs(k * np.log(s)))
        size = size + self.gaussian.determinant_rounding
        return self.gamma.rounding(x[..., -1:]) + UNITS * EPS * size

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and a bound on its error."""
        inner, s, k = x[:-1], x[-1], self.gamma.family.power
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
        deviations = self.gaussian.deviations(draws, rng) * s ** (-self.gamma.family.power / 2)
        return np.concatenate([self.gaussian.location + deviations, s], axis=-1)

    def mode(self) -> Array:
        """Return the mode: at x = m that of the scale's density times the normal's height."""
        width, g = len(self.gaussian.location), self.gamma
        shape, rate = g.parameters
        top = g.family.mode(shape + width / 2, rate)
        return np.append(self.gaussian.location, top)

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        shape, rate = self.gamma.parameters
        scale = self.gaussian.sd() * np.sqrt(rate / shape)
        df = np.broadcast_to(2 * shape, scale.shape)
        law = stats.t(df, self.gaussian.location, scale)
        result = {"df": df, "mean": self.gaussian.location, "scale": scale}
        return [ElementLaw(self.elements[:-1], "StudentT", law, result), *self.gamma.laws()]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        kind = "gamma" if self.gamma.family.power > 0 else "inverse-gamma"
        of = "" if abs(self.gamma.family.power) == 1 else ", in its square"
        return f"{names} have a normal-{kind} law{of} ({len(self.elements)} elements)"

    def natural(self, centre: Array) -> Arrays:
        """Return natural parameters, counted from the centre."""
        gap = self.gaussian.location - centre[:-1]
        shape, rate = self.gamma.parameters
        rate = rate + 0.5 * gap @ self.gaussian.precision @ gap
        return *self.gaussian.natural(centre[:-1]), shape, rate

    def magnitudes(self, centre: Array) -> Arrays:
        """Return what errors of natural parameters are measured in, as bounds do."""
        shape, rate = self.natural(centre)[2:]
        return *self.gaussian.magnitudes(centre[:-1]), 1 + shape, rate

    def with_natural(self, natural: Arrays, centre: Array) -> ScaledGaussian:
        """Return the same with other natural parameters."""
        inner = self.gaussian.with_natural(natural[:2], centre[:-1])
        gap = inner.location - centre[:-1]
        parameters = natural[2], natural[3] - 0.5 * gap @ natural[1]
        positive(*parameters)
        gamma = Independent(self.gamma.elements, self.gamma.family, parameters)
        return ScaledGaussian(self.elements, inner, gamma)


Additive = Independent | Gaussian | ScaledGaussian
"""Factors whose natural parameters are those of their log density."""


def additive(factors: Sequence[Factor]) -> TypeGuard[list[Additive]]:
    """Whether the natural parameters of all add up where log densities do."""
    return not any(map(_sparse, factors)) and all(isinstance(f, Additive) for f in factors)


def _sparse(factor: Factor) -> bool:
    inner = factor.gaussian if isinstance(factor, ScaledGaussian) else factor
    return isinstance(inner, Gaussian) and issparse(inner.root)


def same_kinds(one: Sequence[Factor], other: Sequence[Additive]) -> TypeGuard[list[Additive]]:
    """Whether two lists of factors differ in their parameters only."""
    return len(one) == len(other) and all(
        type(a) is type(b) and np.array_equal(a.elements, b.elements) and _kind(a) == _kind(b)
        for a, b in zip(one, other, strict=True)
    )


def _kind(factor: Factor) -> Family | bool | None:
    match factor:
        case Independent(family=family) | ScaledGaussian(gamma=Independent(family=family)):
            return family
        case Gaussian():
            return factor.joint
    return None


_IMPROPER = "with some values of the finite variables the posterior of the others is improper."


def positive(*parameters: Array) -> None:
    """Refuse parameters that are not those of a density."""
    if not all((part > 0).all() for part in parameters):
        raise NotConjugate(_IMPROPER)


def said(parameters: dict[str, Array]) -> str:
    """Say the parameters where there is one element only."""
    if any(np.size(value) != 1 for value in parameters.values()):
        return ""
    said = (f"{name} {float(np.ravel(value)[0]):.6g}" for name, value in parameters.items())
    return f" with {', '.join(said)}"
