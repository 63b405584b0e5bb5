"""Wishart and inverse-Wishart matrices: draws, density, and the exact law of every single entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import multigammaln

from bayesmodels.errors import DataError, PriorError
from bayesmodels.numerics import Array
from bayesmodels.numerics.entries import inverse_wishart_entry, variance_gamma
from bayesmodels.numerics.law import Law
from bayesmodels.numerics.laws import element, inverse_gamma
from bayesmodels.numerics.special import log_gamma_ratio
from bayesmodels.numerics.triangular import half_log_det, solve_lower

_SYMMETRIC = 1e-10  # in units of the diagonal


def inverse_wishart_draws(
    df: ArrayLike, scale: ArrayLike, size: int, rng: np.random.Generator
) -> Array:
    """Draw matrices of shape (size, ..., D, D), `df` > D - 1, by Bartlett's decomposition."""
    half = inverse_wishart_roots(df, scale, size, rng)
    return symmetric(np.swapaxes(half, -1, -2) @ half)


def inverse_wishart_roots(
    df: ArrayLike, scale: ArrayLike, size: int, rng: np.random.Generator
) -> Array:
    """Draw roots H of matrices H' H, as `inverse_wishart_draws` does.

    With hardly more than D - 1 degrees of freedom, directions differ in size by so much that H' H
    is often singular to rounding: its Cholesky factor does not exist, but its root is at hand.
    """
    scale = np.asarray(scale, dtype=float)
    width = scale.shape[-1]
    shape = (size, *np.broadcast_shapes(np.shape(df), scale.shape[:-2]))
    # Wishart with the scale matrix inverted: L^-T T T' L^-1, with L the root of `scale`.
    halves = (np.asarray(df, dtype=float)[..., None] - np.arange(width)) / 2
    root = np.tril(rng.standard_normal((*shape, width, width)), -1)
    places = np.arange(width)
    root[..., places, places] = np.sqrt(2 * rng.standard_gamma(halves, (*shape, width)))
    return solve_lower(root, np.swapaxes(np.linalg.cholesky(scale), -1, -2))


def symmetric(matrix: Array) -> Array:
    """Return the average of a matrix and its transpose: products may differ in the last digit."""
    return (matrix + np.swapaxes(matrix, -1, -2)) / 2


def log_multigamma_ratio(x: ArrayLike, step: ArrayLike, width: int) -> Array:
    r"""Return :math:`\ln\Gamma_D(x + d) - \ln\Gamma_D(x)` without cancellation."""
    halves = np.asarray(x, dtype=float)[..., None] - np.arange(width) / 2
    return log_gamma_ratio(halves, np.asarray(step, dtype=float)[..., None]).sum(-1)


def log_density(root: Array, df: ArrayLike, scale_root: Array) -> Array:
    """Return the log density of an inverse-Wishart law at A A', from lower triangular roots."""
    df, width = np.asarray(df, dtype=float), root.shape[-1]
    return (
        log_density_constant(df, scale_root)
        - (df + width + 1) * half_log_det(root)
        - 0.5 * (solve_lower(root, scale_root) ** 2).sum((-2, -1))
    )


def log_density_constant(df: ArrayLike, scale_root: Array) -> Array:
    """Return what `log_density` adds whatever the matrix."""
    df, width = np.asarray(df, dtype=float), scale_root.shape[-1]
    log_det = half_log_det(scale_root) - width / 2 * np.log(2)
    return df * log_det - multigammaln(df / 2, width)


