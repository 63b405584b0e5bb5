"""Models with finite discrete variables, alone and with a conjugate model under each state."""

from itertools import product

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats

from tests.posteriors.coins import log_binomials
from tests.posteriors.entry import axes, solved
from tests.posteriors.lines import X, Y
from tests.posteriors.rates import log_factorials
from tests.posteriors.references import (
    beta,
    dirichlet,
    finite,
    gamma,
    linear,
    linear_unknown_scale,
)

BIASES = np.array([0.1, 0.3, 0.5, 0.7, 0.95])
BOXES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
DRAWN = np.array([0, 2, 1, 0, 0])
ACCIDENTS = np.array([4, 5, 4, 1, 0, 4, 1, 0, 0, 2, 1, 0])
TIME = np.arange(12)
MIXED = np.array([0.3, 2.9, -0.4, 3.8, 1.6, 0.1, 2.2])
THREE = np.array([-3.1, 0.4, 4.2, -2.2, 0.1, 3.6])
HITS = np.array([8, 2, 9, 7, 1, 3])
OUTLYING = np.array([0.3, 0.9, 7.5, 0.5, -0.2, -11.0])
MOVES = np.array([[0.8, 0.2], [0.3, 0.7]])
SEEN = np.array([[0.9, 0.1], [0.2, 0.8]])
SIGNALS = np.array([0, 0, 1, 1, 0, 1])
RULES = np.array([1 / 10, 1 / 50, 1 / 7, 1 / 100])
BITS = (0, 1)


def states(length, levels=BITS):
    """Return all vectors of discrete values."""
    return [np.array(state) for state in product(levels, repeat=length)]


# --- discrete variables only ----------------------------------------------------------------------


@solved(
    lambda: finite(
        {"k": range(5)},
        [({"k": k}, np.log(0.2) + stats.binom(10, p).logpmf(7)) for k, p in enumerate(BIASES)],
    )
)
def which_coin():
    k = pm.Categorical("k", np.full(5, 0.2))
    bias = pm.Deterministic("bias", pt.as_tensor(BIASES)[k])
    pm.Binomial("heads", 10, bias, observed=7)


@solved(
    lambda: finite(
        {"box": range(2)},
        [({"box": k}, np.log([0.25, 0.75][k]) + np.log(BOXES[k, DRAWN]).sum()) for k in range(2)],
    )
)
def which_box():
    box = pm.Categorical("box", [0.25, 0.75])
    pm.Categorical("drawn", p=pt.as_tensor(BOXES)[box], observed=DRAWN)


@solved(
    lambda: finite(
        {"h": range(4)},
        [({"h": h}, np.log([0.4, 0.3, 0.2, 0.1][h]) + 4 * np.log(RULES[h])) for h in range(4)],
    )
)
def which_rule_as_a_potential():
    h = pm.Categorical("h", [0.4, 0.3, 0.2, 0.1])
    pm.Potential("four examples", 4 * pm.math.log(pt.as_tensor(RULES)[h]))


@solved(
    lambda: finite(
        {"change": range(12)},
        [
            (
                {"change": c},
                -np.log(12) + stats.poisson(np.where(c > TIME, 4, 0.8)).logpmf(ACCIDENTS).sum(),
            )
            for c in range(12)
        ],
    )
)
def change_of_known_rates():
    change = pm.DiscreteUniform("change", lower=0, upper=11)
    rate = pm.math.switch(change > TIME, 4, 0.8)
    pm.Poisson("accidents", rate, observed=ACCIDENTS)


@solved(
    lambda: finite(
        {"N": range(12, 41)},
        [
            ({"N": n}, -np.log(29) + stats.binom(n, 0.5).logpmf([12, 9]).sum())
            for n in range(12, 41)
        ],
    )
)
def how_many():
    N = pm.DiscreteUniform("N", 12, 40)
    pm.Binomial("found", n=N, p=0.5, observed=[12, 9])


@solved(
    lambda: finite(
        {"hidden": range(6)},
        [
            ({"hidden": k}, stats.binom(5, 0.4).logpmf(k) + stats.poisson(1 + 2 * k).logpmf(6))
            for k in range(6)
        ],
    )
)
def a_hidden_count():
    hidden = pm.Binomial("hidden", 5, 0.4)
    pm.Poisson("seen", 1 + 2 * hidden, observed=6)


