"""Is a joint density analytic? Then an identity at points in general position holds everywhere.

The table of operations says which are analytic, or are if they always fall out the same way. What
bounds do not settle is asked at many points, and those where it falls out differently are compared
as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.logprob.utils import CheckParameterValue
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Add, Identity
from pytensor.tensor.basic import ExtractDiag
from pytensor.tensor.elemwise import CAReduce, DimShuffle
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.shape import Shape, Shape_i, SpecifyShape
from pytensor.tensor.special import Softmax
from pytensor.tensor.subtensor import Subtensor

from bayesmodels.posteriors.density import compiled
from bayesmodels.posteriors.gradient import Field
from bayesmodels.posteriors.operations import (
    EVERYTHING,
    TAKES,
    Bounds,
    core,
    operation,
    scalar,
    title,
)


@dataclass(frozen=True)
class Audit:
    """The operations and the number of comparisons in a graph that may not be analytic.

    From a point's inputs `ask` gives the answers, one array a question, and `margins` how near each
    comparison is to falling out differently.
    """

    opaque: tuple[str, ...]
    questions: int
    ask: Callable[..., list[NDArray[Any]]]
    margins: Callable[..., list[NDArray[Any]]]

    @property
    def analytic(self) -> bool:
        """Whether the density is known to be analytic on its whole support."""
        return not self.opaque and not self.questions


def audit(field: Field, rest: Mapping[str, Bounds] | None = None) -> Audit:
    """Look through the graph of a joint density, from its continuous variables downwards.

    `rest` has the ends of the supports of other variables whose values must not change what the
    density is in those of the field. Only terms that have variables of the field count then, and
    not what PyMC checks of its parameters.
    """
    by_name = {point.name: point for point in field.points}
    smooth = [by_name[s.name] for s in field.continuous]
    rows = _Rows(
        {by_name[s.name] for s in field.continuous if s.kind.adds_up},
        {by_name[s.name] for s in field.continuous if s.kind.definite},
    )
    bounds: dict[Any, Bounds] = {by_name[s.name]: s.ends for s in field.continuous}
    bounds |= {by_name[name]: ends for name, ends in (rest or {}).items()}
    reached = set(smooth)
    moved = _not_checked(field.terms, reached) if rest else set()
    also = {by_name[name] for name in rest or ()}
    opaque: set[str] = set()
    questions: list[Any] = []
    with np.errstate(all="ignore"):
        for node in io_toposort(field.points, field.terms):
            inputs = [_bounds(v, bounds) for v in node.inputs]
            known = operation(node.op)
            for out in node.outputs:
                bounds[out] = rows.bounds(node) or (known.bounds(*inputs) if known else EVERYTHING)
            if isinstance(node.op, Shape | Shape_i):
                continue
            if any(v in reached for v in node.inputs):
                reached.update(node.outputs)
            elif any(v in also for v in node.inputs):
                also.update(node.outputs)
                if not any(v in moved for v in node.outputs):
                    continue
            else:
                continue
            if known is None:
                opaque.add(title(node.op))
            else:
                questions += known.questions(node, inputs)
    with config.change_flags(floatX="float64", traceback__limit=0):
        ask = compiled(field.points, questions)
        made_by = [q.owner for q in questions if q.owner is not None]
        compared = [n.inputs for n in made_by if (known := operation(n.op)) and known.compares]
        near = [pt.abs(one - other).min() for one, other in compared]
        margins = compiled(field.points, near)
    return Audit(tuple(sorted(opaque)), len(questions), ask, margins)


def _not_checked(terms: Sequence[Any], smooth: set[Any]) -> set[Any]:
    """Return what terms that have some variables are made of, but for checks of parameters."""
    left = [term for term in terms if smooth & set(ancestors([term]))]
    result: set[Any] = set()
    while left:
        v = left.pop()
        if v not in result:
            result.add(v)
            inputs = v.owner.inputs if v.owner is not None else []
            checks = v.owner is not None and isinstance(v.owner.op, CheckAndRaise)
            left += inputs[:1] if checks else inputs
    return result


class _Rows:
    """Which variables are simplexes by rows, and which are matrices with diagonals > 0."""

    def __init__(self, simplexes: set[Any], definite: set[Any]) -> None:
        self.simplexes, self.definite = simplexes, definite

    def bounds(self, node: Any) -> Bounds | None:
        """Follow a node; return bounds on what it gives, if these properties say more."""
        if not node.inputs:
            return None
        op, source, out = core(node.op), node.inputs[0], node.outputs[0]
        if source in self.simplexes:
            last = source.type.ndim - 1
            last_axes = ((last,), last, None) if last == 0 else ((last,), last)
            if isinstance(op, CAReduce) and scalar(op) is Add and op.axis in last_axes:
                return 1.0, 1.0
            if _keeps_last_axis(node):
                self.simplexes.add(out)
        if isinstance(op, Softmax) and op.axis in (-1, out.type.ndim - 1):
            self.simplexes.add(out)
        if isinstance(op, Cholesky):
            self.definite.add(out)
        if source in self.definite:
            if isinstance(op, ExtractDiag):
                return 0.0, np.inf
            if _keeps_last_axis(node):
                self.definite.add(out)
        return None


def _keeps_last_axis(node: Any) -> bool:
    """Whether a node only takes, repeats or adds axes before the last one."""
    op, source, out = core(node.op), node.inputs[0], node.outputs[0]
    if isinstance(op, DimShuffle):
        return bool(op.new_order) and op.new_order[-1] == source.type.ndim - 1
    if isinstance(op, Subtensor):
        return len(op.idx_list) < source.type.ndim
    if isinstance(op, TAKES):
        taken = sum(v.type.ndim > 0 or str(v.dtype).startswith("int") for v in node.inputs[1:])
        return bool(taken < source.type.ndim and out.type.shape[-1:] == source.type.shape[-1:])
    return isinstance(op, SpecifyShape | CheckParameterValue) or scalar(op) is Identity


def _bounds(v: Any, known: dict[Any, Bounds]) -> Bounds:
    if v in known:
        return known[v]
    if isinstance(v, Constant) and getattr(v.type, "dtype", "")[:3] in ("flo", "int", "uin", "boo"):
        data = np.asarray(v.data, dtype=float)
        if data.size and not np.isnan(data).any():
            return float(data.min()), float(data.max())
    return EVERYTHING
