import io
import re
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.report import figures
from bayesmodels.report.belief_validation import pictures
from bayesmodels.report.predictive import counts, predictive
from tests.report import samples
from tests.report.samples import SAMPLES

NAMES = ["density", "ecdf", "rank", "trace", "predictive"]


def words(picture):
    return " ".join(panel.alt for panel in picture.panels)


def test_there_are_five_pictures_with_captions():
    drawn = pictures(SAMPLES["coin"]())
    assert [picture.name for picture in drawn] == NAMES
    assert all(picture.caption.endswith(".") for picture in drawn)


def test_the_numbers_of_a_picture_are_those_that_were_drawn():
    drawn = dict(zip(NAMES, pictures(SAMPLES["coin"]()), strict=True))
    tables = {
        name: pd.read_csv(io.BytesIO(picture.panels[0].csv), index_col=0)
        for name, picture in drawn.items()
    }
    assert list(tables["density"]) == ["draws", "exact", "prior"]
    law = SAMPLES["coin"]().posterior.marginals()["theta"]
    value = tables["density"].index.to_numpy()
    np.testing.assert_allclose(tables["density"]["exact"], law.pdf(value), rtol=1e-2)
    step = value[1] - value[0]
    assert (tables["density"]["draws"] * step).sum() == pytest.approx(1, abs=1e-3)
    assert list(tables["trace"]) == list(tables["rank"]) == [f"chain {k}" for k in range(4)]
    assert tables["predictive"].loc[[0, 1], "observed"].tolist() == [45, 55]


@pytest.mark.slow
def test_pictures_are_the_same_bytes_each_time():
    first, second = (pictures(SAMPLES["aspirin"]()) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_nothing_global_is_touched():
    backend, before = mpl.get_backend(), mpl.rcParams.copy()
    with mpl.rc_context({"font.size": 30, "text.usetex": True}):
        here = pictures(SAMPLES["coin"]())
    assert here == pictures(SAMPLES["coin"]())
    assert plt.get_fignums() == []
    assert mpl.rcParams == before
    assert mpl.get_backend() == backend


def test_all_scalars_are_drawn_in_the_model_s_order():
    report = SAMPLES["party"]()
    assert [s.label for s in figures.scalars(report.comparison)] == list(
        report.comparison.table.index
    )


def test_of_many_scalars_those_with_the_largest_discrepancies_are_drawn():
    report = SAMPLES["wide"]()
    z = report.comparison.table["z"].abs().sort_values(ascending=False)
    shown = [scalar.label for scalar in figures.scalars(report.comparison)]
    assert len(shown) == figures.MOST_SCALARS
    assert z[shown].tolist() == z.tolist()[: figures.MOST_SCALARS]


@pytest.mark.parametrize("name", ["aspirin", "regression", "targets", "normal"])
def test_a_scalar_has_its_own_law(name):
    report = SAMPLES[name]()
    for scalar in figures.scalars(report.comparison):
        row = report.comparison.table.loc[scalar.label]
        assert scalar.law.mean() == pytest.approx(row["mean"])
        assert scalar.law.std() == pytest.approx(row["sd"])
        assert scalar.draws.mean() == pytest.approx(row["sampled_mean"])


@pytest.mark.slow
def test_right_draws_stay_within_the_bands_and_wrong_ones_leave_them():
    right = dict(zip(NAMES, pictures(SAMPLES["coin"]()), strict=True))
    wrong = dict(zip(NAMES, pictures(SAMPLES["disagreeing"]()), strict=True))
    assert "within the band" in words(right["ecdf"])
    assert "beyond the band" in words(wrong["ecdf"])
    assert "Exact: mean 0.3039" in words(wrong["density"])


@pytest.mark.parametrize("size", [10, 500])
def test_the_simultaneous_bound_is_left_as_seldom_as_stated(size):
    uniform = np.sort(np.random.default_rng(1).random((2000, size)), axis=1)
    steps = np.arange(size + 1) / size
    gap = np.maximum(np.abs(steps[1:] - uniform), np.abs(steps[:-1] - uniform)).max(axis=1)
    left = (gap > figures.simultaneous_bound(size, 0.1)).mean()
    assert 0.05 < left < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 2000)


