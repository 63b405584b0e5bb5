"""Draws are matched by the names of axes and by labels, or refused in words."""

from datetime import date
from functools import cache

import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr

import bayesmodels as bm

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
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


@cache
def in_order(of):
    """Return draws of a law, and what the referee says of them as they come."""
    law, _ = LAWS[of]
    straight = draws_of(law, 2)
    return straight, bm.compare(law, straight)


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


@pytest.mark.parametrize(
    "of", [pytest.param(of, marks=pytest.mark.slow if of == "matrix" else ()) for of in LAWS]
)
@pytest.mark.parametrize("change", RIGHT, ids=lambda change: change.__name__)
def test_right_draws_are_the_same_in_any_order(of, change):
    law, name = LAWS[of]
    straight, verdict = in_order(of)
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


DAYS = [date(2020, 1, day) for day in (1, 2, 3)]
STAMPS = np.array(DAYS, "datetime64[ns]")
NAMED, COUNTED = ["red", "green", "blue"], [0, 1, 2]
FOREIGN = "along the axis"
LABELS = {  # of the law; of draws, along which axis; whether by labels, by places, or refused
    "another axis": (NAMED, NAMED, "k", "labels"),
    "another axis, foreign": (NAMED, ["a", "b", "c"], "k", FOREIGN),
    "counted by a library": (NAMED, COUNTED, "arm", "places"),
    "counted from one": (NAMED, [1, 2, 3], "arm", FOREIGN),
    "a law without names": (COUNTED, NAMED, "arm", "places"),
    "numbers in another order": ([2, 0, 1], COUNTED, "arm", "labels"),
    "numbers as text": (["1", "2", "3"], [1, 2, 3], "arm", "labels"),
    "whole floats": ([5, 6, 7], [5.0, 6.0, 7.0], "arm", "labels"),
    "other numbers": (COUNTED, [1, 2, 3], "arm", FOREIGN),
    "numbers of rows": (COUNTED, [5, 9, 12], "row", "places"),
    "numbers twice": (COUNTED, [0, 0, 1], "arm", FOREIGN),
    "dates": (DAYS, STAMPS, "arm", "labels"),
    "other dates": (DAYS, STAMPS + np.timedelta64(1, "D"), "arm", FOREIGN),
}


@pytest.mark.parametrize(("own", "given", "axis", "how"), LABELS.values(), ids=LABELS)
def test_labels_say_which_scalar_is_meant_unless_a_library_counted(own, given, axis, how):
    law = bm.BetaBernoulli([3, 12, 30], [30, 12, 3], coords={"arm": own})
    x = law.sample(4000, np.random.default_rng(8))["theta"].reshape(4, 1000, 3)
    text = [str(label)[:10].removesuffix(".0") for label in given]
    places = [text.index(str(label)) for label in own] if how == "labels" else [0, 1, 2]
    moved = np.empty_like(x)
    moved[..., places] = x
    draws = xr.DataArray(moved, dims=("chain", "draw", axis), coords={axis: given})
    if how == FOREIGN:
        with pytest.raises(bm.DataError, match=f"draws: 'theta' .* {FOREIGN} '{axis}'"):
            bm.compare(law, {"theta": draws})
    else:
        straight, verdict = (bm.compare(law, {"theta": each}) for each in (x, draws))
        assert straight.outcome == "agree"
        pd.testing.assert_frame_equal(verdict.table, straight.table)
        known = how == "labels" or given == COUNTED
        turned_round = {"theta": draws.isel({axis: [2, 0, 1]})}
        assert bm.compare(law, turned_round).outcome == ("agree" if known else "disagree")


def test_axes_that_arviz_numbered_are_in_the_order_of_their_numbers():
    law, name = LAWS["classes and features"]
    x = draws_of(law, 9)
    axes = {a: f"theta_dim_{i}" for i, a in enumerate(law.dims[name])}
    numbered = x[name].drop_vars(list(axes)).rename(axes).transpose("theta_dim_1", "chain", ...)
    verdict = bm.compare(law, {"pi": x["pi"], name: numbered})
    pd.testing.assert_frame_equal(verdict.table, bm.compare(law, x).table)


