"""Rows in any common container, checked once and turned into arrays.

Data may be lists, NumPy arrays, or pandas, polars and Arrow series and tables. Axis 0
counts the rows; the axes after it are a batch of independent problems, and the last axis of a
design matrix or a table of counts belongs to the model. Column names become the labels of the axis
``feature`` and an index becomes the labels of the axis ``row``.

Every complaint about input is worded here or in `containers`, so that code behind it may trust
what it is given.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import (
    DROP_ROWS,
    Argument,
    Values,
    first,
    index_of,
    listed,
    missing_entries,
    missing_message,
    places,
    read,
    read_codes,
    read_columns,
    shown,
    where,
    wrapped,
)
from bayesmodels.input.domains import (
    LARGEST_COUNT,
    LARGEST_MEASUREMENT,
    binary,
    codes,
    counts,
    finite,
    measured,
    measured_as_given,
    squarable,
    whole_numbers,
)
from bayesmodels.input.labels import Coords, unique
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS

# --- what users wrap their data in ------------------------------------------------------------


@dataclass(frozen=True)
class Grouped:
    """Rows split by a label: one independent problem for each group.

    Parameters
    ----------
    rows : array_like, Series, frame, BinomialCounts or MultinomialCounts
        Data of one problem with n rows, or a table with one problem a column.
    by : array_like or Series of length n
        The group of each row. Groups are ordered by value, or as the categories are.
    groups : sequence, optional
        All groups, in the order wanted; needed when a group may have no row.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> rows = bm.Grouped([1, 0, 1, 1], by=["b", "a", "b", "a"])
    >>> bm.BetaBernoulli(1, 1).update(rows).mean()["theta"]
    array([0.5 , 0.75])
    """

    rows: Any
    by: Any
    groups: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        _as_many(self.rows, self.by, "by")


@dataclass(frozen=True)
class Weighted:
    r"""Rows that count more or less than once: row i as :math:`w_i` rows.

    Its likelihood is :math:`\prod_i p(x_i \mid \theta)^{w_i}`, so the statistics are fractional.
    A PyMC model of weighted rows is declared from their statistic.

    Parameters
    ----------
    rows : array_like, Series, frame, Grouped, MultinomialCounts or pair (X, y)
        Data of n rows.
    weights : array_like of shape (n,)
        Zero or positive.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(1, 1).update(bm.Weighted([1, 0], weights=[0.5, 2]))
    BetaBernoulli(alpha=1.5, beta=3)
    """

    rows: Any
    weights: Any

    def __post_init__(self) -> None:
        _as_many(self.rows, self.weights, "weights")


@dataclass(frozen=True)
class BinomialCounts:
    """Numbers of successes among numbers of trials, one pair a row.

    Counts forget the order of the trials, so their evidence contains the binomial coefficient.

    Parameters
    ----------
    successes, trials : array_like of shape (n,) or (n, batch...)
        Whole numbers with ``0 <= successes <= trials``.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(2, 2).update(bm.BinomialCounts(3, 20))
    BetaBernoulli(alpha=5, beta=19)
    """

    successes: Any
    trials: Any
    _checked: tuple[Argument, Values, Values] = dataclasses.field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_checked", _successes_and_trials(self.successes, self.trials))

    def checked(self) -> tuple[Argument, Values, Values]:
        """Return the numbers of successes as read, and both numbers as whole ones."""
        return self._checked


@dataclass(frozen=True)
class MultinomialCounts:
    """Counts of each category, one multinomial observation a row.

    Counts forget the order of the draws, so their evidence contains the multinomial coefficient.

    Parameters
    ----------
    counts : array_like of shape (K,) or (n, K) or (n, batch..., K)
        Whole numbers, not negative. A frame's column names are the categories.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.DirichletCategorical([1, 1, 1]).update(bm.MultinomialCounts([5, 0, 2]))
    DirichletCategorical(alpha=[6, 1, 3])
    """

    counts: Any


@dataclass(frozen=True)
class Design:
    """A design matrix and its target.

    Parameters
    ----------
    features : array_like or frame of shape (n, p) or (n, batch..., p)
        One column a coefficient.
    target : array_like or Series of shape (n,) or (n, batch...)
        What the columns are to explain.
    intercept : bool, default False
        Put a column of ones, named ``intercept``, before the others.

    See Also
    --------
    Design.from_frame : the same from one frame with named columns.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> data = bm.Design([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], intercept=True)
    >>> bm.LinearRegression.flat(2).statistic(data).mle()["w"].round(12)
    array([1., 2.])
    """

    features: Any
    target: Any
    intercept: bool = False

    def __post_init__(self) -> None:
        _as_many(self.features, self.target, "target", "features")

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        target: str,
        features: Sequence[str] | None = None,
        *,
        intercept: bool = False,
    ) -> Design:
        """Take target and features (default: all other columns) from one frame by name."""
        chosen, wanted = _select(frame, target, features)
        return cls(features=wanted, target=chosen, intercept=intercept)


def _as_many(rows: Any, other: Any, argument: str, of: str = "rows") -> None:
    """Refuse an argument of another length than the rows, where both are known without reading."""
    n, found = _length(rows), _length(other)
    if n is not None and found is not None and n != found:
        msg = f"{argument}: must have as many rows as {of}; got {found} and {n}."
        raise DataError(msg)


def _length(rows: Any) -> int | None:
    """Return the number of rows, as far as it needs no look at them."""
    if isinstance(rows, (Grouped, Weighted)):
        return _length(rows.rows)
    if isinstance(rows, BinomialCounts):
        return len(rows.checked()[1])
    if isinstance(rows, list):
        return len(rows)
    shape = getattr(rows, "shape", None)
    return shape[0] if isinstance(shape, tuple) and shape else None


# --- what models receive -----------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Rows that were read before, with the member of a batch to which each belongs.

    What composite models hand to their parts. Codes count over all places of the axes in `coords`,
    the last axis fastest; axes of the rows themselves come after them.
    """

    rows: Any
    codes: NDArray[np.intp]
    coords: Coords
    weights: Array | None = None


