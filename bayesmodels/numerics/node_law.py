r"""Laws of numbers whose densities are known at nodes, each at its own.

Node k of a law is at :math:`x_k = c + s \sinh t_k`, where t are equal steps; the density in t
between two nodes is that of a cubic whose slopes at the nodes are the densities there. What is
below a node is the trapezoidal sum with the first correction of Euler and Maclaurin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.threads import blocks

OFFSET = 0.25
# Of the first node, in steps: of a symmetric density this shows the error of every second node, and
# cancels most of that of all.
_INSIDE, _FINE = 6, 32  # points in a cell, to integrate and to draw
_SIZE = 100  # a cubic's error is less than that part of third differences
_STEEP = 30.0  # change of a log density from one node to the next
_POWER = 1.5  # an analytic function's error is squared by a doubling; this is on the safe side
_STEPS = 4  # of Newton's, from a line between nodes
_TAIL, _GROWS = 1e-2, 1.25  # mass that is known by its log; from where on sums are off, a node
_NOTHING = 80.0  # of a log density below the highest


@dataclass(frozen=True, eq=False)
class Map:
    """From a coordinate to the number it stands for, back, and the slope of the former."""

    there: Callable[[Array], Array]
    back: Callable[[Array], Array]
    slope: Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of many elements: `centre`, `scale`, first and last place (`low`, `high`) of t."""

    centre: Array
    scale: Array
    low: Array
    high: Array

    def places(self, number: int) -> tuple[Array, Array]:
        """Return t of so many nodes along a last axis, and the step."""
        step = (self.high - self.low) / number
        return self.low[..., None] + step[..., None] * (np.arange(number) + OFFSET), step

    def at(self, t: Array) -> Array:
        """Return the coordinates at places t, along a last axis."""
        return np.asarray(self.centre[..., None] + self.scale[..., None] * np.sinh(t))

    def log_weights(self, t: Array) -> Array:
        """Return logs of what a unit of t stands for."""
        return np.asarray(np.log(self.scale)[..., None] + np.log(np.cosh(t)))

    def of(self, index: Any) -> Nodes:
        """Return the nodes of some elements."""
        return Nodes(*(x[index] for x in (self.centre, self.scale, self.low, self.high)))


