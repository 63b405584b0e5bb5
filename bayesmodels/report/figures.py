"""Pictures of draws: exact law against draws, one set against another, chains against each other.

Names that came with the data stand in the page around a picture rather than in it, where the
browser sets any script and nothing is taken for markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import arviz_plots as azp
import numpy as np
import pandas as pd
import xarray as xr
from arviz_base import dict_to_dataset
from arviz_stats.manipulation import thin
from matplotlib.axes import Axes
from numpy.typing import NDArray

from bayesmodels.belief.reading import levels
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import element
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
_BINS = 40
_HIDDEN = ("dist", "credible_interval", "point_estimate", "point_estimate_text", "title")
_FACE_ONLY: Any = {"face": {"color": canvas.SKY, "alpha": 0.5}} | dict.fromkeys(_HIDDEN, False)
_BY_CHAIN = {"color": ["chain"], "overlay": ["chain"]}


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
    apart = np.sqrt((1 - np.log(probability)) * (size + other) / (2 * size * other))
    return float(apart * other / (size + other))


def density(scalar: Scalar, *, kind: str = "exact") -> Panel:
    """Draw a density over a histogram of the draws: exact, with the prior's, or approximate."""
    (label, x, law, prior), exact = scalar, kind != "approximate"
    ends = float(law.ppf(EDGE)), float(law.isf(EDGE))
    low, high = np.quantile(x, [EDGE, 1 - EDGE])
    low, high = min(low, ends[0]), max(high, ends[1])
    axes, highest = histogram(x, low, high)
    wide = np.linspace(low, high, 400)
    grid = np.linspace(*ends, 400) if exact else wide
    y = np.exp(law.logpdf(grid))
    axes.plot(grid, y, "-" if exact else "--", color=canvas.ORANGE, lw=1.8)
    if prior is not None:
        with np.errstate(all="ignore"):  # outside of the prior's support
            axes.plot(wide, np.exp(prior.logpdf(wide)), "--", color=canvas.INK, lw=1)
    # A density may grow without bound at an end; the histogram then sets the scale.
    axes.set_ylim(0, 1.08 * max(highest, min(y.max(), 2 * highest) if exact else y.max()))
    what, name = (
        (f"{kind} density as a line over it", kind.capitalize())
        if exact
        else ("density of Laplace’s approximation as a dashed line", "Approximation")
    )
    said = moments(x.std(), **{name: law, "Draws": x})
    return canvas.panel(
        label, axes, f"Histogram of {x.size:,} draws of {label}, with the {what}. {said}."
    )


def histogram(x: Array, low: float, high: float, *others: Array) -> tuple[Axes, float]:
    """Draw draws as a filled histogram, others as outlines; return the axes and the largest height.

    ArviZ draws it, without what else belongs to its picture of a law.
    """
    bins, data, axes = np.linspace(low, high, _BINS + 1), dataset(x), canvas.axes_of()
    azp.plot_dist(
        xr.DataTree.from_dict({"posterior": data}),
        kind="hist",
        plot_collection=canvas.collection(axes, data),
        stats={"dist": {"bins": bins}},
        visuals=_FACE_ONLY,
    )
    heights = [np.histogram(each, bins, density=True)[0] for each in (x, *others)]
    for height in heights[1:]:
        axes.stairs(height, bins, color=canvas.ORANGE, lw=1.4)
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)
    return axes, float(np.max(heights))


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
    data = thinned(scalar.law.cdf(scalar.draws))
    said = (
        f"Empirical minus {kind} distribution function of {scalar.label}, over {data['x'].size:,} "
        "thinned draws"
    )
    bound = simultaneous_bound(data["x"].size, level)
    return difference(scalar.label, data, bound, level, f"{kind} distribution function", said)


