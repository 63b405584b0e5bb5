"""A PyMC model of a user's own: its posterior, PyMC's draws, and the referee's verdict."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesmodels.belief.protocol import Integrated
from bayesmodels.belief.reading import levels, places
from bayesmodels.errors import PriorError
from bayesmodels.input.labels import of_place
from bayesmodels.numerics import Array
from bayesmodels.referee import compare
from bayesmodels.referee.scalars import scalar_draws
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report import canvas, figures, integration, sections, tables
from bayesmodels.report.canvas import Panel, Picture
from bayesmodels.report.html import Judged, Report, on_draws
from bayesmodels.report.page import Part, Section, Table, cut, labels
from bayesmodels.report.rounding import powers, rounded, significant
from bayesmodels.report.run import Run

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesmodels.posteriors.posterior import ExactPosterior


_FEW = 500  # draws a chain, where none are asked for
_PROVED = "The model has a closed form, the same as PyMC's density."
_IN_WORDS = 6  # values that an alternative text goes through
_UNSEEN = 1e-3  # less probable values at both ends are not drawn
_HEADS = {
    "exact": {
        "agree": "The model has a closed form, and PyMC's draws agree with it.",
        "disagree": "The model has a closed form, but PyMC's draws do not come from it: the "
        "sampler is to blame.",
        "inconclusive": "The model has a closed form; PyMC's draws are too few to judge, or "
        "have not mixed.",
    },
    "integrated": {
        "agree": "The model was integrated numerically, and PyMC's draws agree with that.",
        "disagree": "The model was integrated numerically, but PyMC's draws do not come from "
        "that posterior: the sampler is to blame, unless the integration missed a mode.",
        "inconclusive": "The model was integrated numerically; PyMC's draws are too few to "
        "judge, or have not mixed.",
    },
}


glance, scalars = tables.glance, tables.scalars


def described(report: Report) -> list[Section]:
    """Return model, parameters, comparison and evidence."""
    posterior, verdict = report.posterior, report.comparison
    compared = []
    if verdict is not None:
        title = f"{verdict.kind.capitalize()} and sampled posterior"
        compared = [Section("comparison", title, tables.comparison(verdict, report.prob))]
    if isinstance(posterior, Integrated):
        none = f"There is no closed form that could be proved: {report.reason}"
        searched = (
            "Modes were climbed from many random starts. One whose surroundings no start hit is "
            "not in these numbers, and draws that were there would disagree with them."
        )
        facts = Part("facts", integration.evidence(posterior, report.log_evidence))
        numbers: list[Any] = [integration.numbers(posterior, report.prob)]
        how, title = [Part("heading", "Integration"), none], "Numbers of the posterior"
        evidence = Section("evidence", "Evidence and errors", [searched, facts])
    else:
        seen = evidence_of(posterior, report.log_evidence)
        numbers = [Part("tables", every)] if (every := laws(posterior)) else []
        how, title = [Part("heading", "Closed form")], "Laws of the variables"
        evidence = sections.evidence(report.log_evidence, seen)
    model = [Part("code", posterior.model.str_repr()), *how, posterior.explain()]
    return [
        Section("model", "Model", model),
        *([Section("parameters", title, numbers)] if numbers else []),
        *compared,
        evidence,
    ]


def data_of(report: Report) -> Section:
    """Return what was observed."""
    return sections.data([*observed(report.exact), *tables.digits(report.posterior)])


def methods(report: Report) -> sections.Methods:
    """Return what was done, in sentences, and the works cited."""
    posterior, version = report.posterior, report.versions["bayesmodels"]
    how = f"derived in closed form with bayesmodels {version}, and verified against PyMC's joint "
    if isinstance(posterior, Integrated):
        how = f"integrated numerically with bayesmodels {version}. {posterior.explain()}"
    else:
        how += f"density at {posterior.verification.points} points."
    about = f"The posterior of a PyMC {report.versions.get('pymc', '')} [1] model was {how}"
    return [about, *sections.sampling(report), *sections.judging(report)], sections.cited(report)


def judge(report: Report) -> Judged:
    """Judge the sampler's draws, by what the posterior is."""
    posterior, verdict = report.posterior, report.comparison
    outcome: Outcome = "agree" if verdict is None else verdict.outcome
    known: dict[str, Any]
    if report.reason:
        words = _HEADS["integrated"]
        proof, to_blame = posterior.explain(), ["the sampler", "the integration"]
        error = float(posterior.errors["log_evidence"])
        known = {"reason": report.reason, "log_evidence_error": error}
    else:
        seen, words, to_blame = posterior.verification, _HEADS["exact"], ["the sampler"]
        reach = "everywhere" if seen.settled else "at the points compared, as far as is known"
        proof = (
            f"PyMC's joint density and the closed form differ by one constant at {seen.points} "
            f"points, up to {significant(max(seen.value, seen.slope), 2)} of what rounding "
            f"explains: they are the same {reach}."
        )
        known = {"families": posterior.families, "verified": posterior.verified}
    head, compared = words[outcome], [] if verdict is None else [verdict.sentences()[0]]
    if verdict is None:
        head = "The model was integrated numerically." if report.reason else _PROVED
        head += " Nothing was sampled."
    return on_draws(
        report,
        outcome,
        [head, proof, *compared],
        to_blame=to_blame if outcome == "disagree" else [],
        rung="integrated" if report.reason else "exact",
        explanation=posterior.explain(),
        **known,
        log_evidence=report.log_evidence,
    )


