"""A minute of fuzzing, the same cases at every run; `run.py` goes on as long as it is told to."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.targets import TARGETS

EXAMPLES = {"data": 250, "arguments": 60, "files": 200, "forged files": 500}


@pytest.mark.slow
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
