"""Bayes factors from exact evidences."""

import numpy as np
import pytest

import bayesmodels as bm


def test_bayes_factor_of_a_regression_with_and_without_a_column():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = 2 * X[:, 0] + rng.normal(size=400)
    table = bm.compare_evidence(
        {
            "both": (bm.LinearRegression(0, np.eye(2), 2, 2), (X, y)),
            "first": (bm.LinearRegression(0, np.eye(1), 2, 2), (X[:, :1], y)),
        }
    )
    assert list(table.index) == ["first", "both"]
    assert table.loc["first", "log_bayes_factor"] == 0
    assert table["probability"].sum() == pytest.approx(1)


def test_a_thousand_rows_do_not_underflow():
    rows = [1, 0] * 5000
    table = bm.compare_evidence({"a": bm.BetaBernoulli(1, 1), "b": bm.BetaBernoulli(1, 99)}, rows)
    assert np.isfinite(table).all(axis=None)
    assert table.loc["a", "probability"] > 0.99


def test_batches_count_as_one_model():
    rows = bm.Grouped([1, 1, 0, 0], by=["a", "a", "b", "b"])
    table = bm.compare_evidence({"one": bm.BetaBernoulli(1, 1)}, rows)
    assert table.loc["one", "log_evidence"] == pytest.approx(2 * np.log(1 / 3))


def test_what_is_missing_is_named():
    with pytest.raises(bm.DataError, match="at least one model"):
        bm.compare_evidence({}, [1])
    with pytest.raises(bm.DataError, match="model 'a' has none"):
        bm.compare_evidence({"a": bm.BetaBernoulli(1, 1)})
    with pytest.raises(bm.PriorError, match="needs a proper belief"):
        bm.compare_evidence({"a": bm.LinearRegression.flat(1)}, ([[1.0]], [1.0]))
