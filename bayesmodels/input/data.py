"""Rows in any common container, checked once and turned into arrays.

Data may be lists, NumPy arrays, or pandas, polars and Arrow series and tables. Axis 0
counts the rows; the axes after it are a batch of independent problems, and the last axis of a
design matrix or a table of counts belongs to the model. Column names become the labels of the axis
``feature`` and an index becomes the labels of the axis ``row``.

Every complaint about input is worded in this room, so that code behind it may trust what it is
given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesmodels.errors import DataError
from bayesmodels.input.containers import (
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
    same_cells,
    same_rows,
    shown,
)
from bayesmodels.input.domains import (
    binary,
    codes,
    counts,
    finite,
    measured,
    measured_in_dtype,
    refuse,
    squarable,
    whole_numbers,
)
from bayesmodels.input.labels import Coords, numbered, unique
from bayesmodels.input.parameters import *  # noqa: F403 - models call this room `checked`
from bayesmodels.input.parameters import totals
from bayesmodels.input.wrappers import (
    BinomialCounts,
    Censored,
    Counts,
    Design,
    Grouped,
    MultinomialCounts,
    Weighted,
)
from bayesmodels.numerics import Array
from bayesmodels.numerics.moments import sums


@dataclass(frozen=True)
class Split:
    """Rows that were read before, with the member of a batch to which each belongs.

    Composite models pass it to their parts. Codes number all places of the axes in `coords`,
    the last axis fastest; axes of the rows themselves come after them.
    """

    rows: Any
    codes: NDArray[np.intp]
    coords: Coords
    weights: Array | None = None


@dataclass(frozen=True)
class Batch:
    """Which members of a batch the rows belong to.

    `groups` has the member of the leading axes to which each row belongs, if rows are in groups;
    these axes have the lengths `lead` and `size` places. The rows themselves have `inner` axes of
    the batch, the last ones in `coords`. `rows` are labels of the rows, `weights` what each counts.
    """

    coords: Coords
    rows: Sequence[Hashable]
    inner: int = 0
    weights: Array | None = None
    groups: NDArray[np.intp] | None = None
    lead: tuple[int, ...] = ()
    size: int = 1

    @property
    def axes(self) -> Coords:
        """Labels along the rows' own axes, as far as somebody named them."""
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
        return values if self.groups is None else values.reshape(self.size, -1)[self.groups[0]]

    def of_rows(self, parameter: Any) -> Any:
        """Return a PyTensor parameter of shape (batch..., event...) for each row."""
        if self.groups is None:
            return parameter
        return parameter[np.unravel_index(self.groups, self.lead)]

    def totals(self, x: NDArray[Any]) -> Array:
        """Add up rows, within groups if there are any; in floats, which never wrap around."""
        total = sums(x, self.groups, self.size, self.weights)
        return total.reshape((*self.lead, *x.shape[1:]))

    def row_counts(self, n: int) -> Array:
        """Return the total weight of n rows, of those of each member where rows are in groups."""
        if self.groups is None:
            total = np.array(float(n) if self.weights is None else self.weights.sum())
        else:
            total = np.bincount(self.groups, self.weights, self.size).astype(float)
        return total.reshape((*self.lead, *(1,) * self.inner))


@dataclass(frozen=True)
class Trials:
    """Checked data of a Bernoulli or binomial model; `trials` is None for rows of 0 and 1."""

    successes: Values
    trials: Values | None
    batch: Batch


@dataclass(frozen=True)
class Categories:
    """Checked numbers of categories, or counts of a multinomial model, maybe SciPy sparse ones.

    `names` are the names of the columns of counts, if they have some.
    """

    values: Any
    counted: bool
    batch: Batch
    names: tuple[Hashable, ...] | None = None


@dataclass(frozen=True)
class Measured:
    """Checked numbers x of shape (n, batch...), or (n, D) with names of columns that have some."""

    x: Values
    batch: Batch
    features: tuple[Hashable, ...] | None = None


