"""Variables that sum to zero, against dense algebra over all their elements, and quadrature."""

import math

import numpy as np
import pymc as pm
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import stats
from scipy.special import logsumexp

import bayesmodels as bm
from bayesmodels.posteriors.ladder import posterior
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.new_data import NewData

RNG = np.random.default_rng(20261126)
N = 40
A, B = RNG.integers(0, 4, N), RNG.integers(0, 3, N)
Y = RNG.normal(size=N) + 0.5 * (A == 1) - 0.7 * B
COORDS = {"a": list("wxyz"), "b": list("klm")}
LETTERS = np.eye(4)[A]
CELLS = np.eye(12)[3 * A + B]
pytestmark = pytest.mark.filterwarnings("ignore:.*RandomVariable.*rng:DeprecationWarning")


def centring(*sizes):
    """Return the covariance of elements that sum to zero along each axis, of unit sigma."""
    result = np.eye(1)
    for n in sizes:
        result = np.kron(result, np.eye(n) - 1 / n)
    return result


def dense(design, prior, noise=1.0, y=Y):
    """Return log evidence, mean and covariance of normal elements, by the law of the data."""
    cov = noise**2 * np.eye(len(y)) + design @ prior @ design.T
    both = np.linalg.solve(cov, np.column_stack([y, design @ prior]))
    gain = prior @ design.T
    evidence = stats.multivariate_normal(np.zeros(len(y)), cov).logpdf(y)
    return evidence, gain @ both[:, 0], prior - gain @ both[:, 1:]


def joined(*blocks):
    """Return a matrix with blocks along its diagonal."""
    size = sum(map(len, blocks))
    result, at = np.zeros((size, size)), 0
    for block in blocks:
        result[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return result


ONES = np.ones((N, 1))
LEVEL = np.array([[25.0]])
SIGMAS = np.array([1.0, 2.0, 0.5, 1.0])


def one_factor(sigma=1.0):
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", sigma=sigma, shape=4)
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu + e[A], 1, observed=Y)
    return model


def two_axes():
    with pm.Model(coords=COORDS) as model:
        e = pm.ZeroSumNormal("e", sigma=1.5, dims=("a", "b"), n_zerosum_axes=2)
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu + e[A, B], 1, observed=Y)
    return model


def rows_of_their_own():
    with pm.Model(coords=COORDS) as model:
        e = pm.ZeroSumNormal("e", sigma=SIGMAS[:, None], dims=("a", "b"))
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu + e[A, B], 1, observed=pm.Data("seen", Y))
    return model


def balanced():
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", sigma=1, shape=4)
        pm.Normal("y", e[np.arange(N) % 4], 1, observed=Y)
    return model


CASES = {
    "one factor": (
        one_factor,
        np.hstack([LETTERS, ONES]),
        joined(centring(4), LEVEL),
    ),
    "two axes": (
        two_axes,
        np.hstack([CELLS, ONES]),
        joined(1.5**2 * centring(4, 3), LEVEL),
    ),
    "rows of their own": (
        rows_of_their_own,
        np.hstack([CELLS, ONES]),
        joined(*(s**2 * centring(3) for s in SIGMAS), LEVEL),
    ),
    "balanced": (balanced, np.eye(4)[np.arange(N) % 4], centring(4)),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    build, design, prior = CASES[request.param]
    return bm.exact(build(), rng=1), *dense(design, prior)


def flat(values):
    return np.concatenate([np.ravel(x) for x in values.values()])


def test_it_is_what_dense_algebra_says(case):
    found, evidence, mean, cov = case
    sd = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=0, atol=1e-10)
    np.testing.assert_allclose(flat(found.mean()), mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.sqrt(flat(found.var())), sd, rtol=1e-10)
    np.testing.assert_allclose(flat(found.mode()), mean, rtol=0, atol=1e-10)
    low, high = (
        np.concatenate([np.ravel(x[i]) for x in found.interval().values()]) for i in (0, 1)
    )
    np.testing.assert_allclose(low, stats.norm(mean, sd).ppf(0.055), rtol=0, atol=1e-9)
    np.testing.assert_allclose(high, stats.norm(mean, sd).ppf(0.945), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.summary()["sd"], sd, rtol=1e-10)
    np.testing.assert_allclose(found.marginals()["e"].mean(), found.parameters()["e"]["mean"])
    assert found.families["e"] == "Normal"
    assert "e sums to zero" in found.explain()
    assert found.verified == "analytically"


