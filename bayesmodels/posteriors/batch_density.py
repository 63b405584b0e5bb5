"""A PyMC model's joint log density at many points of its unconstrained coordinates at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pymc.distributions.transforms import Interval, LogExpM1, LogOddsTransform, LogTransform
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors, applys_between
from scipy.sparse import eye_array
from scipy.special import logsumexp

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.threads import gathered
from bayesmodels.posteriors.conditional import BATCH_MODE, LIGHT_MODE, SUMS
from bayesmodels.posteriors.density import OneAThread, compiled, in_double, plain, written_in_double
from bayesmodels.posteriors.edges import Ends, cut
from bayesmodels.posteriors.factor_graph import Dependence, connected
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.new_data import drawn
from bayesmodels.posteriors.nowhere import nowhere
from bayesmodels.posteriors.rounding import NO_GRADIENT
from bayesmodels.posteriors.standard import JointlyStandard, standard_normal, standardized
from bayesmodels.posteriors.support import listed, one_to_one, refuse_integer, shaped, supports
from bayesmodels.posteriors.support.kind import Support

pt: Any = tensor  # its functions have no types

_BATCH = 300_000  # numbers of the widest array, of all points in one call: what a cache holds
_BATCH_INNER = 2_000_000  # the same, where most of them are inside of an operation
_MANY = 1_000  # operations: those of a graph without loops are about a hundred
_AT_ONCE = 6  # numbers of simple operations that cost one
_SHARE = 1e-3  # in units of which probabilities are known at least
MOST_LEVELS = 2**13
"""Configurations of finite variables that are added up."""


@dataclass(frozen=True)
class Maps:
    """A coordinate's number; from the natural value to it and back, and the slope of the first."""

    coordinate: int
    there: Callable[[Array], Array]
    back: Callable[[Array], Array]
    slope: Callable[[Array], Array]


def _same(x: Array) -> Array:
    return np.asarray(x, dtype=float)


_ELEMENTWISE = (LogTransform, LogExpM1, LogOddsTransform, Interval)


