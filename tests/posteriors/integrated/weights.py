"""Regressions with a normal likelihood whose weights have priors with scales of their own.

The stack loss, as in `regressions`.
"""

import numpy as np
import pymc as pm

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import columns, indicators, linear
from tests.posteriors.integrated.quadrature import POSITIVE, REAL, real
from tests.posteriors.integrated.regressions import ONE, UNIT, X, Y
from tests.posteriors.integrated.row import row


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
