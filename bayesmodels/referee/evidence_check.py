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
from bayesmodels.referee.diagnosis import diagnose
from bayesmodels.referee.identity import check_identity
from bayesmodels.referee.one_step import log_chain, no_chain
from bayesmodels.referee.verdict import TOLERANCE, Outcome, advice, check_limits, compare

if TYPE_CHECKING:
    import pymc as pm

MOST_STEPS = 100
"""One-step predictions: with more, they would take longer than a tenth of all else."""
ENOUGH, FEW = 250, 60
"""Draws a chain that bridge sampling is given; its error is small beside 0.1, which matters."""

_NUMBERS = 1_000_000  # observed ones times draws, beyond which draws are as few as may be
EVIDENCE, DRAWS = "the evidence", "the draws"
"""What may be to blame."""

_LARGEST = 0.1  # standard error that is known well itself: about 100 effective draws
_ROUNDING = 1e-9  # part of a sum of log densities; the suite finds 5e-12 at an offset of 1e6


@dataclass(frozen=True)
class EvidenceCheck:
    """What three ways to the evidence say.

    Attributes
    ----------
    outcome : {"agree", "disagree", "inconclusive"}
        Whether the ways agree.
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
        Probability of ``disagree`` if nothing is wrong.
    to_blame : tuple of str
        Of ``disagree``, what is wrong: ``"the evidence"``; or, where the chain is the closed form,
        ``"the draws"`` or a term of the PyMC model, as in `diagnose`.
    """

    outcome: Outcome
    log_evidence: float
    chain: float | None
    estimate: EvidenceEstimate
    bound: float
    findings: tuple[str, ...]
    level: float
    to_blame: tuple[str, ...] = ()

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
        if self.to_blame not in ((), (EVIDENCE,)):
            lead = "The evidence is right, but not what it was compared with: "
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
        Probability of ``disagree`` if nothing is wrong.
    tolerance : float, default 0.1
        To agree, the estimate and the closed form must be so near at 95 % confidence: 0.1 is a
        Bayes factor that is off by a tenth.
    rng : numpy.random.Generator or int, optional
        Source of randomness.

    Returns
    -------
    EvidenceCheck
        ``inconclusive`` where the estimate can't tell: nothing is significant but its error is too
        large for `tolerance`, or the error is above 0.1 and not known well itself. Where the chain
        is the closed form and only the estimate is another, ``disagree`` names what is to blame:
        draws that are not of this posterior, or PyMC's joint density.

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
    declared = model.declare(data)
    estimate = estimated(declared, model, draws, rng)
    gap, error = estimate.log_evidence - stated, estimate.error
    bound = abs(gap) + float(stats.norm.ppf(CONFIDENCE)) * error
    # Where the error is not known well, neither is a difference in units of it.
    known = error <= _LARGEST
    off = not abs(gap) <= rounding
    significant = off and (error == 0 or 2 * stats.t.sf(abs(gap / error), estimate.freedom) < level)
    said: list[str] = []
    confirmed = chain is not None and abs(chain - stated) <= rounding
    if chain is not None and not confirmed:
        said.append(
            f"the closed form says {stated:.9g}, its one-step predictive densities {chain:.9g}; "
            f"one is wrong by {abs(chain - stated):.2g}."
        )
    if known and significant:
        said.append(_of_estimate(stated, estimate))
    agrees = not said and known and bound <= tolerance
    outcome: Outcome = "agree" if agrees else "disagree" if said else "inconclusive"
    to_blame: tuple[str, ...] = (EVIDENCE,) if said else ()
    if agrees:
        said.append(_of_agreement(stated, chain, estimate, bound))
    elif confirmed:
        wrong, why = _other_to_blame(model, data, declared, draws, level)
        if said or wrong:  # without a term of PyMC's, what is left are the draws
            outcome, to_blame = "disagree", wrong or (DRAWS,)
            said = [_of_others(stated, estimate, why, draws=to_blame == (DRAWS,))]
    if outcome == "inconclusive":
        times = max(2.0, (2 * stats.norm.ppf(CONFIDENCE) * error / min(tolerance, _LARGEST)) ** 2)
        said.append(
            f"PyMC's joint density and draws give {estimate.log_evidence:.6g}, of which the closed "
            f"form, {stated:.6g}, may be {bound:.2g} off, and {tolerance:g} is allowed. "
            f"{advice(times)}"
        )
    found = (*said, *notes)
    return EvidenceCheck(outcome, stated, chain, estimate, bound, found, level, to_blame)


def _other_to_blame(
    model: Any, data: Any, declared: pm.Model, draws: Any, level: float
) -> tuple[tuple[str, ...], str]:
    """Return what is wrong beside an evidence that its chain confirms, and why; if it is anything.

    PyMC's joint density, if the identity fails; else the draws, if they are not of the posterior.
    """
    posterior, stated = model.update(data), float(np.sum(model.log_evidence(data)))
    identity = check_identity(declared, posterior, model, stated, rng=0)
    if not identity.holds:
        found = diagnose(declared, model, data, identity=identity, rng=0)
        return found.terms or ("the PyMC model",), found.sentence()
    if draws is None:
        return (), ""
    rows = data if isinstance(model, LatentClasses) else None
    verdict = compare(posterior, draws, level=level, rows=rows)
    if verdict.outcome != "disagree":
        return (), ""
    return (DRAWS,), verdict.findings[0]


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
    return (
        f"the closed form, {stated:.6g}, is {abs(gap):.2g} too {'low' if gap > 0 else 'high'} for "
        f"PyMC's joint density, which integrates to {estimate.log_evidence:.6g}"
        f"{_size(stated, estimate)}."
    )


def _of_others(stated: float, estimate: EvidenceEstimate, why: str, *, draws: bool) -> str:
    other = f"{estimate.log_evidence:.6g}{_size(stated, estimate)}"
    whose = (
        f"and PyMC's joint density is that of this model, but the draws, by which it integrates to "
        f"{other}, are not of this posterior"
        if draws
        else f"but PyMC's joint density, which integrates to {other}, is not that of this model"
    )
    end = f": {why}" if why else "."
    return (
        f"the closed form, {stated:.6g}, is the sum of its one-step log predictive densities, "
        f"{whose}{end}"
    )


def _size(stated: float, estimate: EvidenceEstimate) -> str:
    gap = abs(estimate.log_evidence - stated)
    return f" ({gap / estimate.error:.1f} standard errors off)" if estimate.error else ""


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
