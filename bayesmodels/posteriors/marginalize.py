r"""The density of a model with a conjugate block integrated out, as a graph of the other variables.

Given the rest :math:`\phi`, the log density of a normal block w is a parabola around any centre,

.. math:: L(w, \phi) = c + h^\top (w - w_0) - \tfrac12 (w - w_0)^\top P (w - w_0), \qquad
    \ln \int e^L \, dw = L(w_0 + P^{-1} h, \phi) - \tfrac12 \ln |P| + \tfrac p2 \ln 2 \pi,

where h is the slope at the centre, and a column of P is how much the slope falls along one element.
The top is evaluated where it is: at the centre, c is as huge as what had to be added to it.
The parameters of Beta, Dirichlet and Gamma variables x are read off their slopes at two points, and

.. math:: \ln \int e^L \, dx = L(x_1, \phi) - \ln q(x_1 \mid \phi).

All slopes are derivatives of the model's own graph, evaluated at a few values of the block at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor import tensor
from pytensor.configdefaults import config
from pytensor.gradient import grad
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.traversal import ancestors

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import Family
from bayesmodels.numerics.sparse_cholesky import KEPT, SparsePrecision
from bayesmodels.numerics.special import HALF_LOG_2PI
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.conditional import BATCH_MODE, Conditionals
from bayesmodels.posteriors.density import EPS, add, compiled, folded, merged
from bayesmodels.posteriors.families import Factor, Gaussian, Independent
from bayesmodels.posteriors.normal_integral import Held, NormalIntegral
from bayesmodels.posteriors.separable import separated
from bayesmodels.posteriors.support.kind import Support, split
from bayesmodels.posteriors.zero_sum import ZeroSum, elements

pt: Any = tensor  # its functions have no types

_WORTH = 300  # evaluations that have to be saved by one more part of the graph
_NUMBERS = 200_000  # held at a time for conditional draws: what a processor's cache holds


_TENSORS = SimpleNamespace(
    log=pt.log,
    gammaln=pt.gammaln,
    betaln=lambda a, b: pt.gammaln(a) + pt.gammaln(b) - pt.gammaln(a + b),
)
"""What a family's log normaliser is made of, for tensors."""


