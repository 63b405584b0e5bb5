"""Exact and MCMC draws as DataTrees that look the same to ArviZ.

Groups: ``posterior``, ``posterior_predictive``, ``prior``, ``observed_data``, ``log_likelihood``
(a value for each row), ``log_prior`` (of all variables together) and ``sample_stats``; variables,
dims and coords as in the PyMC model.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesmodels.belief.datatree import statistic_of, tree_of, with_data_axes
from bayesmodels.belief.protocol import Belief, Likelihood
from bayesmodels.belief.reading import in_chains, levels
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.parameters import count, randomness
from bayesmodels.numerics.processes import all_or_nothing, same_rounding
from bayesmodels.store.files import atomic_write

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


_LOW_RANK: dict[str, Any] = {"nuts_sampler": "nutpie", "nuts": {"adaptation": "low_rank"}}
_MOST_CORRELATED = 50  # scalars; nutpie takes the cube of their number to learn correlations
_MOST_STEPS = 49  # of a nominal variable in one draw; they take about 5 ms


def exact_draws(
    prior: Belief,
    data: Any,
    *,
    draws: int = 1000,
    chains: int = 4,
    rng: np.random.Generator | int | None = None,
) -> xr.DataTree:
    """Return independent draws from the exact posterior, with all groups that ArviZ reads.

    Parameters
    ----------
    prior : Belief
        The prior.
    data : rows or statistic
        As in the model's `statistic`. A statistic has no rows, hence no predictive groups.
    draws, chains : int
        Numbers of draws a chain and of chains.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    xarray.DataTree
        ``sample_stats`` holds ``lp``, the exact posterior log density. The attribute
        ``omitted`` of the root names groups left out, with the reason.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> tree = bm.exact_draws(
    ...     bm.BetaBernoulli(1, 1), [1, 0, 1], draws=50, rng=np.random.default_rng(1)
    ... )
    >>> sorted(tree.children)  # doctest: +NORMALIZE_WHITESPACE
    ['log_likelihood', 'log_prior', 'observed_data', 'posterior', 'posterior_predictive',
     'prior', 'sample_stats']
    """
    rng = randomness(rng)
    draws, chains = count(draws, "draws", 1), count(chains, "chains", 1)
    after = prior.update(data)
    posterior = in_chains(after, draws, chains, rng)
    lp = np.asarray(after.log_density(posterior))
    stats = {"lp": lp.reshape(chains, draws, -1).sum(-1)}
    return tree_of(prior, after, data, posterior, stats, rng)


def mcmc_draws(
    prior: Any,
    data: Any,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    likelihood: Likelihood | None = None,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> xr.DataTree:
    """Return draws of PyMC's sampler from the model's declaration.

    Parameters
    ----------
    prior : Belief or LogisticRegression
        The prior, which declares the PyMC model.
    data : rows or statistic
        As in the model's `declare`.
    draws, tune, chains : int
        Numbers of draws and of discarded tuning steps a chain, and of chains.
    likelihood : {"rows", "statistic"}, optional
        How the data are declared, as in `declare`: by default their statistic if there are more
        than 10,000 rows. The posterior is the same, and so are the groups.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    progress : bool, default False
        Show PyMC's progress bar.

    Returns
    -------
    xarray.DataTree
        The groups of `exact_draws`; ``sample_stats`` are the sampler's own.

    Raises
    ------
    PriorError
        If data are all but impossible near the prior's mean, so that no chain can start.

    See Also
    --------
    exact_draws : the same without a sampler.

    Notes
    -----
    nutpie draws, PyMC's own sampler where a variable is nominal. Of up to 50 scalars nutpie learns
    correlations (its ``adaptation="low_rank"``), of more it learns scales.
    """
    import pymc as pm

    rng = randomness(rng)
    model = prior.declare(data, likelihood)
    # Transforms keep continuous parameters in range; the checks take seconds to compile.
    model.check_bounds = bool(levels(prior))
    # Only names and axes: a posterior may be more than can be had in closed form.
    after = with_data_axes(prior, data, statistic_of(prior, data))
    scalars = sum(prod(len(after.coords[axis]) for axis in axes) for axes in after.dims.values())
    learns_correlations = not levels(prior) and scalars <= _MOST_CORRELATED
    with model, all_or_nothing(), same_rounding(), _speaking_of_starts():
        sampled = pm.sample(
            draws=count(draws, "draws", 1),
            tune=count(tune, "tune"),
            chains=count(chains, "chains", 1),
            step=_steps(prior, model),
            initvals=_start(prior, data),
            random_seed=int(rng.integers(2**31)),
            progressbar=progress,
            quiet=not progress,
            compute_convergence_checks=False,
            **(_LOW_RANK if learns_correlations else {}),
        )
    posterior = {name: sampled.posterior[name].to_numpy() for name in after.dims}
    stats = {
        str(name): values.to_numpy()
        for name, values in sampled.sample_stats.data_vars.items()
        if values.dims == ("chain", "draw") and values.dtype.kind in "biuf"
    }
    return tree_of(prior, after, data, posterior, stats, rng)


def save(tree: xr.DataTree, path: str | os.PathLike[str]) -> None:
    """Write draws to netCDF (``.nc``) or zarr (``.zarr``), whole or not at all.

    Parameters
    ----------
    tree : xarray.DataTree
        Draws.
    path : path-like
        Ends in ``.nc`` or ``.zarr``.

    Raises
    ------
    DataError
        If the path ends otherwise or cannot be written to.

    Examples
    --------
    >>> import tempfile, bayesmodels as bm
    >>> from bayesmodels.draws import load, save
    >>> tree = bm.BetaBernoulli(1, 1).to_datatree(draws=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tree, f"{folder}/draws.nc")
    ...     dict(load(f"{folder}/draws.nc").posterior.sizes)
    {'chain': 4, 'draw': 10}
    """
    kind = _kind(path)
    size = sum(node.dataset.nbytes for node in tree.subtree)
    with atomic_write(path) as part:
        if size > shutil.disk_usage(part.parent).free:  # HDF5 may end the process when it finds out
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if kind == ".zarr":
            tree.to_zarr(part, consolidated=False)  # not part of the zarr 3 format
        else:
            tree.to_netcdf(part, engine="h5netcdf")


def load(path: str | os.PathLike[str], groups: Sequence[str] | None = None) -> xr.DataTree:
    """Read draws written by `save`, by ArviZ or by another library, into memory.

    A folder is read as zarr, a file as netCDF-4, whatever their names end in. Trees and the older
    InferenceData have the same layout there.

    Parameters
    ----------
    path : path-like
        File or folder.
    groups : sequence of str, optional
        Groups to be read, of those that there are; all if not given.

    Returns
    -------
    xarray.DataTree
        What the file holds; what lies in no group, such as a saved dataset, at its root.

    Raises
    ------
    DataError
        If there is nothing at the path, or it can't be read.
    """
    import xarray as xr

    where = Path(path)
    if not where.exists():
        raise DataError(f"path: there is no file {str(path)!r}.")
    kind, options = (
        ("zarr", {"engine": "zarr", "consolidated": False})
        if where.is_dir()
        else ("netCDF-4", {"engine": "h5netcdf", "phony_dims": "access"})
    )
    try:
        with xr.open_datatree(path, **cast("Any", options)) as tree:
            if groups is None:
                return tree.load()
            chosen = {name: tree[name].load() for name in groups if name in tree.children}
            root = tree.to_dataset().load()
            return xr.DataTree.from_dict({"/": root, **{f"/{n}": t for n, t in chosen.items()}})
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"path: {str(path)!r} can't be read as {kind}: {said}") from error


def _kind(path: str | os.PathLike[str]) -> str:
    kind = Path(path).suffix
    if kind not in (".nc", ".zarr"):
        raise DataError(f"path: must end in .nc (netCDF) or .zarr; got {str(path)!r}.")
    return kind


def _steps(prior: Any, model: pm.Model) -> list[Any] | None:
    """Return PyMC's steps of nominal variables; None leaves all to PyMC.

    One such step proposes one other value, all equally likely, so a chain needs many of them to
    hear of each value. It makes a quarter as many a draw as there are values; an odd number of
    them, since two equally probable values take turns.
    """
    import pymc as pm

    steps: list[Any] = []
    for name, labels in levels(prior).items():
        step = pm.CategoricalGibbsMetropolis([model[name]], model=model)
        steps += [step] * min(len(labels) // 4 | 1, _MOST_STEPS)
    return steps or None


@contextmanager
def _speaking_of_starts() -> Iterator[None]:
    """Say in words that chains have no point to start from."""
    try:
        yield
    except RuntimeError as error:
        if "initialization points failed" not in str(error):
            raise
        raise PriorError(
            "prior: PyMC's sampler has no point to start from, since data are all but impossible "
            "near the prior's mean. Give a prior that expects data of this size, or measure them "
            "in another unit."
        ) from None


def _start(prior: Any, data: Any) -> dict[str, int] | None:
    """Return where nominal variables start: PyMC would take a value that may be impossible."""
    if not levels(prior):
        return None
    mass = prior.update(data).mean()
    return {name: int(np.argmax(mass[name])) for name in levels(prior)}
