"""New data of the same form as given ones, drawn from a model at known parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Draws
from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.input.containers import Block, read
from bayesmodels.input.data import BinomialCounts, Grouped, MultinomialCounts, Split
from bayesmodels.models.classifiers.generative import ClassStatistic, data_parts, own_draws
from bayesmodels.models.mixture.latent_rows import UNKNOWN, MixtureStatistic, latent_rows
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Simulated:
    """New data.

    Attributes
    ----------
    statistic : Statistic
        What the model needs to know of them; None, of a model whose data have no statistic.
    log_likelihood : callable
        From draws of the parameters, sample axis first, to the log density of all the new data.
    declare : callable
        Returns the PyMC model that observes their rows.
    """

    statistic: Any
    log_likelihood: Callable[[Draws], Array]
    declare: Callable[[], pm.Model]


def simulated(model: Any, design: Any, parameters: Draws, rng: np.random.Generator) -> Simulated:
    """Draw data like `design`: as many rows, the same predictors, groups, trials and gaps.

    Parameters
    ----------
    model : Belief
        The model.
    design : rows
        As in the model's `statistic`; what is random in them is drawn anew.
    parameters : mapping
        One value of each variable, with a sample axis of length one.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    DataError
        If the design is a statistic, or weighted: a weighted row is no draw from anything.
    """
    if hasattr(design, "without_rows"):
        msg = "design: must be rows, of which new ones are drawn; got a statistic."
        raise DataError(msg)
    if checked.weighted(design):
        msg = "design: must not be weighted, since no row is drawn half a time; leave weights out."
        raise DataError(msg)
    if isinstance(model, NaiveBayesMixture):
        return _mixed(model, design, parameters, rng)
    if hasattr(model, "blocks"):
        return _classified(model, design, parameters, rng)
    (new,) = model.replicate(parameters, design, rng).values()
    return told(model, _replaced(model, design, new[0]))


def told(model: Any, data: Any) -> Simulated:
    """Return data that are known, as if they had been drawn here."""
    return Simulated(
        model.statistic(data) if hasattr(model, "statistic") else None,
        lambda draws: _total(model.log_likelihood(draws, data)),
        lambda: model.declare(data),
    )


def _mixed(
    model: NaiveBayesMixture, design: Any, parameters: Draws, rng: np.random.Generator
) -> Simulated:
    """Draw classes first, those that will be known too; gaps stay where they are."""
    given = latent_rows(model.classes, model.blocks, design)
    pi = np.asarray(parameters["pi"])[0]
    drawn = rng.choice(len(pi), size=len(given.labels), p=pi / pi.sum())
    classified = MixtureStatistic(drawn, given.rows, given.axes, given.weights)
    new = model.replicate(parameters, classified, rng)
    rows = {}
    for (_, names), (name, old) in zip(
        model.with_axes(given).parts()[1:], given.rows.items(), strict=True
    ):
        dense = old.toarray() if checked.sparse(old) else old
        missing = np.isnan(dense) | (dense == UNKNOWN if dense.dtype.kind == "i" else False)
        rows[name] = np.where(missing, dense, new[names("x")][0])
    labels = np.where(given.labels == UNKNOWN, UNKNOWN, drawn)
    s = MixtureStatistic(labels, rows, given.axes, given.weights)
    return replace(told(model, s), declare=lambda: model.declare_rows(s))


def _classified(model: Any, design: Any, parameters: Draws, rng: np.random.Generator) -> Simulated:
    """Draw classes first, then features of rows with these classes."""
    codes = model.replicate(parameters, design, rng)["y"][0]
    labels = np.array(model.classes.categories, dtype=object)
    data = replace(checked.paired(design), target=labels[codes].tolist())
    (classes, names, target), *blocks = data_parts(model, data)
    parts = [(classes, names, target)]
    for belief, names, rows in blocks:
        (new,) = belief.replicate(own_draws(parameters, belief, names), rows, rng).values()
        parts.append((belief, names, _replaced(belief, rows, new[0])))

    def log_likelihood(draws: Draws) -> Array:
        each = [
            _total(belief.log_likelihood(own_draws(draws, belief, names), rows))
            for belief, names, rows in parts
        ]
        return np.asarray(np.sum(each, axis=0))

    def declare() -> pm.Model:
        import pymc as pm

        with pm.Model() as declared:
            for belief, names, rows in parts:
                belief.add_to_model(rows, "rows", names)
        return declared

    first, *others = (belief.statistic(rows) for belief, _, rows in parts)
    statistic = ClassStatistic(first, dict(zip(model.blocks, others, strict=True)))
    return Simulated(statistic, log_likelihood, declare)


def _replaced(belief: Any, rows: Any, new: Any) -> Any:
    """Return rows with other values, in the same wrappers."""
    if isinstance(rows, (Grouped, Split)):
        return replace(rows, rows=_replaced(belief, rows.rows, new))
    if isinstance(rows, BinomialCounts):
        return BinomialCounts(new, rows.trials)
    if isinstance(rows, MultinomialCounts):
        return MultinomialCounts(new)
    if not isinstance(rows, Block) and "w" in belief.dims:
        design = checked.paired(rows)
        if isinstance(design.target, (BinomialCounts, MultinomialCounts)):
            return replace(design, target=_replaced(belief, design.target, new))
        return replace(design, target=_labelled(getattr(belief, "classes", None), new))
    found = read(rows, "design")
    labels = getattr(belief, "categories", None) or getattr(belief, "outcomes", None)
    return Block(found.argument, _labelled(labels, new), found.columns)


def _labelled(labels: Any, new: Any) -> Any:
    """Return labels by their codes; what has no labels as it is."""
    if labels is None:
        return new
    every = np.empty(len(labels), dtype=object)
    every[:] = labels  # one object each, tuples too
    return every[new]


def _total(logs: Any) -> Array:
    """Return the sum of log densities of all rows, one a draw."""
    each = [np.asarray(x).reshape(len(x), -1).sum(-1) for x in logs.values()]
    return np.sum(each, axis=0)
