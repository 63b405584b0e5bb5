"""The generalized inverse Gaussian law against 60-digit arithmetic and against its special cases.

Mpmath's own Bessel function takes minutes at some of these orders. The references are sums over
the defining integral K_v(x) = 1/2 int exp(v t - x cosh t) dt, which are held against it where it
is quick.
"""

from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import bayesmodels as bm
from bayesmodels.numerics import generalized_inverse_gaussian
from bayesmodels.numerics.generalized_inverse_gaussian import GeneralizedInverseGaussian
from tests.exact import error

ORDERS = [-5000, -500, -3.5, -0.5, 0, 0.5, 2, 300]
OMEGAS = [1e-6, 1e-2, 1, 50, 1e4]
RATIO = 7.0  # sqrt(b / a)
GRID = [(order, omega) for order in ORDERS for omega in OMEGAS]
# Every other point, as on a chessboard, is fast enough for every run.
POINTS = [
    pytest.param(*point, marks=pytest.mark.slow if number % 2 else ())
    for number, point in enumerate(GRID)
]
EPS = np.finfo(float).eps
SHARES = [1e-200, 1e-12, 0.05, 0.5]


def law_of(order, omega, power=1):
    return GeneralizedInverseGaussian(order, omega / RATIO, omega * RATIO, power)


def every_law(power=1):
    return law_of(*np.array(GRID).T, power)


# --- references ----------------------------------------------------------------------------------


@cache
def raw_moments(order, a, b, power):
    """Return ln Z and the moments E[X^k] = c^(k/power) K_(v + k/power) / K_v up to k = 4."""
    with mpmath.workdps(60):
        a, b, order = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(order)
        x, root = mpmath.sqrt(a * b), mpmath.mpf(1) / power
        centre, last = mpmath.asinh(order / x), mpmath.asinh((order + 4 * root) / x)
        step = 1 / (4 * mpmath.sqrt(mpmath.hypot(order, x) + 12))
        sums, top = [mpmath.mpf(0)] * 5, order * centre - x * mpmath.cosh(centre)
        for sign, start in ((1, 0), (-1, 1)):
            k = start
            while True:
                t = centre + sign * k * step
                height = order * t - x * mpmath.cosh(t) - top
                if height + max(0, 4 * root * (t - centre)) < -125 and (t - last) * sign > 0:
                    break
                term, factor = mpmath.exp(height), mpmath.exp(root * t)
                sums = [total + term * factor**n for n, total in enumerate(sums)]
                k += 1
        scale = (b / a) ** (root / 2)
        log_z = mpmath.log(sums[0] * step) + top + order * mpmath.log(b / a) / 2
        return log_z, [scale**n * total / sums[0] for n, total in enumerate(sums)]


def central(moments):
    """Return variance, skewness and excess kurtosis."""
    with mpmath.workdps(60):
        _, m, second, third, fourth = moments
        var = second - m**2
        skew = (third - 3 * m * second + 2 * m**3) / var**1.5
        return var, skew, (fourth - 4 * m * third + 6 * m**2 * second - 3 * m**4) / var**2 - 3


def tail(law, x, side):
    """Return the probability on one side of x, at most about one half, with 25 digits."""
    order, a, b = float(law.order), float(law.a), float(law.b)
    log_z, _ = raw_moments(order, a, b, law.power)
    with mpmath.workdps(40):
        u = mpmath.mpf(float(x)) ** law.power
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        slope = order - (a * u - b / u) / 2
        scale = 1 / (abs(slope) + mpmath.sqrt(mpmath.hypot(order, mpmath.sqrt(a * b)) + 1))
        # The double exponential rule on a half line; finer where the end of a flat part is far.
        steps = int(12 * (2 + mpmath.asinh(1 / mpmath.sqrt(a * b))))
        total, step, k = mpmath.mpf(0), mpmath.mpf(1) / steps, -4 * steps
        while True:
            s = k * step
            away = scale * mpmath.exp(s - mpmath.exp(-s))
            at = u * mpmath.exp(side * away)
            term = mpmath.exp(order * mpmath.log(at) - (a * at + b / at) / 2 - log_z) * away
            total += term * (1 + mpmath.exp(-s))
            if k > 0 and term < total * mpmath.mpf(10) ** -25:
                return total * step
            k += 1


