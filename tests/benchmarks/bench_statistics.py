"""Time the statistic of a mixed naive Bayes model, from columns of several kinds.

Five columns of numbers, four of categories and one of classes, in one process: nanoseconds a row of
``model.statistic``, checks of the data included. Beside it stands what pyarrow takes to read the
same columns from Parquet in memory, with as many threads as it likes; they run in turn, and the
ratio is the median over pairs of neighbours. The bar is 1: then whoever reads and adds up in turn
does half of the rows a second that reading alone does.
``--cpu`` counts the processor's time on all threads instead, which a busy machine does not change.
Run as ``OMP_NUM_THREADS=1 python tests/benchmarks/bench_statistics.py``.
"""

import argparse
import io
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import bayesmodels as bm

LABELS = ["red", "green", "blue", "grey"]
CLASSES = ["a", "b", "c"]
NUMBERS, KINDS = [f"x{j}" for j in range(5)], [f"k{j}" for j in range(4)]


Job = Callable[[], object]


def seconds(job: Job, clock: Callable[[], float]) -> float:
    """Return the time of one call."""
    start = clock()
    job()
    return clock() - start


def model(*, named: bool) -> Any:
    """Return a prior over classes, numbers and categories, with labels or without."""
    y = bm.DirichletCategorical(np.ones(3), categories=CLASSES if named else None)
    k = bm.DirichletCategorical(np.ones(4), categories=LABELS if named else None)
    return bm.NaiveBayes(y, {"x": (bm.NormalInverseGamma(0, 1, 2, 2), NUMBERS), "k": (k, KINDS)})


def tables(rows: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield what kind of table it is, the prior and the table, the classes in column y."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, rows).astype(np.int8)
    x = rng.normal(size=(5, rows)) + y
    k = rng.integers(0, 4, (4, rows)).astype(np.int8)
    numbers = dict(zip(NUMBERS, x, strict=True))
    coded = {**numbers, **dict(zip(KINDS, k, strict=True)), "y": y}
    yield "Arrow, int8 codes", model(named=False), pa.table(coded)
    yield "pandas, int8 codes", model(named=False), pd.DataFrame(coded)
    small = {**coded, **{name: x[j].astype(np.float32) for j, name in enumerate(NUMBERS)}}
    yield "Arrow, float32 and int8", model(named=False), pa.table(small)
    named = {
        **numbers,
        **{name: pd.Categorical.from_codes(k[j], LABELS) for j, name in enumerate(KINDS)},
        "y": pd.Categorical.from_codes(y, CLASSES),
    }
    frame = pd.DataFrame(named)
    yield "Arrow, dictionaries", model(named=True), pa.Table.from_pandas(frame)
    yield "pandas, categories", model(named=True), frame
    texts = frame.astype(dict.fromkeys([*KINDS, "y"], "str"))
    yield "pandas, strings", model(named=True), texts


def parquet(table: Any) -> bytes:
    """Return a table as Parquet."""
    file = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table), file)
    return file.getvalue()


def jobs(prior: Any, table: Any) -> tuple[Job, Job]:
    """Return the statistic of a table, and the reading of the same table from Parquet."""
    arrow = isinstance(table, pa.Table)
    y, features = table["y"], table.drop_columns("y") if arrow else table.drop(columns="y")
    stored = parquet(table)
    return (
        lambda: prior.statistic((features, y)),
        lambda: pq.read_table(pa.BufferReader(stored)),
    )


def main() -> None:
    """Print a table of medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7, help="pairs of runs")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--cpu", action="store_true", help="the processor's time, not the wall's")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    print(f"{'nanoseconds a row':26}{'statistic':>10}{'reading':>10}{'ratio':>8}")
    for name, prior, table in tables(given.rows):
        ours, reading = jobs(prior, table)
        ours()
        runs = [(seconds(ours, clock), seconds(reading, clock)) for _ in range(given.pairs)]
        own, other = (1e9 / given.rows * median(column) for column in zip(*runs, strict=True))
        ratio = median(a / b for a, b in runs)
        over = "  over the bar" if ratio > 1 else ""
        print(f"{name:26}{own:10.0f}{other:10.0f}{ratio:8.2f}{over}", flush=True)


if __name__ == "__main__":
    main()
