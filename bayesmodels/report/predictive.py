"""The predictive check: whether the data are like those that the posterior predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import arviz_plots as azp
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesmodels import data as checked
from bayesmodels.data import BinomialCounts, Grouped, MultinomialCounts
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.rounding import decimals_of, rounded
from bayesmodels.report.validation import Report

MOST_PANELS = 8
MOST_BARS = 40
_IN_WORDS = 12  # bars that an alternative text goes through one by one
_REPLICATED = 1000  # data sets that intervals are taken from
_LINES = 50  # replicated data sets that are drawn
_SHORT = 10  # characters of a label that leave room for bars beside it
_FEW = 20  # rows, for which a smoothed density would show the smoothing

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Counts:
    """What was counted in the data and in each replicated data set.

    Attributes
    ----------
    what : str
        What is counted.
    labels : list of tuple of str
        One a count; a part for each axis, such as group and category.
    observed : ndarray of shape (m,)
        In the data.
    replicated : ndarray of shape (draws, m)
        In data sets drawn from the posterior predictive.
    """

    what: str
    labels: list[tuple[str, ...]]
    observed: Numbers
    replicated: Numbers


@canvas.style()
def predictive(report: Report) -> Picture:
    """Draw the data among replicated data sets.

    Parameters
    ----------
    report : Report
        What `validate` found.

    Returns
    -------
    Picture
        Densities for continuous data, counts with intervals otherwise; without panels where
        rows or their replicates were not kept.
    """
    groups = {name: group.to_dataset() for name, group in report.exact.children.items()}
    why = ""
    if "observed_data" not in groups:
        why = "the data were given as a statistic, whose rows are gone"
    elif "posterior_predictive" not in groups:
        why = "there are too many rows to keep their replicates"
    elif 0 in groups["observed_data"].sizes.values():
        why = "there are no rows"
    if why:
        return Picture("predictive", "Predictive check", (), f"Not drawn: {why}.")
    (name,) = map(str, groups["observed_data"].data_vars)
    replicated = groups["posterior_predictive"][name]
    if replicated.dtype.kind == "f":  # ones and zeros may come as floats, but leave as integers
        return _densities(groups["observed_data"][name], replicated)
    return _bars(counts(report))


def counts(report: Report) -> Counts:
    """Count categories (or ones, or successes) in the data and in replicated data sets.

    Parameters
    ----------
    report : Report
        Of a model of 0/1 rows, categories or counts.

    Returns
    -------
    Counts
        One for each group or column and, if there is more than one outcome to count, category.
    """
    (name,) = map(str, report.exact["observed_data"].data_vars)
    observed = np.asarray(report.exact["observed_data"][name])[None]
    draws = np.asarray(report.exact["posterior_predictive"][name])
    draws = draws.reshape(-1, *draws.shape[2:])
    draws = draws[:: max(1, len(draws) // _REPLICATED)]

    rows = report.data.rows if isinstance(report.data, Grouped) else report.data
    coords = report.posterior.coords
    problems = {axis: coords[axis] for axis in coords if axis != "category"}
    if isinstance(rows, MultinomialCounts):
        what, outcomes = "count", None
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


def _members(report: Report) -> list[Numbers]:
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


def _bars(found: Counts) -> Picture:
    shown = min(len(found.labels), MOST_BARS)
    observed, replicated = found.observed[:shown], found.replicated[:, :shown]
    low, middle, high = np.quantile(replicated, [0.055, 0.5, 0.945], axis=0)
    place = np.arange(shown)
    names = [_printable(label) for label in found.labels[:shown]]
    wide = max(map(len, names)) > _SHORT
    axes = canvas.axes_of((canvas.WIDE if wide else canvas.SIZE[0], 0.7 + 0.32 * max(2, shown)))
    axes.barh(place, observed, height=0.62, color=canvas.SKY, alpha=0.55)
    axes.hlines(place, low, high, color=canvas.ORANGE, lw=2.2)
    axes.plot(middle, place, "o", color=canvas.ORANGE, ms=4.5)
    axes.set_yticks(place, names, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(shown - 0.5, -0.5)
    axes.set_xlabel(f"number of {found.what}" if found.what != "count" else "count")
    within = int(((low <= observed) & (observed <= high)).sum())
    each = "; ".join(
        f"{', '.join(label)}: {seen:,} observed, {down:,.0f} to {up:,.0f} predicted"
        for label, seen, down, up in zip(
            found.labels[: min(shown, _IN_WORDS)], observed, low, high, strict=False
        )
    )
    more = f"; and {shown - _IN_WORDS} more" if shown > _IN_WORDS else ""
    left = len(found.labels) - shown
    panel = Panel(
        "",
        canvas.svg(axes),
        "Observed counts beside 89 % intervals of replicated data; "
        f"{within} of {shown} lie within. {each}{more}.",
    )
    return Picture(
        "predictive",
        "Predictive check",
        (panel,),
        "Bars: the data. Lines with a dot: median and 89 % interval of data sets replicated from "
        "the posterior." + (f" {left:,} more counts are not shown." if left else ""),
        wide,
    )


def _densities(observed: xr.DataArray, replicated: xr.DataArray) -> Picture:
    batch = observed.shape[1:]
    every = list(np.ndindex(*batch))
    panels = []
    for at in every[:MOST_PANELS]:
        label = ", ".join(
            str(observed.coords[axis].to_numpy()[i])
            for axis, i in zip(observed.dims[1:], at, strict=True)
        )
        draws = np.asarray(replicated)[(..., *at)]
        panels.append(_density(label, np.asarray(observed)[(..., *at)], draws))
    left = len(every) - len(panels)
    return Picture(
        "predictive",
        "Predictive check",
        tuple(panels),
        f"Black: distribution of the data. Blue: the same for {_LINES} data sets replicated from "
        "the posterior, among which the data should not stand out."
        + (f" {left:,} more targets are not shown." if left else ""),
    )


def _density(label: str, observed: Numbers, replicated: Numbers) -> Panel:
    rows = len(observed)
    flat = replicated.reshape(-1, rows)
    flat = flat[:: max(1, len(flat) // _REPLICATED)]
    lines = flat[:: max(1, len(flat) // _LINES)][:_LINES]
    sets = xr.Dataset(
        {"x": (("chain", "draw", "row"), lines[None])},
        coords={"chain": [0], "draw": np.arange(len(lines)), "row": np.arange(rows)},
    )
    data = xr.Dataset({"x": ("row", observed)}, coords={"row": np.arange(rows)})
    smooth = rows >= _FEW and np.ptp(observed) > 0
    axes = canvas.axes_of()
    stacked = sets.stack(sample=["chain", "draw"])
    azp.plot_ppc_dist(
        xr.DataTree.from_dict({"posterior_predictive": sets, "observed_data": data}),
        kind="kde" if smooth else "ecdf",
        num_samples=len(lines),
        plot_collection=canvas.collection(axes, stacked, {"overlay_ppc": ["sample"]}),
        visuals={
            "predictive_dist": {"color": canvas.BLUE, "alpha": 0.25, "width": 0.7},
            "observed_dist": {"color": "black", "width": 1.8},
            "title": False,
        },
    )
    facts = []
    for name, function in (("mean", np.mean), ("standard deviation", np.std)):
        ends = np.quantile(function(flat, axis=1), [0.055, 0.945])
        places = decimals_of(float(np.ptp(ends)), 3)
        seen, low, high = (rounded(float(n), places) for n in (function(observed), *ends))
        facts.append(f"{name} {seen} observed, {low} to {high} replicated (89 %)")
    of = f" of {label}" if label else ""
    kind = "densities" if smooth else "distribution functions"
    alt = (
        f"Distribution of {rows:,} observed values{of} as a black line among the {kind} of "
        f"{len(lines)} replicated data sets: {'; '.join(facts)}."
    )
    return Panel(label, canvas.svg(axes), alt)


def _printable(label: tuple[str, ...], longest: int = 28) -> str:
    """Return a label that a picture can show: one line, no control characters, not too long."""
    room = longest // len(label)
    parts = ("".join(filter(str.isprintable, " ".join(part.split()))) for part in label)
    return ", ".join(part if len(part) <= room else part[: room - 1] + "…" for part in parts)
