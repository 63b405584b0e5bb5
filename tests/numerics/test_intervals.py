"""Intervals of every law: equal tails and highest density, by formulas and beside ArviZ's."""

import arviz_stats as azs
import numpy as np
import pymc as pm
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.belief import intervals

LAWS = {
    "normal": stats.norm(3, 2),
    "gamma": stats.gamma(3, scale=2),
    "beta": stats.beta(5, 19),
    "student": stats.t(3),
    "exponential": stats.expon(),
    "falling beta": stats.beta(0.9, 4),
    "rising beta": stats.beta(4, 0.9),
    "tiny": stats.norm(1e3, 1e-3),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("prob", [0.5, 0.89, 0.999])
def test_highest_density_ends_have_equal_densities_or_are_at_an_end(name, prob):
    law = LAWS[name]
    low, high = intervals.ends(law, prob, "hdi")
    assert law.cdf(high) - law.cdf(low) == pytest.approx(prob, abs=1e-8)
    inner = [end for end in (low, high) if end not in law.support()]
    assert len(inner) == (1 if name in ("exponential", "falling beta", "rising beta") else 2)
    if len(inner) == 2:
        assert law.pdf(low) == pytest.approx(law.pdf(high), rel=1e-4)


def test_the_normal_law_has_both_intervals_alike_and_the_exponential_begins_at_zero():
    for kind in ("eti", "hdi"):
        low, high = intervals.ends(stats.norm(), 0.9, kind)
        np.testing.assert_allclose([low, high], stats.norm.interval(0.9), atol=1e-6)
    low, high = intervals.ends(stats.expon(), 0.9, "hdi")
    assert (low, high) == (0.0, pytest.approx(np.log(10)))


def test_ends_are_elementwise():
    law = stats.gamma(np.array([[1.5, 4.0], [30.0, 0.7]]), scale=[1.0, 3.0])
    low, high = intervals.ends(law, 0.8, "hdi")
    for at in np.ndindex(2, 2):
        one = stats.gamma(law.args[0][at], scale=[1.0, 3.0][at[1]])
        np.testing.assert_allclose((low[at], high[at]), intervals.ends(one, 0.8, "hdi"), rtol=1e-6)


def counts():
    with pm.Model() as model:
        pm.Poisson("x", pm.math.exp(pm.Normal("level", 0, 2)), observed=[3, 5, 4])
    return bm.integrate(model, rng=1)


def closed():
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2, 1)
        pm.Deterministic("wait", 2 * rate)
        pm.Poisson("x", rate, observed=[3, 5, 4])
    return bm.exact(model, rng=1)


def several():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5))
    with pm.Model() as model:
        w = pm.Normal("w", 0, 2, shape=5)
        pm.Bernoulli("y", logit_p=X @ w, observed=rng.integers(0, 2, 60))
    return bm.integrate(model, rng=1)


RUNGS = {
    "belief": lambda: bm.BetaBernoulli(5, 19),
    "closed form": closed,
    "integrated": counts,
    "weighted": several,
    "covariances": lambda: bm.NormalInverseWishart([0, 0], 1, 9, [[2, 0.5], [0.5, 1]]),
    "several laws": lambda: bm.BetaBernoulli([5, 8], [19, 10]),
}


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_intervals_of_every_rung_are_those_that_arviz_finds_in_draws(name, kind):
    posterior = RUNGS[name]()
    draws = posterior.sample(100_000, rng=1)
    for variable, (low, high) in posterior.interval(0.89, kind).items():
        x = np.moveaxis(draws[variable], 0, -1)
        given = getattr(azs.base.array_stats, kind)(x, 0.89, axis=-1)
        sd = x.std(-1)
        # An end of highest density moves by the cube root of the number of draws; weighted points
        # are worth some 10,000.
        tolerance = {"eti": 0.02, "hdi": 0.15}[kind] * (3 if name == "weighted" else 1)
        assert (np.abs(low - given[..., 0]) < tolerance * sd).all()
        assert (np.abs(high - given[..., 1]) < tolerance * sd).all()
        inside = ((x >= np.expand_dims(low, -1)) & (x <= np.expand_dims(high, -1))).mean(-1)
        np.testing.assert_allclose(inside, 0.89, atol=0.012)


def test_summaries_name_their_intervals_as_arviz_does():
    table = closed().summary(0.9, "hdi")
    assert list(table.columns[:4]) == ["mean", "sd", "hdi90_lb", "hdi90_ub"]
    law = stats.gamma(14, scale=1 / 4)
    np.testing.assert_allclose(
        table.loc["rate"].iloc[2:4].astype(float), intervals.ends(law, 0.9, "hdi")
    )
    np.testing.assert_allclose(
        table.loc["wait"].iloc[2:4].astype(float), 2 * np.array(intervals.ends(law, 0.9, "hdi"))
    )


def test_the_old_word_is_taken_with_a_warning_and_other_kinds_are_refused():
    belief = bm.BetaBernoulli(5, 19)
    with pytest.warns(FutureWarning, match="is called ci_prob now"):
        old = belief.interval(prob=0.5)
    assert old == belief.interval(0.5)
    with pytest.raises(bm.DataError, match="ci_kind: must be 'eti'"):
        belief.interval(0.5, "equal")
    with pytest.raises(bm.DataError, match="ci_prob: must be strictly"):
        belief.interval(1)
