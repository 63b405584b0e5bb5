"""Hypotheses in pictures: how probable each is, and what they say of every item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesmodels.belief.reading import numbers
from bayesmodels.input.draws import read
from bayesmodels.numerics import Array
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Picture, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesmodels.report.html import Report


MOST_HYPOTHESES = 20
"""Hypotheses that are drawn: those most probable before or after the data."""
MOST_ITEMS = 200
"""Items that are drawn: those that most probably belong to the concept."""

_IN_WORDS = 12  # hypotheses or items that an alternative text goes through
_LABELS = 25  # items that have room for a label
_LINE = 0.22  # inches of a hypothesis


def plot_hypotheses(
    prior: Any, data: Any, draws: Any = None, figure: Figure | None = None
) -> list[Axes]:
    """Draw prior, likelihood and posterior of each hypothesis side by side, as bars.

    Parameters
    ----------
    prior : ConceptLearning
        Before the data.
    data : rows or statistic
        As in the model's `update`.
    draws : xarray.DataTree or mapping, optional
        Draws of ``h`` with the axes (chain, draw): dots show how often each chain visited each.
    figure : matplotlib Figure, optional
        An empty one to draw on; a new one by default.

    Returns
    -------
    list of matplotlib Axes
        Three. Likelihoods are relative to the largest.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, figures 3.2 and 3.3.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> axes = bm.plots.plot_hypotheses(bm.ConceptLearning.number_game(), [16])
    >>> [one.get_title() for one in axes]
    ['prior', 'likelihood', 'posterior']
    """
    table = _hypotheses_table(prior, data, draws)
    figure = _figure(figure, (canvas.WIDE + 1, 0.9 + _LINE * len(table)))
    bars = {"prior": canvas.SKY, "likelihood": "#999999", "posterior": canvas.BLUE}
    chains = [name for name in table if name not in bars]
    panels = list(figure.subplots(1, 3, sharey=True))
    for axes, (title, colour) in zip(panels, bars.items(), strict=True):
        dots = chains if title == "posterior" else []
        canvas.intervals(axes, table[[title, *dots]], bars=title, fill=colour)
        axes.set_title(title, fontsize="medium")
        axes.set_xlim(0, 1.05 * max(table[title].max(), 1e-300))
        axes.locator_params(axis="x", nbins=4)
    return panels


def _hypotheses_table(prior: Any, data: Any, draws: Any = None) -> pd.DataFrame:
    """Return prior, likelihood, posterior and each chain's visits of hypotheses to be drawn."""
    after = prior.update(data)
    logs = prior.statistic(data).log_likelihood
    visits = _visits(after, draws) if draws is not None else np.zeros((0, len(logs)))
    columns = {
        "prior": prior.mean()["h"],
        "likelihood": np.exp(logs - logs.max()),
        "posterior": after.mean()["h"],
    } | {f"chain {k}": chain for k, chain in enumerate(visits)}
    labels = pd.Index(list(map(str, prior.hypotheses)), name="hypothesis")
    return pd.DataFrame(columns, labels).iloc[_hypotheses(prior, after)]


