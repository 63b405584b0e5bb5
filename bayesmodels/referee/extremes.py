r"""Draws where a law has next to no probability, or none.

Functions of ranks are bounded: a few draws far outside move them by next to nothing, yet they ruin
means and standard deviations. Of n draws the lowest one, :math:`x_{(1)}`, is seldom far out,

.. math:: P(F(x_{(1)}) \le t) \le n t,

however dependent the draws are (Bonferroni), and so it is with the highest one. What is impossible
has probability zero, so that one such draw is enough. A draw stands for all numbers that round to
it, in single precision if it is a number of single precision.

Where draws stand for the law, or two sets are compared, nothing is known beyond the outermost of
them. Of laws with tails no heavier than Cauchy's, of n draws the outermost is r times as far from
the median as that of m others with a probability of about :math:`n / (n + m r)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array, threads
from bayesmodels.referee.pit import TINY, Test

_AS_FAR = 1e-3
"""Expected number of draws so far out, by which the draws that are far out are counted."""


def extreme_tests(labels: list[str], x: Array, u: Array, below: Array, above: Array) -> list[Test]:
    """Test the lowest and the highest draw of scalars, x and transforms u of shape (scalar, draw).

    `below` and `above` are their probabilities of a draw that is as far out, of shape (scalar,).
    """
    number = x.shape[1]
    p = np.clip(2 * number * np.minimum(below, above), TINY, 1.0)
    high = above < below
    z = stats.norm.isf(p / 2) * np.where(high, 1, -1) + 0.0
    value = np.where(high, x.max(1), x.min(1))
    out = np.minimum(u, 1 - u) <= _AS_FAR / number
    count = np.maximum(out.sum(1), 1)
    rows = zip(labels, *(v.tolist() for v in (z, p, value, count)), strict=True)
    return [
        Test(label, "extreme", z, float(number), p, value, draws=count)
        for label, z, p, value, count in rows
    ]


def tail_probabilities(law: Any, x: Array) -> tuple[Array, Array]:
    """Return a law's probabilities up to the lowest draw and from the highest, elementwise.

    Draws have the shape (chain, draw, ...).
    """
    lowest, highest = inwards(x.min((0, 1)), np.inf), inwards(x.max((0, 1)), -np.inf)
    if isinstance(law, rv_frozen):
        if isinstance(law.dist, stats.rv_discrete):
            lowest, highest = x.min((0, 1)), x.max((0, 1)) - 1
        below, above = law.cdf(lowest), law.sf(highest)
    else:
        below, above = law.cdf(lowest), 1 - np.asarray(law.cdf(highest))
    return np.asarray(below), np.asarray(above)


def inwards(x: Array, towards: float) -> Array:
    """Return the next number, in single precision of what is a number of single precision."""
    with np.errstate(over="ignore", under="ignore"):
        single = x.astype(np.float32)
        nearest = np.nextafter(single, np.float32(towards)).astype(float)
        return np.where(single == x, nearest, np.nextafter(x, towards))


def beyond_others(x: Array, others: Array) -> tuple[Array, Array]:
    """Return about the probabilities of the lowest and the highest draw, both (..., draw)."""
    n, m = x.shape[-1], others.shape[-1]
    middle = np.median(others, axis=-1)
    found = []
    for end, other in ((x.min(-1), others.min(-1)), (x.max(-1), others.max(-1))):
        far, usual = np.abs(end - middle), np.abs(other - middle)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found.append(np.where((far > usual) & (usual > 0), 1 / (n + m * far / usual), 1.0))
    return found[0], found[1]


def log_densities(law: Any, draws: dict[str, Array], axes: int) -> Array:
    """Return joint log densities over leading axes of draws; of separate problems, of all together.

    It is -inf where there is none, such as at a matrix that is not positive definite.
    """
    sizes = next(iter(draws.values())).shape[:axes]
    flat = {name: x.reshape(-1, *x.shape[axes:]) for name, x in draws.items()}

    def some(piece: slice) -> Array:
        own = {name: x[piece] for name, x in flat.items()}
        with np.errstate(all="ignore"):
            try:
                value = np.asarray(law.log_density(own))
            except (np.linalg.LinAlgError, DataError):
                number = len(next(iter(own.values())))
                if number == 1:
                    return np.array([-np.inf])
                start = piece.start
                return np.concatenate(
                    [some(slice(start + k, start + k + 1)) for k in range(number)]
                )
            return value.reshape(len(value), -1).sum(-1)

    largest = max(flat.values(), key=np.size)
    # One after the other: compiled graphs of PyTensor must not run on two threads at once.
    value = np.concatenate([some(piece) for piece in threads.blocks(largest)]).reshape(sizes)
    return np.where(np.isnan(value), -np.inf, value)


def support_tests(
    law: Any, draws: dict[str, Array], seen: Array, rng: np.random.Generator
) -> list[Test]:
    """Return a test of each variable that has impossible values, where `seen` densities are zero.

    If the density stays zero beside exact draws of all others, the variable alone is to blame.
    """
    impossible = seen == -np.inf
    number = int(impossible.sum())
    if not number:
        return []
    exact = law.sample(number, rng)
    found = {}
    for name, x in draws.items():
        alone = log_densities(law, {**exact, name: x[impossible]}, 1)
        if count := int((alone == -np.inf).sum()):
            found[name] = count
    found = found or {" and ".join(draws): number}
    z = float(stats.norm.isf(TINY / 2))
    return [
        Test(name, "support", -z, float(seen.size), TINY, draws=count)
        for name, count in found.items()
    ]
