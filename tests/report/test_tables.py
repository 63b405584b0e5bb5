import dataclasses

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.report import draws_validation, sections, tables
from bayesmodels.report.html import render
from bayesmodels.report.page import MOST_ROWS, Column, Table, worst_first
from bayesmodels.report.rounding import decimals_of, powers, rounded, significant
from tests.report import samples
from tests.report.samples import DRAWS, HOSTILE, SAMPLES, column


def glance(report):
    return tables.glance(report)


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        (0.5, 3, "0.500"),
        (-0.0004, 2, "0.00"),
        (-1.25, 1, "−1.2"),
        (2.5e9, 2, "2.50000e+09"),
        (3e-12, 12, "3.00000e−12"),
        (float("nan"), 2, "–"),
        (float("-inf"), 2, "−∞"),
    ],
)
def test_rounded(x, decimals, text):
    assert rounded(x, decimals) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (-0.0, "0"),
        (1 / 3, "0.333333"),
        (1000.0000000000001, "1000"),
        (2e9 + 1, "2000000001"),
        (1e-7, "1.00000e−07"),
        (-123456.789, "−123457"),
        (float("inf"), "∞"),
    ],
)
def test_significant(x, text):
    assert significant(x) == text


def test_powers_have_a_true_minus():
    assert powers(-2.5e-9, 1) == "−2.5e−09"


@pytest.mark.parametrize(("spread", "places"), [(0.0, 3), (np.nan, 3), (0.049, 4), (15.5, 1)])
def test_decimals_of(spread, places):
    assert decimals_of(spread, 3) == places


@pytest.mark.parametrize(
    ("cells", "padding"),
    [
        (("1", "2"), ("", "")),
        (("1.25", "30", "–"), ("", ".00", ".00")),
        (("1.0e+09", "2"), ("", "")),
        ((), ()),
    ],
)
def test_padding_aligns_the_decimal_point(cells, padding):
    assert Column("x", cells).padding == padding


def test_groups_span_their_columns():
    table = Table("t", (Column("", ()), Column("a", (), "g"), Column("b", (), "g")))
    assert table.groups == [("", 1), ("g", 2)]


def test_parameters_of_a_coin():
    (table,) = tables.parameters(SAMPLES["coin"]())
    assert table.columns[0].cells == ("theta",)
    assert column(table, "prior", "α") == ("1",)
    assert column(table, "posterior", "α") == ("56",)
    assert column(table, "posterior", "β") == ("46",)


def test_parameters_of_groups_repeat_the_common_prior():
    (table,) = tables.parameters(SAMPLES["aspirin"]())
    assert table.columns[0].cells == ("theta[aspirin]", "theta[placebo]")
    assert column(table, "prior", "β") == ("1", "1")
    assert column(table, "posterior", "β") == ("10934", "10846")


def test_parameters_of_categories():
    (table,) = tables.parameters(SAMPLES["party"]())
    assert len(table.columns[0].cells) == 7
    assert column(table, "posterior", "α")[0] == "201"


def test_parameters_of_a_regression_are_two_tables():
    coefficients, noise = tables.parameters(SAMPLES["regression"]())
    assert coefficients.caption == "Parameters of w"
    assert set(column(coefficients, "prior", "precision P, diagonal")) == {"0.001"}
    assert column(noise, "prior", "shape a") == ("2",)
    assert column(noise, "posterior", "shape a") == ("10",)


def test_a_flat_prior_is_called_flat():
    coefficients, _ = tables.parameters(SAMPLES["flat"]())
    assert column(coefficients, "prior", "mean m") == ("flat", "flat")
    assert "–" not in column(coefficients, "posterior", "mean m")
    assert "prefers no value" in coefficients.note


def test_a_partly_flat_prior_keeps_the_means_it_has():
    prior = bm.LinearRegression([1.0, 7.0, 2.0], np.diag([4.0, 0.0, 2.0]), 2, 1)
    x = np.random.default_rng(1).normal(size=(9, 3))
    report = samples.report(prior, (x, x.sum(1)))
    coefficients, _ = tables.parameters(report)
    assert column(coefficients, "prior", "mean m") == ("1", "flat", "2")
    assert column(coefficients, "prior", "precision P, diagonal") == ("4", "flat", "2")


