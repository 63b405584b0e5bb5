"""The posterior of a PyMC model without a sampler: closed form and a numerical integral."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.errors import DataError, NotConjugate, NumericsWarning
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import Function, Unbounded
from bayesmodels.numerics.lattice_integral import (
    SPEED,
    Integral,
    NotSettled,
    OutOfTime,
    Rough,
    Told,
    TooManyPoints,
    integral,
)
from bayesmodels.numerics.product import Product, product
from bayesmodels.numerics.weights import GOAL, Weighted, weighted
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.budget import SECONDS, UNLIMITED, Budget, NotInTime
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.density import frozen
from bayesmodels.posteriors.edges import edges
from bayesmodels.posteriors.integrated import IntegratedPosterior
from bayesmodels.posteriors.linked_marginal import TOGETHER
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.partial import PartialPosterior, eliminated, partial_posterior
from bayesmodels.posteriors.progress import bar
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.support.finite import added_up_far_enough
from bayesmodels.posteriors.unseen import unseen, without
from bayesmodels.posteriors.whitened import Whitened

ON_LATTICE = 4
"""Scalars that a lattice has not too many points for."""
_EASY, _WEIGHED = 7, 12  # scalars: of more, fields are looked for; and come before weights
_QUICK = 2  # scalars that are left when no more is tried
_MOST = 60  # scalars that weights are not too unequal for
_DRAWN = 150  # from the prior, for each dimension, to look for modes
_HEAVIEST = 5  # points at which rounding is bounded
_UNITS = 64 * float(np.finfo(float).eps)  # of a log density, without derivatives
_LEAST = 1e-9  # a smaller tolerance is less than what rounding leaves


def integrate(
    model: pm.Model,
    *,
    tolerance: float = 1e-6,
    seconds: float = SECONDS,
    progress: bool = False,
    rng: np.random.Generator | int | None = None,
) -> IntegratedPosterior:
    r"""Find the posterior of a PyMC model without a sampler, each number with its error.

    With the block x that is conjugate given the rest :math:`\phi`, as `bm.exact(model,
    partial=True)` finds it, and finite variables k,

    .. math:: p(y) = \sum_k \int p(y, k, \phi) \, d\phi, \qquad
        p(y, k, \phi) = \int p(y, k, \phi, x) \, dx,

    where the inner integral is exact and the sum is over all values. The outer integral is over
    unconstrained coordinates. Of up to four scalars it is the trapezoidal rule on a lattice, which
    converges geometrically: it is refined until log evidence, means and standard deviations have
    settled. Of up to 60, and where a lattice would take too many points, it is importance sampling
    from Student-t laws that are fitted to weighted, scrambled Sobol points: sixteen independent
    scramblings give the standard error of each number.

    Parameters
    ----------
    model : pymc.Model
        Any model of which at most 60 scalars are neither conjugate given the rest nor finite, nor
        eliminated; or 200 of latent fields, given at most six others.
    tolerance : float, default 1e-6
        How far off the log evidence may be, and means and standard deviations in units of the
        latter. Of points that are weighted, the standard error of log evidence and means; there
        0.01 if the tolerance is less.
    seconds : float, default 50
        How long the search for the block may compute, and each integration that is tried.
    progress : bool, default False
        Show a bar on standard error, in a terminal or a notebook: points so far, and how many of
        the `seconds` may be left.
    rng : numpy.random.Generator or int, optional
        Source of starting points, or a seed; fresh if not given.

    Returns
    -------
    IntegratedPosterior
        Evidence, means, intervals, marginal laws and independent draws, under the model's names.

    Raises
    ------
    NotConjugate
        If more than 60 scalars remain, the posterior is improper, the integral has not settled, or
        few points have most of the weight; `reason` says which variable it is about, and why.
    DataError
        If it is no PyMC model, or has no free variable, or a setting is out of its range.

    Notes
    -----
    Modes are climbed from several sets of random starts, until a set finds nothing new; not from
    starts from which the density rises all the way to a known mode. A mode whose surroundings no
    start hits is not found, and is in no error. In ten dimensions a mode a third as wide as the one
    that is found, and thirteen of its deviations away, was missed with half of the mass.

    Sources: Trefethen and Weideman (2014), *The exponentially convergent trapezoidal rule*, SIAM
    Review 56; Gelman et al. (2013), *Bayesian Data Analysis*, section 5.4 (integrating the
    coefficients of a hierarchy out); Owen (2013), *Monte Carlo theory, methods and examples*,
    chapters 9, 10 and 17 (importance sampling, and scrambled points).

    Examples
    --------
    >>> import pymc as pm, bayesmodels as bm
    >>> with pm.Model() as schools:
    ...     mu = pm.Normal("mu", 0, 5)
    ...     tau = pm.HalfCauchy("tau", 5)
    ...     theta = pm.Normal("theta", mu, tau, shape=8)
    ...     _ = pm.Normal("y", theta, [15, 10, 16, 11, 9, 11, 10, 18],
    ...                   observed=[28, 8, -3, 7, -1, 1, 18, 12])
    >>> posterior = bm.integrate(schools, rng=1)
    >>> posterior.remaining, posterior.integrated
    (('tau',), ('mu', 'theta'))
    >>> round(posterior.log_evidence, 5), posterior.mean()["tau"].round(4)
    (-31.31135, np.float64(3.5977))
    """
    model = of_formula(model)
    if not isinstance(model, pm.Model):
        raise DataError(f"model: must be a PyMC or Bambi model; got {type(model).__name__}.")
    if not model.free_RVs:
        raise DataError(
            "model: must have a free variable; it has none. Its evidence is its density: that of "
            "bm.exact(model)."
        )
    if not _LEAST <= tolerance < 1:
        raise DataError(f"tolerance: must be between {_LEAST:g} and 1; got {tolerance}.")
    if not seconds > 0:
        raise DataError(f"seconds: must be positive; got {seconds}.")
    rng = randomness(rng)
    begun = time.perf_counter()
    held = frozen(model)  # the posterior of these data, whatever the model's will be later
    forward = unseen(held)
    with bar(seconds, show=progress) as told:
        jobs = integrands(block(without(held, forward), seconds, rng), rng)
        job, result = settled(jobs, tolerance, seconds, rng, told=told)
    part, density = job.part, job.density
    heaviest = result.points_at(np.argsort(-result.weights)[:_HEAVIEST])
    _far_enough(job, result, heaviest)
    off = max(_rounding(density, point) for point in heaviest)
    if off > tolerance:
        warnings.warn(
            f"Rounding may change the log density by {off:.1g}, which is more than the "
            f"tolerance of {tolerance:g}. Give the data and the variables smaller offsets.",
            NumericsWarning,
            stacklevel=2,
        )
    if part:
        off += part.off(density.rows(density.by_level(heaviest)[1], 0 * np.arange(len(heaviest))))
    result = result.less_sure(off)
    took = time.perf_counter() - begun
    again = partial(integrate, tolerance=tolerance, seconds=seconds)
    return IntegratedPosterior(model, held, density, result, part, tolerance, took, again, forward)


class _Asked(NamedTuple):
    """A density, the least units of its numbers, and how well it is to be integrated."""

    f: Function
    least: Array
    tolerance: float
    seconds: float
    rng: np.random.Generator
    told: Told | None


class Integrand(NamedTuple):
    """What is integrated: a block in closed form, the density of the rest, where modes may be.

    Independent sets of its coordinates are integrated one by one.
    """

    part: PartialPosterior | None
    density: BatchDensity
    starts: Array
    sets: list[NDArray[np.intp]]
    white: Whitened | None = None

    @property
    def largest(self) -> int:
        """How many scalars are integrated together."""
        return max(map(len, self.sets))

    @property
    def ways(self) -> list[Callable[..., Integral | Product | Weighted]]:
        """Ways to integrate it, the more precise one first."""
        if self.white:
            return [_whitened]
        lattice = self.largest <= ON_LATTICE
        weights = 0 < self.density.size <= _MOST
        return [way for way, does in ((_on_lattices, lattice), (_by_weights, weights)) if does]


def integrands(left: PartialPosterior | ModelDensity, rng: np.random.Generator) -> list[Integrand]:
    """Compile what may be integrated, with the fewest scalars first.

    Data that are shared variables may change after that.
    """
    part = left if isinstance(left, PartialPosterior) else None
    natural = left.density if isinstance(left, PartialPosterior) else left
    density = BatchDensity(natural, edges(natural), part.cost if part else 0)
    jobs = [_integrand(part, density, rng)]
    if density.size > ON_LATTICE:
        model = part.original if part else natural.model
        for linked in (False, True):
            if jobs[0].density.size <= _QUICK:
                break
            with suppress(NotConjugate):
                fewer = eliminated(Conditionals(model, UNLIMITED), rng, linked=linked)
                rows = TOGETHER if linked else 1
                rest = BatchDensity(fewer.density, edges(fewer.density), fewer.cost, rows)
                least = jobs[0].largest
                if rest.size < least or rest.size <= ON_LATTICE < jobs[0].density.size:
                    jobs.insert(0, _integrand(fewer, rest, rng))
    # Where a field is standard normal about its top, weights are more even, and found soon.
    many = jobs[0].largest
    mostly = 2 * many > density.size > many > ON_LATTICE  # of it, left by elements that cost a lot
    if many > _EASY or mostly:
        with suppress(NotConjugate):
            original = ModelDensity(part.original if part else natural.model)
            white = Whitened(BatchDensity(original, edges(original)), rng)
            start = white.natural.start[None]
            at = 0 if many > _WEIGHED or mostly else len(jobs)
            jobs.insert(at, Integrand(None, white.natural, start, [], white))
    if not any(job.ways for job in jobs):
        raise NotConjugate(_too_many(jobs[0].density, jobs[0].part))
    return jobs


def _integrand(
    part: PartialPosterior | None, density: BatchDensity, rng: np.random.Generator
) -> Integrand:
    sets = [np.arange(density.size)] if part else density.sets
    many = max(map(len, sets))
    # More are not integrated together, and there may be thousands.
    drawn = density.prior(_DRAWN * many if many <= _MOST else 0, rng)
    return Integrand(part, density, np.concatenate([density.start[None], drawn]), sets)


def settled(
    jobs: Sequence[Integrand],
    tolerance: float,
    seconds: float,
    rng: np.random.Generator,
    *,
    moments: bool = True,
    told: Told | None = None,
) -> tuple[Integrand, Integral | Product | Weighted]:
    """Integrate the first that settles with the data that are held: on a lattice, or by weights.

    For draws, no `moments` need to settle, nor exist.
    """
    refused: list[tuple[Integrand, NotSettled]] = []
    # Points are shared out among threads: those of BLAS would wait for each other.
    with threadpool_limits(1, user_api="blas"):
        for job, way in [(j, way) for j in jobs for way in j.ways]:
            f, least = (job.density, job.density.least) if moments else (_mass(job), np.zeros(0))
            try:
                return job, way(job, _Asked(f, least, tolerance, seconds, rng, told))
            except OutOfTime as error:
                raise NotInTime(*_said(job, error)) from error
            except NotSettled as error:
                refused.append((job, error))
                # What lattices have not found, weights may miss as well.
                if way is _on_lattices and not isinstance(error, TooManyPoints):
                    break
            except Unbounded as error:
                name = job.density.coordinate_names[error.number]
                raise NotConjugate(
                    f"the posterior mass still grows where {name} is as far out as numbers go: it "
                    "is improper, or its tails are too heavy. Give it a proper prior."
                ) from error
    job, first = next(((j, error) for j, error in refused if not j.white), refused[0])
    if job.part is None and not np.isfinite(job.density(job.starts)[0]).any():
        raise job.density.nowhere() from first
    raise NotConjugate(*_said(job, *(e for j, e in refused if j is job))) from first


def _mass(job: Integrand) -> Function:
    """Return the density without numbers that are carried along."""

    def f(points: Array) -> tuple[Array, Array]:
        return job.density(points)[0], np.zeros((len(points), 0))

    return f


def _on_lattices(job: Integrand, asked: _Asked) -> Integral | Product:
    f, least, tolerance, seconds, rng, told = asked
    cost, left = _cost(job, tolerance), seconds

    def alone(part: Function, starts: Array) -> Integral:
        nonlocal left
        off = max(tolerance / len(job.sets), _LEAST)
        result = integral(part, starts, off, left, rng, 0.0, cost, told)
        left -= result.points * cost / SPEED
        return result

    if len(job.sets) > 1:
        return product(f, job.sets, job.starts, alone)
    # On lattices small jumps would make ridges.
    rough = _rough(job) if job.part and job.part.linked else None
    return integral(f, job.starts, tolerance, seconds, rng, least, cost, told, rough)


def _whitened(job: Integrand, asked: _Asked) -> Weighted:
    assert job.white is not None  # noqa: S101 - it is its way
    return job.white.integrated(max(asked.tolerance, GOAL), asked.seconds, asked.rng, asked.told)


def _by_weights(job: Integrand, asked: _Asked) -> Weighted:
    f, least, tolerance, seconds, rng, told = asked
    goal = max(tolerance, GOAL)
    cost = _cost(job, goal)
    slope, rough = job.density.slope if job.density.has_slopes else None, _rough(job)
    return weighted(f, job.starts, goal, seconds, rng, least, cost, slope, told, rough=rough)


def _cost(job: Integrand, tolerance: float) -> int:
    """Let what is eliminated on nodes be known as a tolerance asks; return a point's cost."""
    if not (job.part and job.part.on_nodes):
        return job.density.cost
    job.part.on_nodes.within(tolerance)
    return job.density.costing(job.part.cost).cost


