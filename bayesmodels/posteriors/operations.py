"""What is known of PyTensor's operations: one table of their types.

Sums, products, exponentials, matrix factors and the like are analytic where they are defined.
Comparisons, rounding, absolute values and clips are not, unless bounds on what goes in say that
they always fall out the same way: the square root of a positive number is never below zero. An
operation that is not in the table is not known to be analytic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pymc.logprob.utils import CheckParameterValue
from pytensor.raise_op import Assert
from pytensor.scalar import basic, math
from pytensor.tensor import subtensor
from pytensor.tensor.basic import (
    Alloc,
    AllocDiag,
    AllocEmpty,
    ExtractDiag,
    Eye,
    Join,
    MakeVector,
    PermuteRowElements,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.blas import BatchedDot, Dot22, Gemv
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.einsum import Einsum
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp, Repeat
from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.inverse import MatrixInverse
from pytensor.tensor.linalg.products import Expm, KroneckerProduct
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.summary import Det, SLogDet
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.special import LogSoftmax, Softmax

from bayesmodels.models.inverse_wishart_pymc import CovarianceOfRoot, Located, RootOfCovariance

Bounds = tuple[float, float]

EVERYTHING = (-np.inf, np.inf)
_POSITIVE, _SHARE = (0.0, np.inf), (0.0, 1.0)


@dataclass(frozen=True)
class Operation:
    """Bounds of an operation's result, and questions whose answers make it analytic.

    `bounds` leads from bounds on what goes in to those on what comes out, and `questions` from a
    node and bounds on what goes into it to expressions that must be the same everywhere if the
    operation is to be analytic. (A border counts as outside: supports are open, so that it is never
    met.) It may compare two numbers, or only move numbers without rounding.
    """

    bounds: Callable[..., Bounds] = lambda *_: EVERYTHING
    questions: Callable[[Any, Sequence[Bounds]], list[Any]] = lambda *_: []
    compares: bool = False
    moves: bool = False


def scalar(op: Any) -> type | None:
    """Return the type of the operation that is done number by number; None if there is none."""
    return type(op.scalar_op) if isinstance(op, Elemwise | CAReduce) else None


def core(op: Any) -> Any:
    """Return the operation without leading axes."""
    return op.core_op if isinstance(op, Blockwise) else op


def operation(op: Any) -> Operation | None:
    """Return what is known of an operation; None if nothing is."""
    op = core(op)
    if isinstance(op, CAReduce):
        return _REDUCTIONS.get(type(op.scalar_op))
    kind = type(op.scalar_op) if isinstance(op, Elemwise) else type(op)
    return _OPERATIONS.get(kind)


def title(op: Any) -> str:
    """Return an operation's name as its author knows it."""
    op = core(op)
    if not isinstance(op, Elemwise | CAReduce):
        return type(op).__name__
    return str(getattr(op.scalar_op, "name", None) or type(op.scalar_op).__name__).lower()


# --- bounds ---------------------------------------------------------------------------------------


def _any(*inputs: Bounds) -> Bounds:
    return min(low for low, _ in inputs), max(high for _, high in inputs)


def _product(*inputs: Bounds) -> Bounds:
    result = inputs[0]
    for other in inputs[1:]:
        ends = [0.0 if x == 0 or y == 0 else x * y for x in result for y in other]
        result = min(ends), max(ends)
    return result


def _inverse(a: Bounds) -> Bounds:
    low, high = a
    if low >= 0:
        return (1 / high if high else np.inf), (1 / low if low else np.inf)
    if high <= 0:
        return (1 / high if high else -np.inf), (1 / low if low else -np.inf)
    return EVERYTHING


def _abs(a: Bounds) -> Bounds:
    return 0.0, max(-a[0], a[1])


def _log(a: Bounds) -> Bounds:
    return (float(np.log(a[0])) if a[0] > 0 else -np.inf), float(np.log(max(a[1], 0.0)))


