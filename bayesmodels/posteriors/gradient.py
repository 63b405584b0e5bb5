"""The slope of a PyMC model's joint log density, element by element, at any point."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pytensor.configdefaults import config
from pytensor.graph.traversal import ancestors

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.alike import together
from bayesmodels.posteriors.budget import UNLIMITED, Budget
from bayesmodels.posteriors.density import add, compiled, folded, natural_terms, no_gradient
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.rounding import NO_GRADIENT, derivatives, without_gradient
from bayesmodels.posteriors.support.kind import Kind, Support

Point = dict[str, NDArray[Any]]
"""Values by variable."""
Levels = NDArray[np.intp]
"""Values of finite elements, each counted from zero."""
_EACH, _AT_ONCE = 100, 10  # what is around an operation costs; elements of an array that cost one
_NONE: Levels = np.zeros(0, dtype=int)


@dataclass(frozen=True, eq=False)
class Slopes:
    """A model's joint log density, and its slopes by the variables `names`.

    Inputs and log terms of the graph are `points` and `terms`; `out_of_range` makes the reason of a
    refusal of what PyMC says of a parameter that is out of its range.
    """

    points: list[Any]
    terms: list[Any]
    names: list[str]
    run: Callable[..., list[Any]]
    out_of_range: Callable[[str], str]
    budget: Budget

    def __call__(self, point: Mapping[str, NDArray[Any]]) -> tuple[float, dict[str, Array]]:
        """Return the joint log density and its slopes by name, if PyMC's checks let it."""
        inputs = self.at(point)
        try:
            # The caller looks at what is not finite.
            self.budget.check()
            with np.errstate(all="ignore"):
                total, *slopes = self.run(*inputs)
        # Of a parameter that fails PyMC's check, an assertion; of a matrix that is not definite; of
        # a place that an array does not have.
        except (ValueError, AssertionError, IndexError, np.linalg.LinAlgError) as error:
            raise NotConjugate(self.out_of_range(str(error).splitlines()[0])) from error
        return float(total), dict(zip(self.names, slopes, strict=True))

    @cached_property
    def cost(self) -> int:
        """About what an evaluation costs, in numbers that are worked out one after the other."""
        shapes = [getattr(v.type, "shape", ()) for v in ancestors(self.terms)]
        return sum(_EACH + math.prod(n or 1 for n in shape) // _AT_ONCE for shape in shapes)

    def at(self, point: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return a point's values in the order of the inputs."""
        return [np.asarray(point[p.name], dtype=p.dtype) for p in self.points]

    def columns(self, point: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.intp]]:
        """Return which elements, of all in one row, are those of each variable."""
        starts = np.cumsum([0, *(x.size for x in self.at(point))])
        return {p.name: np.arange(*starts[i : i + 2]) for i, p in enumerate(self.points)}

    def dependence(
        self, point: Mapping[str, NDArray[Any]], names: Sequence[str] | None = None
    ) -> Dependence:
        """Return what the terms depend on: which of the elements of some variables, or of all.

        The point is any possible one.
        """
        own = self.columns(point)
        rows = [own[name] for name in (own if names is None else names)]
        chosen = np.concatenate(rows) if rows else np.zeros(0, dtype=int)
        return Dependence(self.points, self.terms, self.at(point), chosen)


def whole_field(model: pm.Model, supports: Sequence[Support], budget: Budget = UNLIMITED) -> Field:
    """Return the field over all free variables of a model."""
    continuous = [s for s in supports if not s.finite]
    finite = [s for s in supports if s.finite]
    with config.change_flags(floatX="float64", traceback__limit=0):
        points, terms = natural_terms(model)
        terms = together(terms)
        by_name = {point.name: point for point in points}
        total = add([term.sum() for term in terms])
        try:
            slopes = derivatives(total, [by_name[s.name] for s in continuous])
        except NO_GRADIENT as error:
            (result, *_) = without_gradient(points, terms)
            raise NotConjugate(no_gradient(points, result)) from error
        run = compiled(points, folded([total, *slopes], points))
    names = ", ".join(s.name for s in (*continuous, *finite))

    def out_of_range(said: str) -> str:
        return (
            f"a parameter of a distribution is out of its range ({said}) at some possible values "
            f"of {names}: a hard constraint, or a prior whose support PyMC does not tell."
        )

    known = Slopes(points, terms, [s.name for s in continuous], run, out_of_range, budget)
    return Field(known, continuous, finite, {})


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
        slopes: Slopes,
        continuous: Sequence[Support],
        finite: Sequence[Support],
        rest: Mapping[str, NDArray[Any]],
    ) -> None:
        self._slopes, self.budget = slopes, slopes.budget
        self.points, self.terms = slopes.points, slopes.terms
        self.continuous, self.finite = list(continuous), list(finite)
        own = set(self.names)
        self.rest = {name: np.asarray(value) for name, value in rest.items() if name not in own}
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
                    own = np.arange(at, at + s.size)
                    result.append((kind, own.reshape(-1, *s.shape[-kind.core :])))
        return result

    @property
    def nodes(self) -> list[NDArray[np.intp]]:
        """The elements of each row or matrix that moves as a whole."""
        parts = [own.reshape(len(own), -1) for kind, own in self.parts if kind.core]
        return [node for rows in parts for node in rows]

    def ask(self, evaluations: int, what: str) -> None:
        """Refuse so many evaluations if they are too many."""
        self.budget.ask(evaluations, self._slopes.cost, what)

    def variables(self, x: Array, levels: Levels = _NONE) -> Point:
        """Return all variables in their own shapes; `levels` count from zero."""
        result = self._split(x)
        at = 0
        for s in self.finite:
            counted = levels[..., at : at + s.size] + s.lowest
            result[s.name] = counted.reshape((*levels.shape[:-1], *s.shape))
            at += s.size
        return result | self.rest

    def _split(self, x: Array) -> Point:
        return {
            s.name: x[..., start : start + s.size].reshape((*x.shape[:-1], *s.shape))
            for s, start in zip(self.continuous, self.start, strict=False)
        }

    def direction(self, x: Array) -> Point:
        """Return a direction along continuous elements, by variable; the rest stays."""
        still = {name: np.zeros(np.shape(value)) for name, value in self.rest.items()}
        return still | self._split(x)

    def row(self, point: Mapping[str, NDArray[Any]]) -> Array:
        """Return the continuous elements of a point in one row."""
        flat = [np.ravel(point[s.name]) for s in self.continuous]
        return np.concatenate(flat).astype(float) if flat else np.zeros(0)

    def __call__(self, x: Array, levels: Levels = _NONE) -> tuple[float, Array]:
        """Return the joint log density and its slope by every continuous element."""
        total, slopes = self._slopes(self.variables(x, levels))
        return total, self.row(slopes)

    def dependence(self, x: Array, levels: Levels) -> Dependence:
        """Return what depends on which elements: continuous ones come first, then finite ones.

        `x` and `levels` are any possible values.
        """
        return self._slopes.dependence(self.variables(x, levels), self.names)

    def at(self, x: Array, levels: Levels) -> list[NDArray[Any]]:
        """Return values of the inputs of the graph."""
        return self._slopes.at(self.variables(x, levels))

    def with_levels(self, levels: Levels) -> Field:
        """Return the field over the continuous elements alone, the finite ones held at `levels`."""
        return Field(self._slopes, self.continuous, [], self.variables(np.zeros(self.size), levels))

    def held(self, point: Mapping[str, NDArray[Any]]) -> Field:
        """Return the same variables with the others held at another point."""
        return Field(self._slopes, self.continuous, self.finite, point)

    def label(self, element: int) -> str:
        """Return the name of an element, such as ``w[2]``."""
        s = self.continuous[self.owner[element]]
        at = np.unravel_index(element - self.start[self.owner[element]], s.shape) if s.shape else ()
        return f"{s.name}[{', '.join(map(str, at))}]" if s.shape else s.name
