"""What can be read off any belief, given its marginal laws and its exact draws.

Each model binds these functions as methods (``mean = reading.mean``), so that a verb has one
meaning and one docstring everywhere.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief import intervals
from bayesmodels.belief.intervals import CI_PROB, CiKind, renamed
from bayesmodels.belief.protocol import Law, Readable
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.labels import of_place
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd

_BEHIND = ("_offset", "_centered")
_MANY = 6  # elements of a variable that come after the others


def mean(self: Readable) -> dict[str, Array]:
    """Return the mean of each variable.

    Returns
    -------
    dict of ndarray
        By variable name; each of the variable's shape. Infinite where the integral diverges.

    Raises
    ------
    PriorError
        Where a mean does not exist (a Student-t law with one degree of freedom or less).

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(5, 19).mean()["theta"].round(4)
    np.float64(0.2083)
    """
    return {name: _mean(law, name) for name, law in _numbers_of(self).items()}


def _numbers_of(belief: Readable) -> dict[str, Law]:
    """Return the laws of numbers: the marginals, unless a belief says that it has others."""
    of_numbers: Any = getattr(belief, "numbers", belief.marginals)
    return dict(of_numbers())


def _mean(law: Law, name: str) -> Array:
    return _defined(_known_mean(law), "mean", name)


def _known_mean(law: Law) -> Array:
    """Return the mean, NaN where it does not exist."""
    result = np.asarray(law.mean(), dtype=float)
    if np.isinf(result).any():
        # Of a Student-t law that has no mean SciPy says infinity, but its variance is NaN.
        result = np.where(np.isnan(law.var()), np.nan, result)
    return result


def var(self: Readable) -> dict[str, Array]:
    """Return the variance of each variable.

    Returns
    -------
    dict of ndarray
        By variable name; each of the variable's shape. Infinite where the integral diverges.

    Raises
    ------
    PriorError
        Where a variance does not exist because the mean does not, or where it is beyond float64,
        as that of a variance is if the rows are of size 1e80 or 1e-90.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(5, 19).var()["theta"].round(6)
    np.float64(0.006597)
    """
    return {name: _variance(law, name) for name, law in _numbers_of(self).items()}


def _variance(law: Law, name: str) -> Array:
    with np.errstate(over="ignore"):
        result, deviation = np.asarray(law.var()), np.asarray(law.std())
    if ((np.isinf(result) & np.isfinite(deviation)) | ((result == 0) & (deviation > 0))).any():
        raise PriorError(
            f"{name}: its variance is no float64, since its standard deviation is about "
            f"{deviation.max():.0e}. Choose another unit, or read the deviation off summary()."
        )
    return _defined(result, "variance", name)


@renamed
def interval(
    self: Readable, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti"
) -> dict[str, tuple[Array, Array]]:
    """Return intervals: equal-tailed ones, or the shortest ones, of highest density.

    Parameters
    ----------
    ci_prob : float, default 0.89
        Probability inside, between 0 and 1.
    ci_kind : {"eti", "hdi"}, default "eti"
        Equal tails below and above, or highest density.

    Returns
    -------
    dict of (ndarray, ndarray)
        Lower and upper ends by variable name.

    Raises
    ------
    DataError
        If `ci_prob` is not strictly between 0 and 1, or `ci_kind` is another word.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> low, high = bm.BetaBernoulli(5, 19).interval(0.9)["theta"]
    >>> low.round(3), high.round(3)
    (np.float64(0.09), np.float64(0.355))
    >>> low, high = bm.BetaBernoulli(5, 19).interval(0.9, "hdi")["theta"]
    >>> low.round(3), high.round(3)
    (np.float64(0.076), np.float64(0.335))
    """
    ci_prob = intervals.checked(ci_prob, ci_kind)
    return {n: intervals.ends(law, ci_prob, ci_kind) for n, law in _numbers_of(self).items()}


@renamed
def summary(self: Readable, ci_prob: float = CI_PROB, ci_kind: CiKind = "eti") -> pd.DataFrame:
    """Return exact means, standard deviations and intervals, one row a scalar.

    The columns are named as in `arviz.summary`, so that the two tables can be laid side by side.

    Parameters
    ----------
    ci_prob, ci_kind
        As in `interval`.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean``, ``sd`` and two interval ends such as ``eti89_lb``, ``eti89_ub``. Where a
        mean or a deviation does not exist its cell is empty, and one more column, ``note``, says
        so.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> bm.BetaBernoulli(5, 19).summary().round(3)
            mean     sd  eti89_lb  eti89_ub
    theta  0.208  0.081     0.092      0.35
    """
    table = _numbers(self, ci_prob, ci_kind)
    notes = [missing(row["mean"], row["sd"]) for _, row in table.iterrows()]
    return table.assign(note=notes) if any(notes) else table


def _numbers(
    self: Readable, prob: float, kind: CiKind = "eti", *, indicators: bool = False
) -> pd.DataFrame:
    """Return the columns of numbers, NaN where a moment does not exist."""
    import pandas as pd

    # A law that is judged needs marginals alone; a posterior may have intervals without laws.
    own = hasattr(self, "interval")
    ends = self.interval(prob, kind) if own else interval(self, prob, kind)
    rows = {}
    laws = self.marginals() if indicators else _numbers_of(self)
    ends |= {n: intervals.ends(laws[n], prob, kind) for n in levels(self) if indicators}
    for name, law in laws.items():
        # Not the roots of variances, which underflow and overflow long before deviations do.
        columns = (_known_mean(law), np.asarray(law.std(), dtype=float), *ends[name])
        for text, at in places(self, name, np.shape(columns[0])):
            rows[text] = [float(np.asarray(column)[at]) for column in columns]
    names = ["mean", "sd", *intervals.named(prob, kind)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=names)


def missing(mean: float, sd: float) -> str:
    """Say which moment does not exist; nothing if both do."""
    gone = [what for what, x in (("mean", mean), ("standard deviation", sd)) if np.isnan(x)]
    return f"no {' and no '.join(gone)}: tails too heavy" if gone else ""


def summary_or_intervals(
    self: Readable, prob: float = 0.89, *, indicators: bool = False
) -> pd.DataFrame:
    """Return the summary; only its intervals if all tails are too heavy for moments.

    With `indicators` all finite variables are those of their values, as in `marginals`, and there
    are no Deterministics; and only intervals if some tails are too heavy.
    """
    if indicators or not hasattr(self, "summary"):
        table = _numbers(self, prob, indicators=indicators)
        return table.iloc[:, 2:] if table.isna().any(axis=None) else table
    table = self.summary(prob).drop(columns="note", errors="ignore")
    return table.dropna(axis="columns", how="all")


def shown(self: Readable, table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a summary as a reader wants them; of a PyMC model, many elements at the end.

    Left out is what only stands behind a Deterministic of its name, as PyMC and Bambi write an
    effect of groups (its ``_offset``) and an intercept (``_centered``).
    """
    model = getattr(self, "model", None)
    if model is None:
        return table
    names = table.index.str.partition("[").get_level_values(0)
    behind = [f"{v.name}{end}" for v in model.deterministics for end in _BEHIND]
    many = names.value_counts()[names].to_numpy() > _MANY
    order = np.flatnonzero(~names.isin(behind))
    return table.iloc[order[np.argsort(many[order], kind="stable")]]


