"""Exact leave-one-out: how long it takes beside one fit, and how near it is to fitting anew.

``fit`` is ``prior.update(prior.statistic(data))``. The ratio is the median over pairs of calls that
take turns; the error is the largest relative one of a row's log density, over rows that are left
out by brute force. Run as ``python tests/benchmarks/bench_loo.py``.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import bayesmodels as bm
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.referee.one_step import log_next

MOST = 5.0  # times as long as one fit
SHORT = 10**5  # rows that take milliseconds: threads of BLAS left waiting disturb a few calls
NAMES = ["a", "b", "c"]
CLASSES = bm.DirichletCategorical(np.ones(3), NAMES)


def tasks(rows: int) -> dict[str, tuple[Any, Any]]:
    """Return priors and data of so many rows, by name."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, rows)
    label = np.array(NAMES)[y]
    x = rng.normal(size=(rows, 10)) + y[:, None]
    bits = (x > 1).astype(np.int8)
    gaps = x.copy()
    gaps[rng.random(x.shape) < 0.05] = np.nan
    vector = bm.NormalInverseWishart(np.zeros(10), 1, 12, np.eye(10))
    number = bm.NormalInverseGamma(0, 1, 2, 2)
    counts = sparse.random_array((rows, 1000), density=0.01, rng=rng, format="csr")
    counts.data = np.ceil(counts.data * 3)
    words = bm.DirichletCategorical(np.ones(1000))
    return {
        "Beta-Bernoulli": (bm.BetaBernoulli(1, 1), bits[:, 0]),
        "categories": (bm.DirichletCategorical(np.ones(3)), y),
        "normal, 10 columns": (number, x),
        "normal vectors, 10": (vector, x),
        "regression, 10": (bm.LinearRegression.flat(10), (x, x.sum(1) + rng.normal(size=rows))),
        "naive Bayes, 10 bits": (bm.NaiveBayes(CLASSES, bm.BetaBernoulli(1, 1)), (bits, label)),
        "naive Bayes, 10 numbers": (bm.NaiveBayes(CLASSES, number), (x, label)),
        "naive Bayes, gaps": (
            bm.NaiveBayes(CLASSES, number),
            (pd.DataFrame(gaps, columns=[f"x{k}" for k in range(10)]), label),
        ),
        "bag of words, sparse": (
            bm.NaiveBayes(CLASSES, words),
            (bm.MultinomialCounts(counts), label),
        ),
        "discriminant, shared": (bm.GaussianDiscriminant(CLASSES, vector, "shared"), (x, label)),
        "discriminant, full": (bm.GaussianDiscriminant(CLASSES, vector), (x, label)),
    }


def refitted(prior: Any, data: Any, at: np.ndarray, rows: int) -> np.ndarray:
    """Return log densities of some rows by a fit of all others."""
    wide = prior.update(prior.statistic(data).without_rows())
    whole, every = readable(wide, data), np.arange(rows)
    return np.array(
        [
            np.sum(
                log_next(
                    wide.update(rows_at(whole, np.delete(every, i))),
                    rows_at(whole, slice(i, i + 1)),
                )
            )
            for i in at.tolist()
        ]
    )


def seconds(job: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main() -> None:
    """Print a line for each model and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda x: int(float(x)), nargs="+", default=[10**4, 10**6])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--refits", type=int, default=5)
    parser.add_argument("--only", default="", help="models whose name contains this")
    given = parser.parse_args()
    print(f"{'':26}{'rows':>9}{'fit s':>9}{'LOO s':>9}{'ratio':>7}{'aim':>6}{'error':>10}")
    for rows in given.rows:
        for name, (prior, data) in tasks(rows).items():
            if given.only not in name:
                continue
            jobs = (
                lambda p=prior, d=data: p.update(p.statistic(d)),
                lambda p=prior, d=data: bm.leave_one_out(p, d),
            )
            found = jobs[1]()  # first calls are slow
            jobs[0]()
            pairs = given.pairs * (10 if rows < SHORT else 1)
            runs = [tuple(map(seconds, jobs)) for _ in range(pairs)]
            ratio = median(b / a for a, b in runs)
            at = np.linspace(0, rows - 1, given.refits).astype(int)
            wanted = refitted(prior, data, at, rows)
            own = found.log_density.reshape(rows, -1).sum(1)[at]
            error = float(np.abs(own / wanted - 1).max())
            fit, left = (median(column) for column in zip(*runs, strict=True))
            missed = "" if ratio <= MOST and error < 1e-10 else "  missed"
            print(
                f"{name:26}{rows:9,}{fit:9.4f}{left:9.4f}{ratio:7.2f}{MOST:6.1f}{error:10.1e}"
                f"{missed}",
                flush=True,
            )


if __name__ == "__main__":
    main()
