"""Hidden Markov chains, as users write them, each by forward and backward."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats

from tests.posteriors.entry import solved
from tests.posteriors.structured.hand import Truth, along_tree, path

RNG = np.random.default_rng(20261126)
MOVES = np.array([[0.9, 0.1], [0.25, 0.75]])
THREE = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])
HALF = np.full(2, 0.5)


def walked(moves, n):
    """Return states that follow each other."""
    state = [0]
    for _ in range(n - 1):
        state.append(RNG.choice(len(moves), p=moves[state[-1]]))
    return np.array(state)


def moved(state, moves, levels):
    """Declare moves of a chain over the law of states that are equally probable."""
    law = pt.log(pt.constant(moves))[state[:-1], state[1:]] + np.log(levels)
    pm.Potential(f"moves of {state.name}", law.sum())


def smoothed(name, first, moves, own, parent=None):
    """Return the truth about a chain, or a tree."""
    total, law = along_tree(path(len(own)) if parent is None else parent, first, moves, own)
    return Truth(total, {name: law})


LEVELS = np.array([0.0, 2.0])
SIGNAL = RNG.normal(LEVELS[walked(MOVES, 300)], 1.0)


@solved(
    lambda: smoothed("state", HALF, MOVES, stats.norm.pdf(SIGNAL[:, None], LEVELS, 1.0)),
)
def two_levels_with_normal_noise():
    state = pm.Categorical("state", HALF, shape=300)
    moved(state, MOVES, 2)
    pm.Normal("y", pt.constant(LEVELS)[state], 1.0, observed=SIGNAL)


QUAKES = RNG.poisson(np.array([2.0, 7.0])[walked(MOVES, 80)])


@solved(
    lambda: smoothed("state", HALF, MOVES, stats.poisson.pmf(QUAKES[:, None], [2.0, 7.0])),
)
def two_rates_of_quakes_with_bernoulli_states():
    state = pm.Bernoulli("state", 0.5, shape=80)
    stay = pt.switch(state[:-1], 0.75, 0.9)
    same = pt.eq(state[1:], state[:-1])
    pm.Potential("moves", pt.log(2 * pt.switch(same, stay, 1 - stay)).sum())
    pm.Poisson("y", pt.switch(state, 7.0, 2.0), observed=QUAKES)


ROLLS = RNG.integers(0, 6, 40)
DICE = np.array([np.full(6, 1 / 6), [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]])


def _casino():
    total, law = along_tree(path(40), np.array([0.8, 0.2]), MOVES, DICE[:, ROLLS].T)
    return Truth(total, {f"die_{i}": p for i, p in enumerate(law)})


@solved(_casino)
def the_dishonest_casino_as_a_list_of_variables():
    die = pm.Categorical("die_0", [0.8, 0.2])
    for i in range(40):
        if i:
            die = pm.Categorical(f"die_{i}", pt.constant(MOVES)[die])
        pm.Categorical(f"roll_{i}", pt.constant(DICE)[die], observed=ROLLS[i])


WINS = RNG.binomial(10, np.array([0.3, 0.6])[walked(MOVES, 25)])


def _form():
    own = stats.binom.pmf(WINS[:, None], 10, [0.3, 0.6])
    total, law = along_tree(path(25), np.array([0.7, 0.3]), MOVES, own)
    return Truth(total, {f"s{i}": p for i, p in enumerate(law)})


@solved(_form)
def form_of_a_team_as_a_loop_of_bernoulli_variables():
    s = pm.Bernoulli("s0", 0.3)
    for i in range(25):
        if i:
            s = pm.Bernoulli(f"s{i}", pm.math.switch(s, 0.75, 0.1))
        pm.Binomial(f"wins {i}", 10, pm.math.switch(s, 0.6, 0.3), observed=WINS[i])


GAPS = np.setdiff1d(np.arange(120), [*range(30, 45), 80, 81, 119])
HEARD = RNG.normal(np.array([-1.0, 0.0, 2.0])[walked(THREE, 120)], 0.8)


def _gaps():
    own = np.ones((120, 3))
    own[GAPS] = stats.norm.pdf(HEARD[GAPS, None], [-1.0, 0.0, 2.0], 0.8)
    return smoothed("state", np.full(3, 1 / 3), THREE, own)


@solved(_gaps)
def three_levels_of_which_rows_are_not_seen():
    state = pm.Categorical("state", np.full(3, 1 / 3), shape=120)
    moved(state, THREE, 3)
    levels = pt.constant(np.array([-1.0, 0.0, 2.0]))
    pm.Normal("y", levels[state[GAPS]], 0.8, observed=HEARD[GAPS])


RAIN = np.where(np.arange(60) % 7 == 3, np.nan, RNG.integers(0, 2, 60))
WET = np.array([0.2, 0.8])


def _rain():
    seen = ~np.isnan(RAIN)
    own = np.where(seen[:, None], np.where(RAIN[:, None] == 1, WET, 1 - WET), 1.0)
    truth = smoothed("state", HALF, MOVES, own)
    missing = truth.mean["state"][~seen] @ WET
    return Truth(
        truth.log_evidence,
        {**truth.mean, "rain_unobserved": np.stack([1 - missing, missing], -1)},
    )


@solved(_rain)
def rain_on_days_some_of_which_nobody_wrote_down():
    state = pm.Bernoulli("state", 0.5, shape=60)
    moved(state, MOVES, 2)
    pm.Bernoulli("rain", pt.constant(WET)[state], observed=RAIN)


SECOND = RNG.dirichlet([2.0, 2.0], size=(2, 2))  # of a state given the two before it
LATER = RNG.normal(LEVELS[walked(MOVES, 50)], 1.0)


def _second():
    # The chain of pairs (state before, state)
    moves = np.zeros((4, 4))
    for a, b, c in np.ndindex(2, 2, 2):
        moves[2 * a + b, 2 * b + c] = SECOND[a, b, c]
    one = stats.norm.pdf(LATER[:, None], LEVELS, 1.0)
    own = np.tile(one[1:], (1, 2)) * np.ones((49, 1))
    own[0] *= np.repeat(one[0], 2)
    total, law = along_tree(path(49), np.full(4, 0.25), moves, own)
    pairs = law.reshape(49, 2, 2)
    return Truth(total, {"state": np.concatenate([pairs[:1].sum(2), pairs.sum(1)])})


@solved(_second)
def a_chain_of_order_two():
    state = pm.Bernoulli("state", 0.5, shape=50)
    law = pt.constant(SECOND)[state[:-2], state[1:-1], state[2:]]
    pm.Potential("moves", (pt.log(law) + np.log(2)).sum())
    pm.Normal("y", pt.constant(LEVELS)[state], 1.0, observed=LATER)


ONWARD = np.array([[0.8, 0.2, 0, 0], [0, 0.7, 0.3, 0], [0, 0, 0.9, 0.1], [0, 0, 0, 1.0]])
AGES = RNG.normal([0.0] * 8 + [1.0] * 6 + [3.0] * 9 + [2.0] * 7, 0.7)
STAGE = np.array([0.0, 1.0, 3.0, 2.0])


@solved(
    lambda: smoothed("stage", np.eye(4)[0], ONWARD, stats.norm.pdf(AGES[:, None], STAGE, 0.7)),
)
def stages_from_left_to_right_that_never_return():
    stage = pm.Categorical("stage", np.full(4, 0.25), shape=30)
    first = pt.switch(pt.eq(stage[0], 0), 0.0, -np.inf) + np.log(4)
    pm.Potential("first", first)
    moved(stage, ONWARD, 4)
    pm.Normal("age", pt.constant(STAGE)[stage], 0.7, observed=AGES)


HEAT = RNG.normal(size=40)
SLEEP = RNG.integers(0, 2, 40)


def _heat():
    wake, doze = (1 / (1 + np.exp(-x)) for x in (0.5 + HEAT, -1 - 0.5 * HEAT))
    moves = np.stack([np.stack([1 - doze, doze], -1), np.stack([wake, 1 - wake], -1)], 1)
    own = np.where(SLEEP[:, None] == 1, [0.1, 0.9], [0.9, 0.1])
    return smoothed("asleep", HALF, moves, own)


@solved(_heat)
def moves_that_depend_on_a_covariate():
    asleep = pm.Bernoulli("asleep", 0.5, shape=40)
    wake = pm.math.invlogit(0.5 + HEAT[1:])
    doze = pm.math.invlogit(-1 - 0.5 * HEAT[1:])
    up = pt.switch(asleep[:-1], 1 - wake, doze)
    pm.Potential("moves", (pm.logp(pm.Bernoulli.dist(up), asleep[1:]) + np.log(2)).sum())
    pm.Bernoulli("eyes shut", pt.switch(asleep, 0.9, 0.1), observed=SLEEP)


RETURNS = RNG.normal(0, np.where(walked(MOVES, 100), 2.5, 0.8))


def _returns():
    mean = np.concatenate([[0.0], RETURNS[:-1]])[:, None] * [0.5, -0.3]
    own = stats.norm.pdf(RETURNS[:, None], mean, [0.8, 2.5])
    return smoothed("regime", HALF, MOVES, own)


@solved(_returns)
def regimes_of_an_autoregression():
    regime = pm.Bernoulli("regime", 0.5, shape=100)
    moved(regime, MOVES, 2)
    before = np.concatenate([[0.0], RETURNS[:-1]])
    slope, noise = pt.switch(regime, -0.3, 0.5), pt.switch(regime, 2.5, 0.8)
    pm.Normal("y", slope * before, noise, observed=RETURNS)


BORN = np.array([stats.binom.pmf(np.arange(9), 8, 0.1 + 0.1 * k) for k in range(9)])
TRAPPED = RNG.poisson(np.clip(np.arange(20) / 3, 0.5, 5))


def _population():
    own = stats.poisson.pmf(TRAPPED[:, None], 0.5 + np.arange(9))
    total, law = along_tree(path(20), stats.binom.pmf(np.arange(9), 8, 0.3), BORN, own)
    return Truth(total, {f"n{i}": p for i, p in enumerate(law)})


@solved(_population)
def numbers_that_breed_from_year_to_year():
    n = pm.Binomial("n0", 8, 0.3)
    for i in range(20):
        if i:
            n = pm.Binomial(f"n{i}", 8, 0.1 + 0.1 * n)
        pm.Poisson(f"trapped {i}", 0.5 + n, observed=TRAPPED[i])


PANEL = RNG.integers(0, 2, (15, 6))


def _panel():
    own = np.where(PANEL[..., None] == 1, [0.15, 0.7], [0.85, 0.3])
    each = [along_tree(path(6), HALF, MOVES, row) for row in own]
    return Truth(sum(total for total, _ in each), {"poor": np.array([law for _, law in each])})


@solved(_panel)
def short_chains_of_fifteen_people():
    poor = pm.Bernoulli("poor", 0.5, shape=(15, 6))
    law = pt.log(2 * pt.constant(MOVES))[poor[:, :-1], poor[:, 1:]]
    pm.Potential("moves", law.sum())
    pm.Bernoulli("says so", pt.constant(np.array([0.15, 0.7]))[poor], observed=PANEL)


RING = RNG.integers(0, 2, 40)


def _ring():
    own = np.where(RING[:, None] == 1, [0.3, 0.8], [0.7, 0.2])
    link = np.exp(0.7 * np.eye(2))
    ahead = [np.diag(own[0])]
    for one in own[1:]:
        ahead.append(ahead[-1] @ link @ np.diag(one))
    law = []
    for i in range(40):
        turned, around = np.roll(own, -i, axis=0), np.eye(2)
        for one in turned:
            around = around @ np.diag(one) @ link
        law.append(np.diag(around) / np.trace(around))
    return Truth(np.log(np.trace(ahead[-1] @ link)) - 40 * np.log(2), {"x": np.array(law)})


@solved(_ring)
def a_ring_of_neighbours():
    x = pm.Bernoulli("x", 0.5, shape=40)
    pm.Potential("pairs", 0.7 * pt.eq(x, pt.roll(x, 1)).sum())
    pm.Bernoulli("y", pt.switch(x, 0.8, 0.3), observed=RING)


# --- several chains at a time ---------------------------------------------------------------------

BOTH = RNG.normal(size=30) + 1


def together(number, own):
    """Return the truth about independent chains of MOVES of which only a whole is seen."""
    moves, first = np.ones((1, 1)), np.ones(1)
    for _ in range(number):
        moves, first = np.kron(moves, MOVES), np.kron(first, HALF)
    total, law = along_tree(path(len(own)), first, moves, own)
    cube = law.reshape(len(own), *[2] * number)
    axes = [tuple(1 + j for j in range(number) if j != i) for i in range(number)]
    return total, [cube.sum(axis) for axis in axes]


def _two():
    total, (a, b) = together(2, stats.norm.pdf(BOTH[:, None], [0.0, 2.0, 1.0, 3.0], 0.7))
    return Truth(total, {"a": a, "b": b})


@solved(_two)
def two_machines_of_which_the_sum_is_metered():
    a, b = (pm.Bernoulli(name, 0.5, shape=30) for name in "ab")
    for x in (a, b):
        moved(x, MOVES, 2)
    pm.Normal("y", a + 2 * b, 0.7, observed=BOTH)


BITS = np.array([[i >> k & 1 for k in (3, 2, 1, 0)] for i in range(16)])
LOADS = np.array([1.0, 2.0, 3.5, 5.0])


def _four():
    total, laws = together(4, stats.norm.pdf(4 * BOTH[:25, None], BITS @ LOADS, 1.0))
    return Truth(total, {"on": np.stack(laws, 1)})


@solved(_four)
def four_appliances_of_which_the_sum_is_metered():
    on = pm.Bernoulli("on", 0.5, shape=(25, 4))
    pm.Potential("moves", pt.log(2 * pt.constant(MOVES))[on[:-1], on[1:]].sum())
    pm.Normal("y", (on * LOADS).sum(1), 1.0, observed=4 * BOTH[:25])


COUPLED = RNG.dirichlet(np.ones(2), size=(2, 2))
TWICE = RNG.integers(0, 2, (30, 2))


def _coupled():
    moves = np.einsum("abc,abd->abcd", COUPLED, COUPLED[:, ::-1]).reshape(4, 4)
    one = np.where(TWICE[..., None] == 1, [0.2, 0.9], [0.8, 0.1])
    own = np.einsum("na,nb->nab", one[:, 0], one[:, 1]).reshape(30, 4)
    total, law = along_tree(path(30), np.full(4, 0.25), moves, own)
    pairs = law.reshape(30, 2, 2)
    return Truth(total, {"left": pairs.sum(2), "right": pairs.sum(1)})


@solved(_coupled)
def two_chains_that_look_at_each_other():
    left, right = (pm.Bernoulli(name, 0.5, shape=30) for name in ("left", "right"))
    law = pt.log(2 * pt.constant(COUPLED))
    pm.Potential("left moves", law[left[:-1], right[:-1], left[1:]].sum())
    law = pt.log(2 * pt.constant(COUPLED[:, ::-1].copy()))
    pm.Potential("right moves", law[left[:-1], right[:-1], right[1:]].sum())
    for i, x in enumerate((left, right)):
        pm.Bernoulli(f"y{i}", pt.switch(x, 0.9, 0.2), observed=TWICE[:, i])


SPINS = RNG.normal(size=(4, 20))


def _strip():
    spin = 2.0 * BITS - 1
    inside = 0.4 * (spin[:, 1:] * spin[:, :-1]).sum(1)
    link = np.exp(0.4 * spin @ spin.T)
    own = np.exp(inside[:, None] + spin @ SPINS).T
    total, law = along_tree(path(20), np.ones(16), link, own)
    up = np.einsum("nb,bi->in", law, BITS)
    return Truth(total - 80 * np.log(2), {"up": np.stack([1 - up, up], -1)})


@solved(_strip)
def spins_on_a_strip_four_wide():
    up = pm.Bernoulli("up", 0.5, shape=(4, 20))
    spin = 2 * up - 1
    pm.Potential("across", 0.4 * (spin[1:] * spin[:-1]).sum())
    pm.Potential("along", 0.4 * (spin[:, 1:] * spin[:, :-1]).sum())
    pm.Potential("field", (SPINS * spin).sum())
