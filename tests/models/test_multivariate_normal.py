"""Vectors with unknown mean and covariance: other laws, exact fractions, Murphy (2012) 4.6.3."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import bayesmodels as bm
from tests.asking import close, complaint

SCALE = np.array([[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 4.0]])
PRIOR = bm.NormalInverseWishart([1, -1, 0], 0.5, 5.5, SCALE)
ROWS = np.array([[2.0, 0.0, 1.5], [3.5, -1.0, 0.0], [-1.0, 2.0, 5.0], [4.0, 1.0, -2.5]])
POSTERIOR = PRIOR.update(ROWS)


# --- books and other laws -------------------------------------------------------------------------


def test_textbook_update():
    n, mean = 4, ROWS.mean(0)
    pull = mean - PRIOR.location
    assert POSTERIOR.kappa == 4.5
    assert POSTERIOR.df == 9.5
    close(POSTERIOR.location, (0.5 * PRIOR.location + n * mean) / 4.5)
    spread = np.cov(ROWS.T, bias=True) * n
    close(POSTERIOR.scale, SCALE + spread + 0.5 * n / 4.5 * np.outer(pull, pull))


def test_mle_is_mean_and_biased_covariance():
    mle = PRIOR.statistic(ROWS).mle()
    close(mle["mu"], ROWS.mean(0))
    close(mle["Sigma"], np.cov(ROWS.T, bias=True))


def test_one_column_is_the_normal_inverse_gamma():
    """With df = 2 shape and Psi = 2 scale."""
    vector = bm.NormalInverseWishart([1], 0.5, 5, [[3]])
    number = bm.NormalInverseGamma(1, 0.5, 2.5, 1.5)
    x = ROWS[:, 0]
    close(vector.log_evidence(x[:, None]), number.log_evidence(x))
    vector, number = vector.update(x[:, None]), number.update(x)
    close([vector.df / 2, vector.kappa], [number.shape, number.kappa])
    close([vector.scale[0, 0] / 2, vector.location[0]], [number.scale, number.location])
    close(vector.predictive().logpdf(x), number.predictive().logpdf(x))
    for name, other in {"mu": "mu", "Sigma": "sigma2"}.items():
        law, same = vector.marginals()[name], number.marginals()[other]
        for level in (0.01, 0.5, 0.9):
            close(np.ravel(law.ppf(level)), same.ppf(level))
        close(np.ravel(law.cdf(2.5)), same.cdf(2.5))
        close(np.ravel(law.var()), same.var())
    draws = vector.sample(5, np.random.default_rng(4))
    same = {"mu": draws["mu"][:, 0], "sigma2": draws["Sigma"][:, 0, 0]}
    close(vector.log_density(draws), number.log_density(same))


def test_the_variance_of_a_column_is_that_columns_inverse_gamma():
    law = stats.invgamma((9.5 - 3 + 1) / 2, scale=np.diag(POSTERIOR.scale) / 2)
    close(np.diagonal(POSTERIOR.marginals()["Sigma"].mean()), law.mean())


# --- rows that lack cells -------------------------------------------------------------------------


def of_columns(belief, here):
    """Return the belief about some columns alone: each column less takes a degree of freedom."""
    scale = belief.scale[np.ix_(here, here)]
    gone = len(belief.location) - len(here)
    return bm.NormalInverseWishart(belief.location[here], belief.kappa, belief.df - gone, scale)


@pytest.mark.parametrize("here", [[0, 1, 2], [0, 2], [2, 1], [1], []])
def test_a_missing_cell_is_integrated_out(here):
    batch = bm.NormalInverseWishart([POSTERIOR.location], 4.5, 9.5, POSTERIOR.scale)
    rows = np.full(ROWS.shape, np.nan)
    rows[:, here] = ROWS[:, here]
    expected = of_columns(POSTERIOR, here).predictive().logpdf(ROWS[:, here]) if here else 0.0
    close(batch.log_predictive(rows)[:, 0], np.broadcast_to(expected, 4))
    mixed = np.concatenate([ROWS[:1], rows[1:]])
    close(batch.log_predictive(mixed)[0, 0], POSTERIOR.predictive().logpdf(ROWS[0]))


def test_known_parameters_integrate_missing_cells_out_too():
    mean = POSTERIOR.mean()
    batch = bm.NormalInverseWishart([POSTERIOR.location], 4.5, 9.5, POSTERIOR.scale)
    row = np.array([[2.0, np.nan, 1.5]])
    law = stats.multivariate_normal(mean["mu"][[0, 2]], mean["Sigma"][np.ix_([0, 2], [0, 2])])
    parameters = {"mu": mean["mu"][None], "Sigma": mean["Sigma"][None]}
    close(batch.log_plug_in(parameters, row)[0, 0], law.logpdf([2.0, 1.5]))


# --- far from zero, in any order ------------------------------------------------------------------

# Means are kept with what rounding took from them: a sum that starts with the empty statistic used
# to lose that, and with it digits of the scatter.
PRIOR_OF_TWO = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
FAR = 1e8 + np.random.default_rng(5).normal(size=(400, 2)) @ [[1.0, 0.6], [0.0, 0.8]]


def exact_moments(rows):
    """Return mean and scatter of the doubles that are stored, by fractions."""
    exact = [[Fraction(float(x)) for x in row] for row in rows]
    columns = list(zip(*exact, strict=True))
    mean = [sum(column) / len(rows) for column in columns]
    gaps = [[x - centre for x in column] for column, centre in zip(columns, mean, strict=True)]
    scatter = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in gaps] for u in gaps]
    return mean, scatter


def test_an_offset_of_1e8_costs_no_digits_of_one_statistic():
    mean, scatter = exact_moments(FAR)
    vectors = PRIOR_OF_TWO.statistic(FAR)
    numbers = bm.NormalInverseGamma(0, 1, 1, 1).statistic(FAR)
    close(vectors.scatter, np.array(scatter, dtype=float))
    close(numbers.scatter, np.array(scatter, dtype=float).diagonal())
    for s in (vectors, numbers):  # means as near as doubles can be
        for ours, exact in zip(s.mean, mean, strict=True):
            assert abs(Fraction(float(ours)) - exact) <= np.spacing(1e8) / 2


FAMILIES = {"vectors": PRIOR_OF_TWO, "numbers": bm.NormalInverseGamma([0, 0], 1, 1, 1)}


@pytest.mark.parametrize("family", FAMILIES)
@given(
    cuts=st.lists(st.integers(0, 60), max_size=8),
    order=st.randoms(use_true_random=False),
    offset=st.sampled_from([0.0, 1e8, -3e5]),
)
def test_statistics_merge_in_any_grouping(family, cuts, order, offset):
    rows = FAR[:60] - 1e8 + offset
    whole = FAMILIES[family].statistic(rows)
    parts = [FAMILIES[family].statistic(part) for part in np.split(rows, sorted(cuts))]
    assert_same_rows(merged(parts, order), whole, offset)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_statistics_of_single_rows_merge(family, offset):
    rows = FAR - 1e8 + offset
    belief = FAMILIES[family]
    one_by_one = belief.statistic(rows[:0])
    for row in rows:
        one_by_one = one_by_one + belief.statistic(row[None])
    assert_same_rows(one_by_one, belief.statistic(rows), offset)


def merged(parts, order):
    """Add neighbours or strangers up until one is left."""
    while len(parts) > 1:
        one = parts.pop(order.randrange(len(parts)))
        other = parts.pop(order.randrange(len(parts)))
        parts.append(one + other)
    return parts[0]


def assert_same_rows(one, other, offset):
    """Scatters keep the digits that an offset leaves to means, which are doubles: 8 at 1e8."""
    assert_array_equal(one.n, other.n)
    assert_allclose(one.scatter, other.scatter, rtol=max(1e-12, 1e-16 * abs(offset)))
    assert_allclose(one.mean, other.mean, rtol=1e-15, atol=1e-12)


def test_hardly_any_degrees_of_freedom():
    """Many draws of Sigma are singular to rounding; drawing used to stop at the first of them."""
    for prior in (
        bm.NormalInverseWishart([0, 0, 0], 1, 2.05, SCALE),
        bm.SharedNormalInverseWishart(np.zeros((2, 3)), 1, 2.05, SCALE),
    ):
        draws = prior.sample(2_000, np.random.default_rng(6))
        logs, bound = prior.log_density(draws), prior.log_density_rounding(draws)
        singular = np.isneginf(logs)
        assert 0.01 < singular.mean() < 0.9
        assert_array_equal(np.isposinf(bound), singular)
        assert np.isfinite(logs[~singular]).all()
        gap = draws["mu"].reshape(2_000, -1, 3)[:, 0] / np.sqrt(draws["Sigma"][:, 0, 0])[:, None]
        assert stats.kstest(gap[:, 0], "norm").pvalue > 1e-3
        rows = bm.Grouped(ROWS, [0, 0, 1, 1]) if draws["mu"].ndim == 3 else ROWS
        new = prior.replicate(draws, rows, np.random.default_rng(7))["x"]
        assert np.isfinite(new).all()
        message = "Sigma: must be positive definite for a density; the maximum-likelihood estimate"
        assert complaint(prior.log_likelihood, draws, rows).startswith(message)


# --- errors ---------------------------------------------------------------------------------------

FRAME = pd.DataFrame(ROWS, columns=["age", "dose", "size"])
NAMED = PRIOR.update(FRAME)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            {"df": 2},
            (
                "df: must be larger than D - 1 = 2, with D = 3 columns; got 2. With D + 2 = 5 the "
                "expected covariance is the scale."
            ),
        ),
        (
            {"scale": [[1, 0, 0], [0, 1, 0.5], [0, 0.25, 1]]},
            (
                "scale: must be a symmetric matrix; its entries (1, 2) and (2, 1) are 0.5 and "
                "0.25. Symmetrise it: (M + M.T) / 2."
            ),
        ),
        (
            {"scale": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]},
            (
                "scale: must be positive definite; its smallest eigenvalue is -1. Columns that "
                "determine each other need a little more on the diagonal."
            ),
        ),
        ({"scale": 1}, "scale: must be a square matrix; got shape (). Try np.eye(D)."),
        (
            {"scale": np.eye(2)},
            (
                "scale: must have shape (3, 3) behind the batch axes, as mean has shape (3,); got "
                "(2, 2)."
            ),
        ),
        ({"kappa": 0}, "kappa: must be positive; got 0."),
        ({"features": ["u"]}, "features: must be 3 names, one a column; got 1."),
        (
            {"kappa": [1, 2], "df": [3, 4, 5]},
            (
                "mean: leading axes of the parameters must fit; got mean (), kappa (2,), df (3,), "
                "scale ()."
            ),
        ),
    ],
)
def test_wrong_priors(mistake, message):
    right = {"mean": [0, 0, 0], "kappa": 1, "df": 4, "scale": np.eye(3)}
    found = complaint(bm.NormalInverseWishart, error=bm.PriorError, **(right | mistake))
    assert found == message


@pytest.mark.parametrize("verb", ["statistic", "update", "log_evidence"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:, :2], "x: must have 3 columns, one a feature; got 2."),
        (
            ROWS[0],
            (
                "x: must have rows and columns, one vector a row; got shape (3,). For a single "
                "column use x[:, None]; for a single row x[None, :]."
            ),
        ),
        (
            FRAME.replace(5.0, np.nan),
            (
                "x['size']: missing values are not allowed; 1 of 4 are missing, the first in row "
                "2. Drop these rows first."
            ),
        ),
        (
            FRAME[["age", "size", "dose"]],
            (
                "features: columns must be ('age', 'dose', 'size'), in this order; got ('age', "
                "'size', 'dose'). Select and reorder the columns."
            ),
        ),
        (
            PRIOR_OF_TWO.statistic(ROWS[:, :2]),
            "data: a statistic of 2 column(s), but the belief is about 3.",
        ),
        (
            bm.NormalInverseWishart([0], 1, 1, [[1]]).statistic(ROWS[:, :1]),
            "data: a statistic of 1 column(s), but the belief is about 3.",
        ),
    ],
)
def test_wrong_rows(verb, rows, message):
    assert complaint(getattr(NAMED, verb), rows) == message


def test_statistics_of_other_columns_do_not_merge():
    """One column used to be spread over all of them."""
    message = "data: statistics to be merged must have the same columns; got 3 and 1."
    one = bm.NormalInverseWishart([0], 1, 1, [[1]]).statistic(ROWS[:, :1])
    assert complaint(lambda: PRIOR.statistic(ROWS) + one) == message
    both = NAMED.statistic(FRAME) + NAMED.statistic(ROWS)
    assert both.features == ("age", "dose", "size")
    other = PRIOR.statistic(FRAME.rename(columns={"age": "era"}))
    assert "and ('era', 'dose', 'size')" in complaint(lambda: both + other)
    assert "and none that are named" in complaint(lambda: both + PRIOR.statistic(ROWS))


def test_estimates_need_rows_and_predictions_one_belief():
    message = "data: the maximum-likelihood estimate needs at least one row; got none."
    assert complaint(PRIOR.statistic(ROWS[:0]).mle) == message
    groups = PRIOR.update(bm.Grouped(ROWS, [0, 0, 1, 1]))
    message = "predictive: is for one belief, not a batch of (2,); use log_predictive."
    assert complaint(groups.predictive) == message