def difference(
    label: str, data: xr.Dataset, bound: float, level: float, against: str, said: str
) -> Panel:
    """Draw the empirical distribution function of numbers between 0 and 1 minus the uniform one.

    The numbers are values of the distribution function that stands on the horizontal axis.
    """
    pit = np.sort(np.ravel(data["x"]))
    axes = _band(canvas.axes_of(), data, bound, level, against)
    steps = np.arange(pit.size + 1) / pit.size
    worst = float(np.abs([steps[1:] - pit, steps[:-1] - pit]).max())
    alt = (
        f"{said}: at most {worst:.3f} in size, {'within' if worst <= bound else 'beyond'} the band "
        f"of ±{bound:.3f}."
    )
    return canvas.panel(label, axes, alt)


def _band(
    axes: Axes, data: xr.Dataset, bound: float, level: float, against: str, **by_chain: Any
) -> Axes:
    """Let ArviZ draw the difference from the uniform law, all draws together or chain by chain."""
    azp.plot_ecdf_pit(
        xr.DataTree.from_dict({"pit": data}),
        group="pit",
        sample_dims=["draw"] if by_chain else ["chain", "draw"],
        envelope_prob=1 - level,
        plot_collection=canvas.collection(axes, data, by_chain),
        aes_by_visuals={"ecdf_lines": list(by_chain)},
        visuals={
            "ecdf_lines": {} if by_chain else {"color": canvas.BLUE},
            "suspicious_points": False,
            "p_value_text": False,
            "title": False,
            "xlabel": {"text": against, "color": canvas.INK},
            "ylabel": {"text": "difference", "color": canvas.INK},
        },
    )
    axes.axhspan(-bound, bound, color=canvas.SKY, alpha=0.2, lw=0)
    return axes


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
    data = thinned(scalar.draws)
    chains, size = data["x"].shape
    bound = simultaneous_bound(size, level)
    relative = data.azstats.compute_ranks(dim=["chain", "draw"], relative=True)
    against = "rank among all draws, as a fraction"
    axes = _band(canvas.axes_of(), relative, bound, level, against, **_BY_CHAIN)
    ranks = np.argsort(np.argsort(np.ravel(data["x"]))).reshape(chains, size) / (size * chains)
    gaps = np.abs(np.sort(ranks, axis=1) - np.arange(size) / size).max(axis=1)
    alt = (
        f"Ranks of {chains} chains of {scalar.label}, {size:,} thinned draws each: distances from "
        f"evenly spread ranks of at most {', '.join(f'{gap:.3f}' for gap in gaps)}; the band is "
        f"±{bound:.3f}."
    )
    return canvas.panel(scalar.label, axes, alt)


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
    some = slice(None, None, -(-x.size // _TRACE))  # of each chain; every draw that diverged
    kept, diverged = np.zeros(x.shape[1], dtype=bool), diverging(tree)
    kept[some] = True
    if diverged is not None and diverged.shape != x.shape:
        diverged = None
    if diverged is not None:
        kept |= diverged.any(0)
    groups = {"posterior": dataset(x).isel(draw=kept)}
    if diverged is not None:
        groups["sample_stats"] = dataset(diverged).isel(draw=kept).rename(x="diverging")
    azp.plot_trace(
        xr.DataTree.from_dict(groups),
        plot_collection=canvas.collection(axes, groups["posterior"], _BY_CHAIN),
        visuals={
            "trace": {"width": 0.6, "alpha": 0.8},
            "title": False,
            "xlabel": False,
        },
    )
    axes.set_xlabel("draw")
    axes.margins(x=0.01)
    places = decimals_of(x.std(), 3)
    alt = (
        f"Traces of {len(x)} chains of {x.shape[1]:,} draws of {scalar.label}, between "
        f"{rounded(x.min(), places)} and {rounded(x.max(), places)}; means of the chains: "
        f"{', '.join(rounded(chain.mean(), places) for chain in x)}."
    )
    return canvas.panel(scalar.label, axes, alt)


def dataset(draws: NDArray[Any]) -> xr.Dataset:
    """Return draws of the shape (chain, draw) as a variable ``x``."""
    return dict_to_dataset({"x": draws})


def thinned(draws: Array) -> xr.Dataset:
    """Leave out draws until those that remain are nearly independent, and few enough to draw."""
    few: xr.Dataset = thin(dataset(draws), sample_dims=["draw"])
    return few.isel(draw=slice(None, None, -(-few.sizes["draw"] * len(draws) // _MOST)))
