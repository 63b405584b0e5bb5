"""Every model of the table is solved: families, parameters, evidence, densities and moments."""

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.compare import density_error, evidence_error, moment_error, parameter_error
from tests.posteriors.zoo import ZOO

QUICK = {
    "coin in counts with a uniform prior",
    "calls with exposure",
    "categories in rows",
    "regression with an intercept and weights of rows",
    "mean and variance",
}
# PyMC warns about every transformed model that has a Gaussian process.
pytestmark = pytest.mark.filterwarnings("ignore:Detected variables likely created by GP")


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.name, marks=() if entry.name in QUICK else pytest.mark.slow)
        for entry in ZOO
    ],
)
def test_the_closed_form_is_the_one_worked_out_by_hand(entry, record_property):
    model, reference = entry.build(), entry.reference()
    posterior = bm.exact(model, rng=np.random.default_rng(20260507))
    assert posterior.families == reference.families
    parameters = parameter_error(posterior, reference)
    evidence = evidence_error(posterior, reference)
    record_property("closed form", [entry.name, parameters, evidence, posterior.verified])
    assert parameters <= 1e-9
    assert evidence <= 1e-8
    assert moment_error(posterior, reference) <= 1e-9
    assert density_error(posterior, reference, np.random.default_rng(1)) <= 1e-8
    check_the_labels(model, posterior)


def check_the_labels(model, posterior):
    """Shapes, dims and coords are the model's."""
    shapes = {variable.name: tuple(variable.shape.eval()) for variable in model.free_RVs}
    draws = posterior.sample(3, np.random.default_rng(2))
    assert {name: draw.shape[1:] for name, draw in draws.items()} == shapes
    assert {name: np.shape(draw)[0] for name, draw in draws.items()} == dict.fromkeys(shapes, 3)
    for name, dims in model.named_vars_to_dims.items():
        if name in shapes:
            assert posterior.dims[name] == tuple(dims)
            for dim in dims:
                assert list(posterior.coords[dim]) == list(model.coords[dim])


@pytest.mark.slow
def test_the_table_has_models_enough_of_every_kind():
    families = {family for entry in ZOO for family in entry.reference().families.values()}
    assert families == {
        *("Beta", "Dirichlet", "Gamma", "InverseGamma", "GeneralizedInverseGaussian"),
        *("SquareInverseGamma", "SquareGamma", "SquareGeneralizedInverseGaussian"),
        *("Normal", "StudentT", "Wishart", "InverseWishart", "Categorical", "Mixture"),
        *("TruncatedNormal", "TruncatedBeta", "TruncatedGamma", "TruncatedInverseGamma"),
        *("TruncatedSquareInverseGamma", "Uniform"),
        *("LogGamma", "LogInverseGamma", "LogSquareInverseGamma", "LogitBeta"),
    }
    assert len({entry.name for entry in ZOO}) == len(ZOO) >= 90


def test_an_improper_prior_has_no_evidence():
    (entry,) = [entry for entry in ZOO if entry.name == "calls under a flat prior"]
    posterior = bm.exact(entry.build())
    with pytest.raises(bm.PriorError, match="rate is improper"):
        _ = posterior.log_evidence
