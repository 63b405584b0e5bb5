"""Rows whose class may be unknown: read, brought to their distinct patterns, and counted.

A mixture asks three things of the rows of a block: log densities under given parameters, the
statistic of rows that belong to classes by parts, and new rows. For bits, categories and counts of
words these are products with one table of indicators, for numbers sums of squared distances, for
rates products with events and exposures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesmodels.belief import values
from bayesmodels.belief.conjugate import discounted
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.protocol import Draws
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.containers import Argument, present, read
from bayesmodels.input.labels import Coords
from bayesmodels.input.wrappers import Design, Weighted
from bayesmodels.models.bernoulli import BernoulliStatistic, BetaBernoulli
from bayesmodels.models.categorical import CategoricalStatistic, DirichletCategorical
from bayesmodels.models.classifiers.features import Block, Classified, argument
from bayesmodels.models.classifiers.generative import ProductOfBeliefs
from bayesmodels.models.normal import NormalInverseGamma, NormalStatistic
from bayesmodels.models.rates import EventStatistic, of_totals
from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI, log_multinomial_coefficient
from bayesmodels.numerics.token_counts import count_log_coefficients

UNKNOWN = -1
"""Code of a row whose class is not known."""

_LEAST = np.finfo(float).tiny
_DENSE = 20_000_000  # indicators at most, of a table that is not sparse
_KEYS = 2**62


@value
class MixtureStatistic:
    """Distinct rows and how often each occurs; ``a + b`` merges disjoint sets of rows.

    A mixture has no shorter statistic: which class a row belongs to is not known.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Code of each row's class, -1 where it is unknown.
    rows : mapping
        From the name of a block to checked values: NaN, or -1 for a category, is missing.
    axes : mapping
        From the name of a block to the labels along the axes of its belief, the first ``class``.
    weights : ndarray of shape (n,)
        How often each row occurs.
    """

    labels: NDArray[np.intp]
    rows: dict[str, Any]
    axes: dict[str, Coords]
    weights: Array

    def __init__(
        self,
        labels: NDArray[np.intp],
        rows: Mapping[str, Any],
        axes: Mapping[str, Coords],
        weights: Array,
    ) -> None:
        values.fill(self, labels=labels, rows=dict(rows), axes=dict(axes), weights=weights)

    def __add__(self, other: Self) -> Self:
        checked.alike(self, other, MixtureStatistic)
        return self.beside(other).distinct()

    def beside(self, other: Self) -> Self:
        """Return these rows and after them others, each once."""
        if self.axes != other.axes:
            raise DataError(
                f"data: statistics must have the same blocks, columns and classes; got {self.axes} "
                f"and {other.axes}."
            )
        rows = {name: _stacked(x, other.rows[name]) for name, x in self.rows.items()}
        labels = np.concatenate([self.labels, other.labels])
        weights = np.concatenate([self.weights, other.weights])
        return type(self)(labels, rows, self.axes, weights)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        checked.alike(self, other, MixtureStatistic)
        both = self + replace(other, weights=-other.weights)
        size = float(self.weights.max(initial=1.0))
        weights = checked.left_over(both.weights, size, "weights")
        return both.take(np.flatnonzero(weights), weights[weights > 0])

    discounted = discounted

    def _times(self, rho: float) -> Self:
        return replace(self, weights=rho * self.weights)

    @property
    def number_of_rows(self) -> float:
        """Number of rows, each as often as it occurs."""
        return float(self.weights.sum())

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        cells = 0.0
        for x in self.rows.values():
            by_row = x.sum(1) if checked.sparse(x) else np.nansum(x.reshape(len(x), -1), axis=1)
            cells += float(self.weights @ by_row)
        return {"number of rows": self.number_of_rows, "sum of all cells": cells}

    def without_rows(self) -> Self:
        """Return the empty statistic of the same blocks."""
        return self.take(np.zeros(0, dtype=np.intp))

    def take(self, at: NDArray[np.intp], weights: Array | None = None) -> Self:
        """Return some of the rows, in the order given."""
        rows = {name: x[at] for name, x in self.rows.items()}
        kept = self.weights[at] if weights is None else weights
        return type(self)(self.labels[at], rows, self.axes, kept)

    def patterns(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return where each distinct row occurs first, in order, and which of them each row is."""
        return _patterns([self.labels, *self.rows.values()], len(self.labels))

    def distinct(self) -> Self:
        """Return each distinct row once, with its total weight, in an order of their values."""
        first, inverse = self.patterns()
        return self.take(first, np.bincount(inverse, self.weights, len(first)))

    def spread(self, most: int) -> Self:
        """Return a few of the distinct rows, spread evenly over their order, without classes."""
        bare = replace(self, labels=np.full(len(self.labels), UNKNOWN)).distinct()
        size = len(bare.labels)
        return bare.take(np.unique(np.linspace(0, size - 1, min(most, size)).astype(np.intp)))

    def __repr__(self) -> str:
        """Show the numbers of rows."""
        return (
            f"MixtureStatistic({self.number_of_rows:g} rows, {len(self.labels)} distinct, "
            f"{int((self.labels != UNKNOWN).sum())} of them labelled)"
        )


