"""Laws of the inverse-Wishart matrix against SciPy and against integrals of many digits."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesmodels.numerics.entries import inverse_wishart_entry
from bayesmodels.numerics.triangular import cholesky, solve_lower
from bayesmodels.numerics.wishart import (
    inverse_wishart_draws,
    inverse_wishart_marginals,
    log_density,
    log_multigamma_ratio,
)

SCALE = np.array([[3.0, 0.8, -1.5], [0.8, 1.0, 0.1], [-1.5, 0.1, 2.0]])


def block(r):
    return np.array([[1.0, r], [r, 1.0]])


def exact_tail(x, a, r):
    """P(beta / G > x) for x > 0: beta is Student-t, G is gamma, both to 30 digits."""
    with mpmath.workdps(30):
        x, a, r = mpmath.mpf(x), mpmath.mpf(a), mpmath.mpf(r)
        square = 1 - r**2
        constant = mpmath.gamma(a + 1) / mpmath.gamma(a + 0.5) / mpmath.sqrt(mpmath.pi * square)

        def density(v):
            beta = mpmath.exp(v)
            t = constant * (1 + (beta - r) ** 2 / square) ** (-a - 1)
            return beta * t * mpmath.gammainc(a, 0, beta / (2 * x), regularized=True)

        middle = float(mpmath.log(2 * a * x))
        features = [0, middle, *(s * 2.0**k for s in (-1, 1) for k in range(-3, 6))]
        cuts = sorted({*features, *(middle + f for f in features)})
        return float(mpmath.quad(density, cuts))


@pytest.mark.slow
@pytest.mark.parametrize("a", [0.3, 7.5])
@pytest.mark.parametrize(
    "r", [-0.95, *(pytest.param(r, marks=pytest.mark.slow) for r in (0.0, 0.99))]
)
def test_tail_probabilities_off_the_diagonal(a, r):
    law = inverse_wishart_marginals(2 * a + 1, block(r))
    for factor in (1e-3, 1, 50):
        x = factor / (2 * a + 2)
        exact = exact_tail(x, a, r)
        assert law.sf(x)[0, 1] == pytest.approx(exact, rel=1e-10)
        mirrored = inverse_wishart_marginals(2 * a + 1, block(-r))
        assert mirrored.cdf(-x)[0, 1] == pytest.approx(exact, rel=1e-10)
        assert law.sf(x)[0, 1] + law.cdf(x)[0, 1] == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize(
    ("a", "r"), [(0.3, 0.6), pytest.param(7.5, -0.999, marks=pytest.mark.slow), (1e4, 0.0)]
)
def test_quantiles_and_densities_fit_the_probabilities(a, r):
    law = inverse_wishart_marginals(2 * a + 1, block(r))
    for level in (1e-12, 1e-5, 0.2, 0.5, 0.9, 1 - 1e-5):
        x = law.ppf(level)
        np.testing.assert_allclose(law.cdf(x), level, rtol=1e-10)
        np.testing.assert_allclose(law.sf(law.isf(level)), level, rtol=1e-10)
        step = 1e-4 * min(1, a**-0.5) * (abs(x[0, 1]) + 1 / (2 * a + 2))
        near = law.cdf(x[0, 1] + step)[0, 1] - law.cdf(x[0, 1] - step)[0, 1]
        assert law.pdf(x)[0, 1] == pytest.approx(near / (2 * step), rel=1e-4)


@pytest.mark.parametrize(
    ("a", "r"), [(7.5, -0.8), (1e4, 0.89), pytest.param(1e6, 0.5, marks=pytest.mark.slow)]
)
def test_quantiles_where_probabilities_of_other_points_underflow(a, r):
    law = inverse_wishart_marginals(2 * a + 1, block(r)).entry((0, 1))
    levels = np.array([1e-250, 1e-100, 1e-40, 1e-20])
    np.testing.assert_allclose(law.cdf(law.ppf(levels)), levels, rtol=1e-11)
    np.testing.assert_allclose(law.sf(law.isf(levels)), levels, rtol=1e-11)


def test_the_density_at_zero_and_far_out():
    law = inverse_wishart_marginals(7, block(0.4))
    assert law.pdf(0)[0, 1] == pytest.approx(law.pdf(1e-9)[0, 1], rel=1e-6)
    assert law.cdf(0)[0, 1] == pytest.approx(law.cdf(1e-12)[0, 1], rel=1e-10)
    assert law.cdf(np.inf)[0, 1] == 1
    assert law.cdf(-np.inf)[0, 1] == law.sf(np.inf)[0, 1] == law.pdf(np.inf)[0, 1] == 0
    assert law.ppf(0)[0, 1] == -np.inf
    assert law.ppf(1)[0, 1] == np.inf
    assert np.isnan(law.ppf(2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("df", [2.5, 12.0])
def test_marginals_are_those_of_scipys_matrices(df):
    draws = stats.invwishart(df, SCALE).rvs(5000, random_state=np.random.default_rng(1))
    law = inverse_wishart_marginals(df, SCALE)
    uniform = law.cdf(draws).reshape(5000, -1)
    assert (stats.kstest(uniform, "uniform").pvalue > 1e-4).all()
    own = inverse_wishart_draws(df, SCALE, 5000, np.random.default_rng(2))
    uniform = law.cdf(own).reshape(5000, -1)
    assert (stats.kstest(uniform, "uniform").pvalue > 1e-4).all()
    assert (own == np.swapaxes(own, -1, -2)).all()


@pytest.mark.slow
def test_moments_by_integration():
    law = inverse_wishart_marginals(20, SCALE)
    t = np.linspace(-8, 8, 41)
    weights = stats.norm.pdf(t) * (t[1] - t[0])
    x = np.array([law.isf(stats.norm.sf(s)) if s > 0 else law.ppf(stats.norm.cdf(s)) for s in t])
    mean, variance, skewness, kurtosis = law.stats("mvsk")
    np.testing.assert_allclose(np.tensordot(weights, x, 1), mean, rtol=1e-9)
    z = (x - mean) / np.sqrt(variance)
    np.testing.assert_allclose(np.tensordot(weights, z**2, 1), 1, rtol=1e-8)
    np.testing.assert_allclose(np.tensordot(weights, z**3, 1), skewness, rtol=1e-7)
    np.testing.assert_allclose(np.tensordot(weights, z**4, 1) - 3, kurtosis, rtol=1e-6)
    np.testing.assert_allclose(mean, stats.invwishart(20, SCALE).mean(), rtol=1e-14)
    np.testing.assert_allclose(variance, stats.invwishart(20, SCALE).var(), rtol=1e-12)


def test_moments_that_do_not_exist():
    assert np.isnan(inverse_wishart_marginals(3.5, SCALE).var()[0, 1])
    assert np.isinf(inverse_wishart_marginals(5.5, SCALE).var()).all()
    assert np.isfinite(inverse_wishart_marginals(5.5, SCALE).mean()).all()
    assert np.isnan(inverse_wishart_marginals(9.5, SCALE).stats("k")).all()


def test_a_batch_is_its_members():
    df, scale = np.array([4.0, 9.0]), np.stack([SCALE, SCALE @ SCALE])
    law = inverse_wishart_marginals(df, scale)
    for i in range(2):
        alone = inverse_wishart_marginals(df[i], scale[i])
        np.testing.assert_allclose(law.ppf(0.3)[i], alone.ppf(0.3), rtol=1e-12)
        np.testing.assert_allclose(law.std()[i], alone.std(), rtol=1e-14)


def test_log_density_is_scipys():
    sigma = stats.invwishart(5, SCALE).rvs(7, random_state=np.random.default_rng(3))
    own = log_density(cholesky(sigma), 5.5, np.linalg.cholesky(SCALE))
    theirs = stats.invwishart(5.5, SCALE).logpdf(np.moveaxis(sigma, 0, -1))
    np.testing.assert_allclose(own, theirs, rtol=1e-12)


def test_the_gamma_ratio_does_not_cancel():
    with mpmath.workdps(40):
        exact = sum(
            mpmath.loggamma(mpmath.mpf(1e12) + 3 - mpmath.mpf(k) / 2)
            - mpmath.loggamma(mpmath.mpf(1e12) - mpmath.mpf(k) / 2)
            for k in range(4)
        )
    assert log_multigamma_ratio(1e12, 3, 4) == pytest.approx(float(exact), rel=1e-14)


def test_a_complex_step_differentiates_the_root():
    along = np.array([[0.3, 0.1, 0], [0.1, -0.2, 0.5], [0, 0.5, 1]])
    slope = np.imag(cholesky(SCALE + 1e-30j * along)) / 1e-30
    numeric = (cholesky(SCALE + 1e-6 * along) - cholesky(SCALE - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(slope, numeric, atol=1e-9)
    root = cholesky(SCALE)
    np.testing.assert_allclose(root @ solve_lower(root, along), along, atol=1e-14)


@pytest.mark.parametrize("at", [(0, 1, 1), (1, 0, 2), (1, 2, 0)])
def test_an_entry_alone_has_the_law_that_it_has_in_the_matrix(at):
    scale = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 3.0]])
    law = inverse_wishart_marginals([7.0, 11.5], scale)
    x = np.array([-0.2, 0.1, 0.4])
    one = law.entry(at)
    for name in ("cdf", "logpdf"):
        every = getattr(law, name)(x[:, None, None, None])[(slice(None), *at)]
        np.testing.assert_allclose(getattr(one, name)(x), every, rtol=1e-12)
    for name in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(one, name)(0.1), getattr(law, name)(0.1)[at], rtol=1e-12)
    np.testing.assert_allclose([one.mean(), one.std()], [law.mean()[at], law.std()[at]])


@pytest.mark.parametrize("a", [1.0, 2.0, 3.0, 4.0])
def test_an_entry_has_the_moments_below_its_degrees_of_freedom(a):
    moments = inverse_wishart_entry(a, 0.3).stats("mvsk")
    assert list(np.isnan(moments)) == [a <= 1, a <= 1, a <= 3, a <= 4]
    assert np.isinf(moments[1]) == (a == 2)
