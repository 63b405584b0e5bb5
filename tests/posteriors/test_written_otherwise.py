"""Models as users write them, in ways that no table of models has."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, stats

import bayesmodels as bm


def test_integrated_from_a_start_that_is_given():
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, initval=0.5)
        pm.Poisson("y", pm.math.exp(b), observed=[1, 2, 3])

    def density(b):
        return stats.norm.pdf(b) * stats.poisson.pmf([1, 2, 3], np.exp(b)).prod()

    evidence = integrate.quad(density, -12, 5, epsabs=0, epsrel=1e-10)[0]
    found = bm.integrate(model, rng=1)
    np.testing.assert_allclose(found.log_evidence, np.log(evidence), rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
def test_a_function_of_missing_rows_where_a_start_is_given():
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, initval=0.5)
        y = pm.Normal("y", b, 1, observed=np.ma.masked_invalid([1, np.nan, 2]))
        pm.Deterministic("twice", 2 * y)
    drawn = bm.exact(model, rng=1).to_datatree(100, rng=2)["posterior"]
    np.testing.assert_array_equal(drawn["twice"][..., 1], 2 * drawn["y_unobserved"][..., 0])


def test_an_integral_is_of_the_data_it_was_made_with():
    def counts():
        with pm.Model() as model:
            x, y = pm.Data("x", [1.0, 2, 3]), pm.Data("y_seen", [1, 2, 4])
            b, k = pm.Normal("b", 0, 1), pm.Bernoulli("k", 0.3)
            pm.Poisson("y", pm.math.exp(b * x / 3 + k), observed=y)
        return bm.integrate(model, rng=1)

    found, held = counts(), counts()
    pm.set_data({"x": [3.0, 1, 0], "y_seen": [0, 0, 9]}, model=found.model)
    at = {"b": np.array([0.3]), "k": np.array([1])}
    np.testing.assert_array_equal(found.log_density(at), held.log_density(at))
    drawn, others = (each.sample(100, rng=2) for each in (found, held))
    np.testing.assert_array_equal(drawn["b"], others["b"])
    np.testing.assert_array_equal(drawn["k"], others["k"])
    assert found.leave_one_out().equals(held.leave_one_out())
