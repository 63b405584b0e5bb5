"""PyMC models that Bambi makes of formulas, with the intercept that the formula means."""

from __future__ import annotations

import sys
from typing import Any

_ROWS = "__obs__"


def of_formula(model: Any) -> Any:
    """Return the PyMC model of a `bambi.Model`, and anything else as it is.

    Bambi centres predictors: its PyMC model's `Intercept` is the predictor's value at their means,
    and `fit` turns the draws back. Here that variable is `Intercept_centered`, of which and of the
    slopes `Intercept` is a `Deterministic`. As `fit` does, it leaves out what has a value in each
    row. The Bambi model is built if it is not yet, and else left as it is.
    """
    bambi = sys.modules.get("bambi")
    if bambi is None or not isinstance(model, bambi.Model):
        return model
    from pymc.model.fgraph import clone_model

    if not model.built:
        model.build()
    result, written = clone_model(model.backend.model), model.backend.model.free_RVs
    order = [v.name for v in written]
    result.free_RVs.sort(key=lambda v: order.index(v.name))
    dims = result.named_vars_to_dims.get
    for rows in [v for v in result.deterministics if _ROWS in (dims(v.name) or ())]:
        result.deterministics.remove(rows)
        del result.named_vars[rows.name], result.named_vars_to_dims[rows.name]
    for part in model.backend.distributional_components.values():
        if part.design_matrix_without_intercept is not None:
            _add_intercept(result, part.component)
    return result


def _add_intercept(model: Any, component: Any) -> None:
    """Let an intercept be the predictor's value where predictors are zero."""
    import numpy as np
    import pymc as pm
    import pytensor.tensor as pt

    name = component.intercept_term.alias or component.intercept_term.name
    centred, dims = model.named_vars.pop(name), model.named_vars_to_dims.pop(name, None)
    value, centred.name = model.rvs_to_values[centred], f"{name}_centered"
    value.name = value.name.replace(name, centred.name)
    model.add_named_variable(centred, dims)
    moved: Any = centred
    for term in component.common_terms.values():
        mean, slope = np.atleast_1d(term.data.mean(0)), model[term.alias or term.name]
        alone = slope.ndim == centred.ndim
        moved = moved - (slope * mean[0] if alone else pt.tensordot(mean, slope, 1))
    with model:
        pm.Deterministic(name, moved, dims=dims)
