"""Posteriors of weighted points are read as all others are, and say that errors are statistical."""

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm

RNG = np.random.default_rng(20261128)
X = RNG.normal(size=(60, 6))
Y = (RNG.random(60) < 1 / (1 + np.exp(-X @ np.linspace(-1, 1, 6)))).astype(int)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("slow_clock")]


def regression(rows=slice(None)):
    with pm.Model() as model:
        w = pm.Normal("w", 0, 2, shape=6)
        pm.Bernoulli("y", logit_p=X[rows] @ w, observed=Y[rows])
    return model


@pytest.fixture(scope="module")
def posterior():
    return bm.integrate(regression(), rng=1)


def test_it_says_that_errors_are_standard_errors(posterior):
    assert (posterior.rung, posterior.error_kind) == ("weighted", "standard error")
    assert "Standard errors: of the log evidence" in posterior.explain()
    assert 0 < posterior.errors["log_evidence"] < 0.01
    assert (posterior.errors["mean"]["w"] < 0.011 * np.sqrt(posterior.var()["w"])).all()


def test_draws_are_those_of_the_law(posterior):
    tree = posterior.to_datatree(1000, 2, rng=2)
    assert bm.compare(posterior, tree).outcome == "agree"
    wrong = tree.copy()
    wrong["posterior"] = tree["posterior"].to_dataset() * 1.2
    assert bm.compare(posterior, wrong).outcome == "disagree"


def test_deterministics_are_read_off_the_points(posterior):
    """Each point is drawn as often as its weight says, so that nothing new is evaluated."""
    with regression() as model:
        pm.Deterministic("first", model["w"][0])
    again = bm.integrate(model, rng=1)
    row = again.summary().loc["first"]
    assert row["note"] == "from 20,000 draws"
    mean, sd = posterior.mean()["w"][0], np.sqrt(posterior.var()["w"][0])
    assert abs(row["mean"] - mean) < 4 * sd / np.sqrt(again._effective)
    assert abs(row["sd"] / sd - 1) < 4 / np.sqrt(2 * again._effective)
    low, high = posterior.interval(0.89)["w"]
    assert abs(row["eti89_lb"] - low[0]) < 0.05 * sd
    assert abs(row["eti89_ub"] - high[0]) < 0.05 * sd
    assert 1000 < again._effective < again.points


def test_rows_left_out_are_refits_without_them(posterior):
    table = posterior.leave_one_out(rng=1)
    for row in (0, 17, 59):
        without = bm.integrate(regression(np.arange(60) != row), rng=3)
        gap = posterior.log_evidence - without.log_evidence - table["log_density"].iloc[row]
        off = (posterior.errors["log_evidence"], without.errors["log_evidence"])
        assert abs(gap) < 4 * np.hypot(np.hypot(*off), table["error"].iloc[row])
    assert (table["error"] < 0.02).all()


def test_the_ladder_says_which_rung_it_was():
    tree = bm.sample(regression(), 500, rng=1)
    assert tree.attrs["sampler"] == "weighted"
    assert tree.attrs["log_evidence_error"] < 0.01


def test_the_same_seed_gives_the_same_points(posterior):
    again = bm.integrate(regression(), rng=1)
    assert again.points == posterior.points
    np.testing.assert_array_equal(again.sample(50, 4)["w"], posterior.sample(50, 4)["w"])
