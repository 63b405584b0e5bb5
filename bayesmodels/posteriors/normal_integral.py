r"""The mean and the determinant of a normal block with a sparse precision, in one operation.

From the slopes of a parabola at a centre and at probes (see `SparsePrecision`) it gives

.. math:: P^{-1} h \quad\text{and}\quad \tfrac12 \ln |P|,

of which the latter has the derivative :math:`\tfrac12 P^{-1}`; of the inverse only the entries that
the root has are worked out, from the root, which is in the result too. The mean is a maximum, where
a function's derivative does not hang on where exactly it is taken: it is `Held`. Written out in
PyTensor's own operations the same takes about ten times as long to compile. Second derivatives are
not there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.gradient import disconnected_type

from bayesmodels.models.operations_pymc import Operation, numba_loops
from bayesmodels.numerics.sparse_cholesky import integral, integral_slope, integrals


class NormalIntegral(Operation):
    """From slopes and the form of P to the mean, from the centre, root and half log determinant."""

    _value = staticmethod(integral)
    # Of an array in another order, or one that is read only, the loops would be compiled again.
    batched = staticmethod(
        lambda slopes, *form: integrals(np.require(slopes, None, ["C", "W"]), *form)
    )

    def _shape(self, *shapes: Any) -> Any:
        sizes = shapes[1][0], shapes[2][0]
        return (None if None in sizes else sum(sizes),)

    def connection_pattern(self, node: Any) -> Any:  # noqa: ARG002
        """Say that only the slopes vary; called by PyTensor."""
        return [[True], [False], [False], [False], [False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Return the gradient of the last number; called by PyTensor."""
        nothing = [disconnected_type()] * (len(inputs) - 1)
        return [NormalIntegralSlope()(*inputs, outputs[0], cotangents[0][-1]), *nothing]


class NormalIntegralSlope(Operation):
    """The gradient of `NormalIntegral`."""

    _value = staticmethod(integral_slope)


class Held(Operation):
    """The same numbers without a derivative; unlike PyTensor's own it stays when one rewrites."""

    view_map = {0: [0]}  # noqa: RUF012 - as PyTensor asks
    _value = batched = staticmethod(lambda x: x)

    def connection_pattern(self, node: Any) -> Any:  # noqa: ARG002
        """Say that nothing varies; called by PyTensor."""
        return [[False]]


@numba_loops(NormalIntegral)
def _integral(slopes: Any, start: Any, rows: Any, entries: Any, moves: Any) -> Any:
    return integral(slopes, start, rows, entries, moves)


@numba_loops(NormalIntegralSlope)
def _slope(
    slopes: Any, start: Any, rows: Any, entries: Any, moves: Any, value: Any, weight: Any
) -> Any:
    return integral_slope(slopes, start, rows, entries, moves, value, weight)


@numba_loops(Held)
def _held(x: Any) -> Any:
    return x
