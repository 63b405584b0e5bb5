"""Rows in any common container, checked once and turned into arrays.

Data may be lists, NumPy arrays, or pandas, polars and Arrow series and tables. Axis 0
counts the rows; the axes after it are a batch of independent problems, and the last axis of a
design matrix or a table of counts belongs to the model. Column names become the labels of the axis
``feature`` and an index becomes the labels of the axis ``row``.

Every complaint about input is worded here or in `containers`, so that code behind it may trust
what it is given.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.containers import (
    DROP_ROWS,
    Block,
    Values,
    first,
    missing_message,
    read,
    shown,
    where,
    wrapped,
)
from bayesmodels.errors import DataError, PriorError
from bayesmodels.labels import Coords, unique

Array = NDArray[np.float64]

LARGEST_COUNT = 2**53
"""Beyond it float64 cannot tell neighbouring whole numbers apart."""

LARGEST_MEASUREMENT = 1e150
"""Beyond it sums of squares overflow."""


# --- what users wrap their data in ------------------------------------------------------------


@dataclass(frozen=True)
class Grouped:
    """Rows split by a label: one independent problem for each group.

    Parameters
    ----------
    rows : array_like, Series, BinomialCounts or MultinomialCounts
        Data of one problem, with n rows.
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


# --- what models receive -----------------------------------------------------------------------


@dataclass(frozen=True)
class Trials:
    """Checked data of a Bernoulli or binomial model.

    ``trials`` is None for rows of 0 and 1; ``groups`` holds the group number of each row.
    """

    successes: Values
    trials: Values | None
    groups: NDArray[np.intp] | None
    coords: Coords
    rows: Sequence[Hashable]


@dataclass(frozen=True)
class Categories:
    """Checked data of a categorical model (category numbers) or a multinomial one (counted)."""

    values: Values
    counted: bool
    groups: NDArray[np.intp] | None
    coords: Coords
    rows: Sequence[Hashable]


@dataclass(frozen=True)
class Measurements:
    """Checked numbers x of shape (n, batch...), or (n,) with the group of each row."""

    x: Array
    groups: NDArray[np.intp] | None
    coords: Coords
    rows: Sequence[Hashable]


@dataclass(frozen=True)
class Regression:
    """A checked design matrix X (n, batch..., p) or (n, p) with targets y (n, batch...)."""

    X: Array
    y: Array
    features: tuple[Hashable, ...] | None
    coords: Coords
    rows: Sequence[Hashable]


def trials(data: Any) -> Trials:
    """Check 0/1 rows, binomial counts, or either of them in groups."""
    inner, group = _ungroup(data)
    if isinstance(inner, BinomialCounts):
        successes = read(inner.successes, "successes", scalar_row=True)
        total = read(inner.trials, "trials", scalar_row=True)
        _same_rows(successes, total)
        if successes.columns and total.columns and successes.columns != total.columns:
            msg = (
                f"trials: must have the columns of successes {successes.columns}, in this order; "
                f"got {total.columns}. Reorder the columns."
            )
            raise DataError(msg)
        k, n = _counts(successes), _counts(total)
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
        block, values, totals = successes, k, n
    else:
        block = read(inner, "x")
        values, totals = _binary(block), None
    coords, codes = _batch(block, values.shape[1:], group)
    return Trials(values, totals, codes, coords, block.row_labels())


def categories(data: Any, levels: tuple[Hashable, ...] | None, size: int) -> Categories:
    """Check labels or multinomial counts against the model's categories."""
    inner, group = _ungroup(data)
    if isinstance(inner, MultinomialCounts):
        block = read(inner.counts, "counts", vector_row=True)
        values = _counts(block)
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
        coords, codes = _batch(block.without_columns(), values.shape[1:-1], group)
        return Categories(
            values, counted=True, groups=codes, coords=coords, rows=block.row_labels()
        )
    block = read(inner, "x")
    numbers = _codes(block, levels, size)
    coords, codes = _batch(block, numbers.shape[1:], group)
    return Categories(numbers, counted=False, groups=codes, coords=coords, rows=block.row_labels())


def measurements(data: Any) -> Measurements:
    """Check rows of numbers, or rows of numbers in groups."""
    inner, group = _ungroup(data)
    block = read(inner, "x")
    x = _finite(block)
    _squarable(x, "x")
    coords, codes = _batch(block, x.shape[1:], group)
    return Measurements(x, codes, coords, block.row_labels())


