"""The predictive check: whether the data are like those that the posterior predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from bayesmodels.belief.protocol import LatentClasses, Product, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.input import data as checked
from bayesmodels.input.wrappers import BinomialCounts, Grouped, MultinomialCounts
from bayesmodels.models.classifiers.features import Classified
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Picture
from bayesmodels.report.page import Validated
from bayesmodels.report.replicates import (
    LINES,
    MOST_BARS,
    REPLICATED,
    Counts,
    Measured,
    Numbers,
    bars,
    density,
)

MOST_PANELS = 8


@canvas.style()
def predictive(report: Validated) -> Picture:
    """Draw the data among replicated data sets.

    Densities for continuous data, counts with intervals otherwise, both for a classifier; without
    panels where rows or their replicates were not kept.
    """
    why = _why_not(report)
    if why:
        return Picture("predictive", "Predictive check", (), f"Not drawn: {why}.")
    if isinstance(report.posterior, Product):
        found = list(_of_parts(report))
    elif _replicated(report, _names(report)[0]).dtype.kind == "f":
        found = list(_measured(report))
    else:  # ones and zeros may come as floats, but leave as integers
        found = [counts(report)]
    shown, alone = found[:MOST_PANELS], len(found) == 1
    tallies = [each for each in shown if isinstance(each, Counts)]
    caption = []
    if tallies:
        caption.append(
            "Bars: the data. Lines with a dot: median and 89 % interval of data sets replicated "
            "from the posterior."
        )
    if len(tallies) < len(shown):
        caption.append(
            f"Black: distribution of the data. Blue: the same for {LINES} data sets replicated "
            "from the posterior, among which the data should not stand out."
        )
    if isinstance(report.posterior, LatentClasses):
        caption.append("Replicated rows have new classes, and new features given these.")
    elif isinstance(report.posterior, Product):
        caption.append("Replicated rows have new features, given the class that the row has.")
    left = sum(each.left for each in tallies)
    if left:
        caption.append(f"{left:,} more counts are not shown.")
    if len(found) > len(shown):
        caption.append(f"{len(found) - len(shown):,} more columns are not shown.")
    return Picture(
        "predictive",
        "Predictive check",
        tuple(bars(f, alone=alone) if isinstance(f, Counts) else density(f) for f in shown),
        " ".join(caption),
        alone and any(each.wide for each in tallies),
    )


def _why_not(report: Validated) -> str:
    """Say why there is nothing to draw; empty if there is."""
    if "observed_data" not in report.exact.children:
        if isinstance(report.data, Statistic):
            return "the data were given as a statistic, whose rows are gone"
        if checked.weighted(report.data):
            return "the rows are weighted, so that no row stands for one observation"
        return "the rows are a sparse table, which is not written out"
    if "posterior_predictive" not in report.exact.children:
        return "there are too many rows to keep their replicates"
    if 0 in report.exact["observed_data"].sizes.values():
        return "there are no rows"
    return ""


def _names(report: Validated) -> list[str]:
    return [str(name) for name in report.exact["observed_data"].data_vars]


def _replicated(report: Validated, name: str) -> Numbers:
    """Return some of the replicated data sets, of shape (draws, n, ...)."""
    draws = np.asarray(report.exact["posterior_predictive"][name])
    draws = draws.reshape(-1, *draws.shape[2:])
    return draws[:: max(1, len(draws) // REPLICATED)]


# --- models of one variable -----------------------------------------------------------------------


def _measured(report: Validated) -> Iterator[Measured]:
    """Return the numbers of each target or column."""
    (name,) = _names(report)
    observed: Any = report.exact["observed_data"][name]
    draws = _replicated(report, name)
    axes = [observed.coords[axis].to_numpy() for axis in observed.dims[1:]]
    for at in np.ndindex(*observed.shape[1:]):
        title = ", ".join(str(labels[i]) for labels, i in zip(axes, at, strict=True))
        yield Measured(title, np.asarray(observed)[(..., *at)], draws[(..., *at)])


def counts(report: Validated) -> Counts:
    """Count categories (or ones, or successes) in the data and in replicated data sets.

    One for each group or column and, if there is more than one outcome to count, category.
    """
    (name,) = _names(report)
    observed = np.asarray(report.exact["observed_data"][name])[None]
    draws = _replicated(report, name)

    rows = report.data.rows if isinstance(report.data, Grouped) else report.data
    coords = report.posterior.coords
    problems = {axis: coords[axis] for axis in coords if axis != "category"}
    if isinstance(rows, MultinomialCounts):
        what, outcomes = "count", None
    elif levels(report.posterior):
        return _of_outcomes(report.posterior.outcomes, observed[0], draws)
    elif "category" in coords:
        what, outcomes = "rows", range(len(coords["category"]))
    elif isinstance(rows, BinomialCounts):
        what, outcomes = "successes", None
        if not problems and 1 < observed.shape[1] <= MOST_BARS:
            labels = report.exact["observed_data"][name].coords["row"].to_numpy()
            return Counts(what, [(f"row {label}",) for label in labels], observed[0], draws)
    else:
        what = "ones" if problems else "rows"
        outcomes = range(1, 2) if problems else range(2)
        problems = problems or {"value": (0, 1)}
    members = _members(report)
    axes = {**problems, **({"category": coords["category"]} if "category" in coords else {})}
    flat = [_totals(x, members, outcomes).reshape(len(x), -1) for x in (observed, draws)]
    labels = [tuple(map(str, at)) for at in product(*axes.values())] if axes else [("all rows",)]
    return Counts(what, labels, flat[0][0], flat[1])


def _of_outcomes(outcomes: Sequence[Any], observed: Numbers, draws: Numbers) -> Counts:
    """Count outcomes that were seen or predicted, those seen most often first."""
    seen = np.bincount(observed, minlength=len(outcomes))
    drawn = np.stack([(draws == k).sum(1, dtype=np.int64) for k in range(len(outcomes))], axis=1)
    order = np.lexsort((-drawn.mean(0), -seen))
    at = [int(k) for k in order if seen[k] or drawn[:, k].any()]
    return Counts("rows", [(str(outcomes[k]),) for k in at], seen[at], drawn[:, at])


def _members(report: Validated) -> list[Numbers]:
    """Return, for each group, which rows belong to it; all rows if there are no groups."""
    if not isinstance(report.data, Grouped):
        return []
    grouped = report.data
    blank = Grouped(np.zeros(len(grouped.by)), grouped.by, report.posterior.coords["group"])
    codes = checked.trials(blank).batch.groups
    return [np.flatnonzero(codes == g) for g in range(len(report.posterior.coords["group"]))]


def _totals(x: Numbers, members: list[Numbers], outcomes: Sequence[int] | None) -> Numbers:
    """Add up rows (axis 1), or count outcomes in them, within groups; outcomes come last."""
    if outcomes is not None:
        each = [_totals(x == outcome, members, None) for outcome in outcomes]
        return np.stack(each, axis=-1)
    if not members:
        return x.sum(axis=1, dtype=np.int64)
    return np.stack([x[:, rows].sum(axis=1, dtype=np.int64) for rows in members], axis=1)


# --- classifiers ----------------------------------------------------------------------------------


def _of_parts(report: Validated) -> Iterator[Counts | Measured]:
    """Return the classes and the features of a classifier, block by block."""
    belief = report.posterior
    (classes, names), *parts = belief.parts()
    if names("x") in report.exact["observed_data"]:  # of a mixture no class is observed
        columns = _columns(report, names("x"), "class")
        yield _counted("class", "rows", columns, classes.coords["category"])
    for block, (part, names) in zip(belief.blocks, parts, strict=True):
        columns = _columns(report, names("x"), block)
        if columns[0].replicated.dtype.kind == "f":
            yield from columns
        elif "category" not in part.coords:
            yield _counted(block, "ones", columns)
        elif names.axes(["category"])[0] in report.exact["observed_data"][names("x")].dims:
            yield _added(block, columns)
        else:
            yield _counted(block, "rows", columns, part.coords["category"])


def _columns(report: Validated, name: str, block: str) -> list[Measured]:
    """Return the columns of one observed variable, without the cells that are missing."""
    observed, draws = report.exact["observed_data"][name], _replicated(report, name)
    seen = np.asarray(observed)
    if seen.ndim > 1:
        labels = observed.coords[observed.dims[1]].to_numpy()
        return [_present(str(t), seen[:, j], draws[..., j]) for j, t in enumerate(labels)]
    if not str(observed.dims[0]).startswith("cell"):
        return [_present(block, seen, draws)]
    split, _ = Classified(report.prior.classes, report.prior.blocks, report.data).rows(block)
    features: Sequence[Any] = split.coords.get("feature", (block,))
    at = split.codes % len(features)  # codes count classes and, the fastest, features
    return [
        Measured(str(t), seen[at == j], draws[:, at == j])
        for j, t in enumerate(features)
        if (at == j).any()
    ]


def _present(title: str, seen: Numbers, draws: Numbers) -> Measured:
    """Return a column without the cells that are missing: NaN, or -1 among whole numbers."""
    gone = np.isnan(seen) if seen.dtype.kind == "f" else seen == -1
    return (
        Measured(title, seen[~gone], draws[:, ~gone])
        if gone.any()
        else Measured(title, seen, draws)
    )


def _counted(title: str, what: str, columns: list[Measured], levels: Sequence[Any] = ()) -> Counts:
    """Count in each column how often each level occurs, or ones where there are no levels."""
    codes = range(len(levels)) if levels else (1,)
    labels = []
    for column, level in product(columns, levels or ("",)):
        whole = (column.title if column.title != title else "", str(level))
        labels.append(tuple(part for part in whole if part) or (title,))
    pairs = list(product(columns, codes))
    seen = np.array([(column.observed == code).sum() for column, code in pairs])
    drawn = np.stack([(c.replicated == code).sum(1, dtype=np.int64) for c, code in pairs], 1)
    return Counts(what, labels, seen, drawn, title)


def _added(title: str, columns: list[Measured]) -> Counts:
    """Add up the counts of each column."""
    seen = np.array([column.observed.sum() for column in columns])
    drawn = np.stack([column.replicated.sum(1, dtype=np.int64) for column in columns], 1)
    return Counts("count", [(column.title,) for column in columns], seen, drawn, title)
