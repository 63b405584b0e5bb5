"""Everyday regressions: many coefficients, sparse priors, kinks, odd noise, what is cut off.

All data are made by a seed of this file; see `table`.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.everyday.hand import (
    POSITIVE,
    REAL,
    UNIT,
    everyday,
    gamma,
    half_normal,
    normal,
    poisson,
)
from tests.posteriors.everyday.table import logistic_density, negative_binomial

RNG = np.random.default_rng(20261201)
X = np.column_stack([np.ones(80), RNG.normal(size=(80, 5))])

# --- many coefficients ----------------------------------------------------------------------------

WIDE = RNG.normal(size=(300, 40))
VOTED = (RNG.random(300) < special.expit(WIDE[:, :10] @ np.linspace(-1, 1, 10))).astype(int)


def ten_density(w):
    eta = w @ WIDE[:, :10].T
    return stats.t.logpdf(w, 4, 0, 2.5).sum(1) + eta @ VOTED - np.logaddexp(0, eta).sum(1)


@everyday(ten_density, w=(REAL, 10), width=300, scramblings=11)
def logit_of_ten_coefficients_with_student_priors():
    w = pm.StudentT("w", nu=4, mu=0, sigma=2.5, shape=10)
    pm.Bernoulli("y", logit_p=WIDE[:, :10] @ w, observed=VOTED)


@everyday(logistic_density(WIDE, VOTED, 0.5), w=(REAL, 40), width=300, scramblings=12)
def logit_of_forty_coefficients():
    w = pm.Normal("w", 0, 0.5, shape=40)
    pm.Bernoulli("y", logit_p=WIDE @ w, observed=VOTED)


CALLS = RNG.poisson(np.exp(1.0 + WIDE[:100, :19] @ np.linspace(-0.3, 0.3, 19)))
TWENTY = np.column_stack([np.ones(100), WIDE[:100, :19]])


def twenty_density(w):
    return normal(w) + poisson(w @ TWENTY.T, CALLS).sum(1)


@everyday(twenty_density, w=(REAL, 20), width=100, scramblings=14, df=25.0)
def poisson_regression_with_twenty_coefficients():
    w = pm.Normal("w", shape=20)
    pm.Poisson("y", pm.math.exp(TWENTY @ w), observed=CALLS)


_ETA = X[:, :3] @ np.array([[0, 0.5, -0.3, 0.2], [0, 0.8, 0.0, -0.6], [0, 0.0, 0.7, 0.4]])
TEAM = (_ETA + RNG.gumbel(size=(80, 4))).argmax(1)


def softmax_density(w):
    eta = np.einsum("ij,njk->nik", X[:, :3], w.reshape(-1, 3, 3))
    eta = np.pad(eta, ((0, 0), (0, 0), (1, 0)))
    chosen = eta[:, np.arange(80), TEAM]
    return normal(w, 0, 1.5) + (chosen - special.logsumexp(eta, axis=-1)).sum(1)


@everyday(softmax_density, w=(REAL, 9), width=400, scramblings=12)
def softmax_of_four_classes():
    w = pm.Normal("w", 0, 1.5, shape=9)
    eta = pt.concatenate([pt.zeros((80, 1)), X[:, :3] @ w.reshape((3, 3))], axis=1)
    pm.Categorical("y", p=pm.math.softmax(eta, axis=1), observed=TEAM)


_SHARES = np.exp(X[:, :3] @ np.array([[1.0, 0.5, 1.5], [0.3, 0.0, -0.3], [0.0, 0.4, 0.0]]))
SHARES = np.clip(np.array([RNG.dirichlet(a) for a in _SHARES]), 1e-3, None)
SHARES = SHARES / SHARES.sum(1, keepdims=True)


def dirichlet_density(w):
    a = np.exp(np.einsum("ij,njk->nik", X[:, :3], w.reshape(-1, 3, 3)))
    each = special.gammaln(a.sum(-1)) + ((a - 1) * np.log(SHARES) - special.gammaln(a)).sum(-1)
    return normal(w) + each.sum(1)


@everyday(dirichlet_density, w=(REAL, 9), width=400, scramblings=12)
def dirichlet_regression_of_three_shares():
    w = pm.Normal("w", shape=9)
    pm.Dirichlet("y", pm.math.exp(X[:, :3] @ w.reshape((3, 3))), observed=SHARES)


PAIRS = np.array([(i, j) for i in range(7) for j in range(i)])
_STRENGTH = np.linspace(1.5, -1.5, 7)
WINS = RNG.binomial(6, special.expit(_STRENGTH[PAIRS[:, 0]] - _STRENGTH[PAIRS[:, 1]]))


def teams_density(strength):
    eta = strength[:, PAIRS[:, 0]] - strength[:, PAIRS[:, 1]]
    ways = np.log(special.binom(6, WINS)).sum()
    return normal(strength, 0, 1.5) + eta @ WINS - 6 * np.logaddexp(0, eta).sum(1) + ways


@everyday(teams_density, strength=(REAL, 7), width=100)
def teams_by_their_strength():
    strength = pm.Normal("strength", 0, 1.5, shape=7)
    eta = strength[PAIRS[:, 0]] - strength[PAIRS[:, 1]]
    pm.Binomial("y", 6, logit_p=eta, observed=WINS)


# --- sparse priors --------------------------------------------------------------------------------

HEIGHTS = X[:, 1:4] @ [0.8, 0.0, -0.3] + 0.7 * RNG.normal(size=80)


def lasso_density(w, scale, sigma):
    prior = -np.abs(w / scale[:, None]).sum(1) - 3 * np.log(2 * scale)
    likelihood = normal(HEIGHTS - w @ X[:, 1:4].T, 0, sigma[:, None])
    return prior + half_normal(scale) + half_normal(sigma) + likelihood


@everyday(lasso_density, w=(REAL, 3), scale=POSITIVE, sigma=POSITIVE, width=100)
def lasso_of_three_coefficients():
    scale, sigma = pm.HalfNormal("scale", 1), pm.HalfNormal("sigma", 1)
    w = pm.Laplace("w", 0, scale, shape=3)
    pm.Normal("y", X[:, 1:4] @ w, sigma, observed=HEIGHTS)


SPARSE = X[:40, 1:] @ [1.0, 0.0, 0.0, -0.5, 0.0] + RNG.normal(size=40)


def horseshoe_density(local, tau, sigma):
    scale = (tau[:, None] * local) ** 2
    cov = np.einsum("ij,nj,kj->nik", X[:40, 1:], scale, X[:40, 1:])
    root = np.linalg.cholesky(cov + (sigma**2)[:, None, None] * np.eye(40))
    at = np.linalg.solve(root, np.broadcast_to(SPARSE, root.shape[:2])[..., None])[..., 0]
    volume = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
    prior = stats.t.logpdf(local, 3).sum(1) + 5 * np.log(2) + half_normal(tau)
    return prior + half_normal(sigma) + normal(at) - volume


@everyday(
    horseshoe_density, local=(POSITIVE, 5), tau=POSITIVE, sigma=POSITIVE,
    width=5000, scramblings=10,
)  # fmt: skip
def horseshoe_of_five_coefficients():
    local, tau = pm.HalfStudentT("local", nu=3, sigma=1, shape=5), pm.HalfNormal("tau", 1)
    sigma, z = pm.HalfNormal("sigma", 1), pm.Normal("z", shape=5)
    pm.Normal("y", X[:40, 1:] @ (z * local * tau), sigma, observed=SPARSE)


# --- noise of all kinds ---------------------------------------------------------------------------

LINE = X[:, :3] @ [1.0, 0.6, -0.4]
RENTS = LINE + 0.5 * RNG.standard_t(4, size=80)


def quantile_density(w, b):
    gap = RENTS - w @ X[:, :3].T
    loss = np.where(gap >= 0, 0.3 * gap, -0.7 * gap)
    return normal(w, 0, 2) + half_normal(b) + 80 * np.log(0.21 / b) - loss.sum(1) / b


@everyday(quantile_density, w=(REAL, 3), b=POSITIVE, width=100)
def quantile_regression_of_three_coefficients():
    w, b = pm.Normal("w", 0, 2, shape=3), pm.HalfNormal("b", 1)
    gap = RENTS - X[:, :3] @ w
    loss = pt.switch(gap >= 0, 0.3 * gap, -0.7 * gap)
    pm.Potential("loss", (pt.log(0.21 / b) - loss / b).sum())


def laplace_density(w, b):
    return (
        normal(w, 0, 2)
        + half_normal(b)
        + stats.laplace.logpdf(RENTS, w @ X[:, :3].T, b[:, None]).sum(1)
    )


@everyday(laplace_density, w=(REAL, 3), b=POSITIVE, width=100)
def least_absolute_deviations():
    w, b = pm.Normal("w", 0, 2, shape=3), pm.HalfNormal("b", 1)
    pm.Laplace("y", X[:, :3] @ w, b, observed=RENTS)


SKEWED = LINE + stats.skewnorm.rvs(4, 0, 0.8, size=80, random_state=RNG)


def skew_density(w, sigma, alpha):
    each = stats.skewnorm.logpdf(SKEWED, alpha[:, None], w @ X[:, :3].T, sigma[:, None])
    return normal(w, 0, 2) + half_normal(sigma) + normal(alpha, 3, 2) + each.sum(1)


@everyday(skew_density, w=(REAL, 3), sigma=POSITIVE, alpha=REAL, width=100)
def skew_normal_regression():
    w, sigma = pm.Normal("w", 0, 2, shape=3), pm.HalfNormal("sigma", 1)
    alpha = pm.Normal("alpha", 3, 2)
    pm.SkewNormal("y", mu=X[:, :3] @ w, sigma=sigma, alpha=alpha, observed=SKEWED)


REACTED = LINE + 0.3 * RNG.normal(size=80) + RNG.exponential(0.8, size=80)


def reaction_density(w, sigma, nu):
    s, n = sigma[:, None], nu[:, None]
    z = (REACTED - w @ X[:, :3].T) / s
    each = -np.log(n) - z * s / n + 0.5 * (s / n) ** 2 + special.log_ndtr(z - s / n)
    return normal(w, 0, 2) + half_normal(sigma) + gamma(nu, 2, 2) + each.sum(1)


@everyday(reaction_density, w=(REAL, 3), sigma=POSITIVE, nu=POSITIVE, width=100)
def exponentially_modified_normal_regression():
    w, sigma = pm.Normal("w", 0, 2, shape=3), pm.HalfNormal("sigma", 1)
    nu = pm.Gamma("nu", 2, 2)
    pm.ExGaussian("y", mu=X[:, :3] @ w, sigma=sigma, nu=nu, observed=REACTED)


ONE_SIDED = stats.skewnorm.rvs(3, 1, 2, size=60, random_state=1)


def one_sided_density(mean, sigma, alpha):
    each = stats.skewnorm.logpdf(ONE_SIDED, alpha[:, None], mean[:, None], sigma[:, None])
    return normal(mean, 0, 5) + half_normal(sigma, 5) + normal(alpha, 0, 5) + each.sum(1)


@everyday(one_sided_density, mean=REAL, sigma=POSITIVE, alpha=REAL, width=60, df=3)
def skew_normal_noise():
    mean, sigma = pm.Normal("mean", 0, 5), pm.HalfNormal("sigma", 5)
    pm.SkewNormal("y", mu=mean, sigma=sigma, alpha=pm.Normal("alpha", 0, 5), observed=ONE_SIDED)


_DIRECTION = 0.5 + 2 * np.arctan(X[:, 1:3] @ [0.6, -0.4])
HEADINGS = RNG.vonmises(_DIRECTION, 4.0)


def headings_density(base, w, kappa):
    k = kappa[:, None]
    gap = HEADINGS - base[:, None] - 2 * np.arctan(w @ X[:, 1:3].T)
    each = k * np.cos(gap) - np.log(2 * np.pi * special.i0e(k)) - k
    return normal(base) + normal(w) + gamma(kappa, 2, 0.5) + each.sum(1)


@everyday(headings_density, base=REAL, w=(REAL, 2), kappa=POSITIVE, width=100)
def headings_on_a_circle():
    base, w = pm.Normal("base"), pm.Normal("w", shape=2)
    kappa = pm.Gamma("kappa", 2, 0.5)
    # A von Mises law has no limits of its own here: angles may be turned round.
    gap = HEADINGS - base - 2 * pt.arctan(X[:, 1:3] @ w)
    pm.Potential("y", (kappa * pt.cos(gap) - pt.log(2 * np.pi * pt.i0(kappa))).sum())


UNEVEN = LINE + np.exp(X[:, :3] @ [-0.5, 0.4, 0.3]) * RNG.normal(size=80)


def uneven_density(w, v):
    return normal(w, 0, 2) + normal(v) + normal(UNEVEN - w @ X[:, :3].T, 0, np.exp(v @ X[:, :3].T))


@everyday(uneven_density, w=(REAL, 3), v=(REAL, 3), width=100)
def regression_of_mean_and_spread():
    w, v = pm.Normal("w", 0, 2, shape=3), pm.Normal("v", shape=3)
    pm.Normal("y", X[:, :3] @ w, pm.math.exp(X[:, :3] @ v), observed=UNEVEN)


PASSED = RNG.wald(np.exp(X[:, :4] @ [1.0, 0.3, -0.2, 0.1]), 6.0)


def wald_density(w, shape):
    mean, lam = np.exp(w @ X[:, :4].T), shape[:, None]
    each = 0.5 * np.log(lam / (2 * np.pi * PASSED**3))
    each = each - lam * (PASSED - mean) ** 2 / (2 * mean**2 * PASSED)
    return normal(w, 0, 2) + gamma(shape, 2, 0.2) + each.sum(1)


@everyday(wald_density, w=(REAL, 4), shape=POSITIVE, width=100)
def inverse_normal_passage_times():
    w, shape = pm.Normal("w", 0, 2, shape=4), pm.Gamma("shape", 2, 0.2)
    pm.Wald("y", mu=pm.math.exp(X[:, :4] @ w), lam=shape, observed=PASSED)


# --- zeros, and what is cut off -------------------------------------------------------------------

_MEAN = np.exp(X[:, :3] @ [1.0, 0.5, -0.3])
CAUGHT = RNG.negative_binomial(2.0, 2.0 / (2.0 + _MEAN)) * (RNG.random(80) < 0.7)


def zeros_density(w, alpha, psi):
    each = np.log(psi)[:, None] + negative_binomial(w @ X[:, :3].T, alpha[:, None], CAUGHT)
    each = np.where(CAUGHT == 0, np.logaddexp(each, np.log1p(-psi)[:, None]), each)
    return normal(w, 0, 1.5) + gamma(alpha, 2, 0.5) + each.sum(1)


@everyday(zeros_density, w=(REAL, 3), alpha=POSITIVE, psi=UNIT, width=100)
def zero_inflated_negative_binomial_regression():
    w, alpha = pm.Normal("w", 0, 1.5, shape=3), pm.Gamma("alpha", 2, 0.5)
    psi = pm.Beta("psi", 1, 1)
    mean = pm.math.exp(X[:, :3] @ w)
    pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=mean, alpha=alpha, observed=CAUGHT)


_SPENDS = RNG.random(80) < special.expit(X[:, :3] @ [0.8, 0.5, 0.0])
SPENT = np.where(_SPENDS, RNG.gamma(2.0, _MEAN / 2.0), 0.0)


def hurdle_density(v, w, shape):
    eta, a = v @ X[:, :3].T, shape[:, None]
    rate = a * np.exp(-w @ X[:, :3].T)
    some = np.log(np.where(SPENT > 0, SPENT, 1.0))
    amount = a * np.log(rate) - special.gammaln(a) + (a - 1) * some - rate * SPENT
    each = np.where(SPENT > 0, amount - np.logaddexp(0, -eta), -np.logaddexp(0, eta))
    return normal(v, 0, 1.5) + normal(w, 0, 1.5) + gamma(shape, 2, 0.5) + each.sum(1)


@everyday(hurdle_density, v=(REAL, 3), w=(REAL, 3), shape=POSITIVE, width=100)
def hurdle_of_gamma_amounts():
    v, w = pm.Normal("v", 0, 1.5, shape=3), pm.Normal("w", 0, 1.5, shape=3)
    shape, eta = pm.Gamma("shape", 2, 0.5), X[:, :3] @ v
    some = SPENT > 0
    pm.Bernoulli("some", logit_p=eta, observed=some.astype(int))
    mean = pm.math.exp(X[some, :3] @ w)
    pm.Gamma("y", shape, shape / mean, observed=SPENT[some])


_LATENT = X[:, :4] @ [0.5, 0.8, -0.5, 0.2] + 0.8 * RNG.normal(size=80)
TOBIT = np.maximum(_LATENT, 0.0)
POSITIVES, LEFT = _LATENT[_LATENT > 0], X[_LATENT > 0, :4]


def tobit_density(w, sigma):
    z = (TOBIT - w @ X[:, :4].T) / sigma[:, None]
    seen = stats.norm.logpdf(z) - np.log(sigma)[:, None]
    each = np.where(TOBIT > 0, seen, special.log_ndtr(z))
    return normal(w, 0, 2) + half_normal(sigma) + each.sum(1)


@everyday(tobit_density, w=(REAL, 4), sigma=POSITIVE, width=100)
def regression_censored_at_zero():
    w, sigma = pm.Normal("w", 0, 2, shape=4), pm.HalfNormal("sigma", 1)
    law = pm.Normal.dist(X[:, :4] @ w, sigma)
    pm.Censored("y", law, lower=0.0, upper=None, observed=TOBIT)


def truncated_density(w, sigma):
    z = w @ LEFT.T / sigma[:, None]
    above = special.log_ndtr(z).sum(1)
    likelihood = normal(POSITIVES - w @ LEFT.T, 0, sigma[:, None]) - above
    return normal(w, 0, 2) + half_normal(sigma) + likelihood


@everyday(truncated_density, w=(REAL, 4), sigma=POSITIVE, width=100)
def regression_truncated_at_zero():
    w, sigma = pm.Normal("w", 0, 2, shape=4), pm.HalfNormal("sigma", 1)
    law = pm.Normal.dist(LEFT @ w, sigma)
    pm.Truncated("y", law, lower=0.0, upper=None, observed=POSITIVES)


# --- factors --------------------------------------------------------------------------------------

RNG.normal(size=120)  # what follows stays as the figures have it
_FACTOR = RNG.normal(size=(60, 1))
TESTS = _FACTOR * np.array([0.8, 0.6, 1.0, 0.7, 0.9]) + 0.6 * RNG.normal(size=(60, 5))


def factor_density(load, sigma):
    cov = load[:, :, None] * load[:, None] + sigma[:, :, None] ** 2 * np.eye(5)
    square = np.einsum("nij,ij->n", np.linalg.inv(cov), TESTS.T @ TESTS)
    volume = np.linalg.slogdet(cov)[1] + 5 * np.log(2 * np.pi)
    prior = normal(load) + normal(sigma) + 10 * np.log(2)
    return prior - 0.5 * square - 30 * volume


@everyday(factor_density, load=(POSITIVE, 5), sigma=(POSITIVE, 5), width=200, scramblings=12)
def one_factor_of_five_tests():
    load, sigma = pm.HalfNormal("load", 1, shape=5), pm.HalfNormal("sigma", 1, shape=5)
    factor = pm.Normal("factor", shape=(60, 1))
    pm.Normal("y", factor * load, sigma, observed=TESTS)


SITES = RNG.uniform(size=(25, 5))
SURFACE = np.sin(4 * SITES[:, 0]) + SITES[:, 1] ** 2 + 0.2 * RNG.normal(size=25)
SQUARES = (SITES[:, None] - SITES) ** 2


def surface_density(length, size, noise):
    kernel = np.exp(-0.5 * np.einsum("ijk,nk->nij", SQUARES, length**-2.0))
    cov = (size**2)[:, None, None] * kernel + (noise**2)[:, None, None] * np.eye(25)
    root = np.linalg.cholesky(cov)
    at = np.linalg.solve(root, np.broadcast_to(SURFACE, root.shape[:2])[..., None])[..., 0]
    volume = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(1)
    prior = stats.lognorm.logpdf(length, 0.7).sum(1) + half_normal(size) + half_normal(noise)
    return prior + normal(at) - volume


@everyday(
    surface_density, length=(POSITIVE, 5), size=POSITIVE, noise=POSITIVE,
    width=2000, scramblings=11,
)  # fmt: skip
def gaussian_process_with_five_lengths():
    length = pm.LogNormal("length", 0, 0.7, shape=5)
    size, noise = pm.HalfNormal("size", 1), pm.HalfNormal("noise", 1)
    kernel = size**2 * pm.gp.cov.ExpQuad(5, ls=length)
    process = pm.gp.Marginal(cov_func=kernel)
    process.marginal_likelihood("y", X=SITES, y=SURFACE, sigma=noise, jitter=0.0)


REGRESSIONS = {
    one.name: one
    for one in (
        logit_of_ten_coefficients_with_student_priors, logit_of_forty_coefficients,
        poisson_regression_with_twenty_coefficients, softmax_of_four_classes,
        dirichlet_regression_of_three_shares, teams_by_their_strength,
        lasso_of_three_coefficients, horseshoe_of_five_coefficients,
        quantile_regression_of_three_coefficients, least_absolute_deviations,
        skew_normal_noise, skew_normal_regression,
        exponentially_modified_normal_regression, headings_on_a_circle,
        regression_of_mean_and_spread, inverse_normal_passage_times,
        zero_inflated_negative_binomial_regression, hurdle_of_gamma_amounts,
        regression_censored_at_zero, regression_truncated_at_zero,
        one_factor_of_five_tests,
        gaussian_process_with_five_lengths,
    )
}  # fmt: skip
