r"""Predicted class probabilities: integrated over the exact posterior, against averages over draws.

For a row x and a class c, the exact law gives :math:`p(c, x \mid D)`, which is the mean of
:math:`p(c, x \mid \theta)` over the posterior. Hence

.. math:: h(\theta) = \frac{p(c, x \mid \theta) - p(c \mid x, D)\, p(x \mid \theta)}{p(x \mid D)}

has mean zero exactly when draws of :math:`\theta` reproduce the class probability, and its average
over draws is, to first order, the error of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from bayesmodels.referee.sampling import Test

if TYPE_CHECKING:
    import pandas as pd

_DOMINATED = 0.05
"""Averages of which one draw makes up a larger part say nothing: they are not tested."""


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
        One for each row and each class but the last, whose probability follows from the others'.
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
    for row, c in np.ndindex(len(exact), len(classes) - 1):
        h = error[..., row, c]
        size = np.abs(h)
        if h.size == 0 or not size.max() < _DOMINATED * size.sum():
            continue
        number = min(float(ess(h, method="mean")), h.size)
        spread = float(h.std(ddof=1)) / np.sqrt(number)
        z = float(h.mean()) / spread
        label = f"row {row}, {classes[c]}"
        p = float(2 * stats.t.sf(abs(z), number))
        tests.append(Test(label, "class probability", z, number, p))
        table[label] = [float(probability[row, c]), float(sampled[row, c]), spread, z]
    columns = ["exact", "sampled", "mcse", "z"]
    return tests, pd.DataFrame.from_dict(table, orient="index", columns=columns)


def telling_rows(law: Any, rows: Any, most: int = 10) -> Any:
    """Return the rows whose class is least certain: there a wrong probability shows.

    Parameters
    ----------
    law : NaiveBayes or GaussianDiscriminant
        The exact posterior.
    rows : ndarray or pandas.DataFrame
        Rows to choose from.
    most : int, default 10
        How many.
    """
    p = law.class_probabilities(rows)
    at = np.sort(np.argsort(p.max(-1), kind="stable")[:most])
    return rows.iloc[at] if hasattr(rows, "iloc") else rows[at]
