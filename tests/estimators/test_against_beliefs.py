"""Estimators give the numbers of the beliefs that they wrap."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import bayesmodels as bm
from bayesmodels.estimators import (
    ConjugateRegressor,
    DiscriminantClassifier,
    LogisticClassifier,
    MixtureClusterer,
    NaiveBayesClassifier,
)

close = np.testing.assert_allclose


def patients(n=60, seed=1):
    """Return a table of all kinds of columns, and a class of each row."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.5
    table = pd.DataFrame(
        {
            "smoker": rng.random(n) < np.where(ill, 0.7, 0.2),
            "age": rng.normal(np.where(ill, 0.8, -0.5)),
            "city": rng.choice(["Bonn", "Köln", "Ulm"], n),
            "stage": pd.Categorical(rng.choice(["I", "II"], n), ["I", "II", "III"]),
            "visits": rng.poisson(3, n),
        }
    )
    return table, np.where(ill, "ill", "well")


def numbers(classes=3, n=50, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 3)) + y[:, None]
    return pd.DataFrame(X, columns=["a", "b", "c"]), y


def words(n=40, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    rates = np.array([[3, 1, 0.2, 0.1, 0.5, 1], [0.2, 0.5, 2, 1, 0.1, 1]])
    return rng.poisson(rates[y]), y


# --- the same numbers ---------------------------------------------------------------------------


def test_naive_bayes_of_mixed_columns():
    X, y = patients()
    X.loc[3, "age"] = np.nan
    X.loc[4, "city"] = None
    model = NaiveBayesClassifier(alpha=0.5, class_alpha=2, kappa=0.3, shape=2, scale=1.5).fit(X, y)
    normal = bm.NormalInverseGamma(0, 0.3, 2, 1.5)
    cities, stages = ["Bonn", "Köln", "Ulm"], ["I", "II", "III"]
    prior = bm.NaiveBayes(
        bm.DirichletCategorical([2, 2], ["ill", "well"]),
        {
            "bits": (bm.BetaBernoulli(0.5, 0.5), ["smoker"]),
            "numbers": (normal, ["age", "visits"]),
            "city": bm.DirichletCategorical([0.5] * 3, cities),
            "stage": bm.DirichletCategorical([0.5] * 3, stages),
        },
    )
    belief = prior.update((X, y))
    assert model.prior_ == prior
    assert model.belief_ == belief
    assert model.log_evidence_ == prior.log_evidence((X, y))
    close(model.predict_proba(X), belief.class_probabilities(X), rtol=1e-12)
    close(model.predict_joint_log_proba(X), belief.log_joint(X))
    assert (model.predict(X) == belief.most_probable_class(X)).all()
    assert model.feature_families_ == {
        "smoker": "bernoulli",
        "age": "gaussian",
        "city": "categorical",
        "stage": "categorical",
        "visits": "gaussian",
    }


@pytest.mark.parametrize("kind", ["full", "shared", "diagonal", "proportional"])
def test_discriminants(kind):
    X, y = numbers(classes=2)
    ratio = 2.0 if kind == "proportional" else None
    model = DiscriminantClassifier(kind, ratio=ratio, kappa=0.2, scale=0.7).fit(X, y)
    gaussian = (
        bm.NormalInverseGamma(0, 0.2, 1.5, 0.35)
        if kind == "diagonal"
        else bm.NormalInverseWishart([0, 0, 0], 0.2, 5, 0.7 * np.eye(3))
    )
    prior = bm.GaussianDiscriminant(bm.DirichletCategorical([1, 1], [0, 1]), gaussian, kind, ratio)
    belief = prior.update((X, y))
    assert model.belief_ == belief
    assert model.log_evidence_ == prior.log_evidence((X, y))
    close(model.predict_proba(X), belief.class_probabilities(X), rtol=1e-12)


def test_regression():
    X, _ = numbers()
    y = X["a"] - 2 * X["b"] + np.random.default_rng(4).normal(size=len(X))
    model = ConjugateRegressor(precision=0.5, shape=2, scale=1).fit(X, y)
    prior = bm.LinearRegression(0, np.diag([0.01, 0.5, 0.5, 0.5]), 2, 1)
    belief = prior.update(bm.Design(X, y.to_numpy(), intercept=True))
    law = belief.predictive(X, intercept=True)
    assert model.belief_ == belief
    assert model.belief_.features == ("intercept", "a", "b", "c")
    assert model.log_evidence_ == prior.log_evidence(bm.Design(X, y.to_numpy(), intercept=True))
    close(model.predict(X), law.mean(), rtol=1e-12)
    mean, std = model.predict(X, return_std=True)
    close(std, law.std())
    mean, ends = model.predict(X, return_interval=True, ci_prob=0.5)
    close(law.cdf(ends.T), [[0.25] * len(X), [0.75] * len(X)], atol=1e-12)
    assert (mean == model.predict(X)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression(classes):
    X, y = numbers(classes)
    model = LogisticClassifier(scale=2, intercept_scale=5, random_state=0, draws=300).fit(X, y)
    data = bm.Design(X, y, intercept=True)
    prior = bm.LogisticRegression(0, np.diag([25, 4, 4, 4]), list(range(classes)))
    near = prior.laplace(data)
    close(model.belief_.location, near.location)
    assert model.belief_.coords["feature"] == ("intercept", "a", "b", "c")
    assert model.log_evidence_ == near.approximate_log_evidence
    rng = np.random.default_rng(model._seed)
    plain = near.class_probabilities(X, intercept=True, draws=300, rng=rng)
    close(model.predict_proba(X), plain, rtol=1e-10)
    assert (model.predict_proba(X) == model.predict_proba(X)).all()  # the same draws again


def test_mixture():
    X, _ = patients()
    model = MixtureClusterer(2, random_state=0, starts=2).fit(X)
    parameters = model.em_.parameters
    close(model.predict_proba(X), model.prior_.responsibilities(X, parameters), rtol=1e-10)
    assert (model.labels_ == model.predict(X)).all()
    close(model.score_samples(X).sum(), model.em_.log_likelihood, rtol=1e-12)
    assert model.score(X) == pytest.approx(model.em_.log_likelihood / len(X))


def test_exact_posterior_of_a_small_mixture():
    bits = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1]], dtype=bool)
    known = np.array([1, -1, -1, 0, -1])
    model = MixtureClusterer(2, random_state=0).fit(bits, known)
    data = (bits, np.where(known < 0, np.nan, known))
    prior = bm.NaiveBayesMixture(bm.DirichletCategorical([2, 2]), bm.BetaBernoulli(2, 2))
    assert model.log_evidence_ == pytest.approx(float(prior.log_evidence(data)), rel=1e-12)
    close(model.belief_.mean()["theta"], prior.update(data).mean()["theta"])
    tree = model.to_datatree(draws=5, chains=2, rng=np.random.default_rng(1))
    assert tree.posterior["theta"].sizes["draw"] == 5


