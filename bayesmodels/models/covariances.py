"""Beliefs about means and covariances: checks, and the verbs that one law and several share.

A `NormalInverseWishart` has a covariance for each member of its batch; a
`SharedNormalInverseWishart` one for all of its classes, up to known ratios. The functions here
become methods of both: where there is one matrix for all, it gets an axis of length one in front
of its own, and what is added up over classes has one more axis than the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from bayesmodels.belief.declaring import Names, prior_and_statistic
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.errors import DataError, PriorError, warn
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import log_multivariate_student
from bayesmodels.numerics.laws import student_t
from bayesmodels.numerics.moments import merged_means
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.numerics.triangular import EPS, HALF, any_root, cholesky, half_log_det, solve_lower
from bayesmodels.numerics.wishart import (
    inverse_wishart_marginals,
    inverse_wishart_roots,
    log_multigamma_ratio,
    symmetric,
)
from bayesmodels.numerics.wishart import log_density as log_inverse_wishart

_SINGLE = 1e-5  # of deviations: by how much single precision leaves covariances lopsided

Features = tuple[Hashable, ...] | None
LOG_PI = float(np.log(np.pi))


def _tied(self: Any) -> int:
    """Return the number of axes that means have and covariances lack: 1 if classes share one."""
    return int(self.kappa.ndim - self.df.ndim)


def _for_each(self: Any, matrix: Any) -> Array:
    """Return a matrix (..., D, D) repeated along the axes of the means."""
    matrix = np.asarray(matrix)
    return matrix[..., None, :, :] if _tied(self) else matrix


def each(self: Any, sigma: Any) -> Array:
    """Return the covariance of each class."""
    ratio = np.asarray(self.ratio)
    return _for_each(self, sigma) * ratio[..., None, None] if _tied(self) else np.asarray(sigma)


def _summed(self: Any, logs: Array) -> Array:
    return logs.sum(-1) if _tied(self) else logs


def read(self: Any, rows: Any) -> Array:
    """Return rows as checked values, the form in which predictions take them."""
    del self
    return checked.vectors(rows).x


def log_predictive(self: Any, x: Array) -> Array:
    """Return the log density of new rows under each member of the leading batch axis.

    Parameters
    ----------
    x : ndarray of shape (n, D)
        Rows; NaN is missing: the density is that of the other cells.

    Returns
    -------
    ndarray of shape (n, members)
        Multivariate Student-t log densities.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> groups = bm.NormalInverseWishart([[0, 0], [5, 5]], 1, 4, np.eye(2))
    >>> groups.log_predictive(np.array([[5.0, 4.0]])).argmax(-1)
    array([1])
    """
    df = np.broadcast_to(self.df - self.scale.shape[-1] + 1, self.kappa.shape)
    factor = self.ratio * (1 + 1 / self.kappa) / df

    def density(rows: Array, here: NDArray[np.intp]) -> Array:
        root = np.linalg.cholesky(self.scale[..., here[:, None], here])
        return log_multivariate_student(rows, self.location[:, here], root, df, factor)

    return by_pattern(x, len(df), density)


def log_plug_in(self: Any, parameters: Draws, x: Array) -> Array:
    """Return normal log densities with `parameters` as if known, of shape (..., n, members)."""
    return log_normal_vectors(parameters["mu"], each(self, parameters["Sigma"]), x)


def marginals(self: Any) -> dict[str, Law]:
    """Return the Student-t law of each entry of mu and the law of each entry of Sigma."""
    df = (self.df - self.scale.shape[-1] + 1)[..., None]
    variance = np.diagonal(self.scale, axis1=-2, axis2=-1) / df
    if _tied(self):
        variance = variance * self.ratio[:, None]
    spread = np.sqrt(variance / self.kappa[..., None])
    return {
        "mu": student_t(df, loc=self.location, scale=spread),
        "Sigma": inverse_wishart_marginals(self.df, self.scale),
    }


def _extra(self: Any) -> int:
    """Return k, where the joint density has the factor |Sigma|^(-(df + k) / 2)."""
    means = len(self.location) if _tied(self) else 1
    return int(self.location.shape[-1] + 1 + means)


def mode(self: Any) -> dict[str, Array]:
    """Return the joint mode (MAP): mu = m and Sigma = Psi / (nu + D + 1 + C), of C means."""
    return {"Sigma": self.scale / (self.df + _extra(self))[..., None, None], "mu": self.location}


def log_density(self: Any, draws: Draws) -> Array:
    """Return the joint log density of mu and Sigma, of shape (..., batch...).

    It is -inf where Sigma is no covariance, up to what single precision leaves of symmetry.
    """
    sigma = checked.drawn(draws, "Sigma")
    sd = np.sqrt(np.abs(np.diagonal(sigma, axis1=-2, axis2=-1)))
    gap = np.abs(sigma - np.swapaxes(sigma, -1, -2))
    lopsided = gap > _SINGLE * sd[..., :, None] * sd[..., None, :]
    root = cholesky(np.where(lopsided.any((-2, -1), keepdims=True), np.nan, symmetric(sigma)))
    gap = checked.drawn(draws, "mu") - self.location
    of_means = log_normal_at(gap, _for_each(self, root), self.kappa / self.ratio)
    of_sigma = log_inverse_wishart(root, self.df, np.linalg.cholesky(self.scale))
    return where_definite(root, of_sigma + _summed(self, of_means), -np.inf)


def log_density_rounding(self: Any, draws: Draws) -> Array:
    """Return a bound on the rounding error of `log_density`; see `rounding_of_wishart`."""
    root = cholesky(symmetric(checked.drawn(draws, "Sigma")))
    mu, weight = checked.drawn(draws, "mu"), self.kappa / self.ratio
    of_means = rounding_of_normal(_for_each(self, root), mu, self.location, weight)
    size = rounding_of_wishart(root, self.df, self.scale) + _summed(self, of_means)
    bound = 16 * (self.scale.shape[-1] + 1) * EPS * (1 + size)
    return where_definite(root, bound, np.inf)


def sample(self: Any, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
    """Return independent draws of Sigma (draws, batch..., D, D) and mu, each of its own shape."""
    draws, rng = checked.asked(draws, rng)
    half = inverse_wishart_roots(self.df, self.scale, draws, rng)
    noise = rng.standard_normal((draws, *self.location.shape))
    spread = (noise[..., None, :] @ _for_each(self, half))[..., 0, :]
    return {
        "Sigma": symmetric(np.swapaxes(half, -1, -2) @ half),
        "mu": self.location + spread * np.sqrt(self.ratio / self.kappa)[..., None],
    }


def log_likelihood(self: Any, draws: Draws, data: Any) -> dict[str, Array]:
    """Return the log density of each row given mu and Sigma, of shape (..., n)."""
    d = checked_vectors(self, data)
    return {
        "x": log_likelihood_of_vectors(
            d, checked.drawn(draws, "mu"), each(self, checked.drawn(draws, "Sigma"))
        )
    }


def replicate(
    self: Any, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
) -> Rows:
    """Return new rows, of shape (..., n, D)."""
    rng = checked.randomness(rng)
    d = checked_vectors(self, data)
    return {
        "x": new_vectors(
            d, checked.drawn(draws, "mu"), each(self, checked.drawn(draws, "Sigma")), rng
        )
    }


def observed(self: Any, data: Any) -> Observed:
    """Return the rows under the name ``"x"``, with the labels of their axes."""
    d = checked_vectors(self, data)
    features = d.features or self.coords["feature"]
    return {"x": (d.x, {"row": tuple(d.batch.rows), "feature": features})}


def add_to_model(self: Any, data: Any, likelihood: Likelihood, names: Names) -> None:
    """Write prior and likelihood into the current PyMC model; see `declare`."""
    from bayesmodels.models import inverse_wishart_pymc as declared

    prior, s = prior_and_statistic(self, data, likelihood)
    after = self.update(s)
    names.labelled(prior.coords)
    dims = {variable: names.axes(axes) for variable, axes in prior.dims.items()}
    Sigma = declared.inverse_wishart(
        names("Sigma"), prior.df, prior.scale, after.scale, dims["Sigma"]
    )
    mu = declared.normal(
        names("mu"),
        prior.location,
        Sigma,
        prior.kappa / prior.ratio,
        dims["mu"],
        default_transform=declared.Standardised(after.location, after.kappa / after.ratio),
    )
    if likelihood == "statistic":
        parts = (s.n, s.mean, s.scatter)
        declared.statistic(names("likelihood"), mu, Sigma, *parts, 1 / self.ratio)
        return
    ((x, rows),) = self.observed(data).values()
    batch, axes = checked_vectors(self, data).batch, names.labelled(rows)
    weight, covariance = np.ones(len(x)), Sigma
    if _tied(self):
        weight = (1 / self.ratio)[batch.groups]
    else:
        covariance = batch.of_rows(Sigma)
    declared.normal(names("x"), batch.of_rows(mu), covariance, weight, axes, observed=x)


# --- checks ---------------------------------------------------------------------------------------


def meeting(self: Any, s: Any) -> tuple[Array, Array]:
    """Return the posterior means, and what their distance to the data adds to the scatter."""
    location, shift, weight = merged_means(self.kappa[..., None], self.location, *means(s))
    return location, weight[..., None] * outer(shift)


MOST_DF = 1e16
"""Beyond it float64 has no digits left of how far covariances may be from their means."""

EVENT = ("feature", "other_feature")


def event_coords(features: Features, width: int) -> Coords:
    """Return the labels of the axes of a covariance matrix."""
    names = features or tuple(range(width))
    return {"feature": names, "other_feature": names}


def named_features(features: Sequence[Hashable] | None, width: int) -> Features:
    """Check names of the columns."""
    if features is None:
        return None
    names = labels.unique(tuple(features), "features")
    if len(names) != width:
        raise PriorError(f"features: must be {width} names, one a column; got {len(names)}.")
    return names


def degrees(df: Array, width: int) -> None:
    """Check degrees of freedom of an inverse-Wishart law."""
    if (df <= width - 1).any():
        raise PriorError(
            f"df: must be larger than D - 1 = {width - 1}, with D = {width} columns; got "
            f"{df.min():g}. With D + 2 = {width + 2} the expected covariance is the scale."
        )


def positive_definite(value: Any, argument: str) -> Array:
    """Check symmetric positive definite matrices."""
    matrix = checked.parameter(value, argument, most=checked.LARGEST_SQUARE)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:  # noqa: PLR2004 - a matrix
        raise PriorError(
            f"{argument}: must be a square matrix; got shape {matrix.shape}. Try np.eye(D)."
        )
    hint = " Columns that determine each other need a little more on the diagonal."
    root = checked.cholesky_factor(matrix, argument, hint)
    diagonal = np.diagonal(root, axis1=-2, axis2=-1) ** 2
    share = float((diagonal / np.diagonal(matrix, axis1=-2, axis2=-1)).min(initial=1))
    if share < 10.0**-HALF:
        warn(
            f"{argument}: a column is, but for a share of {share:.0e} of its variance, a "
            f"combination of those before it, so about {-np.log10(share):.0f} of 16 digits of what "
            "is computed from the matrix are lost. Leave the column out."
        )
    return symmetric(matrix)


def fitting(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the batch shape of parameters."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise PriorError(
            f"{next(iter(shapes))}: leading axes of the parameters must fit; got {listed}."
        ) from None


def checked_vectors(belief: Any, data: Any, *, keep_dtype: bool = False) -> checked.Measured:
    """Check rows against the belief's columns."""
    d, width = checked.vectors(data, keep_dtype=keep_dtype), belief.location.shape[-1]
    if d.x.shape[-1] != width:
        raise DataError(f"x: must have {width} columns, one a feature; got {d.x.shape[-1]}.")
    checked.same_features(belief.features, d.features)
    return d


