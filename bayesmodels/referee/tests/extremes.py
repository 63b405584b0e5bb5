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

from bayesmodels.numerics import Array
from bayesmodels.referee.tests.kind import Kind, Test, two_sided

_AS_FAR = 1e-3
"""Expected number of draws so far out, by which the draws that are far out are counted."""
EXTREME = Kind(
    "extreme", "extreme", "{draws} farther out than any should be, the {way} {value:.6g}.",
    ("highest", "lowest"), weight=0.25, needs_ess=False, order=0,
)  # fmt: skip
KINDS = (EXTREME,)


def extreme_tests(labels: list[str], x: Array, u: Array, below: Array, above: Array) -> list[Test]:
    """Test the lowest and the highest draw of scalars, x and transforms u of shape (scalar, draw).

    `below` and `above` are their probabilities of a draw that is as far out, of shape (scalar,).
    """
    number = x.shape[1]
    p, z = two_sided(number * below, number * above)
    value = np.where(above < below, x.max(1), x.min(1))
    count = np.maximum((np.minimum(u, 1 - u) <= _AS_FAR / number).sum(1), 1)
    rows = zip(labels, *(v.tolist() for v in (z, p, value, count)), strict=True)
    return [
        Test(label, EXTREME.name, z, float(number), p, value, draws=count)
        for label, z, p, value, count in rows
    ]


def tail_probabilities(law: Any, x: Array) -> tuple[Array, Array]:
    """Return a law's probabilities up to the lowest draw and from the highest, elementwise.

    Draws have the shape (chain, draw, ...).
    """
    lowest, highest = inwards(x.min((0, 1)), np.inf), inwards(x.max((0, 1)), -np.inf)
    if isinstance(getattr(law, "dist", None), stats.rv_discrete):
        lowest, highest = x.min((0, 1)), x.max((0, 1)) - 1
    return np.asarray(law.cdf(lowest)), np.asarray(law.sf(highest))


def inwards(x: Array, towards: float) -> Array:
    """Return the next number towards another, in single precision where x is of it."""
    with np.errstate(over="ignore", under="ignore"):
        single = x.astype(np.float32)
        nearest = np.nextafter(single, np.float32(towards)).astype(float)
        return np.where(single == x, nearest, np.nextafter(x, towards))


def outermost(x: Array, others: Array) -> tuple[Array, Array]:
    """Return about the probabilities of the lowest and the highest draw, both (..., draw)."""
    n, m = x.shape[-1], others.shape[-1]
    middle = np.median(others, axis=-1)
    result = []
    for end, other in ((x.min(-1), others.min(-1)), (x.max(-1), others.max(-1))):
        far, usual = np.abs(end - middle), np.abs(other - middle)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            result.append(np.where((far > usual) & (usual > 0), 1 / (n + m * far / usual), 1.0))
    return result[0], result[1]
