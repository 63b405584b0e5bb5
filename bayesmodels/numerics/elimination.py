r"""Sums of products of many small tables, by eliminating one element after the other.

.. math:: Z = \sum_{k_1, \dots, k_n} \prod_f \exp t_f(k_{S_f})

Elements that share no table are eliminated together, all at once in NumPy: a chain of n elements
takes of the order of log n rounds. Each round takes elements with at most two neighbours, on which
chains and trees can be taken apart, and where there is none those with the fewest.

Sources: Koller and Friedman (2009), *Probabilistic Graphical Models*, chapters 9 (elimination) and
10 (marginals by going back).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.numerics import Array

Integers = NDArray[np.intp]
Tables = Mapping[int, tuple[Integers, Array]]
"""By number of elements: which ones, in rising order, one table a row; and the tables."""

MOST = 2**22
"""Numbers in one table."""
_PATH = 2  # neighbours of an element whose elimination makes no table larger than those of a chain


class TooWide(ValueError):
    """An elimination whose tables would be too large: their `numbers`, of so many `elements`."""

    def __init__(self, elements: int, numbers: float) -> None:
        super().__init__(f"a table of {elements} elements has {numbers:.3g} numbers")
        self.elements, self.numbers = elements, numbers


@dataclass(frozen=True, eq=False)
class _Group:
    """Elements with equally many neighbours, `scope[:, 1:]`, and the log laws given these.

    `used` says of tables of some width which rows went into which law, as which of its axes.
    """

    scope: Integers
    law: Array
    used: list[tuple[int, Integers, Integers, tuple[int, ...]]]


@dataclass(frozen=True, eq=False)
class _Round:
    """Some elements that were eliminated together; which tables stayed; what was put together."""

    groups: list[_Group]
    before: dict[int, int]
    stayed: dict[int, Integers]
    inverse: dict[int, Integers]


class Elimination:
    """A sum of products of tables over `number` elements of `levels` values each.

    Elements in no table are not known. With `largest` the sum is a maximum.

    Raises
    ------
    TooWide
        If a table would have too many numbers.
    """

    def __init__(self, tables: Tables, number: int, levels: int, *, largest: bool = False) -> None:
        self.number, self.levels = number, levels
        self.log_total, self._rounds = 0.0, list[_Round]()
        state, left = dict(tables), np.zeros(number, dtype=bool)
        for scopes, _ in state.values():
            left[scopes] = True
        rng = np.random.default_rng(0)  # ties are broken alike each time
        while left.any():
            chosen, neighbours = _chosen(state, left, rng)
            state = self._eliminated(state, chosen, neighbours, largest=largest)
            left[chosen] = False

    def _eliminated(
        self,
        state: dict[int, tuple[Integers, Array]],
        chosen: Integers,
        neighbours: tuple[Integers, Integers],
        *,
        largest: bool,
    ) -> dict[int, tuple[Integers, Array]]:
        """Eliminate elements of which no two are neighbours."""
        start, others = neighbours
        sizes = np.diff(start)[chosen]
        place = np.full(self.number, -1)
        made: dict[int, list[tuple[Integers, Array]]] = {}
        groups = []
        for k in np.unique(sizes):
            own = chosen[sizes == k]
            if float(self.levels) ** (k + 1) > MOST:
                raise TooWide(int(k) + 1, float(self.levels) ** (k + 1))
            scope = np.column_stack([own, others[start[own][:, None] + np.arange(k)]])
            place[own] = np.arange(len(own))
            law, used = _product(state, scope, place, self.levels)
            place[own] = -1
            with np.errstate(divide="ignore"):
                total = law.max(1) if largest else logsumexp(law, axis=1)
            law -= np.where(np.isfinite(total), total, 0.0)[:, None]
            groups.append(_Group(scope, law, used))
            if k:
                made.setdefault(int(k), []).append((scope[:, 1:], total))
            else:
                self.log_total += float(total.sum())
        gone = np.zeros(self.number, dtype=bool)
        gone[chosen] = True
        stayed = {w: np.flatnonzero(~gone[scopes].any(1)) for w, (scopes, _) in state.items()}
        parts = {w: [(scopes[stayed[w]], t[stayed[w]])] for w, (scopes, t) in state.items()}
        for w, more in made.items():
            parts.setdefault(w, []).extend(more)
        before = {w: len(scopes) for w, (scopes, _) in state.items()}
        joined = {w: merged(each) for w, each in parts.items()}
        self._rounds.append(
            _Round(groups, before, stayed, {w: inverse for w, (*_, inverse) in joined.items()})
        )
        return {w: (scopes, t) for w, (scopes, t, _) in joined.items()}

    def probabilities(self) -> Array:
        """Return the probability of each level of each element, (number, levels)."""
        result = np.full((self.number, self.levels), np.nan)
        self._back(result)
        return result

    def together(self) -> dict[int, Array]:
        """Return the probabilities of the levels of the elements of each table given."""
        return self._back(np.empty((self.number, self.levels)))

    def _back(self, single: Array) -> dict[int, Array]:
        """Go back through the rounds; return joint probabilities of each table's elements."""
        q = self.levels
        state: dict[int, Array] = {}
        for one in reversed(self._rounds):
            parts = {w: state[w][inverse] for w, inverse in one.inverse.items() if len(inverse)}
            state = {w: np.empty((n, *[q] * w)) for w, n in one.before.items()}
            at = {w: len(stayed) for w, stayed in one.stayed.items()}
            for w, stayed in one.stayed.items():
                if len(stayed):
                    state[w][stayed] = parts[w][: len(stayed)]
            for group in one.groups:
                n, k = len(group.scope), group.scope.shape[1] - 1
                of_others = np.ones(n)
                if k:
                    begin = at.setdefault(k, 0)
                    of_others = parts[k][begin : begin + n]
                    at[k] += n
                both = of_others[:, None] * np.exp(group.law)
                single[group.scope[:, 0]] = both.reshape(n, q, -1).sum(-1)
                for w, rows, to, axes in group.used:
                    out = tuple(a + 1 for a in range(k + 1) if a not in axes)
                    kept = both[to].sum(out)  # axes are left in rising order
                    order = np.argsort(np.argsort(axes))
                    state[w][rows] = kept.transpose(0, *(1 + order))
        return state

    def sample(self, draws: int, rng: np.random.Generator) -> Integers:
        """Return independent draws of all elements, (draws, number)."""
        result = np.zeros((draws, self.number), dtype=int)
        for one in reversed(self._rounds):
            for group in one.groups:
                law = self._given(group, result)
                steps = np.cumsum(np.exp(law), axis=-1)
                u = rng.random((*steps.shape[:-1], 1)) * steps[..., -1:]
                result[:, group.scope[:, 0]] = (u >= steps).sum(-1).clip(max=self.levels - 1)
        return result

    def most_probable(self) -> Integers:
        """Return the best levels; of an elimination by maxima."""
        result = np.zeros((1, self.number), dtype=int)
        for one in reversed(self._rounds):
            for group in one.groups:
                result[:, group.scope[:, 0]] = self._given(group, result).argmax(-1)
        return result[0]

    def _given(self, group: _Group, levels: Integers) -> Array:
        """Return log laws of a group's elements given its neighbours, (draws, n, levels)."""
        others = np.moveaxis(levels[:, group.scope[:, 1:]], -1, 0)
        moved = np.moveaxis(group.law, 1, -1)
        return np.asarray(moved[(np.arange(len(moved)), *others)])


