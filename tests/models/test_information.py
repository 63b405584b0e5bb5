"""Mutual information against sums over joint tables, quadrature, and what must hold of it."""

import mpmath
import numpy as np
import pytest

from bayesmodels.errors import DataError
from bayesmodels.models.classifiers import information
from bayesmodels.models.classifiers.information import mutual_information, mutual_information_normal


def of_joint_table(joint):
    """Return the information of a table of shape (C, K), by its definition, in many digits."""
    with mpmath.workdps(60):
        p = [[mpmath.mpf(float(x)) for x in row] for row in joint]
        rows, columns = [sum(row) for row in p], [sum(column) for column in zip(*p, strict=True)]
        return float(
            sum(
                x * mpmath.log(x / (rows[c] * columns[k]))
                for c, row in enumerate(p)
                for k, x in enumerate(row)
                if x > 0
            )
        )


def exactly(pi, theta):
    """Return the information of one feature; theta (C, K), whose last column is the remainder."""
    with mpmath.workdps(60):
        pi = [mpmath.mpf(float(x)) for x in pi]
        pi[-1] = 1 - sum(pi[:-1])
        p = [[mpmath.mpf(float(x)) for x in row] for row in theta]
        p = [[*row[:-1], 1 - sum(row[:-1])] for row in p]
        mixed = [sum(a * x for a, x in zip(pi, k, strict=True)) for k in zip(*p, strict=True)]
        return float(
            sum(
                a * x * mpmath.log(x / q)
                for a, row in zip(pi, p, strict=True)
                for x, q in zip(row, mixed, strict=True)
                if a * x > 0
            )
        )


@pytest.mark.parametrize("classes", [2, 5])
def test_categories_against_the_joint_table(classes):
    rng = np.random.default_rng(classes)
    pi = rng.dirichlet(np.ones(classes))
    theta = rng.dirichlet(np.full(4, 0.3), (classes, 6))
    found = mutual_information(pi, theta, categories=True)
    expected = [of_joint_table(pi[:, None] * theta[:, j]) for j in range(6)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_binary_features_are_two_categories():
    rng = np.random.default_rng(3)
    pi, theta = rng.dirichlet(np.ones(3)), rng.random((3, 8))
    as_categories = np.stack([theta, 1 - theta], axis=-1)
    np.testing.assert_allclose(
        mutual_information(pi, theta),
        mutual_information(pi, as_categories, categories=True),
        rtol=1e-12,
    )


@pytest.mark.parametrize("gap", [1e-1, 1e-4, 1e-7, 1e-10])
def test_weak_features_keep_their_digits(gap):
    theta = np.array([0.3, 0.3 + gap])
    found = mutual_information([0.25, 0.75], theta[:, None])[0]
    expected = exactly([0.25, 0.75], np.column_stack([theta, 1 - theta]))
    assert found == pytest.approx(expected, rel=1e-14 / gap)


@pytest.mark.parametrize("theta", [(1e-20, 3e-20), (1e-300, 0.5), (5e-324, 1e-310), (0, 1e-12)])
def test_rare_features_keep_their_digits(theta):
    theta = np.array(theta)
    found = mutual_information([0.4, 0.6], theta[:, None])[0]
    expected = exactly([0.4, 0.6], np.column_stack([theta, 1 - theta]))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("pi", [(0.5, 0.5), (1, 0), (1e-17, 1), (1e-300, 1)])
@pytest.mark.parametrize("theta", [(0, 0), (1, 1), (1, 0), (0.5, 0), (1, 0.5)])
def test_borders(pi, theta):
    found = mutual_information(pi, np.array(theta, dtype=float)[:, None])[0]
    expected = exactly(pi, [[x, 1 - x] for x in theta])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-297)


def test_bounds():
    rng = np.random.default_rng(4)
    pi = rng.dirichlet(np.full(3, 0.2), 500)
    theta = rng.beta(0.1, 0.1, (500, 3, 4))
    found = mutual_information(pi, theta)
    entropy = -(pi * np.log(np.maximum(pi, 1e-300))).sum(-1)
    assert found.shape == (500, 4)
    assert (found >= 0).all()
    assert (found <= entropy[:, None] * (1 + 1e-12)).all()
    assert (found <= np.log(2) + 1e-12).all()


def test_a_feature_that_is_the_class_tells_the_entropy_of_the_class():
    pi = np.array([0.2, 0.3, 0.5])
    found = mutual_information(pi, np.eye(3)[:, None], categories=True)
    np.testing.assert_allclose(found, [-(pi * np.log(pi)).sum()], rtol=1e-14)


