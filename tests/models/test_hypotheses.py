"""Fractions by hand: the number game of Murphy (2012), section 3.2; a medical test; urns."""

from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesmodels as bm
from bayesmodels.belief.datatree import LARGEST_GROUP
from bayesmodels.referee import one_sample

EPS = Fraction(np.finfo(float).eps)

# The hypotheses that hold 16, with their sizes; then those that hold 16, 8, 2 and 64.
SIZES = {
    "even": 50,
    "squares": 10,
    "multiples of 4": 25,
    "multiples of 8": 12,
    "ends in 6": 10,
    "powers of 2": 6,
    "powers of 4": 3,
    "all": 100,
    "powers of 2 plus 37": 7,
    "powers of 2 minus 32": 5,
}
OF_FOUR = ("even", "powers of 2", "all", "powers of 2 plus 37", "powers of 2 minus 32")
# Rules with an exception are ten times less likely beforehand: 8 * 10 + 2 * 1 = 82.
RARE_EXCEPTIONS = {name: Fraction(1 if " 2 " in name else 10, 82) for name in SIZES}

GAME = bm.ConceptLearning.number_game()


def by_hand(rows, prior=None, holding=tuple(SIZES)):
    """Return evidence and posterior of the number game as fractions."""
    prior = prior or dict.fromkeys(SIZES, Fraction(1, 10))
    joint = {
        name: prior[name] * Fraction(1, size) ** rows if name in holding else Fraction(0)
        for name, size in SIZES.items()
    }
    total = sum(joint.values())
    return total, [p / total for p in joint.values()]


def is_it(number, exact, units=8):
    """Whether a float is the fraction but for a few units in the last place."""
    return abs(Fraction(float(number)) - exact) <= units * EPS * exact


# --- the number game ------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [None, RARE_EXCEPTIONS], ids=["equal", "rare exceptions"])
@pytest.mark.parametrize(
    ("rows", "holding"), [([16], tuple(SIZES)), ([16, 8, 2, 64], OF_FOUR)], ids=["one", "four"]
)
def test_the_posterior_is_the_fraction_by_hand(rows, holding, prior):
    given = prior and {name: float(p) for name, p in prior.items()}
    belief = bm.ConceptLearning.number_game(given)
    evidence, posterior = by_hand(len(rows), prior, holding)
    after = belief.update(rows)
    for found, exact in zip(after.mean()["h"], posterior, strict=True):
        assert is_it(found, exact, units=32)
    assert is_it(np.exp(belief.log_evidence(rows)), evidence, units=32)


def test_after_16_the_nearest_fractions_are_those_by_hand():
    _, posterior = by_hand(1)
    found = [Fraction(p).limit_denominator(10_000) for p in GAME.update([16]).mean()["h"]]
    assert found == posterior
    assert posterior[list(SIZES).index("powers of 4")] == Fraction(700, 2512)


def test_after_16_8_2_64_the_nearest_odds_are_those_by_hand():
    p = dict(zip(SIZES, GAME.update([16, 8, 2, 64]).mean()["h"], strict=True))
    odds = {n: Fraction(p[n] / p["powers of 2"]).limit_denominator(10**7) for n in SIZES}
    assert odds == {n: Fraction(6, SIZES[n]) ** 4 if n in OF_FOUR else 0 for n in SIZES}


def test_sizes_are_those_of_the_hypotheses():
    inside = GAME.log_table > -np.inf
    assert dict(zip(GAME.hypotheses, inside.sum(1), strict=True)) == SIZES
    assert GAME.items == GAME.outcomes == tuple(range(1, 101))


def test_map_mle_and_what_one_thinks_beforehand():
    rows = [16, 8, 2, 64]
    careful = bm.ConceptLearning.number_game({n: float(p) for n, p in RARE_EXCEPTIONS.items()})
    names = [b.hypotheses[b.update(rows).mode()["h"]] for b in (GAME, careful)]
    assert names == ["powers of 2 minus 32", "powers of 2"]
    for belief in (GAME, careful):  # the data alone know nothing of exceptions
        estimate = belief.statistic(rows).mle()["h"]
        assert belief.hypotheses[estimate] == "powers of 2 minus 32"


