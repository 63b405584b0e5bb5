"""Waiting times: a trial's published totals, its predictive law, and times that were cut short."""

import numpy as np
import pytest
from scipy import integrate, stats

import bayesmodels as bm

PRIOR = bm.GammaExponential(3, 5)
TIMES, ENDED = np.array([6.0, 7.0, 10.0, 0.5]), np.array([1, 1, 0, 1])


def test_remissions_of_freireich_et_al():
    """Of 21 children 9 relapsed in 359 weeks, and 21 in 182 weeks without the drug."""
    data = bm.datasets.load("leukemia")
    rows = bm.Grouped(bm.Censored(data["weeks"], data["relapsed"]), data["arm"])
    posterior = bm.GammaExponential(1, 1).update(rows)
    assert posterior.shape.tolist() == [10, 22]
    assert posterior.rate.tolist() == [360, 183]
    found = bm.GammaExponential(1, 1).statistic(rows).mle()["lam"]
    np.testing.assert_allclose(found, [9 / 359, 21 / 182])


def test_predictive_law_is_that_of_a_mixture_of_exponentials():
    law, rates = PRIOR.predictive(), stats.gamma(3, scale=1 / 5)
    for t in (0.1, 2.0, 30.0):
        mixed = integrate.quad(lambda lam, t=t: lam * np.exp(-lam * t) * rates.pdf(lam), 0, np.inf)
        assert law.pdf(t) == pytest.approx(mixed[0], rel=1e-7)
    assert law.mean() == 2.5
    assert bm.GammaExponential(1, 1).predictive().mean() == np.inf


def test_evidence_is_the_integral_of_the_likelihood():
    rates = stats.gamma(3, scale=1 / 5)

    def joint(lam):
        return rates.pdf(lam) * lam ** ENDED.sum() * np.exp(-lam * TIMES.sum())

    whole = integrate.quad(joint, 0, 10, epsabs=0, epsrel=1e-10, limit=200)[0]
    evidence = PRIOR.log_evidence(bm.Censored(TIMES, ENDED))
    assert evidence == pytest.approx(np.log(whole), rel=1e-9)


def test_a_statistic_serves_either_model_of_a_rate():
    """Events in an exposure say of the rate the same, whether time or their number was fixed."""
    s = PRIOR.statistic(bm.Censored(TIMES, ENDED))
    after = bm.GammaPoisson(3, 5).update(s)
    assert (after.shape, after.rate) == (PRIOR.update(s).shape, PRIOR.update(s).rate)
    assert s.log_base == pytest.approx(0, abs=1e-12)


def test_times_beyond_where_watching_ended_are_not_drawn():
    data = bm.Censored(TIMES, ENDED)
    draws = PRIOR.sample(500, np.random.default_rng(1))
    new = PRIOR.replicate(draws, data, np.random.default_rng(2))["x"]
    assert new[:, 2].max() == 10
    assert (new[:, 2] < 10).any()
    assert new[:, 3].max() > 0.5
    slow = PRIOR.simulated(data, {"lam": np.array([1e-9])}, np.random.default_rng(3)).statistic
    assert (slow.events, slow.exposure > 1e6) == (3, True)  # the third was still waiting after 10


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([1.0, 0.0], "x: must be positive; row 1 holds 0"),
        ([1.0, np.nan], "x: "),
        (lambda: bm.Censored([1, -2], [1, 0]), "times: must be positive; row 1 holds -2"),
        (lambda: bm.Censored([1, 2], [1, 2]), "observed: "),
        (lambda: bm.Censored([1, 2], [1, 0, 1]), "observed: must have as many rows as times"),
        (lambda: bm.Censored([[1, 2], [3, 4]], [1, 0]), "observed: must have the shape of times"),
    ],
)
def test_what_is_no_waiting_time_is_refused(rows, words):
    with pytest.raises(bm.DataError, match=words):
        PRIOR.update(rows() if callable(rows) else rows)


def test_a_rate_of_each_class():
    x = np.array([[1.0, 20.0], [2.0, np.nan], [15.0, 1.0], [30.0, 2.0]])
    kinds = ["a", "a", "b", "b"]
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1], ["a", "b"]), PRIOR)
    posterior = prior.update((x, kinds))
    assert posterior.class_probabilities([[1.0, 30.0], [25.0, np.nan]]).argmax(1).tolist() == [0, 1]
    laws = [PRIOR.update([1.0, 2.0]).predictive(), PRIOR.update([15.0, 30.0]).predictive()]
    density = np.array([law.pdf(5.0) for law in laws])
    found = posterior.class_probabilities([[5.0, np.nan]])[0]
    np.testing.assert_allclose(found, density / density.sum(), rtol=1e-12)