def _chosen(
    state: Tables, left: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[Integers, tuple[Integers, Integers]]:
    """Return elements without common tables, and the neighbours of all as starts and a list."""
    number = len(left)
    pairs = [
        scopes[:, [i, j]]
        for scopes, _ in state.values()
        for i in range(scopes.shape[1])
        for j in range(scopes.shape[1])
        if i != j
    ]
    each = np.concatenate([np.zeros((0, 2), dtype=int), *pairs])
    a, b = np.divmod(np.unique(each[:, 0] * number + each[:, 1]), number)
    start = np.searchsorted(a, np.arange(number + 1))
    degree = np.diff(start)
    able = left & (degree <= max(_PATH, degree[left].min()))
    rank = np.where(able, rng.permutation(number), number)
    least = np.full(number, number)
    np.minimum.at(least, a, rank[b])
    return np.flatnonzero(able & (rank < least)), (start, b)


def _product(
    state: Tables, scope: Integers, place: Integers, levels: int
) -> tuple[Array, list[tuple[int, Integers, Integers, tuple[int, ...]]]]:
    """Add up all log tables with the first element of each scope; say which they are."""
    n, width = scope.shape
    law = np.zeros((n, *[levels] * width))
    used = []
    for w, (scopes, tables) in state.items():
        rows, which = np.nonzero(place[scopes] >= 0)
        to = place[scopes[rows, which]]
        axes = (scopes[rows][:, :, None] == scope[to][:, None, :]).argmax(-1)
        kinds, kind = np.unique(axes, axis=0, return_inverse=True)
        for i, own in enumerate(kinds):
            some = np.flatnonzero(kind.ravel() == i)
            table = tables[rows[some]].transpose(0, *(1 + np.argsort(own)))
            shape = [levels if a in own else 1 for a in range(width)]
            law[to[some]] += table.reshape(len(some), *shape)
            used.append((w, rows[some], to[some], tuple(map(int, own))))
    return law, used


def merged(parts: list[tuple[Integers, Array]]) -> tuple[Integers, Array, Integers]:
    """Add up tables of the same elements; return also which one each went into."""
    scopes = np.concatenate([scope for scope, _ in parts])
    unique, inverse = np.unique(scopes, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    total = np.zeros((len(unique), *parts[0][1].shape[1:]))
    np.add.at(total, inverse, np.concatenate([table for _, table in parts]))
    return unique, total, inverse
