"""Input: what is read as what, and every complaint word for word."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bayesmodels as bm
from tests.asking import complaint
from tests.strategies import (
    BINARY_CONTAINERS,
    FRAME_CONTAINERS,
    LABEL_CONTAINERS,
    binary_rows,
    labels,
)

NOT_COUNTED = " Correct it; what is measured, not counted, wants a model of numbers."
TAKE_OUT = " To take rows out, subtract their statistic: all - some."
COIN = bm.BetaBernoulli(1, 1)
DIE = bm.DirichletCategorical([1, 1, 1])
COLOURS = bm.DirichletCategorical([1, 1, 1], categories=["red", "green", "blue"])
LINE = bm.LinearRegression.flat(2)
X, Y = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 4.0]
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 0.0], "y": [1, 2, 4]})


def table(rows):
    """Parametrise by name, data and message."""
    return pytest.mark.parametrize(
        ("data", "message"), [pytest.param(*row[1:], id=row[0]) for row in rows]
    )


# --- one meaning in every container --------------------------------------------------------------


@given(rows=binary_rows(), container=st.sampled_from(sorted(BINARY_CONTAINERS)))
def test_zeros_and_ones_in_any_container(rows, container):
    statistic = COIN.statistic(BINARY_CONTAINERS[container](rows))
    assert statistic == bm.statistics.BernoulliStatistic(sum(rows), len(rows) - sum(rows))


@given(rows=labels(["red", "green", "blue"]), container=st.sampled_from(sorted(LABEL_CONTAINERS)))
def test_labels_in_any_container(rows, container):
    statistic = COLOURS.statistic(LABEL_CONTAINERS[container](rows))
    assert statistic.counts.tolist() == [rows.count(c) for c in ("red", "green", "blue")]


@pytest.mark.parametrize("container", FRAME_CONTAINERS)
def test_frames_of_any_library(container):
    columns = {"old": [1, 0, 1], "new": [0, 0, 1]}
    statistic = COIN.statistic(FRAME_CONTAINERS[container](columns))
    expected = bm.statistics.BernoulliStatistic([2, 1], [1, 2], coords={"feature": ("old", "new")})
    assert statistic == expected


@pytest.mark.parametrize("container", FRAME_CONTAINERS)
def test_designs_from_frames_of_any_library(container):
    columns = {name: FRAME[name].tolist() for name in FRAME}
    design = bm.Design.from_frame(FRAME_CONTAINERS[container](columns), "y", intercept=True)
    prior = bm.LinearRegression(0, 1, 1, 1, features=["intercept", "a", "b"])
    with_ones = np.column_stack([np.ones(3), FRAME[["a", "b"]]])
    expected = bm.LinearRegression(np.zeros(3), 1, 1, 1).update((with_ones, FRAME["y"]))
    np.testing.assert_array_equal(prior.update(design).factor, expected.factor)
    assert prior.update(design).coords == {"feature": ("intercept", "a", "b")}


@table(
    [
        ("range", range(2), (1, 1)),
        ("index", pd.Index([1, 0, 1]), (2, 1)),
        ("memory", memoryview(b"\x01\x00"), (1, 1)),
        ("list of scalars", [np.int8(1), np.int64(0)], (1, 1)),
        ("unmasked", np.ma.array([1, 0], mask=False), (1, 1)),
        ("half precision", np.array([0, 1], dtype=np.float16), (1, 1)),
        ("big endian", np.array([0, 1], dtype=">i4"), (1, 1)),
        ("every other row", np.array([1, 0, 1, 0, 0])[::2], (2, 1)),
        ("every other bool", np.array([True, False, True, False, False])[::2], (2, 1)),
        ("sparse pandas", pd.Series(pd.arrays.SparseArray([1, 0, 1])), (2, 1)),
    ]
)
def test_what_else_reads_as_zeros_and_ones(data, message):
    ones, zeros = message
    assert COIN.statistic(data) == bm.statistics.BernoulliStatistic(ones, zeros)


def test_column_names_may_be_numbers_or_tuples():
    numbered = COIN.statistic(pd.DataFrame([[1, 0], [1, 1]]))
    assert numbered.coords == {"feature": (0, 1)}
    nested = pd.DataFrame([[1, 0]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert COIN.statistic(nested).coords == {"feature": (("a", "x"), ("a", "y"))}
    chosen = bm.Design.from_frame(pd.DataFrame([[5.0, 1.0, 2.0], [6.0, 3.0, 4.0]]), 0, [2, 1])
    assert bm.LinearRegression.flat([2, 1]).statistic(chosen).mean.tolist() == [3, 2, 5.5]


def test_an_index_becomes_the_labels_of_the_rows():
    rows = pd.Series([1, 0], index=["ann", "bob"])
    assert COIN.observed(rows)["x"][1] == {"row": ("ann", "bob")}
    repeated = pd.Series([1, 0], index=["ann", "ann"])
    assert COIN.observed(repeated)["x"][1] == {"row": (0, 1)}


@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series([], dtype=float), pl.Series([])])
def test_no_rows_are_rows_too(empty):
    assert COIN.statistic(empty) == bm.statistics.BernoulliStatistic(0, 0)
    assert DIE.statistic(empty) == bm.statistics.CategoricalStatistic([0, 0, 0])
    named = {"category": COLOURS.categories}
    assert COLOURS.statistic(empty) == bm.statistics.CategoricalStatistic([0, 0, 0], coords=named)
    assert COIN.statistic(bm.BinomialCounts(empty, empty)) == bm.statistics.BernoulliStatistic(0, 0)
    assert LINE.statistic((np.zeros((0, 2)), empty)).n == 0


def test_a_frame_without_rows_keeps_its_columns():
    frame = pd.DataFrame({"a": [1], "b": [0]}).iloc[:0]
    expected = bm.statistics.BernoulliStatistic([0, 0], [0, 0], coords={"feature": ("a", "b")})
    assert COIN.statistic(frame) == expected


# --- narrow integers and large counts ------------------------------------------------------------


def test_narrow_integers_do_not_overflow():
    assert COIN.statistic(np.ones(1000, dtype=np.int8)).ones == 1000
    successes, trials = np.full(10, 200, dtype=np.uint8), np.full(10, 250, dtype=np.uint8)
    statistic = COIN.statistic(bm.BinomialCounts(successes, trials))
    assert (statistic.ones, statistic.zeros) == (2000, 500)
    counts = np.full((4, 3), 100, dtype=np.int8)
    assert DIE.statistic(bm.MultinomialCounts(counts)).counts.tolist() == [400, 400, 400]
    grouped = DIE.statistic(bm.Grouped(bm.MultinomialCounts(counts), by=list("abab")))
    assert grouped.counts.tolist() == [[200, 200, 200], [200, 200, 200]]


def test_squares_of_narrow_integers_do_not_overflow():
    x = np.array([30_000, -30_000, 30_000], dtype=np.int16)
    exact = LINE.statistic((np.column_stack([np.ones(3, dtype=np.int16), x]), x)).mle()
    np.testing.assert_allclose(exact["w"], [0, 1], atol=1e-9)


def test_counts_never_wrap_around():
    """2,048 times 2**53 is 2**64, which 64-bit integers take for 0."""
    many = np.full(2048, 2**53)
    rule = "must be below 2**53, where one row more would make no difference; got 1.84467e+19"
    assert f"ones: {rule}" in complaint(COIN.statistic, bm.BinomialCounts(many, many))
    table = np.stack([many, many, many], axis=1)
    assert f"counts: {rule}" in complaint(DIE.statistic, bm.MultinomialCounts(table))


def test_whole_numbers_up_to_the_limit_are_exact():
    limit = 2**53
    assert COIN.statistic(bm.BinomialCounts(limit - 1, limit)).ones == limit - 1
    message = complaint(bm.BinomialCounts, [limit + 1], [limit + 1])
    assert message == (
        "successes: must hold whole numbers from 0 to 2**53; row 0 holds 9007199254740993."
        + NOT_COUNTED
    )


# --- missing values ------------------------------------------------------------------------------

ONE_OF_TWO = (
    "x: missing values are not allowed; 1 of 2 are missing, the first in row 1. "
    "Drop these rows first."
)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([1, np.nan], id="NaN"),
        pytest.param([1, None], id="None"),
        pytest.param([True, None], id="bool and None"),
        pytest.param([1, pd.NA], id="NA"),
        pytest.param([1, pd.NaT], id="NaT"),
        pytest.param(np.array([1, np.nan], dtype=np.float32), id="float32"),
        pytest.param(np.array([1, np.nan], dtype=object), id="object"),
        pytest.param(np.ma.array([1, 0], mask=[False, True]), id="masked"),
        pytest.param(pd.Series([1, np.nan]), id="pandas NaN"),
        pytest.param(pd.Series([1, None], dtype="Int64"), id="Int64"),
        pytest.param(pd.Series([1, None], dtype="UInt8"), id="UInt8"),
        pytest.param(pd.Series([True, None], dtype="boolean"), id="boolean"),
        pytest.param(pd.Series([1.0, None], dtype="Float64"), id="Float64"),
        pytest.param(pd.Series([1, None], dtype="int64[pyarrow]"), id="pandas on Arrow"),
        pytest.param(pd.Series([1, None], dtype="category"), id="category"),
        pytest.param(pl.Series([1, None]), id="polars null"),
        pytest.param(pl.Series([1.0, float("nan")]), id="polars NaN"),
        pytest.param(pa.array([1, None]), id="Arrow null"),
        pytest.param(pa.chunked_array([[True], [None]]), id="Arrow bool"),
    ],
)
def test_missing_is_neither_failure_nor_zero(data):
    assert complaint(COIN.statistic, data) == ONE_OF_TWO
    assert complaint(DIE.statistic, data) == ONE_OF_TWO


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(["red", None], id="None"),
        pytest.param(["red", np.nan], id="NaN"),
        pytest.param(pd.Series(["red", None], dtype="str"), id="pandas"),
        pytest.param(pd.Series(["red", None], dtype="string"), id="string"),
        pytest.param(pd.Series(["red", None], dtype="category"), id="category"),
        pytest.param(pl.Series(["red", None]), id="polars"),
        pytest.param(pa.array(["red", None]), id="Arrow"),
    ],
)
def test_missing_is_no_label(data):
    assert complaint(COLOURS.statistic, data) == ONE_OF_TWO


def test_missing_is_not_even_a_label_that_was_declared():
    model = bm.DirichletCategorical([1, 1], categories=[10.0, np.nan])
    assert complaint(model.statistic, [10.0, np.nan]) == ONE_OF_TWO


def test_the_column_that_misses_values_is_named():
    frame = FRAME.astype("Int64").assign(b=pd.array([1, None, None], dtype="Int64"))
    message = complaint(LINE.statistic, bm.Design.from_frame(frame, "y"))
    assert message == (
        "features['b']: missing values are not allowed; 2 of 3 are missing, the first in row 1. "
        "Drop these rows first."
    )


def test_missing_in_a_matrix_has_row_and_column():
    message = complaint(LINE.statistic, ([[1.0, 2.0], [1.0, np.nan]], [1.0, 2.0]))
    assert "1 of 4 are missing, the first in row 1, column 1." in message


# --- not numbers, not containers -----------------------------------------------------------------


@table(
    [
        ("strings", ["1", "0"], "object; row 0 holds '1'"),
        ("a string among numbers", [1, "0"], "object; row 1 holds '0'"),
        ("pandas string", pd.Series(["1"], dtype="string"), "object; row 0 holds '1'"),
        ("complex", [1 + 0j], "complex128; row 0 holds (1+0j)"),
        ("Decimal", [Decimal(1)], "object; row 0 holds Decimal('1')"),
        ("lists", pd.Series([[1], [0]]), "object; row 0 holds [1]"),
        (
            "dates",
            np.array(["2020-01-01"], dtype="M8[D]"),
            "datetime64[D]; row 0 holds datetime.date(2020, 1, 1)",
        ),
        (
            "date objects",
            [dt.date(2020, 1, 1)],
            "object; row 0 holds datetime.date(2020, 1, 1)",
        ),
        (
            "durations",
            pd.Series(pd.to_timedelta([1], "s").as_unit("us")),
            "timedelta64[us]; row 0 holds datetime.timedelta(seconds=1)",
        ),
    ]
)
def test_what_is_no_number(data, message):
    text = complaint(COIN.statistic, data)
    assert text.startswith(f"x: must hold numbers; got dtype {message}")
    assert text.endswith("Convert the values first.")


def test_the_first_entry_that_is_no_number_is_shown():
    design = bm.Design.from_frame(FRAME.assign(b=["x", "y", "z"]), "y")
    assert complaint(LINE.statistic, design) == (
        "features: must hold numbers; got dtype object; row 0, column 'b' holds 'x'. "
        "Convert the values first."
    )


@table(
    [
        ("text that reads as numbers before it", ["1", "0", "x"], "row 2 holds 'x'"),
        ("a column of text", pl.Series(["1", "0", "x"]), "row 2 holds 'x'"),
        ("a column of a frame", pd.DataFrame({"a": ["1"], "b": ["x"]}), "row 0, column 'b' holds"),
        ("a column with a name", pd.Series([1, "x"], name="won"), "x['won']: must hold"),
        ("NumPy's numbers before it", [np.int8(1), np.bool_(0), "0"], "row 2 holds '0'"),
        ("a number beyond all", np.array([1, 10**400], dtype=object), "row 1 holds 1000"),
        ("a complex number", [1, 0, 1j], "row 2 holds 1j"),
        ("Decimal after a number", [1, Decimal(1)], "row 1 holds Decimal('1')"),
    ]
)
def test_no_good_entry_is_blamed_for_a_bad_one(data, message):
    assert message in complaint(COIN.statistic, data)
    assert message in complaint(DIE.statistic, data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ((x for x in [1, 0]), "generator"),
        (map(int, "10"), "map"),
        ({"a": [1, 0]}, "dict"),
        ({0, 1}, "set"),
        ("10", "str"),
        (b"10", "bytes"),
        (None, "NoneType"),
        (sparse.csr_array([[1, 0]]), "csr_array"),
        (sparse.coo_matrix([[1, 0]]), "coo_matrix"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_container(data, kind):
    assert complaint(COIN.statistic, data) == (
        "x: must be an array, a list, or a series or frame of pandas, polars or Arrow; "
        f"got {kind}. Turn it into one of these first."
    )


def test_an_object_of_an_unknown_class_is_no_container():
    assert complaint(COIN.statistic, object()).endswith(
        "got object. Turn it into one of these first."
    )


def test_a_lazy_frame_has_no_rows_yet():
    lazy = pl.LazyFrame({"y": [1], "a": [0]})
    assert complaint(COIN.statistic, lazy) == (
        "x: a lazy frame has no rows yet; call .collect() first."
    )
    assert complaint(bm.Design.from_frame, lazy, "y") == (
        "frame: a lazy frame has no rows yet; call .collect() first."
    )


@pytest.mark.parametrize("data", [1, 1.0, np.int8(1), np.array(1)])
def test_a_single_value_is_no_row(data):
    assert complaint(COIN.statistic, data).startswith("x: must have rows, got the single value 1")


def test_ragged_lists():
    message = complaint(COIN.statistic, [[1], [1, 0]])
    assert message.startswith("x: rows must have the same length")


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_a_frame_without_columns(frame):
    message = "x: must have at least one column; the frame has none."
    assert complaint(COIN.statistic, frame) == message


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 0, 1]], columns=["a", "b", "a"]),
        pa.table([[1], [0], [1]], names=["a", "b", "a"]),
    ],
    ids=["pandas", "Arrow"],
)
def test_one_column_given_twice(frame):
    way_out = "column names must differ; got 'a' 2 times. Rename or drop one."
    assert complaint(COIN.statistic, frame) == f"x: {way_out}"
    assert complaint(bm.Design.from_frame, frame, "b") == f"frame: {way_out}"


# --- zeros and ones, counts ----------------------------------------------------------------------


@table(
    [
        ("two", [0, 2], "2"),
        ("half", [0, 0.5], "0.5"),
        ("negative", [0, -1], "-1"),
        ("almost one", np.array([0, 1 - 1e-9]), "1"),
        ("uint8", np.array([0, 255], dtype=np.uint8), "255"),
    ]
)
def test_rows_that_are_neither_zero_nor_one(data, message):
    assert complaint(COIN.statistic, data) == (
        f"x: must hold only 0 and 1 (or booleans); row 1 holds {message}. "
        "For numbers of successes use BinomialCounts(successes, trials)."
    )


def test_infinite_values():
    assert complaint(COIN.statistic, [1, np.inf]) == "x: must be finite; row 1 holds inf."
    assert complaint(DIE.statistic, [-np.inf]) == "x: must be finite; row 0 holds -inf."


@pytest.mark.parametrize(
    ("successes", "trials", "message"),
    [
        ([4, 5], [4, 4], "successes: must not exceed trials; row 1 has 5 successes in 4 trials."),
        (5, 4, "successes: must not exceed trials; row 0 has 5 successes in 4 trials."),
        ([3, 5], [4], "trials: must have as many rows as successes; got 1 and 2."),
        ([3, 5], 10, "trials: must have as many rows as successes; got 1 and 2."),
        (
            [-1],
            [4],
            "successes: must hold whole numbers from 0 to 2**53; row 0 holds -1." + NOT_COUNTED,
        ),
        (
            [1.5],
            [4],
            "successes: must hold whole numbers from 0 to 2**53; row 0 holds 1.5." + NOT_COUNTED,
        ),
        (
            [1],
            [4.5],
            "trials: must hold whole numbers from 0 to 2**53; row 0 holds 4.5." + NOT_COUNTED,
        ),
        (
            [[1, 2]],
            [3],
            (
                "successes: must have the shape of trials; got (1, 2) and (1,). "
                "Give every row its own number of trials."
            ),
        ),
        (
            pd.DataFrame({"a": [1], "b": [2]}),
            pd.DataFrame({"b": [3], "a": [4]}),
            (
                "trials: must have the columns of successes ('a', 'b'), in this order; "
                "got ('b', 'a'). Reorder the columns."
            ),
        ),
        (
            pd.Series([1, 2], index=["a", "b"]),
            pd.Series([3, 4], index=["b", "a"]),
            (
                "trials: must have the index of successes, row for row. "
                "Align them (b.loc[a.index]) or drop the index (.to_numpy())."
            ),
        ),
    ],
)
def test_binomial_counts(successes, trials, message):
    assert complaint(bm.BinomialCounts, successes, trials) == message


def test_counts_beyond_the_limit():
    message = "row 0 holds 1.80144e+16." + NOT_COUNTED
    assert complaint(bm.BinomialCounts, [2.0**54], [2.0**54]).endswith(message)
    huge = np.array([2**63], dtype=np.uint64)
    assert complaint(bm.BinomialCounts, huge, huge).endswith(
        "holds 9223372036854775808." + NOT_COUNTED
    )


# --- categories ----------------------------------------------------------------------------------


@table(
    [
        ("too large", [0, 3], "only the model's categories 0 to 2; row 1 holds 3."),
        ("negative", [0, -1], "whole numbers from 0 to 2**53; row 1 holds -1."),
        ("a fraction", [0, 0.5], "whole numbers from 0 to 2**53; row 1 holds 0.5."),
        ("names", ["red"], "category numbers 0 to 2, since the model was given no categories; "),
    ]
)
def test_category_numbers(data, message):
    assert complaint(DIE.statistic, data).startswith(f"x: must hold {message}")


def test_category_numbers_may_be_floats_or_booleans():
    assert DIE.statistic([0.0, 2.0]) == DIE.statistic([0, 2])
    assert DIE.statistic([True, False]) == DIE.statistic([1, 0])


@table(
    [
        ("a label nobody declared", ["red", "mauve"], "'mauve'"),
        ("numbers", ["red", 1], "1"),
        ("another case", ["red", "Red"], "'Red'"),
    ]
)
def test_labels_outside_the_declared_ones(data, message):
    assert complaint(COLOURS.statistic, data) == (
        "x: must hold only the model's categories ['red', 'green', 'blue']; "
        f"row 1 holds {message}. Declare all categories in the prior."
    )


def test_categories_may_be_numbers_booleans_or_dates():
    assert bm.DirichletCategorical([1, 1], [10, 20]).statistic([20.0, 20]).counts.tolist() == [0, 2]
    assert bm.DirichletCategorical([1, 1], [False, True]).statistic([True]).counts.tolist() == [
        0,
        1,
    ]
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    assert bm.DirichletCategorical([1, 1], list(days)).statistic(days[:1]).counts.tolist() == [1, 0]


COUNTS = bm.statistics.CategoricalStatistic([5, 0, 2], log_given_total=0)  # one row


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([5, 0, 2], id="vector"),
        pytest.param([[5, 0, 2]], id="one row"),
        pytest.param(np.array([[5.0, 0.0, 2.0]]), id="float"),
        pytest.param(pd.Series({"red": 5, "green": 0, "blue": 2}), id="labelled vector"),
        pytest.param(pd.Series([5, 0, 2]), id="unlabelled vector"),
        pytest.param(pd.DataFrame({"red": [5], "green": [0], "blue": [2]}), id="pandas"),
        pytest.param(pl.DataFrame({"red": [5], "green": [0], "blue": [2]}), id="polars"),
        pytest.param(pa.table({"red": [5], "green": [0], "blue": [2]}), id="Arrow"),
    ],
)
def test_forms_of_multinomial_counts(data):
    statistic = COLOURS.statistic(bm.MultinomialCounts(data))
    assert statistic.counts.tolist() == COUNTS.counts.tolist()
    assert statistic.log_coefficient == pytest.approx(COUNTS.log_coefficient, rel=1e-14)


def test_multinomial_counts_of_many_rows_and_of_a_batch():
    rows = DIE.statistic(bm.MultinomialCounts([[5, 0, 2], [1, 1, 1]]))
    assert rows.counts.tolist() == [6, 1, 3]
    assert rows.log_coefficient == pytest.approx(np.log(21 * 6))
    batch = DIE.statistic(bm.MultinomialCounts(np.ones((2, 4, 3), dtype=int)))
    assert batch.counts.tolist() == [[2, 2, 2]] * 4


@table(
    [
        ("too few", [1, 2], "one column for each of the model's 3 categories; got shape (1, 2)."),
        ("none", [], "one column for each of the model's 3 categories; got shape (1, 0)."),
        ("a number", 7, "rows, got the single value 7; write [x]."),
        ("negative", [1, -2, 3], "whole numbers from 0 to 2**53; row 0, column 1 holds -2."),
        ("fractions", [1, 0.5, 3], "whole numbers from 0 to 2**53; row 0, column 1 holds 0.5."),
        ("labels", ["red", "green", "blue"], "numbers; got dtype object; row 0, column 0 holds"),
    ]
)
def test_multinomial_counts(data, message):
    text = complaint(COLOURS.statistic, bm.MultinomialCounts(data))
    assert text.startswith(("counts: must hold ", "counts: must have "))
    assert message in text


@pytest.mark.parametrize(
    "counts",
    [
        pd.DataFrame({"green": [1], "red": [2], "blue": [3]}),
        pd.Series(["green", "red", "red"])
        .value_counts()
        .reindex(["green", "red", "blue"])
        .fillna(0),
    ],
    ids=["frame", "value_counts"],
)
def test_counts_in_another_order_are_not_zipped_silently(counts):
    assert complaint(COLOURS.statistic, bm.MultinomialCounts(counts)) == (
        "counts: columns must be the model's categories in the model's order "
        "('red', 'green', 'blue'); got ('green', 'red', 'blue'). Reorder the columns."
    )


# --- groups --------------------------------------------------------------------------------------


def test_groups_are_ordered_by_value_as_categories_or_as_told():
    rows = [1, 0, 1]

    def order(by, groups=None):
        return COIN.statistic(bm.Grouped(rows, by, groups)).coords["group"]

    assert order(["b", "a", "b"]) == ("a", "b")
    assert order([10, 9, 10]) == (9, 10)
    assert order(pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"])) == ("b", "a")
    assert order(pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"]))) == ("b", "a")
    assert order(["b", "a", "b"], groups=["b", "c", "a"]) == ("b", "c", "a")


def test_a_declared_group_may_have_no_row():
    grouped = COIN.statistic(bm.Grouped([1, 0], by=["a", "a"], groups=["a", "b"]))
    assert grouped == bm.statistics.BernoulliStatistic([1, 0], [1, 0], coords={"group": ["a", "b"]})
    empty = COLOURS.statistic(bm.Grouped([], by=[], groups=["a", "b"]))
    assert empty.counts.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_groups_of_counts():
    counts = bm.BinomialCounts([1, 2, 3], [4, 5, 6])
    grouped = COIN.statistic(bm.Grouped(counts, by=["x", "y", "x"]))
    assert grouped.ones.tolist() == [4, 2]
    np.testing.assert_allclose(np.exp(grouped.log_coefficient), [4 * 20, 10])


@pytest.mark.parametrize(
    ("grouped", "message"),
    [
        (
            bm.Grouped([1, 0], ["a", None]),
            (
                "by: missing values are not allowed; 1 of 2 are missing, the first in row 1. "
                "Drop these rows first."
            ),
        ),
        (
            bm.Grouped([1, 0], ["a", "c"], groups=["a", "b"]),
            "by: must hold only the given groups ['a', 'b']; row 1 holds 'c'.",
        ),
        (
            bm.Grouped([1, 0], ["a", "b"], groups=["a", "b", "a"]),
            "groups must differ from each other; 'a' is given twice. Rename or drop one.",
        ),
        (
            bm.Grouped([1, 0], ["a", "b"], groups=["a", ["b"]]),
            "groups must be text, numbers or the like; got ['b']: unhashable type: 'list'.",
        ),
        (
            bm.Grouped([1, 0], ["a", "b"], groups="ab"),
            "groups: must be a sequence of labels; got 'ab'. Write it in a list.",
        ),
        (
            bm.Grouped([1, 0], ["a", 1]),
            (
                "by: labels must be of one kind, since groups are ordered by value; got int and "
                "str. Convert them, or give groups=[...] in the order wanted."
            ),
        ),
        (
            bm.Grouped(np.zeros((2, 3, 4)), ["a", "b"]),
            "rows: grouped data must be a column or a table; got shape (2, 3, 4).",
        ),
        (
            bm.Grouped([1, 0], [["a", "b"], ["a", "b"]]),
            "by: must hold one label a row; got shape (2, 2).",
        ),
        (
            bm.Grouped(pd.Series([1, 0], index=[7, 8]), pd.Series(["a", "b"], index=[8, 7])),
            (
                "by: must have the index of x, row for row. "
                "Align them (b.loc[a.index]) or drop the index (.to_numpy())."
            ),
        ),
    ],
)
def test_grouped(grouped, message):
    assert complaint(COIN.statistic, grouped) == message


# --- designs -------------------------------------------------------------------------------------


@table(
    [
        (
            "fewer targets",
            (X, [1.0, 2.0]),
            "target: must have as many rows as features; got 2 and 3.",
        ),
        (
            "a vector",
            ([1.0, 2.0], [1.0, 2.0]),
            (
                "features: must have rows and columns, got shape (2,). For a single column use "
                "x[:, None]; for a single row x[None, :]."
            ),
        ),
        (
            "the intercept forgotten",
            ([[1.0], [2.0]], [1.0, 2.0]),
            (
                "features: must have 2 columns, one a coefficient; got 1. "
                "Was the intercept forgotten (intercept=True)?"
            ),
        ),
        (
            "a column too many",
            ([[1.0, 1.0, 1.0]], [1.0]),
            "features: must have 2 columns, one a coefficient; got 3.",
        ),
        (
            "no columns",
            (np.zeros((3, 0)), Y),
            "features: must have at least one column; got none. Name some, or add an intercept.",
        ),
        (
            "infinite",
            ([[1.0, np.inf]], [1.0]),
            "features: must be finite; row 0, column 1 holds inf.",
        ),
        ("infinite target", ([[1.0, 1.0]], [-np.inf]), "target: must be finite; row 0 holds -inf."),
        (
            "squares that overflow",
            ([[1.0, -1e200]], [1.0]),
            (
                "features: must not exceed 1e+150 in size, since squares are taken; row 0, "
                "column 1 holds -1e+200. Choose a larger unit."
            ),
        ),
        (
            "batches that do not fit",
            (np.ones((3, 4, 2)), np.ones((3, 5))),
            "target: batch axes must fit those of features; got (5,) and (4,).",
        ),
        (
            "a frame alone",
            FRAME,
            (
                "data: must be a bayesmodels.Design or a pair (X, y); got DataFrame. "
                "For one frame use Design.from_frame(frame, target=...)."
            ),
        ),
        (
            "intercept twice",
            bm.Design(pd.DataFrame({"intercept": [1.0], "a": [2.0]}), [1.0], intercept=True),
            "features: a column 'intercept' is there already; leave intercept=False.",
        ),
        (
            "another order of rows",
            bm.Design(FRAME[["a", "b"]], FRAME["y"].sort_values(ascending=False)),
            (
                "target['y']: must have the index of features, row for row. "
                "Align them (b.loc[a.index]) or drop the index (.to_numpy())."
            ),
        ),
    ]
)
def test_regression_data(data, message):
    assert complaint(LINE.statistic, data) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("z",), "frame: has no column 'z'; its columns are ['a', 'b', 'y']."),
        (("y", ["a", "z"]), "frame: has no column 'z'; its columns are ['a', 'b', 'y']."),
        (("y", ["a", "y"]), "features: must not hold the target 'y'; leave it out of features."),
        (
            ("y", ["a", "a"]),
            "features must differ from each other; 'a' is given twice. Rename or drop one.",
        ),
    ],
)
def test_columns_by_name(arguments, message):
    assert complaint(bm.Design.from_frame, FRAME, *arguments) == message


def test_columns_need_names():
    message = "frame: must be a frame with named columns; got ndarray."
    assert complaint(bm.Design.from_frame, np.eye(2), "y") == message


@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_an_intercept_may_be_the_only_column(frame):
    only = bm.Design.from_frame(frame, "y", [], intercept=True)
    statistic = bm.LinearRegression.flat(["intercept"]).statistic(only)
    assert statistic.mle()["w"] == pytest.approx([7 / 3])
    message = complaint(LINE.statistic, bm.Design.from_frame(frame, "y", []))
    assert message.endswith("Name some, or add an intercept.")


def test_columns_in_another_order_are_refused():
    prior = bm.LinearRegression.flat(["a", "b"])
    assert complaint(prior.statistic, bm.Design.from_frame(FRAME, "y", ["b", "a"])) == (
        "features: columns must be ('a', 'b'), in this order; got ('b', 'a'). "
        "Select and reorder the columns."
    )


@pytest.mark.parametrize("batch", [3, 4])
def test_one_target_beside_a_batch_of_designs(batch):
    """A batch as long as the rows must not be mistaken for them."""
    rng = np.random.default_rng(1)
    designs, y = rng.normal(size=(3, batch, 2)), np.array(Y)
    prior = bm.LinearRegression([0.0, 0.0], 1, 1, 1)
    together = prior.update((designs, y))
    for i in range(batch):
        alone = prior.update((designs[:, i], y))
        np.testing.assert_allclose(together.factor[i], alone.factor, rtol=1e-12)


# --- prior and data, statistic and statistic -----------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            np.ones((2, 4)),
            (
                "data: must have the leading axes it is combined with; got shape (4,) and (3,). "
                "Use one prior for all (scalars), or one for each column or group."
            ),
        ),
        (
            pd.DataFrame({"a": [1], "b": [1], "x": [0]}),
            (
                "data: axes must have the labels they had before; before "
                "{'feature': ('a', 'b', 'c')}, now {'feature': ('a', 'b', 'x')}. "
                "Select and reorder the columns or groups so that they match."
            ),
        ),
        (
            bm.Grouped([1, 0, 1], by=["a", "b", "c"]),
            (
                "data: axes must have the labels they had before; before "
                "{'feature': ('a', 'b', 'c')}, now {'group': ('a', 'b', 'c')}. "
                "Select and reorder the columns or groups so that they match."
            ),
        ),
    ],
    ids=["length", "labels", "axis"],
)
def test_a_batch_of_priors_and_other_data(data, message):
    prior = bm.BetaBernoulli([1, 1, 1], 1, coords={"feature": ["a", "b", "c"]})
    assert complaint(prior.update, data) == message
    assert complaint(prior.log_evidence, data) == message


def test_statistics_of_different_columns_do_not_add_up():
    first = COIN.statistic(pd.DataFrame({"a": [1], "b": [0]}))
    second = COIN.statistic(pd.DataFrame({"b": [1], "a": [0]}))
    assert complaint(lambda: first + second).startswith(
        "data: axes must have the labels they had before;"
    )


def test_the_statistic_of_another_model():
    assert "got RegressionStatistic." in complaint(COIN.statistic, LINE.statistic((X, Y)))
    assert "got BernoulliStatistic" in complaint(LINE.statistic, COIN.statistic([1]))


def test_a_statistic_has_forgotten_its_rows():
    assert complaint(COIN.declare, COIN.statistic([1]), "rows") == (
        "data: a statistic has forgotten its rows; pass the rows, or declare the model with "
        "likelihood='statistic'."
    )
    assert complaint(COIN.declare, [1], "row") == (
        "likelihood: must be 'rows' or 'statistic'; got 'row'."
    )


def test_statistics_hold_totals():
    assert (
        complaint(bm.statistics.BernoulliStatistic, -1, 1)
        == "ones: must not be negative; got -1." + TAKE_OUT
    )
    assert complaint(bm.statistics.BernoulliStatistic, [1, 2], [1, -3]) == (
        "zeros: must not be negative; got -3 at position 1." + TAKE_OUT
    )
    assert (
        complaint(bm.statistics.BernoulliStatistic, np.nan)
        == "ones: must not be missing (NaN, None or NA)."
    )
    assert "counts: must be finite" in complaint(bm.statistics.CategoricalStatistic, [1, np.inf])


# --- priors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (0, "alpha: must be positive; got 0."),
        (-1, "alpha: must be positive; got -1."),
        ([1, -1], "alpha: must be positive; got -1 at position 1."),
        ([[1, 1], [1, 0]], "alpha: must be positive; got 0 at position (1, 1)."),
        (np.inf, "alpha: must be finite; it holds inf."),
        (np.nan, "alpha: must not be missing (NaN, None or NA)."),
        (pd.NA, "alpha: must not be missing (NaN, None or NA)."),
        (
            [1, np.nan],
            "alpha: missing values are not allowed; 1 of 2 are missing, the first in row 1.",
        ),
        (
            "1",
            (
                "alpha: must be an array, a list, or a series or frame of pandas, polars or Arrow; "
                "got str. Turn it into one of these first."
            ),
        ),
        (
            1j,
            (
                "alpha: must hold numbers; got dtype complex128; it holds 1j. "
                "Convert the values first."
            ),
        ),
    ],
)
def test_priors(alpha, message):
    assert complaint(bm.BetaBernoulli, alpha, 1, error=bm.PriorError) == message


def test_shapes_of_priors():
    assert complaint(bm.BetaBernoulli, [1, 2], [1, 2, 3], error=bm.PriorError) == (
        "alpha, beta: must have shapes that fit each other; got (2,) and (3,). "
        "Give one number for all, or one for each member of the batch."
    )
    assert complaint(bm.DirichletCategorical, 1.0, error=bm.PriorError) == (
        "alpha: must hold at least two pseudo-counts, one a category; got shape (). "
        "For K equal ones write [a] * K."
    )
    assert complaint(bm.DirichletCategorical, [1, 1], ["a"], error=bm.PriorError) == (
        "categories: must be 2, one for each alpha; got 1."
    )
    assert complaint(bm.DirichletCategorical, [1, 1], ["a", "a"]) == (
        "categories must differ from each other; 'a' is given twice. Rename or drop one."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([0, 0], [[1, 2], [0, 1]], 1, 1),
            (
                "precision: must be a symmetric matrix; its entries (0, 1) and (1, 0) are 2 and 0. "
                "Symmetrise it: (M + M.T) / 2."
            ),
        ),
        (
            ([0, 0], [[1, 2], [2, 1]], 1, 1),
            (
                "precision: must be positive definite; its smallest eigenvalue is -1. Rows and "
                "columns of zeros are no part of it: they make coefficients flat."
            ),
        ),
        (
            ([0, 0], [1, 1], 1, 1),
            (
                "precision: must be a number or a matrix of shape (2, 2), one row a coefficient; "
                "got shape (2,). For a diagonal use np.diag."
            ),
        ),
        ((0, 1, 1, -1), "scale: must be zero or positive; got -1."),
        ((np.nan, 1, 1, 1), "mean: must not be missing (NaN, None or NA)."),
    ],
)
def test_priors_of_regressions(arguments, message):
    assert complaint(bm.LinearRegression, *arguments, error=bm.PriorError) == message


@pytest.mark.parametrize(
    ("coords", "message"),
    [
        ({"group": ["a"]}, "the axes have lengths (2,), the coordinates {'group': 1}."),
        ({"group": ["a", "a"]}, "labels of axis 'group' must differ from each other"),
        ({"group": "ab"}, "coordinates of axis 'group' must be a sequence of labels, got 'ab'."),
        ({"arm": ["a"], "day": ["a", "b"]}, "the axes have lengths (2,), the coordinates"),
    ],
)
def test_coords(coords, message):
    text = complaint(bm.BetaBernoulli, [1, 2], 1, coords)
    assert text.startswith("coords: ")
    assert message in text


def test_numbers_of_trials():
    assert complaint(COIN.predictive, -1) == (
        "trials: must hold whole numbers from 0 to 2**53; it holds -1." + NOT_COUNTED
    )
    assert complaint(COIN.predictive, [1, 2.5]).endswith("row 1 holds 2.5." + NOT_COUNTED)
    assert complaint(COIN.to_datatree, draws=0).startswith("draws: must be at least 1")


@pytest.mark.parametrize("other", [None, "rest"])
def test_categories_that_cannot_be_labels_are_a_named_error(other):
    """Found by fuzzing: pandas raised a TypeError."""
    prior = bm.DirichletCategorical([1, 1], categories=["a", "rest"], other=other)
    with pytest.raises(bm.DataError, match=r"row 1 holds \{\}"):
        prior.update(["a", {}, "rest"])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (bm.Grouped, ([1, 0], ["a"]), "by: must have as many rows as rows; got 1 and 2."),
        (
            bm.Grouped,
            (bm.BinomialCounts([1, 2], [3, 3]), np.array(["a"])),
            "by: must have as many rows as rows; got 1 and 2.",
        ),
        (bm.Weighted, ([1, 0], pd.Series([1.0])), "weights: must have as many rows as rows; "),
        (bm.Design, (X, [1.0]), "target: must have as many rows as features; got 1 and 3."),
        (bm.BinomialCounts, ([5], [3]), "successes: must not exceed trials; row 0 has 5"),
        (bm.BinomialCounts, ([5, 1], [9]), "trials: must have as many rows as successes; "),
        (bm.BinomialCounts, ([-1], [9]), "successes: must hold whole numbers from 0 to 2**53; "),
        (bm.BinomialCounts, (["a"], [9]), "successes: must hold numbers; "),
    ],
)
def test_what_does_not_fit_together_is_refused_where_it_is_put_together(make, arguments, message):
    assert complaint(make, *arguments).startswith(message)
