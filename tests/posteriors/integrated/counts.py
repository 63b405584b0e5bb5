"""Counts in groups: rates and shares integrated out, their hyperparameters left.

Rats: Tarone (1982), 71 groups, and pumps: Gaver and O'Muircheartaigh (1987), both printed in
*Bayesian Data Analysis* and the BUGS book. Coal-mining disasters in Britain, 1851 to 1961: Jarrett
(1979). Waterbuck: Carroll and Lombard (1985). Facts of published tables.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import betaln, gammaln, logsumexp, xlogy

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, between
from tests.posteriors.integrated.row import row

TUMOURS = np.array(
    [0] * 14 + [1] * 8 + [2] * 9 + [1, 5, 2, 5, 3, 2, 7, 7, 3, 3, 2, 9, 10, 4, 4, 4, 4, 4, 4, 4]
    + [10, 4, 4, 4, 5, 11, 12, 5, 5, 6, 5, 6, 6, 6, 6, 16, 15, 15, 9, 4]
)  # fmt: skip
RATS = np.array(
    [20] * 7 + [19] * 4 + [18, 18, 17, 20, 20, 20, 20, 19, 19, 18, 18, 25, 24, 23]
    + [20] * 6 + [10, 49, 19, 46, 27, 17, 49, 47, 20, 20, 13, 48, 50] + [20] * 7
    + [48, 19, 19, 19, 22, 46, 49, 20, 20, 23, 19, 22, 20, 20, 20, 52, 46, 47, 24, 14]
)  # fmt: skip
FAILURES = np.array([5, 1, 5, 14, 3, 19, 1, 1, 4, 22])
HOURS = np.array([94.3, 15.7, 62.9, 126, 5.24, 31.4, 1.05, 1.05, 2.1, 10.5])
DISASTERS = np.array(
    [4, 5, 4, 0, 1, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4, 4, 1, 5, 5, 3, 4, 2, 5,
     2, 2, 3, 4, 2, 1, 3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 1, 0, 1, 1, 0, 0, 3, 1, 0, 3, 2, 2, 0, 1, 1,
     1, 0, 1, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 1, 1, 0, 2, 3, 3, 1, 1, 2, 1, 1, 1, 1, 2, 4, 2, 0, 0,
     1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]
)  # fmt: skip
BUCKS = np.array([53, 57, 66, 67, 72])
RNG = np.random.default_rng(20261127)
BALLOTS = RNG.multinomial(20, [0.5, 0.3, 0.2], 8) + RNG.integers(0, 5, (8, 3))
WAITS = np.round(RNG.gamma(3, 1 / RNG.gamma(2, 1, 6)[:, None], (6, 4)), 2)


def rats(a, b, name="theta"):
    """Return the log probability of the rats given the law of the shares, and the shares' law."""
    up = a[:, None] + TUMOURS
    down = b[:, None] + RATS - TUMOURS
    logs = laws.beta_binomial(TUMOURS, RATS, a[:, None], b[:, None]).sum(1)
    mean = up / (up + down)
    return logs, {name: (mean, mean * (1 - mean) / (up + down + 1))}


def _rats(a, b):
    logs, block = rats(a, b)
    return logs + laws.exponential(a, 0.2) + laws.exponential(b, 0.05), block


@row(_rats, a=POSITIVE, b=POSITIVE)
def tumours_of_rats():
    a = pm.Exponential("a", 0.2)
    b = pm.Exponential("b", 0.05)
    theta = pm.Beta("theta", a, b, shape=71)
    pm.Binomial("y", n=RATS, p=theta, observed=TUMOURS)


def _rats_mean(mean, size):
    logs, block = rats(mean * size, (1 - mean) * size)
    return logs + laws.half_cauchy(size, 20), block


@row(_rats_mean, own=True, without=("size",), mean=between(0, 1), size=POSITIVE)
def tumours_of_rats_by_mean_and_size():
    with pm.Model(coords={"group": np.arange(71)}) as model:
        number = pm.Data("number", RATS, dims="group")
        mean = pm.Uniform("mean", 0, 1)
        size = pm.HalfCauchy("size", 20)
        theta = pm.Beta("theta", alpha=mean * size, beta=(1 - mean) * size, dims="group")
        pm.Binomial("y", n=number, p=theta, observed=TUMOURS, dims="group")
    return model


