"""A belief on its whole way: rows, statistic, posterior, draws, referee, report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np
import pandas as pd

from bayesmodels.belief.protocol import Belief, Classifier, LatentClasses, Statistic
from bayesmodels.belief.reading import levels
from bayesmodels.draws import exact_draws, mcmc_draws
from bayesmodels.errors import PriorError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import paired
from bayesmodels.input.wrappers import Weighted
from bayesmodels.referee import Diagnosis, Identity, Verdict, check_identity, compare, diagnose
from bayesmodels.referee.class_probabilities import telling_rows
from bayesmodels.referee.evidence_check import OtherEvidence, other_evidence
from bayesmodels.referee.named_laws import InvariantLaw
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Picture
from bayesmodels.report.classes import learnt
from bayesmodels.report.concept import hypotheses
from bayesmodels.report.excerpt import excerpt, in_short
from bayesmodels.report.html import as_values, called, in_notebook, to_html
from bayesmodels.report.left_out import left_out
from bayesmodels.report.mixtures import mixtures
from bayesmodels.report.page import Page, Part, Section, Shown
from bayesmodels.report.predictive import predictive
from bayesmodels.report.run import Run
from bayesmodels.report.sensitivity import Sensitivity, sensitivity

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Report:
    """What `validate` found.

    Attributes
    ----------
    title : str
        Name of the model, for people.
    prior, posterior : Belief
        Before and after the data.
    data : object
        The data as given.
    source : str
        Where the data come from, in words; may be empty.
    log_evidence : float or None
        Log density of the data; None under an improper prior.
    identity : Identity
        Algebra against PyMC's joint density.
    comparison : Verdict
        Draws of PyMC's sampler against the exact law.
    exact, sampled : xarray.DataTree
        Exact and MCMC draws with the same groups.
    settings : dict
        Seed, draws, chains and so on.
    seconds : dict
        Wall time of each part.
    versions : dict
        Of Python and of the packages that matter.
    diagnosis : Diagnosis or None
        Which term is to blame, where the identity fails.
    other_evidence : OtherEvidence or None
        The evidence by other ways; None under an improper prior.
    """

    title: str
    prior: Belief
    posterior: Belief
    data: Any
    source: str
    log_evidence: float | None
    identity: Identity
    comparison: Verdict
    exact: xr.DataTree
    sampled: xr.DataTree
    settings: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str]
    diagnosis: Diagnosis | None = None
    other_evidence: OtherEvidence | None = None

    @property
    def outcome(self) -> Outcome:
        """The verdict over both layers: identity first, then draws."""
        return self.comparison.outcome if self.identity.holds else "disagree"

    @property
    def to_blame(self) -> tuple[str, ...]:
        """What is to blame for a disagreement: terms of the formulas, or the sampler."""
        if self.diagnosis is not None:
            return self.diagnosis.terms
        return ("the sampler",) if self.identity.holds and self.outcome == "disagree" else ()

    def sentences(self) -> list[str]:
        """Say the verdict in words, the most important first."""
        if not self.identity.holds:
            head = "The algebra and the PyMC model do not describe the same posterior."
        elif self.outcome == "agree":
            head = "The algebra, the PyMC model and its draws agree."
        elif self.outcome == "disagree":
            head = (
                "The algebra and the PyMC model agree, but the sampler's draws do not: the sampler "
                "is to blame."
            )
        else:
            head = (
                "The algebra and the PyMC model agree; the draws are too few to judge, or have not "
                "mixed."
            )
        blamed = [] if self.diagnosis is None else [self.diagnosis.sentence()]
        return [head, *blamed, self.identity.sentence(), self.comparison.sentence()]

    to_html = to_html
    _repr_html_ = in_notebook
    __repr__ = called

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON."""
        others, by = self.other_evidence, {}
        if others is not None and others.chain is not None:
            by["log_evidence_by_chain"] = others.chain
        if others is not None and others.estimate is not None:
            by["log_evidence_by_bridge"] = others.estimate.log_evidence
            by["log_evidence_by_bridge_error"] = others.estimate.error
        return as_values(
            self,
            log_evidence=self.log_evidence,
            **by,
            identity_holds=self.identity.holds,
            to_blame=list(self.to_blame),
        )

    def page(self, command: str = "") -> Page:
        """Return what the report shows, and the command line that makes it again, if any."""
        scaled, rows = sensitivity(self), left_out(self)
        drawn, prior = pictures(self), cast("Any", self.prior)
        if rows is not None and rows.picture is not None:
            drawn.append(rows.picture)
        compared = replace(tables.comparison(self), alone=True)
        parameters = Part("tables", tables.parameters(self))
        again = sections.call("validate", ["prior", "data"], self.settings)
        shown = [
            Section("model", "Model", [Part("equations", prior.equations)]),
            Section("parameters", "Prior and posterior", [parameters]),
            Section("comparison", "Exact and sampled posterior", [compared]),
            *self._classes(),
            self._evidence(),
            *([] if rows is None else [rows.section()]),
            *([] if scaled is None else [scaled.section()]),
            sections.pictures(drawn, 0 if levels(prior) else len(self.comparison.table)),
            self._data(),
            self._methods(scaled),
            sections.made(
                self, command, again, "prior", "data", prior=f"prior = {in_short(prior)}"
            ),
        ]
        return Page(
            source=self.source or sections.NO_SOURCE,
            sentences=[*self.sentences(), *([scaled.summary] if scaled and scaled.summary else [])],
            findings=self.comparison.findings[1:],  # the first is part of the verdict's sentences
            glance=tables.glance(self.log_evidence, self.comparison, self.sampled),
            sections=shown,
        )

    def _classes(self) -> list[Section]:
        table = tables.predictions(self.comparison)
        about = (
            "Exact: probabilities of the class of a row, integrated over the exact posterior. "
            "Sampled: from averages over the sampler’s draws. They test what the draws are for, "
            "and all parameters at once. The rows are those of all rows whose class is least "
            "certain, the least certain first, where an error would show most; they have the "
            "labels that they have in the data."
        )
        return [] if table is None else [Section("classes", "Class probabilities", [about, table])]

    def _evidence(self) -> Section:
        table = tables.ways(self.log_evidence, self.other_evidence)
        of = "exact draws" if isinstance(self.prior, LatentClasses) else "the sampler’s draws"
        about = (
            "The same number by other ways: the sum of the log densities of each row, predicted "
            "from the rows before it, which is exact but for rounding; and by bridge sampling, "
            f"from PyMC’s joint density and {of}, with a Monte-Carlo error."
        )
        ways: list[Shown] = [] if table is None else [about, table]
        return sections.evidence(self.log_evidence, tables.evidence(self), *ways)

    def _data(self) -> Section:
        statistic, counts = self.prior.statistic(self.data), {}
        if isinstance(self.posterior, Classifier):
            labels = self.posterior.coords["class"]
            counts = dict(zip(labels, statistic.classes.counts, strict=True))
        likelihood = self.settings.get("likelihood", "rows")
        facts, first = excerpt(self.data, self.posterior, counts, likelihood)
        return sections.data([*facts, *tables.digits(self.posterior, statistic)], first)

    def _methods(self, scaled: Sensitivity | None = None) -> Section:
        about = (
            f"The posterior ({self.title}) was computed in closed form with bayesmodels "
            f"{self.versions['bayesmodels']}; its log density and the log evidence were verified "
            "against the joint density of the same model in PyMC "
            f"{self.versions.get('pymc', '')} [1] at {self.identity.points} points."
        )
        said = [about, sections.sampling(self, self.sampled), sections.judging(self)]
        return sections.methods(said, sections.JUDGED, scaled)


