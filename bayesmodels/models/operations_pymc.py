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

_WHEN_MADE: dict[type, Callable[[], object]] = {}


class Operation(Op):
    """An operation with the `_value` of its inputs, of the dtype of the last of them.

    Its `_shape` follows from those of the inputs, which may hold None; by default it is the first.
    `of_many`, if there is one, evaluates it of inputs with a further axis in front of each.
    """

    __props__: tuple[str, ...] = ()
    _value: Callable[..., Array]
    of_many: Callable[..., Array] | None = None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Let PyTensor know how Numba evaluates it, which loads Numba, before there is one."""
        for kind in cls.__mro__:
            if kind in _WHEN_MADE:
                _WHEN_MADE[kind]()
                _WHEN_MADE.pop(kind, None)
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


def when_made(operation: type[Operation]) -> Callable[[Callable[[], object]], object]:
    """Run the function that this decorates before the first of these operations is made."""
    return lambda register: _WHEN_MADE.setdefault(operation, register)


def numba_loops(operation: type[Operation]) -> Callable[[Any], Any]:
    """Let Numba evaluate an operation by the loops that this decorates."""

    def keep(loops: Any) -> Any:
        @when_made(operation)
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
