"""Which elements of a model's variables meet in one summand of its log density, read off the graph.

A log density is a sum, of terms, of their elements, and of what is added up to make these. Elements
of two variables that are in no summand together are separate factors of the density, at all of
their values: that needs no point to be looked at. An operation that is not known here is taken to
mix all that goes into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor.configdefaults import config
from pytensor.gradient import grad
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import AND, Add, Mul, Neg, Second, Sub, Switch, TrueDiv
from pytensor.tensor.basic import Alloc, Join, MakeVector, ScalarFromTensor, Split
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor, unflatten_index_variables
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from bayesmodels.numerics import Array
from bayesmodels.posteriors.density import add, compiled
from bayesmodels.posteriors.operations import scalar


@dataclass(frozen=True, eq=False)
class Sets:
    """A set of elements for each element of an array: which row of `rows` it is."""

    which: NDArray[np.intp]
    rows: Any

    def at(self, which: Any) -> Sets:
        """Return the same sets for elements that were moved, taken or repeated."""
        return Sets(np.asarray(which), self.rows)

    def folded(self, axes: Iterable[int]) -> Sets:
        """Return the unions along some axes, which are kept with length 1."""
        shape = [1 if i in set(axes) else n for i, n in enumerate(self.which.shape)]
        groups = np.arange(math.prod(shape)).reshape(shape)
        to = np.broadcast_to(groups, self.which.shape)
        to_rows = _incidence(to, self.which, (groups.size, self.rows.shape[0]))
        return Sets(groups, _ones(to_rows @ self.rows))


def _ones(matrix: Any) -> Any:
    matrix.data[:] = 1
    return matrix


def _incidence(row: Any, column: Any, shape: tuple[int, int]) -> Any:
    row, column = np.ravel(row), np.ravel(column)
    return _ones(csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=shape))


def _union(a: Sets, b: Sets) -> Sets:
    """Return the unions of sets of two arrays, element by element."""
    one, two = np.broadcast_arrays(a.which, b.which)
    pairs, which = np.unique(one.astype(int) * b.rows.shape[0] + two, return_inverse=True)
    first, second = np.divmod(pairs, b.rows.shape[0])
    return Sets(which.reshape(one.shape), _ones(a.rows[first] + b.rows[second]))


def _side_by_side(parts: Sequence[Sets]) -> tuple[list[NDArray[np.intp]], Any]:
    """Return arrays of sets with common rows, and these."""
    starts = np.cumsum([0, *(part.rows.shape[0] for part in parts)])
    rows = vstack([part.rows for part in parts], format="csr")
    return [part.which + start for part, start in zip(parts, starts, strict=False)], rows


_ADDED = (Add, Sub, Neg)
_TIMES = (Mul, TrueDiv)
BY_ELEMENT = ("LogAddExp", "XLogY", "XLog1PY")  # graphs of their own, in newer PyTensor


@dataclass(frozen=True, eq=False)
class Summands:
    """The summands of log terms: elements of `parts` with weights, and a constant.

    `rows` has the elements of the inputs that each summand depends on, in a sparse matrix; `kept`
    says which elements of the parts, in one row, they are; `sizes` how many each part has.
    """

    total: Any
    parts: list[Any]
    sizes: list[int]
    run: Callable[..., list[Any]]
    rows: Any
    kept: NDArray[np.intp]
    weights: Array
    constant: float

    def values(self, *at: Any) -> Array:
        """Return all summands' values."""
        with np.errstate(all="ignore"):
            each = np.concatenate([np.ravel(x) for x in self.run(*at)])
        return np.asarray(self.weights * each[self.kept])


