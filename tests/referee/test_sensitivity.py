"""Power-scaling in closed form: powers of beliefs, distances on a grid, and ArviZ's estimates."""

import arviz_stats
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.special import rel_entr

import bayesmodels as bm
from bayesmodels.belief.protocol import ExponentialFamily
from bayesmodels.referee import sensitivity
from tests.contract.cases import CASES

EXACT = [case for case in CASES if isinstance(case.prior, ExponentialFamily)]
OTHERS = [case for case in CASES if not isinstance(case.prior, ExponentialFamily)]
RNG = np.random.default_rng(1)
HEIGHTS = RNG.normal(3, 2, 40)
ROWS = RNG.normal(size=(40, 2))
REGRESSION = ROWS, ROWS @ [1.0, -2.0] + RNG.normal(size=40)


def logs(values, draws=20):
    return np.asarray(values).reshape(draws, -1).sum(1)


def same_but_for_a_constant(one, other):
    np.testing.assert_allclose(one - one[0], other - other[0], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.99, 1.25])
@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.id)
def test_the_power_of_a_belief_has_the_power_of_its_density(case, alpha):
    belief = case.prior.update(case.data)
    draws = belief.sample(20, np.random.default_rng(2))
    found = belief.power(alpha)
    assert found.dims == belief.dims
    assert found.coords == belief.coords
    same_but_for_a_constant(logs(found.log_density(draws)), alpha * logs(belief.log_density(draws)))


@pytest.mark.parametrize("alpha", [0.9, 1.01])
@pytest.mark.parametrize("component", ["prior", "likelihood"])
@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.id)
def test_prior_or_likelihood_to_a_power(case, component, alpha):
    start, rest = case.start, case.rest
    s = start.statistic(rest)
    start = start.update(s.without_rows())
    posterior = start.update(s)
    draws = posterior.sample(20, np.random.default_rng(3))
    prior = logs(start.log_density(draws))
    likelihood = sum(map(logs, start.log_likelihood(draws, rest).values()))
    powers = {"prior": 1.0, "likelihood": 1.0, component: alpha}
    found = sensitivity.posterior_of(start, s, component, alpha)
    wanted = powers["prior"] * prior + powers["likelihood"] * likelihood
    same_but_for_a_constant(logs(found.log_density(draws)), wanted)


def by_grid(log_density, component, draws):
    """Return the sensitivity on a fine grid of (0, 1), from densities alone."""
    theta = np.linspace(0, 1, 2_000_001)[1:-1]
    parts = dict(zip(("prior", "likelihood"), log_density(theta), strict=True))

    def below(powers):
        log = sum(powers[name] * part for name, part in parts.items())
        cdf = cumulative_trapezoid(np.exp(log - log.max()), theta, initial=0)
        return cdf / cdf[-1]

    before = below({"prior": 1.0, "likelihood": 1.0})
    end = 1 - 0.5 ** (1 / draws)
    inside = (before >= end) & (before <= 1 - end)
    total = 0.0
    for alpha in (0.99, 1.01):
        after = below({"prior": 1.0, "likelihood": 1.0, component: alpha})
        squares = []
        for p, q in ((before[inside], after[inside]), (1 - before[inside], 1 - after[inside])):
            middle = (p + q) / 2
            divergence = p * np.log2(p / middle) + q * np.log2(q / middle)
            squares.append(trapezoid(divergence, theta[inside]) / trapezoid(p + q, theta[inside]))
        total += np.sqrt(max(squares)) / abs(np.log2(alpha)) / 2
    return total


@pytest.mark.parametrize("component", ["prior", "likelihood"])
@pytest.mark.parametrize(
    ("a", "b", "ones", "zeros"), [(2, 5, 9, 3), (30, 30, 18, 2), (0.5, 3, 40, 1)]
)
def test_a_coin_on_a_grid(component, a, b, ones, zeros):
    found = bm.prior_sensitivity(bm.BetaBernoulli(a, b), bm.BernoulliStatistic(ones, zeros))

    def densities(theta):
        prior = (a - 1) * np.log(theta) + (b - 1) * np.log1p(-theta)
        return prior, ones * np.log(theta) + zeros * np.log1p(-theta)

    np.testing.assert_allclose(
        found.loc["theta", component], by_grid(densities, component, 4000), rtol=1e-4
    )


