"""What the estimators share: a prior, the statistic of the rows so far, and the belief after them.

The functions here become methods and properties of the estimators. A classifier tells those that
learn from classes how it checks a table (`_read`), how its model takes it (`_rows`), and its prior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _is_fitted, check_is_fitted

from bayesmodels.errors import DataError, PriorError
from bayesmodels.estimators import inputs
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import xarray as xr


def learn(self: Any, data: Any, *, rows: int, more: bool = False) -> Any:
    """Set the statistic of the rows, added to the former one if `more`, and the belief."""
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


# --- classifiers ----------------------------------------------------------------------------------


def fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Learn from rows and their classes.

    Parameters
    ----------
    X : array_like or frame of shape (n, n_features)
        Rows. Naive Bayes also takes a sparse array of counts, and integrates missing cells out; a
        discriminant takes numbers.
    y : array_like of shape (n,)
        Classes.
    sample_weight : array_like of shape (n,), optional
        How often each row counts.
    """
    return _learn_classified(self, X, y, sample_weight, first=True, known=False)


def partial_fit(self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
    """Learn from some more rows: in the end, as `fit` does from all of them.

    Parameters
    ----------
    X, y, sample_weight
        As in `fit`. For naive Bayes the first rows must have columns of the right dtypes and,
        unless the dtype lists them, all categories.
    classes : array_like of shape (n_classes,), optional
        All classes; needed in the first call.
    """
    if not _is_fitted(self, "statistic_") and _is_fitted(self, "classes_"):
        del self.classes_  # of a first call that failed
    first = bool(_check_partial_fit_first_call(self, classes))
    if first:
        learn_classes(self, self.classes_)
    return _learn_classified(self, X, y, sample_weight, first=first, known=True)


def _learn_classified(
    self: Any, X: Any, y: Any, sample_weight: Any, *, first: bool, known: bool
) -> Any:
    X = self._read(X, reset=first)
    y = inputs.classes_of_rows(self, X, y)
    n = len(y)
    if known and (new := np.setdiff1d(y, self.classes_)).size:
        raise DataError(
            f"y: must hold only the classes {self.classes_.tolist()} of the first call; got "
            f"{new.tolist()[0]!r}. Name all of them at first: partial_fit(X, y, classes=[...])."
        )
    X, y, weights = inputs.weighted(X, y, sample_weight)
    if not known:
        learn_classes(self, y)
    if first:
        self.prior_ = self._prior(X)
    return learn(self, inputs.data(self._rows(X), y, weights), rows=n, more=not first)


def learn_classes(self: Any, y: NDArray[Any]) -> None:
    """Set the classes of the targets, two or more."""
    self.classes_ = np.unique(y)
    if len(self.classes_) < 2:  # noqa: PLR2004 - with one there is nothing to tell apart
        raise DataError(
            f"y: must hold two classes or more, of rows with a weight; got one class, "
            f"{self.classes_.tolist()[0]!r}."
        )


def predict_joint_log_proba(self: Any, X: Any) -> Array:
    """Return ln p(c, x | rows learnt from) of each row and class, of shape (n, n_classes)."""
    check_is_fitted(self)
    return np.asarray(self.belief_.log_joint(self._rows(self._read(X, reset=False))))


def predict_log_proba(self: Any, X: Any) -> Array:
    """Return the log probability of each class for each row, of shape (n, n_classes)."""
    return np.asarray(log_softmax(self.predict_joint_log_proba(X), axis=1))


def predict_proba(self: Any, X: Any) -> Array:
    """Return the probability of each class for each row, of shape (n, n_classes)."""
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(self.predict_log_proba(X)))


def predict(self: Any, X: Any) -> NDArray[Any]:
    """Return the most probable class of each row; of equally probable ones the first."""
    best = self.predict_log_proba(X).argmax(axis=1)
    return np.asarray(self.classes_[best])
