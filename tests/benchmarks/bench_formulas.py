"""Formulas of others, without a sampler, beside a long run of NUTS that the referee judges.

A line is a formula of tests/command/test_formulas_of_others.py: seconds of `bm.integrate` and of
nutpie (with compiling, four chains of 10,000 draws on two cores), the standard error or bound of
the integral, the largest difference of a mean in standard deviations and in Monte-Carlo standard
errors, and the referee's verdict. Run as ``python -m tests.benchmarks.bench_formulas``; ``--only``
takes a part of a table's name.
"""

import argparse
import logging
import time
import warnings

import pymc as pm

import bayesmodels as bm
from bayesmodels.command.formula import formula_model
from bayesmodels.input.tables import read_table
from tests.command.test_formulas_of_others import BACTERIA, CAKE, CLAIMS, ROWS, SEIZURES, TABLES

DRAWS = 10_000


def line(row):
    """Return what is known of a row."""
    given = dict(zip(*[iter(row.options.replace("--", "").split())] * 2, strict=True))
    model, _ = formula_model(read_table(TABLES / row.table), row.formula, row.family, **given)
    begun = time.perf_counter()
    posterior = bm.integrate(model, rng=1)
    ours = time.perf_counter() - begun
    with model:
        begun = time.perf_counter()
        tree = pm.sample(
            DRAWS,
            tune=2000,
            chains=4,
            cores=2,
            nuts_sampler="nutpie",
            nuts_sampler_kwargs={"target_accept": 0.99},
            progressbar=False,
            random_seed=1,
        )
        theirs = time.perf_counter() - begun
    verdict = bm.compare(posterior, tree, rng=1)
    table = verdict.table
    gap = (table["mean"] - table["sampled_mean"]).abs()
    off = (gap / table["sampled_sd"]).max()
    z = (gap / table["mcse_mean"]).max()
    return (
        f"{row.table:16}{ours:8.1f}{theirs:8.1f}{posterior.errors['log_evidence']:10.1g}"
        f"{off:8.4f}{z:6.1f}  {verdict.outcome} over {len(table)} numbers"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tables whose name contains this")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    print(f"{'':16}{'ours s':>8}{'NUTS s':>8}{'error':>10}{'sd':>8}{'se':>6}")
    for row in (*ROWS, CAKE, CLAIMS, SEIZURES, BACTERIA):
        if only in row.table:
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
