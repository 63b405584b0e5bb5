r"""The integral of a normal block whose precision is sparse, as one operation of PyTensor.

From the slopes of a parabola at a centre and at probes (see `SparsePrecision`) it gives

.. math:: \tfrac12 h^\top P^{-1} h \quad\text{and}\quad \tfrac12 \ln |P|,

whose derivatives are :math:`\partial / \partial h = P^{-1} h`,
:math:`\partial / \partial P = -\tfrac12 P^{-1} h h^\top P^{-1}` and :math:`\tfrac12 P^{-1}`; of the
inverse only the entries that the root has are worked out. Written out in PyTensor's own operations
the same takes about ten times as long to compile. Second derivatives are not there.
"""

from __future__ import annotations

from typing import Any

from pytensor.gradient import disconnected_type
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

from bayesmodels.models.operations_pymc import Operation
from bayesmodels.numerics.sparse_cholesky import integral, integral_slope


class NormalIntegral(Operation):
    """From slopes and the form of P to half the square and half the log determinant."""

    _value = staticmethod(integral)

    def _shape(self, *_: Any) -> Any:
        return (2,)

    def connection_pattern(self, node: Any) -> Any:  # noqa: ARG002
        """Say that only the slopes vary."""
        return [[True], [False], [False], [False], [False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient."""
        nothing = [disconnected_type()] * (len(inputs) - 1)
        return [NormalIntegralSlope()(*inputs, cotangents[0]), *nothing]


class NormalIntegralSlope(Operation):
    """The gradient of `NormalIntegral`."""

    _value = staticmethod(integral_slope)


# In compiled graphs the loops themselves take the place of the operations.
_register: Any = register_funcify_default_op_cache_key
_register(NormalIntegral)(lambda op, node, **_: integral)  # noqa: ARG005 - PyTensor's signature
_register(NormalIntegralSlope)(lambda op, node, **_: integral_slope)  # noqa: ARG005 - as above
