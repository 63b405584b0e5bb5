"""Models of five and more scalars whose integral is hard, and the truth about each.

Priors are turned and added up so that no sampler, grid or formula sees the few numbers that the
truth is made of.
"""

from functools import partial

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy import special, stats

from tests.posteriors.entry import opened
from tests.posteriors.hard_integrals import INF, Hard, Truth, along

MANY: list[Hard] = []


def many(truth=None, *, refused=(), name=None):
    """Put a model beside its truth, or beside words of its refusal, or both, in the table."""

    def add(fill):
        said = name or fill.__name__.replace("_", " ")
        MANY.append(Hard(said, opened(fill), truth, tuple(refused)))
        return fill

    return add


def whose_law_is(log_density, name="x", size=6):
    """Give numbers a law that has a log density, whose integral is one."""
    x = pm.Normal(name, 0, 10, shape=size)
    prior = pm.logp(pm.Normal.dist(0, 10, shape=size), x).sum()
    pm.Potential(f"law of {name}", log_density(x) - prior)


def student(z, df):
    """Return Student-t log densities, added up."""
    return pm.logp(pm.StudentT.dist(nu=df, mu=0, sigma=1), z).sum()


def turned(d, seed=1):
    """Return a random rotation of so many dimensions."""
    return stats.ortho_group.rvs(d, random_state=seed)


def on_rows(log_likelihoods, sd):
    """Return the log evidence of rows that each see one of independent N(0, sd) numbers."""
    prior = partial(stats.norm.logpdf, scale=sd)
    each = [along(lambda x, f=f: prior(x) + f(x), (-INF, 0, INF)) for f in log_likelihoods]
    return sum(one.log_evidence for one in each)


# --- modes ----------------------------------------------------------------------------------------


def two_modes(share, distance, width):
    """Give two normal laws of ten dimensions; one has a share of the mass, far away, narrower."""

    def law(x):
        near = np.log(1 - share) - (x**2).sum() / 2
        far = np.log(share) - (((x - distance) / width) ** 2).sum() / 2 - 10 * np.log(width)
        return pt.logaddexp(near, far) - 5 * np.log(2 * np.pi)

    whose_law_is(law, size=10)


def of_two_modes(share, distance, width):
    """Return their mean and deviation."""
    mean = np.full(10, share * distance)
    square = (1 - share) + share * (width**2 + distance**2)
    return Truth(0.0, {"x": mean}, {"x": np.sqrt(square - mean**2)})


for case in [
    (0.5, 4.0, 1.0),
    (0.1, 6.0, 1.0),
    (0.01, 5.0, 1.0),
    (0.9, 20.0, 1.0),
    (0.2, 6.0, 0.7),
    (0.5, 4.0, 0.5),
    (0.3, 3.0, 0.4),
]:
    many(
        partial(of_two_modes, *case),
        refused=("x",),
        name="10-d: share {:g} of the mass {:g} away, {:g} as wide".format(*case),
    )(partial(two_modes, *case))


def without_order():
    """Return the means: labels are all alike."""
    return Truth(None, {"mu": np.zeros(3)})


@many(without_order, refused=("mu",))
def labels_that_switch():
    mu = pm.Normal("mu", 0, 3, shape=3)
    y = np.concatenate([c + np.linspace(-1, 1, 12) for c in (-4.0, 0.0, 4.0)])
    parts = [pm.Normal.dist(mu[k], 1) for k in range(3)]
    sigma = pm.HalfNormal("sigma", 1, shape=2)
    pm.Mixture("y", w=np.ones(3) / 3, comp_dists=parts, observed=y)
    pm.Normal("z", 0, sigma[0] + sigma[1], observed=[0.5, -0.3])


# --- shapes ---------------------------------------------------------------------------------------


