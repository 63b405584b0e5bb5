"""Algebra against PyMC, without sampling.

For the right posterior, PyMC's joint log density minus the belief's log density is the same number
at every point, and that number is the log evidence:

    ln p(x, theta) - ln p(theta | x) = ln p(x).

Equality is demanded up to the rounding errors that the two computations can make at that point, a
bound and not a tolerance. The belief states its own part of it, which must not be far above what
PyMC's terms can be off, or nothing would ever be found wrong. Derivatives along random directions
are compared as well: they see a discrepancy that a value far larger than it would round away.

Where all variables are nominal there are only so many points: all are compared, those that are
impossible too, which both sides must call so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Belief
from bayesmodels.belief.reading import configurations, levels
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pymc as pm


_TINY_STEP = 1e-30  # of a complex-step derivative: no subtraction, hence no truncation to balance
_LEAST = 1e-250  # of a coordinate: below it the step underflows
_NUDGE = 1e-3  # part of the way to the mean
_IMPOSSIBLE = (np.inf,) * 6
_HIDES = 1e-2  # of a log density: less than that hides no mistake that one would notice
_LOOSEST = 100.0  # own models have 0.02 to 30, and more only where the bound is small
UNDERFLOW = float(np.log(np.finfo(float).tiny))
"""A log density below which PyMC's probability may be 0."""


@dataclass(frozen=True)
class Identity:
    """What the comparison of algebra and declaration found.

    Attributes
    ----------
    points : int
        Number of points compared.
    constancy, slope, evidence : float
        Largest discrepancy over its rounding bound: of log densities between points, of their
        derivatives, and of the constant against the stated log evidence (None if none was stated).
        Values up to 1 are explained by rounding.
    constant : float
        PyMC's joint minus the belief's log density, at the point with the tightest bound.
    log_evidence : float or None
        What the model states.
    bound : float
        The rounding bound of `constant`.
    looseness : float
        The belief's own bound over that of PyMC's terms, at the point with the tightest bound.
    """

    points: int
    constancy: float
    slope: float
    evidence: float | None
    constant: float
    log_evidence: float | None
    bound: float
    looseness: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether everything compared is equal up to rounding."""
        # Part by part, since NaN must not hold: max() passes over it.
        parts = (self.constancy, self.slope, self.evidence or 0.0)
        return all(part <= 1 for part in parts) and not self.hidden

    @property
    def hidden(self) -> bool:
        """Whether the belief's own bound is so wide, without need, that it hides what is wrong."""
        return self.bound > _HIDES and self.looseness > _LOOSEST

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        return [self._sentence()]

    def _sentence(self) -> str:
        """Say the finding in words."""
        if self.holds:
            said = "differ by the same constant"
            if self.log_evidence == 0:
                said = "are equal, constants included,"
            elif self.evidence is not None:
                said += f", the log evidence {self.log_evidence:.6g},"
            return (
                f"Algebra and PyMC declaration {said} at all {self.points} points, up to rounding "
                f"({self.bound:.1g})."
            )
        if self.hidden:
            return (
                "The posterior's log_density_rounding hides whatever is wrong: it is "
                f"{self.looseness:.2g} times what rounding can do to PyMC's joint density. Add up "
                "the sizes of what log_density adds up, times machine epsilon."
            )
        if max(self.constancy, self.slope) > 1:
            return (
                "The posterior's formula is not proportional to the PyMC model's joint density: "
                f"their difference varies by {self.constancy:.3g} times its rounding bound between "
                f"points, their slopes differ by {self.slope:.3g} times. Prior, likelihood or "
                "update is written differently in the two."
            )
        return (
            f"The posterior is right, but the log evidence is not: the model states "
            f"{self.log_evidence:.9g}, the densities say {self.constant:.9g}."
        )


