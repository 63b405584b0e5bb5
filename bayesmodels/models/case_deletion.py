r"""Formulas that delete one row after the other from a posterior, without refitting.

The posterior of all rows but one has that row's share of the statistic taken out again. Of counts
it is a subtraction. Of normal laws, let the posterior of all rows have the scale matrix
:math:`\Psi`, weigh :math:`\kappa` rows and have :math:`\nu` degrees of freedom; without a row these
are

.. math:: |\Psi_{-i}| = r_i |\Psi|, \qquad r_i = 1 - \frac{\kappa}{\kappa - 1} \,
    (x_i - m)' \Psi^{-1} (x_i - m),

:math:`\kappa - 1` and :math:`\nu - 1`, and the Student density of the row is, but for a constant,
:math:`|\Psi|^{-1/2} r_i^{(\nu - 1) / 2}`. A regression is alike, with the leverage of the row.

Where a row is most of what is known (:math:`r_i` is small), the subtraction loses digits; these few
rows, at most about as many as there are columns, are marked as lost.

The functions here become methods of the models whose rows they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief.leave_one_out import RowsLeftOut
from bayesmodels.input import data as checked
from bayesmodels.numerics import Array
from bayesmodels.numerics.crossproducts import stacked
from bayesmodels.numerics.special import HALF_LOG_2PI, log_gamma_ratio
from bayesmodels.numerics.token_counts import log_factorials
from bayesmodels.numerics.triangular import solution, solve_lower, solve_upper

_BLOCK = 2**15  # numbers in a block of rows that the cache holds
_MOST_FACTORS = 16  # factors that are multiplied one by one
LEAST_LEFT = 1e-4  # part of a scale, or of a weight, that must be left without a row


def of_trials(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log masses of zeros and ones, or of counts, each by the others."""
    d = checked.trials(data)
    by_row, ones = d.batch.by_row, np.asarray(d.successes)
    # Counts of the others first: whole numbers, from which nothing is rounded away.
    if d.trials is None:  # a one, or a zero, is as probable in every row of a problem
        with np.errstate(all="ignore"):  # of values that are not there
            total = np.log((self.alpha + self.beta) + (statistic.ones + statistic.zeros - 1))
            one = np.log(self.alpha + (statistic.ones - 1)) - total
            zero = np.log(self.beta + (statistic.zeros - 1)) - total
        return all_there(np.where(ones > 0, by_row(one), by_row(zero)), d.batch)
    alpha = by_row(self.alpha) + (by_row(statistic.ones) - ones)
    beta = by_row(self.beta) + (by_row(statistic.zeros) - (d.trials - ones))
    logs = np.asarray(type(self)(alpha, beta).predictive(d.trials).logpmf(ones))
    return all_there(logs, d.batch)


