"""Everyday series: walks and chains under counts, hidden states, volatility, growth.

All data are made by a seed of this file; see `table`. Of a walk the density by hand goes forward on
a fine grid of states.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.everyday.hand import (
    POSITIVE,
    REAL,
    UNIT,
    binomial,
    everyday,
    gamma,
    half_normal,
    normal,
    poisson,
)
from tests.posteriors.everyday.table import negative_binomial

RNG = np.random.default_rng(20261202)


def exp_of(x):
    """Return exp, in NumPy or in PyTensor."""
    return pt.exp(x) if hasattr(x, "owner") else np.exp(x)


# --- walks ----------------------------------------------------------------------------------------


def filtered(first, moves, own):
    """Return log evidence of a chain on a grid.

    Of log weights (n, i) of the first state, weights (n, i, j) of moves, and log likelihoods of the
    states by time (n, i), one after the other.
    """
    law, total = np.exp(first), 0.0
    for t, each in enumerate(own):
        law = law if t == 0 else np.einsum("ni,nij->nj", law, moves)
        top = each.max(1, keepdims=True)
        law = law * np.exp(each - top)
        size = law.sum(1)
        law, total = law / size[:, None], total + np.log(size) + top[:, 0]
    return total


def steps(grid, mean, sd):
    """Return probabilities of normal steps from all points of a grid to all others."""
    weight = np.exp(-0.5 * ((grid - mean) / sd[:, None, None]) ** 2)
    return weight / np.maximum(weight.sum(-1, keepdims=True), 1e-300)


TIMES = np.arange(24)
_WALK = 1.0 + np.cumsum(0.35 * RNG.normal(size=24))
VISITS = RNG.poisson(np.exp(_WALK))
GRID = np.linspace(-10, 6, 240)


def walk_density(sigma, drift):
    mean = GRID[:, None] + drift[:, None, None]
    first = np.broadcast_to(np.log(GRID[1] - GRID[0]) + stats.norm.logpdf(GRID, 1, 1), (1, 240))
    own = (poisson(GRID, y)[None] for y in VISITS)
    return (
        gamma(sigma, 6, 15) + normal(drift, 0, 0.2) + filtered(first, steps(GRID, mean, sigma), own)
    )


@everyday(walk_density, sigma=POSITIVE, drift=REAL, width=58000, scramblings=8)
def walk_under_poisson_counts():
    sigma, drift = pm.Gamma("sigma", 6, 15), pm.Normal("drift", 0, 0.2)
    first = pm.Normal.dist(1, 1)
    h = pm.GaussianRandomWalk("h", mu=drift, sigma=sigma, init_dist=first, steps=23)
    pm.Poisson("y", pm.math.exp(h), observed=VISITS)


_LOGIT = -0.5 + np.cumsum(0.4 * RNG.normal(size=24))
WINS = RNG.binomial(8, special.expit(_LOGIT))
LOGITS = np.linspace(-7, 7, 160)


def form_density(sigma):
    first = np.broadcast_to(np.log(LOGITS[1] - LOGITS[0]) + stats.norm.logpdf(LOGITS), (1, 160))
    own = (binomial(LOGITS, y, 8)[None] for y in WINS)
    moves = steps(LOGITS, LOGITS[:, None], sigma)
    return gamma(sigma, 6, 12) + filtered(first, moves, own)


@everyday(form_density, sigma=POSITIVE, width=26000, scramblings=7)
def form_of_a_team_as_a_walk():
    sigma, first = pm.Gamma("sigma", 6, 12), pm.Normal("first")
    step = pm.Normal("step", 0, sigma, shape=23)
    walk = pt.concatenate([first[None], first + pt.cumsum(step)])
    pm.Binomial("y", 8, logit_p=walk, observed=WINS)


def _autoregression(n, kept, sd):
    h = np.zeros(n)
    h[0] = sd / np.sqrt(1 - kept**2) * RNG.normal()
    for t in range(1, n):
        h[t] = kept * h[t - 1] + sd * RNG.normal()
    return h


SEASON = np.cos(2 * np.pi * TIMES / 12)
CASES = RNG.poisson(np.exp(1.5 + 0.5 * SEASON + _autoregression(24, 0.7, 0.4)))
HIDDEN = np.linspace(-4, 4, 120)


def cases_density(w, sigma, kept):
    wide = sigma / np.sqrt(1 - kept**2)
    first = -0.5 * (HIDDEN / wide[:, None]) ** 2 - 0.5 * np.log(2 * np.pi)
    first = first - np.log(wide)[:, None] + np.log(HIDDEN[1] - HIDDEN[0])
    moves = steps(HIDDEN, kept[:, None, None] * HIDDEN[:, None], sigma)
    line = w[:, :1] + w[:, 1:] * SEASON
    own = (poisson(line[:, t, None] + HIDDEN, CASES[t]) for t in range(24))
    prior = normal(w, 0, 2) + gamma(sigma, 6, 15) + stats.beta.logpdf(kept, 4, 2)
    return prior + filtered(first, moves, own)


@everyday(cases_density, w=(REAL, 2), sigma=POSITIVE, kept=UNIT, width=15000, scramblings=8)
def seasonal_counts_with_an_autoregression():
    w, sigma = pm.Normal("w", 0, 2, shape=2), pm.Gamma("sigma", 6, 15)
    kept = pm.Beta("kept", 4, 2)
    first = pm.Normal.dist(0, sigma / pt.sqrt(1 - kept**2))
    h = pm.AR("h", rho=kept[None], sigma=sigma, init_dist=first, steps=23)
    pm.Poisson("y", pm.math.exp(w[0] + w[1] * SEASON + h), observed=CASES)


LEVEL = np.cumsum(0.4 * RNG.normal(size=24)) + 0.3 * RNG.standard_t(3, size=24)
PLACES = np.linspace(-6, 6, 160)


def level_density(sigma, scale, nu):
    first = np.broadcast_to(np.log(PLACES[1] - PLACES[0]) + stats.norm.logpdf(PLACES), (1, 160))
    moves = steps(PLACES, PLACES[:, None], sigma)
    own = (stats.t.logpdf(y, nu[:, None], PLACES, scale[:, None]) for y in LEVEL)
    prior = gamma(sigma, 6, 15) + gamma(scale, 6, 15) + gamma(nu, 4, 1)
    return prior + filtered(first, moves, own)


@everyday(level_density, sigma=POSITIVE, scale=POSITIVE, nu=POSITIVE, width=26000, scramblings=8)
def local_level_with_outliers():
    sigma, scale = pm.Gamma("sigma", 6, 15), pm.Gamma("scale", 6, 15)
    nu = pm.Gamma("nu", 4, 1)
    h = pm.GaussianRandomWalk("h", sigma=sigma, init_dist=pm.Normal.dist(0, 1), steps=23)
    pm.StudentT("y", nu=nu, mu=h, sigma=scale, observed=LEVEL)


_LOG_VARIANCE = -1.0 + np.cumsum(0.4 * RNG.normal(size=30))
RETURNS = 0.1 + np.exp(_LOG_VARIANCE / 2) * RNG.normal(size=30)
VOLATILE = np.linspace(-8, 7, 160)


def volatile_density(mean, sigma):
    first = stats.norm.logpdf(VOLATILE, -1, 1) + np.log(VOLATILE[1] - VOLATILE[0])
    first = np.broadcast_to(first, (1, 160))
    sd = np.exp(VOLATILE / 2)
    own = (stats.norm.logpdf(y - mean[:, None], 0, sd) for y in RETURNS)
    moves = steps(VOLATILE, VOLATILE[:, None], sigma)
    return normal(mean) + gamma(sigma, 6, 12) + filtered(first, moves, own)


@everyday(volatile_density, mean=REAL, sigma=POSITIVE, width=26000, scramblings=8)
def volatility_as_a_walk():
    mean, sigma = pm.Normal("mean"), pm.Gamma("sigma", 6, 12)
    h = pm.GaussianRandomWalk("h", sigma=sigma, init_dist=pm.Normal.dist(-1, 1), steps=29)
    pm.Normal("y", mean, pm.math.exp(h / 2), observed=RETURNS)


# --- hidden states --------------------------------------------------------------------------------

STATES = (np.arange(60) // 15) % 2
EVENTS = RNG.poisson(np.array([1.5, 6.0])[STATES])


def chain(start, moves, own):
    """Return log evidence of a chain of few states: logs (n, i), (n, i, j) and (n, t, i)."""
    forward = start + own[:, 0]
    for t in range(1, own.shape[1]):
        forward = special.logsumexp(forward[..., None] + moves, axis=1) + own[:, t]
    return special.logsumexp(forward, axis=1)


def events_density(w, stay):
    # A trend beside the two levels: five numbers.
    eta = w[:, None, :2] + w[:, 2, None, None] * np.linspace(-1, 1, 60)[:, None]
    to_first = np.stack([stay[:, 0], 1 - stay[:, 1]], 1)
    moves = np.log(np.stack([to_first, 1 - to_first], 2))
    prior = normal(w, np.array([0.4, 1.8, 0.0]), 0.3) + stats.beta.logpdf(stay, 9, 1).sum(1)
    return prior + chain(np.log(0.5), moves, poisson(eta, EVENTS[:, None]))


@everyday(events_density, w=(REAL, 3), stay=(UNIT, 2), width=300, scramblings=12)
def hidden_chain_of_counts_with_a_trend():
    w = pm.Normal("w", np.array([0.4, 1.8, 0.0]), 0.3, shape=3)
    stay, state = pm.Beta("stay", 9, 1, shape=2), pm.Bernoulli("state", 0.5, shape=60)
    kept = stay[state[:-1]]
    same = pt.eq(state[1:], state[:-1])
    pm.Potential("moves", pt.log(2 * pt.switch(same, kept, 1 - kept)).sum())
    eta = w[:2][state] + w[2] * np.linspace(-1, 1, 60)
    pm.Poisson("y", pm.math.exp(eta), observed=EVENTS)


_THREE = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
SIGNAL = np.array([-2.0, 0.0, 2.5])[_THREE] + 0.5 * RNG.normal(size=26)


def signal_density(mean, sigma, stay):
    own = stats.norm.logpdf(SIGNAL[:, None], mean[:, None], sigma[:, None, None])
    gone = (1 - stay) / 2
    moves = np.log(np.eye(3) * (stay - gone)[:, :, None] + gone[:, :, None])
    prior = normal(mean, np.array([-2.0, 0.0, 2.0]), 0.5) + half_normal(sigma)
    prior = prior + stats.beta.logpdf(stay, 6, 2).sum(1)
    return prior + chain(np.log(1 / 3), moves, own)


@everyday(signal_density, mean=(REAL, 3), sigma=POSITIVE, stay=(UNIT, 3), width=400, scramblings=12)
def hidden_chain_of_three_states():
    mean = pm.Normal("mean", np.array([-2.0, 0.0, 2.0]), 0.5, shape=3)
    sigma, stay = pm.HalfNormal("sigma", 1), pm.Beta("stay", 6, 2, shape=3)
    gone = (1 - stay) / 2
    moves = pt.eye(3) * (stay - gone)[:, None] + gone[:, None]
    state = pm.Categorical("state_0", np.ones(3) / 3)
    pm.Normal("y_0", mean[state], sigma, observed=SIGNAL[0])
    for t in range(1, 26):
        state = pm.Categorical(f"state_{t}", moves[state])
        pm.Normal(f"y_{t}", mean[state], sigma, observed=SIGNAL[t])


# Ponds over four summers: newts settle, die out, and are seen in some of three visits.
_NEWTS = np.zeros((20, 4), dtype=int)
_NEWTS[:, 0] = RNG.random(20) < 0.6
for _t in range(3):
    _NEWTS[:, _t + 1] = RNG.random(20) < np.where(_NEWTS[:, _t], 0.8, 0.25)
SIZE = RNG.normal(size=20)
SEEN = RNG.binomial(3, 0.5, size=(20, 4)) * _NEWTS


def ponds_density(w, settle, stay, p):
    here = np.log(p)[:, None, None] * SEEN + np.log1p(-p)[:, None, None] * (3 - SEEN)
    here = here + np.log(special.binom(3, SEEN))
    none = np.where(SEEN == 0, 0.0, -np.inf)
    eta = w[:, :1] + w[:, 1:] * SIZE
    there, absent = -np.logaddexp(0, -eta) + here[..., 0], -np.logaddexp(0, eta) + none[:, 0]
    go, come = (np.log(x)[:, None] for x in (1 - stay, settle))
    keep, out = (np.log(x)[:, None] for x in (stay, 1 - settle))
    for t in range(1, 4):
        there, absent = (
            np.logaddexp(there + keep, absent + come) + here[..., t],
            np.logaddexp(there + go, absent + out) + none[:, t],
        )
    return normal(w, 0, 1.5) + np.logaddexp(there, absent).sum(1)


@everyday(ponds_density, w=(REAL, 2), settle=UNIT, stay=UNIT, p=UNIT, width=200)
def ponds_over_four_summers():
    w, p = pm.Normal("w", 0, 1.5, shape=2), pm.Beta("p", 1, 1)
    settle, stay = pm.Beta("settle", 1, 1), pm.Beta("stay", 1, 1)
    there = pm.Bernoulli("there_0", logit_p=w[0] + w[1] * SIZE, shape=20)
    pm.Binomial("y_0", 3, p * there, observed=SEEN[:, 0])
    for t in range(1, 4):
        moved = stay * there + settle * (1 - there)
        there = pm.Bernoulli(f"there_{t}", moved, shape=20)
        pm.Binomial(f"y_{t}", 3, p * there, observed=SEEN[:, t])


# --- mixtures -------------------------------------------------------------------------------------

CALLS = RNG.poisson(np.repeat([1.0, 7.0, 20.0], [30, 30, 20]))


def calls_density(rate, share):
    weight = np.log(np.stack([share[:, 0], (1 - share[:, 0]) * share[:, 1]], 1))
    last = np.log1p(-share).sum(1)[:, None]
    weight = np.concatenate([weight, last], 1)
    each = weight[..., None] + stats.poisson.logpmf(CALLS, rate[..., None])
    prior = stats.gamma.logpdf(rate, [2, 14, 40], scale=0.5).sum(1)
    prior = prior + stats.beta.logpdf(share, 1, np.array([2, 1])).sum(1)
    return prior + special.logsumexp(each, axis=1).sum(1)


@everyday(calls_density, rate=(POSITIVE, 3), share=(UNIT, 2), width=400, scramblings=11)
def mixture_of_three_poissons():
    rate = pm.Gamma("rate", np.array([2.0, 14.0, 40.0]), 2.0, shape=3)
    share = pm.Beta("share", 1.0, np.array([2.0, 1.0]))
    left = 1 - share[0]
    weight = pt.stack([share[0], left * share[1], left * (1 - share[1])])
    pm.Mixture("y", weight, pm.Poisson.dist(rate), observed=CALLS)


LASTED = np.concatenate([RNG.exponential(0.3, 40), RNG.exponential(2.0, 40), np.full(5, 8.0)])
CUT = LASTED >= 8.0


def lasted_density(rate, share):
    weight = np.log(np.stack([share[:, 0], np.maximum(1 - share.sum(1), 1e-300)], 1))
    weight = np.concatenate([weight, np.log(share[:, 1:])], 1)
    each = np.where(CUT, 0.0, np.log(rate)[..., None]) - rate[..., None] * LASTED
    prior = stats.lognorm.logpdf(rate, 0.5, scale=np.array([0.1, 0.6, 4.0])).sum(1)
    inside = np.where(share.sum(1) < 1, np.log(2), -np.inf)
    return prior + inside + special.logsumexp(weight[..., None] + each, axis=1).sum(1)


@everyday(lasted_density, rate=(POSITIVE, 3), share=(UNIT, 2), width=400)
def mixture_of_three_exponentials():
    centre = np.log(np.array([0.1, 0.6, 4.0]))
    rate = pm.LogNormal("rate", centre, 0.5, shape=3)
    share = pm.Uniform("share", 0, 1, shape=2)
    left = 1 - share.sum()
    pm.Potential("inside", pt.switch(left > 0, np.log(2.0), -np.inf))
    weight = pt.stack([share[0], pt.maximum(left, 1e-300), share[1]])
    each = pt.switch(CUT[:, None], 0.0, pt.log(rate)) - rate * LASTED[:, None]
    pm.Potential("y", pt.logsumexp(pt.log(weight) + each, axis=1).sum())


DOSE = RNG.uniform(-1, 1, size=60)
REPLY = np.where(RNG.random(60) < 0.4, -1.0 - 1.5 * DOSE, 1.0 + 1.5 * DOSE)
REPLY = REPLY + 0.4 * RNG.normal(size=60)


def replies_density(base, slope, sigma, share):
    mean = base[..., None] + slope[..., None] * DOSE
    weight = np.log(np.stack([share, 1 - share], 1))
    each = weight[..., None] + stats.norm.logpdf(REPLY, mean, sigma[:, None, None])
    prior = normal(base, np.array([-1, 1]), 0.5) + normal(slope, 0, 2) + half_normal(sigma)
    return prior + special.logsumexp(each, axis=1).sum(1)


@everyday(replies_density, base=(REAL, 2), slope=(REAL, 2), sigma=POSITIVE, share=UNIT, width=300)
def mixture_of_two_lines():
    base = pm.Normal("base", np.array([-1.0, 1.0]), 0.5, shape=2)
    slope, sigma = pm.Normal("slope", 0, 2, shape=2), pm.HalfNormal("sigma", 1)
    share = pm.Beta("share", 1, 1)
    kind = pm.Bernoulli("kind", 1 - share, shape=60)
    pm.Normal("y", base[kind] + slope[kind] * DOSE, sigma, observed=REPLY)


# --- volatility and counts that follow their past -------------------------------------------------


def _garch(n):
    y, variance = np.zeros(n), 1.0
    for t in range(n):
        y[t] = 0.1 + np.sqrt(0.6 * variance) * RNG.standard_t(5)
        variance = 0.2 + 0.25 * (y[t] - 0.1) ** 2 + 0.6 * variance
    return y


HEAVY = _garch(80)


def heavy_density(mean, floor, shock, kept, nu):
    variance, total = np.ones_like(mean), 0.0
    for y in HEAVY:
        total = total + stats.t.logpdf(y, nu, mean, np.sqrt(variance))
        variance = floor + (1 - kept) * shock * (y - mean) ** 2 + kept * variance
    return (
        normal(mean)
        + gamma(floor, 2, 5)
        + stats.beta.logpdf(kept, 3, 2)
        + gamma(nu, 4, 0.5)
        + total
    )


@everyday(heavy_density, mean=REAL, floor=POSITIVE, shock=UNIT, kept=UNIT, nu=POSITIVE, width=10)
def garch_with_student_noise():
    mean, floor = pm.Normal("mean"), pm.Gamma("floor", 2, 5)
    shock, kept, nu = pm.Uniform("shock"), pm.Beta("kept", 3, 2), pm.Gamma("nu", 4, 0.5)
    variances = [pt.constant(1.0)]
    for y in HEAVY[:-1]:
        news = (1 - kept) * shock * (y - mean) ** 2
        variances.append(floor + news + kept * variances[-1])
    sd = pt.sqrt(pt.stack(variances))
    pm.StudentT("y", nu=nu, mu=mean, sigma=sd, observed=HEAVY)


def _orders(n):
    y, rate = np.zeros(n, dtype=int), 4.0
    for t in range(n):
        y[t] = RNG.negative_binomial(5, 5 / (5 + rate))
        rate = 1.0 + 0.4 * y[t] + 0.4 * rate
    return y


ORDERS = _orders(60)


def orders_density(floor, shock, kept, trend, alpha):
    rate, total = np.full_like(floor, 4.0), 0.0
    for t, y in enumerate(ORDERS):
        total = total + negative_binomial(np.log(rate) + trend * t / 60, alpha, y)
        rate = floor + (1 - kept) * shock * y + kept * rate
    return gamma(floor, 2, 2) + normal(trend, 0, 0.5) + gamma(alpha, 2, 0.2) + total


@everyday(
    orders_density, floor=POSITIVE, shock=UNIT, kept=UNIT, trend=REAL, alpha=POSITIVE, width=10
)
def orders_that_follow_their_past():
    floor, shock, kept = pm.Gamma("floor", 2, 2), pm.Uniform("shock"), pm.Uniform("kept")
    trend, alpha = pm.Normal("trend", 0, 0.5), pm.Gamma("alpha", 2, 0.2)
    rates = [pt.constant(4.0)]
    for y in ORDERS[:-1]:
        rates.append(floor + (1 - kept) * shock * y + kept * rates[-1])
    mean = pt.stack(rates) * pt.exp(trend * np.arange(60) / 60)
    pm.NegativeBinomial("y", mu=mean, alpha=alpha, observed=ORDERS)


def _arma(n):
    y, before, news = np.zeros(n), 0.0, 0.0
    for t in range(n):
        shock = 0.6 * RNG.standard_t(5)
        y[t] = 0.2 + 0.6 * before + 0.4 * news + shock
        before, news = y[t], shock
    return y


RIVER = _arma(60)


def river_density(base, phi, theta, sigma, nu):
    before, news, total = np.zeros_like(base), np.zeros_like(base), 0.0
    for y in RIVER:
        news = y - base - (2 * phi - 1) * before - (2 * theta - 1) * news
        total = total + stats.t.logpdf(news, nu, 0, sigma)
        before = y
    prior = normal(base) + stats.beta.logpdf(phi, 2, 2) + stats.beta.logpdf(theta, 2, 2)
    return prior + half_normal(sigma) + gamma(nu, 4, 0.5) + total


@everyday(river_density, base=REAL, phi=UNIT, theta=UNIT, sigma=POSITIVE, nu=POSITIVE, width=10)
def moving_average_and_autoregression():
    base, phi, theta = pm.Normal("base"), pm.Beta("phi", 2, 2), pm.Beta("theta", 2, 2)
    sigma, nu = pm.HalfNormal("sigma", 1), pm.Gamma("nu", 4, 0.5)
    before, news, total = 0.0, 0.0, 0.0
    for y in RIVER:
        news = y - base - (2 * phi - 1) * before - (2 * theta - 1) * news
        total = total + pm.logp(pm.StudentT.dist(nu=nu, mu=0, sigma=sigma), news)
        before = y
    pm.Potential("y", total)


# --- growth ---------------------------------------------------------------------------------------


DAYS = np.linspace(0, 20, 25)


def grown(base, height, rate, middle, skew):
    """Return a logistic curve of five parameters."""
    return base + height / (1 + exp_of(-rate * (DAYS - middle))) ** skew


PLANTS = grown(1.0, 8.0, 0.6, 9.0, 1.5) + 0.3 * RNG.normal(size=25)


def plants_density(base, height, rate, middle, skew, sigma):
    mean = grown(*(x[:, None] for x in (base, height, rate, middle, skew)))
    prior = normal(base, 1, 1) + normal(height, 8, 2) + gamma(rate, 4, 8) + normal(middle, 10, 3)
    prior = prior + stats.lognorm.logpdf(skew, 0.5) + half_normal(sigma)
    return prior + normal(PLANTS - mean, 0, sigma[:, None])


@everyday(
    plants_density, base=REAL, height=REAL, rate=POSITIVE, middle=REAL, skew=POSITIVE,
    sigma=POSITIVE, width=30,
)  # fmt: skip
def logistic_growth_with_five_parameters():
    base, height = pm.Normal("base", 1, 1), pm.Normal("height", 8, 2)
    rate, middle = pm.Gamma("rate", 4, 8), pm.Normal("middle", 10, 3)
    skew, sigma = pm.LogNormal("skew", 0, 0.5), pm.HalfNormal("sigma", 1)
    pm.Normal("y", grown(base, height, rate, middle, skew), sigma, observed=PLANTS)


AGES = np.arange(30.0, 90.0, 4.0)
EXPOSED = np.round(5000 * np.exp(-(((AGES - 30) / 60) ** 2)))
_HAZARD = 2e-3 + 1e-3 * np.exp(0.09 * (AGES - 30))
DEATHS = RNG.poisson(EXPOSED[:, None] * _HAZARD[:, None] * np.array([1.0, 0.7]))


def deaths_density(floor, level, slope, women, alpha):
    log_age = level[:, None] + slope[:, None] * (AGES - 60) / 10
    rate = np.exp(log_age[..., None] + women[:, None, None] * np.array([0, 1]))
    rate = rate + floor[:, None, None] * 1e-3
    each = negative_binomial(np.log(EXPOSED[:, None] * rate), alpha[:, None, None], DEATHS)
    prior = gamma(floor, 2, 1) + normal(level, -4, 1) + normal(slope, 1, 0.5) + normal(women)
    return prior + gamma(alpha, 2, 0.02) + each.sum((1, 2))


@everyday(
    deaths_density, floor=POSITIVE, level=REAL, slope=REAL, women=REAL, alpha=POSITIVE, width=60
)
def gompertz_and_makeham_mortality():
    floor, level = pm.Gamma("floor", 2, 1), pm.Normal("level", -4, 1)
    slope, women = pm.Normal("slope", 1, 0.5), pm.Normal("women")
    alpha, old = pm.Gamma("alpha", 2, 0.02), (AGES[:, None] - 60) / 10
    rate = floor * 1e-3 + pt.exp(level + slope * old + women * np.array([[0.0, 1.0]]))
    pm.NegativeBinomial("y", mu=EXPOSED[:, None] * rate, alpha=alpha, observed=DEATHS)


SERIES = {
    one.name: one
    for one in (
        walk_under_poisson_counts, form_of_a_team_as_a_walk,
        seasonal_counts_with_an_autoregression, local_level_with_outliers, volatility_as_a_walk,
        hidden_chain_of_counts_with_a_trend, hidden_chain_of_three_states,
        ponds_over_four_summers, mixture_of_three_poissons, mixture_of_three_exponentials,
        mixture_of_two_lines, garch_with_student_noise, orders_that_follow_their_past,
        moving_average_and_autoregression,
        logistic_growth_with_five_parameters, gompertz_and_makeham_mortality,
    )
}  # fmt: skip
