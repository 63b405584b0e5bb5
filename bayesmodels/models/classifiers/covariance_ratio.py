r"""Gaussian discriminants of two classes whose covariances have an unknown ratio.

With Sigma_2 = k Sigma_1 and k known everything has a closed form; k itself has none. But it is one
number, so its posterior is a quadrature away:

.. math:: p(k \mid D) = \frac{p(k)\, p(D \mid k)}{p(D)}, \qquad
    p(D) = \int p(k)\, p(D \mid k)\, dk

where p(D | k) is the evidence of `GaussianDiscriminant` with this ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import GaussianDiscriminant
from bayesmodels.models.classifiers.generative import ClassStatistic
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import normalise

_PANELS = 12
_NODES, _WEIGHTS = legendre.leggauss(16)
_DROP = 45.0  # e^-45: what lies beyond adds nothing to a double
_SCAN = 60  # points at which the peak is looked for
_FORGOTTEN = 1e-14  # part of the probability
_ACCURACY = 1e-9  # relative, of the evidence


@dataclass(frozen=True)
class RatioPosterior:
    """Posterior of the ratio of two covariances, and predictions averaged over it.

    Attributes
    ----------
    nodes, probabilities : ndarray
        Points of a quadrature over the ratio, with their posterior probabilities.
    density : ndarray
        Posterior density of the logarithm of the ratio at the nodes.
    log_evidence : float
        Log density of the data, the ratio integrated out as well.
    """

    nodes: Array
    probabilities: Array
    density: Array = field(repr=False)
    log_evidence: float
    _edges: Array = field(repr=False)
    _prior: Callable[[float], GaussianDiscriminant] = field(repr=False)
    _statistic: ClassStatistic = field(repr=False)

    def mean(self) -> float:
        """Return the posterior mean of the ratio."""
        return float(self.probabilities @ self.nodes)

    def var(self) -> float:
        """Return the posterior variance of the ratio."""
        return float(self.probabilities @ (self.nodes - self.mean()) ** 2)

    def cdf(self, ratio: ArrayLike) -> Array:
        """Return the posterior probability that the ratio is at most `ratio`."""
        t = np.log(checked.parameter(ratio, "ratio", positive=True))
        panel = np.clip(np.searchsorted(self._edges, t, side="right") - 1, 0, _PANELS - 1)
        inside = np.clip(t, self._edges[0], self._edges[-1])
        low, high = self._edges[panel], self._edges[panel + 1]
        x = 2 * (inside - low) / (high - low) - 1
        terms = np.moveaxis(self._integrals[panel], -1, 0)
        own = legendre.legval(x, terms, tensor=False)
        return np.clip(self._mass[panel] + own, 0.0, 1.0)[()]

    def ppf(self, probability: ArrayLike) -> Array:
        """Return quantiles of the ratio."""
        from scipy.optimize.elementwise import find_root

        q = checked.parameter(probability, "probability")
        if ((q <= 0) | (q >= 1)).any():
            raise DataError(f"probability: must be strictly between 0 and 1; got {probability!r}.")
        low, high = np.full(q.shape, self._edges[0]), np.full(q.shape, self._edges[-1])

        def above(t: Array, q: Array) -> Array:
            return np.asarray(self.cdf(np.exp(t)) - q)

        found: Any = find_root(above, (low, high), args=(q,))
        return np.asarray(np.exp(found.x))[()]

    def interval(self, prob: float = 0.89) -> tuple[float, float]:
        """Return the equal-tailed interval that holds the ratio with probability `prob`."""
        low, high = self.ppf([(1 - prob) / 2, (1 + prob) / 2])
        return float(low), float(high)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> Array:
        """Return independent draws of the ratio."""
        draws, rng = checked.asked(draws, rng)
        return np.asarray(self.ppf(rng.uniform(np.finfo(float).tiny, 1, size=draws)))

    def given(self, ratio: float) -> GaussianDiscriminant:
        """Return the posterior of everything else as if the ratio were known."""
        return self._prior(ratio).update(self._statistic)

    def class_probabilities(self, rows: Any) -> Array:
        """Return the probability of each class for new rows, averaged over the ratio as well.

        Returns
        -------
        ndarray of shape (n, 2)
            Rows add up to one.
        """
        kept = self.probabilities > _FORGOTTEN
        pairs = zip(self.nodes[kept], self.probabilities[kept], strict=True)
        joint = [self.given(k).log_joint(rows) + np.log(p) for k, p in pairs]
        return normalise(np.asarray(logsumexp(joint, axis=0)))

    @cached_property
    def _integrals(self) -> Array:
        """Legendre series of the integrated density, a row a panel, 0 at each panel's left end."""
        half = np.diff(self._edges)[:, None] / 2
        order = np.arange(len(_NODES))
        basis = legendre.legvander(_NODES, len(_NODES) - 1)
        values = self.density.reshape(_PANELS, -1)
        series = (values * _WEIGHTS) @ basis * (order + 0.5) * half
        return np.asarray(legendre.legint(series, lbnd=-1, axis=1))

    @cached_property
    def _mass(self) -> NDArray[np.float64]:
        each = self.probabilities.reshape(_PANELS, -1).sum(1)
        return np.concatenate([[0.0], np.cumsum(each)])


