"""Programs that state one model are not told apart, and one slip is found and named."""

from itertools import chain

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import bayesmodels as bm
from bayesmodels.errors import DataError
from bayesmodels.referee.alignment import aligned
from bayesmodels.referee.equivalence import constant_in_words, judge
from tests.referee.edge_models import PAIRS, Y
from tests.referee.same_models import SAME, SLIPS, TWIN_SLIPS, TWINS, line, schools

FAST_EDGES = ("mean not one to one",)
FAST = ("half, folded", "tau squared", "of the logit")


def rows(*tables):
    """Return all rows as parameters; but a few are slow, as a program takes half a second."""
    return [
        pytest.param(row, id=row.id, marks=() if row.id in FAST else pytest.mark.slow)
        for row in chain(*tables)
    ]


@pytest.mark.parametrize("row", rows(SAME, TWINS))
def test_the_same_model_is_no_alarm(row):
    pair = aligned(row.a(), row.b(), row.how.get("rename", {}), row.how.get("transform", {}))
    seeds = range(1 if row in TWINS else 3)  # NumPyro works out one step of a density at a time
    every = [judge(pair, 20, np.random.default_rng(seed)) for seed in seeds]
    assert {found.outcome for found in every} == {"agree"}, every
    for found in every:
        assert found.terms == ()
        same = abs(found.constant) <= found.bound
        assert ("0" if same else constant_in_words(found.constant, found.bound)) == row.constant
        assert ("constants included" in found.sentences()[0]) == same
        assert same or f"up to the constant {row.constant}," in found.sentences()[0]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAST_EDGES else pytest.mark.slow) for n in PAIRS]
)
def test_no_edge_or_branch_is_passed_over(name):
    pair = aligned(*(model() for model in PAIRS[name]), {}, {})
    found = [judge(pair, 20, np.random.default_rng(seed)) for seed in range(2)]
    assert {each.outcome for each in found} == {"disagree"}, found


@pytest.mark.parametrize("row", rows(SLIPS, TWIN_SLIPS))
def test_one_slip_is_found_and_named(row):
    found = bm.same(row.a(), row.b(), rng=0, **row.how)
    assert found.outcome == "disagree", found
    assert found.terms == row.terms
    assert all(term in found.sentences()[0] for term in row.terms)
    assert found.constant is None


def normal(name="mu", shape=None, build=lambda _: None):
    with pm.Model() as model:
        build(pm.Normal(name, shape=shape))
    return model


@pytest.mark.parametrize(
    ("a", "b", "how", "said"),
    [
        (lambda _: 0.0, lambda _: 0.0, {}, "must be two PyMC models, or one and a function"),
        (normal(), 3, {}, "got Model and int"),
        (normal(), normal("nu"), {}, "mu of the first program and nu of the second"),
        (normal(), normal("nu"), {"rename": {"other": "mu"}}, "'other' must be a variable"),
        (normal(shape=2), normal(shape=3), {}, r"one shape in both models; got \(2,\) and \(3,\)"),
        (normal(), normal("nu"), {"transform": {"tau": abs}}, "free variables of one of both"),
        (normal(), normal("nu"), {"transform": {"nu": lambda v: v["x"]}}, "asks for 'x'"),
        (normal(), normal("nu"), {"transform": {"nu": lambda v: pt.stack([v["mu"]])}}, "axes"),
        (normal(), lambda v: v["nu"], {}, "the function asks for 'nu'"),
        (normal(), lambda _: "one", {}, "must return the joint log density"),
        (normal(), lambda _: 0.0, {"rename": {"x": "nu"}}, r"\['nu'\] must be variables"),
        (normal(), lambda _: 0.0, {"points": 0}, "points"),
        (normal(), lambda _: 1 / 0, {}, r"b: <lambda> raised ZeroDivisionError.* at mu = "),
        (lambda v: v["mu"].no, normal(), {}, r"a: <lambda> raised AttributeError"),
        (
            normal(),
            normal("nu"),
            {"transform": {"nu": lambda v: abs(v["mu"] - 1)}},
            "slope changes",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(a, b, how, said):
    with pytest.raises(DataError, match=said):
        bm.same(a, b, rng=0, **how)


def test_rounding_of_single_precision_is_no_difference_and_no_verdict_if_coarse():
    with pm.Model() as model:
        pm.Normal("mu", 0, 1)

    def single(v):
        return np.float32(-0.5 * v["mu"] ** 2 - 0.5 * np.log(2 * np.pi))

    assert bm.same(model, single, rng=0).outcome == "agree"
    far = bm.same(model, lambda v: single(v) + np.float32(1e6), rng=0)
    assert far.outcome == "inconclusive"
    assert "double precision" in far.sentences()[0]


def test_data_far_from_zero_are_no_verdict():
    def far(offset):
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 10)
            pm.Normal("y", mu + offset, 1, observed=np.full(200, 1e9) + offset)
        return model

    found = bm.same(far(0.0), far(1e9), rng=0)
    assert found.outcome == "inconclusive"
    assert "centre data" in found.sentences()[0]


def test_supports_are_compared():
    with pm.Model() as half:
        pm.HalfNormal("s")
    with pm.Model() as whole:
        pm.Normal("s")
        pm.Potential("two sides", pt.log(2.0))
    found = bm.same(half, whole, rng=0)
    assert found.outcome == "disagree"
    assert found.varies == np.inf
    assert found.terms == ("the prior of s",)


def test_what_was_compared_is_said():
    mu = normal(shape=7)
    found = bm.same(mu, lambda v: -0.5 * (v["mu"] ** 2).sum(), rng=0)
    assert found.findings == (
        "Of mu 6 of 7 elements were moved alone.",
        "What the function compares was not seen.",
    )
    low, high = found.visited["mu"]
    assert low < -5 < 5 < high
    assert found.sentences()[0].endswith(f"Compared was mu from {low:.2g} to {high:.2g}.")


@pytest.mark.slow
def test_a_difference_is_said_where_it_was_seen():
    found = bm.same(*(model() for model in PAIRS["upper 15"]), rng=0)
    assert found.terms == ("the prior of s",)
    assert found.findings[-1].startswith("At mu = ")
    assert "-inf" in found.findings[-1]


def labelled(*, flip=False):
    with pm.Model() as model:
        z = pm.Categorical("z", [0.3, 0.7], shape=4)
        mu = pm.Normal("mu", 0, 3, shape=2)
        pm.Normal("y", mu[1 - z] if flip else mu[z], 1, observed=Y[:4])
    return model


@pytest.mark.parametrize(("flip", "outcome"), [(False, "agree"), (True, "disagree")])
def test_mixtures_may_have_labels(flip, outcome):
    assert bm.same(labelled(), labelled(flip=flip), rng=0).outcome == outcome


def through(f, log_slope):
    """Return a model of mu, and one of a number on the line that leads to it."""
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mu", 0, 3), 1, observed=Y)
    with pm.Model() as mapped:
        z = pm.Flat("z")
        mu = pm.Deterministic("mu", f(z))
        pm.Potential("prior", pm.logp(pm.Normal.dist(0, 3), mu) + log_slope(z))
        pm.Normal("y", mu, 1, observed=Y)
    return model, mapped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "log_slope"),
    [
        (pt.exp, lambda z: z),
        (lambda z: 40 * pt.tanh(z), lambda z: pt.log(40 - 40 * pt.tanh(z) ** 2)),
    ],
)
def test_a_map_must_reach_everything(f, log_slope):
    found = bm.same(*through(f, log_slope), rng=0)
    assert found.outcome == "disagree"
    assert "in the other nothing leads to" in found.findings[0]


