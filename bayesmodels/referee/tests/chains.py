"""Chains against each other.

Sums of squares of chains' averages of the first two polynomials about their common average, by
autocorrelation within chains alone. A chain that is stuck apart from the others lowers everybody's
effective number, and hides from all other tests.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, ndtri

from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.tests.kind import TINY, Kind, Test
from bayesmodels.referee.tests.polynomials import PER_SHIFT, PER_SPREAD, Transforms

LEAST_IN_CHAIN = 20.0
"""Effective draws in each chain below which its autocorrelation is not known well enough to tell
chains apart: at 8 x 25 draws of AR(0.95) 6 % were told apart at a level of 0.1 %."""
CHAIN = Kind(
    "chain", "difference of chains",
    "chain {chain} of {label} stands apart from the other chains ({size}).",
    weight=3, own_ess=True,
)  # fmt: skip
KINDS = (CHAIN,)


def judge(seen: Transforms) -> list[Test]:
    """Return a test of each scalar, of the first two polynomials."""
    return chain_tests(seen.labels, seen.moving[:2])


def chain_tests(labels: list[str], moving: Array) -> list[Test]:
    """Test whether chains differ by more than their own autocorrelation explains.

    Of functions of variance one, (function, scalar, chain, draw). With fewer than 20 effective
    draws in each chain, nothing is found.
    """
    chains = moving.shape[-2]
    if chains == 1:
        return []
    number, freedom = effective_draws(moving, between=False)
    means = moving.mean(-1)
    apart = means - means.mean(-1, keepdims=True)
    within = number / chains
    size = within * (apart**2).sum(-1) / (chains - 1)
    p = np.maximum(fdtrc(chains - 1, np.maximum(freedom, 1), size), TINY)
    p = np.where(within >= LEAST_IN_CHAIN, p, 1.0)
    best = p.argmin(0)[None]  # of location and spread
    one = np.arange(len(labels))
    chance = np.minimum(1.0, len(moving) * np.take_along_axis(p, best, 0)[0])
    ess = np.take_along_axis(number, best, 0)[0]
    gaps = apart[best[0], one]
    chain = np.abs(gaps).argmax(-1)
    unit = np.array([PER_SHIFT, PER_SPREAD])[best[0]]
    effect = gaps[one, chain] * chains / (chains - 1) / unit
    z = ndtri(chance / 2) * np.where(effect > 0, -1, 1) + 0.0
    columns = (values.tolist() for values in (z, ess, chance, effect, chain))
    return [Test(label, CHAIN.name, *row) for label, *row in zip(labels, *columns, strict=True)]