def latent_rows(
    classes: DirichletCategorical, blocks: Mapping[str, Block], data: Any
) -> MixtureStatistic:
    """Read rows with or without classes, each row once."""
    if isinstance(data, MixtureStatistic):
        if list(data.rows) != list(blocks):
            raise DataError(
                f"data: a statistic of the blocks {list(data.rows)}; has {list(blocks)}."
            )
        for name, block in blocks.items():
            block.check(data.axes[name], classes)
        return data
    weights = None
    if isinstance(data, Weighted):
        data, weights = data.rows, data.weights
    features, target = data, None
    if isinstance(data, Design) or (isinstance(data, tuple) and len(data) == 2):  # noqa: PLR2004
        design = checked.paired(data)
        features, target = design.features, design.target
    given = Classified(classes, blocks, features, new=True)
    rows, axes = {}, {}
    for name in blocks:
        x = given.cells(name)
        rows[name] = x if checked.sparse(x) else np.asarray(x)
        axes[name] = dict(given.belief(name).coords)
    n = next(iter(rows.values())).shape[0]
    labels = np.full(n, UNKNOWN, dtype=np.intp)
    if target is not None:
        known = read(target, "target", missing=True)
        if known.values.shape != (n,):
            raise DataError(
                f"target: must hold one class a row, missing where it is unknown; got shape "
                f"{known.values.shape} for {n} rows."
            )
        given.same_rows(known)
        here = np.ones(n, dtype=bool) if known.missing is None else ~known.missing
        labels[here] = classes.read(Argument("target", present(known)))
    counts = np.ones(n)
    if weights is not None:
        heavy = read(weights, "weights")
        counts = checked.checked_weights(heavy, given.same_rows(heavy))
    return MixtureStatistic(labels, rows, axes, counts)


def _stacked(a: Any, b: Any) -> Any:
    if checked.sparse(a) or checked.sparse(b):
        from scipy.sparse import vstack

        return vstack([a, b], format="csr")
    return np.concatenate([a, b])


