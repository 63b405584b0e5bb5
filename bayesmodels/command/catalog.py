"""The models by name: how each is set up from a frame, and the data sets that show it.

Columns of numbers get a prior that weighs as much as one row: at the column's mean, with its
variance, those of each group where numbers are in groups; the unit-information prior of Kass and
Wasserman (1995). Of vectors the covariance has the fewest degrees of freedom that expect these
variances. It makes answers independent of the units; `kappa` rows, 2 `shape` rows and `df` change
its weight. A mixture, whose classes may be of few rows, knows variances from four. In a linear
regression it is centred on the line through the target's mean that is level, and knows each weight
of the centred columns as well as one row tells it, independently of the others; so it is proper
with any columns. Weights of a logistic regression are those of standardised columns, with standard
deviation `scale` (2.5 if not given).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from shlex import quote
from typing import Any

import numpy as np

from bayesmodels import datasets
from bayesmodels.belief.protocol import Belief
from bayesmodels.errors import DataError, PriorError
from bayesmodels.input.containers import listed, meant, no_column, shown
from bayesmodels.input.domains import squarable
from bayesmodels.input.wrappers import BinomialCounts, Censored, Counts, Design, Grouped
from bayesmodels.models.bernoulli import BetaBernoulli
from bayesmodels.models.categorical import DirichletCategorical
from bayesmodels.models.classifiers.gaussian_discriminant import Covariance, GaussianDiscriminant
from bayesmodels.models.classifiers.naive_bayes import NaiveBayes
from bayesmodels.models.gamma_exponential import GammaExponential
from bayesmodels.models.gamma_poisson import GammaPoisson
from bayesmodels.models.hypotheses import ConceptLearning
from bayesmodels.models.linear_regression import LinearRegression
from bayesmodels.models.logistic.regression import LogisticRegression
from bayesmodels.models.mixture.naive_bayes_mixture import NaiveBayesMixture
from bayesmodels.models.multivariate_normal import NormalInverseWishart
from bayesmodels.models.normal import NormalInverseGamma

Prior = Mapping[str, float]


@dataclass(frozen=True)
class Columns:
    """Which columns of a frame play which part.

    The target is what is modelled, by default the frame's last column; features explain it, by
    default all others. `by` has the group of each row: one independent problem a group. `trials`
    has numbers of trials, if the target holds numbers of successes; `exposure` has exposures, if it
    holds numbers of events; `observed` has 0 for waiting times that were cut short, else 1.
    """

    target: str | None = None
    features: Sequence[str] | None = None
    by: str | None = None
    trials: str | None = None
    exposure: str | None = None
    observed: str | None = None


@dataclass(frozen=True)
class Entry:
    """A model of the command line: its name, questions, prior and data.

    Parameters of the prior stand with what they are by default, None where that is read off the
    data; `words` say what else is to be said of it. `build` makes prior and data of a frame, with
    the parts of `Columns` that the model `uses`; there stands, too, which options of `preparation`
    it has. Of the shipped data sets the first is used when no file is given; they may have another
    prior. `categories` tells whether the target is of categories, `supervised` whether there is one
    if none is named.
    """

    name: str
    title: str
    purpose: str
    prior: Mapping[str, float | None]
    build: Callable[[Any, Columns, Prior], tuple[Belief, Any]]
    uses: str
    datasets: tuple[str, ...]
    columns: Columns = Columns()
    example_prior: Prior = field(default_factory=dict)
    words: str = ""
    categories: bool = False
    supervised: bool = True


def entry(name: str) -> Entry:
    """Return a model's entry; if there is none, raise a `DataError` that lists those there are."""
    for candidate in ENTRIES:
        if candidate.name == name:
            return candidate
    names = [e.name for e in ENTRIES]
    raise DataError(f"model: must be one of {names}; got {name!r}.{meant(name, names)}")


def example(
    name: str, prior: Prior | None = None, dataset: str | None = None
) -> tuple[Belief, Any, str]:
    """Return prior, data and source of a data set shipped to show a model, by default its first.

    The source says in words which data and which prior these are.

    Examples
    --------
    >>> belief, data, _ = example("beta-bernoulli")
    >>> belief.update(data)
    BetaBernoulli(alpha=56, beta=46)
    """
    e = entry(name)
    chosen = e.datasets[0] if dataset is None else dataset
    parameters = {**e.example_prior, **(prior or {})}
    belief, data = from_frame(name, datasets.load(chosen), e.columns, parameters)
    return belief, data, f"{datasets.describe(chosen)} {prior_in_words(name, parameters)}"


