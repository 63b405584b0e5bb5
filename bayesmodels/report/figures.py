"""Pictures of draws: exact law against draws, one set against another, chains against each other.

Names that came with the data stand in the page around a picture rather than in it, where the
browser sets any script and nothing is taken for markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import arviz_plots as azp
import numpy as np
import xarray as xr
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

MOST_SCALARS = 8
EDGE = 0.001
"""Probability left out at each end of a density's axis."""

_MOST = 4000  # draws that a line goes through; traces of more are stored as pixels
_BINS = 40
_HIDDEN = ("dist", "credible_interval", "point_estimate", "point_estimate_text", "title")
_FACE_ONLY: Any = {"face": {"color": canvas.SKY, "alpha": 0.5}} | dict.fromkeys(_HIDDEN, False)
_BY_CHAIN = {"color": ["chain"], "overlay": ["chain"]}


@dataclass(frozen=True)
class Scalar:
    """A number that was sampled: label, exact law, draws of shape (chain, draw), and prior law."""

    label: str
    law: Any
    draws: Array
    prior: Any = None


def scalars(verdict: Verdict, priors: Mapping[str, Any] | None = None) -> list[Scalar]:
    """Return the scalars to be drawn, none of a finite variable.

    At most `MOST_SCALARS`; of more, those with the largest discrepancies first.
    """
    law, z, before = verdict.law, np.abs(verdict.table["z"]), priors or {}
    laws, finite = law.marginals(), levels(law)
    every = [s for s in scalar_draws(law, verdict.draws) if s[1] not in finite]
    if len(every) > MOST_SCALARS:
        every = sorted(every, key=lambda scalar: -z[scalar[0]])
    return [
        Scalar(
            label,
            element(laws[name], at),
            np.asarray(draws, dtype=float),
            element(before[name], at) if name in before else None,
        )
        for label, name, at, draws in every[:MOST_SCALARS]
    ]


