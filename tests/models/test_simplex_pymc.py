"""The simplex transform as one operation, against PyMC's own."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.distributions.transforms import SimplexTransform
from pytensor.compile.mode import Mode
from pytensor.gradient import verify_grad

from bayesmodels.models.simplex_pymc import LogSimplex, LogSimplexPullback, Simplex

IN_PYTHON = Mode(linker="py", optimizer=None)
RNG = np.random.default_rng(20261122)
SHAPES = [(3,), (2, 4), (2, 3, 1), (2, 0)]


@pytest.fixture(autouse=True)
def _without_c():
    """PyMC's transform is a graph of its own, compiled in C for seconds whatever the mode."""
    with pytensor.config.change_flags(cxx=""):
        yield


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_transform_of_pymc(shape):
    free = RNG.normal(size=shape)
    y = pt.tensor(shape=shape)
    parts = [
        part
        for transform in (Simplex(), SimplexTransform())
        for part in (transform.backward(y), transform.log_jac_det(y))
    ]
    theta, volume, theirs, their_volume = pytensor.function([y], parts, mode=IN_PYTHON)(free)
    np.testing.assert_allclose(theta, theirs, rtol=1e-13)
    np.testing.assert_allclose(volume, their_volume, rtol=1e-13, atol=1e-13)
    back = Simplex().forward(pt.as_tensor(theta)).eval(mode=IN_PYTHON)
    np.testing.assert_allclose(back, free, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_same_in_python_and_in_numba(shape):
    free, given = RNG.normal(size=shape), RNG.normal(size=(*shape[:-1], shape[-1] + 1))
    y, g = pt.tensor(shape=shape), pt.tensor(shape=given.shape)
    logs = LogSimplex()(y)
    made = [logs, LogSimplexPullback()(logs, g)]
    for one, other in zip(
        *(pytensor.function([y, g], made, mode=mode)(free, given) for mode in (IN_PYTHON, "NUMBA")),
        strict=True,
    ):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", [(3,), (2, 4)])
def test_first_and_second_derivatives(shape):
    free, given = RNG.normal(size=shape), RNG.normal(size=(*shape[:-1], shape[-1] + 1))
    verify_grad(LogSimplex(), [free], rng=RNG, mode=IN_PYTHON)
    verify_grad(LogSimplexPullback(), [given - 2, given], rng=RNG, mode=IN_PYTHON)


def test_shapes_are_known_and_far_coordinates_keep_their_logarithm():
    assert LogSimplex()(pt.tensor(shape=(None, 6))).type.shape == (None, 7)
    logs = LogSimplex()(np.array([800.0, -700.0]))
    assert logs.shape.eval().tolist() == [3]
    np.testing.assert_allclose(logs.eval(mode=IN_PYTHON), [0, -1500, -900])
    np.testing.assert_allclose(logs.eval(mode=Mode(linker="numba")), [0, -1500, -900])


@pytest.mark.slow
def test_a_dirichlet_has_the_same_density_with_it():
    alpha = np.array([0.5, 2.0, 3.0])
    with pm.Model() as ours:
        pm.Dirichlet("theta", alpha, default_transform=Simplex())
    with pm.Model() as theirs:
        pm.Dirichlet("theta", alpha)
    at = {"theta_simplex__": np.array([0.3, -1.2])}
    for model_logp in ("logp", "dlogp"):
        one, other = (
            getattr(model, f"compile_{model_logp}")(mode=IN_PYTHON)(at) for model in (ours, theirs)
        )
        np.testing.assert_allclose(one, other, rtol=1e-12)
