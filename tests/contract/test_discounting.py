"""A discounted statistic is that of the same rows, each of which counts as rho rows."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief.protocol import LatentClasses, Statistic
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)
EXACT = [case for case in CASES if not isinstance(case.prior, LatentClasses)]
MIXED = [case for case in CASES if isinstance(case.prior, LatentClasses)]
RHO = 0.37


def numbers_of(belief):
    return [np.asarray(x, dtype=float) for x in belief.parameters().values()]


def close(one, other, tol=1e-10):
    for found, wanted in zip(numbers_of(one), numbers_of(other), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_by_one_nothing_changes(case):
    s = case.prior.statistic(case.data)
    assert s.discounted(1) == s
    assert s.discounted(1.0) == s


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_no_discount_factor_is_refused(case):
    statistic = case.prior.statistic(case.data)
    for rho in (0, -0.1, 1.0001, np.inf, np.nan, [0.5, 0.5], None, "half"):
        with pytest.raises(bm.DataError, match=r"^rho: "):
            statistic.discounted(rho)


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.id)
def test_prior_times_a_power_of_the_likelihood(case):
    """Posterior density times evidence is prior density times likelihood to the power rho."""
    start, rest = case.start, case.rest
    s = start.statistic(rest).discounted(RHO)
    start = start.update(s.without_rows())
    posterior = start.update(s)
    draws = posterior.sample(20, np.random.default_rng(2))
    logs = start.log_likelihood(draws, rest)
    power = RHO * sum(x.reshape(20, -1).sum(1) for x in logs.values())
    prior = np.asarray(start.log_density(draws)).reshape(20, -1).sum(1)
    after = np.asarray(posterior.log_density(draws)).reshape(20, -1).sum(1)
    evidence = float(np.sum(start.log_evidence(s)))
    np.testing.assert_allclose(after + evidence, prior + power, rtol=1e-9, atol=1e-9)


def weighed(case, weights):
    """Return the statistic of weighted rows, or None for a model that takes no weights."""
    try:
        return case.start.statistic(bm.Weighted(case.rest, weights))
    except bm.DataError:
        assert isinstance(case.prior, (bm.BetaBernoulli, bm.ConceptLearning))
        return None


def assert_same(case, one, other):
    """Compare statistics by what they make of a belief."""
    if case not in MIXED:
        close(case.start.update(one), case.start.update(other), max(1e-10, case.rounding))
    np.testing.assert_allclose(
        case.start.log_evidence(one), case.start.log_evidence(other), rtol=1e-9, atol=1e-9
    )


WITH_ROWS = pytest.mark.parametrize(
    "case",
    [case for case in CASES if not isinstance(case.rest, Statistic)],  # there are rows to weigh
    ids=lambda case: case.id,
)


@WITH_ROWS
def test_weights_say_the_same(case):
    weighted = weighed(case, np.full(case.rows - case.warm_up, RHO))
    discounted = case.start.statistic(case.rest).discounted(RHO)
    if case in MIXED:
        assert discounted.distinct() == weighted.distinct()
    elif weighted is not None:
        assert_same(case, discounted, weighted)


@WITH_ROWS
def test_a_weight_is_a_number_of_rows_and_zero_is_none(case):
    numbers = np.arange(case.warm_up, case.rows)
    weights = (numbers + 2) % 3
    weighted = weighed(case, weights)
    if weighted is not None:
        repeated = case.start.statistic(case.take(np.repeat(numbers, weights)))
        assert_same(case, weighted, repeated)


@WITH_ROWS
def test_shares_of_rows_add_up_to_rows(case):
    shares = RNG.uniform(size=case.rows - case.warm_up)
    one, other = weighed(case, shares), weighed(case, 1 - shares)
    if one is not None and case not in MIXED:
        assert_same(case, one + other, case.start.statistic(case.rest))


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.id)
def test_a_stream_is_forgotten_step_by_step(case):
    """With s = rho s + new, a row of k steps ago weighs rho ** k."""
    numbers = range(case.warm_up, case.rows)
    whole = case.start.statistic(case.rest).without_rows()
    start = case.start.update(whole)
    s, parts = whole, []
    for i in numbers:
        new = start.statistic(case.take([i]))
        s = s.discounted(RHO) + new
        parts.append(new)
    wanted = whole
    for age, part in enumerate(reversed(parts)):
        wanted = wanted + part.discounted(RHO**age)
    close(start.update(s), start.update(wanted), max(1e-10, case.rounding))


@pytest.mark.parametrize("case", MIXED, ids=lambda case: case.id)
def test_a_mixture_of_discounted_rows_has_no_finite_sum(case):
    with pytest.raises(bm.DataError, match="weights"):
        case.prior.update(case.prior.statistic(case.data).discounted(RHO))


def test_a_regression_forgets():
    """Rows scaled by the roots of their weights have the same cross products."""
    X, y = RNG.normal(size=(30, 2)) + 5, RNG.normal(size=30)
    model = bm.LinearRegression([0, 0], 1.0, 2, 1)
    s = model.statistic((X[:10], y[:10]))
    for at in (slice(10, 20), slice(20, 30)):
        s = s.discounted(0.9) + model.statistic((X[at], y[at]))
    root = np.sqrt(np.repeat([0.81, 0.9, 1], 10))
    wanted = model.update((X * root[:, None], y * root))
    found = model.update(s)
    np.testing.assert_allclose(found.mean()["w"], wanted.mean()["w"], rtol=1e-12)
    np.testing.assert_allclose(found.scale, wanted.scale, rtol=1e-12)
    assert float(found.shape) == pytest.approx(2 + (8.1 + 9 + 10) / 2)
    back = s - model.statistic((X[20:], y[20:]))
    assert back.n == pytest.approx(17.1)
    earlier = model.statistic((X[:10], y[:10])).discounted(0.9)
    earlier = (earlier + model.statistic((X[10:20], y[10:20]))).discounted(0.9)
    np.testing.assert_allclose(
        model.update(back).mean()["w"], model.update(earlier).mean()["w"], rtol=1e-11
    )


def test_whole_numbers_of_rows_stay_whole():
    s = bm.LinearRegression.flat(1).statistic(([[1.0], [2.0]], [1.0, 3.0]))
    assert isinstance(s.n, int)
    assert s.discounted(0.5).n == 1
    with pytest.raises(bm.DataError, match="n: must"):
        bm.statistics.RegressionStatistic(-1, np.zeros(2), np.zeros((2, 2)))


def test_a_level_that_moves_is_followed():
    """The mean of a stream whose level jumps: forgotten at the rate 0.9, it is there soon."""
    rows = np.concatenate([np.zeros(200), np.full(50, 10.0)]) + 0.1 * RNG.normal(size=250)
    model = bm.NormalInverseGamma(0, 1e-3, 1, 1)
    s = model.statistic(rows[:1])
    for row in rows[1:]:
        s = s.discounted(0.9) + model.statistic([row])
    assert float(s.n) == pytest.approx((1 - 0.9**250) / 0.1)
    assert abs(float(model.update(s).mean()["mu"]) - 10) < 0.1
    assert float(model.update(rows).mean()["mu"]) < 3
