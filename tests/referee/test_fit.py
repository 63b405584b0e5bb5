"""Agreement is not fit: rows of the model pass, rows of other laws are found, at measured rates."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.belief.protocol import Approximable, Product
from bayesmodels.belief.simulation import replaced
from bayesmodels.numerics.misfits import p_value
from tests.referee.fits import POISSON, RIGHT, WRONG

REPEATED = 10


def outcomes(case, seed):
    """Return how often rows of a case are said not to fit."""
    off = 0
    for k in range(REPEATED):
        rng = np.random.default_rng([seed, k])
        found = bm.check_fit(case.model, case.data(rng), by=case.by, rng=rng)
        assert found.outcome != "not checked", found.sentences()[0]
        off += found.outcome == "does not fit"
    return off


def test_models_that_are_right_are_seldom_said_not_to_fit():
    off = sum(outcomes(case, seed) for seed, case in enumerate(RIGHT.values()))
    assert off <= stats.binom.isf(1e-3, REPEATED * len(RIGHT), 0.01)


@pytest.mark.parametrize("name", WRONG)
def test_misfits_are_found(name):
    """Of each nine in ten are found, as the benchmark says; five of ten are more than bad luck."""
    assert outcomes(WRONG[name], 1) > stats.binom.ppf(1e-3, REPEATED, 0.88)


CLOSED = [
    name
    for name, case in RIGHT.items()
    if not isinstance(case.model, Approximable | Product) and "vectors" not in name
]
"""Those whose rows are drawn in units of their own."""


def with_rows(model, data, rows):
    if isinstance(data, bm.Design):
        return replace(data, target=rows)
    return replaced(model, data, rows)


@pytest.mark.parametrize("name", CLOSED)
def test_rows_that_are_drawn_give_the_same_posterior(name):
    case, rng = RIGHT[name], np.random.default_rng(1)
    data = case.data(rng)
    columns = case.model.given_statistic(data)
    (x,) = case.model.observed(data).values()
    wanted = case.model.update(data).parameters()
    for rows in zip(*(column.draw(3, rng) for column in columns), strict=True):
        new = np.stack(rows, -1).reshape(x[0].shape).astype(x[0].dtype)
        assert not np.array_equal(new, x[0])
        after = case.model.update(with_rows(case.model, data, new)).parameters()
        for symbol, value in wanted.items():
            np.testing.assert_allclose(after[symbol], value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["vectors", "vectors in groups"])
def test_vectors_that_are_drawn_have_no_mean_and_no_covariance_left(name):
    case, rng = RIGHT[name], np.random.default_rng(1)
    data = case.data(rng)
    (column,) = case.model.given_statistic(data)
    by = data.by if isinstance(data, bm.Grouped) else np.zeros(len(column.x))
    for x in (column.x, *column.draw(3, rng)):
        for group in np.unique(by):
            np.testing.assert_allclose(x[by == group].mean(0), 0, atol=1e-12)
            np.testing.assert_allclose(np.cov(x[by == group].T, bias=True), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", ["eight numbers", "twelve waits", "ten counts"])
def test_p_values_of_few_rows_are_uniform_or_larger(name):
    case, values = RIGHT[name], []
    for k in range(300):
        rng = np.random.default_rng(k)
        values.append(bm.check_fit(case.model, case.data(rng), rng=rng).table["p"].to_numpy())
    for p in np.transpose(values):
        for level in (0.02, 0.1, 0.3):
            assert (p <= level).sum() <= stats.binom.isf(1e-4, len(p), level)


def test_the_tail_beyond_all_numbers_that_are_drawn_is_that_of_a_normal_law_or_heavier():
    drawn = np.random.default_rng(1).standard_normal(2000)
    for far in (4.0, 5.0):
        p = p_value(far, drawn, 0.5)
        assert 2 * stats.norm.sf(far) < p < 1 / 1000


def test_a_fit_says_what_was_checked():
    counts = [0, 7, 1, 12, 0, 0, 3, 15, 0, 2, 9, 0, 0, 6, 1]
    fit = bm.check_fit(POISSON, counts, rng=1)
    assert fit.outcome == "does not fit"
    dispersion = np.var(counts) / np.mean(counts)
    assert fit.table.loc[("", "dispersion"), "rows"] == pytest.approx(dispersion)
    assert "times as much as a Poisson law says, so that intervals are about" in fit.sentences()[0]
    assert json.loads(json.dumps(fit.to_dict()))["outcome"] == fit.outcome
    assert "does not fit" in repr(fit)
    fit = bm.check_fit(POISSON, [3, 1, 2, 4, 2, 3], rng=1)
    names = "dispersion, zeros, largest deviation and order of rows"
    assert fit.sentences()[0] == f"No misfit was found in {names}."


def test_a_posterior_is_checked_as_its_prior_is():
    x = np.random.default_rng(1).poisson(3, 50)
    before, after = (bm.check_fit(model, x, rng=1) for model in (POISSON, POISSON.update(x)))
    pd.testing.assert_frame_equal(before.table, after.table)


def test_rows_without_an_order_are_not_asked_for_it():
    """Equal rows of a table of frequencies stand together."""
    prior, rows = bm.BetaBernoulli(1, 1), [1] * 30 + [0] * 30 + [1] * 30 + [0] * 30
    assert bm.check_fit(prior, rows, rng=1).outcome == "does not fit"
    fit = bm.check_fit(prior, rows, ordered=False, rng=1)
    assert fit.outcome == "not checked"
    assert "only the order" in fit.findings[0]
    counts = bm.check_fit(POISSON, [3, 3, 3, 1, 1, 4, 3, 3, 2, 2], ordered=False, rng=1)
    assert {name for _, name in counts.table.index} == {"dispersion", "zeros", "largest deviation"}


def test_rows_in_order_of_their_sizes_say_nothing_by_their_order():
    rng = np.random.default_rng(1)
    for model, x in (
        (POISSON, rng.poisson(3, 200)),
        (bm.BetaBernoulli(1, 1), rng.integers(0, 2, 200)),
        (bm.DirichletCategorical([1, 1, 1]), rng.permutation([0] * 50 + [1] * 60 + [2] * 70)),
    ):
        assert bm.check_fit(model, np.sort(x), rng=1).outcome == "fits"


UNCHECKED = {
    "statistic": (POISSON, POISSON.statistic([1, 2]), "whose rows are gone"),
    "few rows": (POISSON, [1, 2], "too few rows"),
    "no rows": (POISSON, [], "too few rows"),
    "one pair": (bm.BetaBernoulli(1, 1), bm.BinomialCounts(3, 20), "too few rows"),
    "constant": (bm.NormalInverseGamma(0, 1, 1, 1), [2.0] * 9, "rows that differ"),
    "groups of one": (
        bm.NormalInverseGamma(0, 1, 1, 1),
        bm.Grouped([1.0, 2, 3, 4], by=list("abcd")),
        "rows that differ",
    ),
    "line without a rest": (
        bm.LinearRegression.flat(2),
        (np.c_[np.ones(9), np.arange(9)], 3.0 * np.arange(9)),
        "nothing unexplained",
    ),
    "weights": (POISSON, bm.Weighted([1, 2, 3], [1, 2, 1]), "leave them out"),
    "censored": (
        bm.GammaExponential(1, 1),
        bm.Censored([1.0, 2, 3], [1, 1, 0]),
        "only take times that ended",
    ),
    "hypotheses": (
        bm.ConceptLearning({"all": [1, 2, 3], "some": [1, 2]}),
        [1, 2, 2],
        "no checks of Concept",
    ),
    "few rows of columns": (
        bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)),
        np.eye(3)[:, :2],
        "more rows",
    ),
    "columns that follow from others": (
        bm.NormalInverseWishart(np.zeros(3), 1, 5, np.eye(3)),
        np.arange(60.0).reshape(20, 3) ** 2 @ np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0.0]]),
        "none of which follows",
    ),
    "perfect line": (
        bm.LinearRegression.flat(2),
        ([[1, 0], [1, 1.0], [1, 3]], [1.0, 2, 3]),
        "rows",
    ),
}


@pytest.mark.parametrize("name", UNCHECKED)
def test_what_can_t_be_checked_says_why(name):
    model, data, why = UNCHECKED[name]
    fit = bm.check_fit(model, data, rng=1)
    assert fit.outcome == "not checked"
    assert len(fit.table) == 0
    assert why in fit.sentences()[0]


def test_what_is_no_model_or_no_grouping_is_refused():
    for model in (bm.GammaPoisson, 3):
        with pytest.raises(bm.DataError, match="model: must be a model"):
            bm.check_fit(model, [1, 2, 3])
    with pytest.raises(bm.DataError, match="by: must have one label a row"):
        bm.check_fit(POISSON, [1, 2, 3, 4], by=["a", "b"])
    with pytest.raises(bm.DataError, match="level"):
        bm.check_fit(POISSON, [1, 2, 3, 4], level=1)


def test_groups_that_a_model_of_vectors_leaves_out_are_found():
    by = np.arange(120) % 2
    x = np.random.default_rng(1).normal(size=(120, 2))
    model = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    assert bm.check_fit(model, x, by=by, rng=1).outcome == "fits"
    assert bm.check_fit(model, x * [1e14, 1e-8], by=by, rng=1).outcome == "fits"
    found = bm.check_fit(model, x + by[:, None], by=by, rng=1)
    assert found.findings[0].startswith("rows of a group are alike")
