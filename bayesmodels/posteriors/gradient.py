"""The slope of a PyMC model's joint log density, element by element, at any point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.budget import UNLIMITED, Budget
from bayesmodels.posteriors.edges import edges
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.posteriors.support.interval import INTERVAL
from bayesmodels.posteriors.support.kind import Kind, Support, split

Point = dict[str, NDArray[Any]]
"""Values by variable."""
Levels = NDArray[np.intp]
"""Values of finite elements, each counted from zero."""
_NONE: Levels = np.zeros(0, dtype=int)


def joint_field(model: pm.Model, supports: Sequence[Support], budget: Budget = UNLIMITED) -> Field:
    """Return the field over all free variables of a model, where the density is not zero."""
    continuous = [s for s in supports if not s.finite]
    density = ModelDensity(model, by=[s.name for s in continuous], budget=budget)
    for reason in density.reasons.values():
        raise NotConjugate(reason)
    ends = edges(density)
    continuous = [
        replace(s, kind=INTERVAL, interval=ends[s.name]) if s.name in ends else s
        for s in continuous
    ]
    return Field(density, continuous, [s for s in supports if s.finite], {})


class Field:
    """Joint log density and its slopes, over all elements of some variables in one row.

    Elements are numbered in the order of the variables, each variable row by row; all other
    variables are held at `rest`. For each continuous element there are `owner`, the number of its
    variable, and `low` and `high`, its ends; for each continuous variable `start`, the number of
    its first element. Of finite elements `finite_owner` has the
    numbers of their variables.
    """

    def __init__(
        self,
        density: ModelDensity,
        continuous: Sequence[Support],
        finite: Sequence[Support],
        rest: Mapping[str, NDArray[Any]],
    ) -> None:
        self.density, self.budget = density, density.budget
        self.points, self.terms = density.points, density.terms
        self.continuous, self.finite = list(continuous), list(finite)
        names = set(self.names)
        self.fixed = {name: np.asarray(value) for name, value in rest.items() if name not in names}
        sizes = [s.size for s in self.continuous]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.low, self.high = (
            np.repeat(np.array([s.ends[i] for s in self.continuous], dtype=float), sizes)
            for i in (0, 1)
        )
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        sizes = [s.size for s in self.finite]
        self.finite_owner = np.repeat(np.arange(len(sizes)), sizes)

    @property
    def names(self) -> list[str]:
        """The variables."""
        return [s.name for s in (*self.continuous, *self.finite)]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of levels of each finite element."""
        return np.array([s.levels for s in self.finite], dtype=int)[self.finite_owner]

    @property
    def size(self) -> int:
        """Number of continuous elements."""
        return len(self.owner)

    def kind(self, element: int) -> Kind:
        """Return the kind of support of an element."""
        return self.continuous[self.owner[element]].kind

    def of(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Return which elements have a support of some kinds."""
        return np.array([s.kind in kinds for s in self.continuous], dtype=bool)[self.owner]

    @cached_property
    def single(self) -> NDArray[np.bool_]:
        """Which elements can be moved one by one."""
        return np.array([not s.kind.core for s in self.continuous], dtype=bool)[self.owner]

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Which of these lie on a line without ends."""
        return self.single & np.isneginf(self.low) & np.isposinf(self.high)

    @cached_property
    def parts(self) -> list[tuple[Kind, NDArray[np.intp]]]:
        """Kinds with their elements: those that move together on the last axes."""
        result = []
        for kind in dict.fromkeys(s.kind for s in self.continuous):
            if not kind.core:
                result.append((kind, np.flatnonzero(self.of(kind))))
                continue
            for s, at in zip(self.continuous, self.start, strict=False):
                if s.kind is kind:
                    places = np.arange(at, at + s.size)
                    result.append((kind, places.reshape(-1, *s.shape[-kind.core :])))
        return result

    @property
    def nodes(self) -> list[NDArray[np.intp]]:
        """The elements of each row or matrix that moves as a whole."""
        parts = [own.reshape(len(own), -1) for kind, own in self.parts if kind.core]
        return [node for rows in parts for node in rows]

    def ask(self, evaluations: int, what: str) -> None:
        """Refuse so many evaluations if they are too many."""
        self.budget.ask(evaluations, self.density.cost, what)

    def variables(self, x: Array, levels: Levels = _NONE) -> Point:
        """Return all variables in their own shapes; `levels` count from zero."""
        finite = split(levels, {s.name: s.shape for s in self.finite})
        counted = {s.name: finite[s.name] + s.lowest for s in self.finite}
        return self._split(x) | counted | self.fixed

    def _split(self, x: Array) -> Point:
        return split(x, {s.name: s.shape for s in self.continuous})

    def direction(self, x: Array) -> Point:
        """Return a direction along continuous elements, by variable; the rest stays."""
        still = {name: np.zeros(np.shape(value)) for name, value in self.fixed.items()}
        return still | self._split(x)

    def row(self, point: Mapping[str, NDArray[Any]]) -> Array:
        """Return the continuous elements of a point in one row."""
        flat = [np.ravel(point[s.name]) for s in self.continuous]
        return np.concatenate(flat).astype(float) if flat else np.zeros(0)

    def __call__(self, x: Array, levels: Levels = _NONE) -> tuple[float, Array]:
        """Return the joint log density and its slope by every continuous element."""
        total, slopes = self.density.slopes(self.variables(x, levels))
        return total, self.row(slopes)

    def dependence(self, x: Array, levels: Levels) -> Dependence:
        """Return the dependence of terms on elements: continuous ones first, then finite ones.

        `x` and `levels` are any possible values.
        """
        return self.density.dependence(self.variables(x, levels), self.names)

    def at(self, x: Array, levels: Levels) -> list[NDArray[Any]]:
        """Return values of the inputs of the graph."""
        return self.density.at(self.variables(x, levels))

    def with_levels(self, levels: Levels) -> Field:
        """Return the field over the continuous elements alone, the finite ones held at `levels`."""
        return Field(self.density, self.continuous, [], self.variables(np.zeros(self.size), levels))

    def held(self, point: Mapping[str, NDArray[Any]]) -> Field:
        """Return the same variables with the others held at another point."""
        return Field(self.density, self.continuous, self.finite, point)

    def label(self, element: int) -> str:
        """Return the name of an element, such as ``w[2]``."""
        s = self.continuous[self.owner[element]]
        at = np.unravel_index(element - self.start[self.owner[element]], s.shape) if s.shape else ()
        return f"{s.name}[{', '.join(map(str, at))}]" if s.shape else s.name
