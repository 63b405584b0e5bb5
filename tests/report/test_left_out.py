"""The report's exact leave-one-out densities beside ArviZ's estimates of them."""

import dataclasses

import arviz_stats
import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.report.html import render
from bayesmodels.report.left_out import left_out, whole_rows
from bayesmodels.report.page import Part
from tests.report.samples import SAMPLES, report

RNG = np.random.default_rng(1)


def facts(found):
    (part,) = (part for part in found.parts if isinstance(part, Part))
    return dict(part.content)


def test_exact_beside_arviz():
    sample = SAMPLES["flat"]()
    found = facts(left_out(sample))
    exact = bm.leave_one_out(sample.prior, sample.data)
    assert found["Exact elpd"] == f"{exact.elpd:.2f} ± {exact.se:.2f}".replace("-", "−")
    near = arviz_stats.loo(sample.sampled, pointwise=True)
    stated = f"{float(near.elpd):.2f} ± {float(near.se):.2f}".replace("-", "−")
    assert found["PSIS-LOO, from draws"] == stated
    assert found["Rows with k̂ above 0.7"] == "0 of 30"
    assert found["Largest k̂"] == f"{float(near.pareto_k.max()):.2f}"


def test_cells_of_a_row_are_added_up():
    """Of mixed features with missing cells, whose log likelihoods stand cell by cell."""
    sample = SAMPLES["patients"]()
    features, target = sample.data
    draws = {name: x.to_numpy() for name, x in sample.sampled["posterior"].data_vars.items()}
    joint = sample.posterior.log_joint(features, draws)
    codes = [sample.posterior.coords["class"].index(label) for label in target]
    wanted = joint[..., np.arange(6), codes]
    np.testing.assert_allclose(whole_rows(sample), wanted, rtol=1e-12)
    assert facts(left_out(sample))["Rows with k̂ above 0.7"].endswith("of 6")


def test_an_outlier_is_not_to_be_trusted():
    rows = np.append(RNG.normal(size=30), 40.0)
    found = left_out(report(bm.NormalInverseGamma(0, 1, 2, 2), rows))
    assert facts(found)["Rows with k̂ above 0.7"] == "1 of 31"
    assert facts(found)["Largest difference of a row"].endswith("(row 30)")
    (panel,) = found.pictures[0].panels
    assert "of 31 rows" in panel.alt
    assert "number above 0.7: 1." in panel.alt


@pytest.mark.slow
@pytest.mark.parametrize("name", ["statistic", "half_known"])
def test_without_rows_or_closed_form_there_is_no_section(name):
    sample = SAMPLES[name]()
    assert left_out(sample) is None
    assert "Rows left out" not in render(sample)


def test_weights_that_arviz_cannot_take():
    found = left_out(SAMPLES["number_game"]())
    assert "All tail values are the same" in found.parts[1]
    assert list(facts(found)) == ["Exact elpd"]


def test_too_many_rows_for_draws_have_the_exact_value():
    sample = SAMPLES["flat"]()
    sampled = sample.sampled.copy()
    del sampled["log_likelihood"]
    found = left_out(dataclasses.replace(sample, sampled=sampled))
    assert list(facts(found)) == ["Exact elpd"]
    assert found.pictures == ()
    assert "too many rows" in found.parts[1]


def test_a_sparse_table_has_the_exact_value():
    found = left_out(SAMPLES["words"]())
    assert list(facts(found)) == ["Exact elpd"]
    assert "sparse table" in found.parts[1]


@pytest.mark.slow
def test_a_posterior_that_is_improper_without_a_row():
    X = np.array([[1.0, 0], [1, 1], [1, 2], [1, 2]])
    sample = report(bm.LinearRegression.flat(2), (X, np.array([1.0, 2, 4, 5])))
    assert facts(left_out(sample))
    X[3, 1], X[1:3, 1] = 7, 0
    sample = report(bm.LinearRegression.flat(2), (X, np.array([1.0, 2, 4, 5])))
    found = left_out(sample)
    assert len(found.parts) == 2
    assert "without row 3 the posterior is improper" in found.parts[1]
    assert found.parts[1] in render(sample).replace("&#39;", "'")


@pytest.mark.slow
def test_the_page():
    text = render(SAMPLES["flowers"]())
    assert '<h2 id="rows">Rows left out</h2>' in text
    assert "Exact elpd" in text
    assert '<figure id="left-out"' in text
    assert 'alt="Estimated minus exact log density of 150 rows' in text
