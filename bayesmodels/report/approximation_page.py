"""What the report of an approximation says in rows and columns, and its pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmodels.belief.reading import places
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.report import canvas
from bayesmodels.report.approximation import ApproximationReport
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.figures import MOST_SCALARS, Scalar, element, ranks, traces
from bayesmodels.report.rounding import decimals_of, powers, rounded, significant
from bayesmodels.report.tables import MOST_ROWS, Column, Table

_BINS = 40
_EDGE = 0.001  # probability left out at each end of a density's axis
_LEAST = 1e-12  # of a distance from the maximum, relative to the way: below it is rounding


def parameters(report: ApproximationReport) -> Table:
    """Return mean and standard deviation of the prior, and those of the approximation."""
    prior, near = report.prior.marginals()["w"], report.approximation.marginals()["w"]
    labels = [text for text, _ in places(report.approximation, "w", np.shape(near.mean()))]
    cells = {
        ("prior", "Mean"): prior.mean(),
        ("mode", "Mean"): near.mean(),
        ("prior", "Standard deviation"): prior.std(),
        ("approximate", "Standard deviation"): near.std(),
    }
    columns = [Column("", tuple(labels[:MOST_ROWS]), numeric=False)]
    for (head, group), values in cells.items():
        shown = np.ravel(values)[:MOST_ROWS]
        columns.append(Column(head, tuple(significant(float(x)) for x in shown), group))
    return Table("Weights", tuple(columns), _left_out(len(labels), "the first ones"))


def comparison(report: ApproximationReport) -> Table:
    """Return approximate beside sampled values, one row a weight."""
    every = len(report.errors)
    order = np.argsort(-report.errors["error"].abs().to_numpy(), kind="stable")
    values = report.errors if every <= MOST_ROWS else report.errors.iloc[order[:MOST_ROWS]]
    digits = [decimals_of(float(sd), 3) for sd in values["sampled_sd"]]
    fine = [decimals_of(float(error), 2) for error in values["mcse"]]

    def column(head: str, name: str, group: str, decimals: Any) -> Column:
        each = [decimals] * len(values) if isinstance(decimals, int) else decimals
        numbers = values[name].to_numpy(dtype=float)
        return Column(head, tuple(rounded(x, n) for x, n in zip(numbers, each, strict=True)), group)

    columns = (
        Column("", tuple(map(str, values.index)), numeric=False),
        column("Laplace", "approximate_mean", "Mean", digits),
        column("sampled", "sampled_mean", "Mean", digits),
        column("error", "error", "In standard deviations", fine),
        column("± MCSE", "mcse", "In standard deviations", fine),
        column("Laplace", "approximate_sd", "Standard deviation", digits),
        column("sampled", "sampled_sd", "Standard deviation", digits),
        column("ratio", "sd_ratio", "Standard deviation", 3),
        column("ESS bulk", "ess", "Draws", 0),
        column("R-hat", "r_hat", "Draws", 3),
    )
    return Table(
        "Laplace’s approximation against sampled",
        columns,
        _left_out(every, "those with the largest error"),
    )


def evidence(report: ApproximationReport) -> list[tuple[str, str]]:
    """Return what the identity of densities found, and the approximate evidence."""
    found = report.identity
    return [
        ("Points compared", str(found.points)),
        ("Rounding bound of the difference", powers(found.bound, 1)),
        ("Difference of log densities", _share(found.value)),
        ("Difference of slopes", _share(found.slope)),
        (
            "Log evidence, Laplace’s approximation",
            rounded(report.approximation.approximate_log_evidence, 3),
        ),
    ]


def glance(report: ApproximationReport) -> list[tuple[str, str]]:
    """Return the few numbers that one looks for first."""
    facts = [
        ("largest error, s.d.", rounded(float(report.errors["error"].abs().max()), 2)),
        ("narrowest, s.d. ratio", rounded(float(report.errors["sd_ratio"].min()), 2)),
        ("fewest effective draws", rounded(float(report.errors["ess"].min()), 0)),
        ("largest R-hat", rounded(float(report.errors["r_hat"].max()), 3)),
    ]
    statistics = report.sampled["sample_stats"]
    if "diverging" in statistics:
        facts.append(("divergences", str(int(np.asarray(statistics["diverging"]).sum()))))
    return facts


@canvas.style()
def pictures(report: ApproximationReport) -> list[Picture]:
    """Draw densities, the ways to the mode, ranks and traces."""
    laws = report.approximation.marginals()
    law: Any = report.approximation
    every = scalar_draws(law, report.sampled)
    order = np.argsort(-report.errors["error"].abs().to_numpy(), kind="stable")
    if len(every) <= MOST_SCALARS:
        order = np.arange(len(every))
    shown = [
        Scalar(label, element(laws[name], at), x)
        for label, name, at, x in (every[i] for i in order[:MOST_SCALARS])
    ]
    return [
        Picture(
            "density",
            "Laplace’s approximation over the draws",
            tuple(map(_density, shown)),
            "Filled: histogram of PyMC's draws. Dashed: the density of the approximation. Where "
            "they part, the approximation is off.",
        ),
        _ways(report),
        ranks(shown, float(report.settings["level"])),
        traces(shown, report.sampled),
    ]


def _density(scalar: Scalar) -> Panel:
    x, law, axes = np.ravel(scalar.draws), scalar.law, canvas.axes_of()
    low = min(float(np.quantile(x, _EDGE)), float(law.ppf(_EDGE)))
    high = max(float(np.quantile(x, 1 - _EDGE)), float(law.isf(_EDGE)))
    axes.hist(
        x, np.linspace(low, high, _BINS + 1).tolist(), density=True, color=canvas.SKY, alpha=0.5
    )
    grid = np.linspace(low, high, 400)
    axes.plot(grid, np.exp(law.logpdf(grid)), "--", color=canvas.ORANGE, lw=1.8)
    axes.set_xlim(low, high)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)
    numbers = (law.mean(), law.std(), x.mean(), x.std())
    mean, sd, own_mean, own_sd = (rounded(float(n), decimals_of(x.std(), 3)) for n in numbers)
    alt = (
        f"Histogram of {x.size:,} draws of {scalar.label}, with the density of Laplace’s "
        f"approximation as a dashed line. Approximation: mean {mean}, standard deviation {sd}. "
        f"Draws: mean {own_mean}, standard deviation {own_sd}."
    )
    return canvas.panel(scalar.label, axes, alt)


def _ways(report: ApproximationReport) -> Picture:
    """Draw how far below the maximum the log joint density is after each step."""
    axes = canvas.axes_of((canvas.WIDE, canvas.SIZE[1]))
    best = min(report.newton.loss.min(), report.ascent.loss.min())
    words = []
    marks = (("Newton", report.newton, canvas.BLUE, "o-"),)
    for name, trace, colour, mark in (*marks, ("gradient", report.ascent, canvas.ORANGE, "-")):
        gap = trace.loss - best
        least = _LEAST * max(float(trace.loss[0] - best), 1.0)
        seen = gap > least
        axes.plot(np.flatnonzero(seen) + 1, gap[seen], mark, color=colour, ms=3, label=name)
        state = "arrived" if trace.converged else f"still {significant(float(gap[-1]), 2)} below"
        words.append(f"{name}: {len(trace.step):,} steps, {state}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("point, the start being the first")
    axes.set_ylabel("below the maximum")
    axes.legend(frameon=False)
    alt = f"Log joint density below its maximum, after each step. {'; '.join(words)}."
    return Picture(
        "ways",
        "Ways to the mode",
        (canvas.panel("", axes, alt),),
        "How far the log joint density is below its maximum, after each step of Newton's method "
        f"and of gradient ascent ({report.ascent.rule}). {'; '.join(words)}.",
        wide=True,
    )


def _share(ratio: float) -> str:
    return f"{significant(ratio, 2)} times its bound" + (": too large" if ratio > 1 else "")


def _left_out(rows: int, which: str) -> str:
    return f"Shown are {MOST_ROWS} of {rows:,} rows, {which}." if rows > MOST_ROWS else ""
