"""Which of many tests are significant at one level over all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def holm(p: ArrayLike, level: float, weights: ArrayLike | None = None) -> list[int]:
    r"""Return the numbers of the tests that Holm's step-down procedure rejects, the gravest first.

    In rising order of :math:`p_i / w_i`, a test is rejected as long as it and all before it have
    :math:`p_i / w_i \le \text{level} / \sum_j w_j`, the sum over the tests that are not yet
    rejected. Whatever the weights and the dependence, a true hypothesis is rejected with a
    probability of at most `level`. Holm (1979), *A simple sequentially rejective multiple test
    procedure*, sections 2 and 4.

    >>> holm([0.5, 0.001, 0.02], level=0.05)
    [1, 2]
    """
    p = np.asarray(p, dtype=float)
    w = np.ones(p.shape) if weights is None else np.asarray(weights, dtype=float)
    order = np.argsort(p / w, kind="stable")
    left = np.cumsum(w[order][::-1])[::-1]
    kept = p[order] / w[order] > level / left
    first = int(kept.argmax()) if kept.any() else len(order)
    rejected: list[int] = order[:first].tolist()
    return rejected
