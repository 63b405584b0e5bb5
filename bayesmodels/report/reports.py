"""What was found, of each kind of thing that can be validated, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesmodels.belief.protocol import Belief
from bayesmodels.belief.values import fill
from bayesmodels.errors import PriorError
from bayesmodels.numerics.optimize import Trace
from bayesmodels.referee import Diagnosis, Identity, Verdict
from bayesmodels.referee.bridge import EvidenceEstimate
from bayesmodels.referee.verdict import LEAST_ESS, advice, stands_still, still, too_few, unmixed
from bayesmodels.report import answer
from bayesmodels.report.answer import Confusion
from bayesmodels.report.html import Reported
from bayesmodels.report.rounding import significant

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesmodels.models.logistic.laplace import LaplaceApproximation
    from bayesmodels.models.logistic.regression import LogisticRegression
    from bayesmodels.posteriors.integrated import IntegratedPosterior
    from bayesmodels.posteriors.posterior import ExactPosterior


@dataclass(frozen=True, repr=False, kw_only=True)
class Report(Reported):
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
    bridge : EvidenceEstimate or None
        The evidence by bridge sampling; None under an improper prior.
    no_bridge : str
        Why there is none of a proper one, in words.
    outcome : {"agree", "disagree", "inconclusive"}
        The verdict over all layers: identity first, then draws.
    """

    prior: Belief
    posterior: Belief
    data: Any
    log_evidence: float | None
    identity: Identity
    comparison: Verdict
    exact: xr.DataTree
    sampled: xr.DataTree
    diagnosis: Diagnosis | None = None
    bridge: EvidenceEstimate | None = None
    no_bridge: str = ""

    def __post_init__(self) -> None:
        fill(self, outcome=self.comparison.outcome if self.identity.holds else "disagree")
        head = {
            "agree": "The algebra, the PyMC model and its draws agree.",
            "disagree": "The algebra and the PyMC model agree, but the sampler's draws do not: the "
            "sampler is to blame.",
            "inconclusive": "The algebra and the PyMC model agree; the draws are too few to judge, "
            "or have not mixed.",
        }[self.outcome]
        if not self.identity.holds:
            head = "The algebra and the PyMC model do not describe the same posterior."
        blamed = [] if self.diagnosis is None else [self.diagnosis.sentence()]
        by = {}
        if self.bridge is not None:
            by["log_evidence_by_bridge"] = self.bridge.log_evidence
            by["log_evidence_by_bridge_error"] = self.bridge.error
        found = {"log_evidence": self.log_evidence, **by, "identity_holds": self.identity.holds}
        said = [head, *blamed, self.identity.sentence(), self.comparison.sentence()]
        _judge(self, said, **found, to_blame=list(self.to_blame))

    @cached_property
    def answer(self) -> Sequence[str]:
        """What the data said, in plain words."""
        return answer.of_belief(self)

    @cached_property
    def confusion(self) -> Confusion | str | None:
        """How well a classifier's rows are classified by other rows, or why that is not known."""
        return answer.confusion_of_belief(self)

    @property
    def to_blame(self) -> tuple[str, ...]:
        """What is to blame for a disagreement: terms of the formulas, or the sampler."""
        if self.diagnosis is not None:
            return self.diagnosis.terms
        return ("the sampler",) if self.identity.holds and self.outcome == "disagree" else ()


