"""Where a scalar may lie can depend on data or a potential: coordinates end there."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import integrate, stats

import bayesmodels as bm
from bayesmodels.posteriors.edges import edges
from bayesmodels.posteriors.model_density import ModelDensity

RNG = 20261128
Y = np.array([0.3, 1.7, 2.2, 0.9])


def built(declare):
    with pm.Model() as model:
        declare()
    return model


def pareto():
    t = pm.Pareto("t", 2.0, 1.0)
    pm.Uniform("y", 0, t, observed=Y)


def gamma():
    t = pm.Gamma("t", 3.0, 1.0)
    pm.Uniform("y", 0, t, observed=Y)


def started():
    t = pm.Gamma("t", 3.0, 1.0, initval=9.0)
    pm.Uniform("y", 0, t, observed=Y)


def width():
    a = pm.Normal("a", 0, 5)
    pm.Uniform("y", a - 1, a + 1, observed=Y)


def both_sides():
    t = pm.HalfNormal("t", 5)
    pm.Uniform("y", -2 * t, t, observed=[-3.0, 2.0, 1.0])


def least():
    m = pm.Gamma("m", 2, 1)
    pm.Pareto("y", 2.0, m, observed=[5.0, 7.0])


def potential():
    a = pm.Normal("a", 0, 5)
    pm.Normal("y", a, 1, observed=Y)
    pm.Potential("box", pt.switch((a > 1.5) & (3 * a - 1 <= 8), 0.0, -np.inf))


def share():
    theta = pm.Beta("theta", 2, 3)
    pm.Bernoulli("x", theta, observed=[1, 0, 1, 1, 0])
    pm.Potential("less than a third", pm.math.switch(theta < 1 / 3, 0, -np.inf))


def bounded():
    t = pm.Uniform("t", 1.0, 6.0)
    pm.Uniform("y", 0, t, observed=Y)


def inside(a):
    return stats.norm.pdf(a, 0, 5) * stats.norm.pdf(Y - a).prod()


CASES = {  # density by hand, and between which ends
    pareto: (lambda t: 2 * t**-3.0 * t**-4.0, 2.2, np.inf),
    gamma: (lambda t: stats.gamma.pdf(t, 3) * t**-4.0, 2.2, np.inf),
    started: (lambda t: stats.gamma.pdf(t, 3) * t**-4.0, 2.2, np.inf),
    width: (lambda a: stats.norm.pdf(a, 0, 5) / 16, 1.2, 1.3),
    both_sides: (lambda t: stats.halfnorm.pdf(t, 0, 5) * (3 * t) ** -3.0, 2, np.inf),
    least: (lambda m: stats.gamma.pdf(m, 2) * 4 * m**4.0 / 35.0**3, 0, 5),
    potential: (inside, 1.5, 3.0),
    share: (lambda p: stats.beta.pdf(p, 2, 3) * p**3 * (1 - p) ** 2, 0, 1 / 3),
    bounded: (lambda t: t**-4.0 / 5, 2.2, 6.0),
}


def moments(density, low, high):
    """Return the mass, mean and standard deviation of a density by hand."""
    mass, first, second = (
        integrate.quad(lambda t, k=k: t**k * density(t), low, high, epsabs=0, epsrel=1e-13)[0]
        for k in range(3)
    )
    return mass, first / mass, np.sqrt(second / mass - (first / mass) ** 2)


@pytest.mark.parametrize("declare", CASES)
def test_integrals_begin_and_end_where_the_density_does(declare):
    density, low, high = CASES[declare]
    mass, mean, sd = moments(density, low, high)
    posterior = bm.integrate(built(declare), rng=RNG)
    (name,) = posterior.dims
    errors = posterior.errors
    assert abs(posterior.log_evidence - np.log(mass)) <= errors["log_evidence"] + 1e-9
    assert abs(posterior.mean()[name] - mean) <= errors["mean"][name] + 1e-8
    assert abs(np.sqrt(posterior.var()[name]) - sd) <= errors["sd"][name] + 1e-7
    assert errors["log_evidence"] < 1e-6
    law = posterior.marginals()[name]
    middle = law.ppf(0.3)
    below = integrate.quad(density, low, middle, epsabs=0, epsrel=1e-11)[0] / mass
    assert below == pytest.approx(0.3, abs=1e-6)
    assert law.cdf(low - 1e-3) == 0
    draws = posterior.sample(1000, RNG)[name]
    assert (draws >= low).all()
    assert (draws <= high).all()
    assert "can only lie between" in posterior.explain()


@pytest.mark.parametrize("declare", CASES)
def test_closed_forms_begin_and_end_where_the_density_does(declare):
    density, low, high = CASES[declare]
    mass, mean, sd = moments(density, low, high)
    posterior = bm.exact(built(declare), rng=RNG)
    (name,) = posterior.dims
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=1e-11)
    assert posterior.mean()[name] == pytest.approx(mean, rel=1e-11)
    assert np.sqrt(posterior.var()[name]) == pytest.approx(sd, rel=1e-7)
    law = posterior.marginals()[name]
    below = integrate.quad(density, low, law.ppf(0.3), epsabs=0, epsrel=1e-12)[0] / mass
    assert below == pytest.approx(0.3, rel=1e-9)
    draws = posterior.sample(1000, RNG)[name]
    assert ((draws >= low) & (draws <= high)).all()
    assert stats.kstest(draws, law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [0.4, 1.5, 2.5, 40.0])
def test_a_closed_form_that_falls_off_like_a_power(alpha):
    """Of a small power there is neither a mean nor a deviation."""
    with pm.Model() as model:
        t = pm.Pareto("t", alpha, 3.0)
        pm.Uniform("y", 0, t, observed=[1.0, 5.0])
        pm.Potential("rows", 2 * pt.log(t))  # takes the data's own power back
    posterior = bm.exact(model, rng=RNG)
    law, known = posterior.marginals()["t"], stats.pareto(alpha, scale=5.0)
    q = np.array([1e-9, 0.01, 0.5, 0.99, 1 - 1e-9])
    np.testing.assert_allclose(law.ppf(q), known.ppf(q), rtol=1e-11)
    np.testing.assert_allclose(law.isf(q), known.isf(q), rtol=1e-11)
    np.testing.assert_allclose(law.logpdf(known.ppf(q)), known.logpdf(known.ppf(q)), atol=1e-11)
    assert posterior.mean()["t"] == pytest.approx(known.mean())
    assert posterior.var()["t"] == pytest.approx(known.var())
    assert f"t has a Pareto law with alpha {alpha:g}, m 5." in posterior.explain()
    assert posterior.log_evidence == pytest.approx(alpha * np.log(3 / 5), abs=1e-12)


def test_simulated_data_have_ends_of_their_own():
    """A closed form between ends that the data set is none of other data: they are integrated."""
    model = built(pareto)
    result = bm.calibrate(model, n=100, rng=RNG)
    assert (result.outcome, result.method) == ("agree", "integrated")
    with pytest.raises(bm.DataError, match="between which numbers t may lie depends on the data"):
        bm.calibrate(model, method="exact", rng=RNG)


def test_a_uniform_end_under_a_pareto_prior_is_pareto():
    posterior = bm.integrate(built(pareto), rng=RNG)
    law = stats.pareto(6, scale=2.2)
    low, high = posterior.interval(0.9)["t"]
    assert [low, high] == pytest.approx(law.ppf([0.05, 0.95]), rel=1e-5)
    assert posterior.mean()["t"] == pytest.approx(law.mean(), rel=1e-6)


def test_both_ends_unknown_and_a_rate_in_closed_form():
    def ends():
        a, b = pm.Normal("a", 0, 5), pm.Normal("b", 3, 5)
        rate = pm.Gamma("rate", 2, 1)
        pm.Uniform("y", a, b, observed=Y)
        pm.Poisson("n", rate * (b - a), observed=7)

    def density(b, a):
        counts = stats.nbinom.pmf(7, 2, 1 / (1 + b - a))
        return stats.norm.pdf(a, 0, 5) * stats.norm.pdf(b, 3, 5) * (b - a) ** -4.0 * counts

    mass = integrate.dblquad(density, -60, 0.3, 2.2, 60, epsabs=0, epsrel=1e-10)[0]
    posterior = bm.integrate(built(ends), rng=RNG)
    assert posterior.integrated == ("rate",)
    assert posterior.log_evidence == pytest.approx(np.log(mass), abs=1e-6)


def test_what_holds_of_some_elements_alone_is_no_end():
    def some():
        a = pm.Normal("a")
        pm.Potential("one of them", pt.switch((a > 1) | (a < -2), 0.0, -np.inf))
        pm.Potential("less likely", pt.switch(a > 0.5, 0.0, -3.0))
        pm.Potential("first", pt.switch(pt.stack([a, a]) > np.array([0, 3]), 0.0, -np.inf)[0])
        pm.Potential("squared", pt.switch(a**2 < 4, 0.0, -np.inf))

    assert edges(ModelDensity(built(some))) == {}


def test_rows_are_not_left_out_where_they_say_what_is_possible():
    with pytest.raises(bm.DataError, match=r"leave_one_out: where t may lie"):
        bm.integrate(built(gamma), rng=RNG).leave_one_out()


def test_new_rows_move_the_end():
    with pm.Model() as model:
        rows = pm.Data("rows", Y)
        pm.Uniform("y", 0, pm.Gamma("t", 3.0, 1.0), observed=rows)
    posterior = bm.integrate(model, rng=RNG)
    later = bm.integrate(built(lambda: gamma_of([*Y, 3.1])), rng=RNG)
    with model:
        pm.set_data({"rows": [*Y, 3.1]})
    found = bm.integrate(model, rng=RNG)
    assert found.log_evidence == pytest.approx(later.log_evidence, abs=1e-8)
    assert posterior.log_evidence != pytest.approx(later.log_evidence, abs=1e-2)


def gamma_of(rows):
    pm.Uniform("y", 0, pm.Gamma("t", 3.0, 1.0), observed=rows)
