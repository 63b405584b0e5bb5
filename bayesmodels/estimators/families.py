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

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from bayesmodels.errors import DataError, PriorError
from bayesmodels.estimators import inputs
from bayesmodels.input.containers import wrapped
from bayesmodels.input.data import sparse
from bayesmodels.input.wrappers import MultinomialCounts
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.normal import NormalInverseGamma

_POSITIVE = ("class_alpha", "alpha", "kappa", "shape", "scale")
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


class FamiliesMixin:
    """What estimators with a family for each column share; they integrate missing cells out."""

    def _read(self: Any, X: Any, *, reset: bool) -> Any:
        return inputs.table(self, X, reset=reset, counts=self.feature_families == "counts")

    def _features(self: Any, X: Any) -> Any:
        """Find the family of each column; return the beliefs about features."""
        inputs.parameters(self, positive=_POSITIVE, free=("mean",))
        self.feature_families_, self._beliefs = families(
            X, inputs.columns(self), self.feature_families
        )
        return blocks(X, self.feature_families_, self._beliefs, self)

    def _rows(self: Any, X: Any) -> Any:
        if not self._beliefs and set(self.feature_families_.values()) == {"counts"}:
            return MultinomialCounts(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = self.feature_families == "counts"  # type: ignore[attr-defined]
        return tags


def families(X: Any, names: list[Hashable], asked: Any) -> tuple[dict[Any, str], dict[Any, Any]]:
    """Return the family of each column, and the user's beliefs about some columns."""
    if asked is None or isinstance(asked, Mapping):
        chosen = dict(asked or {})
    else:
        chosen = dict.fromkeys(names, asked)
    for name in chosen:
        if name not in names:
            raise DataError(
                f"feature_families: there is no column {name!r}; the columns are {names}."
            )
    result, beliefs = {}, {}
    for at, name in enumerate(names):
        family = chosen.get(name)
        if type(family) in _OF_BELIEF:
            beliefs[name], family = family, _OF_BELIEF[type(family)]
        elif family is None:
            family = _inferred(X, at, name)
        elif family not in FAMILIES:
            raise PriorError(
                f"feature_families: {name!r} must be one of {FAMILIES}, or a BetaBernoulli, "
                f"DirichletCategorical or NormalInverseGamma belief; got {family!r}."
            )
        result[name] = family
    return result, beliefs


def blocks(X: Any, family_of: Mapping[Any, str], beliefs: Mapping[Any, Any], priors: Any) -> Any:
    """Return beliefs about features as `NaiveBayes` takes them.

    Columns of one family are one block, but for categories and columns with a belief of their own,
    each of which is a block under its own name. If there is a single block, it has no name.
    """
    free = {name: family for name, family in family_of.items() if name not in beliefs}
    kinds = set(free.values())
    if not beliefs and len(kinds) == 1 and kinds != {"categorical"}:
        return _block(kinds.pop(), list(free), priors)
    result: dict[Any, Any] = {name: (belief, name) for name, belief in beliefs.items()}
    for family, title in (("bernoulli", "bits"), ("gaussian", "numbers"), ("counts", "words")):
        columns = [name for name, each in free.items() if each == family]
        if not columns:
            continue
        if title in map(str, family_of):
            raise DataError(f"X: a column must not be called {title!r} beside others; rename it.")
        features = MultinomialCounts(columns) if family == "counts" else columns
        result[title] = (_block(family, columns, priors), features)
    names = list(family_of)
    for name, family in free.items():
        if family == "categorical":
            levels = _levels(X, names.index(name), name)
            result[name] = (_categories(levels, priors.alpha), name)
    return result


def _block(family: str, names: list[Any], priors: Any) -> Any:
    if family == "counts":
        if len(names) < 2:  # noqa: PLR2004 - a bag of one word tells nothing
            raise DataError(
                f"feature_families: counts are of two columns or more, one a word; got {names}. "
                "Take a single number as 'gaussian' or 'categorical'."
            )
        return _categories(names, priors.alpha)
    if family == "bernoulli":
        return BetaBernoulli(priors.alpha, priors.alpha)
    return NormalInverseGamma(priors.mean, priors.kappa, priors.shape, priors.scale)


def _categories(levels: list[Any], alpha: float) -> DirichletCategorical:
    """Return the belief about one column of categories, or all columns of counts."""
    plain = levels == list(range(len(levels)))
    return DirichletCategorical(np.full(len(levels), alpha), None if plain else levels)


def _inferred(X: Any, at: int, name: Any) -> str:
    """Return the default family of a column's dtype."""
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
    # scikit-learn's checks want its own error of a table with a dictionary in it.
    raise (TypeError if kind == "mixed" else DataError)(
        f"X: argument must be a string or a number in every cell of a column; column {name!r} has "
        f"dtype {column.dtype} and holds values of the kind {kind!r}. Convert it."
    )


def _levels(X: Any, at: int, name: Any) -> list[Any]:
    """Return the categories of a column: those of its dtype, or its distinct values."""
    raw = pd.Series(X[:, at]) if isinstance(X, np.ndarray) else wrapped(X, "X")[:, at]
    column = nw.from_native(raw, series_only=True)
    listed: Any = getattr(column.to_native().dtype, "categories", None)
    if isinstance(listed, Iterable):
        result = list(listed)
    else:
        result = sorted(column.filter(~column.is_null()).unique().to_list())
    if len(result) < 2:  # noqa: PLR2004 - one category tells nothing
        raise DataError(
            f"X: column {name!r} must have two categories or more; got {result}. Leave it out, "
            "give it a dtype that lists them all, or give a belief in feature_families."
        )
    return result
