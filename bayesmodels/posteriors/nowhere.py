"""Why a model's density is no number: gaps in data, or a term that is zero or not a number.

And where PyTensor's whole numbers of few bits are not those that the user wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors

from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.density import compiled, plain
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.rounding import dtype


def nowhere(density: ModelDensity, point: Mapping[str, NDArray[Any]]) -> NotConjugate:
    """Return the refusal of a model whose density is finite at no point tried, as at `point`."""
    model, terms = density.model, density.named
    values = compiled(density.points, plain(list(terms.values())))(*density.at(point))
    pairs = zip(terms, values, strict=True)
    result = [(name, value) for name, value in pairs if not np.isfinite(value).all()]
    names = ", ".join(rv.name for rv in model.free_RVs)
    what = f"no point was found at which the joint density of {names} is finite: "
    for name, _ in result:
        if gap := _gap(model, name, terms[name]):
            return NotConjugate(f"{what}{gap}")
    for name, value in result:
        at = np.argwhere(~np.isfinite(value))[0]
        label = f"{name}[{', '.join(map(str, at))}]" if len(at) else name
        kind = value[tuple(at)]
        said = f"the log density of {label} is {kind:g} at the last of them"
        if kind == -np.inf:
            said += ", which means a hard constraint, or data that the model calls impossible"
        return NotConjugate(f"{what}{said}.")
    return NotConjugate(
        f"{what}a hard constraint, or data that the model calls impossible. Give its variables "
        "initial values (initval) that are possible."
    )


def _gap(model: pm.Model, name: str, term: Any) -> str:
    """Say where something that the density of a variable is made of is not a number."""
    for v in ancestors([term]):
        if not isinstance(v, Constant) or not str(dtype(v)).startswith("float"):
            continue
        gaps = np.argwhere(np.isnan(v.data))
        if not len(gaps):
            continue
        place = ", ".join(map(str, gaps[0]))
        where = f" at place {place} (counted from 0)" if place else ""
        observed = next((rv for rv in model.observed_RVs if rv.name == name), None)
        seen = None if observed is None else model.rvs_to_values[observed]
        if isinstance(seen, Constant) and np.array_equal(seen.data, v.data, equal_nan=True):
            return (
                f"the data of {name} hold NaN{where}. PyMC fills gaps in what is given as "
                "`observed=`, an array, alone: give it so, or leave these numbers out."
            )
        of = v.name or f"a constant of {name}"
        return f"{of} holds NaN{where}, so that the density of {name} is no number anywhere."
    return ""
