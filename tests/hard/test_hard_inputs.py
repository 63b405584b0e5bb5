"""Every hard input has the outcome that the table requires of it.

Run is a sample that has every pair; docs/hard-input.md is written of the whole table.
"""

import random
import re

import numpy as np
import pytest

from tests.hard.case import Refusal, error
from tests.hard.table import CASES


def parts(case):
    """Return the words of a hard input: "dates as levels, pandas" is dates, levels and pandas."""
    return re.split(r", |: | (?:and|as|in|of|under|with) ", case.hard)


def pairs(case):
    """Return the pairs of a case: of its chapter, model and question, and of chapter and words."""
    return {
        (case.group, case.model),
        (case.group, case.asked),
        ("question", case.model, case.asked),
        *((case.group, "part", part) for part in parts(case)),
    }


def sample(cases):
    """Return 400 cases that have every pair: as few as show them all, and then any others."""
    order = random.Random(20261127).sample(cases, len(cases))  # noqa: S311 - not of secrets
    found = order
    for _ in range(2):  # the second time backwards: what came late may hold what came first
        seen, kept = set(), []
        for case in reversed(found):
            if not pairs(case) <= seen:
                kept.append(case)
                seen |= pairs(case)
        found = kept
    chosen = {case.id for case in found}
    return found + [case for case in order if case.id not in chosen][: 400 - len(found)]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id, marks=[pytest.mark.slow] if case.slow else [])
        for case in sample(CASES)
    ],
)
def test_outcome_is_the_required_one(case):
    if isinstance(case.required, Refusal):
        with pytest.raises(case.required.kind) as refused:
            case.ours()
        assert case.required.argument in str(refused.value)
        return
    ours = case.ours()
    off = error(ours, case.required(), absolute=case.absolute)
    assert off <= case.precision, off


def test_cases_are_told_apart():
    ids = [case.id for case in CASES]
    assert len(ids) == len(set(ids)), sorted({i for i in ids if ids.count(i) > 1})


def test_the_sample_has_every_pair():
    found = sample(CASES)
    assert len(found) == len({case.id for case in found}) == 400
    assert set().union(*map(pairs, found)) == set().union(*map(pairs, CASES))


def test_an_error_is_seen():
    assert error([1.0, 2.0], [1.0, 2.0]) == 0
    assert error(np.inf, np.inf) == 0
    assert np.isnan(error([np.nan], [1.0]))
    assert error([2.0 + 2e-9], [2.0]) > 0.9e-9
