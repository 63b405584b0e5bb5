r"""Sums over nodes of many elements: where they are, what they add up to, and where mass is.

With the place t of a node, in equal steps h,

.. math:: x = c + s \sinh t, \qquad
    \ln \int p \, dx \approx \ln \sum_k p(x_k) \, s \cosh t_k \, h.

Each element of each row has a centre c, a scale s, and a first and a last place of its own.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.node_law import OFFSET, Nodes

PLACES = 24
"""Nodes on which mass is looked for."""
_WIDE = 6.0  # how far in t they reach
_NEAR, _ALIKE = 0.5, 2.0  # of a scale: a centre that stays; ratio of scales that are the same
_SEEN = 1.0  # steps that a deviation has where no closer look is needed
_QUARTER, _NORMAL = 0.25, 1.349  # distance of a normal law's quartiles
_COARSE, _SHARPEST = 0.8, 0.02  # steps
_LEAST, _MOST = 1.5, 6.0  # reach of t, to begin with
_HEARD = 1e-13  # of the mass, where it is not negligible
_compiled = partial(threaded, error_model="numpy")


class Sums(NamedTuple):
    """The mass of each node (rows, elements, nodes), and logs of sums (rows, elements).

    Of all nodes, of every second and of every fourth; and what the mass beyond the first and the
    last one is about.
    """

    mass: Array
    logs: Array
    beyond: Array


def everywhere(centre: Array, scale: Array) -> Nodes:
    """Return nodes on which mass is looked for."""
    wide = np.full(centre.shape, _WIDE)
    return Nodes(centre, scale, -wide, wide)


def spread(nodes: Nodes, number: int) -> Array:
    """Return so many nodes of each element, (rows, nodes, elements)."""
    x = np.empty((len(nodes.centre), number, nodes.centre.shape[1]))
    _spread(nodes.centre, nodes.scale, nodes.low, (nodes.high - nodes.low) / number, x)
    return x


def summed(nodes: Nodes, logs: Array) -> Sums:
    """Return sums, given logs of a density at `spread` nodes; those that are no number are zero."""
    rows, number, size = logs.shape
    result = Sums(
        np.empty((rows, size, number)), np.empty((3, rows, size)), np.empty((2, rows, size))
    )
    _summed(logs, nodes.scale, nodes.low, (nodes.high - nodes.low) / number, *result)
    return result


def nearer(nodes: Nodes, mass: Array) -> tuple[Nodes, NDArray[np.bool_]]:
    """Return nodes around the mass that is on nodes `everywhere`, and whether these are about it.

    That is where they show how wide it is, or where the new ones are about the same.
    """
    result = Nodes(*(np.empty(nodes.centre.shape) for _ in range(4)))
    stays = np.empty(nodes.centre.shape, dtype=bool)
    _nearer(mass, nodes.centre, nodes.scale, *vars(result).values(), stays)
    return result, stays


@_compiled
def _spread(centre: Array, scale: Array, low: Array, step: Array, x: Array) -> None:
    up, times = np.empty(x.shape[2]), np.empty(x.shape[2])
    for row in range(len(x)):
        for i in range(len(up)):
            up[i] = math.exp(low[row, i] + OFFSET * step[row, i])
            times[i] = math.exp(step[row, i])
        for k in range(x.shape[1]):
            for i in range(len(up)):
                x[row, k, i] = centre[row, i] + scale[row, i] * (up[i] - 1 / up[i]) / 2
                up[i] *= times[i]


@_compiled
def _summed(
    logs: Array, scale: Array, low: Array, step: Array, mass: Array, sums: Array, beyond: Array
) -> None:
    rows, number, size = logs.shape
    for row in range(rows):
        for i in range(size):
            top, first, last = -math.inf, number, -1
            for k in range(number):
                if logs[row, k, i] > -math.inf:
                    first, last = min(first, k), k
                    top = max(top, logs[row, k, i])
            known = math.isfinite(top)
            up = math.exp(low[row, i] + OFFSET * step[row, i])
            times = math.exp(step[row, i])
            total = second = fourth = 0.0
            for k in range(number):
                value = 0.0
                if known and logs[row, k, i] > -math.inf:
                    value = math.exp(logs[row, k, i] - top) * (up + 1 / up) / 2
                mass[row, i, k] = value
                total += value
                second += value if k % 2 == 0 else 0.0
                fourth += value if k % 4 == 0 else 0.0
                up *= times
            unit = top + math.log(scale[row, i] * step[row, i]) if known else math.nan
            each = (total, 2 * second, 4 * fourth)
            for j in range(3):
                sums[j, row, i] = unit + math.log(each[j]) if each[j] > 0 else -math.inf
            for k in range(number):
                mass[row, i, k] /= total if total > 0 else 1.0
            for j, end in enumerate((first, last)):
                beyond[j, row, i] = 2 * mass[row, i, end] / step[row, i] if total > 0 else 0.0


@_compiled
def _nearer(  # noqa: C901 - plain loops within each other, to be compiled
    mass: Array, old: Array, unit: Array, centre: Array, scale: Array, low: Array, high: Array,
    stays: NDArray[np.bool_],
) -> None:  # fmt: skip
    rows, size, number = mass.shape
    step = 2 * _WIDE / number
    first_place = -_WIDE + OFFSET * step
    quartiles = np.empty(3)
    for row in range(rows):
        for i in range(size):
            p, c, s = mass[row, i], old[row, i], unit[row, i]
            top = np.argmax(p)
            # A parabola through the top, where it is narrower than a step.
            before, after = p[max(top - 1, 0)], p[min(top + 1, number - 1)]
            shift, width = 0.0, _SHARPEST
            if before > 0 and after > 0:
                before, after = math.log(before / p[top]), math.log(after / p[top])
                bend = after + before
                width = 1.0
                if bend < 0:
                    shift = min(max((before - after) / 2 / bend, -1.0), 1.0)
                    width = min(max(1 / math.sqrt(-bend), _SHARPEST), 1.0)
            middle = first_place + (top + shift) * step
            centre[row, i] = c + s * math.sinh(middle)
            scale[row, i] = s * math.cosh(middle) * width * step
            # The quartiles, where it is wider.
            first, last, j, before, cumulated = number, -1, 0, 0.0, 0.0
            for k in range(number):
                if p[k] > _HEARD:
                    first, last = min(first, k), k
                below = cumulated + p[k] / 2
                while j < len(quartiles) and below > (j + 1) * _QUARTER:
                    part = ((j + 1) * _QUARTER - before) / (below - before) if k else 1.0
                    quartiles[j] = first_place + (k - 1 + part) * step
                    j += 1
                cumulated += p[k]
                before = below
            for beyond in range(j, len(quartiles)):
                quartiles[beyond] = first_place + (number - 1) * step
            wide = (quartiles[2] - quartiles[0]) / _NORMAL / step
            edge = top in (0, number - 1)
            if edge:
                centre[row, i] = c + s * math.sinh(first_place + top * step)
                scale[row, i] = s * math.sinh(_WIDE)
            elif wide > _COARSE:
                centre[row, i] = c + s * math.sinh(quartiles[1])
                across = math.sinh(quartiles[2]) - math.sinh(quartiles[0])
                scale[row, i] = s * across / _NORMAL
            c_new, s_new = centre[row, i], scale[row, i]
            gap, ratio = abs(c_new - c) / s, s_new / s
            alike = gap < _NEAR and 1 / _ALIKE < ratio < _ALIKE
            stays[row, i] = alike or (wide > _SEEN and not edge)
            start = c + s * math.sinh(first_place + (first - 1) * step)
            end = c + s * math.sinh(first_place + (last + 1) * step)
            low[row, i] = -min(max(math.asinh((c_new - start) / s_new), _LEAST), _MOST)
            high[row, i] = min(max(math.asinh((end - c_new) / s_new), _LEAST), _MOST)
