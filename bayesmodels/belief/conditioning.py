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

from typing import Any

import numpy as np

from bayesmodels.numerics import Array

DIGITS = float(-np.log10(np.finfo(float).eps / 2))
"""Decimal digits of a float64."""


def none_lost(self: Any, statistic: Any) -> float:
    """Return 0, the digits lost in counts and in moments about the mean."""
    del self, statistic
    return 0.0


def lost_in_scale(self: Any, statistic: Any) -> float:
    """Return about how many digits are lost, by the condition of the scale matrix."""
    del statistic
    return digits_of_matrix(self.scale)


def digits_of_matrix(matrix: Array) -> float:
    """Return the logarithm of the condition number of a matrix with a diagonal of ones."""
    length = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    correlations = matrix / length[..., None] / length[..., None, :]
    return float(np.log10(np.linalg.cond(correlations)).max())


def digits_of_factor(root: Array) -> float:
    """Return the logarithm of the condition number of a factor with columns of length one."""
    length = np.sqrt((root**2).sum(-2, keepdims=True))
    return float(np.log10(np.linalg.cond(root / length)).max())