class SymmetricMatrixLaw(Law):
    """The law of every entry of a symmetric random matrix, used like a frozen SciPy law.

    `diagonal` is the law of its entries on the diagonal, of shape (batch..., D), and `pairs` that
    of the entries below it, row by row, of shape (batch..., D (D - 1) / 2). Moments that do not
    exist are NaN, those that diverge are infinite.
    """

    def __init__(self, diagonal: Any, pairs: Any) -> None:
        self._diagonal, self._pairs = diagonal, pairs
        *batch, width = np.shape(diagonal.mean())
        self.shape = (*batch, width, width)
        self._places = np.arange(width)
        self._rows, self._columns = np.tril_indices(width, -1)

    def mean(self) -> Array:
        """Return the mean of every entry."""
        return self._matrix(self._diagonal.mean(), self._pairs.mean())

    def std(self) -> Array:
        """Return the standard deviation of every entry."""
        return self._matrix(self._diagonal.std(), self._pairs.std())

    def stats(self, moments: str = "mv") -> Any:
        """Return mean (m), variance (v), skewness (s) and excess kurtosis (k), as asked for."""
        result = tuple(
            self._matrix(self._diagonal.stats(letter), self._pairs.stats(letter))
            for letter in "mvsk"
            if letter in moments
        )
        return result[0] if len(result) == 1 else result

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of a value up to x."""
        return self._at("cdf", x)

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of a value above x."""
        return self._at("sf", x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        return self._at("logpdf", x)

    def ppf(self, q: ArrayLike) -> Array:
        """Return the value below which lies the probability q."""
        return self._levels("ppf", q)

    def isf(self, q: ArrayLike) -> Array:
        """Return the value above which lies the probability q."""
        return self._levels("isf", q)

    def entry(self, at: tuple[int, ...]) -> Any:
        """Return the law of a single entry, at the cost of one."""
        *batch, one, other = at
        low, high = sorted((one % self.shape[-1], other % self.shape[-1]))
        if low == high:
            return element(self._diagonal, (*batch, low))
        return element(self._pairs, (*batch, high * (high - 1) // 2 + low))

    def _matrix(self, diagonal: ArrayLike, pairs: ArrayLike) -> Array:
        diagonal, pairs = np.asarray(diagonal), np.asarray(pairs)
        result = np.empty((*diagonal.shape, diagonal.shape[-1]))
        result[..., self._places, self._places] = diagonal
        result[..., self._rows, self._columns] = pairs
        result[..., self._columns, self._rows] = pairs
        return result

    def _at(self, verb: str, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=float)
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, self.shape))
        of_diagonal, of_pairs = getattr(self._diagonal, verb), getattr(self._pairs, verb)
        diagonal, lower = x[..., self._places, self._places], x[..., self._rows, self._columns]
        with np.errstate(invalid="ignore"):  # SciPy's log density at infinity is NaN
            on = of_diagonal(diagonal)
        if verb == "logpdf":
            on = np.where(np.isinf(diagonal), -np.inf, on)
        result = self._matrix(on, of_pairs(lower))
        upper = x[..., self._columns, self._rows]
        if not np.array_equal(lower, upper, equal_nan=True):
            result[..., self._columns, self._rows] = of_pairs(upper)
        return result

    def _levels(self, verb: str, q: ArrayLike) -> Array:
        q = np.asarray(q, dtype=float)
        if any(length > 1 for length in q.shape[-2:]):
            raise DataError(
                "q: levels must be the same for all entries of the matrix; give axes of length 1."
            )
        lead = np.broadcast_shapes(q.shape, self.shape)[:-2]
        level = np.broadcast_to(q, (*lead, 1, 1))[..., 0]
        return self._matrix(getattr(self._diagonal, verb)(level), getattr(self._pairs, verb)(level))


def _parts(scale: Array, width: int) -> tuple[Array, Array, Array]:
    """Return diagonal, units sqrt(s_ii s_jj) and correlations of the pairs of a scale matrix."""
    rows, columns = np.tril_indices(width, -1)
    spread = np.diagonal(scale, axis1=-2, axis2=-1)
    unit = np.sqrt(spread[..., rows]) * np.sqrt(spread[..., columns])
    return spread, unit, scale[..., rows, columns] / unit


def inverse_wishart_marginals(df: ArrayLike, scale: ArrayLike) -> SymmetricMatrixLaw:
    """Return the laws of the entries, for `df` of shape (batch...), `scale` of (batch..., D, D).

    Examples
    --------
    >>> law = inverse_wishart_marginals(6, [[2.0, 0.6], [0.6, 1.0]])
    >>> law.mean().round(6)
    array([[0.666667, 0.2     ],
           [0.2     , 0.333333]])
    """
    df, scale = np.asarray(df, dtype=float), np.asarray(scale, dtype=float)
    width = scale.shape[-1]
    batch = np.broadcast_shapes(df.shape, scale.shape[:-2])
    spread, unit, r = _parts(np.broadcast_to(scale, (*batch, width, width)), width)
    a = (df[..., None] - width + 1) / 2
    return SymmetricMatrixLaw(
        inverse_gamma(a, scale=spread / 2), inverse_wishart_entry(a, r, scale=unit)
    )


def wishart_marginals(df: ArrayLike, scale: ArrayLike) -> SymmetricMatrixLaw:
    """Return the laws of the entries, for `df` of shape (batch...), `scale` of (batch..., D, D).

    Raises `PriorError` if `df` is too small or `scale` is not symmetric and positive definite.

    Examples
    --------
    >>> law = wishart_marginals(6, [[2.0, 0.6], [0.6, 1.0]])
    >>> law.mean().round(6)
    array([[12. ,  3.6],
           [ 3.6,  6. ]])
    """
    df, scale = np.asarray(df, dtype=float), np.asarray(scale, dtype=float)
    width = scale.shape[-1]
    if not (np.isfinite(df) & (df > width - 1)).all():
        raise PriorError(
            f"df: must be finite and larger than D - 1 = {width - 1}; got {df.min():g}."
        )
    _check(scale)
    batch = np.broadcast_shapes(df.shape, scale.shape[:-2])
    spread, unit, r = _parts(np.broadcast_to(scale, (*batch, width, width)), width)
    k = df[..., None] / 2
    return SymmetricMatrixLaw(stats.gamma(k, scale=2 * spread), variance_gamma(k, r, scale=unit))


def _check(scale: Array) -> None:
    if not np.isfinite(scale).all():
        raise PriorError("scale: must hold finite numbers; got NaN or infinity.")
    try:
        np.linalg.cholesky(scale)
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(scale).min()
        raise PriorError(
            f"scale: must be positive definite; its smallest eigenvalue is {smallest:.3g}."
        ) from None
    root = np.sqrt(np.diagonal(scale, axis1=-2, axis2=-1))
    gap = np.abs(scale - np.swapaxes(scale, -1, -2)) / root[..., None] / root[..., None, :]
    if gap.max() > _SYMMETRIC:
        raise PriorError(
            f"scale: must be symmetric; entries differ by {gap.max():.3g}. Use (V + V.T) / 2."
        )
