"""Gradient descent and Newton's method: where they end, what they say, and that they never rise."""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.numerics import optimize

RNG = np.random.default_rng(5)
X = np.column_stack([np.ones(60), RNG.standard_normal((60, 3))])
Y = X @ [1.0, -2, 0.5, 3] + RNG.standard_normal(60)
EXACT = bm.LinearRegression.flat(4).statistic((X, Y)).mle()["w"]


@pytest.mark.parametrize("step", ["lipschitz", "backtracking", 0.01])
def test_descent_reaches_the_closed_form(step):
    trace = bm.least_squares_descent((X, Y), step=step, tolerance=1e-12)
    np.testing.assert_allclose(trace.last, EXACT, rtol=1e-10)
    assert trace.converged
    assert (np.diff(trace.loss) <= 1e-12 * trace.loss[1:]).all()
    residual = Y - X @ trace.last
    np.testing.assert_allclose(trace.loss[-1], residual @ residual / 2, rtol=1e-14)


def test_the_trace_as_a_frame():
    trace = bm.least_squares_descent((X, Y), most=3)
    frame = trace.to_frame()
    assert list(frame) == ["loss", "slope", "step"]
    assert len(frame) == 4
    assert frame["loss"].is_monotonic_decreasing
    assert "3 steps" in repr(trace)
    assert "not converged" in repr(trace)


def test_one_row_at_a_time_comes_near():
    trace = bm.least_squares_descent(
        (X, Y), stochastic=True, step=0.002, most=400, rng=np.random.default_rng(1)
    )
    np.testing.assert_allclose(trace.last, EXACT, atol=0.05)
    assert trace.loss[-1] < 1.01 * trace.loss.min()
    assert len(trace.loss) == 401


def test_starting_at_the_minimum_takes_no_step():
    trace = bm.least_squares_descent(([[1.0], [1.0]], [2.0, 2.0]), start=[2.0])
    assert trace.converged
    assert not len(trace.step)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"step": 10.0, "most": 1000}, r"step: 10 is too long.*below 2 / L = 0\.0"),
        ({"step": 0.0}, "step: must be a positive number"),
        ({"step": "long"}, "step: must be a positive number, 'lipschitz' or 'backtracking'"),
        ({"stochastic": True}, "step: must be a number with stochastic=True"),
        ({"stochastic": True, "step": 50.0, "most": 500}, "too long"),
        ({"start": [1.0]}, "start: must hold 4 weights"),
    ],
)
def test_settings_are_checked(settings, words):
    with pytest.raises(bm.DataError, match=words):
        bm.least_squares_descent((X, Y), **settings)


def test_a_batch_of_problems_is_refused():
    with pytest.raises(bm.DataError, match="must be one problem"):
        bm.least_squares_descent((X, np.column_stack([Y, Y])))


def test_newton_halves_a_step_that_goes_too_far():
    # sqrt(1 + x²), from a point where the full step overshoots further and further.
    def at(x):
        value = float(np.sqrt(1 + x @ x))
        return optimize.Slope(value, value, x / value, lambda: np.atleast_2d(value**-1.5))

    trace, root = optimize.newton(at, np.array([10.0]), at(np.array([10.0])))
    assert trace.converged
    assert trace.step.min() < 1
    assert (np.diff(trace.loss) < 0).all()
    assert abs(trace.last[0]) < 1e-9
    np.testing.assert_allclose(root, [[1.0]])


def test_newton_stops_where_the_function_is_flat():
    nothing = optimize.Slope(0.0, 0.0, np.zeros(1), lambda: np.zeros((1, 1)))
    trace, _ = optimize.newton(lambda _: nothing, np.zeros(1), nothing)
    assert not trace.converged
