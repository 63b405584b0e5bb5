"""What a classifier has learnt, in pictures: features in each class, the boundary, the ranking."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots.plot_collection import PlotCollection
from numpy.typing import NDArray

from bayesmodels.belief.intervals import renamed
from bayesmodels.belief.protocol import Classifier, Statistic
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, proportion, randomness
from bayesmodels.numerics import Array
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel, Picture, printable
from bayesmodels.report.features import Feature, Rows, chosen, features_of, rows_with
from bayesmodels.report.rounding import decimals_of, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesmodels.report.html import Report


MOST_LEVELS = 12
"""Outcomes of a feature that are drawn: those that tell classes apart most."""
MOST_PANELS = 8
"""Features that are drawn in a report."""

_POINTS, _GRID, _DRAWS = 300, 50, 200
_TAIL = 0.005  # probability left out at each end of a class's axis
_BINS = 25
_FEW = 20  # rows, which a histogram would not show well
_ROOM = 10  # characters an inch
_AT_ONCE = 20  # draws
_BAR = 0.8  # of the room between two levels
_IN_WORDS = 6  # classes that an alternative text goes through
_SIZE = (3.6, 2.9)  # inches, with the names of the classes


# --- densities ------------------------------------------------------------------------------------


def plot_class_densities(
    belief: Any,
    data: Any = None,
    features: Sequence[Hashable] | None = None,
    *,
    columns: int = 3,
) -> PlotCollection:
    """Draw what is predicted of features in each class.

    Parameters
    ----------
    belief : NaiveBayes or GaussianDiscriminant
        After data.
    data : Design, pair (X, y), or either of them Weighted, optional
        Rows to compare with: histograms behind densities, dots on bars.
    features : sequence of labels, optional
        Which; by default all. A table of counts is one feature, by the name of its block.
    columns : int, default 3
        Number of panels side by side.

    Returns
    -------
    arviz_plots.PlotCollection
        A panel a feature: densities of numbers, with all parameters integrated out, and bars of
        probabilities for bits and categories (of many categories, those that differ most).

    Raises
    ------
    DataError
        If the belief has met no data, or there is no such feature.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 1))
    >>> posterior = prior.update(([[0.1], [0.3], [2.2], [1.9]], [0, 0, 1, 1]))
    >>> drawn = bm.plots.plot_class_densities(posterior)
    >>> list(drawn.data)
    ['0']
    """
    shown = chosen(features_of(belief), features)
    rows = None if data is None else Rows(belief, data)
    tables = [curve(f, belief) for f in shown]
    values = xr.Dataset(
        {
            _variable(f.label): ((f"point_{i}", "class"), table.to_numpy())
            for i, (f, table) in enumerate(zip(shown, tables, strict=True))
        }
    )
    size = (3.6 * min(columns, len(shown)), 2.7 * -(-len(shown) // columns))
    drawn = PlotCollection.wrap(
        values,
        cols=["__variable__"],
        col_wrap=columns,
        aes={"color": ["class"]},
        color=canvas.colours(len(belief.classes.coords["category"])),
        backend="matplotlib",
        figure_kwargs={"figsize": size, "layout": "constrained"},
    )
    for f, table in zip(shown, tables, strict=True):
        axes = drawn.get_target(_variable(f.label), {})
        draw_feature(axes, f, table, rows)
        axes.set_title(printable((f.label,), 40), fontsize="medium", parse_math=False)
    name_classes(drawn.get_viz("figure"), belief, loc="outside upper center")
    return drawn


def curve(feature: Feature, belief: Any) -> pd.DataFrame:
    """Return a feature's density, or the probabilities of its levels, in each class: a column."""
    if feature.law is not None:
        index = pd.Index(np.linspace(*_span(feature), _POINTS), name="value")
        values = np.exp(feature.law.logpdf(index.to_numpy()[:, None]))
    else:
        shown = levels_shown(feature)
        index = pd.Index([feature.levels[k] for k in shown], name="level")
        values = np.asarray(feature.mass).T[shown]
    return pd.DataFrame(values, index, list(map(str, belief.classes.coords["category"])))


