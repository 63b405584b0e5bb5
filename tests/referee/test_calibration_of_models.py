"""Calibration of PyMC models: right ones of all rungs agree, wrong ones are found, by name.

The whole table of models at n = 1,000 is in tests/benchmarks/bench_calibration.py.
"""

import re

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.posteriors import ladder
from bayesmodels.posteriors.compiled_sampler import Anatomy
from bayesmodels.posteriors.exact import Search
from bayesmodels.posteriors.integrate import block, integrands, settled
from bayesmodels.posteriors.ladder import best_rung, posterior
from bayesmodels.posteriors.new_data import Forward, NewData
from bayesmodels.referee.sbc import Setup
from bayesmodels.referee.sbc_models import ModelSimulator
from tests.referee import calibration_models as models
from tests.referee.calibration_models import COUNTS, RIGHT, WRONG

CHEAP = {"unknown variance", "shares", "hypotheses", "flat prior, around the posterior"}
SAMPLED = {"eight schools, around the posterior", "slope of either sign", "robust line"}
FOUND = {"normal for Student-t", "rate for scale", "half of a level", "tosses that stick"}


def named(cases, names):
    found = [case for case in cases if case.name in names]
    assert len(found) == len(names)
    return [pytest.param(case, id=case.name) for case in found]


@pytest.mark.slow
@pytest.mark.parametrize("case", named(RIGHT, CHEAP | SAMPLED))
def test_right_models_agree(case):
    # A false alarm in one case in 2,000 at this level; the seed is fixed.
    with models.data_shared():
        model, settings = case.model(), case.settings()
    found = bm.calibrate(model, n=100, level=5e-4, rng=2, **settings)
    assert (found.outcome, found.method) == ("agree", case.rung), found.findings


@pytest.mark.slow
@pytest.mark.parametrize("case", named(WRONG, FOUND))
def test_wrong_models_are_found(case):
    with models.data_shared():
        model, settings = case.model(), case.settings()
    found = bm.calibrate(model, n=400, rng=2, **settings)
    assert (found.outcome, found.method) == ("disagree", "exact")
    assert "The closed form is verified, so what simulates" in found.sentences()[0]


def test_every_kind_of_mistake_and_every_rung_is_in_the_table():
    kinds = [case.kind for case in WRONG]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("likelihood", "prior", "half data", "simulator"), 5
    )
    assert len(RIGHT) == 20
    assert {case.rung for case in RIGHT} == {case.rung for case in WRONG}


# --- one compiled model for all data --------------------------------------------------------------


def anatomy(case):
    """Return all that ranks are computed from, but names of dims and bits of whole numbers."""
    model, beside = case.model(), case.settings().get("around") == "posterior"
    data = NewData(model, beside=beside)
    found = Anatomy.of(data.model)
    constants = [np.asarray(c.data).tolist() for c in found.constants if c.data is not None]
    form = re.sub(r"dims=\(.*?\)", "", found.form).replace("int32", "int64")
    return form, constants, data.observed


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=lambda case: case.name)
def test_what_is_simulated_and_solved_does_not_hang_on_how_data_are_given(case):
    plain = anatomy(case)
    with models.data_shared():
        shared = anatomy(case)
    np.testing.assert_equal(shared, plain)


@pytest.mark.slow
def test_ranks_are_those_of_plain_arrays():
    plain = bm.calibrate(models.level(), n=100, draws=20, rng=1)
    with models.data_shared():
        shared = models.level()
    found = bm.calibrate(shared, n=100, draws=20, rng=1)
    assert found.outcome == "agree"
    np.testing.assert_allclose(found.u, plain.u, rtol=1e-6)


def law_of(data, weight=1.0):
    """Return the parameters of the one law of a model's posterior."""
    data.hold(data.observed if weight == 0 else {"y": COUNTS + 1}, weight)
    (law,) = Search(data.model).proposed(np.random.default_rng(1)).factors
    return np.ravel(law.parameters)


@pytest.mark.slow
def test_the_posterior_follows_the_data_that_are_held():
    rows = len(COUNTS)
    alone = [2 + COUNTS.sum() + rows, 1 + rows]
    np.testing.assert_allclose(law_of(NewData(models.visits())), alone, rtol=1e-9)
    beside = NewData(models.visits(), beside=True)
    np.testing.assert_allclose(
        law_of(beside), [2 + 2 * COUNTS.sum() + rows, 1 + 2 * rows], rtol=1e-9
    )
    np.testing.assert_allclose(law_of(beside, 0.0), [2 + COUNTS.sum(), 1 + rows], rtol=1e-9)


