"""Reports of mixtures, whose classes have no order."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.report import tables
from bayesmodels.report.html import render
from tests.contract import cases
from tests.report import samples
from tests.report.samples import SAMPLES, page


@pytest.mark.slow
@pytest.mark.parametrize("given", ["rows", "statistic"])
@pytest.mark.parametrize("case", cases.MIXTURES, ids=lambda case: case.id)
def test_every_mixture_has_a_report(case, given):
    data = case.take(range(case.rows))
    data = case.prior.statistic(data) if given == "statistic" else data
    text = render(samples.report(case.prior, data, settings={"draws a chain": 50}))
    assert ("rows are gone" in text) == (given == "statistic")


@pytest.mark.slow
def test_a_report_says_what_the_order_of_the_classes_does():
    text = page("fitness")
    assert "Stephens, 2000" in text
    assert "R-hat of single parameters is up to" in text
    assert "as sampled" in text
    assert "does not depend on the order of the classes" in text


@pytest.mark.slow
def test_parameters_are_the_priors_alone():
    for table in tables.parameters(SAMPLES["half_known"]()):
        assert "posterior" not in {column.head for column in table.columns}
        assert "The posterior is a mixture of" in table.note


def test_pictures_of_mixtures():
    rows = bm.datasets.load("fitness")
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(2, 2))
    found = model.em(rows, starts=5, rng=1)
    profiles = bm.plots.plot_class_profiles(model.update(rows.iloc[:3]), found.parameters)
    assert [text.get_text() for text in profiles.get_yticklabels()] == list(rows)
    assert len(profiles.texts) == 2 * 4
    trace = bm.plots.plot_em_trace(found).lines[0].get_ydata()
    assert (np.diff(trace) < 0).all()