def _said(job: Integrand, *errors: NotSettled) -> tuple[str, str]:
    why = ". By weights: ".join(map(str, errors))
    names = job.density.names or list(job.part.integrated if job.part else ())
    reason = f"the integral over {listed(names)} has not settled: {why}."
    return reason, "Draw with pm.sample, and look at its divergences"


def _rough(job: Integrand) -> Rough | None:
    """Return a density that is quick, where that with elements on nodes is not."""
    eliminated = job.part and job.part.on_nodes
    if not eliminated:
        return None
    density = job.density.costing(eliminated.rough_cost)

    def f(points: Array) -> tuple[Array, Array]:
        with eliminated.roughly():
            return density(points)

    return Rough(f, density.cost)


def _far_enough(job: Integrand, result: Integral | Product | Weighted, heaviest: Array) -> None:
    """Make sure that whole numbers without an end are added up as far as they are probable."""
    part, density = job.part, job.density
    for s in density.finite:
        added_up_far_enough(s, result.mean[density.slices[s.name]].reshape(-1, s.levels))
    if part and part.endless:
        _, natural = density.by_level(heaviest)
        known = part.conditional(density.rows(natural, np.zeros(len(heaviest), dtype=int)))
        for s in part.endless:
            added_up_far_enough(s, known[s.name]["probability"])


