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

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor import tensor

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import normalised
from bayesmodels.numerics.node_law import Nodes, cell_draws, doubled
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.element_summands import ElementSummands
from bayesmodels.posteriors.marginalize import Conjugate
from bayesmodels.posteriors.support.kind import Support

pt: Any = tensor  # its functions have no types

SETTLED = 1e-8
"""How much the log of a sum over nodes may change when they are doubled."""
_NUMBERS = 1_000_000  # held at a time
_DRAWN = 200  # from the prior
_FIRST, _MOST = 40, 1280  # nodes of an element
_STEP = 0.3  # of t, at most
_WIDE, _PLACES = 6.0, 24  # where mass is looked for: how far in t, and on how many nodes
_PLACINGS = 30
_NEAR, _ALIKE = 0.5, 2.0  # of a scale: a centre that stays; ratio of scales that are the same
_SEEN = 1.0  # steps that a deviation has where no closer look is needed
_QUARTER, _NORMAL = 0.25, 1.349  # distance of a normal law's quartiles
_COARSE, _SHARPEST = 0.8, 0.02  # steps
_REACH = (1.5, 6.0)  # of t, to begin with
_WIDER, _FURTHEST = 1.5, 45.0
_TIMES = 2  # that a summand takes several operations
_GAP = 1e-6  # between log densities on nodes that reach further
_FINER = 2  # nodes for draws
_HEARD = 1e-13  # of the mass, where it is not negligible


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
        self.endless: list[Support] = []
        self.levels: dict[str, tuple[Hashable, ...]] = {}
        self._of = of = ElementSummands(conditionals, names, rng)
        self.remaining, self.probes, self.size, self.law = of.remaining, of.probes, of.size, of.law
        self.which = of.which
        alone, self._times = np.flatnonzero(of.rows.sum(1)), of.times
        if (of.rows.sum(1) > 1).any():
            raise NotConjugate(f"elements of {of.names} meet each other.")
        self._each = len(alone)  # numbers, of one look
        self._one = of.sums(alone, of.rows[alone].indices, len(self._times))
        prior = of.prior(conditionals, rng, _DRAWN)
        self._ends = prior.ends
        nodes, found = self._placed(of.here, 1, prior.middle, prior.scale)
        if not found.all():
            raise NotConjugate(f"no place was found where {of.names} have their mass.")
        self.reference = nodes.centre, nodes.scale
        self.number = int(self.fitted(of.here, 1).number[0])

    def _logs(self, rest: Mapping[str, Any], nodes: Nodes, number: int) -> Array:
        """Return log densities at nodes, times what a node stands for."""
        t, step = nodes.places(number)
        x = np.ascontiguousarray(np.moveaxis(nodes.at(t), 2, 1))
        added = np.moveaxis(self._of.added(rest, x, self._one), 1, 2)
        with np.errstate(invalid="ignore"):
            logs = nodes.log_weights(t) + np.log(step)[..., None] + added
        # Far out numbers overflow; what is next to that must be negligible.
        logs[np.isnan(logs)] = -np.inf
        return logs

    @property
    def how(self) -> str:
        """How elements are integrated out."""
        return f"eliminated on {self.number} nodes each, or more"

    @property
    def cost(self) -> int:
        """About how many numbers one row takes."""
        return _TIMES * self._each * (_PLACES + self.number)

    def _batches(
        self, rest: Mapping[str, Any], rows: Any, number: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows, and their values, that are looked at together, on so many nodes."""
        most = max(1, _NUMBERS // (self._each * number + 1))
        for at in range(0, len(rows), most):
            some = rows[at : at + most]
            yield some, {p.name: np.asarray(rest[p.name])[some] for p in self.remaining}

    def _placed(
        self, rest: Mapping[str, Any], number: int, centre: Array, scale: Array
    ) -> tuple[Nodes, NDArray[np.bool_]]:
        """Return nodes where the mass of each element is, and for which rows it was found."""
        shape = (number, len(self._times))
        centre, scale = (np.array(np.broadcast_to(x, shape)) for x in (centre, scale))
        low, high = np.zeros(shape), np.zeros(shape)
        found, rows = np.zeros(number, dtype=bool), np.arange(number)
        for _ in range(_PLACINGS):
            left = []
            for some, values in self._batches(rest, rows, _PLACES):
                wide = np.full((len(some), len(self._times)), _WIDE)
                nodes = Nodes(centre[some], scale[some], -wide, wide)
                p = self._logs(values, nodes, _PLACES)
                with np.errstate(all="ignore"):
                    known = np.isfinite(normalised(p)).all(1)
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
                off = doubled(logs)
                wider = [x > SETTLED / self.size for x in beyond]
                inside = ~(wider[0] | wider[1]).any(1)
                close = inside & (off + sum(x @ self._times for x in beyond) <= SETTLED)
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
        each = self._logs(rest, nodes, number)
        some = np.isfinite(each)
        outside, p = self._of.outside(rest, nodes.centre), each.copy()
        sums = [normalised(p)]
        sums += [normalised(each[..., ::k].copy()) + np.log(k) for k in (2, 4)]
        logs = [total @ self._times + outside for total in sums]
        step = (nodes.high - nodes.low) / number
        first, last = some.argmax(-1), number - 1 - some[..., ::-1].argmax(-1)
        ends = [np.take_along_axis(p, k[..., None], -1)[..., 0] for k in (first, last)]
        return logs, [2 * end / step for end in ends]

    def expression(self) -> Any:
        """Return the log marginal density, in terms of the points `rest`."""
        return self._of.expression(self)

    def logs(self, rest: Mapping[str, Any], number: int) -> Array:
        """Return log integrals for rows of the rest."""
        return self.fitted(rest, number).total

    def parameters(self, rest: Mapping[str, Any], kept: float = 0.0) -> dict[str, dict[str, Array]]:
        """Return what the laws of the elements given the rest are made of, one a row."""
        del kept
        rows = _number(rest)
        fit = self.fitted(rest, rows)
        self._of.settled(fit.total)
        number = int(fit.number.max())
        mass = np.empty((rows, len(self._times), number))
        for some, values in self._batches(rest, np.arange(rows), number):
            mass[some] = self._logs(values, fit.nodes.of(some), number)
        normalised(mass)
        return self._of.laws(fit.nodes, mass)

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Array]:
        """Return one draw of the elements for each row of the rest."""
        rows = _number(rest)
        fit, z = self.fitted(rest, rows), np.empty((rows, self.size))
        self._of.settled(fit.total)
        number, each = _FINER * int(fit.number.max()), self._of.of
        numbers = number * -(-self.size // self._each)
        for some, values in self._batches(rest, np.arange(rows), numbers):
            nodes = fit.nodes.of(some)
            logs = self._logs(values, nodes, number)[:, each]
            nodes = nodes.of((slice(None), each))
            t, step = nodes.places(number)
            k, within = cell_draws(logs, rng)
            place = np.take_along_axis(t, k[..., None], -1)[..., 0] + step * within
            z[some] = nodes.at(place[..., None])[..., 0]
        return self._of.natural(z)

    def off(self, rest: Mapping[str, Any]) -> float:
        """Return how far off the log integral may be at some values of the rest.

        Nodes that are closer and reach as far as the prior must tell the same.
        """
        rows = _number(rest)
        fit, off = self.fitted(rest, rows), SETTLED
        for some, values in self._batches(rest, np.arange(rows), _MOST):
            nodes = fit.nodes.of(some)
            ends = [np.arcsinh((x - nodes.centre) / nodes.scale) for x in self._ends]
            wide = Nodes(
                nodes.centre,
                nodes.scale,
                np.minimum(nodes.low, ends[0]) - 1,
                np.maximum(nodes.high, ends[1]) + 1,
            )
            logs, _ = self._sums(values, wide, _MOST)
            gap = np.abs(logs[0] - fit.total[some])
            if not (gap <= _GAP + doubled(logs)).all():
                raise NotConjugate(
                    f"given the rest, {self._of.names} may have mass in several places: on nodes "
                    f"that reach further the log density differs by {np.max(gap):.1g}."
                )
            off = max(off, float(np.max(gap)))
        return off


def _number(rest: Mapping[str, Any]) -> int:
    return len(next(iter(rest.values())))


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
