"""Integrals over chains and trees of numbers that meet in pairs, by sums over nodes of each.

Where laws are no longer nearly normal ones: there may be several tops. Nodes reach as far as there
is mass, and are doubled until the sums settle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Elimination, Plan, Tables
from bayesmodels.numerics.node_law import Nodes, doubled

Summands = Callable[[NDArray[np.intp], Array], Tables]
"""From rows, and nodes (n, numbers, levels) in them, to tables of one number and of pairs."""

_FIRST, _MOST = 32, 512  # nodes of a number
_HELD = 2**23  # entries of tables: together, and at most of one row
_HEARD, _BEYOND = 1e-14, 1e-10  # of the mass: at nodes that are kept; at the ends, where none is
_WIDER, _FURTHEST = 0.25, 8.0  # of the range; and how far in t it is widened at most


class Settled(NamedTuple):
    """Nodes of rows, and how many did; log integrals and their errors. NaN where none did."""

    nodes: Nodes
    number: NDArray[np.intp]
    total: Array
    error: Array


class NodeForest:
    """Sums over numbers that meet in `pairs` (n, 2), a forest."""

    def __init__(self, pairs: NDArray[np.intp], size: int) -> None:
        self._scopes, self._size = {1: np.arange(size)[:, None], 2: pairs}, size
        self._plans: dict[int, Plan] = {}

    def batches(self, rows: NDArray[np.intp], number: int) -> Iterator[NDArray[np.intp]]:
        """Yield rows that are looked at together."""
        most = max(1, _HELD // (self._size * number**2))
        return (rows[at : at + most] for at in range(0, len(rows), most))

    def eliminated(self, tables: Tables, nodes: Nodes, number: int, every: int = 1) -> Elimination:
        """Return the sum of products of tables over every so many of a number of nodes."""
        levels = number // every
        if levels not in self._plans:
            self._plans[levels] = Plan(self._scopes, self._size, levels)
        t, step = nodes.places(number)
        one = tables[1] + nodes.log_weights(t) + np.log(every * step)[..., None]
        some = {1: one[..., ::every], 2: tables[2][..., ::every, ::every]}
        return Elimination(self._plans[levels], some)

    def settled(
        self, tables: Summands, nodes: Nodes, rows: NDArray[np.intp], most: float
    ) -> Settled:
        """Return nodes of some rows on which log integrals have settled, to `most`.

        `nodes` are where there is mass, about.
        """
        n = len(nodes.low)
        nodes = Nodes(nodes.centre, nodes.scale, nodes.low.copy(), nodes.high.copy())
        total, error, sizes = np.full(n, np.nan), np.full(n, np.inf), np.full(n, _FIRST)
        left = np.zeros(n, dtype=bool)
        left[rows] = True
        most_nodes = min(_MOST, int(np.sqrt(_HELD / self._size)))
        while left.any() and (size := int(sizes[left].min())) <= most_nodes:
            for at in self.batches(np.flatnonzero(left & (sizes == size)), size):
                own = nodes.of(at)
                each = tables(at, own.at(own.places(size)[0]))
                sums = [self.eliminated(each, own, size, k) for k in (1, 2, 4)]
                off = doubled([x.log_total for x in sums])
                low, high, wider = _reached(own, sums[1].probabilities())
                close = ~wider & (off <= most)
                nodes.low[at] = np.where(close[:, None], own.low, low)
                nodes.high[at] = np.where(close[:, None], own.high, high)
                total[at], error[at] = np.where(close, sums[0].log_total, np.nan), off
                left[at] = ~close
                wider &= (np.maximum(-own.low, own.high) < _FURTHEST).all(1)
                sizes[at] = np.where(close | wider, size, 2 * size)
        return Settled(nodes, sizes, total, error)


def _reached(nodes: Nodes, p: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return first and last places of t that reach as far as there is mass on every second node.

    And for which rows that is further than all do.
    """
    number = 2 * p.shape[-1]
    t, step = nodes.places(number)
    t = t[..., ::2]
    heard = p > _HEARD
    first, last = heard.argmax(-1), p.shape[-1] - 1 - heard[..., ::-1].argmax(-1)
    low, high = (np.take_along_axis(t, k[..., None], -1)[..., 0] for k in (first, last))
    below, above = p[..., 0] > _BEYOND, p[..., -1] > _BEYOND
    wider = (below | above).any(1)
    further = _WIDER * (nodes.high - nodes.low)
    low = np.where(wider[:, None], nodes.low - below * further, low - 2 * step)
    high = np.where(wider[:, None], nodes.high + above * further, high + 2 * step)
    return low, high, wider
