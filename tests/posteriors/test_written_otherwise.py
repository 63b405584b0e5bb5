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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
def test_a_function_of_missing_rows_where_a_start_is_given():
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, initval=0.5)
        y = pm.Normal("y", b, 1, observed=np.ma.masked_invalid([1, np.nan, 2]))
        pm.Deterministic("twice", 2 * y)
    drawn = bm.exact(model, rng=1).to_datatree(100, rng=2)["posterior"]
    np.testing.assert_array_equal(drawn["twice"][..., 1], 2 * drawn["y_unobserved"][..., 0])


@pytest.mark.slow
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


def two_levels(**more):
    with pm.Model() as model:
        level = pm.Normal("level", 0, 1, shape=2, **more)
        pm.Normal("y", level, 1, observed=[0.3, 0.1])
    return model


ORDER = {"transform": pm.distributions.transforms.ordered, "initval": [-1.0, 1.0]}


def test_a_transform_that_orders_makes_another_model():
    found = bm.same(two_levels(), two_levels(**ORDER), rng=1)
    assert (found.outcome, found.terms) == ("disagree", ("the prior of level",))
    assert bm.same(two_levels(**ORDER), two_levels(**ORDER), rng=1).outcome == "agree"


def test_a_transform_that_leaves_out_nothing_makes_no_other_model():
    def model(**more):
        with pm.Model() as made:
            rate = pm.Gamma("rate", 2, 1, **more)
            pm.Poisson("y", rate, observed=[3, 1])
        return made

    assert bm.same(model(), model(default_transform=None), rng=1).outcome == "agree"


def test_no_density_out_of_order():
    found = bm.integrate(two_levels(**ORDER), rng=1)
    log_density = found.log_density({"level": np.array([[1.0, -1.0], [-1.0, 1.0]])})
    # The difference of both is normal: variance 1/2 each, means 0.15 and 0.05.
    known = stats.norm.logpdf([-1, 1], [0.15, 0.05], np.sqrt(0.5)).sum() - stats.norm.logcdf(-0.1)
    np.testing.assert_allclose(log_density, [-np.inf, known], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("y", [[1.0, 2], [1, 1.3, 4]])
def test_a_row_left_out_that_held_the_scale_has_an_error_that_says_so(y):
    def normal(y):
        with pm.Model() as model:
            mu, sd = pm.Normal("mu", 0, 1), pm.HalfNormal("sd", 1)
            pm.Normal("y", mu, sd, observed=y)
        return bm.integrate(model, rng=1)

    found = normal(y)
    known = found.log_evidence - normal(y[:-1]).log_evidence
    log_density, error = found.leave_one_out(rng=1).iloc[-1]
    assert abs(log_density - known) < error


@pytest.mark.parametrize("size", [3, 20])
def test_a_step_where_all_elements_are_large_is_found(size):
    with pm.Model() as model:
        x = pm.Normal("x", shape=size)
        pm.Normal("y", x, 1, observed=np.zeros(size))
        pm.Potential("step", pm.math.switch((x > 0.8).all(), -5.0, 0.0))
    with pytest.raises(bm.NotConjugate, match="of x is close to a closed form but not equal to it"):
        bm.exact(model, rng=1)


@pytest.mark.slow
def test_where_an_offset_leaves_no_digits_to_tell_what_is_normal_it_is_said_of_what():
    group = np.arange(48) % 6
    with pm.Model() as model:
        mu = pm.StudentT("mu", nu=4, mu=1e8, sigma=2)
        v = pm.Normal("v", 0, pm.HalfNormal("s", 1), shape=6)
        pm.Normal("y", mu + v[group], pm.HalfNormal("e", 1), observed=1e8 + np.sin(np.arange(48)))
    with pytest.raises(bm.NotConjugate, match=r"; v is not normal given the rest\.$"):
        bm.exact(model, partial=True, rng=1)
