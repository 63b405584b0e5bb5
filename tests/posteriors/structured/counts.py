"""Counts that were not seen, with an end: totals, captures, rows and cells that are missing."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.coins import log_binomials
from tests.posteriors.entry import solved
from tests.posteriors.rates import log_factorials
from tests.posteriors.references import beta, gamma
from tests.posteriors.structured.hand import Truth, added_up, configurations, enumerated, mixed

RNG = np.random.default_rng(20261130)
TOTAL = np.arange(30, 301)


@solved(
    lambda: _of_totals(stats.binom.logpmf([[25], [30], [22]], TOTAL, 0.2).sum(0)),
)
def a_total_of_which_a_fifth_is_caught():
    total = pm.DiscreteUniform("total", 30, 300)
    pm.Binomial("caught", total, 0.2, observed=[25, 30, 22])


def _of_totals(logs):
    rows = np.arange(len(TOTAL))[:, None]
    return added_up({"total": ((), len(TOTAL))}, rows, logs - np.log(len(TOTAL)))


@solved(lambda: _of_totals(stats.hypergeom.logpmf(9, TOTAL, 30, 25)))
def fish_that_are_marked_and_caught_again():
    total = pm.DiscreteUniform("total", 30, 300)
    pm.HyperGeometric("marked", N=total, k=30, n=25, observed=9)


def _thinned(rows):
    n = rows[:, 0]
    return stats.binom.logpmf(n, 20, 0.3) + stats.binom.logpmf(4, n, 0.4)


@solved(lambda: enumerated({"n": ((), 21)}, _thinned))
def eggs_of_which_some_hatch():
    n = pm.Binomial("n", 20, 0.3)
    pm.Binomial("hatched", n, 0.4, observed=4)


VISITS = RNG.binomial(RNG.integers(2, 14, (8, 1)), 0.5, (8, 3))


def _sites():
    n = np.arange(31)
    logs = stats.binom.logpmf(VISITS[:, :, None], n, 0.5).sum(1) - np.log(31)
    total = special.logsumexp(logs, -1)
    return Truth(total.sum(), {"n": np.exp(logs - total[:, None])})


@solved(_sites)
def numbers_at_eight_sites_visited_three_times():
    n = pm.DiscreteUniform("n", 0, 30, shape=8)
    pm.Binomial("seen", n[:, None], 0.5, observed=VISITS)


SERIAL = np.array([19, 40, 42, 60])


def _tanks(rows):
    most = rows[:, 0] + 1
    return np.where(most >= 60, -4 * np.log(most), -np.inf) - np.log(500)


@solved(lambda: enumerated({"most": ((), 500)}, _tanks))
def the_largest_of_serial_numbers():
    most = pm.DiscreteUniform("most", 1, 500)
    pm.DiscreteUniform("number", 1, most, observed=SERIAL)


def _dice(rows):
    return np.where(rows.sum(1) + 3 == 11, -3 * np.log(6), -np.inf)


@solved(lambda: enumerated({"die": ((3,), 6)}, _dice))
def three_dice_of_which_the_sum_is_known():
    die = pm.DiscreteUniform("die", 1, 6, shape=3)
    pm.Potential("sum", pt.switch(pt.eq(die.sum(), 11), 0.0, -np.inf))


PARTS = np.array([0.2, 0.5, 0.7, 0.4])


def _parties(rows):
    logs = stats.binom.logpmf(rows, [6, 4, 5, 3], PARTS).sum(1)
    return logs + stats.norm.logpdf(8.3, rows @ [1.0, 2.0, 0.5, 1.5], 0.4)


@solved(
    lambda: enumerated({f"x{i}": ((), n + 1) for i, n in enumerate((6, 4, 5, 3))}, _parties),
)
def four_counts_of_which_a_weight_is_measured():
    x = [pm.Binomial(f"x{i}", n, PARTS[i]) for i, n in enumerate((6, 4, 5, 3))]
    weight = x[0] + 2 * x[1] + 0.5 * x[2] + 1.5 * x[3]
    pm.Normal("weight", weight, 0.4, observed=8.3)


def _beta_binomial(rows):
    n = rows[:, 0]
    return stats.betabinom.logpmf(n, 30, 2, 5) + stats.poisson.logpmf(7, 0.5 + n)


@solved(lambda: enumerated({"n": ((), 31)}, _beta_binomial))
def a_beta_binomial_count_behind_a_poisson_one():
    n = pm.BetaBinomial("n", alpha=2, beta=5, n=30)
    pm.Poisson("seen", 0.5 + n, observed=7)


def _tests():
    rows = configurations({"ill": ((), 41), "found": ((), 13)})
    ill, found = rows.T
    logs = stats.binom.logpmf(ill, 40, 0.3) + stats.binom.logpmf(found, ill, 0.9)
    logs = logs + stats.binom.logpmf(12 - found, 40 - ill, 0.05)
    return added_up({"ill": ((), 41), "found": ((), 13)}, rows, logs)


@solved(_tests)
def positive_tests_right_and_wrong():
    ill = pm.Binomial("ill", 40, 0.3)
    found = pm.DiscreteUniform("found", 0, 12)
    pm.Potential("level", pt.constant(np.log(13)))
    pm.Potential("right", pm.logp(pm.Binomial.dist(ill, 0.9), found))
    pm.Potential("wrong", pm.logp(pm.Binomial.dist(40 - ill, 0.05), 12 - found))


def _cascade(rows):
    born, grown = rows.T
    logs = stats.binom.logpmf(born, 9, 0.5) + stats.binom.logpmf(grown, born, 0.4)
    return logs + stats.binom.logpmf(2, grown, 0.7)


@solved(lambda: enumerated({"born": ((), 10), "grown": ((), 10)}, _cascade))
def those_who_are_left_of_those_who_were_left():
    born = pm.Binomial("born", 9, 0.5)
    grown = pm.Binomial("grown", born, 0.4)
    pm.Binomial("old", grown, 0.7, observed=2)


NESTS = np.array([0, 1, 2, 0, 1, 2, 3, 0, 1, 5])


def _nests():
    hatched, grown = np.mgrid[:10, :10]
    logs = stats.binom.logpmf(hatched, 9, 0.5) + stats.binom.logpmf(grown, hatched, 0.4)
    logs = logs + stats.binom.logpmf(NESTS[:, None, None], grown, 0.7)
    total = special.logsumexp(logs, (1, 2))
    share = np.exp(logs - total[:, None, None])
    return Truth(total.sum(), {"hatched": share.sum(2), "grown": share.sum(1)})


@solved(_nests)
def eggs_of_ten_nests_that_hatch_and_grow():
    hatched = pm.Binomial("hatched", 9, 0.5, shape=10)
    grown = pm.Binomial("grown", hatched, 0.4)
    pm.Binomial("old", grown, 0.7, observed=NESTS)


def _interval(rows):
    first, last = rows.T
    inside = np.where(last >= first, -np.log(10 * (10.0 - first)), -np.inf)
    return inside + stats.norm.logpdf(1.2, last - first, 1)


@solved(lambda: enumerated({"first": ((), 10), "last": ((), 10)}, _interval))
def an_end_after_an_unknown_beginning():
    first = pm.DiscreteUniform("first", 0, 9)
    last = pm.DiscreteUniform("last", first, 9)
    pm.Normal("length", last - first, 1, observed=1.2)


def _drawn(rows):
    red = rows[:, 0]
    return stats.hypergeom.logpmf(red, 20, 5, 6) + stats.binom.logpmf(1, red, 0.6)


@solved(lambda: enumerated({"red": ((), 7)}, _drawn))
def red_balls_among_those_drawn():
    red = pm.HyperGeometric("red", N=20, k=5, n=6)
    pm.Binomial("seen", red, 0.6, observed=1)


def _truncated():
    n = np.arange(41)
    prior = stats.poisson.logpmf(n, 6) - stats.poisson.logcdf(40, 6)
    logs = prior + stats.binom.logpmf(VISITS[:, :, None], n, 0.5).sum(1)
    total = special.logsumexp(logs, -1)
    return Truth(total.sum(), {"n": np.exp(logs - total[:, None])})


@solved(_truncated)
def poisson_numbers_at_eight_sites_none_above_forty():
    n = pm.Truncated("n", pm.Poisson.dist(6), upper=40, shape=8)
    pm.Binomial("seen", n[:, None], 0.5, observed=VISITS)


def _at_least_two(rows):
    n = rows[:, 0] + 2
    prior = stats.binom.logpmf(n, 12, 0.3) - stats.binom.logsf(1, 12, 0.3)
    return prior + stats.poisson.logpmf(4, n)


@solved(lambda: enumerated({"n": ((), 11)}, _at_least_two))
def a_binomial_count_that_is_at_least_two():
    n = pm.Truncated("n", pm.Binomial.dist(12, 0.3), lower=2)
    pm.Poisson("seen", n, observed=4)


# --- beside an unknown share or rate --------------------------------------------------------------


def _share(row):
    n = 20 + row[0]
    base = log_binomials(n, np.array([12, 17, 9]))
    return beta("p", (2.0, 2.0), 38, 3 * n - 38, base)


@solved(lambda: mixed({"n": ((), 60)}, lambda _: -np.log(60), _share))
def a_total_and_an_unknown_chance_of_capture():
    n = pm.DiscreteUniform("n", 20, 79)
    p = pm.Beta("p", 2, 2)
    pm.Binomial("caught", n, p, observed=[12, 17, 9])


HITS = np.array([3, 7, np.nan, 5, np.nan, 6])


def _hits(row):
    return beta("p", (1.0, 1.0), 21 + row.sum(), 60 - 21 - row.sum(), _log_ways(row))


def _log_ways(row):
    return log_binomials(10, np.array([3, 7, 5, 6, *row]))


@solved(lambda: mixed({"hits_unobserved": ((2,), 11)}, lambda _: 0.0, _hits))
def rows_of_hits_that_are_missing():
    p = pm.Beta("p", 1, 1)
    pm.Binomial("hits", 10, p, observed=HITS)


def _occupied(row):
    sites = np.array([1, 1, 0, 1, 1, 0, 1, 0])
    sites[[2, 5, 7]] = row
    times = 4 * sites.sum()
    base = log_binomials(4, np.array([2, 1, 0, 3, 4, 0, 2, 0]))
    own = beta("p", (1.0, 1.0), 12, times - 12, base)
    return own + beta("psi", (1.0, 1.0), sites.sum(), 8 - sites.sum())


def _occupancy():
    rows = configurations({"z": ((3,), 2)})
    parts = [_occupied(row) for row in rows]
    given = {name: [part.mean[name] for part in parts] for name in ("p", "psi")}
    truth = added_up({"z": ((3,), 2)}, rows, [part.log_evidence for part in parts], **given)
    z = np.tile([0.0, 1.0], (8, 1))
    z[[2, 5, 7]] = truth.mean["z"]
    return Truth(truth.log_evidence, {**truth.mean, "z": z})


@solved(_occupancy)
def sites_that_are_occupied_or_only_look_empty():
    psi, p = pm.Beta("psi", 1, 1), pm.Beta("p", 1, 1)
    z = pm.Bernoulli("z", psi, shape=8)
    seen = np.array([2, 1, 0, 3, 4, 0, 2, 0])
    law = pt.switch(z, pm.logp(pm.Binomial.dist(4, p), seen), np.where(seen == 0, 0.0, -np.inf))
    pm.Potential("seen", law.sum())


def _lost(row):
    counts = np.array([4, 2, 6, row[0]])
    return gamma("rate", (2.0, 0.5), counts.sum(), 4, -log_factorials(counts))


@solved(
    lambda: mixed({"lost": ((), 6)}, lambda _: 0.0, _lost),
)
def a_count_that_was_at_most_five():
    rate = pm.Gamma("rate", 2, 0.5)
    pm.Poisson("seen", rate, observed=[4, 2, 6])
    lost = pm.DiscreteUniform("lost", 0, 5)
    pm.Potential("law", pm.logp(pm.Poisson.dist(rate), lost) + np.log(6))


CELL = np.array([[7, 3], [5, 0]])


def _cell(rows):
    table = np.tile(CELL, (len(rows), 1, 1))
    table[:, 1, 1] = rows[:, 0]
    return stats.poisson.logpmf(table, [[6.0, 3.0], [6.0, 3.0]]).sum((1, 2)) - np.log(16)


@solved(lambda: enumerated({"cell": ((), 16)}, _cell))
def a_cell_of_a_table_that_is_missing():
    cell = pm.DiscreteUniform("cell", 0, 15)
    table = pt.stack([pt.constant([7, 3]), pt.stack([pt.constant(5), cell])])
    pm.Potential("cells", pm.logp(pm.Poisson.dist([6.0, 3.0]), table).sum())
