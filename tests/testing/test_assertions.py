"""Assertions hold for right draws, fail for wrong ones, and fail where a verdict stays open."""

import json
import re
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.errors import DataError
from bayesmodels.testing import (
    assert_calibrated,
    assert_posterior,
    assert_same,
    verdicts,
    write_verdicts,
)
from bayesmodels.testing.assertions import LOOKS
from bayesmodels.testing.budget import FALSE_ALARMS, OPEN, Account

LAW = bm.BetaBernoulli(5, 19)


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Let assertions be those of a script, whether or not this run has the plugin."""
    monkeypatch.setattr("bayesmodels.testing.assertions.OPEN", [])


def sampler(seed, a=5, b=19):
    """Return a sampler, and the numbers of draws that were asked of it."""
    rng, asked = np.random.default_rng(seed), []

    def sample(draws):
        asked.append(draws)
        return {"theta": rng.beta(a, b, (4, draws))}

    return sample, asked


def test_right_draws_pass_and_the_verdict_comes_back():
    sample, asked = sampler(1)
    given = assert_posterior(LAW, sample(1000))
    assert (given.outcome, given.level) == ("agree", FALSE_ALARMS)
    looked = assert_posterior(LAW, sample)
    assert (looked.outcome, looked.level) == ("agree", FALSE_ALARMS / LOOKS)
    assert asked == [1000, 1000]


def test_another_set_of_draws_stands_for_a_law():
    sample, other = sampler(1)[0], sampler(2)[0]
    assert not assert_posterior(sample(5000), other).exact
    with pytest.raises(AssertionError, match=r"two sets of draws(.|\n)*first_mean"):
        assert_posterior(sampler(1, 6, 18)[0](5000), other)


def test_wrong_draws_fail_with_findings_and_table():
    with pytest.raises(AssertionError) as caught:
        assert_posterior(LAW, sampler(1, 6, 18)[0])
    text = str(caught.value)
    assert text.startswith("The draws do not come from the exact law: ")
    assert re.search(r"theta lies 0.\d+ standard deviations too high", text)
    assert "\n- " in text
    assert "sampled_mean" in text
    assert text.endswith("The level was 0.01. The last draws were 1,000 a chain.")
    assert max(map(len, text.splitlines()[-3:])) <= 80


def test_many_findings_are_shown_in_part():
    law = bm.DirichletCategorical(np.ones(30))
    with pytest.raises(AssertionError, match=r"And \d+ more findings.") as caught:
        assert_posterior(law, bm.DirichletCategorical(np.arange(1, 31)).to_datatree(rng=1))
    assert len(str(caught.value).splitlines()) < 26


def test_too_few_draws_fail_and_say_how_many_are_needed():
    with pytest.raises(AssertionError, match=r"at least 400 are needed. Draw about \d+.* times"):
        assert_posterior(LAW, sampler(1)[0](30))


def test_a_function_is_asked_for_more_until_the_verdict_is_decided():
    sample, asked = sampler(1)
    assert assert_posterior(LAW, sample, first=20).outcome == "agree"
    assert 1 < len(asked) <= LOOKS
    assert asked == sorted(asked)


def test_a_function_is_not_asked_for_more_than_the_most():
    sample, asked = sampler(1)
    with pytest.raises(AssertionError, match=r"The last draws were 50 a chain"):
        assert_posterior(LAW, sample, first=20, most=50)
    assert asked == [20, 50]


def test_chains_that_stand_still_are_asked_once():
    asked = []

    def stuck(draws):
        asked.append(draws)
        return {"theta": np.repeat([[0.2], [0.21], [0.19], [0.22]], draws, axis=1)}

    with pytest.raises(AssertionError, match="do not move"):
        assert_posterior(LAW, stuck)
    assert asked == [1000]


def test_options_are_those_of_compare():
    sample = sampler(1)[0]
    with pytest.raises(AssertionError, match=r"0.01 are allowed"):
        assert_posterior(LAW, sample(1000), tolerance=0.01)
    assert assert_posterior(LAW, sample(1000), level=0.2).level == 0.2
    with pytest.raises(DataError, match="level"):
        assert_posterior(LAW, sample(1000), level=2)
    with pytest.raises(DataError, match="first"):
        assert_posterior(LAW, sample, first=1)


@pytest.mark.slow
def test_calibration_passes_or_fails_with_the_ranks():
    assert assert_calibrated(LAW, np.zeros(10), rng=1).level == FALSE_ALARMS

    def sticky(parameters, rng):
        return np.repeat(rng.random(10) < parameters["theta"], 2)

    with pytest.raises(AssertionError, match=r"too narrow(.|\n)*location(.|\n)*The level was 0.01"):
        assert_calibrated(LAW, simulate=sticky, rng=1)


@pytest.mark.slow  # compiles PyMC models
def test_pymc_models_are_solved_or_compared():
    import pymc as pm

    def coin(alpha):
        with pm.Model() as model:
            theta = pm.Beta("theta", alpha, 1)
            pm.Bernoulli("y", theta, observed=[1, 1, 0, 1])
        return model

    assert assert_posterior(coin(1), sampler(1, 4, 2)[0]).outcome == "agree"
    with pytest.raises(AssertionError, match="do not come from the exact law"):
        assert_posterior(coin(2), sampler(1, 4, 2)[0])
    assert assert_same(coin(1), coin(1)).outcome == "agree"
    with pytest.raises(AssertionError, match="theta"):
        assert_same(coin(1), coin(2))


def test_levels_of_a_test_add_up_to_its_share():
    account = Account("test", 0.25)
    levels = [account.level() for _ in range(10_000)]
    assert sum(levels) == pytest.approx(0.25, rel=2e-4)
    assert sum(levels) < 0.25
    assert not OPEN or OPEN[-1].test != "test"


@pytest.mark.parametrize("ending", ["json", "md"])
def test_verdicts_of_a_script_are_written_as_those_of_a_run(tmp_path, ending):
    copied = {"theta": np.repeat(sampler(1)[0](2000)["theta"][:1], 4, axis=0)}
    found = {
        "right": bm.compare(LAW, sampler(1)[0](1000)),
        "copied": bm.compare(LAW, copied),
        "ranks": bm.calibrate(LAW, np.zeros(5), rng=1),
    }
    path = tmp_path / f"all.{ending}"
    write_verdicts(found, path)
    if ending == "md":
        text = path.read_text()
        assert all(f"`{name}`" in text for name in found)
        assert "3 verdicts: 2 agree, 1 inconclusive.\n" in text
        return
    written = json.loads(path.read_text())
    jsonschema.validate(written, json.loads(verdicts.SCHEMA.read_text()))
    assert [each["level"] for each in written["verdicts"]] == [0.01] * 3
    assert written["verdicts"][1]["largest_r_hat"] is None  # no number of one chain
    assert written["false_alarms"] is None


def test_a_finding_is_said_once_whether_or_not_the_sentence_has_it(tmp_path):
    said = "They differ: the prior of tau."
    findings = ("the prior of tau.", "the likelihood of y.")
    found = SimpleNamespace(outcome="disagree", sentences=lambda: [said], findings=findings)
    write_verdicts({"models": found}, tmp_path / "all.md")
    text = (tmp_path / "all.md").read_text()
    assert [text.count(each) for each in findings] == [1, 1]


def test_verdicts_go_into_no_other_kind_of_file(tmp_path):
    with pytest.raises(DataError, match=r"must end in .json or .md"):
        write_verdicts({}, tmp_path / "all.html")
