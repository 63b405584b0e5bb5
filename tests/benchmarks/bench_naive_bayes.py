"""Time naive Bayes and Gaussian discriminants against scikit-learn, fit and class probabilities.

Both get the same arrays: ours ``prior.update((x, y))`` and ``posterior.class_probabilities(x)``,
checks of the data included, theirs ``fit`` and ``predict_proba``. They run in turn, so that a busy
machine slows both; what counts is the median of the ratios of neighbours. The rows marked (limit)
are the machine's own: one read of the data, and one product of the data with itself.
Run as ``python tests/benchmarks/bench_naive_bayes.py``.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import bayesmodels as bm

CLASSES, LEVELS = 3, 5
CLASS = bm.DirichletCategorical(np.ones(CLASSES))
Job = Callable[[], object]
Row = tuple[str, Job, Job, float]


def seconds(job: Job) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def pair(
    name: str, prior: Any, theirs: Any, data: tuple[Any, Any], bar: float, given: Any = None
) -> Iterator[Row]:
    """Yield the fits and the predictions of two classifiers of the same data."""
    x, y = data
    ours = x if given is None else given
    yield f"{name} fit", lambda: prior.update((ours, y)), lambda: theirs.fit(x, y), bar
    posterior = prior.update((ours, y))
    yield (
        f"{name} probabilities",
        lambda: posterior.class_probabilities(ours),
        lambda: theirs.predict_proba(x),
        1.0,
    )


def dense(rows: int, columns: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield name, our job, theirs and the bar, for dense features."""
    y = rng.integers(0, CLASSES, rows)
    x = rng.normal(size=(rows, columns)) + 0.3 * y[:, None]
    bits = (x > 0.5).astype(float)
    codes = np.clip((x + 2).astype(np.int64), 0, LEVELS - 1)
    number = bm.NormalInverseGamma(0, 1, 2, 2)
    vector = bm.NormalInverseWishart(np.zeros(columns), 1, columns + 2, np.eye(columns))
    naive = {
        "bits": bm.NaiveBayes(CLASS, bm.BetaBernoulli(1, 1)),
        "codes": bm.NaiveBayes(CLASS, bm.DirichletCategorical(np.ones(LEVELS))),
        "numbers": bm.NaiveBayes(CLASS, number),
    }
    yield from pair("BernoulliNB", naive["bits"], BernoulliNB(), (bits, y), 0.25)
    yield from pair("CategoricalNB", naive["codes"], CategoricalNB(), (codes, y), 0.25)
    yield from pair("GaussianNB", naive["numbers"], GaussianNB(), (x, y), 0.8)
    shared = bm.GaussianDiscriminant(CLASS, vector, "shared")
    yield from pair("LDA", shared, LinearDiscriminantAnalysis(), (x, y), 0.5)
    full = bm.GaussianDiscriminant(CLASS, vector)
    yield from pair("QDA", full, QuadraticDiscriminantAnalysis(), (x, y), 0.5)
    linear = LinearDiscriminantAnalysis()
    yield "(limit) one read, of LDA fit", x.sum, lambda: linear.fit(x, y), 1.0
    yield "(limit) X.T @ X, of LDA fit", lambda: x.T @ x, lambda: linear.fit(x, y), 1.0


def bag_of_words(documents: int, words: int, cells: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield name, our job, theirs and the bar, for a table as scikit-learn's CountVectorizer's."""
    counts = 1 + rng.poisson(0.3, cells)
    pointers = np.linspace(0, cells, documents + 1).astype(np.int32)
    at = rng.integers(0, words, cells, dtype=np.int32)
    x = sparse.csr_array((counts, at, pointers), (documents, words))
    x.sum_duplicates()
    y = rng.integers(0, CLASSES, documents)
    prior = bm.NaiveBayes(CLASS, bm.DirichletCategorical(np.ones(words)))
    given = bm.MultinomialCounts(x)
    yield from pair("MultinomialNB", prior, MultinomialNB(), (x, y), 1.0, given)
    theirs = MultinomialNB()
    yield "(limit) one read, of MultinomialNB fit", x.data.sum, lambda: theirs.fit(x, y), 1.0


def main() -> None:
    """Run the pairs and print a table of medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"{'':40}{'ours s':>9}{'theirs s':>10}{'ratio':>8}{'bar':>7}")
    scale = given.rows / 1_000_000
    for kind in (
        dense(given.rows, given.columns, rng),
        bag_of_words(int(1e5 * scale), 50_000, int(1e7 * scale), rng),
    ):
        for name, ours, theirs, bar in kind:
            theirs()  # predictions need a fit, and first calls are slow
            if given.only not in name:
                continue
            ours()
            runs = [(seconds(ours), seconds(theirs)) for _ in range(given.pairs)]
            mine, other = (median(column) for column in zip(*runs, strict=True))
            ratio = median(a / b for a, b in runs)
            missed = "" if ratio <= bar else "  missed"
            print(f"{name:40}{mine:9.3f}{other:10.3f}{ratio:8.2f}{bar:7.2f}{missed}", flush=True)


if __name__ == "__main__":
    main()
