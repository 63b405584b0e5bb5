"""Rows whose class may be unknown: read, and brought to their distinct patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesmodels.belief import values
from bayesmodels.belief.conjugate import discounted
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.protocol import Draws, LatentFamily
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.containers import Argument, present, read
from bayesmodels.input.labels import Coords
from bayesmodels.input.wrappers import Design, Weighted
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.features import Block, Classified, argument
from bayesmodels.models.classifiers.generative import ProductOfBeliefs, known_draws
from bayesmodels.numerics import Array

UNKNOWN = -1
"""Code of a row whose class is not known."""

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
        return self.concatenated(other).distinct()

    def concatenated(self, other: Self) -> Self:
        """Return these rows followed by those of `other`; equal rows stay apart."""
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
        """Return the rows at these places, maybe with other weights."""
        rows = {name: x[at] for name, x in self.rows.items()}
        kept = self.weights[at] if weights is None else weights
        return type(self)(self.labels[at], rows, self.axes, kept)

    def patterns(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first places of the distinct rows, in order, and the number of each row."""
        return patterns([self.labels, *self.rows.values()], len(self.labels))

    def distinct(self) -> Self:
        """Return each distinct row once, with its total weight, in an order of their values."""
        first, inverse = self.patterns()
        return self.take(first, np.bincount(inverse, self.weights, len(first)))

    def spread(self, most: int) -> Self:
        """Return at most `most` distinct rows, evenly spaced in their order, without classes."""
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
    """Return checked rows, with their classes where these are known."""
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
    classified = Classified(classes, blocks, features, new=True)
    rows, axes = {}, {}
    for name in blocks:
        x = classified.cells(name)
        rows[name] = x if checked.sparse(x) else np.asarray(x)
        axes[name] = dict(classified.belief(name).coords)
    n = next(iter(rows.values())).shape[0]
    labels = np.full(n, UNKNOWN, dtype=np.intp)
    if target is not None:
        known = read(target, "target", missing=True)
        if known.values.shape != (n,):
            raise DataError(
                f"target: must hold one class a row, missing where it is unknown; got shape "
                f"{known.values.shape} for {n} rows."
            )
        classified.same_rows(known)
        here = np.ones(n, dtype=bool) if known.missing is None else ~known.missing
        labels[here] = classes.read(Argument("target", present(known)))
    counts = np.ones(n)
    if weights is not None:
        heavy = read(weights, "weights")
        counts = checked.checked_weights(heavy, classified.same_rows(heavy))
    return MixtureStatistic(labels, rows, axes, counts)


def _stacked(a: Any, b: Any) -> Any:
    if checked.sparse(a) or checked.sparse(b):
        from scipy.sparse import vstack

        return vstack([a, b], format="csr")
    return np.concatenate([a, b])


def patterns(parts: list[Any], n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
                key, result = pd.factorize(key, sort=True)
                size = len(result)
            key, size = key * number + codes, size * number
            if size > n and len(pd.unique(key)) == n:  # all differ already
                break
    codes, result = pd.factorize(key, sort=True)
    first = np.full(len(result), n, dtype=np.intp)
    np.minimum.at(first, codes, np.arange(n))
    return first, np.asarray(codes, dtype=np.intp)


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
        blocks = {}
        for name, block in self.blocks.items():
            belief: Any = block.belief
            if not isinstance(belief, LatentFamily):
                raise PriorError(
                    f"{argument(name)}: a mixture takes BetaBernoulli, DirichletCategorical, "
                    "GammaPoisson, GammaExponential and NormalInverseGamma features; got "
                    f"{type(belief).__name__}. For vectors use one NormalInverseGamma a "
                    "column."
                )
            none = np.zeros(tuple(map(len, s.axes[name].values())))
            nothing = block.belief.statistic_type(none, coords=s.axes[name])
            blocks[name] = block.of(block.belief.update(nothing))
        return self._of(self.classes, blocks)

    def features_of(self, s: MixtureStatistic) -> Iterator[tuple[Any, Names, Any]]:
        """Yield the belief about each block, its names and its rows (n, inner...)."""
        for (belief, names), x in zip(self.parts()[1:], s.rows.values(), strict=True):
            yield belief, names, x

    def log_densities(self, s: MixtureStatistic, at: Draws) -> Array:
        """Return log densities (samples..., n, class) of the rows in each class."""
        pi = checked.drawn(at, "pi")
        total = np.zeros((*pi.shape, len(s.labels))).swapaxes(-1, -2)  # long loops over rows
        for belief, names, x in self.features_of(s):
            total += belief.log_plug_in(known_draws(at, belief, names), x)
        return total

    def log_joint_of(self, s: MixtureStatistic, at: Draws) -> Array:
        """Return log joint densities of rows and classes, -inf where another class is known."""
        joint = self.log_densities(s, at)
        with np.errstate(divide="ignore"):  # a draw may round to 0
            joint += np.log(checked.drawn(at, "pi").astype(float))[..., None, :]
        joint[..., ~self.allowed(s)] = -np.inf
        return joint

    def allowed(self, s: MixtureStatistic) -> NDArray[np.bool_]:
        """Return which class (n, class) each row may belong to."""
        known = s.labels[:, None]
        return (known == UNKNOWN) | (known == np.arange(len(self.classes.alpha)))


def shares(joint: Array) -> tuple[Array, Array]:
    """Turn log densities into probabilities of the classes, in place; return the log totals, too.

    Classes are on the last axis. Where none is possible all are alike, and the log total is -inf.
    """
    top = joint.max(-1, keepdims=True)
    np.subtract(joint, np.where(np.isfinite(top), top, 0.0), out=joint)
    np.exp(joint, out=joint)
    total = joint.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = (np.log(total) + top)[..., 0]
    np.divide(joint, total, out=joint, where=total > 0)
    if np.isneginf(logs).any():
        joint[np.isneginf(logs)] = 1 / joint.shape[-1]
    return joint, logs


AT_ONCE = 8_000_000
"""Numbers that a pass spreads out at once, at most."""


def slices(s: MixtureStatistic, numbers: int) -> Iterator[MixtureStatistic]:
    """Yield blocks of rows, so small that `numbers` for each row fit into memory."""
    step = max(1, AT_ONCE // numbers)
    if step >= len(s.labels):
        yield s
        return
    for at in range(0, len(s.labels), step):
        yield s.take(np.arange(at, min(at + step, len(s.labels))))


def _table(x: NDArray[Any]) -> NDArray[Any]:
    """Return rows as a table of columns, also if there are none."""
    return x.reshape(len(x), prod(x.shape[1:]))


def dense(table: Any) -> NDArray[Any]:
    """Return a table that may be sparse as an array."""
    return np.asarray(table.toarray() if checked.sparse(table) else table)
