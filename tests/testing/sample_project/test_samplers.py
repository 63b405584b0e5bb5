"""Fifty right assertions about samplers, and more where bugs are planted."""

import numpy as np
import pytest
import samplers

import bayesmodels as bm
from bayesmodels.testing import assert_calibrated, assert_posterior

COINS = [
    ([1, 1, 0], 1, 1),
    ([1] * 7 + [0] * 3, 1, 1),
    ([0] * 12, 0.5, 0.5),
    ([1, 0] * 30, 2, 5),
    ([1] * 3 + [0] * 17, 4, 2),
    ([1], 3, 3),
]
CALLS = [
    ([3, 0, 2], [1, 1, 1], 1, 1),
    ([12, 9], [2.5, 2], 2, 0.5),
    ([0, 0, 0, 1], [8, 8, 8, 8], 0.5, 2),
    ([40, 31, 52], [1, 1, 1.5], 3, 0.1),
    ([0], [10], 2, 4),
    ([5, 6, 4, 7, 5], [0.5] * 5, 1.5, 3),
]
DICE = [
    ([3, 5, 2], 1),
    ([0, 0, 1, 4], 0.5),
    ([20, 31, 25, 18, 22, 24], 2),
    ([9, 1], 1),
    ([2, 0, 0, 0, 0, 3], 1.5),
    ([4, 4], 0.5),
    ([1, 2, 0], 3),
]
NUMBERS = [
    ([4.1, 5.3, 3.8, 4.9], 3, 0.5, 2, 1),
    ([0.2, -0.1, 0.4, 0.3, 0.0, -0.5, 0.1, 0.6], 1, 2, 3, 0.5),
    ([101.0, 99.5], 100, 1, 2, 4),
    ([3.0, 9.0, 5.5, 1.0, 7.0, 2.5], 0, 0.1, 1, 1),
    ([20.0, 22.0, 19.0], 10, 1, 2.5, 8),
]
TABLES = [(8, 2, 1.0), (20, 3, 0.1), (6, 2, 2.0), (40, 4, 0.5), (12, 1, 1.0)]
CLOUDS = [(6, 2), (15, 2), (30, 2), (4, 2)]


def law_of_coin(flips, alpha, beta):
    return bm.BetaBernoulli(alpha, beta).update(flips)


def law_of_calls(events, hours, shape, rate):
    return bm.GammaPoisson(shape, rate).update(bm.Counts(events, hours))


def table(n, columns):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, columns)) + np.linspace(0, 2, columns)
    return x, x @ np.arange(1, columns + 1) + rng.normal(size=n)


@pytest.mark.parametrize("given", COINS)
def test_coin(given, rng):
    assert_posterior(law_of_coin(*given), lambda n: samplers.coin(*given, n, rng))


@pytest.mark.parametrize("given", COINS[:1])
def test_heads_in_new_flips(given, rng):
    law = {"heads": law_of_coin(*given).predictive(trials=4)}
    assert_posterior(law, lambda n: samplers.heads_in(4, *given, n, rng))


@pytest.mark.parametrize("given", CALLS)
def test_calls(given, rng):
    assert_posterior(law_of_calls(*given), lambda n: samplers.calls(*given, n, rng))


@pytest.mark.parametrize("given", CALLS[:4])
def test_calls_in_new_hours(given, rng):
    law = {"events": law_of_calls(*given).predictive(exposure=5)}
    assert_posterior(law, lambda n: samplers.calls_in(5, *given, n, rng))


@pytest.mark.parametrize(("counts", "alpha"), DICE)
def test_die(counts, alpha, rng):
    law = bm.DirichletCategorical(np.full(len(counts), alpha) + counts)
    assert_posterior(law, lambda n: samplers.die(counts, alpha, n, rng))


@pytest.mark.parametrize("given", NUMBERS)
def test_normal(given, rng):
    y, *prior = given
    law = bm.NormalInverseGamma(*prior).update(y)
    assert_posterior(law, lambda n: samplers.normal(*given, n, rng))


@pytest.mark.parametrize("given", NUMBERS)
def test_normal_by_gibbs(given, rng):
    y, *prior = given
    law = bm.NormalInverseGamma(*prior).update(y)
    assert_posterior(law, lambda n: samplers.normal_gibbs(*given, n, rng))


@pytest.mark.parametrize("given", TABLES)
def test_regression(given, rng):
    n, columns, precision = given
    x, y = table(n, columns)
    prior = bm.LinearRegression(np.zeros(columns), precision, 2, 1)
    law = prior.update(bm.Design(x, y))
    assert_posterior(law, lambda n: samplers.regression(x, y, precision, 2, 1, n, rng))


@pytest.mark.parametrize(("n", "size"), CLOUDS)
def test_vectors(n, size, rng):
    y, scale = table(n, size)[0] + 1, np.eye(size)
    law = bm.NormalInverseWishart(np.zeros(size), 1.5, size + 3, scale).update(y)
    assert_posterior(law, lambda n: samplers.vectors(y, 1.5, size + 3, scale, n, rng))


@pytest.mark.parametrize("given", COINS[3:])
def test_coin_by_metropolis(given, rng):
    assert_posterior(law_of_coin(*given), lambda n: samplers.coin_by_metropolis(*given, n, rng))


def test_two_samplers_of_a_coin(rng):
    given, many = COINS[3], samplers.coin(*COINS[3], 5000, rng)
    assert_posterior(many, lambda n: samplers.coin_by_metropolis(*given, n, rng))


def test_two_samplers_of_a_normal(rng):
    many = samplers.normal(*NUMBERS[1], 5000, rng)
    assert_posterior(many, samplers.normal_gibbs(*NUMBERS[1], 4000, rng))


def test_flips_are_what_the_coin_takes_them_for(rng):
    assert_calibrated(bm.BetaBernoulli(2, 3), simulate=samplers.flip, rng=rng)


def test_measurements_are_what_the_normal_takes_them_for(rng):
    prior = bm.NormalInverseGamma(0, 1, 3, 4)
    assert_calibrated(prior, simulate=samplers.measure, n=400, rng=rng)
