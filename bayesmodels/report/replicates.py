"""Panels of the predictive check: data among data sets that were drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import arviz_plots as azp
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel
from bayesmodels.report.rounding import decimals_of, rounded

MOST_BARS = 40
LINES = 50
"""Replicated data sets that are drawn."""
REPLICATED = 1000
"""Replicated data sets that intervals are taken from."""

_IN_WORDS = 12  # bars that an alternative text goes through one by one
_SHORT = 10  # characters of a label that leave room for bars beside it
_FEW = 20  # rows, for which a smoothed density would show the smoothing

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Counts:
    """What was counted in the data and in each replicated data set.

    Attributes
    ----------
    what, title : str
        What is counted, and what the counts are about; this may be empty.
    labels : list of tuple of str
        One a count; a part for each axis, such as group and category.
    observed, replicated : ndarray of shape (m,) and (draws, m)
        In the data, and in data sets drawn from the posterior predictive.
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


@dataclass(frozen=True)
class Measured:
    """Numbers in the data, of shape (n,), and in replicated data sets, of shape (draws, n)."""

    title: str
    observed: Numbers
    replicated: Numbers


def bars(found: Counts, *, alone: bool = True) -> Panel:
    """Draw counts beside intervals of their replicates; a panel that is alone may be wide."""
    shown = len(found.labels) - found.left
    observed, replicated = found.observed[:shown], found.replicated[:, :shown]
    low, middle, high = np.quantile(replicated, [0.055, 0.5, 0.945], axis=0)
    place = np.arange(shown)
    names = [printable(label, 28 if alone else 18) for label in found.labels[:shown]]
    width = canvas.WIDE if alone and found.wide else canvas.SIZE[0]
    axes = canvas.axes_of((width, 0.7 + 0.32 * max(2, shown)))
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
    return canvas.panel(
        found.title,
        axes,
        "Observed counts beside 89 % intervals of replicated data; "
        f"{within} of {shown} lie within. {each}{more}.",
    )


def density(found: Measured) -> Panel:
    """Draw the distribution of numbers among those of their replicates."""
    label, observed, replicated = found.title, found.observed, found.replicated
    rows = len(observed)
    flat = replicated.reshape(-1, rows)
    flat = flat[:: max(1, len(flat) // REPLICATED)]
    lines = flat[:: max(1, len(flat) // LINES)][:LINES]
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
    return canvas.panel(label, axes, alt)


def printable(label: tuple[str, ...], longest: int = 28) -> str:
    """Return a label that a picture can show: one line, no control characters, not too long.

    Examples
    --------
    >>> printable(("drug", "a long name"), longest=16)
    'drug, a long …'
    """
    room = longest // len(label)
    parts = ("".join(filter(str.isprintable, " ".join(part.split()))) for part in label)
    return ", ".join(part if len(part) <= room else part[: room - 1] + "…" for part in parts)
