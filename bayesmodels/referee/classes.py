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

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import logsumexp

from bayesmodels.data import MultinomialCounts
from bayesmodels.referee.scores import Test

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

DRAWS_FOR_KURTOSIS = 50
"""Effective draws needed for each unit of kurtosis; the average's skewness is then at most 0.14."""
_MANY = 4000  # draws, of the usual number of chains
_TRIED = 40  # rows at most
_SMALL = 1e-3  # part of a class in h, below which it is left out of the moments
_MOST_CLASSES = 4  # in the moments
_ROUNDING = 1e-10  # part of a variance that alternating sums leave uncertain, amply


def class_probabilities(law: Any, draws: Any, rows: Any) -> tuple[list[Test], pd.DataFrame]:
    """Compare class probabilities of some rows.

    Parameters
    ----------
    law : NaiveBayes or GaussianDiscriminant
        The exact posterior.
    draws : xarray.DataTree or mapping
        Arrays with the axes (chain, draw, ...).
    rows : as the features of the law's data
        A few rows.

    Returns
    -------
    tests : list of Test
        One for each row and each class but the last, whose probability follows from the others';
        those that the draws can tell.
    table : pandas.DataFrame
        Columns ``exact``, ``sampled``, ``mcse`` and ``z``, one row each.
    """
    import pandas as pd
    from arviz_stats.sampling_diagnostics import ess

    group = draws.posterior if hasattr(draws, "posterior") else draws
    values = {name: np.asarray(group[name], dtype=float) for name in law.dims}
    exact = law.log_joint(rows)
    density = logsumexp(exact, axis=-1, keepdims=True)
    probability = np.exp(exact - density)
    with np.errstate(under="ignore"):
        ratio = np.exp(law.log_joint(rows, values) - density)
    error = ratio - probability * ratio.sum(-1, keepdims=True)
    average = ratio.mean((0, 1))
    sampled = average / average.sum(-1, keepdims=True)
    classes = law.coords["class"]
    tests, table = [], {}
    moments = [_moments(law, _taken(rows, [row]), exact[row]) for row in range(len(exact))]
    for row, c in np.ndindex(len(exact), len(classes) - 1):
        spread, kurtosis = moments[row][c]
        h = error[..., row, c]
        number = min(float(ess(h, method="mean")), h.size) if np.ptp(h) > 0 else 1.0
        if number < DRAWS_FOR_KURTOSIS * kurtosis:
            continue
        mcse = spread / np.sqrt(number)
        z = float(h.mean()) / mcse
        label = f"row {row}, {classes[c]}"
        p = float(2 * stats.t.sf(abs(z), number))
        tests.append(Test(label, "class probability", z, number, p))
        table[label] = [float(probability[row, c]), float(sampled[row, c]), mcse, z]
    columns = ["exact", "sampled", "mcse", "z"]
    return tests, pd.DataFrame.from_dict(table, orient="index", columns=columns)


def telling_rows(law: Any, rows: Any, most: int = 10) -> Any:
    """Return the rows whose class is least certain, of those that draws can tell.

    There a wrong probability shows.

    Parameters
    ----------
    law : NaiveBayes or GaussianDiscriminant
        The exact posterior.
    rows : ndarray or pandas.DataFrame
        Rows to choose from.
    most : int, default 10
        How many.
    """
    exact = law.log_joint(rows)
    p = np.exp(exact - logsumexp(exact, axis=-1, keepdims=True))
    found: list[int] = []
    for row in np.argsort(p.max(-1), kind="stable")[:_TRIED]:
        likely = int(p[row].argmax())  # classes that are nearly impossible tell little
        ((_, kurtosis),) = _moments(law, _taken(rows, [row]), exact[row], [likely])
        if kurtosis * DRAWS_FOR_KURTOSIS <= _MANY:
            found.append(int(row))
        if len(found) == most:
            break
    return _taken(rows, sorted(found))


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

    def moment(weight: Array, few: list[int], power: int) -> float:
        return sum(
            factorial(power)
            / prod(factorial(at.count(i)) for i in set(at))
            * float(np.prod(weight[list(at)]))
            * mean(*at)
            for at in combinations_with_replacement(few, power)
        )

    found = []
    with np.errstate(under="ignore"):
        root = np.array([mean(i, i, i, i) ** 0.25 for i in range(len(exact))])
        for i in range(len(exact)) if classes is None else classes:
            weight = (np.arange(len(exact)) == i) - np.exp(exact[i] - density)
            size = np.abs(weight) * root  # Minkowski: (E h^4)^(1/4) is at most their sum
            few = [j for j in np.argsort(-size).tolist() if size[j] > _SMALL * size.sum()]
            few = sorted(few[:_MOST_CLASSES])
            variance = moment(weight, few, 2)
            if variance <= _ROUNDING * size.sum() ** 2:
                found.append((0.0, np.inf))
                continue
            neglected = max(float(size.sum() - size[few].sum()), 0.0)
            fourth = (max(moment(weight, few, 4), 0.0) ** 0.25 + neglected) ** 4
            found.append((float(np.sqrt(variance)), fourth / variance**2))
    return found


def _taken(rows: Any, at: list[int]) -> Any:
    """Return some rows of any container."""
    if isinstance(rows, Mapping):
        return {name: _taken(block, at) for name, block in rows.items()}
    if isinstance(rows, MultinomialCounts):
        return MultinomialCounts(_taken(rows.counts, at))
    if hasattr(rows, "iloc"):
        return rows.iloc[at]
    return rows[at] if hasattr(rows, "shape") else np.asarray(rows)[at]
