"""Effects that are alone given a few shared scalars, integrated on nodes of their own.

References are sums and quadratures of densities written by hand.
"""

from itertools import pairwise

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import integrate, stats
from scipy.special import betaln, gammaln, log_expit, logsumexp

import bayesmodels as bm
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.posteriors.budget import UNLIMITED
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.continuous_marginal import SETTLED
from bayesmodels.posteriors.partial import eliminated

pytestmark = pytest.mark.usefixtures("slow_clock")
GRID = np.linspace(-13, 13, 6001)
COARSE = GRID[::15]
COUNTS = np.array([0, 3, 1, 12, 0, 5, 2])


def groups():
    """Return groups of rows and successes: one empty, one of one row, two of successes only."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(12), [0, 1, *[12] * 10])
    y = rng.random(len(group)) < 1 / (1 + np.exp(-rng.normal(0.5, 1, 12)[group]))
    y[(group == 3) | (group == 4)] = True
    return group, y.astype(int)


def intercepts(group, y, number=12):
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        a = pm.Normal("a", mu, tau, shape=number)
        pm.Bernoulli("y", logit_p=a[group], observed=y)
    return model


def log_likelihood(group, y, mu, tau, grid=GRID, number=12):
    """Return the log likelihood of random intercepts on a fine grid of each."""
    a = mu + tau * grid
    result = 0.0
    for j in range(number):
        ones, zeros = (y[group == j] == 1).sum(), (y[group == j] == 0).sum()
        each = stats.norm.logpdf(grid) + ones * log_expit(a) + zeros * log_expit(-a)
        result += logsumexp(each) + np.log(grid[1] - grid[0])
    return result


def part_of(model):
    rng = np.random.default_rng(1)
    return eliminated(Conditionals(model, UNLIMITED), rng)


def test_the_log_likelihood_is_right_wherever_shared_scalars_are():
    group, y = groups()
    part = part_of(intercepts(group, y))
    assert part.integrated == ("a",)
    rng = np.random.default_rng(2)
    tau = np.abs(rng.normal(size=40)) * np.repeat([1, 10, 1e-3, 1e-7], 10)
    mu = rng.normal(size=40) * 2
    fit = part._marginal.fitted({"mu": mu, "tau": tau}, 40)
    expected = [log_likelihood(group, y, *pair) for pair in zip(mu, tau, strict=True)]
    known = np.isfinite(fit.total)
    assert known[:30].all()
    assert np.abs(fit.total - expected)[known].max() < 2 * SETTLED
    # What is known of a row does not depend on the others.
    alone = part._marginal.fitted({"mu": mu[7:8], "tau": tau[7:8]}, 1)
    assert alone.total == pytest.approx(fit.total[7], abs=1e-12)


def test_without_shared_scalars():
    with pm.Model() as model:
        rate = pm.LogNormal("rate", 0.5, 1.0, shape=7)
        pm.Poisson("y", rate, observed=COUNTS)
    posterior = bm.integrate(model, rng=1)
    assert posterior.integrated == ("rate",)
    assert posterior.explain().startswith("Given the rest, rate eliminated on")
    assert posterior.explain().endswith("Log evidence known to 1e-08.")
    z = np.linspace(-9, 9, 200_001)
    low, high = posterior.interval(0.9)["rate"]
    low_off, high_off = posterior.interval_errors(0.9)["rate"]
    log_evidence = 0.0
    for j, k in enumerate(COUNTS):
        logs = stats.norm.logpdf(z, 0.5, 1) + stats.poisson.logpmf(k, np.exp(z))
        total = logsumexp(logs)
        log_evidence += total + np.log(z[1] - z[0])
        p = np.exp(logs - total)
        mean = p @ np.exp(z)
        sd = np.sqrt(p @ (np.exp(z) - mean) ** 2)
        below = np.cumsum(p) - p / 2
        errors = posterior.errors
        assert abs(posterior.mean()["rate"][j] - mean) <= 2 * errors["mean"]["rate"][j]
        assert abs(np.sqrt(posterior.var()["rate"][j]) - sd) <= 2 * errors["sd"]["rate"][j]
        for q, end, off in ((0.05, low, low_off), (0.95, high, high_off)):
            assert abs(end[j] - np.exp(np.interp(q, below, z))) <= 2 * off[j] + 1e-8
    assert abs(posterior.log_evidence - log_evidence) <= 2 * posterior.errors["log_evidence"]
    draws = posterior.sample(4000, rng=1)["rate"]
    gap = (draws.mean(0) - posterior.mean()["rate"]) / np.sqrt(posterior.var()["rate"] / 4000)
    assert np.abs(gap).max() < 4
    for j in range(len(COUNTS)):
        assert (
            stats.kstest(draws[:, j], posterior.marginals()["rate"].entry((j,)).cdf).pvalue > 1e-3
        )
    with pytest.raises(DataError, match="eliminated"):
        posterior.leave_one_out()


@pytest.mark.slow
def test_heavy_tails_and_an_effect_without_data():
    with pm.Model() as model:
        tau = pm.HalfCauchy("tau", 1)
        e = pm.StudentT("e", nu=3, mu=0, sigma=tau, shape=8)
        pm.Poisson("y", pm.math.exp(1 + e[:7]), observed=COUNTS)
    part = part_of(model)
    tau = np.array([1e-3, 0.3, 1.0, 4.0, 20.0])
    logs = part._marginal.fitted({"tau": tau}, 5).total
    for scale, log in zip(tau, logs, strict=True):
        expected = 0.0
        for k in COUNTS:

            def density(e, k=k, scale=scale):
                e = min(e, 600.0)
                return np.exp(stats.t.logpdf(e, 3, 0, scale) + k * (1 + e) - np.exp(1 + e))

            ends = [-np.inf, -10 * scale, -scale, 0, min(scale, 5), 8]
            pieces = pairwise(ends)
            value = sum(integrate.quad(density, a, b, epsrel=1e-12, epsabs=0)[0] for a, b in pieces)
            expected += np.log(value) - gammaln(k + 1)
        assert abs(log - expected) < 1e-7


def test_supports_with_two_ends():
    hits = np.array([0, 4, 9, 2])
    with pm.Model() as model:
        b = pm.Exponential("b", 1)
        p = pm.Beta("p", 0.5, b, shape=4)
        pm.Binomial("y", 9, 1 - (1 - p) ** 2, observed=hits)
    part = part_of(model)
    assert part.integrated == ("p",)
    b = np.array([0.2, 1.0, 6.0])
    logs = part._marginal.fitted({"b": b}, 3).total
    z = np.linspace(-150, 150, 300_001)
    p, q = 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(z))
    for shape, log in zip(b, logs, strict=True):
        prior = 0.5 * np.log(p) + shape * np.log(q) - betaln(0.5, shape)
        expected = sum(
            logsumexp(prior + stats.binom.logpmf(k, 9, p * (1 + q))) + np.log(z[1] - z[0])
            for k in hits
        )
        assert abs(log - expected) < 1e-7


@pytest.mark.parametrize("axis", [0, -1])
def test_sums_of_two_densities_meet_element_by_element(axis):
    caught = np.array([0, 2, 5, 0, 1])
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 1)
        animal = pm.Normal("animal", mean, 1.5, shape=5)
        pm.ZeroInflatedBinomial("y", psi=0.7, n=5, p=pm.math.invlogit(animal), observed=caught)
        pair = pt.stack([-(animal**2) / 8, pt.zeros(5)], axis=axis)
        pm.Potential("pair", pt.logsumexp(pair, axis=axis).sum())
        pm.Potential("softly", pt.logaddexp(animal, 0.0).sum())
    part = part_of(model)
    assert part.integrated == ("animal",)
    mean = np.array([-1.0, 0.5])
    logs = part._marginal.fitted({"mean": mean}, 2).total
    for m, log in zip(mean, logs, strict=True):
        a = m + 1.5 * GRID
        expected = 0.0
        for k in caught:
            none = np.log(0.3) if k == 0 else -np.inf
            seen = np.log(0.7) + stats.binom.logpmf(k, 5, 1 / (1 + np.exp(-a)))
            each = np.logaddexp(none, seen) + np.logaddexp(-(a**2) / 8, 0) + np.logaddexp(a, 0)
            expected += logsumexp(stats.norm.logpdf(GRID) + each) + np.log(GRID[1] - GRID[0])
        assert abs(log - expected) < 2 * SETTLED


def test_elements_are_known_as_well_as_the_tolerance_asks_for():
    group, y = groups()
    marginal = part_of(intercepts(group, y))._marginal
    rng = np.random.default_rng(4)
    rest = {"mu": rng.normal(size=30) * 2, "tau": np.abs(rng.normal(size=30))}
    expected = [log_likelihood(group, y, *pair) for pair in zip(*rest.values(), strict=True)]
    exact = marginal.fitted(rest, 30)
    marginal.within(1e-3)
    fit = marginal.fitted(rest, 30)
    assert np.abs(fit.total - expected).max() < 2e-5
    assert (fit.number <= exact.number).all()
    with marginal.roughly():
        assert np.abs(marginal.logs(rest, 30) - expected).max() < 2e-2
    assert marginal.fitted(rest, 30).total == pytest.approx(fit.total, abs=0)


def test_elements_whose_densities_bend_are_refused_by_name_or_known_less_well():
    rows = np.array([0.3, -1.0, 2.0, 0.1, 0.9])
    with pm.Model() as alone:
        e = pm.Normal("e", 0, 1, shape=5)
        pm.Laplace("y", e, 0.7, observed=rows)
    with pytest.raises(NotConjugate, match="over e has not settled"):
        bm.integrate(alone, rng=1)
    with pm.Model() as shared:
        mu = pm.Normal("mu", 0, 2)
        e = pm.Normal("e", mu, 1, shape=5)
        pm.Laplace("y", e, 0.7, observed=rows)
    found = bm.integrate(shared, rng=1, tolerance=0.05)
    mu = GRID[::20, None]
    expected = stats.norm.logpdf(mu[:, 0], 0, 2)
    for y in rows:
        each = stats.norm.logpdf(GRID, mu) + stats.laplace.logpdf(y, GRID, 0.7)
        expected += logsumexp(each, axis=1) + np.log(GRID[1] - GRID[0])
    total = logsumexp(expected) + np.log(mu[1, 0] - mu[0, 0])
    assert found.log_evidence == pytest.approx(total, abs=found.errors["log_evidence"])
    assert found.errors["log_evidence"] <= 0.05


def test_two_places_are_refused():
    squares = np.array([4.0, 9.0, 1.0, 16.0, 0.5])
    with pm.Model() as model:
        e = pm.Normal("e", 0.5, 3, shape=5)
        pm.Normal("y", e**2, 0.05, observed=squares)
        pm.Normal("z", e[0] ** 2, 0.05, observed=4.1)
    with pytest.raises(NotConjugate, match="mass in several places"):
        bm.integrate(model, rng=1)


@pytest.mark.slow
def test_random_intercepts():
    group, y = groups()
    posterior = bm.integrate(intercepts(group, y), rng=1, tolerance=1e-4)
    assert posterior.remaining == ("mu", "tau")
    mu, log_tau = np.linspace(-6, 8, 71), np.linspace(-16, 2.2, 92)
    logs = np.array(
        [
            [
                log_likelihood(group, y, m, np.exp(t), COARSE)
                + stats.norm.logpdf(m, 0, 2)
                + stats.halfnorm.logpdf(np.exp(t))
                + t
                for t in log_tau
            ]
            for m in mu
        ]
    )
    cell = np.log((mu[1] - mu[0]) * (log_tau[1] - log_tau[0]))
    total = logsumexp(logs)
    p = np.exp(logs - total)
    errors = posterior.errors
    assert abs(posterior.log_evidence - total - cell) <= 2 * errors["log_evidence"] + 1e-6
    mean = p.sum(1) @ mu
    assert abs(posterior.mean()["mu"] - mean) <= 2 * errors["mean"]["mu"] + 1e-6
    # A group without data is as far from the mean as the prior says, given the shared scalars.
    variance = p.sum(0) @ np.exp(2 * log_tau) + p.sum(1) @ (mu - mean) ** 2
    assert abs(posterior.var()["a"][0] - variance) < 1e-5
    assert abs(posterior.mean()["a"][0] - mean) <= 2 * errors["mean"]["a"][0] + 1e-6
