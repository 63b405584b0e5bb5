"""Worked values: a coin, Murphy (2012) section 3.3, and mpmath where counts are extreme."""

import numpy as np
import pytest

import bayesmodels as bm


def test_the_worked_coin_55_of_100():
    posterior = bm.BetaBernoulli(1, 1).update(bm.BinomialCounts(55, 100))
    assert posterior == bm.BetaBernoulli(56, 46)
    assert posterior.mean()["theta"] == pytest.approx(56 / 102)
    assert posterior.mode()["theta"] == pytest.approx(55 / 100)
    assert posterior.var()["theta"] == pytest.approx(56 * 46 / (102**2 * 103))
    # The large-sample error bar sqrt(p (1 - p) / N).
    assert np.sqrt(posterior.var()["theta"]) == pytest.approx(np.sqrt(0.55 * 0.45 / 100), rel=0.02)


@pytest.mark.parametrize(
    ("prior", "ones", "zeros", "posterior"),
    [((2, 2), 3, 17, (5, 19)), ((5, 2), 11, 13, (16, 15))],
)
def test_murphys_worked_updates(prior, ones, zeros, posterior):
    rows = [1] * ones + [0] * zeros
    assert bm.BetaBernoulli(*prior).update(rows) == bm.BetaBernoulli(*posterior)


def test_posterior_mean_is_a_weighted_average_of_prior_mean_and_mle():
    prior, rows = bm.BetaBernoulli(2, 2), bm.BinomialCounts(3, 20)
    weight = prior.shrinkage(rows)
    mle = prior.statistic(rows).mle()["theta"]
    mixed = weight * prior.mean()["theta"] + (1 - weight) * mle
    assert weight == pytest.approx(4 / 24)
    assert prior.update(rows).mean()["theta"] == pytest.approx(mixed)
    assert prior.update(rows).equivalent_sample_size() == 24


def test_murphys_figure_of_predictives():
    """Figure 3.6: Beta(2, 2) after 3 heads and 17 tails, 10 more tosses; E7 of the notes."""
    posterior = bm.BetaBernoulli(2, 2).update(bm.BinomialCounts(3, 20))
    assert posterior.mode()["theta"] == pytest.approx(4 / 22)  # not 4/23
    law = posterior.predictive(trials=10)
    assert law.support() == (0, 10)  # not 0..9
    assert law.mean() == pytest.approx(10 * 5 / 24)
    assert law.var() == pytest.approx(10 * 5 * 19 * (24 + 10) / (24**2 * 25))
    assert law.pmf(np.arange(11)).sum() == pytest.approx(1)
    plug_in = posterior.plug_in(posterior.mode(), trials=10)
    assert law.var() > plug_in.var()  # the plug-in forgets that theta is uncertain


def test_black_swan():
    prior, rows = bm.BetaBernoulli(1, 1), [0] * 9
    assert prior.plug_in(prior.statistic(rows).mle()).pmf(1) == 0
    assert prior.update(rows).predictive().pmf(1) == pytest.approx(1 / 11)  # Laplace's rule


@pytest.mark.parametrize(
    ("alpha", "beta", "where"),
    [
        (1, 1, "the same everywhere"),
        (0.5, 0.5, "at both ends"),
        (0.5, 2, "largest at 0"),
        (1, 2, "largest at 0"),
        (2, 1, "largest at 1"),
        (2, 0.5, "largest at 1"),
        (1, 0.5, "largest at 1"),
        (0.5, 1, "largest at 0"),
    ],
)
def test_without_an_interior_mode_the_error_says_where_the_density_is_largest(alpha, beta, where):
    with pytest.raises(bm.ModeError, match=where):
        bm.BetaBernoulli(alpha, beta).mode()


def test_mode_error_names_the_member_of_a_batch():
    belief = bm.BetaBernoulli([2, 1], [2, 2], coords={"group": ["a", "b"]})
    with pytest.raises(bm.ModeError, match=r"theta\[b\]"):
        belief.mode()


def test_mle_needs_rows():
    with pytest.raises(bm.DataError, match="at least one row"):
        bm.statistics.BernoulliStatistic().mle()


def test_counts_have_a_binomial_coefficient_and_rows_have_none():
    prior = bm.BetaBernoulli(2, 3)
    rows, counts = [1, 1, 0, 1, 0], bm.BinomialCounts(3, 5)
    assert prior.update(rows) == prior.update(counts)
    assert prior.log_evidence(counts) - prior.log_evidence(rows) == pytest.approx(np.log(10))


def test_groups_keep_their_names_and_are_independent():
    rows = bm.Grouped([1, 0, 1, 1, 0], by=["t", "c", "t", "t", "c"])
    posterior = bm.BetaBernoulli(1, 1).update(rows)
    assert posterior == bm.BetaBernoulli([1, 4], [3, 1], coords={"group": ("c", "t")})
    assert list(posterior.summary().index) == ["theta[c]", "theta[t]"]


def test_a_batch_meets_only_data_with_the_same_labels():
    first = bm.BetaBernoulli(1, 1).update(bm.Grouped([1, 0], by=["a", "b"]))
    with pytest.raises(bm.DataError, match="labels they had before"):
        first.update(bm.Grouped([1, 0], by=["a", "c"]))
    with pytest.raises(bm.DataError, match="leading axes"):
        first.update(bm.Grouped([1, 0, 1], by=["a", "b", "c"]))


# --- priors from what people say -----------------------------------------------------------------


def test_a_prior_from_its_mean_and_weight():
    prior = bm.BetaBernoulli.from_mean([0.1, 0.5], n=20)
    np.testing.assert_allclose(prior.mean()["theta"], [0.1, 0.5])
    np.testing.assert_allclose(prior.equivalent_sample_size(), 20)


@pytest.mark.parametrize(
    ("low", "high", "prob"),
    [(0.05, 0.2, 0.9), (1e-6, 1e-3, 0.95), (0.001, 0.999, 0.9), (0.4, 0.6, 0.5),
     (0.9, 0.99999, 0.89), (0.4999, 0.5001, 0.99), (1e-5, 0.9, 0.9)],
)  # fmt: skip
def test_a_prior_from_its_interval(low, high, prob):
    prior = bm.BetaBernoulli.from_interval(low, high, prob)
    np.testing.assert_allclose(prior.interval(prob)["theta"], [low, high], rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bm.BetaBernoulli.from_mean(1.2, n=3), "mean: must be between 0 and 1; got 1.2"),
        (lambda: bm.BetaBernoulli.from_mean(0.2, n=0), "n: must be positive"),
        (lambda: bm.BetaBernoulli.from_interval(0.3, 0.2), "low, high: must be 0 < low < high < 1"),
        (lambda: bm.BetaBernoulli.from_interval(0.1, 0.2, 90), "prob: must be between 0 and 1"),
        (lambda: bm.BetaBernoulli.from_interval(1e-300, 0.5), "no Beta law was found .* from_mean"),
        (lambda: bm.BetaBernoulli.from_interval(0.5, 0.5 + 1e-10), "no Beta law was found"),
    ],
)
def test_a_prior_that_cannot_be_is_refused(make, words):
    with pytest.raises(bm.PriorError, match=words):
        make()
