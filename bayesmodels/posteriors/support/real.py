"""All numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm

from bayesmodels.models.inverse_wishart_pymc import Standardised
from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import NORMAL
from bayesmodels.posteriors.support.kind import LINE, Kind, Move, Support, with_element

_DEVIATIONS = (-1e6, -1e4, -300.0, -30.0, 30.0, 300.0, 1e4, 1e6)
_FAR = 14.0  # a million scales


def way(_: Support | None, __: Any, element: tuple[int, ...], values: Any) -> Move:
    """Move a number along the line, up to a million times as far as its values lie apart."""
    element_values = values[(slice(None), *element)]
    centre = float(np.median(element_values))
    scale = float(np.median(np.abs(element_values - centre))) or 1.0

    def move(x: Any, e: tuple[int, ...], t: float) -> Any:
        return with_element(x, e, centre + scale * np.sign(t) * np.expm1(np.abs(t)))

    return move


def places(_: Support | None, steps: int) -> Array:
    """Return places on such a way."""
    return np.linspace(-_FAR, _FAR, steps)


REAL = Kind(
    ends=LINE,
    # Numbers have no natural size; logs and logits do.
    somewhere=lambda z, spread, *_: z * spread**2,
    shift=lambda x, by, *_: x + by,
    far=lambda x, _, step, __: x + step,
    words="a normal law's",
    recognises=lambda _, transform, __: isinstance(transform, Standardised),
    borders=lambda x, spread, *_: [x + step * spread for step in _DEVIATIONS],
    families=(NORMAL,),
    flat=pm.Flat.dist,
    way=way,
    places=places,
)
