"""A bound on the rounding error of a graph's result, worked out beside the result.

The bound is a running error analysis done by automatic differentiation. Every intermediate value
v of the computation is off by a few units in the last place, which moves the result by
``|v * d(result)/dv| * eps`` to first order; a sum, product or solve over m numbers has m chances
to round, and a factorisation says itself how near the matrix is that it has factored. Adding this
up over the whole graph bounds the error that the graph can make at that very point, so that "equal
up to rounding" needs no tolerance (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002,
sections 3.1, 3.3 and 10.1).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pytensor.gradient import NullTypeGradError, grad
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.graph.utils import MethodNotDefined
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from bayesmodels.errors import NotConjugate
from bayesmodels.models.operations_pymc import Operation
from bayesmodels.posteriors.operations import core, is_float, operation

# A special function of SciPy may be off by a few units in the last place.
_UNITS = 8
_STRANDS = 32  # more than 128 / 8 + 3, and room for the recursion's last steps
SINGLE = ("float16", "float32")


@dataclass(frozen=True)
class _Units:
    """The number of roundings of a value: its `rounded` units, and those of sums of it.

    These are over its last axis, over all of it, or over all of it in pairs of blocks.
    """

    rounded: float
    rows: int = 0
    total: int = 0
    pairs: int = 0

    def of(self, value: Any) -> float:
        """Count them for a value, whose shape is now known."""
        count = self.rounded + self.total * value.size
        if self.rows:
            count += self.rows * value.shape[-1]
        if self.pairs:
            # NumPy adds up a fresh array in pairs of blocks of 128 numbers, in eight strands each.
            count += self.pairs * min(value.size, _STRANDS + math.log2(max(value.size, 1)))
        return float(count)


class _Moved(Operation):
    """From a value and its influence, by how much its rounding moves the result, in epsilons."""

    __props__ = ("units",)

    def __init__(self, units: _Units) -> None:
        self.units = units

    def _shape(self, *_: Any) -> Any:
        return ()

    def _value(self, value: Any, influence: Any) -> Any:
        sizes, slopes = np.abs(value, dtype=np.float64), np.abs(influence, dtype=np.float64)
        if sizes.shape != slopes.shape:
            sizes, slopes = np.broadcast_arrays(sizes, slopes)
        moved = float(np.vdot(sizes, slopes))
        if not math.isfinite(moved):
            counts = _counts(sizes, slopes)
            moved = float(np.sum(sizes[counts] * slopes[counts]))
        return np.asarray(self.units.of(value) * moved)

    def batched(self, value: Any, influence: Any) -> Any:
        """Return the same for each of many, along the first axis."""
        sizes, slopes = np.abs(value, dtype=np.float64), np.abs(influence, dtype=np.float64)
        each = np.where(_counts(sizes, slopes), sizes * slopes, 0.0)
        return self.units.of(value[0]) * each.sum(tuple(range(1, each.ndim)))


def _counts(sizes: Any, slopes: Any) -> Any:
    """Return where a rounding matters: of values that are not zero, by slopes that are positive.

    An influence that is not a number is zero times infinity, on a branch that is not taken.
    """
    return (slopes > 0) & (sizes != 0)


NO_GRADIENT = (NotImplementedError, NullTypeGradError, MethodNotDefined)
"""What is raised where an operation has no derivative: by itself, or by PyTensor if it says so."""


def gradient(result: Any, by: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """Return derivatives, with results of operations that have none as if they were constant.

    Where nothing leads, there is None.
    """
    try:
        return derivatives(result, by, nothing="none")
    except NO_GRADIENT:
        held = without_gradient(leaves, [result])
        return derivatives(result, by, held, nothing="none")


def derivatives(
    result: Any,
    by: Sequence[Any],
    held: Sequence[Any] = (),
    nothing: Literal["zero", "none"] = "zero",
) -> list[Any]:
    """Return derivatives, with held results as if they were constant; raise if there are none.

    A loop for each number, which PyTensor has for some, takes minutes and counts as none.
    """
    if not by:
        return []
    with warnings.catch_warnings():
        # PyTensor warns of PyMC's own operations that are written for its former versions.
        warnings.filterwarnings("ignore", ".* should implement `pullback`", FutureWarning)
        try:
            slopes: Any = grad(
                result,
                list(by),
                consider_constant=list(held),
                disconnected_inputs="ignore",
                return_disconnected=nothing,
            )
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            # Somebody's operation has one that does not work here: as if it had none.
            raise NotImplementedError(str(error)) from error
    above = set(ancestors([g for g in slopes if g is not None])) - set(ancestors([result]))
    if any(isinstance(getattr(v.owner.op, "scalar_op", 0), ScalarLoop) for v in above if v.owner):
        raise NotImplementedError
    return list(slopes)


def without_gradient(leaves: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """Return the results, at least one, that PyTensor cannot differentiate by the leaves."""
    moving = {v for v in leaves if is_float(v)}
    result = []
    for node in io_toposort(list(leaves), list(results)):
        floats = [v for v in node.outputs if is_float(v)]
        is_moved = any(v in moving for v in node.inputs)
        moving.update(floats)  # also what was made of whole numbers
        if not is_moved:
            continue
        inputs = [v.type() if v in moving else v for v in node.inputs]
        fresh = [new for new, old in zip(inputs, node.inputs, strict=True) if new is not old]
        outputs: Any = node.clone_with_new_inputs(inputs).outputs
        try:
            for v in outputs:
                if is_float(v):
                    derivatives(v.sum(), fresh)
        except NO_GRADIENT:
            result += floats
    if not result:
        names = ", ".join(str(v.name) for v in leaves if is_float(v))
        raise NotConjugate(f"PyTensor has no derivative of the joint density by {names}.")
    return result


def error_terms(result: Any) -> list[Any]:
    """Return, for every float in the graph, how many units it may be off times its influence.

    What goes through an operation without a derivative has no known influence.
    """
    above = list(ancestors([result]))
    leaves = [v for v in above if v.owner is None]
    floats = [v for v in above if is_float(v) and (v.owner is not None or isinstance(v, Constant))]
    variables = [v for v in floats if not _single(v)]
    # PyTensor's operations do not have this method.
    matrices = [v for v in above if v.owner and hasattr(v.owner.op, "backward_error")]
    units = _units(variables)
    influence = gradient(result, [*variables, *(v.owner.inputs[0] for v in matrices)], leaves)
    terms = [
        _Moved(units[v])(v, g) for v, g in zip(variables, influence, strict=False) if g is not None
    ]
    # A factor of an ill-conditioned matrix is far off in its elements, and yet the exact factor of
    # a nearby matrix: an operation with a method `backward_error` says how near.
    for v, g in zip(matrices, influence[len(variables) :], strict=True):
        if g is not None:
            terms.append(_Moved(_Units(1))(v.owner.op.backward_error(v.owner.inputs[0]), g))
    return terms


def dtype(v: Any) -> str:
    """Return the type of the numbers of a graph's variable; of what has no numbers, nothing."""
    return str(getattr(v, "dtype", ""))