def test_missing_categories_are_zeros():
    theta = np.array([[[0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]])
    filled = np.concatenate([theta, np.zeros((2, 2, 3))], axis=-1)
    np.testing.assert_array_equal(
        mutual_information([0.5, 0.5], theta, categories=True),
        mutual_information([0.5, 0.5], filled, categories=True),
    )


@pytest.mark.parametrize("block", [1, 7, 10**9])
def test_blocks_change_nothing(block, monkeypatch):
    rng = np.random.default_rng(5)
    pi, bits = rng.dirichlet(np.ones(3), (2, 4)), rng.random((2, 4, 3, 5))
    tables = rng.dirichlet(np.ones(4), (2, 4, 3, 5))
    whole = (
        mutual_information(pi, bits),
        mutual_information(pi, tables, categories=True),
        mutual_information_normal(pi, bits, bits + 1),
    )
    monkeypatch.setattr(information, "_BLOCK", block)
    parts = (
        mutual_information(pi, bits),
        mutual_information(pi, tables, categories=True),
        mutual_information_normal(pi, bits, bits + 1),
    )
    for one, other in zip(whole, parts, strict=True):
        assert one.shape == (2, 4, 5)
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_leading_axes_broadcast():
    rng = np.random.default_rng(6)
    pi, theta = rng.dirichlet(np.ones(2), 7), rng.random((2, 3))
    found = mutual_information(pi, theta)
    assert found.shape == (7, 3)
    np.testing.assert_array_equal(found[4], mutual_information(pi[4], theta))


def normal_by_quadrature(pi, mu, sigma):
    with mpmath.workdps(30):
        classes = [tuple(map(float, row)) for row in zip(pi, mu, sigma, strict=True)]

        def integrand(x):
            parts = [a * mpmath.npdf(x, m, s) for a, m, s in classes]
            total = sum(parts)
            return sum(
                p * mpmath.log(p / a / total)
                for p, (a, *_) in zip(parts, classes, strict=True)
                if p
            )

        ends = sorted({m + s * z for _, m, s in classes for z in range(-12, 13)})
        return float(mpmath.quad(integrand, ends))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pi", "mu", "sigma"),
    [
        ((0.5, 0.5), (0, 1), (1, 1)),
        ((0.3, 0.7), (0, 3), (1, 0.2)),
        ((0.9, 0.1), (1e6, 1e6 + 6), (1, 1)),
        ((0.5, 0.5), (0, 12), (1, 1)),
        ((0.3, 0.7), (0, 0.2), (1, 1e-3)),
        ((0.2, 0.3, 0.5), (0, 1, 50), (1, 5, 0.01)),
    ],
)
def test_normal_features_against_quadrature(pi, mu, sigma):
    column = np.array([mu, np.square(sigma)], dtype=float)[..., None]
    found = mutual_information_normal(pi, *column)[0]
    assert found == pytest.approx(normal_by_quadrature(pi, mu, sigma), rel=1e-10)


def test_normal_features_that_tell_nothing_or_everything():
    mu, sigma2 = np.array([[0, -1e5], [0, 1e5]]), np.ones((2, 2))
    found = mutual_information_normal([0.5, 0.5], mu, sigma2)
    np.testing.assert_allclose(found, [0, np.log(2)], atol=1e-14)
    assert (mutual_information_normal([1, 0], mu, sigma2) == 0).all()
    with pytest.raises(DataError, match="sigma2: a standard deviation must be at least"):
        mutual_information_normal([0.5, 0.5], mu * 1e10, sigma2)


def test_nearly_equal_normals():
    found = mutual_information_normal([0.5, 0.5], [[0], [1e-4]], np.ones((2, 1)))[0]
    assert found == pytest.approx(1e-8 / 8, rel=1e-8)  # Fisher information times a variance / 2


HALVES = [0.5, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mutual_information([1, 2], np.ones((2, 1))), "pi: must be probabilities.*got 2"),
        (
            lambda: mutual_information(0.5, np.ones((2, 1))),
            "pi: must hold one probability",
        ),
        (lambda: mutual_information([0.4, 0.5], np.ones((2, 1))), "pi: must add up to one"),
        (lambda: mutual_information(HALVES, [[1.5], [0]]), "theta: must be probabilities"),
        (lambda: mutual_information(HALVES, [[np.nan], [0]]), "theta: .*missing"),
        (lambda: mutual_information(HALVES, np.ones((3, 1))), r"theta: .*2 classes.*\(3, 1\)"),
        (lambda: mutual_information(HALVES, HALVES), r"theta: must have the axes \(..., class, fe"),
        (lambda: mutual_information(HALVES, 0.5, categories=True), "theta: must have the axes"),
        (
            lambda: mutual_information(HALVES, [[0.2, 0.3], [0.5, 0.5]], categories=True),
            "theta: must add up to one along the last axis; got a sum of 0.5",
        ),
        (
            lambda: mutual_information(np.full((4, 2), 0.5), np.ones((3, 2, 1))),
            "pi, theta: must have shapes that fit",
        ),
        (
            lambda: mutual_information_normal(HALVES, np.zeros((2, 1)), [[1], [0]]),
            "sigma2: must be positive; got 0",
        ),
        (
            lambda: mutual_information_normal(HALVES, np.zeros((2, 2)), np.ones((2, 3))),
            "pi, mu, sigma2: must have shapes that fit",
        ),
    ],
)
def test_complaints(call, message):
    with pytest.raises(DataError, match=message):
        call()
