"""Mixtures by the labels of their rows: of known components, and of conjugate ones."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.coins import log_binomials
from tests.posteriors.entry import solved
from tests.posteriors.rates import log_factorials
from tests.posteriors.references import beta, dirichlet, gamma, linear, normal_wishart
from tests.posteriors.structured.hand import Truth, added_up, configurations, mixed

RNG = np.random.default_rng(20261129)


def one_by_one(name, logs):
    """Return the truth about labels that are independent, from their log masses, (..., levels)."""
    total = special.logsumexp(logs, -1)
    return Truth(total.sum(), {name: np.exp(logs - total[..., None])})


# --- of known components --------------------------------------------------------------------------

WEIGHTS = np.array([0.2, 0.5, 0.3])
CENTRES, WIDTHS = np.array([-2.0, 0.0, 3.0]), np.array([0.5, 1.0, 0.8])
MANY = RNG.normal(CENTRES[RNG.integers(0, 3, 3000)], 1.0)


@solved(
    lambda: one_by_one(
        "label", np.log(WEIGHTS) + stats.norm.logpdf(MANY[:, None], CENTRES, WIDTHS)
    ),
)
def labels_of_three_thousand_rows():
    label = pm.Categorical("label", WEIGHTS, shape=3000)
    mean, sd = (pt.constant(x)[label] for x in (CENTRES, WIDTHS))
    pm.Normal("y", mean, sd, observed=MANY)


PLANE = RNG.normal(size=(150, 2)) + RNG.integers(0, 2, (150, 1)) * 2
COVS = np.array([[[1.0, 0.5], [0.5, 1.0]], [[0.6, -0.2], [-0.2, 0.9]]])


def _plane():
    logs = [stats.multivariate_normal.logpdf(PLANE, [2 * k, 2 * k], COVS[k]) for k in (0, 1)]
    return one_by_one("label", np.log([0.4, 0.6]) + np.stack(logs, -1))


@solved(_plane)
def labels_of_points_in_a_plane():
    label = pm.Bernoulli("label", 0.6, shape=150)
    for k in (0, 1):
        law = pm.MvNormal.dist(np.full(2, 2.0 * k), cov=COVS[k])
        own = pt.eq(label, k) * pm.logp(law, pt.constant(PLANE))
        pm.Potential(f"component {k}", own.sum())


TABLE = RNG.dirichlet(np.ones(6), size=4)
TEXT = RNG.integers(0, 6, (12, 25))


def _topics():
    share = np.array([0.4, 0.3, 0.2, 0.1])
    each = np.log(share) + np.log(TABLE[:, TEXT]).transpose(1, 2, 0)
    return one_by_one("topic", each)


@solved(_topics)
def topics_of_three_hundred_words():
    topic = pm.Categorical("topic", [0.4, 0.3, 0.2, 0.1], shape=(12, 25))
    pm.Categorical("word", pt.constant(TABLE)[topic], observed=TEXT)


CLASSES = RNG.integers(0, 2, 10)
PUPILS = RNG.normal(CLASSES[np.repeat(np.arange(10), 12)], 2.0)


def _classes():
    each = stats.norm.logpdf(PUPILS.reshape(10, 12, 1), [0.0, 1.5], 2.0).sum(1)
    return one_by_one("kind", np.log([0.7, 0.3]) + each)


@solved(_classes)
def kinds_of_ten_classes_of_pupils():
    kind = pm.Bernoulli("kind", 0.3, shape=10)
    mean = pt.switch(kind[np.repeat(np.arange(10), 12)], 1.5, 0.0)
    pm.Normal("score", mean, 2.0, observed=PUPILS)


ZEROS = RNG.poisson(3, 80) * RNG.integers(0, 2, 80)


def _zeros():
    absent = np.where(ZEROS == 0, np.log(0.4), -np.inf)
    present = np.log(0.6) + stats.poisson.logpmf(ZEROS, 3.0)
    return one_by_one("present", np.stack([absent, present], -1))


@solved(_zeros)
def where_a_species_is_present():
    present = pm.Bernoulli("present", 0.6, shape=80)
    rate = pt.switch(present, 3.0, 0.0)
    pm.Poisson("seen", rate, observed=ZEROS)


# --- of unknown components ------------------------------------------------------------------------

BITS = {"label": ((8,), 2)}
SEVEN = np.array([-1.2, 2.1, 2.9, -0.3, -0.8, 3.3, 1.4, -1.9])


def halves(row):
    return len(row) * np.log(0.5)


def _means(row):
    prior = np.array([-1.0, 2.0]), 4 * np.eye(2)
    return linear({"mean": (2,)}, prior, np.eye(2)[row], SEVEN, 1.0)


@solved(lambda: mixed(BITS, halves, _means))
def labels_of_two_unknown_means():
    mean = pm.Normal("mean", [-1, 2], 2, shape=2)
    label = pm.Bernoulli("label", 0.5, shape=8)
    pm.Normal("y", mean[label], 1, observed=SEVEN)


COUNTS = np.array([1, 9, 8, 0, 2, 12, 3, 7])


def _rates(row):
    sums, sizes = (np.bincount(row, w, minlength=2) for w in (COUNTS, None))
    return gamma("rate", (np.array([1.0, 4.0]), 0.5), sums, sizes, -log_factorials(COUNTS))


@solved(lambda: mixed(BITS, halves, _rates))
def labels_of_two_unknown_rates():
    rate = pm.Gamma("rate", [1, 4], 0.5, shape=2)
    label = pm.Bernoulli("label", 0.5, shape=8)
    pm.Poisson("y", rate[label], observed=COUNTS)


PASSED = np.array([2, 9, 8, 1, 4, 10, 3, 7])


def _shares(row):
    ones, all_ = (np.bincount(row, w, minlength=2) for w in (PASSED, np.full(8, 10.0)))
    prior = np.array([1.0, 3.0]), np.array([3.0, 1.0])
    return beta("share", prior, ones, all_ - ones, log_binomials(10, PASSED))


@solved(lambda: mixed(BITS, halves, _shares))
def labels_of_two_unknown_shares():
    share = pm.Beta("share", [1, 3], [3, 1], shape=2)
    label = pm.Bernoulli("label", 0.5, shape=8)
    pm.Binomial("y", 10, share[label], observed=PASSED)


ITEMS = RNG.integers(0, 2, (6, 5))


def _classes_given(row):
    ones = np.array([ITEMS[row == k].sum(0) for k in (0, 1)])
    sizes = np.bincount(row, minlength=2)[:, None]
    share = beta("share", (np.ones((2, 5)), 1.0), ones, sizes - ones)
    return share + beta("w", (2.0, 2.0), row.sum(), 6 - row.sum())


@solved(lambda: mixed({"member": ((6,), 2)}, lambda _: 0.0, _classes_given))
def latent_classes_of_six_people():
    w = pm.Beta("w", 2, 2)
    share = pm.Beta("share", 1, 1, shape=(2, 5))
    member = pm.Bernoulli("member", w, shape=6)
    pm.Bernoulli("item", share[member], observed=ITEMS)


SIX = np.array([-2.1, 0.4, 3.3, 2.8, -1.7])


def _three(row):
    means = linear({"mean": (3,)}, (CENTRES, np.eye(3)), np.eye(3)[row], SIX, 0.25)
    return means + dirichlet("w", np.full(3, 2.0), np.bincount(row, minlength=3))


@solved(lambda: mixed({"label": ((5,), 3)}, lambda _: 0.0, _three))
def three_unknown_means_and_shares():
    w = pm.Dirichlet("w", np.full(3, 2.0))
    mean = pm.Normal("mean", CENTRES, 1, shape=3)
    label = pm.Categorical("label", w, shape=5)
    pm.Normal("y", mean[label], 0.5, observed=SIX)


X = RNG.normal(size=(25, 6))
Y = X @ [1.5, 0, 0, -1, 0, 0.3] + RNG.normal(size=25)


def _spike(row):
    prior = np.zeros(6), 4 * np.eye(6)
    return linear({"b": (6,)}, prior, X * row, Y, 1.0)


def _kept(row):
    return np.log(np.where(row, 0.25, 0.75)).sum()


@solved(lambda: mixed({"kept": ((6,), 2)}, _kept, _spike))
def which_of_six_columns_to_keep():
    kept = pm.Bernoulli("kept", 0.25, shape=6)
    b = pm.Normal("b", 0, 2, shape=6)
    pm.Normal("y", pm.math.dot(X, kept * b), 1, observed=Y)


WILD = np.array([0.2, 0.7, -8.0, 0.4, 1.1, 6.0, 0.1, 0.9])


def _wild(row):
    noise = np.where(row, 25.0, 0.25)
    X = np.column_stack([np.ones(8), np.arange(8) - 3.5])
    shapes = {"level": (), "slope": ()}
    return linear(shapes, (np.zeros(2), np.diag([4.0, 1.0])), X, WILD, noise)


def _rare(row):
    return np.log(np.where(row, 0.1, 0.9)).sum()


@solved(lambda: mixed({"outlier": ((8,), 2)}, _rare, _wild))
def a_line_among_outliers():
    outlier = pm.Bernoulli("outlier", 0.1, shape=8)
    level, slope = pm.Normal("level", 0, 2), pm.Normal("slope", 0, 1)
    sd = pt.switch(outlier, 5.0, 0.5)
    pm.Normal("y", level + slope * (np.arange(8) - 3.5), sd, observed=WILD)


CROSS = RNG.integers(0, 2, (4, 4))


def _blocks():
    rows = configurations({"row": ((4,), 2), "column": ((3,), 2)})
    logs, means = [], []
    for one in rows:
        pair = 2 * one[:4, None] + one[4:]
        ones = np.bincount(pair.ravel(), CROSS[:, :3].ravel(), minlength=4)
        sizes = np.bincount(pair.ravel(), minlength=4)
        part = beta("p", (np.ones(4), 1.0), ones, sizes - ones)
        logs.append(part.log_evidence - 7 * np.log(2))
        means.append(part.mean["p"].reshape(2, 2))
    return added_up({"row": ((4,), 2), "column": ((3,), 2)}, rows, logs, p=np.array(means))


@solved(_blocks)
def a_block_model_of_a_table():
    row, column = pm.Bernoulli("row", 0.5, shape=4), pm.Bernoulli("column", 0.5, shape=3)
    p = pm.Beta("p", 1, 1, shape=(2, 2))
    pm.Bernoulli("y", p[row[:, None], column], observed=CROSS[:, :3])


PAIRS = RNG.normal(size=(5, 2)) + 3 * np.array([[0], [1], [0], [1], [1]])


def _vectors(row):
    parts = []
    for k in (0, 1):
        own = PAIRS[row == k]
        cov = np.kron(np.eye(len(own)), COVS[0])
        shapes = {f"centre {k}": (2,)}
        prior = np.full(2, 3.0 * k), 4 * np.eye(2)
        design = np.tile(np.eye(2), (len(own), 1))
        parts.append(linear(shapes, prior, design, own.ravel(), cov))
    return parts[0] + parts[1]


@solved(lambda: mixed({"label": ((5,), 2)}, halves, _vectors))
def labels_of_vectors_of_two_unknown_centres():
    centre = [pm.MvNormal(f"centre {k}", np.full(2, 3.0 * k), cov=4 * np.eye(2)) for k in (0, 1)]
    label = pm.Bernoulli("label", 0.5, shape=5)
    mean = pt.switch(label[:, None], centre[1], centre[0])
    pm.MvNormal("y", mean, cov=COVS[0], observed=PAIRS)


def _matrix(row):
    rows = PAIRS - 3.0 * row[:, None]
    return normal_wishart((None, "precision"), (np.zeros(2), 1.0, 4.0, np.eye(2)), rows)


@solved(lambda: mixed({"label": ((5,), 2)}, halves, _matrix))
def labels_of_vectors_with_one_unknown_precision():
    precision = pm.Wishart("precision", nu=4, V=np.eye(2))
    label = pm.Bernoulli("label", 0.5, shape=5)
    pm.MvNormal("y", 3.0 * label[:, None] * np.ones(2), tau=precision, observed=PAIRS)
