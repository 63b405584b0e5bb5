r"""Predicted class probabilities: integrated over the exact posterior, against averages over draws.

For a row x and a class c, the exact law gives :math:`p(c, x \mid D)`, which is the mean of
:math:`p(c, x \mid \theta)` over the posterior. Hence

.. math:: h(\theta) = \frac{p(c, x \mid \theta) - p(c \mid x, D)\, p(x \mid \theta)}{p(x \mid D)}

has mean zero exactly when draws of :math:`\theta` reproduce the class probability, and its average
over draws is, to first order, the error of theirs.

Its higher moments are exact too: the mean of a product of such densities is the evidence of as many
copies of the row. An average over draws follows a normal law only if h is not too heavy-tailed: in
many dimensions it may rest on draws so rare that none was made. Such rows are not tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import logsumexp

from bayesmodels.belief.rows import row_labels, rows_at
from bayesmodels.numerics import Array
from bayesmodels.referee.scalars import law_draws
from bayesmodels.referee.tests.kind import Kind, Test

if TYPE_CHECKING:
    import pandas as pd

CLASS_PROBABILITY = Kind(
    "class probability", "probability",
    "the predicted class probability ({label}) is {size} too {way}.", weight=8,
)  # fmt: skip
KINDS = (CLASS_PROBABILITY,)
DRAWS_FOR_KURTOSIS = 50
"""Effective draws needed for each unit of kurtosis; the average's skewness is then at most 0.14."""
_MANY = 4000  # draws, of the usual number of chains
_TRIED = 40  # rows at most
_TOGETHER = 10_000  # rows whose probabilities are in memory at a time
_SMALL = 1e-3  # part of a class in h, below which it is left out of the moments
_MOST_CLASSES = 4  # in the moments
_ROUNDING = 1e-10  # part of a variance that alternating sums leave uncertain, amply


def class_probabilities(law: Any, draws: Any, rows: Any) -> tuple[list[Test], pd.DataFrame]:
    """Compare class probabilities of a few rows, given as the features of the law's data.

    There is a test for each row and each class but the last, whose probability follows, that draws
    can tell; the table has ``exact``, ``sampled``, ``mcse`` and ``z``, NaN of what they can't. Rows
    are named by the index of a frame, if its labels differ, or by number.
    """
    import pandas as pd
    from arviz_stats.sampling_diagnostics import ess

    rows = list(rows) if isinstance(rows, tuple) else rows  # which would be a pair
    values = law_draws(law, draws)
    exact = law.log_joint(rows)
    density = logsumexp(exact, axis=-1, keepdims=True)
    probability = np.exp(exact - density)
    with np.errstate(under="ignore"):
        ratio = np.exp(law.log_joint(rows, values) - density)
    error = ratio - probability * ratio.sum(-1, keepdims=True)
    average = ratio.mean((0, 1))
    sampled = average / average.sum(-1, keepdims=True)
    classes = law.coords["class"]
    names = row_labels(rows, len(exact))
    tests, labels, table = [], [], []
    moments = [_moments(law, rows_at(rows, [row]), exact[row]) for row in range(len(exact))]
    for row, c in np.ndindex(len(exact), len(classes) - 1):
        spread, kurtosis = moments[row][c]
        h = error[..., row, c]
        number = min(float(ess(h, method="mean")), h.size) if np.ptp(h) > 0 else 1.0
        labels.append(f"row {names[row]}, {classes[c]}")
        mcse = z = np.nan
        if number >= DRAWS_FOR_KURTOSIS * kurtosis:
            mcse = spread / np.sqrt(number)
            z = float(h.mean()) / mcse
            p = float(2 * stats.t.sf(abs(z), number))
            tests.append(Test(labels[-1], CLASS_PROBABILITY.name, z, number, p))
        table.append([float(probability[row, c]), float(sampled[row, c]), mcse, z])
    return tests, pd.DataFrame(table, labels, columns=["exact", "sampled", "mcse", "z"])


def telling_rows(law: Any, rows: Any, most: int = 10) -> Any:
    """Return the rows whose class is least certain, the least certain first.

    There a wrong probability shows. They are as many as it takes for `most` of them to be told by
    draws, but at most 40.
    """
    rows = list(rows) if isinstance(rows, tuple) else rows
    parts = np.split(np.arange(len(rows)), range(_TOGETHER, len(rows), _TOGETHER))
    sure = [_likely(law.log_joint(rows_at(rows, part.tolist())))[1] for part in parts]
    order = np.argsort(np.concatenate(sure), kind="stable")[:_TRIED].tolist()
    told, shown = 0, most
    for tried, row in enumerate(order, 1):
        one = rows_at(rows, [row])
        exact = law.log_joint(one)
        likely = int(_likely(exact)[0][0])  # classes that are nearly impossible tell little
        ((_, kurtosis),) = _moments(law, one, exact[0], [likely])
        if kurtosis * DRAWS_FOR_KURTOSIS <= _MANY:
            told, shown = told + 1, max(shown, tried)
        if told == most:
            break
    return rows_at(rows, order[:shown])


def _likely(exact: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the most probable class of each row, and its probability."""
    best = exact.argmax(-1)
    return best, np.exp(exact.max(-1) - logsumexp(exact, axis=-1))


def _moments(
    law: Any, row: Any, exact: Array, classes: Sequence[int] | None = None
) -> list[tuple[float, float]]:
    """Return standard deviation and kurtosis (3 for a normal law) of each class's h under the law.

    The kurtosis is infinite where rounding leaves nothing of the variance.
    """
    labels = law.coords["class"]
    density = logsumexp(exact)

    @cache
    def copies(*at: int) -> Any:
        """Return the statistic of copies of the row, with classes."""
        if len(at) == 1:
            return law.statistic((row, [labels[at[0]]]))
        return copies(*at[:-1]) + copies(at[-1])

    @cache
    def mean(*at: int) -> float:
        """Return E[p(x, c1 | theta) p(x, c2 | theta) ...], over p(x) to the same power."""
        return float(np.exp(law.log_evidence(copies(*at)) - len(at) * density))

    def moment(weight: Array, largest: list[int], power: int) -> float:
        return sum(
            factorial(power)
            / prod(factorial(at.count(i)) for i in set(at))
            * float(np.prod(weight[list(at)]))
            * mean(*at)
            for at in combinations_with_replacement(largest, power)
        )

    result = []
    with np.errstate(under="ignore"):
        root = np.array([mean(i, i, i, i) ** 0.25 for i in range(len(exact))])
        for i in range(len(exact)) if classes is None else classes:
            weight = (np.arange(len(exact)) == i) - np.exp(exact[i] - density)
            size = np.abs(weight) * root  # Minkowski: (E h^4)^(1/4) is at most their sum
            largest = [j for j in np.argsort(-size).tolist() if size[j] > _SMALL * size.sum()]
            largest = sorted(largest[:_MOST_CLASSES])
            variance = moment(weight, largest, 2)
            if variance <= _ROUNDING * size.sum() ** 2:
                result.append((0.0, np.inf))
                continue
            neglected = max(float(size.sum() - size[largest].sum()), 0.0)
            fourth = (max(moment(weight, largest, 4), 0.0) ** 0.25 + neglected) ** 4
            result.append((float(np.sqrt(variance)), fourth / variance**2))
    return result
