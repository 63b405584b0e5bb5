"""Class probabilities from linear scores, in logs: scores of all classes but the first, which is 0.

Arrays of scores have the shape (..., n, K - 1), of probabilities (..., n, K). Functions that a
complex step may differentiate say so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array

_WIDE = 2.0  # standard deviation of a score from which the integral goes over the logistic law
_NORMAL_NODES = np.linspace(-9.0, 9.0, 91)
_LOGISTIC_NODES = np.linspace(-40.0, 40.0, 201)


def scores(w: Array, X: Array) -> Array:
    """Return X w of shape (..., n, K - 1) for w of shape (..., K - 1, p); complex w are allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        result: Array = np.swapaxes(w @ X.T, -1, -2)
    if not np.isfinite(result).all():
        raise DataError(
            "w: products with the rows grow beyond all numbers; scale the columns, or draw "
            "smaller weights."
        )
    return result


def log_probabilities(score: Array) -> Array:
    """Return log probabilities of all classes; complex scores are allowed."""
    full = np.concatenate([np.zeros((*score.shape[:-1], 1), score.dtype), score], axis=-1)
    best = np.argmax(full.real, axis=-1)[..., None]
    below = full - np.take_along_axis(full, best, axis=-1)
    with np.errstate(under="ignore"):
        terms = np.exp(below)
        # Without the largest, which is 1: probabilities near 1 keep their distance from it.
        np.put_along_axis(terms, best, 0, axis=-1)
        return below - np.log1p(terms.sum(-1, keepdims=True))


def two_classes(counts: Array, score: Array) -> tuple[float, Array, Array]:
    """Return the loss of two classes, and by the score (n,) its residuals and curvature.

    As `log_probabilities` and `residuals` have it, for `counts` of shape (n, 2).
    """
    under, over = np.minimum(score, 0.0), np.maximum(score, 0.0)
    one, zero = np.exp(under), np.exp(-over)  # their probabilities, but for the same factor
    less = one * zero
    more = 1 / (1 + less)
    one, zero = one * more, zero * more
    seen_zero, seen_one = counts.T
    total = seen_zero + seen_one
    loss = float(total @ np.log1p(less) + seen_zero @ over - seen_one @ under)
    return loss, seen_one * zero - seen_zero * one, total * one * zero


def log_mass(counts: Array, log_p: Array) -> Array:
    """Return the log probability of each row's classes, of shape (..., n)."""
    return (counts * log_p).sum(-1)


def residuals(counts: Array, p: Array) -> Array:
    """Return counts minus their expectations, for all classes but the first.

    Written with the probability of the others, which is not rounded away where p is near 1.
    """
    others = 1 - np.eye(p.shape[-1])
    return (counts * (p @ others) - p * (counts @ others))[..., 1:]


def curvature_rows(p: Array, totals: Array, X: Array) -> Array:
    """Return rows A with A'A the negative second derivatives of the log likelihood.

    Of shape (m, (K - 1) p), for p of shape (n, K), totals (n,) and X (n, p).
    """
    if p.shape[-1] == 2:  # noqa: PLR2004 - two classes
        return np.sqrt(totals * p[:, 0] * p[:, 1])[:, None] * X
    classes = p.shape[-1]
    others = 1 - np.eye(classes)
    blocks = []
    for k in range(classes):
        # sqrt(p_k) (e_k - p); 1 - p_k is the sum of the others.
        row = -p
        row[:, k] = p @ others[:, k]
        row = np.sqrt(totals * p[:, k])[:, None] * row
        blocks.append((row[:, 1:, None] * X[:, None, :]).reshape(len(X), -1))
    return np.concatenate(blocks)


def averaged_binary(mean: Array, sd: Array) -> Array:
    """Return E[1 / (1 + exp(-s))] for normal scores s, elementwise, to 1e-13.

    The trapezoidal rule, whose error falls exponentially for functions without nearby poles: over
    the normal law of a narrow score; over the logistic law, E[Phi((mean - L) / sd)], of a wide one.
    """
    mean, sd = np.broadcast_arrays(mean, sd)
    wide = sd > _WIDE
    with np.errstate(under="ignore"):
        z = _NORMAL_NODES
        weight = np.exp(-0.5 * z**2)
        narrow_sd = np.where(wide, 1.0, sd)[..., None]
        narrow = (expit(mean[..., None] + narrow_sd * z) * weight).sum(-1) / weight.sum()
        at = _LOGISTIC_NODES
        mass = expit(at) * expit(-at)
        wide_sd = np.where(wide, sd, 1.0)[..., None]
        broad = (ndtr((mean[..., None] - at) / wide_sd) * mass).sum(-1) / mass.sum()
    return np.where(wide, broad, narrow)


def log_averaged_binary(mean: Array, sd: Array) -> Array:
    r"""Return ln E[1 / (1 + exp(-s))] for normal scores s; far out in the tail, too.

    There the average is too small to be summed up as it is, but

    .. math:: E[1 / (1 + e^{-s})] = e^{m + v / 2} \, E[1 / (1 + e^{s'})], \qquad
        s \sim N(m, v), \quad s' \sim N(m + v, v),

    of which the one is used whose average is the larger.
    """
    mean, sd = np.broadcast_arrays(mean, sd)
    tilted = -(mean + sd**2)
    far = tilted > mean
    average = averaged_binary(np.where(far, tilted, mean), sd)
    return np.log(average) + np.where(far, mean + 0.5 * sd**2, 0.0)


def drawn(p: Array, totals: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts of classes in `totals` draws, of the shape of p."""
    return rng.multinomial(totals, p / p.sum(-1, keepdims=True))