@dataclass(frozen=True)
class Batch:
    """Which members of a batch the rows belong to.

    Attributes
    ----------
    coords : dict
        Labels along all batch axes.
    groups : ndarray of shape (n,), optional
        The member of the leading axes to which each row belongs.
    inner : int
        Number of batch axes that the rows themselves have.
    rows : sequence
        Labels of the rows.
    weights : ndarray of shape (n,), optional
        What each row counts for; 1 if not given.
    """

    coords: Coords
    groups: NDArray[np.intp] | None
    inner: int
    rows: Sequence[Hashable]
    weights: Array | None = None

    @property
    def lead(self) -> tuple[int, ...]:
        """Lengths of the axes over which `groups` counts."""
        if self.groups is None:
            return ()
        return tuple(map(len, self.coords.values()))[: len(self.coords) - self.inner]

    @property
    def size(self) -> int:
        """Number of places over which `groups` counts."""
        return math.prod(self.lead)

    @property
    def axes(self) -> Coords:
        """Labels along the rows' own axes, as far as somebody named them."""
        if self.groups is None:
            return self.coords
        return dict(list(self.coords.items())[len(self.lead) :])

    def by_row(self, parameter: Any, event: int = 0) -> Array:
        """Give a parameter of shape (..., batch..., event...) the row axis before `inner`."""
        x = np.asarray(parameter)
        at = x.ndim - event - self.inner
        if self.groups is None:
            return np.expand_dims(x, at)
        start = at - len(self.lead)
        flat = x.reshape(*x.shape[:start], self.size, *x.shape[at:])
        return np.take(flat, self.groups, axis=start)

    def of_group(self, values: Any) -> Any:
        """Return what is about the first row: all columns, or those of its group."""
        if self.groups is None:
            return values
        return values.reshape(self.size, -1)[self.groups[0]]

    def of_rows(self, parameter: Any) -> Any:
        """Return a PyTensor parameter of shape (batch..., event...) for each row."""
        return parameter if self.groups is None else parameter[self._places()]

    def row_weights(self, n: int) -> Array:
        """Return what each of n rows counts for."""
        return np.ones(n) if self.weights is None else self.weights

    def row_counts(self, n: int) -> Array:
        """Return the total weight of n rows, of those of each member where rows are in groups."""
        if self.groups is None:
            total = np.array(float(n) if self.weights is None else self.weights.sum())
        else:
            total = np.bincount(self.groups, self.weights, self.size).astype(float)
        return total.reshape((*self.lead, *(1,) * self.inner))

    def _places(self) -> tuple[NDArray[np.intp], ...]:
        return np.unravel_index(self.groups, self.lead) if self.groups is not None else ()


@dataclass(frozen=True)
class Trials:
    """Checked data of a Bernoulli or binomial model.

    ``trials`` is None for rows of 0 and 1.
    """

    successes: Values
    trials: Values | None
    batch: Batch


@dataclass(frozen=True)
class Categories:
    """Checked data of a categorical model (category numbers) or a multinomial one (counted).

    Counts may be a SciPy sparse array.
    """

    values: Any
    counted: bool
    batch: Batch


@dataclass(frozen=True)
class Outcomes:
    """Checked labels of a finite set, as numbers of shape (n,)."""

    codes: NDArray[np.intp]
    rows: Sequence[Hashable]
    weights: Array | None


@dataclass(frozen=True)
class Measurements:
    """Checked numbers x of shape (n, batch...)."""

    x: Values
    batch: Batch


