r"""How many of float64's 16 digits are lost between the data and the posterior, by estimate.

The numbers of the data are taken as exact. Counts are, and means and scatters about them lose
nothing, whatever the offset, since they are added up about the mean. What is solved for multiplies
rounding errors:

- coefficients of a regression, by the bound of first order for rows that each have errors of their
  own size, the row of means among them (Björck 1996, section 1.4);

others by a condition number, which is the smallest, up to a factor of the square root of its size,
if columns are first scaled to one length (van der Sluis 1969):

- normal vectors and discriminants by that of the scale matrix Psi, which is the square of its
  factor's, since the matrix itself is kept;
- a normal approximation by that of its precision matrix;
- normal blocks of a PyMC model's closed form by that of their precision, matrices by their scale.

Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed. 2002, sections 7.3 and 20.1.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from bayesmodels.belief.reading import levels
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import GaussianDiscriminant
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.hypotheses import ConceptLearning
from bayesmodels.models.linear_regression import LinearRegression, digits_of_coefficients_lost
from bayesmodels.models.logistic.laplace import LaplaceApproximation
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart
from bayesmodels.numerics import Array
from bayesmodels.posteriors.families import Gaussian, ScaledGaussian
from bayesmodels.posteriors.matrix_block import NormalMatrix
from bayesmodels.posteriors.posterior import ExactPosterior

DIGITS = float(-np.log10(np.finfo(float).eps / 2))
"""Decimal digits of a float64."""


@singledispatch
def digits_lost(posterior: Any, statistic: Any) -> float | None:
    """Return about how many digits are lost, the most of a batch; None if not known.

    Adding up rows may take one or two more.

    Parameters
    ----------
    posterior : Belief, LaplaceApproximation or ExactPosterior
        After the data.
    statistic : Statistic or None
        Of the data; needed by regressions and classifiers.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> x = np.linspace(0, 1, 20)
    >>> line = bm.LinearRegression.flat(3)
    >>> s = line.statistic((np.column_stack([x**0, 1e8 + x, x**2]), x))
    >>> round(digits_lost(line.update(s), s), 1)
    2.6
    """
    del posterior, statistic
    return None


@digits_lost.register(BetaBernoulli)
@digits_lost.register(DirichletCategorical)
@digits_lost.register(NormalInverseGamma)
@digits_lost.register(ConceptLearning)
def _(posterior: Any, statistic: Any) -> float:
    del posterior, statistic
    return 0.0


@digits_lost.register(NormalInverseWishart)
@digits_lost.register(SharedNormalInverseWishart)
def _(posterior: Any, statistic: Any) -> float:
    del statistic
    return _of_matrix(posterior.scale)


@digits_lost.register
def _(posterior: LaplaceApproximation, statistic: Any) -> float:
    del statistic
    return 2 * _of_factor(posterior.factor)


@digits_lost.register
def _(posterior: LinearRegression, statistic: Any) -> float:
    return digits_of_coefficients_lost(posterior, statistic)


@digits_lost.register(NaiveBayes)
@digits_lost.register(GaussianDiscriminant)
def _(posterior: Any, statistic: Any) -> float | None:
    parts = [
        digits_lost(block.belief, statistic.features[name])
        for name, block in posterior.blocks.items()
    ]
    return max((part for part in parts if part is not None), default=None)


@digits_lost.register
def _(posterior: ExactPosterior, statistic: Any) -> float | None:
    del statistic
    if levels(posterior):  # as many posteriors as there are levels
        return None
    return max((_of_block(block) for block in posterior.blocks), default=0.0)


def _of_block(block: Any) -> float:
    """Return what is lost by a law of some elements."""
    match block:
        case Gaussian():
            return 2 * _of_factor(block.root)
        case ScaledGaussian():
            return 2 * _of_factor(block.gaussian.root)
        case NormalMatrix():
            return max(_of_matrix(m) for m in (block.scale, block.strength) if m.size)
    return 0.0


def _of_matrix(matrix: Array) -> float:
    length = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    correlations = matrix / length[..., None] / length[..., None, :]
    return float(np.log10(np.linalg.cond(correlations)).max())


def _of_factor(root: Array) -> float:
    """Return the logarithm of the condition number of a factor with columns of length one."""
    length = np.sqrt((root**2).sum(-2, keepdims=True))
    return float(np.log10(np.linalg.cond(root / length)).max())