# --- in pieces, weighted, sparse, in other containers --------------------------------------------


def fitted(model, X, y, weights=None):
    return clone(model).fit(X, y, sample_weight=weights)


EXACT = {
    "naive": (NaiveBayesClassifier(), patients),
    "words": (NaiveBayesClassifier("counts"), words),
    "full": (DiscriminantClassifier(), numbers),
    "shared": (DiscriminantClassifier("shared"), numbers),
    "diagonal": (DiscriminantClassifier("diagonal"), numbers),
    "regression": (ConjugateRegressor(), numbers),
}
OTHERS = {
    "logistic": (LogisticClassifier(random_state=0, draws=200), numbers),
    "mixture": (MixtureClusterer(3, random_state=0, starts=3), numbers),
}


def rows_of(X, at):
    return X.iloc[at] if isinstance(X, pd.DataFrame) else X[at]


def same(one, other, X):
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict"):
        if hasattr(one, method):
            a, b = getattr(one, method)(X), getattr(other, method)(X)
            if a.dtype.kind == "f":
                close(a, b, rtol=1e-9, atol=1e-9)
            else:
                assert (a == b).all()


@pytest.mark.parametrize("name", EXACT)
def test_pieces_are_the_whole(name):
    model, make = EXACT[name]
    X, y = make()
    whole, parts = fitted(model, X, y), clone(model)
    for start, stop in ((0, 30), (30, 31), (31, len(y))):
        piece = rows_of(X, slice(start, stop)), y[start:stop]
        if name == "regression":
            parts.partial_fit(*piece)
        else:
            parts.partial_fit(*piece, classes=np.unique(y) if start == 0 else None)
    same(whole, parts, X)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-12)
    assert parts.n_samples_seen_ == whole.n_samples_seen_ == len(y)