def _rounding(density: BatchDensity, point: Array) -> float:
    """Return a bound on what rounding does to the log density at a point."""
    each, natural = density.by_level(point[None])
    rows = density.rows(natural, np.nanargmax(each, axis=1))
    known = np.nan
    with suppress(NotConjugate):  # of somebody's operation without a derivative
        _, known = density.natural.value({name: x[0] for name, x in rows.items()})
    # Where no derivative says how rounding goes on: some units in the last place.
    return known if np.isfinite(known) else _UNITS * float(np.nanmax(np.abs(each)))


def block(
    model: pm.Model, seconds: float, rng: np.random.Generator
) -> PartialPosterior | ModelDensity:
    """Return the model with what is conjugate integrated out; its density if nothing is."""
    budget = Budget(seconds, [str(rv.name) for rv in model.free_RVs])
    density: ModelDensity | None = None
    try:
        with budget.in_time():
            conditionals = Conditionals(model, budget)
            density = None if conditionals.zero_sums else conditionals.density
            return partial_posterior(conditionals, rng)
    except NotInTime:
        raise
    except NotConjugate:
        return density or ModelDensity(model)


def _too_many(density: BatchDensity, part: PartialPosterior | None) -> str:
    sizes = density.sizes
    said = listed(f"{name} ({size})" if size > 1 else name for name, size in sizes.items())
    block = f" with {listed(part.integrated)} integrated out" if part else ""
    return (
        f"{density.size} scalars remain{block} ({said}), and at most {_MOST} are integrated here: "
        "of more the points that are weighed are too unequal."
    )