def test_averaged_and_plug_in_predictions():
    rows = [16, 8, 2, 64]
    evidence, p = by_hand(4, holding=OF_FOUR)
    p = dict(zip(SIZES, p, strict=True))
    posterior = GAME.update(rows)
    of = {
        32: 1 - p["powers of 2 minus 32"],
        4: Fraction(1),
        37: p["all"] + p["powers of 2 plus 37"],
        10: p["even"] + p["all"],
        99: p["all"],
    }
    for found, exact in zip(posterior.membership(list(of)), of.values(), strict=True):
        assert is_it(found, exact, units=64)
    np.testing.assert_array_equal(posterior.membership(list(of), posterior.mode()), [0, 1, 0, 0, 0])
    # The next number, if it comes from the concept: the size principle once more.
    one_more = sum(
        q * Fraction(1, SIZES[name]) for name, q in p.items() if name != "powers of 2 minus 32"
    )
    assert is_it(posterior.predictive().pmf(32), one_more, units=64)
    assert posterior.plug_in(posterior.mode()).pmf([16, 32]).round(12).tolist() == [0.2, 0]
    again = GAME.log_evidence([*rows, 32])
    assert is_it(np.exp(again), evidence * one_more, units=64)


def test_the_averaged_prediction_needs_no_single_best_hypothesis():
    """Of two equally probable ones none is the MAP; averaging takes both."""
    belief = bm.ConceptLearning({"left": {1, 2}, "right": {2, 3}}).update([2])
    with pytest.raises(bm.ModeError, match="'left' and 'right' are equally probable"):
        belief.mode()
    assert belief.membership().tolist() == [0.5, 1, 0.5]


def test_weak_sampling_counts_no_sizes():
    belief = bm.ConceptLearning.number_game(sampling="weak")
    posterior = belief.update([16, 8, 2, 64])
    expected = [0.2 if name in OF_FOUR else 0 for name in SIZES]
    np.testing.assert_allclose(posterior.mean()["h"], expected, rtol=1e-14)
    # Half of the hypotheses allow these four out of a hundred numbers.
    assert np.exp(belief.log_evidence([16, 8, 2, 64])) == pytest.approx(0.5e-8, rel=1e-13)
    told = posterior.update(["not 32"])
    assert told.hypotheses[told.mode()["h"]] == "powers of 2 minus 32"
    assert told.membership([4, 32]).tolist() == [1, 0]


def test_a_row_of_either_kind_has_some_outcome():
    for sampling_ in ("strong", "weak"):
        belief = bm.ConceptLearning.number_game(sampling=sampling_)
        np.testing.assert_allclose(np.exp(belief.log_table).sum(1), 1, rtol=1e-13)
        assert belief.predictive().pmf(list(belief.outcomes)).sum() == pytest.approx(1)


# --- Bayes' theorem in general --------------------------------------------------------------------


def test_a_medical_test():
    """One in a thousand is ill; a test finds 99 % of them and accuses 5 % of the others."""
    ill = Fraction(1, 1000)
    positive = ill * Fraction(99, 100) + (1 - ill) * Fraction(5, 100)
    table = pd.DataFrame(
        {"positive": [0.99, 0.05], "negative": [0.01, 0.95]}, index=["ill", "well"]
    )
    prior = bm.ConceptLearning.from_table(table, {"well": 0.999, "ill": 0.001})
    assert is_it(np.exp(prior.log_evidence(["positive"])), positive)
    assert is_it(prior.predictive().pmf("positive"), positive)
    once = prior.update(["positive"])
    assert is_it(once.mean()["h"][0], ill * Fraction(99, 100) / positive)
    twice = once.update(["positive"])
    odds = Fraction(1, 999) * Fraction(99, 5) ** 2
    assert is_it(twice.mean()["h"][0], odds / (1 + odds))


def test_total_probability_of_a_ball_from_urns():
    """Three urns, chosen by a die: 1 and 2, 3 to 5, or 6."""
    red = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]
    die = [Fraction(2, 6), Fraction(3, 6), Fraction(1, 6)]
    table = [[float(p), float(1 - p)] for p in red]
    urns = bm.ConceptLearning.from_table(table, [float(p) for p in die], outcomes=["red", "blue"])
    total = sum(p * q for p, q in zip(die, red, strict=True))
    assert is_it(urns.predictive().pmf("red"), total)
    for found, p, q in zip(urns.update(["red"]).mean()["h"], die, red, strict=True):
        assert is_it(found, p * q / total)
    assert urns.update(["red", "blue"]).mean()["h"][2] == 0


