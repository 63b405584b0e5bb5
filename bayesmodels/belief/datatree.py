"""Draws with all groups that follow from them, in the form that ArviZ reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.protocol import Belief, Conjugate, Statistic
from bayesmodels.belief.reading import in_chains
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.data import weighted
from bayesmodels.input.labels import Coords
from bayesmodels.input.parameters import count, randomness

if TYPE_CHECKING:
    import xarray as xr

LARGEST_GROUP = 20_000_000
"""Groups with one number a draw and row are left out when they would hold more numbers."""


def to_datatree(
    self: Any,
    draws: int = 1000,
    chains: int = 4,
    rng: np.random.Generator | int | None = None,
    data: Any = None,
) -> xr.DataTree:
    """Return exact, independent draws as an ArviZ DataTree.

    Parameters
    ----------
    draws, chains : int
        Numbers of draws a chain and of chains. Chains differ in nothing: they let ArviZ treat
        exact draws and MCMC draws alike.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    data : rows, optional
        As in `update`: what was learnt from, or other rows, for what ArviZ computes of rows, such
        as `arviz.loo` and `arviz.plot_ppc_dist`.

    Returns
    -------
    xarray.DataTree
        The group ``posterior``, with names, dims and coords as in the PyMC model of `declare`.
        With data, ``posterior_predictive``, ``log_likelihood`` and ``observed_data``, too; the
        attribute ``omitted`` names groups that are left out, with the reason.

    See Also
    --------
    bayesmodels.exact_draws : the same with groups of the prior.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> tree = bm.BetaBernoulli(5, 19).to_datatree(draws=100, rng=np.random.default_rng(1))
    >>> dict(tree.posterior.sizes)
    {'chain': 4, 'draw': 100}
    >>> tree = bm.BetaBernoulli(5, 19).to_datatree(rng=1, data=[0, 0, 1, 0])
    >>> list(tree.children)
    ['posterior', 'observed_data', 'posterior_predictive', 'log_likelihood']
    """
    generator = randomness(rng)
    number, chains = count(draws, "draws", 1), count(chains, "chains", 1)
    posterior = in_chains(self, number, chains, generator)
    dims = {name: list(axes) for name, axes in self.dims.items()}
    groups, axes, omitted = {"posterior": posterior}, dict(self.coords), dict[str, str]()
    if data is not None:
        groups |= _groups_of_rows(self, data, posterior, generator, dims, axes, omitted)
    return _tree(groups, dims, axes, omitted)


def plot(self: Any, *, backend: str = "matplotlib", **options: Any) -> Any:
    """Draw the marginals with ArviZ, of exact, independent draws: the same ones each time.

    Parameters
    ----------
    backend : {"matplotlib", "bokeh", "plotly", "none"}, default "matplotlib"
        As ArviZ has it; the second and third need their packages.
    **options
        For `arviz_plots.plot_dist`, such as ``var_names``, ``kind``, ``ci_kind`` and ``ci_prob``.

    Returns
    -------
    arviz_plots.PlotCollection

    Examples
    --------
    >>> import bayesmodels as bm
    >>> pictures = bm.BetaBernoulli(5, 19).plot(ci_kind="hdi")
    >>> pictures.savefig("theta.png")  # doctest: +SKIP
    """
    import arviz_plots

    tree = self.to_datatree(rng=0)
    return arviz_plots.plot_dist(tree, backend=cast("Any", backend), **options)


def tree_of(
    prior: Belief,
    after: Belief,
    data: Any,
    posterior: dict[str, NDArray[Any]],
    stats: dict[str, NDArray[Any]],
    rng: np.random.Generator,
) -> xr.DataTree:
    """Return a tree of posterior draws, prior and predictive draws, log densities and data.

    Draws and statistics of the sampler have the axes (chain, draw, ...); `after` is any belief with
    the axes that the data give. From `rng` come prior and predictive draws.
    """
    chains, draws = next(iter(posterior.values())).shape[:2]
    groups: dict[str, dict[str, NDArray[Any]]] = {"posterior": posterior, "sample_stats": stats}
    dims = {name: list(axes) for name, axes in after.dims.items()}
    axes: Coords = dict(after.coords)
    dims |= {name: ["row"] for name in posterior if name not in dims}  # classes of the rows
    omitted = {}
    statistic = statistic_of(prior, data)
    try:
        labelled = with_data_axes(prior, data, statistic)
        groups["prior"] = in_chains(labelled, draws, chains, rng)
        density = np.asarray(labelled.log_density(posterior))
        groups["log_prior"] = {"joint": density.reshape(chains, draws, -1).sum(-1)}
    except PriorError as error:
        omitted["prior"] = str(error)
    groups |= _groups_of_rows(prior, data, posterior, rng, dims, axes, omitted)
    return _tree(groups, dims, axes, omitted)


def _tree(
    groups: dict[str, Any],
    dims: dict[str, list[str]],
    axes: Coords,
    omitted: dict[str, str],
) -> xr.DataTree:
    from arviz_base import from_dict

    coords = {axis: _labels(values) for axis, values in axes.items()}
    tree: xr.DataTree = from_dict(groups, dims=dims, coords=coords)
    if omitted:
        tree.attrs["omitted"] = "; ".join(f"{group}: {why}" for group, why in omitted.items())
    return tree


def _groups_of_rows(
    belief: Any,
    data: Any,
    posterior: dict[str, NDArray[Any]],
    rng: np.random.Generator,
    dims: dict[str, list[str]],
    axes: Coords,
    omitted: dict[str, str],
) -> dict[str, dict[str, NDArray[Any]]]:
    """Return what is observed, replicated and how likely it is; add axes, and what is left out."""
    why = _without_rows(belief, data)
    if why:
        omitted["observed_data"] = why
        return {}
    rows = belief.observed(data)
    groups = {"observed_data": {name: values for name, (values, _) in rows.items()}}
    for name, (_, labels) in rows.items():
        dims[name] = list(labels)
        axes |= labels
    size = sum(values.size for values, _ in rows.values())
    sets = int(np.prod(next(iter(posterior.values())).shape[:2]))
    if size * sets > LARGEST_GROUP:
        why = f"{size} rows times {sets} draws are more than {LARGEST_GROUP}"
        omitted["log_likelihood"] = omitted["posterior_predictive"] = why
        return groups
    groups["posterior_predictive"] = belief.replicate(posterior, data, rng)
    groups["log_likelihood"] = belief.log_likelihood(posterior, data)
    for name in groups["log_likelihood"]:  # of whole rows, if it is not of what is observed
        dims.setdefault(name, ["row"])
    return groups


def statistic_of(prior: Any, data: Any) -> Any:
    """Return the statistic of the data; None for a model whose data have none."""
    return prior.statistic(data) if isinstance(prior, Conjugate) else None


def with_data_axes(prior: Any, data: Any, statistic: Any) -> Belief:
    """Return the prior with the batch axes and labels of the data."""
    return prior.met(data) if statistic is None else prior.update(statistic.without_rows())


def _without_rows(prior: Any, data: Any) -> str:
    """Say why there are no rows to show; empty if there are."""
    if isinstance(data, Statistic):
        return "the data are a statistic, whose rows are gone"
    if weighted(data):
        return "the rows are weighted: no row stands for one observation"
    try:
        prior.observed(data)
    except DataError as error:  # a sparse table
        return str(error)
    return ""


def _labels(values: tuple[Any, ...]) -> NDArray[Any]:
    """Return labels of one kind, as netCDF wants them: all numbers, or all strings."""
    array = np.array(values)
    if array.dtype.kind in "biuf":
        return array
    return np.array([str(value) for value in values])
