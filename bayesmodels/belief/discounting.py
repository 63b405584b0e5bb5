"""Statistics that count for less: exponential forgetting."""

from __future__ import annotations

from typing import Any, Protocol, Self

from bayesmodels.errors import DataError
from bayesmodels.input import data as checked


class Discountable(Protocol):
    """A statistic whose rows can be given one weight."""

    def _times(self, rho: float) -> Self:
        """Return the statistic of the same rows, each with the weight rho."""


def discounted[S: Discountable](self: S, rho: Any) -> S:
    r"""Return the statistic of the same rows, each of which counts as rho rows.

    .. math:: p(x \mid \theta)^\rho = \prod_i p(x_i \mid \theta)^\rho

    is what it is the statistic of. With :math:`s_t = \rho \, s_{t-1} + s(x_t)` a row of k steps ago
    has the weight :math:`\rho^k`, so that a stream is remembered over about
    :math:`1 / (1 - \rho)` steps.

    Parameters
    ----------
    rho : float
        The discount factor, above 0 and at most 1, which changes nothing.

    Returns
    -------
    Statistic
        Of the same class.

    Raises
    ------
    DataError
        If rho is no such number.

    References
    ----------
    West and Harrison (1997), *Bayesian Forecasting and Dynamic Models*, section 6.3, on discount
    factors; Ibrahim and Chen (2000), *Power prior distributions for regression models*.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> seen = bm.BetaBernoulli(1, 1).statistic([1, 1, 0, 1])
    >>> seen.discounted(0.5) + bm.BetaBernoulli(1, 1).statistic([0])
    BernoulliStatistic(ones=1.5, zeros=1.5)
    """
    value = checked.totals(rho, "rho")
    if value.ndim or not 0 < value <= 1:
        msg = f"rho: must be one number above 0 and at most 1; got {rho!r}."
        raise DataError(msg)
    return self if value == 1 else self._times(float(value))
