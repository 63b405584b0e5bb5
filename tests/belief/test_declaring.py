"""Which rows a PyMC model holds one by one, and which by their statistic."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bayesmodels as bm
from bayesmodels.belief.declaring import MOST_ROWS, likelihood_of, number_of_rows
from bayesmodels.belief.protocol import Statistic
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)
COIN = bm.BetaBernoulli(1, 1)
MANY = MOST_ROWS + 1
WORDS = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.DirichletCategorical(np.ones(50_000)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_few_rows_are_observed(case):
    wanted = "statistic" if isinstance(case.data, Statistic) else "rows"
    assert likelihood_of(case.prior, case.data) == wanted
    assert number_of_rows(case.data) == case.rows


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ([1, 0, 1], 3),
        (pd.DataFrame({"a": [1, 0]}), 2),
        (pl.Series([1, 0]), 2),
        (bm.BinomialCounts([3, 4], [20, 20]), 2),
        (bm.MultinomialCounts([3, 4, 0]), 1),
        (bm.Grouped(bm.BinomialCounts([3], [20]), by=["a"]), 1),
        (bm.Design([[1.0], [2.0]], [1.0, 2.0]), 2),
        (([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]), 3),
        (bm.MultinomialCounts(sparse.csr_array((7, 2))), 7),
    ],
)
def test_numbers_of_rows(data, rows):
    assert number_of_rows(data) == rows


@pytest.mark.parametrize(
    ("model", "data", "wanted"),
    [
        (COIN, np.zeros(MOST_ROWS), "rows"),
        (COIN, np.zeros(MANY), "statistic"),
        (COIN, bm.BinomialCounts(3, 20), "rows"),
        (COIN, bm.BinomialCounts(np.ones(MANY), np.ones(MANY)), "statistic"),
        (COIN, bm.Grouped(np.zeros(MANY), by=np.zeros(MANY)), "statistic"),
        (COIN, bm.Weighted([1, 0], [0.5, 2]), "statistic"),
        (COIN, COIN.statistic([1, 0]), "statistic"),
        (bm.LinearRegression.flat(1), (np.ones((MANY, 1)), np.ones(MANY)), "statistic"),
        (bm.LogisticRegression([0], 1), (np.ones((MANY, 1)), np.ones(MANY)), "rows"),
        (bm.DirichletCategorical([1, 1]), bm.MultinomialCounts(sparse.eye_array(2)), "statistic"),
        (WORDS, (bm.MultinomialCounts(sparse.csr_array((2, 50_000))), [0, 1]), "statistic"),
        (COIN, None, "rows"),
        (COIN, np.float64(1), "rows"),
    ],
)
def test_the_default(model, data, wanted):
    assert likelihood_of(model, data) == wanted


def test_what_is_declared():
    rows = np.arange(MANY) % 2
    assert not COIN.declare(rows).observed_RVs
    assert [x.name for x in COIN.declare(rows, "rows").observed_RVs] == ["x"]
    assert [x.name for x in COIN.declare(rows[:MOST_ROWS]).observed_RVs] == ["x"]
    assert not COIN.declare(COIN.statistic(rows)).observed_RVs


def test_data_that_are_none_are_still_named():
    with pytest.raises(bm.DataError, match="must"):
        COIN.declare(None)


def documents(rows, rng):
    """Return a table of counts that takes 40 GB when it is dense, with its classes."""
    words = 50_000
    cells = 20 * rows
    counts = sparse.csr_array(
        (
            1 + rng.poisson(0.3, cells),
            rng.integers(0, words, cells, dtype=np.int32),
            np.arange(0, cells + 1, 20),
        ),
        (rows, words),
    )
    return bm.MultinomialCounts(counts), rng.integers(0, 2, rows)


def test_sparse_counts_stay_sparse():
    """A hundred thousand documents of fifty thousand words."""
    data = documents(100_000, np.random.default_rng(2))
    assert np.prod([float(n) for n in data[0].counts.shape]) * 8 > 10e9
    model = WORDS.declare(data)
    assert not model.observed_RVs
    posterior = WORDS.update(data)
    assert posterior.blocks[""].belief.alpha.shape == (2, 50_000)
    with pytest.raises(bm.DataError, match="sparse rows are not spread out"):
        WORDS.declare(data, "rows")


def test_a_mixture_of_many_sparse_rows_is_refused():
    data = documents(2000, np.random.default_rng(3))[0]
    mixture = bm.NaiveBayesMixture(WORDS.classes, bm.DirichletCategorical(np.ones(50_000)))
    with pytest.raises(bm.DataError, match=r"2,000 distinct rows of 50,000 levels are too many"):
        mixture.declare(data)


@pytest.mark.slow
def test_a_report_of_many_rows_says_how_they_were_declared(tmp_path):
    rows = RNG.integers(0, 2, MANY)
    report = bm.validate(COIN, rows, rng=1)
    assert report.outcome == "agree"
    assert report.settings["likelihood"] == "statistic"
    report.to_html(tmp_path / "many.html")
    text = (tmp_path / "many.html").read_text(encoding="utf-8")
    assert "the statistic of the rows, which has their density" in text
    assert "Exact elpd" in text
    assert "too many rows to keep the log likelihood" in text
    assert "likelihood=&#39;statistic&#39;" in text
    few = bm.validate(COIN, rows[:20], rng=1)
    assert few.settings["likelihood"] == "rows"


@pytest.mark.slow
def test_draws_of_the_statistic_have_the_groups_of_rows():
    rows = RNG.normal(size=MANY)
    tree = bm.mcmc_draws(
        bm.NormalInverseGamma(0, 1, 1, 1), rows, draws=100, tune=200, chains=2, rng=RNG
    )
    assert tree["observed_data"]["x"].shape == (MANY,)
    assert tree["log_likelihood"]["x"].shape == (2, 100, MANY)
    assert tree["posterior_predictive"]["x"].shape == (2, 100, MANY)
