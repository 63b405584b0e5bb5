"""Truncated and interval priors beside scales that remain, censored rows, and survival.

Remission of leukaemia: Freireich et al. (1963), 21 pairs, weeks and whether censored, printed by
Cox (1972). The other data are made with a seed.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import log_ndtr

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, between
from tests.posteriors.integrated.row import row

RNG = np.random.default_rng(20261128)
X = np.round(RNG.normal(0.6, 1.5, 14), 2)
N, MEAN = len(X), X.mean()
SQUARES = ((X - MEAN) ** 2).sum()
COUNTS = np.array([2, 0, 1, 3, 1, 0, 2])
DRUG = np.array([6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35])
LEFT = np.array([1] * 9 + [0] * 12)
PLACEBO = np.array([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23])
WEEKS = np.concatenate([DRUG, PLACEBO]) / 10
DIED = np.concatenate([LEFT, np.ones(21, dtype=int)])
GIVEN = np.repeat([1.0, 0.0], 21)


def rows(sigma):
    """Return the log likelihood of the normal rows at their mean."""
    return -SQUARES / (2 * sigma**2) - N * (np.log(sigma) + laws.LOG_2PI / 2)


def cut(mean, sd, low, high):
    """Return log mass, mean and variance of a normal law between two bounds."""
    a, b = (low - mean) / sd, (high - mean) / sd
    flip = a > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    mass = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
    pa, pb = (np.exp(laws.normal(z) - mass) for z in (a, b))
    ends = np.where(np.isfinite(a), a, 0) * pa - np.where(np.isfinite(b), b, 0) * pb
    first = pa - pb
    return mass, mean + sd * np.where(flip, -first, first), sd**2 * (1 + ends - first**2)


def bounded_mean(low, high, prior, name="mu"):
    """Return the density of the scale, a flat mean between two bounds integrated out."""

    def density(sigma):
        mass, mean, var = cut(MEAN, sigma / np.sqrt(N), low, high)
        logs = rows(sigma) + mass + np.log(sigma / np.sqrt(N)) + laws.LOG_2PI / 2
        return logs - np.log(high - low) + prior(sigma), {name: (mean, var)}

    return density


@row(bounded_mean(0.0, 1.0, lambda s: laws.half_normal(s, 2)), sigma=POSITIVE)
def mean_between_bounds():
    mu = pm.Uniform("mu", 0, 1)
    sigma = pm.HalfNormal("sigma", 2)
    pm.Normal("x", mu, sigma, observed=X)


@row(bounded_mean(-3.0, 4.0, lambda s: laws.half_cauchy(s, 1)), sigma=POSITIVE)
def mean_between_far_bounds():
    mu = pm.Uniform("mu", lower=-3, upper=4)
    sigma = pm.HalfCauchy("sigma", beta=1)
    pm.Normal("x", mu=mu, sigma=sigma, observed=X)


def positive_mean(m, s, prior):
    """Return the density of the scale, a mean of a normal law above zero integrated out."""

    def density(sigma):
        precision = 1 / s**2 + N / sigma**2
        middle = (m / s**2 + N * MEAN / sigma**2) / precision
        mass, mean, var = cut(middle, precision**-0.5, 0.0, np.inf)
        logs = rows(sigma) - np.log(s) - np.log(precision) / 2 - log_ndtr(m / s) + mass
        pull = -N * MEAN**2 / sigma**2 - m**2 / s**2 + middle**2 * precision
        return logs + pull / 2 + prior(sigma), {"mu": (mean, var)}

    return density


@row(positive_mean(0.0, 1.0, lambda s: laws.exponential(s, 1)), sigma=POSITIVE)
def half_normal_mean():
    mu = pm.HalfNormal("mu", 1)
    sigma = pm.Exponential("sigma", 1)
    pm.Normal("x", mu, sigma, observed=X)


@row(positive_mean(0.5, 2.0, lambda s: laws.inverse_gamma(s, 2, 2)), sigma=POSITIVE)
def truncated_normal_mean():
    mu = pm.TruncatedNormal("mu", mu=0.5, sigma=2, lower=0)
    sigma = pm.InverseGamma("sigma", 2, 2)
    pm.Normal("x", mu, sigma, observed=X)


@row(positive_mean(0.3, 1.0, lambda s: laws.gamma(s, 2, 1)), sigma=POSITIVE)
def mean_truncated_by_pm_truncated():
    mu = pm.Truncated("mu", pm.Normal.dist(0.3, 1), lower=0, upper=None)
    sigma = pm.Gamma("sigma", 2, 1)
    pm.Normal("x", mu, sigma, observed=X)


def _exponential_mean(sigma):
    s2 = sigma**2 / N
    mass, mean, var = cut(MEAN - s2 * 1.5, np.sqrt(s2), 0.0, np.inf)
    logs = rows(sigma) + np.log(1.5) - 1.5 * MEAN + 1.5**2 * s2 / 2 + mass
    logs = logs + np.log(s2) / 2 + laws.LOG_2PI / 2
    return logs + laws.half_normal(sigma, 3), {"mu": (mean, var)}


@row(_exponential_mean, sigma=POSITIVE)
def exponential_mean():
    mu = pm.Exponential("mu", 1.5)
    sigma = pm.HalfNormal("sigma", 3)
    pm.Normal("x", mu, sigma, observed=X)


def _rate(rate):
    return laws.poisson(COUNTS, rate[:, None]).sum(1) + laws.log_normal(rate, 0, 1)


@row(_rate, rate=POSITIVE)
def log_normal_rate():
    rate = pm.LogNormal("rate", 0, 1)
    pm.Poisson("n", rate, observed=COUNTS)


def _logit(_eta):
    logs = laws.binomial_logit(COUNTS, 5, _eta[:, None]).sum(1)
    p = 1 / (1 + np.exp(-_eta))
    return logs + laws.normal(_eta, -1, 1.5), {"p": (p, 0 * p)}


@row(_logit, _eta=REAL)
def logit_normal_share():
    p = pm.LogitNormal("p", -1, 1.5)
    pm.Binomial("n", 5, p, observed=COUNTS)


def _triangular(mu):
    low = np.log(mu / 1.0)
    high = np.log((3 - mu) / 2.0)
    logs = laws.normal(X, mu[:, None], 1.5).sum(1)
    return logs + np.log(2 / 3) + np.where(mu < 1, low, high)


@row(_triangular, mu=between(0, 3, 1.0), start={"mu": 0.7})
def triangular_mean():
    mu = pm.Triangular("mu", lower=0, c=1, upper=3)
    pm.Normal("x", mu, 1.5, observed=X)


ABOVE = X[X > 0]


def _truncated_rows(mu, sigma):
    z = mu / sigma
    logs = laws.normal(ABOVE, mu[:, None], sigma[:, None]).sum(1) - len(ABOVE) * log_ndtr(z)
    return logs + laws.normal(mu, 0, 2) + laws.half_normal(sigma, 2)


@row(_truncated_rows, mu=REAL, sigma=POSITIVE)
def truncated_rows():
    mu = pm.Normal("mu", 0, 2)
    sigma = pm.HalfNormal("sigma", 2)
    pm.TruncatedNormal("x", mu=mu, sigma=sigma, lower=0, observed=ABOVE)


CLIPPED = np.clip(X, None, 1.5)


def _censored(mu, sigma):
    seen = laws.normal(CLIPPED, mu[:, None], sigma[:, None])
    beyond = log_ndtr((mu - 1.5) / sigma)[:, None]
    logs = np.where(CLIPPED < 1.5, seen, beyond).sum(1)
    return logs + laws.normal(mu, 0, 2) + laws.exponential(sigma, 0.5)


@row(_censored, mu=REAL, sigma=POSITIVE)
def censored_rows():
    mu = pm.Normal("mu", 0, 2)
    sigma = pm.Exponential("sigma", 0.5)
    pm.Censored("x", pm.Normal.dist(mu, sigma), lower=None, upper=1.5, observed=CLIPPED)


def _rounded(mu, sigma):
    whole = np.floor(X)
    z = [(whole + k - mu[:, None]) / sigma[:, None] for k in (0, 1)]
    flip = z[0] > 0
    low, high = np.where(flip, -z[1], z[0]), np.where(flip, -z[0], z[1])
    logs = log_ndtr(high) + np.log1p(-np.exp(log_ndtr(low) - log_ndtr(high)))
    return logs.sum(1) + laws.normal(mu, 0, 2) + laws.half_normal(sigma, 3)


@row(_rounded, mu=REAL, sigma=POSITIVE)
def rows_known_to_a_whole_number():
    mu = pm.Normal("mu", 0, 2)
    sigma = pm.HalfNormal("sigma", 3)
    law = pm.Normal.dist(mu, sigma)
    whole = np.floor(X)
    both = pm.logcdf(law, whole + 1), pm.logcdf(law, whole)
    pm.Potential("rows", pm.math.logdiffexp(*both).sum())


def _weibull(k, scale):
    z = (WEEKS / scale[:, None]) ** k[:, None]
    logs = (DIED * laws.weibull(WEEKS, k[:, None], scale[:, None]) - (1 - DIED) * z).sum(1)
    return logs + laws.gamma(k, 2, 1) + laws.half_normal(scale, 5)


@row(_weibull, k=POSITIVE, scale=POSITIVE)
def weibull_survival_with_censoring():
    k = pm.Gamma("k", 2, 1)
    scale = pm.HalfNormal("scale", 5)
    pm.Weibull("died", k, scale, observed=WEEKS[DIED == 1])
    pm.Potential("left", -((WEEKS[DIED == 0] / scale) ** k).sum())


def _weibull_regression(a, b, k):
    scale = np.exp(a[:, None] + b[:, None] * GIVEN)
    z = (WEEKS / scale) ** k[:, None]
    logs = (DIED * laws.weibull(WEEKS, k[:, None], scale) - (1 - DIED) * z).sum(1)
    return logs + laws.normal(a, 0, 2) + laws.normal(b, 0, 2) + laws.log_normal(k, 0, 0.5)


@row(_weibull_regression, a=REAL, b=REAL, k=POSITIVE)
def weibull_regression_of_remission():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 2)
    k = pm.LogNormal("k", 0, 0.5)
    scale = pm.math.exp(a + b * GIVEN)
    law = pm.Weibull.dist(k, scale)
    bounds = np.where(DIED == 1, np.inf, WEEKS)
    pm.Censored("weeks", law, lower=None, upper=bounds, observed=WEEKS)


def _exponential_survival(w):
    eta = w[:, :1] + w[:, 1:] * GIVEN
    logs = (DIED * eta - WEEKS * np.exp(eta)).sum(1)
    return logs + laws.normal(w, 0, 2).sum(1)


@row(_exponential_survival, w=(REAL, 2))
def exponential_survival_by_treatment():
    w = pm.Normal("w", 0, 2, shape=2)
    eta = w[0] + w[1] * GIVEN
    pm.Potential("rows", pm.math.sum(DIED * eta - WEEKS * pm.math.exp(eta)))


def _log_logistic(alpha, beta):
    z = beta[:, None] * (np.log(WEEKS) - np.log(alpha)[:, None])
    survive = -np.logaddexp(0, z)
    dense = np.log(beta)[:, None] - np.log(WEEKS) + z + 2 * survive
    logs = np.where(DIED == 1, dense, survive).sum(1)
    return logs + laws.half_normal(alpha, 3) + laws.half_normal(beta, 3)


@row(_log_logistic, alpha=POSITIVE, beta=POSITIVE)
def log_logistic_survival():
    alpha = pm.HalfNormal("alpha", 3)
    beta = pm.HalfNormal("beta", 3)
    z = beta * (np.log(WEEKS) - pt.log(alpha))
    dense = pt.log(beta) - np.log(WEEKS) + z - 2 * pt.softplus(z)
    pm.Potential("rows", pt.switch(DIED, dense, -pt.softplus(z)).sum())


def _slow_gamma(shape, mean):
    logs = laws.gamma(PLACEBO / 10, shape[:, None], (shape / mean)[:, None]).sum(1)
    return logs - np.log(9.5) + laws.half_normal(mean, 2)


@row(_slow_gamma, shape=between(0.5, 10), mean=POSITIVE)
def gamma_rows_with_a_shape_between_bounds():
    shape = pm.Uniform("shape", 0.5, 10)
    mean = pm.HalfNormal("mean", 2)
    pm.Gamma("weeks", alpha=shape, beta=shape / mean, observed=PLACEBO / 10)


def _bounded_pair(rate, sigma):
    logs = rows(sigma) - N * (MEAN - rate) ** 2 / (2 * sigma**2)
    logs = logs + laws.poisson(COUNTS, rate[:, None]).sum(1)
    return logs - np.log(4.9) + laws.half_normal(sigma, 2)


@row(_bounded_pair, rate=between(0.1, 5), sigma=POSITIVE)
def one_bounded_mean_of_counts_and_rows():
    rate = pm.Uniform("rate", 0.1, 5)
    sigma = pm.HalfNormal("sigma", 2)
    pm.Poisson("n", rate, observed=COUNTS)
    pm.Normal("x", rate, sigma, observed=X)


def _least(shape, low):
    sums = np.log(WAITS).sum()
    logs = len(WAITS) * (np.log(shape) + shape * np.log(low)) - (shape + 1) * sums
    return logs + laws.gamma(shape, 2, 1) - np.log(WAITS.min() - 0.1)


WAITS = np.round(0.8 + RNG.exponential(0.6, 12), 2)


@row(_least, shape=POSITIVE, low=between(0.1, float(WAITS.min())))
def pareto_rows_of_unknown_least_value():
    shape = pm.Gamma("shape", 2, 1)
    low = pm.Uniform("low", 0.1, WAITS.min())
    pm.Pareto("wait", alpha=shape, m=low, observed=WAITS)
