r"""Continuous elements integrated out of a log density that depends on a few shared variables.

An element that meets no other, given the shared variables, is integrated on nodes of its own: they
are its levels, and sums over them are those of finite variables. With the place t of a node,

.. math:: x = c + s \sinh t, \qquad
    \ln \int p \, dx \approx \ln \sum_k p(x_k) \, s \cosh t_k \, h,

where centre c and scale s are moved to where the element's conditional mass is, for each value of
the shared variables. The trapezoidal rule in t converges geometrically and reaches heavy tails;
nodes are doubled until the sum has settled, and reach further until nothing is beyond. Where that
does not come about, the density is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

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

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Elimination
from bayesmodels.numerics.node_law import Map, NodeLaw, Nodes, cell_draws
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.conditional import BATCH_MODE, LIGHT_MODE, Conditionals
from bayesmodels.posteriors.density import OneAThread, compiled, in_double, plain
from bayesmodels.posteriors.eliminate import FiniteTables
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.marginalize import Conjugate
from bayesmodels.posteriors.new_data import drawn
from bayesmodels.posteriors.remaining_model import priors, replaceable
from bayesmodels.posteriors.support import listed, one_to_one
from bayesmodels.posteriors.support.kind import Support

pt: Any = tensor  # its functions have no types

SETTLED = 1e-8
"""How much the log of a sum over nodes may change when they are doubled."""
_NUMBERS = 1_000_000  # held at a time
_FIRST, _MOST = 40, 1280  # nodes of an element
_STEP = 0.3  # of t, at most
_POWER = 1.5  # an analytic function's error is squared by a doubling; this is on the safe side
_WIDE, _PLACES = 6.0, 24  # where mass is looked for: how far in t, and on how many nodes
_PLACINGS = 30
_NEAR, _ALIKE = 0.5, 2.0  # of a scale: a centre that stays; ratio of scales that are the same
_SEEN = 1.0  # steps that a deviation has where no closer look is needed
_QUARTER, _NORMAL = 0.25, 1.349  # distance of a normal law's quartiles
_COARSE, _SHARPEST = 0.8, 0.02  # steps
_REACH = (1.5, 6.0)  # of t, to begin with
_WIDER, _FURTHEST = 1.5, 45.0
_DRAWN = 200  # from the prior
_TIMES = 3  # that a summand takes several operations
_GAP = 1e-6  # between log densities on nodes that reach further
_FINER = 2  # nodes for draws
_HEARD = 1e-13  # of the mass, where it is not negligible
_ELEMENTWISE = (LogTransform, LogExpM1, LogOddsTransform, Interval)


class LogIntegral(Op):
    """From values of the shared variables, over leading axes, to the log integral."""

    __props__ = ("marginal",)

    def __init__(self, marginal: ContinuousMarginal) -> None:
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
        outputs[0][0] = np.asarray(self.marginal.fitted(rows, number).total.reshape(lead))


@_vectorize_node.register(LogIntegral)
def _over_leading_axes(op: Any, node: Any, *inputs: Any) -> Any:  # noqa: ARG001 - its signature
    """Let several points be one node."""
    return op.make_node(*inputs)


class Fit:
    """Nodes of elements for rows of shared values: how many, their log sums, and these's errors."""

    def __init__(self, nodes: Nodes, number: NDArray[np.intp], total: Array, error: Array) -> None:
        self.nodes, self.number, self.total, self.error = nodes, number, total, error