@dataclass(frozen=True, repr=False, kw_only=True)
class ModelReport(Reported):
    """What `validate` found of a PyMC model that has a closed form, or was integrated.

    Attributes
    ----------
    title : str
        Name of the model, for people.
    posterior : ExactPosterior or IntegratedPosterior
        The closed form, verified against PyMC's joint density; or what was integrated.
    reason : str
        Why there is no closed form; empty if there is one.
    source : str
        Where model and data come from, in words; may be empty.
    comparison : Verdict
        Draws of PyMC's sampler against the posterior.
    exact, sampled : xarray.DataTree
        Independent and MCMC draws with the same groups.
    settings, seconds, versions : dict
        As in `Report`.
    outcome : {"agree", "disagree", "inconclusive"}
        The verdict on the draws; without a posterior to compare them with there is no report.
    """

    posterior: ExactPosterior | IntegratedPosterior
    reason: str = ""
    comparison: Verdict
    exact: xr.DataTree
    sampled: xr.DataTree

    def __post_init__(self) -> None:
        fill(self, outcome=self.comparison.outcome)
        head, proof, found = self._integrated() if self.reason else self._in_closed_form()
        _judge(
            self,
            [head, proof, self.comparison.sentence()],
            to_blame=list(self.to_blame),
            rung=self.comparison.kind,
            explanation=self.posterior.explain(),
            **found,
            log_evidence=self.log_evidence,
        )

    def _in_closed_form(self) -> tuple[str, str, dict[str, Any]]:
        posterior = cast("ExactPosterior", self.posterior)
        seen = posterior.verification
        head = {
            "agree": "The model has a closed form, and PyMC's draws agree with it.",
            "disagree": "The model has a closed form, but PyMC's draws do not come from it: the "
            "sampler is to blame.",
            "inconclusive": "The model has a closed form; PyMC's draws are too few to judge, or "
            "have not mixed.",
        }[self.outcome]
        reach = "everywhere" if seen.settled else "at the points compared, as far as is known"
        proof = (
            f"PyMC's joint density and the closed form differ by one constant at {seen.points} "
            f"points, up to {significant(max(seen.value, seen.slope), 2)} of what rounding "
            f"explains: they are the same {reach}."
        )
        return head, proof, {"families": posterior.families, "verified": posterior.verified}

    def _integrated(self) -> tuple[str, str, dict[str, Any]]:
        head = {
            "agree": "The model was integrated numerically, and PyMC's draws agree with that.",
            "disagree": "The model was integrated numerically, but PyMC's draws do not come from "
            "that posterior: the sampler is to blame, unless the integration missed a mode.",
            "inconclusive": "The model was integrated numerically; PyMC's draws are too few to "
            "judge, or have not mixed.",
        }[self.outcome]
        error = cast("IntegratedPosterior", self.posterior).errors["log_evidence"]
        known = {"reason": self.reason, "log_evidence_error": float(error)}
        return head, self.posterior.explain(), known

    @cached_property
    def answer(self) -> Sequence[str]:
        """What the data said, in plain words."""
        return answer.of_model(self)

    @property
    def log_evidence(self) -> float | None:
        """Log density of the data; None under an improper prior."""
        try:
            return self.posterior.log_evidence
        except PriorError:
            return None

    @property
    def to_blame(self) -> tuple[str, ...]:
        """What is to blame for a disagreement: the sampler, or else a mode that was not found."""
        if self.outcome != "disagree":
            return ()
        return ("the sampler", "the integration") if self.reason else ("the sampler",)


