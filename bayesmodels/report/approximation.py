"""A model without a closed form on its whole way: formula, PyMC model, draws, approximation.

The formula is prior times likelihood, which must be PyMC's joint density, constants included. The
approximation is measured against the sampler's draws, and not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.belief.reading import places
from bayesmodels.draws import mcmc_draws
from bayesmodels.numerics.optimize import Trace
from bayesmodels.referee import JointIdentity, approximation_error, check_joint
from bayesmodels.referee.verdict import (
    LARGEST_R_HAT,
    LEAST_ESS,
    Outcome,
    advice,
    effective,
    stands_still,
    still,
)
from bayesmodels.report import canvas, figures, sections, tables
from bayesmodels.report.canvas import Picture
from bayesmodels.report.excerpt import excerpt, in_short
from bayesmodels.report.html import called, to_html
from bayesmodels.report.page import Page, Part, Section, Table, columns, cut, labels, worst_first
from bayesmodels.report.rounding import powers, rounded, significant
from bayesmodels.report.run import Run
from bayesmodels.report.sensitivity import Sensitivity, estimated

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesmodels.models.logistic.laplace import LaplaceApproximation
    from bayesmodels.models.logistic.regression import LogisticRegression

_STEPS = 2000  # of gradient ascent, for a picture
_LEAST = 1e-12  # of a distance from the maximum, relative to the way: below it is rounding


@dataclass(frozen=True, repr=False)
class ApproximationReport:
    """What `validate` found of a model without a closed form.

    Attributes
    ----------
    title : str
        Name of the model, for people.
    prior : LogisticRegression
        Before the data.
    approximation : LaplaceApproximation
        Of the posterior, which has no closed form.
    data : object
        The data as given.
    source : str
        Where the data come from, in words; may be empty.
    identity : JointIdentity
        Prior times likelihood against PyMC's joint density.
    errors : pandas.DataFrame
        The approximation against the draws; see `approximation_error`.
    sampled : xarray.DataTree
        Draws of PyMC's sampler.
    newton, ascent : Trace
        Ways to the posterior's mode: Newton's method, and gradient ascent with step 1 / L.
    settings, seconds, versions : dict
        As in `Report`.
    """

    title: str
    prior: LogisticRegression
    approximation: LaplaceApproximation
    data: Any
    source: str
    identity: JointIdentity
    errors: pd.DataFrame
    sampled: xr.DataTree
    newton: Trace
    ascent: Trace
    settings: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str]

    @property
    def posterior(self) -> LaplaceApproximation:
        """The approximation, for what is read off a law of either kind."""
        return self.approximation

    @property
    def outcome(self) -> Outcome:
        """Whether formula and PyMC model agree, and the draws are good for a measurement."""
        if not self.identity.holds:
            return "disagree"
        return "inconclusive" if self.findings() else "agree"

    def findings(self) -> list[str]:
        """Say what keeps the draws from being good for a measurement; empty if nothing does."""
        errors, found = self.errors, []
        fewest, mixed = errors["ess"].min(), errors["r_hat"].max()
        standing = [
            str(label)
            for label, ess, r_hat in zip(errors.index, errors["ess"], errors["r_hat"], strict=True)
            if stands_still(ess, r_hat)
        ]
        if standing:
            return [still(standing)]
        if fewest < LEAST_ESS:
            found.append(
                f"{errors['ess'].idxmin()} has {effective(fewest)}; at least {LEAST_ESS:.0f} are "
                f"needed. {advice(LEAST_ESS / fewest)}"
            )
        if errors["r_hat"].isna().all():
            found.append("there is only one chain, and none to compare it with. Run four.")
        elif not mixed <= LARGEST_R_HAT:
            found.append(
                f"the chains have not mixed: R-hat of {errors['r_hat'].idxmax()} is "
                f"{mixed:.3f}, above {LARGEST_R_HAT}. Tune longer or draw more."
            )
        return found

    def measured(self) -> str:
        """Say in one sentence how far the approximation is from the draws."""
        worst = self.errors["error"].abs().idxmax()
        at = self.errors.index.get_loc(worst)
        error, mcse = self.errors[["error", "mcse"]].to_numpy(dtype=float)[at]
        low, high = self.errors["sd_ratio"].min(), self.errors["sd_ratio"].max()
        return (
            "Laplace's approximation is not the posterior: its mean is up to "
            f"{abs(error):.2g} ± {mcse:.1g} posterior standard deviations off ({worst}), and its "
            f"standard deviations are {low:.2f} to {high:.2f} times those of the draws."
        )

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""
        head = {
            "agree": "The formula and the PyMC model agree; the approximation was measured.",
            "disagree": "The formula and the PyMC model do not describe the same posterior.",
            "inconclusive": "The formula and the PyMC model agree; the draws are too few or have "
            "not mixed, so that the approximation was measured badly.",
        }
        return [head[self.outcome], self.identity.sentence(), self.measured()]

    to_html = to_html
    __repr__ = called

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for JSON."""
        return {
            "title": self.title,
            "source": self.source,
            "outcome": self.outcome,
            "sentences": [*self.sentences(), *self.findings()],
            "approximate_log_evidence": float(self.approximation.approximate_log_evidence),
            "identity_holds": self.identity.holds,
            "largest_z": None,
            "largest_error": float(self.errors["error"].abs().max()),
            "smallest_ess": float(self.errors["ess"].min()),
            "largest_r_hat": float(self.errors["r_hat"].max()),
            "table": self.errors.to_dict(orient="index"),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _repr_html_(self) -> str:
        said, further = self.sentences(), self.findings()
        return notebook.judged(self.title, self.outcome, said, further, self.errors)

    def page(self, command: str = "") -> Page:
        """Return what the report shows, and the command line that makes it again, if any."""
        errors, prior = self.errors, in_short(self.prior)
        scaled = estimated(self.approximation, self.sampled, list(errors.index))
        said = [] if scaled is None or not scaled.summary else [scaled.summary]
        again = sections.call("validate", ["prior", "data"], self.settings)
        return Page(
            source=self.source or sections.NO_SOURCE,
            sentences=[*self.sentences(), *said],
            findings=self.findings(),
            glance=[
                ("largest error, s.d.", rounded(float(errors["error"].abs().max()), 2)),
                ("narrowest, s.d. ratio", rounded(float(errors["sd_ratio"].min()), 2)),
                *tables.mixed(errors["ess"], errors["r_hat"]),
                *tables.divergences(self.sampled),
            ],
            sections=[
                Section("model", "Model", [Part("equations", self.prior.equations)]),
                *self._compared(),
                *([] if scaled is None else [scaled.section()]),
                sections.pictures(pictures(self), len(errors), "error"),
                self._data(),
                self._methods(scaled),
                sections.made(self, command, again, "prior", "data", prior=f"prior = {prior}"),
            ],
        )

    def _compared(self) -> list[Section]:
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
        found, log_evidence = self.identity, self.approximation.approximate_log_evidence
        facts = [
            ("Points compared", str(found.points)),
            ("Rounding bound of the difference", powers(found.bound, 1)),
            ("Difference of log densities", tables.share(found.value)),
            ("Difference of slopes", tables.share(found.slope)),
            ("Log evidence, Laplace’s approximation", rounded(log_evidence, 3)),
        ]
        title, identity = "Approximate and sampled posterior", "Identity and approximate evidence"
        return [
            Section("parameters", "Prior and approximation", [before, parameters(self)]),
            Section("comparison", title, [after, comparison(self.errors)]),
            Section("evidence", identity, [densities, Part("facts", facts)]),
        ]

    def _data(self) -> Section:
        counts = dict(zip(self.prior.classes, self.prior.class_counts(self.data), strict=True))
        likelihood = self.settings["likelihood"]
        facts, first = excerpt(self.data, self.approximation, counts, likelihood)
        return sections.data([*facts, *tables.digits(self.approximation)], first)

    def _methods(self, scaled: Sensitivity | None = None) -> Section:
        about = (
            f"The posterior ({self.title}) was approximated by Laplace's method [4] with "
            f"bayesmodels {self.versions['bayesmodels']}; the log density was verified against a "
            f"PyMC {self.versions.get('pymc', '')} [1] model at {self.identity.points} points."
        )
        end = (
            "Means of the approximation differ from those of the draws by at most "
            f"{float(self.errors['error'].abs().max()):.2g} posterior standard deviations."
        )
        said = [about, sections.sampling(self, self.sampled), end]
        return sections.methods(said, sections.MEASURED, scaled)


def parameters(report: ApproximationReport) -> Table:
    """Return mean and standard deviation of the prior, and those of the approximation."""
    prior, near = report.prior.marginals()["w"], report.approximation.marginals()["w"]
    rows = [text for text, _ in places(report.approximation, "w", np.shape(near.mean()))]
    found = (
        labels(rows),
        tables.numbers("prior", prior.mean(), "Mean"),
        tables.numbers("mode", near.mean(), "Mean"),
        tables.numbers("prior", prior.std(), "Standard deviation"),
        tables.numbers("approximate", near.std(), "Standard deviation"),
    )
    return cut(Table("Weights", found))


def comparison(errors: pd.DataFrame) -> Table:
    """Return approximate beside sampled values, one row a weight, of many the worst first."""
    errors = worst_first(errors, "error")
    digits, fine = tables.places_of(errors["sampled_sd"], 3), tables.places_of(errors["mcse"], 2)
    found = columns(
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
    table = Table("Laplace’s approximation against sampled", tuple(found), alone=True)
    return cut(table, "those with the largest error")


@canvas.style()
def pictures(report: ApproximationReport) -> list[Picture]:
    """Draw densities, the ways to the mode, ranks and traces."""
    shown = figures.of_law(report.approximation, report.sampled, report.errors["error"].abs())
    return [
        Picture(
            "density",
            "Laplace’s approximation over the draws",
            tuple(figures.density(scalar, exact=False) for scalar in shown),
            "Filled: histogram of PyMC's draws. Dashed: the density of the approximation. Where "
            "they part, the approximation is off.",
        ),
        _ways(report),
        figures.ranks(shown, float(report.settings["level"])),
        figures.traces(shown, report.sampled),
    ]


def _ways(report: ApproximationReport) -> Picture:
    """Draw how far below the maximum the log joint density is after each step."""
    axes = canvas.axes_of((canvas.WIDE, canvas.SIZE[1]))
    best = min(report.newton.loss.min(), report.ascent.loss.min())
    words = []
    for name, trace, colour, mark in (
        ("Newton", report.newton, canvas.BLUE, "o-"),
        ("gradient", report.ascent, canvas.ORANGE, "-"),
    ):
        gap = trace.loss - best
        seen = gap > _LEAST * max(float(trace.loss[0] - best), 1.0)
        axes.plot(np.flatnonzero(seen) + 1, gap[seen], mark, color=colour, ms=3, label=name)
        state = "arrived" if trace.converged else f"still {significant(float(gap[-1]), 2)} below"
        words.append(f"{name}: {len(trace.step):,} steps, {state}")
    axes.set(xscale="log", yscale="log", ylabel="below the maximum")
    axes.set_xlabel("point, the start being the first")
    axes.legend(frameon=False)
    return canvas.picture(
        "ways",
        "Ways to the mode",
        axes,
        "How far the log joint density is below its maximum, after each step of Newton's method "
        f"and of gradient ascent ({report.ascent.rule}). {'; '.join(words)}.",
        f"Log joint density below its maximum, after each step. {'; '.join(words)}.",
    )


def validate_approximation(model: LogisticRegression, data: Any, run: Run) -> ApproximationReport:
    """Check a model without a closed form, and measure its Laplace approximation."""
    timed, how = run.timed, {"likelihood": run.settings["likelihood"]} | run.sampler
    near = timed("approximation", "mode and curvature", model.laplace, data)
    way = "gradient ascent"
    ascent = timed(way, way, model.ascend, data, of="posterior", most=_STEPS)
    words = "comparing formula and PyMC model"
    identity = timed("identity", words, check_joint, model, data, rng=run.rng)
    draws = run.settings["draws a chain"]
    sampled = run.sampled(lambda number: mcmc_draws(model, data, draws=number, **how), draws)
    errors = timed("comparison", "measuring the approximation", approximation_error, near, sampled)
    return ApproximationReport(
        title=model.title,
        prior=model.met(data),
        approximation=near,
        data=data,
        identity=identity,
        errors=errors,
        sampled=sampled,
        newton=model.map(data).trace,
        ascent=ascent,
        **run.stated(),
    )
