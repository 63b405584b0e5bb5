"""Everyday models of groups, persons and sites: an effect each, under every likelihood.

All data are made by a seed of this file; see `table`.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.everyday.hand import (
    FEW,
    NODES,
    POSITIVE,
    REAL,
    UNIT,
    binomial,
    everyday,
    gamma,
    half_normal,
    normal,
    poisson,
    with_effects,
)

RNG = np.random.default_rng(20261130)
GROUP = np.repeat(np.arange(10), 6)
X = RNG.normal(size=60)
LINE = 0.3 + 0.7 * X + 0.8 * RNG.normal(size=10)[GROUP]


def lines(w, sigma):
    """Return what depends on a covariate and on an effect of the group, at a few nodes."""
    return (w[:, :1] + w[:, 1:] * X)[..., None] + sigma[:, None, None] * FEW


def by_group(each):
    """Integrate effects out of the log likelihood of ten groups of six."""
    return with_effects(each.reshape(len(each), 10, 6, -1).sum(2))


def scattered():
    """Return two coefficients, the scale of ten effects, and the line."""
    w, sigma = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("sigma", 1)
    group = pm.Normal("group", shape=10)
    return w, sigma, w[0] + w[1] * X + sigma * group[GROUP]


# --- random intercepts ----------------------------------------------------------------------------

BOUGHT = (LINE + RNG.normal(size=60) > 0).astype(int)


def probit_density(w, sigma):
    inner = by_group(special.log_ndtr(lines(w, sigma) * (2 * BOUGHT - 1)[:, None]))
    return normal(w, 0, 2) + half_normal(sigma) + inner


@everyday(probit_density, w=(REAL, 2), sigma=POSITIVE, width=5000, scramblings=9)
def random_intercepts_under_a_probit():
    _, _, line = scattered()
    pm.Bernoulli("y", p=pm.math.invprobit(line), observed=BOUGHT)


LITTERS = RNG.integers(4, 12, 14)
DRUG = np.column_stack([np.ones(14), np.repeat([0.0, 1.0], 7), RNG.normal(size=14)])
_RATE = np.exp(DRUG @ [-1.0, 0.8, 0.3] + 0.6 * RNG.normal(size=14))
AFFECTED = RNG.binomial(LITTERS, -np.expm1(-_RATE))


def litters_density(w, sigma):
    rate = np.exp((w @ DRUG.T)[..., None] + sigma[:, None, None] * FEW)
    y, n = AFFECTED[:, None], LITTERS[:, None]
    each = np.where(y > 0, y * np.log(-np.expm1(-rate)), 0) - (n - y) * rate
    each = each + np.log(special.binom(n, y))
    return normal(w, 0, 2) + half_normal(sigma) + with_effects(each)


@everyday(litters_density, w=(REAL, 3), sigma=POSITIVE, width=1200, scramblings=11)
def random_intercepts_under_a_cloglog():
    w, sigma = pm.Normal("w", 0, 2, shape=3), pm.HalfNormal("sigma", 1)
    litter = pm.Normal("litter", shape=14)
    p = -pm.math.expm1(-pm.math.exp(DRUG @ w + sigma * litter))
    pm.Binomial("y", LITTERS, p, observed=AFFECTED)


WAITS = RNG.gamma(3.0, np.exp(LINE) / 3.0)


def waits_density(w, sigma, shape):
    a, rate = shape[:, None, None], shape[:, None, None] * np.exp(-lines(w, sigma))
    y = WAITS[:, None]
    each = a * np.log(rate) - special.gammaln(a) + (a - 1) * np.log(y) - rate * y
    return normal(w, 0, 2) + half_normal(sigma) + gamma(shape, 2, 0.5) + by_group(each)


@everyday(waits_density, w=(REAL, 2), sigma=POSITIVE, shape=POSITIVE, width=5000, scramblings=9)
def random_intercepts_of_gamma_waits():
    _, _, line = scattered()
    shape = pm.Gamma("shape", 2, 0.5)
    pm.Gamma("y", shape, shape / pm.math.exp(line), observed=WAITS)


RATED = ((LINE + RNG.logistic(size=60))[:, None] > np.array([-0.8, 0.4, 1.6])).sum(1)


def rated_density(slope, sigma, first, gap):
    w = np.stack([0 * slope, slope], 1)
    cut = np.concatenate([first[:, None], first[:, None] + np.cumsum(gap, 1)], 1)
    ends = np.pad(cut, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    eta = lines(w, sigma)
    upper, lower = ends[:, RATED + 1, None] - eta, ends[:, RATED, None] - eta
    inner = by_group(np.log(special.expit(upper) - special.expit(lower)))
    return normal(slope, 0, 2) + half_normal(sigma) + normal(first, 0, 3) - gap.sum(1) + inner


@everyday(
    rated_density, slope=REAL, sigma=POSITIVE, first=REAL, gap=(POSITIVE, 2),
    width=5000, scramblings=13,
)  # fmt: skip
def ratings_of_ten_judges():
    slope, sigma = pm.Normal("slope", 0, 2), pm.HalfNormal("sigma", 1)
    judge, first = pm.Normal("judge", shape=10), pm.Normal("first", 0, 3)
    gap = pm.Exponential("gap", 1, shape=2)
    cut = pt.concatenate([first[None], first + pt.cumsum(gap)])
    pm.OrderedLogistic("y", eta=slope * X + sigma * judge[GROUP], cutpoints=cut, observed=RATED)


TRIALS = RNG.integers(5, 20, 60)
_CHANCE = special.expit(LINE)
HITS = RNG.binomial(TRIALS, RNG.beta(6 * _CHANCE, 6 * (1 - _CHANCE)))


def hits_density(w, sigma, size):
    p, n, y = special.expit(lines(w, sigma)), TRIALS[:, None], HITS[:, None]
    a = p * size[:, None, None]
    b = size[:, None, None] - a
    each = special.betaln(y + a, n - y + b) - special.betaln(a, b) + np.log(special.binom(n, y))
    return normal(w, 0, 2) + half_normal(sigma) + gamma(size, 2, 0.2) + by_group(each)


@everyday(hits_density, w=(REAL, 2), sigma=POSITIVE, size=POSITIVE, width=5000, scramblings=8)
def random_intercepts_under_a_beta_binomial():
    _, _, line = scattered()
    size, p = pm.Gamma("size", 2, 0.2), pm.math.invlogit(line)
    pm.BetaBinomial("y", n=TRIALS, alpha=p * size, beta=(1 - p) * size, observed=HITS)


ROUGH = LINE + 0.4 * RNG.standard_t(3, size=60)


def rough_density(w, sigma, scale, nu):
    df, sd = nu[:, None, None], scale[:, None, None]
    gap = (ROUGH[:, None] - lines(w, sigma)) / sd
    each = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(np.pi * df)
    each = each - np.log(sd) - (df + 1) / 2 * np.log1p(gap**2 / df)
    prior = normal(w, 0, 2) + half_normal(sigma) + half_normal(scale) + gamma(nu, 2, 0.1)
    return prior + by_group(each)


@everyday(
    rough_density, w=(REAL, 2), sigma=POSITIVE, scale=POSITIVE, nu=POSITIVE,
    width=5000, scramblings=12,
)  # fmt: skip
def random_intercepts_with_student_noise():
    _, _, line = scattered()
    scale, nu = pm.HalfNormal("scale", 1), pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu=nu, mu=line, sigma=scale, observed=ROUGH)


_LIVES = np.exp(LINE) * RNG.weibull(1.4, size=60)
ENDED, DIED = np.minimum(_LIVES, 5.0), _LIVES < 5.0


def frailty_density(w, sigma, shape):
    k, log_scale = shape[:, None, None], lines(w, sigma)
    log_ratio = np.log(ENDED)[:, None] - log_scale
    hazard = np.log(k) + (k - 1) * log_ratio - log_scale
    inner = by_group(DIED[:, None] * hazard - np.exp(k * log_ratio))
    return normal(w, 0, 2) + half_normal(sigma) + gamma(shape, 2, 1) + inner


@everyday(frailty_density, w=(REAL, 2), sigma=POSITIVE, shape=POSITIVE, width=5000, scramblings=9)
def weibull_survival_with_frailty():
    _, _, line = scattered()
    shape = pm.Gamma("shape", 2, 1)
    log_ratio = np.log(ENDED) - line
    hazard = pt.log(shape) + (shape - 1) * log_ratio - line
    pm.Potential("lives", (DIED * hazard - pt.exp(shape * log_ratio)).sum())


CENSORED = np.minimum(np.exp(LINE + 0.6 * RNG.normal(size=60)), 3.0)


def censored_density(w, sigma, noise):
    z = (np.log(CENSORED)[:, None] - lines(w, sigma)) / noise[:, None, None]
    seen = -0.5 * z**2 - np.log(noise)[:, None, None] - 0.5 * np.log(2 * np.pi)
    seen = seen - np.log(CENSORED)[:, None]
    each = np.where((CENSORED < 3)[:, None], seen, special.log_ndtr(-z))
    return normal(w, 0, 2) + half_normal(sigma) + half_normal(noise) + by_group(each)


@everyday(censored_density, w=(REAL, 2), sigma=POSITIVE, noise=POSITIVE, width=5000, scramblings=9)
def censored_lognormal_survival_with_frailty():
    _, _, line = scattered()
    lives = pm.LogNormal.dist(line, pm.HalfNormal("noise", 1))
    pm.Censored("y", lives, lower=None, upper=3.0, observed=CENSORED)


ROWS, COLUMNS = (x.ravel() for x in np.mgrid[:4, :6])
WON = RNG.binomial(
    4, special.expit(0.4 + 0.8 * RNG.normal(size=4)[ROWS] + 0.7 * RNG.normal(size=6)[COLUMNS])
)


def crossed_density(mean, sigma, row):
    eta = (mean + sigma[:, 0] * row.T).T[..., None, None] + sigma[:, 1, None, None, None] * FEW
    each = binomial(eta, WON.reshape(4, 6, 1), 4).sum(1)
    prior = normal(mean, 0, 2) + normal(row)
    return prior + half_normal(sigma[:, 0]) + half_normal(sigma[:, 1]) + with_effects(each)


@everyday(
    crossed_density, mean=REAL, sigma=(POSITIVE, 2), row=(REAL, 4), width=2000, scramblings=11
)
def crossed_effects_under_a_logit():
    mean, sigma = pm.Normal("mean", 0, 2), pm.HalfNormal("sigma", 1, shape=2)
    row, column = pm.Normal("row", shape=4), pm.Normal("column", shape=6)
    eta = mean + sigma[0] * row[ROWS] + sigma[1] * column[COLUMNS]
    pm.Binomial("y", 4, logit_p=eta, observed=WON)


_COUNTRY, _PRODUCT = RNG.normal(size=8), np.exp(0.4 * RNG.normal(size=5))
SOLD = RNG.poisson(np.exp(1.2 + 0.8 * _COUNTRY[:, None] * _PRODUCT))


def product_density(base, column):
    eta = base[:, None, None, None] + column[:, None, :, None] * NODES
    inner = with_effects(poisson(eta, SOLD[..., None]).sum(2))
    return normal(base, 0, 2) + stats.lognorm.logpdf(column, 0.5).sum(1) + inner


@everyday(product_density, base=REAL, column=(POSITIVE, 5), width=7000, scramblings=10)
def rows_times_columns_under_poisson_counts():
    base, row = pm.Normal("base", 0, 2), pm.Normal("row", shape=8)
    column = pm.LogNormal("column", 0, 0.5, shape=5)
    pm.Poisson("y", pm.math.exp(base + row[:, None] * column), observed=SOLD)


# --- curves by group ------------------------------------------------------------------------------

AMOUNT = np.tile([0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0], 6)
LABORATORY = np.repeat(np.arange(6), 7)
VELOCITY = np.exp(1.5 + 0.3 * RNG.normal(size=6))[LABORATORY] * AMOUNT / (2.0 + AMOUNT)
VELOCITY = VELOCITY + 0.3 * RNG.normal(size=42)


def enzymes_density(top, spread, half, sigma):
    most = np.exp(top[:, None, None] + spread[:, None, None] * NODES)
    share = (AMOUNT / (half[:, None] + AMOUNT))[..., None]
    gap = (VELOCITY[:, None] - most * share) / sigma[:, None, None]
    each = -0.5 * gap**2 - np.log(sigma)[:, None, None] - 0.5 * np.log(2 * np.pi)
    prior = normal(top, 1, 1) + half_normal(spread) + half_normal(sigma) + gamma(half, 2, 1)
    return prior + with_effects(each.reshape(len(top), 6, 7, -1).sum(2))


@everyday(
    enzymes_density, top=REAL, spread=POSITIVE, half=POSITIVE, sigma=POSITIVE,
    width=7000, scramblings=9,
)  # fmt: skip
def michaelis_and_menten_in_six_laboratories():
    top, spread = pm.Normal("top", 1, 1), pm.HalfNormal("spread", 1)
    half, sigma = pm.Gamma("half", 2, 1), pm.HalfNormal("sigma", 1)
    laboratory = pm.Normal("laboratory", shape=6)
    most = pm.math.exp(top + spread * laboratory[LABORATORY])
    pm.Normal("y", most * AMOUNT / (half + AMOUNT), sigma, observed=VELOCITY)


DELAY = np.array([1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 36.0, 48.0])
NOW, LATER = 5.0, 10.0
_IMPATIENT = np.exp(-2.0 + 0.8 * RNG.normal(size=(12, 1)))
_WORTH = LATER / (1 + _IMPATIENT * DELAY) - NOW
WAITED = (RNG.random((12, 8)) < special.expit(1.2 * _WORTH)).astype(int)


def discounting_density(mean, spread, sharp):
    k = np.exp(mean[:, None, None, None] + spread[:, None, None, None] * FEW)
    eta = sharp[:, None, None, None] * (LATER / (1 + k * DELAY[:, None]) - NOW)
    inner = with_effects(binomial(eta, WAITED[..., None], 1).sum(2))
    return normal(mean, -2, 1) + half_normal(spread) + gamma(sharp, 2, 2) + inner


@everyday(
    discounting_density, mean=REAL, spread=POSITIVE, sharp=POSITIVE, width=8000, scramblings=12
)
def later_rewards_of_twelve_persons():
    mean, spread = pm.Normal("mean", -2, 1), pm.HalfNormal("spread", 1)
    sharp, person = pm.Gamma("sharp", 2, 2), pm.Normal("person", shape=12)
    k = pm.math.exp(mean + spread * person)[:, None]
    pm.Bernoulli("y", logit_p=sharp * (LATER / (1 + k * DELAY) - NOW), observed=WAITED)


# --- items ----------------------------------------------------------------------------------------

_EASY = np.linspace(-1.5, 1.5, 20)
ANSWERS = (RNG.random((60, 20)) < special.expit(_EASY + RNG.normal(size=(60, 1)))).astype(int)


def twenty_density(easy, sigma):
    ability = sigma[:, None] * FEW
    none = sum(-np.logaddexp(0, easy[:, j, None] + ability) for j in range(20))
    score = np.arange(21)
    at = score[:, None] * ability[:, None] + none[:, None] + stats.norm.logpdf(FEW)
    by_score = special.logsumexp(at, axis=-1) + np.log(FEW[1] - FEW[0])
    inner = by_score @ np.bincount(ANSWERS.sum(1), minlength=21) + easy @ ANSWERS.sum(0)
    return normal(easy, 0, 2) + half_normal(sigma) + inner


@everyday(twenty_density, easy=(REAL, 20), sigma=POSITIVE, width=2000, scramblings=11)
def twenty_items():
    easy, sigma = pm.Normal("easy", 0, 2, shape=20), pm.HalfNormal("sigma", 1)
    ability = pm.Normal("ability", shape=60)
    pm.Bernoulli("y", logit_p=easy + sigma * ability[:, None], observed=ANSWERS)


_KNOWN = special.expit(1.5 * RNG.normal(size=(100, 1)) + np.array([1.0, 0.0, -0.5, -1.0]))
TICKS = (RNG.random((100, 4)) < 0.2 + 0.8 * _KNOWN).astype(int)
KINDS, OFTEN = np.unique(TICKS, axis=0, return_counts=True)


def guessing_density(easy, sharp, guess):
    eta = easy[..., None] + sharp[:, None, None] * FEW
    g = guess[:, None, None]
    yes = np.log(g + (1 - g) * special.expit(eta))
    no = np.log1p(-g) - np.logaddexp(0, eta)
    each = np.einsum("pk,nkq->npq", KINDS, yes) + np.einsum("pk,nkq->npq", 1 - KINDS, no)
    inner = special.logsumexp(each + stats.norm.logpdf(FEW), axis=-1) + np.log(FEW[1] - FEW[0])
    prior = normal(easy, 0, 1.5) + stats.lognorm.logpdf(sharp, 0.5)
    return prior + stats.beta.logpdf(guess, 5, 17) + inner @ OFTEN


@everyday(guessing_density, easy=(REAL, 4), sharp=POSITIVE, guess=UNIT, width=2000, scramblings=11)
def items_with_guessing():
    easy, sharp = pm.Normal("easy", 0, 1.5, shape=4), pm.LogNormal("sharp", 0, 0.5)
    guess, ability = pm.Beta("guess", 5, 17), pm.Normal("ability", shape=100)
    known = pm.math.invlogit(easy + sharp * ability[:, None])
    pm.Bernoulli("y", p=guess + (1 - guess) * known, observed=TICKS)


# --- sites ----------------------------------------------------------------------------------------

FOREST, RAIN = RNG.normal(size=30), RNG.normal(size=30)
_THERE = RNG.random(30) < special.expit(0.5 + 0.8 * FOREST)
HEARD = RNG.binomial(5, special.expit(-0.3 - 0.5 * RAIN + 0.6 * RNG.normal(size=30))) * _THERE


def occupancy_density(w, v, sigma):
    eta = (v[:, :1] + v[:, 1:] * RAIN)[..., None] + sigma[:, None, None] * FEW
    each = binomial(eta, HEARD[:, None], 5) + stats.norm.logpdf(FEW)
    found = special.logsumexp(each, axis=-1) + np.log(FEW[1] - FEW[0])
    line = w[:, :1] + w[:, 1:] * FOREST
    absent = np.where(HEARD == 0, -np.logaddexp(0, line), -np.inf)
    inner = np.logaddexp(found - np.logaddexp(0, -line), absent).sum(1)
    return normal(w, 0, 1.5) + normal(v, 0, 1.5) + half_normal(sigma) + inner


@everyday(occupancy_density, w=(REAL, 2), v=(REAL, 2), sigma=POSITIVE, width=2500, scramblings=10)
def occupancy_with_effects_of_sites():
    w, v = pm.Normal("w", 0, 1.5, shape=2), pm.Normal("v", 0, 1.5, shape=2)
    sigma, site = pm.HalfNormal("sigma", 1), pm.Normal("site", shape=30)
    there = pm.Bernoulli("there", logit_p=w[0] + w[1] * FOREST, shape=30)
    p = pm.math.invlogit(v[0] + v[1] * RAIN + sigma * site)
    pm.Binomial("y", 5, p * there, observed=HEARD)


WIND = RNG.normal(size=(20, 3))
FROGS = RNG.binomial(
    RNG.poisson(np.exp(1.2 + 0.5 * FOREST[:20]))[:, None], special.expit(0.2 - 0.5 * WIND)
)
_MANY = np.arange(60)


def frogs_density(w, v):
    eta = v[:, 0, None, None] + v[:, 1, None, None] * WIND + v[:, 2, None, None] * WIND**2
    log_mean = w[:, :1] + w[:, 1:] * FOREST[:20]
    each = poisson(log_mean[..., None], _MANY)
    for t in range(3):
        y = FROGS[:, t, None]
        ways = np.where(y <= _MANY, special.binom(_MANY, y), 0)
        gone = np.maximum(_MANY - y, 0) * np.logaddexp(0, eta[:, :, t, None])
        seen = -y * np.logaddexp(0, -eta[:, :, t, None])
        each = each + np.log(ways) + seen - gone
    return normal(w, 0, 2) + normal(v, 0, 1) + special.logsumexp(each, axis=-1).sum(1)


@everyday(frogs_density, w=(REAL, 2), v=(REAL, 3), width=4000, scramblings=10)
def numbers_of_frogs_that_are_seen_in_part():
    w, v = pm.Normal("w", 0, 2, shape=2), pm.Normal("v", 0, 1, shape=3)
    number = pm.Poisson("number", pm.math.exp(w[0] + w[1] * FOREST[:20]), shape=20)
    eta = v[0] + v[1] * WIND + v[2] * WIND**2
    pm.Binomial("y", number[:, None], logit_p=eta, observed=FROGS)


# --- studies and errors of measurement ------------------------------------------------------------

ERROR = np.array([0.3, 0.5, 0.4, 0.2, 0.6, 0.3, 0.4, 0.5, 0.3])
FOUND = 0.5 + 0.5 * RNG.standard_t(3, size=9) + ERROR * RNG.normal(size=9)


def studies_density(mean, tau, nu):
    at = FOUND[:, None] + ERROR[:, None] * NODES
    gap, df = (at - mean[:, None, None]) / tau[:, None, None], nu[:, None, None]
    each = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(np.pi * df)
    each = each - np.log(tau)[:, None, None] - (df + 1) / 2 * np.log1p(gap**2 / df)
    return normal(mean, 0, 2) + gamma(tau, 4, 8) + gamma(nu, 2, 0.1) + with_effects(each)


@everyday(studies_density, mean=REAL, tau=POSITIVE, nu=POSITIVE, width=1500, scramblings=11)
def studies_with_outliers():
    mean, tau = pm.Normal("mean", 0, 2), pm.Gamma("tau", 4, 8)
    nu = pm.Gamma("nu", 2, 0.1)
    effect = pm.StudentT("effect", nu=nu, mu=mean, sigma=tau, shape=9)
    pm.Normal("y", effect, ERROR, observed=FOUND)


_EXPOSED, AGE = 0.3 + 0.9 * RNG.normal(size=40), RNG.normal(size=40)
MEASURED = _EXPOSED + 0.5 * RNG.normal(size=40)
ILL = (RNG.random(40) < special.expit(-0.5 + 1.0 * _EXPOSED + 0.5 * AGE)).astype(int)


def exposure_density(w, mean, tau):
    # Given what is measured, what is true is normal: the rest is an effect of its own.
    share = tau**2 / (tau**2 + 0.25)
    centre = mean[:, None] + share[:, None] * (MEASURED - mean[:, None])
    x = centre[..., None] + (0.5 * np.sqrt(share))[:, None, None] * FEW
    eta = w[:, 0, None, None] + w[:, 1, None, None] * x + w[:, 2, None, None] * AGE[:, None]
    inner = with_effects(binomial(eta, ILL[:, None], 1))
    measured = normal(MEASURED - mean[:, None], 0, np.sqrt(tau**2 + 0.25)[:, None])
    return normal(w, 0, 1.5) + normal(mean) + half_normal(tau) + measured + inner


@everyday(exposure_density, w=(REAL, 3), mean=REAL, tau=POSITIVE, width=3500, scramblings=10)
def measurement_error_in_a_logistic_regression():
    w, mean = pm.Normal("w", 0, 1.5, shape=3), pm.Normal("mean")
    tau = pm.HalfNormal("tau", 1)
    x = pm.Normal("x", mean, tau, shape=40)
    pm.Normal("measured", x, 0.5, observed=MEASURED)
    pm.Bernoulli("y", logit_p=w[0] + w[1] * x + w[2] * AGE, observed=ILL)


GROUPS = {
    one.name: one
    for one in (
        random_intercepts_under_a_probit, random_intercepts_under_a_cloglog,
        random_intercepts_of_gamma_waits, ratings_of_ten_judges,
        random_intercepts_under_a_beta_binomial, random_intercepts_with_student_noise,
        weibull_survival_with_frailty, censored_lognormal_survival_with_frailty,
        crossed_effects_under_a_logit, rows_times_columns_under_poisson_counts,
        michaelis_and_menten_in_six_laboratories, later_rewards_of_twelve_persons, twenty_items,
        items_with_guessing, occupancy_with_effects_of_sites,
        numbers_of_frogs_that_are_seen_in_part, studies_with_outliers,
        measurement_error_in_a_logistic_regression,
    )
}  # fmt: skip
