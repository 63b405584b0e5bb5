r"""Standard errors of a mixture's maximum-likelihood estimates from the observed information.

Louis (1982): with S_ic the score of row i as if it were known to be of class c, and r_ic the
probability that it is,

.. math:: I = \sum_i w_i \Bigl[ \sum_c r_{ic} (B_{ic} - S_{ic} S_{ic}^\top) + s_i s_i^\top \Bigr],
    \qquad s_i = \sum_c r_{ic} S_{ic}

where B is minus the second derivative for a known class. Probabilities are put as logits against
the largest of each group, variances and rates as logarithms; the delta method leads back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg

from bayesmodels.errors import DataError
from bayesmodels.models.mixture.latent_rows import (
    Cells,
    Events,
    LatentClassModel,
    LatentRows,
    MixtureStatistic,
    Numbers,
    dense,
    shares,
    slices,
)
from bayesmodels.numerics import Array

_EDGE = 1e-6


def standard_errors(
    model: LatentClassModel, s: MixtureStatistic, parameters: dict[str, Any]
) -> dict[str, Array]:
    """Return standard errors by variable name; 0 for probabilities held at 0 or 1.

    `model` has the axes of the rows `s`; `parameters` are maximum-likelihood estimates. It refuses
    if the information is not positive definite: then rows do not identify the parameters.
    """
    pi = np.asarray(parameters["pi"])
    cells = list(model.cells_of(s))
    groups = list(_groups(cells, parameters, pi))
    ends = np.cumsum([0, *(group.slope.shape[1] for group in groups)]).tolist()
    at = [slice(low, high) for low, high in pairwise(ends)]
    information = np.zeros((ends[-1],) * 2)
    for some in slices(s, max(1, ends[-1] * len(pi))):
        information += _of_rows(LatentRows(model, some), parameters, groups, at, ends[-1])
    try:
        root = linalg.cholesky(information, lower=True)
    except linalg.LinAlgError:
        raise DataError(
            "standard_errors: the observed information is not positive definite, so the rows do "
            "not identify all parameters. Look at `findings`; try fewer classes."
        ) from None
    inverse = linalg.solve_triangular(root, np.eye(len(root)), lower=True)
    found = {"pi": np.zeros(pi.shape)}
    errors = [np.zeros((len(pi), int(np.prod(part.shape)))) for part, _ in cells]
    for group, place in zip(groups, at, strict=True):
        own = np.sqrt(((group.slope @ inverse[:, place].T) ** 2).sum(-1))
        if group.block is None:
            found["pi"] = own
        else:
            errors[group.block][group.of, group.columns] = own
    for (part, names), each in zip(cells, errors, strict=True):
        found |= {names(variable): x for variable, x in part.named(each).items()}
    return found


@dataclass(frozen=True)
class _Group:
    """Coordinates that belong together: logits, a mean and a log variance, or a log rate.

    They are those of the class `of` in some columns of a block (None: of the classes' own
    probabilities); `slope` holds the derivatives of the `values` there by the coordinates, `free`
    which of several levels have a coordinate.
    """

    block: int | None
    of: int
    columns: slice
    values: Array
    free: Any
    slope: Array

    def terms(self, rows: LatentRows, c: int, weights: Array) -> tuple[Array, Array]:
        """Return the scores of the rows in class c, and the weighted sum of their curvatures."""
        part = None if self.block is None else rows.cells[self.block][0]
        if isinstance(part, Numbers):
            mu, sigma2 = self.values
            j = self.columns.start // 2
            here, gap = part.here[:, j], part.x[:, j] - mu
            square, weights = gap**2 / sigma2, weights * here
            score = here[:, None] * np.stack([gap / sigma2, 0.5 * (square - 1)], axis=-1)
            cross = (weights @ gap) / sigma2
            ends = weights.sum() / sigma2, 0.5 * (weights @ square)
            return score, np.array([[ends[0], cross], [cross, ends[1]]])
        if isinstance(part, Events):
            j = self.columns.start
            expected = part.exposure[:, j] * self.values[0]
            return (part.events[:, j] - expected)[:, None], np.array([[weights @ expected]])
        levels = np.zeros((len(weights), len(self.values)))
        if part is None:
            levels[:, c] = 1
        else:
            levels = dense(part.indicators[:, self.columns])
        theta, number = self.values[self.free], levels.sum(-1)
        spread = np.diag(theta) - np.outer(theta, theta)
        return levels[:, self.free] - number[:, None] * theta, (weights @ number) * spread


def _groups(
    cells: list[tuple[Cells, Any]], parameters: dict[str, Any], pi: Array
) -> Iterator[_Group]:
    """Yield the coordinates of the classes, and of each block, class and feature."""
    yield _of_levels(None, -1, slice(0), pi)
    for b, (part, names) in enumerate(cells):
        levels = part.levels({v: parameters[names(v)] for v in part.belief.dims})
        width = part.shape[-1]
        for c in np.flatnonzero(pi >= _EDGE).tolist():
            for low in range(0, levels.shape[-1], width):
                columns = slice(low, low + width)
                values = levels[c, columns]
                if isinstance(part, Numbers):
                    yield _Group(b, c, columns, values, None, np.diag([1.0, values[1]]))
                elif isinstance(part, Events):
                    if values[0] > 0:  # without events a rate is on the border
                        yield _Group(b, c, columns, values, None, values[:, None])
                else:
                    yield _of_levels(b, c, columns, values)


def _of_levels(block: int | None, c: int, columns: slice, theta: Array) -> _Group:
    """Return the logits of probabilities that vary: not the largest, and none on the border."""
    inside = np.flatnonzero(theta >= _EDGE)
    free = inside[inside != theta.argmax()]
    return _Group(
        block, c, columns, theta, free, np.diag(theta)[:, free] - np.outer(theta, theta[free])
    )


def _of_rows(
    rows: LatentRows, parameters: dict[str, Any], groups: list[_Group], at: list[slice], size: int
) -> Array:
    parts, _ = shares(rows.log_joint(parameters))
    total, mean = np.zeros((size, size)), np.zeros((len(parts), size))
    for c, share in enumerate(parts.T):
        score, weights = np.zeros((len(parts), size)), rows.weights * share
        for group, place in zip(groups, at, strict=True):
            if group.block is None or group.of == c:
                score[:, place], curvature = group.terms(rows, c, weights)
                total[place, place] += curvature
        total -= (score * weights[:, None]).T @ score
        mean += share[:, None] * score
    return np.asarray(total + (mean * rows.weights[:, None]).T @ mean)
