"""Fits beside those of other packages, and beside what the machine can do at all.

Both sides get the same arrays, checks of the data included, and take turns; the ratio is the median
over pairs of calls, below 1 where ours is faster. A limit is one read of the features (their sum)
or one product ``X.T @ X``. The growth exponent is that of our time between the two largest numbers
of rows: 1 is linear. Run as ``python tests/benchmarks/bench_peers.py``; ``--write`` makes the page
``docs/peers.md`` of what it prints. Peers that are not installed (conjugate-models, stepmix) are
left out.
"""

import argparse
import logging
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import log
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

import bayesmodels as bm

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
PACKAGES = ("numpy", "scikit-learn", "statsmodels", "conjugate-models", "stepmix", "pymc", "nutpie")
COLUMNS, CLASSES = 10, 3
SECONDS, PAIRS = 2.0, 7  # of a comparison, at most, unless one pair takes longer
LATENT = 10**4  # rows of latent classes
STEPS = 500  # draws of NUTS, after as many of tuning

HEAD = """% Written by tests/benchmarks/bench_peers.py: change that.

# Speed beside other packages

How long fits take here and in other packages, on the same data.

Measured on {date}: {machine}; {packages}.

Each pair of fits gets the same arrays of {columns} columns and takes turns in one process; ours
check the data. Times are in seconds, and a ratio below 1 means that ours is faster. Theirs is one
estimate, ours the posterior, but for the mode of a logistic regression and EM. A limit is not a
package but what the machine does at all: one read of the features, or one product of the data with
itself. Growth is the exponent of our time in the number of rows between the two largest: 1 is
linear. Of NUTS the time is that of sampling; compiling comes on top, on both sides.

{table}

To repeat: `python tests/benchmarks/bench_peers.py --write`, on a quiet machine. Classifiers with
more columns, and their predictions, are on [another page](speed.md); NUTS on the rows and on their
statistic is compared by `python tests/benchmarks/bench_nuts.py`.
"""


@dataclass
class Task:
    """Two fits of the same rows, or a fit and a limit.

    The largest number of rows is that which the other side can do in reasonable time and memory.
    """

    name: str
    peer: str
    ours: Callable[[Any], object]
    theirs: Callable[[Any], object]
    most: int = 10**8
    times: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    @property
    def growth(self) -> str:
        """Exponent of our time in the number of rows."""
        known = sorted(self.times)
        if len(known) < 2:
            return ""
        small, large = known[-2:]
        steps = log(self.times[large][0] / self.times[small][0]) / log(large / small)
        return f"{steps:.2f}"


@dataclass(frozen=True)
class Rows:
    """Data of one size for all tasks."""

    x: np.ndarray
    y: np.ndarray
    bits: np.ndarray
    codes: np.ndarray
    label: np.ndarray
    binary: np.ndarray
    latent: np.ndarray
    coin: np.ndarray

    @classmethod
    def of(cls, number: int) -> "Rows":
        """Draw so many rows."""
        rng = np.random.default_rng(1)
        label = rng.integers(0, CLASSES, number)
        x = rng.standard_normal((number, COLUMNS))
        x += 0.3 * label[:, None]
        y = x.sum(1) + rng.standard_normal(number)
        codes = np.clip(x + 2, 0, 4).astype(np.int8)
        bits, binary = ((a > b).astype(np.int8) for a, b in ((x, 0.5), (y, 1)))
        theta = np.where(rng.random((CLASSES, COLUMNS)) < 0.5, 0.1, 0.9)
        latent = (rng.random((min(number, LATENT), COLUMNS)) < theta[label[:LATENT]]).astype(
            np.int8
        )
        return cls(x, y, bits, codes, label, binary, latent, bits[:, 0].copy())


