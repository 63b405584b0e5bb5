"""How scalars of draws vary together, against exact draws from the law or another set of draws.

Draws may have every marginal right and still be wrong: dependence lost, or put in. Seen is

- the law's own log density at the draws, among its values at exact draws: too high where draws are
  too near to each other in all directions at once, too low where a dependence is missing;
- the rank correlation of pairs, and that of their distances from the median, which sees a scale
  that has come apart from what it scales; of all pairs, if there are few scalars, else of those
  that the law itself makes dependent;
- if there are many scalars, sums of their normal scores with random signs, whose spread changes
  with any dependence that the law does not have.

Exact draws have noise of their own, which every standard error here takes in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayesmodels.belief.protocol import Readable
from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.convergence import ranks
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.scalars import LawDraws
from bayesmodels.referee.tests.kind import Kind, Test, t_tests
from bayesmodels.referee.tests.polynomials import LOCATION, SPREAD, UNITS, polynomials
from bayesmodels.referee.tests.support import log_densities, support_tests

Pairs = NDArray[np.intp]

REFERENCE = 4000
"""Exact draws that joint quantities are compared with."""
FEW = 25
"""Scalars up to which every pair is looked at."""
_LOOKED_AT = 1000  # further exact draws, by which pairs are chosen
_DEPENDENT = 0.2
_MOST = 300
_ROWS = 1000  # of a matrix of correlations, at a time
_DIRECTIONS = 16
_FARTHEST = 1e-9  # of a transform from its ends, as a normal score
CORRELATION = Kind(
    "correlation", "rank correlation",
    "the rank correlation of {label} is {effect:.2g} too {way} ({size}).", weight=0.25,
)  # fmt: skip
"""Of two scalars there are four."""
KINDS = (CORRELATION,)


def joint_tests(
    law: Any, draws: LawDraws, labels: list[str], u: Array, rng: np.random.Generator
) -> list[Test]:
    """Return tests of several scalars at once, with transforms u of shape (scalar, chain, draw).

    If the law has no exact draws or no density, nothing is
    tested.
    """
    if not isinstance(law, Readable):
        return []
    seen = log_densities(law, draws, 2)
    result = support_tests(law, draws, seen, rng)
    if len(labels) == 1:
        return result
    exact = law.sample(REFERENCE + _LOOKED_AT, rng)
    reference = _scalars(law, exact, labels)
    known = log_densities(law, {name: x[:REFERENCE] for name, x in exact.items()}, 1)
    result += _moved("log density", EmpiricalLaw(known).randomised(seen, rng))
    if len(pairs := chosen_pairs(reference[:, REFERENCE:])):
        result += _correlations(labels, pairs, u, reference[:, :REFERENCE])
    if len(labels) > FEW:
        result += _directions(u, reference[:, :REFERENCE], rng)
    return result


def _scalars(law: Any, exact: dict[str, Array], labels: list[str]) -> Array:
    """Return uniform scores of exact draws by their ranks, of shape (scalar, draw)."""
    drawn = LawDraws(law, {name: x[None] for name, x in exact.items()})
    every = {label: x[0] for label, _, _, x in drawn.scalars}
    x = np.array([every[label] for label in labels])
    result = threads.gathered(lambda part: ranks(x[part]), threads.blocks(x, least=1), x.size)
    return (np.concatenate(result) - 0.5) / (REFERENCE + _LOOKED_AT)


def _directions(u: Array, exact: Array, rng: np.random.Generator) -> list[Test]:
    """Test sums of normal scores with random signs."""
    result = []
    for number, (along, reference) in enumerate(signed_sums(rng, u, exact)):
        u_along = EmpiricalLaw(reference).randomised(along, rng)
        result += _moved(f"random direction {number}", u_along)
    return result


def signed_sums(rng: np.random.Generator, *every: Array) -> Iterator[tuple[Array, ...]]:
    """Return sums of normal scores with random signs, the same for each set of transforms."""
    signs = rng.choice([-1.0, 1.0], (_DIRECTIONS, len(every[0])))

    def of_piece(piece: slice) -> list[Array]:
        scores = (special.ndtri(np.clip(v[piece], _FARTHEST, 1 - _FARTHEST)) for v in every)
        return [np.tensordot(signs[:, piece], part, 1) for part in scores]

    parts = threads.gathered(of_piece, threads.blocks(every[0], least=1), every[0].size)
    return zip(*(np.sum(part, axis=0) for part in zip(*parts, strict=True)), strict=True)


def _moved(label: str, u: Array) -> list[Test]:
    """Test location and spread of one scalar whose law is known by exact draws."""
    f, none, one = polynomials(u)[:2], np.zeros(2), np.ones(2)
    return _tests([label] * 2, [LOCATION, SPREAD], f, none, one, UNITS[:2])


def chosen_pairs(*every: Array) -> Pairs:
    """Return the pairs to be looked at, of shape (pair, 2).

    The average rank correlation of transforms (scalar, draw) of one or more sets of draws decides.
    Numbers from that of the scalars on are their distances from the median.
    """
    number = len(every[0])
    if number <= FEW:
        pairs = np.stack(np.triu_indices(2 * number, 1), axis=-1)
        return pairs[pairs[:, 1] - pairs[:, 0] != number]
    parts = [_standardised(part[:, :: max(1, part.shape[1] // _LOOKED_AT)]) for part in every]
    result: list[Pairs] = []
    sizes: list[Array] = []
    for start in range(0, 2 * number, _ROWS):
        size = np.mean([part[start : start + _ROWS] @ part[start:].T for part in parts], axis=0)
        row, column = np.nonzero(np.abs(size) > _DEPENDENT)
        other = (column > row) & (column - row != number)
        row, column = row[other], column[other]
        sizes.append(np.abs(size[row, column]))
        result.append(np.stack([row, column], axis=-1) + start)
    order = np.argsort(-np.concatenate(sizes), kind="stable")[:_MOST]
    return np.concatenate(result)[order]


def _standardised(u: Array) -> Array:
    """Return transforms and distances whose products add up to correlations."""
    centred = with_distances(u)
    centred -= centred.mean(-1, keepdims=True)
    size = np.sqrt((centred**2).sum(-1, keepdims=True))
    result = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    return result.astype(np.float32)  # which pairs are chosen takes no more digits


def with_distances(u: Array) -> Array:
    """Return transforms and, below them, those of distances from the median, uniform as well."""
    return np.concatenate([u, np.abs(2 * u - 1)])


def names_of(labels: list[str], pairs: Pairs) -> list[str]:
    """Return a label for each pair."""
    every = [*labels, *(f"|{label} - median|" for label in labels)]
    return [f"{every[i]} and {every[j]}" for i, j in pairs]


def products(u: Array, pairs: Pairs) -> Array:
    """Return draws (pair, ...) whose averages are rank correlations; they are bounded."""
    used, places = np.unique(pairs, return_inverse=True)
    one, other = places.reshape(pairs.shape).T
    transforms = u[used % len(u)]
    distance = (used >= len(u)).reshape(-1, *np.ones(u.ndim - 1, dtype=int))
    centred = np.where(distance, np.abs(2 * transforms - 1), transforms) - 0.5
    return 12 * centred[one] * centred[other]


def _correlations(labels: list[str], pairs: Pairs, u: Array, exact: Array) -> list[Test]:
    """Test rank correlations."""
    kinds = [CORRELATION] * len(pairs)
    f, known = products(u, pairs), products(exact, pairs)
    one = np.ones(len(pairs))
    return _tests(names_of(labels, pairs), kinds, f, known.mean(-1), known.std(-1), one)


def _tests(
    labels: list[str], kinds: list[Kind], f: Array, mean: Array, sd: Array, unit: Array
) -> list[Test]:
    """Test averages of functions whose means and spreads come from exact draws."""
    number, freedom = effective_draws(f)
    gap = f.mean((-2, -1)) - mean
    z = gap / (sd * np.sqrt(1 / number + 1 / REFERENCE))
    return t_tests(labels, kinds, z, number, freedom, gap / unit)
