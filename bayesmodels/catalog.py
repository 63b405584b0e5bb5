"""The models by name: how each is set up from a frame, and the data sets that show it.

Columns of numbers get a prior that weighs as much as one row or two: centred on the column's mean,
with its variance as expected variance, the unit-information prior of Kass and Wasserman (1995). It
makes answers independent of the units; `kappa`, `shape` and `df` change its weight. Weights of a
logistic regression are those of standardised columns, with standard deviation `scale` (2.5 if not
given).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmodels import datasets
from bayesmodels.data import BinomialCounts, Design, Grouped
from bayesmodels.errors import DataError, PriorError
from bayesmodels.models.beta_bernoulli import BetaBernoulli
from bayesmodels.models.concept import ConceptLearning
from bayesmodels.models.dirichlet_categorical import DirichletCategorical
from bayesmodels.models.discriminant import Covariance, GaussianDiscriminant
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.models.logistic_regression import LogisticRegression
from bayesmodels.models.mixture import NaiveBayesMixture
from bayesmodels.models.naive_bayes import NaiveBayes
from bayesmodels.models.normal_inverse_gamma import NormalInverseGamma
from bayesmodels.models.normal_inverse_wishart import NormalInverseWishart
from bayesmodels.protocol import Belief

Prior = Mapping[str, float]


@dataclass(frozen=True)
class Columns:
    """Which columns of a frame play which part.

    Attributes
    ----------
    target : str, optional
        What is modelled; by default the frame's last column (or only one).
    features : sequence of str, optional
        Columns that explain the target; by default all others.
    by : str, optional
        Column with the group of each row: one independent problem a group.
    trials : str, optional
        Column with numbers of trials, if the target holds numbers of successes.
    """

    target: str | None = None
    features: Sequence[str] | None = None
    by: str | None = None
    trials: str | None = None


@dataclass(frozen=True)
class Entry:
    """A model that can be asked for by name.

    Attributes
    ----------
    name, title : str
        For the command line, and for people.
    purpose : str
        What it answers, in a few words.
    prior : tuple of str
        Names of the prior's parameters.
    datasets, columns, example_prior
        The shipped data sets, their columns and prior; the first is used when no file is given.
    build : callable
        From frame, columns and prior to the prior belief and its data.
    """

    name: str
    title: str
    purpose: str
    prior: tuple[str, ...]
    datasets: tuple[str, ...]
    columns: Columns
    example_prior: Prior
    build: Callable[[Any, Columns, Prior], tuple[Belief, Any]]


def entry(name: str) -> Entry:
    """Return a model's entry.

    Raises
    ------
    DataError
        If there is no such model; the message lists those there are.

    Examples
    --------
    >>> entry("beta-bernoulli").datasets
    ('coin',)
    """
    for candidate in ENTRIES:
        if candidate.name == name:
            return candidate
    msg = f"model: must be one of {[e.name for e in ENTRIES]}; got {name!r}."
    raise DataError(msg)


def example(
    name: str, prior: Prior | None = None, dataset: str | None = None
) -> tuple[Belief, Any, str]:
    """Return prior, data and source of a data set shipped to show a model, by default its first.

    Examples
    --------
    >>> belief, data, _ = example("beta-bernoulli")
    >>> belief.update(data)
    BetaBernoulli(alpha=56, beta=46)
    """
    e = entry(name)
    chosen = e.datasets[0] if dataset is None else dataset
    frame = datasets.load(chosen)
    belief, data = from_frame(name, frame, e.columns, {**e.example_prior, **(prior or {})})
    return belief, data, datasets.describe(chosen)


def from_frame(name: str, frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    """Return prior and data for a model from a user's frame."""
    e = entry(name)
    unknown = [key for key in prior if key not in e.prior]
    if unknown:
        msg = f"prior: {name} has the parameters {list(e.prior)}; got {unknown[0]!r}."
        raise PriorError(msg)
    return e.build(frame, columns, prior)


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        msg = f"columns: there is no column {name!r}; there are {list(map(str, frame.columns))}."
        raise DataError(msg)
    return frame[name]


def _target(frame: Any, columns: Columns, *others: str | None) -> str:
    if columns.target is not None:
        return columns.target
    left = [name for name in frame.columns if name not in others]
    if not left:
        msg = "target: the table has no column left for it; name one."
        raise DataError(msg)
    return str(left[-1])


def _grouped(frame: Any, columns: Columns, rows: Any) -> Any:
    if columns.by is None:
        return rows
    by = _column(frame, columns.by)
    return Grouped(rows, by, groups=list(dict.fromkeys(by)))


def _unused(columns: Columns, model: str, **parts: Any) -> None:
    for part, value in parts.items():
        if value is not None:
            msg = f"{part}: {model} has no use for it; leave it out. (Columns asked for: {columns})"
            raise DataError(msg)


def _beta_bernoulli(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "beta-bernoulli", features=columns.features)
    rows = _column(frame, _target(frame, columns, columns.by, columns.trials))
    if columns.trials is not None:
        rows = BinomialCounts(rows, _column(frame, columns.trials))
    belief = BetaBernoulli(prior.get("alpha", 1.0), prior.get("beta", 1.0))
    return belief, _grouped(frame, columns, rows)


