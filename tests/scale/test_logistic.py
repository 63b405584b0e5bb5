"""Newton's method in chunks is Newton's method: the same steps, maxima and standard errors."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesmodels as bm

RNG = np.random.default_rng(6)
N = 3000
FRAME = pd.DataFrame(
    {
        "height": 1e5 + 7 * RNG.normal(size=N),  # far from zero, in other units
        "age": 1e-4 * RNG.normal(size=N),
        "weight": RNG.uniform(0, 2, N),
    }
)
SCORE = (FRAME["height"] - 1e5) / 7 - 1e4 * FRAME["age"]
FRAME["ill"] = (RNG.random(N) < 1 / (1 + np.exp(-SCORE))).astype(int)
LEVEL = np.searchsorted([-1, 1], SCORE + RNG.logistic(size=N))
FRAME["kind"] = np.array(["a", "b", "c"])[LEVEL]
TWO = bm.LogisticRegression([0, 1e-3, 0], np.diag([1e4, 10, 1e8]))
THREE = bm.LogisticRegression([0, 0, 0], np.diag([1e4, 10, 1e8]), ["a", "b", "c"])
MODELS = {"ill": TWO, "kind": THREE}
ASKED = {"columns": ["height", "age"], "intercept": True}


def chunks(size=700):
    return [FRAME[k : k + size] for k in range(0, N, size)]


def close(found, wanted):
    assert len(found.trace.step) == len(wanted.trace.step)
    assert found.coords == wanted.coords
    assert found.kind == wanted.kind
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-12)
    np.testing.assert_allclose(found.w, wanted.w, rtol=1e-8)
    np.testing.assert_allclose(found.standard_errors, wanted.standard_errors, rtol=1e-8)


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("verb", ["mle", "map"])
def test_the_same_steps_and_maximum_as_in_memory(target, verb):
    model = MODELS[target]
    data = bm.Design(FRAME[["height", "age"]], FRAME[target], intercept=True)
    wanted = getattr(model, verb)(data)
    assert len(wanted.trace.step) > 3
    close(getattr(bm.scale, verb)(model, chunks(), target=target, **ASKED), wanted)


def test_laplace_weights_files_functions_and_dask(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), path, row_group_size=800)
    data = bm.Design(FRAME[["height", "age"]], FRAME["ill"], intercept=True)
    wanted = TWO.laplace(bm.Weighted(data, FRAME["weight"]))
    frame = dd.from_pandas(FRAME, npartitions=4)
    for source in (path, lambda: iter(chunks()), pa.Table.from_pandas(FRAME), frame):
        found = bm.scale.laplace(TWO, source, target="ill", weights="weight", rows=600, **ASKED)
        np.testing.assert_allclose(found.location, wanted.location, rtol=1e-8)
        np.testing.assert_allclose(found.factor, wanted.factor, rtol=1e-8, atol=1e-8)
        assert found.approximate_log_evidence == pytest.approx(
            wanted.approximate_log_evidence, rel=1e-11
        )
        assert found.features == wanted.features == ("intercept", "height", "age")


def test_counts_keep_their_coefficients():
    x, trials = RNG.normal(size=(40, 1)), RNG.integers(1, 9, 40)
    wins = RNG.binomial(trials, 0.4)
    model = bm.LogisticRegression([0], 4)
    wanted = model.map((x, bm.BinomialCounts(wins, trials)))
    parts = [(x[k::3], bm.BinomialCounts(wins[k::3], trials[k::3])) for k in range(3)]
    close(bm.scale.map(model, parts), wanted)


def test_a_chunk_of_one_class_or_of_few_rows_is_no_trouble():
    order = FRAME.sort_values("ill")
    data = bm.Design(FRAME[["height", "age"]], FRAME["ill"], intercept=True)
    parts = [order[:1], order[1:1], order[1:3], order[3:2000], order[2000:]]
    close(bm.scale.mle(TWO, parts, target="ill", **ASKED), TWO.mle(data))


def apart():
    return [([[1.0], [2.0]], [0, 0]), ([[3.0], [4.0]], [1, 1])]


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (iter(apart()), bm.DataError, "source: is read once for every step"),
        ([], bm.DataError, "at least one row"),
        ([([[1.0, 2.0]], [0])], bm.DataError, "must have 1 columns"),
        (apart()[:1], bm.SeparationError, "no row has the class 1"),
        ([([[1.0], [-1.0]], [0, 1])], bm.SeparationError, r"columns \[0\] separate the classes c"),
        ([([[0.0], [0.0]], [0, 1])], bm.DataError, "linearly independent"),
    ],
)
def test_misfits_are_named(source, error, words):
    with pytest.raises(error, match=words):
        bm.scale.mle(bm.LogisticRegression([0], 1), source)


def test_separated_classes_are_no_trouble_under_a_prior():
    model = bm.LogisticRegression([0], 1)
    x, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    close(bm.scale.map(model, [(x[:2], y[:2]), (x[2:], y[2:])]), model.map((x, y)))


def test_chunks_of_other_columns_are_refused():
    parts = [FRAME[["height", "age", "ill"]], FRAME[["age", "height", "ill"]]]
    with pytest.raises(bm.DataError, match="in this order"):
        bm.scale.mle(TWO, parts, target="ill", intercept=True)


@pytest.mark.parametrize("apart", [False, True])
def test_many_rows_end_where_chunks_do_whatever_every_eleventh_of_them_says(apart):
    rng = np.random.default_rng(7)
    rows = 9000
    x = np.column_stack([np.ones(rows), rng.normal(50, 3, (rows, 2))])
    y = (x @ [-100, 1, 1] + rng.logistic(size=rows) > 0).astype(int)
    if apart:  # where rows are looked at first, the classes are separated
        y[::11] = x[::11, 1] > 50
    model = bm.LogisticRegression([0, 0, 0], 100)
    whole, chunks = (
        model.mle((x, y)),
        bm.scale.mle(model, [(x[:4000], y[:4000]), (x[4000:], y[4000:])]),
    )
    assert whole.w == pytest.approx(chunks.w, rel=1e-9)
    assert whole.value == pytest.approx(chunks.value, rel=1e-12)
    assert len(whole.trace.step) <= len(chunks.trace.step)


@pytest.mark.parametrize(
    ("quasi", "others"), [pytest.param(False, 2, marks=pytest.mark.slow), (True, 1)]
)
def test_separated_rows_are_refused_in_the_words_of_rows_in_memory(quasi, others):
    """The rows that tell that classes overlap, or that they do not, are spread over chunks."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3000, 3))
    y = np.argmax(np.column_stack([x[:, 1], -x[:, 1], x[:, 2] - 1])[:, : others + 1], axis=1)
    if quasi:
        x, y = np.r_[x, np.zeros((2, 3))], np.r_[y, 0, 1]
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=y)
    features = ["intercept", "a", "b", "c"]
    mean = np.zeros((others, 4) if others > 1 else 4)
    model = bm.LogisticRegression(mean, 25, list(range(others + 1)), features)
    chunks = [frame[k : k + 700] for k in range(0, len(frame), 700)]
    asked = {"target": "y", "columns": ["a", "b", "c"], "intercept": True}
    with pytest.raises(bm.SeparationError) as whole:
        model.mle(bm.Design.from_frame(frame, "y", ["a", "b", "c"], intercept=True))
    with pytest.raises(bm.SeparationError) as parts:
        bm.scale.mle(model, chunks, **asked)
    assert str(parts.value) == str(whole.value)
    frame.loc[[11, 2999], "y"] = (y[[11, 2999]] + 1) % (others + 1)  # now they overlap
    chunks = [frame[k : k + 700] for k in range(0, len(frame), 700)]
    found = bm.scale.mle(model, chunks, **asked)
    whole = model.mle(bm.Design.from_frame(frame, "y", ["a", "b", "c"], intercept=True))
    assert found.value == pytest.approx(whole.value, rel=1e-9)
