"""Choosing between models by the evidence that the data give for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief.bambi_model import of_formula
from bayesmodels.belief.protocol import Belief, Conjugate
from bayesmodels.errors import DataError, NotConjugate
from bayesmodels.input.parameters import randomness
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm


def compare_evidence(
    models: Mapping[str, Belief | tuple[Belief, Any] | Any],
    data: Any = None,
    *,
    prior_odds: Mapping[str, float] | None = None,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    r"""Return log evidences and Bayes factors of models for the same data, the best model first.

    .. math:: \mathrm{BF}_{k} = p(x \mid M_k) / \max_j p(x \mid M_j), \qquad
        P(M_k \mid x) = P(M_k) \, p(x \mid M_k) / \textstyle\sum_j P(M_j) \, p(x \mid M_j)

    Parameters
    ----------
    models : mapping
        From a name to a prior; or to a pair of a prior and the data as this model takes them, such
        as another choice of columns for the same target, or the same rows in groups; or to a PyMC
        model, or a posterior of `exact` or `integrate`. All must describe the same observations.
    data : rows or statistic, optional
        Data of the priors that stand alone.
    prior_odds : mapping, optional
        From each name to how probable the model is beforehand, as odds: only ratios matter. All are
        equally probable if not given.
    rng : numpy.random.Generator or int, optional
        Source of randomness with which PyMC models are solved, or a seed; fresh if not given.

    Returns
    -------
    pandas.DataFrame
        Columns ``log_evidence``, ``log_bayes_factor`` (against the best, so never positive),
        ``probability`` (of the model among these), ``prior_probability``, from which the latter
        was worked out, and ``log_evidence_error``, ``log_bayes_factor_error`` and
        ``probability_error``: how far off the first three may be. ``attrs["rung"]`` says how each
        evidence is known. Beliefs have no error but rounding, which counts as none; what is in
        closed form or integrated is off by at most its error; that of weighted points is a standard
        error. Of numbers from several models, standard errors are added by their squares.

    Raises
    ------
    DataError
        If there is no model, one is of another kind, a prior stands alone and no data are given,
        `prior_odds` are not positive or have other names than the models, or
        models have other observations: another number of rows, another target, other features of a
        model that explains them, or counts added up in another way, whose coefficients don't
        cancel.
    PriorError
        If a prior is improper: its evidence has an arbitrary factor.
    NotConjugate
        If a PyMC model has neither a closed form nor an integral; `reason` names it.

    References
    ----------
    Kass and Raftery (1995), *Bayes factors*, section 3.

    Examples
    --------
    Is a coin that shows 55 heads in 100 throws fair, nearly, or anything?

    >>> import bayesmodels as bm
    >>> coin = {"nearly fair": bm.BetaBernoulli(50, 50), "anything": bm.BetaBernoulli(1, 1)}
    >>> table = compare_evidence(coin, bm.BinomialCounts(55, 100))
    >>> table[["log_evidence", "log_bayes_factor", "probability"]].round(2)
                 log_evidence  log_bayes_factor  probability
    nearly fair         -3.12              0.00         0.82
    anything            -4.62             -1.49         0.18
    """
    import pandas as pd

    if not isinstance(models, Mapping):
        raise DataError(
            "models: must be a mapping, such as {'a': model, 'b': model}; got "
            f"{type(models).__name__}."
        )
    if not models:
        raise DataError("models: must hold at least one model; got none.")
    rng, prior = randomness(rng), _prior(models, prior_odds)
    found: dict[str, _Evidence] = {}
    known: dict[str, tuple[str, float]] = {}
    for name, model in models.items():
        found[name] = _evidence(name, model, data, rng)
        _same_observations(known, name, found[name].seen)
        known = {what: (name, value) for what, value in found[name].seen.items()} | known
    order = sorted(found, key=lambda name: -found[name].log)
    log, error = np.array([(found[name].log, found[name].error) for name in order]).T
    log_posterior = log + np.log([prior[name] for name in order])
    probability = np.exp(log_posterior - logsumexp(log_posterior))
    one = np.eye(len(order))
    by_chance = np.array([found[name].rung == "weighted" for name in order])
    table = pd.DataFrame(
        {
            "log_evidence": log,
            "log_bayes_factor": log - log[0],
            "probability": probability,
            "prior_probability": [prior[name] for name in order],
            "log_evidence_error": error,
            "log_bayes_factor_error": _carried(one - one[0], error, by_chance),
            "probability_error": _carried(
                probability[:, None] * (one - probability), error, by_chance
            ),
        },
        index=order,
    )
    table.attrs["rung"] = {name: found[name].rung for name in order}
    return table


class _Evidence(NamedTuple):
    """A log evidence, how it is known, how far off it may be, and what is known of its data."""

    log: float
    rung: str
    error: float
    seen: dict[str, float]


def _prior(models: Mapping[str, Any], odds: Mapping[str, float] | None) -> dict[str, float]:
    """Return how probable each model is beforehand."""
    odds = dict.fromkeys(models, 1.0) if odds is None else odds
    numbers: list[Any] = list(odds.values()) if isinstance(odds, Mapping) else []
    right = all(isinstance(x, int | float | np.number) and 0 < x < np.inf for x in numbers)
    if not right or set(odds) != set(models):
        raise DataError(
            f"prior_odds: must be a mapping from each of {list(models)} to a positive number; got "
            f"{odds!r}."
        )
    return {name: float(odds[name] / sum(numbers)) for name in models}


def _carried(slopes: Array, errors: Array, by_chance: NDArray[np.bool_]) -> Array:
    """Return errors of numbers that have such slopes, one a row, by the log evidences."""
    parts = np.abs(slopes) * errors
    return parts[:, ~by_chance].sum(1) + np.hypot.reduce(parts[:, by_chance], 1, initial=0.0)


def _evidence(name: str, model: Any, data: Any, rng: np.random.Generator) -> _Evidence:
    """Return what is known of a model's log evidence."""
    prior, rows = model if isinstance(model, tuple) and len(model) == 2 else (model, data)  # noqa: PLR2004
    if isinstance(prior, Conjugate) and not isinstance(prior, type):
        if rows is None:
            raise DataError(
                f"data: model {name!r} has none; give data, or a pair (prior, data) for it."
            )
        statistic = prior.statistic(rows)
        return _Evidence(
            float(np.sum(prior.log_evidence(statistic))), "closed form", 0.0, statistic.seen()
        )
    try:
        posterior = _posterior(model, rng)
    except NotConjugate as no:
        raise type(no)(f"models: {name!r} has no evidence: {no.reason}", no.hint) from no
    if not hasattr(type(posterior), "log_evidence"):
        raise DataError(
            f"models: {name!r} must be a prior, a pair (prior, data), a PyMC model, or what "
            f"bm.exact or bm.integrate made of one; got {_kind(model)}."
        )
    log, error = float(posterior.log_evidence), posterior.log_evidence_error
    return _Evidence(log, posterior.rung, error, _observed(posterior.model))


