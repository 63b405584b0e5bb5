r"""Rows of any PyMC model beside replicated ones, moved as its posterior would move with them.

A row y that a model predicts by its posterior is farther from that posterior's mean than a row from
which it was learnt. With the covariance :math:`K` of the rows' means :math:`E[y \mid \theta]` over
the posterior, and the variances V of rows at known parameters, a replicate leaves

.. math:: (I - K V^{-1}) (y^* - E[y])

to first order, as rows do that the posterior has learnt from.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
from pymc.distributions.moments import mean
from pytensor.compile.maker import function
from pytensor.tensor.random.basic import BernoulliRV

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array, misfits
from bayesmodels.numerics.misfits import Check, Column
from bayesmodels.posteriors.support.finite import names_only

if TYPE_CHECKING:
    import xarray as xr

_SETS, _DRAWS, _MOST_CELLS = 2000, 400, 20_000_000
_OF_COUNTS = (
    misfits.dispersion("counts", "the model", "groups, or a law that varies more"),
    misfits.FARTHEST,
    misfits.ORDER,
)
_OF_BITS = (misfits.TENTHS, misfits.ORDER)
_OF_NUMBERS = (misfits.SKEW, misfits.TAILS, misfits.FARTHEST, misfits.ORDER)


def columns(model: pm.Model, posterior: xr.Dataset, rng: np.random.Generator) -> list[Column]:
    """Return a column for each observed variable, given draws of the free ones (chain, draw, ...).

    Raises
    ------
    DataError
        If nothing is observed by a law of single numbers whose mean is known.
    """
    known = {rv.name: expected for rv in model.observed_RVs if (expected := _mean(rv)) is not None}
    if not known:
        raise DataError("model: no variable is observed by a law whose mean PyMC knows.")
    cells = sum(int(rv.size.eval()) for rv in model.observed_RVs)
    drawn = _thinned(posterior, min(_SETS, max(_DRAWS, _MOST_CELLS // max(1, cells))))
    log = logging.getLogger("pymc.sampling.forward")  # it would name the variables
    log.disabled = True
    try:
        with model:
            tree = pm.sample_posterior_predictive(
                drawn, var_names=list(known), random_seed=rng, progressbar=False
            )
    finally:
        log.disabled = False
    replicated = tree["posterior_predictive"]
    free = [rv for rv in model.free_RVs if rv.name in posterior]
    at = function(free, list(known.values()), on_unused_input="ignore")
    few = _thinned(posterior, _DRAWS)
    points = zip(*(few[rv.name].to_numpy()[0] for rv in free), strict=True)
    means = [np.stack(each) for each in zip(*(at(*point) for point in points), strict=True)]
    result = []
    for name, expected in zip(known, means, strict=True):
        rv = model[name]
        x = np.ravel(np.asarray(model.rvs_to_values[rv].eval(), dtype=float))
        new = replicated[name].to_numpy()[0].reshape(-1, len(x)).astype(float)
        sets = len(expected)
        whole = np.broadcast_to(expected, (sets, *rv.shape.eval())).reshape(sets, -1)
        label = "" if len(known) == 1 else name
        result.append(_column(label, x, new, whole, _checks(rv), numbers=rv.dtype[0] == "f"))
    return result


def _mean(rv: Any) -> Any:
    """Return the mean of an observed variable as a graph; None of names, vectors, and the rest."""
    op = rv.owner.op
    if getattr(op, "ndim_supp", 1) or names_only(op):
        return None
    try:
        return mean(rv)
    except NotImplementedError:
        return None


def _checks(rv: Any) -> tuple[Check, ...]:
    if isinstance(rv.owner.op, BernoulliRV):
        return _OF_BITS
    return _OF_NUMBERS if rv.dtype[0] == "f" else _OF_COUNTS


def _thinned(posterior: xr.Dataset, number: int) -> xr.Dataset:
    """Return so many draws, at most, evenly from all chains, as one chain."""
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    flat = posterior.stack(sample=("chain", "draw"))
    kept = np.unique(np.linspace(0, chains * draws - 1, min(number, chains * draws)).astype(int))
    thin = flat.isel(sample=kept).drop_vars(["sample", "chain", "draw"], errors="ignore")
    return thin.rename(sample="draw").expand_dims("chain").transpose("chain", "draw", ...)


def _column(
    label: str, x: Array, new: Array, expected: Array, checks: tuple[Check, ...], *, numbers: bool
) -> Column:
    """Return a column of rows x (n,), from replicates (m, n) and their means (s, n) by draws."""
    middle = expected.mean(0)
    root = (expected - middle) / np.sqrt(len(expected))  # K = root' root
    own = new.var(0) - (root**2).sum(0)
    variance = np.maximum(own, np.finfo(float).eps + 0.01 * new.var(0))
    gap = new - middle
    gap -= gap / variance @ root.T @ root
    sd = np.sqrt(variance)
    if numbers:  # whose spread is another unknown number
        size = np.sqrt(((gap / sd) ** 2).mean(1, keepdims=True))
        gap *= np.sqrt((((x - middle) / sd) ** 2).mean()) / np.where(size > 0, size, 1.0)
    rows = middle + gap

    def draw(number: int, rng: np.random.Generator) -> Array:
        return np.asarray(rows[rng.integers(len(rows), size=number)])

    return Column(label, x, middle, sd, draw, checks)
