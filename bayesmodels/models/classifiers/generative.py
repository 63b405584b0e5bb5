"""What naive Bayes and Gaussian discriminants share: a class, and features given the class.

Both are products of independent beliefs: one about the probabilities of the classes, and one for
each block of features, whose leading axis is ``class``. Hence each verb of the whole is the verbs
of the parts, under names that keep the parts apart; and one piece of code predicts for all:

    log p(class c, x | data) = log p(c | data) + sum over blocks of log p(x_block | c, data).

The functions here become methods of the models that are made this way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief import leave_one_out, values
from bayesmodels.belief.declaring import Names
from bayesmodels.belief.discounting import discounted
from bayesmodels.belief.leave_one_out import RowsLeftOut
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows
from bayesmodels.belief.simulation import Simulated, replaced, total
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.models.categorical import CategoricalStatistic, DirichletCategorical
from bayesmodels.models.classifiers.features import Block, Classified, argument, impossible
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_statistics import normalise

if TYPE_CHECKING:
    import pymc as pm


class Generative(Protocol):
    """A belief about classes and about blocks of features given the class."""

    @property
    def classes(self) -> DirichletCategorical:
        """Belief about the class probabilities."""

    @property
    def blocks(self) -> Mapping[str, Block]:
        """Beliefs about blocks of features, by name."""


@value
class ClassStatistic:
    """Statistics of the classes and of each block of features; ``a + b`` merges disjoint rows.

    Parameters
    ----------
    classes : CategoricalStatistic
        Numbers of rows in each class.
    features : mapping
        From the name of a block to its statistic, whose leading axis is ``class``.
    """

    classes: CategoricalStatistic
    features: dict[str, Any]

    def __init__(self, classes: CategoricalStatistic, features: Mapping[str, Any]) -> None:
        values.fill(self, classes=classes, features=dict(features))

    def __add__(self, other: Self) -> Self:
        checked.alike(self, other, ClassStatistic)
        self._check_blocks(other)
        pairs = {name: part + other.features[name] for name, part in self.features.items()}
        return type(self)(self.classes + other.classes, pairs)

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        checked.alike(self, other, ClassStatistic)
        self._check_blocks(other)
        pairs = {name: part - other.features[name] for name, part in self.features.items()}
        return type(self)(self.classes - other.classes, pairs)

    discounted = discounted

    def _times(self, rho: float) -> Self:
        parts = {name: part.discounted(rho) for name, part in self.features.items()}
        return type(self)(self.classes.discounted(rho), parts)

    def _check_blocks(self, other: Self) -> None:
        if list(self.features) != list(other.features):
            msg = (
                f"data: statistics must have the same blocks of features; got "
                f"{list(self.features)} and {list(other.features)}."
            )
            raise DataError(msg)

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        found: Counter[str] = Counter()
        for part in (self.classes, *self.features.values()):
            found.update(part.seen())
        return dict(found)

    @property
    def log_coefficient(self) -> float:
        """Log of the number of orders that counts forget, of all parts."""
        parts = (self.classes, *self.features.values())
        return sum(float(np.sum(getattr(part, "log_coefficient", 0.0))) for part in parts)

    def without_rows(self) -> Self:
        """Return the empty statistic of the same blocks."""
        empty = {name: part.without_rows() for name, part in self.features.items()}
        return type(self)(self.classes.without_rows(), empty)

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimates of all parameters.

        Raises
        ------
        DataError
            If a class has no row, or no cell of some feature.
        """
        found = {"pi": self.classes.mle()["theta"]}
        for name, part in self.features.items():
            try:
                estimate = part.mle()
            except DataError as error:
                msg = f"{argument(name)}: {str(error).removeprefix('data: ')}"
                raise DataError(msg) from None
            found |= {variable + _suffix(name): value for variable, value in estimate.items()}
        return found


def check_classes(classes: Any) -> None:
    """Check the belief about classes."""
    if not isinstance(classes, DirichletCategorical) or classes.alpha.ndim != 1:
        msg = (
            "classes: must be one DirichletCategorical belief, whose categories are the "
            f"classes; got {classes!r}."
        )
        raise PriorError(msg)


# --- parts and their names ------------------------------------------------------------------------


