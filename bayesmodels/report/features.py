"""The features of a classifier one by one: their predictive laws in each class, and their rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from bayesmodels.belief.protocol import Classifier
from bayesmodels.errors import DataError
from bayesmodels.input.wrappers import Weighted
from bayesmodels.models.classifiers.features import Classified
from bayesmodels.numerics import Array


class Feature(NamedTuple):
    """One feature, and what is predicted of it in each class.

    A label, with the block's where two blocks have the same for one; its block and its place there
    (None if it is all of it); of a number its law in each class; of anything else its levels and
    their probabilities, of shape (class, level).
    """

    label: str
    block: str
    at: int | None
    law: Any = None
    levels: tuple[str, ...] = ()
    mass: Array | None = None


def features_of(belief: Any) -> list[Feature]:
    """Return all features of a belief about classes and features, in the order of its blocks.

    A block of counts is one feature, whose levels are the categories.
    """
    made_of: Any = belief
    if not isinstance(belief, Classifier):
        raise DataError(
            "belief: must be about classes and features, such as NaiveBayes; got "
            f"{type(belief).__name__}."
        )
    result = []
    for (name, block), (part, _) in zip(made_of.blocks.items(), made_of.parts()[1:], strict=True):
        if "class" not in part.coords:
            raise DataError(
                "belief: has met no data, and so has no classes in its features. Update it first."
            )
        alone = block.columns if isinstance(block.columns, (str, int)) else name
        columns = part.coords.get("feature")
        places: Any = [(alone or "x", None)] if columns is None else zip(columns, count())
        for label, at in places:
            law, levels, mass = _predicted(part, (slice(None), ... if at is None else at))
            result.append(Feature(str(label), name, at, law, levels, mass))
    labels = [feature.label for feature in result]
    return [
        f._replace(label=f"{f.block}[{f.label}]") if labels.count(f.label) > 1 else f
        for f in result
    ]


def _predicted(part: Any, place: tuple[Any, ...]) -> tuple[Any, tuple[str, ...], Array | None]:
    """Return what is predicted at a place of a block: a law, or levels and their probabilities."""
    if "mu" in part.dims:
        return _student(part, place), (), None
    theta = np.asarray(part.mean()["theta"])[place]
    if "category" not in part.coords:
        return None, ("0", "1"), np.stack([1 - theta, theta], -1)
    return None, tuple(map(str, part.coords["category"])), theta


def _student(part: Any, place: tuple[Any, ...]) -> Any:
    """Return the predictive laws of one number, of all classes at once.

    A new number is off mu by one more standard deviation, and mu's own law is off by one in
    kappa: the two laws differ by the factor sqrt(kappa + 1) in their scale.
    """
    law = part.marginals()["mu"]
    parameters = dict(zip(("df", "loc", "scale"), law.args, strict=False)) | law.kwds
    loc = np.asarray(parameters["loc"])
    df, kappa = (  # of each class, or of each feature in it
        x.reshape(x.shape + (1,) * (loc.ndim - x.ndim)) if x.ndim else x
        for x in map(np.asarray, (parameters["df"], part.kappa))
    )
    all_of_it = (df, loc, np.asarray(parameters["scale"]) * np.sqrt(kappa + 1))
    return stats.t(*(np.broadcast_to(x, loc.shape)[place] for x in all_of_it))


def chosen(every: Sequence[Feature], wanted: Sequence[Hashable] | None) -> list[Feature]:
    """Return the features with these labels, or all."""
    if wanted is None:
        return list(every)
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise DataError(f"features: must be a list of names; got {wanted!r}.")
    by_label = {feature.label: feature for feature in every}
    for label in wanted:
        if str(label) not in by_label:
            raise DataError(
                f"features: there is no {label!r}; the features are {list(by_label)[:20]}."
            )
    return [by_label[str(label)] for label in wanted]


# --- rows -----------------------------------------------------------------------------------------


def rows_with(belief: Any, values: Mapping[str, Array]) -> dict[str, Any]:
    """Return rows by block in which all is missing but some numbers, given by their labels."""
    length = len(next(iter(values.values())))
    by_label = {feature.label: feature for feature in features_of(belief)}
    rows: dict[str, Any] = {}
    for name, (part, _) in zip(belief.blocks, belief.parts()[1:], strict=True):
        inner = (len(part.coords["feature"]),) if "feature" in part.coords else ()
        gap = np.nan if "category" not in part.coords else None
        rows[name] = np.full((length, *inner), gap, dtype=float if gap is not None else object)
    for label, x in values.items():
        feature = by_label[label]
        rows[feature.block][(...,) if feature.at is None else (..., feature.at)] = x
    return rows


class Rows:
    """Rows of a classifier's data, feature by feature."""

    def __init__(self, belief: Any, data: Any) -> None:
        self._given = Classified(belief.classes, belief.blocks, data)
        target = self._given.target
        self.classes = belief.classes.coords["category"]
        self.codes = np.asarray(belief.classes.read(target))
        weighted = isinstance(target, Weighted)
        self.weights = np.asarray(target.weights if weighted else np.ones(len(self.codes)))
        self._cells: dict[str, Any] = {}

    def values(self, feature: Feature) -> Any:
        """Return the values of a feature: NaN, or -1 for a category, where missing."""
        if feature.block not in self._cells:
            self._cells[feature.block] = self._given.cells(feature.block)
        cells = self._cells[feature.block]
        return cells if feature.at is None else cells[:, feature.at]

    def of_class(self, feature: Feature, c: int) -> tuple[Array, Array]:
        """Return the numbers of a feature in a class, and their weights."""
        x, members = self.values(feature), self.codes == c
        members &= np.isfinite(x)
        return np.asarray(x[members], dtype=float), self.weights[members]

    def shares(self, feature: Feature, c: int) -> Array:
        """Return the shares of a feature's levels in the rows of a class; NaN without rows."""
        x, members = self.values(feature), self.codes == c
        if x.ndim > 1:  # counts, which may be sparse
            total = np.asarray(x[members].T @ self.weights[members]).ravel()
        else:
            members &= np.isfinite(x) & (x >= 0)
            codes = np.asarray(x[members], dtype=np.intp)
            total = np.bincount(codes, self.weights[members], len(feature.levels))
        with np.errstate(invalid="ignore"):
            return np.asarray(total / total.sum())
