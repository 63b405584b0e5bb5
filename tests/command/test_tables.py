"""Ten public tables as they come, each from file to report by one command.

The same command is read by click, and its table prepared; then numbers are those of statsmodels,
scikit-learn or a formula. Where they come from is said in tables/SOURCES.md.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from bayesmodels.command import catalog, cli, preparation

TABLES = Path(__file__).parent / "tables"
FLAT = ("precision=0", "scale=0", "mean=0")  # with shape = -p/2, the prior of least squares

COMMANDS = {
    "titanic.csv": [
        *("logistic-regression", "--formula", "Survived ~ Class + Sex + Age"),
        *("--success", "Yes", "--freq", "Freq"),
    ],
    "ucb_admissions.csv": [
        *("beta-bernoulli", "--target", "Admit", "--success", "Admitted"),
        *("--freq", "Freq", "--by", "Dept", "--by", "Gender"),
    ],
    "penguins.csv": [
        *("linear-regression", "--formula", "body_mass_g ~ flipper_length_mm + species + sex"),
        "--drop-missing",
    ],
    "mtcars.csv": ["linear-regression", "--formula", "mpg ~ wt + C(cyl)"],
    "warpbreaks.csv": ["linear-regression", "--target", "breaks"],
    "quine.csv": ["gamma-poisson", "--target", "Days", "--by", "Eth", "--by", "Lrn"],
    "hair_eye_color.csv": [
        *("dirichlet-categorical", "--target", "Eye", "--by", "Sex", "--freq", "Freq"),
    ],
    "sleepstudy.tsv": ["linear-regression", "--target", "Reaction", "--features", "Days"],
    "airquality.csv": [
        *("linear-regression", "--formula", "Ozone ~ Wind + Temp + `Solar.R`", "--drop-missing"),
    ],
    "starwars.csv": [
        *("linear-regression", "--formula", "log(mass) ~ log(height)", "--drop-missing"),
    ],
}
NOTES = {
    "titanic.csv": [
        "Left out: the first column, which holds labels of rows.",
        "Its 32 rows stand for 2,201, as column 'Freq' says.",
        "'Yes' in column 'Survived' is 1, 'No' is 0.",
        "the reference is Class[1st], Sex[Female], Age[Adult].",
        "standard deviation scale; scale = 2.5.",
    ],
    "ucb_admissions.csv": ["Its 24 rows stand for 4,526", "'Admitted' in column 'Admit' is 1"],
    "penguins.csv": ["Dropped 11 of 344 rows", "the reference is species[Adelie], sex[female]."],
    "mtcars.csv": ["Formula: mpg ~ wt + C(cyl).", "the reference is cyl[4].", "shape = 0.5."],
    "warpbreaks.csv": ["the reference is wool[A], tension[H]."],
    "quine.csv": ["Prior: shape = 1, rate = 1."],
    "hair_eye_color.csv": ["Its 32 rows stand for 592", "Prior: alpha = 1."],
    "sleepstudy.tsv": ["the unit-information prior"],
    "airquality.csv": [
        "airquality.csv has semicolons between columns.",
        "Numbers have decimal commas in",
        "Dropped 42 of 153 rows, which have empty cells.",
    ],
    "starwars.csv": ["starwars.csv is no UTF-8 text and was read as Windows-1252 (Latin-1)."],
}


def read(name, *prior, command=None):
    """Return what a command has before it fits: the raw table, the prior and the data."""
    args = [*(command or COMMANDS[name])[:1], str(TABLES / name), *(command or COMMANDS[name])[1:]]
    asked = cli.report.make_context("report", [*args, *(f"--prior={p}" for p in prior)]).params
    raw = cli._read(asked["file"])
    options = {key: asked[key] for key in ("by", "freq", "success", "formula", "drop_missing")}
    parts = {key: asked[key] for key in ("target", "features", "trials", "exposure", "observed")}
    frame, columns, _ = preparation.prepared(asked["model"], raw, **options, **parts)
    parameters = cli._parameters(asked["prior"])
    return raw, *catalog.from_frame(asked["model"], frame, columns, parameters)


def least_squares(formula, frame):
    import statsmodels.formula.api as smf

    return smf.ols(formula, frame).fit()


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("penguins.csv", "body_mass_g ~ C(species) + C(sex) + flipper_length_mm"),
        ("mtcars.csv", "mpg ~ C(cyl) + wt"),
        ("warpbreaks.csv", "breaks ~ C(wool) + C(tension)"),
        ("sleepstudy.tsv", "Reaction ~ Days"),
        ("airquality.csv", "Ozone ~ Wind + Temp + Q('Solar.R')"),
        ("starwars.csv", "np.log(mass) ~ np.log(height)"),
    ],
)
def test_regressions_are_those_of_statsmodels(name, formula):
    wanted = least_squares(formula, cli._read(TABLES / name))
    size = len(wanted.params)
    _, prior, data = read(name, *FLAT, f"shape={-size / 2}")
    posterior = prior.update(data)
    found = dict(zip(posterior.features, posterior.mean()["w"], strict=True))
    low, high = posterior.interval(0.95)["w"]
    ends = dict(zip(posterior.features, zip(low, high, strict=True), strict=True))
    renamed = {ours: theirs(ours, wanted.params.index) for ours in posterior.features}
    for ours, other in renamed.items():
        assert found[ours] == pytest.approx(wanted.params[other], rel=1e-8)
        np.testing.assert_allclose(ends[ours], wanted.conf_int().loc[other], rtol=1e-7)
    assert posterior.scale / posterior.shape == pytest.approx(wanted.scale, rel=1e-9)


def theirs(ours, names):
    """Return what statsmodels calls a column: C(cyl)[T.8] for cyl[8]."""
    column, _, level = ours.removesuffix("]").partition("[")
    ways = {"Intercept" if ours == "intercept" else ours, f"C({column})[T.{level}]"}
    ways |= {f"Q('{ours}')", f"np.{ours}"}
    (found,) = ways & set(names)
    return found


def test_the_prior_of_a_coded_regression_weighs_as_the_terminal_says():
    """As one row at the columns' means, and one for each weight (penalized least squares)."""
    raw, prior, data = read("warpbreaks.csv")
    X = np.column_stack(
        [np.ones(54), raw["wool"] == "B", raw["tension"] == "L", raw["tension"] == "M"]
    ).astype(float)
    assert prior.features == ("intercept", "wool[B]", "tension[L]", "tension[M]")
    y, mean = raw["breaks"], X.mean(0)
    information = np.outer(mean, mean) + np.diag([0, *X[:, 1:].var(0)])
    at = np.array([y.mean(), 0, 0, 0])
    wanted = np.linalg.solve(X.T @ X + information, X.T @ y + information @ at)
    np.testing.assert_allclose(prior.update(data).mean()["w"], wanted, rtol=1e-10)


