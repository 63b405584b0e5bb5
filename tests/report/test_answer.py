"""What the data said: the first paragraph of a report."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import bayesmodels as bm
from bayesmodels.report import answer
from bayesmodels.report.html import styled
from tests.report.samples import KINDS, SAMPLES, report


def told(name):
    return " ".join(KINDS[name]().answer)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("coin", "With 89 % intervals: probability 0.549 (0.470 to 0.627)."),
        ("aspirin", "Probability by group, the largest first (89 % intervals): placebo 0.0172"),
        ("party", "Probability, the largest first (89 % intervals): Strong Democrat 0.211"),
        ("regression", "column employed changes by (89 % intervals): gnp 0.071"),
        ("regression", "Not told from zero: gnp_deflator, unemployed."),
        ("number_game", "Most probable values of h: powers of 2 minus 32 (0.574)"),
        pytest.param(
            "fitness",
            "Nothing tells the classes apart. Their probabilities by size: 0.63, 0.37.",
            marks=pytest.mark.slow,
        ),
        ("courses", "For one more unit of a column the odds of "),
        ("mixed", "rate, the largest first (89 % intervals): old 2.75 (1.57 to 4.19)"),
    ],
)  # fmt: skip
def test_the_answer_is_in_plain_words(name, words):
    assert words in told(name)


@pytest.mark.parametrize(
    "name",
    [
        "aspirin", "coin", "courses", "disagreeing", "flowers", "inconclusive", "normal",
        "number_game", "party", "patients", "regression", "statistic", "words",
    ],
)  # fmt: skip
def test_the_first_600_characters_are_for_people(name):
    """No square brackets, no powers of ten, no symbols of parameters, no signs of formulas."""
    page = KINDS[name]().page()
    fit = page.fit[1] if page.fit else ""
    said = " ".join([page.title, page.source, *page.answer, page.verdict, fit])[:600]
    assert len(said) > 60
    assert not re.findall(r"[\[\]{}|~^]|\de[-−+]?\d|\b(?:theta|lam|mu|sigma2?|w|pi)\b", said)


def test_two_sets_of_draws_answer_nothing():
    assert KINDS["two_sets"]().answer == []


def test_standardized_effects_and_r_squared_are_those_of_least_squares():
    """Under a flat prior: weights of standardized columns, and R² of 400 rows, by statsmodels."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(400, 3)) * [1, 10, 0.1], columns=["a", "b", "c"])
    y = 3 + X["a"] + 0.3 * X["b"] + rng.normal(size=400)
    given = report(
        bm.LinearRegression.flat(["intercept", "a", "b", "c"]), bm.Design(X, y, intercept=True)
    )
    by_hand = sm.OLS(stats.zscore(y), sm.add_constant(stats.zscore(X))).fit()
    found = answer.weights(given)
    assert [effect.label for effect in found] == ["b", "a", "c"]  # no w[intercept]
    sizes = {effect.label: effect.size for effect in found}
    assert sizes == pytest.approx(dict(zip(("a", "b", "c"), by_hand.params[1:], strict=True)))
    assert np.mean(answer.explained(given)) == pytest.approx(by_hand.rsquared, abs=0.01)


def test_the_probability_of_the_largest_is_that_of_a_decision():
    """One number, computed once."""
    rows = bm.Grouped(bm.BinomialCounts([119, 139], [998, 998]), by=["old", "new"])
    posterior = bm.BetaBernoulli(1, 1).update(rows)
    said = bm.decide(posterior).sentences()[0].rpartition(" ")[2]
    assert answer._groups(posterior, "theta", 0.89)[-1].endswith(f" {said}")


@pytest.mark.slow
def test_a_tie_is_one():
    rows = bm.Grouped([1, 0, 0, 1, 0, 0, 0, 0, 0], by=list("aaabbbccc"))
    said = bm.validate(bm.BetaBernoulli(1, 1), rows, draws=0, rng=1).answer[1]
    assert said.startswith("a and b are equally probable to be the largest: 0.4")


def test_rows_are_classified_by_the_others():
    """Each row's class from a belief that was updated with all other rows."""
    given = SAMPLES["flowers"]()
    X, kinds = given.data
    prior, names = given.prior, list(given.prior.classes.coords["category"])
    counts = np.zeros((3, 3), dtype=int)
    for row in X.index:
        rest = prior.update((X.drop(row), kinds.drop(row)))
        taken = rest.class_probabilities(X.loc[[row]]).argmax()
        counts[names.index(kinds[row]), taken] += 1
    assert given.confusion.counts.tolist() == counts.tolist()
    assert f"{counts.trace()} ({100 * counts.trace() / 150:.0f} %)" in told("flowers")


def test_many_rows_are_left_out_in_ten_parts():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 500)
    prior = bm.NaiveBayes(bm.DirichletCategorical([1, 1]), bm.NormalInverseGamma(0, 1, 2, 1))
    found = report(prior, (rng.normal(3 * labels[:, None], size=(500, 1)), labels)).confusion
    assert found.by == "the rows of nine other tenths"
    assert found.counts.sum() == 500
    # Two normal laws three standard deviations apart: 93 % are on the right side of the middle.
    assert found.counts.trace() / 500 == pytest.approx(stats.norm.cdf(1.5), abs=0.03)


def test_a_statistic_has_no_rows_to_classify():
    given = SAMPLES["flowers"]()
    alone = dataclasses.replace(given, data=given.prior.statistic(given.data))
    assert alone.answer == [
        "How well rows are classified is not known: the rows themselves were not given."
    ]


@pytest.mark.parametrize(("left", "end"), [(0, ""), (1, " and 1 more"), (1200, " and 1,200 more")])
def test_a_long_list_says_how_many_more(left, end):
    assert answer._listed(range(answer._SHOWN + left)) == "0, 1, 2, 3, 4, 5" + end


def test_a_width_of_one_s_own():
    given = SAMPLES["coin"]()
    low, high = given.posterior.interval(0.5)["theta"]
    assert styled(given, prob=0.5).answer == [
        f"With 50 % intervals: probability {56 / 102:.3f} ({low:.3f} to {high:.3f})."
    ]
    with pytest.raises(bm.DataError, match="ci_prob"):
        styled(given, prob=89)


def test_title_notes_and_one_page(tmp_path):
    given, file = SAMPLES["coin"](), tmp_path / "coin.html"
    given.to_html(file, title="My <coin>", notes="First.\n\nSecond.", brief=True)
    text = file.read_text("utf-8")
    assert "<h1>My &lt;coin&gt;</h1>" in text
    assert '<p class="notes">First.</p>\n<p class="notes">Second.</p>' in text
    assert "Evidence for the verdict</h2>" in text
    assert "Pictures</h2>" not in text