def from_frame(name: str, frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    """Return prior and data for a model from a user's frame."""
    e = entry(name)
    if prior.get("shape", 1) <= 0 and "scale" not in prior:  # which is made of it
        raise PriorError(f"shape: must be positive; got {prior['shape']:g}.")
    unknown = [key for key in prior if key not in e.prior]
    if unknown:
        raise PriorError(f"prior: {name} has the parameters {list(e.prior)}; got {unknown[0]!r}.")
    check_columns(e, frame, columns)
    return e.build(frame, columns, _filled(e, prior))


def check_columns(e: Entry, frame: Any, columns: Columns) -> None:
    """Refuse columns that the table lacks or the model does not use."""
    asked = vars(columns)
    features = list(columns.features or ())
    for option, chosen in asked.items():
        for column in features if option == "features" else [chosen]:
            if column is not None and column not in frame.columns:
                raise no_column(f"--{option}", column, frame)
    for column in features:
        if features.count(column) > 1:
            raise DataError(f"--features: must not hold a column twice; got {column!r} again.")
    if not len(frame):
        raise DataError("FILE: has no rows below the heading.")
    for part, value in asked.items():
        if value is not None and part not in e.uses.split():
            raise DataError(f"--{part}: {e.name} has no use for it; leave it out.")


def _filled(e: Entry, prior: Prior) -> dict[str, float]:
    """Return the prior's parameters, those by default included, in the model's order."""
    chosen = {key: prior.get(key, default) for key, default in e.prior.items()}
    return {key: value for key, value in chosen.items() if value is not None}


def prior_in_words(name: str, prior: Prior) -> str:
    """Say which prior a model has, given the parameters that were asked for."""
    e = entry(name)
    values = ", ".join(f"{key} = {value:g}" for key, value in _filled(e, prior).items())
    return f"Prior: {'; '.join(filter(None, (e.words, values)))}."


def question(name: str, frame: Any, columns: Columns) -> str:
    """Say what a model is asked of a table: the target, by what, in the table's own words."""
    e = entry(name)
    if not e.supervised and columns.target is None:
        return _some(columns.features or list(frame))
    if "features" in e.uses.split():
        target, by = target_and_features(frame, columns)
    else:
        others = (columns.by, columns.trials, columns.exposure, columns.observed)
        target, by = target_of(frame, columns, *others), [columns.by] if columns.by else []
    return f"{target} by {_some(by)}" if by else target


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(map(str, names[:_NAMED])) + more


# --- columns --------------------------------------------------------------------------------------


def _where(column: Any, bad: Any) -> str:
    """Say in words where in the file the first bad cell of a column is."""
    return f"row {int(column.index[np.argmax(bad)]) + 1} below the heading"


def _nominal(column: Any) -> bool:
    """Say whether this is a column of categories in a given order."""
    return bool(column.dtype.name == "category")


_MOST_LABELS, _MOST_CODES = 10, 3  # more are numbers
_ANOTHER = "name another one with --target"
_NO_NUMBER = "it holds text"
_NAMED = 4


def _refuse(column: Any, name: str, what: str, bad: Any, way: str = "") -> None:
    """Raise an error about a column that states its first bad cell."""
    if _nominal(column):
        result = "it holds categories"
    else:
        there = any(bad)
        result = (
            f"{_where(column, bad)} holds {shown(column[bad].iloc[0])}" if there else _NO_NUMBER
        )
    raise DataError(f"column {name!r}: must hold {what}; {result}.{way}")


def complete(frame: Any, name: str) -> Any:
    """Return a column without empty cells."""
    empty = frame[name].isna().to_numpy()
    if empty.any():
        raise DataError(
            f"column {name!r}: {int(empty.sum())} of {len(empty)} cells are empty, the first in "
            f"{_where(frame, empty)}. Fill them, or leave such rows out with --drop-missing."
        )
    return frame[name]


def _numbers(frame: Any, name: str) -> Any:
    """Return a column of numbers, which may have empty cells."""
    import pandas as pd

    column = frame[name]
    if column.dtype.kind in "biuf":
        infinite = np.isinf(column.to_numpy())
        if infinite.any():
            where = _where(column, infinite)
            raise DataError(f"column {name!r}: must hold finite numbers; {where} is infinite.")
        return column
    bad = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
    way = " Correct the file, or choose other columns."
    return _refuse(column, name, "numbers", bad, way)


def whole_numbers(frame: Any, name: str, way: str = "") -> Any:
    """Return a column of whole numbers."""
    column = _numbers(frame, name)
    complete(frame, name)
    if (bad := ((column < 0) | (column % 1 != 0)).to_numpy()).any():
        _refuse(column, name, "whole numbers, 0 or more", bad, way)
    return column


def successes(frame: Any, name: str, trials: str) -> tuple[Any, Any]:
    """Return columns of numbers of successes and of trials."""
    hits, of = whole_numbers(frame, name), whole_numbers(frame, trials)
    if (bad := (hits > of).to_numpy()).any():
        raise DataError(
            f"column {name!r}: must not exceed {trials!r}; {_where(frame, bad)} has "
            f"{hits[bad].iloc[0]:g} successes in {of[bad].iloc[0]:g} trials. Correct the file, or "
            "let the two change places."
        )
    return hits, of


def _left_out(column: Any) -> str:
    """Say how to leave out rows in which a number that must be positive is zero."""
    if (column < 0).any():
        return " Correct the file."
    zeros = " ".join(f"--missing {quote(f'{name}=0')}" for name in str(column.name).split(" / "))
    return f" Correct the file, or leave out rows with 0 by {zeros} --drop-missing."


def _bits(frame: Any, name: str, way: str = " Correct the file.") -> Any:
    """Return a column of 0 and 1."""
    import pandas as pd

    column = complete(frame, name)
    bits = pd.to_numeric(column, errors="coerce")
    if (bad := ~bits.isin([0, 1]).to_numpy()).any():
        _refuse(column, name, "only 0 and 1", bad, way)
    return bits.astype(float)


def _classes(frame: Any, name: str) -> Any:
    """Return the classes of the rows, of which there are two or more."""
    column = complete(frame, name)
    if len(levels_of(column)) < 2:  # noqa: PLR2004 - one class is none
        raise DataError(
            f"column {name!r}: must hold two classes or more; it holds only "
            f"{shown(column.iloc[0])}. Name another one with --target."
        )
    return column


def target_of(frame: Any, columns: Columns, *others: str | None) -> str:
    """Return the name of the target, by default the last column that is none of the others."""
    if columns.target is not None:
        return columns.target
    left = [name for name in frame.columns if name not in others]
    if not left:
        raise DataError("--target: the table has no column left for it; name one.")
    return str(left[-1])


def _grouped(frame: Any, columns: Columns, rows: Any) -> Any:
    if columns.by is None:
        return rows
    by = complete(frame, columns.by)
    return Grouped(rows, by, groups=list(dict.fromkeys(by)))


def levels_of(rows: Any) -> list[Any]:
    """Return the categories of a column in their order, or its values in order as text."""
    return list(rows.cat.categories if _nominal(rows) else sorted(rows.dropna().unique(), key=str))


def target_and_features(frame: Any, columns: Columns) -> tuple[str, list[str]]:
    """Return the names of the target and of the features, by default all other columns."""
    target = target_of(frame, columns)
    names = list(columns.features or [name for name in frame.columns if name != target])
    if target in names:
        raise DataError(f"--features: must not hold the target {target!r}; leave it out.")
    return target, names


def _nonempty(names: Sequence[str]) -> Sequence[str]:
    """Return the names of features; refuse an empty list."""
    if not names:
        raise DataError("--features: the table has no column left for them; add one to it.")
    return names


def _with_intercept(names: Sequence[str]) -> tuple[str, ...]:
    if "intercept" in names:
        raise DataError(
            "column 'intercept': the model adds one of this name. Rename it, or leave it out."
        )
    return ("intercept", *names)


def _unit_information(
    frame: Any, names: Sequence[str], *, gaps: bool = False, way: str = "leave it out"
) -> tuple[Any, Any]:
    """Return mean and variance of columns of numbers, of the cells that are there."""
    columns = []
    for name in names:
        column = _numbers(frame, name).astype(float)
        if not gaps:
            complete(frame, name)
        squarable(column.dropna().to_numpy(), f"column {name!r}")
        if not column.var(ddof=0) > 0:
            raise DataError(f"column {name!r}: holds a single value, which tells nothing; {way}.")
        columns.append((column.mean(), column.var(ddof=0)))
    mean, variance = np.array(columns).reshape(-1, 2).T
    return mean, variance


# --- models ---------------------------------------------------------------------------------------


def _beta_bernoulli(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    name = target_of(frame, columns, columns.by, columns.trials)
    rows: Any
    if columns.trials is None:
        levels = levels_of(frame[name])
        labels = (
            f" Name the label that counts, such as --success {quote(str(levels[-1]))}, or another "
            "column with --target; for numbers of successes name the column of trials with "
            "--trials; for more than two categories use dirichlet-categorical."
        )
        counts = (
            " Name the column with numbers of successes by --target, that of trials by --trials; "
            "for numbers of events use gamma-poisson."
        )
        several = len(levels) > (_MOST_LABELS if frame[name].dtype.kind in "OU" else _MOST_CODES)
        rows = _bits(frame, name, counts if several else labels)
    else:
        rows = BinomialCounts(*successes(frame, name, columns.trials))
    return BetaBernoulli(prior["alpha"], prior["beta"]), _grouped(frame, columns, rows)


def _gamma_poisson(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    name = target_of(frame, columns, columns.by, columns.exposure)
    way = " For other numbers use normal-inverse-gamma, or another column with --target."
    rows: Any = whole_numbers(frame, name, way)
    if columns.exposure is not None:
        exposure = _numbers(complete(frame, columns.exposure).to_frame(), columns.exposure)
        if (bad := (exposure <= 0).to_numpy()).any():
            _refuse(exposure, columns.exposure, "positive numbers", bad, _left_out(exposure))
        rows = Counts(rows, exposure)
    return GammaPoisson(prior["shape"], prior["rate"]), _grouped(frame, columns, rows)


def _gamma_exponential(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    name = target_of(frame, columns, columns.by, columns.observed)
    rows = _numbers(complete(frame, name).to_frame(), name)
    if (bad := (rows <= 0).to_numpy()).any():
        _refuse(rows, name, "positive numbers", bad, _left_out(rows))
    if columns.observed is not None:
        labels = listed([str(level) for level in levels_of(frame[columns.observed])])
        way = f" Say by --event which of {labels} ends the waiting; all others cut it short."
        rows = Censored(rows, _bits(frame, columns.observed, way))
    return GammaExponential(prior["shape"], prior["rate"]), _grouped(frame, columns, rows)


def _dirichlet_categorical(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    rows = _classes(frame, target_of(frame, columns, columns.by))
    return _categories(rows, prior), _grouped(frame, columns, rows)


def _categories(rows: Any, prior: Prior) -> DirichletCategorical:
    categories = levels_of(rows)
    return DirichletCategorical(np.full(len(categories), prior["alpha"]), categories)


def _concept_learning(frame: Any, columns: Columns, _prior: Prior) -> tuple[Belief, Any]:
    name = target_of(frame, columns)
    rows = whole_numbers(frame, name)
    if (bad := ~rows.between(1, 100).to_numpy()).any():
        _refuse(rows, name, "numbers from 1 to 100", bad)
    return ConceptLearning.number_game(), rows.astype(int)


def _linear_regression(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    target, names = target_and_features(frame, columns)
    data = Design.from_frame(frame, target, names, intercept=True)
    (height,), (noise,) = _unit_information(frame, [target], way=_ANOTHER)
    middle, variance = _unit_information(frame, names)
    size, shape = len(names) + 1, prior["shape"]
    scale = prior.get("scale", shape * noise)
    level = np.append(height, [0.0] * len(names))
    location = np.full(size, prior["mean"]) if "mean" in prior else level
    features = _with_intercept(names)
    if "precision" in prior:
        belief = LinearRegression(location, prior["precision"], shape, scale, features)
    else:  # a row at the columns' means, and of each weight a row of its own
        rows = np.diag(np.append(1.0, np.sqrt(variance)))
        rows[0, 1:] = middle
        flat = LinearRegression(0.0, 0.0, shape - size / 2, scale, features)
        belief = flat.update((rows, rows @ location))
    return belief, data


def _logistic_regression(frame: Any, columns: Columns, prior: Prior) -> tuple[Any, Any]:
    target, names = target_and_features(frame, columns)
    mean, variance = _unit_information(frame, names)
    sd = np.sqrt(variance)
    # Weights of standardised columns are independent; these are the weights of the columns as they
    # are, whose intercept is not at the columns' means but at zero.
    back = np.diag(np.append(1.0, 1 / sd))
    back[0, 1:] = -mean / sd
    cov = prior["scale"] ** 2 * back @ back.T
    classes = levels_of(_classes(frame, target))
    if len(classes) > max(2, len(frame) / 2):
        raise DataError(
            f"column {target!r}: holds {len(classes):,} different values in {len(frame):,} rows, "
            "too many for classes. Name another one with --target; for numbers use "
            "linear-regression."
        )
    features = _with_intercept(names)
    belief = LogisticRegression(np.zeros(len(cov)), (cov + cov.T) / 2, classes, features)
    return belief, Design.from_frame(frame, target, names, intercept=True)


def _normal_inverse_gamma(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    name = target_of(frame, columns, columns.by)
    rows = _grouped(frame, columns, complete(frame, name))
    mean, variance = (x[0] for x in _unit_information(frame, [name], way=_ANOTHER))
    if columns.by is not None:  # a group's own, if it has several numbers
        own = frame[name].astype(float).groupby(frame[columns.by], sort=False, observed=True)
        means, variances = own.mean()[rows.groups], own.var(ddof=0)[rows.groups]
        several = variances.to_numpy() > 0
        mean = np.where(several, means, mean)
        variance = np.where(several, variances, variance)
    return _normal(mean, variance, prior), rows


def _normal(mean: Any, variance: Any, prior: Prior, coords: Any = None) -> NormalInverseGamma:
    """Return the belief that weighs `kappa` rows for the mean, and 2 `shape` for the variance."""
    scale = prior["shape"] * variance
    return NormalInverseGamma(mean, prior["kappa"], prior["shape"], scale, coords=coords)


def _normal_inverse_wishart(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    names = list(columns.features or [c for c in frame.columns if c != columns.by])
    belief = _normal_vector(frame, names, prior)
    return belief, _grouped(frame, columns, frame[names])


def _normal_vector(frame: Any, names: Sequence[str], prior: Prior) -> NormalInverseWishart:
    mean, variance = _unit_information(frame, _nonempty(names))
    df = prior.get("df", len(names) + 2.0)
    scale = np.diag(variance) * max(df - len(names) - 1, 0.5)
    return NormalInverseWishart(mean, prior["kappa"], df, scale, features=names)


def _naive_bayes(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    target, names = target_and_features(frame, columns)
    classes = _categories(_classes(frame, target), prior)
    belief = NaiveBayes(classes, _blocks(frame, names, prior))
    return belief, Design.from_frame(frame, target, names)


def _mixture(frame: Any, columns: Columns, prior: Prior) -> tuple[Belief, Any]:
    names = list(columns.features or [c for c in frame.columns if c != columns.target])
    blocks = _blocks(frame, names, prior)
    if columns.target is not None:  # known classes, and empty cells where they are not known
        classes = _categories(frame[columns.target], prior)
        return NaiveBayesMixture(classes, blocks), (frame[names], frame[columns.target])
    number = prior["classes"]
    if number != int(number) or number < 2:  # noqa: PLR2004 - one class is no mixture
        raise PriorError(f"classes: must be a whole number, 2 or more; got {number:g}.")
    classes = DirichletCategorical(np.full(int(number), prior["alpha"]))
    return NaiveBayesMixture(classes, blocks), frame[names]


def _blocks(frame: Any, names: Sequence[str], prior: Prior) -> dict[str, Any]:
    """Return beliefs about columns: one block of bits, one of numbers, one a categorical column.

    The names of the first two blocks are those of no column.
    """
    kinds = {name: frame[name].dtype.kind for name in _nonempty(names)}
    bits = [name for name in names if kinds[name] == "b"]
    numbers = [name for name in names if kinds[name] in "iuf"]
    blocks: dict[str, Any] = {}
    if bits:
        blocks[_free("bits", names)] = (BetaBernoulli(prior["alpha"], prior["alpha"]), bits)
    if numbers:
        mean, variance = _unit_information(frame, numbers, gaps=True)
        blocks[_free("numbers", names)] = (
            _normal(mean, variance, prior, {"feature": numbers}),
            numbers,
        )
    for name in names:
        if name not in bits and name not in numbers:
            blocks[name] = (_categories(frame[name], prior), name)
    return blocks


def _free(name: str, names: Sequence[str]) -> str:
    return _free(f"{name}_", names) if name in names else name


def _discriminant(
    covariance: Covariance, frame: Any, columns: Columns, prior: Prior
) -> tuple[Belief, Any]:
    target, names = target_and_features(frame, columns)
    classes = _categories(_classes(frame, target), prior)
    belief = GaussianDiscriminant(classes, _normal_vector(frame, names, prior), covariance)
    return belief, Design.from_frame(frame, target, names)


_UNIT = "the unit-information prior, as much as one row, with the columns' means and variances"
_VECTORS = (
    "the columns' means, as from kappa rows, and variances, with the fewest df that expect any"
)
_COVARIANCES: tuple[tuple[Covariance, str, str], ...] = (
    ("full", "a covariance for each class", "quadratic"),
    ("shared", "one covariance", "linear"),
)

ENTRIES = (
    Entry(
        "beta-bernoulli",
        BetaBernoulli.title,
        "how probable is a yes-or-no event",
        {"alpha": 1.0, "beta": 1.0},
        _beta_bernoulli,
        "target by trials success",
        ("coin",),
        Columns(target="heads"),
    ),
    Entry(
        "dirichlet-categorical",
        DirichletCategorical.title,
        "how probable is each of K categories",
        {"alpha": 1.0},
        _dirichlet_categorical,
        "target by",
        ("party",),
        Columns(target="party"),
        categories=True,
    ),
    Entry(
        "concept-learning",
        ConceptLearning.title,
        "which rule numbers from 1 to 100 follow, of ten (the number game)",
        {},
        _concept_learning,
        "target",
        ("number_game",),
        Columns(target="number"),
        words="all hypotheses are equally probable",
    ),
    Entry(
        "linear-regression",
        LinearRegression.title,
        "how a number depends on columns, with unknown noise",
        {"mean": None, "precision": None, "shape": 0.5, "scale": None},
        _linear_regression,
        "target features formula",
        ("diabetes",),
        Columns(target="progression"),
        words=_UNIT,
    ),
    Entry(
        "logistic-regression",
        LogisticRegression.title,
        "which class a row belongs to, from columns of numbers (no closed form)",
        {"scale": 2.5},
        _logistic_regression,
        "target features formula success",
        ("party",),
        Columns(target="vote", features=("age", "education")),
        categories=True,
        words="weights of standardised columns are independent and normal, with standard deviation "
        "scale",
    ),
    Entry(
        "normal-inverse-gamma",
        NormalInverseGamma.title,
        "where numbers lie and how they spread",
        {"kappa": 1.0, "shape": 0.5},
        _normal_inverse_gamma,
        "target by",
        ("diabetes",),
        Columns(target="progression"),
        words=_UNIT,
    ),
    Entry(
        "normal-inverse-wishart",
        NormalInverseWishart.title,
        "where vectors of numbers lie and how their columns vary together",
        {"kappa": 1.0, "df": None},
        _normal_inverse_wishart,
        "features by",
        ("iris",),
        Columns(by="species"),
        words=_VECTORS,
    ),
    Entry(
        "naive-bayes",
        NaiveBayes.title,
        "which class a row belongs to, from columns of any kind",
        {"alpha": 1.0, "kappa": 1.0, "shape": 0.5},
        _naive_bayes,
        "target features",
        ("party",),
        Columns(target="vote"),
        words=f"of numbers {_UNIT}",
        categories=True,
    ),
    Entry(
        "naive-bayes-mixture",
        NaiveBayesMixture.title,
        "which rows are of a kind, no class being known",
        {"classes": 2.0, "alpha": 1.0, "kappa": 1.0, "shape": 2.0},
        _mixture,
        "target features",
        ("fitness",),
        example_prior={"alpha": 2.0},
        categories=True,
        supervised=False,
        words="of numbers the columns' means, as from kappa rows, and variances, as from 2 shape",
    ),
    *(
        Entry(
            f"discriminant-{covariance}",
            f"Gaussian discriminants, {called}",
            f"which class a row of numbers belongs to ({shape} boundaries)",
            {"alpha": 1.0, "kappa": 1.0, "df": None},
            partial(_discriminant, covariance),
            "target features",
            ("iris", "wine"),
            words=_VECTORS,
            categories=True,
        )
        for covariance, called, shape in _COVARIANCES
    ),
    Entry(
        "gamma-poisson",
        GammaPoisson.title,
        "at which rate events happen",
        {"shape": 1.0, "rate": 1.0},
        _gamma_poisson,
        "target by exposure",
        ("aspirin",),
        Columns(target="infarctions", by="arm", exposure="participants"),
    ),
    Entry(
        "gamma-exponential",
        GammaExponential.title,
        "at which rate waiting ends",
        {"shape": 1.0, "rate": 1.0},
        _gamma_exponential,
        "target by observed",
        ("leukemia",),
        Columns(target="weeks", by="arm", observed="relapsed"),
    ),
)
