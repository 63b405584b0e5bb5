r"""Rows beside others that have the same sufficient statistic, to see whether a law fits.

Given their statistic, rows have a law without parameters: ones and zeros are in any order, counts
are multinomial with the shares of their exposures, waiting times are parts of a stick, deviations
of normal rows are anywhere on a sphere. Of a logistic regression, whose statistic hardly any other
rows have, new ones are moved as their fit moves, to first order.

The functions here become methods of the models whose rows they are about; see
`bayesmodels.numerics.misfits`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import cho_factor, cho_solve, qr

from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.numerics import Array, misfits
from bayesmodels.numerics.misfits import Column

_MOST_COLUMNS = 100
_MOST_TRIALS = 1e9
_WHOLE, _LEFT = 1e-9, 1e-6  # parts of columns, and of squares, that are more than rounding
_WEIGHTED = "weights: checks of fit take rows without weights; leave them out."


class _Groups:
    """Rows in groups, or in one."""

    def __init__(self, codes: NDArray[np.intp] | None, n: int) -> None:
        _, self.codes = np.unique(np.zeros(n) if codes is None else codes, return_inverse=True)
        self.order = np.argsort(self.codes, kind="stable")
        self.starts = np.flatnonzero(np.diff(self.codes[self.order], prepend=-1))
        self.size = self.sums(np.ones(n))

    def sums(self, x: Array) -> Array:
        """Return the sum over its group for each row (..., n)."""
        if len(self.starts) == 1:
            return np.broadcast_to(x.sum(-1, keepdims=True), x.shape)
        each = np.add.reduceat(x[..., self.order], self.starts, axis=-1)
        return np.asarray(each[..., self.codes])

    def members(self) -> Iterable[NDArray[np.intp]]:
        """Yield the rows of each group."""
        return np.split(self.order, self.starts[1:])

    def shuffled(self, x: Array, number: int, rng: np.random.Generator) -> Array:
        """Return rows (n, ...) in other orders within their groups."""
        keys = self.codes[self.order] + rng.random((number, len(x)))
        result = np.empty((number, *x.shape), x.dtype)
        result[:, self.order] = x[self.order][np.argsort(keys, axis=1)]
        return result


def _positive(x: Array) -> Array:
    """Return the same with ones for zeros, by which nothing is divided."""
    return np.where(x > 0, x, 1.0)


def of_trials(self: Any, data: Any) -> list[Column]:
    """Return zeros and ones in any order, or numbers of successes given their sums."""
    del self
    d = checked.trials(data)
    groups = _Groups(d.batch.groups, len(d.successes))
    result = []
    for label, x in _columns(d.successes, d.batch):
        if d.trials is None:
            result.append(_in_any_order(label, x, groups))
            continue
        n = np.asarray(d.trials, dtype=float).reshape(len(x), -1)
        n = np.broadcast_to(n, (len(x), n.shape[1]))[:, len(result) % n.shape[1]]
        share = groups.sums(x) / _positive(groups.sums(n))

        def draw(number: int, rng: np.random.Generator, x: Array = x, n: Array = n) -> Array:
            new = np.empty((number, len(x)))
            for at in groups.members():
                each, ones = n[at].astype(np.int64), int(x[at].sum())
                new[:, at] = rng.multivariate_hypergeometric(each, ones, number, method="marginals")
            return new

        if n.sum() >= _MOST_TRIALS:
            raise DataError(
                f"trials: checks of fit draw up to {_MOST_TRIALS:.0e} of them; got {n.sum():.1e}."
            )
        sd = np.sqrt(_positive(n * share * (1 - share)))
        checks = (
            misfits.dispersion("successes", "a binomial law", "groups, or a beta-binomial law"),
            misfits.FARTHEST,
            misfits.ORDER,
        )
        result.append(Column(label, x, n * share, sd, draw, checks))
    return result


def _in_any_order(label: str, x: Array, groups: _Groups) -> Column:
    def draw(number: int, rng: np.random.Generator) -> Array:
        return groups.shuffled(x, number, rng)

    mean = groups.sums(x) / groups.size
    sd = _positive(np.sqrt(groups.sums((x - mean) ** 2) / groups.size))
    return Column(label, x, mean, sd, draw, (misfits.RUNS,))


def of_categories(self: Any, data: Any) -> list[Column]:
    """Return categories in any order, or tables of counts given the sums of rows and columns."""
    d = self._dense(data)
    groups = _Groups(d.batch.groups, len(d.values))
    if not d.counted:
        columns = _columns(np.asarray(d.values), d.batch)
        ordered = len(self.alpha.T) == 2  # noqa: PLR2004 - yes and no
        return [replace(_in_any_order(*each, groups), ordered=ordered) for each in columns]
    counts = np.asarray(d.values, dtype=float)
    if counts.ndim != 2:  # noqa: PLR2004 - rows and categories
        raise DataError("counts: checks of fit take one table, of shape (n, K).")
    total = counts.sum(1)
    each = np.stack([groups.sums(column) for column in counts.T], 1)
    share = each / _positive(each.sum(1))[:, None]

    def draw(number: int, rng: np.random.Generator) -> Array:
        new = np.empty((number, *counts.shape))
        for at in groups.members():
            law = stats.random_table(total[at].astype(int), counts[at].sum(0).astype(int), seed=rng)
            new[:, at] = law.rvs(number).reshape(number, len(at), -1)
        return new

    mean = total[:, None] * share
    check = misfits.dispersion(
        "counts", "a multinomial law", "groups, or a Dirichlet-multinomial law"
    )
    each_row = check._replace(of=lambda column, x: misfits.spread(column, x).mean(-1))
    return [Column("", counts, mean, np.sqrt(_positive(mean)), draw, (each_row,))]


def of_counts(self: Any, data: Any) -> list[Column]:
    """Return counts given their sum: multinomial, with the shares of their exposures."""
    del self
    d = checked.exposed(data)
    groups = _Groups(d.batch.groups, len(d.x))
    result = []
    pairs = zip(_columns(d.x, d.batch), _columns(d.exposure, d.batch), strict=True)
    for (label, x), (_, exposure) in pairs:
        mean = exposure * groups.sums(x) / groups.sums(exposure)

        def draw(number: int, rng: np.random.Generator, x: Array = x, e: Array = exposure) -> Array:
            new = np.empty((number, len(x)))
            for at in groups.members():
                new[:, at] = rng.multinomial(int(x[at].sum()), e[at] / e[at].sum(), number)
            return new

        law = misfits.dispersion("counts", "a Poisson law", "groups, or a negative binomial law")
        checks = (law, misfits.ZEROS, misfits.FARTHEST, misfits.ORDER)
        result.append(Column(label, x, mean, np.sqrt(_positive(mean)), draw, checks))
    return result


def of_waits(self: Any, data: Any) -> list[Column]:
    """Return waiting times given their sum: parts of a stick that is broken anywhere."""
    del self
    d = checked.waited(data)
    if not d.events.all():
        raise DataError(
            "some waiting times were cut short, and checks of fit only take times that ended."
        )
    groups = _Groups(d.batch.groups, len(d.x))
    law = misfits.dispersion("waiting times", "an exponential law", "groups, or a Weibull law")
    result = []
    for label, x in _columns(d.x, d.batch):
        total = groups.sums(x)

        def draw(number: int, rng: np.random.Generator, total: Array = total) -> Array:
            new = rng.standard_exponential((number, len(total)))
            return np.asarray(new * total / groups.sums(new))

        mean = total / groups.size
        result.append(Column(label, x, mean, mean, draw, (law, misfits.FARTHEST, misfits.ORDER)))
    return result


_OF_NORMAL = (misfits.SKEW, misfits.TAILS, misfits.FARTHEST, misfits.ORDER)


def of_numbers(self: Any, data: Any) -> list[Column]:
    """Return normal numbers given mean and spread: deviations anywhere on a sphere."""
    del self
    d = checked.measurements(data)
    groups = _Groups(d.batch.groups, len(d.x))
    return [_on_a_sphere(label, x, groups, _OF_NORMAL) for label, x in _columns(d.x, d.batch)]


def _on_a_sphere(
    label: str, x: Array, groups: _Groups, checks: tuple[misfits.Check, ...]
) -> Column:
    mean = groups.sums(x) / groups.size
    square = groups.sums((x - mean) ** 2)
    if not (square > _WHOLE**2 * groups.sums(x**2)).any():
        raise DataError(
            "x: checks of fit take rows that differ (within their group, if they are in groups)."
        )

    def draw(number: int, rng: np.random.Generator) -> Array:
        new = rng.standard_normal((number, len(x)))
        new -= groups.sums(new) / groups.size
        return np.asarray(mean + new * np.sqrt(square / _positive(groups.sums(new**2))))

    return Column(label, x, mean, _positive(np.sqrt(square / groups.size)), draw, checks)


def of_vectors(self: Any, data: Any) -> list[Column]:
    """Return normal vectors given means and covariances, in units in which these are one."""
    del self
    return _whitened(checked.vectors(data), shared=False)


def of_vectors_of_one_covariance(self: Any, data: Any) -> list[Column]:
    """Return normal vectors given the means of groups and their joint covariance."""
    del self
    return _whitened(checked.vectors(data), shared=True)


def _whitened(d: checked.Measured, *, shared: bool) -> list[Column]:
    if d.batch.weights is not None:
        raise DataError(_WEIGHTED)
    groups, width = _Groups(d.batch.groups, len(d.x)), d.x.shape[1]
    blocks = [np.arange(len(d.x))] if shared else list(groups.members())
    least = min(map(len, blocks)) - (len(groups.starts) if shared else 1)
    if least <= width:
        raise DataError(
            "x: checks of fit take more rows (of each group) than columns and one; got "
            f"{least + 1} rows of {width} columns."
        )

    def whitened(x: Array) -> Array:
        gap = x - np.swapaxes(groups.sums(np.swapaxes(x, -1, -2)) / groups.size, -1, -2)
        result = np.empty(x.shape)
        for at in blocks:
            q, r = np.linalg.qr(gap[..., at, :])
            own = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
            if (own <= _WHOLE * np.linalg.norm(r, axis=-2)).any():
                raise DataError("x: checks of fit take columns none of which follows from others.")
            result[..., at, :] = q * np.sqrt(len(at))
        return result

    def draw(number: int, rng: np.random.Generator) -> Array:
        return whitened(rng.standard_normal((number, *d.x.shape)))

    units, zero, one = whitened(d.x), np.zeros(d.x.shape), np.ones(d.x.shape)
    return [Column("", units, zero, one, draw, (misfits.LENGTHS, misfits.LONGEST))]


def of_regression(self: Any, data: Any) -> list[Column]:
    """Return targets given the fit and its residuals' size: anywhere on a sphere."""
    d = self._checked(data)
    if d.weights is not None:
        raise DataError(_WEIGHTED)
    if d.X.ndim != 2:  # noqa: PLR2004 - one design matrix for all targets
        raise DataError("features: checks of fit take one design matrix, of shape (n, p).")
    n = len(d.X)
    q = _basis(d.X)
    left = n - q.shape[1]
    if left < misfits.LEAST_ROWS:
        raise DataError(
            f"data: checks of fit take at least {misfits.LEAST_ROWS} rows more than columns; got "
            f"{n} and {q.shape[1]}."
        )
    result = []
    for label, y in _columns(d.y, checked.Batch(d.coords, d.rows, d.y.ndim - 1)):
        fitted = q @ (q.T @ y)
        length = np.linalg.norm(y - fitted)
        if not length > _WHOLE * np.linalg.norm(y):
            raise DataError("target: its columns leave nothing unexplained that could be checked.")

        def draw(
            number: int, rng: np.random.Generator, fitted: Array = fitted, length: Any = length
        ) -> Array:
            new = rng.standard_normal((number, n))
            new -= new @ q @ q.T
            return np.asarray(fitted + new * (length / np.linalg.norm(new, axis=1))[:, None])

        sd = np.full(n, length / np.sqrt(left) or 1.0)
        checks = (*_OF_NORMAL, misfits.UNEVEN, misfits.BENT)
        terms = _terms(d.X, fitted)
        result.append(Column(label, y, fitted, sd, draw, checks, terms, _curves(terms, q)))
    return result


