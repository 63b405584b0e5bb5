"""The references themselves: the model's joint density is theirs, times the evidence.

A few points cannot tell a density from another that agrees there, but a slip in a formula shows.
"""

import numpy as np
import pytest

from tests.conjugacy.check import log_joint
from tests.conjugacy.extremes import EXTREMES
from tests.conjugacy.zoo import ZOO

QUICK = {"coin in counts with a uniform prior", "mean and variance", "which coin"}
# PyMC warns about every transformed model that has a Gaussian process.
pytestmark = pytest.mark.filterwarnings("ignore:Detected variables likely created by GP")


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry.name, marks=() if entry.name in QUICK else pytest.mark.slow)
        for entry in [*ZOO, *EXTREMES]
    ],
)
def test_the_joint_density_is_the_reference_times_the_evidence(entry):
    reference, rng = entry.reference(), np.random.default_rng(1)
    joint = log_joint(entry.build)
    points = [reference.draw(rng) for _ in range(5)]
    values = np.array([joint(point) for point in points])
    rest = values - [reference.log_density(point) for point in points]
    # Densities of a million rows are sums of a million terms.
    allowed = max(1e-10, 1e-13 * np.abs(values).max())
    assert np.ptp(rest) <= allowed
    if reference.log_evidence is not None:
        assert np.abs(rest - reference.log_evidence).max() <= allowed


def test_the_table_has_models_enough_of_every_kind():
    families = {family for entry in ZOO for family in entry.reference().families.values()}
    assert families == {
        *("Beta", "Dirichlet", "Gamma", "InverseGamma", "GeneralizedInverseGaussian"),
        *("SquareInverseGamma", "SquareGamma", "SquareGeneralizedInverseGaussian"),
        *("Normal", "StudentT", "Wishart", "InverseWishart", "Categorical", "Mixture"),
    }
    assert len({entry.name for entry in ZOO}) == len(ZOO) >= 64
