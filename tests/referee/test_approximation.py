"""Approximations against draws, and joint densities of models without a closed form."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.report.approximation import errors_of

MODEL = bm.LogisticRegression([0, 0], 4)
DATA = bm.Design([[-1.0], [0], [1], [2]], bm.BinomialCounts([2, 3, 5, 9], [10] * 4), intercept=True)
NEAR = MODEL.laplace(DATA)


def test_errors_are_those_of_shifted_draws():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((4, 2500, 2))
    mean, sd = NEAR.mean()["w"], NEAR.marginals()["w"].std()
    verdict = bm.compare(NEAR, {"w": mean + sd * (0.3 + 2 * z)})
    assert (verdict.outcome, verdict.kind) == ("disagree", "approximate")
    table = errors_of(verdict.table)
    assert list(table.index) == ["w[0]", "w[1]"]
    assert (np.abs(table["error"] + 0.15) < 4 * table["mcse"]).all()
    assert (np.abs(table["sd_ratio"] - 0.5) < 0.02).all()  # 4 / sqrt(2 * 10,000), of a half
    assert (np.abs(table["mcse"] - 0.01) < 0.001).all()


def test_the_law_is_called_an_approximation():
    verdict = bm.compare(NEAR, NEAR.to_datatree(4000, rng=np.random.default_rng(1)))
    assert verdict.outcome == "agree"
    assert verdict.sentences()[0].startswith("The draws agree with the approximate law: ")


@pytest.mark.slow
def test_a_variational_fit_of_pymc_is_measured():
    """Mean field on two correlated weights: too narrow, and the table says by how much."""
    import pymc as pm

    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 2))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1 - 0.81) * X[:, 1]
    y = X @ [1.0, -1.0] + rng.standard_normal(40)
    prior = bm.LinearRegression([0, 0], 0.1, shape=3, scale=2)
    with prior.declare((X, y)):
        fit = pm.fit(20_000, method="advi", random_seed=1, progressbar=False)
        draws = fit.sample(2000, random_seed=2).posterior
    halves = {name: x.values.reshape(2, 1000, *x.shape[2:]) for name, x in draws.items()}
    verdict = bm.compare(prior.update((X, y)), halves)
    assert verdict.outcome == "disagree"
    weights = verdict.table.loc[["w[0]", "w[1]"]]
    assert (weights["sampled_sd"] < 0.7 * weights["sd"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["prior", "likelihood", "constant"])
def test_another_model_in_pymc_is_found(slip):
    import pymc as pm

    x = np.array([-1.0, 0, 1, 2])
    with pm.Model(coords={"feature": [0, 1]}) as other:
        w = pm.Normal("w", 0, 4 if slip == "prior" else 2, dims="feature")
        score = w[0] + w[1] * x * (1.001 if slip == "likelihood" else 1)
        pm.Binomial("y", n=10, logit_p=score, observed=[2, 3, 5, 9])
        if slip == "constant":
            pm.Potential("more", 0.001 + 0 * w.sum())
    found = bm.check_identity(other, MODEL.joint(DATA), MODEL, 0.0, rng=np.random.default_rng(1))
    assert not found.holds
    assert found.evidence > 1000


def test_equal_joint_densities_are_called_equal():
    joint = MODEL.joint(DATA)
    found = bm.check_identity(MODEL.declare(DATA), joint, MODEL, 0.0, rng=np.random.default_rng(1))
    assert found.sentences()[0].startswith(
        "Algebra and PyMC declaration are equal, constants included"
    )
