"""Files that somebody wrote to do harm: each is an error that names it, soon and in little memory.

Checksums are right throughout, since whoever writes a file can write a fitting checksum.
"""

import copy
import json
import tracemalloc

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.store import dumps, loads
from bayesmodels.store.documents import _checksum
from tests.contract.cases import CASES

MOST_MEMORY = 50_000_000  # bytes; the files are at most 3 MB
SORTS = ("statistic", "belief", "verdict")


def _case(words):
    return next(case for case in CASES if words in case.id)


def _after(words):
    case = _case(words)
    return case.prior.update(case.data)


LAW = bm.BetaBernoulli(5, 19)
GOOD = {
    "coin": lambda: LAW,
    "counts": lambda: bm.DirichletCategorical([1, 2], ["a", "b"]),
    "vector": lambda: _after("vectors far"),
    "line": lambda: _after("regression with a full prior"),
    "line's rows": lambda: _case("regression with a full prior").prior.statistic(
        _case("regression with a full prior").data
    ),
    "vector's rows": lambda: _case("vectors far").prior.statistic(_case("vectors far").data),
    "logistic": lambda: bm.LogisticRegression([0, 1], 25),
    "laplace": lambda: bm.LogisticRegression([0, 1], 25).laplace(
        (np.arange(8.0).reshape(4, 2), [0, 1, 1, 0])
    ),
    "concept": lambda: _after("negative examples"),
    "bayes": lambda: _after("naive Bayes of mixed"),
    "bayes' rows": lambda: _case("naive Bayes of bits").prior.statistic(
        _case("naive Bayes of bits").data
    ),
    "shared": lambda: _after("discriminant with one covariance"),
    "mixture": lambda: _after("a mixture of bits"),
    "verdict": lambda: bm.compare(LAW, LAW.to_datatree(rng=np.random.default_rng(1))),
}


@pytest.fixture(scope="module", name="good")
def _good():
    return {name: dumps(make()) for name, make in GOOD.items()}


def put(*path, value):
    """Return a change of the entry at a path."""

    def change(entries):
        for step in path[:-1]:
            entries = entries[step]
        entries[path[-1]] = value

    return change


def scalar(*values):
    return {"shape": [], "values": list(values)}


def flat(*values, shape=None):
    return {"shape": [len(values)] if shape is None else shape, "values": list(values)}


def nested(depth):
    label = "x"
    for _ in range(depth):
        label = {"tuple": [label]}
    return label


