"""Elements of continuous variables that see the same data, evaluated once.

Entries of an array in a graph are numbered: two with the same number are made by the same
operations, of the same constants and the same entries of the variables that remain, whatever the
element that goes in. Elements whose summands have the same numbers are alike, and the graph is
written again for the first of them alone. All that is read off the graph; entries of what an
operation makes that is not known here are all different.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor import tensor
from pytensor.graph.replace import clone_replace
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, Join
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import Subtensor
from scipy.sparse import vstack

from bayesmodels.posteriors.density import compiled
from bayesmodels.posteriors.factor_graph import BY_ELEMENT, Dependence, Summands, moving_nodes
from bayesmodels.posteriors.operations import TAKES

pt: Any = tensor  # its functions have no types
Integers = NDArray[np.intp]

_WASTE = 1.5  # of entries that are evaluated for nothing: arrays broadcast in blocks
_MOVES = (DimShuffle, Reshape, SpecifyShape, Alloc, Subtensor, *TAKES)


class AlikeElements:
    """Which elements of a graph's first input are alike.

    Each is `of` a class, which has a `first` element. Elements of different `kinds` are not alike,
    and none is if some meet.
    """

    def __init__(self, graph: Dependence, summands: Summands, kinds: Integers) -> None:
        self._graph, self._summands = graph, summands
        self.of = self.first = np.arange(len(kinds))
        rows = vstack([summands.rows, *map(self._rows, graph.checked)], format="csr")
        entry, element = rows[:, : len(kinds)].nonzero()
        if len(np.unique(entry)) < len(entry):
            return
        self._places = self._moved()
        numbers = self._numbers(kinds)
        every = (*summands.parts, *graph.checked)
        number = _joined([numbers[v].ravel() for v in every], 0)
        kept = np.r_[summands.kept, sum(summands.sizes) : len(number)]
        weight = np.pad(summands.weights, (0, len(kept) - len(summands.kept)))
        key = _numbered(number[kept], np.unique(weight, return_inverse=True)[1])[entry]
        keys = key[np.lexsort((key, element))]
        own = np.split(keys, np.cumsum(np.bincount(element, minlength=len(kinds)))[:-1])
        classes = dict[Any, int]()
        pairs = zip(kinds.tolist(), (x.tobytes() for x in own), strict=True)
        self.of = np.array([classes.setdefault(pair, len(classes)) for pair in pairs])
        self.first = np.unique(self.of, return_index=True)[1]

    def _rows(self, v: Any) -> Any:
        """Return which elements each entry of a variable depends on."""
        sets = self._graph.sets[v]
        return sets.rows[sets.which.ravel()]

    def _shape(self, v: Any) -> tuple[int, ...]:
        return np.shape(self._graph.values[v])

    def _every(self, v: Any) -> Integers:
        """Return the places of all entries of a variable."""
        return np.arange(np.size(self._graph.values[v])).reshape(self._shape(v))

    def _moved(self) -> dict[Any, Integers]:
        """Return where all entries come from, of operations that only move them."""
        graph = self._graph
        nodes = [
            node
            for node in graph.nodes
            if isinstance(node.op, _MOVES) and not graph.moving.intersection(node.inputs[1:])
        ]
        sources, results = [], []
        for node in nodes:
            first, *others = node.inputs
            fixed = [pt.constant(graph.values[v]) if v in graph.values else v for v in others]
            sources.append(first.type.clone(dtype="int64")())
            copy = node.clone_with_new_inputs([sources[-1], *fixed], strict=False)
            results += copy.outputs
        places = compiled(sources, results)(*(self._every(node.inputs[0]) for node in nodes))
        return dict(zip(nodes, map(np.asarray, places), strict=True))

    def _sources(self, node: Any, at: Integers) -> list[tuple[Any, Integers]]:
        """Return what entries of a node's result are made of: variables, and places in them.

        Those that are reduced are along further axes. Nothing, if that is not known.
        """
        out, *_ = node.outputs
        if node in self._places:
            return [(node.inputs[0], self._places[node].ravel()[at])]
        if isinstance(node.op, CheckAndRaise):
            return [(node.inputs[0], at)]
        if isinstance(node.op, Elemwise) or type(node.op).__name__ in BY_ELEMENT:
            wide = [(v, np.broadcast_to(self._every(v), self._shape(out))) for v in node.inputs]
            return [(v, places.ravel()[at]) for v, places in wide]
        if _reduces(node.op):
            v, every = node.inputs[0], self._every(node.inputs[0])
            axes = range(every.ndim) if node.op.axis is None else node.op.axis
            last = np.moveaxis(every, list(axes), range(-len(axes), 0))
            each = last.reshape(np.size(self._graph.values[out]), *last.shape[out.type.ndim :])
            return [(v, each[at])]
        if isinstance(node.op, Dot):
            (left, right), (row, column) = node.inputs, np.unravel_index(at, self._shape(out))
            return [(left, self._every(left)[row]), (right, self._every(right).T[column])]
        return []

    def _numbers(self, kinds: Integers) -> dict[Any, Integers]:
        """Return the numbers of the entries of all variables."""
        graph = self._graph
        seen = [p for p in graph.points if p in graph.values]
        result = {p: self._every(p) for p in seen} | {graph.points[0]: kinds}
        for node in graph.nodes:
            for v in {*node.inputs} & {*graph.values} - {*result}:
                result[v] = _numbered_constants(graph.values[v])
            columns = []
            for v, places in self._sources(node, self._every(node.outputs[0])):
                taken = result[v].ravel()[places].reshape(*self._shape(node.outputs[0]), -1)
                columns += list(np.moveaxis(taken, -1, 0))
            if _joins(node.op):
                columns = [_joined([result[v] for v in node.inputs], node.op.axis)]
            known = columns and len(node.outputs) == 1
            for v in node.outputs:
                result[v] = _numbered(*columns) if known else self._every(v)
        return result

    def cut(self, z: Any) -> Summands:
        """Return the summands of the first elements, of which z is a vector, and of none."""
        summands, graph = self._summands, self._graph
        stays = self._stay(summands.rows)
        part_of = np.repeat(np.arange(len(summands.sizes)), summands.sizes)[summands.kept]
        self._varying = moving_nodes(graph.points[:1], summands.parts)[1]
        self._written = dict[Any, Any]()
        self._z, parts, sizes, kept = z, list[Any](), list[int](), list[Integers]()
        for i, part in enumerate(summands.parts):
            own = summands.kept[stays & (part_of == i)] - sum(summands.sizes[:i])
            shape = self._shape(part) or (1,)
            axes = np.ix_(*map(np.unique, np.unravel_index(own, shape)))
            block: Integers = np.asarray(np.ravel_multi_index(axes, shape))
            at = block if block.size < _WASTE * own.size else own
            kept.append(sum(sizes) + np.searchsorted(at.ravel(), own))
            sizes.append(at.size)
            parts.append(_full(self._entries(part, at), at.shape))
        whole = {graph.points[0]: z[self.of]}  # of what is not written again
        parts = list(clone_replace(parts, whole, rebuild_strict=False))
        return Summands(
            summands.total,
            parts,
            sizes,
            compiled([z, *graph.points[1:]], parts),
            summands.rows[stays][:, self.first],
            np.concatenate(kept),
            summands.weights[stays],
            summands.constant,
        )

    def _stay(self, rows: Any) -> NDArray[np.bool_]:
        """Return which sets of elements have a first one, or none."""
        own = rows[:, : len(self.of)]
        return np.asarray((own[:, self.first].sum(1) > 0) | (own.sum(1) == 0))

    def _entries(self, v: Any, at: Integers) -> Any:
        """Return entries of a variable in terms of the first elements; they broadcast."""
        at = _short(at)
        key = v, at.shape, at.tobytes()
        if key not in self._written:
            self._written[key] = self._again(v, at)
        return self._written[key]

    def _again(self, v: Any, at: Integers) -> Any:  # noqa: PLR0911 - a table
        """Write entries of a variable again."""
        graph, node = self._graph, v.owner
        if v is graph.points[0]:
            return _taken(self._z, self.of[at], len(self.first))
        if v not in graph.moving:
            return pt.constant(np.ravel(graph.values[v])[at])
        if v in self._varying and _joins(node.op):
            return self._parts_joined(node, at)
        if node and isinstance(node.op, Dot):
            return self._dot(node, at)
        sources = self._sources(node, at) if v in self._varying else []
        inputs = [self._entries(*pair) for pair in sources]
        if not inputs:
            return _taken(v, at, np.size(graph.values[v]))
        if node in self._places:
            return inputs[0]
        if isinstance(node.op, CheckAndRaise):
            checked = graph.parts([(condition, True) for condition in node.inputs[1:]])
            stay = [(c, np.flatnonzero(self._stay(self._rows(c)))) for c in checked]
            return node.op(inputs[0], *(pt.all(self._entries(*pair)) for pair in stay))
        if _reduces(node.op):
            whole = _full(inputs[0], sources[0][1].shape)
            axes: Any = tuple(range(at.ndim, whole.type.ndim))
            op: Any = node.op.clone if isinstance(node.op, CAReduce) else type(node.op)
            return op(axis=axes)(whole)
        return node.op(*inputs)

    def _dot(self, node: Any, at: Integers) -> Any:
        """Multiply the rows and columns that entries are made of, and take those."""
        left, right = node.inputs
        place = np.unravel_index(at, self._shape(node.outputs[0]))
        (rows, row), (columns, column) = (np.unique(x, return_inverse=True) for x in place)
        own = (left, self._every(left)[rows]), (right, self._every(right)[:, columns])
        factors = (_full(self._entries(v, x), x.shape) for v, x in own)
        return node.op(*factors)[row, column]

    def _parts_joined(self, node: Any, at: Integers) -> Any:
        """Join entries of each part, and take those at places in what was joined."""
        numbers = _joined([self._every(v) for v in node.inputs], node.op.axis).ravel()[at]
        chosen = np.unique(numbers)
        starts = np.cumsum([0, *(self._every(v).size for v in node.inputs)])
        own = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
        each = zip(node.inputs, own, starts, strict=False)
        parts = [_full(self._entries(v, x - start), x.shape) for v, x, start in each if x.size]
        return pt.concatenate(parts)[np.searchsorted(chosen, numbers)]


def _joins(op: Any) -> bool:
    return isinstance(op, Join) and hasattr(op, "axis")  # which was an input of older ones


def _joined(numbers: Sequence[Integers], axis: int) -> Integers:
    """Join arrays of numbers, which go on from one to the next."""
    starts = np.cumsum([0, *(1 + x.max(initial=-1) for x in numbers)])
    return np.concatenate([start + x for start, x in zip(starts, numbers, strict=False)], axis)


def _reduces(op: Any) -> bool:
    return isinstance(op, CAReduce) or type(op).__name__ == "LogSumExp"


def _short(at: Integers) -> Integers:
    """Return places of which those that are the same along an axis are there once."""
    for axis in range(at.ndim if at.size else 0):
        one = at.take([0], axis)
        at = one if (at == one).all() else at
    return at


def _taken(v: Any, at: Integers, size: int) -> Any:
    """Return entries of a variable that has so many."""
    flat = v if v.type.ndim == 1 else v.flatten()
    every = np.array_equal(at.ravel(), np.arange(size))
    return flat.reshape(at.shape) if every else flat[at]


def _full(x: Any, shape: tuple[int, ...]) -> Any:
    """Return an array whose entries are repeated to a shape."""
    return x if x.type.shape == shape else pt.second(np.zeros(shape, x.type.dtype), x)


def _numbered_constants(x: Any) -> Integers:
    """Return numbers, counted from zero, that are the same for the same constants bit by bit."""
    flat: Any = np.ravel(x)
    which = np.unique(flat.view(f"u{flat.itemsize}"), return_inverse=True)[1]
    return np.asarray(which.reshape(np.shape(x)))


def _numbered(first: Integers, *others: Integers) -> Integers:
    """Return numbers, counted from zero, that are the same for the same rows of such numbers."""
    result: Any = first
    for x in others:
        pair = result * (1 + x.max(initial=0)) + x
        result = np.unique(pair, return_inverse=True)[1].reshape(x.shape)
    return np.asarray(result)
