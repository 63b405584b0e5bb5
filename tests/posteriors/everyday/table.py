"""Everyday models of analysts: groups, regressions, capture-recapture, items, series, mixtures.

Data are public ones whose source is named, or made by a seed. Each model stands beside a density of
its few common scalars that is written by hand; see `hand` for what is made of it.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats
from sklearn.datasets import load_breast_cancer

from tests.posteriors.everyday.hand import (
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

RNG = np.random.default_rng(20261128)

# --- groups ---------------------------------------------------------------------------------------

# Crowder (1978), Applied Statistics 27, table 3: seeds that germinated on 21 plates.
GERMINATED = np.array(
    [10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3]
)
SEEDS = np.array([39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7])
BEAN = np.repeat([0.0, 1.0], [11, 10])  # the kind of the seed
ROOT = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1.0])
PLATES = np.column_stack([np.ones(21), BEAN, ROOT, BEAN * ROOT])


def seeds_density(w, sigma):
    eta = (w @ PLATES.T)[..., None] + sigma[:, None, None] * NODES
    inner = with_effects(binomial(eta, GERMINATED[:, None], SEEDS[:, None]))
    return normal(w, 0, 2) + half_normal(sigma) + inner


@everyday(seeds_density, w=(REAL, 4), sigma=POSITIVE, width=3400, scramblings=14, df=3)
def seeds():
    w, sigma = pm.Normal("w", 0, 2, shape=4), pm.HalfNormal("sigma", 1)
    plate = pm.Normal("plate", 0, 1, shape=21)
    pm.Binomial("y", SEEDS, logit_p=PLATES @ w + sigma * plate, observed=GERMINATED)


# Spiegelhalter et al. (1996), BUGS examples volume 1: deaths after operations in 12 hospitals.
DEATHS = np.array([0, 18, 8, 46, 8, 13, 9, 31, 14, 8, 29, 24])
OPERATIONS = np.array([47, 148, 119, 810, 211, 196, 148, 215, 207, 97, 256, 360])


def surgical_density(mu, sigma):
    eta = mu[:, None, None] + sigma[:, None, None] * NODES
    inner = with_effects(binomial(eta, DEATHS[:, None], OPERATIONS[:, None]))
    return normal(mu, -2, 2) + half_normal(sigma) + inner


@everyday(surgical_density, mu=REAL, sigma=POSITIVE, width=2000, scramblings=11)
def surgical():
    mu, sigma = pm.Normal("mu", -2, 2), pm.HalfNormal("sigma", 1)
    hospital = pm.Normal("hospital", mu, sigma, shape=12)
    pm.Binomial("y", OPERATIONS, logit_p=hospital, observed=DEATHS)


# Peregrines of the kind of Kery and Schaub (2012), Bayesian Population Analysis, chapter 4.
YEARS = np.linspace(-1, 1, 40)
TREND = np.column_stack([np.ones(40), YEARS, YEARS**2, YEARS**3])
PAIRS = RNG.poisson(np.exp(TREND @ [3.0, 1.3, 0.1, -0.7] + 0.2 * RNG.normal(size=40)))


def glmm_density(w, sigma):
    eta = (w @ TREND.T)[..., None] + sigma[:, None, None] * NODES
    return normal(w, 0, 3) + half_normal(sigma) + with_effects(poisson(eta, PAIRS[:, None]))


@everyday(glmm_density, w=(REAL, 4), sigma=POSITIVE, width=6500, scramblings=14, df=3)
def glmm_poisson():
    w, sigma = pm.Normal("w", 0, 3, shape=4), pm.HalfNormal("sigma", 1)
    year = pm.Normal("year", 0, 1, shape=40)
    pm.Poisson("y", pm.math.exp(TREND @ w + sigma * year), observed=PAIRS)


GROUP = np.repeat(np.arange(10), 6)
DOSE = RNG.normal(size=60)
VISITS = RNG.negative_binomial(
    2.0, 2.0 / (2.0 + np.exp(1.0 + 0.5 * DOSE + 0.5 * RNG.normal(size=10)[GROUP]))
)


def negative_binomial(log_mean, alpha, counts):
    coefficient = special.gammaln(counts + alpha) - special.gammaln(alpha)
    coefficient = coefficient - special.gammaln(counts + 1)
    log_sum = np.logaddexp(np.log(alpha), log_mean)
    return coefficient + alpha * (np.log(alpha) - log_sum) + counts * (log_mean - log_sum)


def visits_density(w, sigma, alpha):
    line = w[:, :1] + w[:, 1:] * DOSE
    eta = line[..., None] + sigma[:, None, None] * NODES
    each = negative_binomial(eta, alpha[:, None, None], VISITS[:, None])
    inner = with_effects(each.reshape(len(w), 10, 6, -1).sum(2))
    return normal(w, 0, 2) + half_normal(sigma) + gamma(alpha, 2, 0.5) + inner


@everyday(visits_density, w=(REAL, 2), sigma=POSITIVE, alpha=POSITIVE, width=10000, scramblings=10)
def negative_binomial_random_intercepts():
    w, sigma = pm.Normal("w", 0, 2, shape=2), pm.HalfNormal("sigma", 1)
    alpha = pm.Gamma("alpha", 2, 0.5)
    group = pm.Normal("group", 0, 1, shape=10)
    mean = pm.math.exp(w[0] + w[1] * DOSE + sigma * group[GROUP])
    pm.NegativeBinomial("y", mu=mean, alpha=alpha, observed=VISITS)


# Bock and Lieberman (1970), Psychometrika 35: section 6 of a test for law schools; how many of a
# thousand students had each pattern of right answers to five items, from 00000 to 11111.
PATTERNS = np.array(
    [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21,
     173, 11, 61, 28, 298]
)  # fmt: skip
ITEMS = (np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1
ANSWERS = np.repeat(ITEMS, PATTERNS, axis=0)


def lsat_density(easy, sigma):
    # Of the patterns with equally many right answers the ability enters alike.
    eta = easy[:, :, None] + sigma[:, None, None] * NODES
    none_right = -np.logaddexp(0, eta).sum(1)
    right = sigma[:, None, None] * NODES * np.arange(6)[:, None]
    by_score = special.logsumexp(right + none_right[:, None] + np.log(_mass()), axis=-1)
    score = np.bincount(ITEMS.sum(1), PATTERNS, 6)
    return normal(easy, 0, 2) + half_normal(sigma) + by_score @ score + easy @ (PATTERNS @ ITEMS)


def _mass():
    return stats.norm.pdf(NODES) * (NODES[1] - NODES[0])


@everyday(lsat_density, easy=(REAL, 5), sigma=POSITIVE, width=1000, scramblings=12)
def lsat():
    easy, sigma = pm.Normal("easy", 0, 2, shape=5), pm.HalfNormal("sigma", 1)
    ability = pm.Normal("ability", 0, 1, shape=1000)
    pm.Bernoulli("y", logit_p=easy + sigma * ability[:, None], observed=ANSWERS)


# --- capture and recapture ------------------------------------------------------------------------

ANIMALS, OCCASIONS = 80, 5
_CAUGHT = RNG.random((60, OCCASIONS)) < special.expit(
    np.array([-0.8, -0.4, 0.0, -0.6, -0.2]) + 0.8 * RNG.normal(size=(60, 1))
)
HISTORIES = np.vstack([_CAUGHT[_CAUGHT.any(1)], np.zeros((ANIMALS, OCCASIONS), dtype=bool)])
HISTORIES = HISTORIES[:ANIMALS].astype(int)
CAUGHT = HISTORIES.sum(1)
SEEN = CAUGHT > 0


def mh_density(omega, mean, sigma):
    eta = mean[:, None, None] + sigma[:, None, None] * NODES
    counts = np.arange(OCCASIONS + 1)
    each = special.logsumexp(binomial(eta, counts[:, None], OCCASIONS) + np.log(_mass()), axis=-1)
    there = np.log(omega)[:, None] + each
    there[:, 0] = np.logaddexp(there[:, 0], np.log1p(-omega))
    return normal(mean, 0, 1.5) + half_normal(sigma) + there @ np.bincount(CAUGHT, minlength=6)


@everyday(mh_density, omega=UNIT, mean=REAL, sigma=POSITIVE, width=1000, scramblings=15)
def capture_recapture_mh():
    omega, mean = pm.Beta("omega", 1, 1), pm.Normal("mean", 0, 1.5)
    sigma = pm.HalfNormal("sigma", 1)
    animal = pm.Normal("animal", 0, 1, shape=ANIMALS)
    p = pm.math.invlogit(mean + sigma * animal)
    pm.ZeroInflatedBinomial("y", psi=omega, n=OCCASIONS, p=p, observed=CAUGHT)


def mth_density(omega, occasion, sigma):
    eta = occasion[:, :, None] + sigma[:, None, None] * NODES
    none = -np.logaddexp(0, eta).sum(1)
    caught = sigma[:, None, None] * NODES * np.arange(OCCASIONS + 1)[:, None]
    by_count = special.logsumexp(caught + none[:, None] + np.log(_mass()), axis=-1)
    there = np.log(omega)[:, None] + by_count
    there[:, 0] = np.logaddexp(there[:, 0], np.log1p(-omega))
    inner = there @ np.bincount(CAUGHT, minlength=6) + occasion @ HISTORIES.sum(0)
    return normal(occasion, 0, 1.5) + half_normal(sigma) + inner


@everyday(
    mth_density, omega=UNIT, occasion=(REAL, 5), sigma=POSITIVE, width=1000, scramblings=14, df=3
)
def capture_recapture_mth():
    omega, occasion = pm.Beta("omega", 1, 1), pm.Normal("occasion", 0, 1.5, shape=5)
    sigma = pm.HalfNormal("sigma", 1)
    animal = pm.Normal("animal", 0, 1, shape=ANIMALS)
    eta = occasion + sigma * animal[:, None]
    history = (HISTORIES * eta - pt.softplus(eta)).sum(1)
    there = pt.log(omega) + history
    pm.Potential("caught", pt.switch(SEEN, there, pt.logaddexp(there, pt.log1p(-omega))).sum())


# --- regressions ----------------------------------------------------------------------------------

WELLS = np.column_stack([np.ones(800), RNG.normal(size=(800, 5))])
SWITCHED = RNG.random(800) < special.expit(WELLS @ [0.3, -0.8, 0.5, 0.2, -0.3, 0.1])


def logistic_density(X, y, sd=2.5):
    def density(w):
        eta = w @ X.T
        return normal(w, 0, sd) + eta @ y - np.logaddexp(0, eta).sum(1)

    return density


@everyday(logistic_density(WELLS[:, :5], SWITCHED), w=(REAL, 5), width=800)
def wells_with_five_coefficients():
    w = pm.Normal("w", 0, 2.5, shape=5)
    pm.Bernoulli("y", logit_p=WELLS[:, :5] @ w, observed=SWITCHED.astype(int))


@everyday(logistic_density(WELLS, SWITCHED), w=(REAL, 6), width=800)
def wells_with_six_coefficients():
    w = pm.Normal("w", 0, 2.5, shape=6)
    pm.Bernoulli("y", logit_p=WELLS @ w, observed=SWITCHED.astype(int))


_CANCER = load_breast_cancer()  # of scikit-learn: 569 tumours
TUMOURS = np.column_stack([np.ones(569), stats.zscore(_CANCER.data[:, :7])])
BENIGN = _CANCER.target


@everyday(logistic_density(TUMOURS, BENIGN, 1.5), w=(REAL, 8), width=569)
def tumours_with_eight_coefficients():
    w = pm.Normal("w", 0, 1.5, shape=8)
    pm.Bernoulli("y", logit_p=TUMOURS @ w, observed=BENIGN)


ROWS = np.column_stack([np.ones(120), RNG.normal(size=(120, 4))])
LATENT = ROWS @ [0.2, 0.6, -0.5, 0.0, 0.3]
CHOSEN = (LATENT + RNG.normal(size=120) > 0).astype(int)


def probit_density(w):
    signed = (w @ ROWS.T) * (2 * CHOSEN - 1)
    return normal(w, 0, 2) + special.log_ndtr(signed).sum(1)


@everyday(probit_density, w=(REAL, 5), width=120)
def probit_with_five_coefficients():
    w = pm.Normal("w", 0, 2, shape=5)
    pm.Bernoulli("y", p=pm.math.invprobit(ROWS @ w), observed=CHOSEN)


WIDE = np.column_stack([ROWS, RNG.normal(size=120)])
HAPPENED = RNG.random(120) < -np.expm1(-np.exp(WIDE @ [-0.5, 0.5, -0.4, 0.2, 0.0, 0.3]))


def cloglog_density(w):
    rate = np.exp(w @ WIDE.T)
    return normal(w, 0, 2) + np.where(HAPPENED, np.log(-np.expm1(-rate)), -rate).sum(1)


@everyday(cloglog_density, w=(REAL, 6), width=120)
def cloglog_with_six_coefficients():
    w = pm.Normal("w", 0, 2, shape=6)
    p = -pm.math.expm1(-pm.math.exp(WIDE @ w))
    pm.Bernoulli("y", p=p, observed=HAPPENED.astype(int))


WAITED = RNG.gamma(3.0, np.exp(WIDE @ [1.0, 0.4, -0.3, 0.0, 0.2, 0.1]) / 3.0)


def gamma_density(w, shape):
    mean, a = np.exp(w @ WIDE.T), shape[:, None]
    each = a * np.log(a / mean) - special.gammaln(a) + (a - 1) * np.log(WAITED) - a * WAITED / mean
    return normal(w, 0, 2) + gamma(shape, 2, 0.5) + each.sum(1)


@everyday(gamma_density, w=(REAL, 6), shape=POSITIVE, width=120)
def gamma_regression_with_six_coefficients():
    w, shape = pm.Normal("w", 0, 2, shape=6), pm.Gamma("shape", 2, 0.5)
    pm.Gamma("y", alpha=shape, beta=shape / pm.math.exp(WIDE @ w), observed=WAITED)


CUTS = np.array([-1.0, 0.2, 1.4])
_GRADED = ROWS[:, 1:3] @ [0.8, -0.6] + RNG.logistic(size=120)
GRADES = (_GRADED[:, None] > CUTS).sum(1)


def ordinal_density(w, first, gap):
    cut = np.concatenate([first[:, None], first[:, None] + np.cumsum(gap, 1)], 1)
    eta = w @ ROWS[:, 1:3].T
    ends = np.pad(cut, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    above = special.expit(ends[:, GRADES + 1] - eta) - special.expit(ends[:, GRADES] - eta)
    return normal(w, 0, 2) + normal(first, 0, 3) - gap.sum(1) + np.log(above).sum(1)


@everyday(ordinal_density, w=(REAL, 2), first=REAL, gap=(POSITIVE, 2), width=500)
def ordinal_regression():
    w, first = pm.Normal("w", 0, 2, shape=2), pm.Normal("first", 0, 3)
    gap = pm.Exponential("gap", 1, shape=2)
    cut = pt.concatenate([first[None], first + pt.cumsum(gap)])
    pm.OrderedLogistic("y", eta=ROWS[:, 1:3] @ w, cutpoints=cut, observed=GRADES)


# --- meta-analyses --------------------------------------------------------------------------------

# Six trials of two arms each, made by hand; the first three alone are the smaller analysis.
EVENTS = np.array([[14, 9], [22, 11], [5, 6], [40, 28], [9, 3], [17, 15]])
ARMS = np.array([[50, 52], [80, 78], [25, 24], [150, 149], [30, 33], [61, 60]])


def meta_density(trials):
    events, arms = EVENTS[:trials], ARMS[:trials]

    def density(effect, tau):
        base = np.linspace(-9, 9, 121)
        log_base = stats.norm.logpdf(base, 0, 2) + np.log(base[1] - base[0])
        control = binomial(base, events[:, :1], arms[:, :1]) + log_base
        nodes = NODES[::2]
        u = stats.norm.logpdf(nodes) + np.log(nodes[1] - nodes[0])
        total = normal(effect, 0, 2) + half_normal(tau)
        move = effect[:, None] + tau[:, None] * nodes
        for k in range(trials):
            treated = binomial(base + move[..., None], events[k, 1], arms[k, 1])
            total = total + special.logsumexp(treated + control[k] + u[:, None], axis=(-1, -2))
        return total

    return density


def meta_analysis(trials):
    effect, tau = pm.Normal("effect", 0, 2), pm.HalfNormal("tau", 1)
    base = pm.Normal("base", 0, 2, shape=trials)
    trial = pm.Normal("trial", 0, 1, shape=trials)
    eta = pt.stack([base, base + effect + tau * trial], axis=1)
    pm.Binomial("y", ARMS[:trials], logit_p=eta, observed=EVENTS[:trials])


@everyday(meta_density(3), effect=REAL, tau=POSITIVE, width=10000, scramblings=8)
def meta_analysis_of_three_trials():
    meta_analysis(3)


@everyday(meta_density(6), effect=REAL, tau=POSITIVE, width=10000, scramblings=8)
def meta_analysis_of_six_trials():
    meta_analysis(6)


# --- series, mixtures, differential equations -----------------------------------------------------

_STATE = (np.arange(60) // 12) % 2
BURSTS = RNG.poisson(np.array([1.0, 5.0])[_STATE])


CENTRES = np.array([-4.0, 0.0, 4.0, 8.0, 12.0])
POINTS = {k: np.concatenate([RNG.normal(c, 0.8, 30) for c in CENTRES[:k]]) for k in (2, 3, 5)}


def mixture_density(parts):
    y = POINTS[parts]

    def density(mu, sigma, share):
        # Shares are made by breaking a stick, so that they are uniform: of what is left.
        left = np.concatenate([np.ones((len(mu), 1)), np.cumprod(1 - share, 1)], 1)
        weight = left * np.concatenate([share, np.ones((len(mu), 1))], 1)
        gap = (y - mu[..., None]) / sigma[:, None, None]
        each = np.log(weight)[..., None] - 0.5 * gap**2 - np.log(sigma)[:, None, None]
        likelihood = (special.logsumexp(each, axis=1) - 0.5 * np.log(2 * np.pi)).sum(1)
        prior = normal(mu, CENTRES[:parts], 1.0) + half_normal(sigma, 2.0)
        sizes = np.arange(parts - 1, 0, -1)
        return prior + stats.beta.logpdf(share, 1, sizes).sum(1) + likelihood

    return density


def mixture(parts):
    mu = pm.Normal("mu", CENTRES[:parts], 1.0)
    sigma = pm.HalfNormal("sigma", 2.0)
    share = pm.Beta("share", 1.0, np.arange(parts - 1, 0, -1.0))
    left = pt.concatenate([pt.ones(1), pt.cumprod(1 - share)])
    weight = left * pt.concatenate([share, pt.ones(1)])
    pm.NormalMixture("y", weight, mu, sigma=sigma, observed=POINTS[parts])


@everyday(mixture_density(2), mu=(REAL, 2), sigma=POSITIVE, share=(UNIT, 1), width=300)
def mixture_of_two_normals():
    mixture(2)


@everyday(mixture_density(3), mu=(REAL, 3), sigma=POSITIVE, share=(UNIT, 2), width=600)
def mixture_of_three_normals():
    mixture(3)


@everyday(mixture_density(5), mu=(REAL, 5), sigma=POSITIVE, share=(UNIT, 4), width=1500)
def mixture_of_five_normals():
    mixture(5)


def _garch(n):
    y, variance = np.zeros(n), 1.0
    for t in range(n):
        y[t] = 0.1 + np.sqrt(variance) * RNG.normal()
        variance = 0.2 + 0.25 * (y[t] - 0.1) ** 2 + 0.6 * variance
    return y


RETURNS = _garch(120)


def garch_density(mu, floor, shock, kept):
    variance, total = np.ones_like(mu), 0.0
    for y in RETURNS:
        total = total + stats.norm.logpdf(y, mu, np.sqrt(variance))
        variance = floor + (1 - kept) * shock * (y - mu) ** 2 + kept * variance
    return normal(mu) + gamma(floor, 2, 5) + stats.beta.logpdf(kept, 3, 2) + total


@everyday(garch_density, mu=REAL, floor=POSITIVE, shock=UNIT, kept=UNIT, width=10)
def garch():
    mu, floor = pm.Normal("mu"), pm.Gamma("floor", 2, 5)
    shock, kept = pm.Uniform("shock"), pm.Beta("kept", 3, 2)
    variances = [pt.constant(1.0)]
    for y in RETURNS[:-1]:
        news = (1 - kept) * shock * (y - mu) ** 2
        variances.append(floor + news + kept * variances[-1])
    pm.Normal("y", mu, pt.sqrt(pt.stack(variances)), observed=RETURNS)


PLACES = np.linspace(0, 1, 10)
COUNTS = RNG.poisson(np.exp(1.5 + np.sin(2 * np.pi * PLACES)))
GAPS2 = (PLACES[:, None] - PLACES) ** 2


def process_density(mean, length, size, t):
    """With z = mode + root t, given the rest: t is about standard normal."""
    kernel = np.exp(-0.5 * GAPS2 / length[:, None, None] ** 2) + 1e-6 * np.eye(10)
    root, z = size[:, None, None] * np.linalg.cholesky(kernel), np.zeros_like(t)

    def process(z):
        return mean[:, None] + np.einsum("nij,nj->ni", root, z)

    for _ in range(15):
        rate = np.exp(np.minimum(process(z), 20))
        slope = np.einsum("nji,nj->ni", root, COUNTS - rate) - z
        curvature = np.eye(10) + np.einsum("nki,nk,nkj->nij", root, rate, root)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        z = z + step / np.maximum(1, np.linalg.norm(step, axis=1) / 2)[:, None]
    lower = np.linalg.cholesky(curvature)
    z = z + np.linalg.solve(lower.swapaxes(1, 2), t[..., None])[..., 0]
    prior = normal(mean, 1, 1) + stats.invgamma.logpdf(length, 5, scale=2) + half_normal(size)
    moved = -np.log(np.einsum("nii->ni", lower)).sum(1)
    return prior + normal(z) + poisson(process(z), COUNTS).sum(1) + moved


@everyday(
    process_density,
    mean=REAL, length=POSITIVE, size=POSITIVE, t=(REAL, 10),
    width=300, scramblings=11,
)  # fmt: skip
def poisson_gaussian_process():
    mean, length = pm.Normal("mean", 1, 1), pm.InverseGamma("length", 5, 2)
    size, z = pm.HalfNormal("size", 1), pm.Normal("z", shape=10)
    kernel = pt.exp(-0.5 * GAPS2 / length**2) + 1e-6 * np.eye(10)
    f = mean + size * pt.linalg.cholesky(kernel) @ z
    pm.Poisson("y", pm.math.exp(f), observed=COUNTS)


STEPS, STEP = 3, 1 / 3  # Runge-Kutta steps of length 1/3 between two years


def populations(rates, years, start):
    """Return log numbers of prey and predators, year by year, from logs: NumPy or PyTensor."""
    exp = pt.exp if hasattr(rates[0], "owner") else np.exp

    def slope(u, v):
        return rates[0] - rates[1] * exp(v), rates[2] * exp(u) - rates[3]

    (u, v), result = start, []
    for _ in range(years):
        for _ in range(STEPS):
            a = slope(u, v)
            b = slope(u + STEP / 2 * a[0], v + STEP / 2 * a[1])
            c = slope(u + STEP / 2 * b[0], v + STEP / 2 * b[1])
            d = slope(u + STEP * c[0], v + STEP * c[1])
            u = u + STEP / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
            v = v + STEP / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        result += [u, v]
    return result


MIDDLE = np.array([0.6, 0.25, 0.25, 0.6])
FIRST = (np.log(3.0), np.log(2.0))
LOG_CAUGHT = np.array(populations(MIDDLE, 8, FIRST)) + 0.2 * RNG.normal(size=16)


def lotka_volterra_density(scale, sigma):
    rates = [MIDDLE[i] * np.exp(scale[:, i]) for i in range(4)]
    mean = np.stack(populations(rates, 8, FIRST), 1)
    return normal(scale, 0, 0.3) + half_normal(sigma) + normal(LOG_CAUGHT - mean, 0, sigma[:, None])


@everyday(lotka_volterra_density, scale=(REAL, 4), sigma=POSITIVE, width=50)
def lotka_volterra_with_four_rates():
    scale, sigma = pm.Normal("scale", 0, 0.3, shape=4), pm.HalfNormal("sigma", 1)
    rates = [MIDDLE[i] * pt.exp(scale[i]) for i in range(4)]
    pm.Normal("y", pt.stack(populations(rates, 8, FIRST)), sigma, observed=LOG_CAUGHT)


# --- ages of skeletons ----------------------------------------------------------------------------

SHARP = np.linspace(0.4, 2.0, 12)  # of each kind of bone
LIMITS = np.linspace(2.0, 14.0, 12)[:, None] + np.array([-1.0, 1.5])
_AGES = np.linspace(1.0, 16.0, 13)
_OVER = special.expit(SHARP[:, None] * (_AGES[:, None, None] - LIMITS))
RIPENESS = (np.random.default_rng(7).random((13, 12, 1)) < _OVER).sum(-1)


def bones_density(age):
    over = special.expit(SHARP[:, None] * (age[:, :, None, None] - LIMITS))
    chances = np.stack([1 - over[..., 0], over[..., 0] - over[..., 1], over[..., 1]], -1)
    seen = np.take_along_axis(chances, RIPENESS[None, :, :, None], -1)
    return normal(age, 0, 36) + np.log(seen).sum((1, 2, 3))


@everyday(bones_density, age=(REAL, 13), width=500)
def bones():
    age = pm.Normal("age", 0, 36, shape=13)
    pm.OrderedLogistic(
        "grade", SHARP * age[:, None], SHARP[:, None] * LIMITS, observed=RIPENESS, compute_p=False
    )


MODELS = {
    one.name: one
    for one in (
        seeds, surgical, glmm_poisson, negative_binomial_random_intercepts, lsat,
        capture_recapture_mh, capture_recapture_mth, wells_with_five_coefficients,
        wells_with_six_coefficients, tumours_with_eight_coefficients,
        probit_with_five_coefficients, cloglog_with_six_coefficients,
        gamma_regression_with_six_coefficients, ordinal_regression,
        meta_analysis_of_three_trials, meta_analysis_of_six_trials,
        mixture_of_two_normals, mixture_of_three_normals,
        mixture_of_five_normals, garch, poisson_gaussian_process,
        bones, lotka_volterra_with_four_rates,
    )
}  # fmt: skip
