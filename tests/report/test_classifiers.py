"""Reports of classifiers: beliefs that are made of parts."""

import dataclasses
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import bayesmodels as bm
from bayesmodels.report import tables
from bayesmodels.report.belief_validation import _rows_to_compare
from bayesmodels.report.html import render
from bayesmodels.report.predictive import MOST_PANELS, predictive
from tests.contract import cases
from tests.report import samples
from tests.report.samples import HOSTILE, SAMPLES, column

CLASSES = bm.DirichletCategorical([1, 1], categories=["ham", "spam"])
LABELS = ["ham", "spam", "spam", "ham"]
BITS = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])


@pytest.mark.slow
@pytest.mark.parametrize("given", ["rows", "statistic"])
@pytest.mark.parametrize("case", cases.NAIVE_BAYES, ids=lambda case: case.id)
def test_every_classifier_has_a_report(case, given):
    data = case.take(range(case.rows))
    data = case.prior.statistic(data) if given == "statistic" else data
    text = render(samples.report(case.prior, data, settings={"draws a chain": 50}))
    assert "Rows of the classes" in text
    assert ("rows are gone" in text) == (given == "statistic")


# --- tables ---------------------------------------------------------------------------------------


def test_parameters_stand_part_by_part_under_the_names_of_the_whole():
    found = tables.parameters(SAMPLES["patients"]())
    assert [table.caption for table in found] == [
        "Parameters of pi",
        "Parameters of theta_smoker",
        "Parameters of theta_stage",
        "Parameters of mu_measured and sigma2_measured",
    ]
    pi, smoker, stage, measured = found
    assert pi.columns[0].cells == ("pi[ham]", "pi[spam]")
    assert column(pi, "posterior", "α") == ("4", "5")
    assert smoker.columns[0].cells == ("theta_smoker[ham]", "theta_smoker[spam]")
    assert column(smoker, "prior", "β") == ("3", "3")
    assert stage.columns[0].cells[:2] == ("theta_stage[ham, I]", "theta_stage[ham, II]")
    assert measured.columns[0].cells[0] == "mu_measured[ham, age]"
    assert column(measured, "prior", "mean m") == ("50", "1", "50", "1")


def test_parameters_without_an_axis_of_their_own_variable_are_labelled_by_the_axes_they_have():
    @dataclasses.dataclass
    class Vector:
        dims = {"mu": ("class", "feature"), "Sigma": ("class", "feature", "other_feature")}  # noqa: RUF012
        coords = {"class": ("ham", "spam"), "feature": (0, 1), "other_feature": (0, 1)}  # noqa: RUF012

        def parameters(self):
            return {"mean m": np.zeros((2, 2)), "κ": np.ones(2), "common": np.ones(())}

    names = bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1)).parts()[0][1]
    mean, kappa, common = tables._parameters(Vector(), Vector(), names)
    assert mean.columns[0].cells[0] == "mu[ham, 0]"
    assert kappa.columns[0].cells == ("ham", "spam")
    assert kappa.caption == "Parameters of mu and Sigma"
    assert common.columns[0].cells == ("mu, Sigma",)


def test_coefficients_of_counts_inside_the_parts_are_told():
    prior = bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1, 1]))
    rows = bm.MultinomialCounts([[1, 1], [0, 1]])
    facts = dict(tables.evidence(samples.report(prior, (rows, ["ham", "spam"]))))
    assert facts["Of this, coefficients of counts"].startswith("0.693147")
    assert "Of this, coefficients of counts" not in dict(tables.evidence(SAMPLES["patients"]()))


@pytest.mark.slow
def test_class_probabilities_exact_beside_sampled():
    report = SAMPLES["patients"]()
    table = tables.predictions(report.comparison)
    values = report.comparison.predictions
    assert table.columns[0].cells == tuple(values.index)
    assert [c.head for c in table.columns] == ["", "exact", "sampled", "MCSE", "z"]
    found = [float(cell) for cell in column(table, "exact")]
    np.testing.assert_allclose(found, values["exact"], atol=1e-2)
    assert "Class probabilities</h2>" in samples.page("patients")


