"""Nineteen more public tables as they come, each from file to report by one command.

Where the command as a user would first write it is refused, the way out that is named leads to the
report. Numbers are those of a formula, by pandas and NumPy, or of statsmodels; pages and screens
say what was read as what. Where the tables come from is said in tables/SOURCES.md.
"""

import html
import json
import re
import shlex
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from bayesmodels.command import cli, preparation
from tests.command.test_tables import TABLES, read

FIRST = {  # as a user may write it first
    "ships.csv": "gamma-poisson --target incidents --exposure service --by type",
    "insurance.csv": "gamma-poisson --target Claims --exposure Holders --by Group --by Age",
    "melanoma.csv": "gamma-exponential --target time --observed status --by ulcer",
    "pbc.csv": "gamma-exponential --target time --observed status --event 2 --by trt",
    "survey.csv": "linear-regression --formula 'Height ~ `Wr.Hnd` + Sex' --drop-missing",
    "jasa.xlsx": "gamma-exponential --target futime --observed fustat --by transplant",
    "breaches.csv": "linear-regression --formula 'log(Individuals_Affected) ~ Type_of_Breach'",
    "mariokart.csv": "linear-regression --target total_pr",
    "research_funding.csv": "beta-bernoulli --target awards_women,awards_men "
    "--trials applications_women,applications_men --decide",
    "smoking.csv": "beta-bernoulli --target qt,qc --trials tt,tc",
    "ces11.csv": "beta-bernoulli --target abortion --success Yes --by province --weights weight",
    "housing.csv": "dirichlet-categorical --target Sat --by Infl --freq Freq",
    "danish_welfare.csv": "dirichlet-categorical --target Alcohol --by Income --weights Freq",
    "arthritis.csv": "dirichlet-categorical --target Improved --by Treatment",
    "birthwt.csv": "logistic-regression --formula "
    "'low ~ age + lwt + C(race) + smoke + ptl + ht + ui'",
    "biopsy.csv": "naive-bayes --target class",
    "von_bort.csv": "gamma-poisson --target deaths --by corps",
    "nightingale.csv": "gamma-poisson --target Disease,Wounds,Other --exposure Army",
    "davis.csv": "linear-regression --target weight --features repwt --strict",
}
# Of a refusal: what the command gets besides, or goes without, as its words say.
WAYS = {
    "ships.csv": ["--missing service=0 --drop-missing"],
    "melanoma.csv": ["--event 1"],
    "pbc.csv": ["--drop-missing"],
    "survey.csv": ["--missing Height=.", "--missing Height=-99"],
    "jasa.xlsx": ["--missing futime=0 --drop-missing"],
    "ces11.csv": [],
    "davis.csv": ["--drop-missing"],
}
REFUSED = {
    "ships.csv": "row 7 below the heading holds 0. Correct the file, or leave out rows with 0 by "
    "--missing service=0 --drop-missing.",
    "melanoma.csv": "row 1 below the heading holds 3. Say by --event which of ['1', '2', '3'] ends "
    "the waiting; all others cut it short.",
    "pbc.csv": "column 'trt': 106 of 418 cells are empty, the first in row 313 below the heading. "
    "Fill them, or leave such rows out with --drop-missing.",
    "survey.csv": "say --missing Height=. if such cells are empty",
    "jasa.xlsx": "row 15 below the heading holds 0. Correct the file, or leave out rows with 0 by "
    "--missing futime=0 --drop-missing.",
    "ces11.csv": "row 1 below the heading holds 4287.85. It says how many equal rows a row stands "
    "for. Survey weights don't; leave them out",
    "davis.csv": "Fill them, or leave such rows out with --drop-missing.",
}
NOTES = {
    "ships.csv": ["6 cells of column 'service' are empty: ['0']", "Dropped 6 of 40 rows"],
    "insurance.csv": [">2l, <25 is the largest", "No misfit was found in dispersion"],
    "melanoma.csv": [
        "'1' in column 'status' ends the waiting; '2', '3' cut it short.",
        "not checked: some waiting times were cut short",
    ],
    "pbc.csv": ["'2' in column 'status' ends the waiting; '0', '1' cut it short.", "Dropped 106"],
    "survey.csv": ["5 cells 'n/a' of column 'Height' are empty", "Dropped 30 of 237 rows"],
    "jasa.xlsx": ["10 of numbers, 4 of dates", "Dropped 1 of 103 rows"],
    "breaches.csv": [
        "Characters that no text has, the first in line 92, were read as \ufffd.",
        "400 cells 'NA' of column 'breach_end' are empty.",
        "Not told from zero: Type_of_Breach: Other; Type_of_Breach: Loss, Other;",
    ],
    "mariokart.csv": ["'id' numbers the rows; 'title' holds another text in most rows."],
    "research_funding.csv": [
        "'awards_women' of 'applications_women', 'awards_men' of 'applications_men'.",
        "awards_men has the largest theta of 2 groups with probability 0.977.",
    ],
    "smoking.csv": ["Columns below each other, each a group: 'qt' of 'tt', 'qc' of 'tc'."],
    "ces11.csv": ["'Yes' in column 'abortion' is 1, 'No' is 0."],
    "housing.csv": [
        "Its 72 rows stand for 1,681",
        "Probability by group and category",
        "order of these",
    ],
    "danish_welfare.csv": ["has semicolons between columns.", "180 rows stand for 5,144"],
    "arthritis.csv": ["42 cells 'None' of column 'Improved' are labels"],
    "birthwt.csv": ["the odds of low = 1 are multiplied by", "the reference is race[1]."],
    "biopsy.csv": ["'ID' holds ids.", "16 cells 'NA' of column 'V6' are empty."],
    "von_bort.csv": ["No misfit was found in dispersion, zeros"],
    "nightingale.csv": ["'Disease' of 'Army', 'Wounds' of 'Army', 'Other' of 'Army'."],
    "davis.csv": ["The model does not fit: rows are skewed", "Dropped 17 of 200 rows"],
}