@dataclass(frozen=True)
class Vectors:
    """Checked rows x of shape (n, D), with the names of the columns if they have some."""

    x: Values
    features: tuple[Hashable, ...] | None
    batch: Batch


@dataclass(frozen=True)
class Regression:
    """A checked design matrix X (n, batch..., p) or (n, p) with targets y (n, batch...)."""

    X: Array
    y: Array
    features: tuple[Hashable, ...] | None
    coords: Coords
    rows: Sequence[Hashable]
    weights: Array | None = None


@dataclass(frozen=True)
class DesignRows:
    """A design matrix and its target as they were given: of shapes that fit, but not looked at.

    Attributes
    ----------
    X : ndarray of shape (n, p), or tuple of p arrays of shape (n,)
        Numbers of any dtype, without a column of ones.
    y : ndarray of shape (n,)
        Numbers of any dtype.
    intercept : bool
        Whether a column of ones comes before the others.
    features : tuple or None
        Names of the columns, that of ones included.
    row_labels : callable
        Returns labels of the rows.
    """

    X: Values | tuple[Values, ...]
    y: Values
    intercept: bool
    features: tuple[Hashable, ...] | None
    row_labels: Callable[[], Sequence[Hashable]]

    @property
    def width(self) -> int:
        """Number of columns, that of ones included."""
        X = self.X
        return self.intercept + (len(X) if isinstance(X, tuple) else int(X.shape[1]))


@dataclass(frozen=True)
class Labelled:
    """A checked design matrix X (n, p) with the numbers of each class seen at each row (n, K).

    ``counted`` says whether the user gave counts; otherwise each row has one class.
    """

    X: Array
    counts: NDArray[np.int64]
    counted: bool
    features: tuple[Hashable, ...] | None
    rows: Sequence[Hashable]
    weights: Array | None = None

    @property
    def heavy(self) -> Array:
        """The counts times the weights of their rows."""
        counts = self.counts.astype(np.float64)
        return counts if self.weights is None else counts * self.weights[:, None]


def trials(data: Any) -> Trials:
    """Check 0/1 rows, binomial counts, or either of them in groups."""
    inner, given = _unwrapped(data)
    if not isinstance(inner, BinomialCounts):
        block = read(inner, "x")
        values = binary(block)
        return Trials(values, None, _batch(block, values.ndim - 1, given))
    if given.weights is not None:
        msg = "weights: rows of BinomialCounts have none; weight single trials, rows of 0 and 1."
        raise DataError(msg)
    successes, k, n = inner.checked()
    return Trials(k, n, _batch(successes, k.ndim - 1, given))


def _successes_and_trials(given: Any, of: Any) -> tuple[Argument, Values, Values]:
    successes = read(given, "successes", scalar_row=True)
    total = read(of, "trials", scalar_row=True)
    same_rows(successes, total)
    if successes.columns and total.columns and successes.columns != total.columns:
        msg = (
            f"trials: must have the columns of successes {successes.columns}, in this order; "
            f"got {total.columns}. Reorder the columns."
        )
        raise DataError(msg)
    k, n = counts(successes), counts(total)
    if k.shape != n.shape:
        msg = (
            f"successes: must have the shape of trials; got {k.shape} and {n.shape}. "
            "Give every row its own number of trials."
        )
        raise DataError(msg)
    if (k > n).any():
        at = first(k > n)
        msg = (
            f"successes: must not exceed trials; {where(at)} has {k[at]:g} successes in "
            f"{n[at]:g} trials."
        )
        raise DataError(msg)
    return successes, k, n


def categories(
    data: Any, levels: tuple[Hashable, ...] | None, size: int, other: Hashable | None = None
) -> Categories:
    """Check labels or multinomial counts against the model's categories."""
    inner, given = _unwrapped(data)
    if not isinstance(inner, MultinomialCounts):
        block = read_codes(inner, "x", levels) or read(inner, "x")
        numbers = codes(block, levels, size, other)
        batch = _batch(block, numbers.ndim - 1, given)
        return Categories(numbers, counted=False, batch=batch)
    if sparse(inner.counts):
        block, values = _sparse_counts(inner.counts)
    else:
        block = read(inner.counts, "counts", vector_row=True)
        values = counts(block)
    if values.ndim < 2 or values.shape[-1] != size:  # noqa: PLR2004 - rows and categories
        msg = (
            f"counts: must have one column for each of the model's {size} categories; got "
            f"shape {values.shape}."
        )
        raise DataError(msg)
    if levels and block.columns and block.columns != levels:
        msg = (
            f"counts: columns must be the model's categories in the model's order "
            f"{levels}; got {block.columns}. Reorder the columns."
        )
        raise DataError(msg)
    batch = _batch(block.without_columns(), values.ndim - 2, given)
    return Categories(values, counted=True, batch=batch)


