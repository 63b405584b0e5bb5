"""Sums over nodes: where mass is found, and what it adds up to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesmodels.numerics.node_law import Nodes
from bayesmodels.numerics.node_sums import PLACES, everywhere, nearer, spread, summed


def placed(log_density, centre, scale):
    """Return nodes around a density, looked for from some centre and scale."""
    nodes, stays = everywhere(np.array([[centre]]), np.array([[scale]])), np.zeros(1, dtype=bool)
    for _ in range(30):
        mass = summed(nodes, log_density(spread(nodes, PLACES))).mass
        found, stays = nearer(nodes, mass)
        if stays.all():
            return found
        nodes = everywhere(found.centre, found.scale)
    raise AssertionError


@given(st.floats(-50, 50), st.floats(-3, 3), st.sampled_from([stats.norm, stats.t(3)]))
def test_mass_is_found_and_adds_up_to_one(middle, log_sd, law):
    sd = 10**log_sd
    log_density = lambda x: law.logpdf((x - middle) / sd) - np.log(sd)  # noqa: E731
    nodes = placed(log_density, 0.0, 1.0)
    assert abs(nodes.centre[0, 0] - middle) < sd
    assert 0.3 < nodes.scale[0, 0] / sd < 3
    nodes = Nodes(nodes.centre, nodes.scale, nodes.low - 12, nodes.high + 12)
    sums = summed(nodes, log_density(spread(nodes, 320)))
    assert sums.logs[:2, 0, 0] == pytest.approx(0.0, abs=1e-9)
    assert sums.mass.sum() == pytest.approx(1.0)
    assert (sums.beyond < 1e-9).all()


def test_sums_are_those_of_all_of_every_second_and_of_every_fourth_node():
    rng = np.random.default_rng(1)
    nodes = Nodes(
        *rng.normal(size=(1, 3, 2)),
        *np.exp(rng.normal(size=(1, 3, 2))),
        *(np.full((3, 2), x) for x in (-2.0, 3.0)),
    )
    logs = rng.normal(size=(3, 40, 2))
    logs[1, :7, 0], logs[2, 20, 1] = -np.inf, np.nan
    sums = summed(nodes, logs)
    each = np.exp(np.moveaxis(np.nan_to_num(logs, nan=-np.inf, neginf=-np.inf), 1, 2))
    t, step = nodes.places(40)
    each = each * nodes.scale[..., None] * np.cosh(t) * step[..., None]
    for k, sum_of in zip((1, 2, 4), sums.logs, strict=True):
        assert sum_of == pytest.approx(np.log(k * each[..., ::k].sum(2)))
    assert sums.mass == pytest.approx(each / each.sum(2, keepdims=True))
    assert sums.beyond[0, 1, 0] == pytest.approx(2 * sums.mass[1, 0, 7] / step[1, 0])


def test_where_there_is_no_mass_or_no_number_there_is_no_sum():
    nodes = everywhere(np.zeros((1, 2)), np.ones((1, 2)))
    logs = np.stack([np.full(PLACES, -np.inf), np.full(PLACES, np.inf)], 1)[None]
    sums = summed(nodes, logs)
    assert not np.isfinite(sums.logs).any()
    assert (sums.mass == 0).all()
