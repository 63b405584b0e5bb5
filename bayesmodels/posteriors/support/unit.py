"""Numbers between 0 and 1."""

from __future__ import annotations

from functools import partial

import numpy as np
import pymc as pm
from scipy.special import expit, logit

from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import BETA
from bayesmodels.posteriors.support.interval import CUT_OFF
from bayesmodels.posteriors.support.kind import Kind, grown, way_between_ends
from bayesmodels.posteriors.support.positive import LEAST, SMALL

# Beyond this logit 1 - x, in a model that says so, has fewer than nine digits left.
_MOST, _FARTHEST = 16, 25
_BORDER = (1e-14, 1e-6, 1 - 1e-6, 1 - 1e-14)
_NEAREST = 1e-12
_FACTOR = 4.0


def _shift(x: Array, by: Array, *_: Array) -> Array:
    here = logit(np.clip(x, _NEAREST, 1 - _NEAREST))
    return np.asarray(expit(np.clip(here + by, -_FARTHEST, _FARTHEST)))


UNIT = Kind(
    ends=(0.0, 1.0),
    somewhere=lambda z, spread, *_: expit(np.clip(spread * z, -_MOST, _MOST)),
    shift=_shift,
    far=lambda x, z, *_: _shift(x, _FACTOR * z),
    words=f"that of a Beta law, nor of {CUT_OFF}",
    jacobian=lambda x: x * (1 - x),
    inside=lambda x: np.where(x >= 1, 1 - SMALL, np.where(x <= LEAST, SMALL, x)),
    clip=lambda x, *_: np.clip(x, _NEAREST, 1 - _NEAREST),
    borders=lambda *_: list(_BORDER),
    families=(BETA,),
    flat=partial(pm.Uniform.dist, 0.0, 1.0),
    way=way_between_ends,
    places=grown,
)
