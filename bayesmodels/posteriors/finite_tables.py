"""The part of a log density that has finite elements, as tables of few elements each.

A log density is a sum; the graph shows which elements each summand has. Elements that meet in no
summand move together: so a chain of any length takes as many evaluations as two of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import MOST, Integers, Merge, Plan, Tables, TooWide
from bayesmodels.numerics.sparse_cholesky import least_colours
from bayesmodels.posteriors.gradient import Levels

_MOST_COLOURS = 62
_MOST_LOOKS = 2**15  # evaluations of the density, for all tables


@dataclass(frozen=True, eq=False)
class _Kind:
    """Summands whose elements have the same colours: which they are, and the tables they add to.

    `tables` are the places of these among all of their width, and `ways` the order of their axes.
    """

    colours: Integers
    summands: Integers
    merge: Merge
    scopes: Levels
    ways: list[tuple[Integers, tuple[int, ...]]]


class FiniteTables:
    """Which finite elements meet in the summands of a log density, and how to sum them out.

    Of `rows`, a sparse matrix, each has the elements of a summand. `names` are in messages.
    """

    def __init__(self, rows: Any, sizes: Levels, names: str) -> None:
        self.sizes, self.most = sizes, int(sizes.max())
        met = np.flatnonzero(rows.sum(1))
        rows = rows[met]
        rows.sort_indices()
        linked = rows.T @ rows
        self._colour = colour = least_colours(linked.indptr, linked.indices)
        if colour.max() >= _MOST_COLOURS:
            raise NotConjugate(
                f"too many elements of {names} depend on each other to be summed out."
            )
        masks, mask = np.unique(rows @ (1 << colour), return_inverse=True)
        self._kinds = list[_Kind]()
        for number, bits in enumerate(masks):
            own = np.flatnonzero(mask == number)
            colours = np.flatnonzero(bits >> np.arange(_MOST_COLOURS) & 1)
            scope = rows[own].indices.reshape(len(own), len(colours))
            merge = Merge.of(scope)
            scope = scope[merge.order[merge.first]]
            rank = np.argsort(np.argsort(colour[scope], axis=1), axis=1)
            kinds = Merge.of(rank)
            ways = [
                (some, tuple(map(int, rank[some[0]])))
                for some in np.split(kinds.order, kinds.first[1:])
            ]
            self._kinds.append(_Kind(colours, met[own], merge, scope, ways))
        width = max([0, *(len(kind.colours) for kind in self._kinds)])
        self.looks = int(sum(float(self.most) ** len(kind.colours) for kind in self._kinds))
        if self.looks > _MOST_LOOKS:
            raise NotConjugate(
                f"summands of the log density have up to {width} elements of {names}: it would be "
                f"evaluated {self.looks:.3g} times; at most {_MOST_LOOKS:,} times is it."
            )
        each = np.arange(len(sizes))[:, None]
        parts = {1: [each]}  # which say what levels there are
        for kind in self._kinds:
            parts.setdefault(len(kind.colours), []).append(kind.scopes)
        self._merges = {w: Merge.of(np.concatenate(own)) for w, own in parts.items()}
        self.scopes = {
            w: np.concatenate(parts[w])[m.order[m.first]] for w, m in self._merges.items()
        }
        self._outside = np.where(np.arange(self.most) < sizes[:, None], 0.0, -np.inf)
        try:
            self.plan = Plan(self.scopes, len(sizes), self.most)
        except TooWide as error:
            raise NotConjugate(
                f"to sum out {names} one after the other takes tables of {error.elements} elements "
                f"with {error.numbers:.3g} numbers, as too many depend on each other; at most "
                f"{MOST:,} are held."
            ) from error

    def _levels(self, kind: _Kind) -> Iterator[Levels]:
        for level in product(range(self.most), repeat=len(kind.colours)):
            of_colour = np.zeros(_MOST_COLOURS, dtype=int)
            of_colour[kind.colours] = level
            yield np.minimum(of_colour[self._colour], self.sizes - 1)

    def every(self) -> Levels:
        """Return the levels at which summands are looked at, (looks, elements)."""
        return np.array([levels for kind in self._kinds for levels in self._levels(kind)])

    def evaluated(self, values: Callable[[Levels], Array]) -> Tables:
        """Return tables, given the summands' values at any levels; in a batch of one."""
        reduced = []
        for kind in self._kinds:
            each = [kind.merge.added(values(at)[None, kind.summands]) for at in self._levels(kind)]
            reduced.append(np.stack(each, axis=1))
        return self._put_together(reduced)

    def of(self, values: Array) -> Tables:
        """Return tables, given the summands' values at all levels, (batch, looks, summands)."""
        reduced = []
        for kind, some in self._slices():
            own = values[:, some][:, :, kind.summands]
            flat = kind.merge.added(own.reshape(-1, own.shape[2]))
            reduced.append(flat.reshape(*own.shape[:2], -1))
        return self._put_together(reduced)

    def _slices(self) -> Iterator[tuple[_Kind, slice]]:
        start = 0
        for kind in self._kinds:
            end = start + self.most ** len(kind.colours)
            yield kind, slice(start, end)
            start = end

    def _put_together(self, reduced: list[Array]) -> Tables:
        """Return tables from the values of each kind at its levels, (batch, levels, tables)."""
        batch = len(reduced[0]) if reduced else 1
        parts = {1: [np.broadcast_to(self._outside, (batch, *self._outside.shape))]}
        for kind, each in zip(self._kinds, reduced, strict=True):
            w = len(kind.colours)
            table = np.moveaxis(each, 2, 1).reshape(batch, -1, *[self.most] * w)
            for some, way in kind.ways:
                table[:, some] = table[:, some].transpose(0, 1, *(2 + np.array(way)))
            parts.setdefault(w, []).append(table)
        return {w: m.added(np.concatenate(parts[w], 1)) for w, m in self._merges.items()}

    def slopes(self, tables: Tables, number: int) -> Array:
        """Return slopes by the summands' values at all levels, from those by the tables."""
        batch = len(next(iter(tables.values())))
        result = np.zeros((batch, self.looks, number))
        at = {w: len(self.sizes) if w == 1 else 0 for w in self._merges}
        for kind, some in self._slices():
            w, n = len(kind.colours), len(kind.scopes)
            place = self._merges[w].inverse[at[w] : at[w] + n]
            at[w] += n
            table = tables[w][:, place]
            for own, way in kind.ways:
                table[:, own] = table[:, own].transpose(0, 1, *(2 + np.argsort(way)))
            each = np.moveaxis(table.reshape(batch, n, -1), 1, 2)[:, :, kind.merge.inverse]
            result[:, some, kind.summands] = each
        return result