def tasks() -> Iterator[Task]:
    """Yield what is compared."""
    classes = bm.DirichletCategorical(np.ones(CLASSES))
    number = bm.NormalInverseGamma(0, 1, 2, 2)
    vector = bm.NormalInverseWishart(np.zeros(COLUMNS), 1, COLUMNS + 2, np.eye(COLUMNS))
    coin = bm.BetaBernoulli(1, 1)
    naive = {
        "bits": bm.NaiveBayes(classes, coin),
        "codes": bm.NaiveBayes(classes, bm.DirichletCategorical(np.ones(5))),
        "x": bm.NaiveBayes(classes, number),
    }
    line = bm.LinearRegression.flat(COLUMNS)
    yield Task(
        "Beta–Bernoulli",
        "(limit) one read",
        lambda d: coin.update(d.coin),
        lambda d: d.coin.sum(),
    )
    for name, key, theirs in (
        ("naive Bayes, bits", "bits", BernoulliNB),
        ("naive Bayes, categories", "codes", CategoricalNB),
        ("naive Bayes, numbers", "x", GaussianNB),
    ):
        yield Task(
            name,
            theirs.__name__,
            lambda d, k=key: naive[k].update((getattr(d, k), d.label)),
            lambda d, k=key, f=theirs: f().fit(getattr(d, k), d.label),
        )
    yield Task(
        "naive Bayes, numbers",
        "(limit) one read",
        lambda d: naive["x"].update((d.x, d.label)),
        lambda d: d.x.sum(),
    )
    shared = bm.GaussianDiscriminant(classes, vector, "shared")
    full = bm.GaussianDiscriminant(classes, vector)
    yield Task(
        "discriminant, shared",
        "LinearDiscriminantAnalysis",
        lambda d: shared.update((d.x, d.label)),
        lambda d: LinearDiscriminantAnalysis().fit(d.x, d.label),
    )
    yield Task(
        "discriminant, full",
        "QuadraticDiscriminantAnalysis",
        lambda d: full.update((d.x, d.label)),
        lambda d: QuadraticDiscriminantAnalysis().fit(d.x, d.label),
    )
    yield Task(
        "discriminant, shared",
        "(limit) X.T @ X",
        lambda d: shared.update((d.x, d.label)),
        lambda d: d.x.T @ d.x,
    )
    yield from of_lines(line)
    logistic = bm.LogisticRegression(np.zeros(COLUMNS), 1.0)
    yield Task(
        "logistic regression, mode",
        "LogisticRegression",
        lambda d: logistic.map((d.x, d.binary)),
        lambda d: LogisticRegression(fit_intercept=False, C=1.0, tol=1e-8).fit(d.x, d.binary),
        most=10**6,
    )
    yield from of_conjugate_models(coin)
    yield from of_stepmix(classes)
    yield nuts()


def of_lines(line: bm.LinearRegression) -> Iterator[Task]:
    """Yield what a linear regression is compared with."""
    from statsmodels.api import OLS

    def fit(d: Rows) -> object:
        return line.update((d.x, d.y))

    yield Task(
        "regression",
        "LinearRegression",
        fit,
        lambda d: LinearRegression(fit_intercept=False).fit(d.x, d.y),
    )
    yield Task(
        "regression",
        "BayesianRidge",
        fit,
        lambda d: BayesianRidge(fit_intercept=False).fit(d.x, d.y),
    )
    yield Task("regression", "statsmodels OLS", fit, lambda d: OLS(d.y, d.x).fit())
    yield Task("regression", "(limit) one read", fit, lambda d: d.x.sum())
    yield Task("regression", "(limit) X.T @ X", fit, lambda d: d.x.T @ d.x)


def of_conjugate_models(coin: bm.BetaBernoulli) -> Iterator[Task]:
    """Yield what the package conjugate-models does too; nothing if it is not there."""
    if find_spec("conjugate") is None:
        return
    from conjugate.distributions import Beta, NormalInverseGamma
    from conjugate.models import binomial_beta, linear_regression

    flat = Beta(alpha=1, beta=1)
    yield Task(
        "Beta–Bernoulli",
        "conjugate-models",
        lambda d: coin.update(d.coin),
        lambda d: binomial_beta(n=len(d.coin), x=d.coin.sum(), prior=flat),
    )
    prior = NormalInverseGamma(
        mu=np.zeros(COLUMNS), delta_inverse=np.eye(COLUMNS), alpha=2.0, beta=1.0
    )
    line = bm.LinearRegression(np.zeros(COLUMNS), 1.0, 2, 1)
    yield Task(
        "regression, normal prior",
        "conjugate-models",
        lambda d: line.update((d.x, d.y)),
        lambda d: linear_regression(X=d.x, y=d.y, prior=prior),
    )


def of_stepmix(classes: bm.DirichletCategorical) -> Iterator[Task]:
    """Yield EM of latent classes, one start; nothing if StepMix is not there."""
    if find_spec("stepmix") is None:
        return
    from stepmix.stepmix import StepMix

    mixture = bm.NaiveBayesMixture(classes, bm.BetaBernoulli(1, 1))
    how = {"n_components": CLASSES, "measurement": "bernoulli", "progress_bar": 0}
    yield Task(
        "latent classes, one start of EM",
        "StepMix",
        lambda d: mixture.em(d.latent, starts=1, rng=1),
        lambda d: StepMix(**how, n_init=1, random_state=1, max_iter=10_000).fit(d.latent),
        most=LATENT,
    )