@dataclass(frozen=True, repr=False, kw_only=True)
class DrawsReport(Reported):
    """What `validate_draws` found.

    Attributes
    ----------
    names : (str, str)
        What the two sets are called: paths, if they were files.
    comparison : Verdict
        The first set against the second.
    first, second : xarray.DataTree
        The draws; `sample_stats` too, where there are any.
    variables : tuple of str or None
        Those that were compared, if they were chosen.
    files : bool
        Whether both sets were files.
    source : str
        Where the draws come from, in words; may be empty.
    settings, seconds, versions : dict
        As in `Report`.
    outcome : {"agree", "disagree", "inconclusive"}
        The verdict on the draws.
    """

    title: str = "Two sets of draws"
    names: tuple[str, str]
    comparison: Verdict
    first: xr.DataTree
    second: xr.DataTree
    variables: tuple[str, ...] | None
    files: bool

    def __post_init__(self) -> None:
        fill(self, outcome=self.comparison.outcome, unstated=" and ".join(self.names))
        head = {
            "agree": "Either set of draws can stand for the other.",
            "disagree": "A sampler is wrong, or the two models are not the same.",
            "inconclusive": "The draws are too few to judge, or have not mixed.",
        }[self.outcome]
        if self.same:
            head = "Both sets hold the same draws, which says nothing about either."
        first, second = self.names
        found, also = self.comparison, f"First set: {first}; second set: {second}."
        _judge(
            self,
            [head, found.sentence(), f"{also} Findings speak of the first."],
            first=first,
            second=second,
            bound=_finite(found.bound),
            more=None if found.more is None else _finite(found.more),
            variables=None if self.variables is None else list(self.variables),
            left_out=list(found.left_out),
        )

    @property
    def same(self) -> bool:
        """Whether the two sets are the same draws, such as one file given twice."""
        table = self.comparison.table
        parts = ("mean", "sd", "eti89_lb", "eti89_ub")
        return all((table[f"first_{part}"] == table[f"second_{part}"]).all() for part in parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON; None for what is no finite number."""
        table = self.table.astype(object).where(np.isfinite(self.table), None)
        found = {**super().to_dict(), "table": table.to_dict(orient="index")}
        return found | {"largest_r_hat": _finite(found["largest_r_hat"])}

    def __repr__(self) -> str:
        return f"DrawsReport({self.names[0]!r}, {self.names[1]!r}, {self.outcome!r})"


@dataclass(frozen=True, repr=False, kw_only=True)
class ApproximationReport(Reported):
    """What `validate` found of a model without a closed form.

    Attributes
    ----------
    title : str
        Name of the model, for people.
    prior : LogisticRegression
        Before the data.
    approximation, posterior : LaplaceApproximation
        Of the posterior, which has no closed form.
    data : object
        The data as given.
    source : str
        Where the data come from, in words; may be empty.
    identity : Identity
        Prior times likelihood against PyMC's joint density.
    errors : pandas.DataFrame
        The approximation against the draws, in their standard deviations.
    sampled : xarray.DataTree
        Draws of PyMC's sampler.
    newton, ascent : Trace
        Ways to the posterior's mode: Newton's method, and gradient ascent with step 1 / L.
    settings, seconds, versions : dict
        As in `Report`.
    outcome : {"agree", "disagree", "inconclusive"}
        Whether formula and PyMC model agree, and the draws are good for a measurement.
    """

    prior: LogisticRegression
    approximation: LaplaceApproximation
    data: Any
    identity: Identity
    errors: pd.DataFrame
    sampled: xr.DataTree
    newton: Trace
    ascent: Trace

    def __post_init__(self) -> None:
        errors, further = self.errors, self.findings()
        outcome = "inconclusive" if further else "agree"
        fill(self, outcome=outcome if self.identity.holds else "disagree")
        head = {
            "agree": "The formula and the PyMC model agree; the approximation was measured.",
            "disagree": "The formula and the PyMC model do not describe the same posterior.",
            "inconclusive": "The formula and the PyMC model agree; the draws are too few or have "
            "not mixed, so that the approximation was measured badly.",
        }[self.outcome]
        said = [head, self.identity.sentence(), self.measured()]
        known = {
            "sentences": [*said, *further],
            "approximate_log_evidence": float(self.approximation.approximate_log_evidence),
            "identity_holds": self.identity.holds,
            "largest_z": None,
            "largest_error": float(errors["error"].abs().max()),
            "smallest_ess": float(errors["ess"].min()),
            "largest_r_hat": float(errors["r_hat"].max()),
        }
        fill(self, said=said, further=further, table=errors, known=known)

    @cached_property
    def answer(self) -> Sequence[str]:
        """What the data said, in plain words."""
        return answer.of_approximation(self)

    @cached_property
    def confusion(self) -> Confusion | str | None:
        """How well rows are classified by other rows, or why that is not known."""
        return answer.confusion_of_approximation(self)

    @property
    def posterior(self) -> LaplaceApproximation:
        """The approximation, for what is read off a law of either kind."""
        return self.approximation

    def findings(self) -> list[str]:
        """Say what keeps the draws from being good for a measurement; empty if nothing does."""
        ess, r_hat = self.errors["ess"], self.errors["r_hat"]
        if standing := [str(x) for x in ess.index if stands_still(ess[x], r_hat[x])]:
            return [still(standing)]
        few = [
            f"{x} {advice(LEAST_ESS / ess.min())}" for x in too_few(str(ess.idxmin()), ess.min())
        ]
        tune = "" if r_hat.isna().all() else " Tune longer or draw more."
        return few + [x + tune for x in unmixed(r_hat)]

    def measured(self) -> str:
        """Say in one sentence how far the approximation is from the draws."""
        worst: Any = self.errors["error"].abs().idxmax()
        error, mcse = self.errors["error"][worst], self.errors["mcse"][worst]
        low, high = self.errors["sd_ratio"].min(), self.errors["sd_ratio"].max()
        return (
            "Laplace's approximation is not the posterior: its mean is up to "
            f"{abs(error):.2g} ± {mcse:.1g} posterior standard deviations off ({worst}), and its "
            f"standard deviations are {low:.2f} to {high:.2f} times those of the draws."
        )


def _judge(report: Report | ModelReport | DrawsReport, said: Sequence[str], **found: Any) -> None:
    """Fill in what is said of a verdict on draws, and what was found beside it."""
    verdict = report.comparison
    measured = verdict.measured()
    known = {
        "sentences": [*said, *verdict.findings],
        **found,
        **{key: measured[key] for key in ("largest_z", "smallest_ess", "largest_r_hat")},
    }
    # The first finding is part of the verdict's sentence.
    fill(report, said=said, further=verdict.findings[1:], table=verdict.table, known=known)


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None