def _dirichlet_categorical(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "dirichlet-categorical", features=columns.features, trials=columns.trials)
    rows = _column(frame, _target(frame, columns, columns.by))
    return _categories(rows, prior), _grouped(frame, columns, rows)


def _categories(rows: Any, prior: Prior) -> DirichletCategorical:
    ordered = hasattr(rows, "cat")
    categories = list(rows.cat.categories if ordered else sorted(rows.dropna().unique(), key=str))
    return DirichletCategorical(np.full(len(categories), prior.get("alpha", 1.0)), categories)


def _concept_learning(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    del prior  # it has no parameters: all hypotheses are equally probable
    parts = {"features": columns.features, "by": columns.by, "trials": columns.trials}
    _unused(columns, "concept-learning", **parts)
    return ConceptLearning.number_game(), _column(frame, _target(frame, columns))


def _linear_regression(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "linear-regression", by=columns.by, trials=columns.trials)
    target = _target(frame, columns)
    features = columns.features or [name for name in frame.columns if name != target]
    data = Design.from_frame(frame, target, list(features), intercept=True)
    names = ("intercept", *features)
    if not prior:
        return LinearRegression.flat(names), data
    flat = LinearRegression.flat(names)
    belief = LinearRegression(
        prior.get("mean", 0.0),
        prior.get("precision", 0.0),
        prior.get("shape", float(flat.shape)),
        prior.get("scale", 0.0),
        features=names,
    )
    return belief, data


def _normal_inverse_gamma(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "normal-inverse-gamma", features=columns.features, trials=columns.trials)
    name = _target(frame, columns, columns.by)
    mean, variance = _unit_information(frame, [name])
    belief = _normal(mean[0], variance[0], prior)
    return belief, _grouped(frame, columns, _column(frame, name))


def _normal_inverse_wishart(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "normal-inverse-wishart", target=columns.target, trials=columns.trials)
    names = list(columns.features or [c for c in frame.columns if c != columns.by])
    belief = _normal_vector(frame, names, prior)
    return belief, _grouped(frame, columns, frame[names])


def _naive_bayes(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "naive-bayes", by=columns.by, trials=columns.trials)
    target, names = _target_and_features(frame, columns)
    classes = _categories(_column(frame, target), prior)
    return NaiveBayes(classes, _blocks(frame, names, prior)), Design.from_frame(
        frame, target, names
    )


def _mixture(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    _unused(columns, "naive-bayes-mixture", by=columns.by, trials=columns.trials)
    names = list(columns.features or [c for c in frame.columns if c != columns.target])
    blocks = _blocks(frame, names, prior)
    if columns.target is not None:  # known classes, and empty cells where they are not known
        classes = _categories(_column(frame, columns.target), prior)
        return NaiveBayesMixture(classes, blocks), (frame[names], frame[columns.target])
    number = prior.get("classes", 2.0)
    if number != int(number) or number < 2:  # noqa: PLR2004 - one class is no mixture
        msg = f"classes: must be a whole number, 2 or more; got {number:g}."
        raise PriorError(msg)
    classes = DirichletCategorical(np.full(int(number), prior.get("alpha", 1.0)))
    return NaiveBayesMixture(classes, blocks), frame[names]


def _blocks(frame: Any, names: Sequence[str], prior: Prior) -> dict[str, Any]:
    """Return beliefs about columns: bits together, numbers together, categories each alone."""
    kinds = {name: _column(frame, name).dtype.kind for name in names}
    bits = [name for name in names if kinds[name] == "b"]
    numbers = [name for name in names if kinds[name] in "iuf"]
    blocks: dict[str, Any] = {}
    if bits:
        blocks["bits"] = (BetaBernoulli(*_pair(prior)), bits)
    if numbers:
        mean, variance = _unit_information(frame, numbers)
        normal = _normal(mean, variance, prior, {"feature": numbers})
        blocks["numbers"] = (normal, numbers)
    for name in names:
        if name not in bits and name not in numbers:
            blocks[name] = (_categories(frame[name], prior), name)
    return blocks


def _logistic_regression(frame: Any, columns: Columns, prior: Prior) -> tuple[Any, Any]:
    _unused(columns, "logistic-regression", by=columns.by, trials=columns.trials)
    target, names = _target_and_features(frame, columns)
    mean, variance = _unit_information(frame, names)
    sd = np.sqrt(variance)
    # Weights of standardised columns are independent; these are the weights of the columns as they
    # are, whose intercept is not at the columns' means but at zero.
    back = np.diag(np.append(1.0, 1 / sd))
    back[0, 1:] = -mean / sd
    cov = prior.get("scale", 2.5) ** 2 * back @ back.T
    classes = _categories(_column(frame, target), {}).coords["category"]
    belief = LogisticRegression(
        np.zeros(len(cov)), (cov + cov.T) / 2, classes, ("intercept", *names)
    )
    return belief, Design.from_frame(frame, target, names, intercept=True)


def _discriminant(covariance: Covariance) -> Callable[..., tuple[Belief, Any]]:
    def build(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
        model = f"discriminant-{covariance}"
        _unused(columns, model, by=columns.by, trials=columns.trials)
        target, names = _target_and_features(frame, columns)
        classes = _categories(_column(frame, target), prior)
        normal = _normal_vector(frame, names, prior)
        data = Design.from_frame(frame, target, names)
        return GaussianDiscriminant(classes, normal, covariance), data

    return build


def _target_and_features(frame: Any, columns: Columns) -> tuple[str, list[str]]:
    target = _target(frame, columns)
    return target, list(columns.features or [name for name in frame.columns if name != target])


def _pair(prior: Prior) -> tuple[float, float]:
    return prior.get("alpha", 1.0), prior.get("alpha", 1.0)


def _unit_information(frame: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return mean and variance of columns of numbers, missing cells left out."""
    columns = [_column(frame, name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "iuf":
            msg = f"columns: {name!r} must hold numbers; it has dtype {column.dtype}."
            raise DataError(msg)
        if not column.var(ddof=0) > 0:
            msg = f"columns: {name!r} holds a single value, which tells nothing; leave it out."
            raise DataError(msg)
    return (
        np.array([column.mean() for column in columns]),
        np.array([column.var(ddof=0) for column in columns]),
    )


def _normal(mean: Any, variance: Any, prior: Prior, coords: Any = None) -> NormalInverseGamma:
    shape, kappa = prior.get("shape", 2.0), prior.get("kappa", 1.0)
    scale = variance * max(shape - 1, 0.5)
    return NormalInverseGamma(mean, kappa, shape, scale, coords=coords)


def _normal_vector(frame: Any, names: Sequence[str], prior: Prior) -> NormalInverseWishart:
    mean, variance = _unit_information(frame, names)
    df = prior.get("df", len(names) + 2.0)
    scale = np.diag(variance) * max(df - len(names) - 1, 0.5)
    return NormalInverseWishart(mean, prior.get("kappa", 1.0), df, scale, features=names)


ENTRIES = (
    Entry(
        "beta-bernoulli",
        "Beta–Bernoulli",
        "how probable is a yes-or-no event",
        ("alpha", "beta"),
        ("coin",),
        Columns(target="heads"),
        {"alpha": 1.0, "beta": 1.0},
        _beta_bernoulli,
    ),
    Entry(
        "dirichlet-categorical",
        "Dirichlet–categorical",
        "how probable is each of K categories",
        ("alpha",),
        ("party",),
        Columns(target="party"),
        {"alpha": 1.0},
        _dirichlet_categorical,
    ),
    Entry(
        "concept-learning",
        "Concept learning",
        "which rule numbers from 1 to 100 follow, of ten (the number game)",
        (),
        ("number_game",),
        Columns(target="number"),
        {},
        _concept_learning,
    ),
    Entry(
        "linear-regression",
        "Linear regression",
        "how a number depends on columns, with unknown noise",
        ("mean", "precision", "shape", "scale"),
        ("diabetes",),
        Columns(target="progression"),
        {"mean": 0.0, "precision": 0.001, "shape": 1.0, "scale": 1000.0},
        _linear_regression,
    ),
    Entry(
        "logistic-regression",
        "Logistic regression",
        "which class a row belongs to, from columns of numbers (no closed form)",
        ("scale",),
        ("party",),
        Columns(target="vote", features=("age", "education")),
        {"scale": 2.5},
        _logistic_regression,
    ),
    Entry(
        "normal-inverse-gamma",
        "Normal–inverse-gamma",
        "where numbers lie and how they spread",
        ("kappa", "shape"),
        ("diabetes",),
        Columns(target="progression"),
        {},
        _normal_inverse_gamma,
    ),
    Entry(
        "normal-inverse-wishart",
        "Normal–inverse-Wishart",
        "where vectors of numbers lie and how their columns vary together",
        ("kappa", "df"),
        ("iris",),
        Columns(by="species"),
        {},
        _normal_inverse_wishart,
    ),
    Entry(
        "naive-bayes",
        "Naive Bayes",
        "which class a row belongs to, from columns of any kind",
        ("alpha", "kappa", "shape"),
        ("party",),
        Columns(target="vote"),
        {},
        _naive_bayes,
    ),
    Entry(
        "naive-bayes-mixture",
        "Mixture of naive Bayes",
        "which rows are of a kind, no class being known",
        ("classes", "alpha", "kappa", "shape"),
        ("fitness",),
        Columns(),
        {"alpha": 2.0},
        _mixture,
    ),
    Entry(
        "discriminant-full",
        "Gaussian discriminants, a covariance for each class",
        "which class a row of numbers belongs to (quadratic boundaries)",
        ("alpha", "kappa", "df"),
        ("iris", "wine"),
        Columns(),
        {},
        _discriminant("full"),
    ),
    Entry(
        "discriminant-shared",
        "Gaussian discriminants, one covariance",
        "which class a row of numbers belongs to (linear boundaries)",
        ("alpha", "kappa", "df"),
        ("iris", "wine"),
        Columns(),
        {},
        _discriminant("shared"),
    ),
)
