"""Worked values of Dirichlet beliefs; Murphy (2012) section 3.4."""

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


def test_counts_carry_the_multinomial_coefficient():
    prior = bm.DirichletCategorical([1, 1, 1])
    counts = bm.MultinomialCounts([2, 1, 1])
    assert np.exp(prior.log_evidence(counts)) == pytest.approx(1 / 15)  # all tables alike
    assert prior.log_evidence(counts) - prior.log_evidence([0, 0, 1, 2]) == pytest.approx(
        np.log(12)
    )


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


def test_columns_that_are_numbers_are_not_counted_as_others():
    """Without names the categories are 0 to K - 1: columns 2, 1, 0 or 1, 2, 3 are not these."""
    prior, counts = bm.DirichletCategorical([1, 1, 1]), np.array([[3, 0, 1]])
    for columns in ([2, 1, 0], [1, 2, 3]):
        table = bm.MultinomialCounts(pd.DataFrame(counts, columns=columns))
        with pytest.raises(bm.DataError, match=r"categories 0 to 2.*categories=\[\.\.\.\]"):
            prior.update(table)
        named = bm.DirichletCategorical([1, 1, 1], categories=columns)  # the way out
        assert named.update(table).alpha.tolist() == [4, 1, 2]
    table = bm.MultinomialCounts(pd.DataFrame(counts, columns=["a", "b", "c"]))
    assert prior.update(table).coords == {"category": ("a", "b", "c")}
    assert prior.declare(table).coords["category"] == ("a", "b", "c")


@pytest.mark.parametrize("verb", ["update", "log_evidence"])
@pytest.mark.parametrize("counted", [[1], [1, 2], [1, 2, 3, 4]])
def test_a_statistic_of_more_or_fewer_categories_is_refused(counted, verb):
    """One count for three categories was added to each; two were NumPy's ValueError."""
    statistic = bm.statistics.CategoricalStatistic(counted)
    with pytest.raises(bm.DataError, match=r"data: must count 3 categories"):
        getattr(bm.DirichletCategorical([1, 1, 1]), verb)(statistic)
