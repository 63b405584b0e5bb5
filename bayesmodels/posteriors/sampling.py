"""Draws from any PyMC model's posterior: independent ones where no sampler is needed."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm

from bayesmodels import __version__
from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.errors import DataError, NotConjugate, PriorError, warn
from bayesmodels.input.parameters import count, randomness
from bayesmodels.posteriors.budget import NotInTime
from bayesmodels.posteriors.few_bits import FewBits
from bayesmodels.posteriors.integrated import IntegratedPosterior
from bayesmodels.posteriors.ladder import solved
from bayesmodels.posteriors.posterior import ExactPosterior, add_data, sampled

if TYPE_CHECKING:
    import xarray as xr

_LOG = logging.getLogger("bayesmodels")
_SECONDS = 60.0  # of search, before a sampler draws

_NOT_TAKEN = {
    "random_seed": "give `rng`, a Generator or a seed",
    "return_inferencedata": "a DataTree is always returned",
    "trace": "a DataTree is always returned",
}


def sample(
    model: pm.Model,
    draws: int = 1000,
    *,
    tune: int = 1000,
    chains: int = 4,
    rng: np.random.Generator | int | None = None,
    **pm_sample_kwargs: Any,
) -> xr.DataTree:
    """Draw from a PyMC model's posterior: independently if it can be solved, else with `pm.sample`.

    Three ways are tried in this order: the closed form, as `exact` finds it; integration, on a
    lattice or by weights, as `integrate` does it; and the sampler.

    Parameters
    ----------
    model : pymc.Model
        Any model.
    draws, tune, chains : int
        Numbers of draws and of tuning steps a chain, and of chains. Without a sampler draws are
        independent and need no tuning; their chains differ in nothing.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    **pm_sample_kwargs
        For `pm.sample`. Without a sampler only `var_names` is heeded, the variables to be kept.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (Deterministics included), ``sample_stats``, ``observed_data`` and
        ``constant_data``, with names, dims and coords as PyMC gives them. ``attrs["sampler"]`` is
        ``"exact"``, ``"integrated"``, ``"weighted"``, ``"nutpie"`` or ``"pymc"``;
        ``attrs["reason"]`` says why it is none of the ways before. Without a sampler,
        ``sample_stats`` has ``lp``, the posterior log density in natural space, and
        ``attrs["log_evidence"]`` is there unless a prior is improper, after integration with
        ``attrs["log_evidence_error"]``. Of a closed form,
        ``attrs["verified"]`` is as in `ExactPosterior`.

    Raises
    ------
    DataError
        If it is no PyMC model, has no free variable, or an argument of `pm.sample` can't be taken.
    KeyboardInterrupt
        On Ctrl-C; draws that were made by then are not returned as if they were all.

    See Also
    --------
    bayesmodels.exact, bayesmodels.integrate : the posterior itself.

    Notes
    -----
    Why there is no closed form, and why a sampler was needed, is logged by the logger
    ``"bayesmodels"`` at the level ``INFO``. Both are looked for in at most 60 s of computing;
    if that is too little, `NotConjugate` says so, as another machine would return other draws.

    Examples
    --------
    >>> import pymc as pm, bayesmodels as bm
    >>> with pm.Model() as model:
    ...     rate = pm.Gamma("rate", 2.0, 1.0)
    ...     _ = pm.Poisson("visits", rate, observed=[3, 5, 4])
    >>> tree = bm.sample(model, 500, rng=1)
    >>> tree.attrs["sampler"], dict(tree.posterior.sizes)
    ('exact', {'chain': 4, 'draw': 500})
    """
    for name, instead in _NOT_TAKEN.items():
        if name in pm_sample_kwargs:
            raise DataError(f"{name}: can't be given; {instead}.")
    model, rng = of_formula(model), randomness(rng)
    draws, chains = count(draws, "draws", 1), count(chains, "chains", 1)
    try:
        posterior, reason = solved(model, rng, _SECONDS)
    except NotInTime as late:  # another machine would return other draws
        raise NotInTime(late.reason, "pm.sample(model) draws without a search") from late
    except NotConjugate as error:
        if isinstance(error, FewBits):
            warn(f"PyMC samples, but {error}")
        _LOG.info("No closed form, so pm.sample draws: %s", error.reason)
        tree = sampled(model, draws, rng, tune=tune, chains=chains, **pm_sample_kwargs)
        tree.attrs["reason"] = error.reason
        return tree
    tree = independent_tree(posterior, draws, chains, rng)
    if reason:
        _LOG.info("No closed form, so the posterior is integrated: %s", reason)
        tree.attrs["reason"] = reason
    kept = pm_sample_kwargs.get("var_names")
    if kept is not None:
        tree["posterior"] = tree.posterior.to_dataset()[list(kept)]
    return tree


def independent_tree(
    posterior: ExactPosterior | IntegratedPosterior,
    draws: int,
    chains: int,
    rng: np.random.Generator,
) -> xr.DataTree:
    """Return independent draws with the groups that `pm.sample` returns."""
    from arviz_base import from_dict

    tree = posterior.to_datatree(draws, chains, rng)
    free = tree.posterior.to_dataset()
    values = {name: free[name].to_numpy() for name in posterior.dims}
    lp = {"lp": np.asarray(posterior.log_density(values))}
    tree["sample_stats"] = from_dict({"sample_stats": lp})["sample_stats"]
    add_data(tree, posterior.model, free)
    library = {"inference_library": "bayesmodels", "inference_library_version": __version__}
    tree.posterior.attrs |= library
    tree.sample_stats.attrs |= library
    with suppress(PriorError):  # an improper prior
        tree.attrs["log_evidence"] = posterior.log_evidence
    if isinstance(posterior, ExactPosterior):
        tree.attrs |= {"sampler": "exact", "verified": posterior.verified}
        return tree
    tree.attrs["sampler"] = posterior.rung
    if "log_evidence" in tree.attrs:
        tree.attrs["log_evidence_error"] = posterior.errors["log_evidence"]
    return tree
