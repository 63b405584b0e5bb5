"""Rows whose class may be unknown: read, brought to their distinct patterns, and counted.

A mixture asks three things of the rows of a block: log densities under given parameters, the
statistic of rows that belong to classes by parts, and new rows. For bits, categories and counts of
words these are products with one table of indicators, for numbers sums of squared distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesmodels.belief import values
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.discounting import discounted
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
from bayesmodels.models.normal import NormalInverseGamma, NormalStatistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.special import HALF_LOG_2PI, log_multinomial_coefficient

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
            msg = (
                f"data: statistics must have the same blocks, columns and classes; got {self.axes} "
                f"and {other.axes}."
            )
            raise DataError(msg)
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
            msg = f"data: a statistic of the blocks {list(data.rows)}; has {list(blocks)}."
            raise DataError(msg)
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
            msg = (
                f"target: must hold one class a row, missing where it is unknown; got shape "
                f"{known.values.shape} for {n} rows."
            )
            raise DataError(msg)
        here = np.ones(n, dtype=bool) if known.missing is None else ~known.missing
        labels[here] = classes.read(Argument("target", present(known)))
    counts = np.ones(n)
    if weights is not None:
        counts = checked.checked_weights(weights, Argument("features", labels))
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

    Attributes
    ----------
    belief : BetaBernoulli or DirichletCategorical
        With the axis ``class``.
    indicators : ndarray or csr_array of shape (n, features * levels)
        How often each row has each level; a missing cell has none.
    shape : tuple of int
        Lengths of the belief's axes behind ``class``, and the number of levels.
    coefficients : ndarray of shape (n,)
        Log multinomial coefficient of each row of words; 0 for others.
    tokens : ndarray of shape (n,), optional
        Number of words in each row, if they are counts.
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
        levels = self.levels(parameters)
        logs = np.log(np.maximum(levels, _LEAST))
        lead = logs.shape[:-1]
        found = self.indicators @ logs.reshape(-1, logs.shape[-1]).T
        found += self.coefficients[:, None]
        return np.asarray(found).reshape(len(self.coefficients), *lead)

    def gathered(self, parts: Array) -> Array:
        """Return counts (..., class, features * levels) of rows that are classes' by parts."""
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
        axes = {axis: names for axis, names in coords.items() if axis != "category"}
        return CategoricalStatistic(counts, given, axes)

    def declared(self, parameters: Mapping[str, Any]) -> Any:
        """Return log masses (n, class) as a tensor of PyMC's variables."""
        from pymc import math

        theta = parameters["theta"]
        size, width = len(self.belief.coords["class"]), self.shape[-1]
        cells = np.prod(self.indicators.shape, dtype=float)
        if cells > _DENSE:
            msg = (
                f"data: {self.indicators.shape[0]:,} distinct rows of {self.indicators.shape[1]:,} "
                "levels are too many for a PyMC model of a mixture, which spreads them out. Use "
                "`em` or `bayesmodels.gibbs_draws`."
            )
            raise DataError(msg)
        table = np.asarray(
            self.indicators
            if isinstance(self.indicators, np.ndarray)
            else self.indicators.toarray()
        )
        if self.bits:
            ones, zeros = table[:, None, ::width], table[:, None, 1::width]
            theta = theta.reshape((size, -1))
            terms = ones * math.log(theta)[None] + zeros * math.log1p(-theta)[None]
        else:
            terms = table[:, None, :] * math.log(theta.reshape((size, -1)))[None]
        return terms.sum(-1) + self.coefficients[:, None]

    def estimate(self, gathered: Array) -> dict[str, Array]:
        """Return the maximum-likelihood estimates; the prior's mean where a class has no cell."""
        return self._shares(gathered, 0.0)

    def map_estimate(self, gathered: Array) -> dict[str, Array]:
        """Return where the posterior density is largest, on the simplex's border if need be."""
        return self._shares(gathered, self.pseudo_counts() - 1)

    def pseudo_counts(self) -> Array:
        """Return the prior's pseudo-counts of shape (class, features * levels)."""
        belief = self.belief
        alpha = np.stack([belief.alpha, belief.beta], -1) if self.bits else belief.alpha
        return np.asarray(alpha.reshape(len(alpha), -1))

    def _shares(self, totals: Array, extra: Array | float) -> dict[str, Array]:
        size = self.shape[-1]
        counts = np.maximum(totals + extra, 0).reshape(*totals.shape[:-1], -1, size)
        whole = counts.sum(-1, keepdims=True)
        alone = self.levels(self.belief.mean()).reshape(*totals.shape[-2:-1], -1, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(whole > 0, counts / whole, alone)
        return self.named(shares.reshape(totals.shape))

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
class Numbers:
    """Rows of numbers.

    Attributes
    ----------
    belief : NormalInverseGamma
        With the axis ``class``.
    x : ndarray of shape (n, features)
        Numbers less the centre of their column; 0 where missing.
    here : ndarray of shape (n, features), optional
        1 where a number is there; None if all are.
    centre : ndarray of shape (features,)
        What was taken from each column.
    shape : tuple of int
        Lengths of the belief's axes behind ``class``.
    """

    belief: NormalInverseGamma
    x: Array
    here: Array | None
    centre: Array
    shape: tuple[int, ...]

    def log_density(self, parameters: Mapping[str, Any]) -> Array:
        """Return log densities (n, ..., class)."""
        mu, sigma2 = (_flat(parameters[name], len(self.shape)) for name in ("mu", "sigma2"))
        result = np.zeros((len(self.x), *mu.shape[:-1]))
        for j in range(self.x.shape[1]):
            logs = -0.5 * np.log(sigma2[..., j]) - HALF_LOG_2PI
            term = self.x[:, j].reshape(-1, *(1,) * logs.ndim) - (mu[..., j] - self.centre[j])
            term *= term
            term *= -0.5 / sigma2[..., j]
            term += logs
            if self.here is not None:
                term *= self.here[:, j].reshape(-1, *(1,) * logs.ndim)
            result += term
        return result

    def declared(self, parameters: Mapping[str, Any]) -> Any:
        """Return log densities (n, class) as a tensor of PyMC's variables."""
        from pymc import math

        size = len(self.belief.coords["class"])
        mu, sigma2 = (parameters[name].reshape((size, -1))[None] for name in ("mu", "sigma2"))
        # Not the centred rows: the declaration is to be as a user would write it.
        x = (self.x + self.centre)[:, None, :]
        terms = -0.5 * (x - mu) ** 2 / sigma2 - 0.5 * math.log(sigma2) - HALF_LOG_2PI
        return (terms if self.here is None else self.here[:, None, :] * terms).sum(-1)

    def moments(self, parts: Array) -> tuple[Array, Array, Array]:
        """Return row counts, centred means and scatters (..., class, features)."""
        flat = _table(parts)
        x, found = self.x, []
        here = np.ones_like(x) if self.here is None else self.here
        for j in range(x.shape[1]):
            w = flat * here[:, j, None]
            n = w.sum(0)
            mean = np.divide(w.T @ x[:, j], n, out=np.zeros_like(n), where=n > 0)
            gap = x[:, j, None] - mean
            mean = mean + np.divide((w * gap).sum(0), n, out=np.zeros_like(n), where=n > 0)
            gap = x[:, j, None] - mean
            gap *= gap
            gap *= w
            found.append((n, mean, gap.sum(0)))
        lead = parts.shape[1:]
        n, mean, scatter = (
            np.stack(part, -1).reshape(*lead, -1) for part in zip(*found, strict=True)
        )
        return n, mean, scatter

    def statistic(self, parts: Array, coords: Coords) -> NormalStatistic:
        """Return the statistic of rows that belong to classes by parts (n, ..., class)."""
        n, mean, scatter = self.moments(parts)
        shape = (*parts.shape[1:], *self.shape)
        place = np.where(n > 0, self.centre + mean, 0.0)
        n, place, scatter = (part.reshape(shape) for part in (n, place, scatter))
        return NormalStatistic(n, place, scatter, coords)

    def gathered(self, parts: Array) -> NormalStatistic:
        """Return the statistic of rows that are classes' by parts (n, starts, class)."""
        return self.statistic(parts, {"start": tuple(range(parts.shape[1])), **self.belief.coords})

    def estimate(self, gathered: NormalStatistic) -> dict[str, Array]:
        """Return the maximum-likelihood estimates; a variance of 0 where a class has no spread."""
        n, scatter = gathered.n, gathered.scatter
        return {
            "sigma2": np.divide(scatter, n, out=np.zeros_like(n), where=n > 0),
            "mu": np.where(n > 0, gathered.mean, self.centre.reshape(self.shape)),
        }

    def map_estimate(self, gathered: NormalStatistic) -> dict[str, Array]:
        """Return the joint mode of the posterior of each class."""
        return self.belief.update(gathered).mode()

    def new_rows(
        self, parameters: Mapping[str, Any], classes: NDArray[np.intp], rng: np.random.Generator
    ) -> Array:
        """Return new rows of the given classes (..., n)."""
        size = len(self.belief.coords["class"])
        mu, sigma2 = (_of_class(parameters[name], classes, size) for name in ("mu", "sigma2"))
        return mu + np.sqrt(sigma2) * rng.standard_normal(mu.shape)


Cells = Discrete | Numbers


class LatentClassModel(Protocol):
    """What EM and standard errors ask of a model with latent classes."""

    @property
    def classes(self) -> DirichletCategorical:
        """Belief about the class probabilities."""

    @property
    def terms(self) -> Any:
        """Terms of an exact posterior; None of a prior."""

    def parts(self) -> list[tuple[Any, Names]]:
        """Return the beliefs about classes and blocks, with their names."""

    def statistic(self, data: Any) -> MixtureStatistic:
        """Return the distinct rows and how often each occurs."""

    def with_axes(self, s: MixtureStatistic) -> Self:
        """Return the same belief with the axes of the rows."""

    def cells_of(self, s: MixtureStatistic) -> Iterator[tuple[Cells, Names]]:
        """Yield the rows of each block, with its names."""

    def log_joint_of(self, s: MixtureStatistic, draws: Draws) -> Array:
        """Return log densities of rows and classes under draws."""

    def responsibilities(self, rows: Any, parameters: Draws | None = None) -> Array:
        """Return the probability of each class for each new row."""


def cells(belief: Any, x: Any, coords: Coords, name: str) -> Cells:
    """Return the rows of a block as a mixture uses them.

    Parameters
    ----------
    belief : Belief
        The block's prior.
    x : ndarray or sparse array
        Its checked rows.
    coords : dict
        Axes of the belief once it has met rows.
    name : str
        Name of the block.
    """
    if isinstance(belief, NormalInverseGamma):
        shape = tuple(len(labels) for labels in coords.values())[1:]
        wide = _spread(belief, NormalStatistic(np.zeros(_lengths(coords)), coords=coords))
        flat = _table(np.asarray(x, dtype=float))
        gone = np.isnan(flat)
        here = None if not gone.any() else (~gone).astype(float)
        centre = _centres(flat, gone)
        return Numbers(wide, np.where(gone, 0.0, flat - centre), here, centre, shape)
    if isinstance(belief, BetaBernoulli):
        wide = _spread(belief, BernoulliStatistic(np.zeros(_lengths(coords)), coords=coords))
        shape = (*_lengths(coords)[1:], 2)
        bits = _table(np.asarray(x, dtype=float))
        codes = np.where(np.isnan(bits), -1, 1 - np.nan_to_num(bits)).astype(np.intp)
        return Discrete(wide, _indicators(codes, 2), shape, np.zeros(len(x)))
    if isinstance(belief, DirichletCategorical):
        axes = {axis: labels for axis, labels in coords.items() if axis != "category"}
        shape = _lengths(coords)[1:]
        empty = CategoricalStatistic(np.zeros(_lengths(coords)), coords=axes)
        wide = _spread(belief, empty)
        if len(shape) == x.ndim - 1:  # counts have the axis of categories, codes do not
            table = csr_array(x) if checked.sparse(x) else np.asarray(x, dtype=float)
            return Discrete(wide, table, shape, _coefficients(x), np.asarray(x.sum(-1), float))
        codes = _table(np.asarray(x, dtype=np.intp))
        return Discrete(wide, _indicators(codes, shape[-1]), shape, np.zeros(len(x)))
    msg = (
        f"{argument(name)}: a mixture takes BetaBernoulli, DirichletCategorical and "
        f"NormalInverseGamma features; got {type(belief).__name__}. For vectors use one "
        "NormalInverseGamma a column."
    )
    raise PriorError(msg)


def _spread(belief: Any, empty: Any) -> Any:
    """Return the belief with all axes of the rows it is going to meet."""
    return belief.update(empty)


def _table(x: NDArray[Any]) -> NDArray[Any]:
    """Return rows as a table of columns, also if there are none."""
    return x.reshape(len(x), prod(x.shape[1:]))


def _lengths(coords: Coords) -> tuple[int, ...]:
    return tuple(len(labels) for labels in coords.values())


def _centres(x: Array, gone: NDArray[np.bool_]) -> Array:
    n = (~gone).sum(0)
    return np.divide(np.where(gone, 0, x).sum(0), n, out=np.zeros(x.shape[1]), where=n > 0)


def _indicators(codes: NDArray[np.intp], size: int) -> Any:
    """Return the table of which row has which level: (n, features * size)."""
    n, width = codes.shape
    row, column = np.nonzero(codes >= 0)
    place = column * size + codes[row, column]
    pointers = np.concatenate([[0], np.cumsum((codes >= 0).sum(1))])
    table = csr_array((np.ones(len(place)), place, pointers), (n, width * size))
    return table.toarray() if n * width * size <= _DENSE else table


def _coefficients(x: Any) -> Array:
    if not checked.sparse(x):
        return np.asarray(log_multinomial_coefficient(x), dtype=float)
    from scipy.special import gammaln

    x = csr_array(x)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    each = np.bincount(rows, gammaln(x.data + 1.0), x.shape[0])
    return np.asarray(gammaln(np.asarray(x.sum(-1), float) + 1) - each)


def _flat(parameter: Any, inner: int) -> Array:
    """Return a parameter (..., class, inner...) as (..., class, features)."""
    array = np.asarray(parameter, dtype=float)
    return array.reshape(*array.shape[: array.ndim - inner], -1)


def _of_class(parameter: Any, classes: NDArray[np.intp], size: int) -> Array:
    """Return a parameter (..., class, inner...) of the class of each row: (..., n, inner...)."""
    array = np.asarray(parameter, dtype=float)
    lead = classes.shape[:-1]
    inner = array.shape[len(lead) + 1 :]
    flat, codes = array.reshape(-1, size, *inner), classes.reshape(-1, classes.shape[-1])
    found = flat[np.arange(len(flat))[:, None], codes]
    return found.reshape(*classes.shape, *inner)
