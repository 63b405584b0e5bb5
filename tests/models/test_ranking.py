"""The order of features against mutual information taken by hand, and its posterior."""

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.errors import DataError
from bayesmodels.models.classifiers.information import mutual_information, mutual_information_normal

RNG = np.random.default_rng(20261121)
CLASSES = bm.DirichletCategorical([1, 2, 1], categories=["a", "b", "c"])
Y = RNG.choice(["a", "b", "c"], 60, p=[0.5, 0.3, 0.2])
CODES = pd.Index(["a", "b", "c"]).get_indexer(Y)
TABLE = pd.DataFrame(
    {
        "smoker": RNG.random(60) < np.array([0.2, 0.5, 0.9])[CODES],
        "drinker": RNG.random(60) < 0.5,
        "age": RNG.normal(40 + 10 * CODES, 8),
        "colour": RNG.choice(["red", "green"], 60),
        "money": RNG.poisson(1 + 2 * CODES),
        "the": RNG.poisson(5, 60),
        "hello": RNG.poisson(2, 60),
    }
)
WORDS = ["money", "the", "hello"]
PRIOR = bm.NaiveBayes(
    CLASSES,
    {
        "habits": (bm.BetaBernoulli(1, 1), ["smoker", "drinker"]),
        "age": bm.NormalInverseGamma(40, 0.1, 2, 100),
        "colour": bm.DirichletCategorical([1, 1], categories=["red", "green"]),
        "mail": (bm.DirichletCategorical([1, 1, 1], categories=WORDS), bm.MultinomialCounts(WORDS)),
    },
)
BELIEF = PRIOR.update((TABLE, Y))


def ranked(belief=BELIEF, **settings):
    return bm.rank_features(belief, rng=np.random.default_rng(1), **settings)


def by_hand(values):
    """Return the information of all features in the order of the blocks."""
    pi = values["pi"]
    return np.concatenate(
        [
            mutual_information(pi, values["theta_habits"]),
            mutual_information_normal(
                pi, values["mu_age"][..., None], values["sigma2_age"][..., None]
            ),
            mutual_information(pi, values["theta_colour"][..., None, :], categories=True),
            mutual_information(pi, values["theta_mail"]),
        ],
        axis=-1,
    )


FEATURES = ["smoker", "drinker", "age", "colour", *WORDS]