F = "fields"
CHANGES = {
    # types and words
    "a list for a number": ("coin", put(F, "alpha", value=scalar([1.0]))),
    "true for a number": ("coin", put(F, "alpha", value=scalar(*[True]))),
    "null for a number": ("coin", put(F, "alpha", value=scalar(None))),
    "null for an array": ("coin", put(F, "alpha", value=None)),
    "text for a number": ("coin", put(F, "alpha", value=scalar("__import__('os')"))),
    "nan": ("coin", put(F, "alpha", value=scalar("nan"))),
    "inf": ("coin", put(F, "alpha", value=scalar("inf"))),
    "a number beyond doubles": ("coin", put(F, "alpha", value=scalar(10**400))),
    "zero": ("coin", put(F, "alpha", value=scalar(0.0))),
    "nan in a factor": ("line", put(F, "factor", "values", 0, value="nan")),
    "nan in a mean": ("line's rows", put(F, "mean", "values", 0, value="nan")),
    "nan in a scatter": ("vector's rows", put(F, "scatter", "values", 0, value="nan")),
    "all weights -inf": ("concept", put(F, "log_weights", value=flat(*["-inf"] * 4))),
    "nan in weights": ("concept", put(F, "log_weights", "values", 0, value="nan")),
    "a list of labels that is none": ("coin", put(F, "coords", value={"a": 1})),
    "a list for a label": ("counts", put(F, "categories", value={"tuple": [["a"], "b"]})),
    "infinity as label": ("counts", put(F, "categories", value={"tuple": [10**400, "b"]})),
    "labels twice": ("counts", put(F, "categories", value={"tuple": ["a", "a"]})),
    "text for labels": ("counts", put(F, "categories", value="ab")),
    "an axis twice": ("coin", put(F, "coords", value=[["a", []], ["a", []]])),
    "no time": (
        "counts", put(F, "categories", value={"tuple": [{"time": "soon", "kind": "date"}, "b"]}),
    ),
    "a time of another class": (
        "counts", put(F, "categories", value={"tuple": [{"time": "x", "kind": "eval"}, "b"]}),
    ),
    # classes
    "a class of Python": ("coin", put("kind", value="os.system")),
    "a dunder for a kind": ("coin", put("kind", value="__class__")),
    "a list for a kind": ("coin", put("kind", value=["BetaBernoulli"])),
    "a dunder among the fields": ("coin", put(F, "__class__", value="os.system")),
    "a reducer beside the kind": ("coin", put("py/reduce", value=["os.system", "true"])),
    "a part where a belief should be": (
        "coin", lambda e: e.update(kind="Block", fields={"belief": copy.deepcopy(e)}),
    ),
    "a statistic as a belief": ("coin", put("kind", value="BernoulliStatistic")),
    "classes of another kind": (
        "bayes", put(F, "classes", "kind", value="BetaBernoulli"),
    ),
    "a block of a classifier": (
        "bayes", lambda e: put(F, "blocks", "parts", 0, 1, F, "belief", value=copy.deepcopy(e))(e),
    ),
    "a block twice": (
        "bayes", lambda e: e[F]["blocks"]["parts"].append(e[F]["blocks"]["parts"][0]),
    ),
    "no blocks": ("bayes", put(F, "blocks", "parts", value=[])),
    "counts of no counts": (
        "bayes", put(F, "blocks", "parts", 0, 1, F, "counted", value=True),
    ),
    "classes of other labels": (
        "bayes", put(F, "classes", F, "categories", value={"tuple": ["no", "yes"]}),
    ),
    "labels for parts": ("bayes' rows", put(F, "features", value=[["a", ["b"]]])),
    "a part with other classes": (
        "bayes' rows",
        put(F, "classes", value={
            "kind": "CategoricalStatistic",
            "fields": {"counts": flat(1.0, 2.0, 3.0), "log_given_total": scalar(0.0), "coords": []},
        }),
    ),
    "a covariance of another kind": ("shared", put(F, "covariance", value="full")),
    "a covariance of no kind": ("shared", put(F, "covariance", value="__class__")),
    "a ratio of a shared covariance": (
        "shared", put(F, "gaussian", F, "ratio", value=flat(1.0, 3.0)),
    ),
    "terms without parts": ("mixture", put(F, "terms", F, "parts", "parts", value=[])),
    "a negative count of a term": (
        "mixture", put(F, "terms", F, "counts", "values", 0, value=-1.0),
    ),
    "one multiplicity for all": ("mixture", put(F, "terms", F, "log_multiplicity", value=flat(0))),
    "no budget": ("mixture", put(F, "budget", value=0)),
    # shapes and domains
    "a shape beyond memory": ("coin", put(F, "alpha", "shape", value=[10**12])),
    "a shape of nothing, times 10^12": (
        "counts", put(F, "alpha", value=flat(shape=[0, 10**12])),
    ),
    "a negative shape": ("coin", put(F, "alpha", "shape", value=[-1, -1])),
    "a fractional shape": ("coin", put(F, "alpha", "shape", value=[1.0])),
    "text as shape": ("coin", put(F, "alpha", "shape", value="")),
    "too many axes": ("coin", put(F, "alpha", "shape", value=[1] * 100)),
    "an outer product of 10^10": (
        "coin",
        lambda e: e[F].update(
            alpha=flat(*[1.0] * 10**5), beta=flat(*[1.0] * 10**5, shape=[10**5, 1])
        ),
    ),
    "a covariance of one number, of 10^5 weights": (
        "logistic", lambda e: e[F].update(location=flat(*[0.0] * 10**5), cov=scalar(1.0)),
    ),
    "10^5 labels, two alike": (
        "counts",
        lambda e: e[F].update(
            alpha=flat(*[1.0] * 10**5),
            categories={"tuple": [*range(10**5 - 1), "99998"]},
        ),
    ),
    "a factor that is no triangle": ("line", put(F, "factor", "values", 3, value=1.0)),
    "a factor of another width": ("line", put(F, "factor", value=flat(*[1.0] * 6, shape=[2, 3]))),
    "a factor without axes": ("line", put(F, "factor", value=scalar(1.0))),
    "a negative diagonal": ("line's rows", put(F, "factor", "values", 0, value=-1.0)),
    "no number of rows": ("line's rows", put(F, "n", value="many")),
    "a negative number of rows": ("line's rows", put(F, "n", value=-1)),
    "a scatter of no rows": ("vector's rows", put(F, "scatter", "values", 0, value=-1.0)),
    "a scatter that is not symmetric": ("vector's rows", put(F, "scatter", "values", 1, value=9e9)),
    "a scale that is not positive": ("vector", put(F, "scale", "values", 0, value=-1.0)),
    "too few degrees of freedom": ("vector", put(F, "df", value=scalar(0.5))),
    "names of other columns": ("vector", put(F, "features", value={"tuple": ["a", "b", "c"]})),
    "weights and covariances apart": ("logistic", put(F, "cov", value=flat(1.0, shape=[1, 1]))),
    "one class": ("logistic", put(F, "classes", value={"tuple": ["a"]})),
    "a flat approximation": ("laplace", put(F, "factor", "values", 0, value=0.0)),
    "an approximation of other classes": (
        "laplace", put(F, "classes", value={"tuple": ["a", "b", "c"]}),
    ),
    "an evidence of nan": ("laplace", put(F, "approximate_log_evidence", value="nan")),
    "probabilities beyond one": ("concept", put(F, "log_table", "values", 0, value=5.0)),
    "items that are no outcomes": ("concept", put(F, "items", value={"tuple": ["a", "b"]})),
    # verdicts
    "another outcome": ("verdict", put(F, "outcome", value="<script>")),
    "no tests": ("verdict", put(F, "tests", value=[])),
    "a probability of two": ("verdict", put(F, "tests", 0, F, "p", value=2)),
    "another test": ("verdict", put(F, "tests", 0, F, "kind", value="luck")),
    "a chain of text": ("verdict", put(F, "tests", 0, F, "chain", value="1")),
    "a level of nan": ("verdict", put(F, "level", value="nan")),
    "findings of an agreement": ("verdict", put(F, "findings", value=["all is lost"])),
    "a table without rows": ("verdict", put(F, "table", "index", value=[])),
    "a table that is none": ("verdict", put(F, "table", value=[])),
    # depth
    "labels in labels, 500 deep": ("counts", put(F, "other", value=nested(500))),
}  # fmt: skip