def parts(self: Generative) -> list[tuple[Any, Names]]:
    """Return the belief about the classes and those about the blocks, with their names."""
    return [(self.classes, _CLASSES), *((b.belief, _names(n, b)) for n, b in self.blocks.items())]


# A block may be called "y" as well: its likelihood is ``likelihood_y``.
_CLASSES = Names({"theta": "pi", "x": "y", "likelihood": "y_likelihood"}, {"category": "class"})


def _suffix(name: str) -> str:
    return f"_{name}" if name else ""


def _names(name: str, block: Block, *, cells: bool = False) -> Names:
    """Return the names of a block; its rows may be single cells, where some are missing."""
    end = _suffix(name)
    axes = [axis for axis in block.belief.coords if axis != "class"]
    own = {axis: axis + end for axis in (*axes, "feature", "category")}
    if cells:
        own["row"] = "cell" + end
    return Names({v: v + end for v in (*block.belief.dims, "x", "likelihood")}, own)


def own_draws(draws: Draws, belief: Any, names: Names) -> dict[str, Any]:
    """Return a part's own variables, under its own names."""
    return {variable: draws[names(variable)] for variable in belief.dims}


def _known(parameters: Draws, belief: Any, names: Names) -> dict[str, Array]:
    """Return a part's own variables of its full shape; those of a prior may be for all classes."""
    lead = np.shape(_variable(parameters, "pi"))[:-1]
    found = {}
    for variable, axes in belief.dims.items():
        value = np.asarray(_variable(parameters, names(variable)))
        shape = tuple(len(belief.coords[axis]) for axis in axes)
        inner = value.shape[len(lead) :]
        if value.shape[: len(lead)] != lead or inner != shape[len(shape) - len(inner) :]:
            msg = (
                f"parameters: {names(variable)} must have the shape {(*lead, *shape)} of its axes "
                f"{names.axes(axes)}; got {value.shape}."
            )
            raise DataError(msg)
        wide = value.reshape(*lead, *(1,) * (len(shape) - len(inner)), *inner)
        found[variable] = np.broadcast_to(wide, (*lead, *shape))
    return found


def _variable(parameters: Draws, name: str) -> Any:
    if name not in parameters:
        msg = f"parameters: must hold {name!r}; has {list(parameters)}."
        raise DataError(msg)
    return parameters[name]


def data_parts(self: Generative, data: Any) -> Iterator[tuple[Any, Names, Any]]:
    """Yield each part with its names and its own rows."""
    given = Classified(self.classes, self.blocks, data)
    yield self.classes, _CLASSES, given.target
    for name, block in self.blocks.items():
        rows, cells = given.rows(name)
        yield block.belief, _names(name, block, cells=cells), rows


# --- the verbs of a belief ------------------------------------------------------------------------


def dims(self: Generative) -> dict[str, tuple[str, ...]]:
    """Return names of the axes of every variable."""
    return {names(v): names.axes(axes) for b, names in parts(self) for v, axes in b.dims.items()}


def coords(self: Generative) -> Coords:
    """Return labels along every axis."""
    found: Coords = {}
    for belief, names in parts(self):
        found |= names.coords(belief.coords)
    return found


def parameters(self: Generative) -> dict[str, Array]:
    """Return the parameters of every part by the part's variables and the symbol."""
    return {
        f"{symbol} of {', '.join(map(names, belief.dims))}": value
        for belief, names in parts(self)
        for symbol, value in belief.parameters().items()
    }


def statistic(self: Generative, data: Any) -> ClassStatistic:
    """Return the statistics of the classes and of every block.

    Parameters
    ----------
    data : Design, pair (X, y), or either of them Weighted
        Features and class of each row; or a statistic, returned as is.

    Returns
    -------
    ClassStatistic
        Missing cells have been left out: they are integrated out of the likelihood.

    Raises
    ------
    DataError
        If a value does not fit its block, or a class is missing or unknown.
    """
    if isinstance(data, ClassStatistic):
        if list(data.features) != list(self.blocks):
            msg = (
                f"data: a statistic of the blocks {list(data.features)}, but the model has "
                f"{list(self.blocks)}."
            )
            raise DataError(msg)
        return data
    (classes, _, target), *blocks = data_parts(self, data)
    found = [belief.statistic(rows) for belief, _, rows in blocks]
    return ClassStatistic(classes.statistic(target), dict(zip(self.blocks, found, strict=True)))


