r"""PyMC's simplex transform as one operation, which compiles in a fraction of the time.

Free coordinates y of K - 1 numbers stand for the point theta of a simplex,

.. math:: z = (y, -\textstyle\sum_k y_k), \qquad \log\theta = z - \log\sum_k e^{z_k}, \qquad
    \log\left|\frac{d\theta}{dy}\right| = \log K + \sum_k \log\theta_k,

as in `pymc.distributions.transforms.SimplexTransform`. PyMC writes this, its Jacobian and the
gradients of both as some forty operations, each of which is compiled on its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.transforms import SimplexTransform
from scipy.special import log_softmax

from bayesmodels.models.operations_pymc import Operation, numba_loops
from bayesmodels.numerics import Array

_join: Any = pt.concatenate  # which has no types


class Simplex(SimplexTransform):  # type: ignore[misc] # PyMC has no types
    """The simplex transform; the law of its variable is the same as with PyMC's own."""

    def backward(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002 - PyMC's signature
        """Return theta."""
        return pt.exp(LogSimplex()(value))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:  # noqa: ARG002
        """Return the logarithm of the volume of theta for a unit of y."""
        logs: Any = LogSimplex()(value)
        return pt.log(logs.shape[-1].astype(logs.dtype)) + logs.sum(-1)


class LogSimplex(Operation):
    """From y, over leading axes, to log theta."""

    def _shape(self, *shapes: Any) -> Any:
        *lead, width = shapes[0]
        return (*lead, None if width is None else width + 1)

    def _value(self, y: Array) -> Array:
        return np.asarray(log_softmax(np.concatenate([y, -y.sum(-1, keepdims=True)], -1), axis=-1))

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient."""
        return [LogSimplexPullback()(outputs[0], cotangents[0])]


@numba_loops(LogSimplex)
def _log_simplex(y: Any) -> Any:
    width = y.shape[-1]
    logs = np.empty((*y.shape[:-1], width + 1))
    free = np.ascontiguousarray(y).ravel()
    flat = logs.reshape(-1)
    for i in range(flat.size // (width + 1)):
        start = i * (width + 1)
        total, largest = 0.0, -np.inf
        for k in range(width):
            z = free[i * width + k]
            flat[start + k] = z
            total += z
            largest = max(largest, z)
        flat[start + width] = -total
        largest = max(largest, -total)
        total = 0.0
        for k in range(start, start + width + 1):
            total += np.exp(flat[k] - largest)
        shift = largest + np.log(total)
        for k in range(start, start + width + 1):
            flat[k] -= shift
    return logs


class LogSimplexPullback(Operation):
    """From log theta and the gradient g by it to the gradient by y, over leading axes.

    By z it is ``h = g - theta * sum(g)``; by y, ``h`` of the first K - 1 less that of the last.
    """

    def _shape(self, *shapes: Any) -> Any:
        *lead, width = shapes[0]
        return (*lead, None if width is None else width - 1)

    def _value(self, logs: Array, gradient: Array) -> Array:
        by_z = gradient - np.exp(logs) * gradient.sum(-1, keepdims=True)
        return np.asarray(by_z[..., :-1] - by_z[..., -1:])

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient by both, for second derivatives."""
        (logs, gradient), (by_y,) = inputs, cotangents
        by_z = _join([by_y, -by_y.sum(-1, keepdims=True)], axis=-1)
        weighted = pt.exp(logs) * by_z
        return [
            -weighted * gradient.sum(-1, keepdims=True),
            by_z - weighted.sum(-1, keepdims=True),
        ]


@numba_loops(LogSimplexPullback)
def _log_simplex_pullback(logs: Any, gradient: Any) -> Any:
    width = logs.shape[-1]
    by_y = np.empty((*logs.shape[:-1], width - 1))
    flat_logs = np.ascontiguousarray(logs).ravel()
    flat_gradient = np.ascontiguousarray(gradient).ravel()
    flat = by_y.reshape(-1)
    for i in range(flat_logs.size // width):
        start = i * width
        last = start + width - 1
        total = 0.0
        for k in range(start, last + 1):
            total += flat_gradient[k]
        at_last = flat_gradient[last] - np.exp(flat_logs[last]) * total
        for k in range(width - 1):
            by_z = flat_gradient[start + k] - np.exp(flat_logs[start + k]) * total
            flat[i * (width - 1) + k] = by_z - at_last
    return by_y