class BatchDensity:
    """The log density of a model's continuous variables, its finite ones added up.

    Points are rows of unconstrained coordinates, of which there are `size`. Beside the log density
    there are the natural values of the continuous variables, and the probabilities of the levels of
    the finite ones given them, in one row: `slices` says where each variable is. Coordinates of
    scalars with narrower `ends` than their supports end there. Operations in its graph may cost as
    much as `inner` numbers. At least so many points are evaluated `together`.
    """

    def __init__(
        self,
        natural: ModelDensity,
        ends: Ends | None = None,
        inner: int = 0,
        together: int = 1,
        standard: Sequence[str] = (),
    ) -> None:
        self.natural, model, self.ends = natural, natural.model, ends or {}
        self.inner, self._together = inner, together
        self.shapes = {rv.name: shape for _, rv, shape in shaped(model)}
        for rv in model.free_RVs:
            refuse_integer(rv)
        integers = [rv.name for rv in model.free_RVs if not rv.dtype.startswith("float")]
        self.finite = [_known(model, name) for name in integers]
        self.levels = self._levels()
        double = standardized(one_to_one(written_in_double(model)), standard)
        self._model = written = cut(double, self.ends)
        self.names = [rv.name for rv in written.free_RVs if rv.name not in integers]
        with config.change_flags(floatX="float64", traceback__limit=0):
            values = [written.rvs_to_values[rv] for rv in written.free_RVs]
            wanted = [written[name] for name in self.names]
            terms, numbers = self._terms(written), written.replace_rvs_by_values(wanted)
            total: Any = pt.sum([term.sum() for term in terms])
            as_written = plain(in_double([total, *numbers], {}))
            # What a number is a sum of belongs together: its square is no sum.
            self._apart = values, [*terms, *map(pt.sqr, numbers)]
            self.whole = values, total
            # Of one point shapes are known, and rewriting is quick.
            outputs: Any = rewrite_graph(as_written, exclude=SUMS, clone=True)
            # Points are along the first axis, configurations along the second, if there are any:
            # what depends on one of both alone is worked out once.
            each = ((None, 1), (1, None)) if integers else ((None,),)
            rows = [
                v.type.clone(shape=(*each[rv.name in integers], *v.type.shape))(v.name)
                for rv, v in zip(written.free_RVs, values, strict=True)
            ]
            every = vectorize_graph(outputs, dict(zip(values, rows, strict=True)))
            self._run = OneAThread(compiled(rows, every, BATCH_MODE))
            self._graph = rows, every[0]
        start = written.initial_point(random_seed=0)
        self._values = [(v.name, v.dtype, np.shape(start[v.name])) for v in values]
        self._is_finite = [not str(dtype).startswith("float") for _, dtype, _ in self._values]
        free = [np.ravel(start[name]) for name, dtype, _ in self._values if "float" in str(dtype)]
        whole_start = np.concatenate([np.zeros(0), *free]).astype(float)
        # At an end of a support it is infinite.
        self.start: Array = np.where(np.isfinite(whole_start), whole_start, 0.0)
        self.size = len(self.start)
        shapes = [getattr(v.type, "shape", ()) for v in ancestors(outputs)]
        sizes = [int(np.prod(shape)) for shape in shapes if None not in shape]
        self._each = max(*sizes, sum(sizes) // _AT_ONCE)
        self.slices = self._places()

    @cached_property
    def sets(self) -> list[NDArray[np.intp]]:
        """Coordinates in sets that share no summand of the log density, and no natural value."""
        if self.finite or self.size <= 1:
            return [np.arange(self.size)]
        values, terms = self._apart
        each = np.split(self.start, np.cumsum(list(self.sizes.values()))[:-1])
        at = [
            x.reshape(shape).astype(dtype)
            for x, (_, dtype, shape) in zip(each, self._values, strict=True)
        ]
        with config.change_flags(floatX="float64", traceback__limit=0):
            meetings = Dependence(values, terms, at).meetings
        return sorted(connected(meetings.T @ meetings + eye_array(self.size)), key=min)

    def _terms(self, model: pm.Model) -> list[Any]:
        """Return log terms in terms of unconstrained values, with the log Jacobians."""
        points, terms = self.natural.points, self.natural.named
        values = model.replace_rvs_by_values([model[p.name] for p in points])
        at = {p: pt.cast(v, p.dtype) for p, v in zip(points, values, strict=True)}
        moved_terms = clone_replace(list(terms.values()), at, rebuild_strict=False)
        result: dict[str, Any] = dict(zip(terms, moved_terms, strict=True))
        moved = {rv: t for rv, t in model.rvs_to_transforms.items() if t is not None}
        jacobians = [
            t.log_jac_det(model.rvs_to_values[rv], *rv.owner.inputs) for rv, t in moved.items()
        ]
        for rv, slope in zip(moved, model.replace_rvs_by_values(jacobians), strict=True):
            if isinstance(moved[rv], JointlyStandard):  # without a root, or the log of its volume
                result[rv.name] = standard_normal(model.rvs_to_values[rv])
                continue
            term = result[rv.name]
            last = tuple(range(slope.type.ndim, term.type.ndim))  # of what moves as a whole
            result[rv.name] = (term.sum(last) if last else term) + slope
        return list(result.values())

    def nowhere(self) -> NotConjugate:
        """Return why the density may be positive nowhere."""
        _, values = self.by_level(self.start[None])
        rows = self.rows(values, np.zeros(1, dtype=int))
        return nowhere(self.natural, {name: x[0] for name, x in rows.items()})

    @property
    def sizes(self) -> dict[str, int]:
        """Number of coordinates of each continuous variable."""
        free = [i for i, finite in enumerate(self._is_finite) if not finite]
        sizes = [int(np.prod(self._values[i][2], dtype=int)) for i in free]
        return dict(zip(self.names, sizes, strict=True))

    @property
    def value_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the coordinates of each continuous variable."""
        free = [i for i, finite in enumerate(self._is_finite) if not finite]
        return {name: self._values[i][2] for name, i in zip(self.names, free, strict=True)}

    @property
    def cost(self) -> int:
        """About how many numbers a point costs."""
        return (self._each + self.inner) * len(self.levels)

    def costing(self, inner: int) -> BatchDensity:
        """Return the same density, whose operations cost something else."""
        result = copy(self)
        result.inner = inner
        return result

    @property
    def coordinate_names(self) -> list[str]:
        """The variable of each coordinate."""
        return [name for name, size in self.sizes.items() for _ in range(size)]

    def rows(self, natural: Array, chosen: NDArray[np.intp]) -> dict[str, Any]:
        """Return values of all variables, by name: of each point with one configuration."""
        result: dict[str, Any] = {
            name: natural[:, self.slices[name]].reshape(len(natural), *self.shapes[name])
            for name in self.names
        }
        for k, s in enumerate(self.finite):
            result[s.name] = np.stack([row[k] for row in self.levels])[chosen]
        return result or {"": np.zeros(len(natural))}  # which says how many there are

    def maps(self, name: str, element: int) -> Maps:
        """Return how one scalar depends on a coordinate of its own, where it does."""
        model, rv = self._model, self._model[name]
        transform = model.rvs_to_transforms[rv]
        start = list(self.sizes).index(name)
        coordinate = sum(list(self.sizes.values())[:start]) + element
        if transform is None:
            return Maps(coordinate, _same, _same, np.ones_like)
        size = int(np.prod(self.shapes[name], dtype=int))
        inputs = list(rv.owner.inputs)
        free: set[Any] = set(model.free_RVs) & set(ancestors(inputs))
        if size != self.sizes[name] or free or not isinstance(transform, _ELEMENTWISE):
            raise NotConjugate(
                f"{name}: its elements depend on several coordinates ({type(transform).__name__}), "
                "and there is no law of each of them here: read mean() and var(), or sample()."
            )
        with config.change_flags(floatX="float64", traceback__limit=0):
            x = pt.tensor("x", dtype="float64", shape=(None, *self.shapes[name]))
            there, back = transform.forward(x, *inputs), transform.backward(x, *inputs)
            slope = transform.log_jac_det(x, *inputs)
            run = compiled([x], plain(in_double([there, back, slope], {})), LIGHT_MODE)

        def at(which: int) -> Callable[[Array], Array]:
            def of(t: Array) -> Array:
                t = np.asarray(t, dtype=float)
                rows = np.repeat(t.reshape(-1, 1), size, 1).reshape(-1, *self.shapes[name])
                with np.errstate(all="ignore"):
                    result = np.asarray(run(rows)[which])
                return result.reshape(len(rows), -1)[:, element].reshape(t.shape)

            return of

        forward, backward, jacobian = at(0), at(1), at(2)
        return Maps(coordinate, forward, backward, lambda t: np.exp(-jacobian(forward(t))))

    def prior(self, number: int, rng: np.random.Generator) -> Array:
        """Return points drawn from the prior; none if there is no way to draw from it."""
        model, values = self._model, []
        for rv in map(model.__getitem__, self.names):
            transform = model.rvs_to_transforms[rv]
            values.append(transform.forward(rv, *rv.owner.inputs) if transform else rv)
        rows = [np.concatenate([*map(np.ravel, x)]) for x in drawn(values, number, rng)]
        points = np.reshape(np.array(rows, dtype=float), (len(rows), self.size))
        return points[np.isfinite(points).all(1)]

    def _levels(self) -> list[list[Any]]:
        """Return every configuration of the finite variables."""
        sizes = [float(s.levels) ** s.size for s in self.finite]
        if np.prod(sizes) > MOST_LEVELS:
            raise NotConjugate(
                f"{listed(s.name for s in self.finite)}: {np.prod(sizes):.3g} configurations; "
                f"at most {MOST_LEVELS} are added up."
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

    @property
    def least(self) -> Array:
        """Units of the numbers: those of probabilities are not next to nothing where these are."""
        result = np.zeros(max((s.stop for s in self.slices.values()), default=0))
        for s in self.finite:
            result[self.slices[s.name]] = _SHARE
        return result

    @cached_property
    def _slopes(self) -> Any:
        """The function of log densities and slopes; None where some operation has no derivative."""
        rows, logs = self._graph
        free = [v for v, finite in zip(rows, self._is_finite, strict=True) if not finite]
        with config.change_flags(floatX="float64", traceback__limit=0):
            total = pt.logsumexp(logs, axis=1) if self.finite else logs
            try:
                return compiled(rows, [total, *pt.grad(total.sum(), free)], BATCH_MODE)
            except NO_GRADIENT:
                return None

    @property
    def has_slopes(self) -> bool:
        """Whether slopes are to be had, and sooner than differences.

        Of as many operations as unrolled steps of an equation have, compiling takes minutes, and a
        call as long as values at some points.
        """
        rows, logs = self._graph
        operations = len(list(applys_between(rows, [logs])))
        return operations <= _MANY and self._slopes is not None

    def slope(self, x: Array) -> tuple[float, Array]:
        """Return log density and slope at a point (d)."""
        inputs, _ = self._inputs(x[None])
        log, *parts = self._slopes(*inputs)
        return float(np.ravel(log)[0]), np.concatenate([np.ravel(part) for part in parts])

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """Return log densities (n) and numbers (n, k) at points (n, d)."""
        return self._joined(points, lambda piece: self._added_up(*self._some(piece)))

    def _added_up(self, each: Array, natural: Array) -> tuple[Array, Array]:
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
            columns.append(share @ of_level.reshape(len(values), -1).astype(float))
        return total, np.concatenate(columns, 1)

    def by_level(self, points: Array) -> tuple[Array, Array]:
        """Return log densities (n, configurations), and natural values (n, k)."""
        return self._joined(points, self._some)

    def _joined(
        self, points: Array, run: Callable[[Array], tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        """Return what some points after the other give, on several threads if there are many."""
        batch = max(self._together, (_BATCH_INNER if self.inner else _BATCH) // self.cost)
        pieces = [points[at : at + batch] for at in range(0, len(points), batch)]
        result = zip(*gathered(run, pieces, len(points) * self.cost), strict=True)
        logs, numbers = map(np.concatenate, result)
        return logs, numbers

    def _inputs(self, points: Array) -> tuple[list[Any], tuple[int, ...]]:
        """Return the graph's inputs at points, all configurations along a second axis."""
        n, configurations = len(points), len(self.levels)
        inputs, at, finite = [], 0, iter(zip(*self.levels, strict=True))
        lead, size = ((n, 1), (n, configurations)) if self.finite else ((n,), (n,))
        for (_, dtype, shape), is_finite in zip(self._values, self._is_finite, strict=True):
            if is_finite:
                value = np.stack(next(finite))[None]
            else:
                width = int(np.prod(shape, dtype=int))
                value = points[:, at : at + width].reshape((*lead, *shape))
                at += width
            with np.errstate(over="ignore"):  # beyond single precision is infinite
                inputs.append(value.astype(dtype))
        return inputs, size

    def _some(self, points: Array) -> tuple[Array, Array]:
        n, configurations = len(points), len(self.levels)
        inputs, size = self._inputs(points)
        logs, *parts = self._evaluated(inputs, size)
        logs = np.where(logs == np.inf, np.nan, logs).reshape(n, configurations)
        flat = [(p[:, 0] if self.finite else p).reshape(n, -1) for p in parts]
        return logs.astype(float), np.concatenate([np.zeros((n, 0)), *flat], 1)

    def _evaluated(self, inputs: list[Any], size: tuple[int, ...]) -> list[Any]:
        """Return log densities and natural values, NaN where a matrix has no inverse."""
        shapes = [(*size, *shape) for shape in [(), *(self.shapes[name] for name in self.names)]]
        try:
            with np.errstate(all="ignore"):  # what is not finite is looked at by the caller
                result = self._run(*inputs)
        except np.linalg.LinAlgError:
            if max(size) == 1:
                return [np.full(shape, np.nan) for shape in shapes]
            axis = int(size[0] == 1)
            halves = [
                self._evaluated(
                    [x.take(half, axis) if x.shape[axis] > 1 else x for x in inputs],
                    (*size[:axis], len(half), *size[axis + 1 :]),
                )
                for half in np.array_split(np.arange(size[axis]), 2)
            ]
            return [np.concatenate(pair, axis) for pair in zip(*halves, strict=True)]
        return [np.broadcast_to(x, shape) for x, shape in zip(result, shapes, strict=True)]


def _known(model: pm.Model, name: str) -> Support:
    for s in supports(model, all_known=False):
        if s.name == name and s.finite:
            return s
    supports(model)  # which says what is unknown
    raise NotConjugate(f"{name} is a whole number without a known range.")
