r"""Sums of numbers that vary times arrays that do not: what is the same for all numbers is one sum.

Where of normal rows only scales vary, so are the slopes of their density, and the density itself:

.. math:: \sum_i x_i \frac{y_i - m_i}{\sigma^2} = \sigma^{-2} \sum_i x_i (y_i - m_i).

The sum over rows on the right is worked out once, and no derivative goes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from pymc.logprob.utils import CheckParameterValue
from pytensor import tensor
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import io_toposort
from pytensor.scalar import basic
from pytensor.tensor.basic import Alloc, Join
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Sum
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor, Subtensor

from bayesmodels.posteriors.operations import TAKES, core, is_float

pt: Any = tensor  # its functions have no types

_MOST = 100  # parts of an expression
_ZERO, _ONE = (pt.constant(x, dtype="float64") for x in (0.0, 1.0))
_Parts = dict[Any, Any]
"""What each number is multiplied by; it is one of what does not vary."""


def separated(result: Any, inputs: Sequence[Any]) -> Any:
    """Return an expression as a sum of numbers that vary with inputs times arrays that do not.

    If it is not one, or does not vary, there is None.
    """
    separation = _Separation(inputs)
    for node in io_toposort(list(inputs), [result]):
        if any(v in separation.moving for v in node.inputs):
            separation.add(node)
    parts = separation(result)
    if parts is None or result not in separation.moving:
        return None
    each = [array if factor is _ONE else factor * array for factor, array in parts.items()]
    return sum(each[1:], each[0])


class _Separation:
    """What is known of a graph's variables, of which `moving` depend on its inputs."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.moving = set(inputs)
        self._plain = {v for v in inputs if _is_number(v)}
        self._known: dict[Any, _Parts] = {v: _number(v) for v in self._plain}
        self._products: dict[Any, Any] = {}

    def __call__(self, v: Any) -> _Parts | None:
        """Return a variable's parts."""
        return self._known.get(v) if v in self.moving else {_ONE: v}

    def add(self, node: Any) -> None:
        """Look at what is made of something that moves."""
        self.moving.update(node.outputs)
        v = node.outputs[0]
        if len(node.outputs) > 1 or not is_float(v):
            return
        moving = self.moving.intersection(node.inputs)
        parts = None if _is_number(v) and moving <= self._plain else self._parts(node)
        if parts is not None and len(parts) <= _MOST:
            self._known[v] = parts
        elif _is_number(v):
            self._plain.add(v)
            self._known[v] = _number(v)

    def _parts(self, node: Any) -> _Parts | None:
        """Return the parts of a result, if they follow from those of what it is made of."""
        op = core(node.op)
        rule = _RULES.get(type(op.scalar_op) if isinstance(op, Elemwise) else type(op))
        return rule(self, node) if rule else None

    def linear(self, node: Any, places: Sequence[int]) -> _Parts | None:
        """Return the parts of what is linear in some inputs jointly."""
        (result,), operands = node.outputs, node.inputs
        if None in result.type.shape or any(
            v in self.moving for i, v in enumerate(operands) if i not in places
        ):
            return None
        by_place = {i: self(operands[i]) for i in places}
        if any(parts is None for parts in by_place.values()):
            return None
        products = {}
        for factor in dict.fromkeys(f for parts in by_place.values() for f in parts or ()):
            inputs = list(operands)
            for i, parts in by_place.items():
                inputs[i] = (parts or {}).get(factor)
                if inputs[i] is None:
                    one = isinstance(node.op, Elemwise)
                    shape = (1,) * operands[i].type.ndim if one else operands[i].type.shape
                    if None in shape:
                        return None
                    inputs[i] = pt.zeros(shape, operands[i].type.dtype)
            products[factor] = _along(node.op(*inputs), result.type.shape)
        return products

    def filled(self, node: Any) -> _Parts | None:
        """Return the parts of what is repeated along the axes of the result."""
        parts = self(node.inputs[int(not isinstance(node.op, Alloc))])
        shape = node.outputs[0].type.shape
        if parts is None or None in shape:
            return None
        return {factor: _along(array, shape) for factor, array in parts.items()}

    def product(self, node: Any) -> _Parts | None:
        """Return the parts of a product, of whose factors one at most is a sum."""
        factors = [self(v) for v in node.inputs]
        products: _Parts | None = factors[0]
        times = node.op if len(factors) == 2 else pt.mul  # noqa: PLR2004 - as a matrix product has
        for parts in factors[1:]:
            if products is None or parts is None or 1 not in (len(products), len(parts)):
                return None
            products = {
                self._number(pt.mul, f, g): times(a, b)
                for f, a in products.items()
                for g, b in parts.items()
            }
        return products

    def quotient(self, node: Any) -> _Parts | None:
        """Return the parts of a quotient by what has one part."""
        *above, below = node.inputs
        parts, by = self(above[0]) if above else {_ONE: _ONE}, self._single(below)
        if parts is None or by is None:
            return None
        ((g, b),) = by.items()
        return {self._number(pt.true_div, f, g): a / b for f, a in parts.items()}

    def power(self, node: Any) -> _Parts | None:
        """Return the parts of a whole power of what has one part."""
        base, *exponents = node.inputs
        exponent: Any = 2.0
        if exponents:
            exponent = pt.get_underlying_scalar_constant_value(
                exponents[0], raise_not_constant=False
            )
        if isinstance(exponent, Variable) or exponent % 1:
            return None
        parts = self(base) if exponent == 1 else self._single(base)
        if parts is None or exponent == 1:
            return parts
        ((f, a),) = parts.items()
        raised = node.op(a, *exponents)
        return {f if f is _ONE else self._number(pt.pow, f, float(exponent)): raised}

    def checked(self, node: Any) -> _Parts | None:
        """Return the parts, none where a check fails, and the check as one more."""
        parts, conditions, shape = self(node.inputs[0]), node.inputs[1:], node.outputs[0].type.shape
        if parts is None or None in shape or any(v.type.ndim for v in conditions):
            return None
        holds = reduce(pt.and_, map(pt.as_tensor_variable, conditions))
        products = {pt.switch(holds, f, _ZERO): a for f, a in parts.items()}
        return products | {node.op(_ZERO, *conditions): pt.ones(shape, "float64")}

    def _single(self, v: Any) -> _Parts | None:
        """Return one part; a number that has several is one by itself."""
        parts = self(v)
        return parts if parts is None or len(parts) == 1 else _number(v) if _is_number(v) else None

    def _number(self, op: Any, *operands: Any) -> Any:
        """Return what is made of numbers, the same for the same."""
        if op is pt.mul and _ONE in operands:
            return operands[operands[0] is _ONE]
        if op is pt.true_div and operands[1] is _ONE:
            return operands[0]
        return self._products.setdefault((op, *operands), op(*operands))


