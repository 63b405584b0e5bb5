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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesmodels.numerics import Array

Integers = NDArray[np.intp]
Scopes = dict[int, Integers]
"""By table width: the elements of each table in rising order, one row a table, no row twice."""
Tables = Mapping[int, Array]
"""By table width: log tables of shape (batch, tables, levels, ..., levels)."""

MOST = 2**25
"""Largest number of entries in the tables of one round."""
_FEW = 16  # levels, of which a sum over two neighbours' is quick
_PATH = 2  # neighbours of an element whose elimination takes a chain apart anywhere


class TooWide(ValueError):  # noqa: N818 - said in other words to the user
    """An elimination whose tables would be too large: their `numbers`, of `elements` in each."""

    def __init__(self, elements: int, numbers: float) -> None:
        super().__init__(f"tables of {elements} elements have {numbers:.3g} numbers")
        self.elements, self.numbers = elements, numbers


@dataclass(frozen=True, eq=False)
class _Use:
    """Tables of one width that are factors of the eliminated elements: rows, targets and axes."""

    width: int
    rows: Integers
    to: Integers
    axes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Merge:
    """Tables sorted by their elements, and the first table of each set of elements."""

    order: Integers
    first: Integers
    inverse: Integers

    @classmethod
    def of(cls, scopes: Integers) -> Merge:
        """Find tables of the same elements."""
        order = np.lexsort(scopes.T[::-1])
        rising = scopes[order]
        first = np.r_[True, (rising[1:] != rising[:-1]).any(1)]
        inverse = np.empty(len(order), dtype=int)
        inverse[order] = np.cumsum(first) - 1
        return cls(order, np.flatnonzero(first), inverse)

    def added(self, tables: Array) -> Array:
        """Add up tables of the same elements, (batch, tables, ...)."""
        if len(self.order) == len(self.first):
            same = (self.order[1:] > self.order[:-1]).all()
            return tables if same else tables[:, self.order]
        return np.asarray(np.add.reduceat(tables[:, self.order], self.first, axis=1))


@dataclass(frozen=True, eq=False)
class _Group:
    """Elements with equally many neighbours, `scope[:, 1:]`, and the tables that have them.

    What is left once they are eliminated is added to tables of the neighbours: it is put together
    by `merge`, and goes to `rows`.
    """

    scope: Integers
    uses: list[_Use]
    merge: Merge
    rows: Integers