@pytest.mark.slow
def test_draws_are_compared_where_a_map_is_not_one_to_one():
    with pm.Model() as plane:
        pm.Normal("mu", shape=2)
    with pm.Model() as polar:
        z = pm.Normal("z", shape=2)
        pm.Deterministic("mu", pt.exp(z[0]) * pt.stack([pt.cos(z[1]), pt.sin(z[1])]))
    found = bm.same(plane, polar, rng=1)
    assert found.outcome == "disagree"
    assert "of z give one mu" in found.findings[0]


@pytest.mark.parametrize(
    ("constant", "words"),
    [
        (np.log(2), "log 2"),
        (-np.log(60), "-log 60"),
        (4 * np.log(2 * np.pi), "4 log 2π"),
        (-1.5 * np.log(np.pi), "-3/2 log π"),
        (1.25, "1.25"),
    ],
)
def test_a_constant_is_said_as_what_it_is(constant, words):
    assert constant_in_words(constant, 1e-12) == words


def test_the_second_minus_the_first_is_the_constant():
    with pm.Model() as model:
        pm.Normal("mu")
    with pm.Model() as more:
        pm.Normal("mu")
        pm.Potential("constant", pt.log(3.0))
    for pair, constant in (((model, more), np.log(3)), ((more, model), -np.log(3))):
        found = bm.same(*pair, rng=0)
        assert found.constant == pytest.approx(constant, abs=found.bound)


@pytest.mark.slow
def test_points_follow_the_seed():
    model, other = line()(), line(scale=2.0)()
    first, again, another = (bm.same(model, other, rng=seed).table for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(another)


def marginal(sd):
    """Return a model whose effects have been integrated out."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        pm.Normal("y", mu, sd, observed=[1.0, 2.0, 0.5, 1.5])
    return model


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "outcome"), [(np.sqrt(2), "agree"), (2.0, "disagree")])
def test_draws_are_compared_where_densities_cannot_be(sd, outcome):
    with pm.Model() as whole:
        mu = pm.Normal("mu", 0, 5)
        theta = pm.Normal("theta", mu, 1, shape=4)
        pm.Normal("y", theta, 1, observed=[1.0, 2.0, 0.5, 1.5])
    found = bm.same(whole, marginal(sd), rng=1)
    assert found.verdict.outcome == found.outcome == outcome
    assert found.sentences()[0].startswith("Draws were compared, not densities.")
    assert "one program has theta where the other has nothing" in found.findings[0]


def test_no_draws_of_a_function():
    with pytest.raises(DataError, match="one is a function"):
        bm.same(schools()(), lambda _: 0.0, rng=0, transform={"mu": lambda v: v["mu"]})
