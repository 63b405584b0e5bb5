"""The evidence in three ways: closed form, chain of predictions, bridge sampling from PyMC."""

import re

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.posteriors.unconstrained import Unconstrained
from bayesmodels.referee.bridge import bridged
from bayesmodels.referee.one_step import log_chain, no_chain
from tests.contract.cases import CASES

_RNG = np.random.default_rng(20260601)
X = _RNG.normal(size=(30, 3))
Y = X @ [1.0, 2.0, 3.0] + _RNG.normal(size=30)
KINDS = np.array(list("ab") * 15)
BITS = [1, 0, 0, 1, 0, 0, 1]
CLASSES = bm.DirichletCategorical([1, 2], categories=["a", "b"])
SMALL = bm.NormalInverseWishart([0, 0], 1, 5, np.eye(2))
MODELS = {
    "a coin": (bm.BetaBernoulli(2, 2), BITS),
    "categories": (bm.DirichletCategorical([1, 0.5, 2]), [0, 1, 2, 2, 2, 0]),
    "a regression": (bm.LinearRegression(np.zeros(3), np.eye(3), 3, 2), (X, Y)),
    "measurements": (bm.NormalInverseGamma(0, 1, 3, 2), Y),
    "vectors": (SMALL, X[:, :2]),
    "naive Bayes": (bm.NaiveBayes(CLASSES, bm.NormalInverseGamma([0] * 3, 1, 3, 2)), (X, KINDS)),
    "a discriminant": (bm.GaussianDiscriminant(CLASSES, SMALL, "shared"), (X[:, :2], KINDS)),
    "groups": (bm.BetaBernoulli(1, 2), bm.Grouped(BITS, list("abbabac"))),
    "a mixture": (
        bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(1, 2)),
        np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]]),
    ),
}


class StatedTooHigh(bm.BetaBernoulli):
    """Its evidence is wrong by a tenth."""

    def log_evidence(self, data):
        return super().log_evidence(data) + 0.1


class PredictsAnother(bm.BetaBernoulli):
    """Its predictive law is that of other parameters."""

    def predictive(self, trials=1):
        return bm.BetaBernoulli(self.alpha, self.beta + 0.01).predictive(trials)


class DeclaresAnother(bm.BetaBernoulli):
    """Its PyMC model has another prior."""

    def declare(self, data, likelihood="rows"):
        return bm.BetaBernoulli(self.alpha, self.beta + 1).declare(data, likelihood)


def check(model, data, seed, **options):
    rng = np.random.default_rng(seed)
    return bm.check_evidence(
        model, data, draws=bm.exact_draws(model, data, rng=rng), rng=rng, **options
    )


def staying(posterior, chance, chains, draws, rng):
    """Return a Markov chain with the posterior's law, which moves to an exact draw or stays."""
    fresh = posterior.sample(chains * draws, rng)
    moved = (rng.random((chains, draws)) >= chance) | (np.arange(draws) == 0)
    every = np.arange(chains * draws).reshape(chains, draws)
    last = np.maximum.accumulate(np.where(moved, every, 0), axis=1)
    return {name: x[last] for name, x in fresh.items()}


# --- the chain ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in CASES if not c.warm_up], ids=lambda c: c.id)
def test_one_step_predictions_make_up_the_evidence(case):
    chain, size = log_chain(case.prior, case.data)
    assert abs(chain - case.log_evidence) <= max(1e-11, case.rounding) * max(1.0, size)


def test_there_is_no_chain_without_rows():
    coin = bm.BetaBernoulli(1, 1)
    assert no_chain(coin, coin.statistic(BITS)) == "the data are a statistic, whose rows are gone"
    assert "half" in no_chain(coin, bm.Weighted([1, 0], [1, 0.5]))
    assert no_chain(object(), BITS) == "one-step predictive densities of object are not known"
    assert not no_chain(coin, BITS)


# --- three ways -----------------------------------------------------------------------------------


SLOW = {"naive Bayes", "a discriminant", "a mixture"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else []) for n in MODELS]
)
def test_three_ways_agree(name):
    model, data = MODELS[name]
    found = check(model, data, 1)
    assert found.outcome == "agree", found
    assert found.chain == pytest.approx(found.log_evidence, rel=1e-11)
    assert found.bound < 0.1
    assert "is the sum of its one-step" in found.sentence()


