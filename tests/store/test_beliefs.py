"""Beliefs and verdicts as files: what comes back is the same to the last bit."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.belief.values import value
from bayesmodels.store import dumps, loads
from bayesmodels.store.forms import kinds
from tests.contract.cases import CASES

RNG = np.random.default_rng(1)
X = RNG.normal(size=(30, 2))
FRAME = pd.DataFrame(X, columns=["age", "<b>dose</b>"])
KINDS = RNG.integers(0, 3, 30)
LOGISTIC = {
    "two classes": bm.LogisticRegression([0, 1], [[4, 1], [1, 9]], classes=["no", "yes"]),
    "columns with names": bm.LogisticRegression(0, 25, features=["age", "<b>dose</b>"]),
    "three classes": bm.LogisticRegression([[0, 1], [1, 0]], 4, classes=["a", "b", "c"]),
}
EXTREMES = {
    "largest and smallest": bm.BetaBernoulli(
        [5e-324, 1e-310, np.nextafter(1, 2)], [1e150, 1 / 3, 2**53 + 2]
    ),
    "negative zero": bm.NormalInverseGamma([-0.0, 0.0], 1, 1, 1),
    "a probability of zero": bm.ConceptLearning.from_table([[0, 1], [0.5, 0.5]], [0, 1]),
    "labels of every kind": bm.BetaBernoulli(
        np.ones(9),
        1,
        coords={
            "arm": [
                "été\n\u202e<b>🫠\x00", -3, 2**70, 0.1, True, None, ("a", (1, None)),
                np.datetime64("2026-01-31T12", "ns"), pd.Timestamp("2026-01-30", tz="Asia/Tokyo"),
            ]
        },
    ),
    "no groups": bm.BetaBernoulli(np.zeros((0, 2)), 1),
}  # fmt: skip
_NAT = np.datetime64("NaT", "ns")


def bits(belief):
    """Return all that a belief holds as text; floats with all their digits, signs of zero too."""
    return dumps(belief)


@pytest.mark.parametrize("name", [*LOGISTIC, *EXTREMES])
def test_a_belief_comes_back_bit_by_bit(name, tmp_path):
    belief = (LOGISTIC | EXTREMES)[name]
    bm.save(belief, tmp_path / "b.json")
    after = bm.load(tmp_path / "b.json")
    assert after == belief
    assert bits(after) == bits(belief)
    assert after.coords == belief.coords


def test_zeros_keep_their_sign():
    after = loads(dumps(EXTREMES["negative zero"]))
    assert [math.copysign(1, x) for x in after.location] == [-1, 1]


def test_a_laplace_approximation_comes_back(tmp_path):
    near = LOGISTIC["three classes"].laplace((X, np.array(["a", "b", "c"])[KINDS]))
    bm.save(near, tmp_path / "near.json")
    after = bm.load(tmp_path / "near.json")
    assert bits(after) == bits(near)
    pd.testing.assert_frame_equal(after.summary(), near.summary(), check_exact=True)
    assert not after.factor.flags.writeable


def test_no_kind_of_belief_is_left_out():
    found = {type(case.prior).__name__ for case in CASES} | {"LogisticRegression"}
    assert found | {"LaplaceApproximation"} == set(kinds("belief"))


def test_a_posterior_goes_on_as_if_it_had_never_been_a_file():
    prior = CASES[0].prior
    rows = CASES[0].data
    assert bits(loads(dumps(prior.update(rows))).update(rows)) == bits(
        prior.update(rows).update(rows)
    )


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (
            bm.NaiveBayes(
                bm.DirichletCategorical([1, 1]),
                {"all": (bm.NormalInverseGamma(0, 1, 1, 1), lambda frame: frame.columns)},
            ),
            "columns: a function has no form",
        ),
        (bm.BetaBernoulli([1], 1, coords={"arm": [pd.NaT]}), "labels must be text"),
        (bm.BetaBernoulli([1], 1, coords={"arm": [_NAT]}), "labels must be text"),
        (bm.BetaBernoulli([1], 1, coords={"arm": [b"bytes"]}), "labels must be text"),
        ({"theta": 1}, "must be one of"),
        (None, "must be one of"),
    ],
)
def test_what_has_no_form_is_refused_and_nothing_is_written(odd, words, tmp_path):
    with pytest.raises(bm.DataError, match=words):
        bm.save(odd, tmp_path / "b.json")
    assert not list(tmp_path.iterdir())


def test_another_class_of_the_same_name_is_refused():
    @value
    class BetaBernoulli:
        alpha: float

    with pytest.raises(bm.DataError, match="must be one of"):
        dumps(BetaBernoulli(1.0))
    assert type(loads(dumps(bm.BetaBernoulli(1, 1)))) is bm.BetaBernoulli


def test_a_belief_is_no_shard(tmp_path):
    bm.save(bm.BetaBernoulli(1, 1), tmp_path / "a.json")
    with pytest.raises(bm.DataError, match=r"a\.json: holds a BetaBernoulli, which is no statis"):
        bm.scale.merge([tmp_path / "a.json"])


# --- verdicts -------------------------------------------------------------------------------------

LAW = bm.BetaBernoulli([5, 2], [19, 3], coords={"arm": ["<i>a</i>", "b"]})


def _verdicts():
    draws = LAW.to_datatree(rng=np.random.default_rng(1))
    wrong = bm.BetaBernoulli([19, 2], [5, 3]).to_datatree(rng=np.random.default_rng(1))
    few = LAW.to_datatree(draws=50, chains=2, rng=np.random.default_rng(1))
    case = next(case for case in CASES if "bits" in case.id and "naive" in case.id)
    after = case.prior.update(case.data)
    return {
        "agree": bm.compare(LAW, draws),
        "integrated": replace(bm.compare(LAW, draws), kind="integrated"),
        "disagree": bm.compare(LAW, wrong),
        "short chains": bm.compare(LAW, few),
        "two sets": bm.compare(
            {"theta": draws.posterior["theta"], "tau": np.ones((4, 1000))},
            LAW.to_datatree(rng=np.random.default_rng(2)),
        ),
        "classes": bm.compare(
            after, after.to_datatree(rng=np.random.default_rng(3)), rows=case.data[0]
        ),
    }


@pytest.fixture(scope="module", name="verdicts")
def _fixture():
    return _verdicts()


@pytest.mark.parametrize(
    "name", ["agree", "integrated", "disagree", "short chains", "two sets", "classes"]
)
def test_a_verdict_comes_back_without_its_draws(verdicts, name, tmp_path):
    verdict = verdicts[name]
    bm.save(verdict, tmp_path / "v.json")
    after = bm.load(tmp_path / "v.json")
    assert dumps(after) == dumps(verdict)
    assert after.sentences()[0] == verdict.sentences()[0]
    assert after.findings == verdict.findings
    np.testing.assert_equal([vars(t) for t in after.tests], [vars(t) for t in verdict.tests])
    pd.testing.assert_frame_equal(after.table, verdict.table, check_exact=True)
    if verdict.predictions is not None:
        pd.testing.assert_frame_equal(after.predictions, verdict.predictions, check_exact=True)
    assert after._repr_html_() == verdict._repr_html_()
    assert after.law is None
    assert after.draws is None
