"""Elements of continuous variables of a model: the summands they are in, at any of their values.

What is eliminated on nodes is evaluated here: for rows of the shared variables, and for many looks
at the elements in each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pymc.distributions.transforms import Interval, LogExpM1, LogOddsTransform, LogTransform
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import _vectorize_node, clone_replace, vectorize_graph
from pytensor.graph.traversal import ancestors
from scipy.sparse import csr_array

from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.node_law import Map, NodeLaw, Nodes
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.alike_elements import AlikeElements
from bayesmodels.posteriors.conditional import BATCH_MODE, LIGHT_MODE, Conditionals
from bayesmodels.posteriors.density import OneAThread, compiled, in_double, plain
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.new_data import drawn
from bayesmodels.posteriors.support import listed, one_to_one

pt: Any = tensor  # its functions have no types

_NORMAL = 1.349  # distance of a normal law's quartiles
_ELEMENTWISE = (LogTransform, LogExpM1, LogOddsTransform, Interval)


class Marginal(Protocol):
    """What integrates elements out: log integrals for rows of the variables that remain."""

    remaining: list[Any]

    def logs(self, rest: Mapping[str, Any], number: int) -> Array:
        """Return log integrals for so many rows."""


class LogIntegral(Op):
    """From values of the shared variables, over leading axes, to the log integral."""

    __props__ = ("marginal",)

    def __init__(self, marginal: Marginal) -> None:
        self.marginal = marginal

    def make_node(self, *inputs: Any) -> Any:
        """Return the node; called by PyTensor."""
        tensors = [pt.as_tensor_variable(x) for x in inputs]
        ndims = [p.type.ndim for p in self.marginal.remaining]
        axes = max([0, *(x.type.ndim - n for x, n in zip(tensors, ndims, strict=True))])
        return Apply(self, tensors, [pt.tensor(dtype="float64", shape=(None,) * axes)])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:  # noqa: ARG002 - its signature
        """Evaluate in Python."""
        points = self.marginal.remaining
        cores = [x.shape[x.ndim - p.type.ndim :] for x, p in zip(inputs, points, strict=True)]
        pairs = list(zip(inputs, cores, strict=True))
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - len(core)] for x, core in pairs))
        number = int(np.prod(lead, dtype=int))
        rows = {
            p.name: np.broadcast_to(x, (*lead, *core)).reshape(number, *core)
            for p, (x, core) in zip(points, pairs, strict=True)
        }
        outputs[0][0] = np.asarray(self.marginal.logs(rows, number).reshape(lead))


@_vectorize_node.register(LogIntegral)
def _over_leading_axes(op: Any, node: Any, *inputs: Any) -> Any:  # noqa: ARG001 - its signature
    """Let several points be one node."""
    return op.make_node(*inputs)


class Prior(NamedTuple):
    """Where elements are before the data: middles and spreads of draws, and their ends."""

    middle: Array
    scale: Array
    ends: tuple[Array, Array]


class _Part(NamedTuple):
    """Elements of a part of the graph with weights, and numbers they are added to."""

    chosen: NDArray[np.intp]
    weights: Array
    to: NDArray[np.intp]
    ndim: int


@threaded
def _add(
    values: Array, chosen: NDArray[Any], weights: Array, to: NDArray[Any], total: Array
) -> None:
    """Add some of the values (n, looks, k), times their weights, to numbers of the total."""
    for row in range(total.shape[0]):
        for look in range(total.shape[1]):
            for j in range(len(chosen)):
                total[row, look, to[j]] += weights[j] * values[row, look, chosen[j]]


class Sums(NamedTuple):
    """How summands are added up, so that there are `size` numbers."""

    run: Any  # a function, if there are parts
    parts: list[_Part]
    size: int


class ElementSummands:
    """Summands of a log density that elements of some variables are in.

    Elements are in coordinates of their own, whose `maps` lead to them. Those that are alike are
    evaluated once: each is `of` a class, `rows` has the first of each class that is in a summand,
    in a sparse matrix, `times` how many there are; `which` is its place among the classes of a
    variable. `here` is a possible value of what remains, in one row.
    """

    def __init__(
        self, conditionals: Conditionals, names: Sequence[str], rng: np.random.Generator
    ) -> None:
        density, point = conditionals.density, conditionals.somewhere(rng)
        self.names = listed(names)
        points = {p.name: p for p in density.points}
        model = one_to_one(conditionals.model)
        self.maps = {name: scalar_map(model, name) for name in names}
        self.probes = {name: np.asarray(point[name])[None] for name in names}
        summed = {points[name] for name in names}
        self.remaining = [p for p in density.points if p not in summed]
        self._at = [self.maps[n].back(np.asarray(point[n], dtype=float)) for n in names]
        self._sizes = [x.size for x in self._at]
        self.size = sum(self._sizes)
        every: Any = pt.vector("elements", dtype="float64", shape=(self.size,))
        kinds = np.repeat(np.arange(len(names)), self._sizes)
        terms = [t for t in density.named.values() if summed & set(ancestors([t]))]
        with config.change_flags(floatX="float64", traceback__limit=0):
            moved, jacobians = {}, []
            for i, (name, x) in enumerate(zip(names, self._at, strict=True)):
                start = int(np.searchsorted(kinds, i))
                z = every[start : start + x.size].reshape(x.shape)
                rv, transform = model[name], model.rvs_to_transforms[model[name]]
                moved[points[name]] = z
                if transform is not None:
                    natural = transform.backward(z, *rv.owner.inputs)
                    moved[points[name]] = points[name].type.filter_variable(natural)
                    jacobians.append(transform.log_jac_det(z, *rv.owner.inputs))
            jacobians = plain(in_double(jacobians, {})) if jacobians else []
            terms = stacked([*clone_replace(terms, moved), *jacobians])
        rest = [np.asarray(point[p.name], p.dtype) for p in self.remaining]
        self.here = {p.name: x[None] for p, x in zip(self.remaining, rest, strict=True)}
        graph = Dependence([every, *self.remaining], terms, [self._flat(self._at), *rest])
        self._sum = graph.summands()
        alike = AlikeElements(graph, self._sum, kinds)
        self._inner, number = every, len(alike.first)
        if number < self.size:
            self._inner = pt.vector("elements", dtype="float64", shape=(number,))
            self._sum = alike.cut(self._inner)
        self.of, self._first, self.times = alike.of, alike.first, np.bincount(alike.of)
        each = self._split(alike.of).items()
        self.which = {n: of - of.min() for n, of in each if of.size > len(np.unique(of))}
        self.rows: Any = csr_array(self._sum.rows[:, :number])
        self._parts_of = np.repeat(np.arange(len(self._sum.parts)), self._sum.sizes)
        self._runs = dict[tuple[int, ...], OneAThread]()

    def prior(self, conditionals: Conditionals, rng: np.random.Generator, number: int) -> Prior:
        """Return middles and spreads of draws from the prior, units where there are none."""
        start, first = self._flat(self._at), self._first
        draws = drawn([conditionals.model[n] for n in self.maps], number, rng)
        if not draws:
            start = start[first]
            return Prior(start[None], np.ones((1, len(first))), (start, start))
        with np.errstate(all="ignore"):
            rows = [
                self._flat([m.back(x) for m, x in zip(self.maps.values(), row, strict=True)])
                for row in draws
            ]
            least, low, middle, high, most = np.nanquantile(rows, [0, 0.25, 0.5, 0.75, 1], axis=0)
        scale = np.where(np.isfinite(high - low) & (high > low), (high - low) / _NORMAL, 1.0)
        middle = np.where(np.isfinite(middle), middle, start)
        return Prior(middle[None, first], scale[None, first], (least[first], most[first]))

    def _flat(self, each: Sequence[Any]) -> Array:
        return np.concatenate([np.ravel(x) for x in each]).astype(float)

    def _split(self, x: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return values by variable from a last axis of elements."""
        parts = np.split(x, np.cumsum(self._sizes)[:-1], -1)
        pairs = zip(self.probes.items(), parts, strict=True)
        return {n: part.reshape((*x.shape[:-1], *probe.shape[1:])) for (n, probe), part in pairs}

    def sums(self, summands: NDArray[np.intp], to: NDArray[np.intp], size: int) -> Sums:
        """Return how some summands are evaluated and added up: each `to` one of so many numbers."""
        places = self._sum.kept[summands]
        needed = tuple(map(int, np.unique(self._parts_of[places])))
        if needed and needed not in self._runs:
            self._runs[needed] = self._compiled([self._sum.parts[i] for i in needed])
        parts = []
        for i in needed:
            own = np.flatnonzero(self._parts_of[places] == i)
            chosen = places[own] - np.searchsorted(self._parts_of, i)
            weights, ndim = self._sum.weights[summands[own]], self._sum.parts[i].type.ndim
            parts.append(_Part(chosen, weights, to[own], ndim))
        return Sums(self._runs.get(needed), parts, size)

    @np.errstate(all="ignore")
    def added(self, rest: Mapping[str, Any], z: Array, sums: Sums) -> Array:
        """Return sums of summands, (n, looks, size), at z (n, looks, elements that differ)."""
        values = [np.asarray(rest[p.name], p.dtype)[:, None] for p in self.remaining]
        each = sums.run(z, *values)
        result = np.zeros((*z.shape[:2], sums.size))
        for x, part in zip(each, sums.parts, strict=True):
            core = x.shape[x.ndim - part.ndim :]
            flat = np.broadcast_to(x, (*z.shape[:2], *core)).reshape(*z.shape[:2], math.prod(core))
            _add(flat, part.chosen, part.weights, part.to, result)
        return result

    def _compiled(self, parts: list[Any]) -> OneAThread:
        with config.change_flags(floatX="float64", traceback__limit=0):
            z = self._inner
            inner = z.type.clone(shape=(None, None, *z.type.shape))(z.name)
            outer = [p.type.clone(shape=(None, 1, *p.type.shape))(p.name) for p in self.remaining]
            at: dict[Any, Any] = {z: inner, **dict(zip(self.remaining, outer, strict=True))}
            several: Any = vectorize_graph(plain(parts), at)
            return OneAThread(compiled([inner, *outer], several, BATCH_MODE))

    def outside(self, rest: Mapping[str, Any], z: Array) -> Array:
        """Return the sum of what none of the elements is in, and of constants."""
        if not self._outer.parts:
            return np.full(len(z), self._sum.constant)
        return np.asarray(self._sum.constant + self.added(rest, z[:, None], self._outer)[:, 0, 0])

    @cached_property
    def _outer(self) -> Sums:
        """What none of the elements is in."""
        alone = np.flatnonzero(self.rows.sum(1) == 0)
        return self.sums(alone, 0 * alone, 1)

    def expression(self, marginal: Marginal) -> Any:
        """Return a log marginal density, in terms of the points that remain."""
        if not self.remaining:
            return pt.constant(marginal.logs({}, 1)[0])
        return LogIntegral(marginal)(*self.remaining)

    def law(self, name: str, mass: Array, **nodes: Array) -> NodeLaw:
        """Return the laws of a variable's elements, from what they are made of."""
        return NodeLaw(Nodes(**nodes), mass, self.maps[name])

    def laws(self, nodes: Nodes, mass: Array) -> dict[str, dict[str, Array]]:
        """Return what laws are made of, by variable, from nodes (n, elements that differ) and mass.

        Of a variable with elements that are alike they are in a row, and `which` says whose.
        """
        result, parts = {}, {**vars(nodes), "mass": mass}
        for name, of in self._split(self.of).items():
            own, shape = slice(of.min(), of.max() + 1), (-1,) if name in self.which else of.shape
            result[name] = {
                key: x[:, own].reshape(len(x), *shape, *x.shape[2:]) for key, x in parts.items()
            }
        return result

    def settled(self, total: Array) -> None:
        """Refuse rows of which the log integral is not known."""
        lost = ~np.isfinite(total)
        if lost.any():
            raise DataError(
                f"rest: at {int(lost.sum()):,} of {len(lost):,} draws (the first is number "
                f"{int(lost.argmax())}) the law of {self.names} is not known: sums over it do not "
                "settle. Leave these draws out."
            )

    def natural(self, z: Array) -> dict[str, Array]:
        """Return the variables' values at coordinates (n, elements)."""
        return {name: self.maps[name].there(x) for name, x in self._split(z).items()}


