"""The terms of a mixture's exact posterior: every distinguishable way to allot rows to classes."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayesmodels.belief.values import fill, value
from bayesmodels.errors import DataError
from bayesmodels.input.labels import Coords, without
from bayesmodels.models.mixture.latent_rows import (
    UNKNOWN,
    LatentClassModel,
    MixtureStatistic,
    dense,
    patterns,
)
from bayesmodels.numerics import Array


@value
class Terms:
    """Statistics of the rows so far, for every distinguishable way to allot them to the classes.

    Numbers of rows in each class (terms, classes); of each block its statistic, with the leading
    axes ``term`` and ``class``; and the log number of ways that have this statistic.
    """

    counts: Array
    parts: dict[str, Any]
    log_multiplicity: Array

    def __post_init__(self) -> None:
        fill(self, **vars(self))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def places(self) -> int:
        """Number of scalars of which a term has a statistic, at most."""
        return self.counts.shape[1] + sum(
            prod(np.shape(getattr(part, fields(part)[0].name))[1:]) for part in self.parts.values()
        )

    def take(self, at: NDArray[np.intp]) -> Terms:
        """Return the terms at these places."""
        parts = {name: taken(part, at) for name, part in self.parts.items()}
        return Terms(self.counts[at], parts, self.log_multiplicity[at])

    def crossed(self, other: Terms) -> Terms:
        """Return all pairs of a term of these rows and a term of other rows."""
        one, two = (part.ravel() for part in np.indices((len(self), len(other))))
        here, there = self.take(one), other.take(two)
        parts = {name: part + there.parts[name] for name, part in here.parts.items()}
        ways = here.log_multiplicity + there.log_multiplicity
        return Terms(here.counts + there.counts, parts, ways).merged()

    def merged(self) -> Terms:
        """Return the distinct statistics, each with the log number of all ways that have it.

        Log conditional masses given totals are moved into the log number of ways.
        """
        logs, parts, keys = self.log_multiplicity, {}, [self.counts]
        for name, part in self.parts.items():
            conditional = getattr(part, "log_given_total", None)
            if conditional is not None:
                logs = logs + conditional.reshape(len(self), -1).sum(-1)
                part = replace(part, log_given_total=np.zeros_like(conditional))  # noqa: PLW2901
            parts[name] = part
            keys += _sums(part)
        first, codes = _distinct(keys)
        result = replace(self, parts=parts).take(first)
        return replace(result, log_multiplicity=_added(logs, codes))


def _sums(part: Any) -> list[Array]:
    """Return the fields of a statistic on which a likelihood depends, as keys."""
    ignored = "coords", "log_given_total"
    return [getattr(part, f.name) for f in fields(part) if f.name not in ignored]


def _distinct(keys: list[Array]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct key, and the number of each key among them."""
    import pandas as pd

    table = np.concatenate([key.reshape(len(key), -1) for key in keys], axis=1) + 0.0
    codes, _ = pd.factorize(table.view(f"V{8 * table.shape[1]}").ravel().astype(object))
    first = np.full(codes.max(initial=-1) + 1, len(table))
    np.minimum.at(first, codes, np.arange(len(table)))
    return first, codes


def _added(logs: Array, codes: NDArray[np.intp]) -> Array:
    """Return the log of the sum of exponentials of all logs with each code."""
    top = np.full(codes.max(initial=-1) + 1, -np.inf)
    np.maximum.at(top, codes, logs)
    return np.asarray(top + np.log(np.bincount(codes, np.exp(logs - top[codes]), len(top))))


def every_term(model: LatentClassModel, s: MixtureStatistic, budget: int) -> Terms:
    """Return the terms of all ways to allot rows to classes; refuse more than the budget.

    Row by row, ways with equal sums are put together: one of them stands for all.
    """
    n, size = len(s.labels), len(model.classes.alpha)
    row = np.concatenate(
        [np.ones((n, 1)), *(_additive(belief, x) for belief, _, x in model.features_of(s))], axis=1
    )
    totals, allotted, ways = np.zeros((1, size, row.shape[1])), np.zeros((1, size, 0)), np.zeros(1)
    for i, (m, label) in enumerate(zip(_row_counts(s), s.labels, strict=True)):
        splits, logs = _ways(len(ways), int(m), size, int(label), budget)
        wide = (totals[:, None] + splits[:, :, None] * row[i]).reshape(-1, size, row.shape[1])
        first, codes = _distinct([wide])
        before, way = np.divmod(first, len(splits))
        totals, ways = wide[first], _added((ways[:, None] + logs).ravel(), codes)
        allotted = np.concatenate([allotted[before], splits[way][:, :, None]], axis=-1)
    parts = {}
    for name, (belief, _, x) in zip(s.rows, model.features_of(s), strict=True):
        coords = {"term": tuple(range(len(ways))), **without(belief.coords, "category")}
        parts[name] = belief.weighted_statistic(x, allotted, coords)
    return Terms(allotted.sum(-1), parts, ways)


def _additive(belief: Any, x: Any) -> Array:
    """Return numbers (n, any) whose sums over rows are equal only if the rows' statistics are."""
    cells = belief.statistic_of_cells(dense(x))
    if hasattr(cells, "log_given_total"):
        return np.concatenate([part.reshape(len(part), -1) for part in _sums(cells)], axis=1)
    _, codes = patterns([x], len(x))
    return np.eye(codes.max(initial=-1) + 1)[codes]


def _row_counts(s: MixtureStatistic) -> NDArray[np.intp]:
    if (s.weights != np.floor(s.weights)).any():
        raise DataError(
            f"weights: the exact posterior of a mixture needs whole numbers of rows; got a weight "
            f"of {s.weights[s.weights != np.floor(s.weights)][0]:g}. Use em() for weighted rows."
        )
    return s.weights.astype(np.intp)


def _ways(terms: int, m: int, size: int, label: int, budget: int) -> tuple[Array, Array]:
    """Return the ways to split m equal rows over classes, and log numbers of choices of rows.

    All go to one class if it is known. If with the `terms` of the rows before they exceed the
    `budget`, they are refused before they are listed.
    """
    if label != UNKNOWN:
        check_budget(budget, terms)
        return m * np.eye(size)[[label]], np.zeros(1)
    number = comb(m + size - 1, m)
    check_budget(budget, terms * number)
    # Stars and bars: the bars between the classes stand somewhere among the rows.
    bars = np.array(list(combinations(range(m + size - 1), size - 1)), dtype=float)
    gaps = np.diff(bars.reshape(number, size - 1), prepend=-1, append=m + size - 1)
    return gaps - 1, np.asarray(gammaln(m + 1) - gammaln(gaps).sum(-1))


def check_budget(budget: int, terms: int) -> None:
    """Raise an error if there are too many terms."""
    if terms <= budget:
        return
    raise DataError(
        f"data: the exact posterior has too many terms: {terms} were reached, the budget is "
        f"{budget}. Use em() or bm.mcmc_draws; or give the model a larger budget."
    )


def taken(part: Any, at: NDArray[np.intp], categories: Coords | None = None) -> Any:
    """Return some terms of a statistic or a belief whose leading axis is ``term``.

    A statistic that a belief will be updated by needs its `categories`.
    """
    arrays = {f.name: getattr(part, f.name) for f in fields(part)}
    coords = {**arrays.pop("coords"), "term": tuple(range(len(at))), **(categories or {})}
    return type(part)(**{name: array[at] for name, array in arrays.items()}, coords=coords)