def _patterns(parts: list[Any], n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find and number the distinct rows of several tables in an order of their values."""
    import pandas as pd

    key, size = np.zeros(n, dtype=np.int64), 1
    for part in parts:
        if checked.sparse(part):  # rows of words hardly ever repeat
            return np.arange(n), np.arange(n)
        for column in _table(part).T:
            codes, levels = pd.factorize(column, sort=True, use_na_sentinel=True)
            codes, number = codes + 1, len(levels) + 1
            if size * number >= _KEYS:
                key, found = pd.factorize(key, sort=True)
                size = len(found)
            key, size = key * number + codes, size * number
            if size > n and len(pd.unique(key)) == n:  # all differ already
                break
    codes, found = pd.factorize(key, sort=True)
    first = np.full(len(found), n, dtype=np.intp)
    np.minimum.at(first, codes, np.arange(n))
    return first, np.asarray(codes, dtype=np.intp)


# --- blocks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Discrete:
    """Rows of bits, of categories or of counts of words, as counts of all levels of all features.

    `indicators` (n, features * levels), maybe sparse, say how often each row has each level; a
    missing cell has none. `shape` are the lengths of the axes of `belief` behind ``class``, and the
    number of levels. `coefficients` (n,) are the log multinomial coefficients of rows of words, and
    0 of others; `tokens` (n,) the numbers of words in them.
    """

    belief: Any
    indicators: Any
    shape: tuple[int, ...]
    coefficients: Array
    tokens: Array | None = None

    @property
    def bits(self) -> bool:
        """Whether the rows are bits, the level 1 before the level 0."""
        return isinstance(self.belief, BetaBernoulli)

    @property
    def free(self) -> int:
        """Number of free parameters of a class."""
        return prod(self.shape[:-1]) * (self.shape[-1] - 1)

    def levels(self, parameters: Mapping[str, Any]) -> Array:
        """Return the probabilities (..., class, features * levels) of all levels."""
        theta = np.asarray(parameters["theta"], dtype=float)
        if self.bits:
            theta = np.stack([theta, 1 - theta], axis=-1)
        return theta.reshape(*theta.shape[: theta.ndim - len(self.shape)], -1)

    def named(self, levels: Array) -> dict[str, Array]:
        """Return the variables of which `levels` are the probabilities."""
        theta = levels.reshape(*levels.shape[:-1], *self.shape)
        return {"theta": theta[..., 0] if self.bits else theta}

    def log_density(self, parameters: Mapping[str, Any]) -> Array:
        """Return log masses (n, ..., class); impossible levels get the log of the least double."""
        logs = np.log(np.maximum(self.levels(parameters), _LEAST))
        lead = logs.shape[:-1]
        found = self.indicators @ logs.reshape(-1, logs.shape[-1]).T
        found += self.coefficients[:, None]
        return np.asarray(found).reshape(len(self.coefficients), *lead)

    def gathered(self, parts: Array, parameters: Mapping[str, Any] | None = None) -> Array:
        """Return counts (..., class, features * levels) of rows that are classes' by parts."""
        del parameters
        found = self.indicators.T @ _table(parts)
        return np.asarray(found).T.reshape(*parts.shape[1:], -1)

    def statistic(self, parts: Array, coords: Coords) -> Any:
        """Return the statistic of rows that belong to classes by parts (n, ..., class)."""
        total = None
        if self.tokens is not None:
            total = (self.coefficients @ _table(parts)).reshape(parts.shape[1:])
        return self.statistic_of(self.gathered(parts), coords, total)

    def statistic_of(self, totals: Array, coords: Coords, coefficients: Array | None = None) -> Any:
        """Return the statistic with these counts (..., class, features * levels) of the levels."""
        counts = totals.reshape(*totals.shape[:-1], *self.shape)
        if self.bits:
            return BernoulliStatistic(counts[..., 0], counts[..., 1], None, coords)
        given = None
        if coefficients is not None:
            given = coefficients - log_multinomial_coefficient(counts)
        return CategoricalStatistic(counts, given, coords)

    def declared(self, parameters: Mapping[str, Any]) -> Any:
        """Return log masses (n, class) as a tensor of PyMC's variables."""
        from pymc import math

        table, width = self.indicators, self.shape[-1]
        if prod(table.shape) > _DENSE:
            raise DataError(
                f"data: {table.shape[0]:,} distinct rows of {table.shape[1]:,} "
                "levels are too many for a PyMC model of a mixture, which spreads them out. Use "
                "`em`."
            )
        table = dense(table)[:, None, :]
        theta = parameters["theta"].reshape((len(self.belief.coords["class"]), -1))
        if self.bits:
            ones, zeros = table[..., ::width], table[..., 1::width]
            terms = ones * math.log(theta)[None] + zeros * math.log1p(-theta)[None]
        else:
            terms = table * math.log(theta)[None]
        return terms.sum(-1) + self.coefficients[:, None]

    def estimate(self, gathered: Array, *, prior: bool) -> dict[str, Array]:
        """Return where likelihood (and `prior`) are largest; the prior's mean without any cell."""
        size = self.shape[-1]
        extra = self.pseudo_counts() - 1 if prior else 0.0
        counts = np.maximum(gathered + extra, 0).reshape(*gathered.shape[:-1], -1, size)
        whole = counts.sum(-1, keepdims=True)
        alone = self.levels(self.belief.mean()).reshape(*gathered.shape[-2:-1], -1, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(whole > 0, counts / whole, alone)
        return self.named(shares.reshape(gathered.shape))

    def pseudo_counts(self) -> Array:
        """Return the prior's pseudo-counts of shape (class, features * levels)."""
        belief = self.belief
        alpha = np.stack([belief.alpha, belief.beta], -1) if self.bits else belief.alpha
        return np.asarray(alpha.reshape(len(alpha), -1))

    def new_rows(
        self, parameters: Mapping[str, Any], classes: NDArray[np.intp], rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return new rows of the given classes (..., n)."""
        theta = _of_class(parameters["theta"], classes, len(self.belief.coords["class"]))
        if self.bits:
            return (rng.random(theta.shape) < theta).astype(np.int8)
        if self.tokens is not None:
            return rng.multinomial(self.tokens.astype(int), theta)
        below = theta.cumsum(-1)[..., :-1]
        return np.asarray((rng.random((*theta.shape[:-1], 1)) >= below).sum(-1))


@dataclass(frozen=True)
class Moments:
    """Sums of x - `about` and of its square over rows that are the classes' by parts.

    All are of shape (..., class, features); ``a + b`` merges disjoint sets of rows.
    """

    about: Array
    n: Array
    first: Array
    second: Array

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.about, self.n + other.n, self.first + other.first, self.second + other.second
        )

    @property
    def _shift(self) -> Array:
        return np.divide(self.first, self.n, out=np.zeros_like(self.n), where=self.n > 0)

    @property
    def mean(self) -> Array:
        """Means; where a class has no rows, what the sums are about."""
        return self.about + self._shift

    @property
    def scatter(self) -> Array:
        """Sums of squared distances from the means."""
        return np.maximum(self.second - self.first * self._shift, 0.0)


@dataclass(frozen=True)
class Numbers:
    """Rows of numbers `x` (n, features), 0 where missing; `here` is 1 where a number is there.

    `shape` are the lengths of the axes of `belief` behind ``class``, and 2: a mean and a variance.
    """

    belief: NormalInverseGamma
    x: Array
    here: Array
    shape: tuple[int, ...]

    @property
    def free(self) -> int:
        """Number of free parameters of a class."""
        return prod(self.shape)

    def levels(self, parameters: Mapping[str, Any]) -> Array:
        """Return means and variances (..., class, features * 2)."""
        pairs = np.stack([np.asarray(parameters[v], float) for v in ("mu", "sigma2")], axis=-1)
        return pairs.reshape(*pairs.shape[: pairs.ndim - len(self.shape)], -1)

    def named(self, levels: Array) -> dict[str, Array]:
        """Return the variables that `levels` hold."""
        pairs = levels.reshape(*levels.shape[:-1], *self.shape)
        return {"mu": pairs[..., 0], "sigma2": pairs[..., 1]}

    def log_density(self, parameters: Mapping[str, Any]) -> Array:
        """Return log densities (n, ..., class)."""
        levels = self.levels(parameters)
        mu, sigma2 = levels[..., ::2], levels[..., 1::2]
        result = np.zeros((len(self.x), *mu.shape[:-1]))
        rows = (-1, *(1,) * (mu.ndim - 1))
        missing = not self.here.all()
        for j in range(self.x.shape[1]):
            term = self.x[:, j].reshape(rows) - mu[..., j]
            term *= term
            term *= -0.5 / sigma2[..., j]
            term += -0.5 * np.log(sigma2[..., j]) - HALF_LOG_2PI
            if missing:
                term *= self.here[:, j].reshape(rows)
            result += term
        return result

    def declared(self, parameters: Mapping[str, Any]) -> Any:
        """Return log densities (n, class) as a tensor of PyMC's variables."""
        from pymc import math

        size = len(self.belief.coords["class"])
        mu, sigma2 = (parameters[name].reshape((size, -1))[None] for name in ("mu", "sigma2"))
        terms = (
            -0.5 * (self.x[:, None, :] - mu) ** 2 / sigma2 - 0.5 * math.log(sigma2) - HALF_LOG_2PI
        )
        return (terms if self.here.all() else self.here[:, None, :] * terms).sum(-1)

    @property
    def centre(self) -> Array:
        """Mean of each column."""
        n = self.here.sum(0)
        return np.divide(self.x.sum(0), n, out=np.zeros_like(n), where=n > 0)

    def gathered(self, parts: Array, parameters: Mapping[str, Any] | None = None) -> Moments:
        """Return moments of rows that are classes' by parts, about known means or the columns'."""
        return self._moments(
            parts, self.centre if parameters is None else self.levels(parameters)[..., ::2]
        )

    def _moments(self, parts: Array, about: Array) -> Moments:
        shape = (*parts.shape[1:], self.x.shape[1])
        about = np.broadcast_to(about, shape)
        flat, missing, found = _table(parts), not self.here.all(), []
        for j, centres in enumerate(about.reshape(-1, shape[-1]).T):
            w = flat * self.here[:, j, None] if missing else flat
            gap = self.x[:, j, None] - centres
            heavy = w * gap
            found.append((w.sum(0), heavy.sum(0), np.einsum("ij,ij->j", heavy, gap)))
        sums = (np.stack(part, -1).reshape(shape) for part in zip(*found, strict=True))
        return Moments(about, *sums)

    def statistic(self, parts: Array, coords: Coords) -> NormalStatistic:
        """Return the statistic of rows that belong to classes by parts (n, ..., class)."""
        near = self._moments(parts, self.centre).mean
        return self._statistic_of(self._moments(parts, near), coords)

    def _statistic_of(self, sums: Moments, coords: Coords) -> NormalStatistic:
        shape = (*sums.n.shape[:-1], *self.shape[:-1])
        mean = np.where(sums.n > 0, sums.mean, 0.0)
        n, mean, scatter = (part.reshape(shape) for part in (sums.n, mean, sums.scatter))
        return NormalStatistic(n, mean, scatter, coords)

    def estimate(self, gathered: Moments, *, prior: bool) -> dict[str, Array]:
        """Return where likelihood (and `prior`) are largest; no variance without spread."""
        if prior:
            starts = {"start": tuple(range(len(gathered.n))), **self.belief.coords}
            return self.belief.update(self._statistic_of(gathered, starts)).mode()
        n = gathered.n
        variances = np.divide(gathered.scatter, n, out=np.zeros_like(n), where=n > 0)
        return self.named(np.stack([gathered.mean, variances], -1).reshape(*n.shape[:-1], -1))

    def new_rows(
        self, parameters: Mapping[str, Any], classes: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """Return new rows of the given classes (..., n)."""
        size = len(self.belief.coords["class"])
        mu, sigma2 = (_of_class(parameters[name], classes, size) for name in ("mu", "sigma2"))
        return mu + np.sqrt(sigma2) * rng.standard_normal(mu.shape)


@dataclass(frozen=True)
class Events:
    """Rows that tell of a rate: `events` and `exposure` (n, features), 0 where missing.

    `base` (n,) is what of the log densities no rate changes; `shape` are the lengths of the axes of
    `belief` behind ``class``, and 1: a rate.
    """

    belief: Any
    events: Array
    exposure: Array
    base: Array
    shape: tuple[int, ...]

    @property
    def free(self) -> int:
        """Number of free parameters of a class."""
        return prod(self.shape)

    def levels(self, parameters: Mapping[str, Any]) -> Array:
        """Return the rates (..., class, features)."""
        lam = np.asarray(parameters["lam"], dtype=float)
        return lam.reshape(*lam.shape[: lam.ndim - len(self.shape) + 1], -1)

    def named(self, levels: Array) -> dict[str, Array]:
        """Return the variable that `levels` hold."""
        return {"lam": levels.reshape(*levels.shape[:-1], *self.shape[:-1])}

    def log_density(self, parameters: Mapping[str, Any]) -> Array:
        """Return log densities (n, ..., class); a rate of 0 gets the log of the least double."""
        lam = self.levels(parameters)
        flat = lam.reshape(-1, lam.shape[-1]).T
        found = self.events @ np.log(np.maximum(flat, _LEAST)) - self.exposure @ flat
        return np.asarray(found + self.base[:, None]).reshape(len(found), *lam.shape[:-1])

    def declared(self, parameters: Mapping[str, Any]) -> Any:
        """Return log densities (n, class) as a tensor of PyMC's variables."""
        from pymc import math

        lam = parameters["lam"].reshape((len(self.belief.coords["class"]), -1))[None]
        terms = self.events[:, None, :] * math.log(lam) - self.exposure[:, None, :] * lam
        return terms.sum(-1) + self.base[:, None]

    def gathered(self, parts: Array, parameters: Mapping[str, Any] | None = None) -> Array:
        """Return sums (2, ..., class, features) of events and exposures by the classes' parts."""
        del parameters
        flat = _table(parts).T
        sums = np.stack([flat @ self.events, flat @ self.exposure])
        return sums.reshape(2, *parts.shape[1:], -1)

    def statistic(self, parts: Array, coords: Coords) -> EventStatistic:
        """Return the statistic of rows that belong to classes by parts (n, ..., class)."""
        events, exposure = self.gathered(parts)
        base = np.zeros(events.shape)
        base[..., 0] = (_table(parts).T @ self.base).reshape(parts.shape[1:])
        shape = (*parts.shape[1:], *self.shape[:-1])
        events, exposure, base = (x.reshape(shape) for x in (events, exposure, base))
        return of_totals(events, exposure, base, coords)

    def estimate(self, gathered: Array, *, prior: bool) -> dict[str, Array]:
        """Return where likelihood (and `prior`) are largest; the prior's mean without any cell."""
        events, exposure = gathered
        own = self.levels({"lam": self.belief.mean()["lam"]})
        if prior:
            shape, rate = (self.levels({"lam": x}) for x in (self.belief.shape, self.belief.rate))
            return self.named(np.maximum(shape - 1 + events, 0.0) / (rate + exposure))
        alone = np.broadcast_to(own, events.shape).copy()
        return self.named(np.divide(events, exposure, out=alone, where=exposure > 0))

    def new_rows(
        self, parameters: Mapping[str, Any], classes: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """Return new rows of the given classes (..., n)."""
        lam = _of_class(parameters["lam"], classes, len(self.belief.coords["class"]))
        return np.asarray(self.belief.plug_in({"lam": lam}).rvs(lam.shape, rng), dtype=float)


Cells = Discrete | Numbers | Events


class LatentClassModel(ProductOfBeliefs):
    """A product of beliefs about rows of which classes may be unknown; `terms` of a posterior."""

    terms: Any

    def statistic(self, data: Any) -> MixtureStatistic:
        """Return the distinct rows and how often each occurs.

        Parameters
        ----------
        data : features, Design or pair (X, y), or any of them Weighted
            A missing cell is integrated out; a missing class in y is summed out.

        Raises
        ------
        DataError
            If a value does not fit its block, or a class is unknown to the model.
        """
        s = latent_rows(self.classes, self.blocks, data)
        return s if s is data else s.distinct()

    def responsibilities(self, rows: Any, parameters: Draws | None = None) -> Array:
        r"""Return the probability of each class for each new row.

        Parameters
        ----------
        rows, parameters
            As in `log_joint`. Integrated over an exact posterior that treats the classes alike all
            classes are equally probable; with `parameters` they differ.

        Returns
        -------
        ndarray of shape (..., n, class)
            Rows add up to one.
        """
        share, logs = shares(self.log_joint(rows, parameters))
        if np.isneginf(logs).any():
            raise DataError(
                "rows: a row has probability 0 in every class under these parameters. Use "
                "parameters off the border, or leave them out to integrate over the belief."
            )
        return share

    def with_axes(self, s: MixtureStatistic) -> Self:
        """Return the same belief with the axes of the rows."""
        blocks = {
            name: block.of(cells(block.belief, s.rows[name][:0], s.axes[name], name).belief)
            for name, block in self.blocks.items()
        }
        return self._of(self.classes, blocks)

    def cells_of(self, s: MixtureStatistic) -> Iterator[tuple[Cells, Names]]:
        """Yield the rows of each block in the form in which mixtures use them, with its names."""
        for (belief, names), name in zip(self.parts()[1:], self.blocks, strict=True):
            yield cells(belief, s.rows[name], s.axes[name], name), names

    def rows_by_block(self, s: MixtureStatistic) -> dict[str, Cells]:
        """Return the rows of each block by its name."""
        return {name: part for (part, _), name in zip(self.cells_of(s), self.blocks, strict=True)}


class LatentRows:
    """Rows of all blocks in the form in which a pass over them needs them."""

    def __init__(self, model: LatentClassModel, s: MixtureStatistic) -> None:
        self.cells, self.weights = list(model.cells_of(s)), s.weights
        size = len(model.classes.alpha)
        self.allowed = np.ones((len(s.labels), size), dtype=bool)
        known = s.labels != UNKNOWN
        self.allowed[known] = np.arange(size) == s.labels[known, None]

    def log_densities(self, at: Draws) -> Array:
        """Return log densities (n, samples..., class) of the rows in each class."""
        found = np.zeros((len(self.weights), *np.shape(checked.drawn(at, "pi"))))
        for part, names in self.cells:
            found += part.log_density({v: checked.drawn(at, names(v)) for v in part.belief.dims})
        return found

    def log_joint(self, at: Draws) -> Array:
        """Return the same of rows and classes; -inf where the class is known to be another."""
        pi = checked.drawn(at, "pi").astype(float)
        joint = self.log_densities(at)
        with np.errstate(divide="ignore"):  # a draw may round to 0
            joint += np.log(pi)
        if self.allowed.all():
            return joint
        return np.where(np.expand_dims(self.allowed, tuple(range(1, pi.ndim))), joint, -np.inf)


def shares(joint: Array) -> tuple[Array, Array]:
    """Turn log densities into probabilities of the classes, in place; return the log totals, too.

    Classes are on the last axis. Where none is possible the log total is -inf.
    """
    top = joint.max(-1, keepdims=True)
    np.subtract(joint, np.where(np.isfinite(top), top, 0.0), out=joint)
    np.exp(joint, out=joint)
    total = joint.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        joint /= total
        return joint, (np.log(total) + top)[..., 0]


AT_ONCE = 8_000_000
"""Numbers that a pass spreads out at once, at most."""


def slices(s: MixtureStatistic, numbers: int) -> Iterator[MixtureStatistic]:
    """Yield some rows after the others, as many as can be spread out into `numbers` each."""
    step = max(1, AT_ONCE // numbers)
    for at in range(0, max(len(s.labels), 1), step):
        yield s.take(np.arange(at, min(at + step, len(s.labels))))


def cells(belief: Any, x: Any, coords: Coords, name: str) -> Cells:
    """Return the checked rows `x` of the block `name` as a mixture uses them.

    The belief gets the axes `coords`, which it has once it has met rows.
    """
    lengths = tuple(map(len, coords.values()))
    inner = lengths[1:]
    wide: Any
    if isinstance(belief, NormalInverseGamma):
        wide = belief.update(NormalStatistic(np.zeros(lengths), coords=coords))
        flat = _table(np.asarray(x, dtype=float))
        here = ~np.isnan(flat)
        return Numbers(wide, np.where(here, flat, 0.0), here.astype(float), (*inner, 2))
    if isinstance(belief, BetaBernoulli):
        wide = belief.update(BernoulliStatistic(np.zeros(lengths), coords=coords))
        bits = _table(np.asarray(x, dtype=float))
        codes = np.where(np.isnan(bits), -1, 1 - np.nan_to_num(bits)).astype(np.intp)
        return Discrete(wide, _indicators(codes, 2), (*inner, 2), np.zeros(len(x)))
    if isinstance(belief, DirichletCategorical):
        wide = belief.update(CategoricalStatistic(np.zeros(lengths), coords=coords))
        if len(inner) == x.ndim - 1:  # counts have the axis of categories, codes do not
            table = csr_array(x) if checked.sparse(x) else np.asarray(x, dtype=float)
            own = count_log_coefficients(x, np.arange(x.shape[0]), x.shape[0])
            return Discrete(wide, table, inner, own, np.asarray(x.sum(-1), float))
        codes = _table(np.asarray(x, dtype=np.intp))
        return Discrete(wide, _indicators(codes, inner[-1]), inner, np.zeros(len(x)))
    if "lam" in belief.dims:
        wide = belief.update(EventStatistic(np.zeros(lengths), coords=coords))
        events, exposure, base = belief.told(_table(np.asarray(x, dtype=float)))
        return Events(wide, events, exposure, base.sum(-1), (*inner, 1))
    raise PriorError(
        f"{argument(name)}: a mixture takes BetaBernoulli, DirichletCategorical, GammaPoisson, "
        f"GammaExponential and NormalInverseGamma features; got {type(belief).__name__}. For "
        "vectors use one NormalInverseGamma a column."
    )


def _table(x: NDArray[Any]) -> NDArray[Any]:
    """Return rows as a table of columns, also if there are none."""
    return x.reshape(len(x), prod(x.shape[1:]))


def dense(table: Any) -> NDArray[Any]:
    """Return a table that may be sparse as an array."""
    return np.asarray(table.toarray() if checked.sparse(table) else table)


def _indicators(codes: NDArray[np.intp], size: int) -> Any:
    """Return the table of which row has which level: (n, features * size)."""
    n, width = codes.shape
    row, column = np.nonzero(codes >= 0)
    place = column * size + codes[row, column]
    pointers = np.concatenate([[0], np.cumsum((codes >= 0).sum(1))])
    table = csr_array((np.ones(len(place)), place, pointers), (n, width * size))
    return table.toarray() if n * width * size <= _DENSE else table


def _of_class(parameter: Any, classes: NDArray[np.intp], size: int) -> Array:
    """Return a parameter (..., class, inner...) of the class of each row: (..., n, inner...)."""
    array = np.asarray(parameter, dtype=float)
    lead = classes.shape[:-1]
    inner = array.shape[len(lead) + 1 :]
    flat, codes = array.reshape(-1, size, *inner), classes.reshape(-1, classes.shape[-1])
    found = flat[np.arange(len(flat))[:, None], codes]
    return found.reshape(*classes.shape, *inner)