class Dependence:
    """What the elements of all results in a graph of summed log terms depend on.

    Elements are those of all inputs in their order, each input row by row; `at` are possible values
    of the inputs, and `columns` says which elements are asked for, in which order.
    """

    def __init__(
        self,
        points: Sequence[Any],
        terms: Sequence[Any],
        at: Sequence[NDArray[Any]],
        columns: Any = slice(None),
    ) -> None:
        self.points, self._terms, self._at, self._columns = points, terms, at, columns
        self.nodes, self.moving = moving_nodes(points, terms)

    def parts(self, asked: Sequence[tuple[Any, bool]]) -> list[Any]:
        """Return what depends on the inputs, of what sums (or conditions: all of what) are of."""
        return [v for v in _summands(asked, self.moving) if v in self.moving]

    @cached_property
    def _added(self) -> list[Any]:
        """What the terms are sums of."""
        return self.parts([(term, False) for term in self._terms])

    @cached_property
    def checked(self) -> list[Any]:
        """What must hold: where it does not PyMC raises an error, as if its log were a summand."""
        nodes = [v.owner for v in ancestors(self._terms) if v.owner]
        checks = [node for node in nodes if isinstance(node.op, CheckAndRaise)]
        return self.parts([(condition, True) for node in checks for condition in node.inputs[1:]])

    @cached_property
    def values(self) -> dict[Any, Any]:
        """Values of all that depends on the inputs, and of what goes into that."""
        each = {v for node in self.nodes for v in (*node.inputs, *node.outputs)}
        asked = [v for v in each | {*self._added, *self.checked} if hasattr(v, "dtype")]
        return dict(zip(asked, compiled(list(self.points), asked)(*self._at), strict=True))

    @cached_property
    def sets(self) -> dict[Any, Sets]:
        """The sets of elements that the elements of each variable depend on."""
        return _sets(self.points, self._at, self.nodes, self.moving, self.values)

    @cached_property
    def meetings(self) -> Any:
        """The sets of elements that meet in a summand, a row of a sparse matrix each."""
        every = [self.sets[v] for v in (*self._added, *self.checked)]
        rows_of = [sets.rows[np.unique(sets.which)] for sets in every]
        none = csr_array((0, sum(map(np.size, self._at))))
        return vstack([none, *rows_of], format="csr")[:, self._columns]

    def summands(self) -> Summands:
        """Take the sum of the terms apart."""
        parts = self._added
        with config.change_flags(floatX="float64", traceback__limit=0):
            # What is counted (of comparisons, say) has slopes as a number that is not whole.
            free: dict[Any, Any] = {v: v.type.clone(dtype="float64")() for v in parts}
            total = add([term.sum() for term in self._terms])
            by, linear = list(free.values()), _of_floats(total, free)
            slopes: Any = grad(linear, by, disconnected_inputs="ignore")
            # Of what is linear, slopes are the same everywhere.
            weigh = compiled([*self.points, *by], [*slopes, linear])
            run = compiled(list(self.points), parts)
        zeros = [np.zeros(np.shape(self.values[v])) for v in parts]
        *each_weight, constant = weigh(*self._at, *zeros)
        weights = np.concatenate([np.ravel(w) for w in each_weight])
        kept = np.flatnonzero(weights)
        each = [self.sets[v] for v in parts]
        rows = vstack([sets.rows[sets.which.ravel()] for sets in each], format="csr")[kept]
        columns = rows[:, self._columns]
        sizes = [x.size for x in zeros]
        return Summands(total, parts, sizes, run, columns, kept, weights[kept], float(constant))


def _of_floats(total: Any, given: dict[Any, Any]) -> Any:
    """Return a sum of other numbers, which need not be whole where those before were."""
    known = dict(given)
    for node in io_toposort(list(given), [total]):
        inputs = [known.get(v, v) for v in node.inputs]
        if inputs == list(node.inputs):
            continue
        if isinstance(node.op, CheckAndRaise):  # what it checks are the summands' own values
            known[node.outputs[0]] = inputs[0]
        elif isinstance(node.op, CAReduce) and scalar(node.op) is Add:
            known[node.outputs[0]] = inputs[0].sum(axis=node.op.axis)
        else:
            outputs = node.clone_with_new_inputs(inputs, strict=False).outputs
            known.update(zip(node.outputs, outputs, strict=True))
    return known.get(total, total)


def _sets(
    points: Sequence[Any],
    at: Sequence[NDArray[Any]],
    nodes: Sequence[Any],
    moving: set[Any],
    known: dict[Any, Any],
) -> dict[Any, Sets]:
    """Return the sets of elements that each variable's elements depend on."""
    result: dict[Any, Sets] = {}
    start, size = 0, sum(map(np.size, at))
    every = _incidence(np.arange(size), np.arange(size), (size, size))
    for point, value in zip(points, at, strict=True):
        which = start + np.arange(np.size(value))
        result[point] = Sets(which.reshape(np.shape(value)), every)
        start += np.size(value)
    nothing = csr_array((1, start), dtype=np.int32)
    for node in nodes:
        parts = [
            result.get(v) or Sets(np.zeros(np.shape(known.get(v, 0)), dtype=int), nothing)
            for v in node.inputs
        ]
        if isinstance(node.op, Split) and not any(v in moving for v in node.inputs[1:]):
            *axis, lengths = (known[v] for v in node.inputs[1:])  # of older ones an input
            along = int(axis[0]) if axis else node.op.axis
            cuts = np.split(parts[0].which, np.cumsum(lengths)[:-1], along)
            result.update(zip(node.outputs, map(parts[0].at, cuts), strict=True))
            continue
        sets = _after(node, parts, known, moving)
        for out in node.outputs:
            result[out] = sets.at(np.broadcast_to(sets.which, np.shape(known[out])))
    return result


def moving_nodes(points: Sequence[Any], terms: Sequence[Any]) -> tuple[list[Any], set[Any]]:
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
    if isinstance(node.op, Alloc | Reshape | Split):
        return not any(v in moving for v in node.inputs[1:])
    same = Elemwise | CAReduce | DimShuffle | Join | MakeVector | SpecifyShape | CheckAndRaise
    return isinstance(node.op, same)