def levels_shown(feature: Feature) -> NDArray[np.intp]:
    """Return which levels of a feature are drawn: all, or those that differ most."""
    mass = np.asarray(feature.mass)
    widest = np.sort(np.argsort(-np.ptp(mass, axis=0), kind="stable")[:MOST_LEVELS])
    return np.asarray(widest)


def draw_feature(
    axes: Axes, feature: Feature, table: pd.DataFrame, rows: Rows | None = None
) -> None:
    """Draw the `curve` of a feature: lines for densities, bars for probabilities.

    Rows to compare with stand behind densities and, as dots, on bars.
    """
    colours = canvas.colours(table.shape[1])
    if feature.law is not None:
        for c, colour in enumerate(colours if rows else ()):
            _draw_rows(axes, feature, cast("Rows", rows), c, colour)
        canvas.curves(axes, table, {k: {"color": c} for k, c in zip(table, colours, strict=True)})
        axes.set_xlabel("")
        axes.set_yticks([])
        axes.margins(x=0)
        axes.set_ylim(bottom=0)
        return
    place, classes = np.arange(len(table)), len(colours)
    for c, colour in enumerate(colours):
        x = place + _BAR * ((c + 0.5) / classes - 0.5)
        axes.bar(x, table.iloc[:, c], _BAR / classes, color=colour)
        if rows:
            share = rows.shares(feature, c)[levels_shown(feature)]
            axes.plot(x, share, "o", ms=4, mfc="white", mec="black")
    names = [printable((level,), 12) for level in table.index]
    turned: dict[str, Any] = {"rotation": 40, "ha": "right"} if sum(map(len, names)) > 30 else {}  # noqa: PLR2004
    axes.set_xticks(place, names, parse_math=False, **turned)
    axes.set_ylabel("probability")


def _draw_rows(axes: Axes, feature: Feature, rows: Rows, c: int, colour: Any) -> None:
    """Draw the rows of a class: as a histogram, or as single ticks where they are few."""
    bins = np.linspace(*_span(feature), _BINS + 1)
    x, weights = rows.of_class(feature, c)
    if ((x >= bins[0]) & (x <= bins[-1])).sum() < _FEW:
        low = np.full(len(x), 0.02 + 0.06 * c / len(rows.classes))
        across = axes.get_xaxis_transform()
        axes.plot(x, low, "|", color=colour, ms=9, mew=1.2, transform=across)
    else:
        share = weights / (weights.sum() * (bins[1] - bins[0]))
        axes.hist(x, bins.tolist(), weights=share, color=colour, alpha=0.3)


def _span(feature: Feature) -> tuple[float, float]:
    """Return the ends of a number's axis, which all classes share."""
    return float(np.min(feature.law.ppf(_TAIL))), float(np.max(feature.law.isf(_TAIL)))


def _variable(label: str) -> str:
    return label.replace("/", "\N{DIVISION SLASH}")  # a slash would be a path in a DataTree


# --- boundary -------------------------------------------------------------------------------------


def regions(
    belief: Any,
    pair: Sequence[Feature],
    points: int,
    draws: int,
    rng: np.random.Generator | int | None,
) -> tuple[list[Array], Array, Array]:
    """Return two axes of numbers, class probabilities over them, and how certain the best class is.

    Rows of the probabilities, with parameters integrated out, are values of the second axis; how
    certain it is, is the share of posterior draws whose most probable class is the same.
    """
    sides = [np.linspace(*_span(f), points) for f in pair]
    grids = zip(pair, np.meshgrid(*sides), strict=True)
    rows = rows_with(belief, {feature.label: grid.ravel() for feature, grid in grids})
    probability = np.asarray(belief.class_probabilities(rows))
    best, agreed, rng = probability.argmax(-1), np.zeros(len(probability)), randomness(rng)
    for start in range(0, draws, _AT_ONCE):
        sample = belief.sample(min(_AT_ONCE, draws - start), rng)
        agreed += (belief.log_joint(rows, sample).argmax(-1) == best).sum(0)
    shape = (points, points)
    return sides, probability.reshape(*shape, -1), agreed.reshape(shape) / draws


