r"""Powers of beliefs: how a posterior changes where its prior or its likelihood counts for more.

The density of an exponential family, raised to a power alpha, is of the same family, its natural
parameters multiplied by alpha. With a conjugate prior that gives both posteriors that power-scaling
asks for. That of the likelihood is an update with weighted rows,

.. math:: p(\theta) \, p(x \mid \theta)^\alpha,

and that of the prior the power of another such update,

.. math:: p(\theta)^\alpha p(x \mid \theta)
    = \left[ p(\theta) \, p(x \mid \theta)^{1 / \alpha} \right]^\alpha,

in which a prior that has no power, or is improper itself, never stands alone: only what is asked
for must be proper.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from bayesmodels.belief import values
from bayesmodels.errors import DataError
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import GaussianDiscriminant
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart

Component = Literal["prior", "likelihood"]


def posterior_of(prior: Any, statistic: Any, component: Component, alpha: float) -> Any:
    """Return the posterior in which prior or likelihood is raised to a power.

    Parameters
    ----------
    prior : Belief
        The prior.
    statistic : Statistic
        Of the data, as from the prior's `statistic`.
    component : {"prior", "likelihood"}
        What is raised.
    alpha : float
        The power, above 0 and below 2.

    Raises
    ------
    DataError
        If powers of the model's beliefs are of another family, or of none.
    PriorError
        If what comes out is no belief: its density has no finite integral.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> coin = bm.BetaBernoulli(3, 2)
    >>> posterior_of(coin, coin.statistic([1, 1, 0, 1]), "prior", 0.5)
    BetaBernoulli(alpha=5, beta=2.5)
    >>> posterior_of(coin, coin.statistic([1, 1, 0, 1]), "likelihood", 0.5)
    BetaBernoulli(alpha=4.5, beta=2.5)
    """
    if component == "likelihood":
        return prior.update(_times(statistic, alpha))
    return power(prior.update(_times(statistic, 1 / alpha)), alpha)


def _times(statistic: Any, weight: float) -> Any:
    """Return the statistic of the same rows, each with a weight below 2."""
    if weight <= 1:
        return statistic.discounted(weight)
    return statistic + statistic.discounted(weight - 1)


def check_powers(belief: Any) -> None:
    """Complain if powers of a belief are no beliefs.

    Raises
    ------
    DataError
        Of mixtures and finite hypotheses, and where there is no closed form.
    """
    if power.dispatch(type(belief)) is power.dispatch(object):
        power(belief, 1.0)


@singledispatch
def power(belief: Any, alpha: float) -> Any:
    """Return the belief whose density is a belief's density to the power alpha, normalised.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> power(bm.NormalInverseGamma(mean=1, kappa=4, shape=3, scale=2), 0.5)
    NormalInverseGamma(mean=1, kappa=2, shape=0.75, scale=1)
    """
    del alpha
    msg = (
        f"prior: no power of a {type(belief).__name__} is one again in closed form. ArviZ's psense "
        "estimates how much depends on it from draws."
    )
    raise DataError(msg)


@power.register
def _(belief: BetaBernoulli, alpha: float) -> BetaBernoulli:
    ones, zeros = (1 + alpha * (x - 1) for x in (belief.alpha, belief.beta))
    return BetaBernoulli(ones, zeros, belief.coords)


@power.register
def _(belief: DirichletCategorical, alpha: float) -> DirichletCategorical:
    counts = 1 + alpha * (belief.alpha - 1)
    return DirichletCategorical(counts, belief.categories, belief.coords, other=belief.other)


# Densities of means and variances together have the variances to the power -(a + 3/2) and so on:
# what mode() divides a scale by.


@power.register
def _(belief: NormalInverseGamma, alpha: float) -> NormalInverseGamma:
    shape = alpha * (belief.shape + 1.5) - 1.5
    kappa, scale = alpha * belief.kappa, alpha * belief.scale
    return NormalInverseGamma(belief.location, kappa, shape, scale, belief.rest, belief.coords)


@power.register
def _(belief: NormalInverseWishart, alpha: float) -> NormalInverseWishart:
    own = belief.location.shape[-1] + 2
    return NormalInverseWishart(
        belief.location,
        alpha * belief.kappa,
        alpha * (belief.df + own) - own,
        alpha * belief.scale,
        belief.rest,
        belief.features,
        belief.coords,
    )


@power.register
def _(belief: SharedNormalInverseWishart, alpha: float) -> SharedNormalInverseWishart:
    own = sum(belief.location.shape) + 1
    return SharedNormalInverseWishart(
        belief.location,
        alpha * belief.kappa,
        alpha * (belief.df + own) - own,
        alpha * belief.scale,
        belief.ratio,
        belief.rest,
        belief.features,
        belief.coords,
    )


@power.register
def _(belief: LinearRegression, alpha: float) -> LinearRegression:
    own = 1 + (belief.factor.shape[-1] - 1) / 2
    scaled = copy(belief)  # which may have been improper, and may become so
    values.fill(
        scaled, factor=np.sqrt(alpha) * belief.factor, shape=alpha * (belief.shape + own) - own
    )
    return scaled


@power.register(NaiveBayes)
@power.register(GaussianDiscriminant)
def _(belief: Any, alpha: float) -> Any:
    blocks = {n: replace(b, belief=power(b.belief, alpha)) for n, b in belief.blocks.items()}
    scaled = copy(belief)
    values.fill(scaled, classes=power(belief.classes, alpha), blocks=blocks)
    return scaled
