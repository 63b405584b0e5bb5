"""Weighted points against integrals that are known: evidence, moments, and their errors."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_normal, norm, t

from bayesmodels.numerics.lattice_integral import NotSettled
from bayesmodels.numerics.weights import GOAL, Bend, weighted


def normal():
    """Twenty numbers of very different units, correlated."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(20, 20)) * np.logspace(-1, 1, 20)[:, None]
    law = multivariate_normal(np.arange(20.0), root @ root.T)
    return (
        lambda x: np.atleast_1d(law.logpdf(x)),
        None,
        law.mean,
        np.sqrt(np.diag(law.cov)),
        np.sqrt(np.diag(law.cov)),
    )


def two_modes():
    """Nine tenths of the mass in ten dimensions, and a tenth eight sd away on each axis."""
    d, shares, at = 10, np.array([0.9, 0.1]), np.array([0.0, 8.0])

    def logs(x):
        each = [np.log(p) + norm.logpdf(x, a, 1).sum(1) for p, a in zip(shares, at, strict=True)]
        return logsumexp(each, axis=0)

    sd = np.sqrt(1 + shares.prod() * 64)
    return logs, None, np.full(d, shares @ at), np.full(d, sd), np.full(d, 2.0)


def exp(x):
    return np.exp(np.minimum(x, 700.0))


def gammas():
    """Gamma variables by their logs: skewed."""
    shape = np.array([2.0, 3, 4, 5, 8, 12])

    def logs(x):
        return (shape * x - exp(x) - gammaln(shape)).sum(1)

    return logs, exp, shape, np.sqrt(shape), np.ones(6)


def scales():
    """Half-normal scales by their logs, which may be far down: tails fall exponentially."""

    def logs(x):
        return (np.log(2) + norm.logpdf(exp(np.minimum(x, 99.0))) + x).sum(1)

    return logs, exp, np.full(8, np.sqrt(2 / np.pi)), np.full(8, np.sqrt(1 - 2 / np.pi)), np.ones(8)


KNOWN = [normal, two_modes, gammas, scales]


def z_scores(case, seed):
    """Return errors in stated standard errors: of log integral, means and deviations."""
    logs, numbers, mean, sd, spread = case()
    rng = np.random.default_rng(seed)
    starts = spread * rng.normal(0, 4, (100 * len(mean), len(mean)))
    result = weighted(
        lambda x: (logs(x), x if numbers is None else numbers(x)), starts, GOAL, 60.0, rng
    )
    assert max(result.log_error, *result.mean_error) <= GOAL
    return np.concatenate(
        [
            [result.log_total / result.log_error],
            (result.mean - mean) / result.unit / result.mean_error,
            (result.sd - sd) / result.unit / result.sd_error,
        ]
    )


@pytest.mark.parametrize("case", KNOWN)
def test_integrals_are_within_their_errors(case):
    assert np.abs(z_scores(case, 1)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("case", KNOWN)
def test_two_standard_errors_hold_95_percent(case):
    z = np.array([z_scores(case, seed) for seed in range(20 if case is two_modes else 10)])
    assert (np.abs(z) < 2).mean() > 0.9  # the numbers of one seed are not independent
    assert np.abs(z).max() < t.isf(1e-3 / z.size / 2, 15)


@pytest.mark.parametrize("seed", range(5))
def test_bent_coordinates_lead_there_and_back(seed):
    rng = np.random.default_rng(seed)
    bend = Bend(rng.normal(size=3), *rng.exponential(size=(2, 3)))
    v = rng.normal(0, 3, (50, 3))
    np.testing.assert_allclose(bend.back(bend.there(v)), v, rtol=1e-9)
    slopes = (bend.there(v + 1e-6) - bend.there(v - 1e-6)) / 2e-6
    np.testing.assert_allclose(bend.log_slope(v), np.log(slopes).sum(1), atol=1e-5)


def test_a_seed_decides_all_numbers():
    one, other = (z_scores(gammas, 5) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def funnel(x):
    """Twenty normal variables of an unknown scale between e^-9 and e^9 (Neal 2003)."""
    scale, others = x[:, 0], x[:, 1:]
    with np.errstate(all="ignore"):
        square = (others**2 * np.exp(-scale)[:, None]).sum(1)
    return -(scale**2) / 18 - square / 2 - 10 * scale


def cauchy(x):
    """Six numbers of which no mean exists."""
    return -np.log1p(x**2).sum(1)


@pytest.mark.parametrize(("d", "logs"), [(21, funnel), (6, cauchy)])
def test_weights_of_which_few_decide_are_refused(d, logs):
    rng = np.random.default_rng(1)
    with pytest.raises(NotSettled, match="effective"):
        weighted(lambda x: (logs(x), x), rng.normal(0, 2, (200, d)), GOAL, 60.0, rng)


@pytest.mark.parametrize("case", [two_modes, gammas])
def test_draws_and_distribution_functions(case):
    logs, *_ = case()
    rng = np.random.default_rng(2)
    d = len(case()[2])
    result = weighted(lambda x: (logs(x), x), rng.normal(0, 3, (100 * d, d)), GOAL, 60.0, rng)
    draws = result.draws(2000, rng)
    table = result.table(0)
    u = np.sort(table.cdf(draws[:, 0]))
    gap = np.abs(u - (np.arange(2000) + 0.5) / 2000).max()
    assert gap < 1.95 / np.sqrt(2000)  # Kolmogorov: 0.1 %
    assert table.error < 3 * GOAL
    assert table.cdf(np.array([table.ppf(0.3)]))[0] == pytest.approx(0.3, abs=1e-6)


def test_what_takes_too_many_points_is_refused_at_once():
    with pytest.raises(
        NotSettled, match=r"points of 1,000 numbers each, .* seconds=\.\.\. gives it"
    ):
        weighted(gammas()[0], np.zeros((10, 6)), GOAL, 0.1, np.random.default_rng(1), cost=1000)