def log_bit(p, bit):
    return np.log(p if bit else 1 - p)


ALARM = np.array([[0.01, 0.3], [0.9, 0.95]])


@solved(
    lambda: finite(
        {"burglary": BITS, "quake": BITS, "alarm": BITS},
        [
            (
                {"burglary": b, "quake": q, "alarm": a},
                log_bit(0.1, b)
                + log_bit(0.2, q)
                + log_bit(ALARM[b, q], a)
                + log_bit([0.05, 0.9][a], 1)
                + log_bit([0.01, 0.7][a], 0),
            )
            for b, q, a in product(BITS, repeat=3)
        ],
    )
)
def a_burglar_alarm():
    burglary = pm.Bernoulli("burglary", 0.1)
    quake = pm.Bernoulli("quake", 0.2)
    alarm = pm.Bernoulli("alarm", pt.as_tensor(ALARM)[burglary, quake])
    pm.Bernoulli("john calls", pm.math.switch(alarm, 0.9, 0.05), observed=1)
    pm.Bernoulli("mary calls", pm.math.switch(alarm, 0.7, 0.01), observed=0)


@solved(
    lambda: finite(
        {f"s_{t}": BITS for t in range(6)},
        [
            (
                {f"s_{t}": v for t, v in enumerate(s)},
                np.log(0.5) + np.log(MOVES[s[:-1], s[1:]]).sum() + np.log(SEEN[s, SIGNALS]).sum(),
            )
            for s in states(6)
        ],
    )
)
def a_hidden_markov_chain():
    moves, seen = pt.as_tensor(MOVES), pt.as_tensor(SEEN)
    state = pm.Bernoulli("s_0", 0.5)
    pm.Categorical("x_0", p=seen[state], observed=SIGNALS[0])
    for t in range(1, 6):
        state = pm.Categorical(f"s_{t}", p=moves[state])
        pm.Categorical(f"x_{t}", p=seen[state], observed=SIGNALS[t])


@solved(
    lambda: finite(
        {"z": BITS},
        [
            (
                {"z": z},
                sum(log_bit(0.3, bit) for bit in z)
                + stats.norm(np.where(z, 3, 0), 1).logpdf(MIXED).sum(),
            )
            for z in states(7)
        ],
        shapes={"z": (7,)},
    )
)
def labels_of_a_known_mixture():
    axes({"row": range(7)})
    z = pm.Bernoulli("z", 0.3, dims="row")
    pm.Normal("x", pm.math.switch(z, 3, 0), 1, observed=MIXED, dims="row")


# --- with a conjugate model under each state ------------------------------------------------------


def rates_given(change):
    early, late = ACCIDENTS[change > TIME], ACCIDENTS[change <= TIME]
    return gamma("early", (2, 1), early.sum(), len(early), -log_factorials(early)) + gamma(
        "late", (2, 2), late.sum(), len(late), -log_factorials(late)
    )


@solved(
    lambda: finite(
        {"change": range(12)},
        [({"change": c}, -np.log(12)) for c in range(12)],
        [rates_given(c) for c in range(12)],
    )
)
def change_of_unknown_rates():
    change = pm.DiscreteUniform("change", 0, 11)
    early = pm.Gamma("early", 2, 1)
    late = pm.Gamma("late", 2, 2)
    rate = pm.Deterministic("rate", pm.math.switch(change > TIME, early, late))
    pm.Poisson("accidents", rate, observed=ACCIDENTS)


@solved(
    lambda: finite(
        {"biased": BITS},
        [({"biased": 0}, np.log(0.8)), ({"biased": 1}, np.log(0.2))],
        [
            beta("theta", (2, 2), 0, 0, stats.binom(20, 0.5).logpmf(15)),
            beta("theta", (2, 2), 15, 5, log_binomials(20, 15)),
        ],
    )
)
def a_fair_or_a_biased_coin():
    biased = pm.Bernoulli("biased", 0.2)
    theta = pm.Beta("theta", 2, 2)
    pm.Binomial("heads", 20, pm.math.switch(biased, theta, 0.5), observed=15)


