"""One pair of axes -> one SVG: matplotlib without pyplot, and ArviZ on axes of our own.

Nothing global is touched: neither pyplot's list of figures, nor the backend, nor rcParams.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import matplotlib.style
import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots.plot_collection import PlotCollection
from cycler import cycler
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure

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
    "svg.fonttype": "path",
    "svg.hashsalt": "bayesmodels",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}

_POINTS = 100  # of a line, in its numbers
_ALL_POINTS = 2000  # of many lines
_PATH = re.compile(r' d="([^"]*)"')
_UNSEEN = re.compile(
    r'<metadata>.*?</metadata>|<!--.*?-->| id="[\w.]+_\d+"|(?<=>)\s+(?=<)|(?<=")\s+(?=/>)',
    re.DOTALL,
)
"""What nobody sees, and nothing refers to."""
_PLACE = re.compile(r'(?:translate\([^)]*\)| [xy]="[^"]*")')
_DIGITS = re.compile(r"(\.\d\d)\d+")
_STEP = re.compile(r"([MLz])(?:\s*(\S+)\s+(\S+))?")
_LONG = 300  # characters of a path of many points; shorter ones are ticks and letters


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


def collection(
    axes: Axes, data: xr.Dataset, aes: Mapping[str, Sequence[str]] | None = None
) -> PlotCollection:
    """Return what ArviZ draws into: these axes, for the variable ``x`` of the data.

    `aes` leads from a property, such as the colour, to the axes of the data that it tells apart.
    """
    places = {"plot": axes, "row_index": 0, "col_index": 0}
    viz = {"/": xr.Dataset({"figure": _boxed(axes.figure)})}
    viz |= {f"/{key}": xr.Dataset({"x": _boxed(value)}) for key, value in places.items()}
    tree = xr.DataTree.from_dict(viz)
    return PlotCollection(data, tree, aes=dict(aes or {}), backend="matplotlib")


def colours(number: int) -> list[Any]:
    """Return so many colours that can be told apart."""
    if number <= len(COLOURS):
        return list(COLOURS[:number])
    return [tuple(map(float, c)) for c in colormaps["turbo"](np.linspace(0.05, 0.95, number))]


def panel(label: str, axes: Axes, alt: str) -> Panel:
    """Return what was drawn on the figure of these axes, as an image, in words and in numbers."""
    return Panel(label, svg(axes), alt, numbers(axes))


def picture(name: str, title: str, axes: Axes, caption: str, alt: str) -> Picture:
    """Return a picture that is one wide panel."""
    return Picture(name, title, (panel("", axes, alt),), caption, wide=True)


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


def numbers(axes: Axes) -> bytes:
    """Return the numbers behind all lines, bars and maps of the figure as CSV, one row a point.

    Columns are ``mark``, the number of the axes and of what is drawn on them, such as ``0.2``;
    ``x`` and ``y``, of a bar its middle and its end; of a map also the ``value``. Of a line or a
    cloud of dots at most 100 points are kept, every k-th.
    """
    rows: list[list[Any]] = []
    every = axes.figure.axes
    maps = any(each.images for each in every)
    for p, each in enumerate(every):
        for mark, points in enumerate([*_lines(each), *_bars(each), *_cells(each)]):
            for x, y, *value in points:
                end: list[Any] = [*value] or [None] if maps else []
                rows.append([f"{p}.{mark}", x, y, *end])
    head = ["mark", "x", "y", "value"] if maps else ["mark", "x", "y"]
    return pd.DataFrame(rows, columns=head).to_csv(index=False, float_format="%.5g").encode()


def _lines(axes: Axes) -> Iterator[Sequence[tuple[float, ...]]]:
    """Return the points of each line, cloud of dots and area."""
    lines = [np.column_stack([np.ravel(v).astype(float) for v in x.get_data()]) for x in axes.lines]
    for shapes in axes.collections:
        if isinstance(shapes, PathCollection):
            lines.append(np.asarray(shapes.get_offsets(), dtype=float))
        elif not isinstance(shapes, QuadMesh):
            paths = (np.asarray(path.vertices, dtype=float) for path in shapes.get_paths())
            lines.append(np.concatenate([np.zeros((0, 2)), *paths]))
    bars = [bar for group in axes.containers for bar in getattr(group, "patches", ())]
    others = (patch for patch in axes.patches if patch not in bars)
    lines += [np.asarray(patch.get_path().vertices, dtype=float) for patch in others]
    most = max(20, min(_POINTS, _ALL_POINTS // max(1, len(lines))))
    yield from (line[:: max(1, -(-len(line) // most))].tolist() for line in lines)


def _bars(axes: Axes) -> Iterator[Sequence[tuple[float, ...]]]:
    """Return the middle and the end of each bar of a group."""
    for group in axes.containers:
        sideways = getattr(group, "orientation", "vertical") == "horizontal"
        boxes = [(b.get_xy(), b.get_width(), b.get_height()) for b in getattr(group, "patches", ())]
        yield [
            (x + width, y + height / 2) if sideways else (x + width / 2, y + height)
            for (x, y), width, height in boxes
        ]


def _cells(axes: Axes) -> Iterator[Sequence[tuple[float, ...]]]:
    """Return column, row and value of each cell of a map."""
    for image in axes.images:
        cells = np.asarray(image.get_array())
        if cells.ndim == 2 and cells.size <= _POINTS**2:  # noqa: PLR2004 - not one of colours
            yield [(x, y, value) for (y, x), value in np.ndenumerate(cells)]


def svg(axes: Axes) -> bytes:
    """Return the axes' figure as SVG: the same bytes for the same picture."""
    buffer = io.StringIO()
    cast("Figure", axes.figure).savefig(buffer, format="svg", dpi=130, metadata={"Date": None})
    text = _PATH.sub(_shortened, _UNSEEN.sub("", buffer.getvalue()))
    return _PLACE.sub(lambda place: _DIGITS.sub(r"\1", place[0]), text).encode()


def _boxed(value: Any) -> xr.DataArray:
    """Return one object as an array without axes."""
    box = np.empty((), dtype=object)
    box[()] = value
    return xr.DataArray(box)


def _shortened(path: re.Match[str]) -> str:
    """Write a path briefly: lines by steps of tenths of a point, curves to hundredths.

    Each step is rounded from where the one before ended, so that errors do not add up.
    """
    if len(path[1]) > _LONG and not set("CQHV") & set(path[1]):
        place, parts = (0, 0), []
        for sign, x, y in _STEP.findall(path[1]):
            end = (round(10 * float(x)), round(10 * float(y))) if x else place
            if sign == "L" and end != place:
                dx, dy = (_tenths(new - old) for new, old in zip(end, place, strict=True))
                step = f"h{dx}" if dy == "0" else f"v{dy}" if dx == "0" else f"l{dx} {dy}"
                parts.append(step.replace(" -", "-"))
            elif sign != "L":
                parts.append(f"M{end[0] / 10:g} {end[1] / 10:g}" if x else "z")
            place = end
        return f' d="{"".join(parts)}"'
    text = _DIGITS.sub(r"\1", path[1])
    return f' d="{re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(text.split()))}"'


def _tenths(number: int) -> str:
    return f"{number / 10:g}".replace("0.", ".", 1) if abs(number) < 10 else f"{number / 10:g}"  # noqa: PLR2004
