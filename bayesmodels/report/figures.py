"""Pictures of draws: exact law against draws, one set against another, chains against each other.

Names that came with the data stand in the page around a picture rather than in it, where the
browser sets any script and nothing is taken for markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from arviz_base import dict_to_dataset
from arviz_stats.manipulation import thin
from scipy import stats

from bayesmodels.belief.reading import levels
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element
from bayesmodels.referee.one_sample import uniform
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.verdict import Verdict
from bayesmodels.report import canvas
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.rounding import decimals_of, rounded
from bayesmodels.report.tables import diverging

MOST_SCALARS = 8
EDGE = 0.001
"""Probability left out at each end of a density's axis."""

_MOST = 1500  # draws that a line goes through
_TRACE = 800  # draws of a trace, over all chains
_BINS, _WITHIN = 40, 5  # of a histogram, and points of a curve in each
_GRID = 101  # points of a difference of distribution functions
LINES: canvas.Styles = {
    "exact": {"color": canvas.ORANGE, "lw": 1.8},
    "integrated": {"color": canvas.ORANGE, "lw": 1.8},
    "approximate": {"color": canvas.ORANGE, "lw": 1.8, "ls": "--"},
    "prior": {"color": canvas.INK, "lw": 1, "ls": "--"},
    "second": {"color": canvas.ORANGE, "lw": 1.4, "drawstyle": "steps-mid"},
}


class Scalar(NamedTuple):
    """A number that was sampled: label, draws of shape (chain, draw), its law and prior law."""

    label: str
    draws: Array
    law: Any = None
    prior: Any = None


def scalars(verdict: Verdict, priors: Mapping[str, Any] | None = None) -> list[Scalar]:
    """Return the scalars to be drawn, none of a finite variable.

    At most `MOST_SCALARS`; of more, those with the largest discrepancies first.
    """
    return of_law(verdict.law, verdict.draws, verdict.table["z"].abs(), priors)


def of_law(
    law: Any, draws: Any, size: pd.Series[float], priors: Mapping[str, Any] | None = None
) -> list[Scalar]:
    """Return scalars with their laws; of many those with the largest `size`."""
    laws, finite, before = law.marginals(), levels(law), priors or {}
    every = [s for s in scalar_draws(law, draws) if s[1] not in finite]
    if len(every) > MOST_SCALARS:
        every = sorted(every, key=lambda scalar: -size[scalar[0]])
    return [
        Scalar(
            label,
            np.asarray(x, dtype=float),
            element(laws[name], at),
            element(before[name], at) if name in before else None,
        )
        for label, name, at, x in every[:MOST_SCALARS]
    ]


def of_draws(
    shown: list[Scalar], level: float, sampled: xr.DataTree, kind: str = "exact"
) -> list[Picture]:
    """Draw densities, distribution functions, ranks and traces of draws whose law is known.

    The level is the probability that some line of right draws leaves its band; the sampler's draws
    may tell of divergences.
    """
    before = " Dashed: the prior density." if any(s.prior is not None for s in shown) else ""
    return [
        Picture(
            "density",
            f"{kind.capitalize()} density over the draws",
            tuple(density(scalar, kind=kind) for scalar in shown),
            f"Filled: histogram of PyMC's draws. Line: the {kind} posterior density, which the "
            f"histogram should follow.{before}",
        ),
        Picture(
            "ecdf",
            "Difference of distribution functions",
            tuple(_distribution_function(scalar, level / len(shown), kind) for scalar in shown),
            f"Empirical minus {kind} distribution function of the draws, thinned until they are "
            "nearly independent. If the draws are right, all lines stay within the shaded bands "
            f"with a probability of about {100 * (1 - level):g} %.",
            folded=True,
        ),
        ranks(shown, level),
        traces(shown, sampled),
    ]


