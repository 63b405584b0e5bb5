"""A table and a formula, solved without a sampler: what is read, refused and written."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from bayesmodels.command.formula import formula_model
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.input.tables import read_table
from tests.command.test_cli import run

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
]


@pytest.fixture
def herds(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "herd": [f"00{i}" for i in np.repeat(range(4), 6)],
            "size": rng.integers(5, 20, 24),
            "x": rng.normal(size=24),
            "sick": rng.choice(["yes", "no"], 24),
            "won": rng.integers(0, 2, 24),
            "day": pd.date_range("2026-01-01", periods=24),
        }
    )
    frame["cases"] = rng.binomial(frame["size"], 0.3)
    frame["gap"] = frame["x"].where(frame["x"] < 1)
    frame["y"] = frame["x"] + rng.normal(size=24)
    frame.to_csv(tmp_path / "herds.csv", index=False)
    return tmp_path / "herds.csv"


def test_groups_are_labelled_as_the_file_has_them(herds):
    model, done = formula_model(
        read_table(herds), "cases ~ x + (1 | herd)", "binomial", trials="size"
    )
    assert list(model.coords["herd__factor_dim"]) == ["000", "001", "002", "003"]
    assert {rv.name for rv in model.free_RVs} >= {"x", "1|herd_sigma", "Intercept_centered"}
    assert done[0].startswith("Formula: cases ~ x + (1 | herd). Family: binomial.")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ x + herd", "the reference is herd[000]."),
        ("y ~ C(herd, Treatment('002')) + sick", "is C(herd, Treatment('002'))[002], sick[no]."),
        ("y ~ 0 + herd + x:sick", ""),
        ("y ~ C(herd, Sum) + (1 | sick)", ""),
    ],
)
def test_the_level_that_others_are_compared_with_is_named(herds, formula, said):
    _, done = formula_model(read_table(herds), formula, "gaussian")
    assert " ".join(done[1:]).endswith(said)
    assert bool(done[1:]) == bool(said)


@pytest.mark.parametrize(
    ("column", "success", "value"), [("sick", "no", "no"), ("won", "0", 0), ("won", None, 1)]
)
def test_the_label_that_counts_is_named(herds, column, success, value):
    model, _ = formula_model(read_table(herds), f"{column} ~ x", "bernoulli", success=success)
    (rv,) = model.observed_RVs
    counted = (pd.read_csv(herds)[column] == value).astype(int)
    assert list(np.ravel(model.rvs_to_values[rv].eval())) == list(counted)


def test_of_several_labels_one_counts_and_the_others_do_not(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,grade\n1,good\n2,bad\n3,poor\n4,good\n5,bad\n6,good\n")
    model, notes = formula_model(read_table(file), "grade ~ x", "bernoulli", success="good")
    (observed,) = model.observed_RVs
    assert model.rvs_to_values[observed].data.tolist() == [1, 0, 0, 1, 0, 1]
    assert "'good' in column 'grade' is 1, all other labels are 0." in notes


@pytest.mark.parametrize(
    ("formula", "family", "more", "said"),
    [
        ("y ~ z", "gaussian", {}, "there is no column 'z'; there are \\['herd', 'size'"),
        ("y", "gaussian", {}, "must be a target, ~ and terms"),
        ("y ~ (x", "gaussian", {}, "Expect '\\)' after expression"),
        ("cases ~ x", "binomial", {}, "--trials: must name the column"),
        ("cases ~ x", "binomial", {"trials": "n"}, "--trials: there is no column 'n'"),
        ("sick ~ x", "bernoulli", {}, "Give --success yes."),
        ("sick ~ x", "bernoulli", {"success": "maybe"}, "which label in column"),
        ("y ~ x", "gaussian", {"success": "no"}, "--success: is about a target of two labels"),
        ("y ~ gap", "gaussian", {}, "column 'gap': .* leave such rows out with --drop-missing"),
        ("y ~ day", "gaussian", {}, "column 'day': holds dates"),
        (
            "y ~ log(won)",
            "gaussian",
            {},
            "'log\\(won\\)' must be a finite number; in row .* by --missing won=0 --drop-missing",
        ),
        ("log(won) ~ x", "gaussian", {}, "rows with 0 by --missing won=0 --drop-missing"),
        ("y ~ np.sqrt(x)", "gaussian", {}, "must be a finite number; .* choose other terms"),
        ("y ~ x", "normal", {}, "Bambi takes no 'y ~ x' of 'normal'"),
    ],
)
def test_what_is_wrong_is_named(herds, formula, family, more, said):
    with pytest.raises(DataError, match=said):
        formula_model(read_table(herds), formula, family, **more)


def test_rows_with_gaps_are_left_out_and_counted(herds):
    table = read_table(herds)
    model, done = formula_model(table, "y ~ gap", "gaussian", drop_missing=True)
    empty = int(table["gap"].isna().sum())
    assert f"Dropped {empty} of 24 rows" in done[1]
    (rv,) = model.observed_RVs
    assert model.rvs_to_values[rv].eval().shape == (24 - empty,)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--formula", "y ~ x", "--by", "herd"], "--by: `report formula` has no use for it."),
        (["--formula", "y ~ x", "--prior", "alpha=1"], "--prior: `report formula` has no use"),
        ([], "formula: needs FILE and --formula"),
    ],
)
def test_options_of_other_models_are_refused(herds, options, said):
    result = run("report", "formula", str(herds), *options)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_family_is_of_a_formula(herds):
    result = run("report", "linear-regression", str(herds), "--target", "y", "--family", "t")
    assert result.exit_code == 2
    assert "--family: is about `report formula`" in result.output


def test_check_says_what_was_read(herds):
    result = run("report", "formula", str(herds), "--formula", "y ~ x", "--check")
    assert result.exit_code == 0
    assert "Formula: y ~ x. Family: gaussian. Priors: Bambi's defaults." in result.output
    assert "Rows below the heading: 24" in result.output


@pytest.mark.slow
def test_from_a_table_to_a_report(herds, tmp_path):
    out = tmp_path / "out.html"
    result = run("report", "formula", str(herds), "--formula", "y ~ x", "-o", str(out))
    assert result.exit_code == 0, result.output
    slope, intercept = np.polyfit(*pd.read_csv(herds)[["x", "y"]].to_numpy().T, 1)
    lines = [line.split() for line in result.output.splitlines() if line.split()]
    rows = {words[0]: words for words in reversed(lines)}
    assert float(rows["x"][1]) == pytest.approx(slope, abs=0.1)
    assert float(rows["Intercept"][1]) == pytest.approx(intercept, abs=0.1)
    assert "PyMC's draws agree with that" in " ".join(result.output.split())
    page = out.read_text(encoding="utf-8")
    assert "herds.csv. Formula: y ~ x." in page
    assert "What was read" in page


@pytest.mark.parametrize(
    ("formula", "family", "trials", "what"),
    [
        ("won ~ x", "bernoulli", None, "odds ratio"),
        ("cases ~ x + herd", "binomial", "size", "odds ratio"),
        ("cases ~ x + (1 | herd)", "poisson", None, "rate ratio"),
        ("y ~ x", "gaussian", None, None),
        ("size ~ x", "gamma", None, None),
    ],
)
def test_effects_under_a_log_or_a_logit_are_ratios_too(herds, formula, family, trials, what):
    model, _ = formula_model(read_table(herds), formula, family, trials=trials)
    (effect,) = [rv for rv in model.free_RVs if rv.name == "x"]
    names = [v.name for v in model.deterministics if "ratio of" in v.name]
    assert names[:1] == ([f"{what} of x"] if what else [])
    if what:
        assert model[names[0]].eval({effect: 0.7}) == pytest.approx(np.exp(0.7))
    if "herd" in formula and trials:
        assert names == ["odds ratio of x", "odds ratio of herd"]
        assert list(model.named_vars_to_dims[names[1]]) == ["herd_dim"]


@pytest.mark.slow
def test_what_has_no_posterior_here_is_sampled_twice(herds, tmp_path, monkeypatch):
    def refused(*_):
        raise NotConjugate("it is too wide")

    monkeypatch.setattr("bayesmodels.posteriors.ladder.solved", refused)
    out = tmp_path / "out.html"
    formula = ["--formula", "cases ~ x", "--family", "poisson", "--draws", "1500"]
    result = run("report", "formula", str(herds), *formula, "-o", str(out))
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "Sampled, for there is neither a closed form nor an integral: it is too wide" in said
    assert "Either set of draws can stand for the other." in said
    lines = [line.split() for line in result.output.splitlines() if line.split()]
    rows = {words[0]: words for words in reversed(lines)}
    frame = pd.read_csv(herds)
    fit = sm.GLM(frame["cases"], sm.add_constant(frame["x"]), family=sm.families.Poisson()).fit()
    for name, wanted in (("Intercept", "const"), ("x", "x")):
        assert abs(float(rows[name][1].replace("−", "-")) - fit.params[wanted]) < fit.bse[wanted]
    page = out.read_text(encoding="utf-8")
    assert "it is too wide" in page
    assert "second run" in page