def test_parameters_of_a_batch_of_regressions():
    coefficients, noise = tables.parameters(SAMPLES["targets"]())
    assert coefficients.columns[0].cells[:2] == ("w[left, 0]", "w[left, 1]")
    assert noise.columns[0].cells == ("sigma2[left]", "sigma2[right]")


def test_comparison_rounds_to_what_the_spread_carries():
    table = tables.comparison(SAMPLES["coin"]().comparison)[0]
    assert column(table, "exact", "Mean") == ("0.5490",)
    assert column(table, "exact", "Standard deviation") == ("0.0490",)
    assert column(table, "from", "89 % interval, exact") == ("0.4701",)
    assert column(table, "of", "Discrepancy")[0] == "skew"
    assert "12 comparisons" in table.note


def test_comparison_marks_large_discrepancies():
    assert tables.comparison(SAMPLES["disagreeing"]().comparison)[0].marked == {0}
    assert not tables.comparison(SAMPLES["coin"]().comparison)[0].marked


def test_a_long_table_shows_the_largest_discrepancies_and_says_what_it_leaves_out():
    report = SAMPLES["wide"]()
    table = tables.comparison(report.comparison)[0]
    z = [abs(float(cell.replace("−", "-"))) for cell in column(table, "z", "Discrepancy")]
    assert len(z) == MOST_ROWS
    assert max(z) == pytest.approx(abs(report.comparison.largest.z), abs=0.051)
    assert min(z) == pytest.approx(report.comparison.table["z"].abs().nlargest(40).min(), abs=0.051)
    kept = [int(label[6:-1]) for label in table.columns[0].cells]
    assert kept == sorted(kept), "in the model's order"
    assert "40 of 60 rows are shown" in table.note
    assert "20 are not shown" in table.note
    (parameters,) = tables.parameters(report)
    assert len(parameters.columns[1].cells) == MOST_ROWS
    assert "20 are not shown" in parameters.note


def test_intervals_have_the_probability_that_is_asked_for():
    """A tenth of the draws is below each end of an 80 % interval; exact ends are the law's."""
    report = SAMPLES["coin"]()
    (table,) = tables.comparison(report.comparison, prob=0.8)
    cells = {(column.group, column.head): column.cells[0] for column in table.columns}
    law, x = report.posterior.marginals()["theta"], report.sampled.posterior["theta"]
    for group, low in (("exact", law.ppf(0.1)), ("sampled", np.quantile(x, 0.1))):
        assert float(cells[f"80 % interval, {group}", "from"]) == pytest.approx(low, abs=1e-4)
    values = tables.with_intervals(report.comparison, 0.8)
    assert {"eti89_lb", "eti80_lb", "sampled_eti80_ub"} <= {*values}


@pytest.mark.slow
def test_every_column_is_as_long_as_the_first():
    for make in SAMPLES.values():
        report = make()
        for table in [*tables.parameters(report), tables.comparison(report.comparison)[0]]:
            assert {len(c.cells) for c in table.columns} == {len(table.columns[0].cells)}


def test_glance_counts_divergences():
    report = SAMPLES["coin"]()
    sampled = report.sampled.copy()
    diverging = np.zeros((4, 400), bool)
    diverging[1, :3] = True
    sampled["sample_stats"] = (
        sampled["sample_stats"].to_dataset().assign(diverging=(("chain", "draw"), diverging))
    )
    assert ("divergences", "3") in tables.divergences(sampled)


def test_no_evidence_is_none():
    assert ("log evidence", "none") in glance(SAMPLES["flat"]())
    assert not [name for name, _ in tables.evidence(SAMPLES["flat"]()) if "evidence" in name]


def test_evidence_of_counts_says_what_their_coefficients_are():
    facts = dict(tables.evidence(samples.report(bm.BetaBernoulli(1, 1), bm.BinomialCounts(1, 2))))
    assert facts["Log evidence, algebra"] == rounded(-np.log(3), 9)
    assert facts["Of this, coefficients of counts"] == rounded(np.log(2), 9)


def test_a_discrepancy_beyond_its_bound_is_said_to_be():
    report = samples.report(bm.BetaBernoulli(1, 1), [1, 0], constancy=2.5e7)
    assert ("Variation between points", "25000000 times its bound: too large") in tables.evidence(
        report
    )


