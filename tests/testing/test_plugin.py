"""One budget for a run of pytest, and its verdicts at the end."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

from bayesmodels.testing import budget, verdicts
from tests.testing import running

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing.md"
HEAD = """
import numpy as np
import pytest
import bayesmodels as bm
from bayesmodels.testing import assert_calibrated, assert_posterior

LAW = bm.BetaBernoulli(5, 19)


def draws(a, b, chain=1000):
    return {"theta": np.random.default_rng(1).beta(a, b, (4, chain))}

"""
THREE = """
def test_right():
    assert_posterior(LAW, draws(5, 19))

def test_wrong():
    assert_posterior(LAW, draws(6, 18))

def test_few():
    assert_posterior(LAW, draws(5, 19, 40))
"""
SHARE = budget.FALSE_ALARMS / budget.FEWEST


@pytest.fixture
def project(tmp_path):
    """Return a function that runs tests, given their text."""

    def write(text, settings=""):
        (tmp_path / "pytest.ini").write_text(
            f"[pytest]\naddopts = --import-mode=importlib\n{settings}"
        )
        (tmp_path / f"test_{tmp_path.name}.py").write_text(HEAD + dedent(text))

    def run(text, *options, settings=""):
        write(text, settings)
        return running.run(tmp_path, *options)

    return run


@pytest.fixture
def judged(project, tmp_path):
    """Return a function that runs tests and returns the verdicts as they are written."""

    def run(text, *options, settings=""):
        project(
            text, f"--bayesmodels-verdicts={tmp_path / 'all.json'}", *options, settings=settings
        )
        found = json.loads((tmp_path / "all.json").read_text())
        jsonschema.validate(found, json.loads(verdicts.SCHEMA.read_text()))
        return found

    return run


def test_the_schema_is_one():
    schema = json.loads(verdicts.SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(verdicts.to_json([{"test": "none"}], 0.01)), schema)


def test_verdicts_are_printed_at_the_end(project):
    found = project(THREE)
    assert (found.passed, len(found.wrong), found.broken) == (1, 2, [])
    lines = found.printed.split("= verdicts =")[1].splitlines()[1:6]
    assert lines[0].split() == ["verdict", "worst", "z", "ESS", "level", "test"]
    outcomes = [line.split()[0] for line in lines[1:4]]
    assert outcomes == ["agree", "disagree", "inconclusive"]
    assert lines[1].split()[-1].endswith("::test_right")
    assert lines[4].startswith("3 verdicts: 1 agree, 1 disagree, 1 inconclusive. Right ones")


def test_the_page_shows_what_is_printed(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    code = re.search(r"```python\n# test_samplers.py\n(.*?)```", text, re.DOTALL)[1]
    name = f"test_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(code)
    printed = running.run(tmp_path).printed.replace(name, "test_samplers")
    shown = re.search(r"```\n(=+ verdicts.*?)```", text, re.DOTALL)[1]
    printed = re.search(r"=+ verdicts.*?runs\.\n", printed, re.DOTALL)[0]
    assert re.sub(r"\d|=+", "0", printed) == re.sub(r"\d|=+", "0", shown)


def test_a_failure_says_what_is_wrong_at_the_line_that_asserts(project):
    wrong, few = project(THREE).wrong
    assert "> " in wrong
    assert wrong.count("def test_wrong") == 1
    assert "assertions.py" not in wrong
    assert re.search(r"theta lies 0.\d+ standard deviations too high", wrong)
    assert "sampled_mean" in wrong
    assert "effective draws; at least 400 are needed. Draw about" in few


@pytest.mark.parametrize(
    ("text", "options"),
    [(THREE, ["-q"]), ("def test_other():\n    assert LAW.mean()['theta'] < 1", [])],
    ids=["quiet", "no assertion"],
)
def test_nothing_is_printed(project, text, options):
    found = project(text, *options)
    assert found.passed == 1
    assert "verdict" not in found.printed.split("short test summary")[0].split("FAILURES")[0]
    assert "= verdicts =" not in found.printed


@pytest.mark.parametrize(
    ("options", "settings", "false_alarms"),
    [
        ([], "", 0.01),
        (["--bayesmodels-false-alarms=0.001"], "", 0.001),
        ([], "false_alarms = 0.05", 0.05),
        (["--bayesmodels-false-alarms=0.001"], "false_alarms = 0.05", 0.001),
    ],
)
def test_the_budget_is_the_option_or_the_setting(judged, options, settings, false_alarms):
    found = judged(THREE, *options, settings=settings)
    assert found["false_alarms"] == false_alarms
    levels = [each["level"] for each in found["verdicts"]]
    assert levels == pytest.approx([false_alarms / budget.FEWEST / 2] * 3)


def test_assertions_of_one_test_share_its_part(judged):
    text = """
        @pytest.fixture
        def checked():
            assert_posterior(LAW, draws(5, 19))

        def test_four(checked):
            for _ in range(3):
                assert_posterior(LAW, draws(5, 19))
    """
    levels = [each["level"] for each in judged(text)["verdicts"]]
    assert levels == pytest.approx([SHARE / 2, SHARE / 6, SHARE / 12, SHARE / 20])


def test_a_share_does_not_depend_on_which_tests_run_until_there_are_very_many(judged, monkeypatch):
    text = "@pytest.mark.parametrize('i', range(4))\ndef test_right(i):\n"
    text += "    assert_posterior(LAW, draws(5, 19))"
    alone = judged(text, "-k", "test_right and 3")["verdicts"]
    among = judged(text)["verdicts"]
    assert alone == among[3:]
    monkeypatch.setattr("bayesmodels.testing.plugin.FEWEST", 2)
    assert judged(text)["verdicts"][0]["level"] == budget.FALSE_ALARMS / 4 / 2


def test_a_level_of_ones_own_takes_nothing_more_from_the_budget(judged):
    text = """
        def test_two():
            assert_posterior(LAW, draws(5, 19), level=0.05)
            assert_posterior(LAW, draws(5, 19), level=1e-7)
    """
    assert [e["level"] for e in judged(text)["verdicts"]] == pytest.approx([SHARE / 2, 1e-7])


def test_a_disagreement_that_a_test_expects_is_noted(judged):
    text = """
        def test_expected():
            with pytest.raises(AssertionError, match="too high"):
                assert_posterior(LAW, draws(6, 18))
            assert_calibrated(LAW, np.zeros(5), rng=1)
    """
    first, second = judged(text)["verdicts"]
    assert (first["kind"], first["outcome"]) == ("Verdict", "disagree")
    assert (second["kind"], second["outcome"]) == ("Calibration", "agree")
    assert first["largest"].startswith("theta, ")
    assert first["largest_z"] > 20
    assert second["smallest_ess"] is None


def test_markdown_has_a_row_each_and_says_what_is_wrong(project, tmp_path):
    text = "@pytest.mark.parametrize('i', ['a|b'])\ndef test_wrong(i):\n"
    text += "    assert_posterior(LAW, draws(6, 18))"
    project(text, f"--bayesmodels-verdicts={tmp_path / 'all.md'}")
    written = (tmp_path / "all.md").read_text()
    assert "1 verdict: 1 disagree." in written
    (line,) = [line for line in written.splitlines() if line.startswith("| disagree")]
    assert line.endswith("::test_wrong[a\\|b]` |")
    assert line.replace("\\|", "").count("|") == 7
    assert "standard errors" in written.split("## disagree")[1]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--bayesmodels-false-alarms=0", "must be between 0 and 1; got 0.0"),
        ("--bayesmodels-false-alarms=1.5", "must be between 0 and 1; got 1.5"),
        ("--bayesmodels-verdicts=all.txt", "must end in .json or .md"),
        ("--bayesmodels-verdicts=nowhere/all.md", "in a folder that exists"),
    ],
)
def test_options_are_checked_before_any_test(project, option, words):
    found = project(THREE, option)
    assert found.code == pytest.ExitCode.USAGE_ERROR
    assert words in found.printed


def test_a_setting_that_is_no_number_is_refused(project):
    found = project(THREE, settings="false_alarms = some")
    assert found.code == pytest.ExitCode.USAGE_ERROR
    assert "false_alarms: must be between 0 and 1; got 'some'" in found.printed


def test_starting_pytest_loads_nothing_heavy():
    code = (
        "import sys, pytest; before = set(sys.modules); import bayesmodels.testing.plugin\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - sys.stdlib_module_names))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.strip() == "['bayesmodels', 'lazy_loader']"  # which is one small file


def test_the_plugin_is_registered_once_however_it_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # With another name, `-p bayesmodels.testing.plugin` beside the entry point is an error.
    assert project["entry-points"]["pytest11"] == {running.PLUGIN: running.PLUGIN}


@pytest.mark.slow  # two more processes import everything
def test_workers_of_xdist_spend_the_same_and_the_first_process_writes(judged):
    alone, both = judged(THREE), judged(THREE, "-n", "2", "--dist=load")
    assert sorted(both["verdicts"], key=lambda v: v["test"]) == sorted(
        alone["verdicts"], key=lambda v: v["test"]
    )