@dataclass(frozen=True)
class Exposed:
    """Checked rows x of shape (n, batch...) with the events and the exposure of each.

    Of counts x are the events; of waiting times, the exposures, with one event or none.
    """

    x: Array
    events: Array
    exposure: Array
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
    """A design matrix and its target as read: shapes are checked, numbers are not.

    X has shape (n, p), or is a tuple of p columns of shape (n,), and has no column of ones; y has
    shape (n,). `features` are names of the columns, that of ones included, if it is one.
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
        counts = self.counts.astype(np.float64, order="F")
        return counts if self.weights is None else counts * self.weights[:, None]


# --- one value a row, or one count ---------------------------------------------------------------


def trials(data: Any) -> Trials:
    """Check 0/1 rows, binomial counts, or either of them in groups."""
    group, weights = None, None
    if isinstance(data, (Grouped, Split, Weighted)):
        data, group, weights = _unwrapped(data)
    if not isinstance(data, BinomialCounts):
        block, total = read(data, "x"), None
        result = binary(block)
    elif weights is not None:
        raise DataError(
            "weights: rows of BinomialCounts have none; weight single trials, rows of 0 and 1."
        )
    else:
        block, result, total = data.checked()
    if group is None and weights is None and block.columns is None and block.index is None:
        return Trials(result, total, Batch({}, range(len(result)), result.ndim - 1))
    return Trials(result, total, _batch(block, result.ndim - 1, group, weights))


def categories(
    data: Any, levels: tuple[Hashable, ...] | None, size: int, other: Hashable | None = None
) -> Categories:
    """Check labels or multinomial counts against the model's categories."""
    inner, group, weights = _unwrapped(data)
    if not isinstance(inner, MultinomialCounts):
        block = read_codes(inner, "x", levels) or read(inner, "x")
        numbers = codes(block, levels, size, other)
        batch = _batch(block, numbers.ndim - 1, group, weights)
        return Categories(numbers, counted=False, batch=batch)
    if sparse(inner.counts):
        block, values = _sparse_counts(inner.counts)
    else:
        block = read(inner.counts, "counts", vector_row=True)
        values = counts(block)
    if values.ndim < 2 or values.shape[-1] != size:  # noqa: PLR2004 - rows and categories
        raise DataError(
            f"counts: must have one column for each of the model's {size} categories; got "
            f"shape {values.shape}."
        )
    if levels and block.columns and block.columns != levels:
        raise DataError(
            f"counts: columns must be the model's categories in the model's order "
            f"{levels}; got {block.columns}. Reorder the columns."
        )
    names = block.columns
    default = numbered(size)
    if names and not levels and names != default and not {*default}.isdisjoint(names):
        raise DataError(
            f"counts: columns that are numbers must be the model's categories 0 to {size - 1}, "
            f"since it has no others; got {names}. Give the model the names of the columns: "
            "categories=[...]."
        )
    batch = _batch(block.without_columns(), values.ndim - 2, group, weights)
    return Categories(values, counted=True, batch=batch, names=names)


def outcomes(data: Any, levels: tuple[Hashable, ...]) -> Categories:
    """Check labels against a model's finite set of outcomes."""
    inner, group, weights = _unwrapped(data)
    if group is not None:
        raise DataError(
            "data: one belief is about one set of rows; got groups. Update the prior with the rows "
            "of each group separately."
        )
    block = read(inner, "x", scalar_row=True)
    if block.values.ndim != 1:
        raise DataError(
            f"x: must be one column of outcomes; got shape {block.values.shape}. Select one."
        )
    result = places(block.values, levels)
    if (result < 0).any():
        examples = ", ".join(map(shown, levels[:3]))
        rule = f"hold only the model's {len(levels)} outcomes ({examples}, ...)"
        refuse(block, first(result < 0), rule, " Make the hypotheses about it, too.")
    return Categories(result, counted=False, batch=_batch(block, 0, group, weights))


def measurements(data: Any, *, keep_dtype: bool = False) -> Measured:
    """Check rows of numbers, maybe in groups; as float64, or in their own dtype for sums."""
    inner, group, weights = _unwrapped(data)
    block = read(inner, "x")
    x = measured_in_dtype(block) if keep_dtype else measured(block)
    return Measured(x, _batch(block, x.ndim - 1, group, weights))


