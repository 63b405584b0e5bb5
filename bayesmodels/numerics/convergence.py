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
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.ess import effective_draws

_TAILS = [0.05, 0.95]


class Convergence(NamedTuple):
    """Effective sample sizes and R-hat, of shape (scalar,); R-hat is NaN of a single chain."""

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
    flat = x.reshape(len(x), -1)
    size, still = flat.shape[1], np.ptp(flat, axis=-1) == 0
    order = np.argsort(flat, axis=-1)
    ordered = np.take_along_axis(flat, order, -1)
    scores = _spread(order, _normal_scores(ordered)).reshape(x.shape)
    tails = np.stack([x <= low, x <= high]).astype(float)
    result = effective_draws(np.stack([scores, *tails]), most=float(np.log10(size))).number
    bulk, below, above = np.where(np.ptp([scores, *tails], axis=(-2, -1)) == 0, size, result)
    # Distances from the median fall and then rise: two runs, which a stable sort merges.
    folded = np.abs(ordered - np.median(ordered, axis=-1)[:, None])
    merged = np.argsort(folded, axis=-1, kind="stable")
    folded, order = (np.take_along_axis(each, merged, -1) for each in (folded, order))
    of_folded = _spread(order, _normal_scores(folded)).reshape(x.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two equally frequent values are as far from their median as each other.
        r_hat = np.fmax(_r_hat(scores), _r_hat(of_folded))
    return np.stack([bulk, np.minimum(below, above), np.where(still, 1.0, r_hat)])


def _normal_scores(ordered: Array) -> Array:
    return np.asarray(ndtri((_average(ordered) - 0.375) / (ordered.shape[-1] + 0.25)))


def ranks(x: Array) -> Array:
    """Return average ranks along the last axis; without ties in half of SciPy's time."""
    order = np.argsort(x, axis=-1)
    return _spread(order, _average(np.take_along_axis(x, order, -1)))


def _average(ordered: Array) -> Array:
    """Return average ranks of rising values; one row for all where there are no ties."""
    if (ordered[..., 1:] == ordered[..., :-1]).any():
        return np.asarray(rankdata(ordered, axis=-1))
    return np.arange(1.0, ordered.shape[-1] + 1)


def _spread(order: NDArray[np.intp], values: Array) -> Array:
    """Return values in their original places, given in the order of `np.argsort`."""
    result = np.empty(order.shape)
    np.put_along_axis(result, order, values, -1)
    return result


def _r_hat(x: Array) -> Array:
    """Return R-hat of halves of chains; NaN of one chain."""
    if x.shape[-2] == 1:
        return np.full(len(x), np.nan)
    draws = x.shape[-1] // 2
    halves = x.reshape(len(x), -1, draws)
    between = draws * halves.mean(-1).var(-1, ddof=1)
    within = halves.var(-1, ddof=1).mean(-1)
    return np.asarray(np.sqrt((between / within + draws - 1) / draws))
