"""Reports of a model without a closed form: what they say, and that they call nothing exact."""

import re
from dataclasses import replace
from functools import cache
from html import unescape

import numpy as np
import pytest
import statsmodels.api as sm

import bayesmodels as bm
from bayesmodels.referee import JointIdentity
from bayesmodels.report import ApproximationReport, approximation
from bayesmodels.report.html import render

SETTINGS = {
    "draws a chain": 400,
    "tuning steps a chain": 400,
    "chains": 4,
    "likelihood": "rows",
    "level": 0.01,
    "seed": 1,
}


def report(model, data, *, draws=400, chains=4, shift=0.3):
    """Return a report whose draws are those of the approximation, moved by some sd."""
    near = model.laplace(data)
    tree = near.to_datatree(draws, chains, np.random.default_rng(1))
    moved = tree.posterior["w"] + shift * near.marginals()["w"].std()
    tree["posterior"] = tree["posterior"].to_dataset().assign(w=moved)
    tree["sample_stats"] = (
        tree.posterior["w"].sum(tree.posterior["w"].dims[2:]).to_dataset(name="lp")
    )
    return ApproximationReport(
        title=model.title,
        prior=model.met(data),
        approximation=near,
        data=data,
        source="made up",
        identity=JointIdentity(20, 0.1, 0.01, 1e-12),
        errors=bm.approximation_error(near, tree),
        sampled=tree,
        newton=model.map(data).trace,
        ascent=model.ascend(data, of="posterior", most=200),
        settings=SETTINGS,
        seconds={"sampling": 1.0},
        versions={"bayesmodels": bm.__version__, "python": "3"},
    )


@cache
def courses():
    given = sm.datasets.spector.load_pandas()
    data = bm.Design(given.exog, given.endog.astype(int), intercept=True)
    return report(bm.LogisticRegression(np.zeros(4), 25), data)


@cache
def page():
    return render(courses())


def test_the_verdict_is_about_formulas_and_draws_and_the_error_is_stated():
    found = courses()
    assert found.outcome == "agree"
    head, identity, measured = found.sentences()
    assert "approximation was measured" in head
    assert "up to rounding" in identity
    assert re.search(r"not the posterior: its mean is up to 0\.[23]\d? ± 0\.0\d", measured)
    assert found.posterior is found.approximation
    assert "agree" in repr(found)


def test_a_wrong_formula_and_bad_draws_are_told_apart():
    wrong = replace(courses(), identity=JointIdentity(20, 50.0, 0.01, 1e-12))
    assert wrong.outcome == "disagree"
    assert "do not describe the same posterior" in wrong.sentences()[0]
    few = report(courses().prior, courses().data, draws=50)
    assert few.outcome == "inconclusive"
    assert "effective draws; at least 400 are needed" in few.findings()[0]
    single = report(courses().prior, courses().data, chains=1, draws=1000)
    assert "only one chain" in single.findings()[0]
    stuck = courses().errors.assign(r_hat=1.3)
    assert "have not mixed" in replace(courses(), errors=stuck).findings()[0]


@pytest.mark.slow
def test_the_page_calls_nothing_exact_but_the_mode():
    text = re.sub(r"<style>.*?</style>", "", " ".join(unescape(page()).split()))
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
def test_the_page_is_closed_to_scripts_and_to_the_network():
    text = page()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)


def test_counts_of_successes_and_names_that_are_no_markup():
    hostile = "<img src=x onerror=alert(1)>"
    model = bm.LogisticRegression([0, 0], 4, features=["intercept", hostile])
    data = bm.Design([[-1.0], [0], [1]], bm.BinomialCounts([2, 3, 5], [10] * 3), intercept=True)
    text = render(report(model, data))
    assert hostile not in text
    assert "&lt;img src=x" in text
    assert "successes" in text
    assert "0 20, 1 10" in text


def test_as_plain_values():
    found = courses().to_dict()
    assert found["largest_z"] is None
    assert 0.2 < found["largest_error"] < 0.4
    assert found["outcome"] == "agree"
    assert np.isfinite(found["approximate_log_evidence"])


def test_many_weights_are_cut():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((80, 50)), rng.integers(0, 2, 80)
    made = report(bm.LogisticRegression(np.zeros(50), 1), (X, y))
    table = approximation.comparison(made.errors)
    assert table.note == "40 of 50 rows are shown, those with the largest error; 10 are not shown."
    assert len(table.columns[0].cells) == 40
    before = approximation.parameters(made)
    assert before.note == "40 of 50 rows are shown, the first; 10 are not shown."


@pytest.mark.slow
def test_on_the_whole_way():
    data, words = courses().data, []
    found = bm.validate(
        bm.LogisticRegression(np.zeros(4), 25), data, rng=1, source="exam", progress=words.append
    )
    assert isinstance(found, ApproximationReport)
    assert found.outcome == "agree", found.sentences()
    assert words == [
        "mode and curvature",
        "gradient ascent",
        "comparing formula and PyMC model",
        "compiling and sampling the PyMC model",
        "measuring the approximation",
    ]
    assert (found.errors["sd_ratio"] < 1).all()
    assert "exam" in render(found)
