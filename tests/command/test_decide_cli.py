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


@pytest.mark.slow
def test_an_ab_test_from_the_command_line(trial):
    page = trial.with_suffix(".html")
    asked = ["report", "beta-bernoulli", str(trial), "--target", "converted", "--by", "arm"]
    found = CliRunner().invoke(cli.main, [*asked, "--decide", "--json", "-o", str(page)])
    decision = json.loads(found.stdout)["decision"]
    assert decision["choice"] == "new"
    assert decision["table"]["new"]["best"] == pytest.approx(0.85328, abs=1e-5)
    assert "new has the largest theta of 2 groups with probability 0.853." in page.read_text()
