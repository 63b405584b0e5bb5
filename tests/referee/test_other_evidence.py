"""Other ways to the evidence, as a report needs them."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief.protocol import LatentClasses, Statistic
from bayesmodels.referee import evidence_check
from bayesmodels.referee.evidence_check import other_evidence, thinned
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)
X = RNG.normal(size=(20, 2))
Y = X @ [1.0, -1.0] + RNG.normal(size=20)


def found(prior, data, draws=1000):
    rng = np.random.default_rng(2)
    tree = bm.exact_draws(prior, data, draws=draws, rng=rng)
    return other_evidence(prior, data, prior.declare(data), tree, rng)


@pytest.mark.parametrize(
    ("prior", "data"),
    [
        (bm.BetaBernoulli(2, 1), [1, 0, 0, 1, 0]),
        (bm.BetaBernoulli(2, 1), bm.BinomialCounts([3, 4], [10, 20])),
        (bm.LinearRegression([0, 0], 1, 3, 2), (X, Y)),
    ],
)
def test_they_are_near_the_closed_form(prior, data):
    exact = float(np.sum(prior.log_evidence(data)))
    other = found(prior, data)
    assert abs(other.chain - exact) < 1e-10 * max(1, abs(exact))
    assert 0 < other.estimate.error < 0.02
    assert abs(other.estimate.log_evidence - exact) < 4 * other.estimate.error
    assert other.notes == ()


PROPER = [case for case in CASES if not case.warm_up and not isinstance(case.prior, LatentClasses)]


@pytest.mark.slow
@pytest.mark.parametrize("case", PROPER, ids=lambda case: case.id)
def test_whatever_the_data_come_in(case):
    other = found(case.prior, case.data)
    gone = isinstance(case.data, Statistic)
    assert (other.chain is None) == gone
    assert gone or abs(other.chain - case.log_evidence) < 1e-9 * max(1, abs(case.log_evidence))
    assert other.estimate.error < 0.1
    gap = abs(other.estimate.log_evidence - case.log_evidence)
    assert gap <= max(5 * other.estimate.error, 1e-9)


def test_finite_hypotheses_are_added_up():
    prior = bm.ConceptLearning.number_game()
    other = found(prior, [16, 8])
    assert other.estimate.error == 0
    assert abs(other.estimate.log_evidence - prior.log_evidence([16, 8])) < 1e-12


def test_an_improper_prior_has_no_evidence():
    assert found(bm.LinearRegression.flat(2), (X, Y)) is None


def test_of_many_rows_there_is_no_chain(monkeypatch):
    monkeypatch.setattr(evidence_check, "MOST_STEPS", 4)
    other = found(bm.BetaBernoulli(2, 1), [1, 0, 0, 1, 0])
    assert other.chain is None
    assert "so many rows" in other.notes[0]


def test_of_a_mixture_there_is_a_bridge_alone():
    prior = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(2, 2))
    rows = [[1, 0], [0, 1], [1, 1]]
    other = found(prior, rows)
    assert other.chain is None
    gap = abs(other.estimate.log_evidence - float(prior.log_evidence(rows)))
    assert gap < 4 * other.estimate.error < 0.4


def test_a_statistic_has_no_chain():
    prior = bm.BetaBernoulli(2, 1)
    other = found(prior, prior.statistic([1, 0, 0]))
    assert "whose rows are gone" in other.notes[0]
    assert other.estimate is not None


def test_too_few_draws_are_said():
    other = found(bm.BetaBernoulli(2, 1), [1, 0, 0], draws=10)
    assert other.estimate is None
    assert "Draw more" in other.notes[0]


def test_no_more_draws_than_needed_are_taken():
    tree = bm.exact_draws(bm.DirichletCategorical(np.ones(5)), [0, 1], draws=1000)
    assert thinned(tree["posterior"], 100)["theta"].shape == (4, 250, 5)
    assert thinned(tree["posterior"], 10_000)["theta"].shape == (4, 63, 5)
    wide = bm.exact_draws(bm.DirichletCategorical(np.ones(900)), [0, 1], draws=1000)
    assert thinned(wide["posterior"], 100)["theta"].shape == (4, 1000, 900)
