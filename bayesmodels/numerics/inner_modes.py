r"""The top of a sum of functions of one number or of a pair, and the normal law around it.

Newton's method in many numbers, for many rows at once: slopes and curvatures of each summand are
differences of its values on three nodes a number. What is not concave in a summand counts as flat,
so that each step leads uphill. Around the top z with the precision P

.. math:: \ln \int e^{f(z)} dz \approx f(\hat z) + \tfrac d2 \ln 2 \pi - \tfrac12 \ln |P|

(Laplace). Source: Nocedal and Wright (2006), *Numerical Optimization*, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesmodels.numerics import Array
from bayesmodels.numerics.elimination import Tables
from bayesmodels.numerics.kernels import threaded
from bayesmodels.numerics.sparse_cholesky import integrals, sparse_precision

_STEP = 1e-3  # of differences, in scales
_SHRINKS = 1e-2  # a unit of steps, at most, from one look to the next
_LEAST = 1e-4  # of the inverse of a scale, squared: a precision that does no harm
_ROUNDS = 60
_HALVES = np.split(0.5 ** np.arange(40), [1, 6, 20])  # parts of a step, tried together
_ARRIVED = 1e-3  # what a step gains
_QUADRATIC = 1e-9  # of a function of a pair, that is off from a quadratic one
_THREE = np.array([-1.0, 0.0, 1.0])

Rows = NDArray[np.intp]
Summands = Callable[[Rows, Array], Tables]


class NormalForest(NamedTuple):
    r"""Normal laws, one a row, of numbers that meet in pairs; and what is left of the function.

    With the move d from the centre the log function is that of the normal law, plus `level`, plus
    of each number :math:`f_i + l_i d_i + b_i d_i^2 / 2`, where f are the functions of one number.
    Given all others a number has a `precision`. NaN in rows without a top; `quadratic` says where
    functions of pairs are so.
    """

    centre: Array
    sd: Array
    precision: Array
    correlation: Array
    slope: Array
    bend: Array
    level: Array
    log_integral: Array
    quadratic: NDArray[np.bool_]


class _Pairs(NamedTuple):
    """Functions of pairs as quadratic ones: values, slopes, and minus the second derivatives.

    And how far off they are from these, in units of their size.
    """

    value: Array
    slopes: tuple[Array, Array]
    own: tuple[Array, Array]
    mixed: Array
    off: Array


class InnerModes:
    """Finds tops of functions whose summands are in tables of one number or of a pair.

    `pairs` are numbers that are in a summand together.
    """

    def __init__(self, pairs: NDArray[np.intp], size: int, rng: np.random.Generator) -> None:
        self._pairs = pairs
        ones = np.ones(len(pairs), dtype=bool)
        half = csr_array((ones, pairs.T), shape=(size, size))
        self._form = sparse_precision(half + half.T, np.ones(size), rng)
        self._probes = self._form.probes()

    def _added(self, first: Array, second: Array) -> Array:
        """Return what both ends of pairs (n, pairs) add up to in each number (n, numbers)."""
        result = np.zeros((len(first), self._form.size))
        _add_ends(first, second, self._pairs, result)
        return result

    def _of_pairs(self, tables: Tables, step: Array) -> _Pairs:
        """Read functions of pairs off nine values of each."""
        forms = np.empty((7, len(step), len(self._pairs)))
        if len(self._pairs):
            _read_pairs(tables[2], self._pairs, step, forms)
        value, first, second, one, other, mixed, off = forms
        return _Pairs(value, (first, second), (one, other), mixed, off)

    def _probed(self, slope: Array, bend: Array, cross: Array) -> Array:
        """Return slopes where they are, and where probes have moved them."""
        result = np.empty((len(slope), 1 + len(self._probes), slope.shape[1]))
        _move(slope, bend, cross, self._pairs, self._probes, result)
        return result

    def _read(self, tables: Tables, step: Array, scale: Array) -> tuple[Array, Array, Array]:
        """Return values, curvatures of functions of one number, and slopes where probes moved."""
        one, pairs = tables[1], self._of_pairs(tables, step)
        value = one[:, :, 1].sum(1) + pairs.value.sum(1)
        slope = (one[:, :, 2] - one[:, :, 0]) / (2 * step) + self._added(*pairs.slopes)
        bend = np.maximum(2 * one[:, :, 1] - one[:, :, 2] - one[:, :, 0], 0) / step**2
        bend = np.nan_to_num(bend) + _LEAST / scale**2
        first, cross, second = _concave(pairs.own[0], pairs.mixed, pairs.own[1])
        return value, bend, self._probed(slope, bend + self._added(first, second), cross)

    def found(self, tables: Summands, start: Array, scale: Array) -> NormalForest:
        """Return the tops above starts (n, numbers), whose units are the scales.

        `tables` gives the summands of some rows at nodes (n, numbers, levels).
        """
        z, size = start.copy(), start.shape[1]
        bends, values, sds = np.full(z.shape, np.nan), np.full(len(z), np.nan), scale.copy()
        rows, form = np.arange(len(z)), tuple(x[None] for x in self._form.form)
        unit = scale.copy()
        for _ in range(_ROUNDS):
            step = _STEP * unit[rows]
            around = tables(rows, z[rows][:, :, None] + step[:, :, None] * _THREE)
            with np.errstate(all="ignore"):
                value, bend, slopes = self._read(around, step, scale[rows])
                # Functions of one number may bend much sooner than so far.
                unit[rows] = np.clip(1 / np.sqrt(bend), _SHRINKS * unit[rows], scale[rows])
            move = integrals(slopes, *form)[:, :size]
            gain = (move * slopes[:, 0]).sum(1) / 2
            there = np.isfinite(value) & (gain < _ARRIVED)
            done = rows[there]
            # Where all is nearly flat nobody has looked so far.
            z[done] += np.clip(move[there], -unit[done], unit[done])
            bends[done], values[done] = bend[there], value[there] + gain[there]
            sd = np.sqrt(self._form.covariances(slopes[there], self._pairs)[1])
            sds[done] = np.where(np.isfinite(sd), sd, scale[done])
            going = np.isfinite(value) & (gain >= _ARRIVED)
            rows, move, value = (x[going] for x in (rows, move, value))
            if not len(rows):
                break
            rows = _stepped(tables, rows, z, move, value)
        with np.errstate(all="ignore"):
            return self._around(tables, z, sds, bends, values)

    def _covariances(self, bend: Array, pairs: _Pairs) -> tuple[Array, Array, Array]:
        """Return half the log determinant of a precision, variances, and covariances of pairs."""
        own = bend + self._added(*pairs.own)
        slopes = self._probed(np.zeros_like(bend), own, pairs.mixed)
        return self._form.covariances(slopes, self._pairs)

    def _around(
        self, tables: Summands, z: Array, sds: Array, bends: Array, values: Array
    ) -> NormalForest:
        """Return the normal laws around tops.

        Functions of pairs are read again, over about their deviations: as they are quadratic, with
        all digits.
        """
        rows, size = np.flatnonzero(np.isfinite(values)), z.shape[1]
        if not len(rows):
            none, pair = np.full(z.shape, np.nan), np.full((len(z), len(self._pairs)), np.nan)
            nowhere = np.zeros(len(z), dtype=bool)
            return NormalForest(z, none, none, pair, none, none, values, values, nowhere)
        step = sds[rows]
        around = tables(rows, z[rows][:, :, None] + step[:, :, None] * _THREE)
        pairs = self._of_pairs(around, step)
        quadratic = np.zeros(len(z), dtype=bool)
        quadratic[rows] = (pairs.off < _QUADRATIC).all(1)
        first, slope = bends[rows], self._added(*pairs.slopes)
        half_log, variance, covariance = self._covariances(first, pairs)
        level = size / 2 * math.log(2 * math.pi)
        sd = np.sqrt(variance)
        ends = [sd[:, end] for end in self._pairs.T]
        results = [
            sd,
            first + self._added(*pairs.own),
            np.clip(covariance / (ends[0] * ends[1]), -1.0, 1.0),
            slope,
            first,
            level - half_log + pairs.value.sum(1),
            level - half_log + values[rows],
        ]
        known: list[Any] = []
        for x in results:
            every = np.full((len(z), *x.shape[1:]), np.nan)
            every[rows] = x
            known.append(every)
        return NormalForest._make([z, *known, quadratic])


def _stepped(tables: Summands, rows: Rows, z: Array, move: Array, value: Array) -> Rows:
    """Move as far as it leads uphill; return the rows that did."""
    before, waiting = z[rows], np.arange(len(rows))
    for parts in _HALVES:
        tried = before[waiting, None] + parts[:, None] * move[waiting, None]
        at = np.repeat(rows[waiting], len(parts))
        each = tables(at, tried.reshape(len(at), -1, 1)).values()
        with np.errstate(over="ignore", invalid="ignore"):  # too far away is not uphill
            total = sum(t.reshape(*tried.shape[:2], -1).sum(2) for t in each)
        better = total >= value[waiting, None]
        found = better.any(1)
        z[rows[waiting[found]]] = tried[found, better[found].argmax(1)]
        waiting = waiting[~found]
        if not len(waiting):
            break
    return np.delete(rows, waiting)


@threaded
def _add_ends(first: Array, second: Array, ends: Rows, total: Array) -> None:
    """Add to the numbers of a total (n, numbers) what each pair has for its two."""
    for row in range(len(first)):
        for k in range(len(ends)):
            total[row, ends[k, 0]] += first[row, k]
            total[row, ends[k, 1]] += second[row, k]


@threaded
def _read_pairs(values: Array, ends: Rows, step: Array, forms: Array) -> None:
    """Write what functions are like around the middle of nine values (n, pairs, 3, 3).

    The value, slopes, minus the second derivatives, and how far off the nine are from that.
    """
    for row in range(values.shape[0]):
        for k in range(values.shape[1]):
            f = values[row, k]
            i, j = step[row, ends[k, 0]], step[row, ends[k, 1]]
            middle = f[1, 1]
            slopes = (f[2, 1] - f[0, 1]) / 2, (f[1, 2] - f[1, 0]) / 2
            bends = 2 * middle - f[2, 1] - f[0, 1], 2 * middle - f[1, 2] - f[1, 0]
            mixed = (f[2, 0] + f[0, 2] - f[2, 2] - f[0, 0]) / 4
            off, size = 0.0, 0.0
            for a in range(3):
                for b in range(3):
                    u, v = a - 1.0, b - 1.0
                    told = slopes[0] * u + slopes[1] * v - mixed * u * v
                    told += middle - (bends[0] * u * u + bends[1] * v * v) / 2
                    gap = abs(told - f[a, b])
                    off = max(off, gap) if math.isfinite(gap) else math.inf
                    size = max(size, abs(f[a, b]))
            forms[0, row, k] = middle
            forms[1, row, k], forms[2, row, k] = slopes[0] / i, slopes[1] / j
            forms[3, row, k], forms[4, row, k] = bends[0] / i**2, bends[1] / j**2
            forms[5, row, k], forms[6, row, k] = mixed / (i * j), off / (1 + size)


@threaded
def _move(slope: Array, bend: Array, cross: Array, ends: Rows, moves: Array, result: Array) -> None:
    """Write slopes, and what they are after each move (moves, numbers), (n, 1 + moves, numbers)."""
    for row in range(len(slope)):
        for i in range(slope.shape[1]):
            result[row, 0, i] = slope[row, i]
            for m in range(len(moves)):
                result[row, 1 + m, i] = slope[row, i] - bend[row, i] * moves[m, i]
        for m in range(len(moves)):
            for k in range(len(ends)):
                a, b = ends[k]
                result[row, 1 + m, a] -= cross[row, k] * moves[m, b]
                result[row, 1 + m, b] -= cross[row, k] * moves[m, a]


def _concave(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Return the positive parts of matrices of two rows: both diagonals, and what is beside."""
    middle, half = (a + c) / 2, (a - c) / 2
    radius = np.hypot(half, b)
    with np.errstate(all="ignore"):
        part = np.clip((middle + radius) / (2 * radius), 0.0, None)
        clipped = [part * (radius + half), part * b, part * (radius - half)]
    flat = middle - radius >= 0
    first, beside, second = (
        np.where(flat, x, np.nan_to_num(y)) for x, y in zip((a, b, c), clipped, strict=True)
    )
    return first, beside, second