def outcomes(data: Any, levels: tuple[Hashable, ...]) -> Outcomes:
    """Check labels against a model's finite set of outcomes."""
    inner, given = _unwrapped(data)
    if given.group is not None:
        msg = (
            "data: one belief is about one set of rows; got groups. Update the prior with the rows "
            "of each group separately."
        )
        raise DataError(msg)
    block = read(inner, "x", scalar_row=True)
    if block.values.ndim != 1:
        msg = f"x: must be one column of outcomes; got shape {block.values.shape}. Select one."
        raise DataError(msg)
    found = places(block.values, levels)
    if (found < 0).any():
        at = first(found < 0)
        some = ", ".join(map(shown, levels[:3]))
        msg = (
            f"x: must hold only the model's {len(levels)} outcomes ({some}, ...); {where(at)} "
            f"holds {shown(block.values[at])}. Make the hypotheses about it, too."
        )
        raise DataError(msg)
    weights = None if given.weights is None else checked_weights(given.weights, block)
    return Outcomes(found, block.row_labels(), weights)


def measurements(data: Any, *, as_given: bool = False) -> Measurements:
    """Check rows of numbers, or rows of numbers in groups; in float64, or for sums as given."""
    inner, given = _unwrapped(data)
    block = read(inner, "x")
    x = measured_as_given(block) if as_given else measured(block)
    return Measurements(x, _batch(block, x.ndim - 1, given))


def vectors(data: Any, *, as_given: bool = False) -> Vectors:
    """Check rows of vectors of numbers, maybe in groups; in float64, or for sums as given."""
    inner, given = _unwrapped(data)
    block = read(inner, "x")
    x = measured_as_given(block) if as_given else measured(block)
    if x.ndim != 2 or x.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        msg = (
            f"x: must have rows and columns, one vector a row; got shape {x.shape}. For a single "
            "column use x[:, None]; for a single row x[None, :]."
        )
        raise DataError(msg)
    return Vectors(x, block.columns, _batch(block.without_columns(), 0, given))


def regression(data: Any) -> Regression:
    """Check a `Design` or a pair ``(X, y)``, maybe weighted."""
    weights = None
    if isinstance(data, Weighted):
        data, weights = data.rows, data.weights
    data = paired(data)
    left, right = read(data.features, "features"), read(data.target, "target")
    same_rows(left, right)
    heavy = None if weights is None else checked_weights(weights, left)
    (X, names), y = design(left, intercept=data.intercept), finite(right)
    squarable(X, "features")
    squarable(y, "target")
    batch = np.broadcast_shapes(X.shape[1:-1], y.shape[1:]) if _fits(X, y) else None
    if batch is None:
        msg = (
            f"target: batch axes must fit those of features; got {y.shape[1:]} and {X.shape[1:-1]}."
        )
        raise DataError(msg)
    coords: Coords = {"target": right.columns} if right.columns else {}
    y = y.reshape(len(y), *(1,) * (len(batch) - (y.ndim - 1)), *y.shape[1:])
    y = np.broadcast_to(y, (len(y), *batch))
    return Regression(X, y, names, coords, left.row_labels(), heavy)


def design_rows(data: Any) -> DesignRows | None:
    """Read a `Design` or a pair ``(X, y)`` without a copy, and without looking at the numbers.

    None where they are a batch or need to be converted; then `regression` reads them.
    """
    data = paired(data)
    right = read(data.target, "target")
    X: Values | tuple[Values, ...]
    apart = read_columns(data.features, "features")
    if apart is None:
        left = read(data.features, "features")
        X, shape = left.values, left.values.shape
    else:
        left, X = apart
        shape = (len(right.values), len(X))
    same_rows(left, right)
    arrays = (right.values, *(X if isinstance(X, tuple) else (X,)))
    numeric = all(values.dtype.kind in "biuf" for values in arrays)
    if len(shape) != 2 or right.values.ndim != 1 or not numeric:  # noqa: PLR2004 - no batch
        return None
    names = _design_names(left.columns, shape, intercept=data.intercept)
    return DesignRows(X, right.values, data.intercept, names, left.row_labels)