def _rats_potential(a, b):
    logs, block = rats(a, b)
    return logs - 2.5 * np.log(a + b), block


@row(
    _rats_potential,
    proper=False,
    without=("a", "b"),
    a=POSITIVE,
    b=POSITIVE,
    start={"a": 2, "b": 14},
)
def tumours_of_rats_as_in_bda():
    a = pm.HalfFlat("a")
    b = pm.HalfFlat("b")
    pm.Potential("prior", -2.5 * pm.math.log(a + b))
    theta = pm.Beta("theta", a, b, shape=71)
    pm.Binomial("y", n=RATS, p=theta, observed=TUMOURS)


HITS, TIMES = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7]), 45


def _hits(phi, log_kappa):
    kappa = np.exp(log_kappa)
    a, b = (phi * kappa)[:, None], ((1 - phi) * kappa)[:, None]
    logs = laws.beta_binomial(HITS, TIMES, a, b).sum(1)
    mean = (a + HITS) / (kappa[:, None] + TIMES)
    var = mean * (1 - mean) / (kappa[:, None] + TIMES + 1)
    return logs + laws.exponential(log_kappa, 0.4), {"theta": (mean, var)}


@row(_hits, phi=between(0, 1), log_kappa=POSITIVE, start={"phi": 0.27, "log_kappa": 4})
def hits_of_eighteen_players():
    phi = pm.Uniform("phi", 0, 1)
    log_kappa = pm.Exponential("log_kappa", 0.4)
    kappa = pm.Deterministic("kappa", pt.exp(log_kappa))
    theta = pm.Beta("theta", alpha=phi * kappa, beta=(1 - phi) * kappa, shape=18)
    pm.Binomial("y", n=TIMES, p=theta, observed=HITS)


def _pumps(shape, rate):
    a, b = shape[:, None], rate[:, None]
    logs = laws.gamma_poisson(FAILURES, HOURS, a, b).sum(1)
    block = {"theta": ((a + FAILURES) / (b + HOURS), (a + FAILURES) / (b + HOURS) ** 2)}
    return logs + laws.exponential(shape, 1) + laws.gamma(rate, 0.1, 1), block


@row(_pumps, shape=POSITIVE, rate=POSITIVE)
def failures_of_pumps():
    shape = pm.Exponential("shape", 1)
    rate = pm.Gamma("rate", 0.1, 1)
    theta = pm.Gamma("theta", shape, rate, shape=10)
    pm.Poisson("y", theta * HOURS, observed=FAILURES)


def _pumps_mean(mean, cv):
    a = 1 / cv[:, None] ** 2
    b = a / mean[:, None]
    logs = laws.gamma_poisson(FAILURES, HOURS, a, b).sum(1)
    block = {f"theta_{i}": ((a + f) / (b + t), (a + f) / (b + t) ** 2)
             for i, (f, t) in enumerate(zip(FAILURES, HOURS, strict=True))}  # fmt: skip
    block = {name: (m[:, 0], v[:, 0]) for name, (m, v) in block.items()}
    return logs + laws.half_normal(mean, 2) + laws.half_normal(cv, 1), block


@row(_pumps_mean, mean=POSITIVE, cv=POSITIVE)
def failures_of_pumps_in_a_loop():
    mean = pm.HalfNormal("mean", 2)
    cv = pm.HalfNormal("cv", 1)
    for i in range(10):
        theta = pm.Gamma(f"theta_{i}", mu=mean, sigma=mean * cv)
        pm.Poisson(f"y_{i}", theta * HOURS[i], observed=FAILURES[i])


def _log_pumps(mu, sigma):
    # Overdispersed counts by negative-binomial rows of mean exp(mu) t and size 1 / sigma
    mean = np.exp(mu)[:, None] * HOURS
    logs = laws.negative_binomial(FAILURES, mean, 1 / sigma[:, None]).sum(1)
    return logs + laws.normal(mu, 0, 2) + laws.half_normal(sigma, 2)


