"""A minute of fuzzing, the same cases at every run; `run.py` goes on as long as it is told to."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

import bayesmodels as bm
from tests.fuzz.targets import STATISTICS, TARGETS, body, signed

EXAMPLES = {"data": 250, "arguments": 60, "files": 200, "forged files": 500}


def test_the_forger_knows_the_checksum(tmp_path):
    bm.scale.save(STATISTICS[0], tmp_path / "s.json")
    header = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert header["sha256"] == signed(header[body(header)])


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
