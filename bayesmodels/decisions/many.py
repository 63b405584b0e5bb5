"""The integrals of `decide` for many posteriors at once: groups along the last axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from bayesmodels.belief.protocol import Readable
from bayesmodels.decisions.independent import Independent
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element

_BLOCK = 500  # problems at once


def probability_best(
    posterior: Readable,
    quantity: str | None = None,
    best: Literal["largest", "smallest"] = "largest",
) -> Array:
    """Return how probable it is that each group is best, of many posteriors at once.

    Parameters
    ----------
    posterior : belief
        Whose quantity is of shape (..., K), over K independent groups.
    quantity : str, optional
        Its name; by default the first variable.
    best : {"largest", "smallest"}, default "largest"
        Which value is good.

    Returns
    -------
    ndarray of shape (..., K)
        As `decide` has them for one posterior.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> three = bm.BetaBernoulli([[11, 16], [11, 11], [16, 11]], 91)
    >>> bm.decisions.probability_best(three)[:, 1].round(4)
    array([0.8203, 0.5   , 0.1797])
    """
    return _each(posterior, quantity, lambda joint: joint.best(largest=best == "largest"))


def expected_losses(
    posterior: Readable,
    quantity: str | None = None,
    best: Literal["largest", "smallest"] = "largest",
) -> Array:
    """Return the expected loss of choosing each group, of many posteriors at once.

    Parameters
    ----------
    posterior, quantity, best
        As in `probability_best`.

    Returns
    -------
    ndarray of shape (..., K)
        As `decide` has them for one posterior.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.decisions.expected_losses(bm.BetaBernoulli([[11, 16], [11, 11]], 91)).round(4)
    array([[0.0462, 0.0045],
           [0.0171, 0.0171]])
    """
    return _each(posterior, quantity, lambda joint: joint.expected_loss(largest=best == "largest"))


def _each(
    posterior: Readable, quantity: str | None, of: Callable[[Independent], tuple[Array, Array]]
) -> Array:
    """Return `of` for the groups along the last axis, for blocks of problems."""
    laws = posterior.marginals()
    name = quantity or next(iter(laws))
    law: Any = laws[name]
    shape = np.shape(law.std())
    if not shape or shape[-1] < 2:  # noqa: PLR2004 - groups
        raise DataError(
            f"posterior: must have groups along its last axis; its {name} is of shape {shape}. "
            "Give the design one parameter a group."
        )
    size = int(np.prod(shape[:-1], dtype=int))
    result = np.empty((size, shape[-1]))
    for rows in np.array_split(np.arange(size), 1 + size // _BLOCK):
        at: Any = np.unravel_index(rows, shape[:-1]) if shape[:-1] else ()
        places: list[Any] = [(*at, np.full(len(rows), k)) for k in range(shape[-1])]
        result[rows] = of(Independent([element(law, place) for place in places]))[0].T
    return result.reshape(shape)
