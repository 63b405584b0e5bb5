"""What one more batch of rows is worth: the expected value of sample information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmodels.belief.protocol import Preposterior
from bayesmodels.decisions.independent import Independent, log_others
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import Countable, element


def value_of_batch(posterior: Any, quantity: str, n: int, *, largest: bool) -> float:
    """Return by how much n more rows in each group lower the least expected loss, on average.

    The posterior means after these rows are random now. The gain is how much the best of them is
    expected to exceed that of the group chosen now.
    """
    beliefs = posterior.values() if isinstance(posterior, Mapping) else [posterior]
    laws = []
    for belief in beliefs:
        if not isinstance(belief, Preposterior):
            raise DataError(
                "value_of: must be asked of conjugate beliefs, which know the law of their next "
                f"posterior mean; got {type(belief).__name__}. Simulate it instead: draw rows, "
                "update and decide again."
            )
        law = belief.mean_after(n)[quantity]
        laws += [element(law, at) for at in np.ndindex(np.shape(law.std()))]
    if all(isinstance(law, Countable) for law in laws):
        return float(_loss_of_sums(laws, largest=largest).min())
    return float(Independent(laws).expected_loss(largest=largest)[0].min())


def _loss_of_sums(laws: list[Countable], *, largest: bool) -> Array:
    """Return expected losses of discrete quantities, whose integral is a sum."""
    each = [law.steps() for law in laws]
    grid = np.unique(np.concatenate([values for values, _ in each]))
    below = np.array(
        [
            np.concatenate([[0.0], total])[np.searchsorted(values, grid, side="right")]
            for values, total in each
        ]
    )
    side = below if largest else 1 - below
    with np.errstate(divide="ignore"):
        logs = np.log(np.clip(side, 0, 1))[:, :-1]
    return np.asarray((np.exp(logs) * -np.expm1(log_others(logs))) @ np.diff(grid))