@pytest.mark.parametrize("name", EXACT | OTHERS)
def test_weights_are_repeated_rows(name):
    model, make = (EXACT | OTHERS)[name]
    X, y = make()
    weights = np.random.default_rng(5).integers(0, 3, len(y))
    at = np.repeat(np.arange(len(y)), weights)
    weighted, repeated = fitted(model, X, y, weights), fitted(model, rows_of(X, at), y[at])
    same(weighted, repeated, X)
    if name != "mixture":  # of too many terms
        assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-9)


def test_a_row_of_weight_zero_brings_no_class_and_no_category():
    X, y = patients()
    X.loc[0, "city"], y[1] = "Nowhere", "dead"
    weights = np.ones(len(y))
    weights[:2] = 0
    model = NaiveBayesClassifier().fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["ill", "well"]
    assert "Nowhere" not in model.belief_.coords["category_city"]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_counts_are_dense_counts(kind):
    X, y = words()
    dense, thin = NaiveBayesClassifier("counts"), NaiveBayesClassifier("counts")
    dense.fit(X, y)
    thin.fit(kind(X), y)
    same(dense, thin, X)
    close(thin.predict_log_proba(kind(X)), dense.predict_log_proba(X), rtol=1e-12)
    assert thin.log_evidence_ == pytest.approx(dense.log_evidence_, rel=1e-12)
    one = MixtureClusterer(2, feature_families="counts", random_state=0).fit(kind(X))
    two = MixtureClusterer(2, feature_families="counts", random_state=0).fit(X)
    close(one.predict_proba(kind(X)), two.predict_proba(X), atol=1e-8)


def test_counts_are_one_bag_of_words():
    X, y = words()
    model = NaiveBayesClassifier("counts", alpha=0.3).fit(X, y)
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.DirichletCategorical([0.3] * 6))
    belief = prior.update((bm.MultinomialCounts(X), y))
    close(model.predict_proba(X), belief.class_probabilities(bm.MultinomialCounts(X)), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayesClassifier(),
        pytest.param(MixtureClusterer(2, random_state=0, starts=2), marks=pytest.mark.slow),
    ],
)
def test_containers_do_not_matter(model):
    X, y = patients()
    X = X.drop(columns="stage")
    y = y if isinstance(model, NaiveBayesClassifier) else None
    other = pl.DataFrame(X.to_dict("list"))
    bare = X.to_numpy(dtype=object)
    one, two, three = (clone(model).fit(data, y) for data in (X, other, bare))
    close(two.predict_log_proba(other), one.predict_log_proba(X), rtol=1e-9)
    close(three.predict_log_proba(bare), one.predict_log_proba(X), rtol=1e-9)
    assert list(two.feature_names_in_) == list(one.feature_names_in_) == list(X)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        close(one.predict_log_proba(bare), one.predict_log_proba(X))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        close(three.predict_log_proba(X), one.predict_log_proba(X), rtol=1e-9)


def test_draws_have_the_names_of_columns_and_classes():
    X, y = patients()
    tree = NaiveBayesClassifier().fit(X, y).to_datatree(draws=10, chains=2)
    assert tree.posterior["theta_city"].coords["class"].to_numpy().tolist() == ["ill", "well"]
    X, y = numbers()
    tree = LogisticClassifier().fit(X, y).to_datatree(draws=10, chains=2)
    assert tree.posterior.attrs["approximation"] == "Laplace approximation"
    w = ConjugateRegressor().fit(X, y).to_datatree(draws=10).posterior["w"]
    assert w.coords["feature"].to_numpy().tolist() == ["intercept", "a", "b", "c"]


def test_far_away_rows_keep_their_log_probabilities():
    X, y = numbers(classes=2)
    for model in (NaiveBayesClassifier(), DiscriminantClassifier(), LogisticClassifier()):
        logs = fitted(model, X, y).predict_log_proba(1e4 * X)
        assert np.isfinite(logs).all()
        close(np.exp(logs).sum(1), 1)


def test_predictions_of_equally_probable_classes_are_the_first():
    model = NaiveBayesClassifier().fit([[1.0], [-1.0], [1.0], [-1.0]], ["b", "b", "a", "a"])
    assert model.predict([[0.0], [5.0]]).tolist() == ["a", "a"]
