"""Models of rates and scales with known locations: Gamma, inverse gamma and kindred posteriors."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special

from tests.posteriors.entry import axes, solved
from tests.posteriors.references import (
    LOG_2PI,
    InverseGaussianFamily,
    dirichlet,
    gamma,
    generalised_inverse_gaussian,
    inverse_gamma,
    log_gamma,
    square_gamma,
    square_generalised_inverse_gaussian,
    square_inverse_gamma,
    together,
)

RNG = np.random.default_rng(20260502)
CALLS = np.array([3, 0, 5, 2, 2, 9, 1, 4, 0, 3])
HOURS = np.array([1.5, 0.2, 2, 1, 0.8, 4, 0.5, 1, 0.1, 2])
DESKS = np.array([0, 1, 2, 0, 0, 2, 1, 2, 1, 0])
TIMES = np.array([0.3, 2.1, 0.05, 1.7, 4.4, 0.6, 0.9])
ERRORS = np.array([0.4, -1.2, 2.2, 0.1, -0.7, -3.1, 0.9, 1.4])
SIZES = np.array([1.2, 7.5, 2.1, 1.01, 3.3])
SHARES = np.array([0.2, 0.83, 0.5, 0.97, 0.66, 0.12])
LENGTHS = RNG.gamma(3, 2, 12)
YEARS = np.arange(12) % 3
EVENTS = np.array([[4, 0, 7], [1, 2, 30]])


def log_factorials(counts):
    """Add up logs of factorials."""
    values, times = np.unique(counts, return_counts=True)
    return np.sum(times * log_gamma(values + 1))


def by(values, groups):
    """Add up values by group."""
    return np.bincount(groups, weights=values)


def normal_base(number):
    """Return the constant of normal log densities."""
    return -number / 2 * LOG_2PI


# --- Poisson --------------------------------------------------------------------------------------


@solved(lambda: gamma("rate", (2, 0.5), CALLS.sum(), 10, -log_factorials(CALLS)))
def calls():
    rate = pm.Gamma("rate", 2, 0.5)
    pm.Poisson("calls", rate, observed=CALLS)


@solved(
    lambda: gamma(
        "rate",
        (4, 2),
        CALLS.sum(),
        HOURS.sum(),
        (CALLS * np.log(HOURS)).sum() - log_factorials(CALLS),
    )
)
def calls_with_exposure():
    hours = pm.Data("hours", HOURS)
    rate = pm.Gamma("rate", mu=2, sigma=1)
    pm.Poisson("calls", mu=rate * hours, observed=CALLS)


@solved(
    lambda: gamma(
        "rate",
        (np.ones(3), 0.1),
        by(CALLS, DESKS),
        by(HOURS, DESKS),
        (CALLS * np.log(HOURS)).sum() - log_factorials(CALLS),
    )
)
def calls_by_desk():
    axes({"desk": ["north", "east", "south"]})
    rate = pm.Exponential("rate", 0.1, dims="desk")
    expected = pm.Deterministic("expected", rate[DESKS] * HOURS)
    pm.Poisson("calls", expected, observed=CALLS)


@solved(
    lambda: together(
        gamma(f"rate_{k}", (k + 1, 2), CALLS[k], 1, -log_factorials(CALLS[k])) for k in range(5)
    )
)
def calls_in_a_loop():
    for k in range(5):
        pm.Poisson(f"calls_{k}", pm.Gamma(f"rate_{k}", k + 1, 2), observed=CALLS[k])


@solved(
    lambda: gamma(
        "rate",
        (3, 1),
        28,
        10 * (0.3 + 0.25),
        -log_factorials([17, 11]) + 17 * np.log(3) + 11 * np.log(2.5),
    )
)
def a_thinned_stream():
    found = 0.3
    rate = pm.Gamma("rate", 3, 1)
    pm.Poisson("seen", 10 * rate * found, observed=17)
    pm.Poisson("heard", 10 * rate * 0.25, observed=11)
    pm.Deterministic("missed", 10 * rate * (1 - found - 0.25))


@solved(lambda: gamma("rate", None, CALLS.sum(), 10))
def calls_under_a_flat_prior():
    rate = pm.HalfFlat("rate")
    pm.Poisson("calls", rate, observed=CALLS)


@solved(lambda: gamma("rate", (1.5, 0.3), 8, 11.5))
def a_stream_as_a_potential():
    rate = pm.Gamma("rate", 1.5, 0.3)
    times = np.array([0.4, 1.1, 3.0, 3.2, 5.5, 8.1, 9.9, 11.0])
    pm.Potential("stream", len(times) * pm.math.log(rate) - rate * 11.5)


@solved(lambda: gamma("rate", (np.array([[1, 2, 3]] * 2), 2), EVENTS, 1, -log_factorials(EVENTS)))
def a_matrix_of_rates():
    axes({"row": ["u", "v"], "column": [1, 2, 3]})
    rate = pm.Gamma("rate", [1, 2, 3], 2, dims=("row", "column"))
    pm.Poisson("events", rate, observed=EVENTS, dims=("row", "column"))


@solved(
    lambda: (
        gamma("total", (5, 0.1), 41, 1, -log_factorials(41))
        + dirichlet(
            "share", [1, 1, 1], [20, 12, 9], special.gammaln(42) - log_factorials([20, 12, 9])
        )
    )
)
def a_total_and_its_shares():
    total = pm.Gamma("total", 5, 0.1)
    share = pm.Dirichlet("share", np.ones(3))
    pm.Poisson("count", total, observed=41)
    pm.Multinomial("split", 41, share, observed=[20, 12, 9])
    pm.Deterministic("rates", total * share)


# --- waiting times and sizes ----------------------------------------------------------------------


@solved(lambda: gamma("rate", (2, 3), 7, TIMES.sum()))
def lifetimes():
    rate = pm.Gamma("rate", alpha=2, beta=3)
    pm.Exponential("life", lam=rate, observed=TIMES)


@solved(lambda: inverse_gamma("mean", (3, 4), 7, TIMES.sum()))
def lifetimes_by_their_mean():
    mean = pm.InverseGamma("mean", 3, 4)
    pm.Exponential("life", scale=mean, observed=TIMES)


@solved(lambda: gamma("rate", (2, 3), 4, TIMES.sum()))
def lifetimes_some_cut_short():
    ended = np.array([1, 1, 0, 1, 0, 1, 0])
    rate = pm.Gamma("rate", 2, 3)
    pm.Exponential("ended", rate, observed=TIMES[ended == 1])
    pm.Potential("cut short", -(rate * TIMES[ended == 0]).sum())


@solved(
    lambda: gamma(
        "beta", (1, 1), 12 * 3, LENGTHS.sum(), 2 * np.log(LENGTHS).sum() - 12 * special.gammaln(3)
    )
)
def gamma_lengths_with_a_known_shape():
    beta = pm.Exponential("beta", 1)
    pm.Gamma("length", alpha=3, beta=beta, observed=LENGTHS)


@solved(
    lambda: gamma(
        "beta",
        (2, 2),
        12 * 3,
        (1 / LENGTHS).sum(),
        -4 * np.log(LENGTHS).sum() - 12 * special.gammaln(3),
    )
)
def inverse_gamma_lengths_with_a_known_shape():
    beta = pm.Gamma("beta", 2, 2)
    pm.InverseGamma("length", alpha=3, beta=beta, observed=LENGTHS)


@solved(
    lambda: gamma(
        "rate", (2, 1), 12, (LENGTHS**1.5).sum(), 12 * np.log(1.5) + 0.5 * np.log(LENGTHS).sum()
    )
)
def weibull_lengths_by_rate():
    rate = pm.Gamma("rate", 2, 1)
    pm.Weibull("length", alpha=1.5, beta=rate ** (-1 / 1.5), observed=LENGTHS)


@solved(
    lambda: inverse_gamma(
        "power", (4, 50), 12, (LENGTHS**3).sum(), 12 * np.log(3) + 2 * np.log(LENGTHS).sum()
    )
)
def weibull_lengths_by_scale():
    power = pm.InverseGamma("power", 4, 50)
    pm.Weibull("length", alpha=3, beta=power ** (1 / 3), observed=LENGTHS)


@solved(lambda: inverse_gamma("sigma2", (2, 10), 12, (LENGTHS**2).sum() / 2, np.log(LENGTHS).sum()))
def rayleigh_lengths():
    sigma2 = pm.InverseGamma("sigma2", 2, 10)
    pm.Weibull("length", alpha=2, beta=pm.math.sqrt(2 * sigma2), observed=LENGTHS)


@solved(lambda: gamma("alpha", (2, 1), 5, np.log(SIZES).sum(), -np.log(SIZES).sum()))
def pareto_sizes():
    alpha = pm.Gamma("alpha", 2, 1)
    pm.Pareto("size", alpha=alpha, m=1, observed=SIZES)


@solved(lambda: gamma("a", (2, 1), 6, -np.log(SHARES).sum(), -np.log(SHARES).sum()))
def beta_shares_of_a_power():
    a = pm.Gamma("a", 2, 1)
    pm.Beta("share", alpha=a, beta=1, observed=SHARES)


@solved(
    lambda: gamma(
        "b",
        (1, 0.2),
        6,
        -np.log1p(-(SHARES**2)).sum(),
        6 * np.log(2) + np.log(SHARES).sum() - np.log1p(-(SHARES**2)).sum(),
    )
)
def kumaraswamy_shares():
    b = pm.Exponential("b", 0.2)
    pm.Kumaraswamy("share", a=2, b=b, observed=SHARES)


@solved(
    lambda: gamma(
        "lam",
        (3, 0.5),
        6,
        ((LENGTHS - 5) ** 2 / (50 * LENGTHS)).sum(),
        normal_base(12) - 1.5 * np.log(LENGTHS).sum(),
    )
)
def first_passage_times():
    lam = pm.Gamma("lam", 3, 0.5)
    pm.Wald("length", mu=5, lam=lam, observed=LENGTHS)


# --- errors about a known centre ------------------------------------------------------------------

SQUARES = float((ERRORS**2).sum())


@solved(lambda: gamma("tau", (1.5, 1), 4, SQUARES / 2, normal_base(8)))
def errors_by_precision():
    tau = pm.Gamma("tau", 1.5, 1)
    pm.Normal("error", 0, tau=tau, observed=ERRORS)


@solved(lambda: gamma("tau", (2, 0.5), 4, ((ERRORS - 0.3) ** 2).sum() / 2, normal_base(8)))
def errors_by_precision_with_a_chi_squared_prior():
    tau = pm.ChiSquared("tau", 4)
    pm.Normal("error", 0.3, sigma=1 / pm.math.sqrt(tau), observed=ERRORS)


@solved(lambda: inverse_gamma("sigma2", (3, 2), 4, SQUARES / 2, normal_base(8)))
def errors_by_variance():
    sigma2 = pm.InverseGamma("sigma2", alpha=3, beta=2)
    pm.Normal("error", mu=0, sigma=sigma2**0.5, observed=ERRORS)


@solved(
    lambda: inverse_gamma(
        "sigma2",
        (np.full(3, 2.0), [1, 10, 100]),
        np.full(3, 2.0),
        by((LENGTHS - 6) ** 2, YEARS) / 2,
        normal_base(12),
    )
)
def variances_by_group():
    axes({"year": [2021, 2022, 2023]})
    sigma2 = pm.InverseGamma("sigma2", 2, [1, 10, 100], dims="year")
    pm.Normal("length", 6, pm.math.sqrt(sigma2)[YEARS], observed=LENGTHS)


@solved(lambda: inverse_gamma("sigma2", (3, 2), 4, SQUARES / 2, normal_base(8) + 8 * np.log(2)))
def sizes_of_errors():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    pm.HalfNormal("size", pt.sqrt(sigma2), observed=np.abs(ERRORS))


@solved(lambda: inverse_gamma("b", (2, 2), 8, np.abs(ERRORS - 0.5).sum(), -8 * np.log(2)))
def laplace_errors():
    b = pm.InverseGamma("b", 2, 2)
    pm.Laplace("error", mu=0.5, b=b, observed=ERRORS)


@solved(
    lambda: gamma(
        "tau",
        (2, 1),
        6,
        ((np.log(LENGTHS) - 1) ** 2).sum() / 2,
        normal_base(12) - np.log(LENGTHS).sum(),
    )
)
def log_normal_lengths_by_precision():
    tau = pm.Gamma("tau", 2, 1)
    pm.LogNormal("length", mu=1, tau=tau, observed=LENGTHS)


@solved(
    lambda: inverse_gamma(
        "sigma2",
        (3, 2),
        4 + 6 / 2,
        (SQUARES + (SHARES**2 / np.arange(1, 7)).sum()) / 2,
        normal_base(14) - np.log(np.arange(1, 7)).sum() / 2,
    )
)
def errors_of_known_relative_size():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    sigma = pm.Deterministic("sigma", pm.math.sqrt(sigma2))
    pm.Normal("error", 0, sigma, observed=ERRORS)
    pm.Normal("other", 0, sigma * np.sqrt(np.arange(1, 7)), observed=SHARES)


@solved(lambda: square_inverse_gamma("sigma", 7 / 2, SQUARES / 2))
def errors_by_deviation_under_a_flat_prior():
    sigma = pm.HalfFlat("sigma")
    pm.Normal("error", 0, sigma, observed=ERRORS)


@solved(lambda: square_inverse_gamma("sigma", 8 / 2, SQUARES / 2))
def errors_by_deviation_under_jeffreys_prior():
    sigma = pm.HalfFlat("sigma")
    pm.Potential("prior", -pm.math.log(sigma))
    pm.Normal("error", 0, sigma, observed=ERRORS)


@solved(
    lambda: square_gamma(
        "root",
        9 / 2,
        SQUARES / 2 + 1 / 8,
        normal_base(9) - np.log(2) + special.gammaln(9 / 2) - 9 / 2 * np.log(SQUARES / 2 + 1 / 8),
    )
)
def errors_by_the_root_of_their_precision():
    root = pm.HalfNormal("root", 2)
    pm.Normal("error", 0, 1 / root, observed=ERRORS)


# --- generalised inverse Gaussian -----------------------------------------------------------------


def log_normaliser(order, a, b):
    return float(InverseGaussianFamily(order, a, b).log_normaliser())


@solved(
    lambda: square_generalised_inverse_gaussian(
        "sigma",
        1 / 2 - 4,
        1 / 9,
        SQUARES,
        normal_base(9) - np.log(3) + log_normaliser(1 / 2 - 4, 1 / 9, SQUARES),
    )
)
def errors_by_deviation_with_a_half_normal_prior():
    sigma = pm.HalfNormal("sigma", 3)
    pm.Normal("error", 0, sigma, observed=ERRORS)


@solved(
    lambda: generalised_inverse_gaussian(
        "sigma2",
        2 - 4,
        2 * 1.5,
        SQUARES,
        normal_base(8) + 2 * np.log(1.5) + log_normaliser(2 - 4, 3, SQUARES),
    )
)
def errors_by_variance_with_a_gamma_prior():
    sigma2 = pm.Gamma("sigma2", 2, 1.5)
    pm.Normal("error", 0, pm.math.sqrt(sigma2), observed=ERRORS)


@solved(
    lambda: generalised_inverse_gaussian(
        "rate",
        CALLS.sum() - 3,
        2 * 10,
        2 * 4,
        log_normaliser(CALLS.sum() - 3, 20, 8)
        + 3 * np.log(4)
        - special.gammaln(3)
        - log_factorials(CALLS),
    )
)
def calls_with_an_inverse_gamma_prior():
    rate = pm.InverseGamma("rate", 3, 4)
    pm.Poisson("calls", rate, observed=CALLS)


@solved(
    lambda: generalised_inverse_gaussian(
        "mean",
        np.array([1.0, 2.0]) - 7,
        2 * 0.5,
        2 * TIMES.sum() * np.array([1, 3]),
        sum(
            log_normaliser(a - 7, 1, 2 * k * TIMES.sum()) + a * np.log(0.5) - special.gammaln(a)
            for a, k in ((1, 1), (2, 3))
        ),
    )
)
def mean_lifetimes_with_gamma_priors():
    axes({"unit": ["hour", "third"]})
    mean = pm.Gamma("mean", [1, 2], 0.5, dims="unit")
    pm.Exponential("life", 1 / mean, observed=np.stack([TIMES, 3 * TIMES], axis=1))