def scalar_map(model: Any, name: str) -> Map:
    """Return how the elements of a variable depend on coordinates of their own, all alike."""
    rv, transform = model[name], model.rvs_to_transforms[model[name]]
    if transform is None:
        same: Callable[[Array], Array] = np.asarray
        return Map(same, same, np.ones_like)
    if not isinstance(transform, _ELEMENTWISE):
        raise NotConjugate(f"{name}: its elements depend on several coordinates.")
    with config.change_flags(floatX="float64", traceback__limit=0):
        x = pt.vector("x", dtype="float64")
        inputs = rv.owner.inputs
        results = [
            transform.backward(x, *inputs),
            transform.forward(x, *inputs),
            transform.log_jac_det(x, *inputs),
        ]
        if set(model.free_RVs) & set(ancestors(results)) or any(v.ndim != 1 for v in results):
            raise NotConjugate(f"{name}: the limits of its elements are not all the same numbers.")
        run = compiled([x], plain(in_double(results, {})), LIGHT_MODE)

    def of(which: int) -> Callable[[Array], Array]:
        def at(x: Array) -> Array:
            x = np.asarray(x, dtype=float)
            with np.errstate(all="ignore"):
                return np.asarray(run(np.ravel(x))[which]).reshape(x.shape)

        return at

    there, back, log_slope = map(of, range(3))
    return Map(there, back, lambda z: np.exp(log_slope(z)))
