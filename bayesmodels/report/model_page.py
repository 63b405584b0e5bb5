"""What the report of a user's PyMC model says in rows and columns, and its pictures."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from bayesmodels.belief.reading import levels, places
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.report import canvas, figures, tables
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.model_validation import ModelReport
from bayesmodels.report.rounding import powers, rounded, significant
from bayesmodels.report.tables import Column, Table

_IN_WORDS = 6  # values that an alternative text goes through
_UNSEEN = 1e-3  # less probable values at both ends are not drawn


def laws(report: ModelReport) -> list[Table]:
    """Return the parameters of every variable's law, one table for neighbours of one family."""
    posterior = report.posterior
    values, families = posterior.parameters(), posterior.families
    # Finite variables are in the comparison already, with all their probabilities.
    known = [name for name in posterior.dims if values[name] and name not in levels(posterior)]
    found = []
    for (family, symbols), group in groupby(
        known, key=lambda name: (families[name], tuple(values[name]))
    ):
        names = list(group)
        labels = [
            text
            for name in names
            for text, _ in places(posterior, name, np.shape(values[name][symbols[0]]))
        ]
        columns = [Column("", tuple(labels), numeric=False)]
        for symbol in symbols:
            numbers = np.concatenate([np.ravel(values[name][symbol]) for name in names])
            columns.append(Column(symbol, tuple(significant(float(x)) for x in numbers)))
        found.append(tables.cut(Table(family, tuple(columns))))
    return found


def comparison(report: ModelReport) -> list[Table]:
    """Return exact beside sampled values: of finite variables visits, of others moments."""
    every, tests = report.comparison.table, report.comparison.tests
    counted = {test.label for test in tests if test.kind == "probability"}
    finite = every.index.isin(list(counted))
    found = []
    if not finite.all():
        found.append(tables.moments(every[~finite], report.comparison))
    if finite.any():
        found.append(tables.visits(every[finite], report.comparison))
    return found


def continuous(report: ModelReport) -> int:
    """Return how many scalars there are of variables that are not finite."""
    counted = {test.label for test in report.comparison.tests if test.kind == "probability"}
    return sum(label not in counted for label in report.comparison.table.index)


def evidence(report: ModelReport) -> list[tuple[str, str]]:
    """Return what the comparison of densities found."""
    seen = report.posterior.verification
    facts = [("Points compared", str(seen.points))]
    if report.log_evidence is not None:
        facts.append(("Log evidence", rounded(report.log_evidence, 9)))
    facts += [
        ("Rounding bound of the constant", powers(seen.bound, 1)),
        ("Variation between points", tables.share(seen.value)),
        ("Difference of slopes", tables.share(seen.slope)),
        ("Holds", "everywhere" if seen.settled else "at the points compared"),
    ]
    return facts


def observed(report: ModelReport) -> list[tuple[str, str]]:
    """Say what was observed: numbers of values, and their range."""
    facts = []
    for group in ("observed_data", "constant_data"):
        if group not in report.exact.children:
            continue
        for name, values in report.exact[group].data_vars.items():
            x = values.to_numpy()
            shape = " × ".join(f"{n:,}" for n in x.shape) or "1"
            words = f"{shape} values"
            if x.size and x.dtype.kind in "biuf":
                low, high = significant(float(x.min())), significant(float(x.max()))
                words += f" from {low} to {high}"
            if group == "constant_data":
                words += ", not modelled"
            facts.append((str(name), words))
    return facts or [("Observed", "nothing: the posterior is the prior")]


@canvas.style()
def pictures(report: ModelReport) -> list[Picture]:
    """Draw densities, distribution functions, ranks and traces; of finite variables visits."""
    found = []
    if set(report.posterior.dims) - set(levels(report.posterior)):
        shown, level = figures.scalars(report), float(report.settings["level"])
        found += [
            figures.densities(shown),
            figures.distribution_functions(shown, level),
            figures.ranks(shown, level),
            figures.traces(shown, report.sampled),
        ]
    if levels(report.posterior):
        found.append(_visits(report))
    return found


def _visits(report: ModelReport) -> Picture:
    panels: list[Panel] = []
    indicators: dict[tuple[str, tuple[int, ...]], list[Any]] = {}
    for _, name, at, x in scalar_draws(report.comparison.law, report.sampled):
        if name in levels(report.posterior):
            indicators.setdefault((name, at[:-1]), []).append(x.mean(-1))
    mass = report.posterior.mean()
    for (name, at), visited in list(indicators.items())[: figures.MOST_SCALARS]:
        text = next((t for t, where in _elements(report, name) if where == at), name)
        panels.append(_bars(text, levels(report.posterior)[name], mass[name][at], visited))
    caption = (
        "Bars: the exact probability of each value. Dots: how often each chain visited it, which "
        "should scatter about the bar's end."
    )
    if len(indicators) > len(panels):
        caption += f" {len(indicators) - len(panels):,} more variables are not shown."
    return Picture("visits", "Values of finite variables", tuple(panels), caption)


def _elements(report: ModelReport, name: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return label and place of each element of a finite variable."""
    axes = report.posterior.dims[name]
    labels = [report.posterior.coords[axis] for axis in axes]
    return [
        (f"{name}[{', '.join(str(labels[i][k]) for i, k in enumerate(at))}]" if at else name, at)
        for at in np.ndindex(*map(len, labels))
    ]


def _bars(text: str, values: Any, mass: Any, visited: list[Any]) -> Panel:
    axes, frequency = canvas.axes_of(), np.array(visited)
    likely = np.flatnonzero((mass > _UNSEEN) | (frequency.max(-1) > _UNSEEN))
    kept = slice(likely.min(), likely.max() + 1)
    x = np.array(values)[kept]
    axes.bar(x, mass[kept], width=0.7, color=canvas.SKY)
    for chain in frequency[kept].T:
        axes.plot(x, chain, "o", color=canvas.ORANGE, ms=4, alpha=0.6)
    axes.set_ylim(0)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("probability")
    order = np.argsort(-mass, kind="stable")[:_IN_WORDS]
    each = ", ".join(f"{values[k]}: {mass[k]:.3f}, {frequency[k].mean():.3f}" for k in order)
    alt = f"Exact probabilities of the values of {text} and how often they were visited. {each}."
    return canvas.panel(text, axes, alt)
