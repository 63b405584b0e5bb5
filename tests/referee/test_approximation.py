"""The error of an approximation, and joint densities of models without a closed form."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.referee import JointIdentity

MODEL = bm.LogisticRegression([0, 0], 4)
DATA = bm.Design([[-1.0], [0], [1], [2]], bm.BinomialCounts([2, 3, 5, 9], [10] * 4), intercept=True)
NEAR = MODEL.laplace(DATA)


def test_errors_are_those_of_shifted_draws():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((4, 2500, 2))
    mean, sd = NEAR.mean()["w"], NEAR.marginals()["w"].std()
    draws = {"w": mean + sd * (0.3 + 2 * z)}
    table = bm.approximation_error(NEAR, draws)
    assert list(table.index) == ["w[0]", "w[1]"]
    assert (np.abs(table["error"] + 0.15) < 4 * table["mcse"]).all()
    assert (np.abs(table["sd_ratio"] - 0.5) < 4 * table["sd_ratio_mcse"]).all()
    assert (np.abs(table["mcse"] - 0.01) < 0.001).all()
    assert (table["r_hat"] < 1.01).all()
    assert table.attrs["approximation"] == "Laplace approximation"


def test_an_exact_law_has_an_error_of_zero():
    belief = bm.BetaBernoulli(5, 19)
    table = bm.approximation_error(belief, belief.to_datatree(rng=np.random.default_rng(1)))
    assert (table["error"].abs() < 4 * table["mcse"]).all()
    assert table.attrs["approximation"] == "Beta–Bernoulli"


def test_draws_that_do_not_fit_are_refused():
    with pytest.raises(bm.DataError, match="draws: must have the variable 'w'"):
        bm.approximation_error(NEAR, {"theta": np.ones((2, 4))})


def test_draws_of_an_approximation_against_an_exact_law():
    """A normal law with the right mean, two thirds as wide: as ADVI might have it."""
    rng = np.random.default_rng(4)
    exact = bm.NormalInverseGamma(1.0, 2.0, 30.0, 40.0)
    law = exact.marginals()
    fitted = {
        name: law[name].mean() + 2 / 3 * law[name].std() * rng.standard_normal((1, 4000))
        for name in ("mu", "sigma2")
    }
    table = bm.approximation_error(fitted, exact)
    assert (table["error"].abs() < 4 * table["mcse"]).all()
    assert (np.abs(table["sd_ratio"] - 2 / 3) < 4 * table["sd_ratio_mcse"]).all()
    assert (table["ess"] == np.inf).all()  # the truth is exact
    assert table.attrs["approximation"] == "draws"
    sampled = bm.approximation_error(fitted, exact.to_datatree(rng=rng))
    assert (np.abs(sampled["sd_ratio"] - 2 / 3) < 4 * sampled["sd_ratio_mcse"]).all()
    assert (
        sampled["mcse"] > table["mcse"].loc[sampled.index]
    ).all()  # the truth has noise of its own


def test_two_laws_have_nothing_to_be_measured_by():
    with pytest.raises(bm.DataError, match="one of them must be draws"):
        bm.approximation_error(NEAR, NEAR)


@pytest.mark.slow
def test_a_variational_fit_of_pymc_is_measured():
    """Mean field on two correlated weights: too narrow, and `error` says by how much."""
    import pymc as pm

    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 2))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1 - 0.81) * X[:, 1]
    y = X @ [1.0, -1.0] + rng.standard_normal(40)
    prior = bm.LinearRegression([0, 0], 0.1, shape=3, scale=2)
    with prior.declare((X, y)):
        fit = pm.fit(30_000, method="advi", random_seed=1, progressbar=False)
        draws = fit.sample(2000, random_seed=2)
    table = bm.approximation_error(draws, prior.update((X, y)))
    weights = table.loc[["w[0]", "w[1]"], "sd_ratio"]
    assert (weights < 0.7).all()
    gap = draws.posterior["w"].mean(("chain", "draw")) - prior.update((X, y)).mean()["w"]
    sd = prior.update((X, y)).marginals()["w"].std()
    np.testing.assert_allclose(table.loc[["w[0]", "w[1]"], "error"], gap / sd, rtol=1e-10)


@pytest.mark.parametrize(
    ("value", "slope", "holds"), [(0.5, 1, True), (2, 0, False), (0, 3, False)]
)
def test_the_finding_in_words(value, slope, holds):
    found = JointIdentity(20, value, slope, 1e-12)
    assert found.holds == holds
    words = "up to rounding (1e-12)" if holds else "Prior or likelihood is written differently"
    assert words in found.sentence()


def test_nan_does_not_hold():
    assert not JointIdentity(20, np.nan, 0.0, 1e-12).holds
    assert not JointIdentity(20, 0.0, np.nan, 1e-12).holds


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["prior", "likelihood", "constant"])
def test_another_model_in_pymc_is_found(slip, monkeypatch):
    import pymc as pm

    x = np.array([-1.0, 0, 1, 2])
    with pm.Model(coords={"feature": [0, 1]}) as other:
        w = pm.Normal("w", 0, 4 if slip == "prior" else 2, dims="feature")
        score = w[0] + w[1] * x * (1.001 if slip == "likelihood" else 1)
        pm.Binomial("y", n=10, logit_p=score, observed=[2, 3, 5, 9])
        if slip == "constant":
            pm.Potential("more", 0.001 + 0 * w.sum())
    monkeypatch.setattr(bm.LogisticRegression, "declare", lambda *_: other)
    found = bm.check_joint(MODEL, DATA, rng=np.random.default_rng(1))
    assert not found.holds
    assert found.value > 1000
