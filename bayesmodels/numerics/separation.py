r"""Do hyperplanes through the origin of weights separate classes? By linear programming.

Weights :math:`w_1, \ldots, w_{K-1}` (and :math:`w_0 = 0`) separate rows if no row is on the wrong
side and some row is on the right one:

.. math:: (w_c - w_k)^\top x_i \ge 0 \text{ for every row i of class c and every } k \ne c,
    \quad \text{not all of them } 0.

Then the likelihood grows for ever along w, and just then it has no maximum: *complete* separation
if all inequalities can be strict, *quasi-complete* otherwise.

Rows that are nearer to the border than a billionth of their size count as on it: that is how well
floating-point linear programming knows its inequalities.

Albert and Anderson (1984), *On the existence of maximum likelihood estimates in logistic regression
models*; Konis (2007), *Linear programming algorithms for detecting separated data in binary
logistic regression models*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesmodels.numerics import Array

ON_BORDER = -1e-9
"""Margin from which on a row counts as on the border rather than misclassified."""

MARGIN = 1e-7
"""Margin from which on a row counts as separated."""

_FEASIBLE = 1e-10  # what HiGHS may violate an inequality by; rows have largest entry 1
_WIDE = 100  # columns, beyond which a separating set is not made smaller


@dataclass(frozen=True, eq=False)
class Separation:
    """How classes are separated.

    `complete` if every row is strictly on its side; `columns` separate together, and without any
    of them the others do not; along `direction`, (K - 1, p), which has nothing of other columns
    but those that are always kept, the likelihood grows for ever.
    """

    complete: bool
    columns: tuple[int, ...]
    direction: Array


def find_separation(X: Array, counts: Array, always: tuple[int, ...] = ()) -> Separation | None:
    """Return how the classes are separated, or None if they overlap.

    `X` holds rows (n, p) in columns of comparable size, `counts` (n, K) how often each class was
    seen there. Columns that are `always` kept, such as an intercept, are left out in turn last.
    """
    sides = _sides(X, counts)
    direction = _direction(sides)
    if direction is None:
        return None
    slack = sides.reshape(len(sides), -1) @ direction
    width, keep = X.shape[1], sorted(set(range(X.shape[1])))
    used = [j for j in keep if np.abs(direction.reshape(-1, width)[:, j]).max() > _FEASIBLE]
    kept = sorted({*used, *always})
    if width <= _WIDE:
        for j in [j for j in used if j not in always] + [j for j in used if j in always]:
            without = [other for other in kept if other != j]
            if without and (way := _direction(sides[..., without])) is not None:
                kept = without
                direction = np.zeros((sides.shape[1], width))
                direction[:, kept] = way.reshape(-1, len(kept))
    named = [j for j in kept if j not in always] or [j for j in kept if j in used]
    complete = bool(slack.min() > MARGIN) or _strict(sides) is not None
    return Separation(complete, tuple(named), direction.reshape(-1, width))


def contradict(X: Array, counts: Array, direction: Array) -> Array:
    """Return each row's margin under weights (K - 1, p): negative if it is on the wrong side.

    Rows below `ON_BORDER` contradict that these weights separate the classes.
    """
    size = np.abs(X).max(axis=1, keepdims=True)
    X = np.divide(X, size, out=np.zeros_like(X), where=size > 0)
    scores = np.column_stack([np.zeros(len(X)), X @ direction.T])
    room = np.full(len(X), np.inf)
    for c in range(counts.shape[1]):
        others = np.delete(scores, c, axis=1).max(axis=1)
        np.minimum(room, scores[:, c] - others, out=room, where=counts[:, c] > 0)
    return room


def _sides(X: Array, counts: Array) -> Array:
    """Return one inequality a row, seen class and other class, of shape (m, K - 1, p)."""
    X, inverse = np.unique(X, axis=0, return_inverse=True)
    seen = np.zeros((len(X), counts.shape[1]), dtype=bool)
    np.logical_or.at(seen, inverse.ravel(), counts > 0)
    size = np.abs(X).max(axis=1, keepdims=True)
    X = np.divide(X, size, out=np.zeros_like(X), where=size > 0)
    classes = counts.shape[1]
    blocks = []
    for c in range(classes):
        rows = X[seen[:, c]]
        for k in range(classes):
            if k == c:
                continue
            block = np.zeros((len(rows), classes, X.shape[1]))
            block[:, c], block[:, k] = rows, -rows
            blocks.append(block[:, 1:])
    return np.concatenate(blocks)


def _direction(sides: Array) -> Array | None:
    """Return the flat weights with the largest sum of margins, None if none is positive."""
    from scipy.optimize import linprog

    A = sides.reshape(len(sides), -1)
    result = linprog(
        -A.sum(0),
        A_ub=-A,
        b_ub=np.zeros(len(A)),
        bounds=(-1, 1),
        method="highs",
        options={
            "primal_feasibility_tolerance": _FEASIBLE,
            "dual_feasibility_tolerance": _FEASIBLE,
        },
    )
    if result.x is None:  # zero is always feasible: the solver gave up
        return None
    slack = A @ result.x
    return result.x if slack.max() > MARGIN and slack.min() > ON_BORDER else None


def strict_direction(X: Array, counts: Array) -> Array | None:
    """Return weights (K - 1, p) with the largest smallest margin; None if it is not positive."""
    return _strict(_sides(X, counts))


def _strict(sides: Array) -> Array | None:
    """Return weights for which all inequalities are strict: maximise the smallest."""
    from scipy.optimize import linprog

    A = sides.reshape(len(sides), -1)
    aim = np.zeros(A.shape[1] + 1)
    aim[-1] = -1
    result = linprog(
        aim,
        A_ub=np.column_stack([-A, np.ones(len(A))]),
        b_ub=np.zeros(len(A)),
        bounds=(-1, 1),
        method="highs",
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    if result.x is None or (A @ result.x[:-1]).min() <= MARGIN:
        return None
    return result.x[:-1].reshape(sides.shape[1:])