@row(_log_pumps, mu=REAL, sigma=POSITIVE)
def failures_of_pumps_with_negative_binomial_rows():
    mu = pm.Normal("mu", 0, 2)
    sigma = pm.HalfNormal("sigma", 2)
    pm.NegativeBinomial("y", mu=pm.math.exp(mu) * HOURS, alpha=1 / sigma, observed=FAILURES)


YEARS = np.arange(len(DISASTERS))
SEEN = np.cumsum(DISASTERS)
BASE = gammaln(DISASTERS + 1).sum()


def _changed(shape, rate, where):
    """Return log probabilities (points, places) of the change, and the laws of both rates."""
    n, k = np.stack([where, len(YEARS) - where]), SEEN[where - 1]
    k = np.stack([k, SEEN[-1] - k])[:, None]
    a, b = shape[..., None] + k, rate[..., None] + n[:, None]
    logs = gammaln(a) - gammaln(shape)[..., None] + xlogy(shape, rate)[..., None] - a * np.log(b)
    logs = logs.sum(0) - BASE - np.log(len(where))
    total = logsumexp(logs, 1)
    share = np.exp(logs - total[:, None])
    mean = (share * a / b).sum(2)
    var = (share * a * (a + 1) / b**2).sum(2) - mean**2
    when = (share * where).sum(1)
    return total, (mean, var), (when, (share * where**2).sum(1) - when**2)


def _coal(b):
    where = np.arange(1, 112)
    logs, (mean, var), when = _changed(np.full((2, len(b)), 2.0), np.stack([b, b]), where)
    block = {"rate": (mean.T, var.T), "change": when}
    return logs + laws.gamma(b, 1, 1), block


@row(_coal, rows=600, b=POSITIVE)
def coal_mining_rates_with_a_hyperparameter():
    b = pm.Gamma("b", 1, 1)
    rate = pm.Gamma("rate", 2, b, shape=2)
    change = pm.DiscreteUniform("change", 1, 111)
    pm.Poisson("disasters", pm.math.switch(change > YEARS, rate[0], rate[1]), observed=DISASTERS)


def _coal_two(shape, scale):
    where = np.arange(30, 60)
    rate = 1 / scale
    logs, (mean, var), when = _changed(np.stack([shape, shape]), np.stack([rate, rate]), where)
    block = {"early": (mean[0], var[0]), "late": (mean[1], var[1]), "change": when}
    return logs + laws.half_normal(shape, 5) + laws.inverse_gamma(scale, 4, 2), block


@row(_coal_two, rows=300, shape=POSITIVE, scale=POSITIVE)
def coal_mining_rates_with_two_hyperparameters():
    shape = pm.HalfNormal("shape", 5)
    scale = pm.InverseGamma("scale", 4, 2)
    early = pm.Gamma("early", shape, 1 / scale)
    late = pm.Gamma("late", shape, 1 / scale)
    change = pm.DiscreteUniform("change", 30, 59)
    mean = pm.math.where(change > YEARS, early, late)
    pm.Poisson("disasters", mean, observed=DISASTERS)


def _log_linear(a, b):
    eta = a[:, None] + b[:, None] * (YEARS - 55.5) / 56
    logs = laws.poisson(DISASTERS, np.exp(eta)).sum(1)
    return logs + laws.normal(a, 0, 2) + laws.normal(b, 0, 2)


@row(_log_linear, a=REAL, b=REAL)
def coal_mining_rates_that_decline():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 2)
    pm.Poisson("disasters", mu=pm.math.exp(a + b * (YEARS - 55.5) / 56), observed=DISASTERS)


NUMBERS = np.arange(72, 301)


def _summed(logs, numbers):
    total = logsumexp(logs, 1)
    share = np.exp(logs - total[:, None])
    mean = (share * numbers).sum(1)
    return total, (mean, (share * numbers**2).sum(1) - mean**2)