def exposed(data: Any) -> Exposed:
    """Check numbers of events and their exposures, 1 by default, maybe in groups."""
    inner, group, weights = _unwrapped(data)
    rows = inner if isinstance(inner, Counts) else Counts(inner)
    block = read(rows.values, "values" if rows is inner else "x", scalar_row=rows is inner)
    x = counts(block).astype(np.float64)
    hint = " Leave out rows in which nothing could have happened."
    exposures = read(rows.exposure, "exposure", scalar_row=True)
    exposure = _above_zero(exposures, hint)
    if exposure.ndim < x.ndim:
        exposure = exposure.reshape(*exposure.shape, *(1,) * (x.ndim - exposure.ndim))
    if exposure.shape != x.shape and exposure.size > 1 and exposure.shape != (len(x), 1):
        raise DataError(
            f"exposure: must have the shape of values, or be one number, or one a row; got "
            f"{exposure.shape} and {x.shape}."
        )
    if len(exposure) == len(x):
        block = same_cells(block, exposures)
    batch = _batch(block, x.ndim - 1, group, weights)
    return Exposed(x, x, np.broadcast_to(exposure, x.shape), batch)


def _above_zero(block: Argument, hint: str) -> Array:
    """Return measured values, which are positive."""
    x = measured(block)
    if (x <= 0).any():
        refuse(block, first(x <= 0), "be positive", hint)
    return x


def waited(data: Any) -> Exposed:
    """Check waiting times, some of them maybe cut short, maybe in groups."""
    inner, group, weights = _unwrapped(data)
    cut = isinstance(inner, Censored)
    block = read(inner.times if cut else inner, "times" if cut else "x", scalar_row=cut)
    x = _above_zero(block, " Round no waiting time down to nothing.")
    ends = np.ones(x.shape)
    if cut:
        observed = read(inner.observed, "observed", scalar_row=True)
        ends = binary(observed).astype(np.float64)
        if ends.shape != x.shape:
            raise DataError(
                f"observed: must have the shape of times; got {ends.shape} and {x.shape}."
            )
        block = same_cells(block, observed)
    return Exposed(x, ends, x, _batch(block, x.ndim - 1, group, weights))


def vectors(data: Any, *, keep_dtype: bool = False) -> Measured:
    """Check rows of vectors, maybe in groups; as float64, or in their own dtype for sums."""
    inner, group, weights = _unwrapped(data)
    block = read(inner, "x")
    x = measured_in_dtype(block) if keep_dtype else measured(block)
    if x.ndim != 2 or x.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        raise DataError(
            f"x: must have rows and columns, one vector a row; got shape {x.shape}. For a single "
            "column use x[:, None]; for a single row x[None, :]."
        )
    return Measured(x, _batch(block.without_columns(), 0, group, weights), block.columns)


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


# --- a design matrix and its target --------------------------------------------------------------


