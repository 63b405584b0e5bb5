"""Is a proposed posterior the model's own? Then the joint density over it is the same everywhere.

At points drawn from the proposal and at points far from it, the joint log density minus the
proposal's is compared, and so are their slopes. Both must be equal up to the rounding errors that
the two computations can make at that point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.audit import Audit
from bayesmodels.posteriors.budget import first_of
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.points import (
    MILD,
    WILD,
    Place,
    otherwise,
    score,
    score_size,
    somewhere,
)
from bayesmodels.posteriors.solution import Solution
from bayesmodels.posteriors.truncated import LONGEST, Truncated

FULL, FEW = (5, 6, 0), (2, 2, 2)
"""Numbers of points near, far, and not chosen by the proposal: of a whole posterior; of one of some
laws whose parameters may have been read off where another kind of law was expected."""
_DOUBTFUL = 3  # slopes a point that are looked at more closely
USELESS = 0.1  # a log density that is known no better decides nothing
TINY = float(np.finfo(float).tiny)
_DEVIATIONS = 25.0


class Imprecise(NotConjugate):
    """Nothing differs, but the densities are not known well enough to say that they are equal."""


@dataclass(frozen=True)
class Verification:
    """The result of comparing a joint density with a closed form.

    Attributes
    ----------
    points : int
        Number of points compared.
    value, slope : float
        Largest discrepancies over their rounding bounds.
    log_evidence : float
        The constant, at the point with the tightest bound.
    bound : float
        Its rounding bound.
    settled : bool
        Whether the density is known to be analytic, so that the points stand for all others.
    """

    points: int
    value: float
    slope: float
    log_evidence: float
    bound: float
    settled: bool


def verify(
    solution: Solution,
    audited: Audit,
    rng: np.random.Generator,
    looks: tuple[int, int, int] = FULL,
) -> Verification:
    """Compare a proposed posterior with the joint density; refuse what rounding can't explain.

    What depends on finite variables must have been compared for each of their values before, as
    a posterior with these values held, or be added up from such. Where rounding leaves no digits
    to compare, the refusal is `Imprecise`.
    """
    field = solution.field
    near = [
        (_inside(field, x), levels)
        for x, levels in zip(*solution.sample(looks[0], rng), strict=True)
    ]
    far = _far(solution, rng, looks[1])
    points = [*near, *far]
    if audited.questions:
        points += otherwise(field, audited, near, far, rng)
    # Far from all mass numbers may overflow, which says nothing against the proposal.
    must = len(points)
    points += [(somewhere(field, rng, (MILD, WILD)[i % 2]), near[0][1]) for i in range(looks[2])]
    rows = [_row(solution, *point) for point in points]
    gaps, bounds = np.array([row[:2] for row in rows]).T
    usable = np.isfinite(gaps) & np.isfinite(bounds)
    if not usable[: len(near)].any():
        raise NotConjugate("the joint density is not finite where its posterior should be.")
    for point, row, fine in list(zip(points, rows, usable, strict=True))[:must]:
        if not fine and row[2]:
            raise NotConjugate(
                f"PyMC calls {_where(field, point)} impossible, which the families of its "
                "variables allow: a hard constraint."
            )
    best = int(np.argmin(np.where(usable, bounds, np.inf)))
    slope, element = _slopes(solution, [p for p, fine in zip(points, usable, strict=True) if fine])
    over = np.abs(gaps - gaps[best]) / (bounds + bounds[best])
    value = float(np.max(over[usable]))
    if max(value, slope) > 1:
        of = field.label(element) if slope > 1 else first_of(field.names)
        raise NotConjugate(
            f"the joint density as a function of {of} is close to a closed form but not equal to "
            f"it: they differ by {value:.3g} times what rounding explains, their slopes by "
            f"{slope:.3g} times. Some term of the model is of another kind."
        )
    if bounds[best] > USELESS:
        raise Imprecise(
            f"the closed form can't be verified in double precision: the joint density of "
            f"{first_of(field.names)} is only known to "
            f"{bounds[best]:.2g}."
        )
    return Verification(
        int(usable.sum()), value, slope, float(gaps[best]), float(bounds[best]), audited.analytic
    )


def _row(solution: Solution, x: Array, levels: Levels) -> tuple[float, float, bool]:
    """Return gap, its bound, and whether PyMC alone calls the point impossible."""
    solution.field.budget.check()
    value, bound = solution.field.density.value(solution.field.variables(x, levels))
    with np.errstate(all="ignore"):
        density = solution.log_density(x, levels)
        rounding = solution.rounding(x, levels)
    # The weights of configurations were worked out from such values.
    bound *= 1 + max((part.changes for part in solution.finite), default=0)
    impossible = value == -np.inf and np.isfinite(density)
    return value - density, bound + rounding, impossible


def _slopes(solution: Solution, points: list[Place]) -> tuple[float, int]:
    """Return the largest discrepancy of slopes over its bound, and the element that has it.

    The bound is first that of the algebra alone. Where PyMC's own graph may lose more digits, as
    with 1 - x near a border, its running error analysis is asked.
    """
    field, worst, element = solution.field, 0.0, 0
    for x, levels in points if field.size else []:
        with np.errstate(all="ignore"):
            proposed, bound = solution.slope(x, levels)
            gap = np.abs(score(field, x, field(x, levels)[1]) - score(field, x, proposed))
            over = gap / (score_size(field, x, bound) + TINY)
        over[~np.isfinite(over)] = 0  # beyond the range of numbers; the values have been compared
        doubtful = np.argsort(over)[::-1][:_DOUBTFUL]
        for k in doubtful[over[doubtful] > 1]:
            over[k] = min(over[k], _over(solution, (x, levels), int(k)))
        if over[doubtful].max() > worst:
            worst, element = float(over[doubtful].max()), int(doubtful[over[doubtful].argmax()])
    return worst, element


def _over(solution: Solution, point: Place, element: int) -> float:
    """Return the discrepancy of one slope over a bound that knows the whole graph."""
    field, (x, levels) = solution.field, point
    along = np.zeros(field.size)
    along[element] = 1.0
    for kind, part in field.parts:
        along[part] = kind.tangent(x[part], along[part])
    proposed, bound = solution.slope(x, levels)
    direction = field.direction(along)
    with np.errstate(all="ignore"):
        seen = field.density(field.variables(x, levels), direction)
        gap = abs(seen.slope - proposed @ along)
        over = gap / (seen.slope_rounding + bound @ np.abs(along) + TINY)
    return float(over) if np.isfinite(over) else 0.0


def _inside(field: Field, x: Array) -> Array:
    """Move what rounding has put on the border of the support a little inwards."""
    x = x.copy()
    for kind, elements in field.parts:
        x[elements] = kind.inside(x[elements])
    return x


def _far(solution: Solution, rng: np.random.Generator, number: int) -> list[Place]:
    """Return points of a much wider law."""
    field, result = solution.field, []
    x, levels = solution.sample(2 * number, rng)
    for i in range(number):
        point, other = _inside(field, x[i]), x[number + i]
        z = rng.standard_normal(field.size)
        size = rng.uniform(1, _DEVIATIONS)
        step = size * ((point - other) if i % 2 else np.abs(point - other) * z)
        elsewhere = somewhere(field, rng, (MILD, WILD)[i % 2])
        for kind, part in field.parts:
            point[part] = kind.far(point[part], z[part], step[part], elsewhere[part])
        levels_here = _levels(solution, levels[i], rng)
        for factor in solution.at(levels_here)[1]:
            if isinstance(factor, Truncated) and factor.logs:
                most = LONGEST[factor.family.on]
                point[factor.elements] = np.clip(point[factor.elements], -most, most)
        result.append((point, levels_here))
    return result


def _levels(solution: Solution, levels: Levels, rng: np.random.Generator) -> Levels:
    """Return levels far from the probable ones."""
    result = levels.copy()
    for part in solution.finite:
        result[part.elements] = part.anywhere(rng)
    return result


def _where(field: Field, point: Place) -> str:
    values = field.variables(*point)
    parts = [f"{name} = {np.ravel(value)[0]:.4g}" for name, value in list(values.items())[:3]]
    return ", ".join(parts)
