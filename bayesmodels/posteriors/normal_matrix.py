r"""Wishart and inverse-Wishart laws, with normal vectors that share the matrix; how to find them.

At M = t I the score of the matrix and the curvature of the vectors say which of the two M is; the
curvature there is the strength K of the vectors, since their precision is K times M or its inverse.
Sources: Bernardo and Smith (1994), appendix A.2; Murphy (2012), sections 4.5 and 4.6.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import multigammaln

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.wishart import (
    inverse_wishart_marginals,
    inverse_wishart_roots,
    symmetric,
    wishart_marginals,
)
from bayesmodels.posteriors.families import EPS, UNITS, ElementLaw, Elements
from bayesmodels.posteriors.gradient import Field
from bayesmodels.posteriors.independent import LOOSE


@dataclass(frozen=True, eq=False)
class NormalMatrix:
    r"""A random covariance or precision matrix M of width D, and n vectors that depend on it.

    .. math:: \Sigma \sim \mathrm{IW}(S, \nu) \text{ or } \Sigma^{-1} \sim W(S^{-1}, \nu), \qquad
        (u_1, \dots, u_n)^\top \mid \Sigma \sim \mathrm{MN}(U_0, K^{-1}, \Sigma)

    Elements are those of the vectors, row by row, and then those of M, a precision if `precision`.
    `df` is the number of degrees of freedom, `scale` S, `location` U_0 and `strength` K.
    """

    elements: Elements
    precision: bool
    df: float
    scale: Array
    location: Array
    strength: Array

    def _parts(self, x: Array) -> tuple[Array, Array]:
        n, width = self.location.shape
        vectors = x[..., : n * width].reshape(*x.shape[:-1], n, width)
        return vectors, x[..., n * width :].reshape(*x.shape[:-1], width, width)

    def _tight(self, vectors: Array, matrix: Array) -> tuple[Array, Array]:
        """Return the log determinant of the precision and S plus the vectors' scatter."""
        gap = vectors - self.location
        scatter = self.scale + np.swapaxes(gap, -1, -2) @ self.strength @ gap
        log_det = np.linalg.slogdet(matrix)[1]
        return log_det if self.precision else -log_det, scatter

    def log_density(self, x: Array) -> Array:
        """Return the log density, the matrix counting as its lower triangle."""
        (n, width), df = self.location.shape, self.df
        vectors, matrix = self._parts(x)
        definite = np.linalg.eigvalsh(matrix)[..., 0] > 0
        matrix = np.where(definite[..., None, None], matrix, np.eye(width))
        log_det, scatter = self._tight(vectors, matrix)
        if self.precision:
            trace = (scatter * matrix).sum((-2, -1))
        else:
            trace = np.trace(np.linalg.solve(matrix, scatter), axis1=-2, axis2=-1)
        constant = 0.5 * df * (np.linalg.slogdet(self.scale)[1] - width * np.log(2))
        constant -= multigammaln(df / 2, width) + n * width * HALF_LOG_2PI
        if n:
            constant += 0.5 * width * np.linalg.slogdet(self.strength)[1]
        return np.where(definite, constant + 0.5 * self._power * log_det - 0.5 * trace, -np.inf)

    @property
    def _power(self) -> float:
        """That of the precision's determinant in the density, times two."""
        n, width = self.location.shape
        return self.df + n + (-width - 1 if self.precision else width + 1)

    def rounding(self, x: Array) -> Array:
        """Return a bound on the rounding error."""
        (n, width), df = self.location.shape, self.df
        vectors, matrix = self._parts(x)
        gap = np.abs(vectors - self.location)
        size = np.abs(self.scale) + np.swapaxes(gap, -1, -2) @ np.abs(self.strength) @ (
            gap + np.abs(self.location)
        )
        tight = matrix if self.precision else np.linalg.inv(matrix)
        trace = (size * np.abs(tight)).sum((-2, -1))
        condition = np.linalg.cond(matrix) + np.linalg.cond(self.scale)
        logs = np.abs(np.linalg.slogdet(matrix)[1]) + np.abs(np.linalg.slogdet(self.scale)[1])
        each = (df + width + 1 + n) * (logs + width * (1 + np.log(df + width)))
        size = each + trace * (1 if self.precision else condition) + (df + width) * condition
        return np.asarray(UNITS * EPS * size)

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient, symmetric in the matrix, and a bound on its error."""
        (n, width), df = self.location.shape, self.df
        vectors, matrix = self._parts(x)
        inverse = np.linalg.inv(matrix)
        tight = matrix if self.precision else inverse
        gap = vectors - self.location
        scatter = self._tight(vectors, matrix)[1]
        by_vectors = -self.strength @ gap @ tight
        size_vectors = np.abs(self.strength) @ (np.abs(vectors) + np.abs(self.location))
        size_vectors = size_vectors @ np.abs(tight) * np.linalg.cond(matrix)
        size = np.abs(scatter) + np.abs(self.scale)
        if self.precision:
            by_matrix = 0.5 * self._power * inverse - 0.5 * scatter
        else:
            by_matrix = -0.5 * self._power * inverse + 0.5 * inverse @ scatter @ inverse
            size = np.abs(inverse) @ size @ np.abs(inverse)
        size = (size + (df + width + 1 + n) * np.abs(inverse)) * np.linalg.cond(matrix)
        slope = np.concatenate([by_vectors.ravel(), by_matrix.ravel()])
        return slope, UNITS * EPS * np.concatenate([size_vectors.ravel(), size.ravel()])

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        n, width = self.location.shape
        half = inverse_wishart_roots(self.df, self.scale, draws, rng)  # half' half = covariance
        matrix = symmetric(np.swapaxes(half, -1, -2) @ half)
        if self.precision:
            matrix = symmetric(np.linalg.inv(matrix))
        parts = [matrix.reshape(draws, -1)]
        if n:
            z = rng.standard_normal((draws, n, width))
            root = np.linalg.cholesky(self.strength)
            spread = solve_triangular(root, np.eye(n), lower=True).T
            parts.insert(0, (self.location + spread @ z @ half).reshape(draws, -1))
        return np.concatenate(parts, -1)

    def mode(self) -> Array:
        """Return the mode; NaN where it is on the border."""
        if self.precision:
            inside = self._power > 0
            matrix = self._power * np.linalg.inv(self.scale) if inside else self.scale * np.nan
        else:
            matrix = self.scale / self._power
        return np.concatenate([self.location.ravel(), matrix.ravel()])

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        (n, width), df = self.location.shape, self.df
        result, cut = [], n * width
        if n:
            half = solve_triangular(np.linalg.cholesky(self.strength), np.eye(n), lower=True)
            size = np.sqrt((half**2).sum(0))  # sd of a vector in units of the matrix
            free = df - width + 1
            scale = np.outer(size, np.sqrt(np.diag(self.scale) / free)).ravel()
            df_each, mean = np.full(cut, free), self.location.ravel()
            law = stats.t(df_each, mean, scale)
            values = {"df": df_each, "mean": mean, "scale": scale}
            result.append(ElementLaw(self.elements[:cut], "StudentT", law, values))
        scale = np.linalg.inv(self.scale) if self.precision else self.scale
        parameters: Any = (
            wishart_marginals(df, scale)
            if self.precision
            else inverse_wishart_marginals(np.asarray(df, dtype=float), scale)
        )
        values = {"df": np.full(width * width, float(df)), "scale": scale.ravel()}
        family = "Wishart" if self.precision else "InverseWishart"
        return [*result, ElementLaw(self.elements[cut:], family, parameters, values)]

    def sentence(self, names: str) -> str:
        """Say what is known."""
        family = "Wishart" if self.precision else "inverse-Wishart"
        normal = "normal-" if len(self.location) else ""
        verb = "have" if len(self.location) else "has"
        a = "a" if normal or self.precision else "an"
        return f"{names} {verb} {a} {normal}{family} law with {self.df:g} degrees of freedom"


def normal_matrix(
    field: Field, real: Elements, matrix: Elements, x: Array, rng: np.random.Generator
) -> NormalMatrix:
    """Return the law of a matrix and of the vectors that depend on it."""
    width = int(np.sqrt(len(matrix)))
    name = field.continuous[field.owner[matrix[0]]].name
    probe = _Probe(field, real, matrix, x.copy(), width)
    if len(real) % width:
        raise NotConjugate(_no_family(name))
    order, kind = _order(probe, name) if len(real) else (np.arange(0), None)
    probe.real = real = real[order]
    vectors = len(real) // width
    scale = 1.0
    location = np.zeros((vectors, width))
    strength = np.zeros((vectors, vectors))
    for _ in range(2):
        if vectors:
            curvature, location = probe.centre(scale * np.eye(width), location)
            size = 1 / scale if kind == "covariance" else scale
            by_place = curvature.reshape(vectors, width, vectors, width) / size
            strength = np.einsum("idjd->ij", by_place) / width
            strength = symmetric(strength)
            expected = np.einsum("ij,de->idje", strength, np.eye(width))
            if (np.abs(by_place - expected) > LOOSE * np.abs(strength).max()).any():
                raise NotConjugate(_no_family(name))
            if np.linalg.eigvalsh(strength).min() <= 0:
                raise NotConjugate(f"the posterior of the vectors that {name} spreads is improper.")
        precision, power, rate = _matrix_law(probe, location, scale, kind, rng, name)
        scale = float(np.exp(np.log(np.diag(rate)).mean()) / max(abs(power), 1))
        scale = 1 / scale if precision else scale
    # |M|^power in the joint density, of which the vectors own half a power each.
    df = 2 * power - vectors + width + 1 if precision else -2 * power - vectors - width - 1
    if df <= width - 1 or np.linalg.eigvalsh(rate).min() <= 0:
        raise NotConjugate(f"the posterior of {name} is improper. Give it a proper prior.")
    return NormalMatrix(np.append(real, matrix), precision, df, rate, location, strength)


@dataclass(eq=False)
class _Probe:
    """Slopes at chosen values of the matrix and its vectors."""

    field: Field
    real: Elements
    matrix: Elements
    x: Array
    width: int

    def __call__(self, matrix: Array, vectors: Array) -> tuple[Array, Array]:
        """Return slopes by the vectors, and by the matrix, symmetric."""
        self.x[self.matrix] = matrix.ravel()
        self.x[self.real] = vectors.ravel()
        slope = self.field(self.x)[1]
        inner = slope[self.matrix].reshape(self.width, self.width)
        return slope[self.real], symmetric(inner)

    def curvature(self, matrix: Array, flat: Array) -> Array:
        """Return how fast the slopes by the vectors fall as each of their elements rises."""
        here = self(matrix, flat)[0]
        curvature = np.empty((len(flat), len(flat)))
        for j in range(len(flat)):
            step = 64.0 * max(1.0, abs(flat[j]))
            there = flat.copy()
            there[j] += step
            curvature[:, j] = (here - self(matrix, there)[0]) / (there[j] - flat[j])
        return symmetric(curvature)

    def centre(self, matrix: Array, start: Array) -> tuple[Array, Array]:
        """Return curvature and centre of the vectors at a matrix."""
        flat = start.ravel().astype(float)
        curvature = self.curvature(matrix, flat)
        for _ in range(3):
            flat = flat + np.linalg.solve(curvature, self(matrix, flat)[0])
        return curvature, flat.reshape(start.shape)


def _order(probe: _Probe, name: str) -> tuple[NDArray[np.intp], str]:
    """Sort elements into vectors; say whether the matrix is their covariance or precision."""
    width, n = probe.width, len(probe.real)
    zero = np.zeros(n)
    plain = np.diag(probe.curvature(np.eye(width), zero))
    spread = np.diag(probe.curvature(np.diag(2.0 ** np.arange(width)), zero))
    ratio = spread / (plain + (plain == 0))
    place = np.round(np.log2(np.abs(ratio) + (ratio == 0)))
    if not np.allclose(ratio, 2.0**place, rtol=1e-6):
        raise NotConjugate(_no_family(name))
    kind = "precision" if (place > 0).any() or (place == 0).all() else "covariance"
    place = np.abs(place).astype(int)
    if width == 1:
        wider = probe.curvature(np.full((1, 1), 2.0), zero)[0, 0]
        kind = "precision" if wider > plain[0] else "covariance"
    if (np.bincount(place, minlength=width) != n // width).any():
        raise NotConjugate(_no_family(name))
    # The k-th element of each place makes the k-th vector; strength is diagonal in blocks anyway.
    within = np.array([np.flatnonzero(place == d) for d in range(width)]).T
    return within.ravel(), kind


def _matrix_law(
    probe: _Probe,
    location: Array,
    scale: float,
    kind: str | None,
    rng: np.random.Generator,
    name: str,
) -> tuple[bool, float, Array]:
    """Return whether M is a precision, the power of its determinant, and its rate or scale."""
    width = probe.width
    eye = np.eye(width)
    sizes = scale * np.array([1.0, 0.05, 20.0])
    slopes = [probe(size * eye, location)[1] for size in sizes]
    root = eye + 0.3 * np.tril(rng.standard_normal((width, width)))
    other = scale * root @ root.T
    slope = probe(other, location)[1]
    for precision in (True, False):
        if kind is not None and precision != (kind == "precision"):
            continue
        # slope = power / t I - S / 2, or power / t I + S / (2 t^2)
        first, second = slopes[1], slopes[2]
        t, u = sizes[1], sizes[2]
        if precision:
            power = float(np.trace(first - second) / width / (1 / t - 1 / u))
            rate = -2 * (second - power / u * eye)
        else:
            power = float(np.trace(first * t**2 - second * u**2) / width / (t - u))
            rate = 2 * (first * t**2 - power * t * eye)
        rate = symmetric(rate)
        fits = True
        for at, seen in ((sizes[0] * eye, slopes[0]), (other, slope)):
            inverse = np.linalg.inv(at)
            pull = -rate / 2 if precision else inverse @ rate @ inverse / 2
            size = abs(power) * np.abs(inverse).max() + np.abs(pull).max()
            fits &= bool((np.abs(power * inverse + pull - seen) <= LOOSE * size).all())
        if fits:
            return precision, power, rate
    raise NotConjugate(_no_family(name))


def _no_family(name: str) -> str:
    return (
        f"the joint density as a function of {name} is neither a Wishart nor an inverse-Wishart "
        "law's, with normal vectors whose precision or covariance is proportional to it."
    )
