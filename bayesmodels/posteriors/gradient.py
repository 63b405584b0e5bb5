"""The slope of a PyMC model's joint log density, element by element, at any point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pytensor.compile.maker import function
from pytensor.configdefaults import config

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.budget import UNLIMITED, Budget
from bayesmodels.posteriors.density import PYTHON_MODE, add, folded, natural_terms, no_gradient
from bayesmodels.posteriors.factor_graph import meetings
from bayesmodels.posteriors.rounding import NO_GRADIENT, derivatives, without_gradient
from bayesmodels.posteriors.support import Support


class Field:
    """Joint log density and its slopes, over all elements of the free variables in one row.

    Elements of continuous variables are numbered in the order of `continuous`, those of finite
    variables in the order of `finite`, each variable row by row.

    Parameters
    ----------
    model : pymc.Model
        The model.
    supports : sequence of Support
        Of its free variables.
    budget : Budget, optional
        For evaluations.

    Attributes
    ----------
    continuous, finite : list of Support
        The variables by kind.
    owner : ndarray of int
        For each continuous element the number of its variable.
    kind : ndarray of str
        For each continuous element the kind of its support.
    points, terms : list
        Inputs and log terms of the graph.
    """

    def __init__(
        self, model: pm.Model, supports: Sequence[Support], budget: Budget = UNLIMITED
    ) -> None:
        self.budget = budget
        self.continuous = [s for s in supports if s.kind != "finite"]
        self.finite = [s for s in supports if s.kind == "finite"]
        sizes = [s.size for s in self.continuous]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.kind = np.repeat(np.array([s.kind for s in self.continuous], dtype="U8"), sizes)
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        with config.change_flags(floatX="float64", traceback__limit=0):
            self.points, self.terms = natural_terms(model)
            by_name = {point.name: point for point in self.points}
            smooth = [by_name[s.name] for s in self.continuous]
            total = add([term.sum() for term in self.terms])
            try:
                slopes = derivatives(total, smooth)
            except NO_GRADIENT as error:
                (result, *_) = without_gradient(self.points, self.terms)
                raise NotConjugate(no_gradient(self.points, result)) from error
            self._function = function(
                [*smooth, *(by_name[s.name] for s in self.finite)],
                folded([total, *slopes], self.points),
                mode=PYTHON_MODE,
                on_unused_input="ignore",
            )
        self._types = [by_name[s.name].dtype for s in (*self.continuous, *self.finite)]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of levels of each finite element."""
        return np.repeat([s.levels for s in self.finite], [s.size for s in self.finite]).astype(int)

    @property
    def size(self) -> int:
        """Number of continuous elements."""
        return len(self.owner)

    def variables(self, x: Array, levels: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Return elements as variables of their own shapes; `levels` count from zero."""
        result: dict[str, NDArray[Any]] = {}
        for number, s in enumerate(self.continuous):
            part = x[..., self.start[number] : self.start[number + 1]]
            result[s.name] = part.reshape((*x.shape[:-1], *s.shape))
        at = 0
        for s in self.finite:
            counted = levels[..., at : at + s.size] + s.lowest
            result[s.name] = counted.reshape((*levels.shape[:-1], *s.shape))
            at += s.size
        return result

    def __call__(self, x: Array, levels: NDArray[np.intp]) -> tuple[float, Array]:
        """Return the joint log density and its slope by every continuous element.

        Raises
        ------
        NotConjugate
            If PyMC finds a parameter of a distribution out of its range at this point.
        """
        values = self.variables(x, levels)
        inputs = [
            np.asarray(values[s.name], dtype=kind)
            for s, kind in zip((*self.continuous, *self.finite), self._types, strict=True)
        ]
        try:
            # The caller looks at what is not finite.
            with self.budget.evaluation(), np.errstate(all="ignore"):
                total, *slopes = self._function(*inputs)
        except (ValueError, AssertionError, np.linalg.LinAlgError) as error:
            names = ", ".join(s.name for s in (*self.continuous, *self.finite))
            raise NotConjugate(
                f"a parameter of a distribution is out of its range ({str(error).splitlines()[0]}) "
                f"at some possible values of {names}: a hard constraint, or a prior whose support "
                "PyMC does not tell."
            ) from error
        flat = [np.ravel(slope) for slope in slopes]
        return float(total), np.concatenate(flat).astype(float) if flat else np.zeros(0)

    def meetings(self, x: Array, levels: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which elements meet in a factor of the joint density, one factor a row.

        Continuous elements come first, then finite ones; `x` and `levels` are any possible values.
        """
        values = self.variables(x, levels)
        found = meetings(self.points, self.terms, [values[p.name] for p in self.points])
        starts = np.cumsum([0, *(np.size(values[p.name]) for p in self.points)])
        own = {p.name: np.arange(*starts[i : i + 2]) for i, p in enumerate(self.points)}
        order = [own[s.name] for s in (*self.continuous, *self.finite)]
        return found[:, np.concatenate(order)]

    def with_levels(self, levels: NDArray[np.intp]) -> Field:
        """Return the field over the continuous elements alone, the finite ones held at `levels`."""
        return _Held(self, levels)

    def label(self, element: int) -> str:
        """Return the name of an element, such as ``w[2]``."""
        s = self.continuous[self.owner[element]]
        at = np.unravel_index(element - self.start[self.owner[element]], s.shape) if s.shape else ()
        return f"{s.name}[{', '.join(map(str, at))}]" if s.shape else s.name


class _Held(Field):
    """A `Field` with its finite elements held."""

    def __init__(self, field: Field, levels: NDArray[np.intp]) -> None:
        vars(self).update(vars(field))
        self.finite = []
        self._whole, self._levels = field, levels

    def variables(self, x: Array, levels: NDArray[np.intp]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return all variables."""
        return self._whole.variables(x, self._levels)

    def __call__(self, x: Array, levels: NDArray[np.intp]) -> tuple[float, Array]:  # noqa: ARG002
        """Return the joint log density and its slope by every continuous element."""
        return self._whole(x, self._levels)
