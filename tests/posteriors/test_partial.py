"""A conjugate block is integrated out: the density that remains, and the block's law given it."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import stats

import bayesmodels as bm
from tests.posteriors.check import log_joint

RNG = 20260512


def density(model):
    """Return the log density of a model in natural space."""
    return log_joint(lambda: model)


def agree(found, expected):
    """Two log densities are equal at each of several points, constants included."""
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-8)


def varying(*, centred=True):
    """Return a regression with coefficients that vary by group, its data, and its groups."""
    rng = np.random.default_rng(3)
    group = rng.integers(4, size=30)
    x, y = rng.normal(size=30), rng.normal(size=30) + group
    with pm.Model(coords={"group": list("abcd"), "part": ["level", "slope"]}) as model:
        mean = pm.Normal("mean", 1.0, 2.0, dims="part")
        spread = pm.HalfNormal("spread", 1.5, dims="part")
        noise = pm.Exponential("noise", 0.5)
        if centred:
            b = pm.Normal("b", mean, spread, dims=("group", "part"))
        else:
            z = pm.Normal("z", dims=("group", "part"))
            b = pm.Deterministic("b", mean + spread * z, dims=("group", "part"))
        pm.Normal("y", b[group, 0] + b[group, 1] * x, noise, observed=y)
    design = np.zeros((30, 4, 2))
    design[np.arange(30), group] = np.stack([np.ones(30), x], -1)
    return model, design, y


@pytest.mark.slow
@pytest.mark.parametrize("centred", [True, False], ids=["centred", "not centred"])
def test_coefficients_that_vary_by_group_and_their_means(centred):
    model, design, y = varying(centred=centred)
    partial = bm.exact(model, partial=True, rng=RNG)
    inner = "b" if centred else "z"
    assert set(partial.integrated) == {"mean", inner}
    assert partial.remaining == ("spread", "noise")
    assert partial.conjugate["mean"] == partial.conjugate[inner] == "Normal"
    assert partial.verified == "analytically"
    assert {rv.name for rv in partial.model.free_RVs} == {"spread", "noise"}
    assert partial.model.named_vars_to_dims["spread"] == ("part",)
    assert list(partial.model.coords["part"]) == ["level", "slope"]
    together = design.sum(1)
    rng, remains = np.random.default_rng(4), density(partial.model)
    spread, noise = rng.gamma(2, size=(5, 2)), rng.gamma(2, size=5)
    law = partial.conditional({"spread": spread, "noise": noise})
    draw = partial.draw({"spread": spread[0], "noise": noise[0]}, rng)
    assert draw["mean"].shape == (2,)
    assert draw[inner].shape == (4, 2)
    for i in range(5):
        by_group = np.einsum("ngp,mgp,p->nm", design, design, spread[i] ** 2)
        cov = 4.0 * together @ together.T + by_group + noise[i] ** 2 * np.eye(30)
        expected = stats.multivariate_normal.logpdf(y, together.sum(1), cov)
        expected += stats.halfnorm.logpdf(spread[i], scale=1.5).sum()
        expected += stats.expon.logpdf(noise[i], scale=2.0)
        agree(remains({"spread": spread[i], "noise": noise[i]}), expected)
        gain = 4.0 * together.T @ np.linalg.inv(cov)
        mean = 1 + gain @ (y - together.sum(1))
        sd = np.sqrt(np.diag(4.0 * np.eye(2) - 4.0 * gain @ together))
        assert law["mean"]["mean"][i] == pytest.approx(mean, rel=1e-9)
        assert law["mean"]["sd"][i] == pytest.approx(sd, rel=1e-9)


@pytest.mark.slow
def test_draws_given_the_rest_have_the_covariance_of_the_law():
    model, design, y = varying()
    partial = bm.exact(model, partial=True, rng=RNG)
    n = 4000
    rest = {"spread": np.tile([0.7, 1.3], (n, 1)), "noise": np.full(n, 0.8)}
    found = partial.draw(rest, np.random.default_rng(6))
    w = np.concatenate([found["mean"], found["b"].reshape(n, 8)], -1)
    # The joint precision of means and coefficients.
    each = np.tile(1 / np.array([0.7, 1.3]) ** 2, 4)
    flat, share = design.reshape(30, 8), -np.tile(np.diag(each[:2]), (4, 1))
    inner = flat.T @ flat / 0.8**2 + np.diag(each)
    precision = np.block([[np.eye(2) / 4 + 4 * np.diag(each[:2]), share.T], [share, inner]])
    right = np.concatenate([np.full(2, 0.25), flat.T @ y / 0.8**2])
    root = np.linalg.cholesky(precision)
    z = (w - np.linalg.solve(precision, right)) @ root
    # Standard normal and independent, if all is well.
    assert np.abs(z.mean(0) * np.sqrt(n)).max() < 4.5
    off = (z.T @ z - n * np.eye(10)) / np.sqrt(n * (1 + np.eye(10)))
    assert np.abs(off).max() < 4.5


@pytest.mark.slow
def test_shares_rates_and_variances_beside_each_other():
    counts, visits = np.array([3, 5, 0]), np.array([4, 7, 1, 2])
    with pm.Model() as model:
        a = pm.HalfNormal("a", 2.0)
        share = pm.Beta("share", a, 2.0, shape=3)
        rate = pm.Gamma("rate", 2.0, a, shape=2)
        parts = pm.Dirichlet("parts", pt.stack([a, 2.0 * a, 1.0]))
        square = pm.InverseGamma("square", 3.0, a)
        pm.Binomial("counts", 6, share, observed=counts)
        pm.Poisson("visits", rate[np.array([0, 0, 1, 1])], observed=visits)
        pm.Multinomial("kinds", 9, parts, observed=[4, 3, 2])
        pm.Normal("y", 0.0, pt.sqrt(square), observed=[1.0, -2.0])
    partial = bm.exact(model, partial=True, rng=RNG)
    assert partial.remaining == ("a",)
    families = {"share": "Beta", "rate": "Gamma", "parts": "Dirichlet", "square": "InverseGamma"}
    assert partial.conjugate == families
    remains = density(partial.model)
    at = np.array([0.3, 1.7, 4.0])
    law = partial.conditional({"a": at})
    for i, a in enumerate(at):
        expected = stats.halfnorm.logpdf(a, scale=2.0)
        expected += stats.betabinom.logpmf(counts, 6, a, 2.0).sum()
        expected += stats.dirichlet_multinomial.logpmf([4, 3, 2], [a, 2 * a, 1], 9)
        for pair in (visits[:2], visits[2:]):
            known = stats.poisson.logpmf(pair, 1.0).sum() + stats.gamma.logpdf(
                1.0, 2.0, scale=1 / a
            )
            expected += known - stats.gamma.logpdf(1.0, 2 + pair.sum(), scale=1 / (a + 2))
        known = stats.norm.logpdf([1.0, -2.0]).sum() + stats.invgamma.logpdf(1.0, 3.0, scale=a)
        expected += known - stats.invgamma.logpdf(1.0, 4.0, scale=a + 2.5)
        agree(remains({"a": a}), expected)
        assert law["share"]["alpha"][i] == pytest.approx(a + counts)
        assert law["share"]["beta"][i] == pytest.approx(8 - counts)
        assert law["parts"]["alpha"][i] == pytest.approx([a + 4, 2 * a + 3, 3])
        assert law["rate"]["shape"][i] == pytest.approx([13, 5])
        assert law["rate"]["rate"][i] == pytest.approx(a + 2)
        assert law["square"]["shape"][i] == pytest.approx(4)
        assert law["square"]["scale"][i] == pytest.approx(a + 2.5)
    draw = partial.draw({"a": np.tile(at, 2000)}, np.random.default_rng(5))
    exact = stats.beta((at + 3)[:, None], 5.0).mean()[:, 0]
    sd = stats.beta(at + 3, 5.0).std() / np.sqrt(2000)
    assert np.abs((draw["share"][:, 0].reshape(2000, 3).mean(0) - exact) / sd).max() < 4
    assert draw["parts"].sum(-1) == pytest.approx(1)


@pytest.mark.slow
def test_a_prior_that_depends_on_the_block_moves_into_the_potential():
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 3.0)
        logs = pm.Normal("logs", mean, 0.5, shape=3)
        pm.Poisson("y", pt.exp(logs), observed=[2, 0, 5])
    partial = bm.exact(model, partial=True, rng=RNG)
    assert (partial.integrated, partial.remaining) == (("mean",), ("logs",))
    logs = np.array([0.4, -0.7, 1.5])
    cov = 9.0 + 0.25 * np.eye(3)
    expected = stats.multivariate_normal.logpdf(logs, np.zeros(3), cov)
    expected += stats.poisson.logpmf([2, 0, 5], np.exp(logs)).sum()
    agree(density(partial.model)({"logs": logs}), expected)
    law = partial.conditional({"logs": logs})["mean"]
    assert law["mean"] == pytest.approx(logs.sum() / 0.25 / (3 / 0.25 + 1 / 9))
    assert law["sd"] == pytest.approx((3 / 0.25 + 1 / 9) ** -0.5)


@pytest.mark.slow
def test_a_scale_on_an_interval_and_data_far_away_do_no_harm():
    y = 1e6 + np.array([0.5, -1.0, 2.0, 0.1])
    with pm.Model() as model:
        level = pm.Normal("level", 0.0, 1e7)
        noise = pm.Uniform("noise", 0.1, 10.0)
        pm.Normal("y", level, noise, observed=y)
    partial = bm.exact(model, partial=True, rng=RNG)
    assert partial.integrated == ("level",)
    gaps = np.array([0.5, -1.0, 2.0, 0.1])
    inner = ((gaps - gaps.mean()) ** 2).sum()
    for noise in (0.2, 1.0, 9.0):
        # The law of the mean times that of the deviations from it.
        expected = stats.norm.logpdf(1e6 + gaps.mean(), scale=np.hypot(1e7, noise / 2))
        expected -= inner / (2 * noise**2) + 1.5 * np.log(2 * np.pi * noise**2) + np.log(4) / 2
        expected += stats.uniform.logpdf(noise, 0.1, 9.9)
        agree(density(partial.model)({"noise": noise}), expected)


@pytest.mark.slow
def test_of_two_normal_factors_one_is_integrated_out():
    with pm.Model() as model:
        left = pm.Normal("left", shape=4)
        right = pm.Normal("right")
        pm.Normal("y", left * right, 1.0, observed=[1.0, 2.0, -1.0, 0.5])
    partial = bm.exact(model, partial=True, rng=RNG)
    assert (partial.integrated, partial.remaining) == (("left",), ("right",))
    assert "right remains: right is not jointly normal with left" in partial.explain()
    expected = stats.norm.logpdf(0.3)
    expected += stats.norm.logpdf([1.0, 2.0, -1.0, 0.5], scale=np.sqrt(1.09)).sum()
    agree(density(partial.model)({"right": 0.3}), expected)


def test_nothing_is_conjugate():
    with pm.Model() as model:
        w = pm.Normal("w", shape=2)
        pm.Bernoulli("y", logit_p=w, observed=[0, 1])
    with pytest.raises(bm.NotConjugate, match="no variable is conjugate given the rest"):
        bm.exact(model, partial=True, rng=RNG)


def test_everything_is():
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, 1.0)
        pm.Poisson("y", rate, observed=[1, 2])
    with pytest.raises(bm.NotConjugate, match=r"bm.exact\(model\) gives the closed form"):
        bm.exact(model, partial=True, rng=RNG)


@pytest.mark.slow
def test_a_hard_constraint_inside_the_block_is_no_conjugate_law():
    with pm.Model() as model:
        level = pm.Normal("level")
        noise = pm.HalfNormal("noise")
        pm.Potential("above", pt.switch(level > -3.0, 0.0, -np.inf))
        pm.Normal("y", level, noise, observed=[0.3, 1.0])
    with pytest.raises(bm.NotConjugate):
        bm.exact(model, partial=True, rng=RNG)


@pytest.mark.slow
def test_values_of_the_rest_are_checked():
    model, _, _ = varying()
    partial = bm.exact(model, partial=True, rng=RNG)
    with pytest.raises(bm.DataError, match="must have 'noise'"):
        partial.draw({"spread": [1.0, 1.0]})
    with pytest.raises(bm.DataError, match="other axes"):
        partial.draw({"spread": [1.0, 1.0], "noise": [1.0, 1.0]})


@pytest.mark.slow
def test_sampling_gives_the_posterior_of_the_full_model():
    model, _, _ = varying(centred=False)
    partial = bm.exact(model, partial=True, rng=RNG)
    tree = partial.sample(2000, chains=4, rng=7, progressbar=False)
    named = [*model.free_RVs, *model.deterministics]
    assert set(tree.posterior) == {variable.name for variable in named}
    assert list(tree.observed_data) == ["y"]
    for name, dims in model.named_vars_to_dims.items():
        if name in tree.posterior:
            assert tree.posterior[name].dims == ("chain", "draw", *dims)
    assert list(tree.posterior["b"].coords["group"].values) == list("abcd")
    assert bm.compare(bm.integrate(model, tolerance=1e-3, rng=9), tree, rng=1).outcome == "agree"


@pytest.mark.slow
def test_a_scale_near_zero_gives_right_draws_or_a_named_error():
    """Precisions of groups and of their mean are then huge, and nearly the same."""
    rng = np.random.default_rng(1)
    school = np.repeat(np.arange(8), 12)
    score = rng.normal(50 + rng.normal(0, 4, 8)[school], 10)
    with pm.Model() as model:
        mean = pm.Normal("mean", 50, 20)
        between = pm.HalfNormal("between", 10)
        level = pm.Normal("level", mean, between, shape=8)
        pm.Normal("score", level[school], 10, observed=score)
    partial = bm.exact(model, partial=True)
    # All levels are the mean then, with a variance of 1 / (1 / 20² + 96 / 10²).
    sd = 1 / np.sqrt(1 / 20**2 + len(score) / 10**2)
    for scale in (1e-2, 1e-4):
        found = partial.draw({"between": np.full((1, 4000), scale)}, np.random.default_rng(2))
        assert np.std(found["mean"]) == pytest.approx(sd, rel=4 / np.sqrt(2 * 4000))
        assert np.std(found["level"]) == pytest.approx(sd, rel=4 / np.sqrt(2 * 4000))
    for scale in (1e-7, 1e-8, 1e-12):
        with pytest.raises(bm.DataError, match=r"rest: at 1 of 2 draws .*number 1\) some scale"):
            partial.draw({"between": np.array([[1.0, scale]])}, np.random.default_rng(2))
