r"""Finite variables summed out of a log density that depends on other variables.

.. math:: \ln \sum_k p(y, k, \phi) = \ln \sum_k \exp \Big( \sum_f t_f(k_{S_f}, \phi) \Big)

as one operation of PyTensor on the values of all summands at all levels that they are looked at;
its slopes are the probabilities of these levels.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.basic import clone
from pytensor.graph.replace import _vectorize_node, clone_replace, vectorize_graph
from pytensor.graph.traversal import ancestors

from bayesmodels.models.operations_pymc import Operation, before_first
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Elimination
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.conditional import BATCH_MODE, Conditionals
from bayesmodels.posteriors.density import compiled
from bayesmodels.posteriors.eliminate import FiniteTables
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.gradient import Levels, Point
from bayesmodels.posteriors.marginalize import Conjugate
from bayesmodels.posteriors.support import listed
from bayesmodels.posteriors.support.kind import Support, split

pt: Any = tensor  # its functions have no types

_TIMES = 2  # that a summand takes several operations
_NUMBERS = 2_000_000  # held at a time for conditional draws


class LogSum(Operation):
    """From the values of summands at all levels, (..., looks, summands), to logs of the sums."""

    __props__ = ("form",)

    def __init__(self, form: FiniteTables) -> None:
        self.form = form

    def _shape(self, *shapes: Any) -> Any:
        return shapes[0][:-2]

    def _value(self, values: Any) -> Any:
        return _eliminated(self.form, values).log_total.reshape(values.shape[:-2])

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:  # noqa: ARG002
        """Return the gradient."""
        return [cotangents[0][..., None, None] * LogSumSlope(self.form)(*inputs)]


class LogSumSlope(LogSum):
    """The slopes of `LogSum`."""

    def _shape(self, *shapes: Any) -> Any:
        return shapes[0]

    def _value(self, values: Any) -> Any:
        tables = _eliminated(self.form, values).joint_probabilities()
        return self.form.slopes(tables, values.shape[-1]).reshape(values.shape)


def _eliminated(form: FiniteTables, values: Array) -> Elimination:
    return Elimination(form.plan, form.of(values.reshape(-1, *values.shape[-2:])))


@_vectorize_node.register(LogSum)
def _over_leading_axes(op: Any, node: Any, values: Any) -> Any:  # noqa: ARG001 - its signature
    """Let several points be one node."""
    return op.make_node(values)


@before_first(LogSum)
def _in_python() -> None:
    """Let Numba run them in Python, without a warning."""
    from pytensor.link.numba.dispatch import basic

    fallback: Any = basic.generate_fallback_impl  # which has no types

    @basic.numba_funcify.register(LogSum)
    def _(op: Any, node: Any = None, **more: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return fallback(op, node, **more)


class FiniteMarginal:
    """Finite variables of a model: the log density without them, and their law given the rest.

    `probes` has levels of each variable, as `Marginal` has of its own.
    """

    others: tuple[Conjugate, ...] = ()

    def __init__(
        self, conditionals: Conditionals, finite: Mapping[str, Support], point: Point
    ) -> None:
        self._finite = dict(finite)
        self.endless = [s for s in finite.values() if s.endless]
        self._points = {p.name: p for p in conditionals.density.points}
        summed = {self._points[name] for name in finite}
        terms = stacked(
            [t for t in conditionals.density.named.values() if summed & set(ancestors([t]))]
        )
        self.remaining = [p for p in conditionals.density.points if p not in summed]
        self._sum = Dependence(
            conditionals.density.points, terms, conditionals.density.at(point)
        ).summands()
        columns = conditionals.density.columns(point)
        rows = self._sum.rows[:, np.concatenate([columns[name] for name in finite])]
        sizes = np.concatenate([np.full(s.size, s.levels) for s in finite.values()])
        self.form = FiniteTables(rows, sizes, listed(finite))
        self.levels: dict[str, tuple[Hashable, ...]] = {n: s.values for n, s in finite.items()}
        self._touched = rows.sum(1) > 0
        self._held = {name: np.asarray(point[name]) for name in finite}
        self.probes = self._split(self.form.every())

    @property
    def cost(self) -> int:
        """About how many numbers a sum over all levels takes."""
        return _TIMES * self.form.looks * len(self._sum.kept)

    def values_of(self, levels: Levels) -> dict[str, NDArray[Any]]:
        """Return one row of levels as values by variable."""
        return {name: x[0] for name, x in self._split(levels[None]).items()}

    def _split(self, levels: Levels) -> dict[str, NDArray[Any]]:
        """Return rows of levels as values by variable."""
        parts = split(levels, {name: s.shape for name, s in self._finite.items()})
        return {
            name: (parts[name] + s.lowest).astype(self._points[name].dtype)
            for name, s in self._finite.items()
        }

    def row(self, point: Mapping[str, NDArray[Any]]) -> Levels:
        """Return the finite elements of a point in one row, as levels."""
        each = [np.ravel(point[s.name]) - s.lowest for s in self._finite.values()]
        return np.concatenate(each).astype(int)

    def _values(self, rest: Mapping[Any, Any], axes: int) -> Any:
        """Return the values of all summands at all levels as a graph, with some axes before."""
        extra = (None,) * axes
        at: dict[Any, Any] = {
            self._points[name]: pt.constant(x[extra]) for name, x in self.probes.items()
        }
        every: Any = vectorize_graph(self._sum.parts, {**rest, **at})
        before = [x.shape[0] for x in list(rest.values())[:axes]]
        zeros = pt.zeros((*before, len(next(iter(self.probes.values()))), 1))
        flat = []
        for old, new in zip(self._sum.parts, every, strict=True):
            batch = new[(None,) * (axes + 1 - new.type.ndim + old.type.ndim)]
            lead = [n or batch.shape[i] for i, n in enumerate(batch.type.shape[: axes + 1])]
            row = batch.reshape((*lead, -1), ndim=axes + 2)
            flat.append(row + zeros)
        return pt.concatenate(flat, -1)[..., self._sum.kept] * self._sum.weights

    def expression(self) -> Any:
        """Return the log marginal density, in terms of the points `rest`."""
        with config.change_flags(floatX="float64", traceback__limit=0):
            sizes = [int(np.prod(v.type.shape)) for v in self._sum.parts]
            gone = np.zeros(sum(sizes), dtype=bool)
            gone[self._sum.kept[self._touched]] = True
            without = {
                v: pt.where(mask.reshape(v.type.shape), 0.0, v)
                for v, mask in zip(
                    self._sum.parts, np.split(gone, np.cumsum(sizes)[:-1]), strict=True
                )
                if mask.any()
            }
            held: Any = {self._points[name]: pt.constant(x) for name, x in self._held.items()}
            base = clone_replace(clone_replace(self._sum.total, without), held)
            value = base + LogSum(self.form)(self._values({}, 0))
            # The graph becomes a part of a model, which changes it where it stands.
            return clone(self.remaining, [value], copy_inputs=False)[1][0]

    @cached_property
    def _run(self) -> Any:
        with config.change_flags(floatX="float64", traceback__limit=0):
            rows = {p: p.type.clone(shape=(None, 1, *p.type.shape))(p.name) for p in self.remaining}
            return compiled([*rows.values()], [self._values(rows, 1)], BATCH_MODE)

    def given(self, rest: Mapping[str, Any]) -> Elimination:
        """Return the law of the finite variables for values of the rest, one a row."""
        values = [np.asarray(rest[p.name], p.dtype)[:, None] for p in self.remaining]
        with np.errstate(all="ignore"):
            (result,) = self._run(*values)
        return Elimination(self.form.plan, self.form.of(result))

    def _in_parts(self, rest: Mapping[str, Any]) -> Any:
        number = len(next(iter(rest.values())))
        most = max(1, _NUMBERS // (self.form.looks * len(self._sum.kept) + 1))
        for start in range(0, number, most):
            batch = {p.name: np.asarray(rest[p.name])[start : start + most] for p in self.remaining}
            yield min(most, number - start), self.given(batch)

    def parameters(self, rest: Mapping[str, Any], kept: float = 0.0) -> dict[str, dict[str, Array]]:
        """Return the probability of each level of each element given the rest, one a row."""
        del kept
        every = np.concatenate([law.probabilities() for _, law in self._in_parts(rest)])
        cuts = np.cumsum([s.size for s in self._finite.values()])[:-1]
        return {
            s.name: {"probability": part[..., : s.levels].reshape(-1, *s.shape, s.levels)}
            for s, part in zip(self._finite.values(), np.split(every, cuts, 1), strict=True)
        }

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Return one draw of the finite variables for each row of the rest."""
        parts = [law.sample(number, rng) for number, law in self._in_parts(rest)]
        return self._split(np.concatenate(parts))
