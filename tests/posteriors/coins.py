"""Models of shares and probabilities: Beta and Dirichlet posteriors."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.posteriors.entry import axes, solved
from tests.posteriors.references import beta, dirichlet, log_gamma, together

RNG = np.random.default_rng(20260501)
BITS = RNG.integers(0, 2, 30) * RNG.integers(0, 2, 30)
ONES, ZEROS = BITS.sum(), 30 - BITS.sum()
ARMS = np.array([0, 2, 1, 1, 0, 2, 2, 2, 0, 1, 0, 2, 2, 1, 0, 0])
CLICKS = np.array([0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0])
SUCCESSES, TRIALS = np.array([3, 0, 8, 2, 5, 40]), np.array([20, 1, 9, 2, 30, 61])
SHOPS = np.array([1, 0, 0, 2, 1, 2])
WAITS = np.array([4, 1, 1, 7, 2, 12, 3])
FAILURES = np.array([2, 0, 9, 4, 4, 1])
KIND = np.array([0, 1, 1, 0, 1, 2, 0, 1, 1, 2, 0, 1])
FEATURES = (RNG.random((12, 4)) < [0.2, 0.5, 0.7, 0.9]).astype(int)
LEVELS = RNG.integers(0, 3, (12, 2))
CODES = np.array([0, 2, 2, 1, 2, 0, 2, 2, 3, 2])
TABLE = np.array([[5, 0, 2], [1, 1, 1], [0, 0, 4], [10, 3, 0], [2, 2, 9]])
STATES = np.array([0, 0, 1, 2, 2, 2, 0, 1, 1, 1, 0, 2, 1, 1, 2, 2, 2, 0, 0, 0, 1, 2])
SIGNALS = np.array([0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1])
DOCUMENTS = RNG.integers(0, 5, (12, 6))


def per_group(values, groups, number):
    """Add up values (rows on the first axis) by group."""
    return np.array([values[groups == k].sum(0) for k in range(number)])


def log_binomials(n, k):
    """Add up logs of binomial coefficients."""
    n, k = np.broadcast_arrays(n, k)
    return np.sum(log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1))


def log_multinomials(table):
    """Add up logs of multinomial coefficients of rows."""
    return np.sum(log_gamma(table.sum(-1) + 1) - log_gamma(table + 1).sum(-1))


def counted(codes, levels, groups=None, number=0):
    """Count levels, in each group if there are some."""
    shown = np.asarray(codes)[..., None] == np.arange(levels)
    return shown.sum(0) if groups is None else per_group(shown, groups, number)


# --- coins ----------------------------------------------------------------------------------------


@solved(lambda: beta("theta", (2, 3), ONES, ZEROS))
def coin_in_rows():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=BITS)


@solved(lambda: beta("p", (1, 1), 7, 13, log_binomials(20, 7)))
def coin_in_counts_with_a_uniform_prior():
    p = pm.Uniform("p", 0, 1)
    pm.Binomial("heads", n=20, p=p, observed=7)


@solved(lambda: beta("theta", (0.5, 0.5), ZEROS, ONES))
def coin_on_its_head():
    theta = pm.Beta("theta", 0.5, 0.5)
    tails = pm.Deterministic("tails", 1 - theta)
    pm.Bernoulli("x", p=tails, observed=BITS)


@solved(lambda: beta("theta", (2, 3), ONES, ZEROS))
def coin_by_its_log_odds():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", logit_p=pm.math.logit(theta), observed=BITS)


@solved(lambda: beta("theta", (1.5, 4), 9, 33))
def coin_as_a_potential():
    theta = pm.Beta("theta", 1.5, 4)
    pm.Potential("likelihood", 9 * pm.math.log(theta) + 33 * pm.math.log1p(-theta))


@solved(lambda: beta("theta", (2, 3), ONES + 4 + 1, ZEROS + 8, log_binomials(12, 4)))
def coin_seen_in_three_ways():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("rows", theta, observed=BITS)
    pm.Binomial("count", 12, theta, observed=4)
    pm.Potential("one more", pt.log(theta))


@solved(lambda: beta("theta", (0.3 * 12, 0.7 * 12), 11, 4, log_binomials(15, 11)))
def coin_with_a_prior_by_mean_and_size():
    theta = pm.Beta("theta", mu=0.3, nu=12)
    pm.Binomial("x", 15, theta, observed=11)


@solved(
    lambda: beta(
        "theta",
        (0.4 * 5, 0.6 * 5),
        SUCCESSES.sum(),
        (TRIALS - SUCCESSES).sum(),
        log_binomials(TRIALS, SUCCESSES),
    )
)
def coin_with_a_prior_by_mean_and_deviation():
    theta = pm.Beta("theta", mu=0.4, sigma=0.2)
    pm.Binomial("x", TRIALS, theta, observed=SUCCESSES)


@solved(lambda: beta("theta", (1, 1), per_group(CLICKS, ARMS, 3), per_group(1 - CLICKS, ARMS, 3)))
def arms_in_rows_with_dims():
    coords = {"arm": ["a", "b", "c"], "visit": np.arange(16)}
    axes(coords)
    arm = pm.Data("arm_index", ARMS, dims="visit")
    theta = pm.Beta("theta", alpha=1.0, beta=1.0, dims="arm")
    pm.Bernoulli("click", p=theta[arm], observed=CLICKS, dims="visit")


@solved(
    lambda: together(
        beta(
            f"theta_{k}",
            (1 + k, 4),
            SUCCESSES[k],
            TRIALS[k] - SUCCESSES[k],
            log_binomials(TRIALS[k], SUCCESSES[k]),
        )
        for k in range(6)
    )
)
def arms_as_a_loop_of_scalars():
    for k in range(6):
        theta = pm.Beta(f"theta_{k}", 1 + k, 4)
        pm.Binomial(f"x_{k}", int(TRIALS[k]), theta, observed=SUCCESSES[k])


@solved(
    lambda: beta(
        "theta",
        ([2, 30, 0.5], [2, 0.1, 7]),
        per_group(SUCCESSES, SHOPS, 3),
        per_group(TRIALS - SUCCESSES, SHOPS, 3),
        log_binomials(TRIALS, SUCCESSES),
    )
)
def shops_with_a_prior_each():
    axes({"shop": ["u", "v", "w"]})
    theta = pm.Beta("theta", [2, 30, 0.5], [2, 0.1, 7], dims="shop")
    pm.Binomial("sold", TRIALS, theta[SHOPS], observed=SUCCESSES)


@solved(
    lambda: (
        beta("p_a", (1, 1), 31, 169, log_binomials(200, 31))
        + beta("p_b", (1, 1), 44, 148, log_binomials(192, 44))
    )
)
def a_b_test_with_a_difference():
    shown = pm.Data("shown", np.array([200, 192]))
    bought = pm.Data("bought", np.array([31, 44]))
    p_a = pm.Uniform("p_a")
    p_b = pm.Uniform("p_b")
    pm.Binomial("sales", n=shown, p=pm.math.stack([p_a, p_b]), observed=bought)
    pm.Deterministic("difference", p_b - p_a)
    pm.Deterministic("lift", p_b / p_a - 1)


@solved(lambda: beta("p", (2, 2), len(WAITS), (WAITS - 1).sum()))
def waits_until_success():
    p = pm.Beta("p", 2, 2)
    pm.Geometric("wait", p, observed=WAITS)


@solved(lambda: beta("p", (2, 5), 3 * 6, FAILURES.sum(), log_binomials(FAILURES + 2, FAILURES)))
def failures_before_the_third_success():
    p = pm.Beta("p", 2, 5)
    pm.NegativeBinomial("failures", p=p, n=3, observed=FAILURES)


@solved(
    lambda: together(
        [
            beta("prevalence", (1, 9), 12, 88, log_binomials(100, 12)),
            beta("sensitivity", (1, 1), 18, 2, log_binomials(20, 18)),
            beta("specificity", (1, 1), 45, 5, log_binomials(50, 45)),
        ]
    )
)
def a_test_and_what_it_predicts():
    prevalence = pm.Beta("prevalence", 1, 9)
    sensitivity = pm.Beta("sensitivity", 1, 1)
    specificity = pm.Beta("specificity", 1, 1)
    pm.Binomial("ill", 100, prevalence, observed=12)
    pm.Binomial("found", 20, sensitivity, observed=18)
    pm.Binomial("cleared", 50, specificity, observed=45)
    ill = prevalence * sensitivity
    pm.Deterministic("predictive value", ill / (ill + (1 - prevalence) * (1 - specificity)))


@solved(
    lambda: beta(
        "theta",
        (np.full((2, 3), 1.0), np.full((2, 3), 4.0)),
        [[3, 0, 9], [1, 1, 2]],
        [[7, 10, 1], [9, 9, 8]],
        log_binomials(10, np.array([[3, 0, 9], [1, 1, 2]])),
    )
)
def a_matrix_of_coins():
    axes({"town": ["x", "y"], "year": [1, 2, 3]})
    theta = pm.Beta("theta", 1, 4, dims=("town", "year"))
    pm.Binomial("x", 10, theta, observed=[[3, 0, 9], [1, 1, 2]], dims=("town", "year"))


@solved(lambda: beta("theta", (2, 3), ONES, ZEROS))
def coin_with_an_initial_value():
    theta = pm.Beta("theta", 2, 3, initval=0.5)
    pm.Bernoulli("x", theta, observed=BITS)


@solved(lambda: beta("theta", (2, 3), ONES, ZEROS))
def coin_without_a_transform():
    theta = pm.Beta("theta", 2, 3, default_transform=None)
    pm.Bernoulli("x", theta, observed=BITS)


@solved(lambda: beta("theta", (2, 3), 0, 0))
def coin_without_rows():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=np.zeros(0, dtype=int))


@solved(lambda: beta("theta", (2, 3), ONES, ZEROS) + beta("other", ([1, 2], 5), 0, 0))
def coin_beside_two_that_were_not_thrown():
    theta = pm.Beta("theta", 2, 3)
    pm.Beta("other", [1, 2], 5)
    pm.Bernoulli("x", theta, observed=BITS)


# --- categories -----------------------------------------------------------------------------------


@solved(lambda: dirichlet("theta", [1, 0.5, 2, 0.1], counted(CODES, 4)))
def categories_in_rows():
    theta = pm.Dirichlet("theta", [1, 0.5, 2, 0.1])
    pm.Categorical("x", p=theta, observed=CODES)


@solved(lambda: dirichlet("share", [1, 1, 1], TABLE.sum(0), log_multinomials(TABLE)))
def categories_in_tables():
    axes({"size": ["S", "M", "L"]})
    share = pm.Dirichlet("share", np.ones(3), dims="size")
    pm.Multinomial("sold", n=TABLE.sum(1), p=share, observed=TABLE)


@solved(lambda: dirichlet("theta", [0.3, 4, 100], TABLE, log_multinomials(TABLE)))
def a_table_with_a_law_for_each_row():
    axes({"shop": list("abcde"), "size": ["S", "M", "L"]})
    theta = pm.Dirichlet("theta", a=np.array([0.3, 4, 100]), dims=("shop", "size"))
    pm.Multinomial("x", n=TABLE.sum(1), p=theta, observed=TABLE, dims=("shop", "size"))


@solved(lambda: dirichlet("theta", [1, 1, 1], counted(CODES, 4)[[0, 1, 3]]))
def categories_as_a_potential():
    theta = pm.Dirichlet("theta", np.ones(3))
    counts = pm.Data("counts", counted(CODES, 4)[[0, 1, 3]])
    pm.Potential("likelihood", (counts * pm.math.log(theta)).sum())


@solved(lambda: dirichlet("theta", [2, 3], [ONES, ZEROS]))
def a_coin_as_the_first_of_two_categories():
    theta = pm.Dirichlet("theta", [2, 3])
    pm.Bernoulli("x", theta[0], observed=BITS)


def transitions(states, number):
    """Count the moves from each state to each."""
    return counted(states[1:], number, states[:-1], number)


@solved(lambda: dirichlet("P", np.ones((3, 3)), transitions(STATES, 3)))
def markov_chain_by_index():
    axes({"from": list("abc"), "to": list("abc")})
    P = pm.Dirichlet("P", np.ones((3, 3)), dims=("from", "to"))
    pm.Categorical("next", p=P[STATES[:-1]], observed=STATES[1:])


@solved(lambda: dirichlet("P", [[5, 1, 1], [1, 5, 1], [1, 1, 5]], transitions(STATES, 3)))
def markov_chain_by_counts():
    P = pm.Dirichlet("P", 4 * np.eye(3) + 1)
    pm.Potential("moves", (transitions(STATES, 3) * pt.log(P)).sum())


@solved(
    lambda: (
        dirichlet("start", [1, 1, 1], [1, 0, 0])
        + dirichlet("move", np.full((3, 3), 0.5), transitions(STATES, 3))
        + dirichlet("emit", np.ones((3, 2)), counted(SIGNALS, 2, STATES, 3))
    )
)
def markov_chain_with_signals():
    start = pm.Dirichlet("start", np.ones(3))
    move = pm.Dirichlet("move", np.full(3, 0.5), shape=(3, 3))
    emit = pm.Dirichlet("emit", np.ones(2), shape=(3, 2))
    pm.Categorical("first", start, observed=STATES[0])
    pm.Categorical("states", move[STATES[:-1]], observed=STATES[1:])
    pm.Categorical("signals", emit[STATES], observed=SIGNALS)


# --- naive Bayes ----------------------------------------------------------------------------------


@solved(
    lambda: (
        dirichlet("pi", [1, 2, 1], counted(KIND, 3))
        + beta(
            "theta",
            (np.ones((3, 4)), 2),
            per_group(FEATURES, KIND, 3),
            per_group(1 - FEATURES, KIND, 3),
        )
    )
)
def naive_bayes_of_bits():
    axes({"class": ["a", "b", "c"], "feature": range(4)})
    pi = pm.Dirichlet("pi", [1, 2, 1], dims="class")
    theta = pm.Beta("theta", 1, 2, dims=("class", "feature"))
    y = pm.Categorical("y", pi, observed=KIND)
    pm.Bernoulli("x", theta[y], observed=FEATURES)


@solved(
    lambda: (
        dirichlet("pi", [1, 1, 1], counted(KIND, 3))
        + together(
            beta(
                f"theta_{c}_{j}",
                (1, 1),
                FEATURES[c == KIND, j].sum(),
                (1 - FEATURES[c == KIND, j]).sum(),
            )
            for c in range(3)
            for j in range(2)
        )
    )
)
def naive_bayes_of_bits_in_loops():
    pi = pm.Dirichlet("pi", np.ones(3))
    pm.Categorical("y", pi, observed=KIND)
    for c in range(3):
        for j in range(2):
            theta = pm.Beta(f"theta_{c}_{j}", 1, 1)
            pm.Bernoulli(f"x_{c}_{j}", theta, observed=FEATURES[c == KIND, j])


@solved(
    lambda: (
        dirichlet("pi", [1, 1, 1], counted(KIND, 3))
        + dirichlet("theta_0", np.ones((3, 3)), counted(LEVELS[:, 0], 3, KIND, 3))
        + dirichlet("theta_1", np.ones((3, 3)), counted(LEVELS[:, 1], 3, KIND, 3))
    )
)
def naive_bayes_of_categories():
    pi = pm.Dirichlet("pi", np.ones(3))
    pm.Categorical("y", pi, observed=KIND)
    for j in range(2):
        theta = pm.Dirichlet(f"theta_{j}", np.ones((3, 3)))
        pm.Categorical(f"x_{j}", theta[KIND], observed=LEVELS[:, j])


@solved(
    lambda: (
        beta("spam", (1, 1), (KIND > 0).sum(), (KIND == 0).sum())
        + dirichlet(
            "words",
            np.full((2, 6), 0.1),
            per_group(DOCUMENTS, (KIND > 0).astype(int), 2),
            log_multinomials(DOCUMENTS),
        )
    )
)
def a_bag_of_words():
    label = (KIND > 0).astype(int)
    spam = pm.Beta("spam", 1, 1)
    words = pm.Dirichlet("words", np.full(6, 0.1), shape=(2, 6))
    pm.Bernoulli("label", spam, observed=label)
    pm.Multinomial("counts", n=DOCUMENTS.sum(1), p=words[label], observed=DOCUMENTS)