class Outcome(NamedTuple):
    """How a command ended, what it printed and complained of, and the page that it wrote."""

    code: int
    said: str
    wrong: str
    page: str

    @property
    def numbers(self):
        return pd.DataFrame(json.loads(self.said)["table"]).T

    @property
    def mean(self):
        return self.numbers["mean"]


def run(name, command):
    """Run a command on a table, without draws."""
    model, *options = shlex.split(command)
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        args = ["report", model, str(TABLES / name), *options, "--no-draws", "--json", "-o", page]
        told = CliRunner().invoke(cli.main, [str(arg) for arg in args])
        text = page.read_text(encoding="utf-8") if page.exists() else ""
    return Outcome(told.exit_code, told.stdout, " ".join(told.stderr.split()), text)


def command_of(name):
    """Return the command that leads to the report, of a table that is refused by its way out."""
    first = FIRST[name].replace(" --weights weight", "") if name == "ces11.csv" else FIRST[name]
    return " ".join([first, *WAYS.get(name, [])])


@cache
def report(name):
    return run(name, command_of(name))


def raw(name):
    """Return a table as pandas reads it, by the gaps that the table has."""
    if name.endswith(".xlsx"):
        return pd.read_excel(TABLES / name)
    separator = ";" if name == "danish_welfare.csv" else ","
    gaps = ["NA", "", ".", "n/a", "-99", "unknown"]
    file = (TABLES / name).read_text(encoding="utf-8").replace("\x19", "")
    return pd.read_csv(StringIO(file), sep=separator, keep_default_na=False, na_values=gaps)


# --- from file to report --------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIRST)
def test_one_command_leads_to_the_report(name):
    found = report(name)
    assert found.code == (1 if name == "davis.csv" else 0), found.wrong  # --strict: no fit
    said, plain = " ".join(json.loads(found.said)["answer"]), text_of(found.page)
    assert said
    for note in NOTES[name]:
        assert note in plain
    assert name in plain
    assert not re.search(r"\bnan\b|\d{13}", said), "no number, or senseless digits"


@pytest.mark.parametrize("name", WAYS)
def test_what_is_refused_names_a_way_out(name):
    """That it leads to the report is shown by the test above."""
    first = run(name, FIRST[name])
    assert first.code == cli.BAD_INPUT
    assert REFUSED[name] in first.wrong
    columns = {*re.findall(r"olumn '([^']+)'", first.wrong)}
    assert len(columns) == 1, "what is said is about the column that is wrong"
    assert not first.page


