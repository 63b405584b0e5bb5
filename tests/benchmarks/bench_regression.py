"""Time the update of a linear regression, and count its digits on ill-conditioned designs.

Times are of ``LinearRegression.flat(p).update((X, y))``, checks of the data included, divided by
those of one ``X.T @ X`` on the same array (the bar is 1.5), and of NumPy's lstsq, scikit-learn's
LinearRegression and statsmodels' OLS. All run in turn, so that a busy machine slows all alike; what
counts is the median of the ratios of neighbours. Run once as it is and once with
``OMP_NUM_THREADS=1``; ``--cpu`` counts the processor's time, which a busy machine hardly changes.

Digits are -log10 of the largest relative error of the coefficients, and of the standard errors,
against mpmath with 80 digits from the very numbers in the arrays. Beside them stand those of plain
Householder QR: LAPACK's on [X y] as it is, its columns neither centred nor scaled. How rounding
falls out is luck, up to a digit, so each design comes with several responses, and polynomials with
several numbers of rows; shown are the median and the least. A median that is more than half a digit
below Householder's is marked, and makes the exit status 1. Of many rows that are well conditioned,
whose cross products are added up, twelve digits are enough, as `crossproducts` says.

Run as ``python tests/benchmarks/bench_regression.py``.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import scipy.linalg
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import bayesmodels as bm

Job = Callable[[], object]
BAR = 1.5
NOISE = 0.5
ENOUGH = 12


# --- times ----------------------------------------------------------------------------------------


def seconds(job: Job, clock: Callable[[], float]) -> float:
    """Return the time of one call."""
    start = clock()
    job()
    return clock() - start


def updates(X: Any, y: Any) -> Iterator[tuple[str, Job]]:
    """Yield our update of the same rows in several forms."""
    p = X.shape[1]
    model, longer = bm.LinearRegression.flat(p), bm.LinearRegression.flat(p + 1)
    offset, columns = X + 1e8, np.asfortranarray(X)
    frame, target = pd.DataFrame(columns), pd.Series(y)
    single, small = X.astype(np.float32), np.clip(20 * X, -99, 99).astype(np.int8)
    yield "float64, row by row", lambda: model.update((X, y))
    yield "float64, column by column", lambda: model.update((columns, y))
    yield "float64, moved by 1e8", lambda: model.update((offset, y))
    yield "float64, with intercept", lambda: longer.update(bm.Design(X, y, intercept=True))
    yield "pandas", lambda: model.update((frame, target))
    yield "float32", lambda: model.update((single, y))
    yield "int8", lambda: model.update((small, y))


def times(rows: int, columns: int, pairs: int, clock: Callable[[], float]) -> None:
    """Print times, and their ratios to X.T @ X."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, columns))
    y = X @ np.ones(columns) + rng.normal(size=rows)
    near = X.copy()
    near[:, 1] = X[:, 0] + 1e-6 * X[:, 1]
    ridge = bm.LinearRegression(0, 1, 1, 1, features=range(columns))
    jobs = [
        *updates(X, y),
        ("ill conditioned: blocked QR", lambda: ridge.update((near, y))),
        ("(peer) numpy.linalg.lstsq", lambda: np.linalg.lstsq(X, y)),
        ("(peer) scikit-learn", lambda: LinearRegression(fit_intercept=False).fit(X, y)),
        ("(peer) statsmodels", lambda: sm.OLS(y, X).fit().bse),
        ("(limit) one read", X.sum),
    ]
    print(f"{rows:,} rows, {columns} columns\n{'':32}{'ms':>9}{'of X.T @ X':>12}")
    for name, job in jobs:
        job()
        runs = [(seconds(job, clock), seconds(lambda: X.T @ X, clock)) for _ in range(pairs)]
        own, limit = zip(*runs, strict=True)
        ratio = median(a / b for a, b in zip(own, limit, strict=True))
        over = "  over the bar" if name.startswith("float64") and ratio > BAR else ""
        print(f"{name:32}{1e3 * median(own):9.1f}{ratio:12.2f}{over}", flush=True)


# --- digits ---------------------------------------------------------------------------------------


def digits(found: Any, right: Any) -> float:
    """Return how many digits of all numbers are right."""
    error = max(abs((mpmath.mpf(float(a)) - b) / b) for a, b in zip(found, right, strict=True))
    return 17.0 if error == 0 else float(-mpmath.log10(error))