def test_any_log_likelihoods_are_a_statistic():
    """Densities of numbers, too: which of two normal laws they come from."""
    x = np.array([0.3, 1.2, 0.1])
    logs = np.array([-0.5 * (x**2).sum(), -0.5 * ((x - 2) ** 2).sum()]) + 700  # any constant
    which = bm.ConceptLearning.from_table([[1.0], [1.0]], hypotheses=["N(0, 1)", "N(2, 1)"])
    statistic = bm.statistics.HypothesisStatistic(logs, which.hypotheses)
    posterior = which.update(statistic)
    odds = np.exp(2 * x.sum() - 2 * len(x))
    assert posterior.mean()["h"][1] == pytest.approx(odds / (1 + odds), rel=1e-12)
    assert which.log_evidence(statistic) == pytest.approx(
        np.log(np.exp(logs - 700).mean()) + 700, rel=1e-13
    )


def test_logs_and_probabilities_make_the_same_table():
    table = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    assert bm.ConceptLearning.from_table(table) == bm.ConceptLearning.from_table(logs, logs=True)


def test_an_evidence_far_below_the_smallest_number():
    rows = bm.Weighted([16, 64], weights=[1e6, 1e6])
    posterior = GAME.update(rows)
    assert posterior.hypotheses[posterior.mode()["h"]] == "powers of 4"
    assert GAME.log_evidence(rows) == pytest.approx(-2e6 * np.log(3) - np.log(10), rel=1e-14)
    assert posterior.summary().notna().all(axis=None)


@pytest.mark.slow
def test_the_identity_of_an_evidence_far_below_the_smallest_number():
    rows = bm.Weighted([16, 64], weights=[1e6, 1e6])
    posterior = GAME.update(rows)
    found = bm.check_identity(
        GAME.declare(rows, "statistic"), posterior, GAME, GAME.log_evidence(rows)
    )
    assert found.holds, found


def test_the_data_choose_between_ways_of_sampling():
    ways = {way: bm.ConceptLearning.number_game(sampling=way) for way in ("strong", "weak")}
    table = bm.compare_evidence(ways, [16, 8, 2, 64])
    strong, _ = by_hand(4, holding=OF_FOUR)
    odds = strong / Fraction(1, 2 * 100**4)
    assert table["probability"]["strong"] == pytest.approx(float(odds / (1 + odds)), rel=1e-13)


def test_an_item_of_no_hypothesis_is_impossible():
    belief = bm.ConceptLearning({"a": {1}, "b": {2}}, items=[1, 2, 3])
    assert belief.membership(3) == belief.predictive().pmf(3) == 0
    assert belief.update([1]).predictive().pmf([1, 2, 3]).tolist() == [1, 0, 0]


def test_a_series_of_probabilities_goes_by_its_names():
    sets = {"a": {1, 2}, "b": {2}}
    for prior in (
        pd.Series({"b": 0.75, "a": 0.25}),
        pd.Series([0.25, 0.75]),
        pl.Series([0.25, 0.75]),
        {"b": 0.75, "a": 0.25},
    ):
        assert bm.ConceptLearning(sets, prior) == bm.ConceptLearning(sets, [0.25, 0.75])


def test_a_frame_names_what_it_can():
    table = {"x": [0.5, 0.25], "y": [0.5, 0.75]}
    named = bm.ConceptLearning.from_table(pd.DataFrame(table, index=["h", "k"]))
    counted = bm.ConceptLearning.from_table(pl.DataFrame(table))
    assert (named.hypotheses, counted.hypotheses) == (("h", "k"), (0, 1))
    assert named.outcomes == counted.outcomes == ("x", "y")


def test_a_law_draws_its_outcomes():
    law = bm.ConceptLearning({"a": {"x"}, "b": {"x", "y"}}).predictive()
    drawn = law.rvs(2000, np.random.default_rng(1))
    assert set(drawn) == {"x", "y"}
    assert abs(drawn.count("y") / 2000 - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 2000)


# --- any hypotheses -------------------------------------------------------------------------------