@pytest.mark.parametrize("data", [bm.Weighted(BITS, np.arange(7) / 3), "statistic"])
def test_without_next_rows_two_ways_are_left(data):
    coin = bm.BetaBernoulli(2, 2)
    found = check(coin, coin.statistic(BITS) if data == "statistic" else data, 2)
    assert found.outcome == "agree"
    assert found.chain is None
    assert "there is no chain" in found.findings[-1]


def test_over_hypotheses_the_sum_is_exact():
    found = bm.check_evidence(bm.ConceptLearning.number_game(), [16, 8, 2])
    assert found.outcome == "agree"
    assert found.estimate.error == found.z == 0
    assert found.estimate.log_evidence == pytest.approx(found.log_evidence, rel=1e-12)


def test_a_wrong_evidence_is_found_by_both():
    found = check(StatedTooHigh(2, 2), BITS, 3)
    assert found.outcome == "disagree"
    chain, estimate = found.findings
    assert "wrong by 0.1" in chain
    assert "too high" in estimate
    assert found.to_blame == ("the evidence",)
    assert found.z < -20


def test_a_wrong_evidence_without_rows_is_found_by_the_estimate():
    wrong = StatedTooHigh(2, 2)
    found = check(wrong, wrong.statistic(BITS), 4)
    assert found.outcome == "disagree"
    assert found.sentence().startswith("The evidence is not right: the closed form, ")


def test_a_wrong_predictive_law_is_found_by_the_chain():
    found = check(PredictsAnother(2, 2), BITS, 5)
    assert found.outcome == "disagree"
    assert abs(found.z) < 3
    assert len(found.findings) == 1


def test_another_declaration_is_to_blame_by_its_term():
    found = check(DeclaresAnother(2, 2), BITS, 6)
    assert (found.outcome, found.to_blame) == ("disagree", ("the prior of theta",))
    assert "To blame: the prior of theta" in found.sentence()
    assert found.chain == pytest.approx(found.log_evidence, rel=1e-11)


OTHER = {
    "a coin": [1, 1, 1, 1, 0, 0, 1],
    "categories": [0, 0, 0, 2, 1, 0],
    "measurements": 2 * Y,
    "a regression": (X, Y[::-1]),
}


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 20), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", OTHER)
def test_draws_of_another_posterior_are_to_blame(name, seeds):
    model, data = MODELS[name]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        draws = bm.exact_draws(model, OTHER[name], rng=rng)
        found = bm.check_evidence(model, data, draws=draws, rng=rng)
        assert (found.outcome, found.to_blame) == ("disagree", ("the draws",)), seed
        assert found.chain == pytest.approx(found.log_evidence, rel=1e-11)
        assert found.sentence().startswith("The evidence is right, but not what it was compared")


@pytest.mark.slow
def test_a_small_tolerance_is_open_and_the_advice_decides():
    model, data = MODELS["naive Bayes"]
    rng = np.random.default_rng(7)
    few = bm.exact_draws(model, data, draws=60, rng=rng)
    found = bm.check_evidence(model, data, draws=few, tolerance=0.05, rng=rng)
    assert found.outcome == "inconclusive"
    times = float(re.search(r"about ([\d.]+) times", found.sentence())[1])
    more = bm.exact_draws(model, data, draws=int(60 * times), rng=rng)
    assert bm.check_evidence(model, data, draws=more, tolerance=0.05, rng=rng).outcome == "agree"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"level": 0}, r"level: must be strictly between 0 and 1; got 0\."),
        ({"tolerance": -1}, r"tolerance: must be positive and finite; got -1\."),
    ],
)
def test_options_out_of_range_are_named(options, says):
    with pytest.raises(bm.DataError, match=says):
        bm.check_evidence(bm.BetaBernoulli(1, 1), BITS, **options)