class NodeLaw:
    """Laws of an array of numbers with the `mass` of each node, along a last axis."""

    def __init__(self, nodes: Nodes, mass: Array, map_: Map) -> None:
        self.nodes, self.mass, self.map = nodes, mass, map_

    def entry(self, at: tuple[int, ...]) -> NodeLaw:
        """Return the laws of one element, of which there are several along a first axis."""
        index: Any = (slice(None), *at)
        return NodeLaw(self.nodes.of(index), self.mass[index], self.map)

    def _some(self) -> Iterator[NodeLaw]:
        """Yield the laws of a few rows at a time, with masses of all digits that add up to one."""
        for part in blocks(self.mass, least=1):
            mass = self.mass[part].astype(float)
            yield NodeLaw(self.nodes.of(part), mass / mass.sum(-1, keepdims=True), self.map)

    @cached_property
    def _moments(self) -> list[Array]:
        each = zip(*map(_moments, self._some()), strict=True)
        return [np.concatenate(moment) for moment in each]

    def mean(self) -> Array:
        """Return the means."""
        return self._moments[0]

    def var(self) -> Array:
        """Return the variances."""
        return self._moments[1]

    def std(self) -> Array:
        """Return the standard deviations."""
        return np.sqrt(self.var())

    def stats(self, moments: str) -> Array:
        """Return skewness ("s") or excess kurtosis ("k")."""
        _, second, third, fourth = self._moments
        return third / second**1.5 if moments == "s" else fourth / second**2 - 3

    def off(self) -> Array:
        """Return about how far off distribution functions between nodes may be."""
        third = [np.abs(np.diff(law.mass, 3, axis=-1)).max(-1) for law in self._some()]
        return np.concatenate(third) / _SIZE

    @cached_property
    def _below(self) -> Array:
        """What is below each node, and all from the last one on."""
        return self._before(1)

    @cached_property
    def _above(self) -> Array:
        """What is above each node."""
        return self._before(-1)

    def _before(self, way: int) -> Array:
        """Return what is before each node, on the way up or down."""
        result, at = np.empty_like(self.mass), 0
        for law in self._some():
            rows = len(law.mass)
            result[at : at + rows] = _before(law.mass[..., ::way])[..., ::way]
            at += rows
        return result

    def _cell(self, x: ArrayLike) -> tuple[Any, ...]:
        """Return places between two nodes, and what is known at both; and dt/dx, in steps."""
        with np.errstate(all="ignore"):
            z = self.map.back(np.asarray(x, dtype=float))
            scaled = (z - self.nodes.centre) / self.nodes.scale
            step = (self.nodes.high - self.nodes.low) / self.mass.shape[-1]
            v = (np.arcsinh(scaled) - self.nodes.low) / step - OFFSET
            slope = 1 / (step * self.nodes.scale * np.hypot(1.0, scaled) * self.map.slope(z))
        return v, slope, *self._at(np.nan_to_num(np.floor(v), posinf=1e9, neginf=-1e9))

    def _at(self, k: Any, below: Array | None = None) -> tuple[Any, ...]:
        """Return the cell that begins at node k, and what is known at both of its ends."""
        k = np.clip(k, 0, self.mass.shape[-1] - 2).astype(int)
        both = []
        for values in (self._below if below is None else below, self.mass):
            wide = np.broadcast_to(values, (*k.shape, values.shape[-1]))
            both += [np.take_along_axis(wide, k[..., None] + i, -1)[..., 0] for i in (0, 1)]
        return (k, *both)

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x."""
        return self._sides(x)[0]

    def sf(self, x: ArrayLike) -> Array:
        """Return the probability of more than x."""
        return self._sides(x)[1]

    def _sides(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return the probabilities of at most x and of more, each with its own digits if small."""
        v, _, k, *known = (np.asarray(y) for y in self._cell(x))
        part, last = np.clip(v - k, 0, 1), self.mass.shape[-1] - 1
        below = np.asarray(_cubic(part, *known)[0])
        above, low = 1 - below, known[1] < _TAIL
        below[low] = _grown(part[low], *(y[low] for y in known))
        above[low] = 1 - below[low]
        high = known[0] > 1 - _TAIL
        _, start, end, first, slope = (np.asarray(y)[high] for y in self._at(k, self._above))
        above[high] = _grown(1 - part[high], end, start, slope, first)
        below[high] = 1 - above[high]
        sides = (below, 0.0, 1.0), (above, 1.0, 0.0)
        below, above = (np.where(v <= 0, a, np.where(v >= last, b, x)) for x, a, b in sides)
        return below, above

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density."""
        v, slope, k, *known = self._cell(x)
        inside = (v >= 0) & (v <= self.mass.shape[-1] - 1)
        return np.where(inside, _cubic(np.clip(v - k, 0, 1), *known)[1] * slope, 0.0)

    def ppf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q below it."""
        q = np.broadcast_to(q, np.broadcast_shapes(np.shape(q), self.mass.shape[:-1]))
        k, *known = self._at((self._below <= q[..., None]).sum(-1) - 1)
        low, high = known[:2]
        with np.errstate(all="ignore"):
            v = np.clip(np.nan_to_num((q - low) / (high - low)), 0, 1)
            for _ in range(_STEPS):
                value, slope = _cubic(v, *known)
                v = np.clip(np.where(slope > 0, v - (value - q) / slope, v), 0, 1)
        step = (self.nodes.high - self.nodes.low) / self.mass.shape[-1]
        t = self.nodes.low + step * (k + v + OFFSET)
        return self.map.there(self.nodes.centre + self.nodes.scale * np.sinh(t))

    def isf(self, q: ArrayLike) -> Array:
        """Return the quantile with probability q above it."""
        return self.ppf(1 - np.asarray(q, dtype=float))


def _moments(law: NodeLaw) -> tuple[Array, ...]:
    """Return means and central moments."""
    with np.errstate(over="ignore"):  # far out, where there is no mass
        x = law.map.there(law.nodes.at(law.nodes.places(law.mass.shape[-1])[0]))
    x = np.where(law.mass > 0, x, 0.0)
    mean = (law.mass * x).sum(-1)
    gap = np.where(law.mass > 0, x - mean[..., None], 0.0)
    square = gap * gap
    powers = (square, square * gap, square * square)
    return mean, *((law.mass * power).sum(-1) for power in powers)