def simultaneous_bound(size: int, probability: float, other: int | None = None) -> float:
    r"""Return how far an empirical distribution function may be from the true one, anywhere.

    .. math:: P(\sup_x |F_n(x) - F(x)| > \epsilon) \le 2 e^{-2 n \epsilon^2}

    Beside m other draws of the same law, how far it may be from that of both together: with
    :math:`H = (n F_n + m G_m) / (n + m)`, :math:`F_n - H = (F_n - G_m) \, m / (n + m)`, and

    .. math:: P\left(\sup_x |F_n(x) - G_m(x)| > \epsilon\right)
        \le e \cdot e^{-2 \epsilon^2 m n / (m + n)} .

    References
    ----------
    Massart (1990), *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality*. Wei and
    Dudley (2012), *Two-sample Dvoretzky-Kiefer-Wolfowitz inequalities*; proven for equal numbers,
    where the factor can be 2 from 458 draws on.

    Examples
    --------
    >>> round(simultaneous_bound(1000, 0.01), 4), round(simultaneous_bound(1000, 0.01, 1000), 4)
    (0.0515, 0.0374)
    """
    if other is None:
        return float(np.sqrt(np.log(2 / probability) / (2 * size)))
    bound = np.sqrt((1 - np.log(probability)) * (size + other) / (2 * size * other))
    return float(bound * other / (size + other))


def density(scalar: Scalar, *, kind: str = "exact") -> Panel:
    """Draw a density over a histogram of the draws: exact, with the prior's, or approximate."""
    label, x, law, prior = scalar
    low, high = np.quantile(x, [EDGE, 1 - EDGE])
    table = heights(min(low, float(law.ppf(EDGE))), max(high, float(law.isf(EDGE))), draws=x)
    highest, at = table["draws"].max(), table.index.to_numpy()
    for name, each in ((kind, law), *([] if prior is None else [("prior", prior)])):
        with np.errstate(all="ignore"):  # outside of a support
            table[name] = np.exp(each.logpdf(at))
    axes = canvas.axes_of()
    canvas.histogram(axes, table, LINES)
    # A density may grow without bound at an end; the histogram then sets the scale.
    axes.set_ylim(0, 1.08 * max(highest, min(table[kind].max(), 2 * highest)))
    what, name = (
        (f"{kind} density as a line over it", kind.capitalize())
        if kind != "approximate"
        else ("density of Laplace’s approximation as a dashed line", "Approximation")
    )
    said = moments(x.std(), **{name: law, "Draws": x})
    return canvas.panel(
        label, axes, table, f"Histogram of {x.size:,} draws of {label}, with the {what}. {said}."
    )


def heights(low: float, high: float, **each: Array) -> pd.DataFrame:
    """Return histograms of draws, one a column, over a grid of a few points in each bin."""
    points, bins = _BINS * _WITHIN, np.linspace(low, high, _BINS + 1)
    grid = low + (np.arange(points) + 0.5) * (high - low) / points
    columns = {
        name: np.repeat(np.histogram(x, bins, density=True)[0], _WITHIN) for name, x in each.items()
    }
    return pd.DataFrame(columns, index=pd.Index(grid, name="value"))


def moments(spread: float, **each: Any) -> str:
    """Say means and standard deviations, of laws or of draws, to three digits of a spread."""
    digits = decimals_of(spread, 3)
    said = [
        f"{name}: mean {rounded(float(x.mean()), digits)}, standard deviation "
        f"{rounded(float(x.std()), digits)}"
        for name, x in each.items()
    ]
    return ". ".join(said)


def _distribution_function(scalar: Scalar, level: float, kind: str) -> Panel:
    pit = thinned(uniform(scalar.law, scalar.draws, np.random.default_rng(0))).ravel()
    said = (
        f"Empirical minus {kind} distribution function of {scalar.label}, over {pit.size:,} "
        "thinned draws"
    )
    bound = simultaneous_bound(pit.size, level)
    return difference(
        scalar.label, {"difference": pit}, bound, f"{kind} distribution function", said
    )


