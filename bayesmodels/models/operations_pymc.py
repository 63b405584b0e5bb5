"""What PyTensor asks of every operation over leading axes with one result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import getsource
from typing import Any, Self
from zlib import crc32

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import Loops

_REGISTRATIONS: dict[type, Callable[[], object]] = {}


class Operation(Op):
    """An operation with the `_value` of its inputs, of the dtype of the last of them.

    Its `_shape` follows from those of the inputs, which may hold None; by default it is the first.
    `batched`, if there is one, evaluates it for inputs that each have one leading axis more.
    """

    __props__: tuple[str, ...] = ()
    _value: Callable[..., Array]
    batched: Callable[..., Array] | None = None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Register the Numba loops of its kind before the first instance; this loads Numba."""
        for kind in cls.__mro__:
            if kind in _REGISTRATIONS:
                _REGISTRATIONS[kind]()
                _REGISTRATIONS.pop(kind, None)
        return super().__new__(cls)

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


def before_first(operation: type[Operation]) -> Callable[[Callable[[], object]], object]:
    """Return a decorator: its function runs before the first instance of the operation."""
    return lambda register: _REGISTRATIONS.setdefault(operation, register)


def numba_loops(operation: type[Operation]) -> Callable[[Any], Any]:
    """Return a decorator: its loops are how Numba evaluates the operation."""

    def keep(loops: Any) -> Any:
        @before_first(operation)
        def register() -> None:
            from pytensor.link.numba.dispatch import basic

            known: Any = basic.register_funcify_default_op_cache_key  # which has no types
            known(operation)(lambda *_, **__: (basic.numba_njit(loops), _checksum(loops)))

        return loops

    return keep


def _checksum(loops: Any) -> int:
    """Return a checksum of the text of loops and of those they call.

    What PyTensor keeps of them on disk is good for this text only.
    """
    inner = [x for x in loops.__globals__.values() if isinstance(x, Loops)]
    modules = {loops.__module__, *(x.__module__ for x in inner)}
    return crc32("".join(getsource(sys.modules[m]) for m in sorted(modules)).encode())
