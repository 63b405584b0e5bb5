"""Which elements of a model's variables meet in one summand of its log density, read off the graph.

A log density is a sum, of terms, of their elements, and of what is added up to make these. Elements
of two variables that are in no summand together are separate factors of the density, at all of
their values: that needs no point to be looked at. An operation that is not known here is taken to
mix all that goes into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor.compile.maker import function
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import AND, Add, Mul, Neg, Second, Sub, Switch, TrueDiv
from pytensor.tensor.basic import Alloc, Join, MakeVector, ScalarFromTensor
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor, unflatten_index_variables

from bayesmodels.posteriors.density import PYTHON_MODE
from bayesmodels.posteriors.operations import scalar

Numbers = NDArray[np.intp]

_ADDED = (Add, Sub, Neg)
_TIMES = (Mul, TrueDiv)


def meetings(
    points: Sequence[Any], terms: Sequence[Any], at: Sequence[NDArray[Any]]
) -> NDArray[np.bool_]:
    """Return the sets of elements that meet in a summand, one a row; `at` are possible values.

    Elements are those of all inputs in their order, each input row by row.
    """
    nodes, moving = _moving(points, terms)
    summands = _summands(terms, moving)
    needed = {v for node in nodes for v in (*node.inputs, *node.outputs) if hasattr(v, "dtype")}
    asked = list(needed | set(summands))
    values = function(list(points), asked, mode=PYTHON_MODE, on_unused_input="ignore")(*at)
    known = dict(zip(asked, values, strict=True))
    sets = _Sets()
    found: dict[Any, Numbers] = {}
    start = 0
    for point, value in zip(points, at, strict=True):
        found[point] = sets.single(start, np.shape(value))
        start += np.size(value)
    for node in nodes:
        parts = [_of(found, known, v) for v in node.inputs]
        for out in node.outputs:
            found[out] = np.broadcast_to(
                _after(sets, node, parts, known, moving), np.shape(known[out])
            )
    met = [np.unique(_of(found, known, v)) for v in summands]
    return sets.rows(np.unique(np.concatenate([np.zeros(1, dtype=int), *met])), start)


def _moving(points: Sequence[Any], terms: Sequence[Any]) -> tuple[list[Any], set[Any]]:
    """Return the nodes whose results depend on the inputs, and all variables that do."""
    moving = set(points)
    unsteady: set[Any] = set()  # variables whose shapes may depend on the inputs
    nodes = []
    for node in io_toposort(points, terms):
        # Shapes do not depend on the numbers in them, but may on the numbers that made them.
        asked = unsteady if isinstance(node.op, Shape | Shape_i) else moving
        if not any(v in asked for v in node.inputs):
            continue
        nodes.append(node)
        moving.update(node.outputs)
        if not _steady(node, moving) or any(v in unsteady for v in node.inputs):
            unsteady.update(v for v in node.outputs if None in getattr(v.type, "shape", ()))
    return nodes, moving


def _steady(node: Any, moving: set[Any]) -> bool:
    """Whether the shape of a node's result is known not to depend on the inputs' values."""
    if isinstance(node.op, Subtensor | AdvancedSubtensor):
        index = unflatten_index_variables(node.inputs[1:], node.op.idx_list)
        slices = [v for i in index if isinstance(i, slice) for v in (i.start, i.stop, i.step)]
        masks = [v for v in node.inputs[1:] if str(getattr(v, "dtype", "")) == "bool"]
        return not any(v in moving for v in (*slices, *masks))
    if isinstance(node.op, Alloc | Reshape):
        return not any(v in moving for v in node.inputs[1:])
    same = Elemwise | CAReduce | DimShuffle | Join | MakeVector | SpecifyShape | CheckAndRaise
    return isinstance(node.op, same)


def _of(found: dict[Any, Numbers], known: dict[Any, Any], v: Any) -> Numbers:
    """Return the number of the set of each element of a variable; none is set 0."""
    return found[v] if v in found else np.broadcast_to(0, np.shape(known.get(v, 0)))


class _Sets:
    """Sets of elements, each of which has a number; they are held as the bits of an integer."""

    def __init__(self) -> None:
        self._sets = [0]
        self._numbers = {0: 0}

    def _number(self, one: int) -> int:
        if one not in self._numbers:
            self._numbers[one] = len(self._sets)
            self._sets.append(one)
        return self._numbers[one]

    def single(self, start: int, shape: tuple[int, ...]) -> Numbers:
        """Return sets of one element each, counted from `start`."""
        size = int(np.prod(shape, dtype=int))
        return np.array([self._number(1 << (start + i)) for i in range(size)], int).reshape(shape)

    def union(self, a: Numbers, b: Numbers) -> Numbers:
        """Return the sets that hold what either holds."""
        a, b = np.broadcast_arrays(a, b)
        if not a.any():
            return np.asarray(b)
        if not b.any():
            return np.asarray(a)
        pairs, which = np.unique(a * len(self._sets) + b, return_inverse=True)
        count = len(self._sets)
        made = [self._number(self._sets[p // count] | self._sets[p % count]) for p in pairs]
        return np.array(made, dtype=int)[which].reshape(a.shape)

    def folded(self, a: Numbers, axes: Sequence[int] | None = None) -> Numbers:
        """Return the sets that hold what is held along some axes, which are kept with length 1."""
        axes = range(a.ndim) if axes is None else [axis % a.ndim for axis in axes]
        shape = tuple(1 if axis in axes else n for axis, n in enumerate(a.shape))
        rest = [axis for axis in range(a.ndim) if axis not in axes]
        lines = np.transpose(a, [*axes, *rest]).reshape(-1, int(np.prod(shape, dtype=int)))
        if not lines.size:
            return np.zeros(shape, dtype=int)
        while len(lines) > 1:
            half = len(lines) // 2
            both = self.union(lines[:half], lines[half : 2 * half])
            lines = np.concatenate([both, lines[2 * half :]])
        return lines.reshape(shape)

    def everything(self, parts: Sequence[Numbers]) -> Numbers:
        """Return the one set that holds all."""
        whole = np.zeros((), dtype=int)
        for part in parts:
            whole = self.union(whole, self.folded(part).reshape(()))
        return whole

    def rows(self, numbers: Numbers, size: int) -> NDArray[np.bool_]:
        """Return sets as rows that say which elements they hold."""
        width = (size + 7) // 8
        packed = [
            np.frombuffer(self._sets[n].to_bytes(width, "little"), dtype=np.uint8) for n in numbers
        ]
        bits = np.unpackbits(np.array(packed).reshape(-1, width), axis=-1, bitorder="little")
        return bits[:, :size].astype(bool)


def _summands(terms: Sequence[Any], moving: set[Any]) -> list[Any]:
    """Return what terms are sums of, and the conditions that are checked on the way."""
    left = [(term, False) for term in terms]
    # PyMC raises an error where a condition fails, as if its log were a summand.
    left += [
        (condition, True)
        for v in ancestors(terms)
        if v.owner is not None and isinstance(v.owner.op, CheckAndRaise)
        for condition in v.owner.inputs[1:]
    ]
    result = []
    while left:
        v, condition = left.pop()
        inner = _inner(v, condition, moving) if v in moving else []
        if inner is None:
            result.append(v)
        else:
            left += [(part, condition) for part in inner]
    return list(dict.fromkeys(result))


def _inner(  # noqa: C901, PLR0911 - a table
    v: Any,
    condition: bool,  # noqa: FBT001 - the question itself
    moving: set[Any],
) -> list[Any] | None:
    """Return what a sum (or a condition: all of what) is of; None if it is no sum."""
    node = v.owner
    if node is None:
        return None
    if isinstance(node.op, CheckAndRaise):
        return list(node.inputs[:1])
    if isinstance(node.op, MakeVector | ScalarFromTensor):
        return list(node.inputs)
    if isinstance(node.op, DimShuffle | Reshape | SpecifyShape | Alloc):
        return None if any(v in moving for v in node.inputs[1:]) else list(node.inputs[:1])
    if not isinstance(node.op, Elemwise | CAReduce):
        return None
    kind = scalar(node.op)
    if isinstance(node.op, CAReduce):
        return list(node.inputs) if kind is (AND if condition else Add) else None
    if condition:
        return list(node.inputs) if kind is AND else None
    moved = [part for part in node.inputs if part in moving]
    if kind in _ADDED or (kind in _TIMES and len(moved) == 1 and moved[0] is node.inputs[0]):
        return list(node.inputs)
    if kind is Mul and len(moved) == 1:
        return moved
    if kind is Switch and node.inputs[0] not in moving:
        return list(node.inputs[1:])
    return None


def _after(  # noqa: C901, PLR0912 - a table
    sets: _Sets, node: Any, parts: list[Numbers], known: dict[Any, Any], moving: set[Any]
) -> Numbers:
    """Return the set of elements that each element of a node's result depends on."""
    op = node.op
    result = None
    if isinstance(op, CheckAndRaise):
        result = parts[0]
    elif isinstance(op, Elemwise):
        if scalar(op) is Switch and node.inputs[0] not in moving:
            result = np.where(known[node.inputs[0]], parts[1], parts[2])
        elif scalar(op) is Second:
            result = parts[1]
        else:
            result = parts[0]
            for part in parts[1:]:
                result = sets.union(result, part)
    elif isinstance(op, CAReduce):
        axes = range(parts[0].ndim) if op.axis is None else op.axis
        result = np.squeeze(sets.folded(parts[0], axes), tuple(axes))
    elif isinstance(op, MakeVector):
        result = np.stack(parts)
    elif isinstance(op, Alloc) and not any(v in moving for v in node.inputs[1:]):
        result = parts[0]
    elif isinstance(op, Join) and hasattr(op, "axis"):  # which was an input of older ones
        result = np.concatenate(parts, axis=op.axis)
    elif isinstance(op, DimShuffle | Reshape | SpecifyShape):
        shaped = [
            part if v in moving else known.get(v)
            for v, part in zip(node.inputs, parts, strict=True)
        ]
        if not any(v in moving for v in node.inputs[1:]):
            result = _moved(op, shaped, parts)
    elif isinstance(op, Subtensor | AdvancedSubtensor):
        result = _taken(sets, node, parts, known, moving)
    return sets.everything(parts) if result is None else result