def means(s: Any) -> tuple[Array, Array]:
    """Return count and mean of the rows, with the axes that `merged_means` needs."""
    return s.n[..., None], s.mean


# --- densities, and how far rounding takes them ---------------------------------------------------


def log_evidence_of_scales(df: Array, before: Array, after: Array, n: Any) -> Array:
    """Return the log ratio of inverse-Wishart normalisers after and before n rows."""
    width = before.shape[-1]
    old, new = (half_log_det(np.linalg.cholesky(x)) for x in (before, after))
    return (
        log_multigamma_ratio(df / 2, n / 2, width)
        - df * (new - old)
        - n * new
        - 0.5 * n * width * LOG_PI
    )


def log_normal_at(gap: Array, root: Array, weight: Array) -> Array:
    """Return ln Normal(gap | 0, R R' / weight), elementwise over leading axes."""
    width = gap.shape[-1]
    square = (solve_lower(root, gap[..., None])[..., 0] ** 2).sum(-1)
    return (
        -0.5 * weight * square
        - half_log_det(root)
        + 0.5 * width * np.log(weight)
        - width * HALF_LOG_2PI
    )


def where_definite(root: Array, value: Array, otherwise: float) -> Array:
    """Return `value` where `cholesky` found a root, and `otherwise` where it is NaN."""
    return np.where(np.isnan(root).any((-2, -1)), otherwise, value)[()]


