"""The joint log density of a PyMC model in natural space, with a bound on its own rounding error.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.transforms import SimplexTransform
from pymc.model.fgraph import fgraph_from_model, model_from_fgraph
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.configdefaults import config
from pytensor.gradient import grad
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import Subtensor

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
# A special function of SciPy may be off by a few units in the last place.
_UNITS = 8
_STRANDS = 32  # more than 128 / 8 + 3, and room for the recursion's last steps
_SINGLE = ("float16", "float32")
_NARROW = (*_SINGLE, "int8", "int16", "uint8", "uint16")
_EXACT = (DimShuffle, Reshape, Subtensor)


class _Filled(Op):
    """Spread the second input to the shape of both, as PyTensor's fill does number by number."""

    __props__ = ()
    view_map = {0: [1]}  # noqa: RUF012 - PyTensor's signature

    def make_node(self, *inputs: Any) -> Any:
        """Return the node; called by PyTensor."""
        return Apply(self, list(inputs), [pt.second(*inputs).type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """Evaluate in Python."""
        like, value = inputs
        spread = np.broadcast_to(value, np.broadcast_shapes(like.shape, value.shape))
        outputs[0][0] = spread.astype(node.outputs[0].type.dtype, copy=False)


def _spread(_: Any, node: Any) -> Any:
    return [_Filled()(*node.inputs)] if isinstance(node.op.scalar_op, Second) else None


_rewriter: Any = node_rewriter([Elemwise])  # without types


# The graph runs as written, in Python: compiled in milliseconds, and what is bounded is what runs.
PYTHON_MODE = Mode(linker="py", optimizer=dfs_rewriter(_rewriter(_spread)))


@dataclass(frozen=True)
class Evaluation:
    """The joint log density at one point.

    Attributes
    ----------
    value : float
        Sum of all log terms, correctly rounded.
    rounding : float
        Bound on the error of `value`.
    slope : float
        Derivative of the value along the given direction.
    slope_rounding : float
        Bound on the error of `slope`.
    """

    value: float
    rounding: float
    slope: float
    slope_rounding: float


class JointDensity:
    """The joint log density of a PyMC model over its free variables, untransformed.

    Parameters
    ----------
    model : pymc.Model
        Any model. Its slope is the one along its continuous variables.
    natural : pair of list, optional
        What `natural_terms` gives for the model, if it is at hand.

    Attributes
    ----------
    simplex : frozenset of str
        Variables whose last axis adds up to one, so that only some directions are possible.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    >>> round(JointDensity(model)({"x": 0.0}, {"x": 1.0}).value, 6)
    -0.918939
    """

    def __init__(self, model: pm.Model, natural: tuple[list[Any], list[Any]] | None = None) -> None:
        self.simplex = frozenset(
            rv.name
            for rv, transform in model.rvs_to_transforms.items()
            if isinstance(transform, SimplexTransform)
        )
        with config.change_flags(floatX="float64", traceback__limit=0):
            points, terms = natural_terms(model) if natural is None else natural
            self._points = [(point.name, point.dtype) for point in points]
            self._inputs, self._terms = points, terms
            self._total = add([_whole_sum(term) for term in terms])
            in_total = _error_terms(self._total)
            self._size = len(in_total)
            self._value = function(
                points, [*in_total, *terms], mode=PYTHON_MODE, on_unused_input="ignore"
            )

    @cached_property
    def _slope(self) -> tuple[list[str], Any]:
        """The names of the continuous variables, and slope and its error terms."""
        smooth = [point for point in self._inputs if _dtype(point).startswith("float")]
        with config.change_flags(floatX="float64", traceback__limit=0):
            along = [point.type(f"along_{point.name}") for point in smooth]
            gradients: Any = (
                grad(self._total, smooth, disconnected_inputs="ignore") if smooth else []
            )
            parts = [(g * a).sum() for g, a in zip(gradients, along, strict=True)]
            slope = add(parts or [pt.constant(0.0)])
            run = function(
                [*self._inputs, *along],
                [slope, *_error_terms(slope)],
                mode=PYTHON_MODE,
                on_unused_input="ignore",
            )
        return [point.name for point in smooth], run

    def value(self, point: Mapping[str, Any]) -> tuple[float, float]:
        """Return the joint log density at `point` and a bound on its error."""
        inputs = [np.asarray(point[name], dtype=kind) for name, kind in self._points]
        with np.errstate(all="ignore"):  # an infinite term is an answer: the caller looks at it
            found = self._value(*inputs)
        terms = [t for part in found[self._size :] for t in np.ravel(part).tolist()]
        finite = all(map(math.isfinite, terms))
        rounding = 2 * EPS * float(sum(found[: self._size]))
        return (math.fsum(terms) if finite else -math.inf), rounding

    def __call__(self, point: Mapping[str, Any], along: Mapping[str, Any]) -> Evaluation:
        """Evaluate at `point`, with the derivative along the direction `along`."""
        value, rounding = self.value(point)
        smooth, run = self._slope
        inputs = [np.asarray(point[name], dtype=kind) for name, kind in self._points]
        inputs += [np.asarray(along[name], dtype=float) for name in smooth]
        with np.errstate(all="ignore"):  # as above
            slope, *in_slope = run(*inputs)
        return Evaluation(value, rounding, float(slope), 2 * EPS * float(sum(in_slope)))


def natural_terms(model: pm.Model) -> tuple[list[Any], list[Any]]:
    """Return inputs and log terms of a model's joint density, untransformed and in double."""
    with without_initial_values(model), warnings.catch_warnings():
        # It warns of old objects of Gaussian processes; nothing of them is used again.
        warnings.simplefilter("ignore", UserWarning)
        natural = freeze_dims_and_data(remove_value_transforms(_written_in_double(model)))
    terms = natural.logp(jacobian=False, sum=False)
    points = [_double(point) for point in natural.value_vars]
    inputs = {old: new for old, new in zip(natural.value_vars, points, strict=True) if old != new}
    return points, _in_double(terms, inputs)


@contextmanager
def without_initial_values(model: pm.Model) -> Iterator[None]:
    """Let a model forget for a moment where its user wants the sampler to start.

    PyMC does not copy models that know it.
    """
    known = dict(model.rvs_to_initial_values)
    for rv in known:
        model.rvs_to_initial_values[rv] = None
    try:
        yield
    finally:
        model.rvs_to_initial_values.update(known)


def _written_in_double(model: pm.Model) -> pm.Model:
    """Return a model whose constants are double before PyMC works anything out of them."""
    graph, _ = fgraph_from_model(model)
    wide = _wide(graph.outputs)
    if not wide:
        return model
    outputs = clone_replace(graph.outputs, wide, rebuild_strict=False)
    made: Any = FunctionGraph(outputs=list(outputs), clone=False)
    made._coords, made._dim_lengths = graph._coords, graph._dim_lengths  # noqa: SLF001 - PyMC's own
    return model_from_fgraph(made, mutate_fgraph=True)


def _double(point: Any) -> Any:
    """Return an input of double precision in place of one of single precision."""
    if _dtype(point) not in _SINGLE:
        return point
    return pt.tensor(point.name, dtype="float64", shape=point.type.shape)


def _in_double(terms: list[Any], inputs: dict[Any, Any]) -> list[Any]:
    """Let constants be double: PyTensor keeps 1e6 in single and 3 in 8 bits, and their logs too."""
    return list(clone_replace(terms, inputs | _wide(terms), rebuild_strict=False))


def _wide(outputs: list[Any]) -> dict[Any, Any]:
    """Return wide constants for the narrow ones that a result in single precision comes from."""
    single = [v for v in ancestors(outputs) if v.owner is not None and _dtype(v) in _SINGLE]
    above = set(ancestors(single))
    # Only where they are numbers: a shape or an index must stay a whole number.
    numbers = {
        part
        for v in above
        if v.owner is not None
        for part in (v.owner.inputs if isinstance(v.owner.op, Elemwise) else v.owner.inputs[:1])
        if isinstance(v.owner.op, (Elemwise, DimShuffle, Alloc))
    }
    return {
        v: pt.constant(np.asarray(v.data, dtype=np.float64), name=v.name)
        for v in numbers
        if isinstance(v, Constant) and _dtype(v) in _NARROW
    }


def _dtype(v: Any) -> str:
    return str(getattr(v, "dtype", ""))


def _error_terms(result: Any) -> list[Any]:
    """Return, for every float in the graph, how many units it may be off times its influence."""
    variables = [
        v
        for v in ancestors([result])
        if _dtype(v).startswith("float")
        and (v.owner is not None or isinstance(v, Constant))
        and not _single(v)
    ]
    units = _units(variables)
    influence: Any = grad(
        result, variables, disconnected_inputs="ignore", return_disconnected="zero"
    )
    sizes = [(units[v] * pt.abs(v), g) for v, g in zip(variables, influence, strict=True)]
    return [
        pt.switch(pt.eq(g, 0), 0.0, size * pt.abs(g)).sum() for size, g in sizes + _backward(result)
    ]


def _backward(result: Any) -> list[tuple[Any, Any]]:
    """Return the error that whole matrices make, as error of what goes in, and its influence.

    A factor of an ill-conditioned matrix is far off in its elements, and yet the exact factor of a
    nearby matrix: an operation with a method ``backward_error`` says how near.
    """
    nodes = {v.owner for v in ancestors([result]) if v.owner is not None}
    found = []
    for node in nodes:
        if hasattr(node.op, "backward_error"):
            (given,) = node.inputs
            influence: Any = grad(
                result, given, disconnected_inputs="ignore", return_disconnected="zero"
            )
            found.append((node.op.backward_error(given), influence))
    return found


def _single(v: Any) -> bool:
    """Whether a variable is one constant number, which nothing rounds.

    (It may be an exponent, with respect to which the derivative at a negative base is not finite.)
    """
    if isinstance(v, Constant):
        return bool(v.type.ndim == 0)
    if v.owner is None or not isinstance(v.owner.op, DimShuffle):
        return False
    return _single(v.owner.inputs[0])


def _units(variables: list[Any]) -> dict[Any, Any]:
    """Count roundings: of a value as it is made, and of the sums that it goes into."""
    units: dict[Any, Any] = {}
    for v in variables:
        if isinstance(v, Constant):
            units[v] = 1  # as a prior's location, which the belief works out from its factor
        else:
            units[v] = 0 if isinstance(v.owner.op, _EXACT) else _UNITS
            if _dtype(v) in _SINGLE:
                units[v] = units[v] * 2.0**29  # single precision has 29 bits less
    for node in {v.owner for v in variables if v.owner is not None}:
        if isinstance(node.op, (Elemwise, *_EXACT)):
            continue
        for part in node.inputs:
            if part not in units or part.type.ndim == 0:
                continue
            units[part] = units[part] + _chances(node, part)
    return units


def folded(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """Work out once whatever does not depend on the inputs."""
    moving = set(inputs)
    fixed = []
    for node in io_toposort(inputs, outputs):
        if any(v in moving for v in node.inputs):
            moving.update(node.outputs)
            fixed += [v for v in node.inputs if v.owner is not None and v not in moving]
    fixed = list(dict.fromkeys(fixed))
    values: Any = function([], fixed, mode=PYTHON_MODE) if fixed else list
    known: dict[Any, Any] = {
        v: pt.constant(x, dtype=_dtype(v)) for v, x in zip(fixed, values(), strict=True)
    }
    return list(clone_replace(outputs, known, rebuild_strict=False))


def _whole_sum(term: Any) -> Any:
    """Return the sum of a term, marked as one that is worked out without rounding."""
    total = term.sum()
    total.tag.correctly_rounded = True
    return total


def _chances(node: Any, part: Any) -> Any:
    """Return how often a summand may be rounded on its way into a sum, product or solve."""
    if getattr(node.outputs[0].tag, "correctly_rounded", False):
        return 1
    if not isinstance(node.op, CAReduce):
        return part.shape[-1]
    everything = node.outputs[0].type.ndim == 0
    if everything and part.owner is not None and isinstance(part.owner.op, Elemwise):
        # NumPy adds up a fresh array in pairs of blocks of 128 numbers, each in eight strands.
        return pt.minimum(part.size, _STRANDS + pt.log2(pt.maximum(part.size, 1)))
    return part.size


def add(parts: list[Any]) -> Any:
    """Add up a few expressions, two at a time: Python's elementwise add takes 32 at most."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
