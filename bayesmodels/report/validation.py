"""Put a model through the whole way: rows, statistic, belief, draws, referee, report."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from bayesmodels import __version__
from bayesmodels.belief import notebook
from bayesmodels.belief.declaring import likelihood_of
from bayesmodels.belief.protocol import Belief, Likelihood
from bayesmodels.draws import exact_draws, mcmc_draws
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import MultinomialCounts, Weighted, paired, randomness
from bayesmodels.models.logistic.regression import LogisticRegression
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.referee import Diagnosis, Identity, Verdict, check_identity, compare, diagnose
from bayesmodels.referee.class_probabilities import telling_rows
from bayesmodels.referee.evidence_routes import OtherEvidence, other_evidence
from bayesmodels.referee.sequential import AGAIN, decide
from bayesmodels.referee.verdict import Outcome
from bayesmodels.report.approximation import ApproximationReport, validate_approximation
from bayesmodels.report.model_validation import ModelReport, validate_model

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

_PACKAGES = ("numpy", "scipy", "pymc", "nutpie", "arviz", "xarray", "pandas")


@dataclass(frozen=True)
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
            "sentences": [*self.sentences(), *self.comparison.findings],
            "log_evidence": self.log_evidence,
            **self._evidence(),
            "identity_holds": self.identity.holds,
            "to_blame": list(self.to_blame),
            "largest_z": self.comparison.largest.z,
            "smallest_ess": min(test.ess for test in self.comparison.tests),
            "largest_r_hat": float(table["r_hat"].max()),
            "table": table.to_dict(orient="index"),
            "settings": self.settings,
            "versions": self.versions,
        }

    def _evidence(self) -> dict[str, float]:
        """Return the evidence by other ways."""
        found, values = self.other_evidence, {}
        if found is not None and found.chain is not None:
            values["log_evidence_by_chain"] = found.chain
        if found is not None and found.estimate is not None:
            values["log_evidence_by_bridge"] = found.estimate.log_evidence
            values["log_evidence_by_bridge_error"] = found.estimate.error
        return values

    def _repr_html_(self) -> str:
        said, further = self.sentences(), self.comparison.findings[1:]
        return notebook.judged(self.title, self.outcome, said, further, self.comparison.table)

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {self.outcome!r})"


class Settings(TypedDict, total=False):
    """What `validate` may be told besides model and data."""

    draws: int
    tune: int
    chains: int
    likelihood: Likelihood | None
    level: float
    rng: np.random.Generator | int | None
    source: str
    progress: Callable[[str], object]


class ModelSettings(TypedDict, total=False):
    """What `validate` may be told besides a PyMC model."""

    draws: int
    tune: int
    chains: int
    level: float
    rng: np.random.Generator | int | None
    source: str
    progress: Callable[[str], object]


@overload
def validate(model: Belief, data: Any, **settings: Unpack[Settings]) -> Report: ...
@overload
def validate(
    model: LogisticRegression, data: Any, **settings: Unpack[Settings]
) -> ApproximationReport: ...
@overload
def validate(model: pm.Model, **settings: Unpack[ModelSettings]) -> ModelReport: ...
def validate(
    model: Belief | LogisticRegression | pm.Model,
    data: Any = None,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    likelihood: Likelihood | None = None,
    level: float = 0.01,
    rng: np.random.Generator | int | None = None,
    source: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> Report | ApproximationReport | ModelReport:
    """Check a model's posterior three ways: formula, PyMC declaration, and PyMC's draws.

    Of a model without a closed form, the formula is prior times likelihood; its Laplace
    approximation is measured against the draws, not judged. Of a PyMC model of your own, the
    formula is what `exact` finds, verified against the model's joint density.

    Parameters
    ----------
    model : Belief, LogisticRegression or pymc.Model
        The prior; or a PyMC model, which holds its own data.
    data : rows or statistic
        As in the model's `declare`; not with a PyMC model.
    draws, tune, chains : int
        Settings of the sampler. If so many draws leave the verdict open, the sampler runs once
        more with as many as should decide it, at most ten times as many.
    likelihood : {"rows", "statistic"}, optional
        How the data are declared in PyMC; not with a PyMC model. By default their statistic if
        there are more than 10,000 rows, as in `declare`; the report says which.
    level : float, default 0.01
        Probability of ``disagree`` when nothing is wrong.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed, which the report then states.
    source : str, optional
        Where the data come from; stands in the report.
    progress : callable, optional
        Told, in words, what is being done.

    Returns
    -------
    Report, ApproximationReport or ModelReport
        With `outcome`, `sentences` and `to_html`; the second for a logistic regression, the last
        for a PyMC model.

    Raises
    ------
    NotConjugate
        If a PyMC model has no closed form to compare with; the message says what to do instead.
    DataError
        If data are missing, or given beside a PyMC model.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> report = bm.validate(bm.BetaBernoulli(1, 1), [1, 0, 1, 1], rng=1)
    >>> report.outcome
    'agree'
    """
    seed = rng if isinstance(rng, int) else None
    generator = randomness(rng)
    settings: dict[str, Any] = {
        "draws a chain": draws,
        "tuning steps a chain": tune,
        "chains": chains,
        "likelihood": likelihood or likelihood_of(model, data),
        "level": level,
        "seed": "not given" if seed is None else seed,
    }
    versions = {"bayesmodels": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in _PACKAGES}
    if _from_pymc(model):
        if data is not None or likelihood is not None:
            msg = "data, likelihood: a PyMC model holds its own; validate it without them."
            raise DataError(msg)
        del settings["likelihood"]
        return validate_model(
            model, settings, generator, versions, source=source, progress=progress
        )
    if data is None:
        msg = "data: must be given, unless the model is a PyMC model, which holds its own."
        raise DataError(msg)
    if isinstance(model, LogisticRegression):
        return validate_approximation(
            model, data, settings, generator, versions, source=source, progress=progress
        )
    seconds: dict[str, float] = {}

    def timed(part: str, words: str, work: Callable[[], Any]) -> Any:
        progress(words)
        start = time.perf_counter()
        result = work()
        seconds[part] = seconds.get(part, 0.0) + time.perf_counter() - start
        return result

    posterior = timed("posterior", "exact posterior", lambda: model.update(data))
    try:
        log_evidence = float(np.sum(model.log_evidence(data)))
    except PriorError:
        log_evidence = None
    declared, identity, diagnosis = timed(
        "identity",
        "comparing formula and PyMC model",
        lambda: _identified(
            model.declare(data, settings["likelihood"]),
            posterior,
            model,
            data,
            log_evidence,
            generator,
        ),
    )
    exact = timed(
        "exact draws",
        "exact draws",
        lambda: exact_draws(model, data, draws=draws, chains=chains, rng=generator),
    )
    rows = _rows_to_compare(posterior, data)

    def sample(number: int) -> Any:
        return timed(
            "sampling",
            "compiling and sampling the PyMC model",
            lambda: mcmc_draws(
                model,
                data,
                draws=number,
                tune=tune,
                chains=chains,
                likelihood=settings["likelihood"],
                rng=generator,
            ),
        )

    def judge(sampled: Any, share: float) -> Verdict:
        return timed(
            "comparison",
            "comparing draws",
            lambda: compare(posterior, sampled, level=share, rows=rows, rng=generator),
        )

    comparison, sampled, number = decide(sample, judge, draws, level, progress)
    if number != draws:
        settings[AGAIN] = number
    # Chains of a mixture keep to one order of its classes; a bridge needs all of them.
    given = exact if isinstance(model, NaiveBayesMixture) else sampled
    others = timed(
        "evidence",
        "the evidence by other ways",
        lambda: other_evidence(model, data, declared, given, generator),
    )
    return Report(
        title=getattr(model, "title", type(model).__name__),
        prior=model,
        posterior=posterior,
        data=data,
        source=source,
        log_evidence=log_evidence,
        identity=identity,
        comparison=comparison,
        exact=exact,
        sampled=sampled,
        settings=settings,
        seconds=seconds,
        versions=versions,
        diagnosis=diagnosis,
        other_evidence=others,
    )


def _identified(
    declared: pm.Model,
    posterior: Belief,
    prior: Belief,
    data: Any,
    log_evidence: float | None,
    rng: np.random.Generator,
) -> tuple[pm.Model, Identity, Diagnosis | None]:
    """Compare formulas and declaration, and find out what is to blame if they differ."""
    found = check_identity(declared, posterior, prior, log_evidence, rng=rng)
    if found.holds:
        return declared, found, None
    return declared, found, diagnose(found, declared, prior, data, rng=rng)


def _from_pymc(model: Any) -> bool:
    """Say whether this is a PyMC model, without loading PyMC to find out that it is not."""
    pymc = sys.modules.get("pymc")
    return pymc is not None and isinstance(model, pymc.Model)


def _rows_to_compare(posterior: Any, data: Any) -> Any:
    """Return rows whose probabilities are worth comparing; None if there are none."""
    if isinstance(posterior, NaiveBayesMixture):
        return data if posterior.exchangeable else None
    if not hasattr(posterior, "class_probabilities") or hasattr(data, "without_rows"):
        return None
    design = paired(data.rows if isinstance(data, Weighted) else data)
    features = wrapped(design.features, "features")
    if hasattr(features, "to_pandas"):
        features = features.to_pandas()
    elif isinstance(features, MultinomialCounts) or not isinstance(features, np.ndarray):
        return None
    else:
        import pandas as pd

        features = (pd.DataFrame if features.ndim > 1 else pd.Series)(features)
    if not features.index.is_unique:
        features = features.reset_index(drop=True)
    return telling_rows(posterior, features) if len(features) else None
