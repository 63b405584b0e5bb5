"""The law of one of finitely many labelled outcomes, used like SciPy's own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array


class FiniteLaw:
    """Probabilities of finitely many labelled outcomes.

    Parameters
    ----------
    log_mass : array_like of shape (M,)
        Log probabilities, up to a common constant; -inf is impossible.
    outcomes : tuple of length M
        Labels.

    Attributes
    ----------
    outcomes : tuple
        Labels.
    log_mass : ndarray of shape (M,)
        Log probabilities, which add up to one.

    Examples
    --------
    >>> law = FiniteLaw(np.log([1, 3]), ("tails", "heads"))
    >>> law.pmf("heads").round(6), law.pmf(["tails", "heads"]).round(6)
    (np.float64(0.75), array([0.25, 0.75]))
    """

    def __init__(self, log_mass: ArrayLike, outcomes: tuple[Hashable, ...]) -> None:
        logs = np.asarray(log_mass, dtype=float)
        self.outcomes = outcomes
        self.log_mass: Array = logs - logsumexp(logs)

    def logpmf(self, outcome: Any) -> Array:
        """Return log probabilities of one label, or of a list or array of them."""
        return places(outcome, self.outcomes, self.log_mass)

    def pmf(self, outcome: Any) -> Array:
        """Return probabilities of one label, or of a list or array of them."""
        return np.exp(self.logpmf(outcome))

    def rvs(
        self, size: int, random_state: np.random.Generator | int | None = None
    ) -> list[Hashable]:
        """Draw `size` labels."""
        mass = np.exp(self.log_mass)
        drawn = np.random.default_rng(random_state).choice(len(mass), size, p=mass / mass.sum())
        return [self.outcomes[k] for k in drawn]


def places(labels: Any, outcomes: tuple[Hashable, ...], values: Array) -> Array:
    """Return the values of one label, or of a list or array of labels; refuse others."""
    number = {outcome: k for k, outcome in enumerate(outcomes)}
    several = isinstance(labels, (list, range, set, frozenset)) or np.ndim(labels) > 0
    result = []
    for label in labels if several else [labels]:
        if label not in number:
            raise DataError(
                f"outcome: must be one of the {len(outcomes)} of the model; got {label!r}."
            )
        result.append(number[label])
    return values[result] if several else values[result[0]]
