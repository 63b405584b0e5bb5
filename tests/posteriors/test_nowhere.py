"""Densities that are no number, or not those that were written; priors that can't be drawn from."""

import warnings

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import bayesmodels as bm
from bayesmodels.posteriors import few_bits

Y = np.array([0.9, 0.3, 0.5, 1.1, 2.0])


def model_of(declare):
    with pm.Model() as model:
        declare()
    return model


# --- whole constants of few bits ------------------------------------------------------------------


def seen(mu, sigma=1.0):
    pm.Normal("y", mu, sigma, observed=[1.0, 2.0])


EIGHT_BITS = [
    (lambda: pm.Binomial("y", 100, pm.Beta("p", 64, 64), observed=40), "of p .*64 [+] 64 .*-128"),
    (lambda: seen(pm.Uniform("x", -100, 100)), "of x .*100 - -100 .*to -56.* Write 100.0 for 100"),
    (lambda: seen(pm.Normal("x", pt.as_tensor(12) ** 2, 1)), r"of x .*12\*\*2 .*-112"),
    (lambda: seen(pm.Normal("x"), pt.as_tensor(12) ** 2), r"of y .*12\*\*2 .*-112"),
    (
        lambda: seen(
            pm.Normal("x", shape=2),
            pt.as_tensor(np.array([1, 200], dtype="uint8")) * np.array([3, 2], dtype="uint8"),
        ),
        r"of y .*200 \* 2 .*to 144",
    ),
    (
        lambda: seen(pm.Normal("x") + pm.Potential("more", pt.as_tensor(100) * 3)),
        r"of (more|y) .*100 \* 3 .*to 44",
    ),
]


@pytest.mark.parametrize(("declare", "words"), EIGHT_BITS)
@pytest.mark.parametrize(
    "solve", [bm.exact, bm.integrate, lambda model, **_: bm.same(model, model)]
)
def test_a_sum_that_overflows_is_named(solve, declare, words):
    with pytest.raises(bm.NotConjugate, match=words) as raised:
        solve(model_of(declare), rng=1)
    assert "bits, where" in str(raised.value)


def test_floats_are_the_way_out():
    model = model_of(
        lambda: pm.Binomial("y", 100, pm.Beta("p", 64.0, 64.0), observed=40),
    )
    assert bm.exact(model, rng=1).mean()["p"] == pytest.approx(104 / 228)


@pytest.mark.parametrize(
    "build",
    [
        lambda: seen(pm.Uniform("x", -50, 50)),
        lambda: pm.Binomial("y", 100, pm.Beta("p", 64, 63), observed=40),
        lambda: seen(pt.cast(300, "int8") * pm.Normal("x")),
        lambda: seen(pm.Normal("x", np.array([100, 100], dtype="int8").sum(), 1)),
    ],
)
def test_what_fits_and_what_was_cast_by_the_user_passes(build):
    few_bits.require_enough(model := model_of(build))
    bm.integrate(model, rng=1)


def test_a_sampler_that_draws_from_another_density_than_was_written_is_spoken_of(monkeypatch):
    model = model_of(lambda: seen(pm.Normal("x", pt.as_tensor(12) ** 2, 1)))
    monkeypatch.setattr("bayesmodels.posteriors.sampling.sampled", lambda *_, **__: _Tree())
    with pytest.warns(bm.NumericsWarning, match="PyMC samples, but the density of x is not"):
        bm.sample(model, rng=1)


class _Tree:
    def __init__(self):
        self.attrs = {}


# --- where the density is no number ---------------------------------------------------------------


def with_observed_gap():
    before = model_of(lambda: pm.Normal("y", pm.Normal("mu"), 1, shape=4))
    return pm.observe(before, {"y": np.array([1.0, np.nan, 2.0, 3.5])})


NOWHERE = [
    (with_observed_gap, "the data of y hold NaN at place 1 .*observed="),
    (
        lambda: model_of(lambda: seen(pm.Normal("x") * pm.Data("dose", 3.0) * [1.0, np.nan])),
        "holds NaN at place 1 .*density of y is no number anywhere",
    ),
    (
        lambda: model_of(
            lambda: pm.Poisson("y", pm.Gamma("rate", 2, 1), observed=[1, 2, -1]),
        ),
        r"density of y\[2\] is -inf .*data that the model calls impossible",
    ),
    (
        lambda: model_of(lambda: seen(pm.Normal("x"), [0.0, 1.0])),
        r"density of y\[0\]|out of its range \(sigma > 0\)",
    ),
]


@pytest.mark.parametrize(("build", "words"), NOWHERE)
@pytest.mark.parametrize("solve", [bm.exact, bm.integrate])
def test_what_is_no_number_is_named_with_its_place(solve, build, words):
    with pytest.raises(bm.NotConjugate, match=words):
        solve(build(), rng=1)


# --- priors that can't be drawn from --------------------------------------------------------------


@pytest.mark.slow
def test_a_prior_that_cannot_be_drawn_from_is_integrated_and_compared():
    def declare():
        variance = pm.InverseGamma("variance", 0.001, 0.001)
        pm.Normal("y", 0, pm.math.sqrt(variance), observed=Y)

    model = model_of(declare)
    closed, integral = bm.exact(model, rng=1), bm.integrate(model, rng=1)
    assert integral.log_evidence == pytest.approx(closed.log_evidence, abs=2e-6)
    assert bm.same(model, model_of(declare), rng=1).outcome == "agree"
    assert bm.sample(model, 10, rng=1).attrs["sampler"] == "exact"


LAWS = {
    "a small shape": lambda: pm.Gamma("s", 1e-3, 1e-3),
    "half of its draws infinite": lambda: pm.InverseGamma("s", 1e-3, 1e-3, shape=()),
    "no mean": lambda: pm.Pareto("s", 1e-3, 0.01),
    "a mean that overflows": lambda: pm.Weibull("s", 1e-3, 1),
    "tails without an end": lambda: pm.HalfStudentT("s", nu=1e-3, sigma=1),
    "a narrow law": lambda: pm.Wald("s", mu=1, lam=1e-6),
    "small shapes of a small shape": lambda: pm.Gamma("s", pm.Gamma("shape", 1e-3, 1e-3), 1),
}


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=pytest.mark.slow if i % 2 else ())
        for i, (name, law) in enumerate(LAWS.items(), 1)
    ],
)
def test_scales_with_extreme_priors_are_integrated(law):
    model = model_of(lambda: pm.Normal("y", 0, law(), observed=Y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bm.NumericsWarning)
        found = bm.integrate(model, rng=1)
    assert np.isfinite(found.log_evidence)
