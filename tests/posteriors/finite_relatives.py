"""Models in which a finite variable changes what the others are, often at one rare value only.

Each is the one or the other of two kinds: with a truth, worked out by hand for every configuration
of the finite variables, or without a closed form, to be refused. No model looks different from
the other kind before its rare value is looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.entry import opened
from tests.posteriors.structured.hand import added_up, configurations

X = np.array([-1.0, -0.3, 0.4, 1.1, 1.6])
Y = np.array([-0.9, 0.2, 0.8, 1.3, 2.2])
COUNTS = np.array([2, 0, 3, 1])
RARE = 17


@dataclass(frozen=True)
class Enumerated:
    """The truth about a posterior: shapes and numbers of levels by name, and each log mass."""

    name: str
    build: Callable[[], Any]
    variables: dict[str, tuple[tuple[int, ...], int]]
    mass: Callable[..., float]

    def truth(self):
        """Return log evidence and probabilities by adding up all configurations."""
        rows = configurations(self.variables)
        truth = added_up(self.variables, rows, [self.mass(*row) for row in rows.tolist()])
        return truth.log_evidence, truth.mean


@dataclass(frozen=True)
class Remaining:
    """The truth about what remains of a model: its log density at some points."""

    name: str
    build: Callable[[], Any]
    integrated: tuple[str, ...]
    points: tuple[dict[str, Any], ...]
    density: Callable[..., float]


@dataclass(frozen=True)
class Without:
    """A model without a closed form."""

    name: str
    build: Callable[[], Any]
    partial: bool


def enumerated(variables, mass):
    """Put the mass of each configuration beside a function that fills a model."""
    return lambda fill: Enumerated(fill.__name__, opened(fill), variables, mass)


def remaining(integrated, points, density):
    """Put the density that remains beside a function that fills a model."""
    return lambda fill: Remaining(fill.__name__, opened(fill), integrated, tuple(points), density)


def without(fill):
    """Say that a model has no closed form."""
    return Without(fill.__name__, opened(fill), partial=False)


def not_even_in_part(fill):
    """Say that no variable of a model is conjugate given the rest."""
    return Without(fill.__name__, opened(fill), partial=True)


def line(offset=0.0, slope=1.0, sd=0.5, prior_sd=1.0):
    """Return the log evidence of a line whose slope b is normal."""
    design = slope * X * prior_sd
    cov = np.outer(design, design) + sd**2 * np.eye(len(X))
    return stats.multivariate_normal.logpdf(Y, offset + 0 * X, cov)


def even(levels):
    """Return a finite variable k with equally probable values."""
    return pm.Categorical("k", np.full(levels, 1 / levels))


def seen(mean, sd=0.5):
    """Observe the line."""
    pm.Normal("y", mean, sd, observed=Y)


# --- one finite variable, whole posteriors --------------------------------------------------------


def a_rare_offset(levels):
    """Return a model whose mean has an offset and twice the slope at one value."""

    def build():
        with pm.Model() as model:
            k, b = even(levels), pm.Normal("b")
            seen(pt.switch(pt.eq(k, levels - 1), 0.5 + 2 * b * X, 0.0))
        return model

    def mass(k):
        return (line(0.5, 2.0) if k == levels - 1 else line(slope=0.0)) - np.log(levels)

    name = f"a_rare_offset_among_{levels}"
    return Enumerated(name, build, {"k": ((), levels)}, mass)


def a_rare_link(levels):
    """Return a model that is a line but for one value, where it is exponential."""

    def build():
        with pm.Model() as model:
            k, b = even(levels), pm.Normal("b")
            seen(pt.switch(pt.eq(k, min(levels // 2, 20)), pt.exp(b * X), b * X))
        return model

    return Without(f"a_rare_link_among_{levels}", build, partial=False)


TWO_LEVELS = a_rare_offset(2)
FORTY_LEVELS = a_rare_offset(40)
LINK_OF_TWO = a_rare_link(2)
LINK_OF_FORTY = a_rare_link(40)
LINK_OF_A_THOUSAND = a_rare_link(1000)


@enumerated(
    {"k": ((), 40)},
    lambda k: line(0.5 if k == RARE else 0.0, 1.0 if k == RARE else 0.0) - np.log(40),
)
def the_model_of_the_issue_with_forty_levels():
    k, b = even(40), pm.Normal("b")
    seen(pt.switch(pt.eq(k, RARE), 0.5 + b * X, 0.0))


@enumerated({"k": ((), 30)}, lambda k: line(sd=5.0 if k == RARE else 0.5) - np.log(30))
def a_rare_scale():
    k, b = even(30), pm.Normal("b")
    seen(b * X, pt.switch(pt.eq(k, RARE), 5.0, 0.5))


@without
def a_rare_scale_that_is_unknown():
    k, b = even(30), pm.Normal("b")
    seen(b * X, pt.switch(pt.eq(k, RARE), pt.exp(b), 0.5))


@enumerated({"k": ((), 30)}, lambda k: line(prior_sd=9.0 if k == RARE else 1.0) - np.log(30))
def a_rare_scale_of_the_prior():
    k = even(30)
    b = pm.Normal("b", 0, pt.switch(pt.eq(k, RARE), 9.0, 1.0))
    seen(b * X)


@enumerated(
    {"k": ((), 30)},
    lambda k: (stats.laplace(0, 1).logpdf(Y).sum() if k == RARE else line()) - np.log(30),
)
def a_rare_law_without_the_slope():
    k, b = even(30), pm.Normal("b")
    heavy = pm.logp(pm.Laplace.dist(0.0, 1.0), Y).sum()
    light = pm.logp(pm.Normal.dist(b * X, 0.5), Y).sum()
    pm.Potential("y", pt.switch(pt.eq(k, RARE), heavy, light))


@without
def a_rare_law_of_the_slope():
    k, b = even(30), pm.Normal("b")
    heavy = pm.logp(pm.StudentT.dist(4, mu=b * X, sigma=1.0), Y).sum()
    light = pm.logp(pm.Normal.dist(b * X, 0.5), Y).sum()
    pm.Potential("y", pt.switch(pt.eq(k, RARE), heavy, light))


@without
def a_rare_support():
    k, b = even(30), pm.Normal("b")
    pm.Potential("above", pt.switch(pt.eq(k, RARE) & (b < 0), -np.inf, 0.0))
    seen(b * X)


@enumerated({"k": ((), 30)}, lambda k: -np.inf if k == RARE else line() - np.log(30))
def a_value_that_is_impossible():
    k, b = even(30), pm.Normal("b")
    pm.Potential("not that", pt.switch(pt.eq(k, RARE), -np.inf, 0.0))
    seen(b * X + 0 * k)


@enumerated({"k": ((), 500)}, lambda k: line() - np.log(500) if k == RARE else -np.inf)
def the_only_value_that_is_possible():
    k, b = even(500), pm.Normal("b")
    pm.Potential("only that", pt.switch(pt.eq(k, RARE), 0.0, -np.inf))
    seen(b * X)


TABLE = np.linspace(0.5, 3.0, 60)


@enumerated({"k": ((), 60)}, lambda k: line(sd=TABLE[k]) - np.log(60))
def an_index_into_a_table_of_scales():
    k, b = even(60), pm.Normal("b")
    seen(b * X, pt.as_tensor(TABLE)[k])


@enumerated({"k": ((), 3)}, lambda k: line(prior_sd=[1.0, 2.0, 3.0][k]) - np.log(3))
def an_index_of_slopes():
    k = even(3)
    b = pm.Normal("b", 0, [1.0, 2.0, 3.0], shape=3)
    seen(b[k] * X)


@without
def an_index_of_powers():
    k, b = even(30), pm.Normal("b")
    powers = pt.stack([b**3 if i == RARE else i * b for i in range(30)])
    seen(powers[k] * X)


SIZES = np.where(np.arange(30) == RARE, 6, 2)


@enumerated(
    {"k": ((), 30)},
    lambda k: (
        stats.binom(SIZES[k], 0.5).logpmf([2, 1]).sum()
        + special.betaln(2 + 3, 3 + 30 - 3)
        - special.betaln(2, 3)
        + np.log(special.comb(10, [1, 0, 2])).sum()
        - np.log(30)
    ),
)
def a_rare_number_of_trials():
    k, theta = even(30), pm.Beta("theta", 2, 3)
    pm.Binomial("tosses", pt.as_tensor(SIZES)[k], 0.5, observed=[2, 1])
    pm.Binomial("hits", 10, theta, observed=[1, 0, 2])


def gamma_evidence(shape, y):
    """Return the log evidence of Gamma(shape, rate) data with rate ~ Gamma(2, 1)."""
    n = len(y)
    return (
        (shape - 1) * np.log(y).sum()
        - n * special.gammaln(shape)
        + special.gammaln(2 + n * shape)
        - (2 + n * shape) * np.log(1 + y.sum())
    )


WAITS = np.array([0.4, 1.9, 0.7])


@enumerated(
    {"k": ((), 30)}, lambda k: gamma_evidence(4.0 if k == RARE else 1.5, WAITS) - np.log(30)
)
def a_rare_shape():
    k, rate = even(30), pm.Gamma("rate", 2, 1)
    pm.Gamma("waits", pt.switch(pt.eq(k, RARE), 4.0, 1.5), rate, observed=WAITS)


@without
def a_rare_shape_that_is_unknown():
    k, rate = even(30), pm.Gamma("rate", 2, 1)
    pm.Gamma("waits", pt.switch(pt.eq(k, RARE), rate, 1.5), rate, observed=WAITS)


@without
def a_rare_square_of_the_rate():
    k, rate = even(30), pm.Gamma("rate", 2, 1)
    pm.Poisson("visits", pt.switch(pt.eq(k, RARE), rate + rate**2, rate), observed=COUNTS)


@enumerated(
    {"k": ((), 1000)},
    lambda k: stats.norm(2.0 if k == RARE else 0.0, 1.0).logpdf(Y).sum() - np.log(1000),
)
def a_rare_mean_among_a_thousand():
    k = even(1000)
    seen(pt.switch(pt.eq(k, RARE), 2.0, 0.0), 1.0)


# --- several finite variables, whole posteriors ---------------------------------------------------


def opens(*digits):
    """Return the mass of a lock of digits, which shows whether it is open."""
    return stats.norm(3.0 if digits == (7, 3, 5)[: len(digits)] else 0.0, 1.0).logpdf(2.9)


@enumerated({"d": ((2,), 10)}, lambda *d: opens(*d) - 2 * np.log(10))
def the_lock_of_the_issue():
    d = pm.DiscreteUniform("d", 0, 9, shape=2)
    pm.Normal("y", pt.switch(pt.eq(d[0], 7) & pt.eq(d[1], 3), 3.0, 0.0), 1, observed=2.9)


@enumerated({"a": ((), 10), "b": ((), 10), "c": ((), 10)}, lambda *d: opens(*d) - 3 * np.log(10))
def a_lock_of_three_digits():
    a, b, c = (pm.DiscreteUniform(name, 0, 9) for name in "abc")
    opened = pt.eq(a, 7) & pt.eq(b, 3) & pt.eq(c, 5)
    pm.Normal("y", pt.switch(opened, 3.0, 0.0), 1, observed=2.9)


@enumerated(
    {"a": ((), 7), "c": ((), 7)},
    lambda a, c: (line(0.4, 2.0) if (a, c) == (4, 2) else line()) - 2 * np.log(7),
)
def a_lock_before_a_line():
    a, c = (pm.DiscreteUniform(name, 0, 6) for name in "ac")
    b = pm.Normal("b")
    seen(pt.switch(pt.eq(a, 4) & pt.eq(c, 2), 0.4 + 2 * b * X, b * X))


@without
def a_lock_before_a_link():
    a, c = (pm.DiscreteUniform(name, 0, 9) for name in "ac")
    b = pm.Normal("b")
    seen(pt.switch(pt.eq(a, 4) & pt.eq(c, 2), pt.exp(b * X), b * X))


@enumerated(
    {"z": ((5,), 2)},
    lambda *z: line(0.3 * sum(z[:2]) + 1.5 * (z[0] * z[2] * z[4])) - 5 * np.log(2),
)
def three_bits_of_five_that_matter_together():
    z, b = pm.Bernoulli("z", 0.5, shape=5), pm.Normal("b")
    seen(b * X + 0.3 * z[:2].sum() + 1.5 * z[0] * z[2] * z[4])


def outlying(z):
    cov = np.ones((5, 5)) + np.diag(np.where(z, 4.0, 0.5) ** 2)
    prior = stats.bernoulli(0.2).logpmf(z).sum()
    return stats.multivariate_normal.logpdf(Y, np.zeros(5), cov) + prior


@enumerated({"z": ((5,), 2)}, lambda *z: outlying(np.array(z)))
def outliers_of_their_own():
    z, b = pm.Bernoulli("z", 0.2, shape=5), pm.Normal("b")
    seen(b, pt.switch(z, 4.0, 0.5))


@without
def outliers_one_of_which_is_of_another_kind():
    z, b = pm.Bernoulli("z", 0.2, shape=5), pm.Normal("b")
    seen(pt.switch(z & np.array([0, 0, 0, 1, 0]), pt.sin(b), b), pt.switch(z, 4.0, 0.5))


@enumerated(
    {"z": ((5,), 3)},
    lambda *z: sum(
        stats.norm(9.0 if (i, k) == (3, 2) else 0.0, 1.0).logpdf(Y[i]) - np.log(3)
        for i, k in enumerate(z)
    ),
)
def one_value_of_one_of_five_labels():
    z = pm.Categorical("z", np.full(3, 1 / 3), shape=5)
    seen(pt.switch(pt.eq(z, 2) & np.array([0, 0, 0, 1, 0], dtype=bool), 9.0, 0.0), 1.0)


# --- what remains, when a part is integrated out --------------------------------------------------


def half_normal(s):
    return stats.halfnorm.logpdf(s)


@not_even_in_part
def the_model_of_the_issue_in_part():
    k, b, s = even(3), pm.Normal("b"), pm.HalfNormal("s")
    mean = pt.switch(pt.eq(k, 1), 1 + b * X, pt.exp(b * X))
    seen(pt.switch(pt.eq(k, 0), b * X, mean), s)


@remaining(
    ("b",),
    [{"k": k, "s": s} for k in range(3) for s in (0.4, 1.3)],
    lambda k, s: line(float(k), 1.0 + k, s) + half_normal(s) - np.log(3),
)
def the_same_with_lines():
    k, b, s = even(3), pm.Normal("b"), pm.HalfNormal("s")
    seen(k + (1 + k) * b * X, s)


@not_even_in_part
def a_rare_link_in_part():
    k, b, s = even(12), pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(k, 7), pt.exp(b * X), b * X), s)


@remaining(
    ("b",),
    [{"k": k, "s": s} for k in (0, 7, 11) for s in (0.4, 1.3)],
    lambda k, s: line(0.5 * (k == 7), 1.0 + (k == 7), s) + half_normal(s) - np.log(12),
)
def a_rare_line_in_part():
    k, b, s = even(12), pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(k, 7), 0.5 + 2 * b * X, b * X), s)


@remaining(
    ("b",),
    [{"k": k, "s": s} for k in (0, 7, 999) for s in (0.4, 1.3)],
    lambda k, s: line(0.5 * (k == 7), 1.0 + (k == 7), s) + half_normal(s) - np.log(1000),
)
def a_thousand_values_in_part():
    k, b, s = even(1000), pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(k, 7), 0.5 + 2 * b * X, b * X), s)


@not_even_in_part
def a_lock_before_a_link_in_part():
    d = pm.DiscreteUniform("d", 0, 3, shape=2)
    b, s = pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(d[0], 1) & pt.eq(d[1], 2), pt.exp(b * X), b * X), s)


@remaining(
    ("b",),
    [{"d": d, "s": 0.8} for d in ([1, 2], [1, 3], [0, 0])],
    lambda d, s: line(0.0, 2.0 if d == [1, 2] else 1.0, s) + half_normal(s) - 2 * np.log(4),
)
def a_lock_before_a_line_in_part():
    d = pm.DiscreteUniform("d", 0, 3, shape=2)
    b, s = pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(d[0], 1) & pt.eq(d[1], 2), 2 * b * X, b * X), s)


@not_even_in_part
def a_rare_support_in_part():
    k, b, s = even(12), pm.Normal("b"), pm.HalfNormal("s")
    pm.Potential("above", pt.switch(pt.eq(k, 7) & (b < 0), -np.inf, 0.0))
    seen(b * X, s)


@remaining(
    ("b",),
    [{"k": k, "s": 0.8} for k in (0, 7)],
    lambda k, s: line(prior_sd=7.0 if k == 7 else 1.0, sd=s) + half_normal(s) - np.log(12),
)
def a_rare_scale_of_the_prior_in_part():
    k, s = even(12), pm.HalfNormal("s")
    b = pm.Normal("b", 0, pt.switch(pt.eq(k, 7), 7.0, 1.0))
    seen(b * X, s)


@not_even_in_part
def a_rare_shape_in_part():
    k, s = even(12), pm.HalfNormal("s")
    rate = pm.Gamma("rate", 2, s)
    pm.Gamma("waits", pt.switch(pt.eq(k, 7), rate, 1.5), rate, observed=WAITS)


@not_even_in_part
def an_unbounded_count_with_a_rare_link():
    n, b, s = pm.Poisson("n", np.array(3.0)), pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(pt.eq(n, 7), pt.exp(b * X), b * X), s)


@remaining(
    ("b",),
    [{"n": n, "s": 0.8} for n in (0, 2, 11)],
    lambda n, s: line(0.0, n, s) + half_normal(s) + stats.poisson(3).logpmf(n),
)
def an_unbounded_count_as_a_factor():
    n, b, s = pm.Poisson("n", np.array(3.0)), pm.Normal("b"), pm.HalfNormal("s")
    seen(n * b * X, s)


@not_even_in_part
def a_link_beyond_a_scale():
    b, s = pm.Normal("b"), pm.HalfNormal("s")
    seen(pt.switch(s > 1.5, pt.exp(b * X), b * X), s)


@remaining(
    ("b",),
    [{"z": z, "s": 0.8} for z in ([0, 0, 0, 0, 0], [1, 0, 1, 1, 0])],
    lambda z, s: (
        stats.multivariate_normal.logpdf(
            Y, np.zeros(5), np.ones((5, 5)) + np.diag((s * np.where(z, 4.0, 1.0)) ** 2)
        )
        + stats.bernoulli(0.2).logpmf(z).sum()
        + half_normal(s)
    ),
)
def outliers_in_part():
    z, b = pm.Bernoulli("z", 0.2, shape=5), pm.Normal("b")
    s = pm.HalfNormal("s")
    seen(b, s * pt.switch(z, 4.0, 1.0))


@not_even_in_part
def outliers_one_of_which_is_of_another_kind_in_part():
    z, b = pm.Bernoulli("z", 0.2, shape=5), pm.Normal("b")
    s = pm.HalfNormal("s")
    seen(pt.switch(z & np.array([0, 0, 0, 1, 0]), pt.sin(b), b), s * pt.switch(z, 4.0, 1.0))


KINDS = (Enumerated, Remaining, Without)
RELATIVES = [entry for entry in list(vars().values()) if isinstance(entry, KINDS)]
