"""Verdicts, reports, calibrations and closed forms in a notebook."""

from functools import partial

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.belief import notebook
from bayesmodels.report import Report, model_validation
from bayesmodels.report.contents import contents
from tests.contract.test_notebook import Piece
from tests.report.samples import HOSTILE, KINDS, SAMPLES


def drawn(law, seed):
    return law.to_datatree(rng=np.random.default_rng(seed))


def verdict(*, wrong=False):
    law = bm.DirichletCategorical(np.arange(1.0, 31))
    from_law = bm.DirichletCategorical(np.arange(31.0, 1, -1)) if wrong else law
    return bm.compare(law, drawn(from_law, 1))


@pytest.mark.parametrize(("wrong", "sign"), [(False, "✓ agree"), (True, "✕ disagree")])
def test_a_verdict_shows_its_sentence_findings_and_the_worst_rows(wrong, sign):
    found = verdict(wrong=wrong)
    piece = Piece(found._repr_html_())
    assert piece.words.startswith(f"Draws against an exact law: {sign}")
    assert found.sentences()[0] in piece.words
    assert str(found.table["z"].abs().idxmax()) in piece.words
    assert piece.tags.count("tr") == 1 + notebook.MOST_ROWS
    assert "20 of 30 rows are shown, those with the largest |z|; 10 are not" in piece.words
    assert ("more." in piece.words) == wrong
    assert piece.tags.count("li") == (6 if wrong else 0)


def test_of_draws_against_draws():
    law = bm.BetaBernoulli(5, 19)
    found = bm.compare(drawn(law, 1), drawn(law, 2).isel(draw=slice(40)))
    words = Piece(found._repr_html_()).words
    assert words.startswith("Draws against draws: ? inconclusive")
    assert "first_mean" in words


@pytest.mark.parametrize("make", [KINDS[name] for name in ("coin", "two_sets", "courses")])
def test_a_report_shows_what_it_says(make):
    report = make()
    piece = Piece(report._repr_html_())
    assert piece.words.startswith(f"{report.title}: ")
    for sentence in report.sentences():
        assert " ".join(sentence.split()) in piece.words
    assert "table" in piece.tags


def test_names_from_data_are_text():
    text = SAMPLES["hostile"]()._repr_html_()
    assert "<script" not in text
    assert "<img" not in text
    words = Piece(text).words
    assert all(" ".join(f"w[{name}]".split()) in words for name in HOSTILE[:4])


def test_a_closed_form_and_its_report():
    with pm.Model(coords={"arm": [HOSTILE[1], "old"]}) as model:
        rate = pm.Gamma("rate", 2, 1, dims="arm")
        pm.Poisson("visits", rate, observed=[3, 9])
    posterior = bm.exact(model)
    words = Piece(posterior._repr_html_()).words
    assert posterior.explain() in words
    assert "Verified analytically." in words
    assert f"rate[{HOSTILE[1]}]" in words
    draws = posterior.to_datatree(rng=np.random.default_rng(1))
    report = Report(
        title="visits",
        posterior=posterior,
        source="",
        comparison=bm.compare(posterior, draws),
        exact=draws,
        sampled=draws,
        settings={},
        seconds={},
        versions={},
        judge=model_validation.judge,
        contents=partial(contents, model_validation),
    )
    words = Piece(report._repr_html_()).words
    assert words.startswith("visits: ✓ agree")
    assert report.sentences()[1] in words


@pytest.mark.slow
def test_a_part_of_a_closed_form():
    with pm.Model() as model:
        mu = pm.Normal("mu")
        sd = pm.HalfNormal("sd")
        pm.Normal("y", mu, sd, observed=[0.5, 1.5])
    partial = bm.exact(model, partial=True)
    assert partial.explain() in Piece(partial._repr_html_()).words


def test_a_calibration_shows_the_worst_quantities_first():
    found = bm.calibrate(bm.DirichletCategorical(np.ones(30)), [0, 1, 2], n=100, rng=1)
    piece = Piece(found._repr_html_())
    assert piece.words.startswith("Calibration: ✓ agree")
    assert found.sentences()[0] in piece.words
    assert str(found.table["p"].idxmin()) in piece.words
    assert f"20 of {len(found.table)} rows are shown" in piece.words
