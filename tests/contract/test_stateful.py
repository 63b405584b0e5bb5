"""Statistics in any order of verbs: merged, taken apart, saved and loaded, they are their rows'."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule

import bayesmodels as bm

ROWS = 24
RNG = np.random.default_rng(11)
BITS, WORDS = RNG.integers(0, 2, ROWS), RNG.choice(["a", "b", "c"], ROWS)
X = RNG.normal(size=(ROWS, 2)) * [1, 1e3] + [1e4, 0]
Y = X @ [1.0, 0.01] + RNG.normal(size=ROWS)
LABELS = RNG.choice(["u", "v"], ROWS)
FRAME = pd.DataFrame({"bit": BITS, "word": WORDS, "size": X[:, 0]})

CLASSES = bm.DirichletCategorical([1, 2], categories=["u", "v"])
KINDS = {
    "Beta–Bernoulli": (bm.BetaBernoulli(0.5, 2), lambda i: BITS[i]),
    "Dirichlet": (bm.DirichletCategorical([1, 2, 3], ["a", "b", "c"]), lambda i: WORDS[i]),
    "normal–inverse-gamma": (bm.NormalInverseGamma(9e3, 0.5, 2, 1), lambda i: X[i, 0]),
    "normal–inverse-Wishart": (bm.NormalInverseWishart([9e3, 1], 1, 4, np.eye(2)), lambda i: X[i]),
    "regression": (bm.LinearRegression(0, 0.5 * np.eye(2), 2, 1), lambda i: (X[i], Y[i])),
    "naive Bayes": (
        bm.NaiveBayes(
            CLASSES,
            {
                "bit": bm.BetaBernoulli(1, 1),
                "word": bm.DirichletCategorical([1, 1, 1], categories=["a", "b", "c"]),
                "size": bm.NormalInverseGamma(9e3, 0.5, 2, 1),
            },
        ),
        lambda i: (FRAME.iloc[i], LABELS[i]),
    ),
}  # fmt: skip


def close(one, other, size):
    """Compare what beliefs are made of; sums of other roundings differ by a few of them."""
    for name, value in one.parameters().items():
        np.testing.assert_allclose(value, other.parameters()[name], rtol=1e-7, atol=1e-7 * size)


def parts(statistic):
    """Return a statistic's own arrays, and those of its parts."""
    inner = getattr(statistic, "features", None)
    inner = inner if isinstance(inner, dict) else {}
    return [statistic, *inner.values()]


class Beliefs(RuleBasedStateMachine):
    """Statistics with the sets of rows that they should be about."""

    kind = ""
    held = Bundle("held")

    def __init__(self):
        super().__init__()
        self.prior, self.take = KINDS[self.kind]

    @initialize(target=held)
    def nothing(self):
        return self.prior.statistic(self.take(np.arange(1))).without_rows(), frozenset()

    @rule(target=held, rows=st.sets(st.integers(0, ROWS - 1), max_size=8))
    def read(self, rows):
        return self.of(rows), frozenset(rows)

    @rule(target=held, one=held, other=held)
    def merge(self, one, other):
        if one[1] & other[1]:  # not disjoint
            return one
        return one[0] + other[0], one[1] | other[1]

    @rule(target=held, one=held, other=held)
    def take_out(self, one, other):
        if not other[1] <= one[1]:
            return one
        return one[0] - other[0], one[1] - other[1]

    @rule(target=held, one=consumes(held))
    def save_and_load(self, one):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.json"
            bm.save(one[0], path)
            again = bm.load(path)
        assert again == one[0]
        return again, one[1]

    @rule(one=held)
    def is_the_statistic_of_its_rows(self, one):
        statistic, rows = one
        whole = self.of(rows)
        for own, wanted in zip(parts(statistic), parts(whole), strict=True):
            for name in ("n", "ones", "zeros", "counts"):
                if hasattr(own, name):
                    np.testing.assert_array_equal(getattr(own, name), getattr(wanted, name))
        for own, wanted in zip(self.beliefs(statistic), self.beliefs(whole), strict=True):
            close(own, wanted, 1.0)

    @rule(one=held, other=held)
    def keeps_the_chain_rule(self, one, other):
        if one[1] & other[1]:
            return
        first = np.sum(self.prior.log_evidence(one[0]))
        second = np.sum(self.prior.update(one[0]).log_evidence(other[0]))
        both = np.sum(self.prior.log_evidence(one[0] + other[0]))
        assert abs(first + second - both) < 1e-7 * (1 + abs(first) + abs(second))

    @rule(one=held, other=held)
    def updates_in_any_order(self, one, other):
        if one[1] & other[1]:
            return
        after = self.prior.update(one[0]).update(other[0])
        before = self.prior.update(other[0]).update(one[0])
        merged = self.prior.update(one[0] + other[0])
        for own, wanted in zip(self.parts_of(after), self.parts_of(merged), strict=True):
            close(own, wanted, 1.0)
        for own, wanted in zip(self.parts_of(before), self.parts_of(merged), strict=True):
            close(own, wanted, 1.0)

    def of(self, rows):
        if not rows:
            return self.nothing_of()
        return self.prior.statistic(self.take(np.array(sorted(rows))))

    def nothing_of(self):
        return self.prior.statistic(self.take(np.arange(1))).without_rows()

    def beliefs(self, statistic):
        return self.parts_of(self.prior.update(statistic))

    @staticmethod
    def parts_of(belief):
        return [part for part, _ in belief.parts()] if hasattr(belief, "parts") else [belief]


def run(kind, examples=20, **others):
    machine = type("Beliefs", (Beliefs,), {"kind": kind})
    machine.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=20, report_multiple_bugs=False, **others
    )
    machine.TestCase("runTest").runTest()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_verbs(kind):
    run(kind)


@pytest.mark.slow
def test_a_merge_that_forgets_the_distance_of_the_means_is_found(monkeypatch):
    def added(self, other):
        n = self.n + other.n
        mean = (self.n * self.mean + other.n * other.mean) / max(n, 1)
        return bm.statistics.NormalStatistic(n, mean, self.scatter + other.scatter)

    monkeypatch.setattr(bm.statistics.NormalStatistic, "__add__", added)
    with pytest.raises((AssertionError, ExceptionGroup)):
        run("normal–inverse-gamma", phases=[Phase.generate])  # whichever example it is


@pytest.mark.slow
def test_a_difference_that_takes_out_too_little_is_found(monkeypatch):
    monkeypatch.setattr(bm.statistics.BernoulliStatistic, "__sub__", lambda self, _: self)
    with pytest.raises((AssertionError, ExceptionGroup)):
        run("Beta–Bernoulli", examples=200, phases=[Phase.generate])
