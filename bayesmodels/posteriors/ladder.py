"""The ladder of posteriors: a closed form, or else an integral; below them a sampler draws.

Of the data at hand, and of data that change while all that was compiled stays.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pymc as pm

from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.numerics.lattice_integral import Integral
from bayesmodels.numerics.product import Product
from bayesmodels.numerics.weights import Weighted
from bayesmodels.posteriors.budget import SECONDS, UNLIMITED, NotInTime
from bayesmodels.posteriors.compiled_sampler import draws_of, for_nutpie
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.density import frozen
from bayesmodels.posteriors.edges import edges
from bayesmodels.posteriors.exact import Search, exact
from bayesmodels.posteriors.few_bits import FewBits
from bayesmodels.posteriors.independent import AGAIN
from bayesmodels.posteriors.integrate import block, integrands, integrate, settled
from bayesmodels.posteriors.integrated import IntegratedPosterior
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.new_data import NewData, Values
from bayesmodels.posteriors.partial import PartialPosterior, partial_posterior
from bayesmodels.posteriors.posterior import ExactPosterior
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.verify import Imprecise, verify
from bayesmodels.posteriors.zero_sum import elements

INSTEAD = (
    "compare the draws of two samplers, bm.compare(draws, other_draws); or check by simulation "
    "whether a sampler draws from the model's posteriors, bm.calibrate(model)"
)
"""What can be done without the posterior."""

Rung = Literal["exact", "partial", "integrated", "mcmc"]
_LOOKS = (1, 1, 0)  # points at which a law is verified that is of a kind that is known
_NEAR = 1e-4  # what a log evidence may be off by where draws are wanted
_CHAINS = 5  # tried, where one gets caught
_NOR = " It can't be integrated either: "


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
        How long a search may compute, and an integral: half of it each.

    Raises
    ------
    NotConjugate
        If it has no closed form and can't be integrated; `reason` says why, for either. If it is
        `NotInTime`, a faster machine may find one: the next best is then not looked for.
    DataError
        If it is no PyMC model, or has no free variable.
    """
    if getattr(model, "free_RVs", None) == []:
        raise DataError("model: must have a free variable; it has none.")
    no: list[NotConjugate] = []
    posterior: ExactPosterior | IntegratedPosterior | None
    posterior = _tried(lambda: exact(model, seconds=seconds / 2, rng=rng), no)
    if posterior is None:
        posterior = _tried(lambda: integrate(model, seconds=seconds / 2, rng=rng), no)
    if posterior is None:
        hint = f"{no[0].hint}; {INSTEAD}" if no[0].hint else INSTEAD
        raise NotConjugate(_NOR.join(error.reason for error in no), hint) from no[1]
    return posterior, no[0].reason if no else ""


def _tried[Found](find: Callable[[], Found], no: list[NotConjugate]) -> Found | None:
    """Return what is found, or None and why not; time or bits that are out end it all."""
    try:
        return find()
    except (NotInTime, FewBits):
        raise
    except NotConjugate as error:
        no.append(error)
        return None


Draw = Callable[[int, np.random.Generator], Values]


@dataclass(frozen=True, eq=False)
class Posterior:
    """How to draw from the posterior of the data that are held.

    `given` returns, for these data, a function of a number and a Generator; its draws are
    `independent`, or of one chain.
    """

    independent: bool
    given: Callable[[np.random.Generator], Draw]


def posterior(data: NewData, rung: Rung, rng: np.random.Generator) -> Posterior:
    """Return what draws from the posterior, by one of the ways there are."""
    if rung == "exact":
        return Posterior(independent=True, given=_exact(data))
    if rung == "integrated":
        return Posterior(independent=False, given=_integrated(data, rng))
    part = None
    if rung == "partial":
        part = partial_posterior(Conditionals(data.model, UNLIMITED), rng)
    return Posterior(independent=False, given=_sampled(data, part))


