"""The verbs that every model file provides, in the order in which it provides them.

There is no base class. A model is a frozen dataclass that has these methods; what all of them
share is written once, as functions over this protocol, in `bayesmodels.belief.reading`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayesmodels.input.labels import Coords
from bayesmodels.numerics import Array

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

Draws = Mapping[str, Any]
"""Values of the variables by name, with any number of sample axes before the variable's own."""

Likelihood = Literal["rows", "statistic"]

Rows = dict[str, NDArray[Any]]
"""Rows by the names under which a PyMC model observes them."""

Observed = dict[str, tuple[NDArray[Any], Coords]]
"""Observed rows by name, each with the labels along its axes."""


class Law(Protocol):
    """A distribution on the line, elementwise over an array of its parameters."""

    def mean(self) -> Any: ...
    def std(self) -> Any: ...
    def var(self) -> Any: ...
    def stats(self, moments: Any, /) -> Any: ...
    def cdf(self, x: Any, /) -> Any: ...
    def ppf(self, q: Any, /) -> Any: ...
    def isf(self, q: Any, /) -> Any: ...
    def logpdf(self, x: Any, /) -> Any: ...


@runtime_checkable
class DistributionFunction(Protocol):
    """A law on the line, of any library."""

    def cdf(self, x: Any, /) -> Any: ...
    def ppf(self, q: Any, /) -> Any: ...


@runtime_checkable
class MassFunction(Protocol):
    """A law of values that can be counted."""

    def logpmf(self, x: Any, /) -> Any: ...


@runtime_checkable
class Statistic(Protocol):
    """All that a model needs to know of its rows.

    ``a + b`` merges disjoint sets of rows, ``a - b`` takes rows out again, and
    ``a.discounted(rho)`` lets each count as rho rows.
    """

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def discounted(self, rho: float) -> Self: ...
    def without_rows(self) -> Self: ...
    def seen(self) -> dict[str, float]: ...


