"""Which variables are conjugate given all others, and which of them are integrated out.

The rule: first normal variables, the largest first, as long as they stay jointly normal; then Beta,
Dirichlet and Gamma variables, the largest first, as long as nothing that is integrated out moves
their law. A variable with a remaining child (a variable whose prior depends on it) of an unknown
support, a finite one or a simplex is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics.exponential_families import BETA, DIRICHLET
from bayesmodels.numerics.sparse_cholesky import sparse_precision
from bayesmodels.posteriors.audit import audit
from bayesmodels.posteriors.conditional import MOST_ONE_BY_ONE, Conditionals
from bayesmodels.posteriors.families import Factor, Gaussian, Independent
from bayesmodels.posteriors.gradient import Field, Point
from bayesmodels.posteriors.independent import LOOSE, independent_laws
from bayesmodels.posteriors.marginalize import Conjugate, NormalGroup
from bayesmodels.posteriors.multivariate import gaussian, linked
from bayesmodels.posteriors.points import score, somewhere
from bayesmodels.posteriors.remaining_model import priors, replaceable
from bayesmodels.posteriors.solution import Solution
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.support.real import REAL
from bayesmodels.posteriors.support.simplex import SIMPLEX
from bayesmodels.posteriors.support.unit import UNIT
from bayesmodels.posteriors.verify import FEW, verify

_MOVES = 1e-9  # relative change of a slope that is more than rounding
_LINES = 3
_ALONG = (1.0, -2.0, 7.0, -30.0)  # sd along a line
_FAR = 256.0  # sd between the points that slopes are read off at
_APART = 2.0**40  # where one of two terms of a slope is all of it, both are known to all digits
_NEAR = 2.0**-10  # the same, to both ends; the nearer, the fewer digits 1 - x may have
_NOTHING = 1e-13  # of the diagonal: a smaller precision is none


@dataclass(frozen=True)
class Choice:
    """Which variables are integrated out, normal ones and others.

    `families` are those of all variables that are conjugate given the rest; `reasons` say of the
    others, and of those that are conjugate but kept, why.
    """

    families: dict[str, str]
    reasons: dict[str, str]
    normals: tuple[str, ...]
    others: tuple[str, ...]


def choose(conditionals: Conditionals, rng: np.random.Generator, *, one_by_one: bool) -> Choice:
    """Say which variables are conjugate given the rest, and which to integrate out.

    Every law is verified if `one_by_one`; else only those of variables that are kept, since the
    others' are verified together later.
    """

    def everywhere(names: Sequence[str]) -> list[Point]:
        return conditionals.everywhere(names, rng, MOST_ONE_BY_ONE)

    points = [conditionals.somewhere(rng) for _ in range(2)]
    families: dict[str, str] = {}
    reasons = {
        rv.name: f"{rv.name} "
        + (
            "is a whole number"
            if str(rv.dtype)[0] in "iub"
            else "lives on an interval or a space of its own"
        )
        for rv in conditionals.model.free_RVs
    } | conditionals.reasons
    for name in conditionals.supports:
        try:
            conditionals.groups([name])  # not too many, before anything is worked out
            at = everywhere([name]) if one_by_one else points
            families[name] = _family(conditionals, name, at, rng, verified=one_by_one)
            del reasons[name]
        except NotConjugate as error:
            reasons[name] = error.reason
    above = priors(conditionals.model)
    childless = _without_awkward_children(above, conditionals, families, reasons)
    near = {n: sum((n in above[m]) + (m in above[n]) for m in childless) for n in childless}
    # Of one size, first those that fewest others depend on.
    largest_first = sorted(childless, key=lambda n: (-conditionals.supports[n].size, near[n]))
    normals: list[str] = []
    for name in (n for n in largest_first if families[n] == "Normal"):
        at = everywhere([*normals, name]) if one_by_one else points
        if all(_straight(conditionals, [*normals, name], point, rng) for point in at):
            normals.append(name)
        else:
            how = f"jointly normal with {listed(normals)}" if normals else "normal given the rest"
            reasons[name] = f"{name} is not {how}"
    others: list[str] = []
    for name in (n for n in largest_first if families[n] in FAMILIES):
        done = [*normals, *others]
        at = everywhere([name, *done]) if one_by_one else points
        if any(_moved(conditionals, name, done, point, rng) for point in at):
            reasons[name] = f"the law of {name} depends on what is integrated out"
        else:
            others.append(name)
    for name in [n for n in families if n not in (*normals, *others) and not one_by_one]:
        try:
            _family(conditionals, name, everywhere([name]), rng, verified=True)
        except NotConjugate as error:
            del families[name]
            reasons[name] = error.reason
    return Choice(families, reasons, tuple(normals), tuple(others))


FAMILIES = ("Beta", "Dirichlet", "Gamma", "InverseGamma", "SquareGamma", "SquareInverseGamma")
"""Families that can be integrated out beside the normal one."""


def _family(
    conditionals: Conditionals,
    name: str,
    points: Sequence[Point],
    rng: np.random.Generator,
    *,
    verified: bool,
) -> str:
    """Return a variable's family given all others, at several values of them."""
    result = audit(conditionals.given([name], points[0])) if verified else None
    kinds = set()
    for point in points:
        view = conditionals.given([name], point)
        factors = proposed(view, point, rng)
        if result is not None:
            verify(Solution(view, factors, []), result, rng, FEW)
        kinds |= {law.family for factor in factors for law in factor.laws()}
    if len(kinds) > 1:
        raise NotConjugate(f"{name} has laws of several families ({', '.join(sorted(kinds))})")
    return kinds.pop()


