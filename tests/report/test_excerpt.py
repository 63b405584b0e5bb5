import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.report.excerpt import MOST_COLUMNS
from tests.report import samples
from tests.report.samples import SAMPLES


def test_data_of_a_statistic():
    facts, table = samples.excerpt(SAMPLES["statistic"]())
    assert table is None
    assert "BernoulliStatistic(ones=3, zeros=17" in dict(facts)["Statistic"]


def test_data_of_groups():
    facts, table = samples.excerpt(SAMPLES["aspirin"]())
    assert [c.head for c in table.columns] == ["row", "arm", "infarctions", "participants"]
    assert table.columns[3].cells == ("11037", "11034")
    assert dict(facts)["Groups (2)"] == "aspirin, placebo"


@pytest.mark.parametrize(
    ("prior", "rows", "heads"),
    [
        (bm.BetaBernoulli(1, 1), [1, 0, 1], ["x"]),
        (bm.BetaBernoulli(1, 1), pd.Series([True, False], name="win"), ["win"]),
        (bm.BetaBernoulli(1, 1), np.zeros((3, 2), int), ["x[0]", "x[1]"]),
        (bm.BetaBernoulli(1, 1), bm.BinomialCounts(3, 20), ["successes", "trials"]),
        (bm.BetaBernoulli(1, 1), np.zeros(0), ["x"]),
        (
            bm.DirichletCategorical([1, 1]),
            bm.MultinomialCounts([[1, 2], [3, 4]]),
            ["counts[0]", "counts[1]"],
        ),
        (
            bm.LinearRegression(0, 1, 1, 1),
            bm.Design([[1.0], [2.0]], [1.0, 2.0]),
            ["features[0]", "target"],
        ),
    ],
)
def test_data_in_any_container(prior, rows, heads):
    _, table = samples.excerpt(samples.report(prior, rows))
    assert [c.head for c in table.columns[1:]] == heads


def test_data_name_rows_by_their_index_and_cut_long_and_wide_ones():
    x = np.random.default_rng(1).normal(size=(10, 15))
    frame = pd.DataFrame(x, index=[f"car {i}" for i in range(10)]).rename(columns=str)
    prior = bm.LinearRegression(np.zeros(15), 1, 1, 1)
    _, table = samples.excerpt(samples.report(prior, bm.Design(frame, frame["0"])))
    assert table.columns[0].cells[0] == "car 0"
    assert len(table.columns) == 1 + MOST_COLUMNS
    assert table.note == "4 more rows are not shown. 4 more columns are not shown."