@dataclass(frozen=True, eq=False)
class NormalGroup:
    """Variables that are jointly normal given the rest.

    `precision` says how theirs is read off slopes around `centre`, and factored. Of `zero_sums`
    these are the coordinates.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    precision: SparsePrecision
    centre: Array
    zero_sums: dict[str, ZeroSum]

    def split(self, x: Array) -> dict[str, Array]:
        """Return rows of elements by variable."""
        return split(x, dict(zip(self.names, self.shapes, strict=True)))

    def values(self, x: Array) -> dict[str, Array]:
        """Return rows by variable, with the elements of those that sum to zero."""
        return elements(self.zero_sums, self.split(x))

    def sd(self, slopes: Array) -> dict[str, Array]:
        """Return standard deviations, as `values` does, for each row of slopes."""
        result = self.split(self.precision.sd(slopes))
        size = self.precision.size
        places = self.split(np.arange(size, dtype=float))
        for name, zero_sum in self.zero_sums.items():
            matrix = zero_sum.matrix(int(places[name].flat[0]), size).toarray()
            result[name] = self.precision.sd_of(matrix, slopes).reshape(-1, *zero_sum.shape)
        return result

    def probes(self) -> dict[str, Array]:
        """Return the points at which the slopes are looked at."""
        moves = self.precision.probes()
        return self.split(self.centre + np.vstack([0 * self.centre, moves]))


@dataclass(frozen=True, eq=False)
class Conjugate:
    """A variable whose elements (or rows, of simplexes) are independent given the rest.

    Their slopes are looked at at two points.
    """

    name: str
    family: Family
    first: Array
    second: Array

    def parameters(self, one: Any, two: Any) -> tuple[Any, ...]:
        """Return the parameters, from the slopes at the two points: arrays or tensors."""
        x, z, family = self.first, self.second, self.family
        here, there = family.on.slope(x) * one, family.on.slope(z) * two
        if not family.adds_up:  # natural parameters times the slopes of two statistics
            (a, b), (c, d) = family.slopes(x), family.slopes(z)
            size = a * d - b * c
            return family.usual((d * here - b * there) / size, (a * there - c * here) / size)
        here = here - x * here.sum(-1, keepdims=True)
        there = there - z * there.sum(-1, keepdims=True)
        gap = (z - x) / ((z - x) ** 2).sum(-1, keepdims=True)
        return family.usual(here + x * ((here - there) * gap).sum(-1, keepdims=True))

    def log_density(self, parameters: Sequence[Any]) -> Any:
        """Return the conditional log density at the first point, as a graph."""
        return self.family.log_density(self.first, parameters, _TENSORS).sum()

    def law(self, elements: NDArray[np.intp], parameters: Sequence[Array]) -> Independent:
        """Return the law of some elements with parameters of any shape."""
        last = self.first.shape[-1] if self.family.adds_up else 0
        shape = (-1, last) if last else (-1,)
        return Independent(elements, self.family, tuple(x.reshape(shape) for x in parameters))


@dataclass(frozen=True, eq=False)
class _Part:
    """Terms, the variables they depend on, at which probes they differ, and which they are at."""

    terms: list[Any]
    names: list[str]
    first: NDArray[np.intp]
    which: NDArray[np.intp]


class Marginal:
    """A conjugate block: its log marginal density as a graph, and its law given the rest."""

    cost = 0  # of what no array of the graph shows

    def __init__(
        self,
        conditionals: Conditionals,
        normals: NormalGroup | None,
        others: Sequence[Conjugate],
    ) -> None:
        self.normals, self.others = normals, tuple(others)
        self.levels: dict[str, tuple[Hashable, ...]] = {}
        self.endless: list[Support] = []
        probes = normals.probes() if normals else {}
        number = max([2, *map(len, probes.values())])
        for name, x in probes.items():
            probes[name] = np.concatenate([x, np.repeat(x[:1], number - len(x), 0)])
        for one in self.others:
            rest = np.repeat(one.first[None], number - 2, 0)
            probes[one.name] = np.concatenate([[one.first], [one.second], rest])
        self.probes = probes
        self._number = number
        self._points = {point.name: point for point in conditionals.density.points}
        integrated = {self._points[name] for name in probes}
        self._terms = stacked(
            [t for t in conditionals.density.named.values() if integrated & set(ancestors([t]))]
        )
        self._parts = self._divided()
        self.remaining = [point for point in conditionals.density.points if point not in integrated]

    def _divided(self) -> list[_Part]:
        """Put terms apart that are the same at several probes, if that saves evaluations."""
        dependent: list[Any] = []
        parts = []
        for term in self._terms:
            above = set(ancestors([term]))
            names = [name for name in self.probes if self._points[name] in above]
            rows = [self.probes[name].reshape(self._number, -1) for name in names]
            _, first, which = np.unique(
                np.concatenate(rows, -1), axis=0, return_index=True, return_inverse=True
            )
            if (self._number - len(first)) * _size(term) > _WORTH:
                parts.append(_Part([term], names, first, which.ravel()))
            else:
                dependent.append(term)
        if dependent:
            every = np.arange(self._number)
            above = set(ancestors(dependent))
            names = [name for name in self.probes if self._points[name] in above]
            parts.append(_Part(dependent, names, every, every))
        return parts

    def _graph(
        self, rest: Mapping[Any, Any], batch: tuple[None, ...]
    ) -> tuple[dict[Any, Array], Any, dict[str, Any]]:
        """Return the graph's inputs for the probes with their values, log density and slopes.

        `rest` has what takes the place of points, `batch` the axes before that of the probes.
        """
        inputs: dict[Any, Array] = {}
        values: list[Any] = []
        slopes: dict[str, list[Any]] = {name: [] for name in self.probes}
        for part in self._parts:
            probes = {}
            for name in part.names:
                x = self.probes[name][part.first]
                probes[name] = pt.tensor(dtype="float64", shape=(*batch, *x.shape))
                inputs[probes[name]] = x
            replaced: Any = {self._points[name]: probe for name, probe in probes.items()}
            total = add([term.sum() for term in part.terms])
            several: Any = vectorize_graph(total, {**rest, **replaced})
            values.append(several[..., part.which[0]])
            # Of a variable whose shape alone is in a term, the slopes are zero.
            by = list(probes.values())
            result: Any = grad(several.sum(), by, disconnected_inputs="ignore")
            for name, slope in zip(part.names, result, strict=True):
                same = len(part.first) == self._number
                at = (slice(None),) * len(batch)
                slopes[name].append(slope if same else slope[(*at, part.which)])
        return inputs, add(values), {name: add(each) for name, each in slopes.items()}

    @cached_property
    def _at_probes(self) -> tuple[Any, dict[str, Any], bool]:
        """Log density and slopes at the probes, in terms of `rest`; and whether rows are in them.

        Where they can be separated, rows are not.
        """
        with config.change_flags(floatX="float64", traceback__limit=0):
            inputs, value, slopes = self._graph({}, ())
            constants: Any = {probe: pt.constant(x) for probe, x in inputs.items()}
            value, *result = merged(clone_replace([value, *slopes.values()], constants))
            parts = [separated(v, self.remaining) for v in result]
            first = [one if two is None else two for one, two in zip(result, parts, strict=True)]
            by_name = dict(zip(slopes, folded(first, self.remaining), strict=True))
            return value, by_name, any(v is None for v in parts)

    def _separated(self, v: Any) -> Any:
        """Return an expression in terms of `rest`, separated if it can be."""
        result = separated(v, self.remaining)
        return v if result is None else result

    def expression(self) -> Any:
        """Return the log marginal density, in terms of the points `rest`."""
        with config.change_flags(floatX="float64", traceback__limit=0):
            value, by_name, _ = self._at_probes
            if self.normals:
                n = self.normals
                form = [pt.constant(x) for x in n.precision.form]
                both: Any = NormalIntegral()(self._separated(self._flat(by_name)), *form)
                size = n.precision.size
                mean: Any = pt.tensor(dtype="float64", shape=(size,))
                top: Any = self._separated(self._at_top(mean))
                held: Any = Held()(both[:size])
                top = clone_replace(top, {mean: n.centre + held})
                value = top - both[-1] + size * HALF_LOG_2PI
            for one in self.others:
                slope = by_name[one.name]
                density = one.log_density(one.parameters(slope[0], slope[1]))
                # What it is taken from is as large: of huge parameters no digits are left.
                value = pt.switch(EPS * pt.abs(density) < 1, value - density, np.nan)
            return merged(folded([value], self.remaining))[0]

    def _at_top(self, mean: Any) -> Any:
        """Return the log density where normal elements are in one row, others at their first."""
        assert self.normals is not None  # noqa: S101 - the caller asks
        places: dict[str, Any] = {one.name: pt.constant(one.first) for one in self.others}
        at = 0
        for name, shape in zip(self.normals.names, self.normals.shapes, strict=True):
            size = int(np.prod(shape, dtype=int))
            places[name] = mean[at : at + size].reshape(shape)
            at += size
        replaced: Any = {self._points[name]: x for name, x in places.items()}
        total: Any = add([term.sum() for term in self._terms])
        return clone_replace(total, replaced)

    def _flat(self, slopes: Mapping[str, Any]) -> Any:
        """Return the slopes of normal elements in one row a probe."""
        assert self.normals is not None  # noqa: S101 - the callers ask
        number = 1 + len(self.normals.precision.probes())
        parts = [slopes[name] for name in self.normals.names]
        if isinstance(parts[0], np.ndarray):
            flat = [part[:, :number].reshape((len(part), number, -1)) for part in parts]
            return np.ascontiguousarray(np.concatenate(flat, -1))
        flat = [
            part[:number].reshape((number, int(np.prod(shape, dtype=int))))
            for part, shape in zip(parts, self.normals.shapes, strict=True)
        ]
        return flat[0] if len(flat) == 1 else pt.concatenate(flat, -1)

    @cached_property
    def _run(self) -> Any:
        """A function from values of the rest, one a row, and probes to slopes; and the probes."""
        _, by_name, with_rows = self._at_probes
        within = (1,) if with_rows else ()
        with config.change_flags(floatX="float64", traceback__limit=0):
            rows = {
                p: p.type.clone(shape=(None, *within, *p.type.shape))(p.name)
                for p in self.remaining
            }
            inputs: dict[Any, Array] = {}
            if with_rows:
                inputs, _, by_name = self._graph(rows, (None,))
            else:
                vectorized: Any = vectorize_graph(list(by_name.values()), rows)
                by_name = dict(zip(by_name, vectorized, strict=True))
            run = compiled([*rows.values(), *inputs], list(by_name.values()), BATCH_MODE)
        return run, list(inputs.values())

    def slopes(self, rest: Mapping[str, Any]) -> dict[str, Array]:
        """Return slopes at all probes, by variable, for values of the rest, one a row."""
        number = len(next(iter(rest.values())))
        run, inputs = self._run
        widths = map(_size, self._terms) if inputs else (x[0].size for x in self.probes.values())
        most = max(1, _NUMBERS // (self._number * max(sum(widths), 1)))
        result = []
        for at in range(0, number, most):
            some = slice(at, min(at + most, number))
            values = [np.asarray(rest[p.name], p.dtype)[some] for p in self.remaining]
            count = some.stop - some.start
            if inputs:
                values = [x[:, None] for x in values]
            result.append(run(*values, *(np.repeat(x[None], count, 0) for x in inputs)))
        parts = [np.concatenate(part) for part in zip(*result, strict=True)]
        return dict(zip(self.probes, parts, strict=True))

    def _others(self, slopes: Mapping[str, Array]) -> Iterator[tuple[Conjugate, tuple[Array, ...]]]:
        """Yield variables that are not normal, with the parameters of their laws, one a row."""
        for one in self.others:
            slope = slopes[one.name]
            yield one, one.parameters(slope[:, 0], slope[:, 1])

    def parameters(
        self, rest: Mapping[str, Any], kept: float = KEPT
    ) -> dict[str, dict[str, Array]]:
        """Return the parameters of every variable's law given the rest, one a row."""
        slopes = self.slopes(rest)
        result: dict[str, dict[str, Array]] = {}
        if self.normals:
            n = self.normals
            flat = self._flat(slopes)
            none = np.zeros((len(flat), n.precision.size))
            means = n.values(n.centre + n.precision.solve(flat, none, kept))
            sds = n.sd(flat)
            result |= {name: {"mean": means[name], "sd": sds[name]} for name in n.names}
        for one, values in self._others(slopes):
            result[one.name] = dict(zip(one.family.parameters, values, strict=True))
        return result

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Array]:
        """Return one draw of the block for each row of the rest."""
        slopes = self.slopes(rest)
        result: dict[str, Array] = {}
        if self.normals:
            n = self.normals
            flat = self._flat(slopes)
            noise = rng.standard_normal((len(flat), n.precision.size))
            result |= n.values(n.centre + n.precision.solve(flat, noise))
        for one, values in self._others(slopes):
            law = one.law(np.arange(values[0].size), values)
            result[one.name] = law.sample(1, rng).reshape(values[0].shape)
        return result

    def factors(self, rest: Mapping[str, Any]) -> list[Factor]:
        """Return the block's law at one value of the rest; elements in the order of `probes`."""
        (law,) = self.laws(
            {point.name: np.asarray(rest[point.name])[None] for point in self.remaining}
        )
        return law

    def laws(self, rest: Mapping[str, Any]) -> Iterator[list[Factor]]:
        """Yield the block's law at each value of the rest, one a row."""
        slopes = self.slopes(rest)
        flat = self._flat(slopes) if self.normals else None
        others = list(self._others(slopes))
        for row in range(len(next(iter(slopes.values())))):
            factors: list[Factor] = [] if flat is None else [self._gaussian(flat[row])]
            start = 0 if flat is None else flat.shape[-1]
            for one, result in others:
                elements = np.arange(start, start + one.first.size)
                factors.append(one.law(elements, [x[row] for x in result]))
                start += one.first.size
            yield factors

    def _gaussian(self, slopes: Array) -> Gaussian:
        assert self.normals is not None  # noqa: S101 - the caller asks
        n = self.normals
        order, move, precision, root, loss = n.precision.read(slopes)
        if not (loss < KEPT and np.isfinite(move).all()):
            raise NotConjugate(
                f"the precision of {', '.join(n.names)} is not positive definite at some "
                "values of the rest: a scale is near zero there, or other elements depend on "
                "each other than elsewhere."
            )
        return Gaussian(order, n.centre[order] + move, precision, root, np.abs(move))


def _size(term: Any) -> int:
    """Return the number of elements of a term, or 1 if it is not known."""
    return 1 if None in term.type.shape else int(np.prod(term.type.shape, dtype=int))
