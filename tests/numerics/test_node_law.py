"""Laws known at nodes: tails, draws and quantiles beside those of SciPy."""

import numpy as np
import pytest
from scipy import stats

from bayesmodels.numerics.node_law import Map, NodeLaw, Nodes, cell_draws

SAME = Map(lambda x: x, lambda x: x, np.ones_like)


def law_of(dist, number, reach=2.6):
    """Return the law of a distribution by so many nodes."""
    nodes = Nodes(np.zeros(1), np.ones(1), np.array([-reach]), np.array([reach]))
    t, step = nodes.places(number)
    mass = np.exp(dist.logpdf(nodes.at(t)) + nodes.log_weights(t)) * step[..., None]
    return NodeLaw(nodes, mass / mass.sum(-1, keepdims=True), SAME)


@pytest.mark.parametrize("number", [40, 80])
def test_tails_are_right_far_out(number):
    """A few deviations out sums of masses tell nothing: each is many times the one before."""
    law, x = law_of(stats.norm, number), np.array([2.5, 3, 3.5, 4, 4.5, 5])[:, None]
    assert law.sf(x) == pytest.approx(stats.norm.sf(x), rel=0.05)
    assert law.cdf(-x) == pytest.approx(stats.norm.sf(x), rel=0.05)
    fine = np.linspace(-6, 6, 2001)[:, None]
    assert law.cdf(fine)[:, 0] == pytest.approx(stats.norm.cdf(fine)[:, 0], abs=2e-5)
    assert law.sf(fine)[:, 0] == pytest.approx(1 - law.cdf(fine)[:, 0], abs=1e-15)
    assert np.diff(law.cdf(fine)[:, 0]).min() > -1e-8


def test_draws_of_laws_that_are_asked_for_several_times_are_independent():
    law = law_of(stats.norm, 40)
    t, step = law.nodes.places(40)
    with np.errstate(divide="ignore"):
        logs = np.log(np.broadcast_to(law.mass, (20_000, 1, 40)))
    k, within = cell_draws(logs, np.random.default_rng(1), [0, 0])
    x = np.sinh(t[0, k] + step[0] * within)
    assert x.shape == (20_000, 2)
    assert abs(np.corrcoef(x.T)[0, 1]) < 4 / np.sqrt(20_000)
    for column in x.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
