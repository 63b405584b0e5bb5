"""Beta-Bernoulli and beta-binomial: the probability of a yes-or-no event.

=============  =================================================================================
Prior          theta ~ Beta(alpha, beta)
Rows           x_i | theta ~ Bernoulli(theta), or k_i | theta ~ Binomial(n_i, theta)
Statistic      N1 = number of ones, N0 = number of zeros
Posterior      Beta(alpha + N1, beta + N0)
Log evidence   ln B(alpha + N1, beta + N0) - ln B(alpha, beta)  [+ ln C(N, N1) for counts]
Predictive     k of M new trials ~ BetaBinomial(M, alpha, beta)
=============  =================================================================================

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats
from scipy.special import gammaln, xlog1py, xlogy

from bayesmodels.belief import conditioning, conjugate, datatree, reading, values
from bayesmodels.belief.declaring import Names, declare, prior_and_statistic
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import ModeError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion, given_statistic
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import flat_members, log_bits
from bayesmodels.numerics.laws import Stepped, beta_binomial, dirichlet_draws, log_beta_density
from bayesmodels.numerics.laws import beta as beta_law
from bayesmodels.numerics.special import (
    log_dirichlet_multinomial,
    log_given_total,
    log_multinomial_coefficient,
    log_split,
)


@value
class BernoulliStatistic:
    r"""Numbers of ones and zeros; ``a + b`` merges disjoint rows.

    Parameters
    ----------
    ones, zeros : array_like of shape (batch...), default 0
        Counts, not negative.
    log_given_total : array_like of shape (batch...), optional
        Log probability of the data given these totals, which no parameter changes:
        :math:`\sum_i \ln\binom{n_i}{k_i} - \ln\binom{N}{N_1}`. By default that of rows in the
        order observed, whose own coefficients are 1.
    coords : dict, optional
        Names of the batch axes with their labels.

    Examples
    --------
    >>> BernoulliStatistic(3, 17) + BernoulliStatistic(8, 2)
    BernoulliStatistic(ones=11, zeros=19)
    """

    ones: Array
    zeros: Array
    log_given_total: Array = field(repr=False)
    coords: Coords

    def __init__(
        self,
        ones: ArrayLike = 0,
        zeros: ArrayLike = 0,
        log_given_total: ArrayLike | None = None,
        coords: Any = None,
    ) -> None:
        ones, zeros = np.broadcast_arrays(
            checked.totals(ones, "ones", counted=True),
            checked.totals(zeros, "zeros", counted=True),
        )
        conditional = (
            -log_multinomial_coefficient(np.stack([ones, zeros], axis=-1))
            if log_given_total is None
            else np.broadcast_to(checked.parameter(log_given_total, "log_given_total"), ones.shape)
        )
        coords = labels.named(coords, ones.shape, "coords")
        values.fill(self, ones=ones, zeros=zeros, log_given_total=conditional, coords=coords)

    def __add__(self, other: Self) -> Self:
        coords = conjugate.merged_coords(self, other)
        split = log_split(self.counts, other.counts)
        conditional = self.log_given_total + other.log_given_total + split
        ones, zeros = self.ones + other.ones, self.zeros + other.zeros
        return conjugate.replace(self, coords, ones, zeros, conditional)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        coords = conjugate.merged_coords(self, other)
        ones = checked.left_over(self.ones - other.ones, self.ones, "ones")
        zeros = checked.left_over(self.zeros - other.zeros, self.zeros, "zeros")
        split = log_split(np.stack([ones, zeros], axis=-1), other.counts)
        conditional = self.log_given_total - other.log_given_total - split
        return conjugate.replace(self, coords, ones, zeros, conditional)

    discounted = conjugate.discounted
    without_rows = conjugate.without_rows

    def _times(self, rho: float) -> Self:
        ones, zeros = rho * self.ones, rho * self.zeros
        coefficient = log_multinomial_coefficient(np.stack([ones, zeros], axis=-1))
        conditional = rho * self.log_coefficient - coefficient
        return conjugate.replace(self, self.coords, ones, zeros, conditional)

    batch_axes = conjugate.batch_axes

    @property
    def counts(self) -> Array:
        """Ones and zeros along a last axis, of shape (batch..., 2)."""
        return np.stack([self.ones, self.zeros], axis=-1)

    @property
    def log_coefficient(self) -> Array:
        """Sum of the log binomial coefficients of the data; 0 for rows in the order observed."""
        return (self.log_given_total + log_multinomial_coefficient(self.counts))[()]

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        ones, zeros = float(self.ones.sum()), float(self.zeros.sum())
        coefficient = float(np.sum(self.log_coefficient))
        return {
            "number of observations": ones + zeros,
            "number of ones": ones,
            "log coefficient of the counts": coefficient,
        }

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimate N1 / N, the minimiser of the cross-entropy.

        Raises
        ------
        DataError
            Without rows, where every value is as likely as any other.

        Examples
        --------
        >>> BernoulliStatistic(55, 45).mle()["theta"]
        np.float64(0.55)
        """
        total = self.ones + self.zeros
        conjugate.need_rows(total)
        return {"theta": self.ones / total}