@solved(
    lambda: finite(
        {"z": BITS},
        [({"z": z}, stats.norm(np.where(z, 3, 0), 1).logpdf(MIXED).sum()) for z in states(7)],
        [beta("w", (2, 3), z.sum(), 7 - z.sum()) for z in states(7)],
        {"z": (7,)},
    )
)
def a_mixture_of_unknown_weight():
    w = pm.Beta("w", 2, 3)
    z = pm.Bernoulli("z", w, shape=7)
    pm.Normal("x", 3 * z, 1, observed=MIXED)


def components_given(z):
    chosen = (z[:, None] == np.arange(3)).astype(float)
    means = linear({"mu": (3,)}, ([-3, 0, 3], 4 * np.eye(3)), chosen, THREE, 0.49)
    return dirichlet("w", np.ones(3), chosen.sum(0)) + means


@solved(
    lambda: finite(
        {"z": range(3)},
        [({"z": z}, 0.0) for z in states(6, range(3))],
        [components_given(z) for z in states(6, range(3))],
        {"z": (6,)},
    )
)
def a_mixture_of_unknown_weights_and_means():
    axes({"component": list("abc"), "row": range(6)})
    w = pm.Dirichlet("w", np.ones(3), dims="component")
    mu = pm.Normal("mu", [-3, 0, 3], 2, dims="component")
    z = pm.Categorical("z", p=w, dims="row")
    pm.Normal("x", mu[z], 0.7, observed=THREE, dims="row")


@solved(
    lambda: finite(
        {"z": BITS},
        [({"z": z}, 6 * np.log(0.5)) for z in states(6)],
        [
            beta(
                "theta",
                ([1, 2], [2, 1]),
                [HITS[z == 0].sum(), HITS[z == 1].sum()],
                [(10 - HITS[z == 0]).sum(), (10 - HITS[z == 1]).sum()],
                log_binomials(10, HITS),
            )
            for z in states(6)
        ],
        {"z": (6,)},
    )
)
def two_coins_drawn_blindly():
    theta = pm.Beta("theta", [1, 2], [2, 1])
    z = pm.Bernoulli("z", 0.5, shape=6)
    pm.Binomial("hits", 10, theta[z], observed=HITS)


@solved(
    lambda: finite(
        {"included": BITS},
        [({"included": g}, sum(log_bit(0.3, bit) for bit in g)) for g in states(3)],
        [linear({"w": (3,)}, (np.zeros(3), 4 * np.eye(3)), X * g, Y, 0.25) for g in states(3)],
        {"included": (3,)},
    )
)
def which_features():
    axes({"feature": [1, 2, 3]})
    included = pm.Bernoulli("included", 0.3, dims="feature")
    w = pm.Normal("w", 0, 2, dims="feature")
    pm.Normal("y", pm.math.dot(X, included * w), 0.5, observed=Y)


@solved(
    lambda: finite(
        {"outlier": BITS},
        [({"outlier": o}, sum(log_bit(0.1, bit) for bit in o)) for o in states(6)],
        [
            linear({"mu": ()}, ([0], [[4]]), np.ones((6, 1)), OUTLYING, np.where(o, 100, 1.0))
            for o in states(6)
        ],
        {"outlier": (6,)},
    )
)
def a_mean_among_outliers():
    outlier = pm.Bernoulli("outlier", 0.1, shape=len(OUTLYING))
    mu = pm.Normal("mu", 0, 2)
    pm.Normal("x", mu, pm.math.where(outlier, 10, 1), observed=OUTLYING)


@solved(
    lambda: finite(
        {"z": BITS},
        [({"z": z}, 5 * np.log(0.5)) for z in states(5)],
        [
            linear_unknown_scale(
                {"mu": (2,)},
                ([0, 3], 4 * np.eye(2)),
                (z[:, None] == np.arange(2)).astype(float),
                MIXED[:5],
                1,
                "sigma2",
                (3, 2),
            )
            for z in states(5)
        ],
        {"z": (5,)},
    )
)
def a_mixture_with_one_unknown_variance():
    sigma2 = pm.InverseGamma("sigma2", 3, 2)
    mu = pm.Normal("mu", [0, 3], 2 * pm.math.sqrt(sigma2), shape=2)
    z = pm.Bernoulli("z", 0.5, shape=5)
    pm.Normal("x", mu[z], pm.math.sqrt(sigma2), observed=MIXED[:5])
