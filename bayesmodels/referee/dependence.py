"""How scalars of draws vary together, against exact draws from the law or another set of draws.

Draws may have every marginal right and still be wrong: dependence lost, or put in. Seen is

- the law's own log density at the draws, among its values at exact draws: too high where draws are
  too near to each other in all directions at once, too low where a dependence is missing;
- the rank correlation of pairs: of all pairs, if there are few scalars; else of those that the law
  itself makes dependent;
- if there are many scalars, sums of their normal scores with random signs, whose spread changes
  with any dependence that the law does not have.

Exact draws have noise of their own, which every standard error here takes in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from bayesmodels.belief.protocol import Readable
from bayesmodels.belief.reading import group_of
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.pit import PER_SHIFT, PER_SPREAD, Kind, Test, polynomials, tests
from bayesmodels.referee.scalars import scalar_draws

Pairs = NDArray[np.intp]

REFERENCE = 4000
"""Exact draws that joint quantities are compared with."""
FEW = 25
"""Scalars up to which every pair is looked at."""
_LOOKED_AT = 1000  # further exact draws, by which pairs are chosen
_DEPENDENT = 0.2
_MOST = 300
_DIRECTIONS = 16
_FARTHEST = 1e-9  # of a transform from its ends, as a normal score


def joint_tests(
    law: Any, draws: Any, labels: list[str], u: Array, rng: np.random.Generator
) -> list[Test]:
    """Return tests of several scalars at once, with transforms u of shape (scalar, chain, draw).

    If the law has no exact draws or no density, nothing is tested.
    """
    if len(labels) == 1 or not isinstance(law, Readable):
        return []
    exact = law.sample(REFERENCE + _LOOKED_AT, rng)
    own = _scalars(law, exact, labels)
    found = _densities(law, draws, exact, rng)
    pairs = chosen_pairs(own[:, REFERENCE:])
    if len(pairs):
        found += _correlations(labels, pairs, u, own[:, :REFERENCE])
    if len(labels) > FEW:
        found += _directions(u, own[:, :REFERENCE], rng)
    return found


def _scalars(law: Any, exact: dict[str, Array], labels: list[str]) -> Array:
    """Return uniform scores of exact draws by their ranks, of shape (scalar, draw)."""
    every = {
        label: x[0] for label, _, _, x in scalar_draws(law, {n: x[None] for n, x in exact.items()})
    }
    ranks = stats.rankdata([every[label] for label in labels], axis=-1)
    return np.asarray((ranks - 0.5) / (REFERENCE + _LOOKED_AT))


def _densities(
    law: Any, draws: Any, exact: dict[str, Array], rng: np.random.Generator
) -> list[Test]:
    """Test the log density of draws."""
    group = group_of(draws)
    given = {name: np.asarray(group[name]) for name in law.dims}
    with np.errstate(all="ignore"):
        try:
            seen = _whole(law, given, 2)
        except (np.linalg.LinAlgError, DataError):  # not even possible values: scalars tell that
            return []
        known = _whole(law, {name: x[:REFERENCE] for name, x in exact.items()}, 1)
    u = EmpiricalLaw(known).randomised(seen, rng)
    return _moved("log density", u)


def _whole(law: Any, draws: dict[str, Array], axes: int) -> Array:
    """Return the log density over leading axes; of separate problems, that of all together."""
    value = np.asarray(law.log_density(draws))
    value = value.reshape(*value.shape[:axes], -1).sum(-1)
    return np.where(np.isnan(value), -np.inf, value)


def _directions(u: Array, own: Array, rng: np.random.Generator) -> list[Test]:
    """Test sums of normal scores with random signs."""
    found = []
    for number, (along, reference) in enumerate(signed_sums(rng, u, own)):
        u_along = EmpiricalLaw(reference).randomised(along, rng)
        found += _moved(f"random direction {number}", u_along)
    return found


def signed_sums(rng: np.random.Generator, *every: Array) -> Iterator[list[Array]]:
    """Return sums of normal scores with random signs, the same for each set of transforms."""
    scores = [special.ndtri(np.clip(v, _FARTHEST, 1 - _FARTHEST)) for v in every]
    for _ in range(_DIRECTIONS):
        signs = rng.choice([-1.0, 1.0], len(every[0]))
        yield [np.tensordot(signs, part, 1) for part in scores]


def _moved(label: str, u: Array) -> list[Test]:
    """Test location and spread of one scalar whose law is known by exact draws."""
    f, none, one = polynomials(u)[:2], np.zeros(2), np.ones(2)
    kinds: list[Kind] = ["location", "spread"]
    return _tests([label] * 2, kinds, f, none, one, np.array([PER_SHIFT, PER_SPREAD]))


def chosen_pairs(*every: Array) -> Pairs:
    """Return the pairs to be looked at, of shape (pair, 2).

    The average rank correlation of transforms (scalar, draw) of one or more sets of draws decides.
    """
    pairs = np.array(list(combinations(range(len(every[0])), 2)), dtype=np.intp)
    if len(every[0]) <= FEW:
        return pairs
    with np.errstate(invalid="ignore"):
        mean = np.mean([np.corrcoef(part) for part in every], axis=0)
    size = np.abs(np.nan_to_num(mean))[*pairs.T]
    order = np.argsort(-size, kind="stable")[:_MOST]
    return pairs[order[size[order] > _DEPENDENT]]


def products(u: Array, pairs: Pairs) -> Array:
    """Return what averages to rank correlations: bounded, unlike products of normal scores."""
    return 12 * (u[pairs[:, 0]] - 0.5) * (u[pairs[:, 1]] - 0.5)


def _correlations(labels: list[str], pairs: Pairs, u: Array, own: Array) -> list[Test]:
    """Test rank correlations."""
    names = [f"{labels[i]} and {labels[j]}" for i, j in pairs]
    kinds: list[Kind] = ["correlation"] * len(pairs)
    f, known = products(u, pairs), products(own, pairs)
    return _tests(names, kinds, f, known.mean(-1), known.std(-1), np.ones(len(pairs)))


def _tests(
    labels: list[str], kinds: list[Kind], f: Array, mean: Array, sd: Array, unit: Array
) -> list[Test]:
    """Test averages of functions whose means and spreads come from exact draws."""
    number, freedom = effective_draws(f)
    gap = f.mean((-2, -1)) - mean
    z = gap / (sd * np.sqrt(1 / number + 1 / REFERENCE))
    return tests(labels, kinds, z, number, freedom, gap / unit)
