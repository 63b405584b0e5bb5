"""Gamma-exponential: the rate at which waiting ends, also of waiting times that were cut short.

=============  =================================================================================
Prior          lam ~ Gamma(a, b), of density proportional to lam^(a - 1) exp(-b lam)
Rows           t_i | lam ~ Exponential(lam), or only t_i > c_i (right-censored)
Statistic      N = number of times that ended, E = sum of all times
Posterior      Gamma(a + N, b + E)
Log evidence   lnΓ(a + N) - lnΓ(a) + a ln b - (a + N) ln(b + E)
Predictive     t ~ Lomax(a, b), of density a b^a / (b + t)^(a + 1)
=============  =================================================================================

Gelman et al., *Bayesian Data Analysis*, 3rd ed. (2013), section 2.6.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayesmodels.belief import conditioning, conjugate, datatree, reading, simulation
from bayesmodels.belief.declaring import declare
from bayesmodels.belief.protocol import Draws, Law, Rows
from bayesmodels.belief.values import value
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.models import given_statistic, rates
from bayesmodels.models.rates import EventStatistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import beta, lomax


@value
class GammaExponential:
    r"""Belief about the rate at which waiting ends; its inverse is the mean waiting time.

    .. math:: p(\lambda) \propto \lambda^{a - 1} e^{-b \lambda}

    The variable is called ``lam``, as in PyMC's ``pm.Exponential("t", lam=...)``.

    Parameters
    ----------
    shape : array_like of shape (batch...)
        a, positive: pseudo-events.
    rate : array_like of shape (batch...)
        b, positive: the time in which they were seen.
    coords : dict, optional
        Names of the batch axes with their labels.

    Raises
    ------
    PriorError
        If a parameter is not positive and finite.

    References
    ----------
    Gelman et al. (2013), *Bayesian Data Analysis*, 3rd ed., section 2.6.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> posterior = bm.GammaExponential(1, 2).update(bm.Censored([6, 7, 10], observed=[1, 1, 0]))
    >>> posterior
    GammaExponential(shape=3, rate=25)
    >>> posterior.predictive().sf(10).round(4)  # of the chance to wait longer than 10
    np.float64(0.3644)
    """

    shape: Array
    rate: Array
    coords: Coords

    statistic_type: ClassVar = EventStatistic
    title: ClassVar = "Gamma–exponential"
    words: ClassVar = {"lam": "rate"}
    equations: ClassVar = (
        ("Prior", r"\lambda \sim \mathrm{Gamma}(a, b)"),
        ("Likelihood", r"t_i \mid \lambda \sim \mathrm{Exponential}(\lambda)"),
        ("Posterior", r"\lambda \mid t \sim \mathrm{Gamma}(a + N, b + E)"),
        ("Evidence", r"\ln p(t) = \ln \frac{\Gamma(a + N)}{\Gamma(a)} + a \ln b"),
        ("", r"\quad - (a + N) \ln (b + E)"),
    )

    def __init__(self, shape: ArrayLike, rate: ArrayLike, coords: Any = None) -> None:
        conjugate.fill(self, coords, rates.RULES, shape=shape, rate=rate)

    batch_axes = conjugate.batch_axes
    dims = conjugate.dims("lam")
    parameters = rates.parameters
    _rows = staticmethod(checked.waited)

    def statistic(self, data: Any) -> EventStatistic:
        """Count the times that ended, and add up all times.

        Parameters
        ----------
        data : array_like, Series or frame of positive numbers, shape (n,) or (n, batch...)
            Rows; or `Censored` ones, of which some were cut short; or `Grouped` or `Weighted` ones;
            or a statistic.

        Raises
        ------
        DataError
            If a value is missing or not positive.
        """
        if isinstance(data, EventStatistic):
            return data
        d = checked.waited(data)
        return rates.of_rows(self, d.events, d.exposure, -d.events * np.log(d.x), d.batch)

    update = rates.update
    log_evidence = rates.log_evidence

    def predictive(self) -> Any:
        """Return the law of a new waiting time: Lomax.

        Returns
        -------
        frozen SciPy distribution
            With ``pdf``, ``cdf``, ``sf``, ``mean``, ``rvs``; its mean is b / (a - 1) where a
            exceeds 1.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.GammaExponential(3, 4).predictive().mean()
        np.float64(2.0)
        """
        return lomax(self.shape, scale=self.rate)

    def mean_after(self, n: int) -> dict[str, Law]:
        """Return the law of (a + n) / (b + T), n waiting times being T: b / (b + T) is a Beta."""
        return {"lam": beta(self.shape, n, scale=(self.shape + n) / self.rate)}

    def plug_in(self, parameters: Draws) -> Any:
        """Return the law of a new waiting time as if `parameters` were known: Exponential(lam)."""
        return stats.expon(scale=1 / np.asarray(parameters["lam"]))

    def read(self, rows: Any) -> Array:
        """Return rows as checked values, the form in which predictions take them."""
        return checked.waited(rows).x

    def log_predictive(self, x: Array) -> Array:
        """Return the log density of new rows under each member of the leading batch axis.

        Parameters
        ----------
        x : ndarray of shape (n, batch...), without the leading batch axis
            Times that ended; NaN is missing, and its factor is dropped.

        Returns
        -------
        ndarray of shape (n, members)
            Added up over all other axes.
        """
        shape, rate = rates.members(self, x)
        return rates.of_cells(x, lambda rows: _log_lomax(1.0, rows, shape, rate))

    statistic_of_cells = rates.statistic_of_cells
    weighted_statistic = rates.weighted_statistic
    log_plug_in = rates.log_plug_in
    least_pseudo_count = property(rates.least_pseudo_count)
    maximum = rates.maximum
    declared_terms = staticmethod(rates.declared_terms)

    marginals = rates.marginals
    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    mode = rates.mode
    equivalent_sample_size = rates.equivalent_sample_size
    log_density = rates.log_density
    log_density_rounding = rates.log_density_rounding
    sample = rates.sample

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log density of each row given lam, of shape (..., n, batch...)."""
        d = checked.waited(data)
        lam = d.batch.by_row(checked.drawn(draws, "lam"))
        return {"x": d.events * np.log(lam) - d.exposure * lam}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new times, of shape (..., n, batch...); cut short where those of `data` were."""
        d = checked.waited(data)
        lam = d.batch.by_row(checked.drawn(draws, "lam"))
        shape = np.broadcast_shapes(lam.shape, d.x.shape)
        new = checked.randomness(rng).standard_exponential(shape) / lam
        return {"x": np.minimum(new, np.where(d.events > 0, np.inf, d.x))}

    def simulated(
        self, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
    ) -> simulation.Simulated:
        """Draw new times; what was cut short may end before it would be now."""
        (new,) = self.replicate(parameters, design, rng).values()
        d = checked.waited(design)
        ended = (d.events > 0) | (new[0] < d.x)
        return simulation.of_data(self, simulation.replaced(self, design, new[0], ended))

    observed = rates.observed
    leave_rows_out = rates.leave_rows_out
    given_statistic = given_statistic.of_waits
    digits_lost = conditioning.none_lost

    @staticmethod
    def _cell_totals(x: Array) -> tuple[Array, Array, Array]:
        """Return events, exposures and log base measures of cells, of which NaN is missing."""
        here = ~np.isnan(x)
        return here.astype(float), np.where(here, x, 0.0), np.zeros(x.shape)

    @staticmethod
    def _log_row(d: checked.Exposed, shape: Array, rate: Array) -> Array:
        return _log_lomax(d.events, d.x, shape, rate)

    declare = declare
    add_to_model = rates.add_to_model

    @staticmethod
    def _observe(name: str, d: checked.Exposed, lam: Any, dims: tuple[str, ...]) -> None:
        import pymc as pm

        lam = lam * np.ones(d.x.shape)
        if (d.events > 0).all():
            pm.Exponential(name, lam=lam, observed=d.x, dims=dims)
            return
        upper = np.where(d.events > 0, np.inf, d.x)
        uncensored = pm.Exponential.dist(lam=lam)
        pm.Censored(name, uncensored, lower=None, upper=upper, observed=d.x, dims=dims)


def _log_lomax(events: Any, x: Array, shape: Array, rate: Array) -> Array:
    """Return the Lomax log density of times that ended, the log survival of censored ones."""
    ended = np.log(shape) - np.log(rate + x)
    return np.asarray(events * ended - shape * np.log1p(x / rate))
