r"""How much a posterior depends on its prior, in closed form.

Prior or likelihood are raised to a power alpha near 1, and every scalar's posterior law compared
with what it was, by the cumulative Jensen-Shannon distance of the distribution functions P and Q,

.. math:: d^2 = \frac{\int P \log_2 \frac{2 P}{P + Q} + Q \log_2 \frac{2 Q}{P + Q} \, dx}
    {\int P + Q \, dx},

or of the functions 1 - P and 1 - Q if that is larger. The sensitivity is the average over both
powers of :math:`d / |\log_2 \alpha|`.

The density of an exponential family, raised to a power alpha, is of the same family, its natural
parameters multiplied by alpha. That of the likelihood is an update with weighted rows, and that of
the prior the power of another such update,

.. math:: p(\theta)^\alpha p(x \mid \theta)
    = \left[ p(\theta) \, p(x \mid \theta)^{1 / \alpha} \right]^\alpha,

in which a prior that has no power, or is improper itself, never stands alone: only what is asked
for must be proper.

A distance does not say which way, or how far in units that one knows. So the shift of the median is
told beside it, in posterior standard deviations for each doubling of alpha.

ArviZ's `psense` estimates the same from draws, weighted by importance. It integrates over the range
of its draws, for over an unbounded line the denominator has no finite value. Here the range goes
from the median of the least of so many draws to that of the largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy.special import expit, logit, ndtr, xlog1py

from bayesmodels.belief.protocol import Belief, ExponentialFamily, Law
from bayesmodels.belief.reading import places
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import count
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd


Component = Literal["prior", "likelihood"]

ALPHAS = (0.99, 1.01)
"""Powers, those of ArviZ."""
THRESHOLD = 0.05
"""A sensitivity above it is worth a look; ArviZ's as well. A normal law has it that shifts by 0.23
standard deviations when alpha doubles."""
SHIFT = 0.5
"""Standard deviations that the prior must shift a posterior by to be in conflict with the data."""
CONFLICT, STRONG = "potential prior-data conflict", "potential strong prior / weak likelihood"

_POINTS = 64  # of a Gauss-Legendre rule: eight digits, as a test shows
_ONE_SIGMA = ndtr([-1.0, 1.0])  # between which a normal law has two standard deviations
_LOST = 1e-6  # what a distribution function may be off at its own quantile
_SMALL = 1e-3  # relative differences that a series is taken for


def prior_sensitivity(prior: Belief, data: Any, *, draws: int = 4000) -> pd.DataFrame:
    r"""Return how much every scalar's posterior law depends on prior and likelihood.

    Each is raised to the powers 0.99 and 1.01, and the posteriors that follow, exact as well, are
    compared with the posterior: :math:`d(p, p_\alpha) / |\log_2 \alpha|`, averaged over both, with
    the cumulative Jensen-Shannon distance d. It is what `arviz.psense_summary` estimates from draws
    by importance sampling; the columns are named as there.

    Parameters
    ----------
    prior : Belief
        The prior, improper ones included.
    data : rows or statistic
        As in the model's `statistic`.
    draws : int, default 4000
        The distance is taken over the range that so many draws can be expected to have, as ArviZ
        takes it over its draws.

    Returns
    -------
    pandas.DataFrame
        One row a scalar. ``prior`` and ``likelihood`` are the sensitivities; ``shift`` is how many
        posterior standard deviations the median moves for each doubling of the prior's power.
        ``diagnosis`` is ``"potential prior-data conflict"`` if neither sensitivity is below 0.05
        and the shift is 0.5 or more in size, ``"potential strong prior / weak likelihood"`` if only
        the prior's sensitivity is above 0.05, else ``"✓"``; empty under an improper prior, whose
        power says nothing of what it knows.

    Raises
    ------
    DataError
        If powers of the prior are of another family: of a mixture, of finite hypotheses, or without
        a closed form.
    PriorError
        If the posterior, or one with a power of the prior, is improper or too narrow for floats.

    See Also
    --------
    bayesmodels.exact_draws : trees of draws that ArviZ's `psense_summary` takes.

    References
    ----------
    Kallioinen, Paananen, Bürkner and Vehtari (2024), *Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling*, Statistics and Computing 34, 57.

    Examples
    --------
    A prior that is sure of a fair coin, and 20 throws of another one:

    >>> import bayesmodels as bm
    >>> rows = bm.BinomialCounts(18, 20)
    >>> bm.prior_sensitivity(bm.BetaBernoulli(30, 30), rows).round(2)
           prior  likelihood  shift                      diagnosis
    theta   0.23        0.23  -0.93  potential prior-data conflict
    >>> bm.prior_sensitivity(bm.BetaBernoulli(1, 1), rows).round(2)
           prior  likelihood  shift diagnosis
    theta    0.0        0.18    0.0         ✓
    """
    import pandas as pd

    number = count(draws, "draws", 2)
    _require_powers(prior)
    statistic = prior.statistic(data)
    posterior = prior.update(statistic)
    laws = posterior.marginals()
    shapes = {
        name: tuple(len(posterior.coords[axis]) for axis in axes)
        for name, axes in posterior.dims.items()
    }
    index = [label for name in laws for label, _ in places(posterior, name, shapes[name])]
    scaled = {
        (component, alpha): _scaled(prior, statistic, component, alpha)
        for component in get_args(Component)
        for alpha in ALPHAS
    }
    ranges = {name: _Range(name, law, number) for name, law in laws.items()}
    table = pd.DataFrame(index=index)
    for component in get_args(Component):
        found: dict[str, Any] = dict.fromkeys(laws, 0.0)
        for alpha in ALPHAS:
            for name, law in scaled[component, alpha].items():
                change = ranges[name].distance(law) / abs(np.log2(alpha))
                found[name] = found[name] + change / len(ALPHAS)
        table[component] = np.concatenate([np.ravel(x) for x in found.values()])
    shifts = [ranges[n].shift(*(scaled["prior", a][n] for a in ALPHAS)) for n in laws]
    table["shift"] = np.concatenate([np.ravel(x) for x in shifts])
    table["diagnosis"] = list(diagnoses(table)) if _proper(prior, statistic) else ""
    return table


def posterior_of(prior: Any, statistic: Any, component: Component, alpha: float) -> Any:
    """Return the posterior in which prior or likelihood is raised to a power between 0 and 2."""
    if component == "likelihood":
        return prior.update(_times(statistic, alpha))
    return prior.update(_times(statistic, 1 / alpha)).power(alpha)


def _times(statistic: Any, weight: float) -> Any:
    """Return the statistic of the same rows, each with a weight below 2."""
    if weight <= 1:
        return statistic.discounted(weight)
    return statistic + statistic.discounted(weight - 1)


def _require_powers(prior: Any) -> None:
    if not isinstance(prior, ExponentialFamily):
        raise DataError(
            f"prior: no power of a {type(prior).__name__} is one again in closed form (it has no "
            "method power). ArviZ's psense estimates how much depends on it from draws."
        )


def _proper(prior: Belief, statistic: Any) -> bool:
    try:
        prior.log_evidence(statistic)
    except PriorError:
        return False
    return True


def _scaled(prior: Belief, statistic: Any, component: Component, alpha: float) -> dict[str, Law]:
    try:
        laws: dict[str, Law] = posterior_of(prior, statistic, component, alpha).marginals()
    except PriorError as error:
        raise PriorError(
            f"prior: with its {component} to the power {alpha:g} the posterior is improper, so "
            f"that it depends on the {component} without bound. Add rows, or give a prior that is "
            f"less extreme. ({error})"
        ) from None
    return laws


def diagnoses(table: pd.DataFrame) -> Iterator[str]:
    """Yield ArviZ's words for sensitivities and shifts."""
    for own, other, shift in zip(table["prior"], table["likelihood"], table["shift"], strict=True):
        if own >= THRESHOLD and other >= THRESHOLD and abs(shift) >= SHIFT:
            yield CONFLICT
        elif own > THRESHOLD > other:
            yield STRONG
        else:
            yield "✓"


