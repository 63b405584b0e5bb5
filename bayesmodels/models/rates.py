"""Beliefs about rates: the verbs of a Gamma(shape, rate) prior, whatever tells of the rate.

The functions here become methods of such beliefs. A prior is as many events in as long an exposure
as an `EventStatistic` counts, which is added to it. A belief says by `_rows` what was read of rows,
their `events` and `exposure` among it, by `_log_row` their predictive log densities at given
parameters, and by `_observe` what a PyMC model observes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bayesmodels.belief import conjugate, reading, values
from bayesmodels.belief.declaring import Names, prior_and_statistic
from bayesmodels.belief.leave_one_out import RowsLeftOut
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.data import Batch
from bayesmodels.input.labels import Coords
from bayesmodels.models.case_deletion import LEAST_LEFT, all_there
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import by_class, flat_members, laws
from bayesmodels.numerics.laws import gamma, log_negative_binomial, log_poisson
from bayesmodels.numerics.moments import sums
from bayesmodels.numerics.special import log_gamma_kernel


@value
class EventStatistic:
    r"""Numbers of events, and the exposures they were seen in; ``a + b`` merges disjoint rows.

    Parameters
    ----------
    events, exposure : array_like of shape (batch...), default 0
        Sums over the rows, not negative.
    log_given_total : array_like of shape (batch...), default 0
        Log density of the rows given these totals, which no rate changes; of counts it is
        multinomial, with the shares :math:`e_i / E` of the exposure. By default that of one count.
    coords : dict, optional
        Names of the batch axes with their labels.

    Examples
    --------
    >>> EventStatistic(3, 1.5) + EventStatistic(8, 2)
    EventStatistic(events=11, exposure=3.5)
    """

    events: Array
    exposure: Array
    log_given_total: Array = field(repr=False)
    coords: Coords

    def __init__(
        self,
        events: ArrayLike = 0,
        exposure: ArrayLike = 0,
        log_given_total: ArrayLike = 0,
        coords: Any = None,
    ) -> None:
        events, exposure, logs = np.broadcast_arrays(
            checked.totals(events, "events"),
            checked.totals(exposure, "exposure"),
            checked.parameter(log_given_total, "log_given_total"),
        )
        if ((events > 0) & (exposure == 0)).any():
            raise DataError(
                "exposure: must be positive where there are events; got 0. Leave it at 1 a row."
            )
        named = labels.named(coords, events.shape, "coords")
        values.fill(self, events=events, exposure=exposure, log_given_total=logs, coords=named)

    def __add__(self, other: Self) -> Self:
        coords = conjugate.merged_coords(self, other)
        events, exposure = self.events + other.events, self.exposure + other.exposure
        conditional = self.log_given_total + other.log_given_total
        conditional = conditional + _log_split(self, other, events, exposure)
        return conjugate.replace(self, coords, events, exposure, conditional)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        coords = conjugate.merged_coords(self, other)
        events = checked.left_over(self.events - other.events, self.events, "events")
        exposure = checked.left_over(self.exposure - other.exposure, self.exposure, "exposure")
        left = conjugate.replace(self, coords, events, exposure, np.zeros(events.shape))
        conditional = self.log_given_total - other.log_given_total
        conditional = conditional - _log_split(left, other, self.events, self.exposure)
        return conjugate.replace(self, coords, events, exposure, conditional)

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def _times(self, rho: float) -> Self:
        events = rho * self.events
        conditional = rho * (self.log_given_total + log_poisson(self.events, self.events))
        conditional = conditional - log_poisson(events, events)
        return conjugate.replace(self, self.coords, events, rho * self.exposure, conditional)

    batch_axes = conjugate.batch_axes

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimate N / E.

        Raises
        ------
        DataError
            Without rows.

        Examples
        --------
        >>> EventStatistic(6, 2).mle()["lam"]
        np.float64(3.0)
        """
        conjugate.need_rows(self.exposure)
        return {"lam": self.events / self.exposure}

    @property
    def log_base(self) -> Array:
        """Log base measure, which no rate changes: of counts the sum of x_i ln e_i - ln x_i!."""
        positive = np.where(self.exposure > 0, self.exposure, 1.0)
        return self.log_given_total + xlogy(self.events, positive) - gammaln(self.events + 1)

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        pooled = {
            "number of events": self.events,
            "log base measure": self.log_base,
            "total exposure": self.exposure,  # of waiting times their sum
        }
        return {name: float(np.sum(x)) for name, x in pooled.items()}


