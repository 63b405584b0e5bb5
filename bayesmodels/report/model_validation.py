"""A PyMC model of a user's own: its closed form, PyMC's draws, and the referee's verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief import notebook
from bayesmodels.errors import NotConjugate, PriorError
from bayesmodels.referee import Verdict, compare
from bayesmodels.referee.sequential import AGAIN, decide
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report.rounding import significant

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesmodels.posteriors.posterior import ExactPosterior

_INSTEAD = (
    "integrate out what has a closed form given the rest, bm.exact(model, partial=True); or "
    "compare the draws of two samplers, bm.validate_draws(bm.sample(model), "
    'bm.sample(model, nuts_sampler="pymc"))'
)


@dataclass(frozen=True)
class ModelReport:
    """What `validate` found of a PyMC model that has a closed form.

    Attributes
    ----------
    title : str
        Name of the model, for people.
    posterior : ExactPosterior
        The closed form, verified against PyMC's joint density.
    source : str
        Where model and data come from, in words; may be empty.
    comparison : Verdict
        Draws of PyMC's sampler against the closed form.
    exact, sampled : xarray.DataTree
        Exact and MCMC draws with the same groups.
    settings, seconds, versions : dict
        As in `Report`.
    """

    title: str
    posterior: ExactPosterior
    source: str
    comparison: Verdict
    exact: xr.DataTree
    sampled: xr.DataTree
    settings: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str]

    @property
    def log_evidence(self) -> float | None:
        """Log density of the data; None under an improper prior."""
        try:
            return self.posterior.log_evidence
        except PriorError:
            return None

    @property
    def outcome(self) -> Outcome:
        """The verdict on the draws; without a verified closed form there is no report."""
        return self.comparison.outcome

    @property
    def to_blame(self) -> tuple[str, ...]:
        """What is to blame for a disagreement: the sampler, since the closed form is verified."""
        return ("the sampler",) if self.outcome == "disagree" else ()

    def sentences(self) -> list[str]:
        """Say the verdict in words, the most important first."""
        head = {
            "agree": "The model has a closed form, and PyMC's draws agree with it.",
            "disagree": "The model has a closed form, but PyMC's draws do not come from it: the "
            "sampler is to blame.",
            "inconclusive": "The model has a closed form; PyMC's draws are too few to judge, or "
            "have not mixed.",
        }
        seen = self.posterior.verification
        reach = "everywhere" if seen.settled else "at the points compared, as far as is known"
        proof = (
            f"PyMC's joint density and the closed form differ by one constant at {seen.points} "
            f"points, up to {significant(max(seen.value, seen.slope), 2)} of what rounding "
            f"explains: they are the same {reach}."
        )
        return [head[self.outcome], proof, self.comparison.sentence()]

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
        table = self.comparison.table
        return {
            "title": self.title,
            "source": self.source,
            "outcome": self.outcome,
            "to_blame": list(self.to_blame),
            "sentences": [*self.sentences(), *self.comparison.findings],
            "explanation": self.posterior.explain(),
            "families": self.posterior.families,
            "verified": self.posterior.verified,
            "log_evidence": self.log_evidence,
            "largest_z": self.comparison.largest.z,
            "smallest_ess": min(test.ess for test in self.comparison.tests),
            "largest_r_hat": float(table["r_hat"].max()),
            "table": table.to_dict(orient="index"),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _repr_html_(self) -> str:
        said, further = self.sentences(), self.comparison.findings[1:]
        return notebook.judged(self.title, self.outcome, said, further, self.comparison.table)

    def __repr__(self) -> str:
        return f"ModelReport({self.title!r}, {self.outcome!r})"


def validate_model(
    model: pm.Model,
    settings: dict[str, Any],
    rng: np.random.Generator,
    versions: dict[str, str],
    *,
    source: str,
    progress: Callable[[str], object],
) -> ModelReport:
    """Find a PyMC model's closed form, and compare its sampler's draws with it.

    Parameters
    ----------
    model : pymc.Model
        Any model.
    settings : dict
        Of the sampler, as the report states them.
    rng : numpy.random.Generator
        Source of randomness.
    versions : dict
        What the report states.
    source : str
        Where model and data come from.
    progress : callable
        Told, in words, what is being done.

    Raises
    ------
    NotConjugate
        If there is no closed form to compare with; its hint says what can be done instead.
    """
    from bayesmodels.posteriors.exact import exact
    from bayesmodels.posteriors.sampling import exact_tree, sampled

    seconds: dict[str, float] = {}

    def timed(part: str, words: str, work: Callable[[], Any]) -> Any:
        progress(words)
        start = time.perf_counter()
        result = work()
        seconds[part] = seconds.get(part, 0.0) + time.perf_counter() - start
        return result

    draws, chains = settings["draws a chain"], settings["chains"]
    try:
        posterior = timed("closed form", "closed form", lambda: exact(model, rng=rng))
    except NotConjugate as no:
        hint = f"{no.hint}; {_INSTEAD}" if no.hint else _INSTEAD
        raise NotConjugate(no.reason, hint) from None
    drawn = timed("exact draws", "exact draws", lambda: exact_tree(posterior, draws, chains, rng))

    def sample(number: int) -> Any:
        return timed(
            "sampling",
            "compiling and sampling the PyMC model",
            lambda: sampled(
                model,
                number,
                rng,
                tune=settings["tuning steps a chain"],
                chains=chains,
                progressbar=False,
                quiet=True,
                compute_convergence_checks=False,
            ),
        )

    def judge(given: Any, share: float) -> Verdict:
        return timed(
            "comparison",
            "comparing draws",
            lambda: compare(posterior, given, level=share, rng=rng),
        )

    comparison, from_pymc, number = decide(sample, judge, draws, settings["level"], progress)
    if number != draws:
        settings[AGAIN] = number
    return ModelReport(
        title=model.name or "PyMC model",
        posterior=posterior,
        source=source,
        comparison=comparison,
        exact=drawn,
        sampled=from_pymc,
        settings=settings,
        seconds=seconds,
        versions=versions,
    )