@canvas.style()
def pictures(report: Report) -> list[Picture]:
    """Draw all pictures of a report.

    Of hypotheses: bars, what belongs to the concept, and the predictive check. Of all else:
    densities, differences of distribution functions, ranks, traces and the predictive check; what a
    classifier, or a mixture, has learnt.
    """
    if levels(report.posterior):
        return [*hypotheses(report), predictive(report)]
    shown = figures.scalars(report.comparison, priors(report))
    return [
        *figures.of_draws(shown, float(report.settings["level"]), report.sampled),
        predictive(report),
        *learnt(report),
        *(mixtures(report) if isinstance(report.prior, LatentClasses) else []),
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


def validate_belief(model: Belief, data: Any, run: Run) -> Report:
    """Compare a belief's formulas, its PyMC model and PyMC's draws."""
    settings, rng, timed = run.settings, run.rng, run.timed
    likelihood = settings["likelihood"]
    size = {"draws": settings["draws a chain"], "chains": settings["chains"]}
    posterior = timed("posterior", "exact posterior", model.update, data)
    try:
        log_evidence = float(np.sum(model.log_evidence(data)))
    except PriorError:
        log_evidence = None

    def identified() -> tuple[Any, Identity, Diagnosis | None]:
        declared = model.declare(data, likelihood)
        found = check_identity(declared, posterior, model, log_evidence, rng=rng)
        if found.holds:
            return declared, found, None
        return declared, found, diagnose(found, declared, model, data, rng=rng)

    words = "comparing formula and PyMC model"
    declared, identity, diagnosis = timed("identity", words, identified)
    exact = timed("exact draws", "exact draws", exact_draws, model, data, rng=rng, **size)
    rows = _rows_to_compare(posterior, data)
    comparison, sampled = run.decided(
        lambda number: mcmc_draws(model, data, draws=number, likelihood=likelihood, **run.sampler),
        lambda draws, share: compare(posterior, draws, level=share, rows=rows, rng=rng),
    )
    # Chains of a mixture keep to one order of its classes; a bridge needs all of them.
    given = exact if isinstance(model, LatentClasses) else sampled
    words = "the evidence by other ways"
    others = timed("evidence", words, other_evidence, model, data, declared, given, rng)
    return Report(
        title=getattr(model, "title", type(model).__name__),
        prior=model,
        posterior=posterior,
        data=data,
        log_evidence=log_evidence,
        identity=identity,
        comparison=comparison,
        exact=exact,
        sampled=sampled,
        diagnosis=diagnosis,
        other_evidence=others,
        **run.stated(),
    )


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
