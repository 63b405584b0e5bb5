"""The table of models that have no closed form, or none that holds everywhere, as users write them.

Each has the names of variables of which the reason has to name at least one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import Interval, ordered

from tests.posteriors.coins import BITS, CODES, counted
from tests.posteriors.entry import opened
from tests.posteriors.latent import ACCIDENTS, MIXED, TIME
from tests.posteriors.lines import (
    COV,
    EFFECTS,
    ERRORS,
    GROUP,
    HEIGHTS,
    PLACES,
    POINTS,
    SERIES,
    VECTORS,
    X,
    Y,
)
from tests.posteriors.rates import CALLS, LENGTHS, TIMES

RNG = np.random.default_rng(20260505)
CHOSEN = (Y > 0).astype(int)
COUNTS = RNG.poisson(3, 15)
CELLS = RNG.integers(0, 11, (20, 30))
SUCCESSES, TRIALS = np.array([3, 0, 8, 2]), np.array([20, 5, 9, 12])


@dataclass(frozen=True)
class Refused:
    """A model without a closed form, and names of which the reason says at least one."""

    name: str
    build: Callable[[], Any]
    words: tuple[str, ...]


def without(*words):
    """Put names of variables beside a function that fills a model."""
    return lambda fill: Refused(fill.__name__.replace("_", " "), opened(fill), words)


# --- likelihoods that have no conjugate prior -----------------------------------------------------


@without("w")
def logistic_regression():
    w = pm.Normal("w", 0, 2, shape=3)
    pm.Bernoulli("y", logit_p=X @ w, observed=CHOSEN)


@without("w")
def probit_regression():
    w = pm.Normal("w", 0, 2, shape=3)
    pm.Bernoulli("y", p=pm.math.invprobit(X @ w), observed=CHOSEN)


@without("W")
def softmax_regression():
    W = pm.Normal("W", 0, 1, shape=(3, 3))
    pm.Categorical("y", logit_p=X @ W, observed=COUNTS % 3)


@without("w")
def poisson_regression():
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Poisson("y", pm.math.exp(X @ w), observed=COUNTS)


@without("w")
def student_regression():
    w = pm.Normal("w", 0, 2, shape=3)
    pm.StudentT("y", nu=4, mu=X @ w, sigma=0.5, observed=Y)


@without("mu")
def laplace_rows():
    mu = pm.Normal("mu", 0, 2)
    pm.Laplace("x", mu, 1, observed=POINTS)


@without("mu")
def logistic_rows():
    mu = pm.Normal("mu", 0, 2)
    pm.Logistic("x", mu, 1, observed=POINTS)


@without("mu")
def gumbel_rows():
    mu = pm.Normal("mu", 0, 2)
    pm.Gumbel("x", mu, 1, observed=POINTS)


@without("shape")
def gamma_rows_of_unknown_shape():
    shape = pm.Gamma("shape", 2, 1)
    pm.Gamma("x", shape, 1, observed=LENGTHS)


@without("k")
def weibull_rows_of_unknown_shape():
    k = pm.Gamma("k", 2, 1)
    pm.Weibull("x", k, 5, observed=LENGTHS)


@without("alpha")
def negative_binomial_rows_of_unknown_size():
    alpha = pm.Gamma("alpha", 2, 1)
    pm.NegativeBinomial("x", mu=3, alpha=alpha, observed=COUNTS)


@without("psi", "rate")
def counts_with_too_many_zeros():
    psi = pm.Beta("psi", 1, 1)
    rate = pm.Gamma("rate", 2, 1)
    pm.ZeroInflatedPoisson("x", psi, rate, observed=CALLS)


@without("p")
def a_mixture_without_labels():
    p = pm.Dirichlet("p", np.ones(2))
    pm.NormalMixture("x", w=p, mu=[0, 3], sigma=[1, 1], observed=MIXED)


@without("rate")
def a_mixture_of_rates_without_labels():
    rate = pm.Gamma("rate", 2, [1, 0.2], shape=2)
    parts = pm.Poisson.dist(rate[0]), pm.Poisson.dist(rate[1])
    pm.Mixture("x", w=[0.4, 0.6], comp_dists=parts, observed=CALLS)


# --- priors that do not fit -----------------------------------------------------------------------


@without("mu", "sigma")
def half_normal_deviation_with_a_mean():
    mu = pm.Normal("mu", 170, 10)
    sigma = pm.HalfNormal("sigma", 10)
    pm.Normal("x", mu, sigma, observed=HEIGHTS)


@without("sigma")
def half_cauchy_deviation():
    sigma = pm.HalfCauchy("sigma", 2)
    pm.Normal("x", 0, sigma, observed=POINTS)


@without("sigma")
def exponential_deviation():
    sigma = pm.Exponential("sigma", 1)
    pm.Normal("x", 0, sigma, observed=POINTS)


@without("rate")
def log_normal_rate():
    rate = pm.LogNormal("rate", 1, 1)
    pm.Poisson("x", rate, observed=CALLS)


@without("rate")
def half_normal_rate():
    rate = pm.HalfNormal("rate", 3)
    pm.Poisson("x", rate, observed=CALLS)


@without("rate")
def weibull_rate():
    rate = pm.Weibull("rate", 3, 2)
    pm.Poisson("x", rate, observed=CALLS)


@without("theta")
def triangular_share():
    theta = pm.Triangular("theta", lower=0, c=0.5, upper=1)
    pm.Bernoulli("x", theta, observed=BITS)


@without("theta")
def logit_normal_share():
    theta = pm.LogitNormal("theta", 0, 1)
    pm.Bernoulli("x", theta, observed=BITS)


@without("theta")
def truncated_normal_share():
    theta = pm.TruncatedNormal("theta", 0.5, 0.2, lower=0, upper=1)
    pm.Bernoulli("x", theta, observed=BITS)


@without("rate")
def uniform_rate_below_another():
    most = pm.Gamma("most", 2, 1)
    rate = pm.Uniform("rate", 0, most)
    pm.Poisson("x", rate, observed=CALLS)


@without("mu", "sigma")
def uniform_mean_and_deviation():
    mu, sigma = pm.Uniform("mu", 0, 300), pm.Uniform("sigma", 0, 50)
    pm.Normal("x", mu, sigma, observed=HEIGHTS)


@without("mu")
def means_between_different_ends():
    mu = pm.Uniform("mu", 100, [180, 190], shape=2)
    pm.Normal("x", mu[:, None], 8, observed=np.stack([HEIGHTS, HEIGHTS]))


@without("mu")
def student_rows_about_a_uniform_mean():
    mu = pm.Uniform("mu", 150, 200)
    pm.StudentT("x", nu=4, mu=mu, sigma=8, observed=HEIGHTS)


@without("mu")
def mean_on_an_interval_with_a_transform_of_its_own():
    mu = pm.Uniform("mu", 150, 200, transform=Interval(160, 180))
    pm.Normal("x", mu, 8, observed=HEIGHTS)


@without("scale")
def scale_with_a_heavy_tail_and_no_upper_end():
    scale = pm.Truncated("scale", pm.Pareto.dist(2.0, 1.0), lower=1.5)
    pm.Normal("x", 0, scale, observed=ERRORS)


@without("log_rate")
def log_rate_with_a_normal_prior():
    log_rate = pm.Normal("log_rate")
    pm.Poisson("x", pm.math.exp(log_rate), observed=CALLS)


@without("logit")
def logit_without_its_jacobian():
    logit = pm.Flat("logit")
    pm.Binomial("x", 20, pm.math.invlogit(logit), observed=20)


@without("w")
def lasso():
    w = pm.Laplace("w", 0, 1, shape=3)
    pm.Normal("y", X @ w, 0.5, observed=Y)


@without("w", "local")
def horseshoe():
    local = pm.HalfCauchy("local", 1, shape=3)
    w = pm.Normal("w", 0, local, shape=3)
    pm.Normal("y", X @ w, 0.5, observed=Y)


@without("mu")
def student_mean():
    mu = pm.StudentT("mu", nu=5, mu=0, sigma=1)
    pm.Normal("x", mu, 1, observed=POINTS)


@without("chol")
def covariance_by_lkj():
    chol, *_ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
    pm.MvNormal("x", np.zeros(2), chol=chol, observed=VECTORS)


@without("effect")
def effects_that_add_up_to_zero_on_the_log_scale():
    effect = pm.ZeroSumNormal("effect", 1, shape=4)
    pm.Normal("x", pt.exp(effect[GROUP]), 0.5, observed=POINTS)


@without("mu")
def means_in_order():
    mu = pm.Normal("mu", [0, 3], 1, transform=ordered)
    pm.Normal("x", mu[GROUP % 2], 0.5, observed=POINTS)


@without("mu")
def mean_on_a_part_by_its_transform():
    mu = pm.Normal("mu", 1, 1, transform=Interval(0, None))
    pm.Normal("x", mu, 1, observed=POINTS)


@without("theta")
def share_with_a_prior_of_ones_own():
    def logp(value, a):
        return 3 * pt.log(value) + a * pt.log(1 - value) + pt.sin(value)

    theta = pm.CustomDist("theta", 2.0, logp=logp, transform=Interval(0, 1))
    pm.Bernoulli("x", theta, observed=BITS)


# --- blocks that do not fit together --------------------------------------------------------------


@without("w", "sigma2")
def regression_with_independent_priors():
    w = pm.Normal("w", 0, 2, shape=3)
    sigma2 = pm.InverseGamma("sigma2", 2, 1)
    pm.Normal("y", X @ w, pm.math.sqrt(sigma2), observed=Y)


@without("mu", "tau")
def mean_and_precision_with_independent_priors():
    mu = pm.Normal("mu", 170, 10)
    tau = pm.Gamma("tau", 3, 200)
    pm.Normal("x", mu, tau=tau, observed=HEIGHTS)


@without("mu", "sigma2")
def mean_with_the_wrong_power_of_the_scale():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    mu = pm.Normal("mu", 0, sigma2)
    pm.Normal("x", mu, pm.math.sqrt(sigma2), observed=POINTS)


@without("a", "b", "sigma2")
def a_line_of_which_one_prior_has_no_scale():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    a = pm.Normal("a", 0, 5)
    b = pm.Normal("b", 0, pm.math.sqrt(sigma2))
    pm.Normal("y", a + b * X[:, 0], pm.math.sqrt(sigma2), observed=Y)


@without("mu", "first", "second")
def one_mean_and_two_scales():
    mu = pm.Normal("mu", 0, 2)
    first = pm.InverseGamma("first", 2, 1)
    second = pm.InverseGamma("second", 2, 1)
    pm.Normal("x", mu, pm.math.sqrt(first), observed=POINTS[:6])
    pm.Normal("y", mu, pm.math.sqrt(second), observed=POINTS[6:])


@without("mu", "Lambda")
def vectors_with_independent_priors():
    mu = pm.MvNormal("mu", np.zeros(2), cov=4 * np.eye(2))
    precision = pm.Wishart("Lambda", nu=4, V=np.eye(2))
    pm.MvNormal("x", mu, tau=precision, observed=VECTORS)


@without("a", "b", "theta")
def hierarchical_beta_binomial():
    a = pm.Gamma("a", 2, 1)
    b = pm.Gamma("b", 2, 1)
    theta = pm.Beta("theta", a, b, shape=4)
    pm.Binomial("x", TRIALS, theta, observed=SUCCESSES)


@without("mu", "tau", "theta")
def eight_schools():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("effect", theta, ERRORS, observed=EFFECTS)


@without("mu", "tau", "z")
def eight_schools_not_centred():
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfNormal("tau", 5)
    z = pm.Normal("z", shape=8)
    pm.Normal("effect", mu + tau * z, ERRORS, observed=EFFECTS)


@without("between", "mu", "within")
def two_variances():
    between = pm.InverseGamma("between", 2, 1)
    within = pm.InverseGamma("within", 2, 1)
    mu = pm.Normal("mu", 0, pm.math.sqrt(between), shape=4)
    pm.Normal("x", mu[GROUP], pm.math.sqrt(within), observed=POINTS)


@without("b", "rate")
def rates_about_an_unknown_rate():
    b = pm.Gamma("b", 2, 1)
    rate = pm.Gamma("rate", 3, b, shape=5)
    pm.Poisson("x", rate, observed=CALLS[:5])


@without("length", "f")
def a_process_of_unknown_length():
    length = pm.InverseGamma("length", 3, 3)
    cov = pm.gp.cov.ExpQuad(1, ls=length)(PLACES[:, None])
    f = pm.MvNormal("f", np.zeros(8), cov=cov + 1e-4 * np.eye(8))
    pm.Normal("y", f, 0.2, observed=Y[:8])


@without("level", "rho")
def a_series_with_an_unknown_persistence():
    rho = pm.Normal("rho", 0.5, 0.2)
    level = pm.Normal("level", 0, 1, shape=10)
    pm.Normal("steps", level[1:] - rho * level[:-1], 1, observed=np.zeros(9))
    pm.Normal("x", level, 0.3, observed=SERIES)


@without("w", "g")
def deviations_that_depend_on_features():
    w = pm.Normal("w", 0, 1, shape=3)
    g = pm.Normal("g", 0, 1)
    pm.Normal("y", X @ w, pm.math.exp(g * X[:, 0]), observed=Y)


# --- products and sums of parameters --------------------------------------------------------------


@without("a", "b")
def a_product_of_two_shares():
    a = pm.Beta("a", 2, 2)
    b = pm.Beta("b", 2, 2)
    pm.Binomial("x", 20, a * b, observed=5)


@without("a", "b")
def a_mean_of_two_shares():
    a = pm.Beta("a", 2, 2)
    b = pm.Beta("b", 2, 2)
    pm.Binomial("x", 20, (a + b) / 2, observed=5)


@without("a", "b")
def a_product_of_two_means():
    a = pm.Normal("a", 1, 1)
    b = pm.Normal("b", 1, 1)
    pm.Normal("x", a * b, 1, observed=POINTS)


@without("a", "b")
def a_sum_of_two_rates():
    a = pm.Gamma("a", 2, 1)
    b = pm.Gamma("b", 2, 1)
    pm.Poisson("x", a + b, observed=CALLS)


@without("a", "b")
def a_product_of_two_rates():
    a = pm.Gamma("a", 2, 1)
    b = pm.Gamma("b", 2, 1)
    pm.Exponential("x", a * b, observed=TIMES)


@without("rate", "found")
def a_stream_thinned_by_an_unknown_share():
    rate = pm.Gamma("rate", 2, 1)
    found = pm.Beta("found", 2, 2)
    pm.Poisson("x", rate * found, observed=CALLS)


@without("theta")
def a_share_squared():
    theta = pm.Beta("theta", 2, 2)
    pm.Bernoulli("x", theta**2, observed=BITS)


@without("theta")
def a_share_with_mistaken_rows():
    theta = pm.Beta("theta", 2, 2)
    pm.Bernoulli("x", 0.95 * theta + 0.02, observed=BITS)


@without("p")
def the_first_of_three_categories():
    p = pm.Dirichlet("p", np.ones(3))
    pm.Bernoulli("x", p[0], observed=BITS)


@without("p")
def categories_with_mistaken_rows():
    p = pm.Dirichlet("p", np.ones(4))
    pm.Categorical("x", p=0.9 * p + 0.025, observed=CODES)


# --- truncated and censored rows, constraints, kinks and stairs -----------------------------------


@without("mu")
def truncated_rows():
    mu = pm.Normal("mu", 170, 10)
    pm.Truncated("x", pm.Normal.dist(mu, 8), lower=150, observed=HEIGHTS)


@without("mu")
def censored_rows():
    mu = pm.Normal("mu", 170, 10)
    rows = np.minimum(HEIGHTS, 180)
    pm.Censored("x", pm.Normal.dist(mu, 8), lower=None, upper=180, observed=rows)


@without("rate")
def truncated_counts():
    rate = pm.Gamma("rate", 2, 1)
    pm.Truncated("x", pm.Poisson.dist(rate), lower=1, observed=COUNTS[COUNTS > 0])


@without("theta")
def a_constraint_far_from_the_posterior():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=BITS)
    pm.Potential("not everything", pm.math.switch(theta > 0.9999, -np.inf, 0))


@without("mu")
def a_constraint_a_hundred_deviations_away():
    mu = pm.Normal("mu", 0, 1)
    pm.Normal("x", mu, 1, observed=POINTS)
    pm.Potential("not large", pm.math.switch(mu > 30, -np.inf, 0))


@without("a", "b")
def two_shares_in_order():
    a = pm.Beta("a", 2, 2)
    b = pm.Beta("b", 2, 2)
    pm.Binomial("x", [20, 30], pm.math.stack([a, b]), observed=[5, 20])
    pm.Potential("order", pm.math.switch(a < b, 0, -np.inf))


@without("rate")
def a_step_of_the_density():
    rate = pm.Gamma("rate", 2, 1)
    pm.Poisson("x", rate, observed=CALLS)
    pm.Potential("step", pm.math.switch(rate > 25, -1.0, 0.0))


@without("mu")
def a_kink_by_an_absolute_value():
    mu = pm.Normal("mu", 1, 1)
    pm.Normal("x", abs(mu), 1, observed=POINTS)


@without("mu")
def a_kink_far_from_the_posterior():
    mu = pm.Normal("mu", 100, 1)
    pm.Normal("x", pm.math.abs(mu), 1, observed=POINTS + 100)


@without("mu")
def a_kink_by_a_maximum():
    mu = pm.Normal("mu", 0, 1)
    pm.Normal("x", pm.math.maximum(mu, 0), 1, observed=POINTS)


@without("w")
def a_kink_by_a_rectifier():
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", pt.maximum(X @ w, 0), 0.5, observed=Y)


@without("theta")
def a_share_clipped():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", pm.math.clip(theta, 0.01, 0.99), observed=BITS)


@without("theta")
def a_share_clipped_at_the_very_ends():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", pm.math.clip(theta, 1e-9, 1 - 1e-9), observed=BITS)


@without("theta")
def stairs_by_a_floor():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=BITS)
    pm.Potential("stairs", 1e-3 * pm.math.floor(1000 * theta))


@without("mu")
def stairs_by_rounding():
    mu = pm.Normal("mu", 0, 1)
    pm.Normal("x", pm.math.round(mu, mode="half_to_even"), 1, observed=POINTS)


@without("mu")
def stairs_by_a_sign():
    mu = pm.Normal("mu", 0, 1)
    pm.Normal("x", pt.sign(mu), 1, observed=POINTS)


@without("change")
def a_change_at_any_time():
    change = pm.Uniform("change", 0, 1)
    pm.Poisson("x", pm.math.switch(12 * change > TIME, 4, 1), observed=ACCIDENTS)


# --- discrete variables ---------------------------------------------------------------------------


@without("k")
def a_count_without_end():
    k = pm.Poisson("k", pm.HalfNormal("rate", 3))
    pm.Normal("x", k, 1, observed=MIXED)


@without("z")
def more_labels_than_can_be_listed():
    w = pm.Beta("w", 1, 1)
    z = pm.Bernoulli("z", w, shape=60)
    pm.Normal("x", 3 * z, 1, observed=np.resize(MIXED, 60))


@without("b", "z")
def labels_by_a_logistic_function():
    b = pm.Normal("b", 0, 1)
    z = pm.Bernoulli("z", pm.math.invlogit(b), shape=4)
    pm.Normal("x", 3 * z, 1, observed=MIXED[:4])


# --- nearly conjugate -----------------------------------------------------------------------------


def _bits_with_a_wave(number):
    def build():
        rows = np.random.default_rng(number).integers(0, 2, number)
        with pm.Model() as model:
            theta = pm.Beta("theta", 2, 3)
            pm.Bernoulli("x", theta, observed=rows)
            pm.Potential("wave", 1e-6 * pm.math.sin(theta))
        return model

    return Refused(f"a wave of a millionth over {number} bits", build, ("theta",))


WAVES = [_bits_with_a_wave(number) for number in (20, 500, 10_000)]


@without("theta")
def one_cell_of_six_hundred_with_mistaken_rows():
    noisy = np.zeros((20, 30))
    noisy[13, 7] = 0.01
    theta = pm.Beta("theta", 1, 2, shape=(20, 30))
    pm.Binomial("x", 10, theta * (1 - noisy), observed=CELLS)


@without("theta")
def one_cell_of_six_hundred_with_a_wave():
    theta = pm.Beta("theta", 1, 2, shape=(20, 30))
    pm.Binomial("x", 10, theta, observed=CELLS)
    pm.Potential("wave", 1e-6 * pm.math.sin(theta[13, 7]))


@without("rate")
def one_rate_of_six_hundred_with_a_square():
    rate = pm.Gamma("rate", 2, 1, shape=600)
    pm.Poisson("x", rate, observed=CELLS.ravel())
    pm.Potential("square", -1e-6 * rate[599] ** 2)


@without("mu")
def one_mean_of_six_hundred_with_a_heavy_tail():
    mu = pm.Normal("mu", 0, 3, shape=600)
    pm.Normal("x", mu[:599], 1, observed=CELLS.ravel()[:599])
    pm.StudentT("y", nu=30, mu=mu[599], sigma=1, observed=2.0)


@without("theta")
def two_cells_of_six_hundred_that_touch():
    theta = pm.Beta("theta", 1, 2, shape=600)
    pm.Binomial("x", 10, theta, observed=CELLS.ravel())
    pm.Potential("touch", 1e-5 * theta[17] * theta[402])


@without("mu")
def a_mean_with_a_fourth_power():
    mu = pm.Normal("mu", 0, 1)
    pm.Normal("x", mu, 1, observed=POINTS)
    pm.Potential("fourth", -1e-8 * mu**4)


@without("w")
def a_regression_with_a_wave():
    w = pm.Normal("w", 0, 1, shape=3)
    pm.Normal("y", X @ w, 0.5, observed=Y)
    pm.Potential("wave", 1e-7 * pm.math.cos(w[1]))


@without("P")
def a_chain_with_a_wave():
    moves = counted(CODES[1:], 4, CODES[:-1], 4)
    P = pm.Dirichlet("P", np.ones((4, 4)))
    pm.Potential("moves", (moves * pt.log(P)).sum() + 1e-6 * pt.exp(P[2, 1]))


# --- posteriors that are not proper ---------------------------------------------------------------


@without("w")
def more_columns_than_rows_under_a_flat_prior():
    w = pm.Flat("w", shape=3)
    pm.Normal("y", X[:2] @ w, 0.5, observed=Y[:2])


@without("mu")
def a_flat_prior_and_no_rows():
    pm.Flat("mu")


@without("theta")
def counts_below_zero():
    theta = pm.Beta("theta", 2, 2)
    pm.Potential("x", -5 * pm.math.log(theta))


@without("sigma2", "mu")
def a_flat_scale_and_one_row():
    mu = pm.Flat("mu")
    sigma2 = pm.HalfFlat("sigma2")
    pm.Normal("x", mu, pm.math.sqrt(sigma2), observed=[1.5])


@without("a", "b")
def two_flat_means_seen_by_their_difference():
    a = pm.Flat("a")
    b = pm.Flat("b")
    pm.Normal("x", a - b, 1, observed=POINTS)


@without("theta", "x")
def more_successes_than_trials():
    theta = pm.Beta("theta", 2, 2)
    pm.Binomial("x", 5, theta, observed=7)


@without("mu")
def rows_that_are_not_numbers():
    mu = pm.Normal("mu", 0, 1)
    pm.Potential("x", -0.5 * ((np.array([1.0, np.nan, 2.0]) - mu) ** 2).sum())


@without("mu")
def a_density_with_a_hole():
    mu = pm.MvNormal("mu", np.zeros(2), cov=COV)
    pm.Normal("x", mu, 1, observed=VECTORS)
    far = (mu**2).sum() > 1e-4
    pm.Potential("hole", pm.math.switch(far, 0, -np.inf))


REFUSED = [value for value in list(globals().values()) if isinstance(value, Refused)] + WAVES
