"""What bm.exact refuses is integrated where few scalars are left, or there is a reason why not."""

import re
import time

import pytest

import bayesmodels as bm
from tests.posteriors.refused import REFUSED

# Of models whose priors PyMC draws from with BLAS; only its speed depends on it.
pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")

SECONDS, SHORT = 12.0, 3.0
QUICK = {
    "logistic regression",
    "share with a prior of ones own",
}
MANY = {  # configurations without end
    "a count without end",
}
# Steps, kinks in several dimensions, heavy funnels, and what takes long: either they settle, or the
# reason says what is left.
NOT_SETTLED = {
    "logit without its jacobian",
    "covariance by lkj",
    "a density with a hole",
    "vectors with independent priors",
    "a process of unknown length",
    "lasso",
    "horseshoe",
    "two shares in order",
    "a kink by a rectifier",
    "stairs by a floor",
    "stairs by rounding",
    "stairs by a sign",
    "a change at any time",
    "two cells of six hundred that touch",  # 599 integrals
}
NO_POSTERIOR = {  # improper, or no point at which the density is positive
    "more columns than rows under a flat prior",
    "a flat prior and no rows",
    "counts below zero",
    "a flat scale and one row",
    "two flat means seen by their difference",
    "more successes than trials",
    "rows that are not numbers",
}
NONE = {*MANY, *NOT_SETTLED, *NO_POSTERIOR}


def became(refused):
    """Return whether a model is integrated, and a number or the reason."""
    seconds = SHORT if refused.name in NOT_SETTLED else SECONDS
    try:
        posterior = bm.integrate(refused.build(), rng=20261124, seconds=seconds)
    except bm.NotConjugate as no:
        return False, no.reason
    return True, f"{posterior.points:,} points, error {posterior.errors['log_evidence']:.0e}"


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for one in REFUSED
    ],
)
def test_it_is_integrated_or_there_is_a_reason(refused, record_property, request):
    if refused.name not in NONE:
        request.getfixturevalue("slow_clock")
    begun = time.process_time()
    done, said = became(refused)
    record_property("was refused", [refused.name, time.process_time() - begun, said])
    assert done or refused.name in NONE
    assert not done or refused.name in NOT_SETTLED or refused.name not in NONE
    assert done or any(re.search(rf"\b{word}\b", said) for word in refused.words)


def test_of_most_there_is_an_integral_now():
    names = {refused.name for refused in REFUSED}
    few = names - MANY
    assert names >= NONE
    assert len(few - NONE) >= 66
    assert len(few) - len(few - NONE) == len(NOT_SETTLED) + len(NO_POSTERIOR)
