"""The same integrals for many posteriors at once: groups along the last axis, problems before it.

Five digits are enough here, where rules are applied to thousands of data sets; what takes the time
elsewhere are distribution functions. Here they are integrals of the densities, of the polynomials
that go through these at the nodes of each panel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.polynomial import legendre

from bayesmodels.belief.protocol import Readable
from bayesmodels.decisions.independent import others
from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element

_TOGETHER = 500  # problems at once


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
        To about five digits; `decide` has more for one posterior.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> three = bm.BetaBernoulli([[11, 16], [11, 11], [16, 11]], 91)
    >>> bm.decisions.probability_best(three)[:, 1].round(4)
    array([0.8203, 0.5   , 0.1797])
    """

    def probability(density: Array, below: Array, weights: Array) -> Array:
        return np.asarray((density * others(_ahead(below, best)) * weights).sum(1))

    return _each(posterior, quantity, probability)


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
        To about five digits.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.decisions.expected_losses(bm.BetaBernoulli([[11, 16], [11, 11]], 91)).round(4)
    array([[0.0462, 0.0045],
           [0.0171, 0.0171]])
    """

    def loss(_: Array, below: Array, weights: Array) -> Array:
        side = _ahead(below, best)
        return np.asarray((side * (1 - others(side)) * weights).sum(1))

    return _each(posterior, quantity, loss)


def _ahead(below: Array, best: str) -> Array:
    return below if best == "largest" else 1 - below


def _each(posterior: Readable, quantity: str | None, of: Callable[[Any, Any, Any], Array]) -> Array:
    """Return what is made of densities and distribution functions, (K, nodes, problems)."""
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
    found = np.empty((size, shape[-1]))
    for rows in np.array_split(np.arange(size), 1 + size // _TOGETHER):
        at: Any = np.unravel_index(rows, shape[:-1]) if shape[:-1] else ()
        places: list[Any] = [(*at, np.full(len(rows), k)) for k in range(shape[-1])]
        own = [element(law, place) for place in places]
        found[rows] = of(*_functions(own)).T
    return found.reshape(shape)


def _functions(laws: list[Any]) -> tuple[Array, Array, Array]:
    each = [[law.ppf(0.5), *map(law.ppf, _TAILS), *map(law.isf, _TAILS)] for law in laws]
    ends = np.sort(np.concatenate(each), axis=0)
    low, width = ends[:-1, None], np.diff(ends, axis=0)[:, None]
    x = low + width * _NODES[:, None]
    density = np.exp([law.logpdf(x) for law in laws])
    mass = np.einsum("n,kpns->kps", _WEIGHTS, density) * width[:, 0]
    total = mass.sum(1, keepdims=True)
    before = (np.cumsum(mass, 1) - mass)[:, :, None]
    below = before + np.einsum("mn,kpns->kpms", _UP_TO, density) * width
    flat = (len(laws), -1, x.shape[-1])
    weights = np.broadcast_to(width * _WEIGHTS[:, None], x.shape).reshape(flat[1:])
    return (density.reshape(flat) / total, np.clip(below.reshape(flat) / total, 0, 1), weights)


_TAILS = (0.3, 0.1, 0.02, 1e-3, 1e-5, 1e-7)
_ROOTS, _GAUSS = legendre.leggauss(12)
_NODES, _WEIGHTS = (_ROOTS + 1) / 2, _GAUSS / 2
_BASIS = np.linalg.inv(legendre.legvander(_ROOTS, len(_ROOTS) - 1))
_UP_TO = legendre.legval(_ROOTS, legendre.legint(np.eye(len(_ROOTS)), lbnd=-1)).T @ _BASIS / 2
"""From values at the nodes to integrals from the beginning of a panel up to each."""
