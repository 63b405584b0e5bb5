"""The slope of a joint log density by some variables, with all others held at given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.configdefaults import config
from pytensor.graph.traversal import ancestors

from bayesmodels.conjugacy.density import (
    PYTHON_MODE,
    Evaluation,
    JointDensity,
    add,
    natural_terms,
    no_gradient,
)
from bayesmodels.conjugacy.field import Field
from bayesmodels.conjugacy.rounding import NO_GRADIENT, derivatives, without_gradient
from bayesmodels.conjugacy.support import Support, known_supports
from bayesmodels.errors import NotConjugate

Array = NDArray[np.float64]
Point = dict[str, NDArray[Any]]

_FAST: Any = Mode(linker="py", optimizer="fast_compile")
LIGHT_MODE = _FAST.excluding("local_add_canonizer")
"""In Python, without what is slow there; sums of more than 32 parts are left as they are."""
_TRIES, _LEAST = 100, 0.01
CONTINUOUS = ("unit", "simplex", "positive", "real")
"""Kinds of support that a conjugate block may have."""


class Slopes:
    """A model's joint log density, and its slopes by all variables that may be in a block.

    Parameters
    ----------
    model : pymc.Model
        Any model; of variables with a support of no known kind there are no slopes.

    Attributes
    ----------
    supports : dict of Support
        Of the variables that may be in a block.
    reasons : dict of str
        Why variables may not that the density has no slopes by.
    points, terms : list
        Inputs and log terms of the graph.
    joint : JointDensity
        The joint density with its rounding bound.
    """

    def __init__(self, model: pm.Model) -> None:
        known = known_supports(model)
        self.supports = {n: s for n, s in known.items() if s.kind in CONTINUOUS and s.size}
        self._finite = {n: s for n, s in known.items() if s.kind == "finite"}
        self.points, self.terms = natural_terms(model)
        self.joint = JointDensity(model, (self.points, self.terms))
        self.reasons: dict[str, str] = {}
        with config.change_flags(floatX="float64", traceback__limit=0):
            total = add([term.sum() for term in self.terms])
            try:
                slopes = self._gradient(total)
            except NO_GRADIENT:  # what goes through such an operation remains
                for result in without_gradient(self.points, self.terms):
                    above: set[Any] = set(ancestors([result])) & set(self.points)
                    for point in above:
                        self.reasons[point.name] = no_gradient(self.points, result)
                        self.supports.pop(point.name, None)
                slopes = self._gradient(total)
            self._function = function(
                self.points, [total, *slopes], mode=LIGHT_MODE, on_unused_input="ignore"
            )
        self._natural = _natural(model)
        self._model = model

    def _gradient(self, total: Any) -> list[Any]:
        by_name = {point.name: point for point in self.points}
        smooth = [by_name[name] for name in self.supports]
        return derivatives(total, smooth)

    def __call__(self, point: Mapping[str, NDArray[Any]]) -> tuple[float, dict[str, Array]]:
        """Return the joint log density and its slopes by name."""
        inputs = [np.asarray(point[p.name], dtype=p.dtype) for p in self.points]
        try:
            with np.errstate(all="ignore"):  # the caller looks at what is not finite
                total, *slopes = self._function(*inputs)
        except (ValueError, AssertionError, np.linalg.LinAlgError) as error:
            raise NotConjugate(
                "a parameter of a distribution is out of its range at some possible values of the "
                f"other variables ({str(error).splitlines()[0]}): a hard constraint."
            ) from error
        return float(total), dict(zip(self.supports, slopes, strict=True))

    def somewhere(self, rng: np.random.Generator) -> Point:
        """Return a point with a finite density, near where PyMC's samplers start.

        Raises
        ------
        NotConjugate
            If none was found.
        """
        start = self._model.initial_point(random_seed=int(rng.integers(2**31)))
        for reach in np.linspace(1, _LEAST, _TRIES):  # the later the nearer
            moved = {
                name: value + reach * rng.uniform(-1, 1, np.shape(value))
                if np.asarray(value).dtype.kind == "f"
                else self._next(name, value, rng.random(np.shape(value)) < reach / 2)
                for name, value in start.items()
            }
            point = self._natural(moved)
            try:
                found, _ = self(point)
            except NotConjugate:
                continue
            if np.isfinite(found):
                return point
        raise NotConjugate(
            f"no point was found at which the joint density of {', '.join(start)} is finite; "
            "give its variables initial values (initval) that are possible."
        )

    def _next(self, name: str, value: NDArray[Any], moves: NDArray[np.bool_]) -> NDArray[Any]:
        """Return whole numbers that are one larger, where that is possible."""
        if name not in self._finite:
            return value + moves
        s = self._finite[name]
        return s.lowest + (value - s.lowest + moves) % s.levels


def _natural(model: pm.Model) -> Any:
    """Return a function from PyMC's unconstrained values to all free variables by name."""
    names = [rv.name for rv in model.free_RVs]
    values = list(model.value_vars)
    run = function(
        values,
        model.replace_rvs_by_values(list(model.free_RVs)),
        mode=PYTHON_MODE,
        on_unused_input="ignore",
    )

    def natural(point: Mapping[str, Any]) -> Point:
        with np.errstate(all="ignore"):
            found = run(*(np.asarray(point[v.name], dtype=v.dtype) for v in values))
        return {name: np.asarray(x) for name, x in zip(names, found, strict=True)}

    return natural


