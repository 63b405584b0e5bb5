"""A million rows, counts of 1e9, priors of 1e-3 and 1e6: solved or refused, never wrong."""

import numpy as np
import pymc as pm

from tests.posteriors.coins import log_binomials, log_multinomials
from tests.posteriors.entry import Entry, solved
from tests.posteriors.rates import log_factorials, normal_base
from tests.posteriors.references import (
    beta,
    condition_exactly,
    dirichlet,
    gamma,
    inverse_gamma,
    linear,
    linear_unknown_scale,
    log_gamma,
    normal,
    normal_inverse_gamma,
)

MILLION = 1_000_000
RNG = np.random.default_rng(20260506)
MANY_BITS = (RNG.random(MILLION) < 0.3).astype(np.int8)
MANY_COUNTS = RNG.poisson(4, MILLION)
MANY_NUMBERS = RNG.normal(3, 2, MILLION)
FAR = 1e8 + RNG.normal(size=20)
X = np.c_[np.ones(30), 1e6 * RNG.normal(size=30), 1e-3 * RNG.normal(size=30)]
Y = X @ [1, 2e-6, 500] + RNG.normal(size=30)
TWINS = RNG.normal(size=(30, 1)) + 1e-4 * RNG.normal(size=(30, 2))


def _many_squares():
    centre = MANY_NUMBERS.mean()
    return centre, ((MANY_NUMBERS - centre) ** 2).sum()


@solved(lambda: beta("theta", (2, 3), int(MANY_BITS.sum()), MILLION - int(MANY_BITS.sum())))
def a_million_bits():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=MANY_BITS)


@solved(lambda: gamma("rate", (2, 1), MANY_COUNTS.sum(), MILLION, -log_factorials(MANY_COUNTS)))
def a_million_counts():
    rate = pm.Gamma("rate", 2, 1)
    pm.Poisson("x", rate, observed=MANY_COUNTS)


def a_million_numbers_posterior():
    centre, squares = _many_squares()
    k, a, b = 0.5, 3, 2
    k_n, a_n = k + MILLION, a + MILLION / 2
    b_n = b + squares / 2 + k * MILLION * centre**2 / (2 * k_n)
    evidence = (
        log_gamma(a_n)
        - log_gamma(a)
        + a * np.log(b)
        - a_n * np.log(b_n)
        + 0.5 * np.log(k / k_n)
        + normal_base(MILLION)
    )
    return normal_inverse_gamma(
        {"mu": ()},
        np.array([MILLION * centre / k_n]),
        np.array([[1 / k_n]]),
        "sigma2",
        a_n,
        b_n,
        log_evidence=float(evidence),
    )


@solved(a_million_numbers_posterior)
def a_million_numbers():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    mu = pm.Normal("mu", 0, pm.math.sqrt(2 * sigma2))
    pm.Normal("x", mu, pm.math.sqrt(sigma2), observed=MANY_NUMBERS)


@solved(
    lambda: beta(
        "theta", (1e-3, 1e6), 300_000_000, 700_000_000, log_binomials(1_000_000_000, 300_000_000)
    )
)
def a_coin_thrown_a_billion_times():
    theta = pm.Beta("theta", 1e-3, 1e6)
    pm.Binomial("x", 1_000_000_000, theta, observed=300_000_000)


@solved(lambda: beta("theta", (1e-3, 1e-3), 1, 0))
def a_coin_of_which_nothing_is_known_thrown_once():
    theta = pm.Beta("theta", 1e-3, 1e-3)
    pm.Bernoulli("x", theta, observed=[1])


@solved(
    lambda: beta(
        "theta",
        ([1e6, 1e6, 2], [1e6, 1e-3, 3]),
        [1, 3, 2],
        [4, 2, 3],
        log_binomials(5, np.array([1, 3, 2])),
    )
)
def coins_with_priors_far_apart():
    theta = pm.Beta("theta", [1e6, 1e6, 2], [1e6, 1e-3, 3])
    pm.Binomial("x", 5, theta, observed=[1, 3, 2])


BILLIONS = np.array([1_000_000_000, 3, 2_000_000])


