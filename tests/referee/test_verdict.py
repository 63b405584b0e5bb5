"""The verdict on draws: right ones pass, wrong ones do not, too few give no verdict."""

import numpy as np
import pytest
import xarray as xr
from scipy import signal, stats

import bayesmodels as bm
from bayesmodels.numerics.laws import MixtureLaw

LAW = bm.BetaBernoulli(5, 19)


def tree(theta):
    return {"theta": np.asarray(theta)}


def solved_by_exact(prior, data):
    return bm.exact(prior.declare(data), rng=1)


def autocorrelated(rng, law, rho, draws=1000, chains=4):
    """Return exact draws of a scalar law with autocorrelation `rho`, through a Gaussian copula."""
    noise = rng.standard_normal((chains, draws + 500)) * np.sqrt(1 - rho**2)
    walk = signal.lfilter([1], [1, -rho], noise, axis=1)[:, 500:]
    return law.ppf(stats.norm.cdf(walk))


@pytest.mark.slow
def test_false_alarms_stay_near_the_level_for_independent_draws():
    rng = np.random.default_rng(1)
    wrong = [
        bm.compare(LAW, LAW.to_datatree(draws=250, rng=rng), level=0.05).outcome == "disagree"
        for _ in range(200)
    ]
    # 200 trials at 5 %: more than 21 alarms has probability below 1e-3.
    assert sum(wrong) <= 21


@pytest.mark.slow
def test_false_alarms_stay_near_the_level_for_autocorrelated_draws():
    rng, law = np.random.default_rng(2), LAW.marginals()["theta"]
    wrong = [
        bm.compare(LAW, tree(autocorrelated(rng, law, 0.9)), level=0.01).outcome == "disagree"
        for _ in range(100)
    ]
    # 100 trials: more than 6 alarms has probability below 1e-3 at a true rate of 1.5 %.
    assert sum(wrong) <= 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x + 0.02, "too high"),
        (lambda x: 5 / 24 + 1.2 * (x - 5 / 24), "% too large"),
        (lambda x: 5 / 24 + 0.8 * (x - 5 / 24), "% too small"),
        (lambda x: np.minimum(x, np.quantile(x, 0.9)), "theta"),
        (
            lambda x: np.where(x == x.max(), 0.97, x),
            "1 of 4,000 draws of theta is farther out than any should be, the highest 0.97.",
        ),
        (
            lambda x: np.where(x <= np.sort(x, None)[1], 1e-9, x),
            "2 of 4,000 draws of theta are farther out than any should be, the lowest 1e-09.",
        ),
    ],
    ids=["shifted", "wide", "narrow", "tail cut off", "one far out", "two far out"],
)
def test_wrong_draws_are_found_and_the_finding_is_named(change, words):
    draws = LAW.to_datatree(rng=np.random.default_rng(3)).posterior["theta"].to_numpy()
    verdict = bm.compare(LAW, tree(change(draws)))
    assert verdict.outcome == "disagree"
    assert any(words in finding for finding in verdict.findings)
    assert "do not come from" in verdict.sentences()[0]


def test_bounds_are_three_normal_quantiles_of_independent_draws():
    """Each of three at 95 %, together by Bonferroni."""
    x = np.random.default_rng(1).normal(size=(4, 10_000))
    found = bm.compare({"mu": stats.norm()}, {"mu": x}).bounds
    z, flat = stats.norm.isf(0.05 / 3), np.sort(x.ravel())
    assert found.mean == pytest.approx(abs(x.mean()) + z / 200, rel=0.1)
    around = np.sqrt(x.var() + z * np.sqrt(2) / 200 * np.array([-1, 1]))
    assert found.sd == pytest.approx(np.abs(around - 1).max(), rel=0.1)
    ends = [
        np.quantile(flat, p + z * np.sqrt(p * (1 - p)) / 200 * np.array([-1, 1]))
        - stats.norm.ppf(p)
        for p in (0.055, 0.945)
    ]
    assert found.interval == pytest.approx(np.abs(ends).max(), rel=0.1)


def test_agreement_bounds_every_location_and_spread():
    verdict = bm.compare(LAW, LAW.to_datatree(rng=np.random.default_rng(20)))
    assert verdict.outcome == "agree"
    assert verdict.more is None
    assert 0 < verdict.bound <= verdict.tolerance == 0.1
    assert "means are within 0.0" in verdict.sentences()[0]
    finer = bm.compare(LAW, LAW.to_datatree(rng=np.random.default_rng(20)), tolerance=0.02)
    assert finer.outcome == "inconclusive"
    assert finer.bound == verdict.bound
    assert "0.02 are allowed" in finer.sentences()[0]
    assert finer.more > 5


