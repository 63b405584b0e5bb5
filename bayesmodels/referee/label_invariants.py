"""Draws of a mixture against its exact posterior, by quantities that no order of classes changes.

These have no closed law. Many exact draws stand for it, and their own noise is reckoned with: `n`
of them against `ess` effective draws are as good as one law against 1 / (1 / ess + 1 / n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from bayesmodels.belief import reading
from bayesmodels.belief.protocol import Law
from bayesmodels.input.labels import Coords
from bayesmodels.numerics import Array

REFERENCE = 40_000
"""Exact draws that stand for the law."""


class EmpiricalLaw:
    """Law of a large sample, elementwise over the axes behind its first."""

    def __init__(self, sample: Array) -> None:
        self.sample = np.sort(sample, axis=0)

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self.sample.mean(0))

    def var(self) -> Array:
        """Return the variance."""
        return np.asarray(self.sample.var(0))

    def std(self) -> Array:
        """Return the standard deviation."""
        return np.sqrt(self.var())

    def stats(self, moments: str) -> Array:
        """Return the excess kurtosis, the only moment that is asked for."""
        del moments
        gap = self.sample - self.mean()
        return np.asarray((gap**4).mean(0) / np.maximum(self.var(), 1e-300) ** 2 - 3)

    def cdf(self, x: Any) -> Array:
        """Return the part of the sample up to x, which may be an array for a single element."""
        if self.sample.ndim == 1:
            return np.asarray(np.searchsorted(self.sample, x, side="right") / len(self.sample))
        return np.asarray((self.sample <= x).mean(0))

    def randomised(self, x: Array, rng: np.random.Generator) -> Array:
        """Return a random probability between those below x and up to x, over leading axes of x.

        It is uniform if x comes from the law, though values may come more than once.
        """
        result = np.empty(np.shape(x))
        for at in np.ndindex(self.sample.shape[1:]):
            own, given = self.sample[:, *at], np.asarray(x)[..., *at]
            below, up_to = (np.searchsorted(own, given, side=side) for side in ("left", "right"))
            # Among n + 1 draws, x being one more, its rank is one of n + 1.
            rank = below + rng.random(given.shape) * (up_to - below + 1)
            result[..., *at] = rank / (len(own) + 1)
        return result

    def ppf(self, q: float) -> Array:
        """Return the quantile with probability q below it."""
        return np.asarray(np.quantile(self.sample, q, axis=0, method="inverted_cdf"))

    def isf(self, q: float) -> Array:
        """Return the quantile with probability q above it."""
        return self.ppf(1 - q)

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

    def pdf(self, x: Any) -> Array:
        """Return a kernel estimate of the density of a single element, for pictures."""
        return np.exp(self.logpdf(x))


_KERNELS = 2000


@dataclass(frozen=True)
class InvariantLaw:
    """What a posterior says of quantities that do not depend on the order of the classes.

    Attributes
    ----------
    sample : dict
        Exact draws of the quantities, by name.
    """

    sample: dict[str, Array]

    @property
    def reference(self) -> int:
        """Number of exact draws that stand for the law."""
        return len(next(iter(self.sample.values())))

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of every quantity."""
        return {
            name: tuple(f"{name}_{i}" for i in range(x.ndim - 1)) for name, x in self.sample.items()
        }

    @property
    def coords(self) -> Coords:
        """Numbers along every axis."""
        return {
            f"{name}_{i}": tuple(range(size))
            for name, x in self.sample.items()
            for i, size in enumerate(x.shape[1:])
        }

    def marginals(self) -> dict[str, Law]:
        """Return the law of each quantity."""
        return {name: EmpiricalLaw(x) for name, x in self.sample.items()}

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary


def invariant_law(
    posterior: Any, draws: Any, data: Any, rng: np.random.Generator
) -> tuple[InvariantLaw, dict[str, Array]]:
    """Return the exact law of invariant quantities, and the same quantities of draws."""
    exact = posterior.label_invariants(posterior.sample(REFERENCE, rng), data)
    return InvariantLaw(exact), posterior.label_invariants(draws, data)
