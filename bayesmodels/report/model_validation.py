"""A PyMC model of a user's own: its closed form, PyMC's draws, and the referee's verdict."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.reading import levels, places
from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.referee import compare
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.page import Pairs, Part, Section, Shown, Table, cut, labels
from bayesmodels.report.reports import ModelReport
from bayesmodels.report.rounding import powers, rounded, significant
from bayesmodels.report.run import Run

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


_IN_WORDS = 6  # values that an alternative text goes through
_UNSEEN = 1e-3  # less probable values at both ends are not drawn
_INSTEAD = (
    "integrate out what has a closed form given the rest, bm.exact(model, partial=True); or "
    "compare the draws of two samplers, bm.validate_draws(bm.sample(model), "
    'bm.sample(model, nuts_sampler="pymc"))'
)


def contents(report: ModelReport, command: str) -> tuple[Pairs, list[Section]]:
    """Return what one looks for first, and all sections."""
    from bayesmodels.report.declaration import declaration

    found, verdict = laws(report), report.comparison
    model: list[Shown] = [
        Part("code", declaration(report.posterior.model)),
        Part("heading", "Closed form"),
        report.posterior.explain(),
    ]
    parameters = Section("parameters", "Laws of the variables", [Part("tables", found)])
    about = (
        f"The posterior of a PyMC {report.versions.get('pymc', '')} [1] model was derived in "
        f"closed form with bayesmodels {report.versions['bayesmodels']}, and verified against "
        f"PyMC's joint density at {report.posterior.verification.points} points."
    )
    said = [about, sections.sampling(report, report.sampled), sections.judging(report)]
    again = sections.call("validate", ["model"], report.settings)
    return tables.glance(report.log_evidence, verdict, report.sampled), [
        Section("model", "Model", model),
        *([parameters] if found else []),
        Section("comparison", "Exact and sampled posterior", tables.comparison(verdict)),
        sections.evidence(report.log_evidence, evidence_of(report)),
        sections.pictures(pictures(report), len(tables.continuous(verdict))),
        sections.data([*observed(report.exact), *tables.digits(report.posterior)]),
        sections.methods(said, sections.JUDGED),
        sections.made(report, command, again, "model"),
    ]


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
        rows = [
            text
            for name in names
            for text, _ in places(posterior, name, np.shape(values[name][symbols[0]]))
        ]
        each = (
            tables.numbers(symbol, np.concatenate([np.ravel(values[n][symbol]) for n in names]))
            for symbol in symbols
        )
        found.append(cut(Table(family, (labels(rows), *each))))
    return found


def evidence_of(report: ModelReport) -> list[tuple[str, str]]:
    """Return what the comparison of densities found."""
    seen, log_evidence = report.posterior.verification, report.log_evidence
    known = [] if log_evidence is None else [("Log evidence", rounded(log_evidence, 9))]
    return [
        ("Points compared", str(seen.points)),
        *known,
        ("Rounding bound of the constant", powers(seen.bound, 1)),
        ("Variation between points", tables.share(seen.value)),
        ("Difference of slopes", tables.share(seen.slope)),
        ("Holds", "everywhere" if seen.settled else "at the points compared"),
    ]


def observed(exact: xr.DataTree) -> list[tuple[str, str]]:
    """Say what was observed: numbers of values, and their range."""
    facts = []
    for group, what in (("observed_data", ""), ("constant_data", ", not modelled")):
        if group not in exact.children:
            continue
        for name, values in exact[group].data_vars.items():
            x = values.to_numpy()
            shape = " × ".join(f"{n:,}" for n in x.shape) or "1"
            words = f"{shape} values"
            if x.size and x.dtype.kind in "biuf":
                words += f" from {significant(float(x.min()))} to {significant(float(x.max()))}"
            facts.append((str(name), words + what))
    return facts or [("Observed", "nothing: the posterior is the prior")]


@canvas.style()
def pictures(report: ModelReport) -> list[Picture]:
    """Draw densities, distribution functions, ranks and traces; of finite variables visits."""
    found: list[Picture] = []
    if set(report.posterior.dims) - set(levels(report.posterior)):
        level = float(report.settings["level"])
        found += figures.of_draws(figures.scalars(report.comparison), level, report.sampled)
    if levels(report.posterior):
        found.append(_visits(report))
    return found


def _visits(report: ModelReport) -> Picture:
    """Draw the values of each element of a finite variable."""
    posterior, elements = report.posterior, dict[tuple[str, tuple[int, ...]], list[Any]]()
    for _, name, at, x in scalar_draws(report.comparison.law, report.sampled):
        if name in levels(posterior):
            elements.setdefault((name, at[:-1]), []).append(x.mean(-1))
    mass, panels = posterior.mean(), []
    for (name, at), visited in list(elements.items())[: figures.MOST_SCALARS]:
        axes = zip(posterior.dims[name], at, strict=True)
        inner = ", ".join(str(posterior.coords[axis][i]) for axis, i in axes)
        text = f"{name}[{inner}]" if at else name
        panels.append(_bars(text, levels(posterior)[name], mass[name][at], np.array(visited)))
    caption = (
        "Bars: the exact probability of each value. Dots: how often each chain visited it, which "
        "should scatter about the bar's end."
    )
    if len(elements) > len(panels):
        caption += f" {len(elements) - len(panels):,} more variables are not shown."
    return Picture("visits", "Values of finite variables", tuple(panels), caption)


def _bars(text: str, values: Any, mass: Array, visited: Array) -> Panel:
    axes = canvas.axes_of()
    likely = np.flatnonzero((mass > _UNSEEN) | (visited.max(-1) > _UNSEEN))
    kept = slice(likely.min(), likely.max() + 1)
    x = np.array(values)[kept]
    axes.bar(x, mass[kept], width=0.7, color=canvas.SKY)
    for chain in visited[kept].T:
        axes.plot(x, chain, "o", color=canvas.ORANGE, ms=4, alpha=0.6)
    axes.set_ylim(0)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("probability")
    order = np.argsort(-mass, kind="stable")[:_IN_WORDS]
    each = ", ".join(f"{values[k]}: {mass[k]:.3f}, {visited[k].mean():.3f}" for k in order)
    alt = f"Exact probabilities of the values of {text} and how often they were visited. {each}."
    return canvas.panel(text, axes, alt)


def validate_model(model: pm.Model, run: Run) -> ModelReport:
    """Find a PyMC model's closed form, and compare its sampler's draws with it.

    Without a closed form the refusal says what can be done instead.
    """
    from bayesmodels.posteriors.exact import exact
    from bayesmodels.posteriors.posterior import sampled
    from bayesmodels.posteriors.sampling import exact_tree

    draws, chains, rng = run.settings["draws a chain"], run.settings["chains"], run.rng
    quiet: dict[str, Any] = {
        "progressbar": False,
        "quiet": True,
        "compute_convergence_checks": False,
    }
    try:
        posterior = run.timed("closed form", "closed form", exact, model, rng=rng)
    except NotConjugate as no:
        hint = f"{no.hint}; {_INSTEAD}" if no.hint else _INSTEAD
        raise NotConjugate(no.reason, hint) from None
    drawn = run.timed("exact draws", "exact draws", exact_tree, posterior, draws, chains, rng)
    comparison, from_pymc = run.decided(
        lambda number: sampled(model, number, **run.sampler, **quiet),
        lambda given, share: compare(posterior, given, level=share, rng=rng),
    )
    return ModelReport(
        title=model.name or "PyMC model",
        posterior=posterior,
        comparison=comparison,
        exact=drawn,
        sampled=from_pymc,
        contents=contents,
        **run.stated(),
    )