def _basis(X: Array) -> Array:
    """Return an orthonormal basis of the columns, without those that depend on others."""
    q, r, _ = qr(X, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(r))
    return np.asarray(q[:, size > _WHOLE * size.max(initial=0.0)])


def _terms(X: Array, fitted: Array) -> Array:
    """Return the columns that are no indicators, and the fitted values, centred and of length 1."""
    several = [k for k in range(X.shape[1]) if len(np.unique(X[:, k])) > 2]  # noqa: PLR2004
    every = np.column_stack([X[:, several], fitted])
    every = every - every.mean(0)
    return np.asarray(every / _positive(np.linalg.norm(every, axis=0)))


def _curves(terms: Array, basis: Array, root: Array | float = 1.0) -> Array:
    """Return squares of terms, each with a root of its weight, as far as no basis explains them."""
    squares = np.expand_dims(root, -1) * terms**2
    left = squares - basis @ (basis.T @ squares)
    size = np.linalg.norm(left, axis=0)
    kept = size > _LEFT * np.linalg.norm(squares, axis=0)
    return np.asarray(left[:, kept] / size[kept])


def of_classes(self: Any, data: Any) -> list[Column]:
    """Return, for each class of a logistic regression but the first, how often rows have it."""
    d = self.labelled(data)
    if d.weights is not None:
        raise DataError(_WEIGHTED)
    mode = self.laplace(data).mode()["w"]
    mode = np.reshape(mode, (len(self.classes) - 1, -1))
    n = d.counts.sum(1).astype(float)
    score = np.column_stack([np.zeros(len(n)), d.X @ mode.T])
    p = np.exp(score - np.logaddexp.reduce(score, 1)[:, None])
    factors = self.prior_factors()[1]
    result = []
    for k in range(1, len(self.classes)):
        mean, variance = n * p[:, k], n * p[:, k] * (1 - p[:, k])
        heavy, x = d.X * variance[:, None], d.counts[:, k].astype(float)
        curvature = cho_factor(heavy.T @ d.X + factors[k - 1].T @ factors[k - 1])

        def draw(
            number: int,
            rng: np.random.Generator,
            mean: Array = mean,
            share: Array = p[:, k],
            heavy: Array = heavy,
            curvature: Any = curvature,
            pull: Array = (x - mean) @ d.X,
        ) -> Array:
            new = rng.binomial(n.astype(np.int64), share, (number, len(share))).astype(float)
            moves = cho_solve(curvature, ((new - mean) @ d.X - pull).T)
            return np.asarray(new - (heavy @ moves).T)

        checks: tuple[misfits.Check, ...] = (misfits.TENTHS, misfits.BENT, misfits.ORDER)
        if n.max() > 1:
            law = misfits.dispersion("counts", "a binomial law", "groups of rows")
            checks = (law, *checks)
        label = "" if len(self.classes) == 2 else str(self.classes[k])  # noqa: PLR2004
        sd = np.sqrt(_positive(variance))
        terms, root = _terms(d.X, score[:, k]), np.sqrt(variance)
        curves = _curves(terms, _basis(d.X * root[:, None]), root)
        result.append(Column(label, x, mean, sd, draw, checks, curves=curves))
    return result


