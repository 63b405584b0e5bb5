"""A model without a closed form on its whole way: formula, PyMC model, draws, approximation.

The formula is prior times likelihood, which must be PyMC's joint density, constants included. The
approximation is measured against the sampler's draws, and not judged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.draws import mcmc_draws
from bayesmodels.models.logistic.laplace import LaplaceApproximation
from bayesmodels.models.logistic.regression import LogisticRegression
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

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_STEPS = 2000  # of gradient ascent, for a picture


@dataclass(frozen=True)
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

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML file, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file to write; its folder must exist.
        """
        from bayesmodels.report.html import write

        write(self, path)

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

    def __repr__(self) -> str:
        return f"ApproximationReport({self.title!r}, {self.outcome!r})"


def validate_approximation(
    model: LogisticRegression,
    data: Any,
    settings: dict[str, Any],
    rng: np.random.Generator,
    versions: dict[str, str],
    *,
    source: str,
    progress: Callable[[str], object],
) -> ApproximationReport:
    """Check a model without a closed form, and measure its Laplace approximation.

    Parameters
    ----------
    model : LogisticRegression
        The prior.
    data : as in the model's `declare`
        Rows.
    settings : dict
        Of the sampler, as the report states them.
    rng : numpy.random.Generator
        Source of randomness.
    versions : dict
        What the report states.
    source : str
        Where the data come from.
    progress : callable
        Told, in words, what is being done.
    """
    seconds: dict[str, float] = {}

    def timed(part: str, words: str, work: Callable[[], Any]) -> Any:
        progress(words)
        start = time.perf_counter()
        result = work()
        seconds[part] = time.perf_counter() - start
        return result

    near = timed("approximation", "mode and curvature", lambda: model.laplace(data))
    ascent = timed(
        "gradient ascent",
        "gradient ascent",
        lambda: model.ascend(data, of="posterior", most=_STEPS),
    )
    identity = timed(
        "identity",
        "comparing formula and PyMC model",
        lambda: check_joint(model, data, rng=rng),
    )
    sampled = timed(
        "sampling",
        "compiling and sampling the PyMC model",
        lambda: mcmc_draws(
            model,
            data,
            draws=settings["draws a chain"],
            tune=settings["tuning steps a chain"],
            chains=settings["chains"],
            likelihood=settings["likelihood"],
            rng=rng,
        ),
    )
    errors = timed(
        "comparison", "measuring the approximation", lambda: approximation_error(near, sampled)
    )
    return ApproximationReport(
        title=model.title,
        prior=model.met(data),
        approximation=near,
        data=data,
        source=source,
        identity=identity,
        errors=errors,
        sampled=sampled,
        newton=model.map(data).trace,
        ascent=ascent,
        settings=settings,
        seconds=seconds,
        versions=versions,
    )
