"""`bayesmodels report --decide`: which group is best, in the terminal and in the report."""

import json

import pytest
from click.testing import CliRunner

from bayesmodels.command import cli


@pytest.fixture
def trial(tmp_path):
    file = tmp_path / "trial.csv"
    rows = [f"{arm},{int(i < k)}" for arm, k in (("old", 10), ("new", 15)) for i in range(100)]
    file.write_text("\n".join(["arm,converted", *rows]))
    return file


def test_without_groups_there_is_nothing_to_decide(trial):
    asked = ["report", "beta-bernoulli", str(trial), "--target", "converted", "--decide"]
    found = CliRunner().invoke(cli.main, asked)
    assert found.exit_code == 2
    assert "--decide: needs groups to choose between; give their column by --by." in found.stderr


def test_categories_of_groups_are_no_groups(trial):
    asked = ["report", "dirichlet-categorical", str(trial), "--target", "converted", "--by", "arm"]
    found = CliRunner().invoke(cli.main, [*asked, "--decide"])
    assert found.exit_code == 2
    assert "--decide: needs one number a group to compare" in found.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rope", "-0.01", "0.01"], "--rope: is about a decision; add --decide."),
        (["--best", "smallest"], "--best: is about a decision; add --decide."),
        (["--acceptable-loss", "0.1"], "--acceptable-loss: is about a decision; add --decide."),
        (["--decide", "--rope", "0.1", "-0.1"], "--rope: must be LOW below HIGH, such as"),
        (["--decide", "--acceptable-loss", "0"], "0.0 is not in the range x>0"),
    ],
)
def test_what_is_said_about_a_decision_fits(trial, options, words):
    asked = ["report", "beta-bernoulli", str(trial), "--target", "converted", "--by", "arm"]
    found = CliRunner().invoke(cli.main, [*asked, *options])
    assert found.exit_code == 2
    assert words in found.stderr


@pytest.mark.slow
def test_the_smallest_may_be_best(trial):
    page = trial.with_suffix(".html")
    asked = ["report", "beta-bernoulli", str(trial), "--target", "converted", "--by", "arm"]
    found = CliRunner().invoke(
        cli.main, [*asked, "--decide", "--best", "smallest", "--draws", "100", "-o", str(page)]
    )
    assert "old has the smallest theta of 2 groups with probability 0.853." in found.stdout
    assert "The expected loss of choosing old is 0.00358" in found.stdout


@pytest.mark.slow
def test_an_ab_test_from_the_command_line(trial):
    page = trial.with_suffix(".html")
    asked = ["report", "beta-bernoulli", str(trial), "--target", "converted", "--by", "arm"]
    more = ["--rope", "-0.01", "0.01", "--acceptable-loss", "0.005", "--prob", "0.95"]
    found = CliRunner().invoke(cli.main, [*asked, "--decide", *more, "--json", "-o", str(page)])
    decision = json.loads(found.stdout)["decision"]
    assert decision["choice"] == "new"
    assert decision["table"]["new"]["best"] == pytest.approx(0.85328, abs=1e-5)
    assert (decision["rope"], decision["stop"]) == ([-0.01, 0.01], True)
    text = page.read_text()
    assert "new has the largest theta of 2 groups with probability 0.853." in text
    assert "% interval -0.043 to 0.142)" in text
    assert "too little to matter (the region of practical equivalence, ROPE)" in text
    assert "is at most the acceptable loss of 0.005." in text
    assert "the ROPE, -0.01 to 0.01" in text
