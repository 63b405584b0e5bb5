"""Worked values of Bayesian linear regression: Murphy (2012) section 7.6.3, NIST, mpmath."""

import json
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

import bayesmodels as bm

CERTIFIED = json.loads(Path(__file__).with_name("longley_certified.json").read_text())


def example(rng, n=40, p=3):
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1, p + 1) + rng.normal(size=n)


def test_textbook_formulas():
    """The update as models.md prints it, on data so tame that plain inverses do."""
    X, y = example(np.random.default_rng(1))
    V0, w0, a0, b0 = np.array([[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 3]]), np.ones(3), 2.5, 1.5
    VN = np.linalg.inv(np.linalg.inv(V0) + X.T @ X)
    wN = VN @ (np.linalg.inv(V0) @ w0 + X.T @ y)
    aN = a0 + len(y) / 2
    bN = b0 + 0.5 * (w0 @ np.linalg.inv(V0) @ w0 + y @ y - wN @ np.linalg.inv(VN) @ wN)
    posterior = bm.LinearRegression(w0, np.linalg.inv(V0), a0, b0).update((X, y))
    assert posterior.mean()["w"] == pytest.approx(wN)
    assert posterior.shape == aN
    assert posterior.scale == pytest.approx(bN)
    assert posterior.precision == pytest.approx(np.linalg.inv(VN))
    assert posterior.mean()["sigma2"] == pytest.approx(bN / (aN - 1))
    assert posterior.var()["w"] == pytest.approx(np.diag(VN) * bN / (aN - 1))


def test_evidence_is_the_joint_predictive_density_of_all_rows():
    X, y = example(np.random.default_rng(2))
    prior = bm.LinearRegression(np.ones(3), np.diag([1.0, 2.0, 0.5]), 2, 3)
    together = prior.predictive(X, joint=True).logpdf(y)
    assert prior.log_evidence((X, y)) == pytest.approx(together, rel=1e-12)


def test_predictive_of_each_row_is_the_margin_of_the_joint_one():
    X, y = example(np.random.default_rng(3))
    posterior = bm.LinearRegression(0, np.eye(3), 2, 3).update((X, y))
    new = np.random.default_rng(4).normal(size=(5, 3))
    single, joint = posterior.predictive(new), posterior.predictive(new, joint=True)
    assert single.mean() == pytest.approx(joint.loc)
    assert (single.kwds["scale"] ** 2) == pytest.approx(np.diag(joint.shape))


def test_predictive_for_many_rows_needs_no_square_matrix():
    X, y = example(np.random.default_rng(5))
    posterior = bm.LinearRegression(0, np.eye(3), 2, 3).update((X, y))
    rows = np.ones((200_000, 3))  # a square matrix would take 320 GB
    assert posterior.predictive(rows).std().shape == (200_000,)


def test_flat_prior_gives_the_classical_answers():
    X, y = example(np.random.default_rng(6))
    posterior = bm.LinearRegression.flat(3).update((X, y))
    w, rss = np.linalg.lstsq(X, y)[:2]
    s2 = rss[0] / (len(y) - 3)
    se = np.sqrt(s2 * np.diag(np.linalg.inv(X.T @ X)))
    assert posterior.mean()["w"] == pytest.approx(w)
    assert posterior.scale / posterior.shape == pytest.approx(s2)
    low, high = posterior.interval(0.95)["w"]
    assert high - w == pytest.approx(stats.t(len(y) - 3).ppf(0.975) * se)
    assert w - low == pytest.approx(high - w)


def test_some_coefficients_may_be_flat():
    X, y = example(np.random.default_rng(7))
    precision = np.diag([0.0, 4.0, 0.0])
    posterior = bm.LinearRegression(0, precision, 1, 1).update((X, y))
    assert posterior.mean()["w"] == pytest.approx(np.linalg.solve(precision + X.T @ X, X.T @ y))


def test_flat_prior_names_what_is_still_flat():
    belief = bm.LinearRegression.flat(["a", "b"])
    with pytest.raises(bm.PriorError, match=r"flat in the direction of \['a', 'b'\]"):
        belief.mean()
    one_row = belief.update(pd_design([[1.0, 2.0]], [3.0]))
    with pytest.raises(bm.PriorError, match=r"flat in the direction of \['b'\]"):
        one_row.mean()
    with pytest.raises(bm.PriorError, match="log_evidence: needs a proper belief"):
        belief.log_evidence(pd_design([[1.0, 2.0]], [3.0]))


