"""Class probabilities of draws against exact ones."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import bayesmodels as bm
from bayesmodels.referee.tests import class_probabilities as referee
from bayesmodels.referee.tests.class_probabilities import class_probabilities, telling_rows

RNG = np.random.default_rng(1)


def discriminant(width, rows):
    """Return a posterior of two classes one apart in every column, and its rows."""
    y = np.repeat(["a", "b"], rows)
    X = RNG.normal(size=(2 * rows, width)) + (y == "b")[:, None]
    prior = bm.GaussianDiscriminant(
        bm.DirichletCategorical([1, 1], ["a", "b"]),
        bm.NormalInverseWishart(np.zeros(width), 1, width + 2, np.eye(width)),
    )
    return prior.update((X, y)), X


POSTERIOR, ROWS = discriminant(2, 30)


def draws(seed, law=POSTERIOR):
    return law.to_datatree(draws=500, rng=np.random.default_rng(seed))


def test_moments_are_those_of_exact_draws():
    row = ROWS[:1]
    exact = POSTERIOR.log_joint(row)[0]
    (spread, kurtosis), _ = referee._moments(POSTERIOR, row, exact)
    many = POSTERIOR.sample(400_000, np.random.default_rng(2))
    ratio = np.exp(POSTERIOR.log_joint(row, many)[:, 0] - logsumexp(exact))
    h = ratio[:, 0] - np.exp(exact - logsumexp(exact))[0] * ratio.sum(-1)
    assert spread == pytest.approx(h.std(), rel=0.01)
    assert kurtosis == pytest.approx(np.mean(h**4) / h.var() ** 2, rel=0.05)


@pytest.mark.slow
def test_exact_draws_give_standard_normal_discrepancies():
    rows = telling_rows(POSTERIOR, ROWS, most=3)
    z = [
        test.z
        for seed in range(40)
        for test in class_probabilities(POSTERIOR, draws(seed), rows)[0]
    ]
    assert len(z) == 120
    assert abs(np.mean(z)) < 0.3
    assert np.mean(np.square(z)) == pytest.approx(1, abs=0.5)


def test_means_too_close_are_seen_in_class_probabilities():
    tree = draws(3)
    mu = tree.posterior["mu"]
    tree.posterior["mu"] = mu + 0.1 * (mu.mean("class") - mu)
    tests, table = class_probabilities(POSTERIOR, tree, telling_rows(POSTERIOR, ROWS))
    assert len(tests) == len(table) == 10
    assert max(abs(test.z) for test in tests) > 5


def test_a_tuple_of_rows_is_no_pair():
    rows = tuple(map(tuple, ROWS[:3].tolist()))
    found, wanted = (class_probabilities(POSTERIOR, draws(5), r)[1] for r in (rows, ROWS[:3]))
    pd.testing.assert_frame_equal(found, wanted)
    assert np.shape(telling_rows(POSTERIOR, rows)) == (3, 2)


def test_rows_that_rest_on_rare_draws_are_shown_but_not_tested():
    """In 12 dimensions with 20 rows a class, averages of densities are far from normal."""
    law, rows = discriminant(12, 20)
    chosen = telling_rows(law, rows)
    assert len(chosen) == 10
    tests, table = class_probabilities(law, draws(4, law), chosen)
    assert len(tests) < len(table) == 10
    assert table["z"].isna().sum() == table["mcse"].isna().sum() == len(table) - len(tests)
    assert table[["exact", "sampled"]].notna().all(axis=None)


def test_the_least_certain_of_all_rows_under_their_own_labels():
    """A frame whose index has gaps, the least certain row where a subset would not find it."""
    frame = pd.DataFrame(np.vstack([np.tile(ROWS, (10, 1)), ROWS.mean(0)]), columns=[0, 1])
    frame.index = 7 * np.arange(len(frame)) + 3
    certain = POSTERIOR.class_probabilities(frame).max(-1)
    chosen = telling_rows(POSTERIOR, frame)
    assert list(chosen.index) == list(frame.index[np.argsort(certain, kind="stable")[:10]])
    tests, table = class_probabilities(POSTERIOR, draws(3), chosen)
    assert [test.label for test in tests] == list(table.index)
    assert list(table.index) == [f"row {label}, a" for label in chosen.index]
    p = POSTERIOR.class_probabilities(frame.loc[chosen.index])[:, 0]
    np.testing.assert_allclose(table["exact"], p)
    again = chosen.set_axis(np.zeros(10, dtype=int))  # labels that tell nothing apart
    assert class_probabilities(POSTERIOR, draws(3), again)[1].index[9] == "row 9, a"


def test_many_rows_are_looked_at_in_parts(monkeypatch):
    whole = telling_rows(POSTERIOR, ROWS)
    monkeypatch.setattr(referee, "_TOGETHER", 7)
    assert (telling_rows(POSTERIOR, ROWS) == whole).all()


def test_moments_of_many_classes_stay_cheap():
    """Classes beyond four enter the kurtosis by a bound."""
    names = [f"c{i}" for i in range(12)]
    y = np.repeat(names, 5)
    X = RNG.normal(size=(60, 1)) + np.arange(12).repeat(5)[:, None] / 4
    prior = bm.NaiveBayes(
        bm.DirichletCategorical(np.ones(12), names), bm.NormalInverseGamma(0, 1, 2, 2)
    )
    law = prior.update((X[:, 0], y))
    moments = referee._moments(law, X[:1, 0], law.log_joint(X[:1, 0])[0])
    assert len(moments) == 12
    assert all(spread > 0 and kurtosis > 1 for spread, kurtosis in moments)
