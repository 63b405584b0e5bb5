"""A million rows, counts of 1e9, priors of 1e-3 and 1e6: solved or refused, never wrong."""

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.compare import evidence_error, parameter_error
from tests.posteriors.extremes import EXTREMES


@pytest.mark.slow
@pytest.mark.parametrize("entry", EXTREMES, ids=lambda entry: entry.name)
def test_the_closed_form_is_right_or_there_is_none(entry, record_property):
    reference = entry.reference()
    try:
        posterior = bm.exact(entry.build(), rng=np.random.default_rng(20260509))
    except bm.NotConjugate as error:
        record_property("extreme", [entry.name, error.reason])
        return
    parameters = parameter_error(posterior, reference)
    evidence = evidence_error(posterior, reference)
    bound = posterior.verification.bound
    record_property("extreme", [entry.name, f"{parameters:.0e}, {evidence:.0e} ({bound:.0e})"])
    assert parameters <= 1e-9
    # The density itself has terms as large as 2e10, of which a unit in the last place is 4e-6.
    assert evidence <= min(1e-5, max(1e-8, bound))
