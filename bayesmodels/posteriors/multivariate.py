r"""Elements that depend on each other: which do, and whether their law is a normal family.

Elements are jointly normal if their slope is linear in them. They are normal given a scale s if the
slope's derivative is a power of s times a constant matrix, :math:`s^k \Lambda`, around a centre
that does not move with s; then

.. math:: \partial L / \partial \ln s = A - k \beta s^k \quad \text{at the centre}

says that :math:`s^k` is a Gamma variable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import gamma, generalized_inverse_gaussian
from bayesmodels.numerics.sparse_cholesky import SparsePrecision, coloured, sparse_precision
from bayesmodels.posteriors.factor_graph import connected
from bayesmodels.posteriors.families import (
    EPS,
    Elements,
    Factor,
    Gaussian,
    Independent,
    ScaledGaussian,
)
from bayesmodels.posteriors.gradient import Field
from bayesmodels.posteriors.independent import LOOSE, check_proper, fit, line_features
from bayesmodels.posteriors.normal_matrix import normal_matrix
from bayesmodels.posteriors.points import moved, score, somewhere
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.support.matrix import MATRIX
from bayesmodels.posteriors.support.positive import POSITIVE
from bayesmodels.posteriors.support.real import REAL

_MOVES = 1e-9  # relative change of a slope that is more than rounding
_FAR = 256.0  # sd that curvatures are measured over: exact for a parabola, and rounding shrinks
_SINGULAR = 16.0  # times rounding: a smaller eigenvalue may be none at all
_TURNS = 4
_MOST = 5000  # elements that may all depend on each other
_FEW = 64  # elements from which on links are looked for, so that a precision may be sparse
_HUBS = 8  # elements that may be linked to all others
_MOST_LINKS, _MOST_COST = 2**25, 2.0**33  # pairs that meet, and products: some seconds
_POWERS = (-1, 1, -2, 2)


def joint_laws(field: Field, chosen: Elements, x: Array, rng: np.random.Generator) -> list[Factor]:
    """Return laws of the groups of elements that depend on each other."""
    x = moved(x, chosen, somewhere(field, rng)[chosen])
    nodes = _nodes(field, chosen)
    links = linked(field, x, np.concatenate(nodes))
    groups = _groups(field, nodes, links, x, rng)
    return [_law(field, [nodes[i] for i in group], links, x, rng) for group in groups]


def linked(field: Field, x: Array, chosen: Elements) -> Any:
    """Return which elements may depend on each other, as a sparse matrix; None if all may.

    The graph says which meet in a summand. Of few elements it is not asked; where many meet, or a
    root would have many entries where the precision has none, dense algebra takes less.
    """
    n = len(chosen)
    if n > _FEW:
        meetings = field.dependence(x, np.zeros(0, dtype=int)).meetings[:, chosen]
        if (meetings.sum(1).astype(float) ** 2).sum() <= _MOST_LINKS:
            links = csr_array(meetings.T @ meetings + eye_array(n) > 0)
            if _cost(links) <= min(_MOST_COST, n**3 / 8):
                one, other = links.nonzero()
                places = chosen[one], chosen[other]
                return csr_array((links.data, places), shape=(field.size, field.size))
    if n > _MOST:
        raise NotConjugate(
            f"{n} elements, {_names(field, chosen)}, do not have laws of their own; a closed form "
            f"is looked for among at most {_MOST} that may all depend on each other."
        )
    return None


def _cost(links: Any) -> float:
    """Return an upper bound on a root's multiplications, ordered by Cuthill and McKee.

    Elements with very many links, such as the mean of groups, come last in any good order.
    """
    ordinary = np.sort(np.argsort(np.diff(links.indptr), kind="stable")[:-_HUBS])
    inner = links[ordinary][:, ordinary]
    place = np.argsort(reverse_cuthill_mckee(inner, symmetric_mode=True))
    width = place - np.minimum.reduceat(place[inner.indices], inner.indptr[:-1])
    return float(((width + _HUBS) ** 2.0).sum())


def _nodes(field: Field, chosen: Elements) -> list[Elements]:
    """Return what can be moved on its own: an element, a simplex or a matrix."""
    nodes = [node for node in field.nodes if np.isin(node, chosen).any()]
    return nodes + [np.array([element]) for element in chosen[field.single[chosen]]]


def _groups(
    field: Field, nodes: list[Elements], links: Any, x: Array, rng: np.random.Generator
) -> list[Elements]:
    """Return which nodes depend on each other, directly or through others.

    They are moved one by one, or all of a colour at once, of which no element has two to depend on.
    """
    elements, n = np.concatenate(nodes), len(nodes)
    if n == 1:
        return [np.array([0])]
    owner = np.repeat(np.arange(n), list(map(len, nodes)))
    colour, hubs = np.arange(n), np.ones(n, dtype=bool)
    pairs: Any = None  # of elements and nodes that may move them
    if links is not None:
        within = csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))))
        pairs = csc_array(links[elements][:, elements] @ within.T > 0)
        colour, hubs = coloured(csr_array(within @ pairs > 0))
    number = int(colour.max()) + 1
    names = _names(field, elements)
    field.ask(number, f"which elements of {names} depend on each other")
    here = score(field, x, field(x)[1])
    one, other = [], []
    for k in range(number):
        group = elements[colour[owner] == k]
        there = moved(x, group, somewhere(field, rng)[group])
        after = score(field, there, field(there)[1])
        size = np.abs(here) + np.abs(after)
        with np.errstate(invalid="ignore"):
            change = np.divide(np.abs(after - here), size, out=np.zeros_like(size), where=size > 0)
        change[~np.isfinite(change)] = 1.0
        at, by = np.arange(len(elements)), np.full(len(elements), k)
        if pairs is not None:
            linked_pairs = pairs[:, colour == k]
            at = linked_pairs.indices
            by = np.repeat(np.flatnonzero(colour == k), np.diff(linked_pairs.indptr))
        # Of an element with very many neighbours it is seen where it moves itself.
        seen = (hubs[by] | ~hubs[owner[at]]) & (change[elements[at]] > _MOVES)
        one.append(owner[at[seen]])
        other.append(by[seen])
    depends = np.concatenate(one), np.concatenate(other)
    return connected(csr_array((np.ones(len(depends[0])), depends), shape=(n, n)))


def _law(
    field: Field, nodes: list[Elements], links: Any, x: Array, rng: np.random.Generator
) -> Factor:
    elements = np.concatenate(nodes)
    real, positive = (elements[field.of(kind)[elements]] for kind in (REAL, POSITIVE))
    matrix = [node for node in nodes if field.kind(node[0]) is MATRIX]
    if len(real) == len(elements):
        return gaussian(field, real, links, x, rng)
    if len(matrix) == 1 and len(real) + len(matrix[0]) == len(elements):
        return normal_matrix(field, real, matrix[0], x, rng)
    if len(positive) == 1 and len(real) + 1 == len(elements) and len(real):
        return scaled(field, real, links, int(positive[0]), x, rng)
    names = _names(field, elements)
    if len(nodes) == 1:
        family = field.kind(nodes[0][0]).words
        raise NotConjugate(f"the joint density as a function of {names} is not {family}.")
    who = names if len(np.unique(field.owner[elements])) > 1 else f"elements of {names}"
    raise NotConjugate(
        f"{who} depend on each other in the joint density in a way that no family with a closed "
        "form has: known are normal variables with each other, with one scale, or with one "
        "covariance matrix."
    )


# --- normal ---------------------------------------------------------------------------------------


def gaussian(
    field: Field, real: Elements, links: Any, x: Array, rng: np.random.Generator
) -> Gaussian:
    """Return the joint normal law of some elements, the others held at x.

    If few are `linked` its precision is sparse, and its elements in another order.
    """
    x = x.copy()
    if links is not None:
        form = sparse_precision(links[real][:, real], np.ones(len(real)), rng)
        law = _sparse(field, real, form, x)
    else:
        law = _dense(field, real, x)
    real = law.elements
    x[real] = law.location
    gap = 10 * law.deviations(1, rng)[0] + 0.3 * np.abs(x[real]) * rng.standard_normal(len(real))
    remainder = _slope(field, moved(x, real, x[real] + gap), real) + law.precision @ gap
    size = abs(law.precision) @ (np.abs(gap) + np.abs(x[real]))
    if not (np.abs(remainder) <= LOOSE * size).all():
        raise NotConjugate(_bent(field, real))
    return law


def _dense(field: Field, real: Elements, x: Array) -> Gaussian:
    field.ask(2 * len(real), f"the curvature along {_names(field, real)}")
    step = np.ones(len(real))
    for _ in range(2):
        here = _slope(field, x, real)
        curvature = -_columns(field, x, real, step, here)
        if not (np.isfinite(curvature).all() and np.isfinite(here).all()):
            raise NotConjugate(_bent(field, real))
        diagonal = np.sqrt(np.abs(np.diag(curvature)))
        size = np.outer(diagonal, diagonal)
        if (np.abs(curvature - curvature.T) > LOOSE * (np.abs(curvature) + size)).any():
            raise NotConjugate(_bent(field, real))
        curvature = (curvature + curvature.T) / 2
        root = _root(field, real, curvature, here, x)
        x[real] += _solve(root, here)
        half = solve_triangular(root, np.eye(len(real)))
        step = _FAR * np.sqrt((half**2).sum(-1))
    for _ in range(2):
        here = _slope(field, x, real)
        if not np.isfinite(here).all():
            raise NotConjugate(_bent(field, real))
        x[real] += _solve(root, here)
    return Gaussian(real, x[real], curvature, root)


def _sparse(field: Field, real: Elements, form: SparsePrecision, x: Array) -> Gaussian:
    field.ask(3 * len(form.probes()), f"the curvature along {_names(field, real)}")
    for _ in range(3):  # the last time only to know the location to all digits
        steps = np.vstack([np.zeros(len(real)), form.probes()])
        slopes = np.stack([_slope(field, moved(x, real, x[real] + step), real) for step in steps])
        result = form.read(slopes)
        last = form.moves[1][result.order]
        change = (slopes[0] - slopes[-1])[result.order] - result.precision @ last
        size = abs(result.precision) @ np.abs(last) + np.abs(slopes[[0, -1]]).sum(0)[result.order]
        if not (np.abs(change) <= LOOSE * size).all():
            raise NotConjugate(_bent(field, real))
        if not result.loss * _SINGULAR * len(real) < 1:
            raise NotConjugate(_improper(field, real))
        law = Gaussian(real[result.order], x[real][result.order], result.precision, result.root)
        x[law.elements] += result.move
        step = np.empty(len(real))
        step[result.order] = _FAR * law.sd()
        form = replace(form, moves=form.moves / form.moves[0] * step)
    return replace(law, location=x[law.elements])


def _slope(field: Field, x: Array, elements: Elements) -> Array:
    return field(x)[1][elements]


def _columns(field: Field, x: Array, real: Elements, step: Array, here: Array) -> Array:
    """Return how the slope changes with each element; exact where it is linear."""
    columns = []
    for element, by in zip(real, step, strict=True):
        there = moved(x, element, x[element] + by)
        slope = _slope(field, there, real)
        with np.errstate(all="ignore"):  # the caller looks at what is not finite
            columns.append((slope - here) / (there[element] - x[element]))
    return np.stack(columns, -1)


def _root(field: Field, real: Elements, curvature: Array, here: Array, x: Array) -> Array:
    """Return the upper triangular root of a precision matrix."""
    size = np.sqrt(np.abs(np.diag(curvature)))
    if (np.diag(curvature) > 0).all():
        half = _definite(curvature / np.outer(size, size))
        if half is not None:
            return half * size
    # Bent or not proper? A parabola has the same curvature elsewhere.
    change = _slope(field, moved(x, real, x[real] + 1.3), real) - here
    expected = curvature @ np.full(len(real), 1.3)
    bound = LOOSE * (np.abs(curvature).sum(-1) + np.abs(here))
    if not (np.abs(change + expected) <= bound).all():
        raise NotConjugate(_bent(field, real))
    raise NotConjugate(_improper(field, real))


def _definite(matrix: Array) -> Array | None:
    """Return the upper root of a matrix, if its smallest eigenvalue is more than rounding.

    That takes a tenth of the time that all eigenvalues take.
    """
    try:
        root = np.linalg.cholesky(matrix).T
    except np.linalg.LinAlgError:
        return None
    v = np.random.default_rng(0).standard_normal(len(matrix))
    for _ in range(_TURNS):  # inverse iteration
        v = _solve(root, v / np.linalg.norm(v))
    smallest = 1 / np.linalg.norm(v)
    return root if smallest > _SINGULAR * len(matrix) * EPS else None


def _solve(root: Array, right: Array) -> Array:
    """Return (root' root)^-1 right; the caller looks at what is not finite."""
    half = solve_triangular(root, right, trans="T", check_finite=False)
    return np.asarray(solve_triangular(root, half, check_finite=False))


# --- normal given a scale -------------------------------------------------------------------------


def scaled(
    field: Field, real: Elements, links: Any, scale: int, x: Array, rng: np.random.Generator
) -> ScaledGaussian:
    """Return the law of elements that are normal given a scale, and of the scale.

    Refused if the precision is not a power of the scale, the centre moves with the scale, or the
    scale's own law is not a Gamma law of that power.
    """
    law = gaussian(field, real, links, x, rng)
    k = _power(field, law, scale, x, rng)
    x = x.copy()
    centre = 1.0
    for around in (3.0, 0.3):
        x[law.elements] = law.location
        shape, rate = _gamma(field, law, scale, k, x, centre, around)
        centre = float((max(shape, 0.1) / rate) ** (1 / k))
        x[scale] = centre
        law = gaussian(field, real, links, x, rng)
    shape -= len(real) / 2
    scale_element = np.array([scale])
    check_proper(field, scale_element, np.array([shape > 0]))
    precision, root = law.precision / centre**k, law.root * centre ** (-k / 2)
    return ScaledGaussian(
        np.append(law.elements, scale),
        Gaussian(law.elements, law.location, precision, root),
        Independent(scale_element, gamma(k), (np.array([shape]), np.array([rate]))),
    )


def _power(field: Field, law: Gaussian, scale: int, x: Array, rng: np.random.Generator) -> int:
    """Return the power of the scale that the precision is."""
    real, name = law.elements, field.label(scale)
    names = _names(field, real)
    change = law.deviations(1, rng)[0]
    expected = -law.precision @ change
    size = abs(law.precision) @ np.abs(change)
    base = moved(x, real, law.location)
    ratios, drifts = [], []
    for factor in (4.0, 0.25):
        there = moved(base, scale, factor * base[scale])
        at_centre = _slope(field, there, real)
        pull = _slope(field, moved(there, real, law.location + change), real) - at_centre
        ratio = float(pull @ expected / (expected @ expected))
        straight = np.abs(pull - ratio * expected) <= LOOSE * abs(ratio) * size
        power = np.log(ratio) / np.log(factor) if ratio > 0 else np.nan
        ratios.append(power if straight.all() else np.nan)
        spread = abs(law.precision) @ (np.abs(law.location) + law.sd())
        drifts.append((np.abs(at_centre) / (abs(ratio) * spread)).max())
    powers = [k for k in _POWERS if np.allclose(ratios, k, rtol=0, atol=1e-6)]
    if not powers:
        raise NotConjugate(
            f"the precision of {names} is not a power of {name}: the prior's precision, or that "
            f"of some rows, does not scale with {name} as that of the others does.",
            _repair(names, name),
        )
    if max(drifts) > LOOSE:
        raise NotConjugate(
            f"the centre of {names} moves with {name}: parts of the density pull it to different "
            f"places, with weights that scale differently with {name}.",
            _repair(names, name),
        )
    return powers[0]


def _repair(names: str, name: str) -> str:
    return (
        f"let the prior variance of {names} be proportional to the variance that {name} stands "
        "for, and give that an inverse Gamma prior, or its inverse a Gamma prior"
    )


def _gamma(
    field: Field, law: Gaussian, scale: int, k: int, x: Array, centre: float, around: float
) -> tuple[float, float]:
    """Return shape and rate of s^k at the centre of the normal elements."""
    moves = np.array([-2.3, -1.1, -0.4, 0.0, 0.5, 1.3, 2.0, 2.9]) * around
    points = centre * np.exp(moves)[None]
    slopes = [field(moved(x, scale, point))[1][scale] for point in points[0]]
    # Both directions are offered: a term of the other kind must come out as nothing.
    features = line_features(generalized_inverse_gaussian(abs(k)), points)
    (result,), gap = fit(features, points * slopes, np.ones_like(points))
    a, up, down = result
    wanted, other = (-up, down) if k > 0 else (-down, up)
    name, names = field.label(scale), _names(field, law.elements)
    stray = np.abs(other * features[0, :, 2 if k > 0 else 1]).max()
    weight = np.abs(result * features[0]).sum(-1).max()
    if gap[0] > LOOSE or stray > LOOSE * weight:
        power = {1: name, -1: f"1 / {name}", 2: f"{name}**2", -2: f"1 / {name}**2"}[k]
        raise NotConjugate(
            f"given {names}, {power} is not a Gamma variable: the prior of {name} is of another "
            f"kind than what the data say about it.",
            _repair(names, name),
        )
    check_proper(field, np.array([scale]), np.array([wanted > 0]))
    return float((a + 1) / k), float(wanted)


def _bent(field: Field, real: Elements) -> str:
    return (
        f"the joint density as a function of {_names(field, real)} is not a normal law's: its "
        "log is not a parabola."
    )


def _improper(field: Field, real: Elements) -> str:
    return (
        f"the posterior of {_names(field, real)} is improper: some direction is not determined, "
        "or the curvature is not that of a density. Give it a proper prior, or more data."
    )


def _names(field: Field, elements: Elements) -> str:
    """Name the variables that elements belong to."""
    owners = np.unique(field.owner[elements])
    names = [
        field.continuous[i].name
        if (field.owner[elements] == i).sum() > 1
        else field.label(int(elements[field.owner[elements] == i][0]))
        for i in owners
    ]
    return listed(names)