def _posterior(model: Any, rng: np.random.Generator) -> Any:
    """Return the posterior of a PyMC model, in closed form or integrated; others as they are."""
    import pymc as pm

    from bayesmodels.posteriors.exact import exact
    from bayesmodels.posteriors.ladder import solved

    model = of_formula(model)
    if not isinstance(model, pm.Model):
        return model if isinstance(getattr(model, "model", None), pm.Model) else None
    return solved(model, rng)[0] if model.free_RVs else exact(model, rng=rng)


def _kind(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}: {', '.join(map(_kind, value))}"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _observed(model: pm.Model) -> dict[str, float]:
    """Return how many numbers a PyMC model observes, and their sum."""
    values = [np.ravel(model.rvs_to_values[rv].eval()) for rv in model.observed_RVs]
    return {
        "number of observed values": float(sum(x.size for x in values)),
        "sum of observed values": float(sum(x.sum() for x in values)),
    }


def _same_observations(
    known: dict[str, tuple[str, float]], name: str, seen: dict[str, float]
) -> None:
    """Refuse a model whose data differ from what is known of others', as far as statistics tell."""
    rounding = 1e-8 + 1e-14 * seen.get("number of observations", 0.0)
    for what, value in seen.items():
        before, wanted = known.get(what, (name, value))
        if not np.isclose(wanted, value, rtol=1e-8, atol=rounding):
            raise DataError(
                f"data: must be the same observations for all models; the {what} is {wanted:.10g} "
                f"for {before!r} and {value:.10g} for {name!r}. Give every model the same "
                "rows; counts as they were taken, since a model adds them up by itself."
            )
