"""Which family a column gets, and what is said of one that fits none."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import bayesmodels as bm
from bayesmodels.estimators import MixtureClusterer, NaiveBayesClassifier

Y = ["a", "b", "a", "b"]

COLUMNS = {
    "bool": ([True, False, True, True], "bernoulli"),
    "bool with a gap": (pd.Series([True, None, False, True], dtype=object), "bernoulli"),
    "nullable bool": (pd.Series([True, None, False, True], dtype="boolean"), "bernoulli"),
    "int": ([0, 1, 1, 0], "gaussian"),
    "uint8": (np.array([0, 1, 1, 0], dtype=np.uint8), "gaussian"),
    "float": ([0.5, 1, np.nan, 0], "gaussian"),
    "nullable int": (pd.Series([1, None, 3, 4], dtype="Int64"), "gaussian"),
    "objects, numbers": (pd.Series([1, 2.5, None, 4], dtype=object), "gaussian"),
    "text": (["x", "y", "x", "y"], "categorical"),
    "text with a gap": (pd.Series(["x", None, "y", "x"], dtype=object), "categorical"),
    "category": (pd.Categorical([3, 1, 3, 1]), "categorical"),
    "ordered": (
        pd.Categorical(["lo", "hi", "lo", "hi"], ["lo", "hi"], ordered=True),
        "categorical",
    ),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_family_for_each_dtype(kind):
    values, family = COLUMNS[kind]
    model = NaiveBayesClassifier().fit(pd.DataFrame({"x": values}), Y)
    assert model.feature_families_ == {"x": family}
    assert np.isfinite(model.log_evidence_)


@pytest.mark.parametrize(
    ("values", "family"),
    [
        (pl.Series("x", [True, False, None, True]), "bernoulli"),
        (pl.Series("x", [1, 2, None, 4]), "gaussian"),
        (pl.Series("x", ["u", None, "v", "u"]), "categorical"),
        (pl.Series("x", ["u", "v", "v", "u"], dtype=pl.Categorical), "categorical"),
        (pl.Series("x", ["u", "v", "v", "u"], dtype=pl.Enum(["u", "v", "w"])), "categorical"),
    ],
    ids=lambda v: str(getattr(v, "dtype", v)),
)
def test_a_family_for_each_dtype_of_polars(values, family):
    model = NaiveBayesClassifier().fit(values.to_frame(), Y)
    assert model.feature_families_ == {"x": family}
    assert model.predict(values.to_frame()).shape == (4,)


def test_a_dtype_that_lists_categories_is_believed():
    listed = pl.DataFrame({"x": pl.Series(["u", "v", "v", "u"], dtype=pl.Enum(["u", "v", "w"]))})
    model = NaiveBayesClassifier().fit(listed, Y)
    assert model.belief_.coords["category_x"] == ("u", "v", "w")
    new = pl.DataFrame({"x": pl.Series(["w"], dtype=pl.Enum(["u", "v", "w"]))})
    np.testing.assert_allclose(model.predict_proba(new), [[0.5, 0.5]])


def test_arrays_of_bits_and_of_text():
    bits = NaiveBayesClassifier().fit(np.array([[True], [False], [True], [False]]), Y)
    assert bits.feature_families_ == {0: "bernoulli"}
    text = NaiveBayesClassifier().fit(np.array([["u", "1"], ["v", "2"], ["u", "1"], ["v", "1"]]), Y)
    assert text.feature_families_ == {0: "categorical", 1: "categorical"}
    assert text.predict([["u", "1"]]).tolist() == ["a"]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_families_that_are_told(make):
    X = make([[0, 2, 5], [1, 0, 3], [0, 1, 7], [1, 1, 4]])
    told = {0: "bernoulli", 1: "categorical"}
    model = NaiveBayesClassifier(told).fit(X, Y)
    assert model.feature_families_ == {0: "bernoulli", 1: "categorical", 2: "gaussian"}
    assert model.belief_.coords["category_1"] == (0, 1, 2)
    assert NaiveBayesClassifier("categorical").fit(X, Y).feature_families_ == dict.fromkeys(
        range(3), "categorical"
    )


def test_beliefs_that_are_told():
    X = pd.DataFrame({"age": [61.0, 35, 58, 29], "town": ["u", "v", "u", "v"]})
    told = {
        "age": bm.NormalInverseGamma(45, 0.1, 2, 100),
        "town": bm.DirichletCategorical([1, 1, 1], ["u", "v", "rare"], other="rare"),
    }
    model = NaiveBayesClassifier(told).fit(X, Y)
    assert model.feature_families_ == {"age": "gaussian", "town": "categorical"}
    assert model.prior_.blocks["age"].belief == told["age"]
    assert model.predict(X.assign(town="never seen")).shape == (4,)
    again = clone(model)
    assert again.get_params()["feature_families"] == told
    assert again.fit(X, Y).belief_ == model.belief_


@pytest.mark.parametrize(
    ("told", "error", "match"),
    [
        ({"z": "gaussian"}, bm.DataError, "no column 'z'"),
        ({"x": "normal"}, bm.PriorError, r"'x' must be one of \('bernoulli'"),
        ("counts", bm.DataError, "counts are of two columns or more"),
        ({"x": "bernoulli"}, bm.DataError, "must hold only 0 and 1"),
    ],
)
def test_families_that_do_not_fit(told, error, match):
    with pytest.raises(error, match=match):
        NaiveBayesClassifier(told).fit(pd.DataFrame({"x": [1, 2, 3, 4]}), Y)


@pytest.mark.parametrize(
    "values", [[[1.5, 2], [0, 1], [3, 4], [1, 1]], [[-1, 2], [0, 1], [3, 4], [1, 1]]]
)
def test_counts_are_whole_numbers(values):
    with pytest.raises(bm.DataError, match="counts: must hold whole numbers"):
        NaiveBayesClassifier("counts").fit(values, Y)
    with pytest.raises(bm.DataError, match="counts: must hold whole numbers"):
        NaiveBayesClassifier("counts").fit(sparse.csr_array(values), Y)


@pytest.mark.parametrize("model", [NaiveBayesClassifier(), MixtureClusterer(2)])
def test_only_counts_may_be_sparse(model):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(sparse.csr_array(np.eye(4)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("column", "error", "match"),
    [
        (["u", "u", "u", "u"], bm.DataError, r"'x' must have two categories or more; got \['u'\]"),
        ([None] * 4, bm.DataError, r"two categories or more; got \[\]"),
        ([1, "u", 2, "v"], bm.DataError, "must be a string or a number"),
        ([dt.date(2026, 1, day) for day in (1, 2, 3, 4)], bm.DataError, "column 'x' has dtype"),
        ([1.0, np.inf, 2.0, 3.0], bm.DataError, "must be finite"),
    ],
)
def test_columns_that_fit_no_family(column, error, match):
    X = pd.DataFrame({"x": pd.Series(column, dtype=None if column[0] == 1.0 else object)})
    with pytest.raises(error, match=match):
        NaiveBayesClassifier().fit(X, Y)


def test_a_block_and_a_column_of_one_name():
    X = pd.DataFrame({"numbers": ["u", "v", "u", "v"], "age": [1.0, 2, 3, 4]})
    with pytest.raises(bm.DataError, match="a column must not be called 'numbers'"):
        NaiveBayesClassifier().fit(X, Y)


@pytest.mark.parametrize("rows", [pd.DataFrame({"x": []}), pd.DataFrame(index=range(3))])
def test_frames_without_rows_or_columns(rows):
    with pytest.raises(bm.DataError, match="at least one row and one column"):
        NaiveBayesClassifier().fit(rows, [])


def test_missing_cells_of_an_array_of_objects():
    X = np.array(
        [["u", 1.5, None], ["v", None, True], [np.nan, 0.5, False], ["u", 2, True]], object
    )
    model = NaiveBayesClassifier().fit(X, Y)
    assert list(model.feature_families_.values()) == ["categorical", "gaussian", "bernoulli"]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(float), "c": X[:, 2]})
    assert model.log_evidence_ == NaiveBayesClassifier().fit(frame, Y).log_evidence_
