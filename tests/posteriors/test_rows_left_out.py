"""Predictive densities of observed numbers by all others, against quadrature."""

import numpy as np
import pymc as pm
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import stats
from scipy.special import logsumexp

import bayesmodels as bm

RNG = np.random.default_rng(20261126)


@pytest.mark.slow
def test_rows_left_out_of_an_orthogonal_design():
    """With all rows the slope does not move with the level; without one of them it does."""
    x, y = np.tile([-1.0, 1.0], 5), RNG.normal(size=10)
    with pm.Model() as model:
        a, b = pm.Normal("a"), pm.Normal("b")
        noise = pm.HalfNormal("noise")
        pm.Normal("y", a + b * x, noise, observed=y)
    table = bm.integrate(model, rng=1).leave_one_out(rng=1)
    nodes, weights = leggauss(200)
    noises = np.exp(3 * nodes)
    prior = stats.halfnorm.logpdf(noises) + np.log(3 * weights * noises)

    def evidence(keep):
        design = np.column_stack([np.ones(10), x])[keep]
        laws = [
            stats.multivariate_normal(np.zeros(len(design)), s**2 * np.eye(len(design)) + both)
            for both in [design @ design.T]
            for s in noises
        ]
        return logsumexp(prior + [law.logpdf(y[keep]) for law in laws])

    every = evidence(np.ones(10, dtype=bool))
    expected = [every - evidence(np.arange(10) != i) for i in range(10)]
    np.testing.assert_allclose(table["log_density"], expected, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_rows_left_out_of_several_scalars():
    """In a copy of the model they stand in another order."""
    y = np.array([1.1, 1.9, 3.2, 3.8, 9.0, 6.1])

    def build(keep):
        with pm.Model() as model:
            slope, noise = pm.Normal("slope"), pm.HalfNormal("noise", 2)
            pm.Deterministic("ratio", slope / noise)
            pm.StudentT("y", nu=4, mu=slope * np.arange(6.0)[keep], sigma=noise, observed=y[keep])
        return model

    whole = bm.integrate(build(np.arange(6)), rng=1)
    table = whole.leave_one_out(rng=1)
    for row in (0, 4):
        without = bm.integrate(build(np.delete(np.arange(6), row)), rng=1)
        off = table["log_density"].iloc[row] - (whole.log_evidence - without.log_evidence)
        assert abs(off) < table["error"].iloc[row] + 1e-5
