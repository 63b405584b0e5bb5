"""Down the ladder of posteriors: a closed form, an integral, a sampler; each says which it is."""

import logging

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.posteriors.ladder import solved
from tests.posteriors.integrated.sampled import FEW, LEVEL, SLIPS, from_nuts
from tests.posteriors.integrated.table import ROWS

DATA = [2.1, 0.3, 1.7, -0.4, 1.2, 0.8]


def opened(fill):
    def build():
        with pm.Model(coords={"unit": list("abc")}) as model:
            fill()
        return model

    return build


@opened
def rate():
    x = pm.Gamma("x", 2, 1)
    pm.Poisson("y", x, observed=[3, 5, 4])


@opened
def hidden():
    k = pm.Bernoulli("k", 0.3)
    x = pm.Beta("x", 2, 1 + k)
    pm.Binomial("y", 9, x, observed=4)


@opened
def bounded():
    x = pm.TruncatedNormal("x", 0.5, 0.2, lower=0, upper=1)
    pm.Deterministic("odds", x / (1 - x))
    pm.Bernoulli("y", x, observed=[1, 0, 1, 1])


@opened
def half_conjugate():
    """Declare a block of three beside two scalars; the scale's prior is conjugate to nothing."""
    s = pm.Exponential("s", 1)
    m = pm.StudentT("m", 4, mu=0, sigma=2)
    x = pm.Normal("x", m, 1, dims="unit")
    pm.Normal("y", x[np.arange(6) // 2], s, observed=DATA)


@opened
def switched():
    k = pm.Bernoulli("k", 0.4)
    x = pm.LogNormal("x", 0, [0.3, 0.5], shape=2)
    pm.Poisson("y", x[k], observed=[2, 1])


@opened
def improper():
    x = pm.Flat("x")
    s = pm.LogNormal("s", 0, 0.5)
    pm.Normal("y", x, s, observed=DATA)


@opened
def too_many():
    x = pm.TruncatedNormal("x", 0.5, 0.2, lower=0, upper=1, shape=61)
    pm.Binomial("y", 5, x.mean(), observed=3)


@opened
def without_mass():
    """Nothing holds x where it is large."""
    x = pm.HalfFlat("x")
    pm.Normal("y", pm.math.tanh(x), 1, observed=0.5)


TABLE = {
    "exact": (rate, hidden),
    "integrated": (bounded, half_conjugate, switched, improper),
    "pymc": (too_many, without_mass),
}
QUICK = (rate, bounded, too_many)
EVERY = [
    pytest.param(build, rung, marks=[] if build in QUICK else pytest.mark.slow, id=f"{rung}-{i}")
    for rung, builders in TABLE.items()
    for i, build in enumerate(builders)
]
SOLVED = [each for each in EVERY if each.values[1] != "pymc"]


@pytest.fixture
def asked(monkeypatch):
    """Let prior draws stand in for PyMC's sampler; return what it was asked for."""
    given = []

    def pm_sample(draws, *, model, **options):
        given.append(options)
        values = {rv.name: np.full((2, draws, *rv.shape.eval()), 0.5) for rv in model.free_RVs}
        return pm.to_inference_data(prior=values, model=model).assign(
            {"posterior": pm.to_inference_data(prior=values, model=model)["prior"]}
        )

    monkeypatch.setattr(pm, "sample", pm_sample)
    return given


@pytest.mark.parametrize(("build", "rung"), EVERY)
def test_draws_say_how_they_were_made_and_why(build, rung, asked, caplog):
    with caplog.at_level(logging.INFO, "bayesmodels"):
        tree = bm.sample(build(), 200, chains=2, rng=1)
    assert tree.attrs["sampler"] == rung
    assert len(asked) == (rung == "pymc")
    assert ("reason" in tree.attrs) == (rung != "exact")
    assert len(caplog.records) == (rung != "exact")
    assert tree.attrs.get("reason", "") in caplog.text
    assert ("verified" in tree.attrs) == (rung == "exact")
    proper = build is not improper
    assert ("log_evidence" in tree.attrs) == (proper and rung != "pymc")
    assert ("log_evidence_error" in tree.attrs) == (proper and rung == "integrated")
    if rung != "pymc":
        assert set(tree.children) == {"posterior", "sample_stats", "observed_data"}
        assert np.isfinite(tree.sample_stats["lp"]).all()


@pytest.mark.parametrize(("build", "rung"), SOLVED)
def test_what_is_solved_is_read_in_one_way(build, rung):
    model = build()
    found, reason = solved(model, np.random.default_rng(1))
    assert bool(reason) == (rung == "integrated")
    means, variances, laws = found.mean(), found.var(), found.numbers()
    for name, (low, high) in found.interval().items():
        assert (np.asarray(low) <= high).all()
        np.testing.assert_allclose(laws[name].mean(), means[name], rtol=1e-7)
        np.testing.assert_allclose(laws[name].std() ** 2, variances[name], rtol=1e-6)
    rows = found.summary().index  # Deterministics come last
    assert len(rows) == sum(np.size(x) for x in means.values()) + len(model.deterministics)
    tree = found.to_datatree(2000, rng=2)
    free = [rv.name for rv in model.free_RVs]
    assert set(tree.posterior.data_vars) == {*free, *(rv.name for rv in model.deterministics)}
    assert bm.compare(found, tree).outcome == "agree"
    assert found.explain().endswith(".")
    if build is improper:
        with pytest.raises(bm.PriorError, match="x is improper"):
            _ = found.log_evidence
    else:
        assert np.isfinite(found.log_evidence)


@pytest.mark.slow
@pytest.mark.parametrize("build", [bounded, switched])
def test_a_model_is_as_good_as_its_posterior(build):
    model = build()
    tree = bm.sample(model, rng=1)
    verdict = bm.compare(model, tree)
    assert verdict.outcome == "agree"
    assert "agree with the integrated law" in verdict.sentences()[0]
    bm.testing.assert_posterior(model, tree, rng=1)
    wrong = tree.copy()
    wrong["posterior"] = tree.posterior.to_dataset().assign(x=tree.posterior["x"] ** 1.1)
    assert "do not come from the integrated law" in bm.compare(model, wrong).sentences()[0]


@pytest.mark.slow
def test_errors_of_the_law_are_reckoned_with():
    """What is off by no more than the law itself may be is no evidence against draws."""
    law = bm.integrate(bounded(), rng=1)
    assert law.reference > 1e11
    tree = law.to_datatree(2000, rng=1)
    x = tree.posterior.to_dataset()
    tree["posterior"] = x.assign(x=x["x"] + 0.1 * law.var()["x"] ** 0.5 * (1 - x["x"]))
    assert bm.compare(law, tree).outcome == "disagree"
    vars(law)["reference"] = 400.0  # as many draws: a twentieth of a standard deviation
    assert bm.compare(law, tree).outcome != "disagree"


@pytest.mark.slow
def test_sums_of_many_parts_are_integrated_out():
    """PyTensor's loops take at most 32 operands; some rewrites make larger sums."""
    with pm.Model() as model:
        s = pm.Uniform("s", 0.1, 20)
        x = pm.Normal("x", 0, 10)
        for i in range(22):
            rv = pm.Normal(f"y_{i}", x, s, observed=0.1 * i)
            pm.Potential(f"half of {i}", -pm.logp(rv, 0.1 * i) / 2)
    found = bm.exact(model, partial=True, rng=1)
    assert (found.integrated, found.remaining) == (("x",), ("s",))


@pytest.mark.slow
@pytest.mark.parametrize("build", TABLE["pymc"])
def test_what_can_be_done_instead_is_said(build):
    model = build()
    for ask in (
        bm.validate,
        lambda model: bm.compare(model, {"x": np.zeros((4, 100, 61))}),
        lambda model: bm.testing.assert_posterior(model, {"x": np.zeros((4, 100, 61))}),
    ):
        with pytest.raises(bm.NotConjugate) as refused:
            ask(model)
        assert "It can't be integrated either: " in refused.value.reason
        assert "x" in refused.value.reason
        assert "bm.compare(draws, other_draws)" in refused.value.hint
        assert "bm.calibrate(model)" in refused.value.hint


# --- draws of other models disagree ---------------------------------------------------------------


def regression(rows=slice(None), prior=2.0, scale=1.0):
    x = np.linspace(-1, 2, 40)
    y = 1 + 0.5 * x + np.random.default_rng(4).standard_t(4, 40)
    with pm.Model() as model:
        s = pm.HalfNormal("s", prior)
        w = pm.Normal("w", 0, 5, shape=2)
        pm.Normal("y", w[0] + w[1] * x[rows], scale * s, observed=y[rows])
    return model


@pytest.fixture(scope="module")
def law():
    return bm.integrate(regression(), rng=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "outcome"),
    [
        ({}, "agree"),
        ({"scale": 1.1}, "disagree"),
        ({"prior": 0.5}, "disagree"),
        ({"rows": slice(20)}, "disagree"),
    ],
)
def test_draws_of_another_scale_prior_or_half_of_the_data_disagree(law, other, outcome):
    verdict = bm.compare(law, bm.sample(regression(**other), rng=2))
    assert verdict.outcome == outcome, verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_nuts_agrees_with_what_was_integrated_and_slips_do_not(name):
    build, rng = ROWS[name].build, np.random.default_rng(5)
    law = bm.integrate(build(), tolerance=1e-3, rng=rng)
    verdict, _ = from_nuts(build, law, rng)
    assert verdict.outcome == "agree", verdict
    for slip, make in SLIPS.items():
        wrong = bm.compare(law, make(build, law, rng), level=LEVEL)
        assert wrong.outcome == "disagree", (slip, wrong)


@pytest.mark.slow
def test_draws_that_are_outside_the_support_disagree():
    law = bm.integrate(bounded(), rng=1)
    assert law.marginals()["x"].cdf([-0.5, 1.5, np.nan]) == pytest.approx(
        [0, 1, np.nan], nan_ok=True
    )
    tree = law.to_datatree(500, 2, rng=1)
    assert bm.compare(law, tree).outcome == "agree"
    tree.posterior["x"] = tree.posterior["x"] - 0.5
    assert (tree.posterior["x"] < 0).any()
    assert bm.compare(law, tree).outcome == "disagree"
