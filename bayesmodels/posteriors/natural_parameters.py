"""Natural parameters of blocks: they add up where log densities do.

With the finite variables independent given the others, the joint log density is a sum of terms, one
for each of them. So are the natural parameters of all that depends on them, and a few
configurations tell those of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.families import (
    Betas,
    Block,
    Dirichlets,
    Gammas,
    Gaussian,
    Normals,
    ScaledGaussian,
)

Parameters = tuple[Array, ...]

_KINDS = (Betas, Dirichlets, Gammas, Normals, Gaussian, ScaledGaussian)


def same_kinds(one: Sequence[Block], other: Sequence[Block]) -> bool:
    """Whether two lists of blocks differ in their parameters only, which add up."""
    return len(one) == len(other) and all(
        type(a) is type(b)
        and isinstance(a, _KINDS)
        and np.array_equal(a.elements, b.elements)
        and _power(a) == _power(b)
        for a, b in zip(one, other, strict=True)
    )


def _power(block: Block) -> int:
    gamma = block.gamma if isinstance(block, ScaledGaussian) else block
    return gamma.power if isinstance(gamma, Gammas) else 0


def natural(block: Block, centre: Array) -> Parameters:
    """Return natural parameters; numbers are counted from `centre`, so that nothing cancels."""
    if isinstance(block, Betas):
        return block.alpha, block.beta
    if isinstance(block, Dirichlets):
        return (block.alpha,)
    if isinstance(block, Gammas):
        return block.shape, block.rate
    if isinstance(block, Normals):
        return block.precision, block.precision * (block.location - centre)
    if isinstance(block, Gaussian):
        return block.precision, block.precision @ (block.location - centre)
    if isinstance(block, ScaledGaussian):
        inner = block.gaussian
        gap = inner.location - centre[:-1]
        rate = block.gamma.rate + 0.5 * gap @ inner.precision @ gap
        return inner.precision, inner.precision @ gap, block.gamma.shape, rate
    raise TypeError(type(block).__name__)


def magnitudes(block: Block, centre: Array) -> Parameters:
    """Return what the errors of natural parameters are measured in, as blocks' bounds do."""
    if isinstance(block, Betas):
        return 1 + block.alpha, 1 + block.beta
    if isinstance(block, Dirichlets):
        return (1 + block.alpha,)
    if isinstance(block, Gammas):
        return 1 + block.shape, block.rate
    if isinstance(block, Normals):
        spread = np.abs(block.location) + 1 / np.sqrt(block.precision)
        return block.precision, block.precision * spread
    if isinstance(block, Gaussian):
        size = np.sqrt(np.diag(block.precision))
        spread = np.abs(block.location) + 1 / size
        return np.outer(size, size), np.abs(block.precision) @ spread
    if isinstance(block, ScaledGaussian):
        shape, rate = natural(block, centre)[2:]
        return *magnitudes(block.gaussian, centre[:-1]), 1 + shape, rate
    raise TypeError(type(block).__name__)


def like(block: Block, parameters: Parameters, centre: Array) -> Block:
    """Return a block of the same kind with other natural parameters.

    Raises
    ------
    NotConjugate
        If they are those of no density.
    """
    if isinstance(block, Betas):
        made: Block = Betas(block.elements, *_positive(*parameters))
    elif isinstance(block, Dirichlets):
        made = Dirichlets(block.elements, *_positive(*parameters))
    elif isinstance(block, Gammas):
        made = Gammas(block.elements, block.power, *_positive(*parameters))
    elif isinstance(block, Normals):
        (precision,) = _positive(parameters[0])
        made = Normals(block.elements, centre + parameters[1] / precision, precision)
    elif isinstance(block, Gaussian):
        made = _gaussian(block, parameters[0], parameters[1], centre)
    elif isinstance(block, ScaledGaussian):
        inner = _gaussian(block.gaussian, parameters[0], parameters[1], centre[:-1])
        gap = inner.location - centre[:-1]
        shape, rate = _positive(parameters[2], parameters[3] - 0.5 * gap @ parameters[1])
        gamma = Gammas(block.gamma.elements, block.gamma.power, shape, rate)
        made = ScaledGaussian(block.elements, inner, gamma)
    else:
        raise TypeError(type(block).__name__)
    return made


def _gaussian(block: Gaussian, precision: Array, pull: Array, centre: Array) -> Gaussian:
    size = np.sqrt(_positive(np.diag(precision))[0])
    try:
        root = np.linalg.cholesky(precision / np.outer(size, size)).T * size
    except np.linalg.LinAlgError as error:
        raise NotConjugate(_IMPROPER) from error
    gap = np.linalg.solve(root, np.linalg.solve(root.T, pull))
    return Gaussian(block.elements, centre + gap, precision, root)


def _positive(*parameters: Array) -> Parameters:
    if not all((part > 0).all() for part in parameters):
        raise NotConjugate(_IMPROPER)
    return parameters


_IMPROPER = "with some values of the finite variables the posterior of the others is improper."