def labelled(data: Any, classes: tuple[Hashable, ...] | None, size: int) -> Labelled:
    """Check a `Design` or a pair ``(X, y)``, maybe weighted, whose target holds classes.

    Without labels of the classes these are numbers 0, 1, ... or booleans.
    """
    weights = None
    if isinstance(data, Weighted):
        data, weights = data.rows, data.weights
    data = paired(data)
    left = read(data.features, "features")
    X, names = design(left, intercept=data.intercept)
    squarable(X, "features")
    if X.ndim != 2:  # noqa: PLR2004 - rows and columns
        msg = f"features: must have rows and columns only; got shape {X.shape}."
        raise DataError(msg)
    counted = isinstance(data.target, (BinomialCounts, MultinomialCounts))
    if isinstance(data.target, BinomialCounts):
        if size != 2:  # noqa: PLR2004 - failures and successes
            msg = (
                f"target: BinomialCounts are of two classes, the model has {size}; use "
                "MultinomialCounts."
            )
            raise DataError(msg)
        right = read(data.target.successes, "successes")
        found = trials(data.target)
        successes = np.asarray(found.successes)
        counts = np.stack([np.asarray(found.trials) - successes, successes], axis=-1)
    elif isinstance(data.target, MultinomialCounts):
        if sparse(data.target.counts):
            msg = "target: counts of classes must not be sparse; use .toarray()."
            raise DataError(msg)
        right = read(data.target.counts, "counts")
        counts = categories(data.target, classes, size).values
    else:
        right = read(data.target, "target")
        if classes is None and right.values.dtype.kind == "b":
            right = replace(right, values=right.values.astype(np.int8))
        levels = tuple(range(size)) if classes is None else classes
        code = codes(right, levels, size, what="classes")
        counts = np.zeros((*code.shape, size), dtype=np.int64)
        np.put_along_axis(counts, code[..., None].astype(np.intp), 1, axis=-1)
    if counts.ndim != 2:  # noqa: PLR2004 - rows and classes
        msg = f"target: must hold one class a row; got shape {counts.shape[:-1]}."
        raise DataError(msg)
    same_rows(left, right)
    heavy = None if weights is None else checked_weights(weights, left)
    return Labelled(X, counts, counted, names, left.row_labels(), heavy)


def paired(data: Any) -> Design:
    """Return a `Design` or a pair ``(X, y)`` as a `Design`."""
    if isinstance(data, tuple) and len(data) == 2:  # noqa: PLR2004 - X and y
        data = Design(*data)
    if not isinstance(data, Design):
        msg = (
            f"data: must be a bayesmodels.Design or a pair (X, y); got {type(data).__name__}. "
            "For one frame use Design.from_frame(frame, target=...)."
        )
        raise DataError(msg)
    return data


def design(features: Any, *, intercept: bool = False) -> tuple[Array, tuple[Hashable, ...] | None]:
    """Check a design matrix; return it with its column names, if it has any."""
    block = features if isinstance(features, Argument) else read(features, "features")
    X = finite(block)
    if X.ndim < 2:  # noqa: PLR2004 - rows and columns
        msg = (
            f"features: must have rows and columns, got shape {X.shape}. For a single column use "
            "x[:, None]; for a single row x[None, :]."
        )
        raise DataError(msg)
    names = _design_names(block.columns, X.shape, intercept=intercept)
    if intercept:
        X = np.concatenate([np.ones((*X.shape[:-1], 1)), X], axis=-1)
    return X, names


def _design_names(
    names: tuple[Hashable, ...] | None, shape: tuple[int, ...], *, intercept: bool
) -> tuple[Hashable, ...] | None:
    """Return the names of the columns of a design matrix; check that it has a column."""
    if intercept and names and "intercept" in names:
        msg = "features: a column 'intercept' is there already; leave intercept=False."
        raise DataError(msg)
    if not (shape[-1] or intercept):
        msg = "features: must have at least one column; got none. Name some, or add an intercept."
        raise DataError(msg)
    return ("intercept", *names) if intercept and names is not None else names


def as_many_columns(columns: int, size: int) -> None:
    """Check that there is a column for each coefficient."""
    if columns != size:
        hint = " Was the intercept forgotten (intercept=True)?" if columns == size - 1 else ""
        msg = f"features: must have {size} columns, one a coefficient; got {columns}.{hint}"
        raise DataError(msg)


def same_features(
    before: tuple[Hashable, ...] | None, now: tuple[Hashable, ...] | None
) -> tuple[Hashable, ...] | None:
    """Check that columns have the names and the order they had before; return their names."""
    if before is not None and now is not None and before != now:
        msg = (
            f"features: columns must be {before}, in this order; got {now}. Select and reorder "
            "the columns."
        )
        raise DataError(msg)
    return before if before is not None else now


def declarable(data: Any, statistic: type, likelihood: str) -> None:
    """Check that a PyMC model with this likelihood can be declared from these data."""
    if likelihood not in ("rows", "statistic"):
        msg = f"likelihood: must be 'rows' or 'statistic'; got {likelihood!r}."
        raise DataError(msg)
    if likelihood == "rows" and isinstance(data, statistic):
        msg = (
            "data: a statistic has forgotten its rows; pass the rows, or declare the model with "
            "likelihood='statistic'."
        )
        raise DataError(msg)
    if likelihood == "rows" and weighted(data):
        msg = "data: weighted rows are declared from their statistic: likelihood='statistic'."
        raise DataError(msg)


def weighted(data: Any) -> bool:
    """Return whether the rows have weights."""
    if isinstance(data, Grouped):
        return weighted(data.rows)
    return isinstance(data, Weighted) or (isinstance(data, Split) and data.weights is not None)


