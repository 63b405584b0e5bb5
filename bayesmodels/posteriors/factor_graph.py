"""Which elements of a model's variables meet in one summand of its log density, read off the graph.

A log density is a sum, of terms, of their elements, and of what is added up to make these. Elements
of two variables that are in no summand together are separate factors of the density, at all of
their values: that needs no point to be looked at. An operation that is not known here is taken to
mix all that goes into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import AND, Add, Mul, Neg, Second, Sub, Switch, TrueDiv
from pytensor.tensor.basic import Alloc, Join, MakeVector, ScalarFromTensor
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor, unflatten_index_variables
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesmodels.posteriors.density import compiled
from bayesmodels.posteriors.operations import scalar

Sets = NDArray[Any]
"""Sets of elements, each held as the bits of one of Python's integers."""

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
    values = compiled(list(points), asked)(*at)
    known = dict(zip(asked, values, strict=True))
    found: dict[Any, Sets] = {}
    start = 0
    for point, value in zip(points, at, strict=True):
        single = [1 << (start + i) for i in range(np.size(value))]
        found[point] = np.array(single, dtype=object).reshape(np.shape(value))
        start += np.size(value)
    for node in nodes:
        parts = [_of(found, known, v) for v in node.inputs]
        for out in node.outputs:
            made = np.asarray(_after(node, parts, known, moving), dtype=object)
            found[out] = np.broadcast_to(made, np.shape(known[out]))
    met = {each for v in summands for each in np.ravel(_of(found, known, v))}
    width = (start + 7) // 8
    packed = b"".join(each.to_bytes(width, "little") for each in met | {0})
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)
    return np.unpackbits(rows, axis=-1, bitorder="little")[:, :start].astype(bool)


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


def _of(found: dict[Any, Sets], known: dict[Any, Any], v: Any) -> Sets:
    """Return the set of each element of a variable, which may be empty."""
    if v in found:
        return found[v]
    return np.broadcast_to(np.array(0, dtype=object), np.shape(known.get(v, 0)))


def _folded(sets: Sets, axes: Iterable[int]) -> Sets:
    """Return the unions of sets along some axes, which are kept with length 1."""
    made = np.bitwise_or.reduce(sets, axis=tuple(axes), keepdims=True, initial=0)
    return np.asarray(made, dtype=object)


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
    node: Any, parts: list[Sets], known: dict[Any, Any], moving: set[Any]
) -> Sets | int:
    """Return the set of elements that each element of a node's result depends on."""
    op = node.op
    moved = [part for v, part in zip(node.inputs, parts, strict=True) if v in moving]
    result: Sets | int | None = None
    if isinstance(op, CheckAndRaise):
        result = parts[0]
    elif isinstance(op, Elemwise):
        if scalar(op) is Switch and node.inputs[0] not in moving:
            result = np.where(known[node.inputs[0]], parts[1], parts[2])
        elif scalar(op) is Second:
            result = parts[1]
        else:
            result = reduce(np.bitwise_or, moved)
    elif isinstance(op, CAReduce):
        axes = range(parts[0].ndim) if op.axis is None else op.axis
        result = np.squeeze(_folded(parts[0], axes), tuple(axes))
    elif isinstance(op, MakeVector):
        result = np.stack(parts)
    elif isinstance(op, Alloc) and not any(v in moving for v in node.inputs[1:]):
        result = parts[0]
    elif isinstance(op, Join) and hasattr(op, "axis"):  # which was an input of older ones
        result = np.concatenate(parts, axis=op.axis)
    elif isinstance(op, DimShuffle | Reshape | SpecifyShape):
        if not any(v in moving for v in node.inputs[1:]):
            result = _moved(op, [known.get(v) for v in node.inputs[1:]], parts[0])
    elif isinstance(op, Subtensor | AdvancedSubtensor):
        result = _taken(node, parts, known, moving)
    if result is None:  # an operation that is not known mixes all
        result = reduce(or_, (each for part in moved for each in np.ravel(part)), 0)
    return result


def _moved(op: Any, given: list[Any], sets: Sets) -> Sets:
    """Return what an operation that only moves elements does to their sets."""
    if isinstance(op, Reshape):
        return sets.reshape(tuple(int(n) for n in given[0]))
    if isinstance(op, DimShuffle):
        kept = [axis for axis in op.new_order if axis != "x"]
        dropped = tuple(axis for axis in range(sets.ndim) if axis not in kept)
        moved = np.transpose(sets, [*kept, *dropped])
        at = tuple(i for i, axis in enumerate(op.new_order) if axis == "x")
        return np.expand_dims(moved.reshape(moved.shape[: len(kept)]), at)
    return sets


def _taken(node: Any, parts: list[Sets], known: dict[Any, Any], moving: set[Any]) -> Sets | None:
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
        source = np.broadcast_to(_folded(source, [axis]), source.shape)
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
        taken = taken | which.ravel()[numbers[tuple(index)]]
    return taken


def _index(entry: Any, known: dict[Any, Any]) -> Any:
    """Return an index with its values."""
    if isinstance(entry, slice):
        return slice(*(_index(v, known) for v in (entry.start, entry.stop, entry.step)))
    if entry is None or isinstance(entry, int):
        return entry
    value = np.asarray(known[entry])
    return int(value) if value.ndim == 0 else value


def connected(linked: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return groups of what is linked, directly or through others, from a matrix of links."""
    links: Any = csr_array(linked.astype(int))
    number, label = connected_components(links, directed=False)
    return [np.flatnonzero(label == group) for group in range(number)]
