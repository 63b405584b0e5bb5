"""EM in chunks is EM: the same steps from the same start, and the same optima."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesmodels as bm
from bayesmodels.scale import mixtures

RNG = np.random.default_rng(5)
N = 1500
Z = RNG.integers(0, 3, N)
FRAME = pd.DataFrame(
    {
        "a": 1e6 + 3 * Z + RNG.normal(size=N),  # a million standard deviations from zero
        "b": RNG.normal(size=N) + 2 * Z,
        "kind": RNG.choice(["x", "y", "w"], N),
        "bit": (RNG.random(N) < 0.2 + 0.3 * Z).astype(int),
        "weight": RNG.uniform(0, 2, N),
        "class": np.where(RNG.random(N) < 0.1, Z.astype(object), None),
    }
)
FRAME.loc[::17, "a"] = np.nan
COLUMNS = ["a", "b", "kind", "bit"]
MODEL = bm.NaiveBayesMixture(
    bm.DirichletCategorical([1, 1, 1]),
    {
        "numbers": (bm.NormalInverseGamma([1e6, 0], 1, 2, 1), ["a", "b"]),
        "kind": (bm.DirichletCategorical([1, 1, 1], ["w", "x", "y"]), "kind"),
        "bit": (bm.BetaBernoulli(1, 1), "bit"),
    },
)
START = MODEL.em(FRAME[COLUMNS][:200], starts=1, tolerance=1e-2, rng=1).parameters


def chunks(frame=FRAME[COLUMNS], size=400):
    return [frame[k : k + size] for k in range(0, len(frame), size)]


def close(found, wanted):
    assert len(found.trace) == len(wanted.trace)
    np.testing.assert_allclose(found.trace, wanted.trace, rtol=1e-12)
    np.testing.assert_allclose(found.entropy, wanted.entropy, rtol=1e-9)
    assert found.number_of_rows == pytest.approx(wanted.number_of_rows, rel=1e-14)
    assert found.findings == wanted.findings
    assert found.free_parameters == wanted.free_parameters
    assert list(found.parameters) == list(wanted.parameters)
    for name, value in wanted.parameters.items():
        np.testing.assert_allclose(found.parameters[name], value, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("estimate", ["mle", pytest.param("map", marks=pytest.mark.slow)])
def test_the_same_steps_as_in_memory(estimate):
    wanted = MODEL.em(FRAME[COLUMNS], estimate=estimate, start=START, tolerance=1e-6)
    assert len(wanted.trace) > 10
    close(bm.scale.em(MODEL, chunks(), estimate=estimate, start=START, tolerance=1e-6), wanted)


@pytest.mark.slow
def test_several_starts_side_by_side_end_where_they_end_alone():
    other = {**START, "mu_numbers": START["mu_numbers"][::-1]}
    both = {name: np.stack([value, other[name]]) for name, value in START.items()}
    found = bm.scale.em(MODEL, chunks(), start=both, tolerance=1e-5)
    wanted = MODEL.em(FRAME[COLUMNS], start=both, tolerance=1e-5)
    close(found, wanted)
    assert found.starts == wanted.starts == 2
    assert [o.found for o in found.optima] == [o.found for o in wanted.optima]


@pytest.mark.slow
def test_known_classes_weights_files_and_functions(tmp_path):
    labelled = FRAME.assign(**{"class": FRAME["class"].astype("Int64")})
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(labelled), path, row_group_size=333)
    data = bm.Weighted((FRAME[COLUMNS], FRAME["class"]), FRAME["weight"])
    wanted = MODEL.em(data, start=START, tolerance=1e-5)
    asked = {"target": "class", "columns": COLUMNS, "weights": "weight", "start": START}
    asked["tolerance"] = 1e-5
    close(bm.scale.em(MODEL, path, rows=250, **asked), wanted)
    close(bm.scale.em(MODEL, lambda: pd.read_json(to_lines(labelled), **JSON), **asked), wanted)
    close(bm.scale.em(MODEL, dd.from_pandas(labelled, npartitions=4), **asked), wanted)


JSON = {"lines": True, "chunksize": 500, "precise_float": True}


def to_lines(frame):
    import io

    return io.StringIO(frame.to_json(orient="records", lines=True, double_precision=15))


@pytest.mark.slow
@pytest.mark.parametrize("sample", [300, 20_000])
def test_starts_found_in_some_rows_end_in_the_optimum(sample, monkeypatch):
    monkeypatch.setattr(mixtures, "_SAMPLE", sample)
    wanted = MODEL.em(FRAME[COLUMNS], starts=6, rng=1)
    found = bm.scale.em(MODEL, chunks(), starts=6, rng=1)
    assert found.objective == pytest.approx(wanted.objective, rel=1e-8)
    assert found.starts == 6
    assert sum(o.found for o in found.optima) == 6
    again = bm.scale.em(MODEL, chunks(), starts=6, rng=1)
    assert again.objective == found.objective


def test_rows_are_drawn_without_replacement_and_evenly(monkeypatch):
    monkeypatch.setattr(mixtures, "_SAMPLE", 500)
    bits = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 1, 1))
    counts = np.zeros(2000)
    parts = np.array_split(np.arange(2000.0), 7)
    for seed in range(100):
        found = mixtures._drawn(bits, seed, parts[0], 0)
        for number, part in enumerate(parts[1:], 1):
            found = found + mixtures._drawn(bits, seed, part, number)
        drawn = next(iter(found.rows.rows.values())).astype(int)
        assert len(set(drawn)) == 500
        assert found.total == 2000
        counts[drawn] += 1
    assert counts.sum() == 500 * 100
    assert abs(counts - 25).max() < 6 * np.sqrt(100 * 0.25 * 0.75)


@pytest.mark.parametrize(
    ("source", "asked", "words"),
    [
        (iter(chunks()), {}, "source: is read once for every step"),
        ((part for part in chunks()), {}, "generator can be read only once"),
        (pa.Table.from_pandas(FRAME[COLUMNS]).to_reader(), {}, "source: is read once for"),
        ([], {}, "at least one row"),
        (chunks(), {"estimate": "ml"}, "'mle' or 'map'"),
        (chunks(), {"start": {"pi": [0.5, 0.5, 0.0]}}, "start: must hold"),
        (chunks(), {"start": {**START, "pi": [0.5, 0.5]}}, "pi must have shape"),
        (chunks(), {"start": {**START, "pi": [0.5, 0.6, 0.7]}}, "must add up to 1"),
        (chunks(), {"start": {**START, "theta_bit": [2.0, 0, 0]}}, "holds 2, which"),
        (chunks(), {"start": {**START, "pi": [[1, 0, 0]] * 2}}, "equally many starts"),
        ([*chunks(), chunks()[0][["b", "a", "kind"]]], {"start": START}, "chunk 4 of part 0"),
    ],
)
def test_misfits_are_named(source, asked, words):
    with pytest.raises(bm.DataError, match=words):
        bm.scale.em(MODEL, source, **asked)


def test_a_class_without_spread_is_refused():
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 1))
    with pytest.raises(bm.DataError, match="has no bound"):
        bm.scale.em(model, [np.zeros(4), np.zeros(3)], starts=3, rng=1)
