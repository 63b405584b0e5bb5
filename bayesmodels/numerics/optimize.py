"""Minimising a smooth convex function, with a trace of the way: gradient steps and Newton steps.

=============  =================================================================================
Gradient       x - t g(x). The step t is fixed (1 / L for a Lipschitz constant L of g never lets
               the loss rise), or found by backtracking: doubled after each step, then halved until
               g(x - t g)' g >= 0, so that the loss, which is convex, falls all the way. Unlike a
               difference of losses (Armijo's rule) this is not rounded away near the minimum
Row by row     x - t g_i(x) for one row i at a time, rows in random order (Robbins and Monro)
Newton         x - s H(x)⁻¹ g(x), s halved from 1 until the loss falls by s nu² / 4, where
               nu² = g' H⁻¹ g is the squared Newton decrement
=============  =================================================================================

A rise of the loss beyond its rounding error ends Newton and backtracking, so that their traces are
monotone. Boyd and Vandenberghe, *Convex Optimization* (2004), sections 9.2, 9.3 and 9.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bayesmodels.errors import DataError
from bayesmodels.numerics import Array
from bayesmodels.numerics.triangular import EPS, solve_upper

if TYPE_CHECKING:
    import pandas as pd

Step = float | Literal["lipschitz", "backtracking"]

_HALVINGS = 60
_DONE = 1e-18  # squared Newton decrement: a billionth of a standard error from the minimum
_NEAR = 1e-10  # from where on a decrement that no longer falls is all rounding error
_ROUNDING = 32 * EPS  # of a loss, relative to the sizes of what it adds up


@dataclass(frozen=True, eq=False)
class Trace:
    """The iterates of an optimiser, start included.

    Attributes
    ----------
    rule : str
        How steps were chosen, in words.
    points : ndarray of shape (steps + 1, ...)
        Where it was.
    loss : ndarray of shape (steps + 1,)
        The function's values there. Of an ascent the function is minus the objective.
    slope : ndarray of shape (steps + 1,)
        Lengths of the gradient; of Newton's method the Newton decrement, a distance from the
        minimum in standard errors.
    step : ndarray of shape (steps,)
        Factors of the gradient, or of the Newton step.
    converged : bool
        Whether the slope became as small as was asked for.
    """

    rule: str
    points: Array
    loss: Array
    slope: Array
    step: Array
    converged: bool

    @property
    def last(self) -> Array:
        """Where it ended."""
        return self.points[-1]

    def to_frame(self) -> pd.DataFrame:
        """Return loss, slope and step, one row a point; the last point has no step (NaN)."""
        import pandas as pd

        step = np.append(self.step, np.nan)
        return pd.DataFrame({"loss": self.loss, "slope": self.slope, "step": step})

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"Trace({self.rule}: {len(self.step)} steps, loss {self.loss[0]:.6g} to "
            f"{self.loss[-1]:.6g}, {state})"
        )


Loss = Callable[[Array], float]
Gradient = Callable[[Array], Array]
Way = list[tuple[Array, float, float, float]]
"""Points with loss, slope and the step that led there; none to the first."""


def descend(
    loss: Loss,
    gradient: Gradient,
    start: Array,
    *,
    step: Step,
    lipschitz: float,
    tolerance: float = 1e-8,
    most: int = 10_000,
) -> Trace:
    """Go against the gradient until it is `tolerance` times what it was at the start.

    The gradient changes by at most `lipschitz` a unit of distance. Raises `DataError` if a fixed
    step is so long that the loss grows beyond all numbers.
    """
    size, rule = _rule(step, lipschitz)
    x, g = start, gradient(start)
    way: Way = [(x, loss(x), float(np.linalg.norm(g)), np.nan)]
    goal = tolerance * way[0][2]
    while way[-1][2] > goal and len(way) <= most:
        if step == "backtracking":
            size = _backtracked(gradient, x, g, 2 * size)
            if size == 0:  # the loss is flat to rounding
                break
        x = x - size * g
        g = _go(way, loss, gradient, x, size, lipschitz)
    return _trace(rule, way, converged=way[-1][2] <= goal)


def row_by_row(
    loss: Loss,
    gradient: Gradient,
    of_row: Callable[[Array, int], Array],
    start: Array,
    order: Iterator[NDArray[np.intp]],
    *,
    step: float,
    lipschitz: float,
) -> Trace:
    """Go against the gradient of one row at a time; the trace has a point for each pass.

    `of_row` goes from the point and the number of a row to the row's gradient, `order` has the
    rows of each pass. A fixed step ends near the minimum, not in it.
    """
    size, _ = _rule(step, lipschitz)
    x = start
    way: Way = [(x, loss(x), float(np.linalg.norm(gradient(x))), np.nan)]
    for rows in order:
        with np.errstate(over="ignore", invalid="ignore"):
            for i in rows:
                x = x - size * of_row(x, i)
        _go(way, loss, gradient, x, size, lipschitz)
    return _trace(f"one row at a time, step {size:g}", way, converged=False)


def _go(way: Way, loss: Loss, gradient: Gradient, x: Array, step: float, lipschitz: float) -> Array:
    """Add a point, at which the loss must be a number; return the gradient there."""
    with np.errstate(over="ignore", invalid="ignore"):
        value, g = loss(x), gradient(x)
    if not (np.isfinite(value) and np.isfinite(g).all()):
        raise DataError(
            f"step: {step:.3g} is too long, the loss grew beyond all numbers; it must be below "
            f"2 / L = {2 / lipschitz:.3g} for these data. Take step='lipschitz', or scale the "
            "columns."
        )
    way.append((x, value, float(np.linalg.norm(g)), step))
    return g


@dataclass(frozen=True, eq=False)
class Slope:
    """A function at one point: its value, and the size of what that adds up; its derivatives.

    `size` bounds the rounding error of `loss`; `factor` returns the upper triangular R with R'R the
    matrix of second derivatives.
    """

    loss: float
    size: float
    gradient: Array
    factor: Callable[[], Array]


def newton(
    at: Callable[[Array], Slope], start: Array, here: Slope, *, most: int = 100
) -> tuple[Trace, Array]:
    """Minimise by Newton's method with a line search; return trace and curvature at its end.

    `at` returns the function at a point, `here` is what it is at the start. Converged once the
    Newton decrement is below 1e-9, or near it as far as rounding lets it.
    """
    x = start
    way: Way = []
    size, before = np.nan, np.inf
    while True:
        root, square = here.factor(), np.inf
        if np.diagonal(root).all():  # else flat in some direction: no step can be worked out
            whitened = solve_upper(root, here.gradient[:, None], transposed=True)
            square = float((whitened**2).sum())
        way.append((x, here.loss, float(np.sqrt(square)), size))
        converged = square <= _DONE or before / 4 <= square <= before <= _NEAR
        if converged or square == np.inf or len(way) > most:
            break
        before = square
        direction = solve_upper(root, whitened)[:, 0]
        size, slack = 1.0, _ROUNDING * here.size
        for _ in range(_HALVINGS):
            new = x - size * direction
            there = at(new)
            if there.loss <= here.loss - size * square / 4 + slack:
                break
            size /= 2
        else:
            break
        x, here = new, there
    rule = "Newton's method, steps halved until the loss falls"
    return _trace(rule, way, converged=converged), root


def _rule(step: Step, lipschitz: float) -> tuple[float, str]:
    """Return the first step and the rule in words."""
    safe = 1 / lipschitz if lipschitz > 0 else 1.0
    if step == "lipschitz":
        return safe, f"fixed step 1 / L = {safe:.3g}"
    if step == "backtracking":
        return safe, "steps halved until the loss falls all the way"
    if not isinstance(step, (int, float)) or not (np.isfinite(step) and step > 0):
        raise DataError(
            f"step: must be a positive number, 'lipschitz' or 'backtracking'; got {step!r}."
        )
    return float(step), f"fixed step {step:.3g}"


def _backtracked(gradient: Gradient, x: Array, g: Array, size: float) -> float:
    """Return a step at whose end the convex loss is still falling; 0 if there is none."""
    for _ in range(_HALVINGS):
        if np.vdot(gradient(x - size * g), g) >= 0:
            return size
        size /= 2
    return 0.0


def _trace(rule: str, way: Way, *, converged: bool) -> Trace:
    points, losses, slopes, steps = zip(*way, strict=True)
    loss, slope, step = (np.array(each, dtype=float) for each in (losses, slopes, steps[1:]))
    return Trace(rule, np.stack(points), loss, slope, step, bool(converged))
