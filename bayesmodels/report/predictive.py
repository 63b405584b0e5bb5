"""The predictive check: whether the data are like those that the posterior predicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesmodels.belief.protocol import LatentClasses, Product, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.input import data as checked
from bayesmodels.input.wrappers import BinomialCounts, Grouped, MultinomialCounts
from bayesmodels.models.classifiers.features import Classified
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel, Picture, printable
from bayesmodels.report.html import Report
from bayesmodels.report.rounding import decimals_of, rounded

MOST_PANELS = 8
MOST_BARS = 40
REPLICATED = 1000
"""Replicated data sets that intervals are taken from."""

_IN_WORDS = 12  # bars that an alternative text goes through one by one
_SHORT = 10  # characters of a label that leave room for bars beside it
_BINS = 25

Numbers = NDArray[Any]


class Counts(NamedTuple):
    """What was counted, of shape (m,), and in data sets drawn from the posterior, (draws, m).

    A label has a part for each axis, such as group and category; the title may be empty.
    """

    what: str
    labels: list[tuple[str, ...]]
    observed: Numbers
    replicated: Numbers
    title: str = ""

    @property
    def wide(self) -> bool:
        """Whether labels need more room than a panel has that is one of many."""
        return max(len(printable(label)) for label in self.labels[:MOST_BARS]) > _SHORT

    @property
    def left(self) -> int:
        """How many counts are not drawn."""
        return max(0, len(self.labels) - MOST_BARS)


class Measured(NamedTuple):
    """One column of the data, of shape (n,), and of replicated data sets, of shape (draws, n)."""

    label: tuple[str, ...]
    observed: Numbers
    replicated: Numbers


@canvas.style()
def predictive(report: Report) -> Picture:
    """Draw the data among replicated data sets.

    Densities for continuous data, counts with intervals otherwise, both for a classifier; without
    panels where rows or their replicates were not kept.
    """
    why = _why_not(report)
    if why:
        return Picture("predictive", "Predictive check", (), f"Not drawn: {why}.")
    if isinstance(report.posterior, Product):
        result = list(_of_parts(report))
    elif _replicated(report, _name(report)).dtype.kind == "f":
        result = list(_measured(report))
    else:  # ones and zeros may come as floats, but leave as integers
        result = [counts(report)]
    shown, alone = result[:MOST_PANELS], len(result) == 1
    tallies = [each for each in shown if isinstance(each, Counts)]
    about = (
        "Filled: the data. Lines, or bands: median and 89 % interval of data sets replicated from "
        "the posterior, among which the data should not stand out."
    )
    caption = [about]
    if isinstance(report.posterior, LatentClasses):
        caption.append("Replicated rows have new classes, and new features given these.")
    elif isinstance(report.posterior, Product):
        caption.append("Replicated rows have new features, given the class that the row has.")
    if left := sum(each.left for each in tallies):
        caption.append(f"{left:,} more counts are not shown.")
    if len(result) > len(shown):
        caption.append(f"{len(result) - len(shown):,} more columns are not shown.")
    return Picture(
        "predictive",
        "Predictive check",
        tuple(_bars(f, alone=alone) if isinstance(f, Counts) else _density(f) for f in shown),
        " ".join(caption),
        alone and any(each.wide for each in tallies),
    )


def _why_not(report: Report) -> str:
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


def _name(report: Report) -> str:
    """Return what the one observed variable is called."""
    (name,) = report.exact["observed_data"].data_vars
    return str(name)


def _replicated(report: Report, name: str) -> Numbers:
    """Return some of the replicated data sets, of shape (draws, n, ...)."""
    draws = np.asarray(report.exact["posterior_predictive"][name])
    draws = draws.reshape(-1, *draws.shape[2:])
    return draws[:: max(1, len(draws) // REPLICATED)]


# --- panels ---------------------------------------------------------------------------------------


def _bars(tally: Counts, *, alone: bool) -> Panel:
    """Draw counts beside intervals of their replicates; a panel that is alone may be wide."""
    shown = len(tally.labels) - tally.left
    table = _beside(tally.observed[:shown], tally.replicated[:, :shown])
    table.index = pd.Index([", ".join(label) for label in tally.labels[:shown]], name=tally.what)
    names = [printable(label, 28 if alone else 18) for label in tally.labels[:shown]]
    width = canvas.WIDE if alone and tally.wide else canvas.SIZE[0]
    axes = canvas.axes_of((width, 0.7 + 0.32 * max(2, shown)))
    canvas.intervals(axes, table, names, bars="observed")
    axes.set_xlabel(f"number of {tally.what}" if tally.what != "count" else "count")
    within = int(table["observed"].between(table["low"], table["high"]).sum())
    each = "; ".join(
        f"{label}: {seen:,} observed, {low:,.0f} to {high:,.0f} predicted"
        for label, seen, low, _, high in table[:_IN_WORDS].itertuples()
    )
    more = f"; and {shown - _IN_WORDS} more" if shown > _IN_WORDS else ""
    return canvas.panel(
        tally.title,
        axes,
        table,
        "Observed counts beside 89 % intervals of replicated data; "
        f"{within} of {shown} lie within. {each}{more}.",
    )


def _beside(observed: Numbers, replicated: Numbers) -> pd.DataFrame:
    """Return counts beside the median and the 89 % interval of their replicates, along rows."""
    low, middle, high = np.quantile(replicated, [0.055, 0.5, 0.945], axis=0)
    return pd.DataFrame({"observed": observed, "low": low, "median": middle, "high": high})


def _density(column: Measured) -> Panel:
    """Draw how many numbers are in each bin, beside the same of their replicates."""
    label, observed, flat = ", ".join(column.label), column.observed, column.replicated
    rows = len(observed)
    flat = flat[:: max(1, len(flat) // REPLICATED)]
    ends = [*np.quantile(flat, [0.005, 0.995]), observed.min(), observed.max()]
    bins = np.histogram_bin_edges([], _BINS, (min(ends), max(ends)))
    seen, *drawn = (np.histogram(x, bins)[0] for x in (observed, *flat))
    table = _beside(seen, np.array(drawn))
    table.index = pd.Index((bins[1:] + bins[:-1]) / 2, name="value")
    axes, steps = canvas.axes_of(), {"color": canvas.ORANGE, "drawstyle": "steps-mid"}
    low, high = table["low"], table["high"]
    axes.fill_between(table.index, low, high, step="mid", color=canvas.ORANGE, alpha=0.25, lw=0)
    canvas.histogram(axes, table[["observed", "median"]], {"median": steps})
    axes.set_ylabel("rows")
    facts = []
    for name, function in (("mean", np.mean), ("standard deviation", np.std)):
        around = np.quantile(function(flat, axis=1), [0.055, 0.945])
        places = decimals_of(float(np.ptp(around)), 3)
        words = (rounded(float(n), places) for n in (function(observed), *around))
        facts.append("{} {} observed, {} to {} replicated (89 %)".format(name, *words))
    of = f" of {label}" if label else ""
    alt = f"Histogram of {rows:,} observed values{of} and of replicated data: {'; '.join(facts)}."
    return canvas.panel(label, axes, table, alt)


# --- what is in them ------------------------------------------------------------------------------


def _measured(report: Report) -> Iterator[Measured]:
    """Return the numbers of each target or column, of a model of one variable."""
    name = _name(report)
    observed: Any = report.exact["observed_data"][name]
    draws = _replicated(report, name)
    labels = product(*(observed.coords[axis].to_numpy() for axis in observed.dims[1:]))
    for label, at in zip(labels, np.ndindex(*observed.shape[1:]), strict=True):
        yield Measured(tuple(map(str, label)), np.asarray(observed)[:, *at], draws[..., *at])


def counts(report: Report) -> Counts:
    """Count categories (or ones, or successes) in the data and in replicated data sets.

    One for each group or column and, if there is more than one outcome to count, category.
    """
    belief: Any = report.posterior
    name, coords = _name(report), belief.coords
    observed, draws = np.asarray(report.exact["observed_data"][name]), _replicated(report, name)
    if levels(belief):
        return _of_outcomes(belief.outcomes, observed, draws)
    rows = report.data.rows if isinstance(report.data, Grouped) else report.data
    axes, outcomes = [coords[axis] for axis in coords if axis != "category"], dict[int, Any]()
    if isinstance(rows, MultinomialCounts):
        what, axes = "count", [*axes, coords["category"]]
    elif "category" in coords:
        what, outcomes = "rows", dict(enumerate(coords["category"]))
    elif isinstance(rows, BinomialCounts):
        what = "successes"
        if not axes and 1 < len(observed) <= MOST_BARS:
            labels = report.exact["observed_data"][name].coords["row"].to_numpy()
            return Counts(what, [(f"row {label}",) for label in labels], observed, draws)
    else:
        what, outcomes = ("ones", {1: ""}) if axes else ("rows", {0: 0, 1: 1})
    columns = [
        Measured(tuple(map(str, label)), observed[members][:, *at], draws[:, members][..., *at])
        for label, (members, at) in zip(
            product(*axes),
            product(_members(report), np.ndindex(*observed.shape[1:])),
            strict=True,
        )
    ]
    return _counted(what, columns, outcomes)


def _of_outcomes(outcomes: Sequence[Any], observed: Numbers, draws: Numbers) -> Counts:
    """Count outcomes that were seen or predicted, those seen most often first."""
    every = _counted("rows", [Measured((), observed, draws)], dict(enumerate(outcomes)))
    _, labels, seen, drawn, _ = every
    order = np.lexsort((-drawn.mean(0), -seen))
    at = [int(k) for k in order if seen[k] or drawn[:, k].any()]
    return Counts("rows", [labels[k] for k in at], seen[at], drawn[:, at])


def _members(report: Report) -> list[Any]:
    """Return, for each group, which rows belong to it; all if there are no groups."""
    if not isinstance(report.data, Grouped):
        return [slice(None)]
    by, groups = report.data.by, report.posterior.coords["group"]
    codes = checked.trials(Grouped(np.zeros(len(by)), by, groups)).batch.groups
    return [np.flatnonzero(codes == g) for g in range(len(groups))]


def _of_parts(report: Report) -> Iterator[Counts | Measured]:
    """Return the classes and the features of a classifier, block by block."""
    belief: Any = report.posterior
    (classes, names), *parts = belief.parts()
    if names("x") in report.exact["observed_data"]:  # of a mixture no class is observed
        columns = _columns(report, names("x"), "class")
        yield _counted("rows", columns, dict(enumerate(classes.coords["category"])), "class")
    for block, (part, names) in zip(belief.blocks, parts, strict=True):
        columns = _columns(report, names("x"), block)
        if columns[0].replicated.dtype.kind == "f":
            yield from columns
        elif "category" not in part.coords:
            yield _counted("ones", columns, {1: ""}, block)
        elif names.axes(["category"])[0] in report.exact["observed_data"][names("x")].dims:
            yield _counted("count", columns, {}, block)
        else:
            yield _counted("rows", columns, dict(enumerate(part.coords["category"])), block)


def _columns(report: Report, name: str, block: str) -> list[Measured]:
    """Return the columns of one observed variable, without the cells that are missing."""
    observed, draws = report.exact["observed_data"][name], _replicated(report, name)
    seen, prior = np.asarray(observed), cast("Any", report.prior)
    if seen.ndim > 1:
        labels = observed.coords[observed.dims[1]].to_numpy()
        return [_present(str(t), seen[:, j], draws[..., j]) for j, t in enumerate(labels)]
    if not str(observed.dims[0]).startswith("cell"):
        return [_present(block, seen, draws)]
    split, _ = Classified(prior.classes, prior.blocks, report.data).rows(block)
    features: Sequence[Any] = split.coords.get("feature", (block,))
    at = split.codes % len(features)  # codes count classes and, the fastest, features
    return [
        Measured((str(t),), seen[at == j], draws[:, at == j])
        for j, t in enumerate(features)
        if (at == j).any()
    ]


def _present(label: str, seen: Numbers, draws: Numbers) -> Measured:
    """Return a column without the cells that are missing: NaN, or -1 among whole numbers."""
    here = ~np.isnan(seen) if seen.dtype.kind == "f" else seen != -1
    return Measured((label,), seen[here], draws[:, here])


def _counted(
    what: str, columns: list[Measured], outcomes: Mapping[int, Any], title: str = ""
) -> Counts:
    """Count in each column how often each outcome occurs; add up counts if there are no outcomes.

    An outcome may have no label; what is called as the title is, needs none either.
    """

    def number(x: Numbers, code: int | None) -> Numbers:
        return np.asarray((x if code is None else x == code).sum(-1, dtype=np.int64))

    each: list[tuple[Measured, Any]] = list(product(columns, outcomes or [None]))
    labels = []
    for column, code in each:
        parts = [part for part in column.label if part != title] + [str(outcomes.get(code, ""))]
        labels.append(tuple(filter(None, parts)) or (title or "all rows",))
    seen = np.array([number(column.observed, code) for column, code in each])
    drawn = np.stack([number(column.replicated, code) for column, code in each], 1)
    return Counts(what, labels, seen, drawn, title)