def check_identity(
    model: pm.Model,
    posterior: Belief,
    prior: Belief,
    log_evidence: float | None = None,
    *,
    points: int = 20,
    rng: np.random.Generator | int | None = None,
) -> Identity:
    """Compare a belief with a PyMC model's joint density at random points.

    Parameters
    ----------
    model : pymc.Model
        Prior and likelihood, with the belief's variable names.
    posterior : Belief
        What the algebra says is the posterior; or prior times likelihood, such as
        `LogisticRegression.joint`, whose `log_evidence` is 0.
    prior : Belief
        Where half of the points are drawn from, if it is proper; the others are drawn from the
        posterior.
    log_evidence : float, optional
        What the algebra says is the log density of the data; not compared if not given.
    points : int, default 20
        Number of points; of nominal variables all are compared.
    rng : numpy.random.Generator or int, optional
        Source of the points.

    Returns
    -------
    Identity
        Discrepancies in units of their rounding bounds.

    Raises
    ------
    DataError
        If the two have different variables, no finite density was found at any point, or
        `log_evidence` is not one number.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> prior, rows = bm.BetaBernoulli(2, 2), [1, 0, 0, 1]
    >>> check_identity(
    ...     prior.declare(rows), prior.update(rows), prior, prior.log_evidence(rows),
    ...     rng=np.random.default_rng(1),
    ... ).holds
    True
    """
    from bayesmodels.posteriors.model_density import ModelDensity

    if log_evidence is not None and np.ndim(log_evidence):
        raise DataError(
            "log_evidence: must be one number, the sum over separate problems; got shape "
            f"{np.shape(log_evidence)}."
        )
    rng = randomness(rng)
    same_variables(model, posterior)
    joint = ModelDensity(model)
    if levels(posterior):
        result = _every_row(joint, posterior, prior)
    else:
        result = _rows(joint, posterior, prior, points, rng)
    rows = [row for row in result if row is not None]
    if any(row is _IMPOSSIBLE for row in rows):
        stated = None if log_evidence is None else np.inf
        return Identity(len(rows), np.inf, np.inf, stated, -np.inf, log_evidence, 0.0)
    if not rows:
        raise DataError("model: no point was found at which both log densities are finite.")
    gap, bound, slack, slope_gap, slope_bound, looseness = np.array(rows).T
    best = int(np.argmin(bound))
    evidence = None
    if log_evidence is not None:
        evidence = float(np.max(np.abs(gap - log_evidence) / (bound + slack)))
    return Identity(
        points=len(result) if levels(posterior) else len(rows),
        constancy=float(np.max(np.abs(gap - gap[best]) / (bound + bound[best]))),
        slope=float(np.max(_over(slope_gap, slope_bound))),
        evidence=evidence,
        constant=float(gap[best]),
        log_evidence=None if log_evidence is None else float(log_evidence),
        bound=float(bound[best] + (slack[best] if evidence is not None else 0)),
        looseness=float(looseness[best]),
    )


def same_variables(model: pm.Model, posterior: Belief) -> None:
    """Refuse a PyMC model that has not the variables of a belief, each with the same axes."""
    names = sorted(posterior.dims)
    if sorted(v.name for v in model.free_RVs) != names:
        raise DataError(
            f"model: must have the belief's variables {names}; has "
            f"{sorted(v.name for v in model.free_RVs)}."
        )
    for name in names:
        axes, shape = model.named_vars_to_dims.get(name), _shape(posterior, name)
        known = model[name].type.shape
        if axes:
            lengths = (model.coords.get(axis) for axis in axes)
            known = tuple(None if of is None else len(of) for of in lengths)
        fits = (length in (None, size) for length, size in zip(known, shape, strict=False))
        wanted = posterior.dims[name]
        turned = axes is not None and set(axes) == set(wanted) and tuple(axes) != wanted
        if turned or len(known) != len(shape) or not all(fits):
            raise DataError(
                f"model: {name} must have the belief's axes {posterior.dims[name]}, of shape "
                f"{shape}; it has {axes or ''}{' of ' if axes else ''}shape {known}. Write it with "
                "these axes in this order."
            )


def _over(gap: Array, bound: Array) -> Array:
    """Return discrepancies over their bounds; nothing over nothing (a uniform density) is 0."""
    with np.errstate(divide="ignore"):
        return np.divide(gap, bound, out=np.zeros_like(gap), where=gap != 0)


def _rows(
    joint: Any, posterior: Belief, prior: Belief, points: int, rng: np.random.Generator
) -> list[tuple[float, ...] | None]:
    of_posterior = posterior.sample(points, rng)
    try:
        of_prior = prior.sample(points, rng)
    except PriorError:  # an improper prior has no draws; the posterior's have to do
        of_prior = posterior.sample(points, rng)
    inner = inwards(posterior, of_posterior)
    rows: list[tuple[float, ...] | None] = []
    for i in range(points):
        # A prior draw may lie where a density underflows; any draw may round to the border.
        for source in ((of_posterior, of_prior)[i % 2], of_posterior, inner):
            point = {name: source[name][i] for name in posterior.dims}
            row = _row(joint, posterior, prior, point, rng, inside=source is inner)
            if row is not None:
                break
        rows.append(row)
    return rows


