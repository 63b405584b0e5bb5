"""The report's exact sensitivities beside ArviZ's estimates of them."""

import dataclasses

import arviz_stats
import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.report import belief_validation
from bayesmodels.report import sensitivity as section
from bayesmodels.report.html import render
from bayesmodels.report.sensitivity import sensitivity
from tests.report.samples import SAMPLES, report


def coin():
    return report(bm.BetaBernoulli(5, 2), [0, 1, 0, 0, 0, 1, 0])


def column(found, head, group):
    (cells,) = (c.cells for c in found.table.columns if (c.head, c.group) == (head, group))
    return [float(cell) for cell in cells]


@pytest.mark.parametrize("name", ["coin", "regression", "normal", "flowers"])
def test_exact_beside_arviz(name):
    sample = coin() if name == "coin" else SAMPLES[name]()
    found = sensitivity(sample)
    exact = bm.prior_sensitivity(sample.prior, sample.data, draws=1600)
    assert found.table.columns[0].cells == tuple(exact.index)
    assert column(found, "exact", "Prior") == list(exact["prior"].round(3))
    assert column(found, "exact", "Likelihood") == list(exact["likelihood"].round(3))
    assert found.table.columns[-1].cells == tuple(exact["diagnosis"])
    near = arviz_stats.psense_summary(sample.sampled).loc[exact.index]
    np.testing.assert_allclose(column(found, "psense", "Prior"), near["prior"], atol=0.0015)
    likelihood = column(found, "psense", "Likelihood")
    np.testing.assert_allclose(likelihood, near["likelihood"], atol=0.0015)
    assert found.largest == exact["prior"].max()


def test_a_prior_that_is_the_same_everywhere():
    found = sensitivity(SAMPLES["coin"]())
    assert "fails: All tail values are the same" in found.note
    prior, near, *_ = (c.cells for c in found.table.columns[1:])
    assert prior == ("0.000",)
    assert near == ("–",)


def test_an_improper_prior_has_the_exact_value():
    found = sensitivity(SAMPLES["flat"]())
    assert "the prior is improper" in found.note
    assert [c.head for c in found.table.columns] == ["", "exact", "shift, s.d.", "exact"]
    assert "no diagnosis" in found.note
    assert found.summary == ""


def test_rows_that_are_gone_leave_the_exact_value():
    found = sensitivity(SAMPLES["statistic"]())
    assert "no log likelihood" in found.note
    assert len(found.table.columns) == 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["number_game", "half_known"])
def test_without_powers_there_is_no_section(name):
    sample = SAMPLES[name]()
    assert sensitivity(sample) is None
    assert "Prior sensitivity" not in render(sample)


def test_a_power_that_is_improper_is_said():
    sample = report(bm.DirichletCategorical([0.001, 1, 1]), [1, 2, 1])
    found = sensitivity(sample)
    assert found.table is None
    assert found.note.startswith("There is none: ")
    text = render(sample)
    assert "the posterior is improper" in text
    assert "power-scaling" not in belief_validation.methods(sample, found).parts[0]


def test_of_many_scalars_those_that_depend_most_are_shown(monkeypatch):
    sample = SAMPLES["wide"]()
    found = sensitivity(sample)
    exact = bm.prior_sensitivity(sample.prior, sample.data, draws=1600)["prior"]
    assert len(found.table.columns[0].cells) == 40
    assert "40 of 60 rows" in found.table.note
    assert column(found, "exact", "Prior")[0] == round(exact.max(), 3)
    monkeypatch.setattr(section, "MOST_SCALARS", 59)
    assert "60 scalars" in sensitivity(sample).note


def test_impossible_draws_are_not_weighed():
    sample = SAMPLES["coin"]()
    sampled = sample.sampled.copy()
    logs = sampled["log_prior"].to_dataset().copy(deep=True)
    logs["joint"][0, 0] = -np.inf
    sampled["log_prior"] = type(sampled)(logs)
    found = sensitivity(dataclasses.replace(sample, sampled=sampled))
    assert "cannot weigh" in found.note


def test_the_page_and_the_paragraph():
    text = render(SAMPLES["coin"]())
    assert '<h2 id="sensitivity">Prior sensitivity</h2>' in text
    assert '<li><a href="#sensitivity">Prior sensitivity</a></li>' in text
    assert "by power-scaling [5]" in text
    assert "Kallioinen" in text


def test_the_verdict_counts_the_scalars_of_which_the_prior_matters():
    """An *agree* must not stand over a table full of conflicts without a word."""
    sample = report(
        bm.BetaBernoulli([30, 1, 9], [30, 1, 1]),
        bm.BinomialCounts([[18, 5, 2]], [[20, 20, 20]]),
        settings={"draws a chain": 1500},
    )
    found = sensitivity(sample)
    assert found.summary == (
        "Prior and data pull 2 of 3 scalars in different directions: if the prior counted twice, "
        "theta[2] would shift by about 1.4 posterior standard deviations. See Prior sensitivity."
    )
    page = render(sample)
    verdict = page[page.index('<section class="verdict') :].split("</section>")[0]
    assert "Agree" in verdict
    assert found.summary in verdict
    assert "Prior and data" not in render(SAMPLES["coin"]())


def test_a_shift_estimated_from_draws_is_the_exact_one():
    sample = coin()
    near, _ = section._psense(sample.posterior, sample.sampled, ["theta"])
    exact = bm.prior_sensitivity(sample.prior, sample.data)
    assert near["shift"]["theta"] == pytest.approx(exact["shift"]["theta"], abs=0.05)
