"""Worked values of the normal family; Murphy (2012) section 4.6."""

import numpy as np
import pytest

import bayesmodels as bm

PRIOR = bm.NormalInverseGamma(mean=1, kappa=0.5, shape=2, scale=3)
ROWS = np.array([2.0, 3.5, -1.0, 4.0, 0.25])


def test_textbook_update():
    n, mean, scatter = len(ROWS), ROWS.mean(), ((ROWS - ROWS.mean()) ** 2).sum()
    posterior = PRIOR.update(ROWS)
    assert posterior.kappa == 5.5
    assert posterior.location == pytest.approx((0.5 * 1 + n * mean) / 5.5)
    assert posterior.shape == 4.5
    assert posterior.scale == pytest.approx(
        3 + scatter / 2 + 0.5 * (0.5 * n / 5.5) * (mean - 1) ** 2
    )


def test_it_is_a_regression_on_a_column_of_ones():
    regression = bm.LinearRegression(1, 0.5, 2, 3)
    data = (np.ones((len(ROWS), 1)), ROWS)
    assert PRIOR.log_evidence(ROWS) == pytest.approx(regression.log_evidence(data))
    ours, theirs = PRIOR.update(ROWS).summary(), regression.update(data).summary()
    assert ours.to_numpy() == pytest.approx(theirs.to_numpy())


def test_an_offset_of_1e8_costs_no_digits_of_the_variance():
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=10_000), 6)
    moved = 1e8 + x
    held = moved - 1e8  # what the array still knows of x
    variance = PRIOR.statistic(moved).mle()["sigma2"]
    assert variance == pytest.approx(np.var(held), rel=1e-12)
    parts = [PRIOR.statistic(part) for part in np.split(moved, 10)]
    forwards, backwards = sum(parts[1:], parts[0]), sum(parts[-2::-1], parts[-1])
    assert forwards.scatter == pytest.approx(backwards.scatter, rel=1e-8)
    assert forwards.scatter == pytest.approx(PRIOR.statistic(moved).scatter, rel=1e-8)
