r"""Marginal law of one variable of a lattice integral.

Along one axis of the lattice the function is known at equal steps h, and so is its integral up to
any place, by the sinc function that goes through the points:

.. math:: \int_{-\infty}^u f \approx \sum_k h f_k \left(\tfrac12 + \tfrac1\pi
    \operatorname{Si}\left(\pi \frac{u - u_k}h\right)\right).

Added up over all lines of the lattice this is a distribution function; it is tabulated. In curved
coordinates, in which a line's function is nearly a normal density, it is one times a polynomial:

.. math:: \int_{-\infty}^u f \approx \sum_k h f_k \Big(\Phi(u) - \varphi(u) \sum_{n \ge 1}
    \frac{\mathrm{He}_n(u_k) \mathrm{He}_{n-1}(u)}{n!}\Big).

Sources: Stenger (1993), *Numerical Methods Based on Sinc and Analytic Functions*, section 3.6;
Kolassa (2006), *Series Approximation Methods in Statistics*, chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.special import sici

from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.curves import back, slope_at, there
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.lattice import Lattice
from bayesmodels.numerics.law import Law, by_element, increasing_root

_NODES, _MOST = 60, 2000
_NOTHING = 1e-11  # of the mass: points that are left out of tables
_BLOCK = 2_000_000  # numbers in one step
_BETWEEN = 1e-8  # error of the curve between nodes, about
_DEGREES, _OUT = 30, 6.0  # of polynomials along lines, and where these end
_PARTS, _AROUND = 20, 8  # of a step, and how many points each is given to: exact to 1e-9


Points = tuple[Array, Array, Array, Array, float, float, float]


@dataclass(frozen=True, eq=False)
class Table:
    """The tabulated distribution function of a coordinate, and a bound on its error."""

    nodes: Array
    below: CubicHermiteSpline
    error: float

    def cdf(self, x: Array) -> Array:
        """Return the probability of at most x."""
        inside = self.below(np.clip(x, self.nodes[0], self.nodes[-1]))
        return np.clip(np.where(np.isnan(x), np.nan, inside), 0.0, 1.0)

    def pdf(self, x: Array) -> Array:
        """Return the density; zero beyond the lattice."""
        inside = (x >= self.nodes[0]) & (x <= self.nodes[-1])
        return np.where(inside, np.maximum(self.below(x, 1), 0.0), 0.0)

    def ppf(self, q: float) -> float:
        """Return the quantile with probability q below it."""
        low, high = self.nodes[0], self.nodes[-1]
        if not self.below(low) < q < self.below(high):
            return float(low if q <= self.below(low) else high)

        def off(x: Array) -> tuple[Array, Array]:
            return self.below(x) / q - 1, self.below(x, 1) / q

        return float(increasing_root(off, low, high, (low + high) / 2))


def table(lattices: Sequence[Lattice], weights: Array, before: Array, number: int) -> Table:
    """Return the distribution function of a coordinate x, by its number.

    Given are the weights of all points, and those before the last refinement.
    """
    every = np.concatenate(
        [lattice.frame.points(lattice.coordinates)[0][:, number] for lattice in lattices]
    )
    x = np.sort(every[weights > _NOTHING])
    new = np.unique(np.concatenate([np.linspace(x[0], x[-1], _NODES), x[:: len(x) // _NODES + 1]]))
    nodes, values, slopes = np.zeros(0), np.zeros(0), np.zeros(0)
    while len(new):
        value, slope = _added(lattices, weights, number, new, fine=True)
        off = np.abs(CubicHermiteSpline(nodes, values, slopes)(new) - value) if len(nodes) else 1.0
        order = np.argsort(np.concatenate([nodes, new]))
        nodes, values, slopes = (
            np.concatenate(pair)[order] for pair in ((nodes, new), (values, value), (slopes, slope))
        )
        # Where the curve missed, the next nodes are in the middle at both sides.
        rough = np.isin(nodes, new[off > _BETWEEN])
        sides = rough[:-1] | rough[1:]
        new = (nodes[:-1] + nodes[1:])[sides] / 2 if len(nodes) < _MOST else new[:0]
        new = new[~np.isin(new, nodes)]
    earlier, _ = _added(lattices, before, number, nodes, fine=False)
    below = CubicHermiteSpline(nodes, values, slopes)
    return Table(nodes, below, float(np.abs(values - earlier).max()) + 2 * _BETWEEN)


def _added(
    lattices: Sequence[Lattice], weights: Array, number: int, nodes: Array, *, fine: bool
) -> tuple[Array, Array]:
    """Return distribution function and density at some nodes."""
    below, density, start = np.zeros(len(nodes)), np.zeros(len(nodes)), 0
    for lattice in lattices:
        w = weights[start : start + len(lattice)]
        start += len(lattice)
        kept = w > _NOTHING
        u, w, frame = lattice.coordinates[kept], w[kept], lattice.frame
        d = u.shape[1]
        axis, speed = frame.way(number, u)
        x, u = frame.points(u)[0][:, number], u[:, axis]
        a, b = frame.stretch[axis], frame.skew[axis]
        if frame.curve:
            x = x - speed * there(u, a, b)[0]
            h = lattice.step[axis] * (1 if fine or lattice.centres else 2)
            earlier = lattice.coordinates[kept, :axis]
            _lines(nodes, (x, speed, u, w, a, b, h), earlier, below, density)
            continue
        step = lattice.step[axis] / (2 if lattice.centres and d > 1 else 1)
        if not fine:  # before the last refinement
            step = lattice.step[axis] * (1 if lattice.centres or d > 1 else 2)
        if a > 0:  # x, but for what is stretched, and what that is
            x, size = x - speed * there(u, a, b)[0], min(step, 1 / a)
        else:
            u, size = np.zeros(len(u)), step
        x, u, w = _gathered(x, u, w, np.abs(speed) * size / _PARTS)
        count = max(1, _BLOCK // max(len(u), 1))
        for at in range(0, len(nodes), count):
            s = (nodes[at : at + count, None] - x) / speed
            gap = (back(s, a, b) - u) / step
            inner = slope_at(s, a, b) * np.abs(speed) * step
            below[at : at + count] += (0.5 + sici(np.pi * gap)[0] * np.sign(speed) / np.pi) @ w
            density[at : at + count] += (np.sinc(gap) / inner) @ w
    return below, density


def _lines(nodes: Array, points: Points, earlier: Array, below: Array, density: Array) -> None:
    """Add lines of points to what is below nodes, and to the density there.

    Points with the same coordinates on `earlier` axes have the same x and speed: they are added up.
    """
    x, speed, u, weights, stretch, skew, step = points
    far = np.abs(u) > _OUT
    _, first, line = np.unique(
        earlier[~far].round(9), axis=0, return_index=True, return_inverse=True
    )
    degrees = min(_DEGREES, int((math.pi / step) ** 2))
    sums = np.zeros((len(first), degrees + 1))
    _add_polynomials(u[~far], weights[~far], line.ravel(), sums)
    own = x[~far][first], speed[~far][first], sums, stretch, skew
    beyond = x[far], speed[far], u[far], weights[far], stretch, skew, step

    def some(part: slice) -> None:
        _add_lines(nodes[part], *own, below[part], density[part])
        _add_far(nodes[part], *beyond, below[part], density[part])

    size = len(nodes) * (len(first) * degrees + int(far.sum()))
    threads.run(some, threads.blocks(nodes, -(-len(nodes) // threads.CORES), 1), size)


@threaded
def _add_polynomials(u: Array, weights: Array, line: NDArray[np.intp], sums: Array) -> None:
    """Add weights times Hermite polynomials, of norm one, to the sums of lines (lines, degrees)."""
    for j in range(len(u)):
        before, here = 0.0, 1.0
        for n in range(sums.shape[1]):
            sums[line[j], n] += weights[j] * here
            before, here = here, (u[j] * here - math.sqrt(n) * before) / math.sqrt(n + 1)


@threaded
def _add_lines(
    nodes: Array,
    x: Array,
    speed: Array,
    sums: Array,
    stretch: float,
    skew: float,
    below: Array,
    density: Array,
) -> None:
    """Add what is below nodes, and the density there, of lines in curved coordinates.

    Along each the function is a normal density times a polynomial, of as many degrees as the step
    resolves.
    """
    wide, lift = math.cosh(skew), math.sinh(skew)
    roots = np.sqrt(np.arange(sums.shape[1] + 1))
    for i in range(len(nodes)):
        for j in range(len(x)):
            at = stretch * wide * (nodes[i] - x[j]) / speed[j] + lift
            v = (math.asinh(at) - skew) / stretch
            slope = speed[j] * math.sqrt(1 + at * at) / wide
            normal = math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
            before, here, first, second = 0.0, 1.0, 0.0, sums[j, 0]
            for n in range(1, sums.shape[1]):
                first += sums[j, n] * here / roots[n]
                before, here = here, (v * here - roots[n - 1] * before) / roots[n]
                second += sums[j, n] * here
            part = 0.5 + math.erf(v / math.sqrt(2)) / 2
            below[i] += sums[j, 0] * part - normal * first
            density[i] += normal * second / slope


@threaded
def _add_far(
    nodes: Array,
    x: Array,
    speed: Array,
    u: Array,
    weights: Array,
    stretch: float,
    skew: float,
    step: float,
    below: Array,
    density: Array,
) -> None:
    """Add points far out, each of which stands for a step."""
    wide, lift = math.cosh(skew), math.sinh(skew)
    for i in range(len(nodes)):
        for j in range(len(x)):
            at = stretch * wide * (nodes[i] - x[j]) / speed[j] + lift
            part = ((math.asinh(at) - skew) / stretch - u[j]) / step
            below[i] += weights[j] * min(max(0.5 + part, 0.0), 1.0)
            if abs(part) < 0.5:  # noqa: PLR2004
                density[i] += weights[j] * wide / (step * speed[j] * math.sqrt(1 + at * at))


def _gathered(x: Array, u: Array, weights: Array, unit: float) -> tuple[Array, Array, Array]:
    """Return fewer points and weights with the same sums of smooth functions of x and u.

    Each is given to those around it, equally spaced along x, by Lagrange's polynomials.
    """
    levels, level = np.unique(u, return_inverse=True)
    low = x.min(initial=np.inf)
    count = (x.max(initial=-np.inf) - low) / unit + _AROUND
    if not len(levels) * count < len(x):
        return x, u, weights
    place = (x - low) / unit
    first, length = np.floor(place).astype(np.int64), int(count) + 1
    part = place - first + _AROUND / 2 - 1
    added = np.zeros(len(levels) * length)
    nodes = np.arange(_AROUND)
    for node in nodes:
        others = nodes[nodes != node]
        share = ((part[:, None] - others) / (node - others)).prod(-1)
        added += np.bincount(level * length + first + node, weights * share, len(added))
    at = np.flatnonzero(added)
    level, place = np.divmod(at, length)
    return low + (place - _AROUND // 2 + 1) * unit, levels[level], added[at]


Map = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Curve:
    """A table over a coordinate, the maps from a number there and back, and the slope of the first.

    The way back need not increase.
    """

    table: Table
    there: Map
    back: Map
    slope: Map

    @property
    def _rises(self) -> bool:
        low, high = self.back(self.table.nodes[[0, -1]])
        return bool(high >= low)

    def cdf(self, t: Array) -> Array:
        """Return the probability of at most t: none or all where t is no possible number."""
        below = self.table.cdf(self.there(t))
        result = below if self._rises else 1 - below
        above = np.where(np.isnan(t), np.nan, t > self.ppf(0.5))
        return np.where(np.isnan(result), above, result)

    def pdf(self, t: Array) -> Array:
        """Return the density."""
        with np.errstate(all="ignore"):
            result = self.table.pdf(self.there(t)) * np.abs(self.slope(t))
        return np.where(np.isfinite(result), result, 0.0)

    def ppf(self, q: float) -> float:
        """Return the quantile."""
        return float(self.back(np.array([self.table.ppf(q if self._rises else 1 - q)]))[0])


@dataclass(frozen=True, eq=False)
class Number:
    """A number with its mean, deviation and excess kurtosis; and its curve, made when asked for."""

    moments: tuple[float, float, float]
    make_curve: Callable[[], Curve]

    @cached_property
    def curve(self) -> Curve:
        """The number's law."""
        return self.make_curve()


