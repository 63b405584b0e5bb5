"""Many random models, half of them nearly conjugate: no wrong acceptance, and no crash."""

from collections import Counter

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.fuzz import CONJUGATE, random_model, random_plan

CHUNK = 50


def rng_of(seed):
    return np.random.default_rng([20260510, seed])


def outcome(seed):
    """Return what the model is, what became of it, and a word about that."""
    model, status, judge = random_model(rng_of(seed))
    try:
        posterior = bm.exact(model, rng=np.random.default_rng(seed))
    except bm.NotConjugate as error:
        return status, "refused", error.reason
    word = judge(posterior)
    return status, "solved" if word == "right" else "wrong", word


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_random_models_are_solved_rightly_or_refused(start, record_property):
    counts, complaints = Counter(), []
    for seed in range(start, start + CHUNK):
        status, became, word = outcome(seed)
        counts[f"{status}, {became}"] += 1
        if became == "wrong" or (status, became) == (CONJUGATE, "refused"):
            complaints.append(f"{seed} ({random_plan(rng_of(seed))}): {became}, {word}")
    record_property("fuzz", [dict(counts), complaints])
    assert not [complaint for complaint in complaints if "wrong, " in complaint]
    # A closed form that was not found is no wrong number, but has to be rare.
    assert counts[f"{CONJUGATE}, refused"] <= 2
