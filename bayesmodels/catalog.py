"""The models by name: how each is set up from a frame, and the data set that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmodels import datasets
from bayesmodels.data import BinomialCounts, Design, Grouped
from bayesmodels.errors import DataError, PriorError
from bayesmodels.models.beta_bernoulli import BetaBernoulli
from bayesmodels.models.dirichlet_categorical import DirichletCategorical
from bayesmodels.models.linear_regression import LinearRegression
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
    dataset, columns, example_prior
        The shipped data set, its columns and prior, used when no file is given.
    build : callable
        From frame, columns and prior to the prior belief and its data.
    """

    name: str
    title: str
    purpose: str
    prior: tuple[str, ...]
    dataset: str
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
    >>> entry("beta-bernoulli").dataset
    'coin'
    """
    for candidate in ENTRIES:
        if candidate.name == name:
            return candidate
    msg = f"model: must be one of {[e.name for e in ENTRIES]}; got {name!r}."
    raise DataError(msg)


def example(name: str, prior: Prior | None = None) -> tuple[Belief, Any, str]:
    """Return prior, data and source of the data set shipped to show a model.

    Examples
    --------
    >>> belief, data, _ = example("beta-bernoulli")
    >>> belief.update(data)
    BetaBernoulli(alpha=56, beta=46)
    """
    e = entry(name)
    frame = datasets.load(e.dataset)
    belief, data = from_frame(name, frame, e.columns, {**e.example_prior, **(prior or {})})
    return belief, data, datasets.describe(e.dataset)


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
    ordered = hasattr(rows, "cat")
    categories = list(rows.cat.categories if ordered else sorted(rows.dropna().unique(), key=str))
    belief = DirichletCategorical(np.full(len(categories), prior.get("alpha", 1.0)), categories)
    return belief, _grouped(frame, columns, rows)


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


ENTRIES = (
    Entry(
        "beta-bernoulli",
        "Beta–Bernoulli",
        "how probable is a yes-or-no event",
        ("alpha", "beta"),
        "coin",
        Columns(target="heads"),
        {"alpha": 1.0, "beta": 1.0},
        _beta_bernoulli,
    ),
    Entry(
        "dirichlet-categorical",
        "Dirichlet–categorical",
        "how probable is each of K categories",
        ("alpha",),
        "party",
        Columns(target="party"),
        {"alpha": 1.0},
        _dirichlet_categorical,
    ),
    Entry(
        "linear-regression",
        "Linear regression",
        "how a number depends on columns, with unknown noise",
        ("mean", "precision", "shape", "scale"),
        "diabetes",
        Columns(target="progression"),
        {"mean": 0.0, "precision": 0.001, "shape": 1.0, "scale": 1000.0},
        _linear_regression,
    ),
)
