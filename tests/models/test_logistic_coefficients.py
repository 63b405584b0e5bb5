"""Generative classifiers with one covariance are logistic regressions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesmodels as bm

SEEDS = st.integers(0, 2**32 - 1)
NORMAL = bm.NormalInverseGamma(np.zeros(3), 1, 2, 1)


def rows_of(seed, classes=2, n=30, width=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % classes)
    return rng.standard_normal((n, width)) + rng.standard_normal((classes, width))[y], y


def flat(classes):
    return bm.DirichletCategorical(np.ones(classes))


def same(model, parameters, X):
    """Return whether the logistic regression has the classifier's probabilities."""
    w = model.logistic_coefficients(parameters)
    classes = len(model.classes.alpha)
    partner = bm.LogisticRegression(np.zeros(X.shape[1] + 1), 1, classes=range(classes))
    p = partner.class_probabilities(X, w, intercept=True)
    return np.allclose(p, model.class_probabilities(X, parameters), rtol=1e-9, atol=1e-13)


def pooled(parameters):
    """Give each feature one variance: the mean over classes by their probabilities."""
    sigma2 = (parameters["pi"][:, None] * parameters["sigma2"]).sum(0)
    return {**parameters, "sigma2": np.broadcast_to(sigma2, parameters["sigma2"].shape)}


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_linear_discriminants(seed, classes):
    X, y = rows_of(seed, classes)
    normal = bm.NormalInverseWishart(np.zeros(3), 0.1, 5, np.eye(3))
    model = bm.GaussianDiscriminant(flat(classes), normal, "shared").update((X, y))
    assert same(model, model.mean(), X)
    assert same(model, model.statistic((X, y)).mle(), X)


@given(SEEDS, st.integers(2, 3))
@settings(max_examples=10, deadline=None)
def test_naive_bayes_and_diagonal_discriminants(seed, classes):
    X, y = rows_of(seed, classes)
    diagonal = bm.GaussianDiscriminant(flat(classes), NORMAL, "diagonal").update((X, y))
    naive = bm.NaiveBayes(flat(classes), NORMAL).update((X, y))
    known = pooled(diagonal.mean())
    assert same(diagonal, known, X)
    assert same(naive, known, X)


def test_the_formula_of_the_notes():
    # Rows E11: the sign of x, and a variance for each feature inside the sum.
    X, y = rows_of(1)
    naive = bm.NaiveBayes(flat(2), NORMAL).update((X, y))
    known = pooled(naive.mean())
    pi, mu, v = known["pi"], known["mu"], known["sigma2"][0]
    w = naive.logistic_coefficients(known)["w"]
    np.testing.assert_allclose(w[1:], (mu[1] - mu[0]) / v, rtol=1e-12)
    constant = ((mu[0] ** 2 - mu[1] ** 2) / (2 * v)).sum() + np.log(pi[1] / pi[0])
    np.testing.assert_allclose(w[0], constant, rtol=1e-12)


def test_features_in_blocks():
    X, y = rows_of(2)
    one, two = bm.NormalInverseGamma(np.zeros(2), 1, 2, 1), bm.NormalInverseGamma(0, 1, 2, 1)
    rows = {"body": X[:, :2], "age": X[:, 2]}
    naive = bm.NaiveBayes(flat(2), {"body": one, "age": two}).update((rows, y))
    mean = naive.mean()
    known = {
        **mean,
        "sigma2_body": np.tile(mean["sigma2_body"][0], (2, 1)),
        "sigma2_age": np.tile(mean["sigma2_age"][0], 2),
    }
    w = naive.logistic_coefficients(known)
    p = bm.LogisticRegression(np.zeros(4), 1).class_probabilities(X, w, intercept=True)
    np.testing.assert_allclose(p, naive.class_probabilities(rows, known), rtol=1e-10)


def test_what_is_no_logistic_regression_is_refused():
    X, y = rows_of(3)
    naive = bm.NaiveBayes(flat(2), NORMAL).update((X, y))
    with pytest.raises(bm.DataError, match="log odds are quadratic"):
        naive.logistic_coefficients(naive.mean())
    full = bm.GaussianDiscriminant(
        flat(2), bm.NormalInverseWishart(np.zeros(3), 1, 5, np.eye(3))
    ).update((X, y))
    with pytest.raises(bm.DataError, match="covariance='shared'"):
        full.logistic_coefficients(full.mean())
    bits = bm.NaiveBayes(flat(2), bm.BetaBernoulli(np.ones(3), np.ones(3)))
    with pytest.raises(bm.DataError, match="belongs to BetaBernoulli"):
        bits.logistic_coefficients({"pi": [0.5, 0.5], "theta": np.full((2, 3), 0.5)})
    with pytest.raises(bm.DataError, match="must hold 'mu'"):
        full.logistic_coefficients({"pi": [0.5, 0.5]})
    with pytest.raises(bm.DataError, match=r"mu must have the shape \(2, 3\)"):
        full.logistic_coefficients({**full.mean(), "mu": np.ones((2, 2))})