def _log_split(one: Any, other: Any, events: Array, exposure: Array) -> Array:
    """Return the binomial log mass of the events in either part of the exposure, given all."""
    rate = np.divide(events, exposure, out=np.zeros(np.shape(events)), where=exposure > 0)
    parts = sum(log_poisson(s.events, rate * s.exposure) for s in (one, other))
    return np.asarray(parts - log_poisson(events, events))


_LARGE = 1e5  # events in a cell

RULES = {"shape": conjugate.POSITIVE, "rate": conjugate.POSITIVE}


def parameters(self: Any) -> dict[str, Array]:
    """Return shape and rate by the symbols of `equations`, as a report shows them."""
    return {"shape a": self.shape, "rate b": self.rate}


def update(self: Any, data: Any) -> Any:
    """Return the posterior Gamma(a + N, b + E): events and exposures are added up.

    Parameters
    ----------
    data : rows or statistic
        As in `statistic`.
    """
    s = self.statistic(data)
    axes = conjugate.posterior_coords(self, s)
    return checked.build(type(self), self.shape + s.events, self.rate + s.exposure, axes)


def of_rows(
    belief: Any, events: Array, exposure: Array, base: Array, batch: Batch
) -> EventStatistic:
    """Return the statistic of rows with events, exposures and log base measures.

    `base` is what a log base measure has beyond that of Poisson counts, 0 for these.
    """
    shape, groups = (*batch.lead, *events.shape[1:]), (batch.groups, batch.size)
    n, E = (sums(x, *groups, batch.weights) for x in (events, exposure))
    ratio = np.divide(n, E, out=np.zeros(n.shape), where=E > 0)
    mean_rate = ratio[0] if batch.groups is None else ratio[batch.groups]
    conditional = sums(log_poisson(events, mean_rate * exposure) + base, *groups, batch.weights)
    numbers = (x.reshape(shape) for x in (n, E, conditional - log_poisson(n, n)))
    axes = conjugate.rows_of(belief, batch.coords, shape)
    return checked.build(EventStatistic, *numbers, axes)


def of_totals(totals: Iterable[Array], coords: Coords) -> EventStatistic:
    """Return the statistic of summed events, exposures and log base measures."""
    events, exposure, base = totals
    positive = np.where(exposure > 0, exposure, 1.0)
    conditional = base - xlogy(events, positive) + gammaln(events + 1)
    return checked.build(EventStatistic, events, exposure, conditional, coords)


def log_evidence(self: Any, data: Any) -> Array:
    """Return the log density of the rows with the rate integrated out, of shape (batch...).

    That of all events in the whole exposure, times that of the rows given these totals: so it
    keeps its digits at any counts.
    """
    s = self.statistic(data)
    conjugate.joined(self, s)
    positive = np.where(s.exposure > 0, s.exposure, 1.0)
    logs = log_negative_binomial(s.events, self.shape, self.rate, positive)
    return (np.where(s.exposure > 0, logs, 0.0) + s.log_given_total)[()]


def marginals(self: Any) -> dict[str, Law]:
    """Return the Gamma law of lam."""
    return {"lam": gamma(self.shape, scale=1 / self.rate)}


def mode(self: Any) -> dict[str, Array]:
    """Return (a - 1) / b, the maximum a posteriori (MAP) estimate.

    Raises
    ------
    ModeError
        Unless the shape exceeds 1: the density is largest at 0.
    """
    if (self.shape <= 1).any():
        at = tuple(np.argwhere(self.shape <= 1)[0].tolist())
        raise ModeError(
            f"{reading.label(self, 'lam', at)}: has no interior mode, since shape = "
            f"{self.shape[at]:g} must exceed 1; the density is largest at 0. Use mean() instead."
        )
    return {"lam": (self.shape - 1) / self.rate}


def equivalent_sample_size(self: Any) -> Array:
    """Return b: the exposure that the belief weighs as much as."""
    return np.asarray(self.rate)[()]


def log_density(self: Any, draws: Draws) -> Array:
    """Return the Gamma log density at ``draws["lam"]`` of shape (..., batch...)."""
    lam, outside = checked.positive(draws, "lam")
    inside = log_gamma_kernel(self.rate * lam, self.shape) - np.log(lam)
    return np.where(outside, -np.inf, inside)[()]


def log_density_rounding(self: Any, draws: Draws) -> Array:
    """Return a bound on the rounding error of `log_density`, from its summands' sizes."""
    lam = checked.drawn(draws, "lam")
    z = self.rate * lam
    size = z + self.shape * (1 + np.abs(np.log(z))) + np.abs(np.log(lam))
    return np.asarray(8 * np.finfo(float).eps * (1 + size + np.abs(gammaln(self.shape))))


