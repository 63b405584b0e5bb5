"""Log terms of one form, as a loop over rows declares them, as one term over an axis of rows.

Each as a term of its own would be differentiated, rewritten and evaluated for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor import tensor
from pytensor.graph.basic import Constant
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, MakeVector, ScalarFromTensor
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.subtensor import Subtensor

pt: Any = tensor  # its functions have no types

_FEWEST = 4  # terms that are put together
_MOST = 200  # operations of a term
_KNOWN = Elemwise | CAReduce | DimShuffle | Dot | MakeVector | ScalarFromTensor


@dataclass(frozen=True, eq=False)
class _Term:
    """A term without its checks: its operations in order, and their inputs.

    `nodes` lead from the `leaves` to the `results`: its value and the conditions of `checks`.
    """

    term: Any
    checks: list[tuple[Any, int]]
    results: list[Any]
    nodes: list[Any]
    leaves: list[Any]
    form: Any


def stacked(terms: Sequence[Any]) -> list[Any]:
    """Return terms that add up to the same, of which those of one form are one."""
    forms: dict[Any, list[_Term]] = {}
    for term in map(_taken_apart, terms):
        forms.setdefault(term.form, []).append(term)
    result = []
    for form, alike in forms.items():
        one = form is not None and len(alike) >= _FEWEST
        result += [_one(alike)] if one else [term.term for term in alike]
    return result


def _taken_apart(term: Any) -> _Term:
    """Take a term apart; it has no form if some operation is of another kind."""
    value, checks, conditions = term, [], list[Any]()
    while node := value.owner:
        if isinstance(node.op, CheckAndRaise):
            checks.append((node.op, len(node.inputs) - 1))
            conditions += node.inputs[1:]
        elif not (isinstance(node.op, Alloc) and len(node.inputs) == 1):
            break
        value = node.inputs[0]
    results = [value, *conditions]
    nodes = list(io_toposort([v for v in ancestors(results) if _is_element(v)], results))
    place: dict[Any, int] = {}
    operations, leaves = list[Any](), list[Any]()
    for node in nodes:
        inputs = []
        for v in node.inputs:
            if v not in place:  # each time that one is met it is another leaf
                leaves.append(v)
            inputs.append(place.get(v, -len(leaves)))
        place.update({v: len(operations) for v in node.outputs})
        operations.append((node.op, *inputs))
    form = (
        tuple(operations),
        tuple(v.type for v in leaves),
        tuple(place[v] for v in results if v in place),
        tuple(checks),
    )
    known = len(nodes) <= _MOST and all(isinstance(node.op, _KNOWN) for node in nodes)
    known = known and all(v in place for v in results)
    return _Term(term, checks, results, nodes, leaves, form if known else None)


def _is_element(v: Any) -> bool:
    """Whether a variable is an element (or row) of another one, at places that are known."""
    node = v.owner
    if node is None or not isinstance(node.op, Subtensor):
        return False
    complete = not any(isinstance(entry, slice) for entry in node.op.idx_list)
    return complete and all(isinstance(place, Constant) for place in node.inputs[1:])


def _one(alike: Sequence[_Term]) -> Any:
    """Return the term of all rows, from the nodes of the first and the leaves of all."""
    first = alike[0]
    known: dict[Any, Any] = {}
    replacements: dict[Any, Any] = {}
    columns = zip(*(term.leaves for term in alike), strict=True)
    for node in first.nodes:
        inputs = []
        for v in node.inputs:
            if v in known:
                inputs.append(known[v])
                continue
            column = next(columns)
            inputs.append(v if all(_same(v, other) for other in column) else v.type())
            if inputs[-1] is not v:
                replacements[inputs[-1]] = _stacked(column)
        outputs = (
            node.outputs if inputs == node.inputs else node.clone_with_new_inputs(inputs).outputs
        )
        known.update(zip(node.outputs, outputs, strict=True))
    every: Any = vectorize_graph([known.get(v, v) for v in first.results], replacements)
    term, *conditions = every
    for op, number in first.checks:
        indices, conditions = conditions[:number], conditions[number:]
        term = op(term, *map(pt.all, indices))
    return term


def _same(one: Any, other: Any) -> bool:
    """Whether two leaves are one, or the same constant."""
    both = isinstance(one, Constant) and isinstance(other, Constant)
    return one is other or (both and one.equals(other))


def _stacked(column: Sequence[Any]) -> Any:
    """Return leaves along a first axis."""
    if all(isinstance(v, Constant) for v in column):
        return pt.constant(np.stack([v.data for v in column]))
    nodes = [v.owner for v in column]
    if all(map(_is_element, column)) and len({(n.op, n.inputs[0]) for n in nodes}) == 1:
        places = zip(*([int(i.data) for i in node.inputs[1:]] for node in nodes), strict=True)
        return nodes[0].inputs[0][tuple(map(np.array, places))]
    return pt.stack(list(column))
