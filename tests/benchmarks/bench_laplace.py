"""How far Laplace's approximation is from the posterior of a logistic regression, on three sets.

``spector``   32 students, three columns: whether the grade improved (Spector and Mazzeo, 1980)
``party``     944 voters, three columns: whom they mean to vote for (ANES 1996)
``wine``      178 wines, two columns, three classes

Columns are standardised, weights are normal a priori with standard deviation 5, and PyMC's NUTS
draws 4 x 5000 times. Errors are in standard deviations of the posterior, as sampled.

Run as ``python tests/benchmarks/bench_laplace.py``; the numbers are in ``docs/logistic.md``.
"""

import numpy as np
import pandas as pd
import pymc as pm
from statsmodels.datasets import spector

import bayesmodels as bm
from bayesmodels.report.approximation import errors_of

DRAWS = 5000


def design(frame: pd.DataFrame, target: str, columns: list[str]) -> bm.Design:
    """Return standardised columns behind an intercept."""
    X = frame[columns].astype(float)
    return bm.Design((X - X.mean()) / X.std(), frame[target], intercept=True)


def problems() -> dict[str, tuple[bm.LogisticRegression, bm.Design]]:
    """Return the priors and data."""
    grades = spector.load_pandas().data
    voters = bm.datasets.load("party")
    voters = voters.assign(left=-voters["party"].cat.codes)
    wines = bm.datasets.load("wine")
    sets = {
        "spector": (grades.astype({"GRADE": int}), "GRADE", ["GPA", "TUCE", "PSI"]),
        "party": (voters, "vote", ["left", "age", "education"]),
        "wine": (wines, str(wines.columns[-1]), ["alcohol", "flavanoids"]),
    }
    found = {}
    for name, (frame, target, columns) in sets.items():
        classes = sorted(set(frame[target]))
        prior = bm.LogisticRegression(np.zeros(len(columns) + 1), 25, classes=classes)
        found[name] = prior, design(frame, target, columns)
    return found


def errors(name: str, draws: int = DRAWS, seed: int = 1) -> pd.DataFrame:
    """Return how far Laplace's approximation is off, for one of the sets."""
    prior, data = problems()[name]
    with prior.declare(data):
        tree = pm.sample(
            draws, chains=4, random_seed=seed, progressbar=False, quiet=True, target_accept=0.9
        )
    return errors_of(bm.compare(prior.laplace(data), tree).table)


if __name__ == "__main__":
    for name in problems():
        table = errors(name)
        print(f"\n{name}: r_hat at most {table['r_hat'].max():.3f}, ess {table['ess'].min():.0f}")
        print(table.drop(columns=["ess", "r_hat"]).round(3).to_string())