def test_draws_sum_to_zero_and_have_the_moments(case):
    found, _, mean, cov = case
    draws = found.sample(20_000, 2)
    np.testing.assert_allclose(draws["e"].sum(-1), 0, atol=1e-12)
    x = np.concatenate([v.reshape(len(v), -1) for v in draws.values()], axis=1)
    sd = np.sqrt(np.diag(cov))
    assert (np.abs(x.mean(0) - mean) < 4.5 * sd / math.sqrt(len(x))).all()
    off = np.cov(x.T) - cov
    assert (np.abs(off) < 5 * np.outer(sd, sd) / math.sqrt(len(x)) * math.sqrt(2)).all()


def test_the_density_is_with_respect_to_the_subspace(case):
    found, evidence, mean, cov = case
    draws = found.sample(5, 3)
    law = stats.multivariate_normal(mean, cov, allow_singular=True)
    rows = np.concatenate([x.reshape(5, -1) for x in draws.values()], axis=1)
    np.testing.assert_allclose(found.log_density(draws), law.logpdf(rows), rtol=0, atol=1e-10)
    got, joint = found.log_density(draws), ModelDensity(found.model)  # PyMC's own
    for i in range(5):
        value, _ = joint.value({n: x[i] for n, x in draws.items()})
        np.testing.assert_allclose(got[i], value - evidence, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        found.log_density({n: x.astype(np.float32) for n, x in draws.items()}), got, atol=1e-3
    )
    assert (found.log_density(draws | {"e": draws["e"] + 0.01}) == -np.inf).all()


@pytest.mark.slow
def test_names_dims_and_draws_are_those_of_the_model():
    found = bm.exact(two_axes(), rng=1)
    tree = found.to_datatree(50, 2, 1)
    assert tree.posterior["e"].dims == ("chain", "draw", "a", "b")
    assert found.summary().index[1] == "e[w, l]"
    np.testing.assert_allclose(tree.posterior["e"].sum("a"), 0, atol=1e-12)
    np.testing.assert_allclose(tree.posterior["e"].sum("b"), 0, atol=1e-12)
    assert found.predictive(10, 1, 1).posterior_predictive["y"].shape == (1, 10, N)


@pytest.mark.parametrize("precision", [False, True])
def test_with_one_unknown_scale(precision):
    with pm.Model() as model:
        scale = pm.Gamma("v", 3, 2) if precision else pm.InverseGamma("v", 3, 2)
        sd = 1 / pm.math.sqrt(scale) if precision else pm.math.sqrt(scale)
        e = pm.ZeroSumNormal("e", sigma=2 * sd, shape=4)
        mu = pm.Normal("mu", 0, 5 * sd)
        pm.Normal("y", mu + e[A], sd, observed=Y)
    found = bm.exact(model, rng=1)
    design, prior = np.hstack([LETTERS, ONES]), joined(4 * centring(4), LEVEL)
    _, mean, cov = dense(design, prior)
    shape = np.eye(N) + design @ prior @ design.T
    evidence = stats.multivariate_t(np.zeros(N), 2 / 3 * shape, df=6).logpdf(Y)
    a, b = 3 + N / 2, 2 + Y @ np.linalg.solve(shape, Y) / 2
    law = stats.t(2 * a, mean[:4], np.sqrt(b / a * np.diag(cov)[:4]))
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.mean()["e"], law.mean(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.sqrt(found.var()["e"]), law.std(), rtol=1e-10)
    np.testing.assert_allclose(found.interval(0.5)["e"][0], law.ppf(0.25), rtol=0, atol=1e-9)
    assert found.families["e"] == "StudentT"