def test_titanic_is_the_logistic_regression_of_statsmodels():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    raw, prior, data = read("titanic.csv", "scale=1e4")  # all but flat
    raw["yes"] = (raw["Survived"] == "Yes").astype(int)
    some = raw[raw["Freq"] > 0]
    model = smf.glm("yes ~ Class + Sex + Age", some, family=sm.families.Binomial(),
                    freq_weights=np.asarray(some["Freq"]))  # fmt: skip
    wanted = model.fit()
    assert prior.classes == ("No", "Yes")
    assert prior.features == ("intercept", "Class[2nd]", "Class[3rd]", "Class[Crew]",
                              "Sex[Male]", "Age[Child]")  # fmt: skip
    found = prior.laplace(data)
    np.testing.assert_allclose(np.ravel(found.mean()["w"]), wanted.params, rtol=1e-5)
    np.testing.assert_allclose(np.ravel(np.sqrt(found.var()["w"])), wanted.bse, rtol=1e-4)


def test_berkeley_admissions_by_department_and_gender():
    """Bickel et al.: in four of six departments more of the women who applied were admitted."""
    raw, prior, data = read("ucb_admissions.csv")
    posterior = prior.update(data)
    table = raw.pivot_table(index=["Dept", "Gender"], columns="Admit", values="Freq")
    groups = posterior.coords["group"]
    assert groups[:2] == ("A, Male", "A, Female")
    for group, mean in zip(groups, posterior.mean()["theta"], strict=True):
        yes, no = table.loc[tuple(group.split(", ")), ["Admitted", "Rejected"]]
        assert mean == pytest.approx((1 + yes) / (2 + yes + no), rel=1e-12)
    mean = dict(zip(groups, posterior.mean()["theta"], strict=True))
    assert [d for d in "ABCDEF" if mean[f"{d}, Female"] > mean[f"{d}, Male"]] == list("ABDF")


