"""New data of the same form as given ones, drawn from a model at known parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.datatree import statistic_of
from bayesmodels.belief.protocol import Draws, Nominal
from bayesmodels.input import data as checked
from bayesmodels.input.containers import Argument, read
from bayesmodels.input.data import Split
from bayesmodels.input.wrappers import PER_ROW, Grouped
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Simulated:
    """New data.

    Attributes
    ----------
    statistic : Statistic
        What the model needs to know of them; None, of a model whose data have no statistic.
    log_likelihood : callable
        From draws of the parameters, sample axis first, to the log density of all the new data.
    declare : callable
        Returns the PyMC model that observes their rows.
    """

    statistic: Any
    log_likelihood: Callable[[Draws], Array]
    declare: Callable[[], pm.Model]


def of_rows(model: Any, design: Any, parameters: Draws, rng: np.random.Generator) -> Simulated:
    """Draw new values of rows by the model's own `replicate`."""
    (new,) = model.replicate(parameters, design, rng).values()
    return of_data(model, replaced(model, design, new[0]))


def of_targets(
    self: Any, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
) -> Simulated:
    """Draw new targets of the same predictors; a regression binds it as `simulated`."""
    rows = checked.paired(design)
    (new,) = self.replicate(parameters, design, rng).values()
    return of_data(self, replace(rows, target=_in_form_of(self, rows.target, new[0])))


def of_data(model: Any, data: Any) -> Simulated:
    """Return data as `Simulated`, whatever drew them."""
    return Simulated(
        statistic_of(model, data),
        lambda draws: total(model.log_likelihood(draws, data)),
        lambda: model.declare(data),
    )


def replaced(belief: Any, rows: Any, *new: Any) -> Any:
    """Return rows with new values in the same wrappers, groups and exposures."""
    if isinstance(rows, (Grouped, Split)):
        return replace(rows, rows=replaced(belief, rows.rows, *new))
    if type(rows) in PER_ROW:
        return _in_form_of(belief, rows, *new)
    result = read(rows, "design")
    return Argument(result.argument, _in_form_of(belief, None, new[0]), result.columns)


def _in_form_of(belief: Any, values: Any, new: Any, *others: Any) -> Any:
    """Return new values in the old ones' form: as counts, labels or plain numbers."""
    if (names := PER_ROW.get(type(values))) is not None:
        return replace(values, **dict(zip(names, (new, *others), strict=False)))
    labels = belief.value_labels if isinstance(belief, Nominal) else None
    if labels is None:
        return new
    every = np.empty(len(labels), dtype=object)
    every[:] = labels  # one object each, tuples too
    return every[new]


def total(logs: Any) -> Array:
    """Return the sum of log densities of all rows, one a draw."""
    each = [np.asarray(x).reshape(len(x), -1).sum(-1) for x in logs.values()]
    return np.sum(each, axis=0)
