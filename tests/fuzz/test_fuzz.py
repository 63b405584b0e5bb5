"""A minute of fuzzing, the same cases at every run; `run.py` goes on as long as it is told to."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

import bayesmodels as bm
from tests.fuzz.targets import STATISTICS, TARGETS, body, file_case, forged_case, signed

EXAMPLES = {"data": 1500, "arguments": 500, "files": 1500, "forged files": 2500}


def test_the_forger_knows_the_checksum(tmp_path):
    bm.scale.save(STATISTICS[0], tmp_path / "s.json")
    header = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert header["sha256"] == signed(header[body(header)])


DAMAGED = [
    (2, "npz", [("text", 0.89, 100)]),  # a method of compression that there is not
    (0, "npz", [("swap", 0.554367234775233, 218)] * 2 + [("swap", 0.554367234775233, 158)]),  # NPY
]


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_that_was_once_another_librarys_error(case):
    file_case(case)


def test_hypotheses_without_names_are_refused():
    forged_case((3, "json", [("text", 0.1847014518954007, 255)]))


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
