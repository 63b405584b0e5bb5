"""Gamma-function ratios against 50-digit arithmetic, over wide grids and at extremes."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

import bayesmodels as bm
from bayesmodels.numerics.laws import gaps_of_shares
from bayesmodels.numerics.special import (
    log1p_minus,
    log_dirichlet_multinomial,
    log_gamma_kernel,
    log_gamma_ratio,
    log_multinomial_coefficient,
    log_split,
    lower_gamma_inverse,
    stirling_remainder,
    times_logs,
)
from tests.exact import error, exactly, log_gamma_difference, log_mass
from tests.reference.exact_values import log_coefficient
from tests.strategies import log_uniform

EPS = np.finfo(float).eps


def alone_and_among_many(function, *arguments):
    """Return a value as computed alone, and in arrays of forty."""
    arguments = [np.asarray(value, dtype=float) for value in arguments]
    many = [np.tile(value, (40, *(1,) * value.ndim)) for value in arguments]
    return float(function(*arguments)), float(function(*many)[17])


# --- grids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1e-300, 1e-10, 0.5, 1, 7.3, 15.99, 16, 16.01, 1e3, 1e12, 1e100])
def test_stirling_remainder_is_what_the_formula_leaves(x):
    def remainder(x):
        half = mpmath.mpf(1) / 2
        return mpmath.loggamma(x) - (x - half) * mpmath.log(x) + x - mpmath.log(2 * mpmath.pi) / 2

    exact = exactly(remainder, x)
    bound = 8 * EPS if x >= 16 else 2e-12  # below 16 it is a plain difference, small beside 1
    assert stirling_remainder(x) == pytest.approx(exact, rel=bound, abs=0)


def test_stirling_remainder_at_the_largest_floats_is_small_and_not_a_warning():
    assert 0 <= stirling_remainder(1e300) < 1e-300


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("x", [1e-300, 1e-160, 1e-17, 1e-9, 1e-3, 0.3, 0.499, 0.501, 0.99])
def test_log1p_minus_keeps_its_digits_near_zero(x, sign):
    exact = exactly(lambda x: mpmath.log1p(x) - x, sign * x)
    assert log1p_minus(sign * x) == pytest.approx(exact, rel=1e-14, abs=0)


def test_log1p_minus_at_zero_and_far_out():
    assert log1p_minus(0.0) == 0
    assert log1p_minus(1e10) == pytest.approx(np.log(1e10) - 1e10, rel=1e-15)


@pytest.mark.parametrize("step", [0, 1e-9, 0.5, 1, 3, 100.5, 1e6, 1e12])
@pytest.mark.parametrize("x", [1e-300, 1e-9, 0.3, 1, 3.7, 15.9, 16, 400, 1e6, 1e12, 1e15])
def test_log_gamma_ratio(x, step):
    exact = exactly(log_gamma_difference, x, step)
    for value in alone_and_among_many(log_gamma_ratio, x, step):
        assert error(value, exact) < 1e-13


def test_log_gamma_ratio_where_the_plain_difference_is_wrong_by_four_digits():
    from scipy.special import gammaln

    exact = exactly(log_gamma_difference, 1e12, 3)
    assert log_gamma_ratio(1e12, 3) == pytest.approx(exact, rel=1e-15)
    assert abs(gammaln(1e12 + 3) - gammaln(1e12) - exact) > 1e-4


@pytest.mark.parametrize(
    "counts",
    [[0, 0], [5, 0], [1, 1], [3, 17], [10, 20, 30], [10**15, 1], [10**15, 0, 3], [10**9, 10**9]],
)
def test_log_multinomial_coefficient(counts):
    exact = exactly(log_coefficient, counts)
    for value in alone_and_among_many(log_multinomial_coefficient, counts):
        assert error(value, exact) < 1e-13


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1, 1e6, 1e12, 1e30, 1e100])
def test_log_dirichlet_multinomial(scale, size):
    rng = np.random.default_rng([size, int(np.log10(scale)) + 300])
    counts = np.floor(10 ** rng.uniform(0, 9, size))
    counts[0] = 0
    alpha = scale * rng.uniform(0.5, 2, size)
    exact = exactly(log_mass, counts, alpha)
    for value in alone_and_among_many(log_dirichlet_multinomial, counts, alpha):
        assert error(value, exact) < 1e-13


def test_no_counts_have_probability_one():
    assert log_dirichlet_multinomial([0, 0, 0], [0.1, 1e300, 1e-300]) == 0


def test_concentrations_far_above_the_counts_leave_the_multinomial_mass():
    """Formed by subtraction, the deviance of a row of 1e100 would be wrong by 1e68."""
    counts = np.array([3.0, 17.0])
    fixed = log_multinomial_coefficient(counts) + counts @ np.log([0.25, 0.75])
    assert log_dirichlet_multinomial(counts, [1e100, 3e100]) == pytest.approx(fixed, rel=1e-14)


# --- extremes that Hypothesis looks for ----------------------------------------------------------

COUNTS = st.lists(st.integers(0, 2**53), min_size=2, max_size=5)


@settings(max_examples=200)
@given(x=log_uniform(1e-300, 1e15), step=st.just(0.0) | log_uniform(1e-12, 1e15))
def test_log_gamma_ratio_anywhere(x, step):
    for value in alone_and_among_many(log_gamma_ratio, x, step):
        assert error(value, exactly(log_gamma_difference, x, step)) < 2e-13


@settings(max_examples=200)
@given(counts=COUNTS)
def test_log_multinomial_coefficient_anywhere(counts):
    for value in alone_and_among_many(log_multinomial_coefficient, counts):
        assert error(value, exactly(log_coefficient, counts)) < 1e-13


@settings(max_examples=200)
@given(data=st.data(), counts=COUNTS)
def test_log_dirichlet_multinomial_anywhere(data, counts):
    size = len(counts)
    alpha = data.draw(st.lists(log_uniform(1e-100, 1e200), min_size=size, max_size=size))
    exact = exactly(log_mass, counts, alpha)
    for value in alone_and_among_many(log_dirichlet_multinomial, counts, alpha):
        assert value <= 1e-13
        assert error(value, exact) < 1e-12


@settings(max_examples=200)
@given(st.integers(2, 5), st.data())
def test_log_split_anywhere(size, data):
    counts = st.lists(st.integers(0, 2**40), min_size=size, max_size=size)
    first, second = data.draw(counts), data.draw(counts)
    both = [a + b for a, b in zip(first, second, strict=True)]
    exact = exactly(
        lambda a, b, c: log_coefficient(a) + log_coefficient(b) - log_coefficient(c),
        first,
        second,
        both,
    )
    for value in alone_and_among_many(log_split, first, second):
        assert value <= 1e-13
        assert error(value, exact) < 1e-12


# --- evidence at extreme counts ------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (0.5, 0.5), (2, 7), (1e6, 1e3), (1e-6, 1e12)])
@pytest.mark.parametrize("ones", [1, 10**6, 10**9, 2 * 10**9])
def test_evidence_of_two_thousand_million_rows(ones, alpha, beta):
    """Relative error below 1e-12, for rows as well as for counts."""
    zeros = 2 * 10**9 - ones
    prior = bm.BetaBernoulli(alpha, beta)
    rows = exactly(lambda n, a: log_mass(n, a) - log_coefficient(n), [ones, zeros], [alpha, beta])
    counts = exactly(log_mass, [ones, zeros], [alpha, beta])
    statistic = bm.statistics.BernoulliStatistic(ones, zeros)
    assert prior.log_evidence(statistic) == pytest.approx(rows, rel=1e-12, abs=0)
    data = bm.BinomialCounts(ones, ones + zeros)
    assert prior.log_evidence(data) == pytest.approx(counts, rel=1e-12, abs=0)


def test_evidence_of_two_thousand_million_rows_in_five_categories():
    counts = np.array([1, 10**9, 999_999_998, 1, 0])
    alpha = np.array([0.5, 1, 2, 1e-3, 1e3])
    prior = bm.DirichletCategorical(alpha)
    rows = exactly(lambda n, a: log_mass(n, a) - log_coefficient(n), counts, alpha)
    statistic = bm.statistics.CategoricalStatistic(counts)
    assert prior.log_evidence(statistic) == pytest.approx(rows, rel=1e-12, abs=0)
    mass = exactly(log_mass, counts, alpha)
    observed = prior.log_evidence(bm.MultinomialCounts(counts))
    assert observed == pytest.approx(mass, rel=1e-12, abs=0)


def test_evidence_of_two_rows_of_a_thousand_million_successes():
    """Each coefficient is 1.4e9, the result -33: added up literally, seven digits would be left."""
    k, n = [10**9] * 2, [2 * 10**9] * 2
    exact = exactly(
        lambda k, z: (
            log_mass([sum(k), sum(z)], [1, 1])
            + sum(log_coefficient(row) for row in zip(k, z, strict=True))
            - log_coefficient([sum(k), sum(z)])
        ),
        k,
        np.subtract(n, k),
    )
    evidence = bm.BetaBernoulli(1, 1).log_evidence(bm.BinomialCounts(k, n))
    assert evidence == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("x", [[0.3, 1.0], [0.0, 0.3, 1.0], [0.0, np.nan]])
def test_factors_times_shared_logs_are_what_scipy_has(x):
    factors = np.array([0.0, 1.0, 2.5])[:, None]
    with np.errstate(divide="ignore"):
        logs = np.log(x)
    np.testing.assert_allclose(times_logs(factors, logs), xlogy(factors, x), rtol=1e-15)


def test_gamma_functions_of_large_shapes():
    assert float(log_gamma_kernel(1e12, 1e12)) == pytest.approx(12.896572025, rel=1e-10)
    assert float(lower_gamma_inverse(1e12, 1e-12)) == pytest.approx(999992965532.3, rel=1e-13)
    assert float(lower_gamma_inverse(1.0, 0.5)) == pytest.approx(np.log(2), rel=1e-14)


def test_what_rounding_takes_is_kept():
    assert gaps_of_shares([0.25, 0.75], [1.0, 3.0]).tolist() == [0, 0]