@pytest.mark.slow
def test_no_class_probabilities_where_none_were_compared():
    assert tables.predictions(SAMPLES["coin"]().comparison) is None
    assert tables.predictions(SAMPLES["words"]().comparison) is None
    assert "Class probabilities</h2>" not in samples.page("words")


def test_class_probabilities_are_marked_if_they_are_significant():
    report = SAMPLES["patients"]()
    values, tests = report.comparison.predictions, report.comparison.tests
    assert tables.predictions(report.comparison).marked == frozenset()
    told = next(test.label for test in tests if test.kind == "class probability")
    wrong = [dataclasses.replace(t, p=1e-9, ess=400) if t.label == told else t for t in tests]
    comparison = dataclasses.replace(report.comparison, tests=tuple(wrong))
    found = tables.predictions(comparison)
    assert found.marked == {list(values.index).index(told)}


def test_what_is_not_tested_has_a_dash_and_a_reason():
    report = SAMPLES["patients"]()
    values = report.comparison.predictions.copy()
    values.iloc[0, 2:] = np.nan
    comparison = dataclasses.replace(report.comparison, predictions=values)
    found = tables.predictions(comparison)
    assert found.columns[3].cells[0] == found.columns[4].cells[0] == "–"
    assert "nothing tested, where the average would rest on a few rare draws" in found.note


