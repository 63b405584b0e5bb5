"""Deterministics of a PyMC model, from draws of its free variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymc as pm
from pytensor.graph.traversal import ancestors

from bayesmodels.numerics.processes import same_rounding

if TYPE_CHECKING:
    import xarray as xr


def deterministics(model: pm.Model, draws: xr.Dataset) -> xr.Dataset:
    """Return the values of a model's Deterministics.

    Parameters
    ----------
    model : pymc.Model
        The model.
    draws : xarray.Dataset
        Values of all free variables, with the axes ``chain`` and ``draw``.

    Returns
    -------
    xarray.Dataset
        Empty if there are none.
    """
    if not model.deterministics:
        return draws[[]]
    above = set(ancestors(model.deterministics))
    seen = [rv for rv in model.observed_RVs if rv in above]
    if seen:
        # PyMC would draw what was observed anew: as for rows of which some are missing.
        values = {rv.name: model.rvs_to_values[rv].eval() for rv in seen}
        model = pm.do(model, values)
    with same_rounding():
        found: xr.Dataset = pm.compute_deterministics(draws, model=model, progressbar=False)
    return found