def ratio_posterior(
    classes: DirichletCategorical, gaussian: NormalInverseWishart, law: Any, data: Any
) -> RatioPosterior:
    r"""Return the exact posterior of the ratio of the second class's covariance to the first's.

    .. math:: p(k \mid D) \propto p(k)\, p(D \mid k), \qquad \Sigma_2 = k\, \Sigma_1

    by Gauss–Legendre quadrature over ln k, and again with fewer nodes as a check.

    Parameters
    ----------
    classes : DirichletCategorical
        Belief about two class probabilities.
    gaussian : NormalInverseWishart
        Belief about the means, and about the covariance of the first class.
    law : frozen continuous distribution of SciPy
        Prior of the ratio k, on positive numbers, such as ``scipy.stats.lognorm(1)``, whose median
        is one.
    data : Design, pair (X, y), or either of them Weighted
        Features and class of each row; or a statistic.

    Returns
    -------
    RatioPosterior
        Law of k, evidence with k integrated out, and class probabilities averaged over k.

    Raises
    ------
    PriorError
        If there are not two classes, or the law has mass on numbers that are not positive.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, exercise 4.21 has the boundary
    between two such classes.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> from scipy import stats
    >>> rng = np.random.default_rng(1)
    >>> X = np.concatenate([rng.normal(size=(60, 2)), 3 * rng.normal(size=(60, 2))])
    >>> y = np.repeat(["narrow", "wide"], 60)
    >>> found = bm.ratio_posterior(
    ...     bm.DirichletCategorical([1, 1], ["narrow", "wide"]),
    ...     bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)),
    ...     stats.lognorm(1),
    ...     (X, y),
    ... )
    >>> low, high = found.interval(0.9)
    >>> bool(low < 9 < high)
    True
    """
    low, high = (float(end) for end in law.support())
    if low < 0 or not high > low:
        raise PriorError(f"law: must be a law of positive numbers; its support is {(low, high)}.")
    if len(classes.alpha) != 2:  # noqa: PLR2004
        raise PriorError(
            f"classes: must be two for a ratio of covariances; got {len(classes.alpha)}."
        )

    def prior(ratio: float) -> GaussianDiscriminant:
        return GaussianDiscriminant(classes, gaussian, "proportional", ratio=float(ratio))

    statistic = prior(1.0).statistic(data)

    def log_joint(t: Array) -> Array:
        """Return the log density of ln k and the data."""
        evidence = [float(prior(k).log_evidence(statistic)) for k in np.exp(t)]
        return np.asarray(law.logpdf(np.exp(t)) + t + evidence)

    ends = _ends(log_joint, law)
    total = _quadrature(log_joint, np.linspace(*ends, 2 * _PANELS // 3 + 1))[0]
    edges = np.linspace(*ends, _PANELS + 1)
    log_evidence, t, log_terms, log_values = _quadrature(log_joint, edges)
    if abs(total - log_evidence) > _ACCURACY * max(1.0, abs(total)):
        raise PriorError(
            "law: the posterior of the ratio is too rough for the quadrature, which is off by "
            f"{abs(total - log_evidence):.2g} in the log evidence. Use a smoother prior."
        )
    return RatioPosterior(
        nodes=np.exp(t),
        probabilities=np.exp(log_terms - log_evidence),
        density=np.exp(log_values - log_evidence),
        log_evidence=log_evidence,
        _edges=edges,
        _prior=prior,
        _statistic=statistic,
    )


def _ends(log_joint: Callable[[Array], Array], law: Any) -> tuple[float, float]:
    """Return between which logarithms of the ratio all of the probability lies."""
    tail = 1e-300
    low, high = (np.log(max(float(k), tail)) for k in (law.ppf(1e-15), law.isf(1e-15)))
    for _ in range(3):  # nearer to the peak each time
        t = np.linspace(low, high, _SCAN)
        height = log_joint(t)
        inside = np.flatnonzero(height > height.max() - _DROP)
        low, high = t[max(inside[0] - 1, 0)], t[min(inside[-1] + 1, _SCAN - 1)]
    return float(low), float(high)


def _quadrature(
    log_joint: Callable[[Array], Array], edges: Array
) -> tuple[float, Array, Array, Array]:
    """Return the log integral, the nodes, and the logarithms of terms and of values."""
    half, middle = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
    t = (middle + half * _NODES).ravel()
    values = log_joint(t)
    terms = values + np.log(half * _WEIGHTS).ravel()
    return float(logsumexp(terms)), t, terms, values
