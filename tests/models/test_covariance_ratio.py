"""Two covariances with an unknown ratio: a quadrature over one number."""

import numpy as np
import pytest
from scipy import integrate, stats

import bayesmodels as bm

CLASSES = bm.DirichletCategorical([1, 1], ["narrow", "wide"])
NORMAL = bm.NormalInverseWishart([0, 0], 1, 4, [[1, 0.3], [0.3, 1]])
LAW = stats.lognorm(1)


def rows(rng, ratio, n):
    X = rng.normal(size=(2 * n, 2)) @ [[1, 0.3], [0, 0.9]]
    X[n:] *= np.sqrt(ratio)
    return X, np.repeat(["narrow", "wide"], n)


DATA = rows(np.random.default_rng(1), 4, 20)
FOUND = bm.ratio_posterior(CLASSES, NORMAL, LAW, DATA)


def given(ratio):
    return bm.GaussianDiscriminant(CLASSES, NORMAL, "proportional", ratio=ratio)


def joint(ratio):
    """p(k) p(D | k), over the evidence."""
    evidence = float(given(ratio).log_evidence(DATA))
    return LAW.pdf(ratio) * np.exp(evidence - FOUND.log_evidence)


@pytest.mark.slow
def test_evidence_mean_and_probabilities_by_adaptive_quadrature():
    total, _ = integrate.quad(joint, 0, 50, epsabs=1e-10, limit=200)
    assert total == pytest.approx(1, rel=1e-7)
    mean, _ = integrate.quad(lambda k: k * joint(k), 0, 50, epsabs=1e-9, limit=200)
    assert FOUND.mean() == pytest.approx(mean, rel=1e-6)
    square, _ = integrate.quad(lambda k: (k - mean) ** 2 * joint(k), 0, 50, limit=200)
    assert FOUND.var() == pytest.approx(square, rel=1e-5)
    for cut in (2.0, 4.0, 7.0):
        below, _ = integrate.quad(joint, 0, cut, epsabs=1e-10)
        assert FOUND.cdf(cut) == pytest.approx(below, abs=1e-8)


def test_quantiles_invert_probabilities():
    levels = np.array([1e-6, 0.05, 0.5, 0.95, 1 - 1e-6])
    np.testing.assert_allclose(FOUND.cdf(FOUND.ppf(levels)), levels, rtol=1e-8)
    assert FOUND.interval(0.9) == pytest.approx(FOUND.ppf([0.05, 0.95]), rel=1e-12)
    draws = FOUND.sample(2000, np.random.default_rng(2))
    assert stats.kstest(FOUND.cdf(draws), "uniform").pvalue > 1e-4


@pytest.mark.slow
def test_class_probabilities_are_averages_over_the_ratio():
    """Weighted by how well each ratio foretold the row."""
    row = [[1.5, -1.0]]
    joint_density = np.zeros(2)
    for i in range(2):
        joint_density[i], _ = integrate.quad(
            lambda k, i=i: joint(k) * np.exp(given(k).update(DATA).log_joint(row)[0, i]), 0.1, 50
        )
    expected = joint_density / joint_density.sum()
    np.testing.assert_allclose(FOUND.class_probabilities(row)[0], expected, rtol=1e-6)


def test_a_law_that_knows_the_ratio_gives_the_discriminant_with_that_ratio():
    sure = bm.ratio_posterior(CLASSES, NORMAL, stats.lognorm(1e-7, scale=3), DATA)
    assert sure.log_evidence == pytest.approx(float(given(3).log_evidence(DATA)), abs=1e-8)
    row = [[0.2, 0.4]]
    np.testing.assert_allclose(
        sure.class_probabilities(row), given(3).update(DATA).class_probabilities(row), rtol=1e-6
    )
    np.testing.assert_allclose(sure.given(3).class_probabilities(row),
                               given(3).update(DATA).class_probabilities(row))  # fmt: skip


def test_a_law_between_two_ends():
    found = bm.ratio_posterior(CLASSES, NORMAL, stats.uniform(0.5, 3), DATA)
    total, _ = integrate.quad(
        lambda k: np.exp(float(given(k).log_evidence(DATA)) - found.log_evidence) / 3, 0.5, 3.5
    )
    assert total == pytest.approx(1, rel=1e-9)
    assert 0.5 < found.ppf(0.001) < found.ppf(0.999) < 3.5


def test_without_rows_the_posterior_is_the_prior():
    nothing = (np.zeros((0, 2)), np.zeros(0, dtype=str))
    found = bm.ratio_posterior(CLASSES, NORMAL, LAW, nothing)
    assert found.log_evidence == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(found.ppf([0.1, 0.5, 0.9]), LAW.ppf([0.1, 0.5, 0.9]), rtol=1e-6)


@pytest.mark.slow
def test_ranks_of_true_ratios_are_uniform():
    """Simulation-based calibration: parameters from the prior, data from them."""
    rng, ranks = np.random.default_rng(3), []
    for _ in range(60):
        k = float(LAW.rvs(random_state=rng))
        truth = {name: x[0] for name, x in given(k).sample(1, rng).items()}
        y = rng.choice(["narrow", "wide"], 12, p=truth["pi"])
        chosen = (y == "wide").astype(int)
        roots = np.linalg.cholesky(given(k).covariances(truth))
        X = truth["mu"][chosen] + np.einsum("nij,nj->ni", roots[chosen], rng.normal(size=(12, 2)))
        ranks.append(float(bm.ratio_posterior(CLASSES, NORMAL, LAW, (X, y)).cdf(k)))
    assert stats.kstest(ranks, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("law", "classes", "words"),
    [
        (stats.norm(), CLASSES, "law: must be a law of positive numbers; its support is"),
        (LAW, bm.DirichletCategorical([1, 1, 1]), "classes: must be two"),
    ],
)
def test_complaints(law, classes, words):
    with pytest.raises(bm.PriorError, match=words):
        bm.ratio_posterior(classes, NORMAL, law, DATA)


@pytest.mark.parametrize("probability", [0, 1, -1, 2])
def test_quantiles_need_probabilities(probability):
    with pytest.raises(bm.DataError, match="probability: must be strictly between 0 and 1"):
        FOUND.ppf(probability)