ITEMS = list(range(8))
SETS = st.dictionaries(
    st.text(max_size=3), st.sets(st.sampled_from(ITEMS), min_size=1), min_size=2, max_size=6
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    sets=SETS,
    rows=st.lists(st.sampled_from(ITEMS), max_size=6),
    weights=st.lists(st.integers(1, 9), min_size=6, max_size=6),
)
def test_any_sets_and_rows_against_fractions(sets, rows, weights):
    shares = [Fraction(w, sum(weights[: len(sets)])) for w in weights[: len(sets)]]
    belief = bm.ConceptLearning(sets, [float(p) for p in shares], items=ITEMS)
    joint = [
        share * prod((Fraction(x in own, len(own)) for x in rows), start=Fraction(1))
        for share, own in zip(shares, sets.values(), strict=True)
    ]
    if not any(joint):
        for attempt in (belief.update, belief.log_evidence):
            with pytest.raises(bm.DataError, match="no hypothesis explains the data"):
                attempt(rows)
        return
    assert is_it(np.exp(belief.log_evidence(rows)), sum(joint), units=64)
    posterior = belief.update(rows)
    for found, exact in zip(posterior.mean()["h"], joint, strict=True):
        assert is_it(found, exact / sum(joint), units=64)
    inside = posterior.membership()
    for x, found in zip(ITEMS, inside, strict=True):
        holding = sum(p for p, own in zip(joint, sets.values(), strict=True) if x in own)
        assert is_it(found, holding / sum(joint), units=64)


@settings(max_examples=20, deadline=None)
@given(sets=SETS, rows=st.lists(st.sampled_from(ITEMS), max_size=6), cut=st.integers(0, 6))
def test_functions_are_sets_and_parts_are_the_whole(sets, rows, cut):
    sets = {**sets, "everything": set(ITEMS)}
    functions = {name: own.__contains__ for name, own in sets.items()}
    belief = bm.ConceptLearning(sets, items=ITEMS)
    assert belief == bm.ConceptLearning(functions, items=ITEMS)
    merged = belief.statistic(rows[:cut]) + belief.statistic(rows[cut:])
    np.testing.assert_allclose(
        merged.log_likelihood, belief.statistic(rows).log_likelihood, rtol=1e-14
    )


@pytest.mark.parametrize(
    "rows",
    [
        [2, 8],
        (2.0, 8.0),
        np.array([2, 8], dtype=np.uint8),
        pd.Series([2, 8], index=["a", "b"]),
        bm.Weighted([2, 8, 100], weights=[1, 1, 0]),
    ],
)
def test_containers_of_rows(rows):
    assert GAME.update(rows) == GAME.update([2, 8])


def test_items_may_be_tuples():
    cells = bm.ConceptLearning({"row": {(0, 0), (0, 1)}, "corner": {(0, 0)}})
    rows = pd.Series([(0, 0), (0, 0)])
    assert cells.update(rows).mean()["h"].round(12).tolist() == [0.2, 0.8]
    assert cells.membership([(0, 1), (0, 0)]).tolist() == [0.5, 1]


def test_one_row_may_stand_alone():
    assert GAME.update(16) == GAME.update([16])


# --- what is refused ------------------------------------------------------------------------------

