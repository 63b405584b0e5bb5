"""Values made of what a file holds, through their constructors, so that no file makes others.

A constructor that computes its fields gets what it would compute them from, or else the fields are
put in place after it has judged all that goes with them.
"""

from __future__ import annotations

import copy
import sys
from typing import Any, get_args

import numpy as np

from bayesmodels.belief import values
from bayesmodels.input.labels import unique
from bayesmodels.input.wrappers import MultinomialCounts
from bayesmodels.models.bernoulli import BernoulliStatistic
from bayesmodels.models.categorical import CategoricalStatistic
from bayesmodels.models.classifiers import generative
from bayesmodels.models.classifiers.features import Block, of_classes
from bayesmodels.models.normal import NormalStatistic
from bayesmodels.models.shared_covariance import SharedNormalInverseWishart
from bayesmodels.store.untrusted import refuse, shown

_ROUNDING = 1e-8  # of eigenvalues, as a part of the largest
_TWO = 2


def _with(value: Any, **fields: Any) -> Any:
    """Return the value with other fields."""
    changed = copy.copy(value)
    values.fill(changed, **fields)
    return changed


def _check_triangle(factor: Any, shape: tuple[int, ...]) -> None:
    if factor.shape != shape:
        refuse(f"its factor must have shape {shape}; got {factor.shape}")
    if np.tril(factor, -1).any() or (np.diagonal(factor, axis1=-2, axis2=-1) < 0).any():
        refuse("its factor must be upper triangular, its diagonal not negative")


def _check_features(features: Any, width: int) -> None:
    if features is not None and len(unique(features, "features")) != width:
        refuse(f"its features must be {width} names; got {len(features)}")


# --- statistics -----------------------------------------------------------------------------------


def regression_statistic(
    kind: Any, n: Any, mean: Any, factor: Any, features: Any, coords: Any
) -> Any:
    """Check the factor, which the constructor takes as it is."""
    if not mean.shape or not mean.shape[-1]:
        refuse("its mean must have a place for y")
    _check_triangle(factor, (*mean.shape, mean.shape[-1]))
    _check_features(features, mean.shape[-1] - 1)
    return kind(n, mean, factor, features, coords)


def vector_statistic(kind: Any, **fields: Any) -> Any:
    """Check the scatter, which the constructor takes as it is."""
    made = kind(**fields)
    scatter = made.scatter
    size = np.abs(scatter).max(initial=0)
    _check_features(made.features, scatter.shape[-1])
    if np.abs(scatter - np.swapaxes(scatter, -1, -2)).max(initial=0) > _ROUNDING * size:
        refuse("its scatter must be symmetric")
    if np.linalg.eigvalsh(scatter).min(initial=0) < -_ROUNDING * size * scatter.shape[-1]:
        refuse("its scatter must have no negative eigenvalue")
    return made


def hypothesis_statistic(kind: Any, log_likelihood: Any, coords: Any) -> Any:
    """Give the constructor names in place of axes."""
    if list(coords) != ["hypothesis"]:
        refuse("its coords must have the axis hypothesis")
    return kind(log_likelihood, coords["hypothesis"])


def class_statistic(kind: Any, classes: Any, features: Any) -> Any:
    """Check that every block has the classes, as its first axis."""
    for name, part in features.items():
        first = next(iter(part.coords.items()), None)
        if classes.counts.ndim != 1 or first is None or len(first[1]) != len(classes.counts):
            refuse(f"its part {shown(name)} must have the classes as its first axis")
    return kind(classes, features)


# --- beliefs --------------------------------------------------------------------------------------


def located(kind: Any, location: Any, **fields: Any) -> Any:
    """Give the constructor the mean under its own name."""
    return kind(mean=location, **fields)


def linear_regression(kind: Any, factor: Any, shape: Any, features: Any, coords: Any) -> Any:
    """Put the factor in place of that of a flat prior."""
    if factor.ndim < _TWO:
        refuse(f"its factor must be a matrix; got shape {factor.shape}")
    _check_triangle(factor, (*shape.shape, factor.shape[-1], factor.shape[-1]))
    blank = kind(np.zeros(factor.shape[-1] - 1), 0, shape, 0, features, coords)
    return _with(blank, factor=factor)


def logistic_regression(kind: Any, location: Any, cov: Any, classes: Any, features: Any) -> Any:
    """Check that each weight has its row of a covariance: the constructor also takes a number."""
    if not location.shape or cov.shape != (*location.shape, location.shape[-1]):
        refuse(f"its cov must have a row for each weight; got {cov.shape} and {location.shape}")
    return kind(location, cov, classes, features)


def laplace(kind: Any, **fields: Any) -> Any:
    """Check what `LogisticRegression.laplace` makes sure of."""
    location, classes, features = (fields[name] for name in ("location", "classes", "features"))
    others = len(unique(classes, "classes")) - 1
    width = location.shape[-1] if location.ndim else 0
    if others < 1 or location.shape != ((width,) if others == 1 else (others, width)) or not width:
        refuse(f"its location must have a weight for each column; got shape {location.shape}")
    _check_features(features, width)
    _check_triangle(fields["factor"], (location.size,) * 2)
    if not np.diagonal(fields["factor"]).all():
        refuse("its factor must have no zero on its diagonal")
    axes = {"feature": features or tuple(range(width))}
    if fields["coords"] != (axes if others == 1 else {"class": classes[1:], **axes}):
        refuse("its coords must be its classes and features")
    made = kind(**fields)
    values.fill(made, **fields)  # whose arrays are read-only
    return made


