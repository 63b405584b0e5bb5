"""Dirichlet-categorical and Dirichlet-multinomial: the probabilities of K categories.

=============  =================================================================================
Prior          theta ~ Dirichlet(alpha)
Rows           x_i | theta ~ Categorical(theta), or n_i | theta ~ Multinomial(M_i, theta)
Statistic      N_k = number of rows in category k
Posterior      Dirichlet(alpha + N)
Log evidence   ln B(alpha + N) - ln B(alpha)  [+ log multinomial coefficients for counts]
Predictive     counts of M new draws ~ DirichletMultinomial(M, alpha)
=============  =================================================================================

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 3.4.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import gammaln, xlogy

from bayesmodels.belief import conditioning, conjugate, datatree, reading, values
from bayesmodels.belief.declaring import Names, declare, prior_and_statistic
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input import containers, labels
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion, given_statistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import log_table
from bayesmodels.numerics.laws import (
    DirichletMultinomial,
    beta,
    dirichlet_draws,
    log_dirichlet,
    sum_of_others,
)
from bayesmodels.numerics.moments import tables
from bayesmodels.numerics.special import (
    log_dirichlet_multinomial,
    log_given_total,
    log_multinomial_coefficient,
    log_split,
)
from bayesmodels.numerics.token_counts import (
    count_log_coefficients,
    log_tokens,
    log_words,
    sparse_sums,
)


@value
class CategoricalStatistic:
    r"""Numbers of rows in each category; ``a + b`` merges disjoint rows.

    Parameters
    ----------
    counts : array_like of shape (batch..., K), default 0
        Counts, not negative.
    log_given_total : array_like of shape (batch...), optional
        Log probability of the data given these totals, which no parameter changes; by default that
        of rows in the order observed. See `BernoulliStatistic`.
    coords : dict, optional
        Names of the batch axes with their labels; and ``"category"`` with the categories, which
        are the numbers 0 to K - 1 otherwise.

    Examples
    --------
    >>> CategoricalStatistic([5, 0, 2]) + CategoricalStatistic([1, 1, 1])
    CategoricalStatistic(counts=[6, 1, 3])
    >>> CategoricalStatistic([5, 2], coords={"category": ["yes", "no"]})
    CategoricalStatistic(counts=[5, 2], coords={'category': ('yes', 'no')})
    """

    counts: Array
    log_given_total: Array = field(repr=False)
    coords: Coords

    def __init__(
        self,
        counts: ArrayLike = 0,
        log_given_total: ArrayLike | None = None,
        coords: Any = None,
    ) -> None:
        counts = np.atleast_1d(checked.totals(counts, "counts", counted=True))
        conditional = (
            -log_multinomial_coefficient(counts)
            if log_given_total is None
            else np.broadcast_to(
                checked.parameter(log_given_total, "log_given_total"), counts.shape[:-1]
            )
        )
        axes = labels.named(labels.without(coords, "category"), counts.shape[:-1], "coords")
        named = labels.named(labels.only(coords, "category"), counts.shape[-1:], "coords")
        axes |= _event(named.get("category"), counts.shape[-1])
        values.fill(self, counts=counts, log_given_total=conditional, coords=axes)

    def __add__(self, other: Self) -> Self:
        coords = conjugate.merged_coords(self, other) | labels.only(self.coords, "category")
        split = log_split(self.counts, other.counts)
        conditional = self.log_given_total + other.log_given_total + split
        return conjugate.replace(self, coords, self.counts + other.counts, conditional)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        coords = conjugate.merged_coords(self, other) | labels.only(self.coords, "category")
        counts = checked.left_over(self.counts - other.counts, self.counts, "counts")
        conditional = self.log_given_total - other.log_given_total - log_split(counts, other.counts)
        return conjugate.replace(self, coords, counts, conditional)

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def _times(self, rho: float) -> Self:
        counts = rho * self.counts
        conditional = rho * self.log_coefficient - log_multinomial_coefficient(counts)
        return conjugate.replace(self, self.coords, counts, conditional)

    batch_axes = conjugate.batch_axes_of("counts", "category", inner=1)

    @property
    def event(self) -> tuple[str, tuple[Hashable, ...]]:
        """What the counts are of: categories."""
        return "categories", self.coords.get("category", labels.numbered(self.counts.shape[-1]))

    @property
    def log_coefficient(self) -> Array:
        """Sum of the log multinomial coefficients of the data; 0 for rows in the order observed."""
        return (self.log_given_total + log_multinomial_coefficient(self.counts))[()]

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        pooled = self.counts.reshape(-1, self.counts.shape[-1]).sum(0)
        coefficient = float(np.sum(self.log_coefficient))
        result = {
            "number of observations": float(pooled.sum()),
            "log coefficient of the counts": coefficient,
        }
        return result | {"sum of squared counts": float(pooled @ pooled)}

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimate N_k / N.

        Raises
        ------
        DataError
            Without rows, where every value is as likely as any other.

        Examples
        --------
        >>> CategoricalStatistic([5, 0, 3]).mle()["theta"]
        array([0.625, 0.   , 0.375])
        """
        total = self.counts.sum(-1, keepdims=True)
        conjugate.need_rows(total)
        return {"theta": self.counts / total}


