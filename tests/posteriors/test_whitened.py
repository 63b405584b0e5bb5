"""Latent fields under any likelihood, whitened by their tops: against points weighted by hand."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import special, stats

import bayesmodels as bm
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.whitened import Whitened

pytestmark = pytest.mark.usefixtures("slow_clock")
PLACES = np.linspace(0, 1, 10)
COUNTS = np.random.default_rng(1).poisson(np.exp(1 + np.sin(6 * PLACES)))
SQUARES = (PLACES[:, None] - PLACES) ** 2


def process(*, centred: bool) -> pm.Model:
    with pm.Model() as model:
        length, scale = pm.LogNormal("length", -1, 0.5), pm.HalfNormal("scale")
        cov = scale**2 * (pt.exp(-SQUARES / (2 * length**2)) + 1e-4 * pt.eye(10))
        if centred:
            f = pm.MvNormal("f", 0, cov)
        else:
            z = pm.Normal("z", shape=10)
            f = pm.Deterministic("f", pt.linalg.cholesky(cov) @ z)
        pm.Poisson("y", pt.exp(1 + f), observed=COUNTS)
    return model


def by_hand(number: int = 400_000) -> tuple[float, float, np.ndarray]:
    """Return log evidence, its error, and the means of f: draws of the prior, weighted."""
    rng = np.random.default_rng(7)
    length = np.exp(-1 + 0.5 * rng.normal(size=number))
    scale = abs(rng.normal(size=number))
    total, means, squares = 0.0, np.zeros(10), 0.0
    for piece in np.array_split(np.arange(number), 40):
        cov = np.exp(-SQUARES / (2 * length[piece, None, None] ** 2)) + 1e-4 * np.eye(10)
        z = rng.normal(size=(len(piece), 10))
        f = scale[piece, None] * np.einsum("nij,nj->ni", np.linalg.cholesky(cov), z)
        weight = np.exp(stats.poisson.logpmf(COUNTS, np.exp(1 + f)).sum(1))
        total, squares = total + weight.sum(), squares + (weight**2).sum()
        means += weight @ f
    return np.log(total / number), np.sqrt(squares) / total, means / total


@pytest.mark.slow
def test_a_process_under_counts():
    log_evidence, error, means = by_hand()
    centred = bm.integrate(process(centred=True), rng=1)
    known = centred.errors
    assert abs(centred.log_evidence - log_evidence) < 3 * np.hypot(error, known["log_evidence"])
    off = 4 * error * np.sqrt(centred.var()["f"]) + 3 * known["mean"]["f"]
    assert (abs(centred.mean()["f"] - means) < off).all()
    assert "f whitened by the top given length and scale" in centred.explain()
    draws = centred.sample(4000, rng=4)
    mean, sd = centred.mean(), {name: np.sqrt(v) for name, v in centred.var().items()}
    for name, x in draws.items():
        assert (abs(x.mean(0) - mean[name]) < 4 * sd[name] / np.sqrt(4000)).all()
    low, high = centred.interval(0.8)["f"]
    inside = ((draws["f"] > low) & (draws["f"] < high)).mean(0)
    assert (abs(inside - 0.8) < 4 * np.sqrt(0.16 / 4000)).all()
    assert np.isfinite(centred.log_density(draws)).all()
    assert len(centred.leave_one_out(rng=5)) == len(COUNTS)
    assert centred.to_datatree(draws=50, rng=6)["posterior"]["f"].shape[-1] == len(COUNTS)


def test_numbers_stay_with_their_variables():
    """What is standardized is written anew, and variables may then stand in another order."""
    with pm.Model() as model:
        slope, scale = pm.Normal("slope"), pm.HalfNormal("scale")
        each = pm.Deterministic("each", scale * pm.Normal("z", 0, 1, shape=10))
        pm.Poisson("y", pt.exp(1 + slope * PLACES + each), observed=COUNTS)
    white = Whitened(BatchDensity(ModelDensity(model)), np.random.default_rng(1))
    assert white.density.names != white.natural.names
    result = white.integrated(0.05, 50.0, np.random.default_rng(2), None)
    np.testing.assert_allclose(result.numbers, white.natural(result.x)[1], rtol=1e-12)
    assert (result.numbers[:, white.natural.slices["scale"]] > 0).all()
    drawn = white.natural(result.draws(1000, np.random.default_rng(3)))[1]
    off = np.hypot(drawn.std(0) / np.sqrt(1000), result.mean_error * result.unit)
    assert (abs(drawn.mean(0) - result.mean) < 4.5 * off).all()


@pytest.mark.slow
def test_written_without_a_centre_it_is_the_same():
    log_evidence, error, means = by_hand()
    other = bm.integrate(process(centred=False), rng=2)
    off = 3 * np.hypot(error, other.log_evidence_error)
    assert abs(other.log_evidence - log_evidence) < off
    known = other.deterministics()["f"]
    off = known.sd * np.hypot(4 * error, 4 / np.sqrt(1000))
    assert (abs(known.mean - means) < off).all()


@pytest.mark.slow
def test_slopes_by_group_against_nodes():
    """Two effects a group, added up over a grid for each group: by hand given the scales."""
    rng = np.random.default_rng(5)
    group, x = np.repeat(np.arange(4), 12), rng.normal(size=48)
    y = rng.random(48) < special.expit(rng.normal(size=4)[group] + x)
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1, shape=2)
        base, slope = (
            pm.Normal("base", 0, sigma[0], shape=4),
            pm.Normal("slope", 0, sigma[1], shape=4),
        )
        pm.Bernoulli("y", logit_p=base[group] + slope[group] * x, observed=y.astype(int))
    posterior = bm.integrate(model, rng=1)
    z = np.linspace(-6, 6, 49)
    weight = np.log(z[1] - z[0]) + stats.norm.logpdf(z)
    # The trapezoidal rule in sqrt of the scales, which go to zero with all slopes.
    u = np.linspace(0, 2.2, 45)[1:]
    logs = np.empty((len(u), len(u)))
    for i, one in enumerate(u**2):
        for j, two in enumerate(u**2):
            total = stats.halfnorm.logpdf(one) + stats.halfnorm.logpdf(two)
            for g in range(4):
                eta = one * z[:, None, None] + two * z[:, None] * x[group == g]
                each = -np.logaddexp(0, np.where(y[group == g], -eta, eta)).sum(-1)
                total += special.logsumexp(each + weight[:, None] + weight)
            logs[i, j] = total + np.log(4 * u[i] * u[j])
    expected = special.logsumexp(logs) + 2 * np.log(u[1] - u[0])
    assert abs(posterior.log_evidence - expected) < 3 * posterior.log_evidence_error + 1e-3
