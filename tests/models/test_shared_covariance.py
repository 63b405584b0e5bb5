"""One covariance for several classes: as one class, rescaled, by the chain rule, by quadrature."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import bayesmodels as bm
from tests.asking import close, complaint

SCALE = np.array([[2.0, 0.5], [0.5, 1.0]])
ROWS = np.array([[2.0, 0.0], [3.5, -1.0], [-1.0, 2.0], [4.0, 1.0], [0.5, 0.5], [1.5, -2.0]])
BY = np.array(list("abbaba"))
RATIO = np.array([1, 4, 0.25])
MEANS = np.array([[1.0, -1.0], [0.0, 2.0], [3.0, 3.0]])
KAPPA = np.array([0.5, 1, 2])
PRIOR = bm.SharedNormalInverseWishart(MEANS, KAPPA, 4.5, SCALE, RATIO)


def grouped(rows=ROWS, by=BY):
    return bm.Grouped(rows, by, groups=["a", "b", "c"])


POSTERIOR = PRIOR.update(grouped())


def test_one_class_is_the_normal_inverse_wishart():
    shared = bm.SharedNormalInverseWishart(MEANS[:1], 0.5, 4.5, SCALE)
    single = bm.NormalInverseWishart(MEANS[0], 0.5, 4.5, SCALE)
    rows = bm.Grouped(ROWS, ["a"] * 6)
    close(shared.log_evidence(rows), single.log_evidence(ROWS))
    shared, single = shared.update(rows), single.update(ROWS)
    assert shared.df == single.df
    assert_array_equal(shared.scale, single.scale)
    assert_array_equal(shared.location[0], single.location)
    close(shared.log_predictive(ROWS)[:, 0], single.predictive().logpdf(ROWS))
    assert_array_equal(shared.mode()["Sigma"], single.mode()["Sigma"])
    draws = single.sample(4, np.random.default_rng(1))
    same = {"Sigma": draws["Sigma"], "mu": draws["mu"][:, None]}
    close(shared.log_density(same), single.log_density(draws))
    for name in ("mu", "Sigma"):
        ours, theirs = shared.marginals()[name], single.marginals()[name]
        close(np.squeeze(ours.ppf(0.2)), theirs.ppf(0.2))


def test_textbook_update():
    """Psi_N = Psi + sum over classes of scatter and pull of the prior, each over its ratio."""
    scale = SCALE.copy()
    for c, name in enumerate("abc"):
        rows = ROWS[name == BY]
        if len(rows):
            gap = rows.mean(0) - MEANS[c]
            pull = KAPPA[c] * len(rows) / (KAPPA[c] + len(rows)) * np.outer(gap, gap)
            scale += (np.cov(rows.T, bias=True) * len(rows) + pull) / RATIO[c]
    close(POSTERIOR.scale, scale)
    assert POSTERIOR.df == 10.5
    assert_array_equal(POSTERIOR.location[2], MEANS[2])  # a class without rows
    close(POSTERIOR.location[0], (0.5 * MEANS[0] + ROWS[BY == "a"].sum(0)) / 3.5)


def test_known_ratios_are_a_change_of_scale():
    """Divided by the root of its ratio, each class has the same covariance as the others."""
    root = np.sqrt(RATIO)
    plain = bm.SharedNormalInverseWishart(MEANS / root[:, None], KAPPA, 4.5, SCALE)
    of_rows = root[["abc".index(name) for name in BY]]
    rows = grouped(ROWS / of_rows[:, None])
    close(PRIOR.log_evidence(grouped()), plain.log_evidence(rows) - 2 * np.log(of_rows).sum())
    after = plain.update(rows)
    close(after.scale, POSTERIOR.scale)
    close(after.location * root[:, None], POSTERIOR.location)
    each = np.stack([after.log_predictive(ROWS / r)[:, c] for c, r in enumerate(root)], 1)
    close(POSTERIOR.log_predictive(ROWS), each - 2 * np.log(root))


def test_log_density_and_rows_are_those_of_scipys_laws():
    draws = POSTERIOR.sample(4, np.random.default_rng(3))
    logs = PRIOR.log_likelihood(draws, grouped())["x"]
    density = POSTERIOR.log_density(draws)
    for s in range(4):
        mu, sigma = draws["mu"][s], draws["Sigma"][s]
        expected = stats.invwishart(10.5, POSTERIOR.scale).logpdf(sigma)
        for c in range(3):
            spread = RATIO[c] * sigma
            law = stats.multivariate_normal(POSTERIOR.location[c], spread / POSTERIOR.kappa[c])
            expected += law.logpdf(mu[c])
            rows = "abc"[c] == BY
            if rows.any():
                close(logs[s, rows], stats.multivariate_normal(mu[c], spread).logpdf(ROWS[rows]))
        close(density[s], expected)


def test_predictive_is_scipys_student():
    for c in range(3):
        shape = RATIO[c] * SCALE * (1 + 1 / KAPPA[c]) / 3.5
        law = stats.multivariate_t(MEANS[c], shape, df=3.5)
        close(PRIOR.log_predictive(ROWS)[:, c], law.logpdf(ROWS))


def test_a_missing_cell_is_integrated_out():
    """One column less, one degree of freedom less."""
    rows = np.column_stack([ROWS[:, 0], np.full(6, np.nan)])
    alone = bm.SharedNormalInverseWishart(MEANS[:, :1], KAPPA, 3.5, SCALE[:1, :1], RATIO)
    close(PRIOR.log_predictive(rows), alone.log_predictive(ROWS[:, :1]))


def test_mle_is_where_the_likelihood_is_largest():
    """It used to be a covariance for each class, which the model does not have."""
    both = bm.SharedNormalInverseWishart(MEANS[:2], 1, 4.5, SCALE, RATIO[:2])
    data = bm.Grouped(ROWS, BY)
    mle, rng = both.statistic(data).mle(), np.random.default_rng(5)
    assert mle["Sigma"].shape == (2, 2)
    pooled = sum(
        3 * np.cov(ROWS[name == BY].T, bias=True) / r for name, r in zip("ab", RATIO, strict=False)
    )
    close(mle["Sigma"], pooled / 6)
    top = both.log_likelihood(mle, data)["x"].sum()
    for _ in range(20):
        step = 1e-3 * rng.normal(size=(2, 2))
        mu = mle["mu"] + 1e-3 * rng.normal(size=(2, 2))
        near = {"Sigma": mle["Sigma"] + step + step.T, "mu": mu}
        assert both.log_likelihood(near, data)["x"].sum() < top


def test_statistics_keep_their_ratios():
    parts = [PRIOR.statistic(grouped(ROWS[i], BY[i])) for i in (slice(2), slice(2, 5), slice(5, 6))]
    merged = sum(parts[1:], parts[0])
    assert_array_equal(merged.ratio, RATIO)
    assert_array_equal(merged.without_rows().ratio, RATIO)
    close(PRIOR.update(merged).scale, POSTERIOR.scale)
    other = bm.SharedNormalInverseWishart(MEANS, KAPPA, 4.5, SCALE).statistic(grouped())
    assert complaint(lambda: merged + other) == (
        "data: statistics to be merged must have the same ratios of covariances; got "
        "[1.0, 4.0, 0.25] and [1.0, 1.0, 1.0]."
    )
    message = "data: the maximum-likelihood estimate needs at least one row; got none."
    assert complaint(merged.mle) == message  # class c has none


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ({"df": 1}, "df: must be larger than D - 1 = 1, with D = 2 columns; got 1."),
        ({"df": [4, 5]}, "mean: must have one row a class and one column a feature, scale one row"),
        ({"mean": [0, 0]}, "mean: must have one row a class and one column a feature, scale one "),
        ({"ratio": [1, 0, 1]}, "ratio: must be positive; got 0"),
        ({"kappa": [1, 2]}, "mean: leading axes of the parameters must fit; got mean (3,), kappa "),
        ({"scale": [[1, 2], [2, 1]]}, "scale: must be positive definite; its smallest eigenvalue "),
    ],
)
def test_wrong_priors(mistake, message):
    right = {"mean": MEANS, "kappa": 1, "df": 4, "scale": SCALE}
    found = complaint(bm.SharedNormalInverseWishart, error=bm.PriorError, **(right | mistake))
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS, "data: must be rows with a class each: Grouped(rows, by=...); got rows without cla"),
        (grouped(ROWS[:, :1]), "x: must have 2 columns, one a feature; got 1."),
        (
            grouped(pd.DataFrame(ROWS, columns=["u", "v"]).replace(2.0, np.nan)),
            "x['u']: missing values are not allowed; 1 of 6 are missing, the first in row 0. Drop",
        ),
    ],
)
def test_wrong_rows(rows, message):
    assert complaint(PRIOR.update, rows).startswith(message)
