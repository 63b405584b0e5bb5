"""Time `bm.exact` against `pm.sample` on every model of the table of closed forms.

Both get a model built afresh and start cold: the closed form compiles what it needs, the sampler
compiles its density, as a user sees it. One model after the other, a line each. The caches on disk
of compiled functions are what they are on the machine; ``--cold`` gives every model a process and a
cache of its own, as on its very first run. With ``--against DIRECTORY``, a clone of another commit,
its closed forms take the sampler's place: each model is solved by both in turn, five times, in a
process a commit, and the least times count.

Run as ``python tests/benchmarks/bench_exact.py [--only WORD ...] [--cold | --against DIRECTORY]``.
"""

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pymc as pm

import bayesmodels as bm
from tests.posteriors.entry import Entry
from tests.posteriors.zoo import ZOO

CHAINS, DRAWS = 4, 1000


def wide_naive_bayes():
    """Return naive Bayes of 1000 rows, 200 features of 0 and 1, and 3 classes."""
    rng = np.random.default_rng(20260511)
    label = rng.integers(0, 3, 1000)
    x = (rng.random((1000, 200)) < rng.random((3, 200))[label]).astype(int)
    with pm.Model() as model:
        pi = pm.Dirichlet("pi", np.ones(3))
        theta = pm.Beta("theta", 1, 1, shape=(3, 200))
        y = pm.Categorical("y", pi, observed=label)
        pm.Bernoulli("x", theta[y], observed=x)
    return model


def wide_regression():
    """Return a regression of 1000 rows on 200 columns with an unknown variance."""
    rng = np.random.default_rng(20260512)
    X = rng.normal(size=(1000, 200))
    y = X @ rng.normal(size=200) + rng.normal(size=1000)
    with pm.Model() as model:
        sigma2 = pm.InverseGamma("sigma2", 2, 1)
        w = pm.Normal("w", 0, 3 * pm.math.sqrt(sigma2), shape=200)
        pm.Normal("y", X @ w, pm.math.sqrt(sigma2), observed=y)
    return model


LARGE = [
    Entry("naive Bayes of 1000 x 200 x 3", wide_naive_bayes, None),
    Entry("regression on 200 columns", wide_regression, None),
]


def seconds(build, run):
    """Return the wall time of solving or sampling a model built afresh; infinite if it fails."""
    model = build()
    start = time.perf_counter()
    try:
        run(model)
    except Exception as error:  # noqa: BLE001 - the other models are timed all the same
        print(f"    {type(error).__name__}: {error}", flush=True)
        return np.inf
    return time.perf_counter() - start


def closed_form(model):
    """Solve, and read off what one would."""
    posterior = bm.exact(model)
    posterior.parameters()


def sampled(model):
    """Sample as a user does, quietly."""
    with model:
        pm.sample(
            draws=DRAWS, chains=CHAINS, progressbar=False, compute_convergence_checks=False,
            random_seed=1,
        )  # fmt: skip


def measured(entry):
    """Return both wall times."""
    return seconds(entry.build, closed_form), seconds(entry.build, sampled)


WORKER = """
import logging, sys, time, warnings
sys.path.insert(0, sys.argv[1])
import bayesmodels as bm
from tests.posteriors.zoo import ZOO
warnings.simplefilter("ignore")
logging.getLogger("pymc").setLevel(logging.ERROR)
build = {entry.name: entry.build for entry in ZOO}
for line in sys.stdin:
    model = build[line.strip()]()
    start = time.perf_counter()
    bm.exact(model, rng=1).parameters()
    print(time.perf_counter() - start, flush=True)
"""


def against(directory):
    """Return a function from an entry to the least times of this commit and of another one."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for path in (Path(__file__).parents[2], directory)
    ]

    def measure(entry):
        found = [[], []]
        for _ in range(5):
            for worker, times in zip(workers, found, strict=True):
                worker.stdin.write(f"{entry.name}\n")
                worker.stdin.flush()
                times.append(float(worker.stdout.readline()))
        return tuple(map(min, found))

    return measure


def measured_cold(entry):
    """Return both wall times, of a process with empty caches each."""
    found = []
    for what in ("exact", "sample"):
        with tempfile.TemporaryDirectory() as caches:
            flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={caches}".strip(",")
            environment = os.environ | {"PYTENSOR_FLAGS": flags, "NUMBA_CACHE_DIR": caches}
            command = [sys.executable, __file__, "--one", entry.name, what]
            done = subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True
            )
            found.append(float(done.stdout.split()[-1]))
    return tuple(found)


def report(entries, measure):
    """Print a line for each model; return the ratios."""
    ratios = []
    for entry in entries:
        ours, theirs = measure(entry)
        ratios.append(ours / theirs)
        print(f"{entry.name:52} {ours:7.2f} s {theirs:8.2f} s  {ratios[-1]:6.3f}", flush=True)
    return ratios


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="words of names of models")
    parser.add_argument("--cold", action="store_true", help="a process and caches for each model")
    parser.add_argument("--against", help="a clone of another commit, in the sampler's place")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    if chosen.one:
        name, what = chosen.one
        (entry,) = [entry for entry in [*ZOO, *LARGE] if entry.name == name]
        print(seconds(entry.build, closed_form if what == "exact" else sampled))
        return
    zoo, large = (
        [entry for entry in table if any(word in entry.name for word in chosen.only)]
        for table in (ZOO, LARGE)
    )
    measure = measured_cold if chosen.cold else measured
    if chosen.against:
        print(f"{'model':52} {'here':>9} {'there':>10}   ratio", flush=True)
        ratios = report(zoo, against(chosen.against))
        print(f"\n{len(ratios)} models: median ratio {median(ratios):.3f}, most {max(ratios):.3f}")
        return
    print(f"{'model':52} {'bm.exact':>9} {'pm.sample':>10}   ratio", flush=True)
    # What both load when they run first is charged to neither.
    measured(ZOO[0])
    ratios = report(zoo, measure)
    if ratios:
        half, whole = sum(r > 0.5 for r in ratios), len(ratios)
        print(f"\n{whole} models: median ratio {median(ratios):.3f} (the target is at most 0.1), ")
        print(f"largest {max(ratios):.3f}, {half} above 0.5 (the target is none)\n")
    report(large, measure)


if __name__ == "__main__":
    main()
