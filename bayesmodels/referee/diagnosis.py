"""Which term is to blame where algebra and PyMC declaration disagree.

The belief has formulas of its own for prior and likelihood, so that PyMC's terms can be compared
with them one by one:

    the prior of v:        differences of log densities as v alone varies,
    the likelihood of y:   sums over rows,
    the update:            what is left if all of these agree.

As v varies, its own term moves and those of the variables whose laws have v as a parameter. These
are judged first: where they are right, a difference is the fault of v's own. As in `identity`,
equal means equal up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Belief, Statistic
from bayesmodels.belief.reading import configurations, levels
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.referee.identity import (
    Identity,
    check_identity,
    inwards,
    same_variables,
)
from bayesmodels.referee.log_terms import Declared, Logs, equal, total

if TYPE_CHECKING:
    import pymc as pm

Point = dict[str, Any]

ROUNDING = "log_density_rounding"
UPDATE = "the update"
"""What is to blame if no other term is."""


@dataclass(frozen=True)
class Diagnosis:
    """What is to blame for an identity that fails.

    Attributes
    ----------
    terms : tuple of str
        In words: ``"the prior of w"``, ``"the likelihood of y"``, ``"the term support"`` (which
        only the PyMC model has), ``"the prior's normalising constant"``, ``"the update"``, ``"the
        log evidence"``, ``"log_density_rounding"``. Empty if nothing is to blame, or the
        discrepancy is too small to be placed.
    unknown : tuple of str
        What could not be compared, and why.
    """

    terms: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the finding in words."""
        if not self.terms and not self.unknown:
            return "Nothing is to blame."
        named = f"To blame: {' and '.join(self.terms)}" if self.terms else "No term could be named"
        if not self.unknown:
            return f"{named}."
        uncompared = " and ".join(self.unknown)
        if self.terms == (UPDATE,):  # which is what is left
            return f"{named}, unless it is what could not be compared: {uncompared}."
        return f"{named}. Not compared: {uncompared}."


def diagnose(
    model: pm.Model,
    prior: Belief,
    data: Any,
    *,
    identity: Identity | None = None,
    points: int = 20,
    rng: np.random.Generator | int | None = None,
) -> Diagnosis:
    """Name the term that is to blame where a PyMC model is not that of a belief and its data.

    Parameters
    ----------
    model : pymc.Model
        Prior and likelihood.
    prior : Belief
        The belief before the data, whose formulas the model's terms are compared with.
    data : rows or statistic
        As in the belief's `update`. The likelihood of a statistic is not compared.
    identity : Identity, optional
        What `check_identity` found, if that was asked before, or of another posterior than the
        prior's own update; if not given, it is asked here.
    points : int, default 20
        Number of points; of nominal variables all are compared.
    rng : numpy.random.Generator or int, optional
        Source of the points.

    Returns
    -------
    Diagnosis
        What is to blame; nothing if the identity holds.

    Raises
    ------
    DataError
        If model and belief have different variables.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np, pymc as pm
    >>> prior, rows = bm.BetaBernoulli(2, 5), np.array([1, 0, 0, 1])
    >>> with pm.Model() as model:
    ...     theta = pm.Beta("theta", 5, 2)
    ...     x = pm.Bernoulli("x", theta, observed=rows)
    >>> bm.diagnose(model, prior, rows).sentences()[0]
    'To blame: the prior of theta.'
    """
    rng = checked.randomness(rng)
    posterior = prior.update(data)
    same_variables(model, posterior)
    if identity is None:
        identity = check_identity(
            model, posterior, prior, log_evidence(prior, data), points=points, rng=rng
        )
    if identity.holds:
        return Diagnosis(())
    if identity.hidden:  # all else is compared within that bound
        return Diagnosis((ROUNDING,))
    terms, unknown = differing_terms(model, prior, data, points, rng)
    if not terms and not identity.constancy <= 1:
        terms = [UPDATE]
    elif not terms and identity.slope <= 1:
        terms = ["the log evidence"]
    elif not terms:
        unknown.append("slopes, which differ while all values agree")
    return Diagnosis(tuple(terms), tuple(unknown))


def log_evidence(prior: Belief, data: Any) -> float | None:
    """Return the log evidence of all data together; None under an improper prior."""
    try:
        return float(np.sum(prior.log_evidence(data)))
    except PriorError:
        return None


