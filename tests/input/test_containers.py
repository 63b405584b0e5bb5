"""Labels read through dictionaries, and frames read column by column."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayesmodels as bm
from bayesmodels.input.containers import read_codes, read_columns

COLOURS = ("red", "green", "blue")
ROWS = ["blue", "red", "red", "green", "blue"]
SERIES = {
    "pandas strings": pd.Series(ROWS),
    "pandas objects": pd.Series(ROWS, dtype=object),
    "pandas category": pd.Series(ROWS, dtype="category"),
    "pandas unused category": pd.Series(pd.Categorical(ROWS, ["mauve", *COLOURS])),
    "arrow strings": pa.array(ROWS),
    "arrow dictionary": pa.array(ROWS).dictionary_encode(),
    "arrow chunks": pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (ROWS[:2], ROWS[2:])]
    ),
    "polars strings": pl.Series(ROWS),
    "polars categorical": pl.Series(ROWS, dtype=pl.Categorical),
    "polars enum": pl.Series(ROWS, dtype=pl.Enum(["green", "blue", "red"])),
}


@pytest.mark.parametrize("kind", SERIES)
def test_labels_are_places_among_the_levels(kind):
    found = read_codes(SERIES[kind], "x", COLOURS)
    assert found.values.tolist() == [2, 0, 0, 1, 2]
    assert found.values.itemsize == 1
    assert found.levels == COLOURS


@pytest.mark.parametrize("kind", SERIES)
def test_classes_and_features_of_any_kind(kind):
    classes = bm.DirichletCategorical([1, 1, 1], categories=COLOURS)
    prior = bm.NaiveBayes(classes, {"a": bm.DirichletCategorical([1, 1, 1], categories=COLOURS)})
    wanted = prior.statistic((pd.DataFrame({"a": ROWS}, dtype=object), ROWS))
    frame = pd.DataFrame({"a": ROWS})
    column = SERIES[kind]
    if not kind.startswith("pandas"):
        frame = pl.DataFrame({"a": column}) if "polars" in kind else pa.table({"a": column})
    else:
        frame["a"] = column
    assert prior.statistic((frame, column)) == wanted
    found = prior.update((frame, column)).class_probabilities(frame)
    np.testing.assert_array_equal(found, prior.update(wanted).class_probabilities(frame))


def test_whole_numbers_as_categories():
    rows = pd.Series([3, 1, 3], dtype="category")
    assert read_codes(rows, "x", (1, 2, 3)).values.tolist() == [2, 0, 2]
    assert read_codes(rows, "x", ("1", "2", "3")) is None
    assert read_codes(rows, "x", (True, 2, 3)) is None
    assert read_codes(pd.Series([3, 1, 3]), "x", (1, 2, 3)) is None


def test_many_levels_need_a_larger_dtype():
    levels = tuple(f"level {i}" for i in range(300))
    found = read_codes(pd.Series(levels), "x", levels)
    assert found.values.tolist() == list(range(300))


@pytest.mark.parametrize("kind", ["pandas strings", "pandas category", "arrow dictionary"])
@pytest.mark.parametrize(("value", "words"), [("mauve", "row 3 holds 'mauve'"), (None, "row 3")])
def test_unknown_and_missing_labels_are_named(kind, value, words):
    rows = [*ROWS[:3], value, *ROWS[3:]]
    data = pd.Series(rows, dtype="category" if kind == "pandas category" else "str")
    if kind.startswith("arrow"):
        data = pa.array(rows).dictionary_encode()
    assert read_codes(data, "x", COLOURS) is None
    belief = bm.DirichletCategorical([1, 1, 1], categories=COLOURS)
    with pytest.raises(bm.DataError, match=words):
        belief.statistic(data)


def test_a_dropped_category_of_the_frame_is_no_level():
    belief = bm.DirichletCategorical([1, 1], categories=["red", "blue"])
    rows = pd.Series(pd.Categorical(["red", "blue"], ["green", "blue", "red"]))
    assert belief.statistic(rows).counts.tolist() == [1, 1]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_numbers_are_not_copied(library):
    columns = {"a": np.arange(5.0), "b": np.arange(5, dtype=np.int8)}
    first, arrays = read_columns(library(columns), "x")
    assert first.columns == ("a", "b")
    assert [values.dtype for values in arrays] == [np.float64, np.int8]
    if library is pa.table:
        assert all(np.shares_memory(a, b) for a, b in zip(arrays, columns.values(), strict=True))
    assert read_columns(library({"a": ["x", "y"]}), "x") is None


def test_small_whole_numbers_stay_small_and_count_right():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 100, (5000, 3)).astype(np.int8)
    y = rng.integers(0, 3, 5000).astype(np.int8)
    prior = bm.NaiveBayes(bm.DirichletCategorical([1] * 3), bm.DirichletCategorical([1] * 100))
    assert prior.statistic((codes, y)) == prior.statistic((codes.astype(int), y.astype(int)))
