"""A model without a closed form on its whole way: formula, PyMC model, draws, approximation.

The formula is prior times likelihood, which must be PyMC's joint density, constants included. The
approximation is measured against the sampler's draws, and not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesmodels.belief.reading import places
from bayesmodels.draws import mcmc_draws
from bayesmodels.referee import check_identity, compare
from bayesmodels.referee.verdict import (
    LEAST_ESS,
    Outcome,
    advice,
    stands_still,
    still,
    too_few,
    unmixed,
)
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Picture
from bayesmodels.report.excerpt import excerpt
from bayesmodels.report.html import Judged, Report
from bayesmodels.report.page import Pairs, Part, Section, Table, columns, cut, labels, worst_first
from bayesmodels.report.rounding import powers, rounded, significant
from bayesmodels.report.run import Run

if TYPE_CHECKING:
    from bayesmodels.models.logistic.regression import LogisticRegression

_STEPS = 2000  # of gradient ascent, for a picture
_LEAST = 1e-12  # of a distance from the maximum, relative to the way: below it is rounding


def described(report: Report) -> list[Section]:
    """Return model, parameters, comparison and approximate evidence."""
    near, errors, result = report.posterior, report.errors, report.identity
    before = (
        "The posterior has no closed form. Its mode is exact up to rounding; the standard "
        "deviations beside it are those of Laplace’s approximation, a normal law with the "
        "curvature that the log posterior has at its mode."
    )
    after = (
        "An approximation is not exact, so the question is not whether the draws agree with it "
        "but how far it is off. The error is its mean minus the mean of the draws, in standard "
        "deviations of the draws."
    )
    densities = (
        "Prior times likelihood must be PyMC’s joint density at every point, constants "
        "included. Differences are stated in units of what rounding can explain; up to 1 they "
        "are explained."
    )
    identity = [
        ("Points compared", str(result.points)),
        ("Rounding bound of the difference", powers(result.bound, 1)),
        ("Difference of log densities", tables.share(result.evidence or 0.0)),
        ("Difference of slopes", tables.share(result.slope)),
        ("Log evidence, Laplace’s approximation", rounded(near.approximate_log_evidence, 3)),
    ]
    title = "Identity and approximate evidence"
    return [
        Section("model", "Model", [Part("equations", report.prior.equations)]),
        Section("parameters", "Prior and approximation", [before, parameters(report)]),
        Section("comparison", "Approximate and sampled posterior", [after, comparison(errors)]),
        Section("evidence", title, [densities, Part("facts", identity)]),
    ]


def glance(report: Report) -> Pairs:
    """Return what one looks for first."""
    errors = report.errors
    return [
        ("largest error, s.d.", rounded(float(errors["error"].abs().max()), 2)),
        ("narrowest, s.d. ratio", rounded(float(errors["sd_ratio"].min()), 2)),
        *tables.mixed(errors["ess"], errors["r_hat"]),
        *tables.divergences(report.sampled),
    ]


def data_of(report: Report) -> Section:
    """Return what the data are like."""
    counts = dict(zip(report.prior.classes, report.prior.class_counts(report.data), strict=True))
    near = report.posterior
    facts, first = excerpt(report.data, near, counts, report.settings["likelihood"])
    return sections.data([*facts, *tables.digits(near)], first)


def methods(report: Report) -> sections.Methods:
    """Return what was done, in sentences, and the works cited."""
    about = (
        f"The posterior ({report.title}) was approximated by Laplace's method [4] with "
        f"bayesmodels {report.versions['bayesmodels']}; the log density was verified against a "
        f"PyMC {report.versions.get('pymc', '')} [1] model at {report.identity.points} points."
    )
    end = (
        "Means of the approximation differ from those of the draws by at most "
        f"{float(report.errors['error'].abs().max()):.2g} posterior standard deviations."
    )
    return [about, *sections.sampling(report), end], sections.MEASURED


def scalars(report: Report) -> int:
    """Return how many scalars could be drawn."""
    return len(report.errors)


def judge(report: Report) -> Judged:
    """Judge the formula, and whether the draws are good for a measurement."""
    errors, identity, further = report.errors, report.identity, findings(report.errors)
    outcome: Outcome = "inconclusive" if further else "agree"
    outcome = outcome if identity.holds else "disagree"
    head = {
        "agree": "The formula and the PyMC model agree; the approximation was measured.",
        "disagree": "The formula and the PyMC model do not describe the same posterior.",
        "inconclusive": "The formula and the PyMC model agree; the draws are too few or have "
        "not mixed, so that the approximation was measured badly.",
    }[outcome]
    said = [head, identity.sentences()[0], measured(errors)]
    known = {
        "sentences": [*said, *further],
        "approximate_log_evidence": float(report.posterior.approximate_log_evidence),
        "identity_holds": identity.holds,
        "largest_z": None,
        "largest_error": float(errors["error"].abs().max()),
        "smallest_ess": float(errors["ess"].min()),
        "largest_r_hat": float(errors["r_hat"].max()),
    }
    return Judged(outcome, said, further, errors, known)


def findings(errors: pd.DataFrame) -> list[str]:
    """Say what keeps the draws from being good for a measurement; empty if nothing does."""
    ess, r_hat = errors["ess"], errors["r_hat"]
    if standing := [str(x) for x in ess.index if stands_still(ess[x], r_hat[x])]:
        return [still(standing)]
    few = [f"{x} {advice(LEAST_ESS / ess.min())}" for x in too_few(str(ess.idxmin()), ess.min())]
    tune = "" if r_hat.isna().all() else " Tune longer or draw more."
    return few + [x + tune for x in unmixed(r_hat)]


def measured(errors: pd.DataFrame) -> str:
    """Say in one sentence how far the approximation is from the draws."""
    worst: Any = errors["error"].abs().idxmax()
    error, mcse = errors["error"][worst], errors["mcse"][worst]
    low, high = errors["sd_ratio"].min(), errors["sd_ratio"].max()
    return (
        "Laplace's approximation is not the posterior: its mean is up to "
        f"{abs(error):.2g} ± {mcse:.1g} posterior standard deviations off ({worst}), and its "
        f"standard deviations are {low:.2f} to {high:.2f} times those of the draws."
    )


def parameters(report: Report) -> Table:
    """Return mean and standard deviation of the prior, and those of the approximation."""
    prior, near = report.prior.marginals()["w"], report.posterior.marginals()["w"]
    rows = [text for text, _ in places(report.posterior, "w", np.shape(near.mean()))]
    result = (
        labels(rows),
        tables.numbers("prior", prior.mean(), "Mean"),
        tables.numbers("mode", near.mean(), "Mean"),
        tables.numbers("prior", prior.std(), "Standard deviation"),
        tables.numbers("approximate", near.std(), "Standard deviation"),
    )
    return cut(Table("Weights", result))


def errors_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return how far an approximation is off, of the table of `compare`, in standard deviations."""
    sd = table["sampled_sd"]
    return pd.DataFrame(
        {
            "approximate_mean": table["mean"],
            "approximate_sd": table["sd"],
            "sampled_mean": table["sampled_mean"],
            "sampled_sd": sd,
            "error": (table["mean"] - table["sampled_mean"]) / sd,
            "mcse": table["mcse_mean"] / sd,
            "sd_ratio": table["sd"] / sd,
            "ess": table["ess_bulk"],
            "r_hat": table["r_hat"],
        }
    )


