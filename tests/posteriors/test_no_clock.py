"""No clock decides what is computed: one that runs wild may refuse, and changes no number."""

import itertools
import time

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm

CLOCKS = ("process_time", "thread_time", "perf_counter")


def schools():
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, shape=8)
        sd = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
        pm.Normal("y", theta, sd, observed=[28.0, 8, -3, 7, -1, 1, 18, 12])
    return model


def run(monkeypatch, tick):
    """Return all numbers of eight schools, with clocks that go on by a tick whenever read."""
    for name in CLOCKS:
        ticks = itertools.count()
        monkeypatch.setattr(time, name, lambda ticks=ticks: tick * next(ticks))
    posterior = bm.integrate(schools(), rng=1)
    draws = posterior.sample(100, rng=2)
    rows = posterior.leave_one_out(rng=3).to_numpy().ravel()
    return posterior.points, np.concatenate([rows, *map(np.ravel, draws.values())])


@pytest.mark.slow
def test_eight_schools_are_the_same_by_any_clock(monkeypatch):
    points, numbers = run(monkeypatch, 0.0)
    for tick in (1e-9, 1e-3):
        again, same = run(monkeypatch, tick)
        assert again == points
        np.testing.assert_array_equal(same, numbers)


@pytest.mark.parametrize("tick", [1.0, 1e6])
def test_a_clock_that_races_refuses(monkeypatch, tick):
    with pytest.raises((bm.NotConjugate, bm.DataError), match=r"has not (ended|settled)|may take"):
        run(monkeypatch, tick)
