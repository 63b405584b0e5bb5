r"""Exact leave-one-out: the predictive density of every row by all others, without refitting.

.. math:: p(x_i \mid x_{-i}) = \int p(x_i \mid \theta) \, p(\theta \mid x_{-i}) \, d\theta

is the predictive density at the row of a posterior that has seen all but it. That posterior has the
row's share of the statistic taken out again. Of counts it is a subtraction. Of normal laws, let the
posterior of all rows have the scale matrix :math:`\Psi`, weigh :math:`\kappa` rows and have
:math:`\nu` degrees of freedom; without a row these are

.. math:: |\Psi_{-i}| = r_i |\Psi|, \qquad r_i = 1 - \frac{\kappa}{\kappa - 1} \,
    (x_i - m)' \Psi^{-1} (x_i - m),

:math:`\kappa - 1` and :math:`\nu - 1`, and the Student density of the row is, but for a constant,
:math:`|\Psi|^{-1/2} r_i^{(\nu - 1) / 2}`. A regression is alike, with the leverage of the row.

Where a row is most of what is known (:math:`r_i` is small), the subtraction loses digits; these few
rows, at most about as many as there are columns, are predicted by a posterior of the others' rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.features import Classified
from bayesmodels.models.classifiers.gaussian_discriminant import GaussianDiscriminant
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.hypotheses import ConceptLearning
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart
from bayesmodels.numerics import Array, kernels
from bayesmodels.numerics.class_statistics import log_factorials
from bayesmodels.numerics.crossproducts import stacked
from bayesmodels.numerics.special import HALF_LOG_2PI, log_gamma_ratio
from bayesmodels.numerics.threads import run
from bayesmodels.numerics.triangular import solution, solve_lower, solve_upper
from bayesmodels.referee.one_step import log_next, readable, rows_at

_BLOCK = 2**15  # numbers in a block of rows that the cache holds
_SLOWER = 4  # times as many numbers as elsewhere, before compiled loops pay
_FEW = 16  # factors that are multiplied one by one
_LEAST = 1e-4  # part of a scale, or of a weight, that must be left without a row


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictive densities of rows, each by all others.

    Attributes
    ----------
    log_density : ndarray of shape (n,) or (n, batch...)
        Of each row; where columns are separate problems, of each of their cells.
    rows : sequence of length n
        Labels of the rows.
    """

    log_density: Array
    rows: Sequence[Hashable]

    @property
    def elpd(self) -> Any:
        """Sum over the rows, which estimates that of as many new rows."""
        return self.log_density.sum(0)[()]

    @property
    def se(self) -> Any:
        """Standard error of `elpd`, as ArviZ has it: of a sum of independent terms."""
        return (np.sqrt(len(self.log_density)) * self.log_density.std(0))[()]

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.elpd), precision=6, threshold=10)
        return f"LeaveOneOut(elpd={shown}, {len(self.log_density)} rows)"


class Seen(NamedTuple):
    """Log densities of rows, their labels, and which of them were lost to rounding."""

    logs: Array
    rows: Sequence[Hashable]
    lost: NDArray[np.bool_]


def leave_one_out(prior: Any, data: Any) -> LeaveOneOut:
    r"""Return the exact log predictive density of every row by all the others.

    .. math:: \ln p(x_i \mid x_{-i}), \qquad \mathrm{elpd} = \sum_i \ln p(x_i \mid x_{-i})

    Parameters
    ----------
    prior : Belief
        A conjugate model before the data.
    data : rows
        As in the model's `statistic`, not weighted.

    Returns
    -------
    LeaveOneOut
        With `log_density` of each row, `elpd` and `se`: what ArviZ's `loo` approximates from draws.

    Raises
    ------
    DataError
        If the data are a statistic or weighted, or the model has no closed form without a row.
    PriorError
        If the other rows leave an improper posterior, which predicts nothing.

    References
    ----------
    Geisser and Eddy (1979), *A predictive approach to model selection*, section 3; Vehtari, Gelman
    and Gabry (2017), *Practical Bayesian model evaluation using leave-one-out cross-validation and
    WAIC*, section 2.

    Examples
    --------
    Three heads and a tail, from a flat prior: a head is predicted by two heads and a tail.

    >>> import bayesmodels as bm
    >>> found = bm.leave_one_out(bm.BetaBernoulli(1, 1), [1, 1, 1, 0])
    >>> np.exp(found.log_density).round(6)
    array([0.6, 0.6, 0.6, 0.2])
    """
    if hasattr(data, "without_rows"):
        msg = "data: must be rows, of which one is left out after the other; got a statistic."
        raise DataError(msg)
    if checked.weighted(data):
        msg = "data: must not be weighted, since no part of a row is left out; leave weights out."
        raise DataError(msg)
    if seen.dispatch(type(prior)) is seen.dispatch(object):
        msg = (
            f"prior: {type(prior).__name__} has no closed form without one of the rows. Use "
            "ArviZ's loo with draws."
        )
        raise DataError(msg)
    s = prior.statistic(data)
    wide = prior.update(s.without_rows())  # with the axes that data bring
    logs, rows, lost = seen(wide, data, s)
    if lost.any():
        logs = _again(wide, readable(wide, data), logs, lost, rows)
    return LeaveOneOut(logs, rows)


