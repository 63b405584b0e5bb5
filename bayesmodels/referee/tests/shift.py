"""A small shift of all draws, by the combination of polynomials that it moves by most.

Each degree counts by how fast its mean changes with a shift, over its own variance. The law's
distribution function tells the first, so that of a skewed law less noise is left than of its mean:
of a Beta(5, 19), a shift takes a sixth fewer draws, and fewer still where draws are autocorrelated,
since higher degrees are less so. Of a law with a sharp edge this would be all about visits of that
edge, which come in clusters: higher degrees have at most one and a half times the variance of the
first.
"""

from __future__ import annotations

import numpy as np

from bayesmodels.numerics import Array
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.tests.kind import Kind, Test, t_tests
from bayesmodels.referee.tests.polynomials import (
    LOCATION,
    PER_SHIFT,
    Transforms,
    polynomials,
    shift_in_table,
)

_HIGHER = 1.5  # variance that higher degrees may have, in that of the first
SHIFT = Kind("shift", "shift", LOCATION.says, weight=96, in_table=shift_in_table)
"""Means are what is reported first: of one scalar, shifts may use four fifths of the level."""
KINDS = (SHIFT,)


def slopes(x: Array, u: Array) -> Array:
    r"""Return how fast the means of the polynomials rise as all draws are shifted, (4, scalar).

    Shifted by :math:`h`, the mean of :math:`f(F(x))` rises by :math:`h \int F'(x) \, df(F(x))`; the
    integral is a sum over gaps between quantiles x and their probabilities u, (scalar, point).
    """
    gaps = np.diff(x)
    with np.errstate(over="ignore", invalid="ignore"):  # of gaps too small; told by the result
        density = np.divide(np.diff(u), gaps, out=np.zeros_like(gaps), where=gaps > 0)
        rates: Array = (density * np.diff(polynomials(u))).sum(-1)
    return rates


def judge(seen: Transforms) -> list[Test]:
    """Test the combination of polynomials that a shift moves by most standard errors."""
    labels, moving, reference, rates = seen.labels, seen.moving, seen.reference, seen.rates
    number = seen.effective.number[0]
    can = np.flatnonzero(np.isfinite(rates).all(0) & (rates[0] > 0))
    if not can.size:
        return []
    rates = rates[:, can] / rates[0, can]  # a shift of one moves the first polynomial by one
    weights = rates / _noise(number[can], moving[0, 0].size, reference)
    weights /= weights[0]
    higher = (weights[1:] ** 2).sum(0)
    weights[1:] *= np.sqrt(_HIGHER / np.maximum(higher, _HIGHER))
    weights /= np.sqrt((weights**2).sum(0))
    combined = np.einsum("ks,kscd->scd", weights, moving[:, can])
    ess, freedom = effective_draws(combined)
    means = combined.mean((-2, -1))
    z = means / np.sqrt(1 / ess + 1 / reference)
    effect = means / (weights * rates).sum(0) / PER_SHIFT
    return t_tests([labels[i] for i in can], [SHIFT] * len(can), z, ess, freedom, effect)


def _noise(number: Array, draws: int, reference: float) -> Array:
    """Return about the variances of the polynomials' means, from the first one's effective number.

    As of a Gaussian chain: what has an autocorrelation of r in the first degree has about r to the
    power k in degree k. Effective numbers of their own would be noisier weights, and those that
    come out too large would count most.
    """
    share = np.minimum(number / draws, 1.0)
    memory = ((1 - share) / (1 + share)) ** np.arange(1, 5)[:, None]
    return (1 + memory) / (1 - memory) / draws + 1 / reference
