r"""Assurance: the probability that a decision will be reached, before there are any rows.

.. math:: P(\text{decision} \mid n) = \sum_x p(x \mid n) \, [\text{rule}(p(\theta \mid x))]

over what a design prior predicts of n rows in each group. O'Hagan, Stevens and Campbell (2005),
*Assurance in clinical trial design*, Pharmaceutical Statistics 4, 187-201.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmodels.belief.protocol import Counted
from bayesmodels.errors import DataError
from bayesmodels.input.parameters import count, randomness
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd


Rule = Callable[[Any], Any]
_NOTHING = 1e-12  # of the predictive probability may be left out


def assurance(
    design: Any,
    analysis: Any,
    sizes: Iterable[int],
    rule: Rule,
    *,
    simulate: Callable[[int, np.random.Generator], Any] | None = None,
    most: int = 20_000,
    n: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Return how probable a decision is as the number of rows grows.

    Parameters
    ----------
    design : conjugate belief
        What is believed of the groups before the experiment; rows are predicted from it. One group,
        or one parameter a group, such as ``bm.BetaBernoulli([10, 12], [90, 88])``.
    analysis : conjugate belief
        The prior that the rows will be analysed with, often a vaguer or a sceptical one.
    sizes : iterable of int
        Numbers of rows that each group may get.
    rule : callable
        From posteriors to booleans: elementwise over their leading axis, one posterior a data set,
        groups along the last. With `simulate`, from one posterior to a boolean.
    simulate : callable, optional
        Rows of your own, from their number and a Generator, for `analysis.update`; the design is
        then not used, and may be None.
    most : int, default 20,000
        Numbers of events are gone through if there are at most so many combinations; others, and
        rows that are no counts, are simulated.
    n : int, default 2000
        Number of simulations.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    pandas.DataFrame
        One row a size: ``probability``, its ``error`` (0 of sums, else a Monte-Carlo standard
        error), and ``exact``, which it is.

    Raises
    ------
    DataError
        If a number is out of range, or the rule does not return one boolean a posterior.

    See Also
    --------
    bayesmodels.plot_assurance : the curve.

    Examples
    --------
    How many patients for the probability to be 95 % that more than one in five recovers?

    >>> import bayesmodels as bm
    >>> design, flat = bm.BetaBernoulli(30, 70), bm.BetaBernoulli(1, 1)
    >>> found = assurance(design, flat, [20, 50, 100],
    ...                   lambda posterior: posterior.marginals()["theta"].sf(0.2) > 0.95)
    >>> found.round(3)
         probability  error  exact
    rows
    20         0.397    0.0   True
    50         0.537    0.0   True
    100        0.697    0.0   True
    """
    import pandas as pd

    n, most, rng = count(n, "n", 2), count(most, "most", 1), randomness(rng)
    rows = {}
    for size in [count(each, "sizes", 1) for each in sizes]:
        if simulate is not None:
            one_by_one = [_one(rule(analysis.update(simulate(size, rng)))) for _ in range(n)]
            rows[size] = _simulated(np.array(one_by_one))
            continue
        every = _every(design, size, most)
        if every is not None:
            events, mass = every
            hits = _decided(rule, analysis.update(design.counted(events, size)), len(mass))
            rows[size] = (float(mass[hits].sum()), 0.0, True)
            continue
        law = design.plug_in(design.sample(n, rng))
        drawn = law.rvs(size=(size, *np.shape(law.mean())), random_state=rng)
        rows[size] = _simulated(_decided(rule, analysis.update(drawn), n))
    if not rows:
        raise DataError("sizes: must hold at least one number of rows; got none.")
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["probability", "error", "exact"])
    return table.rename_axis("rows")


def _simulated(hits: Array) -> tuple[float, float, bool]:
    """Return a proportion and its standard error, which is positive at 0 and 1 too."""
    p, n = float(hits.mean()), len(hits)
    return p, float(np.sqrt(max(p * (1 - p), 1 / n) / n)), False


def _every(design: Any, size: int, most: int) -> tuple[Any, Any] | None:
    """Return all numbers of events and their probabilities; None if they are too many."""
    if not isinstance(design, Counted):
        return None
    law = design.predictive(size)
    shape = np.shape(law.mean())
    if len(shape) > 1:
        raise DataError(
            f"design: must be of one group, or of one parameter a group; got the shape {shape}."
        )
    ends = np.ravel(law.isf(_NOTHING / 2)) if np.isinf(law.support()[1]).any() else [size]
    last = int(np.max(ends))
    if (last + 1.0) ** max(1, int(np.prod(shape))) > most:
        return None
    k = np.arange(last + 1)
    if not shape:
        return k, np.exp(law.logpmf(k))
    grid = np.stack(np.meshgrid(*[k] * shape[0], indexing="ij"), -1).reshape(-1, shape[0])
    return grid, np.exp(law.logpmf(grid).sum(-1))


def _decided(rule: Rule, posterior: Any, number: int) -> Array:
    result = np.asarray(rule(posterior))
    if result.shape != (number,) or result.dtype != bool:
        raise DataError(
            f"rule: must return one boolean for each of {number:,} posteriors; got {result.dtype} "
            f"of shape {result.shape}. Work elementwise, as bm.decisions.probability_best does."
        )
    return result


def _one(answer: Any) -> bool:
    if np.shape(answer) or not isinstance(answer, (bool, np.bool_)):
        raise DataError(f"rule: must return one boolean; got {answer!r}.")
    return bool(answer)
