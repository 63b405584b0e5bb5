"""Regressions whose likelihood is not normal: nothing is conjugate, all coefficients remain.

Bioassay: Racine et al. (1986), by Gelman et al., *Bayesian Data Analysis*, section 3.7. Rings of
the space shuttle: Dalal, Fowlkes and Hoadley (1989), 23 flights. Grades: Spector and Mazzeo (1980)
as in statsmodels, in the public domain. Plants: Darwin (1876), differences of fifteen pairs. The
other data are made with a seed.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm
from scipy.special import expit, log_ndtr, logsumexp

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, between
from tests.posteriors.integrated.row import row

DOSE, ANIMALS, DEATHS = np.array([-0.86, -0.30, -0.05, 0.73]), np.full(4, 5), np.array([0, 1, 3, 5])
TEMPERATURE = np.array(
    [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58]
)
DAMAGE = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1])
COLD = (70 - TEMPERATURE) / 10
SPECTOR = sm.datasets.spector.load_pandas().data
GPA, TUCE = SPECTOR["GPA"].to_numpy() - 3, (SPECTOR["TUCE"].to_numpy() - 22) / 4
PSI, GRADE = SPECTOR["PSI"].to_numpy(), SPECTOR["GRADE"].to_numpy().astype(int)
SCORES = np.column_stack([np.ones(32), GPA, TUCE, PSI])
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 8.0

RNG = np.random.default_rng(20261126)
Z = RNG.normal(size=40)
W = RNG.normal(size=40)
COUNTS = RNG.poisson(np.exp(0.8 + 0.5 * Z - 0.3 * W))
OVER = RNG.negative_binomial(2, 2 / (2 + np.exp(1 + 0.4 * Z)))
TIMES = np.round(RNG.gamma(2.5, np.exp(0.5 + 0.4 * Z) / 2.5), 2)
HEAVY = np.round(1 + 0.8 * Z + 0.5 * RNG.standard_t(3, 40), 2)
HOURS = RNG.uniform(1, 5, 40).round(1)
ZEROS = RNG.binomial(1, 0.7, 40) * RNG.poisson(2.5, 40)
SHARES = np.clip(np.round(RNG.beta(3, 4, 30), 2), 0.01, 0.99)


def _bioassay(a, b):
    eta = a[:, None] + b[:, None] * DOSE
    logs = laws.binomial_logit(DEATHS, ANIMALS, eta).sum(1)
    return logs + laws.normal(a, 0, 5) + laws.normal(b, 10, 10)


@row(_bioassay, rows=4, a=REAL, b=REAL)
def bioassay():
    a = pm.Normal("a", 0, 5)
    b = pm.Normal("b", 10, 10)
    pm.Binomial("deaths", n=ANIMALS, p=pm.math.invlogit(a + b * DOSE), observed=DEATHS)


def _weakly(a, b):
    eta = a[:, None] + b[:, None] * DOSE
    logs = laws.binomial_logit(DEATHS, ANIMALS, eta).sum(1)
    return logs + laws.student(a, 7, 0, 5) + laws.student(b, 7, 0, 2.5)


@row(_weakly, rows=4, a=REAL, b=REAL)
def bioassay_with_student_priors():
    a = pm.StudentT("a", nu=7, mu=0, sigma=5)
    b = pm.StudentT("b", nu=7, mu=0, sigma=2.5)
    pm.Binomial("deaths", n=ANIMALS, logit_p=a + b * DOSE, observed=DEATHS)


def _cauchy(a, b):
    eta = a[:, None] + b[:, None] * COLD
    logs = laws.binomial_logit(DAMAGE, 1, eta).sum(1)
    return logs + laws.cauchy(a, 0, 10) + laws.cauchy(b, 0, 2.5)


@row(_cauchy, rows=23, a=REAL, b=REAL)
def rings_with_cauchy_priors():
    a = pm.Cauchy("a", 0, 10)
    b = pm.Cauchy("b", 0, 2.5)
    pm.Bernoulli("damage", logit_p=a + b * COLD, observed=DAMAGE)


def _cloglog(w):
    eta = w[:, :1] + w[:, 1:] * COLD
    rate = np.exp(eta)
    logs = np.where(DAMAGE == 1, np.log(-np.expm1(-rate)), -rate).sum(1)
    return logs + laws.normal(w, 0, 2).sum(1)


@row(_cloglog, rows=23, w=(REAL, 2))
def rings_by_complementary_log_log():
    w = pm.Normal("w", 0, 2, shape=2)
    p = 1 - pm.math.exp(-pm.math.exp(w[0] + w[1] * COLD))
    pm.Bernoulli("damage", p, observed=DAMAGE)


def _grades(w):
    logs = laws.binomial_logit(GRADE, 1, w @ SCORES.T).sum(1)
    return logs + laws.normal(w, 0, 3).sum(1)


@row(_grades, own=True, rows=32, w=(REAL, 4))
def logistic_regression_of_grades():
    with pm.Model(coords={"term": ["one", "gpa", "tuce", "psi"]}) as model:
        x = pm.Data("x", SCORES)
        w = pm.Normal("w", 0, 3, dims="term")
        pm.Bernoulli("grade", logit_p=x @ w, observed=GRADE)
    return model


def _probit(w):
    logs = laws.binomial_probit(GRADE, 1, w @ SCORES[:, [0, 1, 3]].T).sum(1)
    return logs + laws.normal(w, 0, 2).sum(1)


@row(_probit, rows=32, w=(REAL, 3))
def probit_regression_of_grades():
    w = pm.Normal("w", 0, 2, shape=3)
    eta = pm.math.dot(SCORES[:, [0, 1, 3]], w)
    pm.Bernoulli("grade", p=pm.math.invprobit(eta), observed=GRADE)


def _poisson(a, b, c):
    eta = a[:, None] + b[:, None] * Z + c[:, None] * W
    logs = laws.poisson(COUNTS, np.exp(eta)).sum(1)
    return logs + laws.normal(a, 0, 3) + laws.normal(b) + laws.normal(c)


@row(_poisson, rows=40, a=REAL, b=REAL, c=REAL)
def poisson_regression():
    a, b, c = pm.Normal("a", 0, 3), pm.Normal("b"), pm.Normal("c")
    pm.Poisson("n", mu=pt.exp(a + b * Z + c * W), observed=COUNTS)


def _exposure(a, b):
    eta = a[:, None] + b[:, None] * Z + np.log(HOURS)
    logs = laws.poisson(COUNTS, np.exp(eta)).sum(1)
    return logs + laws.normal(a, 0, 2) + laws.normal(b, 0, 1)


@row(_exposure, rows=40, a=REAL, b=REAL)
def poisson_regression_with_exposure():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 1)
    eta = a + b * Z + np.log(HOURS)
    pm.Potential("likelihood", pm.logp(pm.Poisson.dist(pm.math.exp(eta)), COUNTS).sum())


def _negative_binomial(a, b, alpha):
    eta = a[:, None] + b[:, None] * Z
    logs = laws.negative_binomial(OVER, np.exp(eta), alpha[:, None]).sum(1)
    return logs + laws.normal(a, 0, 3) + laws.normal(b, 0, 1) + laws.exponential(alpha, 0.5)


@row(_negative_binomial, rows=40, a=REAL, b=REAL, alpha=POSITIVE)
def negative_binomial_regression():
    a = pm.Normal("a", 0, 3)
    b = pm.Normal("b", 0, 1)
    alpha = pm.Exponential("alpha", 0.5)
    pm.NegativeBinomial("n", mu=pm.math.exp(a + b * Z), alpha=alpha, observed=OVER)


def _student(w):
    logs = laws.student(HEAVY, 4, w[:, :1] + w[:, 1:] * Z, 0.5).sum(1)
    return logs + laws.normal(w, 0, 2).sum(1)


@row(_student, rows=40, w=(REAL, 2))
def student_regression():
    w = pm.Normal("w", 0, 2, shape=2)
    pm.StudentT("y", nu=4, mu=w[0] + w[1] * Z, sigma=0.5, observed=HEAVY)


def _robust(a, b, sigma, nu):
    logs = laws.student(HEAVY, nu[:, None], a[:, None] + b[:, None] * Z, sigma[:, None]).sum(1)
    prior = laws.normal(a, 0, 2) + laws.normal(b, 0, 2) + laws.half_normal(sigma, 1)
    return logs + prior + laws.log_normal(nu, 1.5, 0.5)


@row(_robust, rows=40, a=REAL, b=REAL, sigma=POSITIVE, nu=POSITIVE)
def student_regression_of_unknown_scale_and_tails():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 2)
    sigma = pm.HalfNormal("sigma", 1)
    nu = pm.LogNormal("nu", 1.5, 0.5)
    pm.StudentT("y", nu=nu, mu=a + b * Z, sigma=sigma, observed=HEAVY)


def _location(mu, sigma, nu):
    logs = laws.student(DARWIN, nu[:, None], mu[:, None], sigma[:, None]).sum(1)
    prior = laws.normal(mu, 0, 10) + laws.half_cauchy(sigma, 5) + laws.exponential(nu - 1, 1 / 29)
    return logs + prior


@row(
    lambda mu, sigma, extra: _location(mu, sigma, 1 + extra),
    rows=15, mu=REAL, sigma=POSITIVE, extra=POSITIVE,
)  # fmt: skip
def robust_mean_of_darwins_plants():
    mu = pm.Normal("mu", 0, 10)
    sigma = pm.HalfCauchy("sigma", 5)
    extra = pm.Exponential("extra", 1 / 29)
    nu = pm.Deterministic("nu", extra + 1)
    pm.StudentT("difference", nu=nu, mu=mu, sigma=sigma, observed=DARWIN)


def _gamma(a, b, shape):
    mean = np.exp(a[:, None] + b[:, None] * Z)
    logs = laws.gamma(TIMES, shape[:, None], shape[:, None] / mean).sum(1)
    return logs + laws.normal(a, 0, 2) + laws.normal(b, 0, 1) + laws.half_normal(shape, 5)


@row(_gamma, rows=40, a=REAL, b=REAL, shape=POSITIVE)
def gamma_regression():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 1)
    shape = pm.HalfNormal("shape", 5)
    mean = pm.math.exp(a + b * Z)
    pm.Gamma("time", alpha=shape, beta=shape / mean, observed=TIMES)


def _gamma_rows(shape, rate):
    logs = laws.gamma(TIMES, shape[:, None], rate[:, None]).sum(1)
    return logs + laws.exponential(shape, 0.2) + laws.half_normal(rate, 3)


@row(_gamma_rows, rows=40, shape=POSITIVE, rate=POSITIVE)
def gamma_rows_of_unknown_shape_and_rate():
    shape = pm.Exponential("shape", 0.2)
    rate = pm.HalfNormal("rate", 3)
    pm.Gamma("time", shape, rate, observed=TIMES)


def _beta_rows(mean, size):
    a, b = (mean * size)[:, None], ((1 - mean) * size)[:, None]
    return laws.beta(SHARES, a, b).sum(1) + laws.half_normal(size, 20)


@row(_beta_rows, rows=30, mean=between(0, 1), size=POSITIVE)
def shares_with_beta_rows():
    mean = pm.Uniform("mean", 0, 1)
    size = pm.HalfNormal("size", 20)
    pm.Beta("share", alpha=mean * size, beta=(1 - mean) * size, observed=SHARES)


def _zeros(psi, rate):
    p, r = psi[:, None], rate[:, None]
    some = np.log(p) + laws.poisson(ZEROS, r)
    logs = np.where(ZEROS == 0, np.logaddexp(np.log1p(-p), some), some).sum(1)
    return logs + laws.beta(psi, 2, 2) + laws.log_normal(rate, 0, 1)


@row(_zeros, rows=40, psi=between(0, 1), rate=POSITIVE)
def zero_inflated_counts():
    psi = pm.Beta("psi", 2, 2)
    rate = pm.LogNormal("rate", 0, 1)
    pm.ZeroInflatedPoisson("n", psi=psi, mu=rate, observed=ZEROS)


def _hurdle(w, psi):
    rate = np.exp(w[:, :1] + w[:, 1:] * Z)
    p = psi[:, None]
    some = np.log(p) + laws.poisson(ZEROS, rate)
    logs = np.where(ZEROS == 0, np.logaddexp(np.log1p(-p), some), some).sum(1)
    return logs + laws.normal(w, 0, 1.5).sum(1)


@row(_hurdle, rows=40, w=(REAL, 2), psi=between(0, 1))
def zero_inflated_poisson_regression():
    w = pm.Normal("w", 0, 1.5, shape=2)
    psi = pm.Uniform("psi", 0, 1)
    rate = pm.math.exp(w[0] + w[1] * Z)
    pm.ZeroInflatedPoisson("n", psi, rate, observed=ZEROS)


MIXED = np.array([-2.1, -1.7, 1.9, 2.6, 1.2, -0.3, 3.1, 2.2, 1.6, 0.4, -2.9, 1.1])


def _weight(w):
    one, two = laws.normal(MIXED, -2, 1), laws.normal(MIXED, 2, 1)
    logs = np.logaddexp(np.log(w)[:, None] + one, np.log1p(-w)[:, None] + two).sum(1)
    return logs + laws.beta(w, 1, 2)


@row(_weight, rows=12, w=between(0, 1))
def weight_of_two_known_components():
    w = pm.Beta("w", 1, 2)
    pm.NormalMixture("x", w=pt.stack([w, 1 - w]), mu=[-2, 2], sigma=[1, 1], observed=MIXED)


def _ordered(slope, cut, gap):
    edges = np.stack([np.full(len(cut), -np.inf), cut, cut + gap, np.full(len(cut), np.inf)], 1)
    eta = slope[:, None] * Z
    low = expit(edges[:, LEVELS] - eta)
    high = expit(edges[:, LEVELS + 1] - eta)
    logs = np.log(high - low).sum(1)
    return logs + laws.normal(slope, 0, 2) + laws.normal(cut, 0, 3) + laws.exponential(gap, 0.5)


LEVELS = np.digitize(COUNTS, [2, 4])


@row(_ordered, rows=120, slope=REAL, cut=REAL, gap=POSITIVE)
def ordered_logistic_regression():
    slope = pm.Normal("slope", 0, 2)
    cut = pm.Normal("cut", 0, 3)
    gap = pm.Exponential("gap", 0.5)
    pm.OrderedLogistic(
        "level", eta=slope * Z, cutpoints=pt.stack([cut, cut + gap]), observed=LEVELS
    )


KINDS = np.digitize(W, [-0.4, 0.5])


def _softmax(b):
    eta = np.stack([np.zeros((len(b), 40)), b[:, :1] + b[:, 1:2] * Z, b[:, 2:3] + b[:, 3:] * Z])
    logs = np.take_along_axis(eta, KINDS[None, None, :], 0)[0] - logsumexp(eta, 0)
    return logs.sum(1) + laws.normal(b, 0, 1.5).sum(1)


@row(_softmax, rows=120, b=(REAL, 4))
def softmax_regression_of_three_kinds():
    b = pm.Normal("b", 0, 1.5, shape=4)
    eta = pt.stack([pt.zeros(40), b[0] + b[1] * Z, b[2] + b[3] * Z], axis=1)
    pm.Categorical("kind", logit_p=eta, observed=KINDS)


CURVE = np.round(6 * np.exp(-0.5 * HOURS) + 0.3 * W, 2)


def _decay(rate, sigma):
    # The height is normal and integrated out: one column, exp(-rate x)
    x = np.exp(-rate[:, None] * HOURS)
    s2 = sigma**2
    precision = 1 / 100 + (x**2).sum(1) / s2
    mean = (x @ CURVE) / s2 / precision
    logs = mean**2 * precision / 2 - (CURVE @ CURVE) / (2 * s2) - np.log(precision) / 2
    logs = logs - np.log(10) - 40 * (np.log(sigma) + laws.LOG_2PI / 2)
    prior = laws.half_normal(rate, 1) + laws.half_normal(sigma, 1)
    return logs + prior, {"height": (mean, 1 / precision)}


@row(_decay, rows=40, rate=POSITIVE, sigma=POSITIVE, start={"rate": 0.5, "sigma": 0.3})
def exponential_decay_of_unknown_rate():
    height = pm.Normal("height", 0, 10)
    rate = pm.HalfNormal("rate", 1)
    sigma = pm.HalfNormal("sigma", 1)
    pm.Normal("y", height * pm.math.exp(-rate * HOURS), sigma, observed=CURVE)


def _skewed(mu, alpha):
    logs = (np.log(2) + laws.normal(HEAVY, mu[:, None], 1.0)
            + log_ndtr(alpha[:, None] * (HEAVY - mu[:, None]))).sum(1)  # fmt: skip
    return logs + laws.normal(mu, 0, 2) + laws.normal(alpha, 0, 3)


@row(_skewed, rows=40, mu=REAL, alpha=REAL)
def skewed_rows():
    mu = pm.Normal("mu", 0, 2)
    alpha = pm.Normal("alpha", 0, 3)
    pm.SkewNormal("y", mu=mu, sigma=1, alpha=alpha, observed=HEAVY)
