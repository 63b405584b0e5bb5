"""Bayes factors from exact evidences."""

import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesmodels as bm


def test_bayes_factor_of_a_regression_with_and_without_a_column():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = 2 * X[:, 0] + rng.normal(size=400)
    table = bm.compare_evidence(
        {
            "both": (bm.LinearRegression(0, np.eye(2), 2, 2), (X, y)),
            "first": (bm.LinearRegression(0, np.eye(1), 2, 2), (X[:, :1], y)),
        }
    )
    assert list(table.index) == ["first", "both"]
    assert table.loc["first", "log_bayes_factor"] == 0
    assert table["probability"].sum() == pytest.approx(1)


def test_a_thousand_rows_do_not_underflow():
    rows = [1, 0] * 5000
    table = bm.compare_evidence({"a": bm.BetaBernoulli(1, 1), "b": bm.BetaBernoulli(1, 99)}, rows)
    assert np.isfinite(table).all(axis=None)
    assert table.loc["a", "probability"] > 0.99


def test_batches_count_as_one_model():
    rows = bm.Grouped([1, 1, 0, 0], by=["a", "a", "b", "b"])
    table = bm.compare_evidence({"one": bm.BetaBernoulli(1, 1)}, rows)
    assert table.loc["one", "log_evidence"] == pytest.approx(2 * np.log(1 / 3))


def test_what_is_missing_is_named():
    with pytest.raises(bm.DataError, match="at least one model"):
        bm.compare_evidence({}, [1])
    with pytest.raises(bm.DataError, match="model 'a' has none"):
        bm.compare_evidence({"a": bm.BetaBernoulli(1, 1)})
    with pytest.raises(bm.PriorError, match="needs a proper belief"):
        bm.compare_evidence({"a": bm.LinearRegression.flat(1)}, ([[1.0]], [1.0]))


Y = np.array([0.2, 0.9, 1.4])


@pytest.fixture(scope="module")
def models():
    with pm.Model() as free:
        pm.Normal("y", pm.Normal("mu"), 1, observed=Y)
    with pm.Model() as null:
        pm.Normal("y", 0, 1, observed=Y)
    with pm.Model() as two:
        pm.Normal("y", pm.Normal("mu"), pm.HalfNormal("s"), observed=Y)
    return {"free": free, "null": null, "two": two}


def test_pymc_models_may_be_compared_a_point_null_among_them(models):
    free = stats.multivariate_normal(np.zeros(3), np.eye(3) + 1).logpdf(Y)
    null = stats.norm.logpdf(Y).sum()
    table = bm.compare_evidence({"free": models["free"], "null": bm.exact(models["null"])}, rng=1)
    assert list(table.index) == ["free", "null"]
    assert table.log_evidence.tolist() == pytest.approx([free, null], abs=1e-9)
    assert "no free variable" in bm.exact(models["null"]).explain()


@pytest.mark.slow
def test_what_has_no_closed_form_is_integrated(models):
    found = bm.integrate(models["two"], rng=1)
    table = bm.compare_evidence({"model": models["two"], "posterior": found}, rng=2)
    assert table.log_evidence["model"] == pytest.approx(found.log_evidence, abs=1e-5)
    assert table.attrs["rung"] == dict.fromkeys(table.index, "integrated")
    errors = table.log_evidence_error
    assert errors["posterior"] == found.errors["log_evidence"] > 0
    # The better one has no error against itself; probabilities of a half move by a quarter of each.
    assert table.log_bayes_factor_error.tolist() == pytest.approx([0, errors.sum()])
    assert table.probability_error.tolist() == pytest.approx([errors.sum() / 4] * 2, rel=1e-4)


def test_prior_odds_are_said_and_used(models):
    both = {name: models[name] for name in ("free", "null")}
    equal = bm.compare_evidence(both, rng=1)
    assert equal.prior_probability.tolist() == [0.5, 0.5]
    table = bm.compare_evidence(both, prior_odds={"null": 6, "free": 2}, rng=1)
    assert table.prior_probability.to_dict() == {"free": 0.25, "null": 0.75}
    odds = table.probability["free"] / table.probability["null"]
    assert odds == pytest.approx(np.exp(-table.log_bayes_factor["null"]) / 3)
    np.testing.assert_array_equal(table.log_bayes_factor, equal.log_bayes_factor)


