"""Wishart and inverse-Wishart laws, with normal vectors that share the matrix.

Sources: Bernardo and Smith (1994), appendix A.2; Murphy (2012), sections 4.5 and 4.6.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import multigammaln

from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.wishart import (
    inverse_wishart_marginals,
    inverse_wishart_roots,
    wishart_marginals,
)
from bayesmodels.posteriors.families import EPS, UNITS, ElementLaw, Elements


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

    @property
    def width(self) -> int:
        """Number of rows of the matrix."""
        return len(self.scale)

    def _parts(self, x: Array) -> tuple[Array, Array]:
        n, width = self.location.shape
        vectors = x[..., : n * width].reshape(*x.shape[:-1], n, width)
        return vectors, x[..., n * width :].reshape(*x.shape[:-1], width, width)

    def _tight(self, x: Array) -> tuple[Array, Array]:
        """Return the log determinant of the precision and S plus the vectors' scatter."""
        vectors, matrix = self._parts(x)
        gap = vectors - self.location
        scatter = self.scale + np.swapaxes(gap, -1, -2) @ self.strength @ gap
        log_det = np.linalg.slogdet(matrix)[1]
        return log_det if self.precision else -log_det, scatter

    def log_density(self, x: Array) -> Array:
        """Return the log density, the matrix counting as its lower triangle."""
        (n, width), df = self.location.shape, self.df
        log_det, scatter = self._tight(x)
        matrix = self._parts(x)[1]
        if self.precision:
            trace = (scatter * matrix).sum((-2, -1))
        else:
            trace = np.trace(np.linalg.solve(matrix, scatter), axis1=-2, axis2=-1)
        own = df - width - 1 if self.precision else df + width + 1
        constant = 0.5 * df * (np.linalg.slogdet(self.scale)[1] - width * np.log(2))
        constant -= multigammaln(df / 2, width) + n * width * HALF_LOG_2PI
        if n:
            constant += 0.5 * width * np.linalg.slogdet(self.strength)[1]
        result: Array = constant + 0.5 * (own + n) * log_det - 0.5 * trace
        return result

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
        result: Array = (
            UNITS
            * EPS
            * (each + trace * (1 if self.precision else condition) + (df + width) * condition)
        )
        return result

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient, symmetric in the matrix, and a bound on its error."""
        (n, width), df = self.location.shape, self.df
        vectors, matrix = self._parts(x)
        inverse = np.linalg.inv(matrix)
        tight = matrix if self.precision else inverse
        gap = vectors - self.location
        scatter = self._tight(x)[1]
        by_vectors = -self.strength @ gap @ tight
        size_vectors = np.abs(self.strength) @ (np.abs(vectors) + np.abs(self.location))
        size_vectors = size_vectors @ np.abs(tight) * np.linalg.cond(matrix)
        size = np.abs(scatter) + np.abs(self.scale)
        if self.precision:
            by_matrix = 0.5 * (df - width - 1 + n) * inverse - 0.5 * scatter
            size = size + (df + width + 1 + n) * np.abs(inverse)
        else:
            by_matrix = -0.5 * (df + width + 1 + n) * inverse + 0.5 * inverse @ scatter @ inverse
            size = np.abs(inverse) @ size @ np.abs(inverse)
            size = size + (df + width + 1 + n) * np.abs(inverse)
        size = size * np.linalg.cond(matrix)
        slope = np.concatenate([by_vectors.ravel(), by_matrix.ravel()])
        return slope, UNITS * EPS * np.concatenate([size_vectors.ravel(), size.ravel()])

    def sample(self, draws: int, rng: np.random.Generator) -> Array:
        """Return independent draws."""
        n, width = self.location.shape
        half = inverse_wishart_roots(self.df, self.scale, draws, rng)  # half' half = covariance
        covariance = np.swapaxes(half, -1, -2) @ half
        covariance = (covariance + np.swapaxes(covariance, -1, -2)) / 2
        matrix = covariance
        if self.precision:
            matrix = np.linalg.inv(covariance)
            matrix = (matrix + np.swapaxes(matrix, -1, -2)) / 2
        parts = [matrix.reshape(draws, -1)]
        if n:
            z = rng.standard_normal((draws, n, width))
            root = np.linalg.cholesky(self.strength)
            spread = solve_triangular(root, np.eye(n), lower=True).T
            parts.insert(0, (self.location + spread @ z @ half).reshape(draws, -1))
        return np.concatenate(parts, -1)

    def mode(self) -> Array:
        """Return the mode; NaN where it is on the border."""
        n, width = self.location.shape
        if self.precision:
            factor = self.df - width - 1 + n
            matrix = factor * np.linalg.inv(self.scale) if factor > 0 else self.scale * np.nan
        else:
            matrix = self.scale / (self.df + width + 1 + n)
        return np.concatenate([self.location.ravel(), matrix.ravel()])

    def laws(self) -> list[ElementLaw]:
        """Return the law of every element."""
        (n, width), df = self.location.shape, self.df
        found = []
        cut = n * width
        if n:
            half = solve_triangular(np.linalg.cholesky(self.strength), np.eye(n), lower=True)
            size = np.sqrt((half**2).sum(0))  # sd of a vector in units of the matrix
            free = df - width + 1
            scale = np.outer(size, np.sqrt(np.diag(self.scale) / free)).ravel()
            df_each, mean = np.full(cut, free), self.location.ravel()
            law = stats.t(df_each, mean, scale)
            values = {"df": df_each, "mean": mean, "scale": scale}
            found.append(ElementLaw(self.elements[:cut], "StudentT", law, values))
        df_each = np.full(width * width, float(df))
        own: Any
        if self.precision:
            scale = np.linalg.inv(self.scale)
            own = wishart_marginals(df, scale)
            family = "Wishart"
        else:
            scale = self.scale
            own = inverse_wishart_marginals(np.asarray(df, dtype=float), scale)
            family = "InverseWishart"
        values = {"df": df_each, "scale": scale.ravel()}
        found.append(ElementLaw(self.elements[cut:], family, own, values))
        return found

    def sentence(self, names: str) -> str:
        """Say what is known."""
        family = "Wishart" if self.precision else "inverse-Wishart"
        normal = "normal-" if len(self.location) else ""
        verb = "have" if len(self.location) else "has"
        a = "a" if normal or self.precision else "an"
        return f"{names} {verb} {a} {normal}{family} law with {self.df:g} degrees of freedom"
