"""A normal law of an array of weights ``w``, kept as a triangular factor R of its precision R'R.

It is the prior of a logistic regression, or the Laplace approximation of its posterior. The
weights, flattened, are ``location + R⁻¹ z``.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayesmodels.belief import reading
from bayesmodels.belief.protocol import Draws, Law
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.numerics import Array, softmax
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.triangular import EPS, half_log_det, solve_upper


def spread(factor: Array) -> Array:
    """Return R⁻¹, whose rows have the standard deviations as lengths."""
    return solve_upper(factor, np.eye(len(factor)))


def deviations(factor: Array) -> Array:
    """Return standard deviations of the flattened weights."""
    return np.sqrt((spread(factor) ** 2).sum(-1))


class NormalWeights:
    """A normal law of weights, with `location` of the shape of ``w`` and `factor` R."""

    location: Array
    factor: Array
    classes: tuple[Hashable, ...]
    features: tuple[Hashable, ...] | None
    coords: Coords

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``w``: ``feature``, for more than two classes ``class`` before."""
        return {"w": tuple(self.coords)}

    def marginals(self) -> dict[str, Law]:
        """Return the normal law of each weight."""
        sd = deviations(self.factor).reshape(self.location.shape)
        return {"w": stats.norm(loc=self.location, scale=sd)}

    def combination(self, coefficients: ArrayLike) -> Law:
        """Return the normal law of a linear combination of the weights, of their shape."""
        c = np.ravel(np.asarray(coefficients, dtype=float))
        sd = np.linalg.norm(spread(self.factor).T @ c)
        return stats.norm(loc=float(self.location.ravel() @ c), scale=sd)

    mean = reading.mean
    var = reading.var
    interval = reading.interval

    def mode(self) -> dict[str, Array]:
        """Return where the density is largest, which is the mean."""
        return {"w": self.location}

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of the weights, one number a draw."""
        z = self._standardised(draws)
        size = len(self.factor)
        return half_log_det(self.factor) - size * HALF_LOG_2PI - 0.5 * (z**2).sum(-1)

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`.

        The factor comes of a covariance, whose condition number multiplies its errors.
        """
        size = len(self.factor)
        w, m = np.abs(checked.drawn(draws, "w")), np.abs(self.location)
        reach = (w + m).reshape(*w.shape[: w.ndim - m.ndim], size) @ np.abs(self.factor).T
        condition = float((np.abs(spread(self.factor)) @ np.abs(self.factor)).sum(-1).max())
        z = np.abs(self._standardised(draws))
        logs = np.abs(np.log(np.diagonal(self.factor))).sum()
        return 16 * size * EPS * condition * ((z * (z + reach)).sum(-1) + logs + size)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws of the weights, sample axis first."""
        draws, rng = checked.asked(draws, rng)
        noise = rng.standard_normal((len(self.factor), draws))
        shift = solve_upper(self.factor, noise).T
        return {"w": self.location + shift.reshape(draws, *self.location.shape)}

    def _standardised(self, draws: Draws) -> Array:
        away = checked.drawn(draws, "w") - self.location
        lead = away.shape[: away.ndim - self.location.ndim]
        return away.reshape(*lead, len(self.factor)) @ self.factor.T

    def class_probabilities(
        self,
        rows: object,
        parameters: Draws | None = None,
        *,
        intercept: bool = False,
        draws: int = 4000,
        rng: np.random.Generator | int | None = None,
    ) -> Array:
        """Return class probabilities of new rows, averaged over the weights.

        Parameters
        ----------
        rows : array_like or frame of shape (n, p)
            Columns as those of the data.
        parameters : mapping, optional
            Weights to be taken as known, such as ``mle(data).parameters``, ``mode()`` or draws with
            sample axes in front; then nothing is averaged. By default weights are averaged over the
            prior or, if it is one, over the Laplace approximation.
        intercept : bool, default False
            Put a column of ones before the others.
        draws : int, default 4000
            Number of draws averaged over, for three classes or more. Two classes need none: their
            one-dimensional integral is computed to 1e-13.
        rng : numpy.random.Generator or int, optional
            Source of the draws, or a seed; fresh if not given.

        Returns
        -------
        ndarray of shape (..., n, K)
            Rows add up to one.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> model = bm.LogisticRegression([0], 1, classes=["no", "yes"])
        >>> model.class_probabilities([[2.0]], {"w": [1.0]}).round(3)
        array([[0.119, 0.881]])
        """
        if parameters is not None:
            w, X = self._weights(parameters), self._rows(rows, intercept=intercept)
            with np.errstate(under="ignore"):
                return np.exp(softmax.log_probabilities(softmax.scores(w, X)))
        return self._averaged(rows, intercept, draws, rng, logs=False)

    def _averaged(
        self,
        rows: object,
        intercept: bool,  # noqa: FBT001 - internal
        draws: int,
        rng: np.random.Generator | int | None,
        *,
        logs: bool,
    ) -> Array:
        """Return probabilities averaged over the weights, or their logs, none of them -inf."""
        draws, rng = checked.asked(draws, rng)
        X = self._rows(rows, intercept=intercept)
        if len(self.classes) == 2:  # noqa: PLR2004 - one score, whose law is normal
            mean = softmax.scores(self.location[None], X)[..., 0]
            sd = np.sqrt((solve_upper(self.factor, X.T, transposed=True) ** 2).sum(0))
            average = softmax.log_averaged_binary if logs else softmax.averaged_binary
            # Each with its own sign, so that neither is rounded to 1 minus the other.
            return np.stack([average(-mean, sd), average(mean, sd)], axis=-1)
        sampled = self.sample(draws, rng)["w"]
        total = np.full((len(X), len(self.classes)), -np.inf if logs else 0.0)
        with np.errstate(under="ignore"):
            for w in sampled:
                each = softmax.log_probabilities(softmax.scores(w, X))
                total = np.logaddexp(total, each) if logs else total + np.exp(each)
        return total - np.log(len(sampled)) if logs else total / len(sampled)

    def _weights(self, parameters: Draws) -> Array:
        """Return weights of shape (..., K - 1, p), checked."""
        w, shape = np.asarray(checked.variable(parameters, "w")), self.location.shape
        if w.shape[w.ndim - len(shape) :] != shape or w.ndim < len(shape):
            wanted = ", ".join(map(str, shape))
            raise DataError(f"parameters: w must have the shape (..., {wanted}); got {w.shape}.")
        if not np.isfinite(w).all():
            raise DataError("parameters: w must hold finite numbers.")
        return w[..., None, :] if len(shape) == 1 else w

    def _rows(self, rows: object, *, intercept: bool) -> Array:
        X, names = checked.design(rows, intercept=intercept)
        checked.one_table(X)
        checked.check_width(X.shape[-1], self.location.shape[-1])
        checked.same_features(self.features, names)
        return X
