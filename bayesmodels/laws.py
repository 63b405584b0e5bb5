"""Predictive laws that SciPy lacks or computes with too few digits; used like SciPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from bayesmodels.special import log_dirichlet_multinomial

Array = NDArray[np.float64]


class _BetaBinomial(type(stats.betabinom)):  # type: ignore[misc]
    """SciPy's beta-binomial law with a log mass that keeps its digits at large parameters."""

    def _logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Array:
        k, n, a, b = np.broadcast_arrays(k, n, a, b)
        return log_dirichlet_multinomial(np.stack([k, n - k], -1), np.stack([a, b], -1))

    def _pmf(self, k: Any, n: Any, a: Any, b: Any) -> Array:
        return np.exp(self._logpmf(k, n, a, b))


beta_binomial = _BetaBinomial(name="beta_binomial")
"""Beta-binomial law: ``beta_binomial(n, alpha, beta)`` is frozen as SciPy's `betabinom` is."""


class DirichletMultinomial:
    r"""Counts of categories in `trials` draws whose probabilities follow a Dirichlet law.

    .. math:: p(n) = \binom{M}{n} \frac{B(\alpha + n)}{B(\alpha)}, \qquad \sum_k n_k = M.

    Parameters
    ----------
    alpha : ndarray of shape (..., K)
        Positive concentrations.
    trials : ndarray of shape (...)
        Numbers of draws M.

    Examples
    --------
    >>> law = DirichletMultinomial([1.0, 1.0, 1.0], 2)
    >>> float(law.pmf([2, 0, 0]).round(6))  # all six outcomes are equally likely
    0.166667
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
        p = (self.alpha / self.alpha.sum(-1, keepdims=True))[..., None, :]
        trials = self.trials[..., None, None]
        spread = np.eye(self.alpha.shape[-1]) * p - p * np.swapaxes(p, -1, -2)
        return trials * (trials + total) / (total + 1) * spread

    def var(self) -> Array:
        """Return the variances of the counts, of shape (..., K)."""
        return np.diagonal(self.cov(), axis1=-2, axis2=-1)

    def marginal(self) -> Any:
        """Return the beta-binomial law of each category's count."""
        rest = self.alpha.sum(-1, keepdims=True) - self.alpha
        return beta_binomial(self.trials[..., None], self.alpha, rest)

    def rvs(self, size: int, random_state: np.random.Generator) -> NDArray[np.int64]:
        """Draw `size` tables of counts, of shape (size, ..., K)."""
        theta = dirichlet_draws(self.alpha, size, random_state)
        return random_state.multinomial(self.trials, theta)


def dirichlet_draws(alpha: ArrayLike, size: int, rng: np.random.Generator) -> Array:
    """Draw from Dirichlet laws, in logs: finite and adding up to one for any positive `alpha`.

    A Gamma(a) variable with small a underflows to zero, all K of them at once for small `alpha`.
    Its logarithm does not: ``ln Gamma(a) = ln Gamma(a + 1) + ln(U) / a`` in law.

    Parameters
    ----------
    alpha : array_like of shape (..., K)
        Positive concentrations.
    size : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (size, ..., K)
        Points of the simplex.

    Examples
    --------
    >>> import numpy as np
    >>> x = dirichlet_draws([1e-10, 1e-10], 3, np.random.default_rng(0))
    >>> x.sum(-1)
    array([1., 1., 1.])
    """
    alpha = np.asarray(alpha, dtype=float)
    shape = (size, *alpha.shape)
    logs = np.log(rng.standard_gamma(alpha + 1, shape)) - rng.standard_exponential(shape) / alpha
    weights = np.exp(logs - logs.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)
