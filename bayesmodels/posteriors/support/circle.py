"""Angles: from minus pi to pi, where both ends are the same place."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.distributions.transforms import CircularTransform, Interval

from bayesmodels.numerics import Array
from bayesmodels.posteriors.support.kind import Kind, Move, Support, with_element

_BESIDE = 1e-6  # the place where the ends meet


def around(x: Any) -> Array:
    """Return angles in [-pi, pi) of any numbers."""
    return np.asarray((x + np.pi) % (2 * np.pi) - np.pi)


def _way(_: Support, base: Any, element: tuple[int, ...], __: Array) -> Move:
    """Move an angle once around."""
    x = float(np.asarray(base)[element])
    return lambda y, e, t: with_element(y, e, around(x + t))


CIRCLE = Kind(
    ends=(-np.pi, np.pi),
    somewhere=lambda z, spread, *_: around(spread * z),
    shift=lambda x, by, *_: around(x + by),
    far=lambda x, z, *_: around(x + np.pi * z),
    words="a law on a circle that has a closed form here",
    recognises=lambda _, __, transform: isinstance(transform, CircularTransform),
    clip=lambda x, *_: around(x),
    borders=lambda x, *_: [
        *map(float, around(x + np.pi * np.array([0.5, -0.5, 1.0]))),
        np.pi - _BESIDE,
        _BESIDE - np.pi,
    ],
    # PyMC's own coordinate goes round and round: any number of turns is the same angle.
    coordinates=Interval(-np.pi, np.pi),
    way=_way,
    places=lambda _, steps: np.linspace(-np.pi, np.pi, steps),
)
