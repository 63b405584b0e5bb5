"""Time naive Bayes and Gaussian discriminants against scikit-learn, fit and class probabilities.

Ours and theirs run in turn, so that a busy machine slows both; what counts is the median of the
ratios of neighbours. The last rows are the machine's own limits: one read of the data, and one
product of the data with itself. Run as ``python tests/benchmarks/bench_naive_bayes.py``.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
from scipy import sparse
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from bayesmodels import classwise

CLASSES, LEVELS = 3, 5
Job = Callable[[], object]
Row = tuple[str, Job, Job, float]


def seconds(job: Job) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def fits_and_predictions(rows: int, columns: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield name, our job, theirs and the bar, for dense features."""
    y = rng.integers(0, CLASSES, rows)
    x = rng.normal(size=(rows, columns)) + 0.3 * y[:, None]
    bits = (x > 0.5).astype(float)
    codes = np.clip((x + 2).astype(np.int64), 0, LEVELS - 1)

    def bernoulli() -> np.ndarray:
        assert classwise.not_binary(bits) is None
        return classwise.sums(bits, y, CLASSES)

    n = np.bincount(y)[:, None]
    share = (bernoulli() + 1) / (n + 2)
    logs = np.log(share), np.log1p(-share)
    theirs = BernoulliNB()
    yield "BernoulliNB fit", bernoulli, lambda: theirs.fit(bits, y), 0.25
    yield (
        "BernoulliNB probabilities",
        lambda: classwise.normalise(classwise.log_bits(bits, *logs)),
        lambda: theirs.predict_proba(bits),
        1.0,
    )

    def categorical() -> np.ndarray:
        assert classwise.not_codes(codes, LEVELS) is None
        return classwise.tables(codes, y, LEVELS, CLASSES)

    table = np.log((categorical() + 1) / (n[..., None] + LEVELS))
    theirs_too = CategoricalNB()
    yield "CategoricalNB fit", categorical, lambda: theirs_too.fit(codes, y), 0.25
    yield (
        "CategoricalNB probabilities",
        lambda: classwise.normalise(classwise.log_table(codes, table)),
        lambda: theirs_too.predict_proba(codes),
        1.0,
    )

    def gaussian() -> classwise.Moments:
        assert classwise.not_finite(x) is None
        return classwise.moments(x, y, CLASSES)

    _, mean, _, scatter = gaussian()
    normal = GaussianNB()
    yield "GaussianNB fit", gaussian, lambda: normal.fit(x, y), 0.8
    student = mean, np.sqrt(scatter / n), np.broadcast_to(n, mean.shape)
    yield (
        "GaussianNB probabilities",
        lambda: classwise.normalise(classwise.log_student(x, *student)),
        lambda: normal.predict_proba(x),
        1.0,
    )

    def matrices() -> classwise.Moments:
        assert classwise.not_finite(x) is None
        return classwise.scatters(x, y, CLASSES)

    _, mean, _, scatter = matrices()
    linear, quadratic = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()
    df = n[:, 0].astype(float)
    for name, model, root in (
        ("LDA", linear, np.linalg.cholesky(scatter.sum(axis=0) / rows)),
        ("QDA", quadratic, np.linalg.cholesky(scatter / n[..., None])),
    ):
        yield f"{name} fit", matrices, lambda model=model: model.fit(x, y), 0.5
        yield (
            f"{name} probabilities",
            lambda root=root: classwise.normalise(
                classwise.log_multivariate_student(x, mean, root, df)
            ),
            lambda model=model: model.predict_proba(x),
            1.0,
        )
    yield "(limit) one read, of LDA fit", x.sum, lambda: linear.fit(x, y), 1.0
    yield "(limit) X.T @ X, of LDA fit", lambda: x.T @ x, lambda: linear.fit(x, y), 1.0


def bag_of_words(documents: int, words: int, cells: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield name, our job, theirs and the bar, for a sparse table of counts."""
    counts = 1.0 + rng.poisson(0.3, cells)
    pointers = np.linspace(0, cells, documents + 1).astype(np.int64)
    x = sparse.csr_array((counts, rng.integers(0, words, cells), pointers), (documents, words))
    x.sum_duplicates()
    y = rng.integers(0, CLASSES, documents)

    def multinomial() -> tuple[np.ndarray, np.ndarray]:
        assert classwise.not_finite(x.data) is None
        return (
            classwise.sparse_sums(x, y, CLASSES),
            classwise.count_log_coefficients(x, y, CLASSES),
        )

    alpha = multinomial()[0] + 1
    theirs = MultinomialNB()
    yield "MultinomialNB fit", multinomial, lambda: theirs.fit(x, y), 1.0
    yield (
        "MultinomialNB probabilities",
        lambda: classwise.normalise(classwise.log_tokens(x, alpha)),
        lambda: theirs.predict_proba(x),
        1.0,
    )
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
        fits_and_predictions(given.rows, given.columns, rng),
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
