"""The references themselves: the model's joint density is theirs, times the evidence.

A few points cannot tell a density from another that agrees there, but a slip in a formula shows.
"""

import numpy as np
import pytest

from tests.posteriors.check import log_joint
from tests.posteriors.extremes import EXTREMES
from tests.posteriors.zoo import ZOO

QUICK = {"coin in counts with a uniform prior", "mean and variance", "which coin"}
# PyMC warns about every transformed model that has a Gaussian process.
pytestmark = pytest.mark.filterwarnings("ignore:Detected variables likely created by GP")


def largest_gap(entry):
    """Return how far joint density minus reference is from the evidence, or from constant."""
    reference, rng = entry.reference(), np.random.default_rng(1)
    joint = log_joint(entry.build)
    points = [reference.draw(rng) for _ in range(5)]
    gaps = np.array([joint(point) - reference.log_density(point) for point in points])
    constant = gaps.mean() if reference.log_evidence is None else reference.log_evidence
    return np.abs(gaps - constant).max()


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.name, marks=() if entry.name in QUICK else pytest.mark.slow)
        for entry in ZOO
    ],
)
def test_the_joint_density_is_the_reference_times_the_evidence(entry):
    assert largest_gap(entry) <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("entry", EXTREMES, ids=lambda entry: entry.name)
def test_so_it_is_at_the_extremes_but_for_the_rounding_of_large_terms(entry):
    # Log gamma functions of 1e9 are 2e10, of which a unit in the last place is 4e-6.
    assert largest_gap(entry) <= 1e-5


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
