"""Tops of sums of functions of one number or of a pair, and the normal laws there."""

import numpy as np
import pytest

from bayesmodels.numerics.inner_modes import InnerModes

PAIRS = np.array([[0, 1], [1, 2], [1, 3]])
COUPLING = np.array([0.5, 3.0, 20.0])


def tables(one, two):
    def at(rows, x):
        left, right = (x[:, end] for end in PAIRS.T)
        return {1: one(rows, x), 2: two(left[..., :, None], right[..., None, :])}

    return at


def walk(left, right):
    return -COUPLING[:, None, None] * (right - left - 0.3) ** 2 / 2


def found(one, two, start):
    modes = InnerModes(PAIRS, 4, np.random.default_rng(0))
    return modes.found(tables(one, two), start, np.ones_like(start))


def test_of_a_normal_function_all_is_exact():
    weight, wanted = np.array([1.0, 0.0, 0.2, 4.0]), np.array([1.0, 0.0, -2.0, 5.0])
    laws = found(
        lambda _, x: -weight[:, None] * (x - wanted[:, None]) ** 2 / 2,
        walk,
        np.array([[0.0, 0, 0, 0], [30.0, -9, 4, 2]]),
    )
    precision, right = np.diag(weight), weight * wanted
    for (i, j), c in zip(PAIRS, COUPLING, strict=True):
        precision[np.ix_([i, j], [i, j])] += c * np.array([[1, -1], [-1, 1]])
        right[[i, j]] += c * 0.3 * np.array([-1, 1])
    mean, cov = np.linalg.solve(precision, right), np.linalg.inv(precision)
    constant = -(weight * wanted**2).sum() / 2 - (COUPLING * 0.09).sum() / 2
    total = constant + right @ mean / 2 + np.linalg.slogdet(2 * np.pi * cov)[1] / 2
    assert laws.quadratic.all()
    for row in range(2):
        assert laws.centre[row] == pytest.approx(mean, abs=1e-3)
        assert laws.sd[row] == pytest.approx(np.sqrt(np.diag(cov)), rel=1e-3)
        assert laws.log_integral[row] == pytest.approx(total, abs=1e-3)
        sd = np.sqrt(np.diag(cov))
        expected = [cov[i, j] / sd[i] / sd[j] for i, j in PAIRS]
        assert laws.correlation[row] == pytest.approx(expected, abs=1e-3)


def test_heavy_tails_are_climbed_from_far_away():
    laws = found(lambda _, x: -2 * np.log1p((x - 7) ** 2), walk, np.full((1, 4), 300.0))
    assert np.isfinite(laws.log_integral[0])
    assert np.abs(laws.centre - 7).max() < 2


def test_pairs_that_are_not_quadratic_are_told():
    laws = found(lambda _, x: -(x**2), lambda a, b: -np.log1p((a - b) ** 2), np.zeros((1, 4)) + 0.1)
    assert not laws.quadratic[0]


def test_rows_without_a_top_are_nan_and_leave_the_others_as_they_are():
    laws = found(
        lambda rows, x: np.where(rows[:, None, None] == 1, np.nan, -(x**2)), walk, np.zeros((3, 4))
    )
    assert np.isnan(laws.log_integral).tolist() == [False, True, False]
    nowhere = found(lambda _, x: np.nan * x, walk, np.zeros((2, 4)))
    assert np.isnan(nowhere.log_integral).all()
    assert not nowhere.quadratic.any()
