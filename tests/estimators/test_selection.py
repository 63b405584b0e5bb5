"""Searches over priors by evidence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesmodels as bm
from bayesmodels.estimators import (
    AllRows,
    ConjugateRegressor,
    LogisticClassifier,
    MixtureClusterer,
    NaiveBayesClassifier,
    log_evidence_scorer,
)


def by_evidence(model, grid):
    return GridSearchCV(model, grid, scoring=log_evidence_scorer, cv=AllRows(), error_score="raise")


def patients(n=80):
    rng = np.random.default_rng(7)
    ill = rng.random(n) < 0.4
    table = {
        "age": rng.normal(np.where(ill, 60, 48), 9),
        "pressure": rng.normal(np.where(ill, 140, 128), 12),
        "smoker": rng.random(n) < np.where(ill, 0.6, 0.3),
        "town": rng.choice(["Bonn", "Köln", "Ulm"], n),
    }
    return table, np.where(ill, "ill", "well")


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_pipeline_of_mixed_columns(library):
    columns, y = patients()
    table = library.DataFrame(columns)
    scaled = ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "pressure"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform=library.__name__)
    search = by_evidence(
        make_pipeline(scaled, NaiveBayesClassifier()),
        {"naivebayesclassifier__alpha": [0.5, 1, 4], "naivebayesclassifier__kappa": [0.01, 0.1, 1]},
    ).fit(table, y)
    assert search.n_splits_ == 1
    best = search.best_estimator_[-1]
    assert best.feature_families_ == {
        "age": "gaussian",
        "pressure": "gaussian",
        "smoker": "bernoulli",
        "town": "categorical",
    }
    # Each score is the evidence of the belief by itself.
    z = scaled.fit_transform(table)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        alpha = params["naivebayesclassifier__alpha"]
        normal = bm.NormalInverseGamma(0, params["naivebayesclassifier__kappa"], 1.5, 0.5)
        prior = bm.NaiveBayes(
            bm.DirichletCategorical([1, 1], ["ill", "well"]),
            {
                "bits": (bm.BetaBernoulli(alpha, alpha), ["smoker"]),
                "numbers": (normal, ["age", "pressure"]),
                "town": bm.DirichletCategorical([alpha] * 3, ["Bonn", "Köln", "Ulm"]),
            },
        )
        assert score == pytest.approx(float(prior.log_evidence((z, y))), rel=1e-12)
    assert search.best_score_ == best.log_evidence_
    assert search.predict(table).shape == (80,)


def test_the_evidence_finds_the_precision_of_the_weights():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 20))
    y = X @ rng.normal(0, 0.1, 20) + rng.normal(size=200)  # weights of precision 100
    search = by_evidence(ConjugateRegressor(), {"precision": [1e-2, 1, 100, 1e6]}).fit(X, y)
    assert search.best_params_ == {"precision": 100}


def test_an_approximate_evidence():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 2))
    y = rng.random(100) < 1 / (1 + np.exp(-X[:, 0]))
    search = by_evidence(LogisticClassifier(), {"scale": [0.01, 1, 100]}).fit(X, y)
    assert search.best_params_ == {"scale": 1}


def test_bags_of_words():
    texts = ["cheap pills", "cheap cheap watches", "lunch today", "report today please"] * 3
    y = [1, 1, 0, 0] * 3
    search = by_evidence(
        make_pipeline(CountVectorizer(), NaiveBayesClassifier("counts")),
        {"naivebayesclassifier__alpha": [0.01, 0.3, 30]},
    ).fit(texts, y)
    assert search.best_params_ == {"naivebayesclassifier__alpha": 0.3}
    assert search.predict(["cheap report", "today today"]).tolist() == [1, 0]


def test_weights_reach_the_evidence():
    X, y = np.random.default_rng(10).normal(size=(6, 2)), [0, 1, 0, 1, 0, 1]
    search = by_evidence(NaiveBayesClassifier(), {"alpha": [1.0]})
    twice = search.fit(X, y, sample_weight=np.full(6, 2.0)).best_score_
    repeated = NaiveBayesClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice == pytest.approx(repeated.log_evidence_, rel=1e-12)


def test_held_out_rows_have_no_evidence():
    X, y = np.random.default_rng(11).normal(size=(10, 2)), [0, 1] * 5
    search = GridSearchCV(
        NaiveBayesClassifier(),
        {"alpha": [1.0]},
        scoring=log_evidence_scorer,
        cv=5,
        error_score="raise",
    )
    with pytest.raises(bm.DataError, match=r"8; got 2 rows to be scored. Use cv=AllRows\(\)"):
        search.fit(X, y)


def test_estimators_without_evidence():
    X, y = np.random.default_rng(12).normal(size=(30, 2)), np.arange(30.0)
    with pytest.raises(bm.DataError, match="got Ridge, which has no log_evidence_"):
        log_evidence_scorer(make_pipeline(StandardScaler(), Ridge()).fit(X, y), X, y)
    with pytest.raises(bm.DataError, match="needs a proper belief"):
        log_evidence_scorer(ConjugateRegressor(precision=0).fit(X, y), X, y)
    with pytest.raises(bm.DataError, match="too many terms"):
        log_evidence_scorer(MixtureClusterer(2, starts=2).fit(X), X)


def test_the_split():
    assert repr(AllRows()) == "AllRows()"
    assert AllRows().get_n_splits() == 1
