"""Tables that lme4, nlme, MASS and brms teach with: a formula each, solved without a sampler.

Published are estimates by maximum likelihood (lme4's `glmer`, MASS, ltm) or its restricted form
(lme4's and nlme's `lmer` and `lme`), with flat priors; where they come from is beside each row.
Bambi's priors are weak but not flat, so that a posterior's mean is within one of its standard
deviations of what is published, and not nearer. Spreads of few groups are skewed to the right:
there it is the 89 % interval that holds what is published. Beside long runs of NUTS they stand in
docs/command-line.md, by tests/benchmarks/bench_formulas.py.
"""

# ruff: noqa: E501 - a row a table

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from tests.command.test_cli import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
]

TABLES = Path(__file__).parent / "tables"
NUMBER = r"−?[\d,.]+(?:e−?\d+)?"


class Row(NamedTuple):
    """A table, what is asked of it, and what is known of effects and of spreads."""

    table: str
    formula: str
    family: str = "gaussian"
    options: str = ""
    effects: dict[str, float] = {}  # noqa: RUF012 - a table
    spreads: dict[str, float] = {}  # noqa: RUF012 - a table


# fmt: off
ROWS = [
    # lme4, help of cbpp: glmer(cbind(incidence, size - incidence) ~ period + (1 | herd))
    Row("cbpp.csv", "incidence ~ C(period) + (1 | herd)", "binomial", "--trials size",
        {"Intercept": -1.3983, "C(period)[2]": -0.9919, "C(period)[3]": -1.1282, "C(period)[4]": -1.5797},
        {"1|herd_sigma": 0.6421}),
    # Bates, Mächler, Bolker and Walker (2015), Journal of Statistical Software 67(1), section 3.3
    Row("sleepstudy.tsv", "Reaction ~ Days + (Days | Subject)", "gaussian", "",
        {"Intercept": 251.405, "Days": 10.467},
        {"1|Subject_sigma": 24.74, "Days|Subject_sigma": 5.92, "sigma": 25.59}),
    # Bates, lme4: Mixed-effects modeling with R, chapters 1 and 2
    Row("dyestuff.csv", "Yield ~ (1 | Batch)", "gaussian", "",
        {"Intercept": 1527.5}, {"1|Batch_sigma": 42.0, "sigma": 49.51}),
    Row("penicillin.csv", "diameter ~ (1 | plate) + (1 | sample)", "gaussian", "",
        {"Intercept": 22.9722}, {"1|plate_sigma": 0.8467, "1|sample_sigma": 1.9316, "sigma": 0.5499}),
    Row("pastes.csv", "strength ~ (1 | batch / cask)", "gaussian", "",
        {"Intercept": 60.0533}, {"1|batch:cask_sigma": 2.9041, "1|batch_sigma": 1.2874, "sigma": 0.8234}),
    # Pinheiro and Bates (2000), Mixed-Effects Models in S and S-PLUS, section 4.2; females here
    Row("orthodont.csv", "distance ~ age * Sex + (1 | Subject)", "gaussian", "",
        {"Intercept": 17.3727, "age": 0.4795, "Sex[Male]": -1.0321, "age:Sex[Male]": 0.3048},
        {"1|Subject_sigma": 1.8162, "sigma": 1.3864}),
    # Rizopoulos (2006), ltm, Journal of Statistical Software 17(5): the Rasch model, as easiness
    Row("lsat6.csv", "answer ~ 0 + item + (1 | student)", "bernoulli", "",
        {"item[Q1]": 2.7300, "item[Q2]": 0.9986, "item[Q3]": 0.2398, "item[Q4]": 1.3064, "item[Q5]": 2.0994},
        {"1|student_sigma": 0.7551}),
]
CAKE = Row("cake.csv", "angle ~ recipe * temperature + (1 | replicate)")
CLAIMS = Row("insurance.csv", "Claims ~ C(District) + Group + Age + offset(log(Holders))", "poisson")
SEIZURES = Row("epil.csv", "y ~ lbase * trt + lage + V4 + (1 | subject)", "poisson")
BACTERIA = Row("bacteria.csv", "y ~ trt + week + (1 | ID)", "bernoulli", "--success y")
# fmt: on


def solved(row, tmp_path):
    """Return the numbers in the terminal's table by variable, from a report without draws."""
    out = tmp_path / "out.html"
    table = str(TABLES / row.table)
    options = ["--formula", row.formula, "--family", row.family, *row.options.split()]
    result = run("report", "formula", table, *options, "--no-draws", "-o", str(out))
    assert result.exit_code == 0, result.output
    assert "The model was integrated numerically. Nothing was sampled." in result.output
    assert f"Family: {row.family}. Priors: Bambi" in out.read_text(encoding="utf-8")
    row = rf"^(\S.*?) +({NUMBER}) +({NUMBER}) +({NUMBER}) +({NUMBER}) *$"
    lines = re.findall(row, result.output, re.MULTILINE)
    return {
        name: [float(x.replace("−", "-").replace(",", "")) for x in numbers]
        for name, *numbers in lines
    }


def agree(numbers, effects, spreads):
    for name, known in effects.items():
        mean, sd, *_ = numbers[name]
        assert abs(mean - known) < sd, name
    for name, known in spreads.items():
        *_, low, high = numbers[name]
        assert low < known < high, name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.table)
def test_posteriors_are_where_published_estimates_are(row, tmp_path):
    agree(solved(row, tmp_path), row.effects, row.spreads)


def test_cakes_are_those_of_statsmodels(tmp_path):
    frame = pd.read_csv(TABLES / "cake.csv")
    fit = smf.mixedlm("angle ~ recipe * temperature", frame, groups=frame["replicate"]).fit()
    effects = {
        "Intercept": fit.params["Intercept"],
        "temperature": fit.params["temperature"],
        "recipe[B]": fit.params["recipe[T.B]"],
        "recipe:temperature[C]": fit.params["recipe[T.C]:temperature"],
    }
    spreads = {"1|replicate_sigma": fit.cov_re.iloc[0, 0] ** 0.5, "sigma": fit.scale**0.5}
    agree(solved(CAKE, tmp_path), effects, spreads)


@pytest.mark.parametrize(
    ("row", "group", "law"),
    [(SEIZURES, "subject", sm.families.Poisson()), (BACTERIA, "ID", sm.families.Binomial())],
    ids=["epil.csv", "bacteria.csv"],
)
def test_signs_and_sizes_are_those_of_estimating_equations(row, group, law, tmp_path):
    """Under a log link effects given a subject are those of the mean; under a logit larger."""
    frame = pd.read_csv(TABLES / row.table)
    frame["y"] = frame["y"].replace({"y": 1, "n": 0}).astype(int)
    formula, within = row.formula.rsplit(" + ", 1)[0], sm.cov_struct.Exchangeable()
    fit = smf.gee(formula, group, frame, family=law, cov_struct=within).fit()
    numbers = solved(row, tmp_path)
    for name, known in fit.params.drop("Intercept").items():
        mean, sd, *_ = numbers[name.replace("T.", "")]
        assert abs(mean - known) < 1.5 * sd, name
        assert mean * known > 0
