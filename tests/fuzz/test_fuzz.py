"""Half a minute of fuzzing, the same cases at every run."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

import bayesmodels as bm
from tests.fuzz.targets import STATISTICS, TARGETS, body, forged_case, signed

EXAMPLES = {"data": 700, "arguments": 300, "files": 300, "forged files": 1200}


def test_the_forger_knows_the_checksum(tmp_path):
    bm.save(STATISTICS[0], tmp_path / "s.json")
    header = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert header["sha256"] == signed(header[body(header)])


def test_hypotheses_without_names_are_refused():
    forged_case((3, [("text", 0.1847014518954007, 255)]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # NumPy's about odd values
@pytest.mark.parametrize("name", TARGETS)
def test_own_errors_or_right_answers(name):
    strategy, target = TARGETS[name]

    @settings(
        max_examples=EXAMPLES[name],
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def check(case):
        target(case)

    check()