def comparison(errors: pd.DataFrame) -> Table:
    """Return approximate beside sampled values, one row a weight, of many the worst first."""
    errors = worst_first(errors, "error")
    digits, fine = tables.places_of(errors["sampled_sd"], 3), tables.places_of(errors["mcse"], 2)
    result = columns(
        errors,
        ("Laplace", "approximate_mean", "Mean", digits),
        ("sampled", "sampled_mean", "Mean", digits),
        ("error", "error", "In standard deviations", fine),
        ("± MCSE", "mcse", "In standard deviations", fine),
        ("Laplace", "approximate_sd", "Standard deviation", digits),
        ("sampled", "sampled_sd", "Standard deviation", digits),
        ("ratio", "sd_ratio", "Standard deviation", 3),
        ("ESS bulk", "ess", "Draws", 0),
        ("R-hat", "r_hat", "Draws", 3),
    )
    table = Table("Laplace’s approximation against sampled", tuple(result))
    return cut(table, "those with the largest error")


@canvas.style()
def pictures(report: Report) -> list[Picture]:
    """Draw densities, the ways to the mode, ranks and traces."""
    shown = figures.of_law(report.posterior, report.sampled, report.errors["error"].abs())
    return [
        Picture(
            "density",
            "Laplace’s approximation over the draws",
            tuple(figures.density(scalar, kind="approximate") for scalar in shown),
            "Filled: histogram of PyMC's draws. Dashed: the density of the approximation. Where "
            "they part, the approximation is off.",
        ),
        _ways(report),
        figures.ranks(shown, float(report.settings["level"])),
        figures.traces(shown, report.sampled),
    ]


