"""What is evaluated for many small matrices at once is what PyTensor evaluates one by one."""

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.linalg import cholesky, solve_triangular

from bayesmodels.numerics.sparse_cholesky import sparse_precision
from bayesmodels.posteriors.density import PYTHON_MODE
from bayesmodels.posteriors.normal_integral import NormalIntegral

RNG = np.random.default_rng(20261125)
X = RNG.standard_normal((30, 4, 4))
MATRICES = X @ X.swapaxes(-1, -2) + np.eye(4)
ONE_BY_ONE = Mode(linker="py", optimizer=None)


def evaluated(outputs, inputs, values):
    """Return what many rows give in both ways."""
    rows = {v: pt.tensor(shape=(None, *v.type.shape)) for v in inputs}
    many = vectorize_graph(outputs, rows)
    return [
        function([*rows.values()], many, mode=mode)(*values) for mode in (ONE_BY_ONE, PYTHON_MODE)
    ]


def test_roots_are_nan_where_a_matrix_is_not_positive_definite():
    m = pt.tensor(shape=(4, 4))
    given = MATRICES.copy()
    given[7, 2, 2] = -1.0
    alone, together = evaluated([cholesky(m)], [m], [given])
    assert np.isnan(together[0][7]).any()
    rest = np.arange(30) != 7
    np.testing.assert_allclose(together[0][rest], alone[0][rest], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 3)], ids=str)
def test_triangular_systems(lower, shape):
    root, right = pt.tensor(shape=(4, 4)), pt.tensor(shape=shape)
    found = solve_triangular(root, right, lower=lower, b_ndim=len(shape))
    values = [np.linalg.cholesky(MATRICES), RNG.standard_normal((30, *shape))]
    if not lower:
        values[0] = values[0].swapaxes(-1, -2)
    alone, together = evaluated([found], [root, right], values)
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-12, atol=1e-13)


def test_one_system_for_many_right_sides():
    right = pt.tensor(shape=(4,))
    found = solve_triangular(np.linalg.cholesky(MATRICES[0]), right, lower=True, b_ndim=1)
    alone, together = evaluated([found], [right], [RNG.standard_normal((30, 4))])
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_normal_blocks():
    matrix = 2.5 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1)
    precision = sparse_precision(matrix != 0, np.ones(6), RNG)
    probes = np.concatenate([np.zeros((1, 6)), precision.probes()])
    scales = RNG.uniform(0.1, 10, (30, 1, 1))
    slopes = RNG.standard_normal((30, 1, 6)) - scales * (probes @ matrix)
    given = pt.tensor(shape=probes.shape)
    found = NormalIntegral()(given, *[pt.constant(x) for x in precision.form])
    alone, together = evaluated([found], [given], [slopes])
    assert np.isfinite(together[0]).all()
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-14)
    np.testing.assert_allclose(
        together[0][:, -1], np.linalg.slogdet(scales * matrix)[1] / 2, rtol=1e-9
    )
