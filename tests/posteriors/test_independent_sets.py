"""Scalars that share no summand are integrated one by one: any number of them."""

import numpy as np
import pymc as pm
import pytest
from scipy import stats
from scipy.special import expit

import bayesmodels as bm
from bayesmodels.numerics.lattice_integral import integral
from bayesmodels.numerics.product import product
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.model_density import ModelDensity

RNG = np.random.default_rng(43)
ITEMS = np.linspace(-1.5, 1.5, 6)
RIGHT = (RNG.random((13, 6)) < expit(RNG.normal(0, 1, (13, 1)) - ITEMS)).astype(int)


def abilities():
    """Thirteen abilities, with items that are known."""
    with pm.Model() as model:
        ability = pm.Normal("ability", 0, 1.5, shape=13)
        pm.Bernoulli("right", logit_p=ability[:, None] - ITEMS, observed=RIGHT)
    return model


GRID = np.linspace(-15, 15, 3001)  # on which the trapezoidal rule leaves nothing
PRIOR = stats.norm.pdf(GRID, 0, 1.5) * (GRID[1] - GRID[0])


def seen(right):
    """Return the probabilities of answers on the grid."""
    p = expit(GRID[:, None] - ITEMS)
    return np.where(right, p, 1 - p)


def each(right):
    """Return log evidence, mean and sd of one ability."""
    weights = PRIOR * seen(right).prod(1)
    total = weights.sum()
    mean = weights @ GRID / total
    return np.log(total), mean, np.sqrt(weights @ (GRID - mean) ** 2 / total)


def gap(found, truth):
    return np.abs(np.asarray(found) - truth).max()


@pytest.mark.slow
def test_thirteen_abilities():
    found = bm.integrate(abilities(), rng=1)
    logs, mean, sd = np.transpose([each(row) for row in RIGHT])
    assert gap(found.log_evidence, logs.sum()) <= min(1e-6, 2 * found.errors["log_evidence"])
    assert (np.abs(found.mean()["ability"] - mean) <= 2 * found.errors["mean"]["ability"]).all()
    assert gap(found.mean()["ability"], mean) < 1e-6
    assert gap(np.sqrt(found.var()["ability"]), sd) < 1e-6


TIMES = RNG.gamma(3.0, 1.0, (5, 8))


def lifetimes():
    """Five kinds, each with a shape and a scale of its own: ten scalars."""
    with pm.Model() as model:
        shape = pm.LogNormal("shape", 0, 0.5, shape=5)
        scale = pm.LogNormal("scale", 1, 1, shape=5)
        pm.Weibull("time", shape[:, None], scale[:, None], observed=TIMES)
    return model


LOGS = np.meshgrid(np.linspace(-3, 3, 401), np.linspace(-5, 9, 1401), indexing="ij")
CELL = 6 / 400 * 14 / 1400


def terms(times):
    """Return the density of the logs of shape and scale on a grid, and that of each time there."""
    prior = stats.norm.pdf(LOGS[0], 0, 0.5) * stats.norm.pdf(LOGS[1], 1, 1) * CELL
    shape, scale = np.exp(LOGS)[:, None]
    return prior, stats.weibull_min.pdf(times[:, None, None], shape, scale=scale)


@pytest.mark.slow
def test_five_sets_of_two():
    found = bm.integrate(lifetimes(), rng=1)
    assert "5 independent sets" in found.explain()
    assert found.remaining == ("shape", "scale")
    alone = found.leave_one_out(rng=3)
    rows, off = alone.to_numpy().T.reshape(2, 5, 8)
    draws, total = found.sample(4000, rng=2), 0.0
    for k, times in enumerate(TIMES):
        prior, p = terms(times)
        joint = prior * p.prod(0)
        total += np.log(joint.sum())
        for name, logs in zip(("shape", "scale"), LOGS, strict=True):
            x, weights = np.exp(logs), joint / joint.sum()
            mean = (weights * x).sum()
            sd = np.sqrt((weights * (x - mean) ** 2).sum())
            assert abs(found.mean()[name][k] - mean) <= 2 * found.errors["mean"][name][k] + 1e-9
            assert found.mean()[name][k] == pytest.approx(mean, abs=1e-6 * sd)
            assert np.sqrt(found.var()[name][k]) == pytest.approx(sd, rel=1e-6)
            assert abs(draws[name][:, k].mean() - mean) < 4.5 * sd / np.sqrt(4000)
            below = (weights * (x <= mean)).sum()
            assert found.marginals()[name].cdf(mean)[k] == pytest.approx(below, abs=0.01)
        without = [(prior * np.delete(p, j, axis=0).prod(0)).sum() for j in range(8)]
        true = np.abs(rows[k] - np.log(joint.sum() / without))
        assert (true <= 2 * off[k] + 1e-9).all()  # of one far from all others it is large
        assert np.median(true) < 1e-6
    assert gap(found.log_evidence, total) <= min(1e-6, 2 * found.errors["log_evidence"] + 1e-9)


@pytest.mark.parametrize(
    ("declare", "sizes"),
    [
        (lambda: pm.StudentT("x", nu=3, shape=3), [1, 1, 1]),
        (lambda: pm.StudentT("x", nu=3, sigma=pm.HalfNormal("s", 1), shape=3), [4]),
        (lambda: pm.Uniform("x", 0, 1 + pm.HalfNormal("s", 1)), [2]),
        (lambda: (pm.Gumbel("x", 0, 1), pm.Dirichlet("p", np.ones(3))), [1, 2]),
    ],
)
def test_sets_share_no_summand_and_no_number(declare, sizes):
    with pm.Model() as model:
        declare()
    assert [len(own) for own in BatchDensity(ModelDensity(model)).sets] == sizes


def test_a_product_is_the_integral_of_all_at_once():
    def f(x):
        with np.errstate(over="ignore"):
            logs = stats.gumbel_r.logpdf(x[:, 0])
        logs = logs + stats.multivariate_normal.logpdf(x[:, 1:], cov=[[2, 0.5], [0.5, 1]])
        return logs, np.stack([x[:, 1], x[:, 0] ** 2, x[:, 2]], 1)

    starts = RNG.normal(size=(30, 3))
    result = product(
        f,
        [np.array([0]), np.array([1, 2])],
        starts,
        lambda part, own: integral(part, own, 1e-7, 20.0, np.random.default_rng(1)),
    )
    law = stats.gumbel_r
    assert abs(result.log_total) <= 2 * result.log_error < 1e-6
    np.testing.assert_allclose(result.mean, [0, law.moment(2), 0], atol=1e-6)
    np.testing.assert_allclose(result.sd[[0, 2]], [np.sqrt(2), 1], rtol=1e-6)
    chosen = np.array([0, len(result.weights) - 1])
    points = result.points_at(chosen)
    np.testing.assert_array_equal(points[0, 1:], result.middle[1:])
    np.testing.assert_array_equal(points[1, :1], result.middle[:1])
    x = np.linspace(-1, 3, 7)
    np.testing.assert_allclose(result.table(0).cdf(x), law.cdf(x), atol=1e-6)
