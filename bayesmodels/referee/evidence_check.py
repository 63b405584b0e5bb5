"""Is the evidence right? Its closed form against two others that share no formula with it.

One is the chain of one-step predictive densities (`one_step`), which is exact up to rounding; the
other is estimated from PyMC's joint density and draws of PyMC's sampler (`bridge`), with an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import Belief, Conjugate, LatentClasses, Product
from bayesmodels.belief.reading import configurations, levels
from bayesmodels.belief.rows import readable
from bayesmodels.draws import exact_draws, mcmc_draws
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import randomness
from bayesmodels.referee.bounds import CONFIDENCE
from bayesmodels.referee.bridge import EvidenceEstimate, bridge_sampling, draws_needed
from bayesmodels.referee.one_step import log_chain, no_chain
from bayesmodels.referee.verdict import TOLERANCE, Outcome, advice, check_limits

if TYPE_CHECKING:
    import pymc as pm

MOST_STEPS = 100
"""One-step predictions: with more, they would take longer than a tenth of all else."""
ENOUGH, FEW = 250, 60
"""Draws a chain that bridge sampling is given; its error is small beside 0.1, which matters."""

_NUMBERS = 1_000_000  # observed ones times draws, beyond which draws are as few as may be
_LARGEST = 0.1  # standard error that is known well itself: about 100 effective draws
_ROUNDING = 1e-9  # part of a sum of log densities; the suite finds 5e-12 at an offset of 1e6


@dataclass(frozen=True)
class EvidenceCheck:
    """What three ways to the evidence say.

    Attributes
    ----------
    outcome : {"agree", "disagree", "inconclusive"}
        The decision.
    log_evidence : float
        The closed form.
    chain : float or None
        Sum of one-step log predictive densities; None if the data have no next row.
    estimate : EvidenceEstimate
        From the PyMC model.
    bound : float
        How far the closed form may be from what is estimated, at 95 % confidence.
    findings : tuple of str
        What was found, the gravest first, and why there is no chain.
    level : float
        Probability of ``disagree`` for a right evidence.
    """

    outcome: Outcome
    log_evidence: float
    chain: float | None
    estimate: EvidenceEstimate
    bound: float
    findings: tuple[str, ...]
    level: float

    @property
    def z(self) -> float:
        """Difference of estimate and closed form in standard errors; 0 where it is exact."""
        gap = self.estimate.log_evidence - self.log_evidence
        return gap / self.estimate.error if self.estimate.error else 0.0

    def sentence(self) -> str:
        """Say the finding in one sentence."""
        lead = {
            "agree": "The evidence agrees: ",
            "disagree": "The evidence is not right: ",
            "inconclusive": "No verdict on the evidence: ",
        }[self.outcome]
        return lead + self.findings[0]

    def __repr__(self) -> str:
        return f"EvidenceCheck({self.outcome!r}: {self.sentence()})"


def check_evidence(
    model: Belief,
    data: Any,
    *,
    draws: Any = None,
    level: float = 0.01,
    tolerance: float = TOLERANCE,
    rng: np.random.Generator | int | None = None,
) -> EvidenceCheck:
    r"""Compare the closed form of the log evidence with a chain of predictions and with PyMC.

    .. math:: \ln p(x_1, \dots, x_n) = \sum_i \ln p(x_i \mid x_1, \dots, x_{i-1})
        = \ln \int p(x, \theta) \, d\theta

    The middle is summed over the rows, by the predictive law of a belief that is updated one row at
    a time. The integral on the right is estimated by `bridge_sampling` from draws of the declared
    model; over a nominal variable it is a sum, and exact.

    Parameters
    ----------
    model : Belief
        The prior; it must be proper.
    data : rows or statistic
        As in the model's `statistic`. A statistic and weighted rows have no next row, hence no
        chain.
    draws : xarray.DataTree or mapping, optional
        Draws of the posterior with the axes (chain, draw, ...). If not given, `mcmc_draws` makes
        them; for a mixture `exact_draws` does, since chains keep to one order of the classes.
    level : float, default 0.01
        Probability of ``disagree`` for a right evidence.
    tolerance : float, default 0.1
        To agree, the estimate and the closed form must be so near at 95 % confidence: 0.1 is a
        Bayes factor that is off by a tenth.
    rng : numpy.random.Generator or int, optional
        Source of randomness.

    Returns
    -------
    EvidenceCheck
        ``inconclusive`` where the estimate can't tell: nothing is significant but its error is too
        large for `tolerance`, or the error is above 0.1 and not known well itself.

    Raises
    ------
    DataError
        If the model's evidence has no closed form, or `level` or `tolerance` is out of range.
    PriorError
        If the prior is improper: its evidence has an arbitrary factor.

    See Also
    --------
    bayesmodels.bridge_sampling : the estimate alone, of any PyMC model.

    References
    ----------
    The chain: Dawid (1984), *Statistical theory: the prequential approach*, section 5.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> coin, rows, rng = bm.BetaBernoulli(2, 2), [1, 0, 0, 1, 0, 0], np.random.default_rng(1)
    >>> found = check_evidence(coin, rows, draws=bm.exact_draws(coin, rows, rng=rng), rng=rng)
    >>> found.outcome, abs(found.log_evidence - found.chain) < 1e-12
    ('agree', True)
    """
    check_limits(level, tolerance)
    if not isinstance(model, Conjugate):
        raise DataError(
            f"model: the evidence of {type(model).__name__} has no closed form to check; "
            "bridge_sampling(model.declare(data), draws) estimates it."
        )
    rng = randomness(rng)
    stated = float(np.sum(model.log_evidence(data)))
    notes = [f"there is no chain: {why}."] if (why := no_chain(model, data)) else []
    chain, size = (None, 0.0) if notes else log_chain(model, data)
    rounding = _ROUNDING * max(1.0, abs(stated), size)
    if draws is None and not levels(model):
        sampler = exact_draws if isinstance(model, LatentClasses) else mcmc_draws
        draws = sampler(model, data, rng=rng)
    estimate = estimated(model.declare(data), model, draws, rng)
    gap, error = estimate.log_evidence - stated, estimate.error
    bound = abs(gap) + float(stats.norm.ppf(CONFIDENCE)) * error
    # Where the error is not known well, neither is a difference in units of it.
    known = error <= _LARGEST
    off = not abs(gap) <= rounding
    significant = off and (error == 0 or 2 * stats.t.sf(abs(gap / error), estimate.freedom) < level)
    said: list[str] = []
    if chain is not None and not abs(chain - stated) <= rounding:
        said.append(
            f"the closed form says {stated:.9g}, its one-step predictive densities {chain:.9g}; "
            f"one is wrong by {abs(chain - stated):.2g}."
        )
    if known and significant:
        said.append(_of_estimate(stated, estimate))
    outcome: Outcome = "disagree"
    if not said and known and bound <= tolerance:
        outcome = "agree"
        said.append(_of_agreement(stated, chain, estimate, bound))
    elif not said:
        outcome = "inconclusive"
        times = max(2.0, (2 * stats.norm.ppf(CONFIDENCE) * error / min(tolerance, _LARGEST)) ** 2)
        said.append(
            f"PyMC's joint density and draws give {estimate.log_evidence:.6g}, of which the closed "
            f"form, {stated:.6g}, may be {bound:.2g} off, and {tolerance:g} is allowed. "
            f"{advice(times)}"
        )
    return EvidenceCheck(outcome, stated, chain, estimate, bound, (*said, *notes), level)


def estimated(
    declared: pm.Model, model: Belief, draws: Any, rng: np.random.Generator
) -> EvidenceEstimate:
    """Return the log evidence by bridge sampling, or by a sum over all values of names."""
    if not levels(model):
        return bridge_sampling(declared, draws, rng=rng)
    from bayesmodels.posteriors.density import JointDensity

    joint = JointDensity(declared)
    total = float(logsumexp([joint.value(point)[0] for point in configurations(model)]))
    return EvidenceEstimate(total, 0.0, np.inf, np.inf)


def _of_estimate(stated: float, estimate: EvidenceEstimate) -> str:
    gap = estimate.log_evidence - stated
    size = f" ({abs(gap / estimate.error):.1f} standard errors)" if estimate.error else ""
    return (
        f"the closed form, {stated:.6g}, is {abs(gap):.2g} too {'low' if gap > 0 else 'high'} for "
        f"PyMC's joint density, which integrates to {estimate.log_evidence:.6g}{size}."
    )


def _of_agreement(
    stated: float, chain: float | None, estimate: EvidenceEstimate, bound: float
) -> str:
    sums = "" if chain is None else " is the sum of its one-step log predictive densities, and"
    near = (
        f"is within {bound:.2g} of what PyMC's joint density integrates to ({100 * CONFIDENCE:.0f} "
        f"% confidence; standard error {estimate.error:.2g})"
        if estimate.error
        else "is what PyMC's joint density adds up to"
    )
    return f"the closed form, {stated:.6g},{sums} {near}."


# --- as cheap as a report needs it ----------------------------------------------------------------


@dataclass(frozen=True)
class OtherEvidence:
    """What other ways to the evidence say, and why one of them is not there.

    `chain` is the sum of one-step log predictive densities; `estimate` is by bridge sampling from
    draws, or over finite variables an exact sum.
    """

    chain: float | None
    estimate: EvidenceEstimate | None
    notes: tuple[str, ...]


def other_evidence(
    prior: Belief, data: Any, declared: pm.Model, draws: Any, rng: np.random.Generator
) -> OtherEvidence | None:
    """Add up one-step predictions if rows are few, and sample a bridge from some of the draws.

    None under an improper prior, which has no evidence.
    """
    try:
        prior.log_evidence(data)
    except PriorError:
        return None
    chain, why = None, no_chain(prior, data)
    if not why:
        known: Any = prior.update(prior.statistic(data).without_rows())  # of all groups
        parts = len(known.parts()) if isinstance(known, Product) else 1
        steps = number_of_rows(readable(known, data)) * parts
        if steps > MOST_STEPS or isinstance(prior, LatentClasses):  # whose steps add up terms
            why = "of so many rows, or of a mixture, it takes long; check_evidence does it"
    if not why:
        chain, _ = log_chain(prior, data)
    notes = [f"There is no chain of predictions: {why}."] if why else []
    estimate = None
    try:
        size = sum(declared.rvs_to_values[rv].data.size for rv in declared.observed_RVs)
        estimate = estimated(declared, prior, thinned(draws["posterior"], size), rng)
    except DataError as error:
        notes.append(f"There is no estimate by bridge sampling: {error}")
    return OtherEvidence(chain, estimate, tuple(notes))


def thinned(draws: Any, observed: int) -> dict[str, Any]:
    """Return every so many draws, the fewer the more numbers are observed."""
    numbers = {str(name): np.asarray(x) for name, x in draws.data_vars.items()}
    chains, length = next(iter(numbers.values())).shape[:2]
    width = sum(int(np.prod(x.shape[2:])) for x in numbers.values())
    enough = min(ENOUGH, max(FEW, _NUMBERS // (chains * max(1, observed))))
    step = max(1, length // max(enough, draws_needed(chains, width)))
    return {name: x[:, ::step] for name, x in numbers.items()}
