"""Draws with all groups that follow from them, in the form that ArviZ reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.protocol import Belief, Conjugate
from bayesmodels.belief.reading import in_chains
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.data import weighted
from bayesmodels.input.labels import Coords

if TYPE_CHECKING:
    import xarray as xr

LARGEST_GROUP = 20_000_000
"""Groups with one number a draw and row are left out when they would hold more numbers."""


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
    from arviz_base import from_dict

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
    why = _without_rows(prior, data, statistic)
    if why:
        omitted["observed_data"] = why
    else:
        rows = prior.observed(data)
        groups["observed_data"] = {name: values for name, (values, _) in rows.items()}
        for name, (_, labels) in rows.items():
            dims[name] = list(labels)
            axes = {**axes, **labels}
        size = sum(values.size for values, _ in rows.values())
        if size * chains * draws <= LARGEST_GROUP:
            groups["posterior_predictive"] = prior.replicate(posterior, data, rng)
            groups["log_likelihood"] = prior.log_likelihood(posterior, data)
            for name in groups["log_likelihood"]:  # of whole rows, if it is not of what is observed
                dims.setdefault(name, ["row"])
        else:
            omitted["log_likelihood"] = omitted["posterior_predictive"] = (
                f"{size} rows times {chains * draws} draws are more than {LARGEST_GROUP}"
            )
    tree = from_dict(
        cast("dict[Any, Any]", groups),
        dims=dims,
        coords={axis: _labels(values) for axis, values in axes.items()},
    )
    if omitted:
        tree.attrs["omitted"] = "; ".join(f"{group}: {why}" for group, why in omitted.items())
    return tree


def statistic_of(prior: Any, data: Any) -> Any:
    """Return the statistic of the data; None for a model whose data have none."""
    return prior.statistic(data) if isinstance(prior, Conjugate) else None


def with_data_axes(prior: Any, data: Any, statistic: Any) -> Belief:
    """Return the prior with the batch axes and labels of the data."""
    return prior.met(data) if statistic is None else prior.update(statistic.without_rows())


def _without_rows(prior: Any, data: Any, statistic: Any) -> str:
    """Say why there are no rows to show; empty if there are."""
    if statistic is not None and data is statistic:
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
