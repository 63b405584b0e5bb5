"""Draws are asked for until the verdict is decided; the level holds over all looks."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.referee.sequential import LOOKS, MOST, until_decided

LAW = bm.BetaBernoulli(5, 19)


def sampler(rng, shift=0.0):
    """Return a sampler, and the numbers of draws that were asked of it."""
    asked = []

    def sample(draws):
        asked.append(draws)
        return {"theta": LAW.sample(4 * draws, rng)["theta"].reshape(4, draws) + shift}

    return sample, asked


def judge(draws, level):
    return bm.compare(LAW, draws, level=level)


def test_enough_draws_are_looked_at_once():
    sample, asked = sampler(np.random.default_rng(1))
    verdict, draws, number = until_decided(sample, judge, 1000, 0.01)
    assert (verdict.outcome, number, asked) == ("agree", 1000, [1000])
    assert verdict.level == 0.01 / LOOKS
    assert draws["theta"].shape == (4, 1000)


def test_few_draws_lead_to_as_many_as_decide():
    said = []
    sample, asked = sampler(np.random.default_rng(1))
    verdict, draws, number = until_decided(sample, judge, 120, 0.01, said.append)
    assert verdict.outcome == "agree"
    assert asked == [120, number]
    assert draws["theta"].shape == (4, number)
    assert 120 < number <= 120 * MOST
    assert f"{number:,} draws a chain" in said[0]


def test_what_is_wrong_at_once_is_not_looked_at_again():
    sample, asked = sampler(np.random.default_rng(3), shift=0.1)
    assert until_decided(sample, judge, 500, 0.01).verdict.outcome == "disagree"
    assert asked == [500]


def test_chains_that_do_not_mix_are_no_matter_of_more_draws():
    def stuck(draws):
        start = LAW.sample(4, np.random.default_rng(4))["theta"]
        return {"theta": np.repeat(start[:, None], draws, axis=1)}

    verdict, _, number = until_decided(stuck, judge, 4000, 0.01)
    assert verdict.outcome == "inconclusive"
    assert number == 4000


@pytest.mark.slow
def test_the_level_holds_over_both_looks():
    rng = np.random.default_rng(5)
    sample, asked = sampler(rng)
    wrong = sum(
        until_decided(sample, judge, 200, 0.05).verdict.outcome == "disagree" for _ in range(300)
    )
    assert len(asked) > 300
    # 300 trials at 5 %: more than 28 alarms has probability below 1e-3.
    assert wrong <= 28


@pytest.mark.parametrize("scale", [1, 10])
def test_a_sampler_of_ones_own_is_asked_until_the_verdict_is_decided(scale):
    """Of a sampler that keeps every tenth draw 1,000 a chain are too few."""
    sample, asked = sampler(np.random.default_rng(5))
    verdict = bm.compare(LAW, lambda n: sample(n // scale))
    assert verdict.outcome == "agree"
    assert len(asked) == (2 if scale == 10 else 1)
    assert verdict.draws["theta"].shape == (4, asked[-1])


@pytest.mark.parametrize(
    ("options", "words"), [({"level": 0}, "level: "), ({"tolerance": np.nan}, "tolerance: ")]
)
def test_numbers_out_of_range_are_named_before_anything_is_sampled(options, words):
    sample, asked = sampler(np.random.default_rng(6))
    with pytest.raises(bm.DataError, match=words):
        bm.compare(LAW, sample, **options)
    assert asked == []


def test_later_sets_grow_where_the_advice_did_not_do_and_the_looks_share_the_level():
    sample, asked = sampler(np.random.default_rng(6))
    levels = []

    def always_open(_, level):
        levels.append(level)
        return SimpleNamespace(outcome="inconclusive", more=1.0, findings=("open.",))

    until_decided(sample, always_open, 100, 0.01, looks=4, most=500)
    assert asked == [100, 100, 200, 500]
    assert levels == [0.01 / 4] * 4