def of_parts(self: Any, data: Any) -> list[Column]:
    """Return the features of a classifier within classes, and whether they are independent."""
    result = []
    parts = list(self._with_data(data))[1:]
    for block, (belief, _, rows) in zip(self.blocks, parts, strict=True):
        columns = belief.given_statistic(rows)
        result += [replace(c, label=c.label or block) for c in columns]
        several = [c for c in columns if c.x.ndim == 1 and c.ordered]
        if len(several) > 1:
            result.append(_side_by_side(block, several))
    return result


def _side_by_side(label: str, columns: list[Column]) -> Column:
    """Return columns as one, whose rows have several numbers."""

    def draw(number: int, rng: np.random.Generator) -> Array:
        return np.stack([column.draw(number, rng) for column in columns], -1)

    x, mean, sd = np.stack([(c.x, c.mean, c.sd) for c in columns], -1)
    return Column(label, x, mean, sd, draw, (misfits.ASSOCIATION,))


def _columns(x: Array, batch: checked.Batch) -> list[tuple[str, Array]]:
    """Return columns of rows (n, batch...), each with its label."""
    if batch.weights is not None:
        raise DataError(_WEIGHTED)
    flat = np.asarray(x, dtype=float).reshape(len(x), -1)
    if flat.shape[1] > _MOST_COLUMNS:
        raise DataError(
            f"data: checks of fit take up to {_MOST_COLUMNS} columns; got {flat.shape[1]:,}."
        )
    if x.ndim == 1:
        return [("", flat[:, 0])]
    axes = list(batch.coords.values())[len(batch.lead) :]
    labels = [", ".join(map(str, at)) for at in np.ndindex(*x.shape[1:])]
    if len(axes) == 1 and len(axes[0]) == flat.shape[1]:
        labels = [str(label) for label in axes[0]]
    return list(zip(labels, flat.T, strict=True))
