"""How often a rule errs that stops as soon as a loss is acceptable, by simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesmodels.decisions.many import expected_losses
from bayesmodels.errors import DataError
from bayesmodels.input.containers import listed
from bayesmodels.input.parameters import count, parameter, randomness
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd


def stopping_rates(
    prior: Any,
    truth: Mapping[str, Any] | None = None,
    *,
    batch: int,
    acceptable_loss: float,
    most: int,
    groups: int = 2,
    best: Literal["largest", "smallest"] = "largest",
    n: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Simulate the rule "look after each batch, and stop once the expected loss is acceptable".

    Parameters
    ----------
    prior : conjugate belief
        About one group, such as ``bm.BetaBernoulli(1, 1)``; every group starts with it.
    truth : mapping, optional
        The parameters, by name, of the groups that rows are drawn from, such as
        ``{"theta": [0.10, 0.12]}``. If not given they are drawn from the prior in each simulation.
    batch, most : int
        Rows that each group gets between looks, and at most.
    acceptable_loss : float
        Expected loss of the group that would be chosen, at which one stops; positive.
    groups : int, default 2
        How many, where the truth is not given.
    best : {"largest", "smallest"}, default "largest"
        Which value of the first variable is good.
    n : int, default 1000
        Number of simulations.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    pandas.DataFrame
        Columns ``value`` and ``error``, a Monte-Carlo standard error. Rows: ``stopped`` before
        `most` rows; ``wrong``, how often the group chosen at the end is not a best one; ``loss``,
        by how much its parameter falls short of the best, on average; ``rows`` of each group.

    Raises
    ------
    DataError
        If a number is out of range, or the truth lacks a parameter.

    Notes
    -----
    With the truth drawn from the prior, the average loss of stopped experiments is at most what is
    acceptable, however often one looks. At a fixed truth it need not be.

    References
    ----------
    Deng, Lu and Chen (2016), *Continuous monitoring of A/B tests without pain: optional stopping
    in Bayesian testing*, IEEE DSAA, 243-252.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> found = bm.decisions.stopping_rates(bm.BetaBernoulli(1, 1), {"theta": [0.1, 0.3]}, batch=20,
    ...                           acceptable_loss=0.01, most=200, n=200, rng=1)
    >>> found["value"].round(2).to_dict()
    {'stopped': 1.0, 'wrong': 0.0, 'loss': 0.0, 'rows': 25.4}
    """
    n, batch = count(n, "n", 2), count(batch, "batch", 1)
    most, rng = count(most, "most", batch), randomness(rng)
    if not parameter(acceptable_loss, "acceptable_loss") > 0:
        raise DataError(f"acceptable_loss: must be positive; got {acceptable_loss!r}.")
    quantity = next(iter(prior.marginals()))
    true = _truth(prior, truth, n, groups, rng)
    gain = true[quantity] * (1 if best == "largest" else -1)
    short = gain.max(-1, keepdims=True) - gain
    chosen, seen = np.zeros(n, dtype=int), np.full(n, most // batch * batch)
    going, posterior = np.ones(n, dtype=bool), prior
    for rows in range(batch, most + 1, batch):
        law = prior.plug_in(true)
        posterior = posterior.update(law.rvs(size=(batch, *gain.shape), random_state=rng))
        losses = expected_losses(posterior, quantity, best)
        chosen[going] = losses.argmin(-1)[going]
        done = going & (losses.min(-1) <= acceptable_loss)
        seen[done], going = rows, going & ~done
        if not going.any():
            break
    lost = short[np.arange(n), chosen]
    result = {"stopped": ~going, "wrong": lost > 0, "loss": lost, "rows": seen}
    return _averaged(result)


def _truth(
    prior: Any, truth: Any, n: int, groups: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Return the parameters of every group in every simulation, of shape (n, groups)."""
    if truth is None:
        groups = count(groups, "groups", 2)
        drawn = prior.sample(n * groups, rng)
        return {name: x.reshape(n, groups) for name, x in drawn.items()}
    names = list(prior.marginals())
    for name in names:
        if name not in truth:
            raise DataError(f"truth: must hold {listed(names)}; {name!r} is missing.")
    each = np.broadcast_arrays(*(parameter(truth[name], f"truth[{name!r}]") for name in names))
    if each[0].ndim != 1 or len(each[0]) < 2:  # noqa: PLR2004 - groups
        raise DataError(
            f"truth: must have one value a group, of two groups or more; got the shape "
            f"{each[0].shape}."
        )
    return {name: np.tile(x, (n, 1)) for name, x in zip(names, each, strict=True)}


def _averaged(columns: Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    rows = {
        name: {"value": np.mean(x), "error": np.std(x) / np.sqrt(len(x))}
        for name, x in columns.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
