"""Pictures and tables of hypotheses."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesmodels as bm
from bayesmodels.report import concept, tables
from bayesmodels.report.belief_validation import pictures
from bayesmodels.report.predictive import counts
from tests.report import samples
from tests.report.samples import SAMPLES

GAME = bm.ConceptLearning.number_game()
ROWS = [16, 8, 2, 64]


def widths(axes):
    return [bar.get_width() for bar in axes.patches]


def test_bars_are_prior_likelihood_and_posterior():
    posterior = GAME.update(ROWS)
    tree = posterior.to_datatree(draws=50, rng=np.random.default_rng(1))
    axes = bm.plots.plot_hypotheses(GAME, ROWS, tree)
    assert widths(axes[0]) == GAME.mean()["h"].tolist()
    assert widths(axes[1])[5] == pytest.approx((5 / 6) ** 4)  # relative to 5 numbers without 32
    assert widths(axes[2]) == posterior.mean()["h"].tolist()
    found = [dots.get_xdata()[9] for dots in axes[2].get_lines()]
    assert found == (tree.posterior["h"] == 9).mean("draw").to_numpy().tolist()
    assert [t.get_text() for t in axes[0].get_yticklabels()] == list(GAME.hypotheses)


def test_of_many_hypotheses_the_most_probable_are_drawn():
    table = np.full((50, 2), 0.5)
    p = np.arange(1, 51) / np.arange(1, 51).sum()
    axes = bm.plots.plot_hypotheses(bm.ConceptLearning.from_table(table, p), [0])
    names = [t.get_text() for t in axes[0].get_yticklabels()]
    assert names == [str(k) for k in range(50 - concept.MOST_HYPOTHESES, 50)]


def test_membership_is_averaged_and_plugged_in():
    posterior, figure = GAME.update(ROWS), Figure()
    above, below = bm.plots.plot_membership(posterior, figure)
    assert above.figure is figure
    assert [bar.get_height() for bar in above.patches] == posterior.membership().tolist()
    (line,) = above.get_lines()
    np.testing.assert_array_equal(
        line.get_ydata(), posterior.membership(parameters=posterior.mode())
    )
    assert [len(dots.get_xdata()) for dots in below.get_lines()][5:8] == [6, 3, 100]


def test_two_best_hypotheses_are_no_plug_in():
    belief = bm.ConceptLearning({"left": {1, 2}, "right": {2, 3}})
    above, _ = bm.plots.plot_membership(belief)
    assert above.get_lines() == []
    picture = concept.hypotheses(samples.report(belief, [2], settings={"draws a chain": 50}))[1]
    assert "no line for the most probable hypothesis" in picture.caption


@pytest.mark.slow
def test_a_report_of_hypotheses():
    report = SAMPLES["number_game"]()
    drawn = pictures(report)
    assert [p.name for p in drawn] == ["hypotheses", "membership", "predictive"]
    words = drawn[0].panels[0].alt
    assert "powers of 2 minus 32: 0.1000 before, 0.5738 after" in words
    assert "4 1.000" in drawn[1].panels[0].alt
    assert [table.caption for table in tables.parameters(report)] == ["Parameters of h"]
    found = tables.comparison(report.comparison)[0]
    assert [column.head for column in found.columns[:3]] == ["", "exact", "visited"]
    assert found.columns[1].cells[-1].startswith("0.57")
    assert "Difference of slopes" not in dict(tables.evidence(report))


def test_a_table_without_sets_has_no_membership():
    table = bm.ConceptLearning.from_table([[0.9, 0.1], [0.2, 0.8]])
    (picture,) = concept.hypotheses(samples.report(table, [0], settings={"draws a chain": 50}))
    assert picture.name == "hypotheses"


def test_outcomes_are_counted_those_seen_most_often_first():
    found = counts(samples.report(GAME, [16, 64, 64]))
    assert found.labels[:2] == [("64",), ("16",)]
    assert found.observed[:2].tolist() == [2, 1]
    assert found.observed.sum() == 3
    assert (found.replicated.sum(1) == 3).all()


@pytest.mark.slow
def test_pictures_are_the_same_bytes_each_time():
    report = SAMPLES["number_game"]()
    assert pictures(report) == pictures(report)


@pytest.mark.slow
def test_many_items_are_left_out_and_counted():
    sets = {"small": range(10), "all": range(300)}
    picture = concept.hypotheses(samples.report(bm.ConceptLearning(sets), [3]))[1]
    assert "100 items that less probably belong are not shown" in picture.caption