def pd_design(X, y):
    return bm.Design(pd.DataFrame(X, columns=["a", "b"]), y)


def test_rows_one_at_a_time_through_rank_deficiency():
    """A flat prior stays improper for a while; the end is the same as all rows at once."""
    X, y = example(np.random.default_rng(8), n=12)
    belief = bm.LinearRegression.flat(3)
    for i in range(len(y)):
        belief = belief.update((X[i : i + 1], y[i : i + 1]))
    batch = bm.LinearRegression.flat(3).update((X, y))
    assert belief.mean()["w"] == pytest.approx(batch.mean()["w"], rel=1e-12)
    assert belief.scale == pytest.approx(batch.scale, rel=1e-12)


def test_collinear_columns_are_named_by_the_mle_and_fine_under_a_proper_prior():
    x = np.arange(5.0)
    frame = pd.DataFrame({"a": x, "twice_a": 2 * x})
    data = bm.Design(frame, 3 * x + 1, intercept=True)
    model = bm.LinearRegression(0, 1, 1, 1, features=["intercept", "a", "twice_a"])
    with pytest.raises(bm.DataError, match="twice_a"):
        model.statistic(data).mle()
    assert np.isfinite(model.update(data).mean()["w"]).all()


def test_shrinkage_matrix_blends_prior_mean_and_mle():
    X, y = example(np.random.default_rng(9))
    prior = bm.LinearRegression([3, -1, 2], np.diag([5.0, 1.0, 9.0]), 2, 3)
    weight = prior.shrinkage((X, y))
    found = prior.statistic((X, y)).mle()
    mle = found["w"]
    assert found["sigma2"] == pytest.approx(((y - X @ mle) ** 2).mean())
    blend = weight @ [3, -1, 2] + (np.eye(3) - weight) @ mle
    assert prior.update((X, y)).mean()["w"] == pytest.approx(blend)


def test_g_prior_shrinks_the_mle_by_one_factor():
    X, y = example(np.random.default_rng(10))
    mle = bm.LinearRegression.flat(3).statistic((X, y)).mle()["w"]
    posterior = bm.LinearRegression.g_prior(X, g=9, shape=1, scale=1).update((X, y))
    assert posterior.mean()["w"] == pytest.approx(0.9 * mle)


def longley(shift=0.0):
    frame = bm.datasets.load("longley")
    features = [name for name in frame.columns if name != "employed"]
    X = frame[features].to_numpy(dtype=float) + shift
    return features, X, frame["employed"].to_numpy(dtype=float)


def digits(found, right):
    with np.errstate(divide="ignore"):
        return float(np.min(-np.log10(np.abs(np.asarray(found) / np.asarray(right) - 1))))


def exact_least_squares(X, y):
    """Coefficients, standard errors and residual standard deviation at 60 digits."""
    return exact_fit(np.c_[np.ones(len(y)), X], y)


def exact_fit(X, y):
    with mpmath.workdps(60):
        A = mpmath.matrix(X.tolist())
        b = mpmath.matrix(y.tolist())
        inverse = (A.T * A) ** -1
        w = inverse * (A.T * b)
        rss = mpmath.fsum(r**2 for r in b - A * w)
        s2 = rss / (A.rows - A.cols)
        se = [mpmath.sqrt(s2 * inverse[j, j]) for j in range(A.cols)]
        return [float(v) for v in w], [float(v) for v in se], float(mpmath.sqrt(s2))


def test_longley_certified_values():
    features, X, y = longley()
    posterior = bm.LinearRegression.flat(1 + len(features)).update(bm.Design(X, y, intercept=True))
    law = posterior.marginals()["w"]
    assert digits(law.mean(), CERTIFIED["coefficients"]) > 8
    assert digits(law.kwds["scale"], CERTIFIED["standard_errors"]) > 8
    sigma = np.sqrt(posterior.scale / posterior.shape)
    assert digits(sigma, CERTIFIED["residual_sd"]) > 8


