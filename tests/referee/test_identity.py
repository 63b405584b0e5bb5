"""What the identity check sees, and that its rounding bound is a bound and not a blanket."""

import mpmath
import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.posteriors.model_density import ModelDensity
from bayesmodels.referee import check_identity

ROWS = [1, 0, 0, 1, 0, 1, 1]


def check(model, posterior, prior, evidence=None):
    return check_identity(model, posterior, prior, evidence, rng=np.random.default_rng(5))


def test_the_right_posterior_passes_with_room_to_spare():
    prior = bm.BetaBernoulli(2, 3)
    found = check(prior.declare(ROWS), prior.update(ROWS), prior, prior.log_evidence(ROWS))
    assert found.holds
    assert found.constant == pytest.approx(prior.log_evidence(ROWS), abs=found.bound)
    assert "log evidence" in found.sentences()[0]


def test_a_wrong_posterior_is_seen_in_values_and_slopes():
    prior = bm.BetaBernoulli(2, 3)
    found = check(prior.declare(ROWS), prior.update(ROWS[:-1]), prior)
    assert found.constancy > 1e6
    assert found.slope > 1e6
    assert "not proportional" in found.sentences()[0]


def test_a_right_posterior_with_a_wrong_evidence_is_told_apart():
    prior = bm.BetaBernoulli(2, 3)
    wrong = prior.log_evidence(ROWS) + 1e-9
    found = check(prior.declare(ROWS), prior.update(ROWS), prior, wrong)
    assert not found.holds
    assert max(found.constancy, found.slope) < 1
    assert "the log evidence is not" in found.sentences()[0]


def test_a_billionth_part_of_a_pseudo_count_is_seen():
    prior = bm.BetaBernoulli(2, 3)
    nearly = bm.BetaBernoulli(2 + 1e-9, 3)
    assert not check(prior.declare(ROWS), nearly.update(ROWS), prior).holds


def test_variables_must_match():
    with pm.Model() as model:
        pm.Normal("other")
    prior = bm.BetaBernoulli(1, 1)
    with pytest.raises(bm.DataError, match="must have the belief's variables"):
        check(model, prior, prior)


def test_the_rounding_bound_holds_against_fifty_digits():
    """Points where the terms cancel, so that the error is far above one unit in the last place."""
    rng = np.random.default_rng(8)
    y = rng.normal(1e6, 1, size=20)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1e6)
        sigma2 = pm.InverseGamma("sigma2", 3, 4)
        pm.Normal("y", mu, pm.math.sqrt(sigma2), observed=y)
    joint = ModelDensity(model)
    for _ in range(20):
        m, s2 = rng.normal(1e6, 3), rng.gamma(2)
        found = joint({"mu": m, "sigma2": s2}, {"mu": 1.0, "sigma2": 0.0})
        with mpmath.workdps(50):
            m_, s2_ = mpmath.mpf(m), mpmath.mpf(s2)
            half_log = mpmath.log(2 * mpmath.pi) / 2
            right = -(m_**2) / (2 * mpmath.mpf(10) ** 12) - mpmath.log(10**6) - half_log
            right += 3 * mpmath.log(4) - mpmath.loggamma(3) - 4 * mpmath.log(s2_) - 4 / s2_
            for v in y:
                right += -((mpmath.mpf(v) - m_) ** 2) / (2 * s2_) - mpmath.log(s2_) / 2 - half_log
            error = abs(float(right - mpmath.mpf(found.value)))
        assert error <= found.rounding
        assert found.rounding < 1e-7 * abs(found.value)


def test_slope_is_the_derivative():
    prior = bm.BetaBernoulli(2, 3)
    joint = ModelDensity(prior.declare([]))
    found = joint({"theta": 0.25}, {"theta": 2.0})
    assert found.slope == pytest.approx(2 * (1 / 0.25 - 2 / 0.75), abs=found.slope_rounding)


@pytest.mark.slow
def test_variables_with_other_axes_are_refused():
    """One covariance for all classes, and one for each, have the same name."""
    data = ([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]], [0, 1, 1])
    normal = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    classes = bm.DirichletCategorical([1, 1])
    full, shared = (bm.GaussianDiscriminant(classes, normal, kind) for kind in ("full", "shared"))
    with pytest.raises(bm.DataError) as caught:
        bm.check_identity(full.declare(data), shared.update(data), shared)
    assert str(caught.value) == (
        "model: Sigma must have the belief's axes ('feature', 'other_feature'), of shape (2, 2); "
        "it has ('class', 'feature', 'other_feature') of shape (2, 2, 2). Write it with these axes "
        "in this order."
    )


def test_evidence_is_one_number():
    prior, rows = bm.BetaBernoulli(2, 2), [1, 0, 0, 1]
    model = prior.declare(rows)
    with pytest.raises(bm.DataError, match=r"log_evidence: must be one number.*got shape \(4,\)"):
        check_identity(model, prior.update(rows), prior, rows)


@pytest.mark.parametrize(
    ("offset", "likelihood"),
    [(1e3, "statistic"), (1e8, "statistic")]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in [(1e3, "rows"), (1e6, "rows"), (1e6, "statistic"), (1e8, "rows")]
    ],
)
def test_a_mean_far_from_zero_is_a_double_and_no_more_is_forgiven(offset, likelihood):
    rows = offset + np.random.default_rng(5).normal(size=200)
    prior = bm.NormalInverseGamma(offset, 2, 3, 4)
    model, right = prior.declare(rows, likelihood), prior.update(rows)
    wrong = bm.NormalInverseGamma(
        right.location + 3e3 * np.spacing(offset), right.kappa, right.shape, right.scale
    )
    assert bm.check_identity(model, right, prior, prior.log_evidence(rows), rng=1).holds
    assert not bm.check_identity(model, wrong, prior, prior.log_evidence(rows), rng=1).holds
