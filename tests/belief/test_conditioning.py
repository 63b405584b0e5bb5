"""Digits lost by estimate, against digits lost in fact, by exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pymc as pm
import pytest

import bayesmodels as bm
from bayesmodels.belief.conditioning import DIGITS

RNG = np.random.default_rng(1)
X = np.linspace(0, 1, 30)
Y = np.sin(3 * X) + 0.01 * RNG.normal(size=30)


def estimate(prior, data):
    s = prior.statistic(data)
    return prior.update(s).digits_lost(s)


def solved(matrix, right):
    """Solve a system of rational equations exactly."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(len(rows)):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def lost_in_fact(design, target):
    """Digits that least-squares coefficients lack, in units of their standard errors."""
    columns = [[Fraction(float(x)) for x in column] for column in design.T]
    y = [Fraction(float(x)) for x in target]

    def dot(a, b):
        return sum(p * q for p, q in zip(a, b, strict=True))

    exact = solved([[dot(a, b) for b in columns] for a in columns], [dot(a, y) for a in columns])
    prior = bm.LinearRegression.flat(design.shape[1])
    posterior = prior.update((design, target))
    gap = [float(Fraction(float(w)) - e) for w, e in zip(posterior.mean()["w"], exact, strict=True)]
    size = np.abs([float(e) for e in exact])
    return float(np.log10(max(1e-16, np.max(np.abs(gap) / size))) + DIGITS)


@pytest.mark.parametrize("degree", [2, 4, 6, 8, 10])
def test_polynomials_lose_as_many_digits_as_said(degree):
    design = np.vander(X, degree + 1, increasing=True)
    said = estimate(bm.LinearRegression.flat(degree + 1), (design, Y))
    assert abs(said - lost_in_fact(design, Y)) < 2  # rounding errors of 30 rows, and their luck
    if degree > 8:
        assert said > 6


@pytest.mark.parametrize("gap", [1e-4, 1e-7])
def test_columns_that_are_nearly_one(gap):
    design = np.column_stack([X**0, X, X + gap * np.cos(9 * X)])
    said = estimate(bm.LinearRegression.flat(3), (design, Y))
    assert abs(said - lost_in_fact(design, Y)) < 2
    assert said > -np.log10(gap) - 1


def test_an_offset_costs_nothing_beside_a_constant_column():
    prior = bm.LinearRegression.flat(3)
    plain, shifted = (
        estimate(prior, (np.column_stack([offset + X, X**0, X**2]), Y)) for offset in (0, 1e8)
    )
    assert abs(plain - shifted) < 1
    assert shifted < 3
    assert lost_in_fact(np.column_stack([1e8 + X, X**0, X**2]), Y) < 3