class ContinuousMarginal:
    """Continuous variables of a model: the log density without them, and their laws given the rest.

    `reference` has centres and scales of their elements to begin with.
    """

    others: tuple[Conjugate, ...] = ()

    def __init__(
        self, conditionals: Conditionals, names: Sequence[str], rng: np.random.Generator
    ) -> None:
        density, point = conditionals.density, conditionals.somewhere(rng)
        self.endless: list[Support] = []
        self.levels: dict[str, tuple[Hashable, ...]] = {}
        self._names = listed(names)
        points = {p.name: p for p in density.points}
        model = one_to_one(conditionals.model)
        self._maps = {name: scalar_map(model, name) for name in names}
        self.probes = {name: np.asarray(point[name])[None] for name in names}
        summed = {points[name] for name in names}
        self.remaining = [p for p in density.points if p not in summed]
        self._inner = [points[name].type.clone()(name) for name in names]
        terms = [t for t in density.named.values() if summed & set(ancestors([t]))]
        with config.change_flags(floatX="float64", traceback__limit=0):
            moved, jacobians = {}, []
            for name, z in zip(names, self._inner, strict=True):
                rv, transform = model[name], model.rvs_to_transforms[model[name]]
                moved[points[name]] = z
                if transform is not None:
                    natural = transform.backward(z, *rv.owner.inputs)
                    moved[points[name]] = points[name].type.filter_variable(natural)
                    jacobians.append(transform.log_jac_det(z, *rv.owner.inputs))
            jacobians = plain(in_double(jacobians, {})) if jacobians else []
            terms = stacked([*clone_replace(terms, moved), *jacobians])
        self._at = [self._maps[n].back(np.asarray(point[n], dtype=float)) for n in names]
        rest = [np.asarray(point[p.name], p.dtype) for p in self.remaining]
        at = [*self._at, *rest]
        self._sum = Dependence([*self._inner, *self.remaining], terms, at).summands()
        with config.change_flags(floatX="float64", traceback__limit=0):
            total = compiled([*self._inner, *self.remaining], [self._sum.total])(*at)[0]
        self._constant = float(total - self._sum.values(*at).sum())
        self._sizes = [x.size for x in self._at]
        self.size = sum(self._sizes)
        self._rows: Any = csr_array(self._sum.rows[:, : self.size])
        self._parts_of = np.repeat(
            np.arange(len(self._sum.parts)), [np.size(x) for x in self._sum.run(*at)]
        )
        self._forms = dict[int, FiniteTables]()
        self._runs = dict[tuple[int, ...], OneAThread]()
        self._kinds = dict[int, list[tuple[NDArray[np.intp], NDArray[np.intp]]]]()
        self.reference = self._first(conditionals, rng)
        here = {p.name: x[None] for p, x in zip(self.remaining, rest, strict=True)}
        nodes, found = self._placed(here, 1, *self.reference)
        if not found.all():
            raise NotConjugate(f"no place was found where {self._names} have their mass.")
        self.reference = nodes.centre, nodes.scale
        self.number = int(self.fitted(here, 1).number[0])

    def _first(self, conditionals: Conditionals, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the middle and the spread of draws from the prior; a unit where there are none."""
        start = self._flat(self._at)
        self.ends = start, start
        draws = drawn([conditionals.model[n] for n in self._maps], _DRAWN, rng)
        if not draws:
            return start[None], np.ones((1, self.size))
        with np.errstate(all="ignore"):
            rows = [
                self._flat([m.back(x) for m, x in zip(self._maps.values(), row, strict=True)])
                for row in draws
            ]
            least, low, middle, high, most = np.nanquantile(rows, [0, 0.25, 0.5, 0.75, 1], axis=0)
        self.ends = least, most
        scale = np.where(np.isfinite(high - low) & (high > low), (high - low) / _NORMAL, 1.0)
        return np.where(np.isfinite(middle), middle, start)[None], scale[None]

    def _flat(self, each: Sequence[Any]) -> Array:
        return np.concatenate([np.ravel(x) for x in each]).astype(float)

    def _split(self, x: Array, after: int = 0) -> dict[str, Array]:
        """Return values by variable from an axis of elements, `after` which there are others."""
        axis = x.ndim - 1 - after
        parts = np.split(x, np.cumsum(self._sizes)[:-1], axis)
        pairs = zip(self._maps, parts, strict=True)
        return {
            n: part.reshape(*x.shape[:axis], *self.probes[n].shape[1:], *x.shape[axis + 1 :])
            for n, part in pairs
        }

    def _form(self, number: int) -> FiniteTables:
        if number not in self._forms:
            sizes = np.full(self.size, number)
            self._forms[number] = form = FiniteTables(self._rows, sizes, self._names)
            self._kinds[number] = list(form.kinds())
        return self._forms[number]

    def _values(self, rest: Mapping[str, Any], z: Array, summands: NDArray[np.intp]) -> Array:
        """Return values of summands (n, looks, summands) at coordinates z (n, looks, elements)."""
        places = self._sum.kept[summands]
        needed = tuple(map(int, np.unique(self._parts_of[places])))
        if needed not in self._runs:
            self._runs[needed] = self._compiled([self._sum.parts[i] for i in needed])
        values = [np.asarray(rest[p.name], p.dtype)[:, None] for p in self.remaining]
        with np.errstate(all="ignore"):
            each = self._runs[needed](*self._split(z).values(), *values)
        flat = [
            np.broadcast_to(x, (*z.shape[:2], *x.shape[x.ndim - n :])).reshape(*z.shape[:2], -1)
            for x, n in zip(each, (self._sum.parts[i].type.ndim for i in needed), strict=True)
        ]
        column = np.searchsorted(np.flatnonzero(np.isin(self._parts_of, needed)), places)
        joined = flat[0] if len(flat) == 1 else np.concatenate(flat, -1)
        result: Array = joined[:, :, column] * self._sum.weights[summands]
        return result

    def _compiled(self, parts: list[Any]) -> OneAThread:
        with config.change_flags(floatX="float64", traceback__limit=0):
            inner = [z.type.clone(shape=(None, None, *z.type.shape))(z.name) for z in self._inner]
            outer = [p.type.clone(shape=(None, 1, *p.type.shape))(p.name) for p in self.remaining]
            points = [*self._inner, *self.remaining]
            at: dict[Any, Any] = dict(zip(points, [*inner, *outer], strict=True))
            several: Any = vectorize_graph(parts, at)
            return OneAThread(compiled([*inner, *outer], several, BATCH_MODE))

    def _tables(self, rest: Mapping[str, Any], nodes: Nodes, number: int) -> dict[int, Array]:
        """Return tables of the density at nodes, times what a node stands for."""
        form = self._form(number)
        t, step = nodes.places(number)
        x, elements = nodes.at(t), np.arange(self.size)
        values = [
            self._values(rest, x[:, elements, levels], summands)
            for summands, levels in self._kinds[number]
        ]
        tables = dict(form.of_kinds(values))
        tables[1] = tables[1] + nodes.log_weights(t) + np.log(step)[..., None]
        # Far out numbers overflow; what is next to that must be negligible.
        tables[1][np.isnan(tables[1])] = -np.inf
        return tables

    def _each(self, number: int) -> int:
        """Return how many numbers so many nodes of one row take."""
        self._form(number)
        return sum(levels.shape[0] * len(s) for s, levels in self._kinds[number])

    @property
    def cost(self) -> int:
        """About how many numbers one row takes."""
        return _TIMES * (self._each(_PLACES) + self._each(self.number))

    def _batches(
        self, rest: Mapping[str, Any], rows: Any, number: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows, and their values, that are looked at together."""
        most = max(1, _NUMBERS // (self._each(number) + 1))
        for at in range(0, len(rows), most):
            some = rows[at : at + most]
            yield some, {p.name: np.asarray(rest[p.name])[some] for p in self.remaining}

    def _placed(
        self, rest: Mapping[str, Any], number: int, centre: Array, scale: Array
    ) -> tuple[Nodes, NDArray[np.bool_]]:
        """Return nodes where the mass of each element is, and for which rows it was found."""
        shape = (number, self.size)
        centre, scale = (np.array(np.broadcast_to(x, shape)) for x in (centre, scale))
        low, high = np.zeros(shape), np.zeros(shape)
        found, rows = np.zeros(number, dtype=bool), np.arange(number)
        for _ in range(_PLACINGS):
            left = []
            for some, values in self._batches(rest, rows, _PLACES):
                wide = np.full((len(some), self.size), _WIDE)
                nodes = Nodes(centre[some], scale[some], -wide, wide)
                tables = self._tables(values, nodes, _PLACES)
                with np.errstate(all="ignore"):
                    law = Elimination(self._form(_PLACES).plan, tables)
                    known = np.isfinite(law.log_total)
                    p = law.probabilities()
                    c, s, low[some], high[some], seen = _nearer(nodes, p)
                gap, ratio = np.abs(c - nodes.centre) / nodes.scale, s / nodes.scale
                stays = seen | (gap < _NEAR) & (ratio < _ALIKE) & (ratio > 1 / _ALIKE)
                centre[some], scale[some] = c, s
                found[some] = known & stays.all(1)
                left.append(some[known & ~stays.all(1)])
            rows = np.concatenate(left) if left else rows[:0]
            if not len(rows):
                break
        return Nodes(centre, scale, low, high), found

    def fitted(self, rest: Mapping[str, Any], number: int) -> Fit:
        """Return nodes, for each row of the rest, on which the sum has settled; else it is NaN."""
        nodes, found = self._placed(rest, number, *self.reference)
        widest = ((nodes.high - nodes.low) / _STEP).max(1)
        sizes = _FIRST * 2 ** np.ceil(np.log2(np.maximum(widest / _FIRST, 1)))
        total, error = np.full(number, np.nan), np.full(number, np.inf)
        sizes = np.where(found, sizes, _FIRST).astype(int)
        left = found.copy()
        while left.any():
            size = int(sizes[left].min())
            if size > _MOST:
                break
            for some, values in self._batches(rest, np.flatnonzero(left & (sizes == size)), size):
                own = nodes.of(some)
                logs, beyond = self._sums(values, own, size)
                off = _off(logs)
                wider = [x > SETTLED / self.size for x in beyond]
                inside = ~(wider[0] | wider[1]).any(1)
                close = inside & (off + sum(x.sum(1) for x in beyond) <= SETTLED)
                total[some], error[some] = np.where(close, logs[0], np.nan), off
                left[some] = ~close
                nodes.low[some] *= np.where(wider[0], _WIDER, 1.0)
                nodes.high[some] *= np.where(wider[1], _WIDER, 1.0)
                own = nodes.of(some)
                left[some] &= (np.maximum(-own.low, own.high) < _FURTHEST).all(1)
                needs = ((own.high - own.low) / size).max(1) > _STEP
                sizes[some] = np.where(close | ~(inside | needs), size, 2 * size)
        return Fit(nodes, sizes, total, error)

    def _sums(
        self, rest: Mapping[str, Any], nodes: Nodes, number: int
    ) -> tuple[list[Array], list[Array]]:
        """Return log sums on all nodes, on every second and every fourth; and what is beyond.

        The latter below and above, of each element, as a share of the mass.
        """
        tables, laws = self._tables(rest, nodes, number), []
        for every in (1, 2, 4):
            cut: Any = slice(None, None, every)
            fewer = {w: x[(..., *[cut] * w)] for w, x in tables.items()}
            fewer[1] = fewer[1] + np.log(every)
            laws.append(Elimination(self._form(number // every).plan, fewer))
        outside, p = self._outside(rest, nodes), laws[0].probabilities()
        logs = [law.log_total + outside for law in laws]
        step = (nodes.high - nodes.low) / number
        some = np.isfinite(tables[1])
        first, last = some.argmax(-1), number - 1 - some[..., ::-1].argmax(-1)
        ends = [np.take_along_axis(p, k[..., None], -1)[..., 0] for k in (first, last)]
        return logs, [2 * end / step for end in ends]

    def _outside(self, rest: Mapping[str, Any], nodes: Nodes) -> Array:
        """Return the sum of what none of the elements is in, and of constants."""
        alone = np.flatnonzero(self._rows.sum(1) == 0)
        if not len(alone):
            return np.full(len(nodes.centre), self._constant)
        each = self._values(rest, nodes.centre[:, None], alone)
        return np.asarray(self._constant + each[:, 0].sum(-1))

    def expression(self) -> Any:
        """Return the log marginal density, in terms of the points `rest`."""
        if not self.remaining:
            return pt.constant(self.fitted({}, 1).total[0])
        return LogIntegral(self)(*self.remaining)

    def parameters(self, rest: Mapping[str, Any], kept: float = 0.0) -> dict[str, dict[str, Array]]:
        """Return what the laws of the elements given the rest are made of, one a row."""
        del kept
        rows = _number(rest)
        fit = self.fitted(rest, rows)
        number = int(fit.number.max())
        mass = np.empty((rows, self.size, number))
        for some, values in self._batches(rest, np.arange(rows), number):
            tables = self._tables(values, fit.nodes.of(some), number)
            mass[some] = Elimination(self._form(number).plan, tables).probabilities()
        nodes = {key: self._split(x) for key, x in vars(fit.nodes).items()}
        return {
            name: {**{key: x[name] for key, x in nodes.items()}, "mass": p}
            for name, p in self._split(mass, 1).items()
        }

    def law(self, name: str, mass: Array, **nodes: Array) -> NodeLaw:
        """Return the laws of a variable's elements, from their parameters."""
        return NodeLaw(Nodes(**nodes), mass, self._maps[name])

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Array]:
        """Return one draw of the elements for each row of the rest."""
        rows = _number(rest)
        fit, z = self.fitted(rest, rows), np.empty((rows, self.size))
        number = _FINER * int(fit.number.max())
        for some, values in self._batches(rest, np.arange(rows), number):
            nodes = fit.nodes.of(some)
            logs = self._tables(values, nodes, number)[1]
            t, step = nodes.places(number)
            k, within = cell_draws(logs, rng)
            place = np.take_along_axis(t, k[..., None], -1)[..., 0] + step * within
            z[some] = nodes.at(place[..., None])[..., 0]
        return {name: self._maps[name].there(x) for name, x in self._split(z).items()}

    def off(self, rest: Mapping[str, Any]) -> float:
        """Return how far off the log integral may be at some values of the rest.

        Nodes that are closer and reach as far as the prior must tell the same.
        """
        rows = _number(rest)
        fit, off = self.fitted(rest, rows), SETTLED
        for some, values in self._batches(rest, np.arange(rows), _MOST):
            nodes = fit.nodes.of(some)
            ends = [np.arcsinh((x - nodes.centre) / nodes.scale) for x in self.ends]
            wide = Nodes(
                nodes.centre,
                nodes.scale,
                np.minimum(nodes.low, ends[0]) - 1,
                np.maximum(nodes.high, ends[1]) + 1,
            )
            logs, _ = self._sums(values, wide, _MOST)
            gap = np.abs(logs[0] - fit.total[some])
            if not (gap <= _GAP + _off(logs)).all():
                raise NotConjugate(
                    f"given the rest, {self._names} may have mass in several places: on nodes that "
                    f"reach further the log density differs by {np.max(gap):.1g}."
                )
            off = max(off, float(np.max(gap)))
        return off


def _number(rest: Mapping[str, Any]) -> int:
    return len(next(iter(rest.values())))


def _off(logs: Sequence[Array]) -> Array:
    """Return the error of log sums, of which each has half of the nodes of the one before."""
    with np.errstate(invalid="ignore"):
        last, before = np.abs(logs[0] - logs[1]), np.abs(logs[1] - logs[2])
        fast = np.minimum(before, 1.0) ** _POWER
        return np.where(np.minimum(last, 1.0) <= fast, np.minimum(last, 1.0) ** _POWER, last)


def _nearer(nodes: Nodes, p: Array) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
    """Return centre and scale of the mass on nodes, where in t it begins and ends, around these.

    And whether it is so wide that the nodes show where it is.
    """
    number = p.shape[-1]
    t, step = nodes.places(number)
    logs = np.log(p)

    def at(values: Array, k: NDArray[np.intp]) -> Array:
        return np.asarray(np.take_along_axis(values, k.clip(0, number - 1)[..., None], -1)[..., 0])

    # A parabola through the top, where it is narrower than a step.
    top = p.argmax(-1)
    here, before, after = (at(logs, top + i) for i in (0, -1, 1))
    slope, bend = (after - before) / 2, after + before - 2 * here
    shift = np.where(bend < 0, np.clip(np.nan_to_num(-slope / bend), -1, 1), 0.0)
    width = np.clip(np.nan_to_num(1 / np.sqrt(-bend), posinf=1.0, nan=1.0), _SHARPEST, 1.0)
    middle = at(t, top) + shift * step
    centre = nodes.centre + nodes.scale * np.sinh(middle)
    scale = nodes.scale * np.cosh(middle) * width * step
    # The quartiles, where it is wider.
    below = np.cumsum(p, -1) - p / 2
    quartiles = []
    for q in (_QUARTER, 0.5, 1 - _QUARTER):
        k = np.clip((below <= q).sum(-1) - 1, 0, number - 2)
        low, high = at(below, k), at(below, k + 1)
        quartiles.append(at(t, k) + step * np.clip((q - low) / (high - low), 0, 1))
    width = (quartiles[2] - quartiles[0]) / _NORMAL / step
    wide, seen = width > _COARSE, width > _SEEN
    x = [nodes.centre + nodes.scale * np.sinh(place) for place in quartiles]
    centre = np.where(wide, x[1], centre)
    scale = np.where(wide, (x[2] - x[0]) / _NORMAL, scale)
    edge = (top == 0) | (top == number - 1)
    seen &= ~edge
    centre = np.where(edge, nodes.centre + nodes.scale * np.sinh(at(t, top)), centre)
    scale = np.where(edge, nodes.scale * np.sinh(_WIDE), scale)
    heard = p > _HEARD
    first, last = heard.argmax(-1), number - 1 - heard[..., ::-1].argmax(-1)
    ends = [nodes.at((at(t, k) + i * step)[..., None])[..., 0] for k, i in ((first, -1), (last, 1))]
    low, high = (np.arcsinh((end - centre) / scale) for end in ends)
    low, high = -np.clip(-low, *_REACH), np.clip(high, *_REACH)
    return centre, scale, low, high, seen


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


def chosen(conditionals: Conditionals) -> list[str]:
    """Return variables whose elements are alone given all others, the largest first."""
    model, density = one_to_one(conditionals.model), conditionals.density
    above = priors(conditionals.model)
    meetings, columns = conditionals.meetings
    result: list[str] = []
    order = [p.name for p in density.points if np.dtype(p.dtype).kind == "f"]
    for name in sorted(order, key=lambda name: -len(columns[name])):
        below = [n for n, parents in above.items() if name in parents]
        if not all(n in result or replaceable(conditionals.supports.get(n)) for n in below):
            continue
        some = np.concatenate([columns[n] for n in (*result, name)])
        if (meetings[:, some].sum(1) > 1).any():
            continue
        try:
            scalar_map(model, name)
        except NotConjugate:
            continue
        result.append(name)
    return result if sum(len(columns[n]) for n in result) > 1 else []
