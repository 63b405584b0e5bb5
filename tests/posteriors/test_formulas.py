"""Models that Bambi writes end in an answer, or in a reason that names a variable."""

import pytest

import bayesmodels as bm
from tests.posteriors.formulas import FORMULAS, Formula

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("slow_clock"),
    # What Bambi and PyMC say of their own parts is not of interest here.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
]

TOO_MANY = {  # scalars for a lattice
    "a spread of groups",
    "chances of groups",
    "trials of groups that differ",
    "counts of groups",
}
MAY_NOT_SETTLE = {  # in the time that they have here
    "a centred process in a basis",
    "levels of groups",
    "crossed groups",
    "heavy tails",
    "a quantile",
    "kinds",
}


@pytest.mark.parametrize("formula", [pytest.param(one, id=one.name) for one in FORMULAS])
def test_every_formula_ends_in_an_answer_or_in_a_reason(formula):
    model = formula.build()
    with pytest.raises(bm.NotConjugate) as closed:  # priors have scales of their own
        bm.exact(model, seconds=5, rng=1)
    reasons = [closed.value.reason]
    try:
        posterior = bm.integrate(model, tolerance=1e-3, seconds=5, rng=1)
    except bm.NotConjugate as no:
        reasons.append(no.reason)
    else:
        ends = 0.01 if formula.name in MAY_NOT_SETTLE else 1e-3  # where points run out
        most = ends if posterior.rung == "integrated" else 0.05
        assert posterior.errors["log_evidence"] <= most
    assert all(any(rv.name in said for rv in model.free_RVs) for said in reasons)
    assert len(reasons) == 1 or formula.name in TOO_MANY | MAY_NOT_SETTLE


def test_groups_are_integrated_out_whatever_their_names_are_to_numpy():
    (groups,) = [one for one in FORMULAS if one.name == "groups"]
    partial = bm.exact(groups.build(), partial=True, rng=1)
    assert partial.integrated == ("Intercept", "x", "1|g_offset")
    assert partial.remaining == ("sigma", "1|g_sigma")


def test_a_dim_of_two_lengths_is_refused_by_its_name():
    """Bambi gives the levels of `arm` one dim, but their number differs from term to term."""
    model = Formula("", "y ~ (arm|g) + (0 + arm|h)").build()
    said = r"no density of arm\|h_sigma, which has the dims arm__expr_dim \(1\), as shapes do not"
    for verb in (bm.exact, bm.integrate):
        with pytest.raises(bm.NotConjugate, match=said):
            verb(model, rng=1)
