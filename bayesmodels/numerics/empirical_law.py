"""The law of a large sample, elementwise over the axes behind its first."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from bayesmodels.numerics import Array
from bayesmodels.numerics.law import Law

_KERNELS = 2000


class EmpiricalLaw(Law):
    """The empirical law of a sample."""

    def __init__(self, sample: Array) -> None:
        self.sample = np.sort(sample, axis=0)

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self.sample.mean(0))

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.asarray(self.sample.std(0))

    def stats(self, _moments: str) -> Array:
        """Return the excess kurtosis, the only moment that is asked for."""
        gap = self.sample - self.mean()
        return np.asarray((gap**4).mean(0) / np.maximum(self.var(), 1e-300) ** 2 - 3)

    def cdf(self, x: Any) -> Array:
        """Return the share of the sample up to x, which may be an array for a single element."""
        if self.sample.ndim == 1:
            return np.asarray(np.searchsorted(self.sample, x, side="right") / len(self.sample))
        return np.asarray((self.sample <= x).mean(0))

    def randomised(self, x: Array, rng: np.random.Generator) -> Array:
        """Return randomised probability integral transforms of x, over its leading axes.

        They are uniform if x comes from the law, though values may come more than once.
        """
        result = np.empty(np.shape(x))
        for at in np.ndindex(self.sample.shape[1:]):
            draws, values = self.sample[:, *at], np.asarray(x)[..., *at]
            below, up_to = (np.searchsorted(draws, values, side=side) for side in ("left", "right"))
            # Among n + 1 draws, x being one more, its rank is one of n + 1.
            rank = below + rng.random(values.shape) * (up_to - below + 1)
            result[..., *at] = rank / (len(draws) + 1)
        return result

    def _quantile(self, below: Array, _above: Array) -> Array:
        return np.asarray(np.quantile(self.sample, below, axis=0, method="inverted_cdf"))

    def entry(self, at: tuple[int, ...]) -> EmpiricalLaw:
        """Return the law of one element."""
        return EmpiricalLaw(np.moveaxis(self.sample, 0, -1)[at])

    def logpdf(self, x: Any) -> Array:
        """Return a kernel estimate of the log density of a single element, for pictures."""
        step = max(1, len(self.sample) // _KERNELS)
        with np.errstate(divide="ignore"):
            return np.asarray(gaussian_kde(self.sample[::step]).logpdf(np.ravel(x))).reshape(
                np.shape(x)
            )
