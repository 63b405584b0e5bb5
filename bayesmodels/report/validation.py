"""From a model and its data, or from two sets of draws, to a report: posterior, draws, verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.declaring import is_pymc, likelihood_of
from bayesmodels.belief.protocol import Approximable, Belief, Likelihood
from bayesmodels.errors import DataError
from bayesmodels.input.draws import LEAST_DRAWS
from bayesmodels.input.parameters import count, randomness
from bayesmodels.referee.scalars import LEAST_CHAINS
from bayesmodels.referee.verdict import TOLERANCE
from bayesmodels.report import (
    approximation,
    belief_validation,
    contents,
    draws_validation,
    model_validation,
)
from bayesmodels.report.html import Report
from bayesmodels.report.run import Run

if TYPE_CHECKING:
    import pymc as pm

    from bayesmodels.models.logistic.regression import LogisticRegression

_PACKAGES = ("numpy", "scipy", "pymc", "nutpie", "arviz", "xarray", "pandas")
_OF_DRAWS = ("numpy", "scipy", "arviz", "xarray")


def validate(
    model: Belief | LogisticRegression | pm.Model,
    data: Any = None,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    likelihood: Likelihood | None = None,
    ordered: bool = True,
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
        Settings of the sampler; with ``draws=0`` nothing is sampled, and a logistic regression is
        integrated. If so many draws leave the verdict open, the sampler runs once
        more with as many as should decide it, at most ten times as many.
    likelihood : {"rows", "statistic"}, optional
        How the data are declared in PyMC; not with a PyMC model. By default their statistic if
        there are more than 10,000 rows, as in `declare`; the report says which.
    ordered : bool, default True
        Whether the order of the rows may mean something; see `check_fit`.
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
    model = of_formula(model)
    seed = rng if isinstance(rng, int) else None
    generator = randomness(rng)
    settings: dict[str, Any] = {
        "draws a chain": 0 if draws == 0 else count(draws, "draws", LEAST_DRAWS),
        "tuning steps a chain": tune,
        "chains": count(chains, "chains", LEAST_CHAINS),
        "likelihood": likelihood or likelihood_of(model, data),
        "level": level,
        "seed": "not given" if seed is None else seed,
    }
    run = Run(settings, _PACKAGES, source, progress, generator, ordered=ordered)
    kind: Any = belief_validation
    if is_pymc(model):
        if data is not None or likelihood is not None:
            raise DataError(
                "data, likelihood: a PyMC model holds its own; validate it without them."
            )
        del settings["likelihood"]
        kind = model_validation
    elif data is None:
        raise DataError(
            "data: must be given, unless the model is a PyMC model, which holds its own."
        )
    elif isinstance(model, Approximable):
        kind = approximation if draws else model_validation
    return contents.report(kind, run, **kind.validated(model, data, run))


def validate_draws(
    first: Any,
    second: Any,
    *,
    var_names: Sequence[str] | None = None,
    level: float = 0.01,
    tolerance: float = TOLERANCE,
    names: tuple[str, str] | None = None,
    source: str = "",
    progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Compare two sets of draws of one posterior, of any samplers or libraries, as a report.

    What is compared, and how, is `bayesmodels.compare`'s; ``bayesmodels compare`` is the same on
    the command line.

    Parameters
    ----------
    first, second : path-like, xarray.DataTree, xarray.Dataset or mapping
        Files of draws (netCDF-4 or zarr; DataTree or the older InferenceData), or draws in memory:
        a group ``posterior``, or variables with the axes (chain, draw, ...).
    var_names : sequence of str, optional
        The variables to be compared; if not given, those that both sets have.
    level : float, default 0.01
        Probability of ``disagree`` if both sets come from one law.
    tolerance : float, default 0.1
        To agree, all locations must be within so many standard deviations of each other, and all
        spreads within that part of each other, at 95 % confidence each.
    names : (str, str), optional
        What the sets are called; of files, their paths.
    source : str, optional
        Where the draws come from; stands in the report.
    progress : callable, optional
        Told, in words, what is being done.

    Returns
    -------
    Report
        With `outcome`, `sentences`, `to_html` and `comparison`, the verdict.

    Raises
    ------
    DataError
        If a file is missing, can't be read or holds no draws of a posterior, or as `compare` does.

    See Also
    --------
    bayesmodels.compare : the verdict alone, also on draws against an exact law.

    Examples
    --------
    >>> import bayesmodels as bm, numpy as np
    >>> law = bm.BetaBernoulli(5, 19)
    >>> one, other = (law.to_datatree(rng=np.random.default_rng(seed)) for seed in (1, 2))
    >>> report = bm.validate_draws(one, other)
    >>> report.outcome
    'agree'
    >>> report.sentences()[0]
    'Either set of draws can stand for the other.'
    """
    run = Run({"level": level, "tolerance": tolerance}, _OF_DRAWS, source, progress)
    parts = draws_validation.validated(first, second, var_names, run)
    return contents.report(draws_validation, run, **parts | ({"names": names} if names else {}))
