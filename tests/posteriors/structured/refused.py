"""Structured models that are refused: too wide, too many, without an end or a form, improper.

Each has the verb that refuses it, and what the reason has to say: all of it.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

import bayesmodels as bm
from tests.posteriors.refused import without
from tests.posteriors.structured import chains, changes, normals

RNG = np.random.default_rng(20261202)
DENIED = {}


def refused_by(verb, *said):
    """Put the verb and what the reason says beside a function that fills a model."""

    def kept(fill):
        one = without(*said)(fill)
        DENIED[one.name] = (verb, one)
        return fill

    return kept


def spins(name, shape):
    return 2 * pm.Bernoulli(name, 0.5, shape=shape) - 1


# --- too many finite variables depend on each other -----------------------------------------------

WIDE = "to sum out .* takes tables of \\d+ elements with .* numbers"
LONG = "summands of the log density have up to \\d+ elements of .*: it would be evaluated"


@refused_by(bm.exact, "s", WIDE)
def spins_on_a_square_of_thirty():
    s = spins("s", (30, 30))
    pm.Potential("down", 0.4 * (s[1:] * s[:-1]).sum())
    pm.Potential("across", 0.4 * (s[:, 1:] * s[:, :-1]).sum())


@refused_by(bm.exact, "colour", WIDE)
def four_colours_on_a_square_of_twenty():
    colour = pm.Categorical("colour", np.full(4, 0.25), shape=(20, 20))
    pm.Potential("down", 1.0 * pt.eq(colour[1:], colour[:-1]).sum())
    pm.Potential("across", 1.0 * pt.eq(colour[:, 1:], colour[:, :-1]).sum())
    pm.Normal("y", colour, 1.0, observed=RNG.integers(0, 4, (20, 20)))


@refused_by(bm.exact, "s", WIDE)
def forty_spins_each_linked_with_each():
    s = spins("s", 40)
    one, other = np.triu_indices(40, 1)
    pm.Potential("pairs", (RNG.normal(size=len(one)) * s[one] * s[other]).sum())


@refused_by(bm.exact, "hidden", WIDE)
def a_boltzmann_machine():
    seen, hidden = spins("seen", 30), spins("hidden", 30)
    pairs = RNG.normal(size=(30, 30)) * seen[:, None] * hidden
    pm.Potential("pairs", pairs.sum())


@refused_by(bm.exact, "s", "too many elements of s depend on each other")
def seventy_spins_each_linked_with_each():
    s = spins("s", 70)
    one, other = np.triu_indices(70, 1)
    pm.Potential("pairs", 0.1 * (s[one] * s[other]).sum())


@refused_by(bm.exact, "x", LONG)
def a_sum_of_forty_bits():
    x = pm.Bernoulli("x", 0.5, shape=40)
    pm.Normal("total", x.sum(), 1.0, observed=17.0)


@refused_by(bm.exact, "change", LONG)
def three_changes_among_two_hundred():
    change = pm.DiscreteUniform("change", 0, 199, shape=3)
    now = pt.ge(np.arange(200)[:, None], change).sum(1)
    pm.Poisson("y", pt.constant(np.array([2.0, 6.0, 2.0, 6.0]))[now], observed=changes.ONE)


@refused_by(bm.exact, "on", LONG)
def twenty_appliances_of_which_the_sum_is_metered():
    on = pm.Bernoulli("on", 0.5, shape=(25, 20))
    pm.Potential("moves", pt.log(2 * pt.constant(chains.MOVES))[on[:-1], on[1:]].sum())
    pm.Normal("y", (on * np.arange(20.0)).sum(1), 1.0, observed=chains.BOTH[:25])


@refused_by(bm.exact, "disease", LONG)
def twenty_diseases_with_a_common_symptom():
    disease = pm.Bernoulli("disease", 0.1, shape=20)
    without_ = 0.98 * pm.math.prod(0.5**disease)
    pm.Bernoulli("symptom", 1 - without_, observed=1)


@refused_by(bm.exact, "cell", WIDE)
def a_sudoku():
    cell = pm.DiscreteUniform("cell", 1, 9, shape=(9, 9))
    for name, own in (
        ("rows", cell),
        ("columns", cell.T),
        ("boxes", cell.reshape((3, 3, 3, 3)).dimshuffle(0, 2, 1, 3).reshape((9, 9))),
    ):
        one, other = np.triu_indices(9, 1)
        same = pt.eq(own[:, one], own[:, other])
        pm.Potential(name, pt.switch(same, -np.inf, 0.0).sum())


@refused_by(bm.exact, "to", WIDE)
def twelve_records_matched_with_twelve():
    to = pm.DiscreteUniform("to", 0, 11, shape=12)
    one, other = np.triu_indices(12, 1)
    pm.Potential("each once", pt.switch(pt.eq(to[one], to[other]), -np.inf, 0.0).sum())
    near = RNG.normal(size=(12, 12))
    pm.Potential("near", pt.constant(near)[np.arange(12), to].sum())


# --- configurations with something continuous under each ------------------------------------------

MANY = "configurations of .* depend on each other or on other variables; at most 1024"


@refused_by(bm.exact, "label", "configurations")
def sixty_labels_of_two_unknown_means():
    mean = pm.Normal("mean", [-1, 2], 1, shape=2)
    label = pm.Bernoulli("label", 0.5, shape=60)
    pm.Normal("y", mean[label], 1, observed=np.resize(normals.SEEN, 60))


@refused_by(bm.exact, "label", "configurations")
def thirty_labels_of_three_unknown_rates():
    rate = pm.Gamma("rate", [1, 4, 9], 1, shape=3)
    label = pm.Categorical("label", np.full(3, 1 / 3), shape=30)
    pm.Poisson("y", rate[label], observed=changes.ONE[:30])


@refused_by(bm.exact, "kept", MANY)
def which_of_thirty_columns_to_keep():
    X = RNG.normal(size=(40, 30))
    kept = pm.Bernoulli("kept", 0.2, shape=30)
    b = pm.Normal("b", 0, 1, shape=30)
    pm.Normal("y", pm.math.dot(X, kept * b), 1, observed=normals.SEEN)


@refused_by(bm.exact, "regime", MANY)
def a_level_whose_noise_switches():
    regime = pm.Bernoulli("regime", 0.5, shape=40)
    chains.moved(regime, chains.MOVES, 2)
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=39)
    pm.Normal("y", level, pt.switch(regime, 3.0, 1.0), observed=normals.SEEN)


@refused_by(bm.exact, "state", MANY)
def a_chain_of_unknown_levels():
    state = pm.Bernoulli("state", 0.5, shape=40)
    chains.moved(state, chains.MOVES, 2)
    level = pm.Normal("level", [0, 2], 1, shape=2)
    pm.Normal("y", level[state], 1, observed=normals.SEEN)


@refused_by(bm.exact, "state", MANY)
def a_chain_of_unknown_moves():
    moves = pm.Dirichlet("moves", np.ones((2, 2)))
    state = pm.Bernoulli("state", 0.5, shape=40)
    pm.Potential("chain", pt.log(2 * moves)[state[:-1], state[1:]].sum())
    pm.Poisson("y", pt.switch(state, 6.0, 2.0), observed=changes.ONE[:40])


@refused_by(bm.exact, "one and two", MANY)
def two_changes_of_unknown_rates_among_two_hundred():
    one, two = (pm.DiscreteUniform(name, 0, 199) for name in ("one", "two"))
    rate = pm.Gamma("rate", 2, 0.5, shape=3)
    t = np.arange(200)
    now = 1 * pt.ge(t, pt.minimum(one, two)) + 1 * pt.ge(t, pt.maximum(one, two))
    pm.Poisson("y", rate[now], observed=changes.ONE)


@refused_by(bm.exact, "row and column", MANY)
def a_block_model_of_a_large_table():
    row, column = (pm.Bernoulli(name, 0.5, shape=12) for name in ("row", "column"))
    p = pm.Beta("p", 1, 1, shape=(2, 2))
    pm.Bernoulli("y", p[row[:, None], column], observed=RNG.integers(0, 2, (12, 12)))


@refused_by(bm.exact, "spin", "b")
def spins_whose_field_is_a_regression():
    b = pm.Normal("b", 0, 1)
    spin = pm.Bernoulli("spin", pm.math.invlogit(b * chains.HEAT), shape=40)
    pm.Potential("links", 1.0 * pt.eq(spin[1:], spin[:-1]).sum())


# --- counts without an end ------------------------------------------------------------------------

ENDLESS = "is a whole number that has infinitely many values"


@refused_by(bm.exact, "total", ENDLESS)
def a_poisson_total_of_an_unknown_rate():
    rate = pm.Gamma("rate", 2, 0.1)
    total = pm.Poisson("total", rate)
    pm.Binomial("seen", total, 0.3, observed=5)


@refused_by(bm.integrate, "total", ENDLESS)
def a_negative_binomial_total_of_an_unknown_dispersion():
    total = pm.NegativeBinomial("total", mu=20, alpha=pm.HalfNormal("alpha", 2))
    pm.Binomial("seen", total, 0.3, observed=5)


@refused_by(bm.exact, "wait is added up to", "has not ended")
def a_wait_that_its_prior_all_but_excludes():
    wait = pm.Geometric("wait", 0.9)
    pm.Normal("y", wait, 0.01, observed=400.0)


@refused_by(bm.exact, "x0", "evaluated")
def a_branching_process():
    x = pm.Poisson("x0", 3)
    for i in range(1, 5):
        x = pm.Poisson(f"x{i}", 1 + 0.8 * x)
        pm.Poisson(f"y{i}", 0.5 + x, observed=i)


@refused_by(bm.exact, "grown", "depends on other variables")
def eggs_of_ten_nests_of_which_all_that_hatch_grow_together():
    hatched = pm.Binomial("hatched", 9, 0.5, shape=10)
    grown = pm.Binomial("grown", hatched.sum(), 0.4)
    pm.Binomial("old", grown, 0.7, observed=12)


@refused_by(bm.exact, "n is truncated from below alone: it has infinitely many values")
def a_poisson_number_that_is_not_zero():
    n = pm.Truncated("n", pm.Poisson.dist(3), lower=1)
    pm.Binomial("seen", n, 0.5, observed=1)


@refused_by(bm.integrate, "wait", "is a whole number that PyMC keeps as a real one")
def a_truncated_wait_that_pymc_takes_for_continuous():
    wait = pm.Truncated("wait", pm.Geometric.dist(0.05), upper=200)
    pm.Normal("y", wait, 0.3, observed=40.5)


@refused_by(bm.integrate, "trials", "has a mixture as its prior")
def an_inflated_number_of_trials():
    trials = pm.ZeroInflatedBinomial("trials", psi=0.5, n=5, p=0.3)
    pm.Normal("y", trials, 1, observed=2.0)


# --- continuous, and not normal -------------------------------------------------------------------


@refused_by(bm.exact, "h")
def stochastic_volatility():
    first = pm.Normal.dist(0, 1)
    h = pm.GaussianRandomWalk("h", sigma=0.3, init_dist=first, steps=39)
    pm.Normal("y", 0, pm.math.exp(h / 2), observed=normals.SEEN)


@refused_by(bm.exact, "level")
def counts_about_the_exponential_of_a_walk():
    first = pm.Normal.dist(0, 1)
    level = pm.GaussianRandomWalk("level", sigma=0.3, init_dist=first, steps=39)
    pm.Poisson("y", pm.math.exp(level), observed=changes.ONE[:40])


@refused_by(bm.exact, "x")
def a_state_that_moves_by_a_sine():
    x = pm.Normal("x", 0, 5, shape=20)
    steps = pm.logp(pm.Normal.dist(pm.math.sin(x[:-1]) + x[:-1], 0.5), x[1:])
    pm.Potential("steps", steps.sum())
    pm.Normal("y", x, 1, observed=normals.SEEN[:20])


@refused_by(bm.exact, "level", "not a normal law's")
def a_level_with_heavy_noise():
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=39)
    pm.StudentT("y", nu=4, mu=level, sigma=1, observed=normals.SEEN)


@refused_by(bm.exact, "factor|loading")
def factors_with_unknown_loadings():
    factor, loading = pm.Normal("factor", shape=(15, 1)), pm.Normal("loading", shape=6)
    pm.Normal("y", factor * loading, 1, observed=normals.TRAITS)


@refused_by(bm.exact, "row|column", "at most 5000 that may all depend on each other")
def very_many_rows_and_columns_crossed():
    one, other = RNG.integers(0, 4000, (2, 20_000))
    row, column = pm.Normal("row", shape=4000), pm.Normal("column", shape=4000)
    pm.Normal("y", row[one] + column[other], 1.0, observed=np.zeros(20_000))


# --- no posterior ---------------------------------------------------------------------------------


@refused_by(bm.exact, "level", "improper")
def a_walk_that_begins_nowhere():
    level = pm.Flat("level", shape=50)
    pm.Potential("steps", pm.logp(pm.Normal.dist(0, 1), level[1:] - level[:-1]).sum())


@refused_by(bm.exact, "f", "improper")
def a_picture_of_which_only_differences_are_seen():
    f = pm.Flat("f", shape=(8, 8))
    law = pm.Normal.dist(0, 0.5)
    pm.Potential("down", pm.logp(law, f[1:] - f[:-1]).sum())
    pm.Potential("across", pm.logp(law, f[:, 1:] - f[:, :-1]).sum())


@refused_by(bm.exact, "state", "impossible")
def a_chain_that_can_not_have_been():
    state = pm.Bernoulli("state", 0.5, shape=10)
    pm.Potential("never", pt.switch(pt.eq(state[1:], state[:-1]), -np.inf, 0.0).sum())
    pm.Potential("both", pt.switch(pt.eq(state[0], state[-1]), 0.0, -np.inf))


# --- weights of which few decide ------------------------------------------------------------------

UNEQUAL = "has not settled"


@refused_by(bm.integrate, UNEQUAL, "h")
def stochastic_volatility_of_heavy_steps():
    s = pm.HalfNormal("s", 0.5)
    first, step = pm.Normal.dist(0, 1), pm.StudentT.dist(nu=3, mu=0, sigma=s)
    h = pm.RandomWalk("h", innovation_dist=step, init_dist=first, steps=39)
    pm.Normal("y", 0, pm.math.exp(h / 2), observed=normals.SEEN)


@refused_by(bm.integrate, "regime|level")
def a_level_whose_noise_switches_by_an_unknown_factor():
    factor = pm.Gamma("factor", 3, 1)
    regime = pm.Bernoulli("regime", 0.5, shape=40)
    chains.moved(regime, chains.MOVES, 2)
    first = pm.Normal.dist(0, 10)
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=first, steps=39)
    pm.Normal("y", level, pt.switch(regime, factor, 1.0), observed=normals.SEEN)


@refused_by(bm.integrate, "s", "configurations")
def spins_on_a_square_of_unknown_coupling():
    coupling = pm.HalfNormal("coupling", 0.5)
    s = spins("s", (30, 30))
    pm.Potential("down", coupling * (s[1:] * s[:-1]).sum())
    pm.Potential("across", coupling * (s[:, 1:] * s[:, :-1]).sum())
