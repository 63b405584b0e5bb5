"""ArviZ's public functions read the project's trees, of exact and of sampled draws, as they are."""

from collections.abc import Mapping
from functools import partial

import arviz as az
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesmodels as bm

# Normal rows without outliers: importance sampling then does without warnings.
_RNG = np.random.default_rng(20260701)
_FRAME = pd.DataFrame(
    _RNG.uniform(-1, 1, (50, 2)), columns=["age", "dose"], index=[f"row {i}" for i in range(50)]
)
_NOISE = _RNG.permutation(stats.norm.ppf((np.arange(50) + 0.5) / 50))
PRIOR = bm.LinearRegression(0, 0.1, 2, 2, features=["intercept", "age", "dose"])
ROWS = bm.Design(_FRAME, 1 + _FRAME["age"] - _FRAME["dose"] + _NOISE, intercept=True)


def there_and_back(write, read, tree, path):
    """Write a tree by a method of its own and read it by one of ArviZ's."""
    write(tree, path / "draws")
    again = read(path / "draws")
    assert set(again.children) == set(tree.children)
    for group in tree.children:
        xr.testing.assert_equal(again[group].to_dataset(), tree[group].to_dataset())
    return again


def transformed(tree):
    """Return draws of sigma2 as the exact law sees them, which is uniformly."""
    pit = PRIOR.update(ROWS).marginals()["sigma2"].cdf(tree.posterior["sigma2"])
    return xr.DataTree.from_dict({"pit": xr.Dataset({"sigma2": (("chain", "draw"), pit)})})


# What is asked of a tree, by names of ArviZ: of each of its groups something.
NUMBERS = {
    "bayes_factor": lambda tree: az.bayes_factor(tree, ["w"]),
    "compare": lambda tree: az.compare({"one": tree, "other": tree})[["elpd", "se"]],
    "ess": az.ess,
    "loo_i": lambda tree: az.loo_i("row 3", tree).elpd,
    "loo_pit": az.loo_pit,
    "loo_r2": lambda tree: az.loo_r2(tree, "y"),
    "psense_summary": lambda tree: az.psense_summary(tree)[["prior", "likelihood"]],
    "rhat": az.rhat,
    "summary": partial(az.summary, round_to="none"),
}
FILES = {
    "from_netcdf": partial(there_and_back, xr.DataTree.to_netcdf, az.from_netcdf),
    "from_zarr": partial(
        there_and_back,
        partial(xr.DataTree.to_zarr, consolidated=False),  # not part of the zarr 3 format
        partial(az.from_zarr, consolidated=False),
    ),
}
PLOTS = {
    "plot_dist": az.plot_dist,
    "plot_ecdf_pit": lambda tree: az.plot_ecdf_pit(transformed(tree), group="pit"),
    "plot_ppc_dist": partial(az.plot_ppc_dist, num_samples=10),
    "plot_prior_posterior": az.plot_prior_posterior,
    "plot_psense_dist": az.plot_psense_dist,
    "plot_rank": az.plot_rank,
}
FUNCTIONS = {**NUMBERS, **FILES, **PLOTS}


@pytest.fixture(scope="module", params=["exact", pytest.param("sampled", marks=pytest.mark.slow)])
def tree(request):
    """Return draws, exact or of PyMC's sampler, with all groups."""
    rng = np.random.default_rng(1)
    if request.param == "exact":
        return bm.exact_draws(PRIOR, ROWS, draws=200, rng=rng)
    return bm.mcmc_draws(PRIOR, ROWS, draws=200, tune=500, rng=rng)


@pytest.fixture(autouse=True)
def closed():
    """Draw without a window, and leave no figure open."""
    from matplotlib import pyplot as plt

    with mpl.rc_context():
        plt.switch_backend("Agg")
        yield
        plt.close("all")


def all_numbers(found):
    """Return every number of what a function returned."""
    if isinstance(found, xr.DataTree):
        groups = [
            part for part in found.subtree if part.name != "sample_stats"
        ]  # the sampler's own
        return [x for part in groups for x in all_numbers(part.to_dataset())]
    if isinstance(found, xr.Dataset):
        return [x for values in found.data_vars.values() for x in np.ravel(values)]
    if isinstance(found, pd.DataFrame):
        return [*found.select_dtypes("number").to_numpy(dtype=float).flat]
    if isinstance(found, Mapping):
        return [x for part in found.values() for x in all_numbers(part)]
    return list(np.ravel(np.asarray(found, dtype=float)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_arviz_takes_the_tree(name, tree, tmp_path):
    found = FUNCTIONS[name](tree, tmp_path) if name in FILES else FUNCTIONS[name](tree)
    if name in PLOTS:
        assert isinstance(found, az.PlotCollection | az.PlotMatrix)
        return
    numbers = all_numbers(found)
    assert numbers
    assert np.isfinite(numbers).all()


@pytest.mark.slow
def test_energies_of_the_sampler_are_read():
    tree = bm.mcmc_draws(PRIOR, ROWS, draws=200, tune=500, rng=np.random.default_rng(1))
    assert np.isfinite(az.bfmi(tree).to_dataset().to_dataarray()).all()


def test_whole_numbers_have_pictures_of_their_own():
    data = bm.BinomialCounts([3, 0, 8, 2, 5], [20, 9, 9, 12, 30])
    counts = bm.exact_draws(bm.BetaBernoulli(1, 1), data, draws=100, rng=np.random.default_rng(2))
    assert isinstance(az.plot_ppc_rootogram(counts), az.PlotCollection)
    bits = bm.exact_draws(
        bm.BetaBernoulli(1, 1), [1, 0] * 10, draws=100, rng=np.random.default_rng(3)
    )
    assert isinstance(az.plot_ppc_pava(bits), az.PlotCollection)
