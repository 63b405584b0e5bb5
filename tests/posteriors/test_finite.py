"""What finite variables change is seen at each of their values, whatever the seed."""

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.check import log_joint
from tests.posteriors.finite_relatives import RELATIVES, Enumerated, Remaining, Without

QUICK = {"the_lock_of_the_issue"}


def outcome(model, seed, *, partial=False):
    """Return what is made of a model: a posterior, or None."""
    try:
        return bm.exact(model, partial=partial, seconds=np.inf, rng=seed)
    except bm.NotConjugate:
        return None


@pytest.mark.parametrize(
    ("seed", "relative"),
    [
        pytest.param(i, one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for i, one in enumerate(RELATIVES)
    ],
)
def test_any_seed_gives_the_truth_or_a_refusal(seed, relative):
    check = {Enumerated: is_enumerated, Remaining: remains, Without: is_refused}
    check[type(relative)](relative, seed)


def is_enumerated(relative, seed):
    log_evidence, probabilities = relative.truth()
    posterior = outcome(relative.build(), seed)
    assert posterior.verified == "analytically"
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    found = posterior.parameters()
    for name, expected in probabilities.items():
        assert found[name]["probability"] == pytest.approx(expected, abs=1e-9)


def remains(relative, seed):
    expected = [relative.density(**point) for point in relative.points]
    partial = outcome(relative.build(), seed, partial=True)
    assert partial.integrated == relative.integrated
    density = log_joint(lambda: partial.model)
    assert [density(point) for point in relative.points] == pytest.approx(expected, abs=1e-8)


def is_refused(relative, seed):
    assert outcome(relative.build(), seed, partial=relative.partial) is None


def test_the_table_is_long_enough():
    assert len({relative.name for relative in RELATIVES}) == len(RELATIVES) >= 33


def test_a_refusal_says_at_which_value():
    (relative,) = [one for one in RELATIVES if one.name == "a_rare_link_among_40"]
    with pytest.raises(bm.NotConjugate, match="with k = 20, the joint density as a function of b"):
        bm.exact(relative.build(), rng=np.random.default_rng(1))