@pytest.mark.parametrize(
    "kind", ["pandas", *(pytest.param(k, marks=pytest.mark.slow) for k in ("polars", "array"))]
)
def test_rows_to_compare_keep_the_labels_of_the_data(kind):
    """Every row is looked at, not some that are renumbered."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 400)
    X = rng.normal(size=(800, 2)) + 6 * y[:, None]
    X[431] = 3.0  # between the classes, where a subset of 200 rows does not come
    frame, labels = pd.DataFrame(X, columns=["a", "b"]), np.arange(800)
    if kind == "pandas":
        labels = 2 * labels + 5
        given = frame.set_axis(labels)
    else:
        given = X if kind == "array" else pl.from_pandas(frame)
    prior = bm.GaussianDiscriminant(
        bm.DirichletCategorical([1, 1]), bm.NormalInverseWishart(np.zeros(2), 1, 4, np.eye(2))
    )
    posterior = prior.update((given, y))
    rows = _rows_to_compare(posterior, (given, y))
    assert rows.index[0] == labels[431]
    certain = posterior.class_probabilities(given).max(-1)
    assert list(rows.index) == list(labels[np.argsort(certain, kind="stable")[: len(rows)]])


# --- data -----------------------------------------------------------------------------------------


def test_missing_cells_are_called_missing_and_counted():
    facts, table = samples.excerpt(SAMPLES["patients"]())
    assert [c.head for c in table.columns] == ["row", "class", "smoker", "stage", "age", "size"]
    assert column(table, "smoker")[2] == "missing"
    assert column(table, "stage")[:2] == ("I", "missing")
    assert column(table, "age")[3:5] == ("missing", "44")
    assert dict(facts)["Missing cells"] == "4, which are integrated out"
    assert dict(facts)["Rows of the classes (2)"] == "ham 3, spam 3"


def test_counts_stay_sparse_and_are_named_by_the_categories():
    class Guarded(csr_array):
        def toarray(self, *args, **kwargs):
            assert self.shape[0] <= 6, "a sparse table was written out"
            return super().toarray(*args, **kwargs)

    report = SAMPLES["words"]()
    counts, labels = report.data
    guarded = bm.MultinomialCounts(Guarded(counts.counts))
    facts, table = samples.excerpt(dataclasses.replace(report, data=(guarded, labels)))
    assert [c.head for c in table.columns[:3]] == ["row", "class", "word 0"]
    assert dict(facts)["Rows"] == "40"
    assert dict(facts)["Columns (31)"].startswith("class, word 0, word 1")
    assert "19 more columns are not shown" in table.note
    assert "sparse table" in predictive(report).caption


@pytest.mark.parametrize(
    ("data", "heads"),
    [
        ((BITS, LABELS), ["class", "features[0]", "features[1]"]),
        (bm.Design(BITS, LABELS), ["class", "features[0]", "features[1]"]),
        (
            bm.Weighted((BITS, pd.Series(LABELS, name="kind")), [1, 2, 0.5, 1]),
            ["weight", "kind", "features[0]", "features[1]"],
        ),
        ((pd.DataFrame(BITS, columns=["a", "b"]), LABELS), ["class", "a", "b"]),
    ],
)
def test_features_in_any_container(data, heads):
    report = samples.report(bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1)), data)
    _, table = samples.excerpt(report)
    assert [c.head for c in table.columns[1:]] == heads
    assert bool(predictive(report).panels) != isinstance(data, bm.Weighted)


def test_features_by_block():
    blocks = {
        "bits": bm.BetaBernoulli(1, 1),
        "words": bm.DirichletCategorical([1, 1, 1], list("abc")),
    }
    rows = {"bits": BITS, "words": bm.MultinomialCounts(np.eye(4, 3, dtype=int))}
    report = samples.report(bm.NaiveBayes(CLASSES, blocks), (rows, LABELS))
    _, table = samples.excerpt(report)
    assert [c.head for c in table.columns[1:]] == ["class", "bits[0]", "bits[1]", "a", "b", "c"]
    assert [panel.label for panel in predictive(report).panels] == ["class", "bits", "words"]


def test_a_statistic_of_many_features_is_cut_short():
    prior = bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1] * 60, [f"w{i}" for i in range(60)]))
    data = prior.statistic((bm.MultinomialCounts(np.ones((2, 60), int)), ["ham", "spam"]))
    report = samples.report(prior, data, settings={"draws a chain": 20})
    assert max(len(value) for _, value in samples.excerpt(report)[0]) < 1100


# --- predictive check -----------------------------------------------------------------------------


def test_classes_bits_categories_and_numbers_each_have_their_panels():
    picture = predictive(SAMPLES["patients"]())
    labels = [panel.label for panel in picture.panels]
    assert labels == ["class", "smoker", "stage", "age", "size"]
    words = dict(zip(labels, (panel.alt for panel in picture.panels), strict=True))
    assert "ham: 3 observed" in words["class"]
    assert "smoker: 3 observed" in words["smoker"]
    assert "I: 2 observed" in words["stage"]
    assert "5 observed values of age" in words["age"]
    assert re.search(r"mean 53\.\d* observed", words["age"])


def test_columns_of_one_block_are_counted_side_by_side():
    case = samples.by_name("naive Bayes of bits")
    classes, bits = predictive(samples.report(case.prior, case.take(range(6)))).panels
    assert classes.label == "class"
    assert re.search(r"old: 2 observed.*new: 5 observed.*none: 1 observed", bits.alt)


@pytest.mark.slow
def test_of_many_columns_some_are_shown_and_the_rest_counted():
    rng = np.random.default_rng(1)
    prior = bm.NaiveBayes(CLASSES, bm.NormalInverseGamma(0, 1, 2, 2))
    picture = predictive(
        samples.report(prior, (rng.normal(size=(9, 12)), rng.choice(["ham", "spam"], 9)))
    )
    assert len(picture.panels) == MOST_PANELS
    assert "5 more columns are not shown" in picture.caption


@pytest.mark.slow
def test_hostile_names_are_labels_and_nothing_else():
    picture = predictive(SAMPLES["hostile_classes"]())
    assert [panel.label for panel in picture.panels] == ["class", *HOSTILE[:4], HOSTILE[1]]
