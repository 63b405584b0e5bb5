"""Numbers between two ends, of which one may be infinite."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from bayesmodels.numerics import Array
from bayesmodels.posteriors.support.kind import Kind, grown, way_between_ends

CUT_OFF = "a truncated normal, Gamma (of it or of its square) or Beta law, nor of a Pareto law"
_LOGITS = (-16.0, -5.0, 5.0, 16.0)
_MOST = 16


def between(low: Any, high: Any, t: Any) -> Array:
    """Return numbers inside intervals, at the logit or the log t of how far inside they are."""
    t = np.clip(t, -_MOST, _MOST)
    with np.errstate(invalid="ignore"):  # of ends that are not finite, which are not used
        finite = low + (high - low) * expit(t)
    one = np.where(np.isfinite(low), low + np.exp(t), high - np.exp(t))
    return _clip(np.where(np.isfinite(low) & np.isfinite(high), finite, one), low, high)


def _clip(x: Any, low: Any, high: Any) -> Array:
    return np.clip(x, np.nextafter(low, np.inf), np.nextafter(high, -np.inf))


def _shift(x: Any, by: Any, low: Any, high: Any) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        down, up = np.log(x - low), np.log(high - x)
    inner = np.where(np.isfinite(low), np.where(np.isfinite(high), down - up, down), up)
    return between(low, high, inner + by)


INTERVAL = Kind(
    ends=None,
    somewhere=lambda z, spread, low, high: between(low, high, spread * z),
    shift=_shift,
    far=lambda _, __, ___, elsewhere: elsewhere,
    words=f"that of {CUT_OFF}",
    clip=_clip,
    borders=lambda _, __, low, high: [float(between(low, high, t)) for t in _LOGITS],
    way=way_between_ends,
    places=grown,
)
