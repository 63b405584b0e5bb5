r"""Coordinates in which a density of several numbers is nearly normal: a triangular map.

Each number has a middle and a width that depend on coordinates before it, and tails of its own,

.. math:: y_i = m_i(u_{<i}) + e^{l_i(u_{<i})} s_i(u_i), \qquad
    s_i(u) = \frac{\sinh(a_i u + b_i) - \sinh b_i}{a_i \cosh b_i},

with m of second and l of first degree. Funnels and bananas, as scales and products have them,
become round. Sources: Marzouk, Moselhy, Parno and Spantini (2016), *Sampling via measure
transport*, Handbook of Uncertainty Quantification; Jones and Pewsey (2009), *Sinh-arcsinh
distributions*, Biometrika 96.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import triangle

_ROUNDS = 8  # of middles given widths, and of widths given middles
_MOST = 20.0  # log width, of a fit that gets lost
_FAR = 10.0  # squared deviations that count as no more
_DIGITS = 3  # of stretch and skew
_TAILS, _MIDDLE = ((1e-3, 1.5), (-4.0, 4.0)), (0.2, 0.0)  # bounds of stretch and skew, and a first


@dataclass(frozen=True, eq=False)
class Curve:
    """Middles and log widths of numbers, as coefficients of terms of coordinates before them."""

    middles: tuple[Array, ...]
    widths: tuple[Array, ...]

    def given(self, u: Array, axis: int) -> tuple[Array, Array]:
        """Return the middle and the log width of a number, given coordinates (n, d)."""
        terms = _terms(u[:, :axis])
        return terms @ self.middles[axis], terms[:, : axis + 1] @ self.widths[axis]


def there(u: Array, stretch: Array, skew: Array) -> tuple[Array, Array]:
    """Return s(u) and the log of its slope."""
    at, safe = stretch * u + skew, np.where(stretch > 0, stretch, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        s = np.where(stretch > 0, (np.sinh(at) - np.sinh(skew)) / (safe * np.cosh(skew)), u)
    return s, np.logaddexp(at, -at) - np.log(2 * np.cosh(skew))


def back(s: Array, stretch: Array, skew: Array) -> Array:
    """Return where s(u) is s."""
    safe = np.where(stretch > 0, stretch, 1.0)
    u = (np.arcsinh(safe * np.cosh(skew) * s + np.sinh(skew)) - skew) / safe
    return np.where(stretch > 0, u, s)


def slope_at(s: Array, stretch: Array, skew: Array) -> Array:
    """Return the slope of s(u) where it is s."""
    wide = np.cosh(skew)
    return np.asarray(np.hypot(1.0, stretch * wide * s + np.sinh(skew)) / wide)


def fitted(x: Array, weights: Array, wide: float) -> tuple[Array, Array, Array, Array, Curve]:
    """Return centre, root, stretch, skew and curve, by which weighted points (n, d) become normal.

    Their variances become as `wide` as that. Rows of the root are in the order of the numbers.
    """
    left, order = list(range(x.shape[1])), list[int]()
    while left:  # the last one is that whose law depends most on the others
        gains = []
        for last in left:
            u = _whitened(x[:, [*(k for k in left if k != last), last]], weights, wide)[2]
            gains.append(_regressed(u, weights, wide)[2])
        order.insert(0, left.pop(int(np.argmax(gains))))
    centre, root, u = _whitened(x[:, order], weights, wide)
    middles, widths, tails = list[Array](), list[Array](), list[Array]()
    for axis in range(len(order)):
        middle, width, _ = _regressed(u[:, : axis + 1], weights, wide)
        middles.append(middle)
        widths.append(width)
        curve = Curve(tuple(middles), tuple(widths))
        middle, log_width = curve.given(u, axis)
        rest = (u[:, axis] - middle) * np.exp(-log_width)
        tails.append(_tail(rest, weights, wide))
        u[:, axis] = back(rest, *tails[-1])
    stretch, skew = np.transpose(tails)
    rows = np.argsort(order)
    return centre[rows], root[rows], stretch, skew, curve


def _terms(u: Array) -> Array:
    """Return one, the coordinates, and products of two, as columns."""
    first, second = np.triu_indices(u.shape[1])
    return np.column_stack([np.ones(len(u)), u, u[:, first] * u[:, second]])


def _whitened(x: Array, weights: Array, wide: float) -> tuple[Array, Array, Array]:
    """Return mean and root of weighted points, and the points with variances as wide as that."""
    centre = weights @ x
    gap = x - centre
    root = triangle(np.sqrt(weights / wide)[:, None] * gap).T
    return centre, root, solve_triangular(root, gap.T, lower=True).T


def _regressed(u: Array, weights: Array, wide: float) -> tuple[Array, Array, float]:
    """Return middle and log width of the last of numbers (n, d), and what is gained in log density.

    Middles are fitted by least squares, log widths by Fisher's scoring of squares.
    """
    terms, z = _terms(u[:, :-1]), u[:, -1]
    few, log_width = terms[:, : u.shape[1]], np.zeros(len(u))
    width = np.zeros(u.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights) * np.exp(-log_width)
        middle = np.linalg.lstsq(root[:, None] * terms, root * z)[0]
        square = np.minimum((z - terms @ middle) ** 2 * np.exp(-2 * log_width) / wide, _FAR)
        by = np.sqrt(weights)
        width = width + np.linalg.lstsq(by[:, None] * few, by * (square - 1) / 2)[0]
        log_width = np.clip(few @ width, -_MOST, _MOST)
    off = (z - terms @ middle) ** 2 * np.exp(-2 * log_width) / wide
    return middle, width, float(weights @ (1 - off) / 2 - weights @ log_width)


def _tail(z: Array, weights: Array, wide: float) -> Array:
    """Return stretch and skew, by which numbers become normal ones."""

    def loss(tail: Array) -> float:
        u = back(z, *tail)
        return float(weights @ (u**2 / (2 * wide) + there(u, *tail)[1]))

    found = minimize(loss, _MIDDLE, bounds=_TAILS, method="Nelder-Mead").x
    return np.round(found, _DIGITS)  # of which rounding elsewhere changes none
