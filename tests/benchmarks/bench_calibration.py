"""Calibrate forty PyMC models: twenty right ones of all rungs, twenty wrong ones of four kinds.

Printed are the rung by which posteriors were drawn from, seconds with compilation, in how many
simulations the sampler gave too few effective draws, and the outcome; and eight schools on two
cores. Right models are asked at a level of 0.05 %, so that a table of twenty has one false alarm in
a hundred times; wrong ones at the default of 1 %.
Run as ``python -m tests.benchmarks.bench_calibration`` (20 minutes to an hour).
"""

import argparse
import sys
import time
from contextlib import nullcontext

import bayesmodels as bm
from tests.referee.calibration_models import RIGHT, WRONG, data_shared, schools


def row(case, n, *, shared, **settings):
    """Calibrate one model; print and return whether it went as it should."""
    start = time.perf_counter()
    right = case.kind == "right"
    with data_shared() if shared else nullcontext():
        model, own = case.model(), case.settings()
    found = bm.calibrate(model, n=n, rng=1, level=5e-4 if right else 0.01, **own, **settings)
    took = time.perf_counter() - start
    good = (found.outcome == "agree") == right and found.method == case.rung
    first = found.findings[0] if found.findings else ""
    print(
        f"{case.kind:11}{case.name:42}{found.method:9}{n:5}{took:7.1f} s {found.short:5} "
        f"{found.outcome:9}{'' if good else '<-- NOT AS IT SHOULD BE '}{first}",
        flush=True,
    )
    return good


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--shared", action="store_true", help="data are pm.Data with dims")
    parser.add_argument("--only", choices=["schools", "right", "wrong"], help="a part of it")
    asked = parser.parse_args()
    for centred in (True, False) if asked.only in (None, "schools") else ():
        start = time.perf_counter()
        found = bm.calibrate(schools(centred=centred), n=asked.n, rng=1, cores=2)
        took = time.perf_counter() - start
        print(f"eight schools, {centred=}, 2 cores, {found.method}: {took:.1f} s, {found.outcome}")
    chosen = {"right": RIGHT, "wrong": WRONG, "schools": [], None: [*RIGHT, *WRONG]}[asked.only]
    good = [row(case, asked.n, shared=asked.shared, cores=asked.cores) for case in chosen]
    print(f"{sum(good)} of {len(good)} as they should be")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
