r"""Chains and trees of continuous elements integrated out of a log density.

Given the variables that remain, elements x meet in pairs. Where these summands are quadratic, as
of a random walk, an autoregression, groups in groups, all else is a function of one element each,
whatever it is: the data's. Around the top the log density is that of a normal law, times what each
of these functions differs from a quadratic one by,

.. math:: \ln \int p \, dx = \ell + \ln E_q \prod_i r_i(x_i),

and the mean under the normal law q is a sum over Hermite polynomials (`hermite_forest`). There are
as many of these as it takes until more change nothing. Where no number does, as of outliers or
jumps there may be several tops, the integral is a sum over nodes (`node_forest`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Elimination, TooWide
from bayesmodels.numerics.hermite_forest import Eliminated, HermiteForest, rule
from bayesmodels.numerics.inner_modes import InnerModes, NormalForest
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.node_forest import NodeForest, Settled, Summands
from bayesmodels.numerics.node_law import Nodes, cell_draws
from bayesmodels.numerics.threads import gathered
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.element_summands import ElementSummands
from bayesmodels.posteriors.marginalize import Conjugate
from bayesmodels.posteriors.support.kind import Support

SETTLED = 1e-7
"""How far off a log integral may be, at least."""
TOGETHER = 64
"""Rows that are looked at at once."""
_PART = 1e-2  # of a tolerance
_LADDER = (12, 18, 27, 40, 60, 90, 135, 200)  # polynomials
_DRAWN, _DRAWS = 20_000, (16, 200)  # numbers, and draws of all, from the prior: it goes by steps
_NUMBERS, _AT_ONCE = 8_000_000, 100_000  # held at a time, and evaluated
_HELD = 1_500_000_000  # numbers, 6 GB, of laws
_POWER = 1.2  # of a difference: what is left with the larger number, of convergence by roots, too
_SEVERAL = 4  # operations of a function of a pair
_NEWTON, _NINE = 5, 9  # steps to a top, about, each of nine looks
_EVEN, _FAR = 3.0, 9.0  # deviations: so far nodes are about even, and so far they reach
_NODES, _FEWER = 48, 40  # of laws; and for draws that are improved on
_FURTHER = 1.0  # in t, where more nodes must tell the same
_SWEEPS = 2  # of draws of each element given the others
_INSIDE, _REACH = 32, 8.0  # nodes for them, and how many deviations they reach


class Fit(NamedTuple):
    """Normal laws of rows; how many polynomials did, log integrals, and their errors.

    Of rows `on_nodes`, these nodes.
    """

    forest: NormalForest
    number: NDArray[np.intp]
    total: Array
    error: Array
    nodes: Settled
    on_nodes: NDArray[np.bool_]


class LinkedMarginal:
    """Continuous variables of a model: the log density without them, and their laws given the rest.

    Their elements meet in pairs.
    """

    others: tuple[Conjugate, ...] = ()

    def __init__(
        self, conditionals: Conditionals, names: Sequence[str], rng: np.random.Generator
    ) -> None:
        self.endless: list[Support] = []
        self.levels: dict[str, tuple[Hashable, ...]] = {}
        self._of = of = ElementSummands(conditionals, names, rng)
        self.remaining, self.probes, self.size, self.law = of.remaining, of.probes, of.size, of.law
        self.which = of.which
        width = of.rows.sum(1)
        alone, met = np.flatnonzero(width == 1), np.flatnonzero(width > 1)
        if not len(met):
            raise NotConjugate(f"no elements of {of.names} meet each other.")
        self._one = of.sums(alone, of.rows[alone].indices, self.size)
        pairs = np.sort(of.rows[met].indices.reshape(-1, 2), 1)
        self._pairs, which = np.unique(pairs, axis=0, return_inverse=True)
        self._met = len(met)
        self._two = of.sums(met, which.ravel(), len(self._pairs))
        each = np.repeat(np.arange(len(self._pairs)), 2)
        ends, shape = (self._pairs.ravel(), each), (self.size, len(self._pairs))
        self._ends: Any = csr_array((np.ones(len(each)), ends), shape=shape)
        try:
            self._forest = HermiteForest(self._pairs, self.size)
        except TooWide as error:
            raise NotConjugate(f"{of.names} have too many elements to be eliminated.") from error
        self._odd = self._forest.depth % 2 == 1
        self._modes, self._rough = InnerModes(self._pairs, self.size, rng), False
        self._settled = SETTLED
        self._nodes = NodeForest(self._pairs, self.size)
        few = int(np.clip(_DRAWN // self.size, *_DRAWS))
        self._start, self._scale, _ = of.prior(conditionals, rng, few)
        self._first, self._by_nodes = 0, False
        for _ in range(2):  # from the prior's units, and from their own
            fit = self.fitted(of.here, 1)
            if np.isfinite(fit.forest.level[0]) and not fit.forest.quadratic[0]:
                raise NotConjugate(f"{of.names} are not jointly normal before the data are seen.")
            if not np.isfinite(fit.total[0]):
                raise NotConjugate(f"no place was found where {of.names} have their mass.")
            self._start, self._scale = fit.forest.centre, fit.forest.sd
        self.number, self._by_nodes = int(fit.number[0]), bool(fit.on_nodes[0])
        if not self._by_nodes:
            self._first = max(0, _LADDER.index(self.number) - 2)

    def _functions(self, rest: Mapping[str, Any], x: Array) -> Array:
        """Return what is a function of one element, of all at nodes (n, elements, levels)."""
        result = self._of.added(rest, np.moveaxis(x, 2, 1), self._one)
        result[np.isnan(result)] = -np.inf
        return np.moveaxis(result, 2, 1)

    def _tables(self, rest: Mapping[str, Any], x: Array) -> dict[int, Array]:
        """Return the functions of one element and of pairs, at nodes (n, elements, levels)."""
        along, levels = np.moveaxis(x, 2, 1), x.shape[2]
        turned = self._odd[self._pairs[:, 0]]
        two = np.empty((len(x), len(self._pairs), levels, levels))
        some = 1 + _AT_ONCE // (1 + x.size)
        for k in range(0, levels, some):
            z = np.where(self._odd, along[:, None], along[:, k : k + some, None])
            summed = self._of.added(
                rest, z.reshape(len(x), z.shape[1] * levels, self.size), self._two
            )
            _turn(summed, levels, k, turned, two)
        return {1: self._functions(rest, x), 2: two}

    def _given(self, rest: Mapping[str, Any]) -> Summands:
        """Return tables as a function of rows of the rest, and nodes."""
        values = {p.name: np.asarray(rest[p.name]) for p in self.remaining}

        def tables(rows: NDArray[np.intp], x: Array) -> dict[int, Array]:
            return self._tables({name: v[rows] for name, v in values.items()}, x)

        return tables

    def _tops(self, rest: Mapping[str, Any], number: int) -> NormalForest:
        """Return normal laws around the tops, for rows of the rest."""
        shape = (number, self.size)
        start, scale = (np.array(np.broadcast_to(x, shape)) for x in (self._start, self._scale))
        return self._modes.found(self._given(rest), start, scale)

    def _eliminated(
        self, rest: Mapping[str, Any], laws: NormalForest, number: int, places: Array
    ) -> Eliminated:
        """Eliminate by so many polynomials; laws are asked for at places."""
        t = np.concatenate([rule(number).nodes, places])
        x = laws.centre[:, None] + t[:, None] * laws.sd[:, None]
        logs = np.empty((*laws.sd.shape, len(t)))
        values = self._of.added(rest, x, self._one)
        _compare(values, t, laws.sd, laws.slope, laws.bend, logs)
        inner, outer = logs[..., :number], logs[..., number:]
        return self._forest.eliminated(inner, outer, places, laws.correlation)

    def _batches(self, rest: Mapping[str, Any], rows: Any, nodes: int) -> Iterator[tuple[Any, ...]]:
        """Yield rows, and their values, that are looked at together."""
        most = max(1, _NUMBERS // (self.size * nodes))
        for at in range(0, len(rows), most):
            some = rows[at : at + most]
            yield some, {p.name: np.asarray(rest[p.name])[some] for p in self.remaining}

    def fitted(self, rest: Mapping[str, Any], number: int) -> Fit:
        """Return normal laws, and log integrals that have settled for each row; else NaN."""
        laws = self._tops(rest, number)
        total, error = np.full(number, np.nan), np.full(number, np.inf)
        sizes = np.full(number, _LADDER[-1])
        known = laws.quadratic & np.isfinite(laws.level)
        left = np.flatnonzero(known & (not self._by_nodes))
        before = self._sums(rest, laws, left, _LADDER[self._first])
        for _, size in pairwise(_LADDER[self._first :]):
            now = self._sums(rest, laws, left, size)
            off = np.abs(now - before) ** _POWER
            close = off <= self._settled
            done = left[close]
            total[done], error[done], sizes[done] = now[close], off[close], size
            left, before = left[~close], now[~close]
            if not len(left):
                break
        on_nodes = known & np.isnan(total)
        rows = np.flatnonzero(on_nodes)
        found = self._nodes.settled(self._given(rest), _around(laws), rows, self._settled)
        for at, values in self._batches(rest, rows, 1):
            total[at] = found.total[at] + self._of.outside(values, laws.centre[at])
        sizes = np.where(on_nodes, found.number, sizes)
        error = np.where(on_nodes, found.error, error)
        return Fit(laws, sizes, total, error, found, on_nodes)

    def _sums(
        self, rest: Mapping[str, Any], laws: NormalForest, rows: NDArray[np.intp], number: int
    ) -> Array:
        """Return log integrals of some rows by so many polynomials."""
        result = np.empty(len(rows))
        for at, values in self._batches(rest, rows, number):
            own = NormalForest(*(x[at] for x in laws))
            done = self._eliminated(values, own, number, np.zeros(0))
            sums = own.level + self._of.outside(values, own.centre) + done.log_total
            result[np.searchsorted(rows, at)] = sums
        return result

    def within(self, tolerance: float) -> None:
        """Let log integrals be off by a small part of a tolerance."""
        self._settled = max(SETTLED, _PART * tolerance)

    @contextmanager
    def roughly(self) -> Iterator[None]:
        """Let log integrals be Laplace's in the context."""
        self._rough = True
        try:
            yield
        finally:
            self._rough = False

    def logs(self, rest: Mapping[str, Any], number: int) -> Array:
        """Return log integrals for rows of the rest."""
        if not self._rough:
            return self.fitted(rest, number).total
        laws = self._tops(rest, number)
        return laws.log_integral + self._of.outside(rest, laws.centre)

    @property
    def how(self) -> str:
        """How elements are integrated out."""
        what = "on {} nodes" if self._by_nodes else "by {} Hermite polynomials"
        return f"eliminated {what.format(self.number)} each, or more"

    @property
    def rough_cost(self) -> int:
        """About how many numbers one row takes, `roughly`."""
        return _NEWTON * _NINE * self.size

    @property
    def cost(self) -> int:
        """About how many numbers one row takes."""
        if self._by_nodes:
            return self.rough_cost + _SEVERAL * self._met * self.number**2
        return self.rough_cost + 2 * self.number * self.size

    def expression(self) -> Any:
        """Return the log marginal density, in terms of the points `rest`."""
        return self._of.expression(self)

    def parameters(self, rest: Mapping[str, Any], kept: float = 0.0) -> dict[str, dict[str, Array]]:
        """Return what the laws of the elements given the rest are made of, one a row."""
        del kept
        rows = _number(rest)
        pieces = [
            {name: x[at : at + TOGETHER] for name, x in rest.items()}
            for at in range(0, rows, TOGETHER)
        ]
        fits = gathered(lambda piece: self.fitted(piece, _number(piece)), pieces, rows * self.cost)
        number = _NODES
        for fit in fits:
            self._of.settled(fit.total)
            number = max(number, int(fit.number[fit.on_nodes].max(initial=0)))
        if rows * self.size * number > _HELD:
            raise NotConjugate(
                f"the laws of {self.size:,} elements given {rows:,} points of the rest do not fit "
                "into memory. A larger tolerance= takes fewer points; sample() needs no laws."
            )
        mass: Any = np.empty((rows, self.size, number), np.float32)  # there are many
        each = list(zip(pieces, fits, range(0, rows, TOGETHER), strict=True))

        def written(one: tuple[Any, Fit, int]) -> Nodes:
            piece, fit, at = one
            nodes, mass[at : at + TOGETHER] = self._laws_of(piece, fit, number)
            return nodes

        nodes = zip(
            *(vars(x).values() for x in gathered(written, each, rows * self.cost)), strict=True
        )
        return self._of.laws(Nodes(*map(np.concatenate, nodes)), mass)

    def _laws_of(self, rest: Mapping[str, Any], fit: Fit, number: int) -> tuple[Nodes, Array]:
        """Return so many nodes of the elements' laws, and their mass, for rows that were fitted."""
        rows = len(fit.total)
        nodes, own, known = _around(fit.forest), fit.nodes.nodes, fit.on_nodes
        mass = np.zeros((rows, self.size, number))
        for at, levels in self._on_nodes(fit):
            mass[at, :, :levels] = self._summed(rest, own, at, levels).probabilities()
            # Those that there are more of than did have no mass.
            reach = (own.high[at] - own.low[at]) * number / levels
            nodes.low[at], nodes.high[at] = own.low[at], own.low[at] + reach
        t, _ = _around(fit.forest).of((slice(1), slice(1))).places(number)
        places = _EVEN * np.sinh(t.ravel())
        polynomials = int(fit.number[~known].max(initial=0))
        for some, values in self._batches(rest, np.flatnonzero(~known), polynomials + number):
            laws = NormalForest(*(x[some] for x in fit.forest))
            done = self._eliminated(values, laws, polynomials, places)
            logs = done.log_laws() + np.log(np.cosh(t))
            with np.errstate(invalid="ignore"):  # next to a scale of zero a law may be lost
                mass[some] = np.exp(logs - logs.max(2, keepdims=True))
        return nodes, mass / mass.sum(2, keepdims=True)

    def _on_nodes(self, fit: Fit) -> Iterator[tuple[NDArray[np.intp], int]]:
        """Yield rows that are on equally many nodes and are looked at together, and how many."""
        for number in np.unique(fit.number[fit.on_nodes]):
            rows = np.flatnonzero(fit.on_nodes & (fit.number == number))
            yield from ((at, int(number)) for at in self._nodes.batches(rows, number))

    def _summed(
        self, rest: Mapping[str, Any], nodes: Nodes, rows: NDArray[np.intp], number: int
    ) -> Elimination:
        """Return the sum over so many nodes of some rows."""
        own = nodes.of(rows)
        tables = self._given(rest)(rows, own.at(own.places(number)[0]))
        return self._nodes.eliminated(tables, own, number)

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Array]:
        """Return one draw of the elements for each row of the rest."""
        rows = _number(rest)
        fit, z = self.fitted(rest, rows), np.empty((rows, self.size))
        self._of.settled(fit.total)
        sd = 1 / np.sqrt(fit.forest.precision)
        for at, number in self._on_nodes(fit):
            nodes = fit.nodes.nodes.of(at)
            k = self._summed(rest, fit.nodes.nodes, at, number).sample(len(at), rng)
            t, step = nodes.places(number)
            t = np.take_along_axis(t, k[..., None], 2)[..., 0] + step * (rng.random(k.shape) - 0.5)
            z[at] = nodes.at(t[..., None])[..., 0]
            sd[at] = 2 * step * nodes.scale * np.cosh(t)
        known = ~fit.on_nodes
        number = int(fit.number[known].max(initial=0))
        places = _EVEN * np.sinh(np.linspace(-1, 1, _FEWER) * np.arcsinh(_FAR / _EVEN))
        for some, values in self._batches(rest, np.flatnonzero(known), number + _FEWER):
            laws = NormalForest(*(x[some] for x in fit.forest))
            u = self._eliminated(values, laws, number, places).sample(rng)
            z[some] = laws.centre + laws.sd * u
        # Between places that is nearly a draw; given the others, elements are drawn again.
        for some, values in self._batches(rest, np.arange(rows), _INSIDE):
            for own in (np.flatnonzero(self._odd), np.flatnonzero(~self._odd)) * _SWEEPS:
                z[some[:, None], own] = self._again(values, z[some], sd[some], own, rng)
        return self._of.natural(z)

    def _again(
        self,
        rest: Mapping[str, Any],
        z: Array,
        sd: Array,
        own: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> Array:
        """Return draws of elements of which no two meet, given others at z, for each row."""
        t = np.linspace(-_REACH, _REACH, _INSIDE)
        x = np.repeat(z[:, None], _INSIDE, 1)
        x[..., own] += t[:, None] * sd[:, None, own]
        met = self._of.added(rest, x, self._two)
        logs = self._functions(rest, np.moveaxis(x, 1, 2))[:, own]
        logs = logs + np.moveaxis(
            (self._ends[own] @ met.reshape(-1, met.shape[2]).T).T.reshape(*met.shape[:2], -1), 2, 1
        )
        k, within = cell_draws(logs, rng)
        return np.asarray(z[:, own] + sd[:, own] * (t[k] + (t[1] - t[0]) * within))

    def off(self, rest: Mapping[str, Any]) -> float:
        """Return how far off the log integral may be at some values of the rest."""
        fit = self.fitted(rest, _number(rest))
        off, known = self._settled, np.isfinite(fit.total)
        rows = np.flatnonzero(known & ~fit.on_nodes)
        if len(rows):
            more = self._sums(rest, fit.forest, rows, 2 * int(fit.number[rows].max()))
            off = float(np.abs(more - fit.total[rows]).max(initial=off))
        for row in np.flatnonzero(known & fit.on_nodes)[:, None]:
            nodes, number = fit.nodes.nodes, 2 * int(fit.number[row[0]])
            further = Nodes(nodes.centre, nodes.scale, nodes.low - _FURTHER, nodes.high + _FURTHER)
            more = self._summed(rest, further, row, number).log_total
            off = max(off, float(np.abs(more - fit.nodes.total[row])[0]))
        return off


@threaded
def _turn(values: Array, levels: int, first: int, turned: NDArray[np.bool_], result: Array) -> None:
    """Write functions of pairs (n, looks, pairs) where they belong, (n, pairs, levels, levels).

    The looks are some levels of one kind of numbers, from the first on, by all of the other kind.
    """
    for row in range(values.shape[0]):
        for look in range(values.shape[1]):
            a, b = first + look // levels, look % levels
            for k in range(values.shape[2]):
                value = values[row, look, k]
                if turned[k]:
                    result[row, k, b, a] = value
                else:
                    result[row, k, a, b] = value


@threaded
def _compare(values: Array, t: Array, sd: Array, slope: Array, bend: Array, logs: Array) -> None:
    """Write by how much functions (n, looks, numbers), at deviations t, are off quadratic ones."""
    for row in range(values.shape[0]):
        for i in range(values.shape[2]):
            for k in range(len(t)):
                d = t[k] * sd[row, i]
                f = values[row, k, i]
                f = -math.inf if math.isnan(f) else f
                logs[row, i, k] = f + slope[row, i] * d + bend[row, i] * d * d / 2


def _around(laws: NormalForest) -> Nodes:
    """Return nodes that reach far enough of laws that are about normal."""
    wide = np.full(laws.centre.shape, np.arcsinh(_FAR / _EVEN))
    return Nodes(laws.centre, _EVEN * laws.sd, -wide, wide)


def _number(rest: Mapping[str, Any]) -> int:
    return len(next(iter(rest.values())))