def _is_number(v: Any) -> bool:
    """Whether a variable is one number, along whatever axes."""
    return is_float(v) and all(n == 1 for n in v.type.shape)


def _number(v: Any) -> _Parts:
    """Return a number as the only part."""
    return {v.reshape(()) if v.type.ndim else v: pt.ones((1,) * v.type.ndim, "float64")}


def _along(array: Any, shape: tuple[int, ...]) -> Any:
    """Return an array along further axes, or longer ones."""
    return array if array.type.shape == shape else pt.alloc(array, *shape)


_Rule = Callable[[_Separation, Any], _Parts | None]


def _linear(*places: int) -> _Rule:
    """Return the rule of what is linear in the inputs at some places, or in all."""
    return lambda known, node: known.linear(node, places or range(len(node.inputs)))


_RULES: dict[Any, _Rule] = {
    **dict.fromkeys((Sum, DimShuffle, Reshape, SpecifyShape, Subtensor, *TAKES), _linear(0)),
    **dict.fromkeys((basic.Neg, basic.Cast, basic.Identity), _linear(0)),
    **dict.fromkeys((IncSubtensor, AdvancedIncSubtensor), _linear(0, 1)),
    **dict.fromkeys((basic.Add, basic.Sub, Join), _linear()),
    **dict.fromkeys((Alloc, basic.Second), _Separation.filled),
    **dict.fromkeys((basic.Mul, Dot, BatchedDot), _Separation.product),
    **dict.fromkeys((basic.TrueDiv, basic.Reciprocal), _Separation.quotient),
    **dict.fromkeys((basic.Sqr, basic.Pow), _Separation.power),
    CheckParameterValue: _Separation.checked,
}
