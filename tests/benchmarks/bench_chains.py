"""Long chains by `bm.exact` and `bm.integrate`, beside recursions written for them.

A hidden Markov chain of three states against forward and backward in a loop of NumPy's, a local
level against the Kalman smoother of statsmodels, each of 10⁴ and 10⁵ steps: seconds of both (a
model built afresh, with compiling; imports not counted), their ratio, and the largest differences.
And a local level of unknown variances, whose two standard deviations are integrated over.
Run as ``python -m tests.benchmarks.bench_chains`` (about two minutes).
"""

import time

import numpy as np
import pymc as pm
import statsmodels.api as sm

import bayesmodels as bm
from tests.posteriors.test_finite_chains import MEANS, MOVES, built, chain, rows, smoothed

SIZES = 10_000, 100_000


def levels(n):
    rng = np.random.default_rng(1)
    return np.cumsum(rng.normal(0, 0.5, n)) + rng.normal(size=n)


def local_level(y, walk=0.5, noise=1.0):
    level = pm.GaussianRandomWalk(
        "level", sigma=walk, init_dist=pm.Normal.dist(0, 10), steps=len(y) - 1
    )
    pm.Normal("y", level, noise, observed=y)


def unknown(y):
    local_level(y, pm.HalfNormal("walk", 2), pm.HalfNormal("noise", 2))


def timed(run, *given):
    begin = time.perf_counter()
    found = run(*given)
    return found, time.perf_counter() - begin


def kalman(y):
    """Return log evidence, means and standard deviations of the local level."""
    model = sm.tsa.UnobservedComponents(y, level="local level")
    model.ssm.initialize_known(np.zeros(1), np.array([[100.0]]))
    model.loglikelihood_burn = 0
    found = model.smooth([1.0, 0.25])
    return found.llf, found.smoothed_state[0], np.sqrt(found.smoothed_state_cov[0, 0])


def line(name, n, ours, theirs, *gaps):
    far = "  ".join(f"{gap:.1e}" for gap in gaps)
    print(
        f"{name:22}{n:8,} steps {ours:7.2f} s  recursion {theirs:6.2f} s  ratio "
        f"{ours / theirs:5.1f}  off by {far}",
        flush=True,
    )


def main():
    """Print the table."""
    for n in SIZES:
        y = rows(n)
        found, ours = timed(bm.exact, built(chain, y))
        (total, probabilities), theirs = timed(smoothed, y, MOVES, MEANS)
        seen = found.parameters()["state"]["probability"]
        evidence = abs(found.log_evidence / total - 1)
        line("hidden Markov chain", n, ours, theirs, evidence, np.abs(seen - probabilities).max())
    for n in SIZES:
        y = levels(n)
        found, ours = timed(bm.exact, built(local_level, y))
        (total, mean, sd), theirs = timed(kalman, y)
        gaps = np.abs(found.mean()["level"] - mean), np.abs(np.sqrt(found.var()["level"]) - sd)
        line(
            "local level", n, ours, theirs, abs(found.log_evidence / total - 1), *map(np.max, gaps)
        )
    for name, y in (("Nile", sm.datasets.nile.load().data["volume"] / 100), ("", levels(10_000))):
        found, took = timed(bm.integrate, built(unknown, np.asarray(y)))
        print(f"unknown variances {name:6}{len(y):6,} steps {took:7.2f} s  {found.points:,} points")


if __name__ == "__main__":
    bm.exact, bm.integrate  # noqa: B018 - imported before anything is timed
    main()
