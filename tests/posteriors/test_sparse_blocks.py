"""Long chains, trees and crossed groups: closed forms in the time that their structure takes."""

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.families import Gaussian, ScaledGaussian

N = 300
RNG = np.random.default_rng(20261125)
Y = np.cumsum(RNG.normal(0, 0.5, N)) + RNG.normal(size=N)
GROUP = np.repeat(np.arange(100), 3)
ROWS, COLUMNS = (x.ravel() for x in np.mgrid[:10, :30])
CHILD = np.arange(1, N)
FIRST = pm.Normal.dist(0, 10)


def steps(n, lag=1):
    """Return the matrix of differences."""
    return np.eye(n)[lag:] - np.eye(n)[:-lag]


def chain():
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=FIRST, steps=N - 1)
    pm.Normal("y", level, 1.0, observed=Y)


def autoregression():
    level = pm.AR("level", [1.2, -0.4], sigma=0.5, init_dist=pm.Normal.dist(0, 10), shape=N)
    pm.Normal("y", level, 1.0, observed=Y)


def trend():
    level = pm.Normal("level", 0, 50, shape=N)
    bend = level[2:] - 2 * level[1:-1] + level[:-2]
    pm.Potential("smooth", pm.logp(pm.Normal.dist(0, 0.1), bend).sum())
    pm.Normal("y", level, 1.0, observed=Y)


def tree():
    level = pm.Normal("level", 0, 10, shape=N)
    parent = level[(CHILD - 1) // 2]
    pm.Potential("tree", pm.logp(pm.Normal.dist(parent, 0.5), level[1:]).sum())
    pm.Normal("y", level, 1.0, observed=Y)


def groups():
    mean = pm.Normal("mean", 0, 10)
    effect = pm.Normal("effect", mean, 0.5, shape=100)
    pm.Normal("y", effect[GROUP], 1.0, observed=Y)


def crossed():
    row, column = pm.Normal("row", 0, 2, shape=10), pm.Normal("column", 0, 1, shape=(30, 3))
    pm.Normal("y", row[ROWS] + column[COLUMNS, 0], 1.0, observed=Y)


def gaps():
    level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=FIRST, steps=N - 1)
    pm.Normal("y", level[::3], 1.0, observed=Y[::3])


BEND = steps(N - 1) @ steps(N)
PARENT = np.eye(N)[1:] - np.eye(N)[(CHILD - 1) // 2]
AR = np.eye(N)[2:] - 1.2 * np.eye(N)[1:-1] + 0.4 * np.eye(N)[:-2]
EFFECT = np.hstack([-np.ones((100, 1)), np.eye(100)])
SEEN = np.eye(N)
OF_GROUPS = np.hstack([np.zeros((N, 1)), np.eye(100)[GROUP]])
OF_CROSSED = np.hstack([np.eye(10)[ROWS], np.eye(90)[3 * COLUMNS]])

# What is normal with mean zero before the data, (matrix, sd), and what is seen.
CASES = {
    "chain": (chain, [(SEEN[:1], 10), (steps(N), 0.5)], SEEN, Y),
    "autoregression": (autoregression, [(SEEN[:2], 10), (AR, 0.5)], SEEN, Y),
    "trend": (trend, [(SEEN, 50), (BEND, 0.1)], SEEN, Y),
    "tree": (tree, [(SEEN, 10), (PARENT, 0.5)], SEEN, Y),
    "groups": (groups, [(np.eye(101)[:1], 10), (EFFECT, 0.5)], OF_GROUPS, Y),
    "crossed": (crossed, [(np.eye(100)[:10], 2), (np.eye(100)[10:], 1)], OF_CROSSED, Y),
    "gaps": (gaps, [(SEEN[:1], 10), (steps(N), 0.5)], SEEN[::3], Y[::3]),
}


def by_hand(priors, seen, y):
    """Return mean, covariance and log evidence by dense algebra."""
    precision = sum(A.T @ A / sd**2 for A, sd in priors) + seen.T @ seen
    root = np.linalg.cholesky(precision)
    cov = np.linalg.inv(precision)
    mean = cov @ seen.T @ y
    logs = sum(stats.norm(0, sd).logpdf(A @ mean).sum() for A, sd in priors)
    logs += stats.norm(seen @ mean, 1).logpdf(y).sum()
    size = len(mean) / 2 * np.log(2 * np.pi) - np.log(np.diag(root)).sum()
    return mean, cov, logs + size


def row(posterior, values):
    return np.concatenate([np.ravel(values[name]) for name in posterior.dims])


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "chain" else pytest.mark.slow) for n in CASES]
)
def test_sparse_blocks_are_what_dense_algebra_gives(name):
    build, priors, seen, y = CASES[name]
    with pm.Model() as model:
        build()
    posterior = bm.exact(model, rng=1)
    mean, cov, evidence = by_hand(priors, seen, y)
    sd = np.sqrt(np.diag(cov))
    assert posterior.verified == "analytically"
    assert posterior.log_evidence == pytest.approx(evidence, rel=1e-11)
    assert np.abs(row(posterior, posterior.mean()) - mean).max() < 1e-9 * sd.max()
    assert np.sqrt(row(posterior, posterior.var())) == pytest.approx(sd, rel=1e-9)
    draws = posterior.sample(20_000, rng=2)
    x = np.concatenate([draws[n].reshape(20_000, -1) for n in posterior.dims], 1)
    z = (x - mean) @ np.linalg.cholesky(np.linalg.inv(cov))  # independent, of variance one
    assert (np.abs(z.mean(0)) * np.sqrt(len(z))).max() < 5
    assert (np.abs(z.var(0) - 1) * np.sqrt(len(z) / 2)).max() < 5
    assert np.abs(np.corrcoef(z.T)[np.triu_indices(len(mean), 1)]).max() * np.sqrt(len(z)) < 6
    points = {name: values[:5] for name, values in draws.items()}
    expected = stats.multivariate_normal(mean, cov).logpdf(x[:5])
    assert posterior.log_density(points) == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_a_chain_is_read_off_few_slopes():
    with pm.Model() as model:
        chain()
    assert bm.exact(model, rng=1).blocks[0].root.nnz == 2 * N - 1


