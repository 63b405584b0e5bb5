r"""Elements whose slope depends on nothing but themselves: read off a few evaluations, all at once.

In the right coordinate the slope of a family's log density is linear in its parameters:

.. math::

    \text{Beta:}\quad & \partial L / \partial \operatorname{logit} x = (\alpha - 1)(1 - x)
        - (\beta - 1) x \\
    \text{Dirichlet:}\quad & \text{within the simplex}\quad (\alpha_k - 1)(1 - x_k) - x_k
        \textstyle\sum_{j \ne k} (\alpha_j - 1) \\
    \text{Gamma and its kin:}\quad & \partial L / \partial \ln x = A - p b x^p + p c x^{-p} \\
    \text{normal:}\quad & \partial L / \partial x = h - \lambda x
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import (
    BETA,
    DIRICHLET,
    NORMAL,
    Arrays,
    Family,
    gamma,
)
from bayesmodels.posteriors.families import EPS, Elements, Factor, Gaussian, Independent
from bayesmodels.posteriors.gradient import Field
from bayesmodels.posteriors.points import MILD, WILD, moved, score, somewhere
from bayesmodels.posteriors.support import KINDS
from bayesmodels.posteriors.support.simplex import SIMPLEX

LOOSE = 1e-7
"""Relative discrepancy from which on a slope is not the family's; strict is only the proof."""
_ROUGHLY_NOTHING, _NOTHING = 1e-10, 1e-14  # relative size from which on a term is there

Looks = tuple[int, int, int]
FIRST: Looks = (6, 8, 8)
AGAIN: Looks = (3, 4, 5)
"""Numbers of mild, wild and close points: at first, and when the kinds of laws are known."""
_ROUNDS = 3
_AROUND = np.array([0.0, 7.0, -7.0, 3.0, -3.0, 1.0, -1.0, 1.7])


Scores = tuple[Array, Array]
"""Points, one a row, and scores of all elements there."""


def _scores(field: Field, points: Sequence[Array]) -> Scores:
    with np.errstate(all="ignore"):  # who fits looks at what is not finite
        result = [score(field, x, field(x)[1]) for x in points]
    return np.array(points), np.array(result)


def _visit(
    field: Field, chosen: Elements, x: Array, rng: np.random.Generator, looks: Looks
) -> Scores:
    """Look at points far and near, all chosen elements moving at once."""
    spreads = [MILD] * looks[0] + [WILD] * looks[1]
    points = [moved(x, chosen, somewhere(field, rng, spread)[chosen]) for spread in spreads]
    scores = _scores(field, points)
    bad = ~np.isfinite(scores[1][: looks[0], chosen]).all(0)
    if bad.any():
        names = field.label(int(chosen[np.flatnonzero(bad)[0]]))
        raise NotConjugate(
            f"the density is not smooth in {names}: its slope is not finite at possible values."
        )
    return scores


def fit(features: Array, values: Array, floor: Array) -> tuple[Array, Array]:
    """Solve for the parameters of every element; weigh each point by the size of its terms.

    Features have the shape (elements, points, parameters); values, which are scores, and floor, the
    size of terms that are always there, (elements, points). Returned are parameters and, for each
    element, the largest residual over the summed sizes of the terms.
    """
    # Elements last: there may be very many, and a few points.
    features, values, floor = (np.ascontiguousarray(x.T) for x in (features, values, floor))
    known = np.isfinite(values) & np.isfinite(features).all(0)
    features = np.where(known, features, 0.0)
    values = np.where(known, values, 0.0)
    size = np.abs(features).max(0) + np.abs(values)
    gap = np.ones_like(size)
    for turn in range(2 * _ROUNDS):
        # At first all points count alike; then those most that agree best: near a border a model
        # that says 1 - x has lost digits which the other points still have.
        trust = 1.0 if turn < _ROUNDS else np.maximum(gap, 4 * EPS)
        weight = np.divide(known, size * trust, out=np.zeros_like(size), where=size > 0)
        column = np.abs(features * weight).max(1)
        column[column == 0] = 1
        scaled = features * weight / column[:, None]
        parameters = _least_squares(scaled, values * weight) / column
        terms = features * parameters[:, None]
        size = np.abs(terms).sum(0) + floor
        gap = np.divide(
            np.abs(values - terms.sum(0)), size, out=np.zeros_like(size), where=size > 0
        )
    return parameters.T, np.where(known, gap, 0.0).max(0)


