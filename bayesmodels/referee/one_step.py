"""The evidence as a product of one-step predictive densities, row by row.

    ln p(x_1, ..., x_n) = sum over i of ln p(x_i | x_1, ..., x_{i-1}).

A factor is the predictive law of the belief that has seen the rows before, at the next row. Neither
the formula of the evidence nor the statistic of many rows is needed for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import MassFunction, Predictive, Prequential, Statistic
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.input.data import weighted
from bayesmodels.input.wrappers import PER_ROW

_WITH_MORE = (*PER_ROW, tuple)
"""Rows of which there is more to know than what is observed."""


def log_chain(model: Any, data: Any) -> tuple[float, float]:
    """Return the sum of one-step log predictive densities, and that of their absolute values."""
    model = model.update(model.statistic(data).without_rows())  # it knows all groups and columns
    whole = readable(model, data)
    terms = []
    for i in range(number_of_rows(whole)):
        row = rows_at(whole, slice(i, i + 1))
        terms.append(float(np.sum(log_next(model, row))))
        model = model.update(row)
    return float(np.sum(terms)), float(np.sum(np.abs(terms)))


def no_chain(model: Any, data: Any) -> str:
    """Say why there is no chain of predictions; empty if there is one."""
    if isinstance(data, Statistic):
        return "the data are a statistic, whose rows are gone"
    if weighted(data):
        return "the rows are weighted, and a row that counts half has no predictive density"
    plain = isinstance(model, Predictive) and not isinstance(data, _WITH_MORE)
    if not (plain or isinstance(model, Prequential)):
        return f"one-step predictive densities of {type(model).__name__} are not known"
    return ""


def log_next(belief: Any, row: Any) -> Any:
    """Return the log predictive density of one row: the model's own, or that of its law."""
    if isinstance(belief, Prequential):
        return belief.log_next(row)
    law = belief.predictive()
    ((x, _),) = belief.observed(row).values()
    return law.logpmf(x) if isinstance(law, MassFunction) else law.logpdf(x)
