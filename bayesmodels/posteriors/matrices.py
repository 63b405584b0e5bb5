r"""A random matrix, with the normal vectors whose covariance or precision it is.

At M = t I the score of the matrix and the curvature of the vectors say which of the two M is; the
curvature there is the strength K of the vectors, since their precision is K times M or its inverse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.families import Elements
from bayesmodels.posteriors.gradient import Field, Levels
from bayesmodels.posteriors.independent import LOOSE
from bayesmodels.posteriors.normal_matrix import NormalMatrix


def normal_matrix(
    field: Field,
    real: Elements,
    matrix: Elements,
    x: Array,
    levels: Levels,
    rng: np.random.Generator,
) -> NormalMatrix:
    """Return the law of a matrix and of the vectors that depend on it."""
    width = int(np.sqrt(len(matrix)))
    name = field.continuous[field.owner[matrix[0]]].name
    probe = _Probe(field, real, matrix, x, levels, width)
    if len(real) % width:
        raise NotConjugate(_no_family(name))
    order, kind = _order(probe, name) if len(real) else (np.arange(0), None)
    probe.real = real = real[order]
    vectors = len(real) // width
    scale = 1.0
    location = np.zeros((vectors, width))
    strength = np.zeros((vectors, vectors))
    for _ in range(2):
        if vectors:
            curvature, location = probe.centre(scale * np.eye(width), location)
            size = 1 / scale if kind == "covariance" else scale
            by_place = curvature.reshape(vectors, width, vectors, width) / size
            strength = np.einsum("idjd->ij", by_place) / width
            strength = (strength + strength.T) / 2
            expected = np.einsum("ij,de->idje", strength, np.eye(width))
            if (np.abs(by_place - expected) > LOOSE * np.abs(strength).max()).any():
                raise NotConjugate(_no_family(name))
            if np.linalg.eigvalsh(strength).min() <= 0:
                raise NotConjugate(f"the posterior of the vectors that {name} spreads is improper.")
        precision, power, rate = _matrix_law(probe, location, scale, kind, rng, name)
        scale = float(np.exp(np.log(np.diag(rate)).mean() / 1) / max(abs(power), 1))
        scale = 1 / scale if precision else scale
    # |M|^power in the joint density, of which the vectors own half a power each.
    df = 2 * power - vectors + width + 1 if precision else -2 * power - vectors - width - 1
    if df <= width - 1 or np.linalg.eigvalsh(rate).min() <= 0:
        raise NotConjugate(f"the posterior of {name} is improper. Give it a proper prior.")
    return NormalMatrix(np.append(real, matrix), precision, df, rate, location, strength)


class _Probe:
    """Slopes at chosen values of the matrix and its vectors."""

    def __init__(
        self, field: Field, real: Elements, matrix: Elements, x: Array, levels: Levels, width: int
    ) -> None:
        self.field, self.real, self.matrix = field, real, matrix
        self.x, self.levels, self.width = x.copy(), levels, width

    def __call__(self, matrix: Array, vectors: Array) -> tuple[Array, Array]:
        """Return slopes by the vectors, and by the matrix, symmetric."""
        self.x[self.matrix] = matrix.ravel()
        self.x[self.real] = vectors.ravel()
        slope = self.field(self.x, self.levels)[1]
        inner = slope[self.matrix].reshape(self.width, self.width)
        return slope[self.real], (inner + inner.T) / 2

    def centre(self, matrix: Array, start: Array) -> tuple[Array, Array]:
        """Return curvature and centre of the vectors at a matrix."""
        flat = start.ravel().astype(float)
        here = self(matrix, flat)[0]
        curvature = np.empty((len(flat), len(flat)))
        for j in range(len(flat)):
            step = 64.0 * max(1.0, abs(flat[j]))
            there = flat.copy()
            there[j] += step
            curvature[:, j] = (here - self(matrix, there)[0]) / (there[j] - flat[j])
        curvature = (curvature + curvature.T) / 2
        for _ in range(3):
            flat = flat + np.linalg.solve(curvature, self(matrix, flat)[0])
        return curvature, flat.reshape(start.shape)


def _order(probe: _Probe, name: str) -> tuple[NDArray[np.intp], str]:
    """Sort elements into vectors; say whether the matrix is their covariance or precision."""
    width, n = probe.width, len(probe.real)
    zero, one = np.zeros(n), np.ones(n)

    def curvature(matrix: Array) -> Array:
        diagonal = np.empty(n)
        at = probe(matrix, zero)[0]
        for j in range(n):
            there = zero.copy()
            there[j] = 1.0
            diagonal[j] = at[j] - probe(matrix, there)[0][j]
        return diagonal

    plain = curvature(np.eye(width))
    ratio = curvature(np.diag(2.0 ** np.arange(width))) / (plain + (plain == 0) * one)
    place = np.round(np.log2(np.abs(ratio) + (ratio == 0)))
    if not np.allclose(ratio, 2.0**place, rtol=1e-6):
        raise NotConjugate(_no_family(name))
    kind = "precision" if (place > 0).any() or (place == 0).all() else "covariance"
    place = np.abs(place).astype(int)
    if width == 1:
        kind = "precision" if curvature(np.full((1, 1), 2.0))[0] > plain[0] else "covariance"
    if (np.bincount(place, minlength=width) != n // width).any():
        raise NotConjugate(_no_family(name))
    # The k-th element of each place makes the k-th vector; strength is diagonal in blocks anyway.
    within = np.array([np.flatnonzero(place == d) for d in range(width)]).T
    return within.ravel(), kind


def _matrix_law(
    probe: _Probe,
    location: Array,
    scale: float,
    kind: str | None,
    rng: np.random.Generator,
    name: str,
) -> tuple[bool, float, Array]:
    """Return whether M is a precision, the power of its determinant, and its rate or scale."""
    width = probe.width
    eye = np.eye(width)
    sizes = scale * np.array([1.0, 0.05, 20.0])
    slopes = [probe(size * eye, location)[1] for size in sizes]
    root = eye + 0.3 * np.tril(rng.standard_normal((width, width)))
    other = scale * root @ root.T
    beyond = probe(other, location)[1]
    for precision in (True, False):
        if kind is not None and precision != (kind == "precision"):
            continue
        # slope = power / t I - S / 2, or power / t I + S / (2 t^2)
        first, second = slopes[1], slopes[2]
        t, u = sizes[1], sizes[2]
        if precision:
            power = float(np.trace(first - second) / width / (1 / t - 1 / u))
            rate = -2 * (second - power / u * eye)
        else:
            power = float(np.trace(first * t**2 - second * u**2) / width / (t - u))
            rate = 2 * (first * t**2 - power * t * eye)
        rate = (rate + rate.T) / 2
        fits = True
        for at, seen in ((sizes[0] * eye, slopes[0]), (other, beyond)):
            inverse = np.linalg.inv(at)
            pull = -rate / 2 if precision else inverse @ rate @ inverse / 2
            size = abs(power) * np.abs(inverse).max() + np.abs(pull).max()
            fits &= bool((np.abs(power * inverse + pull - seen) <= LOOSE * size).all())
        if fits:
            return precision, power, rate
    raise NotConjugate(_no_family(name))


def _no_family(name: str) -> str:
    return (
        f"the joint density as a function of {name} is neither a Wishart nor an inverse-Wishart "
        "law's, with normal vectors whose precision or covariance is proportional to it."
    )
