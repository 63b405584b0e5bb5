"""Chains and trees of normal numbers: sums by Hermite polynomials against sums on fine grids."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit, logsumexp

from bayesmodels.numerics.hermite_forest import HermiteForest, polynomials, rule

GRID = np.linspace(-12, 12, 601)
STEP = GRID[1] - GRID[0]
PLACES = GRID[150:451:5]
# A tree of four, whose second number meets all others, and a number that meets none.
PAIRS = np.array([[0, 1], [1, 2], [1, 3]])
RHO = np.array([[0.9, -0.5, 0.7]])
LOGS = [
    lambda x: -np.exp(0.3 * x) + 0.1 * x,
    lambda x: 0.2 * x - 0.05 * x**2,
    lambda x: 3 * log_expit(-x),
    lambda x: 0.3 * np.sin(x),
    lambda x: -0.05 * np.cosh(x / 2),
]


def eliminated(number, rows=1):
    at = [np.array([[f(x) for f in LOGS]]) for x in (rule(number).nodes, PLACES)]
    logs, others = (np.repeat(x, rows, 0) for x in at)
    forest = HermiteForest(PAIRS, len(LOGS))
    return forest.eliminated(logs, others, PLACES, np.repeat(RHO, rows, 0))


def below(f, rho):
    """Return what a number tells of the one that it meets, on the grid."""
    scale = np.sqrt(1 - rho**2)
    law = stats.norm.logpdf(GRID[:, None], rho * GRID, scale) + np.log(STEP)
    return logsumexp(f(GRID)[:, None] + law, axis=0)


def middle():
    """Return log weights of the second number on the grid."""
    told = below(LOGS[0], 0.9) + below(LOGS[2], -0.5) + below(LOGS[3], 0.7)
    return told + LOGS[1](GRID) + stats.norm.logpdf(GRID) + np.log(STEP)


def test_the_sum_over_a_forest():
    alone = logsumexp(LOGS[4](GRID) + stats.norm.logpdf(GRID) + np.log(STEP))
    expected = logsumexp(middle()) + alone
    errors = [abs(eliminated(n).log_total[0] - expected) for n in (6, 12, 40)]
    assert errors[2] < 1e-9
    assert errors[2] < errors[1] < errors[0]


def test_laws_on_the_way_back():
    logs = eliminated(40).log_laws()[0, 1]
    expected = np.interp(PLACES, GRID, middle())
    mass = [np.exp(x - x.max()) for x in (logs, expected)]
    assert mass[0] == pytest.approx(mass[1], abs=1e-8)


def test_laws_are_asked_for_any_number_of_times():
    forest = eliminated(20)
    assert np.array_equal(forest.log_laws(), forest.log_laws())


def test_draws():
    n = 20_000
    u = eliminated(30, n).sample(np.random.default_rng(1))
    p = np.exp(middle() - logsumexp(middle()))
    mean = p @ GRID
    assert abs(u[:, 1].mean() - mean) < 4 * u[:, 1].std() / np.sqrt(n)
    each = (u[:, 1] - mean) ** 2
    assert abs(each.mean() - p @ (GRID - mean) ** 2) < 4 * each.std() / np.sqrt(n)


def test_numbers_that_are_nearly_the_same_count_as_one():
    """No grid of two numbers could tell a correlation that is so close to one."""
    x, close = rule(30).nodes, np.full((1, 99), 1 - 1e-12)
    a = np.arange(99)
    forest = HermiteForest(np.column_stack([a, a + 1]), 100)
    logs = np.repeat(-np.cosh(x) / 100, 100).reshape(-1, 100).T[None]
    found = forest.eliminated(logs, np.zeros((1, 100, 0)), np.zeros(0), close)
    expected = logsumexp(-np.cosh(GRID) + stats.norm.logpdf(GRID) + np.log(STEP))
    assert found.log_total[0] == pytest.approx(expected, abs=1e-8)


def test_polynomials_are_orthonormal_under_the_normal_law():
    law = stats.norm.pdf(GRID) * STEP
    h = polynomials(GRID, 8)
    assert (h * law) @ h.T == pytest.approx(np.eye(8), abs=1e-9)


def test_depth_is_the_distance_from_the_last_number():
    depth = HermiteForest(PAIRS, len(LOGS)).depth
    steps = np.abs(np.diff(depth[PAIRS], axis=1))
    assert (steps == 1).all()
    assert depth[4] == 0
