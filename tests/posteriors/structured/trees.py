"""Finite variables on trees and small networks: messages up and down, or all configurations."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import stats

from tests.posteriors.entry import solved
from tests.posteriors.structured.hand import Truth, along_tree, configurations, enumerated

RNG = np.random.default_rng(20261127)
QUARTER = np.full(4, 0.25)


def letters(length):
    """Return the law of Jukes and Cantor of a letter after a branch."""
    stay = np.exp(-4 / 3 * length)
    return (1 - stay) / 4 + stay * np.eye(4)


# Seven species: a tree of which the first six nodes are ancestors, parents before children.
PARENT = np.array([-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
LENGTH = np.array([0, 0.1, 0.3, 0.2, 0.1, 0.4, 0.2, 0.3, 0.1, 0.2, 0.5, 0.1, 0.2, 0.3])
SITES = RNG.integers(0, 4, (14, 12))
SITES[7:, :6] = SITES[7, :6]  # where all agree


def _site(site):
    own = np.ones((14, 4))
    own[7:] = np.eye(4)[SITES[7:, site]]
    return along_tree(PARENT, QUARTER, np.array([letters(t) for t in LENGTH]), own)


def _phylogeny():
    total, law = _site(0)
    return Truth(total, {f"node_{i}": law[i] for i in range(7)})


@solved(_phylogeny)
def a_phylogeny_of_seven_species_at_one_site():
    node = [pm.Categorical("node_0", QUARTER)]
    for i in range(1, 14):
        law = pt.constant(letters(LENGTH[i]))[node[PARENT[i]]]
        seen = {} if i < 7 else {"observed": SITES[i, 0]}
        node.append(pm.Categorical(f"node_{i}", law, **seen))


def _sites():
    each = [_site(k) for k in range(12)]
    law = np.array([law for _, law in each])
    return Truth(sum(total for total, _ in each), {f"node_{i}": law[:, i] for i in range(7)})


@solved(_sites)
def a_phylogeny_of_seven_species_at_twelve_sites():
    node = [pm.Categorical("node_0", QUARTER, shape=12)]
    for i in range(1, 14):
        law = pt.constant(letters(LENGTH[i]))[node[PARENT[i]]]
        seen = {} if i < 7 else {"observed": SITES[i]}
        node.append(pm.Categorical(f"node_{i}", law, **seen))


def heap(n):
    """Return the parents in a complete binary tree."""
    return (np.arange(n) - 1) // 2 * (np.arange(n) > 0) - (np.arange(n) == 0)


NOISE = RNG.normal(size=127)
STAY = np.array([[0.85, 0.15], [0.15, 0.85]])


def _heap():
    own = stats.norm.pdf(NOISE[:, None], [-1, 1], 1.5)
    total, law = along_tree(heap(127), np.full(2, 0.5), STAY, own)
    return Truth(total, {"cell": law})


@solved(_heap)
def a_lineage_of_cells_of_two_kinds():
    cell = pm.Bernoulli("cell", 0.5, shape=127)
    same = pt.eq(cell[1:], cell[heap(127)[1:]])
    pm.Potential("divisions", pt.log(pt.switch(same, 2 * 0.85, 2 * 0.15)).sum())
    pm.Normal("dye", 2 * cell - 1, 1.5, observed=NOISE)


ANY = np.array([-1, *(RNG.integers(0, i) for i in range(1, 60))])
TONES = RNG.integers(0, 5, 60)
BLUR = RNG.dirichlet(np.ones(5), size=3)
GREY = RNG.dirichlet(np.ones(3), size=3)


@solved(
    lambda: Truth(*_named(along_tree(ANY, np.full(3, 1 / 3), GREY, BLUR[:, TONES].T))),
)
def any_tree_of_sixty_variables():
    tone = pm.Categorical("tone", np.full(3, 1 / 3), shape=60)
    law = pt.log(3 * pt.constant(GREY))[tone[ANY[1:]], tone[1:]]
    pm.Potential("links", law.sum())
    pm.Categorical("seen", pt.constant(BLUR)[tone], observed=TONES)


def _named(found):
    return found[0], {"tone": found[1]}


WORDS = RNG.integers(0, 2, (8, 20))
USED = RNG.beta(1, 1, (3, 20))


def _naive():
    logs = np.log([0.5, 0.3, 0.2])
    logs = logs + WORDS @ np.log(USED).T + (1 - WORDS) @ np.log1p(-USED).T
    total = np.logaddexp.reduce(logs, 1)
    return Truth(total.sum(), {"kind": np.exp(logs - total[:, None])})


@solved(_naive)
def naive_bayes_of_eight_documents():
    kind = pm.Categorical("kind", [0.5, 0.3, 0.2], shape=8)
    pm.Bernoulli("word", pt.constant(USED)[kind], observed=WORDS)


SHOWN = RNG.normal(1, 1.5, 100)


def _star():
    own = stats.norm.pdf(SHOWN[:, None], [0, 2], 1)
    parent = np.array([-1, *np.zeros(100, dtype=int)])
    own = np.concatenate([np.ones((1, 2)), own])
    moves = np.array([[0.8, 0.2], [0.3, 0.7]])
    total, law = along_tree(parent, np.array([0.6, 0.4]), moves, own)
    return Truth(total, {"outbreak": law[0], "ill": law[1:]})


@solved(_star)
def one_outbreak_and_a_hundred_people():
    outbreak = pm.Bernoulli("outbreak", 0.4)
    ill = pm.Bernoulli("ill", pt.switch(outbreak, 0.7, 0.2), shape=100)
    pm.Normal("fever", 2 * ill, 1, observed=SHOWN)


# --- networks -------------------------------------------------------------------------------------


def log_bit(p, bit):
    return np.log(np.where(bit, p, 1 - p))


def _alarm(rows):
    burglary, quake, alarm = rows.T
    alarmed = np.array([[0.001, 0.29], [0.94, 0.95]])[burglary, quake]
    logs = log_bit(0.01, burglary) + log_bit(0.02, quake) + log_bit(alarmed, alarm)
    return (
        logs + log_bit(np.array([0.05, 0.9])[alarm], 1) + log_bit(np.array([0.01, 0.7])[alarm], 1)
    )


BIT = ((), 2)


@solved(lambda: enumerated({"burglary": BIT, "quake": BIT, "alarm": BIT}, _alarm))
def both_neighbours_call_about_the_alarm():
    burglary, quake = pm.Bernoulli("burglary", 0.01), pm.Bernoulli("quake", 0.02)
    table = pt.constant(np.array([[0.001, 0.29], [0.94, 0.95]]))
    alarm = pm.Bernoulli("alarm", table[burglary, quake])
    pm.Bernoulli("john", pm.math.switch(alarm, 0.9, 0.05), observed=1)
    pm.Bernoulli("mary", pm.math.switch(alarm, 0.7, 0.01), observed=1)


def _asia(rows):
    asia, smoker, tb, cancer, bronchitis = rows.T
    either = tb | cancer
    logs = log_bit(0.01, asia) + log_bit(0.5, smoker)
    logs = logs + log_bit(np.where(asia, 0.05, 0.01), tb)
    logs = logs + log_bit(np.where(smoker, 0.1, 0.01), cancer)
    logs = logs + log_bit(np.where(smoker, 0.6, 0.3), bronchitis)
    logs = logs + log_bit(np.where(either, 0.98, 0.05), 1)
    breath = np.array([[0.1, 0.8], [0.7, 0.9]])[either, bronchitis]
    return logs + log_bit(breath, 1)


CLINIC = ("asia", "smoker", "tb", "cancer", "bronchitis")


@solved(lambda: enumerated(dict.fromkeys(CLINIC, BIT), _asia))
def the_chest_clinic():
    asia, smoker = pm.Bernoulli("asia", 0.01), pm.Bernoulli("smoker", 0.5)
    tb = pm.Bernoulli("tb", pm.math.switch(asia, 0.05, 0.01))
    cancer = pm.Bernoulli("cancer", pm.math.switch(smoker, 0.1, 0.01))
    bronchitis = pm.Bernoulli("bronchitis", pm.math.switch(smoker, 0.6, 0.3))
    either = pm.Deterministic("either", tb | cancer)
    pm.Bernoulli("xray", pm.math.switch(either, 0.98, 0.05), observed=1)
    table = pt.constant(np.array([[0.1, 0.8], [0.7, 0.9]]))
    pm.Bernoulli("short breath", table[either, bronchitis], observed=1)


LAWN = np.array([[0.01, 0.9], [0.8, 0.99]])


def _sprinkler(rows):
    cloudy, rain, sprinkler = rows.T
    logs = np.log(0.5) + log_bit(np.where(cloudy, 0.8, 0.2), rain)
    logs = logs + log_bit(np.where(cloudy, 0.1, 0.5), sprinkler)
    return logs + log_bit(LAWN[sprinkler, rain], 1)


@solved(lambda: enumerated({"cloudy": BIT, "rain": BIT, "sprinkler": BIT}, _sprinkler))
def the_wet_lawn():
    cloudy = pm.Bernoulli("cloudy", 0.5)
    rain = pm.Bernoulli("rain", pt.switch(cloudy, 0.8, 0.2))
    sprinkler = pm.Bernoulli("sprinkler", pt.switch(cloudy, 0.1, 0.5))
    pm.Bernoulli("wet", pt.constant(LAWN)[sprinkler, rain], observed=1)


LINKS = RNG.uniform(0, 0.8, (10, 12)) * RNG.integers(0, 2, (10, 12))
SYMPTOMS = RNG.integers(0, 2, 12)


def _noisy(rows):
    without = np.log(0.98) + rows @ np.log1p(-LINKS)
    logs = log_bit(0.1, rows).sum(1)
    return logs + np.where(SYMPTOMS, np.log(-np.expm1(without)), without).sum(1)


@solved(lambda: enumerated({"disease": ((10,), 2)}, _noisy))
def ten_diseases_and_twelve_symptoms():
    disease = pm.Bernoulli("disease", 0.1, shape=10)
    without = 0.98 * pm.math.prod((1 - LINKS) ** disease[:, None], axis=0)
    pm.Bernoulli("symptom", 1 - without, observed=SYMPTOMS)


# A mother and a father with three children, of whom one has a child; two alleles
CHILD = np.zeros((3, 3, 3))
for _a, _b in np.ndindex(3, 3):
    CHILD[_a, _b] = np.convolve([1 - _a / 2, _a / 2], [1 - _b / 2, _b / 2])
FAMILY = ((2, 0, 1), (3, 0, 1), (4, 0, 1), (6, 4, 5))
SHOWS = np.array([0.05, 0.3, 0.9])
AFFECTED = np.array([1, 0, 0, 1, 1, 0, 1])


def _family(rows):
    logs = stats.binom.logpmf(rows[:, [0, 1, 5]], 2, 0.2).sum(1)
    with np.errstate(divide="ignore"):
        for child, one, other in FAMILY:
            logs = logs + np.log(CHILD[rows[:, one], rows[:, other], rows[:, child]])
    return logs + log_bit(SHOWS[rows], AFFECTED).sum(1)


@solved(lambda: enumerated({f"g{i}": ((), 3) for i in (0, 1, 2, 3, 4, 5, 6)}, _family))
def genotypes_of_a_family():
    g = {i: pm.Binomial(f"g{i}", 2, 0.2) for i in (0, 1)}
    for child, one, other in FAMILY[:3]:
        g[child] = pm.Categorical(f"g{child}", pt.constant(CHILD)[g[one], g[other]])
    g[5] = pm.Binomial("g5", 2, 0.2)
    g[6] = pm.Categorical("g6", pt.constant(CHILD)[g[4], g[5]])
    for i, own in g.items():
        pm.Bernoulli(f"shows {i}", pt.constant(SHOWS)[own], observed=AFFECTED[i])


CHECKS = np.array([[0, 1, 2, 4], [0, 1, 3, 5], [0, 2, 3, 6]])
HEARD = np.array([0.8, -0.3, 1.4, -0.9, 0.2, -1.1, 0.6])


def _code(rows):
    odd = (rows[:, CHECKS].sum(2) % 2).any(1)
    logs = stats.norm.logpdf(HEARD, 2 * rows - 1, 1).sum(1) - 7 * np.log(2)
    return np.where(odd, -np.inf, logs)


@solved(lambda: enumerated({"bit": ((7,), 2)}, _code))
def a_word_of_hamming_s_code():
    bit = pm.Bernoulli("bit", 0.5, shape=7)
    odd = bit[CHECKS].sum(1) % 2
    pm.Potential("parity", pt.switch(odd, -np.inf, 0.0).sum())
    pm.Normal("heard", 2 * bit - 1, 1, observed=HEARD)


VOTES = RNG.integers(0, 2, (6, 5))


def _judges(rows):
    truth, skill = rows[:, :6], np.array([0.6, 0.9])[rows[:, 6:]]
    right = truth[:, :, None] == VOTES
    logs = log_bit(0.4, rows[:, 6:]).sum(1) + log_bit(0.3, truth).sum(1)
    return logs + log_bit(skill[:, None, :], right).sum((1, 2))


@solved(lambda: enumerated({"truth": ((6,), 2), "good": ((5,), 2)}, _judges))
def six_questions_and_five_judges_of_two_kinds():
    truth = pm.Bernoulli("truth", 0.3, shape=6)
    good = pm.Bernoulli("good", 0.4, shape=5)
    skill = pt.switch(good, 0.9, 0.6)
    says = pt.switch(truth[:, None], skill, 1 - skill)
    pm.Bernoulli("vote", says, observed=VOTES)


ROWS = configurations({"coin": ((4,), 3)})
EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2))


def _colours(rows):
    clash = np.array([rows[:, i] == rows[:, j] for i, j in EDGES]).any(0)
    return np.where(clash, -np.inf, stats.norm.logpdf([0.2, 1.1, 1.7, 0.9], rows, 1).sum(1)) - (
        4 * np.log(3)
    )


@solved(lambda: enumerated({"colour": ((4,), 3)}, _colours))
def colours_of_a_map_of_which_neighbours_differ():
    colour = pm.DiscreteUniform("colour", 0, 2, shape=4)
    for i, j in EDGES:
        pm.Potential(f"{i} {j}", pt.switch(pt.eq(colour[i], colour[j]), -np.inf, 0.0))
    pm.Normal("y", colour, 1, observed=[0.2, 1.1, 1.7, 0.9])