def _summands(asked: Sequence[tuple[Any, bool]], moving: set[Any]) -> list[Any]:
    """Return what terms are sums of, or of what all has to hold where they are conditions."""
    left, result = list(asked), []
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
) -> Sets:
    """Return the set of elements that each element of a node's result depends on."""
    op, first = node.op, parts[0]
    moved = [part for v, part in zip(node.inputs, parts, strict=True) if v in moving]
    result: Sets | None = None
    if isinstance(op, CheckAndRaise):
        result = first
    elif isinstance(op, Elemwise):
        if scalar(op) is Switch and node.inputs[0] not in moving:
            (yes, no), rows = _side_by_side(parts[1:])
            result = Sets(np.where(known[node.inputs[0]], yes, no), rows)
        elif scalar(op) is Second:
            result = parts[1]
        else:
            result = reduce(_union, moved)
    elif type(op).__name__ in BY_ELEMENT:
        result = reduce(_union, moved)
    elif isinstance(op, CAReduce) or type(op).__name__ == "LogSumExp":
        ndim = first.which.ndim
        axes = tuple(range(ndim) if op.axis is None else (axis % ndim for axis in op.axis))
        folded = first.folded(axes)
        result = folded.at(np.squeeze(folded.which, axes))
    elif isinstance(op, MakeVector):
        each, rows = _side_by_side(parts)
        result = Sets(np.stack(each), rows)
    elif isinstance(op, Alloc) and not any(v in moving for v in node.inputs[1:]):
        result = first
    elif isinstance(op, Join) and hasattr(op, "axis"):  # which was an input of older ones
        each, rows = _side_by_side(parts)
        result = Sets(np.concatenate(each, axis=op.axis), rows)
    elif isinstance(op, DimShuffle | Reshape | SpecifyShape):
        if not any(v in moving for v in node.inputs[1:]):
            which = _moved(op, [known.get(v) for v in node.inputs[1:]], first.which)
            result = first.at(which)
    elif isinstance(op, Subtensor | AdvancedSubtensor):
        result = _taken(node, parts, known, moving)
    if result is None:  # an operation that is not known mixes all
        flat = [part.at(part.which.ravel()).folded([0]) for part in moved]
        mixed = reduce(_union, flat)
        result = mixed.at(np.zeros((), dtype=int))
    return result


def _moved(op: Any, values: list[Any], which: NDArray[Any]) -> NDArray[Any]:
    """Return what an operation that only moves elements does to an array."""
    if isinstance(op, Reshape):
        return which.reshape(tuple(int(n) for n in values[0]))
    if isinstance(op, DimShuffle):
        kept = [axis for axis in op.new_order if axis != "x"]
        dropped = tuple(axis for axis in range(which.ndim) if axis not in kept)
        moved = np.transpose(which, [*kept, *dropped])
        at = tuple(i for i, axis in enumerate(op.new_order) if axis == "x")
        return np.expand_dims(moved.reshape(moved.shape[: len(kept)]), at)
    return which


def _taken(node: Any, parts: list[Sets], known: dict[Any, Any], moving: set[Any]) -> Sets | None:
    """Return the sets of elements that are taken by their index; None if shapes may change."""
    source = parts[0]
    index = list(unflatten_index_variables(node.inputs[1:], node.op.idx_list))
    chosen = dict(zip(node.inputs[1:], parts[1:], strict=True))
    actual = [_index(entry, known) for entry in index]
    if not _steady(node, moving) or any(np.ndim(i) > 1 and i.dtype == bool for i in actual):
        return None
    extra = []
    shape = source.which.shape
    for axis, entry in enumerate(index):
        if isinstance(entry, slice) or entry not in moving:
            continue
        # Any element along this axis may be the one that is taken.
        folded = source.folded([axis])
        source = folded.at(np.broadcast_to(folded.which, shape))
        extra.append((axis, chosen[entry]))
    taken = source.at(source.which[tuple(actual)])
    for axis, own in extra:
        # Number the elements of the index, and take the numbers as the elements are taken.
        number = own.which.size
        line = [number if i == axis else 1 for i in range(len(shape))]
        wide = [number if i == axis else n for i, n in enumerate(shape)]
        numbers = np.broadcast_to(np.arange(number).reshape(line), wide)
        index = [*actual]
        index[axis] = np.arange(number).reshape(own.which.shape)
        taken = _union(taken, own.at(own.which.ravel()[numbers[tuple(index)]]))
    return taken


def _index(entry: Any, known: dict[Any, Any]) -> Any:
    """Return an index with its values."""
    if isinstance(entry, slice):
        return slice(*(_index(v, known) for v in (entry.start, entry.stop, entry.step)))
    if entry is None or isinstance(entry, int):
        return entry
    value = np.asarray(known[entry])
    return int(value) if value.ndim == 0 else value


def connected(linked: Any) -> list[NDArray[np.intp]]:
    """Return groups of what is linked, directly or through others, from a matrix of links."""
    _, label = connected_components(csr_array(linked), directed=False)
    return np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])
