r"""The density of variables that are functions of others, with its Jacobian.

Where :math:`\theta = f(z)` one to one, the density of z that a density of theta means is

.. math:: \ln p_z(z) = \ln p_\theta(f(z)) + \ln \left| \det \frac{\partial f}{\partial z} \right|.

PyTensor works out the derivatives. Of a simplex, whose elements add up to one, the last element of
each row is left out, as in the densities of PyMC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import grad, jacobian
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import specify_shape

from bayesmodels.errors import DataError
from bayesmodels.posteriors.operations import is_float
from bayesmodels.posteriors.rounding import NO_GRADIENT


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable: its expression, its shape, and whether its last axis adds up to one."""

    expression: Any
    shape: tuple[int, ...]
    simplex: bool = False

    @property
    def size(self) -> int:
        """Number of coordinates."""
        rows = int(np.prod(self.shape, dtype=int))
        return rows - rows // self.shape[-1] if self.simplex else rows

    @property
    def coordinates(self) -> Any:
        """The elements that the others follow from."""
        return self.expression[..., :-1] if self.simplex else self.expression


def substituted(terms: Mapping[str, Any], values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return log terms with expressions in the place of their inputs, checked for their shapes."""
    replacements = {}
    for old, new in values.items():
        try:
            replacements[old] = old.type.filter_variable(pt.cast(pt.as_tensor(new), old.dtype))
        except TypeError as error:
            raise DataError(
                f"transform: {old.name} must have {old.type.ndim} axes of shape {old.type.shape}; "
                f"got shape {pt.as_tensor(new).type.shape}."
            ) from error
    return dict(zip(terms, clone_replace(list(terms.values()), replacements), strict=True))


def log_jacobians(
    mapped: Mapping[str, Variable], of: Mapping[str, Variable]
) -> dict[str, tuple[Any, Any]]:
    """Return log Jacobian determinants of variables as functions of others, and signs, in blocks.

    A variable that depends on one other, and on those that are settled, is a block of its own: the
    derivatives are triangular, so that their determinants multiply.
    """
    left, todo, result = dict(of), dict(mapped), {}
    needs = {name: {*ancestors([v.expression])} for name, v in mapped.items()}
    while todo:
        for name, variable in todo.items():
            unknown = [other for other, v in left.items() if v.expression in needs[name]]
            if len(unknown) == 1 and left[unknown[0]].size == variable.size:
                result[name] = _log_determinant([variable], [left.pop(unknown[0])])
                del todo[name]
                break
        else:
            result[" and ".join(todo)] = _log_determinant([*todo.values()], [*left.values()])
            break
    return result


def _log_determinant(mapped: list[Variable], of: list[Variable]) -> tuple[Any, Any]:
    """Return log |det d mapped / d of|, whose sizes are equal, and its sign or those of slopes."""
    if len(mapped) == len(of) == 1 and _elementwise(mapped[0].expression, of[0].expression):
        slope = _derivative(grad, mapped[0].expression.sum(), [of[0].expression])[0]
        return pt.log(pt.abs(slope)).sum(), pt.sign(slope)
    # The last element of a simplex moves with the others.
    inner, outer = {}, {}
    for variable in of:
        x = variable.coordinates.type()
        last = [1 - x.sum(-1, keepdims=True)] if variable.simplex else []
        inner[variable.expression] = x
        outer[variable.expression] = _joined([x, *last], -1)
    moved: list[Any] = clone_replace([v.coordinates for v in mapped], outer, rebuild_strict=False)
    size = sum(v.size for v in mapped)
    flat = specify_shape(_joined([v.reshape((-1,)) for v in moved], 0), size)
    parts = _derivative(
        jacobian, flat, list(inner.values()), vectorize=True, disconnected_inputs="ignore"
    )
    columns = [part.reshape((size, v.size)) for part, v in zip(parts, of, strict=True)]
    sign, value = pt.linalg.slogdet(_joined(columns, 1))
    back = {x: v.coordinates for v, x in zip(of, inner.values(), strict=True)}
    value, sign = clone_replace([value, sign], back, rebuild_strict=False)
    return value, sign


def _joined(parts: list[Any], axis: int) -> Any:
    return pt.concatenate(parts, axis)  # type: ignore[no-untyped-call]


def _derivative(verb: Any, result: Any, by: list[Any], **settings: Any) -> list[Any]:
    try:
        return list(verb(result, by, **settings))
    except NO_GRADIENT as error:
        raise DataError(
            "transform: PyTensor has no derivative of it; write it in operations that have one."
        ) from error


def _elementwise(result: Any, by: Any) -> bool:
    """Whether each element of the result depends on the one of `by` at its place, and no other."""
    moving = {by}
    for node in io_toposort([by], [result]):
        inputs = [v for v in node.inputs if v in moving]
        if inputs:
            same = all(
                v.type.broadcastable == by.type.broadcastable for v in [*inputs, *node.outputs]
            )
            if not isinstance(node.op, Elemwise) or not same or not is_float(node.outputs[0]):
                return False
            moving.update(node.outputs)
    return result in moving