def rounding_of_wishart(root: Array, df: Array, scale: Array) -> Array:
    """Return the size of the rounding errors of an inverse-Wishart log density, in epsilons.

    A Cholesky factor is exact for a matrix that is off by epsilon |R| |R'| (Higham, *Accuracy and
    Stability of Numerical Algorithms*, theorem 10.3), which moves log determinant and traces by at
    most the squared norm of |R^-1| |R|, times the trace.
    """
    size, inverse = np.abs(root), np.abs(_inverse(root))
    scale_root = np.linalg.cholesky(scale)
    width = scale.shape[-1]
    condition = ((inverse @ size) ** 2).sum((-2, -1))
    trace = ((inverse @ np.abs(scale_root)) ** 2).sum((-2, -1))
    of_scale = ((np.abs(_inverse(scale_root)) @ np.abs(scale_root)) ** 2).sum((-2, -1))
    diagonal = np.abs(np.log(np.diagonal(root, axis1=-2, axis2=-1))).sum(-1)
    of_diagonal = np.abs(np.log(np.diagonal(scale_root, axis1=-2, axis2=-1))).sum(-1)
    return (
        trace * (1 + condition)
        + (df + width + 1) * (condition + diagonal)
        + df * (of_scale + of_diagonal + width)
        + np.abs(multigammaln(np.asarray(df / 2), width))
    )