def _log1p(a: Bounds) -> Bounds:
    return (float(np.log1p(a[0])) if a[0] > -1 else -np.inf), float(np.log1p(max(a[1], -1.0)))


# --- questions ------------------------------------------------------------------------------------


def _apart(one: Bounds, other: Bounds = (0.0, 0.0)) -> bool:
    """Whether bounds settle which of two numbers is the larger one."""
    return one[1] <= other[0] or one[0] >= other[1]


def _larger(node: Any, inputs: Sequence[Bounds]) -> list[Any]:
    return [] if _apart(*inputs) else [node.inputs[0] > node.inputs[1]]


def _equal(node: Any, _: Sequence[Bounds]) -> list[Any]:
    # A number that varies smoothly equals another one almost nowhere.
    return [] if any(is_float(v) for v in node.inputs) else [node.outputs[0]]


def _clipped(node: Any, inputs: Sequence[Bounds]) -> list[Any]:
    (low, high), floor, top = inputs
    x = node.inputs[0]
    inside = low >= floor[1] and high <= top[0]
    return [] if inside else [x > node.inputs[1], x < node.inputs[2]]


def _outcome(node: Any, inputs: Sequence[Bounds]) -> list[Any]:
    return [] if _apart(*inputs) else [node.outputs[0]]


def is_float(v: Any) -> bool:
    """Whether a variable of a graph holds numbers that are not whole."""
    return str(getattr(v, "dtype", "")).startswith("float")


# --- the table ------------------------------------------------------------------------------------

# Older versions of PyTensor have types of their own for an index along the first axis.
_OLD = vars(subtensor)
TAKES = (
    subtensor.AdvancedSubtensor,
    *(_OLD[name] for name in ("AdvancedSubtensor1",) if name in _OLD),
)
_CHANGES = (
    *(subtensor.IncSubtensor, subtensor.AdvancedIncSubtensor),
    *(_OLD[name] for name in ("AdvancedIncSubtensor1",) if name in _OLD),
)

_PLAIN = Operation()
_SAME = Operation(lambda *inputs: inputs[0])
_MOVED = Operation(lambda *inputs: inputs[0], moves=True)
_COMPARED = Operation(lambda *_: _SHARE, _outcome, compares=True)
_STEP = Operation(questions=lambda node, _: [node.outputs[0]])
_PRODUCTS = Operation(
    lambda *inputs: _POSITIVE if all(low >= 0 for low, _ in inputs) else EVERYTHING
)

_REDUCTIONS: dict[type, Operation] = {
    basic.Add: Operation(
        lambda a: _POSITIVE if a[0] >= 0 else ((-np.inf, 0.0) if a[1] <= 0 else EVERYTHING)
    ),
    basic.Mul: _PRODUCTS,
    basic.AND: _PLAIN,
    basic.OR: _PLAIN,
    basic.Maximum: Operation(
        lambda a: a, lambda node, _: [node.inputs[0].argmax(axis=node.op.axis)]
    ),
    basic.Minimum: Operation(
        lambda a: a, lambda node, _: [node.inputs[0].argmin(axis=node.op.axis)]
    ),
}