def laws(posterior: ExactPosterior) -> list[Table]:
    """Return the parameters of every variable's law, one table for neighbours of one family."""
    values, families = posterior.parameters(), posterior.families
    # Finite variables are in the comparison already, with all their probabilities.
    known = [name for name in posterior.dims if values[name] and name not in levels(posterior)]
    result = []
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
        result.append(cut(Table(family, (labels(rows), *each))))
    return result


def evidence_of(posterior: ExactPosterior, log_evidence: float | None) -> list[tuple[str, str]]:
    """Return what the comparison of densities found."""
    seen = posterior.verification
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
def pictures(report: Report) -> list[Picture]:
    """Draw densities, distribution functions, ranks and traces; of finite variables visits."""
    result: list[Picture] = []
    if report.comparison is None:
        return result
    if set(report.posterior.dims) - set(levels(report.posterior)):
        level = float(report.settings["level"])
        shown, kind = figures.scalars(report.comparison), report.comparison.kind
        result += figures.of_draws(shown, level, report.sampled, kind)
    if levels(report.posterior):
        result.append(_visits(report))
    return result


def _visits(report: Report) -> Picture:
    """Draw the values of each element of a finite variable."""
    posterior, elements = report.posterior, dict[tuple[str, tuple[int, ...]], list[Any]]()
    for _, name, at, x in scalar_draws(report.comparison.law, report.sampled):
        if name in levels(posterior):
            elements.setdefault((name, at[:-1]), []).append(x.mean(-1))
    laws, panels = posterior.marginals(), []
    for (name, at), visited in list(elements.items())[: figures.MOST_SCALARS]:
        axes = zip(posterior.dims[name], at, strict=True)
        inner = of_place(posterior.coords[axis][i] for axis, i in axes)
        text = f"{name}[{inner}]" if at else name
        values = levels(posterior)[name]
        kind = report.comparison.kind
        mass = np.asarray(laws[name].mean())[at]
        panels.append(_bars(text, values, mass, np.array(visited), kind))
    caption = (
        f"Bars: the {report.comparison.kind} probability of each value. Dots: how often each chain "
        "visited it, which should scatter about the bar's end."
    )
    if len(elements) > len(panels):
        caption += f" {len(elements) - len(panels):,} more variables are not shown."
    return Picture("visits", "Values of finite variables", tuple(panels), caption)


def _bars(text: str, values: Any, mass: Array, visited: Array, kind: str) -> Panel:
    axes = canvas.axes_of()
    likely = np.flatnonzero((mass > _UNSEEN) | (visited.max(-1) > _UNSEEN))
    kept = slice(likely.min(), likely.max() + 1)
    lines = {kind: mass[kept]} | {f"chain {k}": chain for k, chain in enumerate(visited[kept].T)}
    table = pd.DataFrame(lines, pd.Index(np.array(values)[kept], name="value"))
    dots = {"marker": "o", "ls": "", "color": canvas.ORANGE, "ms": 4, "alpha": 0.6}
    canvas.histogram(axes, table, dict.fromkeys(lines, dots))
    axes.set_ylim(0)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("probability")
    order = np.argsort(-mass, kind="stable")[:_IN_WORDS]
    each = ", ".join(f"{values[k]}: {mass[k]:.3f}, {visited[k].mean():.3f}" for k in order)
    alt = (
        f"{kind.capitalize()} probabilities of the values of {text} and how often they were "
        f"visited. {each}."
    )
    return canvas.panel(text, axes, table, alt)


def _log_evidence(posterior: Any) -> float | None:
    try:
        return float(posterior.log_evidence)
    except PriorError:
        return None


def validated(given: Any, data: Any, run: Run) -> dict[str, Any]:
    """Find a PyMC model's posterior without a sampler, and compare a sampler's draws with it.

    A model of this package without a closed form is declared with its data. Return parts of a
    report. Where that can't be done the refusal says what can be.
    """
    from bayesmodels.posteriors.ladder import solved
    from bayesmodels.posteriors.posterior import sampled
    from bayesmodels.posteriors.sampling import independent_tree

    model: pm.Model = given if data is None else given.declare(data)
    draws, chains, rng = run.settings["draws a chain"], run.settings["chains"], run.rng
    quiet: dict[str, Any] = {
        "progressbar": False,
        "quiet": True,
        "compute_convergence_checks": False,
    }
    posterior, reason = run.timed("posterior", "closed form, or integration", solved, model, rng)
    drawn = run.timed(
        "independent draws",
        "independent draws",
        independent_tree,
        posterior,
        draws or _FEW,
        chains,
        rng,
    )
    parts = {
        "title": getattr(given, "title", None) or model.name or "PyMC model",
        **({} if data is None else {"prior": given.met(data), "data": data}),
        "posterior": posterior,
        "reason": reason,
        "log_evidence": _log_evidence(posterior),
        "exact": drawn,
    }
    rows: tuple[Any, Any] = (model, drawn) if data is None else (given, data)
    (own,) = rng.spawn(1)
    if not draws:
        return {**parts, "fit": run.fitted(*rows, own)}
    comparison, from_pymc = run.decided(
        lambda number: sampled(model, number, **run.sampler, **quiet),
        lambda given, share: compare(posterior, given, level=share, rng=rng),
    )
    return {
        **parts,
        "fit": run.fitted(*rows, own),
        "comparison": comparison,
        "sampled": from_pymc,
    }
