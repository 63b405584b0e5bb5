"""Change points: one, two and three, of known rates and of unknown ones, by all their times."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats

from tests.posteriors.entry import solved
from tests.posteriors.rates import log_factorials
from tests.posteriors.references import (
    beta,
    gamma,
    inverse_gamma,
    linear,
    linear_unknown_scale,
    together,
)
from tests.posteriors.structured.hand import Truth, enumerated, mixed

RNG = np.random.default_rng(20261128)


def segment(t, *times):
    """Return how many of the times, in any order, are before t."""
    return sum((t >= np.asarray(time)[..., None]).astype(int) for time in times)


def counts(rates, lengths):
    return RNG.poisson(np.repeat(rates, lengths))


# --- of known rates: every configuration is one number --------------------------------------------

ONE = counts([2.0, 6.0], [70, 130])


def known(y, rates, times):
    """Return the log mass of times, uniform, at which known rates change."""

    def mass(rows):
        now = segment(np.arange(len(y)), *rows.T)
        logs = stats.poisson.logpmf(y[:, None], rates)
        return logs[np.arange(len(y)), now].sum(1) - times * np.log(len(y))

    return mass


@solved(lambda: enumerated({"change": ((), 200)}, known(ONE, [2.0, 6.0], 1)))
def one_change_of_known_rates():
    change = pm.DiscreteUniform("change", 0, 199)
    rate = pt.switch(np.arange(200) >= change, 6.0, 2.0)
    pm.Poisson("y", rate, observed=ONE)


TWO = counts([3.0, 9.0, 2.0], [30, 20, 30])


@solved(
    lambda: enumerated({"one": ((), 80), "two": ((), 80)}, known(TWO, [3.0, 9.0, 2.0], 2)),
)
def two_changes_of_known_rates_in_any_order():
    one, two = (pm.DiscreteUniform(name, 0, 79) for name in ("one", "two"))
    t = np.arange(80)
    now = 1 * pt.ge(t, pt.minimum(one, two)) + 1 * pt.ge(t, pt.maximum(one, two))
    pm.Poisson("y", pt.constant(np.array([3.0, 9.0, 2.0]))[now], observed=TWO)


def _ordered(rows):
    logs = known(TWO, [3.0, 9.0, 2.0], 2)(rows)
    return np.where(rows[:, 0] < rows[:, 1], logs, -np.inf)


@solved(lambda: enumerated({"first": ((), 80), "last": ((), 80)}, _ordered))
def two_changes_of_known_rates_in_order():
    first, last = (pm.DiscreteUniform(name, 0, 79) for name in ("first", "last"))
    pm.Potential("order", pt.switch(first < last, 0.0, -np.inf))
    t = np.arange(80)
    rate = pt.switch(t < first, 3.0, pt.switch(t < last, 9.0, 2.0))
    pm.Poisson("y", rate, observed=TWO)


THREE = counts([2.0, 8.0, 3.0, 9.0], [6, 8, 6, 8])


@solved(
    lambda: enumerated({"change": ((3,), 28)}, known(THREE, [2.0, 8.0, 3.0, 9.0], 3)),
)
def three_changes_of_known_rates():
    change = pm.DiscreteUniform("change", 0, 27, shape=3)
    now = pt.ge(np.arange(28)[:, None], change).sum(1)
    pm.Poisson("y", pt.constant(np.array([2.0, 8.0, 3.0, 9.0]))[now], observed=THREE)


UNITS = np.array([counts([2.0, 6.0], [k, 30 - k]) for k in (8, 15, 22, 27)])


def _units():
    logs = stats.poisson.logpmf(UNITS[..., None], [2.0, 6.0])
    before = np.concatenate([np.zeros((4, 1)), logs[..., 0].cumsum(1)[:, :-1]], 1)
    mass = before + logs[:, ::-1, 1].cumsum(1)[:, ::-1] - np.log(30)
    total = np.logaddexp.reduce(mass, 1)
    return Truth(total.sum(), {"change": np.exp(mass - total[:, None])})


@solved(_units)
def four_units_that_change_each_at_its_time():
    change = pm.DiscreteUniform("change", 0, 29, shape=4)
    rate = pt.switch(np.arange(30) >= change[:, None], 6.0, 2.0)
    pm.Poisson("y", rate, observed=UNITS)


# --- of unknown rates: given the times, conjugate -------------------------------------------------


def of_rates(y, times, prior, number):
    """Return the truth where a vector of unknown rates follows each other."""
    n = len(y)

    def given(row):
        now = segment(np.arange(n), *row)
        sums = np.array([y[now == k].sum() for k in range(number)])
        lengths = np.bincount(now, minlength=number)
        return gamma("rate", prior, sums, lengths, -log_factorials(y))

    return mixed(times, lambda row: -len(row) * np.log(n), given)


SMALL = counts([2.0, 7.0], [20, 30])


@solved(lambda: of_rates(SMALL, {"change": ((), 50)}, (np.full(2, 2.0), 0.5), 2))
def one_change_of_unknown_rates():
    change = pm.DiscreteUniform("change", 0, 49)
    rate = pm.Gamma("rate", 2, 0.5, shape=2)
    pm.Poisson("y", rate[1 * pt.ge(np.arange(50), change)], observed=SMALL)


FEW = counts([2.0, 9.0, 3.0], [4, 5, 5])


@solved(
    lambda: of_rates(FEW, {"one": ((), 14), "two": ((), 14)}, (np.full(3, 2.0), 0.5), 3),
)
def two_changes_of_unknown_rates():
    one, two = (pm.DiscreteUniform(name, 0, 13) for name in ("one", "two"))
    rate = pm.Gamma("rate", 2, 0.5, shape=3)
    t = np.arange(14)
    now = 1 * pt.ge(t, pt.minimum(one, two)) + 1 * pt.ge(t, pt.maximum(one, two))
    pm.Poisson("y", rate[now], observed=FEW)


FOUR = counts([1.0, 8.0, 2.0, 12.0], [2, 2, 2, 2])


@solved(
    lambda: of_rates(FOUR, {"change": ((3,), 8)}, (np.full(4, 2.0), 0.5), 4),
)
def three_changes_of_unknown_rates():
    change = pm.DiscreteUniform("change", 0, 7, shape=3)
    rate = pm.Gamma("rate", 2, 0.5, shape=4)
    now = pt.ge(np.arange(8)[:, None], change).sum(1)
    pm.Poisson("y", rate[now], observed=FOUR)


LEVELS = np.concatenate([RNG.normal(1, 1, 15), RNG.normal(3, 1, 25)])


def means_given(y, number, noise=1.0):
    """Return, given times, the law of normal means that follow each other."""

    def given(row):
        design = np.eye(number)[segment(np.arange(len(y)), *row)]
        prior = np.zeros(number), 9 * np.eye(number)
        return linear({"mean": (number,)}, prior, design, y, noise)

    return given


@solved(
    lambda: mixed({"change": ((), 40)}, lambda _: -np.log(40), means_given(LEVELS, 2)),
)
def one_change_of_unknown_normal_means():
    change = pm.DiscreteUniform("change", 0, 39)
    mean = pm.Normal("mean", 0, 3, shape=2)
    pm.Normal("y", mean[1 * pt.ge(np.arange(40), change)], 1, observed=LEVELS)


SHORT = np.concatenate([RNG.normal(m, 0.5, 6) for m in (0, 2, -1)])


@solved(
    lambda: mixed({"change": ((2,), 18)}, lambda _: -2 * np.log(18), means_given(SHORT, 3, 0.25)),
)
def two_changes_of_unknown_normal_means():
    change = pm.DiscreteUniform("change", 0, 17, shape=2)
    mean = pm.Normal("mean", 0, 3, shape=3)
    pm.Normal("y", mean[pt.ge(np.arange(18)[:, None], change).sum(1)], 0.5, observed=SHORT)


def _scaled(row):
    design = np.eye(2)[segment(np.arange(40), row[0])]
    return linear_unknown_scale(
        {"mean": (2,)}, (np.zeros(2), 9 * np.eye(2)), design, LEVELS, 1.0, "square", (3, 2)
    )


@solved(lambda: mixed({"change": ((), 40)}, lambda _: -np.log(40), _scaled))
def one_change_of_means_with_one_unknown_variance():
    square = pm.InverseGamma("square", 3, 2)
    sd = pm.math.sqrt(square)
    mean = pm.Normal("mean", 0, 3 * sd, shape=2)
    change = pm.DiscreteUniform("change", 0, 39)
    pm.Normal("y", mean[1 * pt.ge(np.arange(40), change)], sd, observed=LEVELS)


SPREADS = np.concatenate([RNG.normal(0, 1, 20), RNG.normal(0, 4, 20)])


def _spreads(row):
    parts = []
    for name, now in (("calm", SPREADS[: row[0]]), ("wild", SPREADS[row[0] :])):
        base = -len(now) / 2 * np.log(2 * np.pi)
        parts.append(inverse_gamma(name, (3, 4), len(now) / 2, now @ now / 2, base))
    return together(parts)


@solved(lambda: mixed({"change": ((), 40)}, lambda _: -np.log(40), _spreads))
def one_change_of_variance():
    change = pm.DiscreteUniform("change", 0, 39)
    calm, wild = pm.InverseGamma("calm", 3, 4), pm.InverseGamma("wild", 3, 4)
    square = pt.switch(np.arange(40) >= change, wild, calm)
    pm.Normal("y", 0, pm.math.sqrt(square), observed=SPREADS)


TOSSES = np.concatenate([RNG.binomial(1, 0.2, 25), RNG.binomial(1, 0.7, 35)])


def _coins(row):
    parts = [TOSSES[: row[0]], TOSSES[row[0] :]]
    ones = np.array([part.sum() for part in parts])
    return beta("share", (np.ones(2), 1.0), ones, np.array([len(p) for p in parts]) - ones)


@solved(lambda: mixed({"change": ((), 60)}, lambda _: -np.log(60), _coins))
def one_change_of_an_unknown_share():
    change = pm.DiscreteUniform("change", 0, 59)
    share = pm.Beta("share", 1, 1, shape=2)
    pm.Bernoulli("y", share[1 * pt.ge(np.arange(60), change)], observed=TOSSES)


T = np.arange(30.0)
BENT = 1 + 0.1 * T + 0.4 * np.maximum(T - 18, 0) + RNG.normal(0, 0.5, 30)


def _bent(row):
    X = np.column_stack([np.ones(30), T, np.maximum(T - row[0], 0)])
    shapes = {"level": (), "slope": (), "bend": ()}
    return linear(shapes, (np.zeros(3), np.diag([25.0, 1, 1])), X, BENT, 0.25)


@solved(lambda: mixed({"knot": ((), 30)}, lambda _: -np.log(30), _bent))
def a_line_with_a_bend_at_an_unknown_time():
    knot = pm.DiscreteUniform("knot", 0, 29)
    level, slope = pm.Normal("level", 0, 5), pm.Normal("slope", 0, 1)
    bend = pm.Normal("bend", 0, 1)
    pm.Normal("y", level + slope * T + bend * pt.maximum(T - knot, 0.0), 0.5, observed=BENT)


PAIR = np.stack([counts([2.0, 6.0], [12, 18]), counts([5.0, 3.0], [12, 18])])


def _pair(row):
    sums = np.stack([PAIR[:, : row[0]].sum(1), PAIR[:, row[0] :].sum(1)], 1)
    lengths = np.array([row[0], 30 - row[0]])
    return gamma("rate", (np.full((2, 2), 2.0), 0.5), sums, lengths, -log_factorials(PAIR))


@solved(lambda: mixed({"change": ((), 30)}, lambda _: -np.log(30), _pair))
def two_series_that_change_together():
    change = pm.DiscreteUniform("change", 0, 29)
    rate = pm.Gamma("rate", 2, 0.5, shape=(2, 2))
    late = pt.ge(np.arange(30), change)
    pm.Poisson("y", pt.switch(late, rate[:, 1:], rate[:, :1]), observed=PAIR)


PRIOR = RNG.dirichlet(np.ones(12))


def _only_late(row):
    late = np.arange(12) >= row[0]
    y = FEW[:12]
    base = stats.poisson.logpmf(y[~late], 2.0).sum() - log_factorials(y[late])
    return gamma("rate", (2.0, 0.5), y[late].sum(), late.sum(), base)


@solved(lambda: mixed({"when": ((), 12)}, lambda row: np.log(PRIOR[row[0]]), _only_late))
def a_change_to_an_unknown_rate_at_a_time_with_a_prior():
    when = pm.Categorical("when", PRIOR)
    rate = pm.Gamma("rate", 2, 0.5)
    pm.Poisson("y", pt.switch(np.arange(12) >= when, rate, 2.0), observed=FEW[:12])


EACH = UNITS[:3, :10]


def _each():
    parts = []
    for y in EACH:
        one = of_rates(y, {"change": ((), 10)}, (np.full(2, 2.0), 0.5), 2)
        parts.append(one)
    mean = {name: np.array([part.mean[name] for part in parts]) for name in parts[0].mean}
    return Truth(sum(part.log_evidence for part in parts), mean)


@solved(_each)
def three_units_that_change_each_to_a_rate_of_its_own():
    change = pm.DiscreteUniform("change", 0, 9, shape=3)
    rate = pm.Gamma("rate", 2, 0.5, shape=(3, 2))
    late = pt.ge(np.arange(10), change[:, None])
    pm.Poisson("y", pt.switch(late, rate[:, 1:], rate[:, :1]), observed=EACH)