@pytest.mark.slow
def test_given_finite_variables_laws_are_mixtures():
    with pm.Model() as model:
        k = pm.Bernoulli("k", 0.4)
        e = pm.ZeroSumNormal("e", sigma=1, shape=(2, 4))
        pm.Normal("y", e[0][A] * (1 + k), 1, observed=Y)
        pm.Normal("w", e[1][A], 1, observed=0.3 * Y)
    found = bm.exact(model, rng=1)
    each = [dense((1 + level) * LETTERS, centring(4)) for level in (0, 1)]
    other, mean, cov = dense(LETTERS, centring(4), y=0.3 * Y)
    logs = np.log([0.6, 0.4]) + [evidence for evidence, _, _ in each]
    np.testing.assert_allclose(found.log_evidence, logsumexp(logs) + other, rtol=0, atol=1e-10)
    p = np.exp(logs - logsumexp(logs))
    means = np.array([m for _, m, _ in each])
    squares = [m**2 + np.diag(c) for _, m, c in each]
    np.testing.assert_allclose(found.mean()["e"], [p @ means, mean], rtol=0, atol=1e-10)
    var = [p @ squares - (p @ means) ** 2, np.diag(cov)]
    np.testing.assert_allclose(found.var()["e"], var, rtol=1e-9)


def half_normal():
    return pm.HalfNormal("tau", 1)


def unknown_scales(scale=half_normal, times=1):
    with pm.Model() as model:
        tau = scale()
        noise = pm.HalfCauchy("noise", 1)
        e = pm.ZeroSumNormal("e", sigma=times * tau, shape=4)
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu + e[A], noise, observed=Y)
    return model


@pytest.mark.slow
def test_in_part_the_law_given_the_rest_is_the_dense_one():
    part = bm.exact(unknown_scales(), partial=True, rng=1)
    assert part.integrated == ("e", "mu")
    assert part.shapes["e"] == (4,)
    rest = {"tau": np.array([0.5, 2.0]), "noise": np.array([1.5, 0.7])}
    found = part.conditional(rest)
    for i in range(2):
        prior = joined(rest["tau"][i] ** 2 * centring(4), LEVEL)
        _, mean, cov = dense(np.hstack([LETTERS, ONES]), prior, rest["noise"][i])
        np.testing.assert_allclose(found["e"]["mean"][i], mean[:4], rtol=0, atol=1e-10)
        np.testing.assert_allclose(found["e"]["sd"][i], np.sqrt(np.diag(cov)[:4]), rtol=1e-10)
        np.testing.assert_allclose(found["mu"]["sd"][i], np.sqrt(cov[4, 4]), rtol=1e-10)
    many = part.draw({name: np.repeat(x[:1], 20_000) for name, x in rest.items()}, 1)["e"]
    mean, sd = found["e"]["mean"][0], found["e"]["sd"][0]
    np.testing.assert_allclose(many.sum(-1), 0, atol=1e-12)
    assert (np.abs(many.mean(0) - mean) < 4.5 * sd / math.sqrt(20_000)).all()
    assert (np.abs(many.std(0) / sd - 1) < 4.5 / math.sqrt(40_000)).all()


def quadrature():
    """Return log evidence, means and standard deviations of e by nodes in the logs of both."""
    x, w = leggauss(80)
    logs, weights = 9 * x - 7, 9 * w  # of tau: below e^-16 there is a mass of 1e-7
    noises, own = leggauss(40)
    design, rows = np.hstack([LETTERS, ONES]), []
    for t, a in zip(np.exp(logs), weights, strict=True):
        for s, b in zip(np.exp(noises), own, strict=True):
            evidence, mean, cov = dense(design, joined(t**2 * centring(4), LEVEL), s)
            prior = stats.halfnorm.logpdf(t) + stats.halfcauchy.logpdf(s) + math.log(t * s)
            rows.append((evidence + prior + math.log(a * b), mean[:4], np.diag(cov)[:4]))
    each = np.array([row[0] for row in rows])
    p = np.exp(each - logsumexp(each))
    means, variances = (np.array([row[i] for row in rows]) for i in (1, 2))
    mean = p @ means
    return logsumexp(each), mean, np.sqrt(p @ (variances + (means - mean) ** 2))


