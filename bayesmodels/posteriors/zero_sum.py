r"""Variables that sum to zero, over coordinates in which their law is normal like any other.

A `ZeroSumNormal` of n elements has a density on the subspace of n - 1 dimensions in which they sum
to zero; PyMC has it with respect to that subspace's own measure of length, area or volume. With an
orthonormal basis Q of the subspace, that of PyMC's transform,

.. math:: e = Q z, \qquad Q^\top Q = I, \qquad z \sim N(0, \sigma^2 I),

the density of e is that of z, without a Jacobian. Over several axes Q is a Kronecker product.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.multivariate import ZeroSumNormalRV
from pymc.distributions.transforms import ZeroSumTransform
from pymc.model.fgraph import model_free_rv
from scipy.sparse import csc_array, eye_array, kron

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.density import compiled, graph_of, keep_initial_values, model_of
from bayesmodels.posteriors.families import ElementLaw, Factor, Gaussian, ScaledGaussian
from bayesmodels.posteriors.support import shaped

_OFF = 1e-6  # of the largest element: what sums are off by in draws of single precision


@dataclass(frozen=True)
class ZeroSum:
    """A variable of some shape whose elements sum to zero along each of its last `axes`."""

    shape: tuple[int, ...]
    axes: int

    @property
    def inner(self) -> tuple[int, ...]:
        """The shape of its coordinates."""
        return (*self.shape[: -self.axes], *(n - 1 for n in self.shape[-self.axes :]))

    @cached_property
    def basis(self) -> Array:
        """The orthonormal basis of the last axes, coordinates in columns."""
        units = [pt.as_tensor(np.eye(n - 1)) for n in self.shape[-self.axes :]]
        backward = ZeroSumTransform([-1]).backward
        return reduce(np.kron, (result.T for result in compiled([], list(map(backward, units)))()))

    def matrix(self, first: int, size: int) -> Any:
        """Return the linear map from `size` elements, coordinates from the `first` on, sparse."""
        blocks = kron(eye_array(math.prod(self.shape[: -self.axes])), self.basis, format="coo")
        at = blocks.row, first + blocks.col
        return csc_array((blocks.data, at), shape=(math.prod(self.shape), size))

    def elements(self, z: Array) -> Array:
        """Return elements, with any axes before those of the variable."""
        lead = z.shape[: z.ndim - len(self.shape)]
        return (z.reshape(-1, self.basis.shape[1]) @ self.basis.T).reshape(*lead, *self.shape)

    def coordinates(self, e: Array) -> Array:
        """Return the coordinates of elements, or of the nearest ones that sum to zero."""
        lead = e.shape[: e.ndim - len(self.shape)]
        return (e.reshape(-1, len(self.basis)) @ self.basis).reshape(*lead, *self.inner)

    def holds(self, e: Array) -> NDArray[np.bool_]:
        """Return which rows of elements sum to zero, up to rounding."""
        off = np.abs(self.elements(self.coordinates(e)) - e).reshape(len(e), -1).max(-1)
        return off <= _OFF * np.abs(e).reshape(len(e), -1).max(-1)

    def laws(self, first: int, size: int, factors: Sequence[Factor]) -> list[ElementLaw]:
        """Return the laws of elements, coordinates being some of the factors' as in `matrix`."""
        matrix = self.matrix(first, size)
        mean, var = np.zeros((2, matrix.shape[0]))
        laws = []
        for factor in factors:
            normal = factor.gaussian if isinstance(factor, ScaledGaussian) else factor
            part = matrix[:, normal.elements]
            rows = np.unique(part.indices)
            if not len(rows):
                continue
            if not isinstance(normal, Gaussian):
                raise NotConjugate(
                    f"{type(normal).__name__}: of such a law there are no laws of the elements of "
                    "variables that sum to zero; draw with sample()."
                )
            result = normal.combined(rows, part[rows])
            if isinstance(factor, ScaledGaussian):
                scale = factor.elements[-1:]
                laws += ScaledGaussian(np.append(rows, scale), result, factor.gamma).laws()[:1]
            else:
                mean[rows] += result.location
                var[rows] += 1 / result.precision
        rows = np.flatnonzero(var)
        if len(rows):
            laws += Gaussian.independent(rows, mean[rows], 1 / var[rows]).laws()
        return laws


def zero_sums(model: pm.Model) -> dict[str, ZeroSum]:
    """Return a model's free variables that sum to zero."""
    if not any(isinstance(rv.owner.op, ZeroSumNormalRV) for rv in model.free_RVs):
        return {}
    return {
        rv.name: ZeroSum(shape, rv.owner.op.ndim_supp)
        for held, rv, shape in shaped(model)
        if isinstance(rv.owner.op, ZeroSumNormalRV)
        and isinstance(held.rvs_to_transforms[rv], ZeroSumTransform | None)
        and min(shape[-rv.owner.op.ndim_supp :]) > 1
    }


def elements(known: Mapping[str, ZeroSum], values: dict[str, Any]) -> dict[str, Any]:
    """Return values by variable, where those that sum to zero were coordinates."""
    return values | {name: zero_sum.elements(values[name]) for name, zero_sum in known.items()}


def in_coordinates(model: pm.Model, known: Mapping[str, ZeroSum]) -> pm.Model:
    """Return a model in which normal coordinates have the names of variables that sum to zero."""
    if not known:
        return model
    graph = graph_of(model)
    outputs, moved = [], {}
    for out in graph.outputs:
        name, free = out.owner.op.name, out
        if name in known:
            zero_sum = known[name]
            law = pm.Normal.dist(0.0, out.owner.inputs[0].owner.inputs[2], shape=zero_sum.inner)
            law.name = name
            free = model_free_rv(law, law.type(name), None, name)
            moved[out] = ZeroSumTransform(range(-zero_sum.axes, 0)).backward(free)
        outputs.append(free)
    result = model_of(graph, outputs, moved)
    result.check_bounds = model.check_bounds
    keep_initial_values(model, result, [n for n in model.named_vars if n not in known])
    return result
