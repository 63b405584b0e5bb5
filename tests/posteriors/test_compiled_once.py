"""The joint density of a model is worked out and compiled once, whatever asks for it.

Along a lattice there is a second program, of many points and without slopes and rounding bounds. It
takes 0.05 s to make (a logistic regression with 30 rows; 0.02 s the first), and 0.6 us a point
where the first one's outputs at many points at once take 4.4 us; one program of many points for
both would make each of the search's slopes and values four times as slow (0.13 to 0.5 ms).
"""

from collections import Counter

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import bayesmodels as bm
from bayesmodels.posteriors import batch_density, model_density
from bayesmodels.posteriors.conditional import Conditionals
from bayesmodels.posteriors.density import Program

X = np.random.default_rng(1).normal(size=(30, 2))


@pytest.fixture
def made(monkeypatch):
    """Count what is derived and compiled of densities."""
    found = Counter()

    def counted(owner, name, what):
        run = getattr(owner, name)

        def counting(*given, **options):
            found[what] += 1
            return run(*given, **options)

        monkeypatch.setattr(owner, name, counting)

    counted(pm.Model, "logp", "derived")
    counted(model_density, "Program", "compiled")
    counted(batch_density.BatchDensity, "__init__", "lattice")
    counted(Conditionals, "__init__", "conditionals")
    return found


def coin():
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 2)
        pm.Binomial("heads", 9, theta, observed=4)
    return model


def line():
    with pm.Model() as model:
        w, scale = pm.Normal("w", 0, 1, shape=2), pm.Gamma("scale", 2, 1)
        pm.Normal("y", X @ w, 1, observed=X[:, 0])
        pm.Poisson("n", scale, observed=[3, 4])
    return model


def logit():
    with pm.Model() as model:
        w = pm.Normal("w", 0, 1, shape=2)
        pm.Bernoulli("y", logit_p=X @ w, observed=X[:, 0] > 0.3)
    return model


def schools():
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, shape=3)
        pm.Normal("y", theta, [15, 10, 16], observed=[28, 8, -3])
    return model


@pytest.mark.parametrize("build", [coin, pytest.param(line, marks=pytest.mark.slow)])
def test_a_closed_form_takes_one(build, made):
    bm.exact(build(), rng=1)
    assert made == {"derived": 1, "compiled": 1}


def test_an_integral_takes_one_and_one_along_its_lattice(made):
    bm.integrate(logit(), rng=1)
    assert made == {"derived": 1, "compiled": 1, "lattice": 1, "conditionals": 1}


@pytest.mark.slow
def test_with_a_block_there_is_a_second_density_of_what_remains(made):
    bm.exact(schools(), partial=True, rng=1)
    assert made == {"derived": 2, "compiled": 2, "conditionals": 1}
    made.clear()
    bm.integrate(schools(), rng=1)
    assert made == {"derived": 2, "compiled": 2, "lattice": 1, "conditionals": 1}


def effects(categories):
    with pm.Model() as model:
        e = pm.ZeroSumNormal("e", 1.0, shape=4)
        noise = pm.HalfNormal("noise", 1.0)
        group = pm.Categorical("group", [0.3, 0.7], shape=categories)
        pm.Normal(
            "y", pt.concatenate([e, 2.0 * group]), noise, observed=np.arange(4.0 + categories)
        )
    return model


@pytest.mark.slow
@pytest.mark.parametrize("categories", [2, 12])
def test_of_variables_that_sum_to_zero_too(categories, made):
    """Whether they are integrated out, or remain beside finite ones that are summed out."""
    partial = bm.exact(effects(categories), partial=True, rng=1)
    assert ("e" in partial.integrated) == (categories == 2)
    assert made["derived"] == made["compiled"] == 2  # of all variables, and of what remains


def test_a_program_works_out_what_is_asked_for_alone():
    seen = []

    class Told(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, _, inputs, outputs):
            seen.append(inputs[0])
            outputs[0][0] = inputs[0]

    x = pt.dscalar("x")
    run = Program([x], {"plain": [x + 1], "told": [Told()(x), x * 2]})
    assert run("plain", [np.array(1.0)]) == [2.0]
    assert not seen
    assert run("told", [np.array(3.0)]) == [3.0, 6.0]
    assert seen == [3.0]
