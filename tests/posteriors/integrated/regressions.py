"""Regressions with a normal likelihood: every usual prior of the scale.

Stack loss: Brownlee (1965), 21 days of a plant, and Engel (1857), food and income: both as in
statsmodels, in the public domain.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, linear
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, between
from tests.posteriors.integrated.row import row


def standard(x):
    return (x - x.mean(0)) / x.std(0)


STACK = sm.datasets.stackloss.load_pandas().data
FEATURES = ["AIRFLOW", "WATERTEMP", "ACIDCONC"]
X = standard(STACK[FEATURES].to_numpy())
Y = STACK["STACKLOSS"].to_numpy()
ONE = np.column_stack([np.ones(len(Y)), X])
ENGEL = sm.datasets.engel.load_pandas().data.iloc[::5]
INCOME, FOOD = (ENGEL[name].to_numpy() / 100 for name in ("income", "foodexp"))
UNIT = np.eye(4)


def stack(noise, level=20.0, slope=10.0):
    """Return the log marginal density of the stack loss, and the law of the weights."""
    sd = columns(len(noise), a=level, w=(slope, 3))
    return linear(ONE, Y, sd, noise, watch={"a": UNIT[0], "w": UNIT[1:]})


def with_prior(prior):
    """Return the density of the scale under a prior."""

    def density(sigma):
        logs, block = stack(sigma)
        return logs + prior(sigma), block

    return density


@row(with_prior(lambda s: laws.half_normal(s, 10)), sigma=POSITIVE)
def regression_half_normal_scale():
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    sigma = pm.HalfNormal("sigma", 10)
    pm.Normal("y", a + pm.math.dot(X, w), sigma, observed=Y)


@row(with_prior(lambda s: laws.half_cauchy(s, 5)), own=True, sigma=POSITIVE)
def regression_half_cauchy_scale():
    with pm.Model(coords={"feature": FEATURES, "day": np.arange(21)}) as model:
        x = pm.Data("x", X, dims=("day", "feature"))
        loss = pm.Data("loss", Y, dims="day")
        a = pm.Normal("a", 0, 20)
        w = pm.Normal("w", 0, 10, dims="feature")
        mu = pm.Deterministic("mu", a + x @ w, dims="day")
        sigma = pm.HalfCauchy("sigma", 5)
        pm.Normal("y", mu, sigma, observed=loss, dims="day")
    return model


@row(with_prior(lambda s: laws.half_student(s, 4, 5)), sigma=POSITIVE)
def regression_half_student_scale():
    sigma = pm.HalfStudentT("sigma", nu=4, sigma=5)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", mu=np.zeros(3), sigma=10)
    pm.Normal("y", mu=a + (X * w).sum(axis=1), sigma=sigma, observed=Y)


@row(with_prior(lambda s: laws.exponential(s, 0.2)), sigma=POSITIVE)
def regression_exponential_scale():
    sigma = pm.Exponential("sigma", scale=5)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    mu = a + w[0] * X[:, 0] + w[1] * X[:, 1] + w[2] * X[:, 2]
    pm.Normal("y", mu, sigma, observed=Y)


@row(with_prior(lambda s: laws.gamma(s, 2, 0.5)), sigma=POSITIVE)
def regression_gamma_scale():
    sigma = pm.Gamma("sigma", mu=4, sigma=np.sqrt(8))
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + pt.dot(X, w), sigma, observed=Y)


@row(with_prior(lambda s: laws.inverse_gamma(s, 3, 8)), sigma=POSITIVE)
def regression_inverse_gamma_scale():
    sigma = pm.InverseGamma("sigma", 3, 8)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + X @ w, tau=1 / sigma**2, observed=Y)


@row(with_prior(lambda s: np.full_like(s, -np.log(19.9))), sigma=between(0.1, 20))
def regression_uniform_scale():
    sigma = pm.Uniform("sigma", 0.1, 20)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    for i in range(len(Y)):
        pm.Normal(f"y{i}", a + pm.math.sum(X[i] * w), sigma, observed=Y[i])


@row(with_prior(lambda s: laws.log_normal(s, 1, 0.7)), sigma=POSITIVE)
def regression_log_normal_scale():
    sigma = pm.LogNormal("sigma", 1, 0.7)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + X @ w, sigma, observed=Y)


def _variance(variance):
    logs, block = stack(np.sqrt(variance))
    return logs + laws.inverse_gamma(variance, 2, 5), block


@row(_variance, variance=POSITIVE)
def regression_with_weights_apart_from_the_variance():
    variance = pm.InverseGamma("variance", 2, 5)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + X @ w, pm.math.sqrt(variance), observed=Y)


def _precision(precision):
    logs, block = stack(precision**-0.5)
    b = {f"b{i}": tuple(part[:, i - 1] for part in block["w"]) for i in (1, 2, 3)}
    return logs + laws.gamma(precision, 0.5, 0.5), {"b0": block["a"], **b}


@row(_precision, precision=POSITIVE)
def regression_in_the_style_of_bugs():
    precision = pm.Gamma("precision", 0.5, 0.5)
    b0 = pm.Normal("b0", 0, tau=1 / 400)
    b1, b2, b3 = (pm.Normal(f"b{i}", 0, tau=0.01) for i in (1, 2, 3))
    mu = b0 + b1 * X[:, 0] + b2 * X[:, 1] + b3 * X[:, 2]
    pm.Normal("y", mu=mu, tau=precision, observed=Y)


def _flat(sigma):
    big = 1e6
    logs, block = linear(ONE, Y, np.full((len(sigma), 4), big), sigma, watch={"w": UNIT})
    return logs + 4 * (np.log(big) + laws.LOG_2PI / 2) + laws.half_cauchy(sigma, 5), block


@row(_flat, proper=False, sigma=POSITIVE)
def regression_with_flat_weights():
    w = pm.Flat("w", shape=4)
    sigma = pm.HalfCauchy("sigma", 5)
    pm.Normal("y", ONE @ w, sigma, observed=Y)


def _log_sigma(log_sigma):
    logs, block = stack(np.exp(log_sigma))
    return logs + laws.normal(log_sigma, 1, 1), block


@row(_log_sigma, log_sigma=REAL)
def regression_with_the_log_of_the_scale():
    log_sigma = pm.Normal("log_sigma", 1, 1)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + X @ w, pm.math.exp(log_sigma), observed=Y)


def _trend(g):
    noise = np.exp(g[:, :1] + g[:, 1:] * standard(INCOME))
    X2 = np.column_stack([np.ones(len(INCOME)), INCOME])
    watch = {"line": np.eye(2)}
    logs, block = linear(X2, FOOD, np.full((len(g), 2), 3.0), noise, watch=watch)
    return logs + laws.normal(g[:, 0], 0, 2) + laws.normal(g[:, 1], 0, 1), block


@row(_trend, g=(REAL, 2))
def noise_that_grows_with_income():
    line = pm.Normal("line", 0, 3, shape=2)
    g = pm.Normal("g", 0, [2, 1], shape=2)
    noise = pm.math.exp(g[0] + g[1] * standard(INCOME))
    pm.Normal("food", line[0] + line[1] * INCOME, noise, observed=FOOD)


def _two_noises(sigma):
    late = (np.arange(21) > 9).astype(int)
    sd = columns(len(sigma), a=20.0, w=(10.0, 3))
    logs, block = linear(ONE, Y, sd, sigma[:, late], watch={"a": UNIT[0], "w": UNIT[1:]})
    return logs + laws.half_normal(sigma, 5).sum(1), block


@row(_two_noises, sigma=(POSITIVE, 2))
def regression_whose_noise_differs_by_period():
    late = (np.arange(21) > 9).astype(int)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    sigma = pm.HalfNormal("sigma", 5, shape=2)
    pm.Normal("y", a + X @ w, sigma[late], observed=Y)


def _potential(sigma):
    X2 = np.column_stack([np.ones(len(INCOME)), INCOME])
    sd = columns(len(sigma), a=2.0, b=1.0)
    watch = {"a": np.eye(2)[0], "b": np.eye(2)[1]}
    logs, block = linear(X2, FOOD, sd, sigma, watch=watch)
    return logs + laws.half_normal(sigma, 2), block


@row(_potential, sigma=POSITIVE)
def regression_with_its_likelihood_as_a_potential():
    a = pm.Normal("a", 0, 2)
    b = pm.Normal("b", 0, 1)
    sigma = pm.HalfNormal("sigma", 2)
    pm.Potential("food", pm.logp(pm.Normal.dist(a + b * INCOME, sigma), FOOD).sum())


def _log_rows(sigma):
    X2 = np.column_stack([np.ones(len(INCOME)), np.log(INCOME)])
    watch = {"a": np.eye(2)[0], "b": np.eye(2)[1]}
    logs, block = linear(X2, np.log(FOOD), np.full((len(sigma), 2), 1.0), sigma, watch=watch)
    return logs - np.log(FOOD).sum() + laws.exponential(sigma, 2), block


@row(_log_rows, sigma=POSITIVE)
def log_normal_regression():
    a = pm.Normal("a", 0, 1)
    b = pm.Normal("b", 0, 1)
    sigma = pm.Exponential("sigma", 2)
    pm.LogNormal("food", a + b * np.log(INCOME), sigma, observed=FOOD)


def _above(sigma):
    logs, block = stack(sigma)
    return logs + laws.exponential(sigma - 1, 0.3), block


@row(lambda extra: _above(1 + extra), extra=POSITIVE)
def regression_with_a_least_noise():
    extra = pm.Exponential("extra", 0.3)
    sigma = pm.Deterministic("sigma", 1 + extra)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 10, shape=3)
    pm.Normal("y", a + X @ w, sigma, observed=Y)