def log_evidence(self: Generative, data: Any) -> Array:
    """Return the log density of classes and features with all parameters integrated out.

    It is the sum of the parts': given the classes, blocks are independent.

    Returns
    -------
    ndarray of shape ()
        Natural logarithm.
    """
    s = statistic(self, data)
    total = float(self.classes.log_evidence(s.classes))
    for name, block in self.blocks.items():
        total += float(np.sum(block.belief.log_evidence(s.features[name])))
    return np.asarray(total)[()]


def marginals(self: Generative) -> dict[str, Law]:
    """Return each variable's law, elementwise over its shape."""
    return {names(v): law for b, names in parts(self) for v, law in b.marginals().items()}


def mode(self: Generative) -> dict[str, Array]:
    """Return the joint mode (MAP) of all parameters.

    Raises
    ------
    ModeError
        If a part has no interior mode; the message names it.
    """
    found: dict[str, Array] = {}
    for belief, names in parts(self):
        try:
            found |= {names(v): value for v, value in belief.mode().items()}
        except ModeError as error:
            variables = ", ".join(map(names, belief.dims))
            msg = f"mode of {variables}: {error}"
            raise ModeError(msg) from None
    return found


def log_density(self: Generative, draws: Draws) -> Array:
    """Return the joint log density of all variables, one number a draw."""
    return _added(self, draws, "log_density")


def log_density_rounding(self: Generative, draws: Draws) -> Array:
    """Return a bound on the rounding error of `log_density`: the sum of the parts'."""
    return _added(self, draws, "log_density_rounding")


def _added(self: Generative, draws: Draws, verb: str) -> Array:
    sample_axes = np.ndim(draws["pi"]) - 1
    total: Any = 0.0
    for belief, names in parts(self):
        each = np.asarray(getattr(belief, verb)(own_draws(draws, belief, names)))
        total = total + each.reshape(*each.shape[:sample_axes], -1).sum(-1)
    return total


def sample(
    self: Generative, draws: int, rng: np.random.Generator | int | None = None
) -> dict[str, Array]:
    """Return independent draws of every variable, sample axis first."""
    draws, rng = checked.asked(draws, rng)
    return {names(v): x for b, names in parts(self) for v, x in b.sample(draws, rng).items()}


def log_likelihood(self: Generative, draws: Draws, data: Any) -> dict[str, Array]:
    """Return the log mass of each row's class, and log densities of its features given the class.

    Where a block misses cells, its entries are the cells that are there.
    """
    return {
        names(x): each
        for belief, names, rows in data_parts(self, data)
        for x, each in belief.log_likelihood(own_draws(draws, belief, names), rows).items()
    }


def replicate(
    self: Generative, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
) -> Rows:
    """Return new classes, and new features of rows with the classes that `data` have."""
    rng = checked.randomness(rng)
    return {
        names(x): each
        for belief, names, rows in data_parts(self, data)
        for x, each in belief.replicate(own_draws(draws, belief, names), rows, rng).items()
    }


def observed(self: Generative, data: Any) -> Observed:
    """Return the classes as ``"y"`` and each block of features, with labels of their axes."""
    return {
        names(x): (array, names.coords(axes))
        for belief, names, rows in data_parts(self, data)
        for x, (array, axes) in belief.observed(rows).items()
    }


def add_to_model(self: Generative, data: Any, likelihood: Likelihood, names: Names) -> None:
    """Write prior and likelihood into the current PyMC model; see `declare`."""
    del names  # a classifier is never a part of something else
    checked.declarable(data, ClassStatistic, likelihood)
    if isinstance(data, ClassStatistic):
        self.classes.add_to_model(data.classes, likelihood, _CLASSES)
        for name, block in self.blocks.items():
            block.belief.add_to_model(data.features[name], likelihood, _names(name, block))
        return
    for belief, own, rows in data_parts(self, data):
        belief.add_to_model(rows, likelihood, own)