def text_of(page):
    """Return the text of a page, whose marks are read as a browser does."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.mark.parametrize("name", FIRST)
def test_every_number_is_the_one_that_stands_in_the_file(name):
    theirs = raw(name)
    theirs = theirs.drop(columns=[x for x in theirs if str(x).startswith("Unnamed")])
    marks = ["-99", ".", "unknown"] if name == "survey.csv" else []
    ours = cli._read(TABLES / name, missing=marks)
    assert list(ours) == list(theirs)
    for column in theirs.select_dtypes("number"):
        np.testing.assert_array_equal(ours[column].astype(float), theirs[column].astype(float))
        if theirs[column].notna().any():
            frame = preparation.without_gaps(ours, [column], [])
            np.testing.assert_array_equal(frame[column], theirs[column].dropna())


# --- gaps and codes -------------------------------------------------------------------------------


def test_gaps_spelled_in_five_ways():
    """The one that is a number, -99, is no number of a table of heights; that is said."""
    half = run("survey.csv", f"{FIRST['survey.csv']} --missing Height=.")
    noted = json.loads(half.said)["read"]["noted"]
    way = "8 cells of column 'Height' hold -99, far from all others; say --missing Height=-99 if"
    assert any(way in sentence for sentence in noted)
    rows = raw("survey.csv").dropna(subset=["Height", "Wr.Hnd", "Sex"])
    X = np.column_stack([np.ones(len(rows)), rows["Wr.Hnd"], rows["Sex"] == "Male"]).astype(float)
    wanted = with_rows_of_its_own(X, rows["Height"])
    np.testing.assert_allclose(report("survey.csv").mean.filter(like="w["), wanted, rtol=1e-10)


def with_rows_of_its_own(X, y):
    """Return the weights under the prior of a regression: a row at the means, and one a weight."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    mean = X.mean(0)
    information = np.outer(mean, mean) + np.diag([0, *X[:, 1:].var(0)])
    level = np.array([y.mean(), *[0] * (X.shape[1] - 1)])
    return np.linalg.solve(X.T @ X + information, X.T @ y + information @ level)


@pytest.mark.parametrize(
    ("name", "time", "status", "event", "by"),
    [
        ("melanoma.csv", "time", "status", 1, "ulcer"),
        ("pbc.csv", "time", "status", 2, "trt"),
        ("jasa.xlsx", "futime", "fustat", 1, "transplant"),
    ],
)
def test_of_three_status_codes_one_ends_the_waiting(name, time, status, event, by):
    rows = raw(name).dropna(subset=[by])
    rows = rows[rows[time] > 0]
    found = report(name).numbers
    for group, own in rows.groupby(by):
        law = stats.gamma(1 + (own[status] == event).sum(), scale=1 / (1 + own[time].sum()))
        row = found.loc[f"lam[{group:.0f}]"]
        np.testing.assert_allclose(row, [law.mean(), law.std(), *law.interval(0.89)], rtol=1e-9)


# --- counts and their exposures -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count", "exposure", "by"),
    [
        ("ships.csv", "incidents", "service", ["type"]),
        ("insurance.csv", "Claims", "Holders", ["Group", "Age"]),
        ("von_bort.csv", "deaths", None, ["corps"]),
    ],
)
def test_rates_are_counts_by_exposure(name, count, exposure, by):
    rows = raw(name).assign(each=1)
    sums = rows.groupby(by)[[count, exposure or "each"]].sum()
    found = report(name).mean
    assert len(found) == len(sums)
    for group, (events, units) in sums.iterrows():
        label = ", ".join([group] if isinstance(group, str) else group)
        assert found[f"lam[{label}]"] == pytest.approx((1 + events) / (1 + units), rel=1e-12)


def test_of_a_wide_table_each_column_is_a_group_and_shares_its_exposure():
    """Nightingale (1858): far more soldiers died of disease than of wounds."""
    rows, found = raw("nightingale.csv"), report("nightingale.csv").mean
    for cause in ("Disease", "Wounds", "Other"):
        rate = (1 + rows[cause].sum()) / (1 + rows["Army"].sum())
        assert found[f"lam[{cause}]"] == pytest.approx(rate, rel=1e-12)
    assert found["lam[Disease]"] > 7 * found["lam[Wounds]"]


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("smoking.csv", {"qt": "tt", "qc": "tc"}),
        ("research_funding.csv", {f"awards_{x}": f"applications_{x}" for x in ("men", "women")}),
    ],
)
def test_of_a_wide_table_each_column_has_trials_of_its_own(name, pairs):
    rows, found = raw(name), report(name).numbers
    for hits, trials in pairs.items():
        k, n = rows[hits].sum(), rows[trials].sum()
        law = stats.beta(1 + k, 1 + n - k)
        row = found.loc[f"theta[{hits}]"]
        np.testing.assert_allclose(row, [law.mean(), law.std(), *law.interval(0.89)], rtol=1e-9)


