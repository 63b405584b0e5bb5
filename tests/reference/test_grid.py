"""Every family against 50-digit values over extremes; `make_grid` writes them."""

import json
import random

import mpmath as mp
import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.numerics.laws import beta, inverse_gamma, student_t
from bayesmodels.numerics.special import lower_gamma
from tests.reference.accuracy import BY_KEY, FAR, LIMITS, answers, error, grid, limit
from tests.reference.make_grid import value_at

GRID = list(grid())


def test_the_file_holds_the_grid_and_nothing_else():
    """Line by line: whoever changes the grid must make the file anew."""
    wanted = [(quantity.key, inputs) for quantity in BY_KEY.values() for inputs in quantity.inputs]
    assert shown([(quantity.key, inputs) for quantity, inputs, _ in GRID]) == shown(wanted)


def shown(rows):
    """Return rows without the last digits of their numbers: powers differ there by processor."""
    return json.loads(json.dumps(rows), parse_float=lambda number: f"{float(number):.13g}")


@pytest.mark.parametrize("key", BY_KEY)
def test_values_are_right(key):
    own = [(inputs, value) for quantity, inputs, value in GRID if quantity.key == key]
    kind = BY_KEY[key].kind
    for inputs, value in own:
        assert error(kind, answers(BY_KEY[key], inputs), value) <= limit(kind, inputs), inputs


def test_an_error_is_seen():
    assert error("log", 1 + 2e-10, "1") > 1e-10
    assert error("log", 1e-3 + 2e-10, "1e-3") > 1e-10
    assert error("log", 1e6 + 2e-5, "1e6") < 1e-10
    assert error("quantile", 1e-100 * (1 + 2e-9), "1e-100") > 1e-9
    assert error("log", float("nan"), "1") == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIMITS)
def test_the_file_is_what_mpmath_says_with_more_digits(kind):
    own = [line for line in GRID if line[0].kind == kind]
    chosen = random.Random(5).sample(own, 12 if kind == "quantile" else 150)  # noqa: S311 - cases
    for quantity, inputs, value in chosen:
        again = value_at(quantity, inputs, spare=130)
        with mp.workdps(60):
            assert mp.almosteq(mp.mpf(value), mp.mpf(again), 1e-35), (quantity.key, inputs)


# --- what the grid found, each by itself ----------------------------------------------------------


def test_log_density_of_a_beta_law_that_is_all_but_known():
    """The textbook's difference of log gamma functions was off by 0.01."""
    posterior = bm.BetaBernoulli(1e12, 3e12)
    at = 0.25 - 1e-6
    assert posterior.log_density({"theta": at}) == pytest.approx(3.760024459063512, rel=1e-12)
    assert posterior.marginals()["theta"].logpdf(at) == pytest.approx(3.760024459063512, rel=1e-12)


def test_log_density_of_a_variance_that_is_all_but_known():
    law = bm.NormalInverseGamma(0, 1, 1e12, 1e12).marginals()["sigma2"]
    assert law.logpdf(1 + 1e-6) == pytest.approx(12.396571691508201, rel=1e-10)


def test_rare_value_under_a_strong_prior_keeps_its_digits():
    """Taken from 1 - mean, four digits were left."""
    coins = bm.BetaBernoulli([1e12], [1.0])
    zero = coins.log_predictive(np.array([0.0]))[0, 0]
    assert zero == pytest.approx(-np.log(1e12 + 1), rel=1e-15)


def test_rows_beside_a_posterior_far_from_zero_keep_the_digits_of_the_mean():
    prior = bm.NormalInverseGamma([1e8], [2.0], [1e4], [1e-8])
    posterior = prior.update([[1e8 + 0.1], [1e8 + 0.7]])
    with mp.workdps(40):
        mean = (2 * mp.mpf(1e8) + mp.mpf(1e8 + 0.1) + mp.mpf(1e8 + 0.7)) / 4
        exact = float(mp.mpf(1e8 + 0.0625) - mean)
    wide = student_t(2 * posterior.shape, scale=np.sqrt(1.25 * posterior.scale / posterior.shape))
    own = posterior.log_predictive(np.array([1e8 + 0.0625]))[0, 0]
    assert own == pytest.approx(wide.logpdf(exact)[0], rel=FAR)


def test_tail_of_a_variance_known_from_many_rows():
    """SciPy's series is cut short: it gives a hundredth of the probability."""
    assert lower_gamma(1e12, 1e12 - 7034467.664) == pytest.approx(1e-12, rel=1e-4)
    law = inverse_gamma(1e8, scale=1e-150)
    assert law.isf(1e-12) == pytest.approx(1.000703781738014e-158, rel=1e-12)
    assert law.sf(law.isf(1e-12)) == pytest.approx(1e-12, rel=1e-8)


def test_deviations_whose_squares_underflow():
    prior = bm.NormalInverseGamma(0, 1, 1e12, 1e-150)
    assert prior.summary().loc["sigma2", "sd"] == pytest.approx(1e-168, rel=1e-11)
    matrix = bm.NormalInverseWishart([0, 0], 1, 1e12, 1e-150 * np.eye(2))
    assert (matrix.marginals()["Sigma"].std() > 0).all()


def test_densities_far_out_do_not_overflow():
    power_law = np.log(6 * np.sqrt(3) / np.pi) - 4 * np.log(1e200)
    assert student_t(3).logpdf(1e200) == pytest.approx(power_law, rel=1e-14)
    assert np.isneginf(student_t(3).logpdf(np.inf))


def test_densities_at_the_ends():
    assert beta(1, 1).logpdf([0.0, 1.0]) == pytest.approx(0, abs=1e-15)
    assert beta(2, 0.5).logpdf([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert np.isnan(beta(2, 2).logpdf(np.nan))
