r"""Several normal laws with one covariance matrix, or with given multiples of one.

=============  =================================================================================
Prior          Sigma ~ InverseWishart(Psi, nu),  mu_c | Sigma ~ Normal(m_c, r_c Sigma / kappa_c)
Rows           x_i | y_i = c ~ Normal(mu_c, r_c Sigma), with known ratios r_c
Statistic      N_c, the mean of the rows of class c and their scatter S_c
Posterior      kappa_c and m_c as for one class,  nu_N = nu + N,
               Psi_N = Psi + sum_c [S_c + (kappa_c N_c / (kappa_c + N_c)) d_c d_c'] / r_c,
               d_c = mean_c - m_c
Log evidence   - ND/2 ln pi + lnΓ_D(nu_N / 2) - lnΓ_D(nu / 2) + nu/2 ln |Psi| - nu_N/2 ln |Psi_N|
               + D/2 sum_c [ln(kappa_c / (kappa_c + N_c)) - N_c ln r_c]
Predictive     x of class c ~ Student-t(d, m_c, r_c Psi (kappa_c + 1) / (kappa_c d)), d = nu - D + 1
=============  =================================================================================

The prior of linear discriminant analysis (all ratios 1) and of its proportional variety. Murphy,
*Machine Learning: A Probabilistic Perspective* (2012), sections 4.2 and 4.6.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesmodels.belief import conditioning, conjugate, datatree, reading, values
from bayesmodels.belief.declaring import declare
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion, given_statistic
from bayesmodels.models import covariances as cov
from bayesmodels.models.covariances import Features
from bayesmodels.models.multivariate_normal import MultivariateNormalStatistic, vector_statistic
from bayesmodels.numerics import Array


@value
class SharedNormalStatistic(MultivariateNormalStatistic):
    """Row count, mean and scatter matrix of each class, whose covariances have known ratios.

    Parameters
    ----------
    n, mean, scatter, features, coords
        As in `MultivariateNormalStatistic`, with one leading axis, the classes.
    ratio : array_like of shape (C,), default 1
        Ratios of the classes' covariances to the one that is estimated.

    Examples
    --------
    >>> SharedNormalStatistic([2, 2], [[1.0], [5.0]], [[[2]], [[6]]]).mle()["Sigma"]
    array([[2.]])
    """

    ratio: Array

    def __init__(
        self,
        n: ArrayLike,
        mean: ArrayLike,
        scatter: ArrayLike,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
        ratio: ArrayLike = 1,
    ) -> None:
        super().__init__(n, mean, scatter, features, coords)
        ratio = checked.parameter(ratio, "ratio", positive=True)
        values.fill(self, ratio=np.broadcast_to(ratio, self.n.shape))

    def _merged_coords(self, other: MultivariateNormalStatistic) -> Coords:
        result = super()._merged_coords(other)
        same = getattr(other, "ratio", self.ratio)
        if not np.array_equal(self.ratio, same):
            raise DataError(
                "data: statistics to be merged must have the same ratios of covariances; got "
                f"{self.ratio.tolist()} and {same.tolist()}."
            )
        return result

    @classmethod
    def of(cls, s: MultivariateNormalStatistic, ratio: Array) -> Self:
        """Return the statistic of classes, with ratios of their covariances."""
        return checked.build(cls, s.n, s.mean, s.scatter, s.features, s.coords, ratio)

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimates: the means, and sum_c S_c / r_c over all rows.

        Raises
        ------
        DataError
            If a class has no row.
        """
        mu = super().mle()["mu"]
        scatter = (self.scatter / self.ratio[:, None, None]).sum(0)
        return {"Sigma": scatter / self.n.sum(), "mu": mu}


