"""A hard input, what is required of it, and how an outcome is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Refusal:
    """The error that is required.

    Attributes
    ----------
    kind : type
        Class of the error.
    argument : str
        What the message must name.
    """

    kind: type[Exception]
    argument: str

    def __str__(self) -> str:
        return f"{self.kind.__name__} that names {self.argument}"


@dataclass(frozen=True)
class Case:
    """One hard input of one model.

    Attributes
    ----------
    group : str
        Chapter of the table.
    hard : str
        What is hard about the input.
    model : str
        Whose input it is.
    asked : str
        What is asked of it.
    ours : callable
        Returns what the package says: numbers, as nested lists or arrays.
    required : callable or Refusal
        Returns the right numbers, worked out without the package; or the error that is right.
    precision : float
        How much each number may be off, relative to itself, or to 1 where it is smaller and
        `absolute` is set. 0 means not at all.
    absolute : bool
        Whether numbers below 1 may be off by the precision itself: for logarithms.
    slow : bool
        Whether it takes more than a second.
    """

    group: str
    hard: str
    model: str
    asked: str
    ours: Callable[[], Any]
    required: Callable[[], Any] | Refusal
    precision: float = 0.0
    absolute: bool = False
    slow: bool = False

    @property
    def id(self) -> str:
        """Name of the test."""
        return f"{self.hard} | {self.model} | {self.asked}"

    def __str__(self) -> str:
        if isinstance(self.required, Refusal):
            return str(self.required)
        if self.precision == 0:
            return "the same numbers"
        return f"right to {self.precision:.0e}".replace("e-0", "e-")


def flat(numbers: Any) -> np.ndarray:
    """Return nested numbers in one row."""
    if isinstance(numbers, dict):
        numbers = list(numbers.values())
    if isinstance(numbers, (list, tuple)):
        return np.concatenate([flat(part) for part in numbers]) if numbers else np.zeros(0)
    return np.asarray(numbers, dtype=np.float64).ravel()


def error(ours: Any, exact: Any, *, absolute: bool = False) -> float:
    """Return the largest error of numbers; NaN if one is NaN where it should not be."""
    found, right = flat(ours), flat(exact)
    assert found.shape == right.shape, (found.shape, right.shape)
    same = found == right  # infinities, too
    size = np.maximum(np.abs(right), 1.0) if absolute else np.where(right == 0, 1.0, np.abs(right))
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.where(same, 0.0, np.abs(found - right) / size)
    return float(off.max(initial=0.0))
