"""What all estimators share: a prior, the statistic of the rows so far, and the belief after them.

The functions here become methods and properties of the estimators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmodels.errors import PriorError

if TYPE_CHECKING:
    import xarray as xr


def learn(self: Any, data: Any, *, rows: int, more: bool = False) -> Any:
    """Set the statistic of the rows, and of those before if there shall be `more`; the belief."""
    s = self.prior_.statistic(data)
    self.statistic_ = self.statistic_ + s if more else s
    self.n_samples_seen_ = (self.n_samples_seen_ if more else 0) + rows
    self.belief_ = self.prior_.update(self.statistic_)
    return self


def log_evidence(self: Any) -> float:
    """Log density of all rows seen, with the parameters integrated out over the prior."""
    check_is_fitted(self)
    try:
        return float(self.prior_.log_evidence(self.statistic_))
    except PriorError as error:  # an attribute that is not there: `dir` asks for each of them
        raise AttributeError(str(error)) from error


def to_datatree(
    self: Any, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
) -> xr.DataTree:
    """Return independent draws of the belief as a DataTree for ArviZ.

    Parameters
    ----------
    draws, chains : int
        Numbers of draws in a chain, and of chains.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    """
    check_is_fitted(self)
    return self.belief_.to_datatree(draws, chains, rng)
