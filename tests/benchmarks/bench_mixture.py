"""Time EM of latent classes against StepMix, and compare the best log likelihoods.

Both get the same rows of 0 and 1 (or of categories) and the same number of random starts, to the
same tolerance (1e-10 a row); ours is ``model.em(rows)``, checks of the data included. What counts
is the mean time of one start. They run in turn in one process.
Run as ``python tests/benchmarks/bench_mixture.py``; needs the package `stepmix`.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from stepmix.stepmix import StepMix

import bayesmodels as bm

CLASSES = 3


def latent_classes(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Return rows of 0 and 1 of three classes."""
    theta = rng.beta(1, 1, (CLASSES, columns))
    z = rng.choice(CLASSES, size=rows, p=[0.5, 0.3, 0.2])
    return (rng.random((rows, columns)) < theta[z]).astype(int)


def election() -> Any:
    """Return six categorical answers of 944 people, of the 1996 American election study."""
    import statsmodels.api as sm

    table = sm.datasets.anes96.load_pandas().data
    names = ["selfLR", "ClinLR", "DoleLR", "PID", "educ", "vote"]
    return table[names].apply(lambda x: pd.factorize(x, sort=True)[0]).astype(int)


def compare(name: str, x: Any, family: str, starts: int, bar: float, pairs: int) -> None:
    """Print mean times of one start and the best log likelihoods a row of both."""
    one = bm.DirichletCategorical(np.ones(CLASSES))
    features: Any = bm.BetaBernoulli(1, 1)
    if family == "categorical":
        features = {c: bm.DirichletCategorical(np.ones(int(x[c].max()) + 1)) for c in x}
    model = bm.NaiveBayesMixture(one, features)
    ratios, mine, other = [], [], []
    for _ in range(pairs):
        begin = time.perf_counter()
        ours = model.em(x, starts=starts, rng=1)
        middle = time.perf_counter()
        theirs = StepMix(
            n_components=CLASSES,
            measurement=family,
            n_init=starts,
            random_state=1,
            max_iter=5000,
            progress_bar=0,
            verbose=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.fit(x)
        end = time.perf_counter()
        mine.append((middle - begin) / starts)
        other.append((end - middle) / starts)
        ratios.append(mine[-1] / other[-1])
    gain = ours.log_likelihood / ours.number_of_rows - float(theirs.score(x))
    ratio = float(np.median(ratios))
    missed = "" if ratio <= bar and gain >= -1e-6 else "  missed"
    print(
        f"{name:28}{np.median(mine):9.4f}{np.median(other):10.4f}{ratio:8.3f}{bar:7.2f}"
        f"{gain:13.1e}{ours.optima[0].found:5d} of {starts}{missed}",
        flush=True,
    )


def main() -> None:
    """Run the pairs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3, help="pairs of runs")
    parser.add_argument("--large", type=int, default=1_000_000, help="rows of the large table")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{'':28}{'ours s':>9}{'theirs s':>10}{'ratio':>8}{'bar':>7}{'gain a row':>13}  found")
    compare("1e4 x 10 bits", latent_classes(10_000, 10, rng), "bernoulli", 20, 0.3, given.pairs)
    compare("election, 944 x 6", election(), "categorical", 50, 1.0, given.pairs)
    name = f"{given.large:.0e} x 10 bits".replace("e+0", "e")
    compare(name, latent_classes(given.large, 10, rng), "bernoulli", 3, 0.05, 1)


if __name__ == "__main__":
    main()
