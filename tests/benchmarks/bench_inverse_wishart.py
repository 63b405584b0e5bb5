"""NUTS on a covariance matrix with an inverse-Wishart prior, declared in three ways.

``ours`` is `NormalInverseWishart.declare`; ``Bartlett`` writes the precision by chi-squares,
normals and the Cholesky factor of the prior's scale; ``Wishart`` is PyMC's own on the precision.
All have the posterior of the same rows, the first D columns of the wine data, standardised. Run as
``python tests/benchmarks/bench_inverse_wishart.py``; a table goes to standard output.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from arviz_stats import ess, rhat
from pymc import Model

import bayesmodels as bm


def prior_of(width: int) -> bm.NormalInverseWishart:
    """Return the prior that all declarations share."""
    return bm.NormalInverseWishart(np.zeros(width), 1, width + 2, np.eye(width))


def ours(x: np.ndarray) -> Model:
    """Declare the model as the package does."""
    return prior_of(x.shape[1]).declare(x)


def bartlett(x: np.ndarray) -> Model:
    """Write the precision as C T T' C', C C' the inverse scale and T of chi-squares and normals."""
    width = x.shape[1]
    prior = prior_of(width)
    with pm.Model() as model:
        square = pm.ChiSquared("square", float(prior.df) - np.arange(width))
        below = pm.Normal("below", shape=width * (width - 1) // 2)
        root = pt.set_subtensor(pt.diag(pt.sqrt(square))[np.tril_indices(width, -1)], below)
        root = pt.linalg.cholesky(pt.as_tensor(np.linalg.inv(prior.scale))) @ root
        finish(root @ root.T, prior, x)
    return model


def wishart(x: np.ndarray) -> Model:
    """Let PyMC's Wishart be the prior of the precision."""
    width = x.shape[1]
    prior = prior_of(width)
    with pm.Model() as model:
        start = np.eye(width) * width
        scale = np.linalg.inv(prior.scale)
        finish(pm.Wishart("precision", float(prior.df), scale, initval=start), prior, x)
    return model


def finish(precision: object, prior: bm.NormalInverseWishart, x: np.ndarray) -> None:
    """Add Sigma, mu and the rows."""
    pm.Deterministic("Sigma", pt.linalg.inv(precision))
    mu = pm.MvNormal("mu", prior.location, tau=precision * prior.kappa)
    pm.MvNormal("x", mu, tau=precision, observed=x)


def measure(declare: Callable[[np.ndarray], Model], x: np.ndarray) -> str:
    """Return one cell block of the table: seconds, ESS a second, R-hat and divergences."""
    try:
        with declare(x):
            start = time.perf_counter()
            tree = pm.sample(500, tune=500, chains=2, cores=1, random_seed=1, progressbar=False)
            seconds = time.perf_counter() - start
    except (ValueError, RuntimeError, pm.exceptions.SamplingError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:50]}"
    sampling = sum(float(t) for t in np.ravel(tree.posterior.attrs.get("sampling_time", 0)))
    sigma = np.moveaxis(np.asarray(tree.posterior["Sigma"]), (0, 1), (-2, -1))
    at = np.tril_indices(x.shape[1])
    least = min(float(ess(sigma[i, j])) for i, j in zip(*at, strict=True))
    mixed = max(float(rhat(sigma[i, j])) for i, j in zip(*at, strict=True))
    diverging = int(np.asarray(tree.sample_stats["diverging"]).sum())
    rate = least / (sampling or seconds)
    return f"{seconds:8.1f}{sampling:9.1f}{least:9.0f}{rate:9.1f}{mixed:8.3f}{diverging:6d}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[2, 4, 8, 13])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    wine = bm.datasets.load("wine").drop(columns="cultivar").to_numpy(float)
    wine = (wine - wine.mean(0)) / wine.std(0)
    print(
        f"{'D':>3}  {'':10}{'total s':>8}{'sampl. s':>9}{'min ESS':>9}{'ESS/s':>9}{'R-hat':>8} div."
    )
    for width in given.widths:
        for declare in (ours, bartlett, wishart):
            row = measure(declare, wine[:, :width])
            print(f"{width:3}  {declare.__name__:10}{row}", flush=True)


if __name__ == "__main__":
    main()