def _single(v: Any) -> bool:
    """Whether a variable is one constant number, which nothing rounds.

    (It may be an exponent, with respect to which the derivative at a negative base is not finite.)
    """
    if isinstance(v, Constant):
        return bool(v.type.ndim == 0)
    if v.owner is None or not isinstance(v.owner.op, DimShuffle):
        return False
    return _single(v.owner.inputs[0])


def _units(variables: list[Any]) -> dict[Any, _Units]:
    """Count roundings: of a value as it is made, and of the sums that it goes into."""
    units: dict[Any, _Units] = {}
    for v in variables:
        if isinstance(v, Constant):
            units[v] = _Units(1)  # as a prior's location, which the belief works out of its factor
        else:
            roundings = 0 if _moves(v.owner.op) else _UNITS
            # Single precision has 29 bits less.
            units[v] = _Units(roundings * 2.0**29 if dtype(v) in SINGLE else roundings)
    for node in {v.owner for v in variables if v.owner is not None}:
        if isinstance(node.op, Elemwise) or _moves(node.op):
            continue
        for part in node.inputs:
            if part in units and part.type.ndim > 0:
                units[part] = _summed(units[part], node, part)
    return units


def _moves(op: Any) -> bool:
    """Whether an operation only moves numbers, without rounding."""
    known = operation(op)
    return known is not None and known.moves and core(op) is op


def _summed(units: _Units, node: Any, part: Any) -> _Units:
    """Add how often a summand may be rounded on its way into a sum, product or solve."""
    if getattr(node.outputs[0].tag, "correctly_rounded", False):
        return replace(units, rounded=units.rounded + 1)
    if not isinstance(node.op, CAReduce):
        return replace(units, rows=units.rows + 1)
    everything = node.outputs[0].type.ndim == 0
    if everything and part.owner is not None and isinstance(part.owner.op, Elemwise):
        return replace(units, pairs=units.pairs + 1)
    return replace(units, total=units.total + 1)