def _exact(data: NewData) -> Callable[[np.random.Generator], Draw]:
    search = Search(data.model)

    def given(rng: np.random.Generator) -> Draw:
        solution = search.proposed(rng, AGAIN)
        with suppress(Imprecise):  # for the model's own data it was equal, and nothing differs
            verify(solution, search.audit, rng, _LOOKS)
        return lambda number, rng: elements(
            search.zero_sums, search.field.variables(*solution.sample(number, rng))
        )

    return given


def _integrated(data: NewData, rng: np.random.Generator) -> Callable[[np.random.Generator], Draw]:
    """Integrate; data for which the integral does not settle are left to a sampler."""
    jobs = integrands(block(data.model, SECONDS, rng), rng)
    part = next(job.part for job in reversed(jobs) if not job.white)
    sampled = cache(lambda: _sampled(data, part))

    def given(rng: np.random.Generator) -> Draw:
        try:
            job, result = settled(jobs, _NEAR, SECONDS, rng, moments=False)
        except NotInTime:
            raise
        except NotConjugate:
            if jobs[0].density.finite:
                raise
            return sampled()(rng)
        model = data.model
        return IntegratedPosterior(model, model, job.density, result, job.part, _NEAR, 0.0).sample

    return given


def _sampled(data: NewData, part: PartialPosterior | None) -> Callable[[np.random.Generator], Draw]:
    sampler = for_nutpie(part.model if part else data.model)

    def given(_: np.random.Generator) -> Draw:
        held = data.held(sampler)

        def draw(number: int, rng: np.random.Generator) -> Values:
            for left in reversed(range(_CHAINS)):
                result = draws_of(held, number, int(rng.integers(2**31)))
                if part is None:
                    break
                rest = {name: result[name] for name in part.remaining}
                try:
                    return rest | part.draw(rest, rng)
                except DataError:  # of a chain caught at a scale so small that no digits are left
                    if not left:
                        raise
            return result

        return draw

    return given


def best_rung(model: pm.Model, asked: str | None, rng: np.random.Generator) -> Rung:
    """Return the first way to the posterior that there is, or say why not that which is asked for.

    These are the closed form, one in part, an integral, and a sampler.
    """
    try:
        return _best_rung(model, asked, rng)
    except FewBits as error:
        raise DataError(f"model: {error}") from error
    except NotInTime as error:  # on a faster machine it may be another: it must be chosen
        raise DataError(
            f"method: {error.reason} Choose a method that needs no search, such as method='mcmc'."
        ) from error


def _best_rung(model: pm.Model, asked: str | None, rng: np.random.Generator) -> Rung:
    counts = [rv.name for rv in model.free_RVs if rv.dtype[0] in "iub"]
    part = None
    no: list[NotConjugate] = []
    if asked in (None, "exact") and _tried(lambda: _for_any_data(model, rng), no) is not None:
        return "exact"
    if asked in (None, "partial", "integrated"):
        part = _tried(lambda: exact(model, partial=True, rng=rng), no)
        if part and asked != "integrated" and not set(counts) & set(part.remaining):
            return "partial"
    del no[1:]
    if asked in (None, "integrated") and _tried(lambda: _near(model, part, rng), no) is not None:
        return "integrated"
    reason = _NOR.join(error.reason for error in no)
    if counts:
        raise DataError(
            f"model: {listed(counts)} must be continuous to be sampled, or there must be a closed "
            f"form without. {reason} Add up over whole numbers by hand (pm.Mixture)."
        )
    if asked in ("exact", "partial", "integrated"):
        raise DataError(f"method: {asked!r} does not work here: {reason}")
    return "mcmc"


def _for_any_data(model: pm.Model, rng: np.random.Generator) -> ExactPosterior:
    """Find the closed form, if it is one of other data, too."""
    result = exact(model, rng=rng)
    if ends := edges(ModelDensity(frozen(model))):
        raise NotConjugate(
            f"between which numbers {listed(ends)} may lie depends on the data or a potential, and "
            "simulated data may say others."
        )
    return result


def _near(
    model: pm.Model, part: PartialPosterior | None, rng: np.random.Generator
) -> Integral | Product | Weighted:
    """Integrate as far as draws need it."""
    jobs = integrands(part or ModelDensity(model), rng)
    return settled(jobs, _NEAR, SECONDS, rng, moments=False)[1]
