"""Statistics as files: what comes back is the same, and what is no statistic is refused by name."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest

import bayesmodels as bm
from bayesmodels.store.forms import kinds

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(size=30)
LABEL = RNG.choice(["a", "b"], 30)
STATISTICS = {
    "coin": bm.statistics.BernoulliStatistic(3, 17),
    "coins": bm.BetaBernoulli(1, 1).statistic(bm.Grouped([1, 0, 1], by=["x", "y", "y"])),
    "counts": bm.DirichletCategorical([1, 1, 1], ["a", "b", "c"]).statistic(["a", "c", "c"]),
    "events": bm.GammaPoisson(1, 1).statistic(bm.Counts([3, 0, 5], [1, 0.5, 2])),
    "normal": bm.NormalInverseGamma(0, 1, 1, 1).statistic(Y + 1e8),
    "vector": bm.NormalInverseWishart([0, 0], 1, 3, np.eye(2)).statistic(X),
    "line": bm.LinearRegression.flat(["x", "z"]).statistic(
        (pd.DataFrame(X, columns=["x", "z"]), Y)
    ),
    "bayes": bm.NaiveBayes(
        bm.DirichletCategorical([1, 1], ["a", "b"]), bm.NormalInverseGamma(0, 1, 1, 1)
    ).statistic((X, LABEL)),
    "shared": bm.GaussianDiscriminant(
        bm.DirichletCategorical([1, 1], ["a", "b"]),
        bm.NormalInverseWishart([0, 0], 1, 3, np.eye(2)),
        covariance="shared",
    ).statistic((X, LABEL)),
    "concept": bm.statistics.HypothesisStatistic([-1.5, -np.inf], ["even", "odd"]),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_every_kind_comes_back_bit_by_bit(name, tmp_path):
    path = tmp_path / "s.json"
    bm.save(STATISTICS[name], path)
    assert bm.load(path) == STATISTICS[name]


def test_no_kind_is_left_out():
    found = {type(part).__name__ for s in STATISTICS.values() for part in [s, *_parts(s)]}
    assert found == set(kinds("statistic"))


def _parts(statistic):
    return getattr(statistic, "features", {}).values() if hasattr(statistic, "classes") else ()


@pytest.mark.parametrize(
    "label",
    [
        "été\n<b>", 3, 2.5, True, None, ("a", (1, 2)), dt.date(2026, 1, 31),
        pd.Timestamp("2026-01-31 12:00"), np.datetime64("2026-01-31T12", "ns"),
        dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
    ],
)  # fmt: skip
def test_labels_keep_their_type(label, tmp_path):
    before = bm.statistics.BernoulliStatistic([1, 2], [3, 4], coords={"arm": [label, "other"]})
    bm.save(before, tmp_path / "s.json")
    after = bm.load(tmp_path / "s.json")
    assert after == before
    assert type(after.coords["arm"][0]) is type(label)


def test_what_has_no_form_is_refused(tmp_path):
    odd = bm.statistics.BernoulliStatistic([1], [3], coords={"arm": [frozenset("a")]})
    with pytest.raises(bm.DataError, match="labels must be text"):
        bm.save(odd, tmp_path / "s.json")
    with pytest.raises(bm.DataError, match="has no form as a file"):
        bm.save(STATISTICS, tmp_path / "s.json")
    with pytest.raises(bm.DataError, match=r"must end in \.json; got .*Save it as '.*s\.json'"):
        bm.save(STATISTICS["coin"], tmp_path / "s.npz")
    assert not list(tmp_path.iterdir())


def _changed(path, change):
    header = json.loads(path.read_text())
    change(header)
    path.write_text(json.dumps(header))


def _resigned(header):
    from bayesmodels.store.documents import _checksum

    header["sha256"] = _checksum(header["statistic"])


FAULTS = {
    "another format": (
        lambda h: h.update(format="other"),
        "is no bayesmodels belief, bayesmodels statistic",
    ),
    "a newer schema": (lambda h: h.update(schema=2), "schema 2.*update bayesmodels"),
    "no schema": (lambda h: h.pop("schema"), "schema must be a whole number"),
    "true as schema": (lambda h: h.update(schema=True), "schema must be a whole number"),
    "no checksum": (lambda h: h.pop("sha256"), "must have the entries"),
    "another number": (
        lambda h: h["statistic"]["fields"]["ones"].update(values=[4.0]),
        "does not fit its checksum",
    ),
}
HOSTILE = {
    "a negative count": (
        lambda f: f["fields"]["ones"].update(values=[-1.0]), "ones",
    ),
    "NaN": (lambda f: f["fields"]["ones"].update(values=["nan"]), "ones"),
    "another word": (lambda f: f["fields"]["ones"].update(values=["os.system"]), "is no array"),
    "another shape": (lambda f: f["fields"]["ones"].update(shape=[3]), "cannot have 1 numbers"),
    "a class of Python": (lambda f: f.update(kind="os.system"), "its kind must be one of"),
    "another field": (lambda f: f["fields"].update(more=1), "must have the fields"),
    "no fields": (lambda f: f.update(fields=[]), "must have the fields"),
    "text for numbers": (lambda f: f["fields"].update(ones="many"), "ones is no array"),
    "labels that don't fit": (
        lambda f: f["fields"].update(coords=[["arm", ["a", "b"]]]), "coords",
    ),
    "labels that are none": (lambda f: f["fields"].update(coords=[[1], 2]), "pairs of an axis"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_foreign_or_changed_file_is_refused_by_name(fault, tmp_path):
    change, words = FAULTS[fault]
    path = tmp_path / "s.json"
    bm.save(STATISTICS["coin"], path)
    _changed(path, change)
    with pytest.raises(bm.DataError, match=rf"s\.json.*{words}"):
        bm.load(path)


@pytest.mark.parametrize("fault", HOSTILE)
def test_what_no_data_have_is_refused_even_with_a_fitting_checksum(fault, tmp_path):
    change, words = HOSTILE[fault]
    path = tmp_path / "s.json"
    bm.save(STATISTICS["coin"], path)

    def both(header):
        change(header["statistic"])
        _resigned(header)

    _changed(path, both)
    with pytest.raises(bm.DataError, match=rf"s\.json.*{words}"):
        bm.load(path)


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "s.json"
    bm.save(STATISTICS["vector"], path)
    whole = path.read_bytes()
    for size in np.linspace(0, len(whole) - 2, 40).astype(int):
        path.write_bytes(whole[:size])
        with pytest.raises(bm.DataError, match=r"s\."):
            bm.load(path)


def test_an_archive_is_refused_and_not_opened():
    with pytest.raises(bm.DataError, match=r"must end in \.json; got .*Save it as 's\.json'"):
        bm.load("s.npz")


def test_a_file_that_is_not_there():
    with pytest.raises(bm.DataError, match="no such file"):
        bm.load("nowhere.json")


OLD = (
    '{"format":"bayesmodels statistic","schema":1,"sha256":"%s","statistic":{"fields":{"coords":[],'
    '"counts":{"shape":[2],"values":[9.0,1.0]},"log_given_total":{"shape":[],"values":[0.0]}},'
    '"kind":"CategoricalStatistic"}}'
)


def test_a_file_without_labels_is_read_and_meets_no_labels(tmp_path):
    """Files of 0.2.0 did not say which categories: their places are numbers 0 to K - 1."""
    path = tmp_path / "s.json"
    path.write_text(OLD % ("0" * 64))
    header = json.loads(path.read_text())
    _resigned(header)
    path.write_text(json.dumps(header))
    old = bm.load(path)
    assert bm.DirichletCategorical([1, 1]).update(old).alpha.tolist() == [10, 2]
    named = bm.DirichletCategorical([1, 1], ["b", "a"])
    with pytest.raises(bm.DataError, match=r"\('b', 'a'\) and \(0, 1\).*coords=\{\"category\": \["):
        named.update(old)
    told = bm.statistics.CategoricalStatistic(
        old.counts, old.log_given_total, {"category": ["b", "a"]}
    )
    assert named.update(told).alpha.tolist() == [10, 2]
