"""Assurance and stopping rules: sums against simulation, and what they promise."""

import numpy as np
import pytest
from scipy import stats

import bayesmodels as bm
from bayesmodels.numerics.laws import element

FLAT = bm.BetaBernoulli(1, 1)


def better(posterior):
    return bm.decisions.probability_best(posterior)[:, 1] > 0.95


DESIGNS = {
    "one share": (bm.BetaBernoulli(30, 70), FLAT, lambda p: p.marginals()["theta"].sf(0.2) > 0.95),
    "two shares": (bm.BetaBernoulli([10, 16], [90, 84]), FLAT, better),
    "two rates": (bm.GammaPoisson([10, 13], [9, 8]), bm.GammaPoisson(1, 1), better),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_sums_are_what_simulation_finds(name):
    design, analysis, rule = DESIGNS[name]
    exact = bm.decisions.assurance(design, analysis, [3, 5], rule)
    drawn = bm.decisions.assurance(design, analysis, [3, 5], rule, most=1, n=1000, rng=1)
    assert exact["exact"].all()
    assert not drawn["exact"].any()
    assert (exact["error"] == 0).all()
    assert ((drawn["probability"] - exact["probability"]).abs() < 4 * drawn["error"]).all()


def test_a_sum_worked_out_by_hand():
    """With a flat prior, k of 10 successes say that theta exceeds 1/2 by 0.95 from k = 8 on."""
    found = bm.decisions.assurance(
        FLAT, FLAT, [10], lambda p: p.marginals()["theta"].sf(0.5) > 0.95
    )
    least = next(k for k in range(11) if stats.beta.sf(0.5, 1 + k, 11 - k) > 0.95)
    assert found.loc[10, "probability"] == pytest.approx((11 - least) / 11, abs=1e-12)


@pytest.mark.slow
def test_rows_that_are_no_counts_are_simulated():
    design = bm.NormalInverseGamma([0, 0.5], 50, 50, 50)
    found = bm.decisions.assurance(
        design, bm.NormalInverseGamma(0, 0.1, 1, 1), [10, 80], better, n=500, rng=1
    )
    assert not found["exact"].any()
    assert found["probability"].is_monotonic_increasing


def test_rows_of_ones_own():
    def rows(n, rng):
        return rng.random((n, 2)) < [0.1, 0.6]

    def rule(posterior):
        return bool(bm.decide(posterior).best[1] > 0.95)

    found = bm.decisions.assurance(None, FLAT, [20], rule, simulate=rows, n=20, rng=1)
    assert found.loc[20, "probability"] > 0.8


@pytest.mark.slow
def test_an_average_loss_is_acceptable_however_often_one_looks():
    """With truths from the prior, stopping does not bias a loss (Deng, Lu and Chen 2016)."""
    found = bm.decisions.stopping_rates(FLAT, batch=5, acceptable_loss=0.02, most=200, n=250, rng=1)
    assert found.loc["loss", "value"] < 0.02 + 3 * found.loc["loss", "error"]
    assert found.loc["stopped", "value"] > 0.9


@pytest.mark.slow
def test_a_larger_difference_is_found_sooner():
    how = {"batch": 10, "acceptable_loss": 0.005, "most": 300, "n": 100, "rng": 1}
    near = bm.decisions.stopping_rates(FLAT, {"theta": [0.1, 0.15]}, **how)["value"]
    far = bm.decisions.stopping_rates(FLAT, {"theta": [0.1, 0.5]}, **how)["value"]
    assert far["rows"] < near["rows"]
    assert far["wrong"] < near["wrong"]


@pytest.mark.slow
def test_many_posteriors_are_decided_as_one_is():
    """Shapes below one, too, of which half of the loss was not seen."""
    rng = np.random.default_rng(1)
    for belief in (
        bm.BetaBernoulli(
            *np.concatenate([rng.uniform(1, 30, (2, 3, 3)), np.full((2, 2, 3), 0.02)], 1)
        ),
        bm.NormalInverseGamma(rng.normal(size=(4, 2)), 2, 0.6, 1),
    ):
        many = bm.decisions.probability_best(belief), bm.decisions.expected_losses(belief)
        for i in range(len(many[0])):
            laws = belief.marginals()[next(iter(belief.dims))]
            one = bm.decide({k: element(laws, (i, k)) for k in range(many[0].shape[1])})
            np.testing.assert_allclose(many[0][i], one.best, rtol=0, atol=1e-10)
            np.testing.assert_allclose(many[1][i], one.expected_loss, rtol=1e-8)
    least = bm.decisions.probability_best(belief, best="smallest")
    np.testing.assert_allclose(least.sum(-1), 1, atol=1e-9)


@pytest.mark.parametrize(
    ("shapes", "losses"),
    [
        (([0.01, 100.01], [0.01, 99.01]), (9.96173953e-05, 9.86077002e-05)),
        (([0.1, 0.1], [10.1, 0.1]), (0.4936535, 0.00345742)),
    ],
)
def test_losses_of_small_shapes(shapes, losses):
    """Off by a factor of 4, and NaN; values by a sum over 1.4 million logits."""
    found = bm.decisions.expected_losses(bm.BetaBernoulli(*np.transpose(shapes)))
    np.testing.assert_allclose(found, losses, rtol=1e-6)


BAD = [
    (
        lambda: bm.decisions.assurance(FLAT, FLAT, [], better),
        "sizes: must hold at least one number",
    ),
    (lambda: bm.decisions.assurance(FLAT, FLAT, [0], better), "sizes: must be at least 1"),
    (
        lambda: bm.decisions.assurance(FLAT, FLAT, [5], lambda _: True),
        "rule: must return one boolean for each",
    ),
    (lambda: bm.decisions.probability_best(FLAT), "posterior: must have groups along its last"),
    (
        lambda: bm.decisions.stopping_rates(FLAT, {}, batch=5, acceptable_loss=0.1, most=10),
        "truth: must hold .*; 'theta' is missing",
    ),
    (
        lambda: bm.decisions.stopping_rates(
            FLAT, {"theta": 0.1}, batch=5, acceptable_loss=0.1, most=10
        ),
        "truth: must have one value a group",
    ),
    (
        lambda: bm.decisions.stopping_rates(FLAT, batch=5, acceptable_loss=0, most=10),
        "acceptable_loss: must be positive; got 0",
    ),
    (
        lambda: bm.decisions.stopping_rates(FLAT, batch=5, acceptable_loss=0.1, most=4),
        "most: must be at least 5",
    ),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_what_can_not_be_simulated_is_said(call, words):
    with pytest.raises(bm.DataError, match=words):
        call()


def test_a_curve_is_drawn():
    found = bm.decisions.assurance(*DESIGNS["one share"][:2], [5, 10, 20], DESIGNS["one share"][2])
    axes = bm.plots.plot_assurance(found)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), found["probability"])
