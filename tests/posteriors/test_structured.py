"""Structured models are solved, and are what their references by hand are; or are refused."""

import re
import time

import numpy as np
import pytest

import bayesmodels as bm
from tests.posteriors.integrated.judge import gaps
from tests.posteriors.integrated.row import Row, as_written
from tests.posteriors.structured.hand import told
from tests.posteriors.structured.refused import DENIED
from tests.posteriors.structured.table import MODELS

RNG = 20261126
SHORT = 4.0  # seconds for what is not to be had
PRECISE = 1e-8
# PyMC says what it does with missing rows, and how it is written.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{said}")
    for said in (
        "Data in .* contains missing values",
        "invalid value encountered in cast",
        "pytensor.tensor.linalg.trace is deprecated",
    )
]
QUICK = {  # the others take a fifth of a second to a minute
    *("short chains of fifteen people", "regimes of an autoregression"),
    *("two rates of quakes with bernoulli states", "a word of hamming s code"),
    *("one outbreak and a hundred people", "a lineage of cells of two kinds"),
    *("a beta binomial count behind a poisson one", "an end after an unknown beginning"),
    *("eggs of which some hatch", "numbers at eight sites visited three times"),
    *("a smooth process that is not centred", "a map of intrinsic autoregressions"),
    *("a chain of measurements", "a cubic spline with penalised bends"),
}
QUICK_DENIED = {
    *("spins on a square of thirty", "a boltzmann machine", "a sum of forty bits"),
    *("a sudoku", "a level whose noise switches", "a branching process"),
    *("a wait that its prior all but excludes", "a poisson number that is not zero"),
    *("an inflated number of trials", "a level with heavy noise"),
    *("a walk that begins nowhere", "factors with unknown loadings"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in MODELS],
)
def test_evidence_means_and_probabilities_are_those_by_hand(name, record_property):
    kind, model = MODELS[name]
    solve = integrated if isinstance(model, Row) else exact
    verb, seconds, found, reference, off = solve(model)
    shown = [name, kind, verb, seconds, found, reference, abs(found - reference), off]
    record_property("structured", shown)


def exact(model):
    """Return what is shown of a closed form, compared with the reference."""
    begun = time.process_time()
    posterior = bm.exact(as_written(model.build)(), rng=RNG)
    found, seconds = posterior.log_evidence, time.process_time() - begun
    truth = told(model.reference())
    means = {name: law.mean() for name, law in posterior.marginals().items()}  # probabilities, too
    assert posterior.verified == "analytically"
    assert found == pytest.approx(truth.log_evidence, rel=PRECISE, abs=PRECISE)
    assert set(truth.mean) == set(posterior.dims)
    off = 0.0
    for name, expected in truth.mean.items():
        assert means[name] == pytest.approx(np.asarray(expected), rel=PRECISE, abs=PRECISE)
        off = max(off, float(np.abs(means[name] - expected).max(initial=0)))
    return "exact", seconds, found, float(truth.log_evidence), off


def integrated(model):
    """Return what is shown of an integral, whose errors are tolerable and those that it states."""
    begun = time.process_time()
    posterior = bm.integrate(model.build(), rng=RNG)
    seconds, truth = time.process_time() - begun, model.reference()
    assert truth.error <= 1e-9
    assert set(truth.mean) == set(posterior.dims)
    every = gaps(posterior, truth)
    assert not [gap for gap in every if not (gap.tolerable and gap.honest)]
    off = max(float(gap.true) for gap in every)
    return "integrate", seconds, posterior.log_evidence, truth.log_evidence, off


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK_DENIED else pytest.mark.slow) for name in DENIED],
)
def test_the_reason_of_a_refusal_says_what_is_too_wide_or_has_no_form(name, record_property):
    verb, denied = DENIED[name]
    model, begun = denied.build(), time.process_time()
    budget = {"seconds": SHORT} if verb is bm.integrate else {}
    with pytest.raises(bm.NotConjugate) as raised:
        verb(model, rng=RNG, **budget)
    seconds, reason = time.process_time() - begun, raised.value.reason
    record_property("denied", [name, verb.__name__, seconds, reason])
    assert all(re.search(said, reason) for said in denied.words)


def test_the_tables_are_long_enough():
    kinds = [kind for kind, _ in MODELS.values()]
    assert len(MODELS) >= 130
    assert set(MODELS) >= QUICK
    assert min(kinds.count(kind) for kind in set(kinds)) >= 10
    assert len(DENIED) >= 40
    assert set(DENIED) >= QUICK_DENIED