def test_beliefs_and_models_of_the_same_rows_stand_side_by_side():
    rows = np.array([1, 0, 1, 1])
    belief = bm.BetaBernoulli(1, 1)
    with pm.Model() as model:
        pm.Bernoulli("y", pm.Beta("theta", 1, 1), observed=rows)
    table = bm.compare_evidence({"belief": (belief, rows), "model": model}, rng=1)
    assert table.log_evidence.tolist() == pytest.approx([np.log(1 / 20)] * 2, abs=1e-12)
    assert table.log_evidence_error["belief"] == 0 < table.log_evidence_error["model"] < 1e-12


def test_errors_by_chance_add_up_by_their_squares(models):
    """As a posterior has it of which points were weighted."""

    def known(log, rung, error):
        posterior = bm.exact(models["null"])
        posterior.log_integral, posterior.log_evidence_error = log, error
        posterior.rung = rung
        return posterior

    table = bm.compare_evidence(
        {
            "a": known(-3.0, "weighted", 0.03),
            "b": known(-3.0, "weighted", 0.04),
            "c": known(-3.0, "integrated", 0.01),
        }
    )
    assert table.log_bayes_factor_error.tolist() == pytest.approx([0, 0.05, 0.04])
    by_chance = [np.hypot(2 * 0.03, 0.04), np.hypot(0.03, 2 * 0.04), np.hypot(0.03, 0.04)]
    wanted = np.add(by_chance, [0.01, 0.01, 0.02]) / 9
    assert table.probability_error.tolist() == pytest.approx(wanted)


def test_a_model_without_an_evidence_is_named(models):
    with pm.Model() as batch:
        pm.Normal("y", pm.Normal("mu"), 1, observed=pm.Minibatch(Y, batch_size=2), total_size=3)
    with pytest.raises(
        bm.NotConjugate, match=r"^models: 'batch' has no evidence: .*of y is itself"
    ):
        bm.compare_evidence({"null": models["null"], "batch": batch}, rng=1)


def test_pymc_models_of_other_data_are_refused(models):
    with pm.Model() as other:
        pm.Normal("y", 0, 1, observed=Y[:2])
    with pytest.raises(bm.DataError, match="number of observed values is 3 for 'null' and 2 for"):
        bm.compare_evidence({"null": models["null"], "other": other})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "models: must be a mapping"),
        ([bm.BetaBernoulli(1, 1)], "models: must be a mapping"),
        ({"a": 3}, "models: 'a' must be a prior, .*; got int"),
        ({"a": bm.BetaBernoulli}, "got the class BetaBernoulli"),
        ({"a": (bm.BetaBernoulli(1, 1), [1], 2)}, "got a tuple of 3: BetaBernoulli, list, int"),
    ],
)
def test_other_kinds_are_refused(given, said):
    with pytest.raises(bm.DataError, match=said):
        bm.compare_evidence(given, [1, 0])


@pytest.mark.parametrize("odds", [{"a": 1}, {"a": 1, "b": 0}, {"a": 1, "c": 1}, [1, 1], {}])
def test_prior_odds_are_positive_numbers_for_all_models(odds):
    with pytest.raises(bm.DataError, match="prior_odds: must be a mapping from each of"):
        bm.compare_evidence({"a": COIN, "b": COIN}, [1, 0], prior_odds=odds)


COIN = bm.BetaBernoulli(1, 1)
SUCCESSES, TRIALS, ARM = [15, 19, 3, 2], [20, 20, 20, 20], ["new", "new", "old", "old"]


def test_pooled_counts_are_not_the_same_rows_as_counts_by_arm():
    by_arm = COIN, bm.Grouped(bm.BinomialCounts(SUCCESSES, TRIALS), by=ARM)
    pooled = COIN, bm.BinomialCounts(sum(SUCCESSES), sum(TRIALS))
    with pytest.raises(bm.DataError, match=r"log coefficient of the counts is .* for 'same'"):
        bm.compare_evidence({"same": pooled, "different": by_arm})
    rows = COIN, bm.BinomialCounts(SUCCESSES, TRIALS)  # the way out that the message names
    table = bm.compare_evidence({"same": rows, "different": by_arm})
    # Trials one by one have no coefficients, and give the same Bayes factor.
    one_by_one = np.concatenate([np.arange(n) < k for k, n in zip(SUCCESSES, TRIALS, strict=True)])
    each = bm.Grouped(one_by_one, by=np.repeat(ARM, 20))
    wanted = bm.compare_evidence({"same": (COIN, one_by_one), "different": (COIN, each)})
    column = "log_bayes_factor"
    np.testing.assert_allclose(table[column], wanted[column], rtol=1e-10)


