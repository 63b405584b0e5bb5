"""Normal-inverse-gamma: a normal law with unknown mean and unknown variance.

=============  =================================================================================
Prior          mu | sigma2 ~ Normal(m, sigma2 / kappa),  sigma2 ~ InverseGamma(a, b)
Rows           x_i | mu, sigma2 ~ Normal(mu, sigma2)
Statistic      N, the mean of the rows and their scatter S = sum of (x_i - mean)²
Posterior      kappa_N = kappa + N,  m_N = (kappa m + N mean) / kappa_N,  a_N = a + N / 2,
               b_N = b + ½ S + ½ (kappa N / kappa_N) (mean - m)²
Log evidence   lnΓ(a_N) - lnΓ(a) + a ln b - a_N ln b_N + ½ ln(kappa / kappa_N) - N/2 ln 2pi
Predictive     x ~ Student-t(2a, m, b (kappa + 1) / (a kappa))
=============  =================================================================================

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 4.6.3.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import gammaln

from bayesmodels.belief import conditioning, conjugate, datatree, reading, values
from bayesmodels.belief.declaring import Names, declare, prior_and_statistic
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion, given_statistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import flat_members, log_normal, log_student
from bayesmodels.numerics.laws import inverse_gamma, student_t
from bayesmodels.numerics.moments import merged_means, moments
from bayesmodels.numerics.special import HALF_LOG_2PI, log_gamma_kernel, log_gamma_ratio


@value
class NormalStatistic:
    """Row count, mean and centred scatter; ``a + b`` merges disjoint rows.

    Merging is the pairwise update of Chan, Golub and LeVeque (1983): no raw sum of squares is ever
    formed, so at an offset of 1e8 deviations keep eight digits.

    Parameters
    ----------
    n : array_like of shape (batch...)
        Numbers of rows.
    mean : array_like of shape (batch...)
        Means of the rows; anything finite where there are none.
    scatter : array_like of shape (batch...)
        Sums of squared distances from the mean, not negative.
    coords : dict, optional
        Names of the batch axes with their labels.

    Examples
    --------
    >>> NormalStatistic(2, 1.0, 2.0) + NormalStatistic(1, 4.0, 0.0)
    NormalStatistic(n=3, mean=2, scatter=8)
    """

    n: Array
    mean: Array
    scatter: Array
    coords: Coords

    def __init__(
        self,
        n: ArrayLike = 0,
        mean: ArrayLike = 0,
        scatter: ArrayLike = 0,
        coords: Any = None,
    ) -> None:
        n, mean, scatter = np.broadcast_arrays(
            checked.totals(n, "n", counted=True),
            checked.parameter(mean, "mean"),
            checked.totals(scatter, "scatter"),
        )
        coords = labels.named(coords, n.shape, "coords")
        values.fill(self, n=n, mean=mean, scatter=scatter, coords=coords)

    def __add__(self, other: Self) -> Self:
        coords = conjugate.merged_coords(self, other)
        mean, shift, weight = merged_means(self.n, self.mean, other.n, other.mean)
        scatter = self.scatter + other.scatter + weight * shift**2
        return conjugate.replace(self, coords, self.n + other.n, mean, scatter)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it.

        Digits of the scatter are lost where it is small beside what is taken out.
        """
        coords = conjugate.merged_coords(self, other)
        n = checked.left_over(self.n - other.n, self.n, "n")
        mean, shift, weight = merged_means(self.n, self.mean, -other.n, other.mean)
        left = self.scatter - other.scatter + weight * shift**2
        left = np.where(n == 0, -np.abs(left), left)  # of no row nothing is left
        pull = np.abs(weight * shift) * (np.abs(self.mean) + np.abs(other.mean))
        scatter = checked.left_over(left, self.scatter + pull, "scatter")
        return conjugate.replace(self, coords, n, mean, scatter)

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def moved(self, by: Array) -> Self:
        """Return the statistic of the rows plus a number."""
        return conjugate.replace(self, self.coords, self.n, self.mean + by, self.scatter)

    def _times(self, rho: float) -> Self:
        return conjugate.replace(self, self.coords, rho * self.n, self.mean, rho * self.scatter)

    batch_axes = conjugate.batch_axes

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        squares = self.n * self.mean**2 + self.scatter
        return {
            "number of observations": float(self.n.sum()),
            "sum of squares": float(squares.sum()),
        }

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimates: the mean, and scatter / N as variance.

        Raises
        ------
        DataError
            Without rows.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(bm.NormalInverseGamma(0, 1, 1, 1).statistic([1.0, 2.0, 6.0]).mle()["mu"])
        3.0
        """
        conjugate.need_rows(self.n)
        return {"sigma2": (self.scatter / self.n)[()], "mu": self.mean[()]}


def equivalent_sample_size(self: Any) -> Array:
    """Return kappa: the number of rows that the belief about mu weighs as much as."""
    return np.asarray(self.kappa)[()]


def shrinkage(self: Any, data: Any) -> Array:
    """Return the weight of the prior mean in the posterior mean of mu: kappa / (kappa + N).

    Examples
    --------
    >>> import bayesmodels as bm
    >>> float(bm.NormalInverseGamma(0, 1, 2, 1).shrinkage([1.0, 2.0, 6.0]))
    0.25
    >>> prior = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    >>> float(prior.shrinkage([[1.0, 2.0], [2.0, 1.0], [6.0, 0.0]]))
    0.25
    """
    return np.asarray(self.kappa / (self.kappa + self.statistic(data).n))[()]


_RULES = {
    "kappa": conjugate.POSITIVE,
    "shape": conjugate.POSITIVE,
    "scale": {"positive": True, "most": checked.LARGEST_SQUARE},
}


@value
class NormalInverseGamma:
    r"""Belief about the mean and the variance of a normal law.

    .. math:: \mu \mid \sigma^2 \sim N(m, \sigma^2 / \kappa), \qquad
        p(\sigma^2) \propto (\sigma^2)^{-a-1} e^{-b/\sigma^2}

    Parameters
    ----------
    mean : array_like of shape (batch...)
        m, the expected mean.
    kappa : array_like of shape (batch...)
        Number of rows that the belief about the mean weighs as much as; positive.
    shape : array_like of shape (batch...)
        a, positive; 2a rows are what the belief about the variance weighs as much as.
    scale : array_like of shape (batch...)
        b, positive, in squared units of the rows.
    coords : dict, optional
        Names of the batch axes with their labels.

    Raises
    ------
    PriorError
        If a parameter is not finite, or kappa, shape or scale is not positive.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 4.6.3.7.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NormalInverseGamma(mean=0, kappa=1, shape=2, scale=1)
    >>> prior.update([1.0, 2.0, 6.0])
    NormalInverseGamma(mean=2.25, kappa=4, shape=3.5, scale=11.375)
    """

    location: Array
    kappa: Array
    shape: Array
    scale: Array
    coords: Coords

    statistic_type: ClassVar = NormalStatistic
    title: ClassVar = "Normal–inverse-gamma"
    words: ClassVar = {"mu": "mean", "sigma2": "variance"}
    equations: ClassVar = (
        ("Prior", r"\mu \mid \sigma^2 \sim \mathrm{Normal}(m, \sigma^2 / \kappa)"),
        ("", r"\sigma^2 \sim \mathrm{InverseGamma}(a, b)"),
        ("Likelihood", r"x_i \mid \mu, \sigma^2 \sim \mathrm{Normal}(\mu, \sigma^2)"),
        ("Posterior", r"\kappa_N = \kappa + N, \quad m_N = (\kappa m + N \bar{x}) / \kappa_N"),
        ("", r"a_N = a + \frac{N}{2}"),
        ("", r"b_N = b + \frac{1}{2} S + \frac{\kappa N}{2 \kappa_N} (\bar{x} - m)^2"),
        (
            "Evidence",
            r"\ln p(x) = \ln \frac{\Gamma(a_N)}{\Gamma(a)} + a \ln b - a_N \ln b_N",
        ),
        ("", r"\quad + \frac{1}{2} \ln \frac{\kappa}{\kappa_N} - \frac{N}{2} \ln 2\pi"),
    )

    def __init__(
        self,
        mean: ArrayLike,
        kappa: ArrayLike,
        shape: ArrayLike,
        scale: ArrayLike,
        coords: Any = None,
    ) -> None:
        conjugate.fill(self, coords, _RULES, mean=mean, kappa=kappa, shape=shape, scale=scale)

    batch_axes = conjugate.batch_axes
    dims = conjugate.dims("mu", "sigma2")

    def parameters(self) -> dict[str, Array]:
        """Return the four parameters by the symbols of `equations`, as a report shows them."""
        return {
            "mean m": self.location,
            "κ": self.kappa,
            "shape a": self.shape,
            "scale b": self.scale,
        }

    def statistic(self, data: Any) -> NormalStatistic:
        """Return row count, mean and centred scatter.

        Parameters
        ----------
        data : array_like, Series or frame of numbers, shape (n,) or (n, batch...)
            Rows; or `Grouped` rows; or a statistic, returned as is.

        Raises
        ------
        DataError
            If a value is missing or infinite.
        """
        if isinstance(data, NormalStatistic):
            return data
        d = checked.measurements(data, keep_dtype=True)
        _, mean, scatter = moments(d.x, d.batch.groups, d.batch.size, d.batch.weights)
        shape = (*d.batch.lead, *d.x.shape[1:])
        n = np.broadcast_to(d.batch.row_counts(len(d.x)), shape)
        moved = mean.reshape(shape), scatter.reshape(shape)
        axes = conjugate.rows_of(self, d.batch.coords, shape)
        return checked.build(NormalStatistic, n, *moved, axes)

    def update(self, data: Any) -> Self:
        """Return the posterior; see the table at the top of the module."""
        s = self.statistic(data)
        axes = conjugate.posterior_coords(self, s)
        location, shift, weight = merged_means(self.kappa, self.location, s.n, s.mean)
        kappa, shape = self.kappa + s.n, self.shape + s.n / 2
        scale = self.scale + 0.5 * s.scatter + 0.5 * weight * shift**2
        return checked.build(type(self), location, kappa, shape, scale, axes)

    def log_evidence(self, data: Any) -> Array:
        """Return the log density of the rows with mean and variance integrated out.

        Returns
        -------
        ndarray of shape (batch...)
            Natural logarithms; a density, so it depends on the unit of the rows.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseGamma(0, 1, 2, 1)
        >>> one_row = prior.predictive().logpdf(1.5)
        >>> bool(abs(prior.log_evidence([1.5]) - one_row) < 1e-12)
        True
        """
        s = self.statistic(data)
        after = self.update(s)
        half = 0.5 * s.n
        return (
            log_gamma_ratio(self.shape, half)
            - self.shape * (np.log(after.scale) - np.log(self.scale))
            - half * np.log(after.scale)
            - 0.5 * np.log1p(s.n / self.kappa)
            - 2 * half * HALF_LOG_2PI
        )[()]

    def predictive(self) -> Any:
        """Return the law of a new row: Student-t with 2a degrees of freedom.

        Returns
        -------
        frozen SciPy distribution
            Of location m and squared scale b (kappa + 1) / (a kappa).

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(bm.NormalInverseGamma(3, 1, 2, 1).predictive().median())
        3.0
        """
        spread = self.scale / self.shape * (1 + 1 / self.kappa)
        return student_t(2 * self.shape, loc=self.location, scale=np.sqrt(spread))

    def mean_after(self, n: int) -> dict[str, Law]:
        """Return the law of (kappa m + sum of n new rows) / (kappa + n): Student-t about m."""
        spread = self.scale / self.shape * n / (self.kappa * (self.kappa + n))
        return {"mu": student_t(2 * self.shape, loc=self.location, scale=np.sqrt(spread))}

    def plug_in(self, parameters: Draws) -> Any:
        """Return the law of a new row as if `parameters` were known: Normal(mu, sigma2).

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.NormalInverseGamma(0, 1, 2, 1)
        >>> float(prior.plug_in({"mu": 1.0, "sigma2": 4.0}).std())
        2.0
        """
        sigma2 = checked.parameter(
            parameters["sigma2"], "sigma2", positive=True, most=checked.LARGEST_SQUARE
        )
        return stats.norm(loc=checked.parameter(parameters["mu"], "mu"), scale=np.sqrt(sigma2))

    def read(self, rows: Any) -> Array:
        """Return rows as checked values, the form in which predictions take them."""
        return checked.measurements(rows).x

    def log_predictive(self, x: Array) -> Array:
        """Return the log density of new rows under each member of the leading batch axis.

        Parameters
        ----------
        x : ndarray of shape (n, batch...), without the leading batch axis
            Rows; NaN is missing, and its factor is dropped.

        Returns
        -------
        ndarray of shape (n, members)
            Student-t log densities, added up over all other axes.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> groups = bm.NormalInverseGamma([0.0, 5.0], 1, 2, 1)
        >>> groups.log_predictive(np.array([5.0])).argmax(-1)
        array([1])
        """
        spread = np.sqrt(self.scale / self.shape * (1 + 1 / self.kappa))
        inner = x.ndim - 1
        location, scale, df = (
            flat_members(part, inner) for part in (self.location, spread, 2 * self.shape)
        )
        return log_student(x.reshape(len(x), prod(x.shape[1:])), location, scale, df)

    def log_plug_in(self, parameters: Draws, x: Array) -> Array:
        """Return normal log densities with `parameters` as if known, of shape (..., n, members)."""
        mu, sigma2 = (flat_members(parameters[name], x.ndim - 1) for name in ("mu", "sigma2"))
        if not (sigma2 > 0).all():
            low = np.argwhere(~(np.asarray(parameters["sigma2"]) > 0))[0].tolist()
            name = reading.label(self, "sigma2", tuple(low[len(low) - len(self.coords) :]))
            raise DataError(
                f"{name}: must be positive for a density; got a variance of 0, as the maximum-"
                "likelihood estimate of equal rows is. Integrate over the belief instead."
            )
        return log_normal(x.reshape(len(x), prod(x.shape[1:])), mu, sigma2)

    def statistic_of_cells(self, x: Array) -> NormalStatistic:
        """Return the statistic of each single cell, NaN being missing."""
        here = ~np.isnan(x)
        parts = here.astype(float), np.where(here, x, 0.0), np.zeros(x.shape)
        return checked.build(NormalStatistic, *parts, {})

    def weighted_statistic(self, x: Array, weights: Array, coords: Coords) -> NormalStatistic:
        """Return the statistic of rows (n, inner...) by their weights (batch..., n)."""
        s = self.statistic_of_cells(x)
        n, centre = np.tensordot(weights, s.n, 1), conjugate.ratio(s.mean.sum(0), s.n.sum(0), 0.0)
        near = s.n * (s.mean - centre)
        shift = conjugate.ratio(np.tensordot(weights, near, 1), n, 0.0)
        scatter = np.empty(shift.shape)
        for at in np.ndindex(x.shape[1:]):
            gap = near[(slice(None), *at)] - shift[(..., *at, None)]
            np.square(gap, out=gap)
            if not s.n.all():
                gap *= s.n[(slice(None), *at)]
            scatter[(..., *at)] = np.einsum("...n,...n->...", weights, gap)
        return checked.build(NormalStatistic, n, centre + shift, scatter, coords)

    least_pseudo_count: ClassVar = np.inf

    def maximum(self, s: NormalStatistic, *, prior: bool) -> dict[str, Array]:
        """Return where the likelihood (times the `prior`'s density) is largest.

        Without rows the likelihood's variance is 0.
        """
        if prior:
            return self.update(s).mode()
        return {"mu": s.mean, "sigma2": conjugate.ratio(s.scatter, s.n, 0.0)}

    def marginals(self) -> dict[str, Law]:
        """Return the Student-t law of mu and the inverse-gamma law of sigma2."""
        spread = np.sqrt(self.scale / (self.shape * self.kappa))
        return {
            "mu": student_t(2 * self.shape, loc=self.location, scale=spread),
            "sigma2": inverse_gamma(self.shape, scale=self.scale),
        }

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return the joint mode (MAP): mu = m and sigma2 = b / (a + 3/2)."""
        return {"sigma2": self.scale / (self.shape + 1.5), "mu": self.location[()]}

    equivalent_sample_size = equivalent_sample_size
    shrinkage = shrinkage

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of mu and sigma2, of the shape of ``draws["mu"]``."""
        mu, (sigma2, outside) = checked.drawn(draws, "mu"), checked.positive(draws, "sigma2")
        gap = mu - self.location
        inside = (
            log_gamma_kernel(self.scale / sigma2, self.shape)
            - 0.5 * self.kappa * gap**2 / sigma2
            - 1.5 * np.log(sigma2)
            + 0.5 * np.log(self.kappa)
            - HALF_LOG_2PI
        )
        return np.where(outside, -np.inf, inside)[()]

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`, from its summands' sizes.

        The location is a weighted average, off by a few units of its own size; so is the scale,
        whose error the normaliser magnifies by the shape.
        """
        mu, sigma2 = checked.drawn(draws, "mu"), checked.drawn(draws, "sigma2")
        gap = np.abs(mu - self.location)
        magnitude = np.abs(self.location) + np.abs(mu)
        size = (
            (self.scale + self.kappa * gap * (gap + magnitude)) / sigma2
            + np.abs((self.shape + 1.5) * np.log(sigma2))
            + self.shape * (1 + np.abs(np.log(self.scale)))
            + np.abs(gammaln(self.shape))
            + np.abs(np.log(self.kappa))
        )
        return 16 * np.finfo(float).eps * (1 + size)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws of sigma2 and mu, each of shape (draws, batch...)."""
        draws, rng = checked.asked(draws, rng)
        shape = (draws, *self.kappa.shape)
        sigma2 = self.scale / rng.standard_gamma(self.shape, shape)
        mu = self.location + np.sqrt(sigma2 / self.kappa) * rng.standard_normal(shape)
        return {"sigma2": sigma2, "mu": mu}

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log density of each row given mu and sigma2, of shape (..., n, batch...)."""
        d = checked.measurements(data)
        mu, sigma = _law_of_rows(draws, d.batch)
        return {"x": -0.5 * ((d.x - mu) / sigma) ** 2 - np.log(sigma) - HALF_LOG_2PI}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows, of shape (..., n, batch...)."""
        rng = checked.randomness(rng)
        d = checked.measurements(data)
        mu, sigma = _law_of_rows(draws, d.batch)
        shape = np.broadcast_shapes(mu.shape, d.x.shape)
        return {"x": mu + sigma * rng.standard_normal(shape)}

    def observed(self, data: Any) -> Observed:
        """Return the rows under the name ``"x"``, with the labels of their axes."""
        d = checked.measurements(data)
        batch = labels.completed(d.batch.axes, d.x.shape[1:])
        return {"x": (d.x, {"row": tuple(d.batch.rows), **batch})}

    @staticmethod
    def declared_terms(s: NormalStatistic, variables: Mapping[str, Any]) -> Any:
        """Return the log likelihood of a statistic, elementwise, by PyMC's variables."""
        from pymc import math

        mu, sigma2 = variables["mu"], variables["sigma2"]
        square = s.scatter + s.n * (s.mean - mu) ** 2
        return -0.5 * square / sigma2 - s.n * (0.5 * math.log(sigma2) + HALF_LOG_2PI)

    leave_rows_out = case_deletion.of_numbers
    given_statistic = given_statistic.of_numbers
    digits_lost = conditioning.none_lost

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        import pymc as pm
        from pymc import math

        prior, s = prior_and_statistic(self, data, likelihood)
        axes = names.labelled(prior.coords)
        sigma2 = pm.InverseGamma(names("sigma2"), prior.shape, prior.scale, dims=axes)
        sigma = math.sqrt(sigma2)
        mu = pm.Normal(names("mu"), prior.location, sigma=sigma / np.sqrt(prior.kappa), dims=axes)
        if likelihood == "statistic":
            terms = self.declared_terms(s, {"mu": mu, "sigma2": sigma2})
            pm.Potential(names("likelihood"), terms.sum())
            return
        ((x, rows),) = self.observed(data).values()
        batch = checked.measurements(data).batch
        at = batch.of_rows(mu), batch.of_rows(sigma)
        pm.Normal(names("x"), mu=at[0], sigma=at[1], observed=x, dims=names.labelled(rows))


def _law_of_rows(draws: Draws, batch: checked.Batch) -> tuple[Array, Array]:
    """Give mu and the standard deviation the row axis of the data."""
    return batch.by_row(checked.drawn(draws, "mu")), np.sqrt(
        batch.by_row(checked.drawn(draws, "sigma2"))
    )