@pytest.mark.parametrize(
    ("order", "omega"), [(0, 1e-6), (2, 1e-2), (-3.5, 1), (0.5, 3), (-0.5, 1e4)]
)
@pytest.mark.parametrize("power", [1, 2])
def test_the_references_are_mpmaths_bessel_functions(order, omega, power):
    law = law_of(order, omega, power)
    a, b = float(law.a), float(law.b)
    log_z, moments = raw_moments(order, a, b, power)
    with mpmath.workdps(60):
        x, c = mpmath.sqrt(mpmath.mpf(a) * b), mpmath.sqrt(mpmath.mpf(b) / a)
        steps = [mpmath.mpf(k) / power for k in range(5)]
        bessel = [mpmath.besselk(order + step, x) for step in steps]
        exact = [c**step * k / bessel[0] for step, k in zip(steps, bessel, strict=True)]
        assert abs(mpmath.exp(log_z) / (2 * bessel[0] * c**order) - 1) < 1e-45
        assert all(abs(m / e - 1) < 1e-45 for m, e in zip(moments, exact, strict=True))


# --- against the references ----------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("order", "omega"), POINTS)
def test_normaliser_moments_and_density(order, omega, power):
    law = law_of(order, omega, power)
    a, b = float(law.a), float(law.b)
    log_z, moments = raw_moments(order, a, b, power)
    var, skew, kurtosis = central(moments)
    assert error(law.log_normaliser(), float(log_z)) < 2e-14
    assert law.mean() == pytest.approx(float(moments[1]), rel=1e-14)
    assert law.var() == pytest.approx(float(var), rel=2e-14)
    assert law.std() == pytest.approx(float(mpmath.sqrt(var)), rel=1e-14)
    found = law.stats("mvsk")
    assert [float(n) for n in found[:2]] == [law.mean(), law.var()]
    assert error(found[2], float(skew)) < 1e-12
    assert error(law.stats("k"), float(kurtosis)) < 5e-14
    for x in law.ppf([0.001, 0.4, 0.99]):
        with mpmath.workdps(40):
            u = mpmath.mpf(float(x)) ** power
            exact = (order - 1) * mpmath.log(u) - (a * u + b / u) / 2 - log_z
            exact += mpmath.log(power * u / float(x))
        assert error(law.logpdf(x), float(exact)) < 5e-13


