r"""Least squares by gradient descent, beside the closed form of `LinearRegression`.

=============  =================================================================================
Loss           ½ sum over i of (y_i - x_i . w)²
Gradient       - sum over i of (y_i - x_i . w) x_i; its Lipschitz constant L is the largest
               eigenvalue of X'X
Step           w + alpha sum over i of (y_i - x_i . w) x_i, with alpha at most 2 / L
=============  =================================================================================

Widrow and Hoff (1960), *Adaptive switching circuits*, for one row at a time; Bishop, *Pattern
Recognition and Machine Learning* (2006), section 3.1.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayesmodels.errors import DataError
from bayesmodels.input import data as checked
from bayesmodels.numerics import Array, optimize


def least_squares_descent(
    data: object,
    *,
    step: optimize.Step = "lipschitz",
    stochastic: bool = False,
    start: ArrayLike | None = None,
    tolerance: float = 1e-8,
    most: int = 10_000,
    rng: np.random.Generator | int | None = None,
) -> optimize.Trace:
    """Fit a linear regression by gradient descent, with a trace of the loss.

    The closed form, ``LinearRegression.flat(p).statistic(data).mle()``, needs no step and no
    patience: descent takes steps in proportion to the ratio of the largest to the smallest
    eigenvalue of X'X, which scaling and centring the columns makes smaller.

    Parameters
    ----------
    data : Design or pair (X, y)
        X of shape (n, p), y of shape (n,).
    step : "lipschitz", "backtracking" or float
        1 / L; found anew at every point; or a number below 2 / L.
    stochastic : bool, default False
        Use one row at a time (least mean squares), with the fixed step given, in an order drawn
        anew for each pass; the trace has a point for each pass.
    start : array_like of shape (p,), optional
        Where to begin; zero if not given.
    tolerance : float, default 1e-8
        Stop when the gradient is so much smaller than at the start.
    most : int, default 10000
        Number of steps, or of passes.
    rng : numpy.random.Generator or int, optional
        For `stochastic`.

    Returns
    -------
    Trace
        With the weights as its points.

    Raises
    ------
    DataError
        If a fixed step is too long and the loss grows beyond all numbers.

    Examples
    --------
    >>> import bayesmodels as bm
    >>> data = bm.Design([[0], [1], [2], [3]], [1, 3, 5, 8], intercept=True)
    >>> bm.least_squares_descent(data).last.round(6)
    array([0.8, 2.3])
    >>> bm.LinearRegression.flat(2).statistic(data).mle()["w"].round(6)
    array([0.8, 2.3])
    """
    if checked.weighted(data):
        raise DataError(
            "data: must not be weighted; multiply rows and targets by the roots of the weights."
        )
    d = checked.regression(data)
    if d.X.ndim != 2 or d.y.ndim != 1:  # noqa: PLR2004 - one problem
        raise DataError(
            f"data: must be one problem, with X of shape (n, p) and y of shape (n,); got "
            f"{d.X.shape} and {d.y.shape}."
        )
    X, y = d.X, d.y

    def loss(w: Array) -> float:
        return 0.5 * float(((y - X @ w) ** 2).sum())

    def gradient(w: Array) -> Array:
        return -((y - X @ w) @ X)

    def of_row(w: Array, i: int) -> Array:
        return -(y[i] - X[i] @ w) * X[i]

    begin = np.zeros(X.shape[1]) if start is None else checked.parameter(start, "start")
    if begin.shape != X.shape[1:]:
        raise DataError(
            f"start: must hold {X.shape[1]} weights, one a column; got shape {begin.shape}."
        )
    steep = float(np.linalg.norm(X, 2) ** 2)
    number = checked.count(most, "most")
    if not stochastic:
        return optimize.descend(
            loss, gradient, begin, step=step, lipschitz=steep, tolerance=tolerance, most=number
        )
    if isinstance(step, str):
        raise DataError(f"step: must be a number with stochastic=True; got {step!r}.")
    source = checked.randomness(rng)
    order = (source.permutation(len(X)) for _ in range(number))
    return optimize.row_by_row(loss, gradient, of_row, begin, order, step=step, lipschitz=steep)
