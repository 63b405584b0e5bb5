"""Time the mode of a logistic regression against scikit-learn's solvers.

Both get the same arrays, checks included, and the same penalty, stated before; all take turns in
random order, as it counts what the one before leaves in the cache, and the least processor time of
each counts. How near the mode a solver came is the length of the gradient. Run as
``OMP_NUM_THREADS=1 python tests/benchmarks/bench_logistic.py``.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import bayesmodels as bm

COLUMNS = 10
SOLVERS = (("lbfgs", 1e-8), ("newton-cholesky", 1e-8), ("newton-cholesky", 1e-10))
Mode = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ours() -> Mode:
    """Return the mode under a standard normal prior."""
    prior = bm.LogisticRegression(np.zeros(COLUMNS), 1.0)
    return lambda x, y: prior.map((x, y)).w


def theirs(solver: str, tolerance: float) -> Mode:
    """Return the same of scikit-learn."""
    model = LogisticRegression(
        C=1.0, fit_intercept=False, solver=solver, tol=tolerance, max_iter=1000
    )
    return lambda x, y: model.fit(x, y).coef_[0]


def main() -> None:
    """Print least times, gradients, and ratios of ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda n: int(float(n)), nargs="+", default=[10**4, 10**6])
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    jobs: dict[str, Mode] = {"ours": ours()}
    jobs |= {f"{name} {tol:g}": theirs(name, tol) for name, tol in SOLVERS}
    print(f"{'rows':>9}  {'solver':24}{'ms':>10}{'gradient':>10}{'ours of it':>12}")
    for rows in given.rows:
        rng = np.random.default_rng(1)
        x = rng.standard_normal((rows, COLUMNS)) + 0.3 * rng.integers(0, 3, (rows, 1))
        y = (x.sum(1) + rng.standard_normal(rows) > 1).astype(np.int8)
        modes = {name: job(x, y) for name, job in jobs.items()}
        least = dict.fromkeys(jobs, np.inf)
        for _ in range(given.rounds):
            for name in rng.permutation(list(jobs)):
                start = time.process_time()
                jobs[name](x, y)
                least[name] = min(least[name], time.process_time() - start)
        for name, w in modes.items():
            slope = np.linalg.norm(x.T @ (y - expit(x @ w)) - w)
            ratio = "" if name == "ours" else f"{least['ours'] / least[name]:12.2f}"
            print(f"{rows:9}  {name:24}{1e3 * least[name]:10.1f}{slope:10.0e}{ratio}", flush=True)


if __name__ == "__main__":
    main()
