r"""Finitely many hypotheses: Bayes' theorem, total probability, and concept learning.

=============  =================================================================================
Prior          h ~ Categorical(p)
Rows           x_i | h, outcomes of a table ln p(x | h), one row a hypothesis
                 strong sampling: p(x | h) = 1[x in h] / size of h
                 weak sampling: 1[x in h] / M for a positive, 1[x not in h] / M for a negative x
Statistic      l(h) = sum of ln p(x_i | h)
Posterior      ln p(h | x) = ln p(h) + l(h) - ln p(x)
Log evidence   ln p(x) = ln sum over h of exp(ln p(h) + l(h)), the law of total probability
Predictive     p(x' | x) = sum over h of p(x' | h) p(h | x)
               p(x' in C | x) = sum over h of 1[x' in h] p(h | x)
=============  =================================================================================

Strong sampling gives N examples the likelihood (1 / size)^N, the size principle: of the hypotheses
that hold them all, small ones win. M is the number of items there are.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), section 3.2.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import logsumexp

from bayesmodels.belief import conditioning, datatree, reading, values
from bayesmodels.belief.conjugate import discounted
from bayesmodels.belief.declaring import Names, check_declarable, declare
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input import labels
from bayesmodels.input.containers import DROP_ROWS, read, where
from bayesmodels.input.domains import ROUNDING, probabilities
from bayesmodels.input.labels import Coords
from bayesmodels.models import case_deletion
from bayesmodels.numerics import Array, Logs
from bayesmodels.numerics.finite_law import FiniteLaw, places

Hypothesis = Iterable[Hashable] | Callable[[Any], bool]

_ROUNDINGS = 32  # of sums over outcomes, in units of the last place
_FEWEST = 2  # hypotheses
_WAY_OUT = "Check the rows, or add a hypothesis that allows them, such as one that holds all items."
_IMPOSSIBLE = (
    "data: no hypothesis explains the data: whichever has a prior probability calls some row "
    f"impossible. {_WAY_OUT}"
)


@value
class HypothesisStatistic:
    r"""Log likelihood of the rows under each hypothesis; ``a + b`` merges disjoint rows.

    Parameters
    ----------
    log_likelihood : array_like of shape (K,)
        :math:`\sum_i \ln p(x_i \mid h)`; -inf where the rows are impossible.
    hypotheses : sequence of length K, optional
        Names, which must be those of the belief; counted from 0 by default.

    Raises
    ------
    DataError
        If a value is NaN or +inf, or the names don't fit.

    Examples
    --------
    >>> HypothesisStatistic([-1.0, -2.0]) + HypothesisStatistic([-0.5, -np.inf])
    HypothesisStatistic(log_likelihood=[-1.5, -inf])
    """

    log_likelihood: Array
    coords: Coords

    def __init__(
        self, log_likelihood: ArrayLike, hypotheses: Sequence[Hashable] | None = None
    ) -> None:
        logs = np.array(log_likelihood, dtype=float)
        if logs.ndim != 1 or not (logs < np.inf).all():
            raise DataError(
                "log_likelihood: must hold one number or -inf for each hypothesis; got "
                f"{log_likelihood!r}."
            )
        names = tuple(range(len(logs)) if hypotheses is None else hypotheses)
        coords = labels.named({"hypothesis": names}, logs.shape, "hypotheses")
        values.fill(self, log_likelihood=logs, coords=coords)

    @classmethod
    def _from_file(cls, log_likelihood: Logs, coords: Coords) -> Self:
        """Return the statistic of hypotheses with these names."""
        return cls(log_likelihood, coords["hypothesis"])

    def __add__(self, other: Self) -> Self:
        self._check_hypotheses(other)
        return type(self)(self.log_likelihood + other.log_likelihood, self.hypotheses)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        self._check_hypotheses(other)
        impossible = np.isneginf(other.log_likelihood)
        if impossible.any():
            named = [self.hypotheses[k] for k in np.flatnonzero(impossible)]
            raise DataError(
                "data: rows to be taken out must be possible under all hypotheses; under "
                f"{values.short(tuple(named))} they are not, and whether the others are is not "
                "known. Add up the statistics of the others."
            )
        return type(self)(self.log_likelihood - other.log_likelihood, self.hypotheses)

    discounted = discounted

    def _times(self, rho: float) -> Self:
        return type(self)(rho * self.log_likelihood, self.hypotheses)

    def _check_hypotheses(self, other: Self) -> None:
        checked.alike(self, other, HypothesisStatistic)
        labels.same(self.hypotheses, other.hypotheses, "hypotheses")

    @property
    def hypotheses(self) -> tuple[Hashable, ...]:
        """Names of the hypotheses."""
        return self.coords["hypothesis"]

    def seen(self) -> dict[str, float]:
        """Return no numbers to compare: likelihoods of hypotheses do not identify their rows."""
        return {}

    def without_rows(self) -> Self:
        """Return the statistic of no rows, which all hypotheses explain."""
        return type(self)(np.zeros(len(self.log_likelihood)), self.hypotheses)

    def mle(self) -> dict[str, Array]:
        """Return the number of the hypothesis with the largest likelihood.

        Raises
        ------
        DataError
            If several share it, as all do without rows, or every likelihood is 0.

        Examples
        --------
        >>> HypothesisStatistic([-1.0, -2.0]).mle()["h"]
        np.int64(0)
        """
        best = _largest(self.log_likelihood)
        if self.log_likelihood[best[0]] == -np.inf:
            raise DataError(_IMPOSSIBLE)
        if len(best) > 1:
            raise DataError(
                "data: the maximum-likelihood estimate needs rows that single out one hypothesis; "
                f"{_names(self.hypotheses, best)} explain them equally well."
            )
        return {"h": best[0]}


@value
class ConceptLearning:
    r"""Belief about which of finitely many hypotheses is true.

    .. math:: p(h \mid x) = \frac{p(h) \prod_i p(x_i \mid h)}
        {\sum_{h'} p(h') \prod_i p(x_i \mid h')}

    Parameters
    ----------
    hypotheses : mapping
        From the name of a hypothesis to what it calls part of the concept: a set or other iterable
        of items, or a function that says of an item whether it is one.
    prior : array_like of shape (K,) or mapping, optional
        Probabilities, in the order of `hypotheses` or by name; equal by default. They add up to
        one.
    items : iterable, optional
        All items there are; by default all that some set holds. Functions need it.
    sampling : {"strong", "weak"}
        Where examples come from. Strong: drawn at random from the concept, all items of which are
        equally probable (the size principle). Weak: drawn from all items, and then said to be in
        the concept or not; an item that is not is written ``"not <item>"``.

    Attributes
    ----------
    hypotheses : tuple of length K
        Names. The variable ``h`` is the number of one of them.
    items : tuple of length M
        What may belong to the concept.
    outcomes : tuple
        What a row may hold: items, and for weak sampling also ``"not <item>"``.
    log_table : ndarray of shape (K, outcomes)
        ln p(x | h).
    log_weights : ndarray of shape (K,)
        Log prior probabilities plus log likelihoods so far; not divided by their sum, so that no
        digit is lost.

    Raises
    ------
    PriorError
        If there are fewer than two hypotheses, one holds nothing (or items that are not there), or
        probabilities are negative or don't add up to one.

    See Also
    --------
    ConceptLearning.from_table : any table of probabilities, for Bayes' theorem in general.
    ConceptLearning.number_game : ten hypotheses about whole numbers.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, section 3.2.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.ConceptLearning({"even": {2, 4, 6, 8}, "power of 2": {2, 4, 8}})
    >>> posterior = prior.update([2, 8])
    >>> posterior.mean()["h"].round(2)
    array([0.36, 0.64])
    >>> posterior.membership([4, 6]).round(2)
    array([1.  , 0.36])
    """

    hypotheses: tuple[Hashable, ...]
    items: tuple[Hashable, ...] = field(repr=False)
    outcomes: tuple[Hashable, ...] = field(repr=False)
    log_table: Array = field(repr=False)
    log_weights: Array

    title: ClassVar = "Concept learning"
    equations: ClassVar = (
        ("Prior", r"h \sim \mathrm{Categorical}(p)"),
        ("Likelihood", r"x_i \mid h \sim p(x \mid h)"),
        ("Posterior", r"p(h \mid x) = p(h) \prod_i p(x_i \mid h) / p(x)"),
        ("Evidence", r"p(x) = \sum_h p(h) \prod_i p(x_i \mid h)"),
        ("Membership", r"p(\tilde x \in C \mid x) = \sum_h 1[\tilde x \in h] p(h \mid x)"),
    )

    def __init__(
        self,
        hypotheses: Mapping[Hashable, Hypothesis] | Any,
        prior: Any = None,
        *,
        items: Iterable[Hashable] | None = None,
        sampling: Literal["strong", "weak"] = "strong",
    ) -> None:
        if not isinstance(hypotheses, Mapping):
            raise PriorError(
                "hypotheses: must be a mapping from names to sets or functions; got "
                f"{type(hypotheses).__name__}. For a table use ConceptLearning.from_table."
            )
        if sampling not in ("strong", "weak"):
            raise PriorError(f"sampling: must be 'strong' or 'weak'; got {sampling!r}.")
        listed = None if items is None else _hashable(tuple(items), "items")
        extents = {name: _extent(name, what, listed) for name, what in hypotheses.items()}
        _several(tuple(extents))
        every = _items(extents) if listed is None else labels.unique(listed, "items")
        inside = np.array([[item in extent for item in every] for extent in extents.values()])
        for name, extent in extents.items():
            if not extent or (extra := extent.difference(every)):
                what = f"{next(iter(extra))!r}, which is not among the items" if extent else "none"
                raise PriorError(
                    f"hypotheses: {name!r} must hold at least one of the items; it holds {what}."
                )
        if sampling == "weak":
            outcomes = (*every, *(f"not {item}" for item in every))
            table = np.concatenate([inside, ~inside], axis=1) / len(every)
        else:
            outcomes, table = every, inside / np.maximum(inside.sum(1, keepdims=True), 1)
        _fill(self, tuple(extents), prior, every, outcomes, _logs(table))

    @classmethod
    def _from_file(
        cls,
        hypotheses: tuple[Hashable, ...],
        items: tuple[Hashable, ...],
        outcomes: tuple[Hashable, ...],
        log_table: Logs,
        log_weights: Logs,
    ) -> Self:
        """Return a belief with these weights, about a table or about sets of items."""
        belief = cls.from_table(log_table, hypotheses=hypotheses, outcomes=outcomes, logs=True)
        number = len(labels.unique(items, "items"))
        if len(outcomes) not in (number, 2 * number) or outcomes[:number] != items:
            raise DataError("outcomes: must be the items, and for each maybe that it is not one.")
        if log_weights.shape != (len(hypotheses),) or not np.isfinite(log_weights).any():
            raise DataError(
                "log_weights: must be one number a hypothesis, not -inf for all of them."
            )
        values.fill(belief, items=items, log_weights=log_weights)
        return belief

    @classmethod
    def from_table(
        cls,
        table: Any,
        prior: Any = None,
        *,
        hypotheses: Sequence[Hashable] | None = None,
        outcomes: Sequence[Hashable] | None = None,
        logs: bool = False,
    ) -> Self:
        """Return a belief about hypotheses that give any outcome any probability.

        Parameters
        ----------
        table : array_like or DataFrame of shape (K, M)
            Probability of each outcome under each hypothesis; rows add up to one. A frame's index
            and columns are the names.
        prior : array_like of shape (K,) or mapping, optional
            Probabilities; equal by default.
        hypotheses, outcomes : sequence, optional
            Names, where the table has none; counted from 0 by default.
        logs : bool, default False
            Whether the table holds natural logarithms.

        Raises
        ------
        PriorError
            If a row does not add up to one, or the names or the prior don't fit.

        Examples
        --------
        One person in a hundred is ill; a test finds nine of ten, and accuses one of twenty.

        >>> import bayesmodels as bm
        >>> prior = bm.ConceptLearning.from_table(
        ...     [[0.9, 0.1], [0.05, 0.95]], [0.01, 0.99],
        ...     hypotheses=["ill", "well"], outcomes=["positive", "negative"],
        ... )
        >>> prior.update(["positive"]).mean()["h"].round(3)
        array([0.154, 0.846])
        >>> float(prior.predictive().pmf("positive").round(4))  # the law of total probability
        0.0585
        """
        if hasattr(table, "columns"):
            named = hypotheses is None and hasattr(table, "index")  # Polars has no index
            hypotheses = table.index if named else hypotheses
            outcomes = table.columns if outcomes is None else outcomes
            table = table.to_numpy()
        array = np.asarray(table, dtype=float)
        if array.ndim != 2 or array.size == 0:  # noqa: PLR2004 - hypotheses and outcomes
            raise PriorError(
                f"table: must have the shape (hypotheses, outcomes); got {array.shape}."
            )
        names = tuple(range(array.shape[0])) if hypotheses is None else tuple(hypotheses)
        labelled = tuple(range(array.shape[1])) if outcomes is None else tuple(outcomes)
        for what, entries, size in (
            ("hypotheses", names, array.shape[0]),
            ("outcomes", labelled, array.shape[1]),
        ):
            if len(labels.unique(entries, what)) != size:
                raise PriorError(f"{what}: must be {size}, as the table has; got {len(entries)}.")
        with np.errstate(over="ignore"):
            mass = np.exp(array) if logs else array
        total = mass.sum(1)
        bad = ~((mass >= 0).all(1) & (np.abs(total - 1) <= ROUNDING))  # NaN is bad, too
        if bad.any():
            k = int(np.argmax(bad))
            raise PriorError(
                f"table: the row of {names[k]!r} must hold probabilities that add up to one"
                f"{', as logarithms' if logs else ''}; got {values.short(tuple(array[k].tolist()))}"
                f", with a sum of {total[k]:g}. Add a column for all other outcomes; or give log "
                "likelihoods of data as HypothesisStatistic."
            )
        self = cls.__new__(cls)
        _fill(self, names, prior, labelled, labelled, array if logs else _logs(array))
        return self

    @classmethod
    def number_game(
        cls, prior: Any = None, *, sampling: Literal["strong", "weak"] = "strong"
    ) -> Self:
        """Return ten hypotheses about a concept that holds some of the numbers from 1 to 100.

        Parameters
        ----------
        prior : array_like of shape (10,) or mapping, optional
            Probabilities; equal by default.
        sampling : {"strong", "weak"}
            Where examples come from.

        References
        ----------
        Tenenbaum (1999), *A Bayesian framework for concept learning*; Murphy (2012), section 3.2.

        Examples
        --------
        Four powers of 2 make it very likely that the concept holds powers of 2 only, and as likely
        as not, since 32 is not among them, that it doesn't hold 32: unless one thinks beforehand
        that exceptions are rare.

        >>> import bayesmodels as bm
        >>> posterior = bm.ConceptLearning.number_game().update([16, 8, 2, 64])
        >>> posterior.hypotheses[posterior.mode()["h"]]
        'powers of 2 minus 32'
        >>> posterior.membership([4, 32, 37, 10]).round(3)
        array([1.   , 0.426, 0.149, 0.   ])
        """
        return cls(NUMBER_GAME, prior, items=range(1, 101), sampling=sampling)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of ``h``, which has none."""
        return {"h": ()}

    @property
    def coords(self) -> Coords:
        """Labels along axes, of which there are none."""
        return {}

    @property
    def levels(self) -> dict[str, tuple[Hashable, ...]]:
        """What the values 0 to K - 1 of ``h`` stand for, as text."""
        return {"h": tuple(map(str, self.hypotheses))}

    @property
    def log_probabilities(self) -> Array:
        """Log probabilities of the hypotheses, of shape (K,)."""
        return self.log_weights - logsumexp(self.log_weights)

    def parameters(self) -> dict[str, Array]:
        """Return the probabilities by the symbol of `equations`, as a report shows them."""
        return {"p": self._probabilities}

    def statistic(self, data: Any) -> HypothesisStatistic:
        """Add up log likelihoods of the rows under each hypothesis.

        Parameters
        ----------
        data : array_like or Series of outcomes, shape (n,)
            Rows; or `Weighted` rows; or a statistic.

        Returns
        -------
        HypothesisStatistic
            Of shape (K,).

        Raises
        ------
        DataError
            If a row is none of the outcomes.
        """
        if isinstance(data, HypothesisStatistic):
            labels.same(self.hypotheses, data.hypotheses, "hypotheses")
            return data
        d = checked.outcomes(data, self.outcomes)
        counts = np.bincount(d.values, d.batch.weights, len(self.outcomes))
        seen = np.flatnonzero(counts)  # an outcome that is not there may well be impossible
        terms = self.log_table[:, seen] * counts[seen]
        log_likelihood = np.ascontiguousarray(terms).sum(1)  # in pairs, whose errors hardly grow
        return HypothesisStatistic(log_likelihood, self.hypotheses)

    def update(self, data: Any) -> Self:
        """Return the posterior, whose log weights are the prior's plus the log likelihoods.

        Raises
        ------
        DataError
            If no hypothesis explains the data.
        """
        weights = self.log_weights + self.statistic(data).log_likelihood
        if not np.isfinite(weights).any():
            raise DataError(self._why(data))
        after = copy.copy(self)
        values.fill(after, log_weights=weights)
        return after

    def log_evidence(self, data: Any) -> Array:
        r"""Return :math:`\ln \sum_h p(h) p(x \mid h)`, the law of total probability.

        Returns
        -------
        float
            Natural logarithm.

        Raises
        ------
        DataError
            If no hypothesis explains the data.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.ConceptLearning({"even": {2, 4, 6, 8}, "power of 2": {2, 4, 8}})
        >>> float(np.exp(prior.log_evidence([2])).round(9))  # (1/4 + 1/3) / 2
        0.291666667
        """
        before, after = logsumexp(self.log_weights), logsumexp(self.update(data).log_weights)
        return np.asarray(after - before)[()]

    def predictive(self) -> FiniteLaw:
        """Return the law of the next row, averaged over the hypotheses.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.ConceptLearning({"even": {2, 4, 6, 8}, "power of 2": {2, 4, 8}})
        >>> prior.predictive().pmf([2, 6]).round(4)
        array([0.2917, 0.125 ])
        """
        logs = logsumexp(self.log_probabilities[:, None] + self.log_table, axis=0)
        return FiniteLaw(logs, self.outcomes)

    def plug_in(self, parameters: Draws) -> FiniteLaw:
        """Return the law of the next row as if the hypothesis ``parameters["h"]`` were true.

        With ``statistic.mle()`` or ``belief.mode()`` these are the MLE and MAP plug-ins.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> prior = bm.ConceptLearning({"even": {2, 4, 6, 8}, "power of 2": {2, 4, 8}})
        >>> prior.plug_in(prior.update([2]).mode()).pmf([2, 6]).round(4)
        array([0.3333, 0.    ])
        """
        return FiniteLaw(self.log_table[int(parameters["h"])], self.outcomes)

    def membership(self, items: Any = None, parameters: Draws | None = None) -> Array:
        r"""Return the probability that items belong to the concept.

        .. math:: p(\tilde x \in C \mid x) = \sum_h 1[\tilde x \in h]\, p(h \mid x)

        Of a table of probabilities: that they are possible at all.

        Parameters
        ----------
        items : item or list of items, optional
            Which; all of `items` by default.
        parameters : dict, optional
            With a hypothesis ``"h"``, such as ``belief.mode()``: as if it were known to be true.

        Returns
        -------
        ndarray of shape (items,)
            Probabilities; they need not add up to one.

        Examples
        --------
        >>> import bayesmodels as bm
        >>> belief = bm.ConceptLearning({"even": {2, 4, 6, 8}, "power of 2": {2, 4, 8}})
        >>> belief.membership(6), belief.membership(6, {"h": 1})
        (np.float64(0.5), np.float64(0.0))
        """
        inside = (self.log_table[:, : len(self.items)] > -np.inf).astype(float)
        weights = self._probabilities
        if parameters is not None:
            weights = (np.arange(len(weights)) == parameters["h"]).astype(float)
        mass = np.minimum(weights @ inside, 1)
        return mass if items is None else places(items, self.items, mass)

    def marginals(self) -> dict[str, Law]:
        """Return the Bernoulli laws of the indicators 1[h = k], of shape (K,).

        The values of h are only names, so their mean would mean nothing; the mean of its indicators
        is the probability of each hypothesis.
        """
        law: Any = stats.bernoulli(self._probabilities)
        return {"h": law}

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return the number of the most probable hypothesis, the maximum a posteriori (MAP).

        Raises
        ------
        ModeError
            If several are equally probable; the message names them.
        """
        best = _largest(self.log_weights)
        if len(best) > 1:
            raise ModeError(
                f"h: has no single mode, since {_names(self.hypotheses, best)} are equally "
                "probable. Use mean() instead, or average over them by predictive()."
            )
        return {"h": best[0]}

    def log_density(self, draws: Draws) -> Array:
        """Return the log probabilities of ``draws["h"]``, numbers of hypotheses."""
        return self.log_probabilities[checked.drawn(draws, "h")]

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`, from its summands' sizes."""
        weight = np.abs(self.log_weights[checked.drawn(draws, "h")])
        size = np.where(weight < np.inf, weight, 0) + np.abs(self.log_weights.max())
        return np.asarray(_ROUNDINGS * np.finfo(float).eps * (1 + size))

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return `draws` independent draws of the number of the hypothesis, of shape (draws,)."""
        draws, rng = checked.asked(draws, rng)
        p = self._probabilities
        drawn: Any = rng.choice(len(p), draws, p=p / p.sum())
        return {"h": drawn}

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log probability of each row given h, of shape (..., n)."""
        d = checked.outcomes(data, self.outcomes)
        return {"x": self.log_table[checked.drawn(draws, "h")[..., None], d.values]}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows, as numbers of outcomes, of shape (..., n)."""
        rng = checked.randomness(rng)
        h = checked.drawn(draws, "h")
        uniform = rng.random((*h.shape, len(checked.outcomes(data, self.outcomes).values)))
        below = np.exp(self.log_table).cumsum(1)
        codes = np.zeros(uniform.shape, dtype=np.int64)
        for k in np.unique(h):
            # Scaled by the last sum, which rounding may keep from one.
            codes[h == k] = np.searchsorted(below[k], uniform[h == k] * below[k, -1], side="right")
        return {"x": codes}

    def observed(self, data: Any) -> Observed:
        """Return the rows as numbers of outcomes under the name ``"x"``, with their labels."""
        d = checked.outcomes(data, self.outcomes)
        return {"x": (d.values.astype(np.int64), {"row": tuple(d.batch.rows)})}

    @property
    def value_labels(self) -> tuple[Hashable, ...]:
        """Labels of the values 0, 1, ... of a row."""
        return self.outcomes

    leave_rows_out = case_deletion.of_hypotheses
    digits_lost = conditioning.none_lost
    declare = declare

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        import pymc as pm
        from pytensor.tensor import as_tensor

        check_declarable(data, likelihood)
        s = self.statistic(data)
        h = pm.Categorical(names("h"), p=self._probabilities)
        if likelihood == "statistic":
            pm.Potential(names("likelihood"), as_tensor(s.log_likelihood)[h])
            return
        ((x, rows),) = self.observed(data).values()
        table = as_tensor(np.exp(self.log_table))
        pm.Categorical(names("x"), p=table[h], observed=x, dims=names.labelled(rows))

    def _why(self, data: Any) -> str:
        """Say in words at which row the last hypothesis became impossible."""
        if isinstance(data, HypothesisStatistic):
            return _IMPOSSIBLE
        d = checked.outcomes(data, self.outcomes)
        allowed = self.log_table[:, d.values] > -np.inf
        allowed |= d.batch.weights == 0 if d.batch.weights is not None else False
        left = np.logical_and.accumulate(allowed & (self.log_weights > -np.inf)[:, None], axis=1)
        row = int(np.argmin(left.any(0)))
        return (
            f"data: no hypothesis explains the data: {where((row,))} holds "
            f"{self.outcomes[d.values[row]]!r}, which is impossible under each that explains the "
            f"rows before it. {_WAY_OUT}"
        )

    @property
    def _probabilities(self) -> Array:
        return np.minimum(np.exp(self.log_probabilities), 1)  # rounding may go beyond one


_POWERS_OF_2 = frozenset({2, 4, 8, 16, 32, 64})

NUMBER_GAME: Mapping[Hashable, Hypothesis] = {
    "even": range(2, 101, 2),
    "squares": {n * n for n in range(1, 11)},
    "multiples of 4": range(4, 101, 4),
    "multiples of 8": range(8, 101, 8),
    "ends in 6": range(6, 101, 10),
    "powers of 2": _POWERS_OF_2,
    "powers of 4": {4, 16, 64},
    "all": range(1, 101),
    "powers of 2 plus 37": _POWERS_OF_2 | {37},
    "powers of 2 minus 32": _POWERS_OF_2 - {32},
}
"""The hypotheses of `ConceptLearning.number_game`; powers start with the number itself."""


def _extent(name: Hashable, what: Any, items: tuple[Hashable, ...] | None) -> frozenset[Hashable]:
    """Return the items that belong to a concept."""
    if callable(what):
        if items is None:
            raise PriorError(
                f"hypotheses: {name!r} is a function, which needs to know what there is; add items="
                ", such as items=range(1, 101)."
            )
        return frozenset(item for item in items if what(item))
    if isinstance(what, str) or not isinstance(what, Iterable):
        raise PriorError(
            f"hypotheses: {name!r} must be a set of items, or a function of one item; got {what!r}."
        )
    return frozenset(_hashable(tuple(what), f"hypotheses: items of {name!r}"))


def _hashable(items: tuple[Any, ...], what: str) -> tuple[Hashable, ...]:
    """Return items; refuse any that is not hashable."""
    for item in items:
        try:
            hash(item)
        except TypeError:
            raise PriorError(
                f"{what}: must be numbers, strings or other hashable values; got {item!r}."
            ) from None
    return items


def _items(extents: Mapping[Hashable, frozenset[Hashable]]) -> tuple[Hashable, ...]:
    """Return all items of some sets, in their natural order if they have one."""
    every: Any = dict.fromkeys(item for extent in extents.values() for item in extent)
    try:
        every = sorted(every)
    except TypeError:
        every = sorted(every, key=repr)
    return labels.unique(tuple(every), "items")


def _logs(table: Array) -> Array:
    with np.errstate(divide="ignore"):  # outcomes may be impossible
        return np.log(table)


def _fill(
    belief: ConceptLearning,
    hypotheses: tuple[Hashable, ...],
    prior: Any,
    items: tuple[Hashable, ...],
    outcomes: tuple[Hashable, ...],
    log_table: Array,
) -> None:
    values.fill(
        belief,
        hypotheses=_several(hypotheses),
        items=items,
        outcomes=labels.unique(outcomes, "outcomes"),
        log_table=log_table,
        log_weights=_logs(_prior(prior, hypotheses)),
    )


def _several(hypotheses: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    if len(hypotheses) < _FEWEST:
        raise PriorError(
            f"hypotheses: must be at least two, to choose from; got {len(hypotheses)}."
        )
    return labels.unique(hypotheses, "hypotheses")


def _prior(prior: Any, hypotheses: tuple[Hashable, ...]) -> Array:
    """Check prior probabilities."""
    if prior is None:
        return np.full(len(hypotheses), 1 / len(hypotheses))
    if hasattr(prior, "index") and hasattr(prior, "to_dict"):  # a pandas series, maybe by name
        numbered = tuple(prior.index) == tuple(range(len(prior)))
        prior = prior.to_numpy() if numbered else prior.to_dict()
    if isinstance(prior, Mapping):
        if set(prior) != set(hypotheses):
            wrong = next(iter(set(prior) ^ set(hypotheses)))
            raise PriorError(
                f"prior: must name each of the hypotheses and no other; see {wrong!r}."
            )
        prior = [prior[name] for name in hypotheses]
    try:
        p = probabilities(read(prior, "prior", bare=True))
    except DataError as error:
        raise PriorError(str(error).removesuffix(DROP_ROWS)) from None
    if p.shape != (len(hypotheses),):
        raise PriorError(
            f"prior: must hold {len(hypotheses)} probabilities, one a hypothesis; got {p.shape}."
        )
    return p


def _largest(logs: Array) -> Any:
    """Return the places of the largest sums, ties up to rounding included."""
    top = logs.max()
    if not np.isfinite(top):
        return np.arange(len(logs))
    return np.flatnonzero(top - logs <= 2 * _ROUNDINGS * np.finfo(float).eps * (1 + abs(top)))


def _names(hypotheses: tuple[Hashable, ...], which: Any) -> str:
    return " and ".join(repr(hypotheses[k]) for k in which[:_FEWEST]) + (
        f" (and {len(which) - _FEWEST} more)" if len(which) > _FEWEST else ""
    )
