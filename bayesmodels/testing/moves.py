r"""Draws against a density: moves that leave its law as it is must change no average.

A draw x of a density p may move to x', where x' could as well have been proposed from there. Moved
with Barker's chance :math:`\alpha = p(x') / (p(x) + p(x'))`, draws of p stay draws of p, and for
every g of -1 and 1 that changes its sign as x and x' change places

.. math:: E[\alpha \, g(x, x')] = 0, \qquad \operatorname{Var}[\alpha \, g] = E[\alpha] / 2.

As g serve signs of the change of each scalar, of its distance from the middle, of the log density
and, for dependence, of squared sums of all with random signs. A proposal adds the difference of
two more draws (ter Braak 2006, *A Markov Chain Monte Carlo version of the genetic algorithm
Differential Evolution*). That exact draws make a test of a move, and a move of draws, is from Gandy
and Scott (2020), *Unit testing for MCMC and other Monte Carlo methods*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit

from bayesmodels.belief.reading import label
from bayesmodels.numerics import Array

Values = dict[str, Array]

_DIRECTIONS = 8
_RARE = 20.0  # moves that a sum must have to be about normal
_ROUNDING = 1e-12


def proposed(draws: Values) -> tuple[Values, Values]:
    """Return a third of the draws, and proposals: steps along the differences of the others.

    A move that leaves the support stays where it is: beyond 0 or 1 where no draw is, or to no
    covariance where all draws are.
    """
    n = len(next(iter(draws.values()))) // 3
    x, a, b = ({name: v[i : i + n] for name, v in draws.items()} for i in (0, n, 2 * n))
    step = 2.38 / np.sqrt(2 * flat(x).shape[1])
    to = {name: x[name] + step * (a[name] - b[name]) for name in x}
    left = np.any([_outside(to[name], draws[name]) for name in x], axis=0)
    at = {name: left.reshape(-1, *np.ones(v.ndim - 1, dtype=int)) for name, v in x.items()}
    return x, {name: np.where(at[name], x[name], to[name]) for name in x}


def _outside(x: Array, draws: Array) -> Array:
    positive = (draws > 0).all(0)
    outside = ((x <= 0) & positive) | ((x >= 1) & positive & (draws < 1).all(0))
    square = x.ndim > 2 and x.shape[-1] == x.shape[-2]  # noqa: PLR2004
    if square and np.array_equal(draws, np.swapaxes(draws, -1, -2)):
        outside |= np.linalg.eigvalsh(x)[..., :1, None] <= 0
    return np.asarray(outside.reshape(len(x), -1).any(-1))


def flat(draws: Values) -> Array:
    """Return all scalars side by side, (draw, scalar)."""
    return np.concatenate([x.reshape(len(x), -1) for x in draws.values()], axis=1)


def largest_change(
    law: Any, x: Values, to: Values, gain: Array, rng: np.random.Generator
) -> tuple[float, float, str]:
    """Return the p value, the z score and the name of the largest change.

    `gain` is the log density at `to` minus that at `x`; the probability is over all functions.
    """
    gain = np.where(np.isnan(gain), -np.inf, gain)
    before, after = _bounded(flat(x), flat(to))
    changes = [gain, *(after - before).T]
    scalars = [label(law, name, at) for name in x for at in np.ndindex(x[name].shape[1:])]
    names = ["the log density", *(f"the location of {of}" for of in scalars)]
    names += [f"the spread of {of}" for of in scalars]
    for number in range(_DIRECTIONS if len(scalars) > 1 else 0):
        signs = rng.choice([-1.0, 1.0], before.shape[1])
        changes.append((after @ signs) ** 2 - (before @ signs) ** 2)
        names.append(f"random direction {number}")
    chance = expit(gain)
    z = [abs(_z(chance, change)) for change in changes]
    worst = int(np.argmax(z))
    return min(1.0, 2 * stats.norm.sf(z[worst]) * len(z)), z[worst], names[worst]


def _z(chance: Array, change: Array) -> float:
    """Return the sum of signs in standard errors; 0 if it rests on few moves, or on rounding."""
    sign = np.where(np.abs(change) > _ROUNDING, np.sign(change), 0.0)
    moves = (chance * np.abs(sign)).sum()
    return float((chance * sign).sum() / np.sqrt(moves / 2)) if moves >= _RARE else 0.0


def _bounded(x: Array, to: Array) -> tuple[Array, Array]:
    """Return functions of scalars for location, then for spread, between -1 and 1."""
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], axis=0)
    width = np.where(high > low, high - low, 1.0)
    with np.errstate(over="ignore"):
        angles = (np.arctan((each - middle) / width) * 2 / np.pi for each in (x, to))
    before, after = (np.concatenate([each, each**2], axis=1) for each in angles)
    return before - before.mean(0), after - before.mean(0)