class _Range:
    """The laws of a variable on the range of so many draws, as points of a quadrature rule.

    Points are placed by log odds of the distribution function, in which laws with long tails, and
    those with infinite densities at an end, are as smooth as others.
    """

    def __init__(self, name: str, law: Law, draws: int) -> None:
        low, high = (np.asarray(law.ppf(q), dtype=float) for q in _ONE_SIGMA)
        self.sd = (high - low) / 2  # there is one, though the law's variance may be infinite
        end = float(logit(0.5 ** (1 / draws)))  # half of all such sets have no larger draw
        at, weights = np.polynomial.legendre.leggauss(_POINTS)
        at, weights = (x.reshape(-1, *[1] * np.ndim(law.ppf(0.5))) for x in (at, weights))
        level = expit(end * at)
        with np.errstate(all="ignore"):  # looked at below
            self.points = np.asarray(law.ppf(level), dtype=float)
            # In logs, for a density may be infinite at its end: dx is then nothing.
            slope = np.log(level) + np.log1p(-level) - law.logpdf(self.points)
            self.below = np.asarray(law.cdf(self.points), dtype=float)
            self.width = end * weights * np.exp(slope)
        if not (np.abs(self.below - level) < _LOST).all() or not np.isfinite(self.width).all():
            raise PriorError(
                f"{name}: its posterior law is too narrow, or too near to an end of its range, for "
                "distances to be taken in double precision. Add rows, shift the data, or give a "
                "prior that is less extreme."
            )

    def shift(self, lower: Law, upper: Law) -> Array:
        """Return how far medians under the two powers are apart, for each doubling."""
        after, before = (np.asarray(law.ppf(0.5), dtype=float) for law in (upper, lower))
        return np.asarray((after - before) / self.sd / np.ptp(np.log2(ALPHAS)))

    def distance(self, law: Law) -> Array:
        """Return the cumulative Jensen-Shannon distance from another law."""
        below = np.asarray(law.cdf(self.points), dtype=float)
        change = below - self.below
        middle = 0.5 * (below + self.below)
        squares = [
            (self.width * m * _divergence(0.5 * change / m)).sum(0) / (2 * self.width * m).sum(0)
            for m in (middle, 1 - middle)
        ]
        return np.sqrt(np.maximum(*squares))


def _divergence(r: Array) -> Array:
    """Return (1 + r) log2(1 + r) + (1 - r) log2(1 - r)."""
    small = np.abs(r) < _SMALL  # where the two would cancel
    full = xlog1py(1 + r, r) + xlog1py(1 - r, -r)
    return np.where(small, r**2 * (1 + r**2 / 6), full) / np.log(2)
