r"""Standard errors of a mixture's maximum-likelihood estimates from the observed information.

Louis (1982): with S_ic the score of row i as if it were known to be of class c, and r_ic the
probability that it is,

.. math:: I = \sum_i w_i \Bigl[ \sum_c r_{ic} (B_{ic} - S_{ic} S_{ic}^\top) + s_i s_i^\top \Bigr],
    \qquad s_i = \sum_c r_{ic} S_{ic}

where B is minus the second derivative for a known class. Probabilities are put as logits against
the largest of each group, variances as logarithms; the delta method leads back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesmodels.errors import DataError
from bayesmodels.models.mixture.latent_rows import (
    Discrete,
    LatentClassModel,
    MixtureStatistic,
    Numbers,
)
from bayesmodels.numerics import Array

_EDGE = 1e-6
_AT_ONCE = 4_000_000  # numbers


def standard_errors(
    model: LatentClassModel, s: MixtureStatistic, parameters: dict[str, Any]
) -> dict[str, Array]:
    """Return standard errors by variable name; 0 for probabilities held at 0 or 1.

    Parameters
    ----------
    model : NaiveBayesMixture
        With the axes of the rows.
    s : MixtureStatistic
        The rows.
    parameters : dict
        Maximum-likelihood estimates.

    Raises
    ------
    DataError
        If the information is not positive definite: the rows do not identify the parameters.

    References
    ----------
    Louis (1982), "Finding the observed information matrix when using the EM algorithm".
    """
    classes = len(model.classes.alpha)
    groups = _groups(model, s, parameters)
    size = max((stop for *_, stop in groups), default=0)
    information = np.zeros((size, size))
    step = max(1, _AT_ONCE // max(1, size * classes))
    for start in range(0, len(s.labels), step):
        some = s.take(np.arange(start, min(start + step, len(s.labels))))
        information += _of_rows(model, some, parameters, groups, size)
    try:
        root = linalg.cholesky(information, lower=True)
    except linalg.LinAlgError:
        msg = (
            "standard_errors: the observed information is not positive definite, so the rows do "
            "not identify all parameters. Look at `findings`; try fewer classes."
        )
        raise DataError(msg) from None
    inverse = linalg.solve_triangular(root, np.eye(size), lower=True)
    covariance = inverse.T @ inverse
    return _delta(model, s, parameters, groups, covariance)


# A group: (kind, block, class, feature, free places, first coordinate, last coordinate + 1).
_Group = tuple[str, int, int, int, NDArray[np.intp], int, int]


def _groups(
    model: LatentClassModel, s: MixtureStatistic, parameters: dict[str, Any]
) -> list[_Group]:
    """List what the coordinates are: logits of the classes, of levels, and means and variances."""
    found: list[_Group] = []
    at = 0

    def add(kind: str, block: int, c: int, j: int, free: NDArray[np.intp], number: int) -> None:
        nonlocal at
        found.append((kind, block, c, j, free, at, at + number))
        at += number

    pi = np.asarray(parameters["pi"])
    free = _free(pi)
    add("classes", -1, -1, -1, free, len(free))
    for b, (part, names) in enumerate(model.cells_of(s)):
        for c in np.flatnonzero(pi >= _EDGE):
            if isinstance(part, Numbers):
                for j in range(part.x.shape[1]):
                    add("numbers", b, int(c), j, np.zeros(0, dtype=np.intp), 2)
                continue
            levels = part.levels({v: parameters[names(v)] for v in part.belief.dims})[c]
            for j, theta in enumerate(levels.reshape(-1, part.shape[-1])):
                free = _free(theta)
                add("levels", b, int(c), j, free, len(free))
    return found


def _free(theta: Array) -> NDArray[np.intp]:
    """Return the probabilities that vary: all but the largest, and none on the border."""
    inside = np.flatnonzero(theta >= _EDGE)
    return inside[inside != theta.argmax()]


def _of_rows(
    model: LatentClassModel,
    s: MixtureStatistic,
    parameters: dict[str, Any],
    groups: list[_Group],
    size: int,
) -> Array:
    pi = np.asarray(parameters["pi"])
    joint = model.log_joint_of(s, parameters)
    known = s.labels >= 0
    joint[known] = np.where(np.arange(len(pi)) == s.labels[known, None], joint[known], -np.inf)
    r = np.exp(joint - joint.max(-1, keepdims=True))
    r /= r.sum(-1, keepdims=True)
    w = s.weights
    blocks = list(model.cells_of(s))
    total = np.zeros((size, size))
    mean = np.zeros((len(w), size))
    for c in range(len(pi)):
        score = np.zeros((len(w), size))
        part_of_class = w * r[:, c]
        for kind, b, own, j, free, low, high in groups:
            if kind == "classes":
                score[:, low:high] = (free == c) - pi[free]
                total[low:high, low:high] += part_of_class.sum() * _spread(pi[free])
            elif own != c:
                continue
            elif kind == "levels":
                part, names = blocks[b]
                assert isinstance(part, Discrete)  # noqa: S101 - its kind says so
                width = part.shape[-1]
                theta = part.levels({v: parameters[names(v)] for v in part.belief.dims})[c]
                theta = theta.reshape(-1, width)[j][free]
                cells = np.asarray(_columns(part.indicators, j * width, (j + 1) * width))
                number = cells.sum(-1)
                score[:, low:high] = cells[:, free] - number[:, None] * theta
                total[low:high, low:high] += (part_of_class * number).sum() * _spread(theta)
            else:
                part, names = blocks[b]
                assert isinstance(part, Numbers)  # noqa: S101
                mu = np.asarray(parameters[names("mu")]).reshape(len(pi), -1)[c, j]
                sigma2 = np.asarray(parameters[names("sigma2")]).reshape(len(pi), -1)[c, j]
                here = np.ones(len(w)) if part.here is None else part.here[:, j]
                gap = part.x[:, j] - (mu - part.centre[j])
                square = gap**2 / sigma2
                score[:, low] = here * gap / sigma2
                score[:, low + 1] = here * 0.5 * (square - 1)
                weight = part_of_class * here
                cross = (weight * gap).sum() / sigma2
                total[low:high, low:high] += np.array(
                    [[weight.sum() / sigma2, cross], [cross, 0.5 * (weight * square).sum()]]
                )
        total -= (score * part_of_class[:, None]).T @ score
        mean += r[:, [c]] * score
    return np.asarray(total + (mean * w[:, None]).T @ mean)


def _columns(table: Any, low: int, high: int) -> Any:
    some = table[:, low:high]
    return some.toarray() if hasattr(some, "toarray") else some


def _spread(theta: Array) -> Array:
    return np.asarray(np.diag(theta) - np.outer(theta, theta))


def _delta(
    model: LatentClassModel,
    s: MixtureStatistic,
    parameters: dict[str, Any],
    groups: list[_Group],
    covariance: Array,
) -> dict[str, Array]:
    found = {name: np.zeros(np.shape(value)) for name, value in parameters.items()}
    pi = np.asarray(parameters["pi"])
    blocks = list(model.cells_of(s))
    levels = {}
    for b, (part, names) in enumerate(blocks):
        if isinstance(part, Discrete):
            theta = part.levels({v: parameters[names(v)] for v in part.belief.dims})
            levels[b] = theta, np.zeros(theta.shape)
    for kind, b, c, j, free, low, high in groups:
        own = covariance[low:high, low:high]
        if kind == "classes":
            found["pi"] = _probability_errors(pi, free, own)
        elif kind == "levels":
            theta, errors = levels[b]
            width = blocks[b][0].shape[-1]
            place = slice(j * width, (j + 1) * width)
            errors[c, place] = _probability_errors(theta[c, place], free, own)
        else:
            part, names = blocks[b]
            for at, name in enumerate(("mu", "sigma2")):
                error = np.sqrt(own[at, at])
                value = np.asarray(parameters[names(name)]).reshape(len(pi), -1)[c, j]
                found[names(name)].reshape(len(pi), -1)[c, j] = error * (value if at else 1)
    for b, (_, errors) in levels.items():
        part, names = blocks[b]
        assert isinstance(part, Discrete)  # noqa: S101
        found[names("theta")] = part.named(errors)["theta"]
    return found


def _probability_errors(theta: Array, free: NDArray[np.intp], covariance: Array) -> Array:
    """Return standard errors of all probabilities of a group from those of its free logits."""
    slope = np.diag(theta)[:, free] - np.outer(theta, theta[free])
    return np.asarray(np.sqrt(np.einsum("if,fg,ig->i", slope, covariance, slope)))
