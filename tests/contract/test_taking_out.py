"""`a - b` takes rows out again: what is left is the statistic of the other rows."""

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.belief.declaring import number_of_rows
from bayesmodels.belief.protocol import Statistic
from bayesmodels.belief.rows import readable, rows_at
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)
RESTS = [
    case
    for case in CASES
    if not isinstance(case.rest, bm.Weighted) and not isinstance(case.rest, Statistic)
]


def numbers_of(belief):
    return [np.asarray(x, dtype=float) for x in belief.parameters().values()]


@pytest.mark.parametrize("case", RESTS, ids=lambda case: case.id)
def test_what_is_left_is_the_statistic_of_the_other_rows(case):
    wide = case.start.update(case.start.statistic(case.rest).without_rows())
    rows = readable(wide, case.rest)
    gone = np.zeros(number_of_rows(rows), dtype=bool)
    gone[::3] = True
    out, kept = (wide.statistic(rows_at(rows, np.flatnonzero(at))) for at in (gone, ~gone))
    if hasattr(out, "log_likelihood") and np.isneginf(out.log_likelihood).any():
        with pytest.raises(bm.DataError, match="possible under all hypotheses"):
            wide.statistic(rows) - out
        return
    left = wide.statistic(rows) - out
    if hasattr(left, "weights"):  # a mixture's, which is its rows
        assert left == kept.distinct()
        return
    for found, wanted in zip(
        numbers_of(wide.update(left)), numbers_of(wide.update(kept)), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    whole = wide.statistic(rows)
    if hasattr(whole, "log_likelihood") and np.isneginf(whole.log_likelihood).any():
        return
    nothing = whole - whole
    for found, wanted in zip(numbers_of(wide.update(nothing)), numbers_of(wide), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "whole", "part"),
    [
        (bm.BetaBernoulli(1, 1), [1, 0, 0], [1, 1]),
        (bm.DirichletCategorical([1, 1]), [0, 1, 1], [0, 0]),
        (bm.NormalInverseGamma(0, 1, 1, 1), [1.0, 2.0], [1.0, 2.0, 3.0]),
        (bm.NormalInverseGamma(0, 1, 1, 1), [1.0, 2.0, 3.0], [1.0, 9.0]),
        (bm.NormalInverseGamma(0, 1, 1, 1), [1.0, 2.0], [1.0, 2.5]),
        (bm.NormalInverseWishart([0, 0], 1, 3, np.eye(2)), np.eye(2), [[5.0, -5.0]]),
        (bm.LinearRegression.flat(2), (np.eye(2), [1, 2]), (np.eye(2), [1, 3])),
        (bm.LinearRegression.flat(2), (np.eye(2), [1, 2]), ([[3.0, 4.0]], [5])),
        (bm.LinearRegression.flat(2), ([[1, 0], [2, 0.0]], [1, 2]), ([[1, 1.0]], [1])),
    ],
)
def test_a_part_that_was_never_there_is_refused(model, whole, part):
    with pytest.raises(bm.DataError, match="must be among those that are there"):
        model.statistic(whole) - model.statistic(part)


def test_a_window_slides_over_many_rows_without_drifting_away():
    """Two thousand rows come and go, far from zero; ten are in the window."""
    rows = 1e4 + RNG.normal(size=2000)
    model = bm.NormalInverseGamma(0, 1, 1, 1)
    window = model.statistic(rows[:10])
    for k in range(10, len(rows)):
        window = window + model.statistic(rows[k : k + 1]) - model.statistic(rows[k - 10 : k - 9])
    wanted = model.statistic(rows[-10:])
    assert window.n == 10
    np.testing.assert_allclose(window.mean, wanted.mean, rtol=1e-13)
    np.testing.assert_allclose(window.scatter, wanted.scatter, rtol=1e-10)


def test_collinear_columns_can_be_taken_out_too():
    X = RNG.normal(size=(30, 2))
    X = np.column_stack([X, X.sum(1)])
    y = RNG.normal(size=30)
    model = bm.LinearRegression(np.zeros(3), np.eye(3), 1, 1)
    left = model.statistic((X, y)) - model.statistic((X[:10], y[:10]))
    wanted = model.update((X[10:], y[10:]))
    np.testing.assert_allclose(model.update(left).mean()["w"], wanted.mean()["w"], rtol=1e-9)
    np.testing.assert_allclose(model.update(left).scale, wanted.scale, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [bm.NormalInverseGamma(0, 1, 2, 2), bm.NormalInverseWishart([0], 1, 4, [[1]])],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize(("offset", "spread", "seed"), [(-0.5, 6e-6, 0), (5e6, 2e-6, 3)])
def test_all_rows_but_one_can_go_however_far_they_are_from_zero(model, offset, spread, seed):
    """The means are off by roundings of the offset, beside which the spread is small."""
    for number in range(2, 300):
        rows = offset + spread * np.random.default_rng((seed, number)).standard_t(2, number)
        rows = rows if model.mean().get("Sigma") is None else rows[:, None]
        left = model.statistic(rows) - model.statistic(rows[1:])
        assert left.n == 1
        assert np.ravel(left.mean)[0] == pytest.approx(
            np.ravel(rows)[0], abs=1e-3 * spread * number
        )


def test_all_rows_of_a_design_but_one_can_go_however_far_they_are_from_zero():
    model = bm.LinearRegression(np.zeros(3), np.eye(3), 2, 2)
    for seed in range(100):
        x = 4e5 + 3e-4 * np.random.default_rng(seed).normal(size=(16, 3))
        design, others = (bm.Design(r[:, :2], r[:, 2], intercept=True) for r in (x, x[1:]))
        left = model.statistic(design) - model.statistic(others)
        assert left.n == 1
        assert left.mean == pytest.approx([1, *x[0]], abs=1e-4)


@pytest.mark.parametrize(
    ("model", "law"),
    [
        (bm.BetaBernoulli(2, 3), stats.bernoulli(0.3)),
        (bm.DirichletCategorical([1, 2, 3]), stats.randint(0, 3)),
        (bm.GammaPoisson(2, 3), stats.poisson(3)),
        (bm.GammaExponential(2, 3), stats.expon()),
        (bm.NormalInverseGamma(0, 1, 2, 3), stats.norm()),
        (bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2)), stats.multivariate_normal([0, 0])),
    ],
    ids=lambda each: type(each).__name__,
)
def test_evidence_of_what_is_left(model, law):
    rows = law.rvs(40, random_state=1)
    left = model.statistic(rows) - model.statistic(rows[:15])
    np.testing.assert_allclose(model.log_evidence(left), model.log_evidence(rows[15:]), rtol=1e-12)
