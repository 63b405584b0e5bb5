"""Log terms of one form, as loops declare them, are put together; nothing else is."""

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.posteriors.alike import stacked
from bayesmodels.posteriors.density import compiled, named_terms
from tests.posteriors.test_endless import built

pytestmark = pytest.mark.usefixtures("slow_clock")
RNG = np.random.default_rng(20261126)
N = 6
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=N)
COUNTS = RNG.poisson(3, N)


def rows_of_a_regression():
    w, scale = pm.Normal("w", 0, 3, shape=2), pm.HalfNormal("scale", 2)
    for i in range(N):
        pm.Normal(f"y{i}", w[0] * X[i, 0] + w[1] * X[i, 1], scale, observed=Y[i])


def rows_by_dot_products():
    w, scale = pm.Normal("w", 0, 3, shape=2), pm.HalfNormal("scale", 2)
    for i in range(N):
        pm.Normal(f"y{i}", pm.math.dot(X[i], w), scale, observed=Y[i])


def rows_that_share_a_number():
    w, scale = pm.Normal("w", 0, 3), pm.HalfNormal("scale", 2)
    for i, x in enumerate([0.0, 1.0, 1.0, 2.0, 0.0, 3.0]):  # x is y, twice
        pm.Normal(f"y{i}", w * x, scale, observed=[0.0, 1.0, 3.0, 1.0, 1.0, 2.0][i])


def rates_of_their_own():
    total = pm.Gamma("total", 2, 1)
    rates = [pm.Gamma(f"rate{i}", 2, total) for i in range(N)]
    for i in range(N):
        pm.Poisson(f"y{i}", rates[i] * (1 + i), observed=COUNTS[i])


def elements_of_a_walk():
    x = pm.Normal("x", 0, 2, shape=N + 1)
    for i in range(N):
        pm.Normal(f"y{i}", x[i + 1] - x[i], 0.5, observed=Y[i])


def rows_of_different_lengths():
    mean = pm.Normal("mean", 0, 2)
    for i in range(N):
        pm.Normal(f"y{i}", mean, 1.0, observed=RNG.normal(size=2 + i % 2))


@pytest.mark.parametrize(
    ("declare", "left"),
    [
        (rows_of_a_regression, 3),
        (rows_by_dot_products, 3),
        (rows_that_share_a_number, 5),  # w times 0 is written as 0, and w times 1 as w
        (rates_of_their_own, 4),
        (elements_of_a_walk, 2),
        (rows_of_different_lengths, 7),  # three of each are too few to be worth it
    ],
)
def test_the_density_and_its_slopes_stay_what_they_are(declare, left):
    points, terms = named_terms(built(declare))
    terms = list(terms.values())
    alike = stacked(terms)
    assert len(alike) == left
    run = compiled(points, [sum(t.sum() for t in some) for some in (terms, alike)])
    for _ in range(5):
        one, other = run(*(np.exp(RNG.normal(size=p.type.shape)) for p in points))
        assert other == pytest.approx(one, rel=1e-13)


def test_a_parameter_that_is_out_of_range_is_told_as_before():
    points, terms = named_terms(built(rows_of_a_regression))
    terms = list(terms.values())
    below = [-np.ones(p.type.shape) for p in points]
    for some in (terms, stacked(terms)):
        with pytest.raises(pm.logprob.utils.ParameterValueError, match="sigma > 0"):
            compiled(points, some)(*below)


def schools(awkward, *, loop):
    effects, errors = [2.8, 0.8, -0.3, 0.7, -0.1, 1.2], [1.5, 1.0, 1.6, 1.1, 0.9, 1.8]
    tau = pm.Gamma("tau", 10, 5)
    if loop:
        theta = [pm.Normal(f"theta{i}", 0, tau) for i in range(N)]
    else:
        theta = pm.Normal("theta", 0, tau, shape=N - 1)
        theta = [*(theta[i] for i in range(N - 1)), pm.Normal("last", 0, tau)]
    for i in range(N):
        if loop:
            pm.Normal(f"y{i}", theta[i], errors[i], observed=effects[i])
    if not loop:
        pm.Normal("y", pm.math.stack(theta), errors, observed=effects)
    if awkward:
        pm.Poisson("count", pm.math.exp(theta[-1]), observed=2)


@pytest.mark.slow
@pytest.mark.parametrize("awkward", [False, True])
def test_one_of_a_loop_may_be_integrated_and_another_not(awkward):
    found = [
        bm.integrate(built(lambda loop=loop: schools(awkward, loop=loop)), rng=1)
        for loop in (True, False)
    ]
    assert found[0].log_evidence == pytest.approx(found[1].log_evidence, abs=2e-6)
    assert len(found[0].remaining) == 1 + awkward
    last = found[0].mean()[f"theta{N - 1}"]
    assert last == pytest.approx(found[1].mean()["last"], abs=1e-5)