def difference(
    label: str, uniform: Mapping[str, Array], bound: float, against: str, said: str
) -> Panel:
    """Draw the empirical distribution functions of numbers between 0 and 1 minus the uniform one.

    The numbers are values of the distribution function that stands on the horizontal axis.
    """
    grid, worst = np.linspace(0, 1, _GRID), []
    table = pd.DataFrame(index=pd.Index(grid, name=against))
    for name, x in uniform.items():
        pit, steps = np.sort(x), np.arange(x.size + 1) / x.size
        table[name] = np.searchsorted(pit, grid, side="right") / x.size - grid
        worst.append(float(np.abs([steps[1:] - pit, steps[:-1] - pit]).max()))
    axes = canvas.axes_of()
    axes.axhspan(-bound, bound, color=canvas.SKY, alpha=0.2, lw=0)
    canvas.curves(axes, table)
    axes.set_ylabel("difference")
    alt = (
        f"{said}: at most {', '.join(f'{gap:.3f}' for gap in worst)} in size, "
        f"{'within' if max(worst) <= bound else 'beyond'} the band of ±{bound:.3f}."
    )
    return canvas.panel(label, axes, table, alt)


def ranks(shown: Sequence[Scalar], level: float) -> Picture:
    """Draw how the ranks of each chain are spread among all draws."""
    title, chains = "Ranks by chain", len(shown[0].draws)
    if chains == 1:
        return Picture("rank", title, (), "There is only one chain, and none to compare it with.")
    return Picture(
        "rank",
        title,
        tuple(_rank(scalar, level / len(shown) / chains) for scalar in shown),
        "All draws are ranked together; one line a chain shows how far its ranks are from being "
        "evenly spread. A line that leaves the shaded band belongs to a chain that differs from "
        "the others.",
        folded=True,
    )


def _rank(scalar: Scalar, level: float) -> Panel:
    draws = thinned(scalar.draws)
    chains, size = draws.shape
    relative = stats.rankdata(draws).reshape(draws.shape) / draws.size
    said = (
        f"Ranks of {chains} chains of {scalar.label}, {size:,} thinned draws each, minus even ones"
    )
    return difference(
        scalar.label,
        {f"chain {k}": ranks for k, ranks in enumerate(relative)},
        simultaneous_bound(size, level),
        "rank among all draws, as a fraction",
        said,
    )


def traces(shown: Sequence[Scalar], tree: xr.DataTree) -> Picture:
    """Draw draws in the order in which they were made, and divergences of which `tree` tells."""
    return Picture(
        "trace",
        "Traces",
        tuple(_trace(scalar, tree) for scalar in shown),
        "Draws in the order in which they were made, one colour a chain: all chains should wander "
        f"over the same range without drifting. Of more than {_TRACE:,} draws every k-th is shown, "
        "and every one that diverged.",
        folded=True,
    )


def _trace(scalar: Scalar, tree: xr.DataTree) -> Panel:
    x, axes = scalar.draws, canvas.axes_of()
    kept, diverged = np.zeros(x.shape[1], dtype=bool), diverging(tree)
    kept[:: -(-x.size // _TRACE)] = True  # of each chain; and every draw that diverged
    lines = pd.DataFrame({f"chain {k}": chain for k, chain in enumerate(x)}).rename_axis("draw")
    table = lines
    if diverged is not None and diverged.shape == x.shape:
        kept |= diverged.any(0)
        table = lines.assign(diverged=diverged.sum(0))
        ticks, across = np.flatnonzero(diverged.any(0)), axes.get_xaxis_transform()
        axes.plot(ticks, np.full(ticks.size, 0.03), "|", color=canvas.INK, transform=across)
    canvas.curves(axes, lines[kept], {key: {"lw": 0.6} for key in lines})
    axes.margins(x=0.01)
    places = decimals_of(x.std(), 3)
    alt = (
        f"Traces of {len(x)} chains of {x.shape[1]:,} draws of {scalar.label}, between "
        f"{rounded(x.min(), places)} and {rounded(x.max(), places)}; means of the chains: "
        f"{', '.join(rounded(chain.mean(), places) for chain in x)}."
    )
    return canvas.panel(scalar.label, axes, table[kept], alt)


def thinned(draws: Array) -> Array:
    """Leave out draws until those that remain are nearly independent, and few enough to draw."""
    few = thin(dict_to_dataset({"x": draws}), sample_dims=["draw"])["x"].to_numpy()
    return np.asarray(few[:, :: -(-few.size // _MOST)])