def test_of_a_wide_table_groups_stay_apart():
    command = f"{FIRST['research_funding.csv']} --by discipline"
    found, rows = run("research_funding.csv", command).mean, raw("research_funding.csv")
    assert len(found) == 2 * len(rows)
    for _, row in rows.iterrows():
        wanted = (1 + row["awards_men"]) / (2 + row["applications_men"])
        assert found[f"theta[{row['discipline']}, awards_men]"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--target qt,qc --trials tt,tc --by x", "column 'x'; there are ['qt', 'tt', 'qc', 'tc']."),
        ("--target qt,cq --trials tt,tc", "--target: there is no column 'cq'; there are ['qt',"),
        ("--target qt,qc,tt --trials tt,tc", "--trials: must name one column, or a column for"),
        ("--target qt,qt --trials tt", "--target: must name one column, or a column for each"),
    ],
)
def test_columns_of_a_wide_table_that_do_not_belong_together(options, words):
    told = run("smoking.csv", f"beta-bernoulli {options}")
    assert told.code == cli.BAD_INPUT
    assert words in told.wrong


def test_a_wide_table_of_yes_and_no_has_gaps_where_a_group_is_smaller(tmp_path):
    file = tmp_path / "ab.csv"
    file.write_text("A,B\n1,1\n0,1\n0,0\n1,\n0,\n")
    found = run(file, "beta-bernoulli --target A,B --drop-missing").mean
    assert found.to_dict() == pytest.approx({"theta[A]": 3 / 7, "theta[B]": 3 / 5})


# --- categories and weights -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "target", "by", "weight"),
    [
        ("housing.csv", "Sat", "Infl", "Freq"),
        ("danish_welfare.csv", "Alcohol", "Income", "Freq"),
        ("arthritis.csv", "Improved", "Treatment", "each"),
    ],
)
def test_shares_are_counts_and_none_is_a_category(name, target, by, weight):
    rows, found = raw(name).assign(each=1), report(name).mean
    counts = rows.pivot_table(index=by, columns=target, values=weight, aggfunc="sum", fill_value=0)
    shares = (counts + 1).div(counts.sum(axis=1) + counts.shape[1], axis=0)
    assert len(found) == shares.size
    for group, row in shares.iterrows():
        for category, share in row.items():
            assert found[f"theta[{group}, {category}]"] == pytest.approx(share, rel=1e-12)


def test_the_order_of_a_table_of_frequencies_says_nothing():
    fit = json.loads(report("housing.csv").said)["fit"]
    assert fit["outcome"] == "not checked"
    assert "only the order of these rows could tell" in fit["sentence"]


def test_survey_weights_are_no_frequencies():
    rows, found = raw("ces11.csv"), report("ces11.csv").mean
    for province, own in rows.groupby("province"):
        wanted = (1 + (own["abortion"] == "Yes").sum()) / (2 + len(own))
        assert found[f"theta[{province}]"] == pytest.approx(wanted, rel=1e-12)


# --- regressions and classes ----------------------------------------------------------------------


def indicators(frame, columns):
    """Return columns of numbers, and of text an indicator for each level but the first."""
    return pd.get_dummies(frame[columns], drop_first=True).astype(float)


def test_many_texts_and_ids_are_no_features():
    rows, found = raw("mariokart.csv"), report("mariokart.csv").mean
    columns = [x for x in rows if x not in ("Unnamed: 0", "id", "title", "total_pr")]
    X = indicators(rows, columns)
    wanted = with_rows_of_its_own(np.column_stack([np.ones(len(X)), X]), rows["total_pr"])
    names = [re.sub(r"^(cond|ship_sp|stock_photo)_(.*)", r"\1[\2]", name) for name in X]
    for name, weight in zip(["intercept", *names], wanted, strict=True):
        assert found[f"w[{name}]"] == pytest.approx(weight, rel=1e-8)


