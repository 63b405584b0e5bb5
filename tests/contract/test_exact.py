"""Every model's declaration, solved by `bm.exact`, gives the model's own update.

One side is algebra written by hand, the other reads a PyMC graph of which it knows nothing but the
slopes: a mistake in either would have to be made in both.
"""

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief.protocol import LatentClasses
from bayesmodels.belief.reading import levels
from tests.contract.cases import CASES, FAMILIES

QUICK = [(family[0], "rows") for family in FAMILIES[:3]]
SOLVED = [case for case in CASES if not isinstance(case.prior, LatentClasses)]
# The declaration of a mixture sums the classes of its rows out.
SUMMED_OUT = [case for case in CASES if isinstance(case.prior, LatentClasses)]
ACCURACY = 1e-9


def marked(cases, quick):
    """Return cases declared from their rows, and the first of each family from its statistic."""
    firsts = [family[0] for family in FAMILIES]
    return [
        pytest.param(
            case,
            likelihood,
            id=f"{case.id.replace(' ', '-')}-{likelihood}",
            marks=[] if (case, likelihood) in quick else pytest.mark.slow,
        )
        for case in cases
        for likelihood in ("rows", "statistic")
        if likelihood == "rows" or case in firsts
    ]


@pytest.mark.parametrize(("case", "likelihood"), marked(SOLVED, QUICK))
def test_the_declaration_is_solved_to_the_update(case, likelihood):
    rng = np.random.default_rng(17)
    own = case.prior.update(case.data)
    found = bm.exact(case.prior.declare(case.data, likelihood), rng=rng)
    assert found.verified == "analytically"
    assert found.dims == own.dims
    assert {axis: tuple(map(str, labels)) for axis, labels in found.coords.items()} == {
        axis: tuple(map(str, labels)) for axis, labels in own.coords.items()
    }
    # Quartiles exist whatever the tails, and move with every parameter of the marginal laws.
    for name, (low, high) in own.interval(0.5).items():
        other = found.interval(0.5)[name]
        size = np.maximum(np.abs(low), np.abs(high)) + (high - low)
        assert (np.abs(other[0] - low) <= ACCURACY * size).all(), name
        assert (np.abs(other[1] - high) <= ACCURACY * size).all(), name
    # The joint law is more than its marginals.
    draws = own.sample(5, rng)
    one = np.asarray(own.log_density(draws)).reshape(5, -1).sum(-1)
    other = np.asarray(found.log_density(draws))
    rounding = np.asarray(own.log_density_rounding(draws)).reshape(5, -1).sum(-1)
    assert (np.abs(one - other) <= 1e-8 + 4 * rounding).all()
    if case.log_evidence is not None and not levels(own):
        assert abs(found.log_evidence - case.log_evidence) <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("case", "likelihood"), marked(SUMMED_OUT, []))
def test_a_mixture_whose_labels_are_summed_out_has_no_such_form(case, likelihood):
    with pytest.raises(bm.NotConjugate, match="depend on each other"):
        bm.exact(case.prior.declare(case.data, likelihood), rng=np.random.default_rng(18))
