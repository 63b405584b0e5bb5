"""Strategies for whatever somebody might take for data."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

import bayesmodels as bm
from bayesmodels.statistics import BernoulliStatistic, CategoricalStatistic, NormalStatistic

ODD = [
    None, float("nan"), float("inf"), -float("inf"), -0.0, 5e-324, 1e308, -1e200, 10**400, 2**63,
    -1, 0.5, 1 + 2j, "", "a", "b", "1", "nan", "\u202eab", "🙂\n", "<b>", b"a", Decimal("0.1"),
    Fraction(1, 3), pd.NA, pd.NaT, dt.date(2026, 1, 1), dt.timedelta(1), np.datetime64("NaT", "D"),
    np.float16(3), (), [], {}, object(), int, ..., np.ma.masked,
]  # fmt: skip
DTYPES = [
    "bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex128",
    "object", "U3", "S2", "datetime64[D]", "timedelta64[s]", ">f8", "longdouble",
]  # fmt: skip
PANDAS = ["object", "Int8", "boolean", "Float64", "string", "category", "int64[pyarrow]"]


def scalars():
    """Return plain bits mostly, or else anything odd."""
    plain = st.sampled_from([0, 1, 1, 0, 2, 0.5, 3.25, True, False])
    return plain | plain | st.floats(-10, 10, width=16) | st.sampled_from(ODD)


def rows():
    few = st.lists(scalars(), max_size=5)
    bits = st.lists(st.integers(0, 1), max_size=6)
    numbers = st.lists(st.floats(-5, 5, width=16), max_size=6)
    words = st.lists(st.sampled_from(["a", "b"]), max_size=6)
    return bits | numbers | words | few | st.lists(few, max_size=4)


@st.composite
def arrays(draw):
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    dtype = draw(st.sampled_from(DTYPES))
    flat = draw(st.lists(st.integers(0, 2), min_size=64, max_size=64))
    array = np.resize(np.array(flat, dtype="int64"), shape).astype(dtype)
    if array.dtype.kind in "fcO" and array.size and draw(st.booleans()):
        value = draw(
            scalars() if array.dtype.kind == "O" else st.sampled_from([np.nan, np.inf, 0.3])
        )
        array.reshape(-1)[0:1] = [value] if np.ndim(value) == 0 else 0
    form = draw(st.sampled_from(["own", "reversed", "transposed", "masked", "matrix", "read only"]))
    if form == "reversed" and array.ndim:
        return array[::-1]
    if form == "masked":
        return np.ma.masked_array(array, mask=draw(st.booleans()))
    if form == "matrix" and array.ndim == 2 and array.dtype.kind in "biuf":
        return sparse.csr_array(array.astype(float))
    if form == "read only":
        array.setflags(write=False)
    return array.T if form == "transposed" else array


def _guarded(build, *parts):
    """Return what a container's own constructor makes of this, or else the parts themselves."""
    try:
        return build(*parts)
    except Exception:  # noqa: BLE001 - another library's
        return list(parts)


@st.composite
def columns(draw):
    """Return series and tables of several libraries."""
    n = draw(st.integers(0, 5))
    kinds = st.sampled_from(["bits", "numbers", "words", "odd"])
    made = {
        "bits": st.integers(0, 1),
        "numbers": st.floats(-5, 5, width=16),
        "words": st.sampled_from(["a", "b"]),
        "odd": scalars(),
    }
    names = draw(st.lists(st.sampled_from(["x", "y", "", "<b>", "x\n", 0, None]), max_size=3))
    own = [draw(st.lists(made[draw(kinds)], min_size=n, max_size=n)) for _ in names]
    form = draw(st.sampled_from(["frame", "series", "polars", "pl.Series", "arrow", "table"]))
    if form == "frame":
        table = _guarded(lambda: pd.concat([pd.Series(c, dtype=object) for c in own], axis=1))
        if isinstance(table, pd.DataFrame):
            table.columns = names
            table = table if draw(st.booleans()) else table.infer_objects()
            table.index = draw(st.permutations(range(n)))
        return table
    first = own[0] if own else []
    if form == "series":
        return _guarded(lambda: pd.Series(first, dtype=draw(st.sampled_from(PANDAS))))
    if form == "polars":
        return _guarded(pl.DataFrame, {str(k): c for k, c in zip(names, own, strict=True)})
    if form == "pl.Series":
        return _guarded(pl.Series, first)
    if form == "table":
        return _guarded(pa.table, {str(k): c for k, c in zip(names, own, strict=True)})
    return _guarded(pa.array, first)


def strange():
    return st.one_of(
        st.sampled_from(ODD),
        rows().map(tuple),
        rows().map(iter),
        rows().map(lambda r: dict(enumerate(r))),
        st.sampled_from(["ab", b"ab", range(3), {1, 0}, BernoulliStatistic(1, 2),
                         NormalStatistic(2, 1.0, 3.0), CategoricalStatistic([1, 2]),
                         bm.BetaBernoulli(1, 1), np.random.default_rng(1), memoryview(b"\0\1")]),
    )  # fmt: skip


def bare():
    return rows() | arrays() | columns() | strange()


def anything():
    """Return data, alone, paired or wrapped."""
    inner = bare()
    wrapped = st.one_of(
        st.tuples(st.just(bm.BinomialCounts), inner, inner),
        st.tuples(st.just(bm.MultinomialCounts), inner),
        st.tuples(st.just(bm.Grouped), inner, inner),
        st.tuples(st.just(bm.Grouped), inner, inner, inner),
        st.tuples(st.just(bm.Weighted), inner, inner),
    )
    pairs = st.tuples(inner, inner)
    designs = st.tuples(inner, inner, st.booleans()).map(
        lambda p: _guarded(lambda: bm.Design(p[0], p[1], intercept=p[2]))
    )
    wrapped |= st.tuples(st.just(bm.Weighted), pairs, inner)
    return inner | inner | pairs | wrapped.map(_put_together) | designs


def _put_together(parts):
    """Return wrapped data, or the parts where the wrapper itself refuses them."""
    wrapper, *inner = parts
    try:
        return wrapper(*inner)
    except bm.DataError:
        return inner