class Given(Field):
    """A `Field` over some variables only; all others are held.

    Parameters
    ----------
    slopes : Slopes
        The model.
    chosen : sequence of str
        The variables.
    rest : mapping
        Values of all others; may hold the chosen ones, which are not looked at.
    """

    def __init__(
        self, slopes: Slopes, chosen: Sequence[str], rest: Mapping[str, NDArray[Any]]
    ) -> None:
        self._slopes = slopes
        self.continuous: list[Support] = [slopes.supports[name] for name in chosen]
        self.finite: list[Support] = []
        sizes = [s.size for s in self.continuous]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.kind = np.repeat(np.array([s.kind for s in self.continuous], dtype="U8"), sizes)
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.points, self.terms = slopes.points, slopes.terms
        self.rest = {name: np.asarray(value) for name, value in rest.items() if name not in chosen}

    def variables(self, x: Array, levels: NDArray[np.intp]) -> Point:
        """Return all variables: the chosen ones from the row `x`, the others as they are held."""
        return {**super().variables(x, levels), **self.rest}

    def __call__(self, x: Array, levels: NDArray[np.intp]) -> tuple[float, Array]:
        """Return the joint log density and its slope by every chosen element."""
        total, slopes = self._slopes(self.variables(x, levels))
        flat = [np.ravel(slopes[s.name]) for s in self.continuous]
        return total, np.concatenate(flat).astype(float)

    @property
    def joint(self) -> Any:
        """The joint density, whose slopes are along the chosen variables only."""
        return _Held(self._slopes.joint, self.rest)

    def row(self, point: Mapping[str, NDArray[Any]]) -> Array:
        """Return the chosen elements of a point in one row."""
        flat = [np.ravel(point[s.name]) for s in self.continuous]
        return np.concatenate(flat).astype(float)

    def held(self, point: Mapping[str, NDArray[Any]]) -> Given:
        """Return the same variables with the others held at another point."""
        return Given(self._slopes, [s.name for s in self.continuous], point)


class _Held:
    """A joint density with some variables held: no direction leads along them."""

    def __init__(self, joint: JointDensity, rest: Mapping[str, NDArray[Any]]) -> None:
        self._joint, self._rest = joint, rest

    def value(self, point: Mapping[str, Any]) -> tuple[float, float]:
        """Return the joint log density and a bound on its error."""
        return self._joint.value(point)

    def __call__(self, point: Mapping[str, Any], along: Mapping[str, Any]) -> Evaluation:
        """Return value and slope with their bounds."""
        still = {name: np.zeros(np.shape(value)) for name, value in self._rest.items()}
        return self._joint(point, {**along, **still})