def regression(data: Any) -> Regression:
    """Check a `Design` or a pair ``(X, y)``."""
    if isinstance(data, tuple) and len(data) == 2:  # noqa: PLR2004 - X and y
        data = Design(*data)
    if not isinstance(data, Design):
        msg = (
            f"data: must be a bayesmodels.Design or a pair (X, y); got {type(data).__name__}. "
            "For one frame use Design.from_frame(frame, target=...)."
        )
        raise DataError(msg)
    left, right = read(data.features, "features"), read(data.target, "target")
    _same_rows(left, right)
    (X, names), y = design(left, intercept=data.intercept), _finite(right)
    _squarable(X, "features")
    _squarable(y, "target")
    batch = np.broadcast_shapes(X.shape[1:-1], y.shape[1:]) if _fits(X, y) else None
    if batch is None:
        msg = (
            f"target: batch axes must fit those of features; got {y.shape[1:]} and {X.shape[1:-1]}."
        )
        raise DataError(msg)
    coords: Coords = {"target": right.columns} if right.columns else {}
    y = y.reshape(len(y), *(1,) * (len(batch) - (y.ndim - 1)), *y.shape[1:])
    return Regression(X, np.broadcast_to(y, (len(y), *batch)), names, coords, left.row_labels())


def design(features: Any, *, intercept: bool = False) -> tuple[Array, tuple[Hashable, ...] | None]:
    """Check a design matrix; return it with its column names, if it has any."""
    block = features if isinstance(features, Block) else read(features, "features")
    X = _finite(block)
    if X.ndim < 2:  # noqa: PLR2004 - rows and columns
        msg = (
            f"features: must have rows and columns, got shape {X.shape}. For a single column use "
            "x[:, None]; for a single row x[None, :]."
        )
        raise DataError(msg)
    names = block.columns
    if intercept:
        if names and "intercept" in names:
            msg = "features: a column 'intercept' is there already; leave intercept=False."
            raise DataError(msg)
        X = np.concatenate([np.ones((*X.shape[:-1], 1)), X], axis=-1)
        names = ("intercept", *names) if names is not None else None
    if X.shape[-1] == 0:
        msg = "features: must have at least one column; got none. Name some, or add an intercept."
        raise DataError(msg)
    return X, names


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


def parameter(
    value: Any, argument: str, *, positive: bool = False, nonnegative: bool = False
) -> Array:
    """Check one parameter of a prior: finite numbers within their range; returned read-only."""
    try:
        result = _finite(read(value, argument, bare=True))
    except DataError as error:
        raise PriorError(str(error).removesuffix(DROP_ROWS)) from None
    low = (result <= 0) if positive else (result < 0) & nonnegative
    if low.any():
        rule = "positive" if positive else "zero or positive"
        msg = f"{argument}: must be {rule}; got {result[first(low)]:g}{_of(first(low))}."
        raise PriorError(msg)
    result = result.copy()
    result.setflags(write=False)
    return result


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


def totals(value: Any, argument: str) -> Array:
    """Check entries of a sufficient statistic: finite and not negative."""
    result = _finite(read(value, argument, bare=True))
    if (result < 0).any():
        at = first(result < 0)
        msg = f"{argument}: must not be negative; got {result[at]:g}{_of(at)}."
        raise DataError(msg)
    result = result.copy()
    result.setflags(write=False)
    return result


def whole(value: Any, argument: str, least: int = 0) -> NDArray[np.int64]:
    """Check a whole number or an array of them, each at least `least`."""
    numbers = _counts(read(value, argument, bare=True))
    if (numbers < least).any():
        at = first(numbers < least)
        msg = f"{argument}: must be at least {least}; got {numbers[at]:g}{_of(at)}."
        raise DataError(msg)
    return numbers


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
        return y, Block("features", np.empty((len(native), 0)), (), nw.maybe_get_index(native))
    return y, native[:, [columns.index(name) for name in chosen]].to_native()


# --- checks of values ----------------------------------------------------------------------------


def _numbers(block: Block) -> Values:
    values = block.values
    if values.dtype.kind not in "biuf":
        if values.size == 0 and values.dtype == object:
            return values.astype(float)
        raise DataError(_not_numbers(block))
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
        if bad.any():
            missing = np.isnan(values)
            if missing.any():
                raise DataError(missing_message(block.argument, missing))
            at = first(bad)
            msg = f"{block.argument}: must be finite; {where(at)} holds {values[at]}."
            raise DataError(msg)
    return values


def _not_numbers(block: Block) -> str:
    """Return the complaint about values that are no numbers; it shows the first of them."""
    values = block.values
    message = f"{block.argument}: must hold numbers; got dtype {values.dtype}"
    if values.size:
        wrong = np.reshape([not isinstance(v, (int, float)) for v in values.flat], values.shape)
        at = first(wrong)
        message += f"; {where(at)} holds {shown(values[at])}"
    return f"{message}. Convert the values first."