def test_one_search_follows_data_that_change():
    data = NewData(models.visits())
    search = Search(data.model)
    for more in (0, 3):
        data.hold({"y": COUNTS + more})
        (law,) = search.proposed(np.random.default_rng(1)).factors
        shape = 2 + (COUNTS + more).sum()
        np.testing.assert_allclose(np.ravel(law.parameters), [shape, 13], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rung", ["partial", "integrated"])
def test_draws_follow_data_that_change(rung):
    data, rng = NewData(models.unknown_noise()), np.random.default_rng(1)
    sampler = posterior(data, rung, rng)
    for centre in (-3, 3):
        data.hold({"y": np.linspace(centre - 0.1, centre + 0.1, len(COUNTS))})
        drawn = sampler.given(rng)(200, rng)
        assert drawn["mu"].mean() == pytest.approx(centre, abs=0.1)
        assert 0.03 < drawn["noise"].mean() < 0.15


@pytest.mark.slow
def test_data_for_which_the_integral_does_not_settle_are_left_to_the_sampler(monkeypatch):
    def unsettled(*_, **__):
        raise bm.NotConjugate("it has not settled.")

    monkeypatch.setattr(ladder, "settled", unsettled)
    monkeypatch.setattr(ladder, "_sampled", lambda *_: lambda _: "a chain")
    rng = np.random.default_rng(1)
    assert posterior(NewData(models.logistic()), "integrated", rng).given(rng) == "a chain"
    with pytest.raises(bm.NotConjugate, match="not settled"):  # no sampler draws signs
        posterior(NewData(models.slope_of_either_sign()), "integrated", rng).given(rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build", [models.unknown_noise, models.logistic, models.slope_of_either_sign]
)
def test_one_compiled_integrand_follows_data_that_change(build):
    data, rng = NewData(build()), np.random.default_rng(1)
    own = integrands(block(data.model, 50, rng), rng)
    for step in (1, 2):
        data.hold({"y": np.roll(data.observed["y"], step) ** step})
        (_, found), anew = settled(own, 1e-6, 50, rng), bm.integrate(data.model, rng=rng)
        assert found.log_total == pytest.approx(anew.log_evidence, abs=2e-6)


@pytest.mark.parametrize("beside", [False, True])
def test_log_densities_are_those_of_the_data_that_are_held(beside):
    data, rate, new = NewData(models.visits(), beside=beside), np.array([0.5, 2.0, 7.0]), COUNTS + 2
    run = data.log_densities()
    data.hold({"y": new})
    total, likelihood = run({"rate": rate})
    of_new = stats.poisson.logpmf(new, rate[:, None]).sum(-1)
    old = stats.poisson.logpmf(COUNTS, rate[:, None]).sum(-1) if beside else 0
    np.testing.assert_allclose(likelihood, of_new, rtol=1e-12)
    np.testing.assert_allclose(total, of_new + old + stats.gamma.logpdf(rate, 2), rtol=1e-12)


def test_new_data_of_a_variable_that_another_one_needs_replace_it_in_both():
    with pm.Model() as walk:
        mu = pm.Normal("mu")
        first = pm.Normal("first", mu, observed=1.0)
        pm.Normal("second", first + mu, observed=2.0)
    data = NewData(walk, beside=True)
    run = data.log_densities()
    data.hold({"first": np.array(5.0), "second": np.array(7.0)})
    expected = stats.norm.logpdf(5, 0.5) + stats.norm.logpdf(7, 5.5)
    np.testing.assert_allclose(run({"mu": np.array([0.5])})[1], [expected], rtol=1e-12)


def test_forward_draws_hang_on_their_generator_alone():
    forward = Forward(models.visits(), ["rate", "y"])
    one, _, again = (forward(np.random.default_rng(seed)) for seed in (1, 2, 1))
    assert one["rate"] == again["rate"]
    assert (one["y"] == again["y"]).all()
    given = Forward(models.visits(), ["y"], ["rate"])(np.random.default_rng(1), {"rate": 1e6})
    assert (np.abs(given["y"] - 1e6) < 1e4).all()


def test_laws_of_scipy_are_drawn_from_after_other_graphs_have_used_their_constants():
    data = NewData(models.heavy_level(), beside=True)
    forward = Forward(data.model, ["y"], ["mu"])
    data.log_densities()
    assert forward(np.random.default_rng(1), {"mu": 0.0})["y"].shape == COUNTS.shape


def test_a_model_has_the_same_digest_every_time():
    one, two = (Anatomy.of(NewData(models.visits()).model).digest() for _ in range(2))
    assert one == two != Anatomy.of(NewData(models.visits(3)).model).digest()


@pytest.mark.slow
def test_ways_to_the_posterior_are_tried_in_order():
    rng = np.random.default_rng(1)
    assert best_rung(models.coin(), None, rng) == "exact"
    assert best_rung(models.unknown_noise(), None, rng) == "partial"
    assert best_rung(models.logistic(), None, rng) == "integrated"
    assert best_rung(models.slope_of_either_sign(), "integrated", rng) == "integrated"
    assert best_rung(models.many_slopes(), None, rng) == "mcmc"
    assert best_rung(models.coin(), "mcmc", rng) == "mcmc"


# --- what is told ---------------------------------------------------------------------------------


def labels_of(model):
    return ModelSimulator(Setup(model, None, None, "exact", 100, (1,))).labels


def test_quantities_have_the_labels_of_the_model_in_its_order():
    with pm.Model(coords={"town": ["Ulm", "Bonn"]}) as model:
        rate = pm.Gamma("rate", 2, 1, dims="town")
        share = pm.Beta("share", 1, 1)
        pm.Poisson("visits", rate, observed=[3, 5])
        pm.Bernoulli("came", share, observed=[1, 0, 1])
        pm.Deterministic("twice", 2 * rate)
    assert labels_of(model) == [
        "rate[Ulm]",
        "rate[Bonn]",
        "share",
        "log density",
        "log likelihood",
    ]


@pytest.mark.slow
def test_copies_in_a_symmetric_matrix_are_one_quantity():
    with pm.Model() as model:
        precision = pm.Wishart("precision", nu=5, V=np.eye(2))
        pm.MvNormal("y", np.zeros(2), tau=precision, observed=np.ones((4, 2)))
    assert [label for label in labels_of(model) if label.startswith("precision")] == [
        "precision[0, 0]",
        "precision[0, 1]",
        "precision[1, 1]",
    ]


@pytest.mark.slow
def test_calibration_goes_on_where_it_was_stopped_and_other_models_are_refused(tmp_path):
    settings = {"rng": 8, "draws": 20, "checkpoint": tmp_path / "visits.json"}
    some = bm.calibrate(models.visits(), n=100, **settings)
    told = []
    more = bm.calibrate(models.visits(), n=120, progress=told.append, **settings)
    assert told == ["100 of 120 simulations"]
    assert more.u[:100].equals(some.u)
    for model, changed, words in (
        (models.visits(3), {}, "another declaration"),
        (models.visits(), {"around": "posterior"}, "another centre"),
        (models.visits(), {"simulate": models.capped}, "another design or simulator"),
    ):
        with pytest.raises(bm.DataError, match=words):
            bm.calibrate(model, n=100, **settings, **changed)


@pytest.mark.slow  # other processes import, and compile, everything anew
def test_ranks_do_not_depend_on_the_number_of_processes():
    settings = {"n": 110, "rng": 8, "draws": 20}
    one = bm.calibrate(models.unknown_noise(), **settings)
    two = bm.calibrate(models.unknown_noise(), **settings, cores=2)
    assert one.u.equals(two.u)


# --- what is refused ------------------------------------------------------------------------------


def with_potential():
    with models.level() as model:
        pm.Potential("soft", -(model["mu"] ** 2))
    return model


def with_gaps(law=pm.Normal, **scale):
    with pm.Model() as model:
        mu = pm.Normal("mu", shape=2)
        with pytest.warns(UserWarning, match="impute"):
            law("y", mu, **scale, observed=np.ma.masked_invalid([1.0, np.nan]))
    return model


def with_joint_gaps():
    return with_gaps(pm.MvNormal, cov=np.eye(2))


@models.modelled
def counted():
    k = pm.Poisson("k", pm.HalfNormal("rate", 3))
    pm.Normal("y", pm.math.exp(k / 3), 1, observed=1.0)


@models.modelled
def without_end():
    log_rate = pm.Normal("log_rate", 0, 100)
    pm.Poisson("y", pm.math.exp(log_rate), observed=[1, 2])


@models.modelled
def next_to_nothing():
    s = pm.InverseGamma("s", 0.001, 0.001)
    pm.Normal("y", 0, pm.math.sqrt(s), observed=[1.0, 2.0])


@models.modelled
def next_to_no_rate():
    rate = pm.Gamma("rate", 0.001, 0.001)
    pm.Normal("y", 0, tau=rate, observed=[1.0, 2.0])


def of_few_bits():
    return models.coin(64, 64)


@models.modelled
def around_its_mean():
    d = pm.Data("d", [1.0, 2.0])
    pm.Normal("y", pm.Normal("mu", d.mean(), 1), 1, observed=d)


@models.modelled
def lagged():
    d = pm.Data("d", [1.0, 2.0, 4.0])
    pm.Normal("y", pm.Normal("rho") * d[:-1], 1, observed=d[1:])


@models.modelled
def unseen():
    pm.Normal("mu")


@models.modelled
def fixed():
    pm.Normal("y", observed=1.0)


def no_numbers(parameters, rng):
    del parameters, rng
    return np.full(12, np.nan)


@pytest.mark.parametrize(
    ("build", "settings", "error", "words"),
    [
        (models.visits, {"design": [1]}, bm.DataError, "design: a PyMC model holds"),
        (models.visits, {"method": "nuts"}, bm.DataError, "method: must be"),
        (models.visits, {"around": "data"}, bm.DataError, "around: must be"),
        (models.flat_level, {}, bm.PriorError, "prior of mu is improper"),
        (with_potential, {}, bm.DataError, "potential soft.*around='posterior'"),
        (with_potential, {"simulate": no_numbers}, bm.DataError, "potential soft"),
        (with_joint_gaps, {"around": "posterior"}, bm.DataError, "gaps"),
        (without_end, {}, bm.DataError, "log_rate and y can't be drawn.*narrower prior"),
        (next_to_nothing, {}, bm.DataError, r"s can't be drawn.*around='posterior'"),
        (next_to_no_rate, {}, bm.DataError, r"rate was drawn as 0 .* y is no finite.*posterior'"),
        (of_few_bits, {}, bm.DataError, r"model: the density of theta .*64 [+] 64 .*64\.0"),
        (around_its_mean, {}, bm.DataError, r"d, as which y is observed.*of mu too.*d\.get_value"),
        (lagged, {}, bm.DataError, "d, as which y is observed, stands in the density of y too"),
        (models.visits, {"simulate": 3}, bm.DataError, "simulate: must be a function"),
        (unseen, {}, bm.DataError, "observe data"),
        (fixed, {}, bm.DataError, "have parameters"),
        (counted, {}, bm.DataError, "k must be continuous"),
        (models.logistic, {"method": "exact"}, bm.DataError, "'exact' does not work here"),
        (models.logistic, {"method": "partial"}, bm.DataError, "'partial' does not work here"),
        (models.visits, {"simulate": models.level()}, bm.DataError, "must have a variable 'rate'"),
        (
            models.visits,
            {"simulate": models.visits(), "around": "posterior"},
            bm.DataError,
            "simulate: around the posterior",
        ),
        (models.visits, {"simulate": lambda p, _: p["rate"]}, bm.DataError, r"of shape \(12,\)"),
        (models.visits, {"simulate": lambda *_: {"z": 1}}, bm.DataError, "'y' is not there"),
        (models.visits, {"simulate": lambda *_: COUNTS + 0.5}, bm.DataError, "whole numbers"),
        (models.level, {"simulate": no_numbers}, bm.DataError, "finite numbers"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_words(build, settings, error, words):
    with pytest.raises(error, match=words):
        bm.calibrate(build(), n=100, rng=1, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        around_its_mean,
        *(pytest.param(b, marks=pytest.mark.slow) for b in (next_to_nothing, lagged)),
    ],
)
def test_around_the_posterior_no_draw_of_the_prior_is_needed(build):
    found = bm.calibrate(build(), n=100, draws=20, rng=1, around="posterior")
    assert (found.outcome, found.method) == ("agree", "exact")


@models.modelled
def of_as_many_as_data():
    d = pm.Data("d", [1.0, 2.0], dims="row")
    mu = pm.Normal("mu", 0, 1, shape=d.shape[0])
    pm.Normal("y", mu, 1, observed=pm.math.log(d), dims="row")


@pytest.mark.slow
def test_shapes_of_data_may_stand_anywhere_and_data_may_be_observed_as_functions_of_them():
    assert bm.calibrate(of_as_many_as_data(), n=100, draws=20, rng=1).outcome == "agree"


def test_beliefs_are_calibrated_around_data_without_a_word_for_it():
    coin = bm.BetaBernoulli(2, 3)
    with pytest.raises(bm.DataError, match=r"around.*prior\.update"):
        bm.calibrate(coin, np.zeros(5), around="posterior")
    assert bm.calibrate(coin.update([1, 0, 1]), np.zeros(5), n=100, rng=1).outcome == "agree"


@pytest.mark.slow
@pytest.mark.parametrize("build", [with_gaps, with_joint_gaps])
def test_models_with_gaps_are_calibrated_around_the_prior(build):
    found = bm.calibrate(build(), n=100, draws=20, rng=1)
    assert found.outcome == "agree"
    assert "y_unobserved[0]" in found.table.index
