"""Angles: the ends of their support are one place, and there is one turn, not any number."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, stats

import bayesmodels as bm
from bayesmodels.posteriors.support import supports
from bayesmodels.posteriors.support.circle import CIRCLE

ANGLES = {
    "beside zero": ([0.3, 0.8, -0.2], 0.0, 1.0, 2.0),
    "where the ends meet": ([3.1, -3.0, 3.0, 2.9], 1.0, 0.5, 5.0),
    "narrow where the ends meet": ([3.14, -3.1, 3.0] * 10, 0.0, 1e-3, 50.0),
}
SMALL_TURN = 1e-9


def directions(data, centre, strength, concentration, shape=()):
    """Build a model of angles around an unknown one."""
    with pm.Model() as model:
        mu = pm.VonMises("mu", centre, strength, shape=shape)
        for i, y in enumerate(data):
            pm.VonMises(f"y{i}", mu, concentration, observed=np.full(shape, y))
    return model


def integrals(data, centre, strength, concentration):
    """Return log evidence and mean by quadrature between the ends."""
    top = np.arctan2(np.sin(data).sum(), np.cos(data).sum())
    scale = stats.vonmises.logpdf(data, concentration, loc=top).sum()

    def density(t):
        logs = stats.vonmises.logpdf(data, concentration, loc=t).sum()
        return np.exp(stats.vonmises.logpdf(t, strength, loc=centre) + logs - scale)

    points = sorted({*np.linspace(-np.pi, np.pi, 9)[1:-1], top})
    total, mean = (
        integrate.quad(f, -np.pi, np.pi, points=points, epsabs=0, epsrel=1e-12, limit=400)[0]
        for f in (density, lambda t: t * density(t))
    )
    return np.log(total) + scale, mean / total


@pytest.mark.slow
@pytest.mark.parametrize("case", ANGLES.values(), ids=ANGLES)
def test_an_integral_goes_once_around(case):
    posterior = bm.integrate(directions(*case), rng=1)
    log_evidence, mean = integrals(*case)
    errors = posterior.errors
    assert abs(posterior.log_evidence - log_evidence) <= errors["log_evidence"] + 1e-10
    assert abs(posterior.mean()["mu"] - mean) <= errors["mean"]["mu"] + 1e-9
    draws = posterior.sample(1000, np.random.default_rng(1))["mu"]
    assert (np.abs(draws) <= np.pi).all()
    assert posterior.marginals()["mu"].cdf(np.pi) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.slow
def test_an_angle_beside_other_variables():
    data = np.array([0.3, 0.8, -0.2])
    with pm.Model() as model:
        mu, kappa = pm.VonMises("mu", 0, 1), pm.Gamma("kappa", 2, 1)
        pm.VonMises("y", mu, kappa, observed=data)
    mass = integrate.dblquad(
        lambda k, t: np.exp(
            stats.vonmises.logpdf(t, 1)
            + stats.gamma.logpdf(k, 2)
            + stats.vonmises.logpdf(data, k, loc=t).sum()
        ),
        *(-np.pi, np.pi, 0, 60),
    )[0]
    assert bm.integrate(model, rng=1).log_evidence == pytest.approx(np.log(mass), abs=1e-8)


def test_two_angles_do_not_know_of_each_other():
    case = ANGLES["beside zero"]
    posterior = bm.integrate(directions(*case, shape=(2,)), rng=1)
    log_evidence, mean = integrals(*case)
    assert posterior.log_evidence == pytest.approx(2 * log_evidence, abs=1e-7)
    assert posterior.mean()["mu"] == pytest.approx([mean, mean], abs=1e-7)


@pytest.mark.slow
def test_a_conjugate_part_beside_an_angle_is_integrated_out():
    with pm.Model() as model:
        share, angle = pm.Beta("share", 2, 2), pm.VonMises("angle", 0, 1)
        pm.Binomial("n", 10, share, observed=4)
        pm.VonMises("y", angle, 2, observed=[0.3, 0.8])
    assert bm.exact(model, partial=True, rng=1).integrated == ("share",)


def test_no_closed_form_is_said_of_angles():
    with pytest.raises(bm.NotConjugate, match="mu is not a law on a circle") as refused:
        bm.exact(directions(*ANGLES["beside zero"]), rng=1)
    assert "space of its own" not in refused.value.reason


@pytest.mark.slow
def test_what_is_the_same_of_angles_is_seen_all_around():
    def written_out(strength, beyond=0.0):
        with pm.Model() as model:
            mu = pm.VonMises("mu", 0, strength)
            pull = sum(2 * pm.math.cos(mu - y) for y in (0.3, 0.8))
            far = pm.math.switch(mu > np.pi - 0.1, beyond, 0.0)
            pm.Potential("y", pull + far if beyond else pull)
        return model

    with pm.Model() as model:
        pm.VonMises("y", pm.VonMises("mu", 0, 1), 2, observed=[0.3, 0.8])
    assert bm.same(model, written_out(1.0)).outcome == "agree"
    assert bm.same(model, written_out(1.01)).outcome == "disagree"
    assert bm.same(model, written_out(1.0, beyond=-1.0)).outcome == "disagree"


def test_points_of_a_circle_stay_on_it():
    with pm.Model() as model:
        pm.VonMises("mu", 0, 1, shape=3)
    (support,) = supports(model)
    assert support.kind is CIRCLE
    rng = np.random.default_rng(1)
    z, low, high = 100 * rng.standard_normal(1000), *support.ends
    x = CIRCLE.somewhere(z, 10.0, low, high)
    for points in (x, CIRCLE.shift(x, z), CIRCLE.far(x, z), CIRCLE.clip(10 * x, low, high)):
        assert ((points >= low) & (points <= high)).all()
    assert CIRCLE.shift(np.array(np.pi - SMALL_TURN), 2 * SMALL_TURN) == pytest.approx(-np.pi)


@pytest.mark.slow
def test_bridge_sampling_goes_once_around():
    case = ANGLES["beside zero"]
    model = directions(*case)
    draws = bm.integrate(model, rng=1).to_datatree(500, 4, rng=1)
    found = bm.bridge_sampling(model, draws, rng=1)
    assert found.log_evidence == pytest.approx(integrals(*case)[0], abs=5 * found.error)
