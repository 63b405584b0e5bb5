"""The contract at extremes that Hypothesis looks for: any prior, any rows, any split of them."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesmodels as bm
from tests.reference import exact_values as textbook
from tests.strategies import (
    beta_bernoullis,
    counts,
    designs,
    dirichlet_categoricals,
    linear_regressions,
)

# Wild scales cost digits on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmodels.NumericsWarning")


def assert_chain_rule(prior, first, second, whole, *, error):
    """Compare both sides of p(all rows) = p(first rows) p(second rows | first rows)."""
    one, two = prior.log_evidence(first), prior.update(first).log_evidence(second)
    assert abs(one + two - prior.log_evidence(whole)) < error * (1 + abs(one) + abs(two))


@settings(max_examples=200)
@given(prior=beta_bernoullis(), table=counts(2), data=st.data())
def test_counts_of_successes_in_any_two_parts(prior, table, data):
    cut = data.draw(st.integers(0, len(table)))
    successes, trials = table[:, 0], table.sum(1)
    first, second, whole = (
        prior.statistic(bm.BinomialCounts(successes[part], trials[part]))
        for part in (slice(cut), slice(cut, None), slice(None))
    )
    assert (first + second).ones == whole.ones == successes.sum()
    assert (first + second).zeros == whole.zeros == table[:, 1].sum()
    assert_chain_rule(prior, first, second, whole, error=1e-12)


@settings(max_examples=200)
@given(prior=dirichlet_categoricals(3), table=counts(3), data=st.data())
def test_counts_of_categories_in_any_two_parts(prior, table, data):
    cut = data.draw(st.integers(0, len(table)))
    first, second, whole = (
        prior.statistic(bm.MultinomialCounts(table[part]))
        for part in (slice(cut), slice(cut, None), slice(None))
    )
    np.testing.assert_array_equal((first + second).counts, table.sum(0))
    assert_chain_rule(prior, first, second, whole, error=1e-12)


@pytest.mark.slow
@settings(max_examples=100)
@given(prior=linear_regressions(), design=designs(), data=st.data())
def test_regression_in_any_two_parts(prior, design, data):
    cut = data.draw(st.integers(0, len(design[1])))
    first, second = ((part[:cut], part[cut:]) for part in design)
    first, second = zip(first, second, strict=True)
    in_two, in_one = prior.update(first).update(second), prior.update(design)
    merged = prior.update(prior.statistic(second) + prior.statistic(first))
    for belief in (in_two, merged):
        np.testing.assert_allclose(belief.scale, in_one.scale, rtol=1e-9)
        spread = in_one.marginals()["w"].std() if in_one.shape > 1 else np.abs(in_one.factor).max()
        gap = np.abs(belief.marginals()["w"].ppf(0.5) - in_one.marginals()["w"].ppf(0.5))
        assert (gap <= 1e-9 * spread).all()
    assert_chain_rule(prior, first, second, design, error=1e-9)


@given(prior=linear_regressions(), design=designs())
def test_a_regression_is_the_textbook_formula(prior, design):
    """Against normal equations with 50 digits: V_N, w_N, a_N and b_N as the notes print them."""
    known = prior.marginals()["w"].ppf(0.5), prior.precision, prior.shape, prior.scale
    with mpmath.workdps(50):
        given = textbook.read([np.asarray(part).tolist() for part in (*known, *design)])
        _, m, _, scale = textbook.regression_posterior(*given)
    posterior = prior.update(design)
    assert posterior.shape == prior.shape + len(design[1]) / 2
    assert posterior.scale == pytest.approx(float(scale), rel=1e-9)
    fitted = np.array([float(v) for v in m])
    length = np.sqrt((posterior.factor[:, :-1] ** 2).sum(0))
    gap = np.abs(posterior.marginals()["w"].ppf(0.5) - fitted) * length
    assert (gap <= 1e-9 * np.abs(posterior.factor[:, -1]).max()).all()