def _least_squares(columns: Array, values: Array) -> Array:
    """Solve many small problems at once, by modified Gram-Schmidt.

    Columns have the shape (column, point, problem). One that those before it explain gets a zero.
    """
    width = len(columns)
    columns, values = columns.copy(), values.copy()
    nothing = columns.shape[1] * EPS * np.sqrt((columns**2).sum(1))
    sizes, result = np.ones_like(nothing), np.zeros_like(nothing)
    above: dict[tuple[int, int], Array] = {}
    for k in range(width):
        size = np.sqrt((columns[k] ** 2).sum(0))
        there = size > nothing[k]
        sizes[k, there] = size[there]
        unit = np.where(there, columns[k] / sizes[k], 0.0)
        result[k] = (unit * values).sum(0)
        values -= unit * result[k]
        for other in range(k + 1, width):
            above[k, other] = (unit * columns[other]).sum(0)
            columns[other] -= unit * above[k, other]
    for k in reversed(range(width)):
        for other in range(k + 1, width):
            result[k] -= above[k, other] * result[other]
        result[k] /= sizes[k]
    return result


def line_features(family: Family, x: Array) -> Array:
    """Return the slopes of sufficient statistics, at points x: what parameters are multiplied by.

    Of a normal law these are the pull towards the mean and the precision.
    """
    with np.errstate(all="ignore"):
        return np.stack(family.slopes(x), -1)


def independent_laws(
    field: Field, chosen: Elements, x: Array, rng: np.random.Generator, looks: Looks = FIRST
) -> tuple[list[Factor], Elements]:
    """Return laws of those elements that depend on no other, and the elements that remain."""
    scores = _visit(field, chosen, x, rng, looks)
    factors: list[Factor] = []
    settled = np.zeros(field.size, dtype=bool)
    for kind in KINDS:
        of_kind = chosen[field.of(kind)[chosen]]
        if not kind.core and kind.families and len(of_kind):
            result, done = _line(field, kind.families, of_kind, scores, looks[2])
            factors += result
            settled[done] = True
    for kind, rows in field.parts:
        inside = rows[np.isin(rows, chosen).all(-1)] if kind is SIMPLEX else rows[:0]
        if len(inside):
            result, done = _simplexes(field, inside, scores)
            factors += result
            settled[done.ravel()] = True
    return factors, chosen[~settled[chosen]]


def _line(
    field: Field, families: Sequence[Family], elements: Elements, scores: Scores, close: int
) -> tuple[list[Factor], Elements]:
    factors: list[Factor] = []
    left = elements
    for family in families:
        if not len(left):
            break
        at, gap = _fitted(family, left, scores)
        good = gap <= LOOSE
        if good.any():
            fitting = left[good]
            near = _closer(field, family, fitting, at[good], scores[0][0], close)
            if family is BETA:  # which has ends: the far points tell what the near ones can't
                near = np.vstack([near[0], scores[0]]), np.vstack([near[1], scores[1]])
            factors += _named(field, family, fitting, _fitted(family, fitting, near)[0])
        left = left[~good]
    return factors, np.setdiff1d(elements, left)


def _fitted(family: Family, elements: Elements, scores: Scores) -> tuple[Array, Array]:
    x, values = (part[:, elements].T for part in scores)
    # Exponents are counted from one; a normal law has no such natural size.
    floor = np.zeros_like(x) if family is NORMAL else np.ones_like(x)
    return fit(line_features(family, x), values, floor)