def rounding_of_normal(root: Array, mu: Array, location: Array, weight: Array) -> Array:
    """Return the size of the rounding errors of `log_normal_at`, in epsilons."""
    inverse = np.abs(_inverse(root))
    condition = ((inverse @ np.abs(root)) ** 2).sum((-2, -1))
    z = np.sqrt((solve_lower(root, (mu - location)[..., None])[..., 0] ** 2).sum(-1))
    reach = (inverse @ (np.abs(mu) + np.abs(location))[..., None])[..., 0]
    length = np.sqrt((reach**2).sum(-1))
    logs = np.abs(np.log(np.diagonal(root, axis1=-2, axis2=-1))).sum(-1)
    width = mu.shape[-1]
    return weight * z * (z * (1 + condition) + length) + logs + width * np.abs(np.log(weight))


def by_pattern(
    x: Array,
    members: int,
    density: Callable[[Array, NDArray[np.intp]], Array],
    sample: tuple[int, ...] = (),
) -> Array:
    """Return log densities (*sample, n, members) of present cells, by pattern of missing ones."""
    every = np.arange(x.shape[-1])
    full = density(x, every)
    if not np.isnan(full).any():  # as it would be if an entry of x were
        return full
    gone = np.isnan(x)
    result = np.zeros((*sample, len(x), members))
    for pattern in np.unique(gone, axis=0):
        here = every[~pattern]
        if len(here):
            rows = (gone == pattern).all(-1)
            result[..., rows, :] = density(x[np.ix_(rows, here)], here)
    return result


