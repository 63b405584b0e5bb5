"""Statistics of rows on disk: time and memory beside pyarrow's own scan, and Dask's two workers.

``python tests/benchmarks/bench_scale.py --rows 1e8`` writes Parquet of ten columns to a temporary
folder (4.4 GB for 1e8 rows), measures, prints two tables, and removes the folder.

The first table compares, each in a process of its own and in turn, the statistic of a regression
(seven columns and an intercept) and of naive Bayes with columns of four kinds with a scan of the
same columns by pyarrow, whose batches are thrown away. Rows a second are those after imports, CPU
seconds and memory (the largest resident set) those of the whole process.

The second one is of Dask's workers, processes of one thread each, on the same files: that the
statistics agree with those of one process, how much faster two are than one, and that nothing is
lost or counted twice when one of them is killed half-way.
"""

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

GROUP = 1_000_000  # rows in a row group
NUMBERS = ["x0", "x1", "x2", "x3", "x4", "x5"]
LINE = ["x1", "x2", "x3", "x4", "x5", "level", "bit"]
COLUMNS = {"regression": [*LINE, "x0"], "naive Bayes": [*NUMBERS, "level", "bit", "group", "kind"]}


def table(rows: int, rng: np.random.Generator) -> pa.Table:
    """Return four columns of float64, two of float32, two of int8, and two of dictionaries."""
    kind = rng.integers(0, 3, rows, dtype=np.int8)
    columns: dict[str, Any] = {f"x{k}": rng.standard_normal(rows) for k in range(4)}
    columns["x0"] += kind
    for k in (4, 5):
        columns[f"x{k}"] = rng.standard_normal(rows, dtype=np.float32)
    columns["level"] = rng.integers(0, 5, rows, dtype=np.int8)
    columns["bit"] = (rng.random(rows, dtype=np.float32) < 0.3).astype(np.int8)
    group = rng.integers(0, 6, rows, dtype=np.int8)
    for name, codes, labels in (
        ("group", group, list("abcdef")),
        ("kind", kind, ["low", "mid", "high"]),
    ):
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels))
    return pa.table(columns)


def write(folder: Path, rows: int, files: int) -> None:
    """Write the files."""
    rng = np.random.default_rng(1)
    for number, some in enumerate(np.diff(np.linspace(0, rows, files + 1).astype(int))):
        schema = table(1, rng).schema
        with pq.ParquetWriter(folder / f"part{number:03}.parquet", schema) as writer:
            for start in range(0, int(some), GROUP):
                writer.write_table(table(min(GROUP, int(some) - start), rng))


def model(name: str) -> tuple[Any, dict[str, Any]]:
    """Return a model and what to read for it."""
    import bayesmodels as bm

    if name == "regression":
        line = bm.LinearRegression.flat(["intercept", *LINE])
        return line, {"target": "x0", "columns": LINE, "intercept": True}
    blocks = {
        "numbers": (bm.NormalInverseGamma(0, 1, 1, 1), NUMBERS),
        "level": (bm.DirichletCategorical(np.ones(5), range(5)), "level"),
        "bit": (bm.BetaBernoulli(1, 1), "bit"),
        "group": (bm.DirichletCategorical(np.ones(6), list("abcdef")), "group"),
    }
    classes = bm.DirichletCategorical([1, 1, 1], ["low", "mid", "high"])
    columns = [c for c in COLUMNS[name] if c != "kind"]
    return bm.NaiveBayes(classes, blocks), {"target": "kind", "columns": columns}


# --- one process ----------------------------------------------------------------------------------


def child(what: str, name: str, folder: str) -> None:
    """Read all rows once, and print rows, seconds and bytes."""
    import bayesmodels as bm

    found, asked = model(name)  # imports what is needed
    _ = bm.scale.statistic
    begin = time.perf_counter()
    if what.startswith("scan"):
        rows = 0
        files = ds.dataset(folder, format="parquet")
        ahead = (
            {"batch_readahead": 2, "fragment_readahead": 1} if what == "scan, little ahead" else {}
        )
        for batch in files.to_batches(columns=COLUMNS[name], **ahead):
            rows += batch.num_rows
    else:
        made = bm.scale.statistic(found, folder, **asked)
        rows = int(made.n if name == "regression" else made.classes.counts.sum())
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    print(json.dumps({"rows": rows, "seconds": seconds, "cpu": cpu, "peak": peak}))


def run(*arguments: str, threads: int | None = None) -> dict[str, Any]:
    """Run this file in a fresh process, and return what it printed last."""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    environment["DASK_LOGGING__DISTRIBUTED"] = "critical"  # of a worker that is killed
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


WAYS = ("scan", "scan, little ahead", "statistic")


