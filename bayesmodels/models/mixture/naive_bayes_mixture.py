r"""Mixture of naive Bayes: latent classes, with all, some or none of the classes known.

=============  =================================================================================
Prior          pi ~ Dirichlet(alpha); for each class and feature a belief of the feature's family
Rows           y_i | pi ~ Categorical(pi), mostly not observed;  x_ij | y_i = c ~ family
Statistic      the distinct rows and how often each occurs: no shorter one exists
Posterior      sum over terms t of w_t Dirichlet(alpha + n_t) prod_jc (belief of j, c after term t);
               a term is a way to allot the rows to the classes, w_t its share of the evidence
Log evidence   log of the sum, over all ways, of the evidence of the rows so classified
Predictive     p(c, x) = sum_t w_t p_t(c) prod_j p_t(x_j | c)
=============  =================================================================================

Ways that give the same statistic are one term, with the number of such ways as its multiplicity.

Murphy, *Machine Learning: A Probabilistic Perspective* (2012), sections 11.2 to 11.4.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief import conjugate, values
from bayesmodels.belief.declaring import Names, check_declarable
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.simulation import Simulated, of_data, replaced
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.draws import read
from bayesmodels.input.labels import only
from bayesmodels.input.wrappers import MultinomialCounts
from bayesmodels.models.categorical import CategoricalStatistic, DirichletCategorical
from bayesmodels.models.classifiers.features import Block, features_argument
from bayesmodels.models.classifiers.generative import known_draws
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.mixture.em import em
from bayesmodels.models.mixture.latent_rows import (
    UNKNOWN,
    LatentClassModel,
    MixtureStatistic,
    dense,
    latent_rows,
    shares,
)
from bayesmodels.models.mixture.terms import (
    Terms,
    check_budget,
    every_term,
    taken,
)
from bayesmodels.numerics import Array
from bayesmodels.numerics.laws import MixtureLaw

if TYPE_CHECKING:
    import pymc as pm

BUDGET = 200_000
"""Terms of an exact posterior at most, unless a model says otherwise."""
_AT_ONCE = 1 << 20  # numbers
_DENSE = 20_000_000  # cells of a PyMC model at most


@value
class NaiveBayesMixture(LatentClassModel):
    r"""Belief about a mixture of classes whose features are independent given the class.

    .. math:: p(x \mid \pi, \theta) = \sum_c \pi_c \prod_j p(x_j \mid \theta_{jc})

    Its exact posterior is a finite mixture of beliefs, one term for each distinguishable way to
    allot the rows to the classes. That is feasible for small data; for more rows there are `em`,
    `declare` with PyMC's sampler.

    Parameters
    ----------
    components : DirichletCategorical
        Belief about the class probabilities; its categories are the labels of the classes.
    features : belief or mapping
        As in `NaiveBayes`; of the families `BetaBernoulli`, `DirichletCategorical` (also with
        counts of words), `GammaPoisson`, `GammaExponential` and `NormalInverseGamma`.
    budget : int, default 200000
        Number of terms beyond which an exact posterior is refused.

    Raises
    ------
    PriorError
        If a block has no belief about features.

    Notes
    -----
    Data are features alone, or pairs ``(X, y)`` in which a missing y is a class not known. With
    priors that treat all classes alike and no class known, the posterior is the same for every
    permutation of the classes: only what does not depend on their order can be compared.

    References
    ----------
    Murphy (2012), *Machine Learning: A Probabilistic Perspective*, sections 11.2 to 11.4.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> prior = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    >>> bits = [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1]]
    >>> posterior = prior.update(bits)
    >>> float(prior.log_evidence(bits).round(6))
    -9.052778
    """

    classes: DirichletCategorical
    blocks: dict[str, Block]
    terms: Terms | None
    budget: int

    title: ClassVar = "Mixture of naive Bayes"
    equations: ClassVar = (
        ("Prior", r"\pi \sim \mathrm{Dirichlet}(\alpha), \quad \theta_{jc} \sim p_j(\theta)"),
        (
            "Likelihood",
            r"p(x_i \mid \pi, \theta) = \sum_c \pi_c \prod_j p_j(x_{ij} \mid \theta_{jc})",
        ),
        (
            "Posterior",
            r"\sum_t w_t \, \mathrm{Dirichlet}(\pi \mid \alpha + n_t) \prod_{jc} p_t(\theta_{jc})",
        ),
        ("Evidence", r"\ln p(x) = \ln \sum_z p(z) \, p(x \mid z)"),
    )

    def __init__(
        self, components: DirichletCategorical, features: Any, *, budget: int = BUDGET
    ) -> None:
        read = NaiveBayes(components, features)
        most = checked.count(budget, "budget", 1)
        values.fill(self, classes=read.classes, blocks=read.blocks, terms=None, budget=most)

    @classmethod
    def _from_file(
        cls,
        classes: DirichletCategorical,
        blocks: dict[str, Block],
        terms: Terms | None,
        budget: int,
    ) -> Self:
        """Return the posterior with these terms, which must fit the classes and blocks."""
        model = cls(classes, features_argument(blocks), budget=budget)
        if terms is None:
            return model
        number = len(terms.counts)
        shapes = terms.counts.shape, terms.log_multiplicity.shape
        if not number or shapes != ((number, len(classes.alpha)), (number,)):
            raise DataError(
                "terms: must have a count for each class, and one log_multiplicity each."
            )
        if (terms.counts < 0).any() or list(terms.parts) != list(blocks):
            raise DataError(
                "terms: must have counts that are not negative, and a statistic of each block."
            )
        for name, part in terms.parts.items():
            belief = blocks[name].belief
            got, wanted = (getattr(x, fields(x)[0].name).shape for x in (part, belief))
            if got != (number, *wanted) or next(iter(part.coords), None) != "term":
                raise DataError(
                    f"terms: the statistic of {name!r} must have the axis term, then the block's."
                )
            belief.update(_at_terms(belief, part))  # refuses a statistic of another family
        return model.with_terms(terms)

    def update(self, data: Any) -> Self:
        """Return the exact posterior: a finite mixture of beliefs.

        Raises
        ------
        DataError
            If it has more terms than the budget allows, or rows have fractional weights.
        """
        s = self.statistic(data)
        wide = self.with_axes(s)
        if not len(s.labels):
            return wide
        new = every_term(wide, s, self.budget)
        if self.terms is not None:
            check_budget(self.budget, len(self.terms) * len(new))
            new = self.terms.crossed(new)
        return wide.with_terms(new)

    def log_evidence(self, data: Any) -> Array:
        r"""Return :math:`\ln \sum_z p(z)\, p(x \mid z)`, of rows in the order observed.

        The sum is over all ways to give classes to the rows whose class is not known.

        Returns
        -------
        ndarray of shape ()
            Natural logarithm.
        """
        after = self.update(data)
        before = 0.0 if self.terms is None else logsumexp(self.log_terms)
        total = 0.0 if after.terms is None else logsumexp(after.log_terms)
        return np.asarray(total - before)[()]

    def log_joint(self, rows: Any, parameters: Draws | None = None) -> Array:
        """Return the log density of each new row and class.

        Parameters
        ----------
        rows : as the features of the data
            A missing cell is integrated out.
        parameters : mapping, optional
            Parameters to be taken as known: those of `em`, or draws with sample axes in front. By
            default they are integrated over the belief.

        Returns
        -------
        ndarray of shape (..., n, class)
            Natural logarithms.
        """
        if parameters is not None or self.terms is None:
            return super().log_joint(rows, parameters)
        s = latent_rows(self.classes, self.blocks, rows)
        size, chunk = len(self.classes.alpha), max(1, _AT_ONCE // (1 + len(s.labels)))
        result = np.full((len(s.labels), size), -np.inf)
        for start in range(0, len(self.terms), chunk):
            at = np.arange(start, min(start + chunk, len(self.terms)))
            alpha = self.classes.alpha + self.terms.counts[at]
            each = np.log(alpha / alpha.sum(-1, keepdims=True)) + self.log_weights[at, None]
            total = np.broadcast_to(each, (len(s.labels), *each.shape))
            for name, (belief, _) in zip(self.blocks, self.after_terms(at)[1:], strict=True):
                flat = _joined_axes(belief)
                total = total + flat.log_predictive(s.rows[name]).reshape(total.shape)
            result = np.logaddexp(result, logsumexp(total, axis=1))
        return result

    # --- reading ---------------------------------------------------------------------------------

    def marginals(self) -> dict[str, Law]:
        """Return each variable's law, elementwise over its shape: a mixture over the terms."""
        if self.terms is None:
            return super().marginals()
        # Terms that no double can tell from nothing would only cost time.
        at = np.flatnonzero(
            self.log_weights > np.log(np.finfo(float).eps) - np.log(len(self.terms))
        )
        weights = np.exp(self.log_weights[at])
        return {
            names(v): MixtureLaw(weights, law)
            for belief, names in self.after_terms(at)
            for v, law in belief.marginals().items()
        }

    def mode(self) -> dict[str, Array]:
        """Raise an error: the mode of a mixture has no closed form.

        Raises
        ------
        ModeError
            Unless the model is a prior, whose parts have modes.
        """
        if self.terms is None:
            return super().mode()
        raise ModeError(
            "mode: the posterior of a mixture has several modes, at least one for each order of "
            "the classes, and no closed form. Find them with prior.em(data, estimate='map')."
        )

    @cached_property
    def log_weights(self) -> Array:
        """Log posterior probabilities of the terms."""
        if self.terms is None:
            return np.zeros(1)
        return np.asarray(self.log_terms - logsumexp(self.log_terms))

    @property
    def exchangeable(self) -> bool:
        """Whether the belief is the same for every order of the classes."""
        alike = [np.ptp(self.classes.alpha) == 0]
        for block in self.blocks.values():
            belief = block.belief
            if "class" in belief.coords:
                values_of = [getattr(belief, f.name) for f in fields(belief) if f.name != "coords"]
                alike += [bool((x == x[:1]).all()) for x in values_of if isinstance(x, np.ndarray)]
        if self.terms is not None:
            expected = np.exp(self.log_weights) @ self.terms.counts
            alike.append(bool(np.ptp(expected) <= 1e-9 * expected.sum()))
        return all(alike)

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of all variables, one number a draw."""
        if self.terms is None:
            return super().log_density(draws)
        return _log_sum(self._by_term(draws, "log_density") + self.log_weights)

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`, from its terms' bounds."""
        if self.terms is None:
            return super().log_density_rounding(draws)
        each = self._by_term(draws, "log_density") + self.log_weights
        rounding = self._by_term(draws, "log_density_rounding") + self._weight_rounding
        size = np.abs(each).max(-1, where=np.isfinite(each), initial=0)
        share, _ = shares(each)
        return np.asarray((share * rounding).sum(-1) + 4 * np.finfo(float).eps * (1 + size))

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws of every variable, sample axis first."""
        draws, rng = checked.asked(draws, rng)
        if self.terms is None:
            return super().sample(draws, rng)
        at = rng.choice(len(self.terms), size=draws, p=np.exp(self.log_weights))
        return {
            names(v): x[0]
            for belief, names in self.after_terms(at)
            for v, x in belief.sample(1, rng).items()
        }

    em = em

    # --- rows ------------------------------------------------------------------------------------

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return the log density of each row, its class summed out unless it is known."""
        s = latent_rows(self.classes, self.blocks, data)
        return {"rows": shares(self.with_axes(s).log_joint_of(s, draws))[1]}

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows of new classes; rows whose class is known keep it."""
        rng = checked.randomness(rng)
        s = latent_rows(self.classes, self.blocks, data)
        wide, pi = self.with_axes(s), checked.drawn(draws, "pi")
        below = pi.cumsum(-1)[..., None, :-1]
        classes = (rng.random((*pi.shape[:-1], len(s.labels), 1)) >= below).sum(-1)
        classes = np.where(s.labels == UNKNOWN, classes, s.labels)
        result = {}
        for belief, names, x in wide.features_of(s):
            of_row = {
                v: _of_class(value, classes, len(self.classes.alpha))
                for v, value in known_draws(draws, belief, names).items()
            }
            # Each row is a problem of its own, with the parameters of its class.
            (new,) = belief.replicate(of_row, _one_row(belief, x), rng).values()
            result[names("x")] = new[..., 0, :, *(slice(None),) * (x.ndim - 1)]
        return result

    def observed(self, data: Any) -> Observed:
        """Return the features of each block; NaN, or -1 for a category, is missing."""
        s = latent_rows(self.classes, self.blocks, data)
        result = {}
        for (belief, names), name in zip(self.with_axes(s).parts()[1:], self.blocks, strict=True):
            x = s.rows[name]
            if checked.sparse(x):
                raise DataError(
                    "counts: sparse rows are not spread out one by one; make the table dense."
                )
            axes = dict(list(belief.coords.items())[1 : x.ndim])
            result[names("x")] = (x, {"row": tuple(range(len(x))), **names.coords(axes)})
        return result

    def label_invariants(self, draws: Any, data: Any, *, rows: int = 8) -> dict[str, Array]:
        r"""Return quantities of each draw that do not depend on the order of the classes.

        Parameters
        ----------
        draws : xarray.DataTree or mapping
            Arrays with the axes (chain, draw, ...).
        data : as the model's data
            Rows at which densities are taken.
        rows : int, default 8
            How many of the distinct rows, spread evenly over their order.

        Returns
        -------
        dict of ndarray
            ``pi_sorted`` (..., class), the class probabilities in order of size; ``log_density``
            (..., rows), that of each row, :math:`\ln \sum_c \pi_c p(x \mid \theta_c)`; and
            ``same_class`` (..., rows - 1), the probability that neighbours among the rows belong
            to one class.
        """
        s = latent_rows(self.classes, self.blocks, data).spread(checked.count(rows, "rows", 2))
        wide = self.with_axes(s)
        known = read(draws, wide.dims, wide.coords, length=None)
        share, logs = shares(wide.log_joint_of(s, known))
        return {
            "pi_sorted": np.sort(known["pi"], axis=-1)[..., ::-1],
            "log_density": logs,
            "same_class": (share[..., 1:, :] * share[..., :-1, :]).sum(-1),
        }

    def interchangeable(self, data: Any) -> bool:
        """Return whether belief and rows are the same under every permutation of the classes."""
        labels = latent_rows(self.classes, self.blocks, data).labels
        return self.exchangeable and not (labels != UNKNOWN).any()

    def simulated(
        self, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
    ) -> Simulated:
        """Draw classes, also the known ones, then features; missing cells stay missing."""
        rng = checked.randomness(rng)
        observed = latent_rows(self.classes, self.blocks, design)
        pi = np.asarray(parameters["pi"])[0]
        drawn = rng.choice(len(pi), size=len(observed.labels), p=pi / pi.sum())
        classified = MixtureStatistic(drawn, observed.rows, observed.axes, observed.weights)
        new = self.replicate(parameters, classified, rng)
        rows = {}
        for (name, old), drawn_rows in zip(observed.rows.items(), new.values(), strict=True):
            table = dense(old)
            missing = np.isnan(table) | (table == UNKNOWN if table.dtype.kind == "i" else False)
            rows[name] = np.where(missing, table, drawn_rows[0])
        labels = np.where(observed.labels == UNKNOWN, UNKNOWN, drawn)
        s = MixtureStatistic(labels, rows, observed.axes, observed.weights)
        return replace(of_data(self, s), declare=lambda: self.declare_rows(s))

    def digits_lost(self, statistic: MixtureStatistic) -> None:
        """Return None: a mixture of many terms has no one condition number."""

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model, unknown classes summed out."""
        del names  # a mixture is never a part of something else
        check_declarable(data, likelihood)
        if self.terms is not None:
            raise PriorError(
                "mixture: an exact posterior of many terms cannot be declared as a prior. Declare "
                "the prior with all rows."
            )
        s = latent_rows(self.classes, self.blocks, data)
        self._add_rows(s.distinct() if likelihood == "statistic" else s)

    def declare_rows(self, s: MixtureStatistic) -> pm.Model:
        """Return the PyMC model of rows that are checked already, each of them once."""
        import pymc as pm

        with pm.Model() as model:
            self._add_rows(s)
        return model

    def _add_rows(self, s: MixtureStatistic) -> None:
        import pymc as pm
        from pymc import math

        wide, size = self.with_axes(s), len(self.classes.alpha)
        empty = self.classes.statistic([])
        self.classes.add_to_model(empty, "statistic", wide.parts()[0][1])
        model = pm.modelcontext(None)
        joint = math.log(model["pi"])[None, :]
        for belief, names, x in wide.features_of(s):
            cells = len(s.labels) * prod(list(map(len, belief.coords.values()))[1:])
            if cells > _DENSE:
                raise DataError(
                    f"data: {len(s.labels):,} distinct rows of {cells // len(s.labels):,} levels "
                    "are too many for a PyMC model of a mixture, which spreads them out. Use `em`."
                )
            nothing = belief.weighted_statistic(x[:0], np.zeros((size, 0)), belief.coords)
            belief.add_to_model(nothing, "statistic", names)
            each = belief.statistic_of_cells(dense(x))
            cells_of = (getattr(each, f.name)[:, None] for f in fields(each) if f.name != "coords")
            each = conjugate.replace(each, {}, *cells_of)  # the same in every class
            terms = belief.declared_terms(each, {v: model[names(v)] for v in belief.dims})
            joint = joint + terms.sum(axis=tuple(range(2, terms.ndim)))
        known = np.flatnonzero(s.labels != UNKNOWN)
        unknown = np.flatnonzero(s.labels == UNKNOWN)
        total = (s.weights[known] * joint[known, s.labels[known]]).sum()
        if len(unknown):
            total = total + (s.weights[unknown] * math.logsumexp(joint[unknown], axis=1)).sum()
        pm.Potential("mixture", total)

    # --- parts of the above ----------------------------------------------------------------------

    def with_terms(self, terms: Terms | None) -> Self:
        """Return the posterior of this prior with these terms, or the prior with None."""
        return checked.build(type(self), self.classes, self.blocks, terms, self.budget)

    def log_evidence_of(self, terms: Terms) -> Array:
        """Return the log evidence of rows and classes under the prior, one number a term."""
        counted = self._counted(terms.counts)
        total = np.asarray(self.classes.log_evidence(counted))
        for name, block in self.blocks.items():
            each = np.asarray(block.belief.log_evidence(_at_terms(block.belief, terms.parts[name])))
            total = total + each.reshape(len(terms), -1).sum(-1)
        return total

    def _counted(self, counts: Array) -> CategoricalStatistic:
        """Return the statistic of the classes, one of each term."""
        coords = {"term": range(len(counts)), "category": self.classes.coords["category"]}
        return CategoricalStatistic(counts, coords=coords)

    @property
    def _known_terms(self) -> Terms:
        assert self.terms is not None  # noqa: S101 - for the type checker; callers have looked
        return self.terms

    def after_terms(self, at: NDArray[np.intp]) -> list[tuple[Any, Names]]:
        """Return the posterior beliefs of the terms `at`, with the leading axis ``term``."""
        terms = self._known_terms
        (classes, class_names), *blocks = self.parts()
        result = [(classes.update(self._counted(terms.counts[at])), class_names)]
        for (belief, names), name in zip(blocks, self.blocks, strict=True):
            result.append((belief.update(_at_terms(belief, terms.parts[name], at)), names))
        return result

    def _by_term(self, draws: Draws, verb: str) -> Array:
        """Return `verb` of each term's beliefs, added up over variables: (samples..., terms)."""
        lead = np.ndim(checked.drawn(draws, "pi")) - 1
        terms = len(self.terms or ())
        size = sum(np.size(checked.drawn(draws, name)) for name in self.dims)
        chunk = max(1, _AT_ONCE // max(size, 1))
        result = []
        for start in range(0, terms, chunk):
            at = np.arange(start, min(start + chunk, terms))
            total: Any = 0.0
            for part, names in self.after_terms(at):
                wide = {v: np.expand_dims(checked.drawn(draws, names(v)), lead) for v in part.dims}
                each = np.asarray(getattr(part, verb)(wide))
                each = each.reshape(*each.shape[: lead + 1], -1)
                total = total + each @ np.ones(each.shape[-1])  # quicker than a sum
            result.append(total)
        return np.concatenate(result, axis=-1)

    @cached_property
    def log_terms(self) -> Array:
        """Log of each term's multiplicity times its evidence."""
        return self._known_terms.log_multiplicity + self.log_evidence_of(self._known_terms)

    @cached_property
    def _weight_rounding(self) -> Array:
        """Bound on the rounding errors of the terms' log weights."""
        terms = self._known_terms
        size = 1 + np.abs(self.log_terms) + np.abs(terms.log_multiplicity)
        return np.asarray(16 * np.finfo(float).eps * (size + terms.places))

    def __repr__(self) -> str:
        """Show the prior, and of a posterior the number of terms."""
        after = "" if self.terms is None else f", {len(self.terms)} terms"
        return f"NaiveBayesMixture({self.classes!r}, {self.blocks!r}{after})"


# --- helpers --------------------------------------------------------------------------------------


def _of_class(parameter: Any, classes: NDArray[np.intp], size: int) -> Array:
    """Return a parameter (..., class, inner...) of the class of each row: (..., n, inner...)."""
    array = np.asarray(parameter, dtype=float)
    inner = array.shape[classes.ndim :]
    flat, codes = array.reshape(-1, size, *inner), classes.reshape(-1, classes.shape[-1])
    result = flat[np.arange(len(flat))[:, None], codes]
    return result.reshape(*classes.shape, *inner)


def _one_row(belief: Any, x: Any) -> Any:
    """Return rows (n, inner...) as one row of n problems, with gaps filled arbitrarily."""
    x = dense(x)[None]
    if "category" in belief.coords and x.ndim > len(belief.coords):
        return MultinomialCounts(x)
    filled = np.where(np.isnan(x) | (x == UNKNOWN), 1, x)
    return replaced(belief, filled, filled)


def _joined_axes(belief: Any) -> Any:
    """Return a belief with the axes term and class as one leading axis."""
    parameters = {f.name: getattr(belief, f.name) for f in fields(belief)}
    result: dict[str, Any] = {}
    for name, field in parameters.items():
        if name == "coords":
            _, _, *axes = field.items()
            result[name] = {"member": range(prod(map(len, list(field.values())[:2]))), **dict(axes)}
        elif isinstance(field, np.ndarray):
            result["mean" if name == "location" else name] = field.reshape(-1, *field.shape[2:])
        else:
            result[name] = field
    return type(belief)(**result)


def _at_terms(belief: Any, part: Any, at: Any = slice(None)) -> Any:
    """Return a block's statistic at some terms, with the belief's categories, if any."""
    number = len(getattr(part, fields(part)[0].name))
    return taken(part, np.arange(number)[at], only(belief.coords, "category"))


def _log_sum(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the last axis; also for complex steps."""
    top = logs.real.max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - top).sum(-1)) + top[..., 0])