@pytest.mark.parametrize("offset", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("moved", [0, 1])
def test_an_offset_without_one_costs_little_too(offset, moved):
    design = np.column_stack([offset + X, offset + X**2])
    y = Y + moved * offset
    said = estimate(bm.LinearRegression.flat(2), (design, y))
    assert abs(said - lost_in_fact(design, y)) < 2
    assert said < 3


def test_an_exact_fit_has_zeros_without_digits_to_lose():
    design = np.column_stack([X**0, 1e8 + X, X**2])
    assert estimate(bm.LinearRegression.flat(3), (design, 1e8 + X)) < 3


def test_a_prior_that_holds_collinear_columns_apart():
    design = np.column_stack([X, X])
    assert estimate(bm.LinearRegression([0, 0], 1, 2, 2), (design, Y)) < 1.5


def test_scales_of_columns_do_not_matter():
    rows = RNG.normal(size=(50, 3))
    prior = bm.NormalInverseWishart(np.zeros(3), 1, 6, np.eye(3))
    wide = bm.NormalInverseWishart(np.zeros(3), 1, 6, np.diag([1e-20, 1.0, 1e20]))
    said = estimate(prior, rows)
    assert said < 0.5
    assert abs(said - estimate(wide, rows * [1e-10, 1, 1e10])) < 1e-9


def test_a_covariance_near_singular():
    x = RNG.normal(size=200)
    rows = np.column_stack([x, x + 1e-3 * RNG.normal(size=200)])
    prior = bm.NormalInverseWishart(np.zeros(2), 1, 4, 1e-9 * np.eye(2))
    said = estimate(prior, rows)
    assert 5.5 < said < 7.5  # correlation 1 - 5e-7: condition number 4e6
    classes = bm.DirichletCategorical([1, 1])
    for covariance in ("full", "shared"):
        model = bm.GaussianDiscriminant(classes, prior, covariance=covariance)
        assert abs(estimate(model, (rows, np.arange(200) % 2)) - said) < 0.5


@pytest.mark.parametrize(
    ("prior", "data"),
    [
        (bm.BetaBernoulli(1, 1), [1, 0]),
        (bm.DirichletCategorical([1, 1]), [1, 0]),
        (bm.NormalInverseGamma(0, 1, 2, 2), 1e8 + X),
        (bm.ConceptLearning.number_game(), [16]),
        (
            bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 2)),
            (1e8 + X[:, None], np.arange(30) % 2),
        ),
    ],
)
def test_counts_and_centred_sums_lose_nothing(prior, data):
    assert estimate(prior, data) == 0


def test_a_scatter_at_an_offset_has_its_digits():
    rows = 1e8 + X
    exact = [Fraction(float(x)) for x in rows]
    mean = sum(exact) / 30
    scatter = float(sum((x - mean) ** 2 for x in exact))
    found = float(bm.NormalInverseGamma(0, 1, 2, 2).statistic(rows).scatter)
    assert abs(found / scatter - 1) < 1e-14


def test_a_logistic_regression():
    z = RNG.normal(size=(60, 2))
    y = (z[:, 0] + RNG.normal(size=60) > 0).astype(int)
    near = np.column_stack([z[:, 0], z[:, 0] + 1e-3 * z[:, 1]])
    apart, close = (
        bm.LogisticRegression([0, 0], 1e6).laplace(rows_of).digits_lost()
        for rows_of in ((z, y), (near, y))
    )
    assert apart < 1
    assert 5 < close < 7.5


def test_of_a_mixture_there_is_no_estimate():
    prior = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    assert prior.update([[1, 0], [0, 1]]).digits_lost(None) is None


def straight_line(design, prior):
    with pm.Model() as model:
        w, sd = prior(design.shape[1])
        pm.Normal("y", design @ w, sd, observed=Y)
    return model


def normal(width):
    return pm.Normal("w", 0, 1e3, shape=width), 1.0


def normal_inverse_gamma(width):
    variance = pm.InverseGamma("variance", 3, 2)
    return pm.Normal("w", 0, 1e3 * pm.math.sqrt(variance), shape=width), pm.math.sqrt(variance)


@pytest.mark.parametrize("prior", [normal, normal_inverse_gamma])
@pytest.mark.parametrize(("gap", "low", "high"), [(1.0, 0, 1.5), (1e-3, 5.5, 8)])
def test_closed_forms_of_pymc_models_keep_precisions_as_matrices(prior, gap, low, high):
    model = straight_line(np.column_stack([X - 0.5, X - 0.5 + gap * np.cos(9 * X)]), prior)
    assert low < bm.exact(model, rng=1).digits_lost() < high


def test_closed_forms_without_vectors_lose_nothing():
    with pm.Model() as model:
        pm.Poisson("y", pm.Gamma("rate", 2, 1), observed=[3, 1])
    assert bm.exact(model, rng=1).digits_lost() == 0


def test_levels_have_no_estimate():
    with pm.Model() as model:
        pm.Poisson("seen", pm.DiscreteUniform("shown", 3, 9), observed=4)
    assert bm.exact(model, rng=1).digits_lost() is None