def test_long_levels_with_commas_keep_their_names_and_blanks_make_no_other_level():
    rows, found = raw("breaches.csv"), report("breaches.csv").mean
    assert rows["Type_of_Breach"].str.endswith(" ").any()
    X = indicators(
        rows.assign(Type_of_Breach=rows["Type_of_Breach"].str.strip()), ["Type_of_Breach"]
    )
    y = np.log(rows["Individuals_Affected"])
    wanted = with_rows_of_its_own(np.column_stack([np.ones(len(X)), X]), y)
    for name, weight in zip(X, wanted[1:], strict=True):
        level = name.removeprefix("Type_of_Breach_")
        assert found[f"w[Type_of_Breach[{level}]]"] == pytest.approx(weight, rel=1e-8)


def test_a_row_whose_cells_were_swapped_stands_out():
    """Davis (1990): in row 12 weight and height are swapped, as Fox found."""
    rows = raw("davis.csv").dropna(subset=["repwt"])
    X = np.column_stack([np.ones(len(rows)), rows["repwt"]])
    found = report("davis.csv")
    np.testing.assert_allclose(
        found.mean.filter(like="w["), with_rows_of_its_own(X, rows["weight"]), rtol=1e-10
    )
    findings = json.loads(found.said)["fit"]["findings"]
    assert any("one row is 13 standard deviations off" in finding for finding in findings)


def test_low_birth_weight_is_the_logistic_regression_of_statsmodels():
    """Hosmer and Lemeshow (1989)."""
    import statsmodels.formula.api as smf

    command = shlex.split(FIRST["birthwt.csv"])
    rows, prior, data = read("birthwt.csv", "scale=1e4", command=command)  # all but flat
    wanted = smf.logit(command[-1], rows).fit(disp=False)
    found = prior.laplace(data)
    names = [re.sub(r"C\(race\)\[T.(.)\]", r"race[\1]", name) for name in wanted.params.index]
    values = dict(zip(prior.features, np.ravel(found.mean()["w"]), strict=True))
    ours = [values["intercept" if name == "Intercept" else name] for name in names]
    np.testing.assert_allclose(ours, wanted.params, rtol=1e-5)


def test_of_three_classes_all_is_checked_that_is_of_two():
    """Of a logistic regression that is integrated, too."""
    found = run("arthritis.csv", "logistic-regression --target Improved --features Treatment,Age")
    fit = json.loads(found.said)["fit"]
    assert {one["check"] for one in fit["checks"]} == {
        *("calibration", "straight lines", "order of rows")
    }


def test_ids_that_repeat_are_no_feature_and_gaps_are_left_out_cell_by_cell():
    rows, found = raw("biopsy.csv"), report("biopsy.csv").mean
    assert not found.index.str.contains("ID").any()
    for name, own in rows.groupby("class"):
        assert found[f"pi[{name}]"] == pytest.approx((1 + len(own)) / (2 + len(rows)))
        for column in (f"V{i}" for i in range(1, 10)):
            cells = own[column].dropna()
            wanted = (rows[column].mean() + cells.sum()) / (1 + len(cells))
            assert found[f"mu_numbers[{name}, {column}]"] == pytest.approx(wanted, rel=1e-10)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_the_log_of_no_exposure_is_refused():
    pytest.importorskip("bambi")
    formula = "incidents ~ type + offset(log(service))"
    told = run("ships.csv", f"formula --formula '{formula}' --family poisson")
    assert told.code == cli.BAD_INPUT
    way = "leave out rows with 0 by --missing service=0 --drop-missing."
    assert "'offset(log(service))' must be a finite number; in row 7 below" in told.wrong
    assert way in told.wrong


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_claims_with_an_offset_are_those_of_statsmodels():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    pytest.importorskip("bambi")
    formula = "Claims ~ C(District) + Group + Age + offset(log(Holders))"
    found = run("insurance.csv", f"formula --formula '{formula}' --family poisson")
    assert found.code == 0
    rows = raw("insurance.csv")
    rows["log"] = np.log(rows["Holders"])
    model = smf.glm("Claims ~ C(District) + Group + Age", rows, family=sm.families.Poisson(),
                    offset=rows["log"])  # fmt: skip
    wanted = model.fit()
    for name, estimate in wanted.params.items():
        ours = name.replace("[T.", "[")
        assert found.mean[ours] == pytest.approx(estimate, abs=0.1 * wanted.bse[name])