def _again(
    prior: Any, data: Any, logs: Array, lost: NDArray[np.bool_], labels: Sequence[Hashable]
) -> Array:
    """Predict some rows by a posterior of the others, all columns of a row anew."""
    logs = logs.copy()
    every = np.arange(len(logs))
    for i in np.flatnonzero(lost.reshape(len(logs), -1).any(1)).tolist():
        after = prior.update(rows_at(data, np.delete(every, i)))
        try:
            found = log_next(after, rows_at(data, slice(i, i + 1)))
        except PriorError as error:
            msg = (
                f"prior: without row {labels[i]} the posterior is improper and predicts nothing. "
                f"{error}"
            )
            raise PriorError(msg) from None
        logs[i] = np.reshape(found, logs[i].shape)
    return logs


@singledispatch
def seen(prior: Any, data: Any, s: Any) -> Seen:
    """Return the log density of every row by the others, `s` being the statistic of all."""
    raise NotImplementedError  # `leave_one_out` asks first whether there is one


@seen.register
def _(prior: BetaBernoulli, data: Any, s: Any) -> Seen:
    given = checked.trials(data)
    by_row, ones = given.batch.by_row, np.asarray(given.successes)
    # Counts of the others first: whole numbers, from which nothing is rounded away.
    if given.trials is None:  # a one, or a zero, is as probable in every row of a problem
        with np.errstate(all="ignore"):  # of values that are not there
            total = np.log((prior.alpha + prior.beta) + (s.ones + s.zeros - 1))
            one = np.log(prior.alpha + (s.ones - 1)) - total
            zero = np.log(prior.beta + (s.zeros - 1)) - total
        return _all_there(np.where(ones > 0, by_row(one), by_row(zero)), given.batch)
    alpha = by_row(prior.alpha) + (by_row(s.ones) - ones)
    beta = by_row(prior.beta) + (by_row(s.zeros) - (given.trials - ones))
    logs = np.asarray(BetaBernoulli(alpha, beta).predictive(given.trials).logpmf(ones))
    return _all_there(logs, given.batch)


@seen.register
def _(prior: DirichletCategorical, data: Any, s: Any) -> Seen:
    given = checked.categories(data, prior.categories, prior.alpha.shape[-1], prior.other)
    by_row = given.batch.by_row
    if given.counted and checked.sparse(given.values):
        return _all_there(_of_cells(prior, given, s.counts), given.batch)
    if given.counted:
        own = given.values
        others = by_row(prior.alpha, 1) + (by_row(s.counts, 1) - own)
        law = DirichletCategorical(others).predictive(own.sum(-1))
        return _all_there(np.asarray(law.logpmf(own)), given.batch)
    with np.errstate(all="ignore"):  # of categories that are not there
        total = np.log(prior.alpha.sum(-1) + (s.counts.sum(-1) - 1))
        table = by_row(np.log(prior.alpha + (s.counts - 1)) - total[..., None], 1)
    shape = np.broadcast_shapes(table.shape[:-1], given.values.shape)
    codes = np.broadcast_to(given.values, shape)[..., None]
    logs = np.take_along_axis(np.broadcast_to(table, (*shape, table.shape[-1])), codes, -1)
    return _all_there(logs[..., 0], given.batch)