_ANALYTIC = (
    *(basic.Expm1, basic.Log2, basic.Log10, basic.Sin, basic.Cos, basic.Tan, basic.Sinh),
    *(basic.Cosh, basic.Tanh, basic.ArcSin, basic.ArcCos, basic.ArcTan, basic.ArcTan2),
    *(basic.ArcSinh, basic.ArcCosh, basic.ArcTanh, basic.AND, basic.OR, basic.XOR, basic.Invert),
    *(math.Log1mexp, math.GammaLn, math.Psi, math.TriGamma, math.PolyGamma, math.Gamma, math.Erf),
    *(math.Erfc, math.Erfcx, math.Erfinv, math.Erfcinv, math.BetaInc, math.GammaInc),
    *(math.GammaIncC, math.Ive, math.Kve, math.J0, math.J1, math.I0, math.I1, math.Owens_t),
    *(*_CHANGES, Split, AllocEmpty, Dot22, Gemv),
    *(Cholesky, SolveTriangular, Solve, CholeskySolve),
    *(MatrixInverse, Det, SLogDet, KroneckerProduct, Expm),
    *(BlockDiagonal, AllocDiag, LogSoftmax, Eye, CumOp, Shape, Shape_i, Einsum),
    *(PermuteRowElements, Convolve1d, RootOfCovariance, CovarianceOfRoot, Located),
)
_KEEPING_BOUNDS = (
    *(*TAKES, basic.Identity, Alloc, SpecifyShape, CheckParameterValue),
    *(ScalarFromTensor, TensorFromScalar, ExtractDiag, Assert, Repeat),
)
_OPERATIONS: dict[type, Operation] = {
    **dict.fromkeys(_ANALYTIC, _PLAIN),
    **dict.fromkeys(_KEEPING_BOUNDS, _SAME),
    **dict.fromkeys((subtensor.Subtensor, Reshape, DimShuffle), _MOVED),
    **dict.fromkeys((basic.LT, basic.LE, basic.GT, basic.GE), _COMPARED),
    **dict.fromkeys((basic.EQ, basic.NEQ), Operation(lambda *_: _SHARE, _equal)),
    **dict.fromkeys((basic.IsNan, basic.IsInf), _PLAIN),
    **dict.fromkeys((basic.Floor, basic.Ceil, basic.Trunc, basic.IntDiv, basic.Mod), _STEP),
    **dict.fromkeys((basic.RoundHalfToEven, basic.RoundHalfAwayFromZero), _STEP),
    **dict.fromkeys((basic.Maximum, basic.Minimum), Operation(questions=_larger)),
    **dict.fromkeys((basic.Exp, basic.Exp2, math.Softplus), Operation(lambda _: _POSITIVE)),
    **dict.fromkeys((math.Sigmoid, Softmax), Operation(lambda *_: _SHARE)),
    **dict.fromkeys((Join, MakeVector), Operation(_any)),
    **dict.fromkeys((Dot, BatchedDot), _PRODUCTS),
    basic.Cast: Operation(
        lambda a: a,
        lambda node, _: (
            [node.outputs[0]] if is_float(node.inputs[0]) and not is_float(node.outputs[0]) else []
        ),
    ),
    basic.Abs: Operation(_abs, lambda node, given: [] if _apart(*given) else [node.inputs[0] > 0]),
    basic.Sign: Operation(
        lambda a: ((1.0 if a[0] >= 0 else -1.0), (-1.0 if a[1] <= 0 else 1.0)), _outcome
    ),
    basic.Clip: Operation(questions=_clipped),
    basic.Switch: Operation(lambda _, a, b: _any(a, b)),
    basic.Second: Operation(lambda _, a: a),
    basic.Add: Operation(lambda *inputs: (sum(a[0] for a in inputs), sum(a[1] for a in inputs))),
    basic.Sub: Operation(lambda a, b: (a[0] - b[1], a[1] - b[0])),
    basic.Neg: Operation(lambda a: (-a[1], -a[0])),
    basic.Mul: Operation(_product),
    basic.TrueDiv: Operation(lambda a, b: _product(a, _inverse(b))),
    basic.Reciprocal: Operation(_inverse),
    basic.Sqr: Operation(lambda a: (0.0, _abs(a)[1] * _abs(a)[1])),
    basic.Sqrt: Operation(
        lambda a: (float(np.sqrt(max(a[0], 0.0))), float(np.sqrt(max(a[1], 0.0))))
    ),
    basic.Pow: Operation(lambda a, b: _POSITIVE if a[0] >= 0 or b == (2.0, 2.0) else EVERYTHING),
    basic.Log: Operation(_log),
    basic.Log1p: Operation(_log1p),
}