def signed(header):
    sort = next(sort for sort in SORTS if sort in header)
    header["sha256"] = _checksum(header[sort])
    return json.dumps(header)


@pytest.fixture(name="refused")
def _refused(tmp_path):
    def refused(content):
        path = tmp_path / "hostile.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        tracemalloc.start()
        try:
            with pytest.raises(bm.DataError) as caught:
                bm.load(path)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert str(caught.value).startswith(str(path))
        assert len(str(caught.value)) < len(str(path)) + 1500
        assert most < MOST_MEMORY

    return refused


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_file_with_a_fitting_checksum_is_refused(what, good, refused):
    of, change = CHANGES[what]
    header = json.loads(good[of])
    change(header[next(sort for sort in SORTS if sort in header)])
    refused(signed(header))


TEXTS = {
    "nothing": "",
    "a list": "[]",
    "null": "null",
    "a number of 10^5 digits": "1" * 10**5,
    "100,000 lists": "[" * 10**5,
    "100,000 objects": '{"a":' * 10**5,
    "half a character": '{"format": "\\ud800"}',
    "no UTF-8": b'{"format": "\xff"}',
    "UTF-16": '{"format": "bayesmodels belief"}'.encode("utf-16"),
    "a pickle": b"cos\nsystem\n(S'true'\ntR.",
    "an archive": b"PK\x03\x04",
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_no_json_of_this_package_is_refused(what, refused):
    refused(TEXTS[what])


EDITS = {
    "something behind it": lambda text: text + "{}",
    "something before it": lambda text: "x" + text,
    "a mark of byte order": lambda text: "\ufeff" + text,
    "a key twice": lambda text: text.replace('"schema":1', '"schema":1,"schema":1'),
    "the belief twice": lambda text: text[:-1] + "," + text[text.index('"belief":') :],
    "NaN": lambda text: text.replace("5.0", "NaN"),
    "Infinity": lambda text: text.replace("5.0", "Infinity"),
    "1e999": lambda text: text.replace("5.0", "1e999"),
    "a further entry": lambda text: text.replace('"schema":1', '"schema":1,"__class__":"x"'),
    "a schema of 10^4000": lambda text: text.replace('"schema":1', '"schema":1' + "0" * 4000),
    "a format that is a list": lambda text: text.replace('"bayesmodels belief"', "[]"),
}


@pytest.mark.parametrize("what", EDITS)
def test_text_that_was_edited_is_refused(what, good, refused):
    text = EDITS[what](good["coin"])
    assert text != good["coin"]
    refused(text)


def test_nothing_was_done_to_the_good_files(good):
    for text in good.values():
        assert dumps(loads(text)) == text