def against_scan(folder: str, rows: int, repeats: int) -> None:
    """Print time and memory of both statistics beside pyarrow's scan, as is and with little ahead.

    The ratio is to the faster of the two scans.
    """
    print(f"{'':14}{'':20}{'M rows/s':>10}{'cpu s':>8}{'MiB':>8}{'ratio':>8}")
    for name in COLUMNS:
        found: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for _ in range(repeats):
            for what, each in found.items():
                each.append(run("--child", what, name, folder))
                if each[-1]["rows"] != rows:
                    msg = f"{what} of {name}: {each[-1]['rows']} rows of {rows}"
                    raise SystemExit(msg)
        speed = {
            w: statistics.median(r["rows"] / r["seconds"] for r in f) for w, f in found.items()
        }
        fastest = max(speed[way] for way in WAYS[:-1])
        for way, each in found.items():
            cpu = statistics.median(r["cpu"] for r in each)
            peak = max(r["peak"] for r in each) / 2**20
            ratio = speed[way] / fastest
            print(f"{name:14}{way:20}{speed[way] / 1e6:10.2f}{cpu:8.1f}{peak:8.0f}{ratio:8.2f}")


# --- Dask -----------------------------------------------------------------------------------------


def worker_pid() -> int:
    """Return the process of a worker, in which everything is imported and compiled."""
    import bayesmodels as bm

    some = table(100_000, np.random.default_rng(1)).to_pandas()
    for name in COLUMNS:
        prior, asked = model(name)
        bm.scale.statistic(prior, [some], **asked)
    return os.getpid()


def dask_child(folder: str, workers: int, kill_after: float) -> None:
    """Make both statistics by so many workers, and print seconds and where the statistics are."""
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    import bayesmodels as bm

    seconds = {}
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(worker_pid).values())
        for name, columns in COLUMNS.items():
            prior, asked = model(name)
            rows = dd.read_parquet(folder, columns=columns, split_row_groups=True)
            killer = threading.Timer(kill_after, os.kill, (pids[0], signal.SIGKILL))
            if kill_after:
                killer.start()
            begin = time.perf_counter()
            made = bm.scale.statistic(prior, rows, **asked)
            seconds[name] = time.perf_counter() - begin
            killer.cancel()
            before, pids = pids, list(client.run(os.getpid).values())
            if kill_after and set(before) == set(pids):
                msg = f"{name}: was done before a worker could be killed"
                raise SystemExit(msg)
            bm.save(made, f"{folder}/../{name}-{workers}-{bool(kill_after)}.json")
    print(json.dumps(seconds))


def difference(name: str, a: Path, b: Path) -> float:
    """Return the largest relative difference of two statistics' means and scatters."""
    import bayesmodels as bm

    one, other = bm.load(a), bm.load(b)
    if name == "regression":
        pairs = [(one.n, other.n), (one.mean, other.mean), (one.factor, other.factor)]
    else:
        pairs = [(one.classes.counts, other.classes.counts)]
        for block, own in one.features.items():
            for field in ("n", "mean", "scatter", "counts", "ones", "zeros"):
                if hasattr(own, field):
                    pairs.append((getattr(own, field), getattr(other.features[block], field)))
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in map(np.array, pairs))


def with_dask(folder: str, repeats: int) -> None:
    """Print what two workers gain, and whether statistics agree."""
    import bayesmodels as bm

    for name in COLUMNS:
        prior, asked = model(name)
        made = bm.scale.statistic(prior, folder, **asked)
        bm.save(made, f"{folder}/../{name}-alone.json")
    one = [run("--dask", folder, "1", "0", threads=1) for _ in range(repeats)]
    two = [run("--dask", folder, "2", "0", threads=1) for _ in range(repeats)]
    fastest = {name: min(r[name] for r in two) for name in COLUMNS}
    run("--dask", folder, "2", str(min(fastest.values()) / 2), threads=1)
    print(
        f"{'':14}{'1 worker':>12}{'2 workers':>12}{'gain':>8}{'differs by':>13}{'one killed':>13}"
    )
    for name in COLUMNS:
        slow = min(r[name] for r in one)
        gaps = [
            difference(
                name,
                Path(folder, f"../{name}-2-{killed}.json"),
                Path(folder, f"../{name}-alone.json"),
            )
            for killed in (False, True)
        ]
        print(
            f"{name:14}{slow:10.1f} s{fastest[name]:10.1f} s{slow / fastest[name]:8.2f}"
            f"{gaps[0]:13.1e}{gaps[1]:13.1e}"
        )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-dask", action="store_true")
    parser.add_argument("--only-dask", action="store_true")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--dask", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(*asked.child)
        return
    if asked.dask:
        dask_child(asked.dask[0], int(asked.dask[1]), float(asked.dask[2]))
        return
    rows = int(asked.rows)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "rows")
        folder.mkdir()
        begin = time.perf_counter()
        write(folder, rows, asked.files)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(
            f"{rows:,} rows, {asked.files} files, {size / 1e9:.1f} GB, "
            f"written in {time.perf_counter() - begin:.0f} s; {os.cpu_count()} cores, "
            f"medians of {asked.repeats}"
        )
        if not asked.only_dask:
            against_scan(str(folder), rows, asked.repeats)
        if not asked.without_dask:
            with_dask(str(folder), asked.repeats)


if __name__ == "__main__":
    main()
