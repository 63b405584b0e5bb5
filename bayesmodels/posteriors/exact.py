"""The closed form of any PyMC model that has one: propose, verify, or say why there is none."""

from __future__ import annotations

import math
from functools import cached_property
from functools import partial as partial_of
from typing import Literal, overload

import numpy as np
import pymc as pm

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array
from bayesmodels.posteriors.audit import Audit, audit
from bayesmodels.posteriors.budget import SECONDS, UNLIMITED, Budget
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.density import frozen
from bayesmodels.posteriors.eliminate import (
    MOST_TRIED,
    Finite,
    added_up,
    configurations,
    enumerated,
    finite_groups,
    summed_out,
    value_at,
)
from bayesmodels.posteriors.families import Elements, Factor
from bayesmodels.posteriors.gradient import Field, Levels, joint_field
from bayesmodels.posteriors.independent import FIRST, Looks
from bayesmodels.posteriors.multivariate import joint_laws
from bayesmodels.posteriors.nowhere import nowhere
from bayesmodels.posteriors.partial import PartialPosterior, partial_posterior
from bayesmodels.posteriors.points import MILD, WILD, moved, somewhere
from bayesmodels.posteriors.posterior import ExactPosterior
from bayesmodels.posteriors.solution import Solution
from bayesmodels.posteriors.support import supports
from bayesmodels.posteriors.support.finite import added_up_far_enough
from bayesmodels.posteriors.truncated import separate_laws
from bayesmodels.posteriors.verify import FEW, verify
from bayesmodels.posteriors.zero_sum import in_coordinates, zero_sums

_TRIES = 300


@overload
def exact(
    model: pm.Model,
    *,
    partial: Literal[False] = False,
    seconds: float = SECONDS,
    rng: np.random.Generator | int | None = None,
) -> ExactPosterior: ...


@overload
def exact(
    model: pm.Model,
    *,
    partial: Literal[True],
    seconds: float = SECONDS,
    rng: np.random.Generator | int | None = None,
) -> PartialPosterior: ...


def exact(
    model: pm.Model,
    *,
    partial: bool = False,
    seconds: float = SECONDS,
    rng: np.random.Generator | int | None = None,
) -> ExactPosterior | PartialPosterior:
    r"""Find the closed form of a PyMC model's posterior, or say why it has none.

    The posterior is in a prior's exponential family exactly when the joint log density is linear in
    the family's sufficient statistics T,

    .. math:: \ln p(y, \theta) = \eta^\top T(\theta) + \text{constant}.

    So the slopes of the joint density are looked at, at a few points, and the parameters
    :math:`\eta` solved for; no graph is matched against textbook names. What is proposed is then
    verified at other points, near and far: joint density and proposal must differ by one constant,
    the log evidence, up to the rounding errors that can be made at each point.

    Known are Beta, Dirichlet, Gamma, inverse Gamma and generalised inverse Gaussian variables
    (or squares that are), their logs and logits, those of them and normal variables that are
    truncated to an interval with constant ends, jointly normal variables, normal variables with one
    unknown scale (normal-inverse-Gamma, normal-Gamma), Wishart and inverse-Wishart matrices with
    their normal vectors, normal variables that sum to zero (whose densities are with respect to the
    measure of that subspace, as PyMC's are), and finite variables, alone or with others given them.

    Parameters
    ----------
    model : pymc.Model
        Any model, written in any style.
    partial : bool, default False
        Instead of the whole posterior, look for variables that are conjugate given all others, and
        integrate them out of the model: see `PartialPosterior`.
    seconds : float, default 50
        How long the search may compute. What would take longer is refused before it begins, as far
        as that can be told, and else when they are over.
    rng : numpy.random.Generator or int, optional
        Source of the points, or a seed; fresh if not given.

    Returns
    -------
    ExactPosterior or PartialPosterior
        Parameters, evidence, draws and marginal laws, under the model's own names; with `partial`
        a model of the variables that remain, and the law of the others given these.

    Raises
    ------
    NotConjugate
        If there is no closed form that could be verified; `reason` says what was seen.
    DataError
        If it is no PyMC model, or has no variable (with `partial`, no free one), or `seconds` is
        not positive.

    Notes
    -----
    A model without a free variable, such as a point null, has an evidence, too: its density.

    A term too small to be told from rounding is not seen: with a million rows, one of about 1e-6.
    `ExactPosterior.verified` says whether the density is known to be analytic, so that the points
    compared stand for all others.

    Examples
    --------
    >>> import pymc as pm, bayesmodels as bm
    >>> with pm.Model() as model:
    ...     rate = pm.Gamma("rate", 2.0, 1.0)
    ...     _ = pm.Poisson("visits", rate, observed=[3, 5, 4])
    >>> posterior = bm.exact(model)
    >>> print(posterior.explain())
    rate has a Gamma law with shape 14, rate 4. ...
    >>> round(posterior.log_evidence, 6)
    -6.613262
    """
    model = of_formula(model)
    if not isinstance(model, pm.Model):
        raise DataError(f"model: must be a PyMC or Bambi model; got {type(model).__name__}.")
    if not model.free_RVs and (partial or not model.basic_RVs):
        raise DataError("model: must have a free variable; it has none.")
    if not seconds > 0:
        raise DataError(f"seconds: must be positive; got {seconds}.")
    rng = randomness(rng)
    budget = Budget(seconds, [str(rv.name) for rv in model.free_RVs])
    with budget.in_time():
        if partial:
            return partial_posterior(Conditionals(model, budget), rng)
        search = Search(model, budget)
        solution = search.proposed(rng)
        result = search.audit
        again = partial_of(exact, seconds=seconds)
        return ExactPosterior(model, solution, verify(solution, result, rng), result, again)


