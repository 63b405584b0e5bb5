r"""Normal-inverse-Wishart: vectors from a normal law with unknown mean and covariance.

=============  =================================================================================
Prior          mu | Sigma ~ Normal(m, Sigma / kappa),  Sigma ~ InverseWishart(Psi, nu)
Rows           x_i | mu, Sigma ~ Normal(mu, Sigma), in D dimensions
Statistic      N, the mean of the rows and their scatter S = sum of (x_i - mean) (x_i - mean)'
Posterior      kappa_N = kappa + N,  m_N = (kappa m + N mean) / kappa_N,  nu_N = nu + N,
               Psi_N = Psi + S + (kappa N / kappa_N) (mean - m) (mean - m)'
Log evidence   - ND/2 ln pi + lnΓ_D(nu_N / 2) - lnΓ_D(nu / 2) + nu/2 ln |Psi| - nu_N/2 ln |Psi_N|
               + D/2 ln(kappa / kappa_N)
Predictive     x ~ Student-t(nu - D + 1, m, Psi (kappa + 1) / (kappa (nu - D + 1)))
=============  =================================================================================

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 4.6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import multigammaln

from bayesmodels.belief import conditioning, reading, values
from bayesmodels.belief.declaring import Names, declare
from bayesmodels.belief.discounting import discounted
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError, warn
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_statistics import log_multivariate_student, scatters
from bayesmodels.numerics.laws import MultivariateStudent, student_t
from bayesmodels.numerics.special import HALF_LOG_2PI, merged_means
from bayesmodels.numerics.triangular import EPS, FEW, any_root, cholesky, half_log_det, solve_lower
from bayesmodels.numerics.wishart import (
    inverse_wishart_marginals,
    inverse_wishart_roots,
    log_density,
    log_multigamma_ratio,
    symmetric,
)

Features = tuple[Hashable, ...] | None
LOG_PI = float(np.log(np.pi))


@value
class MultivariateNormalStatistic:
    """Row count, mean and centred scatter matrix; ``a + b`` merges disjoint rows.

    Merging is the pairwise update of Chan, Golub and LeVeque (1983): see `NormalStatistic`, which
    is the same for single numbers.

    Parameters
    ----------
    n : array_like of shape (batch...)
        Numbers of rows.
    mean : array_like of shape (batch..., D)
        Means of the rows; anything finite where there are none.
    scatter : array_like of shape (batch..., D, D)
        Sums of (x - mean) (x - mean)'.
    features : sequence of length D, optional
        Names of the columns.
    coords : dict, optional
        Names of the batch axes with their labels.

    Examples
    --------
    >>> one, other = [1.0], [4.0]
    >>> MultivariateNormalStatistic(2, one, [[2]]) + MultivariateNormalStatistic(1, other, [[0]])
    MultivariateNormalStatistic(n=3, mean=[2], scatter=[[8]])
    """

    n: Array
    mean: Array
    scatter: Array
    features: Features
    coords: Coords

    def __init__(
        self,
        n: ArrayLike,
        mean: ArrayLike,
        scatter: ArrayLike,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
    ) -> None:
        n, mean = checked.totals(n, "n", counted=True), checked.parameter(mean, "mean")
        scatter = checked.parameter(scatter, "scatter", most=checked.LARGEST_SQUARE)
        width = _width(mean, scatter, "scatter")
        batch = np.broadcast_shapes(n.shape, mean.shape[:-1], scatter.shape[:-2])
        values.fill(
            self,
            n=np.broadcast_to(n, batch),
            mean=np.broadcast_to(mean, (*batch, width)),
            scatter=np.broadcast_to(scatter, (*batch, width, width)),
            features=named_features(features, width),
            coords=labels.named(coords, batch, "coords"),
        )

    def __add__(self, other: MultivariateNormalStatistic) -> Self:
        checked.alike(self, other, MultivariateNormalStatistic)
        if self.mean.shape[-1] != other.mean.shape[-1]:
            msg = (
                "data: statistics to be merged must have the same columns; got "
                f"{self.mean.shape[-1]} and {other.mean.shape[-1]}."
            )
            raise DataError(msg)
        coords = labels.joined(self.coords, self.n.shape, other.coords, other.n.shape)
        mean, shift, weight = merged_means(*means(self), *means(other))
        between = weight[..., None] * outer(shift)
        features = same_features(self.features, other.features)
        scatter = self.scatter + other.scatter + between
        return checked.made(type(self), self.n + other.n, mean, scatter, features, coords)

    def __sub__(self, other: MultivariateNormalStatistic) -> Self:
        """Return the statistic without rows that are in it.

        Digits of the scatter are lost where it is small beside what is taken out.
        """
        checked.alike(self, other, MultivariateNormalStatistic)
        coords = labels.joined(self.coords, self.n.shape, other.coords, other.n.shape)
        features = same_features(self.features, other.features)
        n = checked.left_over(self.n - other.n, self.n, "n")
        mean, shift, weight = merged_means(*means(self), -other.n[..., None], other.mean)
        pull = weight[..., None] * outer(shift)
        left = self.scatter - other.scatter + pull
        along, directions = np.linalg.eigh(left)
        along = np.where(n[..., None] == 0, -np.abs(along), along)  # of no row nothing is left
        size = np.trace(self.scatter + other.scatter - pull, axis1=-2, axis2=-1)[..., None]
        kept = checked.left_over(along, size, "scatter")
        if (kept != along).any():
            left = (directions * kept[..., None, :]) @ np.swapaxes(directions, -1, -2)
        return checked.made(type(self), n, mean, left, features, coords)

    discounted = discounted

    def _times(self, rho: float) -> Self:
        scatter = rho * self.scatter
        return checked.made(
            type(self), rho * self.n, self.mean, scatter, self.features, self.coords
        )

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        squares = self.n[..., None] * self.mean**2 + np.diagonal(self.scatter, axis1=-2, axis2=-1)
        number = float(self.n.sum()) * self.mean.shape[-1]
        return {"number of observations": number, "sum of squares": float(squares.sum())}

    def without_rows(self) -> Self:
        """Return the empty statistic of the same batch."""
        zero, mean, scatter = (np.zeros_like(x) for x in (self.n, self.mean, self.scatter))
        return type(self)(zero, mean, scatter, self.features, self.coords)

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimates: the mean, and scatter / N as covariance.

        Raises
        ------
        DataError
            Without rows.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseWishart([0, 0], 1, 3, np.eye(2))
        >>> prior.statistic([[1.0, 2.0], [3.0, 6.0]]).mle()["mu"]
        array([2., 4.])
        """
        if (self.n == 0).any():
            msg = "data: the maximum-likelihood estimate needs at least one row; got none."
            raise DataError(msg)
        return {"Sigma": self.scatter / self.n[..., None, None], "mu": self.mean}