@pytest.mark.parametrize(("order", "omega"), POINTS)
def test_quantiles_and_small_tails(order, omega):
    """Quantiles relative to x, probabilities relative to themselves."""
    law, number = law_of(order, omega), GRID.index((order, omega))
    q, side = SHARES[number % len(SHARES)], (-1, 1)[number // len(SHARES) % 2]
    x = law.ppf(q) if side == -1 else law.isf(q)
    exact = tail(law, x, side)
    change = float(np.exp(law.logpdf(x)) * x)  # of the probability over that of ln x
    assert abs(float(exact - mpmath.mpf(q))) < 2e-13 * change
    found = law.cdf(x) if side == -1 else law.sf(x)
    # What a few units in the last place of x do to the probability comes on top.
    assert abs(float(found / exact) - 1) < 1e-12 + 4 * EPS * change / q


# --- special cases -------------------------------------------------------------------------------


@pytest.mark.parametrize(("mu", "lam"), [(1.0, 1.0), (0.01, 3.0), (40.0, 0.5)])
def test_order_minus_one_half_is_the_inverse_gaussian_law(mu, lam):
    ours = GeneralizedInverseGaussian(-0.5, lam / mu**2, lam)
    scipys = stats.invgauss(mu / lam, scale=lam)
    q = np.array([1e-10, 0.01, 0.3, 0.5, 0.7, 0.99])
    x = ours.ppf(q)
    np.testing.assert_allclose(ours.stats("mvsk"), scipys.stats("mvsk"), rtol=1e-11)
    # SciPy does not find its own quantiles at mu / lam = 80.
    np.testing.assert_allclose(scipys.cdf(x), q, rtol=1e-11)
    np.testing.assert_allclose(scipys.sf(ours.isf(q)), q, rtol=1e-11)
    np.testing.assert_allclose(ours.cdf(x), scipys.cdf(x), rtol=1e-11)
    np.testing.assert_allclose(ours.sf(x), scipys.sf(x), rtol=1e-11)
    np.testing.assert_allclose(ours.logpdf(x), scipys.logpdf(x), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(ours.std(), scipys.std(), rtol=1e-13)


@pytest.mark.parametrize("order", [0.7, 3.0, 400.0])
def test_it_ends_in_gamma_and_inverse_gamma_laws(order):
    gamma = GeneralizedInverseGaussian(order, 5.0, 1e-150)
    inverse = GeneralizedInverseGaussian(-order, 1e-150, 5.0)
    for ours, limit in (
        (gamma, stats.gamma(order, scale=0.4)),
        (inverse, stats.invgamma(order, scale=2.5)),
    ):
        q = np.array([1e-5, 0.2, 0.9])
        np.testing.assert_allclose(ours.ppf(q), limit.ppf(q), rtol=1e-11)
        np.testing.assert_allclose(ours.logpdf(ours.ppf(q)), limit.logpdf(ours.ppf(q)), rtol=1e-11)
    assert gamma.mean() == pytest.approx(order * 0.4, rel=1e-13)
    assert gamma.var() == pytest.approx(order * 0.16, rel=1e-13)
    log_z = special.gammaln(order) - order * np.log(2.5)
    assert gamma.log_normaliser() == pytest.approx(log_z, rel=1e-13)


@pytest.mark.parametrize("power", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_reciprocal_has_the_law_with_a_and_b_exchanged(power):
    law = every_law(power)
    other = GeneralizedInverseGaussian(-law.order, law.b, law.a, power)
    for q in (1e-30, 0.1, 0.8):
        np.testing.assert_allclose(law.ppf(q) * other.isf(q), 1, rtol=1e-12)
        x = law.ppf(q)
        np.testing.assert_allclose(law.cdf(x), other.sf(1 / x), rtol=1e-11)


def test_a_squared_variable():
    root, square = every_law(2), every_law(1)
    for q in (1e-9, 0.5, 0.99):
        x = root.ppf(q)
        np.testing.assert_allclose(x**2, square.ppf(q), rtol=1e-12)
        np.testing.assert_allclose(root.cdf(x), square.cdf(x**2), rtol=1e-11)
        log_density = square.logpdf(x**2) + np.log(2 * x)
        np.testing.assert_allclose(root.logpdf(x), log_density, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(root.var() + root.mean() ** 2, square.mean(), rtol=1e-13)
    np.testing.assert_allclose(root.log_normaliser(), square.log_normaliser(), rtol=1e-12)


@pytest.mark.parametrize("power", [1, 2])
def test_the_slope_is_zero_at_the_mode(power):
    law = every_law(power)
    x = law.mode()
    up = (power * law.order - 1) / x, power * law.b / x ** (power + 1) / 2
    down = power * law.a * x ** (power - 1) / 2
    np.testing.assert_allclose((sum(up) - down) / (np.abs(up[0]) + up[1] + down), 0, atol=1e-14)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("order", [-1e6, -2.0, -1e-3, 1e-9, 7.0, 1e6])
@pytest.mark.parametrize("omega", [pytest.param(1e-100, marks=pytest.mark.slow), 1e-20, 1e8])
def test_far_beyond_the_grid(order, omega, power):
    law = law_of(order, omega, power)
    a, b = float(law.a), float(law.b)
    log_z, moments = raw_moments(order, a, b, power)
    var = central(moments)[0]
    assert error(law.log_normaliser(), float(log_z)) < 5e-14
    assert law.mean() == pytest.approx(float(moments[1]), rel=5e-14)
    assert law.std() == pytest.approx(float(mpmath.sqrt(var)), rel=5e-14)
    q = np.array([1e-300, 1e-20, 0.3, 0.999])
    for quantile, probability in ((law.ppf, law.cdf), (law.isf, law.sf)):
        x = quantile(q)
        # What a few units in the last place of ln x do, which is large so far off.
        unit = EPS * (1 + np.abs(np.log(x / law._centre)))
        change = power * unit * np.exp(law.logpdf(x) + np.log(x) - np.log(q))
        assert (np.abs(probability(x) / q - 1) < 1e-12 + 4 * change).all()


# --- draws ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("power", [1, 2])
def test_draws_fill_the_cells_between_quantiles_evenly(power):
    law, size, cells = every_law(power), 20_000, 10
    x = law.rvs(size, np.random.default_rng(power))
    assert x.shape == (size, len(GRID))
    cuts = np.stack([law.ppf(k / cells) for k in range(1, cells)])
    below = (x[:, None] <= cuts).sum(0)
    counts = np.diff(
        np.concatenate([np.zeros_like(below[:1]), below, np.full_like(below[:1], size)]), axis=0
    )
    expected = size / cells
    p = stats.chi2.sf(((counts - expected) ** 2 / expected).sum(0), cells - 1)
    assert p.min() > 1e-3 / len(GRID)
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_draws_follow_the_distribution_function_in_the_tails():
    law, size = law_of(np.array([-500, 0, 2]), np.array([1, 1e-2, 50])), 4000
    x = law.rvs(size, np.random.default_rng(5))
    for n in range(3):
        below = law.entry((n,)).cdf(x[:, n])
        assert stats.kstest(below, "uniform").pvalue > 1e-3
        assert stats.kstest(stats.norm.ppf(below), "norm").pvalue > 1e-3
        assert abs((x[:, n].mean() - law.mean()[n]) / law.std()[n] * np.sqrt(size)) < 4


# --- shapes and edges ----------------------------------------------------------------------------


def test_elements_are_independent_of_each_other(monkeypatch):
    monkeypatch.setattr(generalized_inverse_gaussian, "_BLOCK", 7)
    law = every_law(2)
    q = 0.3
    for n in (0, 6, 7, 23, 39):
        one = law.entry((n,))
        assert np.ndim(one.mean()) == 0
        x = one.ppf(q)
        for many, single in (
            (law.mean(), one.mean()),
            (law.std(), one.std()),
            (law.log_normaliser(), one.log_normaliser()),
            (law.ppf(q), x),
            (law.isf(q), one.isf(q)),
        ):
            assert many[n] == pytest.approx(single, rel=1e-13)
        assert law.cdf(x)[n] == pytest.approx(one.cdf(x), rel=1e-11)
        assert law.logpdf(x)[n] == pytest.approx(one.logpdf(x), abs=1e-11)


def test_parameters_and_arguments_are_broadcast():
    law = GeneralizedInverseGaussian([[1.0], [2.0]], 3.0, [1.0, 2.0, 3.0])
    assert law.order.shape == law.a.shape == law.b.shape == law.mean().shape == (2, 3)
    assert law.entry((1, 2)).b == 3.0
    x = law.rvs(4, np.random.default_rng(0))
    assert law.cdf(x).shape == law.sf(x).shape == law.logpdf(x).shape == (4, 2, 3)
    assert law.ppf([[0.1], [0.2]]).shape == law.stats("k").shape == (2, 3)
    empty = GeneralizedInverseGaussian(np.zeros(0), 1.0, 1.0)
    assert empty.var().shape == empty.ppf(0.5).shape == empty.cdf(1.0).shape == (0,)
    assert empty.rvs(3, np.random.default_rng(0)).shape == (3, 0)


def test_outside_and_at_the_ends():
    law = GeneralizedInverseGaussian(-2.0, 1.0, 3.0)
    x = [-np.inf, -1.0, 0.0, 5e-324, 1e308, np.inf]
    nearly = pytest.approx(1, rel=1e-14)
    assert law.cdf(x).tolist() == [0, 0, 0, 0, nearly, 1]
    assert law.sf(x).tolist() == [1, 1, 1, nearly, 0, 0]
    far = pytest.approx(-0.5e308, rel=1e-13)
    assert law.logpdf(x).tolist() == [-np.inf, -np.inf, -np.inf, -np.inf, far, -np.inf]
    assert law.ppf([0, 1]).tolist() == law.isf([1, 0]).tolist() == [0, np.inf]
    for verb in (law.cdf, law.sf, law.logpdf, law.ppf, law.isf):
        assert np.isnan(verb(np.nan))
    assert np.isnan(law.ppf([-0.1, 1.1])).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"order": np.inf}, "order: must be finite; got inf"),
        ({"a": 0.0}, "a: must be positive and finite; got 0"),
        ({"b": [1.0, -2.0]}, "b: must be positive and finite; got -2"),
        ({"b": np.nan}, "b: must be positive and finite; got nan"),
        ({"b": 1e-250}, "a, b: the root of their product must be at least 1e-100; got 1e-125"),
        ({"power": 3}, "power: must be 1 or 2; got 3"),
    ],
)
def test_parameters_out_of_range(changed, message):
    with pytest.raises(bm.PriorError, match=message):
        GeneralizedInverseGaussian(**({"order": 1.0, "a": 1.0, "b": 1.0} | changed))
