"""Pictures of classifiers: features by class, boundaries, rankings."""

import io
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from arviz_plots.plot_collection import PlotCollection
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats
from scipy.sparse import csr_array

import bayesmodels as bm
from bayesmodels.report import canvas
from bayesmodels.report.belief_validation import pictures
from bayesmodels.report.classes import MOST_LEVELS, regions
from bayesmodels.report.features import Rows, features_of, rows_with
from tests.report import samples
from tests.report.samples import HOSTILE, SAMPLES

CLASSES = bm.DirichletCategorical([1, 1], categories=["ham", "spam"])
X = np.array([[0.1, 5.0], [0.4, 4.0], [2.1, 9.0], [1.8, 7.5], [2.5, 8.0]])
KINDS = ["ham", "ham", "spam", "spam", "spam"]
NUMBERS = bm.NaiveBayes(CLASSES, bm.NormalInverseGamma([1, 6], 0.5, 3, 2)).update((X, KINDS))


def rng():
    return np.random.default_rng(1)


def drawn(figure):
    """Draw a figure, which must not warn; characters that the font lacks don't count."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        figure.savefig(io.BytesIO(), format="png")


def lines(axes):
    """Return the curves of an axes, without ticks and dots."""
    return [line for line in axes.get_lines() if len(line.get_xdata()) > 50]


# --- features -------------------------------------------------------------------------------------


def test_features_have_their_labels_places_and_kinds():
    found = features_of(SAMPLES["patients"]().posterior)
    assert [(f.label, f.block, f.at) for f in found] == [
        ("smoker", "smoker", None),
        ("stage", "stage", None),
        ("age", "measured", 0),
        ("size", "measured", 1),
    ]
    assert [f.levels for f in found] == [("0", "1"), ("I", "II", "III"), (), ()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["patients", "flowers", "hostile_classes"])
def test_laws_and_masses_of_features_are_those_that_predict(name):
    belief = SAMPLES[name]().posterior
    for f in features_of(belief):
        if f.law is None:
            np.testing.assert_allclose(f.mass.sum(-1), 1)
            continue
        x = np.array([-1.0, 0.5, 40.0])
        joint = belief.log_joint(rows_with(belief, {f.label: x}))
        own = joint - np.log(belief.classes.predictive().mean())
        np.testing.assert_allclose(f.law.logpdf(x[:, None]), own, rtol=1e-10)


def test_a_law_with_one_kappa_a_class_for_all_features():
    """As a vector of features has, whose means share a covariance matrix."""

    class Vector:
        kappa = np.array([1.0, 3.0])

        def marginals(self):
            return {"mu": stats.t(np.array([[4.0], [5.0]]), loc=np.zeros((2, 3)), scale=1.5)}

    from bayesmodels.report.features import _student

    law = _student(Vector(), (slice(None), 2))
    np.testing.assert_allclose(law.kwds.get("scale", law.args[-1]), 1.5 * np.sqrt([2, 4]))


def test_features_of_two_blocks_with_one_name_are_told_apart():
    blocks = {"a": bm.BetaBernoulli(1, 1), "b": bm.BetaBernoulli(1, 1)}
    rows = {"a": np.zeros((5, 2), int), "b": np.ones((5, 2), int)}
    belief = bm.NaiveBayes(CLASSES, blocks).update((rows, KINDS))
    assert [f.label for f in features_of(belief)] == ["a[0]", "a[1]", "b[0]", "b[1]"]


def test_rows_by_class_leave_out_what_is_missing():
    report = SAMPLES["patients"]()
    rows = Rows(report.posterior, report.data)
    smoker, stage, age, _ = features_of(report.posterior)
    assert rows.of_class(age, 0)[0].tolist() == [61.0, 58.0, 70.0]
    assert rows.of_class(age, 1)[0].tolist() == [35.0, 44.0]
    np.testing.assert_allclose(rows.shares(smoker, 0), [0, 1])
    np.testing.assert_allclose(rows.shares(stage, 1), [1 / 2, 1 / 2, 0])


def test_shares_of_words_and_weights():
    counts = csr_array(np.array([[2, 0, 0], [0, 1, 1], [0, 0, 3]]))
    data = bm.Weighted((bm.MultinomialCounts(counts), ["ham", "ham", "spam"]), [1, 2, 5])
    belief = bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1, 1, 1])).update(data)
    (words,) = features_of(belief)
    np.testing.assert_allclose(Rows(belief, data).shares(words, 0), [2 / 6, 2 / 6, 2 / 6])


# --- densities ------------------------------------------------------------------------------------


def test_densities_are_lines_over_the_predictive_law():
    collection = bm.plots.plot_class_densities(NUMBERS)
    assert isinstance(collection, PlotCollection)
    assert list(collection.data) == ["0", "1"]
    for feature in features_of(NUMBERS):
        found = lines(collection.get_target(feature.label, {}))
        assert len(found) == 2
        for c, line in enumerate(found):
            x = line.get_xdata()
            np.testing.assert_allclose(line.get_ydata(), feature.law.pdf(x[:, None])[:, c])
    drawn(collection.get_viz("figure"))


def test_bars_are_probabilities_and_dots_are_shares():
    report = SAMPLES["patients"]()
    collection = bm.plots.plot_class_densities(report.posterior, report.data, ["stage"])
    axes = collection.get_target("stage", {})
    theta = report.posterior.mean()["theta_stage"]
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], theta.ravel())
    dots = [line.get_ydata() for line in axes.get_lines()]
    np.testing.assert_allclose(dots[1], [1 / 2, 1 / 2, 0])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["I", "II", "III"]
    drawn(collection.get_viz("figure"))


@pytest.mark.slow
def test_many_rows_are_a_histogram_and_few_are_ticks():
    report = SAMPLES["flowers"]()
    many = bm.plots.plot_class_densities(report.posterior, report.data).get_target(
        "sepal_length", {}
    )
    assert len(many.patches) == 3 * 25
    assert len(many.get_lines()) == 3
    few = bm.plots.plot_class_densities(NUMBERS, (X, KINDS)).get_target("0", {})
    assert not few.patches
    ticks = [line.get_xdata().tolist() for line in few.get_lines() if line.get_marker() == "|"]
    assert ticks == [[0.1, 0.4], [2.1, 1.8, 2.5]]


def test_of_many_words_those_are_drawn_that_differ_most():
    report = SAMPLES["words"]()
    collection = bm.plots.plot_class_densities(report.posterior, report.data)
    (name,) = collection.data
    shown = [tick.get_text() for tick in collection.get_target(name, {}).get_xticklabels()]
    theta = report.posterior.mean()["theta"]
    gap = np.abs(theta[0] - theta[1])
    assert {f"word {i}" for i in np.argsort(gap)[-MOST_LEVELS:]} == set(shown)


# --- boundary -------------------------------------------------------------------------------------


def test_the_boundary_lies_where_both_classes_have_one_half():
    axes = bm.plots.plot_boundary(NUMBERS, [0, 1], (X, KINDS), draws=20, rng=rng())
    assert isinstance(axes, Axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("0", "1")
    line = axes.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(NUMBERS.class_probabilities(line), 0.5, atol=0.02)
    assert len(axes.collections[-1].get_offsets()) == 3, "the points of the last class"
    drawn(axes.figure)


def test_the_band_is_where_the_interval_of_the_probability_contains_one_half():
    pair = features_of(NUMBERS)
    sides, probability, certain = regions(NUMBERS, pair, points=15, draws=400, rng=rng())
    grid = np.stack(np.meshgrid(*sides), -1).reshape(-1, 2)
    np.testing.assert_allclose(
        probability.reshape(-1, 2), NUMBERS.class_probabilities(grid), rtol=1e-10
    )
    low, high = NUMBERS.class_probability_interval(grid, 0.89, draws=4000, rng=rng())
    contains = (low[:, 0] < 0.5) & (high[:, 0] > 0.5)
    band = certain.ravel() < (1 + 0.89) / 2
    assert (band == contains).mean() > 0.95
    assert 0 < band.mean() < 1


def test_other_features_are_integrated_out():
    report = SAMPLES["patients"]()
    axes = bm.plots.plot_boundary(report.posterior, ["age", "size"], points=10, draws=5, rng=rng())
    line = axes.collections[0].get_paths()[0].vertices
    rows = rows_with(report.posterior, {"age": line[:, 0], "size": line[:, 1]})
    np.testing.assert_allclose(report.posterior.class_probabilities(rows), 0.5, atol=0.06)


def test_three_classes_have_three_lines_and_a_band():
    report = SAMPLES["flowers"]()
    names = list(report.data[0].columns)
    axes = bm.plots.plot_boundary(report.posterior, names, points=30, draws=20, rng=rng())
    assert len(axes.collections) == 4
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(
        report.posterior.coords["class"]
    )


@pytest.mark.slow
def test_the_same_seed_draws_the_same_boundary_into_given_axes():
    both = [Figure().add_subplot() for _ in range(2)]
    for axes in both:
        assert bm.plots.plot_boundary(NUMBERS, [0, 1], draws=10, rng=rng(), axes=axes) is axes
    one, other = ([c.get_paths()[0].vertices for c in axes.collections] for axes in both)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_where_one_class_is_everywhere_most_probable_there_is_no_line():
    sure = bm.NaiveBayes(
        bm.DirichletCategorical([1e9, 1e-9]), bm.NormalInverseGamma([0, 0], 9, 9, 9)
    ).update((X, [0] * 5))
    axes = bm.plots.plot_boundary(sure, [0, 1], points=10, draws=5, rng=rng())
    assert not axes.collections
    drawn(axes.figure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bm.plots.plot_boundary(NUMBERS, [0]), "two different features"),
        (lambda: bm.plots.plot_boundary(NUMBERS, [0, 0]), "two different features"),
        (lambda: bm.plots.plot_boundary(NUMBERS, [0, 7]), "there is no 7"),
        (lambda: bm.plots.plot_boundary(NUMBERS, [0, 1], ci_prob=1), "ci_prob: must be"),
        (lambda: bm.plots.plot_boundary(NUMBERS, [0, 1], points=1), "points"),
        (
            lambda: bm.plots.plot_boundary(SAMPLES["patients"]().posterior, ["age", "stage"]),
            "that are numbers",
        ),
        (lambda: bm.plots.plot_class_densities(NUMBERS, features="0"), "must be a list"),
        (lambda: bm.plots.plot_class_densities(NUMBERS, features=["age"]), "there is no 'age'"),
        (
            lambda: bm.plots.plot_class_densities(bm.BetaBernoulli(1, 1)),
            "about classes and features",
        ),
        (
            lambda: bm.plots.plot_class_densities(bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1))),
            "has met no data",
        ),
        (lambda: bm.plots.plot_feature_ranking(pd.DataFrame({"mean": [1]})), "lacks .*lower"),
        (lambda: bm.plots.plot_feature_ranking(None), "what rank_features returns"),
    ],
)
def test_complaints(call, message):
    with pytest.raises(bm.DataError, match=message):
        call()


# --- ranking --------------------------------------------------------------------------------------


def test_a_ranking_is_drawn_in_its_order():
    report = SAMPLES["patients"]()
    table = bm.rank_features(report.posterior, rng=rng())
    axes = bm.plots.plot_feature_ranking(table)
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert sorted(names) == ["measured, age", "measured, size", "smoker", "stage"]
    (dots,) = axes.get_lines()
    np.testing.assert_allclose(dots.get_xdata(), table["mutual_information"])
    spans = [segment[:, 0] for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(spans, table[["lower", "upper"]])
    drawn(axes.figure)


def test_a_ranking_is_cut_after_the_most():
    table = bm.rank_features(SAMPLES["words"]().posterior, rng=rng())
    assert len(bm.plots.plot_feature_ranking(table).get_yticklabels()) == 20
    for most in (1, 3):
        assert len(bm.plots.plot_feature_ranking(table, most=most).get_yticklabels()) == most


# --- names, and the report ------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_names_are_drawn_as_they_are():
    report = SAMPLES["hostile_classes"]()
    collection = bm.plots.plot_class_densities(report.posterior, report.data)
    drawn(collection.get_viz("figure"))
    assert len(collection.data) == len(HOSTILE)
    axes = bm.plots.plot_boundary(report.posterior, HOSTILE[:2], report.data, points=8, draws=3)
    drawn(axes.figure)
    drawn(bm.plots.plot_feature_ranking(bm.rank_features(report.posterior, rng=rng())).figure)


def test_a_class_whose_name_begins_with_an_underscore_is_in_the_legend():
    classes = bm.DirichletCategorical([1, 1], categories=["_a", "$b$"])
    belief = bm.NaiveBayes(classes, bm.BetaBernoulli(1, 1)).update(
        (X > 2, ["_a"] * 3 + ["$b$"] * 2)
    )
    figure = bm.plots.plot_class_densities(belief).get_viz("figure")
    drawn(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [" _a", "$b$"]


@pytest.mark.parametrize("number", [1, 6, 9])
def test_every_class_has_a_colour_of_its_own(number):
    assert len(set(canvas.colours(number))) == number


@pytest.mark.slow
def test_the_report_of_a_classifier_draws_features_and_for_two_numbers_the_boundary():
    flowers = pictures(SAMPLES["flowers"]())
    assert [picture.name for picture in flowers][-2:] == ["features", "boundary"]
    patients = pictures(SAMPLES["patients"]())
    assert patients[-1].name == "features"
    alt = {panel.label: panel.alt for panel in patients[-1].panels}
    assert "ham: I 0.3" in alt["stage"]
    assert "ham: median 62" in alt["age"]
    assert pictures(SAMPLES["flowers"]()) == flowers, "the same bytes"
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_a_statistic_has_features_by_class_without_rows():
    case = samples.by_name("naive Bayes of bits")
    data = case.prior.statistic(case.take(range(case.rows)))
    picture = pictures(samples.report(case.prior, data))[-1]
    assert len(picture.panels) == 3
    assert "the rows" not in picture.caption
