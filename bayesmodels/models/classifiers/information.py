r"""What a feature tells of the class: mutual information at known and at uncertain parameters.

===============  ===============================================================================
Binary           I_j = Σ_c pi_c [theta_cj ln(theta_cj / theta_j)
                 + (1 - theta_cj) ln((1 - theta_cj) / (1 - theta_j))],
                 theta_j = Σ_c pi_c theta_cj
Categories       I_j = Σ_c pi_c Σ_k theta_cjk ln(theta_cjk / theta_jk)
Numbers, normal  I_j = ∫ p(x) Σ_c p(c|x) ln(p(c|x) / pi_c) dx, by quadrature
===============  ===============================================================================

All in nats: 0 for a feature that tells nothing, at most the entropy of pi. With p and q the
probabilities on the two sides of a logarithm, p - q adds up to zero; hence each summand is taken as
p ln(p/q) - p + q, which cannot be negative, and whose small values have all their digits.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 3.5.4; Cover and Thomas,
*Elements of Information Theory* (2006), chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmodels.errors import DataError
from bayesmodels.input.containers import read
from bayesmodels.input.domains import adding_up, finite, fractions, positive, probabilities
from bayesmodels.numerics import Array
from bayesmodels.numerics.panels import nodes
from bayesmodels.numerics.special import HALF_LOG_2PI

_BLOCK = 1 << 16  # numbers at a time: little memory, near the processor
_NOTHING = 1e-300  # below it a probability adds nothing, and ratios would overflow
_SMALL = -0.5
_FAR = 1e-10  # of the distance between means: points around a narrower class would run together

# Panels of the quadrature end at these distances from each class's mean, in its own sd.
_ENDS = np.array([-9, -5, -3, -1.5, 0, 1.5, 3, 5, 9])
_NODES = 16  # of a panel


def mutual_information(
    pi: ArrayLike, theta: ArrayLike, *, categories: bool = False
) -> NDArray[np.float64]:
    r"""Return the mutual information of the class and each binary or categorical feature.

    .. math:: I_j = \sum_c \pi_c \sum_x p(x_j = x \mid c) \ln \frac{p(x_j = x \mid c)}{p(x_j = x)}

    With token probabilities of a bag of words for `theta`, it is the information in whether the
    next token is word j.

    Parameters
    ----------
    pi : array_like of shape (..., C)
        Probabilities of the classes.
    theta : array_like of shape (..., C, F), or (..., C, F, K) with `categories`
        Probabilities of a one (binary features), or of each of K categories, given the class.
        Features with fewer than K categories are filled up with zeros.
    categories : bool, default False
        Whether the last axis of `theta` counts categories.

    Returns
    -------
    ndarray of shape (..., F)
        In nats. Leading axes, such as those of draws, broadcast.

    Raises
    ------
    DataError
        If these are no probabilities, or the shapes do not fit.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, equation 3.75.

    Examples
    --------
    Of two equally common classes, the first feature tells everything and the second one nothing:

    >>> mutual_information([0.5, 0.5], [[1.0, 0.3], [0.0, 0.3]]).round(4)
    array([0.6931, 0.    ])
    """
    theta = fractions(read(theta, "theta", bare=True))
    if categories and theta.ndim:
        adding_up(theta, "theta")
    prior = probabilities(read(pi, "pi", bare=True))
    if categories:
        return _in_blocks(_of_categories, prior, {"theta": theta}, 3)
    return _in_blocks(_of_bits, prior, {"theta": theta}, 2)


def mutual_information_normal(pi: ArrayLike, mu: ArrayLike, sigma2: ArrayLike) -> Array:
    r"""Return the mutual information of the class and each feature that is normal in each class.

    .. math:: I_j = \int p(x) \sum_c p(c \mid x) \ln \frac{p(c \mid x)}{\pi_c} \, dx

    There is no closed form. The integral is taken by Gauss-Legendre quadrature between points set
    by every class's mean and standard deviation, so that a narrow class within a wide one is seen.

    Parameters
    ----------
    pi : array_like of shape (..., C)
        Probabilities of the classes.
    mu, sigma2 : array_like of shape (..., C, F)
        Mean and variance of each feature given the class.

    Returns
    -------
    ndarray of shape (..., F)
        In nats, to about ten digits.

    Raises
    ------
    DataError
        If a variance is not positive, or next to nothing beside the distance of the means, `pi`
        holds no probabilities, or the shapes do not fit.

    Examples
    --------
    >>> mutual_information_normal([0.5, 0.5], [[0.0, 0.0], [0.0, 99.0]], [[1.0, 1.0]] * 2).round(4)
    array([0.    , 0.6931])
    """
    parameters = {
        "mu": finite(read(mu, "mu", bare=True)),
        "sigma2": positive(read(sigma2, "sigma2", bare=True)),
    }
    prior = probabilities(read(pi, "pi", bare=True))
    return _in_blocks(_of_normals, prior, parameters, 2)


# --- blocks of draws and of features --------------------------------------------------------------


def _in_blocks(
    function: Callable[..., Array], pi: Array, parameters: dict[str, Array], event: int
) -> Array:
    """Apply a function of (n, C) and (n, C, F, ...) to parts that fit into memory."""
    classes = pi.shape[-1]
    for name, value in parameters.items():
        if value.ndim < event or value.shape[value.ndim - event] != classes:
            axes = "(..., class, feature)" if event == 2 else "(..., class, feature, category)"  # noqa: PLR2004 - two axes
            raise DataError(
                f"{name}: must have the axes {axes}, with {classes} classes as pi has; got shape "
                f"{value.shape}."
            )
    arrays = {"pi": (pi, 1)} | {name: (value, event) for name, value in parameters.items()}
    try:
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - ndim] for x, ndim in arrays.values()))
        inner = np.broadcast_shapes(*(x.shape[x.ndim - event :] for x in parameters.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, (x, _) in arrays.items())
        raise DataError(
            f"{', '.join(arrays)}: must have shapes that fit each other; got {shapes}."
        ) from None
    pi = np.broadcast_to(pi, (*lead, classes)).reshape(-1, classes)
    flat = [np.broadcast_to(x, (*lead, *inner)).reshape(-1, *inner) for x in parameters.values()]
    draws, features = len(pi), inner[1]
    cost = classes * int(np.prod(inner[2:]))
    if function is _of_normals:
        cost *= classes * _ENDS.size * _NODES
    wide = max(1, min(features, _BLOCK // max(1, cost)))
    deep = max(1, _BLOCK // max(1, cost * wide))
    result = np.empty((draws, features))
    for i in range(0, draws, deep):
        for j in range(0, features, wide):
            part = (slice(i, i + deep), slice(None), slice(j, j + wide))
            result[part[0], part[2]] = function(pi[part[0]], *(x[part] for x in flat))
    return result.reshape(*lead, features)


def _of_bits(pi: Array, theta: Array) -> Array:
    """Return the information of binary features, of shape (n, F)."""
    weight = pi[..., None]
    mixed = (weight * theta).sum(-2, keepdims=True)
    gap = mixed - theta
    ones = _excess(theta, mixed, gap, weight)
    zeros = _excess(1 - theta, (weight * (1 - theta)).sum(-2, keepdims=True), -gap, weight)
    return (weight * (ones + zeros)).sum(-2)


def _of_categories(pi: Array, theta: Array) -> Array:
    """Return the information of categorical features, of shape (n, F)."""
    weight = pi[..., None, None]
    mixed = (weight * theta).sum(-3, keepdims=True)
    return (weight * _excess(theta, mixed, mixed - theta, weight)).sum((-3, -1))


def _of_normals(pi: Array, mu: Array, sigma2: Array) -> Array:
    """Return the information of normal features, of shape (n, F)."""
    sigma = np.sqrt(sigma2)
    mu = mu - mu.mean(1, keepdims=True)
    if (sigma < _FAR * np.abs(mu).max(1, keepdims=True)).any():
        raise DataError(
            f"sigma2: a standard deviation must be at least {_FAR:g} times the distance between "
            "the means. Leave out features that are constant within a class: they tell the class."
        )
    ends = np.moveaxis(mu[..., None] + sigma[..., None] * _ENDS, -3, -2)  # (n, F, C, ends)
    ends = np.sort(ends.reshape(*ends.shape[:-2], -1), axis=-1)
    x, weight = nodes(ends[..., :-1], ends[..., 1:], _NODES)
    x, weight = x.reshape(*ends.shape[:-1], -1), weight.reshape(*ends.shape[:-1], -1)
    with np.errstate(over="ignore", divide="ignore"):  # far from a class its density is zero
        z = (x[:, None] - mu[..., None]) / sigma[..., None]
        log_prior = np.log(pi)[..., None, None]
        logs = log_prior - 0.5 * z**2 - np.log(sigma)[..., None] - HALF_LOG_2PI
    top = logs.max(1, keepdims=True)
    share = np.exp(logs - np.where(np.isfinite(top), top, 0))
    total = share.sum(1, keepdims=True)
    share = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
    prior = pi[..., None, None]
    gain = _excess(share, prior, prior - share, 1.0).sum(1)
    density = np.exp(top[:, 0]) * total[:, 0]
    return (weight * density * gain).sum(-1)


def _excess(p: Array, q: Array, gap: Array, weight: Any) -> Array:
    """Return p ln(p / q) - p + q with gap = q - p; never negative, and q where p has no weight.

    Without weight there is no part of p in q, which may be zero then.
    """
    present = weight * p > _NOTHING
    safe = np.where(present, p, 1.0)
    ratio = np.where(present, gap, 0.0) / safe
    small = ratio < _SMALL  # nearly -1: what is left of q would be rounded away
    ratio[small] = 0.0
    logs = np.log1p(ratio)
    if small.any():
        logs[small] = np.log(np.broadcast_to(q, logs.shape)[small] / safe[small])
    return np.where(present, np.maximum(gap - safe * logs, 0), q)
