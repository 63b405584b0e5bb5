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

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayesmodels.belief import conditioning, conjugate, datatree, reading, values
from bayesmodels.belief.declaring import declare
from bayesmodels.belief.protocol import Draws
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion, given_statistic, normal
from bayesmodels.models import covariances as cov
from bayesmodels.models.covariances import Features
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import MultivariateStudent
from bayesmodels.numerics.moments import merged_means, scatters
from bayesmodels.numerics.wishart import symmetric


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
        width = cov.width_of(mean, scatter, "scatter")
        _check_scatter(scatter)
        batch = np.broadcast_shapes(n.shape, mean.shape[:-1], scatter.shape[:-2])
        values.fill(
            self,
            n=np.broadcast_to(n, batch),
            mean=np.broadcast_to(mean, (*batch, width)),
            scatter=np.broadcast_to(scatter, (*batch, width, width)),
            features=cov.named_features(features, width),
            coords=labels.named(coords, batch, "coords"),
        )

    def __add__(self, other: MultivariateNormalStatistic) -> Self:
        coords = self._merged_coords(other)
        mean, shift, weight = merged_means(*cov.means(self), *cov.means(other))
        between = weight[..., None] * cov.outer(shift)
        scatter = self.scatter + other.scatter + between
        return conjugate.replace(self, coords, self.n + other.n, mean, scatter, self.features)

    def __sub__(self, other: MultivariateNormalStatistic) -> Self:
        """Return the statistic without rows that are in it.

        Digits of the scatter are lost where it is small beside what is taken out.
        """
        coords = self._merged_coords(other)
        n = checked.left_over(self.n - other.n, self.n, "n")
        mean, shift, weight = merged_means(*cov.means(self), -other.n[..., None], other.mean)
        left = self.scatter - other.scatter + weight[..., None] * cov.outer(shift)
        along, directions = np.linalg.eigh(left)
        along = np.where(n[..., None] == 0, -np.abs(along), along)  # of no row nothing is left
        pull = np.abs(weight * shift) * (np.abs(self.mean) + np.abs(other.mean))
        size = np.trace(self.scatter, axis1=-2, axis2=-1) + pull.sum(-1)
        kept = checked.left_over(along, size[..., None], "scatter")
        if (kept != along).any():
            left = (directions * kept[..., None, :]) @ np.swapaxes(directions, -1, -2)
        return conjugate.replace(self, coords, n, mean, left, self.features)

    def _merged_coords(self, other: MultivariateNormalStatistic) -> Coords:
        coords = conjugate.merged_coords(self, other)
        if self.mean.shape[-1] != other.mean.shape[-1]:
            raise DataError(
                "data: statistics to be merged must have the same columns; got "
                f"{self.mean.shape[-1]} and {other.mean.shape[-1]}."
            )
        return coords

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def _times(self, rho: float) -> Self:
        numbers = rho * self.n, self.mean, rho * self.scatter
        return conjugate.replace(self, self.coords, *numbers, self.features)

    batch_axes = conjugate.batch_axes
    event = conjugate.features

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        squares = self.n[..., None] * self.mean**2 + np.diagonal(self.scatter, axis1=-2, axis2=-1)
        number = float(self.n.sum()) * self.mean.shape[-1]
        return {"number of observations": number, "sum of squares": float(squares.sum())}

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
        conjugate.need_rows(self.n)
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

    ratio: ClassVar = 1.0  # of covariances: see `SharedNormalInverseWishart`
    title: ClassVar = "Normal–inverse-Wishart"
    words: ClassVar = {"mu": "mean", "Sigma": "covariance"}
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
        mean, scale = checked.parameter(mean, "mean"), cov.positive_definite(scale, "scale")
        kappa = checked.parameter(kappa, "kappa", positive=True)
        df = checked.parameter(df, "df", most=cov.MOST_DF)
        width = cov.width_of(mean, scale, "scale")
        cov.degrees(df, width)
        batch = cov.fitting(
            mean=mean.shape[:-1], kappa=kappa.shape, df=df.shape, scale=scale.shape[:-2]
        )
        axes = labels.completed(
            labels.named(labels.without(coords, *cov.EVENT), batch, "coords"), batch
        )
        names = cov.named_features(features, width)
        values.fill(
            self,
            location=np.broadcast_to(mean, (*batch, width)),
            kappa=np.broadcast_to(kappa, batch),
            df=np.broadcast_to(df, batch),
            scale=np.broadcast_to(scale, (*batch, width, width)),
            features=names,
            coords={**axes, **cov.event_coords(names, width)},
        )

    batch_axes = conjugate.batch_axes_of("kappa", *cov.EVENT)
    event = conjugate.features

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
        axes = conjugate.posterior_coords(self, s)
        location, pull = cov.meeting(self, s)
        features = self.features or s.features
        axes = axes | cov.event_coords(features, location.shape[-1])
        # Checked again, since rounding may take away what made it definite.
        scale = cov.positive_definite(self.scale + s.scatter + pull, "scale")
        fields = location, self.kappa + s.n, self.df + s.n, scale, features
        return checked.build(type(self), *fields, axes)

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
            cov.log_evidence_of_scales(self.df, self.scale, after.scale, s.n)
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
            raise DataError(
                f"predictive: is for one belief, not a batch of {self.kappa.shape}; use "
                "log_predictive."
            )
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
        sigma = cov.positive_definite(parameters["Sigma"], "Sigma")
        known = stats.Covariance.from_cholesky(np.linalg.cholesky(sigma))
        return stats.multivariate_normal(checked.parameter(parameters["mu"], "mu"), known)

    read = cov.read
    log_predictive = cov.log_predictive
    log_plug_in = cov.log_plug_in
    marginals = cov.marginals

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot
    mode = cov.mode

    equivalent_sample_size = normal.equivalent_sample_size
    shrinkage = normal.shrinkage

    log_density = cov.log_density
    log_density_rounding = cov.log_density_rounding
    sample = cov.sample
    log_likelihood = cov.log_likelihood
    replicate = cov.replicate
    observed = cov.observed

    leave_rows_out = case_deletion.of_vectors
    given_statistic = given_statistic.of_vectors
    digits_lost = conditioning.lost_in_scale

    declare = declare
    add_to_model = cov.add_to_model


