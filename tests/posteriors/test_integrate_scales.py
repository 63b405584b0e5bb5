"""A hundred random models of scales and a normal block: the evidence is that of quadrature."""

import pytest

import bayesmodels as bm
from tests.posteriors.scale_grammar import Plan, plans

REFERENCE = 1e-10  # how far off quadrature may be
DRAWN = plans(100)


def off(plan):
    """Return how far off the log evidence is, and what is stated."""
    posterior = bm.integrate(plan.model(), rng=20261124)
    gap = abs(posterior.log_evidence - plan.log_evidence())
    return float(gap), float(posterior.errors["log_evidence"])


def test_there_are_a_hundred_of_all_kinds():
    assert len(set(DRAWN)) == 100
    assert {plan.kind for plan in DRAWN} == {"mean", "weights", "intercepts", "walk"}
    assert {law for plan in DRAWN for law, _, _ in plan.priors} == set(Plan.LAWS)


@pytest.mark.parametrize("number", [0, 4])
def test_the_evidence_is_that_of_quadrature(number):
    found, stated = off(DRAWN[number])
    assert found <= stated + REFERENCE


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, 10))
def test_so_is_that_of_every_one(start, record_property):
    rows = [(plan, *off(plan)) for plan in DRAWN[start : start + 10]]
    record_property(
        "scales", [max(found for _, found, _ in rows), max(stated for *_, stated in rows)]
    )
    assert [row for row in rows if not row[1] <= row[2] + REFERENCE] == []