@pytest.mark.slow
def test_integrals_are_those_of_quadrature():
    found = bm.integrate(unknown_scales(), rng=1)
    assert found.integrated == ("e", "mu")
    evidence, mean, sd = quadrature()
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=0, atol=2e-6)
    np.testing.assert_allclose(found.mean()["e"], mean, rtol=0, atol=2e-6)
    np.testing.assert_allclose(np.sqrt(found.var()["e"]), sd, rtol=2e-6)
    draws = found.sample(4000, 1)
    np.testing.assert_allclose(draws["e"].sum(-1), 0, atol=1e-12)
    assert (np.abs(draws["e"].mean(0) - mean) < 4.5 * sd / math.sqrt(4000)).all()
    assert np.isfinite(found.log_density(draws)).all()


@pytest.mark.slow
def test_what_is_not_normal_remains_as_it_was():
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", sigma=1, shape=3)
        f = pm.ZeroSumNormal("f", sigma=1, shape=4)
        pm.Poisson("n", pm.math.exp(e[B]), observed=np.arange(N) % 3)
        pm.Normal("y", f[A] + e[B], 1, observed=Y)
    part = bm.exact(model, partial=True, rng=1)
    assert part.integrated == ("f",)
    assert part.model["e"].owner.op.name == "ZeroSumNormal"
    assert "e is not a normal law's" in part.explain()
    found = part.conditional({"e": np.array([0.3, 0.1, -0.4])})["f"]
    _, mean, cov = dense(LETTERS, centring(4), y=Y - np.array([0.3, 0.1, -0.4])[B])
    np.testing.assert_allclose(found["mean"], mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["sd"], np.sqrt(np.diag(cov)), rtol=1e-10)


@pytest.mark.slow
def test_a_start_that_is_given_is_kept():
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", sigma=1, shape=4, initval=np.array([3.0, -1, -1, -1]))
        x = pm.Normal("x", 0, 1, initval=40.0)
        pm.Potential("far", pm.math.switch(x > 30, 0.0, -np.inf))
        pm.Normal("y", e[A], 1, observed=Y)
    assert bm.exact(model, partial=True, rng=1).integrated == ("e",)


@pytest.mark.slow
def test_new_data_have_draws_under_the_same_name():
    data = NewData(one_factor())
    draws = posterior(data, "exact", np.random.default_rng(1)).given(np.random.default_rng(2))
    found = draws(100, np.random.default_rng(3))["e"]
    assert found.shape == (100, 4)
    np.testing.assert_allclose(found.sum(-1), 0, atol=1e-12)


@pytest.mark.slow
def test_a_wrong_sigma_is_told():
    found, slip = bm.exact(one_factor(), rng=1), bm.exact(one_factor(0.5), rng=1)
    assert bm.compare(found, found.to_datatree(1000, rng=2)).outcome == "agree"
    assert bm.compare(found, slip.to_datatree(1000, rng=2)).outcome == "disagree"
    assert bm.same(one_factor(), one_factor()).outcome == "agree"
    assert bm.same(one_factor(), one_factor(1.0001)).outcome == "disagree"


def test_an_element_alone_is_refused():
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", sigma=1, shape=1)
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu + e[0], 1, observed=Y)
    with pytest.raises(bm.NotConjugate, match="e lives on a space of its own"):
        bm.exact(model, rng=1)


@pytest.mark.slow
def test_draws_of_a_sampler_agree():
    """A Gamma law keeps the scale from the neck of the funnel, where NUTS seldom comes."""

    def gamma():
        return pm.Gamma("tau", 5, 10)

    model = unknown_scales(gamma)
    with model:
        draws = pm.sample(
            2000, tune=2000, chains=4, random_seed=1, target_accept=0.99, progressbar=False
        )
    found = bm.compare(bm.integrate(model, rng=1), draws)
    assert found.outcome != "disagree", found.sentences()[0]
    slip = bm.integrate(unknown_scales(gamma, times=2), rng=1)
    assert bm.compare(slip, draws).outcome == "disagree"


@pytest.mark.slow
def test_the_referee_agrees():
    assert bm.validate(one_factor(), rng=1).outcome == "agree"
