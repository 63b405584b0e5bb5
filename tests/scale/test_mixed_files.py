"""Files of a folder need not have the types of the first: no number or label is recoded to fit."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import bayesmodels as bm

LARGE = 1e8 + np.random.default_rng(1).normal(size=50)
LINE = bm.LinearRegression.flat(["x"])
PLAIN = bm.NormalInverseGamma(1e8, 1e-3, 2, 2)
LABELS = bm.DirichletCategorical([1, 1, 1], ["c", "a", "b"])
DAYS = list(pd.date_range("2020-01-01", periods=2).to_pydatetime())
ON_DAYS = bm.DirichletCategorical([1, 1], DAYS)


def two(x, y):
    return {"x": x, "y": y}


MIXED = {  # model, what is asked, columns of each file, the rows of all
    "single precision first": (
        PLAIN,
        {"columns": "y"},
        [{"y": pa.array([1e8], "f4")}, {"y": LARGE}],
        np.r_[1e8, LARGE],
    ),
    "booleans first": (
        LINE,
        {"target": "y"},
        [two([True, False], [2.0, 0.0]), two([5, 3, 9], [10.0, 6.0, 18.0])],
        (np.c_[[1, 0, 5, 3, 9]], [2.0, 0, 10, 6, 18]),
    ),
    "short whole numbers, then fractions": (
        LINE,
        {"target": "y"},
        [two(pa.array([1, 2], "int8"), [1.0, 3.0]), two([0.5, 1000.25], [1.0, 2.0])],
        (np.c_[[1, 2, 0.5, 1000.25]], [1.0, 3, 1, 2]),
    ),
    "nothing but gaps in a column that is not read": (
        LINE,
        {"target": "y", "columns": ["x"]},
        [{**two([1.0], [2.0]), "z": pa.nulls(1)}, {**two([2.0], [5.0]), "z": ["text"]}],
        (np.c_[[1.0, 2.0]], [2.0, 5.0]),
    ),
    "decimals of several scales": (
        PLAIN,
        {"columns": "y"},
        [{"y": [Decimal("1.5")]}, {"y": [Decimal("2.125"), Decimal("1e-3")]}, {"y": [0.1]}],
        [1.5, 2.125, 1e-3, 0.1],
    ),
    "columns in another order": (
        bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)),
        {},
        [two([1.0, 5.0], [2.0, 3.0]), {"y": [7.0], "x": [-1.0]}],
        [[1.0, 2.0], [5.0, 3.0], [-1.0, 7.0]],
    ),
    "levels in another order": (
        LABELS,
        {"columns": "k"},
        [
            {"k": pa.array(["a", "b"]).dictionary_encode()},
            {"k": pa.array(["c", "b", "b"]).dictionary_encode()},
            {"k": ["a"]},
        ],
        ["a", "b", "c", "b", "b", "a"],
    ),
    "times in other units": (
        ON_DAYS,
        {"columns": "k"},
        [{"k": pa.array(DAYS[:1], pa.timestamp("s"))}, {"k": pa.array(DAYS, pa.timestamp("ns"))}],
        [DAYS[0], *DAYS],
    ),
}


def parquet(folder, tables):
    for number, columns in enumerate(tables):
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


def feathers(folder, tables):
    for number, columns in enumerate(tables):
        feather.write_feather(pa.table(columns), str(folder / f"{number}.feather"))
    return folder


WRITTEN = {
    "parquet": parquet,
    "feather": feathers,
    "dataset": lambda folder, tables: ds.dataset(
        sorted(map(str, parquet(folder, tables).iterdir()))
    ),
    "tables": lambda _, tables: [pa.table(columns) for columns in tables],
}


def same(found, wanted):
    for name in ("counts", "n", "mean", "scatter", "factor"):
        if hasattr(wanted, name):
            value = np.abs(getattr(wanted, name)).max()
            np.testing.assert_allclose(
                getattr(found, name), getattr(wanted, name), rtol=1e-9, atol=1e-12 * value
            )


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("case", MIXED)
def test_each_file_is_read_in_its_own_types(case, written, tmp_path):
    model, asked, tables, rows = MIXED[case]
    if case == "columns in another order" and written == "tables":
        asked = {"columns": ["x", "y"]}
    found = bm.scale.statistic(model, WRITTEN[written](tmp_path, tables), **asked)
    same(found, model.statistic(rows))


CSV = {  # files, and the rows of all
    "whole numbers first": (["x,y\n1,2\n2,3\n", "x,y\n0.5,1\n2.5,4\n"], [1, 2, 0.5, 2.5]),
    "nothing first": (["x,y,z\n1,2,\n2,3,\n", "y,x,z\n1,0.5,q\n4,2.5,q\n"], [1, 2, 0.5, 2.5]),
}


@pytest.mark.parametrize("case", CSV)
def test_a_folder_of_text_is_read_with_one_type_for_all(case, tmp_path):
    files, x = CSV[case]
    for number, text in enumerate(files):
        (tmp_path / f"{number}.csv").write_text(text)
    found = bm.scale.statistic(LINE, tmp_path, target="y", columns=["x"])
    same(found, LINE.statistic((np.c_[x], [2, 3, 1, 4])))


def test_labels_that_look_like_numbers_in_some_files_are_labels(tmp_path):
    (tmp_path / "0.csv").write_text("k\n1\n007\n")
    (tmp_path / "1.csv").write_text("k\nx\n1\n")
    model = bm.DirichletCategorical([1, 1, 1], ["1", "007", "x"])
    assert bm.scale.statistic(model, tmp_path, columns="k").counts.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ([two([1.0], [2.0]), {"y": [1.0]}], r"1\.\w+' has no column 'x'; the first"),
        ([two([1.0], [2.0]), {**two([1.0], [1.0]), "z": [1.0]}], "has a column 'z', too"),
        ([two(["1"], [2.0]), two([1], [2.0])], "'x' as int64, files before it as string"),
        ([two(pa.nulls(1), [2.0]), two([1], [2.0]), two(["1"], [2.0])], "before it as int64"),
        ([two(DAYS[:1], [2.0]), two([1], [2.0])], "'x' as int64, files before it as timestamp"),
    ],
)
@pytest.mark.parametrize("written", [parquet, feathers])
def test_what_no_type_holds_is_refused_by_name(tables, words, written, tmp_path):
    with pytest.raises(bm.DataError, match=words):
        bm.scale.statistic(
            bm.BetaBernoulli(1, 1),
            written(tmp_path, tables),
            to_data=lambda rows: np.zeros(len(rows)),
        )


@pytest.mark.parametrize("lacking", ["y\n1\n", "x,y,z\n1,2,3\n"])
def test_text_that_lacks_a_column_or_has_one_more_is_refused(lacking, tmp_path):
    (tmp_path / "0.csv").write_text("x,y\n1,2\n")
    (tmp_path / "1.csv").write_text(lacking)
    with pytest.raises(bm.DataError, match=r"1\.csv' has (no column 'x'|a column 'z', too)"):
        bm.scale.statistic(LINE, tmp_path, target="y")


def test_a_schema_says_what_the_first_megabyte_of_text_does_not(tmp_path):
    file = tmp_path / "0.csv"
    file.write_text("x,y\n" + "1,2\n" * 300_000 + "0.5,1\n")
    with pytest.raises(bm.DataError, match=r"invalid value '0\.5'.*dataset\(\.\.\., schema="):
        bm.scale.statistic(LINE, file, target="y")
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    source = ds.dataset(file, format="csv", schema=schema)
    found = bm.scale.statistic(LINE, source, target="y")
    assert found.n == 300_001
    np.testing.assert_allclose(found.mean, [1 - 0.5 / 300_001, 2 - 1 / 300_001], rtol=1e-9)