@solved(lambda: dirichlet("theta", [1e-3, 1, 1e6], BILLIONS, log_multinomials(BILLIONS)))
def categories_counted_a_billion_times():
    theta = pm.Dirichlet("theta", [1e-3, 1, 1e6])
    pm.Multinomial("x", BILLIONS.sum(), theta, observed=BILLIONS)


@solved(lambda: gamma("rate", (1e-3, 1e-3), 1_000_000_000, 1, -log_factorials(1_000_000_000)))
def a_billion_events():
    rate = pm.Gamma("rate", 1e-3, 1e-3)
    pm.Poisson("x", rate, observed=1_000_000_000)


@solved(lambda: gamma("rate", (1e6, 1e6), 3, 2e-6, 3 * np.log(1e-6) - log_factorials([1, 2])))
def two_events_in_a_moment():
    rate = pm.Gamma("rate", 1e6, 1e6)
    pm.Poisson("x", 1e-6 * rate, observed=[1, 2])


@solved(lambda: inverse_gamma("sigma2", (1e-3, 1e-3), 1.5, 1.5e-12, normal_base(3)))
def tiny_errors():
    sigma2 = pm.InverseGamma("sigma2", 1e-3, 1e-3)
    pm.Normal("x", 0, pm.math.sqrt(sigma2), observed=[1e-6, -1e-6, 1e-6])


@solved(lambda: linear({"mu": ()}, ([1e8], [[1e-6]]), np.ones((20, 1)), FAR, 1))
def a_mean_far_from_zero():
    mu = pm.Normal("mu", 1e8, 1e-3)
    pm.Normal("x", mu, 1, observed=FAR)


@solved(
    lambda: linear_unknown_scale(
        {"mu": ()}, ([1e8], [[1e4]]), np.ones((20, 1)), FAR, 1, "sigma2", (1e-3, 1e-3)
    )
)
def a_mean_far_from_zero_and_a_variance():
    sigma2 = pm.InverseGamma("sigma2", 1e-3, 1e-3)
    mu = pm.Normal("mu", 1e8, 100 * pm.math.sqrt(sigma2))
    pm.Normal("x", mu, pm.math.sqrt(sigma2), observed=FAR)


@solved(
    lambda: normal(
        "mu",
        (0, 1e6),
        20 / 1e-6,
        (FAR - 1e8).sum() / 1e-6,
        20 * np.log(1e3) + normal_base(20) - ((FAR - 1e8) ** 2).sum() / 2e-6,
    )
)
def a_vague_mean_and_fine_rows():
    mu = pm.Normal("mu", 0, 1e6)
    pm.Normal("x", mu, 1e-3, observed=FAR - 1e8)


@solved(
    lambda: linear(
        {"w": (3,)},
        (np.zeros(3), np.diag([1e6, 1e-6, 1e6])),
        X,
        Y,
        1,
        update=condition_exactly,
    )
)
def columns_of_very_different_sizes():
    w = pm.Normal("w", 0, [1e3, 1e-3, 1e3], shape=3)
    pm.Normal("y", X @ w, 1, observed=Y)


@solved(
    lambda: linear_unknown_scale(
        {"w": (2,)},
        (np.zeros(2), 100 * np.eye(2)),
        TWINS,
        Y,
        1,
        "tau",
        (1, 1),
        "Gamma",
        update=condition_exactly,
    )
)
def columns_that_are_nearly_the_same():
    tau = pm.Gamma("tau", 1, 1)
    w = pm.Normal("w", 0, tau=tau / 100, shape=2)
    pm.Normal("y", TWINS @ w, tau=tau, observed=Y)


@solved(
    lambda: beta(
        "theta",
        (1, np.arange(1.0, 10_001)),
        np.arange(10_000) % 7,
        7 - np.arange(10_000) % 7,
        log_binomials(7, np.arange(10_000) % 7),
    )
)
def ten_thousand_coins():
    theta = pm.Beta("theta", 1, np.arange(1, 10_001))
    pm.Binomial("x", 7, theta, observed=np.arange(10_000) % 7)


EXTREMES = [value for value in list(globals().values()) if isinstance(value, Entry)]
