"""Positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.distributions.multivariate import WishartRV

from bayesmodels.models.inverse_wishart_pymc import RootOfPrecision
from bayesmodels.numerics import Array
from bayesmodels.numerics.wishart import symmetric
from bayesmodels.posteriors.support.kind import LINE, Kind, Move, Support

_TURNED, _FAR_TURNED = 0.3, 0.5
_LONGEST = 5.0  # log of a factor of a whole matrix


def _transposed(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _somewhere(z: Array, *_: Any) -> Array:
    root = np.eye(z.shape[-1]) + _TURNED * np.tril(z)
    return root @ _transposed(root)


def _shift(x: Array, by: Array, *_: Any) -> Array:
    root = np.linalg.cholesky(symmetric(x))
    turned = root @ (np.eye(x.shape[-1]) + _FAR_TURNED * np.tril(by))
    return symmetric(turned @ _transposed(turned) * np.exp(by[..., :1, :1]))


def _way(_: Support, __: Any, ___: tuple[int, ...], ____: Array) -> Move:
    """Move a whole matrix."""
    return lambda x, _, t: x * np.exp(t)


MATRIX = Kind(
    ends=LINE,
    somewhere=_somewhere,
    shift=_shift,
    far=lambda x, z, *_: _shift(x, z),
    words="a Wishart or an inverse Wishart law's",
    recognises=lambda op, form, _: isinstance(op, WishartRV) or isinstance(form, RootOfPrecision),
    core=2,
    # A step along the score keeps a matrix symmetric.
    score=lambda _, slope: symmetric(slope),
    score_size=lambda _, size: size,
    tangent=lambda _, along: symmetric(along),
    definite=True,
    way=_way,
    places=lambda _, steps: np.linspace(-_LONGEST, _LONGEST, steps),
)
