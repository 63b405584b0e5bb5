"""Leaving each row out in closed form is the same as fitting the other rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bayesmodels as bm
from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import LatentClasses, Statistic
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.models import case_deletion
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)


def refitted(prior, data):
    """Fit all rows but one, predict that one, and so on."""
    wide = prior.update(prior.statistic(data).without_rows())
    whole = readable(wide, data)
    every = np.arange(number_of_rows(whole))
    return np.array(
        [
            np.sum(
                wide.update(rows_at(whole, np.delete(every, i))).log_evidence(
                    rows_at(whole, slice(i, i + 1))
                )
            )
            for i in every
        ]
    )


def by_row(found):
    return found.log_density.reshape(len(found.log_density), -1).sum(1)


def left_out(case):
    """Return data that can be left out one by one, or None."""
    without = isinstance(case.rest, bm.Weighted | Statistic)
    return None if without or isinstance(case.start, LatentClasses) else case.rest


@pytest.mark.parametrize(
    "case", [c for c in CASES if left_out(c) is not None], ids=lambda case: case.id
)
def test_every_model_equals_refitting(case):
    try:
        found = bm.leave_one_out(case.start, case.rest)
    except bm.PriorError:
        with pytest.raises(bm.PriorError):
            refitted(case.start, case.rest)
        return
    wanted = refitted(case.start, case.rest)
    np.testing.assert_allclose(by_row(found), wanted, rtol=1e-10, atol=1e-10)


def test_what_rounding_took_is_found():
    x = np.c_[np.ones(6), [0.0, 1, 2, 3, 4, 1e6]]
    flat, data = bm.LinearRegression.flat(2), (x, x[:, 1] + np.array([0.1, -0.1, 0, 0.1, 0, 0]))
    found = bm.leave_one_out(flat, data)
    np.testing.assert_allclose(found.log_density, refitted(flat, data), rtol=1e-8)


@pytest.mark.parametrize("data", ["line", "vectors", "classes"])
def test_real_sizes_equal_refitting(data):
    rows = RNG.normal(size=(50, 4)) @ RNG.normal(size=(4, 4)) + 50
    if data == "line":
        prior = bm.LinearRegression.flat(4)
        given = (rows, rows @ [1, 2, 3, 4] + RNG.normal(size=50))
    elif data == "vectors":
        prior, given = bm.NormalInverseWishart(np.zeros(4), 0.01, 6, np.eye(4)), rows
    else:
        prior = bm.GaussianDiscriminant(
            bm.DirichletCategorical([1, 1], ["a", "b"]),
            bm.NormalInverseWishart(np.zeros(4), 0.01, 6, np.eye(4)),
            covariance="shared",
        )
        given = (rows, RNG.choice(["a", "b"], 50))
    found = bm.leave_one_out(prior, given)
    np.testing.assert_allclose(found.log_density, refitted(prior, given), rtol=1e-10)
    assert found.elpd == pytest.approx(found.log_density.sum())
    assert found.se == pytest.approx(np.sqrt(50 * found.log_density.var()))


def test_a_row_that_is_most_of_what_is_known():
    """Without the outlier 1e-9 of the scale is left, which subtraction would lose."""
    prior = bm.NormalInverseGamma(0.0, 1e-6, 1.0, 1e-3)
    rows = np.array([1.0, 1.001, 0.999, 1.0005, 1e5])
    found = bm.leave_one_out(prior, rows)
    np.testing.assert_allclose(found.log_density, refitted(prior, rows), rtol=1e-12)
    one = bm.leave_one_out(bm.NormalInverseGamma(3.0, 1e-17, 1.0, 1.0), [5.0])
    own = bm.NormalInverseGamma(3.0, 1e-17, 1.0, 1.0).predictive().logpdf(5.0)
    np.testing.assert_allclose(one.log_density, own, rtol=1e-12)
    vectors = np.vstack([np.random.default_rng(1).normal(size=(6, 2)), [[1e3, 2e3]]])
    wide = bm.NormalInverseWishart([0, 0], 0.1, 3, np.eye(2))
    found = bm.leave_one_out(wide, vectors)
    np.testing.assert_allclose(found.log_density, refitted(wide, vectors), rtol=1e-10)


def test_tiny_pseudo_counts_and_large_counts_keep_their_digits():
    prior = bm.BetaBernoulli(1e-8, 1.0)
    found = bm.leave_one_out(prior, [1, 0, 0])
    assert np.exp(found.log_density[0]) == pytest.approx(1e-8 / (3 + 1e-8), rel=1e-14)


@pytest.mark.slow
def test_arviz_approximates_it_from_draws():
    import arviz_stats

    rows = RNG.normal(2, 3, size=60)
    prior = bm.NormalInverseGamma(0, 1, 2, 2)
    exact = bm.leave_one_out(prior, rows)
    tree = bm.exact_draws(prior, rows, draws=2000, rng=np.random.default_rng(2))
    near = arviz_stats.loo(tree)
    assert abs(near.elpd - exact.elpd) < 0.1
    assert near.se == pytest.approx(exact.se, rel=0.02)


@pytest.mark.parametrize(
    ("prior", "data", "error", "words"),
    [
        (
            bm.BetaBernoulli(1, 1),
            bm.statistics.BernoulliStatistic(1, 2),
            bm.DataError,
            "got a statistic",
        ),
        (
            bm.BetaBernoulli(1, 1),
            bm.Weighted([1, 0], [1, 2]),
            bm.DataError,
            "must not be weighted",
        ),
        (bm.BetaBernoulli, [1, 0], bm.DataError, "got the class BetaBernoulli"),
        (3, [1, 0], bm.DataError, "prior: must be a model before the data, .*; got int"),
        (bm.LogisticRegression([0], 1), ([[1.0]], [1]), bm.DataError, "no closed form"),
        (
            bm.LinearRegression.flat(2),
            ([[1, 0], [1, 1], [1, 2.0]], [1, 2, 4.0]),
            bm.PriorError,
            "without row 0 the posterior is improper",
        ),
        (
            bm.LinearRegression.flat(1),
            (pd.DataFrame({"x": [1.0, 2]}, index=["a", "b"]), [1.0, 2]),
            bm.PriorError,
            "without row a the posterior is improper",
        ),
    ],
)
def test_what_cannot_be_left_out_is_named(prior, data, error, words):
    with pytest.raises(error, match=words):
        bm.leave_one_out(prior, data)


@pytest.mark.parametrize("grouped", [False, True])
def test_an_outlier_in_one_column_leaves_the_others_alone(grouped):
    """The row is predicted anew, each of its columns by itself."""
    prior = bm.NormalInverseGamma(0.0, 1e-3, 1.0, 1e-3)
    rows = RNG.normal(size=(8, 2))
    rows[3, 1] = 1e5
    by = list("aabaaaba")

    def wrapped(x):
        return bm.Grouped(x, by=by) if grouped else x

    found = bm.leave_one_out(prior, wrapped(rows)).log_density
    alone = [bm.leave_one_out(prior, wrapped(rows[:, k])).log_density for k in range(2)]
    np.testing.assert_allclose(found, np.column_stack(alone), rtol=1e-11)


def test_an_outlier_among_several_targets():
    X = RNG.normal(size=(9, 2))
    Y = RNG.normal(size=(9, 2))
    Y[4, 0] = 1e6
    prior = bm.LinearRegression([0, 0], 1.0, 1.0, 1.0)
    found = bm.leave_one_out(prior, (X[:, None, :], Y)).log_density
    alone = [bm.leave_one_out(prior, (X, Y[:, k])).log_density for k in range(2)]
    np.testing.assert_allclose(found, np.column_stack(alone), rtol=1e-9)


@pytest.mark.parametrize(
    ("prior", "single", "rows"),
    [
        (
            bm.NormalInverseGamma([0, 1, 2.0], 1, 1, 1),
            lambda k: bm.NormalInverseGamma(k, 1, 1, 1),
            RNG.normal(size=7),
        ),
        (bm.BetaBernoulli([1, 2, 3], 1), lambda k: bm.BetaBernoulli(1 + k, 1), [1, 0, 0, 1, 1]),
        (
            bm.DirichletCategorical([[1, 1], [2, 1], [3, 1]]),
            lambda k: bm.DirichletCategorical([1 + k, 1]),
            [1, 0, 0, 1, 1],
        ),
    ],
)
def test_several_priors_meet_the_same_rows(prior, single, rows):
    found = bm.leave_one_out(prior, rows)
    alone = np.column_stack([bm.leave_one_out(single(k), rows).log_density for k in range(3)])
    np.testing.assert_allclose(found.log_density, alone, rtol=1e-12)
    assert found.elpd.shape == (3,)


def documents(rows):
    counts = RNG.poisson(0.3, size=(rows, 20))
    counts[3] = 0
    counts[4, 2] = 40  # too many for factors one by one
    return counts, RNG.choice(["a", "b"], rows)


def test_sparse_counts_are_those_of_the_dense_table():
    counts, label = documents(30)
    classes = bm.DirichletCategorical([1, 1], ["a", "b"])
    prior = bm.NaiveBayes(classes, bm.DirichletCategorical(np.full(20, 0.3)))
    dense = bm.leave_one_out(prior, (bm.MultinomialCounts(counts), label))
    thin = bm.leave_one_out(prior, (bm.MultinomialCounts(sparse.csr_array(counts)), label))
    np.testing.assert_allclose(thin.log_density, dense.log_density, rtol=1e-12)
    row, word = np.nonzero(counts)
    once = counts[row, word]
    pointers = np.concatenate([[0], 2 * np.cumsum((counts > 0).sum(1))])
    halves = np.column_stack([once // 2, once - once // 2]).ravel()  # entries given twice add up
    twice = sparse.csr_array((halves, np.repeat(word, 2), pointers), counts.shape)
    own = bm.DirichletCategorical(np.full(20, 0.3))
    alone = bm.leave_one_out(own, bm.MultinomialCounts(counts)).log_density
    found = bm.leave_one_out(own, bm.MultinomialCounts(twice)).log_density
    np.testing.assert_allclose(found, alone, rtol=1e-12)


def test_a_sparse_table_is_never_spread_out():
    """A hundred thousand documents of fifty thousand words, 40 GB if it were."""
    rng = np.random.default_rng(2)
    counts = sparse.csr_array(
        (
            np.ones(10**6),
            rng.integers(0, 50_000, 10**6, dtype=np.int32),
            np.arange(0, 10**6 + 1, 10),
        ),
        (100_000, 50_000),
    )
    prior = bm.DirichletCategorical(np.ones(50_000))
    found = bm.leave_one_out(prior, bm.MultinomialCounts(counts))
    few = counts[[5]]
    others = prior.alpha + counts.sum(0) - few.toarray()[0]
    wanted = bm.DirichletCategorical(others).predictive(10).logpmf(few.toarray()[0])
    np.testing.assert_allclose(found.log_density[5], wanted, rtol=1e-10)


def test_blocks_of_rows_meet(monkeypatch):
    monkeypatch.setattr(case_deletion, "_BLOCK", 1)  # 64 rows at a time
    rows = RNG.normal(size=(75, 2)) * [1, 4] + 3
    label = list("abc") * 25
    for prior, data in (
        (bm.NormalInverseGamma(0, 1, 1, 1), bm.Grouped(rows, by=label)),
        (bm.NormalInverseWishart([0, 0], 1, 3, np.eye(2)), bm.Grouped(rows, by=label)),
        (bm.LinearRegression.flat(1), (rows[:, :1], rows[:, 1])),
    ):
        found = bm.leave_one_out(prior, data).log_density
        at = [0, 63, 64, 74]
        own = found.reshape(75, -1).sum(1)[at]
        np.testing.assert_allclose(own, refitted(prior, data)[at], rtol=1e-11)


REAL = {
    "regression: diabetes": lambda: (
        bm.LinearRegression.flat(10),
        bm.Design.from_frame(bm.datasets.load("diabetes"), "progression"),
    ),
    "discriminant: wine": lambda: (
        bm.GaussianDiscriminant(
            bm.DirichletCategorical(np.ones(3), list("ABC")),
            bm.NormalInverseWishart(np.zeros(13), 0.01, 15, np.eye(13)),
            "shared",
        ),
        split("wine", "cultivar"),
    ),
    "naive Bayes: iris": lambda: (
        bm.NaiveBayes(
            bm.DirichletCategorical(np.ones(3), sorted(set(bm.datasets.load("iris")["species"]))),
            bm.NormalInverseGamma(0, 0.01, 1, 1),
        ),
        split("iris", "species"),
    ),
    "classes: party": lambda: (
        bm.DirichletCategorical(
            np.ones(len(bm.datasets.load("party")["party"].cat.categories)),
            list(bm.datasets.load("party")["party"].cat.categories),
        ),
        bm.datasets.load("party")["party"],
    ),
}


def split(name, target):
    frame = bm.datasets.load(name)
    return frame.drop(columns=target), frame[target]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_data_equal_refitting(name):
    prior, data = REAL[name]()
    found = bm.leave_one_out(prior, data)
    np.testing.assert_allclose(by_row(found), refitted(prior, data), rtol=1e-10)
