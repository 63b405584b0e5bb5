"""What users wrap their rows in: groups, weights, counts, and a design matrix with its target."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmodels.errors import DataError
from bayesmodels.input.containers import Argument, Values, first, read, same_cells, where, wrapped
from bayesmodels.input.domains import counts
from bayesmodels.input.formula import coded, from_formula
from bayesmodels.input.labels import unique


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
        _check_length(self.rows, self.by, "by")


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
        _check_length(self.rows, self.weights, "weights")


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
        successes = read(self.successes, "successes", scalar_row=True)
        total = read(self.trials, "trials", scalar_row=True)
        successes = same_cells(successes, total)
        k, n = counts(successes), counts(total)
        if k.shape != n.shape:
            raise DataError(
                f"successes: must have the shape of trials; got {k.shape} and {n.shape}. "
                "Give every row its own number of trials."
            )
        if (k > n).any():
            at = first(k > n)
            raise DataError(
                f"successes: must not exceed trials; {where(at)} has {k[at]:g} successes in "
                f"{n[at]:g} trials."
            )
        object.__setattr__(self, "_checked", (successes, k, n))

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
class Counts:
    """Numbers of events, each with its exposure: the time, area or number at risk it was seen in.

    Parameters
    ----------
    values : array_like of shape (n,) or (n, batch...)
        Whole numbers, not negative.
    exposure : array_like of shape (n,) or (n, batch...), default 1
        Positive; one number may serve all rows.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.Counts([3, 0, 5], exposure=[1, 0.5, 2])
    Counts(values=[3, 0, 5], exposure=[1, 0.5, 2])
    """

    values: Any
    exposure: Any = 1

    def __post_init__(self) -> None:
        if np.ndim(self.exposure):
            _check_length(self.values, self.exposure, "exposure", "values")


@dataclass(frozen=True)
class Censored:
    """Waiting times, some of them cut short: then it is known only that they are longer.

    Parameters
    ----------
    times : array_like of shape (n,) or (n, batch...)
        Positive numbers.
    observed : array_like of the same shape
        1 where the waiting ended at that time, 0 where only the watching did.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.Censored([6, 7, 10], observed=[1, 1, 0])
    Censored(times=[6, 7, 10], observed=[1, 1, 0])
    """

    times: Any
    observed: Any

    def __post_init__(self) -> None:
        _check_length(self.times, self.observed, "observed", "times")


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
    coding : formulaic.ModelSpec, optional
        How a formula made the features; see `from_formula`.

    See Also
    --------
    Design.from_frame : the same from one frame with named columns.
    Design.from_formula : the same from a formula, which codes text.

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
    coding: Any = dataclasses.field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_length(self.features, self.target, "target", "features")

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
        import narwhals as nw

        native = wrapped(frame, "frame")
        if not isinstance(native, nw.DataFrame):
            raise DataError(
                f"frame: must be a frame with named columns; got {type(frame).__name__}."
            )
        columns = native.columns
        if isinstance(features, str):
            features = [features]
        chosen = [c for c in columns if c != target] if features is None else list(features)
        unique(tuple(chosen), "features")
        if target in chosen:
            raise DataError(
                f"features: must not hold the target {target!r}; leave it out of features."
            )
        for name in (target, *chosen):
            if name not in columns:
                raise DataError(f"frame: has no column {name!r}; its columns are {columns}.")
        # By position, since names may be numbers or tuples.
        y = native[:, columns.index(target)].to_native()
        if not chosen:  # an intercept alone: polars would forget the number of rows
            return cls(np.empty((len(native), 0)), y, intercept)
        X = native[:, [columns.index(name) for name in chosen]].to_native()
        return cls(X, y, intercept)

    @classmethod
    def from_formula(cls, formula: str, frame: Any) -> Design:
        """Take target and features from one frame by a formula, as R and patsy write them.

        Text, and what stands in ``C()``, is coded by indicators of its levels: ``cyl[8]`` is 1
        where cyl is 8. The first level, in order of value or as the categories are, has none; it is
        the reference. A column ``intercept`` is there unless the formula has ``0 +``.

        Parameters
        ----------
        formula : str
            Such as ``"mpg ~ wt + C(cyl)"``. Names with blanks or points stand in backticks.
            Calls in it are evaluated as Python, so take formulas only from whom you trust.
        frame : frame of n rows
            With the columns that the formula names, none of whose cells is empty.

        Raises
        ------
        DataError
            If the formula can't be read, names a column that is not there, or cells are empty.

        References
        ----------
        Wilkinson and Rogers (1973), *Symbolic description of factorial models*. The library is
        formulaic.

        Examples
        --------
        >>> import pandas as pd
        >>> import bayesmodels as bm
        >>> cars = {"mpg": [21.0, 33.9, 18.7], "wt": [2.6, 1.8, 3.4], "cyl": [6, 4, 8]}
        >>> design = bm.Design.from_formula("mpg ~ wt + C(cyl)", pd.DataFrame(cars))
        >>> list(design.features)
        ['intercept', 'wt', 'cyl[6]', 'cyl[8]']

        New rows are coded alike, though they have not all levels:

        >>> design.features_of(pd.DataFrame({"wt": [3.0], "cyl": [8]})).to_numpy()
        array([[1., 3., 0., 1.]])
        """
        X, y, coding = from_formula(formula, frame)
        return cls(X, y, coding=coding)

    def features_of(self, frame: Any) -> Any:
        """Return features of other rows, coded as the formula did it for these.

        Raises
        ------
        DataError
            If the design is not from a formula, a column is not there, a cell is empty, or a level
            is none of those that there were.
        """
        if self.coding is None:
            raise DataError("features_of: needs a design from a formula; use Design.from_formula.")
        return coded(self.coding, frame)


PER_ROW: dict[type, tuple[str, ...]] = {
    Grouped: ("rows", "by"),
    BinomialCounts: ("successes", "trials"),
    MultinomialCounts: ("counts",),
    Counts: ("values", "exposure"),
    Censored: ("times", "observed"),
    Design: ("features", "target"),
}
"""What of a container has one entry a row; of counts, what was counted comes first."""


def _check_length(rows: Any, other: Any, argument: str, of: str = "rows") -> None:
    """Refuse an argument of another length than the rows, where both are known without reading."""
    n, result = _length(rows), _length(other)
    if n is not None and result is not None and n != result:
        raise DataError(f"{argument}: must have as many rows as {of}; got {result} and {n}.")


def _length(rows: Any) -> int | None:
    """Return the number of rows, None if only reading them would tell."""
    if isinstance(rows, (Grouped, Weighted)):
        return _length(rows.rows)
    if isinstance(rows, BinomialCounts):
        return len(rows.checked()[1])
    if isinstance(rows, list):
        return len(rows)
    shape = getattr(rows, "shape", None)
    return shape[0] if isinstance(shape, tuple) and shape else None
