"""The evidence as a product of one-step predictive densities, row by row.

    ln p(x_1, ..., x_n) = sum over i of ln p(x_i | x_1, ..., x_{i-1}).

A factor is the predictive law of the belief that has seen the rows before, at the next row. Neither
the formula of the evidence nor the statistic of many rows is needed for it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.input import data as checked
from bayesmodels.input.containers import read, wrapped
from bayesmodels.input.data import (
    BinomialCounts,
    Design,
    Grouped,
    MultinomialCounts,
    weighted,
)
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import GaussianDiscriminant
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.hypotheses import ConceptLearning
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.models.mixture.latent_rows import UNKNOWN
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart


def log_chain(model: Any, data: Any) -> tuple[float, float]:
    """Return the sum of one-step log predictive densities, and that of their absolute values.

    Parameters
    ----------
    model : Belief
        The prior; it must be proper.
    data : rows
        As in the model's `statistic`; `no_chain` says whether they will do.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> total, _ = log_chain(bm.BetaBernoulli(1, 1), [1, 0])
    >>> round(float(np.exp(-total)), 9)
    6.0
    """
    model = model.update(model.statistic(data).without_rows())  # it knows all groups and columns
    whole = readable(model, data)
    terms = []
    for i in range(number_of_rows(whole)):
        row = rows_at(whole, slice(i, i + 1))
        terms.append(float(np.sum(log_next(model, row))))
        model = model.update(row)
    return float(np.sum(terms)), float(np.sum(np.abs(terms)))


def no_chain(model: Any, data: Any) -> str:
    """Say why there is no chain of predictions; empty if there is one."""
    if hasattr(data, "without_rows"):
        return "the data are a statistic, whose rows are gone"
    if weighted(data):
        return "the rows are weighted, and a row that counts half has no predictive density"
    if log_next.dispatch(type(model)) is log_next.dispatch(object):
        return f"one-step predictive densities of {type(model).__name__} are not known"
    return ""


# --- rows -----------------------------------------------------------------------------------------


def readable(model: Any, data: Any) -> Any:
    """Return the data such that single rows can be taken, which know all groups."""
    if isinstance(data, Grouped):
        groups = next(iter(model.coords.values()))
        return replace(data, rows=readable(model, data.rows), groups=groups)
    if isinstance(data, BinomialCounts):
        return BinomialCounts(*(np.atleast_1d(x) for x in (data.successes, data.trials)))
    if isinstance(data, MultinomialCounts) and np.ndim(data.counts) == 1:
        return MultinomialCounts(read(data.counts, "counts", vector_row=True).values)
    return data


_PARTS = {
    Grouped: ("rows", "by"),
    BinomialCounts: ("successes", "trials"),
    MultinomialCounts: ("counts",),
    Design: ("features", "target"),
}
"""What of a container has one entry a row."""


def rows_at(data: Any, at: slice | NDArray[np.intp]) -> Any:
    """Return some rows in the same containers."""
    if isinstance(data, tuple):
        return tuple(rows_at(part, at) for part in data)
    if (names := _PARTS.get(type(data))) is not None:
        return replace(data, **{name: rows_at(getattr(data, name), at) for name in names})
    if isinstance(data, list) and not isinstance(at, slice):
        return [data[i] for i in at]
    if hasattr(data, "iloc"):
        return data.iloc[at]
    frame = wrapped(data, "data")
    if isinstance(frame, (nw.DataFrame, nw.Series)):
        places = np.arange(len(frame))[at].tolist()
        return frame[places].to_native()
    return data[at]


# --- one-step predictive densities ----------------------------------------------------------------


@singledispatch
def log_next(belief: Any, row: Any) -> Any:
    """Return the log predictive density of one row, of each of its columns that is separate."""
    raise NotImplementedError  # `no_chain` asks first whether there is one


@log_next.register
def _(belief: BetaBernoulli, row: Any) -> Any:
    given = checked.trials(row)
    law = belief.predictive(1 if given.trials is None else given.trials)
    return _of_group(law.logpmf(given.successes), given.batch)


@log_next.register
def _(belief: DirichletCategorical, row: Any) -> Any:
    given = checked.categories(row, belief.categories, belief.alpha.shape[-1], belief.other)
    if given.counted:
        counts = given.values.toarray() if checked.sparse(given.values) else given.values
        return _of_group(belief.predictive(counts.sum(-1)).logpmf(counts), given.batch)
    mean = belief.predictive().mean()
    codes = np.broadcast_to(given.values[0], mean.shape[:-1])
    return _of_group(np.log(np.take_along_axis(mean, codes[..., None], -1)[..., 0]), given.batch)


@log_next.register
def _(belief: NormalInverseGamma, row: Any) -> Any:
    given = checked.measurements(row)
    return _of_group(belief.predictive().logpdf(given.x), given.batch)


@log_next.register(NormalInverseWishart)
@log_next.register(SharedNormalInverseWishart)
def _(belief: Any, row: Any) -> Any:
    given = checked.vectors(row)
    if given.batch.groups is None:
        return belief.predictive().logpdf(given.x[0])
    return belief.log_predictive(given.x)[0, given.batch.groups[0]]


@log_next.register
def _(belief: LinearRegression, row: Any) -> Any:
    given = checked.paired(row)
    law = belief.predictive(given.features, intercept=given.intercept)
    return law.logpdf(checked.regression(row).y)


@log_next.register(NaiveBayes)
@log_next.register(GaussianDiscriminant)
def _(belief: Any, row: Any) -> Any:
    given = checked.paired(row)
    (code,) = belief.classes.read(given.target)
    return belief.log_joint(given.features)[0, code]


@log_next.register
def _(belief: NaiveBayesMixture, row: Any) -> Any:
    (code,) = belief.statistic(row).labels
    features = checked.paired(row).features if isinstance(row, (tuple, Design)) else row
    each = belief.log_joint(features)[0]
    return logsumexp(each) if code == UNKNOWN else each[code]


@log_next.register
def _(belief: ConceptLearning, row: Any) -> Any:
    (code,) = checked.outcomes(row, belief.outcomes).codes
    return belief.predictive().logpmf(belief.outcomes[code])


def _of_group(logs: Any, batch: checked.Batch) -> Any:
    """Return what is about the row: all columns, or those of its group."""
    if batch.groups is None:
        return logs
    return logs.reshape(batch.size, -1)[batch.groups[0]]
