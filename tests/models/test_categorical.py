"""Worked values of Dirichlet beliefs; Murphy (2012) section 3.4."""

import mpmath
import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm


def test_a_die_by_hand():
    posterior = bm.DirichletCategorical(np.ones(6)).update([0, 0, 2, 5, 5, 5])
    assert posterior == bm.DirichletCategorical([3, 1, 2, 1, 1, 4])
    assert posterior.mean()["theta"] == pytest.approx(np.array([3, 1, 2, 1, 1, 4]) / 12)
    variance = posterior.var()["theta"][0]
    assert variance == pytest.approx(3 * 9 / (12**2 * 13))


def test_mode_is_interior_only_if_every_parameter_exceeds_one():
    belief = bm.DirichletCategorical([3, 2, 5])
    assert belief.mode()["theta"] == pytest.approx([2 / 7, 1 / 7, 4 / 7])
    with pytest.raises(bm.ModeError, match=r"theta\[red\].*border"):
        bm.DirichletCategorical([2, 1], categories=["blue", "red"]).mode()
    with pytest.raises(bm.ModeError, match="the same everywhere"):
        bm.DirichletCategorical([1, 1]).mode()


def test_two_categories_are_beta_bernoulli():
    beta, dirichlet = bm.BetaBernoulli(2, 3), bm.DirichletCategorical([3, 2])
    rows = [1, 0, 1, 1]
    assert dirichlet.log_evidence(rows) == pytest.approx(beta.log_evidence(rows))
    assert dirichlet.update(rows).mean()["theta"][1] == pytest.approx(
        beta.update(rows).mean()["theta"]
    )


def test_evidence_is_the_product_of_successive_predictives():
    # Predictive of each row in turn, with a Dirichlet(1, 2, 3) prior: 2/6, 3/7, 3/8.
    prior = bm.DirichletCategorical([1, 2, 3])
    assert np.exp(prior.log_evidence([1, 1, 2])) == pytest.approx(2 / 6 * 3 / 7 * 3 / 8)


def test_counts_carry_the_multinomial_coefficient():
    prior = bm.DirichletCategorical([1, 1, 1])
    counts = bm.MultinomialCounts([2, 1, 1])
    assert np.exp(prior.log_evidence(counts)) == pytest.approx(1 / 15)  # all tables alike
    assert prior.log_evidence(counts) - prior.log_evidence([0, 0, 1, 2]) == pytest.approx(
        np.log(12)
    )


def test_evidence_at_extreme_counts():
    counts, alpha = [10**9, 5 * 10**8, 3], [0.5, 2.0, 1e-3]
    with mpmath.workdps(60):
        total = mpmath.mpf(sum(alpha)) + sum(counts)
        right = mpmath.loggamma(sum(map(mpmath.mpf, alpha))) - mpmath.loggamma(total)
        for n, a in zip(counts, alpha, strict=True):
            right += mpmath.loggamma(mpmath.mpf(a) + n) - mpmath.loggamma(mpmath.mpf(a))
    found = bm.DirichletCategorical(alpha).log_evidence(bm.CategoricalStatistic(counts))
    assert abs(found / float(right) - 1) < 1e-12


def test_predictive_of_many_draws_sums_to_one():
    law = bm.DirichletCategorical([0.3, 2.0, 1.5]).predictive(trials=4)
    tables = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]
    assert law.pmf(tables).sum() == pytest.approx(1)
    assert law.mean() == pytest.approx(law.pmf(tables) @ np.array(tables))


def test_pandas_categories_and_names_are_kept():
    rows = pd.Series(["b", "a", "b"], dtype="category")
    posterior = bm.DirichletCategorical([1, 1, 1], categories=["a", "b", "c"]).update(rows)
    assert list(posterior.summary().index) == ["theta[a]", "theta[b]", "theta[c]"]
    assert posterior.alpha.tolist() == [2, 3, 1]


def test_unknown_category_is_named():
    prior = bm.DirichletCategorical([1, 1], categories=["a", "b"])
    with pytest.raises(bm.DataError, match="row 1 holds 'z'"):
        prior.update(["a", "z"])


def test_marginals_keep_their_digits_beside_a_huge_alpha():
    law = bm.DirichletCategorical([1.0, 1e-3, 1e12]).marginals()["theta"]
    assert law.mean()[2] == pytest.approx(1.0)
    # theta_3's other parameter is 1.001, not 1e12 + 1.001 - 1e12 = 1.0009765625.
    assert law.args[1][2] == 1.001


def test_small_concentrations_draw_no_nan():
    draws = bm.DirichletCategorical([1e-10, 1e-10]).sample(1000, np.random.default_rng(3))
    assert np.isfinite(draws["theta"]).all()
    assert draws["theta"].sum(-1) == pytest.approx(np.ones(1000))
    assert draws["theta"][:, 0].mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(1000))