@value
class SharedNormalInverseWishart:
    r"""Belief about the means of several classes and about the covariance that they share.

    .. math:: \mu_c \mid \Sigma \sim N(m_c, r_c \Sigma / \kappa_c), \qquad
        \Sigma \sim \mathrm{IW}(\Psi, \nu)

    Parameters
    ----------
    mean : array_like of shape (C, D)
        m_c, the expected means.
    kappa : array_like of shape (C,)
        Numbers of rows that the beliefs about the means weigh as much as; positive.
    df : float
        nu, larger than D - 1.
    scale : array_like of shape (D, D)
        Psi, symmetric and positive definite; Psi / (nu - D - 1) is the expected covariance.
    ratio : array_like of shape (C,), default 1
        r_c, the known ratios of the classes' covariances to Sigma; positive.
    features : sequence of length D, optional
        Names of the columns.
    coords : dict, optional
        Name of the axis of classes with its labels.

    Raises
    ------
    PriorError
        If a parameter is out of its range, or shapes do not fit.

    See Also
    --------
    GaussianDiscriminant : the classifier with ``covariance="shared"`` or ``"proportional"``.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.SharedNormalInverseWishart(np.zeros((2, 1)), 1, 3, [[1.0]])
    >>> prior.update(bm.Grouped([[1.0], [3.0], [4.0]], by=["a", "a", "b"])).mean()["mu"].round(3)
    array([[1.333],
           [2.   ]])
    """

    location: Array
    kappa: Array
    df: Array
    scale: Array
    ratio: Array
    features: Features
    coords: Coords

    title: ClassVar = "Normal laws with a shared covariance"
    equations: ClassVar = (
        ("Prior", r"\mu_c \mid \Sigma \sim \mathrm{Normal}(m_c, r_c \Sigma / \kappa_c)"),
        ("", r"\Sigma \sim \mathrm{InverseWishart}(\Psi, \nu)"),
        ("Likelihood", r"x_i \mid y_i = c \sim \mathrm{Normal}(\mu_c, r_c \Sigma)"),
        ("Posterior", r"\kappa_{cN} = \kappa_c + N_c, \quad \nu_N = \nu + N"),
        ("", r"m_{cN} = (\kappa_c m_c + N_c \bar{x}_c) / \kappa_{cN}"),
        (
            "",
            (
                r"\Psi_N = \Psi + \sum_c \frac{1}{r_c} \left( S_c + "
                r"\frac{\kappa_c N_c}{\kappa_{cN}} (\bar{x}_c - m_c) (\bar{x}_c - m_c)^\top \right)"
            ),
        ),
    )

    def __init__(
        self,
        mean: ArrayLike,
        kappa: ArrayLike,
        df: ArrayLike,
        scale: ArrayLike,
        ratio: ArrayLike = 1,
        features: Sequence[Hashable] | None = None,
        coords: Any = None,
    ) -> None:
        features = checked.names_of(features, "features", mean=mean, scale=scale)
        mean, scale = checked.parameter(mean, "mean"), cov.positive_definite(scale, "scale")
        kappa = checked.parameter(kappa, "kappa", positive=True)
        ratio = checked.parameter(ratio, "ratio", positive=True)
        df = checked.parameter(df, "df", most=cov.MOST_DF)
        if mean.ndim != 2 or scale.shape != (mean.shape[1],) * 2 or df.ndim:  # noqa: PLR2004
            raise PriorError(
                "mean: must have one row a class and one column a feature, scale one row and "
                f"column a feature, and df must be a number; got shapes {mean.shape}, "
                f"{scale.shape} and {df.shape}."
            )
        classes, width = mean.shape
        cov.degrees(df, width)
        cov.fitting(mean=(classes,), kappa=kappa.shape, ratio=ratio.shape)
        named = labels.named(labels.without(coords, *cov.EVENT), (classes,), "coords")
        axes = labels.completed(named, (classes,))
        names = cov.named_features(features, width)
        values.fill(
            self,
            location=mean,
            kappa=np.broadcast_to(kappa, classes),
            df=df,
            scale=scale,
            ratio=np.broadcast_to(ratio, classes),
            features=names,
            coords={**axes, **cov.event_coords(names, width)},
        )

    batch_axes = conjugate.batch_axes_of("kappa", *cov.EVENT)
    event = conjugate.features

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``mu`` and ``Sigma``."""
        group, feature, other = self.coords
        return {"mu": (group, feature), "Sigma": (feature, other)}

    def parameters(self) -> dict[str, Array]:
        """Return the parameters by the symbols of `equations`, as a report shows them."""
        result = {"mean m": self.location, "κ": self.kappa, "ν": self.df, "scale Ψ": self.scale}
        return result if (self.ratio == 1).all() else {**result, "ratio r": self.ratio}

    def statistic(self, data: Any) -> SharedNormalStatistic:
        """Return row counts, means and centred scatter matrices of the classes.

        Parameters
        ----------
        data : Grouped or Weighted rows of shape (n, D)
            Rows with the class of each; or a statistic, returned as is.

        Raises
        ------
        DataError
            If a value is missing or infinite, rows have no classes, or columns do not fit.
        """
        s = vector_statistic(self, data)
        self._joined(s)
        return SharedNormalStatistic.of(s, self.ratio)

    def update(self, data: Any) -> Self:
        """Return the posterior; see the table at the top of the module."""
        s = self.statistic(data)
        location, pull = cov.meeting(self, s)
        return type(self)(
            location,
            self.kappa + s.n,
            self.df + s.n.sum(),
            self.scale + ((s.scatter + pull) / self.ratio[:, None, None]).sum(0),
            self.ratio,
            self.features or s.features,
            self._joined(s),
        )

    def log_evidence(self, data: Any) -> Array:
        """Return the log density of all rows with means and covariance integrated out.

        Returns
        -------
        ndarray of shape ()
            Natural logarithm; a density, so it depends on the units of the columns.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.SharedNormalInverseWishart(np.zeros((2, 1)), 1, 3, [[1.0]])
        >>> row = bm.Grouped([[0.5]], by=["a"], groups=["a", "b"])
        >>> as_predicted = prior.log_predictive(np.array([[0.5]]))[0, 0]
        >>> bool(abs(prior.log_evidence(row) - as_predicted) < 1e-12)
        True
        """
        s = self.statistic(data)
        after, width = self.update(s), self.scale.shape[-1]
        of_means = np.log1p(s.n / self.kappa) + s.n * np.log(self.ratio)
        scales = cov.log_evidence_of_scales(self.df, self.scale, after.scale, s.n.sum())
        return (scales - 0.5 * width * of_means.sum())[()]

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
    log_density = cov.log_density
    log_density_rounding = cov.log_density_rounding
    sample = cov.sample
    log_likelihood = cov.log_likelihood
    replicate = cov.replicate
    observed = cov.observed

    leave_rows_out = case_deletion.of_vectors
    given_statistic = given_statistic.of_vectors_of_one_covariance
    digits_lost = conditioning.lost_in_scale

    declare = declare

    add_to_model = cov.add_to_model
    each = cov.each

    def _joined(self, s: MultivariateNormalStatistic) -> Coords:
        if s.n.ndim != 1:
            raise DataError(
                "data: must be rows with a class each: Grouped(rows, by=...); got "
                f"{'rows without classes' if s.n.ndim == 0 else 'several axes of classes'}."
            )
        return conjugate.joined(self, s)
