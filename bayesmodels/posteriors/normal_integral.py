r"""The mean and the determinant of a normal block with a sparse precision, in one operation.

From the slopes of a parabola at a centre and at probes (see `SparsePrecision`) it gives

.. math:: P^{-1} h \quad\text{and}\quad \tfrac12 \ln |P|,

of which the latter has the derivative :math:`\tfrac12 P^{-1}`; of the inverse only the entries that
the root has are worked out. The former is a maximum, where a function's derivative does not hang on
where exactly it is taken: it has none here. Written out in PyTensor's own operations the same takes
about ten times as long to compile. Second derivatives are not there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.gradient import disconnected_type
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

from bayesmodels.models.operations_pymc import Operation
from bayesmodels.numerics.sparse_cholesky import integral, integral_slope, integrals


class NormalIntegral(Operation):
    """From slopes and the form of P to the mean, from the centre, and half the log determinant."""

    _value = staticmethod(integral)
    # Of an array in another order, or one that is read only, the loops would be compiled again.
    of_many = staticmethod(
        lambda slopes, *form: integrals(np.require(slopes, None, ["C", "W"]), *form)
    )

    def _shape(self, *shapes: Any) -> Any:
        size = shapes[0][1]
        return (None if size is None else size + 1,)

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
