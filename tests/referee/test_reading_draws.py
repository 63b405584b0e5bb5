"""Draws are matched by the names of axes and by labels, or refused in words."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesmodels as bm

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))]
RNG = np.random.default_rng(1)
COLOURS = ["red"] * 5 + ["green"] * 12 + ["blue"] * 30
FRAME = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["age", "bmi", "pulse"])
BITS = pd.DataFrame(RNG.random((60, 2)) < [0.1, 0.7], columns=["fever", "cough"]).astype(int)
SICK = np.where(RNG.random(60) < 0.3, "yes", "no")

LAWS = {
    "categories": (
        bm.DirichletCategorical([1, 1, 1], ["red", "green", "blue"]).update(COLOURS),
        "theta",
    ),
    "columns": (
        bm.LinearRegression(np.zeros(3), np.eye(3), 3, 2).update((FRAME, FRAME @ [1, -1, 3])),
        "w",
    ),
    "classes and features": (
        bm.NaiveBayes(
            bm.DirichletCategorical([1, 1], ["no", "yes"]), bm.BetaBernoulli(1, 1)
        ).update((BITS, SICK)),
        "theta",
    ),
    "matrix": (
        bm.NormalInverseWishart(np.zeros(3), 1, 5, np.diag([1.0, 2, 5])).update(FRAME * [1, 2, 5]),
        "Sigma",
    ),
}
EACH = pytest.mark.parametrize(("law", "name"), LAWS.values(), ids=LAWS)


def draws_of(law, seed):
    return law.to_datatree(rng=np.random.default_rng(seed)).posterior.to_dataset()


def turned(x, name):
    return x[name].transpose(*reversed(x[name].dims))


def chains_last(x, name):
    return x[name].transpose(..., "draw", "chain")


def in_another_order(x, name):
    own = {axis: np.roll(np.arange(n), 1) for axis, n in x[name].sizes.items()}
    return x[name].isel({axis: at for axis, at in own.items() if axis not in ("chain", "draw")})


def labels_as_objects(x, name):
    own = {a: np.array(list(map(str, x[a].values)), dtype=object) for a in x[name].coords}
    return x[name].assign_coords({a: v for a, v in own.items() if a not in ("chain", "draw")})


def without_labels(x, name):
    return x[name].drop_vars([a for a in x[name].coords if a not in ("chain", "draw")])


def plain(x, name):
    return x[name].to_numpy()


RIGHT = [turned, chains_last, in_another_order, labels_as_objects, without_labels, plain]


@EACH
@pytest.mark.parametrize("change", RIGHT, ids=lambda change: change.__name__)
def test_right_draws_are_the_same_in_any_order(law, name, change):
    straight = draws_of(law, 2)
    verdict = bm.compare(law, straight)
    assert verdict.outcome == "agree"
    every = {str(n): straight[n] for n in straight.data_vars}
    changed = bm.compare(law, every | {name: change(straight, name)})
    assert [test.p for test in changed.tests] == [test.p for test in verdict.tests]
    pd.testing.assert_frame_equal(changed.table, verdict.table)


@EACH
@pytest.mark.parametrize("seed", SEEDS)
def test_labels_that_belong_elsewhere_make_draws_wrong(law, name, seed):
    x = draws_of(law, seed)
    axis = [a for a in x[name].dims if a not in ("chain", "draw")][-1]
    wrong = x[name].assign_coords({axis: np.roll(x[axis].values, 1)})
    every = {str(n): x[n] for n in x.data_vars if n != name}
    assert bm.compare(law, every | {name: wrong}).outcome == "disagree"
    # A row of a matrix is turned with its column: they have labels of their own.
    right = wrong.isel({axis: np.argsort(np.roll(np.arange(wrong.sizes[axis]), 1))})
    assert right[axis].values.tolist() == x[axis].values.tolist()


@EACH
def test_foreign_and_repeated_labels_are_refused(law, name):
    x = draws_of(law, 3)
    axis = [a for a in x[name].dims if a not in ("chain", "draw")][-1]
    labels = [*x[axis].values.tolist()]
    for other in (["else", *labels[1:]], [labels[1], *labels[1:]]):
        wrong = xr.Dataset({n: v.copy() for n, v in x.data_vars.items()}).drop_vars(axis)
        with pytest.raises(bm.DataError, match=f"draws: '.*along the axis '{axis}'"):
            bm.compare(law, wrong.assign_coords({axis: other}))


X = np.random.default_rng(4).beta(5, 19, (4, 1000))
REFUSED = {
    "masked": (np.ma.masked_greater(X, 0.4), "no masked values"),
    "complex": (X + 0j, "real numbers; got values of type complex128"),
    "text": (X.astype(str), "real numbers; got values of type <U"),
    "objects": (X.astype(object), "real numbers"),
    "dates": ((X * 1e9).astype("datetime64[s]"), "real numbers"),
    "None": (None, "real numbers; got NoneType"),
    "ragged": ([X[0], X[1, :9]], "chains of several shapes"),
    "one axis": (X[0], "the axes .chain, draw."),
    "one number": (0.3, "the axes .chain, draw."),
    "no draws": (X[:, :0], "at least 8 draws"),
    "no chains": (X[:0], "at least 2 chains"),
    "seven draws": (X[:, :7], "at least 8 draws"),
    "one chain": (X[:1], "at least 2 chains"),
    "turned": (X.T[:, :4], "Chains come first"),
    "NaN": (np.where(X > 0.4, np.nan, X), "not finite"),
    "no chain": (xr.DataArray(X, dims=("sample", "draw")), "the axes chain and draw"),
    "stacked": (
        xr.DataArray(X, dims=("chain", "draw")).stack(sample=("chain", "draw")),  # noqa: PD013
        "the axes chain and draw",
    ),
}


@pytest.mark.parametrize(("x", "words"), REFUSED.values(), ids=REFUSED)
def test_what_are_no_draws_is_refused_by_name(x, words):
    law, right = bm.BetaBernoulli(5, 19), {"theta": X}
    for first, second in ((law, {"theta": x}), (right, {"theta": x}), ({"theta": x}, right)):
        with pytest.raises(bm.DataError, match=f"draws: 'theta'.*{words}"):
            bm.compare(first, second)


@pytest.mark.parametrize("given", [None, 3, X, [X]])
def test_what_has_no_names_is_refused(given):
    with pytest.raises(bm.DataError, match="draws: must be draws as a DataTree"):
        bm.compare(bm.BetaBernoulli(5, 19), given)


def test_nothing_masked_is_no_mask():
    masked = np.ma.array(X)
    assert bm.compare(bm.BetaBernoulli(5, 19), {"theta": masked}).outcome == "agree"


def test_common_variables_are_compared_and_others_named():
    law = bm.NormalInverseGamma(0, 1, 3, 2)
    one, other = (draws_of(law, seed) for seed in (5, 6))
    verdict = bm.compare(one.assign(tau=1 / one.sigma2), other.assign(log=np.log(other.sigma2)))
    assert verdict.outcome == "agree"
    assert verdict.left_out == ("tau of the first set", "log of the second set")
    assert "Not compared: tau of the first set, log of the second set." in verdict.sentence()
    assert set(verdict.table.index) == {"mu", "sigma2"}


def test_values_of_names_are_read_as_numbers():
    prior = bm.ConceptLearning({"even": range(2, 101, 2), "all": range(1, 101)})
    law = prior.update([4, 6])
    tree = law.to_datatree(rng=np.random.default_rng(7))
    assert bm.compare(law, tree).outcome == "agree"
    turned_round = tree.posterior["h"].transpose("draw", "chain")
    assert bm.compare(law, {"h": turned_round}).outcome == "agree"
