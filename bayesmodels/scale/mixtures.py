"""EM over rows that need not fit into memory: one pass for each step, all starts side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.errors import DataError, NumericsWarning
from bayesmodels.input.labels import Coords
from bayesmodels.input.parameters import randomness
from bayesmodels.models.mixture import em_steps
from bayesmodels.models.mixture.em import EMResult, best_first, check_settings, result, side_by_side
from bayesmodels.models.mixture.em_steps import Ends, Estimate, Expected, Point, Steps
from bayesmodels.models.mixture.latent_rows import MixtureStatistic, latent_rows, slices
from bayesmodels.numerics import Array
from bayesmodels.scale.passes import Pass
from bayesmodels.scale.sources import ROWS

if TYPE_CHECKING:
    from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture

_SAMPLE = 20_000  # rows from which starts are found
_FIRST_STEPS, _FIRST_TOLERANCE = 500, 1e-6  # on those; all rows then do the rest


def em(
    model: NaiveBayesMixture,
    source: Any,
    *,
    estimate: Estimate = "mle",
    starts: int = 20,
    start: Mapping[str, Any] | None = None,
    iterations: int = 5000,
    tolerance: float = 1e-10,
    rng: np.random.Generator | int | None = None,
    target: str | None = None,
    columns: str | Sequence[str] | None = None,
    weights: str | None = None,
    to_data: Callable[[Any], Any] | None = None,
    rows: int = ROWS,
    progress: bool = False,
) -> EMResult:
    """Return what ``model.em`` returns, for rows that are read in chunks, once for every step.

    The first pass draws 20,000 rows at random. EM on these, from random starts, finds where to
    begin (Bradley and Fayyad, 1998); then all rows decide, in one pass for each step of all starts
    that still run, and in a last one that tells optima apart.

    Parameters
    ----------
    model : NaiveBayesMixture
        The prior; columns and categories must be known, since no chunk need hold all of them.
    source : path, iterable, or lazy table
        As in `bayesmodels.scale.statistic`, but one that can be read again: no iterator and no
        ``RecordBatchReader``. A function without arguments is called for every pass.
    estimate, starts, start, iterations, tolerance, rng
        As in ``model.em``. With `start` no rows are drawn.
    target : str, optional
        Column of classes, missing where they are not known.
    columns, weights, to_data, progress
        As in `bayesmodels.scale.statistic`.
    rows : int, default 262144
        Rows in a chunk, at most.

    Returns
    -------
    EMResult
        To rounding what ``model.em`` finds in the same rows from the same `start`.

    Raises
    ------
    DataError
        If the source can be read only once, has no rows, or rows do not fit the model; and as
        ``model.em`` does.
    PriorError
        As ``model.em`` does.

    Warns
    -----
    NumericsWarning
        As ``model.em`` does.

    References
    ----------
    Bradley and Fayyad (1998), "Refining initial points for K-means clustering".

    Examples
    --------
    >>> import bayesmodels as bm
    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(0, 2, 200)
    >>> bits = rng.random((200, 6)) < np.where(z, 0.9, 0.2)[:, None]
    >>> model = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> found = bm.scale.em(model, [bits[:80], bits[80:]], rng=1)
    >>> np.sort(found.parameters["theta"].mean(-1)).round(1)
    array([0.2, 0.9])
    """
    number, steps = check_settings(model, estimate, starts, iterations, tolerance)
    over = Pass.of(
        source,
        target,
        columns,
        weights,
        intercept=False,
        to_data=to_data,
        rows=rows,
        progress=progress,
    )
    over.check_repeatable()
    rng = randomness(rng)
    sample = over.fold(
        partial(_drawn, model, int(rng.integers(2**63))), words="EM, drawing rows to begin with"
    )
    if sample is None or not sample.total > 0:
        raise DataError("source: must have at least one row; got none.")
    wide = model.with_axes(sample.rows)
    work = Steps(wide, estimate)
    if start is None:
        point, counts = _begun(model, work, sample.rows, number, rng)
    else:
        point = work.read(start)
        number = len(point["pi"])
        counts = [1] * number
    chunked = _Chunked(wide, sample.rows.axes, work)
    step = 0

    def expected(at: Point) -> Expected:
        nonlocal step
        step += 1
        return over.fold(partial(chunked.sum, em_steps.expected, at), words=f"EM, step {step}")

    runs = work.climb(expected(point), expected, steps, tolerance)
    usable = best_first([replace(run, starts=n) for run, n in zip(runs, counts, strict=True)])
    last = side_by_side([run.end for run in usable])
    ends: Ends = over.fold(
        partial(chunked.sum, em_steps.ends, last), words="EM, telling optima apart"
    )
    return result(work, usable, ends, number, None)


def _begun(
    model: NaiveBayesMixture,
    work: Steps,
    rows: MixtureStatistic,
    starts: int,
    rng: np.random.Generator,
) -> tuple[Point, list[int]]:
    """Return the distinct optima of some rows, and how many starts found each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericsWarning)  # all rows go on where these end
        fitted = model.em(
            rows.distinct(),
            estimate=work.estimate,
            starts=starts,
            iterations=_FIRST_STEPS,
            tolerance=_FIRST_TOLERANCE,
            rng=rng,
        )
    point = side_by_side([work.read(optimum.parameters) for optimum in fitted.optima])
    return point, [optimum.found for optimum in fitted.optima]


# --- what is made of a chunk ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Sample:
    """Rows drawn without replacement: those with the smallest of random keys."""

    keys: Array
    rows: MixtureStatistic
    total: float

    def __add__(self, other: _Sample) -> _Sample:
        keys, rows = np.concatenate([self.keys, other.keys]), self.rows.concatenated(other.rows)
        return _smallest(keys, rows, self.total + other.total)


def _smallest(keys: Array, rows: MixtureStatistic, total: float) -> _Sample:
    if len(keys) > _SAMPLE:
        at = np.sort(np.argpartition(keys, _SAMPLE)[:_SAMPLE])
        keys, rows = keys[at], rows.take(at)
    return _Sample(keys, rows, total)


def _drawn(model: NaiveBayesMixture, seed: int, data: Any, number: int) -> _Sample:
    s = latent_rows(model.classes, model.blocks, data)
    keys = np.random.default_rng([seed, number]).random(len(s.labels))
    return _smallest(keys, s, s.number_of_rows)


@dataclass(frozen=True)
class _Chunked:
    """The function from a chunk to its sums, by the model with the axes of the columns."""

    model: NaiveBayesMixture
    axes: dict[str, Coords]
    work: Steps

    def sum(self, of_rows: Callable[..., Any], at: Point, data: Any, _number: int) -> Any:
        s = self.model.statistic(data)
        if s.axes != self.axes:
            raise DataError(
                f"data: chunks must have the same columns; got {s.axes}, others {self.axes}."
            )
        blocks = slices(s, self.work.numbers_a_row(len(at["pi"])))
        return reduce(add, (of_rows(self.model, rows, at) for rows in blocks))
