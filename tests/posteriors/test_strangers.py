"""Models as other people write them end soon, in a closed form or in a reason that helps."""

import re
import time

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.posteriors.budget import Budget
from tests.posteriors.strangers import STRANGERS

QUICK = {
    "gaussian process on a grid",
    "black box without gradient",
}
INTEGRATED = {  # what is conjugate in some of them
    "gaussian process in a basis": {"f_hsgp_coeffs"},
    "conditional autoregression of numbers": {"phi"},
    "hierarchical vector autoregression with correlations": {"mean", "w"},
    "hurdle": {"psi"},
    "latent gaussian process on a grid": {"f_rotated_"},
}
SECONDS = 5.0  # by default more is spent, as on these; what needs more is refused as it is then
# What PyMC and PyTensor say of their own parts is not of interest here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{said}")
    for said in (
        "Detected variables likely created by GP",
        "PyTensor could not link to a BLAS",
        ".*RandomVariable.*rng:DeprecationWarning",
        "DifferentialEquation should implement `pullback`",
        "pytensor.tensor.linalg.trace is deprecated",
        "Support point not defined",
        "`axes` should not be `None`",
    )
]


@pytest.mark.parametrize(
    ("stranger", "partial"),
    [
        pytest.param(
            *(one, partial),
            id=f"{one.name}-{'partial' if partial else 'whole'}",
            marks=() if one.name in QUICK else pytest.mark.slow,
        )
        for one in STRANGERS
        for partial in (False, True)
    ],
)
def test_every_model_ends_in_a_closed_form_or_in_a_reason(stranger, partial, record_property):
    model = stranger.build()
    budget = {} if partial and stranger.name in INTEGRATED else {"seconds": SECONDS}
    start = time.process_time()
    try:
        posterior = bm.exact(model, partial=partial, rng=20261123, **budget)
    except bm.NotConjugate as no:
        found = no.reason
        names = [rv.name for rv in (*model.basic_RVs, *model.potentials)]
        assert any(re.search(rf"\b{re.escape(name)}\b", found) for name in names)
        assert not partial or stranger.name not in INTEGRATED
    else:
        found = repr(posterior)
        if partial and stranger.name in INTEGRATED:
            assert set(posterior.integrated) == INTEGRATED[stranger.name]
    seconds = time.process_time() - start
    record_property("stranger", [stranger.name, "partial" if partial else "whole", seconds, found])


def by_name(name):
    """Build one of the models."""
    (found,) = [one for one in STRANGERS if one.name == name]
    return found.build()


def test_what_takes_too_long_is_refused_before_it_begins():
    budget = Budget(10.0, ["w"])
    budget.ask(900, 300_000, "the curvature along w")
    said = "the curvature along w would take about 1,100 evaluations .* which count as 11 s"
    with pytest.raises(bm.NotConjugate, match=said):
        budget.ask(1100, 300_000, "the curvature along w")


def test_a_slow_machine_is_given_no_other_answer(monkeypatch):
    """The clock does not choose the rung: what is drawn would depend on the machine."""
    now = iter(100.0 * np.arange(10**6))
    monkeypatch.setattr(time, "thread_time", lambda: next(now))
    with pytest.raises(bm.NotConjugate, match=r"has not ended within .* pm.sample\(model\) draws"):
        bm.sample(by_name("change point"), 10, rng=1)


def test_a_search_ends_when_its_time_is_over():
    model = by_name("change point")
    with pytest.raises(bm.NotConjugate, match=r"t, early, late has not ended within 1e-06 s"):
        bm.exact(model, seconds=1e-6, rng=1)
    with pytest.raises(bm.NotConjugate, match=r"t, early, late has not ended within 1e-06 s"):
        bm.exact(model, partial=True, seconds=1e-6, rng=1)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_seconds_are_positive(seconds):
    with pytest.raises(bm.DataError, match="seconds: must be positive"):
        bm.exact(by_name("change point"), seconds=seconds)


@pytest.mark.slow
def test_what_goes_through_a_black_box_remains():
    partial = bm.exact(by_name("black box beside a conjugate part"), partial=True, rng=1)
    assert partial.integrated == ("level",)
    assert partial.remaining == ("theta", "noise")
    assert "no derivative of BlackBoxLikelihood" in partial.explain()
