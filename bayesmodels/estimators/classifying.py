"""What all classifiers share: classes from their log probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array


def learn_classes(self: Any, y: NDArray[Any]) -> None:
    """Set the classes that there are, two or more."""
    self.classes_ = np.unique(y)
    if len(self.classes_) < 2:  # noqa: PLR2004 - with one there is nothing to tell apart
        msg = (
            f"y: must hold two classes or more, of rows with a weight; got one class, "
            f"{self.classes_.tolist()[0]!r}."
        )
        raise DataError(msg)


def first_call(self: Any, classes: Any) -> bool:
    """Learn the classes if they are new; return whether this is the first call of partial_fit."""
    if not hasattr(self, "statistic_") and hasattr(self, "classes_"):
        del self.classes_  # of a first call that failed
    first = _check_partial_fit_first_call(self, classes)
    if first:
        learn_classes(self, self.classes_)
    return bool(first)


def known_classes(self: Any, y: NDArray[Any]) -> None:
    """Check that all classes are among those that the estimator knows."""
    new = np.setdiff1d(y, self.classes_)
    if new.size:
        msg = (
            f"y: must hold only the classes {self.classes_.tolist()} of the first call; got "
            f"{new.tolist()[0]!r}. Name all of them at first: partial_fit(X, y, classes=[...])."
        )
        raise DataError(msg)


def predict_proba(self: Any, X: Any) -> Array:
    """Return the probability of each class for each row, of shape (n, n_classes)."""
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(self.predict_log_proba(X)))


def predict(self: Any, X: Any) -> NDArray[Any]:
    """Return the most probable class of each row; of equally probable ones the first."""
    best = self.predict_log_proba(X).argmax(axis=1)
    return np.asarray(self.classes_[best])