def parameter(
    value: Any,
    argument: str,
    *,
    positive: bool = False,
    nonnegative: bool = False,
    most: float = LARGEST_MEASUREMENT,
) -> Array:
    """Check one parameter of a prior: finite numbers within their range; returned read-only.

    None is larger than `most`, so that its square, or for squares the sum of some, is finite.
    """
    try:
        result = finite(read(value, argument, bare=True))
    except DataError as error:
        raise PriorError(str(error).removesuffix(DROP_ROWS)) from None
    low = (result <= 0) if positive else (result < 0) & nonnegative
    if low.any():
        rule = "positive" if positive else "zero or positive"
        msg = f"{argument}: must be {rule}; got {result[first(low)]:g}{_of(first(low))}."
        raise PriorError(msg)
    if (high := np.abs(result) > most).any():
        msg = (
            f"{argument}: must not exceed {most:g} in size, beyond which float64 overflows; got "
            f"{result[first(high)]:g}{_of(first(high))}."
        )
        raise PriorError(msg)
    result = result.copy()
    result.setflags(write=False)
    return result


def names_of(
    given: Sequence[Hashable] | None, argument: str, **parameters: Any
) -> Sequence[Hashable] | None:
    """Return the names along the last axis of parameters, which must not have different ones.

    They are those `given` as an `argument`, or else those of a pandas series or frame.
    """
    for name, value in parameters.items():
        if not hasattr(value, "iloc"):
            continue
        axis = value.axes[-1]
        if type(axis).__name__ == "RangeIndex":
            continue
        found = tuple(axis.tolist())
        if given is None:
            given, argument = found, name
        elif found != tuple(given):
            msg = (
                f"{name}: must have the labels of {argument} {listed(tuple(given))}, in this "
                f"order; got {listed(found)}. Reorder it, or drop its labels (.to_numpy())."
            )
            raise PriorError(msg)
    return given


def coords_of(coords: Any, **parameters: Any) -> Any:
    """Return coordinates of a batch: those given, or the labels of parameters that are series."""
    if coords:
        names_of(list(coords.values())[-1], "coords", **parameters)
        return coords
    found = names_of(None, "coords", **parameters)
    series = any(getattr(value, "ndim", 0) == 1 for value in parameters.values())
    return {"dim_0": found} if found is not None and series else coords


def together(**parameters: Array) -> tuple[Array, ...]:
    """Broadcast parameters of a prior to one shape."""
    try:
        return np.broadcast_arrays(*parameters.values())
    except ValueError:
        shapes = " and ".join(str(value.shape) for value in parameters.values())
        msg = (
            f"{', '.join(parameters)}: must have shapes that fit each other; got {shapes}. Give "
            "one number for all, or one for each member of the batch."
        )
        raise PriorError(msg) from None


def totals(value: Any, argument: str, *, counted: bool = False) -> Array:
    """Check entries of a sufficient statistic: finite, not negative, and if `counted` countable."""
    result = finite(read(value, argument, bare=True))
    if (result < 0).any():
        at = first(result < 0)
        msg = f"{argument}: must not be negative; got {result[at]:g}{_of(at)}."
        raise DataError(msg)
    if counted:
        _countable(result, argument)
    result = result.copy()
    result.setflags(write=False)
    return result


def _countable(total: Any, argument: str) -> None:
    many = np.asarray(total >= LARGEST_COUNT)
    if many.any():
        at = first(many)
        msg = (
            f"{argument}: must be below 2**53, where one row more would make no difference; got "
            f"{np.asarray(total)[at]:g}{_of(at)}. Keep these rows apart, or let each count as "
            "less: statistic.discounted(rho)."
        )
        raise DataError(msg)


def made[V](kind: type[V], *fields: Any) -> V:
    """Make a belief or statistic of results of our own, which need no check but of their size.

    Parameters
    ----------
    kind : type
        Class of the value.
    *fields
        Its fields in their order, as its constructor would fill them in.

    Raises
    ------
    DataError
        If a number is so large that float64 overflows, or rows can't be counted.
    """
    value = object.__new__(kind)
    names = kind.__match_args__  # type: ignore[attr-defined]
    for name, field in zip(names, fields, strict=False):
        # What is added up of single numbers is no array.
        result = np.asarray(field) if isinstance(field, np.generic) else field
        counted = name in _COUNTED
        if isinstance(result, np.ndarray):
            fine = np.abs(result) <= (LARGEST_COUNT - 1 if counted else LARGEST_SQUARE)
            if not (fine.all() if result.ndim else fine):  # false of NaN
                if counted:
                    _countable(result, name)
                msg = (
                    f"{'mean' if name == 'location' else name}: is beyond what float64 can compute "
                    "with. Choose a larger unit, or fewer rows."
                )
                raise DataError(msg)
            result.setflags(write=False)
        elif counted:
            _countable(result, name)
        object.__setattr__(value, name, result)
    return value