def _ways(report: Report) -> Picture:
    """Draw how far below the maximum the log joint density is after each step."""
    axes = canvas.axes_of((canvas.WIDE, canvas.SIZE[1]))
    best = min(report.newton.loss.min(), report.ascent.loss.min())
    words, lines = [], {}
    for name, trace in (("Newton", report.newton), ("gradient", report.ascent)):
        gap = trace.loss - best
        seen = gap > _LEAST * max(float(trace.loss[0] - best), 1.0)
        lines[name] = pd.Series(gap[seen], np.flatnonzero(seen) + 1)
        state = "arrived" if trace.converged else f"still {significant(float(gap[-1]), 2)} below"
        words.append(f"{name}: {len(trace.step):,} steps, {state}")
    table = pd.DataFrame(lines).rename_axis("point, the start being the first")
    canvas.curves(axes, table, {name: {"label": name, "marker": "."} for name in table})
    axes.set(xscale="log", yscale="log", ylabel="below the maximum")
    axes.legend(frameon=False)
    return canvas.picture(
        "ways",
        "Ways to the mode",
        axes,
        table,
        "How far the log joint density is below its maximum, after each step of Newton's method "
        f"and of gradient ascent ({report.ascent.rule}). {'; '.join(words)}.",
        f"Log joint density below its maximum, after each step. {'; '.join(words)}.",
    )


def validated(model: LogisticRegression, data: Any, run: Run) -> dict[str, Any]:
    """Check formula and declaration, measure the approximation; return parts of a report."""
    timed, how = run.timed, {"likelihood": run.settings["likelihood"]} | run.sampler
    near = timed("approximation", "mode and curvature", model.laplace, data)
    way = "gradient ascent"
    ascent = timed(way, way, model.ascend, data, of="posterior", most=_STEPS)
    words = "comparing formula and PyMC model"
    pair = model.declare(data), model.joint(data)
    identity = timed("identity", words, check_identity, *pair, model, 0.0, rng=run.rng)
    draws = run.settings["draws a chain"]
    sampled = run.sampled(lambda number: mcmc_draws(model, data, draws=number, **how), draws)
    verdict = timed("comparison", "measuring the approximation", compare, near, sampled)
    fit = run.fitted(model, data, run.rng.spawn(1)[0])
    return {
        "title": model.title,
        "fit": fit,
        "prior": model.met(data),
        "posterior": near,
        "data": data,
        "identity": identity,
        "errors": errors_of(verdict.table),
        "sampled": sampled,
        "newton": model.map(data).trace,
        "ascent": ascent,
    }
