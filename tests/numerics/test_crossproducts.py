"""Factors of many rows: by sums of products where that is safe, by QR where it is not."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesmodels as bm
from bayesmodels.numerics import crossproducts, kernels, threads
from bayesmodels.numerics.crossproducts import _by_sums, centred_factor, factored, merged

ROWS = 5000


@pytest.fixture(autouse=True, params=["loop", "BLAS"])
def way(request, monkeypatch):
    """Add products up both ways, in several parts, on several threads."""
    monkeypatch.setattr(kernels, "pay", lambda _: request.param == "loop")
    monkeypatch.setattr(crossproducts, "_PART", 2**14)
    monkeypatch.setattr(crossproducts, "_SUMMED_FROM", 200)
    monkeypatch.setattr(crossproducts, "_PIECE", 2**11)
    monkeypatch.setattr(threads, "PARALLEL_FROM", 1000)
    monkeypatch.setattr(threads, "CORES", 2)


def rows(seed=1, n=ROWS, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 10 * rng.normal(size=p)
    return X, X @ rng.uniform(-0.5, 0.5, size=p) + rng.normal(size=n)


def by_qr(X, y):
    return factored(np.c_[X, y].astype(float))


def assert_same(found, wanted, digits=12):
    assert found[0] == wanted[0]
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-14, atol=1e-14)
    length = np.sqrt((wanted[2] ** 2).sum(0))
    assert (np.abs(found[2] - wanted[2]).max(0) <= 10.0**-digits * length).all()
    np.testing.assert_allclose(found[2][-1, -1], wanted[2][-1, -1], rtol=10.0**-digits)


def summed(X, y):
    return _by_sums(X, y, slice(0, len(y)), fast=kernels.pay(0))


@pytest.mark.parametrize("p", [0, 1, 2, 7, 40])
def test_sums_are_what_qr_finds(p):
    X, y = rows(p=p)
    assert summed(X, y) is not None
    assert_same(centred_factor(X, y, pytest.fail), by_qr(X, y))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float32, float])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "apart", "apart and strided"])
def test_any_dtype_and_layout(dtype, layout):
    X, y = rows()
    X = np.abs(3 * X - 3 * X.mean(0)).astype(int).clip(0, 120).astype(dtype)
    given = {
        "rows": X,
        "columns": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "apart": [X[:, j].copy() for j in range(X.shape[1])],
        "apart and strided": list(X.T),
    }[layout]
    y = y.astype(dtype if dtype in (np.float32, np.float16) else float)
    assert_same(centred_factor(given, y, pytest.fail), by_qr(X, y))


@pytest.mark.parametrize("offset", [1e4, 1e8, -1e12])
@pytest.mark.parametrize("scale", [1e-130, 1, 1e130])
def test_offsets_and_scales(offset, scale):
    X, y = rows()
    X, y = scale * (X + offset), scale * (y - offset)
    found = centred_factor(X, y, id)
    # Shifted by a number near the mean the rows stay as they are, and QR has its digits.
    shift = X[0]
    n, mean, factor = by_qr(X - shift, y - y[0])
    assert_same(found, (n, mean + np.append(shift, y[0]), factor), digits=11)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1e8])
def test_constant_columns_are_exactly_constant(value):
    X, y = rows()
    X[:, 2] = value
    n, mean, factor = centred_factor(X, y, id)
    assert mean[2] == value
    assert np.abs(factor[:, 2]).max() <= 1e-12 * abs(value)
    wanted = by_qr(np.delete(X, 2, axis=1), y)[2]
    left = np.delete(factor, 2, axis=1)
    np.testing.assert_allclose(left.T @ left, wanted.T @ wanted, rtol=1e-11)
    assert n == ROWS


def unsafe():
    X, y = rows()
    wave = np.sin(np.arange(ROWS))
    near = X.copy()
    near[:, 1] = X[:, 0] + 1e-3 * wave
    yield "nearly collinear", near, y
    yield "nearly exact", X, X @ np.ones(4) + 1e-7 * wave
    yield "exact", X, X @ np.ones(4)
    yield "squares underflow", 1e-170 * X, y
    yield "squares are small", 1e-152 * X, y
    yield "squares are large", 1e149 * X, y
    yield "a column of zeros", X * [1, 0, 1, 1], y


@pytest.mark.parametrize(("name", "X", "y"), list(unsafe()))
def test_unsafe_rows_go_through_qr(name, X, y):
    assert summed(X, y) is None, name
    looked = []
    n, _, factor = centred_factor(X, y, lambda block: looked.append(len(block)))
    assert n == ROWS
    assert looked
    wanted = by_qr(X, y)[2]
    length = np.sqrt((wanted**2).sum(0))
    assert (np.abs(np.abs(factor) - np.abs(wanted)).max(0) <= 1e-13 * length).all()
    if name == "nearly exact":
        assert factor[-1, -1] == pytest.approx(wanted[-1, -1], rel=1e-6)


def test_the_residual_keeps_its_digits_down_to_the_bound():
    """Fits from loose to near-exact: the last entry is right on either side of the bound."""
    X, _ = rows()
    noise = np.random.default_rng(2).normal(size=ROWS)
    ways = set()
    for size in 10.0 ** -np.arange(6):
        y = X @ np.ones(4) + size * noise
        centred = np.c_[X, size * noise]
        wanted = by_qr(centred[:, :4], centred[:, 4])[2][-1, -1]  # of the same residuals
        found = centred_factor(X, y, id)[2][-1, -1]
        ways.add(summed(X, y) is None)
        assert found == pytest.approx(wanted, rel=2e-12 + 1e-14 / size)
    assert ways == {False, True}


@pytest.mark.parametrize("noise", [1, 1e-9])  # by sums, and by QR
def test_a_column_of_ones(noise):
    X, y = rows()
    y = X.sum(1) + noise * y
    n, mean, factor = centred_factor(X, y, id, ones=True)
    wanted = by_qr(np.c_[np.ones(n), X], y)
    np.testing.assert_allclose(mean, wanted[1], rtol=1e-14)
    product = wanted[2].T @ wanted[2]
    np.testing.assert_allclose(factor.T @ factor, product, rtol=1e-11, atol=1e-11 * product.max())
    assert not factor[:, 0].any()


def test_parts_merge_to_the_whole():
    X, y = rows(n=900)
    parts = [by_qr(X[at], y[at]) for at in (slice(0, 100), slice(100, 900))]
    assert_same(merged(*parts), by_qr(X, y))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("kind", ["array", "pandas", "arrow"])
def test_bad_entries_are_found_wherever_they_are(value, kind):
    X, y = rows()
    X[ROWS - 7, 2] = value
    frame = pd.DataFrame(X, columns=list("abcd"))
    data = {"array": X, "pandas": frame, "arrow": pa.Table.from_pandas(frame)}[kind]
    model = bm.LinearRegression.flat(4)
    with pytest.raises(bm.DataError, match=f"features.*row {ROWS - 7}"):
        model.statistic((data, y))
    X[ROWS - 7, 2] = 0
    y[5] = value
    with pytest.raises(bm.DataError, match=r"target.*row 5"):
        model.statistic((X, y))


def test_frames_of_several_dtypes_are_the_array():
    X, y = rows()
    X = np.round(X)
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"a": "int8", "b": "float32"})
    model = bm.LinearRegression.flat(["intercept", *"abcd"])
    wanted = model.update(bm.Design(pd.DataFrame(X, columns=list("abcd")), y, intercept=True))
    for data in (frame, pa.Table.from_pandas(frame)):
        assert model.update(bm.Design(data, y, intercept=True)) == wanted


@pytest.mark.parametrize("way", ["neither"], indirect=True)
@pytest.mark.parametrize(  # every pair; little noise goes by QR, much by sums
    ("dtype", "kind", "noise"),
    [
        (np.int8, "array", 1),
        (np.int8, "frame", 1000),
        (np.float32, "array", 1000),
        (np.float32, "frame", 1),
        (np.float64, "array", 1),
        (np.float64, "frame", 1000),
    ],
)
def test_no_copy_of_all_rows(monkeypatch, dtype, kind, noise):
    monkeypatch.undo()
    monkeypatch.setattr(threads, "CORES", 2)  # each thread has blocks of its own
    rng = np.random.default_rng(3)
    X = rng.integers(-99, 99, (750_000, 8), dtype=np.int8).astype(dtype)
    y = (X.sum(1) + noise * rng.normal(size=len(X))).astype(np.float32)
    data = X if kind == "array" else pd.DataFrame(np.asfortranarray(X), copy=False)
    model = bm.LinearRegression.flat(9)
    design = bm.Design(data, y, intercept=True)
    model.statistic(bm.Design(data[:2000], y[:2000], intercept=True))  # loads what it needs
    tracemalloc.start()
    model.statistic(design)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * X.size
