"""Reports of a model without a closed form: what they say, and that they call nothing exact."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.referee import Identity
from bayesmodels.report import Report, approximation
from bayesmodels.report.html import render
from tests.report.samples import KINDS, approximated, page


def test_the_verdict_is_about_formulas_and_draws_and_the_error_is_stated():
    found = KINDS["courses"]()
    assert found.outcome == "agree"
    head, identity, measured = found.sentences()
    assert "approximation was measured" in head
    assert "up to rounding" in identity
    assert re.search(r"not the posterior: its mean is up to 0\.[23]\d? ± 0\.0\d", measured)
    assert "agree" in repr(found)


def test_a_wrong_formula_and_bad_draws_are_told_apart():
    wrong = replace(KINDS["courses"](), identity=Identity(20, 0.1, 0.01, 50.0, 0.0, 0.0, 1e-12))
    assert wrong.outcome == "disagree"
    assert "do not describe the same posterior" in wrong.sentences()[0]
    few = approximated(KINDS["courses"]().prior, KINDS["courses"]().data, draws=50)
    assert few.outcome == "inconclusive"
    assert "effective draws; at least 400 are needed" in few.further[0]
    stuck = KINDS["courses"]().errors.assign(r_hat=1.3)
    assert "have not mixed" in replace(KINDS["courses"](), errors=stuck).further[0]


@pytest.mark.slow
def test_the_page_calls_nothing_exact_but_the_mode():
    text = re.sub(r"<style>.*?</style>", "", " ".join(unescape(page("courses")).split()))
    text = re.sub(r"data:image[^\"]*", "", text)
    around = [text[m.start() - 20 : m.end() + 20] for m in re.finditer("exact", text)]
    assert all("mode is exact" in a or "is not exact" in a for a in around), around
    assert text.count("pproximation") > 10
    for word in ("w[GPA]", "Log evidence, Laplace’s approximation", "Ways to the mode"):
        assert word in text
    assert "Rows of the classes (2)" in text
    assert "0 21, 1 11" in text
    assert "Newton: 5 steps, arrived" in text


@pytest.mark.slow
def test_counts_of_successes_and_names_that_are_no_markup():
    hostile = "<img src=x onerror=alert(1)>"
    model = bm.LogisticRegression([0, 0], 4, features=["intercept", hostile])
    data = bm.Design([[-1.0], [0], [1]], bm.BinomialCounts([2, 3, 5], [10] * 3), intercept=True)
    text = render(approximated(model, data))
    assert hostile not in text
    assert "&lt;img src=x" in text
    assert "successes" in text
    assert "0 20, 1 10" in text


def test_as_plain_values():
    found = KINDS["courses"]().to_dict()
    assert found["largest_z"] is None
    assert 0.2 < found["largest_error"] < 0.4
    assert found["outcome"] == "agree"
    assert np.isfinite(found["approximate_log_evidence"])


def test_many_weights_are_cut():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 50)), rng.integers(0, 2, 80)
    made = approximated(bm.LogisticRegression(np.zeros(50), 1), (X, y))
    table = approximation.comparison(made.errors)
    assert table.note == "40 of 50 rows are shown, those with the largest error; 10 are not shown."
    assert len(table.columns[0].cells) == 40
    before = approximation.parameters(made)
    assert before.note == "40 of 50 rows are shown, the first; 10 are not shown."


@pytest.mark.slow
def test_on_the_whole_way():
    data, words = KINDS["courses"]().data, []
    found = bm.validate(
        bm.LogisticRegression(np.zeros(4), 25), data, rng=1, source="exam", progress=words.append
    )
    assert isinstance(found, Report)
    assert found.outcome == "agree", found.sentences()
    assert words == [
        "mode and curvature",
        "gradient ascent",
        "comparing formula and PyMC model",
        "compiling and sampling the PyMC model",
        "measuring the approximation",
        "checking the model's fit",
    ]
    assert (found.errors["sd_ratio"] < 1).all()
    assert "exam" in render(found)