def test_information_at_the_mean_and_its_posterior():
    found = ranked(draws=500, ci_prob=0.8, top=2).loc[FEATURES]
    np.testing.assert_allclose(found["mutual_information"], by_hand(BELIEF.mean()), rtol=1e-14)
    sampled = by_hand(BELIEF.sample(500, np.random.default_rng(1)))
    np.testing.assert_allclose(found["mean"], sampled.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found["lower"], np.quantile(sampled, 0.1, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found["upper"], np.quantile(sampled, 0.9, axis=0), rtol=1e-12)
    best = np.argsort(-sampled, axis=-1)[:, :2]
    counted = [(best == j).any(-1).mean() for j in range(7)]
    np.testing.assert_allclose(found["probability_top"], counted, rtol=1e-12)
    assert found["probability_top"].sum() == pytest.approx(2)
    assert found["block"].tolist() == ["habits"] * 2 + ["age", "colour"] + ["mail"] * 3


def test_the_best_come_first():
    found = ranked()
    assert found["mutual_information"].is_monotonic_decreasing
    assert set(found.head(3).index) == {"age", "smoker", "money"}
    assert (found["probability_top"] == 1).all()  # seven features are all among the best ten


def test_blocks_of_draws_change_nothing(monkeypatch):
    whole = ranked(draws=300)
    monkeypatch.setattr("bayesmodels.models.classifiers.ranking._SAMPLE", 1)
    one_by_one = ranked(draws=300)
    pd.testing.assert_series_equal(whole["mutual_information"], one_by_one["mutual_information"])
    assert np.abs(whole["mean"] / one_by_one["mean"] - 1).max() < 0.3


def test_many_rows_make_the_information_certain():
    pi, theta = np.array([0.3, 0.7]), np.array([[0.2, 0.5, 0.9], [0.2, 0.6, 0.1]])
    rows = 200_000
    y = (RNG.random(rows) < pi[1]).astype(int)
    x = (RNG.random((rows, 3)) < theta[y]).astype(int)
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    found = ranked(prior.update((x, y)), top=1)
    assert found.index.tolist() == [2, 1, 0]
    assert "block" not in found
    expected = mutual_information(pi, theta)[[2, 1, 0]]
    np.testing.assert_allclose(found["mutual_information"], expected, atol=2e-3)
    assert ((found["lower"] <= found["mean"]) & (found["mean"] <= found["upper"])).all()
    assert found["probability_top"].tolist() == [1, 0, 0]


def test_counts_without_a_name_are_words():
    prior = bm.NaiveBayes(CLASSES, bm.DirichletCategorical([1, 1, 1], categories=WORDS))
    after = prior.update((bm.MultinomialCounts(TABLE[WORDS]), Y))
    found = ranked(after)
    expected = by_hand(BELIEF.mean())[-3:]
    np.testing.assert_allclose(found.loc[WORDS, "mutual_information"], expected, rtol=1e-12)


def test_a_user_says_what_is_words():
    one = ranked(words=[])
    assert "mail" in one["block"].to_list()
    assert (one["block"] == "mail").sum() == 1  # one feature with three categories
    both = ranked(words=["mail", "colour"])
    assert set(both.index[both["block"] == "colour"]) == {"red", "green"}


def test_several_categorical_columns():
    sizes = bm.DirichletCategorical([1, 1, 1], categories=["S", "M", "L"])
    rows = pd.DataFrame({"shirt": RNG.choice(["S", "M", "L"], 60), "shoe": ["S", "M", "L"] * 20})
    after = bm.NaiveBayes(CLASSES, sizes).update((rows, Y))
    found = ranked(after)
    theta = after.mean()["theta"]
    expected = mutual_information(after.mean()["pi"], theta, categories=True)
    np.testing.assert_allclose(found.loc[["shirt", "shoe"], "mutual_information"], expected)


def test_features_with_a_full_covariance_are_taken_one_by_one():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(rng.normal(size=(40, 2)) @ [[1.0, 0.9], [0.0, 1.7]], columns=["u", "v"])
    target = np.repeat([0, 1], 20)
    rows["u"] += 2 * target
    belief = bm.GaussianDiscriminant(
        bm.DirichletCategorical([1, 1]), bm.NormalInverseWishart([0, 0], 0.1, 5, np.eye(2))
    ).update((rows, target))

    def alone(values):
        variances = np.diagonal(values["Sigma"], axis1=-2, axis2=-1)
        return mutual_information_normal(values["pi"], values["mu"], variances)

    found = bm.rank_features(belief, draws=3, rng=1, ci_prob=0.5)
    assert found.index.tolist() == ["u", "v"]
    np.testing.assert_allclose(found["mutual_information"], alone(belief.mean()))
    drawn = alone(belief.sample(3, np.random.default_rng(1)))
    np.testing.assert_allclose(found["lower"], np.quantile(drawn, 0.25, axis=0))


@pytest.mark.parametrize(
    ("belief", "settings", "message"),
    [
        (bm.BetaBernoulli(1, 1), {}, "belief: must be about classes and features"),
        (PRIOR, {}, "belief: has met no data"),
        (BELIEF, {"ci_prob": 1}, "ci_prob: must be strictly between 0 and 1"),
        (BELIEF, {"draws": 0}, "draws: must be at least 1"),
        (BELIEF, {"top": 0}, "top: must be at least 1"),
        (BELIEF, {"words": "mail"}, "words: must be a list of names of blocks"),
        (BELIEF, {"words": ["male"]}, "words: must be a list of names of blocks"),
        (
            bm.NaiveBayes(
                CLASSES,
                {"age": bm.NormalInverseGamma([0] * 3, 1, 0.8, 1, coords={"class": list("abc")})},
            ),
            {},
            "belief: the mean of sigma2_age is infinite",
        ),
    ],
)
def test_complaints(belief, settings, message):
    with pytest.raises(DataError, match=message):
        ranked(belief, **settings)
