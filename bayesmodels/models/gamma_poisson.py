"""Gamma-Poisson: the rate at which events happen, seen in numbers of events and their exposures.

=============  =================================================================================
Prior          lam ~ Gamma(a, b), of density proportional to lam^(a - 1) exp(-b lam)
Rows           x_i | lam ~ Poisson(lam e_i), with exposures e_i (1 if not given)
Statistic      N = sum of the events, E = sum of the exposures
Posterior      Gamma(a + N, b + E)
Log evidence   lnΓ(a + N) - lnΓ(a) + a ln b - (a + N) ln(b + E) + sum of [x_i ln e_i - ln x_i!]
Predictive     x in the exposure e ~ NegativeBinomial(a, b / (b + e))
=============  =================================================================================

Gelman et al., *Bayesian Data Analysis*, 3rd ed. (2013), section 2.6.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayesmodels.belief import conditioning, conjugate, datatree, reading
from bayesmodels.belief.declaring import declare
from bayesmodels.belief.protocol import Draws, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.models import given_statistic, rates
from bayesmodels.models.rates import EventStatistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import Stepped, log_poisson, negative_binomial
from bayesmodels.numerics.token_counts import log_factorials

MOST_EVENTS = 9e18  # expected ones: NumPy draws whole numbers of 64 bits


@value
class GammaPoisson:
    r"""Belief about the rate of events, such as calls an hour or cases a person-year.

    .. math:: p(\lambda) \propto \lambda^{a - 1} e^{-b \lambda}

    The variable is called ``lam``, as PyMC calls rates (``pm.Exponential("t", lam=...)``), since
    ``rate`` is the prior's own parameter and ``lambda`` a word of Python's.

    Parameters
    ----------
    shape : array_like of shape (batch...)
        a, positive: pseudo-events.
    rate : array_like of shape (batch...)
        b, positive: the exposure in which they were seen.
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
    >>> posterior = bm.GammaPoisson(3, 5).update(bm.Counts([3], exposure=[2]))
    >>> posterior
    GammaPoisson(shape=6, rate=7)
    >>> posterior.predictive(exposure=2).mean().round(3)
    np.float64(1.714)
    >>> bm.GammaPoisson(1, 1).log_evidence([0]).round(6)  # as predicted: 1/2
    np.float64(-0.693147)
    """

    shape: Array
    rate: Array
    coords: Coords

    statistic_type: ClassVar = EventStatistic
    title: ClassVar = "Gamma–Poisson"
    words: ClassVar = {"lam": "rate"}
    equations: ClassVar = (
        ("Prior", r"\lambda \sim \mathrm{Gamma}(a, b)"),
        ("Likelihood", r"x_i \mid \lambda \sim \mathrm{Poisson}(\lambda e_i)"),
        ("Posterior", r"\lambda \mid x \sim \mathrm{Gamma}(a + N, b + E)"),
        ("Evidence", r"\ln p(x) = \ln \frac{\Gamma(a + N)}{\Gamma(a)} + a \ln b"),
        ("", r"\quad - (a + N) \ln (b + E) + \sum_i [x_i \ln e_i - \ln x_i!]"),
    )

    def __init__(self, shape: ArrayLike, rate: ArrayLike, coords: Any = None) -> None:
        conjugate.fill(self, coords, rates.RULES, shape=shape, rate=rate)

    batch_axes = conjugate.batch_axes
    dims = conjugate.dims("lam")
    parameters = rates.parameters
    _rows = staticmethod(checked.exposed)

    def statistic(self, data: Any) -> EventStatistic:
        """Add up events and exposures.

        Parameters
        ----------
        data : array_like, Series or frame of whole numbers, shape (n,) or (n, batch...)
            Rows; or `Counts` with exposures; or `Grouped` or `Weighted` ones; or a statistic.

        Raises
        ------
        DataError
            If a value is missing, negative or not whole, or an exposure is not positive.
        """
        if isinstance(data, EventStatistic):
            return data
        d = checked.exposed(data)
        return rates.of_rows(self, d.x, d.exposure, np.zeros(d.x.shape), d.batch)

    update = rates.update
    log_evidence = rates.log_evidence

    def predictive(self, exposure: ArrayLike = 1) -> Any:
        """Return the law of the number of events in a new exposure: negative binomial.

        Parameters
        ----------
        exposure : array_like, default 1
            e, positive.

        Returns
        -------
        frozen SciPy distribution
            With ``pmf``, ``cdf``, ``mean``, ``var``, ``rvs``; its mean is e a / b.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.GammaPoisson(1, 1).predictive().pmf([0, 1, 2])
        array([0.5  , 0.25 , 0.125])
        """
        new = checked.parameter(exposure, "exposure", positive=True)
        return negative_binomial(self.shape, self.rate, new)

    def mean_after(self, n: int) -> dict[str, Any]:
        """Return the law of (a + k) / (b + n), k events being in n rows of exposure 1."""
        total = self.rate + n
        return {"lam": Stepped(self.predictive(n), self.shape / total, 1 / total)}

    def counted(self, events: ArrayLike, n: int) -> EventStatistic:
        """Return the statistic of numbers of events in n rows of exposure 1 each."""
        return EventStatistic(events, np.full(np.shape(events), float(n)))

    def plug_in(self, parameters: Draws, exposure: ArrayLike = 1) -> Any:
        """Return the law of new events as if `parameters` were known: Poisson(lam e)."""
        new = checked.parameter(exposure, "exposure", positive=True)
        return stats.poisson(np.asarray(parameters["lam"]) * new)

    def read(self, rows: Any) -> Array:
        """Return rows as checked values, the form in which predictions take them."""
        return checked.exposed(rows).x

    def log_predictive(self, x: Array) -> Array:
        """Return the log mass of new rows under each member of the leading batch axis.

        Parameters
        ----------
        x : ndarray of shape (n, batch...), without the leading batch axis
            Rows of exposure 1; NaN is missing, and its factor is dropped.

        Returns
        -------
        ndarray of shape (n, members)
            Added up over all other axes.
        """
        law = negative_binomial(*rates.members(self, x), 1.0)
        return rates.of_cells(x, law.logpmf)

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
        """Return the log mass of each row given lam, of shape (..., n, batch...)."""
        d = checked.exposed(data)
        return {"x": log_poisson(d.x, d.batch.by_row(checked.drawn(draws, "lam")) * d.exposure)}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new numbers of events in the same exposures, of shape (..., n, batch...)."""
        d = checked.exposed(data)
        mean = d.batch.by_row(checked.drawn(draws, "lam")) * d.exposure
        if (most := mean.max(initial=0.0)) > MOST_EVENTS:
            raise DataError(
                f"draws: new numbers of events are drawn up to {MOST_EVENTS:.0e} of them, but lam "
                f"times the exposure is {most:.1e}. Use a prior of such rates as can be."
            )
        return {"x": checked.randomness(rng).poisson(mean).astype(float)}

    observed = rates.observed
    leave_rows_out = rates.leave_rows_out
    given_statistic = given_statistic.of_counts
    digits_lost = conditioning.none_lost

    @staticmethod
    def _cell_totals(x: Array) -> tuple[Array, Array, Array]:
        """Return events, exposures and log base measures of cells, of which NaN is missing."""
        here = ~np.isnan(x)
        events = np.where(here, x, 0.0)
        return events, here.astype(float), -log_factorials(events)

    @staticmethod
    def _log_row(d: checked.Exposed, shape: Array, rate: Array) -> Array:
        return np.asarray(negative_binomial(shape, rate, d.exposure).logpmf(d.x))

    declare = declare

    add_to_model = rates.add_to_model

    @staticmethod
    def _observe(name: str, d: checked.Exposed, lam: Any, dims: tuple[str, ...]) -> None:
        import pymc as pm

        pm.Poisson(name, mu=lam * d.exposure, observed=d.x.astype(int), dims=dims)
