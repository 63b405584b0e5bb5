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


# What is asked of a tree, by the names that the functions have in ArviZ.
STATISTICS = {
    "bayes_factor": lambda tree: az.bayes_factor(tree, ["w"]),
    "ci_in_rope": lambda tree: az.ci_in_rope(tree, (-1, 1)),
    "compare": lambda tree: az.compare({"one": tree, "other": tree})[["elpd", "se"]],
    "convert_to_dataset": az.convert_to_dataset,
    "convert_to_datatree": az.convert_to_datatree,
    "dataset_to_dataarray": lambda tree: az.dataset_to_dataarray(tree.posterior.to_dataset()),
    "dataset_to_dataframe": lambda tree: az.dataset_to_dataframe(tree.posterior.to_dataset()),
    "diagnose": partial(az.diagnose, show_diagnostics=False),
    "ess": az.ess,
    "eti": az.eti,
    "extract": az.extract,
    "get_log_likelihood": az.get_log_likelihood,
    "hdi": az.hdi,
    "histogram": az.histogram,
    "iqr": az.iqr,
    "kde": az.kde,
    "kl_divergence": lambda tree: az.kl_divergence(tree, tree),
    "loo": lambda tree: az.loo(tree).elpd_i,
    "loo_expectations": lambda tree: az.loo_expectations(tree)[0],
    "loo_i": lambda tree: az.loo_i("row 3", tree).elpd,
    "loo_influence": lambda tree: az.loo_influence(tree)[0],
    "loo_metrics": az.loo_metrics,
    "loo_pit": az.loo_pit,
    "loo_r2": lambda tree: az.loo_r2(tree, "y"),
    "loo_score": az.loo_score,
    "loo_subsample": lambda tree: az.loo_subsample(tree, observations=10).elpd,
    "mad": az.mad,
    "mcse": az.mcse,
    "mean": az.mean,
    "median": az.median,
    "metrics": az.metrics,
    "mode": az.mode,
    "psense": az.psense,
    "psense_summary": lambda tree: az.psense_summary(tree)[["prior", "likelihood"]],
    "qds": az.qds,
    "rhat": az.rhat,
    "rhat_nested": partial(az.rhat_nested, superchain_ids=[0, 0, 1, 1]),
    "std": az.std,
    "summary": partial(az.summary, round_to="none"),
    "thin": az.thin,
    "var": az.var,
    "weight_predictions": lambda tree: az.weight_predictions([tree, tree], [0.3, 0.7]),
}
OF_SAMPLERS = {
    "bfmi": lambda tree: az.bfmi(tree).to_dataset(),
    "plot_energy": az.plot_energy,
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
    "plot_forest": az.plot_forest,
    "plot_loo_pit": az.plot_loo_pit,
    "plot_ppc_dist": partial(az.plot_ppc_dist, num_samples=10),
    "plot_rank": az.plot_rank,
    "plot_trace": az.plot_trace,
}
MORE_PLOTS = {
    "combine_plots": partial(
        az.combine_plots, plots=[(az.plot_dist, {}), (az.plot_trace, {})], var_names=["sigma2"]
    ),
    "plot_autocorr": az.plot_autocorr,
    "plot_bf": partial(az.plot_bf, var_names=["sigma2"], ref_val=1),
    "plot_compare": lambda tree: az.plot_compare(az.compare({"one": tree, "other": tree})),
    "plot_convergence_dist": az.plot_convergence_dist,
    "plot_dgof": az.plot_dgof,
    "plot_dgof_dist": az.plot_dgof_dist,
    "plot_ess": az.plot_ess,
    "plot_ess_evolution": az.plot_ess_evolution,
    "plot_khat": lambda tree: az.plot_khat(az.loo(tree, pointwise=True)),
    "plot_loo_interval": az.plot_loo_interval,
    "plot_mcse": az.plot_mcse,
    "plot_pair": az.plot_pair,
    "plot_pair_focus": partial(az.plot_pair_focus, focus_var="sigma2"),
    "plot_parallel": az.plot_parallel,
    "plot_ppc_dist_pit": az.plot_ppc_dist_pit,
    "plot_ppc_interval": az.plot_ppc_interval,
    "plot_ppc_pit": az.plot_ppc_pit,
    "plot_ppc_tstat": az.plot_ppc_tstat,
    "plot_prior_posterior": az.plot_prior_posterior,
    "plot_psense_dist": az.plot_psense_dist,
    "plot_psense_quantities": az.plot_psense_quantities,
    "plot_rank_dist": az.plot_rank_dist,
    "plot_ridge": az.plot_ridge,
    "plot_trace_dist": az.plot_trace_dist,
}
SLOW = {**MORE_PLOTS, **OF_SAMPLERS}
FUNCTIONS = {**STATISTICS, **FILES, **PLOTS, **SLOW}


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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else [])
        for n in FUNCTIONS
        if n not in OF_SAMPLERS
    ],
)
def test_a_function_of_arviz_takes_the_tree(name, tree, tmp_path):
    asked(name, tree, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SAMPLERS)
@pytest.mark.parametrize("tree", ["sampled"], indirect=True)
def test_a_function_of_energies_takes_the_sampled_tree(name, tree, tmp_path):
    asked(name, tree, tmp_path)


def asked(name, tree, tmp_path):
    found = FUNCTIONS[name](tree, tmp_path) if name in FILES else FUNCTIONS[name](tree)
    if name.startswith("plot_") or name == "combine_plots":
        assert isinstance(found, az.PlotCollection | az.PlotMatrix)
        return
    numbers = all_numbers(found)
    assert numbers
    assert np.isfinite(numbers).all()


def test_at_least_thirty_public_functions_are_asked():
    assert all(name in dir(az) for name in FUNCTIONS)
    assert len(set(FUNCTIONS) - set(OF_SAMPLERS)) >= 30
    named = (
        "summary plot_dist plot_forest plot_pair plot_rank plot_ecdf_pit plot_ppc_dist loo compare "
        "psense hdi ess rhat from_netcdf from_zarr"
    )
    assert set(named.split()) <= set(FUNCTIONS)


def test_whole_numbers_have_pictures_of_their_own():
    data = bm.BinomialCounts([3, 0, 8, 2, 5], [20, 9, 9, 12, 30])
    counts = bm.exact_draws(bm.BetaBernoulli(1, 1), data, draws=100, rng=np.random.default_rng(2))
    assert isinstance(az.plot_ppc_rootogram(counts), az.PlotCollection)
    bits = bm.exact_draws(
        bm.BetaBernoulli(1, 1), [1, 0] * 10, draws=100, rng=np.random.default_rng(3)
    )
    assert isinstance(az.plot_ppc_pava(bits), az.PlotCollection)