PAIR = {"a": {1, 2}, "b": {2, 3}}


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: bm.ConceptLearning([{1}]), bm.PriorError, "must be a mapping from names"),
        (lambda: bm.ConceptLearning({"a": {1}}), bm.PriorError, "at least two.*got 1"),
        (lambda: bm.ConceptLearning({}), bm.PriorError, "at least two.*got 0"),
        (lambda: bm.ConceptLearning({"a": {1}, "b": ()}), bm.PriorError, "'b' must hold at least"),
        (lambda: bm.ConceptLearning(PAIR, items=[1, 2]), bm.PriorError, "it holds 3, which is not"),
        (lambda: bm.ConceptLearning(PAIR, items=[1, 2, 3, 1]), bm.DataError, "items.*1 is given"),
        (lambda: bm.ConceptLearning({**PAIR, "c": bool}), bm.PriorError, "'c' is a function"),
        (lambda: bm.ConceptLearning({**PAIR, "c": "12"}), bm.PriorError, "'c' must be a set.*'12'"),
        (lambda: bm.ConceptLearning({**PAIR, "c": 12}), bm.PriorError, "'c' must be a set.*12"),
        (lambda: bm.ConceptLearning({**PAIR, "c": [[1]]}), bm.PriorError, r"hashable.*got \[1\]"),
        (lambda: bm.ConceptLearning(PAIR, items=[[1], 2]), bm.PriorError, r"items.*got \[1\]"),
        (lambda: bm.ConceptLearning({1: {1}, "1": {2}}), bm.DataError, "'1' is given twice"),
        (
            lambda: bm.ConceptLearning({"a": {1}, "b": {1, "not 1"}}, sampling="weak"),
            bm.DataError,
            "outcomes.*'not 1' is given twice",
        ),
        (lambda: bm.ConceptLearning(PAIR, sampling="size"), bm.PriorError, "'strong' or 'weak'"),
        (lambda: bm.ConceptLearning(PAIR, [0.5, 0.6]), bm.PriorError, "prior.*sum of 1.1"),
        (lambda: bm.ConceptLearning(PAIR, [1.5, -0.5]), bm.PriorError, "prior.*got 1.5"),
        (lambda: bm.ConceptLearning(PAIR, [np.nan, 1]), bm.PriorError, "prior: missing"),
        (lambda: bm.ConceptLearning(PAIR, [0.5, 0.25, 0.25]), bm.PriorError, "2 probabilities"),
        (lambda: bm.ConceptLearning(PAIR, {"a": 1}), bm.PriorError, "each of the hyp.*'b'"),
        (lambda: bm.ConceptLearning.from_table([0.5, 0.5]), bm.PriorError, r"table.*\(2,\)"),
        (lambda: bm.ConceptLearning.from_table([[1, 0], [0.5, 0.4]]), bm.PriorError, "sum of 0.9"),
        (lambda: bm.ConceptLearning.from_table([[1, 0], [2, -1]]), bm.PriorError, "row of 1 must"),
        (lambda: bm.ConceptLearning.from_table([[1, 0], [np.nan, 1]]), bm.PriorError, "row of 1"),
        (
            lambda: bm.ConceptLearning.from_table([[0, 0], [0, 0]], logs=True),
            bm.PriorError,
            "as logarithms.*sum of 2",
        ),
        (
            lambda: bm.ConceptLearning.from_table([[1], [1]], outcomes=["x", "y"]),
            bm.PriorError,
            "outcomes: must be 1, as the table has; got 2",
        ),
        (lambda: GAME.update([101]), bm.DataError, "x: must hold only.*100 outcomes.*holds 101"),
        (lambda: GAME.update([[16, 8]]), bm.DataError, "one column of outcomes.*Select one"),
        (lambda: GAME.update([16, None]), bm.DataError, "missing values are not allowed"),
        (lambda: GAME.update(bm.Grouped([16], ["a"])), bm.DataError, "got groups"),
        (lambda: GAME.update("16"), bm.DataError, "x: must be an array"),
        (
            lambda: GAME.update(bm.statistics.HypothesisStatistic([0, 0])),
            bm.DataError,
            r"same hypotheses, .*'even', .* and \(0, 1\)\..*hypotheses=\[",
        ),
        (
            lambda: bm.ConceptLearning(PAIR).update(
                bm.statistics.HypothesisStatistic([0, 0], ["b", "a"])
            ),
            bm.DataError,
            r"the same hypotheses, in the same order; got \('a', 'b'\) and \('b', 'a'\)",
        ),
        (
            lambda: bm.ConceptLearning(PAIR, pd.Series({"a": 0.5, "c": 0.5})),
            bm.PriorError,
            "prior: must name each",
        ),
        (lambda: GAME.membership(0), bm.DataError, "outcome: must be one of the 100"),
        (lambda: GAME.declare([16], "both"), bm.DataError, "'rows' or 'statistic'"),
        (lambda: bm.ConceptLearning(PAIR).update([1, 2, 3, 3]), bm.DataError, "row 2 holds 3,"),
        (
            lambda: bm.ConceptLearning(PAIR).log_evidence(bm.Weighted([1, 3, 2, 3], [1, 0, 1, 2])),
            bm.DataError,
            "no hypothesis explains the data: row 3 holds 3, which is impossible",
        ),
        (lambda: bm.ConceptLearning(PAIR, [1, 0]).update([2, 3]), bm.DataError, "row 1 holds 3"),
        (
            lambda: bm.ConceptLearning(PAIR).update(
                bm.statistics.HypothesisStatistic([-np.inf, -np.inf], list(PAIR))
            ),
            bm.DataError,
            "no hypothesis explains.*calls some row impossible",
        ),
        (lambda: GAME.statistic([]).mle(), bm.DataError, r"'squares' \(and 8 more\) explain them"),
        (
            lambda: bm.ConceptLearning(PAIR).statistic([1, 3]).mle(),
            bm.DataError,
            "no hypothesis explains",
        ),
        (
            lambda: bm.statistics.HypothesisStatistic([np.nan, 0]),
            bm.DataError,
            "log_likelihood: must hold",
        ),
        (
            lambda: bm.statistics.HypothesisStatistic([np.inf, 0]),
            bm.DataError,
            "log_likelihood: must hold",
        ),
        (
            lambda: bm.statistics.HypothesisStatistic([[0.0]]),
            bm.DataError,
            "log_likelihood: must hold",
        ),
        (
            lambda: bm.statistics.HypothesisStatistic([0], ["a", "b"]),
            bm.DataError,
            "hypotheses: coord",
        ),
        (
            lambda: (
                bm.statistics.HypothesisStatistic([0], ["a"])
                + bm.statistics.HypothesisStatistic([0], ["b"])
            ),
            bm.DataError,
            "the same hypotheses",
        ),
    ],
)
def test_what_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