@many(lambda: Truth(0.0, {"v": 0.0}, {"v": 2.0}), refused=("v", "x"))
def a_funnel_of_seven():
    v = pm.Normal("v", 0, 2)
    whose_law_is(lambda x: student(pt.dot(turned(6), x) / pt.exp(v / 2), 5) - 3 * v)


@many(lambda: Truth(0.0), refused=("x",))
def a_banana_of_six():
    x = pm.Normal("x", 0, 1, shape=3)
    whose_law_is(lambda y: student(2 * (pt.dot(turned(3), y) - x**2), 7) + 3 * np.log(2), "y", 3)


@many(lambda: Truth(0.0, {"x": np.zeros(8)}), refused=("x",))
def heavy_tails_of_eight():
    whose_law_is(lambda x: student(pt.dot(turned(8), x), 3), size=8)


def of_a_sum(rows, sd):
    """Return the evidence of rows that see a sum of six standard normal numbers."""
    width = np.sqrt(6)
    near = np.unique((rows + sd * np.array([[-100], [-10], [10], [100]])).round(9))
    return along(
        lambda s: (
            stats.norm.logpdf(s, 0, width)
            + stats.t.logpdf((rows - s) / sd, 4).sum()
            - len(rows) * np.log(sd)
        ),
        (-INF, *near, INF),
    ).log_evidence


ROWS = np.array([1.0, 1.1, 0.8, 1.05])


@many(lambda: Truth(of_a_sum(ROWS, 0.1)), refused=("x",))
def a_ridge_of_six():
    x = pm.Normal("x", 0, 1, shape=6)
    pm.StudentT("y", nu=4, mu=x.sum(), sigma=0.1, observed=ROWS)


@many(lambda: Truth(of_a_sum(ROWS, 1e-4)), refused=("x",))
def a_ridge_as_thin_as_paper():
    x = pm.Normal("x", 0, 1, shape=6)
    pm.StudentT("y", nu=4, mu=x.sum(), sigma=1e-4, observed=ROWS)


@many(lambda: Truth(0.0, {"x": np.zeros(6)}, {"x": 10.0 ** np.arange(-3, 3)}), refused=("x",))
def units_from_a_thousandth_to_a_hundred():
    scale = 10.0 ** np.arange(-3, 3)
    tied = 3 * np.log(2 * np.pi) + np.log(scale).sum()
    whose_law_is(lambda x: -((x / scale) ** 2).sum() / 2 - tied)


# --- separated rows, collinear columns ------------------------------------------------------------


def logit(signs):
    return [lambda x, s=s: special.log_expit(s * x) for s in signs]


@many(lambda: Truth(on_rows(logit([1, -1, 1, -1, 1]), 2.5)))
def separated_rows_under_a_proper_prior():
    w = pm.Normal("w", 0, 2.5, shape=5)
    pm.Bernoulli("y", logit_p=pt.dot(turned(5), w), observed=[1, 0, 1, 0, 1])


@many(refused=("w", "improper"))
def separated_rows_under_a_flat_prior():
    w = pm.Flat("w", shape=5)
    X = np.random.default_rng(1).normal(size=(30, 5))
    pm.Bernoulli("y", logit_p=pt.dot(X, w), observed=(X[:, 0] > 0).astype(int))


@many(lambda: Truth(on_rows(logit([1, -1, 1]), 2.5 * np.sqrt(2))))
def columns_that_are_there_twice():
    w = pm.Normal("w", 0, 2.5, shape=6)
    Q = turned(3)
    X = np.hstack([Q, Q])  # both have the sum of two coefficients
    pm.Bernoulli("y", logit_p=pt.dot(X, w), observed=[1, 0, 1])


# --- groups ---------------------------------------------------------------------------------------


def poisson(y):
    return lambda x: stats.poisson.logpmf(y, np.exp(x))