@pytest.mark.slow
def test_steps_and_noise_of_one_unknown_variance():
    with pm.Model() as model:
        variance = pm.InverseGamma("variance", 3, 2)
        sd = pm.math.sqrt(variance)
        first = pm.Normal.dist(0, 10 * sd)
        level = pm.GaussianRandomWalk("level", sigma=0.5 * sd, init_dist=first, steps=N - 1)
        pm.Normal("y", level, sd, observed=Y)
    posterior = bm.exact(model, rng=1)
    (block,) = posterior.blocks
    assert isinstance(block, ScaledGaussian)
    assert block.gaussian.root.nnz == 2 * N - 1
    walk = 100 + 0.25 * np.minimum(np.arange(N)[:, None], np.arange(N))
    law = stats.multivariate_t(np.zeros(N), 2 / 3 * (walk + np.eye(N)), df=6)
    assert posterior.log_evidence == pytest.approx(law.logpdf(Y), rel=1e-11)
    mean, _, _ = by_hand(CASES["chain"][1], SEEN, Y)
    assert posterior.mean()["level"] == pytest.approx(mean, abs=1e-9)
    rate = 2 + Y @ np.linalg.solve(walk + np.eye(N), Y) / 2
    assert posterior.mean()["variance"] == pytest.approx(rate / (3 + N / 2 - 1))


def test_a_chain_without_a_level_is_improper():
    with pm.Model() as model:
        level = pm.Flat("level", shape=N)
        pm.Potential("walk", pm.logp(pm.Normal.dist(0, 1), level[1:] - level[:-1]).sum())
    with pytest.raises(NotConjugate, match="improper"):
        bm.exact(model, rng=1)


def test_a_chain_that_is_no_parabola_is_refused():
    with pm.Model() as model:
        level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=FIRST, steps=N - 1)
        pm.StudentT("y", nu=4, mu=level, sigma=1.0, observed=Y)
    with pytest.raises(NotConjugate, match="not a normal law's"):
        bm.exact(model, rng=1)


def test_a_link_between_far_ends_is_found():
    with pm.Model() as model:
        level = pm.GaussianRandomWalk("level", sigma=0.5, init_dist=FIRST, steps=N - 1)
        pm.Normal("y", level, 1.0, observed=Y)
        pm.Normal("ring", level[-1] - level[0], 0.1, observed=0.0)
    priors = [(SEEN[:1], 10), (steps(N), 0.5), (SEEN[-1:] - SEEN[:1], 0.1)]
    _, cov, evidence = by_hand(priors, SEEN, Y)
    posterior = bm.exact(model, rng=1)
    assert posterior.log_evidence == pytest.approx(evidence, rel=1e-11)
    assert np.sqrt(posterior.var()["level"]) == pytest.approx(np.sqrt(np.diag(cov)), rel=1e-9)


def test_digits_that_are_lost_are_about_those_of_the_dense_condition():
    with pm.Model() as model:
        trend()
    (block,) = bm.exact(model, rng=1).blocks
    dense = Gaussian(
        block.elements, block.location, block.precision.toarray(), block.root.toarray()
    )
    assert block.digits_lost() == pytest.approx(dense.digits_lost(), abs=1)


@pytest.mark.slow
def test_given_unknown_scales_the_chain_is_integrated_out_by_its_structure():
    with pm.Model() as model:
        walk, noise = pm.HalfNormal("walk", 2), pm.HalfNormal("noise", 2)
        level = pm.GaussianRandomWalk("level", sigma=walk, init_dist=FIRST, steps=N - 1)
        pm.Normal("y", level, noise, observed=Y)
    partial = bm.exact(model, partial=True, rng=1)
    at = {"walk": 0.5, "noise": 1.0}
    mean, cov, evidence = by_hand(CASES["chain"][1], SEEN, Y)
    found = partial.conditional(at)["level"]
    assert found["mean"] == pytest.approx(mean, abs=1e-9)
    assert found["sd"] == pytest.approx(np.sqrt(np.diag(cov)), rel=1e-9)
    prior = stats.halfnorm(scale=2).logpdf([0.5, 1.0]).sum()
    assert partial.density.value(at)[0] == pytest.approx(evidence + prior, rel=1e-11)


def test_what_would_fill_up_is_refused_before_it_takes_memory():
    one, other = RNG.integers(0, 4000, (2, 20_000))
    with pm.Model() as model:
        row, column = pm.Normal("row", shape=4000), pm.Normal("column", shape=4000)
        pm.Normal("y", row[one] + column[other], 1.0, observed=np.zeros(20_000))
    with pytest.raises(NotConjugate, match="at most 5000 that may all depend on each other"):
        bm.exact(model, rng=1)


@pytest.mark.slow
def test_a_mean_of_very_many_groups_costs_what_they_cost():
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 10)
        effect = pm.Normal("effect", mean, 0.5, shape=20_000)
        pm.Normal("y", effect, 1.0, observed=np.tile(Y[:200], 100))
    posterior = bm.exact(model, rng=1)
    assert posterior.blocks[0].root.nnz == 2 * 20_000 + 1
    precision = 20_000 / 1.25
    expected = precision * np.mean(Y[:200]) / (precision + 0.01)
    assert posterior.mean()["mean"] == pytest.approx(expected, rel=1e-9)
