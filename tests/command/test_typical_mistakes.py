"""What people type first, the message that they get, and its way out, which is tried.

Each row is a wrong command, words of the message that name the way out, and the command that
follows it. Bad files are in test_bad_files.py, marks of gaps in test_files_as_they_come.py.
"""

# ruff: noqa: E501 - a row a mistake

import shlex

import numpy as np
import pandas as pd
import pytest

from tests.command.test_cli import run

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
]

BETA = "beta-bernoulli T --target Recovered --success Yes"
LINE = "linear-regression T --target Score --features Age"
WAIT = "gamma-exponential T --target Weeks --observed"
SCORE = "formula T --formula 'Score ~ Age"
# fmt: off
MISTAKES = [
    ("beta-bernouli T --target Recovered --success Yes", "Did you mean 'beta-bernoulli'?", BETA),
    ("beta-bernoulli T --target recovered --success Yes", "Did you mean 'Recovered'?", BETA),
    ("beta-bernoulli T --target Recovered --success yes", "Did you mean 'Yes'?", BETA),
    (f"{BETA} --bye Arm", "--brief", f"{BETA} --by Arm"),  # one of those that any click names
    (f"{BETA} --by arm", "there is no column 'arm'; there are ['Arm', 'Recovered',", f"{BETA} --by Arm"),
    ("beta-bernoulli T --target Recovered", "such as --success Yes", BETA),
    ("beta-bernoulli T --target Hits", "of successes by --target, that of trials by --trials", "beta-bernoulli T --target Hits --trials Trials"),
    ("beta-bernoulli T --target Events", "for numbers of events use gamma-poisson", "gamma-poisson T --target Events"),
    ("beta-bernoulli T --target Trials --trials Hits", "let the two change places", "beta-bernoulli T --target Hits --trials Trials"),
    (f"{BETA} --freq Score", "must hold whole numbers, 0 or more; row 1 below the heading holds", BETA),
    (f"{BETA} --ci-prob 95", "95.0 is not in the range 0<x<1", f"{BETA} --ci-prob 0.95"),
    (f"{BETA} --draws -5", "is not in the range x>=8", f"{BETA} --draws 500"),
    (f"{BETA} --family binomial", "--family: is about `report formula`; leave it out", BETA),
    ("linear-regression T --target Same --features Age", "holds a single value, which tells nothing; name another one with --target", LINE),
    (f"{LINE},Same", "'Same': holds a single value, which tells nothing; leave it out", LINE),
    (f"{LINE},Score", "--features: must not hold the target 'Score'; leave it out", LINE),
    (f"{LINE} --by Arm", "--by: linear-regression has no use for it; leave it out", LINE),
    (f"{LINE} --prior shape=-1", "shape: must be positive; got -1", f"{LINE} --prior shape=1"),
    (f"{LINE} --prior shape", "must be KEY=NUMBER, such as alpha=2", f"{LINE} --prior shape=2"),
    (f"{LINE} --prior alpha=2", "has the parameters ['mean', 'precision', 'shape', 'scale']", f"{LINE} --prior scale=2"),
    ("logistic-regression T --target Score --features Age", "for numbers use linear-regression", LINE),
    (f"{WAIT} Status", "Say by --event which of ['1', '2', '3'] ends the waiting", f"{WAIT} Status --event 2"),
    (f"{WAIT} Status --event two", "must be a label in column 'Status', which holds ['1', '2', '3']", f"{WAIT} Status --event 2"),
    (f"{WAIT} Recovered", "Say by --event which of ['No', 'Yes']", f"{WAIT} Recovered --event Yes"),
    ("gamma-poisson T --target Score", "For other numbers use normal-inverse-gamma", "normal-inverse-gamma T --target Score"),
    ("gamma-poisson T --target Events --exposure Arm", "choose other columns", "gamma-poisson T --target Events --exposure Years"),
    (f"{SCORE} + Weigth'", "there is no column 'Weigth'; there are ['Arm',", f"{SCORE} + Weeks'"),
    (f"{SCORE} + Stage'", "Or write C(Stage), which takes its cells as labels", f"{SCORE} + C(Stage)'"),
    (f"{SCORE}' --family gausian", "Did you mean 'gaussian'?", f"{SCORE}' --family gaussian"),
    ("formula T --formula 'Score = Age'", "must be a target, ~ and terms, as 'y ~ x'", f"{SCORE}'"),
    ("formula T --family poisson", "needs FILE and --formula", "formula T --formula 'Events ~ Age' --family poisson"),
    ("formula T --formula 'Hits ~ Age' --family binomial", "--trials: must name the column with numbers of trials", "formula T --formula 'Hits ~ Age' --family binomial --trials Trials"),
    ("formula T --formula 'Score ~ Age' --family poisson", "For numbers that are no counts give --family gaussian", f"{SCORE}' --family gaussian"),
    ("formula T --formula 'Recovered ~ Age'", "Give --family bernoulli and --success", "formula T --formula 'Recovered ~ Age' --family bernoulli --success Yes"),
    ("formula T --formula 'Same ~ Age'", "holds a single value, which tells nothing; name another target", f"{SCORE}'"),
    ("formula T --formula 'Trials ~ Age' --family binomial --trials Hits", "let the two change places", "formula T --formula 'Hits ~ Age' --family binomial --trials Trials"),
    (f"{SCORE}' --trials Trials", "--trials: is about a column of successes; give --family binomial", "formula T --formula 'Hits ~ Age' --family binomial --trials Trials"),
    ("T beta-bernoulli --target Recovered", "MODEL: stands before FILE", BETA),
    ("formula T --formula 'Recovered ~ Age' --family bernoulli", "Give --success Yes.", "formula T --formula 'Recovered ~ Age' --family bernoulli --success Yes"),
]
# fmt: on


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = 24
    frame = pd.DataFrame(
        {
            "Arm": ["drug", "placebo"] * 12,
            "Recovered": rng.choice(["Yes", "No"], rows),
            "Age": rng.integers(20, 70, rows),
            "Score": rng.normal(10, 2, rows).round(2),
            "Weeks": rng.integers(1, 30, rows),
            "Status": [1, 2, 3] * 8,
            "Events": rng.poisson(3, rows),
            "Years": rng.uniform(1, 4, rows).round(2),
            "Trials": rng.integers(12, 16, rows),
            "Hits": rng.integers(2, 10, rows),
            "Same": 7,
            "Stage": ["0", "1", "2", "3+"] * 6,
        }
    )
    path = tmp_path_factory.mktemp("trial") / "trial.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("wrong", "words", "right"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_named_and_its_way_out_works(wrong, words, right, trial):
    def given(command):
        parts = [x if x != "T" else str(trial) for x in shlex.split(command)]
        return run("report", *parts, "--check")

    refused = given(wrong)
    assert refused.exit_code == 2
    assert words in " ".join(refused.output.split())
    result = given(right)
    assert result.exit_code == 0, result.output