def simulated(
    self: Generative, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
) -> Simulated:
    """Draw classes first, then features of rows with these classes."""
    rng = checked.randomness(rng)
    codes = replicate(self, parameters, design, rng)["y"][0]
    labels = np.array(self.classes.categories, dtype=object)
    data = replace(checked.paired(design), target=labels[codes].tolist())
    (classes, names, target), *blocks = data_parts(self, data)
    parts = [(classes, names, target)]
    for belief, names, rows in blocks:
        (new,) = belief.replicate(own_draws(parameters, belief, names), rows, rng).values()
        parts.append((belief, names, replaced(belief, rows, new[0])))

    def log_likelihood(draws: Draws) -> Array:
        each = [
            total(belief.log_likelihood(own_draws(draws, belief, names), rows))
            for belief, names, rows in parts
        ]
        return np.asarray(np.sum(each, axis=0))

    def declare() -> pm.Model:
        import pymc as pm

        with pm.Model() as declared:
            for belief, names, rows in parts:
                belief.add_to_model(rows, "rows", names)
        return declared

    first, *others = (belief.statistic(rows) for belief, _, rows in parts)
    statistic = ClassStatistic(first, dict(zip(self.blocks, others, strict=True)))
    return Simulated(statistic, log_likelihood, declare)


def log_next(self: Generative, row: Any) -> Any:
    """Return the log predictive density of one row: of its class and its features."""
    given = checked.paired(row)
    (code,) = self.classes.read(given.target)
    return log_joint(self, given.features)[0, code]


def leave_rows_out(self: Generative, data: Any, statistic: ClassStatistic) -> RowsLeftOut:
    """Return log densities of rows, each by the others: the sum of the parts'."""
    given = Classified(self.classes, self.blocks, data)
    total, rows, lost = self.classes.leave_rows_out(given.target, statistic.classes)
    for name, block in self.blocks.items():
        split, cells = given.rows(name)
        logs, _, gone = leave_one_out.leave_rows_out(block.belief, split, statistic.features[name])
        each = [x.reshape(len(x), -1).sum(-1) for x in (logs, gone)]
        if cells:
            each = [np.bincount(given.rows_of_cells(name), x, len(total)) for x in each]
        total, lost = total + each[0], lost | (each[1] > 0)
    return RowsLeftOut(total, rows, lost)


def power(self: Any, alpha: float) -> Any:
    """Return the belief whose density is this one to the power alpha, normalised."""
    scaled = copy(self)
    blocks = {n: replace(b, belief=b.belief.power(alpha)) for n, b in self.blocks.items()}
    values.fill(scaled, classes=self.classes.power(alpha), blocks=blocks)
    return scaled


def digits_lost(self: Generative, statistic: ClassStatistic) -> float:
    """Return about how many digits are lost in the block that loses most."""
    blocks = self.blocks.items()
    return max(block.belief.digits_lost(statistic.features[name]) for name, block in blocks)


# --- prediction -----------------------------------------------------------------------------------


def log_joint(self: Generative, rows: Any, parameters: Draws | None = None) -> Array:
    r"""Return :math:`\ln p(c, x)` of each new row and class.

    Parameters
    ----------
    rows : as the features of the data
        A missing cell is integrated out: its factor is dropped.
    parameters : mapping, optional
        Parameters to be taken as known, such as ``statistic.mle()``, ``belief.mean()``,
        ``belief.mode()`` or draws with sample axes in front. By default parameters are integrated
        over the belief.

    Returns
    -------
    ndarray of shape (..., n, class)
        Natural logarithms.
    """
    given = Classified(self.classes, self.blocks, rows, new=True)
    if parameters is None:
        total = np.log(self.classes.predictive().mean())
    else:
        with np.errstate(divide="ignore"):  # a class may have probability 0
            total = np.log(_known(parameters, self.classes, _CLASSES)["theta"])[..., None, :]
    for name, block in self.blocks.items():
        belief, x = given.belief(name), given.cells(name)
        if parameters is None:
            each = belief.log_predictive(x)  # new, so that it can be added to
            each += total
            total = each
            continue
        own = _known(parameters, belief, _names(name, block))
        try:
            total = total + belief.log_plug_in(own, x)
        except DataError as error:
            if not name:
                raise
            msg = f"{argument(name)}: {error}"
            raise DataError(msg) from None
    return total


