r"""The integral of a normal block whose precision is an arrow, as one operation of PyTensor.

From the slopes of a parabola at a centre and at probes (see `Arrow`) it gives

.. math:: \tfrac12 h^\top P^{-1} h \quad\text{and}\quad \tfrac12 \ln |P|,

whose derivatives are :math:`\partial / \partial h = P^{-1} h`,
:math:`\partial / \partial P = -\tfrac12 P^{-1} h h^\top P^{-1}` and :math:`\tfrac12 P^{-1}`; of the
inverse only the entries that the arrow has are worked out. Written out in PyTensor's own operations
the same takes about ten times as long to compile. Second derivatives are not there.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

# A precision that is not definite makes NaN, not an error.
_compiled: Any = numba.njit(cache=True, error_model="numpy")
_register: Any = register_funcify_default_op_cache_key


def _loops_of_factors(  # noqa: C901, PLR0912 - loops, which Numba is good at
    slopes: Any, groups: Any, hubs: Any, step: Any
) -> Any:
    """Return the groups' roots, these solved for B and h, the hubs' root below k, and both results.

    Where the precision is not positive definite, the results are NaN.
    """
    number, width = groups.shape
    last = len(hubs)
    roots = np.zeros((number, width, width))
    rights = np.zeros((number, width, last + 1))
    top = np.zeros((last + 1, last + 1))
    for a in range(last):
        e = hubs[a]
        for b in range(a + 1):
            top[a, b] = (slopes[0, e] - slopes[1 + width + b, e]) / step[hubs[b]]
        top[last, a] = slopes[0, e]
    log_det = 0.0
    for g in range(number):
        root, right = roots[g], rights[g]
        for i in range(width):
            e = groups[g, i]
            if e < 0:
                break
            for j in range(i + 1):
                value = (slopes[0, e] - slopes[1 + j, e]) / step[groups[g, j]]
                for m in range(j):
                    value -= root[i, m] * root[j, m]
                root[i, j] = np.sqrt(value) if i == j else value / root[j, j]
            log_det += np.log(root[i, i])
            for a in range(last + 1):
                value = slopes[0, e]
                if a < last:
                    value = (value - slopes[1 + width + a, e]) / step[hubs[a]]
                for m in range(i):
                    value -= root[i, m] * right[m, a]
                right[i, a] = value / root[i, i]
            for a in range(last + 1):
                for b in range(a + 1):
                    top[a, b] -= right[i, a] * right[i, b]
    for a in range(last + 1):
        for b in range(a + 1):
            value = top[a, b]
            for m in range(b):
                value -= top[a, m] * top[b, m]
            if a == last and b == last:
                top[a, b] = value
            elif a == b:
                top[a, b] = np.sqrt(value)
                log_det += np.log(top[a, b])
            else:
                top[a, b] = value / top[b, b]
    return roots, rights, top, -top[last, last] / 2, log_det


_factors: Any = _compiled(_loops_of_factors)


def _loops_of_inverse(root: Any, size: int) -> Any:
    """Return the inverse of the leading part of a lower triangular matrix."""
    result = np.zeros((size, size))
    for j in range(size):
        result[j, j] = 1 / root[j, j]
        for i in range(j + 1, size):
            value = 0.0
            for m in range(j, i):
                value -= root[i, m] * result[m, j]
            result[i, j] = value / root[i, i]
    return result


_inverse: Any = _compiled(_loops_of_inverse)


def _loops_of_integral(slopes: Any, groups: Any, hubs: Any, step: Any) -> Any:
    """Return half the square and half the log determinant."""
    _, _, _, square, log_det = _factors(slopes, groups, hubs, step)
    return np.array([square, log_det])


integral: Any = _compiled(_loops_of_integral)


def _loops_of_integral_slope(  # noqa: C901, PLR0912 - as above
    slopes: Any, groups: Any, hubs: Any, step: Any, weights: Any
) -> Any:
    """Return the derivative of the weighted sum of both by all slopes."""
    roots, rights, top, _, _ = _factors(slopes, groups, hubs, step)
    number, width = groups.shape
    last = len(hubs)
    result = np.zeros_like(slopes)
    half = _inverse(top, last)
    cov = np.zeros((last, last))
    for a in range(last):
        for b in range(last):
            for m in range(max(a, b), last):
                cov[a, b] += half[m, a] * half[m, b]
    mean = np.zeros(last)
    for a in range(last):
        for m in range(a, last):
            mean[a] += half[m, a] * top[last, m]
    for a in range(last):
        e = hubs[a]
        result[0, e] += weights[0] * mean[a]
        for b in range(a + 1):
            value = weights[1] * cov[a, b] - weights[0] * mean[a] * mean[b]
            value *= (0.5 if a == b else 1.0) / step[hubs[b]]
            result[0, e] += value
            result[1 + width + b, e] -= value
    for g in range(number):
        size = 0
        while size < width and groups[g, size] >= 0:
            size += 1
        half = _inverse(roots[g], size)
        shift = np.zeros((size, last))  # D^-1 B
        across = np.zeros((size, last))  # covariance with the hubs
        own = np.zeros(size)
        for i in range(size):
            for m in range(i, size):
                own[i] += half[m, i] * rights[g, m, last]
                for a in range(last):
                    shift[i, a] += half[m, i] * rights[g, m, a]
            for a in range(last):
                own[i] -= shift[i, a] * mean[a]
                for b in range(last):
                    across[i, a] -= shift[i, b] * cov[b, a]
        for i in range(size):
            e = groups[g, i]
            result[0, e] += weights[0] * own[i]
            for j in range(i + 1):
                value = 0.0
                for m in range(i, size):
                    value += half[m, i] * half[m, j]
                for a in range(last):
                    value -= across[i, a] * shift[j, a]
                value = weights[1] * value - weights[0] * own[i] * own[j]
                value *= (0.5 if i == j else 1.0) / step[groups[g, j]]
                result[0, e] += value
                result[1 + j, e] -= value
            for a in range(last):
                value = weights[1] * across[i, a] - weights[0] * own[i] * mean[a]
                value /= step[hubs[a]]
                result[0, e] += value
                result[1 + width + a, e] -= value
    return result


integral_slope: Any = _compiled(_loops_of_integral_slope)


class NormalIntegral(Op):
    """From slopes, groups, hubs and steps to half the square and half the log determinant."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Any:
        """Return the node; called by PyTensor."""
        out = pt.tensor(dtype="float64", shape=(2,))
        return Apply(self, [pt.as_tensor_variable(given) for given in inputs], [out])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:  # noqa: ARG002
        """Evaluate in Python."""
        outputs[0][0] = integral(*inputs)

    def infer_shape(self, node: Any, shapes: Any) -> Any:  # noqa: ARG002
        """Return the shape of the results."""
        return [(2,)]

    def connection_pattern(self, node: Any) -> Any:  # noqa: ARG002
        """Say that only the slopes vary."""
        return [[True], [False], [False], [False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient."""
        nothing = disconnected_type()
        return [NormalIntegralSlope()(*inputs, cotangents[0]), nothing, nothing, nothing]


class NormalIntegralSlope(Op):
    """The gradient of `NormalIntegral`."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Any:
        """Return the node; called by PyTensor."""
        given = [pt.as_tensor_variable(one) for one in inputs]
        return Apply(self, given, [given[0].type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:  # noqa: ARG002
        """Evaluate in Python."""
        outputs[0][0] = integral_slope(*inputs)

    def infer_shape(self, node: Any, shapes: Any) -> Any:  # noqa: ARG002
        """Return the shape of the slopes."""
        return [shapes[0]]


def _numba_integral(op: Any, node: Any, **_: Any) -> Any:  # noqa: ARG001
    @numba_njit
    def normal_integral(slopes: Any, groups: Any, hubs: Any, step: Any) -> Any:
        return integral(slopes, groups, hubs, step)

    return normal_integral


def _numba_integral_slope(op: Any, node: Any, **_: Any) -> Any:  # noqa: ARG001
    @numba_njit
    def normal_integral_slope(slopes: Any, groups: Any, hubs: Any, step: Any, weights: Any) -> Any:
        return integral_slope(slopes, groups, hubs, step, weights)

    return normal_integral_slope


_register(NormalIntegral)(_numba_integral)
_register(NormalIntegralSlope)(_numba_integral_slope)
