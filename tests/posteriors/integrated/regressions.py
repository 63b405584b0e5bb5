"""Regressions with a normal likelihood: every usual prior of the scale, and of the weights.

Stack loss: Brownlee (1965), 21 days of a plant, and Engel (1857), food and income: both as in
statsmodels, in the public domain.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, indicators, linear
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, between, real
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


@row(_flat, sigma=POSITIVE)
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


def _ridge(s, sigma):
    sd = columns(len(s), a=20.0, w=(s, 3))
    logs, block = linear(ONE, Y, sd, sigma, watch={"a": UNIT[0], "w": UNIT[1:]})
    return logs + laws.half_cauchy(s, 5) + laws.half_normal(sigma, 5), block


@row(_ridge, s=POSITIVE, sigma=POSITIVE)
def ridge_of_unknown_strength():
    s = pm.HalfCauchy("s", 5)
    sigma = pm.HalfNormal("sigma", 5)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, s, shape=3)
    pm.Normal("y", a + X @ w, sigma, observed=Y)


def _relative(s, sigma):
    sd = np.concatenate([np.full((len(s), 1), 20.0), np.repeat((s * sigma)[:, None], 3, 1)], 1)
    logs, block = linear(ONE, Y, sd, sigma, watch={"a": UNIT[0]}, scaled={"z": np.arange(1, 4)})
    return logs + laws.half_normal(s, 2) + laws.exponential(sigma, 0.3), block


@row(_relative, s=POSITIVE, sigma=POSITIVE)
def ridge_in_units_of_the_noise():
    s = pm.HalfNormal("s", 2)
    sigma = pm.Exponential("sigma", 0.3)
    z = pm.Normal("z", shape=3)
    a = pm.Normal("a", 0, 20)
    w = pm.Deterministic("w", s * sigma * z)
    pm.Normal("y", a + X @ w, sigma, observed=Y)


def _means(m_scale, sigma):
    # w = m + s z with the common mean m: a column more
    design = np.column_stack([np.ones(21), X.sum(1), X])
    sd = columns(len(sigma), a=20.0, m=10.0, w=(m_scale, 3))
    C = np.column_stack([np.zeros((3, 1)), np.ones((3, 1)), np.eye(3)])
    watch = {"a": np.eye(5)[0], "m": np.eye(5)[1], "w": C}
    logs, block = linear(design, Y, sd, sigma, watch=watch)
    return logs + laws.half_normal(m_scale, 5) + laws.half_normal(sigma, 10), block


@row(_means, m_scale=POSITIVE, sigma=POSITIVE)
def weights_about_an_unknown_mean():
    m, m_scale = pm.Normal("m", 0, 10), pm.HalfNormal("m_scale", 5)
    sigma = pm.HalfNormal("sigma", 10)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", m, m_scale, shape=3)
    pm.Normal("y", a + X @ w, sigma, observed=Y)


def _given_weights(w, sigma):
    """Return the density of two weights and the scale, the intercept integrated out."""
    r = Y - w @ X[:, :2].T
    total, s2 = r.sum(1), sigma**2
    precision = 1 / 400 + 21 / s2
    mean = total / s2 / precision
    logs = -(r**2).sum(1) / (2 * s2) + mean**2 * precision / 2 - 21 * np.log(sigma)
    logs = logs - 21 * laws.LOG_2PI / 2 - np.log(20) - np.log(precision) / 2
    return logs, {"a": (mean, 1 / precision)}


def _lasso(w, sigma):
    logs, block = _given_weights(w, sigma)
    return logs + laws.laplace(w, 3).sum(1) + laws.half_normal(sigma, 5), block


@row(_lasso, w=(real(0.0), 2), sigma=POSITIVE, start={"w": [5, 3], "sigma": 3})
def lasso_of_two_weights():
    w = pm.Laplace("w", 0, 3, shape=2)
    a = pm.Normal("a", 0, 20)
    sigma = pm.HalfNormal("sigma", 5)
    pm.Normal("y", a + X[:, :2] @ w, sigma, observed=Y)


def _student_weights(w, sigma):
    logs, block = _given_weights(w, sigma)
    return logs + laws.student(w, 4, 0, 2).sum(1) + laws.half_cauchy(sigma, 3), block


@row(_student_weights, w=(REAL, 2), sigma=POSITIVE, start={"w": [5, 3], "sigma": 3})
def two_weights_with_student_priors():
    w = pm.StudentT("w", nu=4, mu=0, sigma=2, shape=2)
    a = pm.Normal("a", 0, 20)
    sigma = pm.HalfCauchy("sigma", 3)
    pm.Normal("y", a + X[:, :2] @ w, sigma, observed=Y)


def _cauchy_weight(w):
    r = Y - Y.mean() - w[:, None] * X[:, 2]
    return laws.normal(r, 0, 8.0).sum(1) + laws.cauchy(w, 0, 2.5)


@row(_cauchy_weight, w=REAL)
def one_weight_with_a_cauchy_prior():
    w = pm.Cauchy("w", alpha=0, beta=2.5)
    pm.Normal("y", Y.mean() + w * X[:, 2], 8, observed=Y)


def _far_laplace(w):
    r = 0.3 * X[:5, 2] - w[:, None] * X[:5, 2]
    return laws.normal(r, 0, 2.0).sum(1) + laws.laplace(w, 1.0)


@row(_far_laplace, w=real(0.0))
def one_weight_with_a_laplace_prior_and_little_data():
    w = pm.Laplace("w", 0, 1)
    pm.Normal("y", w * X[:5, 2], 2, observed=0.3 * X[:5, 2])


def _horseshoe(lam, sigma):
    sd = np.concatenate([np.full((len(sigma), 1), 20.0), 2 * lam], 1)
    watch = {"a": np.eye(3)[0], "w": np.eye(3)[1:]}
    logs, block = linear(ONE[:, [0, 1, 3]], Y, sd, sigma, watch=watch)
    return logs + laws.half_cauchy(lam, 1).sum(1) + laws.half_normal(sigma, 5), block


@row(_horseshoe, without=("lam",), lam=(POSITIVE, 2), sigma=POSITIVE)
def horseshoe_of_two_weights():
    lam = pm.HalfCauchy("lam", 1, shape=2)
    sigma = pm.HalfNormal("sigma", 5)
    a = pm.Normal("a", 0, 20)
    w = pm.Normal("w", 0, 2 * lam, shape=2)
    pm.Normal("y", a + X[:, [0, 2]] @ w, sigma, observed=Y)


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


def _gprior(g, sigma):
    # w ~ N(0, g sigma² (X'X)^-1): columns that are orthonormal have independent weights
    q, r = np.linalg.qr(X)
    sd = columns(len(g), a=20.0, v=(np.sqrt(g) * sigma, 3))
    C = np.column_stack([np.zeros(3), np.linalg.inv(r)])
    watch = {"a": UNIT[0], "w": C}
    logs, block = linear(np.column_stack([np.ones(21), q]), Y, sd, sigma, watch=watch)
    return logs + laws.inverse_gamma(g, 0.5, 10.5) + laws.half_normal(sigma, 5), block


@row(_gprior, without=("g",), g=POSITIVE, sigma=POSITIVE)
def zellner_siow_prior():
    g = pm.InverseGamma("g", 0.5, len(Y) / 2)
    sigma = pm.HalfNormal("sigma", 5)
    a = pm.Normal("a", 0, 20)
    w = pm.MvNormal("w", np.zeros(3), cov=g * sigma**2 * np.linalg.inv(X.T @ X))
    pm.Normal("y", a + X @ w, sigma, observed=Y)


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


THIRDS = np.digitize(X[:, 1], [-0.5, 0.7])


def _analysis_of_variance(s, sigma):
    design = np.column_stack([np.ones(21), indicators(THIRDS)])
    sd = columns(len(s), grand=20.0, effect=(s, 3))
    watch = {"grand": UNIT[0], "effect": UNIT[1:]}
    logs, block = linear(design, Y, sd, sigma, watch=watch)
    return logs + laws.half_student(s, 3, 10) + laws.exponential(sigma, 0.1), block


@row(_analysis_of_variance, own=True, s=POSITIVE, sigma=POSITIVE)
def analysis_of_variance_of_three_groups():
    model = pm.Model()
    model.add_coord("water", ["cold", "middle", "warm"])
    with model:
        s = pm.HalfStudentT("s", nu=3, sigma=10)
        sigma = pm.Exponential("sigma", 0.1)
        grand = pm.Normal("grand", 0, 20)
        effect = pm.Normal("effect", 0, s, dims="water")
        pm.Normal("y", grand + effect[THIRDS], sigma, observed=Y)
    return model


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