def _squarable(values: Array, argument: str) -> None:
    large = np.abs(values) > LARGEST_MEASUREMENT
    if large.any():
        msg = (
            f"{argument}: must not exceed {LARGEST_MEASUREMENT:g} in size, since squares are "
            f"taken; {where(first(large))} holds {values[first(large)]:g}. Choose a larger unit."
        )
        raise DataError(msg)


def _finite(block: Block) -> Array:
    return np.asarray(_numbers(block), dtype=np.float64)


def _binary(block: Block) -> Values:
    values = _numbers(block)
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    bad = (values != 0) & (values != 1)
    if bad.any():
        at = first(bad)
        msg = (
            f"{block.argument}: must hold only 0 and 1 (or booleans); {where(at)} holds "
            f"{values[at]:g}. For numbers of successes use BinomialCounts(successes, trials)."
        )
        raise DataError(msg)
    return values


def _counts(block: Block) -> NDArray[np.int64]:
    values = _numbers(block)
    bad = (values < 0) | (values > LARGEST_COUNT)
    if values.dtype.kind == "f":
        bad = bad | (values != np.floor(values))
    if bad.any():
        at = first(bad)
        msg = (
            f"{block.argument}: must hold whole numbers from 0 to 2**53; "
            f"{where(at)} holds {values[at]:g}."
        )
        raise DataError(msg)
    return values.astype(np.int64)


def _codes(block: Block, levels: tuple[Hashable, ...] | None, size: int) -> NDArray[np.intp]:
    values = block.values
    if levels is None:
        if values.dtype.kind not in "biuf" and values.size:
            msg = (
                f"{block.argument}: must hold category numbers 0 to {size - 1}, since the model "
                f"was given no categories; row 0 holds {shown(values.ravel()[0])}. Name them: "
                "DirichletCategorical(alpha, categories=[...])."
            )
            raise DataError(msg)
        numbers = _counts(block)
        bad = numbers >= size
        codes = numbers.astype(np.intp)
        known = f"0 to {size - 1}"
    else:
        import pandas as pd

        missing = np.asarray(pd.isna(values))
        if missing.any():
            raise DataError(missing_message(block.argument, missing))
        flat = pd.Index(values.ravel())
        codes = pd.Index(levels).get_indexer(flat).reshape(values.shape)
        bad = codes < 0
        known = f"{list(levels)}"
    if bad.any():
        at = first(bad)
        msg = (
            f"{block.argument}: must hold only the model's categories {known}; {where(at)} "
            f"holds {shown(values[at])}. Declare all categories in the prior."
        )
        raise DataError(msg)
    return codes


def _ungroup(data: Any) -> tuple[Any, Grouped | None]:
    return (data.rows, data) if isinstance(data, Grouped) else (data, None)


def _batch(
    block: Block, shape: tuple[int, ...], group: Grouped | None
) -> tuple[Coords, NDArray[np.intp] | None]:
    """Return the coordinates of the leading axes and, for grouped rows, each row's group."""
    if group is None:
        return ({"feature": block.columns} if block.columns else {}), None
    if shape:
        msg = (
            f"rows: grouped data must be a single column; got rows of shape {shape}. Group each "
            "column on its own."
        )
        raise DataError(msg)
    by = read(group.by, "by")
    _same_rows(block, by)
    if by.values.ndim != 1:
        msg = f"by: must hold one label a row; got shape {by.values.shape}."
        raise DataError(msg)
    import pandas as pd

    given = pd.Index(by.values)
    levels = pd.Index(_group_order(group, given))
    codes = levels.get_indexer(given)
    if (codes < 0).any():
        at = first(codes < 0)
        msg = (
            f"by: must hold only the given groups {list(levels)}; {where(at)} holds "
            f"{shown(by.values[at])}."
        )
        raise DataError(msg)
    return {"group": tuple(levels.tolist())}, codes


def _group_order(group: Grouped, given: Any) -> list[Hashable]:
    """Return the groups as told, else in the order of categories, else by value."""
    if group.groups is not None:
        if isinstance(group.groups, str):
            msg = f"groups: must be a sequence of labels; got {group.groups!r}. Write it in a list."
            raise DataError(msg)
        return list(unique(tuple(group.groups), "groups"))
    present = given.unique()
    categories = getattr(getattr(group.by, "dtype", None), "categories", None)
    if categories is not None and hasattr(categories, "__iter__"):
        return [category for category in categories if category in present]
    try:
        return list(present.sort_values())
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in present}))
        msg = (
            f"by: labels must be of one kind, since groups are ordered by value; got {kinds}. "
            "Convert them, or give groups=[...] in the order wanted."
        )
        raise DataError(msg) from None


def _same_rows(left: Block, right: Block) -> None:
    if len(left.values) != len(right.values):
        msg = (
            f"{right.argument}: must have as many rows as {left.argument}; got "
            f"{len(right.values)} and {len(left.values)}."
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