def test_chains_and_draws_of_all_variables_are_the_same():
    law = bm.NormalInverseGamma(0, 1, 3, 2)
    x = draws_of(law, 10)
    turned_round = x["mu"].isel(chain=[2, 0, 3, 1], draw=slice(None, None, -1))
    verdict = bm.compare(law, {"sigma2": x["sigma2"], "mu": turned_round})
    pd.testing.assert_frame_equal(verdict.table, bm.compare(law, x).table)
    with pytest.raises(bm.DataError, match=r"must have as many draws as the other .*4, 1000"):
        bm.compare(law, {"sigma2": x["sigma2"].values[:, :500], "mu": x["mu"].values})
    chains = {"sigma2": [1, 2, 3, 4], "mu": [4, 5, 6, 7]}
    with pytest.raises(bm.DataError, match=r"must have the labels .* along the axis 'chain'"):
        bm.compare(law, {n: x[n].assign_coords(chain=labels) for n, labels in chains.items()})


def mixed():
    model = bm.NaiveBayesMixture(bm.DirichletCategorical([3, 1]), bm.BetaBernoulli(1, 1))
    return model.update(BITS.iloc[:8]), BITS.iloc[:8]


def of_invariants(law, draws):
    return pd.DataFrame(
        {"log_density": law.label_invariants(draws, mixed()[1])["log_density"].ravel()}
    )


def of_order(law, draws):
    return bm.relabel(law, draws, mixed()[1]).table


READERS = [
    (mixed()[0], of_invariants),
    (mixed()[0], of_order),
]


@pytest.mark.parametrize(("law", "reader"), READERS, ids=lambda x: getattr(x, "__name__", ""))
def test_whoever_reads_draws_goes_by_labels(law, reader):
    x = draws_of(law, 11)
    own = [axis for axis in x.dims if axis not in ("chain", "draw")]
    other = x.isel({axis: np.roll(np.arange(x.sizes[axis]), 1) for axis in own}).transpose()
    pd.testing.assert_frame_equal(reader(law, other), reader(law, x))


def test_bridge_sampling_goes_by_labels():
    with pm.Model(coords={"arm": ["a", "b"]}) as model:
        rate = pm.Gamma("rate", [2.0, 90.0], 1.0, dims="arm")
        pm.Poisson("visits", rate, observed=[3, 80], dims="arm")
    x = bm.sample(model, rng=1).posterior.to_dataset()
    found, other = (bm.bridge_sampling(model, d, rng=2) for d in (x, x.isel(arm=[1, 0])))
    assert found == other
    with pytest.raises(bm.DataError, match="draws: 'rate' must have the labels 'a', 'b'"):
        bm.bridge_sampling(model, x.assign_coords(arm=["a", "c"]))


X = np.random.default_rng(4).beta(5, 19, (4, 1000))
REFUSED = {
    "masked": (np.ma.masked_greater(X, 0.4), "no masked values"),
    "masked chains": ([np.ma.masked_greater(chain, 0.4) for chain in X], "no masked values"),
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
    assert "Not compared: tau of the first set, log of the second set." in verdict.sentences()[0]
    assert set(verdict.table.index) == {"mu", "sigma2"}


def test_values_of_names_are_read_as_numbers():
    prior = bm.ConceptLearning({"even": range(2, 101, 2), "all": range(1, 101)})
    law = prior.update([4, 6])
    tree = law.to_datatree(rng=np.random.default_rng(7))
    assert bm.compare(law, tree).outcome == "agree"
    turned_round = tree.posterior["h"].transpose("draw", "chain")
    assert bm.compare(law, {"h": turned_round}).outcome == "agree"
