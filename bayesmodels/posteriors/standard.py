"""Normal variables in coordinates of which each is standard normal before the data are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pymc as pm
from pymc.distributions.multivariate import MvNormalRV
from pymc.logprob.transforms import Transform
from pymc.util import get_transformed_name
from pytensor import tensor
from pytensor.tensor.random.basic import NormalRV

from bayesmodels.posteriors.density import without_initial_values

pt: Any = tensor  # its functions have no types


class Standard(Transform):  # type: ignore[misc]
    """From an element to its distance from the mean, in standard deviations."""

    name = "standard"

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return the coordinate."""
        return (value - inputs[-2]) / inputs[-1]

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return the element."""
        return inputs[-2] + inputs[-1] * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the log of the slope of `backward`."""
        return pt.log(inputs[-1]) + pt.zeros_like(value)


class JointlyStandard(Transform):  # type: ignore[misc]
    """From a row to independent coordinates, by the root of its covariance matrix."""

    name = "standard"
    ndim_supp = 1

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Return the coordinates."""
        root, gap = pt.linalg.cholesky(inputs[-1]), value - inputs[-2]
        return pt.linalg.solve_triangular(root, gap, lower=True, b_ndim=1)

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Return the row."""
        return inputs[-2] + (pt.linalg.cholesky(inputs[-1]) * value[..., None, :]).sum(-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Return the log determinant of the root."""
        root = pt.linalg.cholesky(inputs[-1])
        return pt.log(pt.diagonal(root, axis1=-2, axis2=-1)).sum(-1) + pt.zeros_like(value[..., 0])


def standard_normal(z: Any) -> Any:
    """Return the log density of standard normal numbers, one a number."""
    return -pt.sqr(z) / 2 - math.log(2 * math.pi) / 2


_WAYS = {NormalRV: Standard(), MvNormalRV: JointlyStandard()}


def standardized(model: pm.Model, names: Sequence[str]) -> pm.Model:
    """Return a model in which those of some variables that are normal have such coordinates."""
    ways = {name: _WAYS.get(type(model[name].owner.op)) for name in names}
    if not any(ways.values()):
        return model
    with without_initial_values(model):
        result = model.copy()
    for name, way in ways.items():
        if way:
            rv = result[name]
            result.rvs_to_transforms[rv] = way
            result.rvs_to_values[rv].name = get_transformed_name(name, way)
    return result
