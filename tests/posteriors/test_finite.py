"""What finite variables change is seen at each of their values, whatever the seed."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.posteriors import exact
from bayesmodels.posteriors.conditional import Conditionals
from tests.posteriors.check import log_joint
from tests.posteriors.finite_relatives import RELATIVES, Enumerated, Remaining, Without

SEEDS = range(2)
QUICK = {"the_lock_of_the_issue"}


@pytest.fixture(autouse=True)
def _compiled_once(monkeypatch):
    """Make a model's graphs for the first seed only: they do not depend on it."""

    def once(make):
        known = {}

        def made(subject, *more):
            if subject not in known:
                known[subject] = make(subject, *more)
            return known[subject]

        return made

    for name in ("supports", "joint_field", "audit"):
        monkeypatch.setattr(exact, name, once(getattr(exact, name)))
    monkeypatch.setattr("bayesmodels.posteriors.partial.Conditionals", once(Conditionals))


def outcomes(model, *, partial=False):
    """Return what is made of a model with each seed: a posterior, or None."""
    for seed in SEEDS:
        try:
            yield bm.exact(model, partial=partial, seconds=np.inf, rng=seed)
        except bm.NotConjugate:
            yield None


@pytest.mark.parametrize(
    "relative",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for one in RELATIVES
    ],
)
def test_every_seed_gives_the_truth_or_a_refusal(relative):
    check = {Enumerated: is_enumerated, Remaining: remains, Without: is_refused}
    check[type(relative)](relative)


def is_enumerated(relative):
    log_evidence, probabilities = relative.truth()
    for posterior in outcomes(relative.build()):
        assert posterior.verified == "analytically"
        assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-9)
        found = posterior.parameters()
        for name, expected in probabilities.items():
            assert found[name]["probability"] == pytest.approx(expected, abs=1e-9)


def remains(relative):
    expected = [relative.density(**point) for point in relative.points]
    for partial in outcomes(relative.build(), partial=True):
        assert partial.integrated == relative.integrated
        density = log_joint(lambda partial=partial: partial.model)
        assert [density(point) for point in relative.points] == pytest.approx(expected, abs=1e-8)


def is_refused(relative):
    assert set(outcomes(relative.build(), partial=relative.partial)) == {None}


def test_the_table_is_long_enough():
    assert len({relative.name for relative in RELATIVES}) == len(RELATIVES) >= 33


def test_a_refusal_says_at_which_value():
    (relative,) = [one for one in RELATIVES if one.name == "a_rare_link_among_40"]
    with pytest.raises(bm.NotConjugate, match="with k = 20, the joint density as a function of b"):
        bm.exact(relative.build(), rng=np.random.default_rng(1))
