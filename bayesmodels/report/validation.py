"""Put a model of any kind through the whole way, from its data to a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayesmodels.belief.declaring import is_pymc, likelihood_of
from bayesmodels.belief.protocol import Approximable, Belief, Likelihood
from bayesmodels.errors import DataError
from bayesmodels.input.draws import LEAST_DRAWS
from bayesmodels.input.parameters import count, randomness
from bayesmodels.referee.scalars import LEAST_CHAINS
from bayesmodels.report.approximation import validate_approximation
from bayesmodels.report.belief_validation import validate_belief
from bayesmodels.report.html import Report
from bayesmodels.report.model_validation import validate_model
from bayesmodels.report.run import Run

if TYPE_CHECKING:
    import pymc as pm

    from bayesmodels.models.logistic.regression import LogisticRegression

_PACKAGES = ("numpy", "scipy", "pymc", "nutpie", "arviz", "xarray", "pandas")


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
) -> Report:
    """Check a model's posterior three ways: formula, PyMC declaration, and PyMC's draws.

    Of a model without a closed form, the formula is prior times likelihood; its Laplace
    approximation is measured against the draws, not judged. Of a PyMC model of your own, the
    formula is what `exact` finds, verified against the model's joint density; without a closed form
    it is what `integrate` makes, and the report says how far off that may be.

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
    Report
        With `outcome`, `sentences` and `to_html`.

    Raises
    ------
    NotConjugate
        If a PyMC model has no closed form and can't be integrated, so that there is nothing to
        compare with; the message says what to do instead.
    DataError
        If data are missing, or given beside a PyMC model; if there are fewer than two chains, or
        than eight draws in each.

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
        "draws a chain": count(draws, "draws", LEAST_DRAWS),
        "tuning steps a chain": tune,
        "chains": count(chains, "chains", LEAST_CHAINS),
        "likelihood": likelihood or likelihood_of(model, data),
        "level": level,
        "seed": "not given" if seed is None else seed,
    }
    run = Run(settings, _PACKAGES, source, progress, generator)
    if is_pymc(model):
        if data is not None or likelihood is not None:
            raise DataError(
                "data, likelihood: a PyMC model holds its own; validate it without them."
            )
        del settings["likelihood"]
        return validate_model(model, run)
    if data is None:
        raise DataError(
            "data: must be given, unless the model is a PyMC model, which holds its own."
        )
    if isinstance(model, Approximable):
        return validate_approximation(cast("LogisticRegression", model), data, run)
    return validate_belief(model, data, run)
