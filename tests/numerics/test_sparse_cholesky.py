"""Sparse precisions: what is read off few slopes and factored is what dense algebra gives."""

import numpy as np
import pytest

from bayesmodels.errors import DataError
from bayesmodels.numerics.sparse_cholesky import integral, integral_slope, sparse_precision

RNG = 20261124


def chain(n):
    return 2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def with_hubs(inner, links, own):
    """Return a matrix with some more elements, each linked to all others."""
    k = len(own)
    side = np.full((len(inner), k), links)
    return np.block([[inner, side], [side.T, np.diag(own) + 0.1]])


def tree(depth):
    n = 2**depth - 1
    child = np.arange(1, n)
    result = 5.0 * np.eye(n)
    result[child, (child - 1) // 2] = result[(child - 1) // 2, child] = -1.0
    return result


def crossed(rows, columns):
    between = np.full((rows, columns), 0.1)
    return np.block([[3 * np.eye(rows), between], [between.T, 2 * np.eye(columns)]])


def dense(n):
    x = np.random.default_rng(RNG).standard_normal((2 * n, n))
    return x.T @ x


def gaps(n):
    """Return two chains and some elements that depend on nothing."""
    result = chain(n)
    result[n // 2, n // 2 + 1] = result[n // 2 + 1, n // 2] = 0
    result[:2] = result[:, :2] = 0
    return result + np.diag(np.arange(n) < 2)


PRECISIONS = {  # and how many colours are enough
    "one element": (np.eye(1), 1),
    "no link at all": (np.diag(np.arange(1.0, 9)), 1),
    "a chain": (chain(60), 3),
    "a chain with gaps": (gaps(30), 3),
    "a second difference": (chain(40) @ chain(40), 5),
    "a ring": (chain(30) - np.eye(30, k=29) - np.eye(30, k=-29) + np.eye(30), 3),
    "a chain with two hubs": (with_hubs(chain(40), 0.05, [40.0, 50.0]), 5),
    "groups with means": (with_hubs(np.kron(np.eye(8), dense(3)), 0.1, [30.0, 20.0]), 5),
    "a tree": (tree(5), 4),
    "crossed groups": (crossed(5, 12), 6),
    "no zero": (dense(12), 12),
    "on two scales": (chain(20) * np.outer(*[10.0 ** np.linspace(-6, 6, 20)] * 2), 3),
}


def read(P, h, linked=None):
    """Return how a precision is read, and the slopes of the parabola with slope h at the centre."""
    rng = np.random.default_rng(RNG)
    step = 200 / np.sqrt(np.diag(P))
    form = sparse_precision(P != 0 if linked is None else linked, step, rng)
    return form, np.vstack([h, h - form.probes() @ P])


@pytest.mark.parametrize("name", PRECISIONS)
def test_what_is_read_off_few_slopes_is_what_dense_algebra_gives(name):
    P, colours = PRECISIONS[name]
    rng = np.random.default_rng(RNG)
    h = rng.standard_normal(len(P)) * np.sqrt(np.diag(P))
    form, slopes = read(P, h)
    assert len(form.probes()) == colours + 1
    size = np.sqrt(np.diag(P))
    unit = P / np.outer(size, size)  # of which an inverse keeps its digits
    cov, mean = np.linalg.inv(unit), np.linalg.solve(unit, h / size)
    assert form.matrix(slopes).toarray() / np.outer(size, size) == pytest.approx(unit, abs=1e-11)
    found = integral(slopes, *form.form)
    top, log_det = found[: len(P)], found[-1]
    assert top * size == pytest.approx(mean, rel=1e-10, abs=1e-11)
    dense_det = np.linalg.slogdet(unit)[1] / 2 + np.log(size).sum()
    assert log_det == pytest.approx(dense_det, rel=1e-11, abs=1e-11)
    assert form.sd(slopes[None])[0] * size == pytest.approx(np.sqrt(np.diag(cov)), rel=1e-11)
    # One draw for each element of the noise: the columns of the root of the covariance.
    found = form.solve(np.repeat(slopes[None], len(P) + 1, 0), np.eye(len(P) + 1)[:, :-1]) * size
    assert found[-1] == pytest.approx(mean, rel=1e-10, abs=1e-11)
    root = found[:-1] - found[-1]
    assert root.T @ root == pytest.approx(cov, abs=1e-10)


@pytest.mark.parametrize("name", PRECISIONS)
def test_derivatives_are_those_of_dense_algebra(name):
    P, _ = PRECISIONS[name]
    rng = np.random.default_rng(RNG)
    size = np.sqrt(np.diag(P))
    h = rng.standard_normal(len(P)) * size
    rise = np.where(P != 0, rng.standard_normal(P.shape), 0) * np.outer(size, size)
    rise = rise + rise.T
    form, slopes = read(P, h)
    along = np.vstack([np.zeros(len(P)), -form.probes() @ rise])
    known = integral(slopes, *form.form)
    found = (integral_slope(slopes, *form.form, known, np.array(1.3)) * along).sum()
    unit, turned = P / np.outer(size, size), rise / np.outer(size, size)
    expected = 0.65 * (np.linalg.inv(unit) * turned).sum()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_an_entry_that_should_be_zero_makes_no_number():
    P, linked = chain(30), chain(30) != 0
    P[3, 20] = P[20, 3] = 1e-3
    form, slopes = read(P, np.ones(30), linked)
    assert np.isnan(integral(slopes, *form.form)).all()
    with pytest.raises(DataError, match="digits"):
        form.solve(slopes[None], np.zeros((1, 30)))


@pytest.mark.parametrize("excess", [1e-17, 0.0, -1e-3])
def test_a_chain_without_a_level_makes_no_number(excess):
    P = 2.0 * np.eye(30) - np.eye(30, k=1) - np.eye(30, k=-1)
    P[0, 0] = P[-1, -1] = 1.0
    form, slopes = read(P + excess * np.eye(30), np.ones(30))
    assert np.isnan(integral(slopes, *form.form)).all()


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9])
def test_near_a_chain_without_a_level_digits_are_lost_as_stated(excess):
    P = 2.0 * np.eye(30) - np.eye(30, k=1) - np.eye(30, k=-1)
    P[0, 0] = P[-1, -1] = 1.0
    P[0, 0] += excess  # the determinant
    form, slopes = read(P, np.zeros(30))
    assert integral(slopes, *form.form)[-1] == pytest.approx(np.log(excess) / 2, abs=1e-13 / excess)
