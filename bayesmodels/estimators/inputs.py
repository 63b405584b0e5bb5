"""What scikit-learn hands over, checked by its own functions, as the models take it.

Names and numbers of columns, shapes and lengths are scikit-learn's business, and its complaints
are worded there; what values mean is the models' business, who raise errors of this package.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    _is_fitted,
    check_consistent_length,
    validate_data,
)

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import domains
from bayesmodels.input.containers import Argument, read, same_rows, wrapped
from bayesmodels.input.data import sparse
from bayesmodels.input.parameters import LARGEST_SQUARE, parameter
from bayesmodels.input.wrappers import Design, Weighted
from bayesmodels.numerics import Array


def numbers(self: Any, X: Any, *, reset: bool) -> Any:
    """Return a table of numbers, under the names of the columns if they have some."""
    index = None
    if isinstance(wrapped(X, "X"), nw.DataFrame) or _is_array_of(X, "mM"):
        validate_data(self, X, reset=reset, skip_check_array=True)
        block = read(X, "X")
        index, _ = block.index, domains.numbers(block)
    return _named(self, validate_data(self, X, reset=reset, dtype=np.float64), index)


def table(self: Any, X: Any, *, reset: bool, counts: bool = False) -> Any:
    """Return a table with columns of several kinds and missing cells; of `counts` maybe sparse.

    The estimator learns the columns if `reset`, else they are checked. Columns of an array are
    numbered; those of a frame have the names of `columns`.
    """
    plain = isinstance(X, (np.ndarray, list, tuple)) or sparse(X)
    frame = None if plain else wrapped(X, "X")
    if isinstance(frame, nw.DataFrame):
        validate_data(self, X, reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            raise DataError(
                f"X: must have at least one row and one column; got shape {frame.shape}."
            )
        names = columns(self)
        return X if frame.columns == names else frame.to_pandas().set_axis(names, axis=1)
    result = validate_data(
        self,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
        accept_sparse="csr" if counts else False,
    )
    if not sparse(result) and result.dtype.kind in "OUSTV":
        result = pd.DataFrame(result.astype(object)).infer_objects()
    return _named(self, result)


def columns(self: Any) -> list[Any]:
    """Return the names of the columns, or their numbers."""
    names = getattr(self, "feature_names_in_", None)
    return list(range(self.n_features_in_)) if names is None else names.tolist()


def _named(self: Any, X: Any, index: Any = None) -> Any:
    if sparse(X) or not _is_fitted(self, "feature_names_in_"):
        return X
    return pd.DataFrame(X, index).set_axis(columns(self), axis=1)


def _is_array_of(values: Any, kinds: str) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in kinds


def _per_row(X: Any, values: Any, argument: str) -> Argument:
    """Read an array of one value a row; its index, if any, must be that of the rows."""
    block = read(values, argument)
    frame = nw.from_native(X, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
    if index is not None and len(index) == len(block.values):
        same_rows(Argument("X", block.values, index=index), block)
    return block


def classes_of_rows(self: Any, X: Any, y: Any) -> NDArray[Any]:
    """Return one class a row, checked."""
    result = targets(self, X, y)
    check_classification_targets(result)
    return result


def targets_of_rows(self: Any, X: Any, y: Any) -> Array:
    """Return one number a row, checked."""
    return targets(self, X, y, y_numeric=True).astype(np.float64)


def targets(self: Any, X: Any, y: Any, **kind: bool) -> NDArray[Any]:
    """Return targets, one a row, checked."""
    if y is None:
        validate_data(self, X, y=None)  # words the complaint
    if isinstance(y, (list, tuple)):
        y = np.asarray(y)
    if not _is_array_of(y, "biufcUSV"):  # scikit-learn takes dates for numbers, and no NA for gaps
        block = _per_row(X, y, "y")
        y = domains.numbers(block) if kind else block.values
    result = np.asarray(_check_y(y, estimator=self, **kind))
    check_consistent_length(X, result)
    return result


def weighted(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Array | None]:
    """Return rows, targets and weights without the rows of weight zero."""
    if sample_weight is None:
        return X, y, None
    if not isinstance(sample_weight, (np.ndarray, list, tuple, int, float)):
        sample_weight = _per_row(X, sample_weight, "sample_weight").values
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    here = weights > 0
    if not here.any():  # newer versions of scikit-learn have complained by now
        raise DataError(
            "sample_weight: must hold at least one number that is not zero; all weights are zero."
        )
    if here.all():
        return X, y, weights
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    kept = frame.filter(here.tolist()).to_native() if isinstance(frame, nw.DataFrame) else X[here]
    return kept, None if y is None else y[here], weights[here]


def data(X: Any, y: Any, weights: Array | None, *, intercept: bool = False) -> Any:
    """Return rows and targets as the models take them."""
    design = Design(X, y, intercept=intercept)
    return design if weights is None else Weighted(design, weights)


def parameters(
    self: Any,
    *,
    positive: tuple[str, ...] = (),
    nonnegative: tuple[str, ...] = (),
    free: tuple[str, ...] = (),
) -> None:
    """Check all parameters of the prior, also those that no column uses."""
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


def of_columns(self: Any, name: str, of_intercept: float) -> Array:
    """Return a parameter of each column, behind that of the intercept if there is one."""
    width = self.n_features_in_
    try:
        result = np.broadcast_to(np.asarray(getattr(self, name), dtype=float), (width,))
    except ValueError:
        raise PriorError(f"{name}: must be a number, or one for each of {width} columns.") from None
    return np.append(float(of_intercept), result) if self.fit_intercept else result
