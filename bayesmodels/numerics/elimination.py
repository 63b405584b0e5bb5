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
from scipy.special import logsumexp

from bayesmodels.numerics import Array

Integers = NDArray[np.intp]
Scopes = dict[int, Integers]
"""By table width: the elements of each table in rising order, one row a table, no row twice."""
Tables = Mapping[int, Array]
"""By table width: log tables of shape (batch, tables, levels, ..., levels)."""

MOST = 2**25
"""Largest number of entries in the tables of one round."""
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
class _Group:
    """Elements with equally many neighbours, `scope[:, 1:]`, and the tables that have them."""

    scope: Integers
    uses: list[_Use]


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
        return np.asarray(np.add.reduceat(tables[:, self.order], self.first, axis=1))


@dataclass(frozen=True, eq=False)
class _Round:
    """One round: elements that are eliminated, tables that stay, and tables that are multiplied."""

    groups: list[_Group]
    before: dict[int, int]
    stay: Scopes
    merges: dict[int, Merge]


class Plan:
    """In which order `number` elements of `levels` values each are eliminated.

    Each element must be in some table.

    Raises
    ------
    TooWide
        If a table would have too many numbers.
    """

    def __init__(self, scopes: Scopes, number: int, levels: int) -> None:
        self.scopes, self.number, self.levels = scopes, number, levels
        self.rounds = list[_Round]()
        left = np.ones(number, dtype=bool)
        rng = np.random.default_rng(0)  # ties are broken alike each time
        # From the ends a chain takes as many rounds as it is long, and tables of two elements.
        path = _PATH if number * float(levels) ** (1 + _PATH) <= MOST else 1
        while left.any():
            chosen, start, others = _chosen(scopes, left, path, rng)
            scopes = self._without(scopes, chosen, start, others)
            left[chosen] = False

    def _without(
        self, scopes: Scopes, chosen: Integers, start: Integers, others: Integers
    ) -> Scopes:
        """Eliminate elements of which no two are neighbours; return what tables are left."""
        sizes = np.diff(start)[chosen]
        gone = np.zeros(self.number, dtype=bool)
        gone[chosen] = True
        stay = {w: np.flatnonzero(~gone[each].any(1)) for w, each in scopes.items()}
        parts = {w: [each[stay[w]]] for w, each in scopes.items()}
        groups = []
        for k in map(int, np.unique(sizes)):
            elements = chosen[sizes == k]
            numbers = len(elements) * float(self.levels) ** (k + 1)
            if numbers > MOST:
                raise TooWide(k + 1, numbers)
            scope = np.column_stack([elements, others[start[elements][:, None] + np.arange(k)]])
            groups.append(_Group(scope, _uses(scopes, scope, self.number)))
            if k:
                parts.setdefault(k, []).append(scope[:, 1:])
        joined = {w: np.concatenate(each) for w, each in parts.items()}
        merges = {w: Merge.of(each) for w, each in joined.items() if len(each)}
        before = {w: len(each) for w, each in scopes.items()}
        self.rounds.append(_Round(groups, before, stay, merges))
        return {w: joined[w][m.order[m.first]] for w, m in merges.items()}


