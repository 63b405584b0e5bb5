"""What stands in a file for a value of each kind: the names of its fields, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bayesmodels.belief import values
from bayesmodels.errors import DataError
from bayesmodels.store import making
from bayesmodels.store.entries import (
    COORDS,
    COUNT,
    FLAG,
    LABEL,
    NAMES,
    TABLE,
    TEXT,
    Arrays,
    Entry,
    array,
    many,
    number,
    optional,
)
from bayesmodels.store.untrusted import refuse, shown


@dataclass(frozen=True)
class Form:
    """How a kind stands in a file.

    Attributes
    ----------
    home : str
        Module that defines the kind.
    fields : mapping
        From the name of a field to its entry.
    make : callable, optional
        Makes a value, given the kind and the fields by name; by default the constructor does.
    """

    home: str
    fields: Mapping[str, Entry]
    make: Callable[..., Any] | None = None

    def read(self, kind: str, given: Any, arrays: Arrays) -> dict[str, Any]:
        """Return fields by name; old files also hold what rounding took from a mean."""
        own, rest = dict(given) if isinstance(given, dict) else {}, None
        mean = "mean" if "scatter" in self.fields else "location"
        if "rest" in own and self.fields.keys() & {"scatter", "kappa"}:
            rest = FINITE.read(own.pop("rest"), arrays, "rest")
        if own.keys() != self.fields.keys():
            refuse(f"a {kind} must have the fields {sorted(self.fields)}")
        found = {name: entry.read(own[name], arrays, name) for name, entry in self.fields.items()}
        if rest is not None:
            if rest.shape != found[mean].shape:
                refuse(f"its rest must have the shape of its {mean}")
            found[mean] = found[mean] + rest
        return found


def part(*kinds: str) -> Entry:
    """Return the entry of a value of one of these kinds."""

    def write(value: Any, arrays: Arrays | None) -> dict[str, Any]:
        return written(value, arrays, kinds)

    return Entry(write, lambda value, arrays, name: built(value, arrays, kinds, name))


def parts(*kinds: str) -> Entry:
    """Return the entry of named values of these kinds."""
    one = part(*kinds)

    def write(value: Any, arrays: Arrays | None) -> Any:
        return {"parts": [[name, one.write(each, arrays)] for name, each in value.items()]}

    def read(value: Any, arrays: Arrays, name: str) -> dict[str, Any]:
        listed = value.get("parts") if isinstance(value, dict) and len(value) == 1 else None
        if not isinstance(listed, list) or any(
            not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str)  # noqa: PLR2004
            for each in listed
        ):
            refuse(f"its {name} must be pairs of a name and a part")
        found = {own: one.read(each, arrays, own) for own, each in listed}
        if len(found) < len(listed):
            refuse(f"its {name} name a part twice")
        return found

    return Entry(write, read)


FINITE, LOGS = array(), array("-inf")
_FAMILIES = (
    "BetaBernoulli",
    "DirichletCategorical",
    "NormalInverseGamma",
    "NormalInverseWishart",
)
_OF_FAMILIES = (
    "BernoulliStatistic",
    "CategoricalStatistic",
    "MultivariateNormalStatistic",
    "NormalStatistic",
    "SharedNormalStatistic",
)
_VECTORS = {
    "n": FINITE,
    "mean": FINITE,
    "scatter": FINITE,
    "features": optional(NAMES),
    "coords": COORDS,
}

STATISTICS = {
    "BernoulliStatistic": Form(
        "models.bernoulli",
        {"ones": FINITE, "zeros": FINITE, "log_given_total": FINITE, "coords": COORDS},
    ),
    "CategoricalStatistic": Form(
        "models.categorical",
        {"counts": FINITE, "log_given_total": FINITE, "coords": COORDS},
    ),
    "ClassStatistic": Form(
        "models.classifiers.generative",
        {"classes": part("CategoricalStatistic"), "features": parts(*_OF_FAMILIES)},
        making.class_statistic,
    ),
    "HypothesisStatistic": Form(
        "models.hypotheses", {"log_likelihood": LOGS, "coords": COORDS}, making.hypothesis_statistic
    ),
    "MultivariateNormalStatistic": Form(
        "models.multivariate_normal", _VECTORS, making.vector_statistic
    ),
    "NormalStatistic": Form(
        "models.normal",
        {"n": FINITE, "mean": FINITE, "scatter": FINITE, "coords": COORDS},
    ),
    "RegressionStatistic": Form(
        "models.linear_regression",
        {
            "n": COUNT,
            "mean": FINITE,
            "factor": FINITE,
            "features": optional(NAMES),
            "coords": COORDS,
        },
        making.regression_statistic,
    ),
    "SharedNormalStatistic": Form(
        "models.shared_covariance", {**_VECTORS, "ratio": FINITE}, making.vector_statistic
    ),
}

BELIEFS = {
    "BetaBernoulli": Form("models.bernoulli", {"alpha": FINITE, "beta": FINITE, "coords": COORDS}),
    "ConceptLearning": Form(
        "models.hypotheses",
        {
            "hypotheses": NAMES,
            "items": NAMES,
            "outcomes": NAMES,
            "log_table": LOGS,
            "log_weights": LOGS,
        },
        making.concept,
    ),
    "DirichletCategorical": Form(
        "models.categorical",
        {"alpha": FINITE, "categories": optional(NAMES), "other": LABEL, "coords": COORDS},
    ),
    "GaussianDiscriminant": Form(
        "models.classifiers.gaussian_discriminant",
        {
            "classes": part("DirichletCategorical"),
            "gaussian": part(
                "NormalInverseGamma", "NormalInverseWishart", "SharedNormalInverseWishart"
            ),
            "covariance": TEXT,
        },
        making.discriminant,
    ),
    "LaplaceApproximation": Form(
        "models.logistic.laplace",
        {
            "location": FINITE,
            "factor": FINITE,
            "approximate_log_evidence": number(),
            "classes": NAMES,
            "features": optional(NAMES),
            "coords": COORDS,
        },
        making.laplace,
    ),
    "LinearRegression": Form(
        "models.linear_regression",
        {"factor": FINITE, "shape": FINITE, "features": optional(NAMES), "coords": COORDS},
        making.linear_regression,
    ),
    "LogisticRegression": Form(
        "models.logistic.regression",
        {"location": FINITE, "cov": FINITE, "classes": NAMES, "features": optional(NAMES)},
        making.logistic_regression,
    ),
    "NaiveBayes": Form(
        "models.classifiers.naive_bayes",
        {"classes": part("DirichletCategorical"), "blocks": parts("Block")},
        making.naive_bayes,
    ),
    "NaiveBayesMixture": Form(
        "models.mixture.naive_bayes_mixture",
        {
            "classes": part("DirichletCategorical"),
            "blocks": parts("Block"),
            "terms": optional(part("Terms")),
            "budget": COUNT,
        },
        making.mixture,
    ),
    "NormalInverseGamma": Form(
        "models.normal",
        {
            "location": FINITE,
            "kappa": FINITE,
            "shape": FINITE,
            "scale": FINITE,
            "coords": COORDS,
        },
        making.located,
    ),
    "NormalInverseWishart": Form(
        "models.multivariate_normal",
        {
            "location": FINITE,
            "kappa": FINITE,
            "df": FINITE,
            "scale": FINITE,
            "features": optional(NAMES),
            "coords": COORDS,
        },
        making.located,
    ),
    "SharedNormalInverseWishart": Form(
        "models.shared_covariance",
        {
            "location": FINITE,
            "kappa": FINITE,
            "df": FINITE,
            "scale": FINITE,
            "ratio": FINITE,
            "features": optional(NAMES),
            "coords": COORDS,
        },
        making.located,
    ),
}

VERDICTS = {
    "Verdict": Form(
        "referee.verdict",
        {
            "outcome": TEXT,
            "findings": many(TEXT),
            "level": number(),
            "tests": many(part("Test")),
            "table": TABLE,
            "predictions": optional(TABLE),
            "exact": FLAG,
            "tolerance": number(),
            "bound": number(),
            "more": optional(number("inf")),
        },
        making.verdict,
    )
}

SORTS = {"belief": BELIEFS, "statistic": STATISTICS, "verdict": VERDICTS}
"""What a file holds one of; the other forms are parts of these."""

FORMS: dict[str, Form] = {
    **STATISTICS,
    **BELIEFS,
    **VERDICTS,
    "Block": Form(
        "models.classifiers.features",
        {"belief": part(*_FAMILIES), "columns": LABEL, "counted": FLAG},
    ),
    "Terms": Form(
        "models.mixture.terms",
        {"counts": FINITE, "parts": parts(*_OF_FAMILIES), "log_multiplicity": FINITE},
    ),
    "Test": Form(
        "referee.pit",
        {
            "label": TEXT,
            "kind": TEXT,
            "z": number("inf", "-inf"),
            "ess": number("inf"),
            "p": number(),
            "effect": number("nan", "inf", "-inf"),
            "chain": LABEL,
        },
        making.test,
    ),
}


def sort_of(value: Any) -> str:
    """Return what a value is: a belief, a statistic or a verdict.

    Raises
    ------
    DataError
        If it is of no kind that has a form as a file.
    """
    for sort, kinds in SORTS.items():
        if _is(value, kinds):
            return sort
    every = ", ".join(sorted(kind for kinds in SORTS.values() for kind in kinds))
    msg = f"value: must be one of {every}; got {type(value).__name__}, which has no form as a file."
    raise DataError(msg)


def _is(value: Any, kinds: Any) -> bool:
    """Return whether a value is of one of these kinds, and not only of one with its name."""
    name = type(value).__name__
    return name in kinds and type(value).__module__ == f"bayesmodels.{FORMS[name].home}"


def written(value: Any, arrays: Arrays | None, kinds: Any = FORMS) -> dict[str, Any]:
    """Return a value as entries of a file."""
    kind = type(value).__name__
    if not _is(value, kinds):
        msg = f"value: a part of it must be one of {', '.join(kinds)}; got {kind}."
        raise DataError(msg)
    own = {}
    for name, entry in FORMS[kind].fields.items():
        field = getattr(value, name)
        if callable(field):
            msg = (
                f"{name}: a function has no form as a file; name the columns, or update the belief "
                "with rows, which then are known."
            )
            raise DataError(msg)
        own[name] = entry.write(field, arrays)
    return {"kind": kind, "fields": own}


def built(value: Any, arrays: Arrays, kinds: Any = FORMS, name: str = "value") -> Any:
    """Return the value of such entries, made by its constructor.

    Raises
    ------
    BadFileError, DataError, PriorError
        If there is no such value.
    """
    if not isinstance(value, dict) or value.keys() != {"kind", "fields"}:
        refuse(f"its {name} must have the entries kind and fields")
    kind, given = value["kind"], value["fields"]
    if not isinstance(kind, str) or kind not in kinds:
        refuse(f"its kind must be one of {', '.join(sorted(kinds))}; got {shown(kind)}")
    form = FORMS[kind]
    own = form.read(kind, given, arrays)
    home = getattr(import_module(f"bayesmodels.{form.home}"), kind)
    try:
        made = home(**own) if form.make is None else form.make(home, **own)
    except (TypeError, AttributeError, LookupError, ArithmeticError, MemoryError) as error:
        refuse(f"holds what no {kind} can be ({error})")
    for field, read in own.items():
        if not values.same(getattr(made, field), read):
            refuse(f"its {field} is not what a {kind} of such fields has")
    return made
