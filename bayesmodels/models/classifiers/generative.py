"""What naive Bayes and Gaussian discriminants share: a class, and features given the class.

Both are products of independent beliefs: one about the probabilities of the classes, and one for
each block of features, whose leading axis is ``class``. Hence each verb of the whole is the verbs
of the parts, under names that keep the parts apart; and one piece of code predicts for all:

    log p(class c, x | data) = log p(c | data) + sum over blocks of log p(x_block | c, data).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesmodels.belief import datatree, leave_one_out, reading, values
from bayesmodels.belief.conjugate import discounted
from bayesmodels.belief.declaring import Names, check_declarable, declare
from bayesmodels.belief.intervals import renamed
from bayesmodels.belief.leave_one_out import RowsLeftOut
from bayesmodels.belief.protocol import Draws, Law, Likelihood, Observed, Rows, Statistic
from bayesmodels.belief.simulation import Simulated, replaced, total
from bayesmodels.belief.values import value
from bayesmodels.errors import DataError, ModeError, PriorError
from bayesmodels.input import data as checked
from bayesmodels.input.labels import Coords
from bayesmodels.models import given_statistic
from bayesmodels.models.categorical import CategoricalStatistic, DirichletCategorical
from bayesmodels.models.classifiers.features import (
    Block,
    Classified,
    argument,
    impossible,
)
from bayesmodels.numerics import Array
from bayesmodels.numerics.class_densities import normalise

if TYPE_CHECKING:
    import pymc as pm


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

    @classmethod
    def _from_file(cls, classes: CategoricalStatistic, features: dict[str, Any]) -> Self:
        """Return statistics of blocks, each of which has the classes as its first axis."""
        for name, part in features.items():
            first = next(iter(part.coords.values()), ())
            fits = isinstance(part, Statistic) and (len(first),) == classes.counts.shape
            if not fits:
                raise DataError(
                    f"features: the statistic of {name!r} must have the classes as first axis."
                )
        return cls(classes, features)

    def __add__(self, other: Self) -> Self:
        return self._each(operator.add, self._alike(other))

    def __sub__(self, other: Self) -> Self:
        """Return the statistic without rows that are in it."""
        return self._each(operator.sub, self._alike(other))

    def _alike(self, other: Self) -> Self:
        checked.alike(self, other, ClassStatistic)
        if list(self.features) != list(other.features):
            raise DataError(
                f"data: statistics must have the same blocks of features; got "
                f"{list(self.features)} and {list(other.features)}."
            )
        return other

    def _each(self, verb: Callable[..., Any], *others: Self) -> Self:
        features = {
            name: verb(part, *(other.features[name] for other in others))
            for name, part in self.features.items()
        }
        return type(self)(verb(self.classes, *(other.classes for other in others)), features)

    discounted = discounted

    def _times(self, rho: float) -> Self:
        return self._each(operator.methodcaller("discounted", rho))

    def without_rows(self) -> Self:
        """Return the empty statistic of the same blocks."""
        return self._each(operator.methodcaller("without_rows"))

    def seen(self) -> dict[str, float]:
        """Return what every model of the same rows must agree on; see `compare_evidence`."""
        result: Counter[str] = Counter()
        for part in (self.classes, *self.features.values()):
            result.update(part.seen())
        return dict(result)

    @property
    def log_coefficient(self) -> float:
        """Sum of the parts' log multinomial coefficients, which counts have and rows lack."""
        parts = (self.classes, *self.features.values())
        return sum(float(np.sum(getattr(part, "log_coefficient", 0.0))) for part in parts)

    def mle(self) -> dict[str, Array]:
        """Return the maximum-likelihood estimates of all parameters.

        Raises
        ------
        DataError
            If a class has no row, or no cell of some feature.
        """
        result = {"pi": self.classes.mle()["theta"]}
        for name, part in self.features.items():
            try:
                estimate = part.mle()
            except DataError as error:
                raise DataError(f"{argument(name)}: {str(error).removeprefix('data: ')}") from None
            result |= {variable + _suffix(name): value for variable, value in estimate.items()}
        return result


