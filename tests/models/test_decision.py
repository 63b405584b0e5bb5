"""Boundary and Bayes risk of normal classes, against densities, quadrature and simulation."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import bayesmodels as bm
from bayesmodels.errors import DataError
from bayesmodels.models.classifiers.decision import bayes_risk, boundary

PI = np.array([0.3, 0.7])
MU = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]])
A = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 0.7]])
B = np.array([[0.5, 0.1, 0.0], [0.1, 3.0, -1.0], [0.0, -1.0, 1.5]])
POINTS = np.random.default_rng(1).normal(size=(50, 3)) * 3


def log_odds(x, pi, mu, Sigma):
    logs = [
        stats.multivariate_normal(m, S).logpdf(x) + np.log(p)
        for p, m, S in zip(pi, mu, Sigma, strict=True)
    ]
    return logs[1] - logs[0]


@pytest.mark.parametrize("Sigma", [(A, B), (B, A), (A, 3 * A), (A, A)])
def test_log_odds_are_those_of_the_densities(Sigma):
    both = boundary(PI, MU, Sigma)
    expected = log_odds(POINTS, PI, MU, Sigma)
    np.testing.assert_allclose(both.log_odds(POINTS), expected, rtol=1e-11, atol=1e-11)
    Q, b, c = both.about_zero()
    by_hand = np.einsum("ni,ij,nj->n", POINTS, Q, POINTS) + POINTS @ b + c
    np.testing.assert_allclose(by_hand, expected, rtol=1e-11, atol=1e-11)
    assert (Q.T == Q).all()


def test_a_shared_covariance_has_a_linear_boundary():
    one, twice = boundary(PI, MU, A), boundary(PI, MU, [A, A])
    assert one.linear
    assert twice.linear
    assert not one.quadratic.any()
    np.testing.assert_array_equal(one.slope, twice.slope)
    np.testing.assert_allclose(one.slope, np.linalg.solve(A, MU[1] - MU[0]), rtol=1e-13)


def test_a_multiple_of_the_covariance_has_not():
    k = 3.0
    scaled = boundary(PI, MU, [A, k * A])
    assert not scaled.linear
    np.testing.assert_allclose(scaled.quadratic @ A, (1 - 1 / k) / 2 * np.eye(3), atol=1e-14)


def test_classes_far_from_zero_lose_no_digits():
    near = boundary(PI, MU, [A, B]).log_odds(MU[0] + 0.25)
    far = boundary(PI, MU + 2**30, [A, B]).log_odds(MU[0] + 0.25 + 2**30)
    np.testing.assert_allclose(far, near, rtol=1e-13)


def test_one_point_or_many():
    both = boundary(PI, MU, A)
    assert both.log_odds(POINTS[0]).shape == ()
    assert both.log_odds(POINTS.reshape(5, 10, 3)).shape == (5, 10)
    with pytest.raises(DataError, match="x: must have 3 coordinates"):
        both.log_odds([1.0, 2.0])


def counted_errors(pi, mu, Sigma, rng, size=400_000):
    """Simulate rows, classify them by their densities, and count."""
    y = rng.choice(len(pi), size, p=pi)
    roots = np.linalg.cholesky(np.broadcast_to(Sigma, (len(pi), *np.shape(Sigma)[-2:])))
    x = mu[y] + np.einsum("nij,nj->ni", roots[y], rng.normal(size=(size, mu.shape[1])))
    logs = [
        stats.multivariate_normal(m, L @ L.T).logpdf(x) + np.log(p)
        for p, m, L in zip(pi, mu, roots, strict=True)
    ]
    wrong = (np.argmax(logs, axis=0) != y).mean()
    return wrong, np.sqrt(wrong * (1 - wrong) / size)


def quadrature(pi, mu, sigma):
    def second_best(x):
        parts = np.array(pi) * stats.norm.pdf(x, mu, sigma)
        return parts.sum() - parts.max()

    ends = sorted({m + s * z for m, s in zip(mu, sigma, strict=True) for z in range(-10, 11)})
    return sum(integrate.quad(second_best, a, b, epsabs=1e-10)[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("pi", [(0.5, 0.5), (0.2, 0.8), (0.999, 0.001)])
@pytest.mark.parametrize("distance", [0.1, 1.0, 4.0])
def test_closed_form_against_quadrature(pi, distance):
    risk = bayes_risk(pi, [[1.0], [1.0 + 2 * distance]], [[4.0]])
    assert risk.standard_error == 0
    assert risk.value == pytest.approx(quadrature(pi, [1, 1 + 2 * distance], [2, 2]), abs=1e-8)


def test_equal_priors_have_the_textbook_form():
    distance = np.sqrt((MU[1] - MU[0]) @ np.linalg.solve(A, MU[1] - MU[0]))
    expected = stats.norm.cdf(-distance / 2)
    assert bayes_risk([0.5, 0.5], MU, A).value == pytest.approx(expected, rel=1e-12)
    assert bayes_risk([0.5, 0.5], MU, [A, A]).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("pi", "mu", "sigma"),
    [
        ((0.5, 0.5), (0, 0), (1, 3)),
        ((0.9, 0.1), (0, 2), (1, 0.3)),
        ((0.2, 0.3, 0.5), (0, 1, 1.5), (1, 1, 1)),
        ((0.98, 0.01, 0.01), (0, 5, -5), (1, 0.5, 2)),
    ],
)
def test_monte_carlo_against_quadrature(pi, mu, sigma):
    Sigma = np.square(sigma)[:, None, None].astype(float)
    mean = np.array(mu, dtype=float)[:, None]
    expected = quadrature(pi, mu, sigma)
    rng = np.random.default_rng(7)
    risks = [bayes_risk(pi, mean, Sigma, draws=20_000, rng=rng) for _ in range(50)]
    z = [(risk.value - expected) / risk.standard_error for risk in risks]
    assert abs(np.mean(z)) < 4 / np.sqrt(50)
    assert 0.7 < np.std(z) < 1.35  # the standard error is what it says
    counting = np.sqrt(expected * (1 - expected) / 20_000)
    assert all(risk.standard_error < counting for risk in risks)


def test_several_dimensions_and_classes_against_simulation():
    pi = np.array([0.2, 0.5, 0.3])
    mu = np.vstack([MU, [2.0, 2.0, 2.0]])
    Sigma = np.stack([A, B, A + B])
    risk = bayes_risk(pi, mu, Sigma, rng=np.random.default_rng(3))
    wrong, noise = counted_errors(pi, mu, Sigma, np.random.default_rng(4))
    assert abs(risk.value - wrong) < 4 * np.hypot(risk.standard_error, noise)


def test_two_dimensional_closed_form_against_simulation():
    wrong, noise = counted_errors(PI, MU, A, np.random.default_rng(5))
    assert abs(bayes_risk(PI, MU, A).value - wrong) < 4 * noise


def test_small_risks_keep_their_digits():
    risk = bayes_risk([0.5, 0.5], [[0.0], [60.0]], [[[1.0]], [[1.0]]])
    assert risk.value == pytest.approx(stats.norm.cdf(-30), rel=1e-12)
    sampled = bayes_risk([1 / 3] * 3, [[0.0], [20.0], [40.0]], [[1.0]], draws=1000)
    assert 0 < sampled.value < 1e-20


def test_classes_that_are_one_or_impossible():
    assert bayes_risk([0.3, 0.7], [MU[0], MU[0]], A) == (0.3, 0)
    assert bayes_risk([0.3, 0.7], [[0.0], [1e-320]], [[1.0]]).value == pytest.approx(0.3)
    assert bayes_risk([1, 0], MU, [A, B]) == (0, 0)
    three = bayes_risk([0.3, 0, 0.7], [MU[0], MU[0], MU[1]], A)
    assert three == bayes_risk(PI, MU, A)


def test_the_same_source_of_randomness_gives_the_same_number():
    risks = [bayes_risk(PI, MU, [A, B], rng=np.random.default_rng(1)) for _ in range(2)]
    assert risks[0] == risks[1]


@pytest.mark.parametrize("function", [boundary, bayes_risk])
@pytest.mark.parametrize(
    ("pi", "mu", "Sigma", "message"),
    [
        ([0.5, 0.6], MU, A, "pi: must add up to one along the last axis; got a sum of 1.1"),
        ([-0.5, 1.5], MU, A, "pi: must be probabilities, from 0 to 1; got -0.5"),
        (0.5, MU, A, "pi: must hold one probability for each case; got 0.5"),
        ([PI, PI], MU, A, "pi: must have one axis"),
        (PI, MU[:, 0], A, r"mu: must have the axes \(class, feature\), with 2 classes"),
        (PI, MU[:1], A, "mu: must have the axes"),
        (PI, MU, A[:2], r"Sigma: must have shape \(3, 3\), or \(2, 3, 3\)"),
        (PI, MU, [A, np.triu(B)], "Sigma: must be a symmetric matrix; its entries"),
        (PI, MU, np.ones((3, 3)), "Sigma: must be positive definite; its smallest eigenvalue"),
        (PI, MU, np.cov(POINTS[:3].T), "Sigma: must be positive definite"),
        (PI, MU, [A, -B], "Sigma: must be positive definite"),
        (PI, MU, A * [[np.nan, 1, 1], [1, 1, 1], [1, 1, 1]], "Sigma: .*missing|Sigma: .*NaN"),
    ],
)
def test_complaints(function, pi, mu, Sigma, message):
    with pytest.raises(DataError, match=message):
        function(pi, mu, Sigma)


def test_a_boundary_is_between_two_possible_classes():
    with pytest.raises(DataError, match="pi: must hold two positive probabilities"):
        boundary([0, 1], MU, A)
    with pytest.raises(DataError, match="pi: must hold two positive probabilities"):
        boundary([0.2, 0.3, 0.5], np.vstack([MU, MU[0]]), A)


def test_draws_are_at_least_two():
    with pytest.raises(DataError, match="draws: must be at least 2"):
        bayes_risk(PI, MU, [A, B], draws=1)


def test_a_classifier_asks_at_its_parameters():
    """Of three classes two are chosen by their labels; naive Bayes is the diagonal discriminant."""
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], 20)
    x = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [2, 1], [0, 3]], 20, axis=0)
    classes, normal = bm.DirichletCategorical([1, 1, 1], [*"abc"]), bm.NormalInverseGamma
    naive = bm.NaiveBayes(classes, normal([0, 0], 1, 2, 2)).update((x, y))
    diagonal = bm.GaussianDiscriminant(classes, normal([0, 0], 1, 2, 2), "diagonal").update((x, y))
    known = naive.mean()
    odds = naive.boundary(known, between=["b", "c"]).log_odds(x)
    joint = naive.log_joint(x, known)
    np.testing.assert_allclose(odds, joint[:, 2] - joint[:, 1], rtol=1e-9, atol=1e-9)
    same = diagonal.boundary(diagonal.mean(), between=["b", "c"]).log_odds(x)
    np.testing.assert_allclose(same, odds, rtol=1e-12)
    assert naive.bayes_risk(known, rng=1) == diagonal.bayes_risk(diagonal.mean(), rng=1)
    for between in (None, ["b"], ["b", "b"], ["b", "d"]):
        with pytest.raises(bm.DataError, match=r"between: must be two of the classes \('a', 'b',"):
            naive.boundary(known, between)
    with pytest.raises(bm.DataError, match=r"pi of .* must be positive"):
        naive.boundary({**known, "pi": [1, 0, 0]}, ["a", "b"])
    told = naive.mutual_information(known)
    ranked = bm.rank_features(naive, draws=10, rng=1)["mutual_information"]
    np.testing.assert_allclose(told[ranked.index], ranked, rtol=1e-12)