def sample(self: Any, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
    """Return `draws` independent draws of lam, of shape (draws, batch...)."""
    draws, rng = checked.asked(draws, rng)
    return {"lam": rng.standard_gamma(self.shape, (draws, *self.shape.shape)) / self.rate}


def observed(self: Any, data: Any) -> Observed:
    """Return the rows under the name ``"x"``, with the labels of their axes."""
    d = self._rows(data)
    batch = labels.completed(d.batch.axes, d.x.shape[1:])
    return {"x": (d.x, {"row": tuple(d.batch.rows), **batch})}


def leave_rows_out(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log predictive densities of rows, each by the others."""
    d = self._rows(data)
    s, by_row = statistic, d.batch.by_row
    each = zip((self.shape, self.rate), (s.events, s.exposure), (d.events, d.exposure), strict=True)
    shape, rate = (by_row(prior) + np.maximum(by_row(total) - row, 0) for prior, total, row in each)
    lost = rate < LEAST_LEFT * (rate + d.exposure)
    return all_there(np.asarray(self._log_row(d, shape, rate)), d.batch, lost=lost)


def statistic_of_cells(self: Any, x: Array) -> EventStatistic:
    """Return the statistic of each single cell; NaN is missing, no event in no exposure."""
    return of_totals(self._cell_totals(x), {})


def weighted_statistic(self: Any, x: Array, weights: Array, coords: Coords) -> EventStatistic:
    """Return the statistic of rows (n, inner...) by their weights (batch..., n)."""
    return of_totals((np.tensordot(weights, part, 1) for part in self._cell_totals(x)), coords)


def log_plug_in(self: Any, parameters: Draws, x: Array) -> Array:
    """Return the same with `parameters` as if known; (..., n, members)."""
    lam = flat_members(parameters["lam"], x.ndim - 1)
    events, exposure, base = self._cell_totals(x.reshape(len(x), prod(x.shape[1:])))
    flat = laws(lam)
    if events.max(initial=0.0) > _LARGE:  # where x ln lam - lam would lose digits
        each = [log_poisson(events, exposure * one).sum(-1) for one in flat]
        return by_class(np.reshape(each, (len(flat), len(x))), lam.shape[:-1])
    logs = np.log(np.where(flat > 0, flat, 1.0))
    result = logs @ events.T - flat @ exposure.T + base.sum(-1)
    if not flat.all():  # no event has a rate of 0
        result[(flat == 0).astype(float) @ (events > 0).T > 0] = -np.inf
    return by_class(result, lam.shape[:-1])


def least_pseudo_count(self: Any) -> float:
    """Return what must be at least 1 for the density to have a bound."""
    return float(self.shape.min())


def maximum(self: Any, s: EventStatistic, *, prior: bool) -> dict[str, Array]:
    """Return where the likelihood (times the `prior`'s density) is largest, the border included.

    Where there is neither, the mean.
    """
    events, exposure = s.events + prior * (self.shape - 1), s.exposure + prior * self.rate
    return {"lam": conjugate.ratio(np.maximum(events, 0.0), exposure, self.shape / self.rate)}


def members(self: Any, x: Array) -> tuple[Array, Array]:
    """Return shape and rate with axes for rows (n, members, features) of new rows."""
    shape, rate = (flat_members(part, x.ndim - 1) for part in (self.shape, self.rate))
    return shape, rate


def of_cells(x: Array, log_mass: Any) -> Array:
    """Return log densities of rows (..., n, members), added up over the cells that are there."""
    rows = x.reshape(len(x), prod(x.shape[1:]))[:, None, :]
    gone = np.isnan(rows)
    return np.where(gone, 0.0, log_mass(np.where(gone, 1.0, rows))).sum(-1)


def declared_terms(s: EventStatistic, variables: Mapping[str, Any]) -> Any:
    """Return the log likelihood of a statistic, elementwise, by PyMC's variables."""
    from pymc import math

    lam = variables["lam"]
    return s.events * math.log(lam) - s.exposure * lam + s.log_base


def add_to_model(self: Any, data: Any, likelihood: Likelihood, names: Names) -> None:
    """Write prior and likelihood into the current PyMC model; see `declare`."""
    import pymc as pm

    prior, s = prior_and_statistic(self, data, likelihood)
    axes = names.labelled(prior.coords)
    lam = pm.Gamma(names("lam"), alpha=prior.shape, beta=prior.rate, dims=axes)
    if likelihood == "statistic":
        pm.Potential(names("likelihood"), declared_terms(s, {"lam": lam}).sum())
        return
    ((_, rows),) = self.observed(data).values()
    d = self._rows(data)
    self._observe(names("x"), d, d.batch.of_rows(lam), names.labelled(rows))