def _closer(
    field: Field, family: Family, which: Elements, at: Array, x: Array, close: int
) -> Scores:
    """Return scores at points around the law with natural parameters `at`."""
    around = _AROUND[:close]
    if family is NORMAL:
        check_proper(field, which, at[:, 1] > 0)
        sd = 1 / np.sqrt(at[:, 1])
        centre = at[:, 0] / at[:, 1]
        moves = [centre + 40 * a * np.maximum(sd, 0.01 * np.abs(centre)) for a in around]
    elif family is BETA:
        odds = np.log(np.maximum(at[:, 0] + 1, EPS)) - np.log(np.maximum(at[:, 1] + 1, EPS))
        moves = [expit(np.clip(odds + 0.5 * a, -16, 16)) for a in around]
    else:
        centre = _middle(family.power, at)
        moves = [centre * np.exp(a) for a in around]
    return _scores(field, [moved(x, which, move) for move in moves])


def _middle(power: int, at: Array) -> Array:
    """Return about where the density of a positive element has its mass."""
    a, b, c = np.abs(at.T)
    up, down = _there(at, _ROUGHLY_NOTHING)
    large = np.divide(np.maximum(a, 1), b, out=np.ones_like(a), where=b > 0)
    small = c / np.maximum(a, 1)
    size = np.where(up & ((at[:, 0] >= 0) | ~down), large, np.where(down, small, 1.0))
    return np.asarray(np.clip(size, 1e-250, 1e250) ** (1 / power))


def _there(at: Array, nothing: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say whether the terms with x^p and x^-p are there: both weigh something where they meet."""
    a, b, c = np.maximum(np.abs(at[:, 0]), 1), -at[:, 1], -at[:, 2]
    # At its own size each is as large as a; then the other one is b c / a.
    both = (np.abs(b * c) > nothing * a**2) & (b > 0) & (c > 0)
    up = both | (np.abs(b) >= np.abs(c))
    down = both | (np.abs(c) > np.abs(b))
    return up & (b != 0), down & (c != 0)


def _named(field: Field, both: Family, chosen: Elements, at: Array) -> list[Factor]:
    """Return laws with natural parameters that were found."""
    if both is NORMAL:
        check_proper(field, chosen, at[:, 1] > 0)
        return [Gaussian.independent(chosen, at[:, 0] / at[:, 1], at[:, 1])]
    if both is BETA:
        return [_law(field, chosen, BETA, BETA.usual(*at.T))]
    power = both.power
    up, down = _there(at, _NOTHING)
    rates = -at[:, 1:].T
    check_proper(field, chosen, up | down)
    check_proper(field, chosen, (~up | (rates[0] > 0)) & (~down | (rates[1] > 0)))
    result: list[Factor] = []
    for which, family, terms in (
        (up & ~down, gamma(power), [0, 1]),
        (down & ~up, gamma(-power), [0, 2]),
        (up & down, both, [0, 1, 2]),
    ):
        if which.any():
            result.append(_law(field, chosen[which], family, family.usual(*at[which][:, terms].T)))
    return result


def _law(field: Field, elements: Elements, family: Family, parameters: Arrays) -> Independent:
    """Return the law of some elements if it is proper."""
    for value, proper in zip(parameters, family.proper, strict=True):
        if proper:
            check_proper(field, elements, (value > 0).ravel())
    return Independent(elements, family, parameters)


def _simplexes(field: Field, rows: Elements, scores: Scores) -> tuple[list[Factor], Elements]:
    parameters, gap = _fitted(BETA, rows.ravel(), scores)
    each, others = parameters[:, 0].reshape(rows.shape), parameters[:, 1].reshape(rows.shape)
    size = 1 + np.abs(each).sum(-1, keepdims=True)
    same = np.abs(others + each - each.sum(-1, keepdims=True)) <= LOOSE * size
    good = (gap.reshape(rows.shape) <= LOOSE).all(-1) & same.all(-1)
    if not good.any():
        return [], rows[good]
    result = DIRICHLET.usual(each[good])
    return [_law(field, rows[good].ravel(), DIRICHLET, result)], rows[good]


def check_proper(field: Field, elements: Elements, fine: NDArray[np.bool_]) -> None:
    """Refuse elements whose density has no finite integral."""
    if not fine.all():
        name = field.label(int(elements[np.flatnonzero(~fine)[0]]))
        raise NotConjugate(
            f"the posterior of {name} is improper: its density does not have a finite integral. "
            "Give it a proper prior, or more data."
        )
