"""A belief on its whole way: rows, statistic, posterior, draws, referee, report."""

from __future__ import annotations

from typing import Any, cast

import narwhals as nw
import numpy as np
import pandas as pd

from bayesmodels.belief.protocol import Belief, Classifier, LatentClasses, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.draws import exact_draws, mcmc_draws
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import paired
from bayesmodels.input.wrappers import Weighted
from bayesmodels.referee import (
    Diagnosis,
    Identity,
    check_identity,
    compare,
    diagnose,
)
from bayesmodels.referee.bridge import EvidenceEstimate, estimated
from bayesmodels.referee.diagnosis import log_evidence
from bayesmodels.referee.named_laws import InvariantLaw
from bayesmodels.referee.tests.class_probabilities import telling_rows
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Picture
from bayesmodels.report.classes import learnt
from bayesmodels.report.concept import hypotheses
from bayesmodels.report.excerpt import excerpt
from bayesmodels.report.html import Judged, Report, on_draws
from bayesmodels.report.mixtures import mixtures
from bayesmodels.report.page import Part, Section, Shown
from bayesmodels.report.predictive import predictive
from bayesmodels.report.run import Run

_REPLICATED = 250  # draws a chain, where none are asked for: for pictures

glance, scalars = tables.glance, tables.scalars


def described(report: Report) -> list[Section]:
    """Return model, parameters, comparison and evidence."""
    title, verdict = "Exact and sampled posterior", report.comparison
    compared = [] if verdict is None else tables.comparison(verdict, report.prob)
    return [
        Section("model", "Model", [Part("equations", report.prior.equations)]),
        Section("parameters", "Prior and posterior", [Part("tables", tables.parameters(report))]),
        *([Section("comparison", title, compared), *_classes(report)] if compared else []),
        _evidence(report),
    ]


def _classes(report: Report) -> list[Section]:
    table = tables.predictions(report.comparison)
    about = (
        "Exact: probabilities of the class of a row, integrated over the exact posterior. "
        "Sampled: from averages over the sampler’s draws. They test what the draws are for, "
        "and all parameters at once. The rows are those of all rows whose class is least "
        "certain, the least certain first, where an error would show most; they have the "
        "labels that they have in the data."
    )
    return [] if table is None else [Section("classes", "Class probabilities", [about, table])]


def _evidence(report: Report) -> Section:
    table = tables.ways(report)
    of = "exact draws" if isinstance(report.prior, LatentClasses) else "the sampler’s draws"
    about = (
        "The same number by another way: by bridge sampling, from PyMC’s joint density and "
        f"{of}, with a Monte-Carlo error."
    )
    ways: list[Shown] = [] if table is None else [about, table]
    return sections.evidence(report.log_evidence, tables.evidence(report), *ways)


def data_of(report: Report) -> Section:
    """Return what the data are like."""
    statistic, counts = report.prior.statistic(report.data), {}
    if isinstance(report.posterior, Classifier):
        labels = cast("Any", report.posterior).coords["class"]
        counts = dict(zip(labels, statistic.classes.counts, strict=True))
    likelihood = report.settings.get("likelihood", "rows")
    facts, first = excerpt(report.data, report.posterior, counts, likelihood)
    return sections.data([*facts, *tables.digits(report.posterior, statistic)], first)


def methods(report: Report) -> sections.Methods:
    """Return what was done, in sentences, and the works cited."""
    about = (
        f"The posterior ({report.title}) was computed in closed form with bayesmodels "
        f"{report.versions['bayesmodels']}; its log density and the log evidence were verified "
        "against the joint density of the same model in PyMC "
        f"{report.versions.get('pymc', '')} [1] at {report.identity.points} points."
    )
    return [about, *sections.sampling(report), *sections.judging(report)], sections.cited(report)


def judge(report: Report) -> Judged:
    """Judge formulas first, then the sampler's draws."""
    identity, comparison, bridge = report.identity, report.comparison, report.bridge
    sampled: Outcome = "agree" if comparison is None else comparison.outcome
    outcome: Outcome = sampled if identity.holds else "disagree"
    head = {
        "agree": "The algebra, the PyMC model and its draws agree.",
        "disagree": "The algebra and the PyMC model agree, but the sampler's draws do not: the "
        "sampler is to blame.",
        "inconclusive": "The algebra and the PyMC model agree; the draws are too few to judge, "
        "or have not mixed.",
    }[outcome]
    if comparison is None:
        head = "The algebra and the PyMC model agree. Nothing was sampled."
    if not identity.holds:
        head = "The algebra and the PyMC model do not describe the same posterior."
    blamed = [] if report.diagnosis is None else [report.diagnosis.sentences()[0]]
    to_blame = ["the sampler"] if identity.holds and outcome == "disagree" else []
    by = {}
    if bridge is not None:
        by["log_evidence_by_bridge"] = bridge.log_evidence
        by["log_evidence_by_bridge_error"] = bridge.error
    compared = [] if comparison is None else [comparison.sentences()[0]]
    return on_draws(
        report,
        outcome,
        [head, *blamed, identity.sentences()[0], *compared],
        log_evidence=report.log_evidence,
        **by,
        identity_holds=identity.holds,
        to_blame=list(report.diagnosis.terms) if blamed else to_blame,
    )


