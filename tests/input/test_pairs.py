"""What stands beside rows belongs to them by its labels: where these disagree, it is refused."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesmodels as bm
from bayesmodels.estimators import (
    ConjugateRegressor,
    DiscriminantClassifier,
    LogisticClassifier,
    MixtureClusterer,
    NaiveBayesClassifier,
)

NAMES = list("abcd")
X = np.array([[1.0, 2], [3, 1], [2, 2], [5, 3]])
BITS, NUMBERS = [0, 1, 0, 1], [1.0, 2, 3, 4]
COIN, RATE, WAIT = bm.BetaBernoulli(1, 1), bm.GammaPoisson(1, 1), bm.GammaExponential(1, 1)
NUMBER = bm.NormalInverseGamma(0, 1, 1, 1)
CLASSES = bm.DirichletCategorical([1, 1])
LINE, LOGIT = bm.LinearRegression([0, 0], 1, 1, 1), bm.LogisticRegression([0, 0], 25)
BAYES, MIXTURE = bm.NaiveBayes(CLASSES, NUMBER), bm.NaiveBayesMixture(CLASSES, NUMBER)
BY_NUMBER = bm.NaiveBayes(CLASSES, {"u": (NUMBER, [0]), "v": (NUMBER, [1])})
PARTS = bm.NaiveBayes(CLASSES, {"u": NUMBER, "v": NUMBER})


def pandas(values, names):
    table = np.ndim(values) > 1
    return (
        pd.DataFrame(values, index=names, columns=["f", "g"]) if table else pd.Series(values, names)
    )


def labelled(values, names):
    coords = {"i": names, "c": ["f", "g"]}
    axes = ["i", "c"][: np.ndim(values)]
    return xr.DataArray(values, dims=axes, coords={axis: coords[axis] for axis in axes})


PAIRS = {  # a container (or update) of two or three arguments with one entry a row
    "Weighted": lambda a, b: COIN.update(bm.Weighted(a(BITS), b(NUMBERS))),
    "Grouped": lambda a, b: COIN.update(bm.Grouped(a(BITS), b(list("uuvv")))),
    "BinomialCounts": lambda a, b: COIN.update(bm.BinomialCounts(a(BITS), b([4, 5, 6, 7]))),
    "Counts": lambda a, b: RATE.update(bm.Counts(a(BITS), b(NUMBERS))),
    "Censored": lambda a, b: WAIT.update(bm.Censored(a(NUMBERS), b(BITS))),
    "Counts in groups": lambda a, b: RATE.update(
        bm.Grouped(bm.Counts(BITS, a(NUMBERS)), b(list("uuvv")))
    ),
    "Counts with weights": lambda a, b: RATE.update(
        bm.Weighted(bm.Counts(BITS, a(NUMBERS)), b(NUMBERS))
    ),
    "groups with weights": lambda a, b: COIN.update(
        bm.Weighted(bm.Grouped(BITS, a(list("uuvv"))), b(NUMBERS))
    ),
    "regression": lambda a, b: LINE.update((a(X), b(NUMBERS))),
    "statistic of a regression": lambda a, b: LINE.statistic((a(X), b(NUMBERS))),
    "regression with weights": lambda a, b: LINE.update(bm.Weighted((X, a(NUMBERS)), b(BITS))),
    "logistic": lambda a, b: LOGIT.laplace((a(X), b(BITS))),
    "logistic of counts": lambda a, b: LOGIT.laplace(
        (a(X), bm.BinomialCounts(b(BITS), b([4, 5, 6, 7])))
    ),
    "naive Bayes": lambda a, b: BAYES.update((a(X), b(BITS))),
    "naive Bayes with weights": lambda a, b: BAYES.update(bm.Weighted((a(X), BITS), b(NUMBERS))),
    "blocks": lambda a, b: PARTS.update(({"u": a(NUMBERS), "v": b(NUMBERS)}, BITS)),
    "columns by number": lambda a, b: BY_NUMBER.update((a(X), b(BITS))),
    "mixture": lambda a, b: MIXTURE.statistic((a(X), b(BITS))),
    "mixture with weights": lambda a, b: MIXTURE.statistic(bm.Weighted(a(X), b(NUMBERS))),
}


@pytest.mark.parametrize(
    ("pair", "container"),
    [
        *((pair, pandas) for pair in PAIRS if pair != "columns by number"),  # frames have names
        *((pair, labelled) for pair in PAIRS),
    ],
)
def test_labels_of_rows_that_disagree_are_refused(pair, container):
    def rows(values):
        return container(values, NAMES)

    def others(values):
        return container(values, NAMES[::-1])

    PAIRS[pair](rows, rows)
    PAIRS[pair](others, np.asarray)  # what has no labels goes with anything
    with pytest.raises(bm.DataError, match=r"must have the index of .*, row for row\. Align them"):
        PAIRS[pair](rows, others)


@pytest.mark.parametrize("container", [pandas, labelled])
@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (bm.BinomialCounts, "trials: must have the columns of successes"),
        (lambda a, b: RATE.update(bm.Counts(a, b)), "exposure: must have the columns of values"),
        (lambda a, b: WAIT.update(bm.Censored(a, b)), "observed: must have the columns of times"),
    ],
)
def test_labels_of_columns_that_disagree_are_refused(pair, words, container):
    table = container([[1, 1]] * 4, NAMES)
    pair(table, table)
    exchanged = table[["g", "f"]] if container is pandas else table[:, ::-1]
    with pytest.raises(bm.DataError, match=words):
        pair(table, exchanged)


@pytest.mark.parametrize(
    "kind",
    [
        ConjugateRegressor,
        DiscriminantClassifier,
        LogisticClassifier,
        NaiveBayesClassifier,
        MixtureClusterer,
    ],
)
def test_estimators_pair_series_by_their_index_too(kind):
    rows, y = pandas(X, NAMES), pandas(BITS, NAMES[::-1])
    with pytest.raises(bm.DataError, match="y: must have the index of X"):
        kind().fit(rows, y)
    with pytest.raises(bm.DataError, match="sample_weight: must have the index of X"):
        kind().fit(rows, BITS, sample_weight=y + 1)
    kind().fit(rows, y[::-1], sample_weight=pandas(NUMBERS, NAMES))
