"""What scikit-learn hands over, checked by its own functions, as the models take it.

Names and numbers of columns, shapes and lengths are scikit-learn's business, and its complaints
are worded there; what values mean is the models' business, who raise errors of this package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    validate_data,
)

from bayesmodels.errors import DataError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import LARGEST_SQUARE, Weighted, parameter, sparse
from bayesmodels.numerics import Array


def numbers(self: Any, X: Any, *, reset: bool) -> Any:
    """Return a table of numbers, under the names of the columns if they have some."""
    checked = validate_data(self, X, reset=reset, dtype=np.float64)
    return _named(self, checked)


def table(self: Any, X: Any, *, reset: bool, counts: bool = False) -> Any:
    """Return a table whose columns may be of several kinds, with missing cells.

    Parameters
    ----------
    self : estimator
        Learns the columns if `reset`, else they are checked.
    X : array_like, sparse array or frame
        Rows.
    reset : bool
        Whether the columns are new.
    counts : bool
        Whether it may be sparse.

    Returns
    -------
    ndarray, csr_array or frame
        Columns of an array are numbered; those of a frame have the names of `columns`.
    """
    plain = isinstance(X, (np.ndarray, list, tuple)) or sparse(X)
    frame = None if plain else wrapped(X, "X")
    if hasattr(frame, "iter_columns"):
        return _frame(self, X, frame, reset=reset)
    found = validate_data(
        self,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
        accept_sparse="csr" if counts else False,
    )
    if not sparse(found) and found.dtype.kind in "OUSTV":
        found = pd.DataFrame(found.astype(object)).infer_objects()
    return _named(self, found)


def columns(self: Any) -> list[Any]:
    """Return the names of the columns, or their numbers."""
    names = getattr(self, "feature_names_in_", None)
    return list(range(self.n_features_in_)) if names is None else names.tolist()


def _named(self: Any, X: Any) -> Any:
    if not hasattr(self, "feature_names_in_") or sparse(X):
        return X
    return pd.DataFrame(X).set_axis(columns(self), axis=1)


def _frame(self: Any, X: Any, frame: Any, *, reset: bool) -> Any:
    validate_data(self, X, reset=reset, skip_check_array=True)
    if 0 in frame.shape:
        msg = f"X: must have at least one row and one column; got shape {frame.shape}."
        raise DataError(msg)
    if frame.columns == columns(self):
        return X
    return frame.to_pandas().set_axis(columns(self), axis=1)


def classes_of_rows(self: Any, X: Any, y: Any) -> NDArray[Any]:
    """Return one class a row, checked."""
    if y is None:
        validate_data(self, X, y=None)  # words the complaint
    found = _check_y(y, estimator=self)
    check_classification_targets(found)
    check_consistent_length(X, found)
    return np.asarray(found)


def targets_of_rows(self: Any, X: Any, y: Any) -> Array:
    """Return one number a row, checked."""
    if y is None:
        validate_data(self, X, y=None)  # words the complaint
    found = np.asarray(_check_y(y, y_numeric=True, estimator=self), dtype=np.float64)
    check_consistent_length(X, found)
    return found


def weighted(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Array | None]:
    """Return rows, their targets and weights, without rows of weight zero: they are not there."""
    if sample_weight is None:
        return X, y, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    here = weights > 0
    if not here.any():  # newer versions of scikit-learn have complained by now
        msg = "sample_weight: must hold at least one number that is not zero; all weights are zero."
        raise DataError(msg)
    if here.all():
        return X, y, weights
    return rows_at(X, here), None if y is None else y[here], weights[here]


def rows_at(X: Any, here: NDArray[np.bool_]) -> Any:
    """Return some rows of a table."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.filter(here.tolist()).to_native()
    return X[here]


def pairs(X: Any, y: Any, weights: Array | None) -> Any:
    """Return rows and targets as the models take them."""
    return (X, y) if weights is None else Weighted((X, y), weights)


def parameters(
    self: Any,
    *,
    positive: tuple[str, ...] = (),
    nonnegative: tuple[str, ...] = (),
    free: tuple[str, ...] = (),
) -> None:
    """Check the numbers that the prior is made of, those for columns that there are not as well."""
    for name in (*positive, *nonnegative, *free):
        value = getattr(self, name)
        if value is not None:
            parameter(
                value,
                name,
                most=LARGEST_SQUARE,
                positive=name in positive,
                nonnegative=name in nonnegative,
            )