_COUNTED = ("ones", "zeros", "counts", "n")


def alike(one: Any, other: Any, kind: type) -> None:
    """Check that statistics are of one kind, with as many columns or categories."""
    if not isinstance(other, kind):
        msg = (
            "data: statistics that are merged or taken out must be of one model; got "
            f"{type(one).__name__} and {type(other).__name__}. Make both with model.statistic."
        )
        raise DataError(msg)


def left_over(difference: Any, size: Any, argument: str) -> Array:
    """Return what is left of a total when a part is taken out of it, which must not be negative.

    Parameters
    ----------
    difference : array_like
        The total less the part.
    size : array_like
        What both add up to, whose rounding may have put the difference below zero.
    argument : str
        What the total is of.
    """
    result = np.asarray(difference, dtype=float)
    below = result < -_ROUNDINGS * EPS * np.asarray(size)
    if below.any():
        at = first(below)
        msg = (
            f"{argument}: rows to be taken out must be among those that are there; "
            f"{result[at]:g} would be left{_of(at)}."
        )
        raise DataError(msg)
    return np.maximum(result, 0.0)


_ROUNDINGS = 64
"""Of a sum of squares over any number of rows that are added up in pairs."""


def integers(value: Any, argument: str, least: int = 0) -> NDArray[np.int64]:
    """Check a whole number or an array of them, each at least `least`."""
    numbers = counts(read(value, argument, bare=True))
    if (numbers < least).any():
        at = first(numbers < least)
        msg = f"{argument}: must be at least {least}; got {numbers[at]:g}{_of(at)}."
        raise DataError(msg)
    return numbers


LARGEST_SQUARE = 1e305
"""Of scales and sums of squares: measurements have squares up to 1e300."""

_REAL = (int, float, np.integer, np.floating)


def count(value: Any, argument: str, least: int = 0) -> int:
    """Check one whole number, at least `least`."""
    number = value[()] if isinstance(value, np.ndarray) else value
    if not isinstance(number, _REAL) or number % 1 != 0 or number < least:
        msg = f"{argument}: must be at least {least}, one whole number; got {shown(value)}."
        raise DataError(msg)
    return int(number)


def proportion(value: Any, argument: str) -> float:
    """Check one number strictly between 0 and 1."""
    number = value[()] if isinstance(value, np.ndarray) else value
    if not isinstance(number, _REAL) or not 0 < number < 1:
        msg = f"{argument}: must be strictly between 0 and 1; got {shown(value)}."
        raise DataError(msg)
    return float(number)