def concept(
    kind: Any, hypotheses: Any, items: Any, outcomes: Any, log_table: Any, log_weights: Any
) -> Any:
    """Put items and weights in place of those of a table."""
    made = kind.from_table(log_table, hypotheses=hypotheses, outcomes=outcomes, logs=True)
    number = len(unique(items, "items"))
    if len(outcomes) not in (number, 2 * number) or outcomes[:number] != items:
        refuse("its outcomes must be its items, and for each maybe that it is not one")
    if log_weights.shape != (len(hypotheses),) or not np.isfinite(log_weights).any():
        refuse("its log_weights must be one number a hypothesis, not -inf for all of them")
    return _with(made, items=items, log_weights=log_weights)


def _features(blocks: dict[str, Block]) -> dict[str, Any]:
    """Return blocks as a user writes them."""
    return {
        name: (each.belief, MultinomialCounts(each.columns) if each.counted else each.columns)
        for name, each in blocks.items()
    }


def naive_bayes(kind: Any, classes: Any, blocks: Any) -> Any:
    """Give the constructor blocks as a user writes them."""
    return kind(classes, _features(blocks))


def discriminant(kind: Any, classes: Any, gaussian: Any, covariance: Any) -> Any:
    """Take over a covariance that is shared already, which the constructor makes itself."""
    if not isinstance(gaussian, SharedNormalInverseWishart):
        made = kind(classes, gaussian, covariance)
        if covariance not in ("full", "diagonal"):
            refuse(f"its gaussian must have one covariance, for covariance={covariance!r}")
        of_classes(made.blocks[""], "", classes)
        return made
    generative.check_classes(classes)
    if covariance not in ("shared", "proportional") or (
        covariance == "shared" and (gaussian.ratio != 1).any()
    ):
        refuse(f"its covariance {shown(covariance)} does not fit its gaussian")
    if "class" not in gaussian.coords:
        refuse("its gaussian must have the axis class")
    made = object.__new__(kind)
    values.fill(
        made,
        classes=classes,
        blocks={"": of_classes(Block(gaussian), "", classes)},
        covariance=covariance,
    )
    return made


_STATISTICS = {
    "BetaBernoulli": (BernoulliStatistic, "ones", "alpha"),
    "DirichletCategorical": (CategoricalStatistic, "counts", "alpha"),
    "NormalInverseGamma": (NormalStatistic, "n", "kappa"),
}


def mixture(kind: Any, classes: Any, blocks: Any, terms: Any, budget: Any) -> Any:
    """Check that the terms are those of these classes and blocks."""
    made = kind(classes, _features(blocks), budget=budget)
    if terms is None:
        return made
    number = len(terms.counts)
    if terms.counts.shape != (number, len(classes.alpha)) or not number:
        refuse("its terms must have a count for each class")
    if terms.log_multiplicity.shape != (number,) or (terms.counts < 0).any():
        refuse("its terms must have counts that are not negative, and one log_multiplicity each")
    if list(terms.parts) != list(blocks):
        refuse("its terms must have a statistic of each block")
    for name, part in terms.parts.items():
        belief = blocks[name].belief
        family, count, parameter = _STATISTICS[type(belief).__name__]
        wanted = (number, *getattr(belief, parameter).shape)
        if type(part) is not family or getattr(part, count).shape != wanted:
            refuse(f"the statistics of its terms must fit its block {shown(name)}")
        if next(iter(getattr(part, "coords", {})), None) != "term":
            refuse("the statistics of its terms must have the axis term first")
    return made.with_terms(terms)


# --- verdicts -------------------------------------------------------------------------------------


def test(kind: Any, /, **fields: Any) -> Any:
    """Check one test of a verdict."""
    kinds = get_args(sys.modules[kind.__module__].Kind)
    chain = fields["chain"]
    if fields["kind"] not in kinds:
        refuse(f"the kind of a test must be one of {kinds}; got {shown(fields['kind'])}")
    if not 0 <= fields["p"] <= 1 or fields["ess"] < 0:
        refuse("a test must have p between 0 and 1, and ess not negative")
    if chain is not None and (type(chain) is not int or chain < 0):
        refuse(f"the chain of a test must be a whole number; got {shown(chain)}")
    return kind(**fields)


def verdict(kind: Any, **fields: Any) -> Any:
    """Check a verdict."""
    if fields["outcome"] not in ("agree", "disagree", "inconclusive"):
        refuse(f"its outcome must be agree, disagree or inconclusive; got {fields['outcome']!r}")
    if not fields["tests"] or bool(fields["findings"]) == (fields["outcome"] == "agree"):
        refuse("it must have tests, and findings unless it agrees")
    more = fields["more"]
    positive = 0 < fields["level"] < 1 and fields["tolerance"] > 0
    if not positive or fields["bound"] < 0 or (more is not None and more <= 0):
        refuse("its level must be between 0 and 1, tolerance and more positive, bound not negative")
    return kind(**fields)
