"""Elements that see the same data are evaluated once, and only those.

References are the same models with no elements taken to be alike, and formulas.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.posteriors import element_summands
from bayesmodels.posteriors.alike_elements import AlikeElements
from bayesmodels.posteriors.budget import UNLIMITED
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.continuous_marginal import SETTLED
from bayesmodels.posteriors.partial import eliminated
from tests.posteriors.everyday.table import PATTERNS, lsat

COUNTS = np.array([2, 0, 2, 5, 0, 2, 2, 0])
SAME = [4, 3, 1]  # twos, zeros, fives
ITEMS = np.array([[0, 1, 1], [1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 1, 1]])


def part_of(build):
    return eliminated(Conditionals(build(), UNLIMITED), np.random.default_rng(1))


def times(part):
    """Return how many elements each class has."""
    return sorted(part._marginal._of.times.tolist(), reverse=True)


def poisson(counts=COUNTS, exposure=1.0, group=None):
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1, shape=2)
        tau = pm.HalfNormal("tau", 1)
        x = pm.Normal("x", 0 if group is None else mu[group], tau, shape=len(counts))
        pm.Poisson("y", exposure * pt.exp(mu[0] + x), observed=counts)
    return model


def limits(high):
    """Elements that may not be beyond limits, which are far out."""
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        x = pm.Normal("x", 0, tau, shape=len(COUNTS))
        pm.Poisson("y", pt.switch(x > high, 3.0, pt.exp(x)), observed=COUNTS)
    return model


def rows(order):
    """Several rows an element, whose order is nothing."""
    group = np.repeat(np.arange(5), 3)[order]
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        x = pm.Normal("x", 0, tau, shape=5)
        pm.Bernoulli("y", logit_p=x[group], observed=ITEMS.ravel()[order])
    return model


def items():
    """Elements and items on two axes, and a sum over one of them."""
    with pm.Model() as model:
        easy = pm.Normal("easy", 0, 1, shape=3)
        x = pm.Normal("x", 0, 1, shape=5)
        eta = easy + x[:, None]
        pm.Potential("y", (ITEMS * eta - pt.softplus(eta)).sum(1).sum())
    return model


def formula(order):
    """Columns of a design matrix, with an effect of groups, as Bambi writes it."""
    group, item = np.repeat(np.arange(5), 3)[order], np.tile(np.arange(3), 5)[order]
    X = np.eye(3, dtype=int)[item]
    with pm.Model() as model:
        easy = pm.Normal("easy", 0, 1, shape=3)
        sigma = pm.HalfNormal("sigma", 1)
        x = pm.Normal("x", 0, 1, shape=5)
        eta = pm.math.dot(X, easy) + (sigma * x)[group] * np.ones(15)
        pm.Bernoulli("y", logit_p=eta, observed=ITEMS.ravel()[order])
    return model


def inflated():
    with pm.Model() as model:
        psi, mu = pm.Beta("psi", 1, 1), pm.Normal("mu", 0, 1)
        x = pm.Normal("x", mu, 1, shape=len(COUNTS))
        pm.ZeroInflatedPoisson("y", psi, pt.exp(x), observed=COUNTS)
    return model


def heavy():
    """Bounded elements of two variables, in arrays of two axes."""
    with pm.Model() as model:
        a = pm.Exponential("a", 1)
        p = pm.Beta("p", a, 1, shape=(2, 4))
        rate = pm.Gamma("rate", 2, a, shape=4)
        pm.Binomial("hits", 5, p, observed=COUNTS.reshape(2, 4))
        pm.Poisson("y", rate, observed=COUNTS[:4])
    return model


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (poisson, SAME),
        (
            lambda: poisson(exposure=np.where(np.arange(8) == 2, np.nextafter(1, 2), 1)),
            [3, 3, 1, 1],
        ),
        (lambda: poisson(group=np.array([0, 1, 1, 0, 0, 0, 0, 0])), [3, 2, 1, 1, 1]),
        (lambda: limits(np.full(8, 1e3)), SAME),
        (lambda: limits(np.where(np.arange(8) < 1, 2e3, 1e3)), [3, 3, 1, 1]),
        (lambda: rows(np.arange(15)), [3, 1, 1]),
        (lambda: rows(np.random.default_rng(1).permutation(15)), [3, 1, 1]),
        (items, [3, 1, 1]),
        (lambda: formula(np.random.default_rng(1).permutation(15)), [3, 1, 1]),
        (inflated, SAME),
        (heavy, [4, 3, 2, 1, 1, 1]),
    ],
)
def test_totals_and_laws_are_those_of_elements_one_by_one(build, expected, monkeypatch):
    part = part_of(build)
    assert times(part) == expected

    class Different(AlikeElements):
        def __init__(self, graph, summands, kinds):
            super().__init__(graph, summands, kinds)
            self.of = self.first = np.arange(len(kinds))

    monkeypatch.setattr(element_summands, "AlikeElements", Different)
    other = part_of(build)
    assert set(times(other)) == {1}
    here = other._marginal._of.here.items()
    rng = np.random.default_rng(2)
    rest = {name: np.abs(0.9 * rng.normal(size=(20, *x.shape[1:]))) for name, x in here}
    if "psi" in rest:
        rest["psi"] = rest["psi"] % 1
    one, two = (x._marginal.fitted(rest, 20).total for x in (part, other))
    assert np.isfinite(two).all()
    assert np.abs(one - two).max() < 2 * SETTLED
    for name in part.integrated:
        laws = []
        for x in (part, other):
            of = x.conditional(rest)[name]
            law = x._marginal._of.maps[name]
            assert of["centre"].shape == (20, *x.shapes[name])
            nodes = element_summands.Nodes(*(of[k] for k in ("centre", "scale", "low", "high")))
            laws.append(element_summands.NodeLaw(nodes, of["mass"], law))
        for verb in ("mean", "std"):
            assert getattr(laws[0], verb)() == pytest.approx(getattr(laws[1], verb)(), rel=1e-6)


def test_draws_of_alike_elements_are_independent():
    part = part_of(poisson)
    rest = {"mu": np.tile([0.3, 0.0], (4000, 1)), "tau": np.full(4000, 0.8)}
    draws = part.draw(rest, rng=1)["x"]
    assert np.abs(np.corrcoef(draws.T) - np.eye(8)).max() < 4 / np.sqrt(4000)
    assert stats.ks_2samp(draws[:, 0], draws[:, 2]).pvalue > 1e-3
    assert stats.ks_2samp(draws[:, 0], draws[:, 1]).pvalue < 1e-6


def test_posteriors_have_laws_of_all_elements():
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        rate = pm.LogNormal("rate", 0, tau, shape=(4, 2))
        pm.Poisson("y", rate, observed=COUNTS.reshape(4, 2))
    posterior = bm.integrate(model, rng=1)
    assert posterior.integrated == ("rate",)
    mean, law = posterior.mean()["rate"], posterior.marginals()["rate"]
    errors, ends = posterior.errors, posterior.interval(0.9)["rate"]
    assert mean.shape == errors["mean"]["rate"].shape == ends[0].shape == (4, 2)
    for each in (mean, law.std(), *ends, *posterior.interval_errors(0.9)["rate"]):
        assert len(np.unique(each)) == 3
        assert each[0, 0] == each[1, 0] != each[0, 1] == each[2, 0]
    for at in np.ndindex(4, 2):
        assert law.entry(at).cdf(1.3) == pytest.approx(law.cdf(1.3)[at], rel=1e-12)
        assert law.entry(at).mean() == pytest.approx(mean[at], rel=1e-12)
    x = np.linspace(0.1, 3, 5)[:, None, None] * np.ones((4, 2))
    x[:, 0, 0] += 0.1
    assert law.cdf(x)[:, 0, 0] == pytest.approx(law.entry((0, 0)).cdf(x[:, 0, 0]), rel=1e-12)
    assert law.sf(x) == pytest.approx(1 - law.cdf(x), abs=1e-12)
    assert law.cdf(law.ppf(0.3)) == pytest.approx(0.3, abs=1e-6)
    draws = posterior.sample(3000, rng=1)["rate"]
    gap = (draws.mean(0) - mean) / (law.std() / np.sqrt(3000))
    assert np.abs(gap).max() < 4
    assert not np.array_equal(draws[:, 0, 0], draws[:, 1, 0])


def test_a_thousand_students_cost_what_their_answers_cost():
    part = part_of(lsat.build)
    assert times(part) == sorted(PATTERNS[PATTERNS > 0], reverse=True)
    assert part.cost == 30 * (1 + 5) * (24 + part._marginal.number)