@renamed
def plot_boundary(
    belief: Any,
    features: Sequence[Hashable],
    data: Any = None,
    *,
    ci_prob: float = 0.89,
    points: int = 80,
    draws: int = 200,
    rng: np.random.Generator | int | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the regions of the classes over two features, and how sure their boundary is.

    Parameters
    ----------
    belief : NaiveBayes or GaussianDiscriminant
        After data. Other features count as missing: they are integrated out.
    features : pair of labels
        Two features that are numbers; the first is drawn across.
    data : Design, pair (X, y), or either of them Weighted, optional
        Rows to draw as points.
    ci_prob : float, default 0.89
        Probability of the band.
    points : int, default 80
        Number of points of the grid along each axis.
    draws : int, default 200
        Number of posterior draws, each of which has a boundary of its own.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.
    axes : matplotlib Axes, optional
        Where to draw; on a new figure by default.

    Returns
    -------
    matplotlib Axes
        Colours mix the classes by their probabilities. Black: where two classes are most probable,
        and equally so (for two classes, where both have probability one half). Dashed: the band in
        which, given the uncertainty of parameters, another class may be the most probable one (for
        two classes, where the interval of the class probability contains one half).

    Raises
    ------
    DataError
        If the belief has met no data, or these are not two of its numbers.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 1))
    >>> X = [[0.1, 0.4], [0.3, 0.2], [2.2, 1.8], [1.9, 2.5]]
    >>> axes = bm.plots.plot_boundary(prior.update((X, [0, 0, 1, 1])), [0, 1], points=20, draws=10)
    >>> axes.get_xlabel()
    '0'
    """
    ci_prob = proportion(ci_prob, "ci_prob")
    pair = chosen(features_of(belief), features)
    if len(pair) != 2 or pair[0] is pair[1] or any(f.law is None for f in pair):  # noqa: PLR2004
        raise DataError(
            f"features: must be two different features that are numbers; got {list(features)}."
        )
    points, draws = count(points, "points", 2), count(draws, "draws", 1)
    result = regions(belief, pair, points, draws, rng)
    axes = axes or canvas.shown().add_subplot()
    _draw_boundary(axes, belief, pair, result, data, ci_prob)
    return axes


def _draw_boundary(
    axes: Axes,
    belief: Any,
    pair: Sequence[Feature],
    result: tuple[list[Array], Array, Array],
    data: Any,
    prob: float = 0.89,
) -> None:
    """Draw the regions of classes, and rows, if any, as points."""
    from matplotlib.colors import to_rgb

    (across, up), probability, certain = result
    number = probability.shape[-1]
    colours = canvas.colours(number)
    image = 1 - 0.45 * (1 - probability @ np.array([to_rgb(colour) for colour in colours]))
    ends = (across[0], across[-1], up[0], up[-1])
    axes.imshow(
        image.clip(0, 1), origin="lower", extent=ends, aspect="auto", interpolation="bilinear"
    )
    lines: list[Any] = [(certain, (1 + prob) / 2, 1.0, "dashed")]
    for c in range(number if number > 2 else 1):  # noqa: PLR2004 - two classes have one line
        others = np.delete(probability, c, axis=-1).max(-1)
        lines.insert(c, (probability[..., c] - others, 0.0, 1.6, "solid"))
    for z, level, wide, dashed in lines:
        if z.min() < level < z.max():  # else there is no line, of which matplotlib would warn
            how = {"linewidths": wide, "linestyles": dashed}
            axes.contour(across, up, z, levels=[level], colors="black", **how)
    if data is not None:
        rows = Rows(belief, data)
        for c, colour in enumerate(colours):
            members = {f.label: rows.values(f)[rows.codes == c] for f in pair}
            canvas.points(axes, pd.DataFrame(members), colour)
    axes.set(xlim=ends[:2], ylim=ends[2:])
    axes.set_xlabel(printable((pair[0].label,), 40), parse_math=False)
    axes.set_ylabel(printable((pair[1].label,), 40), parse_math=False)
    name_classes(axes, belief, loc="lower center", bbox_to_anchor=(0.5, 1.0))


# --- ranking --------------------------------------------------------------------------------------


def plot_feature_ranking(table: pd.DataFrame, *, most: int = 20, axes: Axes | None = None) -> Axes:
    """Draw how much each feature tells of the class, the most telling ones on top.

    Parameters
    ----------
    table : pandas.DataFrame
        What `rank_features` returns.
    most : int, default 20
        How many features are drawn.
    axes : matplotlib Axes, optional
        Where to draw; on a new figure by default.

    Returns
    -------
    matplotlib Axes
        Dots: information at the mean of the parameters, by which features are ordered. Lines: its
        posterior interval, which may lie above the dot where rows are few.

    Raises
    ------
    DataError
        If the table lacks a column or has no rows.

    See Also
    --------
    bayesmodels.rank_features : the table.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> posterior = prior.update(([[0, 1], [0, 0], [1, 1], [1, 0]], [0, 0, 1, 1]))
    >>> axes = bm.plots.plot_feature_ranking(bm.rank_features(posterior))
    >>> [tick.get_text() for tick in axes.get_yticklabels()]
    ['0', '1']
    """
    lacking = {"mutual_information", "lower", "upper"} - set(getattr(table, "columns", ()))
    if lacking or not len(table):
        what = f"; lacks {sorted(lacking)}" if lacking else ""
        raise DataError(f"table: must be what rank_features returns, with at least one row{what}.")
    shown = table.head(count(most, "most", 1))
    axes = axes or canvas.shown((5.4, 0.8 + 0.3 * len(shown))).add_subplot()
    blocks = shown["block"] if "block" in shown else [""] * len(shown)
    pairs = zip(shown.index, blocks, strict=True)
    names = [
        printable((str(label),) if str(block) in ("", str(label)) else (str(block), str(label)))
        for label, block in pairs
    ]
    ends = {"lower": "low", "upper": "high"}
    canvas.intervals(axes, shown[["mutual_information", *ends]].rename(columns=ends), names)
    axes.set_xlim(left=0)
    axes.set_xlabel("mutual information with the class (nats)")
    return axes


# --- classes --------------------------------------------------------------------------------------


def name_classes(target: Any, belief: Any, **place: Any) -> None:
    """Name the classes by their colours, above an image."""
    from matplotlib.patches import Patch

    names = [printable((str(label),), 16) for label in belief.classes.coords["category"]]
    room = _ROOM * target.figure.get_figwidth()
    side_by_side = int(room // (max(map(len, names)) + 6))
    colours = canvas.colours(len(names))
    # A label that begins with an underscore would be left out.
    labels = [f" {name}" if name.startswith("_") else name for name in names]
    handles = [Patch(color=colour) for colour in colours]
    place = {"fontsize": "small", "handlelength": 1.2} | place
    legend = target.legend(
        handles, labels, ncols=max(1, min(side_by_side, len(names))), frameon=False, **place
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


# --- in a report ----------------------------------------------------------------------------------


def learnt(report: Report) -> list[Picture]:
    """Draw what a classifier has learnt: features by class and, of two numbers, the boundary."""
    belief = report.posterior
    if not isinstance(belief, Classifier):
        return []
    rows = None if isinstance(report.data, Statistic) else Rows(belief, report.data)
    every = features_of(belief)
    result = [_features(belief, every, rows)]
    if len(every) == 2 and all(f.law is not None for f in every):  # noqa: PLR2004 - a plane
        result.append(_boundary(belief, every, None if rows is None else report.data))
    return result


@canvas.style()
def _features(belief: Any, every: list[Feature], rows: Rows | None) -> Picture:
    shown = every[:MOST_PANELS]
    about = (
        "What is predicted of a new row of each class, with all parameters integrated out: "
        "densities of numbers, probabilities of all else."
    )
    caption = [about]
    if rows is not None:
        caption.append("Behind densities (as ticks, if few) and as dots on bars: the rows.")
    if any(len(f.levels) > len(levels_shown(f)) for f in shown if f.law is None):
        caption.append("Of many categories, those are shown that differ most between classes.")
    if len(every) > len(shown):
        caption.append(f"{len(every) - len(shown):,} more features are not shown.")
    panels = tuple(_feature(belief, feature, rows) for feature in shown)
    return Picture("features", "Features by class", panels, " ".join(caption))


def _feature(belief: Any, feature: Feature, rows: Rows | None) -> Panel:
    axes = canvas.axes_of(_SIZE)
    table = curve(feature, belief)
    draw_feature(axes, feature, table, rows)
    name_classes(axes, belief, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    labels = [str(label) for label in belief.classes.coords["category"]]
    each = "; ".join(
        f"{label}: {_in_words(feature, c)}" for c, label in enumerate(labels[:_IN_WORDS])
    )
    more = f"; and {len(labels) - _IN_WORDS} more classes" if len(labels) > _IN_WORDS else ""
    return canvas.panel(
        feature.label, axes, table, f"Predicted {feature.label} in each class. {each}{more}."
    )


def _in_words(feature: Feature, c: int) -> str:
    if feature.law is None:
        mass = np.asarray(feature.mass)[c]
        return ", ".join(f"{feature.levels[k]} {mass[k]:.3f}" for k in levels_shown(feature))
    ends = [np.atleast_1d(feature.law.ppf(q))[c] for q in (0.055, 0.5, 0.945)]
    places = decimals_of(float(ends[2] - ends[0]), 3)
    low, middle, high = (rounded(float(x), places) for x in ends)
    return f"median {middle}, 89 % between {low} and {high}"


@canvas.style()
def _boundary(belief: Any, pair: list[Feature], data: Any) -> Picture:
    axes = canvas.axes_of((canvas.WIDE, 4.2))
    labels = [feature.label for feature in pair]
    # A seed of its own: the same report has the same pictures.
    result = regions(belief, pair, _GRID, _DRAWS, np.random.default_rng(1))
    _draw_boundary(axes, belief, pair, result, data)
    grids = zip(labels, map(np.ravel, np.meshgrid(*result[0])), strict=True)
    classes = map(str, belief.classes.coords["category"])
    probability = result[1].reshape(_GRID**2, -1)
    each = pd.DataFrame(dict(grids)), pd.DataFrame(probability, columns=list(classes))
    table = pd.concat(each, axis=1).rename_axis("point")  # a feature and a class may have one name
    table["certain"] = result[2].ravel()
    axes.set_xlabel("first feature")
    axes.set_ylabel("second feature")
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    sides = [
        f"{label} from {rounded(a, decimals_of(b - a, 3))} to {rounded(b, decimals_of(b - a, 3))}"
        for label, a, b in zip(labels, (low, bottom), (high, top), strict=True)
    ]
    alt = f"Regions of the classes: across, {sides[0]}; upwards, {sides[1]}."
    panel = canvas.panel(" × ".join(labels), axes, table, alt)
    return Picture(
        "boundary",
        "Regions of the classes",
        (panel,),
        "Colours mix the classes by their probabilities. Black: where two classes are equally, and "
        "most, probable. Dashed: the band in which another class may be the most probable one, "
        "since parameters are uncertain (for two classes: where the 89 % interval of the class "
        "probability contains one half).",
        wide=True,
    )