def test_reproduction_is_the_call_that_was_made():
    assert sections.call("validate", ["prior", "data"], SAMPLES["coin"]().settings) == (
        "report = bm.validate(prior, data, draws=400, tune=400, chains=4, likelihood='rows', "
        "level=0.01, rng=1)"
    )
    unseeded = samples.report(bm.BetaBernoulli(1, 1), [1], settings={"seed": "not given"})
    assert "rng" not in sections.call("validate", [], unseeded.settings)


def test_names_stay_as_they_are():
    coefficients, _ = tables.parameters(SAMPLES["hostile"]())
    assert coefficients.columns[0].cells == tuple(f"w[{name}]" for name in HOSTILE)


def test_only_what_is_significant_is_marked():
    """Among hundreds of comparisons some are beyond three standard errors and none is wrong."""
    sample = SAMPLES["coin"]()
    few = sample.comparison
    tests = [dataclasses.replace(few.tests[0], z=3.2, p=0.0014), *few.tests[1:]]
    table = few.table.assign(z=3.2)
    near = dataclasses.replace(
        sample, comparison=dataclasses.replace(few, tests=tests, table=table)
    )
    assert tables.comparison(near.comparison)[0].marked == frozenset()
    tests[0] = dataclasses.replace(tests[0], z=7.0, p=1e-9)
    far = dataclasses.replace(sample, comparison=dataclasses.replace(few, tests=tests))
    assert tables.comparison(far.comparison)[0].marked == {0}
    note = tables.comparison(far.comparison)[0].note
    assert "significant among all 12 comparisons at a family-wise level" in note


def test_the_fewest_effective_draws_are_the_least_of_the_table():
    sample = SAMPLES["regression"]()
    columns = tables.comparison(sample.comparison)[0].columns
    cells = next(c.cells for c in columns if c.head == "ESS bulk")
    assert dict(glance(sample))["fewest effective draws"] == min(cells, key=int)


def test_variables_keep_their_names():
    """A list of findings or facts must not write theta as Theta."""
    findings = ("the spread of theta is off.", "theta lies 0.3 standard deviations too high.")
    sample = SAMPLES["disagreeing"]()
    told = dataclasses.replace(sample.comparison, findings=findings)
    page = render(dataclasses.replace(sample, comparison=told))
    assert "<li>theta lies 0.3 standard deviations too high.</li>" in page
    facts = dict(draws_validation.sets(DRAWS["two_sets"]()))
    assert all(name[0].isupper() for name in facts)


def test_parameters_are_labelled_by_the_axes_of_their_own_variable():
    """Means of classes and a shared covariance both have two axes, of other lengths."""
    classes = bm.DirichletCategorical([1, 1, 1], ["a", "b", "c"])
    gaussian = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2), features=["x", "y"])
    prior = bm.GaussianDiscriminant(classes, gaussian, "shared")
    posterior = prior.update((np.random.default_rng(1).normal(size=(6, 2)), list("abcabc")))
    (part, names) = posterior.parts()[1]
    labels = {
        label.partition("[")[0]: table.columns[0].cells
        for table in tables._parameters(part, part, names)
        for label in table.columns[0].cells
    }
    assert labels["mu"] == tuple(f"mu[{c}, {x}]" for c in "abc" for x in "xy")
    before, after = tables._parameters(part, part, names)[-2:]
    assert (before.caption, after.caption) == (
        "scale Ψ of Sigma, prior",
        "scale Ψ of Sigma, posterior",
    )
    scale = part.parameters()["scale Ψ"]
    assert [c.head for c in after.columns] == ["", "x", "y"]
    assert after.columns[1].cells == tuple(f"{scale[i, 0]:.4g}".replace("-", "−") for i in (0, 1))
    assert after.columns[2].cells == ("", f"{scale[1, 1]:.4g}"), "each number once"


def test_a_covariance_is_compared_once():
    sample = SAMPLES["vectors"]()
    names = tables.comparison(sample.comparison)[0].columns[0].cells
    assert names == ("mu[0]", "mu[1]", "Sigma[0, 0]", "Sigma[0, 1]", "Sigma[1, 1]")


def test_rows_that_are_kept_stay_in_the_model_s_order():
    values = pd.DataFrame({"z": np.arange(100.0)}, index=[f"w[{i}]" for i in range(100)])
    kept = worst_first(values).index[:MOST_ROWS]
    assert list(kept) == [f"w[{i}]" for i in range(60, 100)]
