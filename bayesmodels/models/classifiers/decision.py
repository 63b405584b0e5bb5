r"""Normal classes with known parameters: where the decision changes, and how often it errs.

===============  ===============================================================================
Classes          p(y = c) = pi_c,  x | y = c ~ Normal(mu_c, Sigma_c)
Log odds         ln(pi_1 / pi_0) - ½ ln(|Sigma_1| / |Sigma_0|)
                 - ½ (x - mu_1)' Sigma_1⁻¹ (x - mu_1) + ½ (x - mu_0)' Sigma_0⁻¹ (x - mu_0)
Bayes risk       1 - E max_c p(c | x), the error rate of the best classifier there can be
===============  ===============================================================================

The log odds are quadratic in x, and linear just where both classes have one covariance: with
Sigma_1 = k Sigma_0 the term ½ (1 - 1/k) x' Sigma_0⁻¹ x remains unless k = 1.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 4.2; Duda, Hart and Stork,
*Pattern Classification* (2001), sections 2.6 and 2.7.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from bayesmodels.errors import DataError
from bayesmodels.input.containers import read
from bayesmodels.input.domains import finite, probabilities
from bayesmodels.input.parameters import cholesky_factor, count, randomness
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS, half_log_det

_BLOCK = 1 << 16  # points at a time


@dataclass(frozen=True, eq=False)
class Boundary:
    r"""Log odds of class 1 against class 0, a quadratic function; the boundary is where it is 0.

    .. math:: \ln \frac{p(y = 1 \mid x)}{p(y = 0 \mid x)} = u^\top Q u + s^\top u + c, \qquad
        u = x - o

    Attributes
    ----------
    origin : ndarray of shape (D,)
        o, halfway between the means: classes far from zero lose no digits.
    quadratic : ndarray of shape (D, D)
        Q, symmetric; exactly zero for one covariance.
    slope : ndarray of shape (D,)
        s, the gradient of the log odds at the origin.
    constant : float
        c, the log odds at the origin.
    """

    origin: Array
    quadratic: Array
    slope: Array
    constant: float

    @property
    def linear(self) -> bool:
        """Whether the boundary is a hyperplane (or nowhere): no quadratic term."""
        return not self.quadratic.any()

    def log_odds(self, x: ArrayLike) -> Array:
        """Return the log odds of class 1 at points x of shape (..., D).

        Raises
        ------
        DataError
            If the points are not finite, or have another number of coordinates.
        """
        points = finite(read(x, "x", bare=True))
        if points.shape[-1:] != self.origin.shape:
            raise DataError(
                f"x: must have {len(self.origin)} coordinates along the last axis; got shape "
                f"{points.shape}."
            )
        u = points - self.origin
        return ((u @ self.quadratic + self.slope) * u).sum(-1) + self.constant

    def about_zero(self) -> tuple[Array, Array, float]:
        """Return Q, b and c of x'Qx + b'x + c, the same function written about the point zero.

        Examples
        --------
        >>> two = boundary([0.5, 0.5], [[1.0], [3.0]], [[1.0]])
        >>> Q, b, c = two.about_zero()
        >>> b, c  # zero at x = 2
        (array([2.]), -4.0)
        """
        Q, o = self.quadratic, self.origin
        return Q, self.slope - 2 * Q @ o, float(self.constant - (self.slope - Q @ o) @ o)


class Risk(NamedTuple):
    """Probability of an error, and the standard error of that number (0 for a closed form)."""

    value: float
    standard_error: float


def boundary(pi: ArrayLike, mu: ArrayLike, Sigma: ArrayLike) -> Boundary:
    """Return the log odds of two normal classes, of shapes (2,), (2, D) and (D, D) or (2, D, D)."""
    prior, means, roots = _classes(pi, mu, Sigma)
    if len(prior) != 2 or (prior == 0).any():  # noqa: PLR2004 - a boundary lies between two
        raise DataError(f"pi: must hold two positive probabilities; got {prior.tolist()}.")
    half = _whitened(roots, np.eye(means.shape[-1]))
    precision = np.swapaxes(half, -1, -2) @ half
    volume = half_log_det(roots)
    shift = (means[1] - means[0]) / 2
    return Boundary(
        origin=means[0] + shift,
        quadratic=(precision[0] - precision[1]) / 2,
        slope=(precision[0] + precision[1]) @ shift,
        constant=float(
            np.log(prior[1])
            - np.log(prior[0])
            - (volume[1] - volume[0])
            + shift @ (precision[0] - precision[1]) @ shift / 2
        ),
    )


def bayes_risk(
    pi: ArrayLike,
    mu: ArrayLike,
    Sigma: ArrayLike,
    *,
    draws: int = 100_000,
    rng: np.random.Generator | int | None = None,
) -> Risk:
    """Return how often the best classifier errs, from (C,), (C, D) and (D, D) or (C, D, D)."""
    prior, means, roots = _classes(pi, mu, Sigma)
    number = count(draws, "draws", 2)
    rng = randomness(rng)
    possible = prior > 0
    prior, means, roots = prior[possible], means[possible], roots[possible]
    if len(prior) == 1:
        return Risk(0.0, 0.0)
    if len(prior) == 2 and (roots[0] == roots[1]).all():  # noqa: PLR2004 - two classes
        return Risk(_closed_form(prior, means, roots[0]), 0.0)
    value, square = 0.0, 0.0
    for c, share in enumerate(prior):
        size = max(2, int(np.ceil(share * number)))
        errors = np.empty(size)
        for start in range(0, size, _BLOCK):
            part = errors[start : start + _BLOCK]
            noise = rng.standard_normal((len(part), means.shape[-1]))
            part[:] = _conditional_error(means[c] + noise @ roots[c].T, prior, means, roots)
        value += share * errors.mean()
        square += share**2 * errors.var(ddof=1) / size
    return Risk(float(value), float(np.sqrt(square)))


def boundary_at(
    self: Any, parameters: Mapping[str, Any], between: Sequence[Hashable] | None = None
) -> Boundary:
    r"""Return the log odds of two classes as if the parameters were known.

    .. math:: \ln \frac{\pi_1}{\pi_0} - \tfrac12 \ln \frac{|\Sigma_1|}{|\Sigma_0|}
        - \tfrac12 (x - \mu_1)^\top \Sigma_1^{-1} (x - \mu_1)
        + \tfrac12 (x - \mu_0)^\top \Sigma_0^{-1} (x - \mu_0)

    Parameters
    ----------
    parameters : mapping
        Such as ``belief.mean()``: ``pi``, ``mu`` and ``Sigma`` or ``sigma2``, under the model's
        names. Of naive Bayes all features must be normal.
    between : pair of classes, optional
        Of more than two classes, which ones; the log odds are of the second against the first.

    Returns
    -------
    Boundary
        A quadratic function, linear just where the covariances are equal.

    Raises
    ------
    DataError
        If `between` is no pair of the model's classes, a probability is 0, or a parameter is
        missing or has another shape.

    References
    ----------
    Duda, Hart and Stork (2001), *Pattern Classification*, section 2.6.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> normal = bm.NormalInverseWishart([0, 0], 1, 5, np.eye(2))
    >>> two = bm.GaussianDiscriminant(bm.DirichletCategorical([1, 1]), normal, covariance="shared")
    >>> known = {"pi": [0.5, 0.5], "mu": [[0, 0], [2, 0]], "Sigma": np.eye(2)}
    >>> line = two.boundary(known)
    >>> line.linear, line.log_odds([[1, 5], [2, 0]])
    (True, array([0., 2.]))
    """
    labels = self.classes.coords["category"]
    pair = labels if between is None else tuple(between)
    if len(pair) != 2 or pair[0] == pair[1] or not {*pair} <= {*labels}:  # noqa: PLR2004
        raise DataError(f"between: must be two of the classes {labels}; got {between!r}.")
    pi, mu, Sigma = self.normals(parameters)
    at = [labels.index(label) for label in pair]
    if not (pi[at] > 0).all():
        raise DataError(f"parameters: pi of {pair} must be positive; got {pi[at].tolist()}.")
    return boundary(pi[at] / pi[at].sum(), mu[at], Sigma[at])


def bayes_risk_at(
    self: Any,
    parameters: Mapping[str, Any],
    *,
    draws: int = 100_000,
    rng: np.random.Generator | int | None = None,
) -> Risk:
    r"""Return how often the best classifier errs, as if the parameters were known.

    For two classes with one covariance, :math:`\Delta^2 = (\mu_1 - \mu_0)^\top \Sigma^{-1} (\mu_1 -
    \mu_0)` and :math:`t = \ln(\pi_1 / \pi_0)`,

    .. math:: R = \pi_0 \Phi\left(\frac{t}{\Delta} - \frac\Delta2\right)
        + \pi_1 \Phi\left(-\frac{t}{\Delta} - \frac\Delta2\right),

    which is :math:`\Phi(-\Delta / 2)` for equal ``pi``. Otherwise R is the average of the
    conditional error :math:`1 - \max_c p(c \mid x)` over points drawn from each class in its
    share. Averaging probabilities of errors has less noise than counting errors, since the part of
    the noise that comes from the class, given the point, is summed exactly.

    Parameters
    ----------
    parameters : mapping
        As `boundary` takes them.
    draws : int, default 100000
        Number of points that errors are averaged over; not used where there is a closed form, for
        two classes with one covariance.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    Risk
        ``value`` and ``standard_error``, which is 0 for a closed form.

    References
    ----------
    Duda, Hart and Stork (2001), *Pattern Classification*, section 2.7; Fukunaga and Kessell (1973),
    *Nonparametric Bayes error estimation using unclassified samples*.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> normal = bm.NormalInverseWishart([0, 0], 1, 5, np.eye(2))
    >>> two = bm.GaussianDiscriminant(bm.DirichletCategorical([1, 1]), normal, covariance="shared")
    >>> known = {"pi": [0.5, 0.5], "mu": [[0, 0], [2, 0]], "Sigma": np.eye(2)}
    >>> two.bayes_risk(known).value  # Phi(-1)
    0.1586552539314...
    """
    return bayes_risk(*self.normals(parameters), draws=draws, rng=rng)


def _classes(pi: Any, mu: Any, Sigma: Any) -> tuple[Array, Array, Array]:
    """Check the parameters; return priors (C,), means (C, D) and Cholesky factors (C, D, D)."""
    prior = probabilities(read(pi, "pi", bare=True))
    means = finite(read(mu, "mu", bare=True))
    if prior.ndim != 1:
        raise DataError(f"pi: must have one axis, the classes; got shape {prior.shape}.")
    if means.ndim != 2 or len(means) != len(prior):  # noqa: PLR2004 - classes and coordinates
        raise DataError(
            f"mu: must have the axes (class, feature), with {len(prior)} classes as pi has; got "
            f"shape {means.shape}. For a single feature write mu[:, None]."
        )
    classes, width = means.shape
    matrices = finite(read(Sigma, "Sigma", bare=True))
    if matrices.shape not in ((width, width), (classes, width, width)):
        raise DataError(
            f"Sigma: must have shape {(width, width)}, or {(classes, width, width)} with a matrix "
            f"a class; got {matrices.shape}."
        )
    hint = " Leave out features that are combinations of others."
    least = 4 * width * EPS  # a pivot that is all rounding error is a zero
    roots = cholesky_factor(matrices, "Sigma", hint, least=least, error=DataError)
    return prior, means, np.broadcast_to(roots, (classes, width, width))


def _whitened(root: Array, vectors: Array) -> Array:
    """Solve A Z = X for lower triangular A and columns X."""
    return solve_triangular(root, vectors, lower=True)


def _closed_form(prior: Array, means: Array, root: Array) -> float:
    """Return the risk of two classes with one covariance."""
    distance = np.linalg.norm(_whitened(root, means[1] - means[0]))
    if distance == 0:
        return float(prior.min())
    with np.errstate(over="ignore"):  # nearly one class: then all depends on pi, as it should
        threshold = (np.log(prior[1]) - np.log(prior[0])) / distance
    return float(prior @ ndtr(np.array([threshold, -threshold]) - distance / 2))


def _conditional_error(x: Array, prior: Array, means: Array, roots: Array) -> Array:
    """Return 1 - max p(c | x) for points x of shape (n, D)."""
    z = np.stack([_whitened(a, (x - m).T) for m, a in zip(means, roots, strict=True)])
    logs = (np.log(prior) - half_log_det(roots))[:, None] - 0.5 * (z**2).sum(1)
    weights = np.exp(logs - logs.max(0))
    # Without the largest, which is 1: subtracting it would lose the digits of small errors.
    np.put_along_axis(weights, logs.argmax(0)[None], 0.0, axis=0)
    others = weights.sum(0)
    return others / (1 + others)
