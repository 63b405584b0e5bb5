"""What every kind of support states, and the support of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayesmodels.numerics import Array
from bayesmodels.numerics.exponential_families import Family
from bayesmodels.numerics.laws import SINGLE

TAIL = 1e-100
"""What is left out of the prior of a whole number that has no end."""
LINE = (-np.inf, np.inf)
_LARGEST = np.finfo(float).max
_LOGS = 30.0  # logs and logits that a scalar is moved by
_WIDTH = 4.1  # steps grow from the middle, so that the last is at the end

Move = Callable[[Any, tuple[int, ...], float], Any]
"""From a variable's value, an element and a place on the way to the value there."""


def as_it_is(x: Array, *_: Any) -> Array:
    """Return the first argument."""
    return x


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of support.

    All callables take and return arrays. Those of a kind with `core` axes, that is, whose elements
    can't be moved one by one, have these as their last ones. `low` and `high` are the ends of
    elements; they have the shape of `x`, or none.
    """

    ends: tuple[float, float] | None  # None: each variable has ends of its own
    somewhere: Callable[..., Array]  # of normal numbers z, spread, low, high: a random point
    shift: Callable[..., Array]  # of x, by, low, high: x moved along its coordinate
    far: Callable[..., Array]  # of x, z, a step along the line, another point: one far from x
    words: str = ""  # of which families no law is that is refused
    recognises: Callable[[Any, Any, Any], bool] = lambda *_: False
    # of an RV's operation, the model's transform, and that of the law
    core: int = 0
    jacobian: Callable[[Array], Array] = np.ones_like  # dx by the coordinate in which slopes are
    score: Callable[[Array, Array], Array] | None = None  # of x and slopes; None: by the jacobian
    score_size: Callable[[Array, Array], Array] | None = None  # of x and bounds on the slopes
    tangent: Callable[..., Array] = lambda _, along: along  # of x and a direction: one that stays
    inside: Callable[[Array], Array] = as_it_is  # of x that may be rounded to the border
    clip: Callable[..., Array] = as_it_is  # of any x, low, high: the nearest that is not outside
    borders: Callable[..., list[float]] = lambda *_: []  # of x, spread, low, high: extreme values
    corners: Callable[[Array], Iterator[Array]] = lambda _: iter(())  # the same, of all elements
    families: tuple[Family, ...] = ()  # whose natural parameters can be read off slopes
    flat: Callable[..., Any] | None = None  # PyMC's law with a log density of zero
    coordinates: Any = None  # a transform that takes the place of PyMC's, which is not one to one
    adds_up: bool = False  # to one along the last axis
    definite: bool = False
    whole: bool = False  # numbers
    way: Callable[..., Move] | None = None  # of a support, x, an element, values there: see `Move`
    places: Callable[..., Array] | None = None  # of a support and a number of steps


@dataclass(frozen=True)
class Support:
    """Where one free variable may lie.

    Of a range of whole numbers `lowest` is the first and `levels` their number. If it is `endless`
    there are more, of which the prior has less than `TAIL`.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    lowest: int = 0
    levels: int = 0
    endless: bool = False
    interval: tuple[float, float] = LINE

    @property
    def ends(self) -> tuple[float, float]:
        """Between which numbers its elements lie."""
        return self.kind.ends or self.interval

    @property
    def finite(self) -> bool:
        """Whether it is a range of whole numbers."""
        return self.kind.whole

    @property
    def values(self) -> tuple[int, ...]:
        """The whole numbers of a range."""
        return tuple(range(self.lowest, self.lowest + self.levels))

    def holds(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows lie in it; sums may be off by what single precision leaves."""
        low, high = (0, self.levels - 1) if self.finite else self.ends
        each = rows.reshape(len(rows), -1) - self.lowest
        outside = (each < low) | (each > high) | (self.finite & (each != np.floor(each)))
        if not self.kind.adds_up:
            return np.asarray(~outside.any(-1))
        off = np.abs(rows.sum(-1) - 1).reshape(len(rows), -1)
        return np.asarray(~outside.any(-1) & ~(off > SINGLE).any(-1))

    @property
    def cut(self) -> str:
        """Up to where a whole number without an end is added up."""
        last = self.lowest + self.levels - 1
        return f"{self.name} is added up to {last}, as its prior has less than {TAIL:g} beyond"

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


def split(x: NDArray[Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """Return the elements of several variables, which are along the last axis, by variable."""
    result, at = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        result[name] = x[..., at : at + size].reshape((*x.shape[:-1], *shape))
        at += size
    return result


def with_element(x: Any, element: tuple[int, ...], value: Any) -> Any:
    """Write one element, and return the array."""
    x[element] = value
    return x


def grown(_: Support, steps: int) -> Array:
    """Return logs and logits on both sides of nought, that lie closer there."""
    return np.asarray(_LOGS * np.sinh(np.linspace(-_WIDTH, _WIDTH, steps)) / np.sinh(_WIDTH))


def way_between_ends(s: Support, base: Any, element: tuple[int, ...], _: Array) -> Move:
    """Move a number between two ends, or beyond one, by logits or logs."""
    low, high = s.ends
    x = float(np.asarray(base)[element])
    if np.isfinite(low) and np.isfinite(high):
        start = logit(np.clip((x - low) / (high - low), 1e-6, 1 - 1e-6))
        return lambda x, e, t: with_element(x, e, low + (high - low) * expit(start + t))
    end, sign = (low, 1) if np.isfinite(low) else (high, -1)
    size = sign * (abs(x - end) or 1.0)

    def beyond(x: Any, e: tuple[int, ...], t: float) -> Any:
        with np.errstate(over="ignore"):
            return with_element(x, e, np.clip(end + size * np.exp(t), -_LARGEST, _LARGEST))

    return beyond