def test_every_two_models_must_have_the_same_rows_not_only_each_and_the_first():
    """A rate of counts tells other things about its rows than a probability does."""
    by_arm = COIN, bm.Grouped(bm.BinomialCounts(SUCCESSES, TRIALS), by=ARM)
    pooled = COIN, bm.BinomialCounts(sum(SUCCESSES), sum(TRIALS))
    rate = bm.GammaPoisson(1, 1), bm.Counts(SUCCESSES, TRIALS)
    with pytest.raises(bm.DataError, match=r"is 53\.0.* for 'same' and 24\.9.* for 'different'"):
        bm.compare_evidence({"rate": rate, "same": pooled, "different": by_arm})


ROWS = np.random.default_rng(1).normal(size=(30, 2))
TARGET = np.exp(ROWS[:, 0])
CLASSES = (ROWS[:, 0] > 0).astype(int)
LINE = bm.LinearRegression(0, np.eye(2), 2, 1)
SPLIT = bm.DirichletCategorical([1, 1])
NUMBERS = bm.NaiveBayes(SPLIT, bm.NormalInverseGamma(0, 1, 2, 1))
WORDS = np.abs(np.round(3 * ROWS)).astype(int)
OTHER_WAY = bm.DirichletCategorical([1, 1], ["b", "a"])
DICE = bm.DirichletCategorical([1, 1])


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ((LINE, (ROWS, TARGET)), (LINE, (ROWS[1:], TARGET[1:])), "number of observations"),
        ((LINE, (ROWS, TARGET)), (LINE, (ROWS, np.log(TARGET))), "sum of squares"),
        ((COIN, [1, 0, 1]), (COIN, [1, 0]), "number of observations"),
        ((COIN, [1, 0, 1]), (COIN, [1, 0, 0]), "number of ones"),
        ((COIN, [1, 0, 1]), (COIN, bm.BinomialCounts(2, 3)), "log coefficient"),
        ((COIN, [1, 0, 1]), (COIN, bm.Weighted([1, 0, 1], [1, 1, 2])), "number of observations"),
        (
            (COIN, bm.statistics.BernoulliStatistic(2, 1)),
            (COIN, bm.BinomialCounts(2, 3)),
            "log coefficient",
        ),
        (
            (DICE, bm.MultinomialCounts(WORDS)),
            (DICE, bm.MultinomialCounts(WORDS.sum(0))),
            "log coefficient",
        ),
        (
            (bm.NaiveBayes(SPLIT, DICE), (bm.MultinomialCounts(WORDS), CLASSES)),
            (bm.NaiveBayes(SPLIT, DICE), (bm.MultinomialCounts(WORDS[::-1] + 1), CLASSES)),
            "number of observations",
        ),
        (
            (bm.GammaExponential(1, 1), [1.0, 2.0, 3.0]),
            (bm.GammaExponential(1, 1), [60.0, 120.0, 180.0]),  # the same in other units
            "total exposure",
        ),
        ((NUMBERS, (ROWS, CLASSES)), (NUMBERS, (ROWS[:, :1], CLASSES)), "number of observations"),
        (
            (bm.NaiveBayesMixture(SPLIT, COIN), ROWS > 0),
            (bm.NaiveBayesMixture(SPLIT, COIN), ROWS[:, :1] > 0),
            "sum of all cells",
        ),
    ],
)
def test_other_observations_are_refused(one, other, what):
    with pytest.raises(bm.DataError, match=f"^data: must be the same.* the {what}.*'a'.*'b'"):
        bm.compare_evidence({"a": one, "b": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((LINE, (ROWS, TARGET)), (bm.NormalInverseGamma(0, 1, 2, 1), TARGET)),
        (
            (NUMBERS, (ROWS, CLASSES)),
            (
                bm.GaussianDiscriminant(SPLIT, bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))),
                (ROWS, CLASSES),
            ),
        ),
        ((COIN, CLASSES), (DICE, CLASSES)),
        ((DICE, CLASSES), (OTHER_WAY, np.array(["a", "b"])[CLASSES])),
        (
            (bm.NaiveBayesMixture(SPLIT, COIN), (ROWS > 0)[:6]),
            (bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1, 1]), COIN), (ROWS > 0)[:6]),
        ),
        (
            (DICE, bm.MultinomialCounts(WORDS)),
            (DICE, bm.Grouped(bm.MultinomialCounts(WORDS), by=CLASSES)),
        ),
    ],
)  # fmt: skip
def test_the_same_observations_may_be_explained_by_any_models(one, other):
    assert np.isfinite(bm.compare_evidence({"a": one, "b": other})).all(axis=None)