def log_predictive(self: Generative, rows: Any) -> Array:
    """Return the log predictive density of each row's features, its class being unknown.

    Returns
    -------
    ndarray of shape (n,)
        Natural logarithms.
    """
    return np.asarray(logsumexp(log_joint(self, rows), axis=-1))


def class_probabilities(self: Generative, rows: Any, parameters: Draws | None = None) -> Array:
    r"""Return the probability of each class for each new row.

    .. math:: p(c \mid x, D) \propto p(c \mid D) \, p(x \mid c, D)

    Parameters
    ----------
    rows : as the features of the data
        A missing cell is integrated out: its factor is dropped.
    parameters : mapping, optional
        Parameters to be taken as known, such as ``statistic.mle()``, ``belief.mean()``,
        ``belief.mode()`` or draws with sample axes in front. By default parameters are integrated
        over the belief, which is right whenever there are few rows.

    Returns
    -------
    ndarray of shape (..., n, class)
        Rows add up to one.

    Raises
    ------
    DataError
        If a row has probability 0 in every class, as under maximum-likelihood estimates with a
        value that was never seen; the message names feature and value.
    """
    joint = log_joint(self, rows, parameters)
    impossible = np.isneginf(joint.max(axis=-1)) if joint.size else np.zeros(0, dtype=bool)
    if impossible.any():
        row = int(np.argwhere(impossible)[0][-1])
        raise DataError(_why_impossible(self, rows, row, parameters))
    return normalise(joint)


def class_probability_interval(
    self: Generative,
    rows: Any,
    prob: float = 0.89,
    *,
    draws: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> tuple[Array, Array]:
    """Return how uncertain each class probability is because parameters are.

    Parameters
    ----------
    rows : as the features of the data
        New rows.
    prob : float, default 0.89
        Probability of the equal-tailed intervals.
    draws : int, default 1000
        Number of draws of the parameters; each gives one probability a row and class.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; fresh if not given.

    Returns
    -------
    (ndarray, ndarray) of shape (n, class)
        Lower and upper ends.
    """
    prob = checked.proportion(prob, "prob")
    known = sample(_with_classes(self, rows), draws, rng)
    found = class_probabilities(self, rows, known)
    low, high = np.quantile(found, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return low, high


@dataclass(frozen=True)
class _Parts:
    classes: DirichletCategorical
    blocks: Mapping[str, Block]


def _with_classes(self: Generative, rows: Any) -> _Parts:
    """Return the parts with parameters for each class, which a prior for all has only one of."""
    given = Classified(self.classes, self.blocks, rows, new=True)
    blocks = {name: replace(b, belief=given.belief(name)) for name, b in self.blocks.items()}
    return _Parts(self.classes, blocks)


def most_probable_class(
    self: Generative, rows: Any, parameters: Draws | None = None
) -> NDArray[Any]:
    """Return the label of the class with the largest probability for each new row."""
    best = class_probabilities(self, rows, parameters).argmax(-1)
    labels = class_labels(self)
    kinds = {type(label) for label in labels}
    plain = len(kinds) == 1 and issubclass(kinds.pop(), (str, int, float, np.generic))
    values = np.empty(len(labels), dtype=object)
    values[:] = labels  # labels of several kinds, and tuples, stay what they are
    return (np.asarray(labels) if plain else values)[best]


def class_labels(self: Generative) -> Sequence[Any]:
    """Return the labels of the classes."""
    return self.classes.coords["category"]


def _why_impossible(self: Generative, rows: Any, row: int, parameters: Draws | None) -> str:
    """Say which value of a row has probability 0 in every class."""
    given = Classified(self.classes, self.blocks, rows, new=True)
    advice = (
        "Smooth: use mean() or leave parameters out (their default integrates over the belief), or "
        "give a prior that allows for it."
    )
    for name, block in self.blocks.items():
        if parameters is None:
            break
        belief = given.belief(name)
        own = _known(parameters, belief, _names(name, block))
        value = impossible(belief, own, given.cells(name)[row : row + 1], name)
        if value is not None:
            return (
                f"rows: row {row} has {value}, which has probability 0 in every class under these "
                f"parameters. {advice}"
            )
    return (
        f"rows: row {row} has probability 0 in every class under these parameters, though no value "
        f"of it alone has. {advice}"
    )