def in_chains(
    self: Readable, draws: int, chains: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Return exact draws with the axes (chain, draw, ...)."""
    flat = self.sample(draws * chains, rng)
    return {name: x.reshape(chains, draws, *x.shape[1:]) for name, x in flat.items()}


def levels(belief: Readable) -> dict[str, tuple[Hashable, ...]]:
    """Return the levels of each variable that has finitely many values.

    Whole numbers are the values themselves; other labels name the values 0, 1, and so on. What is
    read off such a variable are the indicators of its levels, along one last axis: their means are
    the probabilities of the levels. Only a belief that has such variables has `levels`.
    """
    return getattr(belief, "levels", {})


def configurations(belief: Readable) -> list[dict[str, Array]]:
    """Return every point of a belief all of whose variables have finitely many values."""
    names = levels(belief)
    every = product(*(range(len(labels)) for labels in names.values()))
    return [dict(zip(names, map(np.asarray, at), strict=True)) for at in every]


def halves_of_symmetric(belief: Readable) -> tuple[list[str], list[str]]:
    """Return labels above the diagonals of symmetric matrices, and those below.

    Which variables are symmetric, as covariances are, is seen in two exact draws.
    """
    upper: list[str] = []
    lower: list[str] = []
    for name, x in belief.sample(2, np.random.default_rng(0)).items():
        square = x.ndim > 2 and x.shape[-1] == x.shape[-2] and name not in levels(belief)  # noqa: PLR2004
        if square and np.array_equal(x, np.swapaxes(x, -1, -2)):
            for text, at in places(belief, name, x.shape[1:]):
                if at[-2] != at[-1]:
                    (upper if at[-2] < at[-1] else lower).append(text)
    return upper, lower


def numbers(belief: Readable, draws: Any) -> dict[str, NDArray[Any]]:
    """Return draws in the form of `marginals`: finite variables as indicators, others as is.

    Raises
    ------
    DataError
        If a finite variable has a value that stands for none of its levels.
    """
    nominal = levels(belief)
    result = {name: np.asarray(draws[name]) for name in belief.dims}
    for name, labels in nominal.items():
        are_values = all(isinstance(label, (int, np.integer)) for label in labels)
        values = np.array(labels) if are_values else np.arange(len(labels))
        indicator = result[name][..., None] == values
        wrong = ~indicator.any(-1)
        if wrong.any():
            raise DataError(
                f"draws: {name!r} must hold whole numbers from {values[0]} to {values[-1]}, one "
                f"for each of its levels; got {result[name][wrong].flat[0]}."
            )
        result[name] = indicator.astype(float)
    return result


def places(
    belief: Readable, name: str, shape: tuple[int, ...]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return label and index of every scalar of a variable, labelled as ArviZ does."""
    axes = _labels(belief, name)[: len(shape)]  # numbers have no levels
    inner = map(of_place, product(*(labels[:n] for labels, n in zip(axes, shape, strict=True))))
    every = product(*(range(length) for length in shape))
    return [(f"{name}[{text}]" if at else name, at) for text, at in zip(inner, every, strict=True)]


def label(belief: Readable, name: str, at: tuple[int, ...]) -> str:
    """Return the label of one scalar, such as ``w[age]``."""
    inner = of_place(labels[i] for labels, i in zip(_labels(belief, name), at, strict=True))
    return f"{name}[{inner}]" if at else name


def _labels(belief: Readable, name: str) -> list[tuple[Hashable, ...]]:
    """Return the labels along a variable's axes; of a finite one, its values last."""
    axes = [belief.coords[axis] for axis in belief.dims[name]]
    return axes + ([levels(belief)[name]] if name in levels(belief) else [])


def _defined(value: Any, what: str, name: str) -> Array:
    result: Array = np.asarray(value, dtype=float)[()]
    if np.isnan(result).any():
        raise PriorError(
            f"{name}: its {what} does not exist under this belief, or too few points tell of it "
            "(tails too heavy). Update it with more rows, or read interval() instead."
        )
    return result
