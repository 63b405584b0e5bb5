"""Continuous elements integrated out of a log density that depends on a few shared variables.

An element that meets no other, given the shared variables, is integrated on nodes of its own: they
are its levels, and sums over them (`node_sums`) are those of finite variables. Centre and scale of
the nodes are moved to where the element's conditional mass is, for each value of the shared
variables. The trapezoidal rule converges geometrically and reaches heavy tails; nodes are doubled
until the sum has settled, and reach further until nothing is beyond. Where that does not come
about, the density is not a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytensor import tensor

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.numerics.node_law import Nodes, cell_draws, doubled
from bayesmodels.numerics.node_sums import PLACES, Sums, everywhere, nearer, spread, summed
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.element_summands import ElementSummands
from bayesmodels.posteriors.marginalize import Conjugate
from bayesmodels.posteriors.support.kind import Support

pt: Any = tensor  # its functions have no types

SETTLED = 1e-8
"""How much the log of a sum over nodes may change when they are doubled, at least."""
_ROUGHLY = 1e-2, 160  # the same, and nodes at most, where modes are looked for
_PART = 1e-2  # of a tolerance
_NUMBERS = 250_000  # held at a time
_DRAWN = 200  # from the prior
_FIRST, _MOST = 40, 1280  # nodes of an element
_STEP = 0.3  # of t, at most
_PLACINGS = 30
_WIDER, _FURTHEST = 1.5, 45.0
_GAP = 1e-6  # between log densities on nodes that reach further
_FINER = 2  # nodes for draws


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
        self._settled, self._most = SETTLED, _MOST
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

    def _summed(self, rest: Mapping[str, Any], nodes: Nodes, number: int) -> Sums:
        """Return sums over so many nodes."""
        # Far out numbers overflow; what is next to that must be negligible.
        return summed(nodes, self._of.added(rest, spread(nodes, number), self._one))

    def within(self, tolerance: float) -> None:
        """Let log integrals be off by a small part of a tolerance."""
        self._settled = max(SETTLED, _PART * tolerance)
        self.number = int(self.fitted(self._of.here, 1).number[0])

    @contextmanager
    def roughly(self) -> Iterator[None]:
        """Let log integrals be off by more in the context."""
        before = self._settled, self._most
        self._settled, self._most = _ROUGHLY
        try:
            yield
        finally:
            self._settled, self._most = before

    @property
    def how(self) -> str:
        """How elements are integrated out."""
        return f"eliminated on {self.number} nodes each, or more"

    @property
    def rough_cost(self) -> int:
        """About how many numbers one row takes, `roughly`."""
        return self._each * (PLACES + _FIRST)

    @property
    def cost(self) -> int:
        """About how many numbers one row takes."""
        return self._each * (PLACES + self.number)

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
            for some, values in self._batches(rest, rows, PLACES):
                before = everywhere(centre[some], scale[some])
                sums = self._summed(values, before, PLACES)
                known = np.isfinite(sums.logs[0]).all(1)
                nodes, stays = nearer(before, sums.mass)
                centre[some], scale[some] = nodes.centre, nodes.scale
                low[some], high[some] = nodes.low, nodes.high
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
            if size > self._most:
                break
            for some, values in self._batches(rest, np.flatnonzero(left & (sizes == size)), size):
                own = nodes.of(some)
                logs, beyond = self._sums(values, own, size)
                off = doubled(logs)
                # However little is asked of sums: deviations of heavy tails hang on the ends.
                wider = [x > SETTLED / self.size for x in beyond]
                inside = ~(wider[0] | wider[1]).any(1)
                close = inside & (off + sum(x @ self._times for x in beyond) <= self._settled)
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
        outside, sums = self._of.outside(rest, nodes.centre), self._summed(rest, nodes, number)
        return [each @ self._times + outside for each in sums.logs], list(sums.beyond)

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
        number, nodes = int(fit.number.max()), fit.nodes
        mass = np.zeros((rows, len(self._times), number))
        for size in np.unique(fit.number):
            own = np.flatnonzero(fit.number == size)
            for some, values in self._batches(rest, own, size):
                mass[some, :, :size] = self._summed(values, nodes.of(some), size).mass
            # Nodes that there are more of than did have no mass.
            nodes.high[own] = nodes.low[own] + (nodes.high - nodes.low)[own] * number / size
        return self._of.laws(nodes, mass)

    def draw(self, rest: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Array]:
        """Return one draw of the elements for each row of the rest."""
        rows = _number(rest)
        fit, z = self.fitted(rest, rows), np.empty((rows, self.size))
        self._of.settled(fit.total)
        each = self._of.of
        for size in np.unique(fit.number):
            own, number = np.flatnonzero(fit.number == size), _FINER * int(size)
            for some, values in self._batches(rest, own, number * -(-self.size // self._each)):
                nodes = fit.nodes.of(some)
                with np.errstate(divide="ignore"):
                    logs = np.log(self._summed(values, nodes, number).mass)
                k, within = cell_draws(logs, rng, each)
                t, step = nodes.places(number)
                place = t[np.arange(len(k))[:, None], each, k] + step[:, each] * within
                z[some] = nodes.of((slice(None), each)).at(place[..., None])[..., 0]
        return self._of.natural(z)

    def off(self, rest: Mapping[str, Any]) -> float:
        """Return how far off the log integral may be at some values of the rest.

        Nodes that are closer and reach as far as the prior must tell the same.
        """
        rows = _number(rest)
        fit, off = self.fitted(rest, rows), self._settled
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
            if not (gap <= max(_GAP, self._settled) + doubled(logs)).all():
                raise NotConjugate(
                    f"given the rest, {self._of.names} may have mass in several places: on nodes "
                    f"that reach further the log density differs by {np.max(gap):.1g}."
                )
            off = max(off, float(np.max(gap)))
        return off


def _number(rest: Mapping[str, Any]) -> int:
    return len(next(iter(rest.values())))
