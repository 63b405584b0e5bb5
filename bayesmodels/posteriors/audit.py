"""Is a joint density analytic? Then an identity at points in general position holds everywhere.

Sums, products, exponentials, matrix factors and the like are analytic where they are defined.
Comparisons, rounding, absolute values and clips are not, unless bounds on their arguments say that
they always fall out the same way: the square root of a positive variable is never below zero. What
remains is asked at many points, and those where it falls out differently are compared as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.compile.maker import function
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from bayesmodels.posteriors.density import PYTHON_MODE
from bayesmodels.posteriors.gradient import Field

Bounds = tuple[float, float]

_EVERYTHING = (-np.inf, np.inf)
_STARTS: dict[str, Bounds] = {
    "unit": (0.0, 1.0),
    "simplex": (0.0, 1.0),
    "positive": (0.0, np.inf),
}
_STEPS = {
    "lt", "le", "gt", "ge", "eq", "neq", "isnan", "isinf", "floor", "ceil", "trunc", "sign",
    "sgn", "round_half_to_even", "round_half_away_from_zero", "int_div", "int_floor_div", "mod",
}  # fmt: skip
_KINKS = {"abs", "maximum", "minimum", "scalar_maximum", "scalar_minimum", "clip"}
_ANALYTIC = {
    "add", "mul", "sub", "true_div", "neg", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10",
    "sqrt", "sqr", "pow", "reciprocal", "sigmoid", "softplus", "log1mexp", "gammaln", "psi",
    "tri_gamma", "polygamma", "gamma", "erf", "erfc", "erfcx", "erfinv", "erfcinv", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh",
    "arctanh", "and", "or", "and_", "or_", "invert", "xor", "switch", "identity", "second",
    "betainc", "gammainc", "gammaincc", "iv", "ive", "kv", "kve", "j0", "j1", "i0", "i1",
    "logaddexp", "owens_t", "betaln", "log_ndtr", "convert_to_float64", "convert_to_float32",
}  # fmt: skip
_WHOLE = (
    "Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1", "IncSubtensor", "AdvancedIncSubtensor",
    "AdvancedIncSubtensor1", "Reshape", "Join", "Split", "MakeVector", "Alloc", "AllocEmpty",
    "Dot", "Dot22", "Gemv", "BatchedDot", "Cholesky", "SolveTriangular", "Solve",
    "CholeskySolve", "MatrixInverse", "Det", "SLogDet", "ExtractDiag", "AllocDiag", "Softmax",
    "LogSoftmax", "Eye", "CumOp", "Shape", "Shape_i", "ScalarFromTensor",
    "TensorFromScalar", "SpecifyShape", "CheckParameterValue", "KroneckerProduct", "Tri",
    "RootOfCovariance", "CovarianceOfRoot", "Located", "Repeat", "Expm", "BlockDiagonal", "Matmul",
    "Einsum", "Assert", "Unbroadcast", "PermuteRowElements", "Convolve1d",
)  # fmt: skip
_SHAPES = ("Shape", "Shape_i")
_CHOICES = {"Max", "Min", "max_and_argmax", "argmax", "Sort"}
_SAME_BOUNDS = (
    "Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1", "Reshape", "Alloc", "SpecifyShape",
    "CheckParameterValue", "ScalarFromTensor", "TensorFromScalar", "ExtractDiag", "Assert",
    "Unbroadcast", "Repeat",
)  # fmt: skip


@dataclass(frozen=True)
class Audit:
    """What was found in the graph.

    Attributes
    ----------
    opaque : tuple of str
        Operations that are not known to be analytic.
    questions : int
        Comparisons and the like that bounds do not answer.
    ask : callable
        From a point's inputs to the answers, one array a question.
    margins : callable
        From a point's inputs to how near each comparison is to falling out differently.
    """

    opaque: tuple[str, ...]
    questions: int
    ask: Callable[..., list[NDArray[Any]]]
    margins: Callable[..., list[NDArray[Any]]]

    @property
    def analytic(self) -> bool:
        """Whether the density is known to be analytic on its whole support."""
        return not self.opaque and not self.questions


def audit(field: Field, rest: Mapping[str, str] | None = None) -> Audit:
    """Look through the graph of a joint density, from its continuous variables downwards.

    Parameters
    ----------
    field : Field
        The model.
    rest : mapping, optional
        Names of other variables whose values must not change what the density is in those of the
        field, and their kinds of support. Only terms that have variables of the field count then,
        and not what PyMC checks of its parameters.
    """
    by_name = {point.name: point for point in field.points}
    smooth = [by_name[s.name] for s in field.continuous]
    others = {by_name[name]: kind for name, kind in (rest or {}).items()}
    bounds: dict[Any, Bounds] = {
        by_name[s.name]: _STARTS.get(s.kind, _EVERYTHING) for s in field.continuous
    } | {v: _STARTS.get(kind, _EVERYTHING) for v, kind in others.items()}
    known = _Known(
        {by_name[s.name] for s in field.continuous if s.kind == "simplex"},
        {by_name[s.name] for s in field.continuous if s.kind == "matrix"},
    )
    reached = set(smooth)
    moved = _not_checked(field.terms, reached) if rest else set()
    also = set(others)
    opaque: set[str] = set()
    questions: list[Any] = []
    with np.errstate(all="ignore"):
        for node in io_toposort(field.points, field.terms):
            inputs = [_bounds(v, bounds) for v in node.inputs]
            kind = _kind(node.op)
            for out in node.outputs:
                bounds[out] = known.bounds(node, kind) or _after(kind, inputs)
            if kind in _SHAPES or not any(v in reached or v in also for v in node.inputs):
                continue
            if any(v in reached for v in node.inputs):
                reached.update(node.outputs)
            else:
                also.update(node.outputs)
                if not any(v in moved for v in node.outputs):
                    continue
            cut = kind == "cast" and not _is_float(node.outputs[0])
            if kind in _STEPS | _KINKS | _CHOICES or (cut and _is_float(node.inputs[0])):
                questions += _questions(node, kind, inputs)
            elif (
                kind not in _ANALYTIC
                and kind not in _WHOLE
                and kind not in ("sum", "prod", "all", "cast")
            ):
                opaque.add(kind)
    with config.change_flags(floatX="float64", traceback__limit=0):
        ask = function(field.points, questions, mode=PYTHON_MODE, on_unused_input="ignore")
        compared = [q.owner.inputs for q in questions if _compares(q)]
        near = [pt.abs(one - other).min() for one, other in compared]
        margins = function(field.points, near, mode=PYTHON_MODE, on_unused_input="ignore")
    return Audit(tuple(sorted(opaque)), len(questions), ask, margins)


def _not_checked(terms: Sequence[Any], smooth: set[Any]) -> set[Any]:
    """Return what terms that have some variables are made of, but for checks of parameters."""
    left = [term for term in terms if smooth & set(ancestors([term]))]
    found: set[Any] = set()
    while left:
        v = left.pop()
        if v not in found:
            found.add(v)
            inputs = v.owner.inputs if v.owner is not None else []
            checks = v.owner is not None and isinstance(v.owner.op, CheckAndRaise)
            left += inputs[:1] if checks else inputs
    return found


def _compares(question: Any) -> bool:
    """Whether a question compares two numbers."""
    return question.owner is not None and _kind(question.owner.op) in ("lt", "le", "gt", "ge")


class _Known:
    """What is known of whole rows and matrices: that they add up to one, that diagonals are > 0."""

    def __init__(self, simplexes: set[Any], definite: set[Any]) -> None:
        self.simplexes, self.definite = simplexes, definite

    def bounds(self, node: Any, kind: str) -> Bounds | None:  # noqa: C901 - a table
        """Follow a node; return bounds on what it gives, if these properties say more."""
        if not node.inputs:
            return None
        given, out = node.inputs[0], node.outputs[0]
        if given in self.simplexes:
            whole = given.type.ndim - 1
            if kind == "sum" and node.op.axis in ((whole,), whole):
                return 1.0, 1.0
            if kind == "sum" and whole == 0 and node.op.axis is None:
                return 1.0, 1.0
            if _keeps_last_axis(node, kind):
                self.simplexes.add(out)
        if kind == "Softmax" and node.op.axis in (-1, out.type.ndim - 1):
            self.simplexes.add(out)
        if "Cholesky" in str(node.op) and "Solve" not in str(node.op):
            self.definite.add(out)
        if given in self.definite:
            if kind == "ExtractDiag":
                return 0.0, np.inf
            if _keeps_last_axis(node, kind):
                self.definite.add(out)
        return None


def _keeps_last_axis(node: Any, kind: str) -> bool:
    """Whether a node only takes, repeats or adds axes before the last one."""
    given, out = node.inputs[0], node.outputs[0]
    if isinstance(node.op, DimShuffle):
        order = node.op.new_order
        return bool(order) and order[-1] == given.type.ndim - 1
    if kind == "Subtensor":
        return len(node.op.idx_list) < given.type.ndim
    if kind == "AdvancedSubtensor1":
        return bool(given.type.ndim > 1)
    if kind == "AdvancedSubtensor":
        taken = sum(v.type.ndim > 0 or str(v.dtype).startswith("int") for v in node.inputs[1:])
        return bool(taken < given.type.ndim and out.type.shape[-1:] == given.type.shape[-1:])
    return kind in ("SpecifyShape", "CheckParameterValue", "identity")


def _kind(op: Any) -> str:  # noqa: PLR0911 - a table
    if isinstance(op, CAReduce):
        name = str(getattr(op.scalar_op, "name", "") or type(op.scalar_op).__name__).lower()
        if name in ("maximum", "scalar_maximum", "scalarmaximum"):
            return "Max"
        if "minimum" in name:
            return "Min"
        return {"add": "sum", "mul": "prod"}.get(name, "all" if name in ("and", "or") else name)
    if isinstance(op, Blockwise):
        return _kind(op.core_op)
    if isinstance(op, DimShuffle):
        return "Reshape"
    if isinstance(op, Elemwise):
        scalar = op.scalar_op
        name = str(getattr(scalar, "name", None) or type(scalar).__name__).lower()
        if type(scalar).__name__ == "Cast":
            return "cast"
        return name
    return type(op).__name__


def _is_float(v: Any) -> bool:
    return str(getattr(v, "dtype", "")).startswith("float")


def _bounds(v: Any, known: dict[Any, Bounds]) -> Bounds:
    if v in known:
        return known[v]
    if isinstance(v, Constant) and getattr(v.type, "dtype", "")[:3] in ("flo", "int", "uin", "boo"):
        data = np.asarray(v.data, dtype=float)
        if data.size and np.isfinite(data).all():
            return float(data.min()), float(data.max())
        if data.size and not np.isnan(data).any():
            return float(data.min()), float(data.max())
    return _EVERYTHING


def _after(kind: str, inputs: Sequence[Bounds]) -> Bounds:  # noqa: C901, PLR0911, PLR0912 - a table
    """Return bounds on what a node gives."""
    if kind in _SAME_BOUNDS or kind in ("cast", "identity", "sort", "Max", "Min"):
        return inputs[0]
    if kind in ("Join", "MakeVector"):
        return min(low for low, _ in inputs), max(high for _, high in inputs)
    if kind in ("Softmax", "sigmoid", "lt", "le", "gt", "ge", "eq", "neq"):
        return 0.0, 1.0
    low, high = inputs[0] if inputs else _EVERYTHING
    if kind in ("sign", "sgn"):
        return (1.0 if low >= 0 else -1.0), (-1.0 if high <= 0 else 1.0)
    if kind == "switch":
        return min(inputs[1][0], inputs[2][0]), max(inputs[1][1], inputs[2][1])
    if kind == "second":
        return inputs[1]
    if kind == "add":
        return sum(b[0] for b in inputs), sum(b[1] for b in inputs)
    if kind == "sub":
        return low - inputs[1][1], high - inputs[1][0]
    if kind == "neg":
        return -high, -low
    if kind in ("mul", "true_div"):
        result = inputs[0]
        for other in inputs[1:]:
            result = _times(result, _inverse(other) if kind == "true_div" else other)
        return result
    if kind == "reciprocal":
        return _inverse(inputs[0])
    if kind in ("exp", "exp2", "softplus"):
        return 0.0, np.inf
    if kind in ("sqr", "abs"):
        largest = max(-low, high)
        return 0.0, largest * largest if kind == "sqr" else largest
    if kind == "sqrt":
        return float(np.sqrt(max(low, 0.0))), float(np.sqrt(max(high, 0.0)))
    if kind == "pow":
        return (0.0, np.inf) if low >= 0 or inputs[1] == (2.0, 2.0) else _EVERYTHING
    if kind == "log":
        return (float(np.log(low)) if low > 0 else -np.inf), float(np.log(max(high, 0.0)))
    if kind == "log1p":
        return (float(np.log1p(low)) if low > -1 else -np.inf), float(np.log1p(max(high, -1.0)))
    if kind == "sum":
        return (0.0, np.inf) if low >= 0 else ((-np.inf, 0.0) if high <= 0 else _EVERYTHING)
    if kind in ("prod", "Dot", "Matmul", "BatchedDot") and all(bound[0] >= 0 for bound in inputs):
        return 0.0, np.inf
    return _EVERYTHING


def _times(a: Bounds, b: Bounds) -> Bounds:
    ends = [0.0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return min(ends), max(ends)


def _inverse(a: Bounds) -> Bounds:
    low, high = a
    if low >= 0:
        return (1 / high if high else np.inf), (1 / low if low else np.inf)
    if high <= 0:
        return (1 / high if high else -np.inf), (1 / low if low else -np.inf)
    return _EVERYTHING


def _questions(node: Any, kind: str, inputs: Sequence[Bounds]) -> list[Any]:  # noqa: PLR0911 - a table
    """Return expressions that must be the same everywhere, unless bounds show that they are.

    A border counts as outside: supports are open, so that it is never met.
    """
    (low, high), other = inputs[0], inputs[1] if len(inputs) > 1 else _EVERYTHING
    out = node.outputs[0]
    if kind in ("lt", "le", "gt", "ge"):
        settled = high <= other[0] or low >= other[1]
        return [] if settled else [out]
    if kind in ("eq", "neq"):
        # A number that varies smoothly equals another one almost nowhere.
        return [] if any(str(v.dtype).startswith("float") for v in node.inputs) else [out]
    if kind in ("isnan", "isinf"):
        return []
    if kind == "abs":
        return [] if low >= 0 or high <= 0 else [node.inputs[0] > 0]
    if kind in ("maximum", "minimum", "scalar_maximum", "scalar_minimum"):
        settled = high <= other[0] or low >= other[1]
        return [] if settled else [node.inputs[0] > node.inputs[1]]
    if kind == "clip":
        inside = low >= other[1] and high <= inputs[2][0]
        x, floor, top = node.inputs
        return [] if inside else [x > floor, x < top]
    if kind in ("sign", "sgn"):
        return [] if low >= 0 or high <= 0 else [out]
    if kind in ("Max", "Min"):
        x = node.inputs[0]
        return [x.argmax(axis=node.op.axis) if kind == "Max" else x.argmin(axis=node.op.axis)]
    return [out]
