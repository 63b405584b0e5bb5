"""Reports of a user's own PyMC model; exact draws stand in for the sampler's where it is fast."""

import json
import re
from html import unescape

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

import bayesmodels as bm
from bayesmodels.report import Report, integration, model_validation, sections, tables
from bayesmodels.report.html import render
from tests.report.samples import (
    HOSTILE,
    coin_in_pymc,
    integrated_in_pymc,
    mixed_in_pymc,
    of_model,
    page,
)


def test_right_draws_agree_with_the_closed_form():
    found = of_model(coin_in_pymc)
    assert isinstance(found, Report)
    assert found.outcome == "agree"
    assert repr(found) == "Report('coin', 'agree')"
    head, _, proof, verdict = found.sentences()
    assert head == "The model has a closed form, and PyMC's draws agree with it."
    assert re.search(r"differ by one constant at \d+ points.* the same everywhere", proof)
    assert "standard errors" in verdict
    assert found.log_evidence == pytest.approx(np.log(2 / 35), abs=1e-12)


@pytest.mark.slow
def test_digits_lost_are_stated():
    assert tables.digits(of_model(coin_in_pymc).posterior) == [
        ("Digits lost of 16, by estimate", "less than one")
    ]
    assert "Digits lost of 16" in render(of_model(coin_in_pymc))
    assert (
        "mixture"
        in dict(tables.digits(of_model(mixed_in_pymc).posterior))["Digits lost of 16, by estimate"]
    )


def test_wrong_draws_and_too_few_are_told_apart():
    wrong = of_model(coin_in_pymc, shift=0.2)
    assert wrong.outcome == "disagree"
    assert wrong.sentences()[0].endswith("do not come from it: the sampler is to blame.")
    assert wrong.to_dict()["to_blame"] == ["the sampler"]
    few = of_model(coin_in_pymc, draws=14)
    assert few.outcome == "inconclusive"
    assert "is only known to within 0.1" in few.sentences()[-1]
    # The sampler ran once more, with ten times as many draws; that is as far as it goes.
    assert few.settings["draws a chain"] == 14
    assert few.settings["draws a chain, sampled again"] == 140
    assert few.sampled.posterior.sizes["draw"] == 140
    assert "draws=14," in sections.call("validate", ["model"], few.settings)
    assert "again" not in sections.call("validate", ["model"], few.settings)


def test_as_plain_values():
    found = json.loads(json.dumps(of_model(coin_in_pymc).to_dict()))
    assert found["outcome"] == "agree"
    assert found["verified"] == "analytically"
    assert found["families"] == {"coin::theta": "Beta"}
    assert "Beta law with alpha 5, beta 3" in found["explanation"]
    assert found["table"]["coin::theta"]["mean"] == pytest.approx(5 / 8)
    assert found["settings"]["seed"] == 3


def test_an_improper_prior_has_no_evidence_and_is_still_validated():
    def flat():
        with pm.Model() as model:
            mu = pm.Flat("mu")
            pm.Normal("y", mu, 1, observed=[0.5, 1.5])
        return model

    found = of_model(flat)
    assert found.outcome == "agree"
    assert found.log_evidence is None
    assert "Log evidence" not in dict(model_validation.evidence_of(found.posterior, None))
    assert found.to_dict()["log_evidence"] is None


def no_form():
    with pm.Model(name="log rate") as model:
        w = pm.Normal("w")
        pm.Poisson("n", pm.math.exp(w), observed=[3, 1])
    return model


@pytest.mark.slow
def test_without_a_closed_form_draws_agree_with_what_was_integrated():
    found = of_model(no_form)
    assert found.outcome == "agree"
    head, _, how, verdict = found.sentences()
    assert head == "The model was integrated numerically, and PyMC's draws agree with that."
    assert how == found.posterior.explain()
    assert verdict.startswith("The draws agree with the integrated law: ")
    values = json.loads(json.dumps(found.to_dict()))
    assert values["rung"] == "integrated"
    assert "not a normal law's" in values["reason"]
    assert 0 < values["log_evidence_error"] < 1e-6
    w = np.linspace(-9, 6, 100_001)
    mass = stats.norm.pdf(w) * stats.poisson.pmf([[3], [1]], np.exp(w)).prod(0)
    assert values["log_evidence"] == pytest.approx(np.log(mass.sum() * (w[1] - w[0])), abs=1e-6)


@pytest.mark.slow
def test_wrong_draws_of_what_was_integrated_are_told():
    wrong = of_model(no_form, shift=0.3)
    assert wrong.outcome == "disagree"
    assert wrong.sentences()[0].endswith("is to blame, unless the integration missed a mode.")
    assert wrong.to_dict()["to_blame"] == ["the sampler", "the integration"]