def test_what_is_within_the_tolerance_and_significant_disagrees():
    draws = LAW.to_datatree(draws=50_000, rng=np.random.default_rng(21)).posterior["theta"]
    moved = draws.to_numpy() + 0.05 * LAW.marginals()["theta"].std()
    assert bm.compare(LAW, tree(moved), tolerance=0.2).outcome == "disagree"


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_following_the_advice_decides(rho):
    rng, law = np.random.default_rng(22), LAW.marginals()["theta"]
    open_ones = decided = 0
    for _ in range(60):
        first = bm.compare(LAW, tree(autocorrelated(rng, law, rho, draws=150)))
        if first.outcome != "inconclusive":
            continue
        open_ones += 1
        more = int(np.ceil(150 * first.more))
        then = bm.compare(LAW, tree(autocorrelated(rng, law, rho, draws=more)))
        decided += then.outcome == "agree"
    assert open_ones > 20
    assert decided >= 0.85 * open_ones


def test_the_same_draws_get_the_same_verdict():
    law = bm.NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    draws = law.to_datatree(rng=np.random.default_rng(23))
    one, other = bm.compare(law, draws), bm.compare(law, draws)
    assert [test.p for test in one.tests] == [test.p for test in other.tests]


@pytest.mark.parametrize("tolerance", [0, -1, np.nan, np.inf])
def test_tolerance_must_be_positive(tolerance):
    with pytest.raises(bm.DataError, match="tolerance"):
        bm.compare(LAW, LAW.to_datatree(draws=10), tolerance=tolerance)


def test_too_few_effective_draws_give_no_verdict_but_advice():
    rng = np.random.default_rng(4)
    draws = autocorrelated(rng, LAW.marginals()["theta"], 0.98)
    verdict = bm.compare(LAW, tree(draws))
    assert verdict.outcome == "inconclusive"
    assert "times as many" in verdict.findings[0]


def times(verdict):
    return [finding for finding in verdict.findings if "times as many" in finding]


def test_of_several_reasons_to_draw_more_one_piece_of_advice_follows():
    rng = np.random.default_rng(4)
    few = bm.compare(LAW, tree(autocorrelated(rng, LAW.marginals()["theta"], 0.98)))
    assert len(few.findings) == 3
    assert len(times(few)) == 1
    assert times(few)[0] in few.sentences()[0]
    assert f"about {few.more:.0f} times as many" in few.sentences()[0]
    stuck = np.repeat(LAW.sample(20, rng)["theta"].reshape(4, 5), 200, axis=1)
    found = bm.compare(LAW, tree(stuck))
    assert found.more > 100
    assert "it would take over 100 times as many" in found.sentences()[0]


def test_chains_that_do_not_move_need_no_more_draws():
    """All draws the same, or each chain somewhere else."""
    same = np.full((4, 1000), 0.2)
    for draws in (same, same + 0.03 * np.arange(4)[:, None]):
        verdict = bm.compare(LAW, tree(draws))
        assert verdict.outcome == "inconclusive"
        assert verdict.more is None
        (finding,) = verdict.findings
        assert finding.startswith(
            "the chains do not move: in each, all draws of theta are the same"
        )


def test_agreement_is_told_in_words_of_statistics():
    said = bm.compare(LAW, LAW.to_datatree(rng=np.random.default_rng(1))).sentences()[0]
    assert said.endswith(", which is not significant (family-wise level 0.01).")


def test_transitions_that_diverged_are_said():
    mixture = bm.NaiveBayesMixture(bm.DirichletCategorical([1, 1]), bm.BetaBernoulli(1, 1))
    bits = [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    of_classes = mixture.update(bits)
    diverging = np.arange(2000).reshape(4, 500) < 3
    for law, asked in ((LAW, {}), (of_classes, {}), (of_classes, {"rows": bits})):
        sampled = law.to_datatree(draws=500, rng=1)
        sampled["sample_stats"] = xr.DataTree(
            xr.Dataset({"diverging": (("chain", "draw"), diverging)})
        )
        for other in (law, law.to_datatree(draws=500, rng=2)):
            found = bm.compare(other, sampled, **(asked if other is law else {}))
            assert "3 transitions of the sampler diverged." in found.sentences()[0]


def test_a_stuck_chain_is_no_agreement():
    draws = LAW.to_datatree(rng=np.random.default_rng(5)).posterior["theta"].to_numpy().copy()
    draws[2] = draws[2, 0]
    assert bm.compare(LAW, tree(draws)).outcome != "agree"


def test_heavy_tails_are_judged_like_all_others():
    law = bm.LinearRegression(0, 1, 0.6, 1)  # t with 1.2 degrees: no variance
    verdict = bm.compare(law, law.to_datatree(rng=np.random.default_rng(6)))
    assert {"location", "spread", "high tail"} <= {test.kind for test in verdict.tests}
    assert verdict.outcome == "agree"


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ({"theta": LAW.marginals()["theta"]}, 1),
        ({"mean": stats.norm([0.0, 1.0], 2.0)}, 2),
        ({"y": LAW.predictive(trials=10)}, 0),
        ({"y": stats.poisson(3)}, 0),
    ],
    ids=["Beta", "two normal", "Beta-binomial", "Poisson"],
)
def test_what_is_continuous_is_tested_for_a_shift(law, expected):
    ((name, marginal),) = law.items()
    size = (4, 1000, *np.shape(marginal.std()))
    draws = {name: marginal.rvs(size, random_state=np.random.default_rng(9))}
    assert sum(test.kind == "shift" for test in bm.compare(law, draws).tests) == expected


