"""Which continuous variables of a model are eliminated, as their elements meet few others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayesmodels.errors import NotConjugate
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.element_summands import scalar_map
from bayesmodels.posteriors.factor_graph import connected
from bayesmodels.posteriors.remaining_model import priors, replaceable
from bayesmodels.posteriors.support import one_to_one


def chosen(conditionals: Conditionals, *, linked: bool) -> list[str]:
    """Return variables whose elements are alone given all others, the largest first.

    If `linked`, elements may be chains and trees.
    """
    model, density = one_to_one(conditionals.model), conditionals.density
    above = priors(conditionals.model)
    meetings, columns = conditionals.meetings
    result: list[str] = []
    order = [p.name for p in density.points if np.dtype(p.dtype).kind == "f"]
    for name in sorted(order, key=lambda name: -len(columns[name])):
        below = [n for n, parents in above.items() if name in parents]
        if not all(n in result or replaceable(conditionals.supports.get(n)) for n in below):
            continue
        rows = csr_array(meetings[:, np.concatenate([columns[n] for n in (*result, name)])])
        met = rows.sum(1) > 1
        own = rows[:, -len(columns[name]) :].sum(1) > 0
        bounded = model.rvs_to_transforms[model[name]] is not None
        # Laws of elements that meet are normal, but for the data: on a line without ends.
        if met.any() and not (linked and _is_forest(rows) and not (bounded and (met & own).any())):
            continue
        try:
            scalar_map(model, name)
        except NotConjugate:
            continue
        result.append(name)
    return result if sum(len(columns[n]) for n in result) > 1 else []


def _is_forest(rows: Any) -> bool:
    """Whether elements that meet in rows of a sparse matrix are chains and trees."""
    if rows.sum(1).max() > 2:  # noqa: PLR2004 - of a pair
        return False
    meets = csr_array(rows.T @ rows)
    pairs = (meets.nnz - np.count_nonzero(meets.diagonal())) // 2
    return bool(pairs == rows.shape[1] - len(connected(meets)))