def of_categories(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log masses of categories, or of tables of counts, each by the others."""
    d = checked.categories(data, self.categories, self.alpha.shape[-1], self.other)
    by_row = d.batch.by_row
    if d.counted and checked.sparse(d.values):
        return all_there(_of_cells(self, d, statistic.counts), d.batch)
    if d.counted:
        counts = d.values
        others = by_row(self.alpha, 1) + (by_row(statistic.counts, 1) - counts)
        law = type(self)(others).predictive(counts.sum(-1))
        return all_there(np.asarray(law.logpmf(counts)), d.batch)
    with np.errstate(all="ignore"):  # of categories that are not there
        total = np.log(self.alpha.sum(-1) + (statistic.counts.sum(-1) - 1))
        table = by_row(np.log(self.alpha + (statistic.counts - 1)) - total[..., None], 1)
    shape = np.broadcast_shapes(table.shape[:-1], d.values.shape)
    codes = np.broadcast_to(d.values, shape)[..., None]
    logs = np.take_along_axis(np.broadcast_to(table, (*shape, table.shape[-1])), codes, -1)
    return all_there(logs[..., 0], d.batch)


def _of_cells(self: Any, d: checked.Categories, counts: Array) -> Array:
    r"""Return Dirichlet-multinomial log masses of a sparse table's rows, each by the others.

    .. math:: \ln n! - \sum_v \ln c_v! + \ln\frac{\Gamma(A)}{\Gamma(A + n)}
        + \sum_v \ln\frac{\Gamma(\alpha_v + c_v)}{\Gamma(\alpha_v)},

    in which the words that a row lacks have no term.
    """
    table = d.values
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    rows, width = table.shape
    groups = np.zeros(rows, dtype=np.intp) if d.batch.groups is None else d.batch.groups
    alpha = np.ascontiguousarray(np.broadcast_to(self.alpha, counts.shape)).reshape(-1, width)
    totals = counts.reshape(-1, width)
    mass, tokens = alpha.sum(-1), totals.sum(-1)
    last = alpha.ravel() + totals.ravel()  # one beyond the last factor of a cell
    result = np.empty(rows)

    def work(at: slice) -> None:
        pointers = table.indptr[at.start : at.stop + 1]
        cells = slice(pointers[0], pointers[-1])
        count, group = table.data[cells].astype(float), groups[at]
        row = np.repeat(np.arange(len(group)), np.diff(pointers))
        terms = _log_rising(last.take(group[row] * width + table.indices[cells]) - count, count)
        terms -= log_factorials(count)
        n = np.bincount(row, count, len(group))
        others = mass[group] + (tokens[group] - n)
        result[at] = np.bincount(row, terms, len(group))
        result[at] += log_factorials(n) - log_gamma_ratio(others, n)

    for at in _pieces(rows, _BLOCK // max(1, table.nnz // max(1, rows))):
        work(at)
    return result


def _log_rising(start: Array, steps: Array) -> Array:
    """Return ln of start (start + 1) ... (start + steps - 1), term by term where they are few."""
    result = np.zeros(start.shape)
    short = steps <= _MOST_FACTORS
    for k in range(int(steps[short].max(initial=0))):
        more = np.flatnonzero(short & (steps > k))
        result[more] += np.log(start[more] + k)
    result[~short] = log_gamma_ratio(start[~short], steps[~short])
    return result


def of_numbers(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log densities of numbers, each by the others."""
    d = checked.measurements(data)
    after = self.update(statistic)
    kappa, shape = self.kappa + (statistic.n - 1), self.shape + (statistic.n - 1) / 2
    with np.errstate(all="ignore"):  # of groups without rows
        constant = log_gamma_ratio(shape, 0.5) - HALF_LOG_2PI
        constant = constant - 0.5 * np.log1p(1 / kappa) - 0.5 * np.log(after.scale)
        unit = 0.5 * _share(kappa) / after.scale

    def of_rows(x: Array, batch: checked.Batch) -> tuple[Array, NDArray[np.bool_]]:
        square = x - batch.by_row(after.location)
        square *= square
        with np.errstate(all="ignore"):
            square = square * batch.by_row(unit)
        logs, lost = _log_left(square)
        return batch.by_row(constant) + batch.by_row(shape) * logs, lost

    return RowsLeftOut(*_in_blocks(d.x, d.batch, of_rows))


def of_vectors(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log densities of vectors, each by the others."""
    s, ratio = statistic, self.ratio
    # Classes that share their scale share all rows' degrees of freedom.
    df = np.asarray(self.df + ((s.n if self.df.ndim == self.kappa.ndim else s.n.sum()) - 1))
    d = checked.vectors(data)
    width, after = d.x.shape[-1], self.update(s)
    root = np.linalg.cholesky(after.scale)
    half_log = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(-1)
    kappa = self.kappa + (s.n - 1)
    power = np.broadcast_to(0.5 * df, kappa.shape)
    with np.errstate(all="ignore"):  # of groups without rows
        constant = (
            log_gamma_ratio((df + 1 - width) / 2, width / 2)
            - 0.5 * width * np.log(np.pi * ratio * (1 + 1 / kappa))
            - half_log
        )
        unit = _share(kappa) / ratio
    constant = np.broadcast_to(constant, kappa.shape)

    def of_rows(x: Array, batch: checked.Batch) -> tuple[Array, NDArray[np.bool_]]:
        by_row = batch.by_row
        away = x - by_row(after.location, 1)
        with np.errstate(all="ignore"):
            square = _square(root, away, batch.groups) * by_row(unit)
        logs, lost = _log_left(square)
        return by_row(constant) + by_row(power) * logs, lost

    return RowsLeftOut(*_in_blocks(d.x, d.batch, of_rows))


def _square(root: Array, away: Array, groups: NDArray[np.intp] | None) -> Array:
    """Return squared Mahalanobis lengths of rows, by one Cholesky root or their group's."""
    if root.ndim == 2:  # noqa: PLR2004 - one matrix
        units = solve_upper(root.T, away.T, transposed=True)
        return np.einsum("ij,ij->j", units, units)
    roots, result = root.reshape(-1, *root.shape[-2:]), np.empty(len(away))
    for group in range(len(roots)):
        members = groups == group
        result[members] = _square(roots[group], away[members], None)
    return result


def _in_blocks(
    x: Array,
    batch: checked.Batch,
    of_rows: Callable[[Array, checked.Batch], tuple[Array, NDArray[np.bool_]]],
) -> tuple[Array, Sequence[Hashable], NDArray[np.bool_]]:
    """Apply `of_rows` block by block; return log densities, row labels and which are lost."""

    def of_block(at: slice) -> list[Any]:
        groups = None if batch.groups is None else batch.groups[at]
        return [_rows_first(y, batch) for y in of_rows(x[at], replace(batch, groups=groups))]

    first = of_block(slice(0, 1))  # for the shape
    result = [np.empty((len(x), *y.shape[1:]), y.dtype) for y in first]

    def work(at: slice) -> None:
        for array, part in zip(result, of_block(at), strict=True):
            array[at] = part

    for at in _pieces(len(x), _BLOCK // max(1, prod(x.shape[1:]))):
        work(at)
    logs, lost = result
    return logs, batch.rows, lost


def of_regression(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log densities of targets, each by the other rows."""
    after, rows = self.update(statistic), checked.design_rows(data)
    shape = self.shape + (statistic.n - 1) / 2
    with np.errstate(all="ignore"):
        constant = log_gamma_ratio(shape, 0.5) - HALF_LOG_2PI - 0.5 * np.log(after.scale)

    def of_rows(leverage: Array, square: Array) -> tuple[Array, NDArray[np.bool_]]:
        with np.errstate(all="ignore"):  # of flat coefficients that no row tells, of a perfect fit
            log_away, saturated = _log_left(leverage)
            log_left, lost = _log_left(0.5 * square / (1 - leverage))
            logs = constant + 0.5 * log_away + shape * log_left
        lost = lost | saturated | (shape <= 0)
        return np.where(lost, 0.0, logs), lost

    if rows is None:
        d = checked.regression(data)
        logs, lost = of_rows(*_by_batch(after, d))
        return RowsLeftOut(logs, d.rows, lost)
    n, size = len(rows.y), after.factor.shape[-1]
    logs, lost = np.empty(n), np.empty(n, dtype=bool)
    for at in _pieces(n, _BLOCK // size):
        # The row [x y] in units of the posterior's factor is [x R⁻¹, (y - x m) / r].
        each = stacked(rows.X, rows.y, at, ones=rows.intercept)
        with np.errstate(all="ignore"):  # of coefficients that no row tells
            units = solve_lower(after.factor.T, each.T) ** 2
        logs[at], lost[at] = of_rows(units[:-1].sum(0), 2 * units[-1])
    return RowsLeftOut(logs, rows.row_labels(), lost)


def _by_batch(after: Any, d: checked.Regression) -> tuple[Array, Array]:
    """Return leverages and squared residuals of several targets, of shape (n, batch...)."""
    batch, n = after.shape.shape, len(d.y)
    X = d.X.reshape(n, *(1,) * (len(batch) + 2 - d.X.ndim), *d.X.shape[1:])
    rows = np.moveaxis(np.broadcast_to(X, (n, *batch, X.shape[-1])), 0, -1)
    residual = d.y - np.moveaxis((solution(after.factor)[..., None] * rows).sum(-2), -1, 0)
    reach = solve_lower(np.swapaxes(after.precision_factor, -1, -2), rows)
    return np.moveaxis((reach**2).sum(-2), -1, 0), residual**2 / after.scale


def of_hypotheses(self: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return log masses of outcomes, each by the others."""
    del statistic  # -inf cannot be taken out again: the others' is added up anew
    d = checked.outcomes(data, self.outcomes)
    result, where, counts = np.unique(d.values, return_inverse=True, return_counts=True)
    table = self.log_table[:, result]
    logs = np.empty(len(result))
    for k in range(len(result)):
        others = counts - (np.arange(len(result)) == k)
        terms = table[:, others > 0] * others[others > 0]
        weights = self.log_weights + np.ascontiguousarray(terms).sum(1)
        logs[k] = logsumexp(weights + table[:, k]) - logsumexp(weights)
    return all_there(logs[where], d.batch)


def _pieces(n: int, step: int) -> Iterator[slice]:
    """Yield slices of `step` rows, or 64 at least, that cover n rows."""
    step = max(64, step)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _share(kappa: Array) -> Array:
    """Return (kappa + 1) / kappa; NaN, which is lost, where next to no weight is left."""
    return np.where(kappa > LEAST_LEFT * (kappa + 1), (kappa + 1) / kappa, np.nan)


def _log_left(square: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return ln(1 - square), 0 where rounding leaves no digit of it, and a mask of these places.

    A power of half the number of rows makes the last digit of 1 - square count: the logarithm is
    taken of what was left, and stretched from what was taken to what should have been. (NumPy's
    log1p does the same several times slower.)
    """
    left = 1 - square
    lost = ~(left > LEAST_LEFT)
    left[lost] = 1.0
    taken = 1 - left
    logs = np.log(left)
    with np.errstate(all="ignore"):
        logs *= square / taken
    return np.where(lost, 0.0, np.where(taken == 0, -square, logs)), lost


def _rows_first(logs: Any, batch: checked.Batch) -> Any:
    """Put the axis of the rows before those of a batch that the rows do not have."""
    return np.moveaxis(logs, logs.ndim - 1 - batch.inner, 0)


def all_there(logs: Array, batch: checked.Batch, *, lost: Any = False) -> RowsLeftOut:
    """Return log densities with the rows' axis first; none is lost unless `lost` marks it."""
    logs, lost = (_rows_first(x, batch) for x in (logs, np.broadcast_to(lost, logs.shape)))
    return RowsLeftOut(logs, batch.rows, lost)
