"""The ladder of posteriors: a closed form, or else an integral; below them a sampler draws."""

from __future__ import annotations

import time

import numpy as np
import pymc as pm

from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.budget import SECONDS
from bayesmodels.posteriors.exact import exact
from bayesmodels.posteriors.integrate import integrate
from bayesmodels.posteriors.integrated import IntegratedPosterior
from bayesmodels.posteriors.posterior import ExactPosterior

INSTEAD = (
    "compare the draws of two samplers, bm.compare(draws, other_draws); or check by simulation "
    "whether a sampler draws from the model's posteriors, bm.calibrate(model)"
)
"""What can be done without the posterior."""


def solved(
    model: pm.Model, rng: np.random.Generator, seconds: float = 2 * SECONDS
) -> tuple[ExactPosterior | IntegratedPosterior, str]:
    """Return a PyMC model's posterior without a sampler, and why it has no closed form, if so.

    Parameters
    ----------
    model : pymc.Model
        Any model.
    rng : numpy.random.Generator
        Source of randomness.
    seconds : float
        How long all may compute; a closed form may be looked for in half of it.

    Raises
    ------
    NotConjugate
        If it has no closed form and can't be integrated; `reason` says why, for either.
    DataError
        If it is no PyMC model, or has no free variable.
    """
    begun = time.thread_time()
    try:
        return exact(model, seconds=seconds / 2, rng=rng), ""
    except NotConjugate as error:
        no = error
    left = seconds - (time.thread_time() - begun)
    try:
        # It looks for a conjugate block before it integrates, and either may take as long.
        return integrate(model, seconds=max(left, seconds / 4) / 2, rng=rng), no.reason
    except NotConjugate as error:
        reason = f"{no.reason} It can't be integrated either: {error.reason}"
        hint = f"{no.hint}; {INSTEAD}" if no.hint else INSTEAD
        raise NotConjugate(reason, hint) from error