def test_days_of_absence_by_two_columns():
    raw, prior, data = read("quine.csv")
    posterior = prior.update(data)
    for group, low, high in zip(posterior.coords["group"], *posterior.interval(0.9)["lam"],
                                strict=True):  # fmt: skip
        days = raw["Days"][(raw["Eth"] + ", " + raw["Lrn"]) == group]
        law = stats.gamma(1 + days.sum(), scale=1 / (1 + len(days)))
        np.testing.assert_allclose([low, high], law.ppf([0.05, 0.95]), rtol=1e-10)


def test_eye_colours_of_592_students():
    raw, prior, data = read("hair_eye_color.csv")
    posterior = prior.update(data)
    counts = raw.pivot_table(index="Sex", columns="Eye", values="Freq", aggfunc="sum")
    wanted = (counts + 1).div(counts.sum(axis=1) + 4, axis=0)
    pi = pd.DataFrame(posterior.mean()["theta"],
                      posterior.coords["group"], posterior.coords["category"])  # fmt: skip
    np.testing.assert_allclose(pi.loc[wanted.index, wanted.columns], wanted, rtol=1e-12)


def test_penguins_are_told_apart_as_by_scikit_learn():
    discriminant = pytest.importorskip("sklearn.discriminant_analysis")
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    command = ["discriminant-shared", "--target", "species", "--features", ",".join(numbers),
               "--drop-missing"]  # fmt: skip
    raw, prior, data = read("penguins.csv", command=command)
    rows = raw.dropna(subset=[*numbers, "species"])
    assert len(rows) == 342  # of 344: the sex of some is missing, but is not used
    found = prior.update(data).class_probabilities(rows[numbers])
    fit = discriminant.LinearDiscriminantAnalysis().fit(rows[numbers], rows["species"])
    wanted = fit.predict_proba(rows[numbers])
    assert (found.argmax(1) == wanted.argmax(1)).mean() > 0.995
    np.testing.assert_allclose(found, wanted, atol=0.05)


def test_decimals_stay_where_other_cells_are_whole_numbers_and_rows_are_left_out(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,y\n1,2\n2.9,3\n,1\n5,7\n4,4\n")
    frame, _, _ = preparation.prepared(
        "linear-regression", cli._read(file), target="y", drop_missing=True
    )
    assert frame["x"].tolist() == [1, 2.9, 5, 4]


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_said_what_is_read_as_what(name):
    model, *options = COMMANDS[name]
    told = CliRunner().invoke(cli.main, ["report", model, str(TABLES / name), *options, "--check"])
    assert told.exit_code == 0, told.output
    said = " ".join(told.output.split())
    for note in NOTES[name]:
        assert note in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["titanic.csv", "penguins.csv", "ucb_admissions.csv"])
def test_from_file_to_report_by_one_command(name, tmp_path):
    model, *options = COMMANDS[name]
    page = tmp_path / "report.html"
    small = ["--draws", "200", "--chains", "2", "-o", str(page)]
    told = CliRunner().invoke(cli.main, ["report", model, str(TABLES / name), *options, *small])
    assert told.exit_code in (cli.AGREE, cli.DISAGREE), told.output  # 400 draws may be too few
    said = " ".join(told.output.split())
    assert "disagree" not in said.lower()
    html = " ".join(page.read_text(encoding="utf-8").split())
    for note in NOTES[name]:
        assert note in said
    assert name in html
