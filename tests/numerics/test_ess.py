"""Effective numbers of draws: ArviZ's, for many functions at once."""

import numpy as np
import pytest
from arviz_stats.sampling_diagnostics import ess, rhat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from bayesmodels.numerics.convergence import convergence
from bayesmodels.numerics.ess import effective_draws


def chains(rng, rho, shape):
    return signal.lfilter([1], [1, -rho], rng.normal(size=shape), axis=-1)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([-0.9, -0.5, 0.0, 0.5, 0.9, 0.99]),
    st.integers(1, 6),
    st.integers(8, 300),
    st.sampled_from([0.0, 2.0]),
)
def test_it_is_what_arviz_finds(seed, rho, number, length, offset):
    x = chains(np.random.default_rng(seed), rho, (3, number, 2 * length))
    x[1, 0] += offset
    expected = [min(float(ess(v, method="mean")), v.size) for v in x]
    np.testing.assert_allclose(effective_draws(x).number, expected, rtol=1e-9)


def test_blocks_of_functions_do_not_change_the_answer():
    x = chains(np.random.default_rng(1), 0.5, (40, 4, 1000))
    one = np.array([effective_draws(v).number for v in x])
    np.testing.assert_allclose(effective_draws(x).number, one, rtol=1e-12)


def test_more_autocorrelation_leaves_fewer_degrees_of_freedom():
    rng = np.random.default_rng(2)
    free, bound = (effective_draws(chains(rng, rho, (50, 4, 1000))) for rho in (0.0, 0.95))
    assert np.median(bound.freedom) < np.median(free.freedom) / 10
    assert np.median(free.number) == pytest.approx(4000, rel=0.03)
    assert np.median(bound.number) == pytest.approx(4000 * 0.05 / 1.95, rel=0.3)


def test_chains_that_differ_count_for_little_unless_told_otherwise():
    x = np.random.default_rng(3).normal(size=(4, 1000))
    x[2] += 2
    assert effective_draws(x).number < 20
    assert effective_draws(x, between=False).number > 3000


def test_what_never_varies_is_one_draw():
    assert effective_draws(np.ones((2, 4, 100))).number.tolist() == [1.0, 1.0]
    assert effective_draws(np.zeros((0, 4, 100))).number.shape == (0,)


@pytest.mark.parametrize("number", [2, 4])
def test_convergence_of_scalars_is_what_arviz_finds_of_each(number):
    x = chains(np.random.default_rng(number), 0.5, (4, number, 301))
    x[1, 0] += 1.0  # a chain elsewhere
    x[2, 0] *= 3.0  # a chain that is wider
    x[3] = np.round(x[3])  # ties
    found = convergence(x)
    np.testing.assert_allclose(found.ess_bulk, [ess(v, method="bulk") for v in x], rtol=1e-9)
    tails = [ess(v, method="tail", prob=(0.05, 0.95)) for v in x]
    np.testing.assert_allclose(found.ess_tail, tails, rtol=1e-9)
    np.testing.assert_allclose(found.r_hat, [rhat(v, method="rank") for v in x], rtol=1e-9)