def _every_row(joint: Any, posterior: Belief, prior: Belief) -> list[tuple[float, ...] | None]:
    """Compare all points of nominal variables; None where both sides say that it is impossible."""
    rows: list[tuple[float, ...] | None] = []
    for point in configurations(posterior):
        here = joint(point, {})
        density = float(posterior.log_density(point))
        if np.isfinite([here.value, density]).all():
            rounding = float(posterior.log_density_rounding(point))
            slack = float(prior.log_density_rounding(point))
            loose = rounding / (here.rounding + _EPS * abs(density))
            rows.append((here.value - density, here.rounding + rounding, slack, 0.0, 0.0, loose))
        else:
            same = density < UNDERFLOW and here.value == -np.inf
            rows.append(None if same else _IMPOSSIBLE)
    return rows


def inwards(belief: Belief, draws: dict[str, Array]) -> dict[str, Array]:
    """Return draws a little nearer to the mean: off the border of the support, which is convex."""
    try:
        centre = belief.mean()
    except PriorError:
        centre = {}
    result = {}
    for name, x in draws.items():
        middle = centre.get(name, np.inf)
        middle = middle if np.isfinite(middle).all() else x.mean(0)
        result[name] = x + _NUDGE * (middle - x)
    return result


def _row(
    joint: Any,
    posterior: Belief,
    prior: Belief,
    point: dict[str, Array],
    rng: np.random.Generator,
    *,
    inside: bool,
) -> tuple[float, ...] | None:
    """Return value gap, its bound, the evidence's extra bound, slope gap, its bound, looseness.

    None where a density is not finite or a coordinate vanishes. Inside the belief's support it is a
    finding if PyMC calls a point impossible which the belief calls possible.
    """
    shape = {name: np.broadcast_to(x, _shape(posterior, name)) for name, x in point.items()}
    if not inside and any((np.abs(x) < _LEAST).any() for x in shape.values()):
        return None
    along = {name: _direction(x, rng, simplex=name in joint.simplex) for name, x in shape.items()}
    at = joint(shape, along)
    with np.errstate(all="ignore"):  # infinite densities are looked at below
        density = float(np.sum(posterior.log_density(shape)))
        rounding = float(np.sum(posterior.log_density_rounding(shape)))
        slope = _slope(posterior, shape, along)
        # Parameters of the posterior are doubles: so far off may a location be.
        moved = _slope(posterior, {name: x * (1 + _PLACES) for name, x in shape.items()}, along)
        try:
            slack = float(np.sum(prior.log_density_rounding(point)))
        except PriorError:
            slack = 0.0
    if inside and np.isfinite(density) and not np.isfinite(at.value):
        return _IMPOSSIBLE
    # What is off in the posterior's parameters, as a location far from zero, is off in the point.
    moves = np.sqrt(sum(x.size for x in shape.values())) * abs(slope)
    size = float(at.rounding + _EPS * (abs(density) + moves))
    row = (
        at.value - density,
        at.rounding + rounding,
        slack,
        abs(at.slope - slope),
        # The algebra's summands are sums of PyMC's, so the same bound serves for both sides.
        _SLOPE_SIDES * at.slope_rounding + (abs(moved - slope) if np.isfinite(moved) else 0.0),
        rounding / size if size else 0.0,
    )
    return row if np.isfinite(row).all() else None


def _slope(belief: Belief, point: dict[str, Array], along: dict[str, Array]) -> float:
    """Return the derivative of a belief's log density in a direction, by a complex step."""
    step = {name: x + 1j * _TINY_STEP * along[name] for name, x in point.items()}
    return float(np.sum(np.imag(belief.log_density(step)))) / _TINY_STEP


_SLOPE_SIDES = 4
_EPS = float(np.finfo(float).eps)
_PLACES = 16 * _EPS


def _shape(belief: Belief, name: str) -> tuple[int, ...]:
    return tuple(len(belief.coords[axis]) for axis in belief.dims[name])


def _direction(x: Array, rng: np.random.Generator, *, simplex: bool) -> Array:
    """Return a random direction of the variable's size; within the plane for a simplex."""
    along: Array = np.abs(x) * rng.standard_normal(x.shape)
    if simplex:
        # theta times a contrast with theta-weighted mean zero keeps the sum at one.
        along = along - x * along.sum(-1, keepdims=True)
    return along
