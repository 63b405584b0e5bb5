"""The closed form of a PyMC model as the law that draws are compared with."""

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.belief.reading import numbers
from tests.posteriors.zoo import ZOO

BY_NAME = {entry.name: entry for entry in ZOO}
KINDS = [
    "a total and its shares",
    "mean lifetimes with gamma priors",  # generalised inverse Gaussian
    "errors by deviation with a half normal prior",
    "a mean vector and a precision matrix",
    "vectors as this project declares them",
    "a hidden markov chain",
    "a fair or a biased coin",  # a mixture
    "a mean with two missing rows",
]
LEVEL = 1e-5  # of a false alarm in each of these tests


def draws(posterior, seed=1, size=(4, 1000)):
    flat = posterior.sample(size[0] * size[1], np.random.default_rng(seed))
    return {name: x.reshape(*size, *x.shape[1:]) for name, x in flat.items()}


@pytest.fixture(scope="module")
def dial():
    with pm.Model(coords={"dial": ["left", "right"]}) as model:
        shown = pm.DiscreteUniform("shown", 3, 9, dims="dial")
        pm.Poisson("seen", shown, observed=[4, 8])
    return bm.exact(model, rng=1)


def test_values_of_a_finite_variable_need_not_start_at_zero(dial):
    given = draws(dial)
    assert given["shown"].min() == 3
    found = bm.compare(dial, given, level=LEVEL)
    assert found.outcome == "agree"
    assert {test.kind for test in found.tests} == {"probability"}
    assert list(found.table.index[:2]) == ["shown[left, 3]", "shown[left, 4]"]
    k = np.arange(3, 10)
    mass = np.exp(-k) * k**4.0
    np.testing.assert_allclose(found.table["mean"][:7], mass / mass.sum(), rtol=1e-12)


def test_values_of_a_finite_variable_are_not_their_numbers(dial):
    given = draws(dial)
    with pytest.raises(bm.DataError, match=r"'shown' must hold .* from 3 to 9, .*; got"):
        bm.compare(dial, {"shown": given["shown"] - 3})
    turned = {"shown": 12 - given["shown"]}
    assert bm.compare(dial, turned, level=LEVEL).outcome == "disagree"


def test_labels_that_are_whole_numbers_may_still_be_only_names():
    belief = bm.ConceptLearning({3: {1, 2}, 5: {2}})
    assert belief.levels == {"h": ("3", "5")}
    assert numbers(belief, {"h": np.array([0, 1])})["h"].tolist() == [[1, 0], [0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_draws_of_any_kind_of_law_agree_and_moved_ones_do_not(name):
    posterior = bm.exact(BY_NAME[name].build(), rng=1)
    given = draws(posterior)
    found = bm.compare(posterior, given, level=LEVEL)
    assert found.outcome == "agree", found
    real = [variable for variable in posterior.dims if variable not in posterior.levels]
    for variable in real:
        moved = given[variable] + 0.3 * given[variable].std((0, 1))
        wrong = bm.compare(posterior, {**given, variable: moved}, level=LEVEL)
        assert wrong.outcome == "disagree"
        assert variable in wrong.findings[0]