def exact(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """Return coefficients and standard errors with 80 digits."""
    with mpmath.workdps(80):
        A, b = mpmath.matrix(X.tolist()), mpmath.matrix(y.tolist())
        inverse = (A.T * A) ** -1
        w = inverse * (A.T * b)
        rss = mpmath.fsum(r**2 for r in b - A * w)
        se = [mpmath.sqrt(rss / (A.rows - A.cols) * inverse[j, j]) for j in range(A.cols)]
        return list(w), se


def householder(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the same by LAPACK's QR of [X y]."""
    (R,) = scipy.linalg.qr(np.c_[X, y], mode="r")
    p = X.shape[1]
    w = scipy.linalg.solve_triangular(R[:p, :p], R[:p, p])
    spread = np.sqrt((scipy.linalg.solve_triangular(R[:p, :p], np.eye(p)) ** 2).sum(1))
    return w, spread * abs(R[p, p]) / np.sqrt(len(y) - p)


def ours(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the same from a posterior with a flat prior; the first column is of ones."""
    law = bm.LinearRegression.flat(X.shape[1]).update((X, y)).marginals()["w"]
    return law.mean(), law.kwds["scale"]


def designs(rng: np.random.Generator, samples: int) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """Yield names, and several pairs of a design and a response."""
    table = bm.datasets.load("longley")
    y = table["employed"].to_numpy(float)
    X = np.c_[np.ones(len(y)), table.drop(columns="employed").to_numpy(float)]
    yield "Longley", [(X, y), *((X, y + rng.normal(size=len(y))) for _ in range(samples - 1))]
    for degree, intervals in POLYNOMIALS.items():
        for low, high in intervals:
            pairs = []
            for k in range(samples):
                x = np.linspace(low, high, 40 + 2 * k)
                X = np.vander(x, degree + 1, increasing=True)
                pairs.append((X, X @ (1 / np.abs(X).max(0)) + 0.1 * rng.normal(size=len(x))))
            yield f"degree {degree} on [{low:g}, {high:g}]", pairs
    for gap in (1, 0.1, 0.06, 0.04, 1e-2):  # the last two are too small for sums of products
        X = rng.normal(size=(2 * MANY, 6))
        X[:, 0] = 1
        X[:, 2] = X[:, 1] + gap * X[:, 2]
        yield f"{len(X)} rows, gap {gap:g}", [(X, X.sum(1) + rng.normal(size=len(X)))]


MANY = 4096
POLYNOMIALS = {
    5: [(0, 20), (5, 20), (20, 40), (90, 100), (990, 1000)],
    10: [(-1, 1), (0, 1), (0, 2), (1, 3), (-9, -3), (5, 10), (90, 100)],
}


def counted(rng: np.random.Generator, samples: int) -> int:
    """Print the digits of every design; return how many of them are below Householder's."""
    print(f"\n{'digits: median (least)':26}{'condition':>22}{'coefficients':>30}{'errors':>30}")
    print(f"{'':26}{'raw':>11}{'scaled':>11}" + 2 * f"{'ours':>15}{'Householder':>15}")
    below = 0
    for name, pairs in designs(rng, samples):
        X = pairs[0][0]
        raw, scaled = np.linalg.cond(X), np.linalg.cond(X / np.sqrt((X**2).sum(0)))
        own, other = [], []
        for X, y in pairs:
            right = exact(X, y)
            other.append([digits(a, b) for a, b in zip(householder(X, y), right, strict=True)])
            try:
                own.append([digits(a, b) for a, b in zip(ours(X, y), right, strict=True)])
            except bm.PriorError:
                own.append(None)
        line = f"{name:26}{raw:11.1e}{scaled:11.1e}"
        if None in own:
            line += f"{'refused':>15}" if own.count(None) == len(own) else f"{'some refused':>15}"
            own = [d for d in own if d is not None]
        worse = False
        for k in (0, 1):
            theirs = [d[k] for d in other]
            if own:
                mine = [d[k] for d in own]
                needed = median(theirs) - NOISE
                worse |= median(mine) < (min(needed, ENOUGH) if len(X) > MANY else needed)
                line += f"{median(mine):8.1f} ({min(mine):4.1f})"
            line += f"{median(theirs):8.1f} ({min(theirs):4.1f})"
        below += worse
        print(line + ("  BELOW" if worse else ""), flush=True)
    return below


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--samples", type=int, default=15, help="of each design")
    parser.add_argument("--cpu", action="store_true", help="the processor's time, not the wall's")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    times(given.rows, given.columns, given.pairs, clock)
    return int(counted(np.random.default_rng(2), given.samples) > 0)


if __name__ == "__main__":
    sys.exit(main())
