"""NUTS on the rows against NUTS on their statistic: the same posterior, sampler and settings.

The first table has the wall time of NUTS on the statistic of many rows beside that on a few rows,
one by one; the second the effective draws a second of sampling, of as many rows on both sides; as
nutpie takes 0.04 s to begin with, the statistic is sampled ten times as long there. The sampler is
nutpie, which `pymc.sample` takes as well; compiling is timed apart from sampling, and so is the one
pass over the data. Run as ``python tests/benchmarks/bench_nuts.py``.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import nutpie
from arviz_stats import ess, rhat

import bayesmodels as bm

CHUNK = 500_000  # rows that are made at a time
MOST = 1.3  # times as long, with the statistic of many rows, as with a few rows
ENOUGH, MORE = 2.0, 10  # seconds of sampling, and times as many repetitions if it takes less
LONGER = 10  # times as many draws and tuning steps
LEAST = 100  # times as many effective draws a second
FEATURES, COLUMNS = 50, 10


@dataclass(frozen=True)
class Task:
    """A prior, and what makes so many rows for it."""

    name: str
    prior: Any
    rows: Callable[[int, np.random.Generator], Any]
    short: int = 1000  # draws, and tuning steps, where many rows are gone through one by one

    def statistic(self, number: int) -> Any:
        """Return the statistic of many rows, which are never in memory together."""
        rng = np.random.default_rng(1)
        sizes = [CHUNK] * (number // CHUNK) + [number % CHUNK] * bool(number % CHUNK)
        return reduce(add, (self.prior.statistic(self.rows(size, rng)) for size in sizes))


def coin(number: int, rng: np.random.Generator) -> Any:
    """Return zeros and ones."""
    return (rng.random(number) < 0.3).astype(np.int8)


def bits(number: int, rng: np.random.Generator) -> Any:
    """Return a table of bits, and one of two classes a row."""
    y = rng.integers(0, 2, number)
    p = np.linspace(0.1, 0.9, 2 * FEATURES).reshape(2, -1)
    return (rng.random((number, FEATURES), dtype=np.float32) < p[y]).astype(np.int8), y


def line(number: int, rng: np.random.Generator) -> Any:
    """Return a design matrix and a target."""
    x = rng.normal(size=(number, COLUMNS))
    return x, x @ np.linspace(-1, 1, COLUMNS) + rng.normal(size=number)


TASKS = (
    Task("Beta-Bernoulli", bm.BetaBernoulli(1, 1), coin),
    Task(
        f"naive Bayes, {FEATURES} features",
        bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1)),
        bits,
        short=50,
    ),
    Task(
        f"regression, {COLUMNS} columns",
        bm.LinearRegression(np.zeros(COLUMNS), 0.1, 2, 1),
        line,
    ),
)


@dataclass(frozen=True)
class Run:
    """Seconds that compiling took and that sampling took, and what came of it."""

    compiling: float
    sampling: float
    ess: float
    r_hat: float
    divergences: int

    @property
    def rate(self) -> float:
        """Effective draws a second of sampling, of the scalar with the fewest."""
        return self.ess / self.sampling


def run(model: Any, tune: int, draws: int, repetitions: int) -> Run:
    """Compile once, sample some times, more if that is short; return the run of median time."""
    start = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model)
    compiling = time.perf_counter() - start
    found = []
    for seed in range(MORE * repetitions):
        if seed >= repetitions and sum(one.sampling for one in found) > ENOUGH:
            break
        start = time.perf_counter()
        tree = nutpie.sample(
            compiled, draws=draws, tune=tune, chains=2, cores=2, seed=seed, progress_bar=False
        )
        sampling = time.perf_counter() - start
        names = [v.name for v in model.free_RVs]
        posterior = tree.posterior.to_dataset()[names]
        least = min(float(v.min()) for v in ess(posterior).data_vars.values())
        worst = max(float(v.max()) for v in rhat(posterior).data_vars.values())
        gone = int(np.asarray(tree.sample_stats["diverging"]).sum())
        found.append(Run(compiling, sampling, least, worst, gone))
    return sorted(found, key=lambda one: one.sampling)[len(found) // 2]


def chosen(tasks: tuple[Task, ...], part: str) -> list[Task]:
    """Return the tasks whose name contains `part`."""
    return [task for task in tasks if part in task.name]


def wall_times(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the first table."""
    yield (
        f"{'':26}{'one pass s':>11}{'compile s':>20}{'sampling s':>20}{'ratio':>7}{'aim':>6}"
        f"{'with compiling':>16}"
    )
    few, many = f"{given.few:.0e}", f"{given.many:.0e}"
    yield f"{'rows':26}{many:>11}" + 2 * f"{few:>10}{many:>10}"
    for task in chosen(TASKS, given.only):
        rows = task.rows(given.few, np.random.default_rng(1))
        one = run(task.prior.declare(rows, "rows"), given.tune, given.draws, given.repetitions)
        start = time.perf_counter()
        statistic = task.statistic(given.many)
        seconds = time.perf_counter() - start
        other = run(task.prior.declare(statistic), given.tune, given.draws, given.repetitions)
        ratio = other.sampling / one.sampling
        whole = (other.compiling + other.sampling) / (one.compiling + one.sampling)
        yield (
            f"{task.name:26}{seconds:11.1f}{one.compiling:10.2f}{other.compiling:10.2f}"
            f"{one.sampling:10.2f}{other.sampling:10.2f}{ratio:7.2f}{MOST:6.1f}{whole:16.2f}"
            + _marks(one, other, held=ratio <= MOST)
        )


def effective_draws(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the second table."""
    yield (
        f"{given.same:.0e} rows{'':16}{'sampling s':>20}{'fewest ESS':>20}{'ESS/s':>20}"
        f"{'ratio':>9}{'aim':>6}"
    )
    yield f"{'':26}" + 3 * f"{'rows':>10}{'statistic':>10}"
    for task in chosen(TASKS[1:], given.only):
        rows = task.rows(given.same, np.random.default_rng(1))
        one = run(task.prior.declare(rows, "rows"), task.short, task.short, 1)
        statistic = task.prior.declare(rows, "statistic")
        long = LONGER * task.short
        other = run(statistic, long, long, given.repetitions)
        ratio = other.rate / one.rate
        cells = zip(
            (one.sampling, one.ess, one.rate), (other.sampling, other.ess, other.rate), strict=True
        )
        yield (
            f"{task.name:26}"
            + "".join(f"{a:10.2f}{b:10.2f}" for a, b in cells)
            + f"{ratio:9.0f}{LEAST:6d}"
            + _marks(one, other, held=ratio >= LEAST)
        )


def _marks(*runs: Run, held: bool) -> str:
    """Say what is wrong with a line; nothing if all is well."""
    worst, gone = max(run.r_hat for run in runs), sum(run.divergences for run in runs)
    return (
        ("" if held else "  missed")
        + (f"  R-hat {worst:.2f}" if worst > 1.05 else "")
        + (f"  {gone} divergences" if gone else "")
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=lambda x: int(float(x)), default=1_000)
    parser.add_argument("--many", type=lambda x: int(float(x)), default=10_000_000)
    parser.add_argument("--same", type=lambda x: int(float(x)), default=100_000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tune", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in ("pymc", "nutpie"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for text in wall_times(given):
        print(text, flush=True)
    print()
    for text in effective_draws(given):
        print(text, flush=True)


if __name__ == "__main__":
    main()
