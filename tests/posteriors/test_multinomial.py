"""A latent Multinomial is finite: configurations that do not add up are impossible."""

from itertools import product

import numpy as np
import pymc as pm
import pytest
from scipy import special, stats

import bayesmodels as bm

RNG = 20261128
SHARES = [0.2, 0.3, 0.5]
Y = np.array([1.0, 2.0, 3.0])


def by_hand(total, log_density):
    """Return log evidence, means and standard deviations from all configurations."""
    every = np.array([n for n in product(range(total + 1), repeat=3) if sum(n) == total])
    logs = np.array([log_density(n) for n in every])
    weights = special.softmax(logs)
    mean = weights @ every
    return special.logsumexp(logs), mean, np.sqrt(weights @ (every - mean) ** 2)


def noisy():
    n = pm.Multinomial("n", 6, SHARES)
    pm.Normal("y", n, 1.0, observed=Y)


def noisy_of_unknown_shares():
    p = pm.Dirichlet("p", [1.0, 2.0, 1.0])
    n = pm.Multinomial("n", 6, p)
    pm.Normal("y", n, 1.0, observed=Y)


def rated():
    n = pm.Multinomial("n", 3, SHARES)
    rate = pm.Gamma("rate", 2, 1)
    pm.Poisson("y", rate * (n + 0.1), observed=[1, 2, 3])


def of_rates(n):
    c = n + 0.1  # counts are negative multinomial: the rate is integrated out
    y = np.array([1, 2, 3])
    logs = (y * np.log(c) - special.gammaln(y + 1)).sum() + special.gammaln(2 + y.sum())
    logs -= (2 + y.sum()) * np.log(1 + c.sum())
    return logs + stats.multinomial.logpmf(n, 3, SHARES)


def of_noise(n):
    return stats.norm.logpdf(Y, n).sum()


CASES = {
    noisy: (6, lambda n: stats.multinomial.logpmf(n, 6, SHARES) + of_noise(n)),
    noisy_of_unknown_shares: (
        6,
        lambda n: stats.dirichlet_multinomial.logpmf(n, [1, 2, 1], 6) + of_noise(n),
    ),
    rated: (3, of_rates),
}


@pytest.mark.parametrize("declare", CASES)
def test_counts_of_known_total_are_added_up(declare):
    log_evidence, mean, sd = by_hand(*CASES[declare])
    with pm.Model() as model:
        declare()
    try:
        posterior = bm.exact(model, rng=RNG)
    except bm.NotConjugate:
        posterior = bm.integrate(model, rng=RNG)
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-7)
    assert posterior.mean()["n"] == pytest.approx(mean, abs=1e-7)
    assert np.sqrt(posterior.var()["n"]) == pytest.approx(sd, abs=1e-7)
    draws = posterior.sample(2000, RNG)["n"]
    assert (draws.sum(1) == CASES[declare][0]).all()
    assert draws.mean(0) == pytest.approx(mean, abs=5 * sd.max() / 2000**0.5)