@canvas.style()
def pictures(report: Report) -> list[Picture]:
    """Draw all pictures of a report.

    Of hypotheses: bars, what belongs to the concept, and the predictive check. Of all else:
    densities, differences of distribution functions, ranks, traces and the predictive check; what a
    classifier, or a mixture, has learnt.
    """
    if levels(report.posterior):
        return [*hypotheses(report), predictive(report)]
    drawn: list[Picture] = []
    if report.comparison is not None:
        shown = figures.scalars(report.comparison, priors(report))
        drawn = figures.of_draws(shown, float(report.settings["level"]), report.sampled)
    return [
        *drawn,
        predictive(report),
        *learnt(report),
        *(mixtures(report) if isinstance(report.prior, LatentClasses) and drawn else []),
    ]


def priors(report: Report) -> dict[str, Any]:
    """Return the prior laws of the variables, over the groups that the data brought along."""
    if isinstance(report.comparison.law, InvariantLaw):
        return {}  # of a mixture, quantities are compared that the prior does not state
    empty = report.prior.statistic(report.data).without_rows()
    try:
        return dict(report.prior.update(empty).marginals())
    except PriorError:  # an improper one
        return {}


def validated(model: Belief, data: Any, run: Run) -> dict[str, Any]:
    """Compare a belief's formulas, its PyMC model and PyMC's draws; return parts of a report."""
    settings, rng, timed = run.settings, run.rng, run.timed
    likelihood = settings["likelihood"]
    size = {"draws": settings["draws a chain"], "chains": settings["chains"]}
    posterior = timed("posterior", "exact posterior", model.update, data)
    if not size["draws"] and (isinstance(model, LatentClasses) or levels(posterior)):
        raise DataError(
            f"draws: a report of {type(model).__name__} compares draws; give draws=1000, or leave "
            "--no-draws out."
        )
    stated = log_evidence(model, data)

    def identified() -> tuple[Any, Identity, Diagnosis | None]:
        declared = model.declare(data, likelihood)
        result = check_identity(declared, posterior, model, stated, rng=rng)
        if result.holds:
            return declared, result, None
        return declared, result, diagnose(declared, model, data, identity=result, rng=rng)

    words = "comparing formula and PyMC model"
    declared, identity, diagnosis = timed("identity", words, identified)
    parts = {
        "title": getattr(model, "title", type(model).__name__),
        "prior": model,
        "posterior": posterior,
        "data": data,
        "log_evidence": stated,
        "identity": identity,
        "diagnosis": diagnosis,
    }
    (own,) = rng.spawn(1)
    if not size["draws"]:
        size["draws"] = _REPLICATED
        parts["fit"] = run.fitted(model, data, own)
        exact = timed("exact draws", "exact draws", exact_draws, model, data, rng=rng, **size)
        return {**parts, "exact": exact}
    exact = timed("exact draws", "exact draws", exact_draws, model, data, rng=rng, **size)
    rows = _rows_to_compare(posterior, data)
    comparison, sampled = run.decided(
        lambda number: mcmc_draws(model, data, draws=number, likelihood=likelihood, **run.sampler),
        lambda draws, share: compare(posterior, draws, level=share, rows=rows, rng=rng),
    )
    # Chains of a mixture keep to one order of its classes; a bridge needs all of them.
    given = exact if isinstance(model, LatentClasses) else sampled
    bridge, missing = timed(
        "evidence", "the evidence by a bridge", _bridged, stated, declared, model, given, rng
    )
    return {
        **parts,
        "comparison": comparison,
        "fit": run.fitted(model, data, own),
        "exact": exact,
        "sampled": sampled,
        "bridge": bridge,
        "no_bridge": missing,
    }


def _bridged(
    log_evidence: float | None, declared: Any, model: Belief, draws: Any, rng: Any
) -> tuple[EvidenceEstimate | None, str]:
    """Return an estimate of the evidence that shares no formula with it, or why there is none."""
    if log_evidence is None:
        return None, ""
    try:
        return estimated(declared, model, draws, rng), ""
    except DataError as error:
        return None, f"There is no estimate by bridge sampling: {error}"


def _rows_to_compare(posterior: Any, data: Any) -> Any:
    """Return rows whose probabilities are worth comparing; None if there are none."""
    if isinstance(posterior, LatentClasses):
        return data if posterior.exchangeable else None
    if not isinstance(posterior, Classifier) or isinstance(data, Statistic):
        return None
    design = paired(data.rows if isinstance(data, Weighted) else data)
    features = wrapped(design.features, "features")
    if isinstance(features, nw.DataFrame | nw.Series):
        features = features.to_pandas()
    elif isinstance(features, np.ndarray):
        features = (pd.DataFrame if features.ndim > 1 else pd.Series)(features)
    else:
        return None
    if not features.index.is_unique:
        features = features.reset_index(drop=True)
    return telling_rows(posterior, features) if len(features) else None
