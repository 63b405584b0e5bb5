"""A PyMC model's joint log density at many points of its unconstrained coordinates at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pymc as pm
from pymc.logprob.utils import CheckParameterValue
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import io_toposort
from pytensor.scalar.basic import Clip
from pytensor.scalar.math import Softplus
from pytensor.tensor.elemwise import Elemwise
from scipy.special import logsumexp

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.conditional import LIGHT_MODE
from bayesmodels.posteriors.density import compiled, in_double, written_in_double
from bayesmodels.posteriors.support import Support, listed, shaped, supports

pt: Any = tensor  # its functions have no types

_TOGETHER = 400_000  # observed numbers times points in one call, about what a cache holds
_MOST_LEVELS = 2**10  # configurations of finite variables


class BatchDensity:
    """The log density of a model's continuous variables, its finite ones added up.

    Points are rows of unconstrained coordinates, of which there are `size`. Beside the log density
    there are the natural values of the continuous variables, and the probabilities of the levels of
    the finite ones given them, in one row: `slices` says where each variable is.
    """

    def __init__(self, model: pm.Model) -> None:
        self.shapes = {rv.name: shape for _, rv, shape in shaped(model)}
        whole = [rv.name for rv in model.free_RVs if not rv.dtype.startswith("float")]
        self.finite = [_known(model, name) for name in whole]
        self.levels = self._levels()
        written = written_in_double(model)
        self.names = [rv.name for rv in written.free_RVs if rv.name not in whole]
        with config.change_flags(floatX="float64", traceback__limit=0):
            values = [written.rvs_to_values[rv] for rv in written.free_RVs]
            wanted = [written[name] for name in self.names]
            natural = written.replace_rvs_by_values(wanted)
            outputs = _plain(in_double([written.logp(), *natural], {}))
            many = [v.type.clone(shape=(None, *v.type.shape))(v.name) for v in values]
            every = vectorize_graph(outputs, dict(zip(values, many, strict=True)))
            self._run: Callable[..., list[Any]] = compiled(many, every, LIGHT_MODE)
        start = written.initial_point(random_seed=0)
        self._values = [(v.name, v.dtype, np.shape(start[v.name])) for v in values]
        self._is_finite = [not str(dtype).startswith("float") for _, dtype, _ in self._values]
        free = [np.ravel(start[name]) for name, dtype, _ in self._values if "float" in str(dtype)]
        self.start: Array = np.concatenate([np.zeros(0), *free]).astype(float)
        self.size = len(self.start)
        observed: Any = compiled([], [model.rvs_to_values[rv].size for rv in model.observed_RVs])
        self._rows = max(1, _TOGETHER // (1 + int(sum(map(int, observed())))))
        self.slices = self._places()

    def _levels(self) -> list[list[Any]]:
        """Return every configuration of the finite variables."""
        sizes = [float(s.levels) ** s.size for s in self.finite]
        if np.prod(sizes) > _MOST_LEVELS:
            raise NotConjugate(
                f"{listed(s.name for s in self.finite)} have {np.prod(sizes):.3g} configurations; "
                f"at most {_MOST_LEVELS} are added up."
            )
        each = [
            [
                np.array(row).reshape(s.shape) + s.lowest
                for row in product(range(s.levels), repeat=s.size)
            ]
            for s in self.finite
        ]
        return [list(row) for row in product(*each)]

    def _places(self) -> dict[str, slice]:
        result, at = {}, 0
        for name in self.names:
            size = int(np.prod(self.shapes[name], dtype=int))
            result[name] = slice(at, at + size)
            at += size
        for s in self.finite:
            result[s.name] = slice(at, at + s.size * s.levels)
            at += s.size * s.levels
        return result

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """Return log densities (n) and numbers (n, k) at points (n, d)."""
        each, natural = self.by_level(points)
        if not self.finite:
            return each[:, 0], natural
        with np.errstate(invalid="ignore"):
            total = logsumexp(each, axis=1)
            share = np.exp(each - np.where(np.isfinite(total), total, 0.0)[:, None])
        share = np.where(np.isfinite(total)[:, None], share, 1 / len(self.levels))
        columns = [natural]
        for k, s in enumerate(self.finite):
            values = np.stack([np.ravel(row[k]) for row in self.levels]) - s.lowest
            of_level = values[:, :, None] == np.arange(s.levels)
            columns.append((share @ of_level.reshape(len(values), -1).astype(float)))
        return total, np.concatenate(columns, 1)

    def by_level(self, points: Array) -> tuple[Array, Array]:
        """Return log densities (n, configurations), and natural values (n, k)."""
        found = []
        for at in range(0, len(points), self._rows):
            found.append(self._some(points[at : at + self._rows]))
        logs, natural = zip(*found, strict=True)
        return np.concatenate(logs), np.concatenate(natural)

    def _some(self, points: Array) -> tuple[Array, Array]:
        n = len(points)
        columns, natural = [], np.zeros((n, 0))
        for row in self.levels:
            inputs, at, given = [], 0, iter(row)
            for (_, dtype, shape), finite in zip(self._values, self._is_finite, strict=True):
                if finite:
                    value = np.broadcast_to(next(given), (n, *shape))
                else:
                    size = int(np.prod(shape, dtype=int))
                    value = points[:, at : at + size].reshape((n, *shape))
                    at += size
                inputs.append(value.astype(dtype))
            with np.errstate(all="ignore"):  # what is not finite is looked at by the caller
                logs, *parts = self._run(*inputs)
            columns.append(np.broadcast_to(logs, n))
            if not natural.shape[1]:
                flat = [np.broadcast_to(p, (n, *p.shape[1:])).reshape(n, -1) for p in parts]
                natural = np.concatenate([natural, *flat], 1)
        return np.stack(columns, 1).astype(float), natural


def _known(model: pm.Model, name: str) -> Support:
    for s in supports(model, all_known=False):
        if s.name == name and s.kind == "finite":
            return s
    supports(model)  # which says what is unknown
    raise NotConjugate(f"{name} is a whole number without a known range.")


def _plain(outputs: list[Any]) -> list[Any]:
    """Let the density be zero, not an error, where a parameter is out of its range.

    And write with NumPy's functions what PyTensor evaluates number by number in Python.
    """
    known: dict[Any, Any] = {}
    for node in io_toposort([], outputs):
        given = [known.get(v, v) for v in node.inputs]
        if isinstance(node.op, CheckParameterValue):
            value, *conditions = given
            holds = pt.all([pt.all(condition) for condition in conditions])
            known[node.outputs[0]] = pt.switch(holds, value, -np.inf)
        elif isinstance(node.op, Elemwise) and type(node.op.scalar_op) in _IN_NUMPY:
            known[node.outputs[0]] = _IN_NUMPY[type(node.op.scalar_op)](*given)
        elif given != list(node.inputs):
            made = node.clone_with_new_inputs(given, strict=False).outputs
            known.update(zip(node.outputs, made, strict=True))
    return [known.get(v, v) for v in outputs]


_IN_NUMPY: dict[Any, Any] = {
    Clip: lambda x, low, high: pt.minimum(pt.maximum(x, low), high),
    Softplus: lambda x: pt.maximum(x, 0.0) + pt.log1p(pt.exp(-pt.abs(x))),
}