def of_groups(counts, sd):
    """Return the evidence of a count a group, whose log rates are N(mu, sd), with mu N(0, 1)."""
    values, times = np.unique(counts, return_counts=True)
    u = np.linspace(-10, 10, 1001)
    w = stats.norm.logpdf(u) + np.log(u[1] - u[0])

    def at(mu):
        each = [special.logsumexp(w + poisson(y)(mu + sd * u)) for y in values]
        return stats.norm.logpdf(mu) + times @ np.array(each)

    middle = np.log(np.mean(counts) + 0.1)
    width = 10 / np.sqrt(len(counts))
    return along(at, (middle - 6 * width, middle, middle + 6 * width), "mu").log_evidence


COUNTS = np.random.default_rng(3).poisson(
    np.exp(0.5 + 0.8 * np.random.default_rng(4).normal(size=5000))
)


@many(lambda: Truth(of_groups(COUNTS[:30], 0.8)))
def one_row_a_group():
    mu = pm.Normal("mu", 0, 1)
    group = pm.Normal("group", mu, 0.8, shape=30)
    pm.Poisson("y", pt.exp(group), observed=COUNTS[:30])


@many(lambda: Truth(of_groups(COUNTS[:10], 0.8)))
def empty_groups():
    mu = pm.Normal("mu", 0, 1)
    group = pm.Normal("group", mu, 0.8, shape=30)
    pm.Poisson("y", pt.exp(group[:10]), observed=COUNTS[:10])


@many(lambda: Truth(of_groups(np.zeros(25, dtype=int), 0.8)))
def zero_counts():
    mu = pm.Normal("mu", 0, 1)
    group = pm.Normal("group", mu, 0.8, shape=25)
    pm.Poisson("y", pt.exp(group), observed=np.zeros(25, dtype=int))


@many(lambda: Truth(of_groups(COUNTS, 0.8)))
def five_thousand_groups():
    mu = pm.Normal("mu", 0, 1)
    group = pm.Normal("group", mu, 0.8, shape=5000)
    pm.Poisson("y", pt.exp(group), observed=COUNTS)


def of_a_scale(count, groups):
    """Return the same of equal counts, where sd is half-normal."""
    mu, sd = np.linspace(-4, 4, 801), np.linspace(0, 5, 2001)[1:] - 0.5 * 5 / 2000
    u, w = np.polynomial.hermite_e.hermegauss(60)
    at = mu[:, None, None] + sd[:, None] * u
    each = np.log(np.exp(poisson(count)(at)) @ w / np.sqrt(2 * np.pi))
    logs = groups * each + stats.norm.logpdf(mu)[:, None] + stats.halfnorm.logpdf(sd)
    return special.logsumexp(logs) + np.log((mu[1] - mu[0]) * (sd[1] - sd[0]))


@many(lambda: Truth(of_a_scale(3, 20)))
def a_scale_near_zero():
    mu = pm.Normal("mu", 0, 1)
    sd = pm.HalfNormal("sd", 1)
    group = pm.Normal("group", mu, sd, shape=20)
    pm.Poisson("y", pt.exp(group), observed=np.full(20, 3))


@many(lambda: Truth(of_a_scale(3, 20)))
def a_scale_near_zero_not_centred():
    mu = pm.Normal("mu", 0, 1)
    sd = pm.HalfNormal("sd", 1)
    z = pm.Normal("z", 0, 1, shape=20)
    pm.Poisson("y", pt.exp(mu + sd * z), observed=np.full(20, 3))


# --- sizes ----------------------------------------------------------------------------------------


def standard_logit(d):
    w = pm.Normal("w", 0, 2.5, shape=d)
    signs = np.arange(d) % 2
    pm.Bernoulli("y", logit_p=pt.dot(turned(d), w), observed=signs)


for d in (20, 40):
    many(lambda d=d: Truth(d / 2 * on_rows(logit([1, -1]), 2.5)), name=f"{d} coefficients")(
        partial(standard_logit, d)
    )
many(refused=("w",), name="150 coefficients")(partial(standard_logit, 150))
