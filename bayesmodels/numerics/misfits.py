"""Statistics of rows that tell whether a law fits them, each one that a reader would name.

A `Column` has rows as they are, and draws others that have the same sufficient statistic, whose
law depends on no parameter. So a statistic of the rows is as good as any among those of the others
if the model is right, whatever the parameters are and however few rows there are.

Sources: Lehmann and Romano (2005), *Testing Statistical Hypotheses*, section 4.3 (conditioning on
sufficient statistics); Lockhart, O'Reilly and Stephens (2007), *Use of the Gibbs sampler to obtain
conditional tests*, Biometrika 94; Knijnenburg, Wessels, Reinders and Shmulevich (2009), *Fewer
permutations, more accurate P-values*, Bioinformatics 25 (tails beyond all draws).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bayesmodels.numerics import Array

_MOST, _FEW, _BLOCK = 5000, 100, 2_000_000  # sets of rows, at most and at least; numbers at a time
_CELLS = 100_000_000  # numbers that are drawn in all, of very many rows
_ENOUGH = 25  # sets as far off, on the side where there are fewer, of a statistic that is usual
_ROUNDING = 1e-9  # of a statistic, which makes no difference
_TAIL = 0.05  # of the sets, beyond which their tail is taken for exponential
LEAST_ROWS = 3
_WHOLE = 10  # from which on numbers are shown without decimals


@dataclass(frozen=True, eq=False)
class Column:
    """Rows x (n,) with mean and sd under the fitted law, and others with the same statistic.

    Rows may have several numbers: then all have shape (n, k). `draw` returns so many sets of rows,
    (number, n). `terms` (n, m) are what the spread, and `curves` what deviations, may depend on.
    Numbers that are not `ordered` are names.
    """

    label: str
    x: Array
    mean: Array
    sd: Array
    draw: Callable[[int, np.random.Generator], Array]
    checks: tuple[Check, ...]
    terms: Array = field(default_factory=lambda: np.zeros((0, 0)))
    curves: Array = field(default_factory=lambda: np.zeros((0, 0)))
    ordered: bool = True

    def gaps(self, x: Array) -> Array:
        """Return how many deviations rows (..., n) are from their means."""
        return (x - self.mean) / self.sd


class Check(NamedTuple):
    """A statistic of rows (..., n) of a column, its name, and what it says if it is off.

    Words are about a statistic above, or below, what it is in rows of the model; they may name it,
    `seen`, what is `usual`, the `ratio` of the two, and its `root`. A part of what may go wrong by
    chance, `share`, is on the side above, and a check has so much `weight` among others.
    """

    name: str
    of: Callable[[Column, Array], Array]
    above: str
    below: str = ""
    share: float = 0.8
    weight: float = 1.0


class Found(NamedTuple):
    """A statistic, its median and 98 % interval in rows of the model, and a p value."""

    column: str
    check: Check
    seen: float
    low: float
    median: float
    high: float
    p: float

    @property
    def words(self) -> str:
        """What is wrong, if anything is."""
        words = self.check.above if self.seen > self.median else self.check.below
        ratio = self.seen / self.median if self.median else np.inf
        numbers = {
            "seen": self.seen,
            "usual": self.median,
            "ratio": ratio,
            "root": abs(ratio) ** 0.5,
        }
        return words.format(**{name: _short(number) for name, number in numbers.items()})


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= _WHOLE else f"{number:.2g}"


def found(column: Column, rng: np.random.Generator) -> list[Found]:
    """Return what the checks of a column find.

    Sets of rows are drawn until every statistic is among them, or there are many.
    """
    n = len(column.x)
    if n < LEAST_ROWS:
        return []
    seen = np.array([float(check.of(column, column.x)) for check in column.checks])
    most = max(_FEW, min(_MOST, _CELLS // column.x.size))
    block = max(1, min(_BLOCK // column.x.size, most // 4))
    drawn = np.empty((0, len(seen)))
    while len(drawn) < most:
        x = column.draw(min(block, most - len(drawn)), rng)
        drawn = np.concatenate([drawn, np.stack([c.of(column, x) for c in column.checks], -1)])
        fewer = np.minimum((drawn >= seen).sum(0), (drawn <= seen).sum(0))
        if (fewer >= _ENOUGH).all():
            break
    ends = np.quantile(drawn, [0.01, 0.5, 0.99], axis=0)
    return [
        Found(column.label, check, at, low, median, high, p_value(at, sets, check.share))
        for check, at, (low, median, high), sets in zip(
            column.checks, seen.tolist(), ends.T.tolist(), drawn.T, strict=True
        )
    ]


def p_value(seen: float, drawn: Array, share: float) -> float:
    """Return how probable it is to be as far off among numbers that are drawn, on either side.

    The side above has a `share` of it. Beyond all numbers the tail is taken for exponential.
    """
    sides = []
    rounding = _ROUNDING * (abs(seen) + np.abs(drawn).max())
    for sign, part in ((1.0, share), (-1.0, 1 - share)):
        x, at = sign * drawn, sign * seen
        beyond = 1 + int((x >= at - rounding).sum())
        start = np.quantile(x, 1 - _TAIL)
        excess = x[x > start] - start
        p = beyond / (1 + len(x))
        if beyond == 1 and len(excess):
            p = min(p, _TAIL * float(np.exp((start - at) / excess.mean())))
        sides.append(p / part if part else 1.0)
    return min(1.0, *sides)


# --- statistics -----------------------------------------------------------------------------------


def spread(column: Column, x: Array) -> Array:
    """Return the mean squared deviation."""
    return np.asarray((column.gaps(x) ** 2).mean(-1))


def zeros(column: Column, x: Array) -> Array:
    """Return how many rows are zero."""
    del column
    return np.asarray((x == 0).sum(-1).astype(float))


def farthest(column: Column, x: Array) -> Array:
    """Return the largest deviation."""
    return np.asarray(np.abs(column.gaps(x)).max(-1))


def skewness(column: Column, x: Array) -> Array:
    """Return the mean cubed deviation."""
    r = column.gaps(x)
    return np.asarray((r * r * r).mean(-1))


def log_kurtosis(column: Column, x: Array) -> Array:
    """Return the log of the mean fourth power of deviations."""
    square = column.gaps(x) ** 2
    return np.asarray(np.log((square * square).mean(-1)))


def neighbours(column: Column, x: Array) -> Array:
    """Return the correlation of each row with the next; zero if they are in order of their sizes.

    Rows that were sorted say nothing by their order.
    """
    r = column.gaps(x)
    steps = np.diff(column.x)
    if (steps >= 0).all() or (steps <= 0).all():
        return np.zeros(r.shape[:-1])
    square = (r**2).sum(-1)
    return np.asarray((r[..., 1:] * r[..., :-1]).sum(-1) / np.where(square > 0, square, 1.0))


def length(column: Column, x: Array) -> Array:
    """Return the log of the mean fourth power of lengths of rows with several numbers."""
    return np.asarray(np.log(((column.gaps(x) ** 2).sum(-1) ** 2).mean(-1)))


def longest(column: Column, x: Array) -> Array:
    """Return the largest length of rows with several numbers."""
    return np.asarray(np.sqrt((column.gaps(x) ** 2).sum(-1).max(-1)))


def association(column: Column, x: Array) -> Array:
    """Return the sum of squared correlations of the numbers of a row, times the number of rows."""
    r = column.gaps(x)
    products = np.einsum("...ni,...nj->...ij", r, r)
    square = np.einsum("...ii->...i", products)
    scale = square[..., :, None] * square[..., None, :]
    every = products**2 / np.where(scale > 0, scale, 1.0)
    own = np.einsum("...ii->...", every)
    return np.asarray((every.sum((-2, -1)) - own) / 2 * x.shape[-2])


def alike_neighbours(column: Column, x: Array) -> Array:
    """Return the part of rows that are like the one before; zero if equal rows are together."""
    if np.count_nonzero(np.diff(column.x)) < len(np.unique(column.x)):
        return np.zeros(x.shape[:-1])
    return np.asarray((x[..., 1:] == x[..., :-1]).mean(-1))


def uneven(column: Column, x: Array) -> Array:
    """Return how much squared deviations go with a term, the one with which they do so most."""
    square = column.gaps(x) ** 2
    gap = square - square.mean(-1, keepdims=True)
    scale = np.sqrt((gap**2).sum(-1, keepdims=True))
    return np.asarray(np.abs(gap @ column.terms / np.where(scale > 0, scale, 1.0)).max(-1))


def bent(column: Column, x: Array) -> Array:
    """Return how much deviations go with a curve, the one with which they do so most."""
    return np.asarray(np.abs(column.gaps(x) @ column.curves).max(-1, initial=0.0))


def off_in_tenths(column: Column, x: Array) -> Array:
    """Return the sum of squares by which tenths of the rows, by their mean, are off."""
    order = np.argsort(column.mean, kind="stable")
    gap, variance = (x - column.mean)[..., order], column.sd[order] ** 2
    starts = np.unique(np.linspace(0, len(order), 11)[:-1].astype(int))
    return np.asarray(
        (np.add.reduceat(gap, starts, axis=-1) ** 2 / np.add.reduceat(variance, starts)).sum(-1)
    )


# --- checks ---------------------------------------------------------------------------------------


def dispersion(rows: str, law: str, instead: str) -> Check:
    """Return the check whether rows vary as much as a law without a spread of its own says."""
    return Check(
        "dispersion",
        spread,
        f"{rows} vary {{ratio}} times as much as {law} says, so that intervals are about {{root}} "
        f"times too narrow; try {instead}",
        f"{rows} vary only {{ratio}} times as much as {law} says, so that intervals are too wide",
        weight=4.0,
    )


ZEROS = Check(
    "zeros",
    zeros,
    "there are {seen} zeros where the law has about {usual}; try one that is inflated at zero",
    "there are {seen} zeros where the law has about {usual}",
)
FARTHEST = Check(
    "largest deviation",
    farthest,
    "one row is {seen} standard deviations off, where {usual} are usual; look at it",
    share=1.0,
)
SKEW = Check(
    "skew",
    skewness,
    "rows are skewed to the right; try logs",
    "rows are skewed to the left",
    share=0.5,
)
TAILS = Check(
    "tails",
    log_kurtosis,
    "tails are heavier than those of the law; try a Student-t law",
    "tails are lighter than those of the law, as of two groups or of limits",
)
ORDER = Check(
    "order of rows",
    neighbours,
    "rows next to each other are alike (their correlation is {seen}), so that there is less to "
    "learn from them than the model believes",
    "rows next to each other are unlike (their correlation is {seen})",
)
RUNS = Check(
    "order of rows",
    alike_neighbours,
    "equal rows follow each other: a part of {seen}, where {usual} is usual",
    "equal rows avoid each other: a part of {seen} follows its like, where {usual} is usual",
)
UNEVEN = Check(
    "even spread",
    uneven,
    "the spread changes along a column or the fitted values; try logs of the target",
    share=1.0,
)
BENT = Check(
    "straight lines",
    bent,
    "the target bends along a column or the fitted values; try a square or a log",
    share=1.0,
)
TENTHS = Check(
    "calibration",
    off_in_tenths,
    "fitted probabilities are off in some tenths of the rows; try squares or products of columns",
    share=1.0,
)
LENGTHS = Check(
    "tails",
    length,
    "rows far out are more than those of a normal law",
    "rows far out are fewer than those of a normal law",
)
LONGEST = FARTHEST._replace(of=longest)
ASSOCIATION = Check(
    "independence",
    association,
    "features depend on each other within classes, so that probabilities of classes are too "
    "extreme; try a full covariance, or fewer features",
    share=1.0,
)
