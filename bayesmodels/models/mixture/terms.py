"""The terms of a mixture's exact posterior: every distinguishable way to allot rows to classes."""

from __future__ import annotations

from collections.abc import Mapping
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
    Cells,
    Discrete,
    MixtureStatistic,
    dense,
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
        """Return some of the terms."""
        parts = {name: taken(part, at) for name, part in self.parts.items()}
        return Terms(self.counts[at], parts, self.log_multiplicity[at])

    def crossed(self, other: Terms) -> Terms:
        """Return each way for these rows with each way for the others."""
        one, two = (part.ravel() for part in np.indices((len(self), len(other))))
        here, there = self.take(one), other.take(two)
        parts = {name: part + there.parts[name] for name, part in here.parts.items()}
        ways = here.log_multiplicity + there.log_multiplicity
        return Terms(here.counts + there.counts, parts, ways).merged()

    def merged(self) -> Terms:
        """Return the terms with ways that have the same statistic put together."""
        keys = [self.counts, *(_keys(part) for part in self.parts.values())]
        table = np.concatenate([key.reshape(len(self), -1) for key in keys], axis=1)
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return replace(self.take(first), log_multiplicity=_added(self.log_multiplicity, inverse))


def _added(logs: Array, codes: NDArray[np.intp]) -> Array:
    """Return the log of the sum of exponentials of all logs with each code."""
    top = np.full(codes.max(initial=-1) + 1, -np.inf)
    np.maximum.at(top, codes, logs)
    return np.asarray(top + np.log(np.bincount(codes, np.exp(logs - top[codes]), len(top))))


def every_term(blocks: Mapping[str, Cells], s: MixtureStatistic, size: int, budget: int) -> Terms:
    """Return the terms of all ways to allot rows to classes; refuse more than the budget.

    `s` has the weights of the rows in `blocks`, and the classes that are known; `size` is the
    number of classes.
    """
    if all(isinstance(part, Discrete) and part.tokens is None for part in blocks.values()):
        return _counted_terms(blocks, s, size, budget)
    allotted, ways = allotments(s, size, budget)
    return replace(terms_of(blocks, allotted), log_multiplicity=ways).merged()


def terms_of(blocks: Mapping[str, Cells], allotted: Array) -> Terms:
    """Return the statistics of given allotments (terms, n, classes)."""
    by_row = np.moveaxis(allotted, 0, 1)
    parts = {}
    for name, part in blocks.items():
        parts[name] = part.statistic(by_row, _coords(part, len(allotted)))
    return Terms(np.asarray(allotted.sum(1), float), parts, np.zeros(len(allotted)))


def _whole_weights(s: MixtureStatistic) -> NDArray[np.intp]:
    if (s.weights != np.floor(s.weights)).any():
        raise DataError(
            f"weights: the exact posterior of a mixture needs whole numbers of rows; got a weight "
            f"of {s.weights[s.weights != np.floor(s.weights)][0]:g}. Use em() for weighted rows."
        )
    return s.weights.astype(np.intp)


def allotments(s: MixtureStatistic, size: int, budget: int) -> tuple[Array, Array]:
    """Return all allotments (terms, n, classes) of the rows, and log numbers of ways."""
    table, ways = np.zeros((1, 0, size)), np.zeros(1)
    for m, label in zip(_whole_weights(s), s.labels, strict=True):
        some, logs = _ways(len(table), int(m), size, int(label), budget)
        one, two = (part.ravel() for part in np.indices((len(table), len(some))))
        table = np.concatenate([table[one], some[two][:, None]], axis=1)
        ways = ways[one] + logs[two]
    return table, ways


def _counted_terms(parts: Mapping[str, Any], s: MixtureStatistic, size: int, budget: int) -> Terms:
    """Return the terms of rows of categories, those with equal counts put together row by row."""
    import pandas as pd

    shapes = [part.indicators.shape[1] for part in parts.values()]
    # What one row adds to its class: itself, and its levels.
    row = np.concatenate(
        [np.ones((len(s.labels), 1)), *(dense(part.indicators) for part in parts.values())], axis=1
    ).astype(np.int64)
    keys, ways = np.zeros((1, size, row.shape[1]), dtype=np.int64), np.zeros(1)
    for i, (m, label) in enumerate(zip(_whole_weights(s), s.labels, strict=True)):
        some, log_ways = _ways(len(keys), int(m), size, int(label), budget)
        wide = keys[:, None] + some.astype(np.int64)[None, :, :, None] * row[i]
        wide = wide.reshape(-1, size, row.shape[1])
        logs = (ways[:, None] + log_ways).ravel()
        flat = np.ascontiguousarray(wide.reshape(len(wide), -1))
        codes, _ = pd.factorize(flat.view(f"V{flat.shape[1] * 8}").ravel().astype(object))
        first = np.full(codes.max() + 1, len(wide))
        np.minimum.at(first, codes, np.arange(len(wide)))
        keys, ways = wide[first], _added(logs, codes)
    order = np.lexsort(keys.reshape(len(keys), -1).T[::-1])
    numbers, ways = keys[order].astype(float), ways[order]
    found, at = {}, 1
    for (name, part), width in zip(parts.items(), shapes, strict=True):
        found[name] = part.statistic_of(numbers[..., at : at + width], _coords(part, len(numbers)))
        at += width
    return Terms(numbers[..., 0], found, ways)


def _ways(terms: int, m: int, size: int, label: int, budget: int) -> tuple[Array, Array]:
    """Return the ways to split m equal rows over classes, and log numbers of choices of rows.

    All go to one class if it is known. Too many, beside the `terms` of the rows before, are refused
    before they are written down.
    """
    if label != UNKNOWN:
        refuse_beyond(budget, terms)
        return m * np.eye(size)[[label]], np.zeros(1)
    number = comb(m + size - 1, m)
    refuse_beyond(budget, terms * number)
    # Stars and bars: the bars between the classes stand somewhere among the rows.
    bars = np.array(list(combinations(range(m + size - 1), size - 1)), dtype=float)
    gaps = np.diff(bars.reshape(number, size - 1), prepend=-1, append=m + size - 1)
    return gaps - 1, np.asarray(gammaln(m + 1) - gammaln(gaps).sum(-1))


def refuse_beyond(budget: int, terms: int) -> None:
    """Raise an error if there are too many terms."""
    if terms <= budget:
        return
    raise DataError(
        f"data: the exact posterior has too many terms: {terms} were reached, the budget is "
        f"{budget}. Use em() or bm.mcmc_draws; or give the model a larger budget."
    )


def _keys(part: Any) -> Array:
    """Return numbers, a row a term, that are equal only if the statistics are."""
    arrays = [getattr(part, f.name) for f in fields(part) if f.name != "coords"]
    return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)


def _coords(part: Cells, terms: int) -> Coords:
    """Return the axes of a block's terms; that of categories the mixture itself knows."""
    return {"term": tuple(range(terms)), **without(part.belief.coords, "category")}


def taken(part: Any, at: NDArray[np.intp], categories: Coords | None = None) -> Any:
    """Return some terms of a statistic or a belief whose leading axis is ``term``.

    A statistic that is to meet a belief is told its `categories`.
    """
    given = {f.name: getattr(part, f.name) for f in fields(part)}
    coords = {**given.pop("coords"), "term": tuple(range(len(at))), **(categories or {})}
    return type(part)(**{name: array[at] for name, array in given.items()}, coords=coords)
