"""Which of many tests are significant at one level over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def holm(p: Any, level: float) -> list[int]:
    r"""Return the numbers of the tests that Holm's step-down procedure rejects, the gravest first.

    With p values in rising order, the k-th of m is rejected as long as
    :math:`p_{(j)} \le \text{level} / (m - j + 1)` for all :math:`j \le k`. Holm (1979), *A simple
    sequentially rejective multiple test procedure*.

    Examples
    --------
    >>> holm([0.5, 0.001, 0.02], level=0.05)
    [1, 2]
    """
    ordered = np.argsort(p, kind="stable").tolist()
    rejected = []
    for rank, number in enumerate(ordered):
        if p[number] > level / (len(ordered) - rank):
            break
        rejected.append(number)
    return rejected
