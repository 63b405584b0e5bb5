"""How often `check_fit` errs: false alarms of models that are right, misfits that it finds.

Each model of tests/referee/fits.py so many times, with data of its own kind or with a misfit of 200
rows. Run as ``python -m tests.benchmarks.bench_fit``.
"""

import argparse
import logging
import time
import warnings
from typing import Any

import numpy as np

import bayesmodels as bm
from tests.referee.fits import PYMC, RIGHT, WRONG, Case

AIMS = {"false alarms": 0.013, "found, of each misfit": 0.9}


def rate(case: Any, number: int, seed: int) -> float:
    """Return how often rows are said not to fit."""
    off = 0
    for k in range(number):
        rng = np.random.default_rng([seed, k])
        if isinstance(case, Case):
            found = bm.check_fit(case.model, case.data(rng), by=case.by, rng=rng)
        else:
            found = bm.check_fit(case(rng), rng=rng)
        assert found.outcome != "not checked", found.sentences()[0]
        off += found.outcome == "does not fit"
    return off / number


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=int, default=70, help="repetitions of each right model")
    parser.add_argument("--wrong", type=int, default=50, help="of each misfit")
    parser.add_argument("--pymc", type=int, default=40, help="of each PyMC model")
    parser.add_argument("--only", default="", help="models whose name contains this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    for what, cases, number in (
        ("false alarms", RIGHT, given.right),
        ("false alarms", PYMC, given.pymc),
        ("found, of each misfit", WRONG, given.wrong),
    ):
        rates = []
        for seed, (name, case) in enumerate(cases.items()):
            if number and given.only in name:
                begun = time.perf_counter()
                rates.append(rate(case, number, seed))
                seconds = (time.perf_counter() - begun) / number
                print(f"{name:45}{rates[-1]:7.3f}{1000 * seconds:8.0f} ms", flush=True)
        if rates:
            runs, least = number * len(rates), np.min(rates)
            print(f"{what}: {np.mean(rates):.4f} of {runs}, least {least:.3f}; aim {AIMS[what]}\n")


if __name__ == "__main__":
    main()
