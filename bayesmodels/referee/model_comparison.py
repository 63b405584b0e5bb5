"""Choosing between models by the evidence that the data give for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Belief, Conjugate
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import randomness

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm


def compare_evidence(
    models: Mapping[str, Belief | tuple[Belief, Any] | Any],
    data: Any = None,
    *,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    r"""Return log evidences and Bayes factors of models for the same data, the best model first.

    .. math:: \mathrm{BF}_{k} = p(x \mid M_k) / \max_j p(x \mid M_j), \qquad
        P(M_k \mid x) = p(x \mid M_k) / \textstyle\sum_j p(x \mid M_j)

    Parameters
    ----------
    models : mapping
        From a name to a prior; or to a pair of a prior and the data as this model takes them, such
        as another choice of columns for the same target, or the same rows in groups; or to a PyMC
        model, or a posterior of `exact` or `integrate`. All must describe the same observations.
    data : rows or statistic, optional
        Data of the priors that stand alone.
    rng : numpy.random.Generator or int, optional
        Source of randomness with which PyMC models are solved, or a seed; fresh if not given.

    Returns
    -------
    pandas.DataFrame
        Columns ``log_evidence``, ``log_bayes_factor`` (against the best, so never positive) and
        ``probability`` (of the model among these, each as probable as the others beforehand).

    Raises
    ------
    DataError
        If there is no model, one is of another kind, a prior stands alone and no data are given, or
        models have other observations: another number of rows, another target, other features of a
        model that explains them, or counts added up in another way, whose coefficients don't
        cancel.
    PriorError
        If a prior is improper: its evidence has an arbitrary factor.
    NotConjugate
        If a PyMC model can be integrated neither in closed form nor on lattices.

    References
    ----------
    Kass and Raftery (1995), *Bayes factors*, section 3.

    Examples
    --------
    Is a coin that shows 55 heads in 100 throws fair, nearly, or anything?

    >>> import bayesmodels as bm
    >>> coin = {"nearly fair": bm.BetaBernoulli(50, 50), "anything": bm.BetaBernoulli(1, 1)}
    >>> compare_evidence(coin, bm.BinomialCounts(55, 100)).round(2)
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
    rng = randomness(rng)
    logs: dict[str, float] = {}
    known: dict[str, tuple[str, float]] = {}
    for name, model in models.items():
        logs[name], seen = _evidence(name, model, data, rng)
        _same_observations(known, name, seen)
        known = {what: (name, value) for what, value in seen.items()} | known
    table = pd.DataFrame({"log_evidence": logs}).sort_values("log_evidence", ascending=False)
    table["log_bayes_factor"] = table["log_evidence"] - table["log_evidence"].max()
    weight = np.exp(table["log_bayes_factor"])
    table["probability"] = weight / weight.sum()
    return table


def _evidence(
    name: str, model: Any, data: Any, rng: np.random.Generator
) -> tuple[float, dict[str, float]]:
    """Return a model's log evidence, and what is known of its data."""
    prior, rows = model if isinstance(model, tuple) and len(model) == 2 else (model, data)  # noqa: PLR2004
    if isinstance(prior, Conjugate) and not isinstance(prior, type):
        if rows is None:
            raise DataError(
                f"data: model {name!r} has none; give data, or a pair (prior, data) for it."
            )
        statistic = prior.statistic(rows)
        return float(np.sum(prior.log_evidence(statistic))), statistic.seen()
    posterior = _posterior(model, rng)
    if not hasattr(type(posterior), "log_evidence"):
        raise DataError(
            f"models: {name!r} must be a prior, a pair (prior, data), a PyMC model, or what "
            f"bm.exact or bm.integrate made of one; got {_kind(model)}."
        )
    return float(posterior.log_evidence), _observed(posterior.model)


def _posterior(model: Any, rng: np.random.Generator) -> Any:
    """Return the posterior of a PyMC model, in closed form or integrated; others as they are."""
    import pymc as pm

    from bayesmodels.posteriors.exact import exact
    from bayesmodels.posteriors.ladder import solved

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
