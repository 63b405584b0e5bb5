"""The group log_likelihood is PyMC's, row by row."""

import numpy as np
import pytest

import bayesmodels as bm

X = np.random.default_rng(1).normal(size=(5, 2))
SMALL = {
    "bits": (bm.BetaBernoulli(1, 1), [1, 0, 0, 1]),
    "binomial counts": (bm.BetaBernoulli(1, 1), bm.BinomialCounts([3, 0], [20, 4])),
    "groups": (bm.BetaBernoulli(1, 1), bm.Grouped([1, 0, 1], by=["b", "a", "b"])),
    "categories": (bm.DirichletCategorical([1, 1, 1]), [[0, 1], [2, 2], [1, 0]]),
    "multinomial counts": (bm.DirichletCategorical([1, 2]), bm.MultinomialCounts([[3, 4], [0, 1]])),
    "hypotheses": (bm.ConceptLearning.number_game(), [16, 64, 16]),
    "regression": (bm.LinearRegression(0, 1, 2, 1), (X[:, :1], X[:, 1])),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", SMALL)
@pytest.mark.filterwarnings("ignore:Numba will use object mode:UserWarning")
def test_log_likelihood_is_pymcs(family):
    import pymc as pm

    prior, data = SMALL[family]
    tree = bm.exact_draws(prior, data, draws=10, chains=2, rng=np.random.default_rng(1))
    with prior.declare(data):
        pymcs = pm.compute_log_likelihood(tree, extend_inferencedata=False, progressbar=False)
    for name, values in tree.log_likelihood.data_vars.items():
        assert values.dims == pymcs[name].dims
        np.testing.assert_allclose(values, pymcs[name], rtol=1e-10, atol=1e-12)
