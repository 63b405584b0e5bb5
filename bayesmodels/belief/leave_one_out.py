"""The predictive density of every row by all others: a model's own formula, or one for all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import Deletable
from bayesmodels.belief.rows import readable, row_labels, rows_at
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.wrappers import Grouped
from bayesmodels.numerics import Array


class RowsLeftOut(NamedTuple):
    """Log densities of rows, their labels, and which of them were lost to rounding."""

    logs: Array
    rows: Sequence[Hashable]
    lost: NDArray[np.bool_]


def leave_rows_out(belief: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return the log density of every row by the others, by the model's own formula if it has one.

    The belief is the prior, with the axes of the data; the statistic is that of all rows.
    """
    if isinstance(belief, Deletable):
        return belief.leave_rows_out(data, statistic)
    return by_evidence(belief, data, statistic)


def by_evidence(belief: Any, data: Any, statistic: Any) -> RowsLeftOut:
    """Return the log evidence of each row under the posterior of the others, by subtraction."""
    rows = readable(belief, data)
    result: list[Any] = []
    lost: list[bool] = []
    for i in range(number_of_rows(rows)):
        row = belief.statistic(rows_at(rows, slice(i, i + 1)))
        try:
            logs = belief.update(statistic - row).log_evidence(row)
        except (DataError, PriorError):  # nothing is left that predicts, or not by subtraction
            logs = np.full(np.shape(result[0]) if result else (), np.nan)
        result.append(np.sum(logs) if isinstance(data, Grouped) else np.asarray(logs))
        lost.append(not np.isfinite(result[-1]).all())
    logs = np.array(np.broadcast_arrays(*result)) if result else np.zeros(0)
    every = np.reshape(lost, (len(lost), *(1,) * (logs.ndim - 1)))
    return RowsLeftOut(logs, row_labels(data, len(lost)), np.broadcast_to(every, logs.shape))
