"""Predictive laws against 50-digit arithmetic and against enumeration."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import bayesmodels as bm
from bayesmodels.numerics.empirical_law import EmpiricalLaw
from bayesmodels.numerics.laws import (
    DirichletMultinomial,
    MixtureLaw,
    beta,
    beta_binomial,
    dirichlet_draws,
    lomax,
    negative_binomial,
)
from bayesmodels.numerics.special import log_multinomial_coefficient
from tests.exact import error, exactly, log_mass
from tests.strategies import concentrations, log_uniform

# --- beta-binomial -------------------------------------------------------------------------------


@pytest.mark.parametrize("concentration", [1e-6, 0.5, 1, 1e3, 1e12])
@pytest.mark.parametrize("share", [0, 1e-9, 0.25, 0.5, 1])
def test_beta_binomial_log_mass_at_a_thousand_million_trials(share, concentration):
    """SciPy's log mass is off by 0.0145 at alpha = beta = 1e12."""
    n = 10**9
    k = int(share * n)
    exact = exactly(log_mass, [k, n - k], [concentration, concentration])
    value = beta_binomial(n, concentration, concentration).logpmf(k)
    assert error(value, exact) < 1e-13
    assert value == pytest.approx(exact, rel=1e-10, abs=0)


def test_beta_binomial_is_scipys_where_scipy_is_right():
    k = np.arange(-1, 12)
    ours, scipys = beta_binomial(10, 2.5, 0.7), stats.betabinom(10, 2.5, 0.7)
    np.testing.assert_allclose(ours.pmf(k), scipys.pmf(k), rtol=1e-12)
    np.testing.assert_allclose(ours.cdf(k), scipys.cdf(k), rtol=1e-12)
    np.testing.assert_allclose(ours.stats("mvsk"), scipys.stats("mvsk"), rtol=1e-12)
    assert ours.pmf([-1, 11, 2.5]).tolist() == [0, 0, 0]


@given(n=st.integers(0, 40), alpha=log_uniform(1e-8, 1e8), beta=log_uniform(1e-8, 1e8))
def test_beta_binomial_masses_add_up_to_one(n, alpha, beta):
    assert beta_binomial(n, alpha, beta).pmf(np.arange(n + 1)).sum() == pytest.approx(1, rel=1e-12)


def test_beta_binomial_of_one_trial_is_the_mean():
    assert beta_binomial(1, 3.0, 7.0).pmf(1) == pytest.approx(0.3, rel=1e-15)


def test_beta_binomial_mean_and_variance_are_the_formulas_of_the_notes():
    n, a, b = 10, 5.0, 19.0
    law = bm.BetaBernoulli(a, b).predictive(n)
    assert law.mean() == pytest.approx(n * a / (a + b), rel=1e-14)
    variance = n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1))
    assert law.var() == pytest.approx(variance, rel=1e-13)


# --- Dirichlet-multinomial -----------------------------------------------------------------------


def outcomes(trials, size):
    """All tables of counts that add up to `trials`."""
    tables = product(range(trials + 1), repeat=size)
    return np.array([table for table in tables if sum(table) == trials])


@pytest.mark.parametrize("trials", [0, 1, 5])
@pytest.mark.parametrize("alpha", [[1.0, 1.0], [0.2, 3.0, 1.5], [1e-3, 1e3, 1.0, 2.0]])
def test_dirichlet_multinomial_against_enumeration(alpha, trials):
    law = DirichletMultinomial(alpha, trials)
    tables = outcomes(trials, len(alpha))
    mass = law.pmf(tables)
    mean = mass @ tables
    centred = tables - mean
    assert mass.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(law.mean(), mean, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(law.cov(), (mass * centred.T) @ centred, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(law.var(), mass @ centred**2, rtol=1e-9, atol=1e-13)
    marginal = law.marginal()
    for k, count in product(range(len(alpha)), range(trials + 1)):
        among = mass[tables[:, k] == count].sum()
        assert marginal.pmf(count)[k] == pytest.approx(among, rel=1e-10)


def test_dirichlet_multinomial_refuses_impossible_tables():
    law = DirichletMultinomial([1.0, 2.0], 3)
    assert law.logpmf([[2, 2], [4, -1], [1.5, 1.5]]).tolist() == [-np.inf] * 3
    assert np.isfinite(law.logpmf([1, 2]))


def test_dirichlet_multinomial_of_one_draw_is_the_mean():
    law = DirichletMultinomial([2.0, 1.0, 1.0], 1)
    np.testing.assert_allclose(law.pmf(np.eye(3)), [0.5, 0.25, 0.25], rtol=1e-14)


def test_dirichlet_multinomial_works_over_leading_axes():
    alpha, trials = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2, 5])
    both = DirichletMultinomial(alpha, trials)
    each = [DirichletMultinomial(a, m) for a, m in zip(alpha, trials, strict=True)]
    tables = np.array([[1, 1], [2, 3]])
    np.testing.assert_array_equal(
        both.logpmf(tables), [law.logpmf(t) for law, t in zip(each, tables, strict=True)]
    )
    np.testing.assert_array_equal(both.mean(), [law.mean() for law in each])
    np.testing.assert_array_equal(both.cov(), [law.cov() for law in each])
    assert both.rvs(7, np.random.default_rng(0)).shape == (7, 2, 2)


