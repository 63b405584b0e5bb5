"""A normal law of an array of weights ``w``, kept as a triangular factor R of its precision R'R.

The functions here become methods of what is such a law: the prior of a logistic regression, and the
Laplace approximation of its posterior. The weights, flattened, are ``location + R⁻¹ z``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import stats

from bayesmodels.belief.protocol import Draws, Law
from bayesmodels.input import data as checked
from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.triangular import EPS, half_log_det, solve_upper


class NormalWeights(Protocol):
    """A normal law of ``w``."""

    @property
    def location(self) -> Array:
        """The mean, of the shape of ``w``."""

    @property
    def factor(self) -> Array:
        """Upper triangular R, of shape (d, d) for d weights."""


def spread(factor: Array) -> Array:
    """Return R⁻¹, whose rows have the standard deviations as lengths."""
    return solve_upper(factor, np.eye(len(factor)))


def deviations(factor: Array) -> Array:
    """Return standard deviations of the flattened weights."""
    return np.sqrt((spread(factor) ** 2).sum(-1))


def covariance(self: NormalWeights) -> Array:
    """Return the covariance matrix of the flattened weights, of shape (d, d)."""
    root = spread(self.factor)
    return root @ root.T


def marginals(self: NormalWeights) -> dict[str, Law]:
    """Return the normal law of each weight."""
    sd = deviations(self.factor).reshape(self.location.shape)
    return {"w": stats.norm(loc=self.location, scale=sd)}


def mode(self: NormalWeights) -> dict[str, Array]:
    """Return where the density is largest, which is the mean."""
    return {"w": self.location}


def log_density(self: NormalWeights, draws: Draws) -> Array:
    """Return the joint log density of the weights, one number a draw."""
    z = _standardised(self, draws)
    size = len(self.factor)
    return half_log_det(self.factor) - size * HALF_LOG_2PI - 0.5 * (z**2).sum(-1)


def log_density_rounding(self: NormalWeights, draws: Draws) -> Array:
    """Return a bound on the rounding error of `log_density`.

    The factor comes of a covariance, whose condition number multiplies its errors.
    """
    size = len(self.factor)
    w, m = np.abs(np.asarray(draws["w"])), np.abs(self.location)
    reach = (w + m).reshape(*w.shape[: w.ndim - m.ndim], size) @ np.abs(self.factor).T
    condition = float((np.abs(spread(self.factor)) @ np.abs(self.factor)).sum(-1).max())
    z = np.abs(_standardised(self, draws))
    logs = np.abs(np.log(np.diagonal(self.factor))).sum()
    return 16 * size * EPS * condition * ((z * (z + reach)).sum(-1) + logs + size)


def sample(
    self: NormalWeights, draws: int, rng: np.random.Generator | int | None = None
) -> dict[str, Array]:
    """Return independent draws of the weights, sample axis first."""
    draws, rng = checked.asked(draws, rng)
    noise = rng.standard_normal((len(self.factor), draws))
    shift = solve_upper(self.factor, noise).T
    return {"w": self.location + shift.reshape(draws, *self.location.shape)}


def _standardised(self: NormalWeights, draws: Draws) -> Array:
    away = np.asarray(draws["w"]) - self.location
    lead = away.shape[: away.ndim - self.location.ndim]
    return away.reshape(*lead, len(self.factor)) @ self.factor.T
