"""More everyday models: regressions of every kind, slopes by group, items, sites, chains, curves.

All data are made by a seed of this file; see `table`.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.everyday.hand import (
    NODES,
    POSITIVE,
    REAL,
    UNIT,
    everyday,
    gamma,
    half_normal,
    normal,
    poisson,
    with_effects,
)
from tests.posteriors.everyday.table import CENTRES, negative_binomial
from tests.posteriors.everyday.table import MODELS as TABLE

RNG = np.random.default_rng(20261129)
X = np.column_stack([np.ones(100), RNG.normal(size=(100, 6))])

# --- regressions ----------------------------------------------------------------------------------

CALLS = RNG.poisson(np.exp(X @ [1.0, 0.4, -0.3, 0.2, 0.0, 0.1, -0.1]))


def poisson_density(w):
    return normal(w, 0, 1.5) + poisson(w @ X.T, CALLS).sum(1)


@everyday(poisson_density, w=(REAL, 7), width=100)
def poisson_regression_with_seven_coefficients():
    w = pm.Normal("w", 0, 1.5, shape=7)
    pm.Poisson("y", pm.math.exp(X @ w), observed=CALLS)


SPREAD = RNG.negative_binomial(1.5, 1.5 / (1.5 + np.exp(X[:, :5] @ [1.0, 0.5, -0.4, 0.2, 0.0])))


def spread_density(w, alpha):
    each = negative_binomial(w @ X[:, :5].T, alpha[:, None], SPREAD)
    return normal(w, 0, 1.5) + gamma(alpha, 2, 0.5) + each.sum(1)


@everyday(spread_density, w=(REAL, 5), alpha=POSITIVE, width=100)
def negative_binomial_regression_with_five_coefficients():
    w, alpha = pm.Normal("w", 0, 1.5, shape=5), pm.Gamma("alpha", 2, 0.5)
    pm.NegativeBinomial("y", mu=pm.math.exp(X[:, :5] @ w), alpha=alpha, observed=SPREAD)


OUTLYING = X[:, :4] @ [1.0, 0.5, -0.5, 0.0] + 0.5 * RNG.standard_t(3, size=100)


def robust_density(w, sigma, nu):
    mean, scale, df = w @ X[:, :4].T, sigma[:, None], nu[:, None]
    each = stats.t.logpdf(OUTLYING, df, mean, scale).sum(1)
    return normal(w, 0, 2) + half_normal(sigma) + gamma(nu, 2, 0.1) + each


@everyday(robust_density, w=(REAL, 4), sigma=POSITIVE, nu=POSITIVE, width=100)
def robust_regression():
    w, sigma = pm.Normal("w", 0, 2, shape=4), pm.HalfNormal("sigma", 1)
    nu = pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu=nu, mu=X[:, :4] @ w, sigma=sigma, observed=OUTLYING)


_SHARE = special.expit(X[:, :4] @ [0.3, 0.5, -0.4, 0.2])
SHARES = np.clip(RNG.beta(8 * _SHARE, 8 * (1 - _SHARE)), 1e-4, 1 - 1e-4)


def beta_density(w, size):
    mean, kappa = special.expit(w @ X[:, :4].T), size[:, None]
    each = stats.beta.logpdf(SHARES, mean * kappa, (1 - mean) * kappa).sum(1)
    return normal(w, 0, 2) + gamma(size, 2, 0.1) + each


@everyday(beta_density, w=(REAL, 4), size=POSITIVE, width=100)
def beta_regression():
    w, size = pm.Normal("w", 0, 2, shape=4), pm.Gamma("size", 2, 0.1)
    mean = pm.math.invlogit(X[:, :4] @ w)
    pm.Beta("y", alpha=mean * size, beta=(1 - mean) * size, observed=SHARES)


FISH = RNG.poisson(np.exp(X[:, :4] @ [1.0, 0.5, -0.4, 0.0])) * (RNG.random(100) < 0.7)


def zero_inflated_density(w, psi):
    log_rate = w @ X[:, :4].T
    each = np.log(psi)[:, None] + poisson(log_rate, FISH)
    each = np.where(FISH == 0, np.logaddexp(each, np.log1p(-psi)[:, None]), each)
    return normal(w, 0, 1.5) + each.sum(1)


@everyday(zero_inflated_density, w=(REAL, 4), psi=UNIT, width=100)
def zero_inflated_poisson_regression():
    w, psi = pm.Normal("w", 0, 1.5, shape=4), pm.Beta("psi", 1, 1)
    pm.ZeroInflatedPoisson("y", psi=psi, mu=pm.math.exp(X[:, :4] @ w), observed=FISH)


_LIVED = np.exp(X[:, :4] @ [1.0, 0.4, -0.3, 0.0]) * RNG.weibull(1.5, size=100)
ENDED = np.minimum(_LIVED, 4.0)
DIED = _LIVED < 4.0


def weibull_density(w, shape):
    log_scale, k = w @ X[:, :4].T, shape[:, None]
    log_ratio = np.log(ENDED) - log_scale
    hazard = np.log(k) + (k - 1) * log_ratio - log_scale
    return normal(w, 0, 2) + gamma(shape, 2, 1) + (DIED * hazard - np.exp(k * log_ratio)).sum(1)


@everyday(weibull_density, w=(REAL, 4), shape=POSITIVE, width=100)
def censored_weibull_survival():
    w, shape = pm.Normal("w", 0, 2, shape=4), pm.Gamma("shape", 2, 1)
    log_ratio = np.log(ENDED) - X[:, :4] @ w
    hazard = pt.log(shape) + (shape - 1) * log_ratio - X[:, :4] @ w
    pm.Potential("lives", (DIED * hazard - pt.exp(shape * log_ratio)).sum())


_LOGITS = np.column_stack([np.zeros(100), X[:, :3] @ [0.3, 0.8, 0.0], X[:, :3] @ [-0.2, 0.0, 0.7]])
PARTY = (_LOGITS + RNG.gumbel(size=(100, 3))).argmax(1)


def softmax_density(w):
    eta = np.stack([np.zeros((len(w), 100)), w[:, :3] @ X[:, :3].T, w[:, 3:] @ X[:, :3].T], -1)
    chosen = np.take_along_axis(eta, np.broadcast_to(PARTY[:, None], (len(w), 100, 1)), -1)
    return normal(w, 0, 2) + (chosen[..., 0] - special.logsumexp(eta, axis=-1)).sum(1)


@everyday(softmax_density, w=(REAL, 6), width=300)
def multinomial_logit_of_three_parties():
    w = pm.Normal("w", 0, 2, shape=6)
    eta = pt.stack([pt.zeros(100), X[:, :3] @ w[:3], X[:, :3] @ w[3:]], axis=1)
    pm.Categorical("y", logit_p=eta, observed=PARTY)


DOSES = np.repeat([0.0, 1.0, 3.0, 10.0, 30.0, 100.0], 5)
EFFECT = 1.0 + 6.0 * DOSES**1.2 / (DOSES**1.2 + 8.0**1.2) + 0.6 * RNG.normal(size=30)


def dose_density(base, top, half, hill, sigma):
    power = np.where(DOSES > 0, np.maximum(DOSES, 1e-300), 0.0) ** hill[:, None]
    mean = base[:, None] + top[:, None] * power / (power + half[:, None] ** hill[:, None])
    prior = normal(base, 0, 5) + normal(top, 5, 5) + gamma(hill, 4, 3) + half_normal(sigma)
    prior = prior + stats.lognorm.logpdf(half, 1.0, scale=np.exp(2.0))
    return prior + normal(EFFECT - mean, 0, sigma[:, None])


@everyday(dose_density, base=REAL, top=REAL, half=POSITIVE, hill=POSITIVE, sigma=POSITIVE, width=30)
def dose_and_response():
    base, top = pm.Normal("base", 0, 5), pm.Normal("top", 5, 5)
    half, hill = pm.LogNormal("half", 2, 1), pm.Gamma("hill", 4, 3)
    sigma = pm.HalfNormal("sigma", 1)
    power = DOSES**hill
    mean = base + top * power / (power + half**hill)
    pm.Normal("y", mean, sigma, observed=EFFECT)


# --- effects --------------------------------------------------------------------------------------

SCHOOL = np.repeat(np.arange(8), 12)
HOURS = RNG.normal(size=96)
_EFFECTS = RNG.normal(size=(2, 8))
PASSED = RNG.random(96) < special.expit(
    0.3 + 0.7 * _EFFECTS[0][SCHOOL] + (0.8 + 0.5 * _EFFECTS[1][SCHOOL]) * HOURS
)
_COARSE = NODES[::2]


def slopes_density(w, sigma):
    weight = stats.norm.logpdf(_COARSE) + np.log(_COARSE[1] - _COARSE[0])
    total = normal(w, 0, 2) + half_normal(sigma[:, 0]) + half_normal(sigma[:, 1])
    base = w[:, :1] + sigma[:, :1] * _COARSE
    slope = w[:, 1:] + sigma[:, 1:] * _COARSE
    for school in range(8):
        each = weight[:, None] + weight
        for i in np.flatnonzero(school == SCHOOL):
            eta = base[:, :, None] + slope[:, None] * HOURS[i]
            each = each - np.logaddexp(0, -eta if PASSED[i] else eta)
        total = total + special.logsumexp(each, axis=(1, 2))
    return total


@everyday(slopes_density, w=(REAL, 2), sigma=(POSITIVE, 2), width=6600, scramblings=11, df=3.0)
def random_intercepts_and_slopes_under_a_logit():
    w, sigma = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("sigma", 1, shape=2)
    base, slope = pm.Normal("base", shape=8), pm.Normal("slope", shape=8)
    at = w[0] + sigma[0] * base[SCHOOL] + (w[1] + sigma[1] * slope[SCHOOL]) * HOURS
    pm.Bernoulli("y", logit_p=at, observed=PASSED.astype(int))


PERSONS, QUESTIONS = 120, 5
_SHARP, _EASY = np.array([0.7, 1.0, 1.3, 1.0, 1.6]), np.array([0.8, -0.5, 0.2, 1.2, -1.0])
RIGHT = RNG.random((PERSONS, QUESTIONS)) < special.expit(
    _SHARP * RNG.normal(size=(PERSONS, 1)) + _EASY
)
RIGHT = RIGHT.astype(int)
KINDS, OFTEN = np.unique(RIGHT, axis=0, return_counts=True)


def two_parameters_density(sharp, easy):
    eta = easy[..., None] + sharp[..., None] * NODES
    none = -np.logaddexp(0, eta).sum(1)
    each = np.einsum("pk,nkq->npq", KINDS, eta) + none[:, None] + stats.norm.logpdf(NODES)
    inner = special.logsumexp(each, axis=-1) + np.log(NODES[1] - NODES[0])
    prior = normal(easy, 0, 2) + stats.lognorm.logpdf(sharp, 0.5).sum(1)
    return prior + inner @ OFTEN


@everyday(two_parameters_density, sharp=(POSITIVE, 5), easy=(REAL, 5), width=5000, scramblings=10)
def two_parameter_items():
    sharp = pm.LogNormal("sharp", 0, 0.5, shape=5)
    easy, ability = pm.Normal("easy", 0, 2, shape=5), pm.Normal("ability", shape=PERSONS)
    pm.Bernoulli("y", logit_p=easy + sharp * ability[:, None], observed=RIGHT)


FOREST = RNG.normal(size=40)
_THERE = RNG.random(40) < special.expit(0.4 + 0.9 * FOREST)
HEARD = RNG.binomial(4, 0.35, size=40) * _THERE


def occupancy_density(w, p):
    eta, found = w[:, :1] + w[:, 1:] * FOREST, p[:, None]
    there = -np.logaddexp(0, -eta) + stats.binom.logpmf(HEARD, 4, found)
    not_there = np.where(HEARD == 0, -np.logaddexp(0, eta), -np.inf)
    return normal(w, 0, 2) + np.logaddexp(there, not_there).sum(1)


@everyday(occupancy_density, w=(REAL, 2), p=UNIT, width=100)
def site_occupancy():
    w, p = pm.Normal("w", 0, 2, shape=2), pm.Beta("p", 1, 1)
    there = pm.Bernoulli("there", logit_p=w[0] + w[1] * FOREST, shape=40)
    pm.Binomial("y", 4, p * there, observed=HEARD)


_TRUE = RNG.normal(size=30)
MEASURED = _TRUE + 0.5 * RNG.normal(size=30)
CASES = RNG.poisson(np.exp(0.8 + 0.6 * _TRUE))


def measurement_density(w, tau):
    x = tau[:, None, None] * NODES
    each = poisson(w[:, :1, None] + w[:, 1:, None] * x, CASES[:, None])
    each = each + stats.norm.logpdf(MEASURED[:, None], x, 0.5)
    return normal(w, 0, 2) + half_normal(tau, 2.0) + with_effects(each)


@everyday(measurement_density, w=(REAL, 2), tau=POSITIVE, width=10000, scramblings=10)
def measurement_error_under_poisson_counts():
    w, tau = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("tau", 2)
    x = pm.Normal("x", 0, tau, shape=30)
    pm.Normal("measured", x, 0.5, observed=MEASURED)
    pm.Poisson("y", pm.math.exp(w[0] + w[1] * x), observed=CASES)


# --- series and mixtures --------------------------------------------------------------------------


def _volatile(n):
    h, y = 0.0, np.zeros(n)
    for t in range(n):
        h = 0.9 * h + 0.4 * RNG.normal()
        y[t] = np.exp(-0.5 + h / 2) * RNG.normal()
    return y


SHOCKS = _volatile(60)
_GRID = np.linspace(-5.5, 5.5, 70)  # in stationary standard deviations


def volatility_density(level, sigma, phi):
    kept = 2 * phi - 1  # between -1 and 1
    wide = sigma / np.sqrt(1 - kept**2)
    gap = (_GRID - kept[:, None, None] * _GRID[:, None]) / np.sqrt(1 - kept**2)[:, None, None]
    moves = np.exp(-0.5 * gap**2)
    moves /= moves.sum(-1, keepdims=True)
    law, total = stats.norm.pdf(_GRID) * (_GRID[1] - _GRID[0]), 0.0
    law = np.broadcast_to(law, (len(level), len(_GRID)))
    log_sd = (level[:, None] + wide[:, None] * _GRID) / 2
    for t, y in enumerate(SHOCKS):
        law = law if t == 0 else np.einsum("ni,nij->nj", law, moves)
        own = -0.5 * (y * np.exp(-log_sd)) ** 2 - log_sd - 0.5 * np.log(2 * np.pi)
        law = law * np.exp(own)
        size = law.sum(1)
        law, total = law / size[:, None], total + np.log(size)
    prior = normal(level, 0, 2) + half_normal(sigma) + stats.beta.logpdf(phi, 20, 1.5)
    return prior + total


@everyday(volatility_density, level=REAL, sigma=POSITIVE, phi=UNIT, width=5000, scramblings=11)
def stochastic_volatility():
    level, sigma = pm.Normal("level", 0, 2), pm.HalfNormal("sigma", 1)
    phi = pm.Beta("phi", 20, 1.5)
    kept = 2 * phi - 1
    first = pm.Normal.dist(0, sigma / pt.sqrt(1 - kept**2))
    h = pm.AR("h", rho=kept[None], sigma=sigma, init_dist=first, steps=59)
    pm.Normal("y", 0, pm.math.exp((level + h) / 2), observed=SHOCKS)


_REGIME = (np.arange(80) // 16) % 2
PRICES = np.where(_REGIME, 0.5, -0.5) + np.where(_REGIME, 0.3, 1.0) * RNG.normal(size=80)


def regimes_density(mean, sd, stay):
    own = stats.norm.logpdf(PRICES, mean[..., None], sd[..., None])
    to_first = np.stack([stay[:, 0], 1 - stay[:, 1]], 1)
    moves = np.log(np.stack([to_first, 1 - to_first], 2))
    forward = np.log(0.5) + own[..., 0]
    for t in range(1, len(PRICES)):
        forward = special.logsumexp(forward[..., None] + moves, axis=1) + own[..., t]
    # Wider, the labels may be exchanged: the reference knows one mode only.
    prior = normal(mean, np.array([-0.5, 0.5]), 0.2) + gamma(sd, 4, 6).sum(1)
    return prior + stats.beta.logpdf(stay, 9, 1).sum(1) + special.logsumexp(forward, axis=1)


@everyday(
    regimes_density, mean=(REAL, 2), sd=(POSITIVE, 2), stay=(UNIT, 2), width=500, scramblings=11
)
def hidden_regimes_with_six_unknown_numbers():
    mean = pm.Normal("mean", np.array([-0.5, 0.5]), 0.2)
    sd, stay = pm.Gamma("sd", 4, 6, shape=2), pm.Beta("stay", 9, 1, shape=2)
    state = pm.Bernoulli("state", 0.5, shape=80)
    kept = stay[state[:-1]]
    same = pt.eq(state[1:], state[:-1])
    pm.Potential("moves", pt.log(2 * pt.switch(same, kept, 1 - kept)).sum())
    pm.Normal("y", mean[state], sd[state], observed=PRICES)


FOUR = np.concatenate([RNG.normal(c, 0.9, 25) for c in CENTRES[:4]])


def four_density(mu, sigma, share):
    left = np.concatenate([np.ones((len(mu), 1)), np.cumprod(1 - share, 1)], 1)
    weight = left * np.concatenate([share, np.ones((len(mu), 1))], 1)
    each = np.log(weight)[..., None] + stats.norm.logpdf(FOUR, mu[..., None], sigma[..., None])
    prior = normal(mu, CENTRES[:4], 1.0) + gamma(sigma, 4, 4).sum(1)
    prior = prior + stats.beta.logpdf(share, 1, np.array([3, 2, 1])).sum(1)
    return prior + special.logsumexp(each, axis=1).sum(1)


@everyday(four_density, mu=(REAL, 4), sigma=(POSITIVE, 4), share=(UNIT, 3), width=400)
def mixture_of_four_normals_of_different_width():
    mu, sigma = pm.Normal("mu", CENTRES[:4], 1.0), pm.Gamma("sigma", 4, 4, shape=4)
    share = pm.Beta("share", 1.0, np.array([3.0, 2.0, 1.0]))
    left = pt.concatenate([pt.ones(1), pt.cumprod(1 - share)])
    weight = left * pt.concatenate([share, pt.ones(1)])
    pm.NormalMixture("y", weight, mu, sigma=sigma, observed=FOUR)


CELLS = RNG.integers(0, 6, (5, 60))
INDICATORS = (CELLS[..., None] == np.arange(6)).astype(float)
YIELDS = (INDICATORS @ RNG.normal(0, 0.7, 6)).sum(0) + RNG.normal(size=60)


def scales_density(scale):
    shared = INDICATORS @ INDICATORS.transpose(0, 2, 1)
    root = np.linalg.cholesky(np.eye(60) + np.einsum("ni,ijk->njk", scale**2, shared))
    whitened = np.linalg.solve(root, np.broadcast_to(YIELDS, root.shape[:2])[..., None])[..., 0]
    log_root = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
    return stats.norm.logpdf(whitened).sum(1) - log_root + normal(scale, 0, 1) + 5 * np.log(2)


@everyday(scales_density, scale=(POSITIVE, 5), width=10000, scramblings=11)
def effects_of_five_unknown_scales():
    scale = pm.HalfNormal("scale", 1, shape=5)
    effect = pm.Normal("effect", 0, scale[:, None], shape=(5, 6))
    pm.Normal("y", sum(effect[i][CELLS[i]] for i in range(5)), 1, observed=YIELDS)


MODELS = TABLE | {
    one.name: one
    for one in (
        poisson_regression_with_seven_coefficients,
        negative_binomial_regression_with_five_coefficients, robust_regression, beta_regression,
        zero_inflated_poisson_regression, censored_weibull_survival,
        multinomial_logit_of_three_parties, dose_and_response,
        random_intercepts_and_slopes_under_a_logit, two_parameter_items, site_occupancy,
        measurement_error_under_poisson_counts, stochastic_volatility,
        hidden_regimes_with_six_unknown_numbers, mixture_of_four_normals_of_different_width,
        effects_of_five_unknown_scales,
    )
}  # fmt: skip
