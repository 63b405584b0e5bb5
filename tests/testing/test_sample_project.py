"""A project's suite of statistical tests: right ones pass whatever the seed, bugs are found."""

import json

import pytest

from bayesmodels.testing.budget import FALSE_ALARMS, FEWEST
from tests.testing.planted import BUGS, run


@pytest.mark.slow
def test_fifty_right_assertions_pass_within_the_budget(tmp_path):
    found = run(7, None, f"--bayesmodels-verdicts={tmp_path / 'all.json'}")
    assert (found.passed, found.wrong, found.broken) == (50, [], [])
    verdicts = json.loads((tmp_path / "all.json").read_text())["verdicts"]
    assert [each["outcome"] for each in verdicts] == ["agree"] * 50
    assert {each["level"] for each in verdicts} == {FALSE_ALARMS / FEWEST / 2}


@pytest.mark.parametrize(  # each runs a suite of its own: the fast part takes every sixth
    "name", [pytest.param(n, marks=pytest.mark.slow if i % 6 else ()) for i, n in enumerate(BUGS)]
)
def test_a_planted_bug_is_found(name):
    found = run(7, BUGS[name])
    assert found.wrong
    assert not found.broken
    assert found.code == pytest.ExitCode.TESTS_FAILED