class Elimination:
    """A sum of products of tables; with `largest` the sum is a maximum.

    `log_total` has its log, one for each table of a batch.
    """

    def __init__(self, plan: Plan, tables: Tables, *, largest: bool = False) -> None:
        self.plan, self.tables = plan, dict(tables)
        self._laws = list[list[Array]]()
        state = dict(tables)
        batch = len(next(iter(state.values())))
        self.log_total: Array = np.zeros(batch)
        for one in plan.rounds:
            messages: dict[int, Array] = {}
            laws = []
            for group in one.groups:
                n, width = group.scope.shape
                law = np.zeros((batch, n, *[plan.levels] * width))
                for use in group.uses:
                    table = state[use.width][:, use.rows]
                    table = table.transpose(0, 1, *(2 + np.argsort(use.axes)))
                    shape = [plan.levels if a in use.axes else 1 for a in range(width)]
                    law[:, use.to] += table.reshape(batch, len(use.to), *shape)
                with np.errstate(divide="ignore"):
                    total = law.max(2) if largest else logsumexp(law, axis=2)
                law -= np.where(np.isfinite(total), total, 0.0)[:, :, None]
                laws.append(law)
                if width > 1:
                    messages[width - 1] = total
                else:
                    self.log_total += total.sum(1)
            parts = {w: [state[w][:, stay]] for w, stay in one.stay.items()}
            for w, more in messages.items():
                parts.setdefault(w, []).append(more)
            state = {w: m.added(np.concatenate(parts[w], 1)) for w, m in one.merges.items()}
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
        q, batch = self.plan.levels, len(self.log_total)
        state: dict[int, Array] = {}
        for one, laws in zip(self.plan.rounds[::-1], self._laws[::-1], strict=True):
            parts = {w: state[w][:, merge.inverse] for w, merge in one.merges.items()}
            state = {w: np.empty((batch, n, *[q] * w)) for w, n in one.before.items()}
            for w, stay in one.stay.items():
                if len(stay):
                    state[w][:, stay] = parts[w][:, : len(stay)]
            for group, law in zip(one.groups, laws, strict=True):
                n, width = group.scope.shape
                of_others = np.ones((batch, n))
                if width > 1:  # the last of those that were put together
                    of_others = parts[width - 1][:, -n:]
                both = of_others[:, :, None] * np.exp(law)
                if single is not None:
                    single[:, group.scope[:, 0]] = both.reshape(batch, n, q, -1).sum(-1)
                for use in group.uses:
                    out = tuple(a + 2 for a in range(width) if a not in use.axes)
                    kept = both[:, use.to].sum(out)  # axes are left in rising order
                    order = np.argsort(np.argsort(use.axes))
                    state[use.width][:, use.rows] = kept.transpose(0, 1, *(2 + order))
        return state

    def sample(self, draws: int, rng: np.random.Generator) -> Integers:
        """Return independent draws of all elements, (draws, number): one a batch, or of one."""
        result = np.zeros((draws, self.plan.number), dtype=int)
        for one, laws in zip(self.plan.rounds[::-1], self._laws[::-1], strict=True):
            for group, law in zip(one.groups, laws, strict=True):
                steps = np.cumsum(np.exp(_conditional(group, law, result)), axis=-1)
                u = rng.random((*steps.shape[:-1], 1)) * steps[..., -1:]
                result[:, group.scope[:, 0]] = (u >= steps[..., :-1]).sum(-1)
        return result

    def most_probable(self) -> Integers:
        """Return the best levels, (batch, number), of an elimination by maxima."""
        result = np.zeros((len(self.log_total), self.plan.number), dtype=int)
        for one, laws in zip(self.plan.rounds[::-1], self._laws[::-1], strict=True):
            for group, law in zip(one.groups, laws, strict=True):
                result[:, group.scope[:, 0]] = _conditional(group, law, result).argmax(-1)
        return result


def _conditional(group: _Group, law: Array, levels: Integers) -> Array:
    """Return the log conditionals of a group's elements on its neighbours, (draws, n, levels)."""
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
    pairs = [
        each[:, [i, j]]
        for each in scopes.values()
        for i in range(each.shape[1])
        for j in range(each.shape[1])
        if i != j
    ]
    each = np.concatenate([np.zeros((0, 2), dtype=int), *pairs])
    linked: Any = csr_array((np.ones(len(each), dtype=bool), each.T), shape=(number, number))
    start, b = linked.indptr, linked.indices
    degree = np.diff(start)
    able = left & (degree <= max(path, degree[left].min()))
    rank = np.where(able, rng.permutation(number), number)
    least = np.full(number, number)
    np.minimum.at(least, np.repeat(np.arange(number), degree), rank[b])
    return np.flatnonzero(able & (rank < least)), start, b


def _uses(scopes: Scopes, scope: Integers, number: int) -> list[_Use]:
    """Return which tables have the first element of each scope."""
    place = np.full(number, -1)
    place[scope[:, 0]] = np.arange(len(scope))
    uses = []
    for w, each in scopes.items():
        rows, which = np.nonzero(place[each] >= 0)
        to = place[each[rows, which]]
        axes = (each[rows][:, :, None] == scope[to][:, None, :]).argmax(-1)
        if len(axes):
            kinds = Merge.of(axes)
            uses += [
                _Use(w, rows[kind], to[kind], tuple(map(int, axes[kind[0]])))
                for kind in np.split(kinds.order, kinds.first[1:])
            ]
    return uses
