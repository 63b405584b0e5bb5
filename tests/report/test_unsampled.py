"""Reports of what is known without a sampler, and the second line: whether the model fits."""

import json

import numpy as np
import pymc as pm
import pytest
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels.command.cli import main
from bayesmodels.report.html import render

rng = np.random.default_rng(1)
X = rng.normal(size=(120, 2))
Y = (rng.random(120) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


def counts():
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2, 1)
        pm.Poisson("visits", rate, observed=rng.poisson(3, 40))
    return model, None


def levels():
    with pm.Model() as model:
        pm.Poisson("visits", pm.math.exp(pm.Normal("level", 0, 2)), observed=rng.poisson(3, 40))
    return model, None


GIVEN = {
    "closed form": lambda: (bm.GammaPoisson(1, 1), rng.poisson(3, 40)),
    "logistic regression": lambda: (bm.LogisticRegression([0, 0], 2), (X, Y)),
    "PyMC, closed form": counts,
    "PyMC, integrated": levels,
}


@pytest.mark.parametrize("name", GIVEN)
def test_reports_without_draws_have_identity_and_fit_and_nothing_sampled(name):
    model, data = GIVEN[name]()
    report = bm.validate(model, data, draws=0, rng=1)
    assert report.outcome == "agree"
    assert report.sampled is None
    assert report.comparison is None
    assert report.sentences()[0].endswith("Nothing was sampled.")
    assert report.sentences()[1].startswith("No misfit was found")
    assert report.to_dict()["fit"]["outcome"] == "fits"
    page = render(report)
    assert "Does the model fit?" in page
    assert "Exact and sampled posterior" not in page
    integrated = name in ("logistic regression", "PyMC, integrated")
    assert ("</span> Integrated</span>" in page) == integrated  # there is nothing to agree with
    assert "draws=0" in page  # how it is made again
    json.dumps(report.to_dict())


def test_odds_without_draws_are_those_of_the_integral():
    report = bm.validate(bm.LogisticRegression([0, 0], 2), (X, Y), draws=0, rng=1)
    law = report.posterior.marginals()["w"]
    low, high = np.exp(law.ppf(0.055)[0]), np.exp(law.ppf(0.945)[0])
    assert f"({low:.2f} to {high:.2f})" in report.answer[0]


def test_markdown_has_the_same_sections_and_no_markup_of_the_data():
    rows = bm.Grouped(bm.Counts([3, 5, 4, 6], 1), by=["a|b", "a|b", "<b>*x*</b>", "<b>*x*</b>"])
    report = bm.validate(bm.GammaPoisson(1, 1), rows, draws=0, rng=1)
    text = report.to_markdown()
    _, sections = report.contents(report, "")
    for section in sections:
        assert (f"\n## {section.title}\n" in text) is bool(section.parts)
        assert not section.front or section.front.panels[0].alt[:26] in text
    assert "<b>" not in text.replace("\\<b", "")
    assert "a\\|b" in text
    heads = [line for line in text.splitlines() if line.startswith("| :--")]
    assert len(heads) >= 3  # tables, each with as many cells in a row as in its head
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("| :--"):
            cells = lines[k + 1].replace("\\|", "").count("|")
            assert cells == line.count("|") == lines[k - 1].replace("\\|", "").count("|")
    assert len(report.to_markdown(brief=True)) < len(text)


def test_models_whose_reports_are_about_draws_say_so():
    with pytest.raises(bm.DataError, match="compares draws; give draws=1000"):
        bm.validate(bm.ConceptLearning({"a": [1, 2], "b": [1]}), [1, 1], draws=0)


def test_a_misfit_stands_beside_agreement_and_ends_a_strict_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(1).negative_binomial(1, 0.2, 80)
    (tmp_path / "t.csv").write_text("visits\n" + "\n".join(map(str, rows)) + "\n")
    command = ["report", "gamma-poisson", "t.csv", "--target", "visits", "--no-draws"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0
    assert "As if the model were right, which these rows deny:" in result.stdout
    assert "The model does not fit: counts vary" in result.stdout
    assert "Does not fit" in (tmp_path / "gamma-poisson.html").read_text("utf-8")
    assert CliRunner().invoke(main, [*command, "--strict"]).exit_code == 1
    assert CliRunner().invoke(main, [*command, "--draws", "50"]).exit_code == 2
    assert CliRunner().invoke(main, [*command, "--format", "md", "-o", "x.html"]).exit_code == 2
    assert CliRunner().invoke(main, [*command, "--format", "md"]).exit_code == 0
    assert "**Does not fit.**" in (tmp_path / "gamma-poisson.md").read_text("utf-8")


def test_a_pymc_model_is_checked_by_its_own_posterior_or_by_draws_that_are_there():
    model, _ = counts()
    tree = bm.sample(model, 250, rng=1)
    for fit in (bm.check_fit(model, rng=1), bm.check_fit(model, tree, rng=1)):
        assert fit.outcome == "fits"
    with pm.Model() as bad:
        pm.Poisson("y", pm.Gamma("rate", 2, 1), observed=rng.negative_binomial(1, 0.2, 80))
    found = bm.check_fit(bad, rng=1)
    assert found.findings[0].startswith("counts vary")
    with pm.Model() as unseen:
        pm.Normal("x")
    assert "no variable is observed" in bm.check_fit(unseen, tree, rng=1).sentences()[0]
    with pytest.raises(bm.DataError, match="data: must be given"):
        bm.check_fit(bm.GammaPoisson(1, 1))


def test_effects_of_groups_are_drawn_by_size_and_rows_are_said_to_be_moved():
    by = np.arange(60) % 5
    with pm.Model(coords={"site": list("abcde")}) as model:
        level, site = pm.Normal("level", 0, 2), pm.Normal("effect", 0, 0.5, dims="site")
        pm.Poisson("y", pm.math.exp(level + site[by]), observed=rng.poisson(1 + by))
    report = bm.validate(model, draws=0, rng=1)
    (section,) = [s for s in report.contents(report, "")[1] if s.name == "effects"]
    picture = section.front
    assert not section.parts
    assert picture.name == "forest-1"
    assert picture.title == "effect, by size"
    shown = picture.panels[0].csv.decode().splitlines()[1:]
    assert [line[0] for line in shown] == list("edcba")
    assert "moved as its posterior would move" in report.to_markdown()


def test_no_number_of_draws_is_refused():
    with pytest.raises(bm.DataError, match="draws"):
        bm.validate(bm.GammaPoisson(1, 1), [1, 2, 3], draws=None)


def test_an_intercept_is_no_column_whose_units_matter():
    data = bm.Design(X, X[:, 0] + 5 + 0.1 * X[:, 1] ** 2, intercept=True)
    prior = bm.LinearRegression.flat(3)
    report = bm.validate(prior, prior.statistic(data), draws=0, rng=1)
    assert "intercept" not in report.answer[0]