# --- parts and their names ------------------------------------------------------------------------


# A block may be called "y" as well: its likelihood is ``likelihood_y``.
_CLASSES = Names({"theta": "pi", "x": "y", "likelihood": "y_likelihood"}, {"category": "class"})


def _suffix(name: str) -> str:
    return f"_{name}" if name else ""


def _names(name: str, block: Block, *, cells: bool = False) -> Names:
    """Return the names of a block's variables and axes; rows are `cells` if some are missing."""
    end = _suffix(name)
    axes = [axis for axis in block.belief.coords if axis != "class"]
    renamed = {axis: axis + end for axis in (*axes, "feature", "category")}
    if cells:
        renamed["row"] = "cell" + end
    return Names({v: v + end for v in (*block.belief.dims, "x", "likelihood")}, renamed)


def _part_draws(draws: Draws, belief: Any, names: Names) -> dict[str, Any]:
    """Return the draws of one part's variables, by the names that its belief uses."""
    return {variable: checked.drawn(draws, names(variable)) for variable in belief.dims}


def known_draws(parameters: Draws, belief: Any, names: Names) -> dict[str, Array]:
    """Return one part's draws, those that are the same for all classes repeated for each."""
    lead = np.shape(checked.variable(parameters, "pi"))[:-1]
    result = {}
    for variable, axes in belief.dims.items():
        value = np.asarray(checked.variable(parameters, names(variable)))
        shape = tuple(len(belief.coords[axis]) for axis in axes)
        inner = value.shape[len(lead) :]
        if value.shape[: len(lead)] != lead or inner != shape[len(shape) - len(inner) :]:
            raise DataError(
                f"parameters: {names(variable)} must have the shape {(*lead, *shape)} of its axes "
                f"{names.axes(axes)}; got {value.shape}."
            )
        wide = value.reshape(*lead, *(1,) * (len(shape) - len(inner)), *inner)
        result[variable] = np.broadcast_to(wide, (*lead, *shape))
    return result


def check_classes(classes: Any) -> None:
    """Check the belief about classes."""
    if not isinstance(classes, DirichletCategorical) or classes.alpha.ndim != 1:
        raise PriorError(
            "classes: must be one DirichletCategorical belief, whose categories are the "
            f"classes; got {classes!r}."
        )