def test_what_has_no_evidence_is_refused():
    with pytest.raises(bm.PriorError, match="proper"):
        bm.check_evidence(bm.LinearRegression.flat(3), (X, Y))
    with pytest.raises(bm.DataError, match="LogisticRegression has no closed form"):
        bm.check_evidence(bm.LogisticRegression([0, 0, 0], np.eye(3)), (X, KINDS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a coin", "a regression", "vectors", "naive Bayes"])
def test_draws_of_the_sampler_agree(name):
    found = bm.check_evidence(*MODELS[name], rng=np.random.default_rng(8))
    assert found.outcome == "agree", found


# --- the error ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("chance", [0.0, 0.8])
@pytest.mark.parametrize("name", ["a coin", "a regression", "measurements", "vectors"])
def test_the_stated_error_is_right(name, chance):
    prior, data = MODELS[name]
    rng, repetitions = np.random.default_rng(9), 200
    space, posterior = Unconstrained(prior.declare(data)), prior.update(data)
    exact, z, p = prior.log_evidence(data), [], []
    for _ in range(repetitions):
        x = space.coordinates(staying(posterior, chance, 4, 500, rng))
        found = bridged(space, x, rng)
        z.append((found.log_evidence - exact) / found.error)
        p.append(2 * stats.t.sf(abs(z[-1]), found.freedom))
    # Chance leaves these limits once in a thousand times, or less often.
    assert abs(np.mean(z)) < 0.25
    assert 0.83 < np.std(z) < 1.2
    assert np.sum(np.array(p) < 0.01) <= stats.binom.isf(1e-3, repetitions, 0.01)


# --- any PyMC model -------------------------------------------------------------------------------


def test_parameters_whose_support_depends_on_others():
    rng = np.random.default_rng(10)
    with pm.Model() as model:
        low = pm.Normal("low")
        x = pm.Uniform("x", low, low + 2)
        pm.Deterministic("twice", 2 * x)
        pm.Normal("order", 0, 1, shape=2, transform=pm.distributions.transforms.ordered)
    low = rng.normal(size=(4, 500))
    draws = {"low": low, "x": low + 2 * rng.random((4, 500))}
    draws["order"] = np.sort(rng.normal(size=(4, 500, 2)), axis=-1)
    found = bm.bridge_sampling(model, draws, rng=rng)
    assert abs(found.log_evidence + np.log(2)) < 4 * found.error  # half of the plane is ordered
    assert found.error < 0.02


def test_a_logistic_regression_beside_quadrature():
    model = bm.LogisticRegression([0.0], np.eye(1))
    data = (X[:, :1], (X[:, 0] > 0).astype(int))
    declared = model.declare(data)
    grid = np.linspace(-8, 8, 20001)
    logs = grid[:, None] * np.abs(X[:, 0])
    density = np.exp(stats.norm.logpdf(grid) - np.logaddexp(0, -logs).sum(1))
    weights = density / density.sum()
    (name,) = (rv.name for rv in declared.free_RVs)
    shape = declared[name].shape.eval()
    rng = np.random.default_rng(11)
    draws = {name: rng.choice(grid, p=weights, size=(4, 500)).reshape(4, 500, *shape)}
    found = bm.bridge_sampling(declared, draws, rng=rng)
    exact = np.log(np.trapezoid(density, grid))
    assert abs(found.log_evidence - exact) < 4 * found.error
    assert found.error < 0.02


@pytest.mark.slow
def test_heavy_tails_have_an_error_that_covers():
    with pm.Model() as model:
        pm.StudentT("x", nu=1)
    z = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        draws = {"x": stats.cauchy.rvs(size=(4, 500), random_state=rng)}
        found = bm.bridge_sampling(model, draws, rng=rng)
        z.append(found.log_evidence / found.error)
    assert np.mean(np.abs(z) < 3) > 0.9


def with_draws(x, **other):
    with pm.Model() as model:
        pm.HalfNormal("x")
    return bm.bridge_sampling(model, {"x": x, **other})


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (np.ones((4, 10)), r"draws: must be at least 20 a chain, of 4 chains and 1 coord.*got 10"),
        (np.ones((4, 100)), "draws: must vary in every direction"),
        (np.full((4, 100), -1.0), "draws: must lie inside the support of the model; 400 of 400"),
        (np.ones((4, 100, 2)), r"'x' must have the axes \(chain, draw\); got shape"),
    ],
)
def test_draws_that_cannot_do_are_named(x, says):
    with pytest.raises(bm.DataError, match=says):
        with_draws(x)


def test_models_that_cannot_do_are_named():
    with pm.Model() as model:
        pm.Bernoulli("switch", 0.5)
    with pytest.raises(bm.DataError, match=r"\['switch'\] are discrete"):
        bm.bridge_sampling(model, {})
    with pytest.raises(bm.DataError, match="must have a free variable"):
        bm.bridge_sampling(pm.Model(), {})
    with pm.Model() as other:
        pm.Normal("mu")
    with pytest.raises(bm.DataError, match="must have the variable 'mu'; has"):
        bm.bridge_sampling(other, {"x": np.ones((4, 100))})
    with pm.Model() as bounded:
        pm.Uniform("x", 0, 1, default_transform=None)
    beside = {"x": np.random.default_rng(1).normal(size=(4, 100))}
    with pytest.raises(bm.DataError, match="must be possible under the model"):
        bm.bridge_sampling(bounded, beside)