def _cubic(v: Array, low: Array, high: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """Return a cubic between two values, with slopes there; and its slope, at least zero."""
    gap = high - low
    a, b = first + last - 2 * gap, 3 * gap - 2 * first - last
    value = low + v * (first + v * (b + v * a))
    return np.clip(value, 0.0, 1.0), np.maximum(first + v * (2 * b + 3 * v * a), 0.0)


def _before(mass: Array) -> Array:
    """Return what is before each node, of masses along a last axis.

    Where the density grows several times from one node to the next, it is an exponential's there.
    """
    sums = np.clip(np.cumsum(mass, -1) - mass / 2 - np.gradient(mass, axis=-1) / 12, 0.0, 1.0)
    with np.errstate(all="ignore"):
        logs = np.log(mass)
        slope = np.gradient(logs, axis=-1)
        ends = np.concatenate([logs[..., :1], logs, logs[..., -1:]], -1)
        bend = np.maximum(2 * logs - ends[..., 2:] - ends[..., :-2], 0.0)
        tail = mass / (slope + bend / (slope + 2 * bend / slope))  # Mills's ratio
    return np.where((slope > _GROWS) & (mass < _TAIL), np.nan_to_num(tail), sums)


def _grown(v: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Return a number between two small ones, by a cubic through their logs; slopes are known."""
    with np.errstate(all="ignore"):
        start, end, first, last = np.log(low), np.log(high), first / low, last / high
        gap = end - start
        a, b = first + last - 2 * gap, 3 * gap - 2 * first - last
        result = np.exp(start + v * (first + v * (b + v * a)))
    return np.where(low > 0, np.clip(result, low, high), high * v)


def doubled(logs: Sequence[Array]) -> Array:
    """Return the error of log sums, of which each has half of the nodes of the one before."""
    with np.errstate(invalid="ignore"):
        last, before = np.abs(logs[0] - logs[1]), np.abs(logs[1] - logs[2])
        fast = np.minimum(before, 1.0) ** _POWER
        return np.where(np.minimum(last, 1.0) <= fast, np.minimum(last, 1.0) ** _POWER, last)


def cell_draws(
    logs: Array, rng: np.random.Generator, of: ArrayLike | None = None
) -> tuple[NDArray[np.intp], Array]:
    """Return the node next to a draw and how far it is from there, in steps.

    `logs` are log densities at nodes (..., laws, nodes); there is a draw of each law, or of those
    that `of` has. Around a node the log density is the parabola through it and its neighbours.
    """
    laws = np.arange(logs.shape[-2]) if of is None else np.asarray(of)
    rows = logs.reshape(-1, *logs.shape[-2:])
    wanted = rng.random((2, len(rows), len(laws)))
    k, within = np.empty(wanted[0].shape, dtype=np.intp), np.empty(wanted[0].shape)
    _draw(rows, laws, wanted, *np.polynomial.legendre.leggauss(_INSIDE), k, within)
    shape = *logs.shape[:-2], len(laws)
    return k.reshape(shape), within.reshape(shape)


@threaded
def _draw(
    logs: Array, of: Array, wanted: Array, at: Array, weights: Array, k: Array, within: Array
) -> None:
    rows, laws, number = logs.shape
    slopes, bends, mass = np.empty((3, laws, number))
    below = np.zeros(_FINE + 1)
    for row in range(rows):
        for law in range(laws):
            own, top, least = logs[row, law], -np.inf, 0.0
            for x in own:
                top = max(top, x)
                if np.isfinite(x):
                    least = min(least, x)
            total = 0.0
            for i in range(number):
                low, here, high = own[max(i - 1, 0)], own[i], own[min(i + 1, number - 1)]
                low = low if np.isfinite(low) else least
                high = high if np.isfinite(high) else least
                middle = here if np.isfinite(here) else least
                slope = min(max((high - low) / 2, -_STEEP), _STEEP)
                bend = min(max(high + low - 2 * middle, -_STEEP), _STEEP) / 2
                if here > top - _NOTHING:
                    inside = 0.0
                    for j in range(len(at)):
                        u = at[j] / 2
                        inside += weights[j] / 2 * np.exp(u * (slope + u * bend))
                    total += np.exp(here - top) * inside
                slopes[law, i], bends[law, i], mass[law, i] = slope, bend, total
        for j in range(len(of)):
            law = of[j]
            cell = np.searchsorted(mass[law, :-1], wanted[0, row, j] * mass[law, -1], "right")
            slope, bend = slopes[law, cell], bends[law, cell]
            before = np.exp(-0.5 * (slope - 0.5 * bend))
            for i in range(_FINE):
                u = (i + 1) / _FINE - 0.5
                after = np.exp(u * (slope + u * bend))
                below[i + 1] = below[i] + (before + after) / 2
                before = after
            share = wanted[1, row, j] * below[-1]
            i = min(np.searchsorted(below[1:], share, "right"), _FINE - 1)
            u = (share - below[i]) / (below[i + 1] - below[i])
            k[row, j], within[row, j] = cell, (i + u) / _FINE - 0.5
