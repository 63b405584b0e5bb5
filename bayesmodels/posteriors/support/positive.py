"""Positive numbers."""

from __future__ import annotations

import numpy as np
import pymc as pm

from bayesmodels.numerics.exponential_families import generalized_inverse_gaussian
from bayesmodels.posteriors.support.kind import Kind, grown, way_between_ends

LEAST, SMALL = 1e-250, 1e-6
"""What rounding has put on a border, and where it is moved to."""
_DECADES = (-30.0, -8.0, 8.0, 30.0)
_FACTOR = 2.0  # far points: factors of up to e^8 and more
_NEAREST = 1e-12

POSITIVE = Kind(
    ends=(0.0, np.inf),
    somewhere=lambda z, spread, *_: np.exp(spread * z),
    shift=lambda x, by, *_: x * np.exp(by),
    far=lambda x, z, *_: x * np.exp(_FACTOR * z),
    words="that of a Gamma, an inverse Gamma or a generalised inverse Gaussian law (of it or of "
    "its square), nor of a truncated normal law",
    jacobian=lambda x: x,
    inside=lambda x: np.where(x <= LEAST, SMALL, x),
    clip=lambda x, *_: np.maximum(x, _NEAREST),
    borders=lambda x, *_: [x * float(np.exp(step)) for step in _DECADES],
    families=(generalized_inverse_gaussian(1), generalized_inverse_gaussian(2)),
    flat=pm.HalfFlat.dist,
    way=way_between_ends,
    places=grown,
)