def test_dirichlet_multinomial_draws_have_the_masses():
    law = DirichletMultinomial([0.5, 1.0, 2.0], 3)
    tables = outcomes(3, 3)
    draws = law.rvs(20_000, np.random.default_rng(1))
    seen = (draws[:, None] == tables).all(-1).sum(0)
    assert seen.sum() == len(draws)
    assert stats.chisquare(seen, len(draws) * law.pmf(tables)).pvalue > 1e-4


def test_large_concentrations_leave_the_multinomial_law():
    """With theta all but known, SciPy's own Dirichlet-multinomial loses all its digits."""
    counts, shares = np.array([2, 0, 3]), np.array([0.2, 0.3, 0.5])
    fixed = log_multinomial_coefficient(counts) + np.log(0.2) * 2 + np.log(0.5) * 3
    assert DirichletMultinomial(1e15 * shares, 5).logpmf(counts) == pytest.approx(fixed, rel=1e-13)


# --- draws of a Dirichlet law --------------------------------------------------------------------


@given(alpha=concentrations(), seed=st.integers(0, 2**32))
def test_draws_lie_on_the_simplex(alpha, seed):
    draws = dirichlet_draws(alpha, 20, np.random.default_rng(seed))
    assert np.isfinite(draws).all()
    assert (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(-1), 1, rtol=1e-14)


def test_draws_with_tiny_concentrations_sit_in_the_corners():
    """Each corner as often as its share of the concentrations; NumPy's and SciPy's are NaN."""
    draws = dirichlet_draws([1e-10, 3e-10], 10_000, np.random.default_rng(2))
    first = (draws[:, 0] == 1).sum()
    assert set(np.unique(draws)) == {0, 1}
    assert stats.binomtest(int(first), len(draws), 0.25).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [[0.3, 0.8], [1.0, 1.0, 1.0], [2.5, 0.5, 7.0], [300.0, 1e4]])
def test_draws_follow_the_beta_marginals(alpha):
    draws = dirichlet_draws(alpha, 5_000, np.random.default_rng(3))
    for k, a in enumerate(alpha):
        law = stats.beta(a, sum(alpha) - a)
        assert stats.kstest(draws[:, k], law.cdf).pvalue > 1e-4


def test_draws_have_the_covariance_of_the_law():
    alpha = np.array([2.0, 1.0, 0.5])
    draws = dirichlet_draws(alpha, 40_000, np.random.default_rng(4))
    share = alpha / alpha.sum()
    exact = (np.diag(share) - np.outer(share, share)) / (alpha.sum() + 1)
    np.testing.assert_allclose(np.cov(draws.T), exact, atol=2e-3)


# --- mixtures and samples -------------------------------------------------------------------------


def test_kurtosis_of_a_mixture_is_that_of_its_density():
    """Skew parts, apart from each other: every term of the fourth moment counts."""
    weights, parts = np.array([0.3, 0.7]), stats.gamma([2.0, 9.0], scale=[1.0, 2.0])
    law = MixtureLaw(weights, parts)

    def moment(k, centre):
        def integrand(x):
            return (x - centre) ** k * float(weights @ parts.pdf(x))

        return integrate.quad(integrand, 0, 200, epsabs=0, epsrel=1e-11, limit=400)[0]

    mean = moment(1, 0.0)
    assert law.mean() == pytest.approx(mean)
    assert law.var() == pytest.approx(moment(2, mean))
    assert law.stats("k") == pytest.approx(moment(4, mean) / moment(2, mean) ** 2 - 3)


def test_kurtosis_of_a_sample():
    sample = np.random.default_rng(1).gamma(2.0, 3.0, size=(50, 2))
    np.testing.assert_allclose(EmpiricalLaw(sample).stats("k"), stats.kurtosis(sample))


# --- probabilities that are nearly one ------------------------------------------------------------


