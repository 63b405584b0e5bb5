"""`bayesmodels statistic`: shards of files that merge to the statistic of all rows."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesmodels as bm
from bayesmodels.command import catalog, cli
from bayesmodels.scale import passes

RNG = np.random.default_rng(9)
N = 900
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(5, 2, N),
        "group": RNG.choice(["u", "v"], N),
        "smokes": RNG.random(N) < 0.3,
        "weight": RNG.uniform(0.5, 2, N),
        "level": RNG.integers(1, 4, N),
        "row": [f"row {i}" for i in range(N)],
        "y": RNG.normal(size=N),
    }
)
FRAME.loc[::50, "x"] = np.nan


def run(*args):
    return CliRunner().invoke(cli.main, list(map(str, args)))


@pytest.fixture
def files(tmp_path):
    paths = []
    for k, part in enumerate((FRAME[:300], FRAME[300:])):
        paths.append(tmp_path / f"part{k}.parquet")
        part.to_parquet(paths[-1], row_group_size=100)
    return paths


def test_shards_merge_to_the_statistic_of_all_rows(files, tmp_path):
    shards = [tmp_path / "a.json", tmp_path / "b.npz"]
    for file, shard in zip(files, shards, strict=True):
        done = run(
            "statistic", "naive-bayes", file, "--target", "level", "--features", "x,group,smokes",
            "--weights", "weight", "--categories", "level=1,2,3,4", "-o", shard,
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert done.output == f"{shard}: ClassStatistic of 1 file\n"
    assert run("merge", *shards, "-o", tmp_path / "all.json").exit_code == 0
    found = bm.scale.load(tmp_path / "all.json")
    levels = FRAME["level"].astype(pd.CategoricalDtype([1, 2, 3, 4]))
    names = ["x", "group", "smokes"]
    belief, _ = catalog.from_frame(
        "naive-bayes", FRAME.assign(level=levels), catalog.Columns("level", names), {}
    )
    wanted = belief.statistic(bm.Weighted((FRAME[names], FRAME["level"]), FRAME["weight"]))
    assert found.classes.coords == wanted.classes.coords
    np.testing.assert_allclose(found.classes.counts, wanted.classes.counts, rtol=1e-12)
    assert found.features.keys() == wanted.features.keys()
    for name, own in wanted.features.items():
        assert found.features[name].coords == own.coords
    np.testing.assert_allclose(belief.log_evidence(found), belief.log_evidence(wanted), rtol=1e-10)


EVERY = {
    "beta-bernoulli": (["--target", "smokes"], lambda b: b.statistic(FRAME["smokes"])),
    "dirichlet-categorical": (["--target", "group"], lambda b: b.statistic(FRAME["group"])),
    "normal-inverse-gamma": (["--target", "y"], lambda b: b.statistic(FRAME["y"])),
    "normal-inverse-wishart": (
        ["--features", "level,y"],
        lambda b: b.statistic(FRAME[["level", "y"]]),
    ),
    "linear-regression": (
        ["--features", "level,weight"],
        lambda b: b.statistic(bm.Design(FRAME[["level", "weight"]], FRAME["y"], intercept=True)),
    ),
    "discriminant-full": (
        ["--target", "group", "--features", "level,y"],
        lambda b: b.statistic((FRAME[["level", "y"]], FRAME["group"])),
    ),
    "discriminant-shared": (
        ["--target", "group", "--features", "level,y"],
        lambda b: b.statistic((FRAME[["level", "y"]], FRAME["group"])),
    ),
}


@pytest.mark.parametrize("model", EVERY)
def test_every_model_with_a_statistic(model, files, tmp_path):
    asked, wanted = EVERY[model]
    out = tmp_path / "out.json"
    done = run("statistic", model, *files, *asked, "-o", out)
    assert done.exit_code == 0, done.output
    given = dict(zip(asked[::2], asked[1::2], strict=True))
    features = given["--features"].split(",") if "--features" in given else None
    columns = catalog.Columns(given.get("--target"), features)
    proper = {"precision": 1.0, "shape": 2.0, "scale": 2.0} if "linear" in model else {}
    belief, _ = catalog.from_frame(model, FRAME, columns, proper)
    np.testing.assert_allclose(
        belief.log_evidence(bm.scale.load(out)), belief.log_evidence(wanted(belief)), rtol=1e-10
    )


def test_numbers_of_a_game(tmp_path):
    pd.DataFrame({"number": [16, 8, 2, 64]}).to_csv(tmp_path / "n.csv", index=False)
    out = tmp_path / "out.json"
    assert run("statistic", "concept-learning", tmp_path / "n.csv", "-o", out).exit_code == 0
    assert bm.scale.load(out) == bm.ConceptLearning.number_game().statistic([16, 8, 2, 64])


def test_a_stopped_pass_goes_on_only_if_told(files, tmp_path, monkeypatch):
    monkeypatch.setattr(passes, "_EVERY", 0.0)
    out = tmp_path / "out.json"
    asked = ["statistic", "normal-inverse-gamma", *files, "--target", "y", "-o", out]
    assert run(*asked).exit_code == 0
    wanted = bm.scale.load(out)
    out.unlink()
    seen = []
    real = passes._length

    def length(rows):
        if len(seen) == 4:
            raise KeyboardInterrupt
        seen.append(real(rows))
        return seen[-1]

    monkeypatch.setattr(passes, "_length", length)
    stopped = run(*asked)
    assert stopped.exit_code == 130
    assert "--resume goes on" in stopped.output
    assert not out.exists()
    state = tmp_path / "out.json.pass"
    assert json.loads(state.read_text())["rows"] == sum(seen)
    refused = run(*asked)
    assert refused.exit_code == cli.BAD_INPUT
    assert "out.json.pass' is a pass that was stopped" in refused.output
    before = sum(seen)
    monkeypatch.setattr(passes, "_length", lambda rows: seen.append(real(rows)) or seen[-1])
    assert run(*asked, "--resume").exit_code == 0
    assert bm.scale.load(out) == wanted
    assert sum(seen) == N
    assert 0 < before < N
    assert not state.exists()


def test_text_of_a_regression_is_coded_as_in_a_report(files, tmp_path):
    """The indicator of v, weights included, as by hand."""
    out = tmp_path / "s.json"
    asked = ["--target", "y", "--features", "group,level", "--weights", "weight", "-o", out]
    done = run("statistic", "linear-regression", *files, *asked)
    assert done.exit_code == 0, done.output
    assert "Text is coded by indicators; the reference is group[u]." in done.output
    found = bm.scale.load(out)
    X = pd.DataFrame({"group[v]": (FRAME["group"] == "v").astype(float), "level": FRAME["level"]})
    flat = bm.LinearRegression.flat(["intercept", *X])
    rows = bm.Weighted(bm.Design(X, FRAME["y"], intercept=True), FRAME["weight"])
    assert found.features == ("intercept", "group[v]", "level")
    np.testing.assert_allclose(found.mle()["w"], flat.statistic(rows).mle()["w"], rtol=1e-9)


@pytest.mark.parametrize("name", ["", "rownames"])
def test_labels_of_rows_are_no_feature(name, tmp_path):
    FRAME[["level", "y"]].to_csv(tmp_path / "t.csv", index_label=name)
    done = run("statistic", "linear-regression", tmp_path / "t.csv", "-o", tmp_path / "s.json")
    assert "The first column holds labels of rows and was left out." in done.output
    assert bm.scale.load(tmp_path / "s.json").features == ("intercept", "level")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["naive-bayes", "nowhere.parquet"], "there is no file 'nowhere.parquet'"),
        (["other", "FILES"], "model: must be one of"),
        (["naive-bayes-mixture", "FILES"], "has no statistic smaller than its rows"),
        (["naive-bayes", "FILES", "--target", "q"], "no column 'q'"),
        (["linear-regression", "FILES", "--features", "q"], "no column 'q'"),
        (["naive-bayes", "FILES", "--categories", "level"], "must be COLUMN=A,B"),
        (["naive-bayes", "FILES", "--target", "level", "--categories", "level=a"], "of its type"),
        (["normal-inverse-gamma", "FILES", "FILES"], "named twice"),
        (["normal-inverse-gamma", "FILES", "-o", "out.txt"], r"must end in .json or .npz"),
        (["normal-inverse-gamma", "FILES", "-o", "no/out.json"], "there is no folder"),
        (
            ["linear-regression", "FILES", "--target", "group"],
            "column 'group': must hold numbers; it holds cat",
        ),
        (
            ["beta-bernoulli", "FILES", "--target", "group"],
            "it holds categories. Correct the files, or choose another column with --target.",
        ),
        (
            ["linear-regression", "FILES", "--features", "row"],
            "column 'row': holds 900 different texts in 900 rows",
        ),
        (
            ["linear-regression", "FILES", "--features", "group", "--categories", "group=u,w"],
            "column 'group': must hold one of ['u', 'w']; got 'v'.",
        ),
    ],
)
def test_misfits_are_named_and_nothing_is_written(asked, words, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    words_of = [part for text in asked for part in (files if text == "FILES" else [text])]
    if "-o" not in asked:
        words_of += ["-o", "out.json"]
    done = run("statistic", *words_of)
    assert done.exit_code == cli.BAD_INPUT, done.output
    assert words in done.output.replace("\n", " ")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("model", "shards"),
    [
        ("dirichlet-categorical", ("vote\na\na\nb\n", "vote\nb\nc\nc\n")),
        ("naive-bayes", ("c,vote\nr,y\nr,n\nb,y\n", "c,vote\ng,y\nb,n\ng,n\n")),
    ],
)
def test_shards_of_other_categories_are_not_added_up(model, shards, tmp_path):
    """Each has two categories: "a" and "c" were one, and so were red and green."""
    parts = [tmp_path / "one.json", tmp_path / "two.json"]
    for part, text in zip(parts, shards, strict=True):
        rows = part.with_suffix(".csv")
        rows.write_text(text)
        assert run("statistic", model, rows, "--target", "vote", "-o", part).exit_code == 0
    refused = run("merge", *parts, "-o", tmp_path / "all.json")
    assert refused.exit_code == cli.BAD_INPUT
    assert "two.json: does not fit the files before it" in refused.output
    assert "the same categories" in refused.output
    assert not (tmp_path / "all.json").exists()