def regression(data: Any) -> Regression:
    """Check a `Design` or a pair ``(X, y)``, maybe weighted."""
    data, weights = _weighted_pair(data)
    left, right = read(data.features, "features"), read(data.target, "target")
    left = same_rows(left, right)
    heavy = _heavy(weights, left)
    (X, names), y = design(left, intercept=data.intercept), finite(right)
    squarable(X, "features")
    squarable(y, "target")
    try:
        batch = np.broadcast_shapes(X.shape[1:-1], y.shape[1:])
    except ValueError:
        raise DataError(
            f"target: batch axes must fit those of features; got {y.shape[1:]} and {X.shape[1:-1]}."
        ) from None
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
    columns = read_columns(data.features, "features")
    if columns is None:
        left = read(data.features, "features")
        X, shape = left.values, left.values.shape
    else:
        left, X = columns
        shape = (len(right.values), len(X))
    left = same_rows(left, right)
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
    data, weights = _weighted_pair(data)
    left = read(data.features, "features")
    X, names = design(left, intercept=data.intercept)
    squarable(X, "features")
    one_table(X)
    target, counted = data.target, True
    if isinstance(target, BinomialCounts):
        if size != 2:  # noqa: PLR2004 - failures and successes
            raise DataError(
                f"target: BinomialCounts are of two classes, the model has {size}; use "
                "MultinomialCounts."
            )
        right, successes, total = target.checked()
        counts = np.stack([total - successes, successes], axis=-1)
    elif isinstance(target, MultinomialCounts):
        if sparse(target.counts):
            raise DataError("target: counts of classes must not be sparse; use .toarray().")
        right = read(target.counts, "counts")
        counts = categories(target, classes, size).values
    else:
        right, counted = read(target, "target"), False
        if classes is None and right.values.dtype.kind == "b":
            right = replace(right, values=right.values.astype(np.int8))
        levels = tuple(range(size)) if classes is None else classes
        code = codes(right, levels, size, what="classes")
        counts = np.zeros((*code.shape, size), dtype=np.int64)
        np.put_along_axis(counts, code[..., None].astype(np.intp), 1, axis=-1)
    if counts.ndim != 2:  # noqa: PLR2004 - rows and classes
        raise DataError(f"target: must hold one class a row; got shape {counts.shape[:-1]}.")
    left = same_rows(left, right)
    heavy = _heavy(weights, left)
    return Labelled(X, counts, counted, names, left.row_labels(), heavy)


def _weighted_pair(data: Any) -> tuple[Design, Any]:
    """Return a design matrix with its target, and the weights of the rows."""
    return (paired(data.rows), data.weights) if isinstance(data, Weighted) else (paired(data), None)


def paired(data: Any) -> Design:
    """Return a `Design` or a pair ``(X, y)`` as a `Design`."""
    if isinstance(data, tuple) and len(data) == 2:  # noqa: PLR2004 - X and y
        data = Design(*data)
    if not isinstance(data, Design):
        raise DataError(
            f"data: must be a bayesmodels.Design or a pair (X, y); got {type(data).__name__}. "
            "For one frame use Design.from_frame(frame, target=...)."
        )
    return data


def design(features: Any, *, intercept: bool = False) -> tuple[Array, tuple[Hashable, ...] | None]:
    """Check a design matrix; return it with its column names, if it has any."""
    block = features if isinstance(features, Argument) else read(features, "features")
    X = finite(block)
    if X.ndim < 2:  # noqa: PLR2004 - rows and columns
        raise DataError(
            f"features: must have rows and columns, got shape {X.shape}. For a single column use "
            "x[:, None]; for a single row x[None, :]."
        )
    names = _design_names(block.columns, X.shape, intercept=intercept)
    if intercept:
        X = np.concatenate([np.ones((*X.shape[:-1], 1)), X], axis=-1)
    return X, names


def one_table(X: Array) -> None:
    """Check that a design matrix is no batch of them."""
    if X.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise DataError(f"features: must have rows and columns only; got shape {X.shape}.")


def _design_names(
    names: tuple[Hashable, ...] | None, shape: tuple[int, ...], *, intercept: bool
) -> tuple[Hashable, ...] | None:
    """Return the names of the columns of a design matrix; check that it has a column."""
    if intercept and names and "intercept" in names:
        raise DataError("features: a column 'intercept' is there already; leave intercept=False.")
    if not (shape[-1] or intercept):
        raise DataError(
            "features: must have at least one column; got none. Name some, or add an intercept."
        )
    return ("intercept", *names) if intercept and names is not None else names


def check_width(columns: int, size: int) -> None:
    """Check that there is a column for each coefficient."""
    if columns != size:
        hint = " Was the intercept forgotten (intercept=True)?" if columns == size - 1 else ""
        raise DataError(
            f"features: must have {size} columns, one a coefficient; got {columns}.{hint}"
        )


def same_features(
    before: tuple[Hashable, ...] | None, now: tuple[Hashable, ...] | None
) -> tuple[Hashable, ...] | None:
    """Check that columns have the names and the order they had before; return their names."""
    if before is not None and now is not None and before != now:
        raise DataError(
            f"features: columns must be {before}, in this order; got {now}. Select and reorder "
            "the columns."
        )
    return before if before is not None else now


