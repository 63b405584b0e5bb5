r"""Which moments exist: how a density falls far out, below the floor of any lattice.

Along a ray on which a number x grows without end, let its density fall as a power, p(x) ~ x^(-k).
Its mean exists for k > 2 alone, and its variance for k > 3, however small the part of the mass that
is there: a likelihood that does not vanish far out leaves the prior's tail, be it e^(-50) as high.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.numerics.lattice import Frame, Function

_FAR = 1e60  # numbers and coordinates so large that their fourth powers are numbers
_DEEP = 1e6  # below the middle: no tail that is a power
_LOW = 20.0  # below the middle: where the tails begin
_AT_ONCE = 4  # points of a ray
_GROWS = 1e-3  # of the log of a number, from one point of a ray to the next
_SURE = 0.02  # of a power


def lacking(f: Function, frame: Frame) -> NDArray[np.bool_]:
    """Return which means, and then which variances, of the numbers carried along do not exist.

    Rays go along the coordinates, both ways, from the middle of a frame that has the mass.
    """
    units = np.diag(np.sqrt((frame.root**2).sum(1)))
    slowest = np.max([_power(f, frame.centre, way) for way in (*units, *-units)], axis=0)
    return np.concatenate([slowest > -1 - _SURE, slowest > -2 - _SURE])


def _power(f: Function, start: Array, way: Array) -> Array:
    """Return as which power of each number its density times it falls at the end of a ray.

    It is minus infinity of numbers that do not grow, and where the density falls faster and faster.
    """
    (top,), (middle,) = f(start[None])
    none = np.full(len(middle), -np.inf)
    distances, ray = 2.0 ** np.arange(400), list[tuple[float, float, Array]]()
    distances = distances[np.abs(start + distances[:, None] * way).max(1) < _FAR]
    each = (
        x
        for some in np.split(distances, range(_AT_ONCE, len(distances), _AT_ONCE))
        for x in zip(some, *f(start + some[:, None] * way), strict=True)
    )
    for distance, log, numbers in each:
        if log < top - _DEEP:
            return none
        lost = np.isnan(log) or (ray and log > ray[-1][1] < top - _LOW)  # a tail does not rise
        if lost or not np.abs(numbers).max(initial=0) < _FAR:
            break  # there are no digits further on
        ray.append((distance, log, np.abs(numbers - middle)))
    if len(ray) < 4:  # noqa: PLR2004 - of which two powers come
        return none
    distances, logs, sizes = (np.array(column) for column in zip(*ray[-4:], strict=True))
    with np.errstate(all="ignore"):
        sizes = np.log(sizes)
        grows = np.diff(sizes, axis=0)
        # The density of the log of a number, in the middle between two points.
        each = (logs[1:] + logs[:-1])[:, None] / 2 + np.log(np.diff(distances)[:, None] / grows)
        before, power = np.diff(each, axis=0) / np.diff((sizes[1:] + sizes[:-1]) / 2, axis=0)
        falls = (grows > _GROWS).all(0) & (power >= before - _SURE)
    return np.where(falls, power, none)
