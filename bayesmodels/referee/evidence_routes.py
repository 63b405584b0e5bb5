"""The evidence by ways that share no formula with its closed form, as cheap as a report needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import LatentClasses, Product
from bayesmodels.belief.rows import readable
from bayesmodels.errors import DataError, PriorError
from bayesmodels.referee.bridge import EvidenceEstimate, draws_needed
from bayesmodels.referee.evidence_check import estimated
from bayesmodels.referee.one_step import log_chain, no_chain

if TYPE_CHECKING:
    import pymc as pm

    from bayesmodels.belief.protocol import Belief

MOST_STEPS = 100
"""One-step predictions: with more, they would take longer than a tenth of all else."""
ENOUGH, FEW = 250, 60
"""Draws a chain that bridge sampling is given; its error is small beside 0.1, which matters."""

_NUMBERS = 1_000_000  # observed ones times draws, beyond which draws are as few as may be


@dataclass(frozen=True)
class OtherEvidence:
    """What other ways to the evidence say.

    Attributes
    ----------
    chain : float or None
        Sum of one-step log predictive densities.
    estimate : EvidenceEstimate or None
        By bridge sampling from draws; over finite variables an exact sum.
    notes : tuple of str
        Why one of them is not there.
    """

    chain: float | None
    estimate: EvidenceEstimate | None
    notes: tuple[str, ...]


def other_evidence(
    prior: Belief, data: Any, declared: pm.Model, draws: Any, rng: np.random.Generator
) -> OtherEvidence | None:
    """Add up one-step predictions if rows are few, and sample a bridge from some of the draws.

    Parameters
    ----------
    prior : Belief
        The prior.
    data : rows or statistic
        As in the model's `statistic`.
    declared : pymc.Model
        The same in PyMC.
    draws : xarray.DataTree
        Draws of the posterior.
    rng : numpy.random.Generator
        Source of draws of the other end of the bridge.

    Returns
    -------
    OtherEvidence or None
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