def log_normal_vectors(mu: Any, sigma: Any, x: Array) -> Array:
    """Return normal log densities (..., n, members) for mu (..., members, D) and Sigma alike."""
    mu = np.asarray(mu, dtype=float)
    sigma = np.broadcast_to(np.asarray(sigma, dtype=float), (*mu.shape, mu.shape[-1]))
    *sample, members, width = mu.shape
    means, matrices = mu.reshape(-1, members, width), sigma.reshape(-1, members, width, width)
    result = np.empty((len(means), len(x), members))
    step = max(1, _AT_ONCE // max(1, len(x) * members * width))
    for start in range(0, len(means), step):
        part = slice(start, start + step)

        def density(rows: Array, here: NDArray[np.intp], part: slice = part) -> Array:
            root = _roots(matrices[part][..., here[:, None], here])
            return np.swapaxes(_log_normal_rows(rows, means[part][..., here], root), -1, -2)

        result[part] = by_pattern(x, members, density, (len(means[part]),))
    return result.reshape(*sample, len(x), members)


_AT_ONCE = 1 << 20  # numbers


def _roots(matrices: Array) -> Array:
    try:
        return np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        raise DataError(
            "Sigma: must be positive definite for a density; the maximum-likelihood estimate of at "
            "most D rows is not, nor are, to rounding, some draws with hardly more than D - 1 "
            "degrees of freedom. Integrate over the belief instead."
        ) from None


def _log_normal_rows(x: Array, mean: Array, root: Array) -> Array:
    """Return the log density (..., n) of rows (n, D) under Normal(mean, R R')."""
    gap = np.swapaxes(x - mean[..., None, :], -1, -2)
    square = (solve_lower(root, gap) ** 2).sum(-2)
    return -0.5 * square - half_log_det(root)[..., None] - x.shape[-1] * HALF_LOG_2PI


def log_likelihood_of_vectors(d: checked.Measured, mu: Any, sigma: Any) -> Array:
    """Return the log density (..., n) of each row under the member that it belongs to."""
    result = None
    for rows, mean, covariance in _members(d, mu, sigma):
        logs = _log_normal_rows(d.x[rows], mean, _roots(covariance))
        if result is None:
            result = np.empty((*logs.shape[:-1], len(d.x)))
        result[..., rows] = logs
    return np.asarray(result)


def new_vectors(d: checked.Measured, mu: Any, sigma: Any, rng: np.random.Generator) -> Array:
    """Draw a new row (..., n, D) for each row, from the member that it belongs to."""
    result = None
    for rows, mean, covariance in _members(d, mu, sigma):
        root = any_root(covariance)
        noise = rng.standard_normal((*mean.shape, len(rows)))
        new = mean[..., None, :] + np.swapaxes(root @ noise, -1, -2)
        if result is None:
            result = np.empty((*new.shape[:-2], *d.x.shape))
        result[..., rows, :] = new
    return np.asarray(result)


def _members(d: checked.Measured, mu: Any, sigma: Any) -> Any:
    """Yield rows, means and covariances of each member of the batch."""
    mu, sigma = np.asarray(mu, dtype=float), np.asarray(sigma, dtype=float)
    if d.batch.groups is None:
        yield np.arange(len(d.x)), mu, sigma
        return
    for member, at in enumerate(np.ndindex(d.batch.lead)):
        rows = np.flatnonzero(d.batch.groups == member)
        yield rows, mu[(..., *at, slice(None))], sigma[(..., *at, slice(None), slice(None))]


def _inverse(root: Array) -> Array:
    return solve_lower(root, np.eye(root.shape[-1]))


def outer(x: Array) -> Array:
    """Return x x', over leading axes."""
    return x[..., :, None] * x[..., None, :]


def width_of(mean: Array, matrix: Array, argument: str) -> int:
    """Return the number of columns of a square matrix; refuse one that is not square."""
    if mean.ndim == 0 or matrix.shape[-2:] != (mean.shape[-1], mean.shape[-1]):
        width = mean.shape[-1] if mean.ndim else "D"
        raise PriorError(
            f"{argument}: must have shape ({width}, {width}) behind the batch axes, as mean has "
            f"shape {mean.shape}; got {matrix.shape}."
        )
    return int(mean.shape[-1])