_RULES = {"alpha": conjugate.POSITIVE, "beta": conjugate.POSITIVE}


@value
class BetaBernoulli:
    r"""Belief about the probability of an event.

    .. math:: p(\theta) = \theta^{\alpha - 1} (1 - \theta)^{\beta - 1} / B(\alpha, \beta)

    Parameters
    ----------
    alpha : array_like of shape (batch...)
        Pseudo-count of ones, positive.
    beta : array_like of shape (batch...)
        Pseudo-count of zeros, positive.
    coords : dict, optional
        Names of the batch axes with their labels, such as ``{"group": ["a", "b"]}``.

    Raises
    ------
    PriorError
        If a parameter is not positive and finite.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.3.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> posterior = bm.BetaBernoulli(2, 2).update(bm.BinomialCounts(3, 20))
    >>> posterior
    BetaBernoulli(alpha=5, beta=19)
    >>> posterior.predictive(trials=10).pmf(0).round(4)
    np.float64(0.1418)
    """

    alpha: Array
    beta: Array
    coords: Coords

    statistic_type: ClassVar = BernoulliStatistic
    title: ClassVar = "Beta–Bernoulli"
    words: ClassVar = {"theta": "probability"}
    equations: ClassVar = (
        ("Prior", r"\theta \sim \mathrm{Beta}(\alpha, \beta)"),
        ("Likelihood", r"x_i \mid \theta \sim \mathrm{Bernoulli}(\theta)"),
        ("Posterior", r"\theta \mid x \sim \mathrm{Beta}(\alpha + N_1, \beta + N_0)"),
        (
            "Evidence",
            r"\ln p(x) = \ln B(\alpha + N_1, \beta + N_0) - \ln B(\alpha, \beta)",
        ),
    )

    def __init__(self, alpha: ArrayLike, beta: ArrayLike, coords: Any = None) -> None:
        conjugate.fill(self, coords, _RULES, alpha=alpha, beta=beta)

    @classmethod
    def from_mean(cls, mean: ArrayLike, n: ArrayLike) -> Self:
        """Return the belief with this mean that weighs as much as n rows: Beta(n m, n (1 - m)).

        Parameters
        ----------
        mean : array_like
            Between 0 and 1.
        n : array_like
            Number of rows; positive.

        Raises
        ------
        PriorError
            If a mean is not between 0 and 1, or n is not positive.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.BetaBernoulli.from_mean(0.1, n=20)
        BetaBernoulli(alpha=2, beta=18)
        """
        mean = checked.parameter(mean, "mean", positive=True)
        if (mean >= 1).any():
            raise PriorError(f"mean: must be between 0 and 1; got {mean.max():g}.")
        n = checked.parameter(n, "n", positive=True)
        return cls(n * mean, n * (1 - mean))

    @classmethod
    def from_interval(cls, low: float, high: float, prob: float = 0.89) -> Self:
        """Return the belief whose equal-tailed interval of this probability is from low to high.

        Raises
        ------
        PriorError
            Unless 0 < low < high < 1 and 0 < prob < 1, or if no Beta law is found that has it.

        Examples
        --------
        Between 5 % and 20 % of visitors buy, nine times out of ten:

        >>> import bayesmodels as bm
        >>> prior = bm.BetaBernoulli.from_interval(0.05, 0.2, prob=0.9)
        >>> prior.alpha.round(2), prior.beta.round(2)
        (np.float64(5.43), np.float64(41.49))
        >>> np.round(prior.interval(0.9)["theta"], 6)
        array([0.05, 0.2 ])
        """
        if not 0 < low < high < 1:
            raise PriorError(f"low, high: must be 0 < low < high < 1; got {low} and {high}.")
        if not 0 < prob < 1:
            raise PriorError(f"prob: must be between 0 and 1; got {prob}.")
        tail, middle = (1 - prob) / 2, (low + high) / 2
        spread = (high - low) / 2 / stats.norm.isf(tail)
        n = max(middle * (1 - middle) / spread**2 - 1, 1.0)

        def gaps(logs: Array) -> list[Any]:
            law = stats.beta(*np.exp(logs))
            return [law.logcdf(low) - np.log(tail), law.logsf(high) - np.log(tail)]

        result = optimize.root(gaps, np.log([n * middle, n * (1 - middle)]), tol=1e-13)
        if not np.abs(result.fun).max() < 1e-8:  # noqa: PLR2004 - of a probability, relatively
            raise PriorError(
                f"low, high: no Beta law was found with {prob:g} between {low} and {high}. Give "
                "mean and n to from_mean."
            )
        return cls(*np.exp(result.x))

    batch_axes = conjugate.batch_axes
    dims = conjugate.dims("theta")

    def parameters(self) -> dict[str, Array]:
        """Return alpha and beta by the symbols of `equations`, as a report shows them."""
        return {"α": self.alpha, "β": self.beta}

    def statistic(self, data: Any) -> BernoulliStatistic:
        """Count ones and zeros.

        Parameters
        ----------
        data : array_like, Series or frame of 0/1 or booleans, shape (n,) or (n, batch...)
            Rows; or `BinomialCounts`; or `Grouped` rows or counts; or a statistic, returned as is.

        Returns
        -------
        BernoulliStatistic
            Of the batch shape of the data.

        Raises
        ------
        DataError
            If a value is missing, is neither 0 nor 1, or successes exceed trials.
        """
        if isinstance(data, BernoulliStatistic):
            return data
        d = checked.trials(data)
        if d.trials is None:
            ones = d.batch.totals(d.successes)
            zeros = d.batch.row_counts(len(d.successes)) - ones
            conditional = -log_multinomial_coefficient(np.stack([ones, zeros], axis=-1))
        else:
            pairs = np.stack([d.successes, d.trials - d.successes], axis=-1)
            total = d.batch.totals(pairs)
            ones, zeros = total[..., 0], total[..., 1]
            conditional = log_given_total(pairs, d.batch.groups, d.batch.size).reshape(ones.shape)
        axes = conjugate.rows_of(self, d.batch.coords, ones.shape)
        return checked.build(BernoulliStatistic, ones, zeros, conditional, axes)

    def update(self, data: Any) -> Self:
        """Return the posterior Beta(alpha + N1, beta + N0)."""
        s = self.statistic(data)
        axes = conjugate.posterior_coords(self, s)
        return checked.build(type(self), self.alpha + s.ones, self.beta + s.zeros, axes)

    def log_evidence(self, data: Any) -> Array:
        r"""Return :math:`\ln B(\alpha + N_1, \beta + N_0) - \ln B(\alpha, \beta)`.

        For counts the log binomial coefficients are added; rows have none. The value is computed
        from the beta-binomial log mass, so that it keeps its digits at any counts.

        Returns
        -------
        ndarray of shape (batch...)
            Natural logarithms.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(np.exp(-bm.BetaBernoulli(1, 1).log_evidence(bm.BinomialCounts(3, 20))).round(9))
        21.0
        """
        s = self.statistic(data)
        conjugate.joined(self, s)
        mass = log_dirichlet_multinomial(s.counts, np.stack([self.alpha, self.beta], axis=-1))
        return (mass + s.log_given_total)[()]

    def predictive(self, trials: ArrayLike = 1) -> Any:
        """Return the law of the number of ones among M new trials: BetaBinomial(M, alpha, beta).

        Parameters
        ----------
        trials : array_like of int, default 1
            M. With M = 1 the mass at 1 is the mean of theta.

        Returns
        -------
        frozen SciPy distribution
            With ``pmf``, ``cdf``, ``mean``, ``var``, ``rvs``.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> bm.BetaBernoulli(1, 1).predictive().pmf(1).round(12)
        np.float64(0.5)
        """
        return beta_binomial(checked.integers(trials, "trials"), self.alpha, self.beta)

    def plug_in(self, parameters: Draws, trials: ArrayLike = 1) -> Any:
        """Return the law of new trials as if `parameters` were known: Binomial(M, theta).

        With ``statistic.mle()`` or ``belief.mode()`` these are the MLE and MAP plug-ins, which,
        unlike `predictive`, forget that theta is uncertain.

        Examples
        --------
        The black swan: after three zeros and no one, the MLE calls a one impossible.

        >>> import bayesmodels as bm
        >>> prior = bm.BetaBernoulli(1, 1)
        >>> seen = prior.statistic([0, 0, 0])
        >>> plug_in, predictive = prior.plug_in(seen.mle()), prior.update(seen).predictive()
        >>> float(plug_in.pmf(1)), float(predictive.pmf(1).round(9))
        (0.0, 0.2)
        """
        return stats.binom(checked.integers(trials, "trials"), np.asarray(parameters["theta"]))

    def read(self, rows: Any) -> NDArray[Any]:
        """Return rows as checked values, the form in which predictions take them."""
        return checked.trials(rows).successes

    def log_predictive(self, x: NDArray[Any]) -> Array:
        """Return the log mass of new rows under each member of the leading batch axis.

        Parameters
        ----------
        x : ndarray of shape (n, batch...), without the leading batch axis
            Rows of 0 and 1; NaN is missing, and its factor is dropped.

        Returns
        -------
        ndarray of shape (n, members)
            Added up over all other axes.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> coins = bm.BetaBernoulli([[1, 1], [3, 1]], 1)  # two groups, two columns
        >>> np.exp(coins.log_predictive(np.array([[1, 0]]))).round(4)
        array([[0.25 , 0.375]])
        """
        one, zero = (flat_members(part, x.ndim - 1) for part in (self.alpha, self.beta))
        log_all = np.log(one + zero)
        rows = x.reshape(len(x), prod(x.shape[1:]))
        # Not by log1p(-mean): a mean that is all but 1 has no digits of its distance from 1.
        return log_bits(rows, np.log(one) - log_all, np.log(zero) - log_all)

    def log_plug_in(self, parameters: Draws, x: NDArray[Any]) -> Array:
        """Return the same as `log_predictive` with `parameters` as if known; (..., n, members)."""
        theta = flat_members(parameters["theta"], x.ndim - 1)
        with np.errstate(divide="ignore"):  # an estimate may be 0 or 1
            rows = x.reshape(len(x), prod(x.shape[1:]))
            return log_bits(rows, np.log(theta), np.log1p(-theta))

    def statistic_of_cells(self, x: NDArray[Any]) -> BernoulliStatistic:
        """Return the statistic of each single cell, NaN being missing."""
        x = np.asarray(x, dtype=float)
        bits = (np.equal(x, level).astype(float) for level in (1, 0))
        return checked.build(BernoulliStatistic, *bits, np.zeros(x.shape), {})

    def weighted_statistic(
        self, x: NDArray[Any], weights: Array, coords: Coords
    ) -> BernoulliStatistic:
        """Return the statistic of rows (n, inner...) by their weights (batch..., n)."""
        s = self.statistic_of_cells(x)
        ones, zeros = (np.tensordot(weights, part, 1) for part in (s.ones, s.zeros))
        conditional = -log_multinomial_coefficient(np.stack([ones, zeros], axis=-1))
        return checked.build(BernoulliStatistic, ones, zeros, conditional, coords)

    @property
    def least_pseudo_count(self) -> float:
        """What must be at least 1 for the density to have a bound."""
        return float(min(self.alpha.min(), self.beta.min()))

    def maximum(self, s: BernoulliStatistic, *, prior: bool) -> dict[str, Array]:
        """Return where the likelihood (times the `prior`'s density) is largest, borders included.

        Where there is neither, the mean.
        """
        ones, zeros = s.ones + prior * (self.alpha - 1), s.zeros + prior * (self.beta - 1)
        return {"theta": conjugate.ratio(ones, ones + zeros, self.alpha / (self.alpha + self.beta))}

    def marginals(self) -> dict[str, Law]:
        """Return the Beta law of theta."""
        return {"theta": beta_law(self.alpha, self.beta)}

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return (alpha - 1) / (alpha + beta - 2), the maximum a posteriori (MAP) estimate.

        Raises
        ------
        ModeError
            Unless both parameters exceed 1; the message says where the density is largest.
        """
        flat = (self.alpha <= 1) | (self.beta <= 1)
        if flat.any():
            at = tuple(np.argwhere(flat)[0].tolist())
            a, b = self.alpha[at], self.beta[at]
            where = (
                "is the same everywhere"
                if a == b == 1
                else "grows without bound at both ends"
                if a < 1 and b < 1
                else "is largest at 0"
                if a <= 1 and b >= 1
                else "is largest at 1"
            )
            raise ModeError(
                f"{reading.label(self, 'theta', at)}: has no interior mode, since alpha = {a:g} "
                f"and beta = {b:g} must both exceed 1; the density {where}. Use mean() instead."
            )
        return {"theta": (self.alpha - 1) / (self.alpha + self.beta - 2)}

    def equivalent_sample_size(self) -> Array:
        """Return alpha + beta: the number of rows that the belief weighs as much as."""
        return self.alpha + self.beta

    def mean_after(self, n: int) -> dict[str, Any]:
        """Return the law of (alpha + k) / (alpha + beta + n), k of n new rows being ones."""
        total = self.alpha + self.beta + n
        return {
            "theta": Stepped(beta_binomial(n, self.alpha, self.beta), self.alpha / total, 1 / total)
        }

    def counted(self, events: ArrayLike, n: int) -> BernoulliStatistic:
        """Return the statistic of numbers of ones among n rows each."""
        return BernoulliStatistic(events, n - np.asarray(events))

    def shrinkage(self, data: Any) -> Array:
        """Return the weight of the prior mean in the posterior mean.

        ``posterior mean = weight * prior mean + (1 - weight) * MLE`` with
        ``weight = (alpha + beta) / (alpha + beta + N)``.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> float(bm.BetaBernoulli(2, 2).shrinkage(bm.BinomialCounts(3, 20)).round(4))
        0.1667
        """
        s = self.statistic(data)
        prior = self.equivalent_sample_size()
        return prior / (prior + s.ones + s.zeros)

    def log_density(self, draws: Draws) -> Array:
        """Return the Beta log density at ``draws["theta"]`` of shape (..., batch...)."""
        return log_beta_density(checked.drawn(draws, "theta"), self.alpha, self.beta)

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`, from its summands' sizes."""
        theta = checked.drawn(draws, "theta")
        size = (
            np.abs(xlogy(self.alpha - 1, theta))
            + np.abs(xlog1py(self.beta - 1, -theta))
            + np.abs(gammaln(self.alpha))
            + np.abs(gammaln(self.beta))
            + np.abs(gammaln(self.alpha + self.beta))
        )
        return 8 * np.finfo(float).eps * (1 + size)

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return `draws` independent draws of theta, of shape (draws, batch...)."""
        draws, rng = checked.asked(draws, rng)
        pairs = np.stack([self.alpha, self.beta], axis=-1)
        return {"theta": dirichlet_draws(pairs, draws, rng)[..., 0]}

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log mass of each row given theta, of shape (..., n, batch...)."""
        d = checked.trials(data)
        theta = d.batch.by_row(checked.drawn(draws, "theta"))
        if d.trials is not None:
            return {"x": np.asarray(stats.binom.logpmf(d.successes, d.trials, theta))}
        with np.errstate(divide="ignore"):  # a draw may round to 0 or to 1
            return {"x": np.where(d.successes == 1, np.log(theta), np.log1p(-theta))}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows (or counts among as many trials), of shape (..., n, batch...)."""
        rng = checked.randomness(rng)
        d = checked.trials(data)
        theta = d.batch.by_row(checked.drawn(draws, "theta"))
        shape = np.broadcast_shapes(theta.shape, d.successes.shape)
        if d.trials is None:
            return {"x": (rng.random(shape) < theta).astype(np.uint8)}
        return {"x": rng.binomial(d.trials, theta, shape)}

    def observed(self, data: Any) -> Observed:
        """Return the rows under the name ``"x"``, with the labels of their axes."""
        d = checked.trials(data)
        batch = labels.completed(d.batch.axes, d.successes.shape[1:])
        x = d.successes.astype(np.uint8) if d.trials is None else d.successes
        return {"x": (x, {"row": tuple(d.batch.rows), **batch})}

    @staticmethod
    def declared_terms(s: BernoulliStatistic, variables: Mapping[str, Any]) -> Any:
        """Return the log likelihood of a statistic, elementwise, by PyMC's variables."""
        from pymc import math

        theta = variables["theta"]
        return s.ones * math.log(theta) + s.zeros * math.log1p(-theta) + s.log_coefficient

    leave_rows_out = case_deletion.of_trials
    given_statistic = given_statistic.of_trials
    digits_lost = conditioning.none_lost

    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        import pymc as pm

        prior, s = prior_and_statistic(self, data, likelihood)
        theta = pm.Beta(names("theta"), prior.alpha, prior.beta, dims=names.labelled(prior.coords))
        if likelihood == "statistic":
            pm.Potential(names("likelihood"), self.declared_terms(s, {"theta": theta}).sum())
            return
        ((x, rows),) = self.observed(data).values()
        d, axes = checked.trials(data), names.labelled(rows)
        p = d.batch.of_rows(theta)
        if d.trials is None:
            pm.Bernoulli(names("x"), p=p, observed=x, dims=axes)
        else:
            pm.Binomial(names("x"), n=d.trials, p=p, observed=x, dims=axes)
