"""What PyTensor asks of every operation over leading axes with one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

from bayesmodels.numerics import Array

_register: Any = register_funcify_default_op_cache_key  # which has no types


class Operation(Op):
    """An operation with the `_value` of its inputs, of the dtype of the last of them.

    Its `_shape` follows from those of the inputs, which may hold None; by default it is the first.
    `of_many`, if there is one, evaluates it of inputs with a further axis in front of each.
    """

    __props__: tuple[str, ...] = ()
    _value: Callable[..., Array]
    of_many: Callable[..., Array] | None = None

    def _shape(self, *shapes: Any) -> Any:
        return shapes[0]

    def make_node(self, *inputs: Any) -> Any:
        """Return the node; called by PyTensor."""
        tensors = [pt.as_tensor_variable(part) for part in inputs]
        shape = self._shape(*(part.type.shape for part in tensors))
        return Apply(self, tensors, [pt.tensor(dtype=tensors[-1].type.dtype, shape=shape)])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:  # noqa: ARG002 - its signature
        """Evaluate in Python."""
        outputs[0][0] = self._value(*inputs)

    def infer_shape(self, node: Any, shapes: Any) -> Any:  # noqa: ARG002
        """Return the shape of the result."""
        return [self._shape(*shapes)]


def numba_loops(operation: type[Operation]) -> Callable[[Any], Any]:
    """Let Numba evaluate an operation by the loops that this decorates."""

    def register(loops: Any) -> Any:
        compiled = numba_njit(loops)
        _register(operation)(lambda op, node, **_: compiled)  # noqa: ARG005 - its signature
        return compiled

    return register
