"""Draws that got *agree* once: values far out or impossible, warm-up, copies, scales come apart."""

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
COIN = bm.BetaBernoulli(5, 19)
DIE = bm.DirichletCategorical([2.0, 3, 5])
VECTORS = bm.NormalInverseWishart([0, 0], 0.5, 12, [[2, 0.5], [0.5, 1]])
SHAPE = (4, 1000)


def measurements(n=30):
    rows = 447 + 3.2 * np.random.default_rng(n).standard_normal(n)
    return bm.NormalInverseGamma(440, 0.01, 2, 10), rows


def drawn(law, seed):
    rng = np.random.default_rng(seed)
    flat = law.sample(4000, rng)
    return {name: x.reshape(*SHAPE, *x.shape[1:]).copy() for name, x in flat.items()}, rng


def some(rng, number):
    """Return places of draws."""
    chosen = rng.choice(4000, number, replace=False)
    return np.unravel_index(chosen, SHAPE)


def posterior(n=30):
    prior, rows = measurements(n)
    return prior.update(rows)


# --- values far out, and impossible ones ----------------------------------------------------------


def far(draws, rng):
    draws["mu"][some(rng, 8)] = -9999


def farthest(draws, rng):
    draws["mu"][some(rng, 1)] = 1e300


def negative(draws, rng):
    draws["sigma2"][some(rng, 24)] *= -1


def nothing(draws, rng):
    draws["sigma2"][some(rng, 1)] = 0


def below(draws, rng):
    draws["theta"][some(rng, 1)] = -0.5


def above(draws, rng):
    draws["theta"][some(rng, 1)] = 1.3


def indefinite(draws, rng):
    at = some(rng, 1)
    root = np.sqrt(draws["Sigma"][*at, 0, 0] * draws["Sigma"][*at, 1, 1])
    draws["Sigma"][*at, 0, 1] = draws["Sigma"][*at, 1, 0] = 1.01 * root


def lopsided(draws, rng):
    draws["Sigma"][*some(rng, 1), 0, 1] += 1e-3


def leaking(draws, rng):
    draws["theta"][some(rng, 1)] *= 1.01


OUTSIDE = [
    (posterior(), far, "8 of 4,000 draws of mu", "-9999"),
    (posterior(), farthest, "1 of 4,000 draws of mu", "1e+300"),
    (posterior(), negative, "24 of 4,000 draws of sigma2", ""),
    (posterior(), nothing, "1 of 4,000 draws of sigma2", ""),
    (COIN, below, "1 of 4,000 draws of theta", ""),
    (COIN, above, "1 of 4,000 draws of theta", ""),
    (DIE, leaking, "1 of 4,000 draws of theta", "impossible"),
    (VECTORS, indefinite, "1 of 4,000 draws of Sigma", "impossible"),
    (VECTORS, lopsided, "1 of 4,000 draws of Sigma", "impossible"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("law", "spoil", "said", "value"), OUTSIDE, ids=lambda x: getattr(x, "__name__", "")
)
def test_a_few_draws_outside_are_named(law, spoil, said, value, seed):
    draws, rng = drawn(law, seed)
    spoil(draws, rng)
    verdict = bm.compare(law, draws)
    assert verdict.outcome == "disagree"
    assert said in verdict.findings[0]
    assert value in verdict.findings[0]


# --- warm-up, and draws from the prior ------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_warm_up_is_found(seed):
    draws, _ = drawn(COIN, seed)
    share = np.exp(-np.arange(30) / 8)
    draws["theta"][:, :30] += share * (0.9 - draws["theta"][:, :30])
    assert bm.compare(COIN, draws).outcome == "disagree"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "prior", [bm.BetaBernoulli(1, 1), bm.BetaBernoulli(3, 7)], ids=["flat", "near"]
)
def test_one_percent_from_the_prior_is_found_or_bounded(prior, seed):
    draws, rng = drawn(COIN, seed)
    draws["theta"][some(rng, 40)] = prior.sample(40, rng)["theta"]
    verdict = bm.compare(COIN, draws)
    if verdict.outcome != "disagree":
        law, other = COIN.marginals()["theta"], prior.marginals()["theta"]
        mean = 0.99 * law.mean() + 0.01 * other.mean()
        square = 0.99 * (law.var() + law.mean() ** 2) + 0.01 * (other.var() + other.mean() ** 2)
        assert abs(mean - law.mean()) / law.std() <= verdict.bounds.mean
        assert abs(np.sqrt(square - mean**2) / law.std() - 1) <= verdict.bounds.sd
    else:
        assert verdict.findings


# --- the same draws again -------------------------------------------------------------------------


def equal(x):
    return np.repeat(x[:1], 4, axis=0)


def twice(x):
    return x[[0, 1, 2, 1]]


def shifted(x):
    """Return chains of which the last reads the first one's numbers from the next on."""
    x = x.copy()
    x[3, :-1] = x[0, 1:]
    return x


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("copy", "said"),
    [(equal, "0 and 1, 0 and 2"), (twice, "1 and 3"), (shifted, "0 and 3 (1 rows apart)")],
    ids=["equal", "twice", "shifted"],
)
def test_chains_that_are_copies_are_named(copy, said, seed):
    law = posterior()
    draws = {name: copy(x) for name, x in drawn(law, seed)[0].items()}
    verdict = bm.compare(law, draws)
    assert verdict.outcome == "inconclusive"
    assert said in verdict.findings[0]
    assert "are the same draws" in verdict.findings[0]
    wrong = bm.compare(law, {**draws, "mu": draws["mu"] + 1})
    assert wrong.outcome == "disagree"
    assert said in wrong.findings[-1]
    other, _ = drawn(law, seed + 100)
    assert f"of the second set, chains {said}" in bm.compare(other, draws).findings[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_set_beside_itself_says_nothing(seed):
    draws, _ = drawn(COIN, seed)
    verdict = bm.compare(draws, draws)
    assert verdict.outcome == "inconclusive"
    assert "both sets hold the same draws" in verdict.sentences()[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_rounded_and_sticky_chains_are_no_copies(seed):
    rng = np.random.default_rng(seed)
    law = stats.norm(0, 1)
    for x in (
        law.rvs(SHAPE, random_state=rng).round(1),
        np.repeat(law.rvs((4, 50), random_state=rng), 20, 1),
    ):
        assert not any("same draws" in said for said in bm.compare({"x": law}, {"x": x}).findings)


# --- how scalars hang together --------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [3, 10])
def test_a_scale_come_apart_from_what_it_scales_is_found(n, seed):
    law = posterior(n)
    draws, rng = drawn(law, seed)
    assert bm.compare(law, draws).outcome == "agree"
    draws["mu"] = rng.permutation(draws["mu"].ravel()).reshape(SHAPE)
    verdict = bm.compare(law, draws)
    assert verdict.outcome == "disagree"
    assert any("|mu - median|" in said and "sigma2" in said for said in verdict.findings)


# --- chains that stand still ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_chains_that_stand_still_elsewhere_disagree(seed):
    rng = np.random.default_rng(seed)
    moving, still = {"x": 100 + rng.standard_normal(SHAPE)}, {"x": np.zeros(SHAPE)}
    for pair in ((moving, still), (still, moving)):
        verdict = bm.compare(*pair)
        assert verdict.outcome == "disagree"
        assert verdict.more is None
    here = bm.compare(moving, {"x": np.full(SHAPE, 100.3)})
    assert here.outcome == "inconclusive"
    assert here.more is None
    assert "do not move" in here.sentences()[0]
    assert bm.compare({"x": stats.norm(100, 1)}, still).outcome == "disagree"