@value
class DirichletCategorical:
    r"""Belief about the probabilities of K categories.

    .. math:: p(\theta) = \prod_k \theta_k^{\alpha_k - 1} / B(\alpha), \qquad
        \textstyle\sum_k \theta_k = 1

    Parameters
    ----------
    alpha : array_like of shape (batch..., K)
        Pseudo-counts, positive; K is at least 2.
    categories : sequence of length K, optional
        What the rows hold, in the order of `alpha`. Without it, rows hold numbers 0 to K - 1, or
        are counts whose columns name the categories of the posterior, if they have names.
    other : hashable, optional
        The category that stands for every label not among the others. Without it the set of
        categories is closed: an unknown label is an error.
    coords : dict, optional
        Names of the batch axes with their labels.

    Raises
    ------
    PriorError
        If a pseudo-count is not positive and finite, or there are fewer than two categories.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.4.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.DirichletCategorical([1, 1, 1], categories=["red", "green", "blue"])
    >>> prior.update(["red", "blue", "red"]).mean()["theta"].round(3)
    array([0.5  , 0.167, 0.333])
    """

    alpha: Array
    categories: tuple[Hashable, ...] | None
    other: Hashable | None
    coords: Coords

    statistic_type: ClassVar = CategoricalStatistic
    title: ClassVar = "Dirichlet–categorical"
    words: ClassVar = {"theta": "probability"}
    equations: ClassVar = (
        ("Prior", r"\theta \sim \mathrm{Dirichlet}(\alpha)"),
        ("Likelihood", r"x_i \mid \theta \sim \mathrm{Categorical}(\theta)"),
        ("Posterior", r"\theta \mid x \sim \mathrm{Dirichlet}(\alpha + N)"),
        ("Evidence", r"\ln p(x) = \ln B(\alpha + N) - \ln B(\alpha)"),
    )

    def __init__(
        self,
        alpha: ArrayLike,
        categories: Sequence[Hashable] | None = None,
        coords: Any = None,
        *,
        other: Hashable | None = None,
    ) -> None:
        categories = checked.names_of(categories, "categories", alpha=alpha)
        alpha = checked.parameter(alpha, "alpha", positive=True)
        if alpha.ndim == 0 or alpha.shape[-1] < 2:  # noqa: PLR2004 - one category has no law
            raise PriorError(
                f"alpha: must hold at least two pseudo-counts, one a category; got shape "
                f"{alpha.shape}. For K equal ones write [a] * K."
            )
        size = alpha.shape[-1]
        if categories is not None:
            categories = labels.unique(tuple(categories), "categories")
            if len(categories) != size:
                raise PriorError(
                    f"categories: must be {size}, one for each alpha; got {len(categories)}."
                )
        if other is not None and other not in (categories or ()):
            known = containers.listed(categories or ())
            raise PriorError(
                f"other: must be one of the categories {known}; got {containers.shown(other)}."
            )
        batch = labels.named(labels.without(coords, "category"), alpha.shape[:-1], "coords")
        axes = labels.completed(batch, alpha.shape[:-1])
        axes = {**axes, "category": categories or labels.numbered(size)}
        values.fill(self, alpha=alpha, categories=categories, other=other, coords=axes)

    batch_axes = conjugate.batch_axes_of("alpha", "category", inner=1)

    @property
    def event(self) -> tuple[str, labels.Labels]:
        """What the pseudo-counts are of: categories, if they have names."""
        return "categories", self.categories

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``theta``; the last one is ``category``."""
        return {"theta": tuple(self.coords)}

    def parameters(self) -> dict[str, Array]:
        """Return alpha by the symbols of `equations`, as a report shows them."""
        return {"α": self.alpha}

    def statistic(self, data: Any) -> CategoricalStatistic:
        """Count the rows of each category.

        Parameters
        ----------
        data : array_like or Series of categories, shape (n,) or (n, batch...)
            Rows; or `MultinomialCounts`; or `Grouped` rows or counts; or a statistic.

        Returns
        -------
        CategoricalStatistic
            Of the batch shape of the data.

        Raises
        ------
        DataError
            If a value is missing or is none of the model's categories.
        """
        size = self.alpha.shape[-1]
        if isinstance(data, CategoricalStatistic):
            if data.counts.shape[-1] != size:
                raise DataError(
                    f"data: must count {size} categories, one for each alpha; got "
                    f"{data.counts.shape[-1]}. Make the statistic with this model's statistic()."
                )
            return data
        d = self._checked(data)
        lead, weights = d.batch.lead, d.batch.weights
        if not d.counted:
            counts = tables(d.values, d.batch.groups, size, d.batch.size, weights)
            counts = counts.reshape((*lead, *d.values.shape[1:], size))
            conditional = -log_multinomial_coefficient(counts)
        elif checked.sparse(d.values):
            counts = sparse_sums(d.values, d.batch.groups, d.batch.size, weights)
            conditional = count_log_coefficients(d.values, d.batch.groups, d.batch.size, weights)
            counts, conditional = counts.reshape((*lead, size)), conditional.reshape(lead)
            conditional = conditional - log_multinomial_coefficient(counts)
        else:
            counts = d.batch.totals(d.values)
            conditional = log_given_total(d.values, d.batch.groups, d.batch.size, weights)
            conditional = conditional.reshape(counts.shape[:-1])
        names = _event(self.categories or d.names, size)
        axes = conjugate.rows_of(self, d.batch.coords, conditional.shape) | names
        return checked.build(CategoricalStatistic, counts, conditional, axes)

    def update(self, data: Any) -> Self:
        """Return the posterior Dirichlet(alpha + N)."""
        s = self.statistic(data)
        categories = self.categories or s.coords.get("category")
        axes = conjugate.posterior_coords(self, s) | {"category": s.event[1]}
        return checked.build(type(self), self.alpha + s.counts, categories, self.other, axes)

    def log_evidence(self, data: Any) -> Array:
        r"""Return :math:`\ln B(\alpha + N) - \ln B(\alpha)`.

        For counts the log multinomial coefficients are added; rows have none.

        Returns
        -------
        ndarray of shape (batch...)
            Natural logarithms.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.DirichletCategorical([1, 1, 1])
        >>> float(np.exp(prior.log_evidence([0, 1])).round(12))  # 1/3 times 1/4
        0.083333333333
        """
        s = self.statistic(data)
        conjugate.joined(self, s)
        return (log_dirichlet_multinomial(s.counts, self.alpha) + s.log_given_total)[()]

    def predictive(self, trials: ArrayLike = 1) -> DirichletMultinomial:
        """Return the law of the counts in M new draws: DirichletMultinomial(M, alpha).

        Parameters
        ----------
        trials : array_like of int, default 1
            M. With M = 1 the mean is the mean of theta.

        Returns
        -------
        DirichletMultinomial
            With ``pmf``, ``logpmf``, ``mean``, ``cov``, ``marginal``, ``rvs``.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.DirichletCategorical([2, 1, 1]).predictive().mean()
        array([0.5 , 0.25, 0.25])
        """
        return DirichletMultinomial(self.alpha, checked.integers(trials, "trials"))

    def plug_in(self, parameters: Draws, trials: int = 1) -> Any:
        """Return the law of new counts as if `parameters` were known: Multinomial(M, theta).

        With ``statistic.mle()`` or ``belief.mode()`` these are the MLE and MAP plug-ins.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.DirichletCategorical([1, 1, 1])
        >>> prior.plug_in(prior.statistic([0, 1, 1, 1]).mle()).mean()
        array([0.25, 0.75, 0.  ])
        """
        return stats.multinomial(checked.count(trials, "trials"), parameters["theta"])

    def read(self, rows: Any) -> Any:
        """Return rows as category numbers or counts, the form in which predictions take them."""
        return self._checked(rows).values

    def counts_categories(self, x: Any) -> bool:
        """Return whether rows of a belief with a leading batch axis are counts."""
        return bool(x.ndim == self.alpha.ndim)

    def log_predictive(self, x: Any) -> Array:
        """Return the log mass of new rows under each member of the leading batch axis.

        Parameters
        ----------
        x : ndarray of shape (n, batch...), without the leading batch axis
            Category numbers; -1 is missing, and its factor is dropped. Or counts of the categories,
            of shape (n, K), also sparse.

        Returns
        -------
        ndarray of shape (n, members)
            Added up over all other axes; Dirichlet-multinomial for counts, since the draws of one
            row share theta.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> groups = bm.DirichletCategorical([[3, 1], [1, 1]])
        >>> np.exp(groups.log_predictive(np.array([0, 1]))).round(12)
        array([[0.75, 0.5 ],
               [0.25, 0.5 ]])
        """
        if self.counts_categories(x):
            return log_tokens(x, self.alpha)
        return self.log_plug_in(self.mean(), x)

    def log_plug_in(self, parameters: Draws, x: Any) -> Array:
        """Return the same with `parameters` as if known (multinomial for counts)."""
        with np.errstate(divide="ignore"):  # an estimate may be 0
            logs = np.log(np.asarray(parameters["theta"], dtype=float))
        if self.counts_categories(x):
            return log_words(x, logs)
        size = logs.shape[-1]
        inner = x.ndim - 1
        wide = logs.reshape(*logs.shape[: logs.ndim - 1 - inner], -1, size)
        return log_table(x.reshape(len(x), prod(x.shape[1:])), wide)

    def statistic_of_cells(self, x: NDArray[Any]) -> CategoricalStatistic:
        """Return the statistic of each single cell, -1 being missing, or of each row of counts."""
        counted = self.counts_categories(x)
        levels = np.arange(self.alpha.shape[-1])
        counts = (x if counted else np.equal(x[..., None], levels)).astype(float)
        return checked.build(CategoricalStatistic, counts, np.zeros(counts.shape[:-1]), {})

    def weighted_statistic(self, x: Any, weights: Array, coords: Coords) -> CategoricalStatistic:
        """Return the statistic of rows (n, inner...) by their weights (batch..., n)."""
        conditional: Any = 0.0
        if self.counts_categories(x):
            conditional = weights @ count_log_coefficients(x, np.arange(x.shape[0]), x.shape[0])
        if checked.sparse(x):
            counts = np.moveaxis(x.T @ weights.reshape(-1, x.shape[0]).T, 0, -1)
            counts = counts.reshape(*weights.shape[:-1], x.shape[1])
        else:
            counts = np.tensordot(weights, self.statistic_of_cells(x).counts, 1)
        named = labels.without(coords, "category")
        named |= _event(coords.get("category"), counts.shape[-1])
        conditional = conditional - log_multinomial_coefficient(counts)
        return checked.build(CategoricalStatistic, counts, conditional, named)

    @property
    def least_pseudo_count(self) -> float:
        """What must be at least 1 for the density to have a bound."""
        return float(self.alpha.min())

    def maximum(self, s: CategoricalStatistic, *, prior: bool) -> dict[str, Array]:
        """Return where the likelihood (times the `prior`'s density) is largest, borders included.

        Where there is neither, the mean.
        """
        counts = s.counts + prior * (self.alpha - 1)
        mean = self.alpha / self.alpha.sum(-1, keepdims=True)
        return {"theta": conjugate.ratio(counts, counts.sum(-1, keepdims=True), mean)}

    def marginals(self) -> dict[str, Law]:
        """Return the law of each theta_k: Beta(alpha_k, sum of the other alphas)."""
        return {"theta": beta(self.alpha, sum_of_others(self.alpha))}

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return (alpha_k - 1) / (sum of alphas - K), the maximum a posteriori (MAP) estimate.

        Raises
        ------
        ModeError
            Unless every alpha exceeds 1; the message names the first that does not.
        """
        low = self.alpha <= 1
        if low.any():
            at = tuple(np.argwhere(low)[0].tolist())
            where = (
                "the density is the same everywhere"
                if (self.alpha == 1).all()
                else "the density is largest on the simplex's border"
            )
            raise ModeError(
                f"{reading.label(self, 'theta', at)}: has no interior mode, since its alpha = "
                f"{self.alpha[at]:g} must exceed 1; {where}. Use mean() instead."
            )
        above = self.alpha - 1
        return {"theta": above / above.sum(-1, keepdims=True)}

    def equivalent_sample_size(self) -> Array:
        """Return the sum of the alphas: the number of rows that the belief weighs as much as."""
        return np.asarray(self.alpha.sum(-1))[()]

    def shrinkage(self, data: Any) -> Array:
        """Return the weight of the prior mean in the posterior mean.

        ``posterior mean = weight * prior mean + (1 - weight) * MLE`` with
        ``weight = A / (A + N)``, A the sum of the alphas.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(bm.DirichletCategorical([1, 1, 1]).shrinkage([0, 0, 2]))
        0.5
        """
        prior = self.equivalent_sample_size()
        return prior / (prior + self.statistic(data).counts.sum(-1))

    def log_density(self, draws: Draws) -> Array:
        """Return the Dirichlet log density at ``draws["theta"]`` of shape (..., batch..., K)."""
        return log_dirichlet(checked.drawn(draws, "theta"), self.alpha)

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`, from its summands' sizes."""
        theta = checked.drawn(draws, "theta")
        size = (
            np.abs(xlogy(self.alpha - 1, theta)).sum(-1)
            + np.abs(gammaln(self.alpha)).sum(-1)
            + np.abs(gammaln(self.alpha.sum(-1)))
        )
        return (8 + self.alpha.shape[-1]) * np.finfo(float).eps * (1 + size)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return `draws` independent draws of theta, of shape (draws, batch..., K)."""
        draws, rng = checked.asked(draws, rng)
        return {"theta": dirichlet_draws(self.alpha, draws, rng)}

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log mass of each row given theta, of shape (..., n, batch...)."""
        d = self._dense(data)
        theta = d.batch.by_row(checked.drawn(draws, "theta"), event=1)
        if d.counted:
            mass = xlogy(d.values, theta).sum(-1) + log_multinomial_coefficient(d.values)
            return {"x": mass}
        codes = np.broadcast_to(d.values, _samples(theta, d) + d.values.shape)
        wide = np.broadcast_to(theta, (*codes.shape, theta.shape[-1]))
        with np.errstate(divide="ignore"):  # a draw may round to 0
            return {"x": np.log(np.take_along_axis(wide, codes[..., None], axis=-1)[..., 0])}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new category numbers (..., n, batch...), or counts (..., n, batch..., K)."""
        rng = checked.randomness(rng)
        d = self._dense(data)
        theta = d.batch.by_row(checked.drawn(draws, "theta"), event=1)
        if d.counted:
            return {"x": rng.multinomial(d.values.sum(-1), theta)}
        shape = _samples(theta, d) + d.values.shape
        below = theta.cumsum(-1)[..., :-1]
        codes = np.zeros(shape, dtype=np.min_scalar_type(theta.shape[-1]))
        uniform = rng.random(shape)
        for k in range(below.shape[-1]):
            codes += uniform >= below[..., k]
        return {"x": codes}

    def observed(self, data: Any) -> Observed:
        """Return category numbers or counts under the name ``"x"``, with labels of their axes."""
        d = self._dense(data)
        axes = labels.completed(d.batch.axes, d.values.shape[1 : 1 + d.batch.inner])
        if d.counted:
            axes = {**axes, "category": self.categories or d.names or self.coords["category"]}
        return {"x": (d.values, {"row": tuple(d.batch.rows), **axes})}

    @property
    def value_labels(self) -> tuple[Hashable, ...] | None:
        """Labels of the values 0, 1, ... of a row, if they have any."""
        return self.categories

    @staticmethod
    def declared_terms(s: CategoricalStatistic, variables: Mapping[str, Any]) -> Any:
        """Return the log likelihood of a statistic, elementwise, by PyMC's variables."""
        from pymc import math

        return (s.counts * math.log(variables["theta"])).sum(-1) + s.log_coefficient

    leave_rows_out = case_deletion.of_categories
    given_statistic = given_statistic.of_categories
    digits_lost = conditioning.none_lost

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        import pymc as pm

        from bayesmodels.models.simplex_pymc import Simplex

        prior, s = prior_and_statistic(self, data, likelihood)
        theta = pm.Dirichlet(
            names("theta"),
            prior.alpha,
            dims=names.labelled(prior.coords),
            default_transform=Simplex(),
        )
        if likelihood == "statistic":
            pm.Potential(names("likelihood"), self.declared_terms(s, {"theta": theta}).sum())
            return
        ((x, rows),) = prior.observed(data).values()
        d, axes = self._checked(data), names.labelled(rows)
        p = d.batch.of_rows(theta)
        if d.counted:
            pm.Multinomial(names("x"), n=x.sum(-1), p=p, observed=x, dims=axes)
        else:
            pm.Categorical(names("x"), p=p, observed=x, dims=axes)

    def _checked(self, data: Any) -> checked.Categories:
        return checked.categories(data, self.categories, self.alpha.shape[-1], self.other)

    def _dense(self, data: Any) -> checked.Categories:
        d = self._checked(data)
        if checked.sparse(d.values):
            raise DataError(
                "counts: sparse rows are not spread out one by one; declare the model with "
                "likelihood='statistic', or make a small table dense (.toarray())."
            )
        return d


def _event(categories: tuple[Hashable, ...] | None, size: int) -> Coords:
    """Return the axis of categories of a statistic, if somebody named them."""
    counted = not categories or categories == labels.numbered(size)
    return {} if counted else {"category": categories or ()}


def _samples(theta: Array, d: checked.Categories) -> tuple[int, ...]:
    """Return the sample axes of `_by_row`'s theta, for rows that hold category numbers."""
    return theta.shape[: theta.ndim - 1 - d.values.ndim]