@pytest.mark.parametrize("rate", [3.0, 1e9, 1e12, 1e15])
def test_counts_at_a_rate_that_is_all_but_known(rate):
    """Formed from b / (b + e), the mean was off in the fourth digit at 1e12."""
    law, k = negative_binomial(rate, rate, 1.0), np.arange(6)
    with mp.workdps(50):
        a, q = mp.mpf(rate), 1 / (mp.mpf(rate) + 1)
        mass = [mp.rf(a, int(i)) / mp.factorial(int(i)) * q**i * (1 - q) ** a for i in range(60)]
        below = [float(mp.fsum(mass[: i + 1])) for i in k]
        above = [float(1 - mp.fsum(mass[: i + 1])) for i in k]
        third = float((1 + q) / mp.sqrt(a * q))
    np.testing.assert_allclose(law.cdf(k), below, rtol=1e-12)
    np.testing.assert_allclose(law.sf(k), above, rtol=1e-12)
    np.testing.assert_array_equal(law.ppf(np.array(below) - 1e-9), k)
    np.testing.assert_array_equal(law.isf(np.array(above) + 1e-9), k)
    np.testing.assert_allclose(law.stats("mv"), [1, 1 + 1 / rate], rtol=1e-14)
    assert law.stats("s") == pytest.approx(third, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (1.0, 1e12), (1e12, 1.0), (1e9, 1e3)])
def test_tails_of_successes_that_are_nearly_certain(a, b):
    """One less the distribution function has few digits of a small tail, or none."""
    n, law = 12, beta_binomial(12, a, b)
    with mp.workdps(60):
        mass = [mp.binomial(n, k) * mp.beta(a + k, b + n - k) / mp.beta(a, b) for k in range(n + 1)]
        above = [float(mp.fsum(mass[k + 1 :])) for k in range(n)]
        share = mp.mpf(a) / (mp.mpf(a) + b)
        var = float(n * share * (1 - share) * (a + mp.mpf(b) + n) / (a + mp.mpf(b) + 1))
    np.testing.assert_allclose(law.sf(np.arange(n)), above, rtol=1e-11)
    some = [k for k in range(n) if above[k] < 0.999]
    np.testing.assert_array_equal(law.isf(np.array(above)[some] * (1 + 1e-9)), some)
    assert law.var() == pytest.approx(var, rel=1e-13)
    other = DirichletMultinomial([a, b], n)
    np.testing.assert_allclose(other.var(), var, rtol=1e-13)
    np.testing.assert_allclose(other.marginal().var(), var, rtol=1e-13)


@pytest.mark.parametrize("shape", [1.5, 5.0, 1e9, 1e12])
def test_times_at_a_rate_that_is_all_but_known(shape):
    """SciPy's mean is off in the fourth digit at 1e12, and so is its density."""
    law = lomax(shape, scale=shape)
    with mp.workdps(40):
        c = mp.mpf(shape)
        assert law.mean() == pytest.approx(float(c / (c - 1)), rel=1e-14)
        var = float(c**3 / ((c - 1) ** 2 * (c - 2))) if shape > 2 else np.inf
        assert law.var() == pytest.approx(var, rel=1e-14)
        for x in (0.01, 1.0, 7.0):
            assert law.pdf(x) == pytest.approx(float((1 + x / c) ** (-c - 1)), rel=1e-13)
        for q in (0.9, 0.5, 1e-9):
            assert law.isf(q) == pytest.approx(float(c * (mp.mpf(q) ** (-1 / c) - 1)), rel=1e-13)


@pytest.mark.parametrize(("a", "b"), [(1e3, 1e9), (1e9, 1e3), (1e-3, 1e9), (0.7, 2e6)])
def test_quantiles_of_shares_where_scipy_has_none(a, b):
    """SciPy 1.18 finds the median of Beta(1e3, 1e9) at 1.9e-6."""
    law, q = beta(a, b), np.array([1e-9, 1e-3, 0.2, 0.5, 0.9])
    for quantile, tail in ((law.ppf, law.cdf), (law.isf, law.sf)):
        x = quantile(q)
        there = (x > 1e-300) & (x < 1 - 1e-12)
        np.testing.assert_allclose(tail(x)[there], q[there], rtol=1e-6)


def test_tails_of_shares():
    """Taken from three functions, of which each is quick or has digits."""
    for a, b in ((4.0, 20.0), (0.01, 10.0), (3.0, 2e9), (50.0, 0.1)):
        x = beta(a, b).mean() * np.array([1e-3, 0.3, 1.0, 1.1, 1.5, 3.0])
        x = x[x < 1]
        with mp.workdps(40):
            exact = [mp.betainc(a, b, z, 1, regularized=True) for z in map(mp.mpf, x)]
        np.testing.assert_allclose(beta(a, b).sf(x), [float(p) for p in exact], rtol=1e-6)