def test_longley_moved_by_1e8():
    """Slopes do not change when every column is moved; the rounding of x + 1e8 does change them.

    So the reference is the exact solution for the numbers that the array really holds.
    """
    features, X, y = longley(shift=1e8)
    posterior = bm.LinearRegression.flat(1 + len(features)).update(bm.Design(X, y, intercept=True))
    w, se, sigma = exact_least_squares(X, y)
    law = posterior.marginals()["w"]
    assert digits(law.mean()[1:], w[1:]) > 8
    assert digits(law.kwds["scale"][1:], se[1:]) > 8
    assert digits(np.sqrt(posterior.scale / posterior.shape), sigma) > 8


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_weight_is_a_number_of_rows(offset):
    rng = np.random.default_rng(21)
    X, y = example(rng)
    X, weights = X + offset, rng.integers(0, 4, len(y))
    prior = bm.LinearRegression(0, np.eye(3), 2, 1)
    ours = prior.statistic(bm.Weighted((X, y), weights))
    theirs = prior.statistic((X.repeat(weights, axis=0), y.repeat(weights)))
    assert ours.n == theirs.n
    np.testing.assert_allclose(ours.factor, theirs.factor, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(prior.log_evidence(ours), prior.log_evidence(theirs), rtol=1e-10)
    named = bm.Weighted(bm.Design(X, y, intercept=True), weights)
    assert bm.LinearRegression.flat(4).statistic(named).n == theirs.n


def test_weighted_rows_are_no_rows_to_descend_on_or_to_declare():
    data = bm.Weighted(example(np.random.default_rng(23)), np.ones(40))
    with pytest.raises(bm.DataError, match="must not be weighted"):
        bm.least_squares_descent(data)
    with pytest.raises(bm.DataError, match="declared from their statistic"):
        bm.LinearRegression(0, np.eye(3), 2, 1).declare(data, likelihood="rows")
    with pytest.raises(bm.DataError, match="weights: must not be negative"):
        bm.LinearRegression.flat(1).statistic(bm.Weighted(([[1.0]], [2.0]), [-1.0]))


def householder_fit(X, y):
    """Coefficients and standard errors by LAPACK's QR of [X y] as it is."""
    (R,) = linalg.qr(np.c_[X, y], mode="r")
    p = X.shape[1]
    spread = np.sqrt((linalg.solve_triangular(R[:p, :p], np.eye(p)) ** 2).sum(1))
    w = linalg.solve_triangular(R[:p, :p], R[:p, p])
    return w, spread * abs(R[p, p]) / np.sqrt(len(y) - p)


@pytest.mark.parametrize(
    ("degree", "low", "high"),
    [(5, 0, 20), (5, 20, 40), (5, 90, 100), (10, 0, 1), (10, 1, 3), (10, -9, -3)],
)
def test_polynomials_keep_the_digits_of_householder_qr(degree, low, high):
    """Condition numbers from 7e6 to 5e17; several designs, since how rounding falls out is luck."""
    rng = np.random.default_rng(degree)
    ours, plain = [], []
    for n in range(20, 38, 2):
        X = np.vander(np.linspace(low, high, n), degree + 1, increasing=True)
        y = X @ (1 / np.abs(X).max(0)) + 0.1 * rng.normal(size=len(X))
        law = bm.LinearRegression.flat(degree + 1).update((X, y)).marginals()["w"]
        right = exact_fit(X, y)
        found = (law.mean(), law.kwds["scale"])
        ours.append([digits(a, b) for a, b in zip(found, right, strict=False)])
        plain.append([digits(a, b) for a, b in zip(householder_fit(X, y), right, strict=False)])
    assert (np.median(ours, 0) > np.median(plain, 0) - 0.5).all()


@pytest.mark.parametrize(("low", "rows"), [(990, 12), (990, 40), (90, 40)])
def test_polynomials_beyond_double_precision_are_refused(low, rows):
    X = np.vander(np.linspace(low, low + 10, rows), 11, increasing=True)
    belief = bm.LinearRegression.flat(11).update((X, np.sin(X[:, 1])))
    with pytest.raises(bm.PriorError, match="flat in the direction of"):
        belief.marginals()


def test_rows_that_fit_perfectly_can_be_taken_out():
    """Two rows are left of three columns: what rounding leaves below zero was refused."""
    model = bm.LinearRegression(0, np.eye(3), 2, 1)
    kept = model.statistic(([[1, 0, 2], [-1, 2, 1.0]], [-1.0, 1]))
    gone = model.statistic(([[0, 1, 1], [2, 0, 0], [0, 0, -2.0]], [0.0, 0, -1]))
    left = (kept + gone) - gone
    np.testing.assert_allclose(
        left.triangle().T @ left.triangle(), kept.triangle().T @ kept.triangle(), atol=1e-12
    )
    with pytest.raises(bm.DataError, match="must be among those that are there"):
        kept - model.statistic(([[0, 1, 1.0]], [5.0]))
