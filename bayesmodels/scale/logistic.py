"""Logistic regression over rows that need not fit into memory: one pass for each Newton step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesmodels.errors import DataError, SeparationError
from bayesmodels.input.data import same_features
from bayesmodels.models.logistic import penalized_fit
from bayesmodels.models.logistic.laplace import LaplaceApproximation
from bayesmodels.models.logistic.penalized_fit import Frame, Here, Peak, Sums, Whitening
from bayesmodels.models.logistic.regression import LogisticRegression, Maximum, coefficients
from bayesmodels.numerics import Array
from bayesmodels.numerics.separation import (
    MARGIN,
    ON_BORDER,
    Separation,
    contradict,
    find_separation,
    strict_direction,
)
from bayesmodels.numerics.triangular import triangle
from bayesmodels.scale.passes import Pass
from bayesmodels.scale.sources import ROWS

_KEPT = 500  # rows of each pass, that may contradict a separation

if TYPE_CHECKING:
    Features = tuple[Hashable, ...] | None


def mle(
    model: LogisticRegression,
    source: Any,
    *,
    target: str | None = None,
    columns: str | Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = False,
    to_data: Callable[[Any], Any] | None = None,
    rows: int = ROWS,
    progress: bool = False,
) -> Maximum:
    """Return what ``model.mle`` returns, for rows that are read in chunks.

    Two passes find how the columns are to be scaled and made orthogonal; then there is one for each
    Newton step, in which log likelihood, gradient and curvature are added up; one more finds out
    whether the maximum is one, and if it is not proven, some find out whether columns separate the
    classes.

    Parameters
    ----------
    model : LogisticRegression
        The prior plays no part.
    source : path, iterable, or lazy table
        As in `bayesmodels.scale.statistic`, but one that can be read again: no iterator and no
        ``RecordBatchReader``. A function without arguments is called for every pass.
    target, columns, weights, intercept, to_data, progress
        As in `bayesmodels.scale.statistic`.
    rows : int, default 262144
        Rows in a chunk, at most.

    Returns
    -------
    Maximum
        To rounding that of ``model.mle``.

    Raises
    ------
    SeparationError
        If the classes are separated, so that there is no maximum; the message names the columns
        that separate them.
    DataError
        If columns are collinear, the source can be read only once or has no rows, or rows do not
        fit the model.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LogisticRegression([0, 0], 25)
    >>> parts = [([[1, 0.5], [1, 1], [1, 2]], [0, 0, 1]), ([[1, 3], [1, 4], [1, 5]], [0, 1, 1])]
    >>> bm.scale.mle(model, parts).w.round(3)
    array([-3.174,  1.253])
    """
    over = _Over.of(
        model,
        Pass.of(source, target, columns, weights, intercept, to_data, rows, progress=progress),
    )
    if missing := model.missing_class(over.seen.classes):
        raise SeparationError(missing)
    model.check_independent(over.bound, over.seen.features)
    result = over.peak(None)
    if not result.proven and (separation := over.separation()):
        raise SeparationError(model.separated(over.seen.classes, over.seen.features, separation))
    return model.maximum_at("MLE", result, over.seen.coefficients, over.seen.features)


def map(  # noqa: A001 - as the model's verb
    model: LogisticRegression,
    source: Any,
    *,
    target: str | None = None,
    columns: str | Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = False,
    to_data: Callable[[Any], Any] | None = None,
    rows: int = ROWS,
    progress: bool = False,
) -> Maximum:
    """Return what ``model.map`` returns, for rows that are read in chunks.

    Parameters
    ----------
    model : LogisticRegression
        The prior.
    source, target, columns, weights, intercept, to_data, rows, progress
        As in `bayesmodels.scale.mle`.

    Returns
    -------
    Maximum
        To rounding that of ``model.map``.

    Raises
    ------
    DataError
        If the source can be read only once or has no rows, or rows do not fit the model.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LogisticRegression([0, 0], 25)
    >>> parts = [([[1, 0.5], [1, 1], [1, 2]], [0, 0, 1]), ([[1, 3], [1, 4], [1, 5]], [0, 1, 1])]
    >>> bm.scale.map(model, parts).w.round(3)
    array([-2.532,  1.039])
    """
    reading = Pass.of(source, target, columns, weights, intercept, to_data, rows, progress=progress)
    over = _Over.of(model, reading)
    result = over.peak(model.prior_factors())
    return model.maximum_at("MAP", result, over.seen.coefficients, over.seen.features)


def laplace(
    model: LogisticRegression,
    source: Any,
    *,
    target: str | None = None,
    columns: str | Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = False,
    to_data: Callable[[Any], Any] | None = None,
    rows: int = ROWS,
    progress: bool = False,
) -> LaplaceApproximation:
    """Return what ``model.laplace`` returns, for rows that are read in chunks.

    Parameters
    ----------
    model : LogisticRegression
        The prior.
    source, target, columns, weights, intercept, to_data, rows, progress
        As in `bayesmodels.scale.mle`.

    Returns
    -------
    LaplaceApproximation
        The normal law that touches the posterior at its mode, an approximation.

    Raises
    ------
    DataError
        As `bayesmodels.scale.map`.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> model = bm.LogisticRegression([0, 0], 25)
    >>> parts = [([[1, 0.5], [1, 1], [1, 2]], [0, 0, 1]), ([[1, 3], [1, 4], [1, 5]], [0, 1, 1])]
    >>> bm.scale.laplace(model, parts).summary().round(2)
          mean    sd  eti89_lb  eti89_ub
    w[0] -2.53  2.00     -5.72      0.66
    w[1]  1.04  0.74     -0.15      2.22
    """
    reading = Pass.of(source, target, columns, weights, intercept, to_data, rows, progress=progress)
    over = _Over.of(model, reading)
    result = over.peak(model.prior_factors())
    return model.laplace_at(result, over.seen.coefficients, over.seen.features)


@dataclass(frozen=True)
class _Over:
    """Passes over the same rows."""

    model: LogisticRegression
    reading: Pass
    seen: _Seen
    frame: Frame
    bound: Array

    @classmethod
    def of(cls, model: LogisticRegression, reading: Pass) -> _Over:
        reading.check_repeatable()
        seen: _Seen | None = reading.fold(partial(_seen, model), words="columns")
        if seen is None or not seen.classes.sum() > 0:
            raise DataError("source: must have at least one row; got none.")
        frame = penalized_fit.frame_of(seen.low, seen.high, seen.mean)
        bound: _Joined = reading.fold(partial(_bound, model, frame), words="columns, again")
        return cls(model, reading, seen, frame, bound.value)

    def peak(self, prior: penalized_fit.Prior | None) -> Peak:
        others = len(self.model.classes) - 1
        coordinates = Whitening.of(self.frame, self.bound, others, prior)
        white = _White(self.model, coordinates)
        step = 0

        def at(b: Array) -> Sums:
            nonlocal step
            step += 1
            return self.reading.fold(partial(white.sums, b), words=f"point {step}")

        def reach(factor: Array) -> float:
            result: _Joined = self.reading.fold(partial(white.reach, factor), words="proof")
            return result.value

        return penalized_fit.climb(coordinates, float(self.seen.classes.sum()), at, reach)

    def separation(self) -> Separation | None:
        """Return what separates the classes; None if they overlap.

        Starts with a subset of the rows. If no weights separate it, none separate all rows; if some
        do, the rows that contradict them most are added, until none does.
        """
        nearest = self._nearest(None)
        always = self.frame.intercept
        result = self._held(
            nearest, lambda kept: find_separation(kept.X, kept.counts, always), 2 * ON_BORDER
        )
        if result is None:
            return None
        complete = self._held(nearest, lambda kept: strict_direction(kept.X, kept.counts), MARGIN)
        return replace(result, complete=complete is not None)

    def _held(self, kept: _Nearest, find: Callable[[_Nearest], Any], least: float) -> Any:
        """Return what `find` finds in the kept rows if it holds of all rows, else None."""
        while (result := find(kept)) is not None:
            near = self._nearest(result.direction if isinstance(result, Separation) else result)
            if near.room[0] >= least:
                return result
            kept = kept.concatenated(near)
        return None

    def _nearest(self, ways: Array | None) -> _Nearest:
        of_data = partial(_nearest, self.model, self.frame, ways)
        result: _Nearest = self.reading.fold(of_data, words="separation")
        return result


# --- what is made of a chunk ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """Least, largest and mean values of columns, and the weight of each class."""

    n: int
    low: Array
    high: Array
    mean: Array
    classes: Array
    coefficients: float
    features: Features

    def __add__(self, other: _Seen) -> _Seen:
        n = self.n + other.n
        share = other.n / n if n else 0.0
        return _Seen(
            n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            # Between the two, and without their difference, which may be no number.
            (1 - share) * self.mean + share * other.mean,
            self.classes + other.classes,
            self.coefficients + other.coefficients,
            same_features(self.features, other.features),
        )


def _seen(model: LogisticRegression, data: Any, _number: int) -> _Seen:
    d = model.labelled(data)
    X = d.X
    low, high = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
    size = np.maximum(np.abs(X).max(axis=0, initial=0), np.finfo(float).tiny)
    mean = (X / size).sum(axis=0) / max(len(X), 1) * size
    return _Seen(len(X), low, high, mean, d.heavy.sum(0), coefficients(d), d.features)


@dataclass(frozen=True)
class _Joined:
    """A value of a chunk, and the function that joins two such values, such as `max`."""

    value: Any
    join: Callable[[Any, Any], Any]

    def __add__(self, other: _Joined) -> _Joined:
        return _Joined(self.join(self.value, other.value), self.join)


def _bound(model: LogisticRegression, frame: Frame, data: Any, _number: int) -> _Joined:
    d = model.labelled(data)
    rows = penalized_fit.framed(frame, d.X, d.heavy)
    return _Joined(penalized_fit.curvature_bound(rows), triangle)


class _Nearest(NamedTuple):
    """The rows, in the frame, with the smallest margin `room` to a separating direction."""

    room: Array
    X: Array
    counts: Array

    def __add__(self, other: _Nearest) -> _Nearest:  # type: ignore[override]
        return self.concatenated(other).least()

    def concatenated(self, other: _Nearest) -> _Nearest:
        return _Nearest(*(np.concatenate(two) for two in zip(self, other, strict=True)))

    def least(self) -> _Nearest:
        at = np.argsort(self.room, kind="stable")[:_KEPT]
        return _Nearest(*(values[at] for values in self))


def _nearest(
    model: LogisticRegression, frame: Frame, ways: Array | None, data: Any, _number: int
) -> _Nearest:
    d = model.labelled(data)
    X, counts = frame.rows(d.X), d.heavy
    room = np.arange(float(len(X))) if ways is None else contradict(X, counts, ways)
    return _Nearest(room, X, counts).least()


@dataclass(frozen=True)
class _White:
    """Rows in the coordinates of Newton's steps."""

    model: LogisticRegression
    white: Whitening

    def sums(self, b: Array, data: Any, _number: int) -> Sums:
        d = self.model.labelled(data)
        with np.errstate(under="ignore"):
            return Sums.of(Here([(self._rows(d.X), d.heavy)], b))

    def reach(self, factor: Array, data: Any, _number: int) -> _Joined:
        d = self.model.labelled(data)
        others = len(self.model.classes) - 1
        return _Joined(penalized_fit.reach(factor, self._rows(d.X), others), max)

    def _rows(self, X: Array) -> Array:
        return self.white.rows(self.white.frame.rows(X))