def randomness(rng: Any) -> np.random.Generator:
    """Return a source of randomness: a generator as it is, one of a seed, or a fresh one."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        msg = (
            "rng: must be a numpy.random.Generator, a seed such as 1, or None for fresh "
            f"randomness; got {shown(rng)}."
        )
        raise DataError(msg) from None


def asked(draws: Any, rng: Any) -> tuple[int, np.random.Generator]:
    """Check of what is to be sampled how many draws there shall be, and from what randomness."""
    return count(draws, "draws", 1), randomness(rng)


def _select(frame: Any, target: str, features: Sequence[str] | None) -> tuple[Any, Any]:
    import narwhals as nw

    native = wrapped(frame, "frame")
    if not isinstance(native, nw.DataFrame):
        msg = f"frame: must be a frame with named columns; got {type(frame).__name__}."
        raise DataError(msg)
    columns = native.columns
    if features is not None and isinstance(features, str):
        features = [features]
    chosen = [c for c in columns if c != target] if features is None else list(features)
    unique(tuple(chosen), "features")
    if target in chosen:
        msg = f"features: must not hold the target {target!r}; leave it out of features."
        raise DataError(msg)
    for name in (target, *chosen):
        if name not in columns:
            msg = f"frame: has no column {name!r}; its columns are {columns}."
            raise DataError(msg)
    # By position, since names may be numbers or tuples.
    y = native[:, columns.index(target)].to_native()
    if not chosen:  # an intercept alone: polars would forget the number of rows
        return y, Argument("features", np.empty((len(native), 0)), (), nw.maybe_get_index(native))
    return y, native[:, [columns.index(name) for name in chosen]].to_native()


# --- rows and the problems they belong to --------------------------------------------------------


@dataclass(frozen=True)
class _Given:
    """What the wrappers of the rows said about them."""

    group: Grouped | Split | None
    weights: Any


def _unwrapped(data: Any) -> tuple[Any, _Given]:
    group, weights = None, None
    while isinstance(data, (Grouped, Split, Weighted)):
        if isinstance(data, Weighted):
            if weights is not None:
                msg = "weights: given twice; multiply them."
                raise DataError(msg)
            data, weights = data.rows, data.weights
            continue
        if group is not None:
            msg = "rows: grouped twice; group by one label, such as a tuple of the two."
            raise DataError(msg)
        group, data = data, data.rows
    return data, _Given(group, group.weights if isinstance(group, Split) else weights)


def _batch(block: Argument, inner: int, given: _Given) -> Batch:
    """Return to which members of a batch the rows belong."""
    weights = None
    if given.weights is not None:
        weights = checked_weights(given.weights, block)
    if given.group is None:
        coords: Coords = {"feature": block.columns} if block.columns else {}
        return Batch(coords, None, inner, block.row_labels(), weights)
    if inner > 1:
        msg = f"rows: grouped data must be a column or a table; got shape {block.values.shape}."
        raise DataError(msg)
    if isinstance(given.group, Split):
        lead, at = given.group.coords, given.group.codes
        if block.values.shape[0] != len(at):
            msg = (
                f"{block.argument}: must have as many rows as target; got "
                f"{block.values.shape[0]} and {len(at)}."
            )
            raise DataError(msg)
    else:
        lead, at = _groups(block, given.group)
    columns = {}
    if inner:
        columns = {"feature": block.columns or tuple(range(block.values.shape[1]))}
    return Batch({**lead, **columns}, at, inner, block.row_labels(), weights)


def checked_weights(weights: Any, rows: Argument) -> Array:
    """Check weights of rows: as many as there are rows, finite, zero or positive."""
    block = read(weights, "weights")
    same_rows(rows, block)
    values = totals(block, "weights")
    if values.ndim != 1:
        msg = f"weights: must hold one number a row; got shape {values.shape}."
        raise DataError(msg)
    return values


def _groups(block: Argument, group: Grouped) -> tuple[Coords, NDArray[np.intp]]:
    by = read(group.by, "by")
    same_rows(block, by)
    if by.values.ndim != 1:
        msg = f"by: must hold one label a row; got shape {by.values.shape}."
        raise DataError(msg)
    gone = missing_entries(by.values)
    if gone is not None:
        raise DataError(missing_message("by", gone))
    levels = unique(tuple(_group_order(group, index_of(by.values))), "by: labels")
    found = places(by.values, levels)
    if (found < 0).any():
        at = first(found < 0)
        msg = (
            f"by: must hold only the given groups {listed(levels)}; {where(at)} holds "
            f"{shown(by.values[at])}."
        )
        raise DataError(msg)
    return {"group": levels}, found


def sparse(values: Any) -> bool:
    """Return whether values are a SciPy sparse array or matrix."""
    return bool(issparse(values))


def _sparse_counts(values: Any) -> tuple[Argument, Any]:
    """Check a sparse table of counts through its stored entries alone."""
    from scipy.sparse import csr_array

    # As it is if it can be, since it remembers whether cells are given twice.
    table = values if isinstance(values, csr_array) else csr_array(values)
    whole_numbers(Argument("counts", table.data))
    return Argument("counts", cast("Any", table)), table


def _group_order(group: Grouped, given: Any) -> list[Hashable]:
    """Return the groups as told, else in the order of categories, else by value."""
    if group.groups is not None:
        if isinstance(group.groups, str):
            msg = f"groups: must be a sequence of labels; got {group.groups!r}. Write it in a list."
            raise DataError(msg)
        return list(unique(tuple(group.groups), "groups"))
    try:
        present = given.unique()
    except TypeError as error:
        msg = f"by: must hold labels, such as text or numbers; got {error}."
        raise DataError(msg) from None
    categories = getattr(getattr(group.by, "dtype", None), "categories", None)
    if categories is not None and hasattr(categories, "__iter__"):
        return [category for category in categories if category in present]
    try:
        return list(present.sort_values().tolist())
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in present}))
        msg = (
            f"by: labels must be of one kind, since groups are ordered by value; got {kinds}. "
            "Convert them, or give groups=[...] in the order wanted."
        )
        raise DataError(msg) from None


def same_rows(left: Argument, right: Argument) -> None:
    """Check that two arguments have the same rows: as many, and under the same index."""
    if left.values.shape[0] != right.values.shape[0]:
        msg = (
            f"{right.argument}: must have as many rows as {left.argument}; got "
            f"{right.values.shape[0]} and {left.values.shape[0]}."
        )
        raise DataError(msg)
    if left.index is not None and right.index is not None and not left.index.equals(right.index):
        msg = (
            f"{right.argument}: must have the index of {left.argument}, row for row. Align them "
            "(b.loc[a.index]) or drop the index (.to_numpy())."
        )
        raise DataError(msg)


def _fits(X: Values, y: Values) -> bool:
    try:
        np.broadcast_shapes(X.shape[1:-1], y.shape[1:])
    except ValueError:
        return False
    return True


def _of(at: tuple[int, ...]) -> str:
    return f" at position {at[0] if len(at) == 1 else at}" if at else ""
