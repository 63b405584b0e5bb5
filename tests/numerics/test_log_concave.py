"""Log-concave laws on intervals against forty digits: in the middle, far out, narrow and wide."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import stats

from bayesmodels.numerics.log_concave import LINE, LOG, LOGIT, LogConcave

INF = np.inf


def normal(mean, sd, low, high):
    def rise(peak):
        pull = (mean - peak) / sd**2
        return lambda s: (s * (pull - s / sd**2 / 2), pull - s / sd**2)

    def density(x):
        return mpmath.exp(-(((x - mpf(mean)) / mpf(sd)) ** 2) / 2)

    return LogConcave(rise, LINE, (low, high), mean), density


def gamma(shape, rate, low, high):
    def rise(peak):
        return lambda s: (shape * s - rate * peak * np.expm1(s), shape - rate * peak * np.exp(s))

    def density(x):
        return x ** (mpf(shape) - 1) * mpmath.exp(-mpf(rate) * x)

    return LogConcave(rise, LOG, (low, high), shape / rate), density


def beta(a, b, low, high):
    def rise(peak):
        def both(s):
            log = np.logaddexp(np.log1p(-peak), np.log(peak) + s)
            return a * s - (a + b) * log, a - (a + b) * peak * np.exp(s - log)

        return both

    def density(x):
        return x ** (mpf(a) - 1) * (1 - x) ** (mpf(b) - 1)

    return LogConcave(rise, LOGIT, (low, high), a / (a + b)), density


LAWS = {
    "normal": normal(0.3, 2.0, -1.0, 5.0),
    "half of a normal": normal(0.0, 1.0, 0.0, INF),
    "40 deviations out": normal(0.0, 1.0, 40.0, INF),
    "40 deviations below": normal(0.0, 1.0, -INF, -40.0),
    "1e4 deviations out": normal(0.0, 1.0, 1e4, 1e4 + 1),
    "narrow": normal(0.0, 1.0, 1.0, 1.0 + 1e-6),
    "wide": normal(3.0, 0.1, -1e5, 1e5),
    "gamma": gamma(3.0, 2.0, 0.0, 1.0),
    "gamma far above": gamma(50.0, 1.0, 400.0, INF),
    "gamma far below": gamma(5000.0, 1.0, 0.0, 1000.0),
    "gamma narrow": gamma(14.0, 4.0, 1.0, 1.0 + 1e-6),
    "beta": beta(3.0, 5.0, 0.2, 0.8),
    "beta far above": beta(30.0, 500.0, 0.9, 1.0),
    "beta narrow": beta(30.0, 500.0, 0.5, 0.5 + 1e-7),
}
laws = pytest.mark.parametrize("name", LAWS)


def moments(law, density):
    """Return the log density at the median, mean and variance, added up between quantiles."""
    median = mpf(float(law.ppf(0.5)))
    edges = [law.ends[0], *(float(law.ppf(q)) for q in (1e-20, 1e-6, 0.1, 0.5))]
    edges += [float(law.isf(q)) for q in (0.1, 1e-6, 1e-20)]
    edges = sorted({mpf(x) for x in (*edges, law.ends[1])})
    with mpmath.workdps(40):
        unit = density(median)  # what is tiny counts as zero

        def integral(value):
            return mpmath.quad(lambda x: value(x) * (density(x) / unit), edges)

        whole = integral(lambda _: 1)
        mean = integral(lambda x: x) / whole
        var = integral(lambda x: (x - mean) ** 2) / whole
        return float(-mpmath.log(whole)), mean, var


@laws
def test_the_density_and_moments_have_eleven_digits(name):
    law, density = LAWS[name]
    log, mean, var = moments(law, density)
    assert law.logpdf(law.ppf(0.5)) == pytest.approx(log, abs=1e-11)
    rough = np.spacing(float(mean)) / law.std()  # floats near the mean may be few
    assert float((law.mean() - mean) / mpmath.sqrt(var)) == pytest.approx(0, abs=1e-11 + rough)
    assert law.var() == pytest.approx(float(var), rel=1e-11)
    assert law.error < 1e-13


@laws
def test_both_tails_and_both_quantiles_are_inverse_to_each_other(name):
    law, _ = LAWS[name]
    q = np.array([1e-3, 0.02, 0.3, 0.5, 0.7, 0.98])
    x, y = law.ppf(q), law.isf(q)
    # Floats near x may be few.
    rough = np.spacing(np.abs(x)) * law.pdf(x), np.spacing(np.abs(y)) * law.pdf(y)
    assert (np.abs(law.cdf(x) - q) <= 1e-12 * q + rough[0]).all()
    assert (np.abs(law.sf(y) - q) <= 1e-12 * q + rough[1]).all()
    np.testing.assert_allclose(law.cdf(x) + law.sf(x), 1, rtol=1e-14)
    low, high = law.ends
    assert (law.ppf(0), law.isf(0), law.cdf(low), law.sf(high)) == (low, high, 0, 0)


def test_far_tails_keep_their_digits():
    law, whole = normal(0.0, 1.0, -INF, INF)[0], stats.norm
    x = np.array([-37.0, -20.0, -5.0, 1.0])
    np.testing.assert_allclose(law.cdf(x), whole.cdf(x), rtol=1e-11)
    np.testing.assert_allclose(law.sf(-x), whole.sf(-x), rtol=1e-11)
    np.testing.assert_allclose(law.ppf([1e-300, 1e-9]), whole.ppf([1e-300, 1e-9]), rtol=1e-12)
    assert (float(law.stats("s")), float(law.stats("k"))) == pytest.approx((0, 0), abs=1e-12)
    own = gamma(4.0, 2.0, 0.0, INF)[0]
    assert (float(own.stats("s")), float(own.stats("k"))) == pytest.approx((1, 1.5), rel=1e-11)


def test_outside_there_is_no_density_and_draws_stay_inside():
    law, _ = LAWS["beta"]
    assert list(law.logpdf([0.1, 0.9])) == [-np.inf, -np.inf]
    assert np.isnan(law.ppf(np.nan))
    draws = law.rvs(5000, 1)
    assert 0.2 < draws.min() < draws.max() < 0.8
    assert stats.kstest(law.cdf(draws), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("shape", [1e-6, 0.01, 0.7])
def test_small_shapes_pile_up_at_zero(shape):
    law, _ = gamma(shape, 1.0, 0.0, 2.0)
    whole, mean = (mpmath.gammainc(mpf(shape) + k, 0, 2) for k in (0, 1))
    logs = law.log_integral + shape * np.log(law.peak) - law.peak
    assert logs == pytest.approx(float(mpmath.log(whole)), abs=1e-13)
    assert law.mean() == pytest.approx(float(mean / whole), rel=1e-12)
    assert law.sf(1e-3) == pytest.approx(float(mpmath.gammainc(shape, 1e-3, 2) / whole), rel=1e-11)
