"""Pictures: five kinds of figures, each drawn from a labelled table, which is also its CSV.

Matplotlib without pyplot, but for `shown`. Nothing global is touched: neither pyplot's list of
figures, nor the backend, nor rcParams.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import matplotlib.style
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bayesmodels.numerics import Array

SIZE = (3.6, 2.4)  # inches: three panels fit a page, and one fits a phone without shrinking
WIDE = 5.4
INK = "#333333"

# Okabe and Ito's colours, which colour-blind readers tell apart.
BLUE, SKY, ORANGE = "#0072b2", "#56b4e9", "#d55e00"
COLOURS = (BLUE, "#e69f00", "#009e73", "#cc79a7", SKY, ORANGE)

_STYLE: dict[str, Any] = {
    "axes.edgecolor": "#666666",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "lines.linewidth": 1.1,
    "path.simplify_threshold": 0.5,  # of a pixel, which nobody sees; files get half as large
    "svg.fonttype": "none",  # text, which the browser sets
    "svg.hashsalt": "bayesmodels",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}

_UNSTATED = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_PIXELS = 200  # dots; more than these are stored as pixels
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

type Styles = Mapping[Any, Mapping[str, Any]]
"""How the line of a column is drawn, in Matplotlib's words, by its name."""


class Panel(NamedTuple):
    """One image: what it is about, the image, what is seen in words, and the numbers behind it."""

    label: str
    svg: bytes
    alt: str
    csv: bytes


class Picture(NamedTuple):
    """Panels that are read alike, under a name for the machine and a title for people.

    There are none if there is nothing to see; the caption says why. A wide panel needs more than a
    third of a page; a folded picture is for those who look into a sampler.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    caption: str
    wide: bool = False
    folded: bool = False


@contextmanager
def style() -> Iterator[None]:
    """Draw in the report's style, whatever the user's settings are."""
    with (
        matplotlib.style.context(["default", _STYLE]),
        warnings.catch_warnings(),
        np.errstate(over="ignore", invalid="ignore"),  # of draws that are garbage
    ):
        # Names from data may hold characters that the font lacks: a box stands for them.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        # Which model a target of zeros and ones gets has been decided before it is drawn.
        warnings.filterwarnings("ignore", r"Variables x in .* look binary", UserWarning)
        yield


def axes_of(size: tuple[float, float] = SIZE) -> Axes:
    """Return empty axes on a figure of their own."""
    return blank(size).add_subplot()


def blank(size: tuple[float, float] = SIZE) -> Figure:
    """Return an empty figure that no window shows."""
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure


def shown(size: tuple[float, float] | None = None) -> Figure:
    """Return an empty figure that a window or a notebook shows."""
    from matplotlib.pyplot import figure

    return figure(figsize=size, layout="constrained")


# --- five kinds -----------------------------------------------------------------------------------


def intervals(
    axes: Axes,
    table: pd.DataFrame,
    names: Sequence[str] = (),
    *,
    bars: str = "",
    fill: str = SKY,
) -> None:
    """Draw each row of a table on a line of its own, the first on top.

    The column `bars` is drawn as bars, from ``low`` to ``high`` as a line, all else as dots. The
    rows are called by their labels if there are no other names.
    """
    place, colour = np.arange(len(table)), ORANGE if bars else BLUE
    if bars:
        axes.barh(place, table[bars], height=0.7, color=fill)
    if "low" in table:
        axes.hlines(place, table["low"], table["high"], color=colour, lw=2.2)
    dots = [name for name in table if name not in (bars, "low", "high")]
    for name in dots:
        axes.plot(table[name].to_numpy(), place, "o", color=colour, ms=4.5, alpha=0.9)
    axes.set_yticks(place, names or [printable((str(x),)) for x in table.index], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(table) - 0.5, -0.5)


def curves(axes: Axes, table: pd.DataFrame, styles: Styles | None = None) -> None:
    """Draw each column of a table as a line over the index."""
    for name, line in table.items():
        axes.plot(table.index.to_numpy(), line.to_numpy(), **(styles or {}).get(name, {}))
    axes.set_xlabel(str(table.index.name))


def histogram(axes: Axes, table: pd.DataFrame, styles: Styles | None = None) -> None:
    """Fill the first column of a table in steps, and draw the others as lines over it.

    The index has the middles of the steps.
    """
    x = table.index.to_numpy(dtype=float)
    half = np.diff(x) / 2 if x.size > 1 else np.array([0.5])
    edges = np.concatenate([x[:1] - half[0], x[:-1] + half[: x.size - 1], x[-1:] + half[-1]])
    axes.stairs(table.iloc[:, 0].to_numpy(), edges, fill=True, color=SKY, alpha=0.5)
    curves(axes, table.iloc[:, 1:], styles)
    axes.locator_params(axis="x", nbins=5)


def points(axes: Axes, table: pd.DataFrame, colour: Any = BLUE) -> None:
    """Draw the second column of a table over the first, a dot a row."""
    x, y = table.columns[:2]
    how: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "zorder": 3}
    axes.scatter(table[x], table[y], 14, color=colour, rasterized=len(table) > _PIXELS, **how)
    axes.set(xlabel=x, ylabel=y)


def grid(axes: Axes, colour: Array, table: pd.DataFrame, heads: Sequence[str]) -> None:
    """Write the numbers of a table, strings or not, on cells of colours from 0 to 1."""
    axes.imshow(colour, cmap="RdBu_r", vmin=-0.15, vmax=1.15, aspect="auto")
    for (row, column), text in np.ndenumerate(table.to_numpy()):
        axes.text(column, row, text, ha="center", va="center", fontsize="small", color="black")
    axes.set_xticks(np.arange(len(heads)), heads, parse_math=False)
    axes.set_yticks(np.arange(len(table)), list(table.index), parse_math=False)
    axes.tick_params(length=0)


# --- images ---------------------------------------------------------------------------------------


def colours(number: int) -> list[Any]:
    """Return so many colours that can be told apart."""
    if number <= len(COLOURS):
        return list(COLOURS[:number])
    return [tuple(map(float, c)) for c in colormaps["turbo"](np.linspace(0.05, 0.95, number))]


def panel(label: str, axes: Axes, table: pd.DataFrame, alt: str) -> Panel:
    """Return what was drawn of a table on the figure of these axes, as an image and in words."""
    buffer = io.BytesIO()
    cast("Figure", axes.figure).savefig(buffer, format="svg", dpi=130, metadata=_UNSTATED)
    return Panel(label, buffer.getvalue(), alt, csv(table))


def picture(
    name: str, title: str, axes: Axes, table: pd.DataFrame, caption: str, alt: str
) -> Picture:
    """Return a picture that is one wide panel."""
    return Picture(name, title, (panel("", axes, table, alt),), caption, wide=True)


def csv(table: pd.DataFrame) -> bytes:
    r"""Return a table as CSV, of whose labels none is a formula.

    Examples
    --------
    >>> csv(pd.DataFrame({"low": [0.1]}, index=pd.Index(["=1+1"], name="row")))
    b"row,low\n'=1+1,0.1\n"
    """

    def safe(x: Any) -> Any:
        return f"'{x}" if isinstance(x, str) and x.startswith(_FORMULA) else x

    text = table.rename(index=safe, columns=safe).to_csv(float_format="%.5g")
    return text.encode(errors="replace")


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