MODELS = {
    "coin": (bm.BetaBernoulli(6, 2), [1, 0, 0, 1, 0, 0, 1, 0, 0, 0]),
    "counts": (bm.DirichletCategorical([3, 1, 2]), bm.MultinomialCounts([4, 9, 2])),
    "numbers": (bm.NormalInverseGamma(0, 2, 3, 2), HEIGHTS),
    "vectors": (bm.NormalInverseWishart([1, 0], 1, 6, np.eye(2)), ROWS),
    "regression": (bm.LinearRegression([1, 1], 2, 3, 2), REGRESSION),
    "classes": (
        bm.GaussianDiscriminant(
            bm.DirichletCategorical([2, 2]),
            bm.NormalInverseWishart([1, 0], 1, 6, np.eye(2)),
            covariance="shared",
        ),
        (ROWS, np.arange(40) % 3 // 2),
    ),
}


def on_the_range_of(draws, prior, data):
    """Sensitivities by the trapezoidal rule between the least and the largest draw of a scalar."""
    s = prior.statistic(data)
    before, found = prior.update(s).marginals(), {}
    for component in ("prior", "likelihood"):
        for name, law in before.items():
            x = np.asarray(draws[name])
            x = np.linspace(x.min((0, 1)), x.max((0, 1)), 1001)
            p, total = law.cdf(x), 0.0
            for alpha in (0.99, 1.01):
                after = sensitivity.posterior_of(prior, s, component, alpha)
                q = after.marginals()[name].cdf(x)
                squares = []
                for one, other in ((p, q), (1 - p, 1 - q)):
                    middle = (one + other) / 2
                    divergence = rel_entr(one, middle) + rel_entr(other, middle)
                    sizes = trapezoid(one + other, x, axis=0)
                    squares.append(trapezoid(divergence / np.log(2), x, axis=0) / sizes)
                total = total + np.sqrt(np.maximum(*squares)) / abs(np.log2(alpha)) / 2
            found[component, name] = np.ravel(total)
    return [np.concatenate([found[c, name] for name in before]) for c in ("prior", "likelihood")]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_what_arviz_estimates_from_many_exact_draws(model):
    """Its estimates from 20 sets of draws, on their ranges, differ by no more than their errors."""
    prior, data = MODELS[model]
    order = prior.update(data).marginals()
    sets, gaps = 10, []
    for seed in range(sets):
        tree = bm.exact_draws(prior, data, draws=5000, rng=np.random.default_rng(seed))
        near = [arviz_stats.psense(tree, group=name) for name in ("prior", "likelihood")]
        near = [np.concatenate([np.ravel(each[name]) for name in order]) for each in near]
        gaps.append(np.subtract(near, on_the_range_of(tree.posterior, prior, data)))
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0, ddof=1) / np.sqrt(sets)
    assert (error < 0.003).all()
    assert (np.abs(mean) < 4 * error).all()


def test_the_range_is_that_of_as_many_draws():
    """A law with long tails, over whose range the distance is taken."""
    prior, data = bm.NormalInverseGamma(0, 1, 2, 2), HEIGHTS[:4]
    few, many = (bm.prior_sensitivity(prior, data, draws=n) for n in (1000, 100_000))
    tree = bm.exact_draws(prior, data, draws=250, rng=np.random.default_rng(5))
    near = on_the_range_of(tree.posterior, prior, data)[0]
    assert (many["prior"] < few["prior"]).all()
    np.testing.assert_allclose(few["prior"], near, rtol=0.15)


def test_the_rule_has_enough_points(monkeypatch):
    prior, data = MODELS["numbers"]
    found = bm.prior_sensitivity(prior, data)[["prior", "likelihood"]]
    monkeypatch.setattr(sensitivity, "_POINTS", 200)
    again = bm.prior_sensitivity(prior, data)[["prior", "likelihood"]]
    np.testing.assert_allclose(found, again, rtol=1e-8)


