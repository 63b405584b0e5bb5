"""Scalars that are right one by one and wrong together; and right ones, which keep the level."""

import numpy as np
import pytest
from scipy import special

import bayesmodels as bm
from bayesmodels.numerics.multiple_testing import holm
from bayesmodels.referee import one_sample
from bayesmodels.referee.tests import dependence


def regression(columns, rho=0.7):
    """Return a posterior whose first two coefficients are correlated."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, columns))
    X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
    y = X @ rng.standard_normal(columns) + rng.standard_normal(400)
    return bm.LinearRegression(np.zeros(columns), 0.01 * np.eye(columns), 2, 2).update((X, y))


def draws_of(law, seed):
    return dict(law.to_datatree(rng=np.random.default_rng(seed)).posterior.data_vars)


def verdict(law, draws):
    return bm.compare(law, draws, rng=np.random.default_rng(2))


@pytest.mark.parametrize("columns", [2, 40])
def test_a_lost_dependence_is_found_among_few_scalars_and_among_many(columns):
    law = regression(columns)
    draws = draws_of(law, 3)
    assert verdict(law, draws).outcome == "agree"
    w = draws["w"].to_numpy().copy()
    w[..., 0] = np.roll(w[..., 0], 1, axis=0)
    found = verdict(law, draws | {"w": w})
    assert found.outcome == "disagree"
    assert "rank correlation of w[0] and w[1] is 0.6" in found.findings[0]
    assert "too high" in found.findings[0]


def test_a_dependence_put_in_is_found_among_many():
    law = bm.BetaBernoulli(np.full(60, 5.0), np.full(60, 5.0))
    rng = np.random.default_rng(4)
    noise = rng.standard_normal((4, 1000, 60)) + 0.5 * rng.standard_normal((4, 1000, 1))

    theta = law.marginals()["theta"].ppf(special.ndtr(noise / np.sqrt(1.25)))
    found = verdict(law, {"theta": theta})
    assert found.outcome == "disagree"
    assert any("random direction" in finding for finding in found.findings)


def test_draws_from_the_wrong_joint_density_are_found_by_it():
    law = bm.LinearRegression(np.zeros(40), np.eye(40), 3, 3)
    draws = draws_of(law, 15)
    assert verdict(law, draws).outcome == "agree"
    # Coefficients are uncorrelated with their variance, and yet they depend on it.
    mixed = draws | {"sigma2": np.roll(draws["sigma2"].to_numpy(), 1, axis=0)}
    found = verdict(law, mixed)
    assert any("log density" in finding for finding in found.findings)


@pytest.mark.parametrize("columns", [3, 30])
@pytest.mark.slow
def test_right_draws_keep_the_level(columns):
    law, rng = regression(columns), np.random.default_rng(6)
    alone, alarms = set(law.summary().index), 0
    for _ in range(100):
        draws = {n: x.reshape(4, 500, *x.shape[1:]) for n, x in law.sample(2000, rng).items()}
        together = [
            test for test in one_sample.one_sample_tests(law, draws, rng) if test.label not in alone
        ]
        assert together
        alarms += bool(holm([test.p for test in together], 0.05))
    # 100 trials at 5 %: more than 14 alarms has probability below 2e-4.
    assert alarms <= 14


def test_one_scalar_has_nothing_to_go_with():
    law = bm.BetaBernoulli(2, 3)
    draws = draws_of(law, 7)
    assert {test.label for test in verdict(law, draws).tests} == {"theta"}


def test_impossible_draws_are_left_to_the_scalars():
    law = bm.NormalInverseWishart([0, 0], 2.0, 12, [[2, 0.5], [0.5, 1]])
    draws = draws_of(law, 8)
    found = verdict(law, draws | {"Sigma": -draws["Sigma"]})
    assert found.outcome == "disagree"


def test_separate_problems_have_one_density_together():
    law = bm.NormalInverseGamma([0.0, 1.0], 2.0, 3.0, 4.0)
    labels = {test.label for test in verdict(law, draws_of(law, 9)).tests}
    assert "log density" in labels
    assert "mu[0] and sigma2[0]" in labels


def test_few_scalars_are_looked_at_in_all_pairs():
    pairs = dependence.chosen_pairs(np.random.default_rng(1).random((5, 100)))
    assert len(pairs) == 40  # ten of scalars, ten of their distances, twenty of one and the other
