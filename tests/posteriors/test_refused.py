"""Every model without a closed form is refused, and the reason names a variable."""

import re

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.refused import REFUSED

QUICK = {"logistic regression", "a wave of a millionth over 20 bits"}


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(
            refused, id=refused.name, marks=() if refused.name in QUICK else pytest.mark.slow
        )
        for refused in REFUSED
    ],
)
def test_there_is_no_closed_form_and_the_reason_names_a_variable(refused, record_property):
    model = refused.build()
    with pytest.raises(bm.NotConjugate) as raised:
        bm.exact(model, rng=np.random.default_rng(20260508))
    record_property("refused", [refused.name, raised.value.reason])
    assert any(re.search(rf"\b{word}\b", raised.value.reason) for word in refused.words)


def test_the_table_is_long_enough_and_names_variables():
    assert len({refused.name for refused in REFUSED}) == len(REFUSED) >= 44