def plot_membership(belief: Any, figure: Figure | None = None) -> list[Axes]:
    """Draw how probably each item belongs to the concept, and which hypotheses hold it.

    Parameters
    ----------
    belief : ConceptLearning
        Before or after data.
    figure : matplotlib Figure, optional
        An empty one to draw on; a new one by default.

    Returns
    -------
    list of matplotlib Axes
        Above, bars: the probability, averaged over the hypotheses; a line: as if the most probable
        one were true, if there is a single one. Below: the items of each hypothesis, the darker the
        more probable it is.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, figures 3.4 and 3.5.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> above, below = bm.plots.plot_membership(bm.ConceptLearning.number_game().update([16]))
    >>> len(above.patches)
    100
    """
    items, mass = _items(belief)
    shown = _hypotheses(belief, belief)
    figure = _figure(figure, (canvas.WIDE + 1.6, 2.6 + _LINE * len(shown)))
    above, below = figure.subplots(
        2, 1, sharex=True, gridspec_kw={"height_ratios": [1.6, 0.5 + _LINE * len(shown)]}
    )
    place = np.arange(len(items))
    above.bar(place, mass[items], width=0.8, color=canvas.BLUE)
    best = _best(belief)
    if best is not None:
        plug_in = belief.membership(parameters={"h": best})[items]
        above.step(place, plug_in, where="mid", color=canvas.ORANGE, lw=1)
    above.set_ylim(0, 1.05)
    above.set_ylabel("p(in the concept)")
    probability = belief.mean()["h"]
    darkness = 0.12 + 0.88 * probability / probability.max()
    for row, k in enumerate(shown):
        held = np.flatnonzero(belief.membership(parameters={"h": k})[items])
        below.plot(held, np.full(len(held), row), "s", color=canvas.INK, ms=3, alpha=darkness[k])
    names = [f"{printable((str(belief.hypotheses[k]),))}  {probability[k]:.2g}" for k in shown]
    below.set_yticks(np.arange(len(shown)), names, parse_math=False)
    below.set_ylim(len(shown) - 0.5, -0.5)
    below.tick_params(axis="y", length=0)
    step = max(1, len(items) // _LABELS)
    labels = [printable((str(belief.items[k]),), 12) for k in items[::step]]
    below.set_xticks(place[::step], labels, parse_math=False, rotation=90, fontsize="small")
    below.set_xlim(-1, len(items))
    return [above, below]


@canvas.style()
def hypotheses(report: Report) -> list[Picture]:
    """Draw what a belief about finitely many hypotheses says, and how often PyMC visited each.

    Hypotheses and, if something is impossible under some of them, membership.
    """
    after: Any = report.posterior
    result = [_hypotheses_picture(report, after)]
    if np.isneginf(after.log_table).any():  # otherwise everything may belong to anything
        result.append(_membership_picture(after))
    return result


def _hypotheses_picture(report: Report, after: Any) -> Picture:
    shown, seen = _hypotheses(report.prior, after), _visits(after, report.sampled).mean(0)
    before, now = report.prior.mean()["h"], after.mean()["h"]
    axes = plot_hypotheses(report.prior, report.data, report.sampled, canvas.blank())
    words = shown[np.argsort(-now[shown], kind="stable")][:_IN_WORDS]
    each = "; ".join(
        f"{after.hypotheses[k]}: {before[k]:.4f} before, {now[k]:.4f} after, {seen[k]:.4f} visited"
        for k in words
    )
    left = len(now) - len(shown)
    more = f" {left:,} less probable hypotheses are not shown." if left else ""
    return canvas.picture(
        "hypotheses",
        "Hypotheses",
        axes[0],
        _hypotheses_table(report.prior, report.data, report.sampled),
        "Bars: prior probability, likelihood relative to the largest, and exact posterior "
        "probability. Dots: how often each of PyMC's chains visited each hypothesis; they should "
        f"lie about the end of its bar.{more}",
        f"Probabilities of hypotheses. {each}.",
    )


def _membership_picture(belief: Any) -> Picture:
    items, mass = _items(belief)
    axes = plot_membership(belief, canvas.blank())
    labels = pd.Index([str(belief.items[k]) for k in items], name="item")
    shown = _hypotheses(belief, belief)
    held = [belief.membership(parameters={"h": k})[items] for k in shown]
    heads = ["probability", *(str(belief.hypotheses[k]) for k in shown)]
    table = pd.DataFrame(np.column_stack([mass[items], *held]), labels, heads)
    top = items[np.argsort(-mass[items], kind="stable")][:_IN_WORDS]
    each = ", ".join(f"{belief.items[k]} {mass[k]:.3f}" for k in top)
    best = _best(belief)
    line = (
        " There is no line for the most probable hypothesis, since several are."
        if best is None
        else f" Line: as if the most probable hypothesis ({belief.hypotheses[best]}) were true."
    )
    left = len(mass) - len(items)
    more = f" {left:,} items that less probably belong are not shown." if left else ""
    return canvas.picture(
        "membership",
        "What belongs to the concept",
        axes[0],
        table,
        "Bars: probability that an item belongs to the concept, averaged over the posterior."
        f"{line} Below: the items of each hypothesis, the darker the more probable it is.{more}",
        f"Most probably in the concept: {each}.",
    )


def _hypotheses(before: Any, after: Any) -> NDArray[np.intp]:
    """Return the numbers of those to be drawn, in the model's order."""
    size = np.maximum(before.mean()["h"], after.mean()["h"])
    return np.sort(np.argsort(-size, kind="stable")[:MOST_HYPOTHESES])


def _items(belief: Any) -> tuple[NDArray[np.intp], Array]:
    """Return the numbers of the items to be drawn, and the probabilities of all."""
    mass = belief.membership()
    return np.sort(np.argsort(-mass, kind="stable")[:MOST_ITEMS]), mass


def _best(belief: Any) -> int | None:
    """Return the most probable hypothesis; None if there are several."""
    largest = np.flatnonzero(np.isclose(belief.mean()["h"], belief.mean()["h"].max(), rtol=1e-9))
    return int(largest[0]) if len(largest) == 1 else None


def _visits(law: Any, draws: Any) -> Array:
    """Return how often each chain visited each hypothesis, as a fraction; (chain, hypothesis)."""
    return numbers(law, read(draws, law.dims, law.coords))["h"].mean(1)


def _figure(figure: Figure | None, size: tuple[float, float]) -> Figure:
    if figure is None:
        return canvas.shown(size)
    figure.set_size_inches(*size)
    return figure
