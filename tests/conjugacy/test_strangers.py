"""Models as other people write them end soon, in a closed form or in a reason that helps."""

import re
import time

import numpy as np
import pytest

import bayesmodels as bm
from tests.conjugacy.strangers import STRANGERS

QUICK = {
    "gaussian process on a grid",
    "black box without gradient",
    "custom distribution without a density",
    "regression in minibatches of known noise",
    "simulated predators",
}
# What PyMC says of its own parts is not of interest here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Detected variables likely created by GP"),
    pytest.mark.filterwarnings("ignore:.*RandomVariable.*rng:DeprecationWarning"),
]


@pytest.mark.parametrize("partial", [False, True], ids=["whole", "partial"])
@pytest.mark.parametrize(
    "stranger",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for one in STRANGERS
    ],
)
def test_every_model_ends_in_a_closed_form_or_in_a_reason(stranger, partial, record_property):
    model = stranger.build()
    start = time.process_time()
    try:
        found = repr(bm.exact(model, partial=partial, rng=np.random.default_rng(20261123)))
    except bm.NotConjugate as no:
        found = no.reason
        names = [rv.name for rv in (*model.basic_RVs, *model.potentials)]
        assert any(re.search(rf"\b{re.escape(name)}\b", found) for name in names)
    seconds = time.process_time() - start
    record_property("stranger", [stranger.name, "partial" if partial else "whole", seconds, found])
    assert seconds < 60