class ProductOfBeliefs:
    """Independent beliefs, about the probabilities of classes and about blocks of features.

    A class of this kind is a value with the fields `classes` and `blocks`.
    """

    classes: DirichletCategorical
    blocks: dict[str, Block]

    def parts(self) -> list[tuple[Any, Names]]:
        """Return the belief about the classes and those about the blocks, with their names."""
        return [
            (self.classes, _CLASSES),
            *((b.belief, _names(n, b)) for n, b in self.blocks.items()),
        ]

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of every variable."""
        return {
            names(v): names.axes(axes) for b, names in self.parts() for v, axes in b.dims.items()
        }

    @property
    def coords(self) -> Coords:
        """Return labels along every axis."""
        result: Coords = {}
        for belief, names in self.parts():
            result |= names.coords(belief.coords)
        return result

    def parameters(self) -> dict[str, Array]:
        """Return the parameters of every part by the part's variables and the symbol."""
        return {
            f"{symbol} of {', '.join(map(names, belief.dims))}": value
            for belief, names in self.parts()
            for symbol, value in belief.parameters().items()
        }

    def marginals(self) -> dict[str, Law]:
        """Return each variable's law, elementwise over its shape."""
        return {names(v): law for b, names in self.parts() for v, law in b.marginals().items()}

    mean = reading.mean
    var = reading.var
    interval = reading.interval
    summary = reading.summary
    to_datatree = datatree.to_datatree
    plot = datatree.plot

    def mode(self) -> dict[str, Array]:
        """Return the joint mode (MAP) of all parameters.

        Raises
        ------
        ModeError
            If a part has no interior mode; the message names it.
        """
        result: dict[str, Array] = {}
        for belief, names in self.parts():
            try:
                result |= {names(v): value for v, value in belief.mode().items()}
            except ModeError as error:
                variables = ", ".join(map(names, belief.dims))
                raise ModeError(f"mode of {variables}: {error}") from None
        return result

    def log_density(self, draws: Draws) -> Array:
        """Return the joint log density of all variables, one number a draw."""
        return self._added(draws, "log_density")

    def log_density_rounding(self, draws: Draws) -> Array:
        """Return a bound on the rounding error of `log_density`: the sum of the parts'."""
        return self._added(draws, "log_density_rounding")

    def _added(self, draws: Draws, verb: str) -> Array:
        sample_axes = np.ndim(checked.drawn(draws, "pi")) - 1
        total: Any = 0.0
        for belief, names in self.parts():
            each = np.asarray(getattr(belief, verb)(_part_draws(draws, belief, names)))
            total = total + each.reshape(*each.shape[:sample_axes], -1).sum(-1)
        return total

    def sample(self, draws: int, rng: np.random.Generator | int | None = None) -> dict[str, Array]:
        """Return independent draws of every variable, sample axis first."""
        draws, rng = checked.asked(draws, rng)
        return {names(v): x for b, names in self.parts() for v, x in b.sample(draws, rng).items()}

    def log_joint(self, rows: Any, parameters: Draws | None = None) -> Array:
        r"""Return :math:`\ln p(c, x)` of each new row and class.

        Parameters
        ----------
        rows : as the features of the data
            A missing cell is integrated out: its factor is dropped.
        parameters : mapping, optional
            Parameters to be taken as known, such as ``statistic.mle()``, ``belief.mean()``,
            ``belief.mode()`` or draws with sample axes in front. By default parameters are
            integrated over the belief.

        Returns
        -------
        ndarray of shape (..., n, class)
            Natural logarithms.
        """
        classified = Classified(self.classes, self.blocks, rows, new=True)
        if parameters is None:
            total = np.log(self.classes.predictive().mean())
        else:
            with np.errstate(divide="ignore"):  # a class may have probability 0
                total = np.log(known_draws(parameters, self.classes, _CLASSES)["theta"])[
                    ..., None, :
                ]
        for name, block in self.blocks.items():
            belief, x = classified.belief(name), classified.cells(name)
            if parameters is None:
                each = belief.log_predictive(x)  # new, so that it can be added to
                each += total
                total = each
                continue
            known = known_draws(parameters, belief, _names(name, block))
            try:
                total = total + belief.log_plug_in(known, x)
            except DataError as error:
                if not name:
                    raise
                raise DataError(f"{argument(name)}: {error}") from None
        return total

    def log_predictive(self, rows: Any) -> Array:
        """Return the log predictive density of each row's features, its class being unknown.

        Returns
        -------
        ndarray of shape (n,)
            Natural logarithms.
        """
        return np.asarray(logsumexp(self.log_joint(rows), axis=-1))

    declare = declare

    def _of(self, classes: DirichletCategorical, blocks: dict[str, Block]) -> Self:
        """Return a model of this class with these beliefs."""
        changed = copy(self)
        values.fill(changed, classes=classes, blocks=blocks)
        return changed