class Search:
    """A model's graph, compiled for proposals and proofs: again, where shared data have changed."""

    def __init__(self, model: pm.Model, budget: Budget = UNLIMITED) -> None:
        model = frozen(model)
        self.zero_sums = zero_sums(model)
        model = in_coordinates(model, self.zero_sums)
        self.field = joint_field(model, supports(model), budget)

    @cached_property
    def audit(self) -> Audit:
        """What in the graph of the joint density is not known to be analytic."""
        return audit(self.field)

    def proposed(self, rng: np.random.Generator, looks: Looks = FIRST) -> Solution:
        """Return what may be the posterior; `verify` says whether it is."""
        field = self.field
        result = self._proposed(rng, looks)
        for part in result.finite if any(s.endless for s in field.finite) else ():
            for element, row in zip(part.elements, part.probabilities(), strict=True):
                support = field.finite[field.finite_owner[element]]
                added_up_far_enough(support, row[: support.levels])
        return result

    def _proposed(self, rng: np.random.Generator, first: Looks) -> Solution:
        field = self.field
        everything = np.arange(field.size)
        x, levels = somewhere(field, rng), rng.integers(field.sizes)
        dependence = field.dependence(x, levels)
        groups = finite_groups(field, dependence)
        finite: list[Finite] = []
        if len(groups.independent):
            finite = [summed_out(field, dependence, groups.independent, x, levels)]
            levels[groups.independent] = finite[0].sample(1, rng)[0][0]
        x, levels = _start(field, groups.joined, x, levels, rng)
        factors: list[Factor] = []
        inner = everything
        if len(groups.joined) and not groups.moves.all():
            # What stands alone and does not move with the finite variables is solved once.
            here = field.with_levels(levels)
            factors, _ = separate_laws(here, everything[~groups.moves], x, rng, first)
            inner = np.setdiff1d(everything, [e for factor in factors for e in factor.elements])

        def laws(levels: Levels, looks: Looks) -> list[Factor]:
            here = field.with_levels(levels)
            separate, linked = separate_laws(here, inner, x, rng, looks)
            return separate + (joint_laws(here, linked, x, rng) if len(linked) else [])

        def weighed(levels: Levels, looks: Looks) -> tuple[list[Factor], float] | None:
            if value_at(field, x, levels) == -np.inf:
                _impossible(field, levels, self.audit, rng)
                return None
            result = laws(levels, looks)
            here = Solution(field.with_levels(levels), [*factors, *result], [])
            return result, verify(here, self.audit, rng, FEW).log_evidence

        if not len(groups.joined):
            return Solution(field, laws(levels, first) if field.size else [], finite)
        added = added_up(field, groups.joined, x, levels, weighed, rng) if groups.separate else None
        finite.append(added or enumerated(field, groups.joined, levels, weighed))
        return Solution(field, factors, finite)


def _start(
    field: Field, joined: Elements, x: Array, levels: Levels, rng: np.random.Generator
) -> tuple[Array, Levels]:
    """Return a point with a finite density, at which finite elements that are not joined stay."""
    for _ in range(_TRIES):
        if np.isfinite(field(x, levels)[0]):
            return x, levels
        x = somewhere(field, rng)
        levels = moved(levels, joined, rng.integers(field.sizes[joined]))
    if len(joined) and math.prod(field.sizes[joined].tolist()) <= MOST_TRIED:
        x = somewhere(field, rng)
        for row in configurations(field, joined, MOST_TRIED):
            levels = moved(levels, joined, row)
            if np.isfinite(field(x, levels)[0]):
                return x, levels
    raise nowhere(field.density, field.variables(x, levels))


def _impossible(field: Field, levels: Levels, audited: Audit, rng: np.random.Generator) -> None:
    """Make sure that levels at which the density is zero at one point have none at any."""
    points = [somewhere(field, rng, spread) for spread in (MILD, WILD, MILD)]
    if not audited.analytic or any(field(point, levels)[0] > -np.inf for point in points):
        raise NotConjugate(
            "some configurations are possible at some values of the other variables only: a "
            "hard constraint."
        )