class LatticeLaw(Law):
    """The laws of the elements of an array, used like a frozen SciPy law."""

    def __init__(self, shape: tuple[int, ...], numbers: Sequence[Number]) -> None:
        self.shape, self.numbers = shape, list(numbers)

    def entry(self, at: tuple[int, ...]) -> LatticeLaw:
        """Return the law of one element."""
        return LatticeLaw((), [self.numbers[int(np.ravel_multi_index(at, self.shape))]])

    def _each(self, values: Sequence[Any]) -> Array:
        return np.array(values, dtype=float).reshape(self.shape)[()]

    def mean(self) -> Array:
        """Return the means."""
        return self._each([n.moments[0] for n in self.numbers])

    def std(self) -> Array:
        """Return the standard deviations."""
        return self._each([n.moments[1] for n in self.numbers])

    def stats(self, _moments: str) -> Array:
        """Return the excess kurtosis, the only moment that is asked for."""
        return self._each([n.moments[2] for n in self.numbers])

    def _quantile(self, below: Array, _above: Array) -> Array:
        levels = np.broadcast_to(below, self.shape).ravel()
        return self._each(
            [n.curve.ppf(float(q)) for n, q in zip(self.numbers, levels, strict=True)]
        )

    def error(self) -> Array:
        """Return by how much distribution functions may be off."""
        return self._each([n.curve.table.error for n in self.numbers])

    def _at(self, verb: str, x: ArrayLike) -> Array:
        return by_element([getattr(n.curve, verb) for n in self.numbers], x, self.shape)

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probability of at most x."""
        return self._at("cdf", x)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density."""
        return self._at("pdf", x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the log density."""
        with np.errstate(divide="ignore"):
            return np.log(self.pdf(x))