class GenerativeClassifier(ProductOfBeliefs):
    """Naive Bayes and Gaussian discriminants: every row has a class."""

    def statistic(self, data: Any) -> ClassStatistic:
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
                raise DataError(
                    f"data: a statistic of the blocks {list(data.features)}, but the model has "
                    f"{list(self.blocks)}."
                )
            for name, part in data.features.items():
                self.blocks[name].check(part.coords, self.classes)
            return data
        return self._statistic_of(self._with_data(data))

    def _statistic_of(self, parts: Iterable[tuple[Any, Names, Any]]) -> ClassStatistic:
        classes, *blocks = (belief.statistic(rows) for belief, _, rows in parts)
        return ClassStatistic(classes, dict(zip(self.blocks, blocks, strict=True)))

    def update(self, data: Any) -> Self:
        """Return the posterior: class probabilities and each block updated with its own rows."""
        s = self.statistic(data)
        blocks = {n: b.of(b.belief.update(s.features[n])) for n, b in self.blocks.items()}
        return self._of(self.classes.update(s.classes), blocks)

    def log_evidence(self, data: Any) -> Array:
        """Return the log density of classes and features with all parameters integrated out.

        It is the sum of the parts': given the classes, blocks are independent.

        Returns
        -------
        ndarray of shape ()
            Natural logarithm.
        """
        parts = self._with_data(self.statistic(data))
        each = [float(np.sum(belief.log_evidence(rows))) for belief, _, rows in parts]
        return np.asarray(sum(each))[()]

    def class_probabilities(self, rows: Any, parameters: Draws | None = None) -> Array:
        r"""Return the probability of each class for each new row.

        .. math:: p(c \mid x, D) \propto p(c \mid D) \, p(x \mid c, D)

        Parameters
        ----------
        rows : as the features of the data
            A missing cell is integrated out: its factor is dropped.
        parameters : mapping, optional
            Parameters to be taken as known, such as ``statistic.mle()``, ``belief.mean()``,
            ``belief.mode()`` or draws with sample axes in front. By default parameters are
            integrated over the belief, which is right whenever there are few rows.

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
        joint = self.log_joint(rows, parameters)
        impossible = not np.isfinite(joint.min(initial=0)) and np.isneginf(joint.max(axis=-1))
        if np.any(impossible):
            row = int(np.argwhere(impossible)[0][-1])
            raise DataError(self._why_impossible(rows, row, parameters))
        return normalise(joint)

    @renamed
    def class_probability_interval(
        self,
        rows: Any,
        ci_prob: float = 0.89,
        *,
        draws: int = 1000,
        rng: np.random.Generator | int | None = None,
    ) -> tuple[Array, Array]:
        """Return how uncertain each class probability is because parameters are.

        Parameters
        ----------
        rows : as the features of the data
            New rows.
        ci_prob : float, default 0.89
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
        ci_prob = checked.proportion(ci_prob, "ci_prob")
        classified = Classified(self.classes, self.blocks, rows, new=True)
        # A prior for all classes has parameters for each only once it is told how many there are.
        wide = {name: block.of(classified.belief(name)) for name, block in self.blocks.items()}
        known = self._of(self.classes, wide).sample(draws, rng)
        result = self.class_probabilities(rows, known)
        low, high = np.quantile(result, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
        return low, high

    def most_probable_class(self, rows: Any, parameters: Draws | None = None) -> NDArray[Any]:
        """Return the label of the class with the largest probability for each new row."""
        best = self.class_probabilities(rows, parameters).argmax(-1)
        labels = self.classes.coords["category"]
        kinds = {type(label) for label in labels}
        plain = len(kinds) == 1 and issubclass(kinds.pop(), (str, int, float, np.generic))
        values = np.empty(len(labels), dtype=object)
        values[:] = labels  # labels of several kinds, and tuples, stay what they are
        return (np.asarray(labels) if plain else values)[best]

    def _why_impossible(self, rows: Any, row: int, parameters: Draws | None) -> str:
        """Say which value of a row has probability 0 in every class."""
        classified = Classified(self.classes, self.blocks, rows, new=True)
        result = (
            "probability 0 in every class under these parameters, though no value of it alone has"
        )
        for name, block in self.blocks.items():
            if parameters is None:
                break
            belief = classified.belief(name)
            known = known_draws(parameters, belief, _names(name, block))
            value = impossible(belief, known, classified.cells(name)[row : row + 1], name)
            if value is not None:
                result = f"{value}, which has probability 0 in every class under these parameters"
                break
        return (
            f"rows: row {row} has {result}. Smooth: use mean() or leave parameters out (their "
            "default integrates over the belief), or give a prior that allows for it."
        )

    def _with_data(self, data: Any) -> Iterator[tuple[Any, Names, Any]]:
        """Yield the belief, the names and the rows (or the statistic) of each part."""
        if isinstance(data, ClassStatistic):
            every = (data.classes, *data.features.values())
            yield from ((b, names, s) for (b, names), s in zip(self.parts(), every, strict=True))
            return
        classified = Classified(self.classes, self.blocks, data)
        yield self.classes, _CLASSES, classified.target
        for name, block in self.blocks.items():
            rows, cells = classified.rows(name)
            yield block.belief, _names(name, block, cells=cells), rows

    def log_likelihood(self, draws: Draws, data: Any) -> dict[str, Array]:
        """Return log masses of the rows' classes, and log densities of features given the class.

        A block with missing cells has one entry for each present cell.
        """
        return {
            names(x): each
            for belief, names, rows in self._with_data(data)
            for x, each in belief.log_likelihood(_part_draws(draws, belief, names), rows).items()
        }

    def replicate(
        self, draws: Draws, data: Any, rng: np.random.Generator | int | None = None
    ) -> Rows:
        """Return new classes, and new features of rows with the classes that `data` have."""
        rng = checked.randomness(rng)
        return {
            names(x): each
            for belief, names, rows in self._with_data(data)
            for x, each in belief.replicate(_part_draws(draws, belief, names), rows, rng).items()
        }

    def observed(self, data: Any) -> Observed:
        """Return the classes as ``"y"`` and each block of features, with labels of their axes."""
        return {
            names(x): (array, names.coords(axes))
            for belief, names, rows in self._with_data(data)
            for x, (array, axes) in belief.observed(rows).items()
        }

    def add_to_model(self, data: Any, likelihood: Likelihood, names: Names) -> None:
        """Write prior and likelihood into the current PyMC model; see `declare`."""
        del names  # a classifier is never a part of something else
        check_declarable(data, likelihood)
        for belief, part_names, rows in self._with_data(data):
            belief.add_to_model(rows, likelihood, part_names)

    def simulated(
        self, design: Any, parameters: Draws, rng: np.random.Generator | int | None = None
    ) -> Simulated:
        """Draw classes first, then features of rows with these classes."""
        rng = checked.randomness(rng)
        codes = self.replicate(parameters, design, rng)["y"][0]
        labels = np.array(self.classes.categories, dtype=object)
        data = replace(checked.paired(design), target=labels[codes].tolist())
        first, *blocks = self._with_data(data)
        parts = [first]
        for belief, names, rows in blocks:
            (new,) = belief.replicate(_part_draws(parameters, belief, names), rows, rng).values()
            parts.append((belief, names, replaced(belief, rows, new[0])))

        def log_likelihood(draws: Draws) -> Array:
            each = [
                total(belief.log_likelihood(_part_draws(draws, belief, names), rows))
                for belief, names, rows in parts
            ]
            return np.asarray(np.sum(each, axis=0))

        def declare() -> pm.Model:
            import pymc as pm

            with pm.Model() as declared:
                for belief, names, rows in parts:
                    belief.add_to_model(rows, "rows", names)
            return declared

        return Simulated(self._statistic_of(parts), log_likelihood, declare)

    def leave_rows_out(self, data: Any, statistic: ClassStatistic) -> RowsLeftOut:
        """Return log densities of rows, each by the others: the sum of the parts'."""
        classified = Classified(self.classes, self.blocks, data)
        total, rows, lost = self.classes.leave_rows_out(classified.target, statistic.classes)
        for name, block in self.blocks.items():
            split, cells = classified.rows(name)
            part = statistic.features[name]
            logs, _, gone = leave_one_out.leave_rows_out(block.belief, split, part)
            each = [x.reshape(len(x), -1).sum(-1) for x in (logs, gone)]
            if cells:
                each = [np.bincount(classified.rows_of_cells(name), x, len(total)) for x in each]
            total, lost = total + each[0], lost | (each[1] > 0)
        return RowsLeftOut(total, rows, lost)

    given_statistic = given_statistic.of_parts

    def digits_lost(self, statistic: ClassStatistic) -> float:
        """Return about how many digits are lost in the block that loses most."""
        blocks = self.blocks.items()
        return max(block.belief.digits_lost(statistic.features[name]) for name, block in blocks)