class Plan:
    """In which order `number` elements of `levels` values each are eliminated.

    Each element must be in some table. Of each width there are so many `tables`, with those that
    come about on the way.

    Raises
    ------
    TooWide
        If a table would have too many numbers.
    """

    def __init__(self, scopes: Scopes, number: int, levels: int) -> None:
        self.scopes, self.number, self.levels = scopes, number, levels
        # From the ends a chain takes as many rounds as it is long, and tables of two elements.
        wide = levels > _FEW or number * float(levels) ** (1 + _PATH) > MOST
        self.rounds: list[list[_Group]] = []
        self.tables: dict[int, int] = {}
        self._known = dict(scopes)
        self._open = {w: np.arange(len(each)) for w, each in scopes.items()}
        left = np.ones(number, dtype=bool)
        if wide:
            self._peel(left)
        rng = np.random.default_rng(0)  # ties are broken alike each time
        while left.any():
            alive = {w: self._known[w][rows] for w, rows in self._open.items()}
            chosen, start, others = _chosen(alive, left, 1 if wide else _PATH, rng)
            self._eliminate(alive, chosen, start, others)
            left[chosen] = False
        self.tables = {w: len(each) for w, each in self._known.items()}
        del self._known, self._open

    def _add(self, groups: list[_Group]) -> None:
        """Add a round, if its tables are not too large."""
        for group in groups:
            n, width = group.scope.shape
            if n * float(self.levels) ** width > MOST:
                raise TooWide(width, n * float(self.levels) ** width)
        self.rounds.append(groups)

    def _peel(self, left: NDArray[np.bool_]) -> None:
        """Eliminate what has one neighbour or none, again and again: in all as long as it takes.

        Of each element there is kept how many neighbours it has, and the sums of their numbers and
        of those of the tables with both: of one neighbour, these are what is summed.
        """
        alone = self._rows(np.arange(self.number)[:, None])
        pairs = self._known.get(2, np.zeros((0, 2), dtype=int))
        linked = _neighbours(self._known, self.number)
        degree = np.diff(linked.indptr)
        other = np.asarray(linked @ np.arange(self.number))
        table = np.zeros(self.number, dtype=int)
        np.add.at(table, pairs, np.arange(len(pairs))[:, None])
        ends = np.flatnonzero(degree <= 1)
        while len(ends):
            u, single = other[ends], degree[ends] == 1
            ends = ends[~(single & left[u] & (degree[u] == 1) & (u < ends))]  # one of two
            groups = []
            for k in range(2):
                v = ends[degree[ends] == k]
                if not len(v):
                    continue
                scope = np.column_stack([v, other[v]])[:, : k + 1]
                each, n = np.arange(len(v)), (scope[:, 0] < scope[:, -1])
                uses = [_Use(1, alone[v], each, (0,))]
                for some, axes in ((n, (0, 1)), (~n, (1, 0))):
                    if k and some.any():
                        uses.append(_Use(2, table[v[some]], each[some], axes))
                merge = Merge.of(scope[:, k:])
                groups.append(_Group(scope, uses, merge, alone[scope[merge.order[merge.first], k]]))
            self._add(groups)
            left[ends] = False
            ends = ends[degree[ends] == 1]
            u = other[ends]
            for sums, by in ((degree, 1), (other, ends), (table, table[ends])):
                np.subtract.at(sums, u, by)
            u = np.unique(u)
            ends = u[(degree[u] <= 1) & left[u]]
        for w, rows in self._open.items():
            self._open[w] = rows[left[self._known[w][rows]].all(1)]

    def _eliminate(
        self, alive: Scopes, chosen: Integers, start: Integers, others: Integers
    ) -> None:
        """Eliminate elements of which no two are neighbours."""
        sizes = np.diff(start)[chosen]
        gone = np.zeros(self.number, dtype=bool)
        gone[chosen] = True
        stay = {w: np.flatnonzero(~gone[each].any(1)) for w, each in alive.items()}
        groups, rows_of = [], self._open
        self._open = {w: rows_of[w][some] for w, some in stay.items()}
        for k in map(int, np.unique(sizes)):
            elements = chosen[sizes == k]
            scope = np.column_stack([elements, others[start[elements][:, None] + np.arange(k)]])
            merge = Merge.of(scope[:, min(k, 1) :])
            rows = self._rows(scope[merge.order[merge.first], 1:]) if k else elements
            groups.append(_Group(scope, self._uses(alive, rows_of, scope), merge, rows))
        self._add(groups)

    def _rows(self, scopes: Integers) -> Integers:
        """Return the tables with some elements, which may be new."""
        k = scopes.shape[1]
        known = self._known.get(k, np.zeros((0, k), dtype=int))
        open_ = self._open.get(k, np.zeros(0, dtype=int))
        merge = Merge.of(np.concatenate([known[open_], scopes]))
        row = np.full(len(merge.first), -1)
        row[merge.inverse[: len(open_)]] = open_
        result = row[merge.inverse[len(open_) :]]
        new = result < 0
        result[new] = len(known) + np.arange(new.sum())
        if new.any():
            self._known[k] = np.concatenate([known, scopes[new]])
            self._open[k] = np.concatenate([open_, result[new]])
        return np.asarray(result)

    def _uses(self, alive: Scopes, rows_of: dict[int, Integers], scope: Integers) -> list[_Use]:
        """Return which tables have the first element of each scope."""
        place = np.full(self.number, -1)
        place[scope[:, 0]] = np.arange(len(scope))
        uses = []
        for w, each in alive.items():
            rows, which = np.nonzero(place[each] >= 0)
            to = place[each[rows, which]]
            axes = (each[rows][:, :, None] == scope[to][:, None, :]).argmax(-1)
            if len(axes):
                kinds = Merge.of(axes)
                uses += [
                    _Use(w, rows_of[w][rows[kind]], to[kind], tuple(map(int, axes[kind[0]])))
                    for kind in np.split(kinds.order, kinds.first[1:])
                ]
        return uses