@value
class NormalInverseWishart:
    r"""Belief about the mean and the covariance matrix of a normal law in D dimensions.

    .. math:: \mu \mid \Sigma \sim N(m, \Sigma / \kappa), \qquad p(\Sigma) \propto
        |\Sigma|^{-(\nu + D + 1) / 2} \exp(-\tfrac12 \mathrm{tr}\, \Psi \Sigma^{-1})

    Parameters
    ----------
    mean : array_like of shape (batch..., D)
        m, the expected mean.
    kappa : array_like of shape (batch...)
        Number of rows that the belief about the mean weighs as much as; positive.
    df : array_like of shape (batch...)
        nu, larger than D - 1.
    scale : array_like of shape (batch..., D, D)
        Psi, symmetric and positive definite; Psi / (nu - D - 1) is the expected covariance.
    features : sequence of length D, optional
        Names of the columns; columns of data with other names are refused.
    coords : dict, optional
        Names of the batch axes with their labels.

    Raises
    ------
    PriorError
        If a parameter is out of its range, or shapes do not fit.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 4.6.3.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NormalInverseWishart(mean=[0, 0], kappa=1, df=4, scale=np.eye(2))
    >>> posterior = prior.update([[1.0, 2.0], [3.0, 3.0], [2.0, 1.0]])
    >>> posterior.mean()["Sigma"].round(3)
    array([[1.5, 1. ],
           [1. , 1.5]])
    """

    location: Array
    kappa: Array
    df: Array
    scale: Array
    features: Features
    coords: Coords

    title: ClassVar = "Normal–inverse-Wishart"
    equations: ClassVar = (
        ("Prior", r"\mu \mid \Sigma \sim \mathrm{Normal}(m, \Sigma / \kappa)"),
        ("", r"\Sigma \sim \mathrm{InverseWishart}(\Psi, \nu)"),
        ("Likelihood", r"x_i \mid \mu, \Sigma \sim \mathrm{Normal}(\mu, \Sigma)"),
        ("Posterior", r"\kappa_N = \kappa + N, \quad m_N = (\kappa m + N \bar{x}) / \kappa_N"),
        ("", r"\nu_N = \nu + N"),
        (
            "",
            r"\Psi_N = \Psi + S + \frac{\kappa N}{\kappa_N} (\bar{x} - m) (\bar{x} - m)^\top",
        ),
        (
            "Evidence",
            r"\ln p(x) = -\frac{ND}{2} \ln \pi + \ln \frac{\Gamma_D(\nu_N/2)}{\Gamma_D(\nu/2)}",
        ),
        (
            "",
            (
                r"\quad + \frac{\nu}{2} \ln |\Psi| - \frac{\nu_N}{2} \ln |\Psi_N| "
                r"+ \frac{D}{2} \ln \frac{\kappa}{\kappa_N}"
            ),
        ),
    )

    def __init__(
        self,
        mean: ArrayLike,
        kappa: ArrayLike,
        df: ArrayLike,
        scale: ArrayLike,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
    ) -> None:
        features = checked.names_of(features, "features", mean=mean, scale=scale)
        mean, scale = checked.parameter(mean, "mean"), positive_definite(scale, "scale")
        kappa = checked.parameter(kappa, "kappa", positive=True)
        df = checked.parameter(df, "df", most=MOST_DF)
        width = _width(mean, scale, "scale")
        degrees(df, width)
        batch = fitting(
            mean=mean.shape[:-1], kappa=kappa.shape, df=df.shape, scale=scale.shape[:-2]
        )
        own = {k: v for k, v in (coords or {}).items() if k not in EVENT}
        axes = labels.completed(labels.named(own, batch, "coords"), batch)
        names = named_features(features, width)
        values.fill(
            self,
            location=np.broadcast_to(mean, (*batch, width)),
            kappa=np.broadcast_to(kappa, batch),
            df=np.broadcast_to(df, batch),
            scale=np.broadcast_to(scale, (*batch, width, width)),
            features=names,
            coords={**axes, **event_coords(names, width)},
        )

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``mu`` and ``Sigma``."""
        *batch, feature, other = self.coords
        return {"mu": (*batch, feature), "Sigma": (*batch, feature, other)}

    def parameters(self) -> dict[str, Array]:
        """Return the four parameters by the symbols of `equations`, as a report shows them."""
        return {"mean m": self.location, "κ": self.kappa, "ν": self.df, "scale Ψ": self.scale}

    def statistic(self, data: Any) -> MultivariateNormalStatistic:
        """Return row count, mean and centred scatter matrix.

        Parameters
        ----------
        data : array_like or frame of numbers of shape (n, D)
            Rows; or `Grouped` or `Weighted` rows; or a statistic, returned as is.

        Raises
        ------
        DataError
            If a value is missing or infinite, or columns are not those of the belief.
        """
        return vector_statistic(self, data)

    def update(self, data: Any) -> Self:
        """Return the posterior; see the table at the top of the module."""
        s = self.statistic(data)
        coords = labels.joined(self._batch, self.kappa.shape, s.coords, s.n.shape)
        own = self.kappa[..., None], self.location
        location, shift, weight = merged_means(*own, *means(s))
        pull = weight[..., None] * outer(shift)
        features, kappa = same_features(self.features, s.features), self.kappa + s.n
        axes = labels.completed(coords, np.shape(kappa))
        return checked.made(
            type(self),
            location,
            kappa,
            self.df + s.n,
            # Checked again, since rounding may take away what made it definite.
            positive_definite(self.scale + s.scatter + pull, "scale"),
            features,
            {**axes, **event_coords(features, location.shape[-1])},
        )

    def log_evidence(self, data: Any) -> Array:
        """Return the log density of the rows with mean and covariance integrated out.

        Returns
        -------
        ndarray of shape (batch...)
            Natural logarithms; a density, so it depends on the units of the columns.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
        >>> one_row = prior.predictive().logpdf([1.5, -1])
        >>> bool(abs(prior.log_evidence([[1.5, -1]]) - one_row) < 1e-12)
        True
        """
        s = self.statistic(data)
        after, width = self.update(s), self.location.shape[-1]
        return (
            log_evidence_of_scales(self.df, self.scale, after.scale, s.n)
            - 0.5 * width * np.log1p(s.n / self.kappa)
        )[()]

    def predictive(self) -> Any:
        """Return the law of a new row: Student-t with nu - D + 1 degrees of freedom.

        Returns
        -------
        frozen SciPy distribution
            A `scipy.stats.multivariate_t`, exact for columns of any units.

        Raises
        ------
        DataError
            For a batch of beliefs; `log_predictive` takes those.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.NormalInverseWishart([3, 1], 1, 4, np.eye(2)).predictive().df
        3.0
        """
        if self.kappa.ndim:
            msg = (
                f"predictive: is for one belief, not a batch of {self.kappa.shape}; use "
                "log_predictive."
            )
            raise DataError(msg)
        df = self.df - self.location.shape[-1] + 1
        root = np.linalg.cholesky(self.scale) * np.sqrt((1 + 1 / self.kappa) / df)
        return MultivariateStudent(self.location, root, float(df))

    def plug_in(self, parameters: Draws) -> Any:
        """Return the law of a new row as if `parameters` were known: Normal(mu, Sigma).

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
        >>> float(prior.plug_in({"mu": [1, 2], "Sigma": np.eye(2)}).pdf([1, 2]).round(4))
        0.1592
        """
        sigma = positive_definite(parameters["Sigma"], "Sigma")
        cov = stats.Covariance.from_cholesky(np.linalg.cholesky(sigma))
        return stats.multivariate_normal(checked.parameter(parameters["mu"], "mu"), cov)

    def read(self, rows: Any) -> Array:
        """Return rows as checked values, the form in which predictions take them."""
        return checked.vectors(rows).x

    def log_predictive(self, x: Array) -> Array:
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
        df = self.df - self.location.shape[-1] + 1
        factor = (1 + 1 / self.kappa) / df

        def density(rows: Array, here: NDArray[np.intp]) -> Array:
            root = np.linalg.cholesky(self.scale[:, here[:, None], here])
            return log_multivariate_student(rows, self.location[:, here], root, df, factor)

        return by_pattern(x, len(df), density)

    def log_plug_in(self, parameters: Draws, x: Array) -> Array:
        """Return normal log densities with `parameters` as if known, of shape (..., n, members)."""
        return log_normal_vectors(parameters["mu"], parameters["Sigma"], x)

    def marginals(self) -> dict[str, Law]:
        """Return the Student-t law of each entry of mu and the law of each entry of Sigma."""
        df = (self.df - self.location.shape[-1] + 1)[..., None]
        variance = np.diagonal(self.scale, axis1=-2, axis2=-1) / (self.kappa[..., None] * df)
        return {
            "mu": student_t(df, loc=self.location, scale=np.sqrt(variance)),
            "Sigma": inverse_wishart_marginals(self.df, self.scale),
        }

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = reading.to_datatree

    def mode(self) -> dict[str, Array]:
        """Return the joint mode (MAP): mu = m and Sigma = Psi / (nu + D + 2)."""
        width = self.location.shape[-1]
        return {"Sigma": self.scale / (self.df + width + 2)[..., None, None], "mu": self.location}

    def equivalent_sample_size(self) -> Array:
        """Return kappa: the number of rows that the belief about mu weighs as much as."""
        return self.kappa[()]

    def shrinkage(self, data: Any) -> Array:
        """Return the weight of the prior mean in the posterior mean of mu: kappa / (kappa + N).

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
        >>> float(prior.shrinkage([[1.0, 2.0], [2.0, 1.0], [6.0, 0.0]]))
        0.25
        """
        return (self.kappa / (self.kappa + self.statistic(data).n))[()]

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of mu and Sigma, of shape (..., batch...)."""
        root = cholesky(symmetric(np.asarray(draws["Sigma"])))
        gap = np.asarray(draws["mu"]) - self.location
        of_sigma = log_density(root, self.df, np.linalg.cholesky(self.scale))
        return where_definite(root, of_sigma + log_normal_at(gap, root, self.kappa), -np.inf)

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`; see `rounding_of_wishart`."""
        root = cholesky(symmetric(np.asarray(draws["Sigma"])))
        mu, width = np.asarray(draws["mu"]), self.location.shape[-1]
        size = rounding_of_wishart(root, self.df, self.scale)
        size = size + rounding_of_normal(root, mu, self.location, self.kappa)
        return where_definite(root, 16 * (width + 1) * EPS * (1 + size), np.inf)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws: Sigma (draws, batch..., D, D) and mu (draws, batch..., D)."""
        draws, rng = checked.asked(draws, rng)
        half = inverse_wishart_roots(self.df, self.scale, draws, rng)
        noise = rng.standard_normal((draws, *self.location.shape))
        spread = (noise[..., None, :] @ half)[..., 0, :]
        return {
            "Sigma": symmetric(np.swapaxes(half, -1, -2) @ half),
            "mu": self.location + spread / np.sqrt(self.kappa)[..., None],
        }

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log density of each row given mu and Sigma, of shape (..., n)."""
        d = self._checked(data)
        return {"x": log_likelihood_of_vectors(d, draws["mu"], draws["Sigma"])}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows, of shape (..., n, D)."""
        rng = checked.randomness(rng)
        d = self._checked(data)
        return {"x": new_vectors(d, draws["mu"], draws["Sigma"], rng)}

    def observed(self, data: Any) -> Observed:
        """Return the rows under the name ``"x"``, with the labels of their axes."""
        d = self._checked(data)
        return {"x": (d.x, {"row": tuple(d.batch.rows), "feature": self.coords["feature"]})}

    def power(self, alpha: float) -> Self:
        """Return the belief whose density is this one to the power alpha, normalised."""
        own = self.location.shape[-1] + 2
        return type(self)(
            self.location,
            alpha * self.kappa,
            alpha * (self.df + own) - own,
            alpha * self.scale,
            self.features,
            self.coords,
        )

    def log_next(self, row: Any) -> Any:
        """Return the log predictive density of one row, of each of its columns that is separate."""
        given = checked.vectors(row)
        if given.batch.groups is None:
            return self.predictive().logpdf(given.x[0])
        return self.log_predictive(given.x)[0, given.batch.groups[0]]

    leave_rows_out = case_deletion.of_vectors
    digits_lost = conditioning.lost_in_scale

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        from bayesmodels.models import inverse_wishart_pymc as declared

        checked.declarable(data, MultivariateNormalStatistic, likelihood)
        s = self.statistic(data)
        prior, after = self.update(s.without_rows()), self.update(s)
        names.labelled(prior.coords)
        Sigma = declared.inverse_wishart(
            names("Sigma"), prior.df, prior.scale, after.scale, names.axes(prior.dims["Sigma"])
        )
        mu = declared.normal(
            names("mu"),
            prior.location,
            Sigma,
            prior.kappa,
            names.axes(prior.dims["mu"]),
            default_transform=declared.Standardised(after.location, after.kappa),
        )
        if likelihood == "statistic":
            declared.statistic(names("likelihood"), mu, Sigma, s.n, s.mean, s.scatter)
            return
        ((x, rows),) = self.observed(data).values()
        batch, axes = self._checked(data).batch, names.labelled(rows)
        one = np.ones(len(x))
        declared.normal(names("x"), batch.of_rows(mu), batch.of_rows(Sigma), one, axes, observed=x)

    @property
    def _batch(self) -> Coords:
        return {axis: self.coords[axis] for axis in self.coords if axis not in EVENT}

    def _checked(self, data: Any) -> checked.Vectors:
        return checked_vectors(self, data)


# --- what beliefs about covariance matrices share -------------------------------------------------

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
        msg = f"features: must be {width} names, one a column; got {len(names)}."
        raise PriorError(msg)
    return names


def same_features(before: Features, now: Features) -> Features:
    """Return the names of the columns; raise if there are two versions."""
    if before is not None and now is not None and before != now:
        msg = (
            f"features: columns must be {before}, in this order; got {now}. Select and reorder "
            "the columns."
        )
        raise DataError(msg)
    return before if before is not None else now


def degrees(df: Array, width: int) -> None:
    """Check degrees of freedom of an inverse-Wishart law."""
    if (df <= width - 1).any():
        msg = (
            f"df: must be larger than D - 1 = {width - 1}, with D = {width} columns; got "
            f"{df.min():g}. With D + 2 = {width + 2} the expected covariance is the scale."
        )
        raise PriorError(msg)


def positive_definite(value: Any, argument: str) -> Array:
    """Check symmetric positive definite matrices."""
    matrix = checked.parameter(value, argument, most=checked.LARGEST_SQUARE)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:  # noqa: PLR2004 - a matrix
        msg = f"{argument}: must be a square matrix; got shape {matrix.shape}. Try np.eye(D)."
        raise PriorError(msg)
    mirrored = np.swapaxes(matrix, -1, -2)
    if not np.allclose(matrix, mirrored, rtol=1e-12, atol=0):
        at = tuple(np.argwhere(~np.isclose(matrix, mirrored, rtol=1e-12, atol=0))[0].tolist())
        opposite = (*at[:-2], at[-1], at[-2])
        msg = (
            f"{argument}: must be a symmetric matrix; its entries {at} and {opposite} are "
            f"{matrix[at]:g} and {matrix[opposite]:g}. Symmetrise it: (M + M.T) / 2."
        )
        raise PriorError(msg)
    try:
        root = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        msg = (
            f"{argument}: must be positive definite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix).min():.3g}. Columns that determine each other need a "
            "little more on the diagonal."
        )
        raise PriorError(msg) from None
    diagonal = np.diagonal(root, axis1=-2, axis2=-1) ** 2
    own = float((diagonal / np.diagonal(matrix, axis1=-2, axis2=-1)).min(initial=1))
    if own < 10.0**-FEW:
        warn(
            f"{argument}: a column is, but for a share of {own:.0e} of its variance, a combination "
            f"of those before it, so about {-np.log10(own):.0f} of 16 digits of what is computed "
            "from the matrix are lost. Leave the column out."
        )
    return symmetric(matrix)


def fitting(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the batch shape of parameters."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        msg = f"{next(iter(shapes))}: leading axes of the parameters must fit; got {listed}."
        raise PriorError(msg) from None


def checked_vectors(belief: Any, data: Any, *, as_given: bool = False) -> checked.Vectors:
    """Check rows against the belief's columns."""
    d, width = checked.vectors(data, as_given=as_given), belief.location.shape[-1]
    if d.x.shape[-1] != width:
        msg = f"x: must have {width} columns, one a feature; got {d.x.shape[-1]}."
        raise DataError(msg)
    same_features(belief.features, d.features)
    return d


def vector_statistic(belief: Any, data: Any) -> MultivariateNormalStatistic:
    """Return the statistic of rows, in groups if they are."""
    if isinstance(data, MultivariateNormalStatistic):
        got, wanted = data.mean.shape[-1], belief.location.shape[-1]
        if got != wanted:
            msg = f"data: a statistic of {got} column(s), but the belief is about {wanted}."
            raise DataError(msg)
        same_features(belief.features, data.features)
        return data
    d = checked_vectors(belief, data, as_given=True)
    _, mean, scatter = scatters(d.x, d.batch.groups, d.batch.size, d.batch.weights)
    width, lead = d.x.shape[-1], d.batch.lead
    return checked.made(
        MultivariateNormalStatistic,
        d.batch.row_counts(len(d.x)),
        mean.reshape((*lead, width)),
        symmetric(scatter).reshape((*lead, width, width)),
        d.features,
        labels.named(d.batch.coords, lead, "coords"),
    )


def means(s: MultivariateNormalStatistic) -> tuple[Array, Array]:
    """Return number and mean of the rows, as `merged_means` takes them."""
    return s.n[..., None], s.mean


def log_evidence_of_scales(df: Array, before: Array, after: Array, n: Any) -> Array:
    """Return what counts and scale matrices add to a log evidence of n rows."""
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
    """Return values where `cholesky` found a root: elsewhere there is no density."""
    return np.where(np.isnan(root).any((-2, -1)), otherwise, value)[()]


def rounding_of_wishart(root: Array, df: Array, scale: Array) -> Array:
    """Return the size of the rounding errors of an inverse-Wishart log density, in epsilons.

    A Cholesky factor is exact for a matrix that is off by epsilon |R| |R'| (Higham, *Accuracy and
    Stability of Numerical Algorithms*, theorem 10.3), which moves log determinant and traces by at
    most the squared norm of |R^-1| |R|, times the trace.
    """
    own, inverse = np.abs(root), np.abs(_inverse(root))
    scale_root = np.linalg.cholesky(scale)
    width = scale.shape[-1]
    condition = ((inverse @ own) ** 2).sum((-2, -1))
    trace = ((inverse @ np.abs(scale_root)) ** 2).sum((-2, -1))
    of_scale = ((np.abs(_inverse(scale_root)) @ np.abs(scale_root)) ** 2).sum((-2, -1))
    diagonal = np.abs(np.log(np.diagonal(root, axis1=-2, axis2=-1))).sum(-1)
    of_diagonal = np.abs(np.log(np.diagonal(scale_root, axis1=-2, axis2=-1))).sum(-1)
    return (
        trace * (1 + condition)
        + (df + width + 1) * (condition + diagonal)
        + df * (of_scale + of_diagonal + width)
        + np.abs(multigammaln_of(df / 2, width))
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


def multigammaln_of(a: Array, width: int) -> Array:
    """Return the multivariate log gamma function, elementwise."""
    return np.asarray(multigammaln(np.asarray(a), width))


def by_pattern(
    x: Array,
    members: int,
    density: Callable[[Array, NDArray[np.intp]], Array],
    sample: tuple[int, ...] = (),
) -> Array:
    """Evaluate a density of rows, or of the cells that are there, one pattern of gaps at a time.

    Returns
    -------
    ndarray of shape (*sample, n, members)
        Natural logarithms.
    """
    every = np.arange(x.shape[-1])
    whole = density(x, every)
    if not np.isnan(whole).any():  # as it would be if an entry of x were
        return whole
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
        msg = (
            "Sigma: must be positive definite for a density; the maximum-likelihood estimate of at "
            "most D rows is not, nor are, to rounding, some draws with hardly more than D - 1 "
            "degrees of freedom. Integrate over the belief instead."
        )
        raise DataError(msg) from None


def _log_normal_rows(x: Array, mean: Array, root: Array) -> Array:
    """Return the log density (..., n) of rows (n, D) under Normal(mean, R R')."""
    gap = np.swapaxes(x - mean[..., None, :], -1, -2)
    square = (solve_lower(root, gap) ** 2).sum(-2)
    return -0.5 * square - half_log_det(root)[..., None] - x.shape[-1] * HALF_LOG_2PI


def log_likelihood_of_vectors(d: checked.Vectors, mu: Any, sigma: Any) -> Array:
    """Return the log density (..., n) of each row under the member that it belongs to."""
    result = None
    for rows, mean, covariance in _members(d, mu, sigma):
        logs = _log_normal_rows(d.x[rows], mean, _roots(covariance))
        if result is None:
            result = np.empty((*logs.shape[:-1], len(d.x)))
        result[..., rows] = logs
    return np.asarray(result)


def new_vectors(d: checked.Vectors, mu: Any, sigma: Any, rng: np.random.Generator) -> Array:
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


def _members(d: checked.Vectors, mu: Any, sigma: Any) -> Any:
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


def _width(mean: Array, matrix: Array, argument: str) -> int:
    if mean.ndim == 0 or matrix.shape[-2:] != (mean.shape[-1], mean.shape[-1]):
        width = mean.shape[-1] if mean.ndim else "D"
        msg = (
            f"{argument}: must have shape ({width}, {width}) behind the batch axes, as mean has "
            f"shape {mean.shape}; got {matrix.shape}."
        )
        raise PriorError(msg)
    return int(mean.shape[-1])