def _of_cells(prior: DirichletCategorical, given: checked.Categories, counts: Array) -> Array:
    r"""Return Dirichlet-multinomial log masses of a sparse table's rows, each by the others.

    .. math:: \ln n! - \sum_v \ln c_v! + \ln\frac{\Gamma(A)}{\Gamma(A + n)}
        + \sum_v \ln\frac{\Gamma(\alpha_v + c_v)}{\Gamma(\alpha_v)},

    in which the words that a row lacks have no term.
    """
    table = given.values
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    rows, width = table.shape
    groups = np.zeros(rows, dtype=np.intp) if given.batch.groups is None else given.batch.groups
    alpha = np.ascontiguousarray(np.broadcast_to(prior.alpha, counts.shape)).reshape(-1, width)
    totals = counts.reshape(-1, width)
    mass, tokens = alpha.sum(-1), totals.sum(-1)
    last = alpha.ravel() + totals.ravel()  # one beyond the last factor of a cell
    found = np.empty(rows)

    def work(at: slice) -> None:
        pointers = table.indptr[at.start : at.stop + 1]
        cells = slice(pointers[0], pointers[-1])
        own, group = table.data[cells].astype(float), groups[at]
        row = np.repeat(np.arange(len(group)), np.diff(pointers))
        terms = _log_rising(last.take(group[row] * width + table.indices[cells]) - own, own)
        terms -= log_factorials(own)
        n = np.bincount(row, own, len(group))
        others = mass[group] + (tokens[group] - n)
        found[at] = np.bincount(row, terms, len(group))
        found[at] += log_factorials(n) - log_gamma_ratio(others, n)

    for at in _pieces(rows, _BLOCK // max(1, table.nnz // max(1, rows))):
        work(at)
    return found


def _log_rising(start: Array, steps: Array) -> Array:
    """Return ln of start (start + 1) ... (start + steps - 1), term by term where they are few."""
    found = np.zeros(start.shape)
    few = steps <= _FEW
    for k in range(int(steps[few].max(initial=0))):
        more = np.flatnonzero(few & (steps > k))
        found[more] += np.log(start[more] + k)
    found[~few] = log_gamma_ratio(start[~few], steps[~few])
    return found


@seen.register
def _(prior: NormalInverseGamma, data: Any, s: Any) -> Seen:
    given = checked.measurements(data)
    after = prior.update(s)
    kappa, shape = prior.kappa + (s.n - 1), prior.shape + (s.n - 1) / 2
    with np.errstate(all="ignore"):  # of groups without rows
        constant = log_gamma_ratio(shape, 0.5) - HALF_LOG_2PI
        constant = constant - 0.5 * np.log1p(1 / kappa) - 0.5 * np.log(after.scale)

        unit = 0.5 * _share(kappa) / after.scale

    parameters = (after.location, after.rest, unit, constant, shape)
    if (
        kernels.pay(given.x.size // _SLOWER)
        and after.location.ndim == len(given.batch.lead) + given.batch.inner
    ):
        return _of_numbers(given, parameters)

    def of_rows(x: Array, batch: checked.Batch) -> tuple[Array, NDArray[np.bool_]]:
        square = (x - batch.by_row(after.location)) - batch.by_row(after.rest)
        square *= square
        with np.errstate(all="ignore"):
            square = square * batch.by_row(unit)
        logs, lost = _log_left(square)
        return batch.by_row(constant) + batch.by_row(shape) * logs, lost

    return Seen(*_in_blocks(given.x, given.batch, of_rows))


def _of_numbers(given: checked.Measurements, parameters: Sequence[Array]) -> Seen:
    """Return the same by one compiled loop; parameters have the axes of the batch, and no more."""
    n, batch = len(given.x), given.batch
    x = given.x.reshape(n, -1)
    shape = (max(1, batch.size), x.shape[1])
    each = [np.ascontiguousarray(np.broadcast_to(p, parameters[0].shape)) for p in parameters]
    each = [p.reshape(shape) for p in each]
    groups = np.zeros(n, dtype=np.intp) if batch.groups is None else batch.groups
    logs, lost = np.empty(x.shape), np.empty(x.shape, dtype=bool)
    loop = kernels.compiled(kernels.leave_numbers_out)

    def work(at: slice) -> None:
        loop(x[at], groups[at], *each, _LEAST, logs[at], lost[at])

    run(work, _pieces(n, 8 * _BLOCK // shape[1]), x.size)
    return Seen(logs.reshape(given.x.shape), batch.rows, lost.reshape(given.x.shape))


@seen.register(NormalInverseWishart)
@seen.register(SharedNormalInverseWishart)
def _(prior: Any, data: Any, s: Any) -> Seen:
    given = checked.vectors(data)
    width, after = given.x.shape[-1], prior.update(s)
    root = np.linalg.cholesky(after.scale)
    half_log = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(-1)
    kappa = prior.kappa + (s.n - 1)
    if isinstance(prior, SharedNormalInverseWishart):
        ratio, df = prior.ratio, np.asarray(prior.df + (s.n.sum() - 1))
    else:
        ratio, df = np.ones(kappa.shape), prior.df + (s.n - 1)
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
        away = (x - by_row(after.location, 1)) - by_row(after.rest, 1)
        with np.errstate(all="ignore"):
            square = _square(root, away, batch.groups) * by_row(unit)
        logs, lost = _log_left(square)
        return by_row(constant) + by_row(power) * logs, lost

    return Seen(*_in_blocks(given.x, given.batch, of_rows))


def _square(root: Array, away: Array, groups: NDArray[np.intp] | None) -> Array:
    """Return the square lengths of rows in units of the root, or of that of their own group."""
    if root.ndim == 2:  # noqa: PLR2004 - one matrix
        units = solve_upper(root.T, away.T, transposed=True)
        return np.einsum("ij,ij->j", units, units)
    roots, found = root.reshape(-1, *root.shape[-2:]), np.empty(len(away))
    for group in range(len(roots)):
        own = groups == group
        found[own] = _square(roots[group], away[own], None)
    return found


def _in_blocks(
    x: Array,
    batch: checked.Batch,
    of_rows: Callable[[Array, checked.Batch], tuple[Array, NDArray[np.bool_]]],
) -> tuple[Array, Sequence[Hashable], NDArray[np.bool_]]:
    """Return log densities, labels and what was lost, of some rows after the other."""

    def of_block(at: slice) -> list[Any]:
        groups = None if batch.groups is None else batch.groups[at]
        return [_rows_first(y, batch) for y in of_rows(x[at], replace(batch, groups=groups))]

    first = of_block(slice(0, 1))  # for the shape
    found = [np.empty((len(x), *y.shape[1:]), y.dtype) for y in first]

    def work(at: slice) -> None:
        for whole, part in zip(found, of_block(at), strict=True):
            whole[at] = part

    for at in _pieces(len(x), _BLOCK // max(1, prod(x.shape[1:]))):
        work(at)
    logs, lost = found
    return logs, batch.rows, lost


@seen.register
def _(prior: LinearRegression, data: Any, s: Any) -> Seen:
    after, rows = prior.update(s), checked.design_rows(data)
    shape = prior.shape + (s.n - 1) / 2
    with np.errstate(all="ignore"):
        constant = log_gamma_ratio(shape, 0.5) - HALF_LOG_2PI - 0.5 * np.log(after.scale)

    def of_rows(leverage: Array, square: Array) -> tuple[Array, NDArray[np.bool_]]:
        with np.errstate(all="ignore"):  # of flat coefficients that no row tells, of a perfect fit
            log_away, alone = _log_left(leverage)
            log_left, lost = _log_left(0.5 * square / (1 - leverage))
            logs = constant + 0.5 * log_away + shape * log_left
        lost = lost | alone | (shape <= 0)
        return np.where(lost, 0.0, logs), lost

    if rows is None:
        given = checked.regression(data)
        logs, lost = of_rows(*_by_batch(after, given))
        return Seen(logs, given.rows, lost)
    n, size = len(rows.y), after.factor.shape[-1]
    logs, lost = np.empty(n), np.empty(n, dtype=bool)
    fast = kernels.pay(n * size)
    root = np.ascontiguousarray(after.factor.T)

    def work(at: slice) -> None:
        # The row [x y] in units of the posterior's factor is [x R⁻¹, (y - x m) / r].
        each = stacked(rows.X, rows.y, at, ones=rows.intercept)
        if fast:
            leverage, square = np.empty((2, len(each)))
            kernels.compiled(kernels.solve_rows)(each, root, leverage, square)
        else:
            units = solve_upper(after.factor, each.T, transposed=True)
            units *= units
            leverage, square = units[:-1].sum(0), units[-1]
        logs[at], lost[at] = of_rows(leverage, 2 * square)

    run(work, _pieces(n, _BLOCK if fast else _BLOCK // size), n * size if fast else 0)
    return Seen(logs, rows.row_labels(), lost)


def _pieces(n: int, step: int) -> Iterator[slice]:
    """Return so many rows after the other."""
    step = max(64, step)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _by_batch(after: LinearRegression, given: checked.Regression) -> tuple[Array, Array]:
    """Return the same for several targets, of shape (n, batch...)."""
    batch, n = after.shape.shape, len(given.y)
    X = given.X.reshape(n, *(1,) * (len(batch) + 2 - given.X.ndim), *given.X.shape[1:])
    rows = np.moveaxis(np.broadcast_to(X, (n, *batch, X.shape[-1])), 0, -1)
    residual = given.y - np.moveaxis((solution(after.factor)[..., None] * rows).sum(-2), -1, 0)
    reach = solve_lower(np.swapaxes(after.precision_factor, -1, -2), rows)
    return np.moveaxis((reach**2).sum(-2), -1, 0), residual**2 / after.scale


@seen.register(NaiveBayes)
@seen.register(GaussianDiscriminant)
def _(prior: Any, data: Any, s: Any) -> Seen:
    given = Classified(prior.classes, prior.blocks, data)
    total, rows, lost = seen(prior.classes, given.target, s.classes)
    for name, block in prior.blocks.items():
        split, cells = given.rows(name)
        logs, _, gone = seen(block.belief, split, s.features[name])
        each = [x.reshape(len(x), -1).sum(-1) for x in (logs, gone)]
        if cells:
            each = [np.bincount(rows_of_cells(given, name), x, len(total)) for x in each]
        total, lost = total + each[0], lost | (each[1] > 0)
    return Seen(total, rows, lost)


def rows_of_cells(given: Classified, name: str) -> NDArray[np.intp]:
    """Return the row of each cell that is there, of a block in which some are missing.

    Parameters
    ----------
    given : Classified
        Rows of features with their classes.
    name : str
        The block.
    """
    values = given.cells(name)
    there = values >= 0 if values.dtype.kind == "i" else ~np.isnan(values)
    return np.nonzero(there)[0]


@seen.register
def _(prior: ConceptLearning, data: Any, s: Any) -> Seen:  # noqa: ARG001 - the others' is added up
    given = checked.outcomes(data, prior.outcomes)
    found, where, counts = np.unique(given.codes, return_inverse=True, return_counts=True)
    table = prior.log_table[:, found]
    logs = np.empty(len(found))
    for k in range(len(found)):  # -inf cannot be taken out again: others are added up anew
        others = counts - (np.arange(len(found)) == k)
        terms = table[:, others > 0] * others[others > 0]
        weights = prior.log_weights + np.ascontiguousarray(terms).sum(1)
        logs[k] = logsumexp(weights + table[:, k]) - logsumexp(weights)
    logs = logs[where]
    return Seen(logs, given.rows, np.zeros(logs.shape, dtype=bool))


def _share(kappa: Array) -> Array:
    """Return (kappa + 1) / kappa; NaN, which is lost, where next to no weight is left."""
    return np.where(kappa > _LEAST * (kappa + 1), (kappa + 1) / kappa, np.nan)


def _log_left(square: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return ln(1 - square), 0 where that is lost to rounding, and where it is.

    A power of half the number of rows makes the last digit of 1 - square count: the logarithm is
    taken of what was left, and stretched from what was taken to what should have been. (NumPy's
    log1p does the same several times slower.)
    """
    left = 1 - square
    lost = ~(left > _LEAST)
    left[lost] = 1.0
    taken = 1 - left
    logs = np.log(left)
    with np.errstate(all="ignore"):
        logs *= square / taken
    return np.where(lost, 0.0, np.where(taken == 0, -square, logs)), lost


def _rows_first(logs: Any, batch: checked.Batch) -> Any:
    """Put the axis of the rows before those of a batch that the rows do not have."""
    return np.moveaxis(logs, logs.ndim - 1 - batch.inner, 0)


def _all_there(logs: Array, batch: checked.Batch) -> Seen:
    logs = _rows_first(logs, batch)
    return Seen(logs, batch.rows, np.zeros(logs.shape, dtype=bool))