# --- the referee of nominal variables -------------------------------------------------------------

AFTER = GAME.update([16])


@pytest.mark.parametrize(
    ("h", "words"),
    [
        (np.full((4, 500), 10), "'h' must hold whole numbers from 0 to 9.*got 10"),
        (np.full((4, 500), 0.5), "'h' must hold whole numbers"),
        (np.zeros((4, 500, 2)), r"'h' must have the axes \(chain, draw\); got"),
    ],
)
def test_draws_that_are_no_numbers_of_hypotheses(h, words):
    with pytest.raises(bm.DataError, match=words):
        bm.compare(AFTER, {"h": h})


def test_a_visit_to_an_impossible_hypothesis_is_one_too_many():
    law = GAME.update([16, 8, 2, 64])
    h = law.sample(4000, np.random.default_rng(1))["h"].reshape(4, 1000)
    assert bm.compare(law, {"h": h}).outcome == "agree"
    h[2, 500] = list(SIZES).index("ends in 6")
    verdict = bm.compare(law, {"h": h})
    assert verdict.outcome == "disagree"
    assert verdict.findings[0].startswith("h[ends in 6] was visited")


def test_draws_that_never_leave_one_hypothesis_give_no_verdict():
    verdict = bm.compare(AFTER, {"h": np.zeros((4, 1000), dtype=int)})
    assert verdict.outcome == "inconclusive"
    assert "1 effective draw;" in verdict.findings[0]


def test_a_certain_hypothesis_agrees_with_certain_draws():
    law = GAME.update([37, 2])  # either all, or powers of 2 plus 37
    law = law.update([100])
    assert law.mean()["h"].max() == 1
    verdict = bm.compare(law, law.to_datatree(draws=100))
    assert verdict.outcome == "agree"


@pytest.mark.slow
def test_false_alarms_stay_near_the_level_for_independent_and_for_sticky_draws():
    rng, p = np.random.default_rng(3), AFTER.mean()["h"]
    alarms = {0.0: 0, 0.8: 0}
    for stay in alarms:
        for _ in range(300):
            h = rng.choice(10, (4, 1000), p=p)
            fresh = rng.random(h.shape) >= stay
            fresh[:, 0] = True
            last = np.maximum.accumulate(np.where(fresh, np.arange(1000), 0), axis=1)
            tests = one_sample.one_sample_tests(
                AFTER, {"h": np.take_along_axis(h, last, axis=1)}, rng
            )
            alarms[stay] += min(test.p for test in tests) * len(tests) < 0.05
    # 300 trials at 5 %: more than 28 alarms has probability below 1e-3.
    assert max(alarms.values()) <= 28, alarms


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "likelihood"),
    [
        ([16], "rows"),
        ([16, 8, 2, 64], "rows"),
        ([16, 8, 2, 64], "statistic"),
        ([37, 2], "statistic"),  # the first hypothesis, where PyMC would start, is impossible
    ],
)
def test_pymcs_discrete_steps_agree(rows, likelihood):
    draws = bm.mcmc_draws(GAME, rows, likelihood=likelihood, rng=np.random.default_rng(4))
    verdict = bm.compare(GAME.update(rows), draws)
    assert verdict.outcome == "agree", verdict
    assert min(test.ess for test in verdict.tests) > 500


@pytest.mark.slow
def test_steps_of_two_equally_probable_hypotheses_take_turns():
    """A step that always moves would stand still if it were made twice a draw."""
    belief = bm.ConceptLearning.from_table([[0.5, 0.5], [0.5, 0.5]])
    draws = bm.mcmc_draws(belief, [0], draws=500, tune=10, rng=np.random.default_rng(5))
    assert draws.posterior["h"].mean() == 0.5


def test_replicates_of_many_rows_are_left_out():
    rows = np.full(LARGEST_GROUP // 40, 16)
    tree = bm.exact_draws(GAME, rows, draws=25, chains=2, rng=np.random.default_rng(6))
    assert "posterior_predictive" not in tree.children