@pytest.mark.slow
def test_heavy_tails_and_unbounded_densities_can_be_drawn():
    heavy = samples.report(bm.LinearRegression(0, 1, 0.55, 1), ([[1.0]], [2.0]))
    spiked = samples.report(bm.BetaBernoulli(0.7, 0.7), [1])
    assert all(len(pictures(report)[0].panels) for report in (heavy, spiked))


@pytest.mark.slow
def test_more_draws_than_a_line_can_show_make_no_larger_file():
    report = samples.report(bm.BetaBernoulli(1, 1), [1, 0], settings={"draws a chain": 10_000})
    assert sum(len(p.svg) for picture in pictures(report) for p in picture.panels) < 400_000


def test_zeros_and_ones_of_a_coin_are_counted():
    found = counts(SAMPLES["coin"]())
    assert found.labels == [("0",), ("1",)]
    assert found.observed.tolist() == [45, 55]
    assert (found.replicated.sum(axis=1) == 100).all()


def test_grouped_rows_are_counted_by_group():
    by = ["b", "a", "b", "a", "b"]
    found = counts(samples.report(bm.BetaBernoulli(1, 1), bm.Grouped([1, 0, 1, 1, 0], by=by)))
    assert found.labels == [("a",), ("b",)]
    assert found.observed.tolist() == [1, 2]
    assert found.replicated.max(axis=0).tolist() == [2, 3]


def test_floats_that_are_zeros_and_ones_are_counted_too():
    found = counts(samples.report(bm.BetaBernoulli(1, 1), np.ones((3, 2))))
    assert found.labels == [("0",), ("1",)]
    assert found.what == "ones"
    assert found.observed.tolist() == [3, 3]


def test_binomial_counts_are_shown_row_by_row_or_group_by_group():
    rows = bm.BinomialCounts([1, 2, 3], [4, 5, 6])
    found = counts(samples.report(bm.BetaBernoulli(1, 1), rows))
    assert found.labels == [("row 0",), ("row 1",), ("row 2",)]
    assert found.observed.tolist() == [1, 2, 3]
    grouped = bm.Grouped(rows, by=["x", "y", "x"])
    assert counts(samples.report(bm.BetaBernoulli(1, 1), grouped)).observed.tolist() == [4, 2]


def test_categories_are_counted_by_group():
    grouped = bm.Grouped(["u", "v", "u"], by=[2, 1, 2])
    found = counts(samples.report(bm.DirichletCategorical([1, 1], ["u", "v"]), grouped))
    assert found.labels == [("1", "u"), ("1", "v"), ("2", "u"), ("2", "v")]
    assert found.observed.tolist() == [0, 1, 2, 0]


def test_multinomial_counts_are_added_up():
    rows = bm.MultinomialCounts([[1, 2, 3], [4, 5, 6]])
    found = counts(samples.report(bm.DirichletCategorical([1, 1, 1]), rows))
    assert found.observed.tolist() == [5, 7, 9]
    assert (found.replicated.sum(axis=1) == 21).all()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (SAMPLES["statistic"], "statistic, whose rows are gone"),
        (lambda: samples.report(bm.BetaBernoulli(1, 1), np.zeros(0)), "there are no rows"),
    ],
)
def test_a_missing_predictive_check_is_explained(make, why):
    picture = predictive(make())
    assert not picture.panels
    assert why in picture.caption


def test_replicates_that_were_too_many_to_keep_are_explained():
    report = SAMPLES["coin"]()
    exact = report.exact.copy()
    del exact["posterior_predictive"]
    assert "too many rows" in predictive(replace(report, exact=exact)).caption


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_a_predictive_check_of_few_or_equal_values(rows):
    report = samples.report(bm.LinearRegression(0, 1, 2, 1), (np.ones((rows, 1)), np.ones(rows)))
    (panel,) = predictive(report).panels
    assert re.search(r"mean 1\.0+ observed", panel.alt)


def test_every_target_has_its_own_predictive_panel():
    assert [panel.label for panel in predictive(SAMPLES["targets"]()).panels] == ["left", "right"]