def weighted(data: Any) -> bool:
    """Return whether the rows have weights."""
    if isinstance(data, Grouped):
        return weighted(data.rows)
    return isinstance(data, Weighted) or (isinstance(data, Split) and data.weights is not None)


# --- rows and the problems they belong to --------------------------------------------------------


def _unwrapped(data: Any) -> tuple[Any, Grouped | Split | None, Any]:
    """Return the rows without wrappers, their `Grouped` wrapper or None, and their weights."""
    group, weights = None, None
    while isinstance(data, (Grouped, Split, Weighted)):
        if isinstance(data, Weighted):
            if weights is not None:
                raise DataError("weights: given twice; multiply them.")
            data, weights = data.rows, data.weights
            continue
        if group is not None:
            raise DataError("rows: grouped twice; group by one label, such as a tuple of the two.")
        group, data = data, data.rows
    return data, group, group.weights if isinstance(group, Split) else weights


def _batch(block: Argument, inner: int, group: Grouped | Split | None, weights: Any) -> Batch:
    """Return the batch of rows: axes, groups, weights and labels."""
    if isinstance(group, Grouped):
        by = read(group.by, "by")
        block = same_rows(block, by)
    heavy, rows = _heavy(weights, block), block.row_labels()
    if group is None:
        coords: Coords = {"feature": block.columns} if block.columns else {}
        return Batch(coords, rows, inner, heavy)
    if inner > 1:
        raise DataError(
            f"rows: grouped data must be a column or a table; got shape {block.values.shape}."
        )
    if isinstance(group, Grouped):
        coords, at = _groups(group, by)
    else:
        coords, at = group.coords, group.codes
        if block.values.shape[0] != len(at):
            raise DataError(
                f"{block.argument}: must have as many rows as target; got "
                f"{block.values.shape[0]} and {len(at)}."
            )
    lead = tuple(map(len, coords.values()))
    if inner:
        coords = {**coords, "feature": block.columns or tuple(range(block.values.shape[1]))}
    return Batch(coords, rows, inner, heavy, at, lead, math.prod(lead))


def checked_weights(weights: Any, rows: Argument) -> Array:
    """Check weights of rows: one a row, finite, zero or positive."""
    block = read(weights, "weights")
    same_rows(rows, block)
    values = totals(block, "weights")
    if values.ndim != 1:
        raise DataError(f"weights: must hold one number a row; got shape {values.shape}.")
    return values


def _heavy(weights: Any, rows: Argument) -> Array | None:
    return None if weights is None else checked_weights(weights, rows)


def _groups(group: Grouped, by: Argument) -> tuple[Coords, NDArray[np.intp]]:
    if by.values.ndim != 1:
        raise DataError(f"by: must hold one label a row; got shape {by.values.shape}.")
    gone = missing_entries(by.values)
    if gone is not None:
        raise DataError(missing_message("by", gone))
    levels = unique(tuple(_group_order(group, index_of(by.values))), "by: labels")
    result = places(by.values, levels)
    if (result < 0).any():
        rule = f"hold only the given groups {listed(levels)}"
        refuse(replace(by, argument="by"), first(result < 0), rule)
    return {"group": levels}, result


def _group_order(group: Grouped, labels: Any) -> list[Hashable]:
    """Return the groups as listed, else in the order of categories, else by value."""
    if group.groups is not None:
        if isinstance(group.groups, str):
            raise DataError(
                f"groups: must be a sequence of labels; got {group.groups!r}. Write it in a list."
            )
        return list(unique(tuple(group.groups), "groups"))
    try:
        present = labels.unique()
    except TypeError as error:
        raise DataError(f"by: must hold labels, such as text or numbers; got {error}.") from None
    categories = getattr(getattr(group.by, "dtype", None), "categories", None)
    if isinstance(categories, Iterable):
        return [category for category in categories if category in present]
    try:
        return list(present.sort_values().tolist())
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in present}))
        raise DataError(
            f"by: labels must be of one kind, since groups are ordered by value; got {kinds}. "
            "Convert them, or give groups=[...] in the order wanted."
        ) from None