def of_draws(shown: list[Scalar], level: float, sampled: xr.DataTree) -> list[Picture]:
    """Draw densities, distribution functions, ranks and traces of draws that have an exact law.

    The level is the probability that some line of right draws leaves its band; the sampler's draws
    may tell of divergences.
    """
    return [
        densities(shown),
        distribution_functions(shown, level),
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

    Parameters
    ----------
    size : int
        Number n of independent draws.
    probability : float
        Of going beyond the bound somewhere.
    other : int, optional
        Number m of other draws, of a law that is not known.

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


def densities(shown: list[Scalar]) -> Picture:
    """Draw exact densities over histograms of the draws, and prior densities where there are."""
    return Picture(
        "density",
        "Exact density over the draws",
        tuple(map(_density, shown)),
        "Filled: histogram of PyMC's draws. Line: the exact posterior density, which the histogram "
        "should follow."
        + (" Dashed: the prior density." if any(s.prior is not None for s in shown) else ""),
    )


def _density(scalar: Scalar) -> Panel:
    x, law = scalar.draws, scalar.law
    (low, high), ends = reach(x, law)
    axes, highest = histogram(x, low, high)
    grid = np.linspace(*ends, 400)
    exact = np.exp(law.logpdf(grid))
    axes.plot(grid, exact, color=canvas.ORANGE, lw=1.8)
    if scalar.prior is not None:
        wide = np.linspace(low, high, 400)
        with np.errstate(all="ignore"):  # outside of the prior's support
            before = np.exp(scalar.prior.logpdf(wide))
        axes.plot(wide, before, "--", color=canvas.INK, lw=1)
    # A density may grow without bound at an end; the histogram then sets the scale.
    axes.set_ylim(0, 1.08 * max(highest, min(exact.max(), 2 * highest)))
    alt = (
        f"Histogram of {x.size:,} draws of {scalar.label}, with the exact density as a line over "
        f"it. {moments(x.std(), Exact=law, Draws=x)}."
    )
    return canvas.panel(scalar.label, axes, alt)


def reach(x: Array, law: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where the axis of draws and of their law ends, and where the law itself does."""
    ends = float(law.ppf(EDGE)), float(law.isf(EDGE))
    low, high = np.quantile(x, [EDGE, 1 - EDGE])
    return (min(low, ends[0]), max(high, ends[1])), ends


def histogram(x: Array, low: float, high: float, *others: Array) -> tuple[Axes, float]:
    """Draw draws as a filled histogram, others as outlines; return the axes and the largest height.

    ArviZ draws it, without what else belongs to its picture of a law.
    """
    bins, data, axes = np.linspace(low, high, _BINS + 1), dataset(x), canvas.axes_of()
    azp.plot_dist(
        tree_of(posterior=data),
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


def distribution_functions(shown: list[Scalar], level: float) -> Picture:
    """Draw how far the distribution of the draws is from the exact one."""
    return Picture(
        "ecdf",
        "Difference of distribution functions",
        tuple(_distribution_function(scalar, level / len(shown)) for scalar in shown),
        "Empirical minus exact distribution function of the draws, thinned until they are nearly "
        "independent. If the draws are right, all lines stay within the shaded bands with a "
        f"probability of about {100 * (1 - level):g} %.",
    )


def _distribution_function(scalar: Scalar, level: float) -> Panel:
    data = thinned(scalar.law.cdf(scalar.draws))
    return differences(
        scalar.label,
        data,
        simultaneous_bound(data["x"].size, level),
        level,
        "exact distribution function",
        f"Empirical minus exact distribution function of {scalar.label}, over {data['x'].size:,} "
        "thinned draws",
    )


def differences(
    label: str, data: xr.Dataset, bound: float, level: float, against: str, said: str
) -> Panel:
    """Draw the empirical distribution function of numbers between 0 and 1 minus the uniform one.

    Parameters
    ----------
    label : str
        What the panel is about.
    data : xarray.Dataset
        The numbers: values of the distribution function that they are compared with.
    bound : float
        Half of the width of the shaded band.
    level : float
        Probability of leaving it.
    against : str
        What the horizontal axis shows.
    said : str
        What is drawn, for the alternative text.
    """
    pit, axes = np.sort(np.ravel(data["x"])), canvas.axes_of()
    azp.plot_ecdf_pit(
        tree_of(pit=data),
        group="pit",
        envelope_prob=1 - level,
        plot_collection=canvas.collection(axes, data),
        visuals={
            "ecdf_lines": {"color": canvas.BLUE},
            "suspicious_points": False,
            "p_value_text": False,
            "title": False,
            "xlabel": {"text": against, "color": canvas.INK},
            "ylabel": {"text": "difference", "color": canvas.INK},
        },
    )
    axes.axhspan(-bound, bound, color=canvas.SKY, alpha=0.2, lw=0)
    steps = np.arange(pit.size + 1) / pit.size
    worst = float(np.abs([steps[1:] - pit, steps[:-1] - pit]).max())
    alt = (
        f"{said}: at most {worst:.3f} in size, {'within' if worst <= bound else 'beyond'} the band "
        f"of ±{bound:.3f}."
    )
    return canvas.panel(label, axes, alt)


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
    )


def _rank(scalar: Scalar, level: float) -> Panel:
    data, axes = thinned(scalar.draws), canvas.axes_of()
    chains, size = data["x"].shape
    azp.plot_rank(
        tree_of(posterior=data),
        envelope_prob=1 - level,
        plot_collection=canvas.collection(axes, data, _BY_CHAIN),
        visuals={
            "title": False,
            "xlabel": {"text": "rank among all draws, as a fraction", "color": canvas.INK},
            "remove_axis": False,
        },
    )
    for mark in (*axes.texts, *axes.collections):  # of ArviZ's own test, which has another level
        mark.remove()
    axes.set_ylabel("difference")
    bound = simultaneous_bound(size, level)
    axes.axhspan(-bound, bound, color=canvas.SKY, alpha=0.2, lw=0)
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
        "over the same range without drifting.",
    )


def _trace(scalar: Scalar, tree: xr.DataTree) -> Panel:
    x, axes = scalar.draws, canvas.axes_of()
    groups = {"posterior": dataset(x)}
    if "sample_stats" in tree.children:
        groups["sample_stats"] = tree["sample_stats"].to_dataset()
    azp.plot_trace(
        tree_of(**groups),
        plot_collection=canvas.collection(axes, groups["posterior"], _BY_CHAIN),
        visuals={
            "trace": {"width": 0.6, "alpha": 0.8, "rasterized": x.size > _MOST},
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
    chains, size = draws.shape
    return xr.Dataset(
        {"x": (("chain", "draw"), draws)},
        coords={"chain": np.arange(chains), "draw": np.arange(size)},
    )


def thinned(draws: Array) -> xr.Dataset:
    """Leave out draws until those that remain are nearly independent, and few enough to draw."""
    few: xr.Dataset = thin(dataset(draws), sample_dims=["draw"])
    return few.isel(draw=slice(None, None, -(-few.sizes["draw"] * len(draws) // _MOST)))


def tree_of(**groups: xr.Dataset) -> xr.DataTree:
    """Return groups as a tree."""
    return xr.DataTree.from_dict(groups)
