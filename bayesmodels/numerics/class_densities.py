"""Log densities of rows under the independent or joint law of each class, fast and in blocks.

Rows `x` are of shape (n, F) or (n, D) and any real dtype; users' input was checked before. NaN is
missing and has its factor dropped. Results are natural logarithms of shape (..., n, C), where
``(...)`` stands for leading axes of the parameters such as draws; in memory the classes' columns
come one after the other. Blocks are worked on transposed, (F, rows), which keeps NumPy's inner
loops long, and run on as many threads as there are cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesmodels.numerics import Array, threads
from bayesmodels.numerics.special import HALF_LOG_2PI, log_gamma_ratio

Values = NDArray[Any]
Squares = Callable[[Array], Array]

_FACTORS = 32


def _columns(x: Values, block: slice) -> Array:
    """Return a block of rows transposed, as a float64 copy: loops are long along its last axis."""
    return np.array(x[block].T, dtype=np.float64, order="C")


def _densities(
    x: Values, laws: int, work: Callable[[slice], Array], size: int | None = None
) -> Array:
    """Return the blocks' densities, each (laws, rows), as one array of shape (laws, n)."""
    result = np.empty((laws, len(x)))

    def fill(block: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # `work` looks for what came of it
            result[:, block] = work(block)

    width = math.prod(x.shape[1:])
    threads.run(fill, threads.blocks(x, size), len(x) * max(1, width) * laws)
    return result


def log_student(x: Values, location: Array, scale: Array, df: Array) -> Array:
    """Return log densities under independent Student-t laws; parameters are of shape (C, F).

    The scale is that of a standard deviation. Features that share their degrees of freedom share
    their logarithms: ``(1 + s) (1 + t) - 1`` is ``s + t + s t``, a sum without cancellation, and
    log1p is taken of up to 32 features at once.

    >>> at = np.zeros((1, 2))
    >>> log_student(np.array([[0.0, 0.0]]), at, at + 1, at + 1).round(6)  # Cauchy: 1 / pi each
    array([[-2.28946]])
    """
    location, scale, df = (np.broadcast_to(v, location.shape) for v in (location, scale, df))
    power = 0.5 * (df + 1)
    constant = log_gamma_ratio(df / 2, 0.5) - 0.5 * np.log(np.pi * df) - np.log(scale)
    rate = 1 / (scale * np.sqrt(df))
    alike = (df == df[:, :1]).all(axis=1)

    def work(block: slice) -> Array:
        columns = _columns(x, block)
        z = np.empty_like(columns)
        result = np.empty((len(location), columns.shape[1]))
        for c in range(len(location)):
            np.subtract(columns, location[c, :, None], out=z)
            z *= rate[c, :, None]
            z *= z
            if alike[c]:
                result[c] = np.log1p(_products(z)).sum(axis=0)
                result[c] *= -power[c, 0] if power.size else 0
            else:
                np.einsum("f,fn->n", -power[c], np.log1p(z), out=result[c])
            result[c] += constant[c].sum()
            if not np.isfinite(result[c]).all():
                seen = ~np.isnan(columns)
                z = np.where(seen, columns - location[c, :, None], 0) * rate[c, :, None]
                logs = 2 * np.log(np.hypot(1, z))  # no square that overflows
                np.log1p(z * z, out=logs, where=np.abs(z) < 1)
                terms = constant[c, :, None] - power[c, :, None] * logs
                result[c] = np.where(seen, terms, 0).sum(axis=0)
        return result

    return _densities(x, len(location), work).T


def _products(t: Array) -> Array:
    """Return the products of 1 + t over at most 32 rows each, less 1; overwrites t."""
    spare = np.empty((len(t) // 2, t.shape[1]))
    rows, target = len(t), -(-len(t) // _FACTORS)
    while rows > target:
        half = min(rows // 2, rows - target)
        a, b = t[:half], t[rows - half : rows]
        product = np.multiply(a, b, out=spare[:half])
        a += b
        a += product
        rows -= half
    return t[:rows]


def log_normal(x: Values, mean: Array, variance: Array) -> Array:
    """Return log densities under independent normal laws; parameters are of shape (..., C, F)."""
    mean, variance = np.broadcast_arrays(mean, variance)
    lead = mean.shape[:-1]
    mean, variance = laws(mean), laws(variance)
    constant = -0.5 * np.log(variance) - HALF_LOG_2PI
    rate = np.sqrt(0.5 / variance)

    def work(block: slice) -> Array:
        columns = _columns(x, block)
        z = np.empty_like(columns)
        result = np.empty((len(mean), columns.shape[1]))
        for c in range(len(mean)):
            np.subtract(columns, mean[c, :, None], out=z)
            z *= rate[c, :, None]
            z *= z
            np.subtract(constant[c].sum(), z.sum(axis=0), out=result[c])
            missing = np.isnan(result[c])
            if missing.any():
                seen = ~np.isnan(columns)
                result[c] = np.where(seen, constant[c, :, None] - z, 0).sum(axis=0)
        return result

    return by_class(_densities(x, len(mean), work), lead)


def laws(parameters: Array) -> Array:
    """Turn (..., F) into (laws, F)."""
    return parameters.reshape(math.prod(parameters.shape[:-1]), parameters.shape[-1])


def by_class(result: Array, lead: tuple[int, ...]) -> Array:
    """Turn (laws, n) into (..., n, C), where lead is (..., C)."""
    return np.swapaxes(result.reshape(*lead, result.shape[1]), -1, -2)


def log_multivariate_student(
    x: Values, location: Array, root: Array, df: Array, factor: Array | None = None
) -> Array:
    """Return log densities of finite rows under a multivariate Student-t law of each class.

    `location` is of shape (C, D); `root` holds lower Cholesky factors of the scale matrices, of
    shape (C, D, D), or (D, D) if all classes share one; `df` of shape (C,), where infinitely many
    make a normal law; `factor` (C,) is what the scale matrices are multiplied by.

    >>> x, root = np.zeros((1, 1)), np.eye(1)
    >>> log_multivariate_student(x, np.zeros((1, 1)), root, np.ones(1)).round(6)  # Cauchy: 1 / pi
    array([[-1.14473]])
    """
    C, D = location.shape
    factor = np.ones(C) if factor is None else factor
    log_root = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    constant = -log_root - 0.5 * D * np.log(factor)
    normal = np.isinf(df)
    finite = np.where(normal, 1.0, df)
    constant = constant + np.where(
        normal,
        -D * HALF_LOG_2PI,
        log_gamma_ratio(finite / 2, D / 2) - 0.5 * D * np.log(np.pi * finite),
    )
    rate = 1 / (factor * np.where(normal, 2.0, df))
    power = np.where(normal, 1.0, 0.5 * (df + D))
    shared = root.ndim == location.ndim
    distances = (_shared_squares if shared else _separate_squares)(location, root)

    def work(block: slice) -> Array:
        result = distances(x[block])
        result *= rate[:, None]
        if not normal.any():
            np.log1p(result, out=result)
        else:
            for row in np.flatnonzero(~normal):
                np.log1p(result[row], out=result[row])
        result *= -power[:, None]
        result += constant[:, None]
        return result

    # Long blocks: threads that wait for each other at every call would take turns.
    return _densities(x, C, work, 2 * threads.BLOCK).T


def _separate_squares(location: Array, root: Array) -> Squares:
    """Return the function from rows to squared distances from each class, of shape (C, rows)."""
    inverse = [linalg.solve_triangular(r, np.eye(len(r)), lower=True) for r in root]

    def squares(rows: Values) -> Array:
        result = np.empty((len(location), len(rows)))
        for c, centre in enumerate(location):
            z = threads.product(inverse[c], (rows - centre).T)
            np.einsum("dn,dn->n", z, z, out=result[c])
        return result

    return squares


def _shared_squares(location: Array, root: Array) -> Squares:
    """Return the same function for one shared root; means span only C - 1 directions.

    Rows are rotated so that these come first; the others are squared once for all classes.
    """
    C, D = location.shape
    inverse = linalg.solve_triangular(root, np.eye(D), lower=True)
    centres = inverse @ (location - location[:1]).T
    turn = linalg.qr(centres[:, 1:])[0] if C > 1 else np.eye(D)
    rank = min(C - 1, D)
    turned, centres = turn.T @ inverse, (turn.T @ centres)[:rank]

    def squares(rows: Values) -> Array:
        place = threads.product(turned, (rows - location[0]).T)
        away = place[:rank] - centres.T[:, :, None]
        result: Array = np.einsum("cdn,cdn->cn", away, away)
        result += np.einsum("dn,dn->n", place[rank:], place[rank:])
        return result

    return squares


def log_table(codes: Values, logs: Array) -> Array:
    """Return log masses of codes ``0 .. K - 1`` under independent categorical laws.

    Code -1 is missing. `logs` are log probabilities of shape (..., C, F, K), which may be -inf.
    """
    *lead, F, K = logs.shape
    # Each feature's table gets a place for missing codes in front of it.
    flat = np.zeros((math.prod(lead), F, K + 1))
    flat[:, :, 1:] = logs.reshape(len(flat), F, K)
    flat = flat.reshape(len(flat), F * (K + 1))
    first = np.arange(1, 1 + F * (K + 1), K + 1, dtype=np.intp)[:F, None]

    def work(block: slice) -> Array:
        place = np.array(codes[block].T, dtype=np.intp, order="C")
        place += first
        values = np.empty(place.shape)
        result = np.empty((len(flat), place.shape[1]))
        for c, table in enumerate(flat):
            # "clip" writes straight to its target; nothing needs clipping.
            table.take(place, out=values, mode="clip")
            values.sum(axis=0, out=result[c])
        return result

    return by_class(_densities(codes, len(flat), work), tuple(lead))


def log_bits(x: Values, log_one: Array, log_zero: Array) -> Array:
    """Return log masses of 0 and 1 under independent Bernoulli laws.

    The log probabilities of 1 and of 0 are of shape (..., C, F), and may be -inf.
    """
    log_one, log_zero = np.broadcast_arrays(log_one, log_zero)
    lead, F = log_one.shape[:-1], log_one.shape[-1]
    logs = np.concatenate([laws(log_one), laws(log_zero)], axis=1)
    never = np.isneginf(logs)
    logs, impossible = np.where(never, 0.0, logs), never.astype(np.float64)

    def work(block: slice) -> Array:
        rows = x[block]
        both = np.empty((len(rows), 2 * F))  # ones, then zeros; neither where missing
        both[:, :F] = rows
        np.subtract(1, both[:, :F], out=both[:, F:])
        result = threads.product(logs, both.T)
        if np.isnan(result).any():
            both[np.isnan(both)] = 0
            result = threads.product(logs, both.T)
        if never.any():
            result[threads.product(impossible, both.T) > 0] = -np.inf
        return result

    return by_class(_densities(x, len(logs), work), lead)


def flat_members(parameter: Any, inner: int) -> Array:
    """Make one axis of the last `inner` axes of a parameter of shape (..., members, inner...)."""
    x = np.asarray(parameter, dtype=np.float64)
    return x.reshape(*x.shape[: x.ndim - inner], -1)


def normalise(log_joint: Array) -> Array:
    """Turn logs (..., n, C) into probabilities that sum to 1 over the last axis, in place.

    Where all of a row are -inf, no class explains the row, and it becomes zeros.

    >>> normalise(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    if log_joint.ndim > 2:  # noqa: PLR2004 - leading axes
        for part in log_joint:
            normalise(part)
        return log_joint

    def work(block: slice) -> None:
        p = log_joint[block].T
        p -= p.max(axis=0, initial=np.finfo(float).min)  # finite, though all may be -inf
        np.exp(p, out=p)
        p *= 1 / np.maximum(p.sum(axis=0), 1)  # of which the largest is 1, or all are 0

    threads.run(work, threads.blocks(log_joint), log_joint.size)
    return log_joint
