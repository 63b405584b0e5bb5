"""The joint log density of a PyMC model in natural space, made once: terms, slopes, rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.configdefaults import config
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors

from bayesmodels.errors import NotConjugate
from bayesmodels.numerics import Array
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.budget import UNLIMITED, Budget
from bayesmodels.posteriors.density import (
    EPS,
    Program,
    add,
    folded,
    frozen,
    in_halves,
    named_terms,
    no_gradient,
    plain,
    simplexes,
)
from bayesmodels.posteriors.factor_graph import Dependence
from bayesmodels.posteriors.operations import is_float
from bayesmodels.posteriors.rounding import (
    NO_GRADIENT,
    derivatives,
    error_terms,
    gradient,
    without_gradient,
)

_BATCH = 2**20  # numbers of the widest term, of many points in one call
_EACH, _AT_ONCE = 100, 10  # what is around an operation costs; elements of an array that cost one


@dataclass(frozen=True)
class Evaluation:
    """The joint log density at one point, its slope along a direction, and bounds on both errors.

    The value is the sum of all log terms, correctly rounded.
    """

    value: float
    rounding: float
    slope: float
    slope_rounding: float


class ModelDensity:
    """The joint log density of a PyMC model over its free variables, untransformed.

    Parameters
    ----------
    model : pymc.Model
        The model; its data and dims are frozen in the attribute `model`.
    natural : tuple, optional
        What `named_terms` gives for it, if it is at hand.
    by : sequence of str
        Continuous variables that slopes are wanted by. Those without a derivative are left out of
        `names`, and `reasons` says why.
    budget : Budget
        What slopes may cost.

    Attributes
    ----------
    points : list
        Inputs of the graph, one a free variable.
    named, terms : dict, list
        Log terms by variable or potential; and with those that are alike in one.
    simplex : frozenset of str
        Variables whose last axis adds up to one, so that only some directions are possible.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    >>> round(ModelDensity(model)({"x": 0.0}, {"x": 1.0}).value, 6)
    -0.918939
    """

    def __init__(
        self,
        model: pm.Model,
        natural: tuple[list[Any], dict[str, Any]] | None = None,
        by: Sequence[str] = (),
        budget: Budget = UNLIMITED,
    ) -> None:
        self.model, self.budget, self.simplex = frozen(model), budget, simplexes(model)
        self.reasons: dict[str, str] = {}
        with config.change_flags(floatX="float64", traceback__limit=0):
            self.points, self.named = named_terms(model) if natural is None else natural
            self.terms = stacked(list(self.named.values()))
            sums = [term.sum() for term in self.terms]
            for each in sums:  # that `value` works out without rounding
                each.tag.correctly_rounded = True
            self._total = add(sums)
            try:
                self._slopes = self._derivatives(by)
            except NO_GRADIENT:
                for result in without_gradient(self.points, self.terms):
                    above: set[Any] = set(ancestors([result])) & set(self.points)
                    why = no_gradient(self.points, result)
                    self.reasons |= {point.name: why for point in above}
                self._slopes = self._derivatives([n for n in by if n not in self.reasons])
        self.names = list(self._slopes)

    def _derivatives(self, names: Sequence[str]) -> dict[str, Any]:
        by_name = {point.name: point for point in self.points}
        result = derivatives(self._total, [by_name[name] for name in names])
        return dict(zip(names, result, strict=True))

    @cached_property
    def _in_total(self) -> list[Any]:
        """The error terms of the value."""
        with config.change_flags(floatX="float64", traceback__limit=0):
            return error_terms(self._total)

    @cached_property
    def _program(self) -> Program:
        """Value and slopes, and error terms of the value with its terms."""
        slopes, bound = [self._total, *self._slopes.values()], [*self._in_total, *self.terms]
        with config.change_flags(floatX="float64", traceback__limit=0):
            fixed = folded([*slopes, *bound], self.points)
        size = len(slopes)
        return Program(self.points, {"slopes": fixed[:size], "value": fixed[size:]})

    @cached_property
    def _slope(self) -> tuple[list[str], Any]:
        """The names of the continuous variables; and what `value` needs, slope, its error terms."""
        smooth = [point for point in self.points if is_float(point)]
        with config.change_flags(floatX="float64", traceback__limit=0):
            along = [point.type(f"along_{point.name}") for point in smooth]
            gradients = gradient(self._total, smooth, smooth)
            pairs = zip(gradients, along, strict=True)
            parts = [(g * a).sum() for g, a in pairs if g is not None]
            slope = add(parts or [pt.constant(0.0)])
            of_value, of_slope = [*self._in_total, *self.terms], [slope, *error_terms(slope)]
        run = Program([*self.points, *along], {"": [*of_value, *of_slope]})
        return [point.name for point in smooth], run

    def at(self, point: Mapping[str, Any]) -> list[NDArray[Any]]:
        """Return a point's values in the order of the inputs."""
        return [np.asarray(point[p.name], dtype=p.dtype) for p in self.points]

    def value(self, point: Mapping[str, Any]) -> tuple[float, float]:
        """Return the joint log density at `point` and a bound on its error."""
        with np.errstate(all="ignore"):  # an infinite term is an answer: the caller looks at it
            return self._added(self._program("value", self.at(point)))

    def slopes(self, point: Mapping[str, Any]) -> tuple[float, dict[str, Array]]:
        """Return the joint log density and its slopes by `names`, if PyMC's checks let it."""
        inputs = self.at(point)
        try:
            self.budget.check()
            total, *slopes = self._program("slopes", inputs)
        # Of a parameter that fails PyMC's check, an assertion; of a matrix that is not definite; of
        # a place that an array does not have.
        except (ValueError, AssertionError, IndexError, np.linalg.LinAlgError) as error:
            said = str(error).splitlines()[0]
            names = ", ".join(p.name for p in self.points)
            raise NotConjugate(
                f"a parameter of a distribution is out of its range ({said}) at some possible "
                f"values of {names}: a hard constraint, or a prior whose support PyMC does not "
                "tell."
            ) from error
        return float(total), dict(zip(self.names, slopes, strict=True))

    @cached_property
    def _values(self) -> Program:
        """The same as `_value`, of many points."""
        with config.change_flags(floatX="float64", traceback__limit=0):
            rows = [p.type.clone(shape=(None, *p.type.shape))(p.name) for p in self.points]
            same: Any = dict(zip(self.points, rows, strict=True))
            outputs = vectorize_graph(plain([*self._in_total, *self.terms]), same)
            return Program(rows, {"": outputs})

    def values(self, points: Mapping[str, Any]) -> tuple[Array, Array]:
        """Return `value` at many points, along a first axis of each variable; -inf without one."""
        number = len(next(iter(points.values())))
        widest = max(math.prod(n or 1 for n in term.type.shape) for term in self.terms)
        most = max(1, _BATCH // widest)
        parts = [
            self._some({name: x[at : at + most] for name, x in points.items()})
            for at in range(0, number, most)
        ]
        return np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts])

    def _some(self, points: dict[str, Any]) -> tuple[Array, Array]:
        at, every = self.at(points), slice(0, len(next(iter(points.values()))))
        ndims = [0] * len(self._in_total) + [term.type.ndim for term in self.terms]
        each: list[tuple[float, float]] = []
        parts = in_halves(
            lambda rows: self._values("", [x[rows] for x in at]), every, (np.linalg.LinAlgError,)
        )
        for number, result in parts:
            rows = [
                np.broadcast_to(x, (number, *x.shape[x.ndim - ndim :]))
                for x, ndim in zip(result or (), ndims, strict=result is not None)
            ]
            each += [self._added(row) for row in zip(*rows, strict=True)] or [(-np.inf, 0.0)]
        return np.array([value for value, _ in each]), np.array([bound for _, bound in each])

    def _added(self, outputs: Sequence[Any]) -> tuple[float, float]:
        """Return the value and its bound, from the value's error terms and the terms."""
        size = len(self._in_total)
        terms = [t for part in outputs[size:] for t in np.ravel(part).tolist()]
        finite = all(map(math.isfinite, terms))
        rounding = 2 * EPS * float(sum(outputs[:size]))
        return (math.fsum(terms) if finite else -math.inf), rounding

    def __call__(self, point: Mapping[str, Any], along: Mapping[str, Any]) -> Evaluation:
        """Evaluate at `point`, with the derivative along the direction `along`."""
        smooth, run = self._slope
        size = len(self._in_total) + len(self.terms)
        direction = [np.asarray(along[name], dtype=float) for name in smooth]
        with np.errstate(all="ignore"):  # as above
            result = run("", [*self.at(point), *direction])
        (value, rounding), (slope, *in_slope) = self._added(result[:size]), result[size:]
        return Evaluation(value, rounding, float(slope), 2 * EPS * float(sum(in_slope)))

    @cached_property
    def cost(self) -> int:
        """About what an evaluation costs, in numbers that are worked out one after the other."""
        shapes = [getattr(v.type, "shape", ()) for v in ancestors(self.terms)]
        return sum(_EACH + math.prod(n or 1 for n in shape) // _AT_ONCE for shape in shapes)

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
        columns = self.columns(point)
        rows = [columns[name] for name in (columns if names is None else names)]
        chosen = np.concatenate(rows) if rows else np.zeros(0, dtype=int)
        return Dependence(self.points, self.terms, self.at(point), chosen)