def _moved(op: Any, given: list[Any], parts: list[Numbers]) -> Numbers:
    """Return what an operation that only moves elements does to their sets."""
    if isinstance(op, Reshape):
        return parts[0].reshape(tuple(int(n) for n in given[1]))
    if isinstance(op, DimShuffle):
        kept = [axis for axis in op.new_order if axis != "x"]
        dropped = tuple(axis for axis in range(parts[0].ndim) if axis not in kept)
        moved = np.transpose(parts[0], [*kept, *dropped])
        moved = moved.reshape(moved.shape[: len(kept)])
        at = tuple(i for i, axis in enumerate(op.new_order) if axis == "x")
        return np.expand_dims(moved, at)
    return parts[0]


def _taken(
    sets: _Sets, node: Any, parts: list[Numbers], known: dict[Any, Any], moving: set[Any]
) -> Numbers | None:
    """Return the sets of elements that are taken by their index; None if shapes may change."""
    source = parts[0]
    index = list(unflatten_index_variables(node.inputs[1:], node.op.idx_list))
    chosen = dict(zip(node.inputs[1:], parts[1:], strict=True))
    actual = [_index(entry, known) for entry in index]
    if not _steady(node, moving) or any(np.ndim(i) > 1 and i.dtype == bool for i in actual):
        return None
    extra = []
    for axis, entry in enumerate(index):
        if isinstance(entry, slice) or entry not in moving:
            continue
        # Any element along this axis may be the one that is taken.
        source = np.broadcast_to(sets.folded(source, [axis]), source.shape)
        extra.append((axis, chosen[entry]))
    taken = source[tuple(actual)]
    for axis, which in extra:
        # Number the elements of the index, and take the numbers as the elements are taken.
        shape = [*source.shape]
        shape[axis] = which.size
        line = [1] * source.ndim
        line[axis] = which.size
        numbers = np.broadcast_to(np.arange(which.size).reshape(line), shape)
        index = [*actual]
        index[axis] = np.arange(which.size).reshape(which.shape)
        taken = sets.union(taken, which.ravel()[numbers[tuple(index)]])
    return taken


def _index(entry: Any, known: dict[Any, Any]) -> Any:
    """Return an index with its values."""
    if isinstance(entry, slice):
        return slice(*(_index(v, known) for v in (entry.start, entry.stop, entry.step)))
    if entry is None or isinstance(entry, int):
        return entry
    value = np.asarray(known[entry])
    return int(value) if value.ndim == 0 else value
