"""Points of many models at once: several threads find what one does."""

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.numerics import threads

HEIGHTS = np.array([1.2, -0.4, 2.2, 0.3])


@pytest.fixture
def two_threads(monkeypatch):
    """Let little work go to two threads."""
    monkeypatch.setattr(threads, "PARALLEL_FROM", 1)
    monkeypatch.setattr(threads, "CORES", 2)
    monkeypatch.setattr("bayesmodels.posteriors.batch_density._BATCH", 40)


def integrated():
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 1)
        sd = pm.HalfNormal("sd", 1)
        pm.StudentT("height", nu=4, mu=mean, sigma=sd, observed=HEIGHTS)
    found = bm.integrate(model, rng=1)
    return found, found.leave_one_out()


@pytest.mark.slow
@pytest.mark.usefixtures("two_threads")
def test_threads_change_no_number(monkeypatch):
    found, rows = integrated()
    monkeypatch.undo()
    other, other_rows = integrated()
    assert found.points == other.points
    assert found.log_evidence == pytest.approx(other.log_evidence, rel=1e-14)
    np.testing.assert_allclose(rows, other_rows, rtol=1e-12)