def differing_terms(
    model: pm.Model, prior: Belief, data: Any, points: int, rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Return the terms that differ between model and belief, and what could not be compared."""
    statistic = prior.statistic(data)
    empty = statistic.without_rows()
    wide = prior.update(empty)  # with the axes that the data bring
    at = _points(wide, prior.update(statistic), points, rng)
    declared = Declared.of(model)
    free = [v.name for v in model.free_RVs]
    likelihood = _likelihood(prior, at, data)
    left = {name: declared(at, [name]).twice() for name in declared.terms if name not in free}
    # A term of the likelihood is known by its values: a Potential may have any name.
    rows = dict(likelihood or {})
    for name, logs in likelihood.items() if likelihood else ():
        if same := [other for other in left if equal(left[other], logs)]:
            del rows[name], left[same[0]]
    matched = likelihood is not None and not rows

    terms, unknown = [], []
    # A prior may be written as a Potential, too, or have one.
    potentials = [v.name for v in model.potentials if v.name in left]
    try:
        of_prior = _prior(wide, at)
    except PriorError:
        unknown.append("the prior, which is improper")
        in_prior = potentials if matched else []
    else:
        laws_fit = equal(declared(at, free), of_prior)
        all_fit = equal(declared(at, [*free, *potentials]), of_prior)
        in_prior = potentials if not laws_fit and (all_fit or matched) else []
        if not (all_fit if in_prior else laws_fit):
            children = _children(declared, Declared.of(prior.declare(empty, "statistic")), free)
            varied, untold = _varied(declared, [*free, *in_prior], children, wide, at)
            terms += varied or ["the prior's normalising constant"]
            unknown += untold
    left = {name: logs for name, logs in left.items() if name not in in_prior}
    if likelihood is None:
        unknown.append("the likelihood, whose rows the belief does not have one by one")
    elif not equal(total(left.values(), len(at)), total(rows.values(), len(at))):
        terms += [f"the likelihood of {name}" for name in rows] or [f"the term {k}" for k in left]
    return terms, unknown


def _children(model: Declared, belief: Declared, free: list[str]) -> dict[str, set[str]]:
    """Return, by variable, those whose law it is a parameter of, in either declaration.

    A model may have forgotten what the law of w depends on; then w is to blame. But if each depends
    on the other, the two are factored in another way, and the model's own is as good.
    """
    result = {v: {u for u in free if v in model.needs(u) - {u}} for v in free}
    both = {v: result[v] | {u for u in free if v in belief.needs(u) - {u}} for v in free}
    try:
        TopologicalSorter(both).prepare()
    except CycleError:
        return result
    return both


def _varied(
    declared: Declared,
    names: list[str],
    children: Mapping[str, set[str]],
    wide: Belief,
    at: list[Point],
) -> tuple[list[str], list[str]]:
    """Return the priors that differ as their variables vary, and those that cannot be judged."""
    here, prior_here = declared(at, names), _prior(wide, at)
    wrong: list[str] = []
    untold: list[str] = []
    for v in TopologicalSorter(children).static_order():  # children first
        if children[v].intersection((*wrong, *untold)):
            untold.append(v)
            continue
        moved = [point | {v: after[v]} for point, after in zip(at, at[1:] + at[:1], strict=True)]
        if not equal(declared(moved, names) + prior_here, _prior(wide, moved) + here):
            wrong.append(v)
    reason = f"on which that of {' and '.join(wrong)} depends"
    named = [f"the prior of {v}" for v in children if v in wrong]
    return named, [f"the prior of {v}, {reason}" for v in children if v in untold]


def _points(wide: Belief, posterior: Belief, number: int, rng: np.random.Generator) -> list[Point]:
    """Return points, half of them from the prior if it is proper; all there are of nominal ones."""
    if levels(wide):
        return configurations(wide)
    drawn = inwards(posterior, posterior.sample(number, rng))
    try:
        other = inwards(wide, wide.sample(number // 2, rng))
    except PriorError:
        other = {name: x[:0] for name, x in drawn.items()}
    joined = {name: np.concatenate([other[name], x])[:number] for name, x in drawn.items()}
    return [{name: x[i] for name, x in joined.items()} for i in range(number)]


def _prior(wide: Belief, at: list[Point]) -> Logs:
    """Return the belief's own log density; a PriorError if it is improper."""
    with np.errstate(all="ignore"):  # an infinite density is compared as such
        value, bound = (
            np.array([float(np.sum(verb(point))) for point in at])
            for verb in (wide.log_density, wide.log_density_rounding)
        )
    return Logs(value, bound)


def _likelihood(prior: Belief, at: list[Point], data: Any) -> dict[str, Logs] | None:
    """Return the belief's log likelihood by what is observed; None of weights or a statistic."""
    if isinstance(data, Statistic) or checked.weighted(data):
        return None
    try:
        with np.errstate(all="ignore"):  # as above
            result = [prior.log_likelihood(point, data) for point in at]
    except DataError:  # sparse counts are not spread out
        return None
    sums = {name: [math.fsum(np.ravel(rows[name])) for rows in result] for name in result[0]}
    # The terms' bounds are for both sides.
    return {name: Logs(np.array(total), np.zeros(len(at))) for name, total in sums.items()}
