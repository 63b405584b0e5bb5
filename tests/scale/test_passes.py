"""One pass over any source gives the statistic of all rows."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import bayesmodels as bm
from bayesmodels.scale import passes
from bayesmodels.store import dumps
from tests.scale.line import ASKED, LINE, close, line_of

RNG = np.random.default_rng(3)
N = 5000
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(5, 2, N),
        "unused": "text",
        "z": RNG.normal(size=N),
        "y": RNG.normal(size=N),
        "kind": RNG.choice(["a", "b", "c"], N),
        "bit": RNG.integers(0, 2, N),
        "weight": RNG.uniform(0, 2, N),
    }
)
WANTED = line_of(FRAME)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three Parquet files of several row groups, and the same rows as CSV."""
    path = tmp_path_factory.mktemp("rows")
    table = pa.Table.from_pandas(FRAME)
    for number, at in enumerate((0, 1700, 3400)):
        end = (1700, 3400, N)[number]
        for where in (path, path / "only"):
            where.mkdir(exist_ok=True)
            file = where / f"part{number}.parquet"
            pq.write_table(table.slice(at, end - at), file, row_group_size=600)
    (path / "csv").mkdir()
    FRAME.to_csv(path / "csv" / "rows.csv", index=False)
    return path


SOURCES = {
    "parquet glob": lambda folder: str(folder / "*.parquet"),
    "parquet folder": lambda folder: folder / "only",
    "csv": lambda folder: folder / "csv" / "rows.csv",
    "arrow dataset": lambda folder: ds.dataset(sorted(map(str, folder.glob("*.parquet")))),
    "arrow table": lambda _: pa.Table.from_pandas(FRAME),
    "arrow reader": lambda _: pa.Table.from_pandas(FRAME).to_reader(max_chunksize=700),
    "polars": lambda folder: pl.scan_parquet(folder / "*.parquet"),
    "duckdb": lambda folder: duckdb.read_parquet(str(folder / "*.parquet")),
    "pandas chunks": lambda folder: pd.read_csv(folder / "csv" / "rows.csv", chunksize=900),
    "a list of frames": lambda _: [FRAME[:10], FRAME[10:10], FRAME[10:]],
    "polars frames": lambda _: (pl.from_pandas(FRAME[k : k + 999]) for k in range(0, N, 999)),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("rows", [512, None])
def test_every_source_gives_the_statistic_of_all_rows(source, rows, folder):
    close(bm.scale.statistic(LINE, SOURCES[source](folder), rows=rows, **ASKED), WANTED)


def test_other_models_single_columns_weights_and_missing_cells(folder):
    path = str(folder / "*.parquet")
    coin = bm.scale.statistic(bm.BetaBernoulli(1, 1), path, columns="bit", rows=999)
    assert (coin.ones, coin.zeros) == (FRAME["bit"].sum(), N - FRAME["bit"].sum())
    prior = bm.DirichletCategorical([1, 1, 1], ["a", "b", "c"])
    kinds = bm.scale.statistic(prior, path, columns="kind", rows=999)
    assert kinds.counts.tolist() == prior.statistic(FRAME["kind"]).counts.tolist()
    np.testing.assert_allclose(
        prior.log_evidence(kinds), prior.log_evidence(FRAME["kind"]), rtol=1e-12
    )
    weighted = bm.scale.statistic(bm.BetaBernoulli(1, 1), path, columns="bit", weights="weight")
    known = bm.BetaBernoulli(1, 1).statistic(bm.Weighted(FRAME["bit"], FRAME["weight"]))
    np.testing.assert_allclose(weighted.ones, known.ones, rtol=1e-12)
    gaps = FRAME.assign(x=FRAME["x"].where(FRAME["bit"] == 1))
    mixed = bm.NaiveBayes(
        bm.DirichletCategorical([1, 1, 1], ["a", "b", "c"]),
        {"numbers": (bm.NormalInverseGamma(0, 1, 1, 1), ["x", "z"]), "bit": bm.BetaBernoulli(1, 1)},
    )
    table = pa.Table.from_pandas(gaps)
    found = bm.scale.statistic(mixed, table, target="kind", columns=["x", "z", "bit"], rows=777)
    whole = mixed.statistic((gaps[["x", "z", "bit"]], gaps["kind"]))
    assert found.classes.counts.tolist() == whole.classes.counts.tolist()
    assert found.features["bit"].ones.tolist() == whole.features["bit"].ones.tolist()
    assert found.features["numbers"].n.tolist() == whole.features["numbers"].n.tolist()
    for name in ("mean", "scatter"):
        np.testing.assert_allclose(
            getattr(found.features["numbers"], name),
            getattr(whole.features["numbers"], name),
            rtol=1e-12,
        )


def test_chunks_that_a_model_takes_as_they_are():
    halves = ((FRAME[["x", "z"]][k::2], FRAME["y"][k::2]) for k in range(2))
    close(bm.scale.statistic(LINE, halves), WANTED)


def test_a_function_makes_data_of_a_chunk():
    def squares(table):
        frame = table.to_pandas()
        return np.column_stack([frame["x"], frame["x"] ** 2]), frame["y"]

    curve = bm.LinearRegression.flat(2)
    found = bm.scale.statistic(
        curve, pa.Table.from_pandas(FRAME), columns=["x", "y"], to_data=squares, rows=900
    )
    whole = curve.statistic((np.column_stack([FRAME["x"], FRAME["x"] ** 2]), FRAME["y"]))
    close(found, whole)
    with pytest.raises(bm.DataError, match="to_data: does all of it"):
        bm.scale.statistic(curve, [FRAME], target="y", to_data=squares)


def test_only_the_columns_that_are_needed_are_read():
    asked = []

    def one(table):
        asked.append(table.column_names)
        return table["bit"]

    bm.scale.statistic(
        bm.BetaBernoulli(1, 1), pa.Table.from_pandas(FRAME), columns="bit", to_data=one
    )
    assert asked == [["bit"]]


@pytest.mark.parametrize(
    ("source", "asked", "words"),
    [
        ("nowhere.parquet", {}, "there is no file 'nowhere.parquet'"),
        ("none/*.parquet", {}, "there is no file"),
        (__file__, {}, "must all end in one of"),
        (5, {}, "must be chunks of rows, a path"),
        ({"x": [1.0]}, {}, "must be chunks of rows, a path"),
        (FRAME, ASKED, "What fits into memory goes to model.statistic"),
        (pa.Table.from_pandas(FRAME), {"columns": ["q"]}, "no column 'q'"),
        ([FRAME], {"target": "q"}, "no column 'q'"),
        ([FRAME[:0]][:0], ASKED, "at least one row"),
        ([np.ones((2, 2))], ASKED, "chunks must be frames"),
        ([FRAME], {**ASKED, "rows": 0}, "rows: "),
    ],
)
def test_misfits_are_named(source, asked, words):
    with pytest.raises(bm.DataError, match=words):
        bm.scale.statistic(LINE, source, **asked)


def test_a_bad_row_is_named_with_its_chunk():
    bad = FRAME.assign(z=FRAME["z"].mask(np.arange(N) == 4321))
    with pytest.raises(bm.DataError, match=r"chunk 4 of part 0, after 4,000 rows: .*features"):
        bm.scale.statistic(LINE, pa.Table.from_pandas(bad), rows=1000, **ASKED)


def test_a_pass_that_was_stopped_goes_on_and_gives_the_very_same(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(passes, "_EVERY", 0.0)
    path, state = str(folder / "*.parquet"), tmp_path / "state.json"
    whole = bm.scale.statistic(LINE, path, rows=400, **ASKED)
    seen = []

    class StopsError(Exception):
        pass

    def until(limit):
        def to_data(table):
            if len(seen) == limit:
                raise StopsError
            seen.append(table.num_rows)
            return bm.Design(table.select(["x", "z"]), table["y"])

        return to_data

    asked = {"columns": ["x", "z", "y"], "rows": 400, "checkpoint": state}
    for limit in (3, 8, 9):
        with pytest.raises(StopsError):
            bm.scale.statistic(LINE, path, to_data=until(limit), **asked)
        assert json.loads(state.read_text())["rows"] == sum(seen)
    found = bm.scale.statistic(LINE, path, to_data=until(None), **asked)
    assert found == whole
    assert sum(seen) == N  # no row twice
    assert not state.exists()


def test_the_state_of_another_pass_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(passes, "_EVERY", 0.0)
    path, state = str(folder / "*.parquet"), tmp_path / "state.json"

    def stop(_):
        if state.exists():
            raise KeyboardInterrupt
        return bm.Design(FRAME[["x", "z"]], FRAME["y"])

    with pytest.raises(KeyboardInterrupt):
        bm.scale.statistic(LINE, path, rows=400, to_data=stop, checkpoint=state)
    other = bm.LinearRegression.flat(["x", "unused"])
    for model, source, more, word in (
        (other, path, {"rows": 400}, "model"),
        (LINE, folder / "csv" / "rows.csv", {"rows": 400}, "source"),
        (LINE, path, {"rows": 500}, "rows"),
        (LINE, path, {"rows": 400, "columns": ["x"]}, "columns"),
    ):
        with pytest.raises(bm.DataError, match=f"another {word}. Remove"):
            bm.scale.statistic(model, source, to_data=stop, checkpoint=state, **more)
    kept = state.read_text()
    belief = json.dumps(dumps(bm.BetaBernoulli(1, 1)))
    for content in (
        "{",
        "[" * 10**5,
        "null",
        kept.replace('"rows": ', '"rows": 1e999, "more": '),
        kept.replace('"rows": ', '"rows": {}, "more": '),
        kept.replace('"of": {', '"of": 7, "more": {'),
        kept.replace('"sums": [', '"sums": [7, '),
        kept.replace('"sums": [', f'"sums": [{belief}, '),
        kept.replace('"after": [', '"after": [[], '),
    ):
        assert content != kept
        state.write_text(content)
        with pytest.raises(bm.DataError, match="is not the state of a pass"):
            bm.scale.statistic(LINE, path, rows=400, checkpoint=state, **ASKED)


def test_progress_is_shown_on_the_other_stream(folder, capsys):
    bm.scale.statistic(LINE, str(folder / "*.parquet"), progress=True, **ASKED)
    assert not capsys.readouterr().out


def test_what_could_change_unseen_has_no_checkpoint(tmp_path):
    with pytest.raises(bm.DataError, match=r"checkpoint: needs a source of files.*list"):
        bm.scale.statistic(LINE, [FRAME], checkpoint=tmp_path / "c.json", **ASKED)


def test_a_pass_goes_on_with_all_that_its_model_is(tmp_path, monkeypatch):
    """Of 26 categories a repr shows the ends; of two columns either may be the target."""
    monkeypatch.setattr(passes, "_EVERY", 0.0)
    state, letters = tmp_path / "state.json", list("abcdefghijklmnopqrstuvwxyz")
    swapped = [*letters[:9], "k", "j", *letters[11:]]
    one, other = (bm.DirichletCategorical(np.ones(26), own) for own in (letters, swapped))
    assert repr(one) == repr(other)
    path = tmp_path / "rows.csv"
    pd.DataFrame({"letter": ["j"] * 9}).to_csv(path, index=False)

    def stop(chunk):
        if state.exists():
            raise RuntimeError
        return chunk["letter"]

    with pytest.raises(RuntimeError):
        bm.scale.statistic(one, path, rows=4, to_data=stop, checkpoint=state)
    with pytest.raises(bm.DataError, match=r"another model\. Remove"):
        bm.scale.statistic(other, path, rows=4, to_data=stop, checkpoint=state)
    state.unlink()
    line, bad = bm.LinearRegression.flat(1), tmp_path / "bad.csv"
    bad.write_text("x,y\n1,2\n2,3\n,4\n")
    with pytest.raises(bm.DataError, match="missing"):
        bm.scale.statistic(line, bad, target="y", rows=1, checkpoint=state)
    assert state.exists()
    with pytest.raises(bm.DataError, match=r"another columns\. Remove"):
        bm.scale.statistic(line, bad, target="x", rows=1, checkpoint=state)
    chosen = bm.NaiveBayes(one, {"all": (bm.BetaBernoulli(1, 1), lambda frame: frame.columns)})
    with pytest.raises(bm.DataError, match=r"checkpoint: needs a model that.*a function"):
        bm.scale.statistic(chosen, path, target="letter", checkpoint=tmp_path / "other.json")