def _check_scatter(scatter: Array) -> None:
    """Refuse what is no sum of outer products, up to rounding."""
    size = 1e-8 * np.abs(scatter).max(initial=0)
    skew = np.abs(scatter - np.swapaxes(scatter, -1, -2)).max(initial=0)
    if skew > size or np.linalg.eigvalsh(scatter).min(initial=0) < -size * scatter.shape[-1]:
        raise DataError(
            "scatter: must be symmetric, without negative eigenvalues; it is no sum of squares."
        )


def vector_statistic(belief: Any, data: Any) -> MultivariateNormalStatistic:
    """Return the statistic of rows, in groups if they are."""
    if isinstance(data, MultivariateNormalStatistic):
        got, wanted = data.mean.shape[-1], belief.location.shape[-1]
        if got != wanted:
            raise DataError(
                f"data: a statistic of {got} column(s), but the belief is about {wanted}."
            )
        return data
    d = cov.checked_vectors(belief, data, keep_dtype=True)
    _, mean, scatter = scatters(d.x, d.batch.groups, d.batch.size, d.batch.weights)
    width, lead = d.x.shape[-1], d.batch.lead
    return checked.build(
        MultivariateNormalStatistic,
        d.batch.row_counts(len(d.x)),
        mean.reshape((*lead, width)),
        symmetric(scatter).reshape((*lead, width, width)),
        belief.features or d.features,
        conjugate.rows_of(belief, d.batch.coords, lead),
    )
