r"""Exact leave-one-out: the predictive density of every row by all others, without refitting.

.. math:: p(x_i \mid x_{-i}) = \int p(x_i \mid \theta) \, p(\theta \mid x_{-i}) \, d\theta

is the predictive density at the row of a posterior that has seen all but it. Models that know how a
row is taken out of their posterior say so fast (`bayesmodels.models.case_deletion`); of others it
is the evidence of the row beside the rest. Rows that are most of what is known lose digits by the
subtraction: these few are predicted by a posterior of the others' rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief.leave_one_out import leave_rows_out
from bayesmodels.belief.protocol import Conjugate, LatentClasses, Readable, Statistic
from bayesmodels.belief.rows import readable, rows_at
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.numerics import Array


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictive densities of rows, each by all others.

    Attributes
    ----------
    log_density : ndarray of shape (n,) or (n, batch...)
        Of each row; where columns are separate problems, of each of their cells.
    rows : sequence of length n
        Labels of the rows.
    """

    log_density: Array
    rows: Sequence[Hashable]

    @property
    def elpd(self) -> Any:
        """Sum over the rows, which estimates that of as many new rows."""
        return self.log_density.sum(0)[()]

    @property
    def se(self) -> Any:
        """Standard error of `elpd`, as ArviZ has it: of a sum of independent terms."""
        return (np.sqrt(len(self.log_density)) * self.log_density.std(0))[()]

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.elpd), precision=6, threshold=10)
        return f"LeaveOneOut(elpd={shown}, {len(self.log_density)} rows)"


def leave_one_out(prior: Any, data: Any) -> LeaveOneOut:
    r"""Return the exact log predictive density of every row by all the others.

    .. math:: \ln p(x_i \mid x_{-i}), \qquad \mathrm{elpd} = \sum_i \ln p(x_i \mid x_{-i})

    Parameters
    ----------
    prior : Belief
        A conjugate model before the data.
    data : rows
        As in the model's `statistic`, not weighted.

    Returns
    -------
    LeaveOneOut
        With `log_density` of each row, `elpd` and `se`: what ArviZ's `loo` approximates from draws.

    Raises
    ------
    DataError
        If it is no model, the data are a statistic or weighted, or the model has no closed form
        without a row.
    PriorError
        If the other rows leave an improper posterior, which predicts nothing.

    References
    ----------
    Geisser and Eddy (1979), *A predictive approach to model selection*, section 3; Vehtari, Gelman
    and Gabry (2017), *Practical Bayesian model evaluation using leave-one-out cross-validation and
    WAIC*, section 2.

    Examples
    --------
    Three heads and a tail, from a flat prior: a head is predicted by two heads and a tail.

    >>> import bayesmodels as bm
    >>> found = bm.leave_one_out(bm.BetaBernoulli(1, 1), [1, 1, 1, 0])
    >>> np.exp(found.log_density).round(6)
    array([0.6, 0.6, 0.6, 0.2])
    """
    if isinstance(prior, type) or not isinstance(prior, Readable | Conjugate):
        title = f"the class {prior.__name__}" if isinstance(prior, type) else type(prior).__name__
        raise DataError(
            f"prior: must be a model before the data, such as bm.BetaBernoulli(1, 1); got {title}. "
            "Of a PyMC model ask bm.integrate(model).leave_one_out()."
        )
    if isinstance(data, Statistic):
        raise DataError(
            "data: must be rows, of which one is left out after the other; got a statistic."
        )
    if checked.weighted(data):
        raise DataError(
            "data: must not be weighted, since no part of a row is left out; leave weights out."
        )
    if not isinstance(prior, Conjugate) or isinstance(prior, LatentClasses):
        form = "closed form" if not isinstance(prior, Conjugate) else "short sum of terms"
        raise DataError(
            f"prior: {type(prior).__name__} has no {form} without one of the rows. Use ArviZ's loo "
            "with draws."
        )
    s = prior.statistic(data)
    wide = prior.update(s.without_rows())  # with the axes that data bring
    logs, rows, lost = leave_rows_out(wide, data, s)
    if lost.any():
        logs = _again(wide, readable(wide, data), logs, lost, rows)
    return LeaveOneOut(logs, rows)


def _again(
    prior: Any, data: Any, logs: Array, lost: NDArray[np.bool_], labels: Sequence[Hashable]
) -> Array:
    """Predict some rows by a posterior of the others, all columns of a row anew."""
    logs = logs.copy()
    every = np.arange(len(logs))
    for i in np.flatnonzero(lost.reshape(len(logs), -1).any(1)).tolist():
        try:
            after = prior.update(rows_at(data, np.delete(every, i)))
            result = np.asarray(after.log_evidence(rows_at(data, slice(i, i + 1))))
        except PriorError as error:
            raise PriorError(
                f"prior: without row {labels[i]} the posterior is improper and predicts nothing. "
                f"{error}"
            ) from None
        logs[i] = result.sum(tuple(range(result.ndim - logs[i].ndim)))  # other groups have no row
    return logs