def proposed(
    view: Field, point: Mapping[str, NDArray[Any]], rng: np.random.Generator
) -> list[Factor]:
    """Return the law of one variable given the others, if it is of a known family."""
    everything, x = np.arange(view.size), view.row(point)
    if view.kind(0) is REAL:
        return [gaussian(view, everything, linked(view, x, everything), x, rng)]
    with np.errstate(all="ignore"):  # far out shares round to 1; what is not finite is left out
        factors, left = independent_laws(view, everything, x, rng)
    if len(left):
        raise NotConjugate(
            f"given all others, {view.label(int(left[0]))} is of no conjugate family that is "
            "integrated out"
        )
    return factors


def _without_awkward_children(
    above: dict[str, set[str]],
    conditionals: Conditionals,
    families: dict[str, str],
    reasons: dict[str, str],
) -> list[str]:
    """Return the conjugate variables whose children's priors can be moved, if they remain."""
    fine = []
    for name in families:
        awkward = [
            child
            for child, parents in above.items()
            if name in parents and not replaceable(conditionals.supports.get(child))
        ]
        if awkward:
            reasons[name] = f"the prior of {awkward[0]} needs {name}"
        else:
            fine.append(name)
    return fine


def _straight(
    conditionals: Conditionals, names: Sequence[str], point: Point, rng: np.random.Generator
) -> bool:
    """Whether the slope of some variables is linear in all of them, along random lines."""
    view = conditionals.given(names, point)
    for _ in range(_LINES):
        x = view.row(point)
        x = x + somewhere(view, rng)
        along = rng.standard_normal(view.size)
        base = view(x)[1]
        curvature = -float(along @ (view(x + along)[1] - base))
        if not curvature > 0:
            return False
        along = along / np.sqrt(curvature)
        change = view(x + along)[1] - base
        for t in _ALONG:
            there = view(x + t * along)[1]
            size = np.abs(base) + np.abs(there) + np.abs(t * change)
            if not (np.abs(there - base - t * change) <= LOOSE * size).all():
                return False
    return True


def _moved(
    conditionals: Conditionals,
    name: str,
    done: Sequence[str],
    point: Point,
    rng: np.random.Generator,
) -> bool:
    """Whether the slope of a variable moves with variables that are integrated out."""
    if not done:
        return False
    view, others = conditionals.given([name], point), conditionals.given(done, point)
    x = view.row(point)
    here = score(view, x, view(x)[1])
    away = others.variables(somewhere(others, rng))
    there = score(view, x, view.held(away)(x)[1])
    return not bool((np.abs(there - here) <= _MOVES * (np.abs(here) + np.abs(there))).all())


def normals_at(
    conditionals: Conditionals,
    names: Sequence[str],
    points: Sequence[Point],
    rng: np.random.Generator,
) -> NormalGroup:
    """Say where to look at the slopes of a normal block, and how its precision is taken apart."""
    view = conditionals.given(names, points[0])
    everything = np.arange(view.size)
    links = linked(view, view.row(points[0]), everything)
    laws = [gaussian(view.held(point), everything, links, view.row(point), rng) for point in points]
    shapes = tuple(conditionals.supports[name].shape for name in names)
    coupled = conditionals.linked(names) + _not_zero(laws[0]) + _not_zero(laws[1])
    location, reach = np.empty((2, view.size))
    location[laws[0].elements], reach[laws[0].elements] = laws[0].location, _FAR * laws[0].sd()
    # Where priors have their means they have no slope, which near a scale of zero would be huge.
    start = view.row(conditionals.start)
    centre = start if (np.abs(start - location) <= reach).all() else location
    sums = {name: zero_sum for name, zero_sum in conditionals.zero_sums.items() if name in names}
    return NormalGroup(tuple(names), shapes, sparse_precision(coupled, reach, rng), centre, sums)


def _not_zero(law: Gaussian) -> Any:
    """Return where the precision of elements is not zero, as a sparse matrix."""
    precision = coo_array(law.precision)
    one, other = precision.coords
    size = np.sqrt(law.precision.diagonal())
    nonzero = np.abs(precision.data) > _NOTHING * size[one] * size[other]
    places = law.elements[one[nonzero]], law.elements[other[nonzero]]
    return csr_array((np.ones(nonzero.sum(), dtype=bool), places), shape=precision.shape)


def conjugate_at(
    conditionals: Conditionals, name: str, point: Point, rng: np.random.Generator
) -> Conjugate:
    """Say where to look at the slopes of a variable whose elements are independent."""
    view = conditionals.given([name], point)
    support = conditionals.supports[name]
    if support.kind is UNIT:
        first = np.full(support.shape, _NEAR)
        return Conjugate(name, BETA, first, 1 - first)
    if support.kind is SIMPLEX:
        width = support.shape[-1]
        level = np.full(support.shape, 1 / width)
        rising = np.arange(1, width + 1) / (width * (width + 1) / 2)
        return Conjugate(name, DIRICHLET, level, np.broadcast_to(rising, support.shape))
    (law,) = proposed(view, point, rng)
    assert isinstance(law, Independent)  # noqa: S101 - its family was looked at
    shape, rate = law.parameters
    middle = (shape / rate) ** (1 / law.family.power)
    first = middle[np.argsort(law.elements)].reshape(support.shape)
    # The first, of which the density is taken, is where no exponential is large.
    ratio = _APART ** np.sign(law.family.power)
    return Conjugate(name, law.family, first / ratio, first * ratio)