@pytest.mark.slow
def test_the_page_says_what_was_integrated_and_how_far_off_it_may_be():
    text = " ".join(unescape(page("integrated")).split())
    found = of_model(integrated_in_pymc)
    for words in (
        found.posterior.explain(),
        f"There is no closed form that could be proved: {found.reason}",
        "Numbers of the posterior",
        "Integrated and sampled posterior",
        "Integrated against sampled",
        "Integrated against visited",
        "± at most",
        "Integrated density over the draws",
        "Integrated in closed form",
        "was integrated numerically with bayesmodels",
        "compared with the law by integration",
    ):
        assert words in text, words
    # Everything that is exact is said of other things.
    assert not re.search(r"(?i)exact (against|density|and sampled|probabilit)", text)
    table = integration.numbers(found.posterior)
    assert [column.group for column in table.columns[1::2]] == [
        "mean", "sd", "89 %, from", "89 %, to",
    ]  # fmt: skip
    assert len(table.columns[0].cells) == 5  # of late, a number, one
    wider = integration.numbers(found.posterior, prob=0.99)
    assert wider.columns[-1].group == "99 %, to"
    assert float(wider.columns[-2].cells[1]) > float(table.columns[-2].cells[1])
    errors = integration.errors_of(found.posterior)
    assert (errors >= 0).all(axis=None)
    assert (errors["mean"] < 1e-5).all()


def test_what_can_not_be_solved_says_why():
    def too_many():
        with pm.Model() as model:
            w = pm.Normal("w", shape=61)
            pm.Poisson("n", pm.math.exp(w.sum()), observed=[3, 1, 4, 1, 5])
        return model

    with pytest.raises(bm.NotConjugate, match="w") as found:
        bm.validate(too_many())
    assert "bm.compare(draws, other_draws)" in found.value.hint
    assert "bm." not in found.value.reason  # which the command line prints


def test_data_are_given_with_a_belief_and_not_with_a_model():
    with pytest.raises(bm.DataError, match="data: must be given"):
        bm.validate(bm.BetaBernoulli(1, 1))
    for arguments in [{"data": [1, 0]}, {"likelihood": "statistic"}]:
        with pytest.raises(bm.DataError, match="a PyMC model holds its own"):
            bm.validate(coin_in_pymc(), **arguments)


def test_tables_part_finite_variables_from_others():
    found = of_model(mixed_in_pymc)
    assert [table.caption for table in model_validation.laws(found.posterior)] == ["Gamma"]
    law = model_validation.laws(found.posterior)[0]
    assert [column.head for column in law.columns] == ["", "shape", "rate"]
    assert law.columns[1].cells == ("5", "11")
    moments, visits = tables.comparison(found.comparison)
    assert moments.columns[0].cells == (f"rate[{HOSTILE[1]}]", "rate[old]")
    assert visits.columns[0].cells[:2] == ("shown[0, 3]", "shown[0, 4]")
    assert len(visits.columns[0].cells) == 14
    assert len(tables.continuous(found.comparison)) == 2


def test_what_was_observed():
    facts = dict(model_validation.observed(of_model(mixed_in_pymc).exact))
    assert facts["visits"] == "2 values from 3 to 9"
    assert facts["weeks"] == "2 values from 2 to 3, not modelled"
    assert model_validation.observed(xr.DataTree()) == [
        ("Observed", "nothing: the posterior is the prior")
    ]


@pytest.mark.slow
def test_the_page_shows_model_laws_comparison_and_how_to_make_it_again():
    text = re.sub(r"data:image[^\"]*", "", " ".join(unescape(page("mixed")).split()))
    assert " ".join(mixed_in_pymc().str_repr().split()) in text
    assert of_model(mixed_in_pymc).posterior.explain() in text
    for words in (
        "Laws of the variables",
        "Exact against visited",
        "shown[1, 8]",
        "Points compared",
    ):
        assert words in text
    for title in ("Exact density over the draws", "Values of finite variables", "Ranks by chain"):
        assert title in text
    again = "report = bm.validate(model, draws=400, tune=0, chains=4, level=0.01, rng=3)"
    assert again in text
    assert "In Python, with <code>model</code> of your own program" in text
    assert "prior =" not in text


@pytest.mark.slow
def test_elements_with_laws_of_several_kinds_are_drawn():
    def biased():
        with pm.Model() as model:
            fair = pm.Bernoulli("fair", 0.5)
            size = pm.math.switch(fair, 50, 1)
            theta = pm.Beta("theta", size, size)
            pm.Binomial("heads", 20, theta, observed=14)
            precision = pm.Wishart("precision", 5, np.eye(2))
            pm.MvNormal("x", np.zeros(2), tau=precision, observed=np.eye(2))
        return model

    found = of_model(biased)
    assert found.posterior.families["theta"] == "Mixture"
    assert "precision[1, 0]" in render(found)


@pytest.mark.slow
@pytest.mark.parametrize("build", [coin_in_pymc, mixed_in_pymc])
def test_on_the_whole_way(build, tmp_path):
    words = []
    found = bm.validate(build(), rng=1, progress=words.append)
    # PyMC's steps for finite variables mix slowly, so that their draws may be too few.
    assert found.outcome in (("agree", "inconclusive") if build is mixed_in_pymc else ("agree",)), (
        found
    )
    assert words == [
        "closed form, or integration",
        "independent draws",
        "compiling and sampling the PyMC model",
        "comparing draws",
        "checking the model's fit",
    ]
    found.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 50_000
