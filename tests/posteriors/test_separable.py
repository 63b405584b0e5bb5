"""Expressions as sums of numbers that vary times arrays that do not."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.traversal import ancestors

import bayesmodels as bm
from bayesmodels.posteriors.density import plain
from bayesmodels.posteriors.separable import separated

RNG = np.random.default_rng(20261126)
Y, X = RNG.normal(size=50), RNG.normal(size=(50, 3))
GROUP = np.arange(50) % 4


def with_rows(graphs, inputs):
    """Return what has rows and depends on inputs."""
    above = set(ancestors(graphs))
    return {
        v for v in above if len(Y) in getattr(v.type, "shape", ()) and {*ancestors([v])} & {*inputs}
    }


def same(graph, found, inputs, *values):
    run = pytensor.function(inputs, [graph, found], mode="FAST_COMPILE", on_unused_input="ignore")
    one, other = run(*values)
    np.testing.assert_allclose(other, one, rtol=1e-13)


def rows(s, w, v):
    return pm.logp(pm.Normal.dist(X @ w + v[GROUP], s), Y) + pm.logp(pm.Normal.dist(0, s), v).sum()


def test_rows_of_one_scale():
    s, w, v = pt.dscalar(), pt.constant(RNG.normal(size=3)), pt.constant(RNG.normal(size=4))
    total = rows(s, w, v).sum()
    for graph in (total, *pytensor.grad(total, [w, v])):
        found = separated(graph, [s])
        same(graph, found, [s], 0.7)
        assert with_rows([graph], [s])
        assert not with_rows([found], [s])


def test_two_scales_and_a_factor():
    s, t = pt.dscalar(), pt.dvector()
    graph = (X * t[1] / s - X[:, ::-1] / pt.sqr(t[0])).T @ Y / s
    found = separated(graph, [s, t])
    same(graph, found, [s, t], 0.3, [1.4, 0.6])


def test_what_is_not_a_sum_is_left_alone():
    s = pt.dscalar()
    assert separated(pt.exp(Y * s), [s]) is None
    assert separated(pt.sqr(Y - s), [s]) is None  # digits would be lost of a large mean
    assert separated(pt.constant(Y), [s]) is None


def test_where_a_check_fails_the_density_is_zero():
    s = pt.dscalar()
    total = pm.logp(pm.Normal.dist(0.3, s), Y).sum()
    found = separated(total, [s])
    same(total, found, [s], 0.5)
    for graph in (found, total):
        (value,) = plain([graph])
        assert pytensor.function([s], value, mode="FAST_COMPILE")(-0.5) == -np.inf


@pytest.mark.slow
def test_rows_are_not_in_the_density_that_remains():
    with pm.Model() as model:
        spread, noise = pm.HalfNormal("spread", 1), pm.HalfNormal("noise", 1)
        v, w = pm.Normal("v", 0, spread, shape=4), pm.Normal("w", 0, 1, shape=3)
        pm.Normal("y", X @ w + v[GROUP], noise, observed=Y)
    partial = bm.exact(model, partial=True, rng=1)
    (density,) = partial.model.potentials
    inputs = [partial.model["spread"], partial.model["noise"]]
    slopes = pytensor.grad(density, inputs)
    # Those that the mean is put in; no derivative goes through them.
    assert with_rows(slopes, inputs) <= with_rows([density], inputs)
