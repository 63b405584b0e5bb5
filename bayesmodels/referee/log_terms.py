"""The terms of a joint log density, one by one, with bounds on their rounding errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesmodels.numerics import Array
from bayesmodels.referee.identity import UNDERFLOW

if TYPE_CHECKING:
    import pymc as pm

    from bayesmodels.posteriors.model_density import ModelDensity

Point = dict[str, Any]

_EPS = float(np.finfo(float).eps)
_OUT_OF_RANGE = (ValueError, AssertionError, IndexError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Logs:
    """Log densities at some points, with bounds on their rounding errors."""

    value: Array
    bound: Array

    def __add__(self, other: Logs) -> Logs:
        value = self.value + other.value
        finite = np.isfinite(value)
        bound = self.bound + other.bound + _EPS * np.abs(np.where(finite, value, 0))
        return Logs(value, np.where(finite, bound, 0))

    def followed_by(self, other: Logs) -> Logs:
        """Return the same, and those at other points."""
        return Logs(np.append(self.value, other.value), np.append(self.bound, other.bound))

    def twice(self) -> Logs:
        """Return the same with a bound for two sides that do the same computation."""
        return Logs(self.value, 2 * self.bound)


def total(parts: Iterable[Logs], number: int) -> Logs:
    """Return the sum of log densities at so many points."""
    nothing = np.zeros(number)
    return sum(parts, Logs(nothing, nothing))


def in_words(point: Point) -> str:
    """Return a point as its variables' values."""
    return ", ".join(
        f"{name} = {np.array2string(np.asarray(x), precision=6, threshold=6)}"
        for name, x in point.items()
    )


def same_support(one: Logs, other: Logs) -> NDArray[np.bool_]:
    """Return where both are possible or both are not; what underflows may be impossible in one."""
    low, high = np.minimum(one.value, other.value), np.maximum(one.value, other.value)
    finite = np.isfinite(low) & np.isfinite(high)
    return np.asarray(finite | (low == high) | ((low == -np.inf) & (high < UNDERFLOW)))


def equal(one: Logs, other: Logs) -> bool:
    """Say whether all are equal up to rounding."""
    finite = np.isfinite(one.value) & np.isfinite(other.value)
    with np.errstate(invalid="ignore"):
        near = np.abs(one.value - other.value) <= one.bound + other.bound
    return bool(np.where(finite, near, same_support(one, other)).all())


class Declared:
    """Log terms of a PyMC model over its free variables, by their names."""

    def __init__(self, model: pm.Model, inputs: Sequence[Any], terms: Mapping[str, Any]) -> None:
        from bayesmodels.posteriors.model_density import ModelDensity

        self._inputs, self.terms = list(inputs), dict(terms)
        self._model = model
        self._density = cache(lambda n: ModelDensity(model, (self._inputs, {n: terms[n]})))

    @cached_property
    def _joint(self) -> ModelDensity:
        from bayesmodels.posteriors.model_density import ModelDensity

        return ModelDensity(self._model, (self._inputs, self.terms))

    @classmethod
    def of(cls, model: pm.Model) -> Self:
        """Return those of a model's variables and potentials."""
        from bayesmodels.posteriors.density import named_terms

        return cls(model, *named_terms(model))

    def __call__(self, at: list[Point], names: Iterable[str]) -> Logs:
        """Return the sum of the named terms at points."""
        result = (np.array([self._value(name, point) for point in at]) for name in names)
        return total((Logs(*values.T) for values in result), len(at))

    def joint(self, at: list[Point]) -> Logs:
        """Return the sum of all terms at points."""
        try:
            result = self._joint.values(
                {v.name: np.array([p[v.name] for p in at]) for v in self._inputs}
            )
        except _OUT_OF_RANGE:
            if len(at) > 1:
                half = len(at) // 2
                return self.joint(at[:half]).followed_by(self.joint(at[half:]))
            return Logs(np.array([-np.inf]), np.zeros(1))
        return Logs(*result)

    def _value(self, name: str, point: Point) -> tuple[float, float]:
        try:
            return self._density(name).value(point)
        except _OUT_OF_RANGE:  # of a parameter: impossible, as where PyMC samples
            return -np.inf, 0.0

    def needs(self, name: str) -> set[str]:
        """Return the free variables whose values a term depends on."""
        from pytensor.graph.traversal import ancestors

        return {str(v.name) for v in {*ancestors([self.terms[name]])} & {*self._inputs}}