def nuts() -> Task:
    """Return NUTS on the statistic against NUTS on rows that are written by hand; sampling only."""
    import nutpie
    import pymc as pm

    prior = bm.LinearRegression(np.zeros(COLUMNS), 1.0, 2, 1)
    compiled: dict[tuple[str, int], Any] = {}

    def by_hand(d: Rows) -> Any:
        with pm.Model() as model:
            sigma2 = pm.InverseGamma("sigma2", 2.0, 1.0)
            w = pm.Normal("w", 0.0, sigma=pm.math.sqrt(sigma2), shape=COLUMNS)
            pm.Normal("y", (d.x * w).sum(-1), sigma=pm.math.sqrt(sigma2), observed=d.y)
        return model

    def sampled(kind: str, d: Rows, make: Callable[[Rows], Any]) -> object:
        key = (kind, len(d.y))
        if key not in compiled:  # compiling is not timed: the first calls are not
            compiled[key] = nutpie.compile_pymc_model(make(d))
        return nutpie.sample(
            compiled[key], draws=STEPS, tune=STEPS, chains=2, seed=1, progress_bar=False
        )

    return Task(
        "regression, NUTS",
        "PyMC by hand, on rows",
        lambda d: sampled("ours", d, lambda d: prior.declare((d.x, d.y), "statistic")),
        lambda d: sampled("theirs", d, by_hand),
        most=10**4,
    )


def seconds(job: Callable[[Any], object], rows: Rows) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    job(rows)
    return time.perf_counter() - start


def compare(task: Task, rows: Rows, number: int, *, warm: bool) -> None:
    """Time both sides in turn, as often as there is time for."""
    if warm:  # first calls compile
        task.ours(rows)
        task.theirs(rows)
    runs: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(runs) < PAIRS and (not runs or time.perf_counter() - start < SECONDS):
        runs.append((seconds(task.ours, rows), seconds(task.theirs, rows)))
    ours, theirs = (median(column) for column in zip(*runs, strict=True))
    task.times[number] = ours, theirs, median(a / b for a, b in runs)


def words(number: int) -> str:
    """Return a number of rows in powers of ten."""
    return f"{number:.0e}".replace("e+0", "e")


def page(found: list[Task], sizes: list[int]) -> str:
    """Return the page of the docs."""
    head = ["model", "beside", *(f"{words(n)}: ours" for n in sizes)]
    head += [*(f"{words(n)}: ratio" for n in sizes), "growth"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for task in found:
        mine = [f"{task.times[n][0]:.3g}" if n in task.times else "" for n in sizes]
        ratios = [f"{task.times[n][2]:.2f}" if n in task.times else "" for n in sizes]
        lines.append(f"| {' | '.join([task.name, task.peer, *mine, *ratios, task.growth])} |")
    return HEAD.format(
        date=datetime.now().astimezone().date().isoformat(),
        machine=f"{os.process_cpu_count()} cores, {platform.machine()}",
        packages=", ".join([f"Python {platform.python_version()}", *versions(PACKAGES)]),
        columns=COLUMNS,
        table="\n".join(lines),
    )


def versions(packages: Iterable[str]) -> Iterator[str]:
    """Yield the versions of the packages that are there."""
    for name in packages:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue


def main() -> None:
    """Print a line for each comparison and number of rows; write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    sizes = [10**4, 10**6, 10**7]
    parser.add_argument("--rows", type=lambda x: int(float(x)), nargs="+", default=sizes)
    parser.add_argument("--only", default="", help="lines that contain this")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in ("pymc", "nutpie"):
        logging.getLogger(name).setLevel(logging.ERROR)
    found = [task for task in tasks() if given.only in f"{task.name} {task.peer}"]
    print(f"{'':34}{'beside':32}{'rows':>8}{'ours s':>10}{'theirs s':>10}{'ratio':>9}")
    for number in sorted(given.rows):
        rows = Rows.of(number)
        for task in found:
            if number > task.most:
                continue
            compare(task, rows, number, warm=number <= 10**6)
            ours, theirs, ratio = task.times[number]
            print(
                f"{task.name:34}{task.peer:32}{words(number):>8}{ours:10.4f}{theirs:10.4f}"
                f"{ratio:9.2f}",
                flush=True,
            )
    print()
    for task in found:
        print(f"{task.name:34}{task.peer:32}  grows with the power {task.growth or '–'} of rows")
    if given.write:
        PAGE.write_text(page(found, sorted(given.rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
