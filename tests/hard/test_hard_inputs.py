"""Every hard input has the outcome that the table requires of it."""

import numpy as np
import pytest

from tests.hard.case import Refusal, error
from tests.hard.families import FAMILIES
from tests.hard.table import CASES


def parameters():
    """Let the fast suite have each hard input once for each way that rows are read."""
    seen, of = set(), {family.name: (family.kind, family.argument) for family in FAMILIES}
    for case in CASES:
        way = (case.group, case.hard, case.asked, of.get(case.model, case.model))
        marks = [pytest.mark.slow] if case.slow or way in seen else []
        seen.add(way)
        yield pytest.param(case, id=case.id, marks=marks)


@pytest.mark.parametrize("case", list(parameters()))
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


def test_an_error_is_seen():
    assert error([1.0, 2.0], [1.0, 2.0]) == 0
    assert error(np.inf, np.inf) == 0
    assert np.isnan(error([np.nan], [1.0]))
    assert error([2.0 + 2e-9], [2.0]) > 0.9e-9
