"""Which family of distributions a column has, by its dtype; and the beliefs about all columns.

=============  ===================  =============================================
Family         Columns              Prior
=============  ===================  =============================================
`bernoulli`    booleans             ``BetaBernoulli(alpha, alpha)``
`categorical`  text, categories     ``DirichletCategorical([alpha, ..., alpha])``
`gaussian`     numbers              ``NormalInverseGamma(mean, kappa, shape, scale)``
`counts`       none unless told     one ``DirichletCategorical`` of all such columns
=============  ===================  =============================================
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import MultinomialCounts, sparse
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.normal import NormalInverseGamma

POSITIVE = ("class_alpha", "alpha", "kappa", "shape", "scale")
"""Parameters of the priors that must be positive, whichever families there are."""

FAMILIES = ("bernoulli", "categorical", "counts", "gaussian")
_OF_BELIEF = {
    BetaBernoulli: "bernoulli",
    DirichletCategorical: "categorical",
    NormalInverseGamma: "gaussian",
}
_OF_OBJECTS = {
    "boolean": "bernoulli",
    "string": "categorical",
    "categorical": "categorical",
    "integer": "gaussian",
    "floating": "gaussian",
    "mixed-integer-float": "gaussian",
    "decimal": "gaussian",
}


@dataclass(frozen=True)
class Priors:
    """Parameters of the priors of each family."""

    alpha: float
    mean: float
    kappa: float
    shape: float
    scale: float

    def bits(self) -> BetaBernoulli:
        """Return the belief about columns of bits."""
        return BetaBernoulli(self.alpha, self.alpha)

    def numbers(self) -> NormalInverseGamma:
        """Return the belief about columns of numbers."""
        return NormalInverseGamma(self.mean, self.kappa, self.shape, self.scale)

    def categories(self, levels: list[Any]) -> DirichletCategorical:
        """Return the belief about one column of categories, or all columns of counts."""
        plain = levels == list(range(len(levels)))
        return DirichletCategorical(np.full(len(levels), self.alpha), None if plain else levels)


def families(X: Any, names: list[Hashable], given: Any) -> tuple[dict[Any, str], dict[Any, Any]]:
    """Return the family of each column, and the beliefs that were given for some.

    Parameters
    ----------
    X : ndarray, csr_array or frame
        The rows.
    names : list
        Of the columns.
    given : None, str or mapping
        A family for all columns; or from a column to its family, or to a belief about it.
    """
    if given is None or isinstance(given, Mapping):
        chosen = dict(given or {})
    else:
        chosen = dict.fromkeys(names, given)
    for name in chosen:
        if name not in names:
            msg = f"feature_families: there is no column {name!r}; the columns are {names}."
            raise DataError(msg)
    found, beliefs = {}, {}
    for at, name in enumerate(names):
        family = chosen.get(name)
        if type(family) in _OF_BELIEF:
            beliefs[name], family = family, _OF_BELIEF[type(family)]
        elif family is None:
            family = _inferred(X, at, name)
        elif family not in FAMILIES:
            msg = (
                f"feature_families: {name!r} must be one of {FAMILIES}, or a BetaBernoulli, "
                f"DirichletCategorical or NormalInverseGamma belief; got {family!r}."
            )
            raise PriorError(msg)
        found[name] = family
    return found, beliefs


def blocks(X: Any, found: Mapping[Any, str], beliefs: Mapping[Any, Any], priors: Priors) -> Any:
    """Return beliefs about features as `NaiveBayes` takes them.

    Columns of one family are one block, but for categories and columns with a belief of their own,
    each of which is a block under its own name. If there is a single block, it has no name.
    """
    free = {name: family for name, family in found.items() if name not in beliefs}
    kinds = set(free.values())
    if not beliefs and len(kinds) == 1 and kinds != {"categorical"}:
        return _together(kinds.pop(), list(free), priors)
    result: dict[Any, Any] = {name: (belief, name) for name, belief in beliefs.items()}
    for family, title in (("bernoulli", "bits"), ("gaussian", "numbers"), ("counts", "words")):
        own = [name for name, each in free.items() if each == family]
        if not own:
            continue
        if title in map(str, found):
            msg = f"X: a column must not be called {title!r} beside others; rename it."
            raise DataError(msg)
        given = MultinomialCounts(own) if family == "counts" else own
        result[title] = (_together(family, own, priors), given)
    names = list(found)
    for name, family in free.items():
        if family == "categorical":
            result[name] = (priors.categories(_levels(X, names.index(name), name)), name)
    return result


def rows(X: Any, found: Mapping[Any, str], beliefs: Mapping[Any, Any]) -> Any:
    """Return rows as the model of `blocks` takes them."""
    if not beliefs and set(found.values()) == {"counts"}:
        return MultinomialCounts(X)
    return X


def _together(family: str, names: list[Any], priors: Priors) -> Any:
    if family == "counts":
        if len(names) < 2:  # noqa: PLR2004 - a bag of one word tells nothing
            msg = (
                f"feature_families: counts are of two columns or more, one a word; got {names}. "
                "Take a single number as 'gaussian' or 'categorical'."
            )
            raise DataError(msg)
        return priors.categories(names)
    return priors.bits() if family == "bernoulli" else priors.numbers()


def _inferred(X: Any, at: int, name: Any) -> str:
    """Return the family that a column's dtype speaks for."""
    import narwhals as nw

    if isinstance(X, np.ndarray) or sparse(X):
        return "bernoulli" if X.dtype.kind == "b" else "gaussian"
    column = wrapped(X, "X")[:, at]
    if column.dtype == nw.Boolean:
        return "bernoulli"
    if column.dtype.is_numeric():
        return "gaussian"
    if column.dtype in (nw.String, nw.Categorical, nw.Enum):
        return "categorical"
    kind = pd.api.types.infer_dtype(column.to_list(), skipna=True)
    if kind in _OF_OBJECTS:
        return _OF_OBJECTS[kind]
    msg = (
        f"X: argument must be a string or a number in every cell of a column; column {name!r} has "
        f"dtype {column.dtype} and holds values of the kind {kind!r}. Convert it."
    )
    raise TypeError(msg)


def _levels(X: Any, at: int, name: Any) -> list[Any]:
    """Return the categories of a column: those that its dtype lists, or those that there are."""
    import narwhals as nw

    native = (
        pd.Series(X[:, at]) if isinstance(X, np.ndarray) else wrapped(X, "X")[:, at].to_native()
    )
    listed: Any = getattr(native.dtype, "categories", None)
    if hasattr(listed, "__iter__"):
        found = list(listed)
    else:
        column = nw.from_native(native, series_only=True)
        found = sorted(column.filter(~column.is_null()).unique().to_list())
    if len(found) < 2:  # noqa: PLR2004 - one category tells nothing
        msg = (
            f"X: column {name!r} must have two categories or more; got {found}. Leave it out, give "
            "it a dtype that lists them all, or give a belief in feature_families."
        )
        raise DataError(msg)
    return found
