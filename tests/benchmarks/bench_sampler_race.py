"""`bm.integrate` against a sampler: wall time of both on everyday models, with compiling.

Thirty models of the everyday table that are solved. Each line is one model, in a process of its
own with an empty cache of compiled functions for each of the two: building the model and importing
are not timed, compiling is. The sampler is nutpie by ``pymc.sample``: four chains of 1000 tuning
steps and 1000 draws on two cores. The integral ends at a standard error of 0.01 of log evidence and
of means in deviations, or better; the draws end where they end, without an evidence. Run as
``python -m tests.benchmarks.bench_sampler_race``; ``--only`` takes a part of a name.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from statistics import median
from typing import Any

NAMES = (
    "logit of ten coefficients with student priors",
    "mixture of three poissons",
    "teams by their strength",
    "regression censored at zero",
    "regression truncated at zero",
    "logistic growth with five parameters",
    "gompertz and makeham mortality",
    "broken stick",
    "one factor of five tests",
    "softmax of four classes",
    "inverse normal passage times",
    "regression of mean and spread",
    "hurdle of gamma amounts",
    "mixture of two normals",
    "poisson regression with twenty coefficients",
    "dirichlet regression of three shares",
    "zero inflated negative binomial regression",
    "gaussian process with five lengths",
    "logit of forty coefficients",
    "mixture of three exponentials",
    "horseshoe of five coefficients",
    "ratings of ten judges",
    "rows times columns under poisson counts",
    "orders that follow their past",
    "walk under poisson counts",
    "random intercepts under a probit",
    "surgical",
    "wells with five coefficients",
    "dose and response",
    "garch",
)
AIM = 1 / 3  # of the sampler's time, in the median


def timed(name: str, how: str) -> dict[str, Any]:
    """Return seconds of one of the two on a model, in this process."""
    import pymc as pm

    import bayesmodels as bm
    from tests.posteriors.everyday.models import MODELS

    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    model = MODELS[name].build()
    begun = time.perf_counter()
    points, said = 0, ""
    if how == "integrate":
        try:
            points = bm.integrate(model, rng=1).points
        except bm.NotConjugate as no:
            said = no.reason
    else:
        try:
            with model:
                pm.sample(
                    1000,
                    tune=1000,
                    chains=4,
                    cores=2,
                    nuts_sampler="nutpie",
                    progressbar=False,
                    random_seed=1,
                )
        except Exception as no:  # noqa: BLE001 - whatever the sampler can't do is a line
            said = f"{type(no).__name__}: {no}".splitlines()[0]
    return {"seconds": time.perf_counter() - begun, "points": points, "said": said}


def alone(name: str, how: str) -> dict[str, Any]:
    """Return the same from a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        flags = {"PYTENSOR_FLAGS": f"base_compiledir={cache}"}
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.bench_sampler_race", "--one", name, how],
            env=os.environ | flags,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print the table and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--one", nargs=2, help="a model, and integrate or sample: in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(timed(*given.one)))
        return
    print(f"{'':50}{'integrate s':>12}{'sample s':>10}{'ratio':>8}{'points':>9}")
    ratios = []
    for name in NAMES:
        if given.only not in name:
            continue
        ours, theirs = alone(name, "integrate"), alone(name, "sample")
        ratio = ours["seconds"] / theirs["seconds"]
        said = ours["said"] or theirs["said"]
        if not said:
            ratios.append(ratio)
        print(
            f"{name:50}{ours['seconds']:12.1f}{theirs['seconds']:10.1f}{ratio:8.2f}"
            f"{ours['points']:9d}  {said[:80]}",
            flush=True,
        )
    if ratios:
        middle = median(ratios)
        print(
            f"median ratio of {len(ratios)}: {middle:.2f}, aim at most {AIM:.2f}"
            + ("" if middle <= AIM else "  missed")
        )


if __name__ == "__main__":
    main()