class Elimination:
    """A sum of products of tables; with `largest` the sum is a maximum.

    `log_total` has its log, one for each table of a batch.
    """

    def __init__(self, plan: Plan, tables: Tables, *, largest: bool = False) -> None:
        self.plan, self.tables = plan, dict(tables)
        batch, q = len(next(iter(tables.values()))), plan.levels
        self._laws = list[list[Array]]()
        self.log_total: Array = np.zeros(batch)
        written = {group.scope.shape[1] - 1 for groups in plan.rounds for group in groups}
        state = dict(tables)
        for w in written - {0}:
            state[w] = np.zeros((batch, plan.tables[w], *[q] * w))
            state[w][:, : len(plan.scopes.get(w, ()))] = tables.get(w, 0.0)
        for groups in plan.rounds:
            laws = []
            for group in groups:
                law = _joint(state, group, q, batch)
                total = law.max(2) if largest else normalised(law)
                laws.append(law)
                width = group.scope.shape[1]
                if width > 1:
                    state[width - 1][:, group.rows] += group.merge.added(total)
                else:
                    self.log_total += total.sum(1)
            self._laws.append(laws)

    def log_probability(self, levels: Integers) -> float:
        """Return the log probability of levels of all elements, of a batch's first tables."""
        each = [
            self.tables[w][(0, np.arange(len(scope)), *levels[scope].T)].sum()
            for w, scope in self.plan.scopes.items()
        ]
        return float(sum(each) - self.log_total[0])

    def probabilities(self) -> Array:
        """Return the probability of each level of each element, (batch, number, levels)."""
        plan = self.plan
        result = np.empty((len(self.log_total), plan.number, plan.levels))
        self._back(result)
        return result

    def joint_probabilities(self) -> dict[int, Array]:
        """Return the joint probabilities of the elements of each table, in the tables' shapes."""
        return self._back(None)

    def _back(self, single: Array | None) -> dict[int, Array]:
        """Return joint probabilities of all tables, from the last round on; fill in `single`."""
        plan, q, batch = self.plan, self.plan.levels, len(self.log_total)
        written = {group.scope.shape[1] - 1 for groups in plan.rounds for group in groups}
        widths = set(plan.tables) if single is None else written - {0}
        state = {w: np.empty((batch, plan.tables[w], *[q] * w)) for w in widths}
        for groups, laws in zip(plan.rounds[::-1], self._laws[::-1], strict=True):
            for group, law in zip(groups, laws, strict=True):
                n, width = group.scope.shape
                both = law
                if width > 1:
                    of_others = state[width - 1][:, group.rows[group.merge.inverse]]
                    both = of_others[:, :, None] * law
                if single is not None:
                    single[:, group.scope[:, 0]] = both.reshape(batch, n, q, -1).sum(-1)
                for use in group.uses:
                    if use.width not in state:
                        continue
                    out = tuple(a + 2 for a in range(width) if a not in use.axes)
                    kept = both[:, use.to].sum(out)  # axes are left in rising order
                    order = np.argsort(np.argsort(use.axes))
                    state[use.width][:, use.rows] = kept.transpose(0, 1, *(2 + order))
        return {w: state[w][:, : len(each)] for w, each in plan.scopes.items() if w in state}

    def sample(self, draws: int, rng: np.random.Generator) -> Integers:
        """Return independent draws of all elements, (draws, number): one a batch, or of one."""
        result = np.zeros((draws, self.plan.number), dtype=int)
        for groups, laws in zip(self.plan.rounds[::-1], self._laws[::-1], strict=True):
            for group, law in zip(groups, laws, strict=True):
                steps = np.cumsum(_conditional(group, law, result), axis=-1)
                u = rng.random((*steps.shape[:-1], 1)) * steps[..., -1:]
                result[:, group.scope[:, 0]] = (u >= steps[..., :-1]).sum(-1)
        return result

    def most_probable(self) -> Integers:
        """Return the best levels, (batch, number), of an elimination by maxima."""
        result = np.zeros((len(self.log_total), self.plan.number), dtype=int)
        for groups, laws in zip(self.plan.rounds[::-1], self._laws[::-1], strict=True):
            for group, law in zip(groups, laws, strict=True):
                result[:, group.scope[:, 0]] = _conditional(group, law, result).argmax(-1)
        return result


def _joint(state: Tables, group: _Group, q: int, batch: int) -> Array:
    """Return the sums of the tables that a group's elements are in, (batch, n, levels, ...)."""
    n, width = group.scope.shape
    whole = sum(len(use.to) for use in group.uses if use.width == width)  # one of an element
    law = (np.empty if whole == n else np.zeros)((batch, n, *[q] * width))
    for use in sorted(group.uses, key=lambda use: -use.width):
        table = state[use.width][:, use.rows]
        if use.width > 1:
            table = table.transpose(0, 1, *(2 + np.argsort(use.axes)))
        if use.width == width:
            law[:, use.to] = table
        else:
            shape = [q if a in use.axes else 1 for a in range(width)]
            law[:, use.to] += table.reshape(batch, len(use.to), *shape)
    return law


def normalised(law: Array) -> Array:
    """Turn logs into probabilities along their third axis, in place; return logs of the sums."""
    top = law.max(2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    law -= top
    np.exp(law, out=law)
    total = law.sum(2, keepdims=True)
    law /= np.where(total > 0, total, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(total) + top)[:, :, 0])


def _conditional(group: _Group, law: Array, levels: Integers) -> Array:
    """Return what a group's laws are given its neighbours, (draws, n, levels)."""
    others = np.moveaxis(levels[:, group.scope[:, 1:]], -1, 0)
    batch = np.arange(len(levels)) % len(law)
    return np.asarray(np.moveaxis(law, 2, -1)[(batch[:, None], np.arange(law.shape[1]), *others)])


def _chosen(
    scopes: Scopes, left: NDArray[np.bool_], path: int, rng: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    """Return elements without common tables, and neighbours of all elements in compressed rows.

    Chosen are those with at most `path` neighbours, or the fewest. Neighbours of one element begin
    at a start.
    """
    number = len(left)
    linked = _neighbours(scopes, number)
    start, b = linked.indptr, linked.indices
    degree = np.diff(start)
    able = left & (degree <= max(path, degree[left].min()))
    rank = np.where(able, rng.permutation(number), number)
    least = np.full(number, number)
    np.minimum.at(least, np.repeat(np.arange(number), degree), rank[b])
    return np.flatnonzero(able & (rank < least)), start, b


def _neighbours(scopes: Scopes, number: int) -> Any:
    """Return a sparse matrix of the elements that are in a common table."""
    pairs = [
        each[:, [i, j]]
        for each in scopes.values()
        for i in range(each.shape[1])
        for j in range(each.shape[1])
        if i != j
    ]
    each = np.concatenate([np.zeros((0, 2), dtype=int), *pairs])
    return csr_array((np.ones(len(each), dtype=bool), each.T), shape=(number, number))
