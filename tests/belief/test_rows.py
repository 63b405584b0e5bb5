"""Some rows of any container, in a container of the same kind."""

import numpy as np

import bayesmodels as bm
from bayesmodels.belief.rows import readable, rows_at


def test_rows_in_any_container():
    table = np.array([[0, 1], [1, 1], [0, 0]])
    counts = bm.MultinomialCounts(table)
    assert rows_at({"x": table}, [2, 2])["x"].tolist() == [[0, 0], [0, 0]]
    assert rows_at(counts, [1]).counts.tolist() == [[1, 1]]
    assert rows_at(table.tolist(), [0]) == [[0, 1]]


def test_a_tuple_holds_rows_unless_it_is_a_pair():
    coin = bm.BetaBernoulli(1, 1)
    assert readable(coin, (1, 0, 0)) == [1, 0, 0]
