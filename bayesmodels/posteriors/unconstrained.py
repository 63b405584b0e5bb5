"""A PyMC model's joint density over unconstrained coordinates, at many points at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
from pytensor.configdefaults import config
from pytensor.graph.replace import clone_replace

from bayesmodels.errors import DataError
from bayesmodels.input.draws import read
from bayesmodels.numerics import Array
from bayesmodels.posteriors.batch_density import BatchDensity
from bayesmodels.posteriors.conditional import batched
from bayesmodels.posteriors.density import frozen
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.reading import dims_and_coords
from bayesmodels.posteriors.support import one_to_one


class Unconstrained:
    """The joint log density of a model where its free variables have been transformed to R^D.

    The coordinates are those in which PyMC samples, and the density includes the log Jacobian. All
    free variables must be continuous.
    """

    def __init__(self, model: pm.Model) -> None:
        model = frozen(model)
        discrete = [rv.name for rv in model.free_RVs if not rv.dtype.startswith("float")]
        if discrete:
            raise DataError(
                f"model: every free variable must be continuous; {discrete} are discrete. Write "
                "the model with them summed out."
            )
        if not model.free_RVs:
            raise DataError(
                "model: must have a free variable; has none, so that its evidence is its density."
            )
        self._density, model = BatchDensity(ModelDensity(model)), one_to_one(model)
        self.names = self._density.names
        rvs = [model[name] for name in self.names]
        self._dims, _ = dims_and_coords(model, {n: self._density.shapes[n] for n in self.names})
        self._coords = {axis: labels for axis, labels in model.coords.items() if labels is not None}
        with config.change_flags(floatX="float64"):
            points = {rv: rv.type(rv.name) for rv in rvs}
            moved = []
            for rv, point in points.items():
                transform = model.rvs_to_transforms[rv]
                z = point if transform is None else transform.forward(point, *rv.owner.inputs)
                moved.append(z)
            self._forward = batched(list(points.values()), list(clone_replace(moved, points)))

    def coordinates(self, draws: Any) -> Array:
        """Return coordinates of draws, of shape (chain, draw, D)."""
        rows = read(draws, self._dims, self._coords)
        lead = rows[self.names[0]].shape[:2]
        with np.errstate(all="ignore"):  # infinite values are looked at below
            parts = self._forward({n: x.reshape(-1, *x.shape[2:]) for n, x in rows.items()})
        joined = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
        if not np.isfinite(joined).all():
            bad = int((~np.isfinite(joined)).any(1).sum())
            raise DataError(
                f"draws: must lie inside the support of the model; {bad} of {len(joined)} do not, "
                "or are rounded to its border."
            )
        return joined.reshape(*lead, -1)

    def log_density(self, points: Array) -> Array:
        """Return the joint log density at points of shape (n, D)."""
        return self._density(points)[0]
