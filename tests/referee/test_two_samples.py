"""Draws against draws: two sets from one law agree, others do not, and misfits are named."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import signal, stats

import bayesmodels as bm
from bayesmodels.numerics.ess import effective_draws
from bayesmodels.referee.copies import side_by_side

LAW = bm.NormalInverseGamma(1.0, 2.0, 3.0, 4.0)


def draws_of(law, seed, draws=1000):
    return law.to_datatree(draws=draws, rng=np.random.default_rng(seed))


def walk(rng, rho, shape=(4, 1000)):
    noise = rng.standard_normal((shape[0], shape[1] + 500)) * np.sqrt(1 - rho**2)
    return signal.lfilter([1], [1, -rho], noise, axis=1)[:, 500:]


def test_two_sets_from_one_law_agree_whatever_their_sizes():
    verdict = bm.compare(draws_of(LAW, 1), draws_of(LAW, 2, draws=700))
    assert verdict.outcome == "agree"
    assert not verdict.exact
    assert "two sets of draws agree" in verdict.sentences()[0]
    assert {"first_mean", "second_mean", "ess_bulk", "r_hat", "z"} <= set(verdict.table.columns)
    assert sorted(verdict.table.index) == ["mu", "sigma2"]


def test_the_first_is_said_to_be_too_high():
    one = draws_of(LAW, 1).posterior.to_dataset()
    verdict = bm.compare(one.assign(mu=one["mu"] + 0.3), draws_of(LAW, 2))
    assert verdict.outcome == "disagree"
    assert "mu lies 0.3" in verdict.sentences()[0]
    assert "too high" in verdict.sentences()[0]
    assert "one law" in verdict.sentences()[0]


@pytest.mark.parametrize("scale", [0.8, 1.25])
def test_spread_is_compared(scale):
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(4, 1000)), rng.normal(size=(4, 1000)) * scale
    verdict = bm.compare({"x": one}, {"x": other})
    assert verdict.outcome == "disagree"
    assert f"too {'large' if scale < 1 else 'small'}" in verdict.sentences()[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_false_alarms_stay_near_the_level(rho):
    rng = np.random.default_rng(4)
    wrong = [
        bm.compare({"x": walk(rng, rho)}, {"x": walk(rng, 0.5)}, level=0.05).outcome == "disagree"
        for _ in range(60)
    ]
    # 60 trials at 5 %: more than 10 alarms has probability below 1e-3.
    assert sum(wrong) <= 10


@pytest.mark.slow
def test_resampled_draws_tell_as_much_as_the_different_ones():
    """Copies that are no neighbours raised an alarm in half of such runs against a law."""
    rng, law = np.random.default_rng(41), {"x": stats.norm()}
    for against in (law, {"x": rng.normal(size=(4, 1000))}):
        wrong = 0
        for _ in range(25):
            x = rng.choice(rng.normal(size=1000), (4, 1000))
            verdict = bm.compare(against, {"x": x})
            wrong += verdict.outcome == "disagree"
            assert f"4,000 draws {len(np.unique(x))} are different ones" in verdict.sentences()[0]
            assert min(test.ess for test in verdict.tests if test.kind == "location") < 1000
        assert wrong <= 2


def test_a_chain_that_resamples_itself_is_still_autocorrelated():
    rng = np.random.default_rng(42)
    x = walk(rng, 0.9)
    blocks = [x[:, 100 * k : 100 * (k + 1)] for k in rng.integers(10, size=10)]
    found, different = side_by_side({"x": np.concatenate(blocks, axis=1)}, rng)
    assert different == len(np.unique(found["x"])) < 4000
    assert effective_draws(found["x"][None]).number[0] < 400


def test_equal_values_of_a_law_are_no_copies():
    rng = np.random.default_rng(43)
    z = rng.normal(size=(4, 1000))
    stays = np.repeat(z[:, ::4], 4, axis=1)  # a chain that does not move at most steps
    for x in (
        rng.poisson(3.0, (4, 1000)).astype(float),
        np.log1p(rng.poisson(2000.0, (4, 1000))),
        z.round(2),
        z.astype(np.float16).astype(float),
        z.astype(np.float32).astype(float),
        np.maximum(z, 0.0),
        np.array([0.31, -1.77, 2.13])[rng.integers(3, size=(4, 1000))],
        stays,
        z,
    ):
        found, different = side_by_side({"x": x}, rng)
        assert different is None
        assert (found["x"] == x).all()


def test_antithetic_chains_count_once_for_even_functions():
    half = np.random.default_rng(44).normal(size=(2, 1000))
    x = np.concatenate([half, -half])
    location, spread = effective_draws(np.stack([x, x**2])).number
    assert location > 3000
    assert 1500 < spread < 2500


def test_labels_are_those_of_the_draws_and_copies_are_tested_once():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 500, 2))
    both = xr.DataArray(x, dims=("chain", "draw", "city"), coords={"city": ["Oslo", "Rome"]})
    one = xr.Dataset({"x": both, "again": both})
    verdict = bm.compare(one, one + 0)
    assert list(verdict.table.index) == ["x[Oslo]", "x[Rome]", "again[Oslo]", "again[Rome]"]
    alone = {"x[Oslo]", "x[Rome]"}
    together = {test.label for test in verdict.tests} - alone
    assert together == {
        "x[Oslo] and x[Rome]",
        "x[Oslo] and |x[Rome] - median|",
        "x[Rome] and |x[Oslo] - median|",
        "|x[Oslo] - median| and |x[Rome] - median|",
    }
    assert verdict.outcome == "inconclusive"


def test_few_draws_give_no_verdict():
    verdict = bm.compare(draws_of(LAW, 1, draws=80), draws_of(LAW, 2))
    assert verdict.outcome == "inconclusive"
    assert "effective draws" in verdict.sentences()[0]


def test_numbers_that_never_vary():
    still = np.ones((4, 500))
    assert bm.compare({"x": still}, {"x": still}).outcome == "agree"
    assert bm.compare({"x": still}, {"x": still + 1}).outcome != "agree"


@pytest.mark.parametrize(
    ("other", "options", "words"),
    [
        ({"y": np.zeros((4, 9))}, {}, "a variable in common"),
        ({"x": np.zeros((4, 9, 2))}, {}, "'x' of the second set must have the axes"),
        ({"x": np.full((4, 9), np.nan)}, {}, "finite"),
        ({"x": np.zeros((4, 9))}, {"var_names": ["z"]}, "'z' must be in both"),
        ({"x": np.zeros((4, 9))}, {"rows": [[1.0]]}, "rows"),
        ({"x": np.zeros((4, 9))}, {"level": 2}, "level"),
        ({"x": np.zeros((4, 9))}, {"var_names": []}, "var_names: must name"),
        ({"x": np.zeros((4, 7))}, {}, "'x' of the second set .* has 7 in each of 4"),
        (xr.Dataset({"x": ("draw", np.zeros(9))}), {}, "axes chain and draw"),
        ({"x": np.zeros(9)}, {}, "axes .chain, draw"),
        (xr.DataTree.from_dict({"prior": xr.Dataset()}), {}, "group posterior"),
    ],
)
def test_misfits_are_named(other, options, words):
    with pytest.raises(bm.DataError, match=words):
        bm.compare({"x": np.ones((4, 9))}, other, **options)


def test_scalars_are_matched_by_their_labels_where_both_sets_have_them():
    rng = np.random.default_rng(6)
    centres = np.arange(6).reshape(2, 3)
    one, other = (
        xr.DataArray(
            rng.normal(size=(4, 500, 2, 3)) + centres,
            dims=("chain", "draw", "city", "year"),
            coords={"city": ["Oslo", "Rome"], "year": [1, 2, 3]},
        )
        for _ in range(2)
    )
    turned = other.isel(city=[1, 0], year=[2, 0, 1]).transpose("year", "chain", "city", "draw")
    straight = bm.compare(xr.Dataset({"x": one}), xr.Dataset({"x": other}))
    verdict = bm.compare(xr.Dataset({"x": one}), xr.Dataset({"x": turned}))
    pd.testing.assert_frame_equal(verdict.table, straight.table)
    # Numbers of places are no labels that two libraries share.
    plain = other.drop_vars(["city", "year"])
    placed = bm.compare(xr.Dataset({"x": one}), xr.Dataset({"x": plain}))
    pd.testing.assert_frame_equal(placed.table, straight.table)


def test_whole_numbers_agree_and_disagree():
    rng = np.random.default_rng(14)
    for chance in (0.1, 0.5, 0.9):
        one, other = ({"x": rng.binomial(1, chance, (4, 1000))} for _ in range(2))
        verdict = bm.compare(one, other)
        assert verdict.outcome == "agree", verdict
        assert min(test.ess for test in verdict.tests) > 1000
        wrong = {"x": rng.binomial(1, chance + 0.09, (4, 1000))}
        assert bm.compare(one, wrong).outcome == "disagree"


def test_a_fair_coin_has_an_r_hat():
    x = np.tile([0, 1], (4, 500))
    assert bm.compare({"x": x}, {"x": x}).table["r_hat"]["x"] == pytest.approx(1, abs=0.01)
    stuck = np.repeat([[0], [1]], 500, axis=1)
    assert bm.compare({"x": stuck}, {"x": stuck}).table["r_hat"]["x"] > 1e9


def test_variables_can_be_chosen_but_not_of_a_law():
    one = draws_of(LAW, 1).posterior.to_dataset()
    chosen = bm.compare(one.assign(extra=one["mu"]), draws_of(LAW, 2), var_names=["mu"])
    assert list(chosen.table.index) == ["mu"]
    with pytest.raises(bm.DataError, match="var_names"):
        bm.compare(LAW, one, var_names=["mu"])


@pytest.mark.parametrize("given", [5, [1.0, 2.0]])
def test_what_is_neither_law_nor_draws_is_named(given):
    with pytest.raises(
        bm.DataError, match=rf"law, .* no exact one: must be draws.*{type(given).__name__}"
    ):
        bm.compare(given, {"x": np.zeros((4, 9))})


def correlated(rng, rho, size=2):
    """Return scalars of one law, of which the first two are correlated."""
    z = rng.standard_normal((4, 1000, size))
    z[..., 1] = rho * z[..., 0] + np.sqrt(1 - rho**2) * z[..., 1]
    return {"w": z}


@pytest.mark.parametrize("size", [2, 40])
def test_dependence_lost_is_found_where_every_scalar_is_right(size):
    rng = np.random.default_rng(11)
    verdict = bm.compare(correlated(rng, 0.7, size), correlated(rng, 0.0, size))
    assert verdict.outcome == "disagree"
    assert "rank correlation of w[0] and w[1] is" in verdict.sentences()[0]
    assert "too high" in verdict.sentences()[0]
    same = bm.compare(correlated(rng, 0.7, size), correlated(rng, 0.7, size))
    assert same.outcome == "agree"


def test_one_random_number_for_all_is_found_by_random_directions():
    rng = np.random.default_rng(12)
    one = rng.standard_normal((4, 1000, 60))
    other = np.repeat(0.4 * rng.standard_normal((4, 1000, 1)), 60, axis=-1)
    other = other + np.sqrt(1 - 0.16) * rng.standard_normal((4, 1000, 60))  # correlated by 0.16
    verdict = bm.compare({"w": one}, {"w": other})
    assert verdict.outcome == "disagree"
    assert "random direction" in verdict.sentences()[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_false_alarms_of_dependent_scalars_stay_near_the_level(rho):
    rng = np.random.default_rng(13)

    def chains(size=5):
        z = np.stack([walk(rng, rho) for _ in range(size)], axis=-1)
        return {"w": z @ np.linalg.cholesky(0.6 + 0.4 * np.eye(size)).T}

    wrong = [bm.compare(chains(), chains(), level=0.05).outcome == "disagree" for _ in range(75)]
    # 75 trials at 5 %: more than 11 alarms has probability below 1e-3.
    assert sum(wrong) <= 11