def _bucks(eta):
    n, k = NUMBERS[None, :, None], BUCKS
    every = laws.choose(n, k).sum(-1)
    logs = every + BUCKS.sum() * -np.logaddexp(0, -eta)[:, None]
    logs = logs - (5 * NUMBERS - BUCKS.sum()) * np.logaddexp(0, eta)[:, None]
    logs, law = _summed(logs - np.log(len(NUMBERS)), NUMBERS)
    return logs + laws.normal(eta, 0, 1), {"N": law}


@row(_bucks, rows=1500, eta=REAL)
def number_of_waterbuck():
    eta = pm.Normal("eta", 0, 1)
    N = pm.DiscreteUniform("N", 72, 300)
    pm.Binomial("seen", n=N, p=pm.math.sigmoid(eta), observed=BUCKS)


CAUGHT, AGAIN = np.array([32, 28, 35]), np.array([0, 9, 14])
MARKED = np.cumsum(CAUGHT - AGAIN) - (CAUGHT - AGAIN)
ALL = int((CAUGHT - AGAIN).sum())
SIZES = np.arange(ALL, 301)


def _capture(p, spread):
    # p is the mean of the chances of capture, Beta(p spread, (1 - p) spread) at each occasion
    a, b = (p * spread)[:, None, None], ((1 - p) * spread)[:, None, None]
    n = SIZES[:, None] - MARKED
    known = laws.choose(n, CAUGHT - AGAIN) + laws.choose(MARKED, AGAIN)
    chances = betaln(a + CAUGHT, b + SIZES[:, None] - CAUGHT) - betaln(a, b)
    logs, law = _summed((known + chances).sum(-1) - np.log(len(SIZES)), SIZES)
    return logs + laws.beta(p, 2, 2) + laws.half_normal(spread, 10), {"N": law}


@row(_capture, rows=900, p=between(0, 1), spread=POSITIVE)
def capture_and_recapture_on_three_occasions():
    p = pm.Beta("p", 2, 2)
    spread = pm.HalfNormal("spread", 10)
    N = pm.DiscreteUniform("N", ALL, 300)
    chance = pm.Beta("chance", p * spread, (1 - p) * spread, shape=3)
    for t in range(3):
        new = CAUGHT[t] - AGAIN[t]
        pm.Binomial(f"new_{t}", n=N - MARKED[t], p=chance[t], observed=new)
        if t:
            pm.Binomial(f"again_{t}", n=MARKED[t], p=chance[t], observed=AGAIN[t])


def _ballots(size):
    a = size[:, None, None] / 3
    n = BALLOTS.sum(1)
    logs = (gammaln(a + BALLOTS) - gammaln(a)).sum(2)
    logs = logs + gammaln(size)[:, None] - gammaln(size[:, None] + n)
    logs = logs + gammaln(n + 1) - gammaln(BALLOTS + 1).sum(1)
    mean = (a + BALLOTS) / (size[:, None] + n)[..., None]
    var = mean * (1 - mean) / (size[:, None] + n + 1)[..., None]
    return logs.sum(1) + laws.half_normal(size, 20), {"share": (mean, var)}


@row(_ballots, size=POSITIVE)
def ballots_with_an_unknown_concentration():
    size = pm.HalfNormal("size", 20)
    share = pm.Dirichlet("share", a=size * np.ones(3) / 3, shape=(8, 3))
    pm.Multinomial("ballots", n=BALLOTS.sum(1), p=share, observed=BALLOTS)


def _waits(shape, rate):
    a, b = shape[:, None], rate[:, None]
    total = WAITS.sum(1)
    logs = gammaln(a + 12) - gammaln(a) + a * np.log(b) - (a + 12) * np.log(b + total)
    logs = logs.sum(1) + 2 * np.log(WAITS).sum() - WAITS.size * gammaln(3)
    block = {"speed": ((a + 12) / (b + total), (a + 12) / (b + total) ** 2)}
    return logs + laws.exponential(shape, 0.5) + laws.exponential(rate, 0.5), block


@row(_waits, shape=POSITIVE, rate=POSITIVE)
def speeds_of_six_servers():
    shape = pm.Exponential("shape", 0.5)
    rate = pm.Exponential("rate", 0.5)
    speed = pm.Gamma("speed", shape, rate, shape=6)
    pm.Gamma("wait", 3, speed[:, None], observed=WAITS)
