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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.transforms import SimplexTransform
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.model.transform.optimization import freeze_dims_and_data
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.configdefaults import config
from pytensor.gradient import grad
from pytensor.graph.basic import Constant
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import Subtensor

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
# A special function of SciPy may be off by a few units in the last place.
_UNITS = 8
_SINGLE = ("float16", "float32")
_NARROW = (*_SINGLE, "int8", "int16", "uint8", "uint16")
_EXACT = (DimShuffle, Reshape, Subtensor)
# The graph runs as written, in Python: compiled in milliseconds, and what is bounded is what runs.
_MODE = Mode(linker="py", optimizer=None)  # type: ignore[arg-type] # its stub forgets None


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

    def __init__(self, model: pm.Model) -> None:
        self.simplex = frozenset(
            rv.name
            for rv, transform in model.rvs_to_transforms.items()
            if isinstance(transform, SimplexTransform)
        )
        with config.change_flags(floatX="float64", traceback__limit=0):
            natural = freeze_dims_and_data(remove_value_transforms(model))
            terms = _in_double(natural.logp(jacobian=False, sum=False))
            points = natural.value_vars
            smooth = [point for point in points if _dtype(point).startswith("float")]
            self._points = [(point.name, point.dtype) for point in points]
            self._smooth = [point.name for point in smooth]
            along = [point.type(f"along_{point.name}") for point in smooth]
            total = _add([term.sum() for term in terms])
            gradients: Any = grad(total, smooth, disconnected_inputs="ignore") if smooth else []
            parts = [(g * a).sum() for g, a in zip(gradients, along, strict=True)]
            slope = _add(parts or [pt.constant(0.0)])
            in_slope, in_total = _error_terms(slope), _error_terms(total)
            self._sizes = len(in_slope), len(in_total)
            self._function = function(
                [*points, *along],
                [slope, *in_slope, *in_total, *terms],
                mode=_MODE,
                on_unused_input="ignore",
            )

    def __call__(self, point: Mapping[str, Any], along: Mapping[str, Any]) -> Evaluation:
        """Evaluate at `point`, with the derivative along the direction `along`."""
        inputs = [np.asarray(point[name], dtype=kind) for name, kind in self._points]
        inputs += [np.asarray(along[name], dtype=float) for name in self._smooth]
        with np.errstate(all="ignore"):  # an infinite term is an answer: the caller looks at it
            slope, *rest = self._function(*inputs)
        in_slope, in_total = self._sizes
        terms = [float(t) for part in rest[in_slope + in_total :] for t in np.ravel(part)]
        finite = all(map(math.isfinite, terms))
        return Evaluation(
            value=math.fsum(terms) if finite else -math.inf,
            rounding=2 * EPS * float(sum(rest[in_slope : in_slope + in_total])),
            slope=float(slope),
            slope_rounding=2 * EPS * float(sum(rest[:in_slope])),
        )


def _in_double(terms: list[Any]) -> list[Any]:
    """Let constants be double: PyTensor keeps 1e6 in single and 3 in 8 bits, and their logs too."""
    single = [v for v in ancestors(terms) if v.owner is not None and _dtype(v) in _SINGLE]
    wide: dict[Any, Any] = {
        v: pt.constant(np.asarray(v.data, dtype=np.float64))
        for v in ancestors(single)
        if isinstance(v, Constant) and _dtype(v) in _NARROW
    }
    return list(clone_replace(terms, wide, rebuild_strict=False))


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
            whole_sum = isinstance(node.op, CAReduce)
            units[part] = units[part] + (part.size if whole_sum else part.shape[-1])
    return units


def _add(parts: list[Any]) -> Any:
    """Add up a few expressions, two at a time: Python's elementwise add takes 32 at most."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