def test_a_shift_is_said_once():
    law = stats.norm(0, 1)
    draws = {"x": law.rvs((4, 1000), random_state=np.random.default_rng(9)) + 0.2}
    verdict = bm.compare({"x": law}, draws)
    assert verdict.outcome == "disagree"
    assert "x lies 0.2" in verdict.findings[0]
    assert sum("lies" in said for said in verdict.findings) == 1
    (shift,) = (test for test in verdict.tests if test.kind == "shift")
    (location,) = (test for test in verdict.tests if test.kind == "location")
    assert shift.effect == pytest.approx(location.effect, abs=0.02)


def test_a_law_of_ones_own_is_tested_for_a_shift():
    """Mixtures have no quick quantiles: draws stand for points of the distribution function."""
    law = MixtureLaw(np.array([0.3, 0.7]), stats.norm(np.array([-1.0, 2.0]), 1.0))
    rng = np.random.default_rng(10)
    x = np.where(rng.random((4, 1000)) < 0.3, -1.0, 2.0) + rng.standard_normal((4, 1000))
    assert bm.compare({"x": law}, {"x": x}).outcome == "agree"
    found = bm.compare({"x": law}, {"x": x + 0.15 * law.std()}).tests
    (shift,) = (test for test in found if test.kind == "shift")
    assert shift.p < 1e-6


def test_table_has_exact_beside_sampled():
    draws = LAW.to_datatree(rng=np.random.default_rng(7))
    row = bm.compare(LAW, draws).table.loc["theta"]
    assert row["mean"] == pytest.approx(5 / 24)
    assert row["sampled_mean"] == pytest.approx(5 / 24, abs=5 * row["mcse_mean"])
    assert row["r_hat"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("draws", "words"),
    [
        ({}, "must have the variable 'theta'"),
        ({"theta": np.zeros((4, 100, 2))}, "must have the axes"),
        ({"theta": np.full((4, 100), np.nan)}, "not finite"),
    ],
)
def test_draws_that_do_not_fit_are_refused(draws, words):
    with pytest.raises(bm.DataError, match=words):
        bm.compare(LAW, draws)


def test_a_law_that_is_not_a_number_at_the_draws_is_refused(monkeypatch):
    draws = LAW.to_datatree(draws=10)
    monkeypatch.setattr(bm.BetaBernoulli, "marginals", lambda _: {"theta": stats.beta(np.nan, 1.0)})
    with pytest.raises(bm.DataError, match="distribution function of theta"):
        bm.compare(LAW, draws)


def test_level_must_be_a_probability():
    with pytest.raises(bm.DataError, match="level"):
        bm.compare(LAW, LAW.to_datatree(draws=10), level=1)


def test_one_chain_alone_is_refused():
    draws = LAW.to_datatree(draws=4000, chains=1, rng=np.random.default_rng(8))
    with pytest.raises(bm.DataError, match=r"'theta' must have at least 2 chains.*Run four"):
        bm.compare(LAW, draws)
    with pytest.raises(bm.DataError, match="chains: must be at least 2"):
        bm.validate(bm.BetaBernoulli(1, 1), [1, 0], chains=1)


def test_both_halves_of_a_symmetric_matrix_have_their_rows():
    law = bm.NormalInverseWishart([0, 0], 0.5, 12, [[2, 0.5], [0.5, 1]])
    verdict = bm.compare(law, law.to_datatree(rng=np.random.default_rng(1)))
    table = verdict.table
    assert table.loc["Sigma[0, 1]"].equals(table.loc["Sigma[1, 0]"])
    assert set(table.index) <= {test.label for test in verdict.tests}


@pytest.mark.parametrize("solve", [bm.NormalInverseWishart.update, solved_by_exact])
def test_matrices_without_a_density_are_counted_one_by_one(solve):
    prior = bm.NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    law = solve(prior, [[0, 1], [2, 2], [1, 0]])
    drawn = law.sample(2000, np.random.default_rng(1))
    drawn = {name: x.reshape(4, 500, *x.shape[1:]) for name, x in drawn.items()}
    drawn["Sigma"][[1, 2], [3, 17]] = [[[1, 2], [2, 1]], [[1, 1], [1, 1]]]  # the second is singular
    said = "2 of 2,000 draws of Sigma are impossible: the density there is zero."
    assert said in bm.compare(law, drawn).findings


@pytest.mark.slow
def test_a_handful_of_effective_draws_accuse_nobody():
    """Two hundred draws, each nearly the one before: p values are far too small by then."""
    rng = np.random.default_rng(21)
    law = bm.NormalInverseGamma(1.0, 2.0, 3.0, 4.0).marginals()["mu"]
    for _ in range(60):
        noise = rng.standard_normal((4, 250)) * np.sqrt(1 - 0.95**2)
        z = signal.lfilter([1], [1, -0.95], noise, axis=1)[:, 200:]
        verdict = bm.compare({"mu": law}, {"mu": law.ppf(stats.norm.cdf(z))})
        assert verdict.outcome == "inconclusive"
