"""Time updates by a few rows, and evidences, beside one call of NumPy's.

Medians of many calls in one process, and the ratio to the median of
``np.asarray([1.0]).sum()``, which is measured before each of them: a busy machine slows both.
Run as ``OMP_NUM_THREADS=1 python tests/benchmarks/bench_small_updates.py``; docs/speed.md quotes
it.
"""

import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import pandas as pd

import bayesmodels as bm

CALLS = 2000
Job = Callable[[], object]


def unit() -> object:
    """Return the smallest sum that there is."""
    return np.asarray([1.0]).sum()


def of_family(name: str, prior: object, data: object) -> Iterator[tuple[str, Job]]:
    """Yield update and evidence, by data and by their statistic."""
    s = prior.statistic(data)
    yield f"{name}.update", lambda: prior.update(data)
    yield f"{name}.update, of a statistic", lambda: prior.update(s)
    yield f"{name}.log_evidence", lambda: prior.log_evidence(data)
    yield f"{name}.log_evidence, of a statistic", lambda: prior.log_evidence(s)
    yield f"{name}: statistic + statistic", lambda: s + s


def jobs() -> Iterator[tuple[str, Job]]:
    """Yield what is measured, with its name."""
    rng = np.random.default_rng(1)
    coin, die = bm.BetaBernoulli(2, 2), bm.DirichletCategorical([1, 1, 1])
    yield from of_family("Beta, 3 of 20", coin, bm.BinomialCounts(3, 20))
    yield "Beta, 3 of 20 read anew.update", lambda: coin.update(bm.BinomialCounts(3, 20))
    yield from of_family("Beta, five rows", coin, [1, 0, 1, 1, 0])
    yield from of_family("Dirichlet, counts", die, bm.MultinomialCounts([5, 0, 2]))
    yield from of_family("Dirichlet, five rows", die, [0, 1, 2, 1, 0])
    number = bm.NormalInverseGamma(0, 1, 1, 1)
    yield from of_family("normal, five rows", number, [1.0, 2.0, 3.0, 4.0, 5.0])
    vector = bm.NormalInverseWishart(np.zeros(2), 1, 4, np.eye(2))
    yield from of_family("multivariate normal, 5 x 2", vector, rng.normal(size=(5, 2)))
    rows, target = rng.normal(size=(442, 11)), rng.normal(size=442)
    line = bm.LinearRegression(0, np.eye(11), 1, 1)
    yield "X.T @ X, 442 x 11", lambda: rows.T @ rows
    yield from of_family("regression, 442 x 11", line, bm.Design(rows, target))
    frame = bm.Design(pd.DataFrame(rows, columns=list("abcdefghijk")), pd.Series(target))
    yield "regression, 442 x 11 in pandas.update", lambda: line.update(frame)
    classes, table = bm.DirichletCategorical([1, 1]), (rows[:10, :3], [0, 1] * 5)
    naive = bm.NaiveBayes(classes, bm.NormalInverseGamma(np.zeros(3), 1, 1, 1))
    yield from of_family("naive Bayes, 10 x 3", naive, table)
    full = bm.GaussianDiscriminant(classes, bm.NormalInverseWishart(np.zeros(3), 1, 5, np.eye(3)))
    yield from of_family("discriminant, 10 x 3", full, table)


def microseconds(job: Job, calls: int = CALLS) -> float:
    """Return the median time of a call."""
    job()
    found = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        job()
        found.append(time.perf_counter_ns() - start)
    return median(found) / 1000


def main() -> None:
    """Print a table."""
    print(f"{'':56}{'µs':>8}{'ratio':>8}")
    for name, job in jobs():
        small = microseconds(unit)
        own = microseconds(job)
        print(f"{name:56}{own:8.1f}{own / small:8.0f}")


if __name__ == "__main__":
    main()
