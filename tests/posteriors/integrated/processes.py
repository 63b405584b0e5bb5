"""Gaussian processes with two or three hyperparameters.

Places and values are made with a seed; the Nile, as in statsmodels, is in the public domain.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import statsmodels.api as sm

from tests.posteriors.integrated import laws
from tests.posteriors.integrated.normal_block import covariance
from tests.posteriors.integrated.quadrature import POSITIVE, REAL
from tests.posteriors.integrated.row import row
from tests.posteriors.integrated.series import filtered

RNG = np.random.default_rng(20261125)
X = np.sort(RNG.uniform(0, 10, 18))
Y = np.round(np.sin(X) + 0.3 * RNG.normal(size=18), 2)
NILE = sm.datasets.nile.load_pandas().data["volume"].to_numpy()[:60:3] / 100 - 10
YEAR = np.arange(20.0)
GAP = np.subtract.outer(X, X)
YEARS = np.abs(np.subtract.outer(YEAR, YEAR))
EYE = np.eye(18)


def up(x):
    return x[:, None, None]


def squared_exponential(gap, length, size):
    return up(size) ** 2 * np.exp(-((gap / up(length)) ** 2) / 2)


def _two(length, size):
    K = squared_exponential(GAP, length, size)
    logs = covariance(Y, K + 0.3**2 * EYE)
    return logs + laws.inverse_gamma(length, 5, 5) + laws.half_normal(size, 1)


@row(_two, rows=1000, length=POSITIVE, size=POSITIVE)
def gaussian_process_of_known_noise():
    length = pm.InverseGamma("length", 5, 5)
    size = pm.HalfNormal("size", 1)
    cov = size**2 * pm.gp.cov.ExpQuad(1, ls=length)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=X[:, None], y=Y, sigma=0.3, jitter=0.0)


def _three(length, size, noise):
    K = squared_exponential(GAP, length, size)
    logs = covariance(Y, K + up(noise) ** 2 * EYE)
    prior = laws.gamma(length, 4, 2) + laws.half_normal(size, 2) + laws.half_normal(noise, 1)
    return logs + prior


@row(_three, rows=1000, length=POSITIVE, size=POSITIVE, noise=POSITIVE)
def gaussian_process_of_unknown_noise():
    length = pm.Gamma("length", 4, 2)
    size = pm.HalfNormal("size", 2)
    noise = pm.HalfNormal("noise", 1)
    K = size**2 * pt.exp(-((GAP / length) ** 2) / 2)
    pm.MvNormal("y", np.zeros(18), cov=K + noise**2 * np.eye(18), observed=Y)


def _latent(length, noise):
    K = squared_exponential(GAP, length, np.ones_like(length)) + 1e-4 * EYE
    S = K + up(noise) ** 2 * EYE
    prior = np.broadcast_to(np.diagonal(K, axis1=1, axis2=2), (len(noise), 18))
    logs, block = covariance(Y, S, cross=K, prior=prior)
    return logs + laws.inverse_gamma(length, 3, 4) + laws.exponential(noise, 2), {"f": block}


@row(_latent, rows=1500, length=POSITIVE, noise=POSITIVE)
def latent_process_with_noise():
    length = pm.InverseGamma("length", 3, 4)
    noise = pm.Exponential("noise", 2)
    K = pt.exp(-((GAP / length) ** 2) / 2) + 1e-4 * np.eye(18)
    f = pm.MvNormal("f", np.zeros(18), cov=K, shape=18)
    pm.Normal("y", f, noise, observed=Y)


def _matern(length, size):
    t = np.sqrt(3) * np.abs(GAP) / up(length)
    K = up(size) ** 2 * (1 + t) * np.exp(-t)
    points = len(size)
    S = K + 0.25**2 * EYE + 1 + 0.25 * np.outer(X - 5, X - 5)
    cross = np.broadcast_to(np.stack([np.ones(18), 0.25 * (X - 5)]), (points, 2, 18))
    prior = np.broadcast_to([1.0, 0.25], (points, 2))
    logs, (mean, var) = covariance(Y, S, cross=cross, prior=prior)
    block = {"a": (mean[:, 0], var[:, 0]), "b": (mean[:, 1], var[:, 1])}
    return logs + laws.gamma(length, 3, 1) + laws.half_normal(size, 1), block


@row(_matern, rows=1200, length=POSITIVE, size=POSITIVE)
def matern_process_about_a_line():
    a, b = pm.Normal("a", 0, 1), pm.Normal("b", 0, 0.5)
    length = pm.Gamma("length", 3, 1)
    size = pm.HalfNormal("size", 1)
    t = np.sqrt(3) * np.abs(GAP) / length
    K = size**2 * (1 + t) * pt.exp(-t)
    pm.MvNormal("y", a + b * (X - 5), cov=K + 0.25**2 * np.eye(18), observed=Y)


def _exponential(length, size, noise):
    # With a year between, an autoregression of order one
    phi = np.exp(-1 / (2 * length))
    logs, _ = filtered(NILE, 0, size, size * np.sqrt(-np.expm1(-1 / length)), noise, phi)
    prior = laws.log_normal(length, 1, 1) + laws.half_normal(size, 2) + laws.half_normal(noise, 2)
    return logs + prior


@row(_exponential, rows=40, length=POSITIVE, size=POSITIVE, noise=POSITIVE)
def ornstein_uhlenbeck_process_of_the_nile():
    length = pm.LogNormal("length", 1, 1)
    size, noise = pm.HalfNormal("size", 2), pm.HalfNormal("noise", 2)
    K = size**2 * pt.exp(-YEARS / (2 * length))
    pm.MvNormal("flow", np.zeros(20), cov=K + noise**2 * np.eye(20), observed=NILE)


def _log(log_hyper):
    length, size = np.exp(log_hyper[:, 0]), np.exp(log_hyper[:, 1])
    K = squared_exponential(YEARS, length, size)
    logs = covariance(NILE, K + 1.2**2 * np.eye(20))
    return logs + laws.normal(log_hyper, [1.0, 0.0], [0.5, 1.0]).sum(1)


@row(_log, rows=1300, log_hyper=(REAL, 2))
def process_with_logs_of_its_hyperparameters():
    log_hyper = pm.Normal("log_hyper", mu=[1, 0], sigma=[0.5, 1], shape=2)
    hyper = pm.Deterministic("hyper", pm.math.exp(log_hyper))
    K = hyper[1] ** 2 * pt.exp(-0.5 * (YEARS / hyper[0]) ** 2) + 1.2**2 * np.eye(20)
    chol = pt.linalg.cholesky(K)
    pm.MvNormal("flow", mu=np.zeros(20), chol=chol, observed=NILE)


def _periodic(length, size):
    K = up(size) ** 2 * np.exp(-2 * np.sin(np.pi * GAP / 6.28) ** 2 / up(length) ** 2)
    logs = covariance(Y, K + 0.3**2 * EYE)
    return logs + laws.half_student(length, 4, 2) + laws.half_normal(size, 1)


@row(_periodic, rows=1000, length=POSITIVE, size=POSITIVE)
def periodic_process():
    length = pm.HalfStudentT("length", nu=4, sigma=2)
    size = pm.HalfNormal("size", 1)
    K = size**2 * pm.math.exp(-2 * np.sin(np.pi * GAP / 6.28) ** 2 / length**2)
    pm.MvNormal("y", mu=0 * X, cov=K + np.diag(np.full(18, 0.3**2)), observed=Y)
