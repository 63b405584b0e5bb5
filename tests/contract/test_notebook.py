"""Beliefs in a notebook: what every model shows, in the contract's table of cases."""

from html.parser import HTMLParser

import numpy as np
import pytest

import bayesmodels as bm
from bayesmodels.belief import notebook
from tests.contract.cases import FAMILIES
from tests.report.samples import HOSTILE


class Piece(HTMLParser):
    """Tags and text of a piece of HTML whose tags must balance."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        assert set(self.tags) <= PLAIN
        self.words = " ".join("".join(self.text).split())

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if "math" not in self.open:
            self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"class", "style"} or "math" in self.open

    def handle_startendtag(self, tag, attrs):
        assert "math" in self.open, (tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


PLAIN = {"div", "p", "ul", "li", "bdi", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.slow if number else ())
        for family in FAMILIES
        for number, case in enumerate(family)
    ],
    ids=lambda case: case.id.replace(" ", "-"),
)
def test_a_belief_shows_title_equations_and_summary(case):
    for belief in (case.prior, case.prior.update(case.data)):
        text = belief._repr_html_()
        piece = Piece(text)
        assert piece.words.startswith(belief.title)
        assert text.count("<math") == len(type(belief).equations)
        if "No summary" in piece.words:
            assert case.warm_up
            continue
        table = belief.summary()
        assert piece.tags.count("tr") == 1 + min(len(table), notebook.MOST_ROWS)
        assert all(name in piece.words for name in table.columns)
        assert " ".join(str(table.index[0]).split()) in piece.words
        left = len(table) - notebook.MOST_ROWS
        assert (f"{left:,} are not shown" in piece.words) == (left > 0)


def test_names_from_data_are_text():
    belief = bm.DirichletCategorical(np.arange(1.0, 9), categories=HOSTILE)
    text = belief._repr_html_()
    words = Piece(text).words
    assert "<script" not in text
    assert "<img" not in text
    for name in HOSTILE:
        assert " ".join(f"theta[{name}]".split()) in words


def test_numbers_are_those_of_the_summary():
    words = Piece(bm.BetaBernoulli(5, 19)._repr_html_()).words
    row = bm.BetaBernoulli(5, 19).summary().loc["theta"]
    assert all(f"{x:.4g}" in words for x in row)
    assert "−1" in Piece(bm.NormalInverseGamma(-1, 1, 3, 2)._repr_html_()).words


def test_very_many_numbers_are_counted_and_not_computed(monkeypatch):
    belief = bm.BetaBernoulli(np.ones(20_000), 1)
    monkeypatch.setattr(bm.BetaBernoulli, "marginals", None)
    words = Piece(belief._repr_html_()).words
    assert "20,000 numbers; summary() has them all." in words


def test_what_has_no_summary_says_why():
    assert "No summary: " in Piece(bm.LinearRegression.flat(2)._repr_html_()).words


def test_a_model_without_a_closed_form_and_its_approximation():
    X = np.random.default_rng(1).normal(size=(20, 2))
    prior = bm.LogisticRegression([0, 0], np.eye(2))
    after = prior.laplace((X, X[:, 0] > 0))
    for belief in (prior, after):
        assert Piece(belief._repr_html_()).words.startswith(belief.title)
    assert "Laplace approximation" in Piece(after._repr_html_()).words
