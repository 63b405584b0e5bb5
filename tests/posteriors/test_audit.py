"""What is not analytic must not be called so."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from bayesmodels.posteriors.audit import audit
from bayesmodels.posteriors.gradient import joint_field
from bayesmodels.posteriors.support import supports


def analytic(prior, term):
    with pm.Model() as model:
        pm.Potential("term", term(prior()))
    return audit(joint_field(model, supports(model))).analytic


def pair():
    return pm.Normal("x", shape=2)


def shares():
    return pm.Dirichlet("x", np.ones(3))


def matrices():
    return pm.Normal("x", shape=(2, 3, 3))


@pytest.mark.parametrize(
    ("prior", "term"),
    [
        (pair, lambda x: pt.switch(pt.prod(-pt.exp(x)) > 0.5, 0.0, -1.0)),
        (shares, lambda x: pt.switch(pt.prod(x) > 0.01, 0.0, -1.0)),
        (matrices, lambda x: pt.linalg.svd(x, compute_uv=False)[..., 0].sum()),
        (pair, lambda x: pt.abs(x).sum()),
        (pair, lambda x: pt.floor(x).sum()),
        (pair, lambda x: pt.abs(pt.concatenate([x, pt.exp(x)])).sum()),
    ],
)
def test_products_matrices_kinks_and_stairs(prior, term):
    assert not analytic(prior, term)


@pytest.mark.parametrize(
    ("prior", "term"),
    [
        (pair, lambda x: pt.switch(pt.exp(x).sum() > 0, 0.0, -1.0)),
        (shares, lambda x: pt.switch(pt.abs(x.sum() - 1) < 1e-5, 0.0, -1.0)),
        (pair, lambda x: pt.abs(pt.exp(x)).sum()),
    ],
)
def test_what_bounds_settle(prior, term):
    assert analytic(prior, term)
