"""Rates of events: a book's values, digits at large counts, and a rate of each class."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm

PRIOR = bm.GammaPoisson(3, 5)
COUNTS, EXPOSURES = np.array([3, 0, 5, 2]), np.array([1.0, 0.5, 2.0, 1.5])


def test_asthma_mortality_of_gelman_et_al():
    """Section 2.6: one year in a city of 200,000, then ten years at the same rate."""
    one, ten = PRIOR.update(bm.Counts(3, 2)), PRIOR.update(bm.Counts(30, 20))
    assert one == bm.GammaPoisson(6, 7)
    assert one.mean()["lam"] == pytest.approx(0.86, abs=5e-3)
    assert ten == bm.GammaPoisson(33, 25)
    assert ten.mean()["lam"] == pytest.approx(1.32, abs=5e-3)


@pytest.mark.parametrize("shape", [1e3, 1e8])
def test_the_log_density_is_off_by_its_rounding_bound_at_most(shape):
    prior, lam = bm.GammaPoisson(shape, 0.7), 10 ** np.random.default_rng(1).uniform(-300, 3, 200)
    with mp.workdps(40):
        a, b = mp.mpf(shape), mp.mpf(0.7)
        exact = [
            a * mp.log(b) + (a - 1) * mp.log(x) - b * x - mp.loggamma(a) for x in map(mp.mpf, lam)
        ]
        own = map(mp.mpf, prior.log_density({"lam": lam}))
        error = np.array([float(abs(x - y)) for x, y in zip(own, exact, strict=True)])
    # A bound far too large would hide errors.
    assert 0.05 < (error / prior.log_density_rounding({"lam": lam})).max() <= 1


def test_predictive_law_is_a_negative_binomial():
    law, right = PRIOR.predictive(exposure=2), stats.nbinom(3, 5 / 7)
    k = np.arange(12)
    np.testing.assert_allclose(law.pmf(k), right.pmf(k), rtol=1e-12)
    np.testing.assert_allclose(law.cdf(k), right.cdf(k), rtol=1e-12)
    np.testing.assert_allclose(law.sf(k), right.sf(k), rtol=1e-12)
    assert (law.ppf(0.9), law.isf(0.01)) == (right.ppf(0.9), right.isf(0.01))
    assert (law.mean(), law.var()) == pytest.approx((right.mean(), right.var()))
    draws = law.rvs(size=20_000, random_state=np.random.default_rng(1))
    assert draws.mean() == pytest.approx(right.mean(), abs=5 * right.std() / np.sqrt(20_000))


def exact_evidence(shape, rate, counts, exposures):
    with mp.workdps(50):
        a, b, n, E = mp.mpf(shape), mp.mpf(rate), sum(map(int, counts)), mp.fsum(exposures)
        total = mp.loggamma(a + n) - mp.loggamma(a) + a * mp.log(b) - (a + n) * mp.log(b + E)
        pairs = zip(map(int, counts), map(mp.mpf, exposures), strict=True)
        return float(total + mp.fsum(x * mp.log(e) - mp.loggamma(x + 1) for x, e in pairs))


@pytest.mark.parametrize("size", [1, 10**6, 10**12])
@pytest.mark.parametrize("prior", [(1e-8, 1e-8), (3, 5), (1e12, 1e6)])
def test_evidence_keeps_its_digits_at_any_counts(size, prior):
    counts = COUNTS * size
    ours = bm.GammaPoisson(*prior).log_evidence(bm.Counts(counts, EXPOSURES))
    assert ours == pytest.approx(exact_evidence(*prior, counts, EXPOSURES), rel=1e-10, abs=1e-10)


def test_a_statistic_remembers_all_but_the_order():
    rows = bm.Counts(COUNTS, EXPOSURES)
    whole = PRIOR.statistic(rows)
    terms = stats.poisson(1.7 * EXPOSURES).logpmf(COUNTS).sum()
    of_rate = whole.events * np.log(1.7) - 1.7 * whole.exposure
    assert whole.log_base + of_rate == pytest.approx(terms, rel=1e-12)
    assert whole.mle()["lam"] == pytest.approx(2)
    assert PRIOR.statistic(COUNTS) == PRIOR.statistic(bm.Counts(COUNTS))
    assert PRIOR.statistic(bm.Counts(COUNTS, 0.5)).exposure == 2


def test_modes():
    assert bm.GammaPoisson(3, 4).mode()["lam"] == 0.5
    with pytest.raises(bm.ModeError, match="largest at 0"):
        bm.GammaPoisson([2, 1], 4).mode()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([1, -1], "x: must hold whole numbers"),
        ([1, 0.5], "x: must hold whole numbers"),
        ([1, np.nan], "x: "),
        (lambda: bm.Counts([1, 2], [1, 0]), "exposure: must be positive; row 1 holds 0"),
        (lambda: bm.Counts([1, 2], [1, np.inf]), "exposure: "),
        (lambda: bm.Counts([1, 2], [1, 2, 3]), "exposure: must have as many rows as values"),
        (lambda: bm.Counts([[1, 2], [3, 4]], np.ones((2, 3))), "must have the shape of values"),
    ],
)
def test_what_is_no_count_or_no_exposure_is_refused(rows, words):
    with pytest.raises(bm.DataError, match=words):
        PRIOR.update(rows() if callable(rows) else rows)


def test_events_without_exposure_are_refused():
    with pytest.raises(bm.DataError, match="exposure: must be positive where there are events"):
        bm.statistics.EventStatistic(1, 0)
    with pytest.raises(bm.DataError, match="needs at least one row"):
        PRIOR.statistic([]).mle()


def test_a_rate_of_each_class():
    rng = np.random.default_rng(3)
    kinds = np.repeat(["quiet", "busy"], 40)
    calls = rng.poisson(np.where(kinds == "busy", 9.0, 2.0)[:, None] * [1.0, 0.3]).astype(float)
    calls[3, 1] = np.nan
    classes = bm.DirichletCategorical([1, 1], categories=["quiet", "busy"])
    prior = bm.NaiveBayes(classes, bm.GammaPoisson([2, 2], [1, 1]))
    posterior = prior.update((calls, kinds))
    laws = [
        [
            bm.GammaPoisson(2, 1).update(calls[(kinds == kind) & ~np.isnan(calls[:, j]), j])
            for j in range(2)
        ]
        for kind in classes.categories
    ]
    new = np.array([[5.0, np.nan], [4.0, 1.0]])
    joint = [
        [sum(law.predictive().logpmf(x) for law, x in zip(own, row, strict=True) if x >= 0)
         for own in laws]
        for row in new
    ]  # fmt: skip
    right = np.exp(joint) / np.exp(joint).sum(1, keepdims=True)
    np.testing.assert_allclose(posterior.class_probabilities(new), right, rtol=1e-10)
    plugged = posterior.class_probabilities(new, posterior.mean())
    assert plugged.argmax(1).tolist() == right.argmax(1).tolist()


def test_a_row_that_holds_nearly_all_exposure_is_left_out_without_subtraction():
    prior, rows = bm.GammaPoisson(3, 1e-9), bm.Counts([9, 1, 2], [1e9 / 3, 1e-7, 2e-7])
    found = bm.leave_one_out(prior, rows).log_density[0]
    rest = prior.update(bm.Counts([1, 2], [1e-7, 2e-7]))
    assert float(found) == pytest.approx(rest.predictive(1e9 / 3).logpmf(9), rel=1e-12)


def test_more_events_than_can_be_drawn_are_refused():
    with pytest.raises(bm.DataError, match="draws: new numbers of events are drawn up to 9e"):
        PRIOR.replicate({"lam": np.array([1e20])}, COUNTS, rng=1)
