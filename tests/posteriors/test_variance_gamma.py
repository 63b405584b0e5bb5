"""Laws of the entries of a Wishart matrix against SciPy, simulation, and integrals of 30 digits."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesmodels.errors import DataError, PriorError
from bayesmodels.numerics.wishart import wishart_marginals

SCALE = np.array([[3.0, 0.8, -1.5], [0.8, 1.0, 0.1], [-1.5, 0.1, 2.0]])
LEVELS = (1e-10, 1e-4, 0.3)


def block(r):
    return np.array([[1.0, r], [r, 1.0]])


def exact_tail(x, df, r, sign):
    """P(sign L_12 > sign x) by the definition: L_12 is normal given L_11, which is chi-squared.

    The trapezoidal rule over ln L_11, with steps divided until nothing changes.
    """
    with mpmath.workdps(30):
        x, k, r = mpmath.mpf(x), mpmath.mpf(df) / 2, mpmath.mpf(r)
        spread = mpmath.sqrt(2 * (1 - r) * (1 + r))

        def mass(t):
            g = mpmath.exp(t)
            z = sign * (x - r * g) / (spread * mpmath.sqrt(g))
            density = mpmath.exp(k * t - g / 2 - k * mpmath.log(2) - mpmath.loggamma(k))
            return density * mpmath.erfc(z) / 2

        width = 1 / mpmath.sqrt(k)
        middle, reach = mpmath.log(df), 8 * width
        coarse = mpmath.linspace(middle - 60 / k - reach - 3, middle + reach + 3, 400)
        masses = [mass(t) for t in coarse]
        kept = [i for i, m in enumerate(masses) if m > max(masses) * mpmath.mpf("1e-26")]
        low, high = coarse[max(kept[0] - 1, 0)], coarse[min(kept[-1] + 1, 399)]
        number, before, total = 200, mpmath.mpf(0), mpmath.mpf(1)
        while abs(before / total - 1) > 1e-15:
            before, number = total, number * 3 // 2
            step = (high - low) / number
            total = step * mpmath.fsum(mass(low + i * step) for i in range(number + 1))
        return float(total)


def exact_log_density(x, df, r):
    with mpmath.workdps(60):
        x, k, r = mpmath.mpf(x), mpmath.mpf(df) / 2, mpmath.mpf(r)
        unit, order = (1 - r) * (1 + r), k - mpmath.mpf(1) / 2
        if x == 0:
            value = mpmath.gamma(order) * unit ** (k - 1) / (2 * mpmath.sqrt(mpmath.pi))
        else:
            value = mpmath.exp(r * x / unit) * (abs(x) / 2) ** order / mpmath.sqrt(mpmath.pi * unit)
            value *= mpmath.besselk(order, abs(x) / unit)
        return float(mpmath.log(value / mpmath.gamma(k)))


def check_tails(df, r, levels=LEVELS):
    law = wishart_marginals(df, block(r))
    for level in levels:
        x = law.ppf(level)[0, 1]
        exact = exact_tail(x, df, r, -1)
        assert exact == pytest.approx(level, rel=1e-12)
        assert law.cdf(x)[0, 1] == pytest.approx(exact, rel=1e-12)
        assert law.sf(x)[0, 1] == pytest.approx(1 - exact, rel=1e-12)
        x = law.isf(level)[0, 1]
        exact = exact_tail(x, df, r, 1)
        assert exact == pytest.approx(level, rel=1e-12)
        assert law.sf(x)[0, 1] == pytest.approx(exact, rel=1e-12)
        assert law.cdf(x)[0, 1] == pytest.approx(1 - exact, rel=1e-12)


def test_tails():
    check_tails(60, 0.3, levels=(1e-10,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("df", "r"), [(1.05, 0.0), (1.5, 0.99), (3.7, -0.3), (12.5, 0.99), (400, 0.0), (5000, -0.3)]
)
def test_tails_at_all_sizes(df, r):
    check_tails(df, r)


@pytest.mark.slow
@pytest.mark.parametrize(("df", "rel"), [(1e6, 3e-12), (1e8, 1e-10)])
def test_tails_where_the_incomplete_gamma_function_fails(df, rel):
    # The location 1e6 times the width: rounding it alone changes tails by 6 sqrt(df) epsilon.
    law = wishart_marginals(df, block(0.3))
    for level in (1e-10, 1e-6):
        x = law.ppf(level)[0, 1]
        assert level == pytest.approx(exact_tail(x, df, 0.3, -1), rel=rel)


@pytest.mark.parametrize("df", [1.0001, 1.5, 2, 12.5, 400])
@pytest.mark.parametrize(
    "r", [-0.3, *(pytest.param(r, marks=pytest.mark.slow) for r in (0.0, 0.99))]
)
def test_densities(df, r):
    law = wishart_marginals(df, block(r))
    for x in (*(law.ppf(level)[0, 1] for level in LEVELS), 0, 1e-6, law.isf(1e-10)[0, 1]):
        assert law.logpdf(x)[0, 1] == pytest.approx(exact_log_density(x, df, r), rel=3e-13)
        assert law.pdf(x)[0, 1] == np.exp(law.logpdf(x)[0, 1])


@pytest.mark.parametrize(
    ("df", "r"),
    [(1.0001, 0.0), (2, 0.6), (30, -0.999999)]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in [(1.5, -0.999999), (5000, 0.6), (1e7, 0.0)]
    ],
)
def test_densities_and_quantiles_fit_the_probabilities(df, r):
    law = wishart_marginals(df, block(r)).entry((0, 1))
    levels = np.array([1e-200, 1e-12, 1e-5, 0.25, 0.5, 0.7, 1 - 1e-5])
    x = law.ppf(levels)
    assert (np.diff(x) > 0).all()
    # Rounding x is felt in units of the width; far out, a log probability is a large number.
    rounding = 50 * np.finfo(float).eps * np.sqrt(df) / (1 - abs(r))
    tolerance = (1e-12 + rounding) * np.maximum(1, -np.log(levels) / 30)
    assert (np.abs(law.cdf(x) / levels - 1) < tolerance).all()
    step = 1e-4 * law.cdf(x) / np.exp(law.logpdf(x))  # of the log probability
    inner = levels < 0.5
    slope = (np.log(law.cdf(x + step)) - np.log(law.cdf(x - step))) / (2e-4)
    assert df < 2 or slope[inner] == pytest.approx(np.ones(inner.sum()), rel=1e-5)


def test_at_zero_it_is_a_ratio_of_chi_squared_variables():
    for df, r in ((1.5, 0.99), (7, -0.3), (5000, 0.05)):
        exact = stats.beta(df / 2, df / 2).cdf((1 - r) / 2)
        assert wishart_marginals(df, block(r)).cdf(0)[0, 1] == pytest.approx(exact, rel=1e-12)


def test_two_degrees_of_freedom_make_it_a_laplace_law():
    r, x = 0.4, np.array([-7.0, -0.1, 0.0, 0.1, 30.0])
    entry = wishart_marginals(2, block(r)).entry((1, 0))
    right = np.exp(-np.maximum(x, 0) / (1 + r)) * (1 + r) / 2
    left = np.exp(np.minimum(x, 0) / (1 - r)) * (1 - r) / 2
    np.testing.assert_allclose(entry.cdf(x), np.where(x < 0, left, 1 - right), rtol=1e-14)
    density = -np.where(x < 0, -x / (1 - r), x / (1 + r)) - np.log(2)
    np.testing.assert_allclose(entry.logpdf(x), density, rtol=1e-13)


def test_the_diagonal_is_gamma():
    law, exact = wishart_marginals(4.5, SCALE), stats.gamma(2.25, scale=2 * 2.0)
    for name, x in (("cdf", 3.0), ("sf", 3.0), ("pdf", 3.0), ("logpdf", 3.0), ("ppf", 0.1)):
        assert getattr(law, name)(x)[2, 2] == pytest.approx(getattr(exact, name)(x), rel=1e-14)
    np.testing.assert_allclose([m[2, 2] for m in law.stats("mvsk")], exact.stats("mvsk"), 1e-14)
    assert wishart_marginals(0.5, [[2.0]]).entry((0, 0)).isf(0.1) == stats.gamma(0.25, scale=4).isf(
        0.1
    )


@pytest.mark.parametrize("r", [-0.8, 0.0, 0.99])
def test_moments_are_derivatives_of_the_cumulant_function(r):
    df = 7
    with mpmath.workdps(40):

        def cumulants(t):
            return -mpmath.mpf(df) / 2 * mpmath.log((1 - r * t) ** 2 - t**2)

        first, second, third, fourth = mpmath.taylor(cumulants, 0, 4)[1:]
        second, third, fourth = 2 * second, 6 * third, 24 * fourth
        exact = (first, second, third / second**1.5, fourth / second**2)
    law = wishart_marginals(df, np.diag([2.0, 0.5]) @ block(r) @ np.diag([2.0, 0.5]))
    mean, variance, skewness, kurtosis = (m[0, 1] for m in law.stats("mvsk"))
    found = (mean, variance, skewness, kurtosis)
    np.testing.assert_allclose(found, [float(e) for e in exact], rtol=1e-13, atol=1e-15)
    assert law.std()[0, 1] == np.sqrt(law.var()[0, 1]) == np.sqrt(variance)
    assert law.entry((0, 1)).mean() == law.stats("m")[0, 1]


def test_means_and_variances_are_scipys():
    law, exact = wishart_marginals(4.5, SCALE), stats.wishart(4.5, SCALE)
    np.testing.assert_allclose(law.mean(), exact.mean(), rtol=1e-14)
    np.testing.assert_allclose(law.var(), exact.var(), rtol=1e-13)


@pytest.mark.parametrize("df", [2.2, 9.0])
def test_matrices_drawn_by_scipy(df):
    number = 20_000
    draws = stats.wishart(df, SCALE).rvs(number, random_state=np.random.default_rng(1))
    law = wishart_marginals(df, SCALE)
    for level in (0.01, 0.3, 0.9):
        share = (draws <= law.ppf(level)).mean(0)
        assert (np.abs(share - level) < 4.5 * np.sqrt(level * (1 - level) / number)).all()
    fourth = law.stats("k") + 2  # variance of the squared deviation, over the variance squared
    shift = np.abs(draws.mean(0) - law.mean()) / law.std() * np.sqrt(number)
    spread = np.abs(draws.var(0) / law.var() - 1) / np.sqrt(fourth / number)
    assert shift.max() < 4.5
    assert spread.max() < 4.5


def test_far_out_and_at_the_ends():
    for df in (1.5, 7):
        law = wishart_marginals(df, block(0.4)).entry((0, 1))
        assert law.cdf([-np.inf, np.inf]).tolist() == [0, 1]
        assert law.logpdf([-np.inf, np.inf]).tolist() == [-np.inf, -np.inf]
        assert law.cdf([-1e300, 1e300]).tolist() == [0, 1]
        assert law.ppf([0, 1]).tolist() == law.isf([1, 0]).tolist() == [-np.inf, np.inf]
        matrix = wishart_marginals(df, block(0.4))
        assert (matrix.logpdf([[np.inf]]) == matrix.logpdf([[-np.inf]])).all()
        assert (matrix.pdf([[np.inf]]) == 0).all()
        assert np.isnan(law.ppf([-0.1, 1.1, np.nan])).all()
        assert np.isnan(law.cdf(np.nan))
        assert np.isnan(law.logpdf(np.nan))
        # The slope of the log density far out is that of the gamma variable on that side.
        slope = (law.logpdf(1e12) - law.logpdf(5e11)) / 5e11
        assert slope == pytest.approx(-1 / 1.4, rel=1e-9)
        assert law.logpdf(1e-300) == pytest.approx(law.logpdf(0), rel=1e-6)


def test_a_batch_is_its_members():
    df, scale = np.array([2.5, 900.0]), np.stack([SCALE, SCALE @ SCALE])
    law = wishart_marginals(df, scale)
    levels = np.array([0.1, 0.9])[:, None, None, None]
    x = law.ppf(levels)
    assert x.shape == (2, 2, 3, 3)
    for i in range(2):
        alone = wishart_marginals(df[i], scale[i])
        np.testing.assert_allclose(x[:, i], alone.ppf(levels[:, 0]), rtol=1e-12)
        np.testing.assert_allclose(law.cdf(x)[:, i], alone.cdf(x[:, i]), rtol=1e-12)
        np.testing.assert_allclose(law.entry((i, 2, 0)).cdf(1), alone.cdf(1)[2, 0], rtol=1e-12)
        np.testing.assert_allclose(law.entry((i, -1, -1)).std(), alone.std()[2, 2], rtol=1e-14)


def test_each_triangle_has_its_own_value():
    law, x = wishart_marginals(4, block(0.3)), np.array([[1.0, 2.0], [3.0, 4.0]])
    assert law.sf(x)[0, 1] == law.sf(2)[1, 0]
    assert law.sf(x)[1, 0] == law.sf(3)[0, 1]


@pytest.mark.parametrize(
    ("df", "scale", "message"),
    [
        (2, SCALE, "df: must be finite and larger than D - 1 = 2; got 2"),
        (np.nan, SCALE, "df: must be finite"),
        (5, block(1.0), "scale: must be positive definite"),
        (5, [[1.0, np.nan], [0.0, 1.0]], "scale: must hold finite numbers"),
        (5, [[1.0, 0.2], [0.3, 1.0]], "scale: must be symmetric; entries differ by 0.1"),
    ],
)
def test_what_is_no_wishart_law(df, scale, message):
    with pytest.raises(PriorError, match=message):
        wishart_marginals(df, scale)


def test_levels_by_entry_are_refused():
    with pytest.raises(DataError, match="q: levels must be the same"):
        wishart_marginals(5, block(0.5)).ppf([0.1, 0.9])