@runtime_checkable
class Readable(Protocol):
    """What can be read off: a belief, or an approximation to one."""

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of each variable's axes."""

    @property
    def coords(self) -> Coords:
        """Labels along every axis."""

    def marginals(self) -> dict[str, Law]:
        """Return each variable's law, elementwise over its shape."""

    def interval(
        self, ci_prob: float = 0.89, ci_kind: Literal["eti", "hdi"] = "eti"
    ) -> dict[str, tuple[Array, Array]]:
        """Return equal-tailed intervals, or those of highest density."""

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws, sample axis first."""


class Declarable(Protocol):
    """What can be written as a PyMC model."""

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Any) -> None:
        """Write prior and likelihood into the current PyMC model, under the names it is given."""


class Belief(Readable, Declarable, Protocol):
    """A prior or a posterior: data update it to another belief of the same class."""

    def parameters(self) -> dict[str, Array]:
        """Return what the belief is made of, by symbol."""

    def statistic(self, data: Any) -> Any:
        """Return the sufficient statistic of the rows; one pass."""

    def update(self, data: Any) -> Self:
        """Return the belief after the data (rows or their statistic)."""

    def log_evidence(self, data: Any) -> Any:
        """Return the log density of the data with the parameters integrated out."""

    def mode(self) -> dict[str, Array]:
        """Return where the joint density is largest."""

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density in natural space."""

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`."""

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return log densities of what is observed, the row axis before the batch."""

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new rows like those of `data`, one set for each draw of the parameters."""

    def observed(self, data: Any) -> Observed:
        """Return the rows as the PyMC model observes them."""

    def declare(self, data: Any, likelihood: Likelihood | None = None) -> pm.Model:
        """Return prior and likelihood as a PyMC model with the same names, dims and coords."""

    def mean(self) -> dict[str, Array]: ...
    def var(self) -> dict[str, Array]: ...
    def interval(
        self, ci_prob: float = 0.89, ci_kind: Literal["eti", "hdi"] = "eti"
    ) -> dict[str, tuple[Array, Array]]: ...
    def summary(self) -> pd.DataFrame: ...
    def to_datatree(
        self, draws: int = 1000, chains: int = 4, rng: np.random.Generator | int | None = None
    ) -> xr.DataTree: ...


# --- what only some have --------------------------------------------------------------------------


@runtime_checkable
class Conditioned(Protocol):
    """A posterior that knows how much of the data's precision is left in it."""

    def digits_lost(self, statistic: Any) -> float | None:
        """Return about how many digits are lost, the most of a batch; None if not known."""


@runtime_checkable
class Predictive(Protocol):
    """A belief with a law of new rows."""

    def predictive(self) -> Any:
        """Return the law of a new row."""


@runtime_checkable
class Deletable(Protocol):
    """A belief that has a formula of its own for each row by the others."""

    def leave_rows_out(self, data: Any, statistic: Any) -> Any:
        """Return log densities of rows, their labels, and which of them were lost to rounding."""


@runtime_checkable
class GivenStatistic(Protocol):
    """A model that draws rows like given ones, with the same sufficient statistic."""

    def given_statistic(self, data: Any) -> Any:
        """Return the columns of the data, as `bayesmodels.numerics.misfits` looks at them."""


@runtime_checkable
class Conjugate(Protocol):
    """A prior whose posterior and evidence have closed forms."""

    def statistic(self, data: Any) -> Any: ...
    def update(self, data: Any) -> Any: ...
    def log_evidence(self, data: Any) -> Any: ...


@runtime_checkable
class LatentClasses(Protocol):
    """A mixture: classes of rows may be unknown, and change places from draw to draw."""

    @property
    def terms(self) -> Any:
        """Ways to allot the rows to the classes; None before there are rows."""

    @property
    def exchangeable(self) -> bool:
        """Whether nothing that was seen tells the classes apart."""

    def label_invariants(self, draws: Any, data: Any) -> dict[str, Array]:
        """Return quantities of each draw that do not depend on the order of the classes."""

    def interchangeable(self, data: Any) -> bool:
        """Return whether nothing, neither prior nor rows, tells the classes apart."""


@runtime_checkable
class Product(Protocol):
    """A belief made of independent beliefs."""

    def parts(self) -> list[tuple[Any, Any]]:
        """Return the beliefs that it is made of, with the names of their variables."""


@runtime_checkable
class Separable(Protocol):
    """A posterior that knows which elements of its variables depend on each other."""

    def separate(self, name: str) -> bool:
        """Return whether all elements of a variable are independent."""


@runtime_checkable
class Elliptical(Protocol):
    """A belief about weights that are jointly normal or Student-t, so that their sums are, too."""

    def combination(self, coefficients: Any) -> Law | None:
        """Return the law of a linear combination of the weights; None if it has no closed form."""


@runtime_checkable
class Preposterior(Protocol):
    """A belief that knows what its means may become."""

    def mean_after(self, n: int) -> dict[str, Any]:
        """Return the law of each variable's posterior mean after n more rows."""


@runtime_checkable
class Counted(Protocol):
    """A belief about counts, all of which can be gone through."""

    def predictive(self, n: Any = 1, /) -> Any:
        """Return the law of the number of events in n rows."""

    def counted(self, events: Any, n: int) -> Any:
        """Return the statistic of numbers of events in n rows each."""


@runtime_checkable
class Modal(Protocol):
    """A belief that states where its density is largest."""

    def mode(self) -> dict[str, Array]: ...


@runtime_checkable
class Summarised(Protocol):
    """A belief whose means, variances and intervals are verbs of its own."""

    def mean(self) -> dict[str, Array]: ...
    def var(self) -> dict[str, Array]: ...
    def interval(
        self, ci_prob: float = 0.89, ci_kind: Literal["eti", "hdi"] = "eti"
    ) -> dict[str, tuple[Array, Array]]: ...


@runtime_checkable
class Integrated(Readable, Protocol):
    """A posterior by numerical integration, which says how far off its numbers may be.

    `rung` names the way, and `error_kind` and `errors_from` say what an error is.
    """

    rung: str
    error_kind: str
    errors_from: str

    @property
    def errors(self) -> dict[str, Any]:
        """Errors of ``log_evidence``, and of ``mean`` and ``sd`` by variable."""

    def interval_errors(self, ci_prob: float = 0.89) -> dict[str, tuple[Array, Array]]:
        """Return how far off the ends of intervals may be."""

    def explain(self) -> str:
        """Say what was integrated how, and how far off it may be."""


@runtime_checkable
class Approximate(Protocol):
    """A law in the place of a posterior, which says so."""

    approximate_log_evidence: float


@runtime_checkable
class Replicating(Protocol):
    """A belief that draws new rows."""

    def replicate(self, draws: Draws, data: Any, rng: Any = None) -> Rows: ...


@runtime_checkable
class MarginalLaws(Protocol):
    """What states the law of each variable, rather than draws of it."""

    def marginals(self) -> dict[str, Law]: ...


@runtime_checkable
class Finding(Protocol):
    """What was decided, and says so."""

    def sentences(self) -> list[str]:
        """Say what was found in words, the most important first."""


class Judgement(Finding, Protocol):
    """A finding that agrees, disagrees or stays open, and says why."""

    @property
    def outcome(self) -> Literal["agree", "disagree", "inconclusive"]: ...
    @property
    def findings(self) -> Sequence[str]: ...


@runtime_checkable
class Measured(Protocol):
    """What was decided by numbers that are worth a look beside the decision."""

    def measured(self) -> dict[str, Any]:
        """Return level, largest discrepancy and effective draws as plain values by name."""


@runtime_checkable
class Simulating(Protocol):
    """A model whose new rows have parts that stay as they are, or that are drawn first."""

    def simulated(
        self, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
    ) -> Any:
        """Return new data like a design, drawn at known parameters."""


@runtime_checkable
class Nominal(Protocol):
    """A model of values that have labels."""

    @property
    def value_labels(self) -> tuple[Hashable, ...] | None:
        """Labels of the values 0, 1, and so on; None where these are the values themselves."""


@runtime_checkable
class Classifier(Protocol):
    """A belief that says how probable the classes of new rows are."""

    def class_probabilities(self, rows: Any) -> Any:
        """Return the probability of each class for every row."""


@runtime_checkable
class Linear(Protocol):
    """A model of a target by weights of columns."""

    def design(self, data: Any) -> tuple[Array, Array]:
        """Return the columns of rows, that of ones included, and the target."""


@runtime_checkable
class Regressing(Linear, Protocol):
    """A model of a target that is a number."""

    def plug_in(self, parameters: Draws, features: Any) -> Any:
        """Return the law of rows at known parameters."""


@runtime_checkable
class Approximable(Protocol):
    """A model whose posterior has no closed form and is approximated instead."""

    def laplace(self, data: Any) -> Any:
        """Return the normal law with the mode and the curvature of the posterior."""


@runtime_checkable
class FeatureFamily(Protocol):
    """A belief about features, of each class its own."""

    def log_predictive(self, x: Any) -> Array:
        """Return the log density of each new row under each member of the leading axis."""

    def log_plug_in(self, parameters: Draws, x: Any) -> Array:
        """Return the same with parameters as if known."""


@runtime_checkable
class LatentFamily(FeatureFamily, Protocol):
    """A belief about features of classes that need not be known: rows are a class's by parts."""

    statistic_type: ClassVar[type]
    least_pseudo_count: Any

    def statistic_of_cells(self, x: Any) -> Any:
        """Return the statistic of each single cell of rows (n, inner...)."""

    def weighted_statistic(self, x: Any, weights: Array, coords: Coords) -> Any:
        """Return the statistic of rows (n, inner...) by their weights (batch..., n)."""

    def maximum(self, s: Any, *, prior: bool) -> dict[str, Array]:
        """Return where the likelihood (times the `prior`'s density) is largest."""

    @staticmethod
    def declared_terms(s: Any, variables: Mapping[str, Any]) -> Any:
        """Return the log likelihood of a statistic, elementwise, by PyMC's variables."""