def test_columns_and_words_are_arvizs():
    prior, data = (
        bm.BetaBernoulli([30, 60, 1], [30, 60, 1]),
        bm.BinomialCounts([[18, 1, 7]], [[20, 20, 20]]),
    )
    tree = bm.exact_draws(prior, data, draws=5000, rng=np.random.default_rng(1))
    near = arviz_stats.psense_summary(tree)
    found = bm.prior_sensitivity(prior, data, draws=20_000)
    assert list(found.drop(columns="shift").columns) == list(near.columns)
    assert list(found.index) == list(near.index)
    assert list(found["diagnosis"]) == list(near["diagnosis"])
    assert len(set(found["diagnosis"])) > 1


def test_a_flat_prior_has_no_say_in_the_coefficients_and_no_conflict_in_the_noise():
    X, y = REGRESSION
    found = bm.prior_sensitivity(bm.LinearRegression.flat(2), (X, y))
    assert (found.loc[["w[0]", "w[1]"], "prior"] < 0.01).all()
    assert (found["likelihood"] > 0.05).all()
    few = bm.prior_sensitivity(bm.LinearRegression.flat(2), (X[:6], y[:6]))
    assert (few.loc["sigma2", ["prior", "likelihood"]] > 0.05).all()
    assert not few["diagnosis"].any()


def test_a_shift_is_that_of_the_median_when_the_prior_counts_for_more():
    """Of a normal law with known precisions, the mean's derivative by the log of the power."""
    prior, data = bm.NormalInverseGamma(3, 5, 1e6, 1e6), np.full(20, 1.0)
    weight = 5 / 25
    slope = np.log(2) * weight * (1 - weight) * (3 - 1) * np.sqrt(25)
    assert bm.prior_sensitivity(prior, data)["shift"]["mu"] == pytest.approx(slope, rel=1e-3)


def test_a_sensitivity_without_a_shift_that_matters_is_no_conflict():
    """A prior as sure as the data, which say the same: both make the posterior narrower."""
    found = bm.prior_sensitivity(bm.BetaBernoulli(20, 20), bm.BinomialCounts(25, 40)).loc["theta"]
    assert found["prior"] > 0.05
    assert found["likelihood"] > 0.05
    assert abs(found["shift"]) < sensitivity.SHIFT
    assert found["diagnosis"] == "✓"


def test_rows_and_their_statistic_say_the_same():
    prior, data = MODELS["regression"]
    pd.testing.assert_frame_equal(
        bm.prior_sensitivity(prior, data), bm.prior_sensitivity(prior, prior.statistic(data))
    )


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.id)
def test_what_has_no_powers_is_refused(case):
    with pytest.raises(bm.DataError, match=r"^prior: no power of a \w+ is one again"):
        bm.prior_sensitivity(case.prior, case.data)


def test_a_power_that_is_improper_is_refused():
    with pytest.raises(bm.PriorError, match=r"prior to the power 1\.01 the posterior is improper"):
        bm.prior_sensitivity(bm.DirichletCategorical([0.001, 1, 1]), [1, 2, 1])
    found = bm.prior_sensitivity(bm.DirichletCategorical([0.001, 1, 1]), [0, 1, 2, 1])
    assert np.isfinite(found["prior"]).all()


def test_a_vague_prior_whose_own_power_is_improper_is_taken():
    vague = bm.NormalInverseGamma(0, 1e-3, 1e-3, 1e-3)
    with pytest.raises(bm.PriorError):
        vague.power(0.99)
    found = bm.prior_sensitivity(vague, HEIGHTS)
    assert found.loc["mu", "prior"] < 0.05
    assert found.loc["sigma2", "prior"] < 0.1


@pytest.mark.parametrize(
    ("prior", "data"),
    [
        (bm.BetaBernoulli(1e17, 1e17), [1, 0]),  # narrower than floats are apart
        (bm.BetaBernoulli(0.011, 5), [0, 0]),  # nearer to zero than floats are
        (bm.NormalInverseGamma(1e12, 1, 2, 1e-12), [1e12, 1e12, 1e12]),
    ],
)
def test_a_law_that_floats_cannot_resolve_is_refused(prior, data):
    with pytest.raises(bm.PriorError, match="double precision"):
        bm.prior_sensitivity(prior, data)


@pytest.mark.parametrize("draws", [1, 2.5, "many"])
def test_draws_are_a_whole_number(draws):
    with pytest.raises(bm.DataError, match=r"^draws: "):
        bm.prior_sensitivity(bm.BetaBernoulli(1, 1), [1, 0], draws=draws)
