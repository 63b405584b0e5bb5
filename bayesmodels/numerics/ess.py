r"""Effective sample sizes of averages over chains, for many functions at once.

The effective sample size is ArviZ's for a mean: autocorrelations within and between halves of
chains, added up in pairs as long as these are positive and fall (Geyer 1992, *Practical Markov
chain Monte Carlo*, section 3.3; Gelman et al., *Bayesian Data Analysis*, 3rd ed., section 11.5).
Here all functions are computed at once, and the number of lags is returned as well: over m
lags, n draws are about n / (2 m + 1) blocks that know nothing of each other, and a standard error
from them has as many degrees of freedom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from bayesmodels.numerics import Array, threads

_SURE = 4.0
"""Standard errors from which on chains count as dependent."""
_SHORT_LAGS = 8
"""Lags whose autocovariances are sums of products, before a Fourier transform gives all."""


class Effective(NamedTuple):
    """Effective `number` of draws, and degrees of `freedom` of the standard error, of shape (...).

    The number is one of a function that is the same for all.
    """

    number: Array
    freedom: Array


def effective_draws(values: Array, *, between: bool = True, most: float = 1.0) -> Effective:
    """Return effective numbers of draws of functions, of shape (..., chain, draw), at least four.

    Unless `between`, autocorrelation alone lowers the number, not chains that differ. The number is
    at most `most` times that of the draws.
    """
    *outer, chains, draws = values.shape
    flat = np.asarray(values, dtype=float).reshape(-1, chains, draws)
    rows = max(1, threads.BLOCK // max(chains * draws, 1))
    parts = [_effective(flat[i : i + rows], between, most) for i in range(0, len(flat), rows)]
    number, lags = np.concatenate(parts, axis=-1) if parts else np.zeros((2, 0))
    freedom = chains * draws / (2 * lags + 1)
    return Effective(number.reshape(outer), freedom.reshape(outer))


def _effective(values: Array, between: bool, most: float) -> Array:  # noqa: FBT001 - private
    half, odd = divmod(values.shape[-1], 2)
    alike = _alike(values) if between else np.zeros((2, len(values)))
    if between:
        even = np.delete(values, half, axis=-1) if odd else values
        values = even.reshape(len(values), -1, half)
    _, chains, draws = values.shape
    means = values.mean(-1, keepdims=True)
    centred = values - means
    still = np.ptp(values.reshape(len(values), -1), axis=-1) < np.finfo(float).resolution
    spread = means[..., 0].var(1, ddof=1) if between and chains > 1 else np.zeros(len(values))
    result = _times(_autocovariances(centred, min(_SHORT_LAGS, draws)), draws, still, spread)
    longer = np.isnan(result[0])
    if longer.any():
        every = _autocovariances(centred[longer], draws)
        result[:, longer] = _times(every, draws, still[longer], spread[longer])
    time, last = result
    # Chains that go the same way, or antithetic ones of an even function, tell one thing together.
    time = time * np.where(
        alike[0] > _SURE * alike[1] * np.sqrt(np.maximum(time, 1)), 1 + alike[0], 1
    )
    number = np.where(still, 1.0, chains * draws / np.maximum(time, 1 / most))
    return np.stack([number, 2.0 * last])


def _alike(values: Array) -> Array:
    """Return the excess variance of a sum over chains, relative to independent ones; its error."""
    centred = values - values.mean(-1, keepdims=True)
    independent = np.vecdot(centred, centred).sum(-1)
    independent = np.where(independent > 0, independent, 1.0)
    square = centred.sum(1) ** 2
    error = square.std(-1) * np.sqrt(square.shape[-1]) / independent
    return np.stack([square.sum(-1) / independent - 1, error])


def _autocovariances(centred: Array, lags: int) -> Array:
    """Return the first autocovariances, averaged over chains, of shape (function, lag)."""
    draws = centred.shape[-1]
    if lags < draws:
        products = [np.vecdot(centred[..., : draws - k], centred[..., k:]) for k in range(lags)]
        return np.stack([each.mean(1) for each in products], axis=-1) / draws
    size = fft.next_fast_len(2 * draws, real=True)
    spectrum = fft.rfft(centred, size, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(1)
    return np.asarray(fft.irfft(power, size, axis=-1)[:, :draws] / draws)


def _times(covariance: Array, draws: int, still: NDArray[np.bool_], spread: Array) -> Array:
    """Return autocorrelation times and numbers of pairs; NaN where more lags are needed."""
    within = covariance[:, :1] * draws / (draws - 1)
    total = covariance[:, :1] + spread[:, None]
    total[still | (total[:, 0] == 0)] = 1.0
    correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1.0
    even, odd = correlation[:, : correlation.shape[1] // 2 * 2 : 2], correlation[:, 1::2]
    pairs = even + odd
    pairs[:, (draws - 3) // 2 :] = -1.0  # the longest lags rest on a handful of draws
    ended = pairs <= 0
    last = np.argmax(ended, axis=1)  # the first pair that is not positive
    falling = np.minimum.accumulate(pairs, axis=1)
    counted = np.arange(pairs.shape[1]) < last[:, None]
    time = -1 + 2 * np.where(counted, falling, 0.0).sum(1)
    time += np.maximum(np.take_along_axis(even, last[:, None], 1)[:, 0], 0.0)
    return np.where(ended.any(1), [time, last], np.nan)
