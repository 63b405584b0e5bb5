"""Normal blocks of every structure that are integrated out: what remains is the right density."""

from itertools import product

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from mpmath import mp
from scipy import stats

import bayesmodels as bm

RNG = 20261124
Y = np.random.default_rng(RNG).normal(0, 2, 14).round(1)
LATE = np.arange(5, 9)


TIMES = np.minimum(np.arange(14)[:, None], np.arange(14))
"""The covariance of a walk, in units of its steps; that of its start is 25 everywhere."""


def walk(walk_sd, shape=14):
    start = pm.Normal.dist(0, 5)
    return pm.GaussianRandomWalk("level", sigma=walk_sd, init_dist=start, shape=shape)


def a_sum_of_steps(walk_sd):
    start, z = pm.Normal("start", 0, 5), pm.Normal("z", shape=13)
    return pt.concatenate([start[None], start + pt.cumsum(walk_sd * z)])


CASES = {  # the level at the times of the data, which data, and the covariances of start and steps
    "every time": (walk, Y, np.ones((14, 14)), TIMES),
    "one observation": (lambda s: walk(s)[9], Y[:1], np.ones((1, 1)), TIMES[9:10, 9:10]),
    "gaps": (lambda s: walk(s)[LATE], Y[LATE], np.ones((4, 4)), TIMES[np.ix_(LATE, LATE)]),
    "two walks that never meet": (
        lambda s: walk(s, (2, 7)).ravel(),
        Y,
        np.kron(np.eye(2), np.ones((7, 7))),
        np.kron(np.eye(2), TIMES[:7, :7]),
    ),
    "no zero at all": (a_sum_of_steps, Y, np.ones((14, 14)), TIMES),
}


def by_60_digits(y, start, steps, walk_sd, noise):
    """Return the log density of the data."""
    with mp.workdps(60):
        S = 25 * mp.matrix(start.tolist()) + mp.mpf(walk_sd) ** 2 * mp.matrix(steps.tolist())
        S += mp.mpf(noise) ** 2 * mp.eye(len(y))
        x = mp.lu_solve(S, mp.matrix(y.tolist()))
        square = sum(a * b for a, b in zip(y.tolist(), x, strict=True))
        return float(-(square + mp.log(mp.det(S)) + len(y) * mp.log(2 * mp.pi)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_remains_is_the_density_of_the_data_or_no_number(name):
    build, y, start, steps = CASES[name]
    with pm.Model() as model:
        walk_sd, noise = pm.HalfNormal("walk", 2), pm.HalfNormal("noise", 2)
        pm.Normal("y", build(walk_sd), noise, observed=y)
    part = bm.exact(model, partial=True, rng=RNG)
    assert part.remaining == ("walk", "noise")
    density = part.model.compile_logp(jacobian=False, mode="FAST_COMPILE")
    for scales in product((1e-9, 1e-5, 0.1, 1.0, 30.0), (1e-9, 1e-4, 1.0, 50.0)):
        at = dict(zip(["walk_log__", "noise_log__"], np.log(scales), strict=True))
        found = float(density(at)) - stats.halfnorm.logpdf(scales, scale=2).sum()
        true = by_60_digits(y, start, steps, *scales)
        if min(scales) > 0.01:  # far from losing digits
            assert found == pytest.approx(true, abs=1e-7)
        assert np.isnan(found) or found == pytest.approx(true, abs=0.5, rel=1e-3)
