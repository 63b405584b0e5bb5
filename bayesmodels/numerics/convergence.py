r"""Effective sample sizes and R-hat of many scalars at once, as ArviZ defines them for one.

Draws are replaced by their normal scores, :math:`z = \Phi^{-1}((r - 3/8) / (S + 1/4))` of ranks r
among S. `ess_bulk` is the effective size of z, `ess_tail` the smaller one of the indicators of the
5 % and 95 % quantiles, R-hat the larger one of z and of the scores of distances from the median.
Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), *Rank-normalization, folding, and
localization: an improved R-hat*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.ess import effective_draws

_TAILS = [0.05, 0.95]


class Convergence(NamedTuple):
    """What is read off chains, of shape (scalar,); R-hat is NaN of a single chain."""

    ess_bulk: Array
    ess_tail: Array
    r_hat: Array


def convergence(x: Array) -> Convergence:
    """Return effective sizes and R-hat of draws of shape (scalar, chain, draw)."""
    pieces = threads.blocks(x, least=1)
    parts = threads.gathered(lambda piece: _block(x[piece]), pieces, x.size)
    return Convergence(*np.concatenate(parts, axis=-1)) if parts else Convergence(*np.zeros((3, 0)))


def _block(x: Array) -> Array:
    low, high = np.quantile(x.reshape(len(x), -1), _TAILS, axis=-1)[..., None, None]
    half = x.shape[-1] // 2
    x = np.concatenate([x[..., :half], x[..., -half:]], axis=-1)  # an odd draw is left out
    scores = _normal_scores(x)
    flat = x.reshape(len(x), -1)
    size, still = flat.shape[1], np.ptp(flat, axis=-1) == 0
    tails = np.stack([x <= low, x <= high]).astype(float)
    found = effective_draws(np.stack([scores, *tails]), most=float(np.log10(size))).number
    bulk, below, above = np.where(np.ptp([scores, *tails], axis=(-2, -1)) == 0, size, found)
    folded = np.abs(x - np.median(flat, axis=-1)[:, None, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two equally frequent values are as far from their median as each other.
        r_hat = np.fmax(_r_hat(scores), _r_hat(_normal_scores(folded)))
    return np.stack([bulk, np.minimum(below, above), np.where(still, 1.0, r_hat)])


def _normal_scores(x: Array) -> Array:
    r = ranks(x.reshape(len(x), -1)).reshape(x.shape)
    return np.asarray(ndtri((r - 0.375) / (x[0].size + 0.25)))


def ranks(x: Array) -> Array:
    """Return average ranks along the last axis; without ties in half of SciPy's time."""
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, -1)
    if (ordered[..., 1:] == ordered[..., :-1]).any():
        return np.asarray(rankdata(x, axis=-1))
    found = np.empty(x.shape)
    np.put_along_axis(found, order, np.arange(1.0, x.shape[-1] + 1), -1)
    return found


def _r_hat(x: Array) -> Array:
    """Return R-hat of halves of chains; NaN of one chain."""
    if x.shape[-2] == 1:
        return np.full(len(x), np.nan)
    draws = x.shape[-1] // 2
    halves = x.reshape(len(x), -1, draws)
    between = draws * halves.mean(-1).var(-1, ddof=1)
    within = halves.var(-1, ddof=1).mean(-1)
    return np.asarray(np.sqrt((between / within + draws - 1) / draws))
